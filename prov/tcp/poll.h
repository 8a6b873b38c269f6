/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * poll.h - the poller: one set of descriptors for all sockets of a progress group.
 *
 * The active connection, the one that carried data last, is read without asking the set, so
 * that a ping-pong needs one receive call per message.  If it has nothing, and there are others, the same poll
 * asks the set, so that what a poll costs, and how late a message is found, does not depend on their
 * number; ASKED_IN_MS times a millisecond in any case.  One that stays active leaves the set (detached),
 * because the system's bookkeeping of its readiness costs a twentieth of a short message; it is
 * added again before a thread blocks (arm).  The set is level-triggered, so that the blocked
 * thread is woken by any socket with unread input.
 *
 * Threading: everything here runs under prog->lock.
 */
#ifndef TCP_POLL_H
#define TCP_POLL_H

#include <stdbool.h>

#include "base/clock.h"
#include "base/pool.h"
#include "channel/poller.h"
#include "conf.h"

struct tcp_conn;
struct chan_hold;

#define TCP_CONNECTING_MAX 128	/* connects in flight at a time; further ones are queued */

#define TCP_SMALL_MAX 8192	/* frames up to this size are copied before they are sent */

/* Size of a staging buffer.  Where staging is off it takes what a full socket did not. */
#define TCP_STAGE_MIN TCP_SMALL_MAX
#define TCP_STAGE_SIZE(conf) \
	((size_t) ((conf)->stage_size > TCP_STAGE_MIN ? (conf)->stage_size : TCP_STAGE_MIN))

struct tcp_poller {
	struct chan_poller base;	/* first */
	const struct tcp_conf *conf;
	uint64_t polled_ns;		/* clock_coarse_ns() when the set was last asked */
	uint64_t asked;			/* clock_cycles() then; 0: the next poll asks */
	uint64_t asked_seq;		/* base.seq then */
	bool asked_all;			/* it has reported all that it had */
	unsigned ready_cnt;		/* connections that carry frames */
	struct tcp_conn *active;	/* the one that is read without asking the set; NULL: none */
	unsigned blocked;		/* sockets that wait for POLLOUT */
	struct list dead;		/* connections to free once no fetched event can name them */
	struct pool stages;		/* staging buffers, conf->stage_size each */
	uint8_t *rx;			/* where the next read goes; conf->rbuf_size; NULL: no memory */
	uint8_t *direct;		/* of @stages: for a small packet that is sent at once; NULL: none */
	uint8_t *seal_buf, *open_buf;	/* of secure/records.c, while no connection has them; NULL: none */
	bool protects;			/* an endpoint here protects its connections, or recovers them */
	bool rx_slow;			/* tcp_rx_read() has to look closer: @protects, or @rest */
	bool burst;			/* the packet of tcp_tx_slot() may wait for the rest of a burst */
	struct tcp_conn *rest;		/* its packets from rest_pos to rest_end are in @rx still */
	size_t rest_pos, rest_end;
	struct tcp_conn *offering;	/* connection whose packet is in eng_on_packet() */
	struct chan_hold *held;		/* payload that the engine held in that call */
	struct list unacked;		/* struct tcp_conn with unacknowledged bytes; see unacked.c */
	uint64_t unacked_due_ns;		/* when they are checked next; UINT64_MAX: there are none */
	struct list watched;		/* struct tcp_recover by watch_node: with bytes that a peer has not taken */
	uint64_t watch_due_ns;		/* the same for them */
	uint64_t checks_due_ns;		/* the earlier one of both, by clock_coarse_ns() */
	int spare_fd;			/* used to accept and refuse when descriptors run out */
};

/* tcp_poller_get - the group's poller, made on first use.
 * Ownership: the group's.  Errors: -FI_ENOMEM, -FI_EMFILE.
 */
int tcp_poller_get(struct obj_prog *prog, const struct tcp_conf *conf,
		   struct tcp_poller **poller_p);

/* tcp_poller_check_by - one of the checks is due at @due_ns, of clock_coarse_ns(). */
static inline void tcp_poller_check_by(struct tcp_poller *poller, uint64_t due_ns)
{
	clock_earlier(&poller->checks_due_ns, due_ns);
	obj_prog_moved(poller->base.base.prog, due_ns);
}

/* tcp_poller_reap - free closed connections.  Call only where no fetched event can still name
 * one of them.
 */
void tcp_poller_reap(struct tcp_poller *poller);

/* tcp_poller_flush - send what is staged.  Never calls up. */
void tcp_poller_flush(struct tcp_poller *poller);

/* tcp_poller_activate - the set has reported input of @conn: read it directly from now on. */
void tcp_poller_activate(struct tcp_poller *poller, struct tcp_conn *conn);

/* tcp_poller_deactivate - wait for the set to report @conn again. */
void tcp_poller_deactivate(struct tcp_poller *poller, struct tcp_conn *conn);

#endif

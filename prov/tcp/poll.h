/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * poll.h - the poller: one epoll set for all sockets of a progress group.
 *
 * A poll costs what is active.  Connections that carried data lately are "hot":
 * a few of them, which are read directly, so that a ping-pong needs one receive
 * call per message; the epoll set is asked now and then for the others, and
 * always when nothing is hot.  One that stays hot leaves the set, because the
 * system's notes on its readiness cost as much as a tenth of a short message;
 * it is back before anybody sleeps (arm), who is then woken by any socket, since
 * the set is level-triggered.
 *
 * Threading: everything here runs under prog->lock.
 */
#ifndef TCP_POLL_H
#define TCP_POLL_H

#include <stdbool.h>
#include <sys/epoll.h>

#include "base/clock.h"
#include "base/pool.h"
#include "channel/poller.h"
#include "conf.h"

struct tcp_conn;
struct chan_hold;

#define TCP_HOT_MAX 2		/* connections that are tried without being announced */
#define TCP_DIAL_MAX 128	/* calls under way at a time, at most; more of them queue up */

#define TCP_SMALL_MAX 8192	/* frames up to this size are copied before they are sent */

/* Room of a staging buffer; also for what a full socket did not take, where bursts
 * are off.
 */
#define TCP_STAGE_MIN TCP_SMALL_MAX
#define TCP_STAGE_SIZE(conf) \
	((size_t) ((conf)->stage_size > TCP_STAGE_MIN ? (conf)->stage_size : TCP_STAGE_MIN))

/* Something with a descriptor in the set. */
struct tcp_src {
	int fd;			/* -1: closed */
	uint32_t events;	/* EPOLL* that are asked for; 0: not in the set */
	void (*event)(struct tcp_src *src, uint32_t events);
};

struct tcp_poller {
	struct chan_poller base;	/* first */
	const struct tcp_conf *conf;
	uint64_t polled_ns;		/* clock_coarse_ns() when the set was last looked at */
	unsigned until_wait;		/* polls until it is looked at again */
	unsigned wait_every;		/* how many that are between two looks */
	unsigned crowd;			/* polls that look at the set alone; see tcp_poller_heat() */
	uint64_t began, ended;		/* clock_cycles() of polls that find nothing; else 0 */
	uint64_t cost;			/* what the last of them took */
	unsigned hot_cnt;
	struct tcp_conn *hot[TCP_HOT_MAX];
	unsigned blocked;		/* sockets that wait for EPOLLOUT */
	struct list dead;		/* connections to free when no event can name them */
	struct pool stages;		/* staging buffers, conf->stage_size each */
	uint8_t *rx;			/* where the next read goes; conf->rbuf_size; NULL: no memory */
	uint8_t *lone;			/* of @stages: for a single small packet; NULL: none yet */
	bool burst;			/* what tcp_tx_slot() made room for need not leave at once */
	struct tcp_conn *offering;	/* connection whose packet the engine is looking at */
	struct chan_hold *held;		/* what it told us to keep */
	struct list guarded;		/* struct tcp_conn: something was sent; see guard.c */
	uint64_t guard_due_ns;		/* when they are looked at; UINT64_MAX: there are none */
	struct list parkable;		/* struct tcp_conn: idle ones among them may be closed */
	bool can_park;			/* there is room for park_timer */
	struct timer park_timer;	/* close some, and look whether that was enough */
	unsigned park_want;		/* how many to ask at that time */
	bool park_must;			/* even those that an operation waits on */
	int spare_fd;			/* given up for a moment when descriptors run out */
};

/* tcp_poller_get - the group's poller, made on first use.
 * Ownership: the group's.  Errors: -FI_ENOMEM, -FI_EMFILE.
 */
int tcp_poller_get(struct obj_prog *prog, const struct tcp_conf *conf,
		   struct tcp_poller **poller_p);

/* tcp_poller_reap - free the connections that were closed.  Only where no event
 * that was fetched earlier can still name one of them.
 */
void tcp_poller_reap(struct tcp_poller *poller);

/* tcp_poller_flush - what is staged leaves.  Never calls up. */
void tcp_poller_flush(struct tcp_poller *poller);

/* tcp_src_want - be told of @events (EPOLLIN, EPOLLOUT); 0: of nothing, not even
 * of errors.  Returns 0 or the negative errno of epoll_ctl.
 * Cost: a system call when the set of events changes.
 */
int tcp_src_want(struct tcp_poller *poller, struct tcp_src *src, uint32_t events);

/* tcp_poller_heat - @conn is announced to have data: read it directly for a while.
 *
 * A direct read of a connection that has nothing costs as much as a look at the whole set, so it
 * pays only while the next message comes from one of the last TCP_HOT_MAX.  If others are
 * announced, the next polls look at the set and read what it announces, and nothing else: their
 * cost follows what has arrived, not who might send.
 */
void tcp_poller_heat(struct tcp_poller *poller, struct tcp_conn *conn);
void tcp_poller_cool(struct tcp_poller *poller, struct tcp_conn *conn);

#endif

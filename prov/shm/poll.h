/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * poll.h - the poller: looks at the rings, and every now and then at the sockets.
 *
 * A connection is active while its ring is looked at: in each poll if there are few, or if
 * it received a packet lately, else in turn.  Before the poller sleeps, it says so in each
 * active segment, and connections that received nothing since the last sleep become
 * inactive: their senders still see them asleep, and write a byte to the socket when they
 * send.  So the cost of a poll follows the active peers, a receiver that polls costs its
 * senders no system call, and one that sleeps is woken by one.
 *
 * Threading: under prog->lock.
 */
#ifndef SHM_POLL_H
#define SHM_POLL_H

#include <stdbool.h>
#include <sys/epoll.h>

#include "channel/poller.h"

struct shm_conn;
struct shm_hold;
struct shm_iovs;

struct shm_poller {
	struct chan_poller base;	/* first; dirty: packets or answers wait for room */
	struct shm_conn **active;	/* active_cnt of active_room */
	unsigned active_cnt;
	unsigned active_room;
	unsigned front_next, rest_next;	/* whose turn it is among many, see read_rest() */
	unsigned ready_cnt;		/* connections with a ring, active or not */
	unsigned handshake_cnt;		/* connections without: the sockets matter more */
	unsigned vain;			/* polls in a row that found nothing, up to RELAX_AFTER */
	uint64_t ended;			/* clock_cycles() at the end of a poll that found nothing; 0: not known */
	uint8_t crowd;			/* polls, of those measured lately, that were far from the one before */
	unsigned until_tick;		/* polls until the clock is read */
	unsigned until_wait;		/* such rounds until the sockets are looked at anyway */
	unsigned wait_gap;		/* what that begins at, while all connections are active */
	uint64_t tick;			/* clock_coarse_ns() when they last were */
	uint64_t silent;		/* the same, if no socket had anything to say */
	uint64_t slept_ns;		/* clock_coarse_ns() when it last did; 0: never */
	bool asleep;			/* the segments say that we sleep */
	struct list splitting;		/* connections whose long packets may be copied by both sides */
	struct list dead;		/* connections to free once no fetched event can name them */
	struct shm_conn *offering;	/* connection whose packet eng_on_packet() looks at */
	const struct shm_iovs *remote;	/* where its payload is; NULL: in the ring */
	struct shm_hold *held;		/* what the engine has held of it */
};

/* shm_poller_get - the group's poller, made on first use.
 * Ownership: the group's.  Errors: -FI_ENOMEM, -FI_EMFILE.
 */
int shm_poller_get(struct obj_prog *prog, struct chan_poller **base_p);

/* shm_poller_activate, shm_poller_deactivate - look at the ring of @conn, or rely on its
 * sender's byte on the socket.  No memory: it stays inactive.
 */
void shm_poller_activate(struct shm_poller *poller, struct shm_conn *conn);
void shm_poller_deactivate(struct shm_poller *poller, struct shm_conn *conn);

/* shm_poller_crowded - does this process get the processor only now and then?  Then so do its peers,
 * most likely: what takes a few turns of both takes long.
 */
#define SHM_CROWD_MAX 8

static inline bool shm_poller_crowded(const struct shm_poller *poller)
{
	return poller->crowd >= SHM_CROWD_MAX / 2;
}

/* shm_poller_reap - free the connections that were closed. */
void shm_poller_reap(struct shm_poller *poller);

/* shm_barrier_join - register this process for expedited barriers (membarrier).
 * Returns true if it takes part in those of others, and can make them itself.
 */
bool shm_barrier_join(void);

#endif

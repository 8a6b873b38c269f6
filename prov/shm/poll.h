/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * poll.h - the poller: looks at rings, and now and then at the sockets.
 *
 * A connection is hot while its ring is looked at, in each poll if there are few or it
 * carried something lately, else in turn.  Going to sleep tells
 * the senders of hot connections so, and lets those cool that were silent: a cold one's
 * sender writes a byte to the socket when it has something.  So a poll costs
 * what is active, a receiver that polls costs its senders no system call, and one
 * that sleeps is woken by one.
 *
 * Threading: everything here runs under prog->lock.
 */
#ifndef SHM_POLL_H
#define SHM_POLL_H

#include <stdbool.h>
#include <sys/epoll.h>

#include "channel/poller.h"

struct shm_conn;
struct shm_hold;
struct shm_iovs;

/* Something with a descriptor in the set. */
struct shm_src {
	int fd;			/* -1: none */
	bool watched;		/* in the set */
	void (*event)(struct shm_src *src, uint32_t events);
};

struct shm_poller {
	struct chan_poller base;	/* first; dirty: packets or answers wait for room */
	struct shm_conn **hot;		/* hot_cnt of hot_room */
	unsigned hot_cnt;
	unsigned hot_room;
	unsigned near, far;		/* whose turn it is, when there are many; see read_hot() */
	unsigned ready_cnt;		/* connections with a ring; those not hot are cold */
	unsigned handshake_cnt;		/* connections without: the sockets matter more */
	unsigned until_tick;		/* polls until we ask what time it is */
	unsigned until_wait;		/* such rounds until the sockets are looked at anyway */
	unsigned wait_gap;		/* what that begins at, while everybody is hot */
	uint64_t tick;			/* clock_coarse_ns() when they last were */
	bool asleep;			/* senders were told to wake us */
	struct list helping;		/* connections whose long packets we help to copy */
	struct list dead;		/* connections to free when no event can name them */
	struct shm_conn *offering;	/* connection whose packet the engine is looking at */
	const struct shm_iovs *remote;	/* where its payload is; NULL: in the ring */
	struct shm_hold *held;		/* what the engine told us to keep */
};

/* shm_poller_get - the group's poller, made on first use.
 * Ownership: the group's.  Errors: -FI_ENOMEM, -FI_EMFILE.
 */
int shm_poller_get(struct obj_prog *prog, struct chan_poller **base_p);

/* shm_src_watch, shm_src_ignore - be told of input and of the end.
 * Errors: the negative errno of epoll_ctl.
 */
int shm_src_watch(struct shm_poller *poller, struct shm_src *src);
void shm_src_ignore(struct shm_poller *poller, struct shm_src *src);

/* shm_poller_heat, shm_poller_cool - look at the ring of @conn in each poll, or leave
 * it to its sender to call.  No memory: it stays cold.
 */
void shm_poller_heat(struct shm_poller *poller, struct shm_conn *conn);
void shm_poller_cool(struct shm_poller *poller, struct shm_conn *conn);

/* shm_poller_reap - free the connections that were closed. */
void shm_poller_reap(struct shm_poller *poller);

/* shm_barrier_join - this process takes part in the barriers of others; true: it does,
 * and can make its own.
 */
bool shm_barrier_join(void);

#endif

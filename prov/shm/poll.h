/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * poll.h - the poller: looks at the rings, and every now and then at the sockets.
 *
 * A connection is active while its ring is looked at: in each poll if there are few, else when its sender
 * rings (union shm_bells).  Before the poller sleeps, it says so in each active segment, and connections
 * that received nothing since the last sleep become inactive: their senders still see them asleep, and
 * write a byte to the socket when they send.  So the cost of a poll follows the active peers, a receiver that polls costs its
 * senders no system call, and one that sleeps is woken by one.
 *
 * Threading: under prog->lock.
 */
#ifndef SHM_POLL_H
#define SHM_POLL_H

#include <stdbool.h>
#include <string.h>

#include "base/clock.h"
#include "channel/poller.h"
#include "wire.h"

struct shm_conn;
struct shm_hold;
struct shm_iovs;

/* ---- bells: which connection has which ------------------------------------------------- */

struct shm_bell_set {
	union shm_bells *mem;		/* NULL: none yet */
	int fd;				/* to pass on; valid with mem */
	struct shm_conn **conns;	/* by number; NULL: that one is free */
	unsigned end;			/* all that are in use are below */
	unsigned room;
};

/* shm_bell_give - a bell for @conn.  Returns its number; -FI_EMFILE, -FI_ENOMEM; -FI_ENOSPC: all
 * SHM_BELLS are in use.
 */
int shm_bell_give(struct shm_bell_set *set, struct shm_conn *conn);

/* shm_bell_take - the connection is closed: another one may get the bell, and look in vain once if the
 * former sender rings it.
 */
void shm_bell_take(struct shm_bell_set *set, int number);

void shm_bell_free(struct shm_bell_set *set);

/* shm_bell_ring - look at the connection with this bell in the next poll. */
static inline void shm_bell_ring(struct shm_bell_set *set, int number)
{
	atomic_store_explicit(&set->mem->bell[number], 1, memory_order_relaxed);
}

#define SHM_BELL_GROUP 8	/* bells that are read at once */

/* shm_bell_rung - which bells of the group number @group have rung since this was last asked?  What
 * their senders published before they rang is seen by the caller.
 * @rung: [out] SHM_BELL_GROUP bytes, nonzero for those; valid if true is returned
 */
static inline bool shm_bell_rung(struct shm_bell_set *set, unsigned group, uint8_t *rung)
{
	_Atomic uint64_t *word = &set->mem->group[group];
	uint64_t bits;

	_Static_assert(sizeof(bits) == SHM_BELL_GROUP, "a byte for each");
	if (!atomic_load_explicit(word, memory_order_relaxed))
		return false;
	/* one step: a sender that rings after it finds the bell cleared, and is seen next time */
	bits = atomic_exchange_explicit(word, 0, memory_order_seq_cst);
	memcpy(rung, &bits, sizeof(bits));
	return true;
}

/* ---- the poller ------------------------------------------------------------------------ */

struct shm_poller {
	struct chan_poller base;	/* first; dirty: packets or answers wait for room */
	_Alignas(SHM_LINE) struct shm_conn **active;	/* active_cnt of active_room */
	struct shm_conn *sole;		/* the only connection, if its ring shows all that most polls look for */
	unsigned active_cnt;
	unsigned front_cnt;		/* of these, the first ones that are looked at in each poll */
	unsigned ready_cnt;		/* connections with a ring, active or not */
	unsigned handshake_cnt;		/* connections without: the sockets matter more */
	unsigned vain;			/* polls in a row that found nothing, up to RELAX_AFTER */
	unsigned until_tick;		/* polls until the clock is read */
	uint64_t silent;		/* clock_cycles() when no socket had anything to say; 0: one had, when last
					 * asked */
	/* up to here lies what most polls and sends need */
	struct shm_bell_set bells;
	unsigned conn_cnt;		/* of the group, in any state; active_room has room for each */
	unsigned active_room;
	unsigned doubts;		/* connections to look at though they have not rung: see recheck_doubt() */
	unsigned rest_next;		/* whose turn it is among many, see recheck_doubt() */
	unsigned until_wait;		/* rounds of @until_tick until the sockets are looked at anyway */
	uint64_t tick;			/* clock_coarse_ns() when they last were */
	uint64_t slept_ns;		/* clock_coarse_ns() when it last did; 0: never */
	uint64_t woken_seq;		/* polls until the end of that */
	uint32_t fences;		/* SHM_FENCES: the senders make the barrier of the next sleep; or 0 */
	bool asleep;			/* the segments say that we sleep */
	struct list early;		/* connections whose short payload waits in the sender's memory for a receive */
	struct list splitting;		/* connections with long copies that both sides make */
	struct list unread;		/* connections whose peer may not have taken all */
	unsigned unread_cnt;		/* of these, those that were not logged */
	uint64_t unread_due_ns;		/* the next look at them, by clock_coarse_ns() */
	struct list dead;		/* connections to free once no fetched event can name them */
	struct shm_conn *offering;	/* connection whose packet eng_on_packet() looks at */
	const struct shm_iovs *remote;	/* where its payload is; NULL: in the ring */
	struct shm_hold *held;		/* what the engine has held of it */
};

/* shm_poller_get - the group's poller, made on first use.
 * Ownership: the group's.  Errors: -FI_ENOMEM, -FI_EMFILE.
 */
int shm_poller_get(struct obj_prog *prog, struct chan_poller **base_p);

/* shm_poller_reserve - room for one more connection, so that activating it needs no memory.
 * shm_poller_release - a connection that it was called for has closed.
 * Ownership: the poller's.
 * Threading: under prog->lock; makes no upcall.
 * Errors:    -FI_ENOMEM, nothing has changed.
 */
int shm_poller_reserve(struct shm_poller *poller);

static inline void shm_poller_release(struct shm_poller *poller)
{
	poller->conn_cnt--;
}

/* shm_poller_activate - look at the ring of @conn in the next poll, and from then on.
 * shm_poller_deactivate - rely on the byte that its sender writes on the socket.
 */
void shm_poller_activate(struct shm_poller *poller, struct shm_conn *conn);
void shm_poller_deactivate(struct shm_poller *poller, struct shm_conn *conn);

/* shm_poller_works - the program has just done something: its last poll was not in vain. */
static inline void shm_poller_works(struct shm_poller *poller)
{
	poller->vain = 0;
	obj_idle_end(&poller->base.base.prog->idle);
}

/* shm_poller_shares - do processes take turns on this processor?  Then so do their peers, most likely: what takes a few
 * turns of both takes long.
 */
static inline bool shm_poller_shares(const struct shm_poller *poller)
{
	return obj_idle_shares(&poller->base.base.prog->idle);
}

/* shm_poller_heard - was it asked within some milliseconds whether a socket has anything to say, the end
 * of a peer for one, and none had?
 */
#define SHM_HEARD_MS 8		/* they are asked about once in 4 ms while the rings are active */

static inline bool shm_poller_heard(const struct shm_poller *poller)
{
	return clock_cycles() - poller->silent < SHM_HEARD_MS * clock_cycles_in_ms();
}

/* shm_poller_reap - free the connections that were closed. */
void shm_poller_reap(struct shm_poller *poller);

/* shm_barrier_join - register this process for expedited barriers (membarrier).
 * Returns true if it takes part in those of others, and can make them itself.
 */
bool shm_barrier_join(void);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * hold.h - payload of unexpected packets, kept for the engine until a receive asks for it.
 *
 * A payload that has arrived in whole lies in the hold, and outlives its connection.  One
 * that has not, or that lies in the peer's memory, has a source: the link's connection,
 * from which the rest comes.  When that connection is lost, so is the payload.
 *
 * Threading: under the lock of the progress group.
 */
#ifndef CHAN_HOLD_H
#define CHAN_HOLD_H

#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "engine/link.h"

struct chan_hold;

/* What a link does with a hold that has a source. */
struct chan_hold_ops {
	/* take - move what is here to @iov, and have the rest placed there; the source forgets
	 * @hold.  Returns as eng_link_held.pull does.
	 */
	int (*take)(struct chan_hold *hold, const struct iovec *iov, size_t iov_cnt, void *cookie);
	/* release - the payload is not wanted; the source forgets @hold. */
	void (*release)(struct chan_hold *hold);
};

struct chan_hold {
	struct list node;	/* the source's, or on no list */
	const struct chan_hold_ops *ops;
	void *source;		/* where the rest comes from; NULL: @data is complete, or @err */
	int err;		/* lost, for this reason: positive */
	uint32_t step;		/* of struct chan_holds; 0: from malloc() */
	size_t len;		/* of the payload */
	uint8_t *data;		/* room for it; NULL: it is still in the peer's memory */
	uint8_t *own;		/* NULL, or @data of a hold that was fetched: freed with it */
};

/* Holds that were freed, by size, for the next messages: malloc() for each unexpected message
 * costs more than the rest of keeping it.  A poller has one.
 */
#define CHAN_HOLD_STEP 64		/* sizes are rounded up to a multiple */
#define CHAN_HOLD_STEPS 65		/* longer ones come from malloc() */
#define CHAN_HOLDS_KEPT ((size_t) 512 << 10)	/* bytes at most; beyond they are given back */

struct chan_holds {
	struct chan_hold *free[CHAN_HOLD_STEPS];	/* linked by @source */
	size_t kept;					/* bytes in them */
};

/* chan_holds_fini - give the memory of the free holds back. */
void chan_holds_fini(struct chan_holds *holds);

/* chan_hold_new - a hold for the packet that eng_on_packet() looks at, with a copy of what
 * of its payload has arrived.
 *
 * @holds:  of the poller of the link whose pull() gets the hold
 * @size:   of the link's structure, which begins with struct chan_hold; zeroed behind it
 * @remote: the payload is in the peer's memory: no room is made for it
 *
 * Ownership: chan_pull() frees it.   Errors: NULL, no memory.
 */
struct chan_hold *chan_hold_new(struct chan_holds *holds, size_t size, const struct eng_rx *rx,
				bool remote, const struct chan_hold_ops *ops);

/* chan_hold_done - the payload is complete: the hold needs its source no longer. */
static inline void chan_hold_done(struct chan_hold *hold)
{
	list_del(&hold->node);
	hold->source = NULL;
}

/* chan_hold_fetched - payload that was in the peer's memory is at @data now, complete.
 * Ownership: @data is from malloc(), and the hold's from now on.
 */
static inline void chan_hold_fetched(struct chan_hold *hold, uint8_t *data)
{
	chan_hold_done(hold);
	hold->data = hold->own = data;
}

/* chan_hold_lost - the source has ended with @err (positive) before it was. */
static inline void chan_hold_lost(struct chan_hold *hold, int err)
{
	chan_hold_done(hold);
	hold->err = err;
}

/* What a link does with the payload that is arriving: at most one of the two is set. */
struct chan_sink {
	struct chan_hold *hold;		/* it fills this hold */
	void *cookie;			/* it is placed: eng_on_placed() at its end */
};

/* chan_sink_end - the payload is complete, or lost for the reason @err (positive).  Tells the
 * hold or the engine, and resets @sink before that.
 */
void chan_sink_end(struct chan_sink *sink, struct eng_link *link, int err);

/* chan_pull - eng_link_held.pull. */
int chan_pull(struct eng_link *link, void *token, const struct iovec *iov, size_t iov_cnt,
	      void *cookie);

/* chan_unplace_none - eng_link_held.unplace of a link whose placements never wait, or are made by a NIC. */
bool chan_unplace_none(struct eng_link *link, struct eng_peer *peer, void *cookie);

#endif

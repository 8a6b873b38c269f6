/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * stripe.h - which bytes of a payload go over which path of a channel.
 *
 * A payload is cut into one part for each path, in the order of the paths.  Both sides compute the
 * same cuts from the length and the number of paths, or from weights that both know.
 *
 * Pure.  Units: bytes, unless stated.
 */
#ifndef CHAN_STRIPE_H
#define CHAN_STRIPE_H

#include <stddef.h>
#include <stdint.h>

#define CHAN_STRIPE_ALIGN 64	/* a part begins at a multiple of a cache line */

/* chan_stripe_at - where part @i begins in a payload of @len bytes that is cut into @cnt equal parts.
 * It ends where the next one begins, the last with the payload: that has the remainder, too.
 */
static inline uint64_t chan_stripe_at(uint64_t len, unsigned cnt, unsigned i)
{
	return i == cnt ? len : len / cnt / CHAN_STRIPE_ALIGN * CHAN_STRIPE_ALIGN * i;
}

/* The shares of unequal paths.  With equal ones the cuts are those of chan_stripe_at(). */
#define CHAN_STRIPE_PATHS 8	/* most paths of a channel */
#define CHAN_STRIPE_SUM 64	/* most that the shares add up to: 1/64 of a payload is the finest share */

struct chan_stripe {
	unsigned cnt;			/* of paths, at most CHAN_STRIPE_PATHS */
	unsigned sum;			/* of the shares, at most CHAN_STRIPE_SUM */
	uint8_t share[CHAN_STRIPE_PATHS]; /* 0: the path carries no payload */
};

/* chan_stripe_weigh - the shares of @cnt paths that deliver @rates.
 * @rates: in any unit, the same for all; at least one is not 0; their sum is below 2^58
 *
 * Equal rates have the share 1 each.  A path that is slower than all others together by more than
 * CHAN_STRIPE_SUM may have none.
 */
void chan_stripe_weigh(struct chan_stripe *stripe, const uint64_t *rates, unsigned cnt);

/* chan_stripe_cut - chan_stripe_at() for such paths: what does not divide belongs to the last one that
 * has a share.
 */
uint64_t chan_stripe_cut(const struct chan_stripe *stripe, uint64_t len, unsigned i);

#endif

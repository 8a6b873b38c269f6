/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * ranges.h - a set of numbers, as ranges that are neither adjacent nor overlapping.
 *
 * Sorted, ascending.  Few ranges is the common case: up to RXD_RANGES_OWN of them
 * cost no memory of their own.  Pure.
 */
#ifndef RXD_RANGES_H
#define RXD_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rxd_span {
	uint64_t lo;
	uint64_t hi;		/* first number that is not in it */
};

#define RXD_RANGES_OWN 1

struct rxd_ranges {
	struct rxd_span *span;	/* own, or allocated */
	uint32_t cnt;
	uint32_t room;
	struct rxd_span own[RXD_RANGES_OWN];
};

void rxd_ranges_init(struct rxd_ranges *set);
void rxd_ranges_fini(struct rxd_ranges *set);	/* empty again, and usable */

/* rxd_ranges_add - @lo .. @hi-1 are in the set.  Returns 0, -FI_ENOMEM: unchanged. */
int rxd_ranges_add(struct rxd_ranges *set, uint64_t lo, uint64_t hi);

/* rxd_ranges_next - the number behind the last range is in the set, too; there is one. */
static inline void rxd_ranges_next(struct rxd_ranges *set)
{
	set->span[set->cnt - 1].hi++;
}

/* rxd_ranges_cover - the same; where memory is short, numbers between them and the next range may be
 * added, too.  Cannot fail.
 */
void rxd_ranges_cover(struct rxd_ranges *set, uint64_t lo, uint64_t hi);

/* rxd_ranges_sub - remove @lo .. @hi-1.  Errors: -FI_ENOMEM when a range would be split. */
int rxd_ranges_sub(struct rxd_ranges *set, uint64_t lo, uint64_t hi);

/* rxd_ranges_cut - remove all below @lo.  Cannot fail. */
void rxd_ranges_cut(struct rxd_ranges *set, uint64_t lo);

/* rxd_ranges_has - Cost: O(log n). */
bool rxd_ranges_has(const struct rxd_ranges *set, uint64_t number);

/* rxd_ranges_at - the first range that ends above @number, or NULL. */
const struct rxd_span *rxd_ranges_at(const struct rxd_ranges *set, uint64_t number);

#endif

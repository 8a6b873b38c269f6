/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "ranges.h"

#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>

/* Most sets have few ranges: those are in the set itself, and allocate nothing. */
void rxd_ranges_init(struct rxd_ranges *set)
{
	set->span = set->own;
	set->room = RXD_RANGES_OWN;
	set->cnt = 0;
}

void rxd_ranges_fini(struct rxd_ranges *set)
{
	if (set->span != set->own)
		free(set->span);
	rxd_ranges_init(set);
}

/* Index of the first range that ends above @number (with @adjacent: at it). */
static uint32_t ranges_find(const struct rxd_ranges *set, uint64_t number, bool adjacent)
{
	uint32_t lo = 0, hi = set->cnt, mid;

	/* most numbers are added behind all others */
	if (hi && set->span[hi - 1].hi < number + !adjacent)
		return hi;
	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (set->span[mid].hi < number + !adjacent)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Before anything is moved, so that a set is whole after -FI_ENOMEM. */
static int ranges_grow(struct rxd_ranges *set)
{
	uint32_t room = set->room < 4 ? 8 : set->room * 2;
	struct rxd_span *span;

	if (set->cnt < set->room)
		return 0;
	span = realloc(set->span == set->own ? NULL : set->span, room * sizeof(*span));
	if (!span)
		return -FI_ENOMEM;
	if (set->span == set->own)
		memcpy(span, set->own, sizeof(set->own));
	set->span = span;
	set->room = room;
	return 0;
}

/* ranges_move - the ranges from @from on to @to: opens a gap, or closes one. */
static void ranges_move(struct rxd_ranges *set, uint32_t to, uint32_t from)
{
	memmove(&set->span[to], &set->span[from], (set->cnt - from) * sizeof(*set->span));
	set->cnt = set->cnt + to - from;
}

int rxd_ranges_add(struct rxd_ranges *set, uint64_t lo, uint64_t hi)
{
	uint32_t i = ranges_find(set, lo, true), end;
	struct rxd_span *span;

	if (lo >= hi)
		return 0;
	/* adjacent to none: a range of its own */
	if (i == set->cnt || set->span[i].lo > hi) {
		if (ranges_grow(set))
			return -FI_ENOMEM;
		ranges_move(set, i + 1, i);
		set->span[i] = (struct rxd_span) { lo, hi };
		return 0;
	}
	span = &set->span[i];
	if (lo < span->lo)
		span->lo = lo;
	if (hi <= span->hi)
		return 0;
	/* it may reach the ranges behind it, which become part of this one */
	for (end = i + 1; end < set->cnt && set->span[end].lo <= hi; end++)
		;
	if (set->span[end - 1].hi > hi)
		hi = set->span[end - 1].hi;
	span->hi = hi;
	ranges_move(set, i + 1, end);
	return 0;
}

void rxd_ranges_cover(struct rxd_ranges *set, uint64_t lo, uint64_t hi)
{
	uint32_t i;

	if (!rxd_ranges_add(set, lo, hi))
		return;
	/* it is adjacent to none, and there are some: otherwise there was room */
	i = ranges_find(set, lo, true);
	if (i < set->cnt)
		set->span[i].lo = lo;
	else
		set->span[i - 1].hi = hi;
}

int rxd_ranges_sub(struct rxd_ranges *set, uint64_t lo, uint64_t hi)
{
	uint32_t i = ranges_find(set, lo, false), end;

	if (lo >= hi || i == set->cnt || set->span[i].lo >= hi)
		return 0;
	/* a hole in the middle: the one case that needs room */
	if (set->span[i].lo < lo && set->span[i].hi > hi) {
		if (ranges_grow(set))
			return -FI_ENOMEM;
		ranges_move(set, i + 1, i);
		set->span[i].hi = lo;
		set->span[i + 1].lo = hi;
		return 0;
	}
	if (set->span[i].lo < lo)
		set->span[i++].hi = lo;
	for (end = i; end < set->cnt && set->span[end].hi <= hi; end++)
		;
	if (end < set->cnt && set->span[end].lo < hi)
		set->span[end].lo = hi;
	ranges_move(set, i, end);
	return 0;
}

void rxd_ranges_cut(struct rxd_ranges *set, uint64_t lo)
{
	uint32_t i = ranges_find(set, lo, false);

	ranges_move(set, 0, i);
	if (set->cnt && set->span[0].lo < lo)
		set->span[0].lo = lo;
}

bool rxd_ranges_has(const struct rxd_ranges *set, uint64_t number)
{
	const struct rxd_span *span = rxd_ranges_at(set, number);

	return span && span->lo <= number;
}

const struct rxd_span *rxd_ranges_at(const struct rxd_ranges *set, uint64_t number)
{
	uint32_t i = ranges_find(set, number, false);

	return i < set->cnt ? &set->span[i] : NULL;
}

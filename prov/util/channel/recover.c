/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "channel/recover.h"

#include <assert.h>
#include <string.h>

#include "base/iov.h"

/* ---- sets of ranges --------------------------------------------------------------- */

/* ranges_from - the first range that ends at @at or behind it. */
static unsigned ranges_from(const struct chan_ranges *set, uint64_t at)
{
	unsigned low = 0, high = set->cnt, mid;

	while (low < high) {
		mid = (low + high) / 2;
		if (set->range[mid].end < at)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static void ranges_remove(struct chan_ranges *set, unsigned at, unsigned cnt)
{
	memmove(set->range + at, set->range + at + cnt, (set->cnt - at - cnt) * sizeof(*set->range));
	set->cnt -= cnt;
}

bool chan_ranges_add(struct chan_ranges *set, uint64_t at, uint64_t end)
{
	unsigned i = ranges_from(set, at), to = i;

	if (at == end)
		return true;
	while (to < set->cnt && set->range[to].at <= end)
		to++;
	if (to == i) {
		if (set->cnt == set->most)
			return false;
		memmove(set->range + i + 1, set->range + i, (set->cnt - i) * sizeof(*set->range));
		set->range[i] = (struct chan_range) { at, end };
		set->cnt++;
		return true;
	}
	if (set->range[i].at > at)
		set->range[i].at = at;
	if (set->range[to - 1].end > end)
		end = set->range[to - 1].end;
	set->range[i].end = end;
	ranges_remove(set, i + 1, to - i - 1);
	return true;
}

static void close_nearest_gap(struct chan_ranges *set)
{
	unsigned i, best = 0;

	for (i = 1; i + 1 < set->cnt; i++)
		if (set->range[i + 1].at - set->range[i].end < set->range[best + 1].at - set->range[best].end)
			best = i;
	set->range[best].end = set->range[best + 1].end;
	ranges_remove(set, best + 1, 1);
}

void chan_ranges_cover(struct chan_ranges *set, uint64_t at, uint64_t end)
{
	while (!chan_ranges_add(set, at, end))
		close_nearest_gap(set);
}

void chan_ranges_cut(struct chan_ranges *set, uint64_t end)
{
	unsigned i = 0;

	while (i < set->cnt && set->range[i].end <= end)
		i++;
	ranges_remove(set, 0, i);
	if (set->cnt && set->range[0].at < end)
		set->range[0].at = end;
}

/* ---- a ring ------------------------------------------------------------------------- */

/* ring_iov - @at: of the ring's beginning. */
static size_t ring_iov(uint8_t *ring, uint64_t size, uint64_t at, size_t len, struct iovec iov[2])
{
	size_t begin = (size_t) (at & (size - 1)), part = (size_t) size - begin;

	if (!len)
		return 0;
	if (part > len)
		part = len;
	iov[0] = (struct iovec) { ring + begin, part };
	iov[1] = (struct iovec) { ring, len - part };
	return part < len ? 2 : 1;
}

/* ---- the sender ------------------------------------------------------------------- */

void chan_kept_init(struct chan_kept *kept, uint64_t size)
{
	assert(size && !(size & (size - 1)) && "offsets are masked");
	*kept = (struct chan_kept) { .size = size };
	kept->again = (struct chan_ranges) { .most = CHAN_AGAIN_RANGES, .range = kept->range };
}

void chan_sent_init(struct chan_sent *sent)
{
	sent->set = (struct chan_ranges) { .most = CHAN_SENT_RANGES, .range = sent->range };
}

size_t chan_kept_put(struct chan_kept *kept, const struct iovec *iov, size_t cnt)
{
	size_t len = iov_total(iov, cnt), room = (size_t) (kept->size - (kept->end - kept->taken));
	struct iovec to[2];
	size_t to_cnt, i, off = 0;

	if (len > room)
		len = room;
	if (kept->taken == kept->end)
		kept->begin = kept->end;
	to_cnt = ring_iov(kept->ring, kept->size, kept->end - kept->begin, len, to);
	for (i = 0; i < to_cnt; i++)
		off += iov_gather(iov, cnt, off, to[i].iov_base, to[i].iov_len);
	kept->end += len;
	return len;
}

void chan_sent_add(const struct chan_kept *kept, struct chan_sent *sent, uint64_t at, uint64_t end)
{
	chan_ranges_cut(&sent->set, kept->taken);
	chan_ranges_cover(&sent->set, at, end);
}

size_t chan_kept_next(struct chan_kept *kept, struct chan_sent *sent, size_t most, uint64_t *at_p)
{
	struct chan_range *first = kept->again.range;
	uint64_t at = kept->fresh, end = kept->end;

	if (kept->again.cnt) {
		at = first->at;
		end = first->end;
	}
	if (end - at > most)
		end = at + most;
	if (at == end)
		return 0;
	if (kept->again.cnt)
		chan_ranges_cut(&kept->again, end);
	else
		kept->fresh = end;
	chan_sent_add(kept, sent, at, end);
	*at_p = at;
	return (size_t) (end - at);
}

size_t chan_kept_iov(const struct chan_kept *kept, uint64_t at, size_t len, struct iovec iov[2])
{
	return ring_iov(kept->ring, kept->size, at - kept->begin, len, iov);
}

bool chan_kept_ack(struct chan_kept *kept, uint64_t taken)
{
	if (taken > kept->fresh)
		return false;
	if (taken <= kept->taken)
		return true;
	kept->taken = taken;
	chan_ranges_cut(&kept->again, taken);
	return true;
}

void chan_kept_lost(struct chan_kept *kept, struct chan_sent *sent)
{
	unsigned i;

	chan_ranges_cut(&sent->set, kept->taken);
	for (i = 0; i < sent->set.cnt; i++)
		chan_ranges_cover(&kept->again, sent->range[i].at, sent->range[i].end);
	sent->set.cnt = 0;
}

/* ---- the receiver ------------------------------------------------------------------ */

void chan_got_init(struct chan_got *got, uint64_t size)
{
	assert(size && !(size & (size - 1)) && "offsets are masked");
	got->ring = NULL;
	got->size = size;
	got->begin = got->taken = got->next = 0;
	got->ahead = (struct chan_ranges) { .most = CHAN_GOT_RANGES, .range = got->range };
}

bool chan_got_fits(const struct chan_got *got, uint64_t at, uint64_t len)
{
	return len <= got->size && at <= got->taken + got->size - len;
}

size_t chan_got_room(const struct chan_got *got, uint64_t at, size_t len, size_t *skip_p, struct iovec iov[2])
{
	size_t skip = at >= got->taken ? 0 : got->taken - at < len ? (size_t) (got->taken - at) : len;

	*skip_p = skip;
	return ring_iov(got->ring, got->size, at + skip - got->begin, len - skip, iov);
}

/* got_join - what has arrived ahead of @end belongs to it, if nothing is missing between them any more. */
static void got_join(struct chan_got *got, uint64_t end)
{
	got->next = end;
	if (!got->ahead.cnt || got->range[0].at > end)
		return;
	chan_ranges_add(&got->ahead, got->range[0].at, end > got->range[0].end ? end : got->range[0].end);
	if (got->range[0].end > end)
		got->next = got->range[0].end;
	chan_ranges_cut(&got->ahead, got->next);
}

void chan_got_placed(struct chan_got *got, size_t len)
{
	assert(got->taken == got->next && "nothing waits in the ring");
	got->taken += len;
	got_join(got, got->taken);
	if (got->taken == got->next && !got->ahead.cnt)
		got->begin = got->taken;
}

bool chan_got_put(struct chan_got *got, uint64_t at, size_t len)
{
	uint64_t end = at + len;

	if (at > got->next)
		return chan_ranges_add(&got->ahead, at, end);
	if (end <= got->next)
		return true;
	got_join(got, end);
	return true;
}

size_t chan_got_take(struct chan_got *got, uint8_t *buf, size_t most)
{
	uint64_t left = got->next - got->taken;
	size_t len = left < most ? (size_t) left : most, cnt, i;
	struct iovec iov[2];

	cnt = ring_iov(got->ring, got->size, got->taken - got->begin, len, iov);
	for (i = 0; i < cnt; i++) {
		memcpy(buf, iov[i].iov_base, iov[i].iov_len);
		buf += iov[i].iov_len;
	}
	got->taken += len;
	if (got->taken == got->next && !got->ahead.cnt)
		got->begin = got->taken;
	return len;
}

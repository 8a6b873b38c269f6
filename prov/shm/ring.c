/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "ring.h"

#include "base/clock.h"
#include "base/copy.h"

#define MASK ((uint64_t) SHM_DATA_SIZE - 1)

/* to_begin - bytes from position @bytes to the end of the ring. */
static inline uint64_t to_begin(uint64_t bytes)
{
	return -bytes & MASK;
}

/* out_fits - is there room for @len bytes, as far as is known of the receiver? */
static bool out_fits(const struct shm_out *out, uint64_t skip, size_t len)
{
	return out->bytes + skip + len - out->seen_bytes <= SHM_DATA_SIZE;
}

/* is_new - would a packet of @len bytes that comes next be the first one where it lies? */
static inline bool is_new(const struct shm_out *out, size_t len)
{
	return (out->bytes & MASK) + len > out->touched;
}

/* to_skip - bytes to skip before a packet of @len bytes. */
static uint64_t to_skip(const struct shm_out *out, size_t len)
{
	uint64_t at = out->bytes & MASK, skip = to_begin(out->bytes);

	if (at + len > SHM_DATA_SIZE)
		return skip;
	if (!out_fits(out, skip, len))
		return 0;
	return out->bytes == out->seen_bytes && (is_new(out, len) || at >= SHM_DATA_NEAR) ? skip : 0;
}

/* look_due - are the receiver's counters needed, to choose the place of a copy? */
static inline bool look_due(const struct shm_out *out, size_t len)
{
	uint64_t backlog = out->bytes - out->seen_bytes;

	if (backlog && is_new(out, len))
		return true;
	return backlog && out->bytes - out->looked_bytes >= SHM_LOOK_BYTES &&
	       (out->bytes & MASK) >= SHM_DATA_NEAR;
}

void *shm_out_data(struct shm_out *out, size_t len, unsigned *kind_p)
{
	uint64_t skip, at;

	if (look_due(out, len)) {
		out->looked_bytes = out->bytes;
		shm_out_look(out);
	}
	len = shm_lines(len);
	skip = to_skip(out, len);
	if (!out_fits(out, skip, len)) {
		shm_out_look(out);
		if (!out_fits(out, skip, len))
			return NULL;
	}
	if (skip)
		*kind_p |= SHM_SKIP;
	at = (out->bytes + skip) & MASK;
	out->bytes += skip + len;
	if (at + len > out->touched)
		out->touched = (uint32_t) (at + len);
	return out->seg->data + at;
}

void shm_out_copy(struct shm_out *out, void *to, const void *from, size_t len)
{
	uint64_t start;

	if (len < SHM_STREAM_MIN) {
		copy_ahead(to, from, len);
	} else if (shm_far_due(&out->far)) {
		start = clock_ns();
		copy_ahead(to, from, len);
		shm_far_sample(&out->far, len, clock_ns() - start);
	} else if (out->far.far) {
		copy_stream(to, from, len);
	} else {
		copy_ahead(to, from, len);
	}
}

/* data_len - bytes of an item in the data ring; SIZE_MAX: impossible. */
static size_t data_len(struct shm_item *item)
{
	struct shm_pull_hdr pull;
	size_t len;

	switch (item->kind) {
	case SHM_DATA:
	case SHM_FIRST:
	case SHM_MORE:
		item->data_hdr = shm_data_hdr(item->kind, item->hdr_len);
		len = item->data_hdr + item->len;
		return len && item->len <= SHM_PIECE_MAX ? len : SIZE_MAX;
	case SHM_PULL:
		memcpy(&pull, item->body, sizeof(pull));
		if (!pull.cnt || pull.cnt > ENG_IOV_MAX || item->len > SHM_PAYLOAD_MAX)
			return SIZE_MAX;
		len = SHM_PULL_SIZE(pull.cnt) + item->hdr_len;
		return len <= SHM_BODY ? 0 : len - sizeof(pull);
	case SHM_DONE:
		return item->len && item->len <= SHM_DONE_MAX ? 0 : SIZE_MAX;
	case SHM_STALL:
	case SHM_FLUSH:
	case SHM_SHARE:
		return 0;
	default:
		return SIZE_MAX;
	}
}

bool shm_in_check(const struct shm_in *in, uint64_t word, struct shm_item *item)
{
	bool skip = word >> 16 & SHM_SKIP;
	uint64_t at = in->bytes;
	size_t len;

	item->kind = word >> 16 & (SHM_SKIP - 1);
	if (item->kind >= SHM_KINDS || item->hdr_len > ENG_HDR_MAX)
		return false;
	len = data_len(item);
	if (len == SIZE_MAX)
		return false;
	if (!len)
		return !skip;
	if (skip)
		at += to_begin(at);
	len = shm_lines(len);
	if ((at & MASK) + len > SHM_DATA_SIZE)
		return false;
	item->data = in->seg->data + (at & MASK);
	item->used = at - in->bytes + len;
	return true;
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * ring.h - the two ends of a segment: one process writes, one reads.
 *
 * Each side counts positions for itself; from the other side's memory it reads only how
 * far that has come and how long a packet is, and checks both.  So no index in shared
 * memory is trusted: a peer that writes wrong values corrupts its own packets, or is
 * detected.
 *
 * Threading: each end under the lock of its progress group.
 */
#ifndef SHM_RING_H
#define SHM_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "wire.h"

/* After so many bytes the data ring restarts at its beginning, if it is empty: a few short
 * packets then stay in the cache, and most of the ring has no pages.
 */
#define SHM_DATA_NEAR (16u << 10)

/* ---- the sender's end ------------------------------------------------------------------ */

struct shm_out {
	struct shm_seg *seg;
	uint64_t pos;		/* slots written */
	uint64_t bytes;		/* of the data ring used, skipped ones included */
	uint64_t seen_pos;	/* slots that the receiver has taken, when last read */
	uint64_t seen_bytes;	/* the same of the data ring */
	uint64_t clear;		/* if equal to pos: a native write may overtake all in flight */
	uint64_t stall;		/* number of the last STALL, plus 1; 0: none */
	uint32_t woken;		/* value of asleep for which the receiver was woken */
	bool fence;		/* make a full barrier before each read of asleep */
	bool bad;		/* the receiver's counters are impossible */
};

static inline size_t shm_lines(size_t len)
{
	return (len + SHM_LINE - 1) & ~(size_t) (SHM_LINE - 1);
}

/* shm_out_look - update seen_pos and seen_bytes, or bad.  Reads each counter once. */
static inline void shm_out_look(struct shm_out *out)
{
	uint64_t pos = atomic_load_explicit(&out->seg->rx.slots_done, memory_order_acquire);
	uint64_t bytes = atomic_load_explicit(&out->seg->rx.bytes_done, memory_order_acquire);

	/* bytes is written first, so it may be ahead of pos */
	if (out->pos - pos > SHM_SLOTS || out->bytes - bytes > SHM_DATA_SIZE ||
	    pos - out->seen_pos > SHM_SLOTS || bytes - out->seen_bytes > SHM_DATA_SIZE) {
		out->bad = true;
		return;
	}
	out->seen_pos = pos;
	out->seen_bytes = bytes;
}

/* shm_out_room - may @cnt more slots be written? */
static inline bool shm_out_room(struct shm_out *out, unsigned cnt)
{
	if (__builtin_expect(out->pos + cnt - out->seen_pos <= SHM_SLOTS, 1))
		return true;
	shm_out_look(out);
	return out->pos + cnt - out->seen_pos <= SHM_SLOTS;
}

/* shm_out_slot - the slot that comes next; its body may be written. */
static inline struct shm_slot *shm_out_slot(const struct shm_out *out)
{
	return &out->seg->slots[out->pos % SHM_SLOTS];
}

/* shm_out_data - @len bytes in one piece of the data ring, or NULL: no room.
 * @len:    at most half of it
 * @kind_p: [in,out] SHM_SKIP is added if it begins at the beginning
 */
void *shm_out_data(struct shm_out *out, size_t len, unsigned *kind_p);

/* shm_out_publish - the slot and its data are complete: let the receiver see them. */
static inline void shm_out_publish(struct shm_out *out, unsigned kind, size_t hdr_len, size_t len)
{
	atomic_store_explicit(&shm_out_slot(out)->word, shm_word(out->pos, kind, hdr_len, len),
			      memory_order_release);
	out->pos++;
}

/* shm_out_is_clear - has the receiver taken all that a native write must not overtake? */
static inline bool shm_out_is_clear(struct shm_out *out)
{
	if (out->clear == out->pos)
		return true;
	if (out->seen_pos != out->pos)
		shm_out_look(out);
	if (out->seen_pos != out->pos)
		return false;
	out->clear = out->pos;
	return true;
}

/* shm_out_asleep - must the receiver be woken for what was published?
 *
 * The receiver stores that it sleeps, then reads the ring once more; the sender publishes,
 * then reads whether the receiver sleeps.  Each side needs a full barrier between the two
 * steps, or both could miss the other's store.  The receiver makes the sender's, too, by
 * an expedited barrier of the kernel (membarrier), unless out->fence.
 */
static inline bool shm_out_asleep(struct shm_out *out)
{
	uint32_t asleep;

	if (__builtin_expect(out->fence, 0))
		atomic_thread_fence(memory_order_seq_cst);
	else
		atomic_signal_fence(memory_order_seq_cst);
	asleep = atomic_load_explicit(&out->seg->rx.asleep, memory_order_relaxed);
	if (__builtin_expect(!asleep || asleep == out->woken, 1))
		return false;
	out->woken = asleep;
	return true;
}

/* ---- the receiver's end ------------------------------------------------------------------ */

struct shm_in {
	struct shm_seg *seg;
	uint64_t pos;		/* slots taken */
	uint64_t bytes;		/* of the data ring, skipped ones included */
	uint32_t sleep_seq;		/* last value of asleep other than 0 */
};

/* The content of a slot, copied out of shared memory and checked. */
struct shm_item {
	enum shm_kind kind;
	size_t hdr_len;
	size_t len;
	size_t used;		/* bytes of the data ring, skipped ones included */
	const uint8_t *data;	/* in the data ring: header, then payload; NULL: all is in @body */
	uint8_t body[SHM_BODY];
};

/* shm_in_ready - is there a slot to take? */
static inline bool shm_in_ready(const struct shm_in *in)
{
	return shm_word_is(atomic_load_explicit(&in->seg->slots[in->pos % SHM_SLOTS].word,
						memory_order_acquire), in->pos);
}

/* shm_in_check - the slow path of shm_in_peek(): all kinds but SHORT. */
bool shm_in_check(const struct shm_in *in, uint64_t word, struct shm_item *item);

/* shm_in_peek - look at the next slot.
 *
 * Returns 1: *item has it; 0: there is none; -1: malformed.
 * The slot stays until shm_in_take().  Nothing of the slot is read twice; payload in the
 * data ring may be changed by the sender at any time.
 */
static inline int shm_in_peek(const struct shm_in *in, struct shm_item *item)
{
	const struct shm_slot *slot = &in->seg->slots[in->pos % SHM_SLOTS];
	uint64_t word = atomic_load_explicit(&slot->word, memory_order_acquire);

	if (!shm_word_is(word, in->pos))
		return 0;
	memcpy(item->body, slot->body, SHM_BODY);
	item->hdr_len = (uint8_t) (word >> 24);
	item->len = word >> 32;
	item->data = NULL;
	item->used = 0;
	if (__builtin_expect((uint8_t) (word >> 16) == SHM_SHORT, 1)) {
		item->kind = SHM_SHORT;
		return item->hdr_len + item->len <= SHM_BODY ? 1 : -1;
	}
	return shm_in_check(in, word, item) ? 1 : -1;
}

/* shm_in_short - copy the next slot, if that holds a whole packet.
 * @body: SHM_BODY bytes; header, then payload
 * Returns 1; 0: there is no next slot; -1: another kind, use shm_in_peek().
 */
static inline int shm_in_short(const struct shm_in *in, uint8_t *body, size_t *hdr_len,
			       size_t *len)
{
	const struct shm_slot *slot = &in->seg->slots[in->pos % SHM_SLOTS];
	uint64_t word = atomic_load_explicit(&slot->word, memory_order_acquire);

	if (!shm_word_is(word, in->pos))
		return 0;
	memcpy(body, slot->body, SHM_BODY);
	*hdr_len = (uint8_t) (word >> 24);
	*len = word >> 32;
	return (uint8_t) (word >> 16) == SHM_SHORT && *hdr_len + *len <= SHM_BODY ? 1 : -1;
}

/* shm_in_take - the slot of shm_in_peek() has been processed. */
static inline void shm_in_take(struct shm_in *in, const struct shm_item *item)
{
	in->pos++;
	in->bytes += item->used;
}

/* shm_in_release - let the sender reuse the slots and data that were taken. */
static inline void shm_in_release(struct shm_in *in)
{
	/* both release: the sender may read bytes of this call and slots of the one before */
	atomic_store_explicit(&in->seg->rx.bytes_done, in->bytes, memory_order_release);
	atomic_store_explicit(&in->seg->rx.slots_done, in->pos, memory_order_release);
}

/* shm_in_sleep - the receiver is about to sleep.  The caller then makes a full barrier, and
 * stays awake if shm_in_ready().
 */
static inline void shm_in_sleep(struct shm_in *in)
{
	if (++in->sleep_seq == SHM_CLOSED)
		in->sleep_seq = 1;
	atomic_store_explicit(&in->seg->rx.asleep, in->sleep_seq, memory_order_relaxed);
}

/* shm_in_close - the receiver takes no more. */
static inline void shm_in_close(struct shm_in *in)
{
	atomic_store_explicit(&in->seg->rx.asleep, SHM_CLOSED, memory_order_release);
}

static inline bool shm_out_closed(const struct shm_out *out)
{
	return atomic_load_explicit(&out->seg->rx.asleep, memory_order_acquire) == SHM_CLOSED;
}

static inline void shm_in_wake(struct shm_in *in)
{
	atomic_store_explicit(&in->seg->rx.asleep, 0, memory_order_relaxed);
}

#endif

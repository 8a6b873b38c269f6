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

/* Where the receiver has taken all, the data ring restarts at its beginning after so many bytes, and rather
 * than use further bytes for the first time: a few short packets then stay in the caches, and most of
 * the ring has no pages.  (With many processes the first use of a page takes longer than the
 * message.)  In a stream it does not: it would write the lines that the receiver has just read, and
 * is about to read.
 */
#define SHM_DATA_NEAR (16u << 10)
#define SHM_LOOK_BYTES 4096	/* between two looks at the receiver's counters */

/* Long payload goes through the data ring, where both sides copy at once, or the receiver reads it from
 * the sender's memory: one copy, for which it makes a system call and looks at each page, and the sender
 * has to wait for it.  Measured with two processors, the ring needs 1.5 times as long as the other way for
 * a message of 8 KiB that is sent and answered, 2.2 times for 16 KiB, 3.2 times for 64 KiB; in a stream it has 0.96,
 * 0.61 and 0.49 of the bandwidth.  Between processors that share a first or second cache the ring can be the faster
 * way, 1.5 to 2.6 times at 64 KiB; one limit holds for all, and nothing is measured at run time.
 */
#define SHM_PULL_MIN (8u << 10)
#define SHM_EARLY_MAX (128u << 10)	/* shorter payload that is read, and unexpected, is copied after a few polls */

/* ---- how payload is copied into the data ring -------------------------------------------- */

/* A plain copy fetches each line from the receiver's cache.  Where that takes longer than SHM_FAR_LINE_NS a line, the
 * two processors share no cache, and payload of SHM_STREAM_MIN bytes and more is copied past the caches.  Processors
 * change, so of each SHM_FAR_EVERY such payloads the first SHM_FAR_SAMPLES are copied plainly, and the least
 * of their times says how the others are.  Measured, nanoseconds a line in a stream of 4 KiB: between processors of two
 * caches 33 to 47 plainly and 6 to 9 past the caches; 1 KiB 44 and 18; at 512 bytes the two are equal.  Between processors
 * that share a cache a plain copy of 2 KiB has 2.1 times the bandwidth of one past the caches.  In between, where the
 * receiver of a stream keeps up, a line takes 8 plainly and 6 past the caches: it is copied plainly.
 */
#define SHM_FAR_LINE_NS 16
#define SHM_FAR_SAMPLES 4
#define SHM_FAR_EVERY 1024
#define SHM_STREAM_MIN 1024	/* bytes */

struct shm_far {
	uint32_t payloads;	/* so many of SHM_FAR_EVERY were copied */
	uint32_t line_ns;	/* the least time of a line in a plain copy */
	bool far;		/* the last SHM_FAR_SAMPLES said so */
};

/* shm_far_due - is the next copy a plain one that is timed? */
static inline bool shm_far_due(struct shm_far *far)
{
	if (far->payloads == SHM_FAR_EVERY)
		far->payloads = 0;
	return far->payloads++ < SHM_FAR_SAMPLES;
}

/* shm_far_sample - a plain copy of @len bytes took @ns. */
static inline void shm_far_sample(struct shm_far *far, size_t len, uint64_t ns)
{
	uint64_t line_ns = ns * SHM_LINE / len;

	if (far->payloads == 1 || line_ns < far->line_ns)
		far->line_ns = line_ns < UINT32_MAX ? (uint32_t) line_ns : UINT32_MAX;
	if (far->payloads == SHM_FAR_SAMPLES)
		far->far = far->line_ns > SHM_FAR_LINE_NS;
}

/* ---- the sender's end ------------------------------------------------------------------ */

struct shm_out {
	struct shm_seg *seg;
	_Atomic uint8_t *bell;	/* the receiver's for this ring; NULL: it has none */
	uint64_t pos;		/* slots written */
	uint64_t seen_pos;	/* slots that the receiver has taken, when last read */
	uint64_t bytes;		/* of the data ring used, skipped ones included */
	uint64_t seen_bytes;	/* the same of the data ring */
	uint32_t woken;		/* value of asleep for which the receiver was woken */
	bool fence;		/* make a full barrier before each read of asleep */
	bool bad;		/* the receiver's counters are impossible */
	bool draining;		/* native writes wait until it has taken all packets */
	uint64_t clear;		/* if equal to pos: a native write may overtake all in flight */
	/* up to here lies what short packets need */
	uint64_t looked_bytes;	/* bytes, when seen_bytes was last read for another packet */
	uint32_t touched;	/* bytes of the data ring, from its beginning, that were ever used */
	struct shm_far far;
	uint64_t stall;		/* number of the last STALL, plus 1; 0: none */
	uint64_t wait_ns;	/* since when packets wait for room; 0: none do */
	uint64_t slow_until;	/* the receiver is taken for slow until then */
	bool slow;		/* it has not taken packets soon since it was slow */
	uint64_t stuck_pos;	/* slots that it had taken at stuck_ns: see shm_out_stuck() */
	uint64_t stuck_ns;
	bool stall_logged;	/* a warning was given that packets wait since wait_ns */
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

/* shm_out_copy - @len bytes of payload to the place that shm_out_data() gave. */
void shm_out_copy(struct shm_out *out, void *to, const void *from, size_t len);

/* shm_out_publish - the slot and its data are complete: let the receiver see them. */
static inline void shm_out_publish(struct shm_out *out, unsigned kind, size_t hdr_len, size_t len)
{
	atomic_store_explicit(&shm_out_slot(out)->word, shm_word(out->pos, kind, hdr_len, len),
			      memory_order_release);
	out->pos++;
}

/* A receiver that leaves packets in the ring for longer than this computes, or sleeps outside of
 * the library: it is taken for slow for a while.
 */
#define SHM_SLOW_NS 100000
#define SHM_SLOW_FOR_NS 4000000

/* shm_out_waits - a packet waits from @now on for the receiver to take others. */
static inline void shm_out_waits(struct shm_out *out, uint64_t now)
{
	if (!out->wait_ns)
		out->wait_ns = now;
}

/* shm_out_moves - it has taken some: how soon that was says whether it is slow. */
static inline void shm_out_moves(struct shm_out *out, uint64_t now)
{
	if (!out->wait_ns)
		return;
	out->slow = now - out->wait_ns >= SHM_SLOW_NS;
	out->slow_until = now + SHM_SLOW_FOR_NS;
	out->wait_ns = 0;
	out->stall_logged = false;
}

/* shm_out_stuck - packets wait for room, and the receiver has taken none for SHM_STUCK_NS: it does
 * not run, or does other things.
 */
#define SHM_STUCK_NS 20000

static inline bool shm_out_stuck(struct shm_out *out, uint64_t now)
{
	if (out->stuck_ns && out->stuck_pos == out->seen_pos)
		return now - out->stuck_ns >= SHM_STUCK_NS;
	out->stuck_ns = now;
	out->stuck_pos = out->seen_pos;
	return false;
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

/* shm_out_calls - the receiver does not look at this ring by itself: ring its bell, which is what it
 * looks at now or when it has been woken.  Returns true if it is to be woken.
 *
 * One that was woken may have looked and gone to sleep again before it could see what was published, if
 * @asleep was read before that was visible: hence a barrier there, too, of the same test.
 */
static inline bool shm_out_calls(struct shm_out *out, uint32_t asleep)
{
	if ((asleep <= SHM_AWAKE && asleep & SHM_FENCES) || asleep == out->woken) {
		atomic_thread_fence(memory_order_seq_cst);
		asleep = atomic_load_explicit(&out->seg->rx.asleep, memory_order_relaxed);
	}
	if (out->bell && asleep & ~SHM_FENCES)
		atomic_store_explicit(out->bell, 1, memory_order_release);
	if (asleep <= SHM_AWAKE || asleep == out->woken)
		return false;
	out->woken = asleep;
	return true;
}

/* shm_out_asleep - must the receiver be woken for what was published?
 *
 * The receiver stores that it sleeps, then reads the ring once more; the sender publishes,
 * then reads whether the receiver sleeps.  Each side needs a full barrier between the two
 * steps, or both could miss the other's store:
 *
 *	sender                        receiver (go_to_sleep() of poll.c)
 *	store slot                    store asleep
 *	full barrier                  full barrier
 *	load asleep -> 0              load slot -> empty          never both
 *
 * (the litmus test SB; without barriers both happen on every processor.)  The receiver makes the sender's, too, by
 * an expedited barrier of the kernel (membarrier), unless out->fence, and unless it has said
 * SHM_FENCES all the time since its last sleep.
 */
static inline bool shm_out_asleep(struct shm_out *out)
{
	uint32_t asleep;

	if (__builtin_expect(out->fence, 0))
		atomic_thread_fence(memory_order_seq_cst);
	else
		atomic_signal_fence(memory_order_seq_cst);
	asleep = atomic_load_explicit(&out->seg->rx.asleep, memory_order_relaxed);
	return __builtin_expect(asleep, 0) && shm_out_calls(out, asleep);
}

/* ---- the receiver's end ------------------------------------------------------------------ */

struct shm_in {
	struct shm_seg *seg;
	uint64_t pos;		/* slots taken */
	uint64_t bytes;		/* of the data ring, skipped ones included */
	uint32_t sleep_seq;	/* last value of asleep that was a sleep */
	uint32_t awake;		/* its value while the receiver polls: flags of SHM_AWAKE */
};

/* The content of a slot, copied out of shared memory and checked. */
struct shm_item {
	enum shm_kind kind;
	size_t hdr_len;
	size_t len;
	size_t used;		/* bytes of the data ring, skipped ones included */
	const uint8_t *data;	/* what is in the data ring; NULL: all is in @body */
	size_t data_hdr;	/* bytes of the header at @data, before the payload; 0: it is in @body */
	uint8_t body[SHM_BODY];
};

/* shm_body_hdr - where in the body of a DATA or FIRST the header begins. */
static inline size_t shm_body_hdr(unsigned kind)
{
	return kind == SHM_FIRST ? sizeof(uint64_t) : 0;
}

/* shm_data_hdr - how many bytes of the header of such a slot are in the data ring. */
static inline size_t shm_data_hdr(unsigned kind, size_t hdr_len)
{
	return shm_body_hdr(kind) + hdr_len <= SHM_BODY ? 0 : hdr_len;
}

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
	item->data_hdr = 0;
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
	if (++in->sleep_seq == SHM_CLOSED || in->sleep_seq <= SHM_AWAKE)
		in->sleep_seq = SHM_AWAKE + 1;
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

/* shm_out_sleeps - does the receiver sleep, as far as is known? */
static inline bool shm_out_sleeps(const struct shm_out *out)
{
	return atomic_load_explicit(&out->seg->rx.asleep, memory_order_relaxed) > SHM_AWAKE;
}

static inline void shm_in_wake(struct shm_in *in)
{
	atomic_store_explicit(&in->seg->rx.asleep, in->awake, memory_order_relaxed);
}

#endif

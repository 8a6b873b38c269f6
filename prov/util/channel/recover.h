/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * recover.h - a byte stream over several paths that may be lost: what the sender keeps, and what the receiver
 * has of it.
 *
 * The sender keeps each byte until the peer's library has taken it and says so; it cuts the stream into pieces,
 * and each piece goes over one path.  When a path is lost, what was sent over it and is not acknowledged is
 * sent again over the others.  The receiver puts each piece at its place and drops what it has already, so that
 * each byte is taken once, in order.  Both sides have room for the same number of bytes, so that the peer's
 * acknowledgements are its window, too.
 *
 * An offset counts the bytes of the stream; 64 bits do not wrap.  A ring that is empty begins again at its beginning, so
 * that short messages use the same pages.
 *
 * Sets of ranges are bounded.  Where one is full, its two nearest ranges become one with the gap between them
 * (chan_ranges_cover()): of what is to be sent again more is sent than is needed, and dropped there.
 *
 * Pure: no I/O, no clock, no memory but the caller's.  Units: bytes.
 */
#ifndef CHAN_RECOVER_H
#define CHAN_RECOVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>

/* ---- sets of ranges --------------------------------------------------------------- */

struct chan_range {
	uint64_t at, end;	/* from @at to before @end */
};

/* In order; no two touch. */
struct chan_ranges {
	unsigned cnt, most;		/* there is room for @most */
	struct chan_range *range;	/* the caller's memory */
};

/* chan_ranges_add - the bytes from @at to before @end belong to it.  False: there is no room for one more range,
 * and nothing has changed.
 */
bool chan_ranges_add(struct chan_ranges *set, uint64_t at, uint64_t end);

/* chan_ranges_cover - the same where more bytes may belong to it: those of a gap. */
void chan_ranges_cover(struct chan_ranges *set, uint64_t at, uint64_t end);

/* chan_ranges_cut - the bytes before @end do not belong to it any more. */
void chan_ranges_cut(struct chan_ranges *set, uint64_t end);

/* ---- the sender ------------------------------------------------------------------- */

#define CHAN_SENT_RANGES 32	/* of a path */
#define CHAN_AGAIN_RANGES 64	/* of what was lost */

/* What was sent over one path and is not acknowledged. */
struct chan_sent {
	struct chan_ranges set;
	struct chan_range range[CHAN_SENT_RANGES];
};

struct chan_kept {
	uint8_t *ring;			/* the caller's: @size bytes */
	uint64_t size;			/* a power of two */
	uint64_t begin;			/* the offset that stands at the ring's beginning */
	uint64_t taken;			/* the peer has taken all before */
	uint64_t fresh;			/* all before was given to a path, at least once */
	uint64_t end;			/* of the stream, so far */
	struct chan_ranges again;	/* lost with a path, not given to another yet */
	struct chan_range range[CHAN_AGAIN_RANGES];
};

void chan_kept_init(struct chan_kept *kept, uint64_t size);
void chan_sent_init(struct chan_sent *sent);

/* chan_kept_put - keep the first bytes of @iov.  Returns how many: as many as there is room for. */
size_t chan_kept_put(struct chan_kept *kept, const struct iovec *iov, size_t cnt);

/* chan_sent_add - the bytes from @at to before @end, of @kept, were given to the path. */
void chan_sent_add(const struct chan_kept *kept, struct chan_sent *sent, uint64_t at, uint64_t end);

/* chan_kept_send - keep the @len bytes of @buf and give them to the path of @sent at once, while nothing else waits.
 * @at_p: [out] where they begin
 * False: there is no room for all of them in one piece, and nothing has changed.
 */
static inline bool chan_kept_send(struct chan_kept *kept, struct chan_sent *sent, const void *buf, size_t len,
				  uint64_t *at_p)
{
	struct chan_range *last = &sent->range[sent->set.cnt - 1];
	uint64_t at = kept->end;
	size_t pos;

	if (kept->taken == at)
		kept->begin = at;
	pos = (size_t) ((at - kept->begin) & (kept->size - 1));
	if (len > kept->size - (at - kept->taken) || len > kept->size - pos)
		return false;
	memcpy(kept->ring + pos, buf, len);
	kept->end = kept->fresh = at + len;
	if (sent->set.cnt && last->end == at)
		last->end = at + len;
	else
		chan_sent_add(kept, sent, at, at + len);
	*at_p = at;
	return true;
}

/* chan_kept_waits - are there bytes to be given to a path? */
static inline bool chan_kept_waits(const struct chan_kept *kept)
{
	return kept->again.cnt || kept->fresh < kept->end;
}

/* chan_kept_next - give the next piece, at most @most bytes, to the path of @sent.
 * @at_p: [out] where it begins
 * Returns its length; 0: there is none.
 */
size_t chan_kept_next(struct chan_kept *kept, struct chan_sent *sent, size_t most, uint64_t *at_p);

/* chan_kept_iov - where the @len bytes from @at on are kept.  Returns the number of entries used. */
size_t chan_kept_iov(const struct chan_kept *kept, uint64_t at, size_t len, struct iovec iov[2]);

/* chan_kept_ack - the peer says that it has taken all before @taken.  An older acknowledgement, which another
 * path has delayed, changes nothing.  False: it cannot have taken that.
 */
bool chan_kept_ack(struct chan_kept *kept, uint64_t taken);

/* chan_kept_lost - the path of @sent is lost: what the peer has not taken of it goes again over another. */
void chan_kept_lost(struct chan_kept *kept, struct chan_sent *sent);

/* ---- the receiver ------------------------------------------------------------------ */

#define CHAN_GOT_RANGES 1024

struct chan_got {
	uint8_t *ring;			/* the caller's: @size bytes */
	uint64_t size;			/* a power of two */
	uint64_t begin;			/* the offset that stands at the ring's beginning */
	uint64_t taken;			/* by the reader */
	uint64_t next;			/* all before has arrived */
	struct chan_ranges ahead;	/* arrived before what precedes it */
	struct chan_range range[CHAN_GOT_RANGES];
};

void chan_got_init(struct chan_got *got, uint64_t size);

/* chan_got_fits - may the peer send @len bytes at @at? */
bool chan_got_fits(const struct chan_got *got, uint64_t at, uint64_t len);

/* chan_got_room - where bytes of a piece that fits are put, which are the @len from @at on.
 * @skip_p: [out] the first so many were taken already, and are dropped
 * Returns the number of entries used.
 */
size_t chan_got_room(const struct chan_got *got, uint64_t at, size_t len, size_t *skip_p, struct iovec iov[2]);

/* chan_got_is_next - is the byte at @at the next that the reader takes, and has it not arrived? */
static inline bool chan_got_is_next(const struct chan_got *got, uint64_t at)
{
	return at == got->taken && at == got->next;
}

/* chan_got_placed - where that is so: the next @len bytes have arrived at the reader's, without the ring.  Some of them may
 * be in the ring already.
 */
void chan_got_placed(struct chan_got *got, size_t len);

/* chan_got_put - they have arrived there.  False: the peer has left more gaps than a sender does. */
bool chan_got_put(struct chan_got *got, uint64_t at, size_t len);

/* chan_got_take - the reader copies the next bytes to @buf, at most @most.  Returns how many. */
size_t chan_got_take(struct chan_got *got, uint8_t *buf, size_t most);

static inline bool chan_got_waits(const struct chan_got *got)
{
	return got->taken < got->next;
}

/* chan_got_pass - the reader takes the @len bytes from @at on where they have arrived, without the ring.  False: they are
 * not the next ones, or something is in the ring, and nothing has changed.
 */
static inline bool chan_got_pass(struct chan_got *got, uint64_t at, size_t len)
{
	if (at != got->taken || at != got->next || got->ahead.cnt)
		return false;
	got->taken = got->next = got->begin = at + len;
	return true;
}

#endif

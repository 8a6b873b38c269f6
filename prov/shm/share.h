/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * share.h - one long copy, made by both processes.
 *
 * A processor copies from process to process at some rate, and two of them at nearly
 * twice that.  The sender of a long message is mostly in its poll, waiting for the end of
 * it; so the receiver, when it begins to copy, opens a share in its segment: where its
 * buffer is.  It then reads the message piece by piece from the front, and the sender,
 * whenever it polls, writes a piece from the back.  Who takes a piece says so in one word.
 * Nobody waits for help: the receiver goes on until all is taken, and then only for what
 * the sender has taken.
 *
 * A piece that was taken cannot be taken back: the other side could write it at any later
 * time, when the buffer is the program's again.  So it is copied in the very call that
 * takes it, with nothing between that could wait, and the message is complete when the
 * sender says that it is out.  If it dies there, the message is lost, as any that is read
 * from its memory would be; if it is stopped in those few instructions, the message waits
 * for it, as the end of a connection does, for a bounded time.
 *
 * Two processes on one processor do not help each other, and one that is kept from
 * running makes the other wait: a receiver that is not helped, or late, asks seldom.
 *
 * Threading: each side under the lock of its progress group.
 */
#ifndef SHM_SHARE_H
#define SHM_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>

#include "wire.h"

struct shm_conn;

/* A list of ranges in the peer's memory, which a PULL named. */
struct shm_iovs {
	uint32_t id;
	uint32_t cnt;
	struct iovec iov[ENG_IOV_MAX];
};

/* Measured with two processors: halves of 64 KiB go 1.2 times as fast as the whole by
 * one, of 256 KiB 1.7 times, of 1 MiB 2.5 times; with 32 KiB there is nothing to gain.
 * Pieces of more than 256 KiB gain no more.
 */
#define SHM_SHARE_MIN (64u << 10)	/* unless FI_SHM_SHARE_SIZE says otherwise */
#define SHM_SHARE_PAGES (2u * SHM_PAGE)	/* at least: one for each */
#define SHM_SHARE_PIECE (256u << 10)

/* ---- the word --------------------------------------------------------------------------- */

#define SHM_SHARE_BAD (1u << 31)	/* in shm_share.done: the helper could not copy */

/* One who shares, or helps, counts for himself; this is what both make of a length. */
static inline size_t shm_share_piece(size_t len)
{
	size_t half = (len / 2 + SHM_PAGE - 1) & ~(size_t) (SHM_PAGE - 1);

	return half < SHM_SHARE_PIECE ? half : SHM_SHARE_PIECE;
}

static inline size_t shm_share_cnt(size_t len)
{
	size_t piece = shm_share_piece(len);

	return piece ? (len + piece - 1) / piece : 0;
}

static inline uint64_t shm_share_word(uint32_t turn, size_t front, size_t back)
{
	return (uint64_t) turn << 32 | (uint64_t) front << 16 | back;
}

static inline size_t shm_share_front(uint64_t word)
{
	return (uint16_t) (word >> 16);
}

static inline size_t shm_share_back(uint64_t word)
{
	return (uint16_t) word;
}

/* ---- the receiver ------------------------------------------------------------------------- */

/* What it knows of the copy that is under way, and of the ones before. */
struct shm_sharing {
	bool waiting;		/* for pieces that the sender has taken */
	bool open;		/* the sender may take pieces, or has some */
	uint32_t turn;		/* of this copy */
	size_t len;
	size_t back;		/* pieces that the sender has taken, once all are */
	uint8_t *to;
	uint64_t since;		/* when the wait began */
	unsigned misses;	/* copies in a row that were not helped */
	unsigned skip;		/* copies to make alone before one is shared again */
	struct shm_iovs from;	/* waiting: what is copied */
};

/* shm_share_worth - is help to be had for @len bytes that go to @cnt buffers?  Counts. */
bool shm_share_worth(struct shm_conn *conn, size_t len, size_t cnt);

/* shm_share_fetch - read @len bytes of @from into @to, with help.
 * Returns 1: done; 0: all is copied but what the sender has taken, shm_share_look() tells
 * when; < 0: an error of shm_pull_read(), and nobody writes to @to any more.
 */
int shm_share_fetch(struct shm_conn *conn, const struct shm_iovs *from, size_t len, uint8_t *to);

/* shm_share_look - after 0 of shm_share_fetch(): as that. */
int shm_share_look(struct shm_conn *conn);

/* shm_share_ready - will it have news? */
bool shm_share_ready(const struct shm_conn *conn);

/* shm_share_end - @conn closes, or its buffer is given up: the sender is out of it when
 * this returns, or gone.  Waits as long as a piece takes; for one that is stopped, 10 s.
 */
void shm_share_end(struct shm_conn *conn);

/* ---- the sender ------------------------------------------------------------------------------ */

/* shm_share_help - copy one piece of what the receiver shares, if it does.
 * Returns how many were copied.  From poll() only; no upcall.
 */
int shm_share_help(struct shm_conn *conn);

#endif

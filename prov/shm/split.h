/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * split.h - a long copy that both processes make.
 *
 * Two processors copy between processes at nearly twice the rate of one, and the sender of
 * a long message mostly polls until it is complete.  So the receiver describes its buffer in
 * its segment, then reads the message in pieces from the front, and the sender, when it
 * polls, writes pieces from the back.  Each piece is taken by an atomic operation on one
 * word.  The receiver goes on until all pieces are taken, then waits only for those that
 * the sender has taken.
 *
 * A long write or read of the peer's memory (rma.h) is split the same way: the initiator copies from the
 * front, and the target, if it polls, from the back.  The target need not: what it does not take
 * the initiator copies, in the call.
 *
 * The side that copies from the front owns the copy.  A piece that the other side took is not given
 * back: that side could still write it when the buffer is the program's again.  So it is copied in the
 * very call that takes it, with nothing between that could wait, and the copy is complete when the other
 * side reports that it has copied.  If that dies there, a message is lost, as one that is read from its
 * memory would be; if it is stopped there, the message waits for it, and closing the
 * connection waits for a bounded time; what it still may touch then is recorded (tenant.h).  An
 * initiator waits about as long as its own pieces took, then repeats the whole access by packets, which
 * the target takes after its piece.
 *
 * Processes that take turns gain nothing, and one that is preempted makes the other wait: nothing is split
 * where they do (shm_poller_shares()).
 *
 * Threading: each side under the lock of its progress group.
 */
#ifndef SHM_SPLIT_H
#define SHM_SPLIT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>

#include "wire.h"

struct shm_conn;
struct shm_poller;

/* Ranges in the peer's memory, from a PULL. */
struct shm_iovs {
	uint32_t id;		/* of the PULL */
	uint32_t cnt;
	struct iovec iov[ENG_IOV_MAX];
};

/* Measured with two processors: a split copy of 64 KiB is 1.2 times as fast as one by the
 * receiver alone, of 256 KiB 1.7 times, of 1 MiB 2.5 times; of 32 KiB 1.2 to 1.6 times where a line takes
 * long from one processor to the other, else no faster.  Pieces of more than 256 KiB gain nothing.
 */
#define SHM_SPLIT_MIN (32u << 10)	/* unless FI_SHM_SHARE_SIZE says otherwise */
#define SHM_SPLIT_PAGES (2u * SHM_PAGE)	/* the least limit: a page for each side */
#define SHM_SPLIT_PIECE (256u << 10)

/* ---- pieces --------------------------------------------------------------------------- */

#define SHM_SPLIT_BAD (1u << 31)	/* in shm_split.done: the other side could not copy */

/* Both sides compute the pieces of a copy from its length. */
static inline size_t shm_split_piece(size_t len)
{
	size_t half = (len / 2 + SHM_PAGE - 1) & ~(size_t) (SHM_PAGE - 1);

	return half < SHM_SPLIT_PIECE ? half : SHM_SPLIT_PIECE;
}

static inline size_t shm_split_cnt(size_t len)
{
	size_t piece = shm_split_piece(len);

	return piece ? (len + piece - 1) / piece : 0;
}

/* shm_split_word - number of the copy, pieces taken from the front, and from the back. */
static inline uint64_t shm_split_word(uint32_t turn, size_t front, size_t back)
{
	return (uint64_t) turn << 32 | (uint64_t) front << 16 | back;
}

static inline size_t shm_split_front(uint64_t word)
{
	return (uint16_t) (word >> 16);
}

static inline size_t shm_split_back(uint64_t word)
{
	return (uint16_t) word;
}

/* The owner's state of the copy in progress. */
struct shm_split_own {
	bool open;		/* the other side may take pieces, or has some */
	uint32_t turn;		/* number of this copy */
	uintptr_t at;		/* where its buffer is, in this process */
	size_t len;
	size_t back;		/* pieces that the other side has taken, once all are */
};

/* shm_split_is_busy - has the other side pieces that it has not copied?  Once all are taken. */
bool shm_split_is_busy(const struct shm_split *split, const struct shm_split_own *own);

/* ---- the receiver ------------------------------------------------------------------------- */

struct shm_split_rx {
	struct shm_split_own own;
	uint8_t *to;
	struct shm_iovs from;	/* what is copied, while it waits for the sender */
};

/* shm_split_wanted - is a message of @len bytes for @cnt buffers to be split?  Counts it. */
bool shm_split_wanted(struct shm_conn *conn, size_t len, size_t cnt);

/* shm_split_read - read @len bytes of @from into @to, shared with the sender.
 * Returns 1: done; 0: all is copied but what the sender has taken: call shm_split_poll()
 * in later polls; < 0: an error of shm_cma_copy(), and the sender no longer writes to @to.
 */
int shm_split_read(struct shm_conn *conn, const struct shm_iovs *from, size_t len, uint8_t *to);

/* shm_split_poll - after 0 of shm_split_read(): returns as that. */
int shm_split_poll(struct shm_conn *conn);

/* shm_split_state - what shm_split_poll() would do: 1: end the copy; 0: nothing; -1: copy the pieces that the
 * sender could not.
 */
int shm_split_state(const struct shm_conn *conn);

/* shm_split_end - the connection closes, or the buffer is given up: when this returns, the
 * sender no longer writes there, or its process has ended.  Blocks while a piece is copied;
 * for 10 s at most if the sender is stopped.
 */
void shm_split_end(struct shm_conn *conn);

/* ---- the sender ------------------------------------------------------------------------------ */

/* shm_split_write - copy one piece of the message that the receiver splits, if it does.
 * Returns how many were copied.  From poll() only; no upcall.
 */
int shm_split_write(struct shm_conn *conn);

/* ---- the initiator of a write or a read --------------------------------------------------- */

/* shm_split_access_wanted - is an access to @len bytes to be split?  Counts it. */
bool shm_split_access_wanted(struct shm_conn *conn, bool write, size_t len);

/* shm_split_access - after it: copy @len bytes between @mine and @theirs, an address in the target's memory.
 * Returns 1: done; 0: it is to be repeated by packets; -FI_EFAULT: one of them cannot be accessed.
 */
int shm_split_access(struct shm_conn *conn, bool write, void *mine, uint64_t theirs, size_t len);

/* shm_split_access_end - the connection closes: as shm_split_end(), for what the target reads. */
void shm_split_access_end(struct shm_conn *conn);

/* ---- its target -------------------------------------------------------------------------------- */

/* shm_split_assist - the peer asks to share its access: take one piece now, if there is one, and the next
 * ones in later polls.  From poll() only; no upcall.
 */
void shm_split_assist(struct shm_conn *conn);

/* ---- both ----------------------------------------------------------------------------------------- */

/* shm_split_pieces - one piece of each copy of the connections on poller->splitting, which those leave that
 * have none any more.  Returns how many were copied.  From poll() only; no upcall.
 */
int shm_split_pieces(struct shm_poller *poller);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "split.h"

#include <rdma/fi_errno.h>

#include "base/clock.h"
#include "base/iov.h"
#include "base/relax.h"
#include "link.h"
#include "cma.h"

/* A piece takes some 0.02 ms; a side that needs so long was not running. */
#define LATE_NS (CLOCK_NS_PER_MS / 5)

/* ---- the owner --------------------------------------------------------------------------- */

/* A copy that is opened. */
struct copy {
	uint32_t id;
	uint64_t addr;
	uint64_t owner_addr;
};

/* open_copy - let the other side take pieces; the first one is ours.  @mine: the buffer in this process */
static void open_copy(struct shm_split *split, struct shm_split_own *own, const void *mine, size_t len,
		      const struct copy *copy)
{
	own->open = true;
	own->turn++;
	own->at = (uintptr_t) mine;
	own->len = len;
	own->back = 0;
	/* The other side must not take a piece by the word of the copy before, whose count may leave
	 * pieces of this one: when it reads one of the values below (release), it finds the word
	 * changed.
	 */
	atomic_store_explicit(&split->word, shm_split_word(own->turn - 1, UINT16_MAX, 0),
			      memory_order_relaxed);
	atomic_store_explicit(&split->id, copy->id, memory_order_release);
	atomic_store_explicit(&split->addr, copy->addr, memory_order_release);
	atomic_store_explicit(&split->owner_addr, copy->owner_addr, memory_order_release);
	atomic_store_explicit(&split->len, len, memory_order_release);
	atomic_store_explicit(&split->word, shm_split_word(own->turn, 1, 0), memory_order_release);
}

/* take_pieces - up to @want more pieces for us, after @front.  Returns how many; 0: all are taken,
 * own->back of them by the other side.
 */
static size_t take_pieces(struct shm_split *split, struct shm_split_own *own, size_t front, size_t want)
{
	size_t cnt = shm_split_cnt(own->len), back, part;
	uint64_t word = atomic_load_explicit(&split->word, memory_order_acquire);

	do {
		back = shm_split_back(word);
		/* an impossible word counts as all taken, and never done */
		if (word >> 32 != own->turn || shm_split_front(word) != front || front + back > cnt)
			back = cnt - front;
		own->back = back;
		part = cnt - front - back < want ? cnt - front - back : want;
	} while (part && !atomic_compare_exchange_weak_explicit(&split->word, &word,
				shm_split_word(own->turn, front + part, back),
				memory_order_acq_rel, memory_order_acquire));
	return part;
}

/* copy_fn - copy bytes @off .. @end of @what. */
typedef int copy_fn(struct shm_conn *conn, const void *what, size_t off, size_t end);

/* copy_front - copy all pieces that the other side does not take. */
static int copy_front(struct shm_conn *conn, struct shm_split *split, struct shm_split_own *own,
		      copy_fn *copy, const void *what)
{
	size_t piece = shm_split_piece(own->len), front = 0, cnt = 1, end;
	int ret = 0;

	while (cnt && !ret) {
		end = (front + cnt) * piece;
		ret = copy(conn, what, front * piece, end < own->len ? end : own->len);
		front += cnt;
		cnt = take_pieces(split, own, front, ret ? SIZE_MAX : 1);
	}
	return ret;
}

/* other_side_state - Returns 1: the other side has copied its pieces; 0: not yet; -1: it could not. */
static int other_side_state(const struct shm_split *split, const struct shm_split_own *own)
{
	uint64_t done;

	if (!own->back)
		return 1;
	done = atomic_load_explicit(&split->done, memory_order_acquire);
	if (done >> 32 != own->turn)
		return 0;
	return done & SHM_SPLIT_BAD ? -1 : (uint32_t) done >= own->back;
}

bool shm_split_is_busy(const struct shm_split *split, const struct shm_split_own *own)
{
	return own->open && !other_side_state(split, own);
}

/* copy_back - the other side could not: copy the pieces that it took. */
static int copy_back(struct shm_conn *conn, struct shm_split *split, struct shm_split_own *own,
		     copy_fn *copy, const void *what)
{
	size_t done = (uint32_t) atomic_load_explicit(&split->done, memory_order_relaxed) & ~SHM_SPLIT_BAD;
	size_t cnt = shm_split_cnt(own->len), piece = shm_split_piece(own->len), back = own->back, end;

	if (done > back)
		done = back;
	end = (cnt - done) * piece;
	own->back = 0;
	return copy(conn, what, (cnt - back) * piece, end < own->len ? end : own->len);
}

/* await_end - the connection closes: wait until the other side has copied, or its process has ended.  Still open
 * after that: it is stopped.
 */
static void await_end(struct shm_conn *conn, struct shm_split *split, struct shm_split_own *own)
{
	while (!other_side_state(split, own) && !shm_conn_ended(conn) && shm_conn_wait(conn))
		;
	own->open = !other_side_state(split, own) && !shm_conn_ended(conn);
	if (!own->open)
		conn->give_up_ns = 0;
}

/* ---- the owner of a message: the receiver ------------------------------------------------- */

bool shm_split_wanted(struct shm_conn *conn, size_t len, size_t cnt)
{
	struct shm_split_own *own = &conn->split.own;

	if (len < shm_conf.share_size || cnt != 1 || own->open || conn->src.fd < 0 ||
	    !atomic_load_explicit(&conn->in.seg->tx.can_write, memory_order_relaxed))
		return false;
	return !shm_poller_shares(conn->poller);
}

/* read_part - bytes @off .. @end of the message. */
static int read_part(struct shm_conn *conn, const void *what, size_t off, size_t end)
{
	const struct shm_iovs *from = what;
	struct iovec to = { conn->split.to + off, end - off }, part[ENG_IOV_MAX];
	size_t cnt = iov_slice(from->iov, from->cnt, off, end - off, part);

	return shm_cma_copy(conn->pid, false, &to, 1, part, cnt, end - off);
}

/* close_split - neither side copies any more. */
static int close_split(struct shm_conn *conn, int ret)
{
	conn->split.own.open = conn->split_waits = false;
	return ret;
}

/* read_back - the sender could not write here. */
static int read_back(struct shm_conn *conn)
{
	struct shm_split_rx *s = &conn->split;
	int ret = -FI_ECONNRESET;

	if (shm_pull_enter(conn->in.seg)) {
		ret = copy_back(conn, &conn->in.seg->split, &s->own, read_part, &s->from);
		shm_pull_leave(conn->in.seg);
	}
	return close_split(conn, ret ? ret : 1);
}

int shm_split_read(struct shm_conn *conn, const struct shm_iovs *from, size_t len, uint8_t *to)
{
	struct copy copy = { .id = from->id, .addr = (uintptr_t) to };
	struct shm_split *split = &conn->in.seg->split;
	struct shm_split_rx *s = &conn->split;
	int ret;

	if (!shm_pull_enter(conn->in.seg))
		return -FI_ECONNRESET;
	s->to = to;
	open_copy(split, &s->own, to, len, &copy);
	ret = copy_front(conn, split, &s->own, read_part, from);
	shm_pull_leave(conn->in.seg);
	if (ret) {
		shm_split_end(conn);
		if (!s->own.open)
			return ret;
		/* the sender may still write there when this receive has ended: record it, and end the connection,
		 * which need not wait once more
		 */
		shm_tenant_leave(conn);
		s->own.open = false;
		return -FI_ETIMEDOUT;
	}
	if (other_side_state(split, &s->own) > 0)
		return close_split(conn, 1);
	s->from = *from;
	conn->split_waits = true;
	return 0;
}

int shm_split_poll(struct shm_conn *conn)
{
	int ret = shm_split_state(conn);

	if (!ret)
		return 0;
	return ret < 0 ? read_back(conn) : close_split(conn, 1);
}

int shm_split_state(const struct shm_conn *conn)
{
	return other_side_state(&conn->in.seg->split, &conn->split.own);
}

void shm_split_end(struct shm_conn *conn)
{
	if (!conn->split.own.open)
		return;
	await_end(conn, &conn->in.seg->split, &conn->split.own);
	conn->split_waits = false;
}

/* ---- the owner of a write or a read: the initiator ------------------------------------------- */

struct access {
	bool write;
	uint8_t *mine;
	uint64_t theirs;
};

/* target_can - is the target able to copy, too? */
static bool target_can(const struct shm_conn *conn, bool write)
{
	return atomic_load_explicit(write ? &conn->out.seg->rx.can_read : &conn->in.seg->tx.can_write,
				    memory_order_relaxed);
}

bool shm_split_access_wanted(struct shm_conn *conn, bool write, size_t len)
{
	struct shm_split_own *own = &conn->access;

	if (len < shm_conf.share_size || len > SHM_PAYLOAD_MAX || conn->src.fd < 0 ||
	    !target_can(conn, write))
		return false;
	/* a piece that was late may still be copied */
	if (shm_split_is_busy(&conn->out.seg->access, own))
		return false;
	if (own->open) {
		own->open = false;
		shm_tenant_late(conn);
	}
	return !shm_poller_shares(conn->poller) && !shm_out_sleeps(&conn->out) &&
	       shm_tx_may_share(conn, own->back > 0);
}

/* access_part - bytes @off .. @end of the access. */
static int access_part(struct shm_conn *conn, const void *what, size_t off, size_t end)
{
	const struct access *a = what;
	struct iovec here = { a->mine + off, end - off };
	struct iovec there = { (void *) (uintptr_t) (a->theirs + off), end - off };

	return shm_cma_copy(conn->pid, a->write, &here, 1, &there, 1, end - off);
}

/* await_pieces - returns as other_side_state(); 0: the target is late. */
static int await_pieces(const struct shm_split *split, const struct shm_split_own *own, uint64_t began)
{
	uint64_t now = clock_ns(), until = now + LATE_NS + (now - began);
	int ret;

	while (!(ret = other_side_state(split, own)) && clock_ns() < until)
		cpu_relax();
	return ret;
}

int shm_split_access(struct shm_conn *conn, bool write, void *mine, uint64_t theirs, size_t len)
{
	struct copy copy = { .id = write, .addr = theirs, .owner_addr = (uintptr_t) mine };
	struct access access = { .write = write, .mine = mine, .theirs = theirs };
	struct shm_split *split = &conn->out.seg->access;
	struct shm_split_own *own = &conn->access;
	uint64_t began = clock_ns();
	int ret, done;

	open_copy(split, own, mine, len, &copy);
	shm_tx_share(conn);
	ret = copy_front(conn, split, own, access_part, &access);
	done = await_pieces(split, own, began);
	if (ret == -FI_EPERM)
		conn->can_write = false;	/* the kernel has revoked it */
	if (done < 0 && !ret)
		ret = copy_back(conn, split, own, access_part, &access);
	own->open = !done;
	if (!done)
		shm_tenant_late(conn);
	if (done && ret == -FI_EFAULT)
		return ret;
	return done && !ret;
}

void shm_split_access_end(struct shm_conn *conn)
{
	if (conn->access.open)
		await_end(conn, &conn->out.seg->access, &conn->access);
}

/* ---- the other side ----------------------------------------------------------------------- */

/* A piece that it copies. */
struct piece {
	uint32_t id;
	uint64_t addr;		/* of this piece */
	uint64_t owner_addr;
	size_t off;
	size_t len;
};

/* take_piece - copy one piece from the back, if there is any.  @ended: [in,out] number of the last copy
 * without any.  Returns how many were copied.
 */
static int take_piece(struct shm_conn *conn, struct shm_split *split, uint32_t *ended,
		      bool (*copy)(struct shm_conn *, const struct piece *))
{
	uint64_t word = atomic_load_explicit(&split->word, memory_order_acquire), len;
	size_t front = shm_split_front(word), back = shm_split_back(word), cnt, size;
	uint32_t turn = (uint32_t) (word >> 32);
	struct piece piece;
	bool good;

	if (turn == *ended || !shm_conn_can_write(conn))
		return 0;
	piece.id = atomic_load_explicit(&split->id, memory_order_acquire);
	piece.addr = atomic_load_explicit(&split->addr, memory_order_acquire);
	piece.owner_addr = atomic_load_explicit(&split->owner_addr, memory_order_acquire);
	len = atomic_load_explicit(&split->len, memory_order_acquire);
	if (len > SHM_PAYLOAD_MAX)
		len = 0;
	cnt = shm_split_cnt(len);
	if (front + back >= cnt) {
		*ended = turn;
		return 0;
	}
	if (!atomic_compare_exchange_strong_explicit(&split->word, &word, word + 1,
						     memory_order_acq_rel, memory_order_relaxed))
		return 0;
	/* from here to the store of done: no upcall, no wait, no return */
	size = shm_split_piece(len);
	piece.off = (cnt - back - 1) * size;
	piece.addr += piece.off;
	piece.owner_addr += piece.off;
	piece.len = len - piece.off < size ? len - piece.off : size;
	good = copy(conn, &piece);
	atomic_store_explicit(&split->done, shm_split_word(turn, 0, 0) | (good ? back + 1 :
			      back | SHM_SPLIT_BAD), memory_order_release);
	if (!good)
		*ended = turn;
	return 1;
}

/* copy_checked - shm_cma_copy() has returned @ret. */
static bool copy_checked(struct shm_conn *conn, int ret)
{
	if (ret == -FI_EPERM)
		conn->can_write = false;	/* the kernel has revoked it */
	return !ret;
}

/* write_piece - of the message that piece->id names. */
static bool write_piece(struct shm_conn *conn, const struct piece *piece)
{
	struct eng_pkt *pkt = shm_tx_find(conn, piece->id);
	struct iovec from[ENG_IOV_MAX], to = { (void *) (uintptr_t) piece->addr, piece->len };
	size_t cnt;

	if (!pkt || piece->off + piece->len > pkt->len)
		return false;
	cnt = iov_slice(pkt->iov, pkt->iov_cnt, piece->off, piece->len, from);
	return copy_checked(conn, shm_cma_copy(conn->pid, true, from, cnt, &to, 1, piece->len));
}

int shm_split_write(struct shm_conn *conn)
{
	int done = take_piece(conn, &conn->out.seg->split, &conn->split_done, write_piece);

	if (done && shm_out_asleep(&conn->out))
		shm_conn_wake(conn);
	return done;
}

/* assist_piece - of an access to our memory, as far as a lease permits it: the peer may not be able to access
 * the rest itself.
 */
static bool assist_piece(struct shm_conn *conn, const struct piece *piece)
{
	struct iovec here = { (void *) (uintptr_t) piece->addr, piece->len };
	struct iovec there = { (void *) (uintptr_t) piece->owner_addr, piece->len };

	if (!shm_tenant_permits(conn, piece->id, piece->addr, piece->len))
		return false;
	return copy_checked(conn, shm_cma_copy(conn->pid, !piece->id, &here, 1, &there, 1, piece->len));
}

/* assist_access - Returns how many pieces were copied. */
static int assist_access(struct shm_conn *conn)
{
	struct shm_split *split = &conn->in.seg->access;
	int done;

	/* before the lease is looked at, so that it is not taken back; and before a piece is taken, since an
	 * initiator leaves the lease when all are
	 */
	atomic_store(&conn->tenant->copying, true);
	done = take_piece(conn, split, &conn->assisted, assist_piece);
	atomic_store_explicit(&conn->tenant->copying, false, memory_order_release);
	conn->assists = conn->assisted != atomic_load_explicit(&split->word, memory_order_relaxed) >> 32 &&
			shm_conn_can_write(conn);
	return done;
}

void shm_split_assist(struct shm_conn *conn)
{
	assist_access(conn);
	if (!conn->assists || !list_empty(&conn->split_node))
		return;
	list_add_tail(&conn->split_node, &conn->poller->splitting);
	chan_poller_chore(&conn->poller->base);
}

/* ---- both ------------------------------------------------------------------------------------- */

int shm_split_pieces(struct shm_poller *poller)
{
	struct shm_conn *conn, *next;
	int done = 0;

	list_for_each_entry_safe(conn, next, &poller->splitting, split_node) {
		if (~conn->tx.free)
			done += shm_split_write(conn);
		if (conn->assists)
			done += assist_access(conn);
		if (!~conn->tx.free && !conn->assists)
			list_del(&conn->split_node);
	}
	return done;
}

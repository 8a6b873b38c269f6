/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "split.h"

#include <rdma/fi_errno.h>

#include "base/clock.h"
#include "base/iov.h"
#include "link.h"
#include "cma.h"

/* A piece takes some 0.02 ms; a sender that needs so long was not running. */
#define LATE_NS (CLOCK_NS_PER_MS / 5)

#define MISSES_FREE 4		/* in a row, before fewer messages are split */
#define SKIP_SHIFT_MAX 6
#define SKIP_LATE 1024

/* ---- the receiver ----------------------------------------------------------------------- */

bool shm_split_wanted(struct shm_conn *conn, size_t len, size_t cnt)
{
	struct shm_split_rx *s = &conn->split;

	if (len < shm_conf.share_size || cnt != 1 || s->open || conn->src.fd < 0 ||
	    !atomic_load_explicit(&conn->in.seg->tx.can_write, memory_order_relaxed))
		return false;
	if (s->skip) {
		s->skip--;
		return false;
	}
	return true;
}

/* learn - adapt how often messages are split to the result of the last one. */
static void learn(struct shm_split_rx *s, bool late)
{
	if (late) {
		s->skip = SKIP_LATE;
	} else if (s->back) {
		s->misses = 0;
	} else if (++s->misses > MISSES_FREE) {
		s->skip = 1u << (s->misses - MISSES_FREE < SKIP_SHIFT_MAX ?
				 s->misses - MISSES_FREE : SKIP_SHIFT_MAX);
	}
}

/* open_split - let the sender take pieces; the first one is ours. */
static void open_split(struct shm_conn *conn, uint32_t id, size_t len, uint8_t *to)
{
	struct shm_split *split = &conn->in.seg->split;
	struct shm_split_rx *s = &conn->split;

	s->open = true;
	s->turn++;
	s->len = len;
	s->to = to;
	s->back = 0;
	/* The sender must not take a piece by the word of the copy before, whose count may leave
	 * pieces of this one: when it reads one of the values below (release), it finds the word
	 * changed.
	 */
	atomic_store_explicit(&split->word, shm_split_word(s->turn - 1, UINT16_MAX, 0),
			      memory_order_relaxed);
	atomic_store_explicit(&split->id, id, memory_order_release);
	atomic_store_explicit(&split->addr, (uintptr_t) to, memory_order_release);
	atomic_store_explicit(&split->len, len, memory_order_release);
	atomic_store_explicit(&split->word, shm_split_word(s->turn, 1, 0), memory_order_release);
}

/* take - up to @want more pieces for us, after @front.  Returns how many; 0: all are taken,
 * s->back of them by the sender.
 */
static size_t take(struct shm_conn *conn, size_t front, size_t want)
{
	struct shm_split *split = &conn->in.seg->split;
	struct shm_split_rx *s = &conn->split;
	size_t cnt = shm_split_cnt(s->len), back, part;
	uint64_t word = atomic_load_explicit(&split->word, memory_order_acquire);

	do {
		back = shm_split_back(word);
		/* an impossible word counts as all taken, and never done */
		if (word >> 32 != s->turn || shm_split_front(word) != front || front + back > cnt)
			back = cnt - front;
		s->back = back;
		part = cnt - front - back < want ? cnt - front - back : want;
	} while (part && !atomic_compare_exchange_weak_explicit(&split->word, &word,
				shm_split_word(s->turn, front + part, back),
				memory_order_acq_rel, memory_order_acquire));
	return part;
}

/* read_part - bytes @off .. @end of the message. */
static int read_part(struct shm_conn *conn, const struct shm_iovs *from, size_t off, size_t end)
{
	struct shm_split_rx *s = &conn->split;
	struct iovec to = { s->to + off, end - off }, part[ENG_IOV_MAX];
	size_t cnt = iov_slice(from->iov, from->cnt, off, end - off, part);

	return shm_cma_copy(conn->pid, false, &to, 1, part, cnt, end - off);
}

/* read_front - read all pieces that the sender does not take. */
static int read_front(struct shm_conn *conn, const struct shm_iovs *from)
{
	struct shm_split_rx *s = &conn->split;
	size_t piece = shm_split_piece(s->len), front = 0, cnt = 1, end;
	int ret = 0;

	while (cnt && !ret) {
		end = (front + cnt) * piece;
		ret = read_part(conn, from, front * piece, end < s->len ? end : s->len);
		front += cnt;
		cnt = take(conn, front, ret ? SIZE_MAX : 1);
	}
	return ret;
}

/* state - Returns 1: the sender has copied its pieces; 0: not yet; -1: it could not. */
static int state(const struct shm_conn *conn)
{
	const struct shm_split_rx *s = &conn->split;
	uint64_t done;

	if (!s->back)
		return 1;
	done = atomic_load_explicit(&conn->in.seg->split.done, memory_order_acquire);
	if (done >> 32 != s->turn)
		return 0;
	return done & SHM_SPLIT_BAD ? -1 : (uint32_t) done >= s->back;
}

/* close_split - neither side copies any more. */
static int close_split(struct shm_conn *conn, bool late, int ret)
{
	conn->split.open = conn->split_waits = false;
	learn(&conn->split, late);
	return ret;
}

/* read_back - the sender could not write here: read the pieces that it took. */
static int read_back(struct shm_conn *conn)
{
	struct shm_split_rx *s = &conn->split;
	size_t done = (uint32_t) atomic_load_explicit(&conn->in.seg->split.done,
						      memory_order_relaxed) & ~SHM_SPLIT_BAD;
	size_t cnt = shm_split_cnt(s->len), piece = shm_split_piece(s->len), end;
	int ret;

	if (done > s->back)
		done = s->back;
	end = (cnt - done) * piece;
	ret = read_part(conn, &s->from, (cnt - s->back) * piece, end < s->len ? end : s->len);
	s->back = 0;	/* counts as a miss */
	return close_split(conn, true, ret ? ret : 1);
}

int shm_split_read(struct shm_conn *conn, const struct shm_iovs *from, size_t len, uint8_t *to)
{
	struct shm_split_rx *s = &conn->split;
	int ret;

	open_split(conn, from->id, len, to);
	ret = read_front(conn, from);
	if (ret) {
		shm_split_end(conn);
		return ret;
	}
	if (state(conn) > 0)
		return close_split(conn, false, 1);
	s->from = *from;
	s->since = clock_ns();
	conn->split_waits = true;
	return 0;
}

int shm_split_poll(struct shm_conn *conn)
{
	struct shm_split_rx *s = &conn->split;
	int ret = state(conn);

	if (!ret)
		return 0;
	return ret < 0 ? read_back(conn) : close_split(conn, clock_ns() - s->since > LATE_NS, 1);
}

bool shm_split_ready(const struct shm_conn *conn)
{
	return state(conn);
}

void shm_split_end(struct shm_conn *conn)
{
	uint64_t until = 0;

	if (!conn->split.open)
		return;
	while (!state(conn) && !shm_conn_ended(conn) && shm_conn_wait(conn, &until))
		;
	close_split(conn, true, 0);
}

/* ---- the sender --------------------------------------------------------------------------- */

/* write_piece - bytes @off .. @off + @len of what @id names go to @addr. */
static bool write_piece(struct shm_conn *conn, uint32_t id, uint64_t addr, size_t off, size_t len)
{
	struct eng_pkt *pkt = shm_tx_find(conn, id);
	struct iovec from[ENG_IOV_MAX], to = { (void *) (uintptr_t) addr, len };
	size_t cnt;
	int ret;

	if (!pkt || off + len > pkt->len)
		return false;
	cnt = iov_slice(pkt->iov, pkt->iov_cnt, off, len, from);
	ret = shm_cma_copy(conn->pid, true, from, cnt, &to, 1, len);
	if (ret == -FI_EPERM)
		conn->can_write = false;	/* the kernel has revoked it */
	return !ret;
}

int shm_split_write(struct shm_conn *conn)
{
	struct shm_split *split = &conn->out.seg->split;
	uint64_t word = atomic_load_explicit(&split->word, memory_order_acquire), addr, len;
	size_t front = shm_split_front(word), back = shm_split_back(word), cnt, piece, off;
	uint32_t turn = (uint32_t) (word >> 32), id;
	bool good;

	if (turn == conn->split_done || !shm_conn_can_write(conn))
		return 0;
	id = atomic_load_explicit(&split->id, memory_order_acquire);
	addr = atomic_load_explicit(&split->addr, memory_order_acquire);
	len = atomic_load_explicit(&split->len, memory_order_acquire);
	if (len > SHM_PAYLOAD_MAX)
		len = 0;
	cnt = shm_split_cnt(len);
	if (front + back >= cnt) {
		conn->split_done = turn;
		return 0;
	}
	if (!atomic_compare_exchange_strong_explicit(&split->word, &word, word + 1,
						     memory_order_acq_rel, memory_order_relaxed))
		return 0;
	/* from here to the store of done: no upcall, no wait, no return */
	piece = shm_split_piece(len);
	off = (cnt - back - 1) * piece;
	good = write_piece(conn, id, addr + off, off, len - off < piece ? len - off : piece);
	atomic_store_explicit(&split->done, shm_split_word(turn, 0, 0) | (good ? back + 1 :
			      back | SHM_SPLIT_BAD), memory_order_release);
	if (!good)
		conn->split_done = turn;
	if (shm_out_asleep(&conn->out))
		shm_conn_wake(conn);
	return 1;
}

int shm_split_write_all(struct shm_poller *poller)
{
	struct shm_conn *conn, *next;
	int done = 0;

	list_for_each_entry_safe(conn, next, &poller->splitting, split_node)
		if (~conn->tx.free)
			done += shm_split_write(conn);
		else
			list_del(&conn->split_node);
	return done;
}

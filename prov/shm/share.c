/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "share.h"

#include <rdma/fi_errno.h>
#include <sched.h>

#include "base/clock.h"
#include "base/iov.h"
#include "link.h"
#include "pull.h"

/* How long a connection that ends waits for a sender that has taken a piece. */
#define PATIENCE_NS (10 * CLOCK_NS_PER_S)

/* A piece takes some 0.02 ms; a helper that needs so long did not run. */
#define LATE_NS (CLOCK_NS_PER_MS / 5)

#define MISSES_FREE 4		/* in a row, before it is asked less often */
#define SKIP_SHIFT_MAX 6
#define SKIP_LATE 1024

/* ---- the receiver ----------------------------------------------------------------------- */

bool shm_share_worth(struct shm_conn *conn, size_t len, size_t cnt)
{
	struct shm_sharing *s = &conn->sharing;

	if (len < shm_conf.share_size || cnt != 1 || s->open || conn->src.fd < 0 ||
	    !atomic_load_explicit(&conn->in.seg->tx.can_reach, memory_order_relaxed))
		return false;
	if (s->skip) {
		s->skip--;
		return false;
	}
	return true;
}

/* learn - what the last copy says about the next ones. */
static void learn(struct shm_sharing *s, bool late)
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

/* open_share - the first piece is ours from the beginning. */
static void open_share(struct shm_conn *conn, uint32_t id, size_t len, uint8_t *to)
{
	struct shm_share *share = &conn->in.seg->share;
	struct shm_sharing *s = &conn->sharing;

	s->open = true;
	s->turn++;
	s->len = len;
	s->to = to;
	s->back = 0;
	/* The word of the copy before must not be taken for this one, to which its count of pieces
	 * may seem to leave some over: a helper that meets one of these (release) finds it changed.
	 */
	atomic_store_explicit(&share->word, shm_share_word(s->turn - 1, UINT16_MAX, 0),
			      memory_order_relaxed);
	atomic_store_explicit(&share->id, id, memory_order_release);
	atomic_store_explicit(&share->addr, (uintptr_t) to, memory_order_release);
	atomic_store_explicit(&share->len, len, memory_order_release);
	atomic_store_explicit(&share->word, shm_share_word(s->turn, 1, 0), memory_order_release);
}

/* take - up to @want more pieces, after @front that were ours.  Returns how many there
 * were; 0: all are taken, s->back of them by the sender.
 */
static size_t take(struct shm_conn *conn, size_t front, size_t want)
{
	struct shm_share *share = &conn->in.seg->share;
	struct shm_sharing *s = &conn->sharing;
	size_t cnt = shm_share_cnt(s->len), back, part;
	uint64_t word = atomic_load_explicit(&share->word, memory_order_acquire);

	do {
		back = shm_share_back(word);
		/* a word that nobody may have written counts as all taken, and never done */
		if (word >> 32 != s->turn || shm_share_front(word) != front || front + back > cnt)
			back = cnt - front;
		s->back = back;
		part = cnt - front - back < want ? cnt - front - back : want;
	} while (part && !atomic_compare_exchange_weak_explicit(&share->word, &word,
				shm_share_word(s->turn, front + part, back),
				memory_order_acq_rel, memory_order_acquire));
	return part;
}

/* read_part - bytes @off .. @end of the message. */
static int read_part(struct shm_conn *conn, const struct shm_iovs *from, size_t off, size_t end)
{
	struct shm_sharing *s = &conn->sharing;
	struct iovec to = { s->to + off, end - off }, part[ENG_IOV_MAX];
	size_t cnt = iov_slice(from->iov, from->cnt, off, end - off, part);

	return shm_pull_read(conn->pid, &to, 1, part, cnt, end - off);
}

/* read_front - all that the sender does not take. */
static int read_front(struct shm_conn *conn, const struct shm_iovs *from)
{
	struct shm_sharing *s = &conn->sharing;
	size_t piece = shm_share_piece(s->len), front = 0, cnt = 1, end;
	int ret = 0;

	while (cnt && !ret) {
		end = (front + cnt) * piece;
		ret = read_part(conn, from, front * piece, end < s->len ? end : s->len);
		front += cnt;
		cnt = take(conn, front, ret ? SIZE_MAX : 1);
	}
	return ret;
}

/* state - Returns 1: the sender is out; 0: not yet; -1: out, but has not copied all. */
static int state(const struct shm_conn *conn)
{
	const struct shm_sharing *s = &conn->sharing;
	uint64_t done;

	if (!s->back)
		return 1;
	done = atomic_load_explicit(&conn->in.seg->share.done, memory_order_acquire);
	if (done >> 32 != s->turn)
		return 0;
	return done & SHM_SHARE_BAD ? -1 : (uint32_t) done >= s->back;
}

/* close_share - nobody copies any more. */
static int close_share(struct shm_conn *conn, bool late, int ret)
{
	conn->sharing.open = conn->sharing.waiting = false;
	learn(&conn->sharing, late);
	return ret;
}

/* mend - the sender could not write here: read what it took. */
static int mend(struct shm_conn *conn)
{
	struct shm_sharing *s = &conn->sharing;
	size_t done = (uint32_t) atomic_load_explicit(&conn->in.seg->share.done,
						      memory_order_relaxed) & ~SHM_SHARE_BAD;
	size_t cnt = shm_share_cnt(s->len), piece = shm_share_piece(s->len), end;
	int ret;

	if (done > s->back)
		done = s->back;
	end = (cnt - done) * piece;
	ret = read_part(conn, &s->from, (cnt - s->back) * piece, end < s->len ? end : s->len);
	s->back = 0;	/* no help, as it turned out */
	return close_share(conn, true, ret ? ret : 1);
}

int shm_share_fetch(struct shm_conn *conn, const struct shm_iovs *from, size_t len, uint8_t *to)
{
	struct shm_sharing *s = &conn->sharing;
	int ret;

	open_share(conn, from->id, len, to);
	ret = read_front(conn, from);
	if (ret) {
		shm_share_end(conn);
		return ret;
	}
	if (state(conn) > 0)
		return close_share(conn, false, 1);
	s->from = *from;
	s->since = clock_ns();
	s->waiting = true;
	return 0;
}

int shm_share_look(struct shm_conn *conn)
{
	struct shm_sharing *s = &conn->sharing;
	int ret = state(conn);

	if (!ret)
		return 0;
	return ret < 0 ? mend(conn) : close_share(conn, clock_ns() - s->since > LATE_NS, 1);
}

bool shm_share_ready(const struct shm_conn *conn)
{
	return state(conn);
}

void shm_share_end(struct shm_conn *conn)
{
	uint64_t give_up = 0;

	if (!conn->sharing.open)
		return;
	while (!state(conn) && !shm_conn_ended(conn)) {
		if (!give_up)
			give_up = clock_ns() + PATIENCE_NS;
		if (clock_ns() > give_up) {
			CHAN_WARN(&conn->link->base, "a peer that copies a message into our memory does not "
				 "come out; is its process stopped? It may yet write there\n");
			break;
		}
		sched_yield();
	}
	close_share(conn, true, 0);
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
	ret = shm_pull_write(conn->pid, from, cnt, &to, 1, len);
	if (ret == -FI_EPERM)
		conn->can_reach = false;	/* no longer */
	return !ret;
}

int shm_share_help(struct shm_conn *conn)
{
	struct shm_share *share = &conn->out.seg->share;
	uint64_t word = atomic_load_explicit(&share->word, memory_order_acquire), addr, len;
	size_t front = shm_share_front(word), back = shm_share_back(word), cnt, piece, off;
	uint32_t turn = (uint32_t) (word >> 32), id;
	bool good;

	if (turn == conn->turn_over || !shm_conn_reaches(conn))
		return 0;
	id = atomic_load_explicit(&share->id, memory_order_acquire);
	addr = atomic_load_explicit(&share->addr, memory_order_acquire);
	len = atomic_load_explicit(&share->len, memory_order_acquire);
	if (len > SHM_PAYLOAD_MAX)
		len = 0;
	cnt = shm_share_cnt(len);
	if (front + back >= cnt) {
		conn->turn_over = turn;
		return 0;
	}
	if (!atomic_compare_exchange_strong_explicit(&share->word, &word, word + 1,
						     memory_order_acq_rel, memory_order_relaxed))
		return 0;
	/* from here to the store of done: no call up, no wait, no way out */
	piece = shm_share_piece(len);
	off = (cnt - back - 1) * piece;
	good = write_piece(conn, id, addr + off, off, len - off < piece ? len - off : piece);
	atomic_store_explicit(&share->done, shm_share_word(turn, 0, 0) | (good ? back + 1 :
			      back | SHM_SHARE_BAD), memory_order_release);
	if (!good)
		conn->turn_over = turn;
	if (shm_out_asleep(&conn->out))
		shm_conn_ring(conn);
	return 1;
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Sending.  A packet that fits a slot is sent in one; a longer one goes through the data
 * ring, in pieces if need be; a long one stays in place and is read by the peer, if that
 * can and it is better so.  A packet for which there is no room waits in the channel, at no cost in memory.
 */
#include <rdma/fi_errno.h>

#include "base/clock.h"
#include "base/iov.h"
#include "link.h"

/* A packet needs one slot, and one more stays free for a STALL. */
#define SLOTS_WANTED 2

static inline void publish_item(struct shm_conn *conn, unsigned kind, size_t hdr_len, size_t len)
{
	shm_out_publish(&conn->out, kind, hdr_len, len);
	if (__builtin_expect(shm_out_asleep(&conn->out), 0))
		shm_conn_wake(conn);
}

/* publish_unordered - a slot that carries nothing of the engine, so native writes may overtake it. */
static void publish_unordered(struct shm_conn *conn, unsigned kind, size_t len)
{
	bool clear = conn->out.clear == conn->out.pos;

	publish_item(conn, kind, 0, len);
	if (clear)
		conn->out.clear = conn->out.pos;
}

/* ---- which way payload goes --------------------------------------------------------------- */

static bool peer_can_read(const struct shm_conn *conn)
{
	return atomic_load_explicit(&conn->out.seg->rx.can_read, memory_order_relaxed) &&
	       conn->tx.free;
}

/* is_pulled - is payload of @len bytes left in our memory? */
static inline bool is_pulled(const struct shm_conn *conn, size_t len)
{
	return __builtin_expect(len >= shm_conf.pull_size, 0) && peer_can_read(conn);
}

/* ---- one packet ------------------------------------------------------------------------- */

static inline int put_short(struct shm_conn *conn, struct eng_pkt *pkt)
{
	struct shm_slot *slot = shm_out_slot(&conn->out);

	memcpy(slot->body, pkt->hdr, pkt->hdr_len);
	if (__builtin_expect(pkt->iov_cnt == 1, 1))
		memcpy(slot->body + pkt->hdr_len, pkt->iov[0].iov_base, pkt->len);
	else if (pkt->len)
		iov_gather(pkt->iov, pkt->iov_cnt, 0, slot->body + pkt->hdr_len, pkt->len);
	publish_item(conn, SHM_SHORT, pkt->hdr_len, pkt->len);
	return 1;
}

/* put_payload - bytes @off .. @off + @len of the payload go to the data ring. */
static void put_payload(struct shm_out *out, const struct eng_pkt *pkt, size_t off, uint8_t *to, size_t len)
{
	if (__builtin_expect(pkt->iov_cnt == 1, 1))
		shm_out_copy(out, to, (const char *) pkt->iov[0].iov_base + off, len);
	else if (len)
		iov_gather(pkt->iov, pkt->iov_cnt, off, to, len);
}

/* put_hdr - the header of a DATA or FIRST.  @data: what shm_out_data() has given for the slot.
 * Returns where the payload goes.
 */
static inline uint8_t *put_hdr(struct shm_conn *conn, const struct eng_pkt *pkt, unsigned kind,
			       uint8_t *data)
{
	size_t in_data = shm_data_hdr(kind, pkt->hdr_len);

	memcpy(in_data ? data : shm_out_slot(&conn->out)->body + shm_body_hdr(kind), pkt->hdr,
	       pkt->hdr_len);
	return data + in_data;
}

static int put_data(struct shm_conn *conn, struct eng_pkt *pkt)
{
	unsigned kind = SHM_DATA;
	uint8_t *data = shm_out_data(&conn->out, shm_data_hdr(kind, pkt->hdr_len) + pkt->len, &kind);

	if (!data)
		return -FI_EAGAIN;
	data = put_hdr(conn, pkt, SHM_DATA, data);
	put_payload(&conn->out, pkt, 0, data, pkt->len);
	publish_item(conn, kind, pkt->hdr_len, pkt->len);
	return 1;
}

/* put_piece - Returns false: no room. */
static bool put_piece(struct shm_conn *conn, struct eng_pkt *pkt, size_t len)
{
	struct shm_out *out = &conn->out;
	unsigned what = pkt->sent ? SHM_MORE : SHM_FIRST, kind = what;
	size_t hdr_len = pkt->sent ? 0 : pkt->hdr_len;
	uint64_t total = pkt->len;
	uint8_t *data;

	data = shm_out_room(out, SLOTS_WANTED) ?
	       shm_out_data(out, shm_data_hdr(what, hdr_len) + len, &kind) : NULL;
	if (!data)
		return false;
	if (hdr_len) {
		memcpy(shm_out_slot(out)->body, &total, sizeof(total));
		data = put_hdr(conn, pkt, what, data);
	}
	put_payload(out, pkt, pkt->sent, data, len);
	publish_item(conn, kind, hdr_len, len);
	pkt->sent += len;
	return true;
}

/* put_pieces - as many as there is room for; pkt->sent bytes are sent. */
static int put_pieces(struct shm_conn *conn, struct eng_pkt *pkt)
{
	size_t left;

	while ((left = pkt->len - pkt->sent))
		if (!put_piece(conn, pkt, left < SHM_PIECE_MAX ? left : SHM_PIECE_MAX))
			return -FI_EAGAIN;
	return 1;
}

/* put_pull - send the addresses of the payload. */
static int put_pull(struct shm_conn *conn, struct eng_pkt *pkt)
{
	unsigned i, kind = SHM_PULL, place = (unsigned) __builtin_ctzll(conn->tx.free);
	size_t len = SHM_PULL_SIZE(pkt->iov_cnt) + pkt->hdr_len;
	struct shm_pull_hdr pull = { .cnt = pkt->iov_cnt };
	uint8_t *body = shm_out_slot(&conn->out)->body, *at;
	struct shm_range range;

	at = body + sizeof(pull);
	if (len > SHM_BODY)
		at = shm_out_data(&conn->out, len - sizeof(pull), &kind);
	if (!at)
		return -FI_EAGAIN;
	pull.id = place | ++conn->tx.turns[place] << 8;
	memcpy(body, &pull, sizeof(pull));
	for (i = 0; i < pkt->iov_cnt; i++, at += sizeof(range)) {
		range.addr = (uintptr_t) pkt->iov[i].iov_base;
		range.len = pkt->iov[i].iov_len;
		memcpy(at, &range, sizeof(range));
	}
	memcpy(at, pkt->hdr, pkt->hdr_len);
	conn->tx.free &= ~(UINT64_C(1) << place);
	conn->tx.pulls[place] = pkt;
	if (pkt->len >= shm_conf.share_size && conn->can_write && list_empty(&conn->split_node)) {
		list_add_tail(&conn->split_node, &conn->poller->splitting);
		chan_poller_chore(&conn->poller->base);
	}
	publish_item(conn, kind, pkt->hdr_len, pkt->len);
	return 0;
}

/* put_pkt - send one packet, or the rest of it.  Returns 1: all of it is in shared memory; 0: it
 * is in flight and its buffers must stay; -FI_EAGAIN: there is no room.
 */
static inline int put_pkt(struct shm_conn *conn, struct eng_pkt *pkt)
{
	if (__builtin_expect(!shm_out_room(&conn->out, SLOTS_WANTED), 0))
		return -FI_EAGAIN;
	if (__builtin_expect(pkt->hdr_len + pkt->len <= SHM_BODY, 1))
		return put_short(conn, pkt);
	if (pkt->sent)
		return put_pieces(conn, pkt);
	if (is_pulled(conn, pkt->len))
		return put_pull(conn, pkt);
	return pkt->len <= SHM_PIECE_MAX ? put_data(conn, pkt) : put_pieces(conn, pkt);
}

/* ---- waiting ---------------------------------------------------------------------------- */

/* wait_for_room - the peer wakes us if we sleep when it has taken what is in the ring. */
static void wait_for_room(struct shm_conn *conn)
{
	struct shm_out *out = &conn->out;
	uint64_t now = clock_ns();

	if (list_empty(&conn->blocked_node))
		list_add_tail(&conn->blocked_node, &conn->poller->base.dirty);
	chan_poller_chore(&conn->poller->base);
	shm_out_waits(out, now);
	if (now - out->wait_ns >= CHAN_STALL_NS && !out->stall_logged) {
		out->stall_logged = true;
		chan_log_stall(&conn->chan->base, now - out->wait_ns);
	}
	if (out->bad) {
		shm_conn_malformed(conn, "impossible counters");
		return;
	}
	if (out->stall > out->seen_pos || !shm_out_room(out, 1))
		return;		/* the last STALL is still in flight */
	publish_unordered(conn, SHM_STALL, 0);
	out->stall = out->pos;
}

/* watch_inactive - a packet is about to be sent to a peer from which nothing has come since the last sleep. */
static void watch_inactive(struct shm_conn *conn)
{
	struct shm_poller *poller = conn->poller;

	if (!list_empty(&conn->unread_node))
		return;
	shm_unread_begin(conn, clock_coarse_ns());
	if (poller->unread_cnt)
		obj_prog_moved(poller->base.base.prog, poller->unread_due_ns);
}

/* check_peer - before the first packet after a poll in which nothing arrived: has the peer
 * closed the socket?  The packet would be lost in the ring.
 */
static void check_peer(struct shm_conn *conn)
{
	conn->seq = conn->poller->base.seq;
	shm_poller_works(conn->poller);
	if (!conn->poller->base.polling && !shm_poller_heard(conn->poller))
		shm_conn_check(conn);
	if (__builtin_expect(!conn->active, 0))
		watch_inactive(conn);
}

/* no_room - for a packet that is not kept: will there be room within microseconds?  Not if the receiver is
 * stuck.
 */
static int no_room(struct shm_conn *conn)
{
	shm_out_look(&conn->out);
	return conn->out.bad || shm_out_stuck(&conn->out, clock_ns()) ? -FI_ENOBUFS : -FI_EAGAIN;
}

/* send_once - into the ring, or not at all: payload that the peer reads from here must stay. */
static int send_once(struct shm_conn *conn, struct eng_pkt *pkt)
{
	int ret = -FI_EAGAIN;

	if (__builtin_expect(conn->ended || !conn->ready, 0) || is_pulled(conn, pkt->len))
		return -FI_ENOBUFS;
	if (__builtin_expect(list_empty(&conn->chan->base.pending) &&
			     shm_out_room(&conn->out, SLOTS_WANTED), 1))
		ret = pkt->hdr_len + pkt->len <= SHM_BODY ? put_short(conn, pkt) : put_data(conn, pkt);
	return ret > 0 ? ret : no_room(conn);
}

int shm_tx_send(struct shm_conn *conn, struct eng_pkt *pkt)
{
	bool unordered;
	int ret;

	pkt->sent = 0;
	if (__builtin_expect(conn->seq != conn->poller->base.seq, 0))
		check_peer(conn);
	if (__builtin_expect(shm_out_closed(&conn->out) && !conn->ended, 0))
		shm_conn_peer_closed(conn);
	if (pkt->flags & ENG_PKT_ONCE)
		return send_once(conn, pkt);
	if (__builtin_expect(conn->ended || !conn->ready, 0)) {
		chan_poller_kick(&conn->poller->base);
		if (!conn->poller->base.polling)
			return -FI_EAGAIN;
		list_add_tail(&pkt->node, &conn->chan->base.pending);	/* done() with the loss */
		return ENG_SEND_KEPT;
	}
	if (__builtin_expect(list_empty(&conn->chan->base.pending), 1)) {
		unordered = pkt->flags & ENG_PKT_NOTICE && conn->out.clear == conn->out.pos;
		ret = put_pkt(conn, pkt);
		if (__builtin_expect(unordered && ret > 0, 0))
			conn->out.clear = conn->out.pos;
		if (__builtin_expect(ret >= 0, 1))
			return ret;
	}
	list_add_tail(&pkt->node, &conn->chan->base.pending);
	wait_for_room(conn);
	return ENG_SEND_KEPT;
}

/* room_now - may a packet be put into the ring of @conn without any further question? */
static inline bool room_now(struct shm_conn *conn)
{
	if (__builtin_expect(!conn, 0))
		return false;
	if (__builtin_expect(conn->seq != conn->poller->base.seq, 0))
		check_peer(conn);
	/* all that is rare is left to shm_tx_send(), which tells the cases apart */
	return !conn->ended && conn->ready &&
	       list_empty(&conn->chan->base.pending) && !shm_out_closed(&conn->out) &&
	       shm_out_room(&conn->out, SLOTS_WANTED);
}

void *shm_tx_slot(void *chan, size_t len)
{
	struct shm_conn *conn = ((struct chan *) chan)->conn;

	if (__builtin_expect(len > SHM_BODY || !room_now(conn), 0))
		return NULL;
	return shm_out_slot(&conn->out)->body;
}

int shm_tx_post(void *chan, size_t hdr_len, size_t len)
{
	publish_item(((struct chan *) chan)->conn, SHM_SHORT, hdr_len, len);
	return 1;
}

int shm_tx_pump(struct shm_conn *conn)
{
	struct list *txq = &conn->chan->base.pending;
	bool moves = false;
	struct eng_pkt *pkt;
	int ret, done = 0;

	shm_tx_send_done(conn);
	while (!list_empty(txq) && conn->state == SHM_CONN_READY) {
		pkt = container_of(txq->next, struct eng_pkt, node);
		ret = put_pkt(conn, pkt);
		if (ret >= 0 && !moves) {
			moves = true;
			shm_out_moves(&conn->out, clock_ns());
		}
		if (ret < 0) {
			wait_for_room(conn);
			return done;
		}
		list_del(&pkt->node);
		done++;
		if (ret)
			pkt->done(pkt, 0);
	}
	if (list_empty(txq) && !conn->rx.done_cnt)
		list_del(&conn->blocked_node);
	return done;
}

bool shm_tx_blocked(struct shm_conn *conn)
{
	if (conn->out.bad || conn->state != SHM_CONN_READY)
		return false;
	shm_out_look(&conn->out);
	/* a receiver that has not taken the STALL yet will wake us */
	return conn->out.stall > conn->out.seen_pos;
}

/* ---- payload that the peer reads ---------------------------------------------------------- */

void shm_tx_send_done(struct shm_conn *conn)
{
	struct shm_rx *rx = &conn->rx;
	unsigned cnt;

	while (rx->done_cnt) {
		if (!shm_out_room(&conn->out, SLOTS_WANTED)) {
			wait_for_room(conn);
			return;
		}
		cnt = rx->done_cnt < SHM_DONE_MAX ? rx->done_cnt : SHM_DONE_MAX;
		rx->done_cnt -= cnt;
		rx->pulls -= cnt;
		memcpy(shm_out_slot(&conn->out)->body, rx->done_ids + rx->done_cnt,
		       cnt * sizeof(uint32_t));
		publish_unordered(conn, SHM_DONE, cnt);
	}
}

struct eng_pkt *shm_tx_find(const struct shm_conn *conn, uint32_t id)
{
	unsigned place = (uint8_t) id;

	if (place >= SHM_PULLS || conn->tx.free & UINT64_C(1) << place ||
	    id >> 8 != (conn->tx.turns[place] & 0xffffff))
		return NULL;
	return conn->tx.pulls[place];
}

bool shm_tx_on_done(struct shm_conn *conn, uint32_t id)
{
	struct eng_pkt *pkt = shm_tx_find(conn, id);

	if (!pkt)
		return false;
	conn->tx.free |= UINT64_C(1) << (uint8_t) id;
	pkt->done(pkt, 0);
	return true;
}

void shm_tx_flush(struct shm_conn *conn)
{
	if (conn->flushed || !~conn->tx.free || !shm_out_room(&conn->out, SLOTS_WANTED))
		return;
	conn->flushed = true;
	publish_unordered(conn, SHM_FLUSH, 0);
}

bool shm_tx_may_share(struct shm_conn *conn, bool taken)
{
	struct shm_out *out = &conn->out;

	if (!taken && out->seen_pos < conn->share_pos)
		shm_out_look(out);
	return !out->bad && (taken || out->seen_pos >= conn->share_pos) && shm_out_room(out, SLOTS_WANTED);
}

void shm_tx_share(struct shm_conn *conn)
{
	publish_unordered(conn, SHM_SHARE, 0);
	conn->share_pos = conn->out.pos;
}

void shm_tx_drop(struct shm_conn *conn, int err)
{
	struct eng_pkt *pkt;
	unsigned place;

	while (~conn->tx.free) {
		place = (unsigned) __builtin_ctzll(~conn->tx.free);
		pkt = conn->tx.pulls[place];
		conn->tx.free |= UINT64_C(1) << place;
		pkt->done(pkt, -err);
	}
}

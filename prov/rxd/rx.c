/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Receiving.  Bytes of the stream that arrive in order are processed at once.  Bytes out of
 * order that belong to the engine packet that is arriving are placed where they belong
 * (conn->body); others are kept until the gap before them is filled (conn->reordered).  A
 * packet is acknowledged only when its bytes are in one of these places.
 */
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/iov.h"
#include "net/opt.h"
#include "conn.h"

#define PNS_MAX (RXD_RANGES_MAX + 1)

/* ---- bytes out of order ----------------------------------------------------------- */

static struct rxd_reordered *reordered_of(struct list *node)
{
	return container_of(node, struct rxd_reordered, node);
}

/* reordered_cost - memory for @len bytes, that of the allocator included. */
static size_t reordered_cost(size_t len)
{
	return sizeof(struct rxd_reordered) + len + 16;
}

static void reordered_free(struct rxd_conn *conn, struct rxd_reordered *piece)
{
	list_del(&piece->node);
	conn->reordered_bytes -= (uint32_t) reordered_cost(piece->len);
	free(piece);
}

/* reordered_keep - store bytes until those before them are here.  Errors: -FI_ENOMEM. */
static int reordered_keep(struct rxd_conn *conn, uint64_t off, const uint8_t *data, size_t len)
{
	struct rxd_reordered *piece;
	struct list *pos;

	pos = conn->reordered.prev;
	while (pos != &conn->reordered && reordered_of(pos)->off > off)
		pos = pos->prev;
	if (pos != &conn->reordered && reordered_of(pos)->off + reordered_of(pos)->len >= off + len)
		return 0;	/* a duplicate */
	if (conn->reordered_bytes + reordered_cost(len) >
	    2 * (conn->rcv_limit - conn->rcv_nxt) + RXD_PAYLOAD_MAX)
		return -FI_ENOMEM;
	piece = malloc(sizeof(*piece) + len);
	if (!piece)
		return -FI_ENOMEM;
	piece->off = off;
	piece->len = len;
	memcpy(piece->data, data, len);
	conn->reordered_bytes += (uint32_t) reordered_cost(len);
	list_add(&piece->node, pos);
	return 0;
}

/* ---- the packet that is arriving ------------------------------------------------------------ */

static void body_free(struct rxd_conn *conn, struct rxd_body *body)
{
	rxd_ranges_fini(&body->got);
	pool_put(&rxd_conn_poller(conn)->bodies, body);
}

static void body_end(struct rxd_conn *conn)
{
	struct rxd_body *body = conn->body;
	void *cookie = body->cookie;

	conn->body = NULL;
	if (body->hold)
		chan_hold_done(body->hold);
	body_free(conn, body);
	if (cookie)
		eng_on_placed(&conn->chan.link->base, cookie, 0);
}

static void body_copy(const struct rxd_body *body, uint64_t off, const uint8_t *data, size_t len)
{
	if (body->iov_cnt)
		iov_scatter(body->iov, body->iov_cnt, (size_t) (off - body->start), data, len);
}

/* body_fill - bytes in order; then skip those that are in place already. */
static void body_fill(struct rxd_conn *conn, const uint8_t *data, size_t len)
{
	struct rxd_body *body = conn->body;
	const struct rxd_span *span;

	if (len > body->end - conn->rcv_nxt)
		len = (size_t) (body->end - conn->rcv_nxt);
	body_copy(body, conn->rcv_nxt, data, len);
	conn->rcv_nxt += len;
	span = rxd_ranges_at(&body->got, conn->rcv_nxt);
	if (span && span->lo <= conn->rcv_nxt)
		conn->rcv_nxt = span->hi;
	rxd_ranges_cut(&body->got, conn->rcv_nxt);
	if (conn->rcv_nxt == body->end)
		body_end(conn);
}

/* body_place - bytes out of order.  Returns how many belong to the body; negative: no memory. */
static ssize_t body_place(struct rxd_conn *conn, uint64_t off, const uint8_t *data, size_t len)
{
	struct rxd_body *body = conn->body;

	if (!body || off >= body->end)
		return 0;
	if (len > body->end - off)
		len = (size_t) (body->end - off);
	if (rxd_ranges_add(&body->got, off, off + len))
		return -FI_ENOMEM;
	body_copy(body, off, data, len);
	return (ssize_t) len;
}

/* ---- packets ------------------------------------------------------------------------------ */

static void bad_packet(struct rxd_conn *conn, const char *what)
{
	char text[CHAN_TEXT_MAX];

	CHAN_WARN_SPARSE(conn->chan.link, "%s sent %s: the connection is closed, its operations end "
			 "with an error\n", chan_peer_text(&conn->chan, text), what);
	rxd_conn_fail(conn, FI_EPROTO, false);
}

static void conn_pause(struct rxd_conn *conn)
{
	conn->is_paused = true;
	if (list_empty(&conn->chan.node))
		list_add_tail(&conn->chan.node, &rxd_conn_poller(conn)->base.paused);
}

static struct rxd_body *body_new(struct rxd_conn *conn)
{
	struct rxd_body *body;

	body = pool_get(&rxd_conn_poller(conn)->bodies);
	if (!body)
		return NULL;
	body->iov_cnt = 0;
	body->cookie = NULL;
	body->hold = NULL;
	rxd_ranges_init(&body->got);
	return body;
}

static void body_begin(struct rxd_conn *conn, struct rxd_body *body, const struct eng_rx *rx,
		       enum eng_rx_verdict verdict)
{
	struct chan_hold *held = rxd_conn_poller(conn)->held;

	body->start = conn->rcv_nxt;
	body->end = body->start + rx->len;
	if (verdict == ENG_RX_PLACE) {
		memcpy(body->iov, rx->iov, rx->iov_cnt * sizeof(*rx->iov));
		body->iov_cnt = rx->iov_cnt;
		body->cookie = rx->cookie;
	} else if (verdict == ENG_RX_HELD) {
		body->hold = held;
		held->source = conn;
		body->iov[0] = (struct iovec) { held->data, rx->len };
		body->iov_cnt = 1;
	}
	conn->body = body;
	if (__builtin_expect(conn->chan.paths != NULL, 0) && rx->len >= rxd_conf.rails.min)
		rxd_rails_want(conn);
	body_fill(conn, rx->data, rx->avail);
}

static enum eng_rx_verdict packet_deliver(struct rxd_conn *conn, struct eng_rx *rx)
{
	struct rxd_poller *poller = rxd_conn_poller(conn);

	if (rxd_conn_link(conn)->base.closing)
		return ENG_RX_DONE;
	poller->held = NULL;
	return eng_on_packet(&conn->chan.link->base, chan_peer(&conn->chan), rx);
}

/* packet_offer - pass a packet to the engine.
 * @fresh: bytes of its frame and header that rcv_nxt has not passed yet
 * Returns false when it must be offered again, or the connection has ended.
 */
static bool packet_offer(struct rxd_conn *conn, struct eng_rx *rx, size_t fresh)
{
	bool whole = rx->avail == rx->len;
	struct rxd_body *body = whole ? NULL : body_new(conn);
	enum eng_rx_verdict verdict = ENG_RX_LATER;

	if (whole || body)
		verdict = packet_deliver(conn, rx);
	if (!rxd_conn_alive(conn) || verdict == ENG_RX_LATER || verdict == ENG_RX_BAD ||
	    verdict == ENG_RX_OVER) {
		if (body)
			body_free(conn, body);
		if (verdict == ENG_RX_LATER)
			conn_pause(conn);
		else if (verdict == ENG_RX_BAD)
			bad_packet(conn, "a malformed packet");
		else if (verdict == ENG_RX_OVER)
			rxd_conn_fail(conn, FI_EOVERRUN, false);
		return false;
	}
	conn->rcv_nxt += fresh;
	if (!whole) {
		body_begin(conn, body, rx, verdict);
		return true;
	}
	conn->rcv_nxt += rx->len;
	if (verdict == ENG_RX_PLACE) {
		iov_scatter(rx->iov, rx->iov_cnt, 0, rx->data, rx->len);
		eng_on_placed(&conn->chan.link->base, rx->cookie, 0);
	}
	return true;
}

/* head_size - bytes of the frame and the engine's header at @p; 0: not known yet. */
static size_t head_size(const uint8_t *p, size_t len)
{
	uint64_t word;

	if (len < RXD_FRAME_SIZE)
		return 0;
	memcpy(&word, p, sizeof(word));
	return RXD_FRAME_SIZE + (le64toh(word) & 0xffff);
}

/* on_packet - a whole head is at @head; of its payload @avail bytes are at @data. */
static void on_packet(struct rxd_conn *conn, const uint8_t *head, const uint8_t *data, size_t avail,
		      size_t fresh)
{
	struct eng_rx rx = { .hdr = head + RXD_FRAME_SIZE, .data = data };
	uint64_t word;

	memcpy(&word, head, sizeof(word));
	word = le64toh(word);
	rx.hdr_len = word & 0xffff;
	rx.len = word >> 16;
	rx.avail = avail < rx.len ? avail : rx.len;
	if (!rx.hdr_len && (!rx.len || rxd_conn_link(conn)->rails)) {
		conn->rcv_nxt += fresh;
		conn->ended = true;
		if (rx.len)
			rxd_tx_on_taken(conn, rx.len);
		return;
	}
	if (!rx.hdr_len || rx.hdr_len > ENG_HDR_MAX || rx.len > RXD_PAYLOAD_MAX) {
		bad_packet(conn, "a frame with impossible lengths");
		return;
	}
	if (packet_offer(conn, &rx, fresh) && conn->partial_len) {
		conn->partial_len = 0;
		free(conn->partial);
		conn->partial = NULL;
	}
}

/* head_part - the head is spread over several datagrams: collect it. */
static void head_part(struct rxd_conn *conn, const uint8_t *p, size_t len)
{
	size_t size, part;

	if (!conn->partial)
		conn->partial = malloc(RXD_FRAME_SIZE + ENG_HDR_MAX);
	if (!conn->partial) {
		conn_pause(conn);	/* as if the bytes had not arrived */
		return;
	}
	while (rxd_conn_alive(conn)) {
		size = head_size(conn->partial, conn->partial_len);
		if (size > RXD_FRAME_SIZE + ENG_HDR_MAX) {
			bad_packet(conn, "a frame with impossible lengths");
			return;
		}
		part = (size ? size : RXD_FRAME_SIZE) - conn->partial_len;
		if (!part) {
			on_packet(conn, conn->partial, p, len, 0);
			return;
		}
		part = part < len ? part : len;
		if (!part)
			return;
		memcpy(conn->partial + conn->partial_len, p, part);
		conn->partial_len += (uint16_t) part;
		conn->rcv_nxt += part;
		p += part;
		len -= part;
	}
}

static void on_head(struct rxd_conn *conn, const uint8_t *p, size_t len)
{
	size_t size = head_size(p, len);

	if (conn->partial_len || !size || size > len)
		head_part(conn, p, len);
	else
		on_packet(conn, p, p + size, len - size, size);
}

/* stream_consume - bytes from @off <= rcv_nxt on, as far as they get. */
static void stream_consume(struct rxd_conn *conn, uint64_t off, const uint8_t *data, size_t len)
{
	uint64_t end = off + len;
	size_t at;

	while (conn->rcv_nxt < end && rxd_conn_alive(conn) && !conn->is_paused && !conn->ended) {
		at = (size_t) (conn->rcv_nxt - off);
		if (conn->body)
			body_fill(conn, data + at, len - at);
		else
			on_head(conn, data + at, len - at);
	}
}

static void reordered_drain(struct rxd_conn *conn)
{
	struct rxd_reordered *piece;

	while (!list_empty(&conn->reordered) && rxd_conn_alive(conn) && !conn->is_paused) {
		piece = reordered_of(conn->reordered.next);
		if (piece->off > conn->rcv_nxt)
			break;
		stream_consume(conn, piece->off, piece->data, piece->len);
		if (!rxd_conn_alive(conn) ||
		    (conn->is_paused && piece->off + piece->len > conn->rcv_nxt))
			break;
		reordered_free(conn, piece);
	}
}

/* on_stream - bytes of the peer's stream.  Errors: there is no room for them; the packet is not
 * acknowledged, and the peer retransmits them.
 */
static int on_stream(struct rxd_conn *conn, uint64_t off, const uint8_t *data, size_t len)
{
	uint64_t end = off + len;
	ssize_t placed;

	if (end > conn->rcv_limit)
		return -FI_EPERM;
	if (end <= conn->rcv_nxt || conn->ended)
		return 0;
	if (off <= conn->rcv_nxt && !conn->is_paused) {
		stream_consume(conn, off, data, len);
		if (!rxd_conn_alive(conn) || conn->rcv_nxt >= end || conn->ended) {
			reordered_drain(conn);
			return 0;
		}
		len -= (size_t) (conn->rcv_nxt - off);
		data += conn->rcv_nxt - off;
		off = conn->rcv_nxt;
	}
	placed = conn->is_paused && off <= conn->rcv_nxt ? 0 : body_place(conn, off, data, len);
	if (placed < 0)
		return (int) placed;
	if ((size_t) placed == len)
		return 0;
	return reordered_keep(conn, off + (size_t) placed, data + placed, len - (size_t) placed);
}

/* ---- numbers ------------------------------------------------------------------------------- */

static bool is_known(const struct rxd_conn *conn, uint64_t pn)
{
	return pn < conn->pn_floor || rxd_ranges_has(&conn->pns, pn);
}

static void count_mark(struct rxd_conn *conn, unsigned ecn)
{
	conn->ect_cnt += ecn == NET_ECN_ECT0;
	conn->ce_cnt += ecn == NET_ECN_CE;
	/* congestion begins: the sender should learn of it soon */
	if (ecn == NET_ECN_CE && !conn->was_ce)
		conn->ack_now = true;
	conn->was_ce = ecn == NET_ECN_CE;
}

static void record_number(struct rxd_conn *conn, const struct rxd_pkt *pkt, struct rxd_meta meta,
			uint64_t now)
{
	uint32_t was = conn->pns.cnt;
	uint64_t next = was ? conn->pns.span[was - 1].hi : 0;

	if (rxd_ranges_add(&conn->pns, pkt->pn, pkt->pn + 1))
		return;		/* a retransmission is recognised by its place in the stream */
	count_mark(conn, meta.ecn);
	if (pkt->pn >= next) {
		conn->largest_ns = now;
		if (__builtin_expect(meta.source != conn->source, 0) && !rxd_is_rail(conn))
			rxd_on_new_source(conn, meta.source, now);
	}
	if (conn->pns.cnt > PNS_MAX) {
		conn->pn_floor = conn->pns.span[1].lo;
		rxd_ranges_cut(&conn->pns, conn->pn_floor);
	}
	/* out of order, or requested: the sender waits for the ACK */
	if (pkt->pn != next || conn->pns.cnt > 1 || pkt->flags & RXD_F_NOW)
		conn->ack_now = true;
}

static void ack_later(struct rxd_conn *conn, uint64_t now)
{
	if (!conn->ack_cnt)
		conn->ack_since_ns = now;
	if (conn->ack_cnt < UINT16_MAX)
		conn->ack_cnt++;
}

/* ---- a packet of a connection ------------------------------------------------------------------ */

static void peer_alive(struct rxd_conn *conn, uint64_t now)
{
	if (!conn->confirmed) {
		conn->confirmed = true;
		if (conn->handshake && conn->handshake->tries == 1 && !conn->rtt.min)
			rxd_rtt_sample(&conn->rtt, now - conn->handshake->sent_ns, 0);
		free(conn->handshake);
		conn->handshake = NULL;
		rxd_conn_schedule(conn);
	}
	conn->received_ns = now;
	if (conn->unanswered_ns)
		conn->unanswered_ns = now;
}

/* stream_ended - the end of the peer's stream, which has come by @path: acknowledge it, then report it. */
static void stream_ended(struct rxd_conn *path, struct rxd_conn *conn, uint64_t now)
{
	path->ack_now = true;
	rxd_tx_push(path, now);
	rxd_conn_fail(conn, FI_ECONNRESET, true);
}

/* on_any - what every packet shows: the peer is alive, and may acknowledge ours.  Returns false
 * when the connection has ended.
 */
static bool on_any(struct rxd_conn *conn, const struct rxd_pkt *pkt, uint64_t now)
{
	peer_alive(conn, now);
	if (pkt->flags & RXD_F_ACK)
		rxd_tx_on_ack(conn, pkt, now);
	return rxd_conn_alive(conn);
}

static bool on_any_of_rail(struct rxd_conn *rail, struct rxd_conn *conn, const struct rxd_pkt *pkt, uint64_t now)
{
	peer_alive(rail, now);
	if (pkt->flags & RXD_F_ACK)
		rxd_tx_on_rail_ack(rail, conn, pkt, now);
	return rxd_conn_alive(rail) && rxd_conn_alive(conn);
}

/* after_data - the bytes are in place: ACK, flow control, timer. */
static void after_data(struct rxd_conn *conn, uint64_t now)
{
	rxd_rx_open_window(conn);
	if (rxd_rx_ack_due(conn, now))
		rxd_conn_schedule(conn);
	rxd_conn_rearm(conn, now);
}

/* after_rail_data - the same for bytes that have come by a rail, which acknowledges them. */
static void after_rail_data(struct rxd_conn *rail, struct rxd_conn *conn, uint64_t now)
{
	bool was = conn->ack_now;

	rxd_rx_open_window(conn);
	rail->ack_now |= conn->ack_now;
	conn->ack_now = was;
	if (rxd_rx_ack_due(rail, now))
		rxd_conn_schedule(rail);
	rxd_conn_rearm(rail, now);
}

void rxd_rx_deferred(struct rxd_poller *poller)
{
	const struct rxd_pkt *pkt = &poller->deferred_pkt;
	struct rxd_conn *conn = poller->deferred;
	uint64_t now = poller->deferred_ns;

	poller->deferred = NULL;
	if (!rxd_conn_alive(conn) || !on_any(conn, pkt, now))
		return;
	rxd_rx_count(conn, pkt->len, now);
	after_data(conn, now);
}

/* is_next - is it the next packet in order, and does nothing else need attention? */
static inline bool is_next(const struct rxd_conn *conn, const struct rxd_pkt *pkt,
			    struct rxd_meta meta)
{
	const struct rxd_ranges *pns = &conn->pns;

	return (pkt->flags & (RXD_F_PN | RXD_F_PAD)) == RXD_F_PN && pkt->off == conn->rcv_nxt &&
	       pkt->len <= conn->rcv_limit - conn->rcv_nxt &&
	       pns->cnt == 1 && pns->span[0].hi == pkt->pn && meta.source == conn->source &&
	       (!(pkt->flags & RXD_F_ACK) || !pkt->ack.cnt) && !conn->body && !conn->partial_len &&
	       !conn->is_paused && !conn->ended && list_empty(&conn->reordered) &&
	       !rxd_conn_link(conn)->base.closing;
}

/* deliver_short - deliver short messages.  Returns false when anything else is in the packet;
 * rcv_nxt is behind what was delivered.
 */
static inline bool deliver_short(struct rxd_conn *conn, const uint8_t *at, size_t left)
{
	size_t hdr_len, size;
	uint64_t word, len;

	while (left > RXD_FRAME_SIZE) {
		memcpy(&word, at, sizeof(word));
		word = le64toh(word);
		hdr_len = word & 0xffff;
		len = word >> 16;
		size = RXD_FRAME_SIZE + hdr_len + (size_t) len;
		if (hdr_len > ENG_HDR_MAX || len > left || size > left ||
		    eng_on_fast(conn, at + RXD_FRAME_SIZE, hdr_len, (size_t) len) <
			    ENG_FAST_DONE)
			return false;
		conn->rcv_nxt += size;
		at += size;
		left -= size;
	}
	return !left;
}

/* on_next - fast path: the next packet in order, with short messages in it.  They are delivered
 * first, and the bookkeeping is deferred (rxd_rx_deferred()).   Returns false for other packets.
 */
static bool on_next(struct rxd_conn *conn, const struct rxd_pkt *pkt, struct rxd_meta meta,
		     uint64_t now)
{
	struct rxd_poller *poller = rxd_conn_poller(conn);
	struct rxd_pkt *deferred = &poller->deferred_pkt;

	if (!is_next(conn, pkt, meta) || !deliver_short(conn, pkt->data, pkt->len))
		return false;
	rxd_ranges_next(&conn->pns);
	conn->largest_ns = now;
	count_mark(conn, meta.ecn);
	if (pkt->flags & RXD_F_NOW)
		conn->ack_now = true;
	ack_later(conn, now);
	deferred->flags = pkt->flags;
	deferred->len = pkt->len;
	deferred->ack = pkt->ack;
	poller->deferred = conn;
	poller->deferred_ns = now;
	if (rxd_rx_ack_due(conn, now))
		rxd_rx_deferred(poller);
	return true;
}

void rxd_on_data(struct rxd_conn *conn, const struct rxd_pkt *pkt, struct rxd_meta meta,
		 uint64_t now)
{
	struct rxd_conn *main;

	if (on_next(conn, pkt, meta, now))
		return;
	main = rxd_main_of(conn);
	if (!(__builtin_expect(conn == main, 1) ? on_any(conn, pkt, now) : on_any_of_rail(conn, main, pkt, now)))
		return;
	if (pkt->flags & RXD_F_PN) {
		rxd_rx_count(main, pkt->len, now);
		if (is_known(conn, pkt->pn)) {
			conn->ack_now = true;
		} else {
			if (!(pkt->flags & RXD_F_PAD) && on_stream(main, pkt->off, pkt->data, pkt->len))
				return;
			if (!rxd_conn_alive(conn) || !rxd_conn_alive(main))
				return;
			record_number(conn, pkt, meta, now);
		}
		ack_later(conn, now);
		if (main->ended && !rxd_conn_link(conn)->base.closing) {
			stream_ended(conn, main, now);
			return;
		}
	}
	if (__builtin_expect(conn == main, 1))
		after_data(conn, now);
	else
		after_rail_data(conn, main, now);
}

int rxd_rx_resume(struct rxd_conn *conn, uint64_t now)
{
	uint64_t was = conn->rcv_nxt;

	conn->is_paused = false;
	if (conn->partial_len)
		head_part(conn, NULL, 0);
	if (rxd_conn_alive(conn) && !conn->is_paused)
		reordered_drain(conn);
	if (!rxd_conn_alive(conn))
		return 1;
	rxd_rx_open_window(conn);
	if (conn->ack_now)
		rxd_conn_schedule(conn);
	if (conn->ended && !rxd_conn_link(conn)->base.closing)
		stream_ended(conn, conn, now);
	return conn->rcv_nxt != was || !conn->is_paused;
}

void rxd_rx_drop(struct rxd_conn *conn, int err)
{
	struct rxd_body *body = conn->body;
	void *cookie = NULL;

	while (!list_empty(&conn->reordered))
		reordered_free(conn, reordered_of(conn->reordered.next));
	free(conn->partial);
	conn->partial = NULL;
	conn->partial_len = 0;
	rxd_ranges_fini(&conn->pns);
	conn->body = NULL;
	if (body) {
		cookie = body->cookie;
		if (body->hold)
			chan_hold_lost(body->hold, err);
		body_free(conn, body);
	}
	if (cookie)
		eng_on_placed(&conn->chan.link->base, cookie, -err);
}

bool rxd_rx_unplace(struct eng_link *link, struct eng_peer *peer, void *cookie)
{
	struct chan *chan = eng_peer_chan(peer);
	struct rxd_body *body = container_of(chan, struct rxd_conn, chan)->body;

	if (!body || body->cookie != cookie)
		return false;
	body->iov_cnt = 0;
	return true;
}

/* ---- payload of unexpected packets -------------------------------------------------- */

static void copy_span(const struct chan_hold *hold, const struct iovec *iov, size_t cnt,
		      uint64_t start, uint64_t lo, uint64_t hi)
{
	iov_scatter(iov, cnt, (size_t) (lo - start), hold->data + (lo - start), (size_t) (hi - lo));
}

/* What has arrived is copied, the rest will be placed where it belongs. */
static int body_take(struct chan_hold *hold, const struct iovec *iov, size_t iov_cnt, void *cookie)
{
	struct rxd_conn *conn = hold->source;
	struct rxd_body *body = conn->body;
	uint32_t i;

	copy_span(hold, iov, iov_cnt, body->start, body->start, conn->rcv_nxt);
	for (i = 0; i < body->got.cnt; i++)
		copy_span(hold, iov, iov_cnt, body->start, body->got.span[i].lo,
			  body->got.span[i].hi);
	body->hold = NULL;
	body->cookie = cookie;
	memcpy(body->iov, iov, iov_cnt * sizeof(*iov));
	body->iov_cnt = iov_cnt;
	return 0;
}

static void body_dismiss(struct chan_hold *hold)
{
	struct rxd_conn *conn = hold->source;

	conn->body->hold = NULL;
	conn->body->iov_cnt = 0;
}

static const struct chan_hold_ops hold_ops = { .take = body_take, .release = body_dismiss };

void *rxd_rx_hold(struct eng_link *base, struct eng_peer *peer, const struct eng_rx *rx)
{
	struct rxd_poller *poller = rxd_link_poller(rxd_link_of(chan_link_of(base)));

	poller->held = chan_hold_new(&poller->base.holds, sizeof(struct chan_hold), rx, false,
				     &hold_ops);
	return poller->held;
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Receiving: packets are offered to the engine, and their payload goes to the destination that it names.
 * read.c reads the sockets.
 *
 * A striped payload is received by each lane into its part of the destination.  Until all parts
 * are complete, the first lane reads nothing else.
 */
#include <assert.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>

#include "base/iov.h"
#include "channel/stripe.h"
#include "link.h"
#include "secure/channel.h"

#define RX_LEAST (TCP_FRAME_SIZE + ENG_HDR_MAX + SEC_RECORD_MAX)	/* a stash, and a record behind it */

/* ---- payload of one packet --------------------------------------------------- */

uint8_t *tcp_rx_alloc(const struct tcp_poller *poller)
{
	size_t size = (size_t) poller->conf->rbuf_size;

	return malloc(size > RX_LEAST ? size : RX_LEAST);
}

/* resume_first - all parts are complete: the first lane reads on. */
static void resume_first(struct tcp_conn *conn)
{
	bool masked = conn->rx.masked;

	conn->rx.masked = false;	/* may be set beside @kept */
	if (conn->rx.kept || tcp_sec_has_input(conn)) {
		tcp_conn_pause(conn);
		if (!conn->rx.kept)
			chan_poller_resume_next(&conn->poller->base);
		chan_poller_kick(&conn->poller->base);
	} else if (masked) {
		tcp_conn_watch(conn);
	}
}

/* body_end - the payload is complete. */
static void body_end(struct tcp_conn *conn)
{
	int err = conn->rx.fault ? FI_EFAULT : 0;

	conn->rx.body = TCP_BODY_NONE;
	conn->rx.fault = false;
	chan_sink_end(&conn->rx.sink, &conn->link->base.base, err);
}

void tcp_rx_part_end(struct tcp_conn *conn)
{
	struct tcp_conn *first = tcp_conn_first(conn);

	if (tcp_rx_striped(conn)) {
		conn->rx.body = conn == first ? TCP_BODY_OTHERS : TCP_BODY_NONE;
		if (--first->lanes->base.rx_parts)
			return;
	}
	body_end(first);
	if (conn != first && first->state == TCP_CONN_READY)
		resume_first(first);
}

void tcp_rx_advance(struct tcp_rx *rx, size_t len)
{
	struct iovec *iov;
	size_t part;

	rx->left -= len;
	while (len) {
		iov = &rx->iov[rx->iov_cur];
		part = len < iov->iov_len ? len : iov->iov_len;
		iov->iov_base = iov_at(iov, part);
		iov->iov_len -= part;
		len -= part;
		if (!iov->iov_len)
			rx->iov_cur++;
	}
	while (rx->iov_cur < rx->iov_cnt && !rx->iov[rx->iov_cur].iov_len)
		rx->iov_cur++;
	if (rx->iov_cur == rx->iov_cnt)
		rx->body = TCP_BODY_SKIP;	/* the rest, if any, has no destination */
}

/* set_place - the destination of the next @left bytes is @iov from @off on. */
static void set_place(struct tcp_rx *rx, const struct iovec *iov, size_t iov_cnt, size_t off,
		      size_t left)
{
	rx->left = left;
	rx->iov_cur = 0;
	rx->iov_cnt = iov_slice(iov, iov_cnt, off, left, rx->iov);
	rx->body = rx->iov_cnt ? TCP_BODY_PLACE : TCP_BODY_SKIP;
}

bool tcp_rx_unplace(struct eng_link *link, struct eng_peer *peer, void *cookie)
{
	struct chan *chan = eng_peer_chan(peer);
	struct tcp_conn *conn = chan->conn;
	unsigned i;

	if (!conn || conn->rx.sink.cookie != cookie)
		return false;
	if (conn->rx.body == TCP_BODY_PLACE)
		conn->rx.body = TCP_BODY_SKIP;
	for (i = 1; tcp_rx_striped(conn) && i < conn->lanes->base.cnt; i++)
		if (tcp_lane(conn->lanes, i)->rx.body == TCP_BODY_PLACE)
			tcp_lane(conn->lanes, i)->rx.body = TCP_BODY_SKIP;
	return true;
}

/* set_parts - set the destinations of the further lanes' parts of a striped payload. */
static void set_parts(struct tcp_lanes *lanes, size_t len, const struct iovec *iov, size_t iov_cnt)
{
	size_t off, part;
	struct tcp_conn *lane;
	unsigned i;

	lanes->base.rx_parts = lanes->base.cnt;
	for (i = 1; i < lanes->base.cnt; i++) {
		lane = tcp_lane(lanes, i);
		part = chan_path_part(&lanes->base, len, i, &off);
		set_place(&lane->rx, iov, iov_cnt, off, part);
		if (lane->rx.masked) {
			lane->rx.masked = false;
			tcp_conn_watch(lane);
		}
	}
}

/* body_begin - the engine has named the destination of a payload whose beginning is in @in;
 * without @iov it is dropped.  Returns with body NONE if the payload is complete.
 * @mine: bytes of it that arrive over @conn: all, unless it is striped
 */
static void body_begin(struct tcp_conn *conn, const struct eng_rx *in, size_t mine,
		       const struct iovec *iov, size_t iov_cnt)
{
	struct tcp_rx *rx = &conn->rx;
	size_t copied;

	if (mine < in->len)
		set_parts(conn->lanes, in->len, iov, iov_cnt);
	set_place(rx, iov, iov_cnt, 0, mine);
	copied = iov_scatter(rx->iov, rx->iov_cnt, 0, in->data, in->avail);
	tcp_rx_advance(rx, copied);
	rx->left -= in->avail - copied;
	if (!rx->left)
		tcp_rx_part_end(conn);
}

/* ---- packets --------------------------------------------------------------- */

void tcp_rx_keep(struct tcp_conn *conn, uint8_t *buf, size_t pos, size_t end)
{
	struct tcp_poller *poller = conn->poller;

	if (!conn->rx.kept) {
		conn->rx.kept = buf;
		poller->rx = tcp_rx_alloc(poller);
		tcp_conn_inactive(conn);
		tcp_conn_watch(conn);
	}
	conn->rx.kept_pos = pos;
	conn->rx.kept_end = end;
	if (conn->rx.body == TCP_BODY_NONE)
		tcp_conn_pause(conn);
}

/* leave_begin - an unexpected payload has been found. */
static void leave_begin(struct tcp_conn *conn)
{
	conn->rx.left_seq = conn->poller->base.seq;
	conn->rx.left_pulled = conn->poller->base.pulled;
	conn->rx.left_cnt = 0;
}

void tcp_rx_refuse(struct tcp_conn *conn, const char *what)
{
	char text[NET_ADDR_TEXT_MAX];

	TCP_WARN_SPARSE(conn->link->conf,
			"%s sent %s: the connection is closed, its operations end with an error\n",
			net_addr_text(&conn->peer.sa, text), what);
	tcp_conn_fail(conn, FI_EPROTO, false);
}

bool tcp_rx_offer(struct tcp_conn *conn, struct eng_rx *rx, size_t mine)
{
	struct tcp_poller *poller = conn->poller;
	enum eng_rx_verdict verdict;

	if (conn->link->conf->trace)
		FI_TRACE(conn->link->conf->prov, FI_LOG_EP_DATA,
			 "received a packet, %zu bytes of header and %zu of payload\n",
			 rx->hdr_len, rx->len);
	poller->held = NULL;
	if (conn->link->base.closing) {
		body_begin(conn, rx, mine, NULL, 0);
		return true;
	}
	poller->offering = conn;
	verdict = eng_on_packet(&conn->link->base.base, chan_peer(&conn->chan->base), rx);
	poller->offering = NULL;
	if (conn->state != TCP_CONN_READY)
		return false;
	switch (verdict) {
	case ENG_RX_DONE:
		if (rx->avail < rx->len)
			body_begin(conn, rx, mine, NULL, 0);
		return true;
	case ENG_RX_PLACE:
		conn->rx.sink.cookie = rx->cookie;
		body_begin(conn, rx, mine, rx->iov, rx->iov_cnt);
		return conn->state == TCP_CONN_READY;
	case ENG_RX_HELD:
		assert(poller->held && "ENG_RX_HELD comes after hold()");
		if (rx->avail < rx->len) {
			struct iovec iov = { poller->held->data, rx->len };

			conn->rx.sink.hold = poller->held;
			leave_begin(conn);
			poller->held->source = conn;
			body_begin(conn, rx, mine, &iov, 1);
		}
		return true;
	case ENG_RX_LATER:
		return false;
	case ENG_RX_OVER:
		tcp_conn_fail(conn, FI_EOVERRUN, false);
		return false;
	default:
		tcp_rx_refuse(conn, "a malformed packet");
		return false;
	}
}

/* ---- for the compatible format -------------------------------------------------- */

void tcp_rx_wait(struct tcp_conn *conn, uint8_t *buf, size_t pos, size_t end)
{
	conn->rx.body = TCP_BODY_OTHERS;
	if (pos < end)
		tcp_rx_keep(conn, buf, pos, end);
}

void tcp_rx_go_on(struct tcp_conn *conn)
{
	if (conn->rx.body != TCP_BODY_OTHERS)
		return;
	conn->rx.body = TCP_BODY_NONE;
	resume_first(conn);
}

void tcp_rx_skip(struct tcp_conn *conn, uint64_t len)
{
	set_place(&conn->rx, NULL, 0, 0, len);
}

size_t tcp_rx_skipped(struct tcp_conn *conn, size_t have)
{
	struct tcp_rx *rx = &conn->rx;
	size_t len = have < rx->left ? have : rx->left;

	if (rx->body != TCP_BODY_SKIP)
		return 0;
	rx->left -= len;
	if (!rx->left)
		body_end(conn);
	return len;
}

/* ---- payload kept for later ----------------------------------------------------- */

/* hold_move - of a payload that is still arriving, what is here goes to @iov, and the rest
 * will arrive there.
 */
static void hold_move(struct chan_hold *hold, const struct iovec *iov, size_t iov_cnt)
{
	struct tcp_conn *conn = hold->source, *lane;
	unsigned cnt = tcp_rx_striped(conn) ? conn->lanes->base.cnt : 1, i;
	size_t off, end = 0, got;

	for (i = 0; i < cnt; i++) {
		lane = i ? tcp_lane(conn->lanes, i) : conn;
		off = end;
		end = chan_stripe_at(hold->len, cnt, i + 1);
		got = end - off - lane->rx.left;
		iov_scatter(iov, iov_cnt, off, hold->data + off, got);
		if (lane->rx.left)
			set_place(&lane->rx, iov, iov_cnt, off + got, lane->rx.left);
	}
	conn->rx.sink.hold = NULL;
}

static int hold_take(struct chan_hold *hold, const struct iovec *iov, size_t iov_cnt, void *cookie)
{
	struct tcp_conn *conn = hold->source;

	hold_move(hold, iov, iov_cnt);
	conn->rx.sink.cookie = cookie;
	return 0;
}

static void hold_release(struct chan_hold *hold)
{
	hold_move(hold, NULL, 0);
}

void *tcp_rx_hold(struct tcp_poller *poller, const struct eng_rx *rx)
{
	static const struct chan_hold_ops ops = { .take = hold_take, .release = hold_release };
	struct eng_rx partial;

	assert(poller->offering && "hold() is called from eng_on_packet()");
	if (rx->avail < rx->len) {
		partial = *rx;
		partial.avail = 0;	/* body_begin() copies what is here */
		rx = &partial;
	}
	poller->held = chan_hold_new(&poller->base.holds, sizeof(struct chan_hold), rx, false, &ops);
	return poller->held;
}

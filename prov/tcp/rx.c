/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Receiving.  One read into the poller's buffer fetches as many packets as have arrived; they
 * are offered to the engine in that buffer.  Once the engine has named the destination of a
 * long payload, the rest of it is read straight into the destination, with a little room
 * behind for the headers that follow.  Between reads a connection keeps at most the beginning
 * of a header, and no buffer.
 *
 * After some unexpected messages a poll leaves the rest of the buffer to the next one: see
 * chan_poller_is_full().  A long unexpected payload stays in the socket while the program posts
 * receives: see leave_payload().
 *
 * A striped payload is read by each lane into its part of the destination.  Until all parts
 * are complete, the first lane reads nothing else.
 */
#include <assert.h>
#include <errno.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/iov.h"
#include "channel/stripe.h"
#include "net/io.h"
#include "frame.h"
#include "link.h"

#define AHEAD 4096		/* then so much is read ahead */
#define TAIL 1024		/* room behind a long payload that is read into place */
#define LEAVE_MIN (TCP_RX_LONG / 2)	/* fewer bytes of an unexpected payload are read at once */
#define LEAVE_MAX 16		/* polls that leave it: the packets behind it may have receives */

/* ---- payload of one packet --------------------------------------------------- */

static struct tcp_conn *first_of(struct tcp_conn *conn)
{
	return conn->first ? conn->first : conn;
}

/* striped - does @conn, whichever lane, read a part of a striped payload? */
static bool striped(struct tcp_conn *conn)
{
	const struct tcp_lanes *lanes = first_of(conn)->lanes;

	return __builtin_expect(lanes != NULL, 0) && lanes->rx_parts;
}

/* resume_first - all parts are complete: the first lane reads on. */
static void resume_first(struct tcp_conn *conn)
{
	bool masked = conn->rx.masked;

	conn->rx.masked = false;	/* may be set beside @kept */
	if (conn->rx.kept) {
		list_add_tail(&conn->state_node, &conn->poller->base.paused);
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
	if (__builtin_expect(conn->stream != NULL, 0))
		tcp_stream_taken(conn);
}

/* part_end - the part of the payload that arrives over @conn is complete. */
static void part_end(struct tcp_conn *conn)
{
	struct tcp_conn *first = first_of(conn);

	if (striped(conn)) {
		conn->rx.body = conn == first ? TCP_BODY_OTHERS : TCP_BODY_NONE;
		if (--first->lanes->rx_parts)
			return;
	}
	body_end(first);
	if (conn != first && first->state == TCP_CONN_READY)
		resume_first(first);
}

/* body_advance - @len further bytes are in place. */
static void body_advance(struct tcp_rx *rx, size_t len)
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
	for (i = 1; striped(conn) && i < conn->lanes->cnt; i++)
		if (conn->lanes->conn[i]->rx.body == TCP_BODY_PLACE)
			conn->lanes->conn[i]->rx.body = TCP_BODY_SKIP;
	return true;
}

/* set_parts - set the destinations of the further lanes' parts of a striped payload. */
static void set_parts(struct tcp_lanes *lanes, size_t len, const struct iovec *iov, size_t iov_cnt)
{
	size_t off = chan_stripe_at(len, lanes->cnt, 1), end;
	struct tcp_conn *lane;
	unsigned i;

	lanes->rx_parts = lanes->cnt;
	for (i = 1; i < lanes->cnt; i++, off = end) {
		lane = lanes->conn[i];
		end = chan_stripe_at(len, lanes->cnt, i + 1);
		set_place(&lane->rx, iov, iov_cnt, off, end - off);
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
	body_advance(rx, copied);
	rx->left -= in->avail - copied;
	if (!rx->left)
		part_end(conn);
}

/* ---- packets --------------------------------------------------------------- */

/* keep_buffer - the engine has no memory for the packet at @pos: it is offered again later, and
 * meanwhile nothing is read, which closes the sender's window.  Or the packet before is striped
 * and incomplete.
 */
static void keep_buffer(struct tcp_conn *conn, uint8_t *buf, size_t pos, size_t end)
{
	struct tcp_poller *poller = conn->poller;

	if (!conn->rx.kept) {
		conn->rx.kept = buf;
		poller->rx = malloc((size_t) poller->conf->rbuf_size);
		tcp_poller_deactivate(poller, conn);
		tcp_conn_watch(conn);
	}
	conn->rx.kept_pos = pos;
	conn->rx.kept_end = end;
	if (conn->rx.body == TCP_BODY_NONE)
		list_add_tail(&conn->state_node, &poller->base.paused);
}

/* leave_rest - a packet went the slow way: should those from @next on wait for the next poll? */
static bool leave_rest(struct tcp_conn *conn, const uint8_t *buf, size_t next, size_t end)
{
	struct tcp_poller *poller = conn->poller;

	if (!poller->held || buf != poller->rx)
		return false;
	chan_poller_unexpected(&poller->base, poller->held->len);
	if (!chan_poller_is_full(&poller->base) || next == end)
		return false;
	poller->rest = conn;
	poller->rest_pos = next;
	poller->rest_end = end;
	return true;
}

/* leave_begin - an unexpected payload has been found. */
static void leave_begin(struct tcp_conn *conn)
{
	conn->rx.left_seq = conn->poller->base.seq;
	conn->rx.left_pulled = conn->poller->base.pulled;
	conn->rx.left_cnt = 0;
}

/* leave_payload - may the rest of an unexpected payload stay in the socket until the next poll?
 * Yes in the poll that found it, and in some more while held messages meet receives: a program
 * that posts receives only as fast as messages arrive would else never catch up with those that
 * are held, and all that follow would be copied twice.
 */
static bool leave_payload(struct tcp_conn *conn)
{
	struct chan_poller *base = &conn->poller->base;
	struct tcp_rx *rx = &conn->rx;

	if (!rx->sink.hold || rx->left < LEAVE_MIN)
		return false;
	if (base->pulled != rx->left_pulled && rx->left_cnt < LEAVE_MAX) {
		rx->left_cnt++;
		rx->left_pulled = base->pulled;
		rx->left_seq = base->seq;
	}
	return base->seq == rx->left_seq;
}

static void refuse_packet(struct tcp_conn *conn, const char *what)
{
	char text[NET_ADDR_TEXT_MAX];

	TCP_WARN_SPARSE(conn->link->conf,
			"%s sent %s: the connection is closed, its operations end with an error\n",
			net_addr_text(&conn->peer.sa, text), what);
	tcp_conn_fail(conn, FI_EPROTO, false);
}

/* offer - offer one packet to the engine; @mine bytes of its payload arrive over this
 * connection.  Returns false when it stays where it is: try again later, or the connection is
 * lost.
 */
static bool offer(struct tcp_conn *conn, struct eng_rx *rx, size_t mine)
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
		refuse_packet(conn, "a malformed packet");
		return false;
	}
}

/* packet - offer the packet at @at, with @len bytes of payload, of which some may not have
 * arrived.  Returns how many of the @have bytes there it used, or 0, see offer().
 */
static __attribute__((noinline)) size_t packet(struct tcp_conn *conn, const uint8_t *at,
					       size_t have, size_t hdr_len, uint64_t len,
					       bool parts)
{
	size_t head = TCP_FRAME_SIZE + hdr_len;
	struct eng_rx rx;
	uint64_t mine = len;

	if (__builtin_expect(len >= TCP_STRIPE_MIN && conn->lanes, 0)) {
		tcp_lane_connect(conn);
		if (parts)
			mine = chan_stripe_at(len, conn->lanes->cnt, 1);
	}
	if (__builtin_expect(parts && !tcp_lane_all(conn, TCP_CONN_HELLO_SENT), 0)) {
		refuse_packet(conn, "a striped frame without the lanes for it");
		return 0;
	}
	rx.hdr = at + TCP_FRAME_SIZE;
	rx.hdr_len = hdr_len;
	rx.data = at + head;
	rx.len = len;
	rx.avail = have - head;
	if (rx.avail > mine)
		rx.avail = mine;
	conn->rx.big = len >= TCP_RX_LONG;
	return offer(conn, &rx, mine) ? head + rx.avail : 0;
}

/* short_packet - the fast path of packet(), for a short packet that is complete.  Returns 0 if
 * packet() has to handle it.
 */
static inline size_t short_packet(struct tcp_conn *conn, const uint8_t *at, size_t have,
				  size_t hdr_len, uint64_t len)
{
	const uint8_t *hdr = at + TCP_FRAME_SIZE;
	size_t head = TCP_FRAME_SIZE + hdr_len;

	if (len > have - head || len >= TCP_RX_LONG || conn->link->base.closing ||
	    conn->link->conf->trace || eng_on_fast(conn->chan, hdr, hdr_len, len) < ENG_FAST_DONE)
		return 0;
	conn->rx.big = false;
	return head + len;
}

/* on_ctl - a frame without a packet: @ctl, an enum tcp_wire_ctl; 0: it is invalid. */
static void on_ctl(struct tcp_conn *conn, unsigned ctl)
{
	int ret = ctl ? chan_park_on_ctl(&conn->park, (enum chan_park_ctl) (ctl - TCP_WIRE_PARK)) : -FI_EPROTO;

	if (ret == -FI_EPROTO)
		refuse_packet(conn, "a frame with impossible lengths");
	else if (ret)
		tcp_conn_fail(conn, -ret, false);
	else if (ctl == TCP_WIRE_PARK_NACK)
		tcp_tx_pump(conn);
}

/* no_packet - the @have bytes at @at are an incomplete header, a control frame, or invalid.
 * Returns how many bytes were used, or 0 if parse() has to end.
 */
static __attribute__((noinline)) size_t no_packet(struct tcp_conn *conn, const uint8_t *at,
						  size_t have, enum tcp_frame_verdict verdict)
{
	if (verdict == TCP_FRAME_MORE) {
		conn->rx.stash_len = have;
		memcpy(conn->rx.stash, at, have);
		return 0;
	}
	on_ctl(conn, tcp_frame_ctl(at, have));
	return conn->state == TCP_CONN_READY ? TCP_FRAME_SIZE : 0;
}

/* parse - offer the packets in @buf, the poller's buffer or the one that the connection kept. */
static void parse(struct tcp_conn *conn, uint8_t *buf, size_t pos, size_t end)
{
	enum tcp_frame_verdict verdict;
	size_t hdr_len = 0, used;
	uint64_t len = 0;
	bool parts = false;

	if (__builtin_expect(conn->stream != NULL, 0)) {
		tcp_stream_parse(conn, buf, pos, end);
		return;
	}
	for (; pos < end; pos += used) {
		if (__builtin_expect(conn->rx.body == TCP_BODY_OTHERS, 0)) {
			keep_buffer(conn, buf, pos, end);
			return;
		}
		verdict = tcp_frame_get(buf + pos, end - pos, conn->max_payload, &hdr_len, &len,
					&parts);
		if (__builtin_expect(verdict != TCP_FRAME_OK, 0)) {
			used = no_packet(conn, buf + pos, end - pos, verdict);
			if (!used)
				return;
			continue;
		}
		used = short_packet(conn, buf + pos, end - pos, hdr_len, len);
		if (__builtin_expect(!used, 0)) {
			used = packet(conn, buf + pos, end - pos, hdr_len, len, parts);
			if (used && leave_rest(conn, buf, pos + used, end))
				return;
		}
		if (__builtin_expect(conn->state != TCP_CONN_READY, 0))
			return;
		if (!used) {
			keep_buffer(conn, buf, pos, end);
			return;
		}
	}
}

/* ---- for the compatible format -------------------------------------------------- */

bool tcp_rx_offer(struct tcp_conn *conn, struct eng_rx *rx)
{
	return offer(conn, rx, rx->len);
}

void tcp_rx_keep(struct tcp_conn *conn, uint8_t *buf, size_t pos, size_t end)
{
	keep_buffer(conn, buf, pos, end);
}

void tcp_rx_wait(struct tcp_conn *conn, uint8_t *buf, size_t pos, size_t end)
{
	conn->rx.body = TCP_BODY_OTHERS;
	if (pos < end)
		keep_buffer(conn, buf, pos, end);
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

void tcp_rx_refuse(struct tcp_conn *conn, const char *what)
{
	refuse_packet(conn, what);
}

/* ---- reads ------------------------------------------------------------------ */

/* read_nothing - the end of the stream, or an error of the socket; or the destination cannot be written, and
 * the rest of the payload is dropped.
 */
static __attribute__((noinline)) void read_nothing(struct tcp_conn *conn, ssize_t ret)
{
	if (ret < 0 && errno == EFAULT && conn->rx.body == TCP_BODY_PLACE) {
		first_of(conn)->rx.fault = true;
		conn->rx.body = TCP_BODY_SKIP;
	} else if (!ret)
		tcp_conn_fail(conn, FI_ECONNRESET,
			      conn->rx.body == TCP_BODY_NONE && !conn->rx.stash_len);
	else if (errno != EINTR)
		tcp_conn_fail(conn, errno, false);
}

static inline ssize_t read_result(struct tcp_conn *conn, ssize_t ret)
{
	if (ret > 0)
		return ret;
	if (__builtin_expect(!ret || errno != EAGAIN, 0))
		read_nothing(conn, ret);
	return 0;
}

/* read_place - read payload into its destination, and what follows into the buffer. */
static __attribute__((noinline)) ssize_t read_place(struct tcp_conn *conn, size_t *asked_p)
{
	struct tcp_rx *rx = &conn->rx;
	struct iovec iov[ENG_IOV_MAX + 1];
	struct msghdr msg = { .msg_iov = iov };
	size_t cnt, room, tail = rx->big ? TAIL : (size_t) conn->poller->conf->rbuf_size;
	ssize_t ret;

	cnt = iov_slice(rx->iov + rx->iov_cur, rx->iov_cnt - rx->iov_cur, 0, rx->left, iov);
	room = iov_total(iov, cnt);
	*asked_p = room;
	if (room == rx->left && !striped(conn)) {
		iov[cnt++] = (struct iovec) { conn->poller->rx, tail };
		*asked_p += tail;
	}
	msg.msg_iovlen = cnt;
	ret = read_result(conn, net_io_recvmsg(conn->src.fd, &msg, MSG_DONTWAIT));
	if (ret <= 0)
		return ret;
	body_advance(rx, (size_t) ret < room ? (size_t) ret : room);
	if (!rx->left)
		part_end(conn);
	if ((size_t) ret > room && conn->state == TCP_CONN_READY)
		parse(conn, conn->poller->rx, 0, (size_t) ret - room);
	return ret;
}

/* read_ahead - read headers, short payload, and payload to be dropped. */
static inline ssize_t read_ahead(struct tcp_conn *conn, size_t *asked_p)
{
	struct tcp_rx *rx = &conn->rx;
	uint8_t *buf = conn->poller->rx;
	size_t room = (size_t) conn->poller->conf->rbuf_size, skip = 0;
	ssize_t ret;

	if (rx->stash_len)
		memcpy(buf, rx->stash, rx->stash_len);
	if (rx->big && rx->body == TCP_BODY_NONE)
		room = AHEAD;
	*asked_p = room - rx->stash_len;
	if (striped(conn) && *asked_p > rx->left)
		*asked_p = rx->left;
	ret = read_result(conn, net_io_recv(conn->src.fd, buf + rx->stash_len, *asked_p, MSG_DONTWAIT,
					  NULL, NULL));
	if (ret <= 0)
		return ret;
	if (rx->body == TCP_BODY_SKIP) {
		skip = (size_t) ret < rx->left ? (size_t) ret : rx->left;
		rx->left -= skip;
		if (rx->left)
			return ret;
		part_end(conn);
		if (conn->state != TCP_CONN_READY)
			return ret;
	}
	room = rx->stash_len + (size_t) ret;
	rx->stash_len = 0;
	parse(conn, buf, skip, room);
	return ret;
}

/* has_place - does the next input of @conn have a destination? */
static bool has_place(const struct tcp_conn *conn)
{
	return conn->first ? conn->rx.body != TCP_BODY_NONE : conn->rx.body != TCP_BODY_OTHERS;
}

static inline __attribute__((always_inline)) int read_lane(struct tcp_conn *conn, unsigned budget)
{
	struct tcp_poller *poller = conn->poller;
	bool faulted = false;
	size_t asked = 0;
	ssize_t ret;
	int done = 0;

	while (has_place(conn)) {
		if (!poller->rx)
			poller->rx = malloc((size_t) poller->conf->rbuf_size);
		if (!poller->rx)
			break;
		if (conn->rx.body == TCP_BODY_PLACE && leave_payload(conn))
			return done + 1;
		ret = conn->rx.body == TCP_BODY_PLACE ? read_place(conn, &asked)
						      : read_ahead(conn, &asked);
		if (ret <= 0 && first_of(conn)->rx.fault && conn->rx.body == TCP_BODY_SKIP && !faulted) {
			faulted = true;		/* its rest is still in the socket */
			continue;
		}
		if (ret <= 0)
			break;
		done++;
		if ((size_t) ret < asked || conn->state != TCP_CONN_READY || conn->rx.kept ||
		    poller->rest || (unsigned) done >= budget)
			break;
	}
	return done;
}

/* read_lanes - read the further lanes. */
static __attribute__((noinline)) int read_lanes(struct tcp_conn *conn, unsigned budget)
{
	struct tcp_conn *lane;
	int done = 0;
	unsigned i;

	for (i = 1; i < conn->lanes->cnt && conn->state == TCP_CONN_READY; i++) {
		lane = conn->lanes->conn[i];
		if (lane && lane->state == TCP_CONN_READY)
			done += read_lane(lane, budget);
	}
	return done;
}

int tcp_rx_read(struct tcp_conn *conn, unsigned budget)
{
	int done;

	if (__builtin_expect(conn->poller->rest != NULL, 0))
		return 0;
	done = read_lane(conn, budget);
	if (__builtin_expect(conn->lanes != NULL, 0))
		done += read_lanes(conn, budget);
	return done;
}

void tcp_rx_rest(struct tcp_poller *poller)
{
	struct tcp_conn *conn = poller->rest;

	poller->rest = NULL;
	if (conn->state == TCP_CONN_READY)
		parse(conn, poller->rx, poller->rest_pos, poller->rest_end);
}

int tcp_rx_resume(struct tcp_conn *conn)
{
	struct tcp_rx *rx = &conn->rx;
	size_t pos = rx->kept_pos, end = rx->kept_end;
	uint8_t *kept = rx->kept;

	rx->kept_pos = end;
	parse(conn, kept, pos, end);
	if (rx->kept_pos < end && conn->state == TCP_CONN_READY)
		return rx->kept_pos > pos;	/* refused again */
	if (rx->kept == kept) {
		free(kept);
		rx->kept = NULL;
	}
	if (conn->state == TCP_CONN_READY)
		tcp_conn_watch(conn);
	return 1;
}

/* ---- payload kept for later ----------------------------------------------------- */

/* move - of a payload that is still arriving, what is here goes to @iov, and the rest
 * will arrive there.
 */
static void move(struct chan_hold *hold, const struct iovec *iov, size_t iov_cnt)
{
	struct tcp_conn *conn = hold->source, *lane;
	unsigned cnt = striped(conn) ? conn->lanes->cnt : 1, i;
	size_t off, end = 0, got;

	for (i = 0; i < cnt; i++) {
		lane = i ? conn->lanes->conn[i] : conn;
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

	move(hold, iov, iov_cnt);
	conn->rx.sink.cookie = cookie;
	return 0;
}

static void hold_release(struct chan_hold *hold)
{
	move(hold, NULL, 0);
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

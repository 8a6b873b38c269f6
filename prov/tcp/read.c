/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Reading.  One read into the poller's buffer fetches as many packets as have arrived; they
 * are offered to the engine in that buffer.  Once the engine has named the destination of a
 * long payload, the rest of it is read straight into the destination, with a little room
 * behind for the headers that follow.  Between reads a connection keeps at most the beginning
 * of a header, and no buffer.
 *
 * After some unexpected messages a poll leaves the rest of the buffer to the next one: see
 * chan_poller_is_full().  A long unexpected payload stays in the socket while the program posts
 * receives: see leave_payload().
 */
#include <errno.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/iov.h"
#include "channel/stripe.h"
#include "net/io.h"
#include "frame.h"
#include "secure/channel.h"
#include "types.h"

#define AHEAD 4096		/* after a long packet so much is read ahead */
#define TAIL 1024		/* room behind a long payload that is read into place */
#define LEAVE_MIN (TCP_RX_LONG / 2)	/* fewer bytes of an unexpected payload are read at once */
#define LEAVE_MAX 16		/* polls that leave it: the packets behind it may have receives */

/* ---- packets --------------------------------------------------------------- */

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
	poller->rx_slow = true;
	poller->rest_pos = next;
	poller->rest_end = end;
	return true;
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

/* rx_packet - offer the packet at @at, with @len bytes of payload, of which some may not have
 * arrived.  Returns how many of the @have bytes there it used, or 0, see tcp_rx_offer().
 */
static __attribute__((noinline)) size_t rx_packet(struct tcp_conn *conn, const uint8_t *at,
						  size_t have, size_t hdr_len, uint64_t len,
						  bool parts)
{
	size_t head = TCP_FRAME_SIZE + hdr_len;
	struct eng_rx rx;
	uint64_t mine = len;

	if (__builtin_expect(len >= TCP_STRIPE_MIN && conn->lanes, 0)) {
		tcp_lanes_want(conn);
		if (parts)
			mine = chan_stripe_at(len, conn->lanes->base.cnt, 1);
	}
	if (__builtin_expect(parts && !tcp_lanes_are(conn, TCP_CONN_HELLO_SENT), 0)) {
		tcp_rx_refuse(conn, "a striped frame without the lanes for it");
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
	return tcp_rx_offer(conn, &rx, mine) ? head + rx.avail : 0;
}

/* short_packet - the fast path of rx_packet(), for a short packet that is complete.  Returns 0 if
 * rx_packet() has to handle it.
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
	int ret = ctl && !conn->rec ? chan_park_on_ctl(&conn->park, (enum chan_park_ctl) (ctl - TCP_WIRE_PARK)) : -FI_EPROTO;

	if (ret == -FI_EPROTO)
		tcp_rx_refuse(conn, "a frame with impossible lengths");
	else if (ret)
		tcp_conn_fail(conn, -ret, false);
	else if (ctl == TCP_WIRE_PARK_NACK)
		tcp_tx_pump(conn);
}

/* no_packet - the @have bytes at @at are an incomplete header, a control frame, or invalid.
 * Returns how many bytes were used, or 0 if rx_parse() has to end.
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

/* rx_parse - offer the packets in @buf, the poller's buffer or the one that the connection kept. */
static void rx_parse(struct tcp_conn *conn, uint8_t *buf, size_t pos, size_t end)
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
			tcp_rx_keep(conn, buf, pos, end);
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
			used = rx_packet(conn, buf + pos, end - pos, hdr_len, len, parts);
			if (used && leave_rest(conn, buf, pos + used, end))
				return;
		}
		if (__builtin_expect(conn->state != TCP_CONN_READY, 0))
			return;
		if (!used) {
			tcp_rx_keep(conn, buf, pos, end);
			return;
		}
	}
}

/* ---- reads ------------------------------------------------------------------ */

/* read_nothing - the end of the stream, or an error of the socket; or the destination cannot be written, and
 * the rest of the payload is dropped.
 */
static __attribute__((noinline)) void read_nothing(struct tcp_conn *conn, ssize_t ret)
{
	if (ret < 0 && errno == EFAULT && conn->rx.body == TCP_BODY_PLACE) {
		tcp_conn_first(conn)->rx.fault = true;
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

/* end_part - the part of the payload that arrives over @conn is complete. */
static void end_part(struct tcp_conn *conn)
{
	tcp_rx_part_end(conn);
	if (__builtin_expect(conn->stream != NULL, 0) && conn->rx.body == TCP_BODY_NONE)
		tcp_stream_taken(conn);
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
	if (room == rx->left && !tcp_rx_striped(conn)) {
		iov[cnt++] = (struct iovec) { conn->poller->rx, tail };
		*asked_p += tail;
	}
	msg.msg_iovlen = cnt;
	ret = read_result(conn, net_io_recvmsg(conn->src.fd, &msg, MSG_DONTWAIT));
	if (ret <= 0)
		return ret;
	tcp_rx_advance(rx, (size_t) ret < room ? (size_t) ret : room);
	if (!rx->left)
		end_part(conn);
	if ((size_t) ret > room && conn->state == TCP_CONN_READY)
		rx_parse(conn, conn->poller->rx, 0, (size_t) ret - room);
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
	if (tcp_rx_striped(conn) && *asked_p > rx->left)
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
		end_part(conn);
		if (conn->state != TCP_CONN_READY)
			return ret;
	}
	room = rx->stash_len + (size_t) ret;
	rx->stash_len = 0;
	rx_parse(conn, buf, skip, room);
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
			poller->rx = tcp_rx_alloc(poller);
		if (!poller->rx)
			break;
		if (conn->rx.body == TCP_BODY_PLACE && leave_payload(conn))
			return done + 1;
		ret = conn->rx.body == TCP_BODY_PLACE ? read_place(conn, &asked)
						      : read_ahead(conn, &asked);
		if (ret <= 0 && tcp_conn_first(conn)->rx.fault && conn->rx.body == TCP_BODY_SKIP && !faulted) {
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

	for (i = 1; i < conn->lanes->base.cnt && conn->state == TCP_CONN_READY; i++) {
		lane = tcp_lane(conn->lanes, i);
		if (lane && lane->state == TCP_CONN_READY)
			done += read_lane(lane, budget);
	}
	return done;
}

/* ---- protected connections --------------------------------------------------- */

/* feed_body - the bytes of the payload that is being received, in poller->rx.  Returns how many. */
static size_t feed_body(struct tcp_conn *conn, size_t have)
{
	struct tcp_rx *rx = &conn->rx;
	size_t len = have < rx->left ? have : rx->left, copied = 0;

	if (rx->body == TCP_BODY_PLACE) {
		copied = iov_scatter(rx->iov + rx->iov_cur, rx->iov_cnt - rx->iov_cur, 0, conn->poller->rx, len);
		tcp_rx_advance(rx, copied);
	}
	rx->left -= len - copied;
	if (!rx->left)
		end_part(conn);
	return len;
}

/* feed_plain - the plain bytes in poller->rx, @end of them, are the next of the stream. */
static void feed_plain(struct tcp_conn *conn, size_t end)
{
	bool in_body = conn->rx.body == TCP_BODY_PLACE || conn->rx.body == TCP_BODY_SKIP;
	size_t pos = in_body ? feed_body(conn, end) : 0;

	if (pos == end || conn->state != TCP_CONN_READY)
		return;
	if (conn->first)
		tcp_rx_refuse(conn, "bytes behind the part of a lane");
	else
		rx_parse(conn, conn->poller->rx, pos, end);
}

/* open_place - where the next plain bytes may be opened to before the tag is known to be right: the rest of a posted
 * receive that takes all of them, whose operation ends in an error where it is not, or of a message that is held.
 * What else has a target - a write, a read, an atomic - is opened in the poller's buffer.  At auth nothing is written
 * before.  What has no tag, of a connection that recovers, goes where it belongs.
 * Returns how many entries of @place there are.
 */
static size_t open_place(struct tcp_conn *conn, struct iovec place[ENG_IOV_MAX])
{
	const struct chan_sink *sink = &tcp_conn_first(conn)->rx.sink;
	const struct tcp_rx *rx = &conn->rx;
	size_t cnt;

	if (rx->body != TCP_BODY_PLACE)
		return 0;
	if (conn->rec)
		return iov_slice(rx->iov + rx->iov_cur, rx->iov_cnt - rx->iov_cur, 0, rx->left, place);
	if (tcp_sec_level(conn) == SEC_ENCRYPT && !sink->hold && !eng_is_receive(sink->cookie))
		return 0;
	cnt = iov_slice(rx->iov + rx->iov_cur, rx->iov_cnt - rx->iov_cur, 0, rx->left, place);
	return iov_total(place, cnt) == rx->left ? cnt : 0;
}

/* feed_placed - of @len plain bytes the first are the next of the payload, and in place. */
static void feed_placed(struct tcp_conn *conn, size_t len)
{
	struct tcp_rx *rx = &conn->rx;
	size_t placed = len < rx->left ? len : rx->left;

	tcp_rx_advance(rx, placed);
	if (!rx->left)
		end_part(conn);
	feed_plain(conn, len - placed);
}

/* take_stream - the next bytes of a connection that recovers, to @place or, where that is empty, to @buf. */
static size_t take_stream(struct tcp_conn *conn, const struct iovec *place, size_t cnt, uint8_t *buf)
{
	size_t len = 0, part = 0, i;

	if (!cnt)
		return tcp_recover_take(conn, buf, SEC_RECORD_MAX);
	for (i = 0; i < cnt && (!i || part == place[i - 1].iov_len); i++) {
		part = tcp_recover_take(conn, place[i].iov_base, place[i].iov_len);
		len += part;
	}
	return len;
}

/* may_open - can plain bytes be handed on now? */
static bool may_open(const struct tcp_conn *conn)
{
	return conn->state == TCP_CONN_READY && !conn->rx.kept && !conn->poller->rest && has_place(conn);
}

/* open_record - hand on the bytes of the record that is kept.  False: it is incomplete, or none. */
static bool open_record(struct tcp_conn *conn)
{
	size_t stash = conn->rx.stash_len, len = 0, cnt;
	struct tcp_poller *poller = conn->poller;
	struct iovec place[ENG_IOV_MAX];
	enum tcp_sec_took took;

	if (!poller->rx)
		poller->rx = tcp_rx_alloc(poller);
	if (!poller->rx) {
		tcp_conn_pause(conn);	/* without memory: later */
		return false;
	}
	cnt = open_place(conn, place);
	if (conn->rec) {
		len = take_stream(conn, place, cnt, poller->rx + stash);
		took = len ? TCP_SEC_TAKEN : TCP_SEC_MORE;
	} else {
		took = tcp_sec_take(conn, place, cnt, poller->rx + stash, &len);
	}
	if (took == TCP_SEC_TAKEN && cnt && len) {
		feed_placed(conn, len);
	} else if (took == TCP_SEC_TAKEN) {
		memcpy(poller->rx, conn->rx.stash, stash);
		conn->rx.stash_len = 0;
		feed_plain(conn, stash + len);
	} else if (took != TCP_SEC_MORE) {
		tcp_rx_refuse(conn, took == TCP_SEC_NO_RECORD ? "bytes that are no sealed record" :
			      "a record that was altered, repeated, left out or sealed by another");
	}
	return took == TCP_SEC_TAKEN;
}

static void open_records(struct tcp_conn *conn)
{
	while (may_open(conn) && open_record(conn))
		;
}

/* sealed_ended - an end that is not sealed is a loss. */
static void sealed_ended(struct tcp_conn *conn)
{
	char text[NET_ADDR_TEXT_MAX];
	bool ended = tcp_sec_ended(conn);

	if (!ended)
		TCP_INFO(conn->link->conf, "%s: the stream ended without a sealed end: its process died, or the "
			 "connection was cut on the way\n", net_addr_text(&conn->peer.sa, text));
	tcp_conn_fail(conn, FI_ECONNRESET, ended && conn->rx.body == TCP_BODY_NONE && !conn->rx.stash_len &&
					   !tcp_sec_has_input(conn));
}

static ssize_t read_more(struct tcp_conn *conn, size_t *asked_p)
{
	ssize_t ret = tcp_sec_more(conn, asked_p);

	if (!ret)
		sealed_ended(conn);
	else if (ret < 0 && errno != EAGAIN && errno != EINTR)
		tcp_conn_fail(conn, errno, false);
	return ret;
}

/* read_sealed - read_lane() of a connection that is protected. */
static int read_sealed(struct tcp_conn *conn, unsigned budget)
{
	size_t asked = 0;
	ssize_t ret;
	int done = 0;

	open_records(conn);
	if (conn->rec) {
		tcp_recover_taken(conn);
		return 1;
	}
	while (conn->poller->rx && may_open(conn) && (unsigned) done < budget) {
		if (conn->rx.body == TCP_BODY_PLACE && leave_payload(conn))
			return done + 1;
		ret = read_more(conn, &asked);
		if (ret <= 0)
			break;
		done++;
		open_records(conn);
		if ((size_t) ret < asked)
			break;
	}
	return done;
}

/* read_all_sealed - the same with its further lanes. */
static int read_all_sealed(struct tcp_conn *conn, unsigned budget)
{
	int done = read_sealed(conn, budget);
	struct tcp_conn *lane;
	unsigned i;

	for (i = 1; conn->lanes && i < conn->lanes->base.cnt && conn->state == TCP_CONN_READY; i++) {
		lane = tcp_lane(conn->lanes, i);
		if (lane && lane->state == TCP_CONN_READY)
			done += read_sealed(lane, budget);
	}
	return done;
}

/* resume_sealed - the records behind what was kept. */
static int resume_sealed(struct tcp_conn *conn)
{
	int done;

	if (conn->poller->rest) {
		tcp_conn_pause(conn);
		return 0;
	}
	done = read_sealed(conn, OBJ_POLL_BUDGET);
	if (conn->state == TCP_CONN_READY && !conn->rx.kept)
		tcp_conn_watch(conn);
	return done;
}

/* ---- a connection ------------------------------------------------------------------ */

/* read_slow - tcp_rx_read() of a poller that has packets left, or protects connections. */
static __attribute__((noinline)) int read_slow(struct tcp_conn *conn, unsigned budget)
{
	int done;

	if (conn->poller->rest)
		return 0;
	if (conn->rec)
		return tcp_recover_read(conn);
	if (conn->sec)
		return read_all_sealed(conn, budget);
	done = read_lane(conn, budget);
	return conn->lanes ? done + read_lanes(conn, budget) : done;
}

int tcp_rx_read(struct tcp_conn *conn, unsigned budget)
{
	int done;

	if (__builtin_expect(conn->poller->rx_slow, 0))
		return read_slow(conn, budget);
	done = read_lane(conn, budget);
	if (__builtin_expect(conn->lanes != NULL, 0))
		done += read_lanes(conn, budget);
	return done;
}

void tcp_rx_packets(struct tcp_conn *conn, size_t pos, size_t end)
{
	rx_parse(conn, conn->poller->rx, pos, end);
}

size_t tcp_rx_place(struct tcp_conn *conn, struct iovec iov[ENG_IOV_MAX])
{
	return may_open(conn) ? open_place(conn, iov) : 0;
}

void tcp_rx_placed(struct tcp_conn *conn, size_t len)
{
	feed_placed(conn, len);
}

void tcp_rx_rest(struct tcp_poller *poller)
{
	struct tcp_conn *conn = poller->rest;

	tcp_rx_rest_end(poller);
	if (conn->state == TCP_CONN_READY)
		rx_parse(conn, poller->rx, poller->rest_pos, poller->rest_end);
	if ((conn->sec || conn->rec) && !poller->rest)
		read_sealed(conn, OBJ_POLL_BUDGET);
}

int tcp_rx_resume(struct tcp_conn *conn)
{
	struct tcp_rx *rx = &conn->rx;
	size_t pos = rx->kept_pos, end = rx->kept_end;
	uint8_t *kept = rx->kept;

	if (!kept)
		return resume_sealed(conn);
	rx->kept_pos = end;
	rx_parse(conn, kept, pos, end);
	if (rx->kept_pos < end && conn->state == TCP_CONN_READY)
		return rx->kept_pos > pos;	/* refused again */
	if (rx->kept == kept) {
		free(kept);
		rx->kept = NULL;
	}
	if (conn->state == TCP_CONN_READY)
		tcp_conn_watch(conn);
	if (conn->state == TCP_CONN_READY && !rx->kept &&
	    (tcp_sec_has_input(conn) || tcp_recover_has_input(conn)))
		resume_sealed(conn);
	return 1;
}

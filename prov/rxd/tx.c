/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Sending.  Datagrams are cut from the stream as path MTU, flow control, congestion window and
 * pacing allow.  Bytes to be retransmitted come first (next_range()); retransmit.c decides
 * which these are.
 */
#include <assert.h>
#include <rdma/fi_errno.h>
#include <string.h>

#include "base/iov.h"
#include "conn.h"

#define GATHER_MAX 1024			/* payloads up to this are copied behind the packet header */
#define PIECES_MAX 8			/* that are copied together */
#define HEAD_SMALL 256			/* a first piece up to this is copied, too */
#define IDLE_TRIPS 4			/* RTTs without traffic that reset the congestion window */

/* ---- one datagram ---------------------------------------------------------------- */

static void packet_sent(struct rxd_conn *conn, const struct rxd_sent *sent)
{
	uint64_t now = sent->sent_ns;

	rxd_loss_on_sent(&conn->loss, sent);
	if (sent->ect)
		rxd_ecn_sent(&conn->ecn);
	if (!conn->unanswered_ns)
		conn->unanswered_ns = now;
	if (!sent->pad)
		rxd_cc_paced(&conn->cc, now, sent->size, rxd_rtt_pace(&conn->rtt));
}

/* packet_begin - the packet header, with an ACK if one is pending.  Returns the length so far. */
static size_t packet_begin(struct rxd_conn *conn, uint8_t *head, uint8_t flags, uint64_t pn, uint64_t now)
{
	size_t at = sizeof(struct rxd_hdr), end = at;

	if (conn->ack_cnt || conn->ack_now) {
		if (__builtin_expect(conn->chan.paths != NULL, 0))
			rxd_rails_limit(conn);
		end = rxd_rx_put_ack(conn, head, at, now);
	}
	if (end > at)
		flags |= RXD_F_ACK;
	if (conn->guarded)
		flags |= RXD_F_SUM;
	rxd_put_hdr(head, RXD_DATA, flags, conn->peer_cid, pn);
	return end;
}

static void ack_sent(struct rxd_conn *conn)
{
	conn->ack_cnt = 0;
	conn->ack_now = false;
}

/* packet_cover - the checksum of a packet, over @at bytes of its first piece, and over the others if it is guarded; or it
 * is sealed, and @iov has become that.   @first: of a burst
 * Returns true when nothing can be added to this burst.
 */
static inline bool packet_cover(struct rxd_conn *conn, struct iovec *iov, size_t *cnt_p, size_t at, bool first)
{
	if (__builtin_expect(!conn->guarded, 1))
		rxd_seal(iov->iov_base, at, NULL, 0);
	else if (!conn->sealed)
		rxd_seal(iov->iov_base, iov->iov_len, iov + 1, *cnt_p - 1);
	else
		return rxd_sec_cover(conn, iov, cnt_p, first);
	return false;
}

static int packet_transmit(struct rxd_conn *conn, struct iovec *iov, size_t cnt)
{
	int ret;

	packet_cover(conn, iov, &cnt, iov->iov_len, true);
	if (!cnt)
		return 0;	/* it cannot be sealed: the connection has failed */
	ret = rxd_dg_send(rxd_conn_dg(conn), conn->to, iov, cnt);
	return ret == -FI_EAGAIN || ret == -FI_EMSGSIZE ? ret : 0;	/* else: a lost datagram */
}

static void too_long(struct rxd_conn *conn, size_t size)
{
	if (rxd_mtu_refused(&conn->mtu, (uint32_t) size))
		rxd_cc_set_seg(&conn->cc, conn->mtu.now);
}

/* All packets of a burst are marked ECT(0), or none. */
static void begin_burst(struct rxd_conn *conn)
{
	rxd_conn_poller(conn)->burst_pn = conn->loss.next;
	rxd_conn_poller(conn)->burst_ect = rxd_ecn_wanted(&conn->ecn);
	rxd_dg_mark(rxd_conn_dg(conn), rxd_conn_poller(conn)->burst_ect);
}

/* burst_flush - send the burst; bytes of datagrams that were not sent are retransmitted.
 * Errors: -FI_EAGAIN, -FI_EMSGSIZE.
 */
static int burst_flush(struct rxd_conn *conn)
{
	uint64_t pn = rxd_conn_poller(conn)->burst_pn, end = conn->loss.next;
	const struct rxd_sent *record;
	unsigned left;
	size_t size = 0;
	int ret = rxd_dg_flush(rxd_conn_dg(conn), &left);

	rxd_conn_poller(conn)->burst_pn = end;
	if (__builtin_expect(!ret, 1))
		return 0;
	for (pn += left; pn < end; pn++) {
		record = rxd_loss_unsent(&conn->loss, pn);
		if (!record)
			continue;
		size = size ? size : record->size;
		rxd_stream_retransmit(rxd_main_of(conn), record->off, record->off + record->len);
	}
	conn->ack_now = conn->pns.cnt != 0;	/* an ACK may have been in one of them */
	if (ret == -FI_EMSGSIZE && size)
		too_long(conn, size);
	return ret;
}

/* join_first - copy the first piece, mostly an engine header, behind the packet header, which
 * makes room for another piece.
 */
static void join_first(struct iovec *iov, size_t *cnt_p, size_t at)
{
	size_t len = iov[1].iov_len;

	memcpy((uint8_t *) iov[0].iov_base + at, iov[1].iov_base, len);
	iov[0].iov_len = at + len;
	(*cnt_p)--;
	memmove(iov + 1, iov + 2, *cnt_p * sizeof(*iov));
}

/* packet_emit - add a packet with @len bytes of the stream from @off on to the burst; *len_p: how
 * many fitted.   Returns true when the burst must be flushed before the next packet.
 */
static bool packet_emit(struct rxd_conn *conn, uint64_t off, size_t len, uint8_t flags, bool limited,
			uint64_t now, size_t *len_p)
{
	struct rxd_dg *dg = rxd_conn_dg(conn);
	uint8_t *head = rxd_dg_head(dg);
	struct iovec iov[PIECES_MAX + 1];
	size_t at, cnt, pieces = dg->iov_max - 1;
	bool first = conn->loss.next == rxd_conn_poller(conn)->burst_pn, full;
	struct rxd_sent record;

	at = packet_begin(conn, head, RXD_F_PN | flags, conn->loss.next, now);
	at = rxd_put_u64(head, at, off);
	if (len > conn->mtu.now - at)
		len = conn->mtu.now - at;
	cnt = rxd_stream_slice(rxd_main_of(conn), off, len, iov + 1, len <= GATHER_MAX ? PIECES_MAX : pieces + 1);
	if (cnt > pieces && len > GATHER_MAX && iov[1].iov_len > HEAD_SMALL)
		cnt = pieces;
	len = iov_total(iov + 1, cnt);
	iov[0] = (struct iovec) { head, at };
	record = (struct rxd_sent) { .off = off, .len = (uint32_t) len, .sent_ns = now,
				   .size = (uint32_t) (at + len), .limited = limited,
				   .ect = rxd_conn_poller(conn)->burst_ect,
				   .ack_now = flags & RXD_F_NOW };
	if (len <= GATHER_MAX) {
		iov_gather(iov + 1, cnt, 0, head + at, len);
		iov[0].iov_len = at + len;
		cnt = 0;
	} else if (iov[1].iov_len <= HEAD_SMALL) {
		join_first(iov, &cnt, at);
	}
	cnt++;
	full = packet_cover(conn, iov, &cnt, at, first);
	ack_sent(conn);
	packet_sent(conn, &record);
	*len_p = len;
	return (cnt && rxd_dg_add(dg, conn->to, iov, cnt)) || full;
}

/* packet_pad - a numbered packet of @size without bytes of the stream: a path MTU probe or a PING. */
static int packet_pad(struct rxd_conn *conn, size_t size, uint64_t now)
{
	static const uint8_t nothing[65536];
	uint8_t head[RXD_HEAD_MAX];
	struct iovec iov[2] = { { head, 0 }, { (void *) nothing, 0 } };
	struct rxd_sent record = { .off = conn->nxt, .sent_ns = now, .pad = true, .ack_now = true,
				 .ect = rxd_ecn_wanted(&conn->ecn) };
	int ret;

	if (rxd_loss_room(&conn->loss))
		return -FI_EAGAIN;
	iov[0].iov_len = packet_begin(conn, head, RXD_F_PN | RXD_F_PAD | RXD_F_NOW, conn->loss.next, now);
	if (size > iov[0].iov_len)
		iov[1].iov_len = size - iov[0].iov_len;
	record.size = (uint32_t) (iov[0].iov_len + iov[1].iov_len);
	rxd_dg_mark(rxd_conn_dg(conn), record.ect);
	ret = packet_transmit(conn, iov, iov[1].iov_len ? 2 : 1);
	if (ret == -FI_EMSGSIZE)
		too_long(conn, record.size);
	if (ret)
		return ret;
	ack_sent(conn);
	packet_sent(conn, &record);
	if (size)
		rxd_mtu_sent(&conn->mtu, (uint32_t) size);
	return 0;
}

static void only_ack(struct rxd_conn *conn, uint64_t now)
{
	uint8_t head[RXD_HEAD_MAX];
	struct iovec iov = { head, packet_begin(conn, head, 0, 0, now) };

	if (iov.iov_len == sizeof(struct rxd_hdr)) {
		ack_sent(conn);		/* nothing has arrived that could be acknowledged */
		return;
	}
	if (packet_transmit(conn, &iov, 1) != -FI_EAGAIN)
		ack_sent(conn);
}

/* ---- what may be sent ----------------------------------------------------------------- */

/* next_range - what is sent next: a range to be retransmitted, or new bytes.
 * Errors: -FI_ENODATA nothing; -FI_ENOMEM there might be something.
 */
static int next_range(const struct rxd_conn *path, struct rxd_conn *conn, uint64_t *off_p, size_t *len_p)
{
	size_t most = path->mtu.now - sizeof(struct rxd_hdr) - sizeof(uint64_t);
	uint64_t left;
	bool filled;

	if (conn->retransmit.cnt) {
		*off_p = conn->retransmit.span[0].lo;
		left = conn->retransmit.span[0].hi - *off_p;
		*len_p = left < most ? (size_t) left : most;
		return 0;
	}
	filled = rxd_stream_fill(conn);
	left = conn->end - conn->nxt;
	if (!left)
		return filled ? -FI_ENODATA : -FI_ENOMEM;
	*off_p = conn->nxt;
	*len_p = left < most ? (size_t) left : most;
	if (conn->nxt + *len_p <= conn->limit)
		return 0;
	/* the flow control limit: wait until it is raised, unless no packet is in flight whose ACK
	 * could raise it
	 */
	if (path->loss.out_cnt || conn->limit <= conn->nxt)
		return -FI_ENODATA;
	*len_p = (size_t) (conn->limit - conn->nxt);
	return 0;
}

static bool in_window(const struct rxd_conn *conn, size_t size)
{
	return !conn->loss.out_bytes || conn->loss.out_bytes + size <= conn->cc.window;
}

/* is_last - should the peer acknowledge this packet at once?  Yes, if nothing follows it. */
static bool is_last(const struct rxd_conn *path, const struct rxd_conn *conn, uint64_t off, size_t len)
{
	if (!in_window(path, 3 * len) || off + 2 * len > conn->limit)
		return true;
	return off + len == conn->end && list_empty(&conn->chan.pending) && !conn->retransmit.cnt &&
	       rxd_stream_last(conn)->pkt;
}

static void range_used(struct rxd_conn *conn, uint64_t off, size_t len)
{
	if (off == conn->nxt)
		conn->nxt += len;
	else
		rxd_ranges_sub(&conn->retransmit, off, off + len);	/* of the front: cannot fail */
}

/* is_limited - BBR: was there more to send?  The others: was the congestion window the limit?
 */
static bool is_limited(const struct rxd_conn *path, const struct rxd_conn *conn, uint64_t off, size_t len)
{
	if (path->cc.kind == RXD_CC_BBR)
		return (off + len < conn->end || !list_empty(&conn->chan.pending)) &&
		       off + 2 * len <= conn->limit;
	return path->loss.out_bytes + 2 * (uint64_t) path->mtu.now >= path->cc.window / 2;
}

/* Returns 1 when the burst is full, 0 when it has room. */
static int push_one(struct rxd_conn *conn, uint64_t now, size_t *len_p)
{
	struct rxd_conn *main = rxd_main_of(conn);
	uint64_t off;
	size_t len;
	bool full;
	int ret;

	if (__builtin_expect(conn->chan.paths != NULL, 0) && !rxd_rails_takes(conn))
		return -FI_ENODATA;
	ret = next_range(conn, main, &off, &len);
	if (ret)
		return ret;
	if (!in_window(conn, len) || rxd_cc_pace(&conn->cc, now, rxd_rtt_pace(&conn->rtt)) > now)
		return -FI_ENOBUFS;
	if (rxd_loss_room(&conn->loss))
		return -FI_ENOMEM;
	full = packet_emit(conn, off, len, is_last(conn, main, off, len) ? RXD_F_NOW : 0,
			   is_limited(conn, main, off, len), now, len_p);
	range_used(main, off, *len_p);
	if (__builtin_expect(conn->chan.paths != NULL, 0))
		rxd_rails_carried(conn, *len_p);
	return full;
}

/* Bursts until nothing more may leave, or the quantum is used up.
 * Errors: -FI_EAGAIN: no room in the system; -FI_ENOMEM; others: nothing to do.
 */
static int push_bursts(struct rxd_conn *conn, uint64_t now)
{
	size_t total = 0, len;
	uint32_t mtu;
	int ret = 0, sent;

	while (ret >= 0 && rxd_conn_alive(conn) && total < RXD_QUANTUM) {
		ret = 0;
		begin_burst(conn);
		while (!ret && rxd_conn_alive(conn)) {
			len = 0;
			ret = push_one(conn, now, &len);
			total += len;
		}
		mtu = conn->mtu.now;
		sent = burst_flush(conn);
		if (sent == -FI_EMSGSIZE && conn->mtu.now == mtu)
			rxd_conn_fail(conn, FI_EMSGSIZE, false);
		if (sent)
			ret = sent == -FI_EMSGSIZE ? 0 : sent;
	}
	return ret < 0 ? ret : 0;
}

static void check_idle(struct rxd_conn *conn, uint64_t now)
{
	if (!conn->loss.out_cnt && conn->loss.last_ns &&
	    now - conn->loss.last_ns > IDLE_TRIPS * rxd_rtt_probe_after(&conn->rtt, RXD_PEER_DELAY_NS))
		rxd_cc_on_idle(&conn->cc);
}

bool rxd_tx_push(struct rxd_conn *conn, uint64_t now)
{
	uint32_t probe;
	int ret;

	if (__builtin_expect(conn->chan.paths != NULL, 0))
		rxd_rails_heard(conn, now);
	check_idle(conn, now);
	ret = push_bursts(conn, now);
	if (!rxd_conn_alive(conn))
		return false;
	conn->no_memory = ret == -FI_ENOMEM;
	if (ret != -FI_EAGAIN) {
		probe = rxd_mtu_wanted(&conn->mtu, now);
		while (probe && conn->confirmed && packet_pad(conn, probe, now) == -FI_EMSGSIZE)
			probe = rxd_mtu_wanted(&conn->mtu, now);
		if (rxd_rx_ack_due(conn, now))
			only_ack(conn, now);
	}
	if (__builtin_expect(conn->chan.paths != NULL, 0))
		rxd_rails_offer(conn);
	return !ret || ret == -FI_EAGAIN;
}

bool rxd_tx_idle(const struct rxd_conn *conn)
{
	return conn->una == conn->end && list_empty(&conn->chan.pending);
}

/* ---- the link's send ------------------------------------------------------------------- */

#define AWAKE 8				/* polls since a thread slept that count as recent */

/* is_one_of_many - has the application sent on this connection since its last poll?  Or,
 * if it sleeps between its polls, did it send more than once before that?  A busy-polling
 * sender benefits from sending the first packet at once.
 */
static bool is_one_of_many(struct rxd_conn *conn)
{
	const struct rxd_poller *poller = rxd_conn_poller(conn);
	uint32_t seq = (uint32_t) poller->base.seq;
	bool bursty = conn->burst && poller->base.seq - poller->armed_seq <= AWAKE;

	if (conn->burst_seq == seq) {
		conn->burst = true;
		return true;
	}
	conn->burst_seq = seq;
	conn->burst = false;
	return bursty;
}

/* in_burst - will another packet follow before this one has to be sent?  Yes inside a poll,
 * with FI_MORE, or in a burst of an application that polls by itself.
 */
static bool in_burst(struct rxd_conn *conn, const struct eng_pkt *pkt)
{
	const struct rxd_poller *poller = rxd_conn_poller(conn);
	bool many = is_one_of_many(conn);

	return poller->base.polling || pkt->flags & ENG_PKT_MORE || (many && poller->base.app_active);
}

int rxd_tx_send(struct rxd_conn *conn, struct eng_pkt *pkt)
{
	bool wait = in_burst(conn, pkt);
	int ret = 0;

	if (conn->shut)
		return -FI_ENOTCONN;
	pkt->link_priv = rxd_frame(pkt->hdr_len, pkt->len);
	if (rxd_stream_copy(conn, pkt))
		ret = 1;
	else
		list_add_tail(&pkt->node, &conn->chan.pending);
	/* a burst that fills a datagram does not wait for more */
	if (wait && conn->end - conn->nxt < conn->mtu.now) {
		rxd_conn_schedule(conn);
		return ret;
	}
	if (rxd_tx_push(conn, rxd_now(rxd_conn_poller(conn))))
		rxd_conn_schedule(conn);
	rxd_conn_rearm(conn, conn->loss.last_ns);
	return ret;
}

/* ---- the fast path ---------------------------------------------------------------------- */

/* The layout of such a datagram; without an ACK it begins later in the same memory. */
#define SHORT_ACK sizeof(struct rxd_hdr)
#define SHORT_OFF (SHORT_ACK + sizeof(struct rxd_ack))
#define SHORT_FRAME (SHORT_OFF + sizeof(uint64_t))
#define SHORT_PKT (SHORT_FRAME + RXD_FRAME_SIZE)
#define SHORT_MAX 512			/* the engine's header and payload */
_Static_assert(SHORT_PKT + SHORT_MAX <= RXD_DGRAM_MIN && RXD_DGRAM_MIN <= RXD_DG_HEAD, "it fits");

/* is_fast - nothing is queued, no window is exhausted, and an ACK needs no further ranges. */
static bool is_fast(const struct rxd_conn *conn, size_t size)
{
	const struct rxd_poller *poller;

	if (!rxd_conn_alive(conn))
		return false;
	poller = rxd_conn_poller(conn);
	return conn->nxt == conn->end && list_empty(&conn->chan.pending) && !conn->retransmit.cnt &&
	       !conn->want_shut && !conn->shut && !conn->mute && conn->pns.cnt <= 1 &&
	       conn->end + 2 * size <= conn->limit && in_window(conn, 3 * size) &&
	       !poller->base.polling && conn->burst_seq != (uint32_t) poller->base.seq && !conn->burst &&
	       !conn->sealed;
}

void *rxd_tx_slot(void *chan, size_t len)
{
	struct rxd_conn *conn = chan;
	size_t size = RXD_FRAME_SIZE + len;
	uint64_t now;

	if (!is_fast(conn, size) || len > SHORT_MAX || rxd_loss_room(&conn->loss) ||
	    rxd_stream_room(conn, size))
		return NULL;
	now = rxd_now(rxd_conn_poller(conn));
	if (conn->cc.paced_ns > now)
		return NULL;
	rxd_conn_poller(conn)->slot_ns = now;
	return rxd_dg_head(rxd_conn_link(conn)->dg) + SHORT_PKT;
}

/* rearm_sent - after a packet that requests no ACK at once.  A timer that is set too early is corrected when it
 * fires, so one that fires before the packet's probe timeout is left alone.
 */
static void rearm_sent(struct rxd_conn *conn, uint64_t now)
{
	const struct timer *timer = &conn->chan.timer;

	if (!timer->at || timer->due_ns > now + rxd_rtt_probe_after(&conn->rtt, RXD_PEER_DELAY_NS))
		rxd_conn_rearm(conn, now);
}

/* frame_posted - the frame at @at was sent, or could not be; it is in the stream from now on. */
static void frame_posted(struct rxd_conn *conn, const uint8_t *at, struct rxd_sent *record, bool left)
{
	uint64_t now = record->sent_ns;

	rxd_stream_add(conn, at, record->len);
	conn->burst_seq = (uint32_t) rxd_conn_poller(conn)->base.seq;
	conn->burst = false;
	if (!left) {
		rxd_conn_schedule(conn);
		return;
	}
	record->limited = is_limited(conn, conn, record->off, record->len);
	ack_sent(conn);
	check_idle(conn, now);
	packet_sent(conn, record);
	conn->nxt = conn->end;
	if (rxd_mtu_wanted(&conn->mtu, now))
		rxd_conn_schedule(conn);
	rearm_sent(conn, now);
}

int rxd_tx_post(void *chan, size_t hdr_len, size_t len)
{
	struct rxd_conn *conn = chan;
	struct rxd_dg *dg = rxd_conn_link(conn)->dg;
	uint8_t *head = rxd_dg_head(dg), *start = head, flags = RXD_F_PN;
	uint64_t frame = rxd_frame(hdr_len, len), now = rxd_conn_poller(conn)->slot_ns;
	struct rxd_sent record = { .off = conn->end, .sent_ns = now, .ect = rxd_ecn_wanted(&conn->ecn) };
	struct iovec iov;
	int ret;

	assert(!conn->sealed && "it has no slot");
	record.len = (uint32_t) (RXD_FRAME_SIZE + hdr_len + len);
	if (rxd_conf.checksum)
		flags |= RXD_F_SUM;
	if (conn->pns.cnt && (conn->ack_cnt || conn->ack_now)) {
		rxd_rx_put_ack(conn, head, SHORT_ACK, now);
		flags |= RXD_F_ACK;
	} else {
		start += sizeof(struct rxd_ack);
	}
	rxd_put_hdr(start, RXD_DATA, flags, conn->peer_cid, conn->loss.next);
	rxd_put_u64(head, SHORT_OFF, conn->end);
	memcpy(head + SHORT_FRAME, &frame, sizeof(frame));
	iov.iov_base = start;
	iov.iov_len = (size_t) (head + SHORT_FRAME + record.len - start);
	record.size = (uint32_t) iov.iov_len;
	rxd_seal(start, flags & RXD_F_SUM ? iov.iov_len : iov.iov_len - record.len, NULL, 0);
	rxd_dg_mark(dg, record.ect);
	ret = rxd_dg_send(dg, conn->to, &iov, 1);
	frame_posted(conn, head + SHORT_FRAME, &record, ret != -FI_EAGAIN && ret != -FI_EMSGSIZE);
	return 1;
}

void rxd_tx_shut(struct rxd_conn *conn)
{
	if (conn->shut || !rxd_conn_alive(conn))
		return;
	conn->want_shut = true;
	if (list_empty(&conn->chan.pending))
		rxd_stream_end(conn);
	rxd_conn_schedule(conn);
}

void rxd_tx_ping(struct rxd_conn *conn, uint64_t now)
{
	packet_pad(conn, 0, now);
}

/* The oldest bytes that are not acknowledged, since these make the peer advance. */
void rxd_tx_probe(struct rxd_conn *conn, uint64_t now)
{
	const struct rxd_conn *main = rxd_main_of(conn);
	const struct rxd_span *span = rxd_ranges_at(&main->acked, main->una);
	uint64_t end = span ? span->lo : main->nxt;
	size_t len;

	begin_burst(conn);
	if (main->una != main->nxt && !conn->mute && !rxd_loss_room(&conn->loss)) {
		packet_emit(conn, main->una, (size_t) (end - main->una), RXD_F_NOW, false, now, &len);
		if (!burst_flush(conn))
			return;
	}
	rxd_tx_ping(conn, now);
}

void rxd_tx_drop(struct rxd_conn *conn, int err)
{
	rxd_ranges_fini(&conn->acked);
	rxd_ranges_fini(&conn->retransmit);
	rxd_loss_fini(&conn->loss);
	rxd_stream_drop(conn, err);
}

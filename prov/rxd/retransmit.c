/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * What comes back: acknowledgements, or nothing for too long.
 */
#include "conn.h"

#define ASK_AFTER 2			/* silent timeouts after which we ask who is there */
#define PATH_IS_NEW 3			/* and after which a loss says that the path is new to us */
#define LOSSY (RXD_CC_ALL / 32)		/* share of packets lost with which a loss may be chance */

void rxd_tx_retransmit(struct rxd_conn *conn, uint64_t lo, uint64_t hi)
{
	const struct rxd_span *span;
	uint64_t end;

	if (lo < conn->una)
		lo = conn->una;
	while (lo < hi) {
		span = rxd_ranges_at(&conn->acked, lo);
		end = span && span->lo < hi ? span->lo : hi;
		if (lo < end)
			rxd_ranges_cover(&conn->retransmit, lo, end);
		lo = end < hi ? span->hi : hi;
	}
}

/* An acknowledgement being looked at. */
struct acking {
	struct rxd_conn *conn;
	uint64_t now;
	bool any;
	bool lost;		/* something was, of the stream */
	bool ping;		/* a short packet without bytes got through */
	unsigned marked;	/* packets acknowledged that had left with a mark */
	uint64_t sent_ns;	/* when the last of those acknowledged left */
};

/* What there is no memory to note goes once more. */
static void in_place(struct rxd_conn *conn, uint64_t lo, uint64_t hi)
{
	if (hi <= conn->una)
		return;
	if (lo > conn->una) {
		if (rxd_ranges_add(&conn->acked, lo, hi)) {
			rxd_ranges_cover(&conn->retransmit, lo, hi);
			return;
		}
	} else {
		conn->una = hi;
		rxd_ranges_cut(&conn->acked, hi);
		if (conn->acked.cnt && conn->acked.span[0].lo == hi) {
			conn->una = conn->acked.span[0].hi;
			rxd_ranges_cut(&conn->acked, conn->una);
		}
	}
	if (conn->retransmit.cnt) {
		rxd_ranges_sub(&conn->retransmit, lo, hi);
		rxd_ranges_cut(&conn->retransmit, conn->una);
	}
}

static void on_acked(void *arg, const struct rxd_sent *sent, uint64_t pn)
{
	struct acking *a = arg;
	struct rxd_conn *conn = a->conn;

	a->any = true;
	a->marked += sent->ect;
	a->sent_ns = sent->sent_ns > a->sent_ns ? sent->sent_ns : a->sent_ns;
	if (sent->pad) {
		a->ping |= sent->size <= conn->mtu.base;
		if (rxd_mtu_passed(&conn->mtu, sent->size))
			rxd_cc_set_seg(&conn->cc, conn->mtu.now);
		return;
	}
	if (sent->size > conn->mtu.base)
		rxd_mtu_heard(&conn->mtu);
	rxd_cc_on_ack(&conn->cc, a->now, sent->sent_ns, sent->size, conn->rtt.smooth,
		      sent->limited);
	in_place(conn, sent->off, sent->off + sent->len);
}

static void on_lost(void *arg, const struct rxd_sent *sent, uint64_t pn)
{
	struct acking *a = arg;
	struct rxd_conn *conn = a->conn;

	if (sent->pad) {
		rxd_mtu_lost(&conn->mtu, sent->size, conn->cc.losing > LOSSY);
		return;
	}
	a->lost = true;
	if (sent->ect)
		rxd_ecn_lost(&conn->ecn);
	rxd_cc_on_loss(&conn->cc, a->now, sent->sent_ns, &conn->rtt);
	rxd_tx_retransmit(conn, sent->off, sent->off + sent->len);
}

static void on_spurious(void *arg, const struct rxd_sent *sent, uint64_t pn)
{
	struct acking *a = arg;

	if (sent->pad) {
		on_acked(arg, sent, pn);
		return;
	}
	a->marked += sent->ect;
	rxd_cc_on_spurious(&a->conn->cc, sent->sent_ns);
	in_place(a->conn, sent->off, sent->off + sent->len);
}

static const struct rxd_loss_ops loss_ops = {
	.acked = on_acked,
	.lost = on_lost,
	.spurious = on_spurious,
};

static void sample(struct rxd_conn *conn, const struct rxd_pkt *pkt, uint64_t now)
{
	uint64_t sent_ns = rxd_loss_sent_ns(&conn->loss, pkt->ack.largest);
	uint64_t delay = (uint64_t) pkt->ack.delay_us * 1000;

	if (!sent_ns || now <= sent_ns)
		return;
	rxd_cc_on_rtt(&conn->cc, now, now - sent_ns);
	rxd_rtt_sample(&conn->rtt, now - sent_ns,
		       delay < RXD_PEER_DELAY_NS ? delay : RXD_PEER_DELAY_NS);
}

static bool ack_all(struct rxd_conn *conn, const struct rxd_pkt *pkt, struct acking *a)
{
	uint64_t hi = pkt->ack.largest + 1, lo = hi - 1 - pkt->ack.first;
	struct rxd_range range;
	unsigned i;

	if (!rxd_loss_on_ack(&conn->loss, lo, hi, &loss_ops, a))
		return false;
	for (i = 0; i < pkt->ack.cnt; i++) {
		range = rxd_pkt_range(pkt, i);
		hi = lo - range.gap;
		lo = hi - range.len;
		rxd_loss_on_ack(&conn->loss, lo, hi, &loss_ops, a);
	}
	return true;
}

/* Long packets were asked about in vain, and a short one gets through behind them. */
static void look_for_hole(struct rxd_conn *conn, struct acking *a)
{
	if (!rxd_mtu_hole(&conn->mtu, rxd_loss_longest(&conn->loss)))
		return;
	rxd_cc_set_seg(&conn->cc, conn->mtu.now);
	rxd_loss_give_up(&conn->loss, &loss_ops, a);
}

static void marks_off(struct rxd_conn *conn)
{
	char text[CHAN_TEXT_MAX];

	CHAN_INFO(conn->chan.link, "no marks for long queues (ECN) to %s: the path does not carry them\n",
		 chan_peer_text(&conn->chan, text));
}

/* What the peer counts of marks.  Of an acknowledgement that was overtaken it is old. */
static void on_marks(struct rxd_conn *conn, const struct rxd_pkt *pkt, const struct acking *a)
{
	bool off;

	if (rxd_ecn_on_ack(&conn->ecn, a->marked, pkt->ack.ect, pkt->ack.ce, &off))
		rxd_cc_on_mark(&conn->cc, a->now, a->sent_ns);
	if (off)
		marks_off(conn);
}

void rxd_tx_on_ack(struct rxd_conn *conn, const struct rxd_pkt *pkt, uint64_t now)
{
	bool newest = pkt->ack.largest >= conn->loss.largest;
	struct acking a = { .conn = conn, .now = now };

	if (pkt->ack.limit > conn->limit)
		conn->limit = pkt->ack.limit;
	sample(conn, pkt, now);
	if (!ack_all(conn, pkt, &a))
		return;		/* of what was never sent: a lie, or another life */
	if (newest)
		on_marks(conn, pkt, &a);
	if (a.ping)
		look_for_hole(conn, &a);
	rxd_loss_detect(&conn->loss, now, &conn->rtt, &loss_ops, &a);
	if (a.lost && conn->loss.probes >= PATH_IS_NEW)
		rxd_cc_on_silence(&conn->cc, now);
	if (a.any)
		conn->loss.probes = 0;
	conn->unanswered_ns = conn->loss.out_cnt ? now : 0;
	if (rxd_conn_alive(conn))
		rxd_stream_release(conn);
	if (rxd_conn_alive(conn) && (conn->retransmit.cnt || conn->nxt != conn->end ||
					 !list_empty(&conn->chan.pending) ||
					 rxd_mtu_wanted(&conn->mtu, now)))
		rxd_conn_schedule(conn);
}

/* The window is that of the first packets; what was sent the old way says nothing of it. */
void rxd_tx_new_path(struct rxd_conn *conn)
{
	struct acking a = { .conn = conn };

	rxd_loss_give_up(&conn->loss, &loss_ops, &a);
	conn->loss.probes = 0;
	rxd_rtt_init(&conn->rtt);
	rxd_mtu_init(&conn->mtu, RXD_DGRAM_MIN, conn->mtu.most);
	rxd_cc_init(&conn->cc, (enum rxd_cc_kind) rxd_conf.cc, RXD_DGRAM_MIN, (unsigned) rxd_conf.tolerance);
	rxd_ecn_anew(&conn->ecn, rxd_conn_link(conn)->dg->has_ecn);
}

/* ---- timeouts ------------------------------------------------------------------------- */

/* The peer's limit holds us back, and nothing is out that it would answer. */
static bool is_stuck(const struct rxd_conn *conn)
{
	return !conn->loss.out_cnt && !conn->retransmit.cnt && conn->nxt >= conn->limit &&
	       (conn->nxt != conn->end || !list_empty(&conn->chan.pending));
}

uint64_t rxd_tx_due(struct rxd_conn *conn, uint64_t now)
{
	uint64_t due = UINT64_MAX, when;
	bool probe;

	when = rxd_loss_due(&conn->loss, &conn->rtt, RXD_PEER_DELAY_NS, &probe);
	if (when)
		due = when;
	if (is_stuck(conn))
		due = conn->loss.last_ns + rxd_loss_wait(&conn->loss, &conn->rtt, RXD_PEER_DELAY_NS);
	if (conn->retransmit.cnt || conn->nxt != conn->end) {
		when = rxd_cc_pace(&conn->cc, now, conn->rtt.smooth);
		if (when > now && when < due)
			due = when;
	}
	return due;
}

/* Silence alone says nothing of the path: the peer may be busy.  What became of all that was
 * sent into it says the first acknowledgement that comes.
 */
static void on_silence(struct rxd_conn *conn, uint64_t now)
{
	conn->loss.probes++;
	/* not the oldest: of a short one the answer may be what was lost */
	rxd_mtu_silence(&conn->mtu, rxd_loss_longest(&conn->loss));
	if (conn->loss.probes == PATH_IS_NEW && rxd_ecn_silence(&conn->ecn))
		marks_off(conn);
	rxd_tx_probe(conn, now);
	if (!rxd_conn_alive(conn))
		return;
	/* Where much is lost, a second one, which is short, spares most of the next timeouts. */
	rxd_tx_ping(conn, now);
	if (conn->loss.probes < ASK_AFTER)
		return;
	rxd_probe_send(conn);
}

void rxd_tx_timeout(struct rxd_conn *conn, uint64_t now)
{
	struct acking a = { .conn = conn, .now = now };
	bool silent;
	uint64_t due = rxd_loss_due(&conn->loss, &conn->rtt, RXD_PEER_DELAY_NS, &silent);

	if (is_stuck(conn)) {
		if (rxd_tx_due(conn, now) <= now)
			on_silence(conn, now);
	} else if (due && due <= now) {
		if (silent)
			on_silence(conn, now);
		else
			rxd_loss_detect(&conn->loss, now, &conn->rtt, &loss_ops, &a);
		/* what was lost measured the path, and nobody will answer it any more */
		if (!conn->loss.out_cnt && rxd_tx_idle(conn))
			conn->unanswered_ns = 0;
	}
	if (rxd_conn_alive(conn))
		rxd_conn_schedule(conn);
}

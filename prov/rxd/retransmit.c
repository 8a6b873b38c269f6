/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Loss recovery of a connection: what an ACK shows to be delivered or lost, probe timeouts
 * when none arrives, and which bytes are retransmitted.
 *
 *	sent ---> ACK of it            in_place(): una advances, done() is called
 *	     ---> declared lost        on_lost(): its bytes are added to conn->retransmit, which
 *	          (recovery/loss.c)    tx.c sends before new ones, in packets of new numbers
 *	     ---> ACK after all        on_spurious(): the congestion window is restored
 *	     ---> no ACK at all        on_probe_timeout(): the oldest bytes are sent in a probe;
 *	                               a timeout alone does not prove loss
 *
 * Source: RFC 9002 section 6, RFC 8985.
 */
#include "base/probe.h"
#include "conn.h"

#define ASK_AFTER_NS (CLOCK_NS_PER_S / 5)	/* between two probes, from which on rxd_ask() is called */
#define PROBE_AFTER 2			/* probe timeouts after which PROBE asks for the connection */
#define PERSISTENT 3			/* after which a loss is persistent congestion (RFC 9002, 7.6) */
#define LOSSY (RXD_CC_ALL / 32)		/* share of loss above which a lost MTU probe proves little */

/* An ACK being processed. */
struct acking {
	struct rxd_conn *conn;
	uint64_t now;
	bool any;
	bool lost;		/* bytes of the stream were */
	bool data;		/* bytes of the stream were delivered */
	uint32_t missed;	/* a short packet was, and one of this size, sent with it, was not; 0: no such */
	unsigned marked;	/* packets acknowledged that were sent as ECT(0) */
	uint64_t sent_ns;	/* when the last of those acknowledged was sent */
};

/* in_place - the peer has these bytes.  If there is no memory to record that, they are
 * retransmitted.
 */
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

/* sent_acked - @main: whose bytes they are. */
static inline void sent_acked(struct acking *a, struct rxd_conn *main, const struct rxd_sent *sent, uint64_t pn)
{
	struct rxd_conn *conn = a->conn;

	a->any = true;
	a->marked += sent->ect;
	a->sent_ns = sent->sent_ns > a->sent_ns ? sent->sent_ns : a->sent_ns;
	if (sent->pad) {
		if (sent->size <= conn->mtu.base && rxd_loss_beside(&conn->loss, pn))
			a->missed = rxd_loss_beside(&conn->loss, pn);
		if (rxd_mtu_passed(&conn->mtu, sent->size))
			rxd_cc_set_seg(&conn->cc, conn->mtu.now);
		return;
	}
	if (sent->size > conn->mtu.base)
		rxd_mtu_acked(&conn->mtu);
	a->data = true;
	rxd_cc_on_ack(&conn->cc, a->now, sent->sent_ns, sent->size, conn->rtt.smooth,
		      sent->limited);
	in_place(main, sent->off, sent->off + sent->len);
}

static inline void sent_lost(struct acking *a, struct rxd_conn *main, const struct rxd_sent *sent)
{
	struct rxd_conn *conn = a->conn;

	if (sent->pad) {
		rxd_mtu_lost(&conn->mtu, sent->size, conn->cc.losing > LOSSY);
		return;
	}
	a->lost = true;
	if (sent->ect)
		rxd_ecn_lost(&conn->ecn);
	rxd_cc_on_loss(&conn->cc, a->now, sent->sent_ns, &conn->rtt);
	PROBE3(retransmit, conn, sent->off, sent->len);
	rxd_stream_retransmit(main, sent->off, sent->off + sent->len);
}

static inline void sent_spurious(struct acking *a, struct rxd_conn *main, const struct rxd_sent *sent, uint64_t pn)
{
	if (sent->pad) {
		sent_acked(a, main, sent, pn);
		return;
	}
	a->marked += sent->ect;
	a->data = true;
	rxd_cc_on_spurious(&a->conn->cc, sent->sent_ns);
	in_place(main, sent->off, sent->off + sent->len);
}

static struct rxd_conn *conn_acking(void *arg)
{
	return ((struct acking *) arg)->conn;
}

static void on_acked(void *arg, const struct rxd_sent *sent, uint64_t pn)
{
	sent_acked(arg, conn_acking(arg), sent, pn);
}

static void on_lost(void *arg, const struct rxd_sent *sent, uint64_t pn)
{
	sent_lost(arg, conn_acking(arg), sent);
}

static void on_spurious(void *arg, const struct rxd_sent *sent, uint64_t pn)
{
	sent_spurious(arg, conn_acking(arg), sent, pn);
}

static void on_rail_acked(void *arg, const struct rxd_sent *sent, uint64_t pn)
{
	sent_acked(arg, rxd_main_of(conn_acking(arg)), sent, pn);
}

static void on_rail_lost(void *arg, const struct rxd_sent *sent, uint64_t pn)
{
	sent_lost(arg, rxd_main_of(conn_acking(arg)), sent);
}

static void on_rail_spurious(void *arg, const struct rxd_sent *sent, uint64_t pn)
{
	sent_spurious(arg, rxd_main_of(conn_acking(arg)), sent, pn);
}

static const struct rxd_loss_ops loss_ops = {
	.acked = on_acked,
	.lost = on_lost,
	.spurious = on_spurious,
};

static const struct rxd_loss_ops rail_loss_ops = {
	.acked = on_rail_acked,
	.lost = on_rail_lost,
	.spurious = on_rail_spurious,
};

static const struct rxd_loss_ops *loss_ops_of(const struct rxd_conn *conn)
{
	return rxd_is_rail(conn) ? &rail_loss_ops : &loss_ops;
}

/* has_waited - the first ACK after several timeouts: it, and what is in flight, has waited for the peer, an interface
 * or ARP, up to as long as the silence.  That is no RTT of the path, and probe timeouts that follow from it would be of
 * seconds.  The next sample counts however many probes it took: the path may be another, with a longer RTT.
 */
static bool has_waited(struct rxd_conn *conn)
{
	if (__builtin_expect(conn->loss.probes < PERSISTENT, 1) || rxd_rtt_is_first(&conn->rtt))
		return false;
	rxd_rtt_again(&conn->rtt);
	rxd_loss_waited(&conn->loss);
	return true;
}

static void rtt_sample(struct rxd_conn *conn, const struct rxd_pkt *pkt, uint64_t now)
{
	uint64_t sent_ns = rxd_loss_sent_ns(&conn->loss, pkt->ack.largest);
	uint64_t delay = (uint64_t) pkt->ack.delay_us * 1000;

	if (!sent_ns || now <= sent_ns || has_waited(conn))
		return;
	rxd_cc_on_rtt(&conn->cc, now, now - sent_ns);
	rxd_rtt_sample(&conn->rtt, now - sent_ns,
		       delay < RXD_PEER_DELAY_NS ? delay : RXD_PEER_DELAY_NS);
}

static inline bool ack_all(struct rxd_conn *conn, const struct rxd_pkt *pkt, const struct rxd_loss_ops *ops,
			   struct acking *a)
{
	uint64_t hi = pkt->ack.largest + 1, lo = hi - 1 - pkt->ack.first;
	struct rxd_range range;
	unsigned i;

	if (!rxd_loss_on_ack(&conn->loss, lo, hi, ops, a))
		return false;
	for (i = 0; i < pkt->ack.cnt; i++) {
		range = rxd_pkt_range(pkt, i);
		hi = lo - range.gap;
		lo = hi - range.len;
		rxd_loss_on_ack(&conn->loss, lo, hi, ops, a);
	}
	return true;
}

/* check_black_hole - a long packet of a probe timeout got no ACK, but the short one sent with it did, and not after a
 * silence of both: it may have waited somewhere that dropped the other.
 */
static void check_black_hole(struct rxd_conn *conn, struct acking *a)
{
	char text[CHAN_TEXT_MAX];

	if (!rxd_mtu_missed(&conn->mtu, a->missed))
		return;
	CHAN_WARN_SPARSE(conn->chan.link, "datagrams of %u bytes to %s are lost, shorter ones arrive: the "
			 "path drops them by size, though the MTU of both ends allows %u bytes; they have "
			 "%u now, see the MTUs along the path\n", a->missed,
			 chan_peer_text(&rxd_main_of(conn)->chan, text), conn->mtu.most, conn->mtu.now);
	rxd_cc_set_seg(&conn->cc, conn->mtu.now);
	rxd_loss_all(&conn->loss, loss_ops_of(conn), a);
}

/* check_stuck - short packets get through, and data does not. */
static void check_stuck(struct rxd_conn *conn, const struct acking *a)
{
	char text[CHAN_TEXT_MAX];

	if (!rxd_mtu_stuck(&conn->mtu, a->data || conn->una == conn->nxt || conn->chan.paths, a->now))
		return;
	CHAN_WARN_SPARSE(conn->chan.link, "%s has acknowledged short datagrams alone for %u s: those of %u bytes "
			 "are lost, which any path should carry. It drops packets by size: compare the MTUs "
			 "along it; waiting for it\n", chan_peer_text(&rxd_main_of(conn)->chan, text),
			 (unsigned) (RXD_MTU_STUCK_TICKS * RXD_MTU_TICK_NS / CLOCK_NS_PER_S), conn->mtu.now);
}

static void log_ecn_off(struct rxd_conn *conn)
{
	char text[CHAN_TEXT_MAX];

	CHAN_INFO(conn->chan.link, "no explicit congestion notification (ECN) to %s: the path "
		  "does not carry it\n", chan_peer_text(&rxd_main_of(conn)->chan, text));
}

/* on_marks - the peer's ECN counts, in the ACK with the highest number so far. */
static void on_marks(struct rxd_conn *conn, const struct rxd_pkt *pkt, const struct acking *a)
{
	bool off;

	if (rxd_ecn_on_ack(&conn->ecn, a->marked, pkt->ack.ect, pkt->ack.ce, &off))
		rxd_cc_on_mark(&conn->cc, a->now, a->sent_ns);
	if (off)
		log_ecn_off(conn);
}

/* on_ack - @main: the connection whose stream @conn carries, mostly itself. */
static inline void on_ack(struct rxd_conn *conn, struct rxd_conn *main, const struct rxd_loss_ops *ops,
			  const struct rxd_pkt *pkt, uint64_t now)
{
	bool newest = pkt->ack.largest >= conn->loss.largest;
	struct acking a = { .conn = conn, .now = now };

	if (pkt->ack.limit > main->limit)
		main->limit = pkt->ack.limit;
	rtt_sample(conn, pkt, now);
	if (!ack_all(conn, pkt, ops, &a))
		return;		/* of what was never sent: forged, or of an earlier connection */
	if (newest)
		on_marks(conn, pkt, &a);
	if (a.missed && conn->loss.probes < PERSISTENT)
		check_black_hole(conn, &a);
	if (a.any)
		check_stuck(conn, &a);
	rxd_loss_detect(&conn->loss, now, &conn->rtt, ops, &a);
	if (a.lost && conn->loss.probes >= PERSISTENT)
		rxd_cc_on_persistent(&conn->cc, now);
	if (a.any)
		conn->loss.probes = 0;
	conn->unanswered_ns = conn->loss.out_cnt ? now : 0;
	if (rxd_conn_alive(main))
		rxd_stream_release(main);
	if (rxd_conn_alive(conn) && (main->retransmit.cnt || main->nxt != main->end ||
					 !list_empty(&main->chan.pending) ||
					 rxd_mtu_wanted(&conn->mtu, now)))
		rxd_conn_schedule(conn);
}

void rxd_tx_on_ack(struct rxd_conn *conn, const struct rxd_pkt *pkt, uint64_t now)
{
	on_ack(conn, conn, &loss_ops, pkt, now);
}

/* The limit that its ACK raises, and the bytes that it declares lost, are all paths' concern. */
void rxd_tx_on_rail_ack(struct rxd_conn *rail, struct rxd_conn *conn, const struct rxd_pkt *pkt, uint64_t now)
{
	on_ack(rail, conn, &rail_loss_ops, pkt, now);
	if (rxd_conn_alive(conn))
		rxd_conn_schedule(conn);
}

void rxd_tx_on_taken(struct rxd_conn *conn, uint64_t taken)
{
	taken += conn->una & ~(RXD_TAKEN_MOD - 1);
	if (taken < conn->una)
		taken += RXD_TAKEN_MOD;
	if (taken > conn->nxt)
		return;		/* a lie, or older than an ACK that has come */
	in_place(conn, conn->una, taken);
	rxd_stream_release(conn);
}

/* Congestion window, RTT and path MTU begin as on a new connection. */
void rxd_tx_new_path(struct rxd_conn *conn)
{
	struct acking a = { .conn = conn };

	rxd_loss_all(&conn->loss, loss_ops_of(conn), &a);
	conn->loss.probes = 0;
	rxd_rtt_init(&conn->rtt);
	rxd_mtu_init(&conn->mtu, conn->mtu.base, conn->mtu.most);
	rxd_cc_init(&conn->cc, (enum rxd_cc_kind) rxd_conf.cc, RXD_DGRAM_MIN,
		    (unsigned) rxd_conf.tolerance);
	rxd_ecn_new_path(&conn->ecn, rxd_conn_dg(conn)->has_ecn);
}

/* ---- timeouts ------------------------------------------------------------------------- */

/* log_stall - once while the peer is silent, which it may be for minutes. */
static void log_stall(struct rxd_conn *conn, uint64_t now)
{
	uint64_t since = conn->unanswered_ns > conn->received_ns ? conn->unanswered_ns : conn->received_ns;

	if (conn->stall_logged || !conn->unanswered_ns || now - since < CHAN_STALL_NS)
		return;
	conn->stall_logged = true;
	chan_log_stall(&conn->chan, now - since);
}

/* ask_others - @conn is silent: do other paths answer?  Those that are in use do, or not, by themselves. */
static void ask_others(struct rxd_conn *conn, uint64_t now)
{
	const struct chan_paths *paths = conn->chan.paths;
	struct rxd_conn *other;
	unsigned i;

	for (i = 0; i < paths->cnt; i++) {
		other = paths->path[i].conn;
		if (!other || other == conn || !rxd_conn_alive(other) || other->loss.out_cnt)
			continue;
		rxd_tx_ping(other, now);
		rxd_conn_rearm(other, now);
	}
}

/* check_silent - True: @conn is mute from now on, and what was in flight on it goes over other paths. */
static bool check_silent(struct rxd_conn *conn, uint64_t now)
{
	ask_others(conn, now);
	if (!rxd_rails_silent(conn, now))
		return false;
	rxd_tx_new_path(conn);
	rxd_tx_ping(conn, now);
	return true;
}

/* A timeout alone does not prove loss: the peer may be busy.  The next ACK shows what was lost.
 */
static void on_probe_timeout(struct rxd_conn *conn, uint64_t now)
{
	if (!conn->loss.probes) {
		conn->refusals = 0;
		conn->asked = conn->stall_logged = false;
	}
	if (conn->loss.probes < UINT8_MAX)
		conn->loss.probes++;
	if (__builtin_expect(conn->chan.paths != NULL, 0) && check_silent(conn, now))
		return;
	if (!rxd_is_rail(conn))
		log_stall(conn, now);
	if (conn->loss.probes == PERSISTENT && rxd_ecn_timeout(&conn->ecn))
		log_ecn_off(conn);
	rxd_tx_probe(conn, now);
	if (!rxd_conn_alive(conn))
		return;
	/* on a lossy path a second probe, which is short, avoids most further timeouts, and shows a black hole */
	rxd_tx_ping(conn, now);
	if (conn->loss.probes < PROBE_AFTER || rxd_is_rail(conn))
		return;
	rxd_probe_send(conn);
	/* as seldom as systems answer, and within 3 s; nothing that is not sealed ends a protected connection */
	if (!rxd_conn_link(conn)->guard && rxd_loss_probe_timeout(&conn->loss, &conn->rtt, RXD_PEER_DELAY_NS) >= ASK_AFTER_NS)
		rxd_ask(conn);
}

void rxd_tx_timeout(struct rxd_conn *conn, uint64_t now)
{
	struct acking a = { .conn = conn, .now = now };
	bool silent;
	uint64_t due = rxd_loss_due(&conn->loss, &conn->rtt, RXD_PEER_DELAY_NS, &silent);

	if (rxd_tx_is_blocked(conn)) {
		if (rxd_tx_due(conn, now) <= now)
			on_probe_timeout(conn, now);
	} else if (due && due <= now) {
		if (silent)
			on_probe_timeout(conn, now);
		else
			rxd_loss_detect(&conn->loss, now, &conn->rtt, loss_ops_of(conn), &a);
		/* only path probes were lost: no answer is due any more */
		if (!conn->loss.out_cnt && rxd_tx_idle(conn))
			conn->unanswered_ns = 0;
	}
	if (rxd_conn_alive(conn))
		rxd_conn_schedule(conn);
	if (rxd_is_rail(conn))
		rxd_conn_schedule(rxd_main_of(conn));
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * A connection: from the handshake until its streams have ended.  Each end has chosen a
 * random id; the pair of ids is the connection, whichever end connected.  So simultaneous
 * connects are one connection, and an endpoint may connect to itself.
 */
#include <rdma/fi_errno.h>
#include <stdlib.h>

#include "conn.h"

_Static_assert(sizeof(struct rxd_conn) <= 768, "an idle peer stays below 1 KiB");

/* ---- timer: one for all that a connection waits for ---------------------------------- */

/* Only while no packet is unanswered; otherwise dead_due() watches the peer. */
static uint64_t keepalive_due(const struct rxd_conn *conn)
{
	uint64_t gap = (uint64_t) rxd_conf.keepalive_ms * CLOCK_NS_PER_MS;

	return gap && !conn->unanswered_ns ? conn->received_ns + gap : UINT64_MAX;
}

/* dead_due - when a peer that has not answered is declared lost. */
static uint64_t dead_due(const struct rxd_conn *conn)
{
	uint64_t since = conn->unanswered_ns > conn->received_ns ? conn->unanswered_ns :
			 conn->received_ns;

	return conn->unanswered_ns ?
	       since + (uint64_t) rxd_conf.peer_timeout_ms * CLOCK_NS_PER_MS : UINT64_MAX;
}

/* welcome_due - when WELCOME is retransmitted to a peer that has not confirmed it. */
static uint64_t welcome_due(const struct rxd_conn *conn)
{
	unsigned tries = conn->handshake ? conn->handshake->tries : 0;

	return conn->confirmed || !conn->handshake ? UINT64_MAX :
	       conn->handshake->sent_ns + (RXD_RTT_FIRST_NS << (tries < 5 ? tries : 5));
}

/* The earliest of all events of the connection; UINT64_MAX: it waits for packets only. */
static uint64_t due_of(struct rxd_conn *conn, uint64_t now)
{
	uint64_t due = UINT64_MAX;

	if (conn->chan.state == CHAN_CONNECTING)
		return rxd_hello_due(conn);
	if (!rxd_conn_alive(conn))
		return due;
	if (conn->report_up)
		return 0;
	clock_earlier(&due, rxd_tx_due(conn, now));
	if (conn->ack_cnt)
		clock_earlier(&due, conn->ack_since_ns + RXD_ACK_DELAY_NS);
	if (conn->no_memory)
		clock_earlier(&due, now + RXD_RETRY_NS);
	clock_earlier(&due, keepalive_due(conn));
	clock_earlier(&due, dead_due(conn));
	clock_earlier(&due, welcome_due(conn));
	return due;
}

/* A timer that is set too early is corrected when it fires. */
void rxd_conn_rearm(struct rxd_conn *conn, uint64_t now)
{
	const struct timer *timer = &conn->chan.timer;
	uint64_t due = due_of(conn, now);

	if (due != UINT64_MAX && (!timer->at || timer->due_ns > due))
		chan_timer_set(&conn->chan, due);
}

static void fire_alive(struct rxd_conn *conn, uint64_t now)
{
	if (dead_due(conn) <= rxd_conn_poller(conn)->looked_ns) {
		rxd_conn_fail(conn, FI_ETIMEDOUT, false);
		return;
	}
	if (welcome_due(conn) <= now)
		rxd_welcome_send(conn, now);
	if (keepalive_due(conn) <= now)
		rxd_tx_ping(conn, now);
	/* an ACK may be due, or pacing allows more */
	if (conn->ack_cnt || conn->nxt != conn->end || conn->retransmit.cnt || conn->no_memory)
		rxd_conn_schedule(conn);
	if (rxd_tx_due(conn, now) <= now)
		rxd_tx_timeout(conn, now);
	if (!conn->loss.out_cnt)
		rxd_loss_idle(&conn->loss);
}

static void on_timer(struct chan *chan, uint64_t now)
{
	struct rxd_conn *conn = rxd_conn_of_chan(chan);

	if (conn->report_up) {	/* of a MSG endpoint; fi_accept() cannot report it itself */
		conn->report_up = false;
		if (!chan->link->closing)
			eng_on_connected(&chan->link->base, chan_peer(chan), NULL, 0);
	}
	if (chan->state == CHAN_CONNECTING && rxd_hello_due(conn) <= now)
		rxd_hello_timeout(conn, now);
	else if (rxd_conn_alive(conn))
		fire_alive(conn, now);
	rxd_conn_rearm(conn, now);
}

void rxd_conn_schedule(struct rxd_conn *conn)
{
	chan_poller_dirty(conn->chan.link->poller, &conn->dirty_node);
}

/* ---- beginning -------------------------------------------------------------------- */

static void init(struct chan *chan)
{
	struct rxd_conn *conn = rxd_conn_of_chan(chan);

	conn->to = FI_ADDR_UNSPEC;
	list_init(&conn->dirty_node);
	list_init(&conn->items);
	list_init(&conn->reordered);
	rxd_ranges_init(&conn->acked);
	rxd_ranges_init(&conn->retransmit);
	rxd_ranges_init(&conn->pns);
	rxd_loss_init(&conn->loss);
}

/* Ids are random, so that a packet of another peer or of an earlier connection matches none. */
static int take_id(struct rxd_conn *conn)
{
	struct rxd_link *link = rxd_conn_link(conn);
	int ret;

	do {
		conn->cid = rxd_dg_random();
		ret = conn->cid ? hmap_insert(&link->by_cid, conn->cid, conn) : -FI_EALREADY;
	} while (ret == -FI_EALREADY);
	if (ret)
		conn->cid = 0;
	return ret;
}

static void reset_streams(struct rxd_conn *conn)
{
	conn->clean_end = conn->confirmed = conn->ended = false;
	conn->want_shut = conn->shut = false;
	conn->report_up = conn->ack_now = conn->is_paused = conn->no_memory = false;
	conn->una = conn->nxt = conn->end = conn->limit = 0;
	conn->source = 0;
	conn->rcv_nxt = conn->rcv_limit = 0;
	conn->rcv_renew = 0;
	conn->pn_floor = conn->largest_ns = conn->ack_since_ns = 0;
	conn->burst_seq = 0;
	conn->burst = false;
	conn->ack_cnt = 0;
	conn->ect_cnt = conn->ce_cnt = 0;
	conn->was_ce = false;
	conn->received_ns = conn->unanswered_ns = 0;
	conn->asked = false;
	conn->refusals = 0;
	rxd_rtt_init(&conn->rtt);
	rxd_loss_init(&conn->loss);
	rxd_ecn_init(&conn->ecn, rxd_conn_link(conn)->dg->has_ecn);
	rxd_mtu_init(&conn->mtu, RXD_DGRAM_MIN, RXD_DGRAM_MIN);
	rxd_cc_init(&conn->cc, (enum rxd_cc_kind) rxd_conf.cc, RXD_DGRAM_MIN,
		    (unsigned) rxd_conf.tolerance);
}

int rxd_conn_open(struct rxd_conn *conn, const void *addr)
{
	struct rxd_link *link = rxd_conn_link(conn);
	int ret;

	reset_streams(conn);
	ret = rxd_dg_peer(link->dg, addr, &conn->to);
	if (ret)
		return ret;
	ret = take_id(conn);
	if (ret) {
		rxd_dg_forget(link->dg, conn->to);
		conn->to = FI_ADDR_UNSPEC;
	}
	return ret;
}

int rxd_conn_accept(struct rxd_conn *conn, const void *addr)
{
	if (conn->cid)		/* simultaneous connects: our attempt's id is the connection's */
		return 0;
	conn->chan.serial = ++conn->chan.link->serial;
	return rxd_conn_open(conn, addr);
}

void rxd_conn_ready(struct rxd_conn *conn, const struct rxd_hello *hello, uint64_t now)
{
	struct chan_id id = { .epoch = hello->epoch, .prev = hello->serial };
	size_t most = rxd_conn_link(conn)->dg->dgram_max;

	if (hello->dgram_max < most)
		most = hello->dgram_max;
	conn->peer_cid = hello->cid;
	conn->limit = hello->window;
	if (conn->rcv_limit < rxd_rx_window(conn))
		conn->rcv_limit = rxd_rx_window(conn);
	conn->received_ns = now;
	rxd_mtu_init(&conn->mtu, RXD_DGRAM_MIN, (uint32_t) most);
	rxd_path_said(conn, hello);
	/* both ids make the connection, so it counts as ours whichever end connected */
	chan_up(&conn->chan, conn, &id, true);
	if (rxd_conn_alive(conn))
		rxd_conn_schedule(conn);
}

/* ---- end ----------------------------------------------------------------------------- */

/* release - give back what the connection, or the attempt, has. */
static void release(struct rxd_conn *conn, int err)
{
	struct rxd_poller *poller = rxd_conn_poller(conn);
	struct rxd_link *link = rxd_conn_link(conn);

	if (poller->deferred == conn)
		poller->deferred = NULL;
	list_del(&conn->dirty_node);
	list_del(&conn->chan.node);
	if (conn->cid)
		hmap_remove(&link->by_cid, conn->cid);
	if (conn->to != FI_ADDR_UNSPEC)
		rxd_dg_forget(link->dg, conn->to);
	conn->to = FI_ADDR_UNSPEC;
	conn->cid = conn->peer_cid = 0;
	free(conn->handshake);
	conn->handshake = NULL;
	rxd_migration_drop(conn);
	conn->report_up = false;
	conn->chan.conn = NULL;
	rxd_rx_drop(conn, err);
	rxd_tx_drop(conn, err);
}

static void on_close(struct chan *chan, int err, bool orderly)
{
	release(rxd_conn_of_chan(chan), err);
}

static void on_abort(struct chan *chan)
{
	release(rxd_conn_of_chan(chan), FI_ECANCELED);
}

/* An attempt fails at once; what is established is reported by the next poll. */
void rxd_conn_fail(struct rxd_conn *conn, int err, bool clean)
{
	struct chan_poller *poller = conn->chan.link->poller;

	if (conn->chan.state == CHAN_CONNECTING) {
		on_abort(&conn->chan);
		chan_connect_failed(&conn->chan, err, true);
		return;
	}
	if (!rxd_conn_alive(conn))
		return;
	conn->chan.conn = NULL;
	conn->chan.failed = true;
	conn->chan.err = (int16_t) err;
	conn->clean_end = clean;
	timer_off(&poller->timers, &conn->chan.timer);
	list_del(&conn->dirty_node);
	list_del(&conn->chan.node);
	list_add_tail(&conn->chan.node, &poller->failed);
	chan_poller_kick(poller);
}

void rxd_conn_lost(struct rxd_conn *conn)
{
	chan_lost(&conn->chan, conn->chan.err, conn->clean_end);
}

/* has_all - the peer has all that was sent.  When the peer's stream has ended, the ACK of the
 * end of ours is not waited for: the peer may be gone.
 */
static bool has_all(const struct rxd_conn *conn)
{
	return rxd_tx_idle(conn) || (conn->ended && list_empty(&conn->chan.pending) &&
				     conn->una + RXD_FRAME_SIZE >= conn->end);
}

/* on_finish - the peer must also know what has arrived here: it may be closing, too. */
static bool on_finish(struct chan *chan)
{
	struct rxd_conn *conn = rxd_conn_of_chan(chan);

	if (chan->state == CHAN_CONNECTING)
		return list_empty(&chan->pending);
	if (!rxd_conn_alive(conn))
		return true;
	rxd_tx_shut(conn);
	if (!conn->shut || !has_all(conn))
		return false;
	if (!conn->ack_cnt)
		return true;
	conn->ack_now = true;
	rxd_conn_schedule(conn);
	return false;
}

static const char *advice(const struct chan *chan, int err)
{
	if (err == FI_ETIMEDOUT && chan->state == CHAN_BACKOFF)
		return "no answer: see that the peer runs, that it uses ofi_rxd of this library, "
		       "and that no firewall drops its datagrams";
	if (err == FI_ETIMEDOUT)
		return "the peer does not answer, or its program makes no progress "
		       "(FI_OFI_RXD_PEER_TIMEOUT)";
	return err == FI_ECONNRESET ? "the peer has ended, or has been restarted" : NULL;
}

const struct chan_ops rxd_chan_ops = {
	.init = init,
	.connect = rxd_hello_start,
	.abort = on_abort,
	.close = on_close,
	.finish = on_finish,
	.timer = on_timer,
	.advice = advice,
	.path = rxd_path,
	.nap = rxd_dg_nap,
};

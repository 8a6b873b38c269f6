/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * The life of a connection: from the handshake until its streams have ended.  Each end has chosen a
 * random id; the pair of ids is the connection, whichever end connected.  So simultaneous
 * connects are one connection, and an endpoint may connect to itself.
 */
#include <rdma/fi_errno.h>
#include <stdlib.h>

#include "conn.h"

_Static_assert(sizeof(struct rxd_conn) <= 768, "an idle peer stays below 1 KiB");

/* ---- beginning -------------------------------------------------------------------- */

void rxd_conn_init(struct chan *chan)
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
int rxd_conn_take_id(struct rxd_conn *conn)
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

uint32_t rxd_conn_least(const struct rxd_conn *conn)
{
	return (uint32_t) (RXD_DGRAM_MIN - rxd_guard_tag(rxd_conn_link(conn)));
}

void rxd_conn_reset(struct rxd_conn *conn)
{
	conn->clean_end = conn->confirmed = conn->ended = false;
	conn->want_shut = conn->shut = conn->mute = false;
	conn->report_up = conn->ack_now = conn->is_paused = conn->no_memory = false;
	conn->una = conn->nxt = conn->end = conn->limit = 0;
	conn->source = 0;
	conn->rcv_nxt = conn->rcv_limit = 0;
	conn->rcv_renew = 0;
	conn->pn_floor = conn->largest_ns = conn->ack_since_ns = 0;
	conn->burst_seq = 0;
	conn->burst = false;
	conn->sealed = rxd_conn_link(conn)->guard != NULL;
	conn->guarded = conn->sealed || rxd_conf.checksum;
	conn->ack_cnt = 0;
	conn->ect_cnt = conn->ce_cnt = 0;
	conn->was_ce = false;
	conn->received_ns = conn->unanswered_ns = 0;
	conn->asked = false;
	conn->refusals = 0;
	rxd_rtt_init(&conn->rtt);
	rxd_loss_init(&conn->loss);
	rxd_ecn_init(&conn->ecn, rxd_conn_link(conn)->dg->has_ecn);
	rxd_mtu_init(&conn->mtu, rxd_conn_least(conn), rxd_conn_least(conn));
	rxd_cc_init(&conn->cc, (enum rxd_cc_kind) rxd_conf.cc, RXD_DGRAM_MIN,
		    (unsigned) rxd_conf.tolerance);
}

int rxd_conn_open(struct rxd_conn *conn, const void *addr)
{
	struct rxd_link *link = rxd_conn_link(conn);
	int ret;

	rxd_conn_reset(conn);
	ret = rxd_dg_peer(link->dg, addr, &conn->to);
	if (ret)
		return ret;
	ret = link->guard ? rxd_sec_connect(conn, addr) : rxd_conn_take_id(conn);
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

int rxd_conn_adopt(struct rxd_conn *conn, struct rxd_sec *sec, const void *addr)
{
	struct rxd_link *link = rxd_conn_link(conn);
	fi_addr_t to;
	int ret = rxd_dg_peer(link->dg, addr, &to);

	if (ret)
		return ret;
	ret = rxd_sec_adopt(sec, conn);
	if (ret) {
		rxd_dg_forget(link->dg, to);
		return ret;
	}
	if (conn->to != FI_ADDR_UNSPEC)
		rxd_dg_forget(link->dg, conn->to);
	/* an attempt of ours that this one replaces, and whose HELLO may still arrive, is older */
	conn->chan.serial = ++conn->chan.link->serial;
	rxd_conn_reset(conn);
	conn->to = to;
	return 0;
}

int rxd_conn_again(struct rxd_conn *conn)
{
	uint8_t addr[RXD_ADDR_MAX];
	int ret = rxd_dg_addr(rxd_conn_link(conn)->dg, conn->to, addr);

	if (!ret)
		ret = rxd_sec_connect(conn, addr);
	if (!ret)
		conn->peer_cid = 0;
	return ret;
}

void rxd_conn_ready(struct rxd_conn *conn, const struct rxd_hello *hello, uint64_t now)
{
	struct chan_id id = { .epoch = hello->epoch, .prev = hello->serial };
	size_t most = rxd_conn_link(conn)->dg->dgram_max;

	if (hello->dgram_max < most)
		most = hello->dgram_max;
	most -= rxd_guard_tag(rxd_conn_link(conn));
	conn->peer_cid = hello->cid;
	conn->limit = hello->window;
	if (conn->rcv_limit < rxd_rx_window(conn))
		conn->rcv_limit = rxd_rx_window(conn);
	conn->received_ns = now;
	rxd_mtu_init(&conn->mtu, rxd_conn_least(conn), (uint32_t) most);
	rxd_route_said(conn, hello);
	rxd_sec_named(conn, hello->addr);
	/* both ids make the connection, so it counts as ours whichever end connected */
	chan_up(&conn->chan, conn, &id, true);
	if (rxd_conn_alive(conn))
		rxd_conn_schedule(conn);
}

/* ---- end ----------------------------------------------------------------------------- */

void rxd_conn_release(struct rxd_conn *conn, int err)
{
	struct rxd_poller *poller = rxd_conn_poller(conn);
	struct rxd_link *link = rxd_conn_link(conn);

	if (poller->deferred == conn)
		poller->deferred = NULL;
	list_del(&conn->dirty_node);
	list_del(&conn->chan.node);
	if (link->guard)
		rxd_sec_release(conn);
	else if (conn->cid)
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

void rxd_attempt_fail(struct rxd_conn *conn, int err)
{
	rxd_conn_release(conn, FI_ECANCELED);
	chan_connect_failed(&conn->chan, err, true);
}

/* has_all - the peer has all that was sent.  When the peer's stream has ended, the ACK of the
 * end of ours is not waited for: the peer may be gone.
 */
static bool has_all(const struct rxd_conn *conn)
{
	return rxd_tx_idle(conn) || (conn->ended && list_empty(&conn->chan.pending) &&
				     conn->una + RXD_FRAME_SIZE >= conn->end);
}

/* The peer must also know what has arrived here: it may be closing, too. */
bool rxd_conn_finish(struct chan *chan)
{
	struct rxd_conn *conn = rxd_conn_of_chan(chan);

	if (chan->state == CHAN_CONNECTING)
		return list_empty(&chan->pending);
	if (!rxd_conn_alive(conn))
		return true;
	rxd_tx_shut(conn);
	if (!conn->shut || !has_all(conn))
		return false;
	if (conn->chan.paths && !rxd_rails_say_all(conn))
		return false;
	if (!conn->ack_cnt)
		return true;
	conn->ack_now = true;
	rxd_conn_schedule(conn);
	return false;
}

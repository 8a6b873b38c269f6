/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * A connection's life.  Both ends have made up an id; the pair of ids is the
 * connection, whoever called.  So two calls that cross are one, and an endpoint that
 * calls itself is its own peer.
 */
#include <assert.h>
#include <inttypes.h>
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/net_addr.h"
#include "conn.h"

_Static_assert(sizeof(struct rxd_conn) <= 800, "an idle peer stays below 1 KiB");

/* Any state may end in IDLE. */
static const unsigned edges[] __attribute__((unused)) = {
	[RXD_IDLE] = 1u << RXD_CALLING | 1u << RXD_READY,
	[RXD_CALLING] = 1u << RXD_READY | 1u << RXD_FAILED,
	[RXD_READY] = 1u << RXD_FAILED,
	[RXD_FAILED] = 0,
};

static void set_state(struct rxd_conn *conn, enum rxd_state state)
{
	assert((state == RXD_IDLE || edges[conn->state] & 1u << state) &&
	       "a connection takes no shortcuts");
	conn->state = state;
}

const char *rxd_addr_text(const void *addr, size_t len, char *buf)
{
	const struct sockaddr *sa = addr;

	_Static_assert(RXD_TEXT >= NET_ADDR_TEXT_MAX, "room for an address");
	if (len >= sizeof(sa->sa_family) && net_addr_len(sa) && net_addr_len(sa) <= len)
		return net_addr_text(sa, buf);
	snprintf(buf, RXD_TEXT, "an address of %zu bytes", len);
	return buf;
}

const char *rxd_conn_text(struct rxd_conn *conn, char *buf)
{
	return rxd_addr_text(eng_peer_addr(rxd_conn_peer(conn)), conn->link->base.attr.addr_len,
			     buf);
}

/* ---- timer --------------------------------------------------------------------- */

static void earlier(uint64_t *due, uint64_t when)
{
	if (when < *due)
		*due = when;
}

static bool answer_owed(const struct rxd_conn *conn)
{
	return conn->owed_ns != 0;
}

static uint64_t keepalive_due(const struct rxd_conn *conn)
{
	uint64_t gap = (uint64_t) rxd_conf.keepalive_ms * CLOCK_NS_PER_MS;

	return gap && !answer_owed(conn) ? conn->heard_ns + gap : UINT64_MAX;
}

static uint64_t dead_due(const struct rxd_conn *conn)
{
	uint64_t since = conn->owed_ns > conn->heard_ns ? conn->owed_ns : conn->heard_ns;

	return answer_owed(conn) ? since + (uint64_t) rxd_conf.peer_timeout_ms * CLOCK_NS_PER_MS :
				   UINT64_MAX;
}

static uint64_t welcome_due(const struct rxd_conn *conn)
{
	unsigned tries = conn->call ? conn->call->tries : 0;

	return conn->confirmed || !conn->call ? UINT64_MAX :
	       conn->asked_ns + (RXD_RTT_FIRST_NS << (tries < 5 ? tries : 5));
}

static uint64_t due_of(struct rxd_conn *conn, uint64_t now)
{
	uint64_t due = UINT64_MAX;

	if (conn->announce)
		return 0;
	if (conn->state == RXD_CALLING)
		return rxd_call_due(conn);
	if (conn->state != RXD_READY)
		return due;
	earlier(&due, rxd_tx_due(conn, now));
	if (conn->ack_cnt)
		earlier(&due, conn->ack_since_ns + RXD_ACK_DELAY_NS);
	if (conn->later_ns)
		earlier(&due, conn->later_ns);
	earlier(&due, keepalive_due(conn));
	earlier(&due, dead_due(conn));
	earlier(&due, welcome_due(conn));
	return due;
}

/* A timer that is set too early is put right when it fires. */
void rxd_conn_rearm(struct rxd_conn *conn, uint64_t now)
{
	struct rxd_poller *poller = conn->link->poller;
	uint64_t due = due_of(conn, now);

	if (due == UINT64_MAX || (conn->timer.at && conn->timer.due_ns <= due))
		return;
	timer_set(&poller->timers, &conn->timer, due);
	obj_prog_moved(poller->base.prog, due);
}

/* The end of a call that was made or taken: from a timer, so from poll(). */
static void announce(struct rxd_conn *conn)
{
	struct eng_link *link = &conn->link->base;

	conn->announce = false;
	if (conn->link->closing)
		return;
	if (conn->link->kind == RXD_KIND_MSG)
		eng_on_connected(link, rxd_conn_peer(conn), NULL, 0);
	else
		eng_on_up(link, rxd_conn_peer(conn));
}

static void fire_ready(struct rxd_conn *conn, uint64_t now)
{
	if (dead_due(conn) <= now) {
		rxd_conn_fail(conn, FI_ETIMEDOUT, false);
		return;
	}
	if (welcome_due(conn) <= now)
		rxd_call_welcome(conn, now);
	if (keepalive_due(conn) <= now)
		rxd_tx_ping(conn, now);
	/* an acknowledgement may be due, or the pace allows more */
	if (conn->ack_cnt || conn->nxt != conn->end || conn->lost.cnt || conn->later_ns)
		rxd_conn_touch(conn);
	if (rxd_tx_due(conn, now) <= now)
		rxd_tx_timeout(conn, now);
	if (!conn->loss.out_cnt)
		rxd_loss_idle(&conn->loss);
}

static void fire(struct timer *timer, uint64_t now)
{
	struct rxd_conn *conn = container_of(timer, struct rxd_conn, timer);

	if (conn->announce)
		announce(conn);
	if (conn->state == RXD_CALLING && rxd_call_due(conn) <= now)
		rxd_call_again(conn, now);
	else if (conn->state == RXD_READY)
		fire_ready(conn, now);
	if (conn->state == RXD_CALLING || conn->state == RXD_READY)
		rxd_conn_rearm(conn, now);
}

void rxd_conn_touch(struct rxd_conn *conn)
{
	struct rxd_poller *poller = conn->link->poller;

	if (!list_empty(&conn->dirty_node))
		return;
	list_add_tail(&conn->dirty_node, &poller->dirty);
	if (!poller->polling)
		obj_prog_moved(poller->base.prog, 0);
}

/* ---- beginning -------------------------------------------------------------------- */

struct rxd_conn *rxd_conn_of(struct rxd_link *link, struct eng_peer *peer)
{
	struct rxd_conn *conn = eng_peer_chan(peer);

	if (!conn->link) {
		conn->link = link;
		conn->to = FI_ADDR_UNSPEC;
		conn->timer.fire = fire;
		list_init(&conn->node);
		list_init(&conn->dirty_node);
		list_init(&conn->state_node);
		list_init(&conn->pending);
		list_init(&conn->items);
		list_init(&conn->early);
		rxd_ranges_init(&conn->acked);
		rxd_ranges_init(&conn->lost);
		rxd_ranges_init(&conn->pns);
		rxd_loss_init(&conn->loss);
	}
	return conn;
}

static int take_id(struct rxd_conn *conn)
{
	struct rxd_link *link = conn->link;
	int ret;

	do {
		conn->cid = rxd_dg_random();
		ret = conn->cid ? hmap_insert(&link->by_cid, conn->cid, conn) : -FI_EALREADY;
	} while (ret == -FI_EALREADY);
	if (!ret)
		conn->serial = ++link->serial;
	return ret;
}

static void reset_streams(struct rxd_conn *conn)
{
	conn->err = 0;
	conn->clean_end = conn->was_call = conn->confirmed = conn->ended = false;
	conn->want_shut = conn->shut = false;
	conn->announce = conn->ack_now = conn->is_paused = false;
	conn->una = conn->nxt = conn->end = conn->limit = 0;
	conn->source = 0;
	conn->rcv_nxt = conn->rcv_limit = 0;
	conn->rcv_renew = 0;
	conn->pn_floor = conn->largest_ns = conn->ack_since_ns = conn->burst_seq = 0;
	conn->burst_cnt = 0;
	conn->ack_cnt = 0;
	conn->ect_cnt = conn->ce_cnt = 0;
	conn->was_ce = false;
	conn->heard_ns = conn->owed_ns = conn->asked_ns = conn->later_ns = 0;
	rxd_rtt_init(&conn->rtt);
	rxd_loss_init(&conn->loss);
	rxd_ecn_init(&conn->ecn, conn->link->dg->has_ecn);
	rxd_mtu_init(&conn->mtu, RXD_DGRAM_MIN, RXD_DGRAM_MIN);
	rxd_cc_init(&conn->cc, rxd_conf.cc, RXD_DGRAM_MIN, (unsigned) rxd_conf.tolerance);
}

int rxd_conn_open(struct rxd_conn *conn, const void *addr)
{
	struct rxd_link *link = conn->link;
	int ret;

	reset_streams(conn);
	ret = timers_join(&link->poller->timers);
	if (ret)
		return ret;
	ret = rxd_dg_peer(link->dg, addr, &conn->to);
	if (ret)
		goto leave;
	ret = take_id(conn);
	if (ret)
		goto forget;
	list_add_tail(&conn->node, &link->conns);
	set_state(conn, RXD_CALLING);
	return 0;

forget:
	rxd_dg_forget(link->dg, conn->to);
	conn->to = FI_ADDR_UNSPEC;
leave:
	timers_leave(&link->poller->timers);
	return ret;
}

void rxd_conn_ready(struct rxd_conn *conn, const struct rxd_hello *hello, uint64_t now)
{
	size_t most = conn->link->dg->dgram_max;

	if (hello->dgram_max < most)
		most = hello->dgram_max;
	conn->peer_cid = hello->cid;
	conn->peer_epoch = hello->epoch;
	conn->peer_serial = hello->serial;
	conn->limit = hello->window;
	if (conn->rcv_limit < rxd_rx_window(conn))
		conn->rcv_limit = rxd_rx_window(conn);
	conn->heard_ns = now;
	rxd_mtu_init(&conn->mtu, RXD_DGRAM_MIN, (uint32_t) most);
	set_state(conn, RXD_READY);
	rxd_conn_touch(conn);
}

/* ---- end ----------------------------------------------------------------------------- */

void rxd_conn_fail(struct rxd_conn *conn, int err, bool clean)
{
	struct rxd_poller *poller = conn->link->poller;

	if (conn->state == RXD_FAILED || conn->state == RXD_IDLE)
		return;
	conn->err = (int16_t) err;
	conn->clean_end = clean;
	conn->was_call = conn->state == RXD_CALLING;
	set_state(conn, RXD_FAILED);
	timer_off(&poller->timers, &conn->timer);
	list_del(&conn->dirty_node);
	list_del(&conn->state_node);
	list_add_tail(&conn->state_node, &poller->failed);
	if (!poller->polling)
		obj_prog_moved(poller->base.prog, 0);
}

void rxd_conn_put(struct rxd_conn *conn, int err)
{
	struct rxd_link *link = conn->link;

	if (conn->state == RXD_IDLE) {
		rxd_tx_drop(conn, err);
		return;
	}
	if (link->poller->after == conn)
		link->poller->after = NULL;
	timer_off(&link->poller->timers, &conn->timer);
	timers_leave(&link->poller->timers);
	list_del(&conn->dirty_node);
	list_del(&conn->state_node);
	list_del(&conn->node);
	hmap_remove(&link->by_cid, conn->cid);
	if (conn->to != FI_ADDR_UNSPEC)
		rxd_dg_forget(link->dg, conn->to);
	conn->to = FI_ADDR_UNSPEC;
	free(conn->call);
	conn->call = NULL;
	rxd_move_forget(conn);
	conn->cid = conn->peer_cid = 0;
	conn->announce = false;
	set_state(conn, RXD_IDLE);
	rxd_rx_drop(conn, err);
	rxd_tx_drop(conn, err);
}

static void say(struct rxd_conn *conn)
{
	char text[RXD_TEXT];

	rxd_conn_text(conn, text);
	if (conn->clean_end)
		RXD_INFO("%s closed the connection\n", text);
	else if (conn->was_call && conn->err == FI_ETIMEDOUT)
		RXD_WARN_SPARSE("no answer from %s: see that it runs, that it uses ofi_rxd of this "
				"library, and that no firewall is between\n", text);
	else if (conn->err != FI_ECONNREFUSED && conn->err != FI_EPROTO)
		RXD_WARN_SPARSE("lost the connection to %s: %s%s\n", text, fi_strerror(conn->err),
				conn->err == FI_ETIMEDOUT ? "; the peer does not answer, or its program "
				"makes no progress (FI_OFI_RXD_PEER_TIMEOUT)" :
				conn->err == FI_ECONNRESET ? "; it has been restarted" : "");
}

void rxd_conn_lost(struct rxd_conn *conn)
{
	struct eng_link *link = &conn->link->base;
	struct eng_peer *peer = rxd_conn_peer(conn);
	bool clean = conn->clean_end, call = conn->was_call;
	int err = conn->err;

	if (!conn->link->closing)
		say(conn);
	rxd_conn_put(conn, err);
	if (conn->link->closing)
		return;
	if (conn->link->kind == RXD_KIND_RDM)
		eng_on_down(link, peer, err);
	else if (call)
		eng_on_refused(link, peer, err, NULL, 0);
	else if (clean)
		eng_on_shutdown(link, peer);
	else
		eng_on_down(link, peer, err);
}

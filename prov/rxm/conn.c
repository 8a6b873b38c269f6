/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * A connection's life.
 */
#include <assert.h>
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/net_addr.h"
#include "conn.h"

/* Any state may end in IDLE. */
static const unsigned edges[] __attribute__((unused)) = {
	[RXM_IDLE] = 1u << RXM_CALLING | 1u << RXM_WAITING | 1u << RXM_TAKING,
	[RXM_CALLING] = 1u << RXM_WAITING | 1u << RXM_AWAITING | 1u << RXM_TAKING | 1u << RXM_READY,
	[RXM_WAITING] = 1u << RXM_CALLING | 1u << RXM_TAKING | 1u << RXM_WAITING,
	[RXM_AWAITING] = 1u << RXM_CALLING | 1u << RXM_WAITING | 1u << RXM_TAKING,
	[RXM_TAKING] = 1u << RXM_READY | 1u << RXM_FAILED,
	[RXM_READY] = 1u << RXM_FAILED,
	[RXM_FAILED] = 0,
};

void rxm_conn_set_state(struct rxm_conn *conn, enum rxm_state state)
{
	assert((state == RXM_IDLE || edges[conn->state] & 1u << state) &&
	       "a connection takes no shortcuts");
	if (conn->state == RXM_IDLE)
		list_add_tail(&conn->node, &conn->link->conns);
	else if (state == RXM_IDLE)
		list_del(&conn->node);
	conn->state = state;
}

const char *rxm_addr_text(const void *addr, size_t len, char *buf)
{
	const struct sockaddr *sa = addr;

	_Static_assert(RXM_TEXT >= NET_ADDR_TEXT_MAX, "room for an address");
	if (len >= sizeof(sa->sa_family) && net_addr_len(sa) && net_addr_len(sa) <= len)
		return net_addr_text(sa, buf);
	snprintf(buf, RXM_TEXT, "an address of %zu bytes", len);
	return buf;
}

const char *rxm_conn_text(struct rxm_conn *conn, char *buf)
{
	return rxm_addr_text(eng_peer_addr(rxm_conn_peer(conn)), conn->link->base.attr.addr_len,
			     buf);
}

static void fire(struct timer *timer, uint64_t now)
{
	rxm_call_timer(container_of(timer, struct rxm_conn, timer), now);
}

struct rxm_conn *rxm_conn_of(struct rxm_link *link, struct eng_peer *peer)
{
	struct rxm_conn *conn = eng_peer_chan(peer);

	if (!conn->link) {
		conn->link = link;
		conn->timer.fire = fire;
		list_init(&conn->node);
		list_init(&conn->state_node);
		list_init(&conn->dirty_node);
		list_init(&conn->pending);
		list_init(&conn->rxq);
		list_init(&conn->holds);
	}
	return conn;
}

void rxm_conn_touch(struct rxm_conn *conn)
{
	struct rxm_poller *poller = conn->link->poller;

	if (!list_empty(&conn->dirty_node))
		return;
	list_add_tail(&conn->dirty_node, &poller->dirty);
	if (!poller->polling)
		obj_prog_moved(poller->base.prog, 0);
}

/* ---- the end ---------------------------------------------------------------------------- */

void rxm_conn_drop_socks(struct rxm_conn *conn)
{
	struct rxm_sock *sock = conn->sock, *loop = conn->loop;

	conn->sock = conn->loop = NULL;
	if (loop)
		rxm_sock_close(loop);
	if (sock)
		rxm_sock_close(sock);
}

/* How an endpoint below answers when its connection is over and nobody has read the event
 * that says so.
 */
static bool says_over(int err)
{
	return err == FI_ENOTCONN || err == FI_ESHUTDOWN || err == FI_ECANCELED;
}

void rxm_conn_fail(struct rxm_conn *conn, int err)
{
	struct rxm_poller *poller = conn->link->poller;

	if (conn->state != RXM_READY && conn->state != RXM_TAKING)
		return;
	conn->err = says_over(err) ? FI_ECONNRESET : err;
	rxm_conn_set_state(conn, RXM_FAILED);
	list_del(&conn->dirty_node);
	list_del(&conn->state_node);
	list_add_tail(&conn->state_node, &poller->failed);
	if (!poller->polling)
		obj_prog_moved(poller->base.prog, 0);
}

/* Order: the endpoints below are closed before anybody is told that his buffer is free. */
void rxm_conn_put(struct rxm_conn *conn, int err)
{
	struct rxm_poller *poller = conn->link->poller;
	struct rxm_sock *sock = conn->sock, *loop = conn->loop;

	timer_off(&poller->timers, &conn->timer);
	list_del(&conn->dirty_node);
	list_del(&conn->state_node);
	rxm_conn_drop_socks(conn);
	if (conn->state != RXM_IDLE) {
		timers_leave(&poller->timers);
		rxm_conn_set_state(conn, RXM_IDLE);
	}
	conn->bye = conn->said_bye = conn->ended = conn->ours = conn->is_paused = false;
	conn->placing = false;
	rxm_rx_drop(conn, sock, loop, err);
	rxm_tx_drop(conn, err);
}

static void say(struct rxm_conn *conn)
{
	char text[RXM_TEXT];

	rxm_conn_text(conn, text);
	if (conn->bye && !eng_peer_waits(rxm_conn_peer(conn)))
		RXM_INFO("%s closed the connection\n", text);
	else if (conn->bye)
		RXM_WARN_SPARSE("%s closed the connection while operations waited for it; has that "
				"process ended?\n", text);
	else if (conn->err != FI_EPROTO)
		RXM_WARN_SPARSE("lost the connection to %s: %s\n", text, fi_strerror(conn->err));
}

void rxm_conn_lost(struct rxm_conn *conn)
{
	struct rxm_link *link = conn->link;
	struct eng_peer *peer = rxm_conn_peer(conn);
	int err = conn->err;

	if (!link->closing)
		say(conn);
	rxm_conn_put(conn, err);
	if (!link->closing)
		eng_on_down(&link->base, peer, err);
}

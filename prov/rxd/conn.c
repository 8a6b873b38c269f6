/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * What any unit may do to a connection: have it send, declare it lost, and send packets without a number.
 */
#include <rdma/fi_errno.h>

#include "conn.h"

void rxd_conn_schedule(struct rxd_conn *conn)
{
	chan_poller_dirty(conn->chan.link->poller, &conn->dirty_node);
}

void rxd_conn_control(struct rxd_conn *conn, uint8_t *buf, size_t len)
{
	struct iovec iov = { buf, len };

	if (rxd_conn_link(conn)->guard) {
		rxd_sec_control(conn, buf, len);
		return;
	}
	rxd_seal(buf, len, NULL, 0);
	rxd_dg_send(rxd_conn_link(conn)->dg, conn->to, &iov, 1);
}

/* To an address that need not be a peer's, so nothing of it is kept. */
void rxd_link_reply(struct rxd_link *link, const void *addr, uint8_t *buf, size_t len)
{
	struct iovec iov = { buf, len };
	fi_addr_t to;

	if (rxd_dg_peer(link->dg, addr, &to))
		return;
	if (link->guard)
		rxd_guard_mark(buf);
	rxd_seal(buf, len, NULL, 0);
	rxd_dg_send(link->dg, to, &iov, 1);
	rxd_dg_forget(link->dg, to);
}

void rxd_conn_fail(struct rxd_conn *conn, int err, bool clean)
{
	struct chan_poller *poller = conn->chan.link->poller;

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

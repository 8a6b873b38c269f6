/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * What any unit may do to a connection: have it send, and declare it lost.
 */
#include <rdma/fi_errno.h>

#include "conn.h"

void rxd_conn_schedule(struct rxd_conn *conn)
{
	chan_poller_dirty(conn->chan.link->poller, &conn->dirty_node);
}

void rxd_conn_fail(struct rxd_conn *conn, int err, bool clean)
{
	struct chan_poller *poller = conn->chan.link->poller;

	if (!rxd_conn_alive(conn))
		return;
	if (rxd_is_rail(conn)) {	/* one path fewer: its timer gives back what was sent over it */
		conn->chan.conn = NULL;
		conn->chan.err = (int16_t) err;
		list_del(&conn->dirty_node);
		chan_timer_set(&conn->chan, 0);
		return;
	}
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

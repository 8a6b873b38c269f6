/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * The end of a connection: detected, reported, and orderly when the endpoint closes.
 */
#include <rdma/fi_errno.h>

#include "conn.h"

void rxm_conn_dirty(struct rxm_conn *conn)
{
	chan_poller_dirty(conn->chan.link->poller, &conn->dirty_node);
}

/* ---- failure ------------------------------------------------------------------------------ */

/* is_shutdown - errors of an endpoint below whose connection is over, while the event that
 * says so has not been read.
 */
static bool is_shutdown(int err)
{
	return err == FI_ENOTCONN || err == FI_ESHUTDOWN || err == FI_ECANCELED;
}

void rxm_conn_fail(struct rxm_conn *conn, int err)
{
	struct chan_poller *poller = conn->chan.link->poller;

	if ((conn->chan.state != CHAN_READY && conn->chan.state != CHAN_ACCEPTING) ||
	    conn->chan.failed)
		return;
	conn->chan.err = is_shutdown(err) ? FI_ECONNRESET : err;
	conn->chan.failed = true;
	conn->chan.conn = NULL;
	list_del(&conn->dirty_node);
	list_del(&conn->work_node);
	list_add_tail(&conn->work_node, &poller->failed);
	chan_poller_kick(poller);
}

void rxm_conn_report(struct rxm_conn *conn)
{
	chan_lost(&conn->chan, conn->chan.err, conn->peer_closed);
}

/* ---- closing -------------------------------------------------------------------------------- */

/* conn_reset - close the endpoints below first: they must not touch the engine's buffers when
 * it learns that those are free.
 */
static void conn_reset(struct rxm_conn *conn, int err)
{
	struct rxm_ep *const eps[2] = { conn->ep, conn->self };
	unsigned i;

	conn->chan.conn = NULL;
	conn->ep = conn->self = NULL;
	for (i = 0; i < 2; i++)
		if (eps[i])
			rxm_ep_close(eps[i]);
	list_del(&conn->dirty_node);
	list_del(&conn->work_node);
	conn->peer_closed = conn->close_sent = conn->ended = false;
	conn->paused = conn->reading = false;
	rxm_rx_reset(conn, eps, err);
	rxm_tx_reset(conn, err);
}

void rxm_conn_close_eps(struct rxm_conn *conn)
{
	conn_reset(conn, FI_ECANCELED);
}

void rxm_conn_close(struct chan *chan, int err, bool orderly)
{
	conn_reset(rxm_conn_of(chan), err);
}

bool rxm_conn_finish(struct chan *chan)
{
	struct rxm_conn *conn = rxm_conn_of(chan);

	switch (chan->state) {
	case CHAN_CONNECTING:
	case CHAN_ACCEPTING:
	case CHAN_YIELDED:
		return list_empty(&chan->pending);
	case CHAN_READY:
		if (chan->failed)
			return true;
		if (!rxm_tx_idle(conn))
			return false;
		rxm_tx_close(conn);
		return conn->close_sent && list_empty(&conn->ep->sends);
	default:
		return true;
	}
}

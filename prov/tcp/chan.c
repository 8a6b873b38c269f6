/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * struct chan_ops: what the channel layer asks of this link's connections.
 */
#include <errno.h>
#include <rdma/fi_errno.h>
#include <sys/ioctl.h>
#include <linux/sockios.h>

#include "link.h"

/* abort_connect - end our attempt without a report. */
static void abort_connect(struct chan *base)
{
	struct tcp_chan *chan = tcp_chan_of(base);
	struct tcp_conn *attempt = chan->attempt;

	chan->attempt = NULL;
	if (attempt)
		tcp_conn_close(attempt);
}

/* close_conn - @orderly: what is staged is sent before the stream ends. */
static void close_conn(struct chan *base, int err, bool orderly)
{
	struct tcp_chan *chan = tcp_chan_of(base);
	struct tcp_conn *conn[] = { chan->loop, base->conn };
	size_t i;

	base->conn = NULL;
	chan->loop = NULL;
	if (chan->check)
		tcp_conn_close(chan->check);
	chan->check = NULL;
	for (i = 0; i < sizeof(conn) / sizeof(conn[0]); i++) {
		if (!conn[i])
			continue;
		if (orderly) {
			tcp_conn_close_orderly(conn[i]);
			continue;
		}
		conn[i]->err = err;
		tcp_conn_close(conn[i]);
	}
}

/* unacked - are there bytes that the peer's host has not acknowledged?  Closing a socket that
 * has unread input would discard them.
 */
static bool unacked(const struct tcp_conn *conn)
{
	int bytes = 0;

	return !ioctl(conn->src.fd, SIOCOUTQ, &bytes) && bytes > 0;
}

static bool any_unacked(const struct tcp_conn *conn)
{
	const struct tcp_lanes *lanes = conn->lanes;
	unsigned i;

	for (i = 1; lanes && i < lanes->cnt; i++)
		if (lanes->conn[i] && unacked(lanes->conn[i]))
			return true;
	return unacked(conn);
}

/* finish - poll() reads and drops input meanwhile, so that closing causes no reset. */
static bool finish(struct chan *base)
{
	struct tcp_conn *conn = base->conn;

	if (base->state != CHAN_READY)
		return list_empty(&base->pending);
	if (conn->state != TCP_CONN_READY)
		return true;
	conn->tx.shut = true;
	tcp_tx_pump(conn);
	return tcp_stream_idle(conn) && tcp_tx_idle(conn) && !any_unacked(conn);
}

/* hold_back - without a descriptor an attempt waits until idle connections are parked. */
static bool hold_back(struct chan *base, int err)
{
	struct tcp_poller *poller = tcp_link_of(base->link)->poller;

	if (err != FI_EMFILE && err != ENFILE)
		return false;
	base->busy |= tcp_park_any();
	if (!tcp_park_must(poller))
		return false;
	poller->base.hold_connects = true;
	return true;
}

/* timer - no operation waits for a PARKED peer: check that again later. */
static void timer(struct chan *base, uint64_t now)
{
	uint64_t check_ns = tcp_park_check_ns(tcp_link_of(base->link));

	if (check_ns)
		chan_timer_set(base, now + check_ns);
}

static const char *advice(const struct chan *base, int err)
{
	return net_sock_advice(err);
}

const struct chan_ops tcp_chan_ops = {
	.connect = tcp_connect,
	.abort = abort_connect,
	.close = close_conn,
	.finish = finish,
	.hold_back = hold_back,
	.timer = timer,
	.advice = advice,
	.path = tcp_path,
};

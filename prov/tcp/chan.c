/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * struct chan_ops: what the channel layer asks of this link's connections.
 */
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
	if (chan->check.asking)
		tcp_conn_close(chan->check.asking);
	chan->check.asking = NULL;
	for (i = 0; i < sizeof(conn) / sizeof(conn[0]); i++) {
		if (!conn[i])
			continue;
		if (orderly) {
			tcp_tx_flush(conn[i]);
			tcp_conn_close_orderly(conn[i]);
			continue;
		}
		conn[i]->err = err;
		tcp_conn_close(conn[i]);
	}
}

/* has_unacked - are there bytes that the peer's host has not acknowledged?  Closing a socket that
 * has unread input would discard them.
 */
static bool has_unacked(const struct tcp_conn *conn)
{
	int bytes = 0;

	if (conn->rec)
		return !tcp_recover_done(conn);
	if (tcp_sec_pending(conn))
		return true;
	return !ioctl(conn->src.fd, SIOCOUTQ, &bytes) && bytes > 0;
}

static bool any_unacked(const struct tcp_conn *conn)
{
	const struct tcp_lanes *lanes = conn->lanes;
	unsigned i;

	for (i = 1; lanes && i < lanes->base.cnt; i++)
		if (tcp_lane(lanes, i) && has_unacked(tcp_lane(lanes, i)))
			return true;
	return has_unacked(conn);
}

/* chan_finish - poll() reads and drops input meanwhile, so that closing causes no reset. */
static bool chan_finish(struct chan *base)
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

/* ---- parking ---------------------------------------------------------------------------- */

_Static_assert(TCP_WIRE_PARK_ACK - TCP_WIRE_PARK == CHAN_PARK_CONSENT &&
	       TCP_WIRE_PARK_NACK - TCP_WIRE_PARK == CHAN_PARK_DENY, "in the order of enum chan_park_ctl");

static bool rx_idle(const struct tcp_rx *rx)
{
	return rx->body == TCP_BODY_NONE && !rx->stash_len && !rx->kept;
}

static bool conn_idle(const struct chan *base, uint64_t *used_p)
{
	const struct tcp_conn *conn = base->conn;

	*used_p = conn->used_seq > conn->tx.seq ? conn->used_seq : conn->tx.seq;
	return conn->state == TCP_CONN_READY && !conn->tx.stage && !conn->tx.blocked && !conn->tx.shut &&
	       rx_idle(&conn->rx);
}

/* loop_idle - of an endpoint connected to itself: is nothing in flight between its ends? */
static bool loop_idle(const struct tcp_chan *chan)
{
	int out = 1, in = 1;

	return rx_idle(&chan->loop->rx) &&
	       !ioctl(tcp_chan_conn(chan)->src.fd, SIOCOUTQ, &out) && !out &&
	       !ioctl(chan->loop->src.fd, SIOCINQ, &in) && !in;
}

static int send_park(struct chan *base, enum chan_park_ctl ctl)
{
	const struct tcp_chan *chan = tcp_chan_of(base);

	if (ctl == CHAN_PARK_ASK && chan->loop)
		return loop_idle(chan) ? 1 : -FI_EAGAIN;
	return tcp_tx_ctl(base->conn, TCP_WIRE_PARK + ctl) ? 0 : -FI_ENOMEM;
}

static const char *chan_advice(const struct chan *base, int err)
{
	return net_sock_advice(err);
}

const struct chan_ops tcp_chan_ops = {
	.connect = tcp_connect,
	.abort = abort_connect,
	.close = close_conn,
	.finish = chan_finish,
	.idle = conn_idle,
	.park = send_park,
	.ask = tcp_check_ask,
	.hold_back = chan_park_hold_back,
	.timer = chan_park_timer,
	.advice = chan_advice,
	.route = tcp_route,
};

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * What a channel does with the connections of this link: struct chan_ops.
 */
#include <errno.h>
#include <rdma/fi_errno.h>
#include <sys/ioctl.h>
#include <linux/sockios.h>

#include "link.h"

/* hang_up - our attempt is given up. */
static void hang_up(struct chan *base)
{
	struct tcp_chan *chan = tcp_chan_of(base);
	struct tcp_conn *dial = chan->dial;

	chan->dial = NULL;
	if (dial)
		tcp_conn_close(dial);
}

/* close_conn - @orderly: what is staged leaves, and the stream ends behind it. */
static void close_conn(struct chan *base, int err, bool orderly)
{
	struct tcp_chan *chan = tcp_chan_of(base);
	struct tcp_conn *conn[] = { chan->loop, base->conn };
	size_t i;

	base->conn = NULL;
	chan->loop = NULL;
	for (i = 0; i < sizeof(conn) / sizeof(conn[0]); i++) {
		if (!conn[i])
			continue;
		if (orderly) {
			tcp_conn_part(conn[i]);
			continue;
		}
		conn[i]->err = err;
		tcp_conn_close(conn[i]);
	}
}

/* unsent - are there bytes that the other host has not acknowledged?  Closing a socket that
 * has unread input would throw them away.
 */
static bool unsent(const struct tcp_conn *conn)
{
	int bytes = 0;

	return !ioctl(conn->src.fd, SIOCOUTQ, &bytes) && bytes > 0;
}

static bool any_unsent(const struct tcp_conn *conn)
{
	const struct tcp_lanes *lanes = conn->lanes;
	unsigned i;

	for (i = 1; lanes && i < lanes->cnt; i++)
		if (lanes->conn[i] && unsent(lanes->conn[i]))
			return true;
	return unsent(conn);
}

/* finish - what comes in meanwhile is read and dropped by poll(), so that closing provokes
 * no reset.
 */
static bool finish(struct chan *base)
{
	struct tcp_conn *conn = base->conn;

	if (base->state != CHAN_READY)
		return list_empty(&base->pending);
	if (conn->state != TCP_CONN_READY)
		return true;
	conn->tx.shut = true;
	tcp_tx_pump(conn);
	return tcp_tx_idle(conn) && !any_unsent(conn);
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

/* timer - a PARKED channel for which nothing waits is looked after again later. */
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
	.abort = hang_up,
	.close = close_conn,
	.finish = finish,
	.hold_back = hold_back,
	.timer = timer,
	.advice = advice,
};

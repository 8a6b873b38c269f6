/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * The question of channel/check.h: a connection of its own to the address of the peer, on which CHECK is sent
 * and answered by REFUSE.
 *
 * A peer of another implementation cannot be asked: the end of its connection must be known.
 */
#include <rdma/fi_errno.h>

#include "link.h"

static const struct tcp_wireup check_wireup;

int tcp_check_ask(struct chan *base, struct chan_check *check)
{
	struct tcp_hello hello = { .type = TCP_WIRE_CHECK, .serial = base->serial };
	struct tcp_conn *conn = base->conn, *asking;
	int ret;

	if (conn->stream)
		return 0;
	ret = tcp_conn_connect(conn->link, &check_wireup, NULL, NULL, eng_peer_addr(chan_peer(base)), &hello, NULL,
			       &asking);
	if (!ret)
		check->asking = asking;
	return ret;
}

void tcp_check_answer(struct tcp_conn *conn, const struct tcp_chan *chan, const struct tcp_hello *hello)
{
	bool holds = chan_check_holds(&chan->base, hello->epoch, hello->serial);

	tcp_conn_refuse(conn, holds ? CHAN_HELD : CHAN_ENDED, NULL, 0);
}

/* take_chan - the channel for which @conn has asked, which forgets it; NULL: it has none any more. */
static struct tcp_chan *take_chan(struct tcp_conn *conn)
{
	struct tcp_chan *chan;

	list_for_each_entry(chan, &conn->link->base.chans, base.link_node) {
		if (chan->check.asking != conn)
			continue;
		chan->check.asking = NULL;
		return chan;
	}
	return NULL;
}

static void check_on_answer(struct tcp_conn *conn, const struct tcp_hello *hello, const void *data)
{
	struct tcp_chan *chan = take_chan(conn);

	if (chan)
		chan_check_answered(&chan->base, conn->serial, hello->epoch, hello->reason != CHAN_ENDED);
	tcp_conn_close(conn);
}

static void check_on_lost(struct tcp_conn *conn)
{
	take_chan(conn);
	tcp_conn_close(conn);
}

/* A WELCOME is no answer to a CHECK. */
static void check_on_welcome(struct tcp_conn *conn, const struct tcp_hello *hello, const void *data)
{
	check_on_lost(conn);
}

static const struct tcp_wireup check_wireup = {
	.impatient = true,
	.welcome = check_on_welcome,
	.refused = check_on_answer,
	.lost = check_on_lost,
};

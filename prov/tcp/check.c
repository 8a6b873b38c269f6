/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Does a connection still stand at its other end?
 *
 * A HELLO says which endpoint its sender is, and any process of that host can say the same.
 * So a request in whose favour a connection that stands would be replaced proves nothing.  The
 * connection is replaced if its end is known here: the peer's system has closed it.  Else the
 * endpoint that listens at the peer's address is asked (CHECK), and the request is refused with
 * CHAN_NOT_YET, so that its sender repeats it.  What listens there is the endpoint: the
 * connection has ended if it says so, or if it has another epoch.  No answer changes nothing.
 * A peer of another implementation cannot be asked: the end of its connection must be known.
 *
 * With FI_TCP_FIREWALL_ADDR peers may be behind address translation, where they cannot be
 * connected to: each request is believed.
 */
#include <rdma/fi_errno.h>

#include "link.h"

#define PAUSE_NS (1 * CLOCK_NS_PER_S)	/* between two checks of a channel */

static const struct tcp_wireup check_wireup;

static bool stands(const struct chan *chan)
{
	return (chan->state == CHAN_READY || chan->state == CHAN_PARKING) && !chan->failed;
}

bool tcp_check_ended(const struct tcp_chan *chan)
{
	return !stands(&chan->base) || tcp_conn_peer_closed(tcp_chan_conn(chan)) ||
	       tcp_chan_conn(chan)->link->conf->firewall_addr;
}

void tcp_check_start(struct tcp_chan *chan)
{
	struct tcp_hello hello = { .type = TCP_WIRE_CHECK, .serial = chan->base.serial };
	struct tcp_conn *conn = tcp_chan_conn(chan);
	uint64_t now = clock_ns();
	char text[NET_ADDR_TEXT_MAX];
	int ret;

	if (conn->stream || chan->check || now < chan->check_ns)
		return;
	chan->check_ns = now + PAUSE_NS;
	ret = tcp_conn_connect(conn->link, &check_wireup, NULL, eng_peer_addr(chan_peer(&chan->base)),
			       &hello, NULL, &chan->check);
	if (ret)
		TCP_INFO(conn->link->conf, "cannot ask %s whether its connection stands: %s%s%s\n",
			 net_addr_text(&conn->peer.sa, text), TCP_WHY(-ret));
}

/* holds - is the connection that the peer with @epoch has by the attempt @serial ours, too?  Of an
 * attempt in flight the answer may be in flight, too.
 */
static bool holds(const struct chan *chan, uint64_t epoch, uint64_t serial)
{
	if (chan->serial != serial)
		return false;
	return chan->state == CHAN_CONNECTING ||
	       ((stands(chan) || chan->state == CHAN_PARKED) && chan->peer_epoch == epoch);
}

void tcp_check_answer(struct tcp_conn *conn, const struct tcp_chan *chan,
		      const struct tcp_hello *hello)
{
	bool held = holds(&chan->base, hello->epoch, hello->serial);

	tcp_conn_refuse(conn, held ? CHAN_HELD : CHAN_ENDED, NULL, 0);
}

/* take_chan - the channel that @conn was to check, which forgets it; NULL: it needs no check. */
static struct tcp_chan *take_chan(struct tcp_conn *conn)
{
	struct tcp_chan *chan;

	list_for_each_entry(chan, &conn->link->base.chans, base.link_node) {
		if (chan->check != conn)
			continue;
		chan->check = NULL;
		return stands(&chan->base) && chan->base.serial == conn->serial ? chan : NULL;
	}
	return NULL;
}

static void on_answer(struct tcp_conn *conn, const struct tcp_hello *hello, const void *data)
{
	struct tcp_chan *chan = take_chan(conn);
	char text[NET_ADDR_TEXT_MAX];

	if (chan && (hello->epoch != chan->base.peer_epoch || hello->reason == CHAN_ENDED))
		chan_lost(&chan->base, FI_ECONNRESET, false);
	else if (chan)
		TCP_WARN_SPARSE(conn->link->conf, "refused a connection that claims to be %s: that endpoint "
				"says that its own stands\n", net_addr_text(&conn->peer.sa, text));
	tcp_conn_close(conn);
}

static void on_lost(struct tcp_conn *conn)
{
	take_chan(conn);
	tcp_conn_close(conn);
}

/* A WELCOME is no answer to a CHECK. */
static void on_welcome(struct tcp_conn *conn, const struct tcp_hello *hello, const void *data)
{
	on_lost(conn);
}

static const struct tcp_wireup check_wireup = {
	.impatient = true,
	.welcome = on_welcome,
	.refused = on_answer,
	.lost = on_lost,
};

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <assert.h>
#include <rdma/fi_errno.h>

#include "link.h"

#define BIT(state) (1u << (state))

/* A channel may become idle from anywhere, and a call from the peer may make it
 * ready at any time.
 */
static const unsigned edges[] __attribute__((unused)) = {
	[TCP_CHAN_IDLE] = BIT(TCP_CHAN_WAITING) | BIT(TCP_CHAN_DIALING) | BIT(TCP_CHAN_BACKOFF),
	[TCP_CHAN_WAITING] = BIT(TCP_CHAN_DIALING) | BIT(TCP_CHAN_BACKOFF),
	[TCP_CHAN_DIALING] = BIT(TCP_CHAN_CROSSED) | BIT(TCP_CHAN_BACKOFF),
	[TCP_CHAN_CROSSED] = BIT(TCP_CHAN_WAITING) | BIT(TCP_CHAN_DIALING) | BIT(TCP_CHAN_BACKOFF),
	[TCP_CHAN_BACKOFF] = BIT(TCP_CHAN_WAITING) | BIT(TCP_CHAN_DIALING) | BIT(TCP_CHAN_BACKOFF),
	[TCP_CHAN_READY] = BIT(TCP_CHAN_PARKING) | BIT(TCP_CHAN_PARKED),
	[TCP_CHAN_PARKING] = BIT(TCP_CHAN_PARKED),
	[TCP_CHAN_PARKED] = BIT(TCP_CHAN_WAITING) | BIT(TCP_CHAN_DIALING) | BIT(TCP_CHAN_BACKOFF),
};

struct tcp_chan *tcp_chan_of(struct tcp_link *link, struct eng_peer *peer)
{
	struct tcp_chan *chan = eng_peer_chan(peer);

	if (!chan->link) {
		chan->link = link;
		list_init(&chan->txq);
		list_init(&chan->node);
		list_init(&chan->link_node);
		tcp_timer_init(&chan->timer, tcp_rdm_timer);
	}
	return chan;
}

void tcp_chan_set_state(struct tcp_chan *chan, enum tcp_chan_state state)
{
	assert((state == TCP_CHAN_IDLE || state == TCP_CHAN_READY ||
		edges[chan->state] & BIT(state)) && "a channel takes no shortcuts");
	if (chan->state == TCP_CHAN_WAITING)
		list_del(&chan->node);
	if (chan->state == TCP_CHAN_IDLE && state != TCP_CHAN_IDLE)
		list_add_tail(&chan->link_node, &chan->link->chans);
	if (state == TCP_CHAN_IDLE)
		list_del(&chan->link_node);
	if (state == TCP_CHAN_IDLE || state == TCP_CHAN_READY)
		chan->resumes = false;
	if (chan->state == TCP_CHAN_CROSSED || chan->state == TCP_CHAN_BACKOFF ||
	    chan->state == TCP_CHAN_PARKED)
		tcp_timer_off(&chan->timer);
	chan->state = state;
}

void tcp_chan_drain(struct tcp_chan *chan, int err)
{
	struct eng_pkt *pkt;
	struct list *item;
	struct list gone;

	/* what the engine sends meanwhile waits for the next connection */
	list_init(&gone);
	list_splice_tail(&chan->txq, &gone);
	while ((item = list_pop(&gone))) {
		pkt = container_of(item, struct eng_pkt, node);
		pkt->done(pkt, -err);
	}
}

void tcp_chan_up(struct tcp_chan *chan, struct tcp_conn *conn, uint64_t peer_epoch)
{
	conn->chan = chan;
	chan->conn = conn;
	chan->dial = NULL;
	chan->peer_epoch = peer_epoch;
	tcp_chan_set_state(chan, TCP_CHAN_READY);
}

void tcp_chan_put(struct tcp_chan *chan)
{
	struct tcp_conn *conn = chan->conn, *loop = chan->loop;

	if (chan->dial)
		tcp_conn_close(chan->dial);
	chan->dial = NULL;
	chan->conn = NULL;
	chan->loop = NULL;
	tcp_chan_set_state(chan, TCP_CHAN_IDLE);
	if (conn)
		tcp_conn_part(conn);
	if (loop)
		tcp_conn_part(loop);
	tcp_chan_drain(chan, FI_ECANCELED);
}

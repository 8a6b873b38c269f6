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
	[SHM_CHAN_IDLE] = BIT(SHM_CHAN_DIALING) | BIT(SHM_CHAN_BACKOFF),
	[SHM_CHAN_DIALING] = BIT(SHM_CHAN_CROSSED) | BIT(SHM_CHAN_BACKOFF),
	[SHM_CHAN_CROSSED] = BIT(SHM_CHAN_DIALING) | BIT(SHM_CHAN_BACKOFF),
	[SHM_CHAN_BACKOFF] = BIT(SHM_CHAN_DIALING) | BIT(SHM_CHAN_BACKOFF),
	[SHM_CHAN_ANSWERED] = BIT(SHM_CHAN_BACKOFF),
	[SHM_CHAN_READY] = 0,
};

struct shm_chan *shm_chan_of(struct shm_link *link, struct eng_peer *peer)
{
	struct shm_chan *chan = eng_peer_chan(peer);

	if (!chan->link) {
		chan->link = link;
		list_init(&chan->txq);
		list_init(&chan->link_node);
		eng_timer_init(&chan->timer, shm_wireup_timer);
	}
	return chan;
}

void shm_chan_set_state(struct shm_chan *chan, enum shm_chan_state state)
{
	assert((state == SHM_CHAN_IDLE || state == SHM_CHAN_READY || state == SHM_CHAN_ANSWERED ||
		edges[chan->state] & BIT(state)) && "a channel takes no shortcuts");
	if (chan->state == SHM_CHAN_IDLE && state != SHM_CHAN_IDLE)
		list_add_tail(&chan->link_node, &chan->link->chans);
	if (state == SHM_CHAN_IDLE)
		list_del(&chan->link_node);
	eng_timer_off(&chan->timer);
	chan->state = state;
}

void shm_chan_drain(struct shm_chan *chan, int err)
{
	struct eng_pkt *pkt;
	struct list *item;

	while ((item = list_pop(&chan->txq))) {
		pkt = container_of(item, struct eng_pkt, node);
		pkt->done(pkt, -err);
	}
}

void shm_chan_put(struct shm_chan *chan)
{
	struct shm_conn *conn = chan->conn;

	if (chan->dial)
		shm_conn_close(chan->dial, FI_ECANCELED);
	chan->dial = NULL;
	chan->conn = NULL;
	shm_chan_set_state(chan, SHM_CHAN_IDLE);
	if (conn)
		shm_conn_close(conn, FI_ECANCELED);
	shm_chan_drain(chan, FI_ECANCELED);
}

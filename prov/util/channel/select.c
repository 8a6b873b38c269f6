/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "channel/select.h"

#include <rdma/fi_errno.h>

static struct chan_local *locals;

/* In the order of rank.  Providers register before any endpoint is opened, so no lock is needed. */
void chan_local_register(struct chan_local *local)
{
	struct chan_local **pos = &locals;

	while (*pos && (*pos)->rank <= local->rank)
		pos = &(*pos)->next;
	local->next = *pos;
	*pos = local;
}

void chan_local_prepare(void)
{
	const struct chan_local *local;

	for (local = locals; local; local = local->next)
		if (local->prepare)
			local->prepare();
}

/* ---- opening and closing -------------------------------------------------------------- */

static void link_adopt(struct chan_link *main, struct chan_link *link)
{
	struct eng_link_attr *attr = &link->base.attr;

	link->main = main;
	eng_link_limit(attr, attr);
	/* what waits for this link may have to go over the other one */
	eng_link_limit(attr, &main->base.attr);
	if (main->base.attr.chan_size < link->base.ops->chan_size)
		main->base.attr.chan_size = link->base.ops->chan_size;
	main->local[main->local_cnt++] = link;
}

void chan_select_open(struct eng_ep *ep, struct chan_link *main)
{
	const struct chan_local *local;
	struct chan_link *link;
	int ret;

	main->base.attr.chan_size = main->base.ops->chan_size;
	eng_link_limit(&main->base.attr, &main->base.attr);
	for (local = locals; local && main->local_cnt < CHAN_LOCAL_MAX; local = local->next) {
		ret = local->open(ep, main, &link);
		if (!ret)
			link_adopt(main, link);
		else
			CHAN_INFO(main, "peers on this host are reached over %s like all others, %s "
				  "cannot be used: %s\n", main->base.ops->name, local->name,
				  fi_strerror(-ret));
	}
}

void chan_select_close(struct chan_link *main, int linger_ms)
{
	struct chan_link *link;

	while (main->local_cnt) {
		link = main->local[main->local_cnt - 1];
		link->base.ops->close(&link->base, linger_ms);
		main->local_cnt--;
	}
}

/* ---- binding ------------------------------------------------------------------------------ */

int chan_peer_get(struct eng_link *base, struct eng_peer *peer)
{
	struct chan_link *main = chan_link_of(base), *link;
	struct chan *chan = eng_peer_chan(peer);
	unsigned i;
	int ret = 0;

	if (main->msg || (chan->link && chan->state != CHAN_IDLE))
		return 0;	/* fi_connect() and fi_accept() do it; or the peer has connected */
	for (i = 0; i < main->local_cnt; i++) {
		link = main->local[i];
		eng_peer_bind(peer, &link->base);
		ret = link->base.ops->peer_get(&link->base, peer);
		if (!ret)
			return 0;
	}
	eng_peer_bind(peer, base);
	chan = chan_of(main, peer);
	if (!chan)
		return -FI_ENOMEM;
	chan_local_err(chan, -ret);
	chan_start(chan);
	return 0;
}

/* peer_move - bind @peer to @main, and connect there for the packets that wait.
 * @err: why the further link is given up; 0: a request of the peer has arrived over @main
 * Returns false if memory is short, and the peer is lost.
 */
static bool peer_move(struct chan_link *main, struct eng_peer *peer, struct list *pkts, int err)
{
	struct chan *chan;
	struct eng_pkt *pkt;
	int ret;

	eng_peer_bind(peer, &main->base);
	chan = chan_of(main, peer);
	if (chan) {
		chan_local_err(chan, err);
		chan_start(chan);
	}
	while ((pkt = list_pop_entry(pkts, struct eng_pkt, node))) {
		ret = chan ? main->base.ops->send(chan, pkt) : -FI_ENOMEM;
		if (ret)
			pkt->done(pkt, ret < 0 ? ret : 0);
	}
	if (!chan)
		eng_on_down(&main->base, peer, FI_ENOMEM);
	return chan != NULL;
}

bool chan_select_claim(struct chan_link *link, struct eng_peer *peer)
{
	struct chan *chan = eng_peer_chan(peer);
	struct list pkts;

	if (!chan->link || chan->state == CHAN_IDLE) {
		eng_peer_bind(peer, &link->base);
		return true;
	}
	if (chan->link == link)
		return true;
	if (link->main || chan->conn)
		return false;
	list_init(&pkts);
	list_splice_tail(&chan->pending, &pkts);
	return peer_move(link, peer, &pkts, 0);
}

bool chan_select_elsewhere(struct chan *chan, int err)
{
	struct chan_link *link = chan->link, *main = link->main;
	struct eng_peer *peer = chan_peer(chan);
	char text[CHAN_TEXT_MAX];
	struct list pkts;

	list_init(&pkts);
	list_splice_tail(&chan->pending, &pkts);
	CHAN_INFO(link, "%s is on this host, but is reached over %s, since over %s it is not: %s\n",
		  chan_peer_text(chan, text), main->base.ops->name, link->base.ops->name,
		  fi_strerror(err));
	peer_move(main, peer, &pkts, err);
	return true;
}

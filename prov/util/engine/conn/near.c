/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "engine/near.h"

#include <rdma/fi_errno.h>
#include <string.h>

#include "engine/peer.h"

static const struct eng_link_ops *near_ops(struct eng_ep *ep)
{
	return ep->base.type == FI_EP_RDM && ep->link_ops->near ? ep->link_ops->near(ep) : NULL;
}

void eng_near_prepare(struct eng_ep *ep)
{
	const struct eng_link_ops *ops;

	if (!ep->link_ops)		/* a shared context */
		return;
	ops = near_ops(ep);
	if (ep->link_ops->prepare)
		ep->link_ops->prepare();
	if (ops && ops->prepare)
		ops->prepare();
}

void eng_near_open(struct eng_ep *ep)
{
	const struct eng_link_ops *ops = near_ops(ep);
	struct eng_link *link;
	int ret;

	if (!ops)
		return;
	ret = ops->open(ep, &link);
	if (ret) {
		ENG_INFO(ep, "peers on this host are reached over %s like all others, %s cannot "
			 "be used: %s\n", ep->link_ops->name, ops->name, fi_strerror(-ret));
		return;
	}
	link->ops = ops;
	link->ep = ep;
	link->prog = ep->base.prog;
	ep->near = link;
}

int eng_ep_name(struct eng_ep *ep, void *addr, size_t *len)
{
	return ep->link_ops->getname(ep->link, addr, len);
}

size_t eng_near_chan_size(const struct eng_ep *ep)
{
	size_t far = ep->link_ops ? ep->link_ops->chan_size : 0;
	size_t near = ep->near ? ep->near->ops->chan_size : 0;

	return far > near ? far : near;
}

void eng_peer_bind(struct eng_peer *peer, struct eng_link *link)
{
	if (peer->link == link)
		return;
	peer->link->ops->peer_put(peer->link, peer);
	memset(peer->chan, 0, eng_near_chan_size(peer->ep));
	peer->link = link;
}

int eng_near_start(struct eng_peer *peer)
{
	struct eng_ep *ep = peer->ep;

	if (ep->near) {
		eng_peer_bind(peer, ep->near);
		if (!ep->near->ops->peer_get(ep->near, peer))
			return 0;
		eng_peer_bind(peer, ep->link);
	}
	return peer->link->ops->peer_get(peer->link, peer);
}

/* go_over - to the main link, with what waits. */
static int go_over(struct eng_peer *peer, struct list *pkts)
{
	struct eng_link *link = peer->ep->link;
	struct eng_pkt *pkt;
	struct list *item;
	int ret;

	eng_peer_bind(peer, link);
	ret = link->ops->peer_get(link, peer);
	while ((item = list_pop(pkts))) {
		pkt = container_of(item, struct eng_pkt, node);
		ret = ret < 0 ? ret : link->ops->send(link, peer, pkt);
		if (ret)
			pkt->done(pkt, ret < 0 ? ret : 0);
	}
	return ret < 0 ? ret : 0;
}

bool eng_near_claim(struct eng_peer *peer, struct eng_link *link)
{
	struct eng_ep *ep = peer->ep;
	struct list pkts;

	if (peer->slow & ENG_PEER_IDLE) {
		eng_peer_bind(peer, link);
		return true;
	}
	list_init(&pkts);
	if (link == ep->near || ep->near->ops->yield(ep->near, peer, &pkts))
		return false;
	if (go_over(peer, &pkts))
		peer->slow |= ENG_PEER_IDLE;
	return true;
}

bool eng_on_unreachable(struct eng_link *link, struct eng_peer *peer, int err)
{
	struct eng_ep *ep = peer->ep;
	char text[ENG_PEER_TEXT];
	struct list pkts;
	int ret;

	if (link != ep->near)
		return false;
	list_init(&pkts);
	link->ops->yield(link, peer, &pkts);
	ENG_INFO(ep, "%s is on this host, but is reached over %s, since over %s it is not: %s\n",
		 eng_peer_text(peer, text), ep->link_ops->name, link->ops->name, fi_strerror(err));
	ret = go_over(peer, &pkts);
	if (ret)
		eng_on_down(ep->link, peer, -ret);
	return true;
}

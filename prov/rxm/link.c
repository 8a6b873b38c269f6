/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * The link: what the engine calls.  An endpoint listens at its address through a passive
 * endpoint below, which is opened when it is enabled.
 */
#include <rdma/fi_errno.h>
#include <stdlib.h>

#include "channel/select.h"
#include "conn.h"

#define PAYLOAD_MAX (UINT64_C(1) << 30)	/* of one packet; it stays with the sender until it is read */
#define BACKOFF_NS (5 * CLOCK_NS_PER_MS)
#define YIELD_NS (CLOCK_NS_PER_S / 2)

static struct rxm_link *link_of(struct eng_link *base)
{
	return rxm_link_of(chan_link_of(base));
}

/* ---- opening ------------------------------------------------------------------------- */

/* listen_below - open the passive endpoint; its address is the link's. */
static int listen_below(struct rxm_link *link)
{
	int ret = fi_passive_ep(link->dom->base.fabric, link->info, &link->pep, link);

	if (!ret)
		ret = hmap_insert(&link->dom->fids, (uintptr_t) &link->pep->fid, link);
	if (!ret)
		ret = fi_pep_bind(link->pep, &link->dom->eq->fid, 0);
	if (!ret)
		ret = fi_listen(link->pep);
	if (ret)
		return ret;
	link->chan.addr = link->addr;
	link->chan.addr_len = sizeof(link->addr);
	return fi_getname(&link->pep->fid, link->addr, &link->chan.addr_len);
}

/* link_free - also one that is open in part. */
static void link_free(struct rxm_link *link)
{
	if (link->pep) {
		hmap_remove(&link->dom->fids, (uintptr_t) &link->pep->fid);
		fi_close(&link->pep->fid);
	}
	list_del(&link->dom_node);
	if (link->dom)
		layer_dom_put(&link->dom->base);
	fi_freeinfo(link->info);
	free(link);
}

static int link_setup(struct rxm_link *link, const struct obj_ep *ep)
{
	struct layer_home *home = NULL;
	struct rxm_poller *poller;
	int ret = rxm_poller_get(ep->prog, &poller);

	if (ret)
		return ret;
	link->chan.poller = &poller->chan;
	ret = layer_lower_info(&rxm_layer, ep->info, &link->info);
	if (!ret && ep->domain)
		ret = rxm_home_get(ep->domain, &home);
	if (!ret)
		ret = rxm_dom_get(poller, link->info, home, &link->dom);
	if (ret)
		return ret;
	list_add_tail(&link->dom_node, &link->dom->links);
	return listen_below(link);
}

static int link_open(struct eng_ep *ep, struct eng_pep *pep, struct eng_link **link_p)
{
	struct obj_ep *base = eng_ep_base(ep);
	struct rxm_link *link = calloc(1, sizeof(*link));
	struct chan_conf conf = {
		.retry_ms = rxm_conf.conn_retry_ms,
		.conn_timeout_ms = rxm_conf.conn_timeout_ms,
		.backoff_ns = BACKOFF_NS,
		.yield_ns = YIELD_NS,
	};
	int ret;

	if (!link)
		return -FI_ENOMEM;
	chan_link_init(&link->chan, &rxm_chan_ops, &conf, rxm_conf.prov);
	list_init(&link->dom_node);
	ret = link_setup(link, base);
	if (ret) {
		link_free(link);
		return ret;
	}
	link->chan.base.ops = &rxm_link_ops;
	link->chan.base.prog = base->prog;
	link->chan.base.ep = ep;
	link->secured = base->sec != NULL;
	link->chan.base.attr = (struct eng_link_attr) {
		.max_payload = PAYLOAD_MAX,
		.eager_limit = PAYLOAD_MAX,	/* holding a rendezvous costs its description alone */
		.seg_size = PAYLOAD_MAX,
		.addr_len = link->chan.addr_len,
		.stays = true,
	};
	if (rxm_conf.local)
		chan_select_open(ep, &link->chan);
	*link_p = &link->chan.base;
	return 0;
}

static void link_close(struct eng_link *base, int linger_ms)
{
	chan_link_end(chan_link_of(base), linger_ms);
	link_free(link_of(base));
}

/* ---- peers and packets ----------------------------------------------------------------------- */

static int send_pkt(void *chan, struct eng_pkt *pkt)
{
	return rxm_tx_send(chan, pkt);
}

static void *link_hold(struct eng_link *base, struct eng_peer *peer, const struct eng_rx *rx)
{
	return rxm_rx_hold(link_of(base), rx);
}

const struct eng_link_ops rxm_link_ops = {
	.size = sizeof(struct eng_link_ops),
	.name = "ofi_rxm",
	.chan_size = sizeof(struct rxm_conn),
	.open = link_open,
	.close = link_close,
	.getname = chan_getname,
	.setname = chan_setname_none,
	.look = chan_look,
	.peer_get = chan_peer_get,
	.peer_put = chan_peer_put,
	.send = send_pkt,
	.secures = true,
	.held = { .hold = link_hold, .pull = rxm_rx_pull, .unplace = chan_unplace_none },
};

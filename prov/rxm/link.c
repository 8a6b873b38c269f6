/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * The link: what the engine calls.  An endpoint listens at its address through a
 * passive endpoint below.
 */
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "engine/near.h"
#include "conn.h"

#define PAYLOAD_MAX (UINT64_C(1) << 30)	/* of one packet; it lies with the sender until it is read */

static struct rxm_link *link_of(struct eng_link *base)
{
	return container_of(base, struct rxm_link, base);
}

/* ---- opening ------------------------------------------------------------------------- */

static int listen_below(struct rxm_link *link)
{
	int ret = fi_passive_ep(link->dom->fabric, link->info, &link->pep, link);

	if (!ret)
		ret = hmap_insert(&link->dom->fids, (uintptr_t) &link->pep->fid, link);
	if (!ret)
		ret = fi_pep_bind(link->pep, &link->dom->eq->fid, 0);
	if (!ret)
		ret = fi_listen(link->pep);
	if (ret)
		return ret;
	link->addr_len = sizeof(link->addr);
	return fi_getname(&link->pep->fid, link->addr, &link->addr_len);
}

static void link_free(struct rxm_link *link)
{
	if (link->pep) {
		hmap_remove(&link->dom->fids, (uintptr_t) &link->pep->fid);
		fi_close(&link->pep->fid);
	}
	if (link->dom)
		rxm_dom_put(link->dom);
	fi_freeinfo(link->info);
	free(link);
}

static int link_setup(struct rxm_link *link, struct obj_prog *prog, const struct fi_info *info)
{
	int ret = rxm_poller_get(prog, &link->poller);

	if (!ret)
		ret = layer_lower_info(&rxm_layer, info, &link->info);
	if (!ret)
		ret = rxm_dom_get(link->poller, link->info, &link->dom);
	if (!ret)
		ret = listen_below(link);
	return ret;
}

static int link_open(struct eng_ep *ep, struct eng_link **link_p)
{
	struct obj_ep *base = eng_ep_base(ep);
	struct rxm_link *link = calloc(1, sizeof(*link));
	int ret;

	if (!link)
		return -FI_ENOMEM;
	list_init(&link->conns);
	while (!link->epoch)
		if (getrandom(&link->epoch, sizeof(link->epoch), 0) < 0)
			link->epoch = 0;
	ret = link_setup(link, base->prog, base->info);
	if (ret) {
		link_free(link);
		return ret;
	}
	link->base.ops = &rxm_link_ops;
	link->base.prog = base->prog;
	link->base.ep = ep;
	link->base.attr = (struct eng_link_attr) {
		.max_payload = PAYLOAD_MAX,
		.eager_limit = PAYLOAD_MAX,	/* to hold a long one costs nothing */
		.seg_size = PAYLOAD_MAX,
		.addr_len = link->addr_len,
	};
	*link_p = &link->base;
	return 0;
}

/* ---- closing ---------------------------------------------------------------------------- */

static struct rxm_conn *conn_at(struct list *node)
{
	return container_of(node, struct rxm_conn, node);
}

/* finish - true when the peer has all that was sent, or will never have it. */
static bool finish(struct rxm_conn *conn)
{
	if (conn->state == RXM_CALLING || conn->state == RXM_TAKING || conn->state == RXM_AWAITING)
		return list_empty(&conn->pending);
	if (conn->state != RXM_READY)
		return true;
	if (!rxm_tx_idle(conn))
		return false;
	rxm_tx_bye(conn);
	return conn->said_bye && list_empty(&conn->sock->outs);
}

static bool finish_all(void *arg)
{
	struct rxm_link *link = arg;
	struct list *pos, *next;
	bool all = true;

	list_for_each_safe(pos, next, &link->conns)
		all &= finish(conn_at(pos));
	return all;
}

static void link_close(struct eng_link *base, int linger_ms)
{
	struct rxm_link *link = link_of(base);

	link->closing = true;
	obj_poller_drain(&link->poller->base, finish_all, link, linger_ms);
	while (!list_empty(&link->conns))
		rxm_conn_put(conn_at(link->conns.next), FI_ECANCELED);
	link_free(link);
}

/* ---- names --------------------------------------------------------------------------------- */

static int link_getname(struct eng_link *base, void *addr, size_t *len)
{
	struct rxm_link *link = link_of(base);
	size_t room = *len;

	*len = link->addr_len;
	if (room && addr)
		memcpy(addr, link->addr, room < link->addr_len ? room : link->addr_len);
	return room < link->addr_len ? -FI_ETOOSMALL : 0;
}

/* ---- peers and packets ----------------------------------------------------------------------- */

static int peer_get(struct eng_link *base, struct eng_peer *peer)
{
	struct rxm_conn *conn = rxm_conn_of(link_of(base), peer);

	return conn->state == RXM_IDLE ? rxm_call(conn) : 0;
}

static void peer_put(struct eng_link *base, struct eng_peer *peer)
{
	struct rxm_conn *conn = eng_peer_chan(peer);

	if (conn->link)
		rxm_conn_put(conn, FI_ECANCELED);
}

static int send_pkt(struct eng_link *base, struct eng_peer *peer, struct eng_pkt *pkt)
{
	return rxm_tx_send(eng_peer_chan(peer), pkt);
}

static void flush(struct eng_link *base)
{
	struct rxm_poller *poller = link_of(base)->poller;

	if (!list_empty(&poller->dirty))
		rxm_poller_flush(poller);
}

static void *hold(struct eng_link *base, struct eng_peer *peer, const struct eng_rx *rx)
{
	return rxm_rx_hold(link_of(base), rx);
}

static int pull(struct eng_link *base, void *token, const struct iovec *iov, size_t iov_cnt,
		void *cookie)
{
	return rxm_rx_pull(token, iov, iov_cnt, cookie);
}

static void drop(struct eng_link *base, void *token)
{
	rxm_rx_release(token);
}

static const struct eng_link_ops *near_link(struct eng_ep *ep)
{
#if HAVE_SHM
	if (rxm_conf.local)
		return &shm_near_ops;
#endif
	return NULL;
}

const struct eng_link_ops rxm_link_ops = {
	.size = sizeof(struct eng_link_ops),
	.name = "ofi_rxm",
	.chan_size = sizeof(struct rxm_conn),
	.open = link_open,
	.close = link_close,
	.getname = link_getname,
	.peer_get = peer_get,
	.peer_put = peer_put,
	.send = send_pkt,
	.flush = flush,
	.hold = hold,
	.pull = pull,
	.drop = drop,
	.near = near_link,
};

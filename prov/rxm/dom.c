/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * The provider below: a domain with its queues, shared by the links of a group, and
 * connected endpoints with their receive buffers.
 */
#include <rdma/fi_errno.h>
#include <stdlib.h>

#include "conn.h"
#include "net/opt.h"

#define EQ_POLLS_DUE UINT16_MAX		/* more polls than any event waits for */

/* ---- domains ------------------------------------------------------------------------ */

static void ep_free(struct rxm_ep *ep);

static struct rxm_dom *dom_of(struct layer_dom *base)
{
	return container_of(base, struct rxm_dom, base);
}

/* Without a completion queue there are no completions: what endpoints left is freed. */
static void close_queues(struct layer_dom *base)
{
	struct rxm_dom *dom = dom_of(base);

	if (dom->cq)
		fi_close(&dom->cq->fid);
	rxm_dom_reap(dom);
	if (dom->eq)
		fi_close(&dom->eq->fid);
	hmap_destroy(&dom->fids);
}

static int open_queues(struct layer_dom *base, void *owner, size_t *size_p)
{
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_DATA, .wait_obj = FI_WAIT_FD };
	struct fi_eq_attr eq_attr = { .wait_obj = FI_WAIT_FD };
	struct rxm_poller *poller = owner;
	struct rxm_dom *dom = dom_of(base);
	int ret;

	list_init(&dom->closed);
	list_init(&dom->links);
	hmap_init(&dom->fids);
	*size_p = sizeof(struct rxm_tx_buf) + RXM_ROOM;
	dom->inject_max = base->info->tx_attr->inject_size;
	dom->delivered = FI_DELIVERY_COMPLETE;
	ret = fi_eq_open(base->fabric, &eq_attr, &dom->eq, NULL);
	if (!ret)
		ret = fi_cq_open(base->domain, &cq_attr, &dom->cq, NULL);
	if (!ret)
		ret = layer_dom_watch(poller->chan.base.fd, &dom->cq->fid);
	return ret ? ret : layer_dom_watch(poller->chan.base.fd, &dom->eq->fid);
}

static const struct layer_dom_ops dom_ops = {
	.size = sizeof(struct rxm_dom),
	.open = open_queues,
	.close = close_queues,
};

int rxm_dom_get(struct rxm_poller *poller, const struct fi_info *info, struct layer_home *home,
		struct rxm_dom **dom_p)
{
	struct layer_dom *base;
	int ret = layer_dom_get(&poller->doms, info, home, &dom_ops, poller, &base);

	if (ret)
		return ret;
	*dom_p = dom_of(base);
	if (base->users == 1)
		layer_mem_keep(&base->mem, rxm_conf.prov);
	return 0;
}

int rxm_dom_arm(struct rxm_dom *dom)
{
	struct fid *fids[] = { &dom->cq->fid, &dom->eq->fid };

	/* what closed endpoints left is freed by the next poll */
	if (!list_empty(&dom->closed))
		return -FI_EAGAIN;
	if (!fi_trywait(dom->base.fabric, fids, 2))
		return 0;
	dom->eq_polls = EQ_POLLS_DUE;
	return -FI_EAGAIN;
}

void rxm_dom_reap(struct rxm_dom *dom)
{
	struct list *node;

	while ((node = list_pop(&dom->closed)))
		ep_free(container_of(node, struct rxm_ep, node));
}

/* ---- endpoints -------------------------------------------------------------------------- */

/* ep_free - no completion can name it any more. */
static void ep_free(struct rxm_ep *ep)
{
	if (ep->mem_mr)
		fi_close(&ep->mem_mr->fid);
	while (!list_empty(&ep->sends))
		layer_buf_put(&ep->dom->base.mem, container_of(ep->sends.next, struct layer_buf, node));
	rxm_rma_free(ep);
	free(ep->bufs);
	free(ep->mem);
	free(ep);
}

bool rxm_ep_post(struct rxm_ep *ep, struct rxm_rx_buf *buf)
{
	list_del(&buf->node);
	if (!fi_recv(ep->fid, buf->data, RXM_ROOM, layer_desc(ep->mem_mr),
		     FI_ADDR_UNSPEC, &buf->op))
		return true;
	list_add_tail(&buf->node, &ep->idle);
	return false;
}

/* ep_fill - allocate and post the receive buffers: one for each credit, and those for
 * control messages.
 */
static int ep_fill(struct rxm_ep *ep)
{
	size_t cnt = rxm_conf.credits + RXM_CTRL_BUFS, i;
	int ret;

	ep->mem = malloc(cnt * RXM_ROOM);
	ep->bufs = calloc(cnt, sizeof(*ep->bufs));
	if (!ep->mem || !ep->bufs)
		return -FI_ENOMEM;
	ret = layer_mr_local(&ep->dom->base.mem, ep->mem, cnt * RXM_ROOM, &ep->mem_mr);
	for (i = 0; i < cnt && !ret; i++) {
		ep->bufs[i].op = (struct rxm_op) { RXMF_OP_RECV, ep };
		ep->bufs[i].data = ep->mem + i * RXM_ROOM;
		list_init(&ep->bufs[i].node);
		if (!rxm_ep_post(ep, &ep->bufs[i]))
			ret = -FI_EAGAIN;
	}
	return ret;
}

static int ep_bind(struct rxm_ep *ep)
{
	int ret = fi_ep_bind(ep->fid, &ep->dom->eq->fid, 0);

	if (!ret)
		ret = fi_ep_bind(ep->fid, &ep->dom->cq->fid, FI_TRANSMIT | FI_RECV);
	if (!ret)
		ret = fi_enable(ep->fid);
	return ret;
}

/* ask_staged - the endpoints of a domain below share a completion queue, and with it the answer. */
static void ask_staged(struct rxm_ep *ep)
{
	size_t len = sizeof(ep->dom->staged);

	if (!ep->dom->staged && fi_getopt(&ep->fid->fid, FI_OPT_ENDPOINT, NET_OPT_STAGED, &ep->dom->staged, &len))
		ep->dom->staged = NULL;
}

int rxm_ep_open(struct rxm_dom *dom, struct fi_info *info, struct rxm_conn *conn,
		struct rxm_ep **ep_p)
{
	struct rxm_ep *ep = calloc(1, sizeof(*ep));
	int ret;

	if (!ep)
		return -FI_ENOMEM;
	list_init(&ep->node);
	list_init(&ep->idle);
	list_init(&ep->sends);
	list_init(&ep->rmas);
	ep->dom = dom;
	ep->conn = conn;
	ret = fi_endpoint(dom->base.domain, info, &ep->fid, ep);
	if (ret) {
		ep_free(ep);
		return ret;
	}
	info->handle = NULL;	/* the endpoint has it now */
	ret = hmap_insert(&dom->fids, (uintptr_t) &ep->fid->fid, ep);
	if (!ret)
		ret = ep_bind(ep);
	if (!ret) {
		ask_staged(ep);
		ret = ep_fill(ep);
	}
	if (ret) {
		rxm_ep_close(ep);
		return ret;
	}
	*ep_p = ep;
	return 0;
}

void rxm_ep_sent(struct rxm_tx_buf *buf)
{
	layer_buf_put(&buf->op.ep->dom->base.mem, &buf->buf);
}

void rxm_ep_close(struct rxm_ep *ep)
{
	hmap_remove(&ep->dom->fids, (uintptr_t) &ep->fid->fid);
	ep->conn = NULL;
	fi_close(&ep->fid->fid);
	ep->fid = NULL;
	list_add_tail(&ep->node, &ep->dom->closed);
}

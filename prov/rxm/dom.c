/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * The provider below: a domain with its queues, shared by the links of a group, and
 * connected endpoints with their receive buffers.
 */
#include <errno.h>
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "conn.h"

#define EQ_POLLS_DUE UINT16_MAX		/* more polls than any event waits for */

/* ---- domains ------------------------------------------------------------------------ */

static void ep_free(struct rxm_ep *ep);

/* dom_close - also one that is open in part. */
static void dom_close(struct rxm_dom *dom)
{
	list_del(&dom->node);
	if (dom->cq)
		fi_close(&dom->cq->fid);
	/* without a queue there are no completions */
	rxm_dom_reap(dom);
	if (dom->mem.domain)
		layer_mem_fini(&dom->mem);
	if (dom->eq)
		fi_close(&dom->eq->fid);
	if (dom->domain)
		fi_close(&dom->domain->fid);
	if (dom->fabric)
		fi_close(&dom->fabric->fid);
	hmap_destroy(&dom->fids);
	fi_freeinfo(dom->info);
	free(dom->name);
	free(dom);
}

static int dom_open_all(struct rxm_dom *dom)
{
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_MSG, .wait_obj = FI_WAIT_FD };
	struct fi_eq_attr eq_attr = { .wait_obj = FI_WAIT_FD };
	int ret;

	ret = fi_fabric(dom->info->fabric_attr, &dom->fabric, NULL);
	if (!ret)
		ret = fi_domain(dom->fabric, dom->info, &dom->domain, NULL);
	if (!ret)
		ret = fi_eq_open(dom->fabric, &eq_attr, &dom->eq, NULL);
	if (!ret)
		ret = fi_cq_open(dom->domain, &cq_attr, &dom->cq, NULL);
	return ret;
}

/* watch - a queue below wakes those that sleep on the poller. */
static int watch(struct rxm_poller *poller, struct fid *fid)
{
	struct epoll_event ev = { .events = EPOLLIN };
	int fd, ret = fi_control(fid, FI_GETWAIT, &fd);

	if (ret)
		return ret;
	return epoll_ctl(poller->chan.base.fd, EPOLL_CTL_ADD, fd, &ev) ? -errno : 0;
}

static struct rxm_dom *dom_find(struct rxm_poller *poller, const char *name)
{
	struct list *pos;

	list_for_each(pos, &poller->doms)
		if (!strcmp(container_of(pos, struct rxm_dom, node)->name, name))
			return container_of(pos, struct rxm_dom, node);
	return NULL;
}

/* dom_new - open it, and have its queues watched by the poller.  Ownership: takes @name. */
static int dom_new(struct rxm_poller *poller, const struct fi_info *info, char *name,
		   struct rxm_dom **dom_p)
{
	struct rxm_dom *dom = calloc(1, sizeof(*dom));
	int ret;

	if (!dom) {
		free(name);
		return -FI_ENOMEM;
	}
	dom->name = name;
	dom->users = 1;
	list_init(&dom->node);
	list_init(&dom->closed);
	hmap_init(&dom->fids);
	dom->info = fi_dupinfo(info);
	ret = dom->info ? dom_open_all(dom) : -FI_ENOMEM;
	if (!ret)
		ret = watch(poller, &dom->cq->fid);
	if (!ret)
		ret = watch(poller, &dom->eq->fid);
	if (ret) {
		dom_close(dom);
		return ret;
	}
	layer_mem_init(&dom->mem, dom->domain, dom->info,
		       sizeof(struct rxm_tx_buf) + rxm_conf.buf_size);
	layer_mem_keep(&dom->mem, rxm_conf.prov);
	dom->inject_max = dom->info->tx_attr->inject_size;
	list_add_tail(&dom->node, &poller->doms);
	*dom_p = dom;
	return 0;
}

int rxm_dom_get(struct rxm_poller *poller, const struct fi_info *info, struct rxm_dom **dom_p)
{
	char *name = NULL;

	if (asprintf(&name, "%s %s", info->fabric_attr->prov_name, info->domain_attr->name) < 0)
		return -FI_ENOMEM;
	*dom_p = dom_find(poller, name);
	if (!*dom_p)
		return dom_new(poller, info, name, dom_p);
	free(name);
	(*dom_p)->users++;
	return 0;
}

void rxm_dom_put(struct rxm_dom *dom)
{
	if (!--dom->users)
		dom_close(dom);
}

int rxm_dom_arm(struct rxm_dom *dom)
{
	struct fid *fids[] = { &dom->cq->fid, &dom->eq->fid };

	/* what closed endpoints left is freed by the next poll */
	if (!list_empty(&dom->closed))
		return -FI_EAGAIN;
	if (!fi_trywait(dom->fabric, fids, 2))
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
		layer_buf_put(&ep->dom->mem, container_of(ep->sends.next, struct layer_buf, node));
	rxm_read_free(ep);
	free(ep->bufs);
	free(ep->mem);
	free(ep);
}

bool rxm_ep_post(struct rxm_ep *ep, struct rxm_rx_buf *buf)
{
	list_del(&buf->node);
	if (!fi_recv(ep->fid, buf->data, rxm_conf.buf_size, layer_desc(ep->mem_mr),
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

	ep->mem = malloc(cnt * rxm_conf.buf_size);
	ep->bufs = calloc(cnt, sizeof(*ep->bufs));
	if (!ep->mem || !ep->bufs)
		return -FI_ENOMEM;
	ret = layer_mr_local(&ep->dom->mem, ep->mem, cnt * rxm_conf.buf_size, &ep->mem_mr);
	for (i = 0; i < cnt && !ret; i++) {
		ep->bufs[i].op = (struct rxm_op) { RXM_OP_RECV, ep };
		ep->bufs[i].data = ep->mem + i * rxm_conf.buf_size;
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
	list_init(&ep->reads);
	ep->dom = dom;
	ep->conn = conn;
	ret = fi_endpoint(dom->domain, info, &ep->fid, ep);
	if (ret) {
		ep_free(ep);
		return ret;
	}
	info->handle = NULL;	/* the endpoint has it now */
	ret = hmap_insert(&dom->fids, (uintptr_t) &ep->fid->fid, ep);
	if (!ret)
		ret = ep_bind(ep);
	if (!ret)
		ret = ep_fill(ep);
	if (ret) {
		rxm_ep_close(ep);
		return ret;
	}
	*ep_p = ep;
	return 0;
}

void rxm_ep_sent(struct rxm_tx_buf *buf)
{
	layer_buf_put(&buf->op.ep->dom->mem, &buf->buf);
}

void rxm_ep_close(struct rxm_ep *ep)
{
	hmap_remove(&ep->dom->fids, (uintptr_t) &ep->fid->fid);
	ep->conn = NULL;
	fi_close(&ep->fid->fid);
	ep->fid = NULL;
	list_add_tail(&ep->node, &ep->dom->closed);
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * What lies below: a domain with its queues, shared by the links of a group, and
 * the connected endpoints with their buffers.
 */
#include <errno.h>
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "conn.h"

#define EQ_DUE UINT16_MAX		/* more than any number of turns */

/* ---- domains ------------------------------------------------------------------------ */

static void sock_free(struct rxm_sock *sock);

static void dom_close(struct rxm_dom *dom)
{
	list_del(&dom->node);
	if (dom->cq)
		fi_close(&dom->cq->fid);
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

static int watch(struct rxm_poller *poller, struct fid *fid)
{
	struct epoll_event ev = { .events = EPOLLIN };
	int fd, ret = fi_control(fid, FI_GETWAIT, &fd);

	if (ret)
		return ret;
	return epoll_ctl(poller->base.fd, EPOLL_CTL_ADD, fd, &ev) ? -errno : 0;
}

static struct rxm_dom *dom_find(struct rxm_poller *poller, const char *name)
{
	struct list *pos;

	list_for_each(pos, &poller->doms)
		if (!strcmp(container_of(pos, struct rxm_dom, node)->name, name))
			return container_of(pos, struct rxm_dom, node);
	return NULL;
}

/* Ownership: takes @name. */
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
	list_init(&dom->zombies);
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
		       sizeof(struct rxm_out) + rxm_conf.buf_size);
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

	if (!list_empty(&dom->zombies))
		return -FI_EAGAIN;
	if (!fi_trywait(dom->fabric, fids, 2))
		return 0;
	dom->eq_turn = EQ_DUE;
	return -FI_EAGAIN;
}

void rxm_dom_reap(struct rxm_dom *dom)
{
	struct list *node;

	while ((node = list_pop(&dom->zombies)))
		sock_free(container_of(node, struct rxm_sock, node));
}

/* ---- endpoints -------------------------------------------------------------------------------- */

static void sock_free(struct rxm_sock *sock)
{
	struct list *node;

	if (sock->mem_mr)
		fi_close(&sock->mem_mr->fid);
	while (!list_empty(&sock->outs))
		layer_buf_put(&sock->dom->mem,
			      container_of(sock->outs.next, struct layer_buf, node));
	while ((node = list_pop(&sock->reads)))
		free(container_of(node, struct rxm_read, node));
	free(sock->bufs);
	free(sock->mem);
	free(sock);
}

bool rxm_sock_post(struct rxm_sock *sock, struct rxm_buf *buf)
{
	list_del(&buf->node);
	if (!fi_recv(sock->ep, buf->data, rxm_conf.buf_size, layer_desc(sock->mem_mr),
		     FI_ADDR_UNSPEC, buf))
		return true;
	list_add_tail(&buf->node, &sock->idle);
	return false;
}

static int sock_fill(struct rxm_sock *sock)
{
	size_t cnt = rxm_conf.credits + RXM_SPARES, i;
	int ret;

	sock->mem = malloc(cnt * rxm_conf.buf_size);
	sock->bufs = calloc(cnt, sizeof(*sock->bufs));
	if (!sock->mem || !sock->bufs)
		return -FI_ENOMEM;
	ret = layer_mr_local(&sock->dom->mem, sock->mem, cnt * rxm_conf.buf_size,
			     &sock->mem_mr);
	for (i = 0; i < cnt && !ret; i++) {
		sock->bufs[i].op = (struct rxm_op) { RXM_OP_RECV, sock };
		sock->bufs[i].data = sock->mem + i * rxm_conf.buf_size;
		list_init(&sock->bufs[i].node);
		if (!rxm_sock_post(sock, &sock->bufs[i]))
			ret = -FI_EAGAIN;
	}
	return ret;
}

static int sock_bind(struct rxm_sock *sock)
{
	int ret = fi_ep_bind(sock->ep, &sock->dom->eq->fid, 0);

	if (!ret)
		ret = fi_ep_bind(sock->ep, &sock->dom->cq->fid, FI_TRANSMIT | FI_RECV);
	if (!ret)
		ret = fi_enable(sock->ep);
	return ret;
}

int rxm_sock_open(struct rxm_dom *dom, struct fi_info *info, struct rxm_conn *conn,
		  struct rxm_sock **sock_p)
{
	struct rxm_sock *sock = calloc(1, sizeof(*sock));
	int ret;

	if (!sock)
		return -FI_ENOMEM;
	list_init(&sock->node);
	list_init(&sock->idle);
	list_init(&sock->outs);
	list_init(&sock->reads);
	sock->dom = dom;
	sock->conn = conn;
	ret = fi_endpoint(dom->domain, info, &sock->ep, sock);
	if (ret) {
		sock_free(sock);
		return ret;
	}
	ret = hmap_insert(&dom->fids, (uintptr_t) &sock->ep->fid, sock);
	if (!ret)
		ret = sock_bind(sock);
	if (!ret)
		ret = sock_fill(sock);
	if (ret) {
		rxm_sock_close(sock);
		return ret;
	}
	*sock_p = sock;
	return 0;
}

void rxm_on_sent(struct rxm_out *out)
{
	layer_buf_put(&out->op.sock->dom->mem, &out->buf);
}

void rxm_sock_close(struct rxm_sock *sock)
{
	hmap_remove(&sock->dom->fids, (uintptr_t) &sock->ep->fid);
	sock->conn = NULL;
	fi_close(&sock->ep->fid);
	sock->ep = NULL;
	list_add_tail(&sock->node, &sock->dom->zombies);
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "dom.h"

#include <errno.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "conn.h"

static void close_all(struct rxd_dom *dom)
{
	list_del(&dom->node);
	if (dom->cq)
		fi_close(&dom->cq->fid);
	if (dom->tx_cq)
		fi_close(&dom->tx_cq->fid);
	if (dom->av)
		fi_close(&dom->av->fid);
	if (dom->mem.domain)
		layer_mem_fini(&dom->mem);
	if (dom->domain)
		fi_close(&dom->domain->fid);
	if (dom->fabric)
		fi_close(&dom->fabric->fid);
	fi_freeinfo(dom->info);
	free(dom->name);
	free(dom);
}

static int open_all(struct rxd_dom *dom)
{
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_DATA, .wait_obj = FI_WAIT_FD };
	struct fi_cq_attr tx_attr = { .format = FI_CQ_FORMAT_MSG, .wait_obj = FI_WAIT_NONE };
	struct fi_av_attr av_attr = { .type = FI_AV_TABLE };
	int ret;

	ret = fi_fabric(dom->info->fabric_attr, &dom->fabric, NULL);
	if (!ret)
		ret = fi_domain(dom->fabric, dom->info, &dom->domain, NULL);
	if (!ret)
		ret = fi_av_open(dom->domain, &av_attr, &dom->av, NULL);
	if (!ret)
		ret = fi_cq_open(dom->domain, &cq_attr, &dom->cq, NULL);
	if (!ret)
		ret = fi_cq_open(dom->domain, &tx_attr, &dom->tx_cq, NULL);
	if (!ret)
		layer_mem_init(&dom->mem, dom->domain, dom->info,
			       sizeof(struct rxd_txbuf) + dom->info->ep_attr->max_msg_size);
	return ret;
}

static int watch(struct rxd_poller *poller, struct rxd_dom *dom)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.ptr = dom };
	int fd, ret = fi_control(&dom->cq->fid, FI_GETWAIT, &fd);

	if (ret)
		return ret;
	return epoll_ctl(poller->base.base.fd, EPOLL_CTL_ADD, fd, &ev) ? -errno : 0;
}

static struct rxd_dom *find(struct rxd_poller *poller, const char *name)
{
	struct list *pos;

	list_for_each(pos, &poller->doms)
		if (!strcmp(container_of(pos, struct rxd_dom, node)->name, name))
			return container_of(pos, struct rxd_dom, node);
	return NULL;
}

static char *name_of(const struct fi_info *info)
{
	const char *prov = info->fabric_attr->prov_name, *name = info->domain_attr->name;
	size_t len = strlen(prov) + strlen(name) + 2;
	char *out = malloc(len);

	if (out)
		snprintf(out, len, "%s %s", prov, name);
	return out;
}

int rxd_dom_get(struct rxd_poller *poller, struct fi_info *info, struct rxd_dom **dom_p)
{
	char *name = name_of(info);
	struct rxd_dom *dom;
	int ret;

	if (!name)
		return -FI_ENOMEM;
	dom = find(poller, name);
	if (dom) {
		free(name);
		dom->users++;
		*dom_p = dom;
		return 0;
	}
	dom = calloc(1, sizeof(*dom));
	if (!dom) {
		free(name);
		return -FI_ENOMEM;
	}
	dom->name = name;
	dom->poller = poller;
	dom->users = 1;
	list_init(&dom->node);
	list_init(&dom->dgs);
	dom->info = fi_dupinfo(info);
	ret = dom->info ? open_all(dom) : -FI_ENOMEM;
	if (!ret)
		ret = watch(poller, dom);
	if (ret) {
		close_all(dom);
		return ret;
	}
	list_add_tail(&dom->node, &poller->doms);
	*dom_p = dom;
	return 0;
}

void rxd_dom_put(struct rxd_dom *dom)
{
	if (!--dom->users)
		close_all(dom);
}

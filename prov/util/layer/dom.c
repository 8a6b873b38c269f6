/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "layer/dom.h"

#include <errno.h>
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

static struct layer_dom *find(struct list *doms, const char *name)
{
	struct list *pos;

	list_for_each(pos, doms)
		if (!strcmp(container_of(pos, struct layer_dom, node)->name, name))
			return container_of(pos, struct layer_dom, node);
	return NULL;
}

/* dom_close - also one that is open in part.  Buffers are deregistered before the domain is
 * closed, and after the queues: no completion can name them then.
 */
static void dom_close(struct layer_dom *dom)
{
	list_del(&dom->node);
	if (dom->domain)	/* open() was called */
		dom->ops->close(dom);
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

static int dom_open(struct layer_dom *dom, const struct fi_info *info, void *owner)
{
	size_t buf_size = 0;
	int ret;

	dom->info = fi_dupinfo(info);
	ret = dom->info ? fi_fabric(dom->info->fabric_attr, &dom->fabric, NULL) : -FI_ENOMEM;
	if (!ret)
		ret = fi_domain(dom->fabric, dom->info, &dom->domain, NULL);
	if (!ret)
		ret = dom->ops->open(dom, owner, &buf_size);
	if (!ret)
		layer_mem_init(&dom->mem, dom->domain, dom->info, buf_size);
	return ret;
}

/* dom_new - Ownership: takes @name. */
static int dom_new(struct list *doms, const struct fi_info *info, const struct layer_dom_ops *ops,
		   void *owner, char *name, struct layer_dom **dom_p)
{
	struct layer_dom *dom = calloc(1, ops->size);
	int ret;

	if (!dom) {
		free(name);
		return -FI_ENOMEM;
	}
	list_init(&dom->node);
	dom->ops = ops;
	dom->name = name;
	dom->users = 1;
	ret = dom_open(dom, info, owner);
	if (ret) {
		dom_close(dom);
		return ret;
	}
	list_add_tail(&dom->node, doms);
	*dom_p = dom;
	return 0;
}

int layer_dom_get(struct list *doms, const struct fi_info *info, const struct layer_dom_ops *ops,
		  void *owner, struct layer_dom **dom_p)
{
	char *name;

	if (asprintf(&name, "%s %s", info->fabric_attr->prov_name, info->domain_attr->name) < 0)
		return -FI_ENOMEM;
	*dom_p = find(doms, name);
	if (!*dom_p)
		return dom_new(doms, info, ops, owner, name, dom_p);
	free(name);
	(*dom_p)->users++;
	return 0;
}

void layer_dom_put(struct layer_dom *dom)
{
	if (!--dom->users)
		dom_close(dom);
}

int layer_dom_watch(int epoll_fd, struct fid *queue)
{
	struct epoll_event ev = { .events = EPOLLIN };
	int fd, ret = fi_control(queue, FI_GETWAIT, &fd);

	if (ret)
		return ret;
	return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &ev) ? -errno : 0;
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "layer/dom.h"

#include <errno.h>
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "progress/fdset.h"

static struct layer_dom *dom_find(struct list *doms, const char *name)
{
	struct layer_dom *dom;

	list_for_each_entry(dom, doms, node)
		if (!strcmp(dom->name, name))
			return dom;
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
	if (dom->domain && !dom->at_home)
		fi_close(&dom->domain->fid);
	if (dom->fabric && !dom->at_home)
		fi_close(&dom->fabric->fid);
	fi_freeinfo(dom->info);
	free(dom->name);
	free(dom);
}

static int open_below(struct fi_info *info, struct fid_fabric **fabric_p, struct fid_domain **domain_p)
{
	int ret = info ? fi_fabric(info->fabric_attr, fabric_p, NULL) : -FI_ENOMEM;

	return ret ? ret : fi_domain(*fabric_p, info, domain_p, NULL);
}

static int dom_open(struct layer_dom *dom, const struct fi_info *info, struct layer_home *home,
		    void *owner)
{
	size_t buf_size = 0;
	int ret = 0;

	dom->info = fi_dupinfo(info);
	dom->at_home = home && !strcmp(home->name, dom->name) && dom->info;
	if (dom->at_home) {
		dom->fabric = home->fabric;
		dom->domain = home->domain;
	} else {
		ret = open_below(dom->info, &dom->fabric, &dom->domain);
	}
	if (!ret)
		ret = dom->ops->open(dom, owner, &buf_size);
	if (!ret)
		layer_mem_init(&dom->mem, dom->domain, dom->info, buf_size);
	return ret;
}

/* dom_new - Ownership: takes @name. */
static int dom_new(struct list *doms, const struct fi_info *info, struct layer_home *home,
		   const struct layer_dom_ops *ops, void *owner, char *name, struct layer_dom **dom_p)
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
	ret = dom_open(dom, info, home, owner);
	if (ret) {
		dom_close(dom);
		return ret;
	}
	list_add_tail(&dom->node, doms);
	*dom_p = dom;
	return 0;
}

static char *name_of(const struct fi_info *info)
{
	char *name;

	return asprintf(&name, "%s %s", info->fabric_attr->prov_name, info->domain_attr->name) < 0 ?
	       NULL : name;
}

int layer_dom_get(struct list *doms, const struct fi_info *info, struct layer_home *home,
		  const struct layer_dom_ops *ops, void *owner, struct layer_dom **dom_p)
{
	char *name = name_of(info);

	if (!name)
		return -FI_ENOMEM;
	*dom_p = dom_find(doms, name);
	if (!*dom_p)
		return dom_new(doms, info, home, ops, owner, name, dom_p);
	free(name);
	(*dom_p)->users++;
	return 0;
}

void layer_dom_put(struct layer_dom *dom)
{
	if (!--dom->users)
		dom_close(dom);
}

int layer_home_open(const struct fi_info *info, struct layer_home **home_p)
{
	struct layer_home *home = calloc(1, sizeof(*home));
	int ret = -FI_ENOMEM;

	if (!home)
		return ret;
	home->name = name_of(info);
	home->info = fi_dupinfo(info);
	if (home->name && home->info)
		ret = open_below(home->info, &home->fabric, &home->domain);
	if (ret)
		layer_home_close(home);
	else
		*home_p = home;
	return ret;
}

void layer_home_close(struct layer_home *home)
{
	if (home->domain)
		fi_close(&home->domain->fid);
	if (home->fabric)
		fi_close(&home->fabric->fid);
	fi_freeinfo(home->info);
	free(home->name);
	free(home);
}

int layer_dom_watch(int set, struct fid *queue)
{
	int fd, ret = fi_control(queue, FI_GETWAIT, &fd);

	return ret ? ret : fdset_add(set, fd, POLLIN, NULL);
}

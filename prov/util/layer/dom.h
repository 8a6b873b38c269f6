/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * dom.h - the domains below that the links of a progress group share: one for each provider
 * and domain name, opened with the first link and closed with the last.
 *
 * Where regions of the program are registered below, too, the groups of its domain share the
 * domain below, a home, since keys are valid in one domain only.
 *
 * A layer's domain begins with struct layer_dom and has its queues behind it.
 *
 * Threading: caller holds the lock of the progress group.
 */
#ifndef LAYER_DOM_H
#define LAYER_DOM_H

#include "layer/mem.h"

struct layer_dom;

/* A domain below, for regions and the groups of a domain of the program. */
struct layer_home {
	char *name;			/* of provider and domain */
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
};

/* layer_home_open - Errors: those of the provider below, -FI_ENOMEM. */
int layer_home_open(const struct fi_info *info, struct layer_home **home_p);

/* layer_home_close - what was opened in it is closed. */
void layer_home_close(struct layer_home *home);

struct layer_dom_ops {
	size_t size;			/* bytes of the layer's structure */
	/* open - fabric and domain are open: open the rest.  What it leaves behind on an error,
	 * close() closes.
	 * @owner:  that of layer_dom_get()
	 * @size_p: [out] bytes of a send buffer, its struct layer_buf included
	 */
	int (*open)(struct layer_dom *dom, void *owner, size_t *size_p);
	/* close - close what open() has opened, in part as well; endpoints are closed. */
	void (*close)(struct layer_dom *dom);
};

struct layer_dom {
	struct list node;		/* on the list of the group's domains */
	const struct layer_dom_ops *ops;
	char *name;			/* of provider and domain: what links share it by */
	unsigned users;			/* links */
	struct fi_info *info;		/* of the first link */
	struct fid_fabric *fabric;	/* its own, unless they are a home's */
	struct fid_domain *domain;
	bool at_home;
	struct layer_mem mem;		/* send buffers, and registration */
};

/* layer_dom_get - the domain of @info in @doms, opened if it is not there.
 *
 * @home:  whose domain it is, if it has the same name; NULL: one of its own
 * @owner: of the list, for ops->open()
 * Ownership: one layer_dom_put() each.
 * Errors:    those of the provider below and of open(); -FI_ENOMEM.
 */
int layer_dom_get(struct list *doms, const struct fi_info *info, struct layer_home *home,
		  const struct layer_dom_ops *ops, void *owner, struct layer_dom **dom_p);

/* layer_dom_put - the last user closes it. */
void layer_dom_put(struct layer_dom *dom);

/* layer_dom_watch - a queue below wakes a thread that sleeps on @set.
 * Errors: those of FI_GETWAIT and fdset_add().
 */
int layer_dom_watch(int set, struct fid *queue);

#endif

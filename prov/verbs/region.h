/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * region.h - regions of an RDMA device: memory of the host, memory of other devices (FI_HMEM), and
 * dma-bufs that the program brings.
 *
 * The RDMA device reads and writes memory of another device by itself: no copy goes through the host.
 * It is registered as a dma-buf, or by its address where a module of the kernel translates that
 * (peer memory); without either it is refused.
 */
#ifndef VRB_REGION_H
#define VRB_REGION_H

#include <pthread.h>
#include <rdma/fi_domain.h>
#include <stdbool.h>

#include "lib.h"
#include "mr/cache.h"
#include "obj/mr.h"

struct vrb_domain;

/* What obj_mr.hw points to. */
struct vrb_region {
	struct ibv_mr *ibv;
	struct mr_entry *kept;		/* entry of the cache that @ibv is of, or NULL */
};

/* Part of a domain. */
struct vrb_hmem {
	bool on;			/* opened with FI_HMEM: descs are struct obj_mr */
	pthread_mutex_t lock;		/* guards the cache, from here on */
	struct mr_cache cache;		/* registrations for local use, by allocation */
	const struct hmem_loc *loc;	/* of the registration that is being made */
	uint64_t id;			/* of its allocation */
};

/* vrb_hmem_init, vrb_hmem_fini - with the domain; all regions are closed by then. */
void vrb_hmem_init(struct vrb_domain *domain);
void vrb_hmem_fini(struct vrb_domain *domain);

/* vrb_mr_open, vrb_mr_close - obj_domain_ops. */
int vrb_mr_open(struct obj_mr *mr, const struct fi_mr_attr *attr, uint64_t flags);
int vrb_mr_close(struct obj_mr *mr);

/* vrb_hmem_reg - register memory of a device.
 *
 * @access:   of libibverbs
 * @region_p: [out]
 * Errors:    -FI_EOPNOTSUPP there is no way, or those of the export and the registration; logged with
 *            the reason of each way.
 * Threading: any.
 */
int vrb_hmem_reg(struct vrb_domain *domain, const struct obj_mr *mr, int access,
		 struct vrb_region *region_p);

/* vrb_hmem_unreg - give a cached registration back. */
void vrb_hmem_unreg(struct vrb_domain *domain, struct vrb_region *region);

/* vrb_hmem_at - info_limits.hmem_at: can the RDMA device of @offer register memory of an interface that
 * has started?
 */
bool vrb_hmem_at(const struct fi_info *offer, const char **why_p);

/* vrb_by_device - must the CPU leave the memory of @mr alone? */
static inline bool vrb_by_device(const struct obj_mr *mr)
{
	return (mr->loc.iface != FI_HMEM_SYSTEM && !mr->loc.host) || (mr->flags & FI_MR_DMABUF);
}

#endif

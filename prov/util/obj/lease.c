/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "obj/lease.h"

#include <rdma/fi_errno.h>
#include <rdma/providers/fi_log.h>
#include <sched.h>

#include "base/clock.h"
#include "obj/domain.h"
#include "obj/ep.h"
#include "obj/mr.h"

/* How long a peer may take to copy; a copy of 1 GiB takes some 0.1 s. */
#define PATIENCE_NS (10 * CLOCK_NS_PER_S)

/* give - Holds mr_lock. */
static void give(struct obj_tenant *tenant, struct obj_mr *mr)
{
	const struct obj_ep *ep = tenant->ep;
	struct obj_lease lease = {
		.key = mr->fid.key,
		.base = mr->base,
		.len = mr->len,
		.addr = (uintptr_t) mr->iov[0].iov_base,
		.access = mr->access & (FI_REMOTE_READ | FI_REMOTE_WRITE),
		.counted = mr->cntr || ep->cntrs[OBJ_CNTR_REMOTE_WRITE],
	};

	if (mr->iov_cnt != 1 || (mr->ep && mr->ep != ep) || mr->loc.iface != FI_HMEM_SYSTEM)
		return;
	if (ep->cntrs[OBJ_CNTR_REMOTE_READ])
		lease.access &= ~FI_REMOTE_READ;
	mr->leased = true;
	tenant->let(tenant, &lease);
}

void obj_lease_join(struct obj_tenant *tenant, struct obj_ep *ep)
{
	struct obj_domain *domain = ep->domain;
	struct hmap *map;
	size_t i;

	/* the events of a scalable endpoint are its contexts' */
	if (!(ep->caps & FI_RMA) || ep->h.fid.fid.fclass != FI_CLASS_EP)
		return;
	map = &domain->mr_map;
	lock_get(&domain->mr_lock);
	tenant->ep = ep;
	list_add_tail(&tenant->node, &domain->tenants);
	for (i = 0; map->used && i <= map->mask; i++)
		if (map->slots[i].val)
			give(tenant, map->slots[i].val);
	lock_put(&domain->mr_lock);
}

void obj_lease_ask(struct obj_tenant *tenant, uint64_t key)
{
	struct obj_domain *domain;
	struct obj_mr *mr;

	if (!tenant->ep)
		return;
	domain = tenant->ep->domain;
	lock_get(&domain->mr_lock);
	mr = hmap_find(&domain->mr_map, key);
	if (mr)
		give(tenant, mr);
	lock_put(&domain->mr_lock);
}

void obj_lease_offer(struct obj_mr *mr)
{
	struct obj_tenant *tenant;

	list_for_each_entry(tenant, &mr->domain->tenants, node)
		give(tenant, mr);
}

void obj_lease_leave(struct obj_tenant *tenant)
{
	struct obj_domain *domain;

	if (!tenant->ep)
		return;
	domain = tenant->ep->domain;
	lock_get(&domain->mr_lock);
	list_del(&tenant->node);
	tenant->ep = NULL;
	lock_put(&domain->mr_lock);
}

/* end_once - Returns true while a peer accesses the region. */
static bool end_once(struct obj_mr *mr)
{
	struct obj_domain *domain = mr->domain;
	struct obj_tenant *tenant;
	bool inside = false;

	lock_get(&domain->mr_lock);
	if (mr->leased)
		list_for_each_entry(tenant, &domain->tenants, node)
			inside |= tenant->end(tenant, mr->fid.key);
	mr->leased = inside;
	lock_put(&domain->mr_lock);
	return inside;
}

int obj_lease_end(struct obj_mr *mr)
{
	uint64_t give_up = 0;

	while (end_once(mr)) {
		if (!give_up)
			give_up = clock_ns() + PATIENCE_NS;
		else if (clock_ns() > give_up)
			goto stuck;
		sched_yield();
	}
	return 0;
stuck:
	FI_WARN(mr->domain->prov, FI_LOG_MR, "a peer is inside the region with key 0x%llx and does "
		"not come out; is its process stopped? Let it go on, or end it, and close the "
		"region again\n", (unsigned long long) mr->fid.key);
	return -FI_EBUSY;
}

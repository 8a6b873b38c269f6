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

uint64_t obj_lease_patience_ns = 10 * CLOCK_NS_PER_S;

/* lease_give - Holds mr_lock. */
static void lease_give(struct obj_tenant *tenant, struct obj_mr *mr)
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

	if (mr->iov_cnt != 1 || (mr->ep && mr->ep != ep) || !obj_mr_key_fits(mr, ep) || mr->loc.iface != FI_HMEM_SYSTEM)
		return;
	if (ep->cntrs[OBJ_CNTR_REMOTE_READ])
		lease.access &= ~FI_REMOTE_READ;
	mr->leased = true;
	tenant->ops->let(tenant, &lease);
}

void obj_lease_join(struct obj_tenant *tenant, struct obj_ep *ep, bool may_let)
{
	struct obj_domain *domain = ep->domain;
	struct hmap *map = &domain->mr_map;
	size_t i;

	lock_get(&domain->mr_lock);
	tenant->domain = domain;
	tenant->ep = ep;
	/* the events of a scalable endpoint are its contexts' */
	tenant->may_let = may_let && ep->caps & FI_RMA && ep->h.fid.fid.fclass == FI_CLASS_EP;
	list_add_tail(&tenant->node, &domain->tenants);
	for (i = 0; tenant->may_let && map->used && i <= map->mask; i++)
		if (map->slots[i].val)
			lease_give(tenant, map->slots[i].val);
	lock_put(&domain->mr_lock);
}

void obj_lease_ask(struct obj_tenant *tenant, uint64_t key)
{
	struct obj_domain *domain = tenant->domain;
	struct obj_mr *mr;

	if (!domain || !tenant->may_let)
		return;
	lock_get(&domain->mr_lock);
	mr = hmap_find(&domain->mr_map, key);
	if (mr)
		lease_give(tenant, mr);
	lock_put(&domain->mr_lock);
}

/* tenants_inherited - a child that registers memory on a domain of its parent's has no tenants: those in the lists are
 * the parent's, whose memory it does not map.
 */
static bool tenants_inherited(const struct obj_domain *domain)
{
	return obj_inherited(&domain->refs);
}

void obj_lease_offer(struct obj_mr *mr)
{
	struct obj_tenant *tenant;

	if (tenants_inherited(mr->domain))
		return;
	list_for_each_entry(tenant, &mr->domain->tenants, node)
		if (tenant->may_let)
			lease_give(tenant, mr);
}

/* ---- the end of a tenant --------------------------------------------------- */

void obj_lease_leave(struct obj_tenant *tenant)
{
	struct obj_domain *domain = tenant->domain;

	if (!domain)
		return;
	lock_get(&domain->mr_lock);
	tenant->ep = NULL;
	tenant->may_let = false;
	list_del(&tenant->node);
	list_add_tail(&tenant->node, &domain->left);
	lock_put(&domain->mr_lock);
}

/* tenant_reap - the only end of a tenant that has joined.  Returns true if it is gone.  Holds mr_lock. */
static bool tenant_reap(struct obj_tenant *tenant)
{
	if (!tenant->parted || tenant->ops->inside(tenant))
		return false;
	list_del(&tenant->node);
	tenant->ops->free(tenant);
	return true;
}

void obj_lease_part(struct obj_tenant *tenant)
{
	struct obj_domain *domain = tenant->domain;

	if (!domain) {
		tenant->ops->free(tenant);
		return;
	}
	lock_get(&domain->mr_lock);
	tenant->parted = true;
	tenant_reap(tenant);
	lock_put(&domain->mr_lock);
}

/* ---- the end of a region --------------------------------------------------- */

/* tenants_end_leases - Returns true while a peer of @tenants uses one of @mr; *@pid_p is one.  Holds mr_lock. */
static bool tenants_end_leases(struct list *tenants, const struct obj_mr *mr, pid_t *pid_p)
{
	struct obj_tenant *tenant;
	bool inside = false;

	list_for_each_entry(tenant, tenants, node) {
		if (!tenant->ops->end(tenant, mr->fid.key))
			continue;
		inside = true;
		*pid_p = tenant->pid;
	}
	return inside;
}

static bool tenant_touches(const struct obj_tenant *tenant, const struct obj_mr *mr)
{
	size_t i;

	for (i = 0; mr->loc.iface == FI_HMEM_SYSTEM && i < mr->iov_cnt; i++)
		if (tenant->ops->touches(tenant, (uintptr_t) mr->iov[i].iov_base, mr->iov[i].iov_len))
			return true;
	return false;
}

/* region_recall - Returns true while a peer uses a lease of the region; *@pid_p is one.  Holds mr_lock. */
static bool region_recall(struct obj_mr *mr, pid_t *pid_p)
{
	bool inside = false;

	if (mr->leased) {
		inside = tenants_end_leases(&mr->domain->tenants, mr, pid_p);
		inside |= tenants_end_leases(&mr->domain->left, mr, pid_p);
		mr->leased = inside;
	}
	return inside;
}

static bool recall_once(struct obj_mr *mr, pid_t *pid_p)
{
	bool inside;

	lock_get(&mr->domain->mr_lock);
	inside = region_recall(mr, pid_p);
	lock_put(&mr->domain->mr_lock);
	return inside;
}

/* end_once - Returns true while a peer accesses the region; *@pid_p is one. */
static bool end_once(struct obj_mr *mr, pid_t *pid_p)
{
	struct obj_domain *domain = mr->domain;
	struct obj_tenant *tenant, *next;
	bool inside;

	lock_get(&domain->mr_lock);
	inside = region_recall(mr, pid_p);
	list_for_each_entry(tenant, &domain->tenants, node) {
		if (!tenant_touches(tenant, mr))
			continue;
		inside = true;
		*pid_p = tenant->pid;
	}
	list_for_each_entry_safe(tenant, next, &domain->left, node) {
		if (tenant_reap(tenant) || !tenant_touches(tenant, mr))
			continue;
		inside = true;
		*pid_p = tenant->pid;
	}
	lock_put(&domain->mr_lock);
	return inside;
}

/* is_over - a wait for peers, which began when *@until was 0, has lasted long enough. */
static bool is_over(uint64_t *until)
{
	uint64_t now = clock_ns();

	if (!*until)
		*until = now + obj_lease_patience_ns;
	return now > *until;
}

/* wait_out - repeat @once until it returns false. */
static int wait_out(struct obj_mr *mr, bool (*once)(struct obj_mr *mr, pid_t *pid_p))
{
	uint64_t until = 0;
	pid_t pid = 0;

	if (tenants_inherited(mr->domain))
		return 0;
	while (once(mr, &pid)) {
		if (is_over(&until))
			goto stuck;
		sched_yield();
	}
	return 0;
stuck:
	FI_WARN(mr->domain->prov, FI_LOG_MR, "process %ld is copying from or to the region with key 0x%llx "
		"and does not finish; is it stopped? Let it go on, or end it, and repeat the call\n",
		(long) pid, (unsigned long long) mr->fid.key);
	return -FI_EBUSY;
}

int obj_lease_end(struct obj_mr *mr)
{
	return wait_out(mr, end_once);
}

int obj_lease_recall(struct obj_mr *mr)
{
	return wait_out(mr, recall_once);
}

/* reap_all - Returns true while a tenant is left; *@pid_p is one. */
static bool reap_all(struct obj_domain *domain, pid_t *pid_p)
{
	struct obj_tenant *tenant, *next;
	bool any;

	lock_get(&domain->mr_lock);
	list_for_each_entry_safe(tenant, next, &domain->left, node)
		if (!tenant_reap(tenant))
			*pid_p = tenant->pid;
	any = !list_empty(&domain->left);
	lock_put(&domain->mr_lock);
	return any;
}

int obj_lease_end_all(struct obj_domain *domain)
{
	uint64_t until = 0;
	pid_t pid = 0;

	while (reap_all(domain, &pid)) {
		if (is_over(&until))
			goto stuck;
		sched_yield();
	}
	return 0;
stuck:
	FI_WARN(domain->prov, FI_LOG_DOMAIN, "process %ld is copying from or to memory of this process and "
		"does not finish; is it stopped? Let it go on, or end it, and close the domain again\n",
		(long) pid);
	return -FI_EBUSY;
}

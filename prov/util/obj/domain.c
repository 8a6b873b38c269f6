/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "obj/domain.h"

#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>

#include "obj/av.h"
#include "obj/cntr.h"
#include "obj/cq.h"
#include "obj/eq.h"
#include "obj/lease.h"
#include "obj/mr.h"
#include "obj/ops.h"
#include "obj/poll.h"
#include "progress/thread.h"

bool obj_domain_has_regions(struct obj_domain *domain)
{
	bool has;

	lock_get(&domain->mr_lock);
	has = domain->mr_map.used != 0;
	lock_put(&domain->mr_lock);
	return has;
}

int obj_domain_started(struct obj_domain *domain, struct obj_prog *prog)
{
	int ret = 0;

	if (!domain->auto_progress)
		return 0;
	pthread_mutex_lock(&domain->auto_lock);
	if (!domain->autop)
		ret = obj_auto_start(domain->prov, domain->attr->name, &domain->autop);
	if (!ret)
		ret = obj_auto_watch(domain->autop, prog);
	pthread_mutex_unlock(&domain->auto_lock);
	return ret;
}

int obj_domain_no_xpu(struct obj_domain *domain, const char *what)
{
	FI_WARN(domain->prov, FI_LOG_DOMAIN, "%s: FI_XPU is not available: %s\n", what,
		domain->ops->xpu ? "the domain was opened without it; ask for FI_XPU in hints->caps of "
		"fi_getinfo" : "this provider serves no devices (domain_attr->max_xpu_ctx_cnt is 0)");
	return -FI_ENOSYS;
}

/* ---- the domain's ops ---------------------------------------------------- */

static int domain_endpoint2(struct fid_domain *fid, struct fi_info *info, struct fid_ep **ep,
			    uint64_t flags, void *context)
{
	struct obj_domain *domain = obj_domain_of(fid);
	struct obj_info_room room;

	if (!info || !info->ep_attr || !ep)
		return -FI_EINVAL;
	if (!domain->ops->endpoint)
		return -FI_ENOSYS;
	if ((flags & FI_XPU) && !domain->xpu)
		return obj_domain_no_xpu(domain, "fi_endpoint2");
	info = obj_info_whole(domain->fabric, info, &room);
	if (flags & FI_XPU)
		return domain->xpu->endpoint(domain, info, flags, ep, context);
	if (info->ep_attr->xpu_ctx) {
		FI_WARN(domain->prov, FI_LOG_EP_CTRL, "fi_endpoint: ep_attr->xpu_ctx is set, but "
			"the flags have no FI_XPU: pass FI_XPU to fi_endpoint2(), or NULL here\n");
		return -FI_EINVAL;
	}
	if (flags) {
		FI_WARN(domain->prov, FI_LOG_EP_CTRL, "fi_endpoint2: flags are not 0%s\n",
			flags & FI_PEER_TRANSFER ? ": endpoints of this provider transfer for no "
			"other (FI_PEER_TRANSFER)" : "");
		return -FI_EINVAL;
	}
	return domain->ops->endpoint(fid, info, ep, flags, context);
}

static int domain_endpoint(struct fid_domain *fid, struct fi_info *info, struct fid_ep **ep,
			   void *context)
{
	return domain_endpoint2(fid, info, ep, 0, context);
}

static int domain_scalable_ep(struct fid_domain *fid, struct fi_info *info, struct fid_ep **sep,
			      void *context)
{
	struct obj_domain *domain = obj_domain_of(fid);
	struct obj_info_room room;

	if (!domain->ops->scalable_ep)
		return -FI_ENOSYS;
	return domain->ops->scalable_ep(fid, obj_info_whole(domain->fabric, info, &room), sep,
					context);
}

static int domain_query_atomic(struct fid_domain *fid, enum fi_datatype datatype, enum fi_op op,
			       struct fi_atomic_attr *attr, uint64_t flags)
{
	struct obj_domain *domain = obj_domain_of(fid);

	if (!attr)
		return -FI_EINVAL;
	if (!domain->ops->query_atomic)
		return obj_ops_defaults.domain.query_atomic(fid, datatype, op, attr, flags);
	return domain->ops->query_atomic(fid, datatype, op, attr, flags);
}

static int map_raw(const struct fi_mr_map_raw *map)
{
	if (!map || !map->raw_key || !map->key || map->key_size != sizeof(*map->key))
		return -FI_EINVAL;
	memcpy(map->key, map->raw_key, sizeof(*map->key));
	return 0;
}

static int domain_control(struct fid *fid, int cmd, void *arg)
{
	struct obj_domain *domain = container_of(fid, struct obj_domain, fid.fid);

	switch (cmd) {
	case FI_MAP_RAW_MR:
		return map_raw(arg);
	case FI_UNMAP_KEY:
		return 0;	/* mapping a key took nothing */
	default:
		return domain->ops->control ? domain->ops->control(domain, cmd, arg) :
					      -FI_ENOSYS;
	}
}

static int set_hmem_ops(struct obj_domain *domain, const struct fi_hmem_override_ops *ops)
{
	if (!(domain->info->caps & FI_HMEM))
		return -FI_EOPNOTSUPP;
	if (!ops || ops->size < sizeof(*ops) || !ops->copy_from_hmem_iov || !ops->copy_to_hmem_iov)
		return -FI_EINVAL;
	domain->hmem_ops = ops;
	return 0;
}

/* The program keeps the table while the domain is open. */
static int domain_ops_set(struct fid *fid, const char *name, uint64_t flags, void *ops,
			  void *context)
{
	struct obj_domain *domain = container_of(fid, struct obj_domain, fid.fid);

	if (!name || flags)
		return -FI_EINVAL;
	return strcmp(name, FI_SET_OPS_HMEM_OVERRIDE) ? -FI_ENOSYS : set_hmem_ops(domain, ops);
}

static int domain_bind(struct fid *fid, struct fid *bfid, uint64_t flags)
{
	struct obj_domain *domain = container_of(fid, struct obj_domain, fid.fid);
	struct obj_eq *eq;

	if (bfid->fclass != FI_CLASS_EQ || (flags & ~FI_REG_MR) || domain->eq)
		return -FI_EINVAL;
	eq = container_of(bfid, struct obj_eq, fid.fid);
	if (eq->fabric != domain->fabric)
		return -FI_EINVAL;
	obj_ref_get(&eq->refs, &domain->eq_ref, fid);
	domain->eq = eq;
	domain->eq_flags = flags;
	return 0;
}

/* ---- opening and closing ------------------------------------------------- */

static void domain_free(struct obj_domain *domain)
{
	hmap_destroy(&domain->mr_map);
	lock_destroy(&domain->mr_lock);
	pthread_mutex_destroy(&domain->auto_lock);
	pthread_mutex_destroy(&domain->works_lock);
	pthread_mutex_destroy(&domain->xpu_lock);
	obj_refs_fini(&domain->refs);
	fi_freeinfo(domain->info);
	free(domain);
}

static int domain_close(struct fid *fid)
{
	struct obj_domain *domain = container_of(fid, struct obj_domain, fid.fid);
	int ret;

	if (obj_inherited(&domain->refs))
		return 0;
	ret = obj_refs_busy(&domain->refs, fid, domain->prov, FI_LOG_DOMAIN);
	if (!ret)
		ret = obj_lease_end_all(domain);
	if (ret)
		return ret;
	obj_prog_close_all(&domain->groups);
	if (domain->autop)
		obj_auto_stop(domain->autop);
	if (domain->ops && domain->ops->fini)
		domain->ops->fini(domain);
	obj_ref_put(&domain->eq_ref);
	obj_ref_put(&domain->fabric_ref);
	domain_free(domain);
	return 0;
}

/* The tables are the domain's own: what a provider has differs. */
static void domain_set_ops(struct obj_domain *domain)
{
	static const struct obj_domain_ops none = { 0 };
	const struct obj_domain_ops *ops = domain->ops ? domain->ops : &none;
	struct fi_ops_domain *out = &domain->domain_ops;

	domain->ops = ops;
	domain->fi_ops.close = domain_close;
	domain->fi_ops.bind = domain_bind;
	domain->fi_ops.control = domain_control;
	domain->fi_ops.ops_set = domain_ops_set;
	OBJ_OPS_FILL(&domain->fi_ops, fid);
	out->av_open = obj_av_open;
	out->cq_open = obj_cq_open;
	out->cntr_open = obj_cntr_open;
	out->poll_open = obj_poll_open;
	out->endpoint = domain_endpoint;
	out->endpoint2 = domain_endpoint2;
	out->scalable_ep = domain_scalable_ep;
	out->stx_ctx = ops->stx_ctx;
	out->srx_ctx = ops->srx_ctx;
	out->query_atomic = domain_query_atomic;
	out->query_collective = ops->query_collective;
	if (domain->info->caps & FI_XPU)
		domain->xpu = ops->xpu;
	out->xpu_ctx = domain->xpu ? domain->xpu->ctx : NULL;
	OBJ_OPS_FILL(out, domain);
	domain->mr_ops.reg = obj_mr_reg;
	domain->mr_ops.regv = obj_mr_regv;
	domain->mr_ops.regattr = obj_mr_regattr;
	OBJ_OPS_FILL(&domain->mr_ops, mr);
	domain->fid.fid.ops = &domain->fi_ops;
	domain->fid.ops = out;
	domain->fid.mr = &domain->mr_ops;
}

/* Before 1.5 there were two values instead of bits. */
static uint32_t mr_bits(int mr_mode)
{
	if (mr_mode == FI_MR_BASIC)
		return FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
	if (mr_mode == FI_MR_SCALABLE)
		return 0;
	return (uint32_t) mr_mode;
}

/* No lock where the program has promised that no two threads meet, and no thread of
 * ours (automatic progress, FI_XPU) and no event queue (which belongs to the fabric, so the promise does not
 * cover it) drives endpoints.  FI_THREAD_ENDPOINT and FI_THREAD_FID let one thread
 * read a queue while another uses an endpoint that is bound to it.
 */
static enum lock_kind choose_lock(const struct obj_domain *domain)
{
	const struct fi_ep_attr *ep = domain->info->ep_attr;

	if (domain->auto_progress || ep->type == FI_EP_MSG || (domain->info->caps & FI_XPU))
		return LOCK_MUTEX;
	if (domain->attr->threading == FI_THREAD_DOMAIN)
		return LOCK_NONE;
	if (domain->attr->threading != FI_THREAD_COMPLETION)
		return LOCK_MUTEX;
	/* Contexts of one address have queues of their own, and so threads. */
	return ep->rx_ctx_cnt > 1 || (ep->tx_ctx_cnt > 1 && ep->tx_ctx_cnt != FI_SHARED_CONTEXT) ?
	       LOCK_MUTEX : LOCK_NONE;
}

int obj_domain_may_share(struct obj_domain *domain, const char *what)
{
	if (domain->prog_lock_kind != LOCK_NONE || domain->attr->threading == FI_THREAD_DOMAIN)
		return 0;
	FI_WARN(domain->prov, FI_LOG_DOMAIN, "cannot open %s: the domain was opened with "
		"FI_THREAD_COMPLETION for endpoints of one context each; say what is to come in "
		"ep_attr->tx_ctx_cnt and rx_ctx_cnt (FI_SHARED_CONTEXT) of the hints\n", what);
	return -FI_EINVAL;
}

static int check_open(struct obj_fabric *fabric, const struct fi_info *info, uint64_t flags)
{
	const char *what = NULL;

	if (!info || !info->domain_attr || !info->fabric_attr || !info->ep_attr)
		what = "info has no domain, fabric or endpoint attributes";
	else if (flags)
		what = "flags are not 0";
	else if (fabric->name && info->fabric_attr->name &&
		 strcmp(fabric->name, info->fabric_attr->name))
		what = "info is of another fabric";
	if (!what)
		return fabric->ops->check ? fabric->ops->check(fabric, info) : 0;
	FI_WARN(fabric->prov, FI_LOG_DOMAIN, "fi_domain: %s\n", what);
	return -FI_EINVAL;
}

static void init_domain(struct obj_domain *domain, struct obj_fabric *fabric, void *context)
{
	domain->fid.fid.fclass = FI_CLASS_DOMAIN;
	domain->fid.fid.context = context;
	domain->prov = fabric->prov;
	domain->fabric = fabric;
	domain->api_version = fabric->api_version;
	domain->attr = domain->info->domain_attr;
	domain->addr_format = domain->info->addr_format;
	domain->auto_progress = domain->attr->data_progress == FI_PROGRESS_AUTO ||
				domain->attr->control_progress == FI_PROGRESS_AUTO;
	domain->prog_lock_kind = choose_lock(domain);
	domain->obj_lock_kind = domain->prog_lock_kind;
	domain->mr_mode = mr_bits(domain->attr->mr_mode);
	list_init(&domain->groups.list);
	hmap_init(&domain->mr_map);
	list_init(&domain->tenants);
	list_init(&domain->left);
	obj_refs_init(&domain->refs);
	pthread_mutex_init(&domain->auto_lock, NULL);
	pthread_mutex_init(&domain->works_lock, NULL);
	pthread_mutex_init(&domain->xpu_lock, NULL);
	list_init(&domain->xpus);
	list_init(&domain->works);
	list_init(&domain->works_due);
}

int obj_domain_open(struct fid_fabric *fabric_fid, struct fi_info *info,
		    struct fid_domain **domain_p, uint64_t flags, void *context)
{
	struct obj_fabric *fabric = obj_fabric_of(fabric_fid);
	size_t size = fabric->ops->domain_size;
	struct obj_info_room room;
	struct obj_domain *domain;
	int ret;

	info = obj_info_whole(fabric, info, &room);
	ret = check_open(fabric, info, flags);
	if (ret)
		return ret;
	domain = calloc(1, size > sizeof(*domain) ? size : sizeof(*domain));
	if (!domain)
		return -FI_ENOMEM;
	domain->info = fi_dupinfo(info);
	if (!domain->info) {
		free(domain);
		return -FI_ENOMEM;
	}
	init_domain(domain, fabric, context);
	ret = lock_init(&domain->mr_lock, LOCK_MUTEX);
	if (!ret && fabric->ops->domain_init)
		ret = fabric->ops->domain_init(domain);
	if (ret) {
		domain_free(domain);
		return ret;
	}
	domain_set_ops(domain);
	obj_ref_get(&fabric->refs, &domain->fabric_ref, &domain->fid.fid);
	*domain_p = &domain->fid;
	return 0;
}

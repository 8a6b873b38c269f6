/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <errno.h>
#include <rdma/fi_errno.h>
#include <string.h>

#include "obj/auto.h"
#include "vrb_dev.h"
#include "vrb_ep.h"

/* ---- memory ------------------------------------------------------------------ */

static int access_of(uint64_t access)
{
	int ibv = 0;

	/* The target of a read is written; on iWARP by the peer. */
	if (access & (FI_RECV | FI_READ | FI_REMOTE_WRITE))
		ibv |= IBV_ACCESS_LOCAL_WRITE;
	if (access & FI_REMOTE_READ)
		ibv |= IBV_ACCESS_REMOTE_READ;
	if (access & FI_REMOTE_WRITE)
		ibv |= IBV_ACCESS_REMOTE_WRITE;
	return ibv;
}

static struct ibv_mr *reg(struct vrb_domain *domain, const struct iovec *iov, uint64_t access)
{
	int ibv = access_of(access);

	if (domain->ctx->device->transport_type == IBV_TRANSPORT_IWARP && (access & FI_READ))
		ibv |= IBV_ACCESS_REMOTE_WRITE;
	if ((ibv & IBV_ACCESS_REMOTE_WRITE) && domain->attr.atomic_cap != IBV_ATOMIC_NONE)
		ibv |= IBV_ACCESS_REMOTE_ATOMIC;
	return vrb_ibv.reg_mr(domain->pd, iov->iov_base, iov->iov_len, (unsigned) ibv);
}

static int mr_open(struct obj_mr *mr, const struct fi_mr_attr *attr, uint64_t flags)
{
	struct vrb_domain *domain = vrb_domain_of(mr->domain);
	struct ibv_mr *ibv;

	if (attr->iov_count != 1) {
		VRB_WARN(FI_LOG_MR, "a region of an RDMA device is one piece; register %zu of them\n",
			 attr->iov_count);
		return -FI_EINVAL;
	}
	ibv = reg(domain, attr->mr_iov, attr->access);
	if (!ibv) {
		int err = errno;

		VRB_WARN(FI_LOG_MR, "the device cannot register %zu bytes at %p: %s%s\n",
			 attr->mr_iov->iov_len, attr->mr_iov->iov_base, fi_strerror(err),
			 err == ENOMEM ? ". Locked memory may be limited: see ulimit -l" : "");
		return err ? -err : -FI_ENOMEM;
	}
	mr->hw = ibv;
	mr->fid.mem_desc = ibv;
	mr->fid.key = ibv->rkey;
	return 0;
}

static int mr_close(struct obj_mr *mr)
{
	return -vrb_ibv.dereg_mr(mr->hw);
}

static const char *wc_text(int status)
{
	return vrb_ibv.wc_status_str((enum ibv_wc_status) status);
}

/* ---- the domain ---------------------------------------------------------------- */

static void domain_fini(struct obj_domain *base)
{
	vrb_ibv.dealloc_pd(vrb_domain_of(base)->pd);
}

static const struct obj_domain_ops domain_ops = {
	.endpoint = vrb_ep_open,
	.srx_ctx = vrb_srx_open,
	.query_atomic = vrb_query_atomic,
	.mr_open = mr_open,
	.mr_close = mr_close,
	.cq_strerror = wc_text,
	.fini = domain_fini,
};

/* The device makes progress by itself, so no thread of ours need; and connection events
 * come in a group of their own, so that two threads meet in the data path only where the
 * program lets them.
 */
static void choose_locks(struct obj_domain *base)
{
	bool single = base->attr->threading == FI_THREAD_DOMAIN ||
		      base->attr->threading == FI_THREAD_COMPLETION;

	base->auto_progress = false;
	base->prog_lock_kind = base->obj_lock_kind = single ? LOCK_NONE : LOCK_MUTEX;
}

static int domain_init(struct obj_domain *base)
{
	struct vrb_domain *domain = vrb_domain_of(base);
	int ret;

	if (!base->attr->name)
		return -FI_EINVAL;
	ret = vrb_dev_context(base->attr->name, &domain->ctx);
	if (ret)
		return ret;
	ret = vrb_ibv.query_device(domain->ctx, &domain->attr);
	if (ret)
		return -ret;
	domain->pd = vrb_ibv.alloc_pd(domain->ctx);
	if (!domain->pd)
		return -errno;
	domain->direct = vrb_conf.doorbell && !strcmp(vrb_conf.doorbell, "direct") &&
			 vrb_mlx5_may(domain->ctx);
	choose_locks(base);
	base->ops = &domain_ops;
	return 0;
}

static void fabric_fini(struct obj_fabric *base)
{
	struct vrb_fabric *fabric = container_of(base, struct vrb_fabric, base);

	if (fabric->autop)
		obj_auto_stop(fabric->autop);
}

static const struct obj_fabric_ops fabric_ops = {
	.fini = fabric_fini,
	.domain_init = domain_init,
	.domain_size = sizeof(struct vrb_domain),
	.passive_ep = vrb_pep_open,
};

int vrb_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context)
{
	int ret = vrb_dev_any() ? vrb_lib_open() : -FI_ENODEV;

	if (ret)
		return ret;
	return obj_fabric_open(&vrb_prov, &fabric_ops, sizeof(struct vrb_fabric), attr, fabric,
			       context);
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "verbs/region.h"

#include <errno.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>

#include "verbs/ep.h"

static int access_of(const struct vrb_domain *domain, uint64_t access)
{
	int ibv = 0;

	/* The target of a read is written; on iWARP by the peer. */
	if (access & (FI_RECV | FI_READ | FI_REMOTE_WRITE))
		ibv |= IBV_ACCESS_LOCAL_WRITE;
	if (access & FI_REMOTE_READ)
		ibv |= IBV_ACCESS_REMOTE_READ;
	if (access & FI_REMOTE_WRITE)
		ibv |= IBV_ACCESS_REMOTE_WRITE;
	if (domain->ctx->device->transport_type == IBV_TRANSPORT_IWARP && (access & FI_READ))
		ibv |= IBV_ACCESS_REMOTE_WRITE;
	if ((ibv & IBV_ACCESS_REMOTE_WRITE) && domain->attr.atomic_cap != IBV_ATOMIC_NONE)
		ibv |= IBV_ACCESS_REMOTE_ATOMIC;
	return ibv;
}

/* @dmabuf: of the program, behind the remote address @iov */
static struct ibv_mr *reg_dmabuf(struct vrb_domain *domain, const struct iovec *iov, int access,
				 const struct fi_mr_dmabuf *dmabuf)
{
	if (vrb_ibv.reg_dmabuf_mr)
		return vrb_ibv.reg_dmabuf_mr(domain->pd, dmabuf->offset, dmabuf->len,
					     (uintptr_t) iov->iov_base, dmabuf->fd, access);
	errno = EOPNOTSUPP;
	return NULL;
}

/* With on-demand paging nothing is pinned: the device faults pages in. */
static struct ibv_mr *reg_host(struct vrb_domain *domain, const struct iovec *iov, int access)
{
	if (domain->odp)
		access |= IBV_ACCESS_ON_DEMAND;
	return vrb_ibv.reg_mr(domain->pd, iov->iov_base, iov->iov_len, (unsigned) access);
}

/* @dmabuf: NULL for memory of the host */
static int reg_memory(struct vrb_domain *domain, const struct obj_mr *mr, int access,
		      const struct fi_mr_dmabuf *dmabuf, struct vrb_region *region)
{
	int err;

	errno = 0;
	region->ibv = dmabuf ? reg_dmabuf(domain, mr->iov, access, dmabuf) :
			       reg_host(domain, mr->iov, access);
	if (region->ibv)
		return 0;
	err = errno ? errno : ENOMEM;
	VRB_WARN(FI_LOG_MR, "the device cannot register %zu bytes%s at %p: %s%s\n",
		 mr->iov->iov_len, dmabuf ? " of a dma-buf" : "", mr->iov->iov_base, fi_strerror(err),
		 err == ENOMEM ? ". Locked memory may be limited: see ulimit -l" : "");
	return -err;
}

/* In a domain with FI_HMEM mem_desc is the region, since data calls have to know where the memory is;
 * elsewhere it is the device's own, which they use without a look.
 */
int vrb_mr_open(struct obj_mr *mr, const struct fi_mr_attr *attr, uint64_t flags)
{
	const struct fi_mr_dmabuf *dmabuf = flags & FI_MR_DMABUF ? attr->dmabuf : NULL;
	struct vrb_domain *domain = vrb_domain_of(mr->domain);
	int ret, access = access_of(domain, attr->access);
	struct vrb_region *region;

	if (mr->iov_cnt != 1) {
		VRB_WARN(FI_LOG_MR, "a region of an RDMA device is one buffer; register %zu regions\n",
			 mr->iov_cnt);
		return -FI_EINVAL;
	}
	if (mr->loc.managed && !dmabuf) {
		VRB_WARN(FI_LOG_MR, "cannot register managed memory at %p: it moves between the host and "
			 "its device; allocate memory of one of them\n", mr->iov->iov_base);
		return -FI_EOPNOTSUPP;
	}
	region = calloc(1, sizeof(*region));
	if (!region)
		return -FI_ENOMEM;
	ret = dmabuf || !vrb_by_device(mr) ? reg_memory(domain, mr, access, dmabuf, region) :
					     vrb_hmem_reg(domain, mr, access, region);
	if (ret) {
		free(region);
		return ret;
	}
	mr->hw = region;
	mr->fid.mem_desc = domain->hmem.on ? (void *) mr : region->ibv;
	mr->fid.key = region->ibv->rkey;
	return 0;
}

int vrb_mr_close(struct obj_mr *mr)
{
	struct vrb_region *region = mr->hw;
	int ret = 0;

	if (region->kept)
		vrb_hmem_unreg(vrb_domain_of(mr->domain), region);
	else
		ret = vrb_ibv.dereg_mr(region->ibv);
	if (ret)
		return -ret;
	free(region);
	return 0;
}

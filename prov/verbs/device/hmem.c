/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * hmem.c - registering memory of other devices, and which RDMA devices can.
 *
 * A registration for local use is made for the whole allocation and kept, by the number of the
 * allocation, not by its address: memory that is freed and allocated again at the same address has
 * another number.  One that peers may use is never kept, because they could use its key after
 * the program has closed the region.
 */
#include "verbs/region.h"

#include <errno.h>
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "verbs/dev.h"
#include "verbs/ep.h"
#include "verbs/kind.h"

#define WHY_MAX 200
#define REMOTE (IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)

/* ---- what there is ------------------------------------------------------------------ */

/* takes_dmabufs - does the driver of the device have the call?  It is tried with a descriptor that
 * is none: a driver that has it finds that out.
 */
static bool takes_dmabufs(struct ibv_context *ctx)
{
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	int err;

	if (!vrb_conf.dmabuf || !vrb_ibv.reg_dmabuf_mr)
		return false;
	pd = vrb_ibv.alloc_pd(ctx);
	if (!pd)
		return false;
	errno = 0;
	mr = vrb_ibv.reg_dmabuf_mr(pd, 0, 4096, 0, -1, IBV_ACCESS_LOCAL_WRITE);
	err = errno;
	if (mr)
		vrb_ibv.dereg_mr(mr);
	vrb_ibv.dealloc_pd(pd);
	return mr || (err != EOPNOTSUPP && err != EPROTONOSUPPORT && err != ENOSYS);
}

/* may_register - memory of any interface that has started?  @any_p: [out] has one started? */
static bool may_register(struct ibv_context *ctx, bool *any_p)
{
	bool dmabufs = takes_dmabufs(ctx);
	enum fi_hmem_iface i;

	*any_p = false;
	for (i = FI_HMEM_CUDA; i < HMEM_KINDS; i++) {
		if (!hmem_has(i))
			continue;
		*any_p = true;
		if ((dmabufs && hmem_exports(i)) || (!hmem_p2p_disabled() && vrb_dev_peer_memory(i)))
			return true;
	}
	return false;
}

bool vrb_hmem_at(const struct fi_info *offer, const char **why_p)
{
	struct ibv_context *ctx;
	bool any;

	hmem_start();
	if (vrb_kind_of(offer->ep_attr->protocol)->shares) {
		*why_p = "endpoints that share queue pairs (XRC) have buffers of the host only";
		return false;
	}
	if (!offer->domain_attr->name || vrb_dev_context(offer->domain_attr->name, &ctx)) {
		*why_p = "the RDMA device cannot be opened";
		return false;
	}
	if (may_register(ctx, &any))
		return true;
	if (any)
		*why_p = "the RDMA device takes no dma-bufs of the interfaces that have started, or they "
			 "are switched off, and the kernel has no module for their peer memory; "
			 "verbs;ofi_rxm and verbs;ofi_rxd copy";
	return false;
}

/* ---- registering ----------------------------------------------------------------------- */

static const char *off_text(const struct hmem_loc *loc)
{
	return hmem_p2p_disabled() ? "FI_HMEM_DISABLE_P2P is set" :
	       !vrb_conf.dmabuf ? "FI_VERBS_USE_DMABUF is off" :
	       !vrb_ibv.reg_dmabuf_mr ? "libibverbs has no ibv_reg_dmabuf_mr" :
	       !hmem_exports((enum fi_hmem_iface) loc->iface) ?
	       "dma-bufs of the interface are switched off, or its library exports none" : NULL;
}

/* As a dma-buf, which is not needed any more once it is registered. */
static int by_dmabuf(struct vrb_domain *domain, const struct hmem_loc *loc, const struct iovec *iov,
		     int access, struct ibv_mr **ibv_p, char why[WHY_MAX])
{
	const char *off = off_text(loc), *text;
	uint64_t at;
	int fd, ret;

	if (off) {
		snprintf(why, WHY_MAX, "%s", off);
		return -FI_EOPNOTSUPP;
	}
	ret = hmem_dmabuf(loc, iov->iov_base, iov->iov_len, &fd, &at);
	if (ret) {
		text = hmem_strerror(ret);
		snprintf(why, WHY_MAX, "no dma-buf of it: %s", text ? text : fi_strerror(-ret));
		return hmem_errno(ret);
	}
	errno = 0;
	*ibv_p = vrb_ibv.reg_dmabuf_mr(domain->pd, at, iov->iov_len, (uintptr_t) iov->iov_base, fd,
				       access);
	ret = *ibv_p ? 0 : errno ? -errno : -FI_ENOMEM;
	close(fd);
	if (ret)
		snprintf(why, WHY_MAX, "ibv_reg_dmabuf_mr: %s", fi_strerror(-ret));
	return ret;
}

/* By its address. */
static int by_peer_memory(struct vrb_domain *domain, const struct hmem_loc *loc,
			  const struct iovec *iov, int access, struct ibv_mr **ibv_p,
			  char why[WHY_MAX])
{
	int ret;

	if (hmem_p2p_disabled() || !vrb_dev_peer_memory((enum fi_hmem_iface) loc->iface)) {
		snprintf(why, WHY_MAX, "no module of the kernel for peer memory is loaded");
		return -FI_EOPNOTSUPP;
	}
	errno = 0;
	*ibv_p = vrb_ibv.reg_mr(domain->pd, iov->iov_base, iov->iov_len, (unsigned) access);
	ret = *ibv_p ? 0 : errno ? -errno : -FI_ENOMEM;
	if (ret)
		snprintf(why, WHY_MAX, "ibv_reg_mr of peer memory: %s", fi_strerror(-ret));
	return ret;
}

/* @quiet: there is another way if this fails */
static int reg_range(struct vrb_domain *domain, const struct hmem_loc *loc, const struct iovec *iov,
		     int access, bool quiet, struct ibv_mr **ibv_p)
{
	char why[2][WHY_MAX];
	int ret = by_dmabuf(domain, loc, iov, access, ibv_p, why[0]), second;

	if (!ret)
		return 0;
	second = by_peer_memory(domain, loc, iov, access, ibv_p, why[1]);
	if (!second)
		return 0;
	if (!quiet)
		VRB_WARN(FI_LOG_MR, "cannot register %zu bytes at %p of %s device %llu: %s; %s\n",
			 iov->iov_len, iov->iov_base, hmem_name((enum fi_hmem_iface) loc->iface),
			 (unsigned long long) loc->device, why[0], why[1]);
	return second == -FI_EOPNOTSUPP ? ret : second;
}

/* ---- registrations that are kept --------------------------------------------------------- */

/* Of one allocation. */
struct kept {
	struct ibv_mr *ibv;
	struct hmem_loc loc;		/* without a mapping */
	uint64_t id;
};

static int open_kept(void *arg, struct mr_entry *entry, void **mr_p)
{
	struct vrb_domain *domain = arg;
	struct iovec all = { (void *) entry->addr, entry->len };
	struct kept *kept = calloc(1, sizeof(*kept));
	int ret;

	if (!kept)
		return -FI_ENOMEM;
	kept->loc = *domain->hmem.loc;
	kept->loc.map = NULL;
	kept->id = domain->hmem.id;
	ret = reg_range(domain, &kept->loc, &all, IBV_ACCESS_LOCAL_WRITE, true, &kept->ibv);
	if (ret)
		free(kept);
	else
		*mr_p = kept;
	return ret;
}

static void close_kept(void *arg, void *mr)
{
	struct kept *kept = mr;

	vrb_ibv.dereg_mr(kept->ibv);
	free(kept);
}

static bool kept_gone(void *arg, const struct mr_entry *entry)
{
	const struct kept *kept = entry->mr;
	uint64_t id;

	return hmem_id(&kept->loc, (void *) entry->addr, &id) || id != kept->id;
}

static const struct mr_cache_ops cache_ops = { .open = open_kept, .close = close_kept, .gone = kept_gone };

void vrb_hmem_init(struct vrb_domain *domain)
{
	struct vrb_hmem *hmem = &domain->hmem;

	hmem->on = domain->base.info->caps & FI_HMEM;
	if (!hmem->on)
		return;
	/* libmlx5 copies short messages to the receive buffer by the CPU unless this is 0. */
	setenv("MLX5_SCATTER_TO_CQE", "0", 0);
	pthread_mutex_init(&hmem->lock, NULL);
	mr_cache_init(&hmem->cache, &cache_ops, domain, &vrb_prov);
}

void vrb_hmem_fini(struct vrb_domain *domain)
{
	if (!domain->hmem.on)
		return;
	mr_cache_fini(&domain->hmem.cache);
	pthread_mutex_destroy(&domain->hmem.lock);
}

/* may_keep - has @mr an allocation with a number, that the registration can be made for? */
static bool may_keep(const struct obj_mr *mr, int access, struct iovec *all, uint64_t *id_p)
{
	const struct hmem_loc *loc = &mr->loc;
	uintptr_t at = (uintptr_t) mr->iov->iov_base;

	return !(access & REMOTE) && mr_cache_hmem((enum fi_hmem_iface) loc->iface) &&
	       !hmem_id(loc, mr->iov->iov_base, id_p) &&
	       !hmem_range(loc, mr->iov->iov_base, &all->iov_base, &all->iov_len) &&
	       at - (uintptr_t) all->iov_base <= all->iov_len &&
	       mr->iov->iov_len <= all->iov_len - (at - (uintptr_t) all->iov_base);
}

/* Returns false where none can be kept; the range alone may be registered then. */
static bool keep_region(struct vrb_domain *domain, const struct obj_mr *mr, int access,
			struct vrb_region *region)
{
	struct vrb_hmem *hmem = &domain->hmem;
	struct iovec all;
	uint64_t id;
	int ret;

	if (!may_keep(mr, access, &all, &id))
		return false;
	pthread_mutex_lock(&hmem->lock);
	hmem->loc = &mr->loc;
	hmem->id = id;
	ret = mr_cache_get(&hmem->cache, all.iov_base, all.iov_len, &region->kept);
	pthread_mutex_unlock(&hmem->lock);
	if (ret) {
		region->kept = NULL;
		return false;
	}
	region->ibv = ((struct kept *) region->kept->mr)->ibv;
	return true;
}

int vrb_hmem_reg(struct vrb_domain *domain, const struct obj_mr *mr, int access,
		 struct vrb_region *region)
{
	if (keep_region(domain, mr, access, region))
		return 0;
	return reg_range(domain, &mr->loc, mr->iov, access, false, &region->ibv);
}

void vrb_hmem_unreg(struct vrb_domain *domain, struct vrb_region *region)
{
	pthread_mutex_lock(&domain->hmem.lock);
	mr_cache_put(region->kept);
	pthread_mutex_unlock(&domain->hmem.lock);
}

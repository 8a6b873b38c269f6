// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copyright (c) 2026 the libfabric authors. */
/*
 * mr.c - registrations: what a key, an address and a length may reach.
 *
 * An access holds its region; the close of a region waits for the accesses that are running,
 * and none begins after it.
 */
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "obj.h"

#define ACCESS (FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE)

/* How long accesses that are running may take before their connections are ended. */
#define REVOKE_AFTER	(2 * HZ)

static struct kofi_mr *mr_find(struct kofi_domain *domain, uint64_t key)
{
	struct kofi_mr *mr;

	hash_for_each_possible(domain->mrs, mr, node, key)
		if (mr->mr.key == key)
			return mr;
	return NULL;
}

int kofi_mr_get(struct kofi_domain *domain, uint64_t key, uint64_t addr, uint64_t len,
		uint64_t access, struct kofi_mr **mr_p, size_t *off_p)
{
	struct kofi_mr *mr;
	int ret = -FI_ENOKEY;

	spin_lock_bh(&domain->mr_lock);
	mr = mr_find(domain, key);
	if (mr && !mr->dead && (mr->access & access) == access && addr >= mr->base &&
	    addr - mr->base <= mr->segs.len && len <= mr->segs.len - (addr - mr->base)) {
		mr->users++;
		*mr_p = mr;
		*off_p = addr - mr->base;
		ret = 0;
	}
	spin_unlock_bh(&domain->mr_lock);
	return ret;
}
EXPORT_SYMBOL_GPL(kofi_mr_get);

void kofi_mr_put(struct kofi_mr *mr)
{
	struct kofi_domain *domain = mr->domain;

	spin_lock_bh(&domain->mr_lock);
	if (!--mr->users && mr->dead)
		wake_up_all(&domain->mr_wait);
	spin_unlock_bh(&domain->mr_lock);
}
EXPORT_SYMBOL_GPL(kofi_mr_put);

static bool mr_unused(struct kofi_mr *mr)
{
	bool ret;

	spin_lock_bh(&mr->domain->mr_lock);
	ret = !mr->users;
	spin_unlock_bh(&mr->domain->mr_lock);
	return ret;
}

static void mr_free(struct kofi_mr *mr)
{
	kvfree(mr->segs.kvec);
	kfree(mr);
}

static int mr_close(struct fid *fid)
{
	struct kofi_mr *mr = container_of(fid, struct kofi_mr, mr.fid);
	struct kofi_domain *domain = mr->domain;
	const struct kofi_obj_ops *ops = domain->fabric->ops;

	spin_lock_bh(&domain->mr_lock);
	hash_del(&mr->node);
	mr->dead = true;
	spin_unlock_bh(&domain->mr_lock);
	if (ops->mr_close)
		ops->mr_close(mr);
	if (!wait_event_timeout(domain->mr_wait, mr_unused(mr), REVOKE_AFTER)) {
		if (ops->mr_revoke)
			ops->mr_revoke(mr);
		wait_event(domain->mr_wait, mr_unused(mr));
	}
	mr_free(mr);
	atomic_dec(&domain->refs);
	return 0;
}

static int mr_bind(struct fid *fid, struct fid *bfid, uint64_t flags)
{
	struct kofi_mr *mr = container_of(fid, struct kofi_mr, mr.fid);
	struct kofi_ep *ep = container_of(bfid, struct kofi_ep, ep.fid);

	if (bfid->fclass != FI_CLASS_EP || flags || !(mr->domain->mr_mode & FI_MR_ENDPOINT))
		return -FI_EINVAL;
	if (ep->domain != mr->domain)
		return -FI_EDOMAIN;
	if (mr->ep)
		return -FI_EBUSY;
	mr->ep = ep;
	return 0;
}

static int mr_control(struct fid *fid, int command, void *arg)
{
	struct kofi_mr *mr = container_of(fid, struct kofi_mr, mr.fid);
	const struct kofi_obj_ops *ops = mr->domain->fabric->ops;

	if (command != FI_ENABLE)
		return -FI_ENOSYS;
	if (mr->domain->mr_mode & FI_MR_ENDPOINT && !mr->ep)
		return -FI_EOPBADSTATE;
	return ops->mr_enable ? ops->mr_enable(mr) : 0;
}

static struct fi_ops mr_fid_ops = {
	.size = sizeof(struct fi_ops),
	.close = mr_close,
	.bind = mr_bind,
	.control = mr_control,
};

/* ---- registering ---- */

static int copy_sgl(struct kofi_mr *mr, struct scatterlist *sgl, size_t cnt)
{
	struct bio_vec *bvec;
	struct scatterlist *sg;
	int i;

	bvec = kvcalloc(cnt, sizeof(*bvec), mr->gfp);
	if (!bvec)
		return -FI_ENOMEM;
	for_each_sg(sgl, sg, cnt, i) {
		bvec[i].bv_page = sg_page(sg);
		bvec[i].bv_offset = sg->offset;
		bvec[i].bv_len = sg->length;
		mr->segs.len += sg->length;
	}
	mr->segs.is_bvec = true;
	mr->segs.bvec = bvec;
	return 0;
}

static int copy_list(struct kofi_mr *mr, const void *list, size_t cnt)
{
	size_t i;

	/* kvec and bio_vec need not have the same size. */
	mr->segs.kvec = kvmalloc_array(cnt, mr->segs.is_bvec ? sizeof(struct bio_vec) :
				       sizeof(struct kvec), mr->gfp);
	if (!mr->segs.kvec)
		return -FI_ENOMEM;
	memcpy((void *)mr->segs.kvec, list, cnt * (mr->segs.is_bvec ? sizeof(struct bio_vec) :
						   sizeof(struct kvec)));
	for (i = 0; i < cnt; i++)
		mr->segs.len += mr->segs.is_bvec ? mr->segs.bvec[i].bv_len :
						   mr->segs.kvec[i].iov_len;
	return 0;
}

static int mr_insert(struct kofi_domain *domain, struct kofi_mr *mr, uint64_t key, bool choose)
{
	int ret = 0;

	spin_lock_bh(&domain->mr_lock);
	if (choose) {
		do {
			get_random_bytes(&key, sizeof(key));
		} while (key == FI_KEY_NOTAVAIL || mr_find(domain, key));
	} else if (key == FI_KEY_NOTAVAIL || mr_find(domain, key)) {
		ret = -FI_ENOKEY;
	}
	if (!ret) {
		mr->mr.key = key;
		hash_add(domain->mrs, &mr->node, key);
	}
	spin_unlock_bh(&domain->mr_lock);
	return ret;
}

static int mr_fill(struct kofi_mr *mr, const struct fi_mr_attr *attr, uint64_t flags)
{
	const struct kofi_obj_ops *ops = mr->domain->fabric->ops;
	int ret;

	mr->segs.cnt = attr->iov_count;
	mr->segs.is_bvec = flags & FI_BVEC;
	if (flags & FI_SGLIST)
		ret = copy_sgl(mr, attr->mr_sgl, attr->iov_count);
	else
		ret = copy_list(mr, attr->mr_iov, attr->iov_count);
	if (ret)
		return ret;
	if (!mr->segs.len || mr->base + mr->segs.len < mr->base)
		return -FI_EINVAL;
	if (ops->mr_reg)
		return ops->mr_reg(mr);
	return mr_insert(mr->domain, mr, attr->requested_key, mr->domain->mr_mode & FI_MR_PROV_KEY);
}

int obj_mr_regattr(struct fid *fid, const struct fi_mr_attr *attr, uint64_t flags,
		   struct fid_mr **mr_p)
{
	struct kofi_domain *domain = container_of(fid, struct kofi_domain, domain.fid);
	struct kofi_mr *mr;
	int ret;

	might_sleep();
	if (flags & ~(FI_BVEC | FI_SGLIST) || (flags & FI_BVEC && flags & FI_SGLIST))
		return -FI_EBADFLAGS;
	if (!attr->iov_count || attr->iov_count > 1 << 20 || !attr->mr_iov ||
	    !attr->access || attr->access & ~ACCESS)
		return -FI_EINVAL;
	mr = kzalloc(sizeof(*mr), attr->gfp ? attr->gfp : GFP_KERNEL);
	if (!mr)
		return -FI_ENOMEM;
	mr->mr.fid.fclass = FI_CLASS_MR;
	mr->mr.fid.context = attr->context;
	mr->mr.fid.ops = &mr_fid_ops;
	mr->mr.mem_desc = mr;
	mr->domain = domain;
	mr->base = attr->offset;
	mr->access = attr->access;
	mr->gfp = attr->gfp ? attr->gfp : GFP_KERNEL;
	ret = mr_fill(mr, attr, flags);
	if (ret) {
		mr_free(mr);
		return ret;
	}
	atomic_inc(&domain->refs);
	*mr_p = &mr->mr;
	return 0;
}

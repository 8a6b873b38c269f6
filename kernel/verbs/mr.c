// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copyright (c) 2026 the libfabric authors. */
/*
 * mr.c - registrations: fast registration of a page list, by a work request on the endpoint
 * that the region is bound to.
 */
#include <linux/slab.h>

#include "vrb.h"

static int sg_count(const struct kofi_segs *segs)
{
	int cnt = 0;
	u32 i;

	if (segs->is_bvec)
		return segs->cnt;
	for (i = 0; i < segs->cnt; i++)
		cnt += is_vmalloc_addr(segs->kvec[i].iov_base) ?
		       DIV_ROUND_UP(offset_in_page(segs->kvec[i].iov_base) +
				    segs->kvec[i].iov_len, PAGE_SIZE) : 1;
	return cnt;
}

/* Memory of vmalloc is contiguous only page by page. */
static struct scatterlist *add_vmalloc(struct scatterlist *sg, void *base, size_t len)
{
	size_t n;

	for (; len; base += n, len -= n, sg = sg_next(sg)) {
		n = min(len, PAGE_SIZE - offset_in_page(base));
		sg_set_page(sg, vmalloc_to_page(base), n, offset_in_page(base));
	}
	return sg;
}

static void sg_fill(struct scatterlist *sg, const struct kofi_segs *segs)
{
	const struct kvec *iov;
	u32 i;

	for (i = 0; i < segs->cnt; i++) {
		if (segs->is_bvec) {
			sg_set_page(sg, segs->bvec[i].bv_page, segs->bvec[i].bv_len,
				    segs->bvec[i].bv_offset);
			sg = sg_next(sg);
			continue;
		}
		iov = &segs->kvec[i];
		if (is_vmalloc_addr(iov->iov_base)) {
			sg = add_vmalloc(sg, iov->iov_base, iov->iov_len);
		} else {
			sg_set_buf(sg, iov->iov_base, iov->iov_len);
			sg = sg_next(sg);
		}
	}
}

static int access_of(const struct kofi_mr *mr)
{
	const struct vrb_domain *dom = mr->domain->priv;
	const uint64_t both = FI_REMOTE_READ | FI_REMOTE_WRITE;
	int access = IB_ACCESS_LOCAL_WRITE;

	if (mr->access & FI_REMOTE_READ)
		access |= IB_ACCESS_REMOTE_READ;
	if (mr->access & FI_REMOTE_WRITE)
		access |= IB_ACCESS_REMOTE_WRITE;
	if ((mr->access & both) == both && dom->device->attrs.atomic_cap != IB_ATOMIC_NONE)
		access |= IB_ACCESS_REMOTE_ATOMIC;
	return access;
}

/* Peers use the addresses that begin with mr->base, where the device can: it keeps the offset
 * in a page. */
static int mr_map(struct kofi_mr *mr, struct vrb_mr *vmr)
{
	struct vrb_domain *dom = mr->domain->priv;
	u32 pages = DIV_ROUND_UP(mr->segs.len, PAGE_SIZE) + 1;
	u32 offset = vmr->sgt.sgl->offset;
	int n;

	pages = min(max_t(u32, pages, vmr->sgt.nents), dom->device->attrs.max_fast_reg_page_list_len);
	vmr->mr = ib_alloc_mr(dom->pd, IB_MR_TYPE_MEM_REG, pages);
	if (IS_ERR(vmr->mr))
		return PTR_ERR(vmr->mr);
	n = ib_map_mr_sg(vmr->mr, vmr->sgt.sgl, vmr->sgt.nents, NULL, PAGE_SIZE);
	if (n != vmr->sgt.nents || vmr->mr->length != mr->segs.len ||
	    offset_in_page(mr->base) != offset_in_page(offset)) {
		ib_dereg_mr(vmr->mr);
		return n < 0 ? n : -FI_EINVAL;
	}
	vmr->mr->iova = mr->base;
	return 0;
}

int vrb_mr_reg(struct kofi_mr *mr)
{
	struct vrb_domain *dom = mr->domain->priv;
	struct vrb_mr *vmr = kzalloc(sizeof(*vmr), mr->gfp);
	int ret;

	if (!vmr)
		return -FI_ENOMEM;
	INIT_LIST_HEAD(&vmr->node);
	init_completion(&vmr->done);
	vmr->device = dom->device;
	ret = sg_alloc_table(&vmr->sgt, sg_count(&mr->segs), mr->gfp);
	if (ret)
		goto free;
	sg_fill(vmr->sgt.sgl, &mr->segs);
	vmr->sgt.nents = ib_dma_map_sg(dom->device, vmr->sgt.sgl, vmr->sgt.orig_nents,
				       DMA_BIDIRECTIONAL);
	ret = vmr->sgt.nents ? mr_map(mr, vmr) : -FI_EIO;
	if (ret)
		goto unmap;
	vmr->wr.wr.opcode = IB_WR_REG_MR;
	vmr->wr.wr.send_flags = IB_SEND_SIGNALED;
	vmr->wr.mr = vmr->mr;
	vmr->wr.key = vmr->mr->rkey;
	vmr->wr.access = access_of(mr);
	mr->priv = vmr;
	mr->mr.key = vmr->mr->rkey;
	return 0;
unmap:
	if (vmr->sgt.nents)
		ib_dma_unmap_sg(dom->device, vmr->sgt.sgl, vmr->sgt.orig_nents,
				DMA_BIDIRECTIONAL);
	sg_free_table(&vmr->sgt);
free:
	kfree(vmr);
	return ret;
}

static void reg_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct vrb_mr *vmr = container_of(wc->wr_cqe, struct vrb_mr, cqe);

	vmr->status = wc->status == IB_WC_SUCCESS ? 0 : -FI_EIO;
	complete_all(&vmr->done);
}

/* On an error nothing was posted, and there is no completion. */
static int mr_post(struct vrb_ep *ep, struct vrb_mr *vmr)
{
	int ret;

	vmr->cqe.done = reg_done;
	vmr->wr.wr.wr_cqe = &vmr->cqe;
	ret = ib_post_send(ep->qp, &vmr->wr.wr, NULL);
	if (ret) {
		vmr->status = ret;
		complete_all(&vmr->done);
	}
	return ret;
}

int vrb_mr_enable(struct kofi_mr *mr)
{
	struct vrb_ep *ep = vrb_ep_of(mr->ep);
	struct vrb_mr *vmr = mr->priv;
	enum vrb_state state;

	mutex_lock(&ep->mr_lock);
	spin_lock_bh(&ep->ep.lock);
	state = ep->state;
	spin_unlock_bh(&ep->ep.lock);
	if (vmr->ep || state == VRB_ENDED) {
		mutex_unlock(&ep->mr_lock);
		return -FI_EOPBADSTATE;
	}
	vmr->ep = ep;
	list_add_tail(&vmr->node, &ep->mrs);
	if (state != VRB_UP) {
		mutex_unlock(&ep->mr_lock);
		return 0;
	}
	mr_post(ep, vmr);
	mutex_unlock(&ep->mr_lock);
	wait_for_completion(&vmr->done);
	return vmr->status;
}

void vrb_mr_connected(struct vrb_ep *ep)
{
	struct vrb_mr *vmr;

	mutex_lock(&ep->mr_lock);
	list_for_each_entry(vmr, &ep->mrs, node)
		mr_post(ep, vmr);
	mutex_unlock(&ep->mr_lock);
}

void vrb_mr_flush(struct vrb_ep *ep)
{
	struct vrb_mr *vmr;

	mutex_lock(&ep->mr_lock);
	list_for_each_entry(vmr, &ep->mrs, node) {
		if (vmr->wr.wr.wr_cqe && !completion_done(&vmr->done)) {
			vmr->status = -FI_EIO;
			complete_all(&vmr->done);
		}
	}
	mutex_unlock(&ep->mr_lock);
}

/* What was posted is completed by the queue pair, or by vrb_mr_flush(). */
void vrb_mr_close(struct kofi_mr *mr)
{
	struct vrb_mr *vmr = mr->priv;
	struct vrb_ep *ep = vmr->ep;
	bool posted;

	if (ep) {
		mutex_lock(&ep->mr_lock);
		posted = vmr->ep && vmr->wr.wr.wr_cqe;
		mutex_unlock(&ep->mr_lock);
		if (posted)
			wait_for_completion(&vmr->done);
		mutex_lock(&ep->mr_lock);
		list_del_init(&vmr->node);
		mutex_unlock(&ep->mr_lock);
	}
	ib_dereg_mr(vmr->mr);
	ib_dma_unmap_sg(vmr->device, vmr->sgt.sgl, vmr->sgt.orig_nents, DMA_BIDIRECTIONAL);
	sg_free_table(&vmr->sgt);
	kfree(vmr);
	mr->priv = NULL;
}

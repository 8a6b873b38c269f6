// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copyright (c) 2026 the libfabric authors. */
/*
 * ep.c - the data path: operations become work requests.
 */
#include <linux/slab.h>

#include "vrb.h"

/* ---- mapping ---- */

static void op_unmap(struct vrb_op *vop, enum dma_data_direction dir)
{
	struct ib_device *device = vrb_ep_of(vop->op.ep)->domain->device;

	while (vop->sge_cnt) {
		vop->sge_cnt--;
		ib_dma_unmap_page(device, vop->sge[vop->sge_cnt].addr,
				  vop->sge[vop->sge_cnt].length, dir);
	}
}

static u64 map_one(struct ib_device *device, const struct kofi_segs *segs, u32 i, size_t *len_p,
		   enum dma_data_direction dir)
{
	const struct kvec *iov = &segs->kvec[i];
	const struct bio_vec *bvec = &segs->bvec[i];

	if (segs->is_bvec) {
		*len_p = bvec->bv_len;
		return ib_dma_map_page(device, bvec->bv_page, bvec->bv_offset, bvec->bv_len, dir);
	}
	*len_p = iov->iov_len;
	if (is_vmalloc_addr(iov->iov_base) &&
	    offset_in_page(iov->iov_base) + iov->iov_len > PAGE_SIZE)
		return 0;
	if (is_vmalloc_addr(iov->iov_base))
		return ib_dma_map_page(device, vmalloc_to_page(iov->iov_base),
				       offset_in_page(iov->iov_base), iov->iov_len, dir);
	return ib_dma_map_single(device, iov->iov_base, iov->iov_len, dir);
}

/* Every piece must be contiguous for the device: one of vmalloc lies in a page. */
static int op_map(struct vrb_op *vop, const struct kofi_segs *segs, enum dma_data_direction dir)
{
	struct vrb_domain *dom = vrb_ep_of(vop->op.ep)->domain;
	size_t len;
	u64 addr;
	u32 i;

	vop->sge_cnt = 0;
	for (i = 0; i < segs->cnt; i++) {
		if (!(segs->is_bvec ? segs->bvec[i].bv_len : segs->kvec[i].iov_len))
			continue;
		addr = map_one(dom->device, segs, i, &len, dir);
		if (!addr || ib_dma_mapping_error(dom->device, addr)) {
			op_unmap(vop, dir);
			return addr ? -FI_EIO : -FI_EINVAL;
		}
		vop->sge[vop->sge_cnt].addr = addr;
		vop->sge[vop->sge_cnt].length = len;
		vop->sge[vop->sge_cnt++].lkey = dom->pd->local_dma_lkey;
	}
	return 0;
}

/* ---- completions ---- */

static int error_of(enum ib_wc_status status)
{
	switch (status) {
	case IB_WC_SUCCESS:
		return 0;
	case IB_WC_WR_FLUSH_ERR:
		return FI_ECANCELED;
	case IB_WC_LOC_LEN_ERR:
		return FI_ETRUNC;
	case IB_WC_REM_ACCESS_ERR:
	case IB_WC_LOC_PROT_ERR:
		return FI_EACCES;
	case IB_WC_RETRY_EXC_ERR:
	case IB_WC_RNR_RETRY_EXC_ERR:
		return FI_ETIMEDOUT;
	case IB_WC_REM_INV_REQ_ERR:
	case IB_WC_REM_OP_ERR:
		return FI_EREMOTEIO;
	default:
		return FI_EIO;
	}
}

static bool is_atomic(const struct kofi_op *op)
{
	return op->type >= KOFI_ATOMIC;
}

static enum dma_data_direction tx_dir(const struct kofi_op *op)
{
	return op->type == KOFI_READ || is_atomic(op) ? DMA_FROM_DEVICE : DMA_TO_DEVICE;
}

/* A device may lose a completion when its queue pair fails, or give it when flush_ops() has taken
 * it for lost. */
static bool op_take(struct vrb_op *vop)
{
	return xchg(&vop->posted, 0);
}

static void tx_end(struct vrb_op *vop, int err)
{
	op_unmap(vop, tx_dir(&vop->op));
	kofi_tx_done(&vop->op, err);
}

static void rx_fail(struct vrb_op *vop, int err)
{
	op_unmap(vop, DMA_FROM_DEVICE);
	kofi_rx_done(&vop->op, err, NULL);
}

static void tx_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct vrb_op *vop = container_of(wc->wr_cqe, struct vrb_op, cqe);

	if (op_take(vop))
		tx_end(vop, error_of(wc->status));
}

static void rx_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct vrb_op *vop = container_of(wc->wr_cqe, struct vrb_op, cqe);
	struct kofi_recvd recvd = { .src = FI_ADDR_NOTAVAIL };

	if (!op_take(vop))
		return;
	if (wc->status != IB_WC_SUCCESS) {
		rx_fail(vop, error_of(wc->status));
		return;
	}
	op_unmap(vop, DMA_FROM_DEVICE);
	recvd.len = wc->byte_len;
	if (wc->wc_flags & IB_WC_WITH_IMM) {
		recvd.flags = FI_REMOTE_CQ_DATA;
		recvd.data = be32_to_cpu(wc->ex.imm_data);
	}
	/* Remote data of a write takes a receive, whose buffer is not touched. */
	if (wc->opcode == IB_WC_RECV_RDMA_WITH_IMM) {
		recvd.flags |= FI_REMOTE_WRITE | FI_RMA;
		recvd.len = min(recvd.len, vop->op.segs.len);
	}
	kofi_rx_done(&vop->op, 0, &recvd);
}

/* ---- posting ---- */

static bool is_up(struct vrb_ep *ep)
{
	return READ_ONCE(ep->state) == VRB_UP;
}

static void use_bounce(struct vrb_op *vop)
{
	struct kvec *iov = vop->op.store;

	memcpy(vop->bounce, iov->iov_base, iov->iov_len);
	iov->iov_base = vop->bounce;
}

/* Of 64 bits: the one element of a list. */
static u64 first_element(const struct kofi_segs *segs)
{
	const struct kvec *iov = segs->kvec;
	u64 value;

	while (!iov->iov_len)
		iov++;
	memcpy(&value, iov->iov_base, sizeof(value));
	return value;
}

static int post_atomic(struct vrb_ep *ep, struct vrb_op *vop)
{
	const struct kofi_op *op = &vop->op;
	struct ib_atomic_wr wr = {
		.wr.wr_cqe = &vop->cqe, .wr.sg_list = vop->sge, .wr.num_sge = vop->sge_cnt,
		.wr.send_flags = IB_SEND_SIGNALED, .wr.opcode = IB_WR_ATOMIC_FETCH_AND_ADD,
		.remote_addr = op->rma[0].addr, .rkey = op->rma[0].key,
		.compare_add = first_element(&op->segs),
	};

	if (op->type == KOFI_COMPARE) {
		wr.wr.opcode = IB_WR_ATOMIC_CMP_AND_SWP;
		wr.swap = wr.compare_add;
		wr.compare_add = first_element(&op->compare);
	}
	return ib_post_send(ep->qp, &wr.wr, NULL);
}

size_t vrb_atomic_limit(const struct kofi_domain *domain, enum kofi_op_type type,
			unsigned int datatype, unsigned int op)
{
	const struct vrb_domain *dom = domain->priv;

	if (dom->device->attrs.atomic_cap == IB_ATOMIC_NONE ||
	    (datatype != FI_INT64 && datatype != FI_UINT64))
		return 0;
	return (type == KOFI_FETCH && op == FI_SUM) || (type == KOFI_COMPARE && op == FI_CSWAP) ?
	       sizeof(u64) : 0;
}

static void fill_wr(struct ib_rdma_wr *wr, struct vrb_op *vop)
{
	const struct kofi_op *op = &vop->op;
	bool data = op->flags & FI_REMOTE_CQ_DATA;

	wr->wr.wr_cqe = &vop->cqe;
	wr->wr.sg_list = vop->sge;
	wr->wr.num_sge = vop->sge_cnt;
	wr->wr.send_flags = IB_SEND_SIGNALED;
	if (data)
		wr->wr.ex.imm_data = cpu_to_be32(op->data);
	switch (op->type) {
	case KOFI_WRITE:
		wr->wr.opcode = data ? IB_WR_RDMA_WRITE_WITH_IMM : IB_WR_RDMA_WRITE;
		break;
	case KOFI_READ:
		wr->wr.opcode = IB_WR_RDMA_READ;
		break;
	default:
		wr->wr.opcode = data ? IB_WR_SEND_WITH_IMM : IB_WR_SEND;
	}
	wr->remote_addr = op->rma[0].addr;
	wr->rkey = op->rma[0].key;
}

/* The device has not taken an operation: @ret, or 0 if flush_ops() has completed the operation meanwhile. */
static int op_refused(struct vrb_op *vop, int ret, enum dma_data_direction dir)
{
	if (!op_take(vop))
		return 0;
	op_unmap(vop, dir);
	return ret == -ENOMEM ? -FI_EAGAIN : ret;
}

static int vrb_tx(struct kofi_ep *kep, struct kofi_op *op)
{
	struct vrb_op *vop = container_of(op, struct vrb_op, op);
	struct vrb_ep *ep = vrb_ep_of(kep);
	struct ib_rdma_wr wr = {};
	int ret;

	if (!is_up(ep))
		return -FI_ENOTCONN;
	if (op->flags & FI_REMOTE_CQ_DATA && !kep->domain->cq_data_mask)
		return -FI_EOPNOTSUPP;
	if (op->rma_cnt && op->rma[0].key > U32_MAX)
		op->rma[0].key = U32_MAX;	/* not a key of a device: it will be denied */
	if (op->flags & FI_INJECT)
		use_bounce(vop);
	if (op->type == KOFI_READ && op->segs.cnt > 1 && ep->domain->iwarp)
		return -FI_EINVAL;	/* a read of iWARP has one sink */
	ret = op_map(vop, is_atomic(op) ? &op->result : &op->segs, tx_dir(op));
	if (ret)
		return ret;
	vop->cqe.done = tx_done;
	if (!is_atomic(op))
		fill_wr(&wr, vop);
	WRITE_ONCE(vop->posted, 1);
	ret = is_atomic(op) ? post_atomic(ep, vop) : ib_post_send(ep->qp, &wr.wr, NULL);
	return ret ? op_refused(vop, ret, tx_dir(op)) : 0;
}

static int vrb_rx(struct kofi_ep *kep, struct kofi_op *op)
{
	struct vrb_op *vop = container_of(op, struct vrb_op, op);
	struct vrb_ep *ep = vrb_ep_of(kep);
	struct ib_recv_wr wr = {};
	int ret;

	if (READ_ONCE(ep->state) == VRB_ENDED)
		return -FI_ESHUTDOWN;
	ret = op_map(vop, &op->segs, DMA_FROM_DEVICE);
	if (ret)
		return ret;
	vop->cqe.done = rx_done;
	wr.wr_cqe = &vop->cqe;
	wr.sg_list = vop->sge;
	wr.num_sge = vop->sge_cnt;
	WRITE_ONCE(vop->posted, 1);
	ret = ib_post_recv(ep->qp, &wr, NULL);
	return ret ? op_refused(vop, ret, DMA_FROM_DEVICE) : 0;
}

/* ---- enable, close ---- */

static int qp_create(struct vrb_ep *ep)
{
	struct ib_qp_init_attr attr = {
		.cap = {
			.max_send_wr = ep->tx_size + 32,	/* and registrations */
			.max_recv_wr = ep->rx_size + 1,		/* and the last one of a drain */
			.max_send_sge = ep->ep.tx_iov_limit,
			.max_recv_sge = ep->ep.rx_iov_limit,
		},
		.qp_type = IB_QPT_RC,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
	};
	int ret;

	ep->cq = ib_alloc_cq_any(ep->domain->device, ep, ep->tx_size + ep->rx_size + 64,
				 IB_POLL_WORKQUEUE);
	if (IS_ERR(ep->cq)) {
		ret = PTR_ERR(ep->cq);
		ep->cq = NULL;
		return ret;
	}
	attr.send_cq = attr.recv_cq = ep->cq;
	ret = rdma_create_qp(ep->cm.id, ep->domain->pd, &attr);
	if (ret) {
		ib_free_cq(ep->cq);
		ep->cq = NULL;
		return ret;
	}
	ep->qp = ep->cm.id->qp;
	return 0;
}

/* An endpoint that will connect binds its address now, since the address decides on the device. */
static int vrb_enable(struct kofi_ep *kep)
{
	struct vrb_ep *ep = vrb_ep_of(kep);
	struct rdma_cm_id *id;
	int ret;

	if (!ep->cm.id) {
		id = rdma_create_id(kofi_domain_net(kep->domain), vrb_handler, &ep->cm,
				    RDMA_PS_TCP, IB_QPT_RC);
		if (IS_ERR(id))
			return PTR_ERR(id);
		ep->cm.id = id;
		ret = rdma_bind_addr(id, (struct sockaddr *)&ep->src);
		if (ret)
			return ret;
	}
	if (ep->cm.id->device != ep->domain->device)
		return -FI_EINVAL;
	return qp_create(ep);
}

/* The queue pair has failed: when it is drained, what it has not completed it never will. Soft
 * iWARP loses work requests that are queued when the peer closes. */
static void flush_ops(struct vrb_ep *ep)
{
	struct kofi_op *op;
	size_t i;

	ib_drain_qp(ep->qp);
	for (i = 0; (op = kofi_pool_op(&ep->ep.tx_pool, i)); i++)
		if (op_take(container_of(op, struct vrb_op, op)))
			tx_end(container_of(op, struct vrb_op, op), FI_ECANCELED);
	for (i = 0; (op = kofi_pool_op(&ep->ep.rx_pool, i)); i++)
		if (op_take(container_of(op, struct vrb_op, op)))
			rx_fail(container_of(op, struct vrb_op, op), FI_ECANCELED);
	vrb_mr_flush(ep);
}

static void flush_work_fn(struct work_struct *work)
{
	flush_ops(container_of(work, struct vrb_ep, flush));
}

static void vrb_stop(struct kofi_ep *kep)
{
	struct vrb_ep *ep = vrb_ep_of(kep);
	struct vrb_mr *vmr, *next;

	vrb_end(ep, FI_ECANCELED, NULL, 0);
	cancel_work_sync(&ep->flush);
	if (ep->qp) {
		flush_ops(ep);
		rdma_destroy_qp(ep->cm.id);
	}
	if (ep->cm.id)
		rdma_destroy_id(ep->cm.id);
	if (ep->cq)
		ib_free_cq(ep->cq);
	mutex_lock(&ep->mr_lock);
	list_for_each_entry_safe(vmr, next, &ep->mrs, node) {
		list_del_init(&vmr->node);
		if (vmr->wr.wr.wr_cqe)
			wait_for_completion(&vmr->done);
		vmr->ep = NULL;
	}
	mutex_unlock(&ep->mr_lock);
}

static void vrb_free(struct kofi_ep *kep)
{
	struct vrb_ep *ep = vrb_ep_of(kep);

	kfree(ep->bounce);
	kfree(ep);
}

const struct kofi_ep_ops vrb_ep_ops = {
	.tx_op_size = sizeof(struct vrb_op),
	.rx_op_size = sizeof(struct vrb_op),
	.tx = vrb_tx,
	.rx = vrb_rx,
	.enable = vrb_enable,
	.stop = vrb_stop,
	.free = vrb_free,
};

static int bounce_alloc(struct vrb_ep *ep)
{
	struct kofi_op *op;
	size_t i = 0;

	if (!ep->ep.inject_size)
		return 0;
	ep->bounce = kcalloc(ep->tx_size, ep->ep.inject_size, GFP_KERNEL);
	if (!ep->bounce)
		return -FI_ENOMEM;
	list_for_each_entry(op, &ep->ep.tx_pool.free, node)
		container_of(op, struct vrb_op, op)->bounce =
			ep->bounce + i++ * ep->ep.inject_size;
	return 0;
}

int vrb_endpoint(struct kofi_domain *domain, struct fi_info *info, struct fid_ep **ep_p,
		 void *context)
{
	struct vrb_ep *ep;
	int ret;

	if (info->tx_attr->iov_limit > VRB_SGE_MAX || info->rx_attr->iov_limit > VRB_SGE_MAX ||
	    info->tx_attr->inject_size > VRB_INJECT || !info->src_addr)
		return -FI_EINVAL;
	ep = kzalloc(sizeof(*ep), GFP_KERNEL);
	if (!ep)
		return -FI_ENOMEM;
	ep->cm.kind = VRB_EP;
	ep->domain = domain->priv;
	ep->tx_size = info->tx_attr->size;
	ep->rx_size = info->rx_attr->size;
	memcpy(&ep->src, info->src_addr, min(info->src_addrlen, sizeof(ep->src)));
	mutex_init(&ep->mr_lock);
	INIT_LIST_HEAD(&ep->mrs);
	mutex_init(&ep->end_lock);
	INIT_WORK(&ep->flush, flush_work_fn);
	ret = kofi_ep_init(&ep->ep, domain, info, &vrb_ep_ops, &vrb_cm_ops, context);
	if (ret)
		goto free;
	ret = bounce_alloc(ep);
	if (!ret)
		ret = vrb_claim(ep, info);
	if (ret)
		goto fini;
	*ep_p = &ep->ep.ep;
	return 0;
fini:
	kofi_ep_fini(&ep->ep);
free:
	kfree(ep->bounce);
	kfree(ep);
	return ret;
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * libibverbs.c - requests and completions by libibverbs, in both interfaces.  The library rings the
 * doorbell with each request, so that ring() has nothing left to do.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>

#include "verbs/queue_ops.h"
#include "verbs/provider.h"

/* A full send queue is ENOMEM in libibverbs; nothing was posted then. */
static int no_room(int err)
{
	return err == ENOMEM ? -FI_EAGAIN : -err;
}

/* ---- ibv_post_send -------------------------------------------------------------- */

static const enum ibv_wr_opcode post_opcode[VRB_OP_CNT] = {
	[VRB_OP_SEND] = IBV_WR_SEND,
	[VRB_OP_SEND_IMM] = IBV_WR_SEND_WITH_IMM,
	[VRB_OP_WRITE] = IBV_WR_RDMA_WRITE,
	[VRB_OP_WRITE_IMM] = IBV_WR_RDMA_WRITE_WITH_IMM,
	[VRB_OP_READ] = IBV_WR_RDMA_READ,
	[VRB_OP_ADD] = IBV_WR_ATOMIC_FETCH_AND_ADD,
	[VRB_OP_SWAP] = IBV_WR_ATOMIC_CMP_AND_SWP,
};

/* The union of the request depends on the operation first: atomics have fields of their own on every
 * type of queue pair.
 */
static int post_build(struct vrb_sq *sq, const struct vrb_wr *wr)
{
	struct ibv_send_wr ibv = {
		.wr_id = wr->wr_id,
		.sg_list = (struct ibv_sge *) wr->sge,
		.num_sge = (int) wr->sge_cnt,
		.opcode = post_opcode[wr->op],
		.send_flags = wr->flags,
		.imm_data = htonl(wr->imm),
	}, *bad;
	int ret;

	if (wr->op == VRB_OP_ADD || wr->op == VRB_OP_SWAP) {
		ibv.wr.atomic.remote_addr = wr->addr;
		ibv.wr.atomic.rkey = wr->rkey;
		ibv.wr.atomic.compare_add = wr->op == VRB_OP_ADD ? wr->operand : wr->compare;
		ibv.wr.atomic.swap = wr->operand;
	} else if (sq->type == IBV_QPT_UD) {
		ibv.wr.ud.ah = wr->ah;
		ibv.wr.ud.remote_qpn = wr->qpn;
		ibv.wr.ud.remote_qkey = wr->qkey;
	} else {
		ibv.wr.rdma.remote_addr = wr->addr;
		ibv.wr.rdma.rkey = wr->rkey;
	}
	if (sq->type == IBV_QPT_XRC_SEND)
		ibv.qp_type.xrc.remote_srqn = wr->srqn;
	ret = ibv_post_send(sq->qp, &ibv, &bad);
	return ret ? no_room(ret) : 0;
}

void vrb_ring_none(struct vrb_sq *sq)
{
}

static int post_recv(struct vrb_sq *sq, uint64_t wr_id, const struct ibv_sge *sge, unsigned cnt)
{
	return vrb_recv_post(sq->qp, NULL, wr_id, sge, cnt);
}

static const struct vrb_sq_ops sq_post = {
	.name = "post",
	.build = post_build,
	.ring = vrb_ring_none,
	.recv = post_recv,
};

/* ---- ibv_wr_start --------------------------------------------------------------- */

/* The data of a request comes after its operation: entries, or bytes to copy inline. */
static void ext_data(struct ibv_qp_ex *qpx, const struct vrb_wr *wr)
{
	struct ibv_data_buf buf[VRB_IOV_MAX];
	unsigned i;

	if (!(wr->flags & IBV_SEND_INLINE)) {
		if (wr->sge_cnt == 1)
			ibv_wr_set_sge(qpx, wr->sge[0].lkey, wr->sge[0].addr, wr->sge[0].length);
		else
			ibv_wr_set_sge_list(qpx, wr->sge_cnt, wr->sge);
		return;
	}
	if (wr->sge_cnt == 1) {
		ibv_wr_set_inline_data(qpx, (void *) (uintptr_t) wr->sge[0].addr,
				       wr->sge[0].length);
		return;
	}
	for (i = 0; i < wr->sge_cnt; i++) {
		buf[i].addr = (void *) (uintptr_t) wr->sge[i].addr;
		buf[i].length = wr->sge[i].length;
	}
	ibv_wr_set_inline_data_list(qpx, wr->sge_cnt, buf);
}

/* Between start and complete the library holds the queue pair's lock: no call in between may fail or
 * return early.  Order: operation, destination, data.
 */
static int ext_build(struct vrb_sq *sq, const struct vrb_wr *wr)
{
	struct ibv_qp_ex *qpx = sq->qpx;
	int ret;

	/* soft-RoCE computes a wrong length from several entries; ibv_post_send() does not. */
	if (sq->single_sge && wr->sge_cnt > 1 && !(wr->flags & IBV_SEND_INLINE))
		return post_build(sq, wr);
	ibv_wr_start(qpx);
	qpx->wr_id = wr->wr_id;
	qpx->wr_flags = wr->flags;
	switch (wr->op) {
	case VRB_OP_SEND:
		ibv_wr_send(qpx);
		break;
	case VRB_OP_SEND_IMM:
		ibv_wr_send_imm(qpx, htonl(wr->imm));
		break;
	case VRB_OP_WRITE:
		ibv_wr_rdma_write(qpx, wr->rkey, wr->addr);
		break;
	case VRB_OP_WRITE_IMM:
		ibv_wr_rdma_write_imm(qpx, wr->rkey, wr->addr, htonl(wr->imm));
		break;
	case VRB_OP_READ:
		ibv_wr_rdma_read(qpx, wr->rkey, wr->addr);
		break;
	case VRB_OP_ADD:
		ibv_wr_atomic_fetch_add(qpx, wr->rkey, wr->addr, wr->operand);
		break;
	default:
		ibv_wr_atomic_cmp_swp(qpx, wr->rkey, wr->addr, wr->compare, wr->operand);
		break;
	}
	if (sq->type == IBV_QPT_UD)
		ibv_wr_set_ud_addr(qpx, wr->ah, wr->qpn, wr->qkey);
	else if (sq->type == IBV_QPT_XRC_SEND)
		ibv_wr_set_xrc_srqn(qpx, wr->srqn);
	ext_data(qpx, wr);
	ret = ibv_wr_complete(qpx);
	return ret ? no_room(ret) : 0;
}

static const struct vrb_sq_ops sq_extended = {
	.name = "extended",
	.build = ext_build,
	.ring = vrb_ring_none,
	.recv = post_recv,
};

void vrb_sq_init(struct vrb_sq *sq, struct ibv_qp *qp, bool extended, bool single_sge)
{
	sq->qp = qp;
	sq->single_sge = single_sge;
	sq->type = qp->qp_type;
	sq->qpx = extended ? vrb_ibv.qp_to_qp_ex(qp) : NULL;
	sq->ops = sq->qpx ? &sq_extended : &sq_post;
}

int vrb_recv_post(struct ibv_qp *qp, struct ibv_srq *srq, uint64_t wr_id,
		  const struct ibv_sge *sge, unsigned cnt)
{
	struct ibv_recv_wr wr = {
		.wr_id = wr_id,
		.sg_list = (struct ibv_sge *) sge,
		.num_sge = (int) cnt,
	}, *bad;
	int ret = srq ? ibv_post_srq_recv(srq, &wr, &bad) : ibv_post_recv(qp, &wr, &bad);

	return ret ? no_room(ret) : 0;
}

/* ---- completions ---------------------------------------------------------------- */

void vrb_wc_read(const struct ibv_wc *ibv, struct vrb_wc *wc)
{
	wc->wr_id = ibv->wr_id;
	wc->status = ibv->status;
	wc->vendor_err = ibv->vendor_err;
	wc->qp_num = ibv->qp_num;
	wc->len = ibv->byte_len;
	wc->has_imm = ibv->wc_flags & IBV_WC_WITH_IMM;
	wc->imm = ntohl(ibv->imm_data);
	wc->write = ibv->opcode == IBV_WC_RECV_RDMA_WITH_IMM;
	wc->has_grh = ibv->wc_flags & IBV_WC_GRH;
	wc->slid = ibv->slid;
	wc->src_qp = ibv->src_qp;
}

/* An entry that came before does not raise the event: the poller polls once more after arming. */
static int cq_arm(struct vrb_cq *cq)
{
	return -ibv_req_notify_cq(cq->cq, 0);
}

static void ibv_cq_close(struct vrb_cq *cq)
{
	vrb_ibv.destroy_cq(cq->cq);
	free(cq);
}

static const struct vrb_cq_ops cq_post = {
	.name = "post",
	.arm = cq_arm,
	.close = ibv_cq_close,
};

/* Fields are read only where they are valid: after an error the length and flags are not. */
void vrb_ext_read(struct ibv_cq_ex *cqx, struct vrb_wc *wc)
{
	wc->wr_id = cqx->wr_id;
	wc->status = cqx->status;
	wc->qp_num = ibv_wc_read_qp_num(cqx);
	if (wc->status) {
		wc->vendor_err = ibv_wc_read_vendor_err(cqx);
		return;
	}
	if (!(wc->wr_id & VRB_WR_RECV))
		return;
	wc->len = ibv_wc_read_byte_len(cqx);
	wc->has_imm = ibv_wc_read_wc_flags(cqx) & IBV_WC_WITH_IMM;
	if (wc->has_imm) {
		wc->imm = ntohl(ibv_wc_read_imm_data(cqx));
		wc->write = ibv_wc_read_opcode(cqx) == IBV_WC_RECV_RDMA_WITH_IMM;
	}
	if (((struct vrb_cq *) cqx->cq_context)->sources) {
		wc->has_grh = ibv_wc_read_wc_flags(cqx) & IBV_WC_GRH;
		wc->slid = (uint16_t) ibv_wc_read_slid(cqx);
		wc->src_qp = ibv_wc_read_src_qp(cqx);
	}
}

static const struct vrb_cq_ops cq_extended = {
	.name = "extended",
	.arm = cq_arm,
	.close = ibv_cq_close,
};

/* The old interface where the extended one is not there, not wanted, or not reliable.  @cq_p is
 * written first, as the library's context is the structure itself.
 */
int vrb_cq_new(struct ibv_context *ctx, struct ibv_comp_channel *channel, unsigned size,
	       bool rxe, bool timed, struct vrb_cq **cq_p)
{
	bool post = vrb_conf_doorbell("post") || (rxe && !vrb_conf_doorbell("extended"));
	struct vrb_cq *cq = calloc(1, sizeof(*cq));
	struct ibv_cq_init_attr_ex attr = {
		.cqe = size,
		.cq_context = cq,
		.channel = channel,
		.wc_flags = IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_IMM |
			    IBV_WC_EX_WITH_QP_NUM | IBV_WC_EX_WITH_SRC_QP | IBV_WC_EX_WITH_SLID |
			    (timed ? IBV_WC_EX_WITH_COMPLETION_TIMESTAMP : 0),
	};
	int ret;

	if (!cq)
		return -FI_ENOMEM;
	*cq_p = cq;
	cq->cqx = post ? NULL : ibv_create_cq_ex(ctx, &attr);
	if (cq->cqx) {
		cq->cq = ibv_cq_ex_to_cq(cq->cqx);
		cq->ops = &cq_extended;
		cq->single = rxe;
		cq->timed = timed;
		return 0;
	}
	cq->cq = vrb_ibv.create_cq(ctx, (int) size, cq, channel, 0);
	cq->ops = &cq_post;
	if (cq->cq)
		return 0;
	ret = -errno;
	free(cq);
	return ret;
}

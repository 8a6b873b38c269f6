/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Short ways of connected endpoints: a call with one piece of memory goes from its arguments
 * into the queue, which we write ourselves ("direct") or by the extended interface.  What is
 * out of the ordinary (a queue that is full, no connection, an empty message, data that is
 * inline but long, flags) goes the general way, which is that of all other calls; nothing
 * has changed by then.
 */
#include "mlx5_queue.h"
#include "vrb_call.h"

#define BRIEF_INLINE __attribute__((always_inline)) static inline

/* A call that may be short; what it does not have is 0. */
struct brief {
	enum vrb_op op;
	const void *buf;
	size_t len;
	void *desc, *context;
	uint64_t comp;			/* flags of the completion */
	enum obj_ep_cntr cntr;
	bool silent;			/* an injected one */
	uint64_t addr, key, data;
};

/* One that fits into its block, or whose data the device fetches. */
static inline bool is_brief(const struct vrb_ep *ep, const struct brief *b, uint64_t flags,
			    bool fits)
{
	size_t min = b->op == VRB_OP_READ ? 0 : ep->max_inline;
	size_t max = b->silent ? 0 : ep->base.info->ep_attr->max_msg_size;

	return b->len && (fits || (b->len > min && b->len <= max)) &&
	       !(flags & (FI_INJECT | FI_FENCE | FI_MORE)) &&
	       atomic_load_explicit(&ep->state, memory_order_relaxed) == VRB_EP_CONNECTED &&
	       ep->tx_tail - ep->tx_head < ep->brief_depth;
}

/* As ext_build() does it for any request. */
BRIEF_INLINE int ext_build_short(struct ibv_qp_ex *qpx, const struct vrb_wr *wr)
{
	ibv_wr_start(qpx);
	qpx->wr_id = wr->wr_id;
	qpx->wr_flags = wr->flags;
	if (wr->op == VRB_OP_SEND)
		ibv_wr_send(qpx);
	else if (wr->op == VRB_OP_SEND_IMM)
		ibv_wr_send_imm(qpx, htobe32(wr->imm));
	else if (wr->op == VRB_OP_WRITE)
		ibv_wr_rdma_write(qpx, wr->rkey, wr->addr);
	else
		ibv_wr_rdma_read(qpx, wr->rkey, wr->addr);
	if (wr->flags & IBV_SEND_INLINE)
		ibv_wr_set_inline_data(qpx, (void *) (uintptr_t) wr->sge->addr, wr->sge->length);
	else
		ibv_wr_set_sge(qpx, wr->sge->lkey, wr->sge->addr, wr->sge->length);
	return ibv_wr_complete(qpx);
}

/* Returns false if the general way must be taken. */
BRIEF_INLINE bool brief_locked(struct vrb_ep *ep, const struct brief *b, uint64_t flags,
			       const bool direct)
{
	struct vrb_tx *tx = &ep->tx[ep->tx_tail & ep->tx_mask];
	bool fits = b->op < VRB_OP_READ && b->len <= ep->brief_max[b->op > VRB_OP_SEND_IMM];
	bool want = !b->silent && obj_ep_want_tx_comp(&ep->base, flags);
	struct ibv_sge sge = { (uintptr_t) b->buf, (uint32_t) b->len, lkey_of(b->desc) };
	struct vrb_wr wr = {
		.op = b->op, .sge = &sge, .sge_cnt = 1, .wr_id = (uintptr_t) tx,
		.flags = fits ? IBV_SEND_INLINE : 0,
		.addr = b->addr, .rkey = (uint32_t) b->key, .imm = (uint32_t) b->data,
	};

	if (__builtin_expect(!is_brief(ep, b, flags, fits), 0))
		return false;
	if (must_tell(ep, want, b->cntr))
		wr.flags |= IBV_SEND_SIGNALED;
	if (__builtin_expect(direct ? mlx5_build_short(&ep->mlx5.sq, &wr) :
				      ext_build_short(ep->sq.qpx, &wr), 0))
		return false;
	tx->context = b->context;
	tx->flags = b->comp;
	tx->ep = ep;
	tx->len = (uint32_t) b->len;
	tx->cntr = (uint8_t) b->cntr;
	tx->want = want;
	took_place(ep, wr.flags & IBV_SEND_SIGNALED);
	if (direct)
		mlx5_ring_queue(&ep->mlx5.sq);
	return true;
}

BRIEF_INLINE bool brief(struct fid_ep *fid, const struct brief *b, const bool direct)
{
	struct obj_ep_handle *h = obj_ep_handle_of(fid);
	struct obj_prog *prog = h->ep->prog;
	bool done;

	if (__builtin_expect(!prog, 0))
		return false;
	lock_get(&prog->lock);
	done = brief_locked(container_of(h->ep, struct vrb_ep, base), b,
			    b->silent ? 0 : h->tx_op_flags, direct);
	lock_put(&prog->lock);
	return done;
}

/* ---- messages ------------------------------------------------------------------------ */

#define OF_SEND .comp = FI_SEND | FI_MSG, .cntr = OBJ_CNTR_SEND
#define OF_WRITE .comp = FI_WRITE | FI_RMA, .cntr = OBJ_CNTR_WRITE

BRIEF_INLINE ssize_t any_send(struct fid_ep *fid, const void *buf, size_t len, void *desc,
				fi_addr_t dest, void *context, const bool direct)
{
	const struct brief b = { .op = VRB_OP_SEND, .buf = buf, .len = len, .desc = desc,
				 .context = context, OF_SEND };

	return __builtin_expect(brief(fid, &b, direct), 1) ? 0 :
	       vrb_msg_ops.send(fid, buf, len, desc, dest, context);
}

BRIEF_INLINE ssize_t any_senddata(struct fid_ep *fid, const void *buf, size_t len, void *desc,
				uint64_t data, fi_addr_t dest, void *context, const bool direct)
{
	const struct brief b = { .op = VRB_OP_SEND_IMM, .buf = buf, .len = len, .desc = desc,
				 .context = context, .data = data, OF_SEND };

	return __builtin_expect(brief(fid, &b, direct), 1) ? 0 :
	       vrb_msg_ops.senddata(fid, buf, len, desc, data, dest, context);
}

BRIEF_INLINE ssize_t any_inject(struct fid_ep *fid, const void *buf, size_t len, fi_addr_t dest,
				const bool direct)
{
	const struct brief b = { .op = VRB_OP_SEND, .buf = buf, .len = len, .silent = true, OF_SEND };

	return __builtin_expect(brief(fid, &b, direct), 1) ? 0 : vrb_msg_ops.inject(fid, buf, len, dest);
}

BRIEF_INLINE ssize_t any_injectdata(struct fid_ep *fid, const void *buf, size_t len,
				uint64_t data, fi_addr_t dest, const bool direct)
{
	const struct brief b = { .op = VRB_OP_SEND_IMM, .buf = buf, .len = len, .silent = true,
				 .data = data, OF_SEND };

	return __builtin_expect(brief(fid, &b, direct), 1) ? 0 :
	       vrb_msg_ops.injectdata(fid, buf, len, data, dest);
}

/* ---- remote memory ------------------------------------------------------------------- */

BRIEF_INLINE ssize_t any_write(struct fid_ep *fid, const void *buf, size_t len, void *desc,
				fi_addr_t dest, uint64_t addr, uint64_t key, void *context,
				const bool direct)
{
	const struct brief b = { .op = VRB_OP_WRITE, .buf = buf, .len = len, .desc = desc,
				 .context = context, .addr = addr, .key = key, OF_WRITE };

	return __builtin_expect(brief(fid, &b, direct), 1) ? 0 :
	       vrb_rma_ops.write(fid, buf, len, desc, dest, addr, key, context);
}

BRIEF_INLINE ssize_t any_inject_write(struct fid_ep *fid, const void *buf, size_t len,
				fi_addr_t dest, uint64_t addr, uint64_t key, const bool direct)
{
	const struct brief b = { .op = VRB_OP_WRITE, .buf = buf, .len = len, .silent = true,
				 .addr = addr, .key = key, OF_WRITE };

	return __builtin_expect(brief(fid, &b, direct), 1) ? 0 :
	       vrb_rma_ops.inject(fid, buf, len, dest, addr, key);
}

BRIEF_INLINE ssize_t any_read(struct fid_ep *fid, void *buf, size_t len, void *desc,
				fi_addr_t src, uint64_t addr, uint64_t key, void *context,
				const bool direct)
{
	const struct brief b = { .op = VRB_OP_READ, .buf = buf, .len = len, .desc = desc,
				 .context = context, .addr = addr, .key = key,
				 .comp = FI_READ | FI_RMA, .cntr = OBJ_CNTR_READ };

	return __builtin_expect(brief(fid, &b, direct), 1) ? 0 :
	       vrb_rma_ops.read(fid, buf, len, desc, src, addr, key, context);
}

/* ---- receives ------------------------------------------------------------------------- */

BRIEF_INLINE int recv_post(struct vrb_ep *ep, uint64_t wr_id, struct ibv_sge *sge,
			   const bool direct)
{
	struct ibv_recv_wr wr = { .wr_id = wr_id, .sg_list = sge, .num_sge = 1 }, *bad;

	return direct ? vrb_mlx5_recv(&ep->mlx5.rq, wr_id, sge, 1) :
			ibv_post_recv(ep->qp, &wr, &bad);
}

BRIEF_INLINE bool recv_locked(struct vrb_ep *ep, struct ibv_sge *sge, void *context, bool want,
			      const bool direct)
{
	struct vrb_rx *rx = &ep->rx[ep->rx_tail & ep->rx_mask];

	if (__builtin_expect(ep->rx_tail - ep->rx_head >= ep->brief_rx_depth, 0))
		return false;
	rx->context = context;
	rx->buf = (void *) (uintptr_t) sge->addr;
	rx->ep = ep;
	rx->want = want;
	rx->head = 0;
	rx->room = UINT32_MAX;
	if (__builtin_expect(recv_post(ep, (uintptr_t) rx | VRB_WR_RECV, sge, direct), 0))
		return false;
	ep->rx_tail++;
	return true;
}

BRIEF_INLINE ssize_t any_recv(struct fid_ep *fid, void *buf, size_t len, void *desc, fi_addr_t src,
			      void *context, const bool direct)
{
	struct ibv_sge sge = { (uintptr_t) buf, (uint32_t) len, lkey_of(desc) };
	struct obj_ep_handle *h = obj_ep_handle_of(fid);
	struct obj_prog *prog = h->ep->prog;
	bool done;

	if (__builtin_expect(!prog || !len, 0))
		return vrb_recv_any(fid, &sge, context);
	lock_get(&prog->lock);
	done = recv_locked(container_of(h->ep, struct vrb_ep, base), &sge, context,
			   obj_ep_want_rx_comp(h->ep, h->rx_op_flags), direct);
	lock_put(&prog->lock);
	return __builtin_expect(done, 1) ? 0 : vrb_recv_any(fid, &sge, context);
}

/* ---- choosing ------------------------------------------------------------------------- */

/* Each for queues that we write ourselves, and for others. */
#define WAYS(name, params, ...)							\
	static ssize_t direct_##name params { return any_##name(__VA_ARGS__, true); } \
	static ssize_t ext_##name params { return any_##name(__VA_ARGS__, false); }

WAYS(send, (struct fid_ep *fid, const void *buf, size_t len, void *desc, fi_addr_t dest,
	    void *context), fid, buf, len, desc, dest, context)
WAYS(senddata, (struct fid_ep *fid, const void *buf, size_t len, void *desc, uint64_t data,
		fi_addr_t dest, void *context), fid, buf, len, desc, data, dest, context)
WAYS(inject, (struct fid_ep *fid, const void *buf, size_t len, fi_addr_t dest), fid, buf, len, dest)
WAYS(injectdata, (struct fid_ep *fid, const void *buf, size_t len, uint64_t data, fi_addr_t dest),
     fid, buf, len, data, dest)
WAYS(recv, (struct fid_ep *fid, void *buf, size_t len, void *desc, fi_addr_t src, void *context),
     fid, buf, len, desc, src, context)
WAYS(write, (struct fid_ep *fid, const void *buf, size_t len, void *desc, fi_addr_t dest,
	     uint64_t addr, uint64_t key, void *context),
     fid, buf, len, desc, dest, addr, key, context)
WAYS(inject_write, (struct fid_ep *fid, const void *buf, size_t len, fi_addr_t dest, uint64_t addr,
		    uint64_t key), fid, buf, len, dest, addr, key)
WAYS(read, (struct fid_ep *fid, void *buf, size_t len, void *desc, fi_addr_t src, uint64_t addr,
	    uint64_t key, void *context), fid, buf, len, desc, src, addr, key, context)

struct fi_ops_msg vrb_direct_msg_ops, vrb_ext_msg_ops;
struct fi_ops_rma vrb_direct_rma_ops, vrb_ext_rma_ops;

/* The rest is as with any other endpoint. */
#define FILL(way)							\
	vrb_##way##_msg_ops = vrb_msg_ops;				\
	vrb_##way##_msg_ops.send = way##_send;				\
	vrb_##way##_msg_ops.senddata = way##_senddata;			\
	vrb_##way##_msg_ops.inject = way##_inject;			\
	vrb_##way##_msg_ops.injectdata = way##_injectdata;		\
	vrb_##way##_msg_ops.recv = way##_recv;				\
	vrb_##way##_rma_ops = vrb_rma_ops;				\
	vrb_##way##_rma_ops.write = way##_write;			\
	vrb_##way##_rma_ops.inject = way##_inject_write;		\
	vrb_##way##_rma_ops.read = way##_read

void vrb_brief_init_ops(void)
{
	FILL(direct);
	FILL(ext);
}

static uint32_t brief_max(const struct vrb_ep *ep, enum vrb_op op)
{
	uint32_t max = ep->direct ? mlx5_short_max(op) : ep->max_inline;

	if (max > ep->max_inline)
		max = ep->max_inline;
	return max > ep->inject_size ? ep->inject_size : max;
}

void vrb_brief_enabled(struct vrb_ep *ep)
{
	if (ep->dgram || (ep->domain->direct ? !ep->direct : !ep->sq.qpx))
		return;
	ep->brief_depth = ep->tx_depth;
	ep->brief_max[0] = brief_max(ep, VRB_OP_SEND);
	ep->brief_max[1] = brief_max(ep, VRB_OP_WRITE);
	if (!ep->base.srx)
		ep->brief_rx_depth = ep->rx_depth;
}

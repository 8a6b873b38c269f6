/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * The fast path of connected endpoints: a call with one buffer is built from its arguments
 * directly in the send queue, by the direct path or the extended interface, with a lock or without
 * (vrb_fast_tables).  Everything else takes the slow path of data/post.c and data/rma.c, with
 * nothing changed before: a full ring, no connection, an empty message, inline data that is too
 * long for one block, flags.
 */
#include <errno.h>

#include "verbs/request.h"

#define FAST_INLINE __attribute__((always_inline)) static inline

/* With LOCK_NONE there is no call, so the compiler saves no registers around it.  An endpoint that
 * is not enabled has no group; its rings have no room, so it takes the slow path.
 */
FAST_INLINE bool fast_enter(struct obj_prog *prog, const unsigned table)
{
	if (__builtin_expect(!prog, 0))
		return table & VRB_NO_LOCK;
	if (table & VRB_NO_LOCK)
		lock_is_none(&prog->lock);
	lock_get(&prog->lock);
	return true;
}

FAST_INLINE void fast_leave(struct obj_prog *prog, const unsigned table)
{
	if (table & VRB_NO_LOCK && !prog)
		return;
	if (table & VRB_NO_LOCK)
		lock_is_none(&prog->lock);
	lock_put(&prog->lock);
}

/* The arguments of a call that may take the fast path; those that it does not have are 0. */
struct fast_op {
	enum vrb_op op;
	const void *buf;
	size_t len;
	void *desc, *context;
	uint64_t comp;			/* flags of the completion */
	enum obj_ep_cntr cntr;
	bool injected;			/* fi_inject() and the like: no completion */
	uint64_t addr, key, data;
};

/* @all: flags that apply to all calls of the endpoint */
static inline bool is_wanted(uint64_t flags, uint64_t all)
{
	return (flags | all) / FI_COMPLETION & 1;
}

/* @fits: the data is inline in the block of the request; else the device fetches it. */
FAST_INLINE bool is_fast(const struct vrb_ep *ep, const struct fast_op *b, uint64_t flags,
			   const bool fits)
{
	size_t min = b->op == VRB_OP_READ ? 0 : ep->max_inline;
	size_t max = b->injected ? 0 : ep->base.info->ep_attr->max_msg_size;

	return (fits || (b->len && b->len > min && b->len <= max)) &&
	       !(flags & (FI_INJECT | FI_FENCE | FI_MORE)) &&
	       ep->tx_tail - ep->tx_head < atomic_load_explicit(&ep->fast_room,
								memory_order_relaxed);
}

/* ext_build() for requests of one entry. */
FAST_INLINE int ext_build_fast(struct ibv_qp_ex *qpx, const struct vrb_wr *wr)
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

/* Errors of libibverbs are positive, those of the direct path negative. */
static int lib_error(int err)
{
	return err == ENOMEM ? -FI_EAGAIN : err < 0 ? err : -err;
}

/* The send queue was unexpectedly full: release the slot, ring the doorbell for requests with
 * FI_MORE before it, and poll, as completions make room.
 */
static __attribute__((noinline)) int post_failed(struct vrb_ep *ep, int err)
{
	ep->tx_tail--;
	ep->tx_unsignalled = ep->tx_unsignalled_max;
	ep->sq.ops->ring(&ep->sq);
	err = lib_error(err);
	if (err == -FI_EAGAIN)
		vrb_poller_run(ep->poller, OBJ_POLL_BUDGET);
	return err;
}

/* Take a slot of the ring, build the request, ring the doorbell.  The slot is taken before the
 * library is called, so that few values stay live across the call.
 * Returns 1 for the slow path.
 */
FAST_INLINE int fast_post(struct vrb_ep *ep, const struct fast_op *b, uint64_t flags,
			   const bool fits, const unsigned table)
{
	bool want = !b->injected && is_wanted(flags, ep->fast_flags[0]), signalled;
	struct ibv_sge sge = { (uintptr_t) b->buf, (uint32_t) b->len, lkey_of(b->desc) };
	struct vrb_wr wr = {
		.op = b->op, .sge = &sge, .sge_cnt = 1, .flags = fits ? IBV_SEND_INLINE : 0,
		.addr = b->addr, .rkey = (uint32_t) b->key, .imm = (uint32_t) b->data,
	};
	struct vrb_tx *tx;
	int ret;

	if (__builtin_expect(!is_fast(ep, b, flags, fits), 0))
		return 1;
	tx = &ep->tx[ep->tx_tail & ep->tx_mask];
	wr.wr_id = (uintptr_t) tx;
	tx->context = b->context;
	tx->flags = (uint32_t) b->comp;
	tx->len = (uint32_t) b->len;
	tx->at = ep->tx_tail;
	tx->cntr = (uint8_t) b->cntr;
	tx->want = want;
	signalled = must_signal(ep, want, b->cntr);
	wr.flags |= signalled ? IBV_SEND_SIGNALED : 0;
	advance_tail(ep, signalled);
	ret = table & VRB_DIRECT ? mlx5_build_fast(&ep->mlx5.sq, &wr) : ext_build_fast(ep->sq.qpx, &wr);
	if (__builtin_expect(ret, 0)) {
		ret = post_failed(ep, ret);
		return ret < 0 ? ret : -FI_EAGAIN;	/* tells the compiler that it is not 1 */
	}
	if (table & VRB_DIRECT)
		mlx5_ring_queue(&ep->mlx5.sq);
	return 0;
}

FAST_INLINE int fast_locked(struct vrb_ep *ep, const struct fast_op *b, uint64_t flags,
			      const unsigned table)
{
	if (b->op < VRB_OP_READ &&
	    __builtin_expect(b->len - 1 < ep->fast_inline[b->op > VRB_OP_SEND_IMM], 1))
		return fast_post(ep, b, flags, true, table);
	return fast_post(ep, b, flags, false, table);
}

FAST_INLINE int fast_try(struct fid_ep *fid, const struct fast_op *b, const unsigned table)
{
	struct obj_ep_handle *h = obj_ep_handle_of(fid);
	struct obj_prog *prog = h->ep->prog;
	int ret;

	if (!fast_enter(prog, table))
		return 1;
	ret = fast_locked(container_of(h->ep, struct vrb_ep, base), b,
			   b->injected ? 0 : h->tx_op_flags, table);
	fast_leave(prog, table);
	return ret;
}

/* The fast path, or @general for the slow path. */
#define FAST_OR(b, table, general)						\
	({									\
		int fast_ret = fast_try(fid, (b), (table));				\
		__builtin_expect(fast_ret == 1, 0) ? (general) : fast_ret;	\
	})

/* ---- messages ------------------------------------------------------------------- */

#define OF_SEND .comp = FI_SEND | FI_MSG, .cntr = OBJ_CNTR_SEND
#define OF_WRITE .comp = FI_WRITE | FI_RMA, .cntr = OBJ_CNTR_WRITE

FAST_INLINE ssize_t any_send(struct fid_ep *fid, const void *buf, size_t len, void *desc,
				fi_addr_t dest, void *context, const unsigned table)
{
	const struct fast_op b = { .op = VRB_OP_SEND, .buf = buf, .len = len, .desc = desc,
				 .context = context, OF_SEND };

	return FAST_OR(&b, table, vrb_msg_ops.send(fid, buf, len, desc, FI_ADDR_UNSPEC, context));
}

FAST_INLINE ssize_t any_senddata(struct fid_ep *fid, const void *buf, size_t len, void *desc,
				uint64_t data, fi_addr_t dest, void *context, const unsigned table)
{
	const struct fast_op b = { .op = VRB_OP_SEND_IMM, .buf = buf, .len = len, .desc = desc,
				 .context = context, .data = data, OF_SEND };

	return FAST_OR(&b, table, vrb_msg_ops.senddata(fid, buf, len, desc, data, dest, context));
}

FAST_INLINE ssize_t any_inject(struct fid_ep *fid, const void *buf, size_t len, fi_addr_t dest,
				const unsigned table)
{
	const struct fast_op b = { .op = VRB_OP_SEND, .buf = buf, .len = len, .injected = true,
				   OF_SEND };

	return FAST_OR(&b, table, vrb_msg_ops.inject(fid, buf, len, dest));
}

FAST_INLINE ssize_t any_injectdata(struct fid_ep *fid, const void *buf, size_t len,
				uint64_t data, fi_addr_t dest, const unsigned table)
{
	const struct fast_op b = { .op = VRB_OP_SEND_IMM, .buf = buf, .len = len, .injected = true,
				 .data = data, OF_SEND };

	return FAST_OR(&b, table, vrb_msg_ops.injectdata(fid, buf, len, data, dest));
}

/* ---- remote memory -------------------------------------------------------------- */

FAST_INLINE ssize_t any_write(struct fid_ep *fid, const void *buf, size_t len, void *desc,
				fi_addr_t dest, uint64_t addr, uint64_t key, void *context,
				const unsigned table)
{
	const struct fast_op b = { .op = VRB_OP_WRITE, .buf = buf, .len = len, .desc = desc,
				 .context = context, .addr = addr, .key = key, OF_WRITE };

	return FAST_OR(&b, table, vrb_rma_ops.write(fid, buf, len, desc, dest, addr, key, context));
}

FAST_INLINE ssize_t any_inject_write(struct fid_ep *fid, const void *buf, size_t len,
				fi_addr_t dest, uint64_t addr, uint64_t key, const unsigned table)
{
	const struct fast_op b = { .op = VRB_OP_WRITE, .buf = buf, .len = len, .injected = true,
				 .addr = addr, .key = key, OF_WRITE };

	return FAST_OR(&b, table, vrb_rma_ops.inject(fid, buf, len, dest, addr, key));
}

FAST_INLINE ssize_t any_read(struct fid_ep *fid, void *buf, size_t len, void *desc,
				fi_addr_t src, uint64_t addr, uint64_t key, void *context,
				const unsigned table)
{
	const struct fast_op b = { .op = VRB_OP_READ, .buf = buf, .len = len, .desc = desc,
				 .context = context, .addr = addr, .key = key,
				 .comp = FI_READ | FI_RMA, .cntr = OBJ_CNTR_READ };

	return FAST_OR(&b, table, vrb_rma_ops.read(fid, buf, len, desc, src, addr, key, context));
}

/* ---- receives ------------------------------------------------------------------- */

FAST_INLINE int fast_recv_post(struct vrb_ep *ep, uint64_t wr_id, void *buf, size_t len, void *desc,
			       const unsigned table)
{
	struct ibv_sge sge = { (uintptr_t) buf, (uint32_t) len, lkey_of(desc) };
	struct ibv_recv_wr *bad;

	if (table & VRB_DIRECT)
		return vrb_mlx5_recv(&ep->mlx5.rq, wr_id, &sge, 1);
	ep->recv_wr.wr_id = wr_id;
	ep->recv_sge.addr = sge.addr;
	ep->recv_sge.length = sge.length;
	ep->recv_sge.lkey = sge.lkey;
	return ibv_post_recv(ep->qp, &ep->recv_wr, &bad);
}

/* Returns 1 for the slow path. */
FAST_INLINE int fast_recv_locked(struct vrb_ep *ep, void *buf, size_t len, void *desc, void *context,
				 uint64_t flags, const unsigned table)
{
	struct vrb_rx *rx;
	int ret;

	if (__builtin_expect(!len || ep->rx_tail - ep->rx_head >= ep->fast_rx_depth, 0))
		return 1;
	rx = &ep->rx[ep->rx_tail & ep->rx_mask];
	rx->context = context;
	rx->buf = buf;
	rx->want = is_wanted(flags, ep->fast_flags[1]);
	ep->rx_tail++;
	ret = fast_recv_post(ep, (uintptr_t) rx | VRB_WR_RECV, buf, len, desc, table);
	if (__builtin_expect(!ret, 1))
		return 0;
	ep->rx_tail--;
	return lib_error(ret);
}

static ssize_t recv_general(struct fid_ep *fid, void *buf, size_t len, void *desc, void *context)
{
	struct ibv_sge sge = { (uintptr_t) buf, (uint32_t) len, lkey_of(desc) };

	return vrb_recv_general(fid, &sge, context);
}

FAST_INLINE ssize_t any_recv(struct fid_ep *fid, void *buf, size_t len, void *desc, fi_addr_t src,
			      void *context, const unsigned table)
{
	struct obj_ep_handle *h = obj_ep_handle_of(fid);
	struct vrb_ep *ep = container_of(h->ep, struct vrb_ep, base);
	struct obj_prog *prog = ep->base.prog;
	int ret;

	if (!fast_enter(prog, table))
		return recv_general(fid, buf, len, desc, context);
	ret = fast_recv_locked(ep, buf, len, desc, context, h->rx_op_flags, table);
	fast_leave(prog, table);
	return __builtin_expect(ret == 1, 0) ? recv_general(fid, buf, len, desc, context) : ret;
}

/* ---- choosing ------------------------------------------------------------------- */

/* Each call for all tables. */
#define VARIANT(table, name, params, ...)						\
	static ssize_t name##_##table params { return any_##name(__VA_ARGS__, table); }
#define VARIANTS(name, params, ...)							\
	VARIANT(0, name, params, __VA_ARGS__) VARIANT(1, name, params, __VA_ARGS__)	\
	VARIANT(2, name, params, __VA_ARGS__) VARIANT(3, name, params, __VA_ARGS__)

VARIANTS(send, (struct fid_ep *fid, const void *buf, size_t len, void *desc, fi_addr_t dest,
	    void *context), fid, buf, len, desc, dest, context)
VARIANTS(senddata, (struct fid_ep *fid, const void *buf, size_t len, void *desc, uint64_t data,
		fi_addr_t dest, void *context), fid, buf, len, desc, data, dest, context)
VARIANTS(inject, (struct fid_ep *fid, const void *buf, size_t len, fi_addr_t dest), fid, buf, len, dest)
VARIANTS(injectdata, (struct fid_ep *fid, const void *buf, size_t len, uint64_t data, fi_addr_t dest),
     fid, buf, len, data, dest)
VARIANTS(recv, (struct fid_ep *fid, void *buf, size_t len, void *desc, fi_addr_t src, void *context),
     fid, buf, len, desc, src, context)
VARIANTS(write, (struct fid_ep *fid, const void *buf, size_t len, void *desc, fi_addr_t dest,
	     uint64_t addr, uint64_t key, void *context),
     fid, buf, len, desc, dest, addr, key, context)
VARIANTS(inject_write, (struct fid_ep *fid, const void *buf, size_t len, fi_addr_t dest, uint64_t addr,
		    uint64_t key), fid, buf, len, dest, addr, key)
VARIANTS(read, (struct fid_ep *fid, void *buf, size_t len, void *desc, fi_addr_t src, uint64_t addr,
	    uint64_t key, void *context), fid, buf, len, desc, src, addr, key, context)

#define TABLES(table) [table] = {							\
	.msg = {								\
		.send = send_##table,						\
		.senddata = senddata_##table,					\
		.inject = inject_##table,						\
		.injectdata = injectdata_##table,					\
		.recv = recv_##table,						\
	},									\
	.rma = {								\
		.write = write_##table,						\
		.inject = inject_write_##table,					\
		.read = read_##table,						\
	},									\
}

struct vrb_fast_table vrb_fast_tables[VRB_FAST_TABLES] = { TABLES(0), TABLES(1), TABLES(2), TABLES(3) };

/* The other calls have no fast path. */
__attribute__((constructor))
static void fast_fill_ops(void)
{
	struct vrb_fast_table *table;

	for (table = vrb_fast_tables; table < vrb_fast_tables + VRB_FAST_TABLES; table++) {
		obj_ops_fill(&table->msg, sizeof(table->msg), &vrb_msg_ops);
		obj_ops_fill(&table->rma, sizeof(table->rma), &vrb_rma_ops);
		OBJ_OPS_FILL(&table->msg, msg);
		OBJ_OPS_FILL(&table->rma, rma);
	}
}

static uint32_t fast_inline(const struct vrb_ep *ep, enum vrb_op op)
{
	uint32_t max = ep->direct ? mlx5_fast_max(op) : ep->max_inline;

	if (max > ep->max_inline)
		max = ep->max_inline;
	return max > ep->inject_size ? ep->inject_size : max;
}

void vrb_fast_rebound(struct obj_ep *base)
{
	struct vrb_ep *ep = (struct vrb_ep *) base;
	unsigned i;

	ep->fast_comp = !ep->dgram;
	for (i = 0; i < OBJ_CNTR_CNT; i++)
		ep->fast_comp = ep->fast_comp && !base->cntrs[i];
}

void vrb_fast_enable(struct vrb_ep *ep)
{
	struct obj_ep *base = &ep->base;

	vrb_fast_rebound(base);
	if (ep->dgram || (ep->domain->direct ? !ep->direct : !ep->sq.qpx))
		return;
	if (base->tx_cq)	/* without one no call has a completion, whatever its flags */
		ep->fast_depth = ep->tx_depth;
	ep->fast_flags[0] = base->tx_selective ? 0 : FI_COMPLETION;
	ep->fast_flags[1] = base->rx_selective ? 0 : FI_COMPLETION;
	ep->fast_inline[0] = fast_inline(ep, VRB_OP_SEND);
	ep->fast_inline[1] = fast_inline(ep, VRB_OP_WRITE);
	ep->recv_wr = (struct ibv_recv_wr) { .sg_list = &ep->recv_sge, .num_sge = 1 };
	if (!base->srx && base->rx_cq)
		ep->fast_rx_depth = ep->rx_depth;
}

void vrb_fast_disable(struct vrb_ep *ep)
{
	ep->fast_depth = ep->fast_rx_depth = 0;
	atomic_store(&ep->fast_room, 0);
}

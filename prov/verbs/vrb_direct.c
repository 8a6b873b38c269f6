/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Short ways of connected endpoints whose queues we write ourselves: a call with one piece
 * of memory goes from its arguments into the queue.  What is out of the ordinary (a queue
 * that is full, no connection, an empty message, data that is inline but long, flags) goes
 * the general way, which is that of all other calls; nothing has changed by then.
 */
#include "mlx5_queue.h"
#include "vrb_call.h"

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

/* Returns false if the general way must be taken. */
MLX5_INLINE bool brief_locked(struct vrb_ep *ep, const struct brief *b, uint64_t flags)
{
	struct vrb_tx *tx = &ep->tx[ep->tx_tail & ep->tx_mask];
	bool fits = b->op < VRB_OP_READ && b->len <= ep->brief_max[b->op > VRB_OP_SEND_IMM];
	bool want = !b->silent && obj_ep_want_tx_comp(&ep->base, flags);
	bool tell = must_tell(ep, want, b->cntr);
	struct ibv_sge sge = { (uintptr_t) b->buf, (uint32_t) b->len, lkey_of(b->desc) };
	struct vrb_wr wr = {
		.op = b->op, .sge = &sge, .sge_cnt = 1, .wr_id = (uintptr_t) tx,
		.flags = (fits ? (unsigned) IBV_SEND_INLINE : 0) |
			 (tell ? (unsigned) IBV_SEND_SIGNALED : 0),
		.addr = b->addr, .rkey = (uint32_t) b->key, .imm = (uint32_t) b->data,
	};

	if (__builtin_expect(!is_brief(ep, b, flags, fits), 0) ||
	    __builtin_expect(mlx5_build_short(&ep->mlx5.sq, &wr), 0))
		return false;
	tx->context = b->context;
	tx->flags = b->comp;
	tx->ep = ep;
	tx->len = (uint32_t) b->len;
	tx->cntr = (uint8_t) b->cntr;
	tx->want = want;
	took_place(ep, tell);
	mlx5_ring_queue(&ep->mlx5.sq);
	return true;
}

MLX5_INLINE bool brief(struct fid_ep *fid, const struct brief *b)
{
	struct obj_ep_handle *h = obj_ep_handle_of(fid);
	struct obj_prog *prog = h->ep->prog;
	bool done;

	if (__builtin_expect(!prog, 0))
		return false;
	lock_get(&prog->lock);
	done = brief_locked(container_of(h->ep, struct vrb_ep, base), b,
			    b->silent ? 0 : h->tx_op_flags);
	lock_put(&prog->lock);
	return done;
}

/* ---- messages ------------------------------------------------------------------------ */

#define OF_SEND .comp = FI_SEND | FI_MSG, .cntr = OBJ_CNTR_SEND
#define OF_WRITE .comp = FI_WRITE | FI_RMA, .cntr = OBJ_CNTR_WRITE

static ssize_t direct_send(struct fid_ep *fid, const void *buf, size_t len, void *desc,
			   fi_addr_t dest, void *context)
{
	const struct brief b = { .op = VRB_OP_SEND, .buf = buf, .len = len, .desc = desc,
				 .context = context, OF_SEND };

	return __builtin_expect(brief(fid, &b), 1) ? 0 :
	       vrb_msg_ops.send(fid, buf, len, desc, dest, context);
}

static ssize_t direct_senddata(struct fid_ep *fid, const void *buf, size_t len, void *desc,
			       uint64_t data, fi_addr_t dest, void *context)
{
	const struct brief b = { .op = VRB_OP_SEND_IMM, .buf = buf, .len = len, .desc = desc,
				 .context = context, .data = data, OF_SEND };

	return __builtin_expect(brief(fid, &b), 1) ? 0 :
	       vrb_msg_ops.senddata(fid, buf, len, desc, data, dest, context);
}

static ssize_t direct_inject(struct fid_ep *fid, const void *buf, size_t len, fi_addr_t dest)
{
	const struct brief b = { .op = VRB_OP_SEND, .buf = buf, .len = len, .silent = true, OF_SEND };

	return __builtin_expect(brief(fid, &b), 1) ? 0 : vrb_msg_ops.inject(fid, buf, len, dest);
}

static ssize_t direct_injectdata(struct fid_ep *fid, const void *buf, size_t len, uint64_t data,
				 fi_addr_t dest)
{
	const struct brief b = { .op = VRB_OP_SEND_IMM, .buf = buf, .len = len, .silent = true,
				 .data = data, OF_SEND };

	return __builtin_expect(brief(fid, &b), 1) ? 0 :
	       vrb_msg_ops.injectdata(fid, buf, len, data, dest);
}

/* ---- remote memory ------------------------------------------------------------------- */

static ssize_t direct_write(struct fid_ep *fid, const void *buf, size_t len, void *desc,
			    fi_addr_t dest, uint64_t addr, uint64_t key, void *context)
{
	const struct brief b = { .op = VRB_OP_WRITE, .buf = buf, .len = len, .desc = desc,
				 .context = context, .addr = addr, .key = key, OF_WRITE };

	return __builtin_expect(brief(fid, &b), 1) ? 0 :
	       vrb_rma_ops.write(fid, buf, len, desc, dest, addr, key, context);
}

static ssize_t direct_inject_write(struct fid_ep *fid, const void *buf, size_t len,
				   fi_addr_t dest, uint64_t addr, uint64_t key)
{
	const struct brief b = { .op = VRB_OP_WRITE, .buf = buf, .len = len, .silent = true,
				 .addr = addr, .key = key, OF_WRITE };

	return __builtin_expect(brief(fid, &b), 1) ? 0 :
	       vrb_rma_ops.inject(fid, buf, len, dest, addr, key);
}

static ssize_t direct_read(struct fid_ep *fid, void *buf, size_t len, void *desc, fi_addr_t src,
			   uint64_t addr, uint64_t key, void *context)
{
	const struct brief b = { .op = VRB_OP_READ, .buf = buf, .len = len, .desc = desc,
				 .context = context, .addr = addr, .key = key,
				 .comp = FI_READ | FI_RMA, .cntr = OBJ_CNTR_READ };

	return __builtin_expect(brief(fid, &b), 1) ? 0 :
	       vrb_rma_ops.read(fid, buf, len, desc, src, addr, key, context);
}

/* ---- choosing ------------------------------------------------------------------------- */

struct fi_ops_msg vrb_direct_msg_ops;
struct fi_ops_rma vrb_direct_rma_ops;

/* The rest is as with any other endpoint. */
void vrb_direct_init_ops(void)
{
	vrb_direct_msg_ops = vrb_msg_ops;
	vrb_direct_msg_ops.send = direct_send;
	vrb_direct_msg_ops.senddata = direct_senddata;
	vrb_direct_msg_ops.inject = direct_inject;
	vrb_direct_msg_ops.injectdata = direct_injectdata;
	vrb_direct_rma_ops = vrb_rma_ops;
	vrb_direct_rma_ops.write = direct_write;
	vrb_direct_rma_ops.inject = direct_inject_write;
	vrb_direct_rma_ops.read = direct_read;
}

static uint32_t brief_max(const struct vrb_ep *ep, enum vrb_op op)
{
	uint32_t max = mlx5_short_max(op);

	if (max > ep->max_inline)
		max = ep->max_inline;
	return max > ep->inject_size ? ep->inject_size : max;
}

void vrb_direct_enabled(struct vrb_ep *ep)
{
	ep->brief_depth = ep->tx_depth;
	ep->brief_max[0] = brief_max(ep, VRB_OP_SEND);
	ep->brief_max[1] = brief_max(ep, VRB_OP_WRITE);
}

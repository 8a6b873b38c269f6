// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copyright (c) 2026 the libfabric authors. */
/*
 * op.c - operations: where they come from, and how they end.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include "obj.h"

int obj_pool_init(struct kofi_pool *pool, struct kofi_ep *ep, size_t cnt, size_t op_size,
		  size_t store_size)
{
	struct kofi_op *op;
	size_t i;

	op_size = ALIGN(op_size, sizeof(u64));
	spin_lock_init(&pool->lock);
	INIT_LIST_HEAD(&pool->free);
	init_waitqueue_head(&pool->idle);
	pool->cnt = cnt;
	pool->stride = op_size + ALIGN(store_size, sizeof(u64));
	pool->store_size = store_size;
	pool->mem = kvcalloc(cnt, pool->stride, GFP_KERNEL);
	if (!pool->mem)
		return -FI_ENOMEM;
	for (i = 0; (op = kofi_pool_op(pool, i)); i++) {
		op->ep = ep;
		op->store = (void *)op + op_size;
		list_add_tail(&op->node, &pool->free);
	}
	return 0;
}

void obj_pool_free(struct kofi_pool *pool)
{
	kvfree(pool->mem);
}

struct kofi_op *obj_op_get(struct kofi_pool *pool)
{
	struct kofi_op *op;

	spin_lock_bh(&pool->lock);
	op = list_first_entry_or_null(&pool->free, struct kofi_op, node);
	if (op) {
		list_del_init(&op->node);
		pool->busy++;
	}
	spin_unlock_bh(&pool->lock);
	return op;
}

/* The close of the endpoint waits for the last one under the same lock, so that the pool is
 * not freed while this runs. */
void obj_op_put(struct kofi_pool *pool, struct kofi_op *op)
{
	spin_lock_bh(&pool->lock);
	list_add(&op->node, &pool->free);
	if (!--pool->busy)
		wake_up_all(&pool->idle);
	spin_unlock_bh(&pool->lock);
}

struct kofi_op *obj_op_take(struct kofi_pool *pool, struct kofi_cq *cq)
{
	struct kofi_op *op;

	if (cq && !kofi_cq_reserve(cq))
		return NULL;
	op = obj_op_get(pool);
	if (!op && cq)
		kofi_cq_unreserve(cq);
	return op;
}

void obj_op_give(struct kofi_pool *pool, struct kofi_cq *cq, struct kofi_op *op)
{
	obj_op_put(pool, op);
	if (cq)
		kofi_cq_unreserve(cq);
}

/* ---- completions ---- */

static const struct {
	uint64_t		flags;	/* of the completion */
	enum kofi_cntr_kind	cntr;
} kinds[] = {
	[KOFI_SEND] = { FI_SEND | FI_MSG, KOFI_CNTR_SEND },
	[KOFI_TSEND] = { FI_SEND | FI_TAGGED, KOFI_CNTR_SEND },
	[KOFI_WRITE] = { FI_WRITE | FI_RMA, KOFI_CNTR_WRITE },
	[KOFI_READ] = { FI_READ | FI_RMA, KOFI_CNTR_READ },
	[KOFI_ATOMIC] = { FI_WRITE | FI_ATOMIC, KOFI_CNTR_WRITE },
	[KOFI_FETCH] = { FI_READ | FI_ATOMIC, KOFI_CNTR_READ },
	[KOFI_COMPARE] = { FI_READ | FI_ATOMIC, KOFI_CNTR_READ },
	[KOFI_RECV] = { FI_RECV | FI_MSG, KOFI_CNTR_RECV },
	[KOFI_TRECV] = { FI_RECV | FI_TAGGED, KOFI_CNTR_RECV },
};

static void op_finish(struct kofi_op *op, struct kofi_cq *cq, struct kofi_pool *pool,
		      struct kofi_comp *comp)
{
	struct kofi_ep *ep = op->ep;
	struct kofi_cntr *cntr = ep->cntr[kinds[op->type].cntr];
	struct kofi_op *multi = op->type >= KOFI_RECV ? op->multi : NULL;
	bool last = false;
	int err = 0;

	comp->context = op->context;
	comp->flags |= kinds[op->type].flags;
	if (multi) {
		comp->buf = op->segs.kvec->iov_base;
		last = obj_multi_part_done(multi, &err);
		if (last && !err) {
			comp->flags |= FI_MULTI_RECV;
			op->flags |= FI_COMPLETION;
		}
	}
	if (cntr)
		kofi_cntr_inc(cntr, comp->err);
	if (cq) {
		if (!READ_ONCE(ep->closing) && (comp->err || op->flags & FI_COMPLETION))
			kofi_cq_post(cq, comp);
		else
			kofi_cq_unreserve(cq);
	}
	obj_op_put(pool, op);
	if (last)
		obj_multi_over(multi, err);
}

void kofi_tx_done(struct kofi_op *op, int err)
{
	struct kofi_comp comp = {
		.err = err, .tag = op->tag, .src_addr = FI_ADDR_NOTAVAIL,
		.len = op->type == KOFI_FETCH ? op->result.len : op->segs.len,
	};

	op_finish(op, op->ep->tx_cq, &op->ep->tx_pool, &comp);
}
EXPORT_SYMBOL_GPL(kofi_tx_done);

void kofi_rx_done(struct kofi_op *op, int err, const struct kofi_recvd *recvd)
{
	struct kofi_comp comp = { .err = err, .src_addr = FI_ADDR_NOTAVAIL };

	if (op->flags & FI_MULTI_RECV) {
		obj_multi_cancel(op, err);
		return;
	}
	if (recvd) {
		comp.len = min(recvd->len, op->segs.len);
		comp.flags = recvd->flags;
		comp.data = recvd->data;
		comp.tag = recvd->tag;
		comp.src_addr = recvd->src;
		if (!err && recvd->len > op->segs.len) {
			comp.err = FI_ETRUNC;
			comp.olen = recvd->len - op->segs.len;
		}
	} else {
		comp.tag = op->tag;
	}
	op_finish(op, op->ep->rx_cq, &op->ep->rx_pool, &comp);
}
EXPORT_SYMBOL_GPL(kofi_rx_done);

int kofi_remote_done(struct kofi_ep *ep, uint64_t flags, size_t len, uint64_t data)
{
	struct kofi_cntr *written = flags & FI_REMOTE_WRITE ? ep->cntr[KOFI_CNTR_REMOTE_WRITE] : NULL;
	struct kofi_cntr *read = flags & FI_REMOTE_READ ? ep->cntr[KOFI_CNTR_REMOTE_READ] : NULL;
	struct kofi_comp comp = {
		.flags = flags, .len = len, .data = data, .src_addr = FI_ADDR_NOTAVAIL,
	};

	if (written)
		kofi_cntr_inc(written, false);
	if (read)
		kofi_cntr_inc(read, false);
	if (!(flags & FI_REMOTE_CQ_DATA) || !ep->rx_cq)
		return 0;
	if (!kofi_cq_reserve(ep->rx_cq))
		return -FI_EOVERRUN;
	kofi_cq_post(ep->rx_cq, &comp);
	return 0;
}
EXPORT_SYMBOL_GPL(kofi_remote_done);

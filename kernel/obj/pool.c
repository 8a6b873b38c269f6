// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copyright (c) 2026 the libfabric authors. */
/*
 * pool.c - operations: where they come from, and go back to.
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

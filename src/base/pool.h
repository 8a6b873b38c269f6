/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * pool.h - objects of one size, allocated and freed without malloc.
 *
 * Memory grows by chunks and is returned only by pool_destroy(); the addresses of objects never
 * change.  A pool is protected by its owner's lock.
 */
#ifndef BASE_POOL_H
#define BASE_POOL_H

#include <stddef.h>

struct pool_item {
	struct pool_item *next;
};

struct pool {
	struct pool_item *free;
	void *chunks;		/* list of chunks, linked through their first word */
	size_t size;		/* of one object, rounded up to a cache line when larger than half of
				 * one */
	size_t chunk_cnt;	/* objects in the next chunk */
	size_t used;		/* objects in use */
	size_t max;		/* pool_get fails past this many; 0: no limit */
};

/* pool_init - make an empty pool; allocates nothing yet. */
void pool_init(struct pool *pool, size_t size, size_t chunk_cnt, size_t max);

/* pool_destroy - free all chunks, objects in use included. */
void pool_destroy(struct pool *pool);

/* pool_grow - add one chunk.  Returns 0 or -FI_ENOMEM. */
int pool_grow(struct pool *pool);

/* pool_get - an object with undefined content, or NULL when the limit is
 * reached or memory is short.
 */
static inline void *pool_get(struct pool *pool)
{
	struct pool_item *item = pool->free;

	if (__builtin_expect(!item, 0)) {
		if (pool_grow(pool))
			return NULL;
		item = pool->free;
	}
	pool->free = item->next;
	pool->used++;
	return item;
}

static inline void pool_put(struct pool *pool, void *obj)
{
	struct pool_item *item = obj;

	item->next = pool->free;
	pool->free = item;
	pool->used--;
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "base/pool.h"

#include <rdma/fi_errno.h>

#include "base/line.h"

void pool_init(struct pool *pool, size_t size, size_t chunk_cnt, size_t max)
{
	size_t align = size > LINE_SIZE / 2 ? LINE_SIZE : sizeof(void *);

	if (size < sizeof(struct pool_item))
		size = sizeof(struct pool_item);
	pool->free = NULL;
	pool->chunks = NULL;
	pool->size = (size + align - 1) & ~(align - 1);
	pool->chunk_cnt = chunk_cnt ? chunk_cnt : 32;
	pool->used = 0;
	pool->max = max;
}

void pool_destroy(struct pool *pool)
{
	void *chunk, *next;

	for (chunk = pool->chunks; chunk; chunk = next) {
		next = *(void **) chunk;
		free(chunk);
	}
	pool->chunks = NULL;
	pool->free = NULL;
	pool->used = 0;
}

int pool_grow(struct pool *pool)
{
	size_t i, cnt = pool->chunk_cnt;
	char *chunk;

	if (pool->max && pool->used >= pool->max)
		return -FI_ENOMEM;
	if (pool->max && pool->used + cnt > pool->max)
		cnt = pool->max - pool->used;
	/* The first cache line of a chunk holds the link to the next chunk. */
	if (posix_memalign((void **) &chunk, LINE_SIZE, LINE_SIZE + cnt * pool->size))
		return -FI_ENOMEM;
	*(void **) chunk = pool->chunks;
	pool->chunks = chunk;
	for (i = cnt; i-- > 0; ) {
		struct pool_item *item = (void *) (chunk + LINE_SIZE + i * pool->size);

		item->next = pool->free;
		pool->free = item;
	}
	return 0;
}

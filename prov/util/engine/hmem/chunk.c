/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* chunk.c - buffers of the host for payload on its path from or to a device. */
#include <rdma/fi_errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "engine/ctl.h"
#include "engine/dev.h"

/* ---- of the group ------------------------------------------------------------------ */

/* Made with the first operation on memory of a device: a group without such pays nothing. */
static struct eng_dev_grp *dev_grp(struct eng_grp *grp)
{
	struct eng_dev_grp *dg = grp->dev;

	if (dg)
		return dg;
	dg = calloc(1, sizeof(*dg));
	if (!dg)
		return NULL;
	list_init(&dg->free);
	list_init(&dg->busy);
	list_init(&dg->work.node);
	pool_init(&dg->devs, sizeof(struct eng_dev), 8, 0);
	dg->grp = grp;
	grp->dev = dg;
	return dg;
}

/* All requests have ended, so every chunk is on the free list. */
void eng_dev_grp_fini(struct eng_grp *grp)
{
	struct eng_dev_grp *dg = grp->dev;
	struct eng_chunk *chunk;

	if (!dg)
		return;
	while ((chunk = list_pop_entry(&dg->free, struct eng_chunk, node))) {
		hmem_unpin(chunk->buf);
		munmap(chunk->buf, ENG_DEV_CHUNK);
		free(chunk);
	}
	pool_destroy(&dg->devs);
	hmem_share_trim();
	free(dg);
	grp->dev = NULL;
}

/* The regions are named here, while the program's descriptors are valid; a request may outlive the
 * call by which they came.
 */
struct eng_dev *eng_dev_get(struct eng_grp *grp, void *const *desc, size_t cnt)
{
	struct eng_dev_grp *dg = dev_grp(grp);
	struct eng_dev *dev = dg ? pool_get(&dg->devs) : NULL;

	if (!dev)
		return NULL;
	dev->grp = grp;
	dev->chunk = NULL;
	dev->nack = NULL;
	dev->in_place = false;
	dev->shared = false;
	dev->told = false;
	dev->err = 0;
	obj_mr_name(dev->mrs, desc, cnt);
	return dev;
}

void eng_dev_put(struct eng_dev *dev)
{
	if (dev->chunk)
		eng_chunk_put(dev->chunk);
	if (dev->nack)
		eng_ctl_put(dev->nack);
	pool_put(&dev->grp->dev->devs, dev);
}

/* ---- chunks ------------------------------------------------------------------------- */

/* Pinned once, and kept on the free list for later requests. */
static struct eng_chunk *make_pooled(struct eng_dev_grp *dg)
{
	struct eng_chunk *chunk = calloc(1, sizeof(*chunk));
	void *buf;

	if (!chunk)
		return NULL;
	buf = mmap(NULL, ENG_DEV_CHUNK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (buf == MAP_FAILED) {
		free(chunk);
		return NULL;
	}
	hmem_pin(buf, ENG_DEV_CHUNK);
	chunk->buf = buf;
	chunk->pooled = true;
	chunk->grp = dg->grp;
	list_init(&chunk->node);
	return chunk;
}

/* Sends have at most half of the chunks, so that payload which arrives finds some. */
static struct eng_chunk *get_pooled(struct eng_dev_grp *dg, bool out)
{
	struct list *item;
	struct eng_chunk *chunk;

	if (dg->used == ENG_DEV_CHUNKS || (out && dg->used_out == ENG_DEV_CHUNKS / 2))
		return NULL;
	item = list_pop(&dg->free);
	chunk = item ? container_of(item, struct eng_chunk, node) : make_pooled(dg);
	if (!chunk)
		return NULL;
	chunk->out = out;
	dg->used++;
	dg->used_out += out;
	return chunk;
}

/* Of any length, freed after use: for payload that no pooled chunk is meant for, or that cannot wait
 * until one is free.
 */
static struct eng_chunk *get_plain(struct eng_grp *grp, size_t len)
{
	struct eng_chunk *chunk = calloc(1, sizeof(*chunk));

	if (!chunk)
		return NULL;
	chunk->buf = malloc(len);
	if (!chunk->buf) {
		free(chunk);
		return NULL;
	}
	chunk->grp = grp;
	list_init(&chunk->node);
	return chunk;
}

struct eng_chunk *eng_chunk_get(struct eng_grp *grp, size_t len, bool out, bool must)
{
	struct eng_dev_grp *dg = dev_grp(grp);
	struct eng_chunk *chunk = NULL;

	if (!dg)
		return NULL;
	if (len > ENG_DEV_SHORT && len <= ENG_DEV_CHUNK)
		chunk = get_pooled(dg, out);
	if (!chunk && (must || len <= ENG_DEV_SHORT || len > ENG_DEV_CHUNK))
		chunk = get_plain(grp, len ? len : 1);
	if (!chunk)
		return NULL;
	chunk->len = len;
	chunk->off = 0;
	chunk->event_cnt = 0;
	chunk->opened = NULL;
	chunk->answer = NULL;
	chunk->err = 0;
	return chunk;
}

void eng_chunk_put(struct eng_chunk *chunk)
{
	struct eng_dev_grp *dg = chunk->grp->dev;

	if (!chunk->pooled) {
		free(chunk->buf);
		free(chunk);
		return;
	}
	dg->used--;
	dg->used_out -= chunk->out;
	list_add_tail(&chunk->node, &dg->free);
}

/* ---- copies -------------------------------------------------------------------------- */

void eng_chunk_copy(struct eng_chunk *chunk, enum hmem_dir dir, const struct obj_mr_list *list)
{
	chunk->err = obj_mr_copy_start(dir, list, chunk->off, chunk->buf, chunk->len, chunk->event,
				       &chunk->event_cnt);
}

/* The first error counts, and the chunk is in use until its last copy has ended. */
int eng_chunk_done(struct eng_chunk *chunk)
{
	int ret;

	while (chunk->event_cnt) {
		ret = hmem_copy_done(&chunk->event[chunk->event_cnt - 1]);
		if (!ret)
			return 0;
		if (ret < 0 && !chunk->err)
			chunk->err = ret;
		chunk->event_cnt--;
	}
	return 1;
}

void eng_chunk_wait(struct eng_chunk *chunk)
{
	while (!eng_chunk_done(chunk))
		sched_yield();
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * mem.h - memory of a layer, as the domain below wants it: registered for our own use
 * (FI_MR_LOCAL) or for a peer's, with keys and addresses by its rules; and buffers of one
 * size to send from, made and registered by the slab.
 *
 * Threading: the caller's lock.
 */
#ifndef LAYER_MEM_H
#define LAYER_MEM_H

#include <rdma/fi_domain.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "mr/cache.h"

struct fi_provider;

/* Modes that a layer can live with below: what it asks for in its hints. */
#define LAYER_MR_MODE (FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY)

struct layer_mem {
	struct fid_domain *domain;
	bool local;		/* buffers must be registered */
	bool virt;		/* remote addresses are the owner's */
	bool prov_key;
	uint64_t key_mask;	/* keys that we may choose */
	size_t buf_size;	/* bytes of a buffer, its head included */
	struct list free;	/* struct layer_buf */
	struct list slabs;
	bool keeps;		/* the program's buffers stay registered, in these: */
	struct mr_cache locals, remotes;
};

/* The head of each buffer; the rest is the caller's. */
struct layer_buf {
	struct list node;	/* the caller's, while he has it */
	void *desc;		/* of the region that it lies in, or NULL */
};

/* layer_mem_init - nothing is allocated yet.
 * @info: of the endpoints below
 */
void layer_mem_init(struct layer_mem *mem, struct fid_domain *domain,
		    const struct fi_info *info, size_t buf_size);

/* layer_mem_keep - have registrations of the program's buffers kept for the next time, where
 * they cost something (FI_MR_LOCAL) and the environment wants it.  Once, behind layer_mem_init();
 * @mem does not move any more.
 */
void layer_mem_keep(struct layer_mem *mem, const struct fi_provider *prov);

/* layer_mem_fini - before the domain is closed; the buffers go, given back or not. */
void layer_mem_fini(struct layer_mem *mem);

/* layer_mr_local - register memory for our own use, where the domain wants that.
 * Returns 0 with *@mr_p NULL where it does not.  Errors: those of fi_mr_reg().
 */
int layer_mr_local(struct layer_mem *mem, void *buf, size_t len, struct fid_mr **mr_p);

/* layer_mr_into - the same for a buffer of the program's, which the peer's data goes into;
 * ended by layer_mr_done(), that may keep it.
 */
int layer_mr_into(struct layer_mem *mem, void *buf, size_t len, struct fid_mr **mr_p);

/* layer_mr_remote - let a peer read @buf of the program's, at *@addr_p with *@key_p, until
 * layer_mr_done().
 */
int layer_mr_remote(struct layer_mem *mem, void *buf, size_t len, struct fid_mr **mr_p,
		    uint64_t *addr_p, uint64_t *key_p);

void layer_mr_done(struct fid_mr *mr);

static inline void *layer_desc(struct fid_mr *mr)
{
	return mr ? fi_mr_desc(mr) : NULL;
}

/* layer_buf_get - a buffer that is on no list, or NULL: no memory. */
struct layer_buf *layer_buf_get(struct layer_mem *mem);

/* layer_buf_put - take it back, off the list that it is on; the one that is warm goes
 * out next.
 */
static inline void layer_buf_put(struct layer_mem *mem, struct layer_buf *buf)
{
	list_del(&buf->node);
	list_add_head(&buf->node, &mem->free);
}

#endif

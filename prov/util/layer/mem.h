/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * mem.h - memory of a layer, registered as the domain below requires: for local use
 * (FI_MR_LOCAL) or for access by a peer, with keys and addresses by that domain's rules; and
 * send buffers of one size, allocated and registered in slabs.
 *
 * Threading: caller holds the owner's lock.
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

/* The registration modes that a layer supports, for its hints. */
#define LAYER_MR_MODE (FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY)

struct layer_mem {
	struct fid_domain *domain;
	bool local;		/* buffers must be registered */
	bool virt;		/* remote addresses are virtual addresses of the owner */
	bool prov_key;
	uint64_t key_mask;	/* bits of keys that we choose */
	size_t buf_size;	/* bytes of a buffer, its head included */
	struct list free;	/* struct layer_buf */
	struct list slabs;
	bool keeps;		/* cache registrations of the program's buffers, here: */
	struct mr_cache locals, remotes;
};

/* The head of each buffer; the rest is the caller's. */
struct layer_buf {
	struct list node;	/* for the caller, while it owns the buffer */
	void *desc;		/* descriptor of the buffer's region, or NULL */
};

/* layer_mem_init - initialize; allocates nothing.
 *
 * @info: of the endpoints below
 */
void layer_mem_init(struct layer_mem *mem, struct fid_domain *domain,
		    const struct fi_info *info, size_t buf_size);

/* layer_mem_keep - cache registrations of the program's buffers where they are expensive
 * (FI_MR_LOCAL) and the environment allows it.  Once, after layer_mem_init(); @mem must not
 * move afterwards.
 */
void layer_mem_keep(struct layer_mem *mem, const struct fi_provider *prov);

/* layer_mem_fini - before the domain is closed; frees all buffers, also those not returned. */
void layer_mem_fini(struct layer_mem *mem);

/* layer_mr_local - register memory for local use, where the domain requires it.
 * Returns 0 with *@mr_p NULL where it does not.  Errors: those of fi_mr_reg().
 */
int layer_mr_local(struct layer_mem *mem, void *buf, size_t len, struct fid_mr **mr_p);

/* layer_mr_into - the same for a buffer of the program that a read from the peer fills;
 * released by layer_mr_done(), which may cache it.
 */
int layer_mr_into(struct layer_mem *mem, void *buf, size_t len, struct fid_mr **mr_p);

/* layer_mr_remote - let a peer read @buf of the program, at *@addr_p with *@key_p, until
 * layer_mr_done().
 */
int layer_mr_remote(struct layer_mem *mem, void *buf, size_t len, struct fid_mr **mr_p,
		    uint64_t *addr_p, uint64_t *key_p);

/* layer_mr_target - let a peer write to @buf, likewise. */
int layer_mr_target(struct layer_mem *mem, void *buf, size_t len, struct fid_mr **mr_p,
		    uint64_t *addr_p, uint64_t *key_p);

void layer_mr_done(struct fid_mr *mr);

static inline void *layer_desc(struct fid_mr *mr)
{
	return mr ? fi_mr_desc(mr) : NULL;
}

/* layer_buf_get - take a buffer; it is on no list.  NULL: no memory. */
struct layer_buf *layer_buf_get(struct layer_mem *mem);

/* layer_buf_put - return a buffer, and unlink it.  Last in, first out, for the sake of the
 * processor's cache.
 */
static inline void layer_buf_put(struct layer_mem *mem, struct layer_buf *buf)
{
	list_del(&buf->node);
	list_add_head(&buf->node, &mem->free);
}

#endif

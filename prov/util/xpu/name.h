/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * name.h - what a device passes for an address or a descriptor: a place in a table and the
 * generation of the place, so that the name of a peer or region that is gone is refused, also once
 * its place is used again.
 */
#ifndef XPU_NAME_H
#define XPU_NAME_H

#include <rdma/fi_domain.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/hmap.h"

struct xpu_name {
	const void *obj;		/* address vector or region; NULL: the place is free */
	uint64_t index;			/* of the address in @obj; 0 for a region */
	fi_addr_t addr;
	uint32_t place;
	uint32_t gen;			/* changes when the place becomes free; never 0 */
	uint64_t *shown;		/* the word of it that devices read, 0 when it is dropped; or NULL */
	struct xpu_name *next;		/* of the same key, or the next free place */
};

/* Threading: the owner's lock. */
struct xpu_names {
	struct xpu_name **at;		/* by place */
	uint32_t cnt, room;
	struct xpu_name *unused;
	struct hmap by_key;		/* hash of obj and index -> list */
};

#define XPU_NAME_SIZE sizeof(uint64_t)	/* av_addr_size and mr_desc_size */

void xpu_names_init(struct xpu_names *names);
void xpu_names_fini(struct xpu_names *names);

/* xpu_name_get - the name of (@obj, @index, @addr), the one that it has or a new one.
 * Errors: -FI_ENOMEM.
 */
int xpu_name_get(struct xpu_names *names, const void *obj, uint64_t index, fi_addr_t addr,
		 uint64_t *raw_p);

/* xpu_name_find - what @raw names, or NULL.  @raw may be any number. */
const struct xpu_name *xpu_name_find(const struct xpu_names *names, uint64_t raw);

/* xpu_name_drop - forget all names of (@obj, @index). */
void xpu_name_drop(struct xpu_names *names, const void *obj, uint64_t index);

/* xpu_name_drop_all - forget all names of @obj.  Cost: O(names). */
void xpu_name_drop_all(struct xpu_names *names, const void *obj);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * av_table.h - the inside of an address vector: entries by index, and back.
 *
 * Callers hold av->lock.  A shared table (av_shared.h) has its counts in the
 * mapping; av->top, live, free_cnt and free_hint are then copies, taken at
 * av_shared_enter() and written back at av_shared_leave().
 */
#ifndef OBJ_AV_TABLE_H
#define OBJ_AV_TABLE_H

#include "obj/av.h"

/* av_table_get - copy entry @i out.  Returns 0, or -FI_EINVAL if it is not in use. */
int av_table_get(const struct obj_av *av, uint32_t i, void *addr, size_t *len);

/* av_table_put - store an address at the lowest unused index.
 *
 * @len: bytes at @addr; the caller has checked them against the format
 * @i_p: [out] the index
 *
 * Errors: -FI_ENOMEM (no memory, or the table is full), -FI_ENOSPC (shared table full).
 */
int av_table_put(struct obj_av *av, const void *addr, size_t len, uint32_t *i_p);

/* av_table_del - entry @i, which is in use, is free from now on. */
void av_table_del(struct obj_av *av, uint32_t i);

static inline bool av_table_live(const struct obj_av *av, uint32_t i)
{
	const uint16_t *flags;

	if (i >= atomic_load_explicit(&av->top, memory_order_acquire))
		return false;
	if (av->ip4)
		flags = &((union obj_av_ip4 *) obj_av_slot(av, i, av->slot_size))->flags;
	else
		flags = &((struct obj_av_slot *) obj_av_slot(av, i, av->slot_size))->flags;
	return *flags & OBJ_AV_LIVE;
}

/* av_table_find - lowest index in use that holds the address, or UINT32_MAX.
 * Builds the reverse index on the first call; without memory for it, searches.
 */
uint32_t av_table_find(struct obj_av *av, const void *addr, size_t len);

void av_table_free(struct obj_av *av);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * ids.h - 32-bit names for requests that a peer has to refer to.
 *
 * An id is a slot number and a generation that moves on each time the slot is
 * given back, so a late or made-up id finds nothing.  Id 0 is never given out.
 * Threading: the owner's lock.
 */
#ifndef ENG_IDS_H
#define ENG_IDS_H

#include <stddef.h>
#include <stdint.h>

#define IDS_SLOT_BITS 20
#define IDS_MAX (1u << IDS_SLOT_BITS)

struct ids_slot {
	void *obj;		/* NULL: free */
	uint32_t next;		/* free: next free slot; IDS_MAX ends the list */
	uint32_t gen;		/* 1 .. 2^12 - 1 */
};

struct ids {
	struct ids_slot *slots;
	uint32_t cap;
	uint32_t free;		/* first free slot, IDS_MAX: none */
	uint32_t used;
};

/* ids_init - an empty map; allocates nothing yet. */
void ids_init(struct ids *ids);
void ids_fini(struct ids *ids);

/* ids_get - name @obj.
 * Returns the id, or 0 when memory or the 2^20 slots have run out.
 * Cost: O(1) amortised.
 */
uint32_t ids_get(struct ids *ids, void *obj);

/* ids_put - the name is no longer valid.  @id must be one that ids_get() gave. */
void ids_put(struct ids *ids, uint32_t id);

/* ids_find - what @id names, or NULL; @id may be any number that a peer sent. */
static inline void *ids_find(const struct ids *ids, uint32_t id)
{
	uint32_t slot = id & (IDS_MAX - 1);

	if (slot >= ids->cap || ids->slots[slot].gen != id >> IDS_SLOT_BITS)
		return NULL;
	return ids->slots[slot].obj;
}

#endif

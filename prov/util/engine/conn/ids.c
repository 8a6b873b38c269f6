/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "engine/ids.h"

#include <assert.h>
#include <stdlib.h>

#define FIRST_SLOTS 64
/* A slot that is used again has another generation, so that an id of an ended request finds
 * nothing. Generation 0 is left out: no id is 0. A test has fewer generations, which wrap soon.
 */
#ifndef GEN_MAX
#define GEN_MAX ((1u << (32 - IDS_SLOT_BITS)) - 1)
#endif

void ids_init(struct ids *ids)
{
	ids->slots = NULL;
	ids->cap = 0;
	ids->free = IDS_MAX;
	ids->used = 0;
}

void ids_fini(struct ids *ids)
{
	free(ids->slots);
	ids_init(ids);
}

/* Slots may move, objects do not: an id is an index, never an address. */
static int ids_grow(struct ids *ids)
{
	uint32_t i, cap = ids->cap ? ids->cap * 2 : FIRST_SLOTS;
	struct ids_slot *slots;

	if (cap > IDS_MAX)
		return -1;
	slots = realloc(ids->slots, cap * sizeof(*slots));
	if (!slots)
		return -1;
	for (i = cap; i-- > ids->cap; ) {
		slots[i].obj = NULL;
		slots[i].gen = 1;
		slots[i].next = ids->free;
		ids->free = i;
	}
	ids->slots = slots;
	ids->cap = cap;
	return 0;
}

uint32_t ids_get(struct ids *ids, void *obj)
{
	struct ids_slot *slot;
	uint32_t i;

	if (ids->free == IDS_MAX && ids_grow(ids))
		return 0;
	i = ids->free;
	slot = &ids->slots[i];
	ids->free = slot->next;
	ids->used++;
	slot->obj = obj;
	return slot->gen << IDS_SLOT_BITS | i;
}

void ids_put(struct ids *ids, uint32_t id)
{
	uint32_t i = id & (IDS_MAX - 1);
	struct ids_slot *slot = &ids->slots[i];

	assert(ids_find(ids, id) && "an id is given back once");
	slot->obj = NULL;
	slot->gen = slot->gen == GEN_MAX ? 1 : slot->gen + 1;
	slot->next = ids->free;
	ids->free = i;
	ids->used--;
}

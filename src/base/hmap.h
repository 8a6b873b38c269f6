/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * hmap.h - map of 64-bit keys to pointers, open addressing.
 *
 * For tables that are looked up per packet: remote keys, request ids, peers by connection id.
 * Every key value is allowed; a value must not be NULL.
 * Cost: O(1) expected, one cache line for a hit.  Threading: the owner's lock.
 */
#ifndef BASE_HMAP_H
#define BASE_HMAP_H

#include <stddef.h>
#include <stdint.h>

struct hmap_slot {
	uint64_t key;
	void *val;		/* NULL: empty */
};

struct hmap {
	struct hmap_slot *slots;
	size_t mask;		/* slots - 1; slots is NULL until the first insert */
	size_t used;
};

static inline uint64_t hmap_hash(uint64_t key)
{
	key ^= key >> 32;
	key *= UINT64_C(0x9e3779b97f4a7c15);
	return key ^ (key >> 29);
}

void hmap_init(struct hmap *map);
void hmap_destroy(struct hmap *map);

/* hmap_insert - Returns 0, -FI_EALREADY when the key is there (nothing
 * changes), or -FI_ENOMEM.
 */
int hmap_insert(struct hmap *map, uint64_t key, void *val);

/* hmap_remove - Returns the value that was there, or NULL. */
void *hmap_remove(struct hmap *map, uint64_t key);

static inline void *hmap_find(const struct hmap *map, uint64_t key)
{
	size_t i;

	if (!map->used)
		return NULL;
	for (i = hmap_hash(key) & map->mask; map->slots[i].val; i = (i + 1) & map->mask)
		if (map->slots[i].key == key)
			return map->slots[i].val;
	return NULL;
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "base/hmap.h"

#include <rdma/fi_errno.h>
#include <stdlib.h>

#define FIRST_SLOTS 16

void hmap_init(struct hmap *map)
{
	map->slots = NULL;
	map->mask = 0;
	map->used = 0;
}

void hmap_destroy(struct hmap *map)
{
	free(map->slots);
	hmap_init(map);
}

static void slot_fill(struct hmap *map, uint64_t key, void *val)
{
	size_t i = hmap_hash(key) & map->mask;

	while (map->slots[i].val)
		i = (i + 1) & map->mask;
	map->slots[i].key = key;
	map->slots[i].val = val;
}

/* Keep the table at most half full, so that runs stay short. */
static int make_room(struct hmap *map)
{
	struct hmap old = *map;
	size_t i, cnt = old.slots ? old.mask + 1 : 0;

	if (old.slots && (map->used + 1) * 2 <= cnt)
		return 0;
	cnt = cnt ? cnt * 2 : FIRST_SLOTS;
	map->slots = calloc(cnt, sizeof(*map->slots));
	if (!map->slots) {
		*map = old;
		return -FI_ENOMEM;
	}
	map->mask = cnt - 1;
	for (i = 0; old.slots && i <= old.mask; i++)
		if (old.slots[i].val)
			slot_fill(map, old.slots[i].key, old.slots[i].val);
	free(old.slots);
	return 0;
}

int hmap_insert(struct hmap *map, uint64_t key, void *val)
{
	int ret;

	if (hmap_find(map, key))
		return -FI_EALREADY;
	ret = make_room(map);
	if (ret)
		return ret;
	slot_fill(map, key, val);
	map->used++;
	return 0;
}

void *hmap_remove(struct hmap *map, uint64_t key)
{
	size_t i, j, home;
	void *val;

	if (!map->used)
		return NULL;
	for (i = hmap_hash(key) & map->mask; map->slots[i].val; i = (i + 1) & map->mask)
		if (map->slots[i].key == key)
			break;
	val = map->slots[i].val;
	if (!val)
		return NULL;
	map->used--;
	/* Close the gap: move back each following entry whose probe sequence crosses it. */
	for (j = (i + 1) & map->mask; map->slots[j].val; j = (j + 1) & map->mask) {
		home = hmap_hash(map->slots[j].key) & map->mask;
		if (((j - home) & map->mask) < ((j - i) & map->mask))
			continue;
		map->slots[i] = map->slots[j];
		i = j;
	}
	map->slots[i].val = NULL;
	return val;
}

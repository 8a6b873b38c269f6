/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "xpu/name.h"

#include <rdma/fi_errno.h>
#include <stdlib.h>

#include "base/array.h"

void xpu_names_init(struct xpu_names *names)
{
	*names = (struct xpu_names) { 0 };
	hmap_init(&names->by_key);
}

void xpu_names_fini(struct xpu_names *names)
{
	uint32_t i;

	for (i = 0; i < names->cnt; i++)
		free(names->at[i]);
	free(names->at);
	hmap_destroy(&names->by_key);
}

/* Objects of one key are told apart in the list. */
static uint64_t key_of(const void *obj, uint64_t index)
{
	return hmap_hash((uintptr_t) obj) + index;
}

/* place_new - a place that is not in use. */
static struct xpu_name *place_new(struct xpu_names *names)
{
	struct xpu_name *name = names->unused;

	if (name) {
		names->unused = name->next;
		return name;
	}
	if (array_reserve(&names->at, names->cnt, &names->room, sizeof(struct xpu_name *)))
		return NULL;
	name = calloc(1, sizeof(*name));
	if (!name)
		return NULL;
	name->place = names->cnt;
	name->gen = 1;
	names->at[names->cnt++] = name;
	return name;
}

static void place_put(struct xpu_names *names, struct xpu_name *name)
{
	if (name->shown)
		__atomic_store_n(name->shown, 0, __ATOMIC_RELEASE);
	name->shown = NULL;
	name->obj = NULL;
	if (!++name->gen)
		name->gen = 1;
	name->next = names->unused;
	names->unused = name;
}

/* set_list - @list is what has @key now.  Errors: -FI_ENOMEM, for a key that had none. */
static int set_list(struct xpu_names *names, uint64_t key, struct xpu_name *list)
{
	hmap_remove(&names->by_key, key);
	return list ? hmap_insert(&names->by_key, key, list) : 0;
}

int xpu_name_get(struct xpu_names *names, const void *obj, uint64_t index, fi_addr_t addr,
		 uint64_t *raw_p)
{
	uint64_t key = key_of(obj, index);
	struct xpu_name *list = hmap_find(&names->by_key, key), *name;

	for (name = list; name; name = name->next)
		if (name->obj == obj && name->index == index && name->addr == addr)
			break;
	if (!name) {
		name = place_new(names);
		if (!name)
			return -FI_ENOMEM;
		name->obj = obj;
		name->index = index;
		name->addr = addr;
		name->next = list;
		if (set_list(names, key, name)) {
			place_put(names, name);
			return -FI_ENOMEM;
		}
	}
	*raw_p = (uint64_t) name->gen << 32 | name->place;
	return 0;
}

const struct xpu_name *xpu_name_find(const struct xpu_names *names, uint64_t raw)
{
	uint32_t place = (uint32_t) raw;
	const struct xpu_name *name;

	if (place >= names->cnt)
		return NULL;
	name = names->at[place];
	return name->obj && name->gen == raw >> 32 ? name : NULL;
}

void xpu_name_drop(struct xpu_names *names, const void *obj, uint64_t index)
{
	uint64_t key = key_of(obj, index);
	struct xpu_name *name = hmap_find(&names->by_key, key), *next, *left = NULL;

	if (!name)
		return;
	for (; name; name = next) {
		next = name->next;
		if (name->obj == obj && name->index == index) {
			place_put(names, name);
		} else {
			name->next = left;
			left = name;
		}
	}
	/* a key that was there leaves room for itself */
	set_list(names, key, left);
}

void xpu_name_drop_all(struct xpu_names *names, const void *obj)
{
	uint32_t i;

	for (i = 0; i < names->cnt; i++)
		if (names->at[i]->obj == obj)
			xpu_name_drop(names, obj, names->at[i]->index);
}

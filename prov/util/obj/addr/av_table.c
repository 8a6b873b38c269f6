/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "obj/av_table.h"

#include <stdlib.h>

#include "base/hmap.h"
#include "obj/av_shared.h"

/* ---- entries ------------------------------------------------------------- */

static uint32_t chunk_of(uint32_t i)
{
	if (i < 1u << OBJ_AV_FIRST_BITS)
		return 0;
	return (uint32_t) (31 - __builtin_clz(i)) - OBJ_AV_FIRST_BITS + 1;
}

static size_t chunk_entries(uint32_t chunk)
{
	return (size_t) 1 << (OBJ_AV_FIRST_BITS + (chunk ? chunk - 1 : 0));
}

static int table_grow(struct obj_av *av, uint32_t i)
{
	uint32_t chunk = chunk_of(i);

	if (av->shared)
		return av_shared_room(av, i);
	if (av->chunks[chunk])
		return 0;
	av->chunks[chunk] = calloc(chunk_entries(chunk), av->slot_size);
	return av->chunks[chunk] ? 0 : -FI_ENOMEM;
}

static uint16_t *slot_flags(const struct obj_av *av, uint32_t i)
{
	void *slot = obj_av_slot(av, i, av->slot_size);

	return av->ip4 ? &((union obj_av_ip4 *) slot)->flags : &((struct obj_av_slot *) slot)->flags;
}

static uint64_t ip4_word(const struct sockaddr_in *sin, uint16_t flags)
{
	union obj_av_ip4 e = { .addr = sin->sin_addr.s_addr, .port = sin->sin_port };

	e.flags = flags;
	return e.word;
}

static void slot_store(struct obj_av *av, uint32_t i, const void *addr, size_t len)
{
	union obj_av_ip4 *ip4 = obj_av_slot(av, i, av->slot_size);
	struct obj_av_slot *slot = (void *) ip4;

	if (av->ip4) {
		__atomic_store_n(&ip4->word, ip4_word(addr, OBJ_AV_LIVE), __ATOMIC_RELEASE);
		return;
	}
	memcpy(slot->addr, addr, len);
	slot->len = (uint16_t) len;
	/* last: the process that stores it may be killed at any time */
	__atomic_store_n(&slot->flags, OBJ_AV_LIVE, __ATOMIC_RELEASE);
}

int av_table_get(const struct obj_av *av, uint32_t i, void *addr, size_t *len)
{
	const struct obj_av_slot *slot;
	struct sockaddr_in *sin = addr;
	union obj_av_ip4 e;

	if (!av_table_live(av, i))
		return -FI_EINVAL;
	if (av->ip4) {
		e = *(union obj_av_ip4 *) obj_av_slot(av, i, sizeof(e));
		memset(sin, 0, sizeof(*sin));
		sin->sin_family = AF_INET;
		sin->sin_port = e.port;
		sin->sin_addr.s_addr = e.addr;
		*len = sizeof(*sin);
		return 0;
	}
	slot = obj_av_slot(av, i, av->slot_size);
	memcpy(addr, slot->addr, slot->len);
	*len = slot->len;
	return 0;
}

/* ---- address to index ---------------------------------------------------- */

/* Four bytes a slot, at most 85 % full, growing by half: 4.7 to 7 bytes an entry. */
#define INDEX_FIRST 64

static uint64_t hash_bytes(const unsigned char *p, size_t len)
{
	uint64_t h = len, w;

	for (; len >= sizeof(w); p += sizeof(w), len -= sizeof(w)) {
		memcpy(&w, p, sizeof(w));
		h = hmap_hash(h ^ w);
	}
	w = 0;
	memcpy(&w, p, len);
	return hmap_hash(h ^ w);
}



/* Of an IPv4 address the padding of the sockaddr is not compared. */
static bool slot_matches(const struct obj_av *av, uint32_t i, const void *addr, size_t len)
{
	const struct sockaddr_in *sin = addr;
	const struct obj_av_slot *slot;
	const union obj_av_ip4 *e;

	if (av->ip4) {
		e = obj_av_slot(av, i, sizeof(*e));
		return e->addr == sin->sin_addr.s_addr && e->port == sin->sin_port;
	}
	slot = obj_av_slot(av, i, av->slot_size);
	return slot->len == len && !memcmp(slot->addr, addr, len);
}

static uint32_t hash_home(const struct obj_av *av, const void *addr, size_t len)
{
	/* never the padding of a sockaddr */
	size_t key_len = av->ip4 ? offsetof(struct sockaddr_in, sin_zero) : len;
	uint32_t h = (uint32_t) hash_bytes(addr, key_len);

	return (uint32_t) ((uint64_t) h * av->index_size >> 32);
}

static uint32_t next_slot(const struct obj_av *av, uint32_t s)
{
	return s + 1 == av->index_size ? 0 : s + 1;
}

/* The slot that holds @addr, or the empty one where it would go. */
static uint32_t *index_slot(const struct obj_av *av, const void *addr, size_t len)
{
	uint32_t s = hash_home(av, addr, len);

	while (av->index[s] && !slot_matches(av, av->index[s] - 1, addr, len))
		s = next_slot(av, s);
	return &av->index[s];
}

static void index_add(struct obj_av *av, uint32_t i, const void *addr, size_t len)
{
	uint32_t *slot = index_slot(av, addr, len), other;

	if (!*slot) {
		*slot = i + 1;
		av->index_used++;
		return;
	}
	/* The index names the lowest; the others are found by a search, once it goes. */
	other = *slot - 1;
	if (i < other)
		*slot = i + 1;
	*slot_flags(av, i) |= OBJ_AV_DUP;
	*slot_flags(av, other) |= OBJ_AV_DUP;
}

/* Entries are added by rising number, so that the index names the lowest of equal ones. */
static int index_build(struct obj_av *av, uint32_t size)
{
	uint32_t *fresh = calloc(size, sizeof(*fresh)), i, top = atomic_load(&av->top);
	_Alignas(8) char addr[OBJ_ADDR_MAX];
	size_t len;

	if (!fresh)
		return -FI_ENOMEM;
	free(av->index);
	av->index = fresh;
	av->index_size = size;
	av->index_used = 0;
	for (i = 0; i < top; i++)
		if (!av_table_get(av, i, addr, &len))
			index_add(av, i, addr, len);
	return 0;
}

static int index_room(struct obj_av *av, uint32_t used)
{
	uint64_t size = av->index_size ? av->index_size : INDEX_FIRST;

	while ((uint64_t) used * 20 > size * 17)
		size += size / 2;
	if (size == av->index_size)
		return 0;
	return size > UINT32_MAX ? -FI_ENOMEM : index_build(av, (uint32_t) size);
}

/* Take slot @s out and move back each follower that may not stay behind it. */
static void index_close_hole(struct obj_av *av, uint32_t s)
{
	_Alignas(8) char addr[OBJ_ADDR_MAX];
	uint32_t t, home, dist_home, dist_hole;
	size_t len;

	for (t = next_slot(av, s); av->index[t]; t = next_slot(av, t)) {
		av_table_get(av, av->index[t] - 1, addr, &len);
		home = hash_home(av, addr, len);
		dist_home = t >= home ? t - home : t + av->index_size - home;
		dist_hole = t >= s ? t - s : t + av->index_size - s;
		if (dist_home < dist_hole)
			continue;
		av->index[s] = av->index[t];
		s = t;
	}
	av->index[s] = 0;
	av->index_used--;
}

static uint32_t table_search(const struct obj_av *av, uint32_t from, const void *addr, size_t len)
{
	uint32_t top = atomic_load(&av->top);

	for (; from < top; from++)
		if (av_table_live(av, from) && slot_matches(av, from, addr, len))
			return from;
	return UINT32_MAX;
}

static void index_del(struct obj_av *av, uint32_t i)
{
	_Alignas(8) char addr[OBJ_ADDR_MAX];
	uint32_t *slot, next;
	size_t len;

	av_table_get(av, i, addr, &len);
	slot = index_slot(av, addr, len);
	if (*slot != i + 1)
		return;			/* a duplicate that the index never named */
	next = *slot_flags(av, i) & OBJ_AV_DUP ? table_search(av, i + 1, addr, len) : UINT32_MAX;
	if (next != UINT32_MAX)
		*slot = next + 1;
	else
		index_close_hole(av, (uint32_t) (slot - av->index));
}

uint32_t av_table_find(struct obj_av *av, const void *addr, size_t len)
{
	/* Other processes change a shared table: an index here would grow stale. */
	if (av->shared || index_room(av, av->index ? av->index_used : av->live))
		return table_search(av, 0, addr, len);
	return *index_slot(av, addr, len) - 1;	/* an empty slot gives UINT32_MAX */
}

/* ---- changing ------------------------------------------------------------ */

/* No entry below @free_hint is free. */
static uint32_t lowest_free(struct obj_av *av)
{
	uint32_t top = atomic_load(&av->top), i = av->free_hint;

	if (!av->free_cnt)
		return top;
	while (av_table_live(av, i))
		i++;
	return i;
}

/* The entry is stored before @top admits it, since readers take no lock. */
int av_table_put(struct obj_av *av, const void *addr, size_t len, uint32_t *i_p)
{
	uint32_t i = lowest_free(av), top = atomic_load(&av->top);
	int ret;

	if (i == UINT32_MAX)
		return -FI_ENOMEM;
	ret = table_grow(av, i);
	if (!ret && av->index)
		ret = index_room(av, av->index_used + 1);
	if (ret)
		return ret;
	slot_store(av, i, addr, len);
	if (i == top) {
		atomic_store_explicit(&av->top, top + 1, memory_order_release);
	} else {
		av->free_cnt--;
		av->free_hint = i + 1;
	}
	av->live++;
	if (av->index)
		index_add(av, i, addr, len);
	*i_p = i;
	return 0;
}

/* The index needs the address: it forgets the entry before that is cleared. */
void av_table_del(struct obj_av *av, uint32_t i)
{
	union obj_av_ip4 *ip4 = obj_av_slot(av, i, av->slot_size);

	if (av->index)
		index_del(av, i);
	if (av->ip4)
		__atomic_store_n(&ip4->word, 0, __ATOMIC_RELEASE);
	else
		((struct obj_av_slot *) ip4)->flags = 0;
	av->live--;
	if (i < av->free_hint || !av->free_cnt)
		av->free_hint = i;
	av->free_cnt++;
}

void av_table_free(struct obj_av *av)
{
	unsigned k;

	free(av->index);
	for (k = 0; !av->shared && k < OBJ_AV_CHUNKS; k++)
		free(av->chunks[k]);
}

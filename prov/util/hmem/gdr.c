/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * gdr.c - CUDA memory mapped into the process by gdrcopy (libgdrapi.so.2, libgdrapi.so): a copy
 * of a few bytes costs a few loads or stores, and no call of the driver.
 *
 * Reads through the mapping are slow, so only short copies go this way.
 */
#include <pthread.h>
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "hmem/kind.h"

/* What a GPU pins at a time. */
#define GPU_PAGE UINT64_C(65536)
#define MAP_MAX (UINT64_C(64) << 20)	/* of one region: the aperture is short */
#define TO_HOST_MAX 3072	/* longest copies */
#define TO_DEVICE_MAX 16384

struct gdr_handle {
	unsigned long h;
};

static struct {
	void *(*open)(void);
	int (*pin)(void *g, unsigned long addr, size_t len, uint64_t token, uint32_t space,
		   struct gdr_handle *handle);
	int (*unpin)(void *g, struct gdr_handle handle);
	int (*map)(void *g, struct gdr_handle handle, void **va, size_t len);
	int (*unmap)(void *g, struct gdr_handle handle, void *va, size_t len);
	int (*to)(struct gdr_handle handle, void *map, const void *buf, size_t len);
	int (*from)(struct gdr_handle handle, void *buf, const void *map, size_t len);
} gdr;

struct map {
	struct gdr_handle handle;
	uintptr_t start;		/* address of the device that @va maps */
	size_t len;
	char *va;
};

static void *g;
static size_t longest[2] = { [HMEM_TO_HOST] = TO_HOST_MAX, [HMEM_TO_DEVICE] = TO_DEVICE_MAX };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;	/* the library has none for these */

void hmem_gdr_limit(size_t most)
{
	longest[HMEM_TO_HOST] = longest[HMEM_TO_DEVICE] = most;
}

int hmem_gdr_start(char *why, size_t room)
{
	static const char *const names[] = { "libgdrapi.so.2", "libgdrapi.so", NULL };
	const struct hmem_func funcs[] = {
		{ "gdr_open", &gdr.open, false },
		{ "gdr_pin_buffer", &gdr.pin, false },
		{ "gdr_unpin_buffer", &gdr.unpin, false },
		{ "gdr_map", &gdr.map, false },
		{ "gdr_unmap", &gdr.unmap, false },
		{ "gdr_copy_to_mapping", &gdr.to, false },
		{ "gdr_copy_from_mapping", &gdr.from, false },
		{ NULL, NULL, false },
	};

	if (hmem_load(names, funcs, why, room))
		return -FI_ENOSYS;
	g = gdr.open();
	if (g)
		return 0;
	snprintf(why, room, "gdr_open fails: is the kernel module gdrdrv loaded?");
	return -FI_ENODEV;
}

void *hmem_gdr_map(const void *addr, size_t len)
{
	uintptr_t start = (uintptr_t) addr & ~(GPU_PAGE - 1);
	size_t whole = (((uintptr_t) addr + len + GPU_PAGE - 1) & ~(GPU_PAGE - 1)) - start;
	struct map *map;
	void *va = NULL;

	if (!len || whole > MAP_MAX || (!longest[HMEM_TO_HOST] && !longest[HMEM_TO_DEVICE]))
		return NULL;
	map = calloc(1, sizeof(*map));
	if (!map)
		return NULL;
	pthread_mutex_lock(&lock);
	if (gdr.pin(g, start, whole, 0, 0, &map->handle)) {
		free(map);
		map = NULL;
	} else if (gdr.map(g, map->handle, &va, whole)) {
		gdr.unpin(g, map->handle);
		free(map);
		map = NULL;
	}
	pthread_mutex_unlock(&lock);
	if (!map)
		return NULL;
	map->va = va;
	map->start = start;
	map->len = whole;
	return map;
}

void hmem_gdr_unmap(void *arg)
{
	struct map *map = arg;

	pthread_mutex_lock(&lock);
	gdr.unmap(g, map->handle, map->va, map->len);
	gdr.unpin(g, map->handle);
	pthread_mutex_unlock(&lock);
	free(map);
}

int hmem_gdr_copy(enum hmem_dir dir, const struct hmem_loc *loc, void *dev, void *buf, size_t len)
{
	struct map *map = loc->map;
	uintptr_t off = (uintptr_t) dev - map->start;

	if (len > longest[dir] || off > map->len ||
	    len > map->len - off)
		return 0;
	hmem_cuda_settle(loc);
	return dir == HMEM_TO_HOST ? !gdr.from(map->handle, buf, map->va + off, len) :
				     !gdr.to(map->handle, map->va + off, buf, len);
}

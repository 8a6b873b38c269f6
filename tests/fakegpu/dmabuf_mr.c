/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * dmabuf_mr.c - libdmabuf_mr.so, for LD_PRELOAD: RDMA devices in software take dma-bufs.
 *
 * Drivers in software register no dma-bufs.  The dma-bufs of these fakes are memory that a process
 * can map, so a mapping of it is registered in their place, at the address that was asked for; the
 * driver of the kernel then reads and writes the device's memory by itself.  The program finds
 * the functions of libibverbs by dlsym(), which answers with those here.  The C library's own
 * dlsym() is found by its version, thus with glibc alone.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dev.h"

struct pd;
struct mr;

struct map {
	struct map *next;
	struct mr *mr;
	void *at;
	size_t len;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct map *maps;
static struct mr *(*reg_iova)(struct pd *pd, void *addr, size_t len, uint64_t iova, int access);
static int (*dereg)(struct mr *mr);

static void keep(struct map *map, struct mr *mr)
{
	map->mr = mr;
	pthread_mutex_lock(&lock);
	map->next = maps;
	maps = map;
	pthread_mutex_unlock(&lock);
}

static struct mr *reg_dmabuf_mr(struct pd *pd, uint64_t offset, size_t len, uint64_t iova, int fd,
				int access)
{
	uint64_t skip = offset % (uint64_t) sysconf(_SC_PAGESIZE);
	struct map *map;
	struct mr *mr;

	if (fd < 0) {
		errno = EBADF;
		return NULL;
	}
	map = calloc(1, sizeof(*map));
	map->len = len + skip;
	map->at = mmap(NULL, map->len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t) (offset - skip));
	mr = map->at == MAP_FAILED ? NULL : reg_iova(pd, (char *) map->at + skip, len, iova, access);
	if (mr) {
		keep(map, mr);
		return mr;
	}
	if (map->at != MAP_FAILED)
		munmap(map->at, map->len);
	free(map);
	return NULL;
}

static struct map *take(const struct mr *mr)
{
	struct map **at, *map;

	pthread_mutex_lock(&lock);
	for (at = &maps; *at && (*at)->mr != mr; at = &(*at)->next)
		;
	map = *at;
	if (map)
		*at = map->next;
	pthread_mutex_unlock(&lock);
	return map;
}

static int dereg_mr(struct mr *mr)
{
	struct map *map = take(mr);
	int ret = dereg(mr);

	if (map)
		munmap(map->at, map->len);
	free(map);
	return ret;
}

static void *find(void *lib, const char *name)
{
	static void *(*real)(void *lib, const char *name);

#ifdef __GLIBC__
	if (!real) {
		void *sym = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");

		if (!sym)
			sym = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
		memcpy(&real, &sym, sizeof(real));
	}
#endif
	return real ? real(lib, name) : NULL;
}

DEV_API void *dlsym(void *restrict lib, const char *restrict name)
{
	void *sym = NULL;

	if (!strcmp(name, "ibv_reg_dmabuf_mr")) {
		sym = find(lib, "ibv_reg_mr_iova");
		memcpy(&reg_iova, &sym, sizeof(reg_iova));
		return sym ? (void *) (uintptr_t) reg_dmabuf_mr : NULL;
	}
	sym = find(lib, name);
	if (sym && !strcmp(name, "ibv_dereg_mr")) {
		memcpy(&dereg, &sym, sizeof(dereg));
		return (void *) (uintptr_t) dereg_mr;
	}
	return sym;
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* gdr.c - libgdrapi.so.2 over the fake of libcuda. */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dev.h"

struct handle {
	unsigned long h;
};

struct pinned {
	unsigned long addr;
	size_t len;
	char *alias;
};

static void *(*alias_of)(uint64_t at, size_t len);
static unsigned long copies;

DEV_API void *gdr_open(void);
DEV_API void *gdr_open(void)
{
	void *lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD), *sym;

	if (!lib || dev_fails("gdr_open"))
		return NULL;
	sym = dlsym(lib, "fakegpu_alias");
	memcpy(&alias_of, &sym, sizeof(sym));
	return sym ? &copies : NULL;
}

DEV_API int gdr_close(void *g);
DEV_API int gdr_close(void *g)
{
	return g ? 0 : EINVAL;
}

DEV_API int gdr_pin_buffer(void *g, unsigned long addr, size_t len, uint64_t token, uint32_t space,
			   struct handle *out);
DEV_API int gdr_pin_buffer(void *g, unsigned long addr, size_t len, uint64_t token, uint32_t space,
			   struct handle *out)
{
	struct pinned *p;
	char *alias;

	(void) token;
	(void) space;
	if (dev_fails("gdr_pin_buffer"))
		return ENOMEM;
	alias = g && !(addr % DEV_PAGE) ? alias_of(addr, len) : NULL;
	if (!alias)
		return EINVAL;
	p = calloc(1, sizeof(*p));
	*p = (struct pinned) { addr, len, alias };
	out->h = (uintptr_t) p;
	return 0;
}

DEV_API int gdr_unpin_buffer(void *g, struct handle handle);
DEV_API int gdr_unpin_buffer(void *g, struct handle handle)
{
	(void) g;
	free((void *) handle.h);
	return 0;
}

/* The mapping is not to be touched but by the copies of this library. */
DEV_API int gdr_map(void *g, struct handle handle, void **va, size_t len);
DEV_API int gdr_map(void *g, struct handle handle, void **va, size_t len)
{
	struct pinned *p = (void *) handle.h;

	(void) g;
	if (dev_fails("gdr_map"))
		return ENOMEM;
	*va = (void *) p->addr;
	return len <= p->len ? 0 : EINVAL;
}

DEV_API int gdr_unmap(void *g, struct handle handle, void *va, size_t len);
DEV_API int gdr_unmap(void *g, struct handle handle, void *va, size_t len)
{
	(void) g;
	(void) len;
	return va == (void *) ((struct pinned *) handle.h)->addr ? 0 : EINVAL;
}

DEV_API int gdr_copy_to_mapping(struct handle handle, void *map, const void *buf, size_t len);
DEV_API int gdr_copy_to_mapping(struct handle handle, void *map, const void *buf, size_t len)
{
	struct pinned *p = (void *) handle.h;

	if (dev_fails("gdr_copy_to_mapping"))
		return EIO;
	__atomic_add_fetch(&copies, 1, __ATOMIC_RELAXED);
	memcpy(p->alias + ((unsigned long) map - p->addr), buf, len);
	return 0;
}

DEV_API int gdr_copy_from_mapping(struct handle handle, void *buf, const void *map, size_t len);
DEV_API int gdr_copy_from_mapping(struct handle handle, void *buf, const void *map, size_t len)
{
	struct pinned *p = (void *) handle.h;

	if (dev_fails("gdr_copy_from_mapping"))
		return EIO;
	__atomic_add_fetch(&copies, 1, __ATOMIC_RELAXED);
	memcpy(buf, p->alias + ((unsigned long) map - p->addr), len);
	return 0;
}

/* fakegpu_gdr_copies - how many there were. */
DEV_API unsigned long fakegpu_gdr_copies(void);
DEV_API unsigned long fakegpu_gdr_copies(void)
{
	return __atomic_load_n(&copies, __ATOMIC_RELAXED);
}

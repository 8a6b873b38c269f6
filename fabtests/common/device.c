/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "device.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One kind of device. */
struct kind {
	const char *word;
	enum fi_hmem_iface iface;
	const char *lib[3];
	const char *(*open)(int number);
	void *(*alloc)(size_t len);
	void (*free)(void *at);
	bool (*put)(void *to, const void *from, size_t len);
	bool (*get)(void *to, const void *from, size_t len);
};

static const struct kind *kind;
static int device;
static void *lib;

/* call_of - the function @name of the library, which is there once open() has succeeded. */
static void *call_of(const char *name)
{
	return dlsym(lib, name);
}

#define CALL(type, name) ((type) (uintptr_t) call_of(name))

/* missing_call - the first of @names, up to NULL, that the library has not. */
static const char *missing_call(const char *const *names)
{
	for (; *names; names++)
		if (!call_of(*names))
			return *names;
	return NULL;
}

/* What is allocated: a program of the suite has a few buffers. */
#define BUFS_MAX 256

static struct {
	char *at;
	size_t len;
} bufs[BUFS_MAX];

static size_t length_of(const void *at)
{
	size_t i;

	for (i = 0; i < BUFS_MAX; i++)
		if (bufs[i].at == at)
			return bufs[i].len;
	return 0;
}

/* ---- system -------------------------------------------------------------------------- */

static const char *sys_open(int number)
{
	return number ? "there is one system" : NULL;
}

static bool sys_copy(void *to, const void *from, size_t len)
{
	memcpy(to, from, len);
	return true;
}

/* ---- CUDA ------------------------------------------------------------------------------ */

typedef uint64_t cu_ptr;
static void *cu_ctx;

static const char *cuda_open(int number)
{
	static const char *const names[] = { "cuInit", "cuDeviceGet", "cuDevicePrimaryCtxRetain",
		"cuCtxPushCurrent_v2", "cuCtxPopCurrent_v2", "cuMemAlloc_v2", "cuMemFree_v2",
		"cuMemcpyHtoD_v2", "cuMemcpyDtoH_v2", NULL };
	int dev;

	if (missing_call(names))
		return missing_call(names);
	if (CALL(int (*)(unsigned), "cuInit")(0))
		return "cuInit fails";
	if (CALL(int (*)(int *, int), "cuDeviceGet")(&dev, number) ||
	    CALL(int (*)(void **, int), "cuDevicePrimaryCtxRetain")(&cu_ctx, dev))
		return "there is no such CUDA device";
	return NULL;
}

static void cuda_enter(void)
{
	CALL(int (*)(void *), "cuCtxPushCurrent_v2")(cu_ctx);
}

static void cuda_leave(void)
{
	void *ctx;

	CALL(int (*)(void **), "cuCtxPopCurrent_v2")(&ctx);
}

static void *cuda_alloc(size_t len)
{
	cu_ptr at = 0;

	cuda_enter();
	if (CALL(int (*)(cu_ptr *, size_t), "cuMemAlloc_v2")(&at, len))
		at = 0;
	cuda_leave();
	return (void *) (uintptr_t) at;
}

static void cuda_free(void *at)
{
	cuda_enter();
	CALL(int (*)(cu_ptr), "cuMemFree_v2")((uintptr_t) at);
	cuda_leave();
}

static bool cuda_put(void *to, const void *from, size_t len)
{
	int ret;

	cuda_enter();
	ret = CALL(int (*)(cu_ptr, const void *, size_t), "cuMemcpyHtoD_v2")((uintptr_t) to, from, len);
	cuda_leave();
	return !ret;
}

static bool cuda_get(void *to, const void *from, size_t len)
{
	int ret;

	cuda_enter();
	ret = CALL(int (*)(void *, cu_ptr, size_t), "cuMemcpyDtoH_v2")(to, (uintptr_t) from, len);
	cuda_leave();
	return !ret;
}

/* Memory of two handles side by side, as allocators that grow their segments have it; a handle
 * may be released once it is mapped.
 */
static const char *cuda_map_open(int number)
{
	static const char *const names[] = { "cuMemGetAllocationGranularity", "cuMemAddressReserve",
		"cuMemAddressFree", "cuMemCreate", "cuMemMap", "cuMemSetAccess", "cuMemUnmap",
		"cuMemRelease", NULL };

	return missing_call(names) ? missing_call(names) : cuda_open(number);
}

/* half - of an allocation of @len bytes: what one handle has. */
static size_t cuda_half(size_t len)
{
	int prop[8] = { 1, 0, 1, device };
	size_t page = 0;

	if (CALL(int (*)(size_t *, int *, int), "cuMemGetAllocationGranularity")(&page, prop, 0) || !page)
		return 0;
	return ((len + 1) / 2 + page - 1) / page * page;
}

static bool cuda_map_one(cu_ptr at, size_t len)
{
	int prop[8] = { 1, 0, 1, device }, access[3] = { 1, device, 3 };
	unsigned long long handle;
	bool ok;

	if (CALL(int (*)(unsigned long long *, size_t, int *, unsigned long long), "cuMemCreate")
	    (&handle, len, prop, 0))
		return false;
	ok = !CALL(int (*)(cu_ptr, size_t, size_t, unsigned long long, unsigned long long), "cuMemMap")
	     (at, len, 0, handle, 0) &&
	     !CALL(int (*)(cu_ptr, size_t, int *, size_t), "cuMemSetAccess")(at, len, access, 1);
	CALL(int (*)(unsigned long long), "cuMemRelease")(handle);
	return ok;
}

static void *cuda_map_alloc(size_t len)
{
	size_t half = cuda_half(len);
	cu_ptr at = 0;

	if (!half || CALL(int (*)(cu_ptr *, size_t, size_t, cu_ptr, unsigned long long),
			  "cuMemAddressReserve")(&at, 2 * half, 0, 0, 0))
		return NULL;
	return cuda_map_one(at, half) && cuda_map_one(at + half, half) ? (void *) (uintptr_t) at : NULL;
}

static void cuda_map_free(void *at)
{
	size_t all = 2 * cuda_half(length_of(at));

	CALL(int (*)(cu_ptr, size_t), "cuMemUnmap")((uintptr_t) at, all);
	CALL(int (*)(cu_ptr, size_t), "cuMemAddressFree")((uintptr_t) at, all);
}

static const char *cuda_pool_open(int number)
{
	static const char *const names[] = { "cuMemAllocAsync", "cuMemFreeAsync", "cuStreamSynchronize", NULL };

	return missing_call(names) ? missing_call(names) : cuda_open(number);
}

/* Of the pool of the device, in the order of the default stream. */
static void *cuda_pool_alloc(size_t len)
{
	cu_ptr at = 0;

	cuda_enter();
	if (CALL(int (*)(cu_ptr *, size_t, void *), "cuMemAllocAsync")(&at, len, NULL) ||
	    CALL(int (*)(void *), "cuStreamSynchronize")(NULL))
		at = 0;
	cuda_leave();
	return (void *) (uintptr_t) at;
}

static void cuda_pool_free(void *at)
{
	cuda_enter();
	CALL(int (*)(cu_ptr, void *), "cuMemFreeAsync")((uintptr_t) at, NULL);
	CALL(int (*)(void *), "cuStreamSynchronize")(NULL);
	cuda_leave();
}

static const char *cuda_managed_open(int number)
{
	return call_of("cuMemAllocManaged") ? cuda_open(number) : "cuMemAllocManaged";
}

/* Attached to all streams of all devices. */
static void *cuda_managed_alloc(size_t len)
{
	cu_ptr at = 0;

	cuda_enter();
	if (CALL(int (*)(cu_ptr *, size_t, unsigned), "cuMemAllocManaged")(&at, len, 1))
		at = 0;
	cuda_leave();
	return (void *) (uintptr_t) at;
}

/* ---- ROCr -------------------------------------------------------------------------------- */

struct hsa {
	uint64_t handle;
};
static struct hsa hsa_pool;
static int hsa_skip;

/* The pool of device memory: of the global segment (0), coarse-grained (flag 4). */
static int hsa_on_pool(struct hsa pool, void *arg)
{
	unsigned segment = 1, flags = 0;
	int (*info)(struct hsa, int, void *) = CALL(int (*)(struct hsa, int, void *),
						    "hsa_amd_memory_pool_get_info");

	(void) arg;
	if (!info(pool, 0, &segment) && !segment && !info(pool, 1, &flags) && (flags & 4) &&
	    !hsa_pool.handle)
		hsa_pool = pool;
	return 0;
}

static int hsa_on_agent(struct hsa agent, void *arg)
{
	unsigned type = 0;

	(void) arg;
	if (CALL(int (*)(struct hsa, int, void *), "hsa_agent_get_info")(agent, 17, &type) || type != 1)
		return 0;
	if (!hsa_skip--)
		CALL(int (*)(struct hsa, int (*)(struct hsa, void *), void *),
		     "hsa_amd_agent_iterate_memory_pools")(agent, hsa_on_pool, NULL);
	return 0;
}

static const char *rocr_open(int number)
{
	static const char *const names[] = { "hsa_init", "hsa_iterate_agents", "hsa_agent_get_info",
		"hsa_amd_agent_iterate_memory_pools", "hsa_amd_memory_pool_get_info",
		"hsa_amd_memory_pool_allocate", "hsa_amd_memory_pool_free", "hsa_memory_copy", NULL };

	if (missing_call(names))
		return missing_call(names);
	if (CALL(int (*)(void), "hsa_init")())
		return "hsa_init fails";
	hsa_skip = number;
	hsa_pool.handle = 0;
	CALL(int (*)(int (*)(struct hsa, void *), void *), "hsa_iterate_agents")(hsa_on_agent, NULL);
	return hsa_pool.handle ? NULL : "there is no such ROCr device";
}

static void *rocr_alloc(size_t len)
{
	void *at = NULL;

	return CALL(int (*)(struct hsa, size_t, uint32_t, void **),
		    "hsa_amd_memory_pool_allocate")(hsa_pool, len, 0, &at) ? NULL : at;
}

static void rocr_free(void *at)
{
	CALL(int (*)(void *), "hsa_amd_memory_pool_free")(at);
}

static bool rocr_copy(void *to, const void *from, size_t len)
{
	return !CALL(int (*)(void *, const void *, size_t), "hsa_memory_copy")(to, from, len);
}

/* ---- Level Zero ---------------------------------------------------------------------------- */

struct ze_head {
	unsigned type;
	const void *next;
	uint32_t rest[8];	/* of any descriptor that is all zero but for its type */
};
static void *ze_ctx, *ze_dev, *ze_list;

static const char *ze_open(int number)
{
	static const char *const names[] = { "zeInit", "zeDriverGet", "zeDeviceGet", "zeContextCreate",
		"zeCommandListCreateImmediate", "zeCommandListAppendMemoryCopy", "zeMemAllocDevice",
		"zeMemFree", NULL };
	struct ze_head ctx = { .type = 0x0d }, queue = { .type = 0x0e };
	uint32_t cnt = 1;
	void *driver, *devs[32];

	if (missing_call(names))
		return missing_call(names);
	if (CALL(unsigned (*)(unsigned), "zeInit")(0) ||
	    CALL(unsigned (*)(uint32_t *, void **), "zeDriverGet")(&cnt, &driver))
		return "zeInit fails";
	cnt = 32;
	if (CALL(unsigned (*)(void *, uint32_t *, void **), "zeDeviceGet")(driver, &cnt, devs) ||
	    number < 0 || (uint32_t) number >= cnt)
		return "there is no such Level Zero device";
	ze_dev = devs[number];
	queue.rest[3] = 1;	/* mode: synchronous */
	if (CALL(unsigned (*)(void *, struct ze_head *, void **), "zeContextCreate")
	    (driver, &ctx, &ze_ctx) ||
	    CALL(unsigned (*)(void *, void *, struct ze_head *, void **),
		 "zeCommandListCreateImmediate")(ze_ctx, ze_dev, &queue, &ze_list))
		return "zeContextCreate or zeCommandListCreateImmediate fails";
	return NULL;
}

static void *ze_alloc(size_t len)
{
	struct ze_head desc = { .type = 0x15 };
	void *at = NULL;

	return CALL(unsigned (*)(void *, struct ze_head *, size_t, size_t, void *, void **),
		    "zeMemAllocDevice")(ze_ctx, &desc, len, 64, ze_dev, &at) ? NULL : at;
}

static void ze_free(void *at)
{
	CALL(unsigned (*)(void *, void *), "zeMemFree")(ze_ctx, at);
}

static bool ze_copy(void *to, const void *from, size_t len)
{
	return !CALL(unsigned (*)(void *, void *, const void *, size_t, void *, uint32_t, void **),
		     "zeCommandListAppendMemoryCopy")(ze_list, to, from, len, NULL, 0, NULL);
}

/* ---- all ------------------------------------------------------------------------------------- */

static const struct kind kinds[] = {
	{ "system", FI_HMEM_SYSTEM, { NULL }, sys_open, malloc, free, sys_copy, sys_copy },
	{ "cuda", FI_HMEM_CUDA, { "libcuda.so.1", "libcuda.so" }, cuda_open, cuda_alloc, cuda_free,
	  cuda_put, cuda_get },
	{ "cuda-map", FI_HMEM_CUDA, { "libcuda.so.1", "libcuda.so" }, cuda_map_open, cuda_map_alloc,
	  cuda_map_free, cuda_put, cuda_get },
	{ "cuda-pool", FI_HMEM_CUDA, { "libcuda.so.1", "libcuda.so" }, cuda_pool_open, cuda_pool_alloc,
	  cuda_pool_free, cuda_put, cuda_get },
	{ "cuda-managed", FI_HMEM_CUDA, { "libcuda.so.1", "libcuda.so" }, cuda_managed_open,
	  cuda_managed_alloc, cuda_free, cuda_put, cuda_get },
	{ "rocr", FI_HMEM_ROCR, { "libhsa-runtime64.so.1", "libhsa-runtime64.so" }, rocr_open,
	  rocr_alloc, rocr_free, rocr_copy, rocr_copy },
	{ "ze", FI_HMEM_ZE, { "libze_loader.so.1", "libze_loader.so" }, ze_open, ze_alloc, ze_free,
	  ze_copy, ze_copy },
};

const char *device_open(const char *word, int number)
{
	const struct kind *k = NULL;
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kinds[i].word, word))
			k = &kinds[i];
	if (!k)
		return "there is no such kind of device: system, cuda, cuda-map, cuda-pool, cuda-managed, "
		       "rocr, ze";
	lib = NULL;
	for (i = 0; k->lib[i] && !lib; i++)
		lib = dlopen(k->lib[i], RTLD_NOW | RTLD_LOCAL);
	if (k->lib[0] && !lib)
		return dlerror();
	kind = k;
	device = number;
	return k->open(number);
}

enum fi_hmem_iface device_iface(void)
{
	return kind ? kind->iface : FI_HMEM_SYSTEM;
}

/* The members of the union share their place, and driver 0 of Level Zero adds nothing to the
 * number; headers of version 1 do not have a member for each kind.
 */
void device_attr(struct fi_mr_attr *attr)
{
	attr->iface = device_iface();
	if (attr->iface != FI_HMEM_SYSTEM)
		attr->device.cuda = device;
}

static void buf_enter(char *at, size_t len, const void *was)
{
	size_t i;

	for (i = 0; i < BUFS_MAX && bufs[i].at != was; i++)
		;
	if (i < BUFS_MAX) {
		bufs[i].at = at;
		bufs[i].len = len;
	}
}

void *device_alloc(size_t len)
{
	void *at = kind->alloc(len);

	if (at && kind->iface != FI_HMEM_SYSTEM)
		buf_enter(at, len, NULL);
	return at;
}

void device_free(void *at)
{
	if (!at)
		return;
	kind->free(at);
	buf_enter(NULL, 0, at);
}

bool device_holds(const void *at)
{
	size_t i;

	for (i = 0; i < BUFS_MAX; i++)
		if ((uintptr_t) at - (uintptr_t) bufs[i].at < bufs[i].len)
			return true;
	return false;
}

bool device_put(void *to, const void *from, size_t len)
{
	return !len || kind->put(to, from, len);
}

bool device_get(void *to, const void *from, size_t len)
{
	return !len || kind->get(to, from, len);
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* cuda.c - libcuda.so.1: what prov/util/hmem and the functional suite call. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "dev.h"

typedef int res;
typedef uint64_t ptr;

#define API DEV_API res
#define PLAN(name) do { if (dev_fails(name)) return 719; } while (0)

enum { OK = 0, INVALID = 1, NO_MEMORY = 2, NOT_INIT = 3, NO_DEVICE = 100, BAD_DEVICE = 101,
       BAD_CONTEXT = 201, NOT_FOUND = 500, NOT_READY = 600, ILLEGAL_ADDRESS = 700, LAUNCH_FAILED = 719,
       NOT_SUPPORTED = 801, CAPTURE_UNSUPPORTED = 900, CAPTURE_IMPLICIT = 906 };

#define DEVICES 16

struct ctx {
	int device;
	bool active;
};
static struct ctx primaries[DEVICES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool ready;

static __thread struct ctx *stack[16];
static __thread int depth;

static struct ctx *current(void)
{
	return depth ? stack[depth - 1] : NULL;
}

/* ---- devices and contexts ----------------------------------------------------------- */

API cuInit(unsigned flags);
API cuInit(unsigned flags)
{
	int i;

	PLAN("cuInit");
	if (flags)
		return INVALID;
	if (dev_count() <= 0)
		return NO_DEVICE;
	for (i = 0; i < DEVICES; i++)
		primaries[i].device = i;
	ready = true;
	return OK;
}

API cuDriverGetVersion(int *version);
API cuDriverGetVersion(int *version)
{
	*version = 12040;
	return OK;
}

API cuDeviceGetCount(int *cnt);
API cuDeviceGetCount(int *cnt)
{
	PLAN("cuDeviceGetCount");
	*cnt = dev_count();
	return ready ? OK : NOT_INIT;
}

API cuDeviceGet(int *dev, int ordinal);
API cuDeviceGet(int *dev, int ordinal)
{
	PLAN("cuDeviceGet");
	if (ordinal < 0 || ordinal >= dev_count())
		return BAD_DEVICE;
	*dev = ordinal;
	return ready ? OK : NOT_INIT;
}

API cuDevicePrimaryCtxRetain(void **ctx, int dev);
API cuDevicePrimaryCtxRetain(void **ctx, int dev)
{
	PLAN("cuDevicePrimaryCtxRetain");
	if (dev < 0 || dev >= dev_count())
		return BAD_DEVICE;
	pthread_mutex_lock(&lock);
	primaries[dev].active = true;
	pthread_mutex_unlock(&lock);
	*ctx = &primaries[dev];
	return OK;
}

API cuDevicePrimaryCtxRelease_v2(int dev);
API cuDevicePrimaryCtxRelease_v2(int dev)
{
	return dev < 0 || dev >= dev_count() ? BAD_DEVICE : OK;
}

/* fakegpu_contexts - devices that have a context. */
DEV_API int fakegpu_contexts(void);
DEV_API int fakegpu_contexts(void)
{
	int i, cnt = 0;

	pthread_mutex_lock(&lock);
	for (i = 0; i < DEVICES; i++)
		cnt += primaries[i].active;
	pthread_mutex_unlock(&lock);
	return cnt;
}

API cuCtxPushCurrent_v2(void *ctx);
API cuCtxPushCurrent_v2(void *ctx)
{
	PLAN("cuCtxPushCurrent");
	if (!ctx || depth == 16)
		return BAD_CONTEXT;
	stack[depth++] = ctx;
	return OK;
}

API cuCtxPopCurrent_v2(void **ctx);
API cuCtxPopCurrent_v2(void **ctx)
{
	if (!depth)
		return BAD_CONTEXT;
	*ctx = stack[--depth];
	return OK;
}

API cuCtxSetCurrent(void *ctx);
API cuCtxSetCurrent(void *ctx)
{
	if (depth)
		stack[depth - 1] = ctx;
	else
		stack[depth++] = ctx;
	return OK;
}

API cuCtxGetCurrent(void **ctx);
API cuCtxGetCurrent(void **ctx)
{
	*ctx = current();
	return OK;
}

API cuGetErrorName(res code, const char **text);
API cuGetErrorName(res code, const char **text)
{
	static const struct { res code; const char *text; } names[] = {
		{ OK, "CUDA_SUCCESS" }, { INVALID, "CUDA_ERROR_INVALID_VALUE" },
		{ NO_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY" }, { NOT_INIT, "CUDA_ERROR_NOT_INITIALIZED" },
		{ NO_DEVICE, "CUDA_ERROR_NO_DEVICE" }, { BAD_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT" },
		{ ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS" },
		{ LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED" },
		{ NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED" },
	};
	size_t i;

	*text = NULL;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].code == code)
			*text = names[i].text;
	return *text ? OK : INVALID;
}

/* ---- memory ----------------------------------------------------------------------------- */

static struct dev_mem *mem_of(ptr at)
{
	return dev_find((void *) (uintptr_t) at);
}

/* Memory of cuMemMap() and of pools has no context. */
static bool loose(const struct dev_mem *mem)
{
	return mem->vmm || mem->pool;
}

/* What cuMemcpyHtoD() has left in the default stream, as the driver does with memory without a
 * context: other streams do not wait for it.
 */
struct late {
	struct late *next;
	ptr dst;
	size_t len;
	uint64_t due;		/* in ns */
	char data[];
};
static struct late *late_first, **late_last = &late_first;

#define LATE_MIN 1024		/* shorter ones are a part of the command */
#define LATE_NS 50000

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t) ts.tv_sec * 1000000000 + (uint64_t) ts.tv_nsec;
}

static bool leave_late(ptr dst, const void *src, size_t len)
{
	struct late *late = malloc(sizeof(*late) + len);

	if (!late)
		return false;
	*late = (struct late) { .dst = dst, .len = len, .due = now_ns() + LATE_NS };
	memcpy(late->data, src, len);
	pthread_mutex_lock(&lock);
	*late_last = late;
	late_last = &late->next;
	pthread_mutex_unlock(&lock);
	return true;
}

/* end_late - what is due, or all.  False: something is left. */
static bool end_late(bool all)
{
	struct late *late;

	pthread_mutex_lock(&lock);
	while ((late = late_first) && (all || late->due <= now_ns())) {
		late_first = late->next;
		if (!late_first)
			late_last = &late_first;
		dev_copy((void *) (uintptr_t) late->dst, late->data, late->len);
		free(late);
	}
	pthread_mutex_unlock(&lock);
	return !late;
}

/* fakegpu_kernel - from now on a kernel runs in the default stream, or it has ended. */
static volatile bool kernel;

DEV_API void fakegpu_kernel(unsigned long on);
DEV_API void fakegpu_kernel(unsigned long on)
{
	kernel = on != 0;
}

/* fakegpu_capture - from now on a thread captures a stream, for which calls of others matter: 1: one that
 * the default stream does not wait for, 2: one that it does; 0: none.
 * fakegpu_spoiled - has a call ended the capture?
 */
static volatile unsigned long capturing;
static volatile bool spoiled;
static __thread int capture_mode;

DEV_API void fakegpu_capture(unsigned long what);
DEV_API void fakegpu_capture(unsigned long what)
{
	capturing = what;
	spoiled = false;
}

DEV_API unsigned long fakegpu_spoiled(void);
DEV_API unsigned long fakegpu_spoiled(void)
{
	return spoiled;
}

API cuThreadExchangeStreamCaptureMode(int *mode);
API cuThreadExchangeStreamCaptureMode(int *mode)
{
	int was = capture_mode;

	capture_mode = *mode;
	*mode = was;
	return OK;
}

/* unsafe - may this thread not make a call that could belong to the capture? */
static bool unsafe(void)
{
	bool ret = capturing && !capture_mode;

	spoiled |= ret;
	return ret;
}

/* As a handle it is 1, also in threads that have one of their own. */
static bool default_stream(const void *stream)
{
	return (uintptr_t) stream <= 1;
}

API cuMemAlloc_v2(ptr *at, size_t len);
API cuMemAlloc_v2(ptr *at, size_t len)
{
	struct dev_mem *mem;

	PLAN("cuMemAlloc");
	if (!current())
		return BAD_CONTEXT;
	mem = dev_alloc(len, current()->device, DEV_DEVICE);
	*at = mem ? (uintptr_t) mem->va : 0;
	return mem ? OK : NO_MEMORY;
}

API cuMemAllocManaged(ptr *at, size_t len, unsigned flags);
API cuMemAllocManaged(ptr *at, size_t len, unsigned flags)
{
	struct dev_mem *mem;

	(void) flags;
	if (!current())
		return BAD_CONTEXT;
	mem = dev_alloc(len, current()->device, DEV_MANAGED);
	*at = mem ? (uintptr_t) mem->va : 0;
	return mem ? OK : NO_MEMORY;
}

API cuMemAllocAsync(ptr *at, size_t len, void *stream);
API cuMemAllocAsync(ptr *at, size_t len, void *stream)
{
	res ret = cuMemAlloc_v2(at, len);

	(void) stream;
	if (!ret)
		mem_of(*at)->pool = true;
	return ret;
}

API cuMemFree_v2(ptr at);
API cuMemFree_v2(ptr at)
{
	struct dev_mem *mem = mem_of(at);

	if (!mem || (uintptr_t) mem->va != at || mem->imported || mem->vmm)
		return INVALID;
	end_late(true);
	dev_drain();
	dev_free(mem);
	return OK;
}

API cuMemFreeAsync(ptr at, void *stream);
API cuMemFreeAsync(ptr at, void *stream)
{
	(void) stream;
	return cuMemFree_v2(at);
}

API cuPointerGetAttribute(void *val, int attr, ptr at);
API cuPointerGetAttribute(void *val, int attr, ptr at)
{
	struct dev_mem *mem = mem_of(at);

	PLAN("cuPointerGetAttribute");
	if (!mem)
		return INVALID;
	switch (attr) {
	case 1:		/* context */
		*(void **) val = loose(mem) ? NULL : &primaries[mem->device];
		return OK;
	case 2:
		*(unsigned *) val = mem->type == DEV_HOST ? 1 : 2;
		return OK;
	case 7:
		*(unsigned long long *) val = mem->id;
		return OK;
	case 8:
		*(unsigned *) val = mem->type == DEV_MANAGED;
		return OK;
	case 9:
		*(int *) val = mem->device;
		return OK;
	default:
		return INVALID;
	}
}

/* The one attribute that a program may set: synchronous copies.  Pools take and disregard it. */
API cuPointerSetAttribute(const void *val, int attr, ptr at);
API cuPointerSetAttribute(const void *val, int attr, ptr at)
{
	struct dev_mem *mem = mem_of(at);

	if (!mem || attr != 6 || *(const unsigned *) val != 1)
		return INVALID;
	return mem->vmm ? NOT_SUPPORTED : OK;
}

API cuMemGetAddressRange_v2(ptr *base, size_t *len, ptr at);
API cuMemGetAddressRange_v2(ptr *base, size_t *len, ptr at)
{
	struct dev_mem *mem = mem_of(at);

	PLAN("cuMemGetAddressRange");
	if (!current())
		return BAD_CONTEXT;
	if (!mem)
		return NOT_FOUND;
	*base = (uintptr_t) mem->va;
	*len = mem->len;
	return OK;
}

API cuMemHostRegister_v2(void *buf, size_t len, unsigned flags);
API cuMemHostRegister_v2(void *buf, size_t len, unsigned flags)
{
	(void) flags;
	PLAN("cuMemHostRegister");
	if (unsafe())
		return CAPTURE_UNSUPPORTED;
	return !current() ? BAD_CONTEXT : buf && len ? OK : INVALID;
}

API cuMemHostUnregister(void *buf);
API cuMemHostUnregister(void *buf)
{
	return buf ? OK : INVALID;
}

/* The device's address differs from the host's, as the interface allows, though no machine of today does. */
API cuMemHostAlloc(void **buf, size_t len, unsigned flags);
API cuMemHostAlloc(void **buf, size_t len, unsigned flags)
{
	struct dev_mem *mem;

	PLAN("cuMemHostAlloc");
	if (!current())
		return BAD_CONTEXT;
	if (!(flags & 2) || !len)
		return INVALID;
	mem = dev_alloc(len, -1, DEV_HOST);
	*buf = mem ? mem->va : NULL;
	return mem ? OK : NO_MEMORY;
}

API cuMemHostGetDevicePointer_v2(ptr *at, void *buf, unsigned flags);
API cuMemHostGetDevicePointer_v2(ptr *at, void *buf, unsigned flags)
{
	struct dev_mem *mem = dev_find(buf);

	PLAN("cuMemHostGetDevicePointer");
	if (!current())
		return BAD_CONTEXT;
	if (flags || !mem || mem->type != DEV_HOST)
		return INVALID;
	*at = (uintptr_t) mem->alias + (uintptr_t) ((char *) buf - mem->va);
	return OK;
}

API cuMemFreeHost(void *buf);
API cuMemFreeHost(void *buf)
{
	struct dev_mem *mem = dev_find(buf);

	if (!mem || mem->type != DEV_HOST || mem->va != buf)
		return INVALID;
	dev_free(mem);
	return OK;
}

/* ---- virtual memory management -------------------------------------------------------------- */

struct handle {
	int fd, device;
	size_t len;
};

API cuMemGetAllocationGranularity(size_t *size, const void *prop, int option);
API cuMemGetAllocationGranularity(size_t *size, const void *prop, int option)
{
	(void) prop;
	(void) option;
	*size = DEV_PAGE;
	return OK;
}

/* Of @prop: type, requested handle types, location type, location id. */
API cuMemCreate(unsigned long long *handle, size_t len, const int *prop, unsigned long long flags);
API cuMemCreate(unsigned long long *handle, size_t len, const int *prop, unsigned long long flags)
{
	struct handle *h;

	PLAN("cuMemCreate");
	if (flags || len % DEV_PAGE || prop[3] < 0 || prop[3] >= dev_count())
		return INVALID;
	h = calloc(1, sizeof(*h));
	h->fd = memfd_create("fakegpu-vmm", MFD_CLOEXEC);
	h->len = len;
	h->device = prop[3];
	if (h->fd < 0 || ftruncate(h->fd, (off_t) len)) {
		free(h);
		return NO_MEMORY;
	}
	*handle = (uintptr_t) h;
	return OK;
}

API cuMemRelease(unsigned long long handle);
API cuMemRelease(unsigned long long handle)
{
	struct handle *h = (void *) (uintptr_t) handle;

	close(h->fd);
	free(h);
	return OK;
}

API cuMemAddressReserve(ptr *at, size_t len, size_t align, ptr hint, unsigned long long flags);
API cuMemAddressReserve(ptr *at, size_t len, size_t align, ptr hint, unsigned long long flags)
{
	void *va = dev_reserve(len);

	(void) align;
	(void) hint;
	if (flags || !va)
		return NO_MEMORY;
	*at = (uintptr_t) va;
	return OK;
}

API cuMemAddressFree(ptr at, size_t len);
API cuMemAddressFree(ptr at, size_t len)
{
	munmap((void *) (uintptr_t) at, len);
	return OK;
}

API cuMemMap(ptr at, size_t len, size_t off, unsigned long long handle, unsigned long long flags);
API cuMemMap(ptr at, size_t len, size_t off, unsigned long long handle, unsigned long long flags)
{
	struct handle *h = (void *) (uintptr_t) handle;

	PLAN("cuMemMap");
	if (flags || off || len != h->len)
		return INVALID;
	return dev_map((char *) (uintptr_t) at, len, h->fd, h->device) ? OK : NO_MEMORY;
}

API cuMemSetAccess(ptr at, size_t len, const void *desc, size_t cnt);
API cuMemSetAccess(ptr at, size_t len, const void *desc, size_t cnt)
{
	(void) len;
	(void) desc;
	(void) cnt;
	return mem_of(at) ? OK : INVALID;
}

API cuMemUnmap(ptr at, size_t len);
API cuMemUnmap(ptr at, size_t len)
{
	struct dev_mem *mem;
	ptr end = at + len;

	end_late(true);
	dev_drain();
	for (; at < end; at += len) {
		mem = mem_of(at);
		if (!mem || !mem->vmm)
			return INVALID;
		len = mem->len;
		dev_free(mem);
	}
	return OK;
}

/* One piece of one allocation only. */
API cuMemGetHandleForAddressRange(void *handle, ptr at, size_t len, int type,
				  unsigned long long flags);
API cuMemGetHandleForAddressRange(void *handle, ptr at, size_t len, int type,
				  unsigned long long flags)
{
	struct dev_mem *mem = mem_of(at);

	PLAN("cuMemGetHandleForAddressRange");
	if (!mem || type != 1 || flags || (uintptr_t) mem->va != at || len > mem->len)
		return mem && type == 1 ? NOT_SUPPORTED : INVALID;
	*(int *) handle = dup(mem->fd);
	return OK;
}

/* ---- copies ------------------------------------------------------------------------------------ */

static void *host_of(ptr at)
{
	return (void *) (uintptr_t) at;
}

static res copy(void *dst, const void *src, size_t len)
{
	if (!current())
		return BAD_CONTEXT;
	return dev_copy(dst, src, len) ? OK : ILLEGAL_ADDRESS;
}

API cuMemcpyHtoD_v2(ptr dst, const void *src, size_t len);
API cuMemcpyHtoD_v2(ptr dst, const void *src, size_t len)
{
	struct dev_mem *mem = mem_of(dst);

	PLAN("cuMemcpyHtoD");
	if (!mem)
		return INVALID;
	if (current() && loose(mem) && len >= LATE_MIN && leave_late(dst, src, len))
		return OK;
	end_late(true);
	return copy(host_of(dst), src, len);
}

API cuMemcpyDtoH_v2(void *dst, ptr src, size_t len);
API cuMemcpyDtoH_v2(void *dst, ptr src, size_t len)
{
	PLAN("cuMemcpyDtoH");
	end_late(true);
	return mem_of(src) ? copy(dst, host_of(src), len) : INVALID;
}

API cuMemcpy(ptr dst, ptr src, size_t len);
API cuMemcpy(ptr dst, ptr src, size_t len)
{
	PLAN("cuMemcpy");
	end_late(true);
	return copy(host_of(dst), host_of(src), len);
}

API cuMemsetD8_v2(ptr dst, unsigned char val, size_t len);
API cuMemsetD8_v2(ptr dst, unsigned char val, size_t len)
{
	end_late(true);
	return dev_set(host_of(dst), val, len) ? OK : INVALID;
}

/* ---- streams and events: there is one engine, so a stream has no state but its last error --------- */

struct stream {
	struct dev_event mark;
	unsigned bad;
};

struct event {
	struct dev_event ev;
	bool recorded;
};

/* Copies that no caller waits for by themselves; freed when the stream is synchronized next. */
struct pending {
	struct pending *next;
	struct dev_event ev;
};
static struct pending *pendings;

static struct dev_event *new_pending(void)
{
	struct pending *p = calloc(1, sizeof(*p));

	pthread_mutex_lock(&lock);
	p->next = pendings;
	pendings = p;
	pthread_mutex_unlock(&lock);
	return &p->ev;
}

static bool reap(void)
{
	struct pending **at, *p;
	bool ok = true;
	int state;

	pthread_mutex_lock(&lock);
	for (at = &pendings; (p = *at); ) {
		state = dev_event_state(&p->ev);
		if (!state) {
			at = &p->next;
			continue;
		}
		ok = ok && state == 1;
		*at = p->next;
		free(p);
	}
	pthread_mutex_unlock(&lock);
	return ok;
}

API cuStreamCreate(void **stream, unsigned flags);
API cuStreamCreate(void **stream, unsigned flags)
{
	(void) flags;
	PLAN("cuStreamCreate");
	if (!current())
		return BAD_CONTEXT;
	*stream = calloc(1, sizeof(struct stream));
	return OK;
}

API cuStreamDestroy_v2(void *stream);
API cuStreamDestroy_v2(void *stream)
{
	free(stream);
	return OK;
}

static res start(void *dst, const void *src, size_t len)
{
	if (!current())
		return BAD_CONTEXT;
	reap();
	dev_copy_start(dst, src, len, new_pending());
	return OK;
}

API cuMemcpyHtoDAsync_v2(ptr dst, const void *src, size_t len, void *stream);
API cuMemcpyHtoDAsync_v2(ptr dst, const void *src, size_t len, void *stream)
{
	(void) stream;
	PLAN("cuMemcpyHtoDAsync");
	return mem_of(dst) ? start(host_of(dst), src, len) : INVALID;
}

API cuMemcpyDtoHAsync_v2(void *dst, ptr src, size_t len, void *stream);
API cuMemcpyDtoHAsync_v2(void *dst, ptr src, size_t len, void *stream)
{
	(void) stream;
	PLAN("cuMemcpyDtoHAsync");
	return mem_of(src) ? start(dst, host_of(src), len) : INVALID;
}

API cuMemcpyAsync(ptr dst, ptr src, size_t len, void *stream);
API cuMemcpyAsync(ptr dst, ptr src, size_t len, void *stream)
{
	(void) stream;
	PLAN("cuMemcpyAsync");
	return mem_of(dst) && mem_of(src) ? start(host_of(dst), host_of(src), len) : INVALID;
}

API cuStreamIsCapturing(void *stream, int *status);
API cuStreamIsCapturing(void *stream, int *status)
{
	*status = 0;
	return capturing == 2 && default_stream(stream) ? CAPTURE_IMPLICIT : OK;
}

API cuStreamQuery(void *stream);
API cuStreamQuery(void *stream)
{
	PLAN("cuStreamQuery");
	if (!current())
		return BAD_CONTEXT;
	if (capturing == 2 && default_stream(stream)) {
		spoiled = true;
		return CAPTURE_IMPLICIT;
	}
	return default_stream(stream) && (!end_late(false) || kernel) ? NOT_READY : OK;
}

API cuStreamSynchronize(void *stream);
API cuStreamSynchronize(void *stream)
{
	bool planned = dev_fails("cuStreamSynchronize");

	if (default_stream(stream))
		end_late(true);
	dev_drain();
	return !reap() ? ILLEGAL_ADDRESS : planned ? LAUNCH_FAILED : OK;
}

API cuEventCreate(void **event, unsigned flags);
API cuEventCreate(void **event, unsigned flags)
{
	(void) flags;
	PLAN("cuEventCreate");
	if (!current())
		return BAD_CONTEXT;
	*event = calloc(1, sizeof(struct event));
	return OK;
}

API cuEventDestroy_v2(void *event);
API cuEventDestroy_v2(void *event)
{
	free(event);
	return OK;
}

API cuEventRecord(void *event, void *stream);
API cuEventRecord(void *event, void *stream)
{
	struct event *e = event;

	(void) stream;
	PLAN("cuEventRecord");
	e->recorded = true;
	dev_copy_start(NULL, NULL, 0, &e->ev);
	return OK;
}

/* By plan it fails only once the copy is over, as a device reports an error. */
API cuEventQuery(void *event);
API cuEventQuery(void *event)
{
	struct event *e = event;
	int state = e->recorded ? dev_event_state(&e->ev) : 1;

	if (unsafe())
		return CAPTURE_UNSUPPORTED;
	if (!state)
		return NOT_READY;
	PLAN("cuEventQuery");
	return reap() ? OK : ILLEGAL_ADDRESS;
}

API cuEventSynchronize(void *event);
API cuEventSynchronize(void *event)
{
	struct event *e = event;

	if (e->recorded)
		dev_event_wait(&e->ev);
	PLAN("cuEventSynchronize");
	return reap() ? OK : ILLEGAL_ADDRESS;
}

/* ---- between processes --------------------------------------------------------------------------- */

struct ipc {
	char data[64];
};

API cuIpcGetMemHandle(struct ipc *handle, ptr base);
API cuIpcGetMemHandle(struct ipc *handle, ptr base)
{
	struct dev_ipc ipc;

	PLAN("cuIpcGetMemHandle");
	if (!dev_ipc_get(host_of(base), &ipc))
		return INVALID;
	memset(handle, 0, sizeof(*handle));
	memcpy(handle, &ipc, sizeof(ipc));
	return OK;
}

API cuIpcOpenMemHandle_v2(ptr *base, struct ipc handle, unsigned flags);
API cuIpcOpenMemHandle_v2(ptr *base, struct ipc handle, unsigned flags)
{
	struct dev_mem *mem;
	struct dev_ipc ipc;

	PLAN("cuIpcOpenMemHandle");
	if (!current() || flags != 1)
		return BAD_CONTEXT;
	memcpy(&ipc, &handle, sizeof(ipc));
	mem = dev_ipc_open(&ipc);
	*base = mem ? (uintptr_t) mem->va : 0;
	return mem ? OK : INVALID;
}

API cuIpcCloseMemHandle(ptr base);
API cuIpcCloseMemHandle(ptr base)
{
	struct dev_mem *mem = mem_of(base);

	PLAN("cuIpcCloseMemHandle");
	if (!mem || !mem->imported)
		return INVALID;
	dev_drain();
	dev_free(mem);
	return OK;
}

/* fakegpu_alias - where the fake of gdrcopy finds @at; NULL: it is no memory of a device. */
DEV_API void *fakegpu_alias(ptr at, size_t len);
DEV_API void *fakegpu_alias(ptr at, size_t len)
{
	struct dev_mem *mem = mem_of(at);

	return mem && mem->type == DEV_DEVICE && len <= mem->len - (at - (uintptr_t) mem->va) ?
	       mem->alias + (at - (uintptr_t) mem->va) : NULL;
}

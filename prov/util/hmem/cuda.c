/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * cuda.c - memory of CUDA devices, by the driver (libcuda.so.1).  The runtime (libcudart) is
 * not used: it needs the driver anyway, and wheels and containers have the driver only.
 *
 * Every function here works in the context that the memory belongs to: pushed before a call and
 * popped after it, so that any thread may copy and the program's own context stays current.
 * Memory that has no context (of cuMemMap() and cuMemAllocAsync()) uses its device's primary context.
 * A context is retained only for memory that a program registers, so no other device gets one.
 */
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hmem/cuda.h"

struct cuda_calls cu;

#define FUNC(slot, name) { "cu" name, &cu.slot, false }
static const struct hmem_func funcs[] = {
	FUNC(Init, "Init"), FUNC(DeviceGetCount, "DeviceGetCount"), FUNC(DeviceGet, "DeviceGet"),
	FUNC(PrimaryRetain, "DevicePrimaryCtxRetain"), FUNC(CtxPush, "CtxPushCurrent_v2"),
	FUNC(CtxPop, "CtxPopCurrent_v2"), FUNC(MemcpyAsync, "MemcpyAsync"),
	FUNC(MemcpyHtoDAsync, "MemcpyHtoDAsync_v2"),
	FUNC(MemcpyDtoHAsync, "MemcpyDtoHAsync_v2"), FUNC(StreamCreate, "StreamCreate"),
	FUNC(EventCreate, "EventCreate"), FUNC(EventRecord, "EventRecord"),
	FUNC(EventQuery, "EventQuery"), FUNC(EventDestroy, "EventDestroy_v2"),
	FUNC(StreamQuery, "StreamQuery"), FUNC(StreamSynchronize, "StreamSynchronize"),
	FUNC(MemHostRegister, "MemHostRegister_v2"), FUNC(MemHostUnregister, "MemHostUnregister"),
	FUNC(MemHostAlloc, "MemHostAlloc"), FUNC(MemFreeHost, "MemFreeHost"),
	FUNC(MemHostGetDevicePointer, "MemHostGetDevicePointer_v2"),
	FUNC(PointerGetAttribute, "PointerGetAttribute"),
	FUNC(PointerSetAttribute, "PointerSetAttribute"),
	FUNC(MemGetAddressRange, "MemGetAddressRange_v2"),
	FUNC(IpcGetMemHandle, "IpcGetMemHandle"), FUNC(IpcOpenMemHandle, "IpcOpenMemHandle_v2"),
	FUNC(IpcCloseMemHandle, "IpcCloseMemHandle"), FUNC(GetErrorName, "GetErrorName"),
	{ "cuThreadExchangeStreamCaptureMode", &cu.ThreadExchangeStreamCaptureMode, true },	/* 10.1 */
	{ "cuStreamIsCapturing", &cu.StreamIsCapturing, true },	/* 10.0 */
	{ "cuMemGetHandleForAddressRange", &cu.MemGetHandleForAddressRange, true },	/* 11.7 */
	{ NULL, NULL, false },
};

static pthread_mutex_t places_lock = PTHREAD_MUTEX_INITIALIZER;
static struct cuda_place *places;
static int device_cnt;
static void *any_ctx;			/* for pinning, which needs one: the first that is known */

int cuda_fail(const char *func, uint64_t device, cu_result code)
{
	const char *text = NULL;

	cu.GetErrorName(code, &text);
	return hmem_fail(&hmem_cuda, func, device, text, code);
}

/* While a thread of the program captures a graph, calls such as a query of an event fail in all threads, and
 * end the capture, except in threads in the relaxed mode.  Between cuda_relax() and cuda_restore() this is
 * the mode to restore.
 */
static __thread int capture_mode;

static void exchange_mode(void)
{
	if (cu.ThreadExchangeStreamCaptureMode)
		cu.ThreadExchangeStreamCaptureMode(&capture_mode);
}

void cuda_relax(void)
{
	capture_mode = CU_CAPTURE_RELAXED;
	exchange_mode();
}

void cuda_restore(void)
{
	exchange_mode();
}

int cuda_enter(void *ctx, uint64_t device)
{
	cu_result ret = cu.CtxPush(ctx);

	if (ret)
		return cuda_fail("cuCtxPushCurrent", device, ret);
	cuda_relax();
	return 0;
}

void cuda_leave(void)
{
	void *ctx;

	cuda_restore();
	cu.CtxPop(&ctx);
}

/* ---- start ---------------------------------------------------------------------- */

static int cuda_start(char *why, size_t room)
{
	static const char *const names[] = { "libcuda.so.1", "libcuda.so", NULL };
	const char *text = NULL;
	cu_result ret;

	if (hmem_load(names, funcs, why, room))
		return -FI_ENOSYS;
	ret = cu.Init(0);
	if (!ret)
		ret = cu.DeviceGetCount(&device_cnt);
	if (!ret && !device_cnt)
		ret = CU_NO_DEVICE;
	if (ret) {
		cu.GetErrorName(ret, &text);
		snprintf(why, room, "the driver does not start: cuInit or cuDeviceGetCount: %s (%d)",
			 text ? text : "?", ret);
		return -FI_ENODEV;
	}
	return 0;
}

/* ---- where memory is --------------------------------------------------------------- */

/* Caller holds places_lock and has entered the context. */
static struct cuda_place *new_place(void *ctx, uint64_t device, int *ret_p)
{
	struct cuda_place *place = calloc(1, sizeof(*place));
	cu_result ret;

	*ret_p = -FI_ENOMEM;
	if (!place)
		return NULL;
	ret = cu.StreamCreate(&place->stream[0], CU_STREAM_NON_BLOCKING);
	if (!ret)
		ret = cu.StreamCreate(&place->stream[1], CU_STREAM_NON_BLOCKING);
	if (ret) {
		*ret_p = cuda_fail("cuStreamCreate", device, ret);
		free(place);
		return NULL;
	}
	place->ctx = ctx;
	place->device = device;
	cuda_copy_init(place);
	place->next = places;
	places = place;
	*ret_p = 0;
	return place;
}

/* What the driver says of an address. */
struct attrs {
	unsigned type, managed;
	int device;
	void *ctx;			/* NULL: of cuMemMap() or a pool, or the CPU copies */
};

/* Host memory of the driver, and managed memory, which migrates when the CPU touches it. */
static bool on_host(const struct attrs *at)
{
	return at->managed || at->type != CU_MEMORY_DEVICE;
}

/* get_attrs - Returns CU_INVALID_VALUE for memory that the driver does not know.  Of what it
 * knows an attribute may be undefined.
 */
static cu_result get_attrs(const void *addr, struct attrs *at)
{
	const struct { int attr; void *val; } wanted[] = {
		{ CU_POINTER_MEMORY_TYPE, &at->type }, { CU_POINTER_IS_MANAGED, &at->managed },
		{ CU_POINTER_DEVICE_ORDINAL, &at->device }, { CU_POINTER_CONTEXT, &at->ctx },
	};
	cu_result ret;
	size_t i;

	memset(at, 0, sizeof(*at));
	for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		ret = cu.PointerGetAttribute(wanted[i].val, wanted[i].attr, (uintptr_t) addr);
		if (ret && (!i || ret != CU_INVALID_VALUE))
			return ret;
	}
	if (on_host(at))
		at->ctx = NULL;
	return CU_OK;
}

static bool cuda_detect(const void *addr, uint64_t *device_p)
{
	struct attrs at;

	if (get_attrs(addr, &at) || at.type != CU_MEMORY_DEVICE)
		return false;
	*device_p = (uint64_t) at.device;
	return true;
}

static int primary_retain(int device, void **ctx_p)
{
	int handle;
	cu_result ret = cu.DeviceGet(&handle, device);

	if (!ret)
		ret = cu.PrimaryRetain(ctx_p, handle);
	return ret ? cuda_fail("cuDevicePrimaryCtxRetain", (uint64_t) device, ret) : 0;
}

/* get_place - the place of memory with @at; the primary context where it has none. */
static int get_place(const struct attrs *at, struct cuda_place **place_p)
{
	uint64_t device = (uint64_t) at->device;
	void *ctx = at->ctx;
	struct cuda_place *place;
	int ret = ctx ? 0 : primary_retain(at->device, &ctx);

	if (ret)
		return ret;
	pthread_mutex_lock(&places_lock);
	for (place = places; place && place->ctx != ctx; place = place->next)
		;
	if (!place) {
		ret = cuda_enter(ctx, device);
		if (!ret) {
			place = new_place(ctx, device, &ret);
			cuda_leave();
		}
		if (!any_ctx && place)
			any_ctx = ctx;
	}
	pthread_mutex_unlock(&places_lock);
	*place_p = place;
	return ret;
}

/* The program's own copies to and from the buffer are over when their calls return; else what we
 * read, or an RDMA device, may be older.  Of memory without a context, of cuMemMap() and
 * cuMemAllocAsync(), that is not to be had: the driver refuses the attribute or disregards it, hence
 * hmem_cuda_settle().
 */
static void sync_memops(const void *addr)
{
	unsigned on = 1;

	cu.PointerSetAttribute(&on, CU_POINTER_SYNC_MEMOPS, (uintptr_t) addr);
}

static int explain_unknown(cu_result ret, uint64_t device, const char **why_p)
{
	if (ret == CU_INVALID_VALUE) {
		*why_p = "the CUDA driver does not know this memory: it was freed, or is the host's";
		return -FI_EINVAL;
	}
	*why_p = "the CUDA driver fails";
	return cuda_fail("cuPointerGetAttribute", device, ret);
}

/* next_piece - the address after the mapping or allocation of @at.  Where the driver has no range for
 * this sort of memory, or no context is current, the last byte before @end.
 */
static int next_piece(uintptr_t at, uintptr_t end, uint64_t device, uintptr_t *next_p)
{
	cu_ptr base;
	size_t len;
	cu_result ret = cu.MemGetAddressRange(&base, &len, at);

	*next_p = at + 1 < end ? end - 1 : end;
	if (ret == CU_INVALID_VALUE || ret == CU_NOT_FOUND || ret == CU_INVALID_CONTEXT)
		return 0;
	if (ret)
		return cuda_fail("cuMemGetAddressRange", device, ret);
	*next_p = base + len;
	return 0;
}

/* all_alike - a buffer may lie in several mappings, all of the same sort and device as @first. */
static int all_alike(const void *addr, size_t len, const struct attrs *first, uint64_t device,
		     const char **why_p)
{
	uintptr_t at = (uintptr_t) addr, end = at + len;
	struct attrs piece;
	cu_result res;
	int ret;

	if (end < at)
		return explain_unknown(CU_INVALID_VALUE, device, why_p);
	for (;;) {
		ret = next_piece(at, end, device, &at);
		if (ret) {
			*why_p = "the CUDA driver fails";
			return ret;
		}
		if (at >= end)
			return 0;
		res = get_attrs((void *) at, &piece);
		if (res)
			return explain_unknown(res, device, why_p);
		if (piece.type != first->type || piece.device != first->device ||
		    piece.managed != first->managed || piece.ctx != first->ctx) {
			*why_p = "it lies in memory of several kinds or devices: register each apart";
			return -FI_EINVAL;
		}
		if (!on_host(first))
			sync_memops((void *) at);
	}
}

static int cuda_find(const void *addr, size_t len, struct hmem_loc *loc, const char **why_p)
{
	struct cuda_place *place;
	struct attrs at;
	cu_result res = get_attrs(addr, &at);
	int ret;

	if (res)
		return explain_unknown(res, loc->device, why_p);
	loc->managed = at.managed;
	loc->host = on_host(&at);
	if (loc->host)
		return all_alike(addr, len, &at, loc->device, why_p);
	if (loc->device != (uint64_t) at.device) {
		*why_p = "it is memory of another CUDA device than device.cuda says";
		return -FI_EINVAL;
	}
	loc->unshared = !at.ctx;	/* cuIpcGetMemHandle() refuses such memory */
	ret = get_place(&at, &place);
	if (!ret)
		ret = cuda_enter(place->ctx, place->device);
	if (ret) {
		*why_p = "its context cannot be used";
		return ret;
	}
	loc->ctx = place;
	sync_memops(addr);
	ret = all_alike(addr, len, &at, loc->device, why_p);
	cuda_leave();
	return ret;
}

/* ---- memory of the host -------------------------------------------------------------- */

static int cuda_pin(void *buf, size_t len)
{
	cu_result ret;
	int err;

	if (!any_ctx)
		return 0;
	err = cuda_enter(any_ctx, 0);
	if (err)
		return err;
	ret = cu.MemHostRegister(buf, len, CU_HOST_PORTABLE);
	cuda_leave();
	return ret && ret != CU_HOST_ALREADY_REGISTERED ? cuda_fail("cuMemHostRegister", 0, ret) : 0;
}

static void cuda_unpin(void *buf)
{
	if (!any_ctx || cuda_enter(any_ctx, 0))
		return;
	cu.MemHostUnregister(buf);
	cuda_leave();
}

/* Kernels of the program run in the device's primary context, which the runtime uses, or see the memory
 * in theirs at the same address, since it is portable.
 */
static int enter_primary(uint64_t device)
{
	const struct attrs at = { .device = (int) device };
	struct cuda_place *place;
	int ret = get_place(&at, &place);

	return ret ? ret : cuda_enter(place->ctx, device);
}

static int cuda_both_alloc(uint64_t device, size_t len, void **host_p, void **dev_p, const char **why_p)
{
	cu_result res;
	cu_ptr dev;
	int ret;

	*why_p = "there is no CUDA device of that number";
	if (device >= (uint64_t) device_cnt)
		return -FI_EINVAL;
	*why_p = "its context cannot be used";
	ret = enter_primary(device);
	if (ret)
		return ret;
	*why_p = "the driver gives no memory of the host that kernels use";
	res = cu.MemHostAlloc(host_p, len, CU_HOST_PORTABLE | CU_HOST_DEVICEMAP);
	if (res)
		ret = cuda_fail("cuMemHostAlloc", device, res);
	else if ((res = cu.MemHostGetDevicePointer(&dev, *host_p, 0))) {
		ret = cuda_fail("cuMemHostGetDevicePointer", device, res);
		cu.MemFreeHost(*host_p);
	}
	cuda_leave();
	if (!ret)
		*dev_p = (void *) (uintptr_t) dev;
	return ret;
}

static void cuda_both_free(uint64_t device, void *host)
{
	if (enter_primary(device))
		return;
	cu.MemFreeHost(host);
	cuda_leave();
}

/* ---- sharing ------------------------------------------------------------------------- */

static int cuda_range(const struct hmem_loc *loc, const void *addr, void **base_p, size_t *len_p)
{
	struct cuda_place *place = loc->ctx;
	cu_result ret;
	cu_ptr base;
	int err = cuda_enter(place->ctx, place->device);

	if (err)
		return err;
	ret = cu.MemGetAddressRange(&base, len_p, (uintptr_t) addr);
	cuda_leave();
	if (ret)
		return cuda_fail("cuMemGetAddressRange", loc->device, ret);
	*base_p = (void *) (uintptr_t) base;
	return 0;
}

/* Memory of cuMemMap, which has no context, may be mapped again without another number. */
static int cuda_id(const struct hmem_loc *loc, const void *addr, uint64_t *id_p)
{
	cu_ptr ptr = (uintptr_t) addr;
	void *ctx = NULL;
	cu_result ret = cu.PointerGetAttribute(&ctx, CU_POINTER_CONTEXT, ptr);

	if (!ret && !ctx)
		return -FI_EOPNOTSUPP;
	if (!ret)
		ret = cu.PointerGetAttribute(id_p, CU_POINTER_BUFFER_ID, ptr);
	return ret ? cuda_fail("cuPointerGetAttribute", loc->device, ret) : 0;
}

static int cuda_ipc_get(const struct hmem_loc *loc, void *base, char handle[HMEM_IPC_SIZE])
{
	struct cuda_place *place = loc->ctx;
	struct cu_ipc ipc;
	cu_result ret;
	int err = cuda_enter(place->ctx, place->device);

	if (err)
		return err;
	ret = cu.IpcGetMemHandle(&ipc, (uintptr_t) base);
	cuda_leave();
	if (ret)
		return cuda_fail("cuIpcGetMemHandle", loc->device, ret);
	memcpy(handle, &ipc, sizeof(ipc));
	return 0;
}

static int cuda_ipc_open(const struct hmem_loc *loc, const char handle[HMEM_IPC_SIZE], size_t len,
			 void **base_p)
{
	struct cuda_place *place = loc->ctx;
	struct cu_ipc ipc;
	cu_result ret;
	cu_ptr base;
	int err = cuda_enter(place->ctx, place->device);

	if (err)
		return err;
	memcpy(&ipc, handle, sizeof(ipc));
	ret = cu.IpcOpenMemHandle(&base, ipc, CU_IPC_LAZY_PEER_ACCESS);
	cuda_leave();
	if (ret)
		return cuda_fail("cuIpcOpenMemHandle", loc->device, ret);
	*base_p = (void *) (uintptr_t) base;
	return 0;
}

static int cuda_ipc_close(const struct hmem_loc *loc, void *base)
{
	struct cuda_place *place = loc->ctx;
	cu_result ret;
	int err = cuda_enter(place->ctx, place->device);

	if (err)
		return err;
	ret = cu.IpcCloseMemHandle((uintptr_t) base);
	cuda_leave();
	return ret ? cuda_fail("cuIpcCloseMemHandle", loc->device, ret) : 0;
}

static bool cuda_exports(void)
{
	return cu.MemGetHandleForAddressRange;
}

/* The driver exports whole pages of the host; the buffer begins somewhere in the first. */
static int cuda_dmabuf(const struct hmem_loc *loc, void *addr, size_t len, int *fd_p, uint64_t *off_p)
{
	const uintptr_t page = 65536;
	struct cuda_place *place = loc->ctx;
	uintptr_t start = (uintptr_t) addr & ~(page - 1);
	uintptr_t end = ((uintptr_t) addr + len + page - 1) & ~(page - 1);
	cu_result ret;
	int err;

	if (!cuda_exports())
		return -FI_EOPNOTSUPP;
	err = cuda_enter(place->ctx, place->device);
	if (err)
		return err;
	ret = cu.MemGetHandleForAddressRange(fd_p, start, end - start, CU_RANGE_DMA_BUF, 0);
	cuda_leave();
	*off_p = (uintptr_t) addr - start;
	return ret ? cuda_fail("cuMemGetHandleForAddressRange", loc->device, ret) : 0;
}

const struct hmem_kind hmem_cuda = {
	.iface = FI_HMEM_CUDA, .name = "CUDA", .word = "cuda",
	.start = cuda_start, .find = cuda_find, .detect = cuda_detect,
	.copy = cuda_copy, .copy_start = cuda_copy_start, .copy_done = cuda_copy_done,
	.pin = cuda_pin, .unpin = cuda_unpin, .both_alloc = cuda_both_alloc, .both_free = cuda_both_free,
	.range = cuda_range, .id = cuda_id,
	.ipc_get = cuda_ipc_get, .ipc_open = cuda_ipc_open, .ipc_close = cuda_ipc_close,
	.dmabuf = cuda_dmabuf, .exports = cuda_exports,
};

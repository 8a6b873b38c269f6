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
#include <pthread.h>
#include <rdma/fi_errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "hmem/kind.h"

/* Facts of the driver's interface. */
typedef int cu_result;
typedef uint64_t cu_ptr;
struct cu_ipc {
	char reserved[64];
};

enum {
	CU_OK = 0,
	CU_INVALID_VALUE = 1,
	CU_NO_DEVICE = 100,
	CU_INVALID_CONTEXT = 201,
	CU_NOT_FOUND = 500,
	CU_NOT_READY = 600,
	CU_HOST_ALREADY_REGISTERED = 712,

	CU_POINTER_CONTEXT = 1,
	CU_POINTER_MEMORY_TYPE = 2,
	CU_POINTER_SYNC_MEMOPS = 6,
	CU_POINTER_BUFFER_ID = 7,
	CU_POINTER_IS_MANAGED = 8,
	CU_POINTER_DEVICE_ORDINAL = 9,

	CU_MEMORY_DEVICE = 2,

	CU_STREAM_LEGACY = 1,		/* the default stream, as a handle */
	CU_STREAM_NON_BLOCKING = 1,
	CU_EVENT_DISABLE_TIMING = 2,
	CU_HOST_PORTABLE = 1,
	CU_IPC_LAZY_PEER_ACCESS = 1,
	CU_RANGE_DMA_BUF = 1,
};

static struct {
	cu_result (*Init)(unsigned flags);
	cu_result (*DeviceGetCount)(int *cnt);
	cu_result (*DeviceGet)(int *dev, int ordinal);
	cu_result (*PrimaryRetain)(void **ctx, int dev);
	cu_result (*CtxPush)(void *ctx);
	cu_result (*CtxPop)(void **ctx);
	cu_result (*MemcpyHtoDAsync)(cu_ptr dst, const void *src, size_t len, void *stream);
	cu_result (*MemcpyDtoHAsync)(void *dst, cu_ptr src, size_t len, void *stream);
	cu_result (*MemcpyAsync)(cu_ptr dst, cu_ptr src, size_t len, void *stream);
	cu_result (*StreamCreate)(void **stream, unsigned flags);
	cu_result (*EventCreate)(void **event, unsigned flags);
	cu_result (*EventRecord)(void *event, void *stream);
	cu_result (*EventQuery)(void *event);
	cu_result (*EventDestroy)(void *event);
	cu_result (*StreamQuery)(void *stream);
	cu_result (*StreamSynchronize)(void *stream);
	cu_result (*MemHostRegister)(void *buf, size_t len, unsigned flags);
	cu_result (*MemHostUnregister)(void *buf);
	cu_result (*PointerGetAttribute)(void *val, int attr, cu_ptr ptr);
	cu_result (*PointerSetAttribute)(const void *val, int attr, cu_ptr ptr);
	cu_result (*MemGetAddressRange)(cu_ptr *base, size_t *len, cu_ptr ptr);
	cu_result (*IpcGetMemHandle)(struct cu_ipc *handle, cu_ptr base);
	cu_result (*IpcOpenMemHandle)(cu_ptr *base, struct cu_ipc handle, unsigned flags);
	cu_result (*IpcCloseMemHandle)(cu_ptr base);
	cu_result (*GetErrorName)(cu_result code, const char **text);
	cu_result (*MemGetHandleForAddressRange)(void *handle, cu_ptr addr, size_t len, int type,
						 unsigned long long flags);
} cu;

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
	FUNC(PointerGetAttribute, "PointerGetAttribute"),
	FUNC(PointerSetAttribute, "PointerSetAttribute"),
	FUNC(MemGetAddressRange, "MemGetAddressRange_v2"),
	FUNC(IpcGetMemHandle, "IpcGetMemHandle"), FUNC(IpcOpenMemHandle, "IpcOpenMemHandle_v2"),
	FUNC(IpcCloseMemHandle, "IpcCloseMemHandle"), FUNC(GetErrorName, "GetErrorName"),
	{ "cuMemGetHandleForAddressRange", &cu.MemGetHandleForAddressRange, true },	/* 11.7 */
	{ NULL, NULL, false },
};

/* A context that has memory of ours, with a stream for each direction.  They stay until the
 * process ends: a thread may use one while another region closes.
 */
struct place {
	struct place *next;
	void *ctx;
	uint64_t device;
	void *stream[2];
	pthread_mutex_t lock;		/* guards @events */
	void *events[64];		/* that are not in use */
	unsigned event_cnt;
	atomic_bool kernel;		/* settle() has waited for the default stream in vain */
	_Atomic uint64_t patience;	/* how long it waits next time */
	pthread_mutex_t bounce_lock;	/* guards @bounce */
	void *bounce;			/* BOUNCE bytes, pinned, or NULL */
};

#define BOUNCE (64u << 10)
#define BOUNCE_IN 4096		/* shorter copies to a device are as fast from any memory */
#define PATIENCE_MAX (20 * CLOCK_NS_PER_MS)
#define PATIENCE_MIN (CLOCK_NS_PER_MS / 5)

static pthread_mutex_t places_lock = PTHREAD_MUTEX_INITIALIZER;
static struct place *places;
static int device_cnt;
static bool async_copy, use_dmabuf;
static void *any_ctx;			/* for pinning, which needs one: the first that is known */

static int fail(const char *func, uint64_t device, cu_result code)
{
	const char *text = NULL;

	cu.GetErrorName(code, &text);
	return hmem_fail(&hmem_cuda, func, device, text, code);
}

static int enter(void *ctx, uint64_t device)
{
	cu_result ret = cu.CtxPush(ctx);

	return ret ? fail("cuCtxPushCurrent", device, ret) : 0;
}

static void leave(void)
{
	void *ctx;

	cu.CtxPop(&ctx);
}

/* ---- start ---------------------------------------------------------------------- */

static int start(char *why, size_t room)
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
	async_copy = hmem_param_bool("hmem_cuda_enable_async_copy", true);
	use_dmabuf = hmem_param_bool("hmem_cuda_use_dmabuf", true);
	return 0;
}

/* ---- where memory is --------------------------------------------------------------- */

static void *new_bounce(void)
{
	void *buf = aligned_alloc(4096, BOUNCE);

	if (buf && cu.MemHostRegister(buf, BOUNCE, CU_HOST_PORTABLE)) {
		free(buf);
		buf = NULL;
	}
	return buf;
}

/* Caller holds places_lock and has entered the context. */
static struct place *new_place(void *ctx, uint64_t device, int *ret_p)
{
	struct place *place = calloc(1, sizeof(*place));
	cu_result ret;

	*ret_p = -FI_ENOMEM;
	if (!place)
		return NULL;
	ret = cu.StreamCreate(&place->stream[0], CU_STREAM_NON_BLOCKING);
	if (!ret)
		ret = cu.StreamCreate(&place->stream[1], CU_STREAM_NON_BLOCKING);
	if (ret) {
		*ret_p = fail("cuStreamCreate", device, ret);
		free(place);
		return NULL;
	}
	place->ctx = ctx;
	place->device = device;
	pthread_mutex_init(&place->lock, NULL);
	pthread_mutex_init(&place->bounce_lock, NULL);
	place->bounce = new_bounce();
	place->patience = PATIENCE_MAX;
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

static bool detect(const void *addr, uint64_t *device_p)
{
	struct attrs at;

	if (get_attrs(addr, &at) || at.type != CU_MEMORY_DEVICE)
		return false;
	*device_p = (uint64_t) at.device;
	return true;
}

static int primary(int device, void **ctx_p)
{
	int handle;
	cu_result ret = cu.DeviceGet(&handle, device);

	if (!ret)
		ret = cu.PrimaryRetain(ctx_p, handle);
	return ret ? fail("cuDevicePrimaryCtxRetain", (uint64_t) device, ret) : 0;
}

/* get_place - the place of memory with @at; the primary context where it has none. */
static int get_place(const struct attrs *at, struct place **place_p)
{
	uint64_t device = (uint64_t) at->device;
	void *ctx = at->ctx;
	struct place *place;
	int ret = ctx ? 0 : primary(at->device, &ctx);

	if (ret)
		return ret;
	pthread_mutex_lock(&places_lock);
	for (place = places; place && place->ctx != ctx; place = place->next)
		;
	if (!place) {
		ret = enter(ctx, device);
		if (!ret) {
			place = new_place(ctx, device, &ret);
			leave();
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
 * settle().
 */
static void sync_memops(const void *addr)
{
	unsigned on = 1;

	cu.PointerSetAttribute(&on, CU_POINTER_SYNC_MEMOPS, (uintptr_t) addr);
}

static int unknown(cu_result ret, uint64_t device, const char **why_p)
{
	if (ret == CU_INVALID_VALUE) {
		*why_p = "the CUDA driver does not know this memory: it was freed, or is the host's";
		return -FI_EINVAL;
	}
	*why_p = "the CUDA driver fails";
	return fail("cuPointerGetAttribute", device, ret);
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
		return fail("cuMemGetAddressRange", device, ret);
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
		return unknown(CU_INVALID_VALUE, device, why_p);
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
			return unknown(res, device, why_p);
		if (piece.type != first->type || piece.device != first->device ||
		    piece.managed != first->managed || piece.ctx != first->ctx) {
			*why_p = "it lies in memory of several kinds or devices: register each apart";
			return -FI_EINVAL;
		}
		if (!on_host(first))
			sync_memops((void *) at);
	}
}

static int find(const void *addr, size_t len, struct hmem_loc *loc, const char **why_p)
{
	struct place *place;
	struct attrs at;
	cu_result res = get_attrs(addr, &at);
	int ret;

	if (res)
		return unknown(res, loc->device, why_p);
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
		ret = enter(place->ctx, place->device);
	if (ret) {
		*why_p = "its context cannot be used";
		return ret;
	}
	loc->ctx = place;
	sync_memops(addr);
	ret = all_alike(addr, len, &at, loc->device, why_p);
	leave();
	return ret;
}

/* ---- copies ------------------------------------------------------------------------ */

static bool default_busy(void)
{
	return cu.StreamQuery((void *) (uintptr_t) CU_STREAM_LEGACY) == CU_NOT_READY;
}

/* wait_default - for the end of what is in the default stream, as long as there is patience. */
static void wait_default(struct place *place)
{
	uint64_t patience = atomic_load_explicit(&place->patience, memory_order_relaxed);
	uint64_t waited, start = clock_ns();

	while (default_busy()) {
		if (clock_ns() - start < patience)
			continue;
		patience = patience / 4 > PATIENCE_MIN ? patience / 4 : PATIENCE_MIN;
		atomic_store_explicit(&place->patience, patience, memory_order_relaxed);
		atomic_store_explicit(&place->kernel, true, memory_order_relaxed);
		return;
	}
	waited = clock_ns() - start;
	if (8 * waited <= patience)
		return;
	patience = 8 * waited < PATIENCE_MAX ? 8 * waited : PATIENCE_MAX;
	atomic_store_explicit(&place->patience, patience, memory_order_relaxed);
}

/* settle - before a copy to or from memory without a context: wait for what the program's calls have
 * left in the default stream, as cuMemcpyHtoD() from pageable memory does, which returns when the
 * last piece is in a buffer of the driver.  Such a rest takes microseconds, or milliseconds where
 * processes take turns on the device.  What takes longer is a kernel, which may wait for what we do:
 * it is waited for in vain once, until the stream is found idle again, and the next one less long.
 */
static void settle(const struct hmem_loc *loc, struct place *place)
{
	bool kernel;

	if (!loc->unshared)
		return;
	kernel = atomic_load_explicit(&place->kernel, memory_order_relaxed);
	if (!default_busy())
		atomic_store_explicit(&place->kernel, false, memory_order_relaxed);
	else if (!kernel)
		wait_default(place);
}

void hmem_cuda_settle(const struct hmem_loc *loc)
{
	struct place *place = loc->ctx;

	if (!loc->unshared || enter(place->ctx, place->device))
		return;
	settle(loc, place);
	leave();
}

/* A stream of ours: the default one would wait for the program's kernels. */
static void *stream_of(const struct place *place, enum hmem_dir dir)
{
	return place->stream[dir == HMEM_TO_HOST ? HMEM_TO_HOST : HMEM_TO_DEVICE];
}

static cu_result launch(enum hmem_dir dir, void *dev, void *buf, size_t len, void *stream,
			const char **func_p)
{
	cu_ptr at = (uintptr_t) dev;

	switch (dir) {
	case HMEM_TO_HOST:
		*func_p = "cuMemcpyDtoHAsync";
		return cu.MemcpyDtoHAsync(buf, at, len, stream);
	case HMEM_TO_DEVICE:
		*func_p = "cuMemcpyHtoDAsync";
		return cu.MemcpyHtoDAsync(at, buf, len, stream);
	default:	/* the devices may differ: the addresses say which they are */
		*func_p = "cuMemcpyAsync";
		return cu.MemcpyAsync(at, (uintptr_t) buf, len, stream);
	}
}

static cu_result copy_now(enum hmem_dir dir, struct place *place, void *dev, void *buf, size_t len,
			  const char **func_p)
{
	void *stream = stream_of(place, dir);
	cu_result ret = launch(dir, dev, buf, len, stream, func_p);

	if (ret)
		return ret;
	*func_p = "cuStreamSynchronize";
	return cu.StreamSynchronize(stream);
}

/* bounced - the same by a pinned buffer: the driver copies pageable memory twice, and slowly.
 * False: not done.
 */
static bool bounced(enum hmem_dir dir, struct place *place, void *dev, void *buf, size_t len,
		    const char **func_p, cu_result *ret_p)
{
	if (!place->bounce || len > BOUNCE || (dir == HMEM_TO_DEVICE && len < BOUNCE_IN) ||
	    pthread_mutex_trylock(&place->bounce_lock))
		return false;
	if (dir == HMEM_TO_DEVICE)
		memcpy(place->bounce, buf, len);
	*ret_p = copy_now(dir, place, dev, place->bounce, len, func_p);
	if (dir == HMEM_TO_HOST && !*ret_p)
		memcpy(buf, place->bounce, len);
	pthread_mutex_unlock(&place->bounce_lock);
	return true;
}

static int copy(enum hmem_dir dir, const struct hmem_loc *loc, void *dev, void *buf, size_t len)
{
	struct place *place = loc->ctx;
	const char *func;
	cu_result ret;
	int err = enter(place->ctx, place->device);

	if (err)
		return err;
	settle(loc, place);
	if (!bounced(dir, place, dev, buf, len, &func, &ret))
		ret = copy_now(dir, place, dev, buf, len, &func);
	leave();
	return ret ? fail(func, place->device, ret) : 0;
}

static cu_result get_event(struct place *place, void **event_p)
{
	*event_p = NULL;
	pthread_mutex_lock(&place->lock);
	if (place->event_cnt)
		*event_p = place->events[--place->event_cnt];
	pthread_mutex_unlock(&place->lock);
	return *event_p ? CU_OK : cu.EventCreate(event_p, CU_EVENT_DISABLE_TIMING);
}

static void put_event(struct place *place, void *event)
{
	pthread_mutex_lock(&place->lock);
	if (place->event_cnt < sizeof(place->events) / sizeof(place->events[0])) {
		place->events[place->event_cnt++] = event;
		event = NULL;
	}
	pthread_mutex_unlock(&place->lock);
	if (event)
		cu.EventDestroy(event);
}

/* enqueue - copy and event into the stream.  After a failure nothing of it is in flight. */
static cu_result enqueue(enum hmem_dir dir, struct place *place, void *dev, void *buf, size_t len,
			 void *event, const char **func_p)
{
	void *stream = stream_of(place, dir);
	cu_result ret = launch(dir, dev, buf, len, stream, func_p);

	if (ret)
		return ret;
	*func_p = "cuEventRecord";
	ret = cu.EventRecord(event, stream);
	if (ret)
		cu.StreamSynchronize(stream);
	return ret;
}

static int copy_start(enum hmem_dir dir, const struct hmem_loc *loc, void *dev, void *buf,
		      size_t len, struct hmem_event *event)
{
	struct place *place = loc->ctx;
	const char *func = "cuEventCreate";
	cu_result ret;
	void *ev;
	int err;

	if (!async_copy) {
		event->kind = NULL;
		return copy(dir, loc, dev, buf, len);
	}
	err = enter(place->ctx, place->device);
	if (err)
		return err;
	settle(loc, place);
	ret = get_event(place, &ev);
	if (!ret) {
		ret = enqueue(dir, place, dev, buf, len, ev, &func);
		if (ret)
			put_event(place, ev);
	}
	leave();
	if (ret)
		return fail(func, place->device, ret);
	event->handle = ev;
	return 0;
}

static int copy_done(struct hmem_event *event)
{
	struct place *place = event->ctx;
	cu_result ret = cu.EventQuery(event->handle);

	if (ret == CU_NOT_READY)
		return 0;
	put_event(place, event->handle);
	return ret ? fail("cuEventQuery", place->device, ret) : 1;
}

static int pin(void *buf, size_t len)
{
	cu_result ret;
	int err;

	if (!any_ctx)
		return 0;
	err = enter(any_ctx, 0);
	if (err)
		return err;
	ret = cu.MemHostRegister(buf, len, CU_HOST_PORTABLE);
	leave();
	return ret && ret != CU_HOST_ALREADY_REGISTERED ? fail("cuMemHostRegister", 0, ret) : 0;
}

static void unpin(void *buf)
{
	if (!any_ctx || enter(any_ctx, 0))
		return;
	cu.MemHostUnregister(buf);
	leave();
}

/* ---- sharing ------------------------------------------------------------------------- */

static int range(const struct hmem_loc *loc, const void *addr, void **base_p, size_t *len_p)
{
	struct place *place = loc->ctx;
	cu_result ret;
	cu_ptr base;
	int err = enter(place->ctx, place->device);

	if (err)
		return err;
	ret = cu.MemGetAddressRange(&base, len_p, (uintptr_t) addr);
	leave();
	if (ret)
		return fail("cuMemGetAddressRange", loc->device, ret);
	*base_p = (void *) (uintptr_t) base;
	return 0;
}

/* Memory of cuMemMap, which has no context, may be mapped again without another number. */
static int id(const struct hmem_loc *loc, const void *addr, uint64_t *id_p)
{
	cu_ptr ptr = (uintptr_t) addr;
	void *ctx = NULL;
	cu_result ret = cu.PointerGetAttribute(&ctx, CU_POINTER_CONTEXT, ptr);

	if (!ret && !ctx)
		return -FI_EOPNOTSUPP;
	if (!ret)
		ret = cu.PointerGetAttribute(id_p, CU_POINTER_BUFFER_ID, ptr);
	return ret ? fail("cuPointerGetAttribute", loc->device, ret) : 0;
}

static int ipc_get(const struct hmem_loc *loc, void *base, char handle[HMEM_IPC_SIZE])
{
	struct place *place = loc->ctx;
	struct cu_ipc ipc;
	cu_result ret;
	int err = enter(place->ctx, place->device);

	if (err)
		return err;
	ret = cu.IpcGetMemHandle(&ipc, (uintptr_t) base);
	leave();
	if (ret)
		return fail("cuIpcGetMemHandle", loc->device, ret);
	memcpy(handle, &ipc, sizeof(ipc));
	return 0;
}

static int ipc_open(const struct hmem_loc *loc, const char handle[HMEM_IPC_SIZE], size_t len,
		    void **base_p)
{
	struct place *place = loc->ctx;
	struct cu_ipc ipc;
	cu_result ret;
	cu_ptr base;
	int err = enter(place->ctx, place->device);

	if (err)
		return err;
	memcpy(&ipc, handle, sizeof(ipc));
	ret = cu.IpcOpenMemHandle(&base, ipc, CU_IPC_LAZY_PEER_ACCESS);
	leave();
	if (ret)
		return fail("cuIpcOpenMemHandle", loc->device, ret);
	*base_p = (void *) (uintptr_t) base;
	return 0;
}

static int ipc_close(const struct hmem_loc *loc, void *base)
{
	struct place *place = loc->ctx;
	cu_result ret;
	int err = enter(place->ctx, place->device);

	if (err)
		return err;
	ret = cu.IpcCloseMemHandle((uintptr_t) base);
	leave();
	return ret ? fail("cuIpcCloseMemHandle", loc->device, ret) : 0;
}

static bool exports(void)
{
	return use_dmabuf && cu.MemGetHandleForAddressRange;
}

/* The driver exports whole pages of the host; the buffer begins somewhere in the first. */
static int dmabuf(const struct hmem_loc *loc, void *addr, size_t len, int *fd_p, uint64_t *off_p)
{
	const uintptr_t page = 65536;
	struct place *place = loc->ctx;
	uintptr_t start = (uintptr_t) addr & ~(page - 1);
	uintptr_t end = ((uintptr_t) addr + len + page - 1) & ~(page - 1);
	cu_result ret;
	int err;

	if (!exports())
		return -FI_EOPNOTSUPP;
	err = enter(place->ctx, place->device);
	if (err)
		return err;
	ret = cu.MemGetHandleForAddressRange(fd_p, start, end - start, CU_RANGE_DMA_BUF, 0);
	leave();
	*off_p = (uintptr_t) addr - start;
	return ret ? fail("cuMemGetHandleForAddressRange", loc->device, ret) : 0;
}

const struct hmem_kind hmem_cuda = {
	.iface = FI_HMEM_CUDA, .name = "CUDA", .word = "cuda",
	.start = start, .find = find, .detect = detect,
	.copy = copy, .copy_start = copy_start, .copy_done = copy_done,
	.pin = pin, .unpin = unpin, .range = range, .id = id,
	.ipc_get = ipc_get, .ipc_open = ipc_open, .ipc_close = ipc_close,
	.dmabuf = dmabuf, .exports = exports,
};

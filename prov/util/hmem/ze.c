/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * ze.c - memory of Level Zero devices (libze_loader.so.1).
 *
 * One context per driver, one immediate command list per device, made when memory of the device
 * is registered first.  A command list may be used by one thread at a time: each has a lock.
 * The device of a region is its driver's number << 16 | its own (fi_hmem_ze_device()).
 */
#include <pthread.h>
#include <rdma/fi_errno.h>
#include <rdma/providers/fi_prov.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "hmem/kind.h"

/* Facts of the loader's interface. */
typedef unsigned ze_result;
struct ze_desc {			/* what every descriptor begins with */
	unsigned type;
	const void *next;
};
struct ze_context_desc {
	struct ze_desc head;
	unsigned flags;
};
struct ze_queue_desc {
	struct ze_desc head;
	uint32_t ordinal, index;
	unsigned flags, mode, priority;
};
struct ze_pool_desc {
	struct ze_desc head;
	unsigned flags;
	uint32_t count;
};
struct ze_event_desc {
	struct ze_desc head;
	uint32_t index;
	unsigned signal, wait;
};
struct ze_host_desc {
	struct ze_desc head;
	unsigned flags;
};
struct ze_alloc_props {
	unsigned stype;
	void *next;
	unsigned type;			/* ZE_MEMORY_* */
	uint64_t id, page_size;
};
struct ze_export_fd {
	unsigned stype;
	const void *next;
	unsigned flags;
	int fd;
};
struct ze_ipc {
	char data[64];
};

enum {
	ZE_OK = 0,
	ZE_NOT_READY = 1,
	ZE_INVALID_ARGUMENT = 0x78000004,
	ZE_TYPE_CONTEXT = 0x0d,
	ZE_TYPE_QUEUE = 0x0e,
	ZE_TYPE_EVENT_POOL = 0x10,
	ZE_TYPE_EVENT = 0x11,
	ZE_TYPE_HOST_ALLOC = 0x16,
	ZE_TYPE_ALLOC_PROPS = 0x17,
	ZE_TYPE_EXPORT_FD = 0x1a,
	ZE_EXPORT_DMABUF = 2,
	ZE_MEMORY_UNKNOWN = 0,
	ZE_MEMORY_HOST = 1,
	ZE_MEMORY_SHARED = 3,
	ZE_QUEUE_ASYNC = 2,
	ZE_POOL_HOST_VISIBLE = 1,
	ZE_SCOPE_HOST = 4,
};

static struct {
	ze_result (*Init)(unsigned flags);
	ze_result (*DriverGet)(uint32_t *cnt, void **drivers);
	ze_result (*DeviceGet)(void *driver, uint32_t *cnt, void **devices);
	ze_result (*ContextCreate)(void *driver, const struct ze_context_desc *desc, void **ctx);
	ze_result (*ListCreateImmediate)(void *ctx, void *dev, const struct ze_queue_desc *desc,
					 void **list);
	ze_result (*AppendMemoryCopy)(void *list, void *dst, const void *src, size_t len, void *event,
				      uint32_t wait_cnt, void **waits);
	ze_result (*PoolCreate)(void *ctx, const struct ze_pool_desc *desc, uint32_t cnt, void **devs,
				void **pool);
	ze_result (*EventCreate)(void *pool, const struct ze_event_desc *desc, void **event);
	ze_result (*EventQueryStatus)(void *event);
	ze_result (*EventHostSynchronize)(void *event, uint64_t timeout);
	ze_result (*EventHostReset)(void *event);
	ze_result (*AllocHost)(void *ctx, const struct ze_host_desc *desc, size_t len, size_t align,
			       void **buf);
	ze_result (*Free)(void *ctx, void *buf);
	ze_result (*GetAllocProperties)(void *ctx, const void *addr, struct ze_alloc_props *props,
					void **dev);
	ze_result (*GetAddressRange)(void *ctx, const void *addr, void **base, size_t *len);
	ze_result (*GetIpcHandle)(void *ctx, const void *base, struct ze_ipc *handle);
	ze_result (*OpenIpcHandle)(void *ctx, void *dev, struct ze_ipc handle, unsigned flags,
				   void **base);
	ze_result (*CloseIpcHandle)(void *ctx, const void *base);
} ze;

static const struct hmem_func funcs[] = {
	{ "zeInit", &ze.Init, false },
	{ "zeDriverGet", &ze.DriverGet, false },
	{ "zeDeviceGet", &ze.DeviceGet, false },
	{ "zeContextCreate", &ze.ContextCreate, false },
	{ "zeCommandListCreateImmediate", &ze.ListCreateImmediate, false },
	{ "zeCommandListAppendMemoryCopy", &ze.AppendMemoryCopy, false },
	{ "zeEventPoolCreate", &ze.PoolCreate, false },
	{ "zeEventCreate", &ze.EventCreate, false },
	{ "zeEventQueryStatus", &ze.EventQueryStatus, false },
	{ "zeEventHostSynchronize", &ze.EventHostSynchronize, false },
	{ "zeEventHostReset", &ze.EventHostReset, false },
	{ "zeMemAllocHost", &ze.AllocHost, false },
	{ "zeMemFree", &ze.Free, false },
	{ "zeMemGetAllocProperties", &ze.GetAllocProperties, false },
	{ "zeMemGetAddressRange", &ze.GetAddressRange, false },
	{ "zeMemGetIpcHandle", &ze.GetIpcHandle, false },
	{ "zeMemOpenIpcHandle", &ze.OpenIpcHandle, false },
	{ "zeMemCloseIpcHandle", &ze.CloseIpcHandle, false },
	{ NULL, NULL, false },
};

#define DRIVER_MAX 8
#define DEVICE_MAX 32
#define EVENT_CNT 64

struct place {
	void *dev;
	void *ctx;			/* its driver's */
	uint64_t number;		/* fi_hmem_ze_device() */
	pthread_mutex_t lock;		/* guards what follows */
	void *list;			/* NULL: no memory of it was registered yet */
	void *pool;
	void *spare[EVENT_CNT];		/* events that are not in use */
	unsigned spare_cnt, made;
};

static struct place places[DEVICE_MAX];
static unsigned place_cnt;
static void *ctxs[DRIVER_MAX];
static unsigned ctx_cnt;

static int ze_fail(const char *func, uint64_t device, ze_result ret)
{
	char text[24];

	snprintf(text, sizeof(text), "ze_result 0x%x", ret);
	return hmem_fail(&hmem_ze, func, device, text, (long) ret);
}

/* ---- start ---------------------------------------------------------------------- */

static ze_result add_driver(void *driver, unsigned number)
{
	struct ze_context_desc desc = { .head.type = ZE_TYPE_CONTEXT };
	void *devs[DEVICE_MAX];
	uint32_t i, cnt = DEVICE_MAX;
	ze_result ret = ze.DeviceGet(driver, &cnt, devs);

	if (ret || !cnt)
		return ret;
	ret = ze.ContextCreate(driver, &desc, &ctxs[ctx_cnt]);
	if (ret)
		return ret;
	for (i = 0; i < cnt && place_cnt < DEVICE_MAX; i++) {
		struct place *place = &places[place_cnt++];

		place->dev = devs[i];
		place->ctx = ctxs[ctx_cnt];
		place->number = (uint64_t) number << 16 | i;
		pthread_mutex_init(&place->lock, NULL);
	}
	ctx_cnt++;
	return ZE_OK;
}

static int ze_start(char *why, size_t room)
{
	static const char *const names[] = { "libze_loader.so.1", "libze_loader.so", NULL };
	void *drivers[DRIVER_MAX];
	uint32_t i, cnt = DRIVER_MAX;
	ze_result ret;

	if (hmem_load(names, funcs, why, room))
		return -FI_ENOSYS;
	ret = ze.Init(0);
	if (!ret)
		ret = ze.DriverGet(&cnt, drivers);
	for (i = 0; !ret && i < cnt; i++)
		ret = add_driver(drivers[i], i);
	if (ret || !place_cnt) {
		snprintf(why, room, ret ? "the loader does not start: zeInit, zeDriverGet, zeDeviceGet or "
			 "zeContextCreate: ze_result 0x%x" : "the loader has started and knows no device",
			 ret);
		return -FI_ENODEV;
	}
	return 0;
}

/* Caller holds place->lock. */
static int open_place(struct place *place)
{
	struct ze_queue_desc queue = { .head.type = ZE_TYPE_QUEUE, .mode = ZE_QUEUE_ASYNC };
	struct ze_pool_desc pool = { .head.type = ZE_TYPE_EVENT_POOL,
				     .flags = ZE_POOL_HOST_VISIBLE, .count = EVENT_CNT };
	ze_result ret;

	if (place->list)
		return 0;
	if (!place->pool) {
		ret = ze.PoolCreate(place->ctx, &pool, 1, &place->dev, &place->pool);
		if (ret) {
			place->pool = NULL;
			return ze_fail("zeEventPoolCreate", place->number, ret);
		}
	}
	ret = ze.ListCreateImmediate(place->ctx, place->dev, &queue, &place->list);
	if (!ret)
		return 0;
	place->list = NULL;
	return ze_fail("zeCommandListCreateImmediate", place->number, ret);
}

/* ---- where memory is --------------------------------------------------------------- */

struct memory {
	unsigned type;
	struct place *place;		/* NULL: host memory, and what no driver knows */
	uint64_t id;			/* of the allocation */
};

/* look_up - what is at @addr.  Returns the result of a driver that fails. */
static ze_result look_up(const void *addr, struct memory *mem)
{
	struct ze_alloc_props props;
	ze_result res, bad = 0;
	unsigned i, k;
	void *dev;

	*mem = (struct memory) { .type = ZE_MEMORY_UNKNOWN };
	for (i = 0; i < ctx_cnt; i++) {
		props = (struct ze_alloc_props) { .stype = ZE_TYPE_ALLOC_PROPS };
		dev = NULL;
		res = ze.GetAllocProperties(ctxs[i], addr, &props, &dev);
		if (res && res != ZE_INVALID_ARGUMENT)
			bad = res;
		if (res || props.type == ZE_MEMORY_UNKNOWN)
			continue;
		mem->type = props.type;
		mem->id = props.id;
		for (k = 0; k < place_cnt; k++)
			if (places[k].dev == dev)
				mem->place = &places[k];
		return 0;
	}
	return bad;
}

static bool ze_detect(const void *addr, uint64_t *device_p)
{
	struct memory mem;

	if (look_up(addr, &mem) || !mem.place || mem.type == ZE_MEMORY_HOST)
		return false;
	*device_p = mem.place->number;
	return true;
}

/* Both ends in one allocation: so is what lies between. */
static int ze_find(const void *addr, size_t len, struct hmem_loc *loc, const char **why_p)
{
	const char *last = (const char *) addr + (len ? len - 1 : 0);
	struct memory mem, end;
	ze_result res = look_up(addr, &mem);
	int ret;

	if (!res)
		res = look_up(last, &end);
	if (res) {
		*why_p = "the Level Zero driver fails";
		return ze_fail("zeMemGetAllocProperties", loc->device, res);
	}
	if (mem.type == ZE_MEMORY_UNKNOWN || end.type != mem.type || end.id != mem.id) {
		*why_p = "Level Zero does not know this memory as one allocation: it was freed, or is "
			 "the host's";
		return -FI_EINVAL;
	}
	loc->managed = mem.type == ZE_MEMORY_SHARED;
	loc->host = loc->managed || mem.type == ZE_MEMORY_HOST;
	if (loc->host)
		return 0;
	if (!mem.place || loc->device != mem.place->number) {
		*why_p = "it is memory of another device than device.ze says (fi_hmem_ze_device())";
		return -FI_EINVAL;
	}
	pthread_mutex_lock(&mem.place->lock);
	ret = open_place(mem.place);
	pthread_mutex_unlock(&mem.place->lock);
	if (ret)
		*why_p = "its command list cannot be made";
	loc->ctx = mem.place;
	return ret;
}

/* ---- copies ------------------------------------------------------------------------ */

/* Caller holds place->lock.  -FI_EAGAIN: all events are in use. */
static int ze_get_event(struct place *place, void **event_p)
{
	struct ze_event_desc desc = { .head.type = ZE_TYPE_EVENT, .index = place->made,
				      .signal = ZE_SCOPE_HOST, .wait = ZE_SCOPE_HOST };
	ze_result ret;

	if (place->spare_cnt) {
		*event_p = place->spare[--place->spare_cnt];
		return 0;
	}
	if (place->made == EVENT_CNT)
		return -FI_EAGAIN;
	ret = ze.EventCreate(place->pool, &desc, event_p);
	if (ret)
		return ze_fail("zeEventCreate", place->number, ret);
	place->made++;
	return 0;
}

static void ze_put_event(struct place *place, void *event)
{
	pthread_mutex_lock(&place->lock);
	ze.EventHostReset(event);
	place->spare[place->spare_cnt++] = event;
	pthread_mutex_unlock(&place->lock);
}

static int ze_copy_begin(enum hmem_dir dir, struct place *place, void *dev, void *buf, size_t len,
			 void **event_p)
{
	ze_result res;
	int ret;

	pthread_mutex_lock(&place->lock);
	ret = ze_get_event(place, event_p);
	if (ret)
		goto out;
	res = dir == HMEM_TO_HOST ?
	      ze.AppendMemoryCopy(place->list, buf, dev, len, *event_p, 0, NULL) :
	      ze.AppendMemoryCopy(place->list, dev, buf, len, *event_p, 0, NULL);
	if (res) {
		place->spare[place->spare_cnt++] = *event_p;
		ret = ze_fail("zeCommandListAppendMemoryCopy", place->number, res);
	}
out:
	pthread_mutex_unlock(&place->lock);
	return ret;
}

static int ze_copy(enum hmem_dir dir, const struct hmem_loc *loc, void *dev, void *buf, size_t len)
{
	struct place *place = loc->ctx;
	ze_result res;
	void *event;
	int ret = ze_copy_begin(dir, place, dev, buf, len, &event);

	if (ret)
		return ret;
	res = ze.EventHostSynchronize(event, UINT64_MAX);
	ze_put_event(place, event);
	return res ? ze_fail("zeEventHostSynchronize", place->number, res) : 0;
}

static int ze_copy_start(enum hmem_dir dir, const struct hmem_loc *loc, void *dev, void *buf,
			 size_t len, struct hmem_event *event)
{
	return ze_copy_begin(dir, loc->ctx, dev, buf, len, &event->handle);
}

static int ze_copy_done(struct hmem_event *event)
{
	struct place *place = event->ctx;
	ze_result res = ze.EventQueryStatus(event->handle);

	if (res == ZE_NOT_READY)
		return 0;
	ze_put_event(place, event->handle);
	return res ? ze_fail("zeEventQueryStatus", place->number, res) : 1;
}

/* ---- memory of both sides ---------------------------------------------------------- */

static struct place *find_place(uint64_t number)
{
	unsigned i;

	for (i = 0; i < place_cnt; i++)
		if (places[i].number == number)
			return &places[i];
	return NULL;
}

/* Memory of the host is at one address for all devices of its context. */
static int ze_both_alloc(uint64_t device, size_t len, void **host_p, void **dev_p, const char **why_p)
{
	const struct ze_host_desc desc = { .head.type = ZE_TYPE_HOST_ALLOC };
	struct place *place = find_place(device);
	ze_result ret;

	*why_p = "there is no such Level Zero device (fi_hmem_ze_device())";
	if (!place)
		return -FI_EINVAL;
	*why_p = "the driver gives no memory of the host that kernels use";
	ret = ze.AllocHost(place->ctx, &desc, len, (size_t) sysconf(_SC_PAGESIZE), host_p);
	if (ret)
		return ze_fail("zeMemAllocHost", device, ret);
	*dev_p = *host_p;
	return 0;
}

static void ze_both_free(uint64_t device, void *host)
{
	ze.Free(find_place(device)->ctx, host);
}

/* ---- sharing ------------------------------------------------------------------------- */

static int ze_range(const struct hmem_loc *loc, const void *addr, void **base_p, size_t *len_p)
{
	struct place *place = loc->ctx;
	ze_result ret = ze.GetAddressRange(place->ctx, addr, base_p, len_p);

	return ret ? ze_fail("zeMemGetAddressRange", loc->device, ret) : 0;
}

static int ze_id(const struct hmem_loc *loc, const void *addr, uint64_t *id_p)
{
	struct ze_alloc_props props = { .stype = ZE_TYPE_ALLOC_PROPS };
	struct place *place = loc->ctx;
	void *dev;
	ze_result ret = ze.GetAllocProperties(place->ctx, addr, &props, &dev);

	if (ret || props.type == ZE_MEMORY_UNKNOWN)
		return ze_fail("zeMemGetAllocProperties", loc->device, ret);
	*id_p = props.id;
	return 0;
}

static int ze_ipc_get(const struct hmem_loc *loc, void *base, char handle[HMEM_IPC_SIZE])
{
	struct place *place = loc->ctx;
	struct ze_ipc ipc;
	ze_result ret = ze.GetIpcHandle(place->ctx, base, &ipc);

	if (ret)
		return ze_fail("zeMemGetIpcHandle", loc->device, ret);
	memcpy(handle, &ipc, sizeof(ipc));
	return 0;
}

static int ze_ipc_open(const struct hmem_loc *loc, const char handle[HMEM_IPC_SIZE], size_t len,
		       void **base_p)
{
	struct place *place = loc->ctx;
	struct ze_ipc ipc;
	ze_result ret;

	memcpy(&ipc, handle, sizeof(ipc));
	ret = ze.OpenIpcHandle(place->ctx, place->dev, ipc, 0, base_p);
	return ret ? ze_fail("zeMemOpenIpcHandle", loc->device, ret) : 0;
}

static int ze_ipc_close(const struct hmem_loc *loc, void *base)
{
	struct place *place = loc->ctx;
	ze_result ret = ze.CloseIpcHandle(place->ctx, base);

	return ret ? ze_fail("zeMemCloseIpcHandle", loc->device, ret) : 0;
}

static bool ze_exports(void)
{
	return true;
}

static int ze_dmabuf(const struct hmem_loc *loc, void *addr, size_t len, int *fd_p, uint64_t *off_p)
{
	struct ze_export_fd fd = { .stype = ZE_TYPE_EXPORT_FD, .flags = ZE_EXPORT_DMABUF, .fd = -1 };
	struct ze_alloc_props props = { .stype = ZE_TYPE_ALLOC_PROPS, .next = &fd };
	struct place *place = loc->ctx;
	void *base, *dev;
	size_t total;
	ze_result ret;

	ret = ze.GetAddressRange(place->ctx, addr, &base, &total);
	if (!ret)
		ret = ze.GetAllocProperties(place->ctx, base, &props, &dev);
	if (ret)
		return ze_fail("zeMemGetAllocProperties (dma-buf)", loc->device, ret);
	if (fd.fd < 0)
		return -FI_EOPNOTSUPP;
	*fd_p = fd.fd;
	*off_p = (uint64_t) ((char *) addr - (char *) base);
	return 0;
}

const struct hmem_kind hmem_ze = {
	.iface = FI_HMEM_ZE, .name = "Level Zero", .word = "ze",
	.start = ze_start, .find = ze_find, .detect = ze_detect,
	.copy = ze_copy, .copy_start = ze_copy_start, .copy_done = ze_copy_done,
	.both_alloc = ze_both_alloc, .both_free = ze_both_free, .range = ze_range, .id = ze_id,
	.ipc_get = ze_ipc_get, .ipc_open = ze_ipc_open, .ipc_close = ze_ipc_close,
	.dmabuf = ze_dmabuf, .exports = ze_exports,
};

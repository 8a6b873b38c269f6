/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* ze.c - libze_loader.so.1: one driver, whose devices are numbered from 0. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dev.h"

typedef unsigned res;

#define API DEV_API res
#define PLAN(name) do { if (dev_fails(name)) return DEVICE_LOST; } while (0)

enum { OK = 0, NOT_READY = 1, DEVICE_LOST = 0x70000001, NO_MEMORY = 0x70000003, NOT_INIT = 0x78000001,
       INVALID = 0x78000004 };

struct desc {
	unsigned type;
	const void *next;
};

struct props {
	unsigned stype;
	void *next;
	unsigned type;
	uint64_t id, page;
};

struct export_fd {
	unsigned stype;
	const void *next;
	unsigned flags;
	int fd;
};

struct event {
	struct dev_event ev;
	int state;		/* 0: nothing yet, 1: a copy signals it */
};

static char driver, ctx_mem, devices[16];

API zeInit(unsigned flags);
API zeInit(unsigned flags)
{
	PLAN("zeInit");
	return !flags && dev_count() > 0 ? OK : NOT_INIT;
}

API zeDriverGet(uint32_t *cnt, void **out);
API zeDriverGet(uint32_t *cnt, void **out)
{
	PLAN("zeDriverGet");
	if (*cnt && out)
		out[0] = &driver;
	*cnt = 1;
	return OK;
}

API zeDeviceGet(void *d, uint32_t *cnt, void **out);
API zeDeviceGet(void *d, uint32_t *cnt, void **out)
{
	uint32_t i, have = (uint32_t) dev_count();

	PLAN("zeDeviceGet");
	if (d != &driver)
		return INVALID;
	if (!*cnt || *cnt > have)
		*cnt = have;
	for (i = 0; out && i < *cnt; i++)
		out[i] = &devices[i];
	return OK;
}

API zeContextCreate(void *d, const struct desc *desc, void **out);
API zeContextCreate(void *d, const struct desc *desc, void **out)
{
	PLAN("zeContextCreate");
	if (d != &driver || desc->type != 0xd)
		return INVALID;
	*out = &ctx_mem;
	return OK;
}

API zeContextDestroy(void *c);
API zeContextDestroy(void *c)
{
	return c == &ctx_mem ? OK : INVALID;
}

/* ---- memory -------------------------------------------------------------------------- */

static int number(void *dev)
{
	return (int) ((char *) dev - devices);
}

API zeMemAllocDevice(void *c, const struct desc *desc, size_t len, size_t align, void *dev, void **out);
API zeMemAllocDevice(void *c, const struct desc *desc, size_t len, size_t align, void *dev, void **out)
{
	struct dev_mem *mem;

	(void) align;
	PLAN("zeMemAllocDevice");
	if (c != &ctx_mem || desc->type != 0x15)
		return INVALID;
	mem = dev_alloc(len, number(dev), DEV_DEVICE);
	*out = mem ? mem->va : NULL;
	return mem ? OK : NO_MEMORY;
}

API zeMemAllocHost(void *c, const struct desc *desc, size_t len, size_t align, void **out);
API zeMemAllocHost(void *c, const struct desc *desc, size_t len, size_t align, void **out)
{
	struct dev_mem *mem;

	(void) align;
	PLAN("zeMemAllocHost");
	if (c != &ctx_mem || desc->type != 0x16)
		return INVALID;
	mem = dev_alloc(len, -1, DEV_HOST);
	*out = mem ? mem->va : NULL;
	return mem ? OK : NO_MEMORY;
}

API zeMemFree(void *c, void *at);
API zeMemFree(void *c, void *at)
{
	struct dev_mem *mem = dev_find(at);

	(void) c;
	if (!mem || mem->va != at || mem->imported)
		return INVALID;
	dev_drain();
	dev_free(mem);
	return OK;
}

API zeMemGetAllocProperties(void *c, const void *at, struct props *props, void **dev);
API zeMemGetAllocProperties(void *c, const void *at, struct props *props, void **dev)
{
	struct dev_mem *mem = dev_find(at);
	struct export_fd *fd = props->next;

	PLAN("zeMemGetAllocProperties");
	if (c != &ctx_mem || props->stype != 0x17)
		return INVALID;
	props->type = !mem ? 0 : mem->type == DEV_HOST ? 1 : mem->type == DEV_DEVICE ? 2 : 3;
	props->id = mem ? mem->id : 0;
	if (dev)
		*dev = mem && mem->device >= 0 ? &devices[mem->device] : NULL;
	if (fd && fd->stype == 0x1a && fd->flags == 2 && mem)
		fd->fd = dup(mem->fd);
	return OK;
}

API zeMemGetAddressRange(void *c, const void *at, void **base, size_t *len);
API zeMemGetAddressRange(void *c, const void *at, void **base, size_t *len)
{
	struct dev_mem *mem = dev_find(at);

	PLAN("zeMemGetAddressRange");
	if (c != &ctx_mem || !mem)
		return INVALID;
	*base = mem->va;
	*len = mem->len;
	return OK;
}

struct ipc {
	char data[64];
};

API zeMemGetIpcHandle(void *c, const void *base, struct ipc *out);
API zeMemGetIpcHandle(void *c, const void *base, struct ipc *out)
{
	struct dev_ipc ipc;

	PLAN("zeMemGetIpcHandle");
	if (c != &ctx_mem || !dev_ipc_get(base, &ipc))
		return INVALID;
	memset(out, 0, sizeof(*out));
	memcpy(out, &ipc, sizeof(ipc));
	return OK;
}

API zeMemOpenIpcHandle(void *c, void *dev, struct ipc in, unsigned flags, void **base);
API zeMemOpenIpcHandle(void *c, void *dev, struct ipc in, unsigned flags, void **base)
{
	struct dev_mem *mem;
	struct dev_ipc ipc;

	(void) dev;
	PLAN("zeMemOpenIpcHandle");
	if (c != &ctx_mem || flags)
		return INVALID;
	memcpy(&ipc, &in, sizeof(ipc));
	mem = dev_ipc_open(&ipc);
	*base = mem ? mem->va : NULL;
	return mem ? OK : INVALID;
}

API zeMemCloseIpcHandle(void *c, const void *base);
API zeMemCloseIpcHandle(void *c, const void *base)
{
	struct dev_mem *mem = dev_find(base);

	(void) c;
	if (!mem || !mem->imported)
		return INVALID;
	dev_drain();
	dev_free(mem);
	return OK;
}

/* ---- command lists and events --------------------------------------------------------------- */

API zeCommandListCreateImmediate(void *c, void *dev, const struct desc *desc, void **out);
API zeCommandListCreateImmediate(void *c, void *dev, const struct desc *desc, void **out)
{
	PLAN("zeCommandListCreateImmediate");
	if (c != &ctx_mem || desc->type != 0xe || number(dev) < 0 || number(dev) >= dev_count())
		return INVALID;
	*out = dev;
	return OK;
}

API zeCommandListDestroy(void *list);
API zeCommandListDestroy(void *list)
{
	return list ? OK : INVALID;
}

API zeEventPoolCreate(void *c, const struct desc *desc, uint32_t cnt, void **devs, void **out);
API zeEventPoolCreate(void *c, const struct desc *desc, uint32_t cnt, void **devs, void **out)
{
	(void) cnt;
	(void) devs;
	PLAN("zeEventPoolCreate");
	if (c != &ctx_mem || desc->type != 0x10)
		return INVALID;
	*out = &driver;
	return OK;
}

API zeEventCreate(void *pool, const struct desc *desc, void **out);
API zeEventCreate(void *pool, const struct desc *desc, void **out)
{
	(void) pool;
	PLAN("zeEventCreate");
	if (desc->type != 0x11)
		return INVALID;
	*out = calloc(1, sizeof(struct event));
	return OK;
}

API zeEventDestroy(void *event);
API zeEventDestroy(void *event)
{
	free(event);
	return OK;
}

static res outcome(struct event *e)
{
	int state = e->state ? dev_event_state(&e->ev) : 0;

	return !state ? NOT_READY : state < 0 ? DEVICE_LOST : OK;
}

API zeEventQueryStatus(void *event);
API zeEventQueryStatus(void *event)
{
	res ret = outcome(event);

	if (ret != NOT_READY)
		PLAN("zeEventQueryStatus");
	return ret;
}

API zeEventHostSynchronize(void *event, uint64_t timeout);
API zeEventHostSynchronize(void *event, uint64_t timeout)
{
	struct event *e = event;

	(void) timeout;
	if (e->state)
		dev_event_wait(&e->ev);
	PLAN("zeEventHostSynchronize");
	return outcome(e);
}

API zeEventHostReset(void *event);
API zeEventHostReset(void *event)
{
	((struct event *) event)->state = 0;
	return OK;
}

/* Without an event it is over on return. */
API zeCommandListAppendMemoryCopy(void *list, void *dst, const void *src, size_t len, void *event,
				  uint32_t cnt, void **waits);
API zeCommandListAppendMemoryCopy(void *list, void *dst, const void *src, size_t len, void *event,
				  uint32_t cnt, void **waits)
{
	struct event *e = event;

	(void) waits;
	PLAN("zeCommandListAppendMemoryCopy");
	if (!list || cnt || (!dev_find(dst) && !dev_find(src)))
		return INVALID;
	if (!e)
		return dev_copy(dst, src, len) ? OK : DEVICE_LOST;
	e->state = 1;
	dev_copy_start(dst, src, len, &e->ev);
	return OK;
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "xpu/ctx.h"

#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>

#include "hmem/mem.h"
#include "obj/ops.h"
#include "xpu/api.h"

#define PAGE 4096		/* what is imported begins and ends with a page */

struct xpu_ctx *xpu_ctx_of(struct obj_domain *domain, const struct fid_xpu_ctx *fid)
{
	struct xpu_ctx *ctx, *hit = NULL;

	pthread_mutex_lock(&domain->xpu_lock);
	list_for_each_entry(ctx, &domain->xpus, node)
		if (&ctx->fid == fid)
			hit = ctx;
	pthread_mutex_unlock(&domain->xpu_lock);
	return hit;
}

void xpu_ctx_enter(struct xpu_ctx *ctx)
{
	atomic_fetch_add(&ctx->wanted, 1);
	pthread_mutex_lock(&ctx->lock);
	atomic_fetch_sub(&ctx->wanted, 1);
}

void xpu_ctx_leave(struct xpu_ctx *ctx)
{
	pthread_mutex_unlock(&ctx->lock);
}

void xpu_handle_native(struct fid_xpu *handle, size_t fclass, uint32_t prov_id, uint64_t at)
{
	handle->fclass = (uint32_t) fclass;
	handle->prov_id = prov_id;
	handle->prov_ctx = at;
}

void xpu_handle_fill(struct fid_xpu *handle, size_t fclass, const struct xpu_mem *mem)
{
	xpu_handle_native(handle, fclass, FI_XPU_RING_PROV, mem->dev);
}

int xpu_close_real(struct xpu_ctx *ctx, const struct fi_ops *real, struct fid *fid, struct list *node)
{
	int ret;

	xpu_ctx_enter(ctx);
	ret = real->close(fid);
	if (!ret)
		list_del(node);
	xpu_ctx_leave(ctx);
	return ret;
}

/* ---- memory --------------------------------------------------------------- */

/* mem_map - the program maps @mem into the device, or it is the device's as it is. */
static int mem_map(struct xpu_ctx *ctx, struct xpu_mem *mem, uint64_t flags)
{
	void *dev = mem->host;
	int ret = 0;

	if (ctx->import)
		ret = ctx->import(ctx->device, mem->host, mem->size, flags | FI_XPU_IMPORT_DEVICEMAP, &dev);
	if (ret)
		FI_WARN(ctx->domain->prov, FI_LOG_DOMAIN, "fi_xpu_ops.import of the program: %s\n",
			fi_strerror(-ret));
	mem->dev = (uintptr_t) dev;
	return ret;
}

static int mem_import(struct xpu_ctx *ctx, size_t size, struct xpu_mem *mem)
{
	int ret;

	if (posix_memalign(&mem->host, PAGE, size))
		return -FI_ENOMEM;
	memset(mem->host, 0, size);
	mem->size = size;
	ret = mem_map(ctx, mem, 0);
	if (ret)
		free(mem->host);
	return ret;
}

/* Memory of the host that the interface of the device gives. */
static int mem_of_device(struct xpu_ctx *ctx, size_t size, struct xpu_mem *mem)
{
	const char *why = "";
	void *dev = NULL;
	int ret = hmem_both_alloc(ctx->iface, ctx->device, size, &mem->host, &dev, &why);

	mem->dev = (uintptr_t) dev;
	if (!ret)
		return 0;
	FI_WARN(ctx->domain->prov, FI_LOG_DOMAIN, "memory of the host for %s device %llu: %s\n",
		hmem_name(ctx->iface), (unsigned long long) ctx->device, why);
	return hmem_errno(ret);
}

bool xpu_ctx_gives_mem(const struct xpu_ctx *ctx)
{
	return ctx->iface != FI_HMEM_SYSTEM && !ctx->import;
}

static void mem_list(struct xpu_ctx *ctx, struct xpu_mem *mem)
{
	xpu_ctx_enter(ctx);
	list_add_tail(&mem->node, &ctx->mems);
	xpu_ctx_leave(ctx);
}

int xpu_ctx_mem(struct xpu_ctx *ctx, size_t size, struct xpu_mem **mem_p)
{
	struct xpu_mem *mem = calloc(1, sizeof(*mem));
	int ret;

	size = (size + PAGE - 1) & ~(size_t) (PAGE - 1);
	if (!mem)
		return -FI_ENOMEM;
	ret = xpu_ctx_gives_mem(ctx) ? mem_of_device(ctx, size, mem) : mem_import(ctx, size, mem);
	if (ret) {
		free(mem);
		return ret;
	}
	mem_list(ctx, mem);
	*mem_p = mem;
	return 0;
}

/* mem_around - foreign memory that has been mapped, all of @bytes at @host; NULL: none. */
static const struct xpu_mem *mem_around(struct xpu_ctx *ctx, const char *host, size_t bytes)
{
	const struct xpu_mem *mem, *hit = NULL;

	xpu_ctx_enter(ctx);
	list_for_each_entry(mem, &ctx->mems, node)
		if (mem->foreign && host >= (char *) mem->host &&
		    host + bytes <= (char *) mem->host + mem->size)
			hit = mem;
	xpu_ctx_leave(ctx);
	return hit;
}

/* A page is mapped once: records of several queues may lie in it. */
int xpu_ctx_map(struct xpu_ctx *ctx, void *host, size_t size, uint64_t flags, uint64_t *dev_p)
{
	size_t before = (uintptr_t) host & (PAGE - 1);
	const struct xpu_mem *mem = mem_around(ctx, host, size);
	struct xpu_mem *made;
	int ret;

	if (!mem) {
		made = calloc(1, sizeof(*made));
		if (!made)
			return -FI_ENOMEM;
		made->foreign = true;
		made->host = (char *) host - before;
		made->size = (before + size + PAGE - 1) & ~(size_t) (PAGE - 1);
		ret = mem_map(ctx, made, flags);
		if (ret) {
			free(made);
			return ret;
		}
		mem_list(ctx, made);
		mem = made;
	}
	*dev_p = mem->dev + (uint64_t) ((char *) host - (char *) mem->host);
	return 0;
}

void xpu_ctx_free_mems(struct xpu_ctx *ctx)
{
	struct xpu_mem *mem;

	while ((mem = list_pop_entry(&ctx->mems, struct xpu_mem, node))) {
		if (xpu_ctx_gives_mem(ctx))
			hmem_both_free(ctx->iface, ctx->device, mem->host);
		else if (!mem->foreign)
			free(mem->host);
		free(mem);
	}
}

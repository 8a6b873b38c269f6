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

static bool given_by_device(const struct xpu_ctx *ctx)
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
	ret = given_by_device(ctx) ? mem_of_device(ctx, size, mem) : mem_import(ctx, size, mem);
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

static void free_mems(struct xpu_ctx *ctx)
{
	struct xpu_mem *mem;

	while ((mem = list_pop_entry(&ctx->mems, struct xpu_mem, node))) {
		if (given_by_device(ctx))
			hmem_both_free(ctx->iface, ctx->device, mem->host);
		else if (!mem->foreign)
			free(mem->host);
		free(mem);
	}
}

/* ---- the object ------------------------------------------------------------ */

static int ctx_query(struct fid_xpu_ctx *fid, struct fi_xpu_ctx_attr *attr)
{
	(void) fid;
	if (!attr)
		return -FI_EINVAL;
	attr->caps = FI_XPU_CAP_EP | FI_XPU_CAP_CQ | FI_XPU_CAP_CNTR;
	attr->av_addr_size = XPU_NAME_SIZE;
	attr->mr_desc_size = XPU_NAME_SIZE;
	return 0;
}

static struct fi_ops_xpu_ctx ctx_ops = {
	.query = ctx_query,
};
OBJ_OPS_TABLE(ctx_ops, xpu_ctx)

static void drop_kept(struct xpu_ctx *ctx)
{
	struct xpu_kept *kept;

	while ((kept = list_pop_entry(&ctx->kept, struct xpu_kept, node)))
		kept->drop(kept);
}

static void ctx_free(struct xpu_ctx *ctx)
{
	free_mems(ctx);
	xpu_names_fini(&ctx->addrs);
	xpu_names_fini(&ctx->regions);
	pthread_mutex_destroy(&ctx->names_lock);
	pthread_mutex_destroy(&ctx->lock);
	obj_refs_fini(&ctx->refs);
	free(ctx);
}

static void ctx_unlist(struct xpu_ctx *ctx)
{
	pthread_mutex_lock(&ctx->domain->xpu_lock);
	list_del(&ctx->node);
	pthread_mutex_unlock(&ctx->domain->xpu_lock);
}

static int ctx_close(struct fid *fid)
{
	struct xpu_ctx *ctx = container_of(fid, struct xpu_ctx, fid.fid);
	int ret;

	if (obj_inherited(&ctx->refs))
		return 0;
	ret = obj_refs_busy(&ctx->refs, fid, ctx->domain->prov, FI_LOG_DOMAIN);
	if (ret)
		return ret;
	ctx_unlist(ctx);
	xpu_proxy_stop(ctx);
	drop_kept(ctx);
	obj_ref_put(&ctx->domain_ref);
	ctx_free(ctx);
	return 0;
}

/* ---- opening --------------------------------------------------------------- */

#define HAS(ops, member) \
	((ops)->size >= offsetof(struct fi_xpu_ops, member) + sizeof((ops)->member) && (ops)->member)

static int ctx_refuse(struct obj_domain *domain, int err, const char *why)
{
	FI_WARN(domain->prov, FI_LOG_DOMAIN, "fi_xpu_ctx: %s\n", why);
	return err;
}

static int check_attr(struct obj_domain *domain, const struct fi_xpu_attr *attr)
{
	if (attr->iface == FI_HMEM_SYSTEM && attr->device)
		return ctx_refuse(domain, -FI_EINVAL, "FI_HMEM_SYSTEM has no devices but 0");
	if (attr->iface == FI_HMEM_SYSTEM || (attr->ops && HAS(attr->ops, import)))
		return 0;
	hmem_start();
	return hmem_has(attr->iface) ? 0 : ctx_refuse(domain, -FI_ENOSYS, hmem_why(attr->iface));
}

/* check_device - that the device and memory for it are there, before the program opens objects. */
static int check_device(struct xpu_ctx *ctx)
{
	struct xpu_mem *mem;

	return given_by_device(ctx) ? xpu_ctx_mem(ctx, PAGE, &mem) : 0;
}

/* ctx_list - Errors: -FI_ENOSPC, the domain has as many as it can have. */
static int ctx_list(struct xpu_ctx *ctx)
{
	struct obj_domain *domain = ctx->domain;
	struct list *pos;
	unsigned cnt = 0;

	pthread_mutex_lock(&domain->xpu_lock);
	for (pos = domain->xpus.next; pos != &domain->xpus; pos = pos->next)
		cnt++;
	if (cnt < XPU_CTX_MAX)
		list_add_tail(&ctx->node, &domain->xpus);
	pthread_mutex_unlock(&domain->xpu_lock);
	return cnt < XPU_CTX_MAX ? 0 :
	       ctx_refuse(domain, -FI_ENOSPC, "the domain has max_xpu_ctx_cnt contexts already");
}

static struct xpu_ctx *ctx_new(struct obj_domain *domain, const struct fi_xpu_attr *attr,
			       void *context)
{
	struct xpu_ctx *ctx = calloc(1, sizeof(*ctx));

	if (!ctx)
		return NULL;
	ctx->fi_ops.close = ctx_close;
	OBJ_OPS_FILL(&ctx->fi_ops, fid);
	obj_fid_init(&ctx->fid.fid, FI_CLASS_XPU_CTX, context, &ctx->fi_ops);
	ctx->fid.ops = &ctx_ops;
	ctx->domain = domain;
	ctx->iface = attr->iface;
	ctx->device = attr->device;
	if (attr->ops && HAS(attr->ops, import))
		ctx->import = attr->ops->import;
	obj_refs_init(&ctx->refs);
	list_init(&ctx->eps);
	list_init(&ctx->cqs);
	list_init(&ctx->cntrs);
	list_init(&ctx->mems);
	list_init(&ctx->kept);
	pthread_mutex_init(&ctx->lock, NULL);
	pthread_mutex_init(&ctx->names_lock, NULL);
	xpu_names_init(&ctx->addrs);
	xpu_names_init(&ctx->regions);
	return ctx;
}

int xpu_ctx_open(struct fid_domain *fid, struct fi_xpu_attr *attr, struct fid_xpu_ctx **ctx_p,
		 void *context)
{
	struct obj_domain *domain = obj_domain_of(fid);
	struct xpu_ctx *ctx;
	int ret;

	if (!attr || !ctx_p)
		return -FI_EINVAL;
	ret = check_attr(domain, attr);
	if (ret)
		return ret;
	ctx = ctx_new(domain, attr, context);
	if (!ctx)
		return -FI_ENOMEM;
	ret = check_device(ctx);
	if (!ret)
		ret = ctx_list(ctx);
	if (ret)
		goto err_list;
	ret = xpu_proxy_start(ctx);
	if (ret)
		goto err_start;
	obj_ref_get(&domain->refs, &ctx->domain_ref, &ctx->fid.fid);
	*ctx_p = &ctx->fid;
	return 0;

err_start:
	ctx_unlist(ctx);
err_list:
	ctx_free(ctx);
	return ret;
}

const struct obj_xpu_ops xpu_ops = {
	.ctx = xpu_ctx_open,
	.endpoint = xpu_ep_open,
	.cq = xpu_cq_open,
	.cntr = xpu_cntr_open,
	.addr = xpu_addr_show,
	.desc = xpu_desc_show,
	.addr_gone = xpu_addr_gone,
	.desc_gone = xpu_desc_gone,
};

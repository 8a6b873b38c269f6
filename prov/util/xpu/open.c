/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* open.c - how a context begins and ends, and what a provider calls of this room. */
#include "xpu/ctx.h"

#include <rdma/fi_errno.h>
#include <stdlib.h>

#include "hmem/mem.h"
#include "obj/ops.h"
#include "xpu/api.h"

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
	xpu_ctx_free_mems(ctx);
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

	return xpu_ctx_gives_mem(ctx) ? xpu_ctx_mem(ctx, 1, &mem) : 0;
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

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Endpoints whose queues the device uses by itself: what they need of the context. */

#include "xpu/native.h"

#include <rdma/fi_errno.h>

#include "obj/mr.h"
#include "xpu/ctx.h"

static bool has_counters(const struct obj_ep *ep)
{
	unsigned i;

	for (i = 0; i < OBJ_CNTR_CNT; i++)
		if (ep->cntrs[i])
			return true;
	return false;
}

bool xpu_native_may(struct obj_ep *ep)
{
	struct xpu_cq *cq = ep->tx_cq ? ep->tx_cq->xpu : NULL;
	bool may;

	if (!ep->xpu || !cq || ep->rx_cq != ep->tx_cq || ep->srx || has_counters(ep) ||
	    (ep->xpu->ctx->iface != FI_HMEM_SYSTEM && !ep->xpu->ctx->import))
		return false;
	xpu_ctx_enter(ep->xpu->ctx);
	may = !cq->exported && !cq->native.prov_id;
	xpu_ctx_leave(ep->xpu->ctx);
	return may;
}

int xpu_native_mem(struct obj_ep *ep, size_t size, void **host_p, uint64_t *dev_p)
{
	struct xpu_mem *mem;
	int ret = xpu_ctx_mem(ep->xpu->ctx, size, &mem);

	if (ret)
		return ret;
	*host_p = mem->host;
	*dev_p = mem->dev;
	return 0;
}

int xpu_native_map(struct obj_ep *ep, void *host, size_t size, uint64_t flags, uint64_t *dev_p)
{
	return xpu_ctx_map(ep->xpu->ctx, host, size, flags, dev_p);
}

/* ---- keys of regions ----------------------------------------------------------- */

int xpu_native_name(struct xpu_ctx *ctx, struct xpu_name *name)
{
	if (!ctx->keys || !name->obj)
		return 0;
	if (name->place >= XPU_NATIVE_KEYS)
		return -FI_ENOSPC;
	name->shown = &ctx->keys[name->place];
	__atomic_store_n(name->shown, (uint64_t) name->gen << 32 | ctx->key_of(name->obj), __ATOMIC_RELEASE);
	return 0;
}

int xpu_native_keys(struct obj_ep *ep, uint32_t (*key_of)(const struct obj_mr *mr), uint64_t *dev_p)
{
	struct xpu_ctx *ctx = ep->xpu->ctx;
	void *host;
	uint32_t i;
	int ret;

	if (!ctx->keys) {
		ret = xpu_native_mem(ep, XPU_NATIVE_KEYS * sizeof(uint64_t), &host, &ctx->keys_dev);
		if (ret)
			return ret;
		pthread_mutex_lock(&ctx->names_lock);
		ctx->keys = host;
		ctx->key_of = key_of;
		for (i = 0; i < ctx->regions.cnt; i++)
			xpu_native_name(ctx, ctx->regions.at[i]);
		pthread_mutex_unlock(&ctx->names_lock);
	}
	*dev_p = ctx->keys_dev;
	return 0;
}

/* ---- handles -------------------------------------------------------------------- */

void xpu_native_ring(struct obj_ep *ep, struct fid_xpu_cq *handle)
{
	xpu_handle_fill(&handle->fid, FI_CLASS_CQ, ep->tx_cq->xpu->mem);
}

void xpu_native_set(struct obj_ep *ep, const struct xpu_native *native)
{
	struct xpu_ctx *ctx = ep->xpu->ctx;

	xpu_ctx_enter(ctx);
	ep->xpu->native = *native;
	ep->tx_cq->xpu->native = *native;
	xpu_ctx_leave(ctx);
}

void xpu_native_keep(struct obj_ep *ep, struct xpu_kept *kept)
{
	struct xpu_ctx *ctx = ep->xpu->ctx;

	xpu_ctx_enter(ctx);
	list_add_tail(&kept->node, &ctx->kept);
	xpu_ctx_leave(ctx);
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Counters that devices read: an ordinary counter, and two words that follow it. */

#include <rdma/fi_errno.h>
#include <stdlib.h>

#include "obj/ops.h"
#include "xpu/ctx.h"

/* count_follow - add to @shown what has come since @last: a device may have added to it, too. */
static unsigned count_follow(uint64_t *shown, uint64_t now, uint64_t *last)
{
	if (now == *last)
		return 0;
	__atomic_fetch_add(shown, now - *last, __ATOMIC_RELEASE);
	*last = now;
	return 1;
}

unsigned xpu_cntr_pass(struct xpu_cntr *x)
{
	unsigned n;

	obj_feed_poll(&x->cntr->wait.feed);
	n = count_follow(&x->shown->err, atomic_load(&x->cntr->err), &x->err);
	return n + count_follow(&x->shown->value, atomic_load(&x->cntr->value), &x->value);
}

static int cntr_export(struct fid_cntr *fid, uint64_t flags, struct fid_xpu_cntr *handle)
{
	struct xpu_cntr *x = obj_cntr_of(fid)->xpu;

	if (flags || !handle)
		return -FI_EINVAL;
	xpu_handle_fill(&handle->fid, FI_CLASS_CNTR, x->mem);
	return 0;
}

static int cntr_close(struct fid *fid)
{
	struct obj_cntr *cntr = container_of(fid, struct obj_cntr, fid.fid);
	struct xpu_cntr *x = cntr->xpu;
	int ret;

	if (obj_inherited(&cntr->refs))
		return x->real->close(fid);
	ret = xpu_close_real(x->ctx, x->real, fid, &x->node);
	if (ret)
		return ret;
	__atomic_store_n(&x->shown->closed, 1, __ATOMIC_RELEASE);
	obj_ref_put(&x->ctx_ref);
	free(x);
	return 0;
}

/* The host may change it; a device reads it. */
static void cntr_wrap(struct xpu_cntr *x, struct fid_cntr *fid)
{
	x->cntr = obj_cntr_of(fid);
	x->cntr->xpu = x;
	x->real = fid->fid.ops;
	x->fi_ops = *fid->fid.ops;
	x->fi_ops.close = cntr_close;
	x->cntr_ops.add = fid->ops->add;
	x->cntr_ops.set = fid->ops->set;
	x->cntr_ops.adderr = fid->ops->adderr;
	x->cntr_ops.seterr = fid->ops->seterr;
	x->cntr_ops.export_xpu = cntr_export;
	OBJ_OPS_FILL(&x->cntr_ops, cntr);
	fid->fid.ops = &x->fi_ops;
	fid->ops = &x->cntr_ops;
}

static int cntr_check(struct obj_domain *domain, const struct fi_cntr_attr *attr, struct xpu_ctx *ctx)
{
	const char *why = NULL;

	if (!ctx)
		why = "xpu_ctx is no context of the domain";
	else if (attr->flags & FI_PEER)
		why = "a counter of a peer is read by the host";
	else if (attr->wait_obj != FI_WAIT_NONE && attr->wait_obj != FI_WAIT_UNSPEC)
		why = "the host cannot wait for it: wait_obj is FI_WAIT_NONE";
	if (!why)
		return 0;
	FI_WARN(domain->prov, FI_LOG_CNTR, "fi_cntr_open with FI_XPU: %s\n", why);
	return -FI_EINVAL;
}

int xpu_cntr_open(struct obj_domain *domain, const struct fi_cntr_attr *attr,
		  struct fid_cntr **cntr_p, void *context)
{
	struct xpu_ctx *ctx = xpu_ctx_of(domain, attr->xpu_ctx);
	struct fi_cntr_attr plain = *attr;
	struct fid_cntr *fid;
	struct xpu_cntr *x;
	int ret = cntr_check(domain, attr, ctx);

	if (ret)
		return ret;
	x = calloc(1, sizeof(*x));
	if (!x)
		return -FI_ENOMEM;
	plain.flags &= ~FI_XPU;
	plain.wait_obj = FI_WAIT_NONE;
	x->ctx = ctx;
	ret = xpu_ctx_mem(ctx, sizeof(*x->shown), &x->mem);
	if (!ret)
		ret = obj_cntr_open(&domain->fid, &plain, &fid, context);
	if (ret) {
		free(x);
		return ret;
	}
	x->shown = x->mem->host;
	cntr_wrap(x, fid);
	obj_ref_get(&ctx->refs, &x->ctx_ref, &fid->fid);
	xpu_ctx_enter(ctx);
	list_add_tail(&x->node, &ctx->cntrs);
	xpu_ctx_leave(ctx);
	*cntr_p = fid;
	return 0;
}

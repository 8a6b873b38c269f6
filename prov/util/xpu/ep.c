/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Endpoints that devices post to: an ordinary endpoint of the provider, and a ring before it. */

#include <poll.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "obj/ops.h"
#include "xpu/ctx.h"
#include "xpu/api.h"

#define RECORDS_MIN 64
#define RECORDS_MAX 4096
/* How long a close waits for records that devices have begun. */
#define PATIENCE_MS 100

static struct xpu_ep *xpu_ep_of(struct fid *fid)
{
	return container_of(fid, struct obj_ep_handle, fid.fid)->ep->xpu;
}

/* ---- export ----------------------------------------------------------------- */

/* share_av - sources in a queue are addresses of the vector of all endpoints that use it. */
static void share_av(struct obj_ep *ep)
{
	struct xpu_cq *cq = ep->rx_cq ? ep->rx_cq->xpu : NULL;

	if (!cq || !ep->av || cq->av == ep->av)
		return;
	cq->mixed = cq->mixed || cq->av;
	cq->av = cq->mixed ? NULL : ep->av;
}

static int ep_export(struct fid_ep *fid, uint64_t flags, struct fid_xpu_ep *handle)
{
	struct xpu_ep *x = xpu_ep_of(&fid->fid);

	if (flags || !handle || !x->ep->enabled || x->closed)
		return -FI_EINVAL;
	xpu_ctx_enter(x->ctx);
	if (!x->listed) {
		share_av(x->ep);
		list_add_tail(&x->node, &x->ctx->eps);
		x->listed = true;
	}
	xpu_ctx_leave(x->ctx);
	if (x->native.prov_id)
		xpu_handle_native(&handle->fid, FI_CLASS_EP, x->native.prov_id, x->native.ep);
	else
		xpu_handle_fill(&handle->fid, FI_CLASS_EP, x->mem);
	return 0;
}

/* ---- binding ---------------------------------------------------------------- */

/* context_of - of the queue or counter that @fid is; NULL: no device reads it. */
static struct xpu_ctx *context_of(struct fid *fid)
{
	struct xpu_cntr *cntr;
	struct xpu_cq *cq;

	switch (fid->fclass) {
	case FI_CLASS_CQ:
		cq = container_of(fid, struct obj_cq, fid.fid)->xpu;
		return cq ? cq->ctx : NULL;
	case FI_CLASS_CNTR:
		cntr = container_of(fid, struct obj_cntr, fid.fid)->xpu;
		return cntr ? cntr->ctx : NULL;
	default:
		return NULL;
	}
}

static int ep_bind(struct fid *fid, struct fid *bfid, uint64_t flags)
{
	struct xpu_ep *x = xpu_ep_of(fid);
	struct xpu_ctx *ctx = bfid ? context_of(bfid) : NULL;

	if (x->native.prov_id && bfid && bfid->fclass == FI_CLASS_CNTR) {
		FI_WARN(x->ep->prov, FI_LOG_EP_CTRL, "cannot bind a counter to the endpoint %p: its device "
			"uses the NIC by itself; bind it before fi_enable()\n", (void *) fid);
		return -FI_EOPBADSTATE;
	}
	if (!ctx || ctx == x->ctx)
		return x->real->bind(fid, bfid, flags);
	FI_WARN(x->ep->prov, FI_LOG_EP_CTRL, "cannot bind the %s to the endpoint %p: it is of another "
		"XPU context\n", obj_fid_name(bfid), (void *) fid);
	return -FI_EINVAL;
}

/* ---- closing ---------------------------------------------------------------- */

static void forget_av(struct obj_ep *ep)
{
	struct xpu_cq *cq = ep->rx_cq ? ep->rx_cq->xpu : NULL;

	if (cq && cq->av == ep->av)
		cq->av = NULL;
}

static void cancel_pending(struct xpu_ep *x)
{
	if (x->pending)
		xpu_fail(x, &x->rec, FI_ECANCELED);
	x->pending = false;
}

/* cancel_all - what is in the ring fails; a record that is not completed in time is passed over. */
static void cancel_all(struct xpu_ep *x)
{
	uint64_t deadline = clock_deadline(PATIENCE_MS);

	xpu_ring_close(&x->ring);
	cancel_pending(x);
	while (xpu_ring_started(&x->ring)) {
		x->pending = xpu_ring_take(&x->ring, &x->rec);
		if (x->pending)
			cancel_pending(x);
		else if (clock_ns() >= deadline)
			xpu_ring_skip(&x->ring);
		else
			poll(NULL, 0, 1);
	}
}

static void ep_retire(struct xpu_ep *x)
{
	xpu_ctx_enter(x->ctx);
	if (x->listed)
		list_del(&x->node);
	forget_av(x->ep);
	xpu_ctx_leave(x->ctx);
	cancel_all(x);
	x->closed = true;
}

static int ep_close(struct fid *fid)
{
	struct xpu_ep *x = xpu_ep_of(fid);
	int ret;

	if (obj_inherited(&x->ep->refs))
		return x->real->close(fid);
	ret = obj_ep_busy(x->ep);
	if (ret)
		return ret;
	if (!x->closed)
		ep_retire(x);
	ret = x->real->close(fid);
	if (ret)
		return ret;
	obj_ref_put(&x->ctx_ref);
	free(x);
	return 0;
}

/* ---- opening ---------------------------------------------------------------- */

static size_t records_of(size_t size)
{
	size_t records = RECORDS_MIN;

	while (records < size && records < RECORDS_MAX)
		records *= 2;
	return records;
}

/* open_real - the provider's endpoint, which knows nothing of devices. */
static int open_real(struct obj_domain *domain, const struct fi_info *info, struct fid_ep **ep_p,
		     void *context)
{
	struct fi_ep_attr attr = *info->ep_attr;
	struct fi_info plain = *info;

	attr.xpu_ctx = NULL;
	plain.ep_attr = &attr;
	return domain->ops->endpoint(&domain->fid, &plain, ep_p, 0, context);
}

static void ep_wrap(struct xpu_ep *x, struct fid_ep *fid)
{
	x->ep = obj_ep_of(fid);
	x->ep->xpu = x;
	x->real = fid->fid.ops;
	x->fi_ops = *fid->fid.ops;
	x->fi_ops.close = ep_close;
	x->fi_ops.bind = ep_bind;
	x->ep_ops = *fid->ops;
	x->ep_ops.export_xpu = ep_export;
	fid->fid.ops = &x->fi_ops;
	fid->ops = &x->ep_ops;
	obj_ref_get(&x->ctx->refs, &x->ctx_ref, &fid->fid);
}

static int ep_refuse(struct obj_domain *domain, const char *why)
{
	FI_WARN(domain->prov, FI_LOG_EP_CTRL, "fi_endpoint2 with FI_XPU: %s\n", why);
	return -FI_EINVAL;
}

int xpu_ep_open(struct obj_domain *domain, struct fi_info *info, uint64_t flags,
		struct fid_ep **ep_p, void *context)
{
	struct xpu_ctx *ctx = xpu_ctx_of(domain, info->ep_attr->xpu_ctx);
	size_t records = records_of(info->tx_attr ? info->tx_attr->size : 0);
	struct fid_ep *fid;
	struct xpu_ep *x;
	int ret;

	if (flags != FI_XPU)
		return ep_refuse(domain, "flags other than FI_XPU");
	if (!ctx)
		return ep_refuse(domain, "ep_attr->xpu_ctx is no context of the domain");
	x = calloc(1, sizeof(*x));
	if (!x)
		return -FI_ENOMEM;
	x->ctx = ctx;
	ret = xpu_ctx_mem(ctx, xpu_ring_bytes(records), &x->mem);
	if (!ret)
		ret = open_real(domain, info, &fid, context);
	if (ret) {
		free(x);
		return ret;
	}
	xpu_ring_init(&x->ring, x->mem->host, x->mem->dev, records, 0);
	ep_wrap(x, fid);
	*ep_p = fid;
	return 0;
}

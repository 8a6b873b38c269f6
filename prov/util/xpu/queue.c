/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Completion queues that devices read: an ordinary queue, and a ring behind it. */

#include <rdma/fi_errno.h>
#include <stdlib.h>

#include "obj/ops.h"
#include "xpu/ctx.h"

#define ENTRIES_MIN 64
#define ENTRIES_MAX 4096
#define ENTRIES_DEFAULT 1024
#define BATCH 16		/* entries that are read at once */

/* ---- passing on -------------------------------------------------------------- */

/* source_of - as the device passes it; UINT64_MAX: unknown. */
static uint64_t source_of(struct xpu_cq *x, fi_addr_t src)
{
	struct obj_av *av = x->av;
	uint64_t raw = UINT64_MAX;
	unsigned rx;

	if (src == FI_ADDR_NOTAVAIL || !av)
		return UINT64_MAX;
	if (av->user_id)
		return src;
	pthread_mutex_lock(&x->ctx->names_lock);
	xpu_name_get(&x->ctx->addrs, av, obj_av_index(av, src, &rx), src, &raw);
	atomic_store(&av->xpu, true);
	pthread_mutex_unlock(&x->ctx->names_lock);
	return raw;
}

static unsigned pass_err(struct xpu_cq *x)
{
	struct fi_cq_err_entry err = { 0 };

	if (!xpu_out_room(&x->out) || x->real_cq->readerr(&x->cq->fid, &err, 0) != 1)
		return 0;
	/* what it points to is memory of the host, and soon another's */
	err.err_data = NULL;
	err.err_data_size = 0;
	xpu_out_put(&x->out, true, source_of(x, err.src_addr), &err, sizeof(err));
	return 1;
}

unsigned xpu_cq_pass(struct xpu_cq *x)
{
	_Alignas(8) char buf[BATCH * sizeof(struct fi_cq_tagged_entry)];
	size_t size = x->cq->entry_size, room = xpu_out_room(&x->out);
	fi_addr_t src[BATCH];
	ssize_t n, i;

	n = x->real_cq->readfrom(&x->cq->fid, buf, room < BATCH ? room : BATCH, src);
	for (i = 0; i < n; i++)
		xpu_out_put(&x->out, false, source_of(x, src[i]), buf + (size_t) i * size, size);
	if (n == -FI_EAVAIL)
		return pass_err(x);
	return n > 0 ? (unsigned) n : 0;
}

/* ---- the object --------------------------------------------------------------- */

static int cq_export(struct fid_cq *fid, uint64_t flags, struct fid_xpu_cq *handle)
{
	struct xpu_cq *x = obj_cq_of(fid)->xpu;

	if (flags || !handle)
		return -FI_EINVAL;
	xpu_ctx_enter(x->ctx);
	x->exported = true;
	if (x->native.prov_id)
		xpu_handle_native(&handle->fid, FI_CLASS_CQ, x->native.prov_id, x->native.cq);
	else
		xpu_handle_fill(&handle->fid, FI_CLASS_CQ, x->mem);
	xpu_ctx_leave(x->ctx);
	return 0;
}

static int cq_close(struct fid *fid)
{
	struct obj_cq *cq = container_of(fid, struct obj_cq, fid.fid);
	struct xpu_cq *x = cq->xpu;
	int ret;

	if (obj_inherited(&cq->refs))
		return x->real->close(fid);
	ret = xpu_close_real(x->ctx, x->real, fid, &x->node);
	if (ret)
		return ret;
	__atomic_store_n(&x->out.shown->closed, 1, __ATOMIC_RELEASE);
	obj_ref_put(&x->ctx_ref);
	free(x);
	return 0;
}

/* The host opens, binds and closes it; a device reads it. */
static void cq_wrap(struct xpu_cq *x, struct fid_cq *fid)
{
	x->cq = obj_cq_of(fid);
	x->cq->xpu = x;
	x->real = fid->fid.ops;
	x->fi_ops = *fid->fid.ops;
	x->fi_ops.close = cq_close;
	x->real_cq = fid->ops;
	x->cq_ops.strerror = fid->ops->strerror;
	x->cq_ops.export_xpu = cq_export;
	OBJ_OPS_FILL(&x->cq_ops, cq);
	fid->fid.ops = &x->fi_ops;
	fid->ops = &x->cq_ops;
}

static int cq_check(struct obj_domain *domain, const struct fi_cq_attr *attr, struct xpu_ctx *ctx)
{
	const char *why = NULL;

	if (!ctx)
		why = "xpu_ctx is no context of the domain";
	else if (attr->flags & FI_PEER)
		why = "a queue of a peer is read by the host";
	else if (attr->wait_obj != FI_WAIT_NONE && attr->wait_obj != FI_WAIT_UNSPEC)
		why = "the host cannot wait for it: wait_obj is FI_WAIT_NONE";
	if (!why)
		return 0;
	FI_WARN(domain->prov, FI_LOG_CQ, "fi_cq_open with FI_XPU: %s\n", why);
	return -FI_EINVAL;
}

static size_t entries_of(size_t size)
{
	size_t entries = ENTRIES_MIN;

	if (!size)
		size = ENTRIES_DEFAULT;
	while (entries < size && entries < ENTRIES_MAX)
		entries *= 2;
	return entries;
}

int xpu_cq_open(struct obj_domain *domain, const struct fi_cq_attr *attr, struct fid_cq **cq_p,
		void *context)
{
	struct xpu_ctx *ctx = xpu_ctx_of(domain, attr->xpu_ctx);
	size_t entries = entries_of(attr->size);
	struct fi_cq_attr plain = *attr;
	struct fid_cq *fid;
	struct xpu_cq *x;
	int ret = cq_check(domain, attr, ctx);

	if (ret)
		return ret;
	x = calloc(1, sizeof(*x));
	if (!x)
		return -FI_ENOMEM;
	plain.flags &= ~FI_XPU;
	plain.wait_obj = FI_WAIT_NONE;
	x->ctx = ctx;
	ret = xpu_ctx_mem(ctx, xpu_out_bytes(entries), &x->mem);
	if (!ret)
		ret = obj_cq_open(&domain->fid, &plain, &fid, context);
	if (ret) {
		free(x);
		return ret;
	}
	cq_wrap(x, fid);
	xpu_out_init(&x->out, x->mem->host, x->mem->dev, entries, x->cq->entry_size, 0);
	obj_ref_get(&ctx->refs, &x->ctx_ref, &fid->fid);
	xpu_ctx_enter(ctx);
	list_add_tail(&x->node, &ctx->cqs);
	xpu_ctx_leave(ctx);
	*cq_p = fid;
	return 0;
}

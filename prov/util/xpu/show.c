/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* What devices pass for addresses and regions: given to the program, and taken back. */

#include <rdma/fi_errno.h>
#include <string.h>

#include "obj/mr.h"
#include "xpu/ctx.h"

static int name_give(uint64_t raw, void *buf, size_t *len)
{
	size_t room = *len;

	*len = XPU_NAME_SIZE;
	if (room < XPU_NAME_SIZE)
		return -FI_ETOOSMALL;
	memcpy(buf, &raw, sizeof(raw));
	return 0;
}

int xpu_addr_show(struct obj_av *av, fi_addr_t fi_addr, void *buf, size_t *len,
		  struct fid_xpu_ctx *fid)
{
	struct xpu_ctx *ctx = xpu_ctx_of(av->domain, fid);
	_Alignas(8) char addr[OBJ_ADDR_MAX];
	size_t addr_len;
	unsigned rx;
	uint64_t raw = 0;
	uint32_t i = obj_av_index(av, fi_addr, &rx);
	int ret;

	if (!ctx || !len || (!buf && *len) || obj_av_addr(av, i, addr, &addr_len) ||
	    (!av->rx_ctx_bits && fi_addr != i))
		return -FI_EINVAL;
	if (*len < XPU_NAME_SIZE)
		return name_give(0, NULL, len);
	pthread_mutex_lock(&ctx->names_lock);
	ret = xpu_name_get(&ctx->addrs, av, i, fi_addr, &raw);
	atomic_store(&av->xpu, true);
	pthread_mutex_unlock(&ctx->names_lock);
	return ret ? ret : name_give(raw, buf, len);
}

int xpu_desc_show(struct obj_mr *mr, const struct fi_mr_xpu_desc *arg)
{
	struct xpu_ctx *ctx = arg ? xpu_ctx_of(mr->domain, arg->ctx) : NULL;
	uint64_t raw = 0;
	int ret;

	if (!ctx || !arg->len || (!arg->buf && *arg->len))
		return -FI_EINVAL;
	if (arg->flags != FI_XPU)
		return -FI_EINVAL;
	if (*arg->len < XPU_NAME_SIZE)
		return name_give(0, NULL, arg->len);
	pthread_mutex_lock(&ctx->names_lock);
	ret = xpu_name_get(&ctx->regions, mr, 0, 0, &raw);
	if (!ret)
		ret = xpu_native_name(ctx, ctx->regions.at[(uint32_t) raw]);
	atomic_store(&mr->xpu, true);
	pthread_mutex_unlock(&ctx->names_lock);
	return ret ? ret : name_give(raw, arg->buf, arg->len);
}

void xpu_addr_gone(struct obj_av *av, fi_addr_t fi_addr)
{
	struct obj_domain *domain = av->domain;
	struct xpu_ctx *ctx;

	pthread_mutex_lock(&domain->xpu_lock);
	list_for_each_entry(ctx, &domain->xpus, node) {
		pthread_mutex_lock(&ctx->names_lock);
		if (fi_addr == FI_ADDR_UNSPEC)
			xpu_name_drop_all(&ctx->addrs, av);
		else
			xpu_name_drop(&ctx->addrs, av, fi_addr);
		pthread_mutex_unlock(&ctx->names_lock);
	}
	pthread_mutex_unlock(&domain->xpu_lock);
}

void xpu_desc_gone(struct obj_mr *mr)
{
	struct obj_domain *domain = mr->domain;
	struct xpu_ctx *ctx;

	pthread_mutex_lock(&domain->xpu_lock);
	list_for_each_entry(ctx, &domain->xpus, node) {
		pthread_mutex_lock(&ctx->names_lock);
		xpu_name_drop(&ctx->regions, mr, 0);
		pthread_mutex_unlock(&ctx->names_lock);
	}
	pthread_mutex_unlock(&domain->xpu_lock);
}

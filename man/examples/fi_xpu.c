/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "example.h"

#include <rdma/fi_xpu.h>

/* [page */
/* What code of the device needs; the program copies the handle into memory of the device. */
static int open_for_device(struct fid_domain *domain, struct fi_info *info, struct fid_av *av,
			   struct fid_xpu_ctx **ctx, struct fid_cq **cq, struct fid_ep **ep,
			   struct fid_xpu_ep *handle)
{
	struct fi_xpu_attr attr = { .iface = FI_HMEM_SYSTEM };	/* threads of this process */
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_CONTEXT, .flags = FI_XPU };

	MUST(fi_xpu_ctx(domain, &attr, ctx, NULL));
	cq_attr.xpu_ctx = info->ep_attr->xpu_ctx = *ctx;
	MUST(fi_cq_open(domain, &cq_attr, cq, NULL));
	MUST(fi_endpoint2(domain, info, ep, FI_XPU, NULL));
	MUST(fi_ep_bind(*ep, &av->fid, 0));
	MUST(fi_ep_bind(*ep, &(*cq)->fid, FI_TRANSMIT | FI_RECV));
	MUST(fi_enable(*ep));
	return fi_ep_export_xpu(*ep, 0, handle);
}

/* The device's own capability is asked for; -FI_ENODATA says that no provider has it. */
static int find_for_device(struct fi_info **info)
{
	struct fi_info *hints = fi_allocinfo();
	int ret;

	hints->ep_attr->type = FI_EP_RDM;
	hints->caps = FI_RMA | FI_XPU;
	ret = fi_getinfo(FI_VERSION(2, 7), NULL, NULL, 0, hints, info);
	fi_freeinfo(hints);
	return ret;
}
/* page] */

int main(void)
{
	struct fi_av_attr av_attr = { .type = FI_AV_TABLE };
	struct fid_xpu_ep handle;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_xpu_ctx *ctx;
	struct fi_info *info;
	struct fid_av *av;
	struct fid_cq *cq;
	struct fid_ep *ep;
	int ret;

	example_need_provider();
	ret = find_for_device(&info);
	if (ret == -FI_ENODATA) {
		printf("skipped: no provider has FI_XPU\n");
		return 77;
	}
	MUST(ret);
	MUST(fi_fabric(info->fabric_attr, &fabric, NULL));
	MUST(fi_domain(fabric, info, &domain, NULL));
	MUST(fi_av_open(domain, &av_attr, &av, NULL));
	MUST(open_for_device(domain, info, av, &ctx, &cq, &ep, &handle));
	MUST(fi_close(&ep->fid));
	MUST(fi_close(&cq->fid));
	MUST(fi_close(&av->fid));
	MUST(fi_close(&ctx->fid));
	MUST(fi_close(&domain->fid));
	MUST(fi_close(&fabric->fid));
	fi_freeinfo(info);
	return handle.fid.fclass != FI_CLASS_EP;
}

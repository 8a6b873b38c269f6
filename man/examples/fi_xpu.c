/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "example.h"

#include <pthread.h>
#include <rdma/fi_xpu_device.h>

#define TILE 4096

/* [page */
/* What the device has: handles, the address of its peer, and where the peer's memory is. */
struct device {
	struct fid_xpu_ep ep;
	struct fid_xpu_cq cq;
	uint64_t peer;			/* of fi_av_lookup2() */
	uint64_t tile_addr, signal_addr, key;
	char tile[TILE];
	uint64_t one;
};

/* Code of the device.  A write and the atomic behind it are in order at the peer where msg_order has
 * FI_ORDER_WAW: who sees the signal sees the tile, and nothing has to wait in between.
 */
static int put_with_signal(struct device *d)
{
	struct fi_cq_entry done[2];
	int64_t n = 0;

	while (fi_xpu_write(&d->ep, d->tile, TILE, NULL, 0, &d->peer, d->tile_addr, d->key, NULL,
			    0, FI_XPU_WORK_ITEM) == -FI_EAGAIN)
		;
	while (fi_xpu_atomic(&d->ep, &d->one, 1, NULL, &d->peer, d->signal_addr, d->key,
			     FI_UINT64, FI_SUM, NULL, FI_DELIVERY_COMPLETE,
			     FI_XPU_WORK_ITEM) == -FI_EAGAIN)
		;
	while (n >= 0 && n < 2) {
		int64_t got = fi_xpu_cq_sread(&d->cq, done, 2, 1, FI_XPU_WORK_ITEM);

		n = got < 0 ? got : n + got;
	}
	return n < 0 ? (int) n : 0;
}

/* What the host does for it; the program copies struct device into memory of the device. */
static int open_for_device(struct fid_domain *domain, struct fi_info *info, struct fid_av *av,
			   struct fid_xpu_ctx **ctx, struct fid_cq **cq, struct fid_ep **ep,
			   struct device *d)
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
	MUST(fi_cq_export_xpu(*cq, 0, &d->cq));
	return fi_ep_export_xpu(*ep, 0, &d->ep);
}
/* page] */

/* -FI_ENODATA: no provider of this build has FI_XPU. */
static int find_for_device(struct fi_info **info)
{
	struct fi_info *hints = fi_allocinfo();
	int ret;

	hints->ep_attr->type = FI_EP_RDM;
	hints->caps = FI_RMA | FI_ATOMIC | FI_XPU;
	hints->tx_attr->msg_order = FI_ORDER_WAW;
	ret = fi_getinfo(FI_VERSION(2, 7), NULL, NULL, 0, hints, info);
	fi_freeinfo(hints);
	return ret;
}

/* The peer is the endpoint itself. */
static void find_self(struct fid_ep *ep, struct fid_av *av, struct fid_xpu_ctx *ctx,
		      struct device *d)
{
	size_t len = sizeof(d->peer), name_len = FI_NAME_MAX;
	char name[FI_NAME_MAX];
	fi_addr_t self;

	MUST(fi_getname(&ep->fid, name, &name_len));
	MUST(fi_av_insert(av, name, 1, &self, 0, NULL));
	MUST(fi_av_lookup2(av, self, &d->peer, &len, FI_XPU, ctx));
}

static void *run_device(void *arg)
{
	MUST(put_with_signal(arg));
	return NULL;
}

int main(void)
{
	static struct { char tile[TILE]; uint64_t signal; } memory;
	struct fi_av_attr av_attr = { .type = FI_AV_TABLE };
	static struct device device;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_xpu_ctx *ctx;
	struct fi_info *info;
	pthread_t thread;
	struct fid_av *av;
	struct fid_cq *cq;
	struct fid_ep *ep;
	struct fid_mr *mr;
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
	MUST(fi_mr_reg(domain, &memory, sizeof(memory), FI_REMOTE_WRITE, 0, 1, 0, &mr, NULL));
	MUST(open_for_device(domain, info, av, &ctx, &cq, &ep, &device));
	find_self(ep, av, ctx, &device);
	device.tile_addr = info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uintptr_t) &memory : 0;
	device.signal_addr = device.tile_addr + TILE;
	device.key = fi_mr_key(mr);
	device.one = 1;
	memset(device.tile, 7, TILE);
	pthread_create(&thread, NULL, run_device, &device);
	pthread_join(thread, NULL);
	ret = memory.signal != 1 || memcmp(memory.tile, device.tile, TILE);
	MUST(fi_close(&ep->fid));
	MUST(fi_close(&cq->fid));
	MUST(fi_close(&mr->fid));
	MUST(fi_close(&av->fid));
	MUST(fi_close(&ctx->fid));
	MUST(fi_close(&domain->fid));
	MUST(fi_close(&fabric->fid));
	fi_freeinfo(info);
	return ret;
}

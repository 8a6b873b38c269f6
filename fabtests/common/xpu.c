/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/* An endpoint for code of a device. */
#include "xpu.h"

#ifdef FI_XPU
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define KEY		0x3f00
#define THREADS_MAX	64

/* ---- the host's side ---- */

/* The orders let a signal follow its data without a wait in between. */
static struct fi_info *find_info(struct ft *ft)
{
	struct fi_info *plain = ft->info, *info;
	uint64_t caps = ft->hints->caps, order = ft->hints->tx_attr->msg_order;
	int ret;

	ft->hints->caps = FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_XPU;
	ft->hints->tx_attr->msg_order = FI_ORDER_WAW | FI_ORDER_SAW | FI_ORDER_ATOMIC_WAW;
	ret = ft_find(ft);
	ft->hints->caps = caps;
	ft->hints->tx_attr->msg_order = order;
	info = ft->info;
	ft->info = plain;
	if (ret == -FI_ENODATA)
		ft_skip("the provider serves no devices (FI_XPU)");
	FT_TRY(ret);
	return info;
}

static void open_queues(struct ft_xpu *x)
{
	struct fi_cq_attr cq = { .format = FI_CQ_FORMAT_TAGGED, .flags = FI_XPU, .xpu_ctx = x->ctx };
	struct fi_cntr_attr cntr = { .flags = FI_XPU, .xpu_ctx = x->ctx };
	struct fi_av_attr av = { .type = FI_AV_TABLE };

	FT_TRY(fi_cq_open(x->domain, &cq, &x->cq, NULL));
	FT_TRY(fi_cntr_open(x->domain, &cntr, &x->cntr, NULL));
	FT_TRY(fi_av_open(x->domain, &av, &x->av, NULL));
	FT_TRY(fi_cq_export_xpu(x->cq, 0, &x->dev.cq));
	FT_TRY(fi_cntr_export_xpu(x->cntr, 0, &x->dev.cntr));
}

static void open_ep(struct ft_xpu *x)
{
	char mine[FT_ADDR_MAX] = "", theirs[FT_ADDR_MAX];
	size_t len = sizeof(mine), size = sizeof(x->dev.peer);
	fi_addr_t peer;

	x->info->ep_attr->xpu_ctx = x->ctx;
	FT_TRY(fi_endpoint2(x->domain, x->info, &x->ep, FI_XPU, x));
	FT_TRY(fi_ep_bind(x->ep, &x->av->fid, 0));
	FT_TRY(fi_ep_bind(x->ep, &x->cq->fid, FI_TRANSMIT | FI_RECV));
	FT_TRY(fi_ep_bind(x->ep, &x->cntr->fid, FI_WRITE));
	FT_TRY(fi_enable(x->ep));
	FT_TRY(fi_ep_export_xpu(x->ep, 0, &x->dev.ep));
	FT_TRY(fi_getname(&x->ep->fid, mine, &len));
	ft_ctl_swap(x->ft, mine, theirs, sizeof(mine));
	FT_IS(fi_av_insert(x->av, theirs, 1, &peer, 0, NULL), 1);
	FT_TRY(fi_av_lookup2(x->av, peer, &x->dev.peer, &size, FI_XPU, x->ctx));
}

static void open_region(struct ft_xpu *x, size_t len)
{
	int mode = x->info->domain_attr->mr_mode;
	size_t size = sizeof(x->dev.desc);
	struct ft_remote mine = { .len = len };

	if (posix_memalign((void **) &x->dev.mem, 64, len))
		ft_fail("out of memory for a region of %zu bytes", len);
	memset(x->dev.mem, 0, len);
	FT_TRY(fi_mr_reg(x->domain, x->dev.mem, len, FI_SEND | FI_RECV | FI_READ | FI_WRITE |
			 FI_REMOTE_READ | FI_REMOTE_WRITE, 0, mode & FI_MR_PROV_KEY ? 0 : KEY, 0,
			 &x->mr, NULL));
	if (mode & FI_MR_ENDPOINT) {
		FT_TRY(fi_mr_bind(x->mr, &x->ep->fid, 0));
		FT_TRY(fi_mr_enable(x->mr));
	}
	FT_TRY(fi_mr_get_xpu_desc(x->mr, &x->dev.desc, &size, FI_XPU, x->ctx));
	mine.key = fi_mr_key(x->mr);
	mine.addr = mode & FI_MR_VIRT_ADDR ? (uintptr_t) x->dev.mem : 0;
	ft_ctl_swap(x->ft, &mine, &x->dev.remote, sizeof(mine));
}

void ft_xpu_open(struct ft *ft, struct ft_xpu *x, size_t len)
{
	struct fi_xpu_attr attr = { .iface = FI_HMEM_SYSTEM };

	ft_at("opening an endpoint for a device");
	memset(x, 0, sizeof(*x));
	x->ft = ft;
	x->info = find_info(ft);
	FT_TRY(fi_domain(ft->fabric, x->info, &x->domain, x));
	FT_MAY(fi_xpu_ctx(x->domain, &attr, &x->ctx, x));
	open_queues(x);
	open_ep(x);
	open_region(x, len);
}

void ft_xpu_close(struct ft_xpu *x)
{
	struct fid *order[] = { &x->mr->fid, &x->ep->fid, &x->cq->fid, &x->cntr->fid, &x->av->fid,
				&x->ctx->fid, &x->domain->fid };

	ft_at("closing the endpoint for a device");
	ft_sync(x->ft);
	for (size_t i = 0; i < FT_COUNT(order); i++)
		FT_TRY(fi_close(order[i]));
	fi_freeinfo(x->info);
	free(x->dev.mem);
}

/* ---- the device ---- */

struct launched {
	struct ft_xpu_device *d;
	int thread;
	void (*code)(struct ft_xpu_device *d, int thread);
};

static void *launch(void *arg)
{
	struct launched *l = arg;

	l->code(l->d, l->thread);
	return NULL;
}

void ft_xpu_run(struct ft_xpu *x, int threads, void (*code)(struct ft_xpu_device *d, int thread))
{
	struct launched l[THREADS_MAX];
	pthread_t id[THREADS_MAX];

	if (threads > THREADS_MAX)
		ft_fail("%d threads of the device, of at most %d", threads, THREADS_MAX);
	for (int i = 0; i < threads; i++) {
		l[i] = (struct launched) { &x->dev, i, code };
		if (pthread_create(&id[i], NULL, launch, &l[i]))
			ft_fail("no thread %d for the device", i);
	}
	for (int i = 0; i < threads; i++)
		pthread_join(id[i], NULL);
}

static void take_error(struct ft_xpu_device *d)
{
	struct fi_cq_err_entry err = { 0 };

	FT_IS(fi_xpu_cq_readerr(&d->cq, &err, 0, FI_XPU_WORK_ITEM), 1);
	ft_fail("an operation of the device failed: %s", fi_strerror(err.err));
}

void ft_xpu_take(struct ft_xpu_device *d, struct fi_cq_tagged_entry *entry, uint64_t cnt)
{
	int64_t n;

	for (uint64_t got = 0; got < cnt; got += (uint64_t) n) {
		n = fi_xpu_cq_sread(&d->cq, entry + got, cnt - got, 1, FI_XPU_WORK_ITEM);
		if (n == -FI_EAVAIL)
			take_error(d);
		ft_check(n, "fi_xpu_cq_sread()", __FILE__, __LINE__);
	}
}

#else

int ft_xpu_none(const struct ft_test *test, int argc, char **argv)
{
	struct ft ft;

	ft_begin(&ft, test, argc, argv);
	ft_skip("the headers that this was compiled with know no FI_XPU");
}

#endif

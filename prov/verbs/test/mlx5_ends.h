/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * mlx5_ends.h - two connected endpoints on the fakes of mlx5_kernel.h, mlx5_model.h and mlx5_cm.h.
 * Each program that includes it has its own.
 */
#ifndef TEST_MLX5_ENDS_H
#define TEST_MLX5_ENDS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"
#include <rdma/fi_xpu_device.h>

#include "mlx5_cm.h"
#include "mlx5_kernel.h"
#include "mlx5_model.h"
#include "verbs/ep.h"

#define SIZE 32768u
#define SKIP 77

struct fi_provider *fi_verbs_ini(void);

/* ---- two ends ------------------------------------------------------------------- */

struct end {
	struct fid_ep *srx;		/* that it receives by, or NULL */
	struct fid_cq *cq;
	struct fid_eq *eq;
	struct fid_ep *ep;
	struct model_cq model_cq;
	struct model_qp model;
	struct model_srq *shared;	/* with srx */
	char buf[SIZE];
};

static struct fi_info *info;
static struct fid_fabric *fabric;
static struct fid_domain *domain;
static struct fid_mr *mr;
static struct fid_xpu_ctx *ctx;		/* with FI_XPU */
static bool by_proxy;			/* with FI_XPU: the library posts, not the device by itself */
static struct fi_xpu_ops *xpu_callbacks;	/* of the context, or NULL */
static struct end a, b, c;

/* The queues as the kernel knows them, not as the provider found them. */
static void model_of(struct end *e)
{
	const struct kernel_qp *qp = &kernel_qps[kernel_qp_cnt - 1];
	const struct kernel_cq *cq = &kernel_cqs[qp->cq];

	e->model_cq = (struct model_cq) { cq->buf, cq->cnt, cq->dbrec, 0, 0 };
	e->model = (struct model_qp) {
		.qpn = qp->qpn, .uidx = qp->uidx, .dbrec = qp->dbrec, .sq = qp->sq, .rq = qp->rq,
		.sq_size = qp->sq_cnt * 64, .rq_cnt = qp->rq_cnt, .rq_stride = qp->rq_stride,
		.cq = &e->model_cq, .srq = e->shared, .short_data = true,
	};
	assert_int_equal(qp->srq >= 0, e->shared != NULL);
}

static void open_ep(struct end *e)
{
	struct fi_eq_attr eq_attr = { .wait_obj = FI_WAIT_NONE };

	assert_int_equal(fi_eq_open(fabric, &eq_attr, &e->eq, NULL), 0);
	info->ep_attr->xpu_ctx = ctx;
	assert_int_equal(fi_endpoint2(domain, info, &e->ep, ctx ? FI_XPU : 0, NULL), 0);
	assert_int_equal(fi_ep_bind(e->ep, &e->eq->fid, 0), 0);
	assert_int_equal(fi_ep_bind(e->ep, &e->cq->fid, FI_TRANSMIT | FI_RECV), 0);
	if (e->srx)
		assert_int_equal(fi_ep_bind(e->ep, &e->srx->fid, 0), 0);
	assert_int_equal(fi_enable(e->ep), 0);
	obj_cm_set_state(&vrb_ep_of(e->ep)->base, OBJ_CM_CONNECTED);
	model_of(e);
}

static void open_end(struct end *e)
{
	struct fi_cq_attr attr = { .format = FI_CQ_FORMAT_DATA, .flags = ctx ? FI_XPU : 0, .xpu_ctx = ctx };

	struct fid_xpu_cq early;

	assert_int_equal(fi_cq_open(domain, &attr, &e->cq, NULL), 0);
	if (ctx && by_proxy)
		assert_int_equal(fi_cq_export_xpu(e->cq, 0, &early), 0);
	open_ep(e);
}

static void close_ep(struct end *e)
{
	vrb_ep_of(e->ep)->tx_unsignalled = 0;		/* no device executes a marker */
	assert_int_equal(fi_close(&e->ep->fid), 0);
	assert_int_equal(fi_close(&e->eq->fid), 0);
}

static void close_end(struct end *e)
{
	close_ep(e);
	assert_int_equal(fi_close(&e->cq->fid), 0);
}

static int set_up(void **state)
{
	struct fi_xpu_attr host = { .iface = FI_HMEM_SYSTEM, .ops = xpu_callbacks };

	model_fault = NULL;
	memset(&a, 0, sizeof(a));
	memset(&b, 0, sizeof(b));
	assert_int_equal(vrb_prov.fabric(info->fabric_attr, &fabric, NULL), 0);
	assert_int_equal(fi_domain(fabric, info, &domain, NULL), 0);
	if (info->caps & FI_XPU)
		assert_int_equal(fi_xpu_ctx(domain, &host, &ctx, NULL), 0);
	assert_int_equal(fi_mr_reg(domain, &a, sizeof(a), FI_SEND | FI_RECV | FI_REMOTE_READ |
				   FI_REMOTE_WRITE, 0, 0, 0, &mr, NULL), 0);
	open_end(&a);
	open_end(&b);
	return 0;
}

static int tear_down(void **state)
{
	close_end(&a);
	close_end(&b);
	assert_int_equal(fi_close(&mr->fid), 0);
	if (ctx)
		assert_int_equal(fi_close(&ctx->fid), 0);
	ctx = NULL;
	assert_int_equal(fi_close(&domain->fid), 0);
	assert_int_equal(fi_close(&fabric->fid), 0);
	return 0;
}

static void run_device(void)
{
	struct model_wqe x;

	while (model_step(&a.model, &b.model, &x) || model_step(&b.model, &a.model, &x))
		;
	assert_null(model_fault);
}

/* ---- the provider ---------------------------------------------------------------- */

static int start(enum fi_threading threading)
{
	struct fi_info *hints;
	int ret;

	if (!cm_boot())
		return SKIP;
	fi_verbs_ini();
	hints = fi_allocinfo();
	hints->ep_attr->type = FI_EP_MSG;
	hints->mode = FI_RX_CQ_DATA;
	hints->domain_attr->threading = threading;
	hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED |
				      FI_MR_PROV_KEY;
	ret = vrb_getinfo(FI_VERSION(2, 7), "127.0.0.1", NULL, FI_SOURCE, hints, &info);
	fi_freeinfo(hints);
	return ret ? SKIP : 0;
}

#endif

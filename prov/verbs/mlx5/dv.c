/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "verbs/mlx5_dv.h"

#include <dlfcn.h>
#include <endian.h>
#include <errno.h>
#include <pthread.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hmap.h"
#include "verbs/provider.h"

/* ---- what needs no library ------------------------------------------------------ */

struct cq {
	struct mlx5_cq mlx5;		/* first */
	struct hmap qps;		/* by number */
};

/* A thread domain of its own gives the group a doorbell register that no other group uses.  Without
 * one the device still works, by 8-byte stores.
 */
struct ibv_pd *vrb_mlx5_pd(struct vrb_mlx5_group *group, struct ibv_pd *pd)
{
	struct ibv_td_init_attr td = { 0 };
	struct ibv_parent_domain_init_attr attr = { .pd = pd };

	if (group->pd)
		return group->pd;
	group->td = ibv_alloc_td(pd->context, &td);
	if (!group->td)
		return pd;
	attr.td = group->td;
	group->pd = ibv_alloc_parent_domain(pd->context, &attr);
	if (group->pd)
		return group->pd;
	ibv_dealloc_td(group->td);
	group->td = NULL;
	return pd;
}

/* The domain refers to the thread domain, so it goes first. */
void vrb_mlx5_group_fini(struct vrb_mlx5_group *group)
{
	if (group->pd)
		vrb_ibv.dealloc_pd(group->pd);
	if (group->td)
		ibv_dealloc_td(group->td);
}

void vrb_mlx5_srq_fini(struct mlx5_srq *srq)
{
	free(srq->wr_id);
	srq->wr_id = NULL;
}

void vrb_mlx5_qp_fini(struct mlx5_qp *qp, struct vrb_cq *cq)
{
	struct cq *own = (struct cq *) cq;

	if (qp->sq.base.ops == &vrb_sq_direct && hmap_find(&own->qps, qp->sq.qpn) == qp)
		hmap_remove(&own->qps, qp->sq.qpn);
	own->mlx5.last = &vrb_mlx5_no_qp;
	free(qp->sq.wr_id);
	free(qp->sq.blocks);
	free(qp->rq.wr_id);
	qp->sq.wr_id = qp->rq.wr_id = NULL;
	qp->sq.blocks = NULL;
}

/* ---- the library --------------------------------------------------------------- */

/* The library's header and mlx5_wire.h both define these names.  The queues are created and
 * destroyed by libmlx5, which tells where they are; requests and completions bypass it.
 */
#include <infiniband/mlx5dv.h>

static struct {
	__typeof__(&mlx5dv_init_obj) init_obj;
	__typeof__(&mlx5dv_is_supported) is_supported;
} lib;

/* Loaded here and never linked: the library must work where libmlx5 is not installed. */
static void open_lib(void)
{
	void *so = dlopen("libmlx5.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!so)
		return;
	*(void **) &lib.init_obj = dlsym(so, "mlx5dv_init_obj");
	*(void **) &lib.is_supported = dlsym(so, "mlx5dv_is_supported");
}

bool vrb_mlx5_may(struct ibv_context *ctx)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, open_lib);
	if (lib.init_obj && lib.is_supported && lib.is_supported(ctx->device))
		return true;
	VRB_WARN(FI_LOG_DOMAIN, "FI_VERBS_DOORBELL=direct: %s; requests go by libibverbs\n",
		 lib.init_obj ? "the device is not driven by mlx5" :
				"libmlx5 cannot be loaded (package ibverbs-providers)");
	return false;
}

/* ---- completion queues ---------------------------------------------------------- */

static struct mlx5_qp *find_qp(struct mlx5_cq *cq, uint32_t qpn)
{
	return hmap_find(&((struct cq *) cq)->qps, qpn);
}

static void close_cq(struct vrb_cq *base)
{
	struct cq *cq = (struct cq *) base;

	vrb_ibv.destroy_cq(base->cq);
	hmap_destroy(&cq->qps);
	free(cq);
}

int vrb_mlx5_cq_new(struct ibv_context *ctx, struct ibv_comp_channel *channel, unsigned size,
		    struct vrb_cq **cq_p)
{
	struct mlx5dv_cq dv = { 0 };
	struct mlx5dv_obj obj = { .cq.out = &dv };
	struct cq *cq = calloc(1, sizeof(*cq));
	int ret;

	if (!cq)
		return -FI_ENOMEM;
	hmap_init(&cq->qps);
	obj.cq.in = cq->mlx5.base.cq = vrb_ibv.create_cq(ctx, (int) size, cq, channel, 0);
	ret = obj.cq.in ? lib.init_obj(&obj, MLX5DV_OBJ_CQ) : errno;
	if (ret)
		goto err;
	cq->mlx5.base.ops = &vrb_cq_direct;
	cq->mlx5.buf = dv.buf;
	cq->mlx5.mask = dv.cqe_cnt - 1;
	cq->mlx5.stride = dv.cqe_size;
	cq->mlx5.dbrec = dv.dbrec;
	cq->mlx5.uar = dv.cq_uar;
	cq->mlx5.cqn = dv.cqn;
	cq->mlx5.find = find_qp;
	cq->mlx5.close = close_cq;
	vrb_mlx5_cq_init(&cq->mlx5);
	*cq_p = &cq->mlx5.base;
	return 0;

err:
	if (obj.cq.in)
		vrb_ibv.destroy_cq(obj.cq.in);
	free(cq);
	return ret ? -ret : -FI_EIO;
}

/* ---- shared receive queues ------------------------------------------------------ */

static void log_cannot(int ret)
{
	VRB_WARN(FI_LOG_EP_CTRL, "the queues of the device cannot be used directly: %s; without "
		 "FI_VERBS_DOORBELL=direct, libibverbs does it\n", fi_strerror(-ret));
}

int vrb_mlx5_srq_init(struct mlx5_srq *srq, struct ibv_srq *ibv)
{
	struct mlx5dv_srq dv = { 0 };
	struct mlx5dv_obj obj = { .srq = { ibv, &dv } };
	int ret = -lib.init_obj(&obj, MLX5DV_OBJ_SRQ);

	if (!ret && dv.stride < sizeof(struct mlx5_next) + MLX5_SEG)
		ret = -FI_ENOSYS;
	if (!ret) {
		/* The queue is new: its receives are linked in order. */
		*srq = (struct mlx5_srq) {
			.buf = dv.buf, .stride = dv.stride, .head = dv.head, .tail = dv.tail,
			.dbrec = dv.dbrec, .wr_id = calloc(dv.tail + 1, sizeof(*srq->wr_id)),
		};
		ret = srq->wr_id ? 0 : -FI_ENOMEM;
	}
	if (ret)
		log_cannot(ret);
	return ret;
}

/* ---- queue pairs ---------------------------------------------------------------- */

/* A register that other groups may use as well takes single 8-byte stores only. */
static void set_register(struct mlx5_sq *sq, const struct mlx5dv_qp *dv,
			 struct vrb_mlx5_group *group)
{
	static struct mlx5_reg narrow;

	sq->doorbell = dv->bf.reg;
	sq->reg = &narrow;
	if (!group->pd || (group->doorbell && group->doorbell != dv->bf.reg))
		return;
	group->doorbell = dv->bf.reg;
	group->reg.size = dv->bf.size;
	sq->reg = &group->reg;
}

static int alloc_rings(struct mlx5_qp *qp, const struct mlx5dv_qp *dv)
{
	qp->sq.wr_id = calloc(dv->sq.wqe_cnt, sizeof(*qp->sq.wr_id));
	qp->sq.blocks = calloc(dv->sq.wqe_cnt, sizeof(*qp->sq.blocks));
	qp->rq.wr_id = calloc(dv->rq.wqe_cnt + 1, sizeof(*qp->rq.wr_id));
	return qp->sq.wr_id && qp->sq.blocks && qp->rq.wr_id ? 0 : -FI_ENOMEM;
}

int vrb_mlx5_qp_init(struct mlx5_qp *qp, struct ibv_qp *ibv, struct vrb_cq *cq,
		     struct mlx5_srq *srq, struct vrb_mlx5_group *group)
{
	struct vrb_sq base = qp->sq.base;
	struct mlx5dv_qp dv = { 0 };
	struct mlx5dv_obj obj = { .qp = { ibv, &dv } };
	int ret = -lib.init_obj(&obj, MLX5DV_OBJ_QP);

	*qp = (struct mlx5_qp) { .sq.base = base, .srq = srq };
	if (!ret && (dv.sq.stride != MLX5_BB || (!srq && dv.rq.stride < MLX5_SEG)))
		ret = -FI_ENOSYS;
	if (!ret)
		ret = alloc_rings(qp, &dv);
	if (ret)
		goto err;
	qp->sq.base.ops = &vrb_sq_direct;
	qp->sq.buf = dv.sq.buf;
	qp->sq.mask = dv.sq.wqe_cnt - 1;
	qp->sq.qpn = ibv->qp_num;
	qp->sq.dbrec = dv.dbrec;
	set_register(&qp->sq, &dv, group);
	qp->rq.buf = dv.rq.buf;
	qp->rq.mask = dv.rq.wqe_cnt - 1;
	qp->rq.stride = dv.rq.stride;
	qp->rq.dbrec = dv.dbrec;
	ret = hmap_insert(&((struct cq *) cq)->qps, ibv->qp_num, qp);
	if (!ret)
		return 0;

err:
	log_cannot(ret);
	vrb_mlx5_qp_fini(qp, cq);
	return ret;
}

int vrb_mlx5_av(struct ibv_ah *ah, uint32_t qpn, uint32_t qkey, struct mlx5_av *av_p)
{
	struct mlx5dv_ah dv = { 0 };
	struct mlx5dv_obj obj = { .ah = { ah, &dv } };
	int ret = -lib.init_obj(&obj, MLX5DV_OBJ_AH);

	static_assert(sizeof(struct mlx5_wqe_av) == sizeof(*av_p), "what the device takes");
	if (ret) {
		log_cannot(ret);
		return ret;
	}
	memcpy(av_p, dv.av, sizeof(*av_p));
	av_p->qkey = htobe32(qkey);
	av_p->qpn = htobe32(qpn | MLX5_AV_LONG);
	return 0;
}

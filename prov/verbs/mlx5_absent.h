/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * mlx5_absent.h - mlx5.h where the folder was left out.  vrb_mlx5_may() says so once a program asks for
 * the direct path; what follows it is never called, and the compiler removes it.
 */
#ifndef VRB_MLX5_ABSENT_H
#define VRB_MLX5_ABSENT_H

#include <rdma/fi_errno.h>

#include "provider.h"
#include "queue_ops.h"

struct vrb_ep;

struct mlx5_sq {
	struct vrb_sq base;
};

struct mlx5_rq {
	char none;
};

struct mlx5_srq {
	uint64_t *wr_id;		/* NULL: receives go by the library */
};

struct mlx5_qp {
	struct mlx5_sq sq;
	struct mlx5_rq rq;
};

struct mlx5_av {
	char none;
};

struct vrb_mlx5_group {
	char none;
};

static inline bool vrb_mlx5_may(struct ibv_context *ctx)
{
	VRB_WARN(FI_LOG_DOMAIN, "FI_VERBS_DOORBELL=direct: this library was built without it (configure "
		 "--disable-verbs-mlx5, or no infiniband/mlx5dv.h); requests go by libibverbs\n");
	return false;
}

static inline bool vrb_mlx5_is_direct(const struct vrb_cq *cq)
{
	return false;
}

static inline int vrb_mlx5_run(struct vrb_poller *poller, struct vrb_cq *cq, unsigned budget)
{
	return 0;
}

static inline int vrb_mlx5_cq_new(struct ibv_context *ctx, struct ibv_comp_channel *channel,
				  unsigned size, struct vrb_cq **cq_p)
{
	return -FI_ENOSYS;
}

static inline struct ibv_pd *vrb_mlx5_pd(struct vrb_mlx5_group *group, struct ibv_pd *pd)
{
	return pd;
}

static inline void vrb_mlx5_group_fini(struct vrb_mlx5_group *group)
{
}

static inline int vrb_mlx5_srq_init(struct mlx5_srq *srq, struct ibv_srq *ibv)
{
	return -FI_ENOSYS;
}

static inline void vrb_mlx5_srq_fini(struct mlx5_srq *srq)
{
}

static inline int vrb_mlx5_srq_recv(struct mlx5_srq *srq, uint64_t wr_id, const struct ibv_sge *sge,
				    unsigned cnt)
{
	return -FI_ENOSYS;
}

static inline int vrb_mlx5_qp_init(struct mlx5_qp *qp, struct ibv_qp *ibv, struct vrb_cq *cq,
				   struct mlx5_srq *srq, struct vrb_mlx5_group *group)
{
	return -FI_ENOSYS;
}

static inline void vrb_mlx5_qp_fini(struct mlx5_qp *qp, struct vrb_cq *cq)
{
}

static inline int vrb_mlx5_av(struct ibv_ah *ah, uint32_t qpn, uint32_t qkey, struct mlx5_av *av_p)
{
	return -FI_ENOSYS;
}

static inline int vrb_mlx5_recv(struct mlx5_rq *rq, uint64_t wr_id, const struct ibv_sge *sge,
				unsigned cnt)
{
	return -FI_ENOSYS;
}

static inline uint32_t mlx5_fast_max(enum vrb_op op)
{
	return 0;
}

static inline int mlx5_build_fast(struct mlx5_sq *sq, const struct vrb_wr *wr)
{
	return -FI_ENOSYS;
}

static inline void mlx5_ring_queue(struct mlx5_sq *sq)
{
}

struct vrb_native;

static inline struct vrb_native *vrb_native_new(struct vrb_ep *ep)
{
	return NULL;
}

static inline void vrb_native_free(struct vrb_native *n)
{
}

static inline struct ibv_cq *vrb_native_cq(const struct vrb_native *n)
{
	return NULL;
}

static inline int vrb_native_start(struct vrb_ep *ep)
{
	return -FI_ENOSYS;
}

static inline void vrb_native_connected(struct vrb_ep *ep, bool connected)
{
}

static inline void vrb_native_stop(struct vrb_ep *ep)
{
}

static inline void vrb_native_keep(struct vrb_ep *ep)
{
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * mlx5_dv.h - where the queues of an mlx5 device lie, asked of its library.
 *
 * libmlx5 is opened when a program asks for the direct way; where it, or its header at
 * build time, is missing, there is none.
 */
#ifndef VRB_MLX5_DV_H
#define VRB_MLX5_DV_H

#include "mlx5_direct.h"

/* What the queue pairs of one progress group share: under one lock, so that they can have
 * a register for themselves.
 */
struct vrb_mlx5_group {
	struct ibv_td *td;		/* NULL: the device gave none */
	struct ibv_pd *pd;		/* with it */
	struct mlx5_reg reg;
	char *doorbell;			/* of all of them; NULL: not yet known */
};

/* vrb_mlx5_may - can the queues of this device be written directly?  Logged where not. */
bool vrb_mlx5_may(struct ibv_context *ctx);

/* vrb_mlx5_cq_new - a completion queue that is read in memory.  As vrb_cq_new(). */
int vrb_mlx5_cq_new(struct ibv_context *ctx, struct ibv_comp_channel *channel, unsigned size,
		    struct vrb_cq **cq_p);

/* vrb_mlx5_pd - what to create queue pairs of the group with; @pd if there is no better. */
struct ibv_pd *vrb_mlx5_pd(struct vrb_mlx5_group *group, struct ibv_pd *pd);
void vrb_mlx5_group_fini(struct vrb_mlx5_group *group);

/* vrb_mlx5_srq_init - take over the shared receive queue @ibv.
 * Errors: -FI_ENOMEM and those of the library, logged; requests can go by it still.
 */
int vrb_mlx5_srq_init(struct mlx5_srq *srq, struct ibv_srq *ibv);
void vrb_mlx5_srq_fini(struct mlx5_srq *srq);

/* vrb_mlx5_qp_init - take over the queues of @ibv, whose completions go to @cq.
 * @srq: that it receives by, or NULL
 * Errors: -FI_ENOMEM and those of the library, logged.
 */
int vrb_mlx5_qp_init(struct mlx5_qp *qp, struct ibv_qp *ibv, struct vrb_cq *cq,
		     struct mlx5_srq *srq, struct vrb_mlx5_group *group);

/* vrb_mlx5_av - what requests to the datagram queue pair @qpn, where @ah leads, begin with.
 * Errors: those of the library, logged.
 */
int vrb_mlx5_av(struct ibv_ah *ah, uint32_t qpn, uint32_t qkey, struct mlx5_av *av_p);

/* vrb_mlx5_qp_fini - what still comes of it is thrown away.  A @qp that was not taken over
 * is fine.
 */
void vrb_mlx5_qp_fini(struct mlx5_qp *qp, struct vrb_cq *cq);

#endif

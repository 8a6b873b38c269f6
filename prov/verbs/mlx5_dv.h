/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * mlx5_dv.h - the addresses of the queues of an mlx5 device, from its library.
 *
 * libmlx5 is opened when a program asks for the direct path; where it is missing, there is none.
 */
#ifndef VRB_MLX5_DV_H
#define VRB_MLX5_DV_H

#include "mlx5_direct.h"

/* What the queue pairs of a progress group share.  One lock guards them, so one doorbell register
 * is enough.
 */
struct vrb_mlx5_group {
	struct ibv_td *td;		/* thread domain; NULL: the device has none */
	struct ibv_pd *pd;		/* protection domain with @td */
	struct mlx5_reg reg;
	char *doorbell;			/* the common register; NULL: not yet known */
};

/* vrb_mlx5_may - can the queues of this device be written directly?  Logged if not. */
bool vrb_mlx5_may(struct ibv_context *ctx);

/* vrb_mlx5_cq_new - a completion queue that is read in memory.  As vrb_cq_new(). */
int vrb_mlx5_cq_new(struct ibv_context *ctx, struct ibv_comp_channel *channel, unsigned size,
		    struct vrb_cq **cq_p);

/* vrb_mlx5_is_direct - is @cq one of these?   vrb_mlx5_run - vrb_cq.run of them (completions.c). */
bool vrb_mlx5_is_direct(const struct vrb_cq *cq);
int vrb_mlx5_run(struct vrb_poller *poller, struct vrb_cq *cq, unsigned budget);

/* vrb_mlx5_pd - the protection domain to create queue pairs of the group with; @pd without @td. */
struct ibv_pd *vrb_mlx5_pd(struct vrb_mlx5_group *group, struct ibv_pd *pd);
void vrb_mlx5_group_fini(struct vrb_mlx5_group *group);

/* vrb_mlx5_srq_init - take over the shared receive queue @ibv.
 * Errors: -FI_ENOMEM and those of the library, logged; the library can still be used.
 */
int vrb_mlx5_srq_init(struct mlx5_srq *srq, struct ibv_srq *ibv);
void vrb_mlx5_srq_fini(struct mlx5_srq *srq);

/* vrb_mlx5_qp_init - take over the queues of @ibv, whose completions go to @cq.
 * @srq: its shared receive queue, or NULL
 * Errors: -FI_ENOMEM and those of the library, logged.
 */
int vrb_mlx5_qp_init(struct mlx5_qp *qp, struct ibv_qp *ibv, struct vrb_cq *cq,
		     struct mlx5_srq *srq, struct vrb_mlx5_group *group);

/* vrb_mlx5_av - the destination segments for the datagram queue pair @qpn behind @ah.
 * Errors: those of the library, logged.
 */
int vrb_mlx5_av(struct ibv_ah *ah, uint32_t qpn, uint32_t qkey, struct mlx5_av *av_p);

/* vrb_mlx5_qp_fini - give the queues up; later completions of them are dropped.  Does nothing for a
 * @qp that was not taken over.
 */
void vrb_mlx5_qp_fini(struct mlx5_qp *qp, struct vrb_cq *cq);

#endif

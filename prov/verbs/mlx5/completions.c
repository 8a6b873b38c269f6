/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * completions.c - reading the completions of a queue in memory.
 */
#include "verbs/done.h"

bool vrb_mlx5_is_direct(const struct vrb_cq *cq)
{
	return cq->ops == &vrb_cq_direct;
}

static __attribute__((noinline)) void handle_slow(struct vrb_poller *p, struct mlx5_cq *cq,
						  const struct mlx5_cqe *cqe)
{
	struct vrb_wc wc;

	if (vrb_mlx5_read(cq, cqe, &wc))
		vrb_wc_handle(p, &wc);
}

static inline const struct vrb_ep *ep_of_mlx5(const struct mlx5_qp *qp)
{
	return container_of(qp, struct vrb_ep, mlx5);
}

/* Successes of the last queue pair are inlined from the device's entry to the program's; other
 * entries take the slow path.
 */
int vrb_mlx5_run(struct vrb_poller *p, struct vrb_cq *base, unsigned budget)
{
	struct mlx5_cq *cq = (struct mlx5_cq *) base;
	struct mlx5_cqe *cqe;
	struct mlx5_qp *qp;
	uint8_t op_own, owner;
	unsigned done = 0;

	do {
		cqe = mlx5_at(cq);
		op_own = mlx5_op_own(cqe);
		if (op_own >= MLX5_CQE_NONE << 4)
			break;		/* not written, or read already */
		owner = mlx5_owner(cq);
		qp = cq->last;
		if (op_own == (MLX5_CQE_SENT << 4 | owner) && mlx5_is_of(cqe, qp))
			vrb_tx_done(vrb_tx_of(mlx5_sent_wr(&qp->sq, cqe)));
		else if ((op_own & ~MLX5_CQE_DATA_HERE) == (MLX5_CQE_RECEIVED << 4 | owner) &&
			 mlx5_is_of(cqe, qp) && !qp->srq && ep_of_mlx5(qp)->fast_comp)
			vrb_rx_done_fast(vrb_rx_of(mlx5_received_wr(&qp->rq, cqe)),
					 be32toh(cqe->len));
		else if (mlx5_is_ours(op_own, owner))
			handle_slow(p, cq, cqe);
		else
			break;
		mlx5_give_back(cq, cqe);
	} while (++done < budget);
	if (done)
		mlx5_update_cq_dbrec(cq);
	return (int) done;
}

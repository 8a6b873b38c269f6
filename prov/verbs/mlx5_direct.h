/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * mlx5_direct.h - requests straight into the send queue of an mlx5 device.
 *
 * The queue lies in memory, the doorbell is a store to a mapped register.  The addresses
 * come from whoever made the queues (mlx5dv_init_obj(), or the model of the tests).
 *
 * Order, and why:
 *  1. the request is written into the queue;
 *  2. the doorbell record: the device reads as far as it says, so all requests up to
 *     there must be visible first (a release store);
 *  3. the register: the device then looks at the record.  The register is write-combining
 *     or uncached memory, which the processor does not order behind ordinary stores by
 *     itself: a store fence stands between;
 *  4. a second fence, so that a combined write leaves at once and before the next one.
 * A completion is read the other way round: the owner bit first (acquire), then the rest.
 *
 * A completion that was read is marked as not written.  libmlx5, which does not know how far
 * we are, looks through its queue from the beginning when a queue pair goes, and would move
 * entries about where it found one of that pair.
 */
#ifndef VRB_MLX5_DIRECT_H
#define VRB_MLX5_DIRECT_H

#include "doorbell.h"
#include "mlx5_wire.h"

/* The register; shared by queues that one lock guards. */
struct mlx5_reg {
	uint32_t size;			/* of one buffer; 0: it takes 8 bytes only */
	uint32_t at;			/* which of two, used in turns */
};

struct mlx5_sq {
	struct vrb_sq base;		/* first */
	char *buf;
	uint32_t mask;			/* basic blocks - 1 */
	uint32_t next;			/* block of the next request; counts up for ever */
	uint32_t done;			/* blocks before this may be used again */
	uint32_t rung;			/* the device knows of what is before this */
	uint32_t last;			/* first block of the newest request */
	uint32_t qpn;
	volatile uint32_t *dbrec;
	char *doorbell;			/* address of the register */
	struct mlx5_reg *reg;
	uint64_t *wr_id;		/* by first block */
	uint16_t *blocks;		/* of the request that begins there */
};

struct mlx5_rq {
	char *buf;
	uint32_t mask, stride;		/* requests - 1; bytes */
	uint32_t next, done;
	volatile uint32_t *dbrec;
	uint64_t *wr_id;
};

/* A shared receive queue: what is posted goes in at @head, what is done back behind @tail;
 * the last one of the list always stays, so that there is something to put it behind.
 */
struct mlx5_srq {
	char *buf;
	uint32_t stride;
	uint32_t head, tail;		/* receives, by index */
	uint32_t posted;
	volatile uint32_t *dbrec;
	uint64_t *wr_id;		/* by index; NULL: requests go by the library */
};

struct mlx5_qp {
	struct mlx5_sq sq;		/* first */
	struct mlx5_rq rq;
	struct mlx5_srq *srq;		/* instead of @rq, or NULL */
};

struct mlx5_cq {
	struct vrb_cq base;		/* first */
	char *buf;
	uint32_t mask, stride;		/* entries - 1; 64 or 128, the entry in the last 64 */
	uint32_t next;			/* counts up for ever */
	char *at;			/* where it is */
	volatile uint32_t *dbrec;
	char *uar;			/* its page of registers */
	uint32_t cqn;
	struct mlx5_qp *last;		/* whose completion came last, or vrb_mlx5_nobody */
	/* The queue pair called @qpn, or NULL: completions of one that is gone are dropped. */
	struct mlx5_qp *(*find)(struct mlx5_cq *cq, uint32_t qpn);
	void (*close)(struct vrb_cq *base);	/* as vrb_cq_ops.close */
};

extern const struct vrb_sq_ops vrb_sq_direct;
extern const struct vrb_cq_ops vrb_cq_direct;
extern struct mlx5_qp vrb_mlx5_nobody;	/* of whom no completion speaks */

/* vrb_mlx5_recv, vrb_mlx5_srq_recv - put a receive into the queue and tell the device.
 * Errors: -FI_EAGAIN: full.  -FI_EINVAL: more pieces than a request holds.
 */
int vrb_mlx5_recv(struct mlx5_rq *rq, uint64_t wr_id, const struct ibv_sge *sge, unsigned cnt);

int vrb_mlx5_srq_recv(struct mlx5_srq *srq, uint64_t wr_id, const struct ibv_sge *sge,
		      unsigned cnt);

/* vrb_mlx5_put_back - data that came in a completion goes into the pieces from @seg on, of
 * a queue of @mask + 1 segments.
 */
void vrb_mlx5_put_back(char *buf, uint32_t mask, uint32_t seg, const struct mlx5_cqe *cqe);

/* vrb_mlx5_read - what @cqe says; the request that it is about is retired.
 * Returns false for an entry of a queue pair that is gone.
 */
bool vrb_mlx5_read(struct mlx5_cq *cq, const struct mlx5_cqe *cqe, struct vrb_wc *wc);

/* vrb_mlx5_cq_init - mark all entries as not yet written. */
void vrb_mlx5_cq_init(struct mlx5_cq *cq);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * mlx5_direct.h - the direct path: requests are written into the send queue of an mlx5 device.
 *
 * The queue is in memory; the doorbell is a store to a mapped register.  The addresses come from
 * mlx5dv_init_obj(), in tests from a model of the device.
 *
 * Order, and why:
 *  1. the request is written into the queue;
 *  2. the doorbell record: the device reads up to the index there, so all requests before
 *     it must be visible first (a release store);
 *  3. the register: the device then reads the record.  The register is write-combining
 *     or uncached memory, which the processor does not order behind ordinary stores by
 *     itself: a store fence stands between;
 *  4. a second fence, so that a combined write leaves at once and before the next one.
 * A completion is read in the reverse order: the owner bit first (acquire), then the rest.
 *
 * A completion that was read is marked as not written.  When a queue pair is destroyed, libmlx5
 * scans its queue from the beginning, as it does not know our index, and would move entries if it
 * found one of that pair.
 */
#ifndef VRB_MLX5_DIRECT_H
#define VRB_MLX5_DIRECT_H

#include "queue_ops.h"
#include "mlx5_wire.h"

/* The register; shared by queues that one lock guards. */
struct mlx5_reg {
	uint32_t size;			/* of one buffer; 0: stores of 8 bytes only */
	uint32_t at;			/* offset of the buffer to use next; two alternate */
};

struct mlx5_sq {
	struct vrb_sq base;		/* first */
	char *buf;
	uint32_t mask;			/* basic blocks - 1 */
	uint32_t next;			/* block of the next request; counts up for ever */
	uint32_t done;			/* blocks before this may be used again */
	uint32_t rung;			/* blocks before this were announced to the device */
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

/* A shared receive queue is a linked list: receives are posted at @head, completed ones are
 * appended behind @tail.  The last one always stays in the list, as the place to append to.
 */
struct mlx5_srq {
	char *buf;
	uint32_t stride;
	uint32_t head, tail;		/* receives, by index */
	uint32_t posted;
	volatile uint32_t *dbrec;
	uint64_t *wr_id;		/* by index; NULL: not in use, receives go by the library */
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
	char *at;			/* address of the entry @next */
	volatile uint32_t *dbrec;
	char *uar;			/* its page of registers */
	uint32_t cqn;
	struct mlx5_qp *last;		/* of the last completion, or vrb_mlx5_no_qp */
	/* The queue pair with this number, or NULL: its completions are dropped. */
	struct mlx5_qp *(*find)(struct mlx5_cq *cq, uint32_t qpn);
	void (*close)(struct vrb_cq *base);	/* as vrb_cq_ops.close */
};

extern const struct vrb_sq_ops vrb_sq_direct;
extern const struct vrb_cq_ops vrb_cq_direct;
extern struct mlx5_qp vrb_mlx5_no_qp;	/* a queue pair without completions */

/* vrb_mlx5_recv, vrb_mlx5_srq_recv - write a receive into the queue and update its doorbell record.
 * Errors: -FI_EAGAIN: full.  -FI_EINVAL: more entries than a request holds.
 */
int vrb_mlx5_recv(struct mlx5_rq *rq, uint64_t wr_id, const struct ibv_sge *sge, unsigned cnt);

int vrb_mlx5_srq_recv(struct mlx5_srq *srq, uint64_t wr_id, const struct ibv_sge *sge,
		      unsigned cnt);

/* vrb_mlx5_copy_data - copy data that came in a completion into the buffers that the segments
 * from @seg on name, in a queue of @mask + 1 segments.
 */
void vrb_mlx5_copy_data(char *buf, uint32_t mask, uint32_t seg, const struct mlx5_cqe *cqe);

/* vrb_mlx5_read - decode @cqe and retire its request.
 * Returns false for an entry of a queue pair that was destroyed.
 */
bool vrb_mlx5_read(struct mlx5_cq *cq, const struct mlx5_cqe *cqe, struct vrb_wc *wc);

/* vrb_mlx5_status - the device's syndrome as libibverbs reports it. */
enum ibv_wc_status vrb_mlx5_status(uint8_t syndrome);

/* vrb_mlx5_cq_init - mark all entries as not yet written. */
void vrb_mlx5_cq_init(struct mlx5_cq *cq);

#endif

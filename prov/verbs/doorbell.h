/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * doorbell.h - how requests reach a device and completions come back.
 *
 * One small interface, chosen when a queue pair is made:
 *
 *  build  writes one request behind those that wait; the device may not look yet
 *  ring   lets the device see all that was built
 *  recv   posts one receive
 *  run    takes completions away
 *
 * Implementations: the extended interface of libibverbs (ibv_wr_start and
 * ibv_start_poll); for old libraries and devices ibv_post_send and ibv_poll_cq; and for
 * mlx5 the queues themselves (mlx5_direct.h).
 */
#ifndef VRB_DOORBELL_H
#define VRB_DOORBELL_H

#include <stdbool.h>
#include <stdint.h>

#include "lib.h"

struct vrb_poller;

enum vrb_op {
	VRB_OP_SEND,
	VRB_OP_SEND_IMM,
	VRB_OP_WRITE,
	VRB_OP_WRITE_IMM,
	VRB_OP_READ,
	VRB_OP_ADD,		/* 64-bit fetch and add */
	VRB_OP_SWAP,		/* 64-bit compare and swap */
	VRB_OP_CNT,
};

struct vrb_wr {
	enum vrb_op op;
	unsigned flags;		/* IBV_SEND_SIGNALED, FENCE, SOLICITED, INLINE */
	uint64_t wr_id;		/* comes back with the completion */
	const struct ibv_sge *sge;
	unsigned sge_cnt;
	uint32_t imm;		/* in the machine's byte order */
	uint32_t rkey;
	uint64_t addr;		/* remote */
	uint64_t operand;	/* VRB_OP_ADD: what; VRB_OP_SWAP: the new value */
	uint64_t compare;	/* VRB_OP_SWAP */
	struct ibv_ah *ah;	/* datagrams only: to whom */
	uint32_t qpn, qkey;
	const void *av;		/* mlx5 directly: struct mlx5_av, for all three */
	uint32_t srqn;		/* XRC only: shared receive queue there */
};

struct vrb_wc {
	uint64_t wr_id;
	enum ibv_wc_status status;
	uint32_t vendor_err;
	uint32_t qp_num;
	uint32_t len;		/* of what was received */
	uint32_t imm;		/* in the machine's byte order, if has_imm */
	bool has_imm;
	bool write;		/* a receive was taken up by a write with data */
	bool has_grh;		/* of datagrams: who sent it; vrb_cq.sources */
	uint16_t slid;
	uint32_t src_qp;
};

/* wr_id of receives have this bit, those of sends have not. */
#define VRB_WR_RECV UINT64_C(1)

struct vrb_sq;
struct vrb_cq;

struct vrb_sq_ops {
	const char *name;

	/* build - Errors: -FI_EAGAIN: no room, nothing has changed; or as the device says.
	 * Inline data is copied; the pieces themselves are the device's until completion.
	 * Threading: one thread at a time for a queue pair, as for ring and recv.
	 */
	int (*build)(struct vrb_sq *sq, const struct vrb_wr *wr);
	void (*ring)(struct vrb_sq *sq);	/* nothing to ring for is fine */
	int (*recv)(struct vrb_sq *sq, uint64_t wr_id, const struct ibv_sge *sge, unsigned cnt);
};

struct vrb_sq {
	const struct vrb_sq_ops *ops;
	struct ibv_qp *qp;
	struct ibv_qp_ex *qpx;	/* extended only */
	bool single_sge;		/* several go by ibv_post_send() */
	bool dgram;
};

struct vrb_cq_ops {
	const char *name;
	/* arm - have its channel told of the next completion.  Errors: the device's. */
	int (*arm)(struct vrb_cq *cq);
	/* close - no queue pair uses it any more; @cq is freed. */
	void (*close)(struct vrb_cq *cq);
};

struct vrb_cq {
	const struct vrb_cq_ops *ops;
	struct ibv_cq *cq;
	struct ibv_cq_ex *cqx;	/* extended only: entries are read where they lie */
	/* run - have completions dealt with, about @budget.  Returns how many there were.
	 * By who opened it, who alone knows what they are about.
	 */
	int (*run)(struct vrb_poller *poller, struct vrb_cq *cq, unsigned budget);
	bool single;		/* extended: ibv_next_poll() is not to be used */
	bool sources;		/* somebody wants to know who sends */
	bool timed;		/* extended: entries have the device's time */
	unsigned used;		/* entries that the requests of its queue pairs may need */
	unsigned events;	/* not yet acknowledged */
	unsigned events_all;	/* ever */
	struct vrb_cq *next;	/* of the same poller */
};

/* vrb_sq_init - choose how to reach @qp.
 * @extended:  it was created with the operations of the extended interface
 * @one_piece: see struct vrb_sq
 */
void vrb_sq_init(struct vrb_sq *sq, struct ibv_qp *qp, bool extended, bool single_sge);

/* vrb_cq_new - create a completion queue, extended where the device has it.
 * @rxe: the device is soft-RoCE, whose library does no less for an entry by the extended
 *       interface, and may not be asked for more than one at a time by it: it counts on past
 *       the end of its queue.  Not extended, unless the environment wants it so.
 * @timed: entries are to have the device's time: extended
 * Errors: -FI_ENOMEM; the system's, negated.
 */
int vrb_cq_new(struct ibv_context *ctx, struct ibv_comp_channel *channel, unsigned size,
	       bool rxe, bool timed, struct vrb_cq **cq_p);

/* vrb_ext_read - the entry at which @cqx stands; vrb_wc_read - one of ibv_poll_cq(). */
void vrb_ext_read(struct ibv_cq_ex *cqx, struct vrb_wc *wc);
void vrb_wc_read(const struct ibv_wc *ibv, struct vrb_wc *wc);

/* vrb_recv_post - post a receive to a queue pair, or to @srq if that is not NULL.
 * Errors: -FI_EAGAIN: no room; or as the device says.
 */
int vrb_recv_post(struct ibv_qp *qp, struct ibv_srq *srq, uint64_t wr_id,
		  const struct ibv_sge *sge, unsigned cnt);

#endif

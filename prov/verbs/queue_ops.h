/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * queue_ops.h - how requests reach a device and how its completions are read.
 *
 * One small interface, chosen when a queue pair is made:
 *
 *  build  writes one request into the send queue; the device need not see it yet
 *  ring   rings the doorbell: the device executes all that was built
 *  recv   posts one receive
 *  run    handles completions
 *
 * Implementations: the extended interface of libibverbs (ibv_wr_start and ibv_start_poll);
 * ibv_post_send and ibv_poll_cq for old libraries and devices, both in data/libibverbs.c, where
 * libibverbs rings the doorbell with each request; and for mlx5 the queues themselves
 * (folder mlx5/).
 */
#ifndef VRB_QUEUE_OPS_H
#define VRB_QUEUE_OPS_H

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
	unsigned sge_cnt;	/* entries in @sge */
	uint32_t imm;		/* host byte order */
	uint32_t rkey;		/* of the remote region */
	uint64_t addr;		/* remote address */
	uint64_t operand;	/* VRB_OP_ADD: the addend; VRB_OP_SWAP: the new value */
	uint64_t compare;	/* VRB_OP_SWAP */
	struct ibv_ah *ah;	/* datagrams only: destination */
	uint32_t qpn, qkey;	/* datagrams only: its queue pair */
	const void *av;		/* mlx5 direct path: struct mlx5_av in place of these three */
	uint32_t srqn;		/* XRC only: the remote shared receive queue */
};

struct vrb_wc {
	uint64_t wr_id;
	enum ibv_wc_status status;
	uint32_t vendor_err;
	uint32_t qp_num;
	uint32_t len;		/* bytes received */
	uint32_t imm;		/* host byte order, if has_imm */
	bool has_imm;
	bool write;		/* a receive was consumed by a write with data */
	bool has_grh;		/* datagrams: the source is valid; see vrb_cq.sources */
	uint16_t slid;
	uint32_t src_qp;
};

/* Set in the wr_id of receives, clear in those of sends. */
#define VRB_WR_RECV UINT64_C(1)

struct vrb_sq;
struct vrb_cq;

struct vrb_sq_ops {
	const char *name;

	/* build - Errors: -FI_EAGAIN: no room, nothing has changed; or as the device says.
	 * Ownership: inline data is copied; other buffers are the device's until completion.
	 * Threading: one thread at a time for a queue pair, as for ring and recv.
	 */
	int (*build)(struct vrb_sq *sq, const struct vrb_wr *wr);
	void (*ring)(struct vrb_sq *sq);	/* also without requests */
	int (*recv)(struct vrb_sq *sq, uint64_t wr_id, const struct ibv_sge *sge, unsigned cnt);
};

struct vrb_sq {
	const struct vrb_sq_ops *ops;
	struct ibv_qp *qp;
	struct ibv_qp_ex *qpx;	/* extended only */
	bool single_sge;	/* soft-RoCE: requests of several entries go by ibv_post_send() */
	enum ibv_qp_type type;	/* RC, UD or XRC_SEND: what a request has as destination */
};

struct vrb_cq_ops {
	const char *name;
	/* arm - raise an event on its channel for the next completion.  Errors: the device's. */
	int (*arm)(struct vrb_cq *cq);
	/* close - no queue pair uses it any more; @cq is freed. */
	void (*close)(struct vrb_cq *cq);
};

struct vrb_cq {
	const struct vrb_cq_ops *ops;
	struct ibv_cq *cq;
	struct ibv_cq_ex *cqx;	/* extended only: entries are read in place */
	/* run - handle about @budget completions.  Returns how many there were.  Set by the
	 * poller, which knows what requests are.
	 */
	int (*run)(struct vrb_poller *poller, struct vrb_cq *cq, unsigned budget);
	bool single;		/* extended: one entry per ibv_start_poll() */
	bool sources;		/* an endpoint wants the source of datagrams */
	bool timed;		/* extended: entries have the device's timestamp */
	unsigned used;		/* entries that the requests of its queue pairs may need */
	unsigned events;	/* not yet acknowledged */
	unsigned events_all;	/* since it was made */
	struct vrb_cq *next;	/* of the same poller */
};

/* vrb_ring_none - vrb_sq_ops.ring where libibverbs has rung with each request. */
void vrb_ring_none(struct vrb_sq *sq);

/* vrb_sq_init - choose the interface for requests of @qp.
 * @extended:   it was created with the operations of the extended interface
 * @single_sge: see struct vrb_sq
 */
void vrb_sq_init(struct vrb_sq *sq, struct ibv_qp *qp, bool extended, bool single_sge);

/* vrb_cq_new - create a completion queue, extended where the device has it.
 * @rxe:   the device is soft-RoCE.  Its library is not faster by the extended interface and reads
 *         past the end of the queue when it is asked for several entries at a time.  It is used
 *         only where the environment asks for it.
 * @timed: entries have the device's timestamp, which takes the extended interface
 * Errors: -FI_ENOMEM; the system's, negated.
 */
int vrb_cq_new(struct ibv_context *ctx, struct ibv_comp_channel *channel, unsigned size,
	       bool rxe, bool timed, struct vrb_cq **cq_p);

/* vrb_ext_read - read the current entry of @cqx; vrb_wc_read - read one of ibv_poll_cq(). */
void vrb_ext_read(struct ibv_cq_ex *cqx, struct vrb_wc *wc);
void vrb_wc_read(const struct ibv_wc *ibv, struct vrb_wc *wc);

/* vrb_recv_post - post a receive to a queue pair, or to @srq if that is not NULL.
 * Errors: -FI_EAGAIN: no room; or as the device says.
 */
int vrb_recv_post(struct ibv_qp *qp, struct ibv_srq *srq, uint64_t wr_id,
		  const struct ibv_sge *sge, unsigned cnt);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * mlx5_queue.h - the fast path on mlx5 queues, inlined: building one request and reading
 * one completion.  mlx5_doorbell.h rings; mlx5_direct.h explains the order of the stores.
 *
 * Ownership: a slot of the send or receive queue is ours until the doorbell record covers it, and
 *            again when a completion retires it; an entry of the completion queue is the device's
 *            until its owner bit says that it is ours, and again with mlx5_update_cq_dbrec().
 * Threading: the caller has the lock of the progress group, or the program's threading level
 *            rules out another thread.
 * Nothing here makes a system call, allocates or calls a function of libibverbs.
 */
#ifndef VRB_MLX5_QUEUE_H
#define VRB_MLX5_QUEUE_H

#include <endian.h>
#include <rdma/fi_errno.h>
#include <stdatomic.h>
#include <string.h>

#include "mlx5_direct.h"

#define MLX5_INLINE __attribute__((always_inline)) static inline

/* Orders stores to memory for the device.  x86 keeps them in order; on other processors the order
 * that other processors see is not enough.
 */
static inline void device_barrier(void)
{
#if defined(__x86_64__)
	atomic_signal_fence(memory_order_seq_cst);
#elif defined(__aarch64__)
	__asm__ __volatile__("dmb oshst" ::: "memory");
#else
	__sync_synchronize();
#endif
}

/* Orders the load of the owner bit before those of the rest, which the device has written before
 * it: without it an entry could be read that is half old.
 */
static inline void device_load_barrier(void)
{
#if defined(__x86_64__)
	atomic_signal_fence(memory_order_seq_cst);
#elif defined(__aarch64__)
	__asm__ __volatile__("dmb oshld" ::: "memory");
#else
	__sync_synchronize();
#endif
}

/* Orders stores to memory before the register, and two stores to the register.  The register is
 * write-combining: a store to it may wait in the processor until a fence.
 */
static inline void store_fence(void)
{
#if defined(__x86_64__)
	__asm__ __volatile__("sfence" ::: "memory");
#elif defined(__aarch64__)
	__asm__ __volatile__("dsb st" ::: "memory");
#else
	__sync_synchronize();
#endif
}

/* ---- requests ------------------------------------------------------------------- */

/* The device's number of each operation. */
static const uint8_t wqe_op[VRB_OP_CNT] = {
	[VRB_OP_SEND] = MLX5_WQE_SEND,
	[VRB_OP_SEND_IMM] = MLX5_WQE_SEND_IMM,
	[VRB_OP_WRITE] = MLX5_WQE_WRITE,
	[VRB_OP_WRITE_IMM] = MLX5_WQE_WRITE_IMM,
	[VRB_OP_READ] = MLX5_WQE_READ,
	[VRB_OP_ADD] = MLX5_WQE_FETCH_ADD,
	[VRB_OP_SWAP] = MLX5_WQE_CMP_SWAP,
};

/* mlx5_seg_at - segment @seg of the send queue; numbers go on beyond its end, where it wraps.  A
 * request may wrap between any two of its segments.
 */
static inline char *mlx5_seg_at(const struct mlx5_sq *sq, uint32_t seg)
{
	return sq->buf + (size_t) (seg & (sq->mask * 4 + 3)) * MLX5_SEG;
}

/* mlx5_put_raddr - write the segment that names the peer's memory. */
static inline void mlx5_put_raddr(char *seg, const struct vrb_wr *wr)
{
	struct mlx5_raddr *raddr = (struct mlx5_raddr *) seg;

	raddr->addr = htobe64(wr->addr);
	raddr->rkey = htobe32(wr->rkey);
	raddr->reserved = 0;
}

/* By the lower bits of enum ibv_send_flags: FENCE, SIGNALED, SOLICITED. */
static const uint8_t ctrl_flags[8] = {
	[IBV_SEND_FENCE] = MLX5_CTRL_FENCE,
	[IBV_SEND_SIGNALED] = MLX5_CTRL_COMPLETION,
	[IBV_SEND_FENCE | IBV_SEND_SIGNALED] = MLX5_CTRL_FENCE | MLX5_CTRL_COMPLETION,
	[IBV_SEND_SOLICITED] = MLX5_CTRL_SOLICITED,
	[IBV_SEND_FENCE | IBV_SEND_SOLICITED] = MLX5_CTRL_FENCE | MLX5_CTRL_SOLICITED,
	[IBV_SEND_SIGNALED | IBV_SEND_SOLICITED] = MLX5_CTRL_COMPLETION | MLX5_CTRL_SOLICITED,
	[7] = MLX5_CTRL_FENCE | MLX5_CTRL_COMPLETION | MLX5_CTRL_SOLICITED,
};

static_assert((IBV_SEND_FENCE | IBV_SEND_SIGNALED | IBV_SEND_SOLICITED) == 7, "a table of them");

/* mlx5_put_ctrl - write struct mlx5_ctrl in two stores, and count the request.
 *
 * @segs: segments of the request, this one included
 *
 * It comes last of a request: the doorbell may be rung any time after it.  The slot remembers
 * wr_id and length, by which a completion retires it.
 */
static inline void mlx5_put_ctrl(struct mlx5_sq *sq, const struct vrb_wr *wr, uint32_t segs)
{
	uint32_t at = sq->next & sq->mask, blocks = (segs + 3) / 4;
	uint64_t *ctrl = (uint64_t *) (sq->buf + (size_t) at * MLX5_BB);
	bool imm = wr->op == VRB_OP_SEND_IMM || wr->op == VRB_OP_WRITE_IMM;

	/* which request it is, its operation, the queue pair, its length */
	ctrl[0] = htobe64((uint64_t) (sq->next & MLX5_COUNTER_MASK) << 40 |
			  (uint64_t) wqe_op[wr->op] << 32 | sq->qpn << 8 | segs);
	/* flags, and immediate data */
	ctrl[1] = htobe64((uint64_t) ctrl_flags[wr->flags & 7] << 32 | (imm ? wr->imm : 0));
	sq->wr_id[at] = wr->wr_id;
	sq->blocks[at] = (uint16_t) blocks;
	sq->last = sq->next;
	sq->next += blocks;
}

/* mlx5_fast_max - bytes of inline data that fit into one block behind the fixed segments: the
 * control segment, the peer's address for remote memory, and four bytes of length.
 */
static inline uint32_t mlx5_fast_max(enum vrb_op op)
{
	return MLX5_BB - (MLX5_SEG << (op > VRB_OP_SEND_IMM)) - 4;
}

/* copy_short - without a call of memcpy(), which costs more than these few bytes.  The last eight
 * may overlap those before, so that no length needs a loop of single bytes.
 */
MLX5_INLINE void copy_short(char *to, const char *from, uint32_t len)
{
	uint32_t i;

	if (len >= 8) {
		for (i = 0; i + 8 < len; i += 8)
			memcpy(to + i, from + i, 8);
		memcpy(to + len - 8, from + len - 8, 8);
	} else if (len >= 4) {
		memcpy(to, from, 4);
		memcpy(to + len - 4, from + len - 4, 4);
	} else {
		for (i = 0; i < len; i++)
			to[i] = from[i];
	}
}

/* mlx5_build_fast - build a request of one entry, not empty, that fits into one block; a block never
 * wraps.   Errors: -FI_EAGAIN: full; nothing has changed.
 */
MLX5_INLINE int mlx5_build_fast(struct mlx5_sq *sq, const struct vrb_wr *wr)
{
	char *at = sq->buf + (size_t) (sq->next & sq->mask) * MLX5_BB + MLX5_SEG;
	uint32_t segs = 2, len = wr->sge->length;
	struct mlx5_data *data;

	/* blocks in use; both counters run on, so the difference is right when they wrap */
	if (__builtin_expect(sq->next - sq->done > sq->mask, 0))
		return -FI_EAGAIN;
	if (wr->op > VRB_OP_SEND_IMM) {
		mlx5_put_raddr(at, wr);
		at += MLX5_SEG;
		segs++;
	}
	/* the data itself, or where the device fetches it */
	if (wr->flags & IBV_SEND_INLINE) {
		*(uint32_t *) at = htobe32(len | MLX5_INLINE_BIT);
		copy_short(at + 4, (const char *) (uintptr_t) wr->sge->addr, len);
		segs += (len + 3) / MLX5_SEG;
	} else {
		data = (struct mlx5_data *) at;
		data->len = htobe32(len);
		data->lkey = htobe32(wr->sge->lkey);
		data->addr = htobe64(wr->sge->addr);
	}
	mlx5_put_ctrl(sq, wr, segs);
	return 0;
}

/* ---- completions ---------------------------------------------------------------- */

/* mlx5_at - the next entry, whether or not the device has written it. */
MLX5_INLINE struct mlx5_cqe *mlx5_at(const struct mlx5_cq *cq)
{
	return (struct mlx5_cqe *) cq->at;
}

/* mlx5_first - the first entry: the last 64 bytes of a stride, which may be 64 or 128. */
static inline char *mlx5_first(const struct mlx5_cq *cq)
{
	return cq->buf + cq->stride - sizeof(struct mlx5_cqe);
}

/* mlx5_owner - the owner bit of entries that are new in this round; it changes each time the index
 * wraps.
 */
MLX5_INLINE uint8_t mlx5_owner(const struct mlx5_cq *cq)
{
	return (cq->next & (cq->mask + 1)) != 0;
}

/* mlx5_op_own - the byte of an entry that the device writes last: operation, and owner bit.  Later
 * loads are ordered after it.
 */
MLX5_INLINE uint8_t mlx5_op_own(const struct mlx5_cqe *cqe)
{
	uint8_t op_own = __atomic_load_n(&cqe->op_own, __ATOMIC_ACQUIRE);

	device_load_barrier();
	return op_own;
}

/* mlx5_is_ours - has the device written the entry in this round of the queue? */
MLX5_INLINE bool mlx5_is_ours(uint8_t op_own, uint8_t owner)
{
	return op_own >> 4 != MLX5_CQE_NONE && (op_own & 1) == owner;
}

/* mlx5_give_back - @cqe is decoded: mark it as not written and go to the next one.  The device may
 * not reuse it before mlx5_update_cq_dbrec().
 */
MLX5_INLINE void mlx5_give_back(struct mlx5_cq *cq, struct mlx5_cqe *cqe)
{
	cqe->op_own = MLX5_CQE_NONE << 4;
	cq->at = ++cq->next & cq->mask ? cq->at + cq->stride : mlx5_first(cq);
}

/* mlx5_update_cq_dbrec - let the device reuse the entries that were given back. */
MLX5_INLINE void mlx5_update_cq_dbrec(struct mlx5_cq *cq)
{
	device_barrier();
	__atomic_store_n(&cq->dbrec[MLX5_DB_CI], htobe32(cq->next & 0xffffff), __ATOMIC_RELEASE);
}

/* mlx5_sent_wr - retire the request that @cqe completes, and unsignalled ones before it: the
 * device completes requests in order.  The counter has 16 bits, the queue is shorter.
 * Returns its wr_id.
 */
MLX5_INLINE uint64_t mlx5_sent_wr(struct mlx5_sq *sq, const struct mlx5_cqe *cqe)
{
	uint32_t counter = be16toh(cqe->counter), at = counter & sq->mask;

	sq->done += ((counter - sq->done) & MLX5_COUNTER_MASK) + sq->blocks[at];
	return sq->wr_id[at];
}

/* mlx5_received_wr - retire the receive that @cqe completes; its data is in place.
 * Returns its wr_id.
 */
MLX5_INLINE uint64_t mlx5_received_wr(struct mlx5_rq *rq, const struct mlx5_cqe *cqe)
{
	uint32_t at = be16toh(cqe->counter) & rq->mask, len = be32toh(cqe->len);
	const struct mlx5_data *data = (const struct mlx5_data *) (rq->buf + (size_t) at * rq->stride);
	uint32_t segs = rq->stride / MLX5_SEG;

	/* a short message may be in the entry instead of the buffer (scatter to CQE) */
	rq->done++;
	if (cqe->op_own & MLX5_CQE_DATA_HERE && __builtin_expect(len <= be32toh(data->len), 1))
		copy_short((char *) (uintptr_t) be64toh(data->addr), (const char *) cqe->data, len);
	else if (cqe->op_own & (MLX5_CQE_DATA_HERE | MLX5_CQE_DATA_BEFORE))
		vrb_mlx5_copy_data(rq->buf, (rq->mask + 1) * segs - 1, at * segs, cqe);
	return rq->wr_id[at];
}

/* mlx5_is_of - is @cqe a completion of @qp? */
MLX5_INLINE bool mlx5_is_of(const struct mlx5_cqe *cqe, const struct mlx5_qp *qp)
{
	return (be32toh(cqe->op_qpn) & 0xffffff) == qp->sq.qpn;
}

#endif

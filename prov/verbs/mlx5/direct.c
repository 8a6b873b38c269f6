/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * direct.c - requests, receives and completions in the queues of an mlx5 device, in the general
 * form.  mlx5_direct.h has the order of the stores, mlx5_queue.h the fast path.
 */
#include "verbs/mlx5_doorbell.h"

/* ---- building ------------------------------------------------------------------- */

static inline uint32_t inline_len(const struct vrb_wr *wr)
{
	uint32_t len = 0;
	unsigned i;

	for (i = 0; i < wr->sge_cnt; i++)
		len += wr->sge[i].length;
	return len;
}

/* Segments of inline data: 4 bytes of length precede the data. */
static inline uint32_t inline_segs(uint32_t len)
{
	return len ? (len + 4 + MLX5_SEG - 1) / MLX5_SEG : 0;
}

/* Append bytes to a request, which may wrap around the end of the queue. */
static inline char *put_bytes(const struct mlx5_sq *sq, char *at, const void *src, uint32_t len)
{
	char *end = sq->buf + (size_t) (sq->mask + 1) * MLX5_BB;
	size_t room = (size_t) (end - at);

	if (__builtin_expect(len < room, 1)) {
		memcpy(at, src, len);
		return at + len;
	}
	memcpy(at, src, room);
	memcpy(sq->buf, (const char *) src + room, len - room);
	return sq->buf + (len - room);
}

static inline void put_inline(const struct mlx5_sq *sq, uint32_t seg, const struct vrb_wr *wr,
			      uint32_t len)
{
	char *at = mlx5_seg_at(sq, seg);
	unsigned i;

	*(uint32_t *) at = htobe32(len | MLX5_INLINE_BIT);
	at += 4;
	for (i = 0; i < wr->sge_cnt; i++)
		at = put_bytes(sq, at, (const void *) (uintptr_t) wr->sge[i].addr,
			       wr->sge[i].length);
}

/* Entries that the device fetches.  An empty one is left out. */
static inline uint32_t put_data(const struct mlx5_sq *sq, uint32_t seg, const struct vrb_wr *wr)
{
	struct mlx5_data *data;
	unsigned i;

	for (i = 0; i < wr->sge_cnt; i++) {
		if (!wr->sge[i].length)
			continue;	/* the device reads a length of 0 as 2 GiB */
		data = (struct mlx5_data *) mlx5_seg_at(sq, seg++);
		data->len = htobe32(wr->sge[i].length);
		data->lkey = htobe32(wr->sge[i].lkey);
		data->addr = htobe64(wr->sge[i].addr);
	}
	return seg;
}

static inline void put_amo(const struct mlx5_sq *sq, uint32_t seg, const struct vrb_wr *wr)
{
	struct mlx5_amo *amo = (struct mlx5_amo *) mlx5_seg_at(sq, seg);

	amo->operand = htobe64(wr->operand);
	amo->compare = wr->op == VRB_OP_SWAP ? htobe64(wr->compare) : 0;
}

/* The destination of a datagram, which may wrap around the end of the queue. */
static inline uint32_t put_av(const struct mlx5_sq *sq, uint32_t seg, const struct vrb_wr *wr)
{
	put_bytes(sq, mlx5_seg_at(sq, seg), wr->av, sizeof(struct mlx5_av));
	return seg + sizeof(struct mlx5_av) / MLX5_SEG;
}

/* A request of one entry that fits into one block; a block never wraps. */
static inline bool is_short(const struct vrb_wr *wr)
{
	return wr->sge_cnt == 1 && wr->op < VRB_OP_ADD && wr->sge->length &&
	       (!(wr->flags & IBV_SEND_INLINE) || wr->sge->length <= mlx5_fast_max(wr->op));
}

static int direct_build(struct vrb_sq *base, const struct vrb_wr *wr)
{
	struct mlx5_sq *sq = (struct mlx5_sq *) base;
	bool amo = wr->op == VRB_OP_ADD || wr->op == VRB_OP_SWAP;
	uint32_t first = sq->next * 4, seg = first + 1, len = 0, most, blocks;

	if (__builtin_expect(base->type != IBV_QPT_UD && is_short(wr), 1))
		return mlx5_build_fast(sq, wr);
	/* Check for room for the longest form before anything is written. */
	most = 1 + (wr->op > VRB_OP_SEND_IMM) + amo;
	if (base->type == IBV_QPT_UD)
		most += sizeof(struct mlx5_av) / MLX5_SEG;
	if (wr->flags & IBV_SEND_INLINE) {
		len = inline_len(wr);
		most += inline_segs(len);
	} else {
		most += wr->sge_cnt;
	}
	blocks = (most + 3) / 4;
	if (__builtin_expect(blocks > MLX5_WQE_MAX || blocks > sq->mask + 1, 0))
		return -FI_EMSGSIZE;
	if (__builtin_expect(sq->next + blocks - sq->done > sq->mask + 1, 0))
		return -FI_EAGAIN;
	if (wr->op > VRB_OP_SEND_IMM)
		mlx5_put_raddr(mlx5_seg_at(sq, seg++), wr);
	if (amo)
		put_amo(sq, seg++, wr);
	if (base->type == IBV_QPT_UD)
		seg = put_av(sq, seg, wr);
	if (!(wr->flags & IBV_SEND_INLINE)) {
		seg = put_data(sq, seg, wr);
	} else if (len) {
		put_inline(sq, seg, wr, len);
		seg += inline_segs(len);
	}
	mlx5_put_ctrl(sq, wr, seg - first);
	return 0;
}

/* ---- ringing -------------------------------------------------------------------- */

/* Only if something was built since: a doorbell costs a store to the device. */
static void direct_ring(struct vrb_sq *base)
{
	struct mlx5_sq *sq = (struct mlx5_sq *) base;

	if (sq->rung != sq->next)
		mlx5_ring_queue(sq);
}

/* ---- receives ------------------------------------------------------------------- */

static void put_room(struct mlx5_data *data, unsigned max, const struct ibv_sge *sge, unsigned cnt)
{
	unsigned i, used = 0;

	for (i = 0; i < cnt; i++) {
		if (!sge[i].length)
			continue;
		data[used].len = htobe32(sge[i].length);
		data[used].lkey = htobe32(sge[i].lkey);
		data[used++].addr = htobe64(sge[i].addr);
	}
	if (used < max)
		data[used] = (struct mlx5_data) { .lkey = htobe32(MLX5_NO_LKEY) };
}

static void update_recv_dbrec(volatile uint32_t *dbrec, uint32_t posted)
{
	device_barrier();
	__atomic_store_n(dbrec, htobe32(posted & MLX5_COUNTER_MASK), __ATOMIC_RELEASE);
}

int vrb_mlx5_recv(struct mlx5_rq *rq, uint64_t wr_id, const struct ibv_sge *sge, unsigned cnt)
{
	char *at = rq->buf + (size_t) (rq->next & rq->mask) * rq->stride;
	unsigned max = rq->stride / MLX5_SEG;

	if (cnt > max)
		return -FI_EINVAL;
	if (rq->next - rq->done > rq->mask)
		return -FI_EAGAIN;
	put_room((struct mlx5_data *) at, max, sge, cnt);
	rq->wr_id[rq->next & rq->mask] = wr_id;
	update_recv_dbrec(&rq->dbrec[MLX5_DB_RECV], ++rq->next);
	return 0;
}

static struct mlx5_next *shared_at(const struct mlx5_srq *srq, uint32_t index)
{
	return (struct mlx5_next *) (srq->buf + (size_t) index * srq->stride);
}

int vrb_mlx5_srq_recv(struct mlx5_srq *srq, uint64_t wr_id, const struct ibv_sge *sge,
		      unsigned cnt)
{
	struct mlx5_next *at = shared_at(srq, srq->head);
	unsigned max = srq->stride / MLX5_SEG - 1;

	if (cnt > max)
		return -FI_EINVAL;
	if (srq->head == srq->tail)
		return -FI_EAGAIN;
	put_room((struct mlx5_data *) (at + 1), max, sge, cnt);
	srq->wr_id[srq->head] = wr_id;
	srq->head = be16toh(at->index);
	update_recv_dbrec(srq->dbrec, ++srq->posted);
	return 0;
}

static int direct_recv(struct vrb_sq *base, uint64_t wr_id, const struct ibv_sge *sge, unsigned cnt)
{
	return vrb_mlx5_recv(&((struct mlx5_qp *) base)->rq, wr_id, sge, cnt);
}

const struct vrb_sq_ops vrb_sq_direct = {
	.name = "direct",
	.build = direct_build,
	.ring = direct_ring,
	.recv = direct_recv,
};

/* ---- completions ---------------------------------------------------------------- */

enum ibv_wc_status vrb_mlx5_status(uint8_t syndrome)
{
	static const uint8_t table[][2] = {
		{ 0x01, IBV_WC_LOC_LEN_ERR }, { 0x02, IBV_WC_LOC_QP_OP_ERR },
		{ 0x04, IBV_WC_LOC_PROT_ERR }, { 0x05, IBV_WC_WR_FLUSH_ERR },
		{ 0x06, IBV_WC_MW_BIND_ERR }, { 0x10, IBV_WC_BAD_RESP_ERR },
		{ 0x11, IBV_WC_LOC_ACCESS_ERR }, { 0x12, IBV_WC_REM_INV_REQ_ERR },
		{ 0x13, IBV_WC_REM_ACCESS_ERR }, { 0x14, IBV_WC_REM_OP_ERR },
		{ 0x15, IBV_WC_RETRY_EXC_ERR }, { 0x16, IBV_WC_RNR_RETRY_EXC_ERR },
		{ 0x22, IBV_WC_REM_ABORT_ERR },
	};
	unsigned i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (table[i][0] == syndrome)
			return (enum ibv_wc_status) table[i][1];
	return IBV_WC_GENERAL_ERR;
}

struct mlx5_qp vrb_mlx5_no_qp = { .sq.qpn = ~0u };

/* No entry may look as if the device had written it: the owner bit of the first round is 0. */
void vrb_mlx5_cq_init(struct mlx5_cq *cq)
{
	uint32_t i;

	for (i = 0; i <= cq->mask; i++)
		cq->buf[(size_t) (i + 1) * cq->stride - 1] = (char) (MLX5_CQE_NONE << 4 | 1);
	cq->next = 0;
	cq->at = mlx5_first(cq);
	cq->last = &vrb_mlx5_no_qp;
}

void vrb_mlx5_copy_data(char *buf, uint32_t mask, uint32_t seg, const struct mlx5_cqe *cqe)
{
	const char *from = (const char *) cqe - (cqe->op_own & MLX5_CQE_DATA_BEFORE ? 64 : 0);
	uint32_t left = be32toh(cqe->len), len;
	const struct mlx5_data *data;

	while (left) {
		data = (const struct mlx5_data *) (buf + (size_t) (seg++ & mask) * MLX5_SEG);
		len = be32toh(data->len);
		if (len > left)
			len = left;
		if (!len)
			return;	/* the end of the list */
		memcpy((void *) (uintptr_t) be64toh(data->addr), from, len);
		from += len;
		left -= len;
	}
}

static inline bool has_data(const struct mlx5_cqe *cqe)
{
	return __builtin_expect(cqe->op_own & (MLX5_CQE_DATA_HERE | MLX5_CQE_DATA_BEFORE), 0);
}

/* Data of a read or atomic belongs to the segments behind the request's fixed ones. */
static void copy_sent_data(struct mlx5_sq *sq, uint32_t counter, const struct mlx5_cqe *cqe)
{
	uint32_t seg = (counter & sq->mask) * 4;
	uint8_t op = (uint8_t) be32toh(((struct mlx5_ctrl *) mlx5_seg_at(sq, seg))->index_op);

	vrb_mlx5_copy_data(sq->buf, sq->mask * 4 + 3, seg + (op == MLX5_WQE_READ ? 2 : 3), cqe);
}

/* A receive of a shared queue is complete and goes back to the end of the list. */
static uint64_t shared_wr(struct mlx5_srq *srq, const struct mlx5_cqe *cqe)
{
	uint32_t index = be16toh(cqe->counter);
	char *at = (char *) shared_at(srq, index);

	if (has_data(cqe))
		vrb_mlx5_copy_data(at, srq->stride / MLX5_SEG - 1, 1, cqe);
	shared_at(srq, srq->tail)->index = htobe16((uint16_t) index);
	srq->tail = index;
	return srq->wr_id[index];
}

bool vrb_mlx5_read(struct mlx5_cq *cq, const struct mlx5_cqe *cqe, struct vrb_wc *wc)
{
	uint32_t qpn = be32toh(cqe->op_qpn) & 0xffffff;
	struct mlx5_qp *qp = cq->last;
	uint8_t op = cqe->op_own >> 4;

	if (__builtin_expect(!mlx5_is_of(cqe, qp), 0)) {
		qp = cq->find(cq, qpn);
		if (!qp)
			return false;
		cq->last = qp;
	}
	wc->status = IBV_WC_SUCCESS;
	wc->qp_num = qpn;
	if (op == MLX5_CQE_SENT) {
		if (has_data(cqe))
			copy_sent_data(&qp->sq, be16toh(cqe->counter), cqe);
		wc->wr_id = mlx5_sent_wr(&qp->sq, cqe);
		return true;
	}
	wc->has_imm = op == MLX5_CQE_RECEIVED_IMM || op == MLX5_CQE_WRITTEN_IMM;
	wc->write = op == MLX5_CQE_WRITTEN_IMM;
	if (op == MLX5_CQE_SEND_ERROR)
		wc->wr_id = mlx5_sent_wr(&qp->sq, cqe);
	else
		wc->wr_id = qp->srq ? shared_wr(qp->srq, cqe) : mlx5_received_wr(&qp->rq, cqe);
	wc->len = be32toh(cqe->len);
	wc->imm = be32toh(cqe->imm);
	if (cq->base.sources) {
		wc->has_grh = be32toh(cqe->grh_qpn) & MLX5_CQE_GRH;
		wc->slid = be16toh(cqe->slid);
		wc->src_qp = be32toh(cqe->grh_qpn) & 0xffffff;
	}
	if (op == MLX5_CQE_SEND_ERROR || op == MLX5_CQE_RECV_ERROR) {
		wc->status = vrb_mlx5_status(cqe->syndrome);
		wc->vendor_err = cqe->vendor;
	}
	return true;
}

/* The device raises one event per arming; the record holds the count of events so far. */
static int direct_arm(struct vrb_cq *base)
{
	struct mlx5_cq *cq = (struct mlx5_cq *) base;
	uint32_t what = (base->events_all & 3) << 28 | (cq->next & 0xffffff);

	__atomic_store_n(&cq->dbrec[MLX5_DB_ARM], htobe32(what), __ATOMIC_RELEASE);
	store_fence();
	MLX5_STORE64(cq->uar + MLX5_ARM_REG, htobe64((uint64_t) what << 32 | cq->cqn));
	store_fence();
	return 0;
}

static void direct_close(struct vrb_cq *base)
{
	((struct mlx5_cq *) base)->close(base);
}

const struct vrb_cq_ops vrb_cq_direct = {
	.name = "direct",
	.arm = direct_arm,
	.close = direct_close,
};

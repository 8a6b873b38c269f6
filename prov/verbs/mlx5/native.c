/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * native.c - endpoints whose queues a device writes and reads by itself: the host's part.
 */
#include "verbs/mlx5_native.h"

#include <poll.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_xpu_mlx5.h>
#include <stdlib.h>

#include "base/clock.h"
#include "verbs/ep.h"
#include "verbs/mlx5_queue.h"
#include "xpu/native.h"

#define PATIENCE_MS 100		/* for calls that the device has begun, when the endpoint closes */
#define FLUSH_MS 500		/* in which the NIC completes all that is posted */
#define SYNDROMES 64

static_assert(SYNDROMES == sizeof(((struct fi_xpu_mlx5_cq *) 0)->status) / sizeof(uint16_t), "one each");
static_assert(sizeof(struct fi_xpu_mlx5_slot) == 64, "a cache line");

struct vrb_native {
	struct xpu_kept kept;		/* first */
	struct vrb_cq *cq;
	struct mlx5_qp mlx5;		/* where the queues are */
	struct ibv_qp *qp;		/* NULL: still the endpoint's */
	struct ibv_mr *slots_mr;	/* or NULL */
	struct fi_xpu_mlx5_ep *ep;	/* what the device uses; pointers in it are the device's */
	struct fi_xpu_mlx5_cq *shown;
	struct fi_xpu_mlx5_slot *sq_slots, *rq_slots;
	struct xpu_native set;
};

static const struct mlx5_cq *cq_of(const struct vrb_native *n)
{
	return (const struct mlx5_cq *) n->cq;
}

/* ---- life ----------------------------------------------------------------------- */

void vrb_native_free(struct vrb_native *n)
{
	if (n->qp)
		vrb_ibv.destroy_qp(n->qp);
	vrb_mlx5_qp_fini(&n->mlx5, n->cq);
	if (n->slots_mr)
		vrb_ibv.dereg_mr(n->slots_mr);
	n->cq->ops->close(n->cq);
	free(n);
}

static void drop_native(struct xpu_kept *kept)
{
	vrb_native_free(container_of(kept, struct vrb_native, kept));
}

struct vrb_native *vrb_native_new(struct vrb_ep *ep)
{
	size_t entries = ep->base.info->tx_attr->size + ep->base.info->rx_attr->size;
	struct vrb_native *n;

	if (!ep->domain->native || ep->dgram || !ep->base.info->rx_attr->size || !xpu_native_may(&ep->base))
		return NULL;
	n = calloc(1, sizeof(*n));
	if (!n)
		return NULL;
	if (vrb_mlx5_cq_new(ep->domain->ctx, NULL, (unsigned) entries, &n->cq)) {
		VRB_WARN(FI_LOG_CQ, "no completion queue of %zu entries for the device of endpoint %p; a thread "
			 "of the library posts for it\n", entries, (void *) ep);
		free(n);
		return NULL;
	}
	n->kept.drop = drop_native;
	return n;
}

struct ibv_cq *vrb_native_cq(const struct vrb_native *n)
{
	return n->cq->cq;
}

/* ---- what the device sees ---------------------------------------------------------- */

/* The first error stays in *ret_p, and later calls do nothing. */
static void *queue_show(struct vrb_ep *ep, volatile void *host, size_t size, uint64_t flags, int *ret_p)
{
	uint64_t dev = 0;

	if (!*ret_p)
		*ret_p = xpu_native_map(&ep->base, (void *) (uintptr_t) host, size, flags, &dev);
	return (void *) (uintptr_t) dev;
}

static void *mem_make(struct vrb_ep *ep, size_t size, void **host_p, int *ret_p)
{
	uint64_t dev = 0;

	if (!*ret_p)
		*ret_p = xpu_native_mem(&ep->base, size, host_p, &dev);
	return (void *) (uintptr_t) dev;
}

/* Both queues are parts of one allocation: they are mapped at once. */
static int show_buffer(struct vrb_ep *ep, const struct mlx5_qp *qp)
{
	size_t sq_len = (size_t) (qp->sq.mask + 1) * MLX5_BB, rq_len = (size_t) (qp->rq.mask + 1) * qp->rq.stride;
	char *from = qp->sq.buf < qp->rq.buf ? qp->sq.buf : qp->rq.buf;
	char *to = qp->sq.buf + sq_len > qp->rq.buf + rq_len ? qp->sq.buf + sq_len : qp->rq.buf + rq_len;
	int ret = 0;

	queue_show(ep, from, (size_t) (to - from), 0, &ret);
	return ret;
}

static int show_sq(struct vrb_ep *ep, struct vrb_native *n, struct fi_xpu_mlx5_queue *q)
{
	const struct mlx5_sq *sq = &n->mlx5.sq;
	size_t slots = ((size_t) sq->mask + 1) * sizeof(struct fi_xpu_mlx5_slot);
	int ret = 0;

	q->mask = sq->mask;
	q->room = ep->tx_depth;
	q->stride = MLX5_BB;
	q->always = ep->base.tx_selective ? 0 : FI_COMPLETION;
	q->wqes = queue_show(ep, sq->buf, (size_t) (sq->mask + 1) * MLX5_BB, 0, &ret);
	q->dbrec = queue_show(ep, &sq->dbrec[MLX5_DB_SEND], sizeof(*q->dbrec), 0, &ret);
	q->reg = queue_show(ep, sq->doorbell, sizeof(*q->reg), FI_XPU_IMPORT_IOMEMORY, &ret);
	q->slots = mem_make(ep, slots, (void **) &n->sq_slots, &ret);
	if (ret || !(ep->base.caps & FI_ATOMIC))
		return ret;
	n->slots_mr = vrb_ibv.reg_mr(ep->domain->pd, n->sq_slots, slots, IBV_ACCESS_LOCAL_WRITE);
	n->ep->slots_at = (uintptr_t) n->sq_slots;
	n->ep->slots_key = n->slots_mr ? n->slots_mr->lkey : 0;
	return 0;
}

static int show_rq(struct vrb_ep *ep, struct vrb_native *n, struct fi_xpu_mlx5_queue *q)
{
	const struct mlx5_rq *rq = &n->mlx5.rq;
	int ret = 0;

	q->mask = rq->mask;
	q->room = ep->rx_depth;
	q->stride = rq->stride;
	q->always = ep->base.rx_selective ? 0 : FI_COMPLETION;
	q->wqes = queue_show(ep, rq->buf, (size_t) (rq->mask + 1) * rq->stride, 0, &ret);
	q->dbrec = queue_show(ep, &rq->dbrec[MLX5_DB_RECV], sizeof(*q->dbrec), 0, &ret);
	q->slots = mem_make(ep, ((size_t) rq->mask + 1) * sizeof(struct fi_xpu_mlx5_slot), (void **) &n->rq_slots, &ret);
	return ret;
}

static int show_cq(struct vrb_ep *ep, struct vrb_native *n)
{
	const struct mlx5_cq *cq = cq_of(n);
	struct fi_xpu_mlx5_cq *shown = n->shown;
	int ret = 0, recv;
	unsigned i;

	xpu_native_ring(&ep->base, &shown->ring);
	shown->ep = (struct fi_xpu_mlx5_ep *) (uintptr_t) n->set.ep;
	shown->mask = cq->mask;
	shown->stride = cq->stride;
	shown->entry_size = ep->base.tx_cq->entry_size;
	shown->cqes = queue_show(ep, cq->buf, ((size_t) cq->mask + 1) * cq->stride, 0, &ret);
	shown->dbrec = queue_show(ep, &cq->dbrec[MLX5_DB_CI], sizeof(*shown->dbrec), 0, &ret);
	for (i = 0; i < SYNDROMES; i++) {
		shown->status[i] = (uint16_t) vrb_mlx5_status((uint8_t) i);
		for (recv = 0; recv < 2; recv++)
			shown->err[recv][i] = (uint16_t) vrb_wc_error(vrb_mlx5_status((uint8_t) i), recv);
	}
	return ret;
}

static uint32_t key_of(const struct obj_mr *mr)
{
	return ((const struct vrb_region *) mr->hw)->ibv->lkey;
}

static int show_all(struct vrb_ep *ep, struct vrb_native *n)
{
	uint64_t keys = 0;
	int ret = 0;

	n->set.ep = (uintptr_t) mem_make(ep, sizeof(*n->ep), (void **) &n->ep, &ret);
	n->set.cq = (uintptr_t) mem_make(ep, sizeof(*n->shown), (void **) &n->shown, &ret);
	if (!ret)
		ret = show_buffer(ep, &n->mlx5);
	if (!ret)
		ret = show_sq(ep, n, &n->ep->sq);
	if (!ret)
		ret = show_rq(ep, n, &n->ep->rq);
	if (!ret)
		ret = show_cq(ep, n);
	if (!ret)
		ret = xpu_native_keys(&ep->base, key_of, &keys);
	if (ret)
		return ret;
	n->ep->keys = (const uint64_t *) (uintptr_t) keys;
	n->ep->key_cnt = XPU_NATIVE_KEYS;
	n->ep->max_len = ep->base.info->ep_attr->max_msg_size;
	n->ep->qpn = n->mlx5.sq.qpn;
	return 0;
}

/* The host posts nothing to it. */
static void hide_calls(struct fid_ep *fid)
{
	fid->msg = NULL;
	fid->rma = NULL;
	fid->atomic = NULL;
	obj_ops_fill_ep(fid);
}

int vrb_native_start(struct vrb_ep *ep)
{
	struct vrb_mlx5_group none = { 0 };
	struct vrb_native *n = ep->native;
	int ret = vrb_mlx5_qp_init(&n->mlx5, ep->qp, n->cq, NULL, &none);

	if (!ret)
		ret = show_all(ep, n);
	if (ret) {
		VRB_WARN(FI_LOG_EP_CTRL, "the device of endpoint %p cannot use its queues: %s; a thread of the "
			 "library posts for it\n", (void *) ep, fi_strerror(-ret));
		return ret;
	}
	n->set.prov_id = FI_XPU_MLX5_PROV;
	n->set.tail = &n->ep->sq.tail;
	n->set.rung = &n->ep->sq.rung;
	hide_calls(&ep->base.h.fid);
	xpu_native_set(&ep->base, &n->set);
	vrb_native_connected(ep, vrb_connected(ep));
	VRB_INFO(FI_LOG_EP_CTRL, "requests and completions: by the device itself\n");
	return 0;
}

void vrb_native_connected(struct vrb_ep *ep, bool connected)
{
	if (ep->native->set.prov_id)
		__atomic_store_n(&ep->native->ep->connected, connected, __ATOMIC_RELEASE);
}

/* ---- the end ----------------------------------------------------------------------- */

static uint64_t begun_of(const struct fi_xpu_mlx5_queue *q)
{
	return __atomic_load_n(&q->tail, __ATOMIC_ACQUIRE) & ~FI_XPU_RING_CLOSED;
}

static uint64_t announced_of(const struct fi_xpu_mlx5_queue *q)
{
	return __atomic_load_n(&q->rung, __ATOMIC_ACQUIRE);
}

static void queue_shut(struct fi_xpu_mlx5_queue *q, uint64_t deadline)
{
	__atomic_fetch_or(&q->tail, FI_XPU_RING_CLOSED, __ATOMIC_ACQ_REL);
	while (begun_of(q) != announced_of(q) && clock_ns() < deadline)
		poll(NULL, 0, 1);
}

static uint64_t in_flight(const struct fi_xpu_mlx5_queue *q)
{
	return announced_of(q) - __atomic_load_n(&q->done, __ATOMIC_ACQUIRE);
}

/* Entries that the NIC has written and the device has not read. */
static uint64_t unread_cnt(const struct vrb_native *n)
{
	uint64_t head = __atomic_load_n(&n->shown->head, __ATOMIC_ACQUIRE), i;
	const struct mlx5_cq *cq = cq_of(n);
	const struct mlx5_cqe *cqe;

	for (i = 0; i <= cq->mask; i++) {
		cqe = (const struct mlx5_cqe *) (mlx5_first(cq) + ((head + i) & cq->mask) * cq->stride);
		if (!mlx5_is_ours(mlx5_op_own(cqe), ((head + i) & (cq->mask + 1)) != 0))
			break;
	}
	return i;
}

/* What never reached the NIC, since a call before it was not completed. */
static void queue_cancel(struct vrb_ep *ep, struct fi_xpu_mlx5_queue *q, const struct fi_xpu_mlx5_slot *slots, bool recv)
{
	const struct fi_xpu_mlx5_slot *slot;
	struct fi_cq_err_entry e;
	uint64_t at;

	for (at = announced_of(q); at != begun_of(q); at++) {
		slot = &slots[at & q->mask];
		if (__atomic_load_n(&slot->ready, __ATOMIC_ACQUIRE) != at + 1)
			continue;
		e = obj_cq_err((void *) (uintptr_t) slot->context, slot->flags, FI_ECANCELED);
		if (recv)
			obj_ep_err_rx(&ep->base, &e, NULL, 0, OBJ_CNTR_NONE);
		else
			obj_ep_err_tx(&ep->base, &e, NULL, 0, OBJ_CNTR_NONE);
	}
}

void vrb_native_stop(struct vrb_ep *ep)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	uint64_t deadline = clock_deadline(PATIENCE_MS);
	struct vrb_native *n = ep->native;

	if (n->set.prov_id) {
		queue_shut(&n->ep->sq, deadline);
		queue_shut(&n->ep->rq, deadline);
		vrb_native_connected(ep, false);
		deadline = clock_deadline(FLUSH_MS);
		if (!vrb_ibv.modify_qp(ep->qp, &attr, IBV_QP_STATE))
			while (in_flight(&n->ep->sq) + in_flight(&n->ep->rq) > unread_cnt(n) && clock_ns() < deadline)
				poll(NULL, 0, 1);
		queue_cancel(ep, &n->ep->sq, n->sq_slots, false);
		queue_cancel(ep, &n->ep->rq, n->rq_slots, true);
	}
	/* not by librdmacm: it is the context's */
	n->qp = ep->qp;
	ep->cm.id->qp = NULL;
	ep->qp = NULL;
}

void vrb_native_keep(struct vrb_ep *ep)
{
	xpu_native_keep(&ep->base, &ep->native->kept);
	ep->native = NULL;
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copyright (c) 2026 the libfabric authors. */
/*
 * op.c - how operations end.
 */
#include "obj.h"

static const struct {
	uint64_t		flags;	/* of the completion */
	enum kofi_cntr_kind	cntr;
} kinds[] = {
	[KOFI_SEND] = { FI_SEND | FI_MSG, KOFI_CNTR_SEND },
	[KOFI_TSEND] = { FI_SEND | FI_TAGGED, KOFI_CNTR_SEND },
	[KOFI_WRITE] = { FI_WRITE | FI_RMA, KOFI_CNTR_WRITE },
	[KOFI_READ] = { FI_READ | FI_RMA, KOFI_CNTR_READ },
	[KOFI_ATOMIC] = { FI_WRITE | FI_ATOMIC, KOFI_CNTR_WRITE },
	[KOFI_FETCH] = { FI_READ | FI_ATOMIC, KOFI_CNTR_READ },
	[KOFI_COMPARE] = { FI_READ | FI_ATOMIC, KOFI_CNTR_READ },
	[KOFI_RECV] = { FI_RECV | FI_MSG, KOFI_CNTR_RECV },
	[KOFI_TRECV] = { FI_RECV | FI_TAGGED, KOFI_CNTR_RECV },
};

static void op_finish(struct kofi_op *op, struct kofi_cq *cq, struct kofi_pool *pool,
		      struct kofi_comp *comp)
{
	struct kofi_ep *ep = op->ep;
	struct kofi_cntr *cntr = ep->cntr[kinds[op->type].cntr];
	struct kofi_op *multi = op->type >= KOFI_RECV ? op->multi : NULL;
	bool last = false;
	int err = 0;

	comp->context = op->context;
	comp->flags |= kinds[op->type].flags;
	if (multi) {
		comp->buf = op->segs.kvec->iov_base;
		last = obj_multi_part_done(multi, &err);
		if (last && !err) {
			comp->flags |= FI_MULTI_RECV;
			op->flags |= FI_COMPLETION;
		}
	}
	if (cntr)
		kofi_cntr_inc(cntr, comp->err);
	if (cq) {
		if (!READ_ONCE(ep->closing) && (comp->err || op->flags & FI_COMPLETION))
			kofi_cq_post(cq, comp);
		else
			kofi_cq_unreserve(cq);
	}
	obj_op_put(pool, op);
	if (last)
		obj_multi_over(multi, err);
}

void kofi_tx_done(struct kofi_op *op, int err)
{
	struct kofi_comp comp = {
		.err = err, .tag = op->tag, .src_addr = FI_ADDR_NOTAVAIL,
		.len = op->type == KOFI_FETCH ? op->result.len : op->segs.len,
	};

	op_finish(op, op->ep->tx_cq, &op->ep->tx_pool, &comp);
}
EXPORT_SYMBOL_GPL(kofi_tx_done);

void kofi_rx_done(struct kofi_op *op, int err, const struct kofi_recvd *recvd)
{
	struct kofi_comp comp = { .err = err, .src_addr = FI_ADDR_NOTAVAIL };

	if (op->flags & FI_MULTI_RECV) {
		obj_multi_cancel(op, err);
		return;
	}
	if (recvd) {
		comp.len = min(recvd->len, op->segs.len);
		comp.flags = recvd->flags;
		comp.data = recvd->data;
		comp.tag = recvd->tag;
		comp.src_addr = recvd->src;
		if (!err && recvd->len > op->segs.len) {
			comp.err = FI_ETRUNC;
			comp.olen = recvd->len - op->segs.len;
		}
	} else {
		comp.tag = op->tag;
	}
	op_finish(op, op->ep->rx_cq, &op->ep->rx_pool, &comp);
}
EXPORT_SYMBOL_GPL(kofi_rx_done);

int kofi_remote_done(struct kofi_ep *ep, uint64_t flags, size_t len, uint64_t data)
{
	struct kofi_cntr *written = flags & FI_REMOTE_WRITE ? ep->cntr[KOFI_CNTR_REMOTE_WRITE] : NULL;
	struct kofi_cntr *read = flags & FI_REMOTE_READ ? ep->cntr[KOFI_CNTR_REMOTE_READ] : NULL;
	struct kofi_comp comp = {
		.flags = flags, .len = len, .data = data, .src_addr = FI_ADDR_NOTAVAIL,
	};

	if (written)
		kofi_cntr_inc(written, false);
	if (read)
		kofi_cntr_inc(read, false);
	if (!(flags & FI_REMOTE_CQ_DATA) || !ep->rx_cq)
		return 0;
	if (!kofi_cq_reserve(ep->rx_cq))
		return -FI_EOVERRUN;
	kofi_cq_post(ep->rx_cq, &comp);
	return 0;
}
EXPORT_SYMBOL_GPL(kofi_remote_done);

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copyright (c) 2026 the libfabric authors. */
/*
 * transfer.c - what one endpoint does to another: messages, remote memory, atomics, and their end.
 */
#include "loop.h"

/* ---- the other endpoint ---- */

static struct loop_ep *target_hold(struct loop_ep *ep, const struct kofi_op *op)
{
	char text[FI_NAME_MAX];
	struct loop_ep *target;
	struct loop_name *name;
	size_t len;

	if (ep->ep.type == FI_EP_MSG) {
		spin_lock_bh(&loop_lock);
		target = ep->peer;
	} else {
		if (!kofi_av_get(ep->ep.av, op->addr, text, sizeof(text), &len))
			return ERR_PTR(-FI_EADDRNOTAVAIL);
		spin_lock_bh(&loop_lock);
		name = loop_name_find(&loop_eps, ep->name.net, text);
		target = name ? container_of(name, struct loop_ep, name) : NULL;
	}
	if (target && target->gone)
		target = NULL;
	if (target)
		target->users++;
	spin_unlock_bh(&loop_lock);
	return target;
}

void loop_target_put(struct loop_ep *ep)
{
	spin_lock_bh(&loop_lock);
	if (!--ep->users)
		wake_up_all(&ep->unused);
	spin_unlock_bh(&loop_lock);
}

static void send_forget(struct loop_op *lop)
{
	struct loop_ep *ep = loop_of(lop->op.ep);

	spin_lock_bh(&ep->pending_lock);
	list_del_init(&lop->pending);
	spin_unlock_bh(&ep->pending_lock);
}

/* ---- transfers ---- */

static void message_deliver(struct loop_op *lop, struct kofi_op *rx)
{
	struct kofi_op *op = &lop->op;
	struct kofi_recvd recvd = {
		.len = op->segs.len, .flags = op->flags & FI_REMOTE_CQ_DATA, .data = op->data,
		.tag = op->tag, .src = lop->arrival.src,
	};

	send_forget(lop);
	kofi_segs_copy(&rx->segs, 0, &op->segs, 0, min(op->segs.len, rx->segs.len));
	kofi_rx_done(rx, 0, &recvd);
	kofi_tx_done(op, 0);
}

static void message_send(struct loop_ep *ep, struct loop_op *lop, struct loop_ep *target)
{
	struct kofi_op *rx;

	lop->target = target;
	lop->arrival.tagged = lop->op.type == KOFI_TSEND;
	lop->arrival.tag = lop->op.tag;
	lop->arrival.len = lop->op.segs.len;
	lop->arrival.src = target->ep.av ? kofi_av_find(target->ep.av, ep->name.text, FI_NAME_MAX) :
			   FI_ADDR_NOTAVAIL;
	spin_lock_bh(&ep->pending_lock);
	list_add_tail(&lop->pending, &ep->pending);
	spin_unlock_bh(&ep->pending_lock);
	rx = kofi_rx_arrive(&target->ep, &lop->arrival);
	if (IS_ERR(rx)) {
		send_forget(lop);
		kofi_tx_done(&lop->op, FI_ECONNRESET);
	} else if (rx) {
		message_deliver(lop, rx);
	}
}

static int rma_range(struct kofi_domain *domain, struct kofi_op *op, const struct fi_rma_iov *range,
		   size_t off)
{
	bool write = op->type == KOFI_WRITE;
	struct kofi_mr *mr;
	size_t at;

	if (kofi_mr_get(domain, range->key, range->addr, range->len,
			write ? FI_REMOTE_WRITE : FI_REMOTE_READ, &mr, &at))
		return FI_EACCES;
	if (write)
		kofi_segs_copy(&mr->segs, at, &op->segs, off, range->len);
	else
		kofi_segs_copy(&op->segs, off, &mr->segs, at, range->len);
	kofi_mr_put(mr);
	return 0;
}

static void rma_run(struct loop_op *lop, struct loop_ep *target)
{
	struct kofi_op *op = &lop->op;
	size_t off = 0;
	int err = 0;
	u32 i;

	for (i = 0; i < op->rma_cnt && !err; off += op->rma[i++].len)
		err = rma_range(target->ep.domain, op, &op->rma[i], off);
	if (!err)
		err = -kofi_remote_done(&target->ep, FI_RMA | (op->flags & FI_REMOTE_CQ_DATA) |
					(op->type == KOFI_WRITE ? FI_REMOTE_WRITE :
								  FI_REMOTE_READ),
					op->segs.len, op->data);
	kofi_tx_done(op, err);
}

static void atomic_run(struct kofi_op *op, struct loop_ep *target)
{
	const struct kofi_atomic atomic = {
		.type = op->type, .datatype = op->datatype, .op = op->amo,
		.flags = op->flags & FI_REMOTE_CQ_DATA, .data = op->data,
		.rma_cnt = op->rma_cnt, .rma = op->rma, .operand = &op->segs,
		.compare = &op->compare, .result = op->type == KOFI_ATOMIC ? NULL : &op->result,
	};
	int ret = kofi_atomic_serve(&target->ep, &atomic);

	kofi_tx_done(op, ret == -FI_ENOKEY ? FI_EACCES : -ret);
}

int loop_tx(struct kofi_ep *kep, struct kofi_op *op)
{
	struct loop_op *lop = container_of(op, struct loop_op, op);
	struct loop_ep *ep = loop_of(kep), *target;

	target = target_hold(ep, op);
	if (IS_ERR(target))
		return PTR_ERR(target);
	if (!target) {
		if (kep->type == FI_EP_MSG)
			return -FI_ENOTCONN;
		kofi_tx_done(op, FI_ECONNREFUSED);
		return 0;
	}
	if (op->type == KOFI_SEND || op->type == KOFI_TSEND)
		message_send(ep, lop, target);
	else if (op->type < KOFI_ATOMIC)
		rma_run(lop, target);
	else
		atomic_run(op, target);
	loop_target_put(target);
	return 0;
}

void loop_rx_match(struct kofi_ep *ep, struct kofi_op *op, struct kofi_arrival *arrival)
{
	message_deliver(container_of(arrival, struct loop_op, arrival), op);
}

/* ---- their end ---- */

/* Sends of ours that wait at a peer. */
static void sends_cancel(struct loop_ep *ep)
{
	struct loop_op *lop, *next;
	LIST_HEAD(mine);

	spin_lock_bh(&ep->pending_lock);
	list_for_each_entry_safe(lop, next, &ep->pending, pending)
		if (kofi_arrival_cancel(&lop->target->ep, &lop->arrival))
			list_move(&lop->pending, &mine);
	spin_unlock_bh(&ep->pending_lock);
	while (!list_empty(&mine)) {
		lop = list_first_entry(&mine, struct loop_op, pending);
		list_del_init(&lop->pending);
		kofi_tx_done(&lop->op, FI_ECANCELED);
	}
}

void loop_arrivals_refuse(struct loop_ep *ep)
{
	struct kofi_arrival *arrival;
	struct loop_op *lop;
	int i;

	for (i = 0; i < 2; i++) {
		while ((arrival = list_first_entry_or_null(&ep->ep.arrivals[i],
							   struct kofi_arrival, node))) {
			if (!kofi_arrival_cancel(&ep->ep, arrival))
				continue;
			lop = container_of(arrival, struct loop_op, arrival);
			send_forget(lop);
			kofi_tx_done(&lop->op, FI_ECONNRESET);
		}
	}
}

void loop_transfers_end(struct loop_ep *ep)
{
	sends_cancel(ep);
	kofi_ep_down(&ep->ep, FI_ECANCELED);
	loop_arrivals_refuse(ep);
}

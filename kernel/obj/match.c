// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copyright (c) 2026 the libfabric authors. */
/*
 * match.c - receives and messages find each other, oldest first.
 */
#include "obj.h"

static bool recv_fits(const struct kofi_ep *ep, const struct kofi_op *op, fi_addr_t src, uint64_t tag)
{
	if (op->addr != FI_ADDR_UNSPEC && ep->type != FI_EP_MSG &&
	    ep->caps & FI_DIRECTED_RECV && op->addr != src)
		return false;
	return op->type != KOFI_TRECV || !((op->tag ^ tag) & ~op->ignore);
}

static struct kofi_op *take_from(struct kofi_ep *ep, struct kofi_ep *from,
				 const struct kofi_arrival *arrival)
{
	struct kofi_op *op;

	list_for_each_entry(op, &from->posted[arrival->tagged], node)
		if (recv_fits(ep, op, arrival->src, arrival->tag))
			return obj_recv_take(ep, op, arrival->len);
	return NULL;
}

/* The endpoint's own, then one of its shared context. */
static struct kofi_op *recv_take(struct kofi_ep *ep, const struct kofi_arrival *arrival)
{
	struct kofi_op *op = take_from(ep, ep, arrival);

	if (op || !ep->srx)
		return op;
	spin_lock_nested(&ep->srx->lock, SINGLE_DEPTH_NESTING);
	op = take_from(ep, ep->srx, arrival);
	spin_unlock(&ep->srx->lock);
	return op;
}

struct kofi_op *kofi_rx_match(struct kofi_ep *ep, const struct kofi_arrival *arrival)
{
	struct kofi_op *op;

	spin_lock_bh(&ep->lock);
	op = recv_take(ep, arrival);
	spin_unlock_bh(&ep->lock);
	return op;
}
EXPORT_SYMBOL_GPL(kofi_rx_match);

struct kofi_op *kofi_rx_arrive(struct kofi_ep *ep, struct kofi_arrival *arrival)
{
	struct kofi_op *op;

	spin_lock_bh(&ep->lock);
	op = ep->closing || ep->down ? ERR_PTR(-FI_ESHUTDOWN) :
	     recv_take(ep, arrival);
	if (!op)
		list_add_tail(&arrival->node, &ep->arrivals[arrival->tagged]);
	spin_unlock_bh(&ep->lock);
	return op;
}
EXPORT_SYMBOL_GPL(kofi_rx_arrive);

bool kofi_arrival_cancel(struct kofi_ep *ep, struct kofi_arrival *arrival)
{
	struct kofi_arrival *have;
	bool found = false;

	spin_lock_bh(&ep->lock);
	list_for_each_entry(have, &ep->arrivals[arrival->tagged], node) {
		if (have == arrival) {
			list_del_init(&arrival->node);
			found = true;
			break;
		}
	}
	spin_unlock_bh(&ep->lock);
	return found;
}
EXPORT_SYMBOL_GPL(kofi_arrival_cancel);

void kofi_rx_repost(struct kofi_ep *ep, struct kofi_op *op)
{
	if (op->multi) {
		obj_multi_drop(op);
		return;
	}
	spin_lock_bh(&ep->lock);
	list_add(&op->node, &ep->posted[op->type == KOFI_TRECV]);
	spin_unlock_bh(&ep->lock);
}
EXPORT_SYMBOL_GPL(kofi_rx_repost);

/* The first message that waits and has a receive now; takes both off their lists. */
static struct kofi_arrival *next_match(struct kofi_ep *ep, struct kofi_op **op_p)
{
	struct kofi_arrival *arrival;
	int i;

	for (i = 0; i < 2; i++) {
		list_for_each_entry(arrival, &ep->arrivals[i], node) {
			*op_p = recv_take(ep, arrival);
			if (*op_p) {
				list_del_init(&arrival->node);
				return arrival;
			}
		}
	}
	return NULL;
}

void obj_rematch(struct kofi_ep *ep)
{
	struct kofi_arrival *arrival;
	struct kofi_op *op;

	do {
		spin_lock_bh(&ep->lock);
		arrival = ep->closing || ep->down ? NULL : next_match(ep, &op);
		spin_unlock_bh(&ep->lock);
		if (arrival)
			ep->ops->rx_match(ep, op, arrival);
	} while (arrival);
}

static void rematch_work(struct work_struct *work)
{
	obj_rematch(container_of(work, struct kofi_ep, rematch.work));
}

void obj_match_init(struct kofi_ep *ep)
{
	int i;

	spin_lock_init(&ep->lock);
	for (i = 0; i < 2; i++) {
		INIT_LIST_HEAD(&ep->posted[i]);
		INIT_LIST_HEAD(&ep->arrivals[i]);
	}
	INIT_DELAYED_WORK(&ep->rematch, rematch_work);
	ep->min_multi = OBJ_MIN_MULTI;
}

int obj_rx_post(struct kofi_ep *ep, struct kofi_op *op)
{
	bool tagged = op->type == KOFI_TRECV;
	struct kofi_arrival *arrival, *hit = NULL;

	if (ep->ops->rx)
		return ep->ops->rx(ep, op);
	if (ep->srx)
		return -FI_ENOSYS;
	spin_lock_bh(&ep->lock);
	if (ep->closing || ep->down) {
		spin_unlock_bh(&ep->lock);
		return -FI_ESHUTDOWN;
	}
	if (op->flags & FI_MULTI_RECV) {
		list_add_tail(&op->node, &ep->posted[tagged]);
		spin_unlock_bh(&ep->lock);
		obj_rematch(ep);
		return 0;
	}
	list_for_each_entry(arrival, &ep->arrivals[tagged], node) {
		if (recv_fits(ep, op, arrival->src, arrival->tag)) {
			hit = arrival;
			break;
		}
	}
	if (hit)
		list_del_init(&hit->node);
	else
		list_add_tail(&op->node, &ep->posted[tagged]);
	spin_unlock_bh(&ep->lock);
	if (hit)
		ep->ops->rx_match(ep, op, hit);
	return 0;
}

static struct kofi_op *recv_pop(struct kofi_ep *ep)
{
	struct kofi_op *op;
	int i;

	spin_lock_bh(&ep->lock);
	for (i = 0, op = NULL; i < 2 && !op; i++) {
		op = list_first_entry_or_null(&ep->posted[i], struct kofi_op, node);
		if (op)
			list_del_init(&op->node);
	}
	spin_unlock_bh(&ep->lock);
	return op;
}

void kofi_ep_down(struct kofi_ep *ep, int err)
{
	struct kofi_op *op;

	spin_lock_bh(&ep->lock);
	ep->down = true;
	spin_unlock_bh(&ep->lock);
	while ((op = recv_pop(ep)))
		kofi_rx_done(op, err, NULL);
}
EXPORT_SYMBOL_GPL(kofi_ep_down);

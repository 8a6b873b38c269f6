// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copyright (c) 2026 the libfabric authors. */
/*
 * multi.c - receives that an operation of its own is made of for each message: multi-receive buffers,
 * and those of shared receive contexts (srx.c).
 *
 * A multi-receive buffer stays posted until less than min_multi bytes of it are left. The completion
 * that says FI_MULTI_RECV is the last one for the buffer.
 */
#include "obj.h"

#define REMATCH_MS	10	/* until operations or entries of a queue are looked for again */

/* The rest of the buffer, as much as a message of @len bytes takes. */
static void part_fill(struct kofi_op *part, struct kofi_op *multi, size_t len)
{
	const struct kvec *iov = multi->segs.kvec;
	struct kvec *piece = part->store;
	size_t room = iov->iov_len - multi->used;

	piece->iov_base = iov->iov_base + multi->used;
	piece->iov_len = min(len, room);
	part->segs = (struct kofi_segs){ .cnt = 1, .len = piece->iov_len, .kvec = piece };
	part->multi = multi;
	multi->used += piece->iov_len;
	multi->parts++;
	if (iov->iov_len - multi->used < multi->ep->min_multi) {
		multi->retired = true;
		list_del_init(&multi->node);
	}
}

static void copy_fill(struct kofi_op *part, const struct kofi_op *op)
{
	part->segs = op->segs;
	part->segs.kvec = part->store;
	memcpy(part->store, op->store, op->segs.cnt * (op->segs.is_bvec ? sizeof(struct bio_vec) :
							 sizeof(struct kvec)));
}

struct kofi_op *obj_recv_take(struct kofi_ep *ep, struct kofi_op *op, size_t len)
{
	struct kofi_ep *from = op->ep;
	bool multi = op->flags & FI_MULTI_RECV;
	struct kofi_op *part;

	if (from == ep && !multi) {
		list_del_init(&op->node);
		return op;
	}
	part = obj_op_take(&ep->rx_pool, ep->rx_cq);
	if (!part) {
		schedule_delayed_work(&ep->rematch, msecs_to_jiffies(REMATCH_MS));
		return NULL;
	}
	part->type = op->type;
	part->flags = op->flags & ~FI_MULTI_RECV;
	part->context = op->context;
	part->addr = op->addr;
	part->tag = op->tag;
	part->ignore = op->ignore;
	part->multi = NULL;
	if (multi) {
		part_fill(part, op, len);
		return part;
	}
	copy_fill(part, op);
	list_del_init(&op->node);
	obj_op_put(&from->rx_pool, op);
	return part;
}

/* The buffer is the application's again: an entry of its own says so. */
static void multi_report(struct kofi_op *multi, int err)
{
	struct kofi_comp comp = {
		.context = multi->context, .flags = FI_RECV | FI_MSG | FI_MULTI_RECV, .err = err,
		.src_addr = FI_ADDR_NOTAVAIL,
	};
	struct kofi_ep *ep = multi->ep;

	if (ep->rx_cq && !READ_ONCE(ep->closing))
		kofi_cq_post(ep->rx_cq, &comp);
	else if (ep->rx_cq)
		kofi_cq_unreserve(ep->rx_cq);
	obj_op_put(&ep->rx_pool, multi);
}

bool obj_multi_part_done(struct kofi_op *multi, int *err_p)
{
	bool last;

	spin_lock_bh(&multi->ep->lock);
	last = !--multi->parts && multi->retired;
	*err_p = multi->end_err;
	spin_unlock_bh(&multi->ep->lock);
	return last;
}

void obj_multi_over(struct kofi_op *multi, int err)
{
	if (err)
		multi_report(multi, err);
	else
		obj_op_give(&multi->ep->rx_pool, multi->ep->rx_cq, multi);
}

void obj_multi_drop(struct kofi_op *part)
{
	struct kofi_op *multi = part->multi;
	struct kofi_ep *ep = part->ep;
	int err;
	bool last = obj_multi_part_done(multi, &err);

	obj_op_give(&ep->rx_pool, ep->rx_cq, part);
	if (last)
		multi_report(multi, err);
}

void obj_multi_cancel(struct kofi_op *multi, int err)
{
	bool busy;

	spin_lock_bh(&multi->ep->lock);
	busy = multi->parts;
	multi->retired = true;
	multi->end_err = err;
	spin_unlock_bh(&multi->ep->lock);
	if (!busy)
		multi_report(multi, err);
}

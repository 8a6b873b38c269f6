/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * mail.c - messages that no receive waits for, and members that are lost.
 *
 * A message is early: for an operation that this member has not begun, or for a group
 * whose name has not come here yet.  It is kept.  Or it is late: for an operation that
 * has ended here, which it can only have done by failing.  It is dropped.  Or it is for
 * a group that does not exist here: a process that knew it was there before us, or the
 * program has closed it.  The sender is told.
 */
#include "coll/coll.h"

#include <rdma/fi_errno.h>

#include "engine/peer.h"

static struct coll_op *find_op(struct coll *coll, uint64_t space, uint64_t key)
{
	struct list *pos;

	list_for_each(pos, &coll->ops) {
		struct coll_op *op = container_of(pos, struct coll_op, node);

		if (op->space == space && op->join == coll_key_join(key) &&
		    op->seq == coll_key_seq(key))
			return op;
	}
	return NULL;
}

/* Whom we talk to in @op under this peer's address. */
static uint32_t rank_of(struct coll_op *op, const struct eng_peer *peer)
{
	int ret;
	size_t i;

	for (i = 0; i < op->plan.cnt; i++) {
		struct coll_step *step = &op->plan.steps[i];

		if ((step->kind == COLL_SEND || step->kind == COLL_RECV) &&
		    eng_peer_get(peer->ep, op->group->addrs[step->peer], &ret) == peer)
			return step->peer;
	}
	return COLL_NOBODY;
}

static void on_abort(struct coll_op *op, struct eng_peer *peer, uint64_t key)
{
	uint32_t culprit = coll_key_culprit(key);

	if (op->err)
		return;
	if (culprit == COLL_NOBODY)
		culprit = rank_of(op, peer);
	coll_op_fail(op, coll_key_err(key) ? coll_key_err(key) : FI_EOTHER, culprit);
	coll_op_go(op);
}

static enum eng_aside_fate keep(struct coll *coll, uint64_t key)
{
	if (coll_key_kind(key) == COLL_MSG_ABORT)
		coll->early = true;
	return ENG_ASIDE_KEEP;
}

/* For a group that does not exist here, as far as is known. */
static enum eng_aside_fate stray(struct coll *coll, struct eng_peer *peer, uint64_t space,
				 uint64_t key)
{
	if (coll_key_kind(key) == COLL_MSG_ABORT)
		return coll->joining ? keep(coll, key) : ENG_ASIDE_DROP;
	if (coll->joining)
		return coll_key_kind(key) == COLL_MSG_PROBE ? ENG_ASIDE_DROP : ENG_ASIDE_KEEP;
	return eng_aside_note(peer, space, coll_key_abort(coll_key_seq(key), false, FI_ENOTCONN,
							  COLL_NOBODY)) ?
	       ENG_ASIDE_LATER : ENG_ASIDE_DROP;
}

enum eng_aside_fate coll_mail_arrived(struct eng_aside *aside, struct eng_peer *peer,
				      uint64_t space, uint64_t key, bool bare)
{
	struct coll *coll = (struct coll *) aside;
	enum coll_msg kind = coll_key_kind(key);
	struct coll_op *op = find_op(coll, space, key);
	struct coll_group *group;

	if (kind < COLL_MSG_DATA || kind > COLL_MSG_PROBE || (kind != COLL_MSG_DATA && !bare) ||
	    coll->stopped)
		return ENG_ASIDE_DROP;
	if (op && kind == COLL_MSG_ABORT) {
		on_abort(op, peer, key);
		return ENG_ASIDE_DROP;
	}
	if (op || (coll_key_join(key) && kind != COLL_MSG_PROBE))
		return (op && op->err) || kind == COLL_MSG_PROBE ? ENG_ASIDE_DROP : keep(coll, key);
	if (coll_key_join(key))
		return ENG_ASIDE_DROP;
	group = hmap_find(&coll->by_id, space);
	if (!group)
		return stray(coll, peer, space, key);
	if (kind == COLL_MSG_PROBE || (int32_t) (coll_key_seq(key) - group->next_seq) < 0)
		return ENG_ASIDE_DROP;
	return keep(coll, key);
}

/* ---- what is kept ------------------------------------------------------------------------- */

static void take_abort(struct eng_aside *aside, struct eng_peer *peer, uint64_t space,
		       uint64_t key, void *msg, void *arg)
{
	struct coll_op *op = arg;

	if (coll_key_kind(key) != COLL_MSG_ABORT)
		return;
	if (space != op->space || coll_key_seq(key) != op->seq || coll_key_join(key) != op->join)
		return;
	coll_op_fail(op, coll_key_err(key) ? coll_key_err(key) : FI_EOTHER,
		     coll_key_culprit(key) == COLL_NOBODY ? rank_of(op, peer) :
		     coll_key_culprit(key));
	eng_aside_drop(msg);
}

void coll_mail_early(struct coll_op *op)
{
	struct coll *coll = op->group->coll;

	if (!coll->aside.rxc.tagged.msg_cnt)
		coll->early = false;
	else
		eng_aside_each(&coll->aside, take_abort, op);
}

static void drop_its(struct eng_aside *aside, struct eng_peer *peer, uint64_t space,
		     uint64_t key, void *msg, void *arg)
{
	struct coll_op *op = arg;

	if (space == op->space && coll_key_seq(key) == op->seq && coll_key_join(key) == op->join)
		eng_aside_drop(msg);
}

void coll_mail_purge(struct coll_op *op)
{
	eng_aside_each(&op->group->coll->aside, drop_its, op);
}

static void drop_stray(struct eng_aside *aside, struct eng_peer *peer, uint64_t space,
		       uint64_t key, void *msg, void *arg)
{
	struct coll *coll = (struct coll *) aside;

	if (coll_key_join(key) || hmap_find(&coll->by_id, space))
		return;
	if (stray(coll, peer, space, key) == ENG_ASIDE_DROP)
		eng_aside_drop(msg);
}

void coll_mail_sort(struct coll *coll)
{
	eng_aside_each(&coll->aside, drop_stray, NULL);
}

/* ---- a member is lost ---------------------------------------------------------------------- */

static bool waits_for(const struct coll_op *op, const struct eng_peer *peer, uint32_t *rank_p)
{
	size_t i;

	for (i = 0; i < op->next + 1 && i < op->plan.cnt; i++)
		if (op->xfers[i].state == COLL_XFER_ACTIVE && op->xfers[i].peer == peer) {
			*rank_p = op->plan.steps[i].peer;
			return true;
		}
	return false;
}

/* What it said in a join that it will not go on with. */
static void drop_joins(struct eng_aside *aside, struct eng_peer *peer, uint64_t space,
		       uint64_t key, void *msg, void *arg)
{
	if (peer == arg && coll_key_join(key))
		eng_aside_drop(msg);
}

void coll_mail_lost(struct eng_aside *aside, struct eng_peer *peer, int err)
{
	struct coll *coll = (struct coll *) aside;
	struct list *pos;
	uint32_t rank;

	list_for_each(pos, &coll->groups)
		container_of(pos, struct coll_group, node)->wary = true;
	list_for_each(pos, &coll->ops) {
		struct coll_op *op = container_of(pos, struct coll_op, node);

		if (op->err || !waits_for(op, peer, &rank))
			continue;
		coll_op_fail(op, err, rank);
		op->due = true;
	}
	eng_aside_each(aside, drop_joins, peer);
	coll_op_go_due(coll);
}

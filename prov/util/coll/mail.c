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
 *
 * When a channel breaks, messages that have left are lost.  Who waits for one later asks
 * with a PROBE.  A member that owes nothing more answers GONE, over a channel that keeps
 * order: what has not come by then never will.  The same is asked in a group whose name
 * was learned after a join failed: others may have been in it earlier, and what they sent
 * meanwhile was turned down.
 */
#include "coll/group.h"

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

/* What an ABORT says. */
static void hear(struct coll_op *op, struct eng_peer *peer, uint64_t key)
{
	uint32_t culprit = coll_key_culprit(key);

	op->teller = rank_of(op, peer);
	coll_op_fail(op, coll_key_err(key) ? coll_key_err(key) : FI_EOTHER,
		     culprit == COLL_NOBODY ? op->teller : culprit);
}

static void on_abort(struct coll_op *op, struct eng_peer *peer, uint64_t key)
{
	if (op->err)
		return;
	hear(op, peer, key);
	coll_op_go(op);
}

static enum eng_aside_fate keep(struct coll *coll, uint64_t key)
{
	if (coll_key_kind(key) != COLL_MSG_DATA)
		coll->early = true;
	return ENG_ASIDE_KEEP;
}

/* May an unknown group of @peer's be one that we are joining?  Not if member 0 is this
 * one, which makes the name up; nor if @peer is who tells it to us: it would have come
 * before.  Then it was lost with a channel, and that join had better fail.
 */
static bool may_be_ours(struct coll *coll, const struct eng_peer *peer)
{
	struct list *pos;
	size_t i;

	list_for_each(pos, &coll->ops) {
		struct coll_op *op = container_of(pos, struct coll_op, node);
		bool told = !op->group->rank;
		uint32_t rank = rank_of(op, peer);

		for (i = 0; op->join && i < op->plan.cnt; i++)
			told |= op->plan.steps[i].kind == COLL_RECV && op->plan.steps[i].len &&
				op->plan.steps[i].peer == rank;
		if (op->join && !told)
			return true;
	}
	return false;
}

/* For a group that does not exist here, as far as is known. */
static enum eng_aside_fate stray(struct coll *coll, struct eng_peer *peer, uint64_t space,
				 uint64_t key)
{
	if (coll->joining && (coll_key_kind(key) != COLL_MSG_PROBE || may_be_ours(coll, peer)))
		return keep(coll, key);
	coll->missed |= coll->failed;
	if (coll_key_kind(key) == COLL_MSG_ABORT)
		return ENG_ASIDE_DROP;
	return eng_aside_note(peer, space, coll_key_abort(coll_key_seq(key), false, FI_ENOTCONN,
							  COLL_NOBODY)) ?
	       ENG_ASIDE_LATER : ENG_ASIDE_DROP;
}

/* Has @op sent all that it has for member @rank? */
static bool owes_nothing(const struct coll_op *op, uint32_t rank)
{
	size_t i;

	for (i = 0; !op->err && i < op->plan.cnt; i++)
		if (op->plan.steps[i].kind == COLL_SEND && op->plan.steps[i].peer == rank &&
		    op->xfers[i].state != COLL_XFER_DONE)
			return false;
	return true;
}

static enum eng_aside_fate on_probe(struct coll *coll, struct eng_peer *peer, struct coll_op *op,
				    uint64_t space, uint64_t key)
{
	uint32_t seq = coll_key_seq(key);
	struct coll_group *group = op ? op->group : hmap_find(&coll->by_id, space);

	if (op ? !owes_nothing(op, coll_key_culprit(key)) : coll_key_join(key))
		return ENG_ASIDE_DROP;
	if (!group)
		return stray(coll, peer, space, key);
	/* Not begun here: answered by what it sends, or when the group closes without it. */
	if (!op && (int32_t) (seq - group->next_seq) >= 0)
		return keep(coll, key);
	return eng_aside_note(peer, space, coll_key(seq, coll_key_join(key), COLL_MSG_GONE,
						    coll_key_turn(key) << 18 | group->rank)) ?
	       ENG_ASIDE_LATER : ENG_ASIDE_DROP;
}

static void on_gone(struct coll_op *op, uint64_t key)
{
	uint32_t rank = coll_key_culprit(key);
	size_t i;

	for (i = 0; i < op->plan.cnt; i++)
		if (op->plan.steps[i].kind == COLL_RECV && op->plan.steps[i].peer == rank &&
		    op->xfers[i].state == COLL_XFER_ACTIVE && eng_aside_waits(&op->xfers[i].req)) {
			coll_op_fail(op, FI_ECONNRESET, rank);
			coll_op_go(op);
			return;
		}
}

enum eng_aside_fate coll_mail_arrived(struct eng_aside *aside, struct eng_peer *peer,
				      uint64_t space, uint64_t key, bool bare)
{
	struct coll *coll = (struct coll *) aside;
	enum coll_msg kind = coll_key_kind(key);
	struct coll_op *op = find_op(coll, space, key);
	struct coll_group *group;

	if (kind < COLL_MSG_DATA || kind > COLL_MSG_GONE || (kind != COLL_MSG_DATA && !bare) ||
	    coll->stopped)
		return ENG_ASIDE_DROP;
	if (kind == COLL_MSG_PROBE)
		return on_probe(coll, peer, op, space, key);
	if (kind == COLL_MSG_GONE || (op && kind == COLL_MSG_ABORT)) {
		if (kind == COLL_MSG_ABORT)
			on_abort(op, peer, key);
		else if (op && !op->err && coll_key_turn(key) == op->turn)
			on_gone(op, key);
		return ENG_ASIDE_DROP;
	}
	if (op || coll_key_join(key))
		return op && op->err ? ENG_ASIDE_DROP : keep(coll, key);
	group = hmap_find(&coll->by_id, space);
	if (!group)
		return stray(coll, peer, space, key);
	return (int32_t) (coll_key_seq(key) - group->next_seq) < 0 ? ENG_ASIDE_DROP :
	       keep(coll, key);
}

/* ---- what is kept ------------------------------------------------------------------------- */

static void take_early(struct eng_aside *aside, struct eng_peer *peer, uint64_t space,
		       uint64_t key, void *msg, void *arg)
{
	struct coll_op *op = arg;

	if (coll_key_kind(key) == COLL_MSG_DATA)
		return;
	if (space != op->space || coll_key_seq(key) != op->seq || coll_key_join(key) != op->join)
		return;
	if (!op->err && coll_key_kind(key) == COLL_MSG_ABORT)
		hear(op, peer, key);
	eng_aside_drop(msg);
}

void coll_mail_early(struct coll_op *op)
{
	struct coll *coll = op->group->coll;

	if (!coll->aside.rxc.tagged.msg_cnt)
		coll->early = false;
	else
		eng_aside_each(&coll->aside, take_early, op);
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

	if (coll_key_join(key))
		return;
	if (hmap_find(&coll->by_id, space))
		return;		/* it is no stray, and its operation has not begun */
	if (stray(coll, peer, space, key) == ENG_ASIDE_DROP)
		eng_aside_drop(msg);
}

void coll_mail_sort(struct coll *coll)
{
	eng_aside_each(&coll->aside, drop_stray, NULL);
}

/* ---- a member is lost ---------------------------------------------------------------------- */

/* Does @op need something from @peer, or would it go on sending to it behind a message
 * that may have been lost?
 */
static bool is_hit(struct coll_op *op, const struct eng_peer *peer, uint32_t *rank_p)
{
	uint32_t rank = rank_of(op, peer);
	bool sent = false;
	size_t i;

	*rank_p = rank;
	for (i = 0; rank != COLL_NOBODY && i < op->plan.cnt; i++) {
		enum coll_xfer_state state = op->xfers[i].state;

		if (op->plan.steps[i].peer != rank)
			continue;
		if (op->plan.steps[i].kind == COLL_RECV && state == COLL_XFER_ACTIVE)
			return true;
		if (op->plan.steps[i].kind != COLL_SEND)
			continue;
		if (sent && state != COLL_XFER_DONE)
			return true;
		sent |= state == COLL_XFER_DONE;
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

		if (op->err || !is_hit(op, peer, &rank))
			continue;
		coll_op_fail(op, err, rank);
		op->due = true;
	}
	eng_aside_each(aside, drop_joins, peer);
	coll_op_go_due(coll);
}

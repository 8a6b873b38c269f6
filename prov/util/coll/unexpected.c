/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * unexpected.c - messages for which no receive is posted, and lost members.
 *
 * An unexpected message is early, late or for an unknown group.
 * - Early: of an operation that this member has not started, or of a group whose id has not
 *   arrived here yet.  It is kept, and of each member's reports for a join one.
 * - Late: of an operation that has ended here, which can only be because it failed.  It is
 *   dropped.
 * - Unknown group: an earlier process at this address was the member, or the program has closed
 *   the group.  The sender gets an ABORT.
 *
 * When a channel breaks, messages in flight are lost.  A member that waits for one later sends
 * a PROBE.  A member that has nothing more to send answers GONE; the channel keeps the order,
 * so what has not arrived before GONE is lost.  The same is asked in a group whose id was
 * learned after a failed join: other members may have joined earlier, and their messages were
 * refused here.
 */
#include "coll/group.h"

#include <rdma/fi_errno.h>

#include "engine/peer.h"

static struct coll_op *find_op(struct coll *coll, uint64_t space, uint64_t key)
{
	struct coll_op *op;

	list_for_each_entry(op, &coll->ops, node)
		if (op->space == space && op->join == coll_key_join(key) &&
		    op->seq == coll_key_seq(key))
			return op;
	return NULL;
}

/* The rank in @op of the member at this peer's address. */
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
	return COLL_NO_RANK;
}

/* Takes error and causing member from an ABORT. */
static void record_abort(struct coll_op *op, struct eng_peer *peer, uint64_t key)
{
	uint32_t culprit = coll_key_culprit(key);

	op->reporter = rank_of(op, peer);
	coll_op_fail(op, coll_key_err(key) ? coll_key_err(key) : FI_EOTHER,
		     culprit == COLL_NO_RANK ? op->reporter : culprit);
}

static void on_abort(struct coll_op *op, struct eng_peer *peer, uint64_t key)
{
	if (op->err)
		return;
	record_abort(op, peer, key);
	coll_op_progress(op);
}

static enum eng_oob_action keep_message(struct coll *coll, uint64_t key)
{
	if (coll_key_kind(key) != COLL_MSG_DATA)
		coll->early = true;
	return ENG_OOB_KEEP;
}

/* id_pending - may a join in progress still bring the id @space?  Member 0 has chosen its id, and another
 * member has it once that has arrived.  Until then messages of the group come from any member but @peer, if
 * that is the one that sends us the id, which would have arrived first.
 */
static bool id_pending(struct coll_op *op, const struct eng_peer *peer, uint64_t space)
{
	uint32_t rank = rank_of(op, peer);
	size_t i;

	if (!op->group->rank)
		return space == op->group->id;
	for (i = 0; i < op->plan.cnt; i++) {
		const struct coll_step *step = &op->plan.steps[i];

		if (step->kind != COLL_RECV || !step->len)
			continue;
		return op->xfers[i].state == COLL_XFER_DONE ? space == op->group->id : step->peer != rank;
	}
	return false;
}

/* may_be_joining - @space, which is unknown, may be the id of a group that is being joined.  If not, its id was
 * lost with a channel, or was that of a member's earlier process: failing its operations is right.
 */
static bool may_be_joining(struct coll *coll, const struct eng_peer *peer, uint64_t space)
{
	struct coll_op *op;

	list_for_each_entry(op, &coll->ops, node)
		if (op->join && id_pending(op, peer, space))
			return true;
	return false;
}

/* A message of a group that is not known here.  While a join is in progress it may be of that
 * group.
 */
static enum eng_oob_action unknown_group(struct coll *coll, struct eng_peer *peer, uint64_t space,
					 uint64_t key)
{
	if (coll->joining && may_be_joining(coll, peer, space))
		return keep_message(coll, key);
	coll->may_have_dropped |= coll->failed || !coll->join_cnt;
	if (coll_key_kind(key) == COLL_MSG_ABORT)
		return ENG_OOB_DROP;
	return eng_oob_notify(peer, space, coll_key_abort(coll_key_seq(key), false, FI_ENOTCONN,
							  COLL_NO_RANK)) ?
	       ENG_OOB_LATER : ENG_OOB_DROP;
}

/* True when @op has sent everything that member @rank receives. */
static bool sent_all(const struct coll_op *op, uint32_t rank)
{
	size_t i;

	for (i = 0; !op->err && i < op->plan.cnt; i++)
		if (op->plan.steps[i].kind == COLL_SEND && op->plan.steps[i].peer == rank &&
		    op->xfers[i].state != COLL_XFER_DONE)
			return false;
	return true;
}

static enum eng_oob_action on_probe(struct coll *coll, struct eng_peer *peer, struct coll_op *op,
				    uint64_t space, uint64_t key)
{
	uint32_t seq = coll_key_seq(key);
	struct coll_group *group = op ? op->group : hmap_find(&coll->by_id, space);

	if (op ? !sent_all(op, coll_key_culprit(key)) : coll_key_join(key))
		return ENG_OOB_DROP;
	if (!group)
		return unknown_group(coll, peer, space, key);
	/* not started here: the data that it sends answers the probe, or the close of the group
	 * does
	 */
	if (!op && (int32_t) (seq - group->next_seq) >= 0)
		return keep_message(coll, key);
	return eng_oob_notify(peer, space, coll_key(seq, coll_key_join(key), COLL_MSG_GONE,
						    coll_key_join_no(key) << 18 | group->rank)) ?
	       ENG_OOB_LATER : ENG_OOB_DROP;
}

/* The member has sent everything: a receive that still waits for it will never complete. */
static void on_gone(struct coll_op *op, uint64_t key)
{
	uint32_t rank = coll_key_culprit(key);
	size_t i;

	for (i = 0; i < op->plan.cnt; i++)
		if (op->plan.steps[i].kind == COLL_RECV && op->plan.steps[i].peer == rank &&
		    op->xfers[i].state == COLL_XFER_ACTIVE && eng_oob_posted(&op->xfers[i].req)) {
			coll_op_fail(op, FI_ECONNRESET, rank);
			coll_op_progress(op);
			return;
		}
}

struct kept {
	struct eng_peer *peer;
	uint64_t space, key;
	bool found;
};

static void look_for(struct eng_oob *oob, struct eng_peer *peer, uint64_t space, uint64_t key, void *msg,
		     void *arg)
{
	struct kept *kept = arg;

	kept->found |= peer == kept->peer && space == kept->space && key == kept->key;
}

/* join_message - a report, which is empty, may come before the join that it is for.  One that is still there
 * is of a join that has ended at its sender: the next join of this member answers the newer one.  An id answers
 * a report; without a join that has sent one it is of a group that we are no member of.
 */
static enum eng_oob_action join_message(struct coll *coll, struct eng_peer *peer, struct coll_op *op,
					uint64_t space, uint64_t key, bool bare)
{
	struct kept kept = { peer, space, key, false };

	if (op ? op->err : coll_key_kind(key) == COLL_MSG_DATA && !bare)
		return ENG_OOB_DROP;
	if (bare && coll_key_kind(key) == COLL_MSG_DATA && coll->oob.rxc.tagged.msg_cnt)
		eng_oob_each(&coll->oob, look_for, &kept);
	return kept.found ? ENG_OOB_DROP : keep_message(coll, key);
}

/* Dispatches an unexpected message; ABORT, PROBE and GONE have no payload. */
enum eng_oob_action coll_unexp_arrived(struct eng_oob *oob, struct eng_peer *peer,
				       uint64_t space, uint64_t key, bool bare)
{
	struct coll *coll = (struct coll *) oob;
	enum coll_msg kind = coll_key_kind(key);
	struct coll_op *op = find_op(coll, space, key);
	struct coll_group *group;

	if (kind < COLL_MSG_DATA || kind > COLL_MSG_GONE || (kind != COLL_MSG_DATA && !bare) ||
	    coll->stopped)
		return ENG_OOB_DROP;
	if (kind == COLL_MSG_PROBE)
		return on_probe(coll, peer, op, space, key);
	if (kind == COLL_MSG_GONE || (op && kind == COLL_MSG_ABORT)) {
		if (kind == COLL_MSG_ABORT)
			on_abort(op, peer, key);
		else if (op && !op->err && coll_key_join_no(key) == op->join_no)
			on_gone(op, key);
		return ENG_OOB_DROP;
	}
	if (coll_key_join(key))
		return join_message(coll, peer, op, space, key, bare);
	if (op)
		return op->err ? ENG_OOB_DROP : keep_message(coll, key);
	group = hmap_find(&coll->by_id, space);
	if (!group)
		return unknown_group(coll, peer, space, key);
	return (int32_t) (coll_key_seq(key) - group->next_seq) < 0 ? ENG_OOB_DROP :
	       keep_message(coll, key);
}

/* ---- kept messages ------------------------------------------------------------------------ */

static void apply_abort(struct eng_oob *oob, struct eng_peer *peer, uint64_t space,
			uint64_t key, void *msg, void *arg)
{
	struct coll_op *op = arg;

	if (coll_key_kind(key) == COLL_MSG_DATA)
		return;
	if (space != op->space || coll_key_seq(key) != op->seq || coll_key_join(key) != op->join)
		return;
	if (!op->err && coll_key_kind(key) == COLL_MSG_ABORT)
		record_abort(op, peer, key);
	eng_oob_drop(msg);
}

void coll_unexp_apply(struct coll_op *op)
{
	struct coll *coll = op->group->coll;

	if (!coll->oob.rxc.tagged.msg_cnt)
		coll->early = false;
	else
		eng_oob_each(&coll->oob, apply_abort, op);
}

static void drop_of_op(struct eng_oob *oob, struct eng_peer *peer, uint64_t space,
		       uint64_t key, void *msg, void *arg)
{
	struct coll_op *op = arg;

	if (space == op->space && coll_key_seq(key) == op->seq && coll_key_join(key) == op->join)
		eng_oob_drop(msg);
}

void coll_unexp_purge(struct coll_op *op)
{
	eng_oob_each(&op->group->coll->oob, drop_of_op, op);
}

static void drop_unknown(struct eng_oob *oob, struct eng_peer *peer, uint64_t space,
			 uint64_t key, void *msg, void *arg)
{
	struct coll *coll = (struct coll *) oob;

	if (coll_key_join(key))
		return;
	if (hmap_find(&coll->by_id, space))
		return;		/* a known group: its operation has not started */
	if (unknown_group(coll, peer, space, key) == ENG_OOB_DROP)
		eng_oob_drop(msg);
}

void coll_unexp_recheck(struct coll *coll)
{
	eng_oob_each(&coll->oob, drop_unknown, NULL);
}

/* ---- a member is lost ---------------------------------------------------------------------- */

/* True when @op waits for a message of @peer, or has sent it one, which may be lost, and has
 * more to send.
 */
static bool is_affected(struct coll_op *op, const struct eng_peer *peer, uint32_t *rank_p)
{
	uint32_t rank = rank_of(op, peer);
	bool sent = false;
	size_t i;

	*rank_p = rank;
	for (i = 0; rank != COLL_NO_RANK && i < op->plan.cnt; i++) {
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

/* Drops what @peer sent for joins that it will not continue. */
static void drop_joins(struct eng_oob *oob, struct eng_peer *peer, uint64_t space,
		       uint64_t key, void *msg, void *arg)
{
	if (peer == arg && coll_key_join(key))
		eng_oob_drop(msg);
}

/* All groups probe from now on, because messages of any operation may have been lost. */
void coll_unexp_lost(struct eng_oob *oob, struct eng_peer *peer, int err)
{
	struct coll *coll = (struct coll *) oob;
	struct coll_group *group;
	struct coll_op *op;
	uint32_t rank;

	list_for_each_entry(group, &coll->groups, node)
		group->verify = true;
	list_for_each_entry(op, &coll->ops, node) {
		if (op->err || !is_affected(op, peer, &rank))
			continue;
		coll_op_fail(op, err, rank);
		op->due = true;
	}
	eng_oob_each(oob, drop_joins, peer);
	coll_op_progress_due(coll);
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * op.c - runs the plan of an operation.
 *
 * An operation fails when a send fails, when a member that it waits for is lost, when members
 * disagree about the length, or when a member reports an error (ABORT).  Then no step is
 * started any more, active receives are cancelled, the members that wait for data from here are
 * notified, and the operation completes as soon as the link has released its buffers.
 */
#include "coll/group.h"

#include <assert.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/atomic.h"
#include "engine/peer.h"
#include "engine/tx.h"

/* Limit for the private memory kept for the next operation. */
#define KEEP_TMP 65536

/* ---- memory --------------------------------------------------------------------------- */

static int work_run(struct eng_work *work)
{
	return coll_op_run(container_of(work, struct coll_op, work)) ? -FI_EAGAIN : 0;
}

static struct coll_op *get_memory(struct coll_group *group)
{
	struct coll_op *op = group->spare;

	group->spare = NULL;
	if (op)
		return op;
	op = calloc(1, sizeof(*op));
	if (op) {
		list_init(&op->node);
		list_init(&op->work.node);
		op->work.run = work_run;
	}
	return op;
}

static int make_room(struct coll_op *op, size_t extra)
{
	size_t tmp = op->plan.tmp + extra;
	void *mem;

	if (op->xfer_room < op->plan.cnt) {
		mem = realloc(op->xfers, op->plan.room * sizeof(*op->xfers));
		if (!mem)
			return -FI_ENOMEM;
		op->xfers = mem;
		op->xfer_room = op->plan.room;
	}
	if (op->plan.cnt)
		memset(op->xfers, 0, op->plan.cnt * sizeof(*op->xfers));
	if (op->tmp_room < tmp) {
		free(op->tmp);
		op->tmp_room = 0;
		op->tmp = malloc(tmp);
		if (!op->tmp)
			return -FI_ENOMEM;
		op->tmp_room = tmp;
	}
	op->base[COLL_TMP] = op->tmp;
	return 0;
}

struct coll_op *coll_op_new(struct coll_group *group, const struct coll_task *task,
			    size_t extra)
{
	struct coll_op *op = get_memory(group);
	int ret;

	if (!op)
		return NULL;
	ret = task ? coll_plan_make(&op->plan, task) :
		     coll_plan_join(&op->plan, group->n, group->rank, sizeof(group->id));
	if (!ret)
		ret = make_room(op, extra);
	if (ret) {
		coll_op_free(op);
		return NULL;
	}
	op->group = group;
	op->next = op->out = op->notified = 0;
	op->join = op->running = op->due = op->want_comp = false;
	op->err = 0;
	op->reporter = COLL_NO_RANK;
	op->join_no = 0;
	op->back_cnt = 0;
	return op;
}

void coll_op_free(struct coll_op *op)
{
	coll_plan_free(&op->plan);
	free(op->xfers);
	free(op->tmp);
	free(op);
}

static void keep_memory(struct coll_group *group, struct coll_op *op)
{
	if (group->spare || group->state == COLL_CLOSED || op->plan.room > 1024) {
		coll_op_free(op);
		return;
	}
	if (op->tmp_room > KEEP_TMP) {
		free(op->tmp);
		op->tmp = NULL;
		op->tmp_room = 0;
	}
	group->spare = op;
}

/* ---- completing ------------------------------------------------------------------------ */

static void copy_back(struct coll_op *op)
{
	const char *from = op->back;
	size_t i;

	for (i = 0; i < op->back_cnt; from += op->back_iov[i].iov_len, i++)
		memcpy(op->back_iov[i].iov_base, from, op->back_iov[i].iov_len);
}

static void report_error(struct coll_op *op, struct eng_ep *ep)
{
	struct coll_group *group = op->group;
	struct fi_cq_err_entry entry = obj_cq_err(op->context, FI_COLLECTIVE, op->err);

	if (op->culprit < group->n)
		entry.src_addr = group->addrs[op->culprit];

	obj_ep_err_tx(&ep->base, &entry, NULL, 0, OBJ_CNTR_WRITE);
}

static void op_complete(struct coll_op *op)
{
	struct coll_group *group = op->group;
	struct eng_ep *ep = group->coll->oob.ep;

	list_del(&op->node);
	list_del(&op->work.node);
	if (op->join) {
		coll_group_joined(group, op->err, op->culprit);
	} else if (ep->state != ENG_EP_CLOSED) {
		copy_back(op);
		if (op->err)
			report_error(op, ep);
		else
			obj_ep_comp_tx(&ep->base, op->want_comp, op->context, FI_COLLECTIVE,
				       op->len, OBJ_CNTR_WRITE);
	}
	keep_memory(group, op);
	coll_group_put(group);
}

/* ---- sends and receives ----------------------------------------------------------------- */

/* One that could not start goes back to COLL_XFER_NONE and is started again by progress. */
__attribute__((unused)) static const unsigned xfer_edges[] = {
	[COLL_XFER_NONE] = 1u << COLL_XFER_ACTIVE,
	[COLL_XFER_ACTIVE] = 1u << COLL_XFER_NONE | 1u << COLL_XFER_DONE | 1u << COLL_XFER_CUT,
	[COLL_XFER_DONE] = 0,
	[COLL_XFER_CUT] = 0,
};

static void xfer_set_state(struct coll_xfer *x, enum coll_xfer_state state)
{
	assert(xfer_edges[x->state] & 1u << state && "a transfer ends once");
	x->state = state;
}

static void xfer_end(struct coll_xfer *x, enum coll_xfer_state state)
{
	xfer_set_state(x, state);
	x->op->out--;
	if (x->peer)
		eng_peer_unref(x->peer);
	x->peer = NULL;
}

/* A send or receive has completed.  Members that disagree about the length fail with FI_ETRUNC. */
static void on_done(struct eng_oob_req *req, int status, size_t len)
{
	struct coll_xfer *x = (struct coll_xfer *) req;
	struct coll_op *op = x->op;
	struct coll_step *step = &op->plan.steps[x - op->xfers];

	xfer_end(x, status ? COLL_XFER_CUT : COLL_XFER_DONE);
	if (status)
		coll_op_fail(op, -status, step->peer);
	else if (step->kind == COLL_RECV && len != step->len)
		coll_op_fail(op, FI_ETRUNC, step->peer);
	coll_op_progress(op);
}

static void xfer_begin(struct coll_op *op, struct coll_xfer *x)
{
	x->req.done = on_done;
	x->req.tx = NULL;
	x->req.recv = NULL;
	x->op = op;
	xfer_set_state(x, COLL_XFER_ACTIVE);
	op->out++;
}

static char *place_of(const struct coll_op *op, struct coll_at at)
{
	return op->base[at.buf] ? op->base[at.buf] + at.off : NULL;
}

static struct eng_peer *member_peer(struct coll_op *op, uint32_t rank, int *ret_p)
{
	*ret_p = 0;
	return eng_peer_get(op->group->coll->oob.ep->hub, op->group->addrs[rank], ret_p);
}

static int start_send(struct coll_op *op, struct coll_xfer *x, const struct coll_step *step)
{
	struct coll_group *group = op->group;
	struct eng_peer *peer;
	int ret;

	peer = member_peer(op, step->peer, &ret);
	if (!peer)
		return ret;
	ret = eng_peer_start(peer);
	if (ret)
		return ret;
	xfer_begin(op, x);
	ret = eng_oob_send(&group->coll->oob, peer, &x->req, op->space,
			   coll_key(op->seq, op->join, COLL_MSG_DATA, group->rank),
			   place_of(op, step->src), step->len);
	if (ret)
		xfer_end(x, COLL_XFER_NONE);
	return ret;
}

/* The message is not here yet and may have been lost with an earlier channel.  A new channel,
 * or a group in which a channel was lost, needs a PROBE; its answer tells.  Later losses are
 * reported by the channel.
 */
static int probe_sender(struct coll_op *op, struct coll_xfer *x, const struct coll_step *step)
{
	struct coll_group *group = op->group;
	bool idle = (x->peer->slow & ENG_PEER_IDLE) != 0;
	int ret = eng_peer_start(x->peer);

	if (ret || !(idle || group->verify))
		return ret;
	return eng_oob_notify(x->peer, op->space,
			      coll_key(op->seq, op->join, COLL_MSG_PROBE,
				       (uint32_t) op->join_no << 18 | group->rank));
}

static int start_recv(struct coll_op *op, struct coll_xfer *x, const struct coll_step *step)
{
	struct coll_group *group = op->group;
	struct eng_peer *peer;
	int ret;

	peer = member_peer(op, step->peer, &ret);
	if (!peer)
		return ret;
	xfer_begin(op, x);
	x->peer = peer;
	eng_peer_ref(peer);
	ret = eng_oob_recv(&group->coll->oob, &x->req, op->space,
			   coll_key(op->seq, op->join, COLL_MSG_DATA, step->peer),
			   place_of(op, step->dst), step->len);
	if (!ret && x->state == COLL_XFER_ACTIVE) {
		ret = probe_sender(op, x, step);
		if (ret && !eng_oob_cancel(&x->req))
			ret = 0;	/* the message is being received */
	}
	if (ret)
		xfer_end(x, COLL_XFER_NONE);
	return ret;
}

static int start_step(struct coll_op *op, struct coll_step *step)
{
	struct coll_xfer *x = &op->xfers[step - op->plan.steps];
	char *dst = place_of(op, step->dst), *src = place_of(op, step->src);

	switch (step->kind) {
	case COLL_SEND:
		return start_send(op, x, step);
	case COLL_RECV:
		return start_recv(op, x, step);
	case COLL_COPY:
		if (dst != src)
			memmove(dst, src, step->len);
		return 0;
	default:
		eng_atomic_reduce(op->datatype, op->op, dst, src,
				  step->len / eng_atomic_size(op->datatype));
		return 0;
	}
}

/* ---- running ------------------------------------------------------------------------------ */

/* Starts steps until one has to wait.  Returns true if memory is short. */
static bool run_steps(struct coll_op *op)
{
	struct coll_step *step;
	int ret;

	while (!op->err && op->next < op->plan.cnt) {
		step = &op->plan.steps[op->next];
		if ((step->wait || step->kind >= COLL_COPY) && op->out)
			return false;
		ret = start_step(op, step);
		if (ret == -FI_EAGAIN)
			return true;
		if (ret)
			coll_op_fail(op, -ret, step->peer);
		else
			op->next++;
	}
	return false;
}

/* Cancels active sends and receives after an error.  Returns true if memory is short. */
static bool cancel_active(struct coll_op *op)
{
	bool waits = false;
	size_t i;

	for (i = 0; op->out && i < op->next; i++) {
		struct coll_xfer *x = &op->xfers[i];

		if (x->state != COLL_XFER_ACTIVE)
			continue;
		if (eng_oob_cancel(&x->req))
			xfer_end(x, COLL_XFER_CUT);
		else if (x->req.tx && x->req.tx->state == ENG_TX_RTS)
			waits = true;
	}
	return waits;
}

/* Sends ABORT to the members that wait for data which will not be sent.  Returns true if memory
 * is short.
 */
static bool notify_receivers(struct coll_op *op)
{
	uint64_t key = coll_key_abort(op->seq, op->join, op->err, op->culprit);
	uint32_t last = COLL_NO_RANK;
	struct eng_peer *peer;
	int ret;

	for (; op->notified < op->plan.cnt; op->notified++) {
		struct coll_step *step = &op->plan.steps[op->notified];
		enum coll_xfer_state state = op->xfers[op->notified].state;

		if (step->kind != COLL_SEND || state == COLL_XFER_DONE ||
		    state == COLL_XFER_ACTIVE || step->peer == last ||
		    step->peer == op->reporter || op->group->coll->stopped)
			continue;
		last = step->peer;
		peer = member_peer(op, step->peer, &ret);
		if (peer ? eng_oob_notify(peer, op->space, key) : ret == -FI_EAGAIN)
			return true;
	}
	return false;
}

/* The flag @running: completions inside run_steps() call this function again. */
bool coll_op_run(struct coll_op *op)
{
	bool waits;

	if (op->running)
		return false;
	op->running = true;
	waits = run_steps(op);
	if (op->err) {
		waits = cancel_active(op);
		waits |= notify_receivers(op);
		coll_unexp_purge(op);
	}
	op->running = false;
	if (waits || op->out || (!op->err && op->next < op->plan.cnt))
		return waits;
	op_complete(op);
	return false;
}

void coll_op_progress(struct coll_op *op)
{
	struct eng_grp *grp = op->group->coll->oob.ep->grp;

	if (coll_op_run(op))
		eng_grp_defer(grp, &op->work);
}

void coll_op_fail(struct coll_op *op, int err, uint32_t culprit)
{
	if (op->err)
		return;
	op->err = err;
	op->culprit = culprit;
}

void coll_op_progress_due(struct coll *coll)
{
	struct coll_op *op;

/* progress may remove operations from the list, so start over */
restart:
	list_for_each_entry(op, &coll->ops, node) {
		if (!op->due)
			continue;
		op->due = false;
		coll_op_progress(op);
		goto restart;
	}
}

void coll_op_start(struct coll_op *op)
{
	struct coll_group *group = op->group;

	group->refs++;
	list_add_tail(&op->node, &group->coll->ops);
	if (group->coll->early)
		coll_unexp_apply(op);
	coll_op_progress(op);
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "engine/trig.h"

#include <assert.h>
#include <rdma/fi_errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "engine/inbox.h"
#include "engine/wire.h"

/* Lists that a call with FI_TRIGGER lends only for its duration. */
struct copies {
	struct iovec iov[ENG_IOV_MAX];
	struct fi_rma_iov rma[WIRE_RMA_MAX];
	struct fi_ioc operand[ENG_IOV_MAX], result[ENG_IOV_MAX], compare[ENG_IOV_MAX];
	struct fi_rma_ioc rma_ioc[WIRE_RMA_MAX];
	void *desc[ENG_IOV_MAX], *result_desc[ENG_IOV_MAX], *compare_desc[ENG_IOV_MAX];
};

/* While it waits it is on domain->works, as a threshold on its counter until that
 * fires, and then in the inbox until it has started.  Work lives on with its request.
 */
struct eng_trig {
	struct obj_cntr_thr thr;
	struct eng_work work;		/* in the inbox */
	struct list node;		/* on domain->works or works_due */
	_Atomic bool posted;		/* trig_fire() is through with it */
	struct obj_domain *domain;
	struct eng_ep *ep;		/* NULL: a counter operation */
	struct eng_inbox *inbox;
	struct obj_cntr *cntr;
	struct obj_cntr *done;		/* counts its end; NULL: none */
	struct obj_ref cntr_ref, done_ref;
	struct fi_deferred_work *queued;	/* the program's; NULL: FI_TRIGGER */
	struct eng_op op;
	struct copies copies[];		/* one with FI_TRIGGER */
};

static struct eng_trig *trig_of(struct list *node)
{
	return container_of(node, struct eng_trig, node);
}

/* References keep both counters from being closed while the work waits. */
static struct eng_trig *new_trig(struct obj_domain *domain, struct eng_ep *ep,
				 struct obj_cntr *cntr, struct obj_cntr *done, size_t copies)
{
	struct eng_trig *trig = calloc(1, sizeof(*trig) + copies * sizeof(*trig->copies));
	const struct fid *holder = ep ? &ep->base.h.fid.fid : &domain->fid.fid;

	if (!trig)
		return NULL;
	trig->domain = domain;
	trig->ep = ep;
	trig->cntr = cntr;
	trig->done = done;
	list_init(&trig->work.node);
	obj_ref_get(&cntr->refs, &trig->cntr_ref, holder);
	if (done)
		obj_ref_get(&done->refs, &trig->done_ref, holder);
	return trig;
}

static void trig_free(struct eng_trig *trig)
{
	obj_ref_put(&trig->cntr_ref);
	obj_ref_put(&trig->done_ref);
	free(trig);
}

void eng_trig_done(struct eng_trig *trig, int err)
{
	if (trig->done) {
		if (err)
			obj_cntr_inc_err(trig->done);
		else
			obj_cntr_inc(trig->done, 1);
	}
	trig_free(trig);
}

/* ---- starting --------------------------------------------------------------- */

/* Errors: -FI_EAGAIN, memory is short; others are reported to the program. */
static int trig_start(struct eng_trig *trig)
{
	switch (trig->op.type) {
	case FI_OP_SEND:
	case FI_OP_TSEND:
		return eng_send_start(trig->ep, &trig->op);
	case FI_OP_RECV:
	case FI_OP_TRECV:
		return eng_recv_start(trig->ep, &trig->op);
	case FI_OP_READ:
	case FI_OP_WRITE:
		return eng_rma_start(trig->ep, &trig->op);
	default:
		return eng_amo_start(trig->ep, &trig->op);
	}
}

static bool is_recv(const struct eng_op *op)
{
	return op->type == FI_OP_RECV || op->type == FI_OP_TRECV;
}

static void *context_of(const struct eng_op *op)
{
	switch (op->type) {
	case FI_OP_SEND:
	case FI_OP_RECV:
	case FI_OP_TSEND:
	case FI_OP_TRECV:
		return op->msg.context;
	case FI_OP_READ:
	case FI_OP_WRITE:
		return op->rma.context;
	default:
		return op->atomic.context;
	}
}

/* It could not start, or is cancelled: the program learns it like any other failure. */
static void trig_report(struct eng_trig *trig, int err)
{
	static const struct {
		uint64_t flags;
		enum obj_ep_cntr cntr;
	} as[] = {
		[FI_OP_RECV] = { FI_MSG | FI_RECV, OBJ_CNTR_RECV },
		[FI_OP_SEND] = { FI_MSG | FI_SEND, OBJ_CNTR_SEND },
		[FI_OP_TRECV] = { FI_TAGGED | FI_RECV, OBJ_CNTR_RECV },
		[FI_OP_TSEND] = { FI_TAGGED | FI_SEND, OBJ_CNTR_SEND },
		[FI_OP_READ] = { FI_RMA | FI_READ, OBJ_CNTR_READ },
		[FI_OP_WRITE] = { FI_RMA | FI_WRITE, OBJ_CNTR_WRITE },
		[FI_OP_ATOMIC] = { FI_ATOMIC | FI_WRITE, OBJ_CNTR_WRITE },
		[FI_OP_FETCH_ATOMIC] = { FI_ATOMIC | FI_READ, OBJ_CNTR_READ },
		[FI_OP_COMPARE_ATOMIC] = { FI_ATOMIC | FI_READ, OBJ_CNTR_READ },
	};
	bool silent = trig->queued && !(trig->op.flags & FI_COMPLETION);
	enum obj_ep_cntr cntr = silent ? OBJ_CNTR_NONE : as[trig->op.type].cntr;
	struct fi_cq_err_entry entry = obj_cq_err(context_of(&trig->op), as[trig->op.type].flags,
						  err);

	if (is_recv(&trig->op))
		obj_ep_err_rx(&eng_srx_reporter(trig->ep)->base, &entry, NULL, 0, cntr);
	else
		obj_ep_err_tx(&trig->ep->base, &entry, NULL, 0, cntr);
}

/* domain->works has a lock of its own: a counter fires without the lock of this work's group. */
static void enter_list(struct eng_trig *trig)
{
	pthread_mutex_lock(&trig->domain->works_lock);
	list_add_tail(&trig->node, &trig->domain->works);
	pthread_mutex_unlock(&trig->domain->works_lock);
}

static void leave_list(struct eng_trig *trig)
{
	pthread_mutex_lock(&trig->domain->works_lock);
	list_del(&trig->node);
	pthread_mutex_unlock(&trig->domain->works_lock);
}

/* Out of the inbox, with the group's lock. */
static int trig_run(struct eng_work *work)
{
	struct eng_trig *trig = container_of(work, struct eng_trig, work);
	struct eng_grp *grp = trig->ep->grp;
	bool queued = trig->queued != NULL;
	int ret;

	/* Once it has started its request owns it, and may be over. */
	leave_list(trig);
	assert(!grp->starting && "an inbox runs one piece of work at a time");
	grp->starting = queued ? trig : NULL;
	ret = trig_start(trig);
	grp->starting = NULL;
	if (ret == -FI_EAGAIN) {
		enter_list(trig);
		return ret;
	}
	if (ret) {
		trig_report(trig, -ret);
		eng_trig_done(trig, -ret);
	} else if (!queued) {
		trig_free(trig);
	}
	return 0;
}

struct eng_trig *eng_trig_work(struct eng_grp *grp, uint64_t flags, bool *quiet_p)
{
	*quiet_p = !(flags & FI_COMPLETION);
	return grp->starting;
}

/* In the thread that changed the counter, perhaps under the lock of another group: nothing is
 * started here.
 */
static void trig_fire(struct obj_cntr_thr *thr)
{
	struct eng_trig *trig = container_of(thr, struct eng_trig, thr);

	eng_inbox_post(trig->inbox, &trig->work, &trig->posted);
}

/* ---- operations on counters --------------------------------------------------- */

static void cntr_op_apply(const struct fi_deferred_work *work)
{
	struct fi_op_cntr *op = work->op.cntr;

	if (work->op_type == FI_OP_CNTR_ADD)
		fi_cntr_add(op->cntr, op->value);
	else
		fi_cntr_set(op->cntr, op->value);
}

/* Changing one counter may fire the next: the thread that changed the first does
 * them all, one after another, however long the chain.
 */
static void fire_cntr(struct obj_cntr_thr *thr)
{
	struct eng_trig *trig = container_of(thr, struct eng_trig, thr);
	struct obj_domain *domain = trig->domain;
	struct list *item;

	pthread_mutex_lock(&domain->works_lock);
	list_del(&trig->node);
	list_add_tail(&trig->node, &domain->works_due);
	if (domain->works_busy) {
		pthread_mutex_unlock(&domain->works_lock);
		return;
	}
	domain->works_busy = true;
	while ((item = list_pop(&domain->works_due))) {
		pthread_mutex_unlock(&domain->works_lock);
		trig = trig_of(item);
		cntr_op_apply(trig->queued);
		trig_free(trig);
		pthread_mutex_lock(&domain->works_lock);
	}
	domain->works_busy = false;
	pthread_mutex_unlock(&domain->works_lock);
}

/* ---- waiting ------------------------------------------------------------------ */

/* On the list first: the counter may be beyond the threshold already, and fire at once. */
static void wait_for(struct eng_trig *trig, uint64_t threshold, bool with_err)
{
	trig->thr.value = threshold;
	trig->thr.with_err = with_err;
	trig->thr.fire = trig->ep ? trig_fire : fire_cntr;
	trig->work.run = trig_run;
	enter_list(trig);
	obj_cntr_on_threshold(trig->cntr, &trig->thr);
}

/* Take @trig back if it has not started.  Caller holds prog->lock and works_lock. */
static void take_back(struct eng_trig *trig)
{
	if (!obj_cntr_forget(trig->cntr, &trig->thr)) {
		/* Another thread is just posting it, under no lock that we hold. */
		while (!atomic_load(&trig->posted))
			sched_yield();
		eng_inbox_take(trig->inbox, &trig->work);
	}
	list_del(&trig->node);
}

bool eng_trig_cancel(struct eng_ep *ep, void *context)
{
	struct obj_domain *domain = ep->base.domain;
	struct eng_trig *trig, *found = NULL;

	pthread_mutex_lock(&domain->works_lock);
	list_for_each_entry(trig, &domain->works, node) {
		if (trig->ep == ep && !trig->queued && context_of(&trig->op) == context) {
			found = trig;
			take_back(trig);
			break;
		}
	}
	pthread_mutex_unlock(&domain->works_lock);
	if (!found)
		return false;
	trig_report(found, FI_ECANCELED);
	trig_free(found);
	return true;
}

/* The endpoint closes: work that has not started reports nothing, as fi_endpoint(3) has it. */
void eng_trig_drop(struct eng_ep *ep)
{
	struct obj_domain *domain = ep->base.domain;
	struct eng_trig *trig, *tmp;
	struct list *pos, gone;

	list_init(&gone);
	pthread_mutex_lock(&domain->works_lock);
	list_for_each_entry_safe(trig, tmp, &domain->works, node) {
		if (trig->ep != ep)
			continue;
		take_back(trig);
		list_add_tail(&trig->node, &gone);
	}
	pthread_mutex_unlock(&domain->works_lock);
	while ((pos = list_pop(&gone)))
		trig_free(trig_of(pos));
}

/* ---- calls with FI_TRIGGER ------------------------------------------------------ */

#define COPY(array, field, cnt) \
	do { \
		if ((cnt) > sizeof(array) / sizeof(*(array))) \
			return -FI_EINVAL; \
		if (cnt) \
			memcpy(array, field, (cnt) * sizeof(*(array))); \
		field = array; \
	} while (0)

/* Behind its list, so @cnt is in range.  Without FI_HMEM a desc says nothing. */
#define COPY_DESC(array, field, cnt) \
	do { \
		if (hmem && field) \
			memcpy(array, field, (cnt) * sizeof(*(array))); \
		field = hmem && field ? array : NULL; \
	} while (0)

/* The program's lists are its own again when the call returns; the buffers they name are not. */
static int copy_lists(struct eng_op *op, struct copies *c, bool hmem)
{
	switch (op->type) {
	case FI_OP_SEND:
	case FI_OP_RECV:
	case FI_OP_TSEND:
	case FI_OP_TRECV:
		COPY(c->iov, op->msg.msg_iov, op->msg.iov_count);
		COPY_DESC(c->desc, op->msg.desc, op->msg.iov_count);
		return 0;
	case FI_OP_READ:
	case FI_OP_WRITE:
		COPY(c->iov, op->rma.msg_iov, op->rma.iov_count);
		COPY_DESC(c->desc, op->rma.desc, op->rma.iov_count);
		COPY(c->rma, op->rma.rma_iov, op->rma.rma_iov_count);
		return 0;
	default:
		COPY(c->operand, op->atomic.msg_iov, op->atomic.iov_count);
		COPY_DESC(c->desc, op->atomic.desc, op->atomic.iov_count);
		COPY(c->rma_ioc, op->atomic.rma_iov, op->atomic.rma_iov_count);
		COPY(c->result, op->fetch.msg_iov, op->fetch.iov_count);
		COPY_DESC(c->result_desc, op->fetch.desc, op->fetch.iov_count);
		COPY(c->compare, op->compare.msg_iov, op->compare.iov_count);
		COPY_DESC(c->compare_desc, op->compare.desc, op->compare.iov_count);
		return 0;
	}
}

static int check_call(struct eng_ep *ep, const struct eng_op *op,
		      const struct fi_triggered_context *tc)
{
	if (!(ep->base.caps & FI_TRIGGER))
		return -FI_EBADFLAGS;
	if (is_recv(op) ? ep->rx_ret : ep->tx_ret)
		return is_recv(op) ? ep->rx_ret : ep->tx_ret;
	if (!tc)
		return -FI_EINVAL;
	if (tc->event_type != FI_TRIGGER_THRESHOLD)
		return -FI_ENOSYS;
	if (!tc->trigger.threshold.cntr ||
	    obj_cntr_of(tc->trigger.threshold.cntr)->domain != ep->base.domain)
		return -FI_EINVAL;
	return 0;
}

/* All memory is taken here, so that starting needs no more than the operation does. */
ssize_t eng_trig_call(struct eng_ep *ep, const struct eng_op *op)
{
	struct fi_triggered_context *tc = context_of(op);
	struct eng_trig *trig;
	int ret = check_call(ep, op, tc);

	if (ret)
		return ret;
	trig = new_trig(ep->base.domain, ep, obj_cntr_of(tc->trigger.threshold.cntr), NULL, 1);
	if (!trig)
		return -FI_EAGAIN;
	trig->op = *op;
	trig->op.flags &= ~FI_TRIGGER;
	ret = copy_lists(&trig->op, trig->copies, (ep->base.caps & FI_HMEM) != 0);
	if (!ret && eng_inbox_get(ep->grp, &trig->inbox))
		ret = -FI_EAGAIN;
	if (ret) {
		trig_free(trig);
		return ret;
	}
	wait_for(trig, tc->trigger.threshold.threshold, false);
	return 0;
}

ssize_t eng_trig_msg(struct fid_ep *ep, enum fi_op_type type, const struct fi_msg_tagged *msg,
		     uint64_t flags)
{
	struct eng_op op = { .type = type, .flags = flags, .msg = *msg };

	return eng_trig_call(eng_ep_of(ep), &op);
}

/* ---- work ----------------------------------------------------------------------- */

/* What the program queued, as an operation; its endpoint, NULL for a counter's. */
static int work_unpack(const struct fi_deferred_work *work, struct eng_op *op, struct fid_ep **ep_p)
{
	op->type = work->op_type;
	*ep_p = NULL;
	if (!work->op.msg)
		return -FI_EINVAL;
	switch (work->op_type) {
	case FI_OP_SEND:
	case FI_OP_RECV:
		op->msg = eng_op_msg(&work->op.msg->msg);
		op->flags = work->op.msg->flags;
		*ep_p = work->op.msg->ep;
		return 0;
	case FI_OP_TSEND:
	case FI_OP_TRECV:
		op->msg = work->op.tagged->msg;
		op->flags = work->op.tagged->flags;
		*ep_p = work->op.tagged->ep;
		return 0;
	case FI_OP_READ:
	case FI_OP_WRITE:
		op->rma = work->op.rma->msg;
		op->flags = work->op.rma->flags;
		*ep_p = work->op.rma->ep;
		return 0;
	case FI_OP_ATOMIC:
		op->atomic = work->op.atomic->msg;
		op->flags = work->op.atomic->flags;
		*ep_p = work->op.atomic->ep;
		return 0;
	case FI_OP_FETCH_ATOMIC:
		op->atomic = work->op.fetch_atomic->msg;
		op->fetch = work->op.fetch_atomic->fetch;
		op->flags = work->op.fetch_atomic->flags;
		*ep_p = work->op.fetch_atomic->ep;
		return 0;
	case FI_OP_COMPARE_ATOMIC:
		op->atomic = work->op.compare_atomic->msg;
		op->fetch = work->op.compare_atomic->fetch;
		op->compare = work->op.compare_atomic->compare;
		op->flags = work->op.compare_atomic->flags;
		*ep_p = work->op.compare_atomic->ep;
		return 0;
	case FI_OP_CNTR_SET:
	case FI_OP_CNTR_ADD:
		return work->op.cntr->cntr && !work->completion_cntr ? 0 : -FI_EINVAL;
	default:
		return -FI_ENOSYS;
	}
}

/* Without FI_HMEM a desc says nothing.  All kinds of message have theirs at the same place. */
static void drop_descs(struct eng_op *op)
{
	op->msg.desc = NULL;
	op->fetch.desc = NULL;
	op->compare.desc = NULL;
}

static bool is_cntr_op(const struct fi_deferred_work *work)
{
	return work->op_type == FI_OP_CNTR_SET || work->op_type == FI_OP_CNTR_ADD;
}

static int check_work(struct obj_domain *domain, const struct fi_deferred_work *work,
		      const struct eng_op *op, struct fid_ep *fid)
{
	struct eng_ep *ep;

	if (!work->triggering_cntr ||
	    obj_cntr_of(work->triggering_cntr)->domain != domain ||
	    (work->completion_cntr && obj_cntr_of(work->completion_cntr)->domain != domain))
		return -FI_EINVAL;
	if (is_cntr_op(work))
		return 0;
	if (!fid || obj_ep_of(fid)->domain != domain)
		return -FI_EINVAL;
	ep = eng_ep_of(fid);
	if (is_recv(op) && (op->flags & (FI_MULTI_RECV | FI_PEEK | FI_CLAIM | FI_DISCARD)))
		return -FI_ENOSYS;
	return is_recv(op) ? ep->rx_ret : ep->tx_ret;
}

/* Lists and work are the program's, and stay until the completion counter has counted the end. */
static int queue_work(struct obj_domain *domain, struct fi_deferred_work *work)
{
	struct eng_op op = { .type = FI_OP_SEND };
	struct eng_trig *trig;
	struct fid_ep *fid;
	int ret;

	if (!work)
		return -FI_EINVAL;
	ret = work_unpack(work, &op, &fid);
	if (!ret)
		ret = check_work(domain, work, &op, fid);
	if (ret)
		return ret;
	trig = new_trig(domain, fid ? eng_ep_of(fid) : NULL, obj_cntr_of(work->triggering_cntr),
			work->completion_cntr ? obj_cntr_of(work->completion_cntr) : NULL, 0);
	if (!trig)
		return -FI_ENOMEM;
	trig->op = op;
	if (trig->ep && !(trig->ep->base.caps & FI_HMEM))
		drop_descs(&trig->op);
	trig->op.flags |= ENG_OP_WORK;
	trig->queued = work;
	if (trig->ep) {
		ret = eng_inbox_get(trig->ep->grp, &trig->inbox);
		if (ret) {
			trig_free(trig);
			return ret;
		}
	}
	wait_for(trig, work->threshold, true);
	return 0;
}

/* Work that waits for its counter still, @work or all of @cntr, or of everyone. */
static int trig_forget(struct obj_domain *domain, const struct fi_deferred_work *work,
		       const struct obj_cntr *cntr)
{
	struct eng_trig *trig, *tmp;
	struct list *pos, gone;
	int ret = -FI_ENOENT;

	list_init(&gone);
	pthread_mutex_lock(&domain->works_lock);
	list_for_each_entry_safe(trig, tmp, &domain->works, node) {
		if (!trig->queued || (work && trig->queued != work) ||
		    (cntr && trig->cntr != cntr) || !obj_cntr_forget(trig->cntr, &trig->thr))
			continue;
		list_del(&trig->node);
		list_add_tail(&trig->node, &gone);
		ret = 0;
	}
	pthread_mutex_unlock(&domain->works_lock);
	while ((pos = list_pop(&gone)))
		trig_free(trig_of(pos));
	return ret;
}

/* FI_FLUSH_WORK with a counter cancels what waits for that one; without, all. */
int eng_domain_control(struct obj_domain *domain, int command, void *arg)
{
	switch (command) {
	case FI_QUEUE_WORK:
		return queue_work(domain, arg);
	case FI_CANCEL_WORK:
		return arg ? trig_forget(domain, arg, NULL) : -FI_EINVAL;
	case FI_FLUSH_WORK:
		trig_forget(domain, NULL, arg ? obj_cntr_of(arg) : NULL);
		return 0;
	default:
		return -FI_ENOSYS;
	}
}

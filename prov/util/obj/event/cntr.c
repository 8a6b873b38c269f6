/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "obj/cntr.h"

#include <rdma/fi_errno.h>
#include <sched.h>
#include <stdlib.h>

#include "base/clock.h"
#include "obj/domain.h"
#include "obj/fabric.h"
#include "obj/ops.h"

/* ---- thresholds ---------------------------------------------------------- */

/* obj_cntr_inc() looks at this without the lock, and at the value alone: where
 * failures count, any value may be the one.
 */
static void set_next(struct obj_cntr *cntr)
{
	struct list *pos = cntr->thresholds.next;
	uint64_t next = UINT64_MAX;

	if (!list_empty(&cntr->thresholds))
		next = container_of(pos, struct obj_cntr_thr, node)->value;
	for (; pos != &cntr->thresholds && atomic_load(&cntr->err); pos = pos->next)
		if (container_of(pos, struct obj_cntr_thr, node)->with_err)
			next = 0;
	atomic_store(&cntr->next, next);
}

static bool thr_is_due(const struct obj_cntr *cntr, const struct obj_cntr_thr *thr)
{
	uint64_t value = atomic_load(&cntr->value);

	return value >= thr->value ||
	       (thr->with_err && atomic_load(&cntr->err) >= thr->value - value);
}

void obj_cntr_reached(struct obj_cntr *cntr)
{
	struct list due;
	struct obj_cntr_thr *thr, *tmp;

	list_init(&due);
	lock_get(&cntr->lock);
	list_for_each_entry_safe(thr, tmp, &cntr->thresholds, node) {
		if (!thr_is_due(cntr, thr))
			continue;
		list_del(&thr->node);
		thr->waiting = false;
		list_add_tail(&thr->node, &due);
	}
	set_next(cntr);
	lock_put(&cntr->lock);
	while ((thr = list_pop_entry(&due, struct obj_cntr_thr, node)))
		thr->fire(thr);
}

void obj_cntr_on_threshold(struct obj_cntr *cntr, struct obj_cntr_thr *thr)
{
	struct list *pos;
	bool due;

	lock_get(&cntr->lock);
	/* Behind those of the same value: they fire in the order they came. */
	for (pos = cntr->thresholds.prev; pos != &cntr->thresholds; pos = pos->prev)
		if (container_of(pos, struct obj_cntr_thr, node)->value <= thr->value)
			break;
	list_add(&thr->node, pos);
	thr->waiting = true;
	set_next(cntr);
	/* The counter may have passed it before the threshold could be seen. */
	due = thr_is_due(cntr, thr);
	lock_put(&cntr->lock);
	if (due)
		obj_cntr_reached(cntr);
}

bool obj_cntr_forget(struct obj_cntr *cntr, struct obj_cntr_thr *thr)
{
	bool was;

	lock_get(&cntr->lock);
	was = thr->waiting;
	if (was) {
		list_del(&thr->node);
		thr->waiting = false;
		set_next(cntr);
	}
	lock_put(&cntr->lock);
	return was;
}

void obj_cntr_inc_peer(struct obj_cntr *cntr, bool err)
{
	if (err)
		cntr->peer->owner_ops->incerr(cntr->peer);
	else
		cntr->peer->owner_ops->inc(cntr->peer);
}

/* ---- the program's calls ------------------------------------------------- */

static inline uint64_t read_one(struct obj_cntr *cntr, _Atomic uint64_t *from,
				_Atomic uint64_t *seen)
{
	uint64_t value;

	obj_wait_called(&cntr->wait);
	obj_feed_poll(&cntr->wait.feed);
	value = atomic_load(from);
	atomic_store_explicit(seen, value, memory_order_relaxed);
	return value;
}

static uint64_t cntr_read(struct fid_cntr *fid)
{
	struct obj_cntr *cntr = obj_cntr_of(fid);

	return read_one(cntr, &cntr->value, &cntr->seen);
}

static uint64_t cntr_readerr(struct fid_cntr *fid)
{
	struct obj_cntr *cntr = obj_cntr_of(fid);

	return read_one(cntr, &cntr->err, &cntr->seen_err);
}

/* The program has changed the counter: threads that wait for a value look again. */
static int cntr_notify(struct obj_cntr *cntr, uint64_t value)
{
	if (value >= atomic_load(&cntr->next))
		obj_cntr_reached(cntr);
	obj_wait_signal(&cntr->wait);
	return 0;
}

/* A threshold may be one of errors, too, so each change of an error count has its owner look. */
static int changed_err(struct obj_cntr *cntr, uint64_t value)
{
	if (atomic_load(&cntr->next) != UINT64_MAX)
		obj_cntr_reached(cntr);
	obj_wait_signal(&cntr->wait);
	return 0;
}

static int cntr_add(struct fid_cntr *fid, uint64_t value)
{
	struct obj_cntr *cntr = obj_cntr_of(fid);

	return cntr_notify(cntr, atomic_fetch_add(&cntr->value, value) + value);
}

static int cntr_set(struct fid_cntr *fid, uint64_t value)
{
	struct obj_cntr *cntr = obj_cntr_of(fid);

	atomic_store(&cntr->value, value);
	return cntr_notify(cntr, value);
}

static int cntr_adderr(struct fid_cntr *fid, uint64_t value)
{
	struct obj_cntr *cntr = obj_cntr_of(fid);

	return changed_err(cntr, atomic_fetch_add(&cntr->err, value) + value);
}

static int cntr_seterr(struct fid_cntr *fid, uint64_t value)
{
	struct obj_cntr *cntr = obj_cntr_of(fid);

	atomic_store(&cntr->err, value);
	return changed_err(cntr, value);
}

struct want {
	uint64_t value;			/* at least */
	uint64_t err;			/* or another error value than this */
};

static bool cntr_ready(struct obj_wait *wait, const void *arg)
{
	struct obj_cntr *cntr = container_of(wait, struct obj_cntr, wait);
	const struct want *want = arg;

	if (want)
		return atomic_load(&cntr->value) >= want->value ||
		       atomic_load(&cntr->err) != want->err;
	return atomic_load(&cntr->value) != atomic_load(&cntr->seen) ||
	       atomic_load(&cntr->err) != atomic_load(&cntr->seen_err);
}

#define YIELD_EVERY 64		/* polls in vain; the groups yield earlier where others want the processor */

/* poll_until - the wait on a counter that has no wait object: poll until @want or the deadline. */
static int poll_until(struct obj_cntr *cntr, const struct want *want, uint64_t deadline_ns)
{
	unsigned polls = 0;

	while (!cntr_ready(&cntr->wait, want)) {
		if (obj_feed_poll(&cntr->wait.feed))
			continue;
		if (deadline_ns && clock_ns() >= deadline_ns)
			return cntr_ready(&cntr->wait, want) ? 0 : -FI_ETIMEDOUT;
		if (!(++polls % YIELD_EVERY))
			sched_yield();
	}
	return 0;
}

static int cntr_wait(struct fid_cntr *fid, uint64_t threshold, int timeout)
{
	struct obj_cntr *cntr = obj_cntr_of(fid);
	struct want want = { threshold, atomic_load(&cntr->err) };
	uint64_t deadline;
	int ret = 0;

	deadline = clock_deadline(timeout);
	obj_feed_poll(&cntr->wait.feed);
	for (;;) {
		if (atomic_load(&cntr->value) >= threshold)
			return 0;
		if (atomic_load(&cntr->err) != want.err)
			return -FI_EAVAIL;
		if (ret)
			return ret;
		ret = obj_wait_can_block(&cntr->wait) ?
		      obj_wait_sleep(&cntr->wait, deadline, cntr_ready, &want) :
		      poll_until(cntr, &want, deadline);
	}
}

/* ---- opening and closing ------------------------------------------------- */

static int cntr_control(struct fid *fid, int cmd, void *arg)
{
	struct obj_cntr *cntr = container_of(fid, struct obj_cntr, fid.fid);

	switch (cmd) {
	case FI_GETOPSFLAG:
	case FI_SETOPSFLAG:
		if (!arg)
			return -FI_EINVAL;
		if (cmd == FI_GETOPSFLAG)
			*(uint64_t *) arg = cntr->op_flags;
		else
			cntr->op_flags = *(uint64_t *) arg;
		return 0;
	default:
		return obj_wait_control(&cntr->wait, cmd, arg);
	}
}

static int cntr_close(struct fid *fid)
{
	struct obj_cntr *cntr = container_of(fid, struct obj_cntr, fid.fid);
	int ret;

	if (obj_inherited(&cntr->refs))
		return 0;
	ret = obj_refs_busy(&cntr->refs, fid, cntr->domain->prov, FI_LOG_CNTR);
	if (ret)
		return ret;
	obj_wait_close(&cntr->wait, &cntr->set_ref);
	obj_ref_put(&cntr->domain_ref);
	lock_destroy(&cntr->lock);
	obj_refs_fini(&cntr->refs);
	free(cntr);
	return 0;
}

static struct fi_ops cntr_fi_ops = {
	.close = cntr_close,
	.control = cntr_control,
};
OBJ_OPS_TABLE(cntr_fi_ops, fid)

static struct fi_ops_cntr cntr_ops = {
	.read = cntr_read,
	.readerr = cntr_readerr,
	.add = cntr_add,
	.set = cntr_set,
	.wait = cntr_wait,
	.adderr = cntr_adderr,
	.seterr = cntr_seterr,
};
OBJ_OPS_TABLE(cntr_ops, cntr)

/* A peer's counter has no value: its owner only drives it. */
static struct fi_ops_cntr cntr_peer_ops = {
	.read = cntr_read,
};
OBJ_OPS_TABLE(cntr_peer_ops, cntr)

static int cntr_check_attr(struct obj_domain *domain, const struct fi_cntr_attr *attr)
{
	const char *what = NULL;

	if (attr->flags & ~FI_PEER)
		what = "flags other than 0";
	else if (attr->events > FI_CNTR_EVENTS_BYTES)
		what = "an unknown kind of events";
	else if (!obj_wait_kind_of(attr->wait_obj, false))
		what = "an unknown wait object";
	else if (attr->wait_obj == FI_WAIT_SET && !attr->wait_set)
		what = "FI_WAIT_SET without a wait set";
	if (!what)
		return 0;
	FI_WARN(domain->prov, FI_LOG_CNTR, "fi_cntr_open: the attributes have %s\n", what);
	return -FI_EINVAL;
}

static int init_cntr(struct obj_cntr *cntr, struct obj_domain *domain,
		     const struct fi_cntr_attr *attr)
{
	int ret;

	obj_fid_init(&cntr->fid.fid, FI_CLASS_CNTR, NULL, &cntr_fi_ops);
	cntr->fid.ops = &cntr_ops;
	cntr->domain = domain;
	cntr->bytes = attr->events == FI_CNTR_EVENTS_BYTES;
	cntr->single = domain->obj_lock_kind == LOCK_NONE;
	atomic_init(&cntr->next, UINT64_MAX);
	list_init(&cntr->thresholds);
	ret = lock_init(&cntr->lock, LOCK_MUTEX);
	if (ret)
		return ret;
	ret = obj_wait_open(&cntr->wait, attr->wait_obj, attr->wait_set, &cntr->set_ref, &cntr->fid.fid,
			    cntr_ready);
	if (ret) {
		lock_destroy(&cntr->lock);
		return ret;
	}
	obj_refs_init(&cntr->refs);
	return 0;
}

int obj_cntr_open(struct fid_domain *domain_fid, struct fi_cntr_attr *attr,
		  struct fid_cntr **cntr_p, void *context)
{
	static const struct fi_cntr_attr plain = { 0 };
	struct obj_domain *domain = obj_domain_of(domain_fid);
	const struct fi_peer_cntr_context *peer = context;
	struct obj_cntr *cntr;
	int ret;

	if (!attr)
		attr = (struct fi_cntr_attr *) &plain;
	/* attr may end before xpu_ctx: without FI_XPU nothing may read it */
	if (attr->flags & FI_XPU)
		return domain->xpu ? domain->xpu->cntr(domain, attr, cntr_p, context) :
				     obj_domain_no_xpu(domain, "fi_cntr_open");
	ret = cntr_check_attr(domain, attr);
	if (ret)
		return ret;
	if ((attr->flags & FI_PEER) && (!peer || !peer->cntr))
		return -FI_EINVAL;
	cntr = calloc(1, sizeof(*cntr));
	if (!cntr)
		return -FI_ENOMEM;
	ret = init_cntr(cntr, domain, attr);
	if (ret) {
		free(cntr);
		return ret;
	}
	if (attr->flags & FI_PEER) {
		cntr->peer = peer->cntr;
		cntr->fid.ops = &cntr_peer_ops;
	} else {
		cntr->fid.fid.context = context;
	}
	obj_ref_get(&domain->refs, &cntr->domain_ref, &cntr->fid.fid);
	*cntr_p = &cntr->fid;
	return 0;
}

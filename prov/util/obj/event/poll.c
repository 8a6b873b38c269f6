/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "obj/poll.h"

#include <rdma/fi_errno.h>
#include <stdlib.h>

#include "obj/cntr.h"
#include "obj/cq.h"
#include "obj/domain.h"
#include "obj/eq.h"
#include "obj/ops.h"
#include "obj/waitset.h"

struct member {
	struct list node;		/* on poll->members */
	struct fid *fid;
	struct obj_wait *wait;		/* its wait part */
	struct obj_ref ref;		/* the member may not close before it is deleted */
	uint64_t value;			/* of a counter: what this set has shown */
	uint64_t err;			/* the same of its errors */
};

/* Caller holds poll->lock. */
static struct member *member_find(struct obj_poll *poll, const struct fid *fid)
{
	struct member *member;

	list_for_each_entry(member, &poll->members, node)
		if (member->fid == fid)
			return member;
	return NULL;
}

/* One that is a member already is no error, and stays one member. */
static int poll_add(struct fid_poll *fid, struct fid *event_fid, uint64_t flags)
{
	struct obj_poll *poll = container_of(fid, struct obj_poll, fid);
	struct obj_refs *refs;
	struct obj_wait *wait = obj_wait_of(event_fid, &refs);
	struct member *member;

	if (flags || !wait)
		return -FI_EINVAL;
	member = calloc(1, sizeof(*member));
	if (!member)
		return -FI_ENOMEM;
	pthread_mutex_lock(&poll->lock);
	if (member_find(poll, event_fid)) {
		free(member);
	} else {
		member->fid = event_fid;
		member->wait = wait;
		obj_ref_get(refs, &member->ref, &fid->fid);
		list_add_tail(&member->node, &poll->members);
	}
	pthread_mutex_unlock(&poll->lock);
	return 0;
}

static int poll_del(struct fid_poll *fid, struct fid *event_fid, uint64_t flags)
{
	struct obj_poll *poll = container_of(fid, struct obj_poll, fid);
	struct member *member;

	if (flags)
		return -FI_EINVAL;
	pthread_mutex_lock(&poll->lock);
	member = member_find(poll, event_fid);
	if (member) {
		list_del(&member->node);
		obj_ref_put(&member->ref);
	}
	pthread_mutex_unlock(&poll->lock);
	free(member);
	return member ? 0 : -FI_EINVAL;
}

/* fi_poll(3): a counter shows if it changed since this set last showed it. */
static bool cntr_changed(struct member *member)
{
	struct obj_cntr *cntr = container_of(member->fid, struct obj_cntr, fid.fid);
	uint64_t value = atomic_load(&cntr->value), err = atomic_load(&cntr->err);
	bool changed = value != member->value || err != member->err;

	member->value = value;
	member->err = err;
	return changed;
}

/* Progress first: the entry that is asked for may be about to arrive. */
static bool has_something(struct member *member)
{
	obj_feed_poll(&member->wait->feed);
	return member->fid->fclass == FI_CLASS_CNTR ? cntr_changed(member) : member->wait->ready(member->wait, NULL);
}

/* When the array is short, those that did not fit come first the next time. */
static int poll_poll(struct fid_poll *fid, void **context, int count)
{
	struct obj_poll *poll = container_of(fid, struct obj_poll, fid);
	struct member *member, *tmp;
	struct list shown;
	int cnt = 0;

	if (count < 0 || (count && !context))
		return -FI_EINVAL;
	list_init(&shown);
	pthread_mutex_lock(&poll->lock);
	list_for_each_entry_safe(member, tmp, &poll->members, node) {
		if (cnt == count) {
			obj_feed_poll(&member->wait->feed);
			continue;
		}
		if (!has_something(member))
			continue;
		context[cnt++] = member->fid->context;
		list_del(&member->node);
		list_add_tail(&member->node, &shown);
	}
	list_splice_tail(&shown, &poll->members);
	pthread_mutex_unlock(&poll->lock);
	return cnt;
}

/* No lock: a program that closes the set makes no other call on it. */
static int poll_close(struct fid *fid)
{
	struct obj_poll *poll = container_of(fid, struct obj_poll, fid.fid);
	struct member *member;

	if (obj_opened_before_fork(poll->process))
		return 0;
	while ((member = list_pop_entry(&poll->members, struct member, node))) {
		obj_ref_put(&member->ref);
		free(member);
	}
	pthread_mutex_destroy(&poll->lock);
	obj_ref_put(&poll->domain_ref);
	free(poll);
	return 0;
}

static struct fi_ops poll_fi_ops = {
	.close = poll_close,
};
OBJ_OPS_TABLE(poll_fi_ops, fid)

static struct fi_ops_poll poll_ops = {
	.poll = poll_poll,
	.poll_add = poll_add,
	.poll_del = poll_del,
};
OBJ_OPS_TABLE(poll_ops, poll)

int obj_poll_open(struct fid_domain *domain_fid, struct fi_poll_attr *attr,
		  struct fid_poll **pollset)
{
	struct obj_domain *domain = obj_domain_of(domain_fid);
	struct obj_poll *poll;

	if (attr && attr->flags)
		return -FI_EINVAL;
	poll = calloc(1, sizeof(*poll));
	if (!poll)
		return -FI_ENOMEM;
	obj_fid_init(&poll->fid.fid, FI_CLASS_POLL, NULL, &poll_fi_ops);
	poll->fid.ops = &poll_ops;
	poll->domain = domain;
	poll->process = obj_process;
	list_init(&poll->members);
	pthread_mutex_init(&poll->lock, NULL);
	obj_ref_get(&domain->refs, &poll->domain_ref, &poll->fid.fid);
	*pollset = &poll->fid;
	return 0;
}

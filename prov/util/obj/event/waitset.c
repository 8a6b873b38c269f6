/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "obj/waitset.h"

#include <rdma/fi_errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "obj/cntr.h"
#include "obj/cq.h"
#include "obj/eq.h"
#include "obj/fabric.h"
#include "obj/log.h"
#include "obj/ops.h"

int obj_wait_open(struct obj_wait *wait, enum fi_wait_obj type, struct fid_wait *set, struct obj_ref *ref,
		  const struct fid *owner, obj_wait_ready_fn ready)
{
	int ret = type == FI_WAIT_SET && !set ? -FI_EINVAL : obj_wait_init(wait, type, ready);

	if (!ret && type == FI_WAIT_SET) {
		obj_ref_get(&obj_waitset_of(set)->refs, ref, owner);
		obj_wait_join(wait, &obj_waitset_of(set)->wait);
	}
	return ret;
}

void obj_wait_close(struct obj_wait *wait, struct obj_ref *ref)
{
	if (wait->set) {
		obj_wait_leave(wait);
		obj_ref_put(ref);
	}
	obj_wait_fini(wait);
}

int obj_wait_cannot(const struct obj_wait *wait, const struct fi_provider *prov,
		    enum fi_log_subsys subsys, const char *call)
{
	OBJ_WARN(prov, subsys, "%s: cannot block, since the queue was opened with %s\n", call,
		 wait->type == FI_WAIT_SET ? "FI_WAIT_SET: call fi_wait() on its wait set" :
		 "FI_WAIT_NONE: open it with wait_obj FI_WAIT_UNSPEC or FI_WAIT_FD, or poll it");
	return -FI_ENOSYS;
}

struct obj_wait *obj_wait_of(struct fid *fid, struct obj_refs **refs_p)
{
	switch (fid->fclass) {
	case FI_CLASS_CQ:
		*refs_p = &container_of(fid, struct obj_cq, fid.fid)->refs;
		return &container_of(fid, struct obj_cq, fid.fid)->wait;
	case FI_CLASS_CNTR:
		*refs_p = &container_of(fid, struct obj_cntr, fid.fid)->refs;
		return &container_of(fid, struct obj_cntr, fid.fid)->wait;
	case FI_CLASS_EQ:
		*refs_p = &container_of(fid, struct obj_eq, fid.fid)->refs;
		return &container_of(fid, struct obj_eq, fid.fid)->wait;
	default:
		return NULL;
	}
}

/* any_ready - has a member something? */
static bool any_ready(struct obj_wait *set, const void *arg)
{
	struct obj_wait *wait;
	bool ready = false;

	pthread_mutex_lock(&set->members_lock);
	list_for_each_entry(wait, &set->members, set_node)
		ready = ready || wait->ready(wait, NULL);
	pthread_mutex_unlock(&set->members_lock);
	return ready;
}

/* A signal ends the wait though another thread has read since what it was for. */
static int set_wait(struct fid_wait *fid, int timeout)
{
	struct obj_wait *wait = &obj_waitset_of(fid)->wait;
	uint64_t deadline = clock_deadline(timeout);
	unsigned round = obj_waker_round(&wait->waker);
	int ret = 0;

	obj_wait_called(wait);
	obj_wait_poll(wait);
	while (!ret && !any_ready(wait, NULL) && obj_waker_round(&wait->waker) == round)
		ret = obj_wait_sleep(wait, deadline, any_ready, NULL);
	return ret;
}

static int set_control(struct fid *fid, int cmd, void *arg)
{
	return obj_wait_control(&container_of(fid, struct obj_waitset, fid.fid)->wait, cmd, arg);
}

static int waitset_close(struct fid *fid)
{
	struct obj_waitset *set = container_of(fid, struct obj_waitset, fid.fid);
	int ret;

	if (obj_inherited(&set->refs))
		return 0;
	ret = obj_refs_busy(&set->refs, fid, set->fabric->prov, FI_LOG_FABRIC);
	if (ret)
		return ret;
	obj_wait_fini(&set->wait);
	obj_refs_fini(&set->refs);
	obj_ref_put(&set->fabric_ref);
	free(set);
	return 0;
}

static struct fi_ops set_fi_ops = {
	.close = waitset_close,
	.control = set_control,
};
OBJ_OPS_TABLE(set_fi_ops, fid)

static struct fi_ops_wait set_ops = {
	.wait = set_wait,
};
OBJ_OPS_TABLE(set_ops, wait)

int obj_waitset_open(struct fid_fabric *fabric_fid, struct fi_wait_attr *attr,
		     struct fid_wait **set_p)
{
	struct obj_fabric *fabric = obj_fabric_of(fabric_fid);
	enum fi_wait_obj type = attr ? attr->wait_obj : FI_WAIT_UNSPEC;
	struct obj_waitset *set;

	if ((attr && attr->flags) || !obj_wait_kind_of(type, true)) {
		FI_WARN(fabric->prov, FI_LOG_FABRIC,
			"a wait set needs flags 0 and a wait object of type FD, POLLFD, "
			"MUTEX_COND, YIELD or UNSPEC\n");
		return -FI_EINVAL;
	}
	set = calloc(1, sizeof(*set));
	if (!set)
		return -FI_ENOMEM;
	obj_wait_init(&set->wait, type, any_ready);
	set->wait.is_set = true;
	obj_fid_init(&set->fid.fid, FI_CLASS_WAIT, NULL, &set_fi_ops);
	set->fid.ops = &set_ops;
	set->fabric = fabric;
	obj_refs_init(&set->refs);
	obj_ref_get(&fabric->refs, &set->fabric_ref, &set->fid.fid);
	*set_p = &set->fid;
	return 0;
}

/* try_one - threads that wait for a member of a set wait for the set. */
static int try_one(struct fid *fid)
{
	struct obj_refs *refs;
	struct obj_wait *wait = fid->fclass == FI_CLASS_WAIT ?
				&container_of(fid, struct obj_waitset, fid.fid)->wait : obj_wait_of(fid, &refs);

	return wait ? obj_wait_try(wait->set ? wait->set : wait) : -FI_EINVAL;
}

/* fi_trywait(3): after 0 the program may sleep on the fds by itself, so all are armed; what was armed
 * before a failure stays so, and costs a needless wake-up at most.
 */
int obj_trywait(struct fid_fabric *fabric, struct fid **fids, int count)
{
	int i, ret = 0;

	for (i = 0; i < count && !ret; i++)
		ret = try_one(fids[i]);
	return ret;
}

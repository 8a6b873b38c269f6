/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "obj/waitset.h"

#include <errno.h>
#include <rdma/fi_errno.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "obj/cntr.h"
#include "obj/cq.h"
#include "obj/eq.h"
#include "obj/fabric.h"
#include "obj/log.h"
#include "obj/ops.h"
#include "progress/fdset.h"

static int add_member(struct obj_waitset *set, int fd)
{
	int side, ret = 0;

	for (side = 0; side < OBJ_WAKE_SIDES && !ret; side++)
		if (set->set_fd[side] >= 0)
			ret = fdset_add(set->set_fd[side], fd, POLLIN, NULL);
	return ret;
}

static void remove_member(struct obj_waitset *set, int fd)
{
	int side;

	for (side = 0; side < OBJ_WAKE_SIDES; side++)
		if (set->set_fd[side] >= 0)
			fdset_remove(set->set_fd[side], fd);
}

/* The member's fd goes into the set's before the member is listed: a thread that finds it listed can
 * sleep on it.
 */
static int waitset_join(struct obj_waitset *set, struct obj_wait *wait, struct obj_ref *ref, const struct fid *owner)
{
	int fd = obj_wait_fd(wait, OBJ_WAKE_OUT), ret;

	if (fd < 0)
		return fd;
	ret = add_member(set, fd);
	if (ret)
		return ret;
	wait->set = &set->base;
	obj_ref_get(&set->refs, ref, owner);
	pthread_mutex_lock(&set->lock);
	list_add_tail(&wait->set_node, &set->members);
	pthread_mutex_unlock(&set->lock);
	return 0;
}

/* Off the list first, so that check_members() does not arm what is about to go. */
static void waitset_leave(struct obj_wait *wait, struct obj_ref *ref)
{
	struct obj_waitset *set = container_of(wait->set, struct obj_waitset, base);

	pthread_mutex_lock(&set->lock);
	list_del(&wait->set_node);
	pthread_mutex_unlock(&set->lock);
	remove_member(set, wait->fds[OBJ_WAKE_OUT].set_fd);
	wait->set = NULL;
	obj_ref_put(ref);
}

int obj_wait_open(struct obj_wait *wait, enum fi_wait_obj type, struct fid_wait *set, struct obj_ref *ref,
		  const struct fid *owner, obj_wait_ready_fn ready)
{
	int ret = type == FI_WAIT_SET && !set ? -FI_EINVAL : obj_wait_init(wait, type, ready);

	if (!ret && type == FI_WAIT_SET) {
		ret = waitset_join(obj_waitset_of(set), wait, ref, owner);
		if (ret)
			obj_wait_fini(wait);
	}
	return ret;
}

void obj_wait_close(struct obj_wait *wait, struct obj_ref *ref)
{
	if (wait->set)
		waitset_leave(wait, ref);
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

struct obj_wait *obj_wait_of(struct fid *fid)
{
	switch (fid->fclass) {
	case FI_CLASS_CQ:
		return &container_of(fid, struct obj_cq, fid.fid)->wait;
	case FI_CLASS_CNTR:
		return &container_of(fid, struct obj_cntr, fid.fid)->wait;
	case FI_CLASS_EQ:
		return &container_of(fid, struct obj_eq, fid.fid)->wait;
	default:
		return NULL;
	}
}

/* Returns 1 if a member has something or, with @arm, a group wants to be polled; 0 if not; else an error. */
static int check_members(struct obj_waitset *set, bool arm)
{
	struct obj_wait *wait;
	int ret = 0;

	pthread_mutex_lock(&set->lock);
	list_for_each_entry(wait, &set->members, set_node) {
		obj_wait_called(wait);
		obj_feed_poll(&wait->feed);
		if (arm) {
			/* Groups that came since have to get into its fd. */
			ret = obj_wait_fd(wait, OBJ_WAKE_OUT);
			if (ret < 0)
				goto out;
			obj_waker_show(&wait->waker);
		}
		ret = wait->ready(wait, NULL) || (arm && obj_wait_arm_groups(wait, true));
		if (ret)
			goto out;
	}
out:
	pthread_mutex_unlock(&set->lock);
	return ret;
}

/* A member's ready(), without the groups' wish to be polled. */
static bool any_ready(struct obj_waitset *set)
{
	struct obj_wait *wait;
	bool ready = false;

	pthread_mutex_lock(&set->lock);
	list_for_each_entry(wait, &set->members, set_node) {
		ready = wait->ready(wait, NULL);
		if (ready)
			break;
	}
	pthread_mutex_unlock(&set->lock);
	return ready;
}

static int sleep_for(int fd, int ms)
{
	struct fdset_event ev;
	int ret = fdset_wait(fd, &ev, 1, ms);

	return ret < 0 ? ret : 0;
}

/* sleep_once - until a member has something (1), a signal (1), or a wake-up for progress alone (0).
 * Members are armed before they are looked at: what arrives in between leaves an fd readable, so the thread does
 * not sleep over it.
 */
static int sleep_once(struct obj_waitset *set, uint64_t deadline)
{
	int ret, ms, fd = set->set_fd[OBJ_WAKE_IN];
	unsigned round;
	uint64_t now;

	ret = obj_waker_enter(&set->base.waker, &round);
	if (ret < 0)
		return ret;
	ret = check_members(set, true);
	if (ret >= 0) {
		now = clock_ns();
		ms = ret ? 0 : clock_ms_left(deadline, now);
		ret = any_ready(set);
		if (!ret && deadline && now >= deadline)
			ret = -FI_ETIMEDOUT;
		else if (!ret && ms)
			ret = sleep_for(fd, ms);
	}
	return obj_waker_leave(&set->base.waker, round) && (!ret || ret == -FI_ETIMEDOUT) ? 1 : ret;
}

/* yield_once - the same for a set whose threads do not sleep. */
static int yield_once(struct obj_waitset *set, uint64_t deadline)
{
	int ret = check_members(set, false);

	if (!ret && deadline && clock_ns() >= deadline)
		return -FI_ETIMEDOUT;
	if (!ret)
		sched_yield();
	return ret;
}

/* A signal ends the wait though another thread has read since what it was for. */
static int set_wait(struct fid_wait *fid, int timeout)
{
	struct obj_waitset *set = obj_waitset_of(fid);
	uint64_t deadline = clock_deadline(timeout);
	int ret;

	do
		ret = set->type == FI_WAIT_YIELD ? yield_once(set, deadline) : sleep_once(set, deadline);
	while (!ret);
	return ret < 0 ? ret : 0;
}

/* set_try - fi_trywait(); as obj_wait_try(). */
static int set_try(struct obj_waitset *set)
{
	bool yields = set->type == FI_WAIT_YIELD;
	unsigned round = 0;
	int ret;

	ret = check_members(set, false);
	if (!ret && !yields) {
		round = obj_waker_show(&set->base.waker);
		ret = check_members(set, true);
		if (ret > 0)
			obj_wait_set_wake(&set->base);
	}
	if (ret)
		return ret < 0 ? ret : -FI_EAGAIN;
	if (!yields)
		fdset_settle(set->set_fd[OBJ_WAKE_OUT]);
	atomic_store(&set->base.pair.passed, lock_thread());
	return !yields && obj_waker_woken(&set->base.waker, round) ? -FI_EAGAIN : 0;
}

static int set_control(struct fid *fid, int cmd, void *arg)
{
	struct obj_waitset *set = container_of(fid, struct obj_waitset, fid.fid);

	if (!arg)
		return -FI_EINVAL;
	switch (cmd) {
	case FI_GETWAIT:
		return set->base.kind->get(set->set_fd[OBJ_WAKE_OUT], &set->base.pair, arg);
	case FI_GETWAITOBJ:
		*(enum fi_wait_obj *) arg = set->type;
		return 0;
	default:
		return -FI_ENOSYS;
	}
}

static void close_fds(struct obj_waitset *set)
{
	int side;

	for (side = 0; side < OBJ_WAKE_SIDES; side++)
		fdset_close(set->set_fd[side]);
	obj_waker_fini(&set->base.waker);
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
	close_fds(set);
	obj_wait_pair_fini(&set->base.pair);
	pthread_mutex_destroy(&set->lock);
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

static int open_fds(struct obj_waitset *set)
{
	int side, fd, ret = 0;

	obj_waker_init(&set->base.waker, &set->base.wake);
	for (side = 0; side < OBJ_WAKE_SIDES; side++)
		set->set_fd[side] = -1;
	for (side = 0; side < OBJ_WAKE_SIDES && set->type != FI_WAIT_YIELD && !ret; side++) {
		fd = obj_waker_fd(&set->base.waker, side);
		if (fd < 0) {
			ret = fd;
			break;
		}
		set->set_fd[side] = ret = fdset_open();
		if (ret >= 0)
			ret = fdset_add(set->set_fd[side], fd, POLLIN, NULL);
	}
	if (ret)
		close_fds(set);
	return ret;
}

int obj_waitset_open(struct fid_fabric *fabric_fid, struct fi_wait_attr *attr,
		     struct fid_wait **set_p)
{
	struct obj_fabric *fabric = obj_fabric_of(fabric_fid);
	enum fi_wait_obj type = attr ? attr->wait_obj : FI_WAIT_UNSPEC;
	const struct obj_wait_kind *kind = obj_wait_kind_of(type, true);
	struct obj_waitset *set;
	int ret;

	if ((attr && attr->flags) || !kind) {
		FI_WARN(fabric->prov, FI_LOG_FABRIC,
			"a wait set needs flags 0 and a wait object of type FD, POLLFD, "
			"MUTEX_COND, YIELD or UNSPEC\n");
		return -FI_EINVAL;
	}
	set = calloc(1, sizeof(*set));
	if (!set)
		return -FI_ENOMEM;
	set->type = type;
	set->base.kind = kind;
	ret = open_fds(set);
	if (ret) {
		free(set);
		return ret;
	}
	obj_fid_init(&set->fid.fid, FI_CLASS_WAIT, NULL, &set_fi_ops);
	set->fid.ops = &set_ops;
	set->fabric = fabric;
	list_init(&set->members);
	pthread_mutex_init(&set->lock, NULL);
	obj_wait_pair_init(&set->base.pair);
	obj_refs_init(&set->refs);
	obj_ref_get(&fabric->refs, &set->fabric_ref, &set->fid.fid);
	*set_p = &set->fid;
	return 0;
}

/* try_one - threads that wait for a member of a set sleep on the set's descriptor. */
static int try_one(struct fid *fid)
{
	struct obj_wait *wait;

	if (fid->fclass == FI_CLASS_WAIT)
		return set_try(container_of(fid, struct obj_waitset, fid.fid));
	wait = obj_wait_of(fid);
	if (!wait)
		return -FI_EINVAL;
	return wait->set ? set_try(container_of(wait->set, struct obj_waitset, base)) : obj_wait_try(wait);
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

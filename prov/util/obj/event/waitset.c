/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */


#include "obj/waitset.h"

#include <errno.h>
#include <rdma/fi_errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/clock.h"
#include "obj/fabric.h"
#include "obj/ops.h"
#include "obj/wait.h"

/* The member's fd goes into the set's before the member is listed: a thread that finds it listed can
 * sleep on it.
 */
int obj_waitset_join(struct obj_waitset *set, struct obj_wait *wait, const struct fid *owner)
{
	struct epoll_event ev = { .events = EPOLLIN };
	int fd = obj_wait_fd(wait);

	if (fd < 0)
		return fd;
	if (set->epfd >= 0 && epoll_ctl(set->epfd, EPOLL_CTL_ADD, fd, &ev))
		return -errno;
	wait->set = set;
	obj_ref_get(&set->refs, &wait->set_ref, owner);
	pthread_mutex_lock(&set->lock);
	list_add_tail(&wait->set_node, &set->members);
	pthread_mutex_unlock(&set->lock);
	return 0;
}

/* Off the list first, so that check_members() does not arm what is about to go. */
void obj_waitset_leave(struct obj_wait *wait)
{
	struct obj_waitset *set = wait->set;

	pthread_mutex_lock(&set->lock);
	list_del(&wait->set_node);
	pthread_mutex_unlock(&set->lock);
	if (set->epfd >= 0)
		epoll_ctl(set->epfd, EPOLL_CTL_DEL, wait->epfd, NULL);
	wait->set = NULL;
	obj_ref_put(&wait->set_ref);
}

/* Threads of a set with an fd are woken by the members' fds in it. */
void obj_waitset_wake(struct obj_waitset *set)
{
	if (set->type == FI_WAIT_MUTEX_COND)
		obj_wait_cond_wake(&set->mutex, &set->cond);
}

/* Returns 1 if a member has something, 0 if all are armed for sleep, else an error. */
static int check_members(struct obj_waitset *set, bool arm)
{
	struct obj_wait *wait;
	int ret = 0;

	pthread_mutex_lock(&set->lock);
	list_for_each_entry(wait, &set->members, set_node) {
		obj_feed_poll(&wait->feed);
		if (arm) {
			/* Groups that came since have to get into its fd. */
			ret = obj_wait_fd(wait);
			if (ret < 0)
				goto out;
			obj_wait_arm(wait);
		}
		ret = wait->ready(wait, NULL) || (arm && obj_wait_arm_groups(wait));
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

/* Members are armed before they are looked at: what arrives in between leaves an fd readable, so
 * the thread does not sleep over it.  A wake-up may be for progress alone, hence the loop.
 */
static int set_wait(struct fid_wait *fid, int timeout)
{
	struct obj_waitset *set = obj_waitset_of(fid);
	uint64_t deadline = clock_deadline(timeout), now;
	struct epoll_event ev;
	int ret;

	for (;;) {
		ret = check_members(set, set->epfd >= 0);
		if (ret < 0)
			return ret;
		if (ret && any_ready(set))
			return 0;
		now = clock_ns();
		if (deadline && now >= deadline)
			return -FI_ETIMEDOUT;
		if (set->epfd < 0)
			sched_yield();
		else if (!ret && epoll_wait(set->epfd, &ev, 1,
					    clock_ms_left(deadline, now)) < 0)
			return -errno;
	}
}

static int set_control(struct fid *fid, int cmd, void *arg)
{
	struct obj_waitset *set = container_of(fid, struct obj_waitset, fid.fid);

	if (!arg)
		return -FI_EINVAL;
	switch (cmd) {
	case FI_GETWAIT:
		return obj_wait_get(set->type, set->epfd, &set->mutex, &set->cond, arg);
	case FI_GETWAITOBJ:
		*(enum fi_wait_obj *) arg = set->type;
		return 0;
	default:
		return -FI_ENOSYS;
	}
}

static int set_close(struct fid *fid)
{
	struct obj_waitset *set = container_of(fid, struct obj_waitset, fid.fid);
	int ret = obj_refs_busy(&set->refs, fid, set->fabric->prov, FI_LOG_FABRIC);

	if (ret)
		return ret;
	if (set->epfd >= 0)
		close(set->epfd);
	pthread_cond_destroy(&set->cond);
	pthread_mutex_destroy(&set->mutex);
	pthread_mutex_destroy(&set->lock);
	obj_refs_fini(&set->refs);
	obj_ref_put(&set->fabric_ref);
	free(set);
	return 0;
}

static struct fi_ops set_fi_ops = {
	.close = set_close,
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
	int ret;

	if ((attr && attr->flags) || type == FI_WAIT_NONE || type == FI_WAIT_SET ||
	    type > FI_WAIT_POLLFD) {
		FI_WARN(fabric->prov, FI_LOG_FABRIC,
			"a wait set needs flags 0 and a wait object of type FD, POLLFD, "
			"MUTEX_COND, YIELD or UNSPEC\n");
		return -FI_EINVAL;
	}
	set = calloc(1, sizeof(*set));
	if (!set)
		return -FI_ENOMEM;
	set->epfd = type == FI_WAIT_YIELD ? -1 : epoll_create1(EPOLL_CLOEXEC);
	if (type != FI_WAIT_YIELD && set->epfd < 0) {
		ret = -errno;
		free(set);
		return ret;
	}
	obj_fid_init(&set->fid.fid, FI_CLASS_WAIT, NULL, &set_fi_ops);
	set->fid.ops = &set_ops;
	set->type = type;
	set->fabric = fabric;
	list_init(&set->members);
	pthread_mutex_init(&set->lock, NULL);
	obj_wait_cond_init(&set->mutex, &set->cond);
	obj_refs_init(&set->refs);
	obj_ref_get(&fabric->refs, &set->fabric_ref, &set->fid.fid);
	*set_p = &set->fid;
	return 0;
}

/* fi_trywait(3): after 0 the program may sleep on the fds by itself, so all are armed; what was armed
 * before a failure stays so, and costs a needless wake-up at most.
 */
int obj_trywait(struct fid_fabric *fabric, struct fid **fids, int count)
{
	struct obj_wait *wait;
	int i, ret;

	for (i = 0; i < count; i++) {
		if (fids[i]->fclass == FI_CLASS_WAIT) {
			ret = check_members(container_of(fids[i], struct obj_waitset, fid.fid), true);
			if (ret > 0)
				ret = -FI_EAGAIN;
		} else {
			wait = obj_wait_of(fids[i]);
			ret = wait ? obj_wait_try(wait) : -FI_EINVAL;
		}
		if (ret)
			return ret;
	}
	return 0;
}


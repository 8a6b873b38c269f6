/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "obj/wait.h"

#include <errno.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "obj/cntr.h"
#include "obj/cq.h"
#include "obj/eq.h"
#include "obj/waitset.h"

/* How long a waker may wait for the mutex of a FI_WAIT_MUTEX_COND object. */
#define MUTEX_PATIENCE_NS (10 * CLOCK_NS_PER_MS)

/* The program may hold the mutex while it calls us, hence recursive. */
void obj_wait_cond_init(pthread_mutex_t *mutex, pthread_cond_t *cond)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(mutex, &attr);
	pthread_mutexattr_destroy(&attr);
	pthread_cond_init(cond, NULL);
}

/* A waiter that has looked and is about to enter pthread_cond_wait() holds the
 * mutex and will let go of it at once.  One that holds it and is inside a call of
 * ours may wait for a lock that our caller has; it looks again before it sleeps,
 * so giving up after a moment loses nothing.
 */
void obj_wait_cond_wake(pthread_mutex_t *mutex, pthread_cond_t *cond)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += (long) MUTEX_PATIENCE_NS;
	if (until.tv_nsec >= (long) CLOCK_NS_PER_S) {
		until.tv_nsec -= (long) CLOCK_NS_PER_S;
		until.tv_sec++;
	}
	if (pthread_mutex_timedlock(mutex, &until)) {
		pthread_cond_broadcast(cond);
		return;
	}
	pthread_cond_broadcast(cond);
	pthread_mutex_unlock(mutex);
}

static bool has_fd(enum fi_wait_obj type)
{
	return type != FI_WAIT_NONE && type != FI_WAIT_YIELD;
}

int obj_wait_init(struct obj_wait *wait, enum fi_wait_obj type, struct fid_wait *set,
		  const struct fid *owner, obj_wait_ready_fn ready)
{
	int ret;

	if (type > FI_WAIT_POLLFD || (type == FI_WAIT_SET && !set))
		return -FI_EINVAL;
	wait->type = type;
	atomic_init(&wait->armed, false);
	wait->signalled = false;
	wait->appointed = 0;
	atomic_init(&wait->outside, false);
	wait->inside = 0;
	wait->evfd = -1;
	wait->epfd = -1;
	wait->seen = NULL;
	wait->seen_cnt = 0;
	wait->set = NULL;
	wait->set_ref.refs = NULL;
	wait->ready = ready;
	list_init(&wait->set_node);
	if (has_fd(type)) {
		wait->evfd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		if (wait->evfd < 0)
			return -errno;
	}
	pthread_mutex_init(&wait->lock, NULL);
	pthread_mutex_init(&wait->fd_lock, NULL);
	obj_wait_cond_init(&wait->mutex, &wait->cond);
	obj_spin_init(&wait->spin);
	obj_feed_init(&wait->feed);
	if (type == FI_WAIT_SET) {
		ret = obj_waitset_join(obj_waitset_of(set), wait, owner);
		if (ret) {
			obj_wait_fini(wait);
			return ret;
		}
	}
	return 0;
}

void obj_wait_fini(struct obj_wait *wait)
{
	if (wait->set)
		obj_waitset_leave(wait);
	obj_feed_fini(&wait->feed);
	pthread_cond_destroy(&wait->cond);
	pthread_mutex_destroy(&wait->mutex);
	pthread_mutex_destroy(&wait->fd_lock);
	pthread_mutex_destroy(&wait->lock);
	if (wait->epfd >= 0)
		close(wait->epfd);
	if (wait->evfd >= 0)
		close(wait->evfd);
	free(wait->seen);
}

/* Make the fd readable, if that was asked for or @force is set. */
static bool signal_fd(struct obj_wait *wait, bool force)
{
	bool wake;

	pthread_mutex_lock(&wait->lock);
	wake = force || atomic_load(&wait->armed);
	if (wake) {
		atomic_store(&wait->armed, false);
		if (!wait->signalled && wait->evfd >= 0)
			wait->signalled = eventfd_write(wait->evfd, 1) == 0;
	}
	pthread_mutex_unlock(&wait->lock);
	return wake;
}

static void wake_others(struct obj_wait *wait)
{
	if (wait->type == FI_WAIT_MUTEX_COND)
		obj_wait_cond_wake(&wait->mutex, &wait->cond);
	else if (wait->set)
		obj_waitset_wake(wait->set);
}

void obj_wait_wake(struct obj_wait *wait)
{
	if (signal_fd(wait, false))
		wake_others(wait);
}

void obj_wait_force(struct obj_wait *wait)
{
	signal_fd(wait, true);
	wake_others(wait);
}

/* arm - caller holds wait->lock.  The eventfd is drained before @armed is set: a writer that sees @armed
 * signals again.
 */
static void arm(struct obj_wait *wait)
{
	eventfd_t cnt;

	if (wait->signalled && !wait->appointed && eventfd_read(wait->evfd, &cnt) == 0)
		wait->signalled = false;
	atomic_store(&wait->armed, true);
}

void obj_wait_arm(struct obj_wait *wait)
{
	pthread_mutex_lock(&wait->lock);
	atomic_store(&wait->outside, true);
	arm(wait);
	pthread_mutex_unlock(&wait->lock);
}

void obj_wait_enter(struct obj_wait *wait)
{
	pthread_mutex_lock(&wait->lock);
	wait->inside++;
	arm(wait);
	pthread_mutex_unlock(&wait->lock);
}

void obj_wait_leave(struct obj_wait *wait)
{
	pthread_mutex_lock(&wait->lock);
	if (!--wait->inside && !atomic_load(&wait->outside))
		atomic_store(&wait->armed, false);
	pthread_mutex_unlock(&wait->lock);
}

static int make_epfd(struct obj_wait *wait)
{
	struct epoll_event ev = { .events = EPOLLIN };
	int fd, ret;

	if (wait->epfd >= 0)
		return 0;
	fd = epoll_create1(EPOLL_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (wait->evfd >= 0 && epoll_ctl(fd, EPOLL_CTL_ADD, wait->evfd, &ev)) {
		ret = -errno;
		close(fd);
		return ret;
	}
	wait->epfd = fd;
	return 0;
}

/* Have the groups' fds in epfd, those that came since the last time too. */
static int sync_groups(struct obj_wait *wait)
{
	unsigned i, cnt = atomic_load(&wait->feed.cnt);
	struct obj_prog **progs = atomic_load(&wait->feed.progs);
	unsigned *seen;
	int ret;

	if (cnt > wait->seen_cnt) {
		seen = realloc(wait->seen, cnt * sizeof(*seen));
		if (!seen)
			return -FI_ENOMEM;
		for (i = wait->seen_cnt; i < cnt; i++)
			seen[i] = 0;
		wait->seen = seen;
		wait->seen_cnt = cnt;
	}
	for (i = 0; i < cnt; i++) {
		ret = obj_prog_watch(progs[i], wait->epfd, &wait->seen[i]);
		if (ret)
			return ret;
	}
	return 0;
}

/* Made when it is first asked for: an object that is only read costs no descriptor. */
int obj_wait_fd(struct obj_wait *wait)
{
	int ret;

	pthread_mutex_lock(&wait->fd_lock);
	ret = make_epfd(wait);
	if (!ret)
		ret = sync_groups(wait);
	if (!ret)
		ret = wait->epfd;
	pthread_mutex_unlock(&wait->fd_lock);
	return ret;
}

int obj_wait_feed(struct obj_wait *wait, struct obj_prog *prog)
{
	int ret = obj_feed_add(&wait->feed, prog);

	/* Who sleeps on our fd does not have the new group's yet: have it look again. */
	if (!ret && atomic_load(&wait->armed))
		obj_wait_force(wait);
	return ret;
}

/* True: a group has something to do already, so no thread may sleep.  Those before it stay armed. */
bool obj_wait_arm_groups(struct obj_wait *wait)
{
	unsigned i, cnt = atomic_load(&wait->feed.cnt);
	struct obj_prog **progs = atomic_load(&wait->feed.progs);

	for (i = 0; i < cnt; i++) {
		if (atomic_load(&wait->outside))
			atomic_store_explicit(&progs[i]->shown, true, memory_order_relaxed);
		if (obj_prog_arm(progs[i]))
			return true;
	}
	return false;
}

int obj_wait_try(struct obj_wait *wait)
{
	unsigned i, cnt;
	struct obj_prog **progs;
	int fd;

	if (wait->type == FI_WAIT_NONE)
		return -FI_EINVAL;
	obj_feed_poll(&wait->feed);
	if (wait->type == FI_WAIT_YIELD)
		return wait->ready(wait, NULL) ? -FI_EAGAIN : 0;
	fd = obj_wait_fd(wait);
	if (fd < 0)
		return fd;
	obj_wait_arm(wait);
	if (wait->ready(wait, NULL) || obj_wait_arm_groups(wait))
		return -FI_EAGAIN;
	cnt = atomic_load(&wait->feed.cnt);
	progs = atomic_load(&wait->feed.progs);
	for (i = 0; i < cnt; i++)
		atomic_store_explicit(&progs[i]->waiting, true, memory_order_relaxed);
	return 0;
}

int obj_wait_get(enum fi_wait_obj type, int fd, pthread_mutex_t *mutex, pthread_cond_t *cond,
		 void *arg)
{
	struct fi_mutex_cond *pair = arg;
	struct fi_wait_pollfd *list = arg;
	size_t room;

	switch (type) {
	case FI_WAIT_FD:
	case FI_WAIT_UNSPEC:
		*(int *) arg = fd;
		return 0;
	case FI_WAIT_MUTEX_COND:
		pair->mutex = mutex;
		pair->cond = cond;
		return 0;
	case FI_WAIT_POLLFD:
		/* One fd that never changes, so its index does not either. */
		room = list->nfds;
		list->change_index = 1;
		list->nfds = 1;
		if (room < 1)
			return -FI_ETOOSMALL;
		list->fd[0].fd = fd;
		list->fd[0].events = POLLIN;
		list->fd[0].revents = 0;
		return 0;
	default:
		return -FI_ENODATA;
	}
}

int obj_wait_control(struct obj_wait *wait, int cmd, void *arg)
{
	int fd = -1;

	switch (cmd) {
	case FI_GETWAIT:
		if (!arg)
			return -FI_EINVAL;
		if (has_fd(wait->type)) {
			fd = obj_wait_fd(wait);
			if (fd < 0)
				return fd;
		}
		return obj_wait_get(wait->type, fd, &wait->mutex, &wait->cond, arg);
	case FI_GETWAITOBJ:
		if (!arg)
			return -FI_EINVAL;
		*(enum fi_wait_obj *) arg = wait->type;
		return 0;
	default:
		return -FI_ENOSYS;
	}
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

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "progress/wait.h"

#include <errno.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "progress/fdset.h"

/* How often a waker tries to get the mutex of a FI_WAIT_MUTEX_COND object. */
#define MUTEX_NAP_NS (50 * 1000)	/* between two tries */
#define MUTEX_TRIES 100
#define MUTEX_TRIES_PASSED 10000

/* The program may hold the mutex while it calls us, hence recursive. */
static void init_pair(struct obj_wait_pair *pair)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&pair->mutex, &attr);
	pthread_mutexattr_destroy(&attr);
	pthread_cond_init(&pair->cond, NULL);
	atomic_init(&pair->passed, 0);
}

static void fini_pair(struct obj_wait_pair *pair)
{
	pthread_cond_destroy(&pair->cond);
	pthread_mutex_destroy(&pair->mutex);
}

/* wake_pair - a waiter that has passed fi_trywait() and is about to enter pthread_cond_wait() holds the mutex and lets
 * go of it at once, when it runs: it is waited for until a thread that can run has run, which is counted in sleeps of
 * this one, not by a clock.  One that holds the mutex and is inside a call of ours may wait for a lock that our
 * caller has: it says so (obj_wait_called()), and fi_trywait() sees at its end that there was a signal, so giving
 * up after a moment loses nothing.
 */
static void wake_pair(struct obj_wait_pair *pair)
{
	const struct timespec nap = { .tv_nsec = MUTEX_NAP_NS };
	unsigned tries = 0;
	bool got;

	while (!(got = !pthread_mutex_trylock(&pair->mutex)) &&
	       ++tries < (atomic_load(&pair->passed) ? MUTEX_TRIES_PASSED : MUTEX_TRIES))
		nanosleep(&nap, NULL);
	atomic_store(&pair->passed, 0);
	pthread_cond_broadcast(&pair->cond);
	if (got)
		pthread_mutex_unlock(&pair->mutex);
}

void obj_wait_unpass(struct obj_wait *wait)
{
	_Atomic uintptr_t *passed = wait->set ? &wait->set->pair.passed : &wait->pair.passed;

	if (atomic_load_explicit(passed, memory_order_relaxed) == lock_thread())
		atomic_store(passed, 0);
}

/* ---- kinds ------------------------------------------------------------------------------ */

static int get_none(int fd, struct obj_wait_pair *pair, void *arg)
{
	return -FI_ENODATA;
}

static int get_fd(int fd, struct obj_wait_pair *pair, void *arg)
{
	*(int *) arg = fd;
	return 0;
}

static int get_pair(int fd, struct obj_wait_pair *pair, void *arg)
{
	struct fi_mutex_cond *out = arg;

	out->mutex = &pair->mutex;
	out->cond = &pair->cond;
	return 0;
}

/* One fd that never changes, so its index does not either. */
static int get_pollfd(int fd, struct obj_wait_pair *pair, void *arg)
{
	struct fi_wait_pollfd *list = arg;
	size_t room = list->nfds;

	list->change_index = 1;
	list->nfds = 1;
	if (room < 1)
		return -FI_ETOOSMALL;
	list->fd[0] = (struct pollfd) { .fd = fd, .events = POLLIN };
	return 0;
}

static int try_none(struct obj_wait *wait)
{
	return -FI_EINVAL;
}

static int try_yield(struct obj_wait *wait)
{
	return 0;
}

static int try_fd(struct obj_wait *wait);

static void wake_none(struct obj_wait *wait)
{
}

static void wake_cond(struct obj_wait *wait)
{
	wake_pair(&wait->pair);
}

static const struct obj_wait_kind kinds[] = {
	[FI_WAIT_NONE] = { get_none, try_none, wake_none, .blocks = false },
	[FI_WAIT_UNSPEC] = { get_fd, try_fd, wake_none, .blocks = true, .has_fd = true, .of_sets = true },
	[FI_WAIT_SET] = { get_none, try_none, wake_none, .blocks = false },
	[FI_WAIT_FD] = { get_fd, try_fd, wake_none, .blocks = true, .has_fd = true, .of_sets = true },
	[FI_WAIT_MUTEX_COND] = { get_pair, try_fd, wake_cond, .blocks = true, .has_fd = true, .of_sets = true },
	[FI_WAIT_YIELD] = { get_none, try_yield, wake_none, .blocks = true, .of_sets = true, .yields = true },
	[FI_WAIT_POLLFD] = { get_pollfd, try_fd, wake_none, .blocks = true, .has_fd = true, .of_sets = true },
};

const struct obj_wait_kind *obj_wait_kind_of(enum fi_wait_obj type, bool set)
{
	if ((size_t) type >= sizeof(kinds) / sizeof(*kinds) || (set && !kinds[type].of_sets))
		return NULL;
	return &kinds[type];
}

/* ---- one object ------------------------------------------------------------------------- */

int obj_wait_init(struct obj_wait *wait, enum fi_wait_obj type, obj_wait_ready_fn ready)
{
	int side;

	wait->type = type;
	wait->paired = type == FI_WAIT_MUTEX_COND || type == FI_WAIT_SET;
	wait->kind = obj_wait_kind_of(type, false);
	if (!wait->kind)
		return -FI_EINVAL;
	memset(&wait->wake, 0, sizeof(wait->wake));
	for (side = 0; side < OBJ_WAKE_SIDES; side++)
		wait->set_fd[side] = -1;
	wait->set = NULL;
	wait->ready = ready;
	list_init(&wait->set_node);
	wait->is_set = false;
	wait->in_set = 0;
	list_init(&wait->members);
	pthread_mutex_init(&wait->members_lock, NULL);
	obj_waker_init(&wait->waker, &wait->wake);
	pthread_mutex_init(&wait->fd_lock, NULL);
	init_pair(&wait->pair);
	obj_feed_init(&wait->feed);
	return 0;
}

void obj_wait_fini(struct obj_wait *wait)
{
	int side;

	obj_feed_fini(&wait->feed);
	fini_pair(&wait->pair);
	pthread_mutex_destroy(&wait->members_lock);
	pthread_mutex_destroy(&wait->fd_lock);
	obj_waker_fini(&wait->waker);
	for (side = 0; side < OBJ_WAKE_SIDES; side++)
		fdset_close(wait->set_fd[side]);
}

void obj_wait_wake(struct obj_wait *wait)
{
	if (wait->set)
		obj_wait_signal(wait->set);
	else if (obj_waker_signal(&wait->waker, false))
		wait->kind->wake(wait);
}

void obj_wait_force(struct obj_wait *wait)
{
	if (wait->set)
		wait = wait->set;
	obj_waker_signal(&wait->waker, true);
	wait->kind->wake(wait);
}

/* open_set - with the eventfd of @side in it, unless a set is signalled instead. */
static int open_set(struct obj_wait *wait, enum obj_wake_side side)
{
	int evfd = wait->set ? -1 : obj_waker_fd(&wait->waker, side);
	int fd, ret = 0;

	if (evfd < 0 && !wait->set)
		return evfd;
	fd = fdset_open();
	if (fd < 0)
		return fd;
	if (evfd >= 0)
		ret = fdset_add(fd, evfd, POLLIN, NULL);
	if (ret)
		fdset_close(fd);
	else
		wait->set_fd[side] = fd;
	return ret;
}

/* Have the groups' fds in set_fd, those that came since the last time too. */
static int sync_groups(struct obj_wait *wait, enum obj_wake_side side)
{
	struct obj_source *source;
	int ret = 0;

	for (source = obj_feed_newest(&wait->feed); source && !ret; source = source->older)
		ret = obj_prog_watch(source->prog, wait->set_fd[side], &source->seen[side]);
	return ret;
}

/* sync_members - the same for the descriptors of a set's members, with their groups. */
static int sync_members(struct obj_wait *set, enum obj_wake_side side)
{
	struct obj_wait *wait;
	int fd, ret = 0;

	pthread_mutex_lock(&set->members_lock);
	list_for_each_entry(wait, &set->members, set_node) {
		fd = obj_wait_fd(wait, OBJ_WAKE_OUT);
		ret = fd < 0 ? fd : wait->in_set >> side & 1 ? 0 : fdset_add(set->set_fd[side], fd, POLLIN, NULL);
		if (ret)
			break;
		wait->in_set |= (uint8_t) (1u << side);
	}
	pthread_mutex_unlock(&set->members_lock);
	return ret;
}

/* Made when it is first asked for: an object that is only read costs no descriptor. */
int obj_wait_fd(struct obj_wait *wait, enum obj_wake_side side)
{
	int ret = 0;

	pthread_mutex_lock(&wait->fd_lock);
	if (wait->set_fd[side] < 0)
		ret = open_set(wait, side);
	if (!ret)
		ret = wait->is_set ? sync_members(wait, side) : sync_groups(wait, side);
	if (!ret)
		ret = wait->set_fd[side];
	pthread_mutex_unlock(&wait->fd_lock);
	return ret;
}

int obj_wait_feed(struct obj_wait *wait, struct obj_prog *prog)
{
	int ret = obj_feed_add(&wait->feed, prog);

	/* Who sleeps on our fd does not have the new group's yet: have it look again. */
	if (!ret && atomic_load(&wait->wake.armed))
		obj_wait_force(wait);
	return ret;
}

void obj_wait_join(struct obj_wait *wait, struct obj_wait *set)
{
	wait->set = set;
	atomic_store(&wait->wake.armed, true);
	pthread_mutex_lock(&set->members_lock);
	list_add_tail(&wait->set_node, &set->members);
	pthread_mutex_unlock(&set->members_lock);
}

void obj_wait_leave(struct obj_wait *wait)
{
	struct obj_wait *set = wait->set;
	unsigned side;

	pthread_mutex_lock(&set->members_lock);
	list_del(&wait->set_node);
	for (side = 0; side < OBJ_WAKE_SIDES; side++)
		if (wait->in_set >> side & 1)
			fdset_remove(set->set_fd[side], wait->set_fd[OBJ_WAKE_OUT]);
	pthread_mutex_unlock(&set->members_lock);
}

int obj_wait_poll_members(struct obj_wait *set)
{
	struct obj_wait *wait;
	int done = 0;

	pthread_mutex_lock(&set->members_lock);
	list_for_each_entry(wait, &set->members, set_node)
		done += obj_feed_poll(&wait->feed);
	pthread_mutex_unlock(&set->members_lock);
	return done;
}

static bool feed_arm(struct obj_feed *feed, bool outside)
{
	struct obj_source *source;

	for (source = obj_feed_newest(feed); source; source = source->older) {
		if (outside)
			obj_prog_set_state(source->prog, OBJ_PROG_INSIDE, OBJ_PROG_SHOWN);
		if (obj_prog_arm(source->prog))
			return true;
	}
	return false;
}

/* True: a group has something to do already, so no thread may sleep.  Those before it stay armed. */
bool obj_wait_arm_groups(struct obj_wait *wait, bool outside)
{
	struct obj_wait *member;
	bool work = false;

	if (!wait->is_set)
		return feed_arm(&wait->feed, outside);
	pthread_mutex_lock(&wait->members_lock);
	list_for_each_entry(member, &wait->members, set_node)
		work = work || feed_arm(&member->feed, true);
	pthread_mutex_unlock(&wait->members_lock);
	return work;
}

/* groups_pass - the program is about to sleep outside. */
static void groups_pass(struct obj_wait *wait)
{
	struct obj_source *source;

	for (source = obj_feed_newest(&wait->feed); source; source = source->older)
		obj_prog_set_state(source->prog, OBJ_PROG_SHOWN, OBJ_PROG_WAITING);
}

static int try_fd(struct obj_wait *wait)
{
	int fd = obj_wait_fd(wait, OBJ_WAKE_OUT);
	unsigned round;

	if (fd < 0)
		return fd;
	round = obj_waker_show(&wait->waker);
	if (wait->ready(wait, NULL)) {
		obj_wait_force(wait);
		return -FI_EAGAIN;
	}
	if (obj_wait_arm_groups(wait, true))
		return -FI_EAGAIN;
	groups_pass(wait);
	fdset_settle(fd);
	atomic_store(&wait->pair.passed, lock_thread());
	/* The signal may have given up waiting for this thread: see wake_pair(). */
	return obj_waker_round(&wait->waker) != round ? -FI_EAGAIN : 0;
}

/* What is there already takes no wake-up from other threads: the descriptor is left as it is.  What came while
 * it was cleared gives them their wake-up back.
 */
int obj_wait_try(struct obj_wait *wait)
{
	obj_wait_called(wait);
	obj_wait_poll(wait);
	if (wait->type != FI_WAIT_NONE && wait->ready(wait, NULL))
		return -FI_EAGAIN;
	return wait->kind->try(wait);
}

int obj_wait_control(struct obj_wait *wait, int cmd, void *arg)
{
	int fd = -1;

	switch (cmd) {
	case FI_GETWAIT:
		if (!arg)
			return -FI_EINVAL;
		if (wait->kind->has_fd) {
			fd = obj_wait_fd(wait, OBJ_WAKE_OUT);
			if (fd < 0)
				return fd;
		}
		return wait->kind->get(fd, &wait->pair, arg);
	case FI_GETWAITOBJ:
		if (!arg)
			return -FI_EINVAL;
		*(enum fi_wait_obj *) arg = wait->type;
		return 0;
	default:
		return -FI_ENOSYS;
	}
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "mr/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/fi_errno.h>
#include <rdma/providers/fi_log.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif

#define EVENTS (UFFD_FEATURE_EVENT_UNMAP | UFFD_FEATURE_EVENT_REMAP | UFFD_FEATURE_EVENT_REMOVE)
#define BATCH 16

/*
 * A thread that unmaps what is watched waits until ours has read of it, which takes @lock.
 * So nothing is allocated or freed under it, by anybody: that may unmap.
 */
static struct {
	pthread_mutex_t start;		/* guards what follows; not held when memory may change */
	unsigned users;
	pthread_t thread;
	int stop;			/* eventfd */

	pthread_mutex_t lock;		/* guards what follows */
	int fd;				/* -1: nothing is watched */
	struct list ranges;
	_Atomic unsigned changes;
} w = {
	.start = PTHREAD_MUTEX_INITIALIZER, .lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1,
	.ranges = { &w.ranges, &w.ranges },
};

/* ---- events ------------------------------------------------------------------------- */

static void on_change(uint64_t start, uint64_t end)
{
	struct mr_range *range;
	struct list *pos;

	list_for_each(pos, &w.ranges) {
		range = container_of(pos, struct mr_range, node);
		if (range->start < end && range->end > start)
			range->gone = true;
	}
	atomic_fetch_add(&w.changes, 1);
}

static void on_event(const struct uffd_msg *msg)
{
	switch (msg->event) {
	case UFFD_EVENT_UNMAP:
	case UFFD_EVENT_REMOVE:
		on_change(msg->arg.remove.start, msg->arg.remove.end);
		break;
	case UFFD_EVENT_REMAP:
		on_change(msg->arg.remap.from, msg->arg.remap.from + msg->arg.remap.len);
		break;
	}
}

/* Whoever changes memory goes on as soon as it is read, and may ask at once: whoever answers
 * waits for the lock until it is noted.
 */
static void drain(void)
{
	struct uffd_msg msg[BATCH];
	ssize_t i, len;

	pthread_mutex_lock(&w.lock);
	while ((len = read(w.fd, msg, sizeof(msg))) > 0)
		for (i = 0; i < len / (ssize_t) sizeof(msg[0]); i++)
			on_event(&msg[i]);
	pthread_mutex_unlock(&w.lock);
}

static void *listen_for(void *arg)
{
	struct pollfd fds[] = {
		{ .fd = w.fd, .events = POLLIN },
		{ .fd = w.stop, .events = POLLIN },
	};

	while (poll(fds, 2, -1) >= 0 || errno == EINTR) {
		if (fds[1].revents)
			break;
		drain();
	}
	return NULL;
}

/* ---- start and end --------------------------------------------------------------------- */

/* A forked child finds the list whole. */
static void before_fork(void)
{
	pthread_mutex_lock(&w.start);
	pthread_mutex_lock(&w.lock);
}

static void in_parent(void)
{
	pthread_mutex_unlock(&w.lock);
	pthread_mutex_unlock(&w.start);
}

/* The child has neither the thread nor, by what the kernel does, anything that is watched;
 * the descriptor would be the parent's memory.
 */
static void in_child(void)
{
	if (w.fd >= 0)
		close(w.fd);
	w.fd = -1;
	in_parent();
}

static int open_uffd(void)
{
	struct uffdio_api api = { .api = UFFD_API, .features = EVENTS };
	int fd = (int) syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY);

	if (fd < 0 && errno == EINVAL)	/* a kernel that does not know the flag */
		fd = (int) syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -FI_ENOSYS;
	if (!ioctl(fd, UFFDIO_API, &api) && (api.features & EVENTS) == EVENTS)
		return fd;
	close(fd);
	return -FI_ENOSYS;
}

/* No signal of the program's is delivered to the thread. */
static int start_thread(void)
{
	sigset_t all, old;
	int ret;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ret = pthread_create(&w.thread, NULL, listen_for, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return -ret;
}

static int start(void)
{
	static bool once;
	int ret = open_uffd();

	if (ret < 0)
		return ret;
	if (!once)
		pthread_atfork(before_fork, in_parent, in_child);
	once = true;
	w.fd = ret;
	w.stop = eventfd(0, EFD_CLOEXEC);
	ret = w.stop < 0 ? -errno : start_thread();
	if (!ret)
		return 0;
	if (w.stop >= 0)
		close(w.stop);
	close(w.fd);
	w.fd = -1;
	return ret;
}

int mr_watch_get(const struct fi_provider *prov)
{
	int ret;

	pthread_mutex_lock(&w.start);
	ret = w.users ? 0 : start();
	w.users += !ret;
	pthread_mutex_unlock(&w.start);
	if (ret)
		FI_INFO(prov, FI_LOG_MR, "memory cannot be watched by userfaultfd (%s): registrations "
			"are not kept. A kernel of 5.7 or later can; see "
			"/proc/sys/vm/unprivileged_userfaultfd\n", fi_strerror(-ret));
	return ret;
}

void mr_watch_put(void)
{
	pthread_mutex_lock(&w.start);
	if (!--w.users && w.fd >= 0) {
		eventfd_write(w.stop, 1);
		pthread_join(w.thread, NULL);
		close(w.stop);
		close(w.fd);
		w.fd = -1;
	}
	pthread_mutex_unlock(&w.start);
}

/* ---- ranges ------------------------------------------------------------------------------ */

/* For write-protection, which nobody asks for: a kind of watching without faults. */
static int watch_pages(const struct mr_range *range)
{
	struct uffdio_register reg = {
		.range = { range->start, range->end - range->start },
		.mode = UFFDIO_REGISTER_MODE_WP,
	};

	if (w.fd < 0)
		return -FI_ENOSYS;
	return ioctl(w.fd, UFFDIO_REGISTER, &reg) ? -FI_EOPNOTSUPP : 0;
}

int mr_watch_add(struct mr_range *range, const void *addr, size_t len)
{
	uintptr_t page = (uintptr_t) sysconf(_SC_PAGESIZE);
	int ret;

	range->start = (uintptr_t) addr & ~(page - 1);
	range->end = ((uintptr_t) addr + len + page - 1) & ~(page - 1);
	range->gone = false;
	pthread_mutex_lock(&w.lock);
	ret = watch_pages(range);
	if (!ret)
		list_add_tail(&range->node, &w.ranges);
	pthread_mutex_unlock(&w.lock);
	return ret;
}

static bool shares_pages(const struct mr_range *range)
{
	const struct mr_range *other;
	struct list *pos;

	list_for_each(pos, &w.ranges) {
		other = container_of(pos, struct mr_range, node);
		if (other->start < range->end && other->end > range->start)
			return true;
	}
	return false;
}

/* Pages that others watch, too, stay as they are; so do those of a range that is gone, where
 * something else may be by now.
 */
void mr_watch_del(struct mr_range *range)
{
	struct uffdio_range pages = { range->start, range->end - range->start };

	pthread_mutex_lock(&w.lock);
	list_del(&range->node);
	if (w.fd >= 0 && !range->gone && !shares_pages(range))
		ioctl(w.fd, UFFDIO_UNREGISTER, &pages);
	pthread_mutex_unlock(&w.lock);
}

bool mr_watch_gone(const struct mr_range *range)
{
	bool gone;

	pthread_mutex_lock(&w.lock);
	gone = range->gone || w.fd < 0;
	pthread_mutex_unlock(&w.lock);
	return gone;
}

unsigned mr_watch_changes(void)
{
	return atomic_load(&w.changes);
}

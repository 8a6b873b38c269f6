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
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/os/event.h"
#include "base/thread.h"
#include "mr/imported.h"

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif

#define EVENTS (UFFD_FEATURE_EVENT_UNMAP | UFFD_FEATURE_EVENT_REMAP | UFFD_FEATURE_EVENT_REMOVE)
#define BATCH 16

/*
 * A thread that unmaps watched memory is blocked by the kernel until our thread has read the
 * event, which takes @lock; or the thread itself takes @lock (imported monitor).  So no thread
 * may allocate or free memory while it holds @lock: that may unmap, and deadlock.
 */
static struct {
	pthread_mutex_t start;		/* protects the following members; not needed to report a
					 * change */
	unsigned users;
	unsigned listeners;		/* users of the imported monitor */
	pthread_t thread;
	struct os_event stop;

	pthread_mutex_t lock;		/* protects the following members */
	int fd;				/* -1: userfaultfd is not in use */
	bool child;			/* in a forked child nothing is watched */
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

	list_for_each_entry(range, &w.ranges, node)
		if (range->start < end && range->end > start)
			range->gone = true;
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

/* The kernel resumes the unmapping thread as soon as the event has been read, and that thread
 * may query at once.  Reading and recording the event is one step under @lock, so a query waits
 * until it has been recorded.
 */
static void drain_events(void)
{
	struct uffd_msg msg[BATCH];
	ssize_t i, len;

	pthread_mutex_lock(&w.lock);
	while ((len = read(w.fd, msg, sizeof(msg))) > 0)
		for (i = 0; i < len / (ssize_t) sizeof(msg[0]); i++)
			on_event(&msg[i]);
	pthread_mutex_unlock(&w.lock);
}

/* A notification of the program: any range of bytes, rounded to whole pages, or all memory. */
static void on_notify(const void *addr, size_t len)
{
	uintptr_t page = (uintptr_t) sysconf(_SC_PAGESIZE), start = (uintptr_t) addr, end;

	if (!len)
		return;
	if (__builtin_add_overflow(start, len, &end) || end > UINTPTR_MAX - page)
		end = UINTPTR_MAX - page;
	pthread_mutex_lock(&w.lock);
	on_change(start & ~(page - 1), (end + page - 1) & ~(page - 1));
	pthread_mutex_unlock(&w.lock);
}

static void *listen_for(void *arg)
{
	struct pollfd fds[] = {
		{ .fd = w.fd, .events = POLLIN },
		{ .fd = w.stop.fd, .events = POLLIN },
	};

	while (poll(fds, 2, -1) >= 0 || errno == EINTR) {
		if (fds[1].revents)
			break;
		drain_events();
	}
	return NULL;
}

/* ---- starting and stopping --------------------------------------------------------------- */

/* The locks are held across fork(), so that the child's list is consistent. */
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

/* The child has no thread, the kernel watches nothing for it, and the descriptor refers to the
 * parent's memory.  An imported monitor may be in any state.
 */
static void in_child(void)
{
	if (w.fd >= 0)
		close(w.fd);
	w.fd = -1;
	w.child = true;
	on_change(0, UINTPTR_MAX);
	in_parent();
}

/* fork() handlers for preparation run in reverse order: ours are registered after the core's,
 * so our locks are taken first.
 */
static void watch_init(void)
{
	mr_imported_init();
	pthread_atfork(before_fork, in_parent, in_child);
}

static int open_uffd(void)
{
	struct uffdio_api api = { .api = UFFD_API, .features = EVENTS };
	int fd = (int) syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY);

	if (fd < 0 && errno == EINVAL)	/* older kernels do not know the flag */
		fd = (int) syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -FI_ENOSYS;
	if (!ioctl(fd, UFFDIO_API, &api) && (api.features & EVENTS) == EVENTS)
		return fd;
	close(fd);
	return -FI_ENOSYS;
}

static int watch_start(void)
{
	int ret = open_uffd();

	if (ret < 0)
		return ret;
	w.fd = ret;
	ret = os_event_open(&w.stop);
	if (!ret)
		ret = thread_start(&w.thread, listen_for, NULL);
	if (!ret)
		return 0;
	os_event_close(&w.stop);
	close(w.fd);
	w.fd = -1;
	return ret;
}

static int get_kernel(const struct fi_provider *prov)
{
	int ret;

	pthread_mutex_lock(&w.start);
	ret = w.users ? 0 : watch_start();
	w.users += !ret;
	pthread_mutex_unlock(&w.start);
	if (ret)
		FI_INFO(prov, FI_LOG_MR, "userfaultfd is not available (%s): registrations "
			"are not cached. It needs Linux 5.7 or later; see "
			"/proc/sys/vm/unprivileged_userfaultfd\n", fi_strerror(-ret));
	return ret;
}

static void put_kernel(void)
{
	pthread_mutex_lock(&w.start);
	if (!--w.users && w.fd >= 0) {
		os_event_signal(&w.stop);
		pthread_join(w.thread, NULL);
		os_event_close(&w.stop);
		close(w.fd);
		w.fd = -1;
	}
	pthread_mutex_unlock(&w.start);
}

static int get_program(const struct fi_provider *prov)
{
	int ret;

	pthread_mutex_lock(&w.start);
	if (w.listeners)
		ret = mr_imported_any() ? 0 : -FI_ENOSYS;
	else
		ret = mr_imported_start(on_notify);
	w.listeners += !ret;
	pthread_mutex_unlock(&w.start);
	if (!ret)
		FI_INFO(prov, FI_LOG_MR, "registrations are cached, watched by the memory monitor "
			"of the program\n");
	return ret;
}

static void put_program(void)
{
	pthread_mutex_lock(&w.start);
	if (!--w.listeners)
		mr_imported_stop(on_notify);
	pthread_mutex_unlock(&w.start);
}

int mr_watch_get(enum mr_watch_by by, const struct fi_provider *prov)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, watch_init);
	return by == MR_BY_PROGRAM ? get_program(prov) : get_kernel(prov);
}

void mr_watch_put(enum mr_watch_by by)
{
	if (by == MR_BY_PROGRAM)
		put_program();
	else
		put_kernel();
}

/* ---- ranges ------------------------------------------------------------------------------ */

/* Registers the range for write-protection but never protects a page: only the unmap, remap and
 * remove events are wanted, and no access faults.
 */
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

static int add_kernel(struct mr_range *range)
{
	int ret;

	pthread_mutex_lock(&w.lock);
	ret = watch_pages(range);
	if (!ret)
		list_add_tail(&range->node, &w.ranges);
	pthread_mutex_unlock(&w.lock);
	return ret;
}

static void range_forget(struct mr_range *range)
{
	pthread_mutex_lock(&w.lock);
	list_del(&range->node);
	pthread_mutex_unlock(&w.lock);
}

/* Listed before it subscribes: notifications count from the subscription on. */
static int add_program(struct mr_range *range)
{
	bool child;
	int ret;

	pthread_mutex_lock(&w.lock);
	child = w.child;
	if (!child)
		list_add_tail(&range->node, &w.ranges);
	pthread_mutex_unlock(&w.lock);
	if (child)
		return -FI_ENOSYS;
	ret = mr_imported_subscribe((void *) range->start, range->end - range->start,
				    &range->life);
	if (ret)
		range_forget(range);
	return ret;
}

int mr_watch_add(struct mr_range *range, enum mr_watch_by by, const void *addr, size_t len)
{
	uintptr_t page = (uintptr_t) sysconf(_SC_PAGESIZE);

	range->start = (uintptr_t) addr & ~(page - 1);
	range->end = ((uintptr_t) addr + len + page - 1) & ~(page - 1);
	range->by = by;
	range->gone = false;
	return by == MR_BY_PROGRAM ? add_program(range) : add_kernel(range);
}

static bool shares_pages(const struct mr_range *range)
{
	const struct mr_range *other;

	list_for_each_entry(other, &w.ranges, node)
		if (other->by == range->by && other->start < range->end &&
		    other->end > range->start)
			return true;
	return false;
}

/* Pages that another range has in common stay registered.  So do those of a range that is gone,
 * because other memory may be mapped there.
 */
static void del_kernel(struct mr_range *range)
{
	struct uffdio_range pages = { range->start, range->end - range->start };

	pthread_mutex_lock(&w.lock);
	list_del(&range->node);
	if (w.fd >= 0 && !range->gone && !shares_pages(range))
		ioctl(w.fd, UFFDIO_UNREGISTER, &pages);
	pthread_mutex_unlock(&w.lock);
}

static void del_program(struct mr_range *range)
{
	bool child;

	range_forget(range);
	child = w.child;	/* changes in fork() only */
	if (!child)
		mr_imported_unsubscribe((void *) range->start, range->end - range->start,
					range->life);
}

void mr_watch_del(struct mr_range *range)
{
	if (range->by == MR_BY_PROGRAM)
		del_program(range);
	else
		del_kernel(range);
}

/* Once invalid, a range stays invalid, even if the monitor later says otherwise. */
static bool is_invalid(struct mr_range *range)
{
	if (mr_imported_valid((void *) range->start, range->end - range->start, range->life))
		return false;
	pthread_mutex_lock(&w.lock);
	range->gone = true;
	pthread_mutex_unlock(&w.lock);
	return true;
}

bool mr_watch_gone(struct mr_range *range)
{
	bool gone;

	pthread_mutex_lock(&w.lock);
	gone = range->gone || (range->by == MR_BY_KERNEL && w.fd < 0);
	pthread_mutex_unlock(&w.lock);
	return gone || (range->by == MR_BY_PROGRAM && is_invalid(range));
}

/* From before the memory changes until its event was read, the kernel refuses operations with EAGAIN, before
 * it looks at what they are given: here no pages, which it refuses in any case.
 */
bool mr_watch_unsure(const struct mr_range *range)
{
	struct uffdio_writeprotect none = { .range = { 0, 0 } };

	return range->by == MR_BY_KERNEL && ioctl(w.fd, UFFDIO_WRITEPROTECT, &none) && errno == EAGAIN;
}

unsigned mr_watch_changes(void)
{
	return atomic_load(&w.changes);
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* fdset.c - sets of descriptors by epoll. */
#include "progress/fdset.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

_Static_assert((int) EPOLLIN == POLLIN && (int) EPOLLOUT == POLLOUT && (int) EPOLLERR == POLLERR &&
	       (int) EPOLLHUP == POLLHUP && (int) EPOLLRDHUP == POLLRDHUP && (uint32_t) EPOLLONESHOT == FDSET_ONCE,
	       "events need no translation");

int fdset_open(void)
{
	int set = epoll_create1(EPOLL_CLOEXEC);

	return set < 0 ? -errno : set;
}

void fdset_close(int set)
{
	if (set >= 0)
		close(set);
}

static int epoll_control(int set, int op, int fd, uint32_t events, void *ptr)
{
	struct epoll_event ev = { .events = events, .data.ptr = ptr };

	return epoll_ctl(set, op, fd, &ev) ? -errno : 0;
}

int fdset_add(int set, int fd, uint32_t events, void *ptr)
{
	return epoll_control(set, EPOLL_CTL_ADD, fd, events, ptr);
}

int fdset_change(int set, int fd, uint32_t events, void *ptr)
{
	return epoll_control(set, EPOLL_CTL_MOD, fd, events, ptr);
}

void fdset_remove(int set, int fd)
{
	epoll_control(set, EPOLL_CTL_DEL, fd, 0, NULL);
}

static unsigned limit_events(unsigned max)
{
	return max < FDSET_EVENTS_MAX ? max : FDSET_EVENTS_MAX;
}

static int copy_events(const struct epoll_event *from, int cnt, struct fdset_event *ev)
{
	int i;

	for (i = 0; i < cnt; i++) {
		ev[i].ptr = from[i].data.ptr;
		ev[i].events = from[i].events;
	}
	return cnt < 0 ? -errno : cnt;
}

/* The system call itself: epoll_wait() is a cancellation point, and a cancelled thread would end with the
 * caller's locks held.
 */
int fdset_look(int set, struct fdset_event *ev, unsigned max)
{
	struct epoll_event got[FDSET_EVENTS_MAX];

	return copy_events(got, (int) syscall(SYS_epoll_pwait, set, got, limit_events(max), 0, NULL, 0), ev);
}

int fdset_wait(int set, struct fdset_event *ev, unsigned max, int ms)
{
	struct epoll_event got[FDSET_EVENTS_MAX];

	return copy_events(got, epoll_wait(set, got, (int) limit_events(max), ms), ev);
}

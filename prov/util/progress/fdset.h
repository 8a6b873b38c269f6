/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * fdset.h - sets of descriptors: which of many are ready, and one descriptor that is readable while any is.
 *
 * A set is named by its descriptor, which a thread may sleep on as on any other, and which may be a member of
 * another set.  What FI_GETWAIT gives is the descriptor of a set.  Readiness is level-triggered.
 *
 * fdset.c makes sets by epoll.  fdset_poll.c (--enable-portable) makes them by poll() and a thread, for systems
 * that have no epoll and as a check of what callers rely on: there the descriptor of a set follows its members when
 * they become ready, and is brought up to date by fdset_look(), fdset_wait() and fdset_settle() when they no longer
 * are.  So a thread that is about to sleep on the descriptor by other means calls fdset_settle() last.
 *
 * Threading: any.  Events are those of poll(): POLLIN, POLLOUT, POLLRDHUP; POLLERR and POLLHUP are always reported.
 */
#ifndef PROGRESS_FDSET_H
#define PROGRESS_FDSET_H

#include <poll.h>
#include <stdint.h>

#define FDSET_ONCE (1u << 30)	/* among the events of a member: off after one report, until fdset_change() */
#define FDSET_EVENTS_MAX 64	/* in one call */

struct fdset_event {
	void *ptr;		/* what the member was added with */
	uint32_t events;
};

/* fdset_open - an empty set.  Returns its descriptor, or -FI_EMFILE, -FI_ENFILE, -FI_ENOMEM.
 * fdset_close - of no use to any thread any more; -1: nothing.
 */
int fdset_open(void);
void fdset_close(int set);

/* fdset_add - report @events of @fd, with @ptr.  Errors: -FI_ENOMEM; -EBADF; -EEXIST it is a member.
 * fdset_change - of a member.  Errors: -ENOENT it is none.
 * fdset_remove - @fd is not a member from now on.  Nothing if it is none.
 *
 * A thread that sleeps on the set, or on its descriptor, notices.
 */
int fdset_add(int set, int fd, uint32_t events, void *ptr);
int fdset_change(int set, int fd, uint32_t events, void *ptr);
void fdset_remove(int set, int fd);

/* fdset_look - which members are ready now?  Returns how many are in @ev, FDSET_EVENTS_MAX at most, or a negative errno.
 * It is not a cancellation point: the caller may hold locks.
 * @max: room in @ev
 *
 * fdset_wait - the same after @ms milliseconds at most; -1: for ever.  A cancellation point.
 */
int fdset_look(int set, struct fdset_event *ev, unsigned max);
int fdset_wait(int set, struct fdset_event *ev, unsigned max, int ms);

#ifdef PORTABLE
/* fdset_settle - the descriptor shows how the members are now. */
void fdset_settle(int set);

/* fdset_forget - @fd is about to be closed, and may be a member of any set. */
void fdset_forget(int fd);
#else
static inline void fdset_settle(int set)
{
	(void) set;
}

static inline void fdset_forget(int fd)
{
	(void) fd;
}
#endif

#endif

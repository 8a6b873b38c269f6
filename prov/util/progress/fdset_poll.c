/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * fdset_poll.c - sets of descriptors by poll(), and a thread.
 *
 * The descriptor of a set is that of an event.  It is shown (made readable) once a member is ready, and hidden by the next
 * look that finds none.  While some thread may sleep on it, the set is watched: one thread of the process polls the
 * members of all watched sets that are not shown, shows those that have one, and leaves them alone until they are
 * hidden.  A look at a set looks at the sets among its members first, so that it does not depend on that thread.
 */
#include "progress/fdset.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/list.h"
#include "base/os/event.h"
#include "base/thread.h"

struct set {
	struct list node;		/* on sets */
	struct os_event ev;		/* ev.fd: the set's */
	bool shown;			/* it is readable */
	bool watched;
	unsigned cnt, room;		/* of the two arrays */
	unsigned next;			/* where the next look begins to report */
	struct pollfd *members;		/* fd is ~fd while the member is off */
	struct fdset_event *wants;	/* what they were added with */
};

struct watcher {
	pthread_t thread;
	struct os_event kick;		/* look again */
	bool stop;
};

/* Guards all that follows; innermost lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct list sets = { &sets, &sets };
static struct watcher *watcher;		/* NULL: no set is watched */

/* ---- fork: a child has neither the thread nor a use for the sets that it inherits ------------ */

static void hold_sets(void)
{
	pthread_mutex_lock(&lock);
}

static void drop_sets(void)
{
	pthread_mutex_unlock(&lock);
}

static void forget_all(void)
{
	list_init(&sets);
	watcher = NULL;
	drop_sets();
}

__attribute__((constructor))
static void sets_survive_fork(void)
{
	pthread_atfork(hold_sets, drop_sets, forget_all);
}

/* ---- one set; the caller holds the lock ------------------------------------------------------- */

static struct set *find_set(int fd)
{
	struct set *set;

	list_for_each_entry(set, &sets, node)
		if (set->ev.fd == fd)
			return set;
	return NULL;
}

static int find_member(const struct set *set, int fd)
{
	unsigned i;

	for (i = 0; i < set->cnt; i++)
		if (set->members[i].fd == fd || set->members[i].fd == ~fd)
			return (int) i;
	return -1;
}

static void drop_member(struct set *set, unsigned i)
{
	set->members[i] = set->members[--set->cnt];
	set->wants[i] = set->wants[set->cnt];
}

static int make_room(struct set *set)
{
	unsigned room = set->room;
	int ret = array_reserve(&set->members, set->cnt, &room, sizeof(*set->members));

	return ret ? ret : array_reserve(&set->wants, set->cnt, &set->room, sizeof(*set->wants));
}

static void write_member(struct set *set, unsigned i, int fd, uint32_t events, void *ptr)
{
	uint32_t asked = events & ~FDSET_ONCE;

	set->members[i] = (struct pollfd) { .fd = asked ? fd : ~fd, .events = (short) asked };
	set->wants[i] = (struct fdset_event) { .ptr = ptr, .events = events };
}

static void watcher_kick(void)
{
	if (watcher)
		os_event_signal(&watcher->kick);
}

static void show_set(struct set *set, bool shown)
{
	if (set->shown == shown)
		return;
	set->shown = shown;
	if (shown) {
		os_event_signal(&set->ev);
	} else {
		os_event_clear(&set->ev);
		watcher_kick();
	}
}

/* look_at - @set and the sets in it, as they are now.  Returns how many members are ready.
 * @watch: some thread may sleep on it from now on
 */
static int look_at(struct set *set, bool watch)
{
	struct set *inner;
	unsigned i;
	int cnt;

	set->watched |= watch;
	for (i = 0; i < set->cnt; i++) {
		inner = find_set(set->members[i].fd);
		if (inner)
			look_at(inner, set->watched);
	}
	cnt = poll(set->members, set->cnt, 0);
	for (i = set->cnt; cnt > 0 && i-- > 0;) {
		if (!(set->members[i].revents & POLLNVAL))
			continue;
		drop_member(set, i);	/* it was closed */
		cnt--;
	}
	show_set(set, cnt > 0 && set->watched);
	return cnt < 0 ? -errno : cnt;
}

/* report_set - what look_at() has found, those first that the last report has left out. */
static int report_set(struct set *set, struct fdset_event *ev, unsigned max)
{
	unsigned i, at, cnt = 0;

	for (i = 0; i < set->cnt && cnt < max; i++) {
		at = (set->next + i) % set->cnt;
		if (!set->members[at].revents)
			continue;
		ev[cnt].ptr = set->wants[at].ptr;
		ev[cnt++].events = (uint16_t) set->members[at].revents;
		if (set->wants[at].events & FDSET_ONCE)
			set->members[at].fd = ~set->members[at].fd;
	}
	set->next += i;
	return (int) cnt;
}

/* ---- the thread -------------------------------------------------------------------------------- */

/* watcher_collect - the members that it has to poll.  Returns how many; -1: no memory. */
static int watcher_collect(const struct watcher *w, struct pollfd **all_p)
{
	unsigned cnt = 1, i;
	struct pollfd *all;
	struct set *set;

	list_for_each_entry(set, &sets, node) {
		if (set->watched)
			look_at(set, true);
		cnt += set->cnt;
	}
	all = realloc(*all_p, cnt * sizeof(*all));
	if (!all)
		return -1;
	*all_p = all;
	all[0] = (struct pollfd) { .fd = w->kick.fd, .events = POLLIN };
	cnt = 1;
	list_for_each_entry(set, &sets, node)
		for (i = 0; set->watched && !set->shown && i < set->cnt; i++)
			all[cnt++] = set->members[i];
	return (int) cnt;
}

static void *watcher_run(void *arg)
{
	struct pollfd *all = NULL;
	struct watcher *w = arg;
	int cnt;

	pthread_mutex_lock(&lock);
	while (!w->stop) {
		os_event_clear(&w->kick);
		cnt = watcher_collect(w, &all);
		pthread_mutex_unlock(&lock);
		if (cnt > 0)
			poll(all, (nfds_t) cnt, -1);
		else
			poll(NULL, 0, 1);	/* no memory: try again */
		pthread_mutex_lock(&lock);
	}
	pthread_mutex_unlock(&lock);
	free(all);
	return NULL;
}

/* watcher_start - the thread, if there is none.  Caller holds the lock. */
static int watcher_start(void)
{
	struct watcher *w;
	int ret;

	if (watcher)
		return 0;
	w = calloc(1, sizeof(*w));
	if (!w)
		return -ENOMEM;
	ret = os_event_open(&w->kick);
	if (!ret)
		ret = thread_start(&w->thread, watcher_run, w);
	if (ret) {
		os_event_close(&w->kick);
		free(w);
		return ret;
	}
	watcher = w;
	return 0;
}

/* watcher_stop - there is no set any more.  Without the lock. */
static void watcher_stop(struct watcher *w)
{
	if (!w)
		return;
	pthread_join(w->thread, NULL);
	os_event_close(&w->kick);
	free(w);
}

/* ---- the calls ----------------------------------------------------------------------------------- */

int fdset_open(void)
{
	struct set *set = calloc(1, sizeof(*set));
	int ret;

	if (!set)
		return -ENOMEM;
	ret = os_event_open(&set->ev);
	if (ret) {
		free(set);
		return ret;
	}
	pthread_mutex_lock(&lock);
	list_add_tail(&set->node, &sets);
	pthread_mutex_unlock(&lock);
	return set->ev.fd;
}

void fdset_forget(int fd)
{
	struct set *set;

	pthread_mutex_lock(&lock);
	list_for_each_entry(set, &sets, node) {
		int at = find_member(set, fd);

		if (at >= 0)
			drop_member(set, (unsigned) at);
	}
	watcher_kick();
	pthread_mutex_unlock(&lock);
}

void fdset_close(int fd)
{
	struct watcher *ended = NULL;
	struct set *set;

	if (fd < 0)
		return;
	fdset_forget(fd);
	pthread_mutex_lock(&lock);
	set = find_set(fd);
	if (set) {
		list_del(&set->node);
		free(set->members);
		free(set->wants);
		os_event_close(&set->ev);
		free(set);
	}
	if (watcher && list_empty(&sets)) {
		ended = watcher;
		ended->stop = true;
		watcher_kick();
		watcher = NULL;
	}
	pthread_mutex_unlock(&lock);
	watcher_stop(ended);
}

enum edit {
	ADD,
	CHANGE,
	REMOVE,
};

static int edit_member(int set_fd, int fd, enum edit edit, uint32_t events, void *ptr)
{
	struct set *set;
	int at, ret;

	pthread_mutex_lock(&lock);
	set = find_set(set_fd);
	at = set ? find_member(set, fd) : -1;
	if (edit == ADD)
		ret = !set || fcntl(fd, F_GETFD) < 0 ? -EBADF : at >= 0 ? -EEXIST : make_room(set);
	else
		ret = at < 0 ? -ENOENT : 0;
	if (!ret && edit == REMOVE)
		drop_member(set, (unsigned) at);
	else if (!ret)
		write_member(set, edit == ADD ? set->cnt++ : (unsigned) at, fd, events, ptr);
	watcher_kick();
	pthread_mutex_unlock(&lock);
	return ret;
}

int fdset_add(int set, int fd, uint32_t events, void *ptr)
{
	return edit_member(set, fd, ADD, events, ptr);
}

int fdset_change(int set, int fd, uint32_t events, void *ptr)
{
	return edit_member(set, fd, CHANGE, events, ptr);
}

void fdset_remove(int set, int fd)
{
	edit_member(set, fd, REMOVE, 0, NULL);
}

/* look_into_set - @ev may be NULL: nothing is reported. */
static int look_into_set(int set_fd, struct fdset_event *ev, unsigned max, bool watch)
{
	struct set *set;
	int ret;

	pthread_mutex_lock(&lock);
	set = find_set(set_fd);
	ret = !set ? -EBADF : watch ? watcher_start() : 0;
	if (!ret) {
		if (watch && !set->watched)
			watcher_kick();
		ret = look_at(set, watch);
		if (ret > 0 && ev)
			ret = report_set(set, ev, max);
	}
	pthread_mutex_unlock(&lock);
	return ret;
}

int fdset_look(int set, struct fdset_event *ev, unsigned max)
{
	return look_into_set(set, ev, max, false);
}

void fdset_settle(int set)
{
	look_into_set(set, NULL, 0, true);
}

int fdset_wait(int set, struct fdset_event *ev, unsigned max, int ms)
{
	uint64_t deadline = clock_deadline(ms);
	struct pollfd own = { .fd = set, .events = POLLIN };
	int ret = look_into_set(set, ev, max, true);

	while (!ret && (ms < 0 || clock_ns() < deadline)) {
		if (poll(&own, 1, clock_ms_left(deadline, clock_ns())) < 0)
			return -errno;
		ret = look_into_set(set, ev, max, true);
	}
	return ret;
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "progress/thread.h"

#include <pthread.h>
#include <rdma/fi_errno.h>
#include <rdma/providers/fi_log.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/os/event.h"
#include "base/thread.h"
#include "progress/group.h"
#include "progress/fdset.h"

struct obj_auto_watch {
	struct list node;		/* on auto->watches */
	struct obj_auto *autop;
	struct obj_prog *prog;
	int fd;				/* the group's, one-shot in auto->set_fd; -1: given up */
	bool watching;			/* armed in auto->set_fd and not fired since */
	struct obj_tick tick;
};

struct obj_auto {
	pthread_t thread;
	int set_fd;
	struct os_event kick;
	pthread_mutex_t lock;		/* guards what follows; taken before any prog->lock */
	struct list watches;
	bool stop;
};

/* give_up_fd - as long as the program polls, nothing is to wake the thread: each packet that arrives at a
 * socket would go through two more sets of descriptors in the kernel.
 */
static void give_up_fd(struct obj_auto_watch *w)
{
	if (w->watching)
		return;
	/* closing it would not take it out of the set while a forked child has it, too */
	if (w->fd >= 0)
		fdset_remove(w->autop->set_fd, w->fd);
	obj_prog_close_fd(w->prog);
	w->fd = -1;
}

/* program_active - the program polls or sleeps on the group itself: do not get in its way.
 * @next: [out] what the thread does meanwhile
 */
static bool program_active(struct obj_auto_watch *w, uint64_t now, enum obj_next *next)
{
	struct obj_prog *prog = w->prog;

	*next = obj_tick_next(&w->tick, now, atomic_load_explicit(&prog->polls, memory_order_relaxed), w->watching);
	if (*next == OBJ_NEXT_TICK)
		give_up_fd(w);
	if (*next != OBJ_NEXT_POLL)
		return true;
	if (!atomic_load(&prog->sleepers))
		return false;
	/* The last sleeper kicks us when it sees that, or we see that it has gone. */
	obj_prog_set_driver(prog, OBJ_DRIVER_PROGRAM, OBJ_DRIVER_SLEEPERS);
	if (!atomic_load(&prog->sleepers)) {
		obj_prog_set_driver(prog, OBJ_DRIVER_SLEEPERS, OBJ_DRIVER_PROGRAM);
		return false;
	}
	*next = OBJ_NEXT_SLEEP;
	return true;
}

static enum obj_next watch_again(struct obj_auto_watch *w)
{
	int set = w->autop->set_fd, fd, ret;

	/* The same one, unless it was given up, with the pollers that came since. */
	fd = obj_prog_fd(w->prog);
	if (fd < 0)
		return OBJ_NEXT_TICK;
	obj_prog_set_driver(w->prog, OBJ_DRIVER_PROGRAM, OBJ_DRIVER_THREAD);
	ret = obj_prog_arm(w->prog);
	if (ret || (w->fd < 0 ? fdset_add(set, fd, POLLIN | FDSET_ONCE, w) :
				fdset_change(set, fd, POLLIN | FDSET_ONCE, w))) {
		obj_prog_set_driver(w->prog, OBJ_DRIVER_THREAD, OBJ_DRIVER_PROGRAM);
		return ret == -FI_EAGAIN ? OBJ_NEXT_POLL : OBJ_NEXT_TICK;
	}
	w->fd = fd;
	w->watching = true;
	return OBJ_NEXT_SLEEP;
}

static enum obj_next auto_look(struct obj_auto_watch *w, uint64_t now)
{
	enum obj_next next;
	int done;

	if (program_active(w, now, &next))
		return next;
	lock_get(&w->prog->lock);
	done = obj_prog_poll_locked(w->prog);
	lock_put(&w->prog->lock);
	next = done ? OBJ_NEXT_POLL : watch_again(w);
	if (next == OBJ_NEXT_TICK)
		w->tick.left_ns = now;	/* what it takes to sleep is missing: not again at once */
	return next;
}

/* look_at_all - Returns how long to sleep: milliseconds, or -1 until there is an event. */
static int look_at_all(struct obj_auto *autop)
{
	uint64_t now = clock_ns(), end = UINT64_MAX;
	struct obj_auto_watch *w;

	list_for_each_entry(w, &autop->watches, node) {
		switch (auto_look(w, now)) {
		case OBJ_NEXT_POLL:
			end = now;
			break;
		case OBJ_NEXT_TICK:
			if (obj_tick_end_ns(&w->tick) < end)
				end = obj_tick_end_ns(&w->tick);
			break;
		default:
			break;
		}
	}
	return end == UINT64_MAX ? -1 : clock_ms_left(end, now);
}

static bool is_watched(struct obj_auto *autop, const void *ptr)
{
	struct obj_auto_watch *watch;

	list_for_each_entry(watch, &autop->watches, node)
		if (watch == ptr)
			return true;
	return false;
}

static void on_event(struct obj_auto *autop, void *ptr)
{
	struct obj_auto_watch *w = ptr;

	if (ptr == autop) {
		os_event_clear(&autop->kick);
	} else if (is_watched(autop, ptr)) {
		w->watching = false;
		obj_prog_set_driver(w->prog, OBJ_DRIVER_THREAD, OBJ_DRIVER_PROGRAM);
		/* A program that blocks on our fd woke as well: let it come first. */
		if (obj_prog_set_state(w->prog, OBJ_PROG_WAITING, OBJ_PROG_SHOWN))
			w->tick.polls--;
	}
}

static void *auto_run(void *arg)
{
	struct fdset_event ev[FDSET_EVENTS_MAX];
	struct obj_auto *autop = arg;
	int i, cnt, timeout;

	pthread_mutex_lock(&autop->lock);
	while (!autop->stop) {
		timeout = look_at_all(autop);
		pthread_mutex_unlock(&autop->lock);
		cnt = fdset_wait(autop->set_fd, ev, FDSET_EVENTS_MAX, timeout);
		pthread_mutex_lock(&autop->lock);
		for (i = 0; i < cnt; i++)
			on_event(autop, ev[i].ptr);
	}
	pthread_mutex_unlock(&autop->lock);
	return NULL;
}

static void auto_kick(struct obj_auto *autop)
{
	os_event_signal(&autop->kick);
}

static int start_thread(struct obj_auto *autop)
{
	int ret = thread_start(&autop->thread, auto_run, autop);

	if (!ret)
		pthread_setname_np(autop->thread, "ofi-progress");
	return ret;
}

int obj_auto_start(const struct fi_provider *prov, const char *name, struct obj_auto **auto_p)
{
	struct obj_auto *autop = calloc(1, sizeof(*autop));
	int ret;

	if (!autop)
		return -FI_ENOMEM;
	list_init(&autop->watches);
	pthread_mutex_init(&autop->lock, NULL);
	autop->set_fd = fdset_open();
	ret = os_event_open(&autop->kick);
	if (!ret)
		ret = autop->set_fd;
	if (ret >= 0)
		ret = fdset_add(autop->set_fd, autop->kick.fd, POLLIN, autop);
	if (!ret)
		ret = start_thread(autop);
	if (ret)
		goto err_fds;
	*auto_p = autop;
	return 0;

err_fds:
	FI_WARN(prov, FI_LOG_DOMAIN,
		"cannot start the progress thread of domain %s: %s; raise the limit on open "
		"files or threads, or ask for FI_PROGRESS_MANUAL\n",
		name ? name : "?", fi_strerror(-ret));
	fdset_close(autop->set_fd);
	os_event_close(&autop->kick);
	pthread_mutex_destroy(&autop->lock);
	free(autop);
	return ret;
}

void obj_auto_stop(struct obj_auto *autop)
{
	pthread_mutex_lock(&autop->lock);
	autop->stop = true;
	pthread_mutex_unlock(&autop->lock);
	auto_kick(autop);
	pthread_join(autop->thread, NULL);
	pthread_mutex_destroy(&autop->lock);
	os_event_close(&autop->kick);
	fdset_close(autop->set_fd);
	free(autop);
}

int obj_auto_watch(struct obj_auto *autop, struct obj_prog *prog)
{
	/* Off until the thread arms it. */
	struct obj_auto_watch *w;
	int ret = 0;

	pthread_mutex_lock(&autop->lock);
	if (prog->watch)
		goto out;
	ret = -FI_ENOMEM;
	w = calloc(1, sizeof(*w));
	if (!w)
		goto out;
	w->autop = autop;
	w->prog = prog;
	w->tick.polls = atomic_load(&prog->polls);
	w->fd = obj_prog_fd(prog);
	ret = w->fd;
	if (w->fd >= 0)
		ret = fdset_add(autop->set_fd, w->fd, FDSET_ONCE, w);
	if (ret) {
		free(w);
		goto out;
	}
	prog->watch = w;
	list_add_tail(&w->node, &autop->watches);
	auto_kick(autop);
out:
	pthread_mutex_unlock(&autop->lock);
	return ret;
}

void obj_auto_forget(struct obj_prog *prog)
{
	struct obj_auto_watch *w = prog->watch;
	struct obj_auto *autop;

	if (!w)
		return;
	autop = w->autop;
	prog->watch = NULL;
	pthread_mutex_lock(&autop->lock);
	list_del(&w->node);
	if (w->fd >= 0)
		fdset_remove(autop->set_fd, w->fd);
	pthread_mutex_unlock(&autop->lock);
	free(w);
}

void obj_auto_kick(struct obj_prog *prog)
{
	if (prog->watch)
		auto_kick(prog->watch->autop);
}

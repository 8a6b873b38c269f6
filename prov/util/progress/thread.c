/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "progress/thread.h"

#include <fcntl.h>
#include <pthread.h>
#include <rdma/fi_errno.h>
#include <rdma/providers/fi_log.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/thread.h"
#include "progress/group.h"
#include "progress/fdset.h"

/* How often a group is looked at while the program drives it: at first, and after a while. */
#define TICK_MIN_MS 1
#define TICK_MAX_MS 16
#define TICK_SHARED_MS 128	/* the same where the program has to share its processor: it wants it, */
#define SHARES 3		/* .. and has used it for less than one part in so many of the time */
#define SPARES_MAX 8		/* looks in a row at a program that has not polled since it lost it */
#define COMPUTES 8		/* one part in so many of the time: the program has used the processor */
#define EVENTS 16

/* What a look at a group asks of the next sleep, the most pressing highest. */
enum next {
	NEXT_EVENT,			/* its fds will be readable */
	NEXT_TICK,			/* the program is at it: look again soon */
	NEXT_NOW,			/* there is more to do */
};

struct obj_auto_watch {
	struct list node;		/* on auto->watches */
	struct obj_auto *autop;
	struct obj_prog *prog;
	int fd;				/* the group's, one-shot in auto->set_fd; -1: given up */
	bool watching;			/* armed in auto->set_fd and not fired since */
	uint64_t polls;			/* prog->polls when last looked at */
	unsigned tick_ms;		/* how long the program may stay away before the thread polls */
	bool drove;			/* the thread has polled since the program last did */
	unsigned spares;		/* looks in a row at a program that waits for a processor */
	uint64_t looked_ns;		/* when last looked at, .. */
	uint64_t used_ns;		/* .. and processor time that the program had used */
};

struct obj_auto {
	pthread_t thread;
	int set_fd;
	int kickfd;			/* eventfd */
	int statfd;			/* /proc/self/stat; -1: there is none */
	pthread_mutex_t lock;		/* guards what follows; taken before any prog->lock */
	struct list watches;
	bool stop;
};

/* forget - the thread finds work although the program had a tick to do it: it is busy elsewhere,
 * and when it is back the thread has to be there soon for its next absence.
 */
static void forget(struct obj_auto_watch *w)
{
	if (w->drove)
		w->tick_ms = TICK_MIN_MS;
	w->drove = true;
}

/* used_ns - processor time of the program's threads. */
static uint64_t used_ns(void)
{
	struct timespec all, own;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &all);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &own);
	return (uint64_t) (all.tv_sec - own.tv_sec) * CLOCK_NS_PER_S + (uint64_t) all.tv_nsec -
	       (uint64_t) own.tv_nsec;
}

/* is_runnable - does the program's first thread run, or want to? */
static bool is_runnable(const struct obj_auto *autop)
{
	char text[128];
	ssize_t len = autop->statfd < 0 ? -1 : pread(autop->statfd, text, sizeof(text) - 1, 0);
	const char *end;

	if (len < 0)
		return false;
	text[len] = '\0';
	end = strrchr(text, ')');		/* of the program's name */
	return end && !strncmp(end, ") R", 3);
}

/* was_used - is the processor time that the program's threads have used since the last look more than one
 * part in @part of the time that has passed?
 */
static bool was_used(struct obj_auto_watch *w, unsigned part)
{
	uint64_t now = clock_ns(), used = used_ns();
	bool more = used - w->used_ns > (now - w->looked_ns) / part;

	w->used_ns = used;
	w->looked_ns = now;
	return more;
}

/* slow_down - look half as often from now on, but every @max_ms at least. */
static void slow_down(struct obj_auto_watch *w, unsigned max_ms)
{
	w->tick_ms = w->tick_ms < max_ms / 2 ? 2 * w->tick_ms : max_ms;
}

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

/* learn - the program has polled again.  The longer it goes on, the more seldom the thread
 * looks: with more processes than processors a program that polls all the time is away for
 * several milliseconds while others run, and a thread that takes its place then makes senders
 * wake it by system calls and takes the processor from the program.  With many of them the looks alone,
 * each of which interrupts a process, were a tenth of the time.
 */
static void learn(struct obj_auto_watch *w)
{
	bool alone = was_used(w, SHARES);

	w->drove = false;
	w->spares = 0;
	if (w->tick_ms < TICK_MAX_MS) {
		slow_down(w, TICK_MAX_MS);
		return;
	}
	give_up_fd(w);
	slow_down(w, alone || !is_runnable(w->autop) ? TICK_MAX_MS : TICK_SHARED_MS);
}

/* waits - the program has not polled, has not used the processor, and wants to: others have it.  It
 * polls when it gets it, and a thread that took its place would only come between.
 */
static bool waits(struct obj_auto_watch *w)
{
	if (was_used(w, COMPUTES) || w->spares == SPARES_MAX || !is_runnable(w->autop))
		return false;
	w->spares++;
	slow_down(w, TICK_SHARED_MS);
	return true;
}

/* The program polls or sleeps on the group itself: do not get in its way. */
static bool program_active(struct obj_auto_watch *w, enum next *next)
{
	struct obj_prog *prog = w->prog;
	uint64_t polls = atomic_load_explicit(&prog->polls, memory_order_relaxed);

	if (polls != w->polls) {
		w->polls = polls;
		learn(w);
		*next = NEXT_TICK;
		return true;
	}
	if (!w->watching && waits(w)) {
		*next = NEXT_TICK;
		return true;
	}
	if (w->watching || !atomic_load(&prog->sleepers))
		return false;
	/* The last sleeper kicks us when it sees that, or we see that it has gone. */
	obj_prog_set_driver(prog, OBJ_DRIVER_PROGRAM, OBJ_DRIVER_SLEEPERS);
	if (!atomic_load(&prog->sleepers)) {
		obj_prog_set_driver(prog, OBJ_DRIVER_SLEEPERS, OBJ_DRIVER_PROGRAM);
		return false;
	}
	*next = NEXT_EVENT;
	return true;
}

static enum next watch_again(struct obj_auto_watch *w)
{
	int set = w->autop->set_fd, fd, ret;

	/* The same one, unless it was given up, with the pollers that came since. */
	fd = obj_prog_fd(w->prog);
	if (fd < 0)
		return NEXT_TICK;
	obj_prog_set_driver(w->prog, OBJ_DRIVER_PROGRAM, OBJ_DRIVER_THREAD);
	ret = obj_prog_arm(w->prog);
	if (ret || (w->fd < 0 ? fdset_add(set, fd, POLLIN | FDSET_ONCE, w) :
				fdset_change(set, fd, POLLIN | FDSET_ONCE, w))) {
		obj_prog_set_driver(w->prog, OBJ_DRIVER_THREAD, OBJ_DRIVER_PROGRAM);
		return ret == -FI_EAGAIN ? NEXT_NOW : NEXT_TICK;
	}
	w->fd = fd;
	w->watching = true;
	return NEXT_EVENT;
}

static enum next look(struct obj_auto_watch *w)
{
	enum next next;
	int done;

	if (program_active(w, &next))
		return next;
	if (w->watching)
		return NEXT_EVENT;
	lock_get(&w->prog->lock);
	done = obj_prog_poll_locked(w->prog);
	lock_put(&w->prog->lock);
	forget(w);
	return done ? NEXT_NOW : watch_again(w);
}

/* look_at_all - Returns how long to sleep: milliseconds, or -1 until there is an event. */
static int look_at_all(struct obj_auto *autop)
{
	struct obj_auto_watch *w;
	int timeout = -1;

	list_for_each_entry(w, &autop->watches, node) {
		switch (look(w)) {
		case NEXT_NOW:
			timeout = 0;
			break;
		case NEXT_TICK:
			if (timeout < 0 || (unsigned) timeout > w->tick_ms)
				timeout = (int) w->tick_ms;
			break;
		default:
			break;
		}
	}
	return timeout;
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
	uint64_t cnt;

	if (ptr == autop) {
		if (read(autop->kickfd, &cnt, sizeof(cnt)) < 0)
			return;
	} else if (is_watched(autop, ptr)) {
		w->watching = false;
		obj_prog_set_driver(w->prog, OBJ_DRIVER_THREAD, OBJ_DRIVER_PROGRAM);
		/* A program that blocks on our fd woke as well: let it come first. */
		if (obj_prog_set_state(w->prog, OBJ_PROG_WAITING, OBJ_PROG_SHOWN))
			w->polls--;
	}
}

static void *run(void *arg)
{
	struct fdset_event ev[EVENTS];
	struct obj_auto *autop = arg;
	int i, cnt, timeout;

	pthread_mutex_lock(&autop->lock);
	while (!autop->stop) {
		timeout = look_at_all(autop);
		pthread_mutex_unlock(&autop->lock);
		cnt = fdset_wait(autop->set_fd, ev, EVENTS, timeout);
		pthread_mutex_lock(&autop->lock);
		for (i = 0; i < cnt; i++)
			on_event(autop, ev[i].ptr);
	}
	pthread_mutex_unlock(&autop->lock);
	return NULL;
}

static void kick(struct obj_auto *autop)
{
	uint64_t one = 1;

	/* Full means kicked already. */
	if (write(autop->kickfd, &one, sizeof(one)) < 0)
		return;
}

static int start_thread(struct obj_auto *autop)
{
	int ret = thread_start(&autop->thread, run, autop);

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
	autop->kickfd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	autop->statfd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	ret = autop->kickfd < 0 ? -errno : autop->set_fd;
	if (ret >= 0)
		ret = fdset_add(autop->set_fd, autop->kickfd, POLLIN, autop);
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
	if (autop->kickfd >= 0)
		close(autop->kickfd);
	if (autop->statfd >= 0)
		close(autop->statfd);
	pthread_mutex_destroy(&autop->lock);
	free(autop);
	return ret;
}

void obj_auto_stop(struct obj_auto *autop)
{
	pthread_mutex_lock(&autop->lock);
	autop->stop = true;
	pthread_mutex_unlock(&autop->lock);
	kick(autop);
	pthread_join(autop->thread, NULL);
	pthread_mutex_destroy(&autop->lock);
	close(autop->kickfd);
	fdset_close(autop->set_fd);
	if (autop->statfd >= 0)
		close(autop->statfd);
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
	w->polls = atomic_load(&prog->polls);
	w->tick_ms = TICK_MIN_MS;
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
	kick(autop);
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
		kick(prog->watch->autop);
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * sleep.c - a thread that blocks on a queue or counter: it polls for a while, then sleeps until the object is
 * signalled or, if it leads the threads of the group, until a descriptor of the group is readable.
 */
#include "progress/wait.h"

#include <errno.h>
#include <poll.h>
#include <rdma/fi_errno.h>
#include <sched.h>

#include "base/clock.h"
#include "progress/conf.h"
#include "progress/fdset.h"

#define SPIN_POLLS 8		/* between two reads of the clock */

/* enter_sleep - Returns what leave_sleep() needs: groups that come meanwhile take no part. */
static struct obj_source *enter_sleep(struct obj_wait *wait)
{
	struct obj_source *all = obj_feed_newest(&wait->feed), *source;

	for (source = all; source; source = source->older)
		obj_prog_enter_sleep(source->prog);
	return all;
}

static void leave_sleep(struct obj_source *source)
{
	for (; source; source = source->older)
		obj_prog_leave_sleep(source->prog);
}

/* ---- polling before a sleep --------------------------------------------------------------- */

/* Nothing to be woken by: look, let others run, look again. */
static int wait_yield(struct obj_wait *wait)
{
	obj_wait_poll(wait);
	sched_yield();
	return 0;
}

/* wait_found - do some polls find anything, or what @ready wants? */
static bool wait_found(struct obj_wait *wait, obj_wait_ready_fn ready, const void *arg)
{
	unsigned i;

	for (i = 0; i < SPIN_POLLS; i++)
		if (obj_wait_poll(wait) || ready(wait, arg))
			return true;
	return false;
}

/* wait_spin - poll until that is found, or it is time to sleep.  Returns true in the first case: a sleep would have
 * ended, too: so the target of reads and writes polls, though its own queue stays empty.
 */
static bool wait_spin(struct obj_wait *wait, struct obj_idle *idle, struct obj_turns *turns, obj_wait_ready_fn ready,
		      const void *arg)
{
	struct obj_source *entered;
	enum obj_next next;
	bool hit = false;

	if (wait_found(wait, ready, arg))
		return true;
	entered = enter_sleep(wait);
	while (!hit && (next = obj_spin_next(idle, turns, clock_ns())) != OBJ_NEXT_SLEEP) {
		if (next == OBJ_NEXT_YIELD) {
			sched_yield();
			obj_spin_back(idle, turns, clock_ns());
		}
		hit = wait_found(wait, ready, arg);
	}
	leave_sleep(entered);
	return hit;
}

/* ---- who sleeps on the group's descriptors --------------------------------------------- */

/* Of the threads that block on objects that one group feeds, one leads: it alone sleeps on the descriptors of
 * the group, takes what arrives, and signals the objects that it is for.  The others sleep until theirs is
 * signalled, else each packet would wake them all.  A leader that leaves appoints one of them, by a signal of that
 * one's object.  Threads that block on the same object as it lead with it: the kernel wakes one of them.
 * Threads whose object several groups feed sleep on all descriptors, and take no part.
 */
struct seat {
	struct list node;		/* on prog->followers, unless it leads */
	struct obj_wait *wait;
	struct obj_prog *prog;		/* NULL: it takes no part, or not yet */
	bool leads;
};

/* take_seat - returns true if the thread leads, or takes no part. */
static bool take_seat(struct seat *seat)
{
	struct obj_prog *prog = atomic_load(&seat->wait->feed.single);
	bool leads;

	if (seat->prog || !prog)
		return true;
	seat->prog = prog;
	pthread_mutex_lock(&prog->lead_lock);
	leads = !prog->lead || prog->lead == seat->wait;
	seat->leads = leads;
	if (leads) {
		prog->lead = seat->wait;
		prog->lead_cnt++;
	} else {
		list_add_tail(&seat->node, &prog->followers);
	}
	pthread_mutex_unlock(&prog->lead_lock);
	return leads;
}

/* appoint_next - have a follower lead: it wakes, and sees that it does.  Caller holds lead_lock. */
static void appoint_next(struct obj_prog *prog)
{
	struct list *item = list_pop(&prog->followers);
	struct seat *seat;

	prog->lead = NULL;
	if (!item)
		return;
	seat = container_of(item, struct seat, node);
	seat->leads = true;
	prog->lead = seat->wait;
	prog->lead_cnt = 1;
	obj_waker_signal(&seat->wait->waker, true);
}

/* must_lead - does this thread alone lead others?  Then it sleeps again rather than return for nothing. */
static bool must_lead(struct seat *seat)
{
	bool leads;

	if (!seat->prog)
		return false;
	pthread_mutex_lock(&seat->prog->lead_lock);
	leads = seat->leads && seat->prog->lead_cnt == 1 && !list_empty(&seat->prog->followers);
	pthread_mutex_unlock(&seat->prog->lead_lock);
	return leads;
}

static void leave_seat(struct seat *seat)
{
	if (!seat->prog)
		return;
	pthread_mutex_lock(&seat->prog->lead_lock);
	if (!seat->leads)
		list_del(&seat->node);
	else if (!--seat->prog->lead_cnt)
		appoint_next(seat->prog);
	pthread_mutex_unlock(&seat->prog->lead_lock);
}

/* ---- sleeping -------------------------------------------------------------------------------- */

/* sleep_on - @fd: the descriptors of the object and its groups, or (@leads is false) of the object alone. */
static int sleep_on(int fd, bool leads, int ms)
{
	struct pollfd own = { .fd = fd, .events = POLLIN };
	struct fdset_event ev;
	int ret = leads ? fdset_wait(fd, &ev, 1, ms) : poll(&own, 1, ms);

	return ret == -1 && !leads ? -errno : ret;
}

/* Order: armed, then looked at, then asleep.  A report between the look and the sleep finds it armed
 * and makes the fd readable; so does being appointed.  0 after a wake-up for whatever reason: the caller
 * looks again.
 */
static int sleep_until(struct seat *seat, uint64_t now, uint64_t deadline_ns, obj_wait_ready_fn ready,
		       const void *arg)
{
	struct obj_wait *wait = seat->wait;
	struct obj_source *entered;
	unsigned round;
	bool leads;
	int fd, ret = 0;

	fd = obj_waker_enter(&wait->waker, &round);
	if (fd < 0)
		return fd;
	leads = take_seat(seat);
	if (leads)
		fd = obj_wait_fd(wait, OBJ_WAKE_IN);
	if (fd < 0 || ready(wait, arg)) {
		obj_waker_leave(&wait->waker, round);
		return fd < 0 ? fd : 0;
	}
	entered = enter_sleep(wait);
	if (!obj_wait_arm_groups(wait, false))
		ret = sleep_on(fd, leads, clock_ms_left(deadline_ns, now));
	leave_sleep(entered);
	obj_waker_leave(&wait->waker, round);
	if (ret < 0)
		return ret;
	obj_wait_poll(wait);
	return 0;
}

/* spin_idle - what is known of the group, or of one of them, whose pollers a wait polls; NULL: it has none. */
static struct obj_idle *spin_idle(struct obj_wait *wait)
{
	struct obj_source *source = obj_feed_newest(&wait->feed);

	return source ? &source->prog->idle : NULL;
}

/* wait_once - until @ready, until something has come, or until a wake-up for nothing. */
static int wait_once(struct seat *seat, uint64_t deadline_ns, obj_wait_ready_fn ready, const void *arg)
{
	struct obj_wait *wait = seat->wait;
	struct obj_idle *idle = spin_idle(wait);
	uint64_t now = clock_ns();
	struct obj_turns turns;

	if (deadline_ns && now >= deadline_ns)
		return -FI_ETIMEDOUT;
	if (wait->kind->yields)
		return wait_yield(wait);
	if (idle && obj_spin_begin(idle, &turns, now, deadline_ns, obj_spin_wait_ns()) == OBJ_NEXT_POLL &&
	    wait_spin(wait, idle, &turns, ready, arg))
		return 0;
	return sleep_until(seat, clock_ns(), deadline_ns, ready, arg);
}

int obj_wait_sleep(struct obj_wait *wait, uint64_t deadline_ns, obj_wait_ready_fn ready,
		   const void *arg)
{
	struct seat seat = { .wait = wait };
	int ret;

	do
		ret = wait_once(&seat, deadline_ns, ready, arg);
	while (must_lead(&seat) && !ret && !ready(wait, arg));
	leave_seat(&seat);
	return ret;
}

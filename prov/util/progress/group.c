/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "progress/group.h"

#include <errno.h>
#include <rdma/fi_errno.h>
#include <sched.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/line.h"
#include "progress/asked.h"
#include "progress/conf.h"
#include "progress/fdset.h"
#include "progress/thread.h"

#define QUIET_NS 10000		/* between two polls of quiet pollers, at least */
#define QUIET_EVERY 8		/* calls of obj_prog_poll_quiet() between two reads of the clock, while nothing comes */

_Atomic(struct obj_prog *) obj_asked;
void (*obj_asked_take)(struct obj_prog *prog);

/* Guards every struct obj_groups and prog->groups: an event queue outlives a domain,
 * so a group's last reference may go while its domain closes.
 */
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t list_left = PTHREAD_COND_INITIALIZER;	/* a group has left */

static void hold_list(void)
{
	pthread_mutex_lock(&list_lock);
}

static void drop_list(void)
{
	pthread_mutex_unlock(&list_lock);
}

/* It is the one lock that is not an object's: a forked child that opens a domain of
 * its own must not find it held by a thread that it does not have.
 */
__attribute__((constructor))
static void survive_fork(void)
{
	pthread_atfork(hold_list, drop_list, drop_list);
}

int obj_prog_new(struct obj_groups *groups, enum lock_kind kind, struct obj_prog **prog_p)
{
	struct obj_prog *prog = line_alloc(sizeof(*prog));
	int ret;

	if (!prog)
		return -FI_ENOMEM;
	ret = lock_init(&prog->lock, kind);
	if (ret) {
		free(prog);
		return ret;
	}
	list_init(&prog->pollers);
	list_init(&prog->followers);
	pthread_mutex_init(&prog->lead_lock, NULL);
	list_init(&prog->node);
	prog->groups = groups;
	prog->alarm.event = OS_EVENT_NONE;
	prog->kick = OS_EVENT_NONE;
	prog->set_fd = -1;
	atomic_init(&prog->refs, 1);
	if (groups) {
		pthread_mutex_lock(&list_lock);
		list_add_tail(&prog->node, &groups->list);
		pthread_mutex_unlock(&list_lock);
	}
	*prog_p = prog;
	return 0;
}

void obj_prog_get(struct obj_prog *prog)
{
	atomic_fetch_add(&prog->refs, 1);
}

/* A domain that closes meanwhile waits until this is over.  No other lock is taken
 * under list_lock: a progress thread, which holds some, may open endpoints of a
 * domain below, and those need a group.
 */
static void leave_groups(struct obj_prog *prog)
{
	struct obj_groups *groups;

	pthread_mutex_lock(&list_lock);
	groups = prog->groups;
	if (groups) {
		list_del(&prog->node);
		prog->groups = NULL;
		groups->leaving++;
	}
	pthread_mutex_unlock(&list_lock);
	obj_auto_forget(prog);	/* of a fabric's thread, too */
	if (!groups)
		return;
	pthread_mutex_lock(&list_lock);
	groups->leaving--;
	pthread_cond_broadcast(&list_left);
	pthread_mutex_unlock(&list_lock);
}

void obj_prog_close_fd(struct obj_prog *prog)
{
	if (prog->set_fd < 0)
		return;
	fdset_close(prog->set_fd);
	prog->set_fd = -1;
	prog->seen = 0;
}

static void close_state(struct obj_prog *prog)
{
	enum obj_prog_state state;

	do
		state = atomic_load(&prog->state);
	while (state != OBJ_PROG_CLOSED && !obj_prog_set_state(prog, state, OBJ_PROG_CLOSED));
}

static void close_pollers(struct obj_prog *prog)
{
	struct obj_poller *poller;

	obj_prog_moves(prog);
	prog->solo = NULL;
	while ((poller = list_pop_entry(&prog->pollers, struct obj_poller, node)))
		poller->ops->close(poller);
	if (prog->alarm.event.fd >= 0) {
		fdset_forget(prog->alarm.event.fd);
		fdset_forget(prog->kick.fd);
		os_alarm_close(&prog->alarm);
		os_event_close(&prog->kick);
	}
	obj_prog_close_fd(prog);
	prog->timer_ns = 0;
	close_state(prog);
}

void obj_prog_put(struct obj_prog *prog)
{
	if (atomic_fetch_sub(&prog->refs, 1) > 1)
		return;
	leave_groups(prog);
	close_pollers(prog);
	pthread_mutex_destroy(&prog->lead_lock);
	lock_destroy(&prog->lock);
	free(prog);
}

/* try_get - false when the last reference is gone: another thread is about to forget it. */
static bool try_get(struct obj_prog *prog)
{
	unsigned refs = atomic_load(&prog->refs);

	while (refs)
		if (atomic_compare_exchange_weak(&prog->refs, &refs, refs + 1))
			return true;
	return false;
}

/* The next one of @groups, with a reference, or NULL when there is none left. */
static struct obj_prog *take_one(struct obj_groups *groups)
{
	struct obj_prog *prog = NULL;

	pthread_mutex_lock(&list_lock);
	while (!list_empty(&groups->list) || groups->leaving) {
		if (!list_empty(&groups->list)) {
			prog = container_of(groups->list.next, struct obj_prog, node);
			if (try_get(prog)) {
				list_del(&prog->node);
				prog->groups = NULL;
				break;
			}
			prog = NULL;
		}
		pthread_cond_wait(&list_left, &list_lock);
	}
	pthread_mutex_unlock(&list_lock);
	return prog;
}

void obj_prog_close_all(struct obj_groups *groups)
{
	struct obj_prog *prog;

	while ((prog = take_one(groups))) {
		obj_auto_forget(prog);
		lock_get(&prog->lock);
		close_pollers(prog);
		lock_put(&prog->lock);
		obj_prog_put(prog);
	}
}

/* That one of @groups at place @i, with a reference, or NULL when there are not so many. */
static struct obj_prog *take_at(struct obj_groups *groups, unsigned i)
{
	struct obj_prog *prog, *found = NULL;

	pthread_mutex_lock(&list_lock);
	list_for_each_entry(prog, &groups->list, node) {
		if (i--)
			continue;
		if (try_get(prog)) {
			found = prog;
			break;
		}
		i = 0;		/* the next one */
	}
	pthread_mutex_unlock(&list_lock);
	return found;
}

int obj_prog_revoke(struct obj_groups *groups, const struct obj_mr *mr, unsigned phases,
		    enum obj_revoke how)
{
	struct obj_poller *poller;
	struct obj_prog *prog;
	unsigned i;
	int done = 0;

	for (i = 0; (prog = take_at(groups, i)); i++) {
		lock_get(&prog->lock);
		list_for_each_entry(poller, &prog->pollers, node)
			if (poller->ops->revoke && how != OBJ_REVOKE_WAIT)
				poller->ops->revoke(poller, mr, phases, how);
		done += obj_prog_poll_locked(prog);
		lock_put(&prog->lock);
		obj_prog_put(prog);
	}
	return done;
}

struct obj_poller *obj_prog_find(struct obj_prog *prog, const void *key)
{
	struct obj_poller *poller;

	list_for_each_entry(poller, &prog->pollers, node)
		if (poller->key == key)
			return poller;
	return NULL;
}

static void find_solo(struct obj_prog *prog)
{
	struct obj_poller *poller;
	unsigned cnt = 0;

	obj_prog_moves(prog);
	prog->solo = NULL;
	list_for_each_entry(poller, &prog->pollers, node)
		if (!poller->idle && !poller->quiet)
			prog->solo = cnt++ ? NULL : poller;
}

void obj_poller_rest(struct obj_poller *poller, bool idle)
{
	if (poller->idle == idle)
		return;
	poller->idle = idle;
	find_solo(poller->prog);
}

void obj_poller_set_quiet(struct obj_poller *poller, bool quiet)
{
	if (poller->quiet == quiet)
		return;
	poller->quiet = quiet;
	poller->prog->quiet_cnt += quiet ? 1 : -1u;
	poller->prog->quiet_left = 0;
	find_solo(poller->prog);
}

/* end_quiet - each poller asks the kernel again. */
static void end_quiet(struct obj_prog *prog)
{
	struct obj_poller *poller;

	if (prog->quiet_cnt)
		list_for_each_entry(poller, &prog->pollers, node)
			obj_poller_set_quiet(poller, false);
}

void obj_poller_set_active(struct obj_poller *poller, bool active)
{
	if (poller->active == active)
		return;
	poller->active = active;
	if (!active)
		end_quiet(poller->prog);
}

int obj_prog_poll_quiet_now(struct obj_prog *prog)
{
	uint64_t now = clock_ns();
	struct obj_poller *poller;
	int done = 0;

	prog->quiet_left = QUIET_EVERY - 1;
	if (now - prog->quiet_ns < QUIET_NS)
		return 0;
	prog->quiet_ns = now;
	list_for_each_entry(poller, &prog->pollers, node)
		if (poller->quiet)
			done += poller->ops->poll(poller, OBJ_POLL_BUDGET);
	if (done)
		prog->quiet_left = 0;
	return done;
}

void obj_prog_add(struct obj_prog *prog, struct obj_poller *poller)
{
	poller->prog = prog;
	list_add_tail(&poller->node, &prog->pollers);
	prog->poller_cnt++;
	find_solo(prog);
	/* Those who sleep do not have its fd yet. */
	obj_prog_moved(prog, 0);
}

int obj_prog_poll_each(struct obj_prog *prog)
{
	struct obj_poller *poller;
	int done = 0;

	list_for_each_entry(poller, &prog->pollers, node)
		if (!poller->idle && !poller->quiet)
			done += poller->ops->poll(poller, OBJ_POLL_BUDGET);
	return done;
}

bool obj_prog_others_active(const struct obj_poller *poller)
{
	const struct obj_poller *other;

	list_for_each_entry(other, &poller->prog->pollers, node)
		if (other->active && other != poller)
			return true;
	return false;
}

static int make_timer(struct obj_prog *prog)
{
	int ret;

	if (prog->alarm.event.fd >= 0 || obj_prog_is_closed(prog))
		return 0;
	ret = os_alarm_open(&prog->alarm);
	if (ret)
		return ret;
	ret = os_event_open(&prog->kick);
	if (ret) {
		os_alarm_close(&prog->alarm);
		return ret;
	}
	prog->alarm_ns = prog->timer_ns = UINT64_MAX;
	return 0;
}

static int prog_watch(struct obj_prog *prog, int set, unsigned *seen)
{
	struct obj_poller *poller;
	unsigned i = 1;
	int ret = make_timer(prog);

	/* The timer and the kick count as the first poller. */
	if (!ret && !*seen && prog->alarm.event.fd >= 0) {
		ret = fdset_add(set, prog->alarm.event.fd, POLLIN, NULL);
		if (!ret || ret == -EEXIST)	/* the kick failed before */
			ret = fdset_add(set, prog->kick.fd, POLLIN, NULL);
		*seen = !ret;
	}
	if (ret || *seen > prog->poller_cnt)
		return ret;
	list_for_each_entry(poller, &prog->pollers, node) {
		if (i++ < *seen)
			continue;
		ret = poller->fd < 0 ? 0 : fdset_add(set, poller->fd, POLLIN, NULL);
		if (ret)
			return ret;
		*seen = i;
	}
	return 0;
}

int obj_prog_watch(struct obj_prog *prog, int set, unsigned *seen)
{
	int ret;

	lock_get(&prog->lock);
	ret = prog_watch(prog, set, seen);
	lock_put(&prog->lock);
	return ret;
}

int obj_prog_fd(struct obj_prog *prog)
{
	int ret = 0;

	lock_get(&prog->lock);
	if (prog->set_fd < 0)
		prog->set_fd = ret = fdset_open();
	if (ret >= 0)
		ret = prog_watch(prog, prog->set_fd, &prog->seen);
	if (!ret)
		ret = prog->set_fd;
	lock_put(&prog->lock);
	return ret;
}

/* Setting a timer that fires at once costs ten times as much as signalling an event: it is an
 * interrupt.  A deadline that the timer has already costs nothing.
 */
void obj_prog_set_timer(struct obj_prog *prog, uint64_t deadline_ns)
{
	if (deadline_ns <= 1) {
		prog->timer_ns = 1;
		os_event_signal(&prog->kick);
		return;
	}
	if (prog->timer_ns == 1)
		os_event_clear(&prog->kick);
	prog->timer_ns = deadline_ns;
	if (deadline_ns == prog->alarm_ns)
		return;
	prog->alarm_ns = deadline_ns;
	os_alarm_set(&prog->alarm, deadline_ns);
}

/* A timer that is set to fire sooner is left alone: waking once for nothing when it
 * does costs less than a system call with each sleep, of which most end before.
 */
static void timer_follow(struct obj_prog *prog, uint64_t deadline_ns)
{
	if (deadline_ns == prog->timer_ns || obj_prog_is_closed(prog))
		return;
	if (deadline_ns < prog->timer_ns || prog->timer_ns <= clock_ns())
		obj_prog_set_timer(prog, deadline_ns);
}

int obj_prog_arm(struct obj_prog *prog)
{
	uint64_t deadline = UINT64_MAX;
	struct obj_poller *poller;
	int ret;

	lock_get(&prog->lock);
	ret = make_timer(prog);
	if (ret)
		goto out;
	obj_prog_moves(prog);
	end_quiet(prog);	/* the next poll finds what wakes the sleeper */
	list_for_each_entry(poller, &prog->pollers, node) {
		ret = poller->ops->arm(poller, &deadline);
		if (ret)
			goto out;
	}
	timer_follow(prog, deadline);
out:
	lock_put(&prog->lock);
	return ret;
}

void obj_prog_leave_sleep(struct obj_prog *prog)
{
	if (atomic_fetch_sub(&prog->sleepers, 1) == 1 &&
	    obj_prog_set_driver(prog, OBJ_DRIVER_SLEEPERS, OBJ_DRIVER_PROGRAM))
		obj_auto_kick(prog);
}

/* ---- feeds --------------------------------------------------------------- */

void obj_feed_init(struct obj_feed *feed)
{
	atomic_init(&feed->single, NULL);
	atomic_init(&feed->newest, NULL);
	pthread_mutex_init(&feed->lock, NULL);
}

void obj_feed_fini(struct obj_feed *feed)
{
	struct obj_source *source, *older;

	for (source = obj_feed_newest(feed); source; source = older) {
		older = source->older;
		obj_prog_put(source->prog);
		free(source);
	}
	pthread_mutex_destroy(&feed->lock);
}

struct obj_prog *obj_feed_home(const struct obj_feed *feed)
{
	struct obj_source *source = obj_feed_newest(feed);

	while (source && source->older)
		source = source->older;
	return source ? source->prog : NULL;
}

/* feed_add - the caller holds the lock. */
static int feed_add(struct obj_feed *feed, struct obj_prog *prog)
{
	struct obj_source *newest = obj_feed_newest(feed), *source;

	for (source = newest; source; source = source->older)
		if (source->prog == prog)
			return 0;
	source = calloc(1, sizeof(*source));
	if (!source)
		return -FI_ENOMEM;
	obj_prog_get(prog);
	source->prog = prog;
	source->older = newest;
	atomic_store_explicit(&feed->newest, source, memory_order_release);
	atomic_store_explicit(&feed->single, newest ? NULL : prog, memory_order_release);
	return 0;
}

int obj_feed_add(struct obj_feed *feed, struct obj_prog *prog)
{
	int ret;

	pthread_mutex_lock(&feed->lock);
	ret = feed_add(feed, prog);
	pthread_mutex_unlock(&feed->lock);
	return ret;
}

void obj_prog_rest(struct obj_prog *prog)
{
	enum obj_next next = obj_idle_next(&prog->idle, clock_ns(), obj_spin_limit_ns());

	if (obj_asked_serve(prog))
		next = OBJ_NEXT_POLL;	/* the next step is asked for: a yield would delay it, and empty the caches */
	lock_put(&prog->lock);
	if (next != OBJ_NEXT_YIELD)
		return;
	sched_yield();
	if (!lock_try(&prog->lock))
		return;		/* another thread polls: it has its own view of the time */
	obj_idle_back(&prog->idle, clock_ns());
	lock_put(&prog->lock);
}

int obj_feed_poll_all(struct obj_feed *feed)
{
	struct obj_source *source;
	int done = 0;

	for (source = obj_feed_newest(feed); source; source = source->older)
		done += obj_prog_poll(source->prog);
	return done;
}

void obj_feed_unstage(struct obj_feed *feed)
{
	struct obj_source *source;
	struct obj_prog *prog;

	for (source = obj_feed_newest(feed); source; source = source->older) {
		prog = source->prog;
		if (!atomic_load_explicit(&prog->staged, memory_order_relaxed))
			continue;
		/* the lock's holder may be about to stage, not to poll: wait for it */
		atomic_fetch_add_explicit(&prog->polls, 1, memory_order_relaxed);
		lock_get(&prog->lock);
		obj_prog_unstaged(prog);
		obj_asked_serve(prog);
		obj_prog_poll_locked(prog);
		lock_put(&prog->lock);
	}
}

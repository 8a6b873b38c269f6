/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * group.h - progress groups and pollers.
 *
 * A progress group is the unit of locking and of polling.  Every enabled
 * endpoint is in one group; its lock guards all state of the endpoints in it,
 * the engine's and the provider's.  A transport registers one poller per group
 * that it shares among all its endpoints there, so that the cost of progress
 * follows the sockets that are active, not the endpoints that are open.
 *
 * Completion queues, counters and event queues remember which groups feed them
 * and drive those when they are read.
 *
 * Lock order: av->eps_lock, then prog->lock, then the lock of a cq, cntr, eq,
 * av or of the domain.  No lock below prog->lock is held across an upcall.
 */
#ifndef PROGRESS_GROUP_H
#define PROGRESS_GROUP_H

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rdma/fabric.h>

#include "base/list.h"
#include "base/lock.h"
#include "base/os/alarm.h"
#include "base/os/event.h"
#include "base/relax.h"
#include "progress/policy.h"
#include "progress/wake.h"

struct fi_provider;
struct obj_mr;
struct obj_poller;
struct obj_prog;
struct obj_wait;

/* What one poll may do at most, so that one busy transport starves no other. */
#define OBJ_POLL_BUDGET 64

/* What to do about accesses to a region. */
enum obj_revoke {
	OBJ_REVOKE_WAIT,	/* nothing; pollers are not called */
	OBJ_REVOKE_MARK,	/* record how far they are */
	OBJ_REVOKE_STOP,	/* the same, and begin nothing more: the peer gets an error */
	OBJ_REVOKE_CUT,		/* end the connections of those that are where they were */
};

struct obj_poller_ops {
	/* poll - do what there is to do, at most about @budget things.
	 *
	 * Returns how many things were done (packets, events, timers).
	 * Caller holds prog->lock.  May write completions and events.  Does not block.
	 */
	int (*poll)(struct obj_poller *poller, unsigned budget);

	/* arm - a thread is about to sleep.
	 *
	 * Return 0 if poller->fd is readable, or becomes readable, exactly when
	 * poll() would find something; lower *@deadline_ns (clock_ns(); UINT64_MAX
	 * is never) to the next timer.  Return -FI_EAGAIN if poll() has work now.
	 *
	 * The fd must not be readable for something that poll() cannot take away
	 * (a socket that is not read because receive buffers are missing leaves the
	 * interest set), or a sleeper would spin.
	 * Caller holds prog->lock.  May be called again without a poll between.
	 */
	int (*arm)(struct obj_poller *poller, uint64_t *deadline_ns);

	/* revoke - the region @mr closes or changes, and accesses to it that began in
	 * @phases (1 << obj_mr_use.phase) are still in flight; see enum obj_revoke.
	 * Caller holds prog->lock, outside of poll().  May be NULL.
	 */
	void (*revoke)(struct obj_poller *poller, const struct obj_mr *mr, unsigned phases,
		       enum obj_revoke how);

	/* close - the group ends; no endpoint is left in it.  Free the poller and
	 * close its fd.  No other thread uses the group any more.
	 */
	void (*close)(struct obj_poller *poller);
};

struct obj_poller {
	struct list node;		/* on prog->pollers */
	const struct obj_poller_ops *ops;
	const void *key;		/* whose: an address that only that transport uses */
	struct obj_prog *prog;		/* set by obj_prog_add() */
	int fd;				/* may be that of a set (fdset.h); fixed; -1: timers and arm() only */
	bool active;			/* it finds its work without a system call: obj_poller_set_active() */
	bool idle;			/* poll() would find nothing; set by obj_poller_rest() alone */
	bool quiet;			/* its fd shows all its work: obj_poller_set_quiet() */
};

/* A program that waits polls again and again.  As long as the only active poller would see by one word in
 * memory that something has come, and the word does not say so, most of these polls are left out: of
 * OBJ_IDLE_BLOCK one is made.
 */
struct obj_still {
	const _Atomic uint64_t *word;	/* NULL: each poll is made */
	uint16_t next;			/* its low bits once something has come */
};

/* What the program does with a group beside polling it. */
enum obj_prog_state {
	OBJ_PROG_INSIDE,	/* it sleeps in blocking calls of ours alone */
	OBJ_PROG_SHOWN,		/* it has passed fi_trywait(): it may sleep on descriptors without our knowing */
	OBJ_PROG_WAITING,	/* the same, and it has not polled since */
	OBJ_PROG_CLOSED,	/* the domain is gone: only an event queue still knows the group */
};

/* Who finds out that a group has work while the program does not poll it. */
enum obj_prog_driver {
	OBJ_DRIVER_PROGRAM,	/* the program, which polls again or sleeps on the descriptors */
	OBJ_DRIVER_SLEEPERS,	/* threads in blocking calls; the last one that leaves kicks the progress thread */
	OBJ_DRIVER_THREAD,	/* the progress thread, which sleeps, or is about to, until our fds show work */
};

/* The groups of a domain; guarded in group.c. */
struct obj_groups {
	struct list list;		/* struct obj_prog by node */
	unsigned leaving;		/* taken off, but not forgotten yet */
};

struct obj_prog {
	struct lock lock;		/* guards endpoints, pollers and what follows */
	struct obj_poller *solo;	/* the only poller that is not idle or quiet; NULL: none, or several */
	_Atomic uint64_t polls;		/* polls by application threads */
	_Atomic unsigned sleepers;	/* application threads asleep in a blocking call of ours */
	_Atomic(enum obj_prog_state) state;	/* changed by obj_prog_set_state() alone */
	_Atomic(enum obj_prog_driver) driver;	/* changed by obj_prog_set_driver() alone */
	_Atomic bool staged;		/* what the program believes sent waits for the next poll */
	struct obj_still still;		/* set by the only active poller, at the end of its poll */
	struct obj_idle idle;		/* polls by application threads that found nothing */
	/* up to here lies what a poll needs, in two lines; the end of @idle is seldom read */
	unsigned quiet_cnt;		/* quiet pollers, */
	uint64_t quiet_ns;		/* .. and when they were last polled */
	unsigned quiet_left;		/* calls of obj_prog_poll_quiet() that do nothing */
	struct list pollers;
	struct obj_groups *groups;	/* of its domain; NULL: group of passive endpoints, or the domain is gone */
	struct list node;		/* on groups->list */
	unsigned poller_cnt;
	_Atomic unsigned refs;		/* endpoints, queues and counters; last one frees */
	int set_fd;			/* what obj_prog_fd() gives; -1 until needed */
	unsigned seen;			/* pollers that are in it */
	struct os_alarm alarm;		/* fires at @alarm_ns; open once a thread has slept */
	struct os_event kick;		/* signalled once @timer_ns is 1, until the next arm; open as @alarm is */
	uint64_t alarm_ns;		/* UINT64_MAX: it does not fire */
	uint64_t timer_ns;		/* when sleepers wake; 0: none ever slept; 1: now; UINT64_MAX: never */
	pthread_mutex_t lead_lock;	/* guards the next three; within it only that of a wait object is taken */
	struct obj_wait *lead;		/* the object whose blocked threads sleep until our fds show work; or NULL */
	unsigned lead_cnt;		/* these threads */
	struct list followers;		/* those that sleep until their own object is signalled: see sleep.c */
	struct obj_auto_watch *watch;	/* the progress thread's view of us, or NULL */
};

/* obj_prog_moves - the next poll has something to do that obj_still.word does not show.
 * Caller holds prog->lock.
 */
static inline void obj_prog_moves(struct obj_prog *prog)
{
	prog->still.word = NULL;
}

/* obj_prog_set_state, obj_prog_set_driver - from @from to @to; false: it was not @from, and nothing has changed.
 *
 *     INSIDE -> SHOWN <-> WAITING; each of them -> CLOSED, which is the end
 *     PROGRAM <-> SLEEPERS, PROGRAM <-> THREAD; all but SLEEPERS -> PROGRAM by the progress thread alone
 *
 * Threading: any.
 */
static inline bool obj_prog_set_state(struct obj_prog *prog, enum obj_prog_state from, enum obj_prog_state to)
{
	assert(from != OBJ_PROG_CLOSED && to != OBJ_PROG_INSIDE && from != to && "an edge of the group's states");
	assert((to != OBJ_PROG_WAITING || from == OBJ_PROG_SHOWN) && "a program that waits has been shown");
	return atomic_compare_exchange_strong(&prog->state, &from, to);
}

static inline bool obj_prog_set_driver(struct obj_prog *prog, enum obj_prog_driver from, enum obj_prog_driver to)
{
	assert((from == OBJ_DRIVER_PROGRAM) != (to == OBJ_DRIVER_PROGRAM) && "sleepers and thread take over from the program");
	return atomic_compare_exchange_strong(&prog->driver, &from, to);
}

static inline bool obj_prog_is_closed(struct obj_prog *prog)
{
	return atomic_load_explicit(&prog->state, memory_order_relaxed) == OBJ_PROG_CLOSED;
}

/* obj_prog_new - make an empty group with one reference.
 *
 * @groups: those of its domain, which must outlive it; NULL for passive endpoints
 * @kind:   of the lock
 */
int obj_prog_new(struct obj_groups *groups, enum lock_kind kind, struct obj_prog **prog_p);
void obj_prog_get(struct obj_prog *prog);

/* obj_prog_put - drop a reference; the last one closes the pollers and frees.
 * Threading: the caller does not hold prog->lock.
 */
void obj_prog_put(struct obj_prog *prog);

/* obj_prog_close_all - the domain closes: end all its groups.  Those that an event
 * queue still knows stay as empty shells.  No endpoint is left in any of them.
 */
void obj_prog_close_all(struct obj_groups *groups);

/* obj_prog_revoke - call revoke() of all pollers of all @groups.  Then poll each
 * group.  Returns how many things that did.  Threading: caller holds no prog->lock.
 */
int obj_prog_revoke(struct obj_groups *groups, const struct obj_mr *mr, unsigned phases,
		    enum obj_revoke how);

/* obj_prog_find - the poller with @key, or NULL.  Caller holds prog->lock. */
struct obj_poller *obj_prog_find(struct obj_prog *prog, const void *key);

/* obj_prog_add - register @poller, with ops, key and fd set.
 *
 * Ownership: the group has it until ops->close().  Threading: caller holds prog->lock.
 */
void obj_prog_add(struct obj_prog *prog, struct obj_poller *poller);

/* obj_prog_share - the poller that a transport has in @prog, made on first use.
 *
 * @ops:  the transport's; their address is the key
 * @size: of its struct, which begins with its struct obj_poller
 * @prov: in whose name an error is logged
 *
 * Returns 0 if it was there; 1 if it is new: all zero, but for ops, key and fd (a
 * set of descriptors), for the caller to complete.  The group has it until ops->close().
 * Errors: -FI_ENOMEM, -FI_EMFILE, -FI_ENFILE.
 * Threading: caller holds prog->lock.
 */
int obj_prog_share(struct obj_prog *prog, const struct obj_poller_ops *ops, size_t size,
		   const struct fi_provider *prov, struct obj_poller **poller_p);

/* obj_poller_rest - @poller has nothing to do until the next call, or (false) has.
 * For pollers whose work comes by calls alone.  Threading: caller holds prog->lock.
 */
void obj_poller_rest(struct obj_poller *poller, bool idle);

/* obj_poller_set_active - @poller finds its work without a system call, or (false) no more.  While
 * it does, its poll() calls obj_prog_poll_quiet() in every 32nd poll or so.
 * Threading: caller holds prog->lock.
 */
void obj_poller_set_active(struct obj_poller *poller, bool active);

/* obj_poller_set_quiet - @poller has nothing to do but to ask the kernel, which it need not do in
 * each poll, since another one is active: it is polled by obj_prog_poll_quiet() alone.  That
 * ends by obj_poller_set_quiet(poller, false), before each sleep, and when no other is active.
 * Threading: caller holds prog->lock.
 */
void obj_poller_set_quiet(struct obj_poller *poller, bool quiet);

/* obj_prog_tick - the coarse clock has moved on: the next obj_prog_poll_quiet() is not left out. */
static inline void obj_prog_tick(struct obj_prog *prog)
{
	prog->quiet_left = 0;
}

/* obj_prog_poll_quiet - poll the quiet pollers, if some microseconds have passed since the last
 * time; after one that found nothing, in every eighth call only: a process that shares its processor
 * with others makes few polls, and such a system call would be a good part of each.
 * Returns how many things were done.
 * Threading: caller holds prog->lock, in poll() of a poller that is not quiet.
 */
int obj_prog_poll_quiet_now(struct obj_prog *prog);

static inline int obj_prog_poll_quiet(struct obj_prog *prog)
{
	return prog->quiet_cnt && !prog->quiet_left-- ? obj_prog_poll_quiet_now(prog) : 0;
}

/* obj_prog_poll_locked - poll every poller but the quiet ones; caller holds prog->lock.
 * Returns how many things were done.
 */
int obj_prog_poll_each(struct obj_prog *prog);

static inline int obj_prog_poll_locked(struct obj_prog *prog)
{
	struct obj_poller *solo = prog->solo;

	return __builtin_expect(solo != NULL, 1) ? solo->ops->poll(solo, OBJ_POLL_BUDGET) :
						   obj_prog_poll_each(prog);
}

/* obj_prog_rest - polls of @prog are in vain: yield if it is time.  Releases prog->lock. */
void obj_prog_rest(struct obj_prog *prog);

/* obj_prog_note_poll - an application thread polls. */
static inline void obj_prog_note_poll(struct obj_prog *prog)
{
	atomic_store_explicit(&prog->polls,
		atomic_load_explicit(&prog->polls, memory_order_relaxed) + 1,
		memory_order_relaxed);
	if (__builtin_expect(atomic_load_explicit(&prog->state, memory_order_relaxed) == OBJ_PROG_WAITING, 0))
		obj_prog_set_state(prog, OBJ_PROG_WAITING, OBJ_PROG_SHOWN);
}

/* obj_prog_still - an application thread is about to poll, and would find nothing: it need not.
 * Caller holds prog->lock.
 */
static inline __attribute__((always_inline)) bool obj_prog_still(struct obj_prog *prog)
{
	struct obj_still *still = &prog->still;
	unsigned polls = prog->idle.polls + 1;

	if (!still->word || polls % OBJ_IDLE_BLOCK == 0 ||
	    (uint16_t) atomic_load_explicit(still->word, memory_order_relaxed) == still->next)
		return false;
	prog->idle.polls = polls;
	cpu_settle();
	return true;
}

/* obj_prog_leave - an application thread has polled, and found @done things: release prog->lock; yield if it is time.
 * Returns @done.
 * @unlocked: the group's lock is LOCK_NONE; known where it is called
 */
static inline __attribute__((always_inline)) int obj_prog_leave(struct obj_prog *prog, int done,
								const bool unlocked)
{
	if (obj_idle_polled(&prog->idle, done)) {
		obj_prog_rest(prog);
		return 0;
	}
	if (unlocked)
		lock_is_none(&prog->lock);
	lock_put(&prog->lock);
	return done;
}

/* obj_prog_poll - poll every poller but the quiet ones, for an application thread that does not hold the
 * lock.  Does nothing when another thread is at it.
 */
static inline __attribute__((always_inline)) int obj_prog_poll_as(struct obj_prog *prog,
								  const bool unlocked)
{
	if (unlocked)
		lock_is_none(&prog->lock);
	obj_prog_note_poll(prog);
	return lock_try(&prog->lock) ? obj_prog_leave(prog, obj_prog_poll_locked(prog), unlocked) : 0;
}

static inline __attribute__((always_inline)) int obj_prog_poll(struct obj_prog *prog)
{
	return obj_prog_poll_as(prog, false);
}

/* obj_prog_others_active - does another poller of the group find work without asking the
 * kernel?  Then one that has to ask need not do so in each poll: @poller shares the
 * application's time with something fast.  Caller holds prog->lock.
 */
bool obj_prog_others_active(const struct obj_poller *poller);

/* obj_prog_watch - put what shows that the group has work into a set:
 * its pollers' fds and its timer.  Directly, not as one nested set, because
 * the kernel limits how deep and how often these may be nested.
 *
 * @seen: [in,out] pollers already in @set; 0 at first.  Pollers are only ever added,
 *        and adding one wakes the sleepers, who call this again.
 *
 * Threading: takes prog->lock.  Errors: -FI_EMFILE, -FI_ENOMEM, -FI_ENOSPC.
 */
int obj_prog_watch(struct obj_prog *prog, int set, unsigned *seen);

/* obj_prog_fd - the same as one fd, for the progress thread.
 * Call it before each sleep: it takes in new pollers.  Errors: as obj_prog_watch().
 *
 * obj_prog_close_fd - close it; the next obj_prog_fd() makes another one.
 * Threading: no other thread calls obj_prog_fd() meanwhile.
 */
int obj_prog_fd(struct obj_prog *prog);
void obj_prog_close_fd(struct obj_prog *prog);

/* obj_prog_arm - prepare for sleep on the fds of obj_prog_watch().
 *
 * Returns 0, or -FI_EAGAIN when there is work: poll instead.
 * Threading: takes prog->lock.
 */
int obj_prog_arm(struct obj_prog *prog);

/* obj_prog_enter_sleep, obj_prog_leave_sleep - an application thread blocks and
 * will drive the group when it wakes, so the progress thread need not.
 */
static inline void obj_prog_enter_sleep(struct obj_prog *prog)
{
	atomic_fetch_add(&prog->sleepers, 1);
}

void obj_prog_leave_sleep(struct obj_prog *prog);

void obj_prog_set_timer(struct obj_prog *prog, uint64_t deadline_ns);

/* obj_prog_sleeps_inside - may a thread of ours, or in a call of ours, be asleep on the fds?  Set before it arms.
 * obj_prog_sleeps - or a thread of the program outside of our calls?
 */
static inline bool obj_prog_sleeps_inside(const struct obj_prog *prog)
{
	return atomic_load_explicit(&prog->sleepers, memory_order_relaxed) ||
	       atomic_load_explicit(&prog->driver, memory_order_relaxed) == OBJ_DRIVER_THREAD;
}

static inline bool obj_prog_sleeps(const struct obj_prog *prog)
{
	return obj_prog_sleeps_inside(prog) ||
	       atomic_load_explicit(&prog->state, memory_order_relaxed) != OBJ_PROG_INSIDE;
}

/* obj_prog_moved - a call outside poll() gave a poller a deadline earlier than
 * the one it armed with, or (0) work that its fd does not show: a sleeper must
 * wake by then.  Who will sleep later finds it when it arms.
 * Caller holds prog->lock.  Cost: one compare unless earlier.
 */
static inline void obj_prog_moved(struct obj_prog *prog, uint64_t deadline_ns)
{
	/* 1: it fires at once as it is */
	if (__builtin_expect(deadline_ns < prog->timer_ns && prog->timer_ns > 1, 0) &&
	    obj_prog_sleeps(prog))
		obj_prog_set_timer(prog, deadline_ns);
}

/* obj_prog_staged - something whose completion may have been written already leaves
 * with the next poll.  A program that makes the progress itself may stop when it has
 * read the last completion: then that reading has to be the next poll.
 * Caller holds prog->lock.
 */
static inline void obj_prog_staged(struct obj_prog *prog)
{
	obj_prog_moves(prog);
	atomic_store_explicit(&prog->staged, true, memory_order_relaxed);
	obj_prog_moved(prog, 0);
}

/* obj_prog_unstaged - it has left; optional, for the poller that did it. */
static inline void obj_prog_unstaged(struct obj_prog *prog)
{
	atomic_store_explicit(&prog->staged, false, memory_order_relaxed);
}

/* obj_prog_disarm - a poll undoes what arm() did, so that the fds no longer show all
 * work: other threads that sleep on them must wake, look, and arm again.  For pollers whose
 * peers do not wake those that are awake.  Caller holds prog->lock.
 *
 * The next arm() may undo the wake-up before the sleeper has run; so each disarm() repeats it until
 * the sleeper itself says that it is awake.
 */
static inline void obj_prog_disarm(struct obj_prog *prog)
{
	if (obj_prog_sleeps(prog) && prog->timer_ns > 1)
		obj_prog_set_timer(prog, 0);
}

/* A group that feeds a queue or counter. */
struct obj_source {
	struct obj_prog *prog;
	struct obj_source *older;	/* the one that came before it, or NULL */
	unsigned seen[OBJ_WAKE_SIDES];	/* pollers of it that are in the set of that side: see wait.c */
};

/* The groups that feed a queue or counter: grows, never shrinks while the owner
 * lives, so that a reader needs no lock.  The first one is the owner's home: an
 * endpoint that is bound to it joins that group.
 */
struct obj_feed {
	_Atomic(struct obj_prog *) single;	/* the only one, the common case; else NULL */
	_Atomic(struct obj_source *) newest;
	pthread_mutex_t lock;			/* writers */
};

/* obj_feed_newest - the first of a list that does not change: more sources come before it. */
static inline struct obj_source *obj_feed_newest(const struct obj_feed *feed)
{
	return atomic_load_explicit(&feed->newest, memory_order_acquire);
}

void obj_feed_init(struct obj_feed *feed);
void obj_feed_fini(struct obj_feed *feed);

/* obj_feed_add - @prog feeds the owner from now on; holds a reference on it.
 * Returns 0 (also when it was there), -FI_ENOMEM.
 */
int obj_feed_add(struct obj_feed *feed, struct obj_prog *prog);

/* obj_feed_home - the group that an endpoint bound to the owner joins, or NULL. */
struct obj_prog *obj_feed_home(const struct obj_feed *feed);

/* obj_feed_unstage - drive those groups that keep something staged. */
void obj_feed_unstage(struct obj_feed *feed);

/* obj_feed_may_stage - false when there is nothing for obj_feed_unstage() to do.
 * Cost: for a single group, the common case, two loads.
 */
static inline bool obj_feed_may_stage(struct obj_feed *feed)
{
	struct obj_prog *single = atomic_load_explicit(&feed->single, memory_order_acquire);

	if (__builtin_expect(single != NULL, 1))
		return atomic_load_explicit(&single->staged, memory_order_relaxed);
	return obj_feed_newest(feed) != NULL;
}

/* obj_feed_poll - drive all groups.  Returns how many things were done. */
int obj_feed_poll_all(struct obj_feed *feed);

static inline __attribute__((always_inline)) int obj_feed_poll(struct obj_feed *feed)
{
	struct obj_prog *single = atomic_load_explicit(&feed->single, memory_order_acquire);

	return __builtin_expect(single != NULL, 1) ? obj_prog_poll(single) : obj_feed_poll_all(feed);
}

#endif

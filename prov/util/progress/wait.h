/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * wait.h - blocking on queues and counters: wait objects.
 *
 * A struct obj_wait is part of each cq, cntr, eq and wait set.  A producer calls
 * obj_wait_signal(), which is one load unless a waiter has armed the object.
 * What FI_GETWAIT hands out is one fd per object: a set (fdset.h) of an eventfd
 * (signalled by producers while armed) and the fds of the groups that feed the
 * object.  So a program that blocks on it wakes when the network has something,
 * and not before; it then reads the queue, which makes the progress.  Blocking
 * calls of ours sleep on another one of that kind (wake.h says why).
 *
 * The rule against lost wake-ups: a waiter arms first, then looks at the queue
 * once more; a producer stores first, then looks at armed.  Both sides do it
 * under the owner's lock, or with sequentially consistent atomics (counters).
 */
#ifndef PROGRESS_WAIT_H
#define PROGRESS_WAIT_H

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_eq.h>

#include "base/list.h"
#include "progress/group.h"
#include "progress/policy.h"
#include "progress/wake.h"

struct obj_wait;

/* Is there something for @wait's owner to return?  Takes the owner's lock. */
typedef bool (*obj_wait_ready_fn)(struct obj_wait *wait, const void *arg);

/* What FI_WAIT_MUTEX_COND gives to programs. */
struct obj_wait_pair {
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	_Atomic uintptr_t passed;	/* lock_thread() of the last that passed fi_trywait() and has made no call since, */
					/* without a signal since; or 0 */
};

/* One kind of wait object; see the table in wait.c. */
struct obj_wait_kind {
	/* get - FI_GETWAIT: fill @arg.  @fd: the descriptor that shows work; -1 */
	int (*get)(int fd, struct obj_wait_pair *pair, void *arg);

	/* try - fi_trywait(), when nothing is there: have what get() gives show what comes from now on. */
	int (*try)(struct obj_wait *wait);

	/* wake - threads that no descriptor of the object wakes.  May be called with locks held. */
	void (*wake)(struct obj_wait *wait);

	bool blocks;			/* blocking reads may be used */
	bool has_fd;
	bool of_sets;			/* wait sets may be of this kind */
	bool yields;			/* blocking reads yield the processor, and do not sleep */
};

struct obj_wait {
	enum fi_wait_obj type;		/* as opened */
	struct obj_wake wake;		/* who sleeps, under waker.lock but for @armed */
	bool paired;			/* the program waits by a mutex and a condition, its own or those of the set */
	struct obj_feed feed;		/* groups to drive while waiting */
	struct obj_waker waker;
	pthread_mutex_t fd_lock;	/* guards @set_fd and obj_source.seen; taken before any prog->lock */
	int set_fd[OBJ_WAKE_SIDES];	/* over that side's eventfd and the groups; -1 until needed */
	const struct obj_wait_kind *kind;
	struct obj_wait_pair pair;
	struct obj_wait *set;		/* FI_WAIT_SET: that of the set, for which threads wait instead; always @armed */
	struct list set_node;		/* of @members of the set */
	bool is_set;			/* that of a set: it has members, and no group of its own */
	uint8_t in_set;			/* by side: the set has its descriptor; under members_lock of the set */
	pthread_mutex_t members_lock;	/* guards @members; taken before the locks of their owners, and any prog->lock */
	struct list members;		/* of a set: struct obj_wait by set_node */
	obj_wait_ready_fn ready;	/* of the owner, for trywait and wait sets */
};

/* obj_wait_kind_of - of objects, or (@set) of wait sets.  NULL: there is none of that type. */
const struct obj_wait_kind *obj_wait_kind_of(enum fi_wait_obj type, bool set);

/* obj_wait_init - prepare @wait, which joins its set afterwards; is_set is the caller's.
 * Errors: -FI_EINVAL unknown type.
 */
int obj_wait_init(struct obj_wait *wait, enum fi_wait_obj type, obj_wait_ready_fn ready);
void obj_wait_fini(struct obj_wait *wait);

void obj_wait_wake(struct obj_wait *wait);

/* obj_wait_signal - something was put where the waiter looks.
 * Threading: after the store; caller holds the owner's lock, or has just done a
 * sequentially consistent read-modify-write on what the waiter looks at.
 */
static inline void obj_wait_signal(struct obj_wait *wait)
{
	if (__builtin_expect(atomic_load(&wait->wake.armed), 0))
		obj_wait_wake(wait);
}

/* obj_wait_can_block - may blocking reads be used? */
static inline bool obj_wait_can_block(const struct obj_wait *wait)
{
	return wait->kind->blocks;
}

/* obj_wait_sleep - block until @ready says so, obj_wait_wake() is called, or time is up;
 * drives the feeding groups meanwhile.
 *
 * @deadline_ns: clock_ns() time; 0 is for ever
 *
 * Returns 0: look again (may be spurious); -FI_ETIMEDOUT: the deadline has
 * passed, never before it; -FI_EINTR: a signal handler ran.
 * Threading: holds no lock.
 */
int obj_wait_sleep(struct obj_wait *wait, uint64_t deadline_ns, obj_wait_ready_fn ready,
		   const void *arg);

/* obj_wait_join - @wait, of type FI_WAIT_SET, becomes a member of @set: what signals it signals @set, and threads
 * that wait for @set drive its groups.
 *
 * obj_wait_leave - before obj_wait_fini() of a member.
 */
void obj_wait_join(struct obj_wait *wait, struct obj_wait *set);
void obj_wait_leave(struct obj_wait *wait);

/* obj_wait_poll - drive the groups of @wait.  Returns how many things were done. */
int obj_wait_poll_members(struct obj_wait *set);

static inline int obj_wait_poll(struct obj_wait *wait)
{
	return __builtin_expect(wait->is_set, 0) ? obj_wait_poll_members(wait) : obj_feed_poll(&wait->feed);
}

/* obj_wait_feed - @prog feeds the owner from now on; sleepers notice.
 * Errors: -FI_ENOMEM.
 */
int obj_wait_feed(struct obj_wait *wait, struct obj_prog *prog);

/* obj_wait_try - fi_trywait() of one object: 0 or -FI_EAGAIN. */
int obj_wait_try(struct obj_wait *wait);

/* obj_wait_called - this thread makes a call that takes a lock which a producer holds while it signals: if it has
 * passed fi_trywait(), it is not about to sleep after all, and the producer need not wait for it.
 * Threading: the caller holds none of these locks yet.
 */
void obj_wait_unpass(struct obj_wait *wait);

static inline void obj_wait_called(struct obj_wait *wait)
{
	if (__builtin_expect(wait->paired, 0))
		obj_wait_unpass(wait);
}

/* obj_wait_control - FI_GETWAIT and FI_GETWAITOBJ.
 * Errors: -FI_ENODATA for FI_GETWAIT on FI_WAIT_NONE, YIELD and SET; else -FI_ENOSYS
 * for other commands.
 */
int obj_wait_control(struct obj_wait *wait, int cmd, void *arg);

/* ---- the parts ------------------------------------------------------------ */

/* obj_wait_fd - the set of @side, with all groups in it, or a negative error. */
int obj_wait_fd(struct obj_wait *wait, enum obj_wake_side side);

/* obj_wait_arm_groups - true if a group has work that wants polling, not sleep.
 * @outside: the program sleeps without our knowing when
 */
bool obj_wait_arm_groups(struct obj_wait *wait, bool outside);

/* obj_wait_force - wake all that sleep, now, armed or not. */
void obj_wait_force(struct obj_wait *wait);

#endif

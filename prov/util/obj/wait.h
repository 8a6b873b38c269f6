/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * wait.h - blocking on queues and counters: wait objects, wait sets, trywait.
 *
 * A struct obj_wait is part of each cq, cntr and eq.  A producer calls
 * obj_wait_signal(), which is one load unless a waiter has armed the object.
 * What FI_GETWAIT hands out is one fd per object: an epoll fd over an eventfd
 * (signalled by producers while armed) and the fds of the groups that feed the
 * object.  So a program that blocks on it wakes when the network has something,
 * and not before; it then reads the queue, which makes the progress.
 *
 * The rule against lost wake-ups: a waiter arms first, then looks at the queue
 * once more; a producer stores first, then looks at armed.  Both sides do it
 * under the owner's lock, or with sequentially consistent atomics (counters).
 */
#ifndef OBJ_WAIT_H
#define OBJ_WAIT_H

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_eq.h>

#include "base/list.h"
#include "obj/prog.h"
#include "obj/ref.h"

struct obj_wait;
struct obj_waitset;

/* Is there something for @wait's owner to return?  Takes the owner's lock. */
typedef bool (*obj_wait_ready_fn)(struct obj_wait *wait, const void *arg);

struct obj_wait {
	enum fi_wait_obj type;		/* as opened */
	_Atomic bool armed;		/* under @lock, as the next five: the next signal must wake a thread; or evfd
					 * is readable */
	bool signalled;			/* evfd is readable */
	unsigned appointed;		/* threads that are to lead, and do not know it yet: evfd stays readable */
	_Atomic bool outside;		/* the program, or a set, has slept on it without our knowing when */
	unsigned inside;		/* threads in obj_wait_sleep() that rely on @armed */
	int evfd;			/* eventfd; -1 for FI_WAIT_NONE and YIELD */
	struct obj_feed feed;		/* groups to drive while waiting */
	pthread_mutex_t lock;		/* innermost lock */
	pthread_mutex_t fd_lock;	/* guards the next three; taken before any prog->lock */
	int epfd;			/* over evfd and the groups; what programs get; -1 until needed */
	unsigned *seen;			/* by group of @feed: pollers that are in epfd */
	unsigned seen_cnt;
	pthread_mutex_t mutex;		/* FI_WAIT_MUTEX_COND: what programs get */
	pthread_cond_t cond;
	struct obj_waitset *set;	/* FI_WAIT_SET: the set that is signalled */
	struct list set_node;		/* on set->members */
	struct obj_ref set_ref;
	struct obj_spin spin;		/* how long to poll before sleeping */
	obj_wait_ready_fn ready;	/* of the owner, for trywait and wait sets */
};

/* obj_wait_init - prepare @wait for @owner.
 *
 * @set: for FI_WAIT_SET
 * Errors: -FI_EINVAL unknown type or no set, -FI_ENOMEM, -FI_EMFILE.
 */
int obj_wait_init(struct obj_wait *wait, enum fi_wait_obj type, struct fid_wait *set,
		  const struct fid *owner, obj_wait_ready_fn ready);
void obj_wait_fini(struct obj_wait *wait);

void obj_wait_wake(struct obj_wait *wait);

/* obj_wait_signal - something was put where the waiter looks.
 * Threading: after the store; caller holds the owner's lock, or has just done a
 * sequentially consistent read-modify-write on what the waiter looks at.
 */
static inline void obj_wait_signal(struct obj_wait *wait)
{
	if (__builtin_expect(atomic_load(&wait->armed), 0))
		obj_wait_wake(wait);
}

/* obj_wait_can_block - may blocking reads be used?  Not on NONE and SET. */
static inline bool obj_wait_can_block(const struct obj_wait *wait)
{
	return wait->type != FI_WAIT_NONE && wait->type != FI_WAIT_SET;
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

/* obj_wait_feed - @prog feeds the owner from now on; sleepers notice.
 * Errors: -FI_ENOMEM.
 */
int obj_wait_feed(struct obj_wait *wait, struct obj_prog *prog);

/* obj_wait_try - fi_trywait() of one object: 0 or -FI_EAGAIN. */
int obj_wait_try(struct obj_wait *wait);

/* obj_wait_control - FI_GETWAIT and FI_GETWAITOBJ.
 * Errors: -FI_ENODATA for FI_GETWAIT on FI_WAIT_NONE, YIELD and SET; else -FI_ENOSYS
 * for other commands.
 */
int obj_wait_control(struct obj_wait *wait, int cmd, void *arg);

/* obj_wait_of - the wait part of a cq, cntr or eq; NULL for other classes. */
struct obj_wait *obj_wait_of(struct fid *fid);

/* ---- the parts, for wait sets -------------------------------------------- */

/* obj_wait_fd - the epoll fd, with all groups in it, or a negative error. */
int obj_wait_fd(struct obj_wait *wait);

/* obj_wait_arm - from now on, signals wake; what was signalled before is forgotten. */
void obj_wait_arm(struct obj_wait *wait);

/* obj_wait_enter - a thread that will say when it is awake again is about to sleep: signals wake.
 * obj_wait_leave - it is.  If it was the only one, what it finds now by its own polling need not be
 * signalled.
 */
void obj_wait_enter(struct obj_wait *wait);
void obj_wait_leave(struct obj_wait *wait);

/* obj_wait_arm_groups - true if a group has work that wants polling, not sleep. */
bool obj_wait_arm_groups(struct obj_wait *wait);

/* obj_wait_force - wake all that sleep, now, armed or not. */
void obj_wait_force(struct obj_wait *wait);

/* obj_wait_get - FI_GETWAIT: fill @arg as @type wants it. */
int obj_wait_get(enum fi_wait_obj type, int fd, pthread_mutex_t *mutex, pthread_cond_t *cond,
		 void *arg);

/* A mutex and condition as FI_WAIT_MUTEX_COND shows them, and waking its waiters. */
void obj_wait_cond_init(pthread_mutex_t *mutex, pthread_cond_t *cond);
void obj_wait_cond_wake(pthread_mutex_t *mutex, pthread_cond_t *cond);

#endif

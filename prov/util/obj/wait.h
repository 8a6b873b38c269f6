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

struct obj_wait_set;

struct obj_wait {
	enum fi_wait_obj type;		/* as opened; FI_WAIT_UNSPEC is treated as FD */
	_Atomic bool armed;		/* the next signal must wake somebody */
	bool signalled;			/* eventfd may be readable; owner's lock */
	int evfd;			/* eventfd, -1 for FI_WAIT_NONE and YIELD */
	int epfd;			/* over evfd and groups; what programs get; -1 until needed */
	unsigned ep_cnt;		/* groups of @feed that are in epfd */
	pthread_mutex_t fd_lock;	/* guards the making of epfd */
	struct pollfd pollfd;		/* what FI_WAIT_POLLFD shows */
	pthread_mutex_t mutex;		/* FI_WAIT_MUTEX_COND */
	pthread_cond_t cond;
	struct obj_wait_set *set;	/* FI_WAIT_SET: the set that is told */
	struct list set_node;		/* on set->members */
	struct obj_ref set_ref;
	struct obj_feed feed;		/* groups to drive while waiting */
	/* ready - would a read of the owner return something?  Sets or clears
	 * @wait->armed under the owner's lock in the same breath.
	 */
	bool (*ready)(struct obj_wait *wait, bool arm);
};

/* obj_wait_init - prepare @wait for @owner.
 *
 * @set: for FI_WAIT_SET
 * Errors: -FI_EINVAL unknown type, -FI_ENOMEM, -FI_EMFILE.
 */
int obj_wait_init(struct obj_wait *wait, enum fi_wait_obj type, struct fid_wait *set,
		  const struct fid *owner, bool (*ready)(struct obj_wait *, bool arm));
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

/* obj_wait_sleep - block until the owner is ready, somebody wakes it, or time
 * is up; drives the feeding groups meanwhile.
 *
 * @deadline_ns: clock_ns() time; 0 is for ever
 *
 * Returns 0: look again (may be spurious); -FI_ETIMEDOUT: the deadline has
 * passed, never before it; -FI_EINTR: a signal handler ran.
 * Threading: holds no lock.
 */
int obj_wait_sleep(struct obj_wait *wait, uint64_t deadline_ns);

/* obj_wait_try - fi_trywait() of one object: 0 or -FI_EAGAIN. */
int obj_wait_try(struct obj_wait *wait);

/* obj_wait_control - FI_GETWAIT and FI_GETWAITOBJ.
 * Errors: -FI_ENODATA for FI_GETWAIT on FI_WAIT_NONE, YIELD and SET; else -FI_ENOSYS
 * for other commands.
 */
int obj_wait_control(struct obj_wait *wait, int cmd, void *arg);

/* ---- wait sets ----------------------------------------------------------- */

struct obj_wait_set {
	struct fid_wait fid;
	struct obj_fabric *fabric;
	struct obj_ref fabric_ref;
	struct obj_refs refs;
	enum fi_wait_obj type;
	pthread_mutex_t lock;		/* guards @members */
	struct list members;		/* struct obj_wait by set_node */
	int epfd;			/* over the members' epfds */
	struct pollfd pollfd;
	pthread_mutex_t mutex;
	pthread_cond_t cond;
};

/* obj_wait_open - fi_wait_open(). */
int obj_wait_open(struct fid_fabric *fabric, struct fi_wait_attr *attr,
		  struct fid_wait **waitset);

/* obj_trywait - fi_trywait() on cqs, cntrs, eqs and wait sets, mixed. */
int obj_trywait(struct fid_fabric *fabric, struct fid **fids, int count);

/* obj_wait_of - the wait part of a cq, cntr or eq; NULL for other classes. */
struct obj_wait *obj_wait_of(struct fid *fid);

#endif

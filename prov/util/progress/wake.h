/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * wake.h - who sleeps on a wait object or a wait set, and who of them has still to see a wake-up: first the state
 * alone, without locks, descriptors and clocks; then the lock and the descriptors that it needs.
 *
 * Threads sleep on it in two ways, with a descriptor each.
 *
 * Inside, in a blocking call of ours.  A signal is for each thread that is inside at that time.  The descriptor
 * stays readable until all of them have left, so a thread that is woken too early and enters again does not take
 * the wake-up from the others: it waits until they have looked.  They are awake, so that is soon.
 *
 * Outside, in a call of the program's own after fi_trywait().  When such a thread is awake again is not known.
 * The descriptor stays readable until a later fi_trywait() finds nothing that is unread.
 */
#ifndef PROGRESS_WAKE_H
#define PROGRESS_WAKE_H

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/os/event.h"

enum obj_wake_side {
	OBJ_WAKE_IN,
	OBJ_WAKE_OUT,
	OBJ_WAKE_SIDES,
};

struct obj_wake {
	_Atomic bool armed;		/* the next signal must wake; read without a lock */
	bool outside;			/* a thread has slept outside: whether one does now is not known */
	uint8_t readable;		/* by side: the descriptor is */
	unsigned inside;		/* threads that have entered and have not left, */
	unsigned owed;			/* .. and those of them that a signal has woken */
	unsigned round;			/* signals that have woken */
};

#define OBJ_WAKE_BOTH ((1u << OBJ_WAKE_IN) | (1u << OBJ_WAKE_OUT))

/* obj_wake_signal - all that sleep have to look.
 * Returns the descriptors that are to be made readable, by side: 1 << OBJ_WAKE_IN, 1 << OBJ_WAKE_OUT.
 */
static inline unsigned obj_wake_signal(struct obj_wake *wake)
{
	unsigned make = OBJ_WAKE_BOTH & ~wake->readable;

	atomic_store(&wake->armed, false);
	wake->readable = OBJ_WAKE_BOTH;
	wake->owed = wake->inside;
	wake->round++;
	return make;
}

/* obj_wake_clear - no thread needs the descriptor of @side to be readable.  Returns true if it is. */
static inline bool obj_wake_clear(struct obj_wake *wake, enum obj_wake_side side)
{
	bool was = wake->readable & (1u << side);

	wake->readable &= (uint8_t) ~(1u << side);
	atomic_store(&wake->armed, true);
	return was;
}

/* obj_wake_may_enter - false while threads that were woken have not left. */
static inline bool obj_wake_may_enter(const struct obj_wake *wake)
{
	return !wake->owed;
}

/* obj_wake_enter - a thread is about to look, and to sleep inside if it finds nothing.  Returns true if the
 * descriptor is readable and must not be.
 * @round: [out] for obj_wake_leave()
 */
static inline bool obj_wake_enter(struct obj_wake *wake, unsigned *round)
{
	assert(obj_wake_may_enter(wake) && "those that were woken have looked");
	wake->inside++;
	*round = wake->round;
	return obj_wake_clear(wake, OBJ_WAKE_IN);
}

/* obj_wake_leave - the thread is awake.  If it was the only one, what it finds now by its own polling need not
 * be signalled.  Returns true if others may enter who could not.
 */
static inline bool obj_wake_leave(struct obj_wake *wake, unsigned round)
{
	bool woken = round != wake->round;

	assert(wake->inside && (!woken || wake->owed) && "it has entered");
	if (!--wake->inside && !wake->outside)
		atomic_store(&wake->armed, false);
	return woken && !--wake->owed;
}

/* obj_wake_show - a thread is about to look, and to sleep outside if it finds nothing.  Returns true if the
 * descriptor is readable and must not be.
 */
static inline bool obj_wake_show(struct obj_wake *wake)
{
	wake->outside = true;
	return obj_wake_clear(wake, OBJ_WAKE_OUT);
}

/* ---- with a lock and descriptors: waker.c ------------------------------------------------ */

struct obj_waker {
	struct obj_wake *wake;		/* the owner's, under @lock */
	pthread_mutex_t lock;		/* innermost lock */
	pthread_cond_t left;		/* threads wait here until they may enter */
	struct os_event ev[OBJ_WAKE_SIDES];	/* not open until a thread sleeps on that side */
};

/* obj_waker_init - @wake is all zero; it lies with what its owner's producers read. */
void obj_waker_init(struct obj_waker *waker, struct obj_wake *wake);
void obj_waker_fini(struct obj_waker *waker);

/* obj_waker_fd - the descriptor of @side.  Errors: -FI_EMFILE, -FI_ENFILE, -FI_ENOMEM. */
int obj_waker_fd(struct obj_waker *waker, enum obj_wake_side side);

/* obj_waker_signal - wake all that sleep, if a thread has armed the state or @force is set.
 * Returns whether it did.  Threading: any; the caller may hold any lock.
 */
bool obj_waker_signal(struct obj_waker *waker, bool force);

/* obj_waker_enter - a thread is about to look, and to sleep inside if it finds nothing.
 * Waits until the threads that were woken before have left.
 * @round: [out] for obj_waker_leave()
 * Errors: as obj_waker_fd().  Threading: the caller holds no lock that a thread takes between the two calls.
 */
int obj_waker_enter(struct obj_waker *waker, unsigned *round);

/* obj_waker_leave - it is awake.  Returns true if there was a signal since it entered. */
bool obj_waker_leave(struct obj_waker *waker, unsigned round);

/* obj_waker_show - a thread is about to look, and to sleep outside if it finds nothing.
 * Returns obj_waker_round().
 *
 * obj_waker_round - changes with each signal that wakes.
 */
unsigned obj_waker_show(struct obj_waker *waker);
unsigned obj_waker_round(struct obj_waker *waker);

#endif

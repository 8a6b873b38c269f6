/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * lock.h - a lock whose kind is chosen at initialization.
 *
 * An object that no two threads may use at once (FI_THREAD_DOMAIN, FI_THREAD_COMPLETION,
 * FI_THREAD_ENDPOINT, and no progress thread) gets LOCK_NONE, which costs one predictable
 * branch. Other objects get LOCK_MUTEX, which sleeps under contention, because a holder may be
 * inside a system call.
 *
 * The mutex is a futex word, taken inline.  A short message takes seven of them; a pthread
 * mutex, which records an owner and a type behind two function calls, costs about twice as
 * much.
 *
 * In debug builds LOCK_NONE records that it is held and asserts that it is not entered twice,
 * which finds programs that break the threading level they asked for.
 */
#ifndef BASE_LOCK_H
#define BASE_LOCK_H

#include <assert.h>
#include <stdbool.h>

enum lock_kind {
	LOCK_NONE,
	LOCK_MUTEX,
};

/* Its kind never changes, so that the branch on it is predicted. */
struct lock {
	enum lock_kind kind;
#ifndef NDEBUG
	int held;		/* LOCK_NONE: entered and not yet left */
#endif
	unsigned word;		/* LOCK_MUTEX: 0 free, 1 held, 2 held, with possible waiters */
};

/* lock_wait - slow path of lock_get(): sleep until the mutex is free, and take it.
 * lock_wake - slow path of lock_put(): wake one waiter.
 */
void lock_wait(struct lock *l);
void lock_wake(struct lock *l);

/* lock_init - a free lock.  Returns 0. */
static inline int lock_init(struct lock *l, enum lock_kind kind)
{
	l->kind = kind;
#ifndef NDEBUG
	l->held = 0;
#endif
	l->word = 0;
	return 0;
}

/* lock_destroy - no thread holds it or waits for it. */
static inline void lock_destroy(struct lock *l)
{
	assert(!l->word && "a lock is free when it is destroyed");
	(void) l;
}

/* lock_is_none - tell the compiler that @l is LOCK_NONE, so that it leaves out the branch. */
static inline void lock_is_none(const struct lock *l)
{
	if (l->kind != LOCK_NONE)
		__builtin_unreachable();
}

/* lock_take - from free to held in one step; false: it is held. */
static inline bool lock_take(struct lock *l)
{
	unsigned free = 0;

	return __atomic_compare_exchange_n(&l->word, &free, 1, false, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

/* lock_get - take the lock.  It is not recursive.
 * Threading: LOCK_MUTEX may sleep, so not in a signal handler.
 */
static inline void lock_get(struct lock *l)
{
	if (l->kind == LOCK_MUTEX) {
		if (__builtin_expect(!lock_take(l), 0))
			lock_wait(l);
	}
#ifndef NDEBUG
	else
		assert(!l->held++ && "two threads in an object whose threading level allows one");
#endif
}

/* lock_try - take the lock if that needs no waiting; true if the caller now holds it. */
static inline bool lock_try(struct lock *l)
{
	if (l->kind == LOCK_MUTEX)
		return lock_take(l);
#ifndef NDEBUG
	if (l->held)
		return false;
	l->held = 1;
#endif
	return true;
}

/* lock_put - the holder releases it, and wakes a waiter if there may be one. */
static inline void lock_put(struct lock *l)
{
	if (l->kind == LOCK_MUTEX) {
		if (__builtin_expect(__atomic_exchange_n(&l->word, 0, __ATOMIC_RELEASE) == 2, 0))
			lock_wake(l);
	}
#ifndef NDEBUG
	else
		l->held = 0;
#endif
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * lock.h - a lock whose kind is chosen when it is made.
 *
 * An object that no two threads may use at once (FI_THREAD_DOMAIN,
 * FI_THREAD_COMPLETION, FI_THREAD_ENDPOINT, and no progress thread) gets
 * LOCK_NONE, which costs one predictable branch; the others get a mutex, which
 * sleeps under contention because a holder may be inside a system call.
 *
 * The mutex is a futex word.  A short message passes seven of them, and next to
 * pthread's, which also keeps an owner and a kind behind two calls, half of what
 * it costs is saved.
 *
 * LOCK_NONE still notes the holder in debug builds and asserts that it is not
 * entered twice, so that a caller that breaks its threading promise is found.
 */
#ifndef BASE_LOCK_H
#define BASE_LOCK_H

#include <assert.h>
#include <stdbool.h>

enum lock_kind {
	LOCK_NONE,
	LOCK_MUTEX,
};

struct lock {
	enum lock_kind kind;
#ifndef NDEBUG
	int held;		/* LOCK_NONE: entered and not yet left */
#endif
	unsigned word;		/* LOCK_MUTEX: 0 free, 1 held, 2 held and perhaps waited for */
};

/* lock_wait - get a mutex that somebody holds; lock_wake - let one waiter have it. */
void lock_wait(struct lock *l);
void lock_wake(struct lock *l);

static inline int lock_init(struct lock *l, enum lock_kind kind)
{
	l->kind = kind;
#ifndef NDEBUG
	l->held = 0;
#endif
	l->word = 0;
	return 0;
}

static inline void lock_destroy(struct lock *l)
{
	assert(!l->word && "a lock is free when it goes");
	(void) l;
}

/* lock_is_none - of a lock that is LOCK_NONE: the compiler need not look. */
static inline void lock_is_none(const struct lock *l)
{
	if (l->kind != LOCK_NONE)
		__builtin_unreachable();
}

static inline bool lock_take(struct lock *l)
{
	unsigned free = 0;

	return __atomic_compare_exchange_n(&l->word, &free, 1, false, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

static inline void lock_get(struct lock *l)
{
	if (l->kind == LOCK_MUTEX) {
		if (__builtin_expect(!lock_take(l), 0))
			lock_wait(l);
	}
#ifndef NDEBUG
	else
		assert(!l->held++ && "two threads in an object that promised one");
#endif
}

/* lock_try - true if the lock is now held by the caller. */
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

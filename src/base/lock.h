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
 * LOCK_NONE still notes the holder in debug builds and asserts that it is not
 * entered twice, so that a caller that breaks its threading promise is found.
 */
#ifndef BASE_LOCK_H
#define BASE_LOCK_H

#include <assert.h>
#include <pthread.h>
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
	pthread_mutex_t mutex;
};

static inline int lock_init(struct lock *l, enum lock_kind kind)
{
	l->kind = kind;
#ifndef NDEBUG
	l->held = 0;
#endif
	return kind == LOCK_MUTEX ? -pthread_mutex_init(&l->mutex, NULL) : 0;
}

static inline void lock_destroy(struct lock *l)
{
	if (l->kind == LOCK_MUTEX)
		pthread_mutex_destroy(&l->mutex);
}

static inline void lock_get(struct lock *l)
{
	if (l->kind == LOCK_MUTEX)
		pthread_mutex_lock(&l->mutex);
#ifndef NDEBUG
	else
		assert(!l->held++ && "two threads in an object that promised one");
#endif
}

/* lock_try - true if the lock is now held by the caller. */
static inline bool lock_try(struct lock *l)
{
	if (l->kind == LOCK_MUTEX)
		return pthread_mutex_trylock(&l->mutex) == 0;
#ifndef NDEBUG
	if (l->held)
		return false;
	l->held = 1;
#endif
	return true;
}

static inline void lock_put(struct lock *l)
{
	if (l->kind == LOCK_MUTEX)
		pthread_mutex_unlock(&l->mutex);
#ifndef NDEBUG
	else
		l->held = 0;
#endif
}

#endif

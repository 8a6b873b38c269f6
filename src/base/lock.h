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
 * Most programs ask for no threading level and use each object from one thread.  A mutex that one
 * thread takes again and again is biased to it: the owner takes and releases it by plain stores,
 * without the atomic operations, of which a short message needs fourteen otherwise.  Another thread
 * takes the futex word first, ends the bias, and has the kernel make a barrier in all threads of the
 * process (membarrier); then either it sees that the owner holds the lock, or the owner sees that
 * the bias is over:
 *
 *	owner                         other thread, which has the word
 *	store held                    store owner = other
 *	(barrier, made from there)    membarrier
 *	load owner -> self            load held -> 0              never both
 *
 * (the litmus test SB).  Releasing is the test MP: what the owner stored before held = 0, a release, is
 * seen by a thread that has read that 0, by an acquire.  Ending a bias costs microseconds, and LOCK_STREAK turns
 * of one thread come before each: they would have saved more.
 * Source: D. Dice, M. Moir, W. Scherer, Quickly Reacquirable Locks; membarrier(2).
 *
 * In debug builds LOCK_NONE records that it is held and asserts that it is not entered twice,
 * which finds programs that break the threading level they asked for.
 */
#ifndef BASE_LOCK_H
#define BASE_LOCK_H

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum lock_kind {
	LOCK_NONE,
	LOCK_MUTEX,
};

/* Its kind never changes, so that the branch on it is predicted. */
struct lock {
	enum lock_kind kind;
#ifndef NDEBUG
	int entered;		/* LOCK_NONE: and not yet left */
#endif
	unsigned word;		/* LOCK_MUTEX: 0 free, 1 held, 2 held, with possible waiters */
	uintptr_t owner;	/* thread to which it is biased; LOCK_LAST: that took the word last */
	uintptr_t held;		/* the owner that holds it by the bias; 0: none */
	unsigned streak;	/* times that the same thread took the word since another one did */
};

#define LOCK_LAST 1		/* bit of struct lock.owner, which names threads by an even number */
#define LOCK_STREAK 2048		/* times in a row that make a thread the owner */

/* lock_thread - an even number that no other living thread of the process has: the address of its
 * control block, from a register.
 */
static inline uintptr_t lock_thread(void)
{
#if defined(__x86_64__) && defined(__LP64__)
	uintptr_t self;

	/* not volatile: the compiler may keep what it has read */
	__asm__("mov %%fs:0, %0" : "=r"(self));
	return self;
#elif defined(__aarch64__)
	return (uintptr_t) __builtin_thread_pointer();
#else
	return (uintptr_t) pthread_self();
#endif
}

/* lock_get_word, lock_try_word - lock_get() and lock_try() for a thread that is not the owner.
 * lock_put_word - release the word, and wake a waiter if there may be one.
 */
__attribute__((cold)) void lock_get_word(struct lock *l);
__attribute__((cold)) bool lock_try_word(struct lock *l);
__attribute__((cold)) void lock_put_word(struct lock *l);

/* lock_prepare - register the process for the kernel's barriers, if it has one thread only. */
void lock_prepare(void);

/* lock_init - a free lock.  Returns 0. */
static inline int lock_init(struct lock *l, enum lock_kind kind)
{
	if (kind == LOCK_MUTEX)
		lock_prepare();
	l->kind = kind;
#ifndef NDEBUG
	l->entered = 0;
#endif
	l->word = 0;
	l->owner = 0;
	l->held = 0;
	l->streak = 0;
	return 0;
}

/* lock_destroy - no thread holds it or waits for it. */
static inline void lock_destroy(struct lock *l)
{
	assert(!l->word && !l->held && "a lock is free when it is destroyed");
	(void) l;
}

/* lock_is_none - tell the compiler that @l is LOCK_NONE, so that it leaves out the branch. */
static inline void lock_is_none(const struct lock *l)
{
	if (l->kind != LOCK_NONE)
		__builtin_unreachable();
}

/* lock_take_biased - the owner takes it; false: the caller is not the owner. */
static inline bool lock_take_biased(struct lock *l)
{
	uintptr_t self = lock_thread();

	if (__atomic_load_n(&l->owner, __ATOMIC_RELAXED) != self)
		return false;
	__atomic_store_n(&l->held, self, __ATOMIC_RELAXED);
	/* the thread that ends the bias makes the barrier for this one */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (__builtin_expect(__atomic_load_n(&l->owner, __ATOMIC_RELAXED) == self, 1))
		return true;
	__atomic_store_n(&l->held, 0, __ATOMIC_RELEASE);
	return false;
}

/* lock_get - take the lock.  It is not recursive.
 * Threading: LOCK_MUTEX may sleep, so not in a signal handler.
 */
static inline void lock_get(struct lock *l)
{
	if (l->kind == LOCK_MUTEX) {
		if (__builtin_expect(!lock_take_biased(l), 0))
			lock_get_word(l);
	}
#ifndef NDEBUG
	else
		assert(!l->entered++ && "two threads in an object whose threading level allows one");
#endif
}

/* lock_try - take the lock if that needs no waiting; true if the caller now holds it. */
static inline bool lock_try(struct lock *l)
{
	if (l->kind == LOCK_MUTEX) {
		if (__builtin_expect(__atomic_load_n(&l->held, __ATOMIC_RELAXED) == lock_thread(), 0))
			return false;
		return __builtin_expect(lock_take_biased(l), 1) || lock_try_word(l);
	}
#ifndef NDEBUG
	if (l->entered)
		return false;
	l->entered = 1;
#endif
	return true;
}

/* lock_put - the holder releases it, and wakes a waiter if there may be one. */
static inline void lock_put(struct lock *l)
{
	if (l->kind == LOCK_MUTEX) {
		/* no other thread stores our number there, so that it is ours as long as we hold it */
		if (__builtin_expect(__atomic_load_n(&l->held, __ATOMIC_RELAXED) == lock_thread(), 1))
			__atomic_store_n(&l->held, 0, __ATOMIC_RELEASE);
		else
			lock_put_word(l);
	}
#ifndef NDEBUG
	else
		l->entered = 0;
#endif
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "base/lock.h"

#include <stddef.h>
#include <time.h>
#include <unistd.h>
#if defined(__has_include)
#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#define ALONE __libc_single_threaded
#endif
#endif
#ifndef ALONE
#define ALONE 0
#endif

#include "base/os/barrier.h"
#include "base/os/word.h"
#include "base/relax.h"

#define SPINS 200		/* looks at an owner that holds the lock, before the thread gives up or sleeps */
#define SLEEP_NS 20000
#define DRAIN_NS 10000000	/* see make_barrier() */

/* The thread sanitizer does not know what a membarrier orders. */
#if defined(__SANITIZE_THREAD__)
#define CAN_BIAS false
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CAN_BIAS false
#endif
#endif
#ifndef CAN_BIAS
#define CAN_BIAS true
#endif

/* ---- the word ----------------------------------------------------------------------- */

/* take_word - from free to held in one step; false: it is held. */
static bool take_word(struct lock *l)
{
	unsigned free = 0;

	return __atomic_compare_exchange_n(&l->word, &free, 1, false, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

/* A thread that has waited cannot know whether other threads still wait, so it sets the word to
 * 2 (contended).  At worst the next unlock makes one futex wake that finds no waiter.
 */
static void wait_word(struct lock *l)
{
	while (__atomic_exchange_n(&l->word, 2, __ATOMIC_ACQUIRE))
		os_word_wait(&l->word, 2);
}

void lock_put_word(struct lock *l)
{
	/* once released its memory may be freed: the wake uses the address only, and if the memory is
	 * gone, no thread waits on it
	 */
	if (__atomic_exchange_n(&l->word, 0, __ATOMIC_RELEASE) == 2)
		os_word_wake(&l->word);
}

/* ---- the bias ----------------------------------------------------------------------- */

/* 0: not known yet; 1: the system can make the barrier; -1: it cannot */
static int able;

/* A process with one thread enrolls at once; with several, that takes some milliseconds, so that
 * only the first end of a bias does.
 */
void lock_prepare(void)
{
	int can = __atomic_load_n(&able, __ATOMIC_RELAXED);

	if (can)
		return;
	can = CAN_BIAS && os_barrier_able() ? 1 : -1;
	if (can > 0 && ALONE)
		os_barrier_enroll();
	__atomic_store_n(&able, can, __ATOMIC_RELAXED);
}

static bool can_bias(void)
{
	return __atomic_load_n(&able, __ATOMIC_RELAXED) > 0;
}

static void sleep_ns(long ns)
{
	struct timespec ts = { 0, ns };

	nanosleep(&ts, NULL);
}

/* make_barrier - in all threads of the process.  A filter of system calls that was installed
 * meanwhile may forbid it: then wait for far longer than a processor keeps a store to itself.
 */
static void make_barrier(void)
{
	if (!os_barrier_threads())
		return;
	if (os_barrier_enroll() || os_barrier_threads())
		sleep_ns(DRAIN_NS);
}

static bool is_biased(const struct lock *l)
{
	uintptr_t owner = __atomic_load_n(&l->owner, __ATOMIC_RELAXED);

	return owner && !(owner & LOCK_LAST);
}

/* end_bias - end the bias; its owner may still hold the lock.  The caller has the word. */
static void end_bias(struct lock *l)
{
	__atomic_store_n(&l->owner, lock_thread() | LOCK_LAST, __ATOMIC_RELAXED);
	make_barrier();
	l->streak = 0;
}

/* begin_bias - the caller, which has the word, holds the lock by the bias instead. */
static void begin_bias(struct lock *l)
{
	__atomic_store_n(&l->held, lock_thread(), __ATOMIC_RELAXED);
	__atomic_store_n(&l->owner, lock_thread(), __ATOMIC_RELAXED);
	lock_put_word(l);
}

static bool is_held(const struct lock *l)
{
	return __atomic_load_n(&l->held, __ATOMIC_ACQUIRE);
}

/* owner_leaves - has an owner whose bias has ended released the lock, or does it soon? */
static bool owner_leaves(struct lock *l)
{
	unsigned spins;

	for (spins = 0; is_held(l); spins++) {
		if (spins == SPINS)
			return false;
		cpu_relax();
	}
	return true;
}

/* count_streak - the caller has the word, and no owner is left. */
static void count_streak(struct lock *l)
{
	uintptr_t self = lock_thread() | LOCK_LAST;

	if (l->owner != self) {
		__atomic_store_n(&l->owner, self, __ATOMIC_RELAXED);
		l->streak = 0;
	} else if (++l->streak >= LOCK_STREAK) {
		l->streak = 0;
		if (can_bias())
			begin_bias(l);
	}
}

void lock_get_word(struct lock *l)
{
	if (!take_word(l)) {
		wait_word(l);
		l->streak = 0;
	}
	if (is_biased(l))
		end_bias(l);
	while (!owner_leaves(l))
		sleep_ns(SLEEP_NS);
	count_streak(l);
}

bool lock_try_word(struct lock *l)
{
	if (!take_word(l))
		return false;
	if (is_biased(l))
		end_bias(l);
	if (!owner_leaves(l)) {
		lock_put_word(l);
		return false;
	}
	count_streak(l);
	return true;
}

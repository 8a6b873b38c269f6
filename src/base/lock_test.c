/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"
#include <pthread.h>
#include <sched.h>

#include "base/clock.h"
#include "base/lock.h"

static struct lock lock;
static int value;

static void *add(void *arg)
{
	int i;

	for (i = 0; i < 50000; i++) {
		lock_get(&lock);
		value++;
		lock_put(&lock);
	}
	return NULL;
}

static void test_mutex(void **state)
{
	pthread_t thread[2];
	int i;

	assert_int_equal(lock_init(&lock, LOCK_MUTEX), 0);
	for (i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, add, NULL);
	for (i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	assert_int_equal(value, 100000);
	assert_true(lock_try(&lock));
	assert_false(lock_try(&lock));
	lock_put(&lock);
	lock_destroy(&lock);
}

static void *add_once(void *arg)
{
	lock_get(&lock);
	value++;
	lock_put(&lock);
	return NULL;
}

/* Several threads sleep on one holder; each of them gets the lock in the end. */
static void test_waiters(void **state)
{
	pthread_t thread[3];
	int i;

	value = 0;
	assert_int_equal(lock_init(&lock, LOCK_MUTEX), 0);
	lock_get(&lock);
	for (i = 0; i < 3; i++)
		pthread_create(&thread[i], NULL, add_once, NULL);
	while (__atomic_load_n(&lock.word, __ATOMIC_RELAXED) != 2)
		sched_yield();
	assert_int_equal(value, 0);
	lock_put(&lock);
	for (i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	assert_int_equal(value, 3);
	assert_true(lock_try(&lock));
	lock_put(&lock);
	lock_destroy(&lock);
}

static bool biased_to(uintptr_t thread)
{
	return __atomic_load_n(&lock.owner, __ATOMIC_RELAXED) == thread;
}

static void take_often(unsigned times)
{
	unsigned i;

	for (i = 0; i < times; i++) {
		lock_get(&lock);
		lock_put(&lock);
	}
}

/* A streak of one thread biases the lock to it, so that the word stays free; false: no lock
 * is biased here, by this kernel or under the thread sanitizer.
 */
static bool make_bias(void)
{
	lock_init(&lock, LOCK_MUTEX);
	take_often(LOCK_STREAK);
	assert_false(biased_to(lock_thread()));
	take_often(1);
	return biased_to(lock_thread());
}

static void test_bias(void **state)
{
	if (!make_bias())
		skip();
	lock_get(&lock);
	assert_int_equal(lock.word, 0);
	assert_false(lock_try(&lock));
	lock_put(&lock);
	assert_true(lock_try(&lock));
	assert_int_equal(lock.word, 0);
	assert_false(lock_try(&lock));
	lock_put(&lock);
	lock_destroy(&lock);
}

static void *try_it(void *arg)
{
	bool *got = arg;

	*got = lock_try(&lock);
	if (*got)
		lock_put(&lock);
	return NULL;
}

static bool another_gets_it(void)
{
	pthread_t thread;
	bool got;

	pthread_create(&thread, NULL, try_it, &got);
	pthread_join(thread, NULL);
	return got;
}

/* Another thread that tries ends the bias, but does not get what the owner holds; the next bias
 * takes a streak again.
 */
static void test_bias_ends(void **state)
{
	if (!make_bias())
		skip();
	lock_get(&lock);
	assert_false(another_gets_it());
	assert_false(biased_to(lock_thread()));
	assert_false(another_gets_it());
	assert_false(lock_try(&lock));
	lock_put(&lock);
	assert_true(another_gets_it());
	take_often(LOCK_STREAK);
	assert_false(biased_to(lock_thread()));
	take_often(1);
	assert_true(biased_to(lock_thread()));
	assert_true(another_gets_it());
	lock_get(&lock);
	assert_int_equal(lock.word, 1);
	lock_put(&lock);
	lock_destroy(&lock);
}

/* One that waits gets it when the owner releases it. */
static void test_bias_waiter(void **state)
{
	pthread_t thread;

	if (!make_bias())
		skip();
	value = 0;
	lock_get(&lock);
	pthread_create(&thread, NULL, add_once, NULL);
	while (biased_to(lock_thread()))
		sched_yield();
	assert_int_equal(value, 0);
	lock_put(&lock);
	pthread_join(thread, NULL);
	assert_int_equal(value, 1);
	lock_destroy(&lock);
}

static int stop;

static void *disturb(void *arg)
{
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		if (lock_try(&lock)) {
			value++;
			lock_put(&lock);
			__atomic_fetch_add((int *) arg, 1, __ATOMIC_RELAXED);
		}
		sched_yield();
	}
	return NULL;
}

/* The bias comes and goes while both add to one number, until the other thread has had its share: on a busy machine
 * that takes longer.
 */
static void test_bias_race(void **state)
{
	int theirs = 0, mine = 0;
	pthread_t thread;
	uint64_t end;

	if (!make_bias())
		skip();
	value = 0;
	stop = 0;
	pthread_create(&thread, NULL, disturb, &theirs);
	end = clock_ns() + 300 * CLOCK_NS_PER_MS;
	while (clock_ns() < end || __atomic_load_n(&theirs, __ATOMIC_RELAXED) <= 10) {
		int i;

		for (i = 0; i < 100; i++) {
			lock_get(&lock);
			value++;
			mine++;
			lock_put(&lock);
		}
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	assert_int_equal(value, mine + theirs);
	lock_destroy(&lock);
}

/* lock_try() on a LOCK_NONE that is already entered fails. */
static void test_none(void **state)
{
	assert_int_equal(lock_init(&lock, LOCK_NONE), 0);
	assert_true(lock_try(&lock));
#ifndef NDEBUG
	assert_false(lock_try(&lock));
#endif
	lock_put(&lock);
	lock_get(&lock);
	lock_put(&lock);
	assert_true(lock_try(&lock));
	lock_put(&lock);
	lock_destroy(&lock);
}

static void test_clock(void **state)
{
	uint64_t now = clock_ns(), end;

	assert_true(clock_ns() >= now);
	assert_int_equal(clock_ms_left(0, now), -1);
	assert_int_equal(clock_ms_left(now, now), 0);
	assert_int_equal(clock_ms_left(now - 1, now), 0);
	assert_int_equal(clock_ms_left(now + 1, now), 1);
	assert_int_equal(clock_ms_left(now + CLOCK_NS_PER_MS, now), 1);
	assert_int_equal(clock_ms_left(now + CLOCK_NS_PER_MS + 1, now), 2);
	assert_int_equal(clock_ms_left(UINT64_MAX, 0), 0x7fffffff);
	assert_int_equal(clock_deadline(-1), 0);
	now = clock_ns();
	end = clock_deadline(5);
	assert_true(end >= now + 5 * CLOCK_NS_PER_MS);
	assert_true(end < now + 1000 * CLOCK_NS_PER_MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mutex),
		cmocka_unit_test(test_waiters),
		cmocka_unit_test(test_bias),
		cmocka_unit_test(test_bias_ends),
		cmocka_unit_test(test_bias_waiter),
		cmocka_unit_test(test_bias_race),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

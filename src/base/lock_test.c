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
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

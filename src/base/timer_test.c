/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"

#include <stdlib.h>

#include "base/list.h"
#include "base/timer.h"

#define CNT 100

struct thing {
	struct timer timer;
	int fired;
	uint64_t at;
};

static struct timers timers;
static struct thing things[CNT];
static uint64_t last;

static void fire(struct timer *timer, uint64_t now)
{
	struct thing *thing = container_of(timer, struct thing, timer);

	assert_true(timer->due_ns <= now);
	assert_true(timer->due_ns >= last);
	last = timer->due_ns;
	thing->fired++;
	thing->at = now;
}

static int begin(void **state)
{
	int i;

	timers_init(&timers);
	for (i = 0; i < CNT; i++) {
		things[i] = (struct thing) { .timer.fire = fire };
		assert_int_equal(timers_join(&timers), 0);
	}
	last = 0;
	return 0;
}

static int end(void **state)
{
	timers_fini(&timers);
	return 0;
}

static void test_order(void **state)
{
	int i;

	srandom(7);
	for (i = 0; i < CNT; i++)
		timer_set(&timers, &things[i].timer, (uint64_t) random() % 1000);
	for (i = 0; i < CNT; i += 2)
		timer_set(&timers, &things[i].timer, (uint64_t) random() % 1000);
	for (i = 0; i < CNT; i += 5)
		timer_off(&timers, &things[i].timer);
	assert_int_equal(timers_fire(&timers, 1000), CNT - CNT / 5);
	for (i = 0; i < CNT; i++)
		assert_int_equal(things[i].fired, i % 5 != 0);
	assert_true(timers_next(&timers) == UINT64_MAX);
}

static void test_not_before_its_time(void **state)
{
	timer_set(&timers, &things[0].timer, 10);
	timer_set(&timers, &things[1].timer, 20);
	assert_int_equal(timers_next(&timers), 10);
	assert_int_equal(timers_fire(&timers, 9), 0);
	assert_int_equal(timers_fire(&timers, 10), 1);
	assert_int_equal(timers_fire(&timers, 10), 0);
	timer_set(&timers, &things[1].timer, 30);
	assert_int_equal(timers_fire(&timers, 25), 0);
	timer_off(&timers, &things[1].timer);
	timer_off(&timers, &things[1].timer);
	assert_int_equal(timers_fire(&timers, 99), 0);
}

static void fire_again(struct timer *timer, uint64_t now)
{
	container_of(timer, struct thing, timer)->fired++;
	timer_set(&timers, timer, now);
}

/* A timer that always sets itself again does not delay the others. */
static void test_sets_itself(void **state)
{
	things[0].timer.fire = fire_again;
	timer_set(&timers, &things[0].timer, 5);
	timer_set(&timers, &things[1].timer, 6);
	timers_fire(&timers, 10);
	assert_int_equal(things[1].fired, 1);
	assert_in_range(things[0].fired, 1, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_order, begin, end),
		cmocka_unit_test_setup_teardown(test_not_before_its_time, begin, end),
		cmocka_unit_test_setup_teardown(test_sets_itself, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

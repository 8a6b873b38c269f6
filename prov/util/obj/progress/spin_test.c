/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* When a thread yields, and how long a blocking call polls: rules alone, with made-up times. */
#include "obj/spin.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include "base/test/verify.h"

#define US UINT64_C(1000)
#define MS (1000 * US)
#define LIMIT (50 * US)

static uint64_t now;

/* ---- polls in vain ----------------------------------------------------------------- */

/* idle_for - a thread polls in vain for @ns, a block each microsecond; then something comes.
 * A yield takes @away.  Returns how many there were.
 */
static unsigned idle_for(struct obj_idle *idle, uint64_t ns, uint64_t away)
{
	uint64_t end = now + ns;
	unsigned yields = 0;

	for (idle->polls = 0; now < end; now += US) {
		idle->polls += OBJ_IDLE_BLOCK;
		if (!obj_idle_due(idle, now, LIMIT))
			continue;
		now += away;
		obj_idle_back(idle, now);
		yields++;
	}
	return yields;
}

static void test_short_waits_do_not_yield(void **state)
{
	struct obj_idle idle = { 0 };
	int i;

	for (i = 0; i < 1000; i++)
		assert_int_equal(idle_for(&idle, LIMIT - US, 300), 0);
}

static void test_long_waits_yield_often(void **state)
{
	struct obj_idle idle = { 0 };

	/* no other thread wants to run */
	assert_in_range(idle_for(&idle, 1 * MS, 300), 30, 60);
}

/* The peer is on this processor: each yield takes as long as its turn, and then it has answered. */
static void test_a_peer_on_the_same_processor_is_let_run_at_once(void **state)
{
	struct obj_idle idle = { 0 };
	uint64_t begin, took = 0;
	unsigned i;

	for (i = 0; i < 20; i++)
		idle_for(&idle, 2 * LIMIT, 2 * LIMIT);
	for (i = 0; i < 1000; i++) {
		begin = now;
		for (idle.polls = 0;; now += US) {
			idle.polls += OBJ_IDLE_BLOCK;
			if (obj_idle_due(&idle, now, LIMIT))
				break;
			assert_true(now - begin < 100 * MS);
		}
		now += 7 * US;	/* without that nothing comes */
		obj_idle_back(&idle, now);
		took += now - begin;
	}
	assert_true(took < 1000 * (7 * US + LIMIT / 2));
}

/* The peer answers soon without a yield, and another program takes the processor for a short
 * while if it gets it.
 */
static void test_a_peer_elsewhere_is_not_waited_for_by_yielding(void **state)
{
	struct obj_idle idle = { .known = true, .spin_ns = 4 * US };	/* eager, for some reason */
	unsigned i, yields = 0;

	for (i = 0; i < 32 * 20; i++)
		idle_for(&idle, 8 * US, 200 * US);
	for (i = 0; i < 10000; i++)
		yields += idle_for(&idle, 8 * US, 200 * US);
	assert_true(yields < 10);
}

/* A program that computes is: each yield costs milliseconds, so that they become rare. */
static void test_a_busy_processor_is_kept(void **state)
{
	struct obj_idle idle = { 0 };
	unsigned i, yields = 0;

	for (i = 0; i < 1000; i++)
		yields += idle_for(&idle, 100 * US, 3 * MS);
	assert_in_range(yields, 1, 3);
}

/* Two threads of one processor that wait for third ones took each other for programs that compute:
 * each polls until the kernel gives the processor to the other.
 */
static void test_polling_for_a_whole_slice_ends(void **state)
{
	struct obj_idle idle = { .known = true, .spin_ns = 10 * MS };
	uint64_t end = now + 4 * MS;
	unsigned yields;

	for (idle.polls = 0, idle.last_ns = now; now < end; now += US) {
		idle.polls += OBJ_IDLE_BLOCK;
		assert_false(obj_idle_due(&idle, now, LIMIT));
	}
	now += 4 * MS;
	yields = idle_for(&idle, 2 * LIMIT, 200 * US);
	assert_in_range(yields, 1, 2);
	/* the other one has learnt it, too: its turns are short, whether something is found or not */
	yields = idle_for(&idle, 100 * MS, 200 * US);
	assert_true(yields > 200);
	assert_true(idle.spin_ns <= LIMIT);
}

/* A program that computes between its polls does nothing in vain. */
static void test_polls_now_and_then_do_not_yield(void **state)
{
	struct obj_idle idle = { 0 };
	unsigned i;

	for (i = 0; i < 1000; i++) {
		idle.polls += OBJ_IDLE_BLOCK;
		now += 200 * US;
		assert_false(obj_idle_due(&idle, now, LIMIT));
	}
}

/* Others that poll and yield have the processor for short times: a wait that would end by itself a
 * little later gives it to them.
 */
static void test_a_crowd_that_polls_is_let_run_early(void **state)
{
	struct obj_idle idle = { .known = true, .spin_ns = LIMIT, .away_ns = 16 * US };
	unsigned i, yields = 0;

	for (i = 0; i < 100; i++)
		yields += idle_for(&idle, 8 * US, 16 * US);
	assert_true(yields > 60);
	/* they are gone: yields take no time, and become rare */
	for (yields = i = 0; i < 1000; i++)
		yields += idle_for(&idle, 8 * US, 300);
	assert_true(yields < 20);
}

/* A program that only sends finds nothing in its polls, and does not wait. */
static void test_polls_between_sends_do_not_yield(void **state)
{
	struct obj_idle idle = { .known = true, .spin_ns = US };
	unsigned i;

	for (i = 0; i < 10000; i++) {
		assert_false(obj_idle_polled(&idle, 0));
		obj_idle_end(&idle);
	}
}

/* ---- blocking waits ------------------------------------------------------------------ */

static uint64_t polled;

/* wait_for - a wait for what comes after @ns; waking takes 20 us more.  Returns whether it was
 * found by polling.
 */
static bool wait_for(struct obj_spin *spin, uint64_t ns)
{
	uint64_t budget = obj_spin_budget(spin);
	bool hit = budget && ns <= budget;

	polled += hit ? ns : budget;
	obj_spin_learn(spin, budget, hit, hit ? ns : ns + 20 * US);
	return hit;
}

static void test_short_waits_are_polled(void **state)
{
	struct obj_spin spin;
	unsigned i, hits = 0;

	obj_spin_init(&spin);
	for (i = 0; i < 100; i++)
		hits += wait_for(&spin, 15 * US);
	assert_in_range(hits, 98, 100);
}

static void test_long_waits_sleep(void **state)
{
	struct obj_spin spin;
	unsigned i, hits = 0;

	obj_spin_init(&spin);
	polled = 0;
	for (i = 0; i < 6500; i++)
		hits += wait_for(&spin, 1 * MS);
	assert_int_equal(hits, 0);
	assert_true(polled <= 110 * 5 * US);
	/* short ones are noticed before long */
	for (i = 0; i < 200; i++)
		hits += wait_for(&spin, 2 * US);
	assert_in_range(hits, 130, 200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_short_waits_do_not_yield),
		cmocka_unit_test(test_long_waits_yield_often),
		cmocka_unit_test(test_a_peer_on_the_same_processor_is_let_run_at_once),
		cmocka_unit_test(test_a_peer_elsewhere_is_not_waited_for_by_yielding),
		cmocka_unit_test(test_a_busy_processor_is_kept),
		cmocka_unit_test(test_polling_for_a_whole_slice_ends),
		cmocka_unit_test(test_a_crowd_that_polls_is_let_run_early),
		cmocka_unit_test(test_polls_between_sends_do_not_yield),
		cmocka_unit_test(test_polls_now_and_then_do_not_yield),
		cmocka_unit_test(test_short_waits_are_polled),
		cmocka_unit_test(test_long_waits_sleep),
	};

	return cmocka_run_group_tests_name("obj_spin", tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* When a thread yields, and how long a blocking call polls: rules alone, with made-up times. */
#include "progress/policy.h"

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
		if (obj_idle_next(idle, now, LIMIT) != OBJ_NEXT_YIELD)
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

static void test_long_waits_yield(void **state)
{
	struct obj_idle idle = { 0 };

	/* no other thread wants to run */
	assert_in_range(idle_for(&idle, 1 * MS, 300), 18, 20);
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
			if (obj_idle_next(&idle, now, LIMIT) == OBJ_NEXT_YIELD)
				break;
			assert_true(now - begin < 100 * MS);
		}
		now += 7 * US;	/* without that nothing comes */
		obj_idle_back(&idle, now);
		took += now - begin;
	}
	assert_true(took < 1000 * (7 * US + LIMIT / 2));
}

/* A program that computes keeps the processor for milliseconds when it gets it: waits that end within about
 * FI_SPIN_US do not give it away.
 */
static void test_short_waits_beside_a_program_that_computes_do_not_yield(void **state)
{
	struct obj_idle idle = { 0 };
	int i;

	assert_in_range(idle_for(&idle, 2 * LIMIT, 4 * MS), 1, 2);
	for (i = 0; i < 1000; i++)
		assert_int_equal(idle_for(&idle, LIMIT - US, 4 * MS), 0);
	/* a longer one does, once for each time that the program takes */
	assert_in_range(idle_for(&idle, 40 * MS, 4 * MS), 9, 10);
}

/* A program that computes between its polls does nothing in vain. */
static void test_polls_now_and_then_do_not_yield(void **state)
{
	struct obj_idle idle = { 0 };
	unsigned i;

	for (i = 0; i < 1000; i++) {
		idle.polls += OBJ_IDLE_BLOCK;
		now += 200 * US;
		assert_false(obj_idle_next(&idle, now, LIMIT) == OBJ_NEXT_YIELD);
		assert_int_equal(idle.seldom, i > 0);
	}
	idle.polls += OBJ_IDLE_BLOCK;
	assert_false(obj_idle_next(&idle, now += US, LIMIT) == OBJ_NEXT_YIELD);
	assert_false(idle.seldom);
}

/* Others that poll and yield have the processor for short times: a wait that would end by itself a
 * little later gives it to them.
 */
static void test_a_crowd_that_polls_is_let_run_early(void **state)
{
	struct obj_idle idle = { .away_ns = 16 * US };
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
	struct obj_idle idle = { .away_ns = 16 * US };
	unsigned i;

	for (i = 0; i < 10000; i++) {
		assert_false(obj_idle_polled(&idle, 0));
		obj_idle_end(&idle);
	}
}

/* ---- blocking waits ------------------------------------------------------------------ */

#define BLOCK_NS 500		/* what some polls take */

/* turns_in - how often does a wait of @budget_ns yield?  Each yield takes @away_ns, and each block of polls
 * @block_ns.
 */
static unsigned turns_in(struct obj_idle *idle, uint64_t budget_ns, uint64_t block_ns, uint64_t away_ns)
{
	struct obj_turns turns;
	enum obj_next next;
	unsigned cnt = 0;

	obj_spin_begin(idle, &turns, now, 0, LIMIT);
	turns.budget_ns = budget_ns;
	turns.end_ns = UINT64_MAX;
	do {
		now += block_ns;
		next = obj_spin_next(idle, &turns, now);
		if (next == OBJ_NEXT_YIELD) {
			cnt++;
			now += away_ns;
			obj_spin_back(idle, &turns, now);
		}
	} while (next != OBJ_NEXT_SLEEP);
	return cnt;
}

/* Threads that want the processor get it after each few polls; a wait yields a few times at most. */
static void test_a_wait_among_others_takes_turns(void **state)
{
	struct obj_idle idle = { 0 };
	unsigned i;

	/* while it is alone, a long wait asks once */
	for (i = 0; i < 64; i++)
		assert_int_equal(turns_in(&idle, 50 * US, BLOCK_NS, 300), 1);
	for (i = 0; i < 8; i++)
		assert_in_range(turns_in(&idle, 50 * US, BLOCK_NS, 20 * US), 4, 5);
	assert_int_equal(turns_in(&idle, 5 * US, BLOCK_NS, 20 * US), 1);
	/* the others have left */
	assert_int_equal(turns_in(&idle, 50 * US, BLOCK_NS, 300), 2);
	assert_int_equal(turns_in(&idle, 4 * US, BLOCK_NS, 300), 0);
}

/* Where others keep the processor, a wait sleeps after one turn of them, and those of the next tenth of a second
 * poll for too short a time to yield.
 */
static void test_a_thread_that_computes_gets_few_turns(void **state)
{
	uint64_t end = now + 1000 * MS;
	struct obj_turns turns;
	struct obj_idle idle = { 0 };
	unsigned cnt = 0;

	while (now < end) {
		obj_spin_begin(&idle, &turns, now, 0, LIMIT);
		cnt += turns_in(&idle, turns.budget_ns, BLOCK_NS, 3 * MS);
	}
	assert_in_range(cnt, 8, 10);
}

static void test_a_wait_without_limit_or_time_sleeps(void **state)
{
	struct obj_turns turns;
	struct obj_idle idle = { 0 };

	assert_int_equal(obj_spin_begin(&idle, &turns, now, 0, 0), OBJ_NEXT_SLEEP);
	assert_int_equal(obj_spin_begin(&idle, &turns, now, now + US, LIMIT), OBJ_NEXT_POLL);
	assert_int_equal(obj_spin_next(&idle, &turns, now + 500), OBJ_NEXT_POLL);
	assert_int_equal(obj_spin_next(&idle, &turns, now + US), OBJ_NEXT_SLEEP);
}

/* ---- looks of the progress thread -------------------------------------------------------- */

#define TICK (OBJ_TICK_MS * 1000 * US)

static void test_a_program_that_has_stopped_is_replaced(void **state)
{
	struct obj_tick tick = { .polls = 3 };

	assert_int_equal(obj_tick_next(&tick, now, 3, false), OBJ_NEXT_POLL);
	assert_int_equal(obj_tick_next(&tick, now, 3, true), OBJ_NEXT_SLEEP);
	assert_int_equal(obj_tick_next(&tick, now, 4, true), OBJ_NEXT_TICK);
	assert_int_equal(obj_tick_next(&tick, now, 5, false), OBJ_NEXT_TICK);
	assert_int_equal(obj_tick_end_ns(&tick), now + TICK);
	assert_int_equal(obj_tick_next(&tick, now + TICK, 5, false), OBJ_NEXT_POLL);
}

static void test_a_look_before_its_time_replaces_no_program(void **state)
{
	struct obj_tick tick = { .polls = 3 };

	assert_int_equal(obj_tick_next(&tick, now, 4, false), OBJ_NEXT_TICK);
	assert_int_equal(obj_tick_next(&tick, now + US, 4, false), OBJ_NEXT_TICK);
	assert_int_equal(obj_tick_next(&tick, now + TICK - 1, 4, false), OBJ_NEXT_TICK);
	assert_int_equal(obj_tick_end_ns(&tick), now + TICK);	/* not put off */
	assert_int_equal(obj_tick_next(&tick, now + TICK, 4, false), OBJ_NEXT_POLL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_short_waits_do_not_yield),
		cmocka_unit_test(test_long_waits_yield),
		cmocka_unit_test(test_a_peer_on_the_same_processor_is_let_run_at_once),
		cmocka_unit_test(test_short_waits_beside_a_program_that_computes_do_not_yield),
		cmocka_unit_test(test_a_crowd_that_polls_is_let_run_early),
		cmocka_unit_test(test_polls_between_sends_do_not_yield),
		cmocka_unit_test(test_polls_now_and_then_do_not_yield),
		cmocka_unit_test(test_a_wait_among_others_takes_turns),
		cmocka_unit_test(test_a_thread_that_computes_gets_few_turns),
		cmocka_unit_test(test_a_wait_without_limit_or_time_sleeps),
		cmocka_unit_test(test_a_program_that_has_stopped_is_replaced),
		cmocka_unit_test(test_a_look_before_its_time_replaces_no_program),
	};

	return cmocka_run_group_tests_name("policy", tests, NULL, NULL);
}

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

/* A few long waits in a row are not held against a queue for long. */
static void test_some_long_waits_are_forgotten(void **state)
{
	struct obj_spin spin;
	unsigned i, hits = 0;

	obj_spin_init(&spin);
	for (i = 0; i < 5; i++)
		wait_for(&spin, 1 * MS);
	for (i = 0; i < 20; i++)
		hits += wait_for(&spin, 2 * US);
	assert_in_range(hits, 15, 20);
}

/* Waits that are longer than FI_SPIN_US because the peer sleeps as well are polled for now and then. */
static void test_a_peer_that_sleeps_as_well_is_found_out(void **state)
{
	struct obj_spin spin;
	unsigned i, hits = 0;

	obj_spin_init(&spin);
	for (i = 0; i < 100; i++)
		hits += wait_for(&spin, 70 * US);
	assert_in_range(hits, 1, 100);
	assert_true(obj_spin_budget(&spin) <= 2 * obj_spin_limit_ns());
}

#define BLOCK_NS 500		/* what some polls take */

/* turns_in - how often does a wait of @budget_ns yield?  Each yield takes @away_ns, and each block of polls
 * @block_ns.
 */
static unsigned turns_in(struct obj_spin *spin, uint64_t budget_ns, uint64_t block_ns, uint64_t away_ns)
{
	struct obj_turns turns = { .last_ns = now };
	unsigned cnt = 0;

	obj_spin_budget(spin);
	do {
		now += block_ns;
		if (obj_spin_due(spin, &turns, now)) {
			cnt++;
			now += away_ns;
			obj_spin_back(spin, &turns, now);
		}
	} while (turns.own_ns < budget_ns);
	return cnt;
}

/* Threads that want the processor get it after each few polls; a wait yields a few times at most. */
static void test_a_wait_among_others_takes_turns(void **state)
{
	struct obj_spin spin;
	unsigned i, turns = 0;

	obj_spin_init(&spin);
	/* while it is alone, few waits ask */
	for (i = 0; i < 64; i++)
		turns += turns_in(&spin, 50 * US, BLOCK_NS, 300);
	assert_int_equal(turns, 8);
	for (i = 0; i < 8; i++)
		turns = turns_in(&spin, 50 * US, BLOCK_NS, 20 * US);
	assert_in_range(turns, 4, 5);
	assert_int_equal(turns_in(&spin, 5 * US, BLOCK_NS, 20 * US), 1);
	/* the others have left */
	turns_in(&spin, 50 * US, BLOCK_NS, 300);
	assert_in_range(turns_in(&spin, 50 * US, BLOCK_NS, 300), 0, 1);
}

static void test_a_thread_that_computes_gets_no_turns(void **state)
{
	struct obj_spin spin;
	unsigned i, turns = 0;

	obj_spin_init(&spin);
	for (i = 0; i < 640; i++)
		turns += turns_in(&spin, 50 * US, BLOCK_NS, 3 * MS);
	assert_in_range(turns, 1, 20);
}

/* Where each poll is a system call, it costs less to sleep. */
static void test_polls_by_system_calls_take_no_turns(void **state)
{
	struct obj_spin spin;
	unsigned i;

	obj_spin_init(&spin);
	for (i = 0; i < 64; i++)
		assert_int_equal(turns_in(&spin, 50 * US, 4 * US, 20 * US), 0);
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
		cmocka_unit_test(test_some_long_waits_are_forgotten),
		cmocka_unit_test(test_a_peer_that_sleeps_as_well_is_found_out),
		cmocka_unit_test(test_a_wait_among_others_takes_turns),
		cmocka_unit_test(test_a_thread_that_computes_gets_no_turns),
		cmocka_unit_test(test_polls_by_system_calls_take_no_turns),
	};

	return cmocka_run_group_tests_name("obj_spin", tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* A program is simulated: its operations take a time that depends on the way, and others' time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"

#include <stdlib.h>

#include "base/trial.h"

#define RUN 64

struct program {
	struct trial trial;
	uint64_t cost[2];	/* of an operation */
	uint64_t now;
	uint64_t cnt[2];	/* operations in each way */
	uint64_t seed;
	unsigned noise;		/* up to so much longer */
};

static void operate(struct program *p, unsigned cnt)
{
	bool way;

	while (cnt--) {
		way = trial_way(&p->trial);
		p->seed = p->seed * UINT64_C(6364136223846793005) + 1;
		p->now += p->cost[way] + (p->noise ? (p->seed >> 33) % p->noise : 0);
		p->cnt[way]++;
		if (trial_marks(&p->trial, RUN))
			trial_mark(&p->trial, RUN, p->now);
	}
}

static void the_first_way_stays_while_it_is_the_better_one(void **state)
{
	struct program p = { .cost = { 100, 130 }, .noise = 100 };

	operate(&p, 100000);
	assert_false(p.trial.way);
	/* what the trials cost: rare once some have failed, and each as long as a run */
	assert_in_range(p.cnt[1], 8 * RUN, 100000 / TRIAL_GAP_MAX + 12 * RUN);
}

static void the_better_way_is_found_soon(void **state)
{
	struct program p = { .cost = { 130, 100 }, .noise = 100 };

	operate(&p, (2 + TRIAL_GAP + 1) * RUN);
	assert_true(p.trial.way);
	operate(&p, 100000);
	assert_true(p.trial.way);
	assert_in_range(p.cnt[0], 1, 100000 / TRIAL_GAP_MAX + 16 * RUN);
}

static void a_change_is_noticed_at_the_next_trials(void **state)
{
	struct program p = { .cost = { 100, 200 } };
	unsigned i;

	for (i = 0; i < 4; i++) {
		operate(&p, 2 * (TRIAL_GAP_MAX + TRIAL_GAP + 2) * RUN);
		assert_int_equal(p.trial.way, i % 2);
		p.cost[0] = i % 2 ? 100 : 200;
		p.cost[1] = i % 2 ? 200 : 100;
	}
}

static void a_small_gain_changes_nothing(void **state)
{
	struct program p = { .cost = { 100, 96 } };

	operate(&p, 100000);
	assert_false(p.trial.way);
	p.cost[1] = 94;
	operate(&p, 2 * (TRIAL_GAP_MAX + TRIAL_GAP + 2) * RUN);
	assert_true(p.trial.way);
}

static void a_large_gain_is_taken_at_once(void **state)
{
	struct program p = { .cost = { 100, 70 } };

	operate(&p, 2 * RUN);
	assert_int_equal(p.cnt[1], RUN);
	assert_true(p.trial.way);
}

/* Later one trial that is better by chance is no reason to change. */
static void one_trial_decides_nothing(void **state)
{
	struct program p = { .cost = { 100, 100 } };
	unsigned i;

	operate(&p, 2 * RUN);
	assert_int_equal(p.cnt[1], RUN);
	for (i = 0; i < 10; i++) {
		p.cost[1] = 50;
		while (!p.trial.trying)
			operate(&p, 1);
		operate(&p, RUN);
		assert_int_equal(p.trial.wins, 1);
		p.cost[1] = 100;
		while (!p.trial.trying)
			operate(&p, 1);
		operate(&p, RUN);
		assert_int_equal(p.trial.wins, 0);
		assert_false(p.trial.way);
	}
}

/* Nor is one run in the way in use that was interrupted. */
static void one_interruption_decides_nothing(void **state)
{
	struct program p = { .cost = { 100, 100 } };
	unsigned i;

	operate(&p, 2 * RUN);
	for (i = 0; i < 20; i++) {
		while (p.trial.left != 1 || p.trial.done != RUN / 2)
			operate(&p, 1);
		p.now += 10000;
		while (!p.trial.trying)
			operate(&p, 1);
		operate(&p, RUN);
		assert_int_equal(p.trial.wins, 0);
	}
}

/* What is left of the other way, or of its caches, takes long at first. */
static void the_beginning_of_a_run_does_not_count(void **state)
{
	struct program p = { .cost = { 100, 90 } };
	unsigned i;

	for (i = 0; i < 3 * (TRIAL_GAP + 1) * RUN; i++) {
		p.cost[1] = p.trial.trying && p.trial.done < RUN / TRIAL_WARM ? 1000 : 90;
		operate(&p, 1);
	}
	assert_true(p.trial.way);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_way_stays_while_it_is_the_better_one),
		cmocka_unit_test(the_better_way_is_found_soon),
		cmocka_unit_test(a_change_is_noticed_at_the_next_trials),
		cmocka_unit_test(a_small_gain_changes_nothing),
		cmocka_unit_test(a_large_gain_is_taken_at_once),
		cmocka_unit_test(one_trial_decides_nothing),
		cmocka_unit_test(one_interruption_decides_nothing),
		cmocka_unit_test(the_beginning_of_a_run_does_not_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

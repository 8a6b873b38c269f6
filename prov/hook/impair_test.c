/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"

#include "impair.h"

static void test_words(void **state)
{
	struct impair f;

	assert_null(impair_parse(&f, "drop=5,dup=0.5,reorder=10,corrupt=1,seed=7"));
	assert_true(f.on && f.drop == 5 && f.dup == 0.5 && f.reorder == 10 && f.corrupt == 1);
	assert_int_equal(f.seed, 15);
	assert_null(impair_parse(&f, ""));
	assert_string_equal(impair_parse(&f, "drop=5,lose=1"), "lose=1");
	assert_false(f.on);
	assert_non_null(impair_parse(&f, "drop"));
	assert_non_null(impair_parse(&f, "drop=x"));
	assert_non_null(impair_parse(&f, "drop=101"));
	assert_non_null(impair_parse(&f, "drop=-1"));
}

static void test_shares(void **state)
{
	unsigned drop = 0, dup = 0, actions, i;
	struct impair f, g;

	assert_null(impair_parse(&f, "drop=20,dup=5,seed=3"));
	g = f;
	for (i = 0; i < 20000; i++) {
		actions = impair_next(&f);
		assert_int_equal(actions, impair_next(&g));
		drop += actions & IMPAIR_DROP ? 1 : 0;
		dup += actions & IMPAIR_DUP ? 1 : 0;
		assert_false(actions & (IMPAIR_REORDER | IMPAIR_CORRUPT));
	}
	assert_in_range(drop, 3700, 4300);
	assert_in_range(dup, 650, 950);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_shares),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

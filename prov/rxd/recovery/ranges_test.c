/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"

#include <rdma/fi_errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "ranges.h"

#define SPACE 200

static uint64_t seed = 88172645463325252;

static bool out_of_memory;

void *__real_realloc(void *mem, size_t size);
void *__wrap_realloc(void *mem, size_t size);

void *__wrap_realloc(void *mem, size_t size)
{
	return out_of_memory ? NULL : __real_realloc(mem, size);
}

static uint64_t draw(uint64_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % n;
}

static void expect(const struct rxd_ranges *set, const bool *has)
{
	const struct rxd_span *span;
	uint64_t n;
	uint32_t i;

	for (n = 0; n < SPACE; n++)
		assert_int_equal(rxd_ranges_has(set, n), has[n]);
	for (i = 0; i < set->cnt; i++) {
		span = &set->span[i];
		assert_true(span->lo < span->hi);
		assert_true(!i || set->span[i - 1].hi < span->lo);
	}
	for (n = 0; n < SPACE; n++) {
		span = rxd_ranges_at(set, n);
		assert_true(!span || span->hi > n);
	}
}

/* Against a naive model. */
static void test_model(void **state)
{
	bool has[SPACE];
	struct rxd_ranges set;
	uint64_t lo, hi;
	int round, step;

	rxd_ranges_init(&set);
	for (round = 0; round < 200; round++) {
		memset(has, 0, sizeof(has));
		for (step = 0; step < 60; step++) {
			lo = draw(SPACE);
			hi = lo + draw(12);
			if (hi > SPACE)
				hi = SPACE;
			switch (draw(8)) {
			case 0:
				rxd_ranges_cut(&set, lo);
				memset(has, 0, lo);
				break;
			case 1:
			case 2:
				assert_int_equal(rxd_ranges_sub(&set, lo, hi), 0);
				memset(has + lo, 0, hi - lo);
				break;
			default:
				assert_int_equal(rxd_ranges_add(&set, lo, hi), 0);
				memset(has + lo, 1, hi - lo);
				break;
			}
			expect(&set, has);
		}
		rxd_ranges_fini(&set);
		assert_int_equal(set.cnt, 0);
	}
}

static void test_touching_is_one(void **state)
{
	struct rxd_ranges set;

	rxd_ranges_init(&set);
	assert_int_equal(rxd_ranges_add(&set, 5, 7), 0);
	assert_int_equal(rxd_ranges_add(&set, 9, 12), 0);
	assert_int_equal(set.cnt, 2);
	assert_int_equal(rxd_ranges_add(&set, 7, 9), 0);
	assert_int_equal(set.cnt, 1);
	assert_int_equal(set.span[0].lo, 5);
	assert_int_equal(set.span[0].hi, 12);
	assert_int_equal(rxd_ranges_add(&set, UINT64_MAX - 1, UINT64_MAX), 0);
	assert_int_equal(set.cnt, 2);
	rxd_ranges_fini(&set);
}

/* Memory runs out: nothing that was in the set is lost, and the front can be taken off. */
static void test_cover_without_memory(void **state)
{
	struct rxd_ranges set;
	uint64_t i;

	rxd_ranges_init(&set);
	out_of_memory = true;
	rxd_ranges_cover(&set, 20, 30);
	assert_int_equal(rxd_ranges_add(&set, 50, 60), -FI_ENOMEM);
	assert_int_equal(rxd_ranges_sub(&set, 24, 25), -FI_ENOMEM);
	rxd_ranges_cover(&set, 50, 60);
	rxd_ranges_cover(&set, 5, 6);
	for (i = 0; i < 70; i++)
		if ((i >= 20 && i < 30) || (i >= 50 && i < 60) || i == 5)
			assert_true(rxd_ranges_has(&set, i));
	assert_false(rxd_ranges_has(&set, 4));
	assert_false(rxd_ranges_has(&set, 60));
	assert_int_equal(rxd_ranges_sub(&set, set.span[0].lo, 10), 0);
	assert_int_equal(set.span[0].lo, 10);
	out_of_memory = false;
	rxd_ranges_cover(&set, 100, 101);
	assert_int_equal(set.cnt, 2);
	rxd_ranges_fini(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_model),
		cmocka_unit_test(test_touching_is_one),
		cmocka_unit_test(test_cover_without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

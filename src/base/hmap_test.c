/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"
#include <rdma/fi_errno.h>
#include <stdlib.h>

#include "base/hmap.h"

#define KEYS 512

/* Keys that are adjacent and keys that are far apart, 0 and all ones included. */
static uint64_t key_of(unsigned i)
{
	if (i == 0)
		return UINT64_MAX;
	return i % 2 ? i - 1 : (uint64_t) i << (i % 48);
}

/* Compared with an array. */
static void test_model(void **state)
{
	static char vals[KEYS];
	void *model[KEYS] = { NULL };
	unsigned seed = 4711, steps, i, j;
	struct hmap map;
	size_t used = 0;

	/* key_of() must produce each key once. */
	for (i = 0; i < KEYS; i++)
		for (j = 0; j < i; j++)
			if (key_of(i) == key_of(j))
				model[i] = &model;
	hmap_init(&map);
	for (steps = 0; steps < 200000; steps++) {
		/* The table grows and shrinks in turn. */
		unsigned fill = steps / 5000 % 2 ? 70 : 30;

		i = (unsigned) rand_r(&seed) % KEYS;
		if (model[i] == &model)
			continue;
		assert_ptr_equal(hmap_find(&map, key_of(i)), model[i]);
		if ((unsigned) rand_r(&seed) % 100 < fill) {
			assert_int_equal(hmap_insert(&map, key_of(i), &vals[i]),
					 model[i] ? -FI_EALREADY : 0);
			used += !model[i];
			model[i] = &vals[i];
		} else {
			assert_ptr_equal(hmap_remove(&map, key_of(i)), model[i]);
			used -= !!model[i];
			model[i] = NULL;
		}
		assert_int_equal(map.used, used);
		if (steps % 1000)
			continue;
		for (j = 0; j < KEYS; j++)
			if (model[j] != &model)
				assert_ptr_equal(hmap_find(&map, key_of(j)), model[j]);
	}
	hmap_destroy(&map);
}

static void test_empty(void **state)
{
	struct hmap map;

	hmap_init(&map);
	assert_null(hmap_find(&map, 0));
	assert_null(hmap_remove(&map, 0));
	assert_int_equal(hmap_insert(&map, 0, &map), 0);
	assert_ptr_equal(hmap_find(&map, 0), &map);
	hmap_destroy(&map);
	assert_null(hmap_find(&map, 0));
	hmap_destroy(&map);
}

/* Sequential keys, which programs often choose, have short probe sequences. */
static void test_spread(void **state)
{
	size_t i, at, run, longest = 0;
	struct hmap map;

	hmap_init(&map);
	for (i = 0; i < 100000; i++)
		assert_int_equal(hmap_insert(&map, i, &map), 0);
	for (at = 0, run = 0; at <= map.mask; at++) {
		run = map.slots[at].val ? run + 1 : 0;
		if (run > longest)
			longest = run;
	}
	assert_true(longest < 200);
	hmap_destroy(&map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_model),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_spread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

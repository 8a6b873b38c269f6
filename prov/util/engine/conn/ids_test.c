/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include "base/test/verify.h"

#include "engine/ids.h"

static void test_names_are_distinct_and_found(void **arg)
{
	enum { N = 5000 };
	static uint32_t id[N];
	static int obj[N];
	struct ids ids;
	int i;

	(void) arg;
	ids_init(&ids);
	assert_null(ids_find(&ids, 0));
	for (i = 0; i < N; i++) {
		id[i] = ids_get(&ids, &obj[i]);
		assert_int_not_equal(id[i], 0);
	}
	for (i = 0; i < N; i++)
		assert_ptr_equal(ids_find(&ids, id[i]), &obj[i]);
	for (i = 0; i < N; i += 2)
		ids_put(&ids, id[i]);
	for (i = 0; i < N; i++)
		assert_ptr_equal(ids_find(&ids, id[i]), i % 2 ? &obj[i] : NULL);
	assert_int_equal(ids.used, N / 2);
	ids_fini(&ids);
}

static void test_stale_and_forged_ids_find_nothing(void **arg)
{
	struct ids ids;
	uint32_t id, old = 0;
	int obj, i;

	(void) arg;
	ids_init(&ids);
	assert_null(ids_find(&ids, UINT32_MAX));
	for (i = 0; i < 10000; i++) {
		id = ids_get(&ids, &obj);
		assert_int_not_equal(id, 0);
		assert_int_not_equal(id, old);
		assert_null(ids_find(&ids, old));
		assert_null(ids_find(&ids, id + 1));
		assert_null(ids_find(&ids, id ^ (1u << IDS_SLOT_BITS)));
		ids_put(&ids, id);
		old = id;
	}
	assert_int_equal(ids.used, 0);
	ids_fini(&ids);
}

/* The generations of a slot begin again twice while requests are open on both sides of it. */
static void test_generations_wrap_beside_open_names(void **arg)
{
	uint32_t open[3], id, first;
	int obj[4], i, k;
	struct ids ids;

	(void) arg;
	ids_init(&ids);
	open[0] = ids_get(&ids, &obj[0]);
	first = ids_get(&ids, &obj[3]);
	for (i = 1; i < 3; i++)
		open[i] = ids_get(&ids, &obj[i]);
	ids_put(&ids, first);
	for (i = 0; i < 10000; i++) {
		id = ids_get(&ids, &obj[3]);
		assert_ptr_equal(ids_find(&ids, id), &obj[3]);
		for (k = 0; k < 3; k++) {
			assert_int_not_equal(id, open[k]);
			assert_ptr_equal(ids_find(&ids, open[k]), &obj[k]);
		}
		ids_put(&ids, id);
	}
	assert_int_equal(ids.used, 3);
	ids_fini(&ids);
}

static void test_map_fills_up(void **arg)
{
	struct ids ids;
	uint32_t i, last = 0;
	int obj;

	(void) arg;
	ids_init(&ids);
	for (i = 0; i < IDS_MAX; i++)
		last = ids_get(&ids, &obj);
	assert_int_not_equal(last, 0);
	assert_int_equal(ids_get(&ids, &obj), 0);
	ids_put(&ids, last);
	assert_int_not_equal(ids_get(&ids, &obj), 0);
	ids_fini(&ids);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_are_distinct_and_found),
		cmocka_unit_test(test_stale_and_forged_ids_find_nothing),
		cmocka_unit_test(test_generations_wrap_beside_open_names),
		cmocka_unit_test(test_map_fills_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) ? 1 : 0;
}

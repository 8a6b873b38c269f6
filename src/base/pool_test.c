/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"

/* Objects do not overlap, whatever is written into them. */
static void check(size_t size, size_t chunk, size_t cnt)
{
	unsigned char **obj = calloc(cnt, sizeof(*obj));
	unsigned seed = 5;
	struct pool pool;
	size_t i, j, steps;

	pool_init(&pool, size, chunk, 0);
	for (steps = 0; steps < 20 * cnt; steps++) {
		i = (size_t) rand_r(&seed) % cnt;
		if (!obj[i]) {
			obj[i] = pool_get(&pool);
			assert_non_null(obj[i]);
			if (size > 32)
				assert_int_equal((uintptr_t) obj[i] % 64, 0);
			assert_int_equal((uintptr_t) obj[i] % sizeof(void *), 0);
			memset(obj[i], (int) i, size);
			continue;
		}
		for (j = 0; j < size; j++)
			assert_int_equal(obj[i][j], (unsigned char) i);
		pool_put(&pool, obj[i]);
		obj[i] = NULL;
	}
	for (i = j = 0; i < cnt; i++)
		j += obj[i] != NULL;
	assert_int_equal(pool.used, j);
	pool_destroy(&pool);
	assert_int_equal(pool.used, 0);
	free(obj);
}

static void test_sizes(void **state)
{
	check(1, 4, 50);
	check(8, 1, 50);
	check(33, 7, 100);
	check(200, 0, 100);
}

static void test_limit(void **state)
{
	void *obj[10];
	struct pool pool;
	int i;

	pool_init(&pool, 16, 4, 10);
	for (i = 0; i < 10; i++) {
		obj[i] = pool_get(&pool);
		assert_non_null(obj[i]);
	}
	assert_null(pool_get(&pool));
	assert_null(pool_get(&pool));
	pool_put(&pool, obj[3]);
	assert_ptr_equal(pool_get(&pool), obj[3]);
	assert_null(pool_get(&pool));
	pool_destroy(&pool);
}

/* Addresses do not change while the pool grows. */
static void test_stable(void **state)
{
	struct pool pool;
	int *first, i;

	pool_init(&pool, sizeof(int), 2, 0);
	first = pool_get(&pool);
	*first = 42;
	for (i = 0; i < 1000; i++)
		*(int *) pool_get(&pool) = i;
	assert_int_equal(*first, 42);
	pool_destroy(&pool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_stable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

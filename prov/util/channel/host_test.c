/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdio.h>
#include <cmocka.h>

#include "channel/host.h"

static void test_of_text(void **state)
{
	uint32_t one = chan_host_mark_of("5c1e7d5e-2f3b-4c7a-9d50-2b8f5c1f9a10\n");
	char id[16];
	int i;

	assert_int_equal(chan_host_mark_of(""), 0);
	assert_int_not_equal(one, chan_host_mark_of("5c1e7d5e-2f3b-4c7a-9d50-2b8f5c1f9a11\n"));
	/* never what an earlier release sends in its place: the number of an interface */
	for (i = 0; i < 200000; i++) {
		snprintf(id, sizeof(id), "%d", i);
		assert_true(chan_host_mark_of(id) >= 65536);
	}
}

static void test_of_this_host(void **state)
{
	assert_int_equal(chan_host_mark(), chan_host_mark());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_of_text),
		cmocka_unit_test(test_of_this_host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

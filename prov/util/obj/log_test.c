/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* How many lines a place may write.  The library's log is replaced by counters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/test/verify.h"

#include "obj/log.h"

static struct fi_provider prov = { .name = "test" };
static unsigned lines, counts, told;
static bool next_interval, enabled;

int fi_log_enabled(const struct fi_provider *p, enum fi_log_level level, enum fi_log_subsys subsys)
{
	return enabled;
}

int fi_log_ready(const struct fi_provider *p, enum fi_log_level level, enum fi_log_subsys subsys,
		 uint64_t *showtime)
{
	bool ready = *showtime == 0 || next_interval;

	*showtime = 1;
	next_interval = false;
	return ready;
}

void fi_log(const struct fi_provider *p, enum fi_log_level level, enum fi_log_subsys subsys,
	    const char *func, int line, const char *fmt, ...)
{
	va_list args;

	if (!strstr(fmt, "left out")) {
		lines++;
		return;
	}
	va_start(args, fmt);
	told += va_arg(args, unsigned);
	va_end(args);
	counts++;
}

static int start(void **state)
{
	lines = counts = told = 0;
	next_interval = false;
	enabled = true;
	return 0;
}

static void warn(int cnt)
{
	while (cnt--) {
		errno = 7;
		OBJ_WARN(&prov, FI_LOG_EP_CTRL, "a peer did it again\n");
		assert_int_equal(errno, 7);
	}
}

static void some_lines_and_a_count(void **state)
{
	warn(1000);
	assert_int_equal(lines, OBJ_LOG_WARNINGS);
	assert_int_equal(counts, 0);
	next_interval = true;
	warn(1000);
	assert_int_equal(lines, 2 * OBJ_LOG_WARNINGS);
	assert_int_equal(counts, 1);
	assert_int_equal(told, 1000 - OBJ_LOG_WARNINGS);
	/* few lines are all there */
	next_interval = true;
	warn(OBJ_LOG_WARNINGS);
	assert_int_equal(lines, 3 * OBJ_LOG_WARNINGS);
	assert_int_equal(counts, 2);
	next_interval = true;
	warn(1);
	assert_int_equal(counts, 2);
}

static void each_place_by_itself(void **state)
{
	int i;

	for (i = 0; i < 1000; i++)
		OBJ_INFO(&prov, FI_LOG_EP_CTRL, "one\n");
	assert_int_equal(lines, OBJ_LOG_OTHERS);
	OBJ_WARN(&prov, FI_LOG_EP_CTRL, "another\n");
	assert_int_equal(lines, OBJ_LOG_OTHERS + 1);
}

static void what_is_not_wanted_counts_nothing(void **state)
{
	int i;

	enabled = false;
	for (i = 0; i < 1000; i++)
		OBJ_WARN(&prov, FI_LOG_EP_CTRL, "one\n");
	assert_int_equal(lines, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(some_lines_and_a_count, start),
		cmocka_unit_test_setup(each_place_by_itself, start),
		cmocka_unit_test_setup(what_is_not_wanted_counts_nothing, start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/*
 * Every size, offset, type, number and prototype of the public headers is what
 * the tables in this directory say.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"

#include "abi_row.h"
#include "tests/abi/abi_layout.inc"

/* One test per table; a table that came out empty is a failure too. */
#define ROWS_TEST(name) \
	static void name##_match(void **state) \
	{ \
		size_t count = sizeof(name##_rows) / sizeof(name##_rows[0]); \
		\
		(void) state; \
		assert_true(count > 0); \
		assert_int_equal(abi_row_check(name##_rows, count), 0); \
		print_message("%zu rows\n", count); \
	}

ROWS_TEST(struct)
ROWS_TEST(old)
ROWS_TEST(enum)
ROWS_TEST(macro)
ROWS_TEST(other)
ROWS_TEST(typedef)
ROWS_TEST(prototype)
ROWS_TEST(inline)

/* The checker itself detects a wrong row. */
static void wrong_row_is_seen(void **state)
{
	static const struct abi_row rows[] = {
		{"(this line belongs here)", 1, 2},
		{"right", 3, 3},
	};

	(void) state;
	assert_int_equal(abi_row_check(rows, 2), 1);
}

/* Function-like macros do what their names say, also in #if. */
#if !(FI_VERSION_GE(FI_VERSION(2, 6), FI_VERSION(1, 20)))
#error "FI_VERSION is of no use to the preprocessor"
#endif

static void versions_compare(void **state)
{
	(void) state;
	assert_int_equal(FI_VERSION(2, 6), 0x20006);
	assert_int_equal(FI_MAJOR(FI_VERSION(2, 6)), 2);
	assert_int_equal(FI_MINOR(FI_VERSION(2, 6)), 6);
	assert_true(FI_VERSION_GE(FI_VERSION(2, 0), FI_VERSION(1, 22)));
	assert_true(FI_VERSION_GE(FI_VERSION(1, 5), FI_VERSION(1, 5)));
	assert_false(FI_VERSION_LT(FI_VERSION(1, 5), FI_VERSION(1, 5)));
	assert_true(FI_VERSION_LT(FI_VERSION(1, 9), FI_VERSION(1, 10)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(struct_match),
		cmocka_unit_test(old_match),
		cmocka_unit_test(enum_match),
		cmocka_unit_test(macro_match),
		cmocka_unit_test(other_match),
		cmocka_unit_test(typedef_match),
		cmocka_unit_test(prototype_match),
		cmocka_unit_test(inline_match),
		cmocka_unit_test(wrong_row_is_seen),
		cmocka_unit_test(versions_compare),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

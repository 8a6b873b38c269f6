/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/*
 * fi_tostr prints every enumerator and bit as the table says.  Rows whose input is named after
 * another enum test numbers outside the range.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "base/test/verify.h"

#include <rdma/fabric.h>

struct tostr_row {
	enum fi_type type;
	const char *type_name;
	const char *input;
	uint64_t value;
	const char *output;
};

#include "tests/abi/abi_tostr.inc"

/* Data of the type's width, little endian on all supported machines, so that a reader of fewer
 * bytes would find the value too.
 */
static const void *data_of(const struct tostr_row *row)
{
	static uint64_t wide;
	static uint32_t narrow;

	switch (row->type) {
	case FI_TYPE_CAPS:
	case FI_TYPE_OP_FLAGS:
	case FI_TYPE_MSG_ORDER:
	case FI_TYPE_MODE:
	case FI_TYPE_CQ_EVENT_FLAGS:
		wide = row->value;
		return &wide;
	default:
		narrow = (uint32_t) row->value;
		return &narrow;
	}
}

static int compare(const struct tostr_row *row, const char *call, const char *text)
{
	if (text && !strcmp(text, row->output))
		return 0;
	fprintf(stderr, "%s of %s %s prints \"%s\", the table says \"%s\"\n", call,
		row->type_name, row->input, text ? text : "(null)", row->output);
	return 1;
}

static void rows_match(void **state)
{
	size_t i, count = sizeof(tostr_rows) / sizeof(tostr_rows[0]);
	const struct tostr_row *row;
	char buf[256];
	int bad = 0;

	(void) state;
	for (i = 0; i < count; i++) {
		row = &tostr_rows[i];
		bad += compare(row, "fi_tostr", fi_tostr(data_of(row), row->type));
		bad += compare(row, "fi_tostr_r",
			       fi_tostr_r(buf, sizeof(buf), data_of(row), row->type));
	}
	assert_int_equal(bad, 0);
	assert_true(count > 0);
	print_message("%zu rows\n", count);
}

/* Text that does not fit is cut, and nothing is written past the end. */
static void short_buffer_is_respected(void **state)
{
	enum fi_ep_type type = FI_EP_MSG;
	char buf[8];

	(void) state;
	memset(buf, '#', sizeof(buf));
	assert_ptr_equal(fi_tostr_r(buf, 4, &type, FI_TYPE_EP_TYPE), buf);
	assert_string_equal(buf, "FI_");
	assert_memory_equal(buf + 4, "####", 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_match),
		cmocka_unit_test(short_buffer_is_respected),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

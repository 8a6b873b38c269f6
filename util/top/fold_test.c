/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "fold.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void folds_to(const char *text, size_t width, const char *expected)
{
	char *got;
	size_t len;
	FILE *out = open_memstream(&got, &len);

	fold_text(text, width, out);
	fclose(out);
	assert_string_equal(got, expected);
	free(got);
}

static void lines_that_fit_stay(void **state)
{
	folds_to("", 20, "");
	folds_to("one\n\ntwo", 20, "one\n\ntwo\n");
	folds_to("  12345678901234567890\n", 22, "  12345678901234567890\n");
}

static void longer_ones_go_on_between_words(void **state)
{
	folds_to("a process waits for another process\nnext\n", 20, "a process waits for\n    another process\nnext\n");
	folds_to("12345678901234567890 1234567890123456 2", 20, "12345678901234567890\n    1234567890123456\n    2\n");
}

static void a_long_word_is_cut(void **state)
{
	folds_to("fi_sockaddr_in6://[2001:db8::1]:50000", 20, "fi_sockaddr_in6://[2\n    001:db8::1]:5000\n    0\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_that_fit_stay),
		cmocka_unit_test(longer_ones_go_on_between_words),
		cmocka_unit_test(a_long_word_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

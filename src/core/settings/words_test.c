/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "core/test/child_test.h"
#include "core/words.h"

static void test_allow(void **state)
{
	assert_true(core_words_allow(NULL, "tcp"));
	assert_true(core_words_allow("", "tcp"));
	assert_true(core_words_allow(" , ,", "tcp"));
	assert_true(core_words_allow("^", "tcp"));
	assert_true(core_words_allow("udp,tcp", "tcp"));
	assert_true(core_words_allow(" udp , TCP ", "tcp"));
	assert_false(core_words_allow("udp", "tcp"));
	assert_false(core_words_allow("tcpx", "tcp"));
	assert_false(core_words_allow("tc", "tcp"));
	assert_false(core_words_allow("^udp,tcp", "tcp"));
	assert_true(core_words_allow("^udp,shm", "tcp"));
	assert_false(core_words_allow("  ^ tcp ", "tcp"));
}

static void test_next(void **state)
{
	const char *rest = ";a;; bc ;", *word;
	size_t len;

	word = core_words_next(&rest, ';', &len);
	assert_non_null(word);
	assert_true(core_word_is(word, len, "A"));
	word = core_words_next(&rest, ';', &len);
	assert_non_null(word);
	assert_int_equal(len, 2);
	assert_memory_equal(word, "bc", 2);
	assert_null(core_words_next(&rest, ';', &len));
	assert_null(core_words_next(&rest, ';', &len));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_allow),
		cmocka_unit_test(test_next),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

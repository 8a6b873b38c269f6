/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"

#include <string.h>

#include "base/hash/crc32c.h"

/* RFC 3720 B.4 */
static void test_vectors(void **state)
{
	uint8_t buf[32];

	memset(buf, 0, 32);
	assert_int_equal(crc32c_add(0, buf, 32), 0x8a9136aa);
	memset(buf, 0xff, 32);
	assert_int_equal(crc32c_add(0, buf, 32), 0x62a8ab43);
	assert_int_equal(crc32c_add(0, "123456789", 9), 0xe3069283);
}

/* By the processor and by table, in any two pieces: the same number. */
static void test_both_ways_and_in_pieces(void **state)
{
	uint8_t buf[999];
	size_t i;

	for (i = 0; i < sizeof(buf); i++)
		buf[i] = (uint8_t) (i * 31);
	for (i = 0; i < sizeof(buf); i++) {
		assert_int_equal(crc32c_add(0, buf, i), crc32c_by_table(0, buf, i));
		assert_int_equal(crc32c_add(crc32c_add(0, buf, i), buf + i, sizeof(buf) - i),
				 crc32c_add(0, buf, sizeof(buf)));
	}
}

/* A flipped bit anywhere is found. */
static void test_one_bit(void **state)
{
	uint8_t buf[64] = { 1, 2, 3 };
	uint32_t crc = crc32c_add(0, buf, sizeof(buf));
	unsigned i;

	for (i = 0; i < 8 * sizeof(buf); i++) {
		buf[i / 8] ^= (uint8_t) (1u << i % 8);
		assert_int_not_equal(crc32c_add(0, buf, sizeof(buf)), crc);
		buf[i / 8] ^= (uint8_t) (1u << i % 8);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors),
		cmocka_unit_test(test_both_ways_and_in_pieces),
		cmocka_unit_test(test_one_bit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

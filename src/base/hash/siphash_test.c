/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"

#include "base/hash/siphash.h"

static void vectors_of_the_paper(void **state)
{
	struct siphash_key key = { { 0x0706050403020100, 0x0f0e0d0c0b0a0908 } };
	uint8_t in[15];
	size_t i;

	for (i = 0; i < sizeof(in); i++)
		in[i] = (uint8_t) i;
	assert_true(siphash(&key, in, 15) == UINT64_C(0xa129ca6149be45e5));
	assert_true(siphash(&key, in, 0) == UINT64_C(0x726fdb47dd0e0e31));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vectors_of_the_paper),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

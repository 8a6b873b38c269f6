/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"
#include <string.h>

#include "base/copy.h"

/* Every length at every alignment: the requested bytes are copied and no others. */
static void copies(void **state)
{
	char from[64], to[64], want[64];
	size_t len, a, b, i;

	for (i = 0; i < sizeof(from); i++)
		from[i] = (char) (i * 7 + 1);
	for (len = 0; len <= 40; len++)
		for (a = 0; a < 9; a++)
			for (b = 0; b < 9; b++) {
				memset(to, 0x55, sizeof(to));
				memset(want, 0x55, sizeof(want));
				memcpy(want + b, from + a, len);
				copy_short(to + b, from + a, len);
				assert_memory_equal(to, want, sizeof(to));
			}
}

/* To and from many alignments: every length to 140, then each 251st. */
static void long_copies_are_whole(void **state)
{
	static _Alignas(64) char from[9000], to[9000], want[9000];
	size_t len, a, b, i;

	for (i = 0; i < sizeof(from); i++)
		from[i] = (char) (i * 7 + i / 64);
	for (len = 0; len <= 8500; len += len < 140 ? 1 : 251)
		for (a = 0; a < 20; a += 3)
			for (b = 0; b < 68; b += 4) {
				memset(to, 0x55, len + 100);
				memset(want, 0x55, len + 100);
				memcpy(want + b, from + a, len);
				copy_ahead(to + b, from + a, len);
				assert_memory_equal(to, want, len + 100);
				memset(to, 0x55, len + 100);
				copy_stream(to + b, from + a, len);
				assert_memory_equal(to, want, len + 100);
			}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copies),
		cmocka_unit_test(long_copies_are_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

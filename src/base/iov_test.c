/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"
#include <stdlib.h>
#include <string.h>

#include "base/iov.h"

#define PIECES 6
#define BYTES 64

/* Makes a scatter list over @mem with some empty entries; returns its length. */
static size_t make(struct iovec *iov, char *mem, unsigned *seed)
{
	size_t at = 0, i;

	for (i = 0; i < PIECES; i++) {
		iov[i].iov_base = mem + at;
		iov[i].iov_len = (size_t) rand_r(seed) % 3 ? (size_t) rand_r(seed) % 10 : 0;
		/* A gap, so that the entries are not contiguous. */
		at += iov[i].iov_len + 1;
	}
	return iov_total(iov, PIECES);
}

/* The same list as an array of pointers, one for each byte. */
static void flatten(const struct iovec *iov, char **flat)
{
	size_t i, j;

	for (i = 0; i < PIECES; i++)
		for (j = 0; j < iov[i].iov_len; j++)
			*flat++ = (char *) iov[i].iov_base + j;
}

static void test_model(void **state)
{
	char mem[BYTES + PIECES], buf[BYTES], *flat[BYTES], *sliced[BYTES];
	struct iovec iov[PIECES], out[PIECES];
	size_t total, offset, len, want, i, cnt;
	unsigned seed = 31, steps;

	for (steps = 0; steps < 50000; steps++) {
		for (i = 0; i < sizeof(mem); i++)
			mem[i] = (char) i;
		total = make(iov, mem, &seed);
		flatten(iov, flat);
		offset = (size_t) rand_r(&seed) % (BYTES / 2);
		len = (size_t) rand_r(&seed) % (BYTES / 2);
		want = offset >= total ? 0 : total - offset < len ? total - offset : len;

		memset(buf, 0x7f, sizeof(buf));
		assert_int_equal(iov_gather(iov, PIECES, offset, buf, len), want);
		for (i = 0; i < want; i++)
			assert_int_equal(buf[i], *flat[offset + i]);
		assert_int_equal(buf[want], 0x7f);

		cnt = iov_slice(iov, PIECES, offset, len, out);
		assert_true(cnt <= PIECES);
		assert_int_equal(iov_total(out, cnt), want);
		for (i = cnt; i < PIECES; i++)
			out[i] = (struct iovec) { NULL, 0 };
		flatten(out, sliced);
		for (i = 0; i < want; i++)
			assert_ptr_equal(sliced[i], flat[offset + i]);

		memset(buf, 0x55, sizeof(buf));
		assert_int_equal(iov_scatter(iov, PIECES, offset, buf, len), want);
		for (i = 0; i < total; i++)
			assert_int_equal(*flat[i] == 0x55, i >= offset && i < offset + want);
	}
}

/* A region of all addresses begins at none. */
static void test_address_zero(void **state)
{
	struct iovec all = { NULL, SIZE_MAX }, part;
	char from[3] = "abc", to[3] = "";

	assert_int_equal(iov_slice(&all, 1, (size_t) (uintptr_t) from, 3, &part), 1);
	assert_ptr_equal(part.iov_base, from);
	assert_int_equal(part.iov_len, 3);
	assert_int_equal(iov_gather(&all, 1, (size_t) (uintptr_t) from, to, 3), 3);
	assert_memory_equal(to, from, 3);
	assert_int_equal(iov_scatter(&all, 1, (size_t) (uintptr_t) to, "xyz", 3), 3);
	assert_memory_equal(to, "xyz", 3);
}

static void test_empty(void **state)
{
	struct iovec out[1];
	char byte = 0;

	assert_int_equal(iov_total(NULL, 0), 0);
	assert_int_equal(iov_gather(NULL, 0, 0, &byte, 1), 0);
	assert_int_equal(iov_scatter(NULL, 0, 0, &byte, 1), 0);
	assert_int_equal(iov_slice(NULL, 0, 0, 1, out), 0);
}

static void lengths_that_wrap(void **arg)
{
	struct iovec two[2] = { { NULL, SIZE_MAX }, { NULL, 1 } };

	assert_false(iov_wraps(0, 0));
	assert_false(iov_wraps(0, UINT64_MAX));
	assert_false(iov_wraps(UINT64_MAX, 0));
	assert_false(iov_wraps(UINT64_MAX, 1));		/* the last byte */
	assert_true(iov_wraps(UINT64_MAX, 2));
	assert_true(iov_wraps(2, UINT64_MAX));
	assert_int_equal(iov_asked(two, 0), 0);
	assert_int_equal(iov_asked(two + 1, 1), 1);
	assert_int_equal(iov_asked(two, 2), SIZE_MAX);
	two[0] = (struct iovec) { (void *) (UINTPTR_MAX - 1), 3 };
	assert_int_equal(iov_asked(two, 1), SIZE_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lengths_that_wrap),
		cmocka_unit_test(test_model),
		cmocka_unit_test(test_address_zero),
		cmocka_unit_test(test_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

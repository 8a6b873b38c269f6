/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/test/verify.h"

#include "verbs/private.h"
#include "verbs/provider.h"

static void the_length_comes_first(void **state)
{
	uint8_t buf[VRB_CM_DATA];

	assert_int_equal(vrb_private_put(buf, "ping", 4), 5);
	assert_memory_equal(buf, "\x04ping", 5);
	assert_int_equal(vrb_private_put(buf, NULL, 0), 1);
	assert_int_equal(buf[0], 0);
}

/* Padding does not count as data, and data may be as long as the connection manager carries. */
static void every_length_survives(void **state)
{
	uint8_t buf[VRB_CM_DATA], data[VRB_CM_DATA];
	const void *got;
	size_t len, size;

	memset(data, 0xff, sizeof(data));
	for (len = 0; len <= VRB_CM_DATA - VRB_PRIVATE_HEAD; len++) {
		memset(buf, 0, sizeof(buf));
		vrb_private_put(buf, data, len);
		size = sizeof(buf);
		got = vrb_private_get(buf, &size);
		assert_int_equal(size, len);
		assert_memory_equal(got, data, len);
	}
}

/* ofi_rxm's request, as other implementations send it. */
static void foreign_request(void **state)
{
	static const uint8_t buf[VRB_CM_DATA] = {
		0x18, 0x01, 0x02, 0x04, 0x03, 0x01, 0xc0, 0x02, 0x00, 0x00, 0x40, 0x00, 0x00,
		0x00, 0x10, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00, 0x92, 0x10, 0x00, 0x00,
	};
	size_t len = sizeof(buf);
	const uint8_t *got = vrb_private_get(buf, &len);

	assert_int_equal(len, 24);
	assert_ptr_equal(got, buf + 1);
}

/* A program without the library below. */
static void without_a_length(void **state)
{
	uint8_t buf[VRB_CM_DATA] = "plain";
	size_t len = sizeof(buf);

	assert_ptr_equal(vrb_private_get(buf, &len), buf);
	assert_int_equal(len, sizeof(buf));
	memset(buf, 0, sizeof(buf));	/* it gave none */
	vrb_private_get(buf, &len);
	assert_int_equal(len, 0);
	len = 4;
	assert_null(vrb_private_get(NULL, &len));
	assert_int_equal(len, 0);
	assert_null(vrb_private_get(buf, &len));
	buf[0] = 1;
	len = 1;	/* cut */
	assert_ptr_equal(vrb_private_get(buf, &len), buf);
	assert_int_equal(len, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_length_comes_first),
		cmocka_unit_test(every_length_survives),
		cmocka_unit_test(foreign_request),
		cmocka_unit_test(without_a_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

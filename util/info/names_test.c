/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include "names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/test/verify.h"

#include <rdma/fi_errno.h>

static void test_bits(void **state)
{
	uint64_t bits = 0;
	char bad[64];

	assert_int_equal(info_names_bits(FI_TYPE_CAPS, "FI_MSG|FI_RMA", &bits, bad, sizeof(bad)), 0);
	assert_int_equal(bits, FI_MSG | FI_RMA);
	assert_int_equal(info_names_bits(FI_TYPE_CAPS, "fi_tagged|", &bits, bad, sizeof(bad)), 0);
	assert_int_equal(bits, FI_TAGGED);
	assert_int_equal(info_names_bits(FI_TYPE_CAPS, "", &bits, bad, sizeof(bad)), 0);
	assert_int_equal(bits, 0);
	assert_int_equal(info_names_bits(FI_TYPE_MODE, "FI_CONTEXT|FI_CONTEXT2", &bits, bad,
					 sizeof(bad)), 0);
	assert_int_equal(bits, FI_CONTEXT | FI_CONTEXT2);
}

static void test_bad_bits(void **state)
{
	uint64_t bits = 77;
	char bad[64];

	assert_int_equal(info_names_bits(FI_TYPE_CAPS, "FI_MSG|FI_BOGUS|FI_RMA", &bits, bad,
					 sizeof(bad)), -FI_EINVAL);
	assert_string_equal(bad, "FI_BOGUS");
	assert_int_equal(bits, 77);
	assert_int_equal(info_names_bits(FI_TYPE_CAPS, "FI_MSG FI_RMA", &bits, bad, sizeof(bad)),
			 -FI_EINVAL);
	assert_string_equal(bad, "FI_MSG FI_RMA");
}

static void test_enums(void **state)
{
	uint32_t val = 0;

	assert_int_equal(info_names_enum(FI_TYPE_EP_TYPE, "FI_EP_RDM", &val), 0);
	assert_int_equal(val, FI_EP_RDM);
	assert_int_equal(info_names_enum(FI_TYPE_ADDR_FORMAT, "fi_sockaddr_in6", &val), 0);
	assert_int_equal(val, FI_SOCKADDR_IN6);
	assert_int_equal(info_names_enum(FI_TYPE_EP_TYPE, "Unknown", &val), -FI_EINVAL);
	assert_int_equal(info_names_enum(FI_TYPE_EP_TYPE, "", &val), -FI_EINVAL);
}

static void append(const char *name, void *arg)
{
	strcat(strcat(arg, name), ";");
}

static void test_each(void **state)
{
	char text[256] = "";

	info_names_each(FI_TYPE_CAPS, FI_MSG | FI_RMA, append, text);
	assert_string_equal(text, "FI_MSG;FI_RMA;");
	text[0] = 0;
	info_names_each(FI_TYPE_MR_MODE, FI_MR_LOCAL | FI_MR_ENDPOINT, append, text);
	assert_string_equal(text, "FI_MR_LOCAL;FI_MR_ENDPOINT;");
	text[0] = 0;
	info_names_each(FI_TYPE_MR_MODE, 1ULL << 30, append, text);
	assert_string_equal(text, "0x40000000;");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bits),
		cmocka_unit_test(test_bad_bits),
		cmocka_unit_test(test_enums),
		cmocka_unit_test(test_each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

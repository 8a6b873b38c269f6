/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include "options.h"

#include <getopt.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include "base/test/verify.h"

#include <rdma/fi_errno.h>

static struct pp_options o;

static int parse(char **argv)
{
	int argc = 0;

	while (argv[argc])
		argc++;
	optind = 0;	/* resets GNU getopt */
	opterr = 0;
	return pp_options_parse(argc, argv, &o);
}

#define PARSE(...) parse((char *[]) { "fi_pingpong", ##__VA_ARGS__, NULL })

static void test_defaults(void **state)
{
	assert_int_equal(PARSE(), 0);
	assert_int_equal(o.role, PP_SERVER);
	assert_int_equal(o.src_port, PP_DEFAULT_PORT);
	assert_int_equal(o.ep_type, FI_EP_UNSPEC);
	assert_int_equal(o.iters, 10);
	assert_int_equal(o.size_cnt, 6);
	assert_int_equal(o.sizes[5], 1 << 20);
	assert_false(o.strict_sizes);
}

static void test_roles(void **state)
{
	assert_int_equal(PARSE("-P", "99", "somewhere"), 0);
	assert_int_equal(o.role, PP_CLIENT);
	assert_int_equal(o.src_port, 0);
	assert_int_equal(o.dst_port, 99);
	assert_int_equal(PARSE("-B", "0"), 0);
	assert_int_equal(o.src_port, 0);
	assert_int_equal(PARSE("one", "two"), -FI_EINVAL);
	assert_int_equal(PARSE("--local", "somewhere"), -FI_EINVAL);
}

static void test_filters(void **state)
{
	assert_int_equal(PARSE("-s", "192.0.2.7", "-f", "192.0.2.0/24", "-d", "eth7", "-p", "tcp"), 0);
	assert_string_equal(o.source, "192.0.2.7");
	assert_string_equal(o.fabric, "192.0.2.0/24");
	assert_string_equal(o.domain, "eth7");
	assert_string_equal(o.provider, "tcp");
	/* tags without a kind: datagrams are not among those that are looked for */
	assert_int_equal(PARSE("-m", "tagged"), 0);
}

static void test_sizes(void **state)
{
	assert_int_equal(PARSE("-S", "64k,8,1k"), 0);
	assert_int_equal(o.size_cnt, 3);
	assert_int_equal(o.sizes[0], 8);
	assert_int_equal(o.sizes[1], 1024);
	assert_int_equal(o.sizes[2], 65536);
	assert_true(o.strict_sizes);
	assert_int_equal(PARSE("-S", "all"), 0);
	assert_int_equal(o.sizes[0], 0);
	assert_int_equal(o.sizes[o.size_cnt - 1], 6 << 20);
	assert_false(o.strict_sizes);
}

static void test_bad_sizes(void **state)
{
	static char *const bad[] = { "x", "", "8,", "8x", "-1", "2g", "1073741825",
				     "18446744073709551616", "8 9" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(PARSE("-S", bad[i]), -FI_EINVAL);
}

static void test_bad_values(void **state)
{
	assert_int_equal(PARSE("-e", "stream"), -FI_EINVAL);
	assert_int_equal(PARSE("-m", "rma"), -FI_EINVAL);
	assert_int_equal(PARSE("-I", "0"), -FI_EINVAL);
	assert_int_equal(PARSE("-I", "ten"), -FI_EINVAL);
	assert_int_equal(PARSE("-B", "65536"), -FI_EINVAL);
	assert_int_equal(PARSE("-P", "-1"), -FI_EINVAL);
	assert_int_equal(PARSE("-e", "dgram", "-m", "tagged"), -FI_EINVAL);
	assert_int_equal(PARSE("--nonsense"), -FI_EINVAL);
}

static void test_text_tells_tests_apart(void **state)
{
	char one[4096], two[4096];

	assert_int_equal(PARSE("-e", "rdm", "-S", "8", "-v", "--json", "-B", "7"), 0);
	pp_options_text(&o, one, sizeof(one));
	assert_int_equal(PARSE("-e", "rdm", "-S", "8", "server"), 0);
	pp_options_text(&o, two, sizeof(two));
	assert_string_equal(one, two);
	assert_int_equal(PARSE("-e", "rdm", "-S", "8", "-c", "server"), 0);
	pp_options_text(&o, two, sizeof(two));
	assert_string_not_equal(one, two);
	assert_int_equal(PARSE("-e", "rdm", "-S", "all", "server"), 0);
	pp_options_text(&o, two, 40);
	assert_int_equal(strlen(two), 39);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_roles),
		cmocka_unit_test(test_filters),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_bad_sizes),
		cmocka_unit_test(test_bad_values),
		cmocka_unit_test(test_text_tells_tests_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

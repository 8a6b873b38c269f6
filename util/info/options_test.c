/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include "options.h"

#include <arpa/inet.h>
#include <getopt.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include "base/test/verify.h"

#include <rdma/fi_errno.h>

static struct info_options o;

static int parse(char **argv)
{
	int argc = 0;

	while (argv[argc])
		argc++;
	optind = 0;	/* resets GNU getopt */
	opterr = 0;
	return info_options_parse(argc, argv, &o);
}

#define PARSE(...) parse((char *[]) { "fi_info", ##__VA_ARGS__, NULL })

static int release(void **state)
{
	info_options_free(&o);
	return 0;
}

static void test_nothing(void **state)
{
	assert_int_equal(PARSE(), 0);
	assert_int_equal(o.task, INFO_QUERY);
	assert_null(o.hints);
	assert_int_equal(o.flags, 0);
	assert_false(o.verbose || o.list || o.explain || o.json);
}

static void test_filters(void **state)
{
	assert_int_equal(PARSE("-p", "tcp", "-t", "FI_EP_MSG", "-c", "FI_MSG|FI_RMA", "-d", "lo",
			       "--fabric=net", "-a", "FI_SOCKADDR_IN"), 0);
	assert_string_equal(o.hints->fabric_attr->prov_name, "tcp");
	assert_string_equal(o.hints->fabric_attr->name, "net");
	assert_string_equal(o.hints->domain_attr->name, "lo");
	assert_int_equal(o.hints->ep_attr->type, FI_EP_MSG);
	assert_int_equal(o.hints->caps, FI_MSG | FI_RMA);
	assert_int_equal(o.hints->addr_format, FI_SOCKADDR_IN);
	/* with a filter all modes are allowed; otherwise candidates would be missing */
	assert_int_equal(o.hints->mode, ~0ULL);
	assert_true(o.hints->domain_attr->mr_mode & FI_MR_ENDPOINT);
	assert_false(o.hints->domain_attr->mr_mode & (FI_MR_BASIC | FI_MR_SCALABLE));
}

static void test_mode_narrows(void **state)
{
	assert_int_equal(PARSE("-m", "FI_CONTEXT"), 0);
	assert_int_equal(o.hints->mode, FI_CONTEXT);
	assert_int_equal(o.hints->domain_attr->mode, ~0ULL);
}

static void test_source(void **state)
{
	assert_int_equal(PARSE("-s", "127.0.0.1", "-P", "5"), 0);
	assert_string_equal(o.node, "127.0.0.1");
	assert_string_equal(o.service, "5");
	assert_int_equal(o.flags, FI_SOURCE);
	assert_null(o.hints);
}

static void test_source_and_node(void **state)
{
	const struct sockaddr_in *sin;

	assert_int_equal(PARSE("-s", "127.0.0.1", "-n", "192.0.2.9"), 0);
	assert_string_equal(o.node, "192.0.2.9");
	assert_int_equal(o.flags, 0);
	sin = o.hints->src_addr;
	assert_int_equal(o.hints->src_addrlen, sizeof(*sin));
	assert_int_equal(ntohl(sin->sin_addr.s_addr), INADDR_LOOPBACK);
}

static void test_tasks(void **state)
{
	assert_int_equal(PARSE("-l"), 0);
	assert_true(o.list);
	assert_int_equal(o.flags, FI_PROV_ATTR_ONLY);
	assert_int_equal(PARSE("-g", "IFACE"), 0);
	assert_int_equal(o.task, INFO_ENV);
	assert_string_equal(o.substr, "IFACE");
	assert_int_equal(PARSE("-i", "lo"), 0);
	assert_true(o.verbose);
	assert_string_equal(o.substr, "lo");
	assert_int_equal(PARSE("--version"), 0);
	assert_int_equal(o.task, INFO_VERSION);
	assert_int_equal(PARSE("--explain", "--json"), 0);
	assert_true(o.explain && o.json);
	assert_int_equal(PARSE("--path", "192.0.2.1", "--probe"), 0);
	assert_true(o.task == INFO_PATH && o.probe);
	assert_string_equal(o.node, "192.0.2.1");
	assert_int_equal(PARSE("--nonsense"), 0);
	assert_int_equal(o.task, INFO_USAGE);
}

static void test_bad_values(void **state)
{
	assert_int_equal(PARSE("-c", "FI_BOGUS"), -FI_EINVAL);
	info_options_free(&o);
	assert_int_equal(PARSE("-t", "FI_EP_BOGUS"), -FI_EINVAL);
	info_options_free(&o);
	assert_int_equal(PARSE("-a", "FOO"), -FI_EINVAL);
	info_options_free(&o);
	assert_int_equal(PARSE("-m", "FI_BOGUS"), -FI_EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_nothing, release),
		cmocka_unit_test_teardown(test_filters, release),
		cmocka_unit_test_teardown(test_mode_narrows, release),
		cmocka_unit_test_teardown(test_source, release),
		cmocka_unit_test_teardown(test_source_and_node, release),
		cmocka_unit_test_teardown(test_tasks, release),
		cmocka_unit_test_teardown(test_bad_values, release),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

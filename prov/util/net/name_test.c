/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "base/test/verify.h"

#include "net/name.h"

static void test_name(void **state)
{
	union net_sa sa, name;

	net_addr_parse("fi_sockaddr_in://127.0.0.1:5000", &sa);
	assert_int_equal(net_name(&sa.sa, "eth99", &name), 0);
	assert_int_equal(net_addr_cmp(&sa.sa, &name.sa), 0);
	net_addr_parse("fi_sockaddr_in://0.0.0.0:5000", &sa);
	assert_int_equal(net_name(&sa.sa, "lo", &name), 0);
	assert_true(net_addr_is_loopback(&name.sa));
	assert_int_equal(net_addr_port(&name.sa), 5000);
	assert_int_equal(net_name(&sa.sa, "eth99", &name), 0);	/* the preferred interface */
	assert_false(net_addr_is_any(&name.sa));
	assert_int_equal(net_name(&sa.sa, NULL, &name), 0);
	assert_int_equal(net_addr_port(&name.sa), 5000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"

#include <string.h>

#include "cookie.h"

static struct rxd_hello a_hello(void)
{
	struct rxd_hello hello = {
		.cid = 0x1122334455667788, .epoch = 99, .serial = 3, .window = 1 << 20,
		.dgram_max = 1456, .engine = WIRE_VERSION, .kind = RXD_KIND_RDM, .addr_len = 16,
	};

	memset(hello.addr, 7, 16);
	return hello;
}

static void test_cookie(void **state)
{
	struct siphash_key key = { { 1, 2 } }, other = { { 1, 3 } };
	struct rxd_hello hello = a_hello(), forged;

	assert_false(rxd_cookie_good(&key, &hello, 50));
	hello.cookie = rxd_cookie_make(&key, &hello, 50);
	assert_true(rxd_cookie_good(&key, &hello, 50));
	assert_true(rxd_cookie_good(&key, &hello, 49 + RXD_COOKIE_LIFE_NS));
	assert_false(rxd_cookie_good(&key, &hello, 50 + RXD_COOKIE_LIFE_NS));
	assert_false(rxd_cookie_good(&key, &hello, 49));
	assert_false(rxd_cookie_good(&other, &hello, 50));
	forged = hello;
	forged.addr[3] ^= 1;
	assert_false(rxd_cookie_good(&key, &forged, 50));
	forged = hello;
	forged.cid++;
	assert_false(rxd_cookie_good(&key, &forged, 50));
	forged = hello;
	forged.cookie.stamp++;
	assert_false(rxd_cookie_good(&key, &forged, 60));
}

/* Nothing that a HELLO claims can be changed under a cookie. */
static void test_claims(void **state)
{
	struct siphash_key key = { { 1, 2 } };
	struct rxd_hello hello = a_hello(), forged;

	hello.cookie = rxd_cookie_make(&key, &hello, 50);
	forged = hello;
	forged.epoch++;
	assert_false(rxd_cookie_good(&key, &forged, 50));
	forged = hello;
	forged.serial++;
	assert_false(rxd_cookie_good(&key, &forged, 50));
	forged = hello;
	forged.kind = RXD_KIND_MSG;
	assert_false(rxd_cookie_good(&key, &forged, 50));
	forged = hello;
	forged.cookie.mac = 0;
	assert_false(rxd_cookie_good(&key, &forged, 50));
	assert_true(rxd_cookie_good(&key, &hello, 50));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cookie),
		cmocka_unit_test(test_claims),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

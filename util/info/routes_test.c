/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "routes.h"

/* The kernel writes an address as the number that its four bytes are in memory. */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define ADDR(a, b, c, d) a b c d
#else
#define ADDR(a, b, c, d) d c b a
#endif

#define GATEWAY ADDR("C0", "00", "02", "01")
#define MASK ADDR("FF", "FF", "FF", "00")

/* 0.0.0.0/0 by eth0, 192.0.2.0/24 by eth0, 198.51.100.0/24 by eth1, 203.0.113.0/24 refused. */
static const char four[] =
	"Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
	"eth0\t00000000\t" GATEWAY "\t0003\t0\t0\t0\t00000000\t0\t0\t0\n"
	"eth0\t" ADDR("C0", "00", "02", "00") "\t00000000\t0001\t0\t0\t0\t" MASK "\t0\t0\t0\n"
	"eth1\t" ADDR("C6", "33", "64", "00") "\t00000000\t0001\t0\t0\t0\t" MASK "\t0\t0\t0\n"
	"eth1\t" ADDR("CB", "00", "71", "00") "\t00000000\t0201\t0\t0\t0\t" MASK "\t0\t0\t0\n"
	"eth2 and an incomplete line\n";

/* 2001:db8:1::/48 by eth0, ::/0 refused by lo. */
static const char six[] =
	"20010db8000100000000000000000000 30 00000000000000000000000000000000 00 "
	"00000000000000000000000000000000 00000100 00000001 00000000 00000001     eth0\n"
	"00000000000000000000000000000000 00 00000000000000000000000000000000 00 "
	"00000000000000000000000000000000 ffffffff 00000001 00000000 00200200       lo\n"
	"2001 30 nonsense\n";

static bool has(const char *table, const char *host, const char *iface)
{
	FILE *file = fmemopen((void *) (uintptr_t) table, strlen(table), "r");
	union net_sa peer;
	bool ret;

	assert_non_null(file);
	assert_int_equal(net_addr_parse_host(host, &peer), 0);
	ret = info_routes_has(file, &peer, iface);
	fclose(file);
	return ret;
}

static void test_ipv4(void **state)
{
	assert_true(has(four, "192.0.2.7", "eth0"));
	assert_true(has(four, "203.0.113.9", "eth0"));		/* by its gateway */
	assert_false(has(four, "192.0.2.7", "eth1"));
	assert_true(has(four, "198.51.100.200", "eth1"));
	assert_false(has(four, "198.51.101.1", "eth1"));
	assert_false(has(four, "203.0.113.9", "eth1"));		/* refused */
	assert_false(has(four, "192.0.2.7", "eth2"));
	assert_false(has(four, "192.0.2.7", "Iface"));
}

static void test_ipv6(void **state)
{
	assert_true(has(six, "2001:db8:1::7", "eth0"));
	assert_false(has(six, "2001:db8:2::7", "eth0"));
	assert_false(has(six, "2001:db8:1::7", "lo"));
}

static void test_no_file(void **state)
{
	union net_sa peer;

	assert_int_equal(net_addr_parse_host("192.0.2.1", &peer), 0);
	assert_false(info_routes_has(NULL, &peer, "eth0"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ipv4),
		cmocka_unit_test(test_ipv6),
		cmocka_unit_test(test_no_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

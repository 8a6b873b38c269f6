/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <arpa/inet.h>
#include <rdma/fabric.h>
#include <rdma/fi_errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/test/verify.h"

#include "base/net_addr.h"

static union net_sa sa_of(const char *host, uint16_t port)
{
	union net_sa sa;

	assert_int_equal(net_addr_parse_host(host, &sa), 0);
	net_addr_set_port(&sa.sa, port);
	return sa;
}

static void test_basics(void **state)
{
	union net_sa v4 = sa_of("192.0.2.1", 5000), v6 = sa_of("2001:db8::1", 80), other;
	struct sockaddr unix_sa = { .sa_family = AF_UNIX };

	assert_int_equal(net_addr_len(&v4.sa), 16);
	assert_int_equal(net_addr_len(&v6.sa), 28);
	assert_int_equal(net_addr_len(&unix_sa), 0);
	assert_int_equal(net_addr_port(&v4.sa), 5000);
	assert_int_equal(net_addr_port(&v6.sa), 80);
	assert_int_equal(v6.in6.sin6_port, htons(80));
	assert_int_equal(net_addr_format(&v4.sa), FI_SOCKADDR_IN);
	assert_int_equal(net_addr_format(&v6.sa), FI_SOCKADDR_IN6);
	assert_int_equal(net_addr_format(&unix_sa), FI_FORMAT_UNSPEC);
	assert_int_equal(net_addr_family(FI_SOCKADDR), AF_UNSPEC);
	assert_int_equal(net_addr_family(FI_SOCKADDR_IP), AF_UNSPEC);
	assert_int_equal(net_addr_family(FI_SOCKADDR_IN), AF_INET);
	assert_int_equal(net_addr_family(FI_SOCKADDR_IN6), AF_INET6);
	assert_int_equal(net_addr_family(FI_SOCKADDR_IB), -1);

	assert_int_equal(net_addr_copy(&v4, 16, &other), 0);
	assert_int_equal(net_addr_cmp(&v4.sa, &other.sa), 0);
	assert_int_equal(net_addr_copy(&v4, 15, &other), -FI_EINVAL);
	assert_int_equal(net_addr_copy(&v6, 16, &other), -FI_EINVAL);
	assert_int_equal(net_addr_copy(&v4, 1, &other), -FI_EINVAL);
	assert_int_equal(net_addr_copy(NULL, 16, &other), -FI_EINVAL);
	assert_int_equal(net_addr_copy(&unix_sa, sizeof(unix_sa), &other), -FI_EINVAL);
}

static void test_kinds_of_address(void **state)
{
	static const struct {
		const char *host;
		bool any, loopback, link_local, multicast;
	} row[] = {
		{ "0.0.0.0", true, false, false, false },
		{ "::", true, false, false, false },
		{ "127.0.0.1", false, true, false, false },
		{ "127.0.1.1", false, true, false, false },
		{ "128.0.0.1", false, false, false, false },
		{ "::1", false, true, false, false },
		{ "169.254.3.4", false, false, true, false },
		{ "169.253.3.4", false, false, false, false },
		{ "fe80::1", false, false, true, false },
		{ "fd00::1", false, false, false, false },
		{ "224.0.0.1", false, false, false, true },
		{ "239.255.0.1", false, false, false, true },
		{ "240.0.0.1", false, false, false, false },
		{ "ff02::1", false, false, false, true },
	};
	size_t i;

	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		union net_sa sa = sa_of(row[i].host, 1);

		assert_int_equal(net_addr_is_any(&sa.sa), row[i].any);
		assert_int_equal(net_addr_is_loopback(&sa.sa), row[i].loopback);
		assert_int_equal(net_addr_is_link_local(&sa.sa), row[i].link_local);
		assert_int_equal(net_addr_is_multicast(&sa.sa), row[i].multicast);
	}
}

/* Pairs in ascending order; equal only to themselves. */
static void test_order_and_hash(void **state)
{
	union net_sa sa[8];
	int i, j;

	sa[0] = sa_of("10.0.0.1", 1);
	sa[1] = sa_of("10.0.0.1", 2);
	sa[2] = sa_of("10.0.0.2", 1);
	sa[3] = sa_of("192.0.2.1", 0);
	sa[4] = sa_of("2001:db8::1", 7);
	sa[5] = sa_of("2001:db8::2", 6);
	sa[6] = sa_of("fe80::1%1", 6);
	sa[7] = sa_of("fe80::1%2", 5);
	for (i = 0; i < 8; i++)
		for (j = 0; j < 8; j++) {
			int cmp = net_addr_cmp(&sa[i].sa, &sa[j].sa);
			bool same = net_addr_hash(&sa[i].sa) == net_addr_hash(&sa[j].sa);

			assert_int_equal((cmp > 0) - (cmp < 0), (i > j) - (i < j));
			assert_int_equal(same, i == j);
		}
	assert_true(net_addr_same_host(&sa[0].sa, &sa[1].sa));
	assert_false(net_addr_same_host(&sa[6].sa, &sa[7].sa));
}

static void test_hash_spreads(void **state)
{
	union net_sa sa = sa_of("10.0.0.0", 5000);
	unsigned bucket[256] = { 0 };
	uint32_t i, most = 0;

	/* adjacent addresses of one network are the common content of a table */
	for (i = 0; i < 65536; i++) {
		sa.in.sin_addr.s_addr = htonl(0x0a000000u + i);
		bucket[net_addr_hash(&sa.sa) % 256]++;
	}
	for (i = 0; i < 256; i++)
		most = bucket[i] > most ? bucket[i] : most;
	assert_in_range(most, 256, 400);	/* 256 is even */
}

static void test_text(void **state)
{
	static const struct { const char *host; uint16_t port; const char *text; } row[] = {
		{ "192.0.2.1", 5000, "fi_sockaddr_in://192.0.2.1:5000" },
		{ "0.0.0.0", 0, "fi_sockaddr_in://0.0.0.0:0" },
		{ "10.100.20.3", 109, "fi_sockaddr_in://10.100.20.3:109" },
		{ "255.255.255.255", 65535, "fi_sockaddr_in://255.255.255.255:65535" },
		{ "::1", 80, "fi_sockaddr_in6://[::1]:80" },
		{ "fe80::6:12%3", 7471, "fi_sockaddr_in6://[fe80::6:12%3]:7471" },
	};
	char buf[NET_ADDR_TEXT_MAX];
	union net_sa sa, back;
	size_t i;

	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		sa = sa_of(row[i].host, row[i].port);
		assert_string_equal(net_addr_text(&sa.sa, buf), row[i].text);
		assert_int_equal(net_addr_parse(buf, &back), 0);
		assert_int_equal(net_addr_cmp(&sa.sa, &back.sa), 0);
	}
}

static void test_straddr(void **state)
{
	union net_sa sa = sa_of("192.0.2.1", 5000);
	char buf[64];
	size_t len = sizeof(buf);

	assert_ptr_equal(net_addr_straddr(&sa, buf, &len), buf);
	assert_string_equal(buf, "fi_sockaddr_in://192.0.2.1:5000");
	assert_int_equal(len, strlen(buf) + 1);
	memset(buf, 'x', sizeof(buf));
	len = 10;
	net_addr_straddr(&sa, buf, &len);
	assert_string_equal(buf, "fi_sockad");
	assert_int_equal(buf[10], 'x');
	assert_int_equal(len, strlen("fi_sockaddr_in://192.0.2.1:5000") + 1);
	len = 0;
	assert_null(net_addr_straddr(&sa, NULL, &len));
	assert_int_equal(len, strlen("fi_sockaddr_in://192.0.2.1:5000") + 1);
}

static void test_prefix(void **state)
{
	static const struct { const char *host; unsigned bits; const char *text; } row[] = {
		{ "192.0.2.2", 24, "192.0.2.0/24" },
		{ "192.0.2.255", 25, "192.0.2.128/25" },
		{ "127.0.0.1", 32, "127.0.0.1/32" },
		{ "10.1.2.3", 0, "0.0.0.0/0" },
		{ "10.1.2.3", 99, "10.1.2.3/32" },
		{ "fe80::fc:ff:fe00:1", 64, "fe80::/64" },
		{ "fd00::2", 64, "fd00::/64" },
		{ "::1", 128, "::1/128" },
	};
	char buf[NET_ADDR_TEXT_MAX];
	union net_sa a, b;
	size_t i;

	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		a = sa_of(row[i].host, 9);
		assert_string_equal(net_addr_prefix_text(&a.sa, row[i].bits, buf), row[i].text);
	}
	a = sa_of("192.0.2.130", 0);
	b = sa_of("192.0.2.200", 0);
	assert_true(net_addr_in_prefix(&a.sa, &b.sa, 25));
	assert_false(net_addr_in_prefix(&a.sa, &b.sa, 26));
	assert_true(net_addr_in_prefix(&a.sa, &b.sa, 0));
	assert_false(net_addr_in_prefix(&a.sa, &b.sa, 32));
	assert_true(net_addr_in_prefix(&a.sa, &a.sa, 99));
	b = sa_of("::1", 0);
	assert_false(net_addr_in_prefix(&a.sa, &b.sa, 0));
}

static void test_parse(void **state)
{
	static const struct { const char *text, *host; uint16_t port; } good[] = {
		{ "fi_sockaddr_in://10.31.6.12:7471", "10.31.6.12", 7471 },
		{ "fi_sockaddr://10.31.6.12:7471", "10.31.6.12", 7471 },
		{ "fi_sockaddr_ip://10.31.6.12", "10.31.6.12", 0 },
		{ "fi_sockaddr_in://10.31.6.12:", "10.31.6.12", 0 },
		{ "fi_sockaddr_in6://[fe80::6:12]:7471", "fe80::6:12", 7471 },
		{ "fi_sockaddr_in6://[::1]", "::1", 0 },
		{ "fi_sockaddr://[::1]:65535", "::1", 65535 },
	};
	static const char *const bad[] = {
		"", "192.0.2.1:80", "fi_sockaddr_in:/192.0.2.1", "fi_sockaddr_in://",
		"fi_sockaddr_in://:80", "fi_sockaddr_in://192.0.2:80",
		"fi_sockaddr_in://192.0.2.1:65536", "fi_sockaddr_in://192.0.2.1:-1",
		"fi_sockaddr_in://192.0.2.1:80x", "fi_sockaddr_in://192.0.2.1:80?qos=3",
		"fi_sockaddr_in://192.0.2.1:80/x", "fi_sockaddr_in://192.0.2.1x",
		"fi_sockaddr_in://[::1]:80", "fi_sockaddr_in6://192.0.2.1:80",
		"fi_sockaddr_in6://[::1", "fi_sockaddr_in6://[]:80",
		"fi_sockaddr_in6://[::1]80", "fi_sockaddr_in6://::1:80",
		"fi_sockaddr_in6://[::1%]:80", "fi_sockaddr_in6://[fe80::1%nosuchif9]:80",
		"fi_sockaddr_in6://[fe80::1%99999999999]:80", "fi_sockaddr_ib://[fe80::1]:80",
		"fi_shm://12", "fi_sockaddr_in://192.0.2.1:+80", "fi_sockaddr_in://192.0.2.1: 80",
	};
	union net_sa sa, want;
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		want = sa_of(good[i].host, good[i].port);
		assert_int_equal(net_addr_parse(good[i].text, &sa), 0);
		assert_int_equal(net_addr_cmp(&sa.sa, &want.sa), 0);
	}
	memset(&sa, 0x5a, sizeof(sa));
	want = sa;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (!net_addr_parse(bad[i], &sa))
			fail_msg("'%s' was accepted as an address", bad[i]);
	assert_memory_equal(&sa, &want, sizeof(sa));
}

static void test_scope_by_name(void **state)
{
	union net_sa sa;

	assert_int_equal(net_addr_parse("fi_sockaddr_in6://[fe80::1%lo]:1", &sa), 0);
	assert_int_equal(sa.in6.sin6_scope_id, 1);	/* loopback is always first */
}

static uint32_t next(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

/* Arbitrary bytes: no overrun (the sanitizers check), and what is accepted can be printed and
 * parsed as the same address.
 */
static void test_parser_takes_anything(void **state)
{
	static const char *const seeds[] = {
		"fi_sockaddr_in://192.0.2.1:5000", "fi_sockaddr_in6://[fe80::1%2]:80",
		"fi_sockaddr://[2001:db8::ffff:1]:65535", "192.0.2.1", "fe80::1%lo",
	};
	static const char set[] = "0123456789abcdef:.[]%/?_fi:sockaddr_in6";
	char text[400], buf[NET_ADDR_TEXT_MAX];
	uint32_t seed = 42, taken = 0;
	union net_sa sa, back;
	int i, n;

	for (i = 0; i < 200000; i++) {
		strcpy(text, seeds[next(&seed) % 5]);
		for (n = (int) (next(&seed) % 4); n > 0; n--) {
			size_t pos = next(&seed) % strlen(text);

			text[pos] = next(&seed) % 16 ? set[next(&seed) % (sizeof(set) - 1)] :
						       (char) (1 + next(&seed) % 255);
		}
		if (next(&seed) % 64 == 0)
			memset(text + strlen(text), '1', sizeof(text) - strlen(text) - 1);
		text[sizeof(text) - 1] = '\0';
		if (net_addr_parse(text, &sa))
			continue;
		taken++;
		assert_int_equal(net_addr_parse(net_addr_text(&sa.sa, buf), &back), 0);
		assert_int_equal(net_addr_cmp(&sa.sa, &back.sa), 0);
		memset(text, 0, sizeof(text));
	}
	assert_true(taken > 10000);	/* the generator produces some valid texts */
}

/* A handshake of a host of the other byte order names the same address. */
static void test_wire(void **state)
{
	union net_sa sa, was;
	uint8_t byte[2];

	assert_int_equal(net_addr_parse_host("fe80::1%3", &sa), 0);
	was = sa;
	net_addr_wire(&sa, sizeof(sa.in6), NET_ADDR_BIG);
	memcpy(byte, &sa, 2);
	assert_int_equal(byte[0], AF_INET6);
	assert_int_equal(byte[1], 0);
	net_addr_wire(&sa, sizeof(sa.in6), NET_ADDR_BIG);
	assert_memory_equal(&sa, &was, sizeof(sa));
	/* what a big-endian host does, here */
	net_addr_wire(&sa, sizeof(sa.in6), true);
	assert_int_equal(sa.sa.sa_family, AF_INET6 << 8);
	assert_int_equal(sa.in6.sin6_scope_id, 3u << 24);
	net_addr_wire(&sa, sizeof(sa.in6), true);
	assert_memory_equal(&sa, &was, sizeof(sa));
	/* an address of a device has no such fields */
	net_addr_wire(&sa, 32, true);
	assert_memory_equal(&sa, &was, sizeof(sa));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_basics),
		cmocka_unit_test(test_kinds_of_address),
		cmocka_unit_test(test_order_and_hash),
		cmocka_unit_test(test_hash_spreads),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_straddr),
		cmocka_unit_test(test_prefix),
		cmocka_unit_test(test_wire),
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_scope_by_name),
		cmocka_unit_test(test_parser_takes_anything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

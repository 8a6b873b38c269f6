/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* The naming of links beside another one: keys of IP addresses. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"
#include <arpa/inet.h>
#include <rdma/fi_errno.h>
#include <string.h>

#include "base/net_addr.h"
#include "link.h"

static union net_sa ipv4(const char *text, uint16_t port)
{
	union net_sa sa = { .in = { .sin_family = AF_INET, .sin_port = htons(port) } };

	assert_int_equal(inet_pton(AF_INET, text, &sa.in.sin_addr), 1);
	return sa;
}

static union net_sa ipv6(const char *text, uint16_t port)
{
	union net_sa sa = { .in6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) } };

	assert_int_equal(inet_pton(AF_INET6, text, &sa.in6.sin6_addr), 1);
	return sa;
}

static int key_of(const union net_sa *sa, char key[SHM_KEY_MAX + 1])
{
	return shm_local_naming.key(sa, net_addr_len(&sa->sa), key);
}

static void each_address_has_a_key_of_its_own(void **state)
{
	union net_sa addr[] = {
		ipv4("10.0.0.1", 1), ipv4("10.0.0.1", 2), ipv4("10.0.0.2", 1),
		ipv6("fe80::1", 1), ipv6("fe80::2", 1),
		ipv6("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", 65535),
	};
	const size_t cnt = sizeof(addr) / sizeof(addr[0]);
	char key[sizeof(addr) / sizeof(addr[0])][SHM_KEY_MAX + 1];
	size_t i, k;

	for (i = 0; i < cnt; i++) {
		assert_int_equal(key_of(&addr[i], key[i]), 0);
		assert_int_equal(shm_local_naming.len(&addr[i]), net_addr_len(&addr[i].sa));
		for (k = 0; k < i; k++)
			assert_string_not_equal(key[i], key[k]);
	}
}

/* The address comes with a request of another process. */
static void addresses_that_lead_nowhere_have_none(void **state)
{
	union net_sa good = ipv4("10.0.0.1", 1), any = ipv4("0.0.0.0", 1), any6 = ipv6("::", 1);
	union net_sa no_port = ipv4("10.0.0.1", 0), other = { .sa.sa_family = AF_UNIX };
	char key[SHM_KEY_MAX + 1];

	assert_int_equal(key_of(&any, key), -FI_EINVAL);
	assert_int_equal(key_of(&any6, key), -FI_EINVAL);
	assert_int_equal(key_of(&no_port, key), -FI_EINVAL);
	assert_int_equal(shm_local_naming.key(&good, sizeof(good.in) - 1, key), -FI_EINVAL);
	assert_int_equal(shm_local_naming.key(&good, 0, key), -FI_EINVAL);
	assert_int_equal(shm_local_naming.key(&other, sizeof(other), key), -FI_EINVAL);
}

static void an_endpoint_has_its_address_and_no_other(void **state)
{
	union net_sa addr = ipv6("fe80::1", 7), own;
	char got[SHM_ADDR_MAX];
	size_t len = 0;

	assert_int_equal(shm_local_naming.own(&addr, sizeof(addr.in6), 0, got, &len), 0);
	assert_int_equal(len, sizeof(addr.in6));
	memcpy(&own, got, len);
	assert_int_equal(net_addr_cmp(&own.sa, &addr.sa), 0);
	assert_int_equal(shm_local_naming.own(&addr, sizeof(addr.in6), 1, got, &len), -FI_ENODATA);
	assert_int_equal(shm_local_naming.own(&addr, 3, 0, got, &len), -FI_EINVAL);
}

/* Bytes that do not belong to the address do not count; family, address and port do. */
static void the_same_address_is_the_same_endpoint(void **state)
{
	union net_sa a = ipv4("10.0.0.1", 1), b = a, port = ipv4("10.0.0.1", 2), v6 = ipv6("::1", 1);

	memset(b.in.sin_zero, 0xff, sizeof(b.in.sin_zero));
	assert_true(shm_local_naming.same(&a, sizeof(a.in), &b, sizeof(b.in)));
	assert_false(shm_local_naming.same(&a, sizeof(a.in), &port, sizeof(port.in)));
	assert_false(shm_local_naming.same(&a, sizeof(a.in), &v6, sizeof(v6.in6)));
	assert_false(shm_local_naming.same(&a, sizeof(a.in), &b, 4));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_address_has_a_key_of_its_own),
		cmocka_unit_test(addresses_that_lead_nowhere_have_none),
		cmocka_unit_test(an_endpoint_has_its_address_and_no_other),
		cmocka_unit_test(the_same_address_is_the_same_endpoint),
	};

	return cmocka_run_group_tests_name("shm_local", tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <errno.h>
#include <netinet/in.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/test/verify.h"

#include "net/tclass.h"

static const struct {
	uint32_t tclass;
	int dscp;
	int prio;
} classes[] = {
	{ FI_TC_BEST_EFFORT, 0, 0 },
	{ FI_TC_LOW_LATENCY, 18, 6 },
	{ FI_TC_DEDICATED_ACCESS, 46, 6 },
	{ FI_TC_BULK_DATA, 10, 2 },
	{ FI_TC_SCAVENGER, 8, 1 },
	{ FI_TC_NETWORK_CTRL, 48, 7 },		/* 6 without the privilege */
	{ FI_TC_DSCP, 0, 0 },
	{ FI_TC_DSCP | 46, 46, 5 },
	{ FI_TC_DSCP | 63, 63, 7 },
};

#define CNT (sizeof(classes) / sizeof(classes[0]))

static void test_valid(void **state)
{
	size_t i;

	assert_true(net_tclass_valid(FI_TC_UNSPEC));
	for (i = 0; i < CNT; i++)
		assert_true(net_tclass_valid(classes[i].tclass));
	assert_false(net_tclass_valid(1));
	assert_false(net_tclass_valid(46));
	assert_false(net_tclass_valid(FI_TC_DSCP | 64));
	assert_false(net_tclass_valid(FI_TC_NETWORK_CTRL + 1));
	assert_false(net_tclass_valid(FI_TC_DSCP | FI_TC_LABEL));
	assert_false(net_tclass_valid(UINT32_MAX));
}

/* An endpoint without a class has that of its domain. */
static void test_of(void **state)
{
	struct fi_domain_attr domain = { .tclass = FI_TC_SCAVENGER };
	struct fi_tx_attr tx = { .tclass = FI_TC_BULK_DATA };
	struct fi_info info = { 0 };

	assert_int_equal(net_tclass_of(&info), FI_TC_UNSPEC);
	info.domain_attr = &domain;
	assert_int_equal(net_tclass_of(&info), FI_TC_SCAVENGER);
	info.tx_attr = &tx;
	assert_int_equal(net_tclass_of(&info), FI_TC_BULK_DATA);
	tx.tclass = FI_TC_UNSPEC;
	assert_int_equal(net_tclass_of(&info), FI_TC_SCAVENGER);
	info.domain_attr = NULL;
	assert_int_equal(net_tclass_of(&info), FI_TC_UNSPEC);
}

static void test_octet(void **state)
{
	size_t i;

	assert_int_equal(net_tclass_octet(FI_TC_UNSPEC), 0);
	for (i = 0; i < CNT; i++)
		assert_int_equal(net_tclass_octet(classes[i].tclass), classes[i].dscp << 2);
}

static int get_int(int fd, int level, int name)
{
	int value = -1;
	socklen_t len = sizeof(value);

	assert_int_equal(getsockopt(fd, level, name, &value, &len), 0);
	return value;
}

static void check_socket(int family)
{
	int level = family == AF_INET ? IPPROTO_IP : IPPROTO_IPV6;
	int name = family == AF_INET ? IP_TOS : IPV6_TCLASS;
	int fd = socket(family, SOCK_DGRAM, 0), prio;
	size_t i;

	if (fd < 0)
		return;		/* the family is disabled */
	for (i = 0; i < CNT; i++) {
		assert_int_equal(net_tclass_set(fd, family, classes[i].tclass), 0);
		assert_int_equal(get_int(fd, level, name), classes[i].dscp << 2);
		prio = get_int(fd, SOL_SOCKET, SO_PRIORITY);
		if (classes[i].prio == 7)
			assert_in_range(prio, 6, 7);
		else
			assert_int_equal(prio, classes[i].prio);
	}
	/* none is asked for: as it was */
	prio = get_int(fd, SOL_SOCKET, SO_PRIORITY);
	assert_int_equal(net_tclass_set(fd, family, FI_TC_UNSPEC), 0);
	assert_int_equal(get_int(fd, level, name), classes[CNT - 1].dscp << 2);
	assert_int_equal(get_int(fd, SOL_SOCKET, SO_PRIORITY), prio);
	close(fd);
}

static void test_sockets(void **state)
{
	check_socket(AF_INET);
	check_socket(AF_INET6);
	assert_int_equal(net_tclass_set(-1, AF_INET, FI_TC_BULK_DATA), -EBADF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_valid),
		cmocka_unit_test(test_of),
		cmocka_unit_test(test_octet),
		cmocka_unit_test(test_sockets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <rdma/fabric.h>
#include <rdma/fi_errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#include "base/test/verify.h"

#include "net/resolve.h"

static void test_resolve_numbers(void **state)
{
	struct net_addrs list;

	assert_int_equal(net_addr_resolve("192.0.2.1", "5000", 0, AF_UNSPEC, SOCK_STREAM,
					  &list), 0);
	assert_int_equal(list.cnt, 1);
	assert_int_equal(net_addr_port(&list.addr[0].sa), 5000);
	net_addrs_free(&list);
	assert_int_equal(net_addr_resolve("fi_sockaddr_in6://[::1]:80", NULL, 0, AF_UNSPEC,
					  SOCK_STREAM, &list), 0);
	assert_int_equal(list.addr[0].sa.sa_family, AF_INET6);
	net_addrs_free(&list);
	assert_int_equal(net_addr_resolve(NULL, "7", 0, AF_UNSPEC, SOCK_DGRAM, &list), 0);
	assert_int_equal(list.cnt, 2);
	assert_true(net_addr_is_any(&list.addr[0].sa) && net_addr_is_any(&list.addr[1].sa));
	net_addrs_free(&list);
	assert_int_equal(net_addr_resolve(NULL, NULL, 0, AF_INET6, SOCK_DGRAM, &list), 0);
	assert_int_equal(list.cnt, 1);
	net_addrs_free(&list);
}

static void test_resolve_refuses(void **state)
{
	static const struct { const char *node, *service; int flags, family, ret; } row[] = {
		{ "192.0.2.1", "5000", 0, AF_INET6, -FI_ENODATA },
		{ "192.0.2.1", "65536", 0, AF_UNSPEC, -FI_EINVAL },
		{ "192.0.2.1", "-1", 0, AF_UNSPEC, -FI_EINVAL },
		{ "192.0.2.1", "", 0, AF_UNSPEC, -FI_EINVAL },
		{ "192.0.2.1", "no-such-service-here", 0, AF_UNSPEC, -FI_ENODATA },
		{ "localhost", NULL, NET_RESOLVE_NUMERIC, AF_UNSPEC, -FI_ENODATA },
		{ "fi_sockaddr_in://192.0.2.1:1", "5000", 0, AF_UNSPEC, -FI_EINVAL },
		{ "fi_sockaddr_in://192.0.2.1:1", NULL, 0, AF_INET6, -FI_ENODATA },
		{ "fi_sockaddr_in://192.0.2.1:1?x=1", NULL, 0, AF_UNSPEC, -FI_EINVAL },
		/* the string form of another address format is not an error of the caller */
		{ "fi_shm://1", NULL, 0, AF_UNSPEC, -FI_ENODATA },
		{ "fi_shm://1", "5000", 0, AF_UNSPEC, -FI_ENODATA },
	};
	struct net_addrs list = { .cnt = 77 };
	size_t i;

	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		assert_int_equal(net_addr_resolve(row[i].node, row[i].service, row[i].flags,
						  row[i].family, SOCK_STREAM, &list),
				 row[i].ret);
	assert_int_equal(list.cnt, 77);
}

static void test_resolve_names(void **state)
{
	struct net_addrs list;
	size_t i;

	if (net_addr_resolve("localhost", "9", 0, AF_UNSPEC, SOCK_STREAM, &list))
		skip();
	assert_true(list.cnt >= 1);
	for (i = 0; i < list.cnt; i++) {
		assert_true(net_addr_is_loopback(&list.addr[i].sa));
		assert_int_equal(net_addr_port(&list.addr[i].sa), 9);
	}
	net_addrs_free(&list);
}

/* ---- what the C library's resolver may answer ------------------------------------------- */

static int answer;	/* of getaddrinfo(), for the node below */

#define NODE "some.node.example"

/* In place of the C library's. */
int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
		struct addrinfo **res)
{
	static struct sockaddr_in sa = { .sin_family = AF_INET };
	static struct addrinfo ai = { .ai_addr = (void *) &sa, .ai_addrlen = sizeof(sa) };

	if (!node)
		return EAI_SERVICE;
	if (!strcmp(node, "localhost") && !(hints->ai_flags & AI_NUMERICHOST)) {
		sa.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		*res = &ai;
		return 0;
	}
	if (strcmp(node, NODE))
		return EAI_NONAME;
	if (answer == EAI_SYSTEM)
		errno = ETIMEDOUT;
	return answer;
}

void freeaddrinfo(struct addrinfo *res)
{
}

/* A name that is not resolved is -FI_ENODATA, and each reason has its text. */
static void test_reasons(void **state)
{
	static const struct { int answer; const char *text; } row[] = {
		{ EAI_NONAME, "no IP address for this name" },
		{ EAI_AGAIN, "no name server answered" },
		{ EAI_FAIL, "" },
		{ EAI_NODATA, "" },
		{ EAI_FAMILY, "" },
		{ EAI_ADDRFAMILY, "" },
		{ EAI_SYSTEM, "timed out" },
	};
	struct net_addrs list = { .cnt = 77 };
	const char *why;
	size_t i;

	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		answer = row[i].answer;
		why = "";
		assert_int_equal(net_addr_resolve(NODE, "9", 0, AF_UNSPEC, SOCK_STREAM, &list),
				 -FI_ENODATA);
		assert_int_equal(net_addr_resolve_why(NODE, "9", 0, AF_UNSPEC, SOCK_STREAM,
						      &list, &why), -FI_ENODATA);
		assert_true(*why);
		if (!strstr(why, row[i].text))
			fail_msg("'%s' has no '%s'", why, row[i].text);
	}
	answer = EAI_MEMORY;
	assert_int_equal(net_addr_resolve(NODE, "9", 0, AF_UNSPEC, SOCK_STREAM, &list),
			 -FI_ENOMEM);
	assert_int_equal(list.cnt, 77);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_resolve_numbers),
		cmocka_unit_test(test_resolve_refuses),
		cmocka_unit_test(test_resolve_names),
		cmocka_unit_test(test_reasons),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <rdma/fi_errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/test/verify.h"

#include "info/choose.h"
#include "net/test/list_make.h"

/* The source address of every route in this test; AF_UNSPEC: no route. */
static union net_sa route_start[2];

static int fake_route(const struct sockaddr *dest, union net_sa *source_p)
{
	const union net_sa *start = &route_start[dest->sa_family == AF_INET6];

	if (!start->sa.sa_family)
		return -FI_ENETUNREACH;
	*source_p = *start;
	return 0;
}

static void routes_from(const char *v4, const char *v6)
{
	memset(route_start, 0, sizeof(route_start));
	if (v4)
		assert_int_equal(net_addr_parse_host(v4, &route_start[0]), 0);
	if (v6)
		assert_int_equal(net_addr_parse_host(v6, &route_start[1]), 0);
}

static struct info_refusal why;

static const char *host_text(const union net_sa *sa, char *buf)
{
	net_addr_prefix_text(&sa->sa, 128, buf);
	buf[strcspn(buf, "/")] = '\0';
	return buf;
}

/* choose - the candidates as text: "eth0=10.0.0.1:5000>dest local-only ..." */
static const char *choose(const struct net_list *list, const struct info_want *want, bool pointed)
{
	static char text[2048];
	char one[NET_ADDR_TEXT_MAX];
	struct info_cand *cand;
	size_t cnt, i;

	memset(&why, 0, sizeof(why));
	if (info_choose(list, want, pointed, fake_route, &cand, &cnt, &why))
		return NULL;
	text[0] = '\0';
	for (i = 0; i < cnt; i++) {
		sprintf(text + strlen(text), "%s%s=%s", i ? " " : "",
			net_list_iface(list, cand[i].addr)->name, host_text(&cand[i].src, one));
		if (net_addr_port(&cand[i].src.sa))
			sprintf(text + strlen(text), ":%u", net_addr_port(&cand[i].src.sa));
		if (cand[i].has_dest)
			sprintf(text + strlen(text), ">%s:%u", host_text(&cand[i].dest, one),
				net_addr_port(&cand[i].dest.sa));
		if (cand[i].local_only)
			strcat(text, "!");
	}
	free(cand);
	return text;
}

static int want_of(const char *node, const char *service, uint64_t flags,
		   const struct fi_info *hints, struct info_want *want)
{
	memset(&why, 0, sizeof(why));
	return info_want_read(node, service, flags, hints, SOCK_STREAM, want, &why);
}

/* serve - both steps for the common cases. */
static const char *serve(const struct net_list *list, const char *node, const char *service,
			 uint64_t flags, const struct fi_info *hints)
{
	struct info_want want;
	const char *text;

	if (want_of(node, service, flags, hints, &want))
		return NULL;
	text = choose(list, &want, false);
	info_want_free(&want);
	return text;
}

static void test_all(void **state)
{
	struct net_list list;

	make_cluster(&list);
	assert_string_equal(serve(&list, NULL, NULL, 0, NULL),
			    "ib0=10.1.0.7 ib0=fd01::7 eno1=10.0.0.7 lo=127.0.0.1!");
	net_list_free(&list);
}

/* A laptop without a network: FI_REMOTE_COMM is still offered. */
static void test_only_loopback(void **state)
{
	struct net_list list = { 0 };

	make_iface(&list, "lo", "", UP | IFF_LOOPBACK);
	make_addr(&list, "127.0.0.1", 8);
	make_iface(&list, "eth0", "", IFF_UP);
	make_addr(&list, "10.0.0.1", 8);
	net_list_rank(&list);
	assert_string_equal(serve(&list, NULL, NULL, 0, NULL), "lo=127.0.0.1 eth0=10.0.0.1");
	net_list_free(&list);
}

static void test_pointed_at_loopback(void **state)
{
	struct info_want want;
	struct net_list list;

	make_cluster(&list);
	assert_int_equal(want_of(NULL, NULL, 0, NULL, &want), 0);
	net_list_restrict(&list, "lo", "FI_X_IFACE");
	assert_string_equal(choose(&list, &want, true), "lo=127.0.0.1");
	net_list_free(&list);
}

static void test_source(void **state)
{
	struct net_list list;

	make_cluster(&list);
	assert_string_equal(serve(&list, "10.0.0.7", "5000", FI_SOURCE, NULL),
			    "eno1=10.0.0.7:5000");
	assert_string_equal(serve(&list, "10.0.0.7", NULL, FI_SOURCE, NULL), "eno1=10.0.0.7");
	assert_string_equal(serve(&list, "127.0.0.1", "1", FI_SOURCE, NULL), "lo=127.0.0.1:1");
	/* all of 127/8 can be bound, though one address is listed */
	assert_string_equal(serve(&list, "127.0.0.9", "1", FI_SOURCE, NULL), "lo=127.0.0.9:1");
	assert_string_equal(serve(&list, "fi_sockaddr_in6://[fd01::7]:8", NULL, FI_SOURCE, NULL),
			    "ib0=fd01::7:8");
	/* neither node nor service: the flag has no effect */
	assert_string_equal(serve(&list, NULL, NULL, FI_SOURCE, NULL),
			    "ib0=10.1.0.7 ib0=fd01::7 eno1=10.0.0.7 lo=127.0.0.1!");
	net_list_free(&list);
}

/* A server that gives only its port accepts at every address. */
static void test_wildcard_source(void **state)
{
	struct net_list list;
	struct info_want want;

	make_cluster(&list);
	assert_string_equal(serve(&list, NULL, "5000", FI_SOURCE, NULL),
		"ib0=0.0.0.0:5000 ib0=:::5000 eno1=0.0.0.0:5000 lo=127.0.0.1:5000!");
	assert_string_equal(serve(&list, "0.0.0.0", "7", FI_SOURCE | FI_NUMERICHOST, NULL),
		"ib0=0.0.0.0:7 eno1=0.0.0.0:7 lo=127.0.0.1:7!");
	assert_string_equal(serve(&list, "::", "7", FI_SOURCE, NULL), "ib0=:::7");
	/* one interface was requested: not the wildcard */
	assert_int_equal(want_of(NULL, "5000", FI_SOURCE, NULL, &want), 0);
	assert_string_equal(choose(&list, &want, true),
		"ib0=10.1.0.7:5000 ib0=fd01::7:5000 eno1=10.0.0.7:5000 lo=127.0.0.1:5000");
	net_list_free(&list);
	/* once for each interface and family, however many addresses it has */
	make_laptop(&list);
	assert_string_equal(choose(&list, &want, false),
		"wlan0=0.0.0.0:5000 wlan0=:::5000 tailscale0=0.0.0.0:5000 docker0=0.0.0.0:5000 "
		"veth1=:::5000 lo=127.0.0.1:5000! lo=::1:5000! enp3s0=0.0.0.0:5000");
	info_want_free(&want);
	net_list_free(&list);
}

static void test_service_alone(void **state)
{
	struct net_list list;

	make_laptop(&list);
	routes_from("127.0.0.1", "::1");
	assert_string_equal(serve(&list, NULL, "5000", 0, NULL),
			    "lo=127.0.0.1>127.0.0.1:5000 lo=::1>::1:5000");
	net_list_free(&list);
}

static void test_source_that_is_not_here(void **state)
{
	struct net_list list;

	make_cluster(&list);
	assert_null(serve(&list, "10.9.9.9", "5000", FI_SOURCE, NULL));
	assert_string_equal(why.attr, "src_addr");
	assert_string_equal(why.wanted, "fi_sockaddr_in://10.9.9.9:5000");
	assert_non_null(strstr(why.offered, "ib0 (up, 10.1.0.7)"));	/* the available interfaces */
	assert_null(serve(&list, "name-without.invalid", NULL, FI_SOURCE | FI_NUMERICHOST, NULL));
	assert_string_equal(why.attr, "src_addr");
	assert_non_null(strstr(why.offered, "FI_NUMERICHOST"));
	net_list_free(&list);
}

static void test_own_name(void **state)
{
	assert_true(info_name_is_own("node7", "node7"));
	assert_true(info_name_is_own("Node7", "node7"));
	assert_true(info_name_is_own("node7", "node7.example.org"));
	assert_true(info_name_is_own("node7.example.org", "node7"));
	assert_true(info_name_is_own("node7.example.org", "node7.Example.org"));
	assert_false(info_name_is_own("node7.a.org", "node7.b.org"));
	assert_false(info_name_is_own("node77", "node7"));
	assert_false(info_name_is_own("", "node7"));
	assert_false(info_name_is_own("localhost", "node7"));
}

/* The host's name gives a usable source, whatever the hosts file contains; on a fictional
 * cluster node it resolves to an address that is not in the list.
 */
static void test_own_name_is_usable(void **state)
{
	struct net_list list;
	char own[256];
	const char *text;

	if (gethostname(own, sizeof(own)) || !strcmp(own, "localhost"))
		skip();
	make_cluster(&list);
	text = serve(&list, own, "5000", FI_SOURCE, NULL);
	assert_non_null(text);
	assert_int_equal(strncmp(text, "ib0=0.0.0.0:5000", 16), 0);
	net_list_free(&list);
}

static void test_localhost_is_loopback(void **state)
{
	struct info_want want;

	if (want_of("localhost", "1", FI_SOURCE, NULL, &want))
		skip();
	assert_false(want.any_src);
	assert_true(net_addr_is_loopback(&want.src.addr[0].sa));
	info_want_free(&want);
}

static void test_dest(void **state)
{
	struct net_list list;

	make_cluster(&list);
	routes_from("10.0.0.7", NULL);
	/* the route's source first, though it ranks lower; then the other usable addresses */
	assert_string_equal(serve(&list, "10.0.3.3", "5000", 0, NULL),
			    "eno1=10.0.0.7>10.0.3.3:5000 ib0=10.1.0.7>10.0.3.3:5000");
	/* loopback destinations from loopback only */
	routes_from("127.0.0.1", NULL);
	assert_string_equal(serve(&list, "127.0.0.1", "5000", 0, NULL),
			    "lo=127.0.0.1>127.0.0.1:5000");
	/* to this host by its own address */
	routes_from("10.1.0.7", NULL);
	assert_string_equal(serve(&list, "10.1.0.7", "1", 0, NULL),
		"ib0=10.1.0.7>10.1.0.7:1 eno1=10.0.0.7>10.1.0.7:1 lo=127.0.0.1>10.1.0.7:1");
	/* another family has other candidates */
	routes_from(NULL, "fd01::7");
	assert_string_equal(serve(&list, "fd01::9", "1", 0, NULL), "ib0=fd01::7>fd01::9:1");
	net_list_free(&list);
}

static void test_dest_on_a_laptop(void **state)
{
	struct net_list list;

	make_laptop(&list);
	routes_from("192.168.1.5", "2001:db8::5");
	/* unplugged: its address cannot be a source */
	assert_string_equal(serve(&list, "198.51.100.1", "80", 0, NULL),
		"wlan0=192.168.1.5>198.51.100.1:80 tailscale0=100.100.1.1>198.51.100.1:80 "
		"docker0=172.17.0.1>198.51.100.1:80");
	/* link-local: from its interface only */
	routes_from(NULL, "fe80::5%5");
	assert_string_equal(serve(&list, "fe80::99%5", "80", 0, NULL),
		"wlan0=fe80::5>fe80::99:80 wlan0=2001:db8::5>fe80::99:80");
	net_list_free(&list);
}

static void test_no_route(void **state)
{
	struct net_list list;

	make_cluster(&list);
	routes_from(NULL, NULL);
	assert_null(serve(&list, "198.51.100.1", "80", 0, NULL));
	assert_string_equal(why.attr, "dest_addr");
	assert_string_equal(why.wanted, "fi_sockaddr_in://198.51.100.1:80");
	assert_non_null(strstr(why.offered, "no route"));
	/* one of two families has a route */
	routes_from("10.0.0.7", NULL);
	{
		struct info_want want = { .any_src = true, .has_dest = true };

		want.dest.cnt = 2;
		want.dest.addr = calloc(2, sizeof(union net_sa));
		net_addr_parse_host("2001:db8::1", &want.dest.addr[0]);
		net_addr_parse_host("198.51.100.1", &want.dest.addr[1]);
		assert_string_equal(choose(&list, &want, false),
				    "eno1=10.0.0.7>198.51.100.1:0 ib0=10.1.0.7>198.51.100.1:0");
		info_want_free(&want);
	}
	net_list_free(&list);
}

static void test_hints_addresses(void **state)
{
	union net_sa src, dest;
	struct fi_info hints = { .src_addr = &src, .src_addrlen = sizeof(src.in),
				 .dest_addr = &dest, .dest_addrlen = sizeof(dest.in) };
	struct net_list list;

	make_cluster(&list);
	routes_from("10.1.0.7", NULL);
	net_addr_parse("fi_sockaddr_in://10.0.0.7:77", &src);
	net_addr_parse("fi_sockaddr_in://10.1.0.9:88", &dest);
	assert_string_equal(serve(&list, NULL, NULL, 0, &hints), "eno1=10.0.0.7:77>10.1.0.9:88");
	/* node precedes dest_addr, FI_SOURCE precedes src_addr */
	assert_string_equal(serve(&list, "10.1.0.8", "5", 0, &hints),
			    "eno1=10.0.0.7:77>10.1.0.8:5");
	assert_string_equal(serve(&list, "10.1.0.7", "6", FI_SOURCE, &hints),
			    "ib0=10.1.0.7:6>10.1.0.9:88");
	/* a wildcard with a port */
	hints.dest_addr = NULL;
	net_addr_parse("fi_sockaddr_in://0.0.0.0:77", &src);
	assert_string_equal(serve(&list, NULL, NULL, 0, &hints),
		"ib0=0.0.0.0:77 eno1=0.0.0.0:77 lo=127.0.0.1:77!");
	/* no address at all */
	hints.src_addrlen = 3;
	assert_null(serve(&list, NULL, NULL, 0, &hints));
	assert_string_equal(why.attr, "src_addr");
	/* a length without an address is ignored */
	hints.src_addr = NULL;
	assert_non_null(serve(&list, NULL, NULL, 0, &hints));
	net_list_free(&list);
}

static void test_hints_string_address(void **state)
{
	char text[] = "fi_sockaddr_in://10.0.0.7:77";
	struct fi_info hints = { .addr_format = FI_ADDR_STR, .src_addr = text,
				 .src_addrlen = sizeof(text) };
	struct net_list list;

	make_cluster(&list);
	assert_string_equal(serve(&list, NULL, NULL, 0, &hints), "eno1=10.0.0.7:77");
	hints.src_addrlen = sizeof(text) - 1;	/* some programs count the NUL, some do not */
	assert_string_equal(serve(&list, NULL, NULL, 0, &hints), "eno1=10.0.0.7:77");
	net_list_free(&list);
}

static void test_family_by_format(void **state)
{
	struct fi_info hints = { .addr_format = FI_SOCKADDR_IN6 };
	struct info_want want;

	assert_int_equal(want_of("10.0.0.1", "1", 0, &hints, &want), -FI_ENODATA);
	assert_string_equal(why.attr, "dest_addr");
	assert_string_equal(why.wanted, "10.0.0.1");
	hints.addr_format = FI_SOCKADDR_IP;
	assert_int_equal(want_of("10.0.0.1", "1", 0, &hints, &want), 0);
	info_want_free(&want);
}

static void test_link_local_source_without_scope(void **state)
{
	struct net_list list;

	make_laptop(&list);
	assert_string_equal(serve(&list, "fe80::5", "1", FI_SOURCE, NULL), "wlan0=fe80::5:1");
	net_list_free(&list);
}

static void test_bad_service(void **state)
{
	struct info_want want;

	assert_int_equal(want_of(NULL, "70000", FI_SOURCE, NULL, &want), -FI_EINVAL);
	assert_int_equal(want_of("10.0.0.1", "70000", 0, NULL, &want), -FI_EINVAL);
	assert_int_equal(want_of("fi_sockaddr_in://10.0.0.1:1", "7", 0, NULL, &want), -FI_EINVAL);
}

static void test_nothing_to_choose_from(void **state)
{
	struct net_list list = { 0 };

	assert_null(serve(&list, NULL, NULL, 0, NULL));
	assert_string_equal(why.attr, "src_addr");
	assert_string_equal(why.wanted, "any");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_only_loopback),
		cmocka_unit_test(test_pointed_at_loopback),
		cmocka_unit_test(test_source),
		cmocka_unit_test(test_wildcard_source),
		cmocka_unit_test(test_service_alone),
		cmocka_unit_test(test_source_that_is_not_here),
		cmocka_unit_test(test_own_name),
		cmocka_unit_test(test_own_name_is_usable),
		cmocka_unit_test(test_localhost_is_loopback),
		cmocka_unit_test(test_dest),
		cmocka_unit_test(test_dest_on_a_laptop),
		cmocka_unit_test(test_no_route),
		cmocka_unit_test(test_hints_addresses),
		cmocka_unit_test(test_hints_string_address),
		cmocka_unit_test(test_family_by_format),
		cmocka_unit_test(test_link_local_source_without_scope),
		cmocka_unit_test(test_bad_service),
		cmocka_unit_test(test_nothing_to_choose_from),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

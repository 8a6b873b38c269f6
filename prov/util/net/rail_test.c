/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"

#include <sys/socket.h>
#include <unistd.h>

#include "net/rail.h"
#include "net/test/list_make.h"

#define GBIT UINT64_C(1000000000)

static const struct net_rail_rule ipv4 = { .family = AF_INET };

static void place_none(const char *iface, struct net_place *place_p)
{
	*place_p = (struct net_place) { .node = -1 };
}

/* The first letter of a name is its card, the last one its NUMA node. */
static void place_by_name(const char *iface, struct net_place *place_p)
{
	*place_p = (struct net_place) { .card = { iface[0] }, .node = iface[strlen(iface) - 1] - '0' };
}

static void add(struct net_list *list, const char *name, const char *kind, uint64_t speed, const char *host)
{
	make_iface(list, name, kind, UP)->speed = speed;
	make_addr(list, host, 24);
}

static void check_names(const struct net_list *list, const struct net_rail_rule *rule,
			void (*place)(const char *, struct net_place *), int node, const char *want)
{
	struct net_rail rail[NET_RAILS_MAX];
	unsigned cnt = net_rails_choose(list, rule, place, node, rail), i;
	char got[256] = "";

	for (i = 0; i < cnt; i++)
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%.15s", i ? "," : "", rail[i].iface);
	assert_string_equal(got, want);
}

static void those_of_networks_alone(void **state)
{
	struct net_list list = { 0 };

	make_iface(&list, "lo", "", UP | IFF_LOOPBACK);
	make_addr(&list, "127.0.0.1", 8);
	add(&list, "eth0", "", GBIT, "192.0.2.1");
	make_addr(&list, "198.51.100.9", 24);		/* one address of an interface */
	make_addr(&list, "2001:db8::1", 64);
	add(&list, "docker0", "bridge", 0, "172.17.0.1");
	add(&list, "wg0", "wireguard", 0, "10.8.0.1");
	add(&list, "eth1", "", GBIT, "169.254.3.4");	/* link-local */
	make_iface(&list, "eth2", "", IFF_UP);		/* no carrier */
	make_addr(&list, "192.0.2.2", 24);
	add(&list, "eth3", "", GBIT, "192.0.2.3");
	check_names(&list, &ipv4, place_none, -1, "eth0,eth3");
	check_names(&list, &(struct net_rail_rule) { .family = AF_INET6 }, place_none, -1, "eth0");
	net_list_free(&list);
}

static void what_the_user_says(void **state)
{
	struct net_list list = { 0 };

	add(&list, "eth0", "", 4 * GBIT, "192.0.2.1");
	add(&list, "eth1", "", GBIT, "192.0.3.1");
	add(&list, "eth10", "", GBIT, "192.0.4.1");
	add(&list, "wg0", "wireguard", 0, "10.8.0.1");
	check_names(&list, &(struct net_rail_rule) { AF_INET, "wg0,eth10,eth0", NULL }, place_none, -1, "wg0,eth10,eth0");
	check_names(&list, &(struct net_rail_rule) { AF_INET, NULL, "eth1" }, place_none, -1, "eth0,eth10");
	check_names(&list, &(struct net_rail_rule) { AF_INET, "eth1,eth0", "eth0" }, place_none, -1, "eth1");
	check_names(&list, &(struct net_rail_rule) { AF_INET, "", NULL }, place_none, -1, "");
	assert_string_equal(net_rail_unfit(&list.iface[1], &(struct net_rail_rule) { AF_INET, "eth0", NULL }),
			    "FI_RAILS_IFACES does not name it");
	assert_null(net_rail_unfit(&list.iface[0], &ipv4));
	net_list_free(&list);
}

static void the_order(void **state)
{
	struct net_list list = { 0 };

	add(&list, "v0", "veth", 100 * GBIT, "192.0.2.1");	/* no device */
	add(&list, "a0", "", GBIT, "192.0.3.1");
	add(&list, "b0", "", 10 * GBIT, "192.0.4.1");
	add(&list, "b1", "", 10 * GBIT, "192.0.5.1");		/* the second port of a card, on the program's node */
	add(&list, "c0", "", 10 * GBIT, "192.0.6.1");
	add(&list, "d1", "", 10 * GBIT, "192.0.7.1");
	check_names(&list, &ipv4, place_by_name, 0, "b0,c0,d1,b1,a0,v0");
	check_names(&list, &ipv4, place_by_name, 1, "b1,d1,c0,b0,a0,v0");
	check_names(&list, &ipv4, place_by_name, -1, "b0,c0,d1,b1,a0,v0");
	net_list_free(&list);
}

static void eight_at_most(void **state)
{
	struct net_rail rail[NET_RAILS_MAX];
	struct net_list list = { 0 };
	char name[IF_NAMESIZE], host[32];
	unsigned i;

	for (i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "eth%u", i);
		snprintf(host, sizeof(host), "10.%u.%u.1", i / 250, i % 250);
		add(&list, name, "", GBIT, host);
	}
	assert_int_equal(net_rails_choose(&list, &ipv4, place_none, -1, rail), NET_RAILS_MAX);
	net_list_free(&list);
}

static void this_host(void **state)
{
	struct net_rail lo = { .iface = "lo", .index = if_nametoindex("lo"), .prefix = 8 };
	struct net_place place;
	union net_sa bound, dest;
	int fd;

	net_addr_parse_host("127.0.0.1", &lo.addr);
	assert_true(net_rail_up(&lo));
	net_addr_parse_host("127.9.9.9", &dest);
	assert_true(net_rail_reaches(&lo, &dest.sa));
	net_addr_parse_host("198.51.100.7", &dest);	/* the default route does not count */
	assert_false(net_rail_reaches(&lo, &dest.sa));
	net_addr_parse_host("::1", &dest);
	assert_false(net_rail_reaches(&lo, &dest.sa));
	net_place_read("lo", &place);
	assert_string_equal(place.card, "");
	assert_int_equal(net_sock_open(AF_INET, SOCK_STREAM, &fd), 0);
	assert_int_equal(net_rail_bind(&lo, fd, NULL, &bound), 0);
	assert_true(net_addr_same_host(&bound.sa, &lo.addr.sa) && net_addr_port(&bound.sa));
	close(fd);
	net_addr_parse_host("192.0.2.77", &lo.addr);	/* not an address of this host */
	assert_false(net_rail_up(&lo));
	net_addr_parse_host("127.0.0.1", &lo.addr);
	strcpy(lo.iface, "none");
	assert_false(net_rail_up(&lo));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(those_of_networks_alone),
		cmocka_unit_test(what_the_user_says),
		cmocka_unit_test(the_order),
		cmocka_unit_test(eight_at_most),
		cmocka_unit_test(this_host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

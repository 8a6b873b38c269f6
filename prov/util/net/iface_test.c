/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "config.h"

#include <errno.h>
#include <ifaddrs.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <rdma/fi_errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/test/verify.h"

#include "net/iface.h"
#include "net/test/list_make.h"
#include "net/read.h"

/* order_of - the addresses in their order, as one string. */
static const char *order_of(const struct net_list *list)
{
	static char text[1024];
	char one[NET_ADDR_TEXT_MAX];
	size_t i;

	text[0] = '\0';
	for (i = 0; i < list->addr_cnt; i++) {
		net_addr_prefix_text(&list->addr[i].addr.sa, 128, one);
		one[strcspn(one, "/")] = '\0';
		strcat(strcat(strcat(text, i ? " " : ""),
			      net_list_iface(list, &list->addr[i])->name), "=");
		strcat(text, one);
	}
	return text;
}

static void test_kinds(void **state)
{
	static const struct { const char *name, *kind; unsigned flags; enum net_kind want; } row[] = {
		{ "lo", "", IFF_LOOPBACK, NET_KIND_LOOPBACK },
		{ "eth0", "", 0, NET_KIND_DEVICE },
		{ "wlp2s0", "", 0, NET_KIND_DEVICE },
		{ "bond0", "bond", 0, NET_KIND_DEVICE },
		{ "eth0.7", "vlan", 0, NET_KIND_DEVICE },
		{ "ib0", "ipoib", 0, NET_KIND_DEVICE },
		{ "dummy0", "dummy", 0, NET_KIND_VIRTUAL },
		{ "eth0", "veth", 0, NET_KIND_VIRTUAL },	/* of a container */
		{ "mac0", "macvlan", 0, NET_KIND_VIRTUAL },
		{ "x", "a_kind_of_tomorrow", 0, NET_KIND_VIRTUAL },
		{ "wg0", "wireguard", 0, NET_KIND_PTP },
		{ "work", "wireguard", 0, NET_KIND_PTP },	/* by link kind, not by name */
		{ "tap3", "tun", 0, NET_KIND_PTP },
		{ "tun0", "tun", IFF_POINTOPOINT, NET_KIND_PTP },
		{ "ppp0", "", IFF_POINTOPOINT, NET_KIND_PTP },
		{ "docker0", "bridge", 0, NET_KIND_BRIDGE },
		{ "uplink", "bridge", 0, NET_KIND_BRIDGE },
		{ "flannel.1", "vxlan", 0, NET_KIND_BRIDGE },
		{ "virbr0", "", 0, NET_KIND_BRIDGE },	/* the kernel reports no link kind */
		{ "br-0a1b2c", "", 0, NET_KIND_BRIDGE },
		{ "tailscale0", "", 0, NET_KIND_PTP },
	};
	size_t i;

	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct net_iface iface = { .flags = row[i].flags };

		strcpy(iface.name, row[i].name);
		strcpy(iface.link_kind, row[i].kind);
		if (net_kind_of(&iface, false) != row[i].want)
			fail_msg("%s (%s) is classified as %d", iface.name, iface.link_kind,
				 net_kind_of(&iface, false));
	}
}

static void test_a_device_may_have_any_name(void **state)
{
	struct net_iface iface = { .name = "tun0" };

	assert_int_equal(net_kind_of(&iface, true), NET_KIND_DEVICE);
	assert_int_equal(net_kind_of(&iface, false), NET_KIND_PTP);
}

static void test_laptop(void **state)
{
	struct net_list list;

	make_laptop(&list);
	assert_string_equal(order_of(&list),
		"wlan0=192.168.1.5 wlan0=2001:db8::5 tailscale0=100.100.1.1 docker0=172.17.0.1 "
		"wlan0=fe80::5 veth1=fe80::6 lo=127.0.0.1 lo=::1 enp3s0=192.168.9.5");
	net_list_free(&list);
}

static void test_cluster(void **state)
{
	struct net_list list;

	make_cluster(&list);
	assert_string_equal(order_of(&list),
		"ib0=10.1.0.7 ib0=fd01::7 eno1=10.0.0.7 lo=127.0.0.1");
	net_list_free(&list);
}

static void test_uplink_among_equals(void **state)
{
	struct net_list list = { 0 };

	make_iface(&list, "eth0", "", UP)->speed = UINT64_C(10000000000);
	make_addr(&list, "10.0.0.1", 24);
	make_iface(&list, "eth1", "", UP)->speed = UINT64_C(10000000000);
	list.iface[1].uplink = true;
	make_addr(&list, "10.0.1.1", 24);
	make_iface(&list, "eth2", "", UP)->speed = UINT64_C(10000000000);
	make_addr(&list, "10.0.2.1", 24);
	net_list_rank(&list);
	assert_string_equal(order_of(&list), "eth1=10.0.1.1 eth0=10.0.0.1 eth2=10.0.2.1");
	net_list_free(&list);
}

static void test_faster(void **state)
{
	struct net_list list = { 0 };

	make_iface(&list, "eth0", "", UP)->speed = UINT64_C(1000000000);
	make_addr(&list, "10.0.0.1", 24);
	make_iface(&list, "eth1", "", UP)->speed = UINT64_C(100000000000);
	make_addr(&list, "10.0.1.1", 24);
	make_iface(&list, "eth2", "", UP)->speed = UINT64_C(200000000000);
	make_addr(&list, "fd00::1", 64);
	make_iface(&list, "docker0", "bridge", UP);
	make_addr(&list, "10.0.3.1", 24);
	assert_ptr_equal(net_list_faster(&list, "eth0", AF_INET), &list.iface[1]);
	assert_ptr_equal(net_list_faster(&list, "eth0", AF_INET6), &list.iface[2]);
	assert_null(net_list_faster(&list, "eth1", AF_INET));
	assert_null(net_list_faster(&list, "docker0", AF_INET));	/* its speed is not known */
	assert_null(net_list_faster(&list, "eth9", AF_INET));
	list.iface[1].up = false;
	assert_null(net_list_faster(&list, "eth0", AF_INET));
	net_list_free(&list);
}

static void test_bridge_of_a_device_is_the_way_out(void **state)
{
	struct net_list list = { 0 };

	make_iface(&list, "virbr0", "bridge", UP);
	make_addr(&list, "192.168.122.1", 24);
	make_iface(&list, "vnet0", "tun", UP)->master = 1;
	make_iface(&list, "br0", "bridge", UP);
	make_addr(&list, "10.0.0.1", 24);
	make_iface(&list, "eno1", "", UP)->speed = UINT64_C(1000000000);
	list.iface[3].master = 3;
	make_iface(&list, "dummy0", "dummy", UP);
	make_addr(&list, "10.9.0.1", 24);
	net_list_judge(&list);
	net_list_rank(&list);
	assert_string_equal(order_of(&list), "br0=10.0.0.1 dummy0=10.9.0.1 virbr0=192.168.122.1");
	assert_int_equal(list.iface[2].speed, UINT64_C(1000000000));
	assert_int_equal(list.iface[1].kind, NET_KIND_BRIDGE);	/* a virtual machine's port */
	net_list_free(&list);
}

static void test_order_of_addresses(void **state)
{
	struct net_list list = { 0 };

	make_iface(&list, "eth0", "", UP);
	make_addr(&list, "fe80::1", 64);
	make_addr(&list, "2001:db8::aaaa", 64)->temporary = true;
	make_addr(&list, "2001:db8::dddd", 64)->deprecated = true;
	make_addr(&list, "2001:db8::1", 64);
	make_addr(&list, "169.254.1.1", 16);
	make_addr(&list, "10.0.0.2", 24);
	make_addr(&list, "10.0.0.1", 24);	/* the kernel's order, not the numeric one */
	net_list_rank(&list);
	assert_string_equal(order_of(&list),
		"eth0=10.0.0.2 eth0=10.0.0.1 eth0=2001:db8::1 eth0=2001:db8::aaaa "
		"eth0=169.254.1.1 eth0=fe80::1 eth0=2001:db8::dddd");
	net_list_free(&list);
}

/* The order does not depend on the input order. */
static void test_rank_is_total(void **state)
{
	struct net_list list;
	char want[1024];
	uint32_t seed = 5;
	size_t i, j, n;

	make_laptop(&list);
	strcpy(want, order_of(&list));
	for (n = 0; n < 500; n++) {
		for (i = list.addr_cnt - 1; i > 0; i--) {
			struct net_ifaddr tmp = list.addr[i];

			seed = seed * 1664525u + 1013904223u;
			j = (seed >> 8) % (i + 1);
			list.addr[i] = list.addr[j];
			list.addr[j] = tmp;
		}
		net_list_rank(&list);
		assert_string_equal(order_of(&list), want);
	}
	net_list_free(&list);
}

static void test_restrict(void **state)
{
	struct net_list list;

	make_laptop(&list);
	assert_int_equal(net_list_restrict(&list, "eth9", "FI_X_IFACE"), -FI_ENODEV);
	assert_int_equal(list.addr_cnt, 9);
	assert_int_equal(net_list_restrict(&list, "wlan0", "FI_X_IFACE"), 0);
	assert_string_equal(order_of(&list), "wlan0=192.168.1.5 wlan0=2001:db8::5 wlan0=fe80::5");
	net_list_free(&list);
}

static void test_names(void **state)
{
	struct net_list list = { 0 };
	char text[80], small[24];

	make_iface(&list, "lo", "", UP | IFF_LOOPBACK);
	make_addr(&list, "127.0.0.1", 8);
	make_iface(&list, "eth0", "", 0);
	assert_string_equal(net_list_names(&list, text, sizeof(text)),
			    "lo (up, 127.0.0.1), eth0 (down, no address)");
	net_list_names(&list, small, sizeof(small));
	assert_string_equal(small, "lo (up, 127.0.0.1)...");
	make_addr(&list, "192.0.2.1", 24);
	assert_int_equal(net_list_restrict(&list, "lo", "FI_TCP_IFACE"), 0);
	assert_string_equal(net_list_names(&list, text, sizeof(text)),
			    "lo (up, 127.0.0.1), eth0 (down, left out by FI_TCP_IFACE)");
	net_list_free(&list);
}

static void test_find(void **state)
{
	struct net_list list;
	union net_sa sa;

	make_laptop(&list);
	net_addr_parse_host("172.17.0.1", &sa);
	net_addr_set_port(&sa.sa, 99);
	assert_string_equal(net_list_iface(&list, net_list_find(&list, &sa.sa))->name, "docker0");
	net_addr_parse_host("172.17.0.2", &sa);
	assert_null(net_list_find(&list, &sa.sa));
	net_list_free(&list);
}

static void test_empty_list(void **state)
{
	struct net_list list = { 0 };
	char text[8];

	net_list_judge(&list);
	net_list_rank(&list);
	assert_int_equal(net_list_restrict(&list, "lo", "FI_X_IFACE"), -FI_ENODEV);
	assert_string_equal(net_list_names(&list, text, sizeof(text)), "");
	net_list_free(&list);
}

/* ---- the interfaces of this machine ----------------------------------- */

static void test_read(void **state)
{
	struct net_list list, again;
	bool loopback = false;
	char text[1024];
	size_t i;

	assert_int_equal(net_list_read(&list), 0);
	strcpy(text, order_of(&list));
	for (i = 0; i < list.addr_cnt; i++) {
		loopback |= net_list_iface(&list, &list.addr[i])->kind == NET_KIND_LOOPBACK;
		assert_int_equal(net_addr_port(&list.addr[i].addr.sa), 0);
		assert_true(list.addr[i].prefix > 0);
	}
	assert_true(loopback);
	assert_int_equal(net_list_read(&again), 0);
	assert_string_equal(order_of(&again), text);
	net_list_free(&list);
	net_list_free(&again);
}

/* Calls within 2 ms share one snapshot; each gets a copy. */
static void test_recent(void **state)
{
	struct net_list first, second, third;
	char text[1024];
	int round;

	for (round = 0; round < 3; round++) {
		assert_int_equal(net_list_recent(&first), 0);
		assert_int_equal(net_list_recent(&second), 0);
		assert_ptr_not_equal(first.addr, second.addr);
		strcpy(text, order_of(&first));
		assert_string_equal(order_of(&second), text);
		memset(first.addr, 0xff, first.addr_cnt * sizeof(*first.addr));
		net_list_free(&first);
		assert_int_equal(net_list_recent(&third), 0);
		assert_string_equal(order_of(&third), text);
		net_list_free(&second);
		net_list_free(&third);
	}
}

#ifdef PORTABLE
#define read_directly net_read_ifaddrs
#else
#define read_directly net_read_netlink
#endif

/* Every address that the C library finds is in the list, with its interface. */
static void test_reader(void **state)
{
	struct net_list nl = { 0 };
	const struct net_ifaddr *same;
	struct ifaddrs *all, *ifa;
	size_t cnt = 0;

	assert_int_equal(read_directly(&nl), 0);
	assert_int_equal(getifaddrs(&all), 0);
	for (ifa = all; ifa; ifa = ifa->ifa_next) {
		if (!ifa->ifa_addr || !net_addr_len(ifa->ifa_addr))
			continue;
		same = net_list_find(&nl, ifa->ifa_addr);
		assert_non_null(same);
		assert_int_equal(same->prefix, net_mask_prefix(ifa->ifa_netmask));
		assert_string_equal(net_list_iface(&nl, same)->name, ifa->ifa_name);
		assert_int_equal(net_list_iface(&nl, same)->flags, ifa->ifa_flags);
		assert_int_equal(net_list_iface(&nl, same)->index, if_nametoindex(ifa->ifa_name));
		cnt++;
	}
	assert_int_equal(nl.addr_cnt, cnt);
	freeifaddrs(all);
	net_list_free(&nl);
}

#ifndef PORTABLE
/* A process that may not use netlink still finds its interfaces. */
static void test_ioctl_reader(void **state)
{
	struct net_list all = { 0 }, v4 = { 0 };
	size_t i, cnt = 0;

	assert_int_equal(net_read_netlink(&all), 0);
	assert_int_equal(net_read_ioctl(&v4), 0);
	for (i = 0; i < all.addr_cnt; i++)
		cnt += all.addr[i].addr.sa.sa_family == AF_INET;
	assert_int_equal(v4.addr_cnt, cnt);
	for (i = 0; i < v4.addr_cnt; i++) {
		const struct net_ifaddr *same = net_list_find(&all, &v4.addr[i].addr.sa);
		const struct net_iface *a, *b;

		assert_non_null(same);
		assert_int_equal(same->prefix, v4.addr[i].prefix);
		a = net_list_iface(&all, same);
		b = net_list_iface(&v4, &v4.addr[i]);
		assert_string_equal(a->name, b->name);
		assert_int_equal(a->index, b->index);
		assert_int_equal(a->kind, b->kind);
		assert_int_equal(a->up, b->up);
		assert_int_equal(a->mtu, b->mtu);
		assert_int_equal(a->arp_type, b->arp_type);
	}
	net_list_free(&all);
	net_list_free(&v4);
}

/* forbid_netlink - a seccomp filter like that of systemd's RestrictAddressFamilies. */
static int forbid_netlink(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_NETLINK, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAFNOSUPPORT),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { sizeof(code) / sizeof(code[0]), code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
}

/* child - 0: loopback is found; 1: it is not; 77: filters are not permitted. */
static int child(void)
{
	struct net_list list;
	union net_sa lo;
	int ret;

	if (forbid_netlink())
		return 77;
	net_addr_parse_host("127.0.0.1", &lo);
	if (net_list_read(&list))
		return 1;
	ret = !net_list_find(&list, &lo.sa);
	net_list_free(&list);
	return ret;
}

static void test_netlink_forbidden(void **state)
{
	int status = -1;
	pid_t pid;

	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		_exit(child());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}
#endif

static void test_mask(void **state)
{
	static const struct { const char *mask; uint8_t bits; } row[] = {
		{ "0.0.0.0", 0 }, { "255.0.0.0", 8 }, { "255.255.254.0", 23 },
		{ "255.255.255.255", 32 }, { "ffff:ffff::", 32 }, { "::", 0 },
		{ "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", 128 },
	};
	union net_sa sa;
	size_t i;

	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		assert_int_equal(net_addr_parse_host(row[i].mask, &sa), 0);
		assert_int_equal(net_mask_prefix(&sa.sa), row[i].bits);
	}
	assert_int_equal(net_mask_prefix(NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_a_device_may_have_any_name),
		cmocka_unit_test(test_laptop),
		cmocka_unit_test(test_cluster),
		cmocka_unit_test(test_uplink_among_equals),
		cmocka_unit_test(test_faster),
		cmocka_unit_test(test_bridge_of_a_device_is_the_way_out),
		cmocka_unit_test(test_order_of_addresses),
		cmocka_unit_test(test_rank_is_total),
		cmocka_unit_test(test_restrict),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_empty_list),
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_recent),
		cmocka_unit_test(test_reader),
#ifndef PORTABLE
		cmocka_unit_test(test_ioctl_reader),
		cmocka_unit_test(test_netlink_forbidden),
#endif
		cmocka_unit_test(test_mask),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

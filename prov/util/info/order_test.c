/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * order_test.c - the first address that a program without an address of its own gets, on the
 * kinds of hosts at which users of fabric libraries were given the wrong one.
 */
#include <rdma/fi_errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/test/verify.h"

#include "info/choose.h"
#include "net/test/list_make.h"

/* A host in text: interfaces are separated by ';', each "NAME[/LINK_KIND] WORD...".
 * Words: "down" (no carrier); "ptp"; "uplink" (has the default route); "25g" (speed);
 * "port=N" (of the bridge that is the N-th interface); an address, with "!" when it is
 * deprecated and "~" when it is temporary.
 */
static const struct host {
	const char *what, *ifs, *first;
} hosts[] = {
	{ "containers, a VPN and wireless: two ranks on one laptop",
	  "lo 127.0.0.1 ::1; docker0/bridge 172.17.0.1; br-5ac1/bridge 172.18.0.1; veth7/veth port=2 "
	  "fe80::77; tailscale0/tun ptp 100.101.1.1; wlp2s0 uplink 192.168.1.23 fe80::23",
	  "wlp2s0=192.168.1.23" },
	{ "the same without a network: the VPN leads to hosts, the bridges do not",
	  "lo 127.0.0.1; docker0/bridge 172.17.0.1; tailscale0/tun ptp 100.101.1.1; wlp2s0 down",
	  "tailscale0=100.101.1.1" },
	{ "a VPN that is listed first",
	  "utun0/tun ptp 10.8.0.6; lo 127.0.0.1; eth0 192.0.2.7", "eth0=192.0.2.7" },
	{ "a VPN with the default route",
	  "lo 127.0.0.1; ppp0 ptp uplink 10.8.0.6; eth0 192.0.2.7", "eth0=192.0.2.7" },
	{ "WireGuard beside a container bridge only",
	  "lo 127.0.0.1; docker0/bridge 172.17.0.1; wg0/wireguard ptp 10.7.0.1", "wg0=10.7.0.1" },
	{ "an unconfigured port, listed first",
	  "lo 127.0.0.1; spare fe80::1; lan0 10.9.0.1 fe80::2", "lan0=10.9.0.1" },
	{ "the same, the port is the faster one",
	  "lo 127.0.0.1; spare 100g fe80::1; lan0 1g 10.9.0.1", "lan0=10.9.0.1" },
	{ "the same, with an IPv4 link-local address",
	  "lo 127.0.0.1; spare 169.254.7.7; lan0 10.9.0.1", "lan0=10.9.0.1" },
	{ "the network of a USB management controller",
	  "lo 127.0.0.1; usb0 169.254.95.118 fe80::9; eno1 1g uplink 10.0.0.4", "eno1=10.0.0.4" },
	{ "link-local on the card, a network on the container bridge",
	  "lo 127.0.0.1; eth0 fe80::1; docker0/bridge 172.17.0.1", "docker0=172.17.0.1" },
	{ "a network on a VPN, link-local on the card",
	  "lo 127.0.0.1; eth0 fe80::1; tun0/tun ptp 10.8.0.2", "tun0=10.8.0.2" },
	{ "two hosts joined by one cable without addresses",
	  "lo 127.0.0.1 ::1; eth0 fe80::1", "eth0=fe80::1" },
	{ "the same with IPv4 link-local addresses",
	  "lo 127.0.0.1; eth0 fe80::1 169.254.3.4", "eth0=169.254.3.4" },
	{ "wireless associated, no network",
	  "lo 127.0.0.1; wlan0", "lo=127.0.0.1" },
	{ "no network: nothing but loopback is up",
	  "lo 127.0.0.1; eth0 down 10.0.0.1", "lo=127.0.0.1" },
	{ "loopback with IPv6 only", "lo ::1", "lo=::1" },
	{ "nothing is up at all", "eth0 down 10.0.0.1", "eth0=10.0.0.1" },
	{ "Ethernet for management with the default route, IPoIB for work",
	  "lo 127.0.0.1; eno1 1g uplink 10.0.0.7; ib0/ipoib 200g 10.1.0.7", "ib0=10.1.0.7" },
	{ "the same, the fabric is unplugged",
	  "lo 127.0.0.1; eno1 1g uplink 10.0.0.7; ib0/ipoib down 10.1.0.7", "eno1=10.0.0.7" },
	{ "an alias address hides no device",
	  "lo 127.0.0.1; eno1 1g 10.0.0.7; ib0/ipoib 100g 10.1.0.7 10.2.0.7", "ib0=10.1.0.7" },
	{ "two equal ports, one has the default route",
	  "lo 127.0.0.1; eth0 10g 10.0.0.1; eth1 10g uplink 10.0.1.1", "eth1=10.0.1.1" },
	{ "two equal ports", "lo 127.0.0.1; eth0 10g 10.0.0.1; eth1 10g 10.0.1.1", "eth0=10.0.0.1" },
	{ "IPv6 on one port, both families on an equal one",
	  "lo 127.0.0.1; eth0 2001:db8::1; eth1 2001:db8:1::1 10.0.1.1", "eth1=10.0.1.1" },
	{ "an IPv6 network", "lo 127.0.0.1 ::1; eth0 fe80::1 2001:db8::1", "eth0=2001:db8::1" },
	{ "privacy and expiring addresses",
	  "lo ::1; eth0 2001:db8::aa~ 2001:db8::dd! fe80::1 2001:db8::1", "eth0=2001:db8::1" },
	{ "an expiring address on the card, a network on a virtual one",
	  "lo ::1; eth0 2001:db8::dd!; veth0/veth 2001:db8:1::1", "veth0=2001:db8:1::1" },
	{ "a host of virtual machines: its bridge is the uplink",
	  "lo 127.0.0.1; virbr0/bridge 192.168.122.1; br0/bridge 10.0.0.1; eno1 1g port=3; "
	  "vnet0/tun port=2 fe80::5", "br0=10.0.0.1" },
	{ "inside a container: the card is a veth",
	  "lo 127.0.0.1; eth0/veth uplink 172.17.0.2", "eth0=172.17.0.2" },
	{ "a pod with an overlay and a second network",
	  "lo 127.0.0.1; flannel.1/vxlan 10.244.1.0; cni0/bridge 10.244.1.1; net1/macvlan 10.5.0.3",
	  "net1=10.5.0.3" },
	{ "a routed fabric: the host's address is on loopback, the ports have link-local ones",
	  "lo 127.0.0.1 10.255.0.7; swp1 100g fe80::1; swp2 100g fe80::2", "lo=10.255.0.7" },
	{ "bonded ports", "lo 127.0.0.1; eth0 25g; eth1 25g; bond0/bond 50g 10.0.0.1; eth2 25g 10.1.0.1",
	  "bond0=10.0.0.1" },
};

static void add_word(struct net_list *list, struct net_iface *iface, const char *word)
{
	char host[64];
	struct net_ifaddr *addr;
	size_t len = strlen(word);

	if (!strcmp(word, "down")) {
		iface->flags &= ~(unsigned) IFF_RUNNING;
		iface->up = false;
	} else if (!strcmp(word, "ptp")) {
		iface->flags |= IFF_POINTOPOINT;
	} else if (!strcmp(word, "uplink")) {
		iface->uplink = true;
	} else if (!strncmp(word, "port=", 5)) {
		iface->master = (uint32_t) atoi(word + 5);
	} else if (word[len - 1] == 'g') {
		iface->speed = (uint64_t) atoi(word) * UINT64_C(1000000000);
	} else {
		snprintf(host, sizeof(host), "%.*s", (int) strcspn(word, "!~"), word);
		addr = make_addr(list, host, 24);
		assert_int_not_equal(addr->addr.sa.sa_family, AF_UNSPEC);
		addr->deprecated = word[len - 1] == '!';
		addr->temporary = word[len - 1] == '~';
	}
}

static void add_iface(struct net_list *list, char *text)
{
	char *words, *name = strtok_r(text, " ", &words), *kind = strchr(name, '/'), *word;
	struct net_iface *iface;

	if (kind)
		*kind++ = '\0';
	iface = make_iface(list, name, kind ? kind : "",
			   UP | (strcmp(name, "lo") ? 0 : IFF_LOOPBACK));
	while ((word = strtok_r(NULL, " ", &words)))
		add_word(list, iface, word);
	iface->kind = net_kind_of(iface, false);
}

static void make_host(struct net_list *list, const char *ifs)
{
	char text[512], *next, *part;

	memset(list, 0, sizeof(*list));
	snprintf(text, sizeof(text), "%s", ifs);
	for (part = strtok_r(text, ";", &next); part; part = strtok_r(NULL, ";", &next))
		add_iface(list, part);
	net_list_judge(list);
	net_list_rank(list);
}

/* No route is looked up: the requests of this test have no destination. */
static int no_route(const struct sockaddr *dest, union net_sa *source_p)
{
	fail_msg("a route was looked up");
	return -FI_ENETUNREACH;
}

static const char *first_of(const struct net_list *list, bool wild, bool *local_p)
{
	static char text[NET_ADDR_TEXT_MAX + IF_NAMESIZE];
	struct info_want want = { .any_src = true, .wild = wild };
	struct info_cand *cand;
	struct info_refusal why;
	char host[NET_ADDR_TEXT_MAX];
	size_t cnt;

	assert_int_equal(info_choose(list, &want, false, no_route, &cand, &cnt, &why), 0);
	net_addr_prefix_text(&cand->addr->addr.sa, 128, host);
	host[strcspn(host, "/")] = '\0';
	snprintf(text, sizeof(text), "%s=%s", net_list_iface(list, cand->addr)->name, host);
	*local_p = cand->local_only;
	free(cand);
	return text;
}

static void test_first(void **state)
{
	struct net_list list;
	const char *text;
	size_t i, wild, bad = 0;
	bool local;

	for (i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
		make_host(&list, hosts[i].ifs);
		for (wild = 0; wild < 2; wild++) {	/* the wildcard is named by the same address */
			text = first_of(&list, wild, &local);
			if (!strcmp(text, hosts[i].first) && !local)
				continue;
			bad++;
			print_error("%s: %s%s, expected %s\n", hosts[i].what, text,
				    local ? " (this host only)" : "", hosts[i].first);
		}
		net_list_free(&list);
	}
	assert_int_equal(bad, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_first) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

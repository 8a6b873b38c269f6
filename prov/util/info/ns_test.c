/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * ns_test.c - real interfaces of every kind, in a separate network namespace: veth pairs as
 * network cards, containers (bridge and veth), a VPN (tun), an unplugged cable.  Skipped where
 * namespaces are not permitted.
 */
#include "config.h"

#include <fcntl.h>
#include <linux/if_tun.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <unistd.h>

#include "base/test/verify.h"

#include "info/test/fake_prov.h"
#include "net/read.h"

/* ---- the netlink messages that make interfaces ----------------------- */

struct req {
	struct nlmsghdr n;
	char data[1024];
};

static void put(struct req *req, uint16_t type, const void *data, size_t len)
{
	struct rtattr *rta = (void *) ((char *) req + NLMSG_ALIGN(req->n.nlmsg_len));

	rta->rta_type = type;
	rta->rta_len = (uint16_t) RTA_LENGTH(len);
	if (len)
		memcpy(RTA_DATA(rta), data, len);
	req->n.nlmsg_len = NLMSG_ALIGN(req->n.nlmsg_len) + RTA_ALIGN(rta->rta_len);
}

static void put_str(struct req *req, uint16_t type, const char *s)
{
	put(req, type, s, strlen(s) + 1);
}

/* nest, unnest - a nested attribute: everything appended between the two calls is inside. */
static struct rtattr *nest(struct req *req, uint16_t type)
{
	struct rtattr *rta = (void *) ((char *) req + NLMSG_ALIGN(req->n.nlmsg_len));

	put(req, type, NULL, 0);
	return rta;
}

static void unnest(struct req *req, struct rtattr *rta)
{
	rta->rta_len = (uint16_t) ((char *) req + req->n.nlmsg_len - (char *) rta);
}

static int talk(struct req *req)
{
	struct {
		struct nlmsghdr n;
		struct nlmsgerr err;
		char more[1024];
	} ack;
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE), ret = -1;

	req->n.nlmsg_flags |= NLM_F_REQUEST | NLM_F_ACK;
	if (send(fd, req, req->n.nlmsg_len, 0) == (ssize_t) req->n.nlmsg_len &&
	    recv(fd, &ack, sizeof(ack), 0) > 0 && ack.n.nlmsg_type == NLMSG_ERROR)
		ret = ack.err.error;
	close(fd);
	return ret;
}

static void link_req(struct req *req, uint16_t type, const char *name)
{
	memset(req, 0, sizeof(*req));
	req->n.nlmsg_len = NLMSG_LENGTH(sizeof(struct ifinfomsg));
	req->n.nlmsg_type = type;
	put_str(req, IFLA_IFNAME, name);
}

static int add_link(const char *name, const char *kind, const char *peer)
{
	struct rtattr *info, *data, *other;
	struct req req;

	link_req(&req, RTM_NEWLINK, name);
	req.n.nlmsg_flags = NLM_F_CREATE | NLM_F_EXCL;
	info = nest(&req, IFLA_LINKINFO);
	put_str(&req, IFLA_INFO_KIND, kind);
	if (peer) {
		data = nest(&req, IFLA_INFO_DATA);
		other = nest(&req, VETH_INFO_PEER);
		req.n.nlmsg_len += NLMSG_ALIGN(sizeof(struct ifinfomsg));
		put_str(&req, IFLA_IFNAME, peer);
		unnest(&req, other);
		unnest(&req, data);
	}
	unnest(&req, info);
	return talk(&req);
}

static int set_link(const char *name, unsigned flags, const char *master)
{
	struct ifinfomsg *ifi;
	struct req req;
	uint32_t index;

	link_req(&req, RTM_NEWLINK, name);
	ifi = NLMSG_DATA(&req.n);
	ifi->ifi_index = (int) if_nametoindex(name);
	ifi->ifi_flags = flags;
	ifi->ifi_change = IFF_UP;
	if (master) {
		index = if_nametoindex(master);
		put(&req, IFLA_MASTER, &index, sizeof(index));
	}
	if (talk(&req))
		return -1;
	usleep(5000);	/* a snapshot of up to 2 ms ago may be used */
	return 0;
}

static int add_addr(const char *name, const char *host, uint8_t prefix)
{
	struct ifaddrmsg *ifa;
	struct req req = { .n.nlmsg_type = RTM_NEWADDR, .n.nlmsg_flags = NLM_F_CREATE };
	uint32_t flags = IFA_F_NODAD;
	union net_sa sa;
	const void *bytes;
	size_t len;

	if (net_addr_parse_host(host, &sa))
		return -1;
	len = sa.sa.sa_family == AF_INET ? 4 : 16;
	bytes = len == 4 ? (void *) &sa.in.sin_addr : (void *) &sa.in6.sin6_addr;
	req.n.nlmsg_len = NLMSG_LENGTH(sizeof(*ifa));
	ifa = NLMSG_DATA(&req.n);
	ifa->ifa_family = (uint8_t) sa.sa.sa_family;
	ifa->ifa_prefixlen = prefix;
	ifa->ifa_index = if_nametoindex(name);
	put(&req, IFA_LOCAL, bytes, len);
	put(&req, IFA_ADDRESS, bytes, len);
	put(&req, IFA_FLAGS, &flags, sizeof(flags));
	return talk(&req);
}

static int add_default_route(const char *name)
{
	struct req req = { .n.nlmsg_type = RTM_NEWROUTE, .n.nlmsg_flags = NLM_F_CREATE };
	struct rtmsg *rtm;
	uint32_t index = if_nametoindex(name);

	req.n.nlmsg_len = NLMSG_LENGTH(sizeof(*rtm));
	rtm = NLMSG_DATA(&req.n);
	rtm->rtm_family = AF_INET;
	rtm->rtm_table = RT_TABLE_MAIN;
	rtm->rtm_protocol = RTPROT_STATIC;
	rtm->rtm_scope = RT_SCOPE_LINK;
	rtm->rtm_type = RTN_UNICAST;
	put(&req, RTA_OIF, &index, sizeof(index));
	return talk(&req);
}

/* add_tun - exists while the descriptor is open, until the process ends. */
static int add_tun(const char *name)
{
	struct ifreq ifr = { .ifr_flags = IFF_TUN | IFF_NO_PI };
	int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return -1;
	strcpy(ifr.ifr_name, name);
	return ioctl(fd, TUNSETIFF, &ifr);
}

/* ---- the host --------------------------------------------------------- */

static bool have_tun, have_sysfs;

/* enter - a new network namespace with a matching /sys; the machine's is not touched. */
static int enter(void)
{
	if (unshare(CLONE_NEWNET | CLONE_NEWNS) &&
	    unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWNS))
		return -1;
	have_sysfs = !mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) &&
		     !mount("sysfs", "/sys", "sysfs", 0, NULL);
	return 0;
}

/* add_card - an interface with its cable plugged in. */
static int add_card(const char *name, const char *far, const char *host)
{
	return add_link(name, "veth", far) || set_link(far, IFF_UP, NULL) ||
	       set_link(name, IFF_UP, NULL) || add_addr(name, host, 24);
}

static int build(void)
{
	if (set_link("lo", IFF_UP, NULL) ||
	    /* containers first, so that they have lower indices */
	    add_link("cbr0", "bridge", NULL) || add_link("vethA", "veth", "vethB") ||
	    set_link("cbr0", IFF_UP, NULL) || set_link("vethA", IFF_UP, "cbr0") ||
	    set_link("vethB", IFF_UP, NULL) || add_addr("cbr0", "172.20.0.1", 16) ||
	    add_addr("vethA", "10.66.0.1", 24))
		return -1;
	have_tun = !add_tun("vpn0") && !set_link("vpn0", IFF_UP, NULL) &&
		   !add_addr("vpn0", "10.77.0.1", 24);
	if (add_link("cable0", "veth", "far") || set_link("cable0", IFF_UP, NULL) ||
	    add_addr("cable0", "10.88.0.1", 24) || add_card("net0", "far0", "10.55.0.1") ||
	    add_card("net1", "far1", "10.56.0.1") || add_default_route("net1"))
		return -1;
	add_addr("net1", "2001:db8:56::1", 64);	/* where IPv6 is enabled */
	return 0;
}

/* settle - wait for the carrier, which the kernel reports up to a second late. */
static bool settle(void)
{
	struct net_list list;
	size_t i, up;
	int tries;

	for (tries = 0; tries < 300; tries++) {
		if (net_list_read(&list))
			return false;
		for (i = 0, up = 0; i < list.iface_cnt; i++)
			up += list.iface[i].up;
		net_list_free(&list);
		/* lo, cbr0, vethA and B, net0 and 1 with their peers, vpn0 */
		if (up == 8u + have_tun)
			return true;
		usleep(10000);
	}
	return false;
}

/* ---- tests ------------------------------------------------------------ */

/* position - of this address in the result; a big number when it is not there. */
/* needs_netlink - skips what getifaddrs() does not tell: routes, and kinds of interfaces. */
static void needs_netlink(void)
{
#ifdef PORTABLE
	skip();
#endif
}

static size_t position(const struct fi_info *info, const char *text)
{
	const char *all = fake_text(info), *at = strstr(all, text);

	return at ? (size_t) (at - all) : 9999;
}

static void test_order(void **state)
{
	struct fi_info *info;
	size_t net1, net0, vpn, bridge, port, lo, cable;

	needs_netlink();
	assert_int_equal(fake_getinfo(NULL, NULL, 0, NULL, &info), 0);
	net1 = position(info, "net1=fi_sockaddr_in://10.56.0.1:0");
	net0 = position(info, "net0=fi_sockaddr_in://10.55.0.1:0");
	vpn = position(info, "vpn0=fi_sockaddr_in://10.77.0.1:0");
	bridge = position(info, "cbr0=fi_sockaddr_in://172.20.0.1:0");
	port = position(info, "vethA=fi_sockaddr_in://10.66.0.1:0");
	lo = position(info, "lo=fi_sockaddr_in://127.0.0.1:0");
	cable = position(info, "cable0=fi_sockaddr_in://10.88.0.1:0");
	assert_int_equal(net1, 0);	/* the default route uses it */
	assert_true(net1 < net0 && net0 < bridge && bridge < lo && lo < cable);
	assert_true(net0 < port && port < lo && cable < 9999);
	if (have_tun)
		assert_true(net0 < vpn && vpn < bridge);
	fi_freeinfo(info);
}

static void test_link_state(void **state)
{
	struct fi_info *info, *i;

	assert_int_equal(fake_getinfo(NULL, NULL, 0, NULL, &info), 0);
	for (i = info; i; i = i->next) {
		bool out = !strcmp(i->domain_attr->name, "cable0");

		assert_int_equal(i->nic->link_attr->state, out ? FI_LINK_DOWN : FI_LINK_UP);
		assert_int_equal(i->caps & FI_REMOTE_COMM,
				 strcmp(i->domain_attr->name, "lo") ? FI_REMOTE_COMM : 0);
	}
	fi_freeinfo(info);
}

static void test_dest_follows_the_route(void **state)
{
	struct fi_info *info;

	assert_int_equal(fake_getinfo("10.55.0.9", "1", 0, NULL, &info), 0);
	assert_int_equal(position(info, "net0=fi_sockaddr_in://10.55.0.1:0"), 0);
	assert_int_equal(position(info, "lo="), 9999);
	assert_int_equal(position(info, "cable0="), 9999);
	fi_freeinfo(info);
	/* two ranks on one host: reachable by either address */
	assert_int_equal(fake_getinfo("172.20.0.1", "1", 0, NULL, &info), 0);
	assert_int_equal(position(info, "cbr0=fi_sockaddr_in://172.20.0.1:0"), 0);
	fi_freeinfo(info);
}

static void test_kinds(void **state)
{
	static const struct { const char *name, *link_kind; enum net_kind kind; } row[] = {
		{ "lo", "", NET_KIND_LOOPBACK },
		{ "cbr0", "bridge", NET_KIND_BRIDGE },
		{ "vethA", "veth", NET_KIND_BRIDGE },
		{ "vethB", "veth", NET_KIND_VIRTUAL },
		{ "vpn0", "tun", NET_KIND_PTP },
		{ "net0", "veth", NET_KIND_VIRTUAL },
	};
	struct net_list list = { 0 };
	size_t i, j, seen = 0;

	needs_netlink();
	assert_int_equal(net_list_read(&list), 0);
	for (i = 0; i < list.iface_cnt; i++)
		for (j = 0; j < sizeof(row) / sizeof(row[0]); j++) {
			if (strcmp(list.iface[i].name, row[j].name))
				continue;
			seen++;
			assert_string_equal(list.iface[i].link_kind, row[j].link_kind);
			assert_int_equal(list.iface[i].kind, row[j].kind);
		}
	assert_int_equal(seen, have_tun ? 6 : 5);
	net_list_free(&list);
}

#ifndef PORTABLE
/* names4 - the IPv4 entries of a list; IPv6 addresses become usable at varying times. */
static void names4(const struct net_list *list, char *text)
{
	size_t i;

	text[0] = '\0';
	for (i = 0; i < list->addr_cnt; i++)
		if (list->addr[i].addr.sa.sa_family == AF_INET)
			strcat(strcat(text, " "), net_list_iface(list, &list->addr[i])->name);
}

/* Without netlink the order is the same. */
static void test_fallback_reader(void **state)
{
	struct net_list nl, ifa = { 0 };
	char nl_text[512], ifa_text[512];
	size_t i;

	if (!have_sysfs)
		skip();
	assert_int_equal(net_list_read(&nl), 0);
	assert_int_equal(net_read_ioctl(&ifa), 0);
	for (i = 0; i < ifa.iface_cnt; i++)
		ifa.iface[i].uplink = !strcmp(ifa.iface[i].name, "net1");
	net_list_judge(&ifa);
	net_list_rank(&ifa);
	names4(&nl, nl_text);
	names4(&ifa, ifa_text);
	assert_string_equal(ifa_text, nl_text);
	net_list_free(&nl);
	net_list_free(&ifa);
}
#endif

/* All cables are unplugged: loopback is offered for every request. */
static void test_no_network(void **state)
{
	static const char *const names[] = { "net0", "net1", "far0", "far1", "cbr0",
					     "vethA", "vethB", "vpn0" };
	struct fi_info *hints = fi_allocinfo(), *info;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		set_link(names[i], 0, NULL);
	hints->caps = FI_MSG | FI_LOCAL_COMM | FI_REMOTE_COMM;
	assert_int_equal(fake_getinfo(NULL, NULL, 0, hints, &info), 0);
	assert_int_equal(position(info, "lo=fi_sockaddr_in://127.0.0.1:0"), 0);
	fi_freeinfo(info);
	assert_int_equal(fake_getinfo("198.51.100.1", "1", 0, hints, &info), -FI_ENODATA);
	fi_freeinfo(hints);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_link_state),
		cmocka_unit_test(test_dest_follows_the_route),
		cmocka_unit_test(test_kinds),
#ifndef PORTABLE
		cmocka_unit_test(test_fallback_reader),
#endif
		cmocka_unit_test(test_no_network),
	};

	if (enter()) {
		printf("skipped: a network namespace is not permitted here\n");
		return 77;
	}
	if (build()) {
		printf("skipped: this kernel has no veth or bridge interfaces\n");
		return 77;
	}
	if (!settle()) {
		printf("the interfaces made for this test did not come up\n");
		return 1;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}

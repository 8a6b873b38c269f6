/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * mc_test.c - multicast: join, send, receive, leave.
 *
 * Runs on the first interface that loops multicast back to this host; skipped where no
 * interface does, for want of a route.
 */

#include "udp/test/world.h"

#include <errno.h>
#include <net/if.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

union addr {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

/* A group used by this process only, for @no; port 0. */
static union addr group(int family, unsigned no)
{
	union addr a = { .sa = { .sa_family = (sa_family_t) family } };
	char text[64];

	if (family == AF_INET) {
		snprintf(text, sizeof(text), "239.%d.%d.%u", 1 + (getpid() >> 8 & 127),
			 getpid() & 255, no);
		inet_pton(AF_INET, text, &a.in.sin_addr);
	} else {
		snprintf(text, sizeof(text), "ff15::%x:%x", getpid() & 0xffff, no);
		inet_pton(AF_INET6, text, &a.in6.sin6_addr);
	}
	return a;
}

static void set_port(union addr *a, in_port_t port)
{
	a->in.sin_port = port;
}

/* True when the system delivers a datagram from @iface to a group on this host. */
static bool works(int family, unsigned iface)
{
	union addr a = group(family, 250);
	struct ip_mreqn v4 = { .imr_multiaddr = a.in.sin_addr, .imr_ifindex = (int) iface };
	struct ipv6_mreq v6 = { .ipv6mr_multiaddr = a.in6.sin6_addr, .ipv6mr_interface = iface };
	int in = socket(family, SOCK_DGRAM, 0), out = socket(family, SOCK_DGRAM, 0);
	socklen_t len = family == AF_INET ? sizeof(a.in) : sizeof(a.in6);
	struct pollfd pfd = { .fd = in, .events = POLLIN };
	bool ok;

	if (family == AF_INET)
		ok = !setsockopt(in, IPPROTO_IP, IP_ADD_MEMBERSHIP, &v4, sizeof(v4)) &&
		     !setsockopt(out, IPPROTO_IP, IP_MULTICAST_IF, &v4, sizeof(v4));
	else
		ok = !setsockopt(in, IPPROTO_IPV6, IPV6_JOIN_GROUP, &v6, sizeof(v6)) &&
		     !setsockopt(out, IPPROTO_IPV6, IPV6_MULTICAST_IF, &iface, sizeof(iface));
	ok = ok && !bind(in, &a.sa, len) && !getsockname(in, &a.sa, &len) &&
	     sendto(out, "x", 1, 0, &a.sa, len) == 1 && poll(&pfd, 1, 200) == 1;
	close(in);
	close(out);
	return ok;
}

static char chosen[2][IF_NAMESIZE];

static bool has_family(int family, const char *name)
{
	struct fi_info *hints = fi_allocinfo(), *info = NULL;
	int ret;

	hints->addr_format = family == AF_INET6 ? FI_SOCKADDR_IN6 : FI_SOCKADDR_IN;
	hints->ep_attr->type = FI_EP_DGRAM;
	hints->fabric_attr->prov_name = strdup("udp");
	hints->domain_attr->name = strdup(name);
	ret = fi_getinfo(FI_VERSION(2, 6), NULL, NULL, 0, hints, &info);
	fi_freeinfo(hints);
	fi_freeinfo(info);
	return !ret;
}

static bool choose(int family, char *name)
{
	struct if_nameindex *list = if_nameindex(), *i;

	for (i = list; i && i->if_index && !*name; i++)
		if (works(family, i->if_index) && has_family(family, i->if_name))
			strcpy(name, i->if_name);
	if_freenameindex(list);
	if (!*name)
		printf("skipped: no interface loops %s multicast back; try: ip route add "
		       "table local multicast %s dev lo\n",
		       family == AF_INET ? "IPv4" : "IPv6",
		       family == AF_INET ? "224.0.0.0/4" : "ff00::/8");
	return *name;
}

/* ---- the tests ------------------------------------------------------------- */

struct mc {
	struct world w;
	int family;
	union addr addr;	/* a group and a port that are not in use */
};

static int setup(void **state, int family)
{
	struct conf c = {
		.family = family, .ends = 3, .caps = FI_MULTICAST | FI_SOURCE, .eq = true,
		.iface = chosen[family == AF_INET6],
	};
	static unsigned no;
	struct mc *m = calloc(1, sizeof(*m));

	world_open(&m->w, &c);
	m->family = family;
	m->addr = group(family, ++no);
	set_port(&m->addr, htons((uint16_t) (20000 + getpid() % 10000 + (int) no)));
	*state = m;
	return 0;
}

static int setup_v4(void **state)
{
	return setup(state, AF_INET);
}

static int setup_v6(void **state)
{
	return setup(state, AF_INET6);
}

static int teardown(void **state)
{
	struct mc *m = *state;

	world_close(&m->w);
	free(m);
	return 0;
}

static struct fid_mc *join(struct end *e, const union addr *addr, uint64_t flags)
{
	struct fi_eq_entry entry;
	struct fid_mc *mc;
	uint32_t event;

	OK(fi_join(e->ep, addr, flags, &mc, &entry));
	assert_int_equal(fi_eq_sread(e->eq, &event, &entry, sizeof(entry), 5000, 0),
			 sizeof(entry));
	assert_int_equal(event, FI_JOIN_COMPLETE);
	assert_ptr_equal(entry.fid, &mc->fid);
	assert_ptr_equal(entry.context, mc->fid.context);
	return mc;
}

static ssize_t send_to(struct end *e, struct fid_mc *mc, const char *text)
{
	struct iovec iov = { (void *) text, strlen(text) + 1 };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1, .addr = fi_mc_addr(mc) };

	return fi_sendmsg(e->ep, &msg, FI_MULTICAST);
}

static void expect(struct end *e, char *in, const char *text, fi_addr_t from)
{
	struct fi_cq_data_entry entry;
	fi_addr_t src;

	do {	/* sends complete on the same queue */
		assert_int_equal(wait_from(e->cq, &entry, &src), 1);
	} while (entry.flags & FI_SEND);
	assert_string_equal(in, text);
	assert_int_equal(src, from);
}

static void to_all_members(void **state)
{
	struct mc *m = *state;
	struct end *e = m->w.end;
	struct fid_mc *mc[3];
	char in[3][16];
	int i;

	for (i = 0; i < 3; i++) {
		mc[i] = join(&e[i], &m->addr, i ? 0 : FI_SEND);
		OK(fi_recv(e[i].ep, in[i], sizeof(in[i]), NULL, FI_ADDR_UNSPEC, in[i]));
	}
	OK(send_to(&e[0], mc[0], "one for all"));
	for (i = 1; i < 3; i++)
		expect(&e[i], in[i], "one for all", e[i].to[0]);
	/* unicast works at the same time, into the same receives */
	OK(fi_recv(e[1].ep, in[1], sizeof(in[1]), NULL, FI_ADDR_UNSPEC, in[1]));
	OK(fi_inject(e[2].ep, "one for one", 12, e[2].to[1]));
	expect(&e[1], in[1], "one for one", e[1].to[2]);
	/* a member that sends receives its message too, as in IP multicast */
	OK(fi_recv(e[1].ep, in[1], sizeof(in[1]), NULL, FI_ADDR_UNSPEC, in[1]));
	OK(fi_recv(e[2].ep, in[2], sizeof(in[2]), NULL, FI_ADDR_UNSPEC, in[2]));
	OK(fi_send(e[1].ep, "me too", 7, NULL, fi_mc_addr(mc[1]), NULL));
	expect(&e[1], in[1], "me too", e[1].to[1]);
	expect(&e[2], in[2], "me too", e[2].to[1]);
	for (i = 0; i < 3; i++)
		OK(fi_close(&mc[i]->fid));
}

static void leave(void **state)
{
	struct mc *m = *state;
	struct end *e = m->w.end;
	struct fid_mc *from, *to, *again;
	fi_addr_t old;
	char in[16];

	from = join(&e[0], &m->addr, FI_SEND);
	to = join(&e[1], &m->addr, FI_RECV);
	assert_int_equal(fi_close(&e[1].ep->fid), -FI_EBUSY);
	OK(fi_recv(e[1].ep, in, sizeof(in), NULL, FI_ADDR_UNSPEC, in));
	OK(fi_close(&to->fid));
	OK(send_to(&e[0], from, "unheard"));
	wait_none(e[1].cq);
	to = join(&e[1], &m->addr, FI_RECV);
	OK(send_to(&e[0], from, "heard"));
	expect(&e[1], in, "heard", e[1].to[0]);
	old = fi_mc_addr(from);
	OK(fi_close(&from->fid));
	assert_int_equal(fi_send(e[0].ep, "x", 1, NULL, old, NULL), -FI_EINVAL);
	again = join(&e[0], &m->addr, FI_SEND);
	assert_int_equal(fi_send(e[0].ep, "x", 1, NULL, old, NULL), -FI_EINVAL);
	OK(fi_close(&again->fid));
	OK(fi_close(&to->fid));
}

/* Each endpoint receives from its groups only. */
static void several_groups(void **state)
{
	struct mc *m = *state;
	struct end *e = m->w.end;
	struct fid_mc *from[2], *to[2];
	union addr other = group(m->family, 200);
	char in[2][16];

	other.in.sin_port = m->addr.in.sin_port;	/* the same port */
	from[0] = join(&e[0], &m->addr, FI_SEND);
	from[1] = join(&e[0], &other, FI_SEND);
	assert_int_not_equal(fi_mc_addr(from[0]), fi_mc_addr(from[1]));
	to[0] = join(&e[1], &m->addr, FI_RECV);
	to[1] = join(&e[2], &other, FI_RECV);
	OK(fi_recv(e[1].ep, in[0], sizeof(in[0]), NULL, FI_ADDR_UNSPEC, in[0]));
	OK(fi_recv(e[2].ep, in[1], sizeof(in[1]), NULL, FI_ADDR_UNSPEC, in[1]));
	OK(send_to(&e[0], from[1], "two"));
	expect(&e[2], in[1], "two", e[2].to[0]);
	wait_none(e[1].cq);
	OK(send_to(&e[0], from[0], "one"));
	expect(&e[1], in[0], "one", e[1].to[0]);
	OK(fi_close(&from[0]->fid));
	OK(fi_close(&from[1]->fid));
	OK(fi_close(&to[0]->fid));
	OK(fi_close(&to[1]->fid));
}

/* A group without a port uses the endpoint's. */
static void own_port(void **state)
{
	struct mc *m = *state;
	struct end *e = m->w.end;
	struct fid_mc *from, *to;
	union addr addr = m->addr;
	char in[16];

	set_port(&addr, 0);
	to = join(&e[1], &addr, 0);
	set_port(&addr, ((struct sockaddr_in *) &e[1].name)->sin_port);
	from = join(&e[0], &addr, FI_SEND);
	OK(fi_recv(e[1].ep, in, sizeof(in), NULL, FI_ADDR_UNSPEC, in));
	OK(send_to(&e[0], from, "here"));
	expect(&e[1], in, "here", e[1].to[0]);
	OK(fi_close(&from->fid));
	OK(fi_close(&to->fid));
}

static void refusals(void **state)
{
	struct mc *m = *state;
	struct end *e = m->w.end;
	union addr wrong = group(m->family == AF_INET ? AF_INET6 : AF_INET, 1);
	struct fid_mc *mc;

	assert_int_equal(fi_join(e[0].ep, &wrong, 0, &mc, NULL), -FI_EINVAL);
	assert_int_equal(fi_join(e[0].ep, &e[1].name, 0, &mc, NULL), -FI_EINVAL);
	assert_int_equal(fi_join(e[0].ep, NULL, 0, &mc, NULL), -FI_EINVAL);
	assert_int_equal(fi_join(e[0].ep, &m->addr, FI_WRITE, &mc, NULL), -FI_EBADFLAGS);
	mc = join(&e[0], &m->addr, FI_RECV);
	assert_int_equal(send_to(&e[0], mc, "x"), -FI_EINVAL);
	OK(fi_close(&mc->fid));
}

#define V4(name) cmocka_unit_test_setup_teardown(name, setup_v4, teardown)
#define V6(name) cmocka_unit_test_setup_teardown(name, setup_v6, teardown)

int main(void)
{
	const struct CMUnitTest v4[] = {
		V4(to_all_members), V4(leave), V4(several_groups), V4(own_port), V4(refusals),
	};
	const struct CMUnitTest v6[] = {
		V6(to_all_members), V6(leave), V6(several_groups), V6(own_port), V6(refusals),
	};
	bool has_v4 = choose(AF_INET, chosen[0]), has_v6 = choose(AF_INET6, chosen[1]);
	int failed = 0;

	if (!has_v4 && !has_v6)
		return 77;
	if (has_v4)
		failed += cmocka_run_group_tests(v4, NULL, NULL);
	if (has_v6)
		failed += cmocka_run_group_tests(v6, NULL, NULL);
	return failed;
}

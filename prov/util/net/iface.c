/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "config.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "net/iface.h"
#include "net/read.h"
#include "net/sock.h"

#define RECENT_NS (2 * CLOCK_NS_PER_MS)

/* array_grow - append a zeroed element to an array whose size is doubled when it is full. */
static void *array_grow(void *array_p, size_t *cnt_p, size_t size)
{
	char *array = *(char **) array_p;
	size_t cnt = *cnt_p;

	if (!(cnt & (cnt - 1))) {
		array = realloc(array, (cnt ? 2 * cnt : 1) * size);
		if (!array)
			return NULL;
		*(char **) array_p = array;
	}
	memset(array + cnt * size, 0, size);
	*cnt_p = cnt + 1;
	return array + cnt * size;
}

struct net_iface *net_list_add_iface(struct net_list *list)
{
	return array_grow(&list->iface, &list->iface_cnt, sizeof(*list->iface));
}

struct net_ifaddr *net_list_add_addr(struct net_list *list)
{
	struct net_ifaddr *addr;

	addr = array_grow(&list->addr, &list->addr_cnt, sizeof(*list->addr));
	if (addr)
		addr->pos = (uint32_t) list->addr_cnt - 1;
	return addr;
}

void net_list_free(struct net_list *list)
{
	free(list->iface);
	free(list->addr);
	memset(list, 0, sizeof(*list));
}

/* ---- classification -------------------------------------------------- */

static const struct {
	const char *link_kind;
	enum net_kind kind;
} link_kinds[] = {
	{ "bond", NET_KIND_DEVICE },
	{ "ipoib", NET_KIND_DEVICE },
	{ "team", NET_KIND_DEVICE },
	{ "virt_wifi", NET_KIND_DEVICE },
	{ "vlan", NET_KIND_DEVICE },
	{ "amt", NET_KIND_PTP },
	{ "erspan", NET_KIND_PTP },
	{ "gre", NET_KIND_PTP },
	{ "gretap", NET_KIND_PTP },
	{ "gtp", NET_KIND_PTP },
	{ "ip6erspan", NET_KIND_PTP },
	{ "ip6gre", NET_KIND_PTP },
	{ "ip6gretap", NET_KIND_PTP },
	{ "ip6tnl", NET_KIND_PTP },
	{ "ipip", NET_KIND_PTP },
	{ "ovpn", NET_KIND_PTP },
	{ "ppp", NET_KIND_PTP },
	{ "sit", NET_KIND_PTP },
	{ "tun", NET_KIND_PTP },
	{ "vti", NET_KIND_PTP },
	{ "vti6", NET_KIND_PTP },
	{ "wireguard", NET_KIND_PTP },
	{ "xfrm", NET_KIND_PTP },
	{ "bridge", NET_KIND_BRIDGE },
	{ "geneve", NET_KIND_BRIDGE },
	{ "openvswitch", NET_KIND_BRIDGE },
	{ "vxlan", NET_KIND_BRIDGE },
};

/* Interface names of VPNs and container engines, for kernels that report no link kind. */
static const struct {
	const char *prefix;
	enum net_kind kind;
} names[] = {
	{ "ipsec", NET_KIND_PTP }, { "ppp", NET_KIND_PTP }, { "tailscale", NET_KIND_PTP },
	{ "tap", NET_KIND_PTP }, { "tun", NET_KIND_PTP }, { "utun", NET_KIND_PTP },
	{ "wg", NET_KIND_PTP }, { "zt", NET_KIND_PTP },
	{ "br-", NET_KIND_BRIDGE }, { "cali", NET_KIND_BRIDGE }, { "cni", NET_KIND_BRIDGE },
	{ "docker", NET_KIND_BRIDGE }, { "flannel", NET_KIND_BRIDGE },
	{ "kube-", NET_KIND_BRIDGE }, { "lxcbr", NET_KIND_BRIDGE },
	{ "lxdbr", NET_KIND_BRIDGE }, { "nerdctl", NET_KIND_BRIDGE },
	{ "podman", NET_KIND_BRIDGE }, { "vboxnet", NET_KIND_BRIDGE },
	{ "virbr", NET_KIND_BRIDGE }, { "vmnet", NET_KIND_BRIDGE },
	{ "veth", NET_KIND_VIRTUAL }, { "dummy", NET_KIND_VIRTUAL },
};

static enum net_kind kind_by_name(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(name, names[i].prefix, strlen(names[i].prefix)))
			return names[i].kind;
	return NET_KIND_DEVICE;
}

enum net_kind net_kind_of(const struct net_iface *iface, bool has_device)
{
	size_t i;

	if (iface->flags & IFF_LOOPBACK)
		return NET_KIND_LOOPBACK;
	if (iface->flags & IFF_POINTOPOINT)
		return NET_KIND_PTP;
	for (i = 0; i < sizeof(link_kinds) / sizeof(link_kinds[0]); i++)
		if (!strcmp(iface->link_kind, link_kinds[i].link_kind))
			return link_kinds[i].kind;
	if (iface->link_kind[0])
		return NET_KIND_VIRTUAL;
	return has_device ? NET_KIND_DEVICE : kind_by_name(iface->name);
}

static struct net_iface *by_index(struct net_list *list, uint32_t index)
{
	size_t i;

	for (i = 0; i < list->iface_cnt; i++)
		if (list->iface[i].index == index)
			return &list->iface[i];
	return NULL;
}

void net_list_judge(struct net_list *list)
{
	struct net_iface *iface, *bridge;
	size_t i;

	/* Devices first: the class of a bridge depends on its ports. */
	for (i = 0; i < list->iface_cnt; i++) {
		iface = &list->iface[i];
		bridge = iface->master ? by_index(list, iface->master) : NULL;
		if (!bridge || strcmp(bridge->link_kind, "bridge"))
			continue;
		if (iface->kind == NET_KIND_DEVICE) {
			bridge->kind = NET_KIND_DEVICE;
			if (bridge->speed < iface->speed)
				bridge->speed = iface->speed;
		} else {
			iface->kind = NET_KIND_BRIDGE;
		}
	}
}

static int cmp_u64(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* reach_of - how far an address leads: anywhere, to the same link (or only as a source that is
 * about to expire), or to this host.  An address of a network on the loopback interface, as
 * routed fabrics give one to the host, is as good as any.
 */
static int reach_of(const struct net_ifaddr *addr)
{
	if (net_addr_is_loopback(&addr->addr.sa))
		return 2;
	return addr->deprecated || net_addr_is_link_local(&addr->addr.sa);
}

static int cmp_entry(const void *entry_a, const void *entry_b, void *list)
{
	const struct net_ifaddr *a = entry_a, *b = entry_b;
	const struct net_iface *ia = net_list_iface(list, a), *ib = net_list_iface(list, b);
	int ret;

	if ((ret = cmp_u64(!ia->up, !ib->up)) ||
	    (ret = cmp_u64(reach_of(a), reach_of(b))) ||
	    (ret = cmp_u64(ia->kind, ib->kind)) ||
	    (ret = cmp_u64(ib->speed, ia->speed)) ||
	    (ret = cmp_u64(!ia->uplink, !ib->uplink)) ||
	    (ret = cmp_u64(a->addr.sa.sa_family != AF_INET, b->addr.sa.sa_family != AF_INET)) ||
	    (ret = cmp_u64(ia->index, ib->index)) ||
	    (ret = cmp_u64(a->temporary, b->temporary)))
		return ret;
	return cmp_u64(a->pos, b->pos);
}

void net_list_rank(struct net_list *list)
{
	if (list->addr_cnt)
		qsort_r(list->addr, list->addr_cnt, sizeof(*list->addr), cmp_entry, list);
}

/* ---- selection ------------------------------------------------------- */

int net_list_restrict(struct net_list *list, const char *name, const char *by)
{
	size_t i, cnt = 0, hits = 0;

	for (i = 0; i < list->addr_cnt; i++)
		hits += !strcmp(net_list_iface(list, &list->addr[i])->name, name);
	if (!hits)
		return -FI_ENODEV;
	for (i = 0; i < list->addr_cnt; i++)
		list->iface[list->addr[i].iface].left_out =
			strcmp(net_list_iface(list, &list->addr[i])->name, name) != 0;
	list->left_out_by = by;
	for (i = 0; i < list->addr_cnt; i++)
		if (!strcmp(net_list_iface(list, &list->addr[i])->name, name))
			list->addr[cnt++] = list->addr[i];
	list->addr_cnt = cnt;
	return 0;
}

const struct net_ifaddr *net_list_find(const struct net_list *list, const struct sockaddr *sa)
{
	size_t i;

	for (i = 0; i < list->addr_cnt; i++)
		if (net_addr_same_host(&list->addr[i].addr.sa, sa))
			return &list->addr[i];
	return NULL;
}

static const struct net_iface *iface_by_name(const struct net_list *list, const char *name)
{
	size_t i;

	for (i = 0; i < list->iface_cnt; i++)
		if (!strcmp(list->iface[i].name, name))
			return &list->iface[i];
	return NULL;
}

const struct net_iface *net_list_faster(const struct net_list *list, const char *name, int family)
{
	const struct net_iface *used = iface_by_name(list, name), *best = used, *iface;
	size_t i;

	if (!used || !used->speed)
		return NULL;
	for (i = 0; i < list->addr_cnt; i++) {
		iface = net_list_iface(list, &list->addr[i]);
		if (iface->up && iface->speed > best->speed && list->addr[i].addr.sa.sa_family == family)
			best = iface;
	}
	return best == used ? NULL : best;
}

static const char *first_addr(const struct net_list *list, size_t iface, char *buf, size_t len)
{
	const union net_sa *sa;
	size_t i;

	for (i = 0; i < list->addr_cnt; i++) {
		if (list->addr[i].iface != iface)
			continue;
		sa = &list->addr[i].addr;
		return inet_ntop(sa->sa.sa_family, sa->sa.sa_family == AF_INET ?
				 (const void *) &sa->in.sin_addr :
				 (const void *) &sa->in6.sin6_addr, buf, (socklen_t) len);
	}
	if (!list->iface[iface].left_out)
		return "no address";
	snprintf(buf, len, "left out by %s", list->left_out_by);
	return buf;
}

char *net_list_names(const struct net_list *list, char *buf, size_t len)
{
	char host[2 * INET6_ADDRSTRLEN];
	size_t i, used = 0;
	int n;

	buf[0] = '\0';
	for (i = 0; i < list->iface_cnt; i++) {
		n = snprintf(buf + used, len - used, "%s%s (%s, %s)", i ? ", " : "",
			     list->iface[i].name, list->iface[i].up ? "up" : "down",
			     first_addr(list, i, host, sizeof(host)));
		if (n < 0 || (size_t) n >= len - used) {
			if (len > 4)
				strcpy(buf + (used + 4 < len ? used : len - 4), "...");
			break;
		}
		used += (size_t) n;
	}
	return buf;
}

/* ---- reading --------------------------------------------------------- */

/* find_uplink - the interface of the default route.  Looks up the route to an address outside
 * every local network (a root name server); nothing is sent.
 */
static void find_uplink(struct net_list *list, const char *far)
{
	const struct net_ifaddr *addr;
	union net_sa dest, source;

	if (net_addr_parse_host(far, &dest) || net_sock_source(&dest.sa, &source))
		return;
	addr = net_list_find(list, &source.sa);
	if (addr)
		list->iface[addr->iface].uplink = true;
}

static void read_speeds(struct net_list *list)
{
	size_t i;

	for (i = 0; i < list->iface_cnt; i++)
		if (list->iface[i].up && list->iface[i].kind == NET_KIND_DEVICE)
			list->iface[i].speed = net_sysfs_speed(list->iface[i].name);
}

uint8_t net_mask_prefix(const struct sockaddr *mask)
{
	union net_sa sa, ones;
	uint8_t n = 0, max;

	if (!mask || !net_addr_len(mask))
		return 0;
	net_addr_copy(mask, net_addr_len(mask), &sa);
	max = sa.sa.sa_family == AF_INET ? 32 : 128;
	memset(&ones, 0xff, sizeof(ones));
	ones.sa.sa_family = sa.sa.sa_family;
	while (n < max && net_addr_in_prefix(&sa.sa, &ones.sa, n + 1u))
		n++;
	return n;
}

#ifdef PORTABLE
static int read_any(struct net_list *list)
{
	return net_read_ifaddrs(list);
}
#else
static int read_any(struct net_list *list)
{
	int ret = net_read_netlink(list);

	if (!ret || ret == -FI_ENOMEM)
		return ret;
	net_list_free(list);	/* entries found before the failure */
	return net_read_ioctl(list);
}
#endif

int net_list_read(struct net_list *list_p)
{
	struct net_list list = { 0 };
	int ret;

	ret = read_any(&list);
	if (ret) {
		net_list_free(&list);
		return ret;
	}
	read_speeds(&list);
	find_uplink(&list, "198.41.0.4");
	find_uplink(&list, "2001:503:ba3e::2:30");
	net_list_judge(&list);
	net_list_rank(&list);
	*list_p = list;
	return 0;
}

/* ---- one snapshot for a whole fi_getinfo() --------------------------------- */

static struct {
	pthread_mutex_t lock;
	struct net_list list;
	uint64_t read_ns;
} recent = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void __attribute__((destructor)) forget_recent(void)
{
	net_list_free(&recent.list);
}

static int list_copy(const struct net_list *from, struct net_list *to_p)
{
	struct net_list to = *from;

	to.iface = malloc(from->iface_cnt * sizeof(*to.iface) + 1);
	to.addr = malloc(from->addr_cnt * sizeof(*to.addr) + 1);
	if (!to.iface || !to.addr) {
		net_list_free(&to);
		return -FI_ENOMEM;
	}
	memcpy(to.iface, from->iface, from->iface_cnt * sizeof(*to.iface));
	memcpy(to.addr, from->addr, from->addr_cnt * sizeof(*to.addr));
	*to_p = to;
	return 0;
}

int net_list_recent(struct net_list *list_p)
{
	struct net_list fresh;
	int ret = 0;

	if (pthread_mutex_trylock(&recent.lock))
		return net_list_read(list_p);	/* also when the lock was held at a fork */
	if (!recent.read_ns || clock_ns() - recent.read_ns > RECENT_NS) {
		ret = net_list_read(&fresh);
		if (!ret) {
			net_list_free(&recent.list);
			recent.list = fresh;
			recent.read_ns = clock_ns();
		}
	}
	if (!ret)
		ret = list_copy(&recent.list, list_p);
	pthread_mutex_unlock(&recent.lock);
	return ret;
}

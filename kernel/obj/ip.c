// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copyright (c) 2026 the libfabric authors. */
/*
 * ip.c - getinfo over IP: an offer for each address of each interface of the namespace.
 */
#include <linux/inet.h>
#include <linux/inetdevice.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <net/addrconf.h>
#include <net/if_inet6.h>
#include <net/sock.h>

#include "obj.h"

#define IFACES_MAX	64

/* An address of an interface. */
struct iface {
	char			name[IFNAMSIZ];
	struct sockaddr_storage	addr;
	u8			prefix;		/* bits of the network */
	bool			loopback;
};

struct ifaces {
	size_t		cnt;
	struct iface	at[IFACES_MAX];
};

/* What a query says about addresses. */
struct want {
	struct sockaddr_storage	src;		/* family 0: any */
	struct sockaddr_storage	dest;		/* family 0: none */
	__be16			src_port;
};

/* ---- interfaces ---- */

static struct iface *iface_add(struct ifaces *list, const struct net_device *dev, u8 prefix)
{
	struct iface *iface;

	if (list->cnt == IFACES_MAX)
		return NULL;
	iface = &list->at[list->cnt++];
	strscpy(iface->name, dev->name, sizeof(iface->name));
	iface->prefix = prefix;
	iface->loopback = dev->flags & IFF_LOOPBACK;
	return iface;
}

static void add_v4(struct ifaces *list, struct net_device *dev)
{
	struct in_device *in_dev = __in_dev_get_rcu(dev);
	struct sockaddr_in *sin;
	struct in_ifaddr *ifa;
	struct iface *iface;

	if (!in_dev)
		return;
	in_dev_for_each_ifa_rcu(ifa, in_dev) {
		iface = iface_add(list, dev, ifa->ifa_prefixlen);
		if (!iface)
			return;
		sin = (struct sockaddr_in *)&iface->addr;
		sin->sin_family = AF_INET;
		sin->sin_addr.s_addr = ifa->ifa_local;
	}
}

static void add_v6(struct ifaces *list, struct net_device *dev)
{
#if IS_ENABLED(CONFIG_IPV6)
	struct inet6_dev *in6_dev = __in6_dev_get(dev);
	struct inet6_ifaddr *ifa;
	struct sockaddr_in6 *sin6;
	struct iface *iface;

	if (!in6_dev)
		return;
	read_lock_bh(&in6_dev->lock);
	list_for_each_entry(ifa, &in6_dev->addr_list, if_list) {
		iface = iface_add(list, dev, ifa->prefix_len);
		if (!iface)
			break;
		sin6 = (struct sockaddr_in6 *)&iface->addr;
		sin6->sin6_family = AF_INET6;
		sin6->sin6_addr = ifa->addr;
		if (ipv6_addr_type(&ifa->addr) & IPV6_ADDR_LINKLOCAL)
			sin6->sin6_scope_id = dev->ifindex;
	}
	read_unlock_bh(&in6_dev->lock);
#endif
}

/* Loopback comes last. */
static void ifaces_collect(struct net *net, struct ifaces *list)
{
	struct net_device *dev;
	int pass;

	rcu_read_lock();
	for (pass = 0; pass < 2; pass++) {
		for_each_netdev_rcu(net, dev) {
			if (!(dev->flags & IFF_UP) || !!(dev->flags & IFF_LOOPBACK) != pass)
				continue;
			add_v4(list, dev);
			add_v6(list, dev);
		}
	}
	rcu_read_unlock();
}

/* ---- the query ---- */

static bool same_ip(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
	const struct sockaddr_in6 *a6 = (const void *)a, *b6 = (const void *)b;

	if (a->ss_family != b->ss_family)
		return false;
	if (a->ss_family == AF_INET)
		return ((const struct sockaddr_in *)a)->sin_addr.s_addr ==
		       ((const struct sockaddr_in *)b)->sin_addr.s_addr;
	return ipv6_addr_equal(&a6->sin6_addr, &b6->sin6_addr);
}

static bool is_any(const struct sockaddr_storage *addr)
{
	if (addr->ss_family == AF_INET)
		return !((const struct sockaddr_in *)addr)->sin_addr.s_addr;
	return ipv6_addr_any(&((const struct sockaddr_in6 *)addr)->sin6_addr);
}

/* The source address of packets to @dest: that of a datagram socket that connects to it. */
static int source_of(struct net *net, struct want *want)
{
	int len = kofi_ip_len(&want->dest), ret;
	struct socket *sock;

	ret = sock_create_kern(net, want->dest.ss_family, SOCK_DGRAM, IPPROTO_UDP, &sock);
	if (ret)
		return ret;
	ret = kernel_connect(sock, (struct sockaddr *)&want->dest, len, 0);
	if (!ret)
		ret = min(kernel_getsockname(sock, (struct sockaddr *)&want->src), 0);
	sock_release(sock);
	return ret ? -FI_ENODATA : 0;
}

static int hint_addr(struct sockaddr_storage *out, const void *addr, size_t len)
{
	if (!addr)
		return 0;
	if (len < sizeof(struct sockaddr_in) || !kofi_ip_len(addr) || kofi_ip_len(addr) > len)
		return -FI_ENODATA;
	memcpy(out, addr, kofi_ip_len(addr));
	return 0;
}

static int read_want(const struct kofi_query *query, struct want *want)
{
	const struct fi_info *hints = query->hints;
	bool source = query->flags & FI_SOURCE;
	struct sockaddr_storage *named = source ? &want->src : &want->dest;
	u16 port = 0;
	int ret = 0;

	if (hints) {
		ret = hint_addr(&want->src, hints->src_addr, hints->src_addrlen);
		if (!ret)
			ret = hint_addr(&want->dest, hints->dest_addr, hints->dest_addrlen);
	}
	if (!ret && query->service && kstrtou16(query->service, 10, &port))
		return -FI_EINVAL;
	if (!ret && query->node)
		ret = inet_pton_with_scope(query->net, AF_UNSPEC, query->node, query->service,
					   named) ? -FI_EINVAL : 0;
	if (ret)
		return ret;
	want->src_port = source ? htons(port) :
			 want->src.ss_family ? ((struct sockaddr_in *)&want->src)->sin_port : 0;
	if (want->dest.ss_family && (!want->src.ss_family || is_any(&want->src)))
		return source_of(query->net, want);
	return 0;
}

/* ---- offers ---- */

static void network_name(const struct iface *iface, char *buf, size_t len)
{
	const struct sockaddr_in6 *sin6 = (const void *)&iface->addr;
	struct in6_addr net6;
	__be32 net4;

	if (iface->addr.ss_family == AF_INET) {
		net4 = ((const struct sockaddr_in *)&iface->addr)->sin_addr.s_addr &
		       inet_make_mask(iface->prefix);
		snprintf(buf, len, "%pI4/%u", &net4, iface->prefix);
	} else {
		ipv6_addr_prefix(&net6, &sin6->sin6_addr, iface->prefix);
		snprintf(buf, len, "%pI6c/%u", &net6, iface->prefix);
	}
}

static int set_addr(void **addr, size_t *addrlen, const struct sockaddr_storage *from)
{
	*addrlen = kofi_ip_len(from);
	*addr = kmemdup(from, *addrlen, GFP_KERNEL);
	return *addr ? 0 : -FI_ENOMEM;
}

static int offer_iface(const struct fi_info *template, const struct iface *iface,
		       const struct want *want, struct fi_info **info_p)
{
	struct fi_info *info = fi_dupinfo(template);
	char name[64];

	if (!info)
		return -FI_ENOMEM;
	network_name(iface, name, sizeof(name));
	info->addr_format = iface->addr.ss_family == AF_INET ? FI_SOCKADDR_IN : FI_SOCKADDR_IN6;
	kfree(info->domain_attr->name);
	kfree(info->fabric_attr->name);
	info->domain_attr->name = kstrdup(iface->name, GFP_KERNEL);
	info->fabric_attr->name = kstrdup(name, GFP_KERNEL);
	if (!info->domain_attr->name || !info->fabric_attr->name ||
	    set_addr(&info->src_addr, &info->src_addrlen, &iface->addr) ||
	    (want->dest.ss_family &&
	     set_addr(&info->dest_addr, &info->dest_addrlen, &want->dest))) {
		fi_freeinfo(info);
		return -FI_ENOMEM;
	}
	((struct sockaddr_in *)info->src_addr)->sin_port = want->src_port;
	*info_p = info;
	return 0;
}

static bool iface_wanted(const struct iface *iface, const struct want *want)
{
	if (want->dest.ss_family && want->dest.ss_family != iface->addr.ss_family)
		return false;
	if (!want->src.ss_family)
		return true;
	if (is_any(&want->src))
		return want->src.ss_family == iface->addr.ss_family;
	return same_ip(&want->src, &iface->addr);
}

int kofi_ip_getinfo(const struct kofi_query *query, const struct fi_info *template,
		    bool (*filter)(struct net *net, const char *ifname,
				   const struct sockaddr *addr, struct fi_info *offer),
		    struct fi_info **list_p)
{
	struct fi_info **tail = list_p, *info;
	struct want want = {};
	struct ifaces *list;
	size_t i;
	int ret;

	while (*tail)
		tail = &(*tail)->next;
	ret = read_want(query, &want);
	if (ret)
		return ret;
	list = kzalloc(sizeof(*list), GFP_KERNEL);
	if (!list)
		return -FI_ENOMEM;
	ifaces_collect(query->net, list);
	for (i = 0; i < list->cnt && !ret; i++) {
		if (!iface_wanted(&list->at[i], &want))
			continue;
		ret = offer_iface(template, &list->at[i], &want, &info);
		if (ret)
			break;
		if (filter && !filter(query->net, list->at[i].name,
				      (struct sockaddr *)&list->at[i].addr, info)) {
			fi_freeinfo(info);
			continue;
		}
		*tail = info;
		tail = &info->next;
	}
	kfree(list);
	return ret ? ret : *list_p ? 0 : -FI_ENODATA;
}
EXPORT_SYMBOL_GPL(kofi_ip_getinfo);

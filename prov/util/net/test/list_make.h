/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * list_make.h - for tests: lists of fictional interfaces.
 */
#ifndef NET_LIST_MAKE_H
#define NET_LIST_MAKE_H

#include <stdio.h>
#include <string.h>

#include "net/iface.h"

#define UP (IFF_UP | IFF_RUNNING)

/* make_iface - an interface, classified by its kind and flags as the readers do. */
static inline struct net_iface *make_iface(struct net_list *list, const char *name,
					   const char *link_kind, unsigned flags)
{
	struct net_iface *iface = net_list_add_iface(list);

	snprintf(iface->name, sizeof(iface->name), "%s", name);
	snprintf(iface->link_kind, sizeof(iface->link_kind), "%s", link_kind);
	iface->index = (unsigned) list->iface_cnt;
	iface->flags = flags;
	iface->up = (flags & UP) == UP;
	iface->mtu = 1500;
	iface->kind = net_kind_of(iface, false);
	return iface;
}

/* make_addr - an address on the interface that was made last. */
static inline struct net_ifaddr *make_addr(struct net_list *list, const char *host,
					   uint8_t prefix)
{
	struct net_ifaddr *addr = net_list_add_addr(list);

	net_addr_parse_host(host, &addr->addr);
	addr->prefix = prefix;
	addr->iface = (uint32_t) list->iface_cnt - 1;
	if (addr->addr.sa.sa_family == AF_INET6 && net_addr_is_link_local(&addr->addr.sa))
		addr->addr.in6.sin6_scope_id = (uint32_t) list->iface_cnt;
	return addr;
}

/* make_laptop - loopback first, as in the kernel's list; a VPN and containers up, the cable
 * unplugged, wireless in use.
 */
static inline void make_laptop(struct net_list *list)
{
	memset(list, 0, sizeof(*list));
	make_iface(list, "lo", "", UP | IFF_LOOPBACK);
	make_addr(list, "127.0.0.1", 8);
	make_addr(list, "::1", 128);
	make_iface(list, "enp3s0", "", IFF_UP);
	make_addr(list, "192.168.9.5", 24);
	make_iface(list, "docker0", "bridge", UP);
	make_addr(list, "172.17.0.1", 16);
	make_iface(list, "tailscale0", "tun", UP | IFF_POINTOPOINT);
	make_addr(list, "100.100.1.1", 32);
	make_iface(list, "wlan0", "", UP)->uplink = true;
	make_addr(list, "fe80::5", 64);
	make_addr(list, "2001:db8::5", 64);
	make_addr(list, "192.168.1.5", 24);
	make_iface(list, "veth1", "veth", UP)->master = 3;
	make_addr(list, "fe80::6", 64);
	net_list_judge(list);
	net_list_rank(list);
}

/* make_cluster - a node with a fast fabric and a slow management network. */
static inline void make_cluster(struct net_list *list)
{
	memset(list, 0, sizeof(*list));
	make_iface(list, "lo", "", UP | IFF_LOOPBACK);
	make_addr(list, "127.0.0.1", 8);
	make_iface(list, "eno1", "", UP)->speed = UINT64_C(1000000000);
	list->iface[1].uplink = true;
	make_addr(list, "10.0.0.7", 16);
	make_iface(list, "ib0", "ipoib", UP)->speed = UINT64_C(200000000000);
	make_addr(list, "10.1.0.7", 16);
	make_addr(list, "fd01::7", 64);
	net_list_judge(list);
	net_list_rank(list);
}

#endif

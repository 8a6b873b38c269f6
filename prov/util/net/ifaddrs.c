/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * ifaddrs.c - interfaces and addresses by getifaddrs(3), where there is no netlink library.
 *
 * Slower (a few files per interface) and without the state of IPv6 addresses; otherwise the
 * same result.
 */
#include <errno.h>
#include <ifaddrs.h>
#include <linux/if_packet.h>
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net/read.h"

static struct net_iface *find(const struct net_list *list, const char *name)
{
	size_t i;

	for (i = 0; i < list->iface_cnt; i++)
		if (!strcmp(list->iface[i].name, name))
			return &list->iface[i];
	return NULL;
}

static uint32_t sysfs_number(const char *name, const char *file)
{
	char text[24];

	return net_sysfs_text(name, file, text, sizeof(text)) > 0 ?
	       (uint32_t) strtoul(text, NULL, 10) : 0;
}

static uint32_t master_of(const char *name)
{
	char master[IF_NAMESIZE];

	return net_sysfs_link(name, "master", master, sizeof(master)) ?
	       0 : if_nametoindex(master);
}

static int add_iface(struct net_list *list, const struct ifaddrs *ifa)
{
	const struct sockaddr_ll *ll = (const struct sockaddr_ll *) ifa->ifa_addr;
	struct net_iface *iface;

	iface = net_list_add_iface(list);
	if (!iface)
		return -FI_ENOMEM;
	snprintf(iface->name, sizeof(iface->name), "%s", ifa->ifa_name);
	iface->flags = ifa->ifa_flags;
	iface->up = (ifa->ifa_flags & (IFF_UP | IFF_RUNNING)) == (IFF_UP | IFF_RUNNING);
	iface->index = if_nametoindex(ifa->ifa_name);
	iface->mtu = sysfs_number(ifa->ifa_name, "mtu");
	iface->master = master_of(ifa->ifa_name);
	if (ll && ll->sll_family == AF_PACKET) {
		iface->arp_type = ll->sll_hatype;
		iface->mac_len = ll->sll_halen < 8 ? ll->sll_halen : 8;
		memcpy(iface->mac, ll->sll_addr, iface->mac_len);
	}
	iface->kind = net_sysfs_kind(iface);
	return 0;
}

static int add_addr(struct net_list *list, const struct ifaddrs *ifa)
{
	const struct net_iface *iface = find(list, ifa->ifa_name);
	struct net_ifaddr *addr;
	union net_sa sa;

	if (!iface || net_addr_copy(ifa->ifa_addr, net_addr_len(ifa->ifa_addr), &sa))
		return 0;
	addr = net_list_add_addr(list);
	if (!addr)
		return -FI_ENOMEM;
	addr->addr = sa;
	net_addr_set_port(&addr->addr.sa, 0);
	addr->prefix = net_mask_prefix(ifa->ifa_netmask);
	addr->iface = (uint32_t) (iface - list->iface);
	return 0;
}

int net_read_ifaddrs(struct net_list *list)
{
	struct ifaddrs *all, *ifa;
	int ret = 0;

	if (getifaddrs(&all))
		return -errno;
	/* every interface has an AF_PACKET entry; where it has none, its first address counts */
	for (ifa = all; ifa && !ret; ifa = ifa->ifa_next)
		if (!find(list, ifa->ifa_name))
			ret = add_iface(list, ifa);
	for (ifa = all; ifa && !ret; ifa = ifa->ifa_next)
		if (ifa->ifa_addr && net_addr_len(ifa->ifa_addr))
			ret = add_addr(list, ifa);
	freeifaddrs(all);
	return ret;
}

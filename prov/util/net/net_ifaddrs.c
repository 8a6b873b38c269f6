/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * net_ifaddrs.c - interfaces and addresses where there is no netlink library.
 *
 * Slower (a few files per interface) and blind to the state of IPv6 addresses,
 * but the same answer otherwise.
 */
#include <errno.h>
#include <ifaddrs.h>
#include <linux/if_packet.h>
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "net/net_read.h"

static struct net_iface *find(const struct net_list *list, const char *name)
{
	size_t i;

	for (i = 0; i < list->iface_cnt; i++)
		if (!strcmp(list->iface[i].name, name))
			return &list->iface[i];
	return NULL;
}

static bool has(const char *name, const char *file)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/class/net/%s/%s", name, file);
	return !access(path, F_OK);
}

/* link_kind - what netlink calls the kind is DEVTYPE here, where it is at all. */
static void link_kind(struct net_iface *iface)
{
	char text[256], *type;

	if (has(iface->name, "tun_flags")) {
		strcpy(iface->link_kind, "tun");
	} else if (net_sysfs_text(iface->name, "uevent", text, sizeof(text)) > 0) {
		type = strstr(text, "DEVTYPE=");
		if (!type || !strncmp(type + 8, "wlan", 4) || !strncmp(type + 8, "wwan", 4))
			return;
		snprintf(iface->link_kind, sizeof(iface->link_kind), "%.*s",
			 (int) strcspn(type + 8, "\n"), type + 8);
	}
}

/* is_virtual - does the interface hang on no bus?  Then it is no device, though sysfs does
 * not say what it is (veth, dummy).
 */
static bool is_virtual(const char *name)
{
	char path[512];

	return !net_sysfs_path(name, path, sizeof(path)) && strstr(path, "/virtual/");
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
	link_kind(iface);
	if (ll && ll->sll_family == AF_PACKET) {
		iface->arp_type = ll->sll_hatype;
		iface->mac_len = ll->sll_halen < 8 ? ll->sll_halen : 8;
		memcpy(iface->mac, ll->sll_addr, iface->mac_len);
	}
	iface->kind = net_kind_of(iface, has(iface->name, "device"));
	if (iface->kind == NET_KIND_DEVICE && !iface->link_kind[0] && is_virtual(iface->name))
		iface->kind = NET_KIND_VIRTUAL;
	return 0;
}

static uint8_t prefix_of(const struct sockaddr *mask)
{
	union net_sa sa, any;
	uint8_t n = 0, max;

	if (!mask || net_addr_copy(mask, sizeof(sa), &sa))
		return 0;
	max = sa.sa.sa_family == AF_INET ? 32 : 128;
	memset(&any, 0xff, sizeof(any));
	any.sa.sa_family = sa.sa.sa_family;
	while (n < max && net_addr_in_prefix(&sa.sa, &any.sa, n + 1u))
		n++;
	return n;
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
	addr->prefix = prefix_of(ifa->ifa_netmask);
	addr->iface = (uint32_t) (iface - list->iface);
	return 0;
}

int net_read_ifaddrs(struct net_list *list)
{
	struct ifaddrs *all, *ifa;
	int ret = 0;

	if (getifaddrs(&all))
		return -errno;
	/* every interface comes once as AF_PACKET; where it does not, by its first address */
	for (ifa = all; ifa && !ret; ifa = ifa->ifa_next)
		if (!find(list, ifa->ifa_name))
			ret = add_iface(list, ifa);
	for (ifa = all; ifa && !ret; ifa = ifa->ifa_next)
		if (ifa->ifa_addr && net_addr_len(ifa->ifa_addr))
			ret = add_addr(list, ifa);
	freeifaddrs(all);
	return ret;
}

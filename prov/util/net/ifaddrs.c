/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * ifaddrs.c - interfaces and addresses by getifaddrs(), for systems that have no netlink.
 *
 * The MTU is asked for by ioctl; states of IPv6 addresses, and what an interface is a port of, are not known.
 */
#include <errno.h>
#include <ifaddrs.h>
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "net/read.h"

static uint32_t mtu_of(const char *name)
{
	struct ifreq ifr = { 0 };
	int fd = socket(AF_INET, SOCK_DGRAM, 0), ret;

	if (fd < 0)
		return 0;
	memcpy(ifr.ifr_name, name, strnlen(name, sizeof(ifr.ifr_name) - 1));
	ret = ioctl(fd, SIOCGIFMTU, &ifr);
	close(fd);
	return ret ? 0 : (uint32_t) ifr.ifr_mtu;
}

/* iface_named - its position in the list, where it is added if it is new.  Returns that, or -FI_ENOMEM. */
static int iface_named(struct net_list *list, const struct ifaddrs *ifa)
{
	struct net_iface *iface;
	size_t i;

	for (i = 0; i < list->iface_cnt; i++)
		if (!strcmp(list->iface[i].name, ifa->ifa_name))
			return (int) i;
	iface = net_list_add_iface(list);
	if (!iface)
		return -FI_ENOMEM;
	snprintf(iface->name, sizeof(iface->name), "%s", ifa->ifa_name);
	iface->index = if_nametoindex(ifa->ifa_name);
	iface->flags = ifa->ifa_flags;
	iface->up = (ifa->ifa_flags & (IFF_UP | IFF_RUNNING)) == (IFF_UP | IFF_RUNNING);
	iface->mtu = mtu_of(ifa->ifa_name);
	iface->kind = net_sysfs_kind(iface);
	return (int) i;
}

static int add_addr(struct net_list *list, const struct ifaddrs *ifa, uint32_t pos)
{
	struct net_ifaddr *addr;
	union net_sa sa;

	if (!ifa->ifa_addr || (ifa->ifa_addr->sa_family != AF_INET && ifa->ifa_addr->sa_family != AF_INET6) ||
	    net_addr_copy(ifa->ifa_addr, net_addr_len(ifa->ifa_addr), &sa))
		return 0;
	addr = net_list_add_addr(list);
	if (!addr)
		return -FI_ENOMEM;
	addr->addr = sa;
	net_addr_set_port(&addr->addr.sa, 0);
	addr->prefix = net_mask_prefix(ifa->ifa_netmask);
	addr->iface = pos;
	return 0;
}

int net_read_ifaddrs(struct net_list *list)
{
	struct ifaddrs *all;
	const struct ifaddrs *ifa;
	int ret = 0;

	if (getifaddrs(&all))
		return -errno;
	for (ifa = all; ifa && ret >= 0; ifa = ifa->ifa_next) {
		ret = iface_named(list, ifa);
		if (ret >= 0)
			ret = add_addr(list, ifa, (uint32_t) ret);
	}
	freeifaddrs(all);
	return ret < 0 ? ret : 0;
}

bool net_route_has(unsigned index, const struct sockaddr *dest)
{
	return false;
}

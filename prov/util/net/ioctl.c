/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * ioctl.c - interfaces and IPv4 addresses by ioctl.
 *
 * For processes that may not open a netlink socket (systemd's RestrictAddressFamilies, seccomp
 * filters): getifaddrs(3) fails there too.  Interfaces without an IPv4 address are not found.
 */
#include <errno.h>
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "net/read.h"

#define IFREQ_MAX 4096		/* interfaces; the kernel drops what does not fit */

/* ask_iface - one value of the interface in @ifr; 0 when it is not available. */
static void ask_iface(int fd, unsigned long what, const struct ifreq *ifr, struct ifreq *out)
{
	memset(out, 0, sizeof(*out));
	memcpy(out->ifr_name, ifr->ifr_name, sizeof(out->ifr_name));
	if (ioctl(fd, what, out))
		memset(&out->ifr_ifru, 0, sizeof(out->ifr_ifru));
}

/* master_of - the index of the bridge or bond that the interface is a port of, or 0. */
static uint32_t master_of(const char *name)
{
	char master[IF_NAMESIZE];

	return net_sysfs_link(name, "master", master, sizeof(master)) ? 0 :
									if_nametoindex(master);
}

static int add_iface(struct net_list *list, int fd, const struct ifreq *ifr)
{
	struct net_iface *iface;
	struct ifreq out;

	iface = net_list_add_iface(list);
	if (!iface)
		return -FI_ENOMEM;
	snprintf(iface->name, sizeof(iface->name), "%.*s", IFNAMSIZ - 1, ifr->ifr_name);
	ask_iface(fd, SIOCGIFFLAGS, ifr, &out);
	iface->flags = (unsigned short) out.ifr_flags;
	iface->up = (iface->flags & (IFF_UP | IFF_RUNNING)) == (IFF_UP | IFF_RUNNING);
	ask_iface(fd, SIOCGIFINDEX, ifr, &out);
	iface->index = (unsigned) out.ifr_ifindex;
	ask_iface(fd, SIOCGIFMTU, ifr, &out);
	iface->mtu = (uint32_t) out.ifr_mtu;
	ask_iface(fd, SIOCGIFHWADDR, ifr, &out);
	iface->arp_type = out.ifr_hwaddr.sa_family;
	iface->mac_len = iface->flags & IFF_LOOPBACK ? 0 : 6;
	memcpy(iface->mac, out.ifr_hwaddr.sa_data, iface->mac_len);
	iface->master = master_of(iface->name);
	iface->kind = net_sysfs_kind(iface);
	return 0;
}

static int add_addr(struct net_list *list, int fd, const struct ifreq *ifr)
{
	struct net_ifaddr *addr;
	struct ifreq out;
	union net_sa sa;

	if (net_addr_copy(&ifr->ifr_addr, sizeof(ifr->ifr_addr), &sa))
		return 0;
	addr = net_list_add_addr(list);
	if (!addr)
		return -FI_ENOMEM;
	addr->addr = sa;
	net_addr_set_port(&addr->addr.sa, 0);
	ask_iface(fd, SIOCGIFNETMASK, ifr, &out);
	addr->prefix = net_mask_prefix(&out.ifr_netmask);
	addr->iface = (uint32_t) list->iface_cnt - 1;
	return 0;
}

/* read_all - the entries of one interface follow each other, aliases ("eth0:1") included. */
static int read_all(struct net_list *list, int fd, const struct ifconf *conf)
{
	size_t i, cnt = (size_t) conf->ifc_len / sizeof(struct ifreq);
	const struct ifreq *ifr;
	int ret = 0;

	for (i = 0; i < cnt && !ret; i++) {
		ifr = &conf->ifc_req[i];
		if (!list->iface_cnt || strncmp(list->iface[list->iface_cnt - 1].name,
						ifr->ifr_name, strcspn(ifr->ifr_name, ":")))
			ret = add_iface(list, fd, ifr);
		if (!ret)
			ret = add_addr(list, fd, ifr);
	}
	return ret;
}

int net_read_ioctl(struct net_list *list)
{
	struct ifconf conf = { .ifc_len = IFREQ_MAX * sizeof(struct ifreq) };
	int fd, ret;

	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	conf.ifc_req = calloc(IFREQ_MAX, sizeof(struct ifreq));
	if (!conf.ifc_req)
		ret = -FI_ENOMEM;
	else
		ret = ioctl(fd, SIOCGIFCONF, &conf) ? -errno : read_all(list, fd, &conf);
	free(conf.ifc_req);
	close(fd);
	return ret;
}

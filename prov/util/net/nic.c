/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <net/if_arp.h>
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net/nic.h"
#include "net/read.h"

#define TEXT_MAX 64

/* A nic and all its strings, so that one free() releases everything. */
struct nic {
	struct fid_nic nic;
	struct fi_device_attr device;
	struct fi_bus_attr bus;
	struct fi_link_attr link;
	char name[IF_NAMESIZE];
	char device_id[TEXT_MAX];
	char vendor_id[TEXT_MAX];
	char version[TEXT_MAX];
	char driver[TEXT_MAX];
	char address[3 * NET_MAC_MAX];
	char network_type[16];
};

static int nic_close(struct fid *fid)
{
	free(fid);	/* struct nic begins with its fid */
	return 0;
}

static int nic_control(struct fid *fid, int command, void *arg);

static struct fi_ops nic_ops = {
	.size = sizeof(struct fi_ops),
	.close = nic_close,
	.control = nic_control,
};

/* set_pointers - set the pointers of a nic to its strings; empty strings stay NULL. */
static void set_pointers(struct nic *nic)
{
#define TEXT(member) (nic->member[0] ? nic->member : NULL)
	nic->nic.fid.fclass = FI_CLASS_NIC;
	nic->nic.fid.ops = &nic_ops;
	nic->nic.device_attr = &nic->device;
	nic->nic.bus_attr = &nic->bus;
	nic->nic.link_attr = &nic->link;
	nic->device.name = TEXT(name);
	nic->device.device_id = TEXT(device_id);
	nic->device.device_version = TEXT(version);
	nic->device.vendor_id = TEXT(vendor_id);
	nic->device.driver = TEXT(driver);
	nic->link.address = TEXT(address);
	nic->link.network_type = TEXT(network_type);
#undef TEXT
}

static int nic_control(struct fid *fid, int command, void *arg)
{
	struct nic *copy;

	if (command != FI_DUP)
		return -FI_ENOSYS;
	copy = malloc(sizeof(*copy));
	if (!copy)
		return -FI_ENOMEM;
	memcpy(copy, fid, sizeof(*copy));
	set_pointers(copy);
	*(struct fid_nic **) arg = &copy->nic;
	return 0;
}

/* is_pci - "0000:00:03.0" and nothing else. */
static bool is_pci(const char *s, size_t len, struct fi_pci_attr *pci)
{
	unsigned domain, bus, device, function;
	int end = 0;

	if (sscanf(s, "%4x:%2x:%2x.%1u%n", &domain, &bus, &device, &function, &end) != 4 ||
	    (size_t) end != len)
		return false;
	pci->domain_id = (uint16_t) domain;
	pci->bus_id = (uint8_t) bus;
	pci->device_id = (uint8_t) device;
	pci->function_id = (uint8_t) function;
	return true;
}

int net_nic_pci(const char *path, struct fi_pci_attr *pci_p)
{
	const char *end = strstr(path, "/net/"), *start;
	int level;

	for (level = 0; end && level < 2; level++) {
		for (start = end; start > path && start[-1] != '/'; start--)
			;
		if (is_pci(start, (size_t) (end - start), pci_p))
			return 0;
		end = start > path ? start - 1 : NULL;
	}
	return -FI_ENOENT;
}

static void read_bus(const char *name, struct fi_bus_attr *bus)
{
	char path[512];

	if (!net_sysfs_path(name, path, sizeof(path)) && !net_nic_pci(path, &bus->attr.pci))
		bus->bus_type = FI_BUS_PCI;
}

static void read_device(struct nic *nic)
{
	net_sysfs_text(nic->name, "device/device", nic->device_id, sizeof(nic->device_id));
	net_sysfs_text(nic->name, "device/vendor", nic->vendor_id, sizeof(nic->vendor_id));
	net_sysfs_text(nic->name, "device/revision", nic->version, sizeof(nic->version));
	net_sysfs_link(nic->name, "device/driver", nic->driver, sizeof(nic->driver));
	read_bus(nic->name, &nic->bus);
}

static const char *type_text(uint16_t arp_type)
{
	switch (arp_type) {
	case ARPHRD_ETHER:
		return "Ethernet";
	case ARPHRD_INFINIBAND:
		return "InfiniBand";
	case ARPHRD_LOOPBACK:
		return "loopback";
	case ARPHRD_PPP:
		return "PPP";
	case ARPHRD_TUNNEL:
	case ARPHRD_TUNNEL6:
	case ARPHRD_SIT:
	case ARPHRD_IPGRE:
	case ARPHRD_NONE:
		return "tunnel";
	default:
		return "";
	}
}

static void fill_link(const struct net_iface *iface, struct nic *nic)
{
	size_t i;

	for (i = 0; i < iface->mac_len; i++)
		snprintf(nic->address + (i ? 3 * i - 1 : 0), 4, i ? ":%02x" : "%02x",
			 iface->mac[i]);
	snprintf(nic->network_type, sizeof(nic->network_type), "%s",
		 type_text(iface->arp_type));
	nic->link.mtu = iface->mtu;
	nic->link.speed = iface->speed;
	nic->link.state = iface->up ? FI_LINK_UP : FI_LINK_DOWN;
}

int net_nic_create(const struct net_iface *iface, struct fid_nic **nic_p)
{
	struct nic *nic;

	nic = calloc(1, sizeof(*nic));
	if (!nic)
		return -FI_ENOMEM;
	memcpy(nic->name, iface->name, sizeof(nic->name));
	fill_link(iface, nic);
	if (iface->kind == NET_KIND_DEVICE)
		read_device(nic);
	set_pointers(nic);
	*nic_p = &nic->nic;
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * nic.h - the fid_nic of an interface.
 */
#ifndef NET_NIC_H
#define NET_NIC_H

#include <rdma/fabric.h>

#include "net/iface.h"

/* net_nic_create - describe @iface: device, bus and link attributes.
 *
 * @nic_p: [out] one allocation, strings included; fi_close() frees it, and fi_control(FI_DUP,
 *         struct fid_nic **) copies it
 *
 * An interface without a device (loopback, veth) has link attributes and the bus type
 * FI_BUS_UNSPEC.
 * Errors: -FI_ENOMEM.      Cost: a few sysfs reads where there is a device.
 */
int net_nic_create(const struct net_iface *iface, struct fid_nic **nic_p);

/* net_nic_pci - find the PCI function in a device path of sysfs,
 * "../../devices/pci0000:00/0000:00:03.0/virtio2/net/eth0".  It is the parent of the interface
 * or one level above it (virtio, a sub-function); behind a USB controller there is none.
 * Errors: -FI_ENOENT.
 */
int net_nic_pci(const char *path, struct fi_pci_attr *pci_p);

#endif

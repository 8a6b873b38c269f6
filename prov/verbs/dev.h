/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * dev.h - the RDMA devices of this host.
 *
 * The list of devices, and the network interface of each port, are read from sysfs.  A device is
 * opened when it is needed, and once: its context is that of librdmacm, if that knows it, and is
 * shared by all domains on it.
 */
#ifndef VRB_DEV_H
#define VRB_DEV_H

#include <net/if.h>
#include <rdma/fi_domain.h>
#include <stdbool.h>

#include "net/iface.h"
#include "lib.h"

#define VRB_NAME_MAX 64

/* A port and the interface whose addresses lead to it. */
struct vrb_port {
	char dev[VRB_NAME_MAX];		/* name of the RDMA device */
	unsigned num;			/* from 1 */
	char iface[IF_NAMESIZE];	/* network interface, or "" */
	bool infiniband;		/* link layer; else Ethernet */
	bool iwarp;			/* connections only, and no data with a message */
};

/* vrb_dev_any - is there any RDMA device?  One opendir() where there is none. */
bool vrb_dev_any(void);

/* vrb_dev_port - the port behind an interface, by sysfs.
 *
 * @iface:  its name
 * @port_p: [out]
 * Errors:  -FI_ENODEV: no RDMA device there.
 */
int vrb_dev_port(const char *iface, struct vrb_port *port_p);

/* vrb_dev_ports - all ports, with the first interface of each, or none ("").
 * Returns how many.
 */
#define VRB_GID_GAP 8		/* a GID table is filled from the front; so many empty entries end it */
#define VRB_PORT_MAX 64
unsigned vrb_dev_ports(struct vrb_port *ports, unsigned max);

/* vrb_dev_text - the first line of the file @what in the sysfs folder of a port.
 * Returns whether there is one.
 */
bool vrb_dev_text(const struct vrb_port *port, const char *what, char *buf, size_t len);

/* vrb_dev_context - the open device called @dev.
 *
 * @ctx_p: [out] stays open as long as the process
 * Errors: -FI_ENODEV; -FI_ENOSYS and those of opening a device, logged.
 */
int vrb_dev_context(const char *dev, struct ibv_context **ctx_p);

/* vrb_dev_peer_memory - does a module of the kernel translate addresses of memory of @iface for RDMA
 * devices?
 */
bool vrb_dev_peer_memory(enum fi_hmem_iface iface);

/* vrb_dev_nic - describe the port behind an interface: an fi_nic that fi_close() frees.
 * vrb_dev_port_nic - describe a port; @iface: its interface, or NULL
 */
int vrb_dev_nic(const struct net_iface *iface, struct fid_nic **nic_p);
int vrb_dev_port_nic(const struct vrb_port *port, const struct net_iface *iface,
		     struct fid_nic **nic_p);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * info.h - offers of fi_getinfo(), and how the limits of a device narrow them.
 */
#ifndef VRB_INFO_H
#define VRB_INFO_H

#include "base/net_addr.h"
#include "info/check.h"
#include "dev.h"

/* The templates: connected endpoints, the same without remote access, datagram endpoints. */
extern const struct fi_info vrb_offer_msg, vrb_offer_send, vrb_offer_dgram;
extern struct info_limits vrb_limits;

/* vrb_info_narrow - narrow an offer to the limits of the device of a port. */
void vrb_info_narrow(struct fi_info *info, const struct vrb_port *port);

/* What is named by the GID of a port. */
enum vrb_gid_kind {
	VRB_GID_UD,		/* datagram endpoints, FI_ADDR_IB_UD */
	VRB_GID_SA,		/* connections on InfiniBand, FI_SOCKADDR_IB */
};

/* vrb_gid_wanted - do node or hints ask for this kind? */
bool vrb_gid_wanted(enum vrb_gid_kind which, const char *node, const struct fi_info *hints);

/* vrb_gid_ip - the IP address of a GID of a port; on InfiniBand any address of the port.
 * Errors: -FI_EADDRNOTAVAIL: there is none.
 */
int vrb_gid_ip(const struct vrb_port *port, const uint8_t *gid, union net_sa *sa_p);

/* vrb_gid_getinfo - the offers of this kind (device/gid_info.c).
 *
 * @all:   of all ports; else of ports without an IP address, and only if node, service and hints
 *         ask for no other kind
 * Errors: as info_getinfo().
 */
int vrb_gid_getinfo(enum vrb_gid_kind which, bool all, uint32_t version, const char *node,
		    const char *service, uint64_t flags, const struct fi_info *hints,
		    struct fi_info **info_p);

#endif

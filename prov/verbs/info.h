/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * info.h - offers, and what a device makes of them.
 */
#ifndef VRB_INFO_H
#define VRB_INFO_H

#include "base/net_addr.h"
#include "info/check.h"
#include "dev.h"

/* What is offered on the whole, to be narrowed; for endpoints of each kind. */
extern const struct fi_info vrb_offer_msg, vrb_offer_send, vrb_offer_dgram;
extern struct info_limits vrb_limits;

/* vrb_info_narrow - to what the device of a port can do. */
void vrb_info_narrow(struct fi_info *info, const struct vrb_port *port);

/* What is called by the GID of a port. */
enum vrb_gid_kind {
	VRB_GID_UD,		/* datagram endpoints, FI_ADDR_IB_UD */
	VRB_GID_SA,		/* connections on InfiniBand, FI_SOCKADDR_IB */
};

/* vrb_gid_wanted - does the call say that it is about this kind? */
bool vrb_gid_wanted(enum vrb_gid_kind which, const char *node, const struct fi_info *hints);

/* vrb_gid_ip - the IP address that goes with a GID of a port; on InfiniBand any of the port.
 * Errors: -FI_EADDRNOTAVAIL: there is none.
 */
int vrb_gid_ip(const struct vrb_port *port, const uint8_t *gid, union net_sa *sa_p);

/* vrb_gid_getinfo - the offers of this kind (device/gid_info.c).
 *
 * @all:   of all ports; else of those without an IP address, and only where nothing in the
 *         call says that it is about others
 * Errors: as info_getinfo().
 */
int vrb_gid_getinfo(enum vrb_gid_kind which, bool all, uint32_t version, const char *node,
		    const char *service, uint64_t flags, const struct fi_info *hints,
		    struct fi_info **info_p);

#endif

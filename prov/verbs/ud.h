/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * ud.h - datagram endpoints that are called by their queue pair (FI_ADDR_IB_UD).
 *
 * Such an address says all there is to know: the port, by its GID, the queue pair and its
 * key.  So nobody is asked, a port needs no IP address, and librdmacm has no part in it.
 */
#ifndef VRB_UD_H
#define VRB_UD_H

#include "base/ib_addr.h"
#include "dev.h"
#include "ep.h"

struct vrb_qp_addr;

/* One entry of the table of a port's addresses. */
struct vrb_gid {
	uint8_t raw[16];
	unsigned index;
};

struct vrb_ud {
	struct vrb_port port;
	struct vrb_gid gid;
	struct ib_ud name;		/* qpn is 0 before there is a queue pair */
	bool indexed;			/* FI_SOURCE: all entries of the av are known */
	bool source_err;
};

/* vrb_gid_pick - an address of a port.
 *
 * @to:    the one that is to be reached from there: then it is of the same kind (IPv4, link
 *         local, other); NULL: what others reach best, or FI_VERBS_GID_IDX
 * Errors: -FI_EADDRNOTAVAIL: the port has none (of that kind).
 */
int vrb_gid_pick(const struct vrb_port *port, const uint8_t *to, struct vrb_gid *gid_p);

/* vrb_gid_find - the entry with this address.   Errors: -FI_EADDRNOTAVAIL. */
int vrb_gid_find(const struct vrb_port *port, const uint8_t *gid, struct vrb_gid *gid_p);

/* vrb_ud_name - the address of a port, without a queue pair. */
void vrb_ud_name(const struct vrb_port *port, const struct vrb_gid *gid, struct ib_ud *name_p);

/* vrb_ud_open - what @ep is called, if its domain's addresses are of this kind; else NULL.
 * Ownership: the caller's, for free().
 * Errors:    -FI_EADDRNOTAVAIL: its address is of none of the domain's ports (logged);
 *            -FI_ENOMEM.
 */
int vrb_ud_open(struct vrb_ep *ep, struct vrb_ud **ud_p);

/* vrb_ud_qp - make a queue pair that is ready.  Errors: the device's, positive errno. */
int vrb_ud_qp(struct vrb_ep *ep, struct vrb_ud *ud, struct ibv_qp_init_attr_ex *attr,
	      struct ibv_qp **qp_p);

/* vrb_ud_ah - the way to a peer; waits where the system has to look for it.
 * Threading: needs no lock.
 * Errors:    -FI_EHOSTUNREACH: another partition, or no address that leads there; those
 *            of the device.  Logged.
 */
int vrb_ud_ah(struct vrb_ep *ep, const struct vrb_ud *ud, const struct ib_ud *to,
	       struct ibv_ah **ah_p);

/* vrb_ud_to_qp_addr, vrb_ud_from_qp_addr - what receives say of the place of an address, and back, with
 * the queue key and partition of our own.
 */
void vrb_ud_to_qp_addr(const struct vrb_ud *ud, const struct ib_ud *addr, struct vrb_qp_addr *at_p);
void vrb_ud_from_qp_addr(const struct vrb_ud *ud, const struct vrb_qp_addr *at, struct ib_ud *addr_p);

#endif

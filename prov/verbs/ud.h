/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * ud.h - datagram endpoints that are named by their queue pair (FI_ADDR_IB_UD).
 *
 * Such an address is complete: it has the GID of the port, the queue pair and its key.  There is
 * nothing to query, the port needs no IP address, and librdmacm is not used.
 */
#ifndef VRB_UD_H
#define VRB_UD_H

#include "base/ib_addr.h"
#include "dev.h"
#include "ep.h"

struct vrb_qp_addr;

/* One entry of the GID table of a port. */
struct vrb_gid {
	uint8_t raw[16];		/* network byte order */
	unsigned index;			/* in the table */
};

struct vrb_ud {
	struct vrb_port port;		/* that the endpoint uses */
	struct vrb_gid gid;		/* its own address there */
	struct ib_ud name;		/* qpn is 0 before there is a queue pair */
	bool indexed;			/* FI_SOURCE: all entries of the av are in dgram->sources */
	bool source_err;		/* FI_SOURCE_ERR */
};

/* vrb_gid_pick - choose a GID of a port.
 *
 * @to:    GID of the peer: one of the same kind is chosen (IPv4, link-local, other); NULL: the one
 *         with the widest reach, or FI_VERBS_GID_IDX
 * Errors: -FI_EADDRNOTAVAIL: the port has none (of that kind).
 */
int vrb_gid_pick(const struct vrb_port *port, const uint8_t *to, struct vrb_gid *gid_p);

/* vrb_gid_find - the entry with this GID.   Errors: -FI_EADDRNOTAVAIL. */
int vrb_gid_find(const struct vrb_port *port, const uint8_t *gid, struct vrb_gid *gid_p);

/* vrb_ud_name - the address of a port, with queue pair number 0. */
void vrb_ud_name(const struct vrb_port *port, const struct vrb_gid *gid, struct ib_ud *name_p);

/* vrb_ud_open - allocate the name of @ep if its domain has addresses of this kind; else NULL.
 * Ownership: the caller's, for free().
 * Errors:    -FI_EADDRNOTAVAIL: its address is of none of the domain's ports (logged);
 *            -FI_ENOMEM.
 */
int vrb_ud_open(struct vrb_ep *ep, struct vrb_ud **ud_p);

/* vrb_ud_qp - make a queue pair and move it to RTS.  Errors: the device's, positive errno. */
int vrb_ud_qp(struct vrb_ep *ep, struct vrb_ud *ud, struct ibv_qp_init_attr_ex *attr,
	      struct ibv_qp **qp_p);

/* vrb_ud_ah - make the address handle of a peer; may wait for neighbour discovery.
 * Threading: needs no lock.
 * Errors:    -FI_EHOSTUNREACH: another partition, or no GID of the peer's kind; those of the device.
 *            Logged.
 */
int vrb_ud_ah(struct vrb_ep *ep, const struct vrb_ud *ud, const struct ib_ud *to,
	       struct ibv_ah **ah_p);

/* vrb_ud_to_qp_addr - the source address that receives report for @addr.
 * vrb_ud_from_qp_addr - the reverse, with the queue key and partition of our own port.
 */
void vrb_ud_to_qp_addr(const struct vrb_ud *ud, const struct ib_ud *addr, struct vrb_qp_addr *at_p);
void vrb_ud_from_qp_addr(const struct vrb_ud *ud, const struct vrb_qp_addr *at, struct ib_ud *addr_p);

#endif

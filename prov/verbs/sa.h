/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * sa.h - the addresses by which connections are made: those of IP, and of an InfiniBand
 * port by itself (struct sockaddr_ib, FI_SOCKADDR_IB).
 *
 * librdmacm takes both.  All functions are pure; an address that was not made here passes
 * vrb_sa_copy() first, the others do not check the length of what they are given.
 */
#ifndef VRB_SA_H
#define VRB_SA_H

#include <endian.h>
#include <infiniband/ib.h>
#include <rdma/fi_errno.h>
#include <string.h>

#include "base/ib_addr.h"
#include "base/net_addr.h"

_Static_assert(sizeof(struct ib_sa) == sizeof(struct sockaddr_ib) &&
	       offsetof(struct ib_sa, gid) == offsetof(struct sockaddr_ib, sib_addr) &&
	       offsetof(struct ib_sa, sid) == offsetof(struct sockaddr_ib, sib_sid) &&
	       offsetof(struct ib_sa, sid_mask) == offsetof(struct sockaddr_ib, sib_sid_mask) &&
	       IB_SA_FAMILY == AF_IB, "struct ib_sa is laid out as the kernel's");

/* An address of a connection, of either kind. */
union vrb_sa {
	struct sockaddr sa;		/* sa_family says which */
	union net_sa ip;		/* AF_INET, AF_INET6 */
	struct ib_sa ib;		/* AF_IB */
};

#define VRB_SA_TEXT_MAX IB_ADDR_TEXT_MAX
_Static_assert(VRB_SA_TEXT_MAX >= NET_ADDR_TEXT_MAX, "room for either");

/* vrb_sa_len - bytes of the structure; 0 for a family that is none of these. */
static inline size_t vrb_sa_len(const struct sockaddr *sa)
{
	return sa->sa_family == AF_IB ? sizeof(struct ib_sa) : net_addr_len(sa);
}

/* vrb_sa_copy - validate and copy an address of @len bytes, which may be unaligned.
 * Errors: -FI_EINVAL: too short, or of another family; *out is as before.
 */
static inline int vrb_sa_copy(const void *addr, size_t len, union vrb_sa *out)
{
	sa_family_t family = AF_UNSPEC;

	if (addr && len >= sizeof(family))
		memcpy(&family, addr, sizeof(family));
	if (family != AF_IB)
		return net_addr_copy(addr, len, &out->ip);
	if (len < sizeof(out->ib))
		return -FI_EINVAL;
	memcpy(&out->ib, addr, sizeof(out->ib));
	return 0;
}

/* vrb_sa_port - the port number, host byte order; on InfiniBand the end of the service number. */
static inline uint16_t vrb_sa_port(const struct sockaddr *sa)
{
	return sa->sa_family == AF_IB ? (uint16_t) be64toh(((const struct ib_sa *) sa)->sid) :
					net_addr_port(sa);
}

/* vrb_sa_set_port - set the port number; on InfiniBand it is the end of the service number. */
static inline void vrb_sa_set_port(struct sockaddr *sa, uint16_t port)
{
	if (sa->sa_family == AF_IB)
		ib_sa_set_port((struct ib_sa *) sa, port);
	else
		net_addr_set_port(sa, port);
}

/* vrb_sa_text - an address for the log.
 * @buf: VRB_SA_TEXT_MAX bytes
 * Returns @buf.
 */
static inline char *vrb_sa_text(const struct sockaddr *sa, char *buf)
{
	return sa->sa_family == AF_IB ? ib_sa_text(sa, buf) : net_addr_text(sa, buf);
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * ib_addr.h - addresses without IP: of an InfiniBand datagram queue pair (FI_ADDR_IB_UD)
 * and of a service at an InfiniBand port (FI_SOCKADDR_IB); checked, and as text.
 *
 * The layout of the first is this library's (fi_verbs(7)), that of the second the
 * kernel's struct sockaddr_ib.  Numbers are in network byte order.  Addresses may come from
 * a peer and lie anywhere: what takes one here reads it byte by byte.
 */
#ifndef BASE_IB_ADDR_H
#define BASE_IB_ADDR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ib_ud {
	uint8_t gid[16];	/* of the port */
	uint32_t qpn;		/* queue pair, 24 bits; 0: none yet */
	uint32_t qkey;
	uint16_t lid;		/* of the port within its subnet; 0: no InfiniBand */
	uint16_t pkey;		/* partition */
	uint8_t sl;		/* service level, 4 bits */
	uint8_t zero;
	uint16_t service;	/* IP port at which its process tells of it; 0: it does not */
};
_Static_assert(sizeof(struct ib_ud) == 32, "the size of FI_ADDR_IB_UD");

#define IB_SA_FAMILY 27		/* AF_IB */

struct ib_sa {
	uint16_t family;	/* IB_SA_FAMILY, in host order */
	uint16_t pkey;
	uint32_t flowinfo;
	uint8_t gid[16];
	uint64_t sid;		/* service */
	uint64_t sid_mask;	/* bits of it that count */
	uint64_t scope_id;	/* in host order */
};
_Static_assert(sizeof(struct ib_sa) == 48, "the size of struct sockaddr_ib");

/* Services that stand for port numbers, as connections over IP have them: the last 16 bits
 * of the service are the port.
 */
#define IB_SID_TCP UINT64_C(0x0000000001060000)

/* Enough for either text, NUL included. */
#define IB_ADDR_TEXT_MAX 128

/* ib_ud_wrong, ib_sa_wrong - why this cannot be the address of a peer; NULL: it can.
 * @len: bytes there are
 */
const char *ib_ud_wrong(const void *addr, size_t len);
const char *ib_sa_wrong(const void *addr, size_t len);

/* ib_gid_wrong - why no port can have this gid; NULL: one can. */
const char *ib_gid_wrong(const void *gid);

/* ib_ud_text - fi_addr_ib_ud://[GID]:QPN/QKEY/LID/SL/PKEY, and ?service=PORT if it has one.
 * ib_sa_text - fi_sockaddr_ib://[GID]:PORT/PKEY, or 0xSID for a service without port.
 * @buf: IB_ADDR_TEXT_MAX bytes.   Returns @buf.
 */
char *ib_ud_text(const void *addr, char *buf);
char *ib_sa_text(const void *addr, char *buf);

/* ib_ud_parse, ib_sa_parse - read such a text.  What stands behind the GID may be left
 * out from the end: queue key and partition are then the usual ones, the rest 0.
 * Errors: -FI_ENODATA: text of another kind.  -FI_EINVAL: it is malformed.
 */
int ib_ud_parse(const char *text, struct ib_ud *out);
int ib_sa_parse(const char *text, struct ib_sa *out);

/* ib_sa_set_port - another port of the same space; 0: the system chooses. */
void ib_sa_set_port(struct ib_sa *sa, uint16_t port);

#define IB_UD_QKEY 0x01234567u	/* the usual one: that of librdmacm's datagrams */
#define IB_PKEY 0xffffu		/* the partition that all are members of */

#endif

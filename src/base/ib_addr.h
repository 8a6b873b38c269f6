/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * ib_addr.h - addresses that are not IP addresses, checked and as text: of an InfiniBand
 * datagram queue pair (FI_ADDR_IB_UD) and of a service at an InfiniBand port (FI_SOCKADDR_IB).
 *
 * The layout of the first is this library's (fi_verbs(7)); that of the second is the kernel's
 * struct sockaddr_ib.  Numbers are in network byte order.  Addresses may come from a peer and
 * may be unaligned: the functions read them byte by byte.
 */
#ifndef BASE_IB_ADDR_H
#define BASE_IB_ADDR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ib_ud {
	uint8_t gid[16];	/* of the port */
	uint32_t qpn;		/* queue pair number, 24 bits; 0: none yet */
	uint32_t qkey;
	uint16_t lid;		/* of the port within its subnet; 0: not InfiniBand */
	uint16_t pkey;		/* partition key */
	uint8_t sl;		/* service level, 4 bits */
	uint8_t zero;
	uint16_t service;	/* IP port at which the process answers address queries; 0: it does
				 * not */
};
_Static_assert(sizeof(struct ib_ud) == 32, "the size of FI_ADDR_IB_UD");

#define IB_SA_FAMILY 27		/* AF_IB */

struct ib_sa {
	uint16_t family;	/* IB_SA_FAMILY, in host order */
	uint16_t pkey;
	uint32_t flowinfo;
	uint8_t gid[16];
	uint64_t sid;		/* service ID */
	uint64_t sid_mask;	/* significant bits of @sid */
	uint64_t scope_id;	/* in host order */
};
_Static_assert(sizeof(struct ib_sa) == 48, "the size of struct sockaddr_ib");

/* Service IDs that stand for port numbers, as for connections over IP: the last 16 bits of the
 * service ID are the port.
 */
#define IB_SID_TCP UINT64_C(0x0000000001060000)

/* Size that holds either text, NUL included. */
#define IB_ADDR_TEXT_MAX 128

/* ib_ud_wrong, ib_sa_wrong - the reason why this is not the address of a peer, or NULL.
 * @len: readable bytes at @addr
 */
const char *ib_ud_wrong(const void *addr, size_t len);
const char *ib_sa_wrong(const void *addr, size_t len);

/* ib_gid_wrong - the reason why @gid is not the GID of a port, or NULL. */
const char *ib_gid_wrong(const void *gid);

/* ib_ud_text - fi_addr_ib_ud://[GID]:QPN/QKEY/LID/SL/PKEY, and ?service=PORT if it has one.
 * ib_sa_text - fi_sockaddr_ib://[GID]:PORT/PKEY, or 0xSID for a service without port.
 * @buf: IB_ADDR_TEXT_MAX bytes.   Returns @buf.
 */
char *ib_ud_text(const void *addr, char *buf);
char *ib_sa_text(const void *addr, char *buf);

/* ib_ud_parse, ib_sa_parse - parse such a text.  Fields behind the GID may be left out from the
 * end: the queue key and the partition key then get their defaults, the others 0.
 * Errors: -FI_ENODATA: text of another format.  -FI_EINVAL: malformed.
 */
int ib_ud_parse(const char *text, struct ib_ud *out);
int ib_sa_parse(const char *text, struct ib_sa *out);

/* ib_sa_set_port - set another port of the same port space; 0: the system chooses. */
void ib_sa_set_port(struct ib_sa *sa, uint16_t port);

#define IB_UD_QKEY 0x01234567u	/* default: the queue key of librdmacm's datagrams */
#define IB_PKEY 0xffffu		/* default partition: all ports are members of it */

#endif

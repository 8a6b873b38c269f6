/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * sealed.h - datagrams of protected endpoints, which have a version of their own: no other takes them.
 *
 * In the clear are the handshake, HELLO, RETRY and REFUSE of wire.h, and
 *
 *   SHAKE    struct rxd_shake, bytes            of TLS 1.3, as a stream in each direction
 *   PROBE    of wire.h                          of a connection whose peer is silent
 *   RESET    struct rxd_sealed_reset            it does not have the connection (secure/reset.c)
 *
 * HELLO with a cookie has the first bytes of that stream in place of private data.  All other datagrams, HELLO
 * and WELCOME that both sides believe among them, are sealed:
 *
 *   header (24 bytes)   of wire.h: flags with RXD_F_SEALED, perhaps RXD_F_PHASE; in place of the checksum the
 *                       low 32 bits of the datagram's number; associated data
 *   body                at the level encrypt sealed; at auth the plain bytes, associated data
 *   tag (16 bytes)
 *
 * The number, 64 bits from 0, is that of a datagram, under all keys of one direction: none is used twice, whatever
 * the datagram has in it.  The number in the header's @pn is that of a packet to be acknowledged, as without
 * protection.  RXD_F_PHASE changes with each key.
 */
#ifndef RXD_SEALED_H
#define RXD_SEALED_H

#include <stddef.h>
#include <stdint.h>

#define RXD_SEALED_VERSION 5
#define RXD_SEALED_OLDEST 5
#define RXD_SHAKE 10		/* enum rxd_type */
#define RXD_SHAKE_MAX 896	/* bytes in one */
#define RXD_F_PHASE 0x20
#define RXD_F_SEALED 0x40
#define RXD_TAG_SIZE 16

struct rxd_shake {
	uint64_t cid;		/* the sender's id of the connection */
	uint32_t off;		/* of the first byte in the sender's stream */
	uint32_t ack;		/* so many bytes of the receiver's stream have come, without a gap */
};

#define RXD_TOKEN_SIZE 16

struct rxd_sealed_reset {
	uint64_t unknown;	/* the id in PROBE, which the sender of this does not have */
	uint8_t token[RXD_TOKEN_SIZE];
};

_Static_assert(sizeof(struct rxd_sealed_reset) == 24, "wire layout");
_Static_assert(sizeof(struct rxd_shake) == 16, "wire layout");

#endif

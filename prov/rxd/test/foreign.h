/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * foreign.h - what a receiver of the published protocol of FI_PROTO_RXD does with a datagram.
 *
 * A program of another library may have an endpoint of provider ofi_rxd at an address to
 * which one of ours connects.  The base header of its packets: version (1 byte, 2), type (1),
 * flags (2), the receiver's number of the peer (4), sequence number (8).  The version is
 * checked in RTS (9) and CTS (10) alone; every other type uses the number as an index,
 * unchecked.  So only an RTS or CTS of another version does no harm.
 */
#ifndef RXD_FOREIGN_H
#define RXD_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FOREIGN_VERSION 2
#define FOREIGN_HDR_SIZE 16
#define FOREIGN_RTS 9
#define FOREIGN_CTS 10

/* foreign_discards - is the datagram dropped before any other field of it is used? */
static inline bool foreign_discards(const uint8_t *buf, size_t len)
{
	return len >= FOREIGN_HDR_SIZE && (buf[1] == FOREIGN_RTS || buf[1] == FOREIGN_CTS) &&
	       buf[0] != FOREIGN_VERSION;
}

#endif

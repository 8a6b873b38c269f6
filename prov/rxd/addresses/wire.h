/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * wire.h - rails: what is said of further addresses of the two ends of a connection.
 *
 * All numbers are little endian, the IP address is in network order.  HELLO (with a cookie) and WELCOME of an RDM
 * endpoint that has rails have a struct rxd_wire_list as private data, which others ignore: a peer whose handshake has
 * none keeps to one path.  Where both have said it:
 *
 *   ASK      struct rxd_wire_rail   to a listed address: is the peer there?
 *   ANSWER   struct rxd_wire_rail   it is: the hash of the nonce in ASK; and are you?
 *   PROOF    struct rxd_wire_rail   the hash of the nonce in ANSWER
 *
 * The hash is siphash() under the key that the receiver has listed, so only the end of the connection can make it.
 * All three have the same length.  ASK has the id by which the receiver knows the connection, the others the id of the
 * path that their receiver has chosen.  DATA on the path has that id, and packet numbers of the path's own; its offsets
 * are those of the connection's stream, and so is the limit in its ACKs.
 *
 * Where both have listed addresses, the frame that ends a stream has in the place of the payload's length how many bytes
 * of the receiver's stream have come, modulo 2^48.
 */
#ifndef RXD_ADDRESSES_WIRE_H
#define RXD_ADDRESSES_WIRE_H

#include <stddef.h>
#include <stdint.h>

#define RXD_RAILS_VERSION 1
#define RXD_RAILS_OLDEST 1
#define RXD_RAILS_MARK 0x6c696172
#define RXD_RAIL_ASK 11		/* enum rxd_type */
#define RXD_RAIL_ANSWER 12
#define RXD_RAIL_PROOF 13
#define RXD_RAILS_LIST 8

/* Where the sender is reached, too. */
struct rxd_wire_addr {
	uint8_t family;		/* 4 or 6; 0: none */
	uint8_t zero;
	uint16_t port;
	uint8_t ip[16];		/* 4 or 16 bytes used, the rest 0 */
};

struct rxd_wire_list {
	uint32_t mark;
	uint8_t version;	/* the newest that the sender speaks */
	uint8_t oldest;
	uint8_t cnt;		/* entries used; the others are 0 */
	uint8_t zero;
	uint64_t key[2];	/* of the hashes that prove the receiver's addresses */
	struct rxd_wire_addr addr[RXD_RAILS_LIST];
};

struct rxd_wire_rail {
	uint64_t cid;		/* the sender's id of the path */
	uint64_t nonce;		/* ASK, ANSWER: to be hashed; else 0 */
	uint64_t hash;		/* ANSWER, PROOF; else 0 */
	uint8_t from, to;	/* entries of the sender's list and the receiver's, between which the path is */
	uint8_t zero[6];
};

_Static_assert(sizeof(struct rxd_wire_addr) == 20, "wire layout");
_Static_assert(sizeof(struct rxd_wire_list) == 184, "wire layout");
_Static_assert(sizeof(struct rxd_wire_rail) == 32, "wire layout");

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * packet.h - the compatible wire format: packets of FI_PROTO_RXM, version 1.
 *
 * One packet is one message of the endpoint below.  Numbers are in host order, which both hosts
 * share (cm.h), except for two of an atomic response.
 *
 *   0   control version   1  type           2  bytes in this packet (SEG)
 *   4   number (SEG)      8  connection     16 message
 *   24  place (SEG), count (CREDIT)
 *   32  operation version 34 operation      36 flags
 *   40  length of the message, or of what is behind the header (ATOMIC, ATOMIC_RESPONSE)
 *   48  completion data   56 tag; or datatype, operation, number of ranges
 *   64  by type:
 *
 *   EAGER          the message
 *   SEG            a piece of it
 *   RNDV           list of the sender's memory
 *   ATOMIC         list of ranges, operands
 *   ATOMIC_RESPONSE  status, bytes of the result, the result
 *   WRITE_OFFER    list of the receiver's memory
 *   others         nothing
 *
 * Fields that a type does not use have any value when they come, and are 0 when they go.
 *
 * Over tcp, releases 1.13 to 1.17 of other implementations send tagged messages without this header.
 * The provider tcp delivers them with a struct net_tagged in front (net/opt.h): EAGER without a
 * connection.  They are never sent.
 */
#ifndef FOREIGN_RXMF_PACKET_H
#define FOREIGN_RXMF_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/wire.h"

#define RXMF_PACKET_HDR 64
#define RXMF_PACKET_SEGS 4	/* entries of a list */
#define RXMF_PACKET_LIST 96	/* bytes of a list of ranges; one of memory has 8 more */

enum rxmf_packet_type {
	RXMF_PACKET_EAGER,		/* a whole message */
	RXMF_PACKET_SEG,			/* a piece of one; pieces come in order, other packets between */
	RXMF_PACKET_RNDV,		/* a message is announced */
	RXMF_PACKET_READ_DONE,		/* the receiver has read it */
	RXMF_PACKET_ATOMIC,
	RXMF_PACKET_ATOMIC_RESPONSE,
	RXMF_PACKET_CREDIT,
	RXMF_PACKET_WRITE_OFFER,		/* the sender of RNDV shall write it */
	RXMF_PACKET_WRITE_DONE,		/* it has */
	RXMF_PACKET_TYPES
};

enum rxmf_packet_op {
	RXMF_OP_MSG = 0,
	RXMF_OP_TAGGED = 1,
	RXMF_OP_ATOMIC = 6,		/* nothing comes back but a status */
	RXMF_OP_ATOMIC_FETCH = 7,
	RXMF_OP_ATOMIC_COMPARE = 8,	/* comparands are behind the operands */
};

/* SEG: which piece. */
enum rxmf_packet_place {
	RXMF_PLACE_FIRST = 1,
	RXMF_PLACE_MIDDLE,
	RXMF_PLACE_LAST,
};

struct rxmf_packet {
	enum rxmf_packet_type type;
	enum rxmf_packet_op op;		/* EAGER, SEG, RNDV, ATOMIC, ATOMIC_RESPONSE */
	uint32_t conn_id;		/* that the receiver gave */
	uint64_t msg_id;		/* of the exchange, by the side that began it; EAGER, CREDIT: 0 */
	uint64_t len;			/* EAGER, SEG, RNDV: of the whole message */
	bool has_data;			/* the same types: @data is in use */
	uint64_t data, tag;
	uint32_t seg_no;		/* SEG, from 0 */
	enum rxmf_packet_place place;	/* SEG */
	uint64_t credits;		/* CREDIT */
	uint8_t datatype, amo;		/* ATOMIC, ATOMIC_RESPONSE: enum fi_datatype, enum fi_op */
	unsigned segs;			/* RNDV, WRITE_OFFER: entries; ATOMIC: ranges */
	struct wire_rma seg[RXMF_PACKET_SEGS];	/* ATOMIC: len is a number of elements */
	uint32_t err;			/* ATOMIC_RESPONSE: positive FI_E*, or 0 */
	/* Behind the header and list: EAGER, SEG: of the message; ATOMIC: operands;
	 * ATOMIC_RESPONSE: the result.
	 */
	const uint8_t *payload;
	size_t payload_len;
};

/* rxmf_packet_parse - the validator of a packet: decode it.
 *
 * @limit: eager limit of the connection
 * @out:   [out] valid on NULL only; fields of other types are 0; payload points into @buf
 *
 * Returns NULL, or what is wrong.  Whether a connection, message or key exists is checked where it is
 * looked up, and the length of operands by rxmf_packet_operands().
 */
const char *rxmf_packet_parse(const uint8_t *buf, size_t len, size_t limit, struct rxmf_packet *out);

/* rxmf_packet_put - encode the header of @pkt, and its list; payload is not copied.
 * @out: RXMF_PACKET_HDR + RXMF_PACKET_LIST + 8 bytes.   Returns the bytes before the payload.
 */
size_t rxmf_packet_put(uint8_t *out, const struct rxmf_packet *pkt);

/* rxmf_packet_room - the longest packet, for receive buffers. */
static inline size_t rxmf_packet_room(size_t limit)
{
	return RXMF_PACKET_HDR + limit;
}

/* rxmf_packet_operands - do the operands of the ATOMIC @pkt have the right length?
 * @size: of its datatype
 */
bool rxmf_packet_operands(const struct rxmf_packet *pkt, size_t size);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * wire.h - the wire formats of a datagram.
 *
 * FI_PROTO_UDP: the payload is the message, nothing else.
 *
 * NET_PROTO_UDP_FRAMED, on request: a header before the payload.
 *
 *   0      4       5       6        8              16
 *   | mark | vers. | flags | length | CQ data       | payload ...
 *
 * One message is one datagram in both.  All fields of the header are in network byte order.  The header has one fixed
 * size, with or without CQ data, because a receive scatters header and payload before the
 * header has been read.
 */
#ifndef UDP_WIRE_H
#define UDP_WIRE_H

#include <arpa/inet.h>
#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The first two bytes also make an endpoint of another library drop the datagram: one of provider
 * ofi_rxd, which has no header of its provider udp before its own, takes them for version and type
 * of a packet, and checks the version in types 9 and 10 alone (rxd/wire.h).
 */
#define UDP_WIRE_MARK UINT32_C(0x0f096772)
#define UDP_WIRE_VERSION 1

#define UDP_WIRE_DATA 0x01	/* flags: the CQ data field is in use */
#define UDP_WIRE_FLAGS (UDP_WIRE_DATA)

struct udp_hdr {
	uint32_t mark;		/* UDP_WIRE_MARK */
	uint8_t version;	/* UDP_WIRE_VERSION */
	uint8_t flags;		/* UDP_WIRE_* */
	uint16_t len;		/* bytes of payload behind the header */
	uint64_t data;		/* CQ data, 0 without UDP_WIRE_DATA */
};
_Static_assert(sizeof(struct udp_hdr) == 16, "no holes on the wire");
_Static_assert(offsetof(struct udp_hdr, data) == 8, "no holes on the wire");

/* Largest datagrams: the longest IP packet, less the headers of IPv4 or IPv6 and of UDP. */
#define UDP_WIRE_MAX4 ((size_t) 65535 - 20 - 8)
#define UDP_WIRE_MAX6 ((size_t) 65535 - 8)

/* Why a datagram is not a valid message.  UDP_WIRE_OK is 0. */
enum udp_wire {
	UDP_WIRE_OK,
	UDP_WIRE_SHORT,		/* shorter than a header */
	UDP_WIRE_FOREIGN,	/* another mark: not from this library */
	UDP_WIRE_OTHER_VERSION,	/* from this library, but another version of the format */
	UDP_WIRE_BAD_FLAGS,	/* bits that this version does not define */
	UDP_WIRE_BAD_LEN,	/* the length field and the datagram's length differ */
	UDP_WIRE_BAD_DATA,	/* CQ data without UDP_WIRE_DATA */
	UDP_WIRE_CNT,
};

/* udp_wire_fill - write the header of a message.
 *
 * @len:   payload bytes, at most UDP_WIRE_MAX6 less the header
 * @flags: UDP_WIRE_*
 * @data:  CQ data, host order; 0 without UDP_WIRE_DATA
 */
static inline void udp_wire_fill(struct udp_hdr *hdr, size_t len, uint8_t flags, uint64_t data)
{
	hdr->mark = htonl(UDP_WIRE_MARK);
	hdr->version = UDP_WIRE_VERSION;
	hdr->flags = flags;
	hdr->len = htons((uint16_t) len);
	hdr->data = htobe64(data);
}

/* udp_wire_fault - the reason why a datagram is not valid, or UDP_WIRE_OK.  Slow path of
 * udp_wire_check().
 */
enum udp_wire udp_wire_fault(const struct udp_hdr *hdr, size_t len);

/* udp_wire_check - the validator for datagrams received by a framed endpoint: no code reads a
 * header that has not passed it.
 *
 * @hdr: the first bytes of the datagram, as many as there are
 * @len: length of the whole datagram, header included, also when it did not fit into the
 *       receive buffer
 */
static inline enum udp_wire udp_wire_check(const struct udp_hdr *hdr, size_t len)
{
	struct udp_hdr want;

	if (__builtin_expect(len - sizeof(want) > UINT16_MAX, 0))	/* also: too short */
		return udp_wire_fault(hdr, len);
	/* fast path: a valid datagram without CQ data */
	udp_wire_fill(&want, len - sizeof(want), 0, 0);
	return memcmp(hdr, &want, sizeof(want)) ? udp_wire_fault(hdr, len) : UDP_WIRE_OK;
}

/* udp_wire_text - a verdict as text, for the log. */
const char *udp_wire_text(enum udp_wire verdict);

#endif

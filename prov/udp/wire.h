/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * wire.h - what a datagram of ours looks like.
 *
 *	 0      4       5       6        8              16
 *	 | mark | vers. | flags | length | CQ data       | payload ...
 *
 * One message is one datagram.  All fields are in network byte order.  The
 * header has one fixed size, with or without CQ data, because a receive
 * scatters header and payload to their places before anybody has seen either.
 */
#ifndef UDP_WIRE_H
#define UDP_WIRE_H

#include <arpa/inet.h>
#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define UDP_WIRE_MARK UINT32_C(0x0f1d6772)
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

/* Largest payloads: what IP can carry, less the headers of IPv4 or IPv6, of UDP, and ours. */
#define UDP_WIRE_MAX4 (65535 - 20 - 8 - sizeof(struct udp_hdr))
#define UDP_WIRE_MAX6 (65535 - 8 - sizeof(struct udp_hdr))

/* Why a datagram is not one of ours.  UDP_WIRE_OK is 0. */
enum udp_wire {
	UDP_WIRE_OK,
	UDP_WIRE_SHORT,		/* no room for a header */
	UDP_WIRE_FOREIGN,	/* another mark */
	UDP_WIRE_OTHER_VERSION,	/* ours, but of a version that we do not speak */
	UDP_WIRE_BAD_FLAGS,	/* bits that this version does not define */
	UDP_WIRE_BAD_LEN,	/* length and datagram disagree */
	UDP_WIRE_BAD_DATA,	/* CQ data where the flags deny it */
	UDP_WIRE_CNT,
};

/* udp_wire_fill - write the header of a message.
 *
 * @len:   payload bytes, at most UDP_WIRE_MAX6
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

/* udp_wire_fault - what is wrong with a datagram; UDP_WIRE_OK: nothing. */
enum udp_wire udp_wire_fault(const struct udp_hdr *hdr, size_t len);

/* udp_wire_check - the one gate for what the network delivers: nothing reads a
 * header that has not passed it.
 *
 * @hdr: the first bytes of the datagram, as many as there are
 * @len: bytes of the whole datagram, header included, whether or not they fitted
 *       the receive buffer
 */
static inline enum udp_wire udp_wire_check(const struct udp_hdr *hdr, size_t len)
{
	struct udp_hdr want;

	if (__builtin_expect(len - sizeof(want) > UINT16_MAX, 0))	/* also: too short */
		return udp_wire_fault(hdr, len);
	/* what nearly every datagram is: no CQ data, and right */
	udp_wire_fill(&want, len - sizeof(want), 0, 0);
	return memcmp(hdr, &want, sizeof(want)) ? udp_wire_fault(hdr, len) : UDP_WIRE_OK;
}

/* udp_wire_text - a verdict in words, for the log. */
const char *udp_wire_text(enum udp_wire verdict);

#endif

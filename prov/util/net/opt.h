/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * opt.h - what endpoints do for the provider above them: protocols that it asks for in hints, and
 * options, set by fi_setopt() with FI_OPT_ENDPOINT.
 */
#ifndef NET_OPT_H
#define NET_OPT_H

#include <rdma/fi_endpoint.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * NET_PROTO_UDP_FRAMED - udp: ep_attr->protocol of endpoints whose datagrams have a header (udp/wire.h).
 * In hints it asks for such an endpoint.  Bit 31: a protocol of one provider, which has no name.
 * Source: fi_endpoint(3)
 */
#define NET_PROTO_UDP_FRAMED UINT32_C(0x800000d9)

/*
 * NET_PROTO_TCP_TAGS - tcp: the same for connected endpoints that rxm speaks FI_PROTO_RXM over.
 *
 * Releases 1.13 to 1.17 of other implementations leave rxm's header out of most tagged messages; the
 * header of tcp has the tag and the completion data.  Such a message arrives as one that begins with
 * a struct net_tagged, whose first byte is none of rxm's header.
 */
#define NET_PROTO_TCP_TAGS UINT32_C(0x800000da)

/* net_has_tags - is NET_PROTO_TCP_TAGS to be had of the endpoint of an answer, instead of the protocol
 * that @attr has?  Version 0 of the format has the tag in its header.
 */
static inline bool net_has_tags(const struct fi_ep_attr *attr)
{
	return attr->protocol == FI_PROTO_SOCK_TCP && !attr->protocol_version;
}

struct net_tagged {
	uint8_t zero;
	uint8_t has_data;
	uint8_t unused[6];
	uint64_t data, tag;
};
_Static_assert(sizeof(struct net_tagged) == 24, "no longer than the header whose place it takes");

/*
 * NET_OPT_TRAINS - udp, framed: an int, before fi_enable(); 1: bursts are sent as trains.
 *
 * Datagrams of one length in a burst (FI_MORE) pass the system as one message (UDP_SEGMENT).
 * Datagrams of one length that arrive together are received by one call (UDP_GRO), into a
 * multi-receive buffer, each with a completion.  No datagram is fragmented: one that is too
 * long for the interface fails with FI_EMSGSIZE.  The sender of a burst must end it (a send
 * without FI_MORE) before a thread blocks.
 *
 * All receives must then be multi-receive buffers, and FI_OPT_MIN_MULTI_RECV at least
 * NET_TRAIN_MAX.
 */
#define NET_OPT_TRAINS (-(0x0d9 << 16))

#define NET_TRAIN_MAX 65536	/* bytes of a train */

/*
 * NET_OPT_ECN - udp: an int, after NET_OPT_TRAINS: a codepoint NET_ECN_* for all datagrams sent
 * from now on.  May be set again at any time.
 *
 * Set before fi_enable(), to any codepoint, it also puts the codepoint of a received datagram
 * into the data field of its completion, unless the completion has FI_REMOTE_CQ_DATA.
 *
 * Source: RFC 3168 section 5.
 */
#define NET_OPT_ECN (-(0x0da << 16))

/*
 * NET_OPT_SOURCE - udp: an int, after NET_OPT_TRAINS, before fi_enable(); 1: the data field of
 * the completion of a receive without FI_REMOTE_CQ_DATA also contains, from bit
 * NET_SOURCE_SHIFT on, a number of the datagram's source address: never 0, and constant for an
 * address.
 *
 * NET_OPT_SOURCE_ADDR - udp: fi_getopt() of a struct net_source with the number of a recent
 * datagram returns the address.
 * Errors: -FI_ENOENT, too many other sources have been seen since.
 */
#define NET_OPT_SOURCE (-(0x0db << 16))
#define NET_OPT_SOURCE_ADDR (-(0x0dc << 16))
#define NET_SOURCE_SHIFT 2

struct net_source {
	uint64_t number;	/* [in] */
	size_t len;		/* [out] of the address, in the endpoint's address format */
	uint8_t addr[64];
};

/*
 * NET_OPT_ASK - udp, framed: is there a socket at an address?
 *
 * fi_setopt() of a struct net_ask sends its bytes there, as a datagram from a socket of its own.
 * fi_getopt() of one returns what was sent there and answered by "port unreachable": the system at
 * that address has no such socket.  An answer quotes what it answers, so bytes that no other
 * host knows prove that its sender has got the datagram.
 * Errors: fi_getopt(): -FI_EAGAIN: no more answers.  Of others fi_setopt() sends nothing.
 *
 * Source: RFC 792 "Destination Unreachable Message", RFC 4443 section 3.1.
 */
#define NET_OPT_ASK (-(0x0dd << 16))
#define NET_ASK_MAX 128

struct net_ask {
	uint8_t addr[64];	/* [in] where, in the endpoint's address format */
	size_t len;		/* bytes of @data, at most NET_ASK_MAX */
	uint8_t data[NET_ASK_MAX];
};

/*
 * NET_OPT_STAGED - fi_getopt() of a const _Atomic bool *, after fi_enable(): true while something that an
 * endpoint of the same completion queue has sent, whose completion may have been written, leaves with the next
 * read of that queue.  Valid until the queue is closed.
 */
#define NET_OPT_STAGED (-(0x0de << 16))

/*
 * NET_OPT_DEVICE - udp: fi_setopt() of the name of an interface: what is sent goes by it, and nothing else arrives, also
 * where another one is in the same network.
 * Errors: -FI_EINVAL: no name; -FI_ENODEV; -FI_EPERM: the system does not permit that.
 */
#define NET_OPT_DEVICE (-(0x0df << 16))

#define NET_ECN_NOT 0		/* Not-ECT: the transport does not support ECN */
#define NET_ECN_ECT0 2		/* ECT(0): it does */
#define NET_ECN_CE 3		/* CE: congestion experienced */
#define NET_ECN_MASK 3

#endif

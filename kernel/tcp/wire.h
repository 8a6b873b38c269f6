/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/*
 * wire.h - the bytes of the published tcp protocol, version 3.
 *
 * Each direction of a connection is one connection message, then frames. A frame is a header
 * of 16 bytes, optional words of 8 bytes, and payload. The byte order of frames is that of the
 * hosts where it is the same, else big endian.
 */
#ifndef KOFI_TCP_WIRE_H
#define KOFI_TCP_WIRE_H

#include <linux/build_bug.h>
#include <linux/types.h>

#define WIRE_VERSION		3

/* ---- connection message ---- */

#define WIRE_CM_DATA_MAX	256
#define WIRE_CM_REQUEST		0
#define WIRE_CM_RESPONSE	1
#define WIRE_CM_REFUSAL		6
#define WIRE_MAGIC		"\xfa" "brp"	/* speaks this format alone */
#define WIRE_MAGIC_NATIVE	"\xfa" "bri"

struct wire_cm {
	u8	version;
	u8	type;		/* WIRE_CM_ */
	__be16	len;		/* of the private data that follows */
	u8	magic[4];	/* bytes that other implementations ignore: WIRE_MAGIC, or that */
	u8	link[2];	/* ... of the library's native format, with its versions; 0 */
	u8	engine_oldest;	/* of the engine's packets */
	u8	engine;
	u8	packets;	/* 1: WIRE_PACKET is understood */
	u8	zero[11];
	u64	mark;		/* 1 in the sender's byte order; 0 in a refusal */
};
static_assert(sizeof(struct wire_cm) == 32);

/* Private data of RDM endpoints. */
struct wire_rdm {
	u8	version;	/* 0: no rendezvous */
	u8	features;
	__be16	port;		/* of the connecting endpoint's listener */
	__be32	pid;		/* tells a peer that was restarted; not 0 */
};
static_assert(sizeof(struct wire_rdm) == 8);

/* ---- frames ---- */

enum wire_op {
	WIRE_MSG,		/* with op_data WIRE_ACK: an acknowledgement */
	WIRE_TAGGED,
	WIRE_READ_REQ,
	WIRE_READ_RSP,
	WIRE_WRITE,
	WIRE_PACKET = 8		/* not published: holds a packet of the library's engine (packet.h) */
};

#define WIRE_ACK		2	/* op_data */
#define WIRE_F_DATA		0x0001	/* a word of remote data is present */
#define WIRE_F_ACK		0x0004	/* acknowledge when the payload has been taken */
#define WIRE_F_COMMIT		0x0008	/* the same, when it is durable */
#define WIRE_RANGES_MAX		4
#define WIRE_HDR_MAX		248

struct wire_hdr {
	u8	version;
	u8	op;		/* WIRE_ */
	u16	flags;		/* WIRE_F_ */
	u8	op_data;
	u8	ranges;		/* of remote memory, of reads and writes */
	u8	hdr_len;	/* with the words that follow */
	u8	seq;		/* counts frames; receivers ignore it */
	u64	len;		/* of header and payload */
};
static_assert(sizeof(struct wire_hdr) == 16);

/*
 * A frame WIRE_PACKET, between this library and the kernel modules: behind the 16 bytes, of which
 * flags, op_data and ranges are 0, the header of the packet in little endian; then its payload.
 * hdr_len counts both headers. It holds ATOMIC, or its answer: DATA, ACK, NACK.
 */

/* A range of remote memory. */
struct wire_range {
	u64	addr;
	u64	len;
	u64	key;
};
static_assert(sizeof(struct wire_range) == 24);

#endif /* KOFI_TCP_WIRE_H */

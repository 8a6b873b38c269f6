/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * wire.h - every byte that goes over a tcp connection, and every limit.
 *
 * A connection begins with a greeting: the caller says HELLO, the called one
 * answers WELCOME or REFUSE.  Then both send frames until one closes.
 *
 * A greeting is a struct tcp_wire_hello, big-endian, followed by data_len bytes
 * of private data (HELLO, WELCOME, and REFUSE by an application) or of text for
 * a person (REFUSE by the library).  The first 24 bytes keep their place and
 * meaning in every version of this protocol, so that a refusal can always be
 * read; where they end up at size and data_len is all that a stranger's
 * version needs.
 *
 * A frame is 8 bytes, little-endian: header length (16 bits), payload length
 * (48 bits); then the engine's header and the payload.  A header length of 0 marks a
 * word between the links themselves: enum tcp_wire_word in the place of the payload
 * length, and nothing behind.  Only those who said so in their greeting know it.
 *
 * Two RDM endpoints may have several connections, or lanes: as many as the lower of the
 * two numbers in their greetings, where 0 stands for 1.  The first carries the frames, in
 * order.  The caller makes the others when there is use for them; their HELLO has the
 * epoch and serial of the first, and a lane of 1 or more.  From then on nothing is on them
 * but payload: in a frame whose header length has TCP_FRAME_SHARED set, each lane has a
 * part, the first one's right behind the engine's header; see tcp_frame_part().
 */
#ifndef TCP_WIRE_H
#define TCP_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include "channel/handshake.h"
#include "engine/link.h"

/* The first byte is no text, no TLS record and no version number. */
#define TCP_WIRE_MAGIC		"\xfa" "bric" "\x00\r\n"
#define TCP_WIRE_MAGIC_LEN	8
#define TCP_WIRE_VERSION	3

#define TCP_WIRE_DATA_MAX	512	/* private data or text behind a greeting */
#define TCP_WIRE_STABLE		24	/* bytes at the front that never change */

enum tcp_wire_type {
	TCP_WIRE_HELLO = 1,
	TCP_WIRE_WELCOME = 2,
	TCP_WIRE_REFUSE = 3,
};

enum tcp_wire_kind {
	TCP_WIRE_RDM = 1,
	TCP_WIRE_MSG = 2,
};

/* What the sender of a greeting can do, or says about this call. */
enum tcp_wire_feature {
	TCP_WIRE_CAN_PARK = 1 << 0,	/* knows TCP_WIRE_PARK and its answers */
	TCP_WIRE_RESUMES = 1 << 1,	/* goes on where a parked connection ended */
};

/* An idle connection is closed by agreement: whoever wants that sends PARK, and
 * nothing more until the answer is here; who agrees sends PARKED, and nothing more at
 * all.  A PARK that meets a PARK is an agreement, too.
 */
enum tcp_wire_word {
	TCP_WIRE_PARK = 1,
	TCP_WIRE_PARKED = 2,
	TCP_WIRE_STAY = 3,	/* no: go on */
};

/* An IP address and port as they stand in a greeting; 24 bytes. */
struct tcp_wire_addr {
	uint8_t family;		/* 4 or 6; 0: none */
	uint8_t zero;
	uint8_t port[2];
	uint8_t scope[4];	/* of the sender; not used by the receiver */
	uint8_t ip[16];		/* 4 or 16 bytes used, the rest 0 */
};

struct tcp_wire_hello {
	uint8_t magic[TCP_WIRE_MAGIC_LEN];
	uint8_t version[2];
	uint8_t size[2];	/* of this structure */
	uint8_t type;		/* enum tcp_wire_type */
	uint8_t kind;		/* enum tcp_wire_kind */
	uint8_t data_len[2];	/* bytes behind this structure */
	uint8_t reason[4];	/* enum chan_reason; CHAN_OK unless REFUSE */
	uint8_t features;	/* enum tcp_wire_feature; what is not known is not used */
	uint8_t lanes;		/* RDM: most connections that the sender would share payload among */
	uint8_t lane;		/* HELLO: which of them this one is; 0: the first */
	uint8_t engine;		/* version of the engine's packets (engine/wire.h) */
	/* ---- what stands above is the stable part ---- */
	uint8_t epoch[8];	/* random, of the endpoint's life: a restarted one has another */
	uint8_t serial[8];	/* HELLO: number of this call among all by the caller; else echoed */
	uint8_t prev[8];	/* HELLO: serial of the last call from you that I welcomed; 0 none;
				 * WELCOME: of my own newest call to anybody */
	uint8_t max_payload[8];	/* largest payload in a frame that the sender takes */
	struct tcp_wire_addr addr; /* where the sender can be called */
};

#define TCP_WIRE_HELLO_SIZE	80
_Static_assert(sizeof(struct tcp_wire_hello) == TCP_WIRE_HELLO_SIZE, "no padding");
_Static_assert(offsetof(struct tcp_wire_hello, epoch) == TCP_WIRE_STABLE, "stable part");
_Static_assert(sizeof(struct tcp_wire_addr) == 24, "no padding");

#define TCP_FRAME_SIZE		8	/* of a frame's own header */
#define TCP_PAYLOAD_MAX		(1 << 20) /* that we take in one frame; the engine cuts to it */
#define TCP_FRAME_SHARED	0x8000	/* in a header length: each lane has a part of the payload */
_Static_assert(ENG_HDR_MAX < TCP_FRAME_SHARED, "header length has 15 bits");

#define TCP_LANES_MAX		8
#define TCP_SHARED_MIN		(128 << 10) /* least payload that is shared */

#endif

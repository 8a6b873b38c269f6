/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * wire.h - the native wire format of a tcp connection, every byte and every limit.
 *
 * A connection begins with a handshake: the connecting peer sends HELLO, the accepting peer
 * answers WELCOME or REFUSE.  Then both send frames until one closes.  In the place of HELLO
 * it may send CHECK, which is answered by REFUSE.
 *
 * A handshake packet is a struct tcp_wire_hello, big-endian, followed by data_len bytes of
 * private data (HELLO, WELCOME, and REFUSE by a program) or of text for the log (REFUSE by
 * the library).  The first 32 bytes keep their place and meaning in every version of this
 * protocol, so that a refusal can always be read; size and data_len tell where the packet
 * ends, whatever its version.
 *
 * A frame is 8 bytes, little-endian: header length (16 bits), payload length (48 bits); then
 * the engine's header and the payload.  A header length of 0 marks a control frame between
 * the links themselves: enum tcp_wire_ctl in the place of the payload length, and no payload.
 * It is sent only to peers whose handshake announced it.
 *
 * Two RDM endpoints may have several connections, called lanes: as many as the lower of the
 * two numbers in their handshakes, where 0 stands for 1.  The first lane carries the frames,
 * in order.  The connecting peer makes the others when a payload is long enough for them;
 * their HELLO has the epoch and serial of the first, and a lane of 1 or more.  They carry
 * nothing but payload: where the header length of a frame has TCP_FRAME_STRIPED set, each
 * lane has a part of its payload, the first lane's right behind the engine's header; see
 * chan_stripe_at().
 *
 * Where both handshakes of two RDM endpoints have TCP_WIRE_RECOVERS, what follows the first handshake is one stream
 * of frames in each direction, in records over one or several connections.  A further connection has a HELLO with
 * the epoch of its sender, the serial of the first one and a lane of 1 or more, from either side.  A record is a struct
 * tcp_wire_record and its bytes, and says where in the stream they belong; they may come in any order, and twice, and
 * at most TCP_WIRE_WINDOW bytes beyond what the receiver has said to have taken.
 *
 * Where both have TCP_WIRE_RAILS, too, each side begins with a record that has a struct tcp_wire_rails: a key, and
 * the addresses at which it listens for further connections.  Where both have TCP_WIRE_WIDE, the window is
 * TCP_WIRE_WINDOW_WIDE.  The HELLO of a further connection has a struct tcp_wire_proof as its data, with
 * a nonce; the data of the WELCOME have the hash of that nonce under the connecting side's key, and another nonce,
 * whose hash under the accepting side's key is in the first record of the connection, TCP_RECORD_PROOF.  Until then
 * nothing else is sent over it.
 */
#ifndef TCP_WIRE_H
#define TCP_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include "channel/handshake.h"
#include "engine/link.h"

/* The first byte begins no text, no TLS record and no version number. */
#define TCP_WIRE_MAGIC		"\xfa" "bric" "\x00\r\n"
#define TCP_WIRE_MAGIC_LEN	8
#define TCP_WIRE_VERSION	5
#define TCP_WIRE_OLDEST		4	/* that is spoken, too */
#define TCP_WIRE_RANGED		4	/* the first whose handshake says the oldest, and the release */

#define TCP_WIRE_DATA_MAX	512	/* private data or text behind a handshake packet */
#define TCP_WIRE_STABLE		32	/* bytes at the front that never change */

enum tcp_wire_type {
	TCP_WIRE_HELLO = 1,
	TCP_WIRE_WELCOME = 2,
	TCP_WIRE_REFUSE = 3,
	TCP_WIRE_CHECK = 4,	/* RDM: does the connection with this serial stand?  The answer is a
				 * REFUSE: CHAN_HELD or CHAN_ENDED */
};

enum tcp_wire_kind {
	TCP_WIRE_RDM = 1,
	TCP_WIRE_MSG = 2,
};

/* What the sender of a handshake packet supports, or says about this connection. */
enum tcp_wire_feature {
	TCP_WIRE_CAN_PARK = 1 << 0,	/* supports TCP_WIRE_PARK and its answers */
	TCP_WIRE_RESUMES = 1 << 1,	/* continues where a parked connection ended */
	TCP_WIRE_RECOVERS = 1 << 2,	/* RDM: recovers where the other side does, too */
	TCP_WIRE_RAILS = 1 << 3,	/* RDM: and says where else it is reached */
	TCP_WIRE_WIDE = 1 << 4,		/* and has room for TCP_WIRE_WINDOW_WIDE */
};

/* Control frames.  An idle connection is closed by consent of both peers: one sends PARK, and
 * nothing more until the answer has arrived; the other answers PARK_ACK, and sends nothing
 * more at all, or PARK_NACK.  Two simultaneous PARK are consent, too.
 */
enum tcp_wire_ctl {
	TCP_WIRE_PARK = 1,
	TCP_WIRE_PARK_ACK = 2,
	TCP_WIRE_PARK_NACK = 3,	/* no consent: the connection stays */
};

/* An IP address and port in a handshake packet; port and ip in network byte order. */
struct tcp_wire_addr {
	uint8_t family;		/* 4 or 6; 0: none */
	uint8_t zero;
	uint16_t port;
	uint32_t host;		/* chan_host_mark() of the sender; 0: not known; before that releases had a scope here */
	uint8_t ip[16];		/* 4 or 16 bytes used, the rest 0 */
};

/* Big-endian. */
struct tcp_wire_hello {
	uint8_t magic[TCP_WIRE_MAGIC_LEN];
	uint8_t oldest;		/* version that the sender speaks; 0 before TCP_WIRE_RANGED */
	uint8_t version;	/* the newest that it speaks */
	uint16_t size;		/* of this structure */
	uint8_t type;		/* enum tcp_wire_type */
	uint8_t kind;		/* enum tcp_wire_kind */
	uint16_t data_len;	/* bytes behind this structure */
	uint32_t reason;	/* enum chan_reason; CHAN_OK unless REFUSE */
	uint8_t features;	/* enum tcp_wire_feature; unknown bits are ignored */
	uint8_t lanes;		/* RDM: most connections over which the sender would stripe payload */
	uint8_t lane;		/* HELLO: number of this connection among them; 0: the first */
	uint8_t engine;		/* version of the engine's packets (engine/wire.h) */
	uint8_t engine_oldest;	/* that the sender speaks */
	uint8_t release[3];	/* of the sender's library: major, minor, micro */
	uint32_t commit;	/* of its sources: struct release */
	/* ---- the fields above keep their place in every version ---- */
	uint64_t epoch;		/* random, for the lifetime of the endpoint: a restarted one has another */
	uint64_t serial;	/* HELLO: number of this attempt, counted by its sender; CHECK: of the
				 * attempt that made the connection; else echoed */
	uint64_t prev;		/* HELLO: serial of the receiver's last attempt that the sender accepted, 0:
				 * none; WELCOME: serial of the sender's newest attempt to any peer */
	uint64_t max_payload;	/* largest payload in a frame that the sender takes */
	struct tcp_wire_addr addr; /* where the sender listens */
};

#define TCP_WIRE_HELLO_SIZE	88
_Static_assert(sizeof(struct tcp_wire_hello) == TCP_WIRE_HELLO_SIZE, "no padding");
_Static_assert(offsetof(struct tcp_wire_hello, epoch) == TCP_WIRE_STABLE, "stable part");
_Static_assert(sizeof(struct tcp_wire_addr) == 24, "no padding");

#define TCP_FRAME_SIZE		8	/* of a frame's own header */
#define TCP_PAYLOAD_MAX		(1 << 20) /* largest payload of one frame; the engine segments to it */
#define TCP_FRAME_STRIPED	0x8000	/* in a header length: the payload is striped over the lanes */
_Static_assert(ENG_HDR_MAX < TCP_FRAME_STRIPED, "header length has 15 bits");

/* Records of a connection that recovers. */
enum tcp_record_kind {
	TCP_RECORD_DATA = 1,
	TCP_RECORD_END = 2,	/* no bytes: the stream ends at @at */
	TCP_RECORD_TAKEN = 3,	/* no bytes: says @taken alone */
	TCP_RECORD_RAILS = 4,	/* a struct tcp_wire_rails, without the addresses that are not used; it may come twice */
	TCP_RECORD_DOWN = 5,	/* no bytes: the sender's address @at of that list does not work */
	TCP_RECORD_PROOF = 6,	/* no bytes: @at is the hash of the nonce */
};

/* Little-endian. */
struct tcp_wire_record {
	uint32_t len;		/* bytes behind it; at most TCP_RECORD_MAX */
	uint32_t kind;		/* enum tcp_record_kind */
	uint64_t at;		/* where they belong in the sender's stream */
	uint64_t taken;		/* the sender has taken all bytes of the receiver's stream before */
};

#define TCP_RECORD_SIZE		24
_Static_assert(sizeof(struct tcp_wire_record) == TCP_RECORD_SIZE, "no padding");
#define TCP_RECORD_MAX		(64 << 10)
#define TCP_WIRE_WINDOW		(4 << 20) /* kept by either side for each peer */
#define TCP_WIRE_WINDOW_WIDE	(8 << 20)	/* the same where both have rails and TCP_WIRE_WIDE */

/* Little-endian but for the addresses. */
struct tcp_wire_rails {
	uint64_t key[2];	/* random: who has it proves to the sender that it is the peer */
	struct tcp_wire_addr addr[8];
};
_Static_assert(sizeof(struct tcp_wire_rails) == 208, "no padding");
#define TCP_RAILS_KEY_SIZE	16	/* of one without addresses */

/* Little-endian. */
struct tcp_wire_proof {
	uint64_t nonce;
	uint64_t hash;		/* WELCOME: of the nonce in the HELLO */
};
#define TCP_PROOF_SIZE		16
_Static_assert(sizeof(struct tcp_wire_proof) == TCP_PROOF_SIZE, "no padding");

#define TCP_LANES_MAX		8
#define TCP_STRIPE_MIN		(128 << 10) /* least payload that is striped */

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * wire.h - every datagram of this provider, and the validator that they all pass.
 *
 * All numbers are little endian, the family of an IP address included (net_addr_wire()).  A datagram begins with struct rxd_hdr; what
 * follows depends on its type:
 *
 *   HELLO    struct rxd_hello, private data     a connection request; the first without a cookie
 *   RETRY    struct rxd_cookie                  send HELLO again, with this cookie
 *   WELCOME  struct rxd_hello, private data     the request is accepted
 *   REFUSE   struct rxd_refuse, private data    the request is refused
 *   DATA     [struct rxd_ack, ranges] [off, bytes of the stream]
 *   PROBE    struct rxd_probe                   does the receiver still have this connection?
 *   RESET    struct rxd_reset                   it does not
 *   PATH_CHALLENGE, PATH_RESPONSE: nothing      path validation (RFC 9000 section 8.2)
 *
 * HELLO has conn 0; every other packet has the connection id that its receiver
 * has chosen (64 random bits), so that only a sender on the path can forge one.
 * RETRY, REFUSE and RESET are never longer than what they answer, and need no
 * state.  PATH_CHALLENGE is sent to an address that is not validated, and is as short as a
 * packet can be.  Its packet number is random, and is returned in PATH_RESPONSE.
 *
 * DATA carries bytes of a stream from @off on.  The stream is a sequence of
 * frames, 8 bytes each and then the engine's header and payload: 16 bits of
 * header length, 48 of payload length.  A header length of 0 ends the stream.
 * A DATA packet that is to be acknowledged has a number (RXD_F_PN) that is never
 * used again; one without only acknowledges.
 *
 * All versions have in common: struct rxd_hdr; HELLO as far as its address, from RXD_RANGED on all
 * of it; and the first bytes of REFUSE.  So a peer of another version is refused with the reason.
 * The checksum covers all of those two.  HELLO is sent in the newest version of its sender; what
 * answers it, and all that follows, is in the newest that both speak.
 *
 * The checksum, CRC-32C, covers the header and what stands before the stream's
 * bytes, and with RXD_F_SUM those too.
 *
 * Endpoints of other libraries have provider ofi_rxd, too, with another protocol, in which
 * bytes 0 and 1 are version and type.  They check the version in types 9 and 10 alone, and
 * take bytes 4 to 7 of all others for an index.  So each datagram of ours begins as their
 * type 9 of a version that does not exist there, which they discard.
 */
#ifndef RXD_WIRE_H
#define RXD_WIRE_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "channel/handshake.h"
#include "engine/wire.h"

#define RXD_VERSION 4		/* up to 127 */
#define RXD_OLDEST 4		/* that is spoken, too */
#define RXD_RANGED 4		/* the first whose handshake says the oldest, and the release */
#define RXD_MARK 0x80		/* in the first byte, with the version */
#define RXD_FOREIGN_RTS 9	/* the second byte */
#define RXD_PN_MAX ((UINT64_C(1) << 62) - 1)
#define RXD_DATA_MAX 512	/* private data of a request or its answer */
#define RXD_ADDR_MAX 64		/* bytes of an address */
#define RXD_RANGES_MAX 30	/* further ranges in one acknowledgement */
#define RXD_FRAME_SIZE 8
#define RXD_DGRAM_MIN 1024	/* a path carries at least this much */

enum rxd_type {
	RXD_HELLO = 1,
	RXD_RETRY,
	RXD_WELCOME,
	RXD_REFUSE,
	RXD_DATA,
	RXD_PROBE,
	RXD_RESET,
	RXD_PATH_CHALLENGE,
	RXD_PATH_RESPONSE,
	RXD_TYPE_CNT
};

#define RXD_F_PN 0x01		/* numbered: acknowledge it */
#define RXD_F_ACK 0x02		/* contains an ACK */
#define RXD_F_NOW 0x04		/* requests an ACK without delay */
#define RXD_F_SUM 0x08		/* the checksum covers everything */
#define RXD_F_PAD 0x10		/* no stream: the rest is padding (PING, path MTU probe) */
#define RXD_F_ALL 0x1f

enum rxd_kind {
	RXD_KIND_RDM = 1,
	RXD_KIND_MSG = 2,
};

struct rxd_hdr {
	uint8_t version;	/* RXD_MARK | RXD_VERSION */
	uint8_t foreign;	/* RXD_FOREIGN_RTS */
	uint8_t type;		/* enum rxd_type */
	uint8_t flags;		/* RXD_F_* */
	uint32_t crc;
	uint64_t conn;		/* the receiver's id of the connection */
	uint64_t pn;		/* number of the packet, 62 bits; 0 without RXD_F_PN */
};

struct rxd_cookie {
	uint64_t mac;		/* of the connecting peer and the time; 0: none yet */
	uint64_t stamp;		/* when, in the maker's own units */
};

/* The release of the sender's library. */
struct rxd_release {
	uint8_t number[3];	/* major, minor, micro */
	uint8_t zero;
	uint32_t commit;
};

struct rxd_hello {
	uint64_t cid;		/* the sender's id of the connection */
	uint64_t peer_cid;	/* WELCOME: of the HELLO that it answers; else 0 */
	uint64_t epoch;		/* random, of the sender's endpoint */
	uint64_t serial;	/* of @cid among all ids of the sender */
	struct rxd_cookie cookie;
	uint64_t window;	/* bytes of stream that may be sent before an acknowledgement */
	uint32_t dgram_max;	/* longest datagram that the sender can take */
	uint8_t engine;		/* WIRE_VERSION */
	uint8_t engine_oldest;	/* that the sender speaks */
	uint16_t data_len;	/* private data behind */
	uint8_t kind;		/* enum rxd_kind */
	uint8_t addr_len;
	uint8_t oldest;		/* version of this protocol that the sender speaks */
	uint8_t zero[5];
	uint8_t addr[RXD_ADDR_MAX]; /* where the sender is reached; rest 0 */
	/* ---- the fields above keep their place in every version ---- */
	struct rxd_release release;
};
#define RXD_HELLO_STABLE offsetof(struct rxd_hello, release)

struct rxd_refuse {
	uint16_t reason;	/* enum chan_reason */
	uint16_t data_len;	/* private data behind */
	uint8_t engine;		/* WIRE_VERSION of the sender */
	uint8_t engine_oldest;
	uint8_t oldest;
	uint8_t zero;
	/* ---- the fields above keep their place in every version ---- */
	struct rxd_release release;
};
#define RXD_REFUSE_STABLE offsetof(struct rxd_refuse, release)

struct rxd_probe {
	uint64_t cid;		/* the sender's id of the connection */
	uint8_t addr_len;
	uint8_t zero[7];
	uint8_t addr[RXD_ADDR_MAX];
};

struct rxd_reset {
	uint64_t unknown;	/* the id in PROBE, which the sender of this does not have */
};

struct rxd_ack {
	uint64_t largest;	/* highest number received */
	uint64_t limit;		/* end of the stream that the sender of this accepts: flow control */
	uint32_t delay_us;	/* between the arrival of @largest and this ACK */
	uint32_t first;		/* so many numbers below it as well */
	/* numbered packets so far, modulo 2^16, by ECN codepoint (RFC 3168) */
	uint16_t ect;		/* ECT(0) */
	uint16_t ce;		/* CE: a queue on the path is long */
	uint8_t cnt;		/* further ranges */
	uint8_t zero[3];
};

struct rxd_range {
	uint32_t gap;		/* numbers that are missing, from 1 */
	uint32_t len;		/* numbers that are there, from 1 */
};

_Static_assert(sizeof(struct rxd_hdr) == 24, "wire layout");
_Static_assert(sizeof(struct rxd_hello) == 144, "wire layout");
_Static_assert(sizeof(struct rxd_refuse) == 16, "wire layout");
_Static_assert(sizeof(struct rxd_probe) == 80, "wire layout");
_Static_assert(sizeof(struct rxd_ack) == 32, "wire layout");
_Static_assert(sizeof(struct rxd_range) == 8, "wire layout");

/* The most that stands before the stream's bytes. */
#define RXD_HEAD_MAX (sizeof(struct rxd_hdr) + sizeof(struct rxd_ack) + \
		      RXD_RANGES_MAX * sizeof(struct rxd_range) + sizeof(uint64_t))
#define RXD_HANDSHAKE_MAX (sizeof(struct rxd_hdr) + sizeof(struct rxd_hello) + RXD_DATA_MAX)
_Static_assert(RXD_HANDSHAKE_MAX <= RXD_DGRAM_MIN && RXD_HEAD_MAX < RXD_DGRAM_MIN / 2, "they fit");

/* A datagram that is valid, in host order; pointers lead into it. */
struct rxd_pkt {
	/* The sender's; of the engine in HELLO, WELCOME and REFUSE alone.  Another one of the
	 * link: HELLO, or REFUSE for that reason.
	 */
	struct chan_version version;
	uint8_t type;
	uint8_t flags;
	uint64_t conn;
	uint64_t pn;
	/* HELLO, WELCOME; of another version: cid and address */
	struct rxd_hello hello;
	/* RETRY */
	struct rxd_cookie cookie;
	/* SHAKE: @data and @len are bytes of the handshake from @off on, which lies in off; cid */
	uint32_t shake_ack;
	/* REFUSE */
	enum chan_reason reason;
	/* PROBE: cid and address, which lies in hello; RESET: cid, in the clear with a token in @data */
	uint64_t cid;
	const uint8_t *addr;
	size_t addr_len;
	/* DATA */
	struct rxd_ack ack;
	const uint8_t *ranges;	/* ack.cnt times struct rxd_range */
	uint64_t off;
	/* DATA: stream; HELLO, WELCOME, REFUSE: private data */
	const uint8_t *data;
	size_t len;
};

/* rxd_release_of - @release as a handshake has it, in host order. */
struct rxd_release rxd_release_of(struct release release);

/* rxd_parse - validate a datagram.
 *
 * @buf, @size: all of it
 * @pkt: [out] what it says; only valid on NULL
 *
 * Returns NULL, or what is wrong with it, for the log.  Pure; reads nothing
 * beyond @size.
 */
const char *rxd_parse(const uint8_t *buf, size_t size, struct rxd_pkt *pkt);

/* rxd_parse_protected - the same for one of a protected endpoint (rxd/sealed.h).
 *
 * @opened: it was sealed, and has been opened; else it is of its handshake, in the clear
 */
const char *rxd_parse_protected(const uint8_t *buf, size_t size, bool opened, struct rxd_pkt *pkt);

/* rxd_pkt_range - range @i of an acknowledgement. */
static inline struct rxd_range rxd_pkt_range(const struct rxd_pkt *pkt, unsigned i)
{
	struct rxd_range range;

	memcpy(&range, pkt->ranges + i * sizeof(range), sizeof(range));
	return (struct rxd_range) { le32toh(range.gap), le32toh(range.len) };
}

/* rxd_put_hdr - begin a datagram at @out.  Returns the length so far. */
size_t rxd_put_hdr(uint8_t *out, enum rxd_type type, uint8_t flags, uint64_t conn, uint64_t pn);

/* rxd_put_hello - append; @hello in host order, data behind.  Returns the length so far. */
size_t rxd_put_hello(uint8_t *out, size_t at, const struct rxd_hello *hello, const void *data);

/* rxd_put_refuse - append, with private data.  Returns the length so far. */
size_t rxd_put_refuse(uint8_t *out, size_t at, enum chan_reason reason, const void *data,
		      size_t len);

/* rxd_put_ack - append; the ranges follow by rxd_put_range(). */
size_t rxd_put_ack(uint8_t *out, size_t at, const struct rxd_ack *ack);
size_t rxd_put_range(uint8_t *out, size_t at, uint32_t gap, uint32_t len);

/* rxd_put_u64 - append a number. */
size_t rxd_put_u64(uint8_t *out, size_t at, uint64_t word);

/* rxd_seal - write the checksum into the header: of @len bytes from @out on, and of
 * the list behind them.
 */
struct iovec;
void rxd_seal(uint8_t *out, size_t len, const struct iovec *iov, size_t cnt);

/* rxd_frame - the 8 bytes before an engine packet, as they lie in memory. */
static inline uint64_t rxd_frame(size_t hdr_len, uint64_t len)
{
	return htole64(len << 16 | hdr_len);
}

#endif

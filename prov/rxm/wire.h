/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * wire.h - every byte of this provider's protocol, and the functions that validate them.
 *
 * All numbers are little endian.  The private data of a connection request and of its
 * acceptance is a handshake; that of a rejection is a refusal.
 *
 * A message is a struct rxm_head and then frames, packed:
 *
 *   EAGER      struct rxm_frame, the engine's header, payload
 *   RNDV       struct rxm_frame, the engine's header, id, segments (struct wire_rma):
 *              a rendezvous; the receiver reads the payload from there (RDMA read)
 *   RNDV_DONE  struct rxm_frame: rendezvous @len has been read, or is not wanted
 *
 * A message consumes one receive buffer that the peer has posted, and a credit says that
 * there is one.  Control messages (RXM_F_CTRL: credits, RNDV_DONE frames) need no credit:
 * receive buffers are reserved for as many of them as there can be.
 */
#ifndef RXM_WIRE_H
#define RXM_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "channel/handshake.h"
#include "engine/link.h"
#include "engine/wire.h"

/* ---- handshakes ----------------------------------------------------------------------- */

#define RXM_MARK 0x7872u	/* "rx" */
#define RXM_VERSION 4		/* of everything in this file; at most 255 */
#define RXM_OLDEST 4		/* that is spoken, too */
#define RXM_RANGED 4		/* the first whose handshake says the oldest */
#define RXM_ADDR_MAX 64		/* bytes of an address */

/* The private data of a request or an acceptance.  Of an IP address behind it the family is little
 * endian, too (net_addr_wire()).  With an IPv6 or InfiniBand address behind it,
 * shortened, it fits into the 55 bytes that provider verbs carries over IP.
 * The place of mark and version is the same in all versions, from RXM_RANGED on that of all fields.
 */
struct rxm_wire_handshake {
	uint16_t mark;
	uint16_t version;	/* of this protocol; in the high byte that of the engine's */
	uint8_t older;		/* how many versions before it the sender speaks; in the high four bits
				 * of the engine's */
	uint8_t addr_len;	/* bytes of the address behind this; 0 in an acceptance */
	uint8_t rndvs;		/* rendezvous that the sender accepts at a time */
	uint16_t credits;	/* receive buffers for messages */
	uint64_t epoch;		/* the rest of struct chan_id, the serials shortened */
	uint32_t buf_size;	/* bytes of a receive buffer */
	uint32_t serial;
	uint32_t prev;
} __attribute__((packed));
_Static_assert(sizeof(struct rxm_wire_handshake) == 29, "room for an InfiniBand address in 55 bytes");

/* The private data of a rejection. */
struct rxm_wire_refusal {
	uint16_t mark;
	uint16_t version;
	uint32_t reason;	/* enum chan_reason */
	/* ---- the fields above keep their place in every version ---- */
	uint8_t older;		/* as in struct rxm_wire_handshake */
	uint8_t release[3];	/* of the sender's library: major, minor, micro */
	uint32_t commit;	/* of its sources: struct release */
};
_Static_assert(sizeof(struct rxm_wire_refusal) == 16, "no padding");
#define RXM_REFUSAL_STABLE offsetof(struct rxm_wire_refusal, older)

#define RXM_HANDSHAKE_MAX (sizeof(struct rxm_wire_handshake) + RXM_ADDR_MAX)

/* A handshake in host order. */
struct rxm_handshake {
	struct chan_version version;	/* the sender's */
	struct chan_id id;		/* serial and prev: the lower 32 bits, see rxm_serial() */
	uint32_t buf_size;
	uint16_t credits;
	uint8_t rndvs;
	uint8_t addr_len;		/* bytes used in addr */
	uint8_t addr[RXM_ADDR_MAX];	/* where the sender listens */
};

/* rxm_handshake_put - encode @hs in this library's version.
 * @out: RXM_HANDSHAKE_MAX bytes.   Returns the length.
 */
size_t rxm_handshake_put(uint8_t *out, const struct rxm_handshake *hs);

/* rxm_handshake_parse - validate and decode @len bytes of private data.
 *
 * Returns CHAN_OK; CHAN_VERSION_BAD with hs->version filled in; CHAN_MALFORMED.
 */
enum chan_reason rxm_handshake_parse(const void *buf, size_t len, struct rxm_handshake *hs);

/* rxm_serial - the serial number whose lower 32 bits are @low: the one nearest to @known.
 * Serials of one endpoint never differ by 2^31.
 */
static inline uint64_t rxm_serial(uint64_t known, uint32_t low)
{
	int64_t diff = (int32_t) (low - (uint32_t) known);

	return diff < 0 && (uint64_t) -diff > known ? low : known + (uint64_t) diff;
}

/* rxm_refusal_put - encode a refusal.  Returns the length. */
size_t rxm_refusal_put(uint8_t *out, enum chan_reason reason);

/* rxm_refusal_parse - decode the private data of a rejection.
 *
 * @version_p: [out] the peer's, unless CHAN_OK is returned
 * Returns CHAN_OK if it is no refusal of this protocol: the provider below refused.
 * A reason that is not known here is CHAN_MALFORMED.
 */
enum chan_reason rxm_refusal_parse(const void *buf, size_t len, struct chan_version *version_p);

/* ---- messages ---------------------------------------------------------------------------- */

#define RXM_F_CTRL 1		/* control message: it consumed no credit */
#define RXM_F_CLOSE 2		/* the last one: the sender closes the connection in good order */

/* The head of a message. */
struct rxm_head {
	uint16_t flags;		/* RXM_F_* */
	uint16_t credits;	/* receive buffers posted again since the last message */
	uint32_t zero;
};
_Static_assert(sizeof(struct rxm_head) == 8, "no padding");

enum rxm_kind {
	RXM_EAGER = 1,
	RXM_RNDV,
	RXM_RNDV_DONE,
	RXM_KIND_CNT
};

/* The head of a frame. */
struct rxm_frame {
	uint8_t kind;		/* enum rxm_kind */
	uint8_t segs;		/* RNDV: segments; else 0 */
	uint16_t hdr_len;	/* of the engine's header */
	uint32_t zero;
	uint64_t len;		/* of the payload; RNDV_DONE: the id */
};
_Static_assert(sizeof(struct rxm_frame) == 16, "no padding");

/* A piece of payload is struct wire_rma; its length is not 0. */

#define RXM_RNDV_SIZE(hdr_len, segs) (sizeof(struct rxm_frame) + (hdr_len) + \
				      sizeof(uint64_t) + (segs) * sizeof(struct wire_rma))
#define RXM_BUF_MIN (sizeof(struct rxm_head) + RXM_RNDV_SIZE(ENG_HDR_MAX, ENG_IOV_MAX))
#define RXM_BUF_MAX (1u << 24)

/* A frame in host order; the pointers are into the message. */
struct rxm_item {
	enum rxm_kind kind;
	const uint8_t *hdr;		/* the engine's header */
	size_t hdr_len;
	const uint8_t *data;		/* EAGER: payload */
	size_t len;			/* EAGER, RNDV: of the payload */
	uint64_t id;			/* RNDV, RNDV_DONE */
	unsigned segs;
	struct wire_rma seg[ENG_IOV_MAX];
};

/* rxm_parse - validate a message: it consists of whole frames with possible fields.
 *
 * @head_p: [out] host order
 * Returns NULL, or what is wrong.
 */
const char *rxm_parse(const uint8_t *buf, size_t len, struct rxm_head *head_p);

/* rxm_next - decode the frame at offset @at of a message that passed rxm_parse().
 * Returns the offset of the next one.
 */
size_t rxm_next(const uint8_t *buf, size_t at, struct rxm_item *item_p);

/* rxm_put_head - encode the head of a message at @out. */
void rxm_put_head(uint8_t *out, unsigned flags, unsigned credits);

/* rxm_put_eager, rxm_put_rndv, rxm_put_done - append a frame at offset @at of the message
 * @out.  Return the length of the message so far.
 */
size_t rxm_put_eager(uint8_t *out, size_t at, const struct eng_pkt *pkt);
size_t rxm_put_rndv(uint8_t *out, size_t at, const struct eng_pkt *pkt, uint64_t id,
		    const struct wire_rma *seg, unsigned segs);
size_t rxm_put_done(uint8_t *out, size_t at, uint64_t id);

#endif

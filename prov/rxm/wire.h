/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * wire.h - every byte of this provider, and the gates they pass.
 *
 * All numbers are little endian.  Private data of a connection request, and of its
 * acceptance, is a struct rxm_hello; of its rejection a struct rxm_no.
 *
 * A message below is a struct rxm_head and then frames, packed:
 *
 *   EAGER  struct rxm_frame, the engine's header, payload
 *   LONG   struct rxm_frame, the engine's header, id, segments (struct rxm_seg): the
 *          payload lies there, to be read
 *   FREE   struct rxm_frame: LONG number @len has been read, or nobody wants it
 *
 * A message takes one of the buffers that the receiver has posted, and a credit says
 * that there is one.  Messages of FREE frames and credits alone (RXM_F_SPARE) take
 * none: buffers are kept for as many as there can be.
 */
#ifndef RXM_WIRE_H
#define RXM_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/link.h"

#define RXM_MARK 0x316d7872u	/* "rxm1" */
#define RXM_VERSION 1
#define RXM_ADDR_MAX 64		/* bytes of an address */

struct rxm_hello {
	uint32_t mark;
	uint16_t version;	/* of this protocol, and of the engine's in the high byte */
	uint16_t addr_len;
	uint64_t epoch;		/* random, of the endpoint's life */
	uint32_t buf_size;	/* bytes of a posted buffer */
	uint16_t credits;	/* buffers for messages */
	uint16_t longs;		/* LONG frames that may be open at a time */
	uint8_t addr[RXM_ADDR_MAX];	/* where the endpoint listens; @addr_len bytes are sent */
};

#define RXM_HELLO_SIZE offsetof(struct rxm_hello, addr)

enum rxm_reason {
	RXM_CROSSED = 1,	/* my own call to you is on its way */
	RXM_OTHER,		/* another protocol or version */
	RXM_BUSY,		/* no memory: call again later */
	RXM_REASON_CNT
};

struct rxm_no {
	uint32_t mark;
	uint16_t version;
	uint16_t reason;
};

#define RXM_F_SPARE 1		/* took no credit */
#define RXM_F_BYE 2		/* the last one: the endpoint is being closed */

struct rxm_head {
	uint16_t flags;
	uint16_t credits;	/* so many more buffers are posted */
	uint32_t zero;
};

enum rxm_kind {
	RXM_EAGER = 1,
	RXM_LONG,
	RXM_FREE,
	RXM_KIND_CNT
};

struct rxm_frame {
	uint8_t kind;
	uint8_t segs;		/* LONG */
	uint16_t hdr_len;
	uint32_t zero;
	uint64_t len;		/* of the payload; FREE: id */
};

struct rxm_seg {
	uint64_t addr;
	uint64_t len;
	uint64_t key;
};

#define RXM_LONG_SIZE(hdr_len, segs) (sizeof(struct rxm_frame) + (hdr_len) + \
				      sizeof(uint64_t) + (segs) * sizeof(struct rxm_seg))
#define RXM_BUF_MIN (sizeof(struct rxm_head) + RXM_LONG_SIZE(ENG_HDR_MAX, ENG_IOV_MAX))
#define RXM_BUF_MAX (1u << 24)

/* A frame taken apart; pointers into the message. */
struct rxm_item {
	enum rxm_kind kind;
	const uint8_t *hdr;
	size_t hdr_len;
	const uint8_t *data;		/* EAGER */
	size_t len;			/* EAGER, LONG: of the payload */
	uint64_t id;			/* LONG, FREE */
	unsigned segs;
	struct rxm_seg seg[ENG_IOV_MAX];
};

/* rxm_put_hello - write @hello (host order) at @out; returns its length. */
size_t rxm_put_hello(uint8_t *out, const struct rxm_hello *hello);

/* rxm_parse_hello - private data of @len bytes into host order.
 * Returns NULL, or in words what is wrong.
 */
const char *rxm_parse_hello(const void *buf, size_t len, struct rxm_hello *hello);

size_t rxm_put_no(uint8_t *out, enum rxm_reason reason);
/* rxm_parse_no - the reason, or 0 when that is not ours. */
enum rxm_reason rxm_parse_no(const void *buf, size_t len);

/* rxm_parse - the gate: does the message consist of whole, sensible frames?
 * @head: out, host order.   Returns NULL, or in words what is wrong.
 */
const char *rxm_parse(const uint8_t *buf, size_t len, struct rxm_head *head);

/* rxm_next - take the frame at @at apart, of a message that passed rxm_parse().
 * Returns where the next one begins.
 */
size_t rxm_next(const uint8_t *buf, size_t at, struct rxm_item *item);

void rxm_put_head(uint8_t *out, unsigned flags, unsigned credits);
/* These return the length so far, after the frame. */
size_t rxm_put_eager(uint8_t *out, size_t at, const struct eng_pkt *pkt);
size_t rxm_put_long(uint8_t *out, size_t at, const struct eng_pkt *pkt, uint64_t id,
		    const struct rxm_seg *seg, unsigned segs);
size_t rxm_put_free(uint8_t *out, size_t at, uint64_t id);

#endif

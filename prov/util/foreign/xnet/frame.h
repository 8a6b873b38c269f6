/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * frame.h - the frames of the compatible wire format, their codec and one validator.
 *
 *   0  version 3     1  operation       2  flags (2 bytes)
 *   4  2: an acknowledgement; the number of an announcement
 *   5  number of ranges
 *   6  length of the header             7  counts the frames of this direction
 *   8  length of header and payload (8 bytes)
 *   16 words of 8 bytes: [completion data] [tag] [length of an announced message]
 *      [address, length, key of each range]
 *
 * Numbers are in the byte order that both hosts have, else big-endian.  Fields that a frame does
 * not use are 0 when it goes, and have any value when it comes; byte 7 is not looked at.
 *
 * Pure.  Units: bytes.
 */
#ifndef FOREIGN_XNET_FRAME_H
#define FOREIGN_XNET_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/wire.h"

#define XNET_FRAME_MIN 16	/* a header */
#define XNET_FRAME_MAX 248
#define XNET_FRAME_PACKET_MIN 16	/* header of a packet of the engine */
#define XNET_FRAME_PACKET_MAX (XNET_FRAME_MAX - XNET_FRAME_MIN)
#define XNET_FRAME_RANGES 4
#define XNET_FRAME_NUMBERS 254	/* of announcements: 1 .. 254 */

enum xnet_frame_op {
	XNET_FRAME_MSG,
	XNET_FRAME_TAGGED,
	XNET_FRAME_READ,	/* request */
	XNET_FRAME_READ_DATA,	/* its answer; these come in the order of the requests */
	XNET_FRAME_WRITE,
	XNET_FRAME_RTS,		/* a tagged message is announced; version 1 of RDM endpoints, as the two that follow */
	XNET_FRAME_CTS,		/* the receiver of one has matched it */
	XNET_FRAME_RTS_DATA,	/* the payload of one */
	XNET_FRAME_PACKET,	/* not published: a packet of the engine, its header behind the 16 bytes */
	XNET_FRAME_ACK,		/* on the wire a MSG with a mark; they answer in order, too */
	XNET_FRAME_SHORT,	/* the same: a tagged message of rxm without a header of its own */
};

#define XNET_FRAME_F_DATA 0x1	/* MSG, TAGGED, SHORT, WRITE, RTS: completion data */
#define XNET_FRAME_F_ACK 0x4	/* the same: acknowledge when the payload is in place */
#define XNET_FRAME_F_COMMIT 0x8	/* WRITE: acknowledge when it is persistent */

struct xnet_frame {
	enum xnet_frame_op op;
	uint8_t count;			/* byte 7; not set by xnet_frame_get() */
	uint16_t flags;			/* XNET_FRAME_F_* that belong to @op; READ_DATA: as requested */
	uint8_t ranges;			/* READ, WRITE: 1 .. XNET_FRAME_RANGES; READ_DATA: as requested */
	uint8_t number;			/* RTS, CTS, RTS_DATA: the sender's, of the announcement */
	uint8_t packet;			/* PACKET: bytes of its header, which is not looked at */
	uint64_t len;			/* payload; READ: none, whatever is asked for */
	uint64_t asked;			/* READ: sum of the ranges; RTS: length of the message */
	uint64_t data, tag;
	struct wire_rma range[XNET_FRAME_RANGES];
};

/* xnet_frame_put - write the header of @frame at @out (XNET_FRAME_MAX bytes, unaligned).
 * @swapped: the peer has the other byte order
 * Returns its length.
 */
size_t xnet_frame_put(const struct xnet_frame *frame, bool swapped, uint8_t *out);

/* xnet_frame_get - decode the header at @buf, of which @have bytes may be read.
 *
 * @frame_p: [out] valid if a length is returned
 * @why_p:   [out] NULL, or what is wrong with it
 *
 * Returns the length of the header; 0 if it is not complete yet, or bad.  Lengths are checked as
 * soon as the first 16 bytes are here.
 */
size_t xnet_frame_get(const uint8_t *buf, size_t have, bool swapped, struct xnet_frame *frame_p,
		      const char **why_p);

#endif

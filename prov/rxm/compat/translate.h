/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * translate.h - packets of the engine (engine/wire.h) as packets of the compatible format, and the
 * reverse.  Pure.
 */
#ifndef RXM_TRANSLATE_H
#define RXM_TRANSLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/link.h"
#include "engine/wire.h"
#include "rxm/compat/packet.h"

/* What becomes of a packet of the engine. */
enum rxm_translation {
	RXM_TRANSLATED,		/* send the message */
	RXM_NOT_NEEDED,		/* the format has no such packet, and the engine can do without */
	RXM_NOT_POSSIBLE,	/* the format cannot express it: the operation fails */
};

/* rxm_translate_out - a packet of ours.
 *
 * @out:   [out] a message: op, len, data, tag; the rest is 0
 * @ack_p: [out] the WIRE_ACK that the engine waits for: WIRE_F_DELIVERED, or 0.  The format has none;
 *         the nearest to it is that the peer has received the packets.
 * @id_p:  [out] of the operation, for an answer; 0: the engine expects none
 * @why_p: [out] RXM_NOT_POSSIBLE: what the peer cannot do, for the log
 */
enum rxm_translation rxm_translate_out(const struct eng_pkt *pkt, struct rxm_packet *out,
				       unsigned *ack_p, uint32_t *id_p, const char **why_p);

/* rxm_translate_in - the engine's header of a message of the peer: EAGER, SEG, RNDV.
 *
 * @hdr: [out] ENG_HDR_MAX bytes.   Returns the length.
 */
size_t rxm_translate_in(const struct rxm_packet *pkt, uint8_t *hdr);

/* rxm_translate_nack - the header that reports that the operation of @id fails with @err (positive). */
size_t rxm_translate_nack(int err, uint32_t id, uint8_t *hdr);

/* rxm_translate_ack - the header that reports @ack of @id to the engine.  Returns the length. */
size_t rxm_translate_ack(unsigned ack, uint32_t id, uint8_t *hdr);

#endif

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

#include "engine/wire.h"
#include "rxm/compat/packet.h"

/* ---- packets of the engine ----------------------------------------------------------------- */

/* rxm_translate_message - an EAGER as a message: op, len, data, tag; the rest of @out is 0.
 * Returns NULL, or what the peer cannot do, for the log.
 */
const char *rxm_translate_message(const struct wire_msg *msg, struct rxm_packet *out);

/* rxm_translate_atomic - an ATOMIC whose operands are @operands bytes, as RXM_PACKET_ATOMIC.
 * @limit: eager limit of the connection
 * Returns NULL, or what the peer cannot do.
 */
const char *rxm_translate_atomic(const struct wire_msg *msg, size_t operands, size_t limit,
				 struct rxm_packet *out);

/* rxm_translate_ranges - the ranges of a READ or WRITE that are not empty; if all are, the first.
 * @seg:    [out] room for WIRE_RMA_MAX
 * @segs_p: [out]
 * Returns NULL, or what the peer cannot do.
 */
const char *rxm_translate_ranges(const struct wire_msg *msg, struct rxm_seg *seg, unsigned *segs_p);

/* rxm_translate_id - of the operation, for an answer; 0: the engine expects none. */
uint32_t rxm_translate_id(const struct wire_msg *msg);

/* ---- packets for the engine ---------------------------------------------------------------- */

/* Each writes a header, of at most ENG_HDR_MAX bytes, and returns its length. */

/* rxm_translate_in - of a packet of the peer: EAGER, SEG, RNDV; ATOMIC.
 * @id: ATOMIC: of our own, for the engine's answer
 */
size_t rxm_translate_in(const struct rxm_packet *pkt, uint32_t id, uint8_t *hdr);

/* rxm_translate_nack - the operation of @id fails with @err (positive). */
size_t rxm_translate_nack(int err, uint32_t id, uint8_t *hdr);

/* rxm_translate_ack - WIRE_ACK @ack of @id. */
size_t rxm_translate_ack(unsigned ack, uint32_t id, uint8_t *hdr);

/* rxm_translate_data - @len bytes that the operation of @id waits for. */
size_t rxm_translate_data(uint32_t id, uint64_t len, uint8_t *hdr);

/* rxm_translate_kind - the engine's word for an atomic operation of a packet. */
enum wire_atomic_kind rxm_translate_kind(enum rxm_packet_op op);

#endif

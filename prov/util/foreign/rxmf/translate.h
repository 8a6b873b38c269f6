/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * translate.h - operations (foreign/op.h) as packets of the format of FI_PROTO_RXM, and the reverse.  Pure.
 */
#ifndef FOREIGN_RXMF_TRANSLATE_H
#define FOREIGN_RXMF_TRANSLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/wire.h"
#include "foreign/rxmf/packet.h"

/* ---- operations as packets ----------------------------------------------------------------- */

/* rxmf_translate_message - an EAGER as a message: op, len, data, tag; the rest of @out is 0.
 * Returns NULL, or what the peer cannot do, for the log.
 */
const char *rxmf_translate_message(const struct wire_msg *msg, struct rxmf_packet *out);

/* rxmf_translate_atomic - an ATOMIC whose operands are @operands bytes, as RXMF_PACKET_ATOMIC.
 * @limit: eager limit of the connection
 * Returns NULL, or what the peer cannot do.
 */
const char *rxmf_translate_atomic(const struct wire_msg *msg, size_t operands, size_t limit,
				 struct rxmf_packet *out);

/* rxmf_translate_ranges - the ranges of a READ or WRITE that are not empty; if all are, the first.
 * @seg:    [out] room for WIRE_RMA_MAX
 * @segs_p: [out]
 * Returns NULL, or what the peer cannot do.
 */
const char *rxmf_translate_ranges(const struct wire_msg *msg, struct wire_rma *seg, unsigned *segs_p);

/* ---- packets as operations ----------------------------------------------------------------- */

/* rxmf_translate_in - what an EAGER, SEG, RNDV or ATOMIC means.
 * @id: ATOMIC: of our own, for the engine's answer
 */
struct wire_msg rxmf_translate_in(const struct rxmf_packet *pkt, uint32_t id);

/* rxmf_translate_kind - the engine's word for an atomic operation of a packet. */
enum wire_atomic_kind rxmf_translate_kind(enum rxmf_packet_op op);

#endif

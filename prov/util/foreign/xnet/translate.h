/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * translate.h - operations (foreign/op.h) as frames of the format of FI_PROTO_XNET, and the reverse.
 * Pure.  Lengths of payload are set by the caller.
 */
#ifndef FOREIGN_XNET_TRANSLATE_H
#define FOREIGN_XNET_TRANSLATE_H

#include "engine/wire.h"
#include "foreign/xnet/frame.h"

/* xnet_translate_out - the frame of an EAGER, READ or WRITE, but for ranges: op, flags, data, tag; the rest
 * of @out is 0.
 * @rdm: the peer is an RDM endpoint
 * Returns NULL, or what the format does not have, for the log.
 */
const char *xnet_translate_out(const struct wire_msg *msg, bool rdm, struct xnet_frame *out);

/* xnet_translate_ranges - @cnt ranges of @msg from @from on, at most XNET_FRAME_RANGES.
 * Returns the sum of their lengths.
 */
uint64_t xnet_translate_ranges(const struct wire_msg *msg, unsigned from, unsigned cnt,
			       struct xnet_frame *out);

/* xnet_translate_in - what MSG, TAGGED, RTS, READ and WRITE mean.
 * @id:  of our own, for the engine's answer; 0: none
 * @ack: the engine is to acknowledge
 */
struct wire_msg xnet_translate_in(const struct xnet_frame *frame, uint32_t id, bool ack);

#endif

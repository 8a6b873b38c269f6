/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * op.h - what an operation is, whatever its format: a struct wire_msg (engine/wire.h).  wire_parse() and
 * wire_put() are its native encoder, xnet/translate.h and rxm/translate.h those of published formats.
 *
 * Here are the operations that the engine gets in place of a peer whose format does not have them.
 */
#ifndef FOREIGN_OP_H
#define FOREIGN_OP_H

#include <rdma/fi_errno.h>

#include "engine/wire.h"

/* foreign_ack - of the kind @what (WIRE_F_*), for the operation @id. */
static inline struct wire_msg foreign_ack(uint8_t what, uint32_t id)
{
	return (struct wire_msg) { .op = WIRE_ACK, .flags = what, .id = id };
}

/* foreign_nack - the operation @id fails with @err (positive).  One that the native format has no number for becomes
 * FI_EOTHER.
 */
static inline struct wire_msg foreign_nack(int err, uint32_t id)
{
	return (struct wire_msg) {
		.op = WIRE_NACK, .id = id,
		.err = err > 0 && err < WIRE_ERR_MAX ? (uint32_t) err : FI_EOTHER,
	};
}

/* foreign_data - @len bytes from @off on that the operation @id waits for. */
static inline struct wire_msg foreign_data(uint32_t id, uint64_t off, uint64_t len)
{
	return (struct wire_msg) { .op = WIRE_DATA, .id = id, .off = off, .len = len };
}

#endif

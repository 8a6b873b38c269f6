/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * seg.h - a range of a peer's memory, as both wire formats have it.
 */
#ifndef RXM_SEG_H
#define RXM_SEG_H

#include <stdint.h>

/* A piece of payload in the sender's memory. */
struct rxm_seg {
	uint64_t addr;
	uint64_t len;
	uint64_t key;
};
_Static_assert(sizeof(struct rxm_seg) == 24, "no padding");

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* layout.h - the sizes that a program's headers gave to the public structs.
 *
 * Structs grow only at their end, so a struct of an older release is a prefix of the current
 * one, and a layout is a few sizes.  The library reads nothing beyond a size.
 */
#ifndef CORE_LAYOUT_H
#define CORE_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

struct core_layout {
	uint32_t newest;	/* interface version that had these structs */
	size_t info;
	size_t tx;
	size_t rx;
	size_t ep;
	size_t domain;
	size_t fabric;
};

/* The layout of the headers that the library was built with. */
extern const struct core_layout core_layout_now;

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* layout.h - how long a program believes the public structs to be.
 *
 * Structs grow at their end only, so a struct of an older release is the
 * beginning of the present one, and a layout is a handful of sizes.  What lies
 * beyond a size is not the library's to read.
 */
#ifndef CORE_LAYOUT_H
#define CORE_LAYOUT_H

#include <stddef.h>

struct core_layout {
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

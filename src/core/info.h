/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* info.h - copies of fi_info and its attributes, in any layout. */
#ifndef CORE_INFO_H
#define CORE_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/fabric.h>

#include "core/layout.h"

/* core_info_dup - a deep copy of one fi_info, in the current layout.
 * @src:    NULL makes an empty info with all its attributes
 * @layout: the sizes of @src and of its attributes
 * Ownership: the caller frees it with core_info_free() or fi_freeinfo().
 * Errors:    NULL when there is no memory.
 */
struct fi_info *core_info_dup(const struct fi_info *src,
			      const struct core_layout *layout);

/* core_info_free - free a list whose structs are at least as long as @layout says. */
void core_info_free(struct fi_info *list, const struct core_layout *layout);

/* core_info_narrow - free the members that a program of an older layout would not free. */
void core_info_narrow(struct fi_info *list, const struct core_layout *layout);

/* core_mem_dup - copy @len bytes; NULL for @len 0, and when there is no memory. */
static inline void *core_mem_dup(const void *src, size_t len)
{
	void *dst = src && len ? malloc(len) : NULL;

	return dst ? memcpy(dst, src, len) : NULL;
}

#endif

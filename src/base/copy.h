/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * copy.h - copying what is usually a few bytes.
 */
#ifndef BASE_COPY_H
#define BASE_COPY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* copy_short - memcpy(), without the call for 8 to 16 bytes, the payload of most short
 * messages: two words, which overlap where there are fewer than 16.
 */
static inline void copy_short(void *to, const void *from, size_t len)
{
	uint64_t first, last;

	if (__builtin_expect(len - 8 > 8, 0)) {
		memcpy(to, from, len);
		return;
	}
	memcpy(&first, from, 8);
	memcpy(&last, (const char *) from + len - 8, 8);
	memcpy(to, &first, 8);
	memcpy((char *) to + len - 8, &last, 8);
}

#endif

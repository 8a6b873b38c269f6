/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * copy.h - copies that are a few bytes long in the common case, and copies to another processor's cache.
 */
#ifndef BASE_COPY_H
#define BASE_COPY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* copy_short - memcpy() with an inline fast path for 8 to 16 bytes, the payload of most short
 * messages: two 8-byte words, which overlap when there are fewer than 16 bytes.
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

/* copy_ahead - memcpy() to lines that may be in another processor's cache: asks for many of them at once,
 * where a plain copy waits for a few at a time.
 */
void copy_ahead(void *to, const void *from, size_t len);

/* copy_stream - memcpy() that bypasses the caches: it fetches no line of @to, which is best aligned to 16
 * bytes.  What it wrote is visible to others before anything that is written after it.
 */
void copy_stream(void *to, const void *from, size_t len);

#endif

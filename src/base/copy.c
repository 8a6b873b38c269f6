/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "base/copy.h"

#define LINE 64
#define AHEAD_MIN 256		/* bytes: before, the processor's own buffers are enough */
#define AHEAD 4096		/* bytes that are asked for at once: a part of the first cache */

/* line_own - ask for the line at @at, to write it. */
static inline void line_own(char *at)
{
#if defined(__x86_64__)
	/* the compiler uses it only for processors that are known to have it; on others it does nothing */
	__asm__ volatile("prefetchw %0" : : "m"(*at));
#else
	__builtin_prefetch(at, 1);
#endif
}

void copy_ahead(void *to, const void *from, size_t len)
{
	size_t at = 0, end, i;

	for (; len - at >= AHEAD_MIN; at = end) {
		end = len - at < AHEAD ? len : at + AHEAD;
		for (i = at; i < end; i += LINE)
			line_own((char *) to + i);
		memcpy((char *) to + at, (const char *) from + at, end - at);
	}
	memcpy((char *) to + at, (const char *) from + at, len - at);
}

#ifdef __SSE2__
#include <emmintrin.h>

#define WORD sizeof(__m128i)

/* stream_lines - @len: a multiple of LINE. */
static void stream_lines(char *to, const char *from, size_t len)
{
	__m128i a, b, c, d;
	size_t at;

	for (at = 0; at < len; at += LINE) {
		a = _mm_loadu_si128((const __m128i *) (from + at));
		b = _mm_loadu_si128((const __m128i *) (from + at + WORD));
		c = _mm_loadu_si128((const __m128i *) (from + at + 2 * WORD));
		d = _mm_loadu_si128((const __m128i *) (from + at + 3 * WORD));
		_mm_stream_si128((__m128i *) (to + at), a);
		_mm_stream_si128((__m128i *) (to + at + WORD), b);
		_mm_stream_si128((__m128i *) (to + at + 2 * WORD), c);
		_mm_stream_si128((__m128i *) (to + at + 3 * WORD), d);
	}
	_mm_sfence();
}

void copy_stream(void *to, const void *from, size_t len)
{
	size_t lines = (uintptr_t) to % WORD ? 0 : len / LINE * LINE;

	stream_lines(to, from, lines);
	memcpy((char *) to + lines, (const char *) from + lines, len - lines);
}

#else

void copy_stream(void *to, const void *from, size_t len)
{
	copy_ahead(to, from, len);
}

#endif

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

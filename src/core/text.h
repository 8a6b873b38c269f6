/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* text.h - text appended to a buffer of fixed size, and cut at its end. */
#ifndef CORE_TEXT_H
#define CORE_TEXT_H

#include <stddef.h>
#include <stdint.h>

struct core_text {
	char *buf;
	size_t size;	/* of buf, > 0 */
	size_t len;	/* < size; buf[len] is the terminating 0 */
};

/* core_text_init - start with an empty text; with @size 0 nothing is written. */
void core_text_init(struct core_text *text, char *buf, size_t size);

/* core_text_add - append as printf does. */
__attribute__((format(printf, 2, 3)))
void core_text_add(struct core_text *text, const char *fmt, ...);

/* core_text_line - append a line "key: value", indented by @depth times four blanks. */
__attribute__((format(printf, 4, 5)))
void core_text_line(struct core_text *text, int depth, const char *key,
		    const char *fmt, ...);

/* core_text_head - append the line that opens a struct; for a NULL @obj the line says so and 0
 * is returned.
 */
int core_text_head(struct core_text *text, int depth, const char *name,
		   const void *obj);

#endif

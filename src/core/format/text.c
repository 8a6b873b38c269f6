/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <stdarg.h>
#include <stdio.h>

#include "core/text.h"

void core_text_init(struct core_text *text, char *buf, size_t size)
{
	text->buf = buf;
	text->size = size;
	text->len = 0;
	if (size)
		*buf = '\0';
}

static void text_add(struct core_text *text, const char *fmt, va_list args)
{
	size_t room = text->size - text->len;
	int len;

	if (!room)
		return;
	len = vsnprintf(text->buf + text->len, room, fmt, args);
	if (len > 0)
		text->len += (size_t) len < room ? (size_t) len : room - 1;
}

void core_text_add(struct core_text *text, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	text_add(text, fmt, args);
	va_end(args);
}

void core_text_line(struct core_text *text, int depth, const char *key,
		    const char *fmt, ...)
{
	va_list args;

	core_text_add(text, "%*s%s: ", 4 * depth, "", key);
	va_start(args, fmt);
	text_add(text, fmt, args);
	va_end(args);
	core_text_add(text, "\n");
}

int core_text_head(struct core_text *text, int depth, const char *name,
		   const void *obj)
{
	core_text_add(text, "%*s%s:%s\n", 4 * depth, "", name, obj ? "" : " (null)");
	return obj != NULL;
}

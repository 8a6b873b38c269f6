/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * line.h - objects that begin with a cache line.
 *
 * Where many processes share a processor, and where its threads share a cache, most of what a
 * message costs is the lines that it touches.  Structs whose members are grouped by use count on
 * where they begin, which malloc() does not promise.
 */
#ifndef BASE_LINE_H
#define BASE_LINE_H

#include <stdlib.h>
#include <string.h>

#define LINE_SIZE 64

/* line_alloc - @size bytes, all zero, that begin with a line.
 * Ownership: the caller ends with free().  Errors: NULL, no memory.
 */
static inline void *line_alloc(size_t size)
{
	void *mem;

	if (posix_memalign(&mem, LINE_SIZE, size))
		return NULL;
	return memset(mem, 0, size);
}

#endif

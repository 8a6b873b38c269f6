/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* fold.h - lines of a text in columns of a given width: what is longer goes on in the next line, indented. */
#ifndef UTIL_TOP_FOLD_H
#define UTIL_TOP_FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define FOLD_WIDTH_MIN 20
#define FOLD_WIDTH_MAX 1000
#define FOLD_INDENT 4

struct fold {
	const char *text;	/* what is left */
	size_t width;		/* FOLD_WIDTH_MIN to FOLD_WIDTH_MAX */
	bool goes_on;		/* the line before is not complete */
};

/* fold_next - the next line in @line, without a newline.  Returns false: there is none. */
bool fold_next(struct fold *fold, char line[FOLD_WIDTH_MAX + 1]);

/* fold_text - all lines of @text. */
void fold_text(const char *text, size_t width, FILE *out);

#endif

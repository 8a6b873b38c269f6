/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "fold.h"

#include <string.h>

/* part_len - of the @len characters of a line: up to the last space within @width, or as many as fit where no word ends. */
static size_t part_len(const char *text, size_t len, size_t width)
{
	size_t end = width;

	if (len <= width)
		return len;
	while (end > width / 2 && text[end] != ' ')
		end--;
	return end > width / 2 ? end : width;
}

bool fold_next(struct fold *fold, char line[FOLD_WIDTH_MAX + 1])
{
	size_t indent = fold->goes_on ? FOLD_INDENT : 0, len = strcspn(fold->text, "\n"), part;

	if (!*fold->text)
		return false;
	part = part_len(fold->text, len, fold->width - indent);
	snprintf(line, FOLD_WIDTH_MAX + 1, "%*s%.*s", (int) indent, "", (int) part, fold->text);
	fold->goes_on = part < len;
	fold->text += part;
	fold->text += *fold->text == '\n' || (fold->goes_on && *fold->text == ' ');
	return true;
}

void fold_text(const char *text, size_t width, FILE *out)
{
	struct fold fold = { .text = text, .width = width };
	char line[FOLD_WIDTH_MAX + 1];

	while (fold_next(&fold, line))
		fprintf(out, "%s\n", line);
}

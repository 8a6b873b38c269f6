/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "impair.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

uint64_t impair_random(struct impair *impair, uint64_t n)
{
	impair->seed ^= impair->seed << 13;
	impair->seed ^= impair->seed >> 7;
	impair->seed ^= impair->seed << 17;
	return (impair->seed * UINT64_C(2685821657736338717) >> 11) % n;
}

static bool is_hit(struct impair *impair, double percent)
{
	return percent > 0 && (double) impair_random(impair, 1000000) < percent * 10000;
}

unsigned impair_next(struct impair *impair)
{
	unsigned actions = IMPAIR_NONE;

	if (is_hit(impair, impair->drop))
		return IMPAIR_DROP;
	if (is_hit(impair, impair->dup))
		actions |= IMPAIR_DUP;
	if (is_hit(impair, impair->reorder))
		actions |= IMPAIR_REORDER;
	if (is_hit(impair, impair->corrupt))
		actions |= IMPAIR_CORRUPT;
	return actions;
}

static double *field_of(struct impair *impair, const char *name, size_t len)
{
	static const struct {
		const char *name;
		size_t offset;
	} fields[] = {
		{ "drop", offsetof(struct impair, drop) },
		{ "dup", offsetof(struct impair, dup) },
		{ "reorder", offsetof(struct impair, reorder) },
		{ "corrupt", offsetof(struct impair, corrupt) },
		{ "delay", offsetof(struct impair, delay) },
	};
	size_t i;

	for (i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		if (strlen(fields[i].name) == len && !strncmp(fields[i].name, name, len))
			return (double *) ((char *) impair + fields[i].offset);
	return NULL;
}

const char *impair_parse(struct impair *impair, const char *text)
{
	struct impair copies = { .seed = 1 };
	const char *word = text;
	double value, *to;
	size_t len;
	char *end;

	*impair = copies;
	while (*word) {
		len = strcspn(word, "=");
		if (!word[len])
			return word;
		value = strtod(word + len + 1, &end);
		if (end == word + len + 1 || (*end && *end != ',') || value < 0)
			return word;
		to = field_of(&copies, word, len);
		if (to && value <= (to == &copies.delay ? 10000 : 100))
			*to = value;
		else if (!to && len == 4 && !strncmp(word, "seed", 4))
			copies.seed = (uint64_t) value * 2 + 1;
		else
			return word;
		word = *end ? end + 1 : end;
	}
	copies.on = true;
	*impair = copies;
	return NULL;
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "fate.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

uint64_t fate_rnd(struct fate_dice *dice, uint64_t n)
{
	dice->seed ^= dice->seed << 13;
	dice->seed ^= dice->seed >> 7;
	dice->seed ^= dice->seed << 17;
	return (dice->seed * UINT64_C(2685821657736338717) >> 11) % n;
}

static bool hit(struct fate_dice *dice, double percent)
{
	return percent > 0 && (double) fate_rnd(dice, 1000000) < percent * 10000;
}

unsigned fate_draw(struct fate_dice *dice)
{
	unsigned fate = FATE_SEND;

	if (hit(dice, dice->drop))
		return FATE_DROP;
	if (hit(dice, dice->dup))
		fate |= FATE_DUP;
	if (hit(dice, dice->reorder))
		fate |= FATE_HOLD;
	if (hit(dice, dice->corrupt))
		fate |= FATE_CORRUPT;
	return fate;
}

static double *field(struct fate_dice *dice, const char *name, size_t len)
{
	static const struct {
		const char *name;
		size_t offset;
	} fields[] = {
		{ "drop", offsetof(struct fate_dice, drop) },
		{ "dup", offsetof(struct fate_dice, dup) },
		{ "reorder", offsetof(struct fate_dice, reorder) },
		{ "corrupt", offsetof(struct fate_dice, corrupt) },
		{ "delay", offsetof(struct fate_dice, delay) },
	};
	size_t i;

	for (i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		if (strlen(fields[i].name) == len && !strncmp(fields[i].name, name, len))
			return (double *) ((char *) dice + fields[i].offset);
	return NULL;
}

const char *fate_read(struct fate_dice *dice, const char *text)
{
	struct fate_dice out = { .seed = 1 };
	const char *word = text;
	double value, *to;
	size_t len;
	char *end;

	*dice = out;
	while (*word) {
		len = strcspn(word, "=");
		if (!word[len])
			return word;
		value = strtod(word + len + 1, &end);
		if (end == word + len + 1 || (*end && *end != ',') || value < 0)
			return word;
		to = field(&out, word, len);
		if (to && value <= (to == &out.delay ? 10000 : 100))
			*to = value;
		else if (!to && len == 4 && !strncmp(word, "seed", 4))
			out.seed = (uint64_t) value * 2 + 1;
		else
			return word;
		word = *end ? end + 1 : end;
	}
	out.on = true;
	*dice = out;
	return NULL;
}

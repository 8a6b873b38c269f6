/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "fault.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

uint64_t rxd_fault_rnd(struct rxd_fault *fault, uint64_t n)
{
	fault->seed ^= fault->seed << 13;
	fault->seed ^= fault->seed >> 7;
	fault->seed ^= fault->seed << 17;
	return (fault->seed * UINT64_C(2685821657736338717) >> 11) % n;
}

static bool hit(struct rxd_fault *fault, double percent)
{
	return percent > 0 && (double) rxd_fault_rnd(fault, 1000000) < percent * 10000;
}

unsigned rxd_fault_draw(struct rxd_fault *fault)
{
	unsigned fate = RXD_FATE_SEND;

	if (hit(fault, fault->drop))
		return RXD_FATE_DROP;
	if (hit(fault, fault->dup))
		fate |= RXD_FATE_DUP;
	if (hit(fault, fault->reorder))
		fate |= RXD_FATE_HOLD;
	if (hit(fault, fault->corrupt))
		fate |= RXD_FATE_CORRUPT;
	return fate;
}

static double *field(struct rxd_fault *fault, const char *name, size_t len)
{
	static const struct {
		const char *name;
		size_t offset;
	} fields[] = {
		{ "drop", offsetof(struct rxd_fault, drop) },
		{ "dup", offsetof(struct rxd_fault, dup) },
		{ "reorder", offsetof(struct rxd_fault, reorder) },
		{ "corrupt", offsetof(struct rxd_fault, corrupt) },
		{ "delay", offsetof(struct rxd_fault, delay) },
	};
	size_t i;

	for (i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		if (strlen(fields[i].name) == len && !strncmp(fields[i].name, name, len))
			return (double *) ((char *) fault + fields[i].offset);
	return NULL;
}

const char *rxd_fault_read(struct rxd_fault *fault, const char *text)
{
	struct rxd_fault out = { .seed = 1 };
	const char *word = text;
	double value, *to;
	size_t len;
	char *end;

	*fault = out;
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
	*fault = out;
	return NULL;
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include "names.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include <rdma/fi_errno.h>

#define NAME_MAX_LEN 64
#define ENUM_VALUES 64		/* no enumeration here has more values */

/* mr_mode is a set of bits stored in an int. */
static const char *bit_name(enum fi_type type, uint64_t bit)
{
	int small = (int) bit;

	return fi_tostr(type == FI_TYPE_MR_MODE ? (void *) &small : (void *) &bit, type);
}

/* fi_tostr() returns "Unknown" or an empty text for values without a name. */
static bool is_name(const char *text)
{
	return !strncasecmp(text, "FI_", 3);
}

static int one_bit(enum fi_type type, const char *name, uint64_t *bit_p)
{
	for (uint64_t bit = 1; bit && is_name(name); bit <<= 1) {
		if (!strcasecmp(bit_name(type, bit), name)) {
			*bit_p = bit;
			return 0;
		}
	}
	return -FI_EINVAL;
}

int info_names_bits(enum fi_type type, const char *list, uint64_t *bits_p,
		    char *bad, size_t len)
{
	uint64_t bits = 0, bit;

	while (*list) {
		size_t n = strcspn(list, "|");

		snprintf(bad, len, "%.*s", (int) n, list);
		if (n && one_bit(type, bad, &bit))
			return -FI_EINVAL;
		bits |= n ? bit : 0;
		list += n + (list[n] == '|');
	}
	*bits_p = bits;
	return 0;
}

int info_names_enum(enum fi_type type, const char *name, uint32_t *val_p)
{
	for (uint32_t val = 0; val < ENUM_VALUES && is_name(name); val++) {
		if (!strcasecmp(fi_tostr(&val, type), name)) {
			*val_p = val;
			return 0;
		}
	}
	return -FI_EINVAL;
}

void info_names_each(enum fi_type type, uint64_t bits,
		     void (*fn)(const char *name, void *arg), void *arg)
{
	char hex[NAME_MAX_LEN];
	const char *name;

	for (uint64_t bit = 1; bit; bit <<= 1) {
		if (!(bits & bit))
			continue;
		name = bit_name(type, bit);
		if (is_name(name)) {
			fn(name, arg);
			continue;
		}
		snprintf(hex, sizeof(hex), "0x%llx", (unsigned long long) bit);
		fn(hex, arg);
	}
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * swap.h - structures as a host of the other byte order writes them, if it writes its own order.
 */
#ifndef BASE_TEST_SWAP_H
#define BASE_TEST_SWAP_H

#include <stddef.h>
#include <stdint.h>

/* A member of more than one byte. */
struct swap_field {
	size_t at, len;
};

#define SWAP_FIELD(type, member) { offsetof(type, member), sizeof(((type *) 0)->member) }

/* swap_bytes - of @cnt members of the structure at @buf. */
static inline void swap_bytes(void *buf, const struct swap_field *field, size_t cnt)
{
	uint8_t *low, *high, byte;

	for (; cnt--; field++) {
		low = (uint8_t *) buf + field->at;
		for (high = low + field->len - 1; low < high; low++, high--) {
			byte = *low;
			*low = *high;
			*high = byte;
		}
	}
}

#endif

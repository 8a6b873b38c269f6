/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#ifndef FOREIGN_HEX_H
#define FOREIGN_HEX_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* hex_bytes - the bytes of @text, blanks between them ignored.  Returns their number. */
static inline size_t hex_bytes(const char *text, uint8_t *out)
{
	char digits[3] = "";
	size_t len = 0;

	while (*text) {
		if (*text == ' ') {
			text++;
			continue;
		}
		memcpy(digits, text, 2);
		out[len++] = (uint8_t) strtoul(digits, NULL, 16);
		text += 2;
	}
	return len;
}

#endif

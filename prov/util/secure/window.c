/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <string.h>

#include "secure/record.h"

#define WORDS (SEC_WINDOW_BITS / 64)

bool sec_window_fresh(const struct sec_window *window, uint64_t no)
{
	if (no >= window->next)
		return no != UINT64_MAX;
	if (window->next - no > SEC_WINDOW_BITS)
		return false;
	return !(window->seen[no / 64 % WORDS] >> no % 64 & 1);
}

/* Numbers up to @no come into the window: their bits stand for older ones. */
static void forget_bits(struct sec_window *window, uint64_t no)
{
	uint64_t n;

	if (no - window->next >= SEC_WINDOW_BITS) {
		memset(window->seen, 0, sizeof(window->seen));
		return;
	}
	for (n = window->next; n <= no; n++)
		window->seen[n / 64 % WORDS] &= ~(1ull << n % 64);
}

void sec_window_take(struct sec_window *window, uint64_t no)
{
	if (no >= window->next) {
		forget_bits(window, no);
		window->next = no + 1;
	}
	window->seen[no / 64 % WORDS] |= 1ull << no % 64;
}

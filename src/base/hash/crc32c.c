/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "base/hash/crc32c.h"

#include <stdbool.h>
#include <string.h>

#define POLYNOMIAL 0x82f63b78u	/* reflected */

static uint32_t table[256];
#ifdef __x86_64__
static bool by_processor;
#endif

__attribute__((constructor))
static void table_prepare(void)
{
	uint32_t i, bit, crc;

	for (i = 0; i < 256; i++) {
		for (crc = i, bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
		table[i] = crc;
	}
#ifdef __x86_64__
	__builtin_cpu_init();
	by_processor = __builtin_cpu_supports("sse4.2");
#endif
}

uint32_t crc32c_by_table(uint32_t crc, const void *buf, size_t len)
{
	const uint8_t *p = buf;

	crc = ~crc;
	while (len--)
		crc = table[(uint8_t) (crc ^ *p++)] ^ crc >> 8;
	return ~crc;
}

#ifdef __x86_64__
__attribute__((target("sse4.2")))
static uint32_t crc_sse(uint32_t crc, const uint8_t *p, size_t len)
{
	uint64_t acc = (uint32_t) ~crc, word;

	for (; len >= 8; p += 8, len -= 8) {
		memcpy(&word, p, 8);
		acc = __builtin_ia32_crc32di(acc, word);
	}
	while (len--)
		acc = __builtin_ia32_crc32qi((uint32_t) acc, *p++);
	return ~(uint32_t) acc;
}
#endif

uint32_t crc32c_add(uint32_t crc, const void *buf, size_t len)
{
#ifdef __x86_64__
	if (__builtin_expect(by_processor, 1))
		return crc_sse(crc, buf, len);
#endif
	return crc32c_by_table(crc, buf, len);
}

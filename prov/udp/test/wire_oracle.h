/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * wire_oracle.h - a second implementation of the wire format, byte by byte, for the tests of
 * the validator.
 */
#ifndef UDP_WIRE_ORACLE_H
#define UDP_WIRE_ORACLE_H

#include <stdlib.h>
#include <string.h>

#include "udp/wire.h"

/* True when @b, a datagram of @len bytes, begins with a valid header. */
static inline int oracle_accepts(const unsigned char *b, size_t len)
{
	static const unsigned char start[] = { 0x0f, 0x09, 0x67, 0x72, 1 };
	size_t i;

	if (len < 16 || memcmp(b, start, sizeof(start)) || b[5] > 1)
		return 0;
	if (((size_t) b[6] << 8 | b[7]) != len - 16)
		return 0;
	for (i = 8; i < 16; i++)
		if (b[i] && !b[5])
			return 0;
	return 1;
}

/* Passes the validator exactly the bytes of a receive, in memory of exactly that size, so that
 * a sanitizer detects a read beyond them.  Returns 0 if the verdict is right.
 */
static inline int oracle_disagrees(const unsigned char *b, size_t len)
{
	size_t have = len < sizeof(struct udp_hdr) ? len : sizeof(struct udp_hdr);
	void *copy = malloc(have ? have : 1);
	enum udp_wire verdict;

	if (!copy)
		return 1;
	memcpy(copy, b, have);
	verdict = udp_wire_check(copy, len);
	free(copy);
	if ((unsigned) verdict >= UDP_WIRE_CNT || !udp_wire_text(verdict))
		return 1;
	return (verdict == UDP_WIRE_OK) != oracle_accepts(b, len);
}

#endif

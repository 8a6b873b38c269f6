/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * fuzz_wire.c - a libFuzzer target: arbitrary bytes as a datagram.  Every input is also tried
 * with a corrected length field, because few inputs would pass otherwise.
 */

#include "wire_oracle.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	unsigned char fixed[16];

	if (oracle_disagrees(data, size))
		abort();
	if (size < sizeof(fixed))
		return 0;
	memcpy(fixed, data, sizeof(fixed));
	fixed[6] = (unsigned char) ((size - sizeof(fixed)) >> 8);
	fixed[7] = (unsigned char) (size - sizeof(fixed));
	if (oracle_disagrees(fixed, size))
		abort();
	return 0;
}

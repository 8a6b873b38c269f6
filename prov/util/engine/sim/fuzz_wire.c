/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * libFuzzer target for the packet gate.  Input: two bytes of payload length,
 * then the header.  Run: fuzz_wire -max_len=256 -max_total_time=600
 */
#include "engine/sim/wire_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2)
		return 0;
	wire_check(data + 2, size - 2, (size_t) data[0] << 8 | data[1]);
	return 0;
}

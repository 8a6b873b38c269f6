/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * fuzz_ring - libFuzzer target: whatever a peer writes into a ring, or says about how far
 * it has come.
 */
#include "ring_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ring_check_input(data, size);
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * crc32c.h - CRC-32C (Castagnoli): by the processor where it can, else by table.
 */
#ifndef BASE_HASH_CRC32C_H
#define BASE_HASH_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* crc32c_add - continue @crc (0 at first) over @len bytes. */
uint32_t crc32c_add(uint32_t crc, const void *buf, size_t len);

/* crc32c_by_table - the same without the processor's help; for the test. */
uint32_t crc32c_by_table(uint32_t crc, const void *buf, size_t len);

#endif

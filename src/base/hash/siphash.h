/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * siphash.h - a keyed hash of short data: who does not have the key cannot make it.  Pure.
 * Source: SipHash-2-4.
 */
#ifndef BASE_HASH_SIPHASH_H
#define BASE_HASH_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

struct siphash_key {
	uint64_t k[2];
};

/* siphash - 64 bits of @buf under @key. */
uint64_t siphash(const struct siphash_key *key, const void *buf, size_t len);

#endif

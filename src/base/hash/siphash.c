/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "base/hash/siphash.h"

#include <endian.h>
#include <string.h>

struct sip {
	uint64_t v[4];
};

static uint64_t sip_rotate(uint64_t x, unsigned n)
{
	return x << n | x >> (64 - n);
}

static void sip_rounds(struct sip *s, int n)
{
	while (n--) {
		s->v[0] += s->v[1];
		s->v[2] += s->v[3];
		s->v[1] = sip_rotate(s->v[1], 13) ^ s->v[0];
		s->v[3] = sip_rotate(s->v[3], 16) ^ s->v[2];
		s->v[0] = sip_rotate(s->v[0], 32) + s->v[3];
		s->v[2] += s->v[1];
		s->v[3] = sip_rotate(s->v[3], 21) ^ s->v[0];
		s->v[1] = sip_rotate(s->v[1], 17) ^ s->v[2];
		s->v[2] = sip_rotate(s->v[2], 32);
	}
}

static void sip_absorb(struct sip *s, uint64_t word)
{
	s->v[3] ^= word;
	sip_rounds(s, 2);
	s->v[0] ^= word;
}

uint64_t siphash(const struct siphash_key *key, const void *buf, size_t len)
{
	struct sip s = { {
		key->k[0] ^ UINT64_C(0x736f6d6570736575), key->k[1] ^ UINT64_C(0x646f72616e646f6d),
		key->k[0] ^ UINT64_C(0x6c7967656e657261), key->k[1] ^ UINT64_C(0x7465646279746573),
	} };
	uint64_t last = (uint64_t) len << 56, word;
	const uint8_t *p = buf;

	for (; len >= 8; p += 8, len -= 8) {
		memcpy(&word, p, 8);
		sip_absorb(&s, le64toh(word));
	}
	while (len--)
		last |= (uint64_t) p[len] << 8 * len;
	sip_absorb(&s, last);
	s.v[2] ^= 0xff;
	sip_rounds(&s, 4);
	return s.v[0] ^ s.v[1] ^ s.v[2] ^ s.v[3];
}

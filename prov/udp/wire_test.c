/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"

#include "udp/test/wire_oracle.h"

static void good(unsigned char *b, size_t len, int flags, uint64_t data)
{
	struct udp_hdr hdr;

	udp_wire_fill(&hdr, len, (uint8_t) flags, data);
	memcpy(b, &hdr, sizeof(hdr));
}

static void layout(void **state)
{
	static const unsigned char want[16] = {
		0x0f, 0x09, 0x67, 0x72, 1, 1, 0x12, 0x34, 1, 2, 3, 4, 5, 6, 7, 8,
	};
	unsigned char b[16];

	good(b, 0x1234, UDP_WIRE_DATA, UINT64_C(0x0102030405060708));
	assert_memory_equal(b, want, sizeof(want));
}

static void accepts_every_length(void **state)
{
	unsigned char b[16];
	size_t len;

	for (len = 0; len <= UDP_WIRE_MAX6; len++) {
		good(b, len, 0, 0);
		assert_int_equal(udp_wire_check((void *) b, len + 16), UDP_WIRE_OK);
		assert_int_equal(udp_wire_check((void *) b, len + 17), UDP_WIRE_BAD_LEN);
	}
}

static enum udp_wire verdict(const unsigned char *b, size_t len)
{
	return udp_wire_check((const void *) b, len);
}

static void names_each_fault(void **state)
{
	unsigned char b[16];

	good(b, 4, UDP_WIRE_DATA, 7);
	assert_int_equal(verdict(b, 20), UDP_WIRE_OK);
	assert_int_equal(verdict(b, 15), UDP_WIRE_SHORT);
	assert_int_equal(verdict(b, 0), UDP_WIRE_SHORT);
	assert_int_equal(verdict(b, 19), UDP_WIRE_BAD_LEN);
	b[0]++;
	assert_int_equal(verdict(b, 20), UDP_WIRE_FOREIGN);
	b[0]--, b[4] = 2;
	assert_int_equal(verdict(b, 20), UDP_WIRE_OTHER_VERSION);
	b[4] = 1, b[5] |= 0x80;
	assert_int_equal(verdict(b, 20), UDP_WIRE_BAD_FLAGS);
	b[5] = 0;
	assert_int_equal(verdict(b, 20), UDP_WIRE_BAD_DATA);
	memset(b + 8, 0, 8);
	assert_int_equal(verdict(b, 20), UDP_WIRE_OK);
}

static uint32_t seed = 1;

static uint32_t rnd(uint32_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 17;
	seed ^= seed << 5;
	return seed % below;
}

/* Valid headers with a few bits, bytes or the length changed: inputs close to valid ones. */
static void mutations(void **state)
{
	unsigned char b[16];
	unsigned i, n;
	size_t len;

	for (i = 0; i < 400000; i++) {
		len = rnd(4) ? rnd(64) : rnd(UDP_WIRE_MAX6 + 1);
		good(b, len, rnd(2) ? UDP_WIRE_DATA : 0, 0);
		if (b[5])
			b[8 + rnd(8)] = (unsigned char) rnd(256);
		len += 16;
		for (n = rnd(3); n; n--)
			b[rnd(16)] ^= (unsigned char) (1u << rnd(8));
		if (!rnd(4))
			b[rnd(16)] = (unsigned char) rnd(256);
		if (!rnd(8))
			len = rnd(40);
		if (oracle_disagrees(b, len))
			fail_msg("mutation %u: wrong verdict", i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(layout),
		cmocka_unit_test(accepts_every_length),
		cmocka_unit_test(names_each_fault),
		cmocka_unit_test(mutations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

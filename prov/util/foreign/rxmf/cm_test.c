/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * cm_test.c - private data of connections: bytes of the protocol's description and captured ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "base/test/verify.h"

#include "foreign/rxmf/cm.h"
#include "foreign/test/hex.h"

#define REQUEST "01020403 01c00200 00400000 00100000 03000000 92100000"
#define ACCEPT "09000000 1f140000 00100000 02000000"

static void requests(void **state)
{
	static const struct {
		const char *hex;
		struct rxmf_cm_request want;
	} known[] = {
		{ REQUEST, { 49153, RXMF_CM_CREDITS_OFF, 16384, 4096, 4242, 3, false } },
		/* captured from release 2.6 */
		{ "010204036b8e0200004000000010000000000000c1560000",
		  { 0x8e6b, RXMF_CM_CREDITS_OFF, 16384, 4096, 0x56c1, 0, false } },
		{ "01020403b5800200004000000010000000000000a5570000",
		  { 0x80b5, RXMF_CM_CREDITS_OFF, 16384, 4096, 0x57a5, 0, false } },
	};
	uint8_t wire[64], back[64];
	struct rxmf_cm_request got;
	size_t i, len;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		len = hex_bytes(known[i].hex, wire);
		assert_int_equal(len, RXMF_CM_REQUEST);
		assert_null(rxmf_cm_get_request(wire, len, &got));
		assert_memory_equal(&got, &known[i].want, sizeof(got));
		assert_int_equal(rxmf_cm_put_request(back, &known[i].want), len);
		assert_memory_equal(back, wire, len);
		/* bytes behind are ignored; a byte less is not enough */
		memset(wire + len, 0xff, sizeof(wire) - len);
		assert_null(rxmf_cm_get_request(wire, sizeof(wire), &got));
		assert_non_null(rxmf_cm_get_request(wire, len - 1, &got));
	}
}

static void bad_requests(void **state)
{
	static const struct {
		size_t at;
		uint8_t is;
	} bad[] = {
		{ 0, 2 }, { 1, 3 }, { 1, 0 }, { 2, 3 }, { 3, 2 }, { 9, 0 }, { 11, 0x7f },
	};
	struct rxmf_cm_request got;
	uint8_t wire[RXMF_CM_REQUEST];
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		hex_bytes(REQUEST, wire);
		wire[bad[i].at] = bad[i].is;
		assert_non_null(rxmf_cm_get_request(wire, sizeof(wire), &got));
	}
	hex_bytes(REQUEST, wire);
	memset(wire + 20, 0, 4);	/* process */
	assert_non_null(rxmf_cm_get_request(wire, sizeof(wire), &got));
	hex_bytes(REQUEST, wire);
	memset(wire + 4, 0, 2);		/* port */
	assert_non_null(rxmf_cm_get_request(wire, sizeof(wire), &got));
	/* what was padding up to 1.14 may have any value */
	hex_bytes(REQUEST, wire);
	wire[6] = 77;
	assert_null(rxmf_cm_get_request(wire, sizeof(wire), &got));
	assert_int_equal(got.credits, RXMF_CM_CREDITS_UNSAID);
	/* another eager limit is the peer's */
	memcpy(wire + 8, &(uint32_t) { 4096 }, 4);
	assert_null(rxmf_cm_get_request(wire, sizeof(wire), &got));
	assert_int_equal(got.eager_limit, 4096);
}

/* The numbers of a host of the other byte order are read. */
static void other_byte_order(void **state)
{
	static const struct { size_t at, len; } numbers[] = { { 4, 2 }, { 8, 4 }, { 12, 4 }, { 16, 8 } };
	struct rxmf_cm_request want, got;
	uint8_t wire[RXMF_CM_REQUEST], turned[RXMF_CM_REQUEST];
	size_t i, j;

	hex_bytes(REQUEST, wire);
	assert_null(rxmf_cm_get_request(wire, sizeof(wire), &want));
	assert_false(want.swapped);
	memcpy(turned, wire, sizeof(turned));
	turned[1] = 3 - wire[1];
	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		for (j = 0; j < numbers[i].len; j++)
			turned[numbers[i].at + j] = wire[numbers[i].at + numbers[i].len - 1 - j];
	assert_null(rxmf_cm_get_request(turned, sizeof(turned), &got));
	assert_true(got.swapped);
	got.swapped = false;
	assert_memory_equal(&got, &want, sizeof(got));
}

static void acceptances(void **state)
{
	const struct rxmf_cm_accept want = { RXMF_CM_CREDITS_OFF, 4096, 5151, 9 };
	uint8_t wire[64] = { 0 }, back[RXMF_CM_ACCEPT];
	struct rxmf_cm_accept got;

	assert_int_equal(hex_bytes(ACCEPT, wire), RXMF_CM_ACCEPT);
	assert_null(rxmf_cm_get_accept(wire, sizeof(wire), &got));
	assert_memory_equal(&got, &want, sizeof(got));
	assert_int_equal(rxmf_cm_put_accept(back, &want), sizeof(back));
	assert_memory_equal(back, wire, sizeof(back));
	assert_non_null(rxmf_cm_get_accept(wire, RXMF_CM_ACCEPT - 1, &got));
	memset(wire, 0, sizeof(wire));
	assert_non_null(rxmf_cm_get_accept(wire, sizeof(wire), &got));
	/* captured from release 2.6 */
	hex_bytes("00000000bf5600000010000002000000", wire);
	assert_null(rxmf_cm_get_accept(wire, RXMF_CM_ACCEPT, &got));
	assert_int_equal(got.process, 0x56bf);
	assert_int_equal(got.conn_id, 0);
}

static void rejections(void **state)
{
	uint8_t wire[RXMF_CM_REJECT];

	assert_int_equal(rxmf_cm_put_reject(wire, RXMF_CM_EXISTS), 2);
	assert_memory_equal(wire, "\1\2", 2);
	assert_int_equal(rxmf_cm_get_reject(wire, 2), RXMF_CM_EXISTS);
	assert_int_equal(rxmf_cm_get_reject("\1\1", 2), RXMF_CM_REFUSED);
	assert_int_equal(rxmf_cm_get_reject("\1\0", 2), RXMF_CM_UNSPECIFIED);
	assert_int_equal(rxmf_cm_get_reject("\1\3", 2), RXMF_CM_UNSPECIFIED);
	assert_int_equal(rxmf_cm_get_reject("\2\2", 2), RXMF_CM_UNSPECIFIED);
	assert_int_equal(rxmf_cm_get_reject("\1", 1), RXMF_CM_UNSPECIFIED);
	assert_int_equal(rxmf_cm_get_reject(NULL, 0), RXMF_CM_UNSPECIFIED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests),
		cmocka_unit_test(bad_requests),
		cmocka_unit_test(other_byte_order),
		cmocka_unit_test(acceptances),
		cmocka_unit_test(rejections),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* The handshake of XRC endpoints: its bytes, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"
#include <string.h>

#include "verbs/kind.h"
#include "verbs/xrc/handshake.h"

static const struct vrb_handshake full = {
	.kind = VRB_HANDSHAKE_ACCEPT, .srqn = 0x010203, .initiator = 0x0a0b0c,
	.your_target = 0x112233, .my_target = 0xfffefd,
};

static void bytes_on_the_wire(void **state)
{
	static const uint8_t want[] = {
		0xc5, 0x13, 1, 2, 3, 0x0a, 0x0b, 0x0c, 0x11, 0x22, 0x33, 0xff, 0xfe, 0xfd, 'd', 'a',
	};
	struct vrb_handshake got;
	uint8_t buf[64];

	assert_int_equal(vrb_handshake_put(buf, &full, "da", 2), sizeof(want));
	assert_memory_equal(buf, want, sizeof(want));
	assert_int_equal(vrb_handshake_put(buf, &full, NULL, 0), VRB_HANDSHAKE_SIZE);
	assert_true(vrb_handshake_parse(buf, VRB_HANDSHAKE_SIZE, &got));
	assert_memory_equal(&got, &full, sizeof(got));
	/* Connection managers pad private data. */
	assert_true(vrb_handshake_parse(buf, sizeof(buf), &got));
}

static void refused(void **state)
{
	struct vrb_handshake got = { .srqn = 99 };
	uint8_t buf[VRB_HANDSHAKE_SIZE], bad[VRB_HANDSHAKE_SIZE];
	size_t len;
	unsigned kind;

	vrb_handshake_put(buf, &full, NULL, 0);
	assert_false(vrb_handshake_parse(NULL, 0, &got));
	for (len = 0; len < VRB_HANDSHAKE_SIZE; len++)
		assert_false(vrb_handshake_parse(buf, len, &got));
	memcpy(bad, buf, sizeof(bad));
	bad[0] ^= 1;
	assert_false(vrb_handshake_parse(bad, sizeof(bad), &got));
	for (kind = 0; kind < 256; kind++) {
		memcpy(bad, buf, sizeof(bad));
		bad[1] = (uint8_t) kind;
		assert_int_equal(vrb_handshake_parse(bad, sizeof(bad), &got),
				 kind >> 4 == 1 && (kind & 15) && (kind & 15) < VRB_HANDSHAKE_CNT);
	}
	got.srqn = 99;
	assert_false(vrb_handshake_parse(bad, sizeof(bad), &got));
	assert_int_equal(got.srqn, 99);		/* written on success only */
}

/* Which numbers each kind must have. */
static void missing_numbers(void **state)
{
	static const struct {
		enum vrb_handshake_kind kind;
		bool srqn, initiator, yours, mine;
	} needs[] = {
		{ VRB_HANDSHAKE_CONNECT, true, true, false, true },
		{ VRB_HANDSHAKE_CONNECT_NEW, true, true, false, true },
		{ VRB_HANDSHAKE_ACCEPT, true, true, true, true },
		{ VRB_HANDSHAKE_REJECT, false, false, false, false },
		{ VRB_HANDSHAKE_STALE, false, false, false, false },
	};
	struct vrb_handshake hs, got;
	uint8_t buf[VRB_HANDSHAKE_SIZE];
	unsigned i, field;

	for (i = 0; i < sizeof(needs) / sizeof(needs[0]); i++)
		for (field = 0; field < 4; field++) {
			const bool need[] = { needs[i].srqn, needs[i].initiator, needs[i].yours,
					      needs[i].mine };
			uint32_t *at[] = { &hs.srqn, &hs.initiator, &hs.your_target, &hs.my_target };

			hs = full;
			hs.kind = needs[i].kind;
			*at[field] = 0;
			vrb_handshake_put(buf, &hs, NULL, 0);
			assert_int_equal(vrb_handshake_parse(buf, sizeof(buf), &got), !need[field]);
		}
}

/* A reject of the program: the handshake stands before its data; what is none brings no data. */
static void rejects(void **state)
{
	const struct vrb_kind *kind = vrb_kind_of(FI_PROTO_RDMA_CM_IB_XRC);
	struct vrb_handshake got;
	uint8_t buf[64];
	size_t len = kind->put_reject(buf, "no", 2);
	const void *data;

	assert_int_equal(kind->data_max, 56 - VRB_HANDSHAKE_SIZE);
	assert_int_equal(len, VRB_HANDSHAKE_SIZE + 2);
	assert_true(vrb_handshake_parse(buf, len, &got));
	assert_int_equal(got.kind, VRB_HANDSHAKE_REJECT);
	data = kind->reject_data(buf, &len);
	assert_int_equal(len, 2);
	assert_memory_equal(data, "no", 2);
	len = 2;
	assert_null(kind->reject_data("no", &len));
	assert_int_equal(len, 0);
	len = 0;
	assert_null(kind->reject_data(NULL, &len));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_on_the_wire),
		cmocka_unit_test(refused),
		cmocka_unit_test(missing_numbers),
		cmocka_unit_test(rejects),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

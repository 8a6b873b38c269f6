/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * codec_test.c - connection messages and frame headers: bytes of the protocol's description and
 * captured ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "base/test/verify.h"

#include "foreign/test/hex.h"
#include "foreign/xnet/cm.h"
#include "foreign/xnet/frame.h"
#include "foreign/xnet/rdm.h"
#include "foreign/xnet/test/captured.h"

#define CNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- connection messages ---------------------------------------------------------- */

#define ZEROES "00000000 0000000000000000 0000000000000000"

static void messages(void **state)
{
	static const struct {
		const char *hex;
		struct xnet_cm_msg want;
	} known[] = {
		{ "03000004" ZEROES "0100000000000000 70696e67", { .type = XNET_CM_REQUEST, .data_len = 4 } },
		{ "03010004" ZEROES "0100000000000000 706f6e67", { .type = XNET_CM_RESPONSE, .data_len = 4 } },
		{ "03060002" ZEROES "0000000000000000 6e6f", { .type = XNET_CM_REFUSAL, .data_len = 2 } },
	};
	struct xnet_cm_msg got;
	uint8_t wire[64], back[XNET_CM_SIZE];
	size_t i, len;

	for (i = 0; i < CNT(known); i++) {
		len = hex_bytes(known[i].hex, wire);
		assert_int_equal(xnet_cm_get(wire, len, &got), XNET_CM_OK);
		assert_int_equal(got.type, known[i].want.type);
		assert_int_equal(got.data_len, known[i].want.data_len);
		assert_true(!got.swapped && !got.marked && !got.serial && !got.version.link);
		xnet_cm_put(&known[i].want, back);
		assert_memory_equal(back, wire, sizeof(back));
	}
}

/* The other byte order: the mark is a large number. */
static void other_order(void **state)
{
	struct xnet_cm_msg got;
	uint8_t wire[XNET_CM_SIZE];

	hex_bytes("03000000" ZEROES "0000000000000001", wire);
	assert_int_equal(xnet_cm_get(wire, sizeof(wire), &got), XNET_CM_OK);
	assert_true(got.swapped);
	hex_bytes("03060000" ZEROES "0000000000000000", wire);
	assert_int_equal(xnet_cm_get(wire, sizeof(wire), &got), XNET_CM_OK);
	assert_false(got.swapped);
}

/* The mark is ours alone; a request with it is one that other implementations take. */
static void mark(void **state)
{
	struct xnet_cm_msg msg = { .type = XNET_CM_REQUEST, .data_len = 3, .marked = true,
				  .version = { .link = 3, .engine = 2 }, .serial = 0x0102030405060708 }, got;
	uint8_t wire[XNET_CM_SIZE + 3] = { 0 };
	size_t i;

	xnet_cm_put(&msg, wire);
	assert_int_equal(xnet_cm_get(wire, sizeof(wire), &got), XNET_CM_OK);
	assert_true(got.marked);
	assert_int_equal(got.version.link, 3);
	assert_int_equal(got.version.engine, 2);
	assert_int_equal(got.serial, msg.serial);
	/* what they look at is as without it */
	assert_int_equal(wire[0] << 24 | wire[1] << 16 | wire[2] << 8 | wire[3], 0x03000003);
	for (i = 24; i < XNET_CM_SIZE; i++)
		assert_int_equal(wire[i], i == 24);
	wire[4] ^= 1;
	assert_int_equal(xnet_cm_get(wire, sizeof(wire), &got), XNET_CM_OK);
	assert_false(got.marked);
}

/* The mark of the compatible format alone: it says nothing of the native one. */
static void mark_of_packets(void **state)
{
	struct xnet_cm_msg msg = { .type = XNET_CM_RESPONSE, .packets = true,
				  .version = { .engine = 4, .engine_oldest = 3 } }, got;
	uint8_t wire[XNET_CM_SIZE];

	xnet_cm_put(&msg, wire);
	assert_int_equal(xnet_cm_get(wire, sizeof(wire), &got), XNET_CM_OK);
	assert_true(got.packets && !got.marked);
	assert_int_equal(got.version.engine, 4);
	assert_int_equal(got.version.engine_oldest, 3);
	wire[12] = 2;
	assert_int_equal(xnet_cm_get(wire, sizeof(wire), &got), XNET_CM_OK);
	assert_false(got.packets);
	msg.type = XNET_CM_REQUEST;
	msg.marked = true;
	xnet_cm_put(&msg, wire);
	assert_int_equal(xnet_cm_get(wire, sizeof(wire), &got), XNET_CM_OK);
	assert_true(got.packets && got.marked);
}

static void bad_messages(void **state)
{
	static const struct {
		size_t at;
		uint8_t is;
	} bad[] = { { 0, 2 }, { 0, 4 }, { 0, 0xfa }, { 1, 2 }, { 1, 7 }, { 2, 2 } };
	uint8_t wire[XNET_CM_SIZE + XNET_CM_DATA_MAX + 1];
	struct xnet_cm_msg got;
	size_t i;

	for (i = 0; i < CNT(bad); i++) {
		hex_bytes("03000000" ZEROES "0100000000000000", wire);
		wire[bad[i].at] = bad[i].is;
		assert_int_equal(xnet_cm_get(wire, sizeof(wire), &got), XNET_CM_BAD);
		assert_true(xnet_cm_need(wire, sizeof(wire)) <= XNET_CM_SIZE + XNET_CM_DATA_MAX);
	}
}

/* A reader that asks for what is missing takes the message and nothing behind it. */
static void pieces(void **state)
{
	struct xnet_cm_msg msg = { .type = XNET_CM_RESPONSE, .data_len = XNET_CM_DATA_MAX }, got;
	uint8_t wire[XNET_CM_SIZE + XNET_CM_DATA_MAX] = { 0 };
	size_t have;

	xnet_cm_put(&msg, wire);
	for (have = 0; have < sizeof(wire); have++) {
		assert_int_equal(xnet_cm_get(wire, have, &got), XNET_CM_MORE);
		assert_int_equal(xnet_cm_need(wire, have), have < XNET_CM_SIZE ? XNET_CM_SIZE : sizeof(wire));
	}
	assert_int_equal(xnet_cm_get(wire, have, &got), XNET_CM_OK);
}

/* ---- private data of RDM endpoints -------------------------------------------------- */

static void rdm(void **state)
{
	static const char *const known[] = { "0100c00100001092", "8100c0010000141f" };
	static const struct xnet_rdm want[] = {
		{ .version = 1, .port = 49153, .process = 4242 },
		{ .version = 0x81, .port = 49153, .process = 5151 },
	};
	uint8_t wire[64], back[XNET_RDM_SIZE];
	struct xnet_rdm got;
	size_t i;

	for (i = 0; i < CNT(known); i++) {
		hex_bytes(known[i], wire);
		assert_true(xnet_rdm_get(wire, XNET_RDM_SIZE, &got));
		assert_int_equal(got.version, want[i].version);
		assert_int_equal(got.features, 0);
		assert_int_equal(got.port, want[i].port);
		assert_int_equal(got.process, want[i].process);
		xnet_rdm_put(&want[i], back);
		assert_memory_equal(back, wire, sizeof(back));
		/* what follows is not looked at, but must not be that of ofi_rxm */
		memset(wire + XNET_RDM_SIZE, 0xee, 24);
		assert_true(xnet_rdm_get(wire, XNET_RDM_SIZE + 24, &got));
	}
	assert_true(xnet_rdm_agrees(&want[1]));
	assert_false(xnet_rdm_agrees(&want[0]));		/* it has repeated the number */
}

static void bad_rdm(void **state)
{
	static const char *const bad[] = {
		"0100c00100000000",	/* process 0 */
		"0100000000001092",	/* port 0 */
		"0101040300000010 0000000000000000 0000000000000000",	/* ofi_rxm */
		"0102040300000010 0000000000000000 0000000000000000",
		"0100c001000010",
		"",
	};
	struct xnet_rdm got;
	uint8_t wire[64];
	size_t i, len;

	for (i = 0; i < CNT(bad); i++) {
		len = hex_bytes(bad[i], wire);
		assert_false(xnet_rdm_get(wire, len, &got));
	}
}

static void captured_messages(void **state)
{
	uint8_t wire[256], back[XNET_CM_SIZE];
	struct xnet_cm_msg got;
	size_t i, len;

	for (i = 0; i < CNT(captured_cm); i++) {
		len = hex_bytes(captured_cm[i], wire);
		assert_int_equal(xnet_cm_get(wire, len, &got), XNET_CM_OK);
		assert_int_equal(len, XNET_CM_SIZE + got.data_len);
		assert_false(got.marked || got.swapped);
		xnet_cm_put(&got, back);
		assert_memory_equal(back, wire, sizeof(back));
	}
}

/* ---- frames ---------------------------------------------------------------------- */

#define DATA 0x1122334455667788
#define TAG 0xaabb
#define RANGE { { 0x1000, 4, 7 } }
#define RANGE_HEX "0010000000000000 0400000000000000 0700000000000000"

/* The examples of the description. */
static const struct {
	const char *hex;	/* of the header */
	struct xnet_frame frame;
	bool swapped;
} examples[] = {
	{ .hex = "0300000000001000 1400000000000000", .frame = { .op = XNET_FRAME_MSG, .len = 4 } },
	{ .hex = "0300000000001000 0000000000000014", .frame = { .op = XNET_FRAME_MSG, .len = 4 }, .swapped = true },
	{ .hex = "0300010000001800 1c00000000000000 8877665544332211",
	  .frame = { .op = XNET_FRAME_MSG, .flags = XNET_FRAME_F_DATA, .len = 4, .data = DATA } },
	{ .hex = "0300000100001800 000000000000001c 1122334455667788",
	  .frame = { .op = XNET_FRAME_MSG, .flags = XNET_FRAME_F_DATA, .len = 4, .data = DATA }, .swapped = true },
	{ .hex = "0301000000001800 1c00000000000000 bbaa000000000000",
	  .frame = { .op = XNET_FRAME_TAGGED, .len = 4, .tag = TAG } },
	{ .hex = "0301010000002000 2400000000000000 8877665544332211 bbaa000000000000",
	  .frame = { .op = XNET_FRAME_TAGGED, .flags = XNET_FRAME_F_DATA, .len = 4, .data = DATA, .tag = TAG } },
	{ .hex = "0304010000013000 3400000000000000 8877665544332211" RANGE_HEX,
	  .frame = { .op = XNET_FRAME_WRITE, .flags = XNET_FRAME_F_DATA, .len = 4, .data = DATA, .ranges = 1,
	    .range = RANGE } },
	{ .hex = "0302000000012800 2800000000000000" RANGE_HEX,
	  .frame = { .op = XNET_FRAME_READ, .asked = 4, .ranges = 1, .range = RANGE } },
	{ .hex = "0303000000001000 1400000000000000", .frame = { .op = XNET_FRAME_READ_DATA, .len = 4 } },
	{ .hex = "0300040000001000 1400000000000000",
	  .frame = { .op = XNET_FRAME_MSG, .flags = XNET_FRAME_F_ACK, .len = 4 } },
	{ .hex = "0300000002001000 1000000000000000", .frame = { .op = XNET_FRAME_ACK } },
	{ .hex = "0305000001002000 2000000000000000 bbaa000000000000 0080000000000000",
	  .frame = { .op = XNET_FRAME_RTS, .number = 1, .tag = TAG, .asked = 32768 } },
	{ .hex = "03050500fe002800 2800000000000000 8877665544332211 bbaa000000000000 0080000000000000",
	  .frame = { .op = XNET_FRAME_RTS, .flags = XNET_FRAME_F_DATA | XNET_FRAME_F_ACK, .number = 254,
	    .data = DATA, .tag = TAG, .asked = 32768 } },
	{ .hex = "0306000001001000 1000000000000000", .frame = { .op = XNET_FRAME_CTS, .number = 1 } },
	{ .hex = "0307000001001000 1080000000000000",
	  .frame = { .op = XNET_FRAME_RTS_DATA, .number = 1, .len = 32768 } },
	{ .hex = "0300800000001800 1c00000000000000 bbaa000000000000",
	  .frame = { .op = XNET_FRAME_SHORT, .len = 4, .tag = TAG } },
	{ .hex = "0300810000002000 2400000000000000 8877665544332211 bbaa000000000000",
	  .frame = { .op = XNET_FRAME_SHORT, .flags = XNET_FRAME_F_DATA, .len = 4, .data = DATA, .tag = TAG } },
};

static void frames(void **state)
{
	uint8_t wire[XNET_FRAME_MAX], back[XNET_FRAME_MAX];
	struct xnet_frame got;
	const char *why;
	size_t i, len, have;

	for (i = 0; i < CNT(examples); i++) {
		len = hex_bytes(examples[i].hex, wire);
		assert_int_equal(xnet_frame_get(wire, len, examples[i].swapped, &got, &why), len);
		assert_null(why);
		assert_memory_equal(&got, &examples[i].frame, sizeof(got));
		assert_int_equal(xnet_frame_put(&got, examples[i].swapped, back), len);
		assert_memory_equal(back, wire, len);
		for (have = 0; have < len; have++) {
			assert_int_equal(xnet_frame_get(wire, have, examples[i].swapped, &got, &why), 0);
			assert_null(why);
		}
	}
}

static void captured_headers(void **state)
{
	uint8_t wire[XNET_FRAME_MAX], back[XNET_FRAME_MAX];
	struct xnet_frame got;
	const char *why;
	size_t i, len;

	for (i = 0; i < CNT(captured_frames); i++) {
		len = hex_bytes(captured_frames[i].hex, wire);
		assert_int_equal(xnet_frame_get(wire, len, false, &got, &why), len);
		assert_int_equal(len + got.len, captured_frames[i].size);
		assert_int_equal(xnet_frame_put(&got, false, back), len);
		wire[5] = got.ranges;	/* not in use, so it may have had any value */
		assert_memory_equal(back, wire, len);
	}
}

static void bad_frames(void **state)
{
	static const char *const bad[] = {
		"0305000000002000 2000000000000000",	/* an announcement without a number */
		"03050000ff002000 2000000000000000",
		"0305000001001800 1800000000000000",	/* without its length */
		"0305000001002000 2400000000000000",	/* with a payload */
		"0306000001001000 1400000000000000",
		"0307000000001000 1400000000000000",
		"0305000001002000 2000000000000000 bbaa000000000000 ffffffffffffffff",
		"0308000001001000 1000000000000000",
		"03ff000000001000 1000000000000000",
		"0300000000000f00 1400000000000000",	/* header too short */
		"0300000000007900 9900000000000000",	/* too long */
		"0300000000001800 1c00000000000000",	/* longer than its operation's */
		"0300010000001000 1400000000000000",	/* completion data without the word */
		"0300800000001000 1400000000000000",	/* a tag without the word */
		"0300000000001000 0f00000000000000",	/* frame shorter than its header */
		"0300000000001000 ffffffffffffffff",
		"0300000002001000 1100000000000000",	/* acknowledgement with a payload */
		"0302000000001000 1000000000000000",	/* no range */
		"0302000000058800 8800000000000000",	/* five */
		"0302000000012800 2900000000000000" RANGE_HEX,
		"0304000000012800 2d00000000000000" RANGE_HEX,	/* five bytes for four */
		"0304000000012800 2800000000000000 0010000000000000 ffffffffffffffff 0700000000000000",
	};
	uint8_t wire[XNET_FRAME_MAX] = { 0 };
	struct xnet_frame got;
	const char *why;
	size_t i;

	for (i = 0; i < CNT(bad); i++) {
		memset(wire, 0, sizeof(wire));
		hex_bytes(bad[i], wire);
		assert_int_equal(xnet_frame_get(wire, sizeof(wire), false, &got, &why), 0);
		assert_non_null(why);
	}
}

/* The header of a packet is as long as a packet of the engine may have one. */
static void packets(void **state)
{
	struct xnet_frame frame = { .op = XNET_FRAME_PACKET, .len = 8 }, got;
	uint8_t wire[256] = { 0 };
	const char *why;
	unsigned len;

	for (len = 0; len <= XNET_FRAME_PACKET_MAX + 7; len++) {
		frame.packet = (uint8_t) len;
		assert_int_equal(xnet_frame_put(&frame, false, wire), XNET_FRAME_MIN + len);
		if (len < XNET_FRAME_PACKET_MIN || len > XNET_FRAME_PACKET_MAX) {
			assert_int_equal(xnet_frame_get(wire, sizeof(wire), false, &got, &why), 0);
			assert_non_null(why);
			continue;
		}
		assert_int_equal(xnet_frame_get(wire, XNET_FRAME_MIN + len - 1, false, &got, &why), 0);
		assert_null(why);
		assert_int_equal(xnet_frame_get(wire, sizeof(wire), false, &got, &why), XNET_FRAME_MIN + len);
		assert_int_equal(got.packet, len);
		assert_int_equal(got.len, 8);
	}
}

/* A count of ranges that the array of a frame has no room for, or none; the length of the header agrees with it where
 * it can.
 */
static void counts_of_ranges(void **state)
{
	static const unsigned counts[] = { 0, 1, XNET_FRAME_RANGES, XNET_FRAME_RANGES + 1, 255 };
	uint8_t *wire = calloc(1, XNET_FRAME_MIN + 255 * sizeof(struct wire_rma));
	struct xnet_frame got;
	const char *why;
	size_t i, len;
	bool good;

	for (i = 0; i < 4 * CNT(counts); i++) {
		bool swapped = i % 2, write = i / 2 % 2;
		unsigned cnt = counts[i / 4];

		len = XNET_FRAME_MIN + cnt * sizeof(struct wire_rma);
		memcpy(wire, (uint8_t[]) { 3, write ? 4 : 2, 0, 0, 0, (uint8_t) cnt, (uint8_t) len, 0 }, 8);
		wire[8] = swapped ? 0 : (uint8_t) len;
		wire[15] = swapped ? (uint8_t) len : 0;
		good = cnt && cnt <= XNET_FRAME_RANGES;
		assert_int_equal(xnet_frame_get(wire, len, swapped, &got, &why), good ? len : 0);
		assert_int_equal(!why, good);
		if (good)
			assert_int_equal(got.ranges, cnt);
	}
	free(wire);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages),
		cmocka_unit_test(other_order),
		cmocka_unit_test(mark),
		cmocka_unit_test(mark_of_packets),
		cmocka_unit_test(bad_messages),
		cmocka_unit_test(pieces),
		cmocka_unit_test(rdm),
		cmocka_unit_test(bad_rdm),
		cmocka_unit_test(captured_messages),
		cmocka_unit_test(frames),
		cmocka_unit_test(captured_headers),
		cmocka_unit_test(bad_frames),
		cmocka_unit_test(packets),
		cmocka_unit_test(counts_of_ranges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

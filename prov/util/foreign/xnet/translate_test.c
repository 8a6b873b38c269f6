/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * translate_test.c - frames of captured conversations mean what the engine accepts, and come out as the same
 * bytes; what the format does not have is named.  Without sockets.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/test/verify.h"

#include "foreign/test/hex.h"
#include "foreign/xnet/test/captured.h"
#include "foreign/xnet/test/captured_rdm.h"
#include "foreign/xnet/translate.h"

#define CNT(a) (sizeof(a) / sizeof((a)[0]))
#define ID 7

static bool is_operation(const struct xnet_frame *frame)
{
	return frame->op == XNET_FRAME_MSG || frame->op == XNET_FRAME_TAGGED ||
	       frame->op == XNET_FRAME_READ || frame->op == XNET_FRAME_WRITE;
}

/* gated - @msg as the engine has it. */
static struct wire_msg gated(const struct wire_msg *msg, size_t payload)
{
	uint8_t hdr[ENG_HDR_MAX];
	struct wire_msg out;
	const char *why = wire_parse(hdr, wire_put(hdr, msg), payload, &out);

	if (why)
		fail_msg("%s", why);
	return out;
}

/* round_trip - the header of a frame as an operation, and back.  Returns false where it is none. */
static bool round_trip(const uint8_t *wire, size_t have)
{
	struct xnet_frame frame, again;
	uint8_t back[XNET_FRAME_MAX];
	struct wire_msg msg;
	const char *why;
	size_t len = xnet_frame_get(wire, have, false, &frame, &why);

	assert_true(len);
	if (!is_operation(&frame))
		return false;
	msg = xnet_translate_in(&frame, ID, frame.flags & XNET_FRAME_F_ACK);
	msg = gated(&msg, (size_t) frame.len);
	assert_int_equal(msg.id, ID);
	assert_null(xnet_translate_out(&msg, true, &again));
	if (frame.ranges)
		assert_int_equal(xnet_translate_ranges(&msg, 0, msg.rma_cnt, &again), frame.len + frame.asked);
	again.len = frame.len;
	again.count = wire[7];
	assert_int_equal(xnet_frame_put(&again, false, back), len);
	back[5] = wire[5];	/* of no meaning in some */
	assert_memory_equal(back, wire, len);
	return true;
}

static void captured(void **state)
{
	uint8_t wire[256];
	unsigned cnt = 0;
	size_t i, k;

	for (i = 0; i < CNT(captured_frames); i++)
		cnt += round_trip(wire, hex_bytes(captured_frames[i].hex, wire));
	for (i = 0; i < CNT(captured_rdm); i++)
		for (k = 0; captured_rdm[i].turn[k].hex; k++)
			cnt += round_trip(wire, hex_bytes(captured_rdm[i].turn[k].hex, wire));
	assert_true(cnt > 20);
}

/* An announcement of the peer, and a read of nothing, which is acknowledged. */
static void what_only_arrives(void **state)
{
	struct xnet_frame rts = {
		.op = XNET_FRAME_RTS, .flags = XNET_FRAME_F_DATA, .number = 3, .asked = 70000, .tag = 5, .data = 6,
	};
	struct xnet_frame read = { .op = XNET_FRAME_READ, .ranges = 1, .range = { { 0x1000, 0, 9 } } };
	struct wire_msg msg = xnet_translate_in(&rts, ID, false);

	msg = gated(&msg, 0);
	assert_int_equal(msg.op, WIRE_RTS);
	assert_int_equal(msg.len, 70000);
	assert_true(msg.tag == 5 && msg.data == 6);
	msg = xnet_translate_in(&read, ID, false);
	msg = gated(&msg, 0);
	assert_int_equal(msg.flags, WIRE_F_DELIVERED);
}

static const char *lacks(struct wire_msg msg, bool rdm)
{
	struct xnet_frame out;

	return xnet_translate_out(&msg, rdm, &out);
}

static void what_it_does_not_have(void **state)
{
	struct wire_msg write = { .op = WIRE_WRITE, .flags = WIRE_F_LAST, .rma_cnt = 5 };

	assert_null(lacks((struct wire_msg) { .op = WIRE_EAGER, .flags = WIRE_F_TAG }, true));
	assert_non_null(lacks((struct wire_msg) { .op = WIRE_EAGER, .flags = WIRE_F_TAG }, false));
	assert_non_null(lacks((struct wire_msg) { .op = WIRE_EAGER, .ctx = 1 }, true));
	assert_string_equal(lacks((struct wire_msg) { .op = WIRE_EAGER, .flags = WIRE_F_MATCHED }, true),
			    "FI_MATCH_COMPLETE");
	assert_string_equal(lacks((struct wire_msg) { .op = WIRE_ATOMIC }, true), "atomic operations");
	assert_non_null(lacks((struct wire_msg) { .op = WIRE_RTS }, true));
	assert_non_null(lacks((struct wire_msg) { .op = WIRE_SHARE }, true));
	assert_null(lacks(write, true));
	write.flags |= WIRE_F_DATA;
	assert_non_null(lacks(write, true));
}

/* The second frame of a read of many ranges. */
static void ranges(void **state)
{
	struct wire_msg msg = { .op = WIRE_READ, .rma_cnt = WIRE_RMA_MAX };
	struct xnet_frame out;
	unsigned i;

	for (i = 0; i < WIRE_RMA_MAX; i++)
		msg.rma[i] = (struct wire_rma) { 0x1000 * i, i + 1, 100 + i };
	assert_null(xnet_translate_out(&msg, true, &out));
	assert_int_equal(xnet_translate_ranges(&msg, 4, 4, &out), 5 + 6 + 7 + 8);
	assert_int_equal(out.op, XNET_FRAME_READ);
	assert_int_equal(out.ranges, 4);
	assert_int_equal(out.range[0].key, 104);
	assert_int_equal(out.range[3].addr, 0x7000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(captured),
		cmocka_unit_test(what_only_arrives),
		cmocka_unit_test(what_it_does_not_have),
		cmocka_unit_test(ranges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * translate_test.c - what the engine writes passes into packets and back, and what the format does not
 * have is named.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/test/verify.h"
#include <rdma/fi_atomic.h>
#include <rdma/fi_errno.h>

#include "foreign/op.h"
#include "foreign/rxmf/test/captured.h"
#include "foreign/rxmf/translate.h"
#include "foreign/test/hex.h"

#define LIMIT 16384

static struct wire_msg parsed(const uint8_t *hdr, size_t len, size_t payload)
{
	struct wire_msg msg;
	const char *why = wire_parse(hdr, len, payload, &msg);

	if (why)
		fail_msg("%s", why);
	return msg;
}

/* Every combination of tag and data, there and back. */
static void messages(void **state)
{
	uint8_t hdr[ENG_HDR_MAX], back[ENG_HDR_MAX];
	struct rxmf_packet pkt;
	struct wire_msg msg;
	unsigned flags;
	size_t len;

	for (flags = 0; flags <= (WIRE_F_TAG | WIRE_F_DATA); flags++) {
		len = wire_put_base(hdr, WIRE_EAGER, (uint8_t) flags, 0, 0, 100);
		if (flags & WIRE_F_TAG)
			len = wire_put_word(hdr, len, 0xaabb);
		if (flags & WIRE_F_DATA)
			len = wire_put_word(hdr, len, UINT64_C(0x1122334455667788));
		msg = parsed(hdr, len, 100);
		assert_null(rxmf_translate_message(&msg, &pkt));
		assert_int_equal(pkt.op, flags & WIRE_F_TAG ? RXMF_OP_TAGGED : RXMF_OP_MSG);
		assert_int_equal(pkt.len, 100);
		assert_int_equal(pkt.tag, flags & WIRE_F_TAG ? 0xaabb : 0);
		assert_int_equal(pkt.has_data, !!(flags & WIRE_F_DATA));
		msg = rxmf_translate_in(&pkt, 0);
		assert_int_equal(wire_put(back, &msg), len);
		assert_memory_equal(back, hdr, len);
	}
}

static void what_messages_cannot_have(void **state)
{
	struct wire_msg msg = { .op = WIRE_EAGER, .id = 5 };
	struct rxmf_packet pkt;

	assert_null(rxmf_translate_message(&msg, &pkt));
	msg.flags = WIRE_F_DELIVERED;
	assert_null(rxmf_translate_message(&msg, &pkt));
	msg.flags = WIRE_F_MATCHED;
	assert_string_equal(rxmf_translate_message(&msg, &pkt), "FI_MATCH_COMPLETE");
	msg.flags = WIRE_F_ARRIVED;
	msg.ctx = 1;
	assert_non_null(rxmf_translate_message(&msg, &pkt));
}

static struct wire_msg atomic_of(enum wire_atomic_kind kind, enum fi_op op, uint16_t ranges)
{
	struct wire_msg msg = {
		.op = WIRE_ATOMIC, .id = 9, .rma_cnt = ranges,
		.amo = { .kind = (uint8_t) kind, .op = (uint8_t) op, .type = FI_UINT32 },
	};
	unsigned i;

	for (i = 0; i < ranges; i++)
		msg.rma[i] = (struct wire_rma) { 0x1000 * i, i + 1, 7 + i };
	return msg;
}

/* Each kind there and back; the peer's wants an answer. */
static void atomics(void **state)
{
	static const enum rxmf_packet_op op[] = { RXMF_OP_ATOMIC, RXMF_OP_ATOMIC_FETCH, RXMF_OP_ATOMIC_COMPARE };
	uint8_t hdr[ENG_HDR_MAX];
	struct wire_msg msg, back;
	struct rxmf_packet pkt;
	unsigned kind, i;

	for (kind = 0; kind < WIRE_AMO_KINDS; kind++) {
		msg = atomic_of(kind, FI_SUM, 3);
		assert_null(rxmf_translate_atomic(&msg, 24, LIMIT, &pkt));
		assert_int_equal(pkt.type, RXMF_PACKET_ATOMIC);
		assert_int_equal(pkt.op, op[kind]);
		assert_int_equal(pkt.msg_id, 9);
		assert_int_equal(pkt.segs, 3);
		assert_int_equal(pkt.payload_len, 24);
		back = rxmf_translate_in(&pkt, 77);
		back = parsed(hdr, wire_put(hdr, &back), 24);
		assert_int_equal(back.op, WIRE_ATOMIC);
		assert_int_equal(back.id, 77);
		assert_int_equal(back.flags, kind == WIRE_AMO_BASE ? WIRE_F_DELIVERED : 0);
		assert_memory_equal(&back.amo, &msg.amo, sizeof(msg.amo));
		assert_int_equal(back.rma_cnt, 3);
		for (i = 0; i < 3; i++)
			assert_memory_equal(&back.rma[i], &msg.rma[i], sizeof(msg.rma[i]));
	}
}

static void what_atomics_cannot_have(void **state)
{
	struct wire_msg msg = atomic_of(WIRE_AMO_FETCH, FI_SUM, 4);
	struct rxmf_packet pkt;

	assert_null(rxmf_translate_atomic(&msg, LIMIT - RXMF_PACKET_LIST, LIMIT, &pkt));
	assert_non_null(rxmf_translate_atomic(&msg, LIMIT - RXMF_PACKET_LIST + 1, LIMIT, &pkt));
	msg.flags = WIRE_F_DATA;
	assert_non_null(rxmf_translate_atomic(&msg, 8, LIMIT, &pkt));
	msg = atomic_of(WIRE_AMO_FETCH, FI_SUM, 5);
	assert_non_null(rxmf_translate_atomic(&msg, 8, LIMIT, &pkt));
	msg = atomic_of(WIRE_AMO_FETCH, FI_SUM, 1);
	msg.ctx = 3;
	assert_non_null(rxmf_translate_atomic(&msg, 8, LIMIT, &pkt));
}

/* Empty ranges are left out, unless there is no other. */
static void ranges(void **state)
{
	struct wire_rma seg[WIRE_RMA_MAX];
	struct wire_msg msg = {
		.op = WIRE_WRITE, .rma_cnt = 3,
		.rma = { { 0x1000, 0, 1 }, { 0x2000, 10, 2 }, { 0x3000, 0, 3 } },
	};
	unsigned segs;

	assert_null(rxmf_translate_ranges(&msg, seg, &segs));
	assert_int_equal(segs, 1);
	assert_int_equal(seg[0].addr, 0x2000);
	assert_int_equal(seg[0].len, 10);
	assert_int_equal(seg[0].key, 2);
	msg.rma[1].len = 0;
	assert_null(rxmf_translate_ranges(&msg, seg, &segs));
	assert_int_equal(segs, 1);
	assert_int_equal(seg[0].addr, 0x1000);
	msg.ctx = 1;
	assert_non_null(rxmf_translate_ranges(&msg, seg, &segs));
}

static struct wire_msg told(struct wire_msg msg, size_t payload)
{
	uint8_t hdr[ENG_HDR_MAX];

	return parsed(hdr, wire_put(hdr, &msg), payload);
}

/* The engine accepts what it is told in place of the peer. */
static void answers(void **state)
{
	struct wire_msg msg = told(foreign_ack(WIRE_F_DELIVERED, 4), 0);

	assert_int_equal(msg.op, WIRE_ACK);
	assert_int_equal(msg.id, 4);
	msg = told(foreign_nack(FI_EACCES, 5), 0);
	assert_int_equal(msg.op, WIRE_NACK);
	assert_int_equal(msg.err, FI_EACCES);
	/* errors of a peer that are none here */
	msg = told(foreign_nack(4000, 5), 0);
	assert_int_equal(msg.err, FI_EOTHER);
	msg = told(foreign_data(6, 10, 1000), 1000);
	assert_int_equal(msg.op, WIRE_DATA);
	assert_int_equal(msg.id, 6);
	assert_int_equal(msg.off, 10);
}

/* Captured messages, and atomics of what is in both interfaces, pass as operations and come out as the same
 * bytes.
 */
static void captured_operations(void **state)
{
	static uint8_t wire[RXMF_PACKET_HDR + LIMIT];
	uint8_t back[256];
	struct rxmf_packet pkt, again;
	unsigned cnt = 0;
	struct wire_msg msg;
	const char *why;
	size_t i, len;

	for (i = 0; i < CAPTURED; i++) {
		memset(wire, 0, sizeof(wire));
		hex_bytes(captured[i].hex, wire);
		assert_null(rxmf_packet_parse(wire, captured[i].len, LIMIT, &pkt));
		if (pkt.type != RXMF_PACKET_EAGER && pkt.type != RXMF_PACKET_ATOMIC)
			continue;
		msg = told(rxmf_translate_in(&pkt, (uint32_t) pkt.msg_id), pkt.payload_len);
		why = pkt.type == RXMF_PACKET_EAGER ? rxmf_translate_message(&msg, &again) :
						      rxmf_translate_atomic(&msg, pkt.payload_len, LIMIT, &again);
		if (why)
			continue;
		again.conn_id = pkt.conn_id;
		again.payload_len = pkt.payload_len;
		len = rxmf_packet_put(back, &again);
		assert_int_equal(len + pkt.payload_len, captured[i].len);
		assert_memory_equal(back + 32, wire + 32, len - 32);
		cnt++;
	}
	assert_true(cnt > 20);
}

/* As fi_query_atomic() of 1.17 over tcp;ofi_rxm answers. */
static void what_atomics_a_peer_offers(void **state)
{
	struct wire_msg msg = atomic_of(WIRE_AMO_FETCH, FI_SUM, 1);
	struct rxmf_packet pkt;
	uint8_t type, op;

	for (type = 0; type < 32; type++) {
		msg.amo.type = type;
		assert_int_equal(!rxmf_translate_atomic(&msg, 8, LIMIT, &pkt), type <= FI_FLOAT_COMPLEX);
	}
	msg.amo.type = FI_UINT64;
	for (op = 0; op < 32; op++) {
		msg.amo.op = op;
		assert_int_equal(!rxmf_translate_atomic(&msg, 8, LIMIT, &pkt), op <= FI_MSWAP);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages),
		cmocka_unit_test(what_messages_cannot_have),
		cmocka_unit_test(atomics),
		cmocka_unit_test(what_atomics_cannot_have),
		cmocka_unit_test(what_atomics_a_peer_offers),
		cmocka_unit_test(ranges),
		cmocka_unit_test(answers),
		cmocka_unit_test(captured_operations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

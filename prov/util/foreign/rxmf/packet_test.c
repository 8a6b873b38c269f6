/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * packet_test.c - the codec against bytes that are not its own: the examples of the protocol's
 * description, and packets captured from release 2.6.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "base/test/verify.h"
#include <rdma/fi_atomic.h>

#include "net/opt.h"
#include "foreign/rxmf/packet.h"
#include "foreign/rxmf/test/captured.h"
#include "foreign/test/hex.h"

#define LIMIT 16384
#define ROOM (RXMF_PACKET_HDR + LIMIT)

/* ---- examples ------------------------------------------------------------------------------ */

#define PATH " 0900000000000000 "			/* connection 9 */
#define BACK " 0300000000000000 "			/* connection 3 */
#define NONE " 0000000000000000 "
#define FIVE " 0500000000000000 "
#define TAG " bbaa000000000000 "
#define LIST2 NONE NONE NONE NONE NONE NONE NONE NONE NONE	/* three entries that are not used */

static const struct example {
	const char *name;
	const char *hex;		/* without payload */
	struct rxmf_packet is;
} examples[] = {
	{ "untagged message",
	  "0400000000000000" PATH NONE NONE "0200000000000000 0400000000000000" NONE NONE,
	  { .type = RXMF_PACKET_EAGER, .conn_id = 9, .len = 4, .payload_len = 4 } },
	{ "tagged message with data",
	  "0400000000000000" PATH NONE NONE "0200010000000200 0400000000000000 8877665544332211" TAG,
	  { .type = RXMF_PACKET_EAGER, .op = RXMF_OP_TAGGED, .conn_id = 9, .len = 4, .has_data = true,
	    .data = 0x1122334455667788, .tag = 0xaabb, .payload_len = 4 } },
	{ "first segment",
	  "0401004000000000" PATH FIVE "0100000000000000 0200010000000000 409c000000000000" NONE TAG,
	  { .type = RXMF_PACKET_SEG, .op = RXMF_OP_TAGGED, .conn_id = 9, .msg_id = 5, .len = 40000,
	    .tag = 0xaabb, .place = RXMF_PLACE_FIRST, .payload_len = 16384 } },
	{ "second segment",
	  "0401004001000000" PATH FIVE "0200000000000000 0200010000000000 409c000000000000" NONE TAG,
	  { .type = RXMF_PACKET_SEG, .op = RXMF_OP_TAGGED, .conn_id = 9, .msg_id = 5, .len = 40000,
	    .tag = 0xaabb, .seg_no = 1, .place = RXMF_PLACE_MIDDLE, .payload_len = 16384 } },
	{ "last segment",
	  "0401401c02000000" PATH FIVE "0300000000000000 0200010000000000 409c000000000000" NONE TAG,
	  { .type = RXMF_PACKET_SEG, .op = RXMF_OP_TAGGED, .conn_id = 9, .msg_id = 5, .len = 40000,
	    .tag = 0xaabb, .seg_no = 2, .place = RXMF_PLACE_LAST, .payload_len = 7232 } },
	{ "rendezvous request",
	  "0402000000000000" PATH FIVE NONE "0200010000000000 0000100000000000" NONE TAG
	  "00001000007f0000 0000100000000000 4200000000000000" LIST2 "0100000000000000",
	  { .type = RXMF_PACKET_RNDV, .op = RXMF_OP_TAGGED, .conn_id = 9, .msg_id = 5, .len = 1 << 20,
	    .tag = 0xaabb, .segs = 1, .seg = { { 0x7f0000100000, 1 << 20, 0x42 } } } },
	{ "read done",
	  "0403000000000000" BACK FIVE NONE "0200000000000000" NONE NONE NONE,
	  { .type = RXMF_PACKET_READ_DONE, .conn_id = 3, .msg_id = 5 } },
	{ "fetching atomic",
	  "0404000000000000" PATH FIVE NONE "0200070000000000 6800000000000000" NONE "0702010000000000"
	  "0010000000000000 0100000000000000 0700000000000000" LIST2,
	  { .type = RXMF_PACKET_ATOMIC, .op = RXMF_OP_ATOMIC_FETCH, .conn_id = 9, .msg_id = 5,
	    .datatype = 7, .amo = 2, .segs = 1, .seg = { { 0x1000, 1, 7 } }, .payload_len = 8 } },
	{ "its response",
	  "0405000000000000" BACK FIVE NONE "0200070000000000 1000000000000000" NONE "0702000000000000"
	  "00000000 00000008",
	  { .type = RXMF_PACKET_ATOMIC_RESPONSE, .op = RXMF_OP_ATOMIC_FETCH, .conn_id = 3, .msg_id = 5,
	    .datatype = 7, .amo = 2, .payload_len = 8 } },
	{ "response: permission denied",
	  "0405000000000000" BACK FIVE NONE "0200060000000000 0800000000000000" NONE "0702000000000000"
	  "fffffff3 00000000",
	  { .type = RXMF_PACKET_ATOMIC_RESPONSE, .op = RXMF_OP_ATOMIC, .conn_id = 3, .msg_id = 5,
	    .datatype = 7, .amo = 2, .err = 13 } },
	{ "credits",
	  "0406000000000000" PATH NONE "7f00000000000000 0200060000000000" NONE NONE NONE,
	  { .type = RXMF_PACKET_CREDIT, .conn_id = 9, .credits = 127 } },
	{ "write offer",
	  "0407000000000000" BACK FIVE NONE "0200000000000000" NONE NONE NONE
	  "00001000007f0000 0000100000000000 4200000000000000" LIST2 "0100000000000000",
	  { .type = RXMF_PACKET_WRITE_OFFER, .conn_id = 3, .msg_id = 5, .segs = 1,
	    .seg = { { 0x7f0000100000, 1 << 20, 0x42 } } } },
	{ "write done",
	  "0408000000000000" PATH FIVE NONE "0200000000000000" NONE NONE NONE,
	  { .type = RXMF_PACKET_WRITE_DONE, .conn_id = 9, .msg_id = 5 } },
};

#define EXAMPLES (sizeof(examples) / sizeof(examples[0]))

/* The packet of an example, its payload 0.  Returns the length. */
static size_t bytes_of(const struct example *example, uint8_t *out)
{
	size_t len = hex_bytes(example->hex, out);

	memset(out + len, 0, example->is.payload_len);
	return len + example->is.payload_len;
}

static void examples_are_decoded(void **state)
{
	uint8_t *wire = malloc(ROOM);
	struct rxmf_packet got, want;
	size_t i, len;

	for (i = 0; i < EXAMPLES; i++) {
		len = bytes_of(&examples[i], wire);
		print_message("%s\n", examples[i].name);
		assert_null(rxmf_packet_parse(wire, len, LIMIT, &got));
		if (examples[i].is.payload_len)
			assert_ptr_equal(got.payload, wire + len - examples[i].is.payload_len);
		want = examples[i].is;
		want.payload = got.payload;
		assert_memory_equal(&got, &want, sizeof(got));
	}
	free(wire);
}

static void examples_are_encoded(void **state)
{
	uint8_t wire[256], out[256];
	size_t i, len;

	for (i = 0; i < EXAMPLES; i++) {
		len = hex_bytes(examples[i].hex, wire);
		memset(out, 0xee, sizeof(out));
		assert_int_equal(rxmf_packet_put(out, &examples[i].is), len);
		assert_memory_equal(out, wire, len);
	}
}

/* Fields that a type does not use may have any value. */
static void unused_fields_are_ignored(void **state)
{
	static const struct { unsigned type; size_t from, to; } unused[] = {
		{ RXMF_PACKET_EAGER, 2, 8 }, { RXMF_PACKET_EAGER, 16, 32 }, { RXMF_PACKET_EAGER, 33, 34 },
		{ RXMF_PACKET_EAGER, 35, 36 }, { RXMF_PACKET_RNDV, 2, 8 }, { RXMF_PACKET_RNDV, 24, 32 },
		{ RXMF_PACKET_RNDV, 88, 160 }, { RXMF_PACKET_READ_DONE, 2, 8 },
		{ RXMF_PACKET_READ_DONE, 24, 64 }, { RXMF_PACKET_WRITE_OFFER, 24, 64 },
		{ RXMF_PACKET_WRITE_DONE, 24, 64 }, { RXMF_PACKET_CREDIT, 32, 64 },
		{ RXMF_PACKET_ATOMIC, 24, 32 }, { RXMF_PACKET_ATOMIC, 88, 160 },
		{ RXMF_PACKET_ATOMIC_RESPONSE, 24, 32 },
	};
	uint8_t *wire = malloc(ROOM);
	struct rxmf_packet clean, got;
	size_t i, k, len;

	for (i = 0; i < EXAMPLES; i++)
		for (k = 0; k < sizeof(unused) / sizeof(unused[0]); k++) {
			if (unused[k].type != examples[i].is.type)
				continue;
			len = bytes_of(&examples[i], wire);
			assert_null(rxmf_packet_parse(wire, len, LIMIT, &clean));
			memset(wire + unused[k].from, 0xa5, unused[k].to - unused[k].from);
			assert_null(rxmf_packet_parse(wire, len, LIMIT, &got));
			assert_memory_equal(&got, &clean, sizeof(got));
		}
	/* of the place of a segment two bits count */
	len = bytes_of(&examples[2], wire);
	memset(wire + 25, 0xff, 7);
	wire[24] = 0xfd;
	assert_null(rxmf_packet_parse(wire, len, LIMIT, &got));
	assert_int_equal(got.place, RXMF_PLACE_FIRST);
	free(wire);
}

/* Messages without a header, as the provider below delivers them (net/opt.h). */
static void tagged_without_header(void **state)
{
	uint8_t *wire = calloc(1, ROOM);
	struct net_tagged front = { .has_data = 1, .unused = { 9 }, .data = 0x1122334455667788, .tag = 0xaabb };
	struct rxmf_packet got;

	memcpy(wire, &front, sizeof(front));
	assert_null(rxmf_packet_parse(wire, 28, LIMIT, &got));
	assert_true(got.type == RXMF_PACKET_EAGER && got.op == RXMF_OP_TAGGED && got.tag == front.tag);
	assert_true(got.has_data && got.data == front.data);
	assert_ptr_equal(got.payload, wire + sizeof(front));
	assert_true(got.payload_len == 4 && got.len == 4 && !got.segs && !got.msg_id);
	wire[1] = 0;	/* then there are no data, whatever is in their place */
	assert_null(rxmf_packet_parse(wire, 28, LIMIT, &got));
	assert_true(!got.has_data && !got.data && got.tag == front.tag);
	assert_null(rxmf_packet_parse(wire, 24, LIMIT, &got));
	assert_null(rxmf_packet_parse(wire, 24 + LIMIT, LIMIT, &got));
	assert_non_null(rxmf_packet_parse(wire, 25 + LIMIT, LIMIT, &got));
	assert_non_null(rxmf_packet_parse(wire, 23, LIMIT, &got));
	assert_non_null(rxmf_packet_parse(wire, 1, LIMIT, &got));
	assert_non_null(rxmf_packet_parse(wire, 0, LIMIT, &got));
	free(wire);
}

/* A packet that is cut or has bytes behind it is refused. */
static void lengths_are_checked(void **state)
{
	uint8_t *wire = calloc(1, ROOM + 64);
	struct rxmf_packet got;
	size_t i, k, len;

	for (i = 0; i < EXAMPLES; i++) {
		len = bytes_of(&examples[i], wire);
		for (k = 0; k < len; k += k < 200 ? 1 : 511)
			assert_non_null(rxmf_packet_parse(wire, k, LIMIT, &got));
		assert_non_null(rxmf_packet_parse(wire, len + 1, LIMIT, &got));
	}
	free(wire);
}

static void impossible(const struct example *example, size_t at, uint64_t value, size_t size)
{
	uint8_t *wire = malloc(ROOM);
	size_t len = bytes_of(example, wire);
	struct rxmf_packet got;

	memcpy(wire + at, &value, size);
	assert_non_null(rxmf_packet_parse(wire, len, LIMIT, &got));
	free(wire);
}

static void impossible_fields(void **state)
{
	const struct example *eager = &examples[0], *first = &examples[2], *second = &examples[3];
	const struct example *rndv = &examples[5], *atomic = &examples[7], *response = &examples[8];
	const struct example *offer = &examples[11];

	impossible(eager, 0, 3, 1);			/* versions, type, operation */
	impossible(eager, 1, RXMF_PACKET_TYPES, 1);
	impossible(eager, 32, 3, 1);
	impossible(eager, 34, 2, 1);
	impossible(eager, 34, 6, 1);
	impossible(atomic, 34, 1, 1);
	impossible(atomic, 34, 9, 1);
	impossible(eager, 40, 5, 8);
	impossible(eager, 40, UINT64_MAX, 8);
	impossible(first, 2, 16383, 2);
	impossible(first, 4, 1, 4);
	impossible(first, 24, 0, 1);
	impossible(first, 24, 2, 1);
	impossible(first, 40, 16384, 8);		/* a message of one piece */
	impossible(second, 4, 0, 4);
	impossible(second, 40, 16383, 8);
	impossible(rndv, 160, 0, 1);
	impossible(rndv, 160, 5, 1);
	impossible(rndv, 160, 255, 1);
	impossible(rndv, 40, 77, 8);			/* not the sum */
	impossible(rndv, 64, UINT64_MAX, 8);		/* wraps */
	impossible(offer, 160, 0, 1);
	impossible(offer, 160, 5, 1);
	impossible(offer, 160, 255, 1);
	impossible(offer, 72, UINT64_MAX, 8);
	impossible(atomic, 58, 0, 1);
	impossible(atomic, 58, 5, 1);
	impossible(atomic, 58, 255, 1);
	impossible(atomic, 40, 103, 8);
	impossible(response, 40, 15, 8);
	impossible(response, 64, 0x01000000, 4);	/* status 1: not negative */
	impossible(response, 68, 0x07000000, 4);
}

/* A list has room for RXMF_PACKET_SEGS entries, whatever its count says. */
static void counts_of_segments(void **state)
{
	static const unsigned counts[] = { 0, 1, RXMF_PACKET_SEGS, RXMF_PACKET_SEGS + 1, 255 };
	struct rxmf_packet pkt = { .type = RXMF_PACKET_RNDV, .conn_id = 9, .msg_id = 5 }, got;
	uint8_t *wire = malloc(ROOM);
	size_t len, i;

	for (i = 0; i < RXMF_PACKET_SEGS; i++)
		pkt.seg[i] = (struct wire_rma) { i << 12, 10000, i };
	for (i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		bool good = counts[i] && counts[i] <= RXMF_PACKET_SEGS;

		pkt.segs = counts[i] > RXMF_PACKET_SEGS ? RXMF_PACKET_SEGS : counts[i];
		pkt.len = 10000 * (size_t) pkt.segs;
		len = rxmf_packet_put(wire, &pkt);
		wire[RXMF_PACKET_HDR + RXMF_PACKET_LIST] = (uint8_t) counts[i];
		assert_int_equal(!rxmf_packet_parse(wire, len, LIMIT, &got), good);
		if (good)
			assert_int_equal(got.segs, counts[i]);
	}
	free(wire);
}

static void operands(void **state)
{
	struct rxmf_packet pkt = {
		.type = RXMF_PACKET_ATOMIC, .op = RXMF_OP_ATOMIC, .amo = FI_SUM, .segs = 2,
		.seg = { { 0, 3, 0 }, { 0, 2, 0 } }, .payload_len = 40,
	};

	assert_true(rxmf_packet_operands(&pkt, 8));
	assert_false(rxmf_packet_operands(&pkt, 4));
	pkt.op = RXMF_OP_ATOMIC_COMPARE;
	assert_false(rxmf_packet_operands(&pkt, 8));
	assert_true(rxmf_packet_operands(&pkt, 4));
	pkt.op = RXMF_OP_ATOMIC_FETCH;
	pkt.amo = FI_ATOMIC_READ;
	assert_false(rxmf_packet_operands(&pkt, 8));
	pkt.payload_len = 0;
	assert_true(rxmf_packet_operands(&pkt, 8));
	pkt.seg[0].len = UINT64_MAX;
	assert_false(rxmf_packet_operands(&pkt, 8));
}

/* ---- captured packets ---------------------------------------------------------------------- */

static void captured_packets(void **state)
{
	static const size_t size[] = {	/* by enum fi_datatype: those that occur */
		1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 8, 16,
	};
	unsigned seen[RXMF_PACKET_TYPES] = { 0 };
	uint8_t *wire = malloc(ROOM), out[256];
	struct rxmf_packet got;
	size_t i, head;

	for (i = 0; i < CAPTURED; i++) {
		memset(wire, 0, ROOM);
		hex_bytes(captured[i].hex, wire);
		print_message("%zu: %s, %zu bytes\n", i, captured[i].from, captured[i].len);
		assert_null(rxmf_packet_parse(wire, captured[i].len, LIMIT, &got));
		seen[got.type]++;
		if (got.type == RXMF_PACKET_ATOMIC)
			assert_true(rxmf_packet_operands(&got, size[got.datatype]));
		/* what is in use comes out again */
		head = rxmf_packet_put(out, &got);
		assert_int_equal(head + got.payload_len, captured[i].len);
		assert_memory_equal(out, wire, 2);
		assert_memory_equal(out + 8, wire + 8, 8);
		assert_memory_equal(out + 32, wire + 32, head - 32);
	}
	assert_true(seen[RXMF_PACKET_EAGER] && seen[RXMF_PACKET_SEG] && seen[RXMF_PACKET_RNDV] &&
		    seen[RXMF_PACKET_ATOMIC] && seen[RXMF_PACKET_ATOMIC_RESPONSE]);
	free(wire);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(examples_are_decoded),
		cmocka_unit_test(examples_are_encoded),
		cmocka_unit_test(unused_fields_are_ignored),
		cmocka_unit_test(tagged_without_header),
		cmocka_unit_test(lengths_are_checked),
		cmocka_unit_test(impossible_fields),
		cmocka_unit_test(counts_of_segments),
		cmocka_unit_test(operands),
		cmocka_unit_test(captured_packets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

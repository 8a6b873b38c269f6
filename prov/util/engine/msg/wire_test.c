/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Each packet type through the gate: well formed, and each way of being
 * malformed; then a million mutations, of which what passes must be consistent.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/test/verify.h"
#include <sys/mman.h>
#include <unistd.h>

#include "engine/wire.h"
#include "engine/sim/wire_check.h"

static uint8_t hdr[ENG_HDR_MAX + 255 * sizeof(struct wire_rma)];
static struct wire_msg msg;

static void test_message(void **arg)
{
	size_t len = wire_put_base(hdr, WIRE_EAGER, WIRE_F_TAG | WIRE_F_DATA, 3, 0x12345678, 100);

	(void) arg;
	len = wire_put_word(hdr, len, 0xfeedfacecafebeef);
	len = wire_put_word(hdr, len, 77);
	assert_int_equal(len, 32);
	assert_null(wire_parse(hdr, len, 100, &msg));
	assert_int_equal(msg.op, WIRE_EAGER);
	assert_int_equal(msg.ctx, 3);
	assert_int_equal(msg.id, 0x12345678);
	assert_int_equal(msg.len, 100);
	assert_true(msg.tag == 0xfeedfacecafebeef);
	assert_int_equal(msg.data, 77);
	assert_non_null(wire_parse(hdr, len, 99, &msg));
	assert_non_null(wire_parse(hdr, len - 1, 100, &msg));
	assert_non_null(wire_parse(hdr, len - 8, 100, &msg));
	assert_non_null(wire_parse(hdr, len + 8, 100, &msg));
	hdr[0] = WIRE_RTS;
	assert_null(wire_parse(hdr, len, 0, &msg));
	assert_non_null(wire_parse(hdr, len, 100, &msg));
	hdr[0] = WIRE_EAGER;
	hdr[1] = WIRE_F_TAG | WIRE_F_DATA | WIRE_F_ARRIVED;
	assert_null(wire_parse(hdr, len, 100, &msg));
	hdr[1] |= WIRE_F_MATCHED;
	assert_non_null(wire_parse(hdr, len, 100, &msg));
	hdr[0] = WIRE_RTS;
	hdr[1] = WIRE_F_TAG | WIRE_F_DATA | WIRE_F_ARRIVED;
	assert_non_null(wire_parse(hdr, len, 0, &msg));
	hdr[1] = WIRE_F_TAG | WIRE_F_DATA;
	hdr[1] |= WIRE_F_MATCHED | WIRE_F_DELIVERED;
	assert_non_null(wire_parse(hdr, len, 0, &msg));
	hdr[1] = WIRE_F_LAST;
	assert_non_null(wire_parse(hdr, 16, 0, &msg));
}

static void test_headers_of_impossible_length(void **arg)
{
	size_t len;

	(void) arg;
	memset(hdr, 0, sizeof(hdr));
	for (len = 0; len <= ENG_HDR_MAX + 16; len++)
		assert_non_null(wire_parse(hdr, len, 0, &msg));
	wire_put_base(hdr, WIRE_EAGER, 0, 0, 0, 0);
	for (len = 0; len < 16; len++)
		assert_non_null(wire_parse(hdr, len, 0, &msg));
	assert_null(wire_parse(hdr, 16, 0, &msg));
	hdr[0] = WIRE_OP_CNT;
	assert_non_null(wire_parse(hdr, 16, 0, &msg));
}

static void test_control(void **arg)
{
	size_t len;

	(void) arg;
	len = wire_put_pair(hdr, wire_put_base(hdr, WIRE_CTS, 0, 0, 5, 1000), 9);
	assert_null(wire_parse(hdr, len, 0, &msg));
	assert_int_equal(msg.rx_id, 9);
	assert_non_null(wire_parse(hdr, len, 1, &msg));
	hdr[len - 1] = 1;
	assert_non_null(wire_parse(hdr, len, 0, &msg));

	len = wire_put_pair(hdr, wire_put_base(hdr, WIRE_NACK, 0, 0, 5, 0), 13);
	assert_null(wire_parse(hdr, len, 0, &msg));
	assert_int_equal(msg.err, 13);
	wire_put_pair(hdr, 16, WIRE_ERR_MAX);
	assert_non_null(wire_parse(hdr, len, 0, &msg));
	wire_put_pair(hdr, 16, 0);
	assert_non_null(wire_parse(hdr, len, 0, &msg));

	len = wire_put_base(hdr, WIRE_ACK, WIRE_F_DELIVERED, 0, 5, 0);
	assert_null(wire_parse(hdr, len, 0, &msg));
	hdr[1] = WIRE_F_ARRIVED;
	assert_null(wire_parse(hdr, len, 0, &msg));
	hdr[1] = WIRE_F_ARRIVED | WIRE_F_DELIVERED;
	assert_non_null(wire_parse(hdr, len, 0, &msg));
	hdr[1] = 0;
	assert_non_null(wire_parse(hdr, len, 0, &msg));

	len = wire_put_base(hdr, WIRE_XOFF, 0, 0, 0, 0);
	assert_null(wire_parse(hdr, len, 0, &msg));
	assert_non_null(wire_parse(hdr, len, 8, &msg));
}

static void test_share(void **arg)
{
	struct wire_share share = { .tx_id = 3, .iface = 1, .proc = 4, .id = 5, .base = 1 << 20,
				    .alloc = 1000, .off = 900, .handle = "handle" };
	size_t len = wire_put_share(hdr, wire_put_base(hdr, WIRE_SHARE, 0, 0, 9, 100), &share);

	(void) arg;
	assert_null(wire_parse(hdr, len, 0, &msg));
	assert_int_equal(msg.id, 9);
	assert_memory_equal(&msg.share, &share, sizeof(share));
	assert_non_null(wire_parse(hdr, len, 1, &msg));
	assert_non_null(wire_parse(hdr, len - 1, 0, &msg));
	wire_put_base(hdr, WIRE_SHARE, 0, 0, 9, 101);
	assert_non_null(wire_parse(hdr, len, 0, &msg));
	wire_put_base(hdr, WIRE_SHARE, 0, 0, 9, 0);
	assert_non_null(wire_parse(hdr, len, 0, &msg));
	share.off = UINT64_MAX;
	wire_put_share(hdr, wire_put_base(hdr, WIRE_SHARE, 0, 0, 9, 100), &share);
	assert_non_null(wire_parse(hdr, len, 0, &msg));
}

/* A write without its payload: one range, all of it, and acknowledged. */
static void test_announced_write(void **arg)
{
	const unsigned all = WIRE_F_ANNOUNCED | WIRE_F_LAST | WIRE_F_DELIVERED;
	size_t len = wire_put_rma(hdr, wire_put_base(hdr, WIRE_WRITE, 0, 0, 9, 500), 64, 500, 5);
	unsigned flags;

	(void) arg;
	for (flags = 0; flags < 256; flags++) {
		hdr[1] = (uint8_t) flags;
		if ((flags & all) != all || (flags & ~(all | WIRE_F_SHARE)))
			assert_non_null(wire_parse(hdr, len, 0, &msg));
		else
			assert_null(wire_parse(hdr, len, 0, &msg));
	}
	assert_int_equal(msg.total, 500);
	hdr[1] = (uint8_t) all;
	assert_non_null(wire_parse(hdr, len, 500, &msg));
	wire_put_base(hdr, WIRE_WRITE, (uint8_t) all, 0, 9, 501);
	assert_non_null(wire_parse(hdr, len, 0, &msg));
	len = wire_put_rma(hdr, len, 64, 1, 5);
	assert_non_null(wire_parse(hdr, len, 0, &msg));
	len = wire_put_rma(hdr, wire_put_base(hdr, WIRE_WRITE, (uint8_t) all, 0, 9, 0), 64, 0, 5);
	assert_non_null(wire_parse(hdr, len, 0, &msg));
}

static void test_data_does_not_wrap(void **arg)
{
	size_t len = wire_put_word(hdr, wire_put_base(hdr, WIRE_DATA, 0, 0, 5, 10), 1 << 20);

	(void) arg;
	assert_null(wire_parse(hdr, len, 10, &msg));
	assert_int_equal(msg.off, 1 << 20);
	wire_put_word(hdr, 16, WIRE_LEN_MAX - 9);
	assert_non_null(wire_parse(hdr, len, 10, &msg));
	wire_put_word(hdr, 16, UINT64_MAX);
	assert_non_null(wire_parse(hdr, len, 10, &msg));
	wire_put_base(hdr, WIRE_DATA, 0, 0, 5, UINT64_MAX);
	assert_non_null(wire_parse(hdr, len, (size_t) -1, &msg));
}

static void test_remote_ranges(void **arg)
{
	size_t len, i;

	(void) arg;
	len = wire_put_base(hdr, WIRE_READ, 0, 0, 5, 8 * 100);
	assert_non_null(wire_parse(hdr, len, 0, &msg));
	for (i = 0; i < WIRE_RMA_MAX; i++)
		len = wire_put_rma(hdr, len, i << 12, 100, i);
	assert_null(wire_parse(hdr, len, 0, &msg));
	assert_int_equal(msg.rma_cnt, 8);
	assert_int_equal(msg.rma[7].addr, 7 << 12);
	assert_non_null(wire_parse(hdr, len - 24, 0, &msg));
	wire_put_rma(hdr, 16, 0, WIRE_LEN_MAX, 0);
	assert_non_null(wire_parse(hdr, len, 0, &msg));
	assert_non_null(wire_parse(hdr, len + 24, 0, &msg));

	/* more than there is room for, though lengths and sum agree */
	len = wire_put_base(hdr, WIRE_READ, 0, 0, 5, (WIRE_RMA_MAX + 1) * 100);
	for (i = 0; i <= WIRE_RMA_MAX; i++)
		len = wire_put_rma(hdr, len, i << 12, 100, i);
	assert_true(len <= ENG_HDR_MAX);
	assert_non_null(wire_parse(hdr, len, 0, &msg));
	/* a sum that wraps around to the length */
	len = wire_put_base(hdr, WIRE_WRITE, WIRE_F_LAST, 0, 5, 100);
	for (i = 0; i < 2; i++)
		len = wire_put_rma(hdr, len, 0, WIRE_LEN_MAX, 1);
	len = wire_put_rma(hdr, len, 0, 102, 1);
	assert_non_null(wire_parse(hdr, len, 100, &msg));

	len = wire_put_base(hdr, WIRE_WRITE, WIRE_F_DATA, 0, 5, 100);
	len = wire_put_rma(hdr, wire_put_word(hdr, wire_put_word(hdr, len, 42), 5000), 0, 100, 1);
	assert_non_null(wire_parse(hdr, len, 100, &msg));
	hdr[1] |= WIRE_F_LAST;
	assert_non_null(wire_parse(hdr, len, 100, &msg));
	hdr[1] |= WIRE_F_TOTAL;
	assert_null(wire_parse(hdr, len, 100, &msg));
	assert_int_equal(msg.data, 42);
	assert_int_equal(msg.total, 5000);
	assert_non_null(wire_parse(hdr, len, 0, &msg));
	hdr[1] &= ~WIRE_F_LAST;
	assert_non_null(wire_parse(hdr, len, 100, &msg));
	hdr[1] = WIRE_F_LAST | WIRE_F_TOTAL;
	len = wire_put_rma(hdr, wire_put_word(hdr, sizeof(struct wire_base), 99), 0, 100, 1);
	assert_non_null(wire_parse(hdr, len, 100, &msg));
	wire_put_word(hdr, sizeof(struct wire_base), 100);
	assert_null(wire_parse(hdr, len, 100, &msg));
}

/* As many ranges as their count says, with the sum of their lengths, be it more than a header has. */
static void test_counts_of_ranges(void **arg)
{
	static const unsigned counts[] = { 0, 1, WIRE_RMA_MAX, WIRE_RMA_MAX + 1, 255 };
	size_t len, i;

	(void) arg;
	for (i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		bool good = counts[i] && counts[i] <= WIRE_RMA_MAX;

		len = wire_put_base(hdr, WIRE_READ, 0, 0, 5, counts[i]);
		for (unsigned k = 0; k < counts[i]; k++)
			len = wire_put_rma(hdr, len, k << 12, 1, k);
		assert_int_equal(!wire_parse(hdr, len, 0, &msg), good);
		if (good)
			assert_int_equal(msg.rma_cnt, counts[i]);
	}
}

/* A well-formed header of each kind, with @payload bytes to follow. */
static size_t sample(enum wire_op op, size_t *payload)
{
	size_t len = wire_put_base(hdr, op, 0, 0, 1, *payload);

	switch (op) {
	case WIRE_DATA:
		return wire_put_word(hdr, len, 4096);
	case WIRE_READ:
	case WIRE_WRITE:
		len = wire_put_rma(hdr, len, 1 << 20, *payload / 2, 5);
		len = wire_put_rma(hdr, len, 1 << 21, *payload - *payload / 2, 6);
		if (op == WIRE_READ && !*payload)
			hdr[1] = WIRE_F_DELIVERED;
		*payload = op == WIRE_READ ? 0 : *payload;
		return len;
	case WIRE_ATOMIC:
		return wire_put_rma(hdr, wire_put_word(hdr, len, 0), 64, 1, 5);
	case WIRE_SHARE:
		*payload = 0;
		wire_put_base(hdr, op, 0, 0, 1, 50);
		return wire_put_share(hdr, len, &(struct wire_share) { .tx_id = 7, .alloc = 60 });
	case WIRE_CTS:
	case WIRE_NACK:
		wire_put_base(hdr, op, 0, 0, 1, 0);
		*payload = 0;
		return wire_put_pair(hdr, len, 7);
	case WIRE_EAGER:
		return len;
	default:
		wire_put_base(hdr, op, op == WIRE_ACK ? WIRE_F_MATCHED : 0, 0, 1, 0);
		*payload = 0;
		return len;
	}
}

static void test_mutations(void **arg)
{
	uint64_t state = 42;
	size_t i, j, len, payload, good = 0, runs = 500000;

	(void) arg;
	for (i = 0; i < runs; i++) {
		state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
		payload = i % 256;
		len = sample((enum wire_op) (1 + i % (WIRE_OP_CNT - 1)), &payload);
		assert_int_equal(wire_check(hdr, len, payload), 1);
		for (j = 0; j < 1 + (state >> 61); j++)
			hdr[(state >> (8 + j)) % len] = (uint8_t) (state >> (3 + 8 * (j & 7)));
		if (!((state >> 58) & 3))
			len = (state >> 33) % (ENG_HDR_MAX + 1);
		good += (size_t) wire_check(hdr, len, payload);
	}
	assert_true(good > runs / 20 && good < runs);
}

/* A header of any length, at the end of memory: what lies behind it is not read. */
static void test_nothing_behind_a_header_is_read(void **arg)
{
	size_t page = (size_t) sysconf(_SC_PAGESIZE), payload, len, cut;
	uint8_t *mem = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned op, flags;

	(void) arg;
	assert_true(mem != MAP_FAILED);
	assert_int_equal(mprotect(mem + page, page, PROT_NONE), 0);
	for (op = 1; op < WIRE_OP_CNT; op++)
		for (flags = 0; flags < 256; flags++) {
			payload = 100;
			len = sample((enum wire_op) op, &payload);
			hdr[1] = (uint8_t) flags;
			for (cut = 0; cut <= len; cut++) {
				memcpy(mem + page - cut, hdr, cut);
				wire_parse(mem + page - cut, cut, payload, &msg);
			}
		}
	munmap(mem, 2 * page);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_message),
		cmocka_unit_test(test_headers_of_impossible_length),
		cmocka_unit_test(test_control),
		cmocka_unit_test(test_share),
		cmocka_unit_test(test_announced_write),
		cmocka_unit_test(test_data_does_not_wrap),
		cmocka_unit_test(test_remote_ranges),
		cmocka_unit_test(test_counts_of_ranges),
		cmocka_unit_test(test_mutations),
		cmocka_unit_test(test_nothing_behind_a_header_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) ? 1 : 0;
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "base/test/swap.h"
#include "test/foreign.h"
#include "wire.h"

static struct rxd_hello a_hello(void)
{
	struct rxd_hello hello = {
		.cid = 0x1122334455667788, .epoch = 99, .serial = 3, .window = 1 << 20,
		.dgram_max = 1456, .engine = WIRE_VERSION, .kind = RXD_KIND_RDM, .addr_len = 16,
	};

	memset(hello.addr, 7, 16);
	return hello;
}

static size_t put_data(uint8_t *buf, uint8_t flags)
{
	struct rxd_ack ack = {
		.largest = 100, .limit = 5000, .delay_us = 7, .first = 9, .ect = 0x1234, .ce = 0x567,
		.cnt = 2,
	};
	size_t len = rxd_put_hdr(buf, RXD_DATA, flags, 42, 77);

	if (flags & RXD_F_ACK) {
		len = rxd_put_ack(buf, len, &ack);
		len = rxd_put_range(buf, len, 3, 4);
		len = rxd_put_range(buf, len, 1, 1);
	}
	len = rxd_put_u64(buf, len, 123456);
	rxd_seal(buf, len, &(struct iovec) { "stream", 6 }, flags & RXD_F_SUM ? 1 : 0);
	memcpy(buf + len, "stream", 6);
	return len + 6;
}

/* A request of a later version is one of ours if its sender still speaks ours; one of before is read as
 * far as all versions have it in common, so that its sender is told.
 */
static void test_other_requests(void **state)
{
	struct rxd_hello hello = a_hello();
	struct rxd_pkt pkt;
	uint8_t buf[256];
	size_t len;

	hello.oldest = RXD_VERSION;
	hello.engine_oldest = WIRE_VERSION;
	len = rxd_put_hdr(buf, RXD_HELLO, RXD_F_SUM, 0, 0);
	len = rxd_put_hello(buf, len, &hello, NULL);
	buf[offsetof(struct rxd_hdr, version)] = RXD_MARK | (RXD_VERSION + 2);
	rxd_seal(buf, len, NULL, 0);
	assert_null(rxd_parse(buf, len, &pkt));
	assert_int_equal(pkt.version.link, RXD_VERSION + 2);
	assert_int_equal(pkt.version.link_oldest, RXD_VERSION);
	assert_int_equal(pkt.hello.window, 1 << 20);
	/* shorter than ours */
	buf[offsetof(struct rxd_hdr, version)] = RXD_MARK | (RXD_RANGED - 1);
	len = sizeof(struct rxd_hdr) + RXD_HELLO_STABLE;
	rxd_seal(buf, len, NULL, 0);
	assert_null(rxd_parse(buf, len, &pkt));
	assert_int_equal(pkt.version.link, RXD_RANGED - 1);
	assert_int_equal(pkt.version.link_oldest, RXD_RANGED - 1);
}

static void test_data(void **state)
{
	struct rxd_pkt pkt;
	uint8_t buf[256];
	size_t len = put_data(buf, RXD_F_PN | RXD_F_ACK | RXD_F_NOW);

	assert_null(rxd_parse(buf, len, &pkt));
	assert_int_equal(pkt.conn, 42);
	assert_int_equal(pkt.pn, 77);
	assert_int_equal(pkt.ack.largest, 100);
	assert_int_equal(pkt.ack.limit, 5000);
	assert_int_equal(pkt.ack.first, 9);
	assert_int_equal(pkt.ack.ect, 0x1234);
	assert_int_equal(pkt.ack.ce, 0x567);
	assert_int_equal(rxd_pkt_range(&pkt, 0).gap, 3);
	assert_int_equal(rxd_pkt_range(&pkt, 1).len, 1);
	assert_int_equal(pkt.off, 123456);
	assert_int_equal(pkt.len, 6);
	assert_memory_equal(pkt.data, "stream", 6);
	/* the stream is covered on demand only */
	buf[len - 1] ^= 1;
	assert_null(rxd_parse(buf, len, &pkt));
	len = put_data(buf, RXD_F_PN | RXD_F_SUM);
	assert_null(rxd_parse(buf, len, &pkt));
	buf[len - 1] ^= 1;
	assert_string_equal(rxd_parse(buf, len, &pkt), "corrupted");
}

static void test_handshake(void **state)
{
	struct rxd_hello hello = a_hello();
	struct rxd_pkt pkt;
	uint8_t buf[RXD_HANDSHAKE_MAX + 1];
	size_t len;

	hello.data_len = 5;
	len = rxd_put_hdr(buf, RXD_HELLO, RXD_F_SUM, 0, 0);
	len = rxd_put_hello(buf, len, &hello, "hello");
	rxd_seal(buf, len, NULL, 0);
	assert_null(rxd_parse(buf, len, &pkt));
	assert_int_equal(pkt.hello.cid, hello.cid);
	assert_int_equal(pkt.hello.window, hello.window);
	assert_memory_equal(pkt.hello.addr, hello.addr, RXD_ADDR_MAX);
	assert_int_equal(pkt.len, 5);
	assert_memory_equal(pkt.data, "hello", 5);
	hello.peer_cid = 9;
	len = rxd_put_hdr(buf, RXD_WELCOME, RXD_F_SUM, 9, 0);
	len = rxd_put_hello(buf, len, &hello, "hello");
	rxd_seal(buf, len, NULL, 0);
	assert_null(rxd_parse(buf, len, &pkt));
	len = rxd_put_hdr(buf, RXD_RETRY, RXD_F_SUM, 9, 0);
	len = rxd_put_u64(buf, len, 0xabc);
	len = rxd_put_u64(buf, len, 0xdef);
	rxd_seal(buf, len, NULL, 0);
	assert_null(rxd_parse(buf, len, &pkt));
	assert_int_equal(pkt.cookie.mac, 0xabc);
}

/* The order of the bytes is part of the format: a request in the other one is dropped. */
static void test_other_order(void **state)
{
	static const struct swap_field hdr[] = {
		SWAP_FIELD(struct rxd_hdr, crc), SWAP_FIELD(struct rxd_hdr, conn), SWAP_FIELD(struct rxd_hdr, pn),
	}, fields[] = {
		SWAP_FIELD(struct rxd_hello, cid), SWAP_FIELD(struct rxd_hello, peer_cid),
		SWAP_FIELD(struct rxd_hello, epoch), SWAP_FIELD(struct rxd_hello, serial),
		SWAP_FIELD(struct rxd_hello, cookie.mac), SWAP_FIELD(struct rxd_hello, cookie.stamp),
		SWAP_FIELD(struct rxd_hello, window), SWAP_FIELD(struct rxd_hello, dgram_max),
		SWAP_FIELD(struct rxd_hello, data_len), SWAP_FIELD(struct rxd_hello, release.commit),
	};
	struct rxd_hello hello = a_hello();
	struct rxd_pkt pkt;
	uint8_t buf[RXD_HANDSHAKE_MAX];
	size_t len;

	hello.oldest = RXD_OLDEST;
	hello.engine_oldest = WIRE_OLDEST;
	len = rxd_put_hdr(buf, RXD_HELLO, RXD_F_SUM, 0, 0);
	len = rxd_put_hello(buf, len, &hello, NULL);
	swap_bytes(buf + sizeof(struct rxd_hdr), fields, sizeof(fields) / sizeof(fields[0]));
	rxd_seal(buf, len, NULL, 0);
	swap_bytes(buf, hdr, sizeof(hdr) / sizeof(hdr[0]));
	assert_string_equal(rxd_parse(buf, len, &pkt), "corrupted");
}

/* HELLO and REFUSE of another version are understood; nothing else of it is read. */
static void test_versions(void **state)
{
	struct rxd_refuse refuse = { .reason = htole16(CHAN_VERSION_BAD) };
	struct rxd_hello hello = a_hello();
	struct rxd_pkt pkt;
	uint8_t buf[RXD_HANDSHAKE_MAX + 100] = { 0 };
	size_t len, data;

	hello.kind = 77;	/* unknown here */
	len = rxd_put_hdr(buf, RXD_HELLO, 0x80, 0, 0);
	len = rxd_put_hello(buf, len, &hello, NULL) + 100;
	memset(buf + len - 100, 5, 100);
	buf[offsetof(struct rxd_hdr, version)] = RXD_MARK | (RXD_VERSION + 7);
	rxd_seal(buf, len, NULL, 0);
	assert_null(rxd_parse(buf, len, &pkt));
	assert_int_equal(pkt.version.link, RXD_VERSION + 7);
	assert_int_equal(pkt.hello.cid, hello.cid);
	assert_int_equal(pkt.hello.addr_len, 16);
	buf[len - 1] ^= 1;
	assert_non_null(rxd_parse(buf, len, &pkt));
	hello.addr_len = RXD_ADDR_MAX + 1;
	rxd_put_hello(buf, sizeof(struct rxd_hdr), &hello, NULL);
	rxd_seal(buf, len, NULL, 0);
	assert_non_null(rxd_parse(buf, len, &pkt));

	len = rxd_put_hdr(buf, RXD_REFUSE, 0, 9, 0);
	memcpy(buf + len, &refuse, sizeof(refuse));
	len += sizeof(refuse);
	buf[offsetof(struct rxd_hdr, version)] = RXD_MARK | (RXD_VERSION - 1);
	rxd_seal(buf, len, NULL, 0);
	assert_null(rxd_parse(buf, len, &pkt));
	assert_int_equal(pkt.reason, CHAN_VERSION_BAD);
	for (data = sizeof(struct rxd_hdr); data < len; data++)
		assert_non_null(rxd_parse(buf, data, &pkt));
	buf[len - sizeof(refuse)] = CHAN_REJECTED;
	rxd_seal(buf, len, NULL, 0);
	assert_non_null(rxd_parse(buf, len, &pkt));

	len = put_data(buf, RXD_F_PN | RXD_F_SUM);
	buf[offsetof(struct rxd_hdr, version)]++;
	rxd_seal(buf, len, NULL, 0);
	assert_non_null(rxd_parse(buf, len, &pkt));
}

/* An endpoint of another library drops every datagram of ours, whatever its type. */
static void test_foreign_receiver(void **state)
{
	struct rxd_hello hello = a_hello();
	uint8_t buf[RXD_HANDSHAKE_MAX], theirs[24] = { FOREIGN_VERSION, FOREIGN_RTS };
	struct rxd_pkt pkt;
	unsigned type, flags;
	size_t len;

	for (type = RXD_HELLO; type < RXD_TYPE_CNT; type++) {
		for (flags = 0; flags <= RXD_F_ALL; flags++) {
			len = rxd_put_hdr(buf, (enum rxd_type) type, (uint8_t) flags, ~UINT64_C(0), 5);
			assert_true(foreign_discards(buf, len));
		}
	}
	len = rxd_put_hdr(buf, RXD_HELLO, RXD_F_SUM, 0, 0);
	len = rxd_put_hello(buf, len, &hello, NULL);
	rxd_seal(buf, len, NULL, 0);
	assert_true(foreign_discards(buf, len));
	/* nor is a datagram of theirs taken for one of ours */
	for (type = 0; type < 256; type++) {
		theirs[1] = (uint8_t) type;
		assert_string_equal(rxd_parse(theirs, sizeof(theirs), &pkt), "no packet of ours");
	}
}

/* Every truncation and every flipped bit of a covered packet is seen, and nothing is
 * read beyond its end: the copy has just its size.
 */
static void test_damage(void **state)
{
	uint8_t buf[256], *copy;
	size_t len = put_data(buf, RXD_F_PN | RXD_F_ACK | RXD_F_SUM), i;
	struct rxd_pkt pkt;

	for (i = 0; i < len; i++) {
		copy = malloc(i ? i : 1);
		memcpy(copy, buf, i);
		assert_non_null(rxd_parse(copy, i, &pkt));
		free(copy);
	}
	for (i = 0; i < 8 * len; i++) {
		buf[i / 8] ^= (uint8_t) (1 << i % 8);
		assert_non_null(rxd_parse(buf, len, &pkt));
		buf[i / 8] ^= (uint8_t) (1 << i % 8);
	}
	assert_null(rxd_parse(buf, len, &pkt));
}

static void test_ranges_do_not_wrap(void **state)
{
	struct rxd_ack ack = { .largest = 10, .first = 3, .cnt = 1 };
	struct rxd_pkt pkt;
	uint8_t buf[256];
	size_t len;

	for (uint32_t gap = 0; gap < 9; gap++) {
		len = rxd_put_hdr(buf, RXD_DATA, RXD_F_ACK, 42, 0);
		len = rxd_put_ack(buf, len, &ack);
		len = rxd_put_range(buf, len, gap, 2);
		rxd_seal(buf, len, NULL, 0);
		/* 7 is the lowest of the first range: 5 missing and 2 there end at 0 */
		assert_int_equal(rxd_parse(buf, len, &pkt) == NULL, gap >= 1 && gap <= 5);
	}
}

/* As many further ranges as their count says, be it more than an acknowledgement has. */
static void test_counts_of_ranges(void **state)
{
	static const unsigned counts[] = { 0, 1, RXD_RANGES_MAX, RXD_RANGES_MAX + 1, 255 };
	struct rxd_ack ack = { .largest = 1000 };
	struct rxd_pkt pkt;
	uint8_t buf[256 * sizeof(struct rxd_range) + 256];
	size_t len, i;

	for (i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		ack.cnt = (uint8_t) counts[i];
		len = rxd_put_hdr(buf, RXD_DATA, RXD_F_ACK, 42, 0);
		len = rxd_put_ack(buf, len, &ack);
		for (unsigned k = 0; k < counts[i]; k++)
			len = rxd_put_range(buf, len, 1, 1);
		rxd_seal(buf, len, NULL, 0);
		assert_int_equal(!rxd_parse(buf, len, &pkt), counts[i] <= RXD_RANGES_MAX);
		if (counts[i] <= RXD_RANGES_MAX)
			assert_int_equal(pkt.ack.cnt, counts[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_data),
		cmocka_unit_test(test_handshake),
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_other_requests),
		cmocka_unit_test(test_other_order),
		cmocka_unit_test(test_foreign_receiver),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_ranges_do_not_wrap),
		cmocka_unit_test(test_counts_of_ranges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "wire.h"

static void hello_survives(void **state)
{
	struct rxm_hello in = {
		.addr_len = 16, .epoch = 0x123456789abcdef, .buf_size = 16384, .credits = 16, .longs = 8,
	}, out;
	uint8_t wire[sizeof(in)];
	size_t len, i;

	memset(in.addr, 0x5a, in.addr_len);
	len = rxm_put_hello(wire, &in);
	assert_true(len <= 56);	/* what the smallest connection manager carries */
	assert_null(rxm_parse_hello(wire, len, &out));
	assert_int_equal(out.epoch, in.epoch);
	assert_int_equal(out.buf_size, in.buf_size);
	assert_int_equal(out.credits, in.credits);
	assert_int_equal(out.longs, in.longs);
	assert_memory_equal(out.addr, in.addr, in.addr_len);
	for (i = 0; i < len; i++)
		assert_non_null(rxm_parse_hello(wire, i, &out));
	wire[0] ^= 1;
	assert_non_null(rxm_parse_hello(wire, len, &out));
}

static void senseless_hellos_are_refused(void **state)
{
	static const struct rxm_hello good = {
		.addr_len = 16, .epoch = 1, .buf_size = 16384, .credits = 16, .longs = 8,
	};
	uint8_t wire[sizeof(good)];
	struct rxm_hello bad, out;

	bad = good, bad.credits = 0;
	assert_non_null(rxm_parse_hello(wire, rxm_put_hello(wire, &bad), &out));
	bad = good, bad.longs = 0;
	assert_non_null(rxm_parse_hello(wire, rxm_put_hello(wire, &bad), &out));
	bad = good, bad.epoch = 0;
	assert_non_null(rxm_parse_hello(wire, rxm_put_hello(wire, &bad), &out));
	bad = good, bad.buf_size = 64;
	assert_non_null(rxm_parse_hello(wire, rxm_put_hello(wire, &bad), &out));
	rxm_put_hello(wire, &good);
	wire[offsetof(struct rxm_hello, addr_len)] = RXM_ADDR_MAX + 1;
	assert_non_null(rxm_parse_hello(wire, sizeof(wire), &out));
}

static void refusals_survive(void **state)
{
	uint8_t wire[sizeof(struct rxm_no)];

	assert_int_equal(rxm_parse_no(wire, rxm_put_no(wire, RXM_CROSSED)), RXM_CROSSED);
	assert_int_equal(rxm_parse_no(wire, sizeof(wire) - 1), 0);
	assert_int_equal(rxm_parse_no(NULL, 0), 0);
	wire[0] ^= 1;
	assert_int_equal(rxm_parse_no(wire, sizeof(wire)), 0);
}

/* One of each kind. */
static size_t message(uint8_t *buf)
{
	static char text[] = "payload in two pieces";
	struct eng_pkt pkt = {
		.hdr_len = 24, .iov_cnt = 2, .len = sizeof(text),
		.iov = { { text, 10 }, { text + 10, sizeof(text) - 10 } },
	};
	struct rxm_seg seg[2] = { { 0x1000, 10, 7 }, { 0x2000, sizeof(text) - 10, 8 } };
	size_t at = sizeof(struct rxm_head);

	memset(pkt.hdr, 0xab, pkt.hdr_len);
	rxm_put_head(buf, 0, 5);
	at = rxm_put_eager(buf, at, &pkt);
	at = rxm_put_long(buf, at, &pkt, 42, seg, 2);
	return rxm_put_free(buf, at, 77);
}

static void frames_survive(void **state)
{
	uint8_t buf[1024];
	size_t len = message(buf), at = sizeof(struct rxm_head);
	struct rxm_head head;
	struct rxm_item item;

	assert_null(rxm_parse(buf, len, &head));
	assert_int_equal(head.credits, 5);
	at = rxm_next(buf, at, &item);
	assert_int_equal(item.kind, RXM_EAGER);
	assert_int_equal(item.hdr_len, 24);
	assert_string_equal((const char *) item.data, "payload in two pieces");
	at = rxm_next(buf, at, &item);
	assert_int_equal(item.kind, RXM_LONG);
	assert_int_equal(item.id, 42);
	assert_int_equal(item.segs, 2);
	assert_int_equal(item.seg[1].addr, 0x2000);
	assert_int_equal(item.seg[1].key, 8);
	assert_int_equal(item.len, sizeof("payload in two pieces"));
	at = rxm_next(buf, at, &item);
	assert_int_equal(item.kind, RXM_FREE);
	assert_int_equal(item.id, 77);
	assert_int_equal(at, len);
}

/* A message that is cut anywhere but between frames is none. */
static void cut_messages_are_refused(void **state)
{
	uint8_t buf[1024], *copy;
	size_t len = message(buf), at = sizeof(struct rxm_head), i;
	struct rxm_head head;
	struct rxm_item item;

	for (i = 0; i < len; i++) {
		if (i == at) {
			at = rxm_next(buf, at, &item);
			continue;
		}
		copy = malloc(i ? i : 1);	/* so that a sanitizer sees a step too far */
		memcpy(copy, buf, i);
		assert_non_null(rxm_parse(copy, i, &head));
		free(copy);
	}
}

static void refused_with(size_t at, uint8_t value)
{
	uint8_t buf[1024];
	size_t len = message(buf);
	struct rxm_head head;

	buf[at] = value;
	assert_non_null(rxm_parse(buf, len, &head));
}

static void senseless_messages_are_refused(void **state)
{
	size_t frame = sizeof(struct rxm_head);
	size_t lng = frame + sizeof(struct rxm_frame) + 24 + sizeof("payload in two pieces");

	refused_with(0, 0x80);			/* flags */
	refused_with(0, RXM_F_SPARE);		/* took no credit, but has payload */
	refused_with(4, 1);			/* zero */
	refused_with(frame, 0);			/* kind */
	refused_with(frame, RXM_KIND_CNT);
	refused_with(frame + 1, 1);		/* segments of an EAGER */
	refused_with(frame + 2, 0);		/* no header */
	refused_with(frame + 3, 1);		/* too long a header */
	refused_with(frame + 4, 1);		/* zero */
	refused_with(frame + 8 + 7, 0xff);	/* payload beyond the end */
	refused_with(lng + 1, 0);		/* a LONG of nothing */
	refused_with(lng + 1, ENG_IOV_MAX + 1);
	refused_with(lng + 8, 1);		/* segments that do not add up */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hello_survives),
		cmocka_unit_test(senseless_hellos_are_refused),
		cmocka_unit_test(refusals_survive),
		cmocka_unit_test(frames_survive),
		cmocka_unit_test(cut_messages_are_refused),
		cmocka_unit_test(senseless_messages_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

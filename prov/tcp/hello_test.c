/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"
#include <arpa/inet.h>
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <string.h>

#include "base/test/swap.h"
#include "frame.h"
#include "tcp/test/hello_check.h"

static uint64_t seed = 42;

static uint64_t draw(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static struct tcp_hello sample(uint16_t data_len)
{
	struct tcp_hello hello = {
		.type = TCP_WIRE_HELLO,
		.kind = TCP_WIRE_RDM,
		.version = chan_version_ours(TCP_WIRE_VERSION, TCP_WIRE_OLDEST),
		.data_len = data_len,
		.epoch = 0x1122334455667788,
		.serial = 7,
		.prev = 6,
		.max_payload = 1 << 20,
	};

	hello.addr.in.sin_family = AF_INET;
	hello.addr.in.sin_port = htons(4711);
	inet_pton(AF_INET, "192.0.2.7", &hello.addr.in.sin_addr);
	return hello;
}

static size_t write_sample(uint8_t *buf, uint16_t data_len)
{
	struct tcp_hello hello = sample(data_len);
	size_t i;

	tcp_hello_pack(&hello, buf);
	for (i = 0; i < data_len; i++)
		buf[TCP_WIRE_HELLO_SIZE + i] = (uint8_t) (i * 7);
	return TCP_WIRE_HELLO_SIZE + data_len;
}

static void a_handshake_survives_every_split(void **state)
{
	static const uint16_t sizes[] = { 0, 1, 100, TCP_WIRE_DATA_MAX };
	uint8_t buf[TCP_WIRE_HELLO_SIZE + TCP_WIRE_DATA_MAX + 1];
	struct tcp_hello want, got;
	size_t i, len, piece, used;

	for (i = 0; i < 4; i++) {
		want = sample(sizes[i]);
		len = write_sample(buf, sizes[i]);
		for (piece = 1; piece <= len; piece++) {
			memset(&got, 0, sizeof(got));
			assert_int_equal(read_like_a_socket(buf, len + 1, piece, &got, &used),
					 TCP_HELLO_OK);
			assert_int_equal(used, len);	/* not a byte of the frame behind */
			assert_memory_equal(&got, &want, sizeof(got));
		}
		for (used = 1; used < len; used++)
			assert_int_equal(tcp_hello_parse(buf, used, &got), TCP_HELLO_MORE);
	}
}

static void addresses_of_both_families_and_none(void **state)
{
	uint8_t buf[TCP_WIRE_HELLO_SIZE];
	struct tcp_hello want = sample(0), got;

	memset(&want.addr, 0, sizeof(want.addr));
	want.addr.in6.sin6_family = AF_INET6;
	want.addr.in6.sin6_port = htons(1);
	inet_pton(AF_INET6, "2001:db8::17", &want.addr.in6.sin6_addr);
	tcp_hello_pack(&want, buf);
	assert_int_equal(tcp_hello_parse(buf, sizeof(buf), &got), TCP_HELLO_OK);
	assert_memory_equal(&got.addr, &want.addr, sizeof(got.addr));

	memset(&want.addr, 0, sizeof(want.addr));
	tcp_hello_pack(&want, buf);
	assert_int_equal(tcp_hello_parse(buf, sizeof(buf), &got), TCP_HELLO_OK);
	assert_memory_equal(&got.addr, &want.addr, sizeof(got.addr));
}

/* A peer that has not proven the key learns why, and neither the host nor the exact build. */
static void a_refusal_in_the_clear_names_no_host(void **state)
{
	uint8_t buf[TCP_WIRE_HELLO_SIZE];
	struct tcp_hello want = sample(0), got;

	want.type = TCP_WIRE_REFUSE;
	want.reason = CHAN_INSECURE;
	want.host = 7;
	tcp_hello_pack(&want, buf);
	assert_int_equal(tcp_hello_parse(buf, sizeof(buf), &got), TCP_HELLO_OK);
	assert_int_equal(got.reason, CHAN_INSECURE);
	assert_int_equal(got.host, 0);
	assert_int_equal(got.version.release.commit, 0);
}

static void impossible_fields_are_found(void **state)
{
	static const struct { size_t at; uint8_t value; } bad[] = {
		{ offsetof(struct tcp_wire_hello, size) + 1, 81 },
		{ offsetof(struct tcp_wire_hello, type), 0 },
		{ offsetof(struct tcp_wire_hello, type), 5 },
		{ offsetof(struct tcp_wire_hello, type), TCP_WIRE_REFUSE },	/* without a reason */
		{ offsetof(struct tcp_wire_hello, reason) + 3, 1 },		/* but no refusal */
		{ offsetof(struct tcp_wire_hello, kind), 0 },
		{ offsetof(struct tcp_wire_hello, kind), 3 },
		{ offsetof(struct tcp_wire_hello, data_len), 3 },		/* 768 bytes */
		{ offsetof(struct tcp_wire_hello, addr), 5 },
		{ offsetof(struct tcp_wire_hello, max_payload) + 5, 0 },
	};
	struct tcp_hello got;
	uint8_t buf[TCP_WIRE_HELLO_SIZE + TCP_WIRE_DATA_MAX] = { 0 };
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		write_sample(buf, 0);
		buf[bad[i].at] = bad[i].value;
		assert_int_equal(tcp_hello_parse(buf, sizeof(buf), &got), TCP_HELLO_BAD);
	}
	/* one byte more of private data than there may be */
	write_sample(buf, 0);
	buf[offsetof(struct tcp_wire_hello, data_len)] = TCP_WIRE_DATA_MAX >> 8;
	assert_int_equal(tcp_hello_parse(buf, sizeof(buf), &got), TCP_HELLO_OK);
	buf[offsetof(struct tcp_wire_hello, data_len) + 1] = 1;
	assert_int_equal(tcp_hello_parse(buf, sizeof(buf), &got), TCP_HELLO_BAD);
}

static void another_version_can_still_be_told_why(void **state)
{
	struct tcp_hello hello = sample(0), got;
	uint8_t buf[TCP_WIRE_HELLO_SIZE];

	hello.type = TCP_WIRE_REFUSE;
	hello.reason = CHAN_VERSION_BAD;
	tcp_hello_pack(&hello, buf);
	buf[offsetof(struct tcp_wire_hello, version)] = buf[offsetof(struct tcp_wire_hello, oldest)] = 9;
	buf[offsetof(struct tcp_wire_hello, size) + 1] = 200;	/* longer in that version */
	assert_int_equal(tcp_hello_parse(buf, TCP_WIRE_STABLE, &got), TCP_HELLO_VERSION);
	assert_int_equal(got.type, TCP_WIRE_REFUSE);
	assert_int_equal(got.reason, CHAN_VERSION_BAD);
	/* a later one that speaks ours, too, is no other */
	write_sample(buf, 0);
	buf[offsetof(struct tcp_wire_hello, version)] = 9;
	assert_int_equal(tcp_hello_parse(buf, sizeof(buf), &got), TCP_HELLO_OK);
	assert_int_equal(got.version.link, 9);
	assert_int_equal(got.version.link_oldest, TCP_WIRE_OLDEST);
}

/* The order of the bytes is part of the format: one that has the other order is no handshake of another version. */
static void a_handshake_in_the_other_byte_order_is_found(void **state)
{
	static const struct swap_field fields[] = {
		SWAP_FIELD(struct tcp_wire_hello, size), SWAP_FIELD(struct tcp_wire_hello, data_len),
		SWAP_FIELD(struct tcp_wire_hello, reason), SWAP_FIELD(struct tcp_wire_hello, commit),
		SWAP_FIELD(struct tcp_wire_hello, epoch), SWAP_FIELD(struct tcp_wire_hello, serial),
		SWAP_FIELD(struct tcp_wire_hello, prev), SWAP_FIELD(struct tcp_wire_hello, max_payload),
		SWAP_FIELD(struct tcp_wire_hello, addr.host),
	};
	uint8_t buf[TCP_WIRE_HELLO_SIZE];
	struct tcp_hello got;

	write_sample(buf, 0);
	swap_bytes(buf, fields, sizeof(fields) / sizeof(fields[0]));
	assert_int_equal(tcp_hello_parse(buf, sizeof(buf), &got), TCP_HELLO_BAD);
}

/* The link's version is ours, that of the packets which it will carry is not. */
static void another_engine_version_is_no_match(void **state)
{
	uint8_t buf[TCP_WIRE_HELLO_SIZE];
	struct tcp_hello got;

	write_sample(buf, 0);
	assert_int_equal(tcp_hello_parse(buf, sizeof(buf), &got), TCP_HELLO_OK);
	buf[offsetof(struct tcp_wire_hello, engine_oldest)] = ++buf[offsetof(struct tcp_wire_hello, engine)];
	assert_int_equal(tcp_hello_parse(buf, sizeof(buf), &got), TCP_HELLO_VERSION);
	assert_int_equal(got.version.link, TCP_WIRE_VERSION);
	assert_int_equal(got.version.engine, (uint8_t) (chan_version_ours(0, 0).engine + 1));
}

static void other_protocols_are_identified(void **state)
{
	static const struct { const char *text; const char *name; bool answer; } said[] = {
		{ "GET / HTTP/1.1\r\n", "an HTTP client", true },
		{ "PRI * HTTP/2.0\r\n", "an HTTP client", true },
		{ "SSH-2.0-OpenSSH", "an SSH client", false },
		{ "\x16\x03\x01\x02", "a TLS client", false },
		{ "EHLO example\r\n", "a program that sends text", false },
	};
	struct tcp_hello got;
	const char *answer;
	size_t i, len;

	for (i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
		const uint8_t *bytes = (const uint8_t *) said[i].text;
		size_t have = strlen(said[i].text);

		assert_int_equal(tcp_hello_parse(bytes, 1, &got), TCP_HELLO_FOREIGN);
		assert_string_equal(tcp_hello_identify(bytes, have), said[i].name);
		answer = tcp_hello_http_answer(bytes, have, &len);
		assert_int_equal(answer != NULL, said[i].answer);
		if (answer)
			assert_memory_equal(answer, "HTTP/1.1 400 ", 13);
	}
}

static void no_bytes_do_harm(void **state)
{
	uint8_t buf[TCP_WIRE_HELLO_SIZE + TCP_WIRE_DATA_MAX];
	struct tcp_hello question = sample(0);
	size_t i, k, len;

	question.type = TCP_WIRE_CHECK;
	tcp_hello_pack(&question, buf);
	check_handshake(buf, TCP_WIRE_HELLO_SIZE);
	for (i = 0; i < 5000; i++) {
		len = write_sample(buf, (uint16_t) (draw() % 40));
		if (draw() % 8 == 0)		/* garbage from here on */
			for (k = draw() % len; k < len; k++)
				buf[k] = (uint8_t) draw();
		for (k = draw() % 4; k; k--)	/* or a few bytes changed */
			buf[draw() % TCP_WIRE_HELLO_SIZE] = (uint8_t) draw();
		check_handshake(buf, draw() % 4 ? len : draw() % len);
	}
}

/* ---- frames ---------------------------------------------------------------------- */

static void a_frame_header_survives_every_split(void **state)
{
	uint8_t buf[TCP_FRAME_SIZE + ENG_HDR_MAX] = { 0 };
	size_t hdr, have, hdr_len;
	uint64_t len;
	bool striped;

	for (hdr = 1; hdr <= ENG_HDR_MAX; hdr++) {
		tcp_frame_put(buf, hdr, 123456);
		for (have = 0; have < TCP_FRAME_SIZE + hdr; have++)
			assert_int_equal(tcp_frame_get(buf, have, 1 << 20, &hdr_len, &len, &striped),
					 TCP_FRAME_MORE);
		assert_int_equal(tcp_frame_get(buf, have, 1 << 20, &hdr_len, &len, &striped),
				 TCP_FRAME_OK);
		assert_int_equal(hdr_len, hdr);
		assert_int_equal(len, 123456);
		assert_false(striped);
	}
}

static void frames_with_impossible_lengths_are_found(void **state)
{
	uint8_t buf[TCP_FRAME_SIZE];
	size_t hdr_len;
	uint64_t len;
	bool striped;

	tcp_frame_put(buf, 0, 0);
	assert_int_equal(tcp_frame_get(buf, 8, 100, &hdr_len, &len, &striped), TCP_FRAME_BAD);
	tcp_frame_put(buf, ENG_HDR_MAX + 1, 0);
	assert_int_equal(tcp_frame_get(buf, 8, 100, &hdr_len, &len, &striped), TCP_FRAME_BAD);
	tcp_frame_put(buf, 16, 101);
	assert_int_equal(tcp_frame_get(buf, 8, 100, &hdr_len, &len, &striped), TCP_FRAME_BAD);
	tcp_frame_put(buf, 16, (UINT64_C(1) << 48) - 1);
	assert_int_equal(tcp_frame_get(buf, 8, 1 << 20, &hdr_len, &len, &striped), TCP_FRAME_BAD);
	tcp_frame_put(buf, 16, 100);
	assert_int_equal(tcp_frame_get(buf, 8, 100, &hdr_len, &len, &striped), TCP_FRAME_MORE);
	tcp_frame_put(buf, 16 | TCP_FRAME_STRIPED, TCP_STRIPE_MIN - 1);
	assert_int_equal(tcp_frame_get(buf, 8, 1 << 20, &hdr_len, &len, &striped), TCP_FRAME_BAD);
}

static void a_striped_payload_is_marked(void **state)
{
	uint8_t buf[TCP_FRAME_SIZE + 16] = { 0 };
	size_t hdr_len;
	uint64_t len;
	bool striped;

	tcp_frame_put(buf, 16 | TCP_FRAME_STRIPED, TCP_STRIPE_MIN + 1);
	assert_int_equal(tcp_frame_get(buf, sizeof(buf), 1 << 20, &hdr_len, &len, &striped),
			 TCP_FRAME_OK);
	assert_true(striped);
	assert_int_equal(hdr_len, 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_handshake_survives_every_split),
		cmocka_unit_test(addresses_of_both_families_and_none),
		cmocka_unit_test(a_refusal_in_the_clear_names_no_host),
		cmocka_unit_test(impossible_fields_are_found),
		cmocka_unit_test(another_version_can_still_be_told_why),
		cmocka_unit_test(a_handshake_in_the_other_byte_order_is_found),
		cmocka_unit_test(another_engine_version_is_no_match),
		cmocka_unit_test(other_protocols_are_identified),
		cmocka_unit_test(no_bytes_do_harm),
		cmocka_unit_test(a_frame_header_survives_every_split),
		cmocka_unit_test(frames_with_impossible_lengths_are_found),
		cmocka_unit_test(a_striped_payload_is_marked),
	};

	return cmocka_run_group_tests_name("tcp_hello", tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * hello_check.h - what must hold for any bytes that begin a connection.
 * Shared by the unit test and the fuzzer; fails by abort().
 */
#ifndef TCP_HELLO_CHECK_H
#define TCP_HELLO_CHECK_H

#include <stdlib.h>
#include <string.h>

#include "tcp/hello.h"

#define CHECK(cond) do { if (!(cond)) abort(); } while (0)

/* read_like_a_socket - feed @len bytes in pieces, never more than is asked for, as
 * the handshake's reader does.  Returns the verdict; MORE: the bytes ran out.
 */
static enum tcp_hello_verdict read_like_a_socket(const uint8_t *data, size_t len, size_t piece,
						 struct tcp_hello *hello, size_t *used_p)
{
	/* exactly as large as what has been read: a sanitizer sees any look beyond */
	enum tcp_hello_verdict verdict = TCP_HELLO_MORE;
	size_t have = 0, ask;
	uint8_t *buf;

	while (verdict == TCP_HELLO_MORE) {
		buf = malloc(have ? have : 1);
		memcpy(buf, data, have);
		ask = tcp_hello_need(buf, have);
		free(buf);
		CHECK(ask > have && ask <= TCP_WIRE_HELLO_SIZE + TCP_WIRE_DATA_MAX);
		ask -= have;
		if (ask > piece)
			ask = piece;
		if (ask > len - have)
			ask = len - have;
		if (!ask)
			break;
		have += ask;
		buf = malloc(have);
		memcpy(buf, data, have);
		verdict = tcp_hello_parse(buf, have, hello);
		CHECK(tcp_hello_identify(buf, have) != NULL);
		free(buf);
	}
	*used_p = have;
	return verdict;
}

static inline void check_handshake(const uint8_t *data, size_t len)
{
	uint8_t again[TCP_WIRE_HELLO_SIZE];
	struct tcp_hello one = { 0 }, all = { 0 };
	enum tcp_hello_verdict verdict;
	size_t used, used_all;

	verdict = read_like_a_socket(data, len, SIZE_MAX, &all, &used_all);
	CHECK(read_like_a_socket(data, len, 1, &one, &used) == verdict);
	CHECK(chan_reason_text(all.reason) && chan_reason_errno(all.reason) > 0);
	if (verdict != TCP_HELLO_OK)
		return;
	CHECK(!memcmp(&one, &all, sizeof(all)));
	CHECK(used == used_all && used == (size_t) TCP_WIRE_HELLO_SIZE + all.data_len);
	CHECK(all.type >= TCP_WIRE_HELLO && all.type <= TCP_WIRE_CHECK);
	CHECK(all.data_len <= TCP_WIRE_DATA_MAX);
	CHECK(all.addr.sa.sa_family == AF_UNSPEC || net_addr_len(&all.addr.sa));
	CHECK(all.type == TCP_WIRE_REFUSE || all.max_payload);
	/* what we read is what we would have written, padding and versions apart */
	tcp_hello_pack(&all, again);
	CHECK(!memcmp(data, again, TCP_WIRE_MAGIC_LEN));
	CHECK(!memcmp(data + offsetof(struct tcp_wire_hello, size),
		      again + offsetof(struct tcp_wire_hello, size),
		      offsetof(struct tcp_wire_hello, engine) - offsetof(struct tcp_wire_hello, size)));
	CHECK(!memcmp(data + TCP_WIRE_STABLE, again + TCP_WIRE_STABLE,
		      offsetof(struct tcp_wire_hello, addr) - TCP_WIRE_STABLE));
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * hello.h - greetings: write, validate, and tell who a stranger is.
 *
 * Pure: no sockets, no clock, no allocation.
 */
#ifndef TCP_HELLO_H
#define TCP_HELLO_H

#include "base/net_addr.h"
#include "wire.h"

/* A greeting, read. */
struct tcp_hello {
	enum tcp_wire_type type;
	enum tcp_wire_kind kind;
	uint32_t reason;	/* enum chan_reason, or one that is not known here */
	struct chan_version version;	/* of the sender; set by tcp_hello_parse() */
	uint16_t data_len;
	uint8_t features;	/* enum tcp_wire_feature */
	uint8_t lanes;		/* 0: one */
	uint8_t lane;
	uint64_t epoch;
	uint64_t serial;
	uint64_t prev;
	uint64_t max_payload;
	union net_sa addr;	/* family AF_UNSPEC: none given */
};

/* tcp_hello_pack - the first TCP_WIRE_HELLO_SIZE bytes of a greeting. */
void tcp_hello_pack(const struct tcp_hello *hello, uint8_t *out);

enum tcp_hello_verdict {
	TCP_HELLO_MORE,		/* read on: up to tcp_hello_need() bytes */
	TCP_HELLO_OK,		/* complete, private data included */
	TCP_HELLO_STRANGER,	/* does not speak this protocol */
	TCP_HELLO_VERSION,	/* speaks another version of it */
	TCP_HELLO_BAD,		/* impossible fields */
};

/* tcp_hello_need - how long the greeting that begins at @buf is, as far as can
 * be told from its first @have bytes.  Never more than TCP_WIRE_HELLO_SIZE +
 * TCP_WIRE_DATA_MAX; a reader that asks the socket for no more than what is
 * missing takes no byte of the frames behind.
 */
size_t tcp_hello_need(const uint8_t *buf, size_t have);

/* tcp_hello_parse - the validator of greetings.
 *
 * @have:    bytes read so far
 * @hello_p: [out] on TCP_HELLO_OK; on TCP_HELLO_VERSION version, type, kind and reason
 *           only, and only if the other side sent a refusal
 *
 * Private data begins at @buf + TCP_WIRE_HELLO_SIZE.
 */
enum tcp_hello_verdict tcp_hello_parse(const uint8_t *buf, size_t have,
				       struct tcp_hello *hello_p);

/* tcp_hello_stranger - "an HTTP client", "a TLS client" and so on, from the
 * first bytes that somebody sent.
 */
const char *tcp_hello_stranger(const uint8_t *buf, size_t have);

/* tcp_hello_rebuff - an answer that a stranger may understand: an HTTP client
 * gets a status line, anybody else NULL (a REFUSE will have to do).
 * @len_p: [out] bytes
 */
const char *tcp_hello_rebuff(const uint8_t *buf, size_t have, size_t *len_p);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * hello.h - the handshake packets (HELLO, WELCOME, REFUSE): pack and validate them, and
 * identify the protocol of a program that sends something else.
 *
 * Pure: no sockets, no clock, no allocation.
 */
#ifndef TCP_HELLO_H
#define TCP_HELLO_H

#include "base/net_addr.h"
#include "wire.h"

/* A handshake packet in host byte order. */
struct tcp_hello {
	enum tcp_wire_type type;
	enum tcp_wire_kind kind;
	uint32_t reason;	/* enum chan_reason, or one that is not known here */
	struct chan_version version;	/* of the sender; set by tcp_hello_parse() */
	uint16_t data_len;
	uint8_t features;	/* enum tcp_wire_feature */
	uint8_t lanes;		/* most connections to a peer; 0: one */
	uint8_t lane;		/* HELLO: number of this connection among them */
	uint64_t epoch;
	uint64_t serial;
	uint64_t prev;
	uint64_t max_payload;
	uint32_t host;		/* chan_host_mark() of the sender; 0: not known */
	union net_sa addr;	/* family AF_UNSPEC: none given */
};

/* tcp_hello_pack - write the first TCP_WIRE_HELLO_SIZE bytes of a handshake packet. */
void tcp_hello_pack(const struct tcp_hello *hello, uint8_t *out);

/* tcp_addr_pack, tcp_addr_unpack - an address in a packet.  Errors: -FI_EINVAL: of no known family. */
void tcp_addr_pack(const union net_sa *sa, struct tcp_wire_addr *out);
int tcp_addr_unpack(const struct tcp_wire_addr *in, union net_sa *sa_p);

enum tcp_hello_verdict {
	TCP_HELLO_MORE,		/* incomplete: read up to tcp_hello_need() bytes */
	TCP_HELLO_OK,		/* complete, private data included */
	TCP_HELLO_FOREIGN,	/* another protocol */
	TCP_HELLO_VERSION,	/* another version of this protocol */
	TCP_HELLO_BAD,		/* impossible fields */
};

/* tcp_hello_need - length of the handshake packet at @buf, as far as its first @have bytes
 * tell.  Never more than TCP_WIRE_HELLO_SIZE + TCP_WIRE_DATA_MAX.  A reader that asks the
 * socket for no more than what is missing takes no byte of the frames behind.
 */
size_t tcp_hello_need(const uint8_t *buf, size_t have);

/* tcp_hello_parse - validate a handshake packet.
 *
 * @have:    bytes read so far
 * @hello_p: [out] on TCP_HELLO_OK; on TCP_HELLO_VERSION version, type, kind and reason
 *           only
 *
 * Private data begins at @buf + TCP_WIRE_HELLO_SIZE.
 */
enum tcp_hello_verdict tcp_hello_parse(const uint8_t *buf, size_t have,
				       struct tcp_hello *hello_p);

/* tcp_hello_identify - the name of another protocol, for the log: "an HTTP client", "a TLS
 * client" and so on, from the first bytes that were received.
 */
const char *tcp_hello_identify(const uint8_t *buf, size_t have);

/* tcp_hello_http_answer - the status line that an HTTP client gets; NULL: no HTTP client, the
 * answer is REFUSE.
 * @len_p: [out] bytes
 */
const char *tcp_hello_http_answer(const uint8_t *buf, size_t have, size_t *len_p);

#endif

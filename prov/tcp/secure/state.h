/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * state.h - what the files of this folder share: the state of a protected connection.
 */
#ifndef TCP_SECURE_STATE_H
#define TCP_SECURE_STATE_H

#include "secure/channel.h"
#include "secure/handshake.h"
#include "tcp/types.h"

#define TLS_HEAD 5		/* of a record: type, version, length (RFC 8446, section 5.1) */

struct tcp_sec {
	struct tcp_conn_end end;	/* first */
	struct sec_shake *shake;	/* NULL: it is done */
	struct sec_keys *keys;		/* of @shake */
	enum sec_level level;
	bool open;			/* the peer has proven the key: @chan is keyed */
	struct sec_peer_cert *peer;	/* of a client, until its request was judged; NULL: none */
	bool by_cert;			/* the proof is a certificate, else a key */
	uint8_t key_name[SEC_NAME_SIZE];	/* of the key that a client has proven */
	bool heard;			/* bytes of the handshake have come */
	bool spoken;			/* a whole record of it */
	bool plain;			/* a request in the clear has come: its first byte is in @in */
	struct sec_channel chan;
	uint8_t *out;			/* sealed bytes that the socket has not taken; NULL: none */
	size_t out_pos, out_end;
	uint8_t *in;			/* bytes that were read and are not opened; NULL: none */
	size_t in_pos, in_end;
};

/* tcp_sec_log - warn that the peer @what, and why; not each time. */
void tcp_sec_log(struct tcp_conn *conn, const char *what, const char *why);

/* tcp_sec_in_fill - read until @need bytes are kept, and no more.  1: they are; else as recv(). */
ssize_t tcp_sec_in_fill(struct tcp_conn *conn, size_t need);

/* tcp_sec_in_use - @len of the bytes that are kept have been used. */
void tcp_sec_in_use(struct tcp_conn *conn, size_t len);

#endif

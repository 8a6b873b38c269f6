/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * cm.h - the connection messages of the compatible wire format: request, response, refusal.
 *
 *   0   version 3      1  type
 *   2   bytes of private data, big-endian
 *   4   zero; in a request of this library a mark, which other implementations ignore
 *   24  1 in the byte order of the sender; in a refusal 0
 *   32  private data
 *
 * The mark, big-endian: 4 a magic number, 8 oldest and newest version of the native format, 10 of the
 * engine's packets, 12 zero, 16 serial of the attempt.  It says what a native HELLO says: a listener
 * that recognises it, and has a version in common, answers with a native WELCOME or REFUSE.
 *
 * Pure: no sockets, no clock, no allocation.
 */
#ifndef TCP_COMPAT_CM_H
#define TCP_COMPAT_CM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "channel/handshake.h"

#define TCP_CM_SIZE 32
#define TCP_CM_DATA_MAX 256	/* private data */
#define TCP_CM_VERSION 3	/* the first byte; no native packet begins with it */

enum tcp_cm_type {
	TCP_CM_REQUEST = 0,
	TCP_CM_RESPONSE = 1,	/* accepted */
	TCP_CM_REFUSAL = 6,
};

struct tcp_cm_msg {
	enum tcp_cm_type type;
	uint16_t data_len;
	bool swapped;			/* the other byte order; tcp_cm_put() writes our own */
	bool marked;			/* REQUEST: by this library, with */
	struct chan_version version;
	uint64_t serial;
};

/* tcp_cm_put - write a message without its private data. */
void tcp_cm_put(const struct tcp_cm_msg *msg, uint8_t out[TCP_CM_SIZE]);

/* tcp_cm_need - length of the message at @buf, as far as its first @have bytes tell: never
 * more than TCP_CM_SIZE + TCP_CM_DATA_MAX, and never a byte of the frames behind it.
 */
size_t tcp_cm_need(const uint8_t *buf, size_t have);

enum tcp_cm_verdict {
	TCP_CM_MORE,		/* incomplete */
	TCP_CM_OK,		/* complete, private data included */
	TCP_CM_BAD,		/* another version, or impossible fields */
};

/* tcp_cm_get - validate a message.   @msg_p: [out] on TCP_CM_OK */
enum tcp_cm_verdict tcp_cm_get(const uint8_t *buf, size_t have, struct tcp_cm_msg *msg_p);

#endif

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
 * engine's packets, 12 1: frames may hold packets of the engine (frame.h), 13 zero, 16 serial of the
 * attempt.  It says what a native HELLO says: a listener that recognises it, and has a version in common,
 * answers with a native WELCOME or REFUSE.
 *
 * Another magic number marks messages whose sender is of this library, or a kernel module of it
 * (kernel/tcp), and does not speak the native format in this connection: 10 and 12 alone count.
 *
 * Pure: no sockets, no clock, no allocation.
 */
#ifndef FOREIGN_XNET_CM_H
#define FOREIGN_XNET_CM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "channel/handshake.h"

#define XNET_CM_SIZE 32
#define XNET_CM_DATA_MAX 256	/* private data */
#define XNET_CM_VERSION 3	/* the first byte; no native packet begins with it */

enum xnet_cm_type {
	XNET_CM_REQUEST = 0,
	XNET_CM_RESPONSE = 1,	/* accepted */
	XNET_CM_REFUSAL = 6,
};

struct xnet_cm_msg {
	enum xnet_cm_type type;
	uint16_t data_len;
	bool swapped;			/* the other byte order; xnet_cm_put() writes our own */
	bool marked;			/* REQUEST: by this library, with version and serial */
	bool packets;			/* not REFUSAL: frames may hold packets, of the engine's versions in */
	struct chan_version version;
	uint64_t serial;
};

/* xnet_cm_put - write a message without its private data. */
void xnet_cm_put(const struct xnet_cm_msg *msg, uint8_t out[XNET_CM_SIZE]);

/* xnet_cm_need - length of the message at @buf, as far as its first @have bytes tell: never
 * more than XNET_CM_SIZE + XNET_CM_DATA_MAX, and never a byte of the frames behind it.
 */
size_t xnet_cm_need(const uint8_t *buf, size_t have);

enum xnet_cm_verdict {
	XNET_CM_MORE,		/* incomplete */
	XNET_CM_OK,		/* complete, private data included */
	XNET_CM_BAD,		/* another version, or impossible fields */
};

/* xnet_cm_get - validate a message.   @msg_p: [out] on XNET_CM_OK */
enum xnet_cm_verdict xnet_cm_get(const uint8_t *buf, size_t have, struct xnet_cm_msg *msg_p);

#endif

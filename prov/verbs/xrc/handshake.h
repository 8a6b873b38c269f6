/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * handshake.h - the handshake of XRC endpoints.  It precedes the program's data in the
 * private data of a connection request, its accept and its reject.  Big-endian:
 *
 *   0  mark
 *   1  version << 4, enum vrb_handshake_kind
 *   2  number of the sender's shared receive queue
 *   5  number of the sender's initiator
 *   8  number of the receiver's target that this initiator is connected to; 0 in a connection
 *      request: the receiver makes one
 *  11  number of the sender's target, for the receiver's initiator to connect to
 */
#ifndef VRB_HANDSHAKE_H
#define VRB_HANDSHAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VRB_HANDSHAKE_SIZE 14

enum vrb_handshake_kind {
	VRB_HANDSHAKE_CONNECT = 1,	/* a connection request */
	VRB_HANDSHAKE_CONNECT_NEW,		/* the same; the peer must not share an initiator */
	VRB_HANDSHAKE_ACCEPT,		/* all four numbers are set */
	VRB_HANDSHAKE_REJECT,		/* the program rejects the request */
	VRB_HANDSHAKE_STALE,		/* no such target (any more): connect with a new initiator */
	VRB_HANDSHAKE_CNT
};

/* Numbers are 24 bits and not 0 unless the format above says so. */
struct vrb_handshake {
	enum vrb_handshake_kind kind;
	uint32_t srqn;			/* shared receive queue to send to */
	uint32_t initiator;		/* queue pair that the sender sends from */
	uint32_t your_target, my_target;
};

/* vrb_handshake_put - write @hs and, behind it, @len bytes of @data.
 * @out: room for VRB_HANDSHAKE_SIZE + @len bytes.   Returns that sum.
 */
size_t vrb_handshake_put(uint8_t *out, const struct vrb_handshake *hs, const void *data, size_t len);

/* vrb_handshake_parse - the validator of the peer's bytes: is this a complete handshake of our
 * version?
 * @len:  may include padding that the connection manager has added
 * @hs_p: [out] written on success only
 */
bool vrb_handshake_parse(const void *buf, size_t len, struct vrb_handshake *hs_p);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * hello.h - what XRC endpoints say to each other in the private data of a connection,
 * before the program's own.  Big-endian:
 *
 *   0  mark
 *   1  version << 4, enum vrb_handshake_kind
 *   2  number of the shared receive queue to send to
 *   5  number of my initiator, from which I send to you
 *   8  number of your target that it leads to; of a call, 0: make one
 *  11  number of my target that your initiator leads to; of a call, of a new one of yours
 */
#ifndef VRB_HANDSHAKE_H
#define VRB_HANDSHAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VRB_HANDSHAKE_SIZE 14

enum vrb_handshake_kind {
	VRB_HANDSHAKE_CONNECT = 1,
	VRB_HANDSHAKE_CONNECT_NEW,		/* answer from a new initiator */
	VRB_HANDSHAKE_ACCEPT,
	VRB_HANDSHAKE_REJECT,			/* the program's */
	VRB_HANDSHAKE_STALE,			/* there is no such target (any more): call with a new initiator */
	VRB_HANDSHAKE_CNT
};

struct vrb_handshake {
	enum vrb_handshake_kind kind;
	uint32_t srqn, initiator, your_target, my_target;
};

/* vrb_handshake_put - write @hello and @len bytes of @data behind it.
 * @out: has room for all.   Returns how many bytes that are.
 */
size_t vrb_handshake_put(uint8_t *out, const struct vrb_handshake *hs, const void *data, size_t len);

/* vrb_handshake_parse - the gate of what a peer says: are these bytes a hello that makes sense?
 * @len: may count bytes that the system has added
 */
bool vrb_handshake_parse(const void *buf, size_t len, struct vrb_handshake *hs_p);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * hello.h - what XRC endpoints say to each other in the private data of a connection,
 * before the program's own.  Big-endian:
 *
 *   0  mark
 *   1  version << 4, enum vrb_hello_kind
 *   2  number of the shared receive queue to send to
 *   5  number of my initiator, from which I send to you
 *   8  number of your target that it leads to; of a call, 0: make one
 *  11  number of my target that your initiator leads to; of a call, of a new one of yours
 */
#ifndef VRB_HELLO_H
#define VRB_HELLO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VRB_HELLO_SIZE 14

enum vrb_hello_kind {
	VRB_HELLO_CALL = 1,
	VRB_HELLO_CALL_AFRESH,		/* answer from a new initiator */
	VRB_HELLO_ANSWER,
	VRB_HELLO_NO,			/* the program's */
	VRB_HELLO_GONE,			/* there is no such target (any more): call with a new initiator */
	VRB_HELLO_CNT
};

struct vrb_hello {
	enum vrb_hello_kind kind;
	uint32_t srqn, initiator, yours, mine;
};

/* vrb_hello_put - write @hello and @len bytes of @data behind it.
 * @out: has room for all.   Returns how many bytes that are.
 */
size_t vrb_hello_put(uint8_t *out, const struct vrb_hello *hello, const void *data, size_t len);

/* vrb_hello_parse - the gate of what a peer says: are these bytes a hello that makes sense?
 * @len: may count bytes that the system has added
 */
bool vrb_hello_parse(const void *buf, size_t len, struct vrb_hello *hello_p);

#endif

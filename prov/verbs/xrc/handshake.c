/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * handshake.c - writes and validates the handshake.  The bytes come from a peer: nothing is
 * used before vrb_handshake_parse() has accepted all of it.
 */
#include "verbs/xrc/handshake.h"

#include <string.h>

#define HANDSHAKE_MARK 0xc5
#define HANDSHAKE_VERSION 1

/* Queue pairs and shared receive queues have numbers of 24 bits. */
static void put_u24(uint8_t *out, uint32_t value)
{
	out[0] = (uint8_t) (value >> 16);
	out[1] = (uint8_t) (value >> 8);
	out[2] = (uint8_t) value;
}

static uint32_t get_u24(const uint8_t *in)
{
	return (uint32_t) in[0] << 16 | (uint32_t) in[1] << 8 | in[2];
}

size_t vrb_handshake_put(uint8_t *out, const struct vrb_handshake *hs, const void *data, size_t len)
{
	out[0] = HANDSHAKE_MARK;
	out[1] = (uint8_t) (HANDSHAKE_VERSION << 4 | hs->kind);
	put_u24(out + 2, hs->srqn);
	put_u24(out + 5, hs->initiator);
	put_u24(out + 8, hs->your_target);
	put_u24(out + 11, hs->my_target);
	if (len)
		memcpy(out + VRB_HANDSHAKE_SIZE, data, len);
	return VRB_HANDSHAKE_SIZE + len;
}

/* A reject names no queue pairs.  A connection request need not name a target of the receiver: it
 * asks for one then.
 */
static bool is_complete(const struct vrb_handshake *h)
{
	if (h->kind == VRB_HANDSHAKE_REJECT || h->kind == VRB_HANDSHAKE_STALE)
		return true;
	return h->srqn && h->initiator && h->my_target &&
	       (h->your_target || h->kind != VRB_HANDSHAKE_ACCEPT);
}

bool vrb_handshake_parse(const void *buf, size_t len, struct vrb_handshake *hs_p)
{
	const uint8_t *in = buf;
	struct vrb_handshake h;

	if (!in || len < VRB_HANDSHAKE_SIZE || in[0] != HANDSHAKE_MARK ||
	    in[1] >> 4 != HANDSHAKE_VERSION || !(in[1] & 15) || (in[1] & 15) >= VRB_HANDSHAKE_CNT)
		return false;
	h = (struct vrb_handshake) {
		.kind = (enum vrb_handshake_kind) (in[1] & 15),
		.srqn = get_u24(in + 2),
		.initiator = get_u24(in + 5),
		.your_target = get_u24(in + 8),
		.my_target = get_u24(in + 11),
	};
	if (!is_complete(&h))
		return false;
	*hs_p = h;
	return true;
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "verbs/hello.h"

#include <string.h>

#define HELLO_MARK 0xc5
#define HELLO_VERSION 1

static void put24(uint8_t *out, uint32_t value)
{
	out[0] = (uint8_t) (value >> 16);
	out[1] = (uint8_t) (value >> 8);
	out[2] = (uint8_t) value;
}

static uint32_t get24(const uint8_t *in)
{
	return (uint32_t) in[0] << 16 | (uint32_t) in[1] << 8 | in[2];
}

size_t vrb_hello_put(uint8_t *out, const struct vrb_hello *hello, const void *data, size_t len)
{
	out[0] = HELLO_MARK;
	out[1] = (uint8_t) (HELLO_VERSION << 4 | hello->kind);
	put24(out + 2, hello->srqn);
	put24(out + 5, hello->initiator);
	put24(out + 8, hello->yours);
	put24(out + 11, hello->mine);
	if (len)
		memcpy(out + VRB_HELLO_SIZE, data, len);
	return VRB_HELLO_SIZE + len;
}

/* Who refuses has nothing to tell of queue pairs. */
static bool makes_sense(const struct vrb_hello *h)
{
	if (h->kind == VRB_HELLO_NO || h->kind == VRB_HELLO_GONE)
		return true;
	return h->srqn && h->initiator && h->mine && (h->yours || h->kind != VRB_HELLO_ANSWER);
}

bool vrb_hello_parse(const void *buf, size_t len, struct vrb_hello *hello_p)
{
	const uint8_t *in = buf;
	struct vrb_hello h;

	if (!in || len < VRB_HELLO_SIZE || in[0] != HELLO_MARK || in[1] >> 4 != HELLO_VERSION ||
	    !(in[1] & 15) || (in[1] & 15) >= VRB_HELLO_CNT)
		return false;
	h = (struct vrb_hello) { (enum vrb_hello_kind) (in[1] & 15), get24(in + 2), get24(in + 5),
				 get24(in + 8), get24(in + 11) };
	if (!makes_sense(&h))
		return false;
	*hello_p = h;
	return true;
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * private.h - the program's private data in a connection request, its accept and its reject, except
 * those of XRC endpoints (xrc/handshake.h): a byte with the length, which is always there, and the data.
 * The connection manager of InfiniBand pads both with zeros, so the length would be lost otherwise.
 */
#ifndef VRB_PRIVATE_H
#define VRB_PRIVATE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define VRB_PRIVATE_HEAD 1	/* bytes before the program's data */

/* vrb_private_put - write @len bytes of the program, fewer than 256.
 * @out: room for VRB_PRIVATE_HEAD + @len bytes.   Returns that sum.
 */
static inline size_t vrb_private_put(uint8_t *out, const void *data, size_t len)
{
	out[0] = (uint8_t) len;
	if (len)
		memcpy(out + VRB_PRIVATE_HEAD, data, len);
	return VRB_PRIVATE_HEAD + len;
}

/* vrb_private_get - the program's part of @buf, which may be NULL.
 *
 * @len_p: [in] bytes of @buf, padding included; [out] of the result
 *
 * The peer may be a program on librdmacm alone.  If its data cannot begin with a length they are
 * returned as they are.
 */
static inline const void *vrb_private_get(const void *buf, size_t *len_p)
{
	const uint8_t *in = buf;

	if (!in || !*len_p) {
		*len_p = 0;
		return NULL;
	}
	if (in[0] > *len_p - VRB_PRIVATE_HEAD)
		return in;
	*len_p = in[0];
	return in + VRB_PRIVATE_HEAD;
}

#endif

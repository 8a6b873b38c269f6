/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * frame.h - the 8 bytes before each packet, and their one validator.
 *
 * Pure.  Units: bytes.
 */
#ifndef TCP_FRAME_H
#define TCP_FRAME_H

#include <endian.h>
#include <stdbool.h>
#include <string.h>

#include "wire.h"

/* tcp_frame_put - write the frame header for a packet at @out (unaligned).
 * @hdr_len: with TCP_FRAME_STRIPED set where the payload is striped over lanes; 0: a control
 *           frame, @len is its enum tcp_wire_ctl
 */
static inline void tcp_frame_put(void *out, size_t hdr_len, uint64_t len)
{
	uint64_t word = htole64(len << 16 | hdr_len);

	memcpy(out, &word, sizeof(word));
}

enum tcp_frame_verdict {
	TCP_FRAME_MORE,		/* the header is not complete yet */
	TCP_FRAME_OK,
	TCP_FRAME_BAD,		/* impossible lengths */
};

/* tcp_frame_get - validate the frame header at @buf.
 *
 * @have:      bytes that may be read at @buf
 * @max:       largest payload that was agreed
 * @hdr_len_p, @len_p: [out] on TCP_FRAME_OK: engine header and payload; the
 *             whole header is then at @buf + TCP_FRAME_SIZE
 * @striped_p: [out] on TCP_FRAME_OK: each lane carries a part of the payload
 *
 * The lengths are checked as soon as the 8 bytes have arrived, so that no peer can make
 * this process wait for, or allocate, what it would refuse anyway.
 */
static inline enum tcp_frame_verdict tcp_frame_get(const uint8_t *buf, size_t have,
						   uint64_t max, size_t *hdr_len_p,
						   uint64_t *len_p, bool *striped_p)
{
	uint64_t word;
	size_t hdr_len;

	if (have < TCP_FRAME_SIZE)
		return TCP_FRAME_MORE;
	memcpy(&word, buf, sizeof(word));
	word = le64toh(word);
	hdr_len = word & (TCP_FRAME_STRIPED - 1);
	*striped_p = word & TCP_FRAME_STRIPED;
	if (hdr_len - 1 >= ENG_HDR_MAX || word >> 16 > max ||
	    (*striped_p && word >> 16 < TCP_STRIPE_MIN))
		return TCP_FRAME_BAD;
	if (have - TCP_FRAME_SIZE < hdr_len)
		return TCP_FRAME_MORE;
	*hdr_len_p = hdr_len;
	*len_p = word >> 16;
	return TCP_FRAME_OK;
}

/* tcp_frame_ctl - the control frame at @buf, of which @have bytes may be read; 0: none. */
static inline unsigned tcp_frame_ctl(const uint8_t *buf, size_t have)
{
	uint64_t word;

	if (have < TCP_FRAME_SIZE)
		return 0;
	memcpy(&word, buf, sizeof(word));
	word = le64toh(word);
	return !(word & 0xffff) && word >> 16 <= TCP_WIRE_PARK_NACK ? (unsigned) (word >> 16) : 0;
}

#endif

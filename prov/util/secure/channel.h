/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * channel.h - what a connection over an ordered stream carries once its handshake is done: records, each
 * sealed, whose plain bytes are a stream of their own.  Where a record begins and ends means nothing to the
 * reader of that stream.
 *
 *	record = head (4 bytes) body tag (16 bytes)
 *	head   = length of the body (24 bits), kind (8 bits), little-endian; associated data
 *	body   = at the level encrypt sealed; at auth the plain bytes, associated data
 *
 * A record's number is not sent: both sides count.  So one that is missing, repeated, reordered, or of another
 * connection or direction does not open.  The key is exchanged after SEC_KEY_BYTES_MAX, which both sides count
 * too.  The stream ends with a record of kind SEC_RECORD_END; where it ends without, it was cut off.
 *
 * Pure: no sockets, no clock; the caller's memory.
 */
#ifndef SEC_CHANNEL_H
#define SEC_CHANNEL_H

#include "secure/level.h"
#include "secure/record.h"

#define SEC_RECORD_HEAD 4
#define SEC_RECORD_MAX (32 << 10)	/* bytes of a body, at most; other sizes were not compared */
#define SEC_RECORD_OVER (SEC_RECORD_HEAD + SEC_TAG_SIZE)
#define SEC_PLACE_MAX 16	/* entries of a list that a record is opened into */

enum sec_record {
	SEC_RECORD_BAD,		/* it does not open, or is none: nothing of it counts */
	SEC_RECORD_DATA,
	SEC_RECORD_END,		/* no record follows; no body */
};

struct sec_channel {
	enum sec_level level;
	struct sec_dir tx, rx;
	uint64_t tx_no, rx_no;
	uint64_t key_bytes;	/* after which a key is exchanged; SEC_KEY_BYTES_MAX but in tests */
	bool tx_ended, rx_ended;
};

/* sec_channel_open - key both directions.
 *
 * @channel:  zeroed
 * @exported: what the handshake of this connection exported.  Each connection has a handshake, with a
 *            Diffie-Hellman exchange and random bytes of both sides, so no other has the same.
 * @path:     number of the path among those of one handshake; 0 where it has one
 *
 * False: libcrypto failed; nothing is left.
 */
bool sec_channel_open(struct sec_channel *channel, enum sec_level level, bool server,
		      const uint8_t exported[SEC_HASH_SIZE], uint32_t path);

/* sec_channel_close - nothing of the keys stays in memory. */
void sec_channel_close(struct sec_channel *channel);

/* sec_channel_seal - seal one record.
 *
 * @iov, @cnt: its plain bytes, @len together: 1 to SEC_RECORD_MAX, 0 for SEC_RECORD_END
 * @out: [out] @len + SEC_RECORD_OVER bytes; overlaps none of @iov
 *
 * False: libcrypto failed, or the end was sealed already: nothing of @out may be sent.
 */
bool sec_channel_seal(struct sec_channel *channel, enum sec_record kind, const struct iovec *iov, size_t cnt,
		      size_t len, uint8_t *out);

/* sec_channel_need - length of the record at @buf, of which @have bytes are there; before its head is whole,
 * SEC_RECORD_HEAD.  0: impossible.  At most SEC_RECORD_MAX + SEC_RECORD_OVER.
 */
size_t sec_channel_need(const uint8_t *buf, size_t have);

/* sec_channel_take - open the record at @buf, sec_channel_need() bytes.
 *
 * @place, @place_cnt: where its plain bytes go, as far as there is room: SEC_PLACE_MAX entries at most
 * @out:   [out] where the others go: SEC_RECORD_MAX bytes
 * @len_p: [out] plain bytes, of both
 *
 * Both are undefined where it does not open; at the level auth nothing is written then.
 */
enum sec_record sec_channel_take(struct sec_channel *channel, const uint8_t *buf, const struct iovec *place,
				 size_t place_cnt, uint8_t *out, size_t *len_p);

#endif

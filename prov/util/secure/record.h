/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * record.h - records of one direction of one path, sealed by an AEAD cipher (RFC 5116).
 *
 * The nonce of record n is the direction's IV xor n, as in RFC 8446, section 5.3.  A number is used for one
 * record: over a stream both sides count; a datagram carries its number, and the receiver's window takes
 * each once.  At the level auth all bytes are associated data, and a record is its tag alone.
 */
#ifndef SEC_RECORD_H
#define SEC_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "secure/crypto.h"

#define SEC_TAG_SIZE 16
#define SEC_IV_SIZE 12

/* Records under one key, after which the next key has to be taken: RFC 8446, section 5.5, has 2^24.5 of
 * 16 KiB for AES-GCM; ours may be longer.
 */
#define SEC_KEY_BYTES_MAX (1ull << 38)
/* Records that fail to open under one key: RFC 9001, section 6.6, has 2^52 for AES-GCM, 2^36 for ChaCha20. */
#define SEC_FORGED_MAX (1ull << 36)

enum sec_suite {
	SEC_AES_128_GCM,
	SEC_AES_256_GCM,
	SEC_CHACHA20_POLY1305,
};

struct sec_dir {
	void *ctx;			/* libcrypto's cipher context, keyed */
	enum sec_suite suite;
	bool seals;
	uint8_t secret[SEC_HASH_SIZE];	/* of this key; the next is derived from it */
	uint8_t iv[SEC_IV_SIZE];
	uint64_t bytes;			/* of whole blocks that the cipher has worked on under this key */
	uint64_t forged;		/* records that did not open under it */
};

/* sec_path_secret - the secret of one direction of one path.
 *
 * @exported: what the handshake exported for the channel
 * @path:     number of the path in the channel; never used twice
 * @fresh:    random bytes of both sides, of this connection of the path
 * @to_server: the direction
 */
bool sec_path_secret(const uint8_t exported[SEC_HASH_SIZE], uint32_t path, const uint8_t fresh[SEC_HASH_SIZE],
		     bool to_server, uint8_t secret[SEC_HASH_SIZE]);

/* sec_dir_init - key a direction.  @dir is zeroed before.  False: libcrypto failed. */
bool sec_dir_init(struct sec_dir *dir, enum sec_suite suite, bool seals, const uint8_t secret[SEC_HASH_SIZE]);

/* sec_dir_next - the direction's next key ("traffic upd" of RFC 8446, section 7.2). */
bool sec_dir_next(struct sec_dir *dir);

/* sec_dir_after - key @next, zeroed, as sec_dir_next() would key @dir, which stays as it is: for datagrams, of which some
 * under the key before arrive later.
 */
bool sec_dir_after(const struct sec_dir *dir, struct sec_dir *next);

/* sec_dir_worn - is it time for the next key? */
bool sec_dir_worn(const struct sec_dir *dir);

/* sec_dir_fini - nothing of the key stays in memory. */
void sec_dir_fini(struct sec_dir *dir);

/* sec_seal - seal one record.
 *
 * @aad, @aad_cnt: what travels in the clear and has to arrive unaltered
 * @src, @src_cnt: what is sealed, into @out, which is as long as all of it and overlaps none of it
 * @tag:           [out]
 *
 * @no is used for this record alone.  False: libcrypto failed, nothing of @out may be sent.
 */
bool sec_seal(struct sec_dir *dir, uint64_t no, const struct iovec *aad, size_t aad_cnt, const struct iovec *src,
	      size_t src_cnt, uint8_t *out, uint8_t tag[SEC_TAG_SIZE]);

/* sec_open - open one record.
 *
 * @out: [out] as long as @len; undefined where the record does not open
 *
 * False: it was not sealed by the peer as record @no of this direction, or was altered.
 */
bool sec_open(struct sec_dir *dir, uint64_t no, const struct iovec *aad, size_t aad_cnt, const uint8_t *in,
	      size_t len, const uint8_t tag[SEC_TAG_SIZE], uint8_t *out);

/* sec_open_list - the same into the @out_cnt entries of @out, which are @len bytes together. */
bool sec_open_list(struct sec_dir *dir, uint64_t no, const struct iovec *aad, size_t aad_cnt, const uint8_t *in,
		   size_t len, const uint8_t tag[SEC_TAG_SIZE], const struct iovec *out, size_t out_cnt);

/* Which numbers have come, of datagrams. */
#define SEC_WINDOW_BITS 1024

struct sec_window {
	uint64_t next;		/* one above the highest that has come */
	uint64_t seen[SEC_WINDOW_BITS / 64];
};

/* sec_window_fresh - may the record of this number be opened?  Not twice, and not if it is older than the
 * window.
 */
bool sec_window_fresh(const struct sec_window *window, uint64_t no);

/* sec_window_take - the record of this number has opened. */
void sec_window_take(struct sec_window *window, uint64_t no);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "secure/record.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

#include "base/iov.h"

bool sec_path_secret(const uint8_t exported[SEC_HASH_SIZE], uint32_t path, const uint8_t fresh[SEC_HASH_SIZE],
		     bool to_server, uint8_t secret[SEC_HASH_SIZE])
{
	uint8_t context[4 + SEC_HASH_SIZE + 1] = { (uint8_t) (path >> 24), (uint8_t) (path >> 16),
						   (uint8_t) (path >> 8), (uint8_t) path };

	memcpy(context + 4, fresh, SEC_HASH_SIZE);
	context[4 + SEC_HASH_SIZE] = to_server;
	return sec_expand_label(exported, "libfabric path", context, sizeof(context), secret, SEC_HASH_SIZE);
}

#if HAVE_OPENSSL
#define KEY_MAX 32
#define BLOCK 16		/* bytes, of AES; ChaCha20's are longer */

#if ENABLE_DEBUG
/* The last keys that seal: one that comes twice would use its nonces twice. */
static void assert_new(const uint8_t key[KEY_MAX])
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	static uint8_t last[256][SEC_HASH_SIZE];
	static unsigned at;
	uint8_t hash[SEC_HASH_SIZE];
	unsigned i;

	if (!sec_hash(key, KEY_MAX, hash))
		return;
	pthread_mutex_lock(&mutex);
	for (i = 0; i < 256; i++)
		assert(memcmp(last[i], hash, sizeof(hash)));
	memcpy(last[at++ % 256], hash, sizeof(hash));
	pthread_mutex_unlock(&mutex);
}
#else
static void assert_new(const uint8_t key[KEY_MAX])
{
}
#endif

static const EVP_CIPHER *cipher_of(enum sec_suite suite, size_t *key_len)
{
	const struct sec_crypto *calls = sec_crypto_get(NULL);

	*key_len = suite == SEC_AES_128_GCM ? 16 : 32;
	switch (suite) {
	case SEC_AES_128_GCM:
		return calls->EVP_aes_128_gcm();
	case SEC_AES_256_GCM:
		return calls->EVP_aes_256_gcm();
	case SEC_CHACHA20_POLY1305:
		return calls->EVP_chacha20_poly1305();
	}
	return NULL;
}

/* Key and IV of the direction's secret. */
static bool set_key(struct sec_dir *dir)
{
	const struct sec_crypto *calls = sec_crypto_get(NULL);
	uint8_t key[KEY_MAX] = { 0 };
	const EVP_CIPHER *cipher;
	size_t key_len;
	bool done;

	cipher = cipher_of(dir->suite, &key_len);
	done = sec_expand_label(dir->secret, "key", NULL, 0, key, key_len) &&
	       sec_expand_label(dir->secret, "iv", NULL, 0, dir->iv, sizeof(dir->iv)) &&
	       calls->EVP_CipherInit_ex(dir->ctx, cipher, NULL, key, NULL, dir->seals) == 1;
	if (done && dir->seals)
		assert_new(key);
	explicit_bzero(key, sizeof(key));
	dir->bytes = dir->forged = 0;
	return done;
}

bool sec_dir_init(struct sec_dir *dir, enum sec_suite suite, bool seals, const uint8_t secret[SEC_HASH_SIZE])
{
	dir->ctx = sec_crypto_get(NULL)->EVP_CIPHER_CTX_new();
	dir->suite = suite;
	dir->seals = seals;
	memcpy(dir->secret, secret, sizeof(dir->secret));
	if (dir->ctx && set_key(dir))
		return true;
	sec_dir_fini(dir);
	return false;
}

static bool next_secret(const struct sec_dir *dir, uint8_t next[SEC_HASH_SIZE])
{
	return sec_expand_label(dir->secret, "traffic upd", NULL, 0, next, SEC_HASH_SIZE);
}

bool sec_dir_next(struct sec_dir *dir)
{
	uint8_t next[SEC_HASH_SIZE];
	bool done = next_secret(dir, next);

	if (done)
		memcpy(dir->secret, next, sizeof(next));
	explicit_bzero(next, sizeof(next));
	return done && set_key(dir);
}

bool sec_dir_after(const struct sec_dir *dir, struct sec_dir *next)
{
	uint8_t secret[SEC_HASH_SIZE];
	bool done = next_secret(dir, secret) && sec_dir_init(next, dir->suite, dir->seals, secret);

	explicit_bzero(secret, sizeof(secret));
	return done;
}

void sec_dir_fini(struct sec_dir *dir)
{
	if (dir->ctx)
		sec_crypto_get(NULL)->EVP_CIPHER_CTX_free(dir->ctx);
	explicit_bzero(dir, sizeof(*dir));
}

static bool begin_record(struct sec_dir *dir, const struct sec_crypto *calls, uint64_t no)
{
	uint8_t nonce[SEC_IV_SIZE];
	int i;

	memcpy(nonce, dir->iv, sizeof(nonce));
	for (i = 0; i < 8; i++)
		nonce[SEC_IV_SIZE - 1 - i] ^= (uint8_t) (no >> 8 * i);
	return calls->EVP_CipherInit_ex(dir->ctx, NULL, NULL, NULL, nonce, dir->seals) == 1;
}

#define PIECE_MAX (1u << 30)	/* libcrypto's lengths are int */

/* @out_p: NULL for associated data, else where the result goes, which is moved on */
static bool put_bytes(struct sec_dir *dir, const struct sec_crypto *calls, const uint8_t *in, size_t len,
		      uint8_t **out_p)
{
	size_t piece;
	int have;

	for (; len; in += piece, len -= piece) {
		piece = len < PIECE_MAX ? len : PIECE_MAX;
		if (calls->EVP_CipherUpdate(dir->ctx, out_p ? *out_p : NULL, &have, in, (int) piece) != 1)
			return false;
		if (out_p)
			*out_p += have;
	}
	return true;
}

static bool put_list(struct sec_dir *dir, const struct sec_crypto *calls, const struct iovec *iov, size_t cnt,
		     uint8_t **out_p)
{
	size_t i;

	for (i = 0; i < cnt; i++)
		if (!put_bytes(dir, calls, iov[i].iov_base, iov[i].iov_len, out_p))
			return false;
	return true;
}

/* count_record - what the cipher works on is blocks, and one more for the tag: short records count for more than they
 * carry.  Both sides count the same, whatever pieces they have.
 */
static void count_record(struct sec_dir *dir, size_t aad, size_t len)
{
	dir->bytes += (aad + BLOCK - 1) / BLOCK * BLOCK + (len + BLOCK - 1) / BLOCK * BLOCK + BLOCK;
}

bool sec_seal(struct sec_dir *dir, uint64_t no, const struct iovec *aad, size_t aad_cnt, const struct iovec *src,
	      size_t src_cnt, uint8_t *out, uint8_t tag[SEC_TAG_SIZE])
{
	const struct sec_crypto *calls = sec_crypto_get(NULL);
	uint8_t rest[SEC_TAG_SIZE];
	int have;

	assert(dir->seals);
	count_record(dir, iov_total(aad, aad_cnt), iov_total(src, src_cnt));
	return begin_record(dir, calls, no) && put_list(dir, calls, aad, aad_cnt, NULL) &&
	       put_list(dir, calls, src, src_cnt, &out) &&
	       calls->EVP_CipherFinal_ex(dir->ctx, rest, &have) == 1 &&
	       calls->EVP_CIPHER_CTX_ctrl(dir->ctx, EVP_CTRL_AEAD_GET_TAG, SEC_TAG_SIZE, tag) == 1;
}

/* put_into - the plain bytes of @in go to @out. */
static bool put_into(struct sec_dir *dir, const struct sec_crypto *calls, const uint8_t *in, const struct iovec *out,
		     size_t out_cnt)
{
	uint8_t *at;
	size_t i;

	for (i = 0; i < out_cnt; in += out[i++].iov_len) {
		at = out[i].iov_base;
		if (!put_bytes(dir, calls, in, out[i].iov_len, &at))
			return false;
	}
	return true;
}

bool sec_open_list(struct sec_dir *dir, uint64_t no, const struct iovec *aad, size_t aad_cnt, const uint8_t *in,
		   size_t len, const uint8_t tag[SEC_TAG_SIZE], const struct iovec *out, size_t out_cnt)
{
	const struct sec_crypto *calls = sec_crypto_get(NULL);
	uint8_t rest[SEC_TAG_SIZE], want[SEC_TAG_SIZE];
	bool opened;
	int have;

	assert(!dir->seals && iov_total(out, out_cnt) == len);
	memcpy(want, tag, sizeof(want));
	count_record(dir, iov_total(aad, aad_cnt), len);
	opened = begin_record(dir, calls, no) && put_list(dir, calls, aad, aad_cnt, NULL) &&
		 put_into(dir, calls, in, out, out_cnt) &&
		 calls->EVP_CIPHER_CTX_ctrl(dir->ctx, EVP_CTRL_AEAD_SET_TAG, SEC_TAG_SIZE, want) == 1 &&
		 calls->EVP_CipherFinal_ex(dir->ctx, rest, &have) == 1;
	if (!opened)
		dir->forged++;
	return opened;
}
#else
bool sec_dir_init(struct sec_dir *dir, enum sec_suite suite, bool seals, const uint8_t secret[SEC_HASH_SIZE])
{
	return false;
}

bool sec_dir_next(struct sec_dir *dir)
{
	return false;
}

bool sec_dir_after(const struct sec_dir *dir, struct sec_dir *next)
{
	return false;
}

void sec_dir_fini(struct sec_dir *dir)
{
}

bool sec_seal(struct sec_dir *dir, uint64_t no, const struct iovec *aad, size_t aad_cnt, const struct iovec *src,
	      size_t src_cnt, uint8_t *out, uint8_t tag[SEC_TAG_SIZE])
{
	return false;
}

bool sec_open_list(struct sec_dir *dir, uint64_t no, const struct iovec *aad, size_t aad_cnt, const uint8_t *in,
		   size_t len, const uint8_t tag[SEC_TAG_SIZE], const struct iovec *out, size_t out_cnt)
{
	return false;
}
#endif

bool sec_open(struct sec_dir *dir, uint64_t no, const struct iovec *aad, size_t aad_cnt, const uint8_t *in,
	      size_t len, const uint8_t tag[SEC_TAG_SIZE], uint8_t *out)
{
	return sec_open_list(dir, no, aad, aad_cnt, in, len, tag, &(struct iovec) { out, len }, 1);
}

bool sec_dir_worn(const struct sec_dir *dir)
{
	return dir->bytes >= SEC_KEY_BYTES_MAX || dir->forged >= SEC_FORGED_MAX;
}

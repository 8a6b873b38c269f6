/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * crypto.h - what this room takes from OpenSSL's libcrypto, which is loaded when it is asked for:
 * a program without a key never has it in its address space.
 */
#ifndef SEC_CRYPTO_H
#define SEC_CRYPTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEC_HASH_SIZE 32	/* SHA-256 */

#if HAVE_OPENSSL
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#define SEC_CRYPTO_CALLS(X) \
	X(CRYPTO_memcmp) \
	X(EVP_CIPHER_CTX_ctrl) \
	X(EVP_CIPHER_CTX_free) \
	X(EVP_CIPHER_CTX_new) \
	X(EVP_CipherFinal_ex) \
	X(EVP_CipherInit_ex) \
	X(EVP_CipherUpdate) \
	X(EVP_Digest) \
	X(EVP_aes_128_gcm) \
	X(EVP_aes_256_gcm) \
	X(EVP_chacha20_poly1305) \
	X(EVP_sha256) \
	X(HMAC) \
	X(RAND_bytes)

struct sec_crypto {
#define SEC_CRYPTO_MEMBER(name) __typeof__(&(name)) name;
	SEC_CRYPTO_CALLS(SEC_CRYPTO_MEMBER)
#undef SEC_CRYPTO_MEMBER
};
#else
struct sec_crypto;
#endif

/* sec_crypto_get - libcrypto's functions, or NULL.
 *
 * @why_p: [out, optional] why there are none; a text that is never freed
 *
 * Any thread; loads the library once.  It stays loaded.
 */
const struct sec_crypto *sec_crypto_get(const char **why_p);

/* The calls below need sec_crypto_get() to have succeeded.  They return false when libcrypto fails, as it
 * does without memory.
 */

bool sec_hash(const void *data, size_t len, uint8_t hash[SEC_HASH_SIZE]);

/* sec_hkdf_extract - HKDF-Extract of RFC 5869 with SHA-256; a @salt of no length is that of zeros. */
bool sec_hkdf_extract(const void *salt, size_t salt_len, const void *key, size_t key_len,
		      uint8_t secret[SEC_HASH_SIZE]);

/* sec_hkdf_expand - HKDF-Expand of RFC 5869: @len bytes, at most 255 * SEC_HASH_SIZE. */
bool sec_hkdf_expand(const uint8_t secret[SEC_HASH_SIZE], const void *info, size_t info_len, uint8_t *out,
		     size_t len);

/* sec_expand_label - HKDF-Expand-Label of RFC 8446, section 7.1.
 *
 * @label:   without the prefix of TLS 1.3; at most 249 characters
 * @context: at most 255 bytes
 */
bool sec_expand_label(const uint8_t secret[SEC_HASH_SIZE], const char *label, const void *context,
		      size_t context_len, uint8_t *out, size_t len);

bool sec_random(uint8_t *out, size_t len);

/* sec_equal - are they the same?  Takes as long whatever differs. */
bool sec_equal(const void *a, const void *b, size_t len);

#endif

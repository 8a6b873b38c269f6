/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "secure/crypto.h"

#include <assert.h>
#include <string.h>

#if HAVE_OPENSSL
#include <dlfcn.h>
#include <pthread.h>

#define LIBCRYPTO "libcrypto.so.3"

static struct sec_crypto calls;
static const char *missing = "not asked for yet";
static pthread_once_t load_once = PTHREAD_ONCE_INIT;

static void load_crypto(void)
{
	void *lib = dlopen(LIBCRYPTO, RTLD_NOW | RTLD_LOCAL);

	if (!lib) {
		missing = LIBCRYPTO " (OpenSSL 3) cannot be loaded: is the package libssl3 installed?";
		return;
	}
	missing = NULL;
#define LOAD_CALL(name) \
	calls.name = (__typeof__(calls.name)) dlsym(lib, #name); \
	if (!calls.name) \
		missing = LIBCRYPTO " has no " #name;
	SEC_CRYPTO_CALLS(LOAD_CALL)
#undef LOAD_CALL
}

const struct sec_crypto *sec_crypto_get(const char **why_p)
{
	pthread_once(&load_once, load_crypto);
	if (missing && why_p)
		*why_p = missing;
	return missing ? NULL : &calls;
}

bool sec_hash(const void *data, size_t len, uint8_t hash[SEC_HASH_SIZE])
{
	return calls.EVP_Digest(data, len, hash, NULL, calls.EVP_sha256(), NULL) == 1;
}

static bool hmac_sha256(const void *key, size_t key_len, const void *data, size_t len, uint8_t out[SEC_HASH_SIZE])
{
	return calls.HMAC(calls.EVP_sha256(), key, (int) key_len, data, len, out, NULL);
}

bool sec_random(uint8_t *out, size_t len)
{
	return calls.RAND_bytes(out, (int) len) == 1;
}

bool sec_equal(const void *a, const void *b, size_t len)
{
	return !calls.CRYPTO_memcmp(a, b, len);
}
#else
const struct sec_crypto *sec_crypto_get(const char **why_p)
{
	if (why_p)
		*why_p = "this library was built without the headers of OpenSSL 3 (package libssl-dev)";
	return NULL;
}

bool sec_hash(const void *data, size_t len, uint8_t hash[SEC_HASH_SIZE])
{
	return false;
}

static bool hmac_sha256(const void *key, size_t key_len, const void *data, size_t len, uint8_t out[SEC_HASH_SIZE])
{
	return false;
}

bool sec_random(uint8_t *out, size_t len)
{
	return false;
}

bool sec_equal(const void *a, const void *b, size_t len)
{
	return false;
}
#endif

bool sec_hkdf_extract(const void *salt, size_t salt_len, const void *key, size_t key_len,
		      uint8_t secret[SEC_HASH_SIZE])
{
	static const uint8_t zeros[SEC_HASH_SIZE];

	return salt_len ? hmac_sha256(salt, salt_len, key, key_len, secret) :
			  hmac_sha256(zeros, sizeof(zeros), key, key_len, secret);
}

#define INFO_MAX 600	/* a label of TLS 1.3 is 515 bytes at most */

bool sec_hkdf_expand(const uint8_t secret[SEC_HASH_SIZE], const void *info, size_t info_len, uint8_t *out,
		     size_t len)
{
	uint8_t block[SEC_HASH_SIZE + INFO_MAX + 1], hash[SEC_HASH_SIZE];
	size_t have = 0, done = 0, part;
	uint8_t counter = 0;

	assert(info_len <= INFO_MAX && len <= 255 * SEC_HASH_SIZE);
	while (done < len) {
		if (info_len)
			memcpy(block + have, info, info_len);
		block[have + info_len] = ++counter;
		if (!hmac_sha256(secret, SEC_HASH_SIZE, block, have + info_len + 1, hash))
			break;
		part = len - done < sizeof(hash) ? len - done : sizeof(hash);
		memcpy(out + done, hash, part);
		memcpy(block, hash, sizeof(hash));
		have = sizeof(hash);
		done += part;
	}
	explicit_bzero(block, sizeof(block));
	explicit_bzero(hash, sizeof(hash));
	return done == len;
}

bool sec_expand_label(const uint8_t secret[SEC_HASH_SIZE], const char *label, const void *context,
		      size_t context_len, uint8_t *out, size_t len)
{
	static const char prefix[] = "tls13 ";
	size_t label_len = strlen(label), at = 0;
	uint8_t info[INFO_MAX];

	assert(label_len <= 249 && context_len <= 255 && len <= UINT16_MAX);
	info[at++] = (uint8_t) (len >> 8);
	info[at++] = (uint8_t) len;
	info[at++] = (uint8_t) (sizeof(prefix) - 1 + label_len);
	memcpy(info + at, prefix, sizeof(prefix) - 1);
	at += sizeof(prefix) - 1;
	memcpy(info + at, label, label_len);
	at += label_len;
	info[at++] = (uint8_t) context_len;
	if (context_len)
		memcpy(info + at, context, context_len);
	return sec_hkdf_expand(secret, info, at + context_len, out, len);
}

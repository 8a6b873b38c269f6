/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"
#include <fcntl.h>
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "secure/key.h"
#include "secure/level.h"

static size_t unhex(const char *hex, uint8_t *out)
{
	size_t len = 0;
	unsigned byte;

	for (; sscanf(hex, "%2x", &byte) == 1; hex += 2)
		out[len++] = (uint8_t) byte;
	return len;
}

#define ASSERT_HEX(got, hex) do { \
	uint8_t want_[256]; \
	assert_memory_equal(got, want_, unhex(hex, want_)); \
} while (0)

/* RFC 5869, test cases 1 and 3. */
static void hkdf(void **state)
{
	uint8_t key[22], salt[13], info[10], secret[SEC_HASH_SIZE], out[42];
	int i;

	memset(key, 0x0b, sizeof(key));
	for (i = 0; i < 13; i++)
		salt[i] = (uint8_t) i;
	for (i = 0; i < 10; i++)
		info[i] = (uint8_t) (0xf0 + i);
	assert_true(sec_hkdf_extract(salt, sizeof(salt), key, sizeof(key), secret));
	ASSERT_HEX(secret, "077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5");
	assert_true(sec_hkdf_expand(secret, info, sizeof(info), out, sizeof(out)));
	ASSERT_HEX(out, "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865");
	assert_true(sec_hkdf_extract(NULL, 0, key, sizeof(key), secret));
	ASSERT_HEX(secret, "19ef24a32c717b167f33a91d6f648bdf96596776afdb6377ac434c1c293ccb04");
	assert_true(sec_hkdf_expand(secret, NULL, 0, out, sizeof(out)));
	ASSERT_HEX(out, "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8");
}

/* RFC 8448, section 3: keys of the client's handshake records. */
static void expand_label(void **state)
{
	uint8_t secret[SEC_HASH_SIZE], key[16], iv[12];

	unhex("b3eddb126e067f35a780b3abf45e2d8f3b1a950738f52e9600746a0e27a55a21", secret);
	assert_true(sec_expand_label(secret, "key", NULL, 0, key, sizeof(key)));
	ASSERT_HEX(key, "dbfaa693d1762c5b666af5d950258d01");
	assert_true(sec_expand_label(secret, "iv", NULL, 0, iv, sizeof(iv)));
	ASSERT_HEX(iv, "5bd3c71b836e0b76bb73265f");
}

static void fill(uint8_t *record, uint8_t byte)
{
	memcpy(record, SEC_KEY_HEAD, SEC_KEY_HEAD_SIZE);
	memset(record + SEC_KEY_HEAD_SIZE, byte, SEC_KEY_SIZE);
}

static void records(void **state)
{
	uint8_t file[(SEC_KEYS_MAX + 1) * SEC_KEY_RECORD_SIZE];
	struct sec_keys keys;
	unsigned i;

	for (i = 0; i <= SEC_KEYS_MAX; i++)
		fill(file + i * SEC_KEY_RECORD_SIZE, (uint8_t) i);
	assert_null(sec_keys_parse(&keys, file, SEC_KEYS_MAX * SEC_KEY_RECORD_SIZE));
	assert_int_equal(keys.cnt, SEC_KEYS_MAX);
	for (i = 0; i < SEC_KEYS_MAX; i++) {
		assert_int_equal(keys.key[i].len, SEC_KEY_SIZE);
		assert_int_equal(keys.key[i].bytes[0], i);
		assert_ptr_equal(sec_keys_find(&keys, keys.key[i].name), &keys.key[i]);
	}
	assert_non_null(strstr(sec_keys_parse(&keys, file, sizeof(file)), "more than 16 keys"));
	for (i = SEC_KEY_RECORD_SIZE + 1; i < 2 * SEC_KEY_RECORD_SIZE; i++)
		assert_non_null(strstr(sec_keys_parse(&keys, file, i), "middle"));
	file[SEC_KEY_RECORD_SIZE]++;
	assert_non_null(strstr(sec_keys_parse(&keys, file, 2 * SEC_KEY_RECORD_SIZE), "behind its first"));
	/* Nothing of a refused file stays. */
	for (i = 0; i < sizeof(keys); i++)
		assert_int_equal(((uint8_t *) &keys)[i], 0);
}

static void raw(void **state)
{
	uint8_t bytes[SEC_KEY_MAX + 1];
	struct sec_keys keys;
	unsigned len;

	memset(bytes, 'a', sizeof(bytes));
	assert_non_null(strstr(sec_keys_parse(&keys, bytes, 32), "text"));
	bytes[31] = '\n';
	assert_non_null(strstr(sec_keys_parse(&keys, bytes, 32), "text"));
	bytes[0] = 0x80;
	for (len = 0; len <= sizeof(bytes); len++) {
		const char *why = sec_keys_parse(&keys, bytes, len);

		if (len < SEC_KEY_MIN || len > SEC_KEY_MAX) {
			assert_non_null(strstr(why, len < SEC_KEY_MIN ? "fewer than 16" : "more than 256"));
			continue;
		}
		assert_null(why);
		assert_int_equal(keys.cnt, 1);
		assert_int_equal(keys.key[0].len, len);
		assert_memory_equal(keys.key[0].bytes, bytes, len);
	}
}

/* What a person may have typed, as programs hold it, and memory that was never filled in. */
static void typed(void **state)
{
	static const uint8_t zeros[32], padded[32] = "correct horse", umlaut[] = "gr\xc3\xbc\xc3\x9f""e aus k\xc3\xb6ln",
		cyrillic[24] = "\xd0\xbf\xd0\xb0\xd1\x80\xd0\xbe\xd0\xbb\xd1\x8c\xe2\x82\xac\xf0\x9f\x94\x91",
		cut[] = "0123456789abcde\xc3", sparse[32] = { [3] = 1 };
	struct sec_keys keys;

	assert_non_null(strstr(sec_keys_parse(&keys, zeros, sizeof(zeros)), "zeros"));
	assert_non_null(strstr(sec_keys_parse(&keys, padded, sizeof(padded)), "text"));
	assert_non_null(strstr(sec_keys_parse(&keys, umlaut, sizeof(umlaut)), "text"));
	assert_non_null(strstr(sec_keys_parse(&keys, cyrillic, sizeof(cyrillic)), "text"));
	assert_null(sec_keys_parse(&keys, cut, sizeof(cut) - 1));	/* binary that has many letters */
	assert_null(sec_keys_parse(&keys, sparse, sizeof(sparse)));
}

/* Two keys have two names, and a name is no part of its key. */
static void names(void **state)
{
	uint8_t file[2 * SEC_KEY_RECORD_SIZE], name[SEC_NAME_SIZE];
	struct sec_keys keys;

	fill(file, 1);
	fill(file + SEC_KEY_RECORD_SIZE, 2);
	assert_null(sec_keys_parse(&keys, file, sizeof(file)));
	assert_memory_not_equal(keys.key[0].name, keys.key[1].name, SEC_NAME_SIZE);
	assert_memory_not_equal(keys.key[0].name, keys.key[0].bytes, SEC_NAME_SIZE);
	assert_ptr_equal(sec_keys_find(&keys, keys.key[1].name), &keys.key[1]);
	file[SEC_KEY_RECORD_SIZE - 1] ^= 1;
	memcpy(name, keys.key[0].name, sizeof(name));
	assert_null(sec_keys_parse(&keys, file, sizeof(file)));
	assert_null(sec_keys_find(&keys, name));	/* of the key before it was changed */
}

static void refused(const char *path, const char *reason)
{
	struct sec_keys keys;
	char why[256] = "";

	assert_int_equal(sec_keys_read(&keys, path, why, sizeof(why)), -FI_EACCES);
	assert_non_null(strstr(why, path));
	if (!strstr(why, reason))
		fail_msg("\"%s\" does not say \"%s\"", why, reason);
	assert_int_equal(keys.cnt, 0);
}

static void files(void **state)
{
	char path[] = "/tmp/key_test.XXXXXX", why[256];
	uint8_t record[SEC_KEY_RECORD_SIZE];
	int fd = mkstemp(path), mode;
	struct sec_keys keys;

	assert_true(fd >= 0);
	fill(record, 7);
	assert_int_equal(write(fd, record, sizeof(record)), sizeof(record));
	assert_int_equal(sec_keys_read(&keys, path, why, sizeof(why)), 0);
	assert_int_equal(keys.cnt, 1);
	for (mode = 1; mode < 0100; mode <<= 1) {
		assert_int_equal(fchmod(fd, (mode_t) (0600 | mode)), 0);
		refused(path, "chmod 600");
	}
	assert_int_equal(fchmod(fd, 0600), 0);
	if (!geteuid()) {
		assert_int_equal(fchown(fd, 1, 1), 0);
		refused(path, "another user");
	}
	close(fd);
	assert_int_equal(unlink(path), 0);
	refused(path, "No such file");
	assert_int_equal(mkfifo(path, 0600), 0);
	refused(path, "no regular file");
	assert_int_equal(unlink(path), 0);
}

static void identities(void **state)
{
	struct sec_context context = { .client = { 1, 2, 3 }, .role = SEC_ROLE_CLIENT, .level = SEC_AUTH,
				       .version = 4, .oldest = 3 }, got;
	uint8_t id[SEC_IDENTITY_SIZE], name[SEC_NAME_SIZE], psk[2][SEC_HASH_SIZE], record[SEC_KEY_RECORD_SIZE];
	struct sec_keys keys;
	size_t i;

	fill(record, 9);
	assert_null(sec_keys_parse(&keys, record, sizeof(record)));
	sec_identity_pack(keys.key[0].name, &context, id);
	assert_true(sec_identity_parse(id, sizeof(id), name, &got));
	assert_memory_equal(name, keys.key[0].name, sizeof(name));
	assert_memory_equal(&got, &context, sizeof(got));
	assert_false(sec_identity_parse(id, sizeof(id) - 1, name, &got));
	assert_true(sec_key_import(&keys.key[0], id, psk[0]));
	/* Whatever is altered on the way is another key, or no identity. */
	for (i = 0; i < sizeof(id); i++) {
		id[i] ^= 1;
		assert_true(sec_key_import(&keys.key[0], id, psk[1]));
		assert_memory_not_equal(psk[0], psk[1], SEC_HASH_SIZE);
		if (i < 2 || (i >= 2 + SEC_NAME_SIZE && i < 4 + SEC_NAME_SIZE) || i >= sizeof(id) - 4)
			assert_false(sec_identity_parse(id, sizeof(id), name, &got));
		id[i] ^= 1;
	}
}

static void levels(void **state)
{
	static const struct {
		const char *level;
		bool has_key;
		int ret;
		enum sec_level want;
		const char *reason;
	} rows[] = {
		{ NULL, false, 0, SEC_NONE, NULL },
		{ NULL, true, 0, SEC_ENCRYPT, NULL },
		{ "none", true, 0, SEC_NONE, NULL },
		{ "AUTH", true, 0, SEC_AUTH, NULL },
		{ "encrypt", true, 0, SEC_ENCRYPT, NULL },
		{ "auth", false, -FI_EACCES, SEC_AUTH, "FI_AUTH_KEY_FILE" },
		{ "encrypt", false, -FI_EACCES, SEC_ENCRYPT, "FI_AUTH_KEY_FILE" },
		{ "full", true, -FI_EACCES, SEC_NONE, "none of none, auth and encrypt" },
		{ "", true, -FI_EACCES, SEC_NONE, "none of none" },
	};
	enum sec_level level;
	char why[256];
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct sec_wish wish = { .level = rows[i].level, .has_key = rows[i].has_key };

		assert_int_equal(sec_level_get(&wish, &level, why, sizeof(why)), rows[i].ret);
		if (rows[i].ret)
			assert_non_null(strstr(why, rows[i].reason));
		else
			assert_int_equal(level, rows[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hkdf),
		cmocka_unit_test(expand_label),
		cmocka_unit_test(records),
		cmocka_unit_test(raw),
		cmocka_unit_test(typed),
		cmocka_unit_test(names),
		cmocka_unit_test(files),
		cmocka_unit_test(identities),
		cmocka_unit_test(levels),
	};
	const char *why;

	if (!sec_crypto_get(&why)) {
		printf("skipped: %s\n", why);
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* fuzz_parse - libFuzzer target: key files, identities, heads of records, and what comes in a handshake. */
#include <stdlib.h>
#include <string.h>

#include "secure/channel.h"
#include "secure/handshake.h"
#include "secure/key.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_keys(const uint8_t *data, size_t size)
{
	struct sec_keys keys;

	if (!sec_keys_parse(&keys, data, size) && (!keys.cnt || keys.cnt > SEC_KEYS_MAX))
		abort();
	sec_keys_wipe(&keys);
}

static void check_identity(const uint8_t *data, size_t size)
{
	uint8_t name[SEC_NAME_SIZE], again[SEC_IDENTITY_SIZE];
	struct sec_context context;

	if (!sec_identity_parse(data, size, name, &context))
		return;
	sec_identity_pack(name, &context, again);
	if (size != sizeof(again) || memcmp(again, data, size))
		abort();
}

/* No input opens. */
static void check_record(const uint8_t *data, size_t size)
{
	static uint8_t out[SEC_RECORD_MAX];
	static const uint8_t exported[SEC_HASH_SIZE] = { 1 };
	static struct sec_channel channel;
	size_t need = sec_channel_need(data, size), len;

	if (need > SEC_RECORD_MAX + SEC_RECORD_OVER)
		abort();
	if (size < SEC_RECORD_HEAD || !need || need > size)
		return;
	if (!channel.level && !sec_channel_open(&channel, SEC_ENCRYPT, true, exported, 0))
		abort();
	if (sec_channel_take(&channel, data, NULL, 0, out, &len) != SEC_RECORD_BAD)
		abort();
	channel.rx.bytes = 0;
}

static void check_shake(const uint8_t *data, size_t size, bool server)
{
	static struct sec_keys keys;
	struct sec_shake_attr attr = { .server = server, .keys = &keys, .level = SEC_AUTH, .version = 4, .oldest = 4 };
	static const uint8_t key[SEC_KEY_SIZE] = { 0x80 };
	struct sec_shake *shake;
	const char *why;

	if (!sec_shake_ready(&why) || (!keys.cnt && sec_keys_parse(&keys, key, sizeof(key))))
		abort();
	if (sec_shake_open(&attr, &shake))
		return;
	if (sec_shake_feed(shake, data, size) == SEC_SHAKE_DONE)
		abort();
	sec_shake_close(shake);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!sec_crypto_get(NULL) || !size)
		return 0;
	switch (data[0] % 5) {
	case 0:
		check_keys(data + 1, size - 1);
		break;
	case 1:
		check_identity(data + 1, size - 1);
		break;
	case 2:
		check_record(data + 1, size - 1);
		break;
	default:
		check_shake(data + 1, size - 1, data[0] % 5 == 3);
	}
	return 0;
}

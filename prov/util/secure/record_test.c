/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "secure/record.h"

#define LEN 300

static const enum sec_suite suites[] = { SEC_AES_128_GCM, SEC_AES_256_GCM, SEC_CHACHA20_POLY1305 };

/* Each pair has keys of its own, as the assertion of the module asks for. */
static void open_pair(struct sec_dir *seal, struct sec_dir *open, enum sec_suite suite)
{
	static uint8_t number;
	uint8_t secret[SEC_HASH_SIZE] = { ++number };

	memset(seal, 0, sizeof(*seal));
	memset(open, 0, sizeof(*open));
	assert_true(sec_dir_init(seal, suite, true, secret));
	assert_true(sec_dir_init(open, suite, false, secret));
}

struct record {
	uint8_t head[20], plain[LEN], sealed[LEN], tag[SEC_TAG_SIZE], opened[LEN];
};

static void fill(struct record *r)
{
	size_t i;

	for (i = 0; i < LEN; i++)
		r->plain[i] = (uint8_t) (i * 7);
	memset(r->head, 0x11, sizeof(r->head));
	memset(r->opened, 0, LEN);
}

/* The payload lies in three pieces, one of them empty. */
static void seal_it(struct sec_dir *dir, uint64_t no, struct record *r)
{
	struct iovec aad = { r->head, sizeof(r->head) };
	struct iovec src[] = { { r->plain, 100 }, { r->plain, 0 }, { r->plain + 100, LEN - 100 } };

	assert_true(sec_seal(dir, no, &aad, 1, src, 3, r->sealed, r->tag));
}

static bool open_it(struct sec_dir *dir, uint64_t no, struct record *r)
{
	struct iovec aad = { r->head, sizeof(r->head) };

	return sec_open(dir, no, &aad, 1, r->sealed, LEN, r->tag, r->opened);
}

static void round_trip(void **state)
{
	static const uint64_t numbers[] = { 0, 1, 255, 256, 1ull << 32, UINT64_MAX - 1 };
	struct sec_dir seal, open;
	struct record r;
	size_t s, i;

	for (s = 0; s < 3; s++) {
		open_pair(&seal, &open, suites[s]);
		for (i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
			fill(&r);
			seal_it(&seal, numbers[i], &r);
			assert_memory_not_equal(r.sealed, r.plain, LEN);
			assert_true(open_it(&open, numbers[i], &r));
			assert_memory_equal(r.opened, r.plain, LEN);
		}
		sec_dir_fini(&seal);
		sec_dir_fini(&open);
	}
}

/* One altered bit of header, payload or tag, another number, another direction: nothing opens. */
static void altered(void **state)
{
	struct sec_dir seal, open, other_seal, other_open;
	struct record r;
	size_t i, s;

	for (s = 0; s < 3; s++) {
		open_pair(&seal, &open, suites[s]);
		open_pair(&other_seal, &other_open, suites[s]);
		fill(&r);
		seal_it(&seal, 5, &r);
		for (i = 0; i < 8 * sizeof(r.head); i++) {
			r.head[i / 8] ^= (uint8_t) (1 << i % 8);
			assert_false(open_it(&open, 5, &r));
			r.head[i / 8] ^= (uint8_t) (1 << i % 8);
		}
		for (i = 0; i < 8 * LEN; i++) {
			r.sealed[i / 8] ^= (uint8_t) (1 << i % 8);
			assert_false(open_it(&open, 5, &r));
			r.sealed[i / 8] ^= (uint8_t) (1 << i % 8);
		}
		for (i = 0; i < 8 * sizeof(r.tag); i++) {
			r.tag[i / 8] ^= (uint8_t) (1 << i % 8);
			assert_false(open_it(&open, 5, &r));
			r.tag[i / 8] ^= (uint8_t) (1 << i % 8);
		}
		for (i = 0; i < 64; i++)
			assert_false(open_it(&open, 5 ^ 1ull << i, &r));
		assert_false(open_it(&other_open, 5, &r));
		assert_int_equal(open.forged, 8 * (sizeof(r.head) + LEN + sizeof(r.tag)) + 64);
		assert_true(open_it(&open, 5, &r));
		sec_dir_fini(&seal);
		sec_dir_fini(&open);
		sec_dir_fini(&other_seal);
		sec_dir_fini(&other_open);
	}
}

/* The level auth: all of it is associated data. */
static void tag_alone(void **state)
{
	struct sec_dir seal, open;
	struct iovec aad[2];
	struct record r;

	open_pair(&seal, &open, SEC_AES_128_GCM);
	fill(&r);
	aad[0] = (struct iovec) { r.head, sizeof(r.head) };
	aad[1] = (struct iovec) { r.plain, LEN };
	assert_true(sec_seal(&seal, 0, aad, 2, NULL, 0, NULL, r.tag));
	assert_true(sec_open(&open, 0, aad, 2, NULL, 0, r.tag, NULL));
	r.plain[LEN - 1] ^= 1;
	assert_false(sec_open(&open, 0, aad, 2, NULL, 0, r.tag, NULL));
	sec_dir_fini(&seal);
	sec_dir_fini(&open);
}

static void next_keys(void **state)
{
	struct sec_dir seal, open;
	struct record r;

	open_pair(&seal, &open, SEC_AES_128_GCM);
	fill(&r);
	assert_false(sec_dir_worn(&seal));
	seal.bytes = SEC_KEY_BYTES_MAX;
	assert_true(sec_dir_worn(&seal));
	assert_true(sec_dir_next(&seal));
	assert_false(sec_dir_worn(&seal));
	seal_it(&seal, 1, &r);
	assert_false(open_it(&open, 1, &r));
	assert_true(sec_dir_next(&open));
	assert_true(open_it(&open, 1, &r));
	open.forged = SEC_FORGED_MAX;
	assert_true(sec_dir_worn(&open));
	sec_dir_fini(&seal);
	sec_dir_fini(&open);
}

/* Short records count as the blocks that the cipher works on, and alike on both sides, whatever pieces they have. */
static void worn_by_blocks(void **state)
{
	struct iovec aad = { "head", 4 }, pieces[3] = { { "a", 1 }, { "b", 1 }, { "0123456789abcdef", 16 } };
	uint8_t out[18], plain[18], tag[SEC_TAG_SIZE];
	struct sec_dir seal, open;

	open_pair(&seal, &open, SEC_AES_128_GCM);
	assert_true(sec_seal(&seal, 0, &aad, 1, pieces, 1, out, tag));
	assert_int_equal(seal.bytes, 16 + 16 + 16);
	assert_true(sec_open(&open, 0, &aad, 1, out, 1, tag, plain));
	assert_true(sec_seal(&seal, 1, &aad, 1, pieces, 3, out, tag));
	assert_true(sec_open(&open, 1, &aad, 1, out, 18, tag, plain));
	assert_int_equal(seal.bytes, 48 + 16 + 32 + 16);
	assert_int_equal(open.bytes, seal.bytes);
	sec_dir_fini(&seal);
	sec_dir_fini(&open);
}

/* Paths, connections and directions have secrets of their own. */
static void path_secrets(void **state)
{
	uint8_t exported[SEC_HASH_SIZE] = { 1 }, fresh[SEC_HASH_SIZE] = { 2 }, secrets[5][SEC_HASH_SIZE];
	size_t i, k;

	assert_true(sec_path_secret(exported, 0, fresh, true, secrets[0]));
	assert_true(sec_path_secret(exported, 0, fresh, false, secrets[1]));
	assert_true(sec_path_secret(exported, 1, fresh, true, secrets[2]));
	assert_true(sec_path_secret(exported, 1u << 24, fresh, true, secrets[3]));
	fresh[31] = 1;
	assert_true(sec_path_secret(exported, 0, fresh, true, secrets[4]));
	for (i = 0; i < 5; i++)
		for (k = 0; k < i; k++)
			assert_memory_not_equal(secrets[i], secrets[k], SEC_HASH_SIZE);
}

/* The window against one that remembers every number. */
static void window(void **state)
{
	static bool came[20000];
	struct sec_window w = { 0 };
	uint64_t top = 0, no;
	bool fresh;
	int i;

	srand(1);
	memset(came, 0, sizeof(came));
	for (i = 0; i < 200000; i++) {
		no = top > 1500 ? top - 1500 + (uint64_t) (rand() % 1600) : (uint64_t) (rand() % 1600);
		if (no >= 20000)
			break;
		fresh = no >= top || (top - no <= SEC_WINDOW_BITS && !came[no]);
		assert_int_equal(sec_window_fresh(&w, no), fresh);
		if (!fresh || rand() % 4)
			continue;
		sec_window_take(&w, no);
		came[no] = true;
		top = no >= top ? no + 1 : top;
	}
	/* A jump, and the last number that can be. */
	sec_window_take(&w, UINT64_MAX - 1);
	assert_false(sec_window_fresh(&w, UINT64_MAX - 1));
	assert_false(sec_window_fresh(&w, UINT64_MAX));
	assert_true(sec_window_fresh(&w, UINT64_MAX - 2));
	assert_false(sec_window_fresh(&w, top));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(round_trip),
		cmocka_unit_test(altered),
		cmocka_unit_test(tag_alone),
		cmocka_unit_test(next_keys),
		cmocka_unit_test(worn_by_blocks),
		cmocka_unit_test(path_secrets),
		cmocka_unit_test(window),
	};
	const char *why;

	if (!sec_crypto_get(&why)) {
		printf("skipped: %s\n", why);
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Two ends of a sealed stream, and an attacker who has every byte between them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"
#include <stdlib.h>
#include <string.h>

#include "secure/channel.h"

#define SIZE 100

struct wire {
	struct sec_channel end[2];	/* client, server */
	uint8_t plain[SIZE];
	uint8_t out[SEC_RECORD_MAX];
};

static struct wire wire_open(enum sec_level level, uint8_t secret)
{
	struct wire w = { 0 };
	uint8_t exported[SEC_HASH_SIZE];
	static uint8_t life;	/* the same secret twice would be the same key twice */
	int i;

	memset(exported, secret, sizeof(exported));
	exported[1] = life++;
	for (i = 0; i < 2; i++)
		assert_true(sec_channel_open(&w.end[i], level, i, exported, 0));
	for (i = 0; i < SIZE; i++)
		w.plain[i] = (uint8_t) (i * 7);
	return w;
}

static void wire_close(struct wire *w)
{
	sec_channel_close(&w->end[0]);
	sec_channel_close(&w->end[1]);
}

static size_t seal(struct wire *w, int from, enum sec_record kind, size_t len, uint8_t *out)
{
	struct iovec iov[2] = { { w->plain, len / 2 }, { w->plain + len / 2, len - len / 2 } };

	assert_true(sec_channel_seal(&w->end[from], kind, iov, 2, len, out));
	assert_int_equal(sec_channel_need(out, 3), SEC_RECORD_HEAD);
	assert_int_equal(sec_channel_need(out, SEC_RECORD_HEAD), len + SEC_RECORD_OVER);
	return len + SEC_RECORD_OVER;
}

static enum sec_record take(struct wire *w, int to, const uint8_t *record)
{
	size_t len;

	return sec_channel_take(&w->end[to], record, NULL, 0, w->out, &len);
}

static const enum sec_level levels[] = { SEC_AUTH, SEC_ENCRYPT };

static void both_ways(void **state)
{
	uint8_t record[SIZE + SEC_RECORD_OVER];
	int i, from, l;

	for (l = 0; l < 2; l++) {
		struct wire w = wire_open(levels[l], 1);

		for (i = 1; i <= SIZE; i++)
			for (from = 0; from < 2; from++) {
				seal(&w, from, SEC_RECORD_DATA, (size_t) i, record);
				assert_int_equal(take(&w, !from, record), SEC_RECORD_DATA);
				assert_memory_equal(w.out, w.plain, (size_t) i);
			}
		wire_close(&w);
	}
}

/* A record goes into a list of any division, and what that has no room for behind it.  One that was altered writes
 * nothing at auth.
 */
static void into_lists(void **state)
{
	uint8_t record[SIZE + SEC_RECORD_OVER], got[SIZE], zeros[SIZE] = { 0 };
	size_t first, room, len;
	int l;

	for (l = 0; l < 2; l++) {
		struct wire w = wire_open(levels[l], 7);

		for (room = 0; room <= SIZE + 10; room += 5)
			for (first = 0; first <= room && first <= SIZE; first += 17) {
				struct iovec place[3] = { { got, first }, { NULL, 0 }, { got + first, room - first } };

				memset(got, 0, sizeof(got));
				seal(&w, 0, SEC_RECORD_DATA, SIZE, record);
				record[SIZE / 2] ^= 1;
				assert_int_equal(sec_channel_take(&w.end[1], record, place, 3, w.out, &len),
						 SEC_RECORD_BAD);
				if (levels[l] == SEC_AUTH)
					assert_memory_equal(got, zeros, SIZE);
				record[SIZE / 2] ^= 1;
				assert_int_equal(sec_channel_take(&w.end[1], record, place, 3, w.out, &len),
						 SEC_RECORD_DATA);
				assert_int_equal(len, SIZE);
				len = room < SIZE ? room : SIZE;
				assert_memory_equal(got, w.plain, len);
				assert_memory_equal(w.out, w.plain + len, SIZE - len);
			}
		wire_close(&w);
	}
}

/* What is encrypted is not on the wire; what is authenticated alone is. */
static void hidden(void **state)
{
	uint8_t record[SIZE + SEC_RECORD_OVER];
	int l;

	for (l = 0; l < 2; l++) {
		struct wire w = wire_open(levels[l], 2);

		seal(&w, 0, SEC_RECORD_DATA, SIZE, record);
		assert_int_equal(!memcmp(record + SEC_RECORD_HEAD, w.plain, SIZE), levels[l] == SEC_AUTH);
		wire_close(&w);
	}
}

/* Each bit of each byte: head, body and tag. */
static void bit_flips(void **state)
{
	uint8_t record[SIZE + SEC_RECORD_OVER];
	size_t i, len, l;

	for (l = 0; l < 4; l++) {
		struct wire w = wire_open(levels[l % 2], 3);

		len = seal(&w, 0, l < 2 ? SEC_RECORD_DATA : SEC_RECORD_END, l < 2 ? SIZE : 0, record);
		for (i = 0; i < 8 * len; i++) {
			record[i / 8] ^= (uint8_t) (1 << i % 8);
			if (sec_channel_need(record, SEC_RECORD_HEAD) == len)
				assert_int_equal(take(&w, 1, record), SEC_RECORD_BAD);
			record[i / 8] ^= (uint8_t) (1 << i % 8);
		}
		assert_int_equal(take(&w, 1, record), l < 2 ? SEC_RECORD_DATA : SEC_RECORD_END);
		wire_close(&w);
	}
}

static void order(void **state)
{
	uint8_t record[3][SIZE + SEC_RECORD_OVER];
	int l;

	for (l = 0; l < 2; l++) {
		struct wire w = wire_open(levels[l], 4), other = wire_open(levels[l], 4);

		seal(&w, 0, SEC_RECORD_DATA, SIZE, record[0]);
		seal(&w, 0, SEC_RECORD_DATA, SIZE, record[1]);
		seal(&other, 0, SEC_RECORD_DATA, SIZE, record[2]);
		assert_int_equal(take(&w, 1, record[1]), SEC_RECORD_BAD);	/* reordered, or one missing */
		assert_int_equal(take(&w, 0, record[0]), SEC_RECORD_BAD);	/* reflected */
		assert_int_equal(take(&w, 1, record[2]), SEC_RECORD_BAD);	/* of another connection */
		assert_int_equal(take(&w, 1, record[0]), SEC_RECORD_DATA);
		assert_int_equal(take(&w, 1, record[0]), SEC_RECORD_BAD);	/* replayed */
		assert_int_equal(take(&w, 1, record[1]), SEC_RECORD_DATA);
		wire_close(&w);
		wire_close(&other);
	}
}

/* Nothing follows the end, at either side. */
static void after_the_end(void **state)
{
	uint8_t record[SIZE + SEC_RECORD_OVER];
	struct wire w = wire_open(SEC_ENCRYPT, 5);
	struct iovec iov = { w.plain, SIZE };

	seal(&w, 0, SEC_RECORD_END, 0, record);
	assert_false(sec_channel_seal(&w.end[0], SEC_RECORD_DATA, &iov, 1, SIZE, record + SEC_RECORD_OVER));
	assert_int_equal(take(&w, 1, record), SEC_RECORD_END);
	seal(&w, 1, SEC_RECORD_DATA, SIZE, record);
	assert_int_equal(take(&w, 0, record), SEC_RECORD_DATA);
	assert_int_equal(take(&w, 1, record), SEC_RECORD_BAD);
	wire_close(&w);
}

static void impossible_heads(void **state)
{
	static const uint8_t heads[][SEC_RECORD_HEAD] = {
		{ 1, 0, 0, 0 }, { 1, 0, 0, 3 }, { 0, 0, 0, SEC_RECORD_DATA }, { 1, 0, 0, SEC_RECORD_END },
		{ 1, SEC_RECORD_MAX >> 8, 0, SEC_RECORD_DATA }, { 0, 0, 1, SEC_RECORD_DATA },
		{ 255, 255, 255, SEC_RECORD_DATA },
	};
	size_t i;

	for (i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
		assert_int_equal(sec_channel_need(heads[i], SEC_RECORD_HEAD), 0);
}

/* The key is exchanged at the same record on both sides; the one before opens nothing any more. */
static void key_exchange(void **state)
{
	uint8_t record[SIZE + SEC_RECORD_OVER], secret[SEC_HASH_SIZE];
	int i, l;

	for (l = 0; l < 2; l++) {
		struct wire w = wire_open(levels[l], 6);

		w.end[0].key_bytes = w.end[1].key_bytes = 3 * SIZE;
		memcpy(secret, w.end[0].tx.secret, sizeof(secret));
		for (i = 0; i < 50; i++) {
			seal(&w, 0, SEC_RECORD_DATA, SIZE, record);
			assert_int_equal(take(&w, 1, record), SEC_RECORD_DATA);
			assert_memory_equal(w.end[0].tx.secret, w.end[1].rx.secret, SEC_HASH_SIZE);
		}
		assert_memory_not_equal(secret, w.end[0].tx.secret, SEC_HASH_SIZE);
		wire_close(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_ways),
		cmocka_unit_test(into_lists),
		cmocka_unit_test(hidden),
		cmocka_unit_test(bit_flips),
		cmocka_unit_test(order),
		cmocka_unit_test(after_the_end),
		cmocka_unit_test(impossible_heads),
		cmocka_unit_test(key_exchange),
	};

	if (!sec_crypto_get(NULL))
		return 77;
	return cmocka_run_group_tests(tests, NULL, NULL);
}

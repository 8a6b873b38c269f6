/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Every byte of a payload is in the part of one path, whatever its length, the number of paths and their rates. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "channel/stripe.h"

#define LEN_MAX 5000		/* above 64 times the finest share of a cache line */
#define CNT(array) (sizeof(array) / sizeof((array)[0]))

static void equal_parts_cover_the_payload_with_every_remainder(void **state)
{
	uint64_t len, at, next;
	unsigned cnt, i;

	for (cnt = 1; cnt <= CHAN_STRIPE_PATHS; cnt++)
		for (len = 0; len <= LEN_MAX; len++) {
			assert_int_equal(chan_stripe_at(len, cnt, 0), 0);
			for (at = 0, i = 1; i <= cnt; i++, at = next) {
				next = chan_stripe_at(len, cnt, i);
				assert_true(next >= at);
				assert_true(i == cnt || !(next % CHAN_STRIPE_ALIGN));
				assert_true(next - at + CHAN_STRIPE_ALIGN > len / cnt);
			}
			assert_int_equal(at, len);
		}
}

/* The cuts between releases: both sides of a connection compute them. */
static void equal_parts_are_those_of_the_wire_format(void **state)
{
	static const struct {
		uint64_t len;
		unsigned cnt, i;
		uint64_t at;
	} cuts[] = {
		{ 131072, 2, 1, 65536 }, { 131073, 2, 1, 65536 }, { 131199, 2, 1, 65536 },
		{ 131200, 2, 1, 65600 }, { 1 << 20, 3, 1, 349504 }, { 1 << 20, 3, 2, 699008 },
		{ 1 << 20, 3, 3, 1 << 20 }, { 1000003, 8, 7, 874944 }, { 63, 2, 1, 0 },
	};
	size_t k;

	for (k = 0; k < CNT(cuts); k++)
		assert_int_equal(chan_stripe_at(cuts[k].len, cuts[k].cnt, cuts[k].i), cuts[k].at);
}

static void paths_of_one_rate_have_equal_parts(void **state)
{
	uint64_t rates[CHAN_STRIPE_PATHS], len;
	struct chan_stripe stripe;
	unsigned cnt, i;

	for (i = 0; i < CHAN_STRIPE_PATHS; i++)
		rates[i] = 12345;
	for (cnt = 1; cnt <= CHAN_STRIPE_PATHS; cnt++) {
		chan_stripe_weigh(&stripe, rates, cnt);
		for (len = 0; len <= LEN_MAX; len++)
			for (i = 0; i <= cnt; i++)
				assert_int_equal(chan_stripe_cut(&stripe, len, i), chan_stripe_at(len, cnt, i));
	}
}

static void check_shares(const uint64_t *rates, unsigned cnt, const uint8_t *shares)
{
	struct chan_stripe stripe;
	unsigned i, sum = 0;

	chan_stripe_weigh(&stripe, rates, cnt);
	assert_int_equal(stripe.cnt, cnt);
	for (i = 0; i < cnt; i++) {
		assert_int_equal(stripe.share[i], shares[i]);
		sum += shares[i];
	}
	assert_int_equal(stripe.sum, sum);
	assert_true(sum <= CHAN_STRIPE_SUM);
}

static void a_share_follows_the_rate(void **state)
{
	check_shares((uint64_t []) { 1000, 3000 }, 2, (uint8_t []) { 1, 3 });
	check_shares((uint64_t []) { 1000, 2000 }, 2, (uint8_t []) { 21, 43 });
	check_shares((uint64_t []) { 1, 2, 4 }, 3, (uint8_t []) { 9, 18, 37 });
	check_shares((uint64_t []) { 7, 0 }, 2, (uint8_t []) { 1, 0 });
	check_shares((uint64_t []) { 0, 0, 5 }, 3, (uint8_t []) { 0, 0, 1 });
	check_shares((uint64_t []) { 1, 1000000 }, 2, (uint8_t []) { 0, 1 });
	check_shares((uint64_t []) { UINT64_MAX / 128, UINT64_MAX / 128 }, 2, (uint8_t []) { 1, 1 });
	check_shares((uint64_t []) { UINT64_MAX / 256, 3 * (UINT64_MAX / 256) }, 2, (uint8_t []) { 1, 3 });
}

/* check_cover - the parts are in order, aligned, complete, and as long as their shares say. */
static void check_cover(const struct chan_stripe *stripe, uint64_t len)
{
	uint64_t at = chan_stripe_cut(stripe, len, 0), next, least;
	unsigned i;

	assert_int_equal(at, 0);
	for (i = 0; i < stripe->cnt; i++, at = next) {
		next = chan_stripe_cut(stripe, len, i + 1);
		least = len / stripe->sum / CHAN_STRIPE_ALIGN * CHAN_STRIPE_ALIGN * stripe->share[i];
		assert_true(next >= at && next <= len);
		assert_true(next - at >= least);
		assert_true(stripe->share[i] || next == at);
		assert_true(next == len || !(next % CHAN_STRIPE_ALIGN));
	}
	assert_int_equal(at, len);
}

static void unequal_parts_cover_the_payload_with_every_remainder(void **state)
{
	static const uint64_t rates[][CHAN_STRIPE_PATHS] = {
		{ 1, 2 }, { 2, 1 }, { 1, 4 }, { 1, 2, 4 }, { 4, 0, 1 }, { 1, 0, 0 }, { 0, 3, 0, 1 },
		{ 10, 1, 10, 1, 10, 1, 10, 1 }, { 1, 1, 1, 1, 1, 1, 1, 100 }, { 100, 400, 1000 },
	};
	struct chan_stripe stripe;
	unsigned k, cnt;
	uint64_t len;

	for (k = 0; k < CNT(rates); k++)
		for (cnt = 2; cnt <= CHAN_STRIPE_PATHS; cnt++) {
			chan_stripe_weigh(&stripe, rates[k], cnt);
			for (len = 0; len <= LEN_MAX; len++)
				check_cover(&stripe, len);
			check_cover(&stripe, UINT64_C(1) << 40);
		}
}

/* With two paths: no rate is so far from its share that a payload takes 5 % longer than it must. */
static void a_payload_ends_at_one_time_on_all_paths(void **state)
{
	const uint64_t len = 4 << 20;
	struct chan_stripe stripe;
	uint64_t rates[2], part, best;
	unsigned i;

	for (rates[0] = 1000; rates[0] <= 4000; rates[0]++) {
		rates[1] = 1000;
		chan_stripe_weigh(&stripe, rates, 2);
		best = len * 1000 / (rates[0] + rates[1]);
		for (i = 0; i < 2; i++) {
			part = chan_stripe_cut(&stripe, len, i + 1) - chan_stripe_cut(&stripe, len, i);
			assert_true(part * 1000 / rates[i] * 100 <= best * 105);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_parts_cover_the_payload_with_every_remainder),
		cmocka_unit_test(equal_parts_are_those_of_the_wire_format),
		cmocka_unit_test(paths_of_one_rate_have_equal_parts),
		cmocka_unit_test(a_share_follows_the_rate),
		cmocka_unit_test(unequal_parts_cover_the_payload_with_every_remainder),
		cmocka_unit_test(a_payload_ends_at_one_time_on_all_paths),
	};

	return cmocka_run_group_tests_name("chan_stripe", tests, NULL, NULL);
}

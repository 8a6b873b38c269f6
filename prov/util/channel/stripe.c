/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "channel/stripe.h"

#include <assert.h>
#include <stdbool.h>

static bool rates_equal(const uint64_t *rates, unsigned cnt)
{
	unsigned i;

	for (i = 1; i < cnt && rates[i] == rates[0]; i++)
		;
	return i == cnt;
}

static uint64_t rates_sum(const uint64_t *rates, unsigned cnt)
{
	uint64_t sum = 0;

	while (cnt--)
		sum += rates[cnt];
	return sum;
}

static unsigned common_divisor(unsigned a, unsigned b)
{
	unsigned rest;

	for (; b; b = rest) {
		rest = a % b;
		a = b;
	}
	return a;
}

/* shares_reduce - by their common divisor: fewer bytes are left over for the last path. */
static void shares_reduce(struct chan_stripe *stripe)
{
	unsigned divisor = 0, i;

	for (i = 0; i < stripe->cnt; i++)
		divisor = common_divisor(divisor, stripe->share[i]);
	for (i = 0; i < stripe->cnt; i++)
		stripe->share[i] = (uint8_t) (stripe->share[i] / divisor);
	stripe->sum /= divisor;
}

/* shares_complete - rounding down has left less than one share for each path: they go to those with the
 * largest remainders.
 */
static void shares_complete(struct chan_stripe *stripe, uint64_t *rest)
{
	unsigned i, most;

	for (; stripe->sum < CHAN_STRIPE_SUM; stripe->sum++) {
		for (most = 0, i = 1; i < stripe->cnt; i++)
			if (rest[i] > rest[most])
				most = i;
		stripe->share[most]++;
		rest[most] = 0;
	}
}

void chan_stripe_weigh(struct chan_stripe *stripe, const uint64_t *rates, unsigned cnt)
{
	uint64_t total = rates_sum(rates, cnt), rest[CHAN_STRIPE_PATHS] = { 0 };
	bool equal = rates_equal(rates, cnt);
	unsigned i;

	assert(cnt && cnt <= CHAN_STRIPE_PATHS && total && "there is a path that delivers");
	assert(total <= UINT64_MAX / CHAN_STRIPE_SUM && "no product overflows");
	*stripe = (struct chan_stripe) { .cnt = cnt };
	for (i = 0; i < cnt; i++) {
		stripe->share[i] = equal ? 1 : (uint8_t) (rates[i] * CHAN_STRIPE_SUM / total);
		stripe->sum += stripe->share[i];
		rest[i] = rates[i] * CHAN_STRIPE_SUM % total;
	}
	if (equal)
		return;
	shares_complete(stripe, rest);
	shares_reduce(stripe);
}

static unsigned share_last(const struct chan_stripe *stripe)
{
	unsigned i = stripe->cnt;

	while (!stripe->share[i - 1])
		i--;
	return i - 1;
}

uint64_t chan_stripe_cut(const struct chan_stripe *stripe, uint64_t len, unsigned i)
{
	uint64_t before = 0;
	unsigned k;

	if (i > share_last(stripe))
		return len;
	for (k = 0; k < i; k++)
		before += stripe->share[k];
	return len / stripe->sum / CHAN_STRIPE_ALIGN * CHAN_STRIPE_ALIGN * before;
}

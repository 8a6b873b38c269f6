/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"

#include "cc.h"

#define MS UINT64_C(1000000)
#define RTT (20 * MS)
#define SEG 1400

static const struct rxd_rtt short_trip = { .min = RTT, .smooth = RTT, .latest = RTT, .best = RTT };
static const struct rxd_rtt long_trip = { .min = RTT, .smooth = RTT * 3 / 2, .latest = RTT * 3 / 2,
					 .best = RTT * 3 / 2 };

/* A window's worth of acknowledgements, one round trip after the other. */
static uint64_t trips(struct rxd_cc *cc, uint64_t now, unsigned cnt)
{
	uint64_t left;

	while (cnt--) {
		for (left = cc->window; left > SEG; left -= SEG)
			rxd_cc_on_ack(cc, now + RTT, now, SEG, RTT, true);
		now += RTT;
	}
	return now;
}

static void test_slow_start_doubles(void **state)
{
	struct rxd_cc cc;

	rxd_cc_init(&cc, RXD_CC_CUBIC, SEG, 0);
	assert_int_equal(cc.window, 10 * SEG);
	trips(&cc, MS, 1);
	assert_in_range(cc.window, 19 * SEG, 20 * SEG);
	trips(&cc, 2 * RTT, 1);
	assert_in_range(cc.window, 36 * SEG, 40 * SEG);
}

static void test_one_event_per_trip(void **state)
{
	uint64_t now = 100 * MS, before, i;
	struct rxd_cc cc;

	rxd_cc_init(&cc, RXD_CC_CUBIC, SEG, 0);
	cc.window = before = 100 * SEG;
	for (i = 0; i < 10; i++)
		rxd_cc_on_loss(&cc, now + i, now - RTT + i, &short_trip);
	assert_in_range(cc.window, before * 7 / 10 - SEG, before * 7 / 10 + SEG);
	assert_int_equal(cc.threshold, cc.window);
	rxd_cc_on_loss(&cc, now + RTT, now + 20, &short_trip);
	assert_in_range(cc.window, before * 48 / 100 - SEG, before * 50 / 100 + SEG);
}

/* RFC 9438: back at the old maximum after k seconds, flat there, then faster again. */
static void test_cubic_shape(void **state)
{
	uint64_t now = MS, w[3];
	struct rxd_cc cc;
	unsigned i;

	rxd_cc_init(&cc, RXD_CC_CUBIC, SEG, 0);
	cc.window = 1000 * SEG;
	rxd_cc_on_loss(&cc, now, now - 1, &short_trip);
	assert_in_range(cc.window, 699 * SEG, 701 * SEG);
	/* k is the cube root of 300 / 0.4, 9.09 s: 454 round trips */
	for (i = 0; i < 3; i++) {
		now = trips(&cc, now + (i ? 0 : RTT), 227);
		w[i] = cc.window / SEG;
	}
	assert_in_range(w[0], 950, 970);	/* 300 / 2^3 below the maximum */
	assert_in_range(w[1], 995, 1005);
	assert_in_range(w[2], 1100, 1125);	/* by then Reno would have more than the cubic */
}

static void test_no_growth_unused(void **state)
{
	struct rxd_cc cc;

	rxd_cc_init(&cc, RXD_CC_CUBIC, SEG, 0);
	rxd_cc_on_ack(&cc, RTT, MS, SEG, RTT, false);
	assert_int_equal(cc.window, 10 * SEG);
}

static void test_undo(void **state)
{
	uint64_t now = 100 * MS;
	struct rxd_cc cc;

	rxd_cc_init(&cc, RXD_CC_CUBIC, SEG, 0);
	cc.window = 100 * SEG;
	rxd_cc_on_loss(&cc, now, now - 10, &short_trip);
	rxd_cc_on_loss(&cc, now, now - 9, &short_trip);
	rxd_cc_on_spurious(&cc, now - 10);
	assert_in_range(cc.window, 69 * SEG, 71 * SEG);
	rxd_cc_on_spurious(&cc, now - 9);
	assert_int_equal(cc.window, 100 * SEG);
	assert_int_equal(cc.threshold, UINT64_MAX);
}

/* One packet in @every is lost, for 2000 packets. */
static void lose(struct rxd_cc *cc, unsigned every, const struct rxd_rtt *rtt)
{
	uint64_t now = 100 * MS;
	unsigned i;

	for (i = 1; i <= 2000; i++, now += MS / 10) {
		if (i % every)
			rxd_cc_on_ack(cc, now, now - RTT, SEG, RTT, false);
		else
			rxd_cc_on_loss(cc, now, now - RTT, rtt);
	}
}

/* Random loss is no congestion. */
static void test_tolerance(void **state)
{
	struct rxd_cc cc;

	rxd_cc_init(&cc, RXD_CC_CUBIC, SEG, 3);
	cc.window = 1000 * SEG;
	lose(&cc, 70, &short_trip);
	assert_int_equal(cc.window, 1000 * SEG);
	/* but so much loss is, and so is one when the RTT grows */
	lose(&cc, 15, &short_trip);
	assert_true(cc.window < 800 * SEG);
	rxd_cc_init(&cc, RXD_CC_CUBIC, SEG, 3);
	cc.window = 1000 * SEG;
	lose(&cc, 1500, &long_trip);
	assert_in_range(cc.window, 699 * SEG, 701 * SEG);
	/* with a tolerance of none, each */
	rxd_cc_init(&cc, RXD_CC_CUBIC, SEG, 0);
	cc.window = 1000 * SEG;
	lose(&cc, 1500, &short_trip);
	assert_in_range(cc.window, 699 * SEG, 701 * SEG);
}

/* Marks are congestion where losses are not, one event per RTT. */
static void test_marks(void **state)
{
	uint64_t now = 100 * MS, once;
	struct rxd_cc cc;

	rxd_cc_init(&cc, RXD_CC_CUBIC, SEG, 3);
	cc.window = 100 * SEG;
	rxd_cc_on_loss(&cc, now, now - 10, &short_trip);
	assert_int_equal(cc.window, 100 * SEG);
	rxd_cc_on_mark(&cc, now, now - 9);
	once = cc.window;
	assert_in_range(once, 69 * SEG, 71 * SEG);
	assert_int_equal(cc.threshold, once);
	rxd_cc_on_mark(&cc, now + 5, now - 8);
	rxd_cc_on_loss(&cc, now + 5, now - 8, &long_trip);
	assert_int_equal(cc.window, once);
	/* and are not undone with spurious losses */
	rxd_cc_on_spurious(&cc, now - 8);
	assert_int_equal(cc.window, once);
	rxd_cc_on_mark(&cc, now + RTT, now + 1);
	assert_in_range(cc.window, 48 * SEG, 50 * SEG);
}

static void test_silence(void **state)
{
	struct rxd_cc cc;

	rxd_cc_init(&cc, RXD_CC_CUBIC, SEG, 0);
	cc.window = 100 * SEG;
	rxd_cc_on_persistent(&cc, MS);
	assert_int_equal(cc.window, RXD_CC_LEAST * SEG);
	assert_int_equal(cc.threshold, 70 * SEG);
}

/* A window is sent in less than an RTT, spread over it. */
static void test_pace(void **state)
{
	uint64_t now = MS, sent = 0, end = now + RTT;
	struct rxd_cc cc;

	rxd_cc_init(&cc, RXD_CC_CUBIC, SEG, 0);
	cc.window = 200 * SEG;
	cc.threshold = 100 * SEG;
	while (now < end) {
		if (rxd_cc_pace(&cc, now, RTT) <= now) {
			rxd_cc_paced(&cc, now, SEG, RTT);
			sent++;
		} else {
			now = rxd_cc_pace(&cc, now, RTT);
		}
	}
	assert_in_range(sent, 245, 275);
	assert_true(!rxd_cc_admits(&cc, now, 20 * SEG, RTT) && rxd_cc_admits(&cc, now + RTT, 5 * SEG, RTT));
	/* nothing is measured: nothing waits */
	rxd_cc_init(&cc, RXD_CC_CUBIC, SEG, 0);
	rxd_cc_paced(&cc, MS, RXD_CC_FIRST * SEG, 0);
	assert_int_equal(cc.paced_ns, MS);
	/* on loopback nothing waits */
	rxd_cc_init(&cc, RXD_CC_CUBIC, SEG, 0);
	for (sent = 0; sent < 100; sent++) {
		assert_true(rxd_cc_pace(&cc, MS, 20000) <= MS);
		rxd_cc_paced(&cc, MS, SEG, 20000);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slow_start_doubles),
		cmocka_unit_test(test_one_event_per_trip),
		cmocka_unit_test(test_cubic_shape),
		cmocka_unit_test(test_no_growth_unused),
		cmocka_unit_test(test_undo),
		cmocka_unit_test(test_tolerance),
		cmocka_unit_test(test_marks),
		cmocka_unit_test(test_silence),
		cmocka_unit_test(test_pace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

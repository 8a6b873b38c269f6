/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"

#include "mtu.h"

#define NOW UINT64_C(1000)
#define STUCK_NS (RXD_MTU_STUCK_TICKS * RXD_MTU_TICK_NS)

/* Search a path that carries @path; returns how many probes that took. */
static unsigned search(struct rxd_mtu *mtu, uint32_t path)
{
	unsigned cnt = 0;
	uint32_t size;

	while ((size = rxd_mtu_wanted(mtu, NOW))) {
		cnt++;
		rxd_mtu_sent(mtu, size);
		assert_int_equal(rxd_mtu_wanted(mtu, NOW), 0);
		if (size <= path)
			rxd_mtu_passed(mtu, size);
		else
			rxd_mtu_lost(mtu, size, false);
		assert_true(mtu->now <= path);
	}
	return cnt;
}

static void test_the_most_at_once(void **state)
{
	struct rxd_mtu mtu;

	rxd_mtu_init(&mtu, 1024, 65491);
	assert_int_equal(search(&mtu, 65535), 1);
	assert_int_equal(mtu.now, 65491);
}

static void test_search(void **state)
{
	static const uint32_t paths[] = { 1024, 1100, 1456, 8956, 30000, 65490 };
	struct rxd_mtu mtu;

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		rxd_mtu_init(&mtu, 1024, 65491);
		assert_true(search(&mtu, paths[i]) < 40);
		assert_true(mtu.now + RXD_MTU_STEP >= paths[i]);
	}
}

static void test_nothing_to_search(void **state)
{
	struct rxd_mtu mtu;

	rxd_mtu_init(&mtu, 1024, 1024);
	assert_int_equal(search(&mtu, 1500), 0);
}

static void test_black_hole(void **state)
{
	struct rxd_mtu mtu;
	int i;

	rxd_mtu_init(&mtu, 1024, 9000);
	search(&mtu, 9000);
	for (i = 1; i < RXD_MTU_MISSED; i++)
		assert_false(rxd_mtu_missed(&mtu, 9000));
	rxd_mtu_acked(&mtu);
	for (i = 1; i < RXD_MTU_MISSED; i++)
		assert_false(rxd_mtu_missed(&mtu, 9000));
	assert_int_equal(mtu.now, 9000);
	assert_false(rxd_mtu_missed(&mtu, 1024));
	assert_false(rxd_mtu_missed(&mtu, 9001));
	assert_true(rxd_mtu_missed(&mtu, 9000));
	assert_int_equal(mtu.now, 1024);
	search(&mtu, 4000);
	assert_true(mtu.now > 3900 && mtu.now <= 4000);
	/* small packets show nothing about the size */
	for (i = 0; i < 10; i++)
		assert_false(rxd_mtu_missed(&mtu, 1024));
}

/* A path that carries less than base: short packets are acknowledged, and no others. */
static void test_stuck(void **state)
{
	struct rxd_mtu mtu;

	rxd_mtu_init(&mtu, 1024, 9000);
	assert_false(rxd_mtu_stuck(&mtu, false, NOW));
	assert_false(rxd_mtu_stuck(&mtu, false, NOW + STUCK_NS - RXD_MTU_TICK_NS));
	assert_true(rxd_mtu_stuck(&mtu, false, NOW + STUCK_NS));
	assert_false(rxd_mtu_stuck(&mtu, false, NOW + 2 * STUCK_NS));
	/* data passes: the time begins again */
	assert_false(rxd_mtu_stuck(&mtu, true, NOW + 3 * STUCK_NS));
	assert_false(rxd_mtu_stuck(&mtu, false, NOW + 4 * STUCK_NS));
	assert_false(rxd_mtu_stuck(&mtu, false, NOW + 5 * STUCK_NS - RXD_MTU_TICK_NS));
	assert_true(rxd_mtu_stuck(&mtu, false, NOW + 5 * STUCK_NS));
	/* above base it is a black hole */
	rxd_mtu_init(&mtu, 1024, 9000);
	search(&mtu, 9000);
	assert_false(rxd_mtu_stuck(&mtu, false, NOW));
	assert_false(rxd_mtu_stuck(&mtu, false, NOW + STUCK_NS));
}

/* It was none: the first probe passes. */
static void test_no_black_hole(void **state)
{
	struct rxd_mtu mtu;
	int i;

	rxd_mtu_init(&mtu, 1024, 65491);
	search(&mtu, 65491);
	for (i = 1; i < RXD_MTU_MISSED; i++)
		assert_false(rxd_mtu_missed(&mtu, 65491));
	assert_true(rxd_mtu_missed(&mtu, 65491));
	assert_int_equal(rxd_mtu_wanted(&mtu, NOW), 65491);
	/* on a lossy path one lost probe shows little */
	for (i = 1; i < RXD_MTU_TRIES_LOSSY; i++) {
		rxd_mtu_sent(&mtu, 65491);
		rxd_mtu_lost(&mtu, 65491, true);
		assert_int_equal(rxd_mtu_wanted(&mtu, NOW), 65491);
	}
	rxd_mtu_sent(&mtu, 65491);
	assert_true(rxd_mtu_passed(&mtu, 65491));
}

static void test_refused_by_the_system(void **state)
{
	struct rxd_mtu mtu;

	rxd_mtu_init(&mtu, 1024, 9000);
	rxd_mtu_sent(&mtu, rxd_mtu_wanted(&mtu, NOW));
	assert_false(rxd_mtu_refused(&mtu, 9000));
	search(&mtu, 1500);
	assert_true(mtu.now <= 1500);
	assert_true(rxd_mtu_refused(&mtu, mtu.now));
	assert_int_equal(mtu.now, 1024);
}

static void test_again_later(void **state)
{
	struct rxd_mtu mtu;

	rxd_mtu_init(&mtu, 1024, 9000);
	search(&mtu, 1500);
	assert_int_equal(rxd_mtu_wanted(&mtu, NOW + RXD_MTU_AGAIN_NS - 1), 0);
	assert_int_equal(rxd_mtu_wanted(&mtu, NOW + RXD_MTU_AGAIN_NS), 9000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_most_at_once),
		cmocka_unit_test(test_search),
		cmocka_unit_test(test_nothing_to_search),
		cmocka_unit_test(test_black_hole),
		cmocka_unit_test(test_stuck),
		cmocka_unit_test(test_no_black_hole),
		cmocka_unit_test(test_refused_by_the_system),
		cmocka_unit_test(test_again_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

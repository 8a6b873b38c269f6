/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"

#include "ecn.h"

static struct rxd_ecn ecn;
static bool off;

static int begin(void **state)
{
	rxd_ecn_init(&ecn, true);
	return 0;
}

/* Send packets, marked while rxd_ecn_wanted().  Returns how many were. */
static unsigned send(unsigned cnt)
{
	unsigned marked = 0;

	while (cnt--) {
		if (!rxd_ecn_wanted(&ecn))
			continue;
		rxd_ecn_sent(&ecn);
		marked++;
	}
	return marked;
}

static void test_good_path(void **state)
{
	assert_int_equal(send(50), RXD_ECN_TRIES);
	assert_false(rxd_ecn_on_ack(&ecn, 4, 4, 0, &off));
	assert_false(off);
	assert_int_equal(ecn.state, RXD_ECN_GOOD);
	assert_int_equal(send(50), 50);
	assert_false(rxd_ecn_on_ack(&ecn, 56, 60, 0, &off));
	assert_int_equal(send(10), 10);
	/* a long queue, once */
	assert_true(rxd_ecn_on_ack(&ecn, 5, 63, 2, &off));
	assert_false(rxd_ecn_on_ack(&ecn, 5, 68, 2, &off));
	assert_false(off);
	assert_int_equal(ecn.state, RXD_ECN_GOOD);
}

static void test_not_wanted(void **state)
{
	rxd_ecn_init(&ecn, false);
	assert_int_equal(send(5), 0);
	assert_false(rxd_ecn_on_ack(&ecn, 0, 7, 7, &off));
	assert_false(off);
}

static void test_cleared(void **state)
{
	send(20);
	assert_false(rxd_ecn_on_ack(&ecn, 3, 0, 0, &off));
	assert_true(off);
	assert_int_equal(send(5), 0);
	/* also in the middle of a transfer, after the path has changed */
	rxd_ecn_init(&ecn, true);
	send(1);
	rxd_ecn_on_ack(&ecn, 1, 1, 0, &off);
	send(100);
	rxd_ecn_on_ack(&ecn, 50, 51, 0, &off);
	assert_false(off);
	rxd_ecn_on_ack(&ecn, 10, 52, 0, &off);
	assert_true(off);
}

static void test_invented(void **state)
{
	send(5);
	assert_false(rxd_ecn_on_ack(&ecn, 5, 6, 0, &off));
	assert_true(off);
}

static void test_all_marked(void **state)
{
	send(20);
	/* of the first few that may be true */
	assert_true(rxd_ecn_on_ack(&ecn, 4, 0, 4, &off));
	assert_false(off);
	assert_int_equal(ecn.state, RXD_ECN_WAIT);
	assert_false(rxd_ecn_on_ack(&ecn, 6, 0, 10, &off));
	assert_true(off);
}

static void test_swallowed(void **state)
{
	unsigned i;

	send(20);
	for (i = 0; i < RXD_ECN_TRIES; i++)
		rxd_ecn_lost(&ecn);
	assert_int_equal(ecn.state, RXD_ECN_OFF);
	/* or before so many could be sent */
	rxd_ecn_init(&ecn, true);
	send(1);
	assert_true(rxd_ecn_timeout(&ecn));
	assert_int_equal(send(1), 0);
	/* but not on a path that is validated */
	rxd_ecn_init(&ecn, true);
	send(1);
	rxd_ecn_on_ack(&ecn, 1, 1, 0, &off);
	send(20);
	for (i = 0; i < 20; i++)
		rxd_ecn_lost(&ecn);
	assert_false(rxd_ecn_timeout(&ecn));
	assert_int_equal(ecn.state, RXD_ECN_GOOD);
}

/* Counts are modulo 2^16. */
static void test_wrap(void **state)
{
	uint64_t ect = 1;
	unsigned i;

	send(1);
	rxd_ecn_on_ack(&ecn, 1, 1, 0, &off);
	for (i = 0; i < 40; i++) {
		send(9973);
		ect += 9970;
		assert_int_equal(rxd_ecn_on_ack(&ecn, 9973, (uint16_t) ect, (uint16_t) (3 * (i + 1)),
						&off), true);
		assert_false(off);
	}
	assert_int_equal(ecn.seen, ecn.marked);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_good_path, begin),
		cmocka_unit_test_setup(test_not_wanted, begin),
		cmocka_unit_test_setup(test_cleared, begin),
		cmocka_unit_test_setup(test_invented, begin),
		cmocka_unit_test_setup(test_all_marked, begin),
		cmocka_unit_test_setup(test_swallowed, begin),
		cmocka_unit_test_setup(test_wrap, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

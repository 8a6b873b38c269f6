/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"

#include <stdbool.h>

#include "loss.h"

#define MS UINT64_C(1000000)

/* What was reported, by number. */
static struct {
	int acked[256], lost[256], spurious[256];
} told;

static void on_acked(void *arg, const struct rxd_sent *sent, uint64_t pn)
{
	assert_int_equal(sent->off, pn * 100);
	told.acked[pn]++;
}

static void on_lost(void *arg, const struct rxd_sent *sent, uint64_t pn)
{
	told.lost[pn]++;
}

static void on_spurious(void *arg, const struct rxd_sent *sent, uint64_t pn)
{
	told.spurious[pn]++;
}

static const struct rxd_loss_ops ops = { on_acked, on_lost, on_spurious };
static struct rxd_loss loss;
static struct rxd_rtt rtt;

static int begin(void **state)
{
	told = (typeof(told)) { 0 };
	rxd_loss_init(&loss);
	rxd_rtt_init(&rtt);
	rxd_rtt_sample(&rtt, 10 * MS, 0);
	return 0;
}

static int end(void **state)
{
	rxd_loss_fini(&loss);
	return 0;
}

static void send(unsigned cnt, uint64_t now)
{
	struct rxd_sent sent = { .sent_ns = now, .len = 100, .size = 150 };

	while (cnt--) {
		sent.off = loss.next * 100;
		assert_int_equal(rxd_loss_room(&loss), 0);
		rxd_loss_on_sent(&loss, &sent);
	}
}

static void ack(uint64_t lo, uint64_t hi, uint64_t now)
{
	assert_true(rxd_loss_on_ack(&loss, lo, hi, &ops, NULL));
	rxd_loss_detect(&loss, now, &rtt, &ops, NULL);
}

static void test_all_is_well(void **state)
{
	bool probe;

	send(100, MS);
	assert_int_equal(loss.out_cnt, 100);
	assert_int_equal(loss.out_bytes, 100 * 150);
	ack(0, 60, 11 * MS);
	ack(40, 100, 12 * MS);
	for (int i = 0; i < 100; i++)
		assert_true(told.acked[i] == 1 && !told.lost[i]);
	assert_int_equal(loss.out_cnt, 0);
	assert_int_equal(loss.base, 100);
	assert_int_equal(rxd_loss_due(&loss, &rtt, 0, &probe), 0);
	rxd_loss_idle(&loss);
	assert_null(loss.ring);
	send(1, 20 * MS);
	ack(100, 101, 30 * MS);
	assert_int_equal(told.acked[100], 1);
}

static void test_three_later_ones(void **state)
{
	send(6, MS);
	ack(1, 3, 2 * MS);
	assert_int_equal(told.lost[0], 0);
	ack(3, 4, 2 * MS);
	assert_int_equal(told.lost[0], 1);
	assert_int_equal(loss.out_cnt, 2);
	assert_int_equal(loss.out_bytes, 2 * 150);
}

static void test_time_runs_out(void **state)
{
	bool probe;
	uint64_t due;

	send(2, MS);
	ack(1, 2, 11 * MS);
	assert_int_equal(told.lost[0], 0);
	due = rxd_loss_due(&loss, &rtt, 0, &probe);
	assert_false(probe);
	assert_true(due > 11 * MS && due <= 15 * MS);
	rxd_loss_detect(&loss, due - 1, &rtt, &ops, NULL);
	assert_int_equal(told.lost[0], 0);
	rxd_loss_detect(&loss, due, &rtt, &ops, NULL);
	assert_int_equal(told.lost[0], 1);
}

/* A path that reorders is given more time, and no count of packets decides. */
static void test_reordering_is_learnt(void **state)
{
	uint32_t steps = loss.reo_steps;

	send(10, MS);
	ack(5, 6, 2 * MS);
	assert_int_equal(told.lost[0], 1);
	ack(0, 5, 3 * MS);
	assert_int_equal(told.spurious[0], 1);
	assert_int_equal(told.acked[4], 1);
	assert_true(loss.reordered && loss.reo_steps > steps);
	send(10, 4 * MS);
	ack(19, 20, 5 * MS);
	for (int i = 10; i < 19; i++)
		assert_int_equal(told.lost[i], 0);
}

static void test_lies_are_seen(void **state)
{
	send(3, MS);
	assert_false(rxd_loss_on_ack(&loss, 0, 4, &ops, NULL));
	assert_false(rxd_loss_on_ack(&loss, 3, UINT64_C(1) << 61, &ops, NULL));
	assert_int_equal(loss.out_cnt, 3);
}

static void test_probes_back_off(void **state)
{
	uint64_t first, second;
	bool probe;

	send(1, MS);
	first = rxd_loss_due(&loss, &rtt, 2 * MS, &probe);
	assert_true(probe);
	assert_int_equal(first, MS + 10 * MS + 20 * MS + 2 * MS);
	loss.probes = 1;
	second = rxd_loss_due(&loss, &rtt, 2 * MS, &probe);
	assert_int_equal(second, first);
	loss.probes = 3;
	second = rxd_loss_due(&loss, &rtt, 2 * MS, &probe);
	assert_int_equal(second - MS, 4 * (first - MS));
}

static void test_give_up(void **state)
{
	send(5, MS);
	ack(1, 2, 2 * MS);
	rxd_loss_all(&loss, &ops, NULL);
	for (int i = 0; i < 5; i++)
		assert_int_equal(told.lost[i], i != 1);
	assert_int_equal(loss.out_bytes, 0);
}

/* Which packet was sent with another, and is missing where that has arrived. */
static void test_beside(void **state)
{
	send(1, MS);
	send(2, 2 * MS);
	assert_int_equal(rxd_loss_beside(&loss, 0), 0);
	assert_int_equal(rxd_loss_beside(&loss, 1), 0);	/* not at the same time */
	assert_int_equal(rxd_loss_beside(&loss, 2), 150);
	assert_int_equal(rxd_loss_beside(&loss, 3), 0);
	ack(2, 3, 3 * MS);
	assert_int_equal(rxd_loss_beside(&loss, 2), 150);
	ack(1, 2, 3 * MS);
	assert_int_equal(rxd_loss_beside(&loss, 2), 0);
}

/* What has waited on the way is no measure. */
static void test_waited(void **state)
{
	send(2, MS);
	assert_int_equal(rxd_loss_sent_ns(&loss, 0), MS);
	assert_int_equal(rxd_loss_beside(&loss, 1), 150);
	rxd_loss_waited(&loss);
	assert_int_equal(rxd_loss_sent_ns(&loss, 0), 0);
	assert_int_equal(rxd_loss_beside(&loss, 1), 0);
	send(1, 2 * MS);
	assert_int_equal(rxd_loss_sent_ns(&loss, 2), 2 * MS);
}

static void test_a_path_probe_is_no_congestion(void **state)
{
	struct rxd_sent pad = { .sent_ns = MS, .size = 9000, .pad = true, .off = 0 };

	assert_int_equal(rxd_loss_room(&loss), 0);
	rxd_loss_on_sent(&loss, &pad);
	assert_int_equal(loss.out_cnt, 1);
	assert_int_equal(loss.out_bytes, 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_all_is_well),
		CASE(test_three_later_ones),
		CASE(test_time_runs_out),
		CASE(test_reordering_is_learnt),
		CASE(test_lies_are_seen),
		CASE(test_probes_back_off),
		CASE(test_give_up),
		CASE(test_beside),
		CASE(test_waited),
		CASE(test_a_path_probe_is_no_congestion),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

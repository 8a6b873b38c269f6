/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* A payload as DATA pieces: how they are cut, how many the link has, and how it ends. */
#include "engine/sim/tap.h"

#include "engine/pump.h"

#define SEG 1000		/* of sim_ideal */
#define BASE 70000
#define ID 44

static struct eng_pump pump;
static struct iovec iov[2];
static int dones, status_seen;

static void on_done(struct eng_pump *done, int status)
{
	assert_ptr_equal(done, &pump);
	dones++;
	status_seen = status;
}

static int open_pump(void **arg)
{
	tap_open(arg);
	tap.answer = 0;
	dones = 0;
	iov[0] = (struct iovec) { out[7], 1500 };
	iov[1] = (struct iovec) { out[7] + 1500, 18500 };
	pump = (struct eng_pump) { .peer = tap.peer, .grp = eng_of(b)->grp, .iov = iov,
				   .iov_cnt = 2, .rx_id = ID, .base = BASE, .done = on_done };
	return 0;
}

#define PUMP(name) cmocka_unit_test_setup_teardown(name, open_pump, tap_close)

static void start(size_t want)
{
	pump.want = want;
	eng_pump_start(&pump);
}

/* Packet @i is the piece at @off of the payload. */
static void piece(unsigned i, size_t off, size_t len, bool more)
{
	tap_sent(i, WIRE_DATA, ID, len);
	assert_int_equal(tap.sent[i].msg.off, BASE + off);
	assert_memory_equal(tap.sent[i].data, out[7] + off, len);
	assert_int_equal(tap.sent[i].flags, more ? ENG_PKT_MORE : 0);
}

static void a_few_at_a_time_and_in_order(void **arg)
{
	unsigned i;

	start(6 * SEG + 1);
	assert_int_equal(tap.cnt, ENG_PUMP_PIECES);
	for (i = 0; i < 7; i++) {
		assert_int_equal(dones, 0);
		piece(i, i * SEG, i < 6 ? SEG : 1, i < 6);
		tap_done(i, 0);
	}
	assert_int_equal(tap.cnt, 7);
	assert_int_equal(dones, 1);
	assert_int_equal(status_seen, 0);
	assert_int_equal(eng_of(b)->grp->outs.used, 0);
}

/* A link that takes each piece at once is done before the call returns. */
static void taken_at_once(void **arg)
{
	tap.answer = 1;
	start(2500);
	assert_int_equal(tap.cnt, 3);
	assert_int_equal(dones, 1);
	assert_int_equal(status_seen, 0);
}

/* The first failure is what is reported, when the link has given everything back. */
static void a_piece_that_fails(void **arg)
{
	start(10 * SEG);
	tap_done(1, -FI_ECONNRESET);
	assert_true(tap.peer->slow & ENG_PEER_LOSING);
	tap_done(0, 0);
	tap_done(2, -FI_ECANCELED);
	assert_int_equal(dones, 0);
	tap_done(3, -FI_ECANCELED);
	assert_int_equal(dones, 1);
	assert_int_equal(status_seen, -FI_ECONNRESET);
	assert_int_equal(tap.cnt, ENG_PUMP_PIECES);
}

static void stopped_midway(void **arg)
{
	start(10 * SEG);
	eng_pump_stop(&pump, -FI_ENOKEY);
	eng_pump_stop(&pump, -FI_EIO);
	tap_done(0, 0);
	tap_done(1, 0);
	tap_done(2, 0);
	assert_int_equal(dones, 0);
	tap_done(3, 0);
	assert_int_equal(dones, 1);
	assert_int_equal(status_seen, -FI_ENOKEY);
	assert_int_equal(tap.cnt, ENG_PUMP_PIECES);
}

static void a_link_that_refuses(void **arg)
{
	tap.answer = -FI_ECONNRESET;
	start(10 * SEG);
	assert_int_equal(dones, 1);
	assert_int_equal(status_seen, -FI_ECONNRESET);
	assert_int_equal(eng_of(b)->grp->outs.used, 0);
}

/* With nothing in the link no piece that comes back would go on: the group's poll does. */
static void without_memory_it_waits_for_a_poll(void **arg)
{
	tap_starve(&eng_of(b)->grp->outs);
	start(1500);
	world_poll(&w);
	assert_int_equal(tap.cnt, 0);
	assert_int_equal(dones, 0);
	tap_feed(&eng_of(b)->grp->outs);
	world_poll(&w);
	piece(0, 0, SEG, true);
	piece(1, SEG, 500, false);
	tap_done(0, 0);
	tap_done(1, 0);
	assert_int_equal(dones, 1);
}

/* Stopped while it waits: it is called no more. */
static void stopped_while_it_waits(void **arg)
{
	tap_starve(&eng_of(b)->grp->outs);
	start(1500);
	eng_pump_stop(&pump, -FI_ECANCELED);
	assert_int_equal(dones, 1);
	tap_feed(&eng_of(b)->grp->outs);
	world_poll(&w);
	assert_int_equal(tap.cnt, 0);
	assert_int_equal(dones, 1);
	assert_int_equal(status_seen, -FI_ECANCELED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PUMP(a_few_at_a_time_and_in_order),
		PUMP(taken_at_once),
		PUMP(a_piece_that_fails),
		PUMP(stopped_midway),
		PUMP(a_link_that_refuses),
		PUMP(without_memory_it_waits_for_a_poll),
		PUMP(stopped_while_it_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * The poll loop: what it reads when, when it may sleep, and until when.
 */
#include "rxm/test/rig.h"

#define PEER 7

static struct obj_poller *poller(void)
{
	return container_of(fake_prog.pollers.next, struct obj_poller, node);
}

/* sleep_ns - for how long the poller may sleep; 0: there is work; UINT64_MAX: for ever. */
static uint64_t sleep_ns(void)
{
	uint64_t deadline = UINT64_MAX;

	if (poller()->ops->arm(poller(), &deadline))
		return 0;
	return deadline == UINT64_MAX ? deadline : deadline - clock_ns();
}

/* ---- reading ---------------------------------------------------------------------------------- */

/* A look at the event queue may be a system call. */
static void events_are_looked_for_now_and_then(void **state)
{
	struct eng_ep *a = rig_ep(1);
	unsigned before, i;

	rig_established(a, PEER);
	before = msg_prov.eq_reads;
	for (i = 0; i < 320; i++)
		fake_poll();
	assert_in_range(msg_prov.eq_reads - before, 9, 11);
	/* one that polls rarely sees events, too */
	before = msg_prov.eq_reads;
	rig_sleep(10);
	assert_int_equal(msg_prov.eq_reads - before, 10);
	fake_close(a, 0);
}

static void events_are_awaited_while_connecting(void **state)
{
	struct eng_ep *a = rig_ep(1);
	unsigned before, i;

	msg_prov_blackhole(9);
	fake_send(rig_peer(a, 9), 100, 0);
	before = msg_prov.eq_reads;
	for (i = 0; i < 50; i++)
		fake_poll();
	assert_int_equal(msg_prov.eq_reads - before, 50);
	fake_close(a, 0);
}

/* After arm() was told of an event, the next poll reads it. */
static void an_event_that_woke_us_is_read(void **state)
{
	struct eng_ep *a = rig_ep(1);
	struct rxm_ep *ep = rig_established(a, PEER);

	assert_int_equal(sleep_ns(), UINT64_MAX);
	msg_prov_shutdown(ep->fid);
	assert_int_equal(sleep_ns(), 0);
	fake_poll();
	assert_int_equal(rig_peer(a, PEER)->down, 1);
	fake_close(a, 0);
}

/* What the peer sent before it closed is read first, though events come from another queue. */
static void messages_come_before_the_end(void **state)
{
	struct rig_msg msg;
	struct rxm_ep *ep;
	struct eng_ep *a;
	uint64_t i;

	rxm_conf.credits = 100;		/* more than a poll reads at a time */
	a = rig_ep(1);
	ep = rig_established(a, PEER);
	a->verdict = 1 + ENG_RX_DONE;
	for (i = 0; i < 100; i++) {
		msg = rig_msg(0, 0);
		rig_eager(&msg, i, 10);
		rig_deliver(ep, &msg);
	}
	msg_prov_shutdown(ep->fid);
	msg_prov_sleep(MS);
	poller()->ops->poll(poller(), 1);
	assert_int_equal(rig_peer(a, PEER)->rx_cnt, 100);
	assert_int_equal(rig_peer(a, PEER)->down, 1);
	fake_close(a, 0);
}

static void errors_of_receives_end_the_connection(void **state)
{
	struct eng_ep *a = rig_ep(1);
	struct rxm_ep *ep = rig_established(a, PEER);

	msg_prov_fail_recv(ep->fid, FI_EIO);
	rig_polls(2);
	assert_int_equal(rig_peer(a, PEER)->down, 1);
	assert_int_equal(rig_peer(a, PEER)->err, FI_EIO);
	fake_close(a, 0);
}

/* ---- sleeping ------------------------------------------------------------------------------------- */

static void attempts_have_deadlines(void **state)
{
	struct eng_ep *a = rig_ep(1);

	msg_prov_blackhole(9);
	fake_send(rig_peer(a, 9), 100, 0);
	assert_int_equal(sleep_ns(), 2000 * MS);
	rig_sleep(1500);
	assert_int_equal(sleep_ns(), 500 * MS);
	fake_close(a, 0);
}

static void failures_do_not_wait(void **state)
{
	struct eng_ep *a = rig_ep(1);

	rig_established(a, PEER);
	assert_int_equal(sleep_ns(), UINT64_MAX);
	rxm_conn_fail(rig_conn(rig_peer(a, PEER)), FI_EIO);
	assert_int_equal(sleep_ns(), 0);
	rig_polls(2);
	assert_int_equal(sleep_ns(), UINT64_MAX);
	fake_close(a, 0);
}

static void a_burst_is_not_slept_on(void **state)
{
	struct eng_ep *a = rig_ep(1);
	struct eng_peer *peer = rig_peer(a, PEER);

	rig_established(a, PEER);
	fake_send(peer, 40, 0);
	fake_send(peer, 40, 0);
	assert_int_equal(sleep_ns(), 0);
	rig_polls(1);
	assert_int_equal(msg_prov.sends, 2);
	assert_int_equal(sleep_ns(), UINT64_MAX);
	fake_close(a, 0);
}

static void a_full_queue_is_slept_on_briefly(void **state)
{
	struct eng_ep *a = rig_ep(1);

	rig_established(a, PEER);
	msg_prov.tx_room = 0;
	fake_send(rig_peer(a, PEER), 40, 0);
	rig_polls(1);
	assert_in_range(sleep_ns(), 1, MS / 10);
	msg_prov.tx_room = -1;
	rig_polls(1);
	assert_int_equal(sleep_ns(), UINT64_MAX);
	fake_close(a, 0);
}

static void a_pause_is_slept_on_briefly(void **state)
{
	struct eng_ep *a = rig_ep(1);
	struct rxm_ep *ep = rig_established(a, PEER);
	struct rig_msg msg = rig_msg(0, 0);

	a->verdict = 1 + ENG_RX_LATER;
	rig_eager(&msg, 0, 10);
	rig_deliver(ep, &msg);
	rig_polls(2);
	assert_in_range(sleep_ns(), 1, MS);
	a->verdict = 1 + ENG_RX_DONE;
	rig_polls(2);
	assert_int_equal(sleep_ns(), UINT64_MAX);
	fake_close(a, 0);
}

static void a_read_that_waits_is_slept_on_briefly(void **state)
{
	struct eng_ep *a = rig_ep(1);
	struct rxm_ep *ep = rig_established(a, PEER);
	struct rig_msg msg = rig_msg(0, 0);
	struct fid_mr *mr;
	uint8_t *data = rig_memory(ep, 0, 100, &mr);

	a->verdict = 1 + ENG_RX_PLACE;
	a->whole = true;
	msg_prov.tx_room = 0;
	rig_rndv(&msg, 0, data, 100, mr);
	rig_deliver(ep, &msg);
	rig_polls(2);
	assert_in_range(sleep_ns(), 1, MS / 10);
	msg_prov.tx_room = -1;
	rig_polls(3);
	assert_int_equal(rig_peer(a, PEER)->rx_cnt, 1);
	assert_int_equal(sleep_ns(), UINT64_MAX);
	fi_close(&mr->fid);
	free(data);
	fake_close(a, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(events_are_looked_for_now_and_then),
		RIG_TEST(events_are_awaited_while_connecting),
		RIG_TEST(an_event_that_woke_us_is_read),
		RIG_TEST(messages_come_before_the_end),
		RIG_TEST(errors_of_receives_end_the_connection),
		RIG_TEST(attempts_have_deadlines),
		RIG_TEST(failures_do_not_wait),
		RIG_TEST(a_burst_is_not_slept_on),
		RIG_TEST(a_full_queue_is_slept_on_briefly),
		RIG_TEST(a_pause_is_slept_on_briefly),
		RIG_TEST(a_read_that_waits_is_slept_on_briefly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

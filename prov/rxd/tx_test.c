/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Sending: which bytes are in which datagram, and what keeps them back. */
#include "test/scripted.h"

static struct eng_pkt pkt;

/* covers - the datagrams from @first on are the stream from @off to @end, without a gap. */
static void covers(unsigned first, uint64_t off, uint64_t end)
{
	unsigned i;

	for (i = first; i < tap_cnt; i++) {
		assert_int_equal(tap[i].pkt.type, RXD_DATA);
		assert_int_equal(tap[i].pkt.flags & (RXD_F_PN | RXD_F_PAD), RXD_F_PN);
		assert_int_equal(tap[i].pkt.off, off);
		if (i > first)
			assert_int_equal(tap[i].pkt.pn, tap[i - 1].pkt.pn + 1);
		assert_true(tap[i].len <= conn->mtu.now);
		off += tap[i].pkt.len;
	}
	assert_int_equal(off, end);
}

static void a_packet_is_cut_into_datagrams(void **state)
{
	uint64_t next = conn->loss.next;
	size_t i;

	for (i = 0; i < 4000; i++)
		done_data[i] = (uint8_t) (i * 3);
	assert_int_equal(rxd_tx_send(conn, scripted_pkt(&pkt, 4000, 0)), 0);
	assert_true(tap_cnt >= 3);
	covers(0, base, base + FRAME + 4000);
	assert_int_equal(tap[0].pkt.pn, next);
	assert_int_equal(tap[0].len, conn->mtu.now);	/* full, all but the last */
	assert_int_equal(tap[0].pkt.data[FRAME + 100], (uint8_t) 300);
	assert_int_equal(tap[0].pkt.flags & RXD_F_NOW, 0);
	assert_int_equal(tap[tap_cnt - 1].pkt.flags & RXD_F_NOW, RXD_F_NOW);	/* nothing follows it */
	assert_int_equal(conn->nxt, conn->end);
	assert_int_equal(done_cnt, 0);			/* its memory is in use until the ACK */
	scripted_ack(next, conn->loss.next - 1, conn->limit);
	assert_int_equal(done_cnt, 1);
	assert_true(rxd_tx_idle(conn));
}

static void a_small_packet_is_copied_and_free_at_once(void **state)
{
	assert_int_equal(rxd_tx_send(conn, scripted_pkt(&pkt, 10, 0)), 1);
	covers(0, base, base + FRAME + 10);
	assert_int_equal(tap_cnt, 1);
	assert_int_equal(tap[0].pkt.data[RXD_FRAME_SIZE - 6], 10);	/* payload length of its frame */
}

static void with_more_small_packets_share_a_datagram(void **state)
{
	rxd_conn_poller(conn)->base.app_active = false;
	assert_int_equal(rxd_tx_send(conn, scripted_pkt(&pkt, 10, ENG_PKT_MORE)), 1);
	assert_int_equal(rxd_tx_send(conn, scripted_pkt(&pkt, 20, ENG_PKT_MORE)), 1);
	assert_int_equal(tap_cnt, 0);
	assert_int_equal(rxd_tx_send(conn, scripted_pkt(&pkt, 30, 0)), 1);
	assert_int_equal(tap_cnt, 1);
	covers(0, base, base + 3 * FRAME + 60);
	/* the poll sends those that nothing follows */
	assert_int_equal(rxd_tx_send(conn, scripted_pkt(&pkt, 40, ENG_PKT_MORE)), 1);
	assert_int_equal(tap_cnt, 1);
	scripted_poll();
	assert_int_equal(tap_cnt, 2);
}

/* The first packet after a poll leaves at once, those that follow it wait for the next poll. */
static void a_burst_of_a_program_that_polls_is_sent_by_the_poll(void **state)
{
	int i;

	rxd_conn_poller(conn)->base.app_active = true;
	for (i = 0; i < 10; i++)
		assert_int_equal(rxd_tx_send(conn, scripted_pkt(&pkt, 10, 0)), 1);
	assert_int_equal(tap_cnt, 1);
	assert_true(atomic_load(&rxd_conn_poller(conn)->base.base.prog->staged));
	scripted_poll();
	assert_int_equal(tap_cnt, 2);
	covers(0, base, base + 10 * (FRAME + 10));
	/* reading the last completion polls no more */
	assert_false(atomic_load(&rxd_conn_poller(conn)->base.base.prog->staged));
}

/* A program that has seen its send complete may never poll again. */
static void what_pacing_keeps_back_is_not_complete(void **state)
{
	conn->cc.paced_ns = snet_now + CLOCK_NS_PER_S;
	assert_int_equal(rxd_tx_send(conn, scripted_pkt(&pkt, 10, 0)), 0);
	assert_int_equal(tap_cnt, 0);
	snet_now += CLOCK_NS_PER_S;
	scripted_poll();
	assert_int_equal(tap_cnt, 1);
	scripted_ack(tap[0].pkt.pn, tap[0].pkt.pn, conn->limit);
	assert_int_equal(done_cnt, 1);
}

/* The heads of datagrams count, too. */
static void what_the_window_keeps_back_is_not_complete(void **state)
{
	size_t size = FRAME + 100;

	conn->loss.out_bytes = conn->cc.window - size - 1;
	assert_int_equal(rxd_tx_send(conn, scripted_pkt(&pkt, 100, ENG_PKT_MORE)), 0);
	conn->loss.out_bytes = 0;
	scripted_poll();
	assert_int_equal(tap_cnt, 1);
}

static void what_fills_a_datagram_does_not_wait(void **state)
{
	unsigned i;

	for (i = 0; !tap_cnt; i++)
		assert_int_equal(rxd_tx_send(conn, scripted_pkt(&pkt, 100, ENG_PKT_MORE)), 1);
	assert_int_equal(i, conn->mtu.now / (FRAME + 100) + 1);
}

static void the_congestion_window_limits_what_is_in_flight(void **state)
{
	uint64_t first = conn->loss.next, window = 20000;
	unsigned cnt;

	conn->cc.window = (uint32_t) window;
	assert_int_equal(rxd_tx_send(conn, scripted_pkt(&pkt, 900000, 0)), 0);
	for (cnt = 0; cnt < 1000; cnt++) {		/* pacing spreads them */
		snet_now += TRIP / 8;
		rxd_tx_push(conn, snet_now);
	}
	assert_true(conn->loss.out_bytes > window - 2 * conn->mtu.now);
	assert_true(conn->loss.out_bytes <= window);
	assert_true(conn->nxt < conn->end);
	assert_int_equal(tap[tap_cnt - 1].pkt.flags & RXD_F_NOW, RXD_F_NOW);	/* an ACK is needed to go on */
	cnt = tap_cnt;
	snet_now += TRIP;
	rxd_tx_push(conn, snet_now);
	assert_int_equal(tap_cnt, cnt);
	scripted_ack(first, first + 1, conn->limit);
	snet_now += TRIP;
	rxd_tx_push(conn, snet_now);
	assert_true(tap_cnt > cnt);
	covers(0, base, conn->nxt);
}

static void flow_control_stops_at_the_byte(void **state)
{
	conn->limit = conn->nxt + 100;
	assert_int_equal(rxd_tx_send(conn, scripted_pkt(&pkt, 4000, 0)), 0);
	assert_int_equal(tap_cnt, 1);
	covers(0, base, base + 100);		/* nothing is in flight whose ACK could raise the limit */
	assert_int_equal(tap[0].pkt.flags & RXD_F_NOW, RXD_F_NOW);
	/* now it is: a short datagram is not sent for a few bytes more */
	conn->limit += 10;
	rxd_tx_push(conn, snet_now);
	assert_int_equal(tap_cnt, 1);
	scripted_ack(tap[0].pkt.pn, tap[0].pkt.pn, base + 8000);
	covers(0, base, base + FRAME + 4000);
}

static void bytes_to_be_retransmitted_come_first(void **state)
{
	uint64_t next;
	unsigned cnt;

	assert_int_equal(rxd_tx_send(conn, scripted_pkt(&pkt, 4000, 0)), 0);
	next = conn->loss.next;
	cnt = tap_cnt;
	rxd_stream_retransmit(conn, base + 50, base + 60);
	rxd_stream_retransmit(conn, base + 500, base + 3500);
	snet_now += TRIP;
	rxd_tx_push(conn, snet_now);
	assert_int_equal(tap[cnt].pkt.off, base + 50);
	assert_int_equal(tap[cnt].pkt.len, 10);
	assert_int_equal(tap[cnt].pkt.pn, next);	/* no number is used again */
	covers(cnt + 1, base + 500, base + 3500);
	assert_int_equal(conn->retransmit.cnt, 0);
	assert_int_equal(conn->nxt, conn->end);
}

static void an_ack_without_data_has_no_number(void **state)
{
	uint8_t msg[200];
	uint64_t next = conn->loss.next, first = pn;

	scripted_data(pn, conn->rcv_nxt, msg, scripted_msg(msg, msg_seq, 10), RXD_F_NOW);
	assert_int_equal(tap_cnt, 1);
	assert_int_equal(tap[0].pkt.flags & (RXD_F_ACK | RXD_F_PN), RXD_F_ACK);
	assert_int_equal(tap[0].pkt.ack.largest, first);
	assert_int_equal(conn->loss.next, next);
	assert_int_equal(conn->loss.out_cnt, 0);
	/* it was sent once */
	rxd_tx_push(conn, snet_now);
	assert_int_equal(tap_cnt, 1);
}

static void an_ack_goes_with_data(void **state)
{
	uint8_t msg[200];

	scripted_data(pn, conn->rcv_nxt, msg, scripted_msg(msg, msg_seq, 10), 0);
	assert_int_equal(tap_cnt, 0);		/* it may wait for RXD_ACK_DELAY_NS */
	assert_int_equal(rxd_tx_send(conn, scripted_pkt(&pkt, 10, 0)), 1);
	assert_int_equal(tap_cnt, 1);
	assert_int_equal(tap[0].pkt.flags & (RXD_F_ACK | RXD_F_PN), RXD_F_ACK | RXD_F_PN);
	assert_int_equal(tap[0].pkt.ack.largest, pn);
	assert_int_equal(conn->ack_cnt, 0);
}

/* The ACK takes room from the bytes, not from the path. */
static void a_full_datagram_with_an_ack_is_not_longer(void **state)
{
	uint8_t msg[200];

	scripted_data(pn, conn->rcv_nxt, msg, scripted_msg(msg, msg_seq, 10), 0);
	assert_int_equal(rxd_tx_send(conn, scripted_pkt(&pkt, 4000, 0)), 0);
	assert_int_equal(tap[0].pkt.flags & RXD_F_ACK, RXD_F_ACK);
	assert_int_equal(tap[0].len, conn->mtu.now);
	assert_int_equal(tap[1].pkt.flags & RXD_F_ACK, 0);
	assert_int_equal(tap[1].len, conn->mtu.now);
	covers(0, base, base + FRAME + 4000);
}

static void a_ping_has_a_number_and_no_bytes(void **state)
{
	uint64_t next = conn->loss.next;

	rxd_tx_ping(conn, snet_now);
	assert_int_equal(tap_cnt, 1);
	assert_int_equal(tap[0].pkt.flags & (RXD_F_PN | RXD_F_PAD | RXD_F_NOW),
			 RXD_F_PN | RXD_F_PAD | RXD_F_NOW);
	assert_int_equal(tap[0].pkt.pn, next);
	assert_int_equal(conn->loss.out_cnt, 1);
	assert_int_equal(conn->loss.out_bytes, 0);	/* not of the congestion window */
}

static void a_probe_sends_the_oldest_bytes_that_are_missing(void **state)
{
	unsigned cnt;

	for (cnt = 0; cnt < 3; cnt++) {
		assert_int_equal(rxd_tx_send(conn, scripted_pkt(&pkt, 10, 0)), 1);
		scripted_poll();
	}
	assert_int_equal(tap_cnt, 3);
	/* the second datagram is acknowledged: the probe ends before it */
	scripted_ack(tap[1].pkt.pn, tap[1].pkt.pn, conn->limit);
	cnt = tap_cnt;
	rxd_tx_probe(conn, snet_now);
	assert_int_equal(tap_cnt, cnt + 1);
	assert_int_equal(tap[cnt].pkt.off, base);
	assert_int_equal(tap[cnt].pkt.len, tap[0].pkt.len);
	assert_int_equal(tap[cnt].pkt.flags & RXD_F_NOW, RXD_F_NOW);
}

static void a_probe_of_an_idle_connection_is_a_ping(void **state)
{
	rxd_tx_probe(conn, snet_now);
	assert_int_equal(tap_cnt, 1);
	assert_int_equal(tap[0].pkt.flags & RXD_F_PAD, RXD_F_PAD);
}

static void a_slot_becomes_one_datagram(void **state)
{
	uint8_t *slot = rxd_tx_slot(conn, HEAD + 4);

	assert_non_null(slot);
	assert_int_equal(tap_cnt, 0);
	memset(slot, 0x5a, HEAD + 4);
	assert_int_equal(rxd_tx_post(conn, HEAD, 4), 1);
	assert_int_equal(tap_cnt, 1);
	covers(0, base, base + FRAME + 4);
	assert_int_equal(tap[0].pkt.data[FRAME + 3], 0x5a);
	assert_int_equal(conn->nxt, conn->end);
	/* a retransmission finds the bytes in the stream */
	rxd_stream_retransmit(conn, base, conn->nxt);
	snet_now += TRIP;
	rxd_tx_push(conn, snet_now);
	assert_int_equal(tap_cnt, 2);
	assert_memory_equal(tap[1].pkt.data, tap[0].pkt.data, FRAME + 4);
	/* one packet a poll: the next one may be part of a burst */
	assert_null(rxd_tx_slot(conn, HEAD));
	snet_now += TRIP;
	scripted_poll();
	assert_non_null(rxd_tx_slot(conn, HEAD));
	assert_null(rxd_tx_slot(conn, 513));		/* longer than SHORT_MAX */
	conn->limit = conn->end + RXD_FRAME_SIZE + HEAD;
	assert_null(rxd_tx_slot(conn, HEAD));		/* too near to the limit */
	conn->limit = UINT64_MAX / 2;
	assert_non_null(rxd_tx_slot(conn, HEAD));
	list_add_tail(&scripted_pkt(&pkt, 4000, 0)->node, &conn->chan.pending);
	assert_null(rxd_tx_slot(conn, HEAD));
	list_del(&pkt.node);
}

/* The timer is left alone while it fires before the probe timeout, and never later. */
static void the_timer_is_in_time_for_each_posted_packet(void **state)
{
	const struct timer *timer = &conn->chan.timer;
	uint64_t due;
	unsigned i;

	for (i = 0; i < 50; i++) {
		assert_non_null(rxd_tx_slot(conn, HEAD));
		assert_int_equal(rxd_tx_post(conn, HEAD, 0), 1);
		assert_int_not_equal(timer->at, 0);
		due = rxd_tx_due(conn, snet_now);
		assert_true(timer->due_ns <= due);
		scripted_ack(conn->loss.next - 1, conn->loss.next - 1, conn->limit);
		snet_now += TRIP * (1 + i);
		scripted_poll();
	}
}

static void a_datagram_that_is_too_long_is_cut_anew(void **state)
{
	uint32_t was = conn->mtu.now;

	assert_true(was > 1200);
	rxd_conn_link(conn)->dg->dgram_max = 1200;
	assert_int_equal(rxd_tx_send(conn, scripted_pkt(&pkt, 4000, 0)), 0);
	assert_true(rxd_conn_alive(conn));
	assert_true(conn->mtu.now <= 1200);
	if (tap[tap_cnt - 1].pkt.flags & RXD_F_PAD)
		tap_cnt--;		/* a path MTU probe */
	covers(0, base, base + FRAME + 4000);
	assert_true(tap[0].len <= 1200);
	assert_int_equal(tap[0].pkt.flags & RXD_F_ACK, RXD_F_ACK);
	assert_int_equal(conn->retransmit.cnt, 0);
	/* not even the least datagram: no way to reach the peer */
	rxd_conn_link(conn)->dg->dgram_max = 100;
	rxd_tx_send(conn, scripted_pkt(&pkt, 1900, 0));
	assert_false(rxd_conn_alive(conn));
	assert_int_equal(conn->chan.err, FI_EMSGSIZE);
	scripted_poll();
}

static void the_end_is_behind_all_packets_and_last(void **state)
{
	static struct eng_pkt late;

	assert_int_equal(rxd_tx_send(conn, scripted_pkt(&pkt, 4000, 0)), 0);
	rxd_tx_shut(conn);
	scripted_poll();
	covers(0, base, base + FRAME + 4000 + RXD_FRAME_SIZE);
	assert_int_equal(rxd_tx_send(conn, scripted_pkt(&late, 10, 0)), -FI_ENOTCONN);
	assert_null(rxd_tx_slot(conn, HEAD));
	rxd_tx_shut(conn);		/* once */
	scripted_poll();
	assert_int_equal(conn->end, base + FRAME + 4000 + RXD_FRAME_SIZE);
}

static void what_is_dropped_is_reported(void **state)
{
	assert_int_equal(rxd_tx_send(conn, scripted_pkt(&pkt, 4000, 0)), 0);
	rxd_conn_fail(conn, FI_ETIMEDOUT, false);
	assert_int_equal(done_cnt, 0);
	scripted_poll();
	assert_int_equal(done_cnt, 1);
	assert_int_equal(done_status, -FI_ETIMEDOUT);
	assert_int_equal(nodes_downs, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRIPTED(a_packet_is_cut_into_datagrams),
		SCRIPTED(a_small_packet_is_copied_and_free_at_once),
		SCRIPTED(with_more_small_packets_share_a_datagram),
		SCRIPTED(a_burst_of_a_program_that_polls_is_sent_by_the_poll),
		SCRIPTED(what_pacing_keeps_back_is_not_complete),
		SCRIPTED(what_the_window_keeps_back_is_not_complete),
		SCRIPTED(what_fills_a_datagram_does_not_wait),
		SCRIPTED(the_congestion_window_limits_what_is_in_flight),
		SCRIPTED(flow_control_stops_at_the_byte),
		SCRIPTED(bytes_to_be_retransmitted_come_first),
		SCRIPTED(an_ack_without_data_has_no_number),
		SCRIPTED(an_ack_goes_with_data),
		SCRIPTED(a_full_datagram_with_an_ack_is_not_longer),
		SCRIPTED(a_ping_has_a_number_and_no_bytes),
		SCRIPTED(a_probe_sends_the_oldest_bytes_that_are_missing),
		SCRIPTED(a_probe_of_an_idle_connection_is_a_ping),
		SCRIPTED(a_slot_becomes_one_datagram),
		SCRIPTED(the_timer_is_in_time_for_each_posted_packet),
		SCRIPTED(a_datagram_that_is_too_long_is_cut_anew),
		SCRIPTED(the_end_is_behind_all_packets_and_last),
		SCRIPTED(what_is_dropped_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

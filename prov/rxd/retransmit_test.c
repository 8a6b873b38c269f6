/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Recovery: what an acknowledgement shows, what a timeout shows, and which bytes are sent again. */
#include "test/scripted.h"

static struct eng_pkt pkt;
static uint64_t first;		/* number of the first packet of send_long() */

/* send_long - one packet of @len bytes leaves; returns in how many datagrams. */
static unsigned send_long(size_t len)
{
	unsigned cnt = tap_cnt;

	first = conn->loss.next;
	assert_int_equal(rxd_tx_send(conn, scripted_pkt(&pkt, len, 0)), 0);
	while (conn->nxt < conn->end) {		/* paced */
		snet_now += TRIP / 8;
		rxd_tx_push(conn, snet_now);
	}
	return tap_cnt - cnt;
}

static void only_what_the_peer_lacks_is_sent_again(void **state)
{
	conn->una = base + 10;
	conn->nxt = conn->end = base + 1000;	/* of this module's view alone */
	assert_int_equal(rxd_ranges_add(&conn->acked, base + 100, base + 200), 0);
	assert_int_equal(rxd_ranges_add(&conn->acked, base + 300, base + 400), 0);
	rxd_stream_retransmit(conn, base, base + 350);
	assert_int_equal(conn->retransmit.cnt, 2);
	assert_int_equal(conn->retransmit.span[0].lo, base + 10);
	assert_int_equal(conn->retransmit.span[0].hi, base + 100);
	assert_int_equal(conn->retransmit.span[1].lo, base + 200);
	assert_int_equal(conn->retransmit.span[1].hi, base + 300);
	rxd_stream_retransmit(conn, base + 310, base + 390);	/* the peer has all of it */
	rxd_stream_retransmit(conn, base, base + 10);
	assert_int_equal(conn->retransmit.cnt, 2);
	rxd_ranges_fini(&conn->acked);
	rxd_ranges_fini(&conn->retransmit);
	conn->una = conn->nxt = conn->end = base;
}

static void acknowledged_bytes_are_released_in_order(void **state)
{
	unsigned cnt = send_long(6000);

	assert_true(cnt >= 4);
	scripted_ack(first + 1, first + 1, conn->limit);	/* not the oldest */
	assert_int_equal(conn->una, base);
	assert_int_equal(conn->acked.cnt, 1);
	assert_int_equal(conn->acked.span[0].lo, tap[1].pkt.off);
	assert_int_equal(conn->acked.span[0].hi, tap[1].pkt.off + tap[1].pkt.len);
	scripted_ack(first, first, conn->limit);
	assert_int_equal(conn->una, tap[2].pkt.off);		/* both */
	assert_int_equal(conn->acked.cnt, 0);
	assert_int_equal(done_cnt, 0);
	scripted_ack(first, first + cnt - 1, conn->limit);
	assert_int_equal(conn->una, conn->end);
	assert_int_equal(done_cnt, 1);
	assert_int_equal(done_status, 0);
	assert_int_equal(conn->loss.out_bytes, 0);
	assert_int_equal(conn->unanswered_ns, 0);
}

static void three_later_packets_prove_a_loss(void **state)
{
	unsigned cnt = send_long(9000);
	uint64_t window = conn->cc.window;

	assert_true(cnt >= 6);
	snet_now += TRIP;
	scripted_ack(first + 1, first + 2, conn->limit);
	assert_int_equal(conn->retransmit.cnt, 0);	/* reordering is not loss */
	assert_int_equal(conn->una, base);
	scripted_ack(first + 1, first + 3, conn->limit);
	assert_true(conn->cc.window < window);
	/* the poll has sent it again, in a packet with a new number */
	assert_int_equal(tap[cnt].pkt.off, base);
	assert_int_equal(tap[cnt].pkt.len, tap[0].pkt.len);
	assert_int_equal(tap[cnt].pkt.pn, first + cnt);
	assert_int_equal(conn->retransmit.cnt, 0);
	scripted_ack(first + cnt, first + cnt, conn->limit);
	assert_int_equal(conn->una, tap[4].pkt.off);
}

static void a_late_ack_takes_the_loss_back(void **state)
{
	unsigned cnt = send_long(9000);
	uint64_t window = conn->cc.window;

	conn->cc.paced_ns = snet_now + 1000 * TRIP;	/* nothing leaves now */
	scripted_ack(first + 2, first + 4, conn->limit);
	assert_int_equal(conn->retransmit.cnt, 1);		/* both before it */
	assert_int_equal(conn->retransmit.span[0].hi, tap[2].pkt.off);
	assert_true(conn->cc.window < window);
	scripted_ack(first + 1, first + 1, conn->limit);
	assert_int_equal(conn->retransmit.span[0].lo, base);
	assert_int_equal(conn->retransmit.span[0].hi, tap[1].pkt.off);
	scripted_ack(first, first, conn->limit);
	assert_int_equal(conn->retransmit.cnt, 0);
	assert_true(conn->cc.window >= window);
	assert_int_equal(conn->una, tap[5].pkt.off);
	assert_int_equal(tap_cnt, cnt);
}

static void an_ack_of_what_was_never_sent_is_ignored(void **state)
{
	unsigned cnt = send_long(4000);

	scripted_ack(first, first + cnt, conn->limit);
	assert_int_equal(conn->una, base);
	assert_int_equal(done_cnt, 0);
	assert_true(rxd_conn_alive(conn));
	scripted_ack(first, first + cnt - 1, conn->limit);
	assert_int_equal(done_cnt, 1);
}

static void the_limit_is_never_lowered(void **state)
{
	unsigned cnt = send_long(4000);
	uint64_t limit = conn->limit;

	scripted_ack(first, first, limit - 1000);
	assert_int_equal(conn->limit, limit);
	scripted_ack(first, first + cnt - 1, limit + 1000);
	assert_int_equal(conn->limit, limit + 1000);
}

/* to_timeout - time passes until the connection's next event. */
static void to_timeout(void)
{
	uint64_t due = rxd_tx_due(conn, snet_now);

	assert_true(due > snet_now && due < snet_now + 100 * CLOCK_NS_PER_S);
	snet_now = due;
	scripted_poll();
}

/* to_timeouts - nothing is acknowledged until there have been @cnt. */
static void to_timeouts(unsigned cnt)
{
	while (conn->loss.probes < cnt) {
		snet_now += CLOCK_NS_PER_MS;
		scripted_poll();
	}
}

static unsigned count_type(unsigned from, enum rxd_type type)
{
	unsigned i, cnt = 0;

	for (i = from; i < tap_cnt; i++)
		cnt += tap[i].pkt.type == type;
	return cnt;
}

static void a_timeout_alone_proves_no_loss(void **state)
{
	unsigned cnt = send_long(4000);
	uint64_t window = conn->cc.window, wait;

	to_timeout();
	assert_int_equal(conn->loss.probes, 1);
	assert_int_equal(conn->retransmit.cnt, 0);
	assert_int_equal(conn->cc.window, window);
	assert_int_equal(tap[cnt].pkt.off, base);		/* the oldest bytes */
	assert_int_equal(tap[cnt + 1].pkt.flags & RXD_F_PAD, RXD_F_PAD);	/* and a short packet */
	assert_int_equal(count_type(cnt, RXD_PROBE), 0);
	wait = rxd_tx_due(conn, snet_now) - snet_now;
	/* the second one asks for the connection, too, and each waits longer */
	cnt = tap_cnt;
	to_timeout();
	assert_int_equal(conn->loss.probes, 2);
	assert_int_equal(count_type(cnt, RXD_PROBE), 1);
	assert_true(rxd_tx_due(conn, snet_now) - snet_now > wait);
	/* an ACK of a probe ends the series */
	scripted_ack(tap[cnt].pkt.pn, tap[cnt].pkt.pn, conn->limit);
	assert_int_equal(conn->loss.probes, 0);
}

/* The first ACK after a silence has waited as long as that, and so have those of what is still in flight. */
static void a_silence_is_no_round_trip(void **state)
{
	unsigned cnt = send_long(4000), probe;

	rxd_rtt_sample(&conn->rtt, TRIP, 0);
	rxd_rtt_sample(&conn->rtt, TRIP, 0);
	to_timeouts(3);
	scripted_ack(first, first, conn->limit);
	assert_int_equal(conn->loss.probes, 0);
	scripted_ack(first, first + cnt - 1, conn->limit);
	assert_true(conn->rtt.smooth < 2 * TRIP);
	/* what is sent from now on gives one, be it as long as a silence */
	probe = tap_cnt;
	rxd_tx_ping(conn, snet_now);
	to_timeouts(3);
	scripted_ack(tap[probe].pkt.pn, tap[probe].pkt.pn, conn->limit);
	assert_true(conn->rtt.smooth > 10 * TRIP);
}

/* A round trip that is longer than the guess is one: the first sample counts however many probes it took. */
static void a_long_path_is_measured(void **state)
{
	rxd_rtt_init(&conn->rtt);
	send_long(4000);
	to_timeouts(3);
	scripted_ack(first, first, conn->limit);
	assert_true(conn->rtt.min > TRIP);
}

/* ack_short - the peer acknowledges the last packet without bytes, and nothing else. */
static void ack_short(void)
{
	unsigned at = tap_cnt - 1;

	while (!(tap[at].pkt.flags & RXD_F_PAD) || tap[at].len > RXD_DGRAM_MIN)
		at--;
	scripted_ack(tap[at].pkt.pn, tap[at].pkt.pn, conn->limit);
}

/* short_ones_alone - @cnt timeouts at which no other is acknowledged.  Returns the path MTU after them. */
static unsigned short_ones_alone(unsigned cnt)
{
	while (cnt--) {
		to_timeouts(1);
		ack_short();
	}
	return conn->mtu.now;
}

static void long_packets_alone_are_lost(void **state)
{
	unsigned mtu = conn->mtu.now;

	assert_true(mtu > RXD_DGRAM_MIN);
	send_long(4000);
	assert_int_equal(short_ones_alone(2), mtu);
	assert_int_equal(short_ones_alone(1), RXD_DGRAM_MIN);
}

/* A silence of both shows nothing, whatever arrives first when it ends. */
static void a_silence_is_no_black_hole(void **state)
{
	unsigned mtu = conn->mtu.now;

	send_long(4000);
	assert_int_equal(short_ones_alone(2), mtu);
	to_timeouts(5);
	ack_short();
	assert_int_equal(conn->mtu.now, mtu);
}

/* A peer that is silent for minutes is not taken for one that has just become silent. */
static void timeouts_are_counted_up_to_a_limit(void **state)
{
	send_long(4000);
	to_timeout();
	conn->loss.probes = UINT8_MAX;
	to_timeout();
	assert_int_equal(conn->loss.probes, UINT8_MAX);
}

static void a_sender_stopped_by_flow_control_asks_for_the_limit(void **state)
{
	conn->limit = conn->nxt;
	assert_int_equal(rxd_tx_send(conn, scripted_pkt(&pkt, 4000, 0)), 0);
	assert_int_equal(tap_cnt, 0);
	snet_now += CLOCK_NS_PER_S;
	scripted_poll();
	assert_true(tap_cnt > 0);
	assert_int_equal(tap[0].pkt.flags & RXD_F_PAD, RXD_F_PAD);	/* no byte beyond the limit */
	assert_int_equal(conn->nxt, base);
	scripted_ack(tap[0].pkt.pn, tap[0].pkt.pn, base + 100000);
	assert_int_equal(conn->nxt, conn->end);
}

static void an_idle_connection_has_no_timeout(void **state)
{
	unsigned cnt;

	assert_int_equal(rxd_tx_due(conn, snet_now), UINT64_MAX);
	cnt = send_long(4000);
	assert_true(rxd_tx_due(conn, snet_now) != UINT64_MAX);
	scripted_ack(first, first + cnt - 1, conn->limit);
	assert_int_equal(rxd_tx_due(conn, snet_now), UINT64_MAX);
}

static void a_new_path_begins_without_knowledge_of_the_old(void **state)
{
	unsigned cnt = send_long(4000);

	conn->loss.probes = 2;
	rxd_tx_new_path(conn);
	assert_int_equal(conn->loss.probes, 0);
	assert_int_equal(conn->mtu.now, RXD_DGRAM_MIN);
	assert_int_equal(conn->rtt.min, 0);
	assert_int_equal(conn->loss.out_bytes, 0);
	/* all that was in flight is sent again, in datagrams for the new path */
	assert_int_equal(conn->retransmit.cnt, 1);
	assert_int_equal(conn->retransmit.span[0].lo, base);
	assert_int_equal(conn->retransmit.span[0].hi, conn->end);
	snet_now += TRIP;
	rxd_tx_push(conn, snet_now);
	assert_true(tap_cnt > cnt);
	assert_int_equal(tap[cnt].pkt.off, base);
	assert_true(tap[cnt].len <= RXD_DGRAM_MIN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRIPTED(only_what_the_peer_lacks_is_sent_again),
		SCRIPTED(acknowledged_bytes_are_released_in_order),
		SCRIPTED(three_later_packets_prove_a_loss),
		SCRIPTED(a_late_ack_takes_the_loss_back),
		SCRIPTED(an_ack_of_what_was_never_sent_is_ignored),
		SCRIPTED(the_limit_is_never_lowered),
		SCRIPTED(a_timeout_alone_proves_no_loss),
		SCRIPTED(a_silence_is_no_round_trip),
		SCRIPTED(a_long_path_is_measured),
		SCRIPTED(long_packets_alone_are_lost),
		SCRIPTED(a_silence_is_no_black_hole),
		SCRIPTED(timeouts_are_counted_up_to_a_limit),
		SCRIPTED(a_sender_stopped_by_flow_control_asks_for_the_limit),
		SCRIPTED(an_idle_connection_has_no_timeout),
		SCRIPTED(a_new_path_begins_without_knowledge_of_the_old),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

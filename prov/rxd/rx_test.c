/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Receiving: bytes in any order, duplicates, limits, and the acknowledgement of them. */
#include "test/scripted.h"

static uint8_t bytes[200000];
static uint64_t start, from;	/* delivered messages and the place in the stream at the beginning */

static void begin(void)
{
	start = nodes_delivered;
	from = conn->rcv_nxt;
}

static uint64_t delivered(void)
{
	return nodes_delivered - start;
}

/* say - bytes @lo to @hi of the stream that begins at @from, in the packet @number. */
static void say(uint64_t number, size_t lo, size_t hi)
{
	scripted_data(number, from + lo, bytes + lo, hi - lo, 0);
}

/* settle - held messages are pulled or dropped until @cnt are delivered. */
static void settle(uint64_t cnt)
{
	unsigned i;

	for (i = 0; i < 1000 && (delivered() < cnt || nodes[0]->placing || !list_empty(&nodes[0]->held));
	     i++) {
		nodes_turn();
		snet_now += 2;
	}
	assert_int_equal(delivered(), cnt);
	assert_int_equal(nodes[0]->placing, 0);
}

static void messages_in_order_are_delivered_at_once(void **state)
{
	size_t len;

	begin();
	len = scripted_msg(bytes, msg_seq, 10);
	len += scripted_msg(bytes + len, msg_seq + 1, 0);
	say(pn, 0, len);
	settle(2);
	assert_int_equal(conn->rcv_nxt, from + len);
}

static void order_is_that_of_the_stream(void **state)
{
	size_t a, b, c;

	begin();
	a = scripted_msg(bytes, msg_seq, 100);
	b = a + scripted_msg(bytes + a, msg_seq + 1, 100);
	c = b + scripted_msg(bytes + b, msg_seq + 2, 100);
	say(pn + 2, b, c);
	assert_true(conn->ack_now || tap_cnt);		/* out of order: the sender is told at once */
	say(pn + 1, a, b);
	assert_int_equal(conn->rcv_nxt, from);
	assert_int_equal(delivered(), 0);
	say(pn, 0, a);
	settle(3);
	assert_int_equal(conn->rcv_nxt, from + c);
	assert_true(list_empty(&conn->reordered));
	assert_int_equal(conn->reordered_bytes, 0);
	assert_int_equal(conn->pns.cnt, 1);
}

static void duplicates_are_delivered_once_and_acknowledged_again(void **state)
{
	size_t len;
	unsigned cnt;

	begin();
	len = scripted_msg(bytes, msg_seq, 100);
	say(pn, 0, len);
	settle(1);
	snet_now += RXD_ACK_DELAY_NS;
	scripted_poll();
	cnt = tap_cnt;
	say(pn, 0, len);		/* the datagram, twice */
	assert_int_equal(tap_cnt, cnt + 1);
	assert_int_equal(tap[cnt].pkt.flags & RXD_F_ACK, RXD_F_ACK);
	say(pn + 1, 0, len);		/* the bytes, retransmitted */
	settle(1);
	assert_int_equal(conn->rcv_nxt, from + len);
}

static void pieces_may_overlap(void **state)
{
	size_t len;

	begin();
	len = scripted_msg(bytes, msg_seq, 500);
	say(pn, 0, 200);
	say(pn + 3, 300, len);
	say(pn + 2, 250, 400);
	say(pn + 1, 100, 260);
	settle(1);
	assert_int_equal(conn->rcv_nxt, from + len);
	assert_null(conn->body);
}

static void a_head_may_be_spread_over_datagrams(void **state)
{
	size_t len, i;

	begin();
	len = scripted_msg(bytes, msg_seq, 3);
	len += scripted_msg(bytes + len, msg_seq + 1, 5);
	for (i = 0; i < len; i++)
		say(pn + i, i, i + 1);
	settle(2);
	assert_null(conn->partial);
	assert_int_equal(conn->partial_len, 0);
}

static void a_long_message_is_placed_in_any_order(void **state)
{
	size_t len, part = 1200, i, cnt;

	begin();
	len = scripted_msg(bytes, msg_seq, 30000);
	cnt = (len + part - 1) / part;
	say(pn, 0, part);
	for (i = cnt; i-- > 1;)
		say(pn + i, i * part, i + 1 < cnt ? (i + 1) * part : len);
	settle(1);
	assert_int_equal(conn->rcv_nxt, from + len);
	assert_int_equal(conn->reordered_bytes, 0);
}

static void bytes_beyond_the_limit_are_not_acknowledged(void **state)
{
	size_t len;

	begin();
	len = scripted_msg(bytes, msg_seq, 100);
	conn->rcv_limit = from + len - 1;
	say(pn, 0, len);
	assert_int_equal(delivered(), 0);
	assert_int_equal(conn->rcv_nxt, from);
	assert_false(rxd_ranges_has(&conn->pns, pn));
	conn->rcv_limit = from + len;
	say(pn + 1, 0, len);
	settle(1);
	assert_true(rxd_ranges_has(&conn->pns, pn + 1));
}

static void an_engine_without_memory_gets_the_message_later(void **state)
{
	size_t a, b;

	begin();
	a = scripted_msg(bytes, msg_seq, 100);
	b = a + scripted_msg(bytes + a, msg_seq + 1, 100);
	nodes[0]->later = 100;
	say(pn, 0, a);
	say(pn + 1, a, b);
	assert_true(conn->is_paused);
	assert_int_equal(conn->rcv_nxt, from);
	assert_int_equal(delivered(), 0);
	assert_int_equal(rxd_rx_resume(conn, snet_now), 0);	/* refused again */
	nodes[0]->later = 0;
	settle(2);
	assert_false(conn->is_paused);
	assert_int_equal(conn->rcv_nxt, from + b);
}

static void the_end_of_the_stream_is_reported_behind_the_messages(void **state)
{
	size_t len;
	uint64_t word = rxd_frame(0, 0);

	begin();
	len = scripted_msg(bytes, msg_seq, 100);
	memcpy(bytes + len, &word, sizeof(word));
	say(pn + 1, len, len + sizeof(word));
	assert_int_equal(nodes_downs, 0);		/* the message before it is missing */
	say(pn, 0, len);
	settle(1);
	assert_int_equal(nodes_downs, 1);
	assert_int_equal(nodes_last_err, FI_ECONNRESET);
	assert_int_equal(tap[tap_cnt - 1].pkt.flags & RXD_F_ACK, RXD_F_ACK);	/* acknowledged */
}

/* refused - a stream that goes on with @word ends the connection. */
static void refused(uint64_t word)
{
	begin();
	memset(bytes, 0, 1000);
	memcpy(bytes, &word, sizeof(word));
	say(pn, 0, 1000);
	scripted_poll();
	assert_int_equal(delivered(), 0);
	assert_int_equal(nodes_downs, 1);
	assert_int_equal(nodes_last_err, FI_EPROTO);
}

static void a_header_that_is_too_long_ends_the_connection(void **state)
{
	refused(rxd_frame(ENG_HDR_MAX + 1, 0));
}

static void a_payload_that_is_too_long_ends_the_connection(void **state)
{
	refused(rxd_frame(HEAD, RXD_PAYLOAD_MAX + 1));
}

static void a_payload_without_a_header_ends_the_connection(void **state)
{
	refused(rxd_frame(0, 10));
}

static void an_ack_has_the_ranges_that_arrived(void **state)
{
	uint8_t out[RXD_HEAD_MAX];
	struct rxd_pkt pkt = { 0 };
	uint64_t now;
	size_t at;

	begin();
	scripted_msg(bytes, msg_seq, 100);
	say(pn + 1, 10, 11);		/* missing: pn */
	say(pn + 2, 12, 13);
	say(pn + 5, 14, 15);		/* missing: pn + 3, pn + 4 */
	now = conn->largest_ns + 7000;
	at = rxd_put_hdr(out, RXD_DATA, RXD_F_ACK | RXD_F_SUM, 1, 0);
	at = rxd_rx_put_ack(conn, out, at, now);
	rxd_seal(out, at, NULL, 0);
	assert_null(rxd_parse(out, at, &pkt));
	assert_int_equal(pkt.ack.largest, pn + 5);
	assert_int_equal(pkt.ack.first, 0);
	assert_int_equal(pkt.ack.delay_us, 7);
	assert_int_equal(pkt.ack.cnt, 2);
	assert_int_equal(rxd_pkt_range(&pkt, 0).gap, 2);
	assert_int_equal(rxd_pkt_range(&pkt, 0).len, 2);
	assert_int_equal(rxd_pkt_range(&pkt, 1).gap, 1);
	assert_int_equal(rxd_pkt_range(&pkt, 1).len, pn);	/* all from 0 on */
	assert_true(pkt.ack.limit >= conn->rcv_nxt + rxd_rx_window(conn));
}

static void the_oldest_numbers_are_forgotten(void **state)
{
	unsigned i, cnt = RXD_RANGES_MAX + 10;

	begin();
	scripted_msg(bytes, msg_seq, 1000);
	for (i = 0; i < cnt; i++)
		say(pn + 2 * i + 1, 100 + 2 * i, 101 + 2 * i);
	assert_int_equal(conn->pns.cnt, RXD_RANGES_MAX + 1);
	assert_true(conn->pn_floor > pn);
	/* a number below is taken as known: its bytes come again under another one */
	say(pn, 0, 90);
	assert_int_equal(conn->rcv_nxt, from);
	say(pn + 2 * cnt + 1, 0, FRAME + 1000);
	settle(1);
}

static void an_ack_waits_for_others_up_to_a_limit(void **state)
{
	size_t len = 0, next;
	unsigned i, cnt;

	begin();
	for (i = 0; i < RXD_ACK_EVERY - 1; i++) {
		next = len + scripted_msg(bytes + len, msg_seq + i, 10);
		say(pn + i, len, next);
		len = next;
	}
	assert_int_equal(tap_cnt, 0);
	assert_int_equal(conn->ack_cnt, RXD_ACK_EVERY - 1);
	next = len + scripted_msg(bytes + len, msg_seq + i, 10);
	say(pn + i, len, next);
	assert_int_equal(tap_cnt, 1);
	assert_int_equal(conn->ack_cnt, 0);
	settle(RXD_ACK_EVERY);
	/* a single one is sent after the delay */
	len = next + scripted_msg(bytes + next, msg_seq + i + 1, 10);
	cnt = tap_cnt;
	say(pn + i + 1, next, len);
	assert_int_equal(tap_cnt, cnt);
	snet_now += RXD_ACK_DELAY_NS;
	scripted_poll();
	assert_int_equal(tap_cnt, cnt + 1);
}

static void the_window_is_shared_by_those_that_send(void **state)
{
	struct rxd_link *link = rxd_conn_link(conn);
	uint64_t one;
	size_t room = link->dg->room;

	link->mean = 1400;
	link->active = link->active_before = 1;
	one = rxd_rx_window(conn);
	assert_int_equal(one, room / 4);
	link->active = 8;
	assert_true(rxd_rx_window(conn) < one);
	link->active_before = 16;		/* the higher of both counts */
	assert_int_equal(rxd_rx_window(conn), room * 3 / 4 * 1400 / (1400 + 2048) / 16);
	link->active_before = 1000000;
	assert_int_equal(rxd_rx_window(conn), 2 * RXD_DGRAM_MIN);
	link->active = link->active_before = 1;
	conn->rtt.min = CLOCK_NS_PER_S;		/* far away */
	assert_true(rxd_rx_window(conn) > one);
	conn->rtt.min = 1;
	assert_int_equal(rxd_rx_window(conn), one);
}

static void what_was_promised_is_reported_as_lost(void **state)
{
	size_t i;

	/* by the dice of the engine some are placed, some held, some dropped: all end once */
	begin();
	scripted_msg(bytes, msg_seq, 30000);
	for (i = 0; i < 5; i++)
		say(pn + i, i * 1200, i * 1200 + 1100);		/* with gaps */
	assert_non_null(conn->body);
	assert_true(conn->body->cookie ? nodes[0]->placing == 1 : !list_empty(&nodes[0]->held));
	rxd_conn_fail(conn, FI_ETIMEDOUT, false);
	scripted_poll();
	assert_int_equal(nodes_downs, 1);
	assert_null(conn->body);
	assert_int_equal(nodes[0]->placing, 0);
	assert_int_equal(conn->reordered_bytes, 0);
	assert_int_equal(delivered(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRIPTED(messages_in_order_are_delivered_at_once),
		SCRIPTED(order_is_that_of_the_stream),
		SCRIPTED(duplicates_are_delivered_once_and_acknowledged_again),
		SCRIPTED(pieces_may_overlap),
		SCRIPTED(a_head_may_be_spread_over_datagrams),
		SCRIPTED(a_long_message_is_placed_in_any_order),
		SCRIPTED(bytes_beyond_the_limit_are_not_acknowledged),
		SCRIPTED(an_engine_without_memory_gets_the_message_later),
		SCRIPTED(the_end_of_the_stream_is_reported_behind_the_messages),
		SCRIPTED(a_header_that_is_too_long_ends_the_connection),
		SCRIPTED(a_payload_that_is_too_long_ends_the_connection),
		SCRIPTED(a_payload_without_a_header_ends_the_connection),
		SCRIPTED(an_ack_has_the_ranges_that_arrived),
		SCRIPTED(the_oldest_numbers_are_forgotten),
		SCRIPTED(an_ack_waits_for_others_up_to_a_limit),
		SCRIPTED(the_window_is_shared_by_those_that_send),
		SCRIPTED(what_was_promised_is_reported_as_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

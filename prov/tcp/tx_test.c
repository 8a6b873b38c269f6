/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Sending: the bytes that leave, when they leave, and in which order.
 */
#include "tcp/test/far.h"

#define SMALL 8000	/* two of them do not fit in the smallest staging buffer */

/* send_until_blocked - packets of @len bytes that the socket takes; the far end reads nothing.
 * The last one may be queued.  Returns how many were handed over.
 */
static unsigned send_until_blocked(struct far *far, size_t len)
{
	unsigned cnt = 0;

	while (!far->conn->tx.blocked) {
		assert_true(far_send(far, len, 0) >= 0);
		cnt++;
	}
	return cnt;
}

static void a_single_packet_leaves_at_once(void **state)
{
	struct far far = far_open(1);

	assert_int_equal(far_send(&far, 20, 0), 1);
	far_expect(0, 20);
	assert_int_equal(far_send(&far, 0, 0), 1);
	far_expect(1, 0);
	assert_int_equal(far_send(&far, 100000, 0), 1);
	far_expect(2, 100000);
	far_none(0);
	assert_true(tcp_tx_idle(far.conn));
	far_close(&far);
}

/* As a protected connection sends; a poll that reads a completion has no call to make for it. */
static void a_packet_that_is_staged_and_sent_leaves_nothing_to_poll_for(void **state)
{
	struct far far = far_open(1);
	struct obj_prog *prog = far.conn->poller->base.base.prog;

	far.conn->tx.indirect = true;
	obj_prog_unstaged(prog);
	assert_int_equal(far_send(&far, 20, 0), 1);
	far_expect(0, 20);
	assert_false(atomic_load(&prog->staged));
	assert_true(tcp_tx_idle(far.conn));
	assert_int_equal(far_send(&far, 20, ENG_PKT_MORE), 1);
	assert_true(atomic_load(&prog->staged));
	far.conn->tx.indirect = false;
	far_close(&far);
}

static void with_more_a_packet_waits_for_the_last_of_the_burst(void **state)
{
	struct far far = far_open(1);

	assert_int_equal(far_send(&far, 20, ENG_PKT_MORE), 1);
	assert_int_equal(far_send(&far, 30, ENG_PKT_MORE), 1);
	far_none(0);
	assert_false(tcp_tx_idle(far.conn));
	assert_int_equal(far_send(&far, 40, 0), 1);
	assert_true(tcp_tx_idle(far.conn));
	far_expect(0, 20);
	far_expect(1, 30);
	far_expect(2, 40);

	/* without a last one the poll sends them */
	assert_int_equal(far_send(&far, 20, ENG_PKT_MORE), 1);
	far_none(0);
	fake_poll();
	assert_true(tcp_tx_idle(far.conn));
	far_expect(3, 20);
	far_close(&far);
}

static void a_large_packet_follows_what_is_staged(void **state)
{
	struct far far = far_open(1);

	assert_int_equal(far_send(&far, 20, ENG_PKT_MORE), 1);
	assert_int_equal(far_send(&far, TCP_SMALL_MAX, ENG_PKT_MORE), 1);
	assert_true(tcp_tx_idle(far.conn));
	far_expect(0, 20);
	far_expect(1, TCP_SMALL_MAX);
	far_close(&far);
}

static void what_does_not_fit_behind_the_stage_sends_it_first(void **state)
{
	struct far far = far_open(1);
	unsigned i, fit = (unsigned) (TCP_STAGE_SIZE(&tcp_conf) / (FAR_HEAD + SMALL));

	for (i = 0; i < fit; i++)
		assert_int_equal(far_send(&far, SMALL, ENG_PKT_MORE), 1);
	far_none(0);
	assert_int_equal(far_send(&far, SMALL, ENG_PKT_MORE), 1);
	for (i = 0; i < fit; i++)
		far_expect(i, SMALL);
	far_none(0);
	tcp_tx_flush(far.conn);
	far_expect(fit, SMALL);
	far_close(&far);
}

static void without_staging_every_packet_leaves_at_once(void **state)
{
	struct far far;
	int usual = tcp_conf.stage_size;

	tcp_conf.stage_size = 0;
	far = far_open(1);
	assert_int_equal(far_send(&far, 20, ENG_PKT_MORE), 1);
	assert_true(tcp_tx_idle(far.conn));
	far_expect(0, 20);
	assert_int_equal(far_send(&far, 30, ENG_PKT_MORE), 1);
	assert_true(tcp_tx_idle(far.conn));
	far_expect(1, 30);
	far_close(&far);
	tcp_conf.stage_size = usual;
}

static void order_is_kept_where_the_socket_is_full(void **state)
{
	struct far far = far_open(1);
	struct tcp_poller *poller = far.conn->poller;
	unsigned i;

	assert_int_equal(far_send(&far, TCP_PAYLOAD_MAX, 0), 0);
	assert_true(far.conn->tx.blocked);
	assert_int_equal(poller->blocked, 1);
	for (i = 0; i < 100; i++)
		assert_int_equal(far_send(&far, i, i % 2 ? ENG_PKT_MORE : 0), 0);
	assert_int_equal(far.peer->done_cnt, 0);
	far_expect(0, TCP_PAYLOAD_MAX);
	for (i = 0; i < 100; i++)
		far_expect(1 + i, i);
	FAKE_UNTIL(2000, far.peer->done_cnt == 101);
	FAKE_UNTIL(2000, !far.conn->tx.blocked);
	assert_int_equal(poller->blocked, 0);
	assert_int_equal(far_send(&far, 5, 0), 1);
	far_expect(101, 5);
	far_close(&far);
}

static void a_control_frame_follows_the_rest_of_a_packet(void **state)
{
	struct far far = far_open(1);

	assert_int_equal(far_send(&far, TCP_PAYLOAD_MAX, 0), 0);
	assert_int_equal(far_send(&far, 10, 0), 0);
	assert_true(tcp_tx_ctl(far.conn, TCP_WIRE_PARK_NACK));
	far_expect(0, TCP_PAYLOAD_MAX);
	assert_int_equal(far_word(0), (uint64_t) TCP_WIRE_PARK_NACK << 16);
	far_expect(1, 10);
	FAKE_UNTIL(2000, !far.conn->tx.blocked);
	far_none(0);			/* it was sent once */
	far_close(&far);
}

static void a_control_frame_precedes_a_queued_packet(void **state)
{
	struct far far;
	unsigned i, cnt;
	int usual = tcp_conf.stage_size;

	/* The socket takes no further byte: what is staged comes next, then the queue. */
	tcp_conf.stage_size = 0;
	far = far_open(1);
	cnt = send_until_blocked(&far, SMALL);
	assert_non_null(far.conn->tx.stage);
	assert_int_equal(far_send(&far, SMALL, 0), 0);
	assert_true(tcp_tx_ctl(far.conn, TCP_WIRE_PARK));
	/* a second one finds no room once the buffer is full */
	for (i = 1; tcp_tx_ctl(far.conn, TCP_WIRE_PARK_ACK); i++)
		assert_true(i < TCP_STAGE_MIN / TCP_FRAME_SIZE);
	assert_int_equal(i, (TCP_STAGE_MIN - FAR_HEAD - SMALL) / TCP_FRAME_SIZE);
	for (i = 0; i < cnt; i++)
		far_expect(i, SMALL);
	assert_int_equal(far_word(0), (uint64_t) TCP_WIRE_PARK << 16);
	for (i = 1; i < (TCP_STAGE_MIN - FAR_HEAD - SMALL) / TCP_FRAME_SIZE; i++)
		assert_int_equal(far_word(0), (uint64_t) TCP_WIRE_PARK_ACK << 16);
	far_expect(cnt, SMALL);
	far_close(&far);
	tcp_conf.stage_size = usual;
}

static void a_slot_is_sent_by_post_alone(void **state)
{
	struct far far = far_open(1);
	struct fake_hdr hdr = { .seq = 1, .len = 4 };
	uint8_t *slot;

	assert_int_equal(far_send(&far, 20, 0), 1);
	far_expect(0, 20);
	slot = tcp_tx_slot(far.chan, sizeof(hdr) + 4);
	assert_non_null(slot);
	far_none(0);
	assert_ptr_equal(tcp_tx_slot(far.chan, sizeof(hdr) + 4), slot);
	memcpy(slot, &hdr, sizeof(hdr));
	slot[sizeof(hdr)] = fake_byte(1, 0);
	slot[sizeof(hdr) + 1] = fake_byte(1, 1);
	slot[sizeof(hdr) + 2] = fake_byte(1, 2);
	slot[sizeof(hdr) + 3] = fake_byte(1, 3);
	assert_int_equal(tcp_tx_post(far.chan, sizeof(hdr), 4), 1);
	far_expect(1, 4);
	far_none(0);
	far_close(&far);
}

static void in_a_burst_of_the_program_slots_are_staged(void **state)
{
	struct far far = far_open(1);
	struct tcp_poller *poller = far.conn->poller;
	struct fake_hdr hdr = { 0 };
	uint8_t *slot;

	poller->base.app_active = true;
	far.conn->tx.seq = poller->base.seq - 1;
	assert_int_equal(far_send(&far, 0, 0), 1);	/* the first since the poll */
	far_expect(0, 0);
	for (hdr.seq = 1; hdr.seq < 4; hdr.seq++) {
		slot = tcp_tx_slot(far.chan, sizeof(hdr));
		memcpy(slot, &hdr, sizeof(hdr));
		assert_int_equal(tcp_tx_post(far.chan, sizeof(hdr), 0), 1);
	}
	far_none(0);
	tcp_poller_flush(poller);
	far_expect(1, 0);
	far_expect(2, 0);
	far_expect(3, 0);
	far_close(&far);
}

/* has_slot - is there one just after the set was asked?  A test may be interrupted: it tries often. */
static bool has_slot(const struct far *far)
{
	int i;

	for (i = 0; i < 1000; i++) {
		far->conn->poller->asked = clock_cycles();
		if (tcp_tx_slot(far->chan, 20))
			return true;
	}
	return false;
}

static void there_is_no_slot_where_order_or_the_peer_is_in_doubt(void **state)
{
	struct far far = far_open(1);
	struct tcp_poller *poller = far.conn->poller;

	assert_int_equal(far_send(&far, 20, 0), 1);
	assert_non_null(tcp_tx_slot(far.chan, 20));
	far.chan->base.state = CHAN_PARKING;
	assert_null(tcp_tx_slot(far.chan, 20));
	far.chan->base.state = CHAN_READY;
	/* not polled since the last send: the peer may have closed, unless the set was asked just now */
	fake_poll();
	far.conn->active = false;
	poller->asked_seq = poller->base.seq;
	poller->asked_all = true;
	far.conn->used_seq = poller->base.seq - 1;
	assert_true(has_slot(&far));
	poller->asked_all = false;
	assert_false(has_slot(&far));		/* it had more to report */
	far.conn->used_seq = poller->base.seq;
	assert_true(has_slot(&far));		/* it reported that there is input, and no more */
	far.conn->peer_ended = true;
	assert_false(has_slot(&far));
	far.conn->peer_ended = false;
	assert_true(has_slot(&far));
	poller->asked -= clock_cycles_in_ms();
	assert_null(tcp_tx_slot(far.chan, 20));
	/* a packet is queued */
	assert_int_equal(far_send(&far, TCP_PAYLOAD_MAX, 0), 0);
	far.conn->tx.seq = far.conn->poller->base.seq;
	assert_null(tcp_tx_slot(far.chan, 20));
	far_expect(0, 20);
	far_expect(1, TCP_PAYLOAD_MAX);
	FAKE_UNTIL(2000, far.peer->done_cnt == 2);
	assert_int_equal(far_send(&far, 20, 0), 1);
	assert_non_null(tcp_tx_slot(far.chan, 20));
	tcp_conn_fail(far.conn, FI_ETIMEDOUT, false);
	assert_null(tcp_tx_slot(far.chan, 20));
	far_close(&far);
}

static void a_peer_that_closed_between_polls_is_found_before_a_send(void **state)
{
	struct far far = far_open(1);

	fake_poll();
	far.conn->active = false;
	far.conn->poller->asked = 0;
	close(stream_lane[0].fd);
	stream_lane[0].fd = -1;
	assert_int_equal(far_send(&far, 20, 0), -FI_EAGAIN);
	assert_int_equal(far.conn->state, TCP_CONN_READY);
	FAKE_UNTIL(2000, far.peer->down == 1);
	assert_int_equal(far.peer->err, FI_ECONNRESET);
	fake_close(far.ep, 0);
}

/* The end comes with input: the set reports both, and the next send is not the one that is lost. */
static void a_peer_that_closes_behind_its_last_bytes(void **state)
{
	struct far far = far_open(1);
	struct tcp_poller *poller = far.conn->poller;
	uint8_t byte = 0;

	tcp_poller_deactivate(poller, far.conn);
	assert_int_equal(write(stream_lane[0].fd, &byte, 1), 1);
	close(stream_lane[0].fd);
	stream_lane[0].fd = -1;
	FAKE_UNTIL(2000, far.conn->rx.stash_len == 1);
	assert_true(far.conn->active);
	assert_int_equal(far.conn->used_seq, poller->asked_seq);
	poller->polled_ns = clock_coarse_ns();
	assert_int_equal(far_send(&far, 20, 0), -FI_EAGAIN);
	tcp_poller_deactivate(poller, far.conn);
	poller->asked = clock_cycles();
	assert_int_equal(far_send(&far, 20, 0), -FI_EAGAIN);
	assert_int_equal(far.conn->state, TCP_CONN_READY);
	FAKE_UNTIL(2000, far.peer->down == 1);
	fake_close(far.ep, 0);
}

static void an_error_of_the_socket_ends_the_connection_once(void **state)
{
	struct far far = far_open(1);

	assert_int_equal(far_send(&far, 20, 0), 1);
	close(stream_lane[0].fd);
	assert_int_equal(far_send(&far, 20, 0), -EPIPE);	/* sent since the last poll */
	assert_int_equal(far.conn->state, TCP_CONN_FAILED);
	assert_int_equal(far.conn->err, EPIPE);
	assert_int_equal(tcp_tx_send(far.conn, NULL), -EPIPE);
	assert_int_equal(tcp_tx_framed(far.conn, NULL), -EPIPE);
	assert_int_equal(far.peer->down, 0);		/* not from inside of a send */
	FAKE_UNTIL(2000, far.peer->down);
	fake_poll();
	assert_int_equal(far.peer->down, 1);
	fake_close(far.ep, 0);
}

static void a_stream_is_shut_behind_the_last_byte(void **state)
{
	struct far far = far_open(1);
	uint8_t byte;

	assert_int_equal(far_send(&far, TCP_PAYLOAD_MAX, 0), 0);
	far.conn->tx.shut = true;
	far_expect(0, TCP_PAYLOAD_MAX);
	FAKE_UNTIL(2000, far.peer->done_cnt == 1);
	assert_int_equal(recv(stream_lane[0].fd, &byte, 1, 0), 0);
	far_close(&far);
}

static void staged_bytes_end_with_the_connection(void **state)
{
	struct far far = far_open(1);
	struct tcp_poller *poller = far.conn->poller;
	uint8_t byte;

	assert_int_equal(far_send(&far, 20, ENG_PKT_MORE), 1);
	assert_false(list_empty(&poller->base.dirty));
	far.conn->tx.blocked = true;
	poller->blocked = 1;
	tcp_conn_fail(far.conn, FI_ECONNRESET, false);
	fake_poll();
	assert_int_equal(far.peer->down, 1);
	assert_true(list_empty(&poller->base.dirty));
	assert_int_equal(poller->blocked, 0);
	assert_int_equal(recv(stream_lane[0].fd, &byte, 1, 0), 0);
	far_close(&far);
}

static void a_long_packet_is_divided_among_the_lanes(void **state)
{
	struct far far = far_open(3);
	size_t len = TCP_STRIPE_MIN + 1000, part = len / 3 / 64 * 64;

	assert_int_equal(far_send(&far, len, 0), 1);
	far_head(0, len, TCP_FRAME_STRIPED);
	far_payload(0, 0, 0, part);
	far_payload(1, 0, part, 2 * part);
	far_payload(2, 0, 2 * part, len);

	/* a shorter one, and an eager one, by the first alone */
	assert_int_equal(far_send(&far, TCP_STRIPE_MIN - 1, 0), 1);
	far_expect(1, TCP_STRIPE_MIN - 1);
	tcp_conf.eager_size = TCP_STRIPE_MIN;
	assert_int_equal(far_send(&far, TCP_STRIPE_MIN, 0), 1);
	far_expect(2, TCP_STRIPE_MIN);
	tcp_conf.eager_size = 65536;
	assert_int_equal(far_send(&far, TCP_STRIPE_MIN, 0), 1);
	far_head(3, TCP_STRIPE_MIN, TCP_FRAME_STRIPED);
	far_close(&far);
}

static void the_next_packet_follows_all_parts_of_a_striped_one(void **state)
{
	struct far far = far_open(2);
	size_t half = TCP_PAYLOAD_MAX / 2;
	uint8_t byte;
	int i;

	assert_int_equal(far_send(&far, TCP_PAYLOAD_MAX, 0), 0);
	assert_int_equal(far_send(&far, 10, 0), 0);
	far.conn->tx.shut = true;	/* behind both */
	far_head(0, TCP_PAYLOAD_MAX, TCP_FRAME_STRIPED);
	far_payload(0, 0, 0, half);
	for (i = 0; i < 100; i++)
		fake_poll();
	far_none(0);
	assert_int_equal(far.peer->done_cnt, 0);
	far_payload(1, 0, half, TCP_PAYLOAD_MAX);
	far_expect(1, 10);
	FAKE_UNTIL(2000, far.peer->done_cnt == 2);
	assert_null(far.conn->lanes->base.tx_pkt);
	assert_int_equal(far.conn->poller->blocked, 0);
	assert_int_equal(recv(stream_lane[0].fd, &byte, 1, 0), 0);
	far_close(&far);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_single_packet_leaves_at_once),
		TEST(a_packet_that_is_staged_and_sent_leaves_nothing_to_poll_for),
		TEST(with_more_a_packet_waits_for_the_last_of_the_burst),
		TEST(a_large_packet_follows_what_is_staged),
		TEST(what_does_not_fit_behind_the_stage_sends_it_first),
		TEST(without_staging_every_packet_leaves_at_once),
		TEST(order_is_kept_where_the_socket_is_full),
		TEST(a_control_frame_follows_the_rest_of_a_packet),
		TEST(a_control_frame_precedes_a_queued_packet),
		TEST(a_slot_is_sent_by_post_alone),
		TEST(in_a_burst_of_the_program_slots_are_staged),
		TEST(there_is_no_slot_where_order_or_the_peer_is_in_doubt),
		TEST(a_peer_that_closed_between_polls_is_found_before_a_send),
		TEST(a_peer_that_closes_behind_its_last_bytes),
		TEST(an_error_of_the_socket_ends_the_connection_once),
		TEST(a_stream_is_shut_behind_the_last_byte),
		TEST(staged_bytes_end_with_the_connection),
		TEST(a_long_packet_is_divided_among_the_lanes),
		TEST(the_next_packet_follows_all_parts_of_a_striped_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

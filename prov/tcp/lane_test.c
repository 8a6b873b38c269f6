/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Lanes: long packets over several connections arrive as over one, and the loss of any
 * is the loss of the peer.
 */
#include "tcp/test/script.h"
#include "tcp/test/stream_check.h"

#define LONG (TCP_STRIPE_MIN + 100000)

static int start_lanes(void **state)
{
	fake_start();
	tcp_conf.lanes = 3;
	return 0;
}

static int stop_lanes(void **state)
{
	tcp_conf.lanes = 1;
	return stop(state);
}

static struct tcp_conn *conn_of(struct eng_peer *peer)
{
	return ((struct chan *) eng_peer_chan(peer))->conn;
}

static bool has_lanes(struct eng_peer *peer)
{
	return conn_of(peer) && tcp_lanes_are(conn_of(peer), TCP_CONN_READY);
}

static bool all_here(struct eng_peer *ab, struct eng_peer *ba)
{
	pull_both(ab->ep, ba->ep);
	return ba->rx_cnt == ab->tx_seq && ab->rx_cnt == ba->tx_seq &&
	       ab->done_cnt == ab->tx_seq && ba->done_cnt == ba->tx_seq;
}

/* meet - long packets go both ways until both sides have their lanes. */
static void meet(struct eng_peer *ab, struct eng_peer *ba)
{
	uint64_t until = clock_deadline(60000);

	do {
		assert_true(clock_ns() < until);
		fake_send(ab, LONG, 0);
		fake_send(ba, LONG, 0);
		FAKE_UNTIL(15000, all_here(ab, ba));
	} while (!has_lanes(ab) || !has_lanes(ba));
}

static void packets_of_every_size_arrive_in_order(void **state)
{
	struct eng_ep *a = fake_ep(FI_EP_RDM, 0), *b = fake_ep(FI_EP_RDM, 0);
	struct eng_peer *ab = peer_at(a, b), *ba = peer_at(b, a);
	size_t i;

	meet(ab, ba);
	for (i = 0; i < 400; i++) {
		fake_send(i % 3 ? ab : ba,
			  fake_draw() % 2 ? fake_draw() % 3000 : fake_draw() % (TCP_PAYLOAD_MAX + 1),
			  fake_draw() % 4 ? 0 : ENG_PKT_MORE);
		if (fake_draw() % 6 == 0) {
			fake_poll();
			pull_both(a, b);
		}
		if (i % 100 == 0)
			a->later = b->later = (unsigned) (fake_draw() % 30);
	}
	a->later = b->later = 0;
	FAKE_UNTIL(20000, all_here(ab, ba));
	assert_int_equal(ab->down + ba->down, 0);
	assert_int_equal(conn_of(ab)->lanes->base.cnt, 3);
	assert_true(conn_of(ab)->lanes->base.path[2].sent && conn_of(ba)->lanes->base.path[2].sent);
	fake_close(a, 100);
	fake_close(b, 100);
}

/* send_long - @cnt packets: all long enough to be striped, or of any length. */
static void send_long(struct eng_peer *peer, size_t cnt)
{
	fake_send(peer, LONG, 0);
	FAKE_UNTIL(10000, peer->done_cnt);
	fake_send(peer, LONG, 0);
	FAKE_UNTIL(10000, cnt % 2 || has_lanes(peer));
	while (peer->tx_seq < cnt)
		fake_send(peer, TCP_PAYLOAD_MAX, 0);
}

static void what_was_sent_before_close_arrives(void **state)
{
	size_t cnt;

	for (cnt = 9; cnt < 15; cnt++)
		assert_int_equal(sent_before_close(send_long, cnt), cnt);
}

static void tear(struct tcp_conn *conn)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };

	assert_int_equal(connect(conn->src.fd, &none, sizeof(none)), 0);
}

static void new_life(struct eng_peer *peer)
{
	peer->done_cnt = peer->lost_cnt = peer->rx_cnt = 0;
	peer->down = peer->up = 0;
}

static void the_loss_of_one_is_the_loss_of_the_peer(void **state)
{
	struct eng_ep *a = fake_ep(FI_EP_RDM, 0), *b = fake_ep(FI_EP_RDM, 0);
	struct eng_peer *ab = peer_at(a, b), *ba = peer_at(b, a);
	uint64_t sent;
	int round;
	size_t i;

	for (round = 0; round < 30; round++) {
		meet(ab, ba);
		sent = ab->tx_seq;
		for (i = round % 5 ? fake_draw() % 20 : 0; i; i--, sent++) {
			fake_send(ab, fake_draw() % (TCP_PAYLOAD_MAX + 1), 0);
			if (fake_draw() % 3 == 0)
				fake_poll();
		}
		tear(tcp_lane(conn_of(round % 2 ? ab : ba)->lanes, (unsigned) round % 3));
		FAKE_UNTIL(15000, (pull_both(a, b), ab->down && ba->down));
		assert_true(ab->down == 1 && ba->down == 1);
		assert_int_equal(ab->done_cnt + ab->lost_cnt, sent);
		assert_int_equal(a->placing + b->placing, 0);
		new_life(ab);
		new_life(ba);
	}
	fake_close(a, 100);
	fake_close(b, 100);
}

static void they_are_parked_together(void **state)
{
	struct eng_ep *a = fake_ep(FI_EP_RDM, 0), *b = fake_ep(FI_EP_RDM, 0);
	struct tcp_poller *poller = container_of(a->link, struct tcp_link, base.base)->poller;
	struct eng_peer *ab = peer_at(a, b), *ba = peer_at(b, a);
	int round;

	for (round = 0; round < 10; round++) {
		meet(ab, ba);
		assert_true(chan_park_want(&poller->base, 1 + (unsigned) round % 2));
		if (round % 3)
			fake_send(ba, LONG, 0);
		else
			FAKE_UNTIL(15000, !conn_of(ab) && !conn_of(ba));
		FAKE_UNTIL(15000, all_here(ab, ba));
	}
	assert_int_equal(ab->down + ba->down, 0);
	fake_close(a, 100);
	fake_close(b, 100);
}

/* Each round another number of bytes is there when the others' parts are read. */
static void parts_come_in_any_order(void **state)
{
	struct eng_ep *a = fake_ep(FI_EP_RDM, 0);
	struct script script = script_open();
	struct eng_peer *peer = fake_peer(a, &script.addr);
	size_t part, at, len, cnt, i;
	uint8_t *frame = malloc(TCP_PAYLOAD_MAX + 100);
	struct fake_hdr hdr = { 0 };
	struct tcp_hello hello;
	int fd[3], k, lane;

	/* the script made the first connection, so it makes the lanes */
	script.hello.max_payload = TCP_PAYLOAD_MAX;
	script.hello.lanes = 3;
	for (k = 0; k < 3; k++) {
		script.hello.type = TCP_WIRE_HELLO;
		script.hello.lane = (uint8_t) k;
		fd[k] = script_connect(a);
		script_send(&script, fd[k]);
		assert_true(script_recv(fd[k], &hello));
		assert_int_equal(hello.type, TCP_WIRE_WELCOME);
		assert_int_equal(hello.lanes, 3);
	}
	assert_true(has_lanes(peer));
	/* a lane that there is, or that was not agreed */
	for (k = 1; k < 5; k++) {
		script.hello.lane = (uint8_t) k;
		lane = script_connect(a);
		script_send(&script, lane);
		assert_true(script_recv(lane, &hello));
		assert_int_equal(hello.type, TCP_WIRE_REFUSE);
		assert_int_equal(hello.reason, CHAN_NO_USE);
		close(lane);
	}
	for (; hdr.seq < 60; hdr.seq++) {
		hdr.len = len = TCP_STRIPE_MIN + fake_draw() % 100000;
		tcp_frame_put(frame, sizeof(hdr) | TCP_FRAME_STRIPED, len);
		memcpy(frame + TCP_FRAME_SIZE, &hdr, sizeof(hdr));
		for (i = 0; i < len; i++)
			frame[TCP_FRAME_SIZE + sizeof(hdr) + i] = fake_byte(hdr.seq, i);
		a->later = (unsigned) (fake_draw() % 40);
		for (k = (int) (fake_draw() % 3), cnt = 0; cnt < 3; cnt++, k = (k + 1) % 3) {
			at = chan_stripe_at(len, 3, (unsigned) k) + (k ? TCP_FRAME_SIZE + sizeof(hdr) : 0);
			part = chan_stripe_at(len, 3, (unsigned) k + 1) + TCP_FRAME_SIZE + sizeof(hdr) - at;
			for (lane = fd[k]; part; at += i, part -= i) {
				ssize_t ret = send(lane, frame + at, fake_draw() % part + 1, MSG_NOSIGNAL);

				i = ret > 0 ? (size_t) ret : 0;
				fake_poll();
				fake_pull_some(a);
			}
		}
	}
	FAKE_UNTIL(15000, (fake_pull_some(a), peer->rx_cnt == 60));
	assert_int_equal(peer->down, 0);
	for (k = 0; k < 3; k++)
		close(fd[k]);
	FAKE_UNTIL(15000, peer->down);
	free(frame);
	close(script.listener);
	fake_close(a, 0);
}

/* An older one says nothing of lanes, and another may have none to spare. */
static void who_wants_fewer_decides(void **state)
{
	struct eng_ep *a = fake_ep(FI_EP_RDM, 0);
	struct script script = script_open();
	struct eng_peer *peer = fake_peer(a, &script.addr);
	struct tcp_hello hello, lane;
	int fd, extra, lanes;
	char buf[65536];

	for (lanes = 0; lanes < 3; lanes++) {
		fake_send(peer, 10, 0);
		fd = script_accept(&script);
		assert_true(script_recv(fd, &hello));
		assert_int_equal(hello.lanes, 3);
		assert_int_equal(hello.lane, 0);
		script.hello.lanes = (uint8_t) lanes;
		script_answer(&script, fd, &hello, TCP_WIRE_WELCOME, CHAN_OK);
		FAKE_UNTIL(15000, peer->up);
		fake_send(peer, LONG, 0);
		if (lanes == 2) {
			extra = script_accept(&script);
			assert_true(script_recv(extra, &lane));
			assert_int_equal(lane.lane, 1);
			assert_int_equal(lane.serial, hello.serial);
			assert_int_equal(lane.epoch, hello.epoch);
			script_answer(&script, extra, &lane, TCP_WIRE_REFUSE, CHAN_NO_USE);
			FAKE_UNTIL(15000, recv(extra, buf, sizeof(buf), 0) == 0);
			close(extra);
			assert_null(tcp_lane(conn_of(peer)->lanes, 1));
		} else {
			assert_null(conn_of(peer)->lanes);
		}
		fake_send(peer, LONG, 0);
		FAKE_UNTIL(15000, (recv(fd, buf, sizeof(buf), 0), peer->done_cnt == 3));
		assert_int_equal(peer->down, 0);
		close(fd);
		FAKE_UNTIL(15000, peer->down);
		new_life(peer);
	}
	close(script.listener);
	fake_close(a, 0);
}

static void lanes_of_nothing_are_refused(void **state)
{
	struct eng_ep *a = fake_ep(FI_EP_RDM, 0);
	struct script script = script_open();
	struct eng_peer *peer = fake_peer(a, &script.addr);
	uint8_t frame[TCP_FRAME_SIZE + sizeof(struct fake_hdr)] = { 0 };
	struct tcp_hello hello;
	int fd = -1, extra, i;

	script.hello.max_payload = TCP_PAYLOAD_MAX;
	script.hello.lanes = 2;
	for (i = 0; i < 4; i++) {
		/* before there is a first one, of another call or life, beyond what is agreed */
		script.hello.serial = i == 1 ? 7 : 1;
		script.hello.epoch = i == 2 ? 9 : 1;
		script.hello.lane = i == 3 ? 2 : 1;
		extra = script_connect(a);
		script_send(&script, extra);
		assert_true(script_recv(extra, &hello));
		assert_int_equal(hello.type, TCP_WIRE_REFUSE);
		assert_int_equal(hello.reason, CHAN_NO_USE);
		close(extra);
		if (i)
			continue;
		script.hello.lane = 0;
		fd = script_connect(a);
		script_send(&script, fd);
		assert_true(script_recv(fd, &hello));
		assert_int_equal(hello.type, TCP_WIRE_WELCOME);
	}
	/* a frame for lanes that were never made */
	tcp_frame_put(frame, sizeof(struct fake_hdr) | TCP_FRAME_STRIPED, LONG);
	assert_int_equal(send(fd, frame, sizeof(frame), MSG_NOSIGNAL), sizeof(frame));
	FAKE_UNTIL(15000, peer->down == 1);
	assert_int_equal(peer->err, FI_EPROTO);
	close(fd);
	close(script.listener);
	fake_close(a, 0);
}

static void no_stream_does_harm(void **state)
{
	struct eng_ep *a = fake_ep(FI_EP_RDM, 0);
	uint64_t dice = 7;
	uint8_t bytes[300];
	size_t i, k;

	tcp_conf.lanes = STREAM_LANES;
	for (i = 0; i < 100; i++) {
		fake_seed = dice;
		for (k = 0; k < sizeof(bytes); k++)
			bytes[k] = (uint8_t) (fake_draw() >> 3) & (i % 3 ? 0x7f : 0xff);
		dice = fake_seed;
		check_stream(a, bytes, 20 + (size_t) (dice % 280));
	}
	fake_close(a, 0);
}

#undef TEST
#define TEST(name) cmocka_unit_test_setup_teardown(name, start_lanes, stop_lanes)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(packets_of_every_size_arrive_in_order),
		TEST(what_was_sent_before_close_arrives),
		TEST(the_loss_of_one_is_the_loss_of_the_peer),
		TEST(they_are_parked_together),
		TEST(parts_come_in_any_order),
		TEST(who_wants_fewer_decides),
		TEST(lanes_of_nothing_are_refused),
		TEST(no_stream_does_harm),
	};

	return cmocka_run_group_tests_name("tcp_lane", tests, NULL, NULL);
}

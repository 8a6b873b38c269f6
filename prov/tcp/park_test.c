/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Parking: idle connections end by agreement and come back, and no packet notices.
 */
#include "tcp/test/script.h"

static struct tcp_chan *chan_at(struct eng_peer *peer)
{
	return eng_peer_chan(peer);
}

static struct tcp_poller *poller_of(struct eng_ep *ep)
{
	return container_of(ep->link, struct tcp_link, base.base)->poller;
}

static bool is_parked(struct eng_peer *peer)
{
	return chan_at(peer)->base.state == CHAN_PARKED;
}

/* send_all - one packet in each direction. */
static void send_all(struct eng_ep *a, struct eng_ep *b)
{
	struct eng_peer *ab = peer_at(a, b), *ba = peer_at(b, a);
	uint64_t at_b = ba->rx_cnt + 1, at_a = ab->rx_cnt + 1;

	fake_send(ab, 100, 0);
	FAKE_UNTIL(15000, (pull_both(a, b), ba->rx_cnt == at_b));
	fake_send(ba, 20000, 0);
	FAKE_UNTIL(15000, (pull_both(a, b), ab->rx_cnt == at_a && ba->done_cnt == ba->tx_seq));
}

/* park - have one connection of @a's group closed. */
static void park(struct eng_ep *a, struct eng_peer *ab, unsigned cnt)
{
	assert_true(chan_park_want(&poller_of(a)->base, cnt));
	FAKE_UNTIL(15000, is_parked(ab));
}

static void an_idle_connection_ends_and_comes_back(void **state)
{
	struct eng_ep *a = fake_ep(FI_EP_RDM, 0), *b = fake_ep(FI_EP_RDM, 0);
	struct eng_peer *ab = peer_at(a, b), *ba = peer_at(b, a);
	int round;

	send_all(a, b);
	for (round = 0; round < 40; round++) {
		/* one asks, or both do at the same time */
		park(a, ab, 1 + (unsigned) round % 2);
		FAKE_UNTIL(15000, is_parked(ba));
		assert_null(chan_at(ab)->base.conn);
		if (round % 4 < 2)
			send_all(a, b);
		else
			send_all(b, a);
		assert_false(is_parked(ab) || is_parked(ba));
	}
	assert_int_equal(ab->down + ba->down, 0);
	assert_int_equal(ab->up + ba->up, 2);
	fake_close(a, 100);
	fake_close(b, 100);
}

static void what_is_sent_meanwhile_waits(void **state)
{
	struct eng_ep *a = fake_ep(FI_EP_RDM, 0), *b = fake_ep(FI_EP_RDM, 0);
	struct eng_peer *ab = peer_at(a, b), *ba = peer_at(b, a);
	int round, i;

	send_all(a, b);
	for (round = 0; round < 100; round++) {
		chan_park_want(&poller_of(a)->base, 1 + fake_draw() % 2);
		for (i = (int) (fake_draw() % 40); i; i--) {
			fake_poll();
			if (fake_draw() % 8 == 0)
				fake_send(fake_draw() % 2 ? ab : ba, fake_draw() % 70000,
					  fake_draw() % 2 ? ENG_PKT_MORE : 0);
			if (fake_draw() % 4 == 0)
				usleep(fake_draw() % 500);
		}
		pull_both(a, b);
	}
	FAKE_UNTIL(15000, (pull_both(a, b), ba->rx_cnt == ab->tx_seq && ab->rx_cnt == ba->tx_seq &&
			   ab->done_cnt == ab->tx_seq && ba->done_cnt == ba->tx_seq));
	assert_int_equal(ab->down + ba->down, 0);
	fake_close(a, 100);
	fake_close(b, 100);
}

static void few_connections_serve_many_peers(void **state)
{
	enum { N = 12, MAX = 6 };
	uint64_t sent = 0, got, until;
	struct eng_ep *a, *b[N];
	unsigned ready, i, k;

	tcp_conf.max_conns = MAX;
	a = fake_ep(FI_EP_RDM, 0);
	for (i = 0; i < N; i++)
		b[i] = fake_ep(FI_EP_RDM, 0);
	for (k = 0; k < 600; k++) {
		i = (unsigned) (fake_draw() % N);
		if (k % 3)
			fake_send(peer_at(a, b[i]), fake_draw() % 3000, 0);
		else
			fake_send(peer_at(b[i], a), fake_draw() % 30000, 0);
		sent++;
		if (k % 20 == 0)	/* one that talks to itself counts, too */
			fake_send(peer_at(b[i], b[i]), 8, 0), sent++;
		for (i = (unsigned) (fake_draw() % 8); i; i--)
			fake_poll();
		fake_pull_some(a);
	}
	until = fake_spent_ns() + 60 * CLOCK_NS_PER_S;
	do {
		assert_true(fake_spent_ns() < until);
		fake_poll();
		fake_pull_some(a);
		for (i = 0, got = 0; i < N; i++) {
			fake_pull_some(b[i]);
			got += peer_at(a, b[i])->rx_cnt + peer_at(b[i], a)->rx_cnt +
			       peer_at(b[i], b[i])->rx_cnt;
			assert_int_equal(peer_at(a, b[i])->down + peer_at(b[i], a)->down, 0);
			assert_int_equal(peer_at(b[i], b[i])->down, 0);
		}
	} while (got < sent);
	/* idle now: they are parked when another connection needs a descriptor */
	for (ready = N; ready > MAX / 2;) {
		assert_true(fake_spent_ns() < until);
		chan_park_want(&poller_of(a)->base, 8);
		fake_poll();
		for (i = 0, ready = 0; i < N; i++)
			ready += chan_at(peer_at(a, b[i]))->base.state == CHAN_READY;
	}
	tcp_conf.max_conns = 0;
	fake_close(a, 100);
	for (i = 0; i < N; i++)
		fake_close(b[i], 100);
}

/* One that an operation waits on goes last, and death is noticed nevertheless. */
static void who_waits_goes_last(void **state)
{
	struct eng_ep *a, *b, *c;
	struct eng_peer *ab, *ac;
	int was = (int) tcp_conf.keepalive.idle_s;

	tcp_conf.keepalive.idle_s = 1;
	a = fake_ep(FI_EP_RDM, 0);
	b = fake_ep(FI_EP_RDM, 0);
	c = fake_ep(FI_EP_RDM, 0);
	ab = peer_at(a, b);
	ac = peer_at(a, c);
	send_all(a, b);
	send_all(a, c);
	ab->done_cnt--;			/* an operation that the loss of the peer would end */
	peer_at(b, a)->done_cnt--;
	park(a, ac, 8);
	assert_int_equal(chan_at(ab)->base.state, CHAN_READY);
	assert_true(chan_park_must(&poller_of(a)->base));
	FAKE_UNTIL(15000, is_parked(ab));
	FAKE_UNTIL(15000, chan_at(ab)->base.state == CHAN_READY);	/* looked after */
	assert_true(chan_park_must(&poller_of(a)->base));
	FAKE_UNTIL(15000, is_parked(ab) && is_parked(peer_at(b, a)));
	peer_at(b, a)->done_cnt++;
	fake_close(b, 0);
	tcp_conf.conn_retry_ms = 100;
	FAKE_UNTIL(15000, ab->down == 1);
	assert_int_equal(ac->down, 0);
	ab->tx_seq = ab->done_cnt = 0;
	tcp_conf.keepalive.idle_s = (unsigned) was;
	fake_close(a, 100);
	fake_close(c, 100);
}

/* The peer is another process when it is needed again: what was between the two is lost. */
static void a_peer_that_restarts_meanwhile_is_lost(void **state)
{
	struct eng_ep *a = fake_ep(FI_EP_RDM, 0), *b = fake_ep(FI_EP_RDM, 0);
	struct eng_peer *ab = peer_at(a, b);
	uint16_t port = net_addr_port(&ab->addr.sa);

	send_all(a, b);
	park(a, ab, 1);
	FAKE_UNTIL(15000, is_parked(peer_at(b, a)));
	fake_close(b, 0);
	b = fake_ep(FI_EP_RDM, port);
	fake_send(ab, 10, 0);
	FAKE_UNTIL(15000, ab->down == 1);
	assert_int_equal(ab->err, FI_ECONNRESET);
	assert_int_equal(ab->lost_cnt, 1);
	ab->lost_cnt = ab->done_cnt = ab->rx_cnt = 0;
	FAKE_UNTIL(15000, peer_at(b, a)->down);
	memset(peer_at(b, a)->chan, 0, sizeof(ab->chan));
	peer_at(b, a)->rx_cnt = 0;
	send_all(a, b);
	/* the other direction: it connects */
	park(a, ab, 1);
	FAKE_UNTIL(15000, is_parked(peer_at(b, a)));
	fake_close(b, 0);
	b = fake_ep(FI_EP_RDM, port);
	fake_send(peer_at(b, a), 10, 0);
	FAKE_UNTIL(15000, ab->down == 2);
	FAKE_UNTIL(15000, (fake_pull_some(a), ab->rx_cnt == 2));
	fake_close(a, 100);
	fake_close(b, 100);
}

static void script_ctl(int fd, enum tcp_wire_ctl ctl)
{
	uint8_t buf[TCP_FRAME_SIZE];

	tcp_frame_put(buf, 0, ctl);
	assert_int_equal(send(fd, buf, sizeof(buf), MSG_NOSIGNAL), sizeof(buf));
}

/* script_meet - connect to @peer, which is @script, and let it answer. */
static int script_meet(struct script *script, struct eng_peer *peer, uint8_t features)
{
	struct tcp_hello hello;
	int fd;

	fake_send(peer, 10, 0);
	fd = script_accept(script);
	assert_true(script_recv(fd, &hello));
	assert_true(hello.features & TCP_WIRE_CAN_PARK);
	script->hello.features = features;
	script_answer(script, fd, &hello, TCP_WIRE_WELCOME, CHAN_OK);
	FAKE_UNTIL(15000, peer->up && peer->done_cnt == peer->tx_seq);
	return fd;
}

static void who_does_not_know_how_is_not_asked(void **state)
{
	struct eng_ep *a = fake_ep(FI_EP_RDM, 0);
	struct script script = script_open();
	struct eng_peer *peer = fake_peer(a, &script.addr);
	int fd = script_meet(&script, peer, 0);

	assert_false(chan_park_want(&poller_of(a)->base, 1));
	/* nor does it make sense from it */
	script_ctl(fd, TCP_WIRE_PARK);
	FAKE_UNTIL(15000, peer->down == 1);
	assert_int_equal(peer->err, FI_EPROTO);
	close(fd);
	close(script.listener);
	fake_close(a, 0);
}

static void an_answer_that_was_not_asked_for_ends_it(void **state)
{
	static const enum tcp_wire_ctl ctl[] = { TCP_WIRE_PARK_ACK, TCP_WIRE_PARK_NACK, 0, 4 };
	struct eng_ep *a = fake_ep(FI_EP_RDM, 0);
	struct script script = script_open();
	struct eng_peer *peer = fake_peer(a, &script.addr);
	size_t i;
	int fd;

	for (i = 0; i < sizeof(ctl) / sizeof(ctl[0]); i++) {
		peer->up = peer->down = 0;
		peer->done_cnt = peer->lost_cnt = 0;
		fd = script_meet(&script, peer, TCP_WIRE_CAN_PARK);
		script_ctl(fd, ctl[i]);
		FAKE_UNTIL(15000, peer->down);
		assert_int_equal(peer->err, FI_EPROTO);
		close(fd);
	}
	close(script.listener);
	fake_close(a, 0);
}

/* The peer does not consent, because it has packets in flight. */
static void a_peer_may_want_to_stay(void **state)
{
	struct eng_ep *a = fake_ep(FI_EP_RDM, 0);
	struct script script = script_open();
	struct eng_peer *peer = fake_peer(a, &script.addr);
	int fd = script_meet(&script, peer, TCP_WIRE_CAN_PARK);
	size_t head = TCP_FRAME_SIZE + sizeof(struct fake_hdr), got = 0;
	uint8_t buf[256];
	ssize_t ret;

	assert_true(chan_park_want(&poller_of(a)->base, 1));
	FAKE_UNTIL(15000, chan_at(peer)->base.state == CHAN_PARKING);
	fake_send(peer, 20, 0);
	fake_send(peer, 30, 0);
	script_ctl(fd, TCP_WIRE_PARK_NACK);
	FAKE_UNTIL(15000, peer->done_cnt == 3);
	/* the packet before, the question, and what had to wait */
	while (got < 3 * head + 60 + TCP_FRAME_SIZE) {
		fake_poll();
		ret = recv(fd, buf + got, sizeof(buf) - got, 0);
		got += ret > 0 ? (size_t) ret : 0;
	}
	assert_int_equal(tcp_frame_ctl(buf + head + 10, got - head - 10), TCP_WIRE_PARK);
	assert_int_equal(chan_at(peer)->base.state, CHAN_READY);
	close(fd);
	close(script.listener);
	fake_close(a, 0);
}

/* What a script has read and not looked at yet. */
struct script_in {
	size_t have;
	uint64_t skip;			/* payload that comes first */
	uint8_t buf[65536];
};

/* next_frame - go over one frame of what has been read; false: it is not all there.
 * @ctl_p: [out] the control frame, or 0
 */
static bool next_frame(struct script_in *in, size_t *at_p, unsigned *ctl_p)
{
	size_t part = in->have - *at_p, hdr_len = 0;
	uint64_t len = 0;
	bool striped;

	if (part > in->skip)
		part = in->skip;
	in->skip -= part;
	*at_p += part;
	if (tcp_frame_get(in->buf + *at_p, in->have - *at_p, TCP_PAYLOAD_MAX, &hdr_len, &len, &striped) ==
	    TCP_FRAME_MORE)
		return false;
	*ctl_p = tcp_frame_ctl(in->buf + *at_p, in->have - *at_p);
	assert_true(hdr_len || *ctl_p);
	*at_p += TCP_FRAME_SIZE + hdr_len;
	in->skip = len;
	return true;
}

/* script_await - read frames until @ctl has arrived. */
static void script_await(int fd, struct script_in *in, unsigned ctl)
{
	uint64_t until = fake_spent_ns() + 60 * CLOCK_NS_PER_S;
	unsigned got = 0;
	ssize_t ret;
	size_t at;

	while (got != ctl) {
		assert_true(fake_spent_ns() < until);
		fake_poll();
		ret = recv(fd, in->buf + in->have, sizeof(in->buf) - in->have, 0);
		in->have += ret > 0 ? (size_t) ret : 0;
		for (at = 0; got != ctl && next_frame(in, &at, &got);)
			;
		in->have -= at;
		memmove(in->buf, in->buf + at, in->have);
	}
}

/* The peer asks in the middle of a packet, and the answer comes after that. */
static void an_answer_does_not_cut_a_packet(void **state)
{
	struct eng_ep *a = fake_ep(FI_EP_RDM, 0);
	struct script script = script_open();
	struct eng_peer *peer = fake_peer(a, &script.addr);
	static struct script_in in;
	int fd, i, k, little = 65536;

	/* or the system takes all of it, sooner or later */
	assert_int_equal(setsockopt(script.listener, SOL_SOCKET, SO_RCVBUF, &little, sizeof(little)), 0);
	script.hello.max_payload = TCP_PAYLOAD_MAX;
	fd = script_meet(&script, peer, TCP_WIRE_CAN_PARK);
	for (i = 0; i < 10; i++) {
		for (k = 0; k < 8; k++)
			fake_send(peer, TCP_PAYLOAD_MAX - (fake_draw() % 5000), 0);
		assert_false(list_empty(&chan_at(peer)->base.pending));
		script_ctl(fd, TCP_WIRE_PARK);
		for (k = 0; k < 20; k++)
			fake_poll();
		script_await(fd, &in, TCP_WIRE_PARK_NACK);
	}
	close(fd);
	close(script.listener);
	fake_close(a, 0);
}

/* The peer has consented and connects again before its consent has been read. */
static void a_new_connect_does_not_overtake_the_answer(void **state)
{
	struct eng_ep *a = fake_ep(FI_EP_RDM, 0);
	struct script script = script_open();
	struct eng_peer *peer = fake_peer(a, &script.addr);
	int fd = script_meet(&script, peer, TCP_WIRE_CAN_PARK), call;
	struct tcp_hello hello;

	assert_true(chan_park_want(&poller_of(a)->base, 1));
	FAKE_UNTIL(15000, chan_at(peer)->base.state == CHAN_PARKING);
	script.hello.type = TCP_WIRE_HELLO;
	script.hello.features = TCP_WIRE_CAN_PARK | TCP_WIRE_RESUMES;
	call = script_connect(a);
	script_send(&script, call);
	assert_true(script_recv(call, &hello));
	assert_int_equal(hello.reason, CHAN_NOT_YET);
	close(call);
	script_ctl(fd, TCP_WIRE_PARK_ACK);
	FAKE_UNTIL(15000, is_parked(peer));
	call = script_connect(a);
	script_send(&script, call);
	assert_true(script_recv(call, &hello));
	assert_int_equal(hello.type, TCP_WIRE_WELCOME);
	assert_true(hello.features & TCP_WIRE_RESUMES);
	assert_int_equal(peer->down, 0);
	close(fd);
	close(call);
	close(script.listener);
	fake_close(a, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_idle_connection_ends_and_comes_back),
		TEST(what_is_sent_meanwhile_waits),
		TEST(few_connections_serve_many_peers),
		TEST(who_waits_goes_last),
		TEST(a_peer_that_restarts_meanwhile_is_lost),
		TEST(who_does_not_know_how_is_not_asked),
		TEST(an_answer_that_was_not_asked_for_ends_it),
		TEST(a_peer_may_want_to_stay),
		TEST(an_answer_does_not_cut_a_packet),
		TEST(a_new_connect_does_not_overtake_the_answer),
	};

	return cmocka_run_group_tests_name("tcp_park", tests, NULL, NULL);
}

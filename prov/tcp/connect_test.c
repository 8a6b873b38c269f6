/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Connects between RDM endpoints: simultaneous, refused, unanswered, lost; between two
 * endpoints, and between one and a socket that follows a script.
 */
#include "tcp/test/script.h"

/* ---- simultaneous -------------------------------------------------------------------- */

static struct eng_ep *new_ep(union net_sa *name)
{
	struct eng_ep *ep = fake_ep(FI_EP_RDM, 0);

	*name = fake_name(ep->link);
	return ep;
}

static void simultaneous_connects_end_with_one_connection(void **state)
{
	fake_simultaneous(new_ep, 200);
}

static void two_processes_connect_at_once(void **state)
{
	fake_two_processes(new_ep, 100);
}

static void simultaneous_connects_are_decided_by_address(void **state)
{
	int first, rounds = 0, seen[2] = { 0, 0 };

	/* until both orders of the two ports have come up */
	while (!seen[0] || !seen[1]) {
		struct eng_ep *a = fake_ep(FI_EP_RDM, 0);
		struct script script = script_open();
		struct eng_peer *peer = fake_peer(a, &script.addr);
		union net_sa name = fake_name(a->link);
		struct tcp_hello hello;
		uint64_t serial;	/* of the attempt of @a */
		int theirs, ours;

		assert_true(rounds++ < 200);
		fake_send(peer, 10, 0);
		ours = script_accept(&script);
		assert_true(script_recv(ours, &hello));
		assert_int_equal(hello.type, TCP_WIRE_HELLO);
		serial = hello.serial;
		first = net_addr_cmp(&name.sa, &script.addr.sa) < 0;
		seen[first]++;
		theirs = script_connect(a);
		script_send(&script, theirs);
		assert_true(script_recv(theirs, &hello));
		if (first) {
			assert_int_equal(hello.type, TCP_WIRE_REFUSE);
			assert_int_equal(hello.reason, CHAN_SIMULTANEOUS);
			/* accepted now; a simultaneous HELLO that is read later is still refused */
			script.hello.type = TCP_WIRE_WELCOME;
			script.hello.serial = serial;
			script_send(&script, ours);
			FAKE_UNTIL(2000, peer->up);
			script.hello.type = TCP_WIRE_HELLO;
			script.hello.serial = 1;
			close(theirs);
			theirs = script_connect(a);
			script_send(&script, theirs);
			assert_true(script_recv(theirs, &hello));
			assert_int_equal(hello.reason, CHAN_SIMULTANEOUS);
		} else {
			assert_int_equal(hello.type, TCP_WIRE_WELCOME);
			assert_false(script_recv(ours, &hello));	/* aborted */
		}
		assert_int_equal(peer->up, 1);
		assert_int_equal(peer->down, 0);
		/* it has lost the connection and connects again: it names the old connection ... */
		close(theirs);
		close(ours);
		theirs = script_connect(a);
		script.hello.serial = 2;
		script.hello.prev = serial;
		script_send(&script, theirs);
		FAKE_UNTIL(2000, peer->up == 2);
		assert_int_equal(peer->down, 1);
		/* ... or none, because it is another process now */
		close(theirs);
		ours = script_connect(a);
		script.hello.epoch = 2;
		script.hello.serial = 1;
		script.hello.prev = 0;
		script_send(&script, ours);
		FAKE_UNTIL(2000, peer->up == 3);
		assert_int_equal(peer->down, 2);
		close(ours);
		close(script.listener);
		fake_close(a, 0);
	}
}

/* ---- another process claims the address of a connected peer ------------------------------ */

/* claim - request a connection as the endpoint of @script.  Returns the answer's reason; CHAN_OK: it
 * was accepted, and @fd_p is the connection.
 */
static uint32_t claim(struct eng_ep *ep, struct script *script, int *fd_p)
{
	struct tcp_hello hello;
	int fd = script_connect(ep);

	script->hello.type = TCP_WIRE_HELLO;
	script->hello.reason = CHAN_OK;
	script_send(script, fd);
	assert_true(script_recv(fd, &hello));
	if (hello.type == TCP_WIRE_WELCOME)
		*fd_p = fd;
	else
		close(fd);
	return hello.reason;
}

static void the_place_of_a_live_peer_is_not_taken(void **state)
{
	struct eng_ep *a = fake_ep(FI_EP_RDM, 0), *b = fake_ep(FI_EP_RDM, 0);
	struct eng_peer *ab = peer_at(a, b), *ba;
	struct script script = script_open();
	uint64_t until = clock_deadline(2500), sent = 0;
	int fd, refused = 0;

	assert_int_equal(fake_send(ab, 10, 0), 0);
	FAKE_UNTIL(2000, ab->up && !list_empty(&b->peers));
	ba = container_of(b->peers.next, struct eng_peer, node);
	FAKE_UNTIL(2000, (pull_both(a, b), ba->rx_cnt == 1));
	/* in other lives, which know nothing, and in the life of @b itself */
	script.hello.addr = fake_name(b->link);
	while (clock_ns() < until) {
		script.hello.epoch = refused % 2 ? (uint64_t) refused + 2 : chan_link_of(b->link)->epoch;
		script.hello.serial = refused % 3 ? 1 : UINT64_MAX;
		script.hello.prev = refused % 3 == 1 ? 0 : UINT64_MAX;
		assert_int_not_equal(claim(a, &script, &fd), CHAN_OK);
		refused++;
		assert_true(fake_send(ab, 10, 0) >= 0);
		sent++;
		FAKE_UNTIL(2000, (pull_both(a, b), ba->rx_cnt == sent + 1));
	}
	assert_true(refused > 3);
	assert_int_equal(ab->up, 1);
	assert_int_equal(ab->down, 0);
	assert_int_equal(ba->down, 0);
	close(script.listener);
	fake_close(a, 0);
	fake_close(b, 0);
}

/* The end of its connection is not known: its host has crashed, say. */
static void check_and_succeed(uint64_t epoch, uint32_t reason, bool known)
{
	struct eng_ep *a = fake_ep(FI_EP_RDM, 0);
	struct script script = script_open();
	struct eng_peer *peer = fake_peer(a, &script.addr);
	struct tcp_hello hello;
	int old, fd, check;

	assert_int_equal(claim(a, &script, &old), CHAN_OK);
	FAKE_UNTIL(2000, peer->up == 1);
	script.hello.epoch = epoch;
	script.hello.serial = 2;
	script.hello.prev = UINT64_MAX;
	if (known)
		close(old);
	else
		assert_int_equal(claim(a, &script, &fd), CHAN_NOT_YET);
	check = known ? -1 : script_accept(&script);
	if (!known) {
		assert_true(script_recv(check, &hello));
		assert_int_equal(hello.type, TCP_WIRE_CHECK);
		assert_int_equal(hello.serial, 1);
		script_answer(&script, check, &hello, TCP_WIRE_REFUSE, reason);
		FAKE_UNTIL(2000, peer->down || recv(check, &hello, 1, MSG_DONTWAIT) == 0);
	}
	script.hello.serial = 2;
	if (known || epoch != 1 || reason == CHAN_ENDED) {
		assert_int_equal(claim(a, &script, &fd), CHAN_OK);
		FAKE_UNTIL(2000, peer->up == 2);
		assert_int_equal(peer->down, 1);
		close(fd);
	} else {
		assert_int_equal(claim(a, &script, &fd), CHAN_NOT_YET);
		assert_int_equal(peer->down, 0);
	}
	close(check);
	close(script.listener);
	fake_close(a, 0);
	if (!known)
		close(old);
}

static void a_successor_is_accepted_once_the_end_is_known(void **state)
{
	check_and_succeed(2, CHAN_OK, true);		/* the system has closed the connection */
	check_and_succeed(1, CHAN_ENDED, false);	/* the same endpoint has lost it */
	check_and_succeed(2, CHAN_MALFORMED, false);	/* another life listens there */
	check_and_succeed(1, CHAN_HELD, false);		/* it stands */
}

static void a_check_without_an_answer_changes_nothing(void **state)
{
	struct script script = script_open();
	struct tcp_hello hello;
	struct eng_peer *peer;
	struct eng_ep *a;
	int old, fd, check;
	uint64_t until;

	tcp_conf.conn_timeout_ms = 200;
	a = fake_ep(FI_EP_RDM, 0);
	peer = fake_peer(a, &script.addr);
	assert_int_equal(claim(a, &script, &old), CHAN_OK);
	FAKE_UNTIL(2000, peer->up == 1);
	script.hello.epoch = 2;
	until = clock_deadline(900);
	assert_int_equal(claim(a, &script, &fd), CHAN_NOT_YET);
	check = script_accept(&script);
	assert_true(script_recv(check, &hello));
	assert_int_equal(hello.type, TCP_WIRE_CHECK);
	assert_false(script_recv(check, &hello));	/* given up */
	close(check);
	/* one a second, however many claim */
	while (clock_ns() < until)
		assert_int_equal(claim(a, &script, &fd), CHAN_NOT_YET);
	assert_true(accept(script.listener, NULL, NULL) < 0);
	assert_int_equal(peer->down, 0);
	close(old);
	close(script.listener);
	fake_close(a, 0);
}

/* ---- refused, or not answered ---------------------------------------------------------- */

static void refusals_are_reported_or_repeated(void **state)
{
	static const struct { uint32_t reason; int err; int attempts; } cases[] = {
		{ CHAN_VERSION_BAD, FI_EPROTO, 1 },
		{ CHAN_KIND_BAD, FI_ECONNREFUSED, 1 },
		{ CHAN_ADDR_BAD, FI_EADDRNOTAVAIL, 1 },
		{ 99, FI_ECONNREFUSED, 1 },
		{ CHAN_BUSY, 0, 3 },
	};
	struct eng_ep *a = fake_ep(FI_EP_RDM, 0);
	struct script script = script_open();
	struct eng_peer *peer = fake_peer(a, &script.addr);
	struct tcp_hello hello;
	size_t i;
	int k, fd;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(fake_send(peer, 10, 0), 0);
		peer->down = 0;
		for (k = 0; k < cases[i].attempts; k++) {
			fd = script_accept(&script);
			assert_true(script_recv(fd, &hello));
			script.hello.type = TCP_WIRE_REFUSE;
			script.hello.reason = cases[i].reason;
			script_send(&script, fd);
			assert_false(script_recv(fd, &hello));
			close(fd);
		}
		if (cases[i].err) {
			FAKE_UNTIL(2000, peer->down);
			assert_int_equal(peer->err, cases[i].err);
		}
	}
	fd = script_accept(&script);	/* busy no more */
	assert_true(script_recv(fd, &hello));
	script.hello.type = TCP_WIRE_WELCOME;
	script.hello.reason = CHAN_OK;
	script.hello.serial = hello.serial;
	script_send(&script, fd);
	FAKE_UNTIL(2000, peer->up);
	assert_int_equal(peer->down, 0);
	close(fd);
	close(script.listener);
	fake_close(a, 0);
}

/* wait_out - poll for several times the connect timeout; nothing may fail. */
static void wait_out(const struct eng_peer *peer)
{
	uint64_t until = clock_deadline(6 * tcp_conf.conn_timeout_ms);

	while (clock_ns() < until) {
		fake_poll();
		assert_int_equal(peer->down, 0);
	}
}

static void a_busy_program_is_waited_for(void **state)
{
	struct eng_ep *a = fake_ep(FI_EP_RDM, 0);
	struct script script = script_open();
	struct eng_peer *peer = fake_peer(a, &script.addr);
	struct tcp_hello hello;
	int fd;

	tcp_conf.conn_timeout_ms = 50;
	fake_send(peer, 10, 0);
	fake_send(peer, 100000, 0);
	wait_out(peer);			/* the system has accepted it, the program has not answered */
	/* and others may be connected meanwhile */
	FAKE_UNTIL(15000, !container_of(a->link, struct tcp_link, base.base)->poller->base.connecting);
	fd = script_accept(&script);
	assert_true(script_recv(fd, &hello));
	wait_out(peer);
	/* it dies before it has answered: a refusal, which is retried */
	close(fd);
	fd = script_accept(&script);
	assert_true(script_recv(fd, &hello));
	wait_out(peer);
	script_answer(&script, fd, &hello, TCP_WIRE_WELCOME, CHAN_OK);
	FAKE_UNTIL(15000, peer->up && peer->done_cnt == 2);
	close(fd);
	close(script.listener);
	fake_close(a, 0);
}

/* The connecting program does not poll for long: what happened meanwhile was in time. */
static void a_busy_connecting_program_is_not_late(void **state)
{
	struct eng_ep *a = fake_ep(FI_EP_RDM, 0);
	struct script script = script_open();
	struct eng_peer *peer = fake_peer(a, &script.addr);
	struct tcp_hello hello;
	int fd;

	tcp_conf.conn_timeout_ms = 20;
	fake_send(peer, 10, 0);
	usleep(100000);
	fd = script_accept(&script);
	assert_true(script_recv(fd, &hello));
	script_answer(&script, fd, &hello, TCP_WIRE_WELCOME, CHAN_OK);
	usleep(100000);
	FAKE_UNTIL(15000, peer->up && peer->done_cnt == 1);
	assert_int_equal(peer->down, 0);
	close(fd);
	close(script.listener);
	fake_close(a, 0);
}

/* No peer sent anything while the accepting program computed: time that it did not look is no silence. */
static void a_connecting_peer_outlives_a_pause_here(void **state)
{
	struct eng_ep *a = fake_ep(FI_EP_RDM, 0);
	struct script script = script_open();
	struct tcp_listener *listener = &container_of(a->link, struct tcp_link, base.base)->listener;
	struct tcp_hello hello;
	int fd, i;

	tcp_conf.conn_timeout_ms = 1300;
	fd = script_connect(a);
	FAKE_UNTIL(2000, listener->half_open == 1);
	usleep(1400000);
	for (i = 0; i < 10; i++)
		fake_poll();
	script.hello.type = TCP_WIRE_HELLO;
	script_send(&script, fd);
	assert_true(script_recv(fd, &hello));
	assert_int_equal(hello.type, TCP_WIRE_WELCOME);
	close(fd);
	close(script.listener);
	fake_close(a, 0);
}

static void a_yielded_connect_is_retried(void **state)
{
	struct eng_ep *a = fake_ep(FI_EP_RDM, 0);
	struct script script = script_open();
	struct eng_peer *peer = fake_peer(a, &script.addr);
	struct tcp_hello hello;
	int fd, i;

	tcp_conf.conn_timeout_ms = 50;
	fake_send(peer, 10, 0);
	for (i = 0; i < 3; i++) {
		fd = script_accept(&script);
		assert_true(script_recv(fd, &hello));
		script_answer(&script, fd, &hello, TCP_WIRE_REFUSE, CHAN_SIMULTANEOUS);
		wait_out(peer);
		close(fd);
	}
	fd = script_accept(&script);
	assert_true(script_recv(fd, &hello));
	script_answer(&script, fd, &hello, TCP_WIRE_WELCOME, CHAN_OK);
	FAKE_UNTIL(15000, peer->up);
	assert_int_equal(peer->down, 0);
	close(fd);

	/* another protocol's answer is an error at once */
	FAKE_UNTIL(15000, peer->down == 1);
	fake_send(peer, 10, 0);
	fd = script_accept(&script);
	assert_true(script_recv(fd, &hello));
	assert_int_equal(send(fd, "220 mail.example ESMTP\r\n", 24, MSG_NOSIGNAL), 24);
	FAKE_UNTIL(15000, peer->down == 2);
	assert_int_equal(peer->err, FI_EPROTO);
	close(fd);
	close(script.listener);
	fake_close(a, 0);
}

/* ---- lost ------------------------------------------------------------------------------ */

/* The stream breaks in the middle of a payload: whatever the engine chose to do
 * with it ends once.
 */
static void a_torn_packet_is_reported(void **state)
{
	static const size_t body = 5000;
	uint8_t frame[TCP_FRAME_SIZE + sizeof(struct fake_hdr) + 1000] = { 0 };
	struct fake_hdr hdr = { .seq = 0, .len = body };
	struct eng_ep *a = fake_ep(FI_EP_RDM, 0);
	struct script script = script_open();
	struct eng_peer *peer = fake_peer(a, &script.addr);
	struct tcp_hello hello;
	int round, fd, i;

	tcp_frame_put(frame, sizeof(hdr), body);
	memcpy(frame + TCP_FRAME_SIZE, &hdr, sizeof(hdr));
	for (i = 0; i < 1000; i++)
		frame[TCP_FRAME_SIZE + sizeof(hdr) + i] = fake_byte(0, (size_t) i);
	for (round = 1; round < 60; round++) {
		size_t cut = round % 3 ? sizeof(frame) : fake_draw() % sizeof(frame);

		a->quiet = round % 2;
		fd = script_connect(a);
		script.hello.epoch++;
		script_send(&script, fd);
		assert_true(script_recv(fd, &hello));
		assert_int_equal(hello.type, TCP_WIRE_WELCOME);
		assert_int_equal(send(fd, frame, cut, MSG_NOSIGNAL), cut);
		for (i = 0; i < 20; i++) {
			fake_poll();
			fake_pull_some(a);
		}
		close(fd);
		FAKE_UNTIL(2000, peer->down == round);
		assert_int_equal(a->placing, 0);
		if (!list_empty(&a->held)) {	/* what is kept knows that it is lost */
			struct fake_rx *rx = container_of(a->held.next, struct fake_rx, node);
			struct iovec iov = { NULL, 0 };

			assert_int_equal(tcp_link_ops.held.pull(a->link, rx->token, &iov, 1, rx),
					 -FI_ECONNRESET);
			list_del(&rx->node);
			fake_rx_free(rx);
		}
	}
	close(script.listener);
	fake_close(a, 0);
}

static void an_unreachable_peer_is_reported_once(void **state)
{
	struct eng_ep *a = fake_ep(FI_EP_RDM, 0);
	union net_sa nowhere = fake_loopback(1);
	struct eng_peer *peer = fake_peer(a, &nowhere);
	uint64_t began = clock_ns();

	assert_int_equal(fake_send(peer, 10, 0), 0);
	assert_int_equal(fake_send(peer, 100000, 0), 0);
	FAKE_UNTIL(2000, peer->down);
	assert_int_equal(peer->down, 1);
	assert_int_equal(peer->err, FI_ECONNREFUSED);
	assert_int_equal(peer->lost_cnt, 2);
	assert_int_equal(fake_done_status, -FI_ECONNREFUSED);
	assert_true(clock_ns() - began >= 150 * CLOCK_NS_PER_MS);	/* it was repeated */
	fake_close(a, 100);
}

static void a_restarted_peer_is_reached_again(void **state)
{
	struct eng_ep *a = fake_ep(FI_EP_RDM, 0), *b = fake_ep(FI_EP_RDM, 0);
	struct eng_peer *ab = peer_at(a, b);
	uint16_t port = net_addr_port(&ab->addr.sa);
	int round;

	for (round = 1; round <= 5; round++) {
		fake_send(ab, 100, 0);
		FAKE_UNTIL(2000, (fake_pull_some(b), peer_at(b, a)->rx_cnt == 1));
		fake_close(b, 0);
		FAKE_UNTIL(2000, ab->down == round);
		b = fake_ep(FI_EP_RDM, port);
	}
	/* it is closed when we connect, and opened again */
	fake_close(b, 0);
	fake_send(ab, 100, 0);
	for (round = 0; round < 100; round++)
		fake_poll();
	b = fake_ep(FI_EP_RDM, port);
	FAKE_UNTIL(2000, (fake_pull_some(b), peer_at(b, a)->rx_cnt == 1));
	assert_int_equal(ab->down, 5);
	/* and the new one connects before the loss of the old one is noticed */
	fake_close(b, 0);
	b = fake_ep(FI_EP_RDM, port);
	fake_send(peer_at(b, a), 5, 0);
	FAKE_UNTIL(2000, (fake_pull_some(a), peer_at(a, b)->rx_cnt >= 1));
	fake_close(a, 100);
	fake_close(b, 100);
}

static void a_send_into_a_dead_connection_is_noticed(void **state)
{
	struct eng_ep *a = fake_ep(FI_EP_RDM, 0), *b = fake_ep(FI_EP_RDM, 0);
	struct eng_peer *ab = peer_at(a, b);
	uint16_t port = net_addr_port(&ab->addr.sa);

	fake_send(ab, 100, 0);
	FAKE_UNTIL(2000, (fake_pull_some(b), peer_at(b, a)->rx_cnt == 1));
	fake_close(b, 0);
	usleep(20000);	/* the application computes: no poll */
	b = fake_ep(FI_EP_RDM, port);
	assert_int_equal(fake_send(ab, 100, 0), -FI_EAGAIN);
	assert_int_equal(fake_send(ab, 100, 0), -FI_EAGAIN);
	FAKE_UNTIL(2000, ab->down == 1);
	fake_send(ab, 100, 0);
	FAKE_UNTIL(2000, (fake_pull_some(b), peer_at(b, a)->rx_cnt == 1));
	fake_close(a, 100);
	fake_close(b, 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(simultaneous_connects_end_with_one_connection),
		TEST(two_processes_connect_at_once),
		TEST(simultaneous_connects_are_decided_by_address),
		TEST(the_place_of_a_live_peer_is_not_taken),
		TEST(a_successor_is_accepted_once_the_end_is_known),
		TEST(a_check_without_an_answer_changes_nothing),
		TEST(refusals_are_reported_or_repeated),
		TEST(a_busy_program_is_waited_for),
		TEST(a_busy_connecting_program_is_not_late),
		TEST(a_connecting_peer_outlives_a_pause_here),
		TEST(a_yielded_connect_is_retried),
		TEST(a_torn_packet_is_reported),
		TEST(an_unreachable_peer_is_reported_once),
		TEST(a_restarted_peer_is_reached_again),
		TEST(a_send_into_a_dead_connection_is_noticed),
	};

	return cmocka_run_group_tests_name("tcp_connect", tests, NULL, NULL);
}

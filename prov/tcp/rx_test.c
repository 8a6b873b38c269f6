/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Receiving: frames that arrive in pieces, payload that goes to its place, packets that the engine
 * does not take yet, and what a peer must not send.
 */
#include <sys/mman.h>

#include "tcp/test/far.h"

#define LONG (2 * TCP_RX_LONG)	/* not taken by the fast path */

/* open_placing - a connection whose packets are all placed in one buffer. */
static struct far open_placing(void)
{
	struct far far = far_open(1);

	far.ep->verdict = 1 + ENG_RX_PLACE;
	far.ep->whole = true;
	return far;
}

static void polls(int cnt)
{
	while (cnt--)
		fake_poll();
}

static void a_frame_may_arrive_byte_by_byte(void **state)
{
	struct far far = open_placing();
	uint8_t buf[2 * FAR_HEAD + 10];
	size_t len = far_frame(buf, 0, 10), i;

	len += far_frame(buf + len, 1, 0);
	for (i = 0; i < len; i++) {
		assert_int_equal(far.peer->rx_cnt, i >= FAR_HEAD + 10);
		far_say(0, buf + i, 1);
		polls(2);
	}
	FAKE_UNTIL(2000, far.peer->rx_cnt == 2);
	assert_int_equal(far.ep->placing, 0);
	far_close(&far);
}

static void one_read_takes_whole_frames_and_the_beginning_of_another(void **state)
{
	struct far far = open_placing();
	uint8_t buf[3 * (FAR_HEAD + 100)];
	size_t len = far_frame(buf, 0, 50), cut;

	len += far_frame(buf + len, 1, 100);
	cut = len + TCP_FRAME_SIZE + 1;
	len += far_frame(buf + len, 2, 7);
	far_say(0, buf, cut);
	assert_int_equal(tcp_rx_read(far.conn, 5), 1);
	assert_int_equal(far.peer->rx_cnt, 2);
	assert_int_equal(far.conn->rx.stash_len, TCP_FRAME_SIZE + 1);
	far_say(0, buf + cut, len - cut);
	assert_int_equal(tcp_rx_read(far.conn, 5), 1);
	assert_int_equal(far.peer->rx_cnt, 3);
	assert_int_equal(far.conn->rx.stash_len, 0);
	assert_int_equal(tcp_rx_read(far.conn, 5), 0);
	far_close(&far);
}

static void a_budget_limits_the_reads(void **state)
{
	struct far far = open_placing();
	int reads = 0;

	far_say_frame(0, LONG);
	far_say_frame(1, LONG);
	far_say_frame(2, LONG);
	while (far.peer->rx_cnt < 3) {
		assert_int_equal(tcp_rx_read(far.conn, 1), 1);
		reads++;
	}
	assert_true(reads > 1);
	far_close(&far);
}

static void a_long_payload_is_read_into_its_place(void **state)
{
	struct far far = open_placing();
	uint8_t *buf = malloc(3 * (FAR_HEAD + LONG));
	size_t first = far_frame(buf, 0, LONG), len = first;

	len += far_frame(buf + len, 1, 30);
	len += far_frame(buf + len, 2, LONG);
	far_say(0, buf, FAR_HEAD + 1000);
	FAKE_UNTIL(2000, far.ep->placing == 1);
	assert_int_equal(far.conn->rx.body, TCP_BODY_PLACE);
	assert_int_equal(far.conn->rx.left, LONG - 1000);
	/* the rest, and what follows in the same read */
	far_say(0, buf + FAR_HEAD + 1000, len - FAR_HEAD - 1000);
	FAKE_UNTIL(2000, far.peer->rx_cnt == 3);
	assert_int_equal(far.ep->placing, 0);
	assert_int_equal(far.conn->rx.body, TCP_BODY_NONE);
	free(buf);
	far_close(&far);
}

/* The destination is sometimes shorter than the payload, and the packet sometimes unwanted. */
static void payload_beyond_its_place_is_dropped(void **state)
{
	struct far far = far_open(1);
	uint8_t *buf = malloc(FAR_HEAD + LONG);
	size_t len, cut;
	uint64_t seq;

	for (seq = 0; seq < 300; seq++) {
		len = far_frame(buf, seq, seq % 3 ? fake_draw() % 300 : fake_draw() % LONG);
		cut = fake_draw() % (len + 1);
		far.ep->verdict = seq % 2 ? 1 + ENG_RX_PLACE : 1 + ENG_RX_DONE;
		far_say(0, buf, cut);
		fake_poll();
		far_say(0, buf + cut, len - cut);
		FAKE_UNTIL(2000, far.peer->rx_cnt == seq + 1 && !far.conn->rx.body);
	}
	assert_int_equal(far.peer->down, 0);
	free(buf);
	far_close(&far);
}

/* The rest of the payload is dropped, and the packet behind it arrives. */
static void a_place_that_cannot_be_written_fails_its_payload_alone(void **state)
{
	struct far far = open_placing();
	size_t len = 200000, page = (size_t) sysconf(_SC_PAGESIZE);
	uint8_t *buf = malloc(FAR_HEAD + len), *bad;

	far.ep->whole = true;
	far_frame(buf, 0, len);
	far_say(0, buf, FAR_HEAD + 1000);
	FAKE_UNTIL(2000, far.ep->placing == 1);
	bad = (uint8_t *) far.conn->rx.iov[far.conn->rx.iov_cur].iov_base + 50000;
	bad = (uint8_t *) ((uintptr_t) bad & ~(uintptr_t) (page - 1));
	CHECK(!mprotect(bad, page, PROT_READ));
	fake_placed_status = 0;
	far_say(0, buf + FAR_HEAD + 1000, len - 1000);
	far_say_frame(1, 10);
	FAKE_UNTIL(2000, far.peer->rx_cnt == 1);
	mprotect(bad, page, PROT_READ | PROT_WRITE);	/* the allocator may have unmapped it */
	assert_int_equal(fake_placed_status, -FI_EFAULT);
	assert_int_equal(far.conn->state, TCP_CONN_READY);
	free(buf);
	far_close(&far);
}

static void a_refused_packet_is_offered_again_and_nothing_overtakes_it(void **state)
{
	struct far far = open_placing();

	far.ep->verdict = 1 + ENG_RX_LATER;
	far_say_frame(0, LONG);
	FAKE_UNTIL(2000, far.conn->rx.kept);
	far_say_frame(1, 10);
	polls(50);
	assert_int_equal(far.peer->rx_cnt, 0);
	assert_int_equal(far.conn->src.events & POLLIN, 0);
	assert_false(far.conn->active);
	far.ep->verdict = 1 + ENG_RX_PLACE;
	FAKE_UNTIL(5000, far.peer->rx_cnt == 2);
	assert_null(far.conn->rx.kept);
	assert_int_equal(far.conn->src.events & POLLIN, POLLIN);
	far_close(&far);
}

/* held - the token of the one packet that the engine holds. */
static struct fake_rx *held(struct far *far)
{
	struct fake_rx *rx;

	FAKE_UNTIL(2000, far->ep->holds == 1);
	rx = container_of(list_pop(&far->ep->held), struct fake_rx, node);
	far->ep->holds = 0;
	return rx;
}

static void a_held_payload_is_pulled_while_it_arrives(void **state)
{
	struct far far = far_open(1);
	uint8_t *buf = malloc(FAR_HEAD + LONG);
	size_t len = far_frame(buf, 0, LONG), cut;
	struct iovec iov[2];
	struct fake_rx *rx;

	cut = FAR_HEAD + LONG / 3;
	far.ep->verdict = 1 + ENG_RX_HELD;
	far_say(0, buf, cut);
	rx = held(&far);
	far_say(0, buf + cut, 1000);
	polls(3);
	rx->buf = malloc(LONG);
	rx->room = LONG;
	iov[0] = (struct iovec) { rx->buf, LONG / 2 };
	iov[1] = (struct iovec) { rx->buf + LONG / 2, LONG / 2 };
	far.ep->placing++;
	assert_int_equal(far.ep->link->ops->held.pull(far.ep->link, rx->token, iov, 2, rx), 0);
	assert_int_equal(far.peer->rx_cnt, 0);
	far_say(0, buf + cut + 1000, len - cut - 1000);
	FAKE_UNTIL(2000, far.peer->rx_cnt == 1);	/* the fake engine has checked the bytes */
	assert_int_equal(far.ep->placing, 0);

	/* one that has arrived as a whole is moved at once */
	far_say_frame(1, LONG);
	rx = held(&far);
	FAKE_UNTIL(2000, !far.conn->rx.body);
	rx->buf = malloc(LONG);
	iov[0].iov_base = rx->buf;
	iov[1].iov_base = rx->buf + LONG / 2;
	assert_int_equal(far.ep->link->ops->held.pull(far.ep->link, rx->token, iov, 2, rx), 1);
	for (cut = 0; cut < LONG; cut++)
		assert_int_equal(rx->buf[cut], fake_byte(1, cut));
	fake_rx_free(rx);
	free(buf);
	far_close(&far);
}

static void a_held_payload_is_dropped_while_it_arrives(void **state)
{
	struct far far = far_open(1);
	uint8_t *buf = malloc(FAR_HEAD + LONG);
	size_t len = far_frame(buf, 0, LONG);
	struct fake_rx *rx;

	far.ep->verdict = 1 + ENG_RX_HELD;
	far_say(0, buf, FAR_HEAD + 100);
	rx = held(&far);
	far.ep->link->ops->held.pull(far.ep->link, rx->token, NULL, 0, NULL);
	fake_rx_free(rx);
	assert_int_equal(far.conn->rx.body, TCP_BODY_SKIP);
	far.ep->verdict = 1 + ENG_RX_PLACE;
	far.ep->whole = true;
	far_say(0, buf + FAR_HEAD + 100, len - FAR_HEAD - 100);
	far_say_frame(1, 20);
	FAKE_UNTIL(2000, far.peer->rx_cnt == 1);
	assert_int_equal(far.peer->down, 0);
	free(buf);
	far_close(&far);
}

/* open_holding - a connection whose packets are all held, after a long one that was placed: little
 * is read ahead.
 */
static struct far open_holding(void)
{
	struct far far = open_placing();

	far_say_frame(0, LONG);
	FAKE_UNTIL(2000, far.peer->rx_cnt == 1);
	far.ep->verdict = 1 + ENG_RX_HELD;
	far.ep->quiet = true;
	return far;
}

/* pull - the oldest of the held packets, each LONG, meets a receive. */
static int pull(struct far *far)
{
	struct fake_rx *rx = container_of(list_pop(&far->ep->held), struct fake_rx, node);
	struct iovec iov = { malloc(LONG), LONG };
	int ret;

	far->ep->holds--;
	rx->buf = iov.iov_base;
	rx->room = LONG;
	far->ep->placing++;
	ret = far->ep->link->ops->held.pull(far->ep->link, rx->token, &iov, 1, rx);
	if (ret)
		eng_on_placed(far->ep->link, rx, ret < 0 ? ret : 0);
	return ret;
}

/* The poll that finds a long unexpected message leaves its payload in the socket, for a receive
 * that is posted before the next one.
 */
static void a_long_unexpected_payload_stays_for_one_poll(void **state)
{
	struct far far = open_holding();

	far_say_frame(1, LONG);
	FAKE_UNTIL(2000, far.ep->holds);
	assert_in_range(far.conn->rx.left, LONG - 4096, LONG);
	assert_int_equal(pull(&far), 0);
	FAKE_UNTIL(2000, far.peer->rx_cnt == 2);
	/* no receive: the next poll reads it */
	far_say_frame(2, LONG);
	FAKE_UNTIL(2000, far.ep->holds);
	assert_in_range(far.conn->rx.left, LONG - 4096, LONG);
	fake_poll();
	assert_int_equal(far.conn->rx.body, TCP_BODY_NONE);
	assert_int_equal(pull(&far), 1);
	far_close(&far);
}

/* While a program takes the messages that are held, it catches up with them. */
static void a_long_unexpected_payload_stays_while_held_ones_are_taken(void **state)
{
	struct far far = open_holding();
	uint64_t seq;
	size_t left;

	for (seq = 1; seq < 5; seq++)
		far_say_frame(seq, LONG);
	FAKE_UNTIL(2000, far.ep->holds == 4);
	left = far.conn->rx.left;
	while (far.ep->holds > 1) {
		assert_int_equal(pull(&far), 1);
		fake_poll();
		assert_int_equal(far.conn->rx.left, left);
	}
	assert_int_equal(pull(&far), 0);
	FAKE_UNTIL(2000, far.peer->rx_cnt == 5);
	far_close(&far);
}

/* What lies behind it may have a receive: it does not wait for long. */
static void a_long_unexpected_payload_stays_for_some_polls_at_most(void **state)
{
	struct far far = open_holding();
	unsigned cnt;

	far_say_frame(1, LONG);
	FAKE_UNTIL(2000, far.ep->holds);
	for (cnt = 0; far.conn->rx.body && cnt < 100; cnt++) {
		far.conn->poller->base.pulled++;	/* of other connections */
		fake_poll();
	}
	assert_in_range(cnt, 2, 20);
	assert_int_equal(pull(&far), 1);
	far_close(&far);
}

/* say_short - @cnt frames of 10 bytes, from number @seq on, which arrive at once. */
static void say_short(uint64_t seq, unsigned cnt)
{
	uint8_t *buf = malloc(cnt * (FAR_HEAD + 10));
	size_t len = 0;
	unsigned i;

	for (i = 0; i < cnt; i++)
		len += far_frame(buf + len, seq + i, 10);
	far_say(0, buf, len);
	free(buf);
}

#define SHORT_MAX ((CHAN_UNEXPECTED_MAX + CHAN_UNEXPECTED_COST) / (CHAN_UNEXPECTED_COST + 10))

/* A program that posts receives between two polls meets the next messages with them. */
static void unexpected_messages_are_taken_some_in_a_poll(void **state)
{
	struct far far = far_open(1);
	uint64_t deadline = UINT64_MAX;
	unsigned before;

	far.ep->verdict = 1 + ENG_RX_HELD;
	far.ep->quiet = true;
	say_short(0, 100);
	FAKE_UNTIL(2000, far.ep->holds);
	assert_in_range(far.ep->holds, 1, SHORT_MAX);
	assert_ptr_equal(far.conn->poller->rest, far.conn);
	before = far.ep->holds;
	fake_poll();
	assert_in_range(far.ep->holds, before + 1, before + SHORT_MAX);
	/* a thread does not block while packets lie in the buffer */
	assert_int_equal(far.conn->poller->base.base.ops->arm(&far.conn->poller->base.base, &deadline),
			 -FI_EAGAIN);
	/* what is in the socket waits */
	far_say_frame(100, 10);
	assert_int_equal(tcp_rx_read(far.conn, 5), 0);
	/* the rest meets receives */
	before = far.ep->holds;
	far.ep->verdict = 1 + ENG_RX_PLACE;
	far.ep->whole = true;
	fake_poll();
	assert_null(far.conn->poller->rest);
	assert_int_equal(far.ep->holds, before);
	FAKE_UNTIL(2000, far.peer->rx_seq == 101 && far.peer->rx_cnt == 101 - before);
	far_close(&far);
}

/* open_with_rest - a connection with unexpected packets of which some wait for the next poll. */
static struct far open_with_rest(void)
{
	struct far far = far_open(1);

	far.ep->verdict = 1 + ENG_RX_HELD;
	far.ep->quiet = true;
	say_short(0, 100);
	FAKE_UNTIL(2000, far.conn->poller->rest);
	assert_ptr_equal(far.conn->poller->rest, far.conn);
	return far;
}

/* Held, refused, and held again; then the connection ends with packets in the buffer. */
static void the_rest_of_the_buffer_may_be_refused_or_lost(void **state)
{
	struct far far = open_with_rest();
	struct tcp_poller *poller = far.conn->poller;

	far.ep->verdict = 1 + ENG_RX_LATER;
	fake_poll();
	assert_null(poller->rest);
	assert_non_null(far.conn->rx.kept);
	far.ep->verdict = 1 + ENG_RX_HELD;
	FAKE_UNTIL(2000, far.peer->rx_seq == 100);
	assert_null(far.conn->rx.kept);
	say_short(100, 100);
	FAKE_UNTIL(2000, poller->rest);
	tcp_conn_fail(far.conn, FI_ECONNRESET, false);
	FAKE_UNTIL(2000, far.peer->down == 1);
	assert_null(poller->rest);
	far_close(&far);
}

static void the_rest_is_forgotten_with_its_connection(void **state)
{
	struct far far = open_with_rest();
	struct tcp_poller *poller = far.conn->poller;

	far_close(&far);
	assert_null(poller->rest);
}

/* refused - the peer sends @len bytes, for which its connection is closed. */
static void refused(const void *bytes, size_t len)
{
	struct far far = open_placing();

	far_say(0, bytes, len);
	FAKE_UNTIL(2000, far.peer->down == 1);
	assert_int_equal(far.peer->err, FI_EPROTO);
	assert_int_equal(far.peer->rx_cnt, 0);
	far_close(&far);
}

static void impossible_frames_end_the_connection(void **state)
{
	uint8_t buf[TCP_FRAME_SIZE + ENG_HDR_MAX + 10] = { 0 };

	tcp_frame_put(buf, 16, TCP_PAYLOAD_MAX + 1);
	refused(buf, TCP_FRAME_SIZE);		/* before its header is here */
	tcp_frame_put(buf, ENG_HDR_MAX + 1, 0);
	refused(buf, sizeof(buf));
	tcp_frame_put(buf, 0, TCP_WIRE_PARK_NACK + 1);
	refused(buf, TCP_FRAME_SIZE);
	tcp_frame_put(buf, 0, 0);
	refused(buf, TCP_FRAME_SIZE);
	/* striped, but short; striped, without lanes */
	tcp_frame_put(buf, 16 | TCP_FRAME_STRIPED, TCP_STRIPE_MIN - 1);
	refused(buf, TCP_FRAME_SIZE);
	tcp_frame_put(buf, 16 | TCP_FRAME_STRIPED, TCP_STRIPE_MIN);
	refused(buf, TCP_FRAME_SIZE + 16);
	/* the engine refuses the header */
	tcp_frame_put(buf, 15, 0);
	refused(buf, TCP_FRAME_SIZE + 15);
}

static void the_longest_payload_and_header_pass(void **state)
{
	struct far far = open_placing();
	size_t len = 64 << 10;

	far.conn->max_payload = len;
	far_say_frame(0, len);
	FAKE_UNTIL(2000, far.peer->rx_cnt == 1);
	far_say_frame(1, len + 1);
	FAKE_UNTIL(2000, far.peer->down == 1);
	assert_int_equal(far.peer->err, FI_EPROTO);
	assert_int_equal(far.peer->rx_cnt, 1);
	far_close(&far);
}

/* ended - the peer sends @len bytes of a frame and closes: is that in good order? */
static bool ended(size_t len)
{
	struct far far = open_placing();
	uint8_t buf[FAR_HEAD + 100];
	bool clean;

	far_frame(buf, 0, 100);
	far_say(0, buf, len);
	shutdown(stream_lane[0].fd, SHUT_WR);
	while (far.conn->state == TCP_CONN_READY)
		tcp_rx_read(far.conn, 1);
	assert_int_equal(far.conn->state, TCP_CONN_FAILED);
	assert_int_equal(far.conn->err, FI_ECONNRESET);
	clean = far.conn->clean_end;
	FAKE_UNTIL(2000, far.peer->down == 1);
	assert_int_equal(far.ep->placing, 0);
	assert_int_equal(far.peer->rx_cnt, len == sizeof(buf));
	far_close(&far);
	return clean;
}

static void the_end_is_in_order_between_two_packets_only(void **state)
{
	assert_true(ended(0));
	assert_true(ended(FAR_HEAD + 100));
	assert_false(ended(1));
	assert_false(ended(FAR_HEAD - 1));
	assert_false(ended(FAR_HEAD));		/* the payload was promised and is lost */
	assert_false(ended(FAR_HEAD + 99));
}

static void nothing_is_read_while_the_payload_waits(void **state)
{
	struct far far = open_placing();
	uint8_t *buf = malloc(2 * (FAR_HEAD + 10));
	size_t len = far_frame(buf, 0, 10);

	far_frame(buf + len, 1, 10);
	tcp_rx_wait(far.conn, buf, 0, 0);
	assert_int_equal(far.conn->rx.body, TCP_BODY_OTHERS);
	assert_null(far.conn->rx.kept);
	far_say(0, buf, 2 * len);
	polls(20);
	assert_int_equal(far.peer->rx_cnt, 0);
	tcp_rx_go_on(far.conn);
	FAKE_UNTIL(2000, far.peer->rx_cnt == 2);
	/* again: there is nothing to go on with */
	tcp_rx_go_on(far.conn);
	assert_int_equal(far.conn->rx.body, TCP_BODY_NONE);
	free(buf);
	far_close(&far);
}

static void a_number_of_bytes_is_skipped(void **state)
{
	struct far far = open_placing();

	assert_int_equal(tcp_rx_skipped(far.conn, 5), 0);
	tcp_rx_skip(far.conn, 10);
	assert_int_equal(tcp_rx_skipped(far.conn, 4), 4);
	assert_int_equal(far.conn->rx.left, 6);
	assert_int_equal(tcp_rx_skipped(far.conn, 100), 6);
	assert_int_equal(far.conn->rx.body, TCP_BODY_NONE);
	/* by reads, up to the frame behind */
	tcp_rx_skip(far.conn, 3);
	far_say(0, "xy", 2);
	polls(3);
	assert_int_equal(far.conn->rx.left, 1);
	far_say(0, "z", 1);
	far_say_frame(0, 10);
	FAKE_UNTIL(2000, far.peer->rx_cnt == 1);
	far_close(&far);
}

static void a_striped_payload_is_complete_with_its_last_part(void **state)
{
	struct far far = far_open(2);
	size_t len = TCP_STRIPE_MIN + 100, part = len / 2 / 64 * 64;
	uint8_t *buf = malloc(FAR_HEAD + len), *next = malloc(FAR_HEAD + 10);

	far.ep->verdict = 1 + ENG_RX_PLACE;
	far.ep->whole = true;
	far_frame(buf, 0, len);
	tcp_frame_put(buf, sizeof(struct fake_hdr) | TCP_FRAME_STRIPED, len);
	/* a part that comes before its frame has no place yet: it stays in the socket */
	far_say(1, buf + FAR_HEAD + part, 1000);
	polls(20);
	assert_int_equal(tcp_lane(far.conn->lanes, 1)->rx.body, TCP_BODY_NONE);
	far_say(0, buf, FAR_HEAD + part);
	far_say(0, next, far_frame(next, 1, 10));
	FAKE_UNTIL(2000, far.conn->rx.body == TCP_BODY_OTHERS);
	polls(20);
	assert_int_equal(far.peer->rx_cnt, 0);
	assert_int_equal(far.ep->placing, 1);
	assert_int_equal(far.conn->lanes->base.rx_parts, 1);
	far_say(1, buf + FAR_HEAD + part + 1000, len - part - 1000);
	FAKE_UNTIL(2000, far.peer->rx_cnt == 2);
	assert_int_equal(far.conn->lanes->base.rx_parts, 0);
	free(buf);
	free(next);
	far_close(&far);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_frame_may_arrive_byte_by_byte),
		TEST(one_read_takes_whole_frames_and_the_beginning_of_another),
		TEST(a_budget_limits_the_reads),
		TEST(a_long_payload_is_read_into_its_place),
		TEST(payload_beyond_its_place_is_dropped),
		TEST(a_place_that_cannot_be_written_fails_its_payload_alone),
		TEST(a_refused_packet_is_offered_again_and_nothing_overtakes_it),
		TEST(a_held_payload_is_pulled_while_it_arrives),
		TEST(a_held_payload_is_dropped_while_it_arrives),
		TEST(a_long_unexpected_payload_stays_for_one_poll),
		TEST(a_long_unexpected_payload_stays_while_held_ones_are_taken),
		TEST(a_long_unexpected_payload_stays_for_some_polls_at_most),
		TEST(unexpected_messages_are_taken_some_in_a_poll),
		TEST(the_rest_of_the_buffer_may_be_refused_or_lost),
		TEST(the_rest_is_forgotten_with_its_connection),
		TEST(impossible_frames_end_the_connection),
		TEST(the_longest_payload_and_header_pass),
		TEST(the_end_is_in_order_between_two_packets_only),
		TEST(nothing_is_read_while_the_payload_waits),
		TEST(a_number_of_bytes_is_skipped),
		TEST(a_striped_payload_is_complete_with_its_last_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Receivers that take packets slowly, or none for a while. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"
#include <stdbool.h>
#include <string.h>

#include "obj/test/log_catch.h"
#include "shm/test/fake.h"

#define PULL_SIZE (32u << 10)	/* shm_conf.pull_size of the tests */

static void a_slow_receiver_limits_the_sender(void **state)
{
	struct eng_ep *a = ep_at(NULL), *b = ep_at(NULL);
	struct eng_peer *ab = peer_at(a, b), *ba = peer_at(b, a);
	unsigned i;

	fake_send(ab, 1, 0);
	FAKE_UNTIL(2000, (fake_pull_some(b), ba->rx_cnt == 1));
	b->later = 100;
	for (i = 0; i < 2000; i++)
		fake_send(ab, i % 3 ? 20 : 2000, 0);
	for (i = 0; i < 2000; i++)
		fake_poll();
	assert_true(ab->done_cnt < 1000);
	assert_int_equal(ba->rx_cnt, 1);
	b->later = 0;
	FAKE_UNTIL(5000, (fake_pull_some(b), ba->rx_cnt == 2001 && ab->done_cnt == 2001));
	fake_close(a, 100);
	fake_close(b, 100);
}

/* SHM_STUCK_NS, 20 us, is shorter than the few calls of a test that the thread sanitizer slows down. */
static void need_speed(void)
{
#if defined(__SANITIZE_THREAD__)
	skip();
#endif
}

/* A receiver that takes nothing is named in the log, once, while packets wait for it. */
static void a_stall_is_logged_once(void **state)
{
	struct eng_ep *a = ep_at(NULL), *b = ep_at(NULL);
	struct eng_peer *ab = peer_at(a, b), *ba = peer_at(b, a);
	struct chan *chan = (struct chan *) eng_peer_chan(ab);
	struct shm_conn *conn;
	unsigned i;

	fake_send(ab, 1, 0);
	FAKE_UNTIL(2000, (fake_pull_some(b), ba->rx_cnt == 1));
	conn = chan->conn;
	b->later = 100;
	catch_start();
	for (i = 0; i < 100; i++)
		fake_send(ab, 4000, 0);
	for (i = 0; i < 100; i++)
		fake_poll();
	assert_int_equal(caught.cnt, 0);
	assert_true(conn->out.wait_ns != 0);
	conn->out.wait_ns -= CHAN_STALL_NS;
	for (i = 0; i < 100; i++)
		fake_poll();
	catch_stop();
	assert_int_equal(caught.cnt, 1);
	assert_non_null(strstr(caught.line[0], "has taken nothing for 10 s"));
	b->later = 0;
	FAKE_UNTIL(5000, (fake_pull_some(b), ba->rx_cnt == ab->tx_seq && ab->done_cnt == ab->tx_seq));
	assert_false(conn->out.stall_logged);	/* the next one is, too */
	fake_close(a, 100);
	fake_close(b, 100);
}

/* look_now - what a second later would do. */
static void look_now(struct shm_conn *conn)
{
	conn->poller->unread_due_ns = 0;
	FAKE_UNTIL(2000, conn->poller->unread_due_ns);
}

/* One packet stands in the ring, and its send is complete: the receiver that does not take it is named, too, once. */
static void a_stall_with_room_in_the_ring_is_logged_once(void **state)
{
	struct eng_ep *a = ep_at(NULL), *b = ep_at(NULL);
	struct eng_peer *ab = peer_at(a, b), *ba = peer_at(b, a);
	struct chan *chan = (struct chan *) eng_peer_chan(ab);
	struct shm_conn *conn;

	fake_send(ab, 1, 0);
	FAKE_UNTIL(2000, (fake_pull_some(b), ba->rx_cnt == 1));
	conn = chan->conn;
	look_now(conn);
	assert_true(list_empty(&conn->unread_node));
	b->later = 100;
	catch_start();
	fake_send(ab, 4000, 0);
	assert_int_equal(ab->done_cnt, ab->tx_seq);
	look_now(conn);
	assert_false(list_empty(&conn->unread_node));
	look_now(conn);
	assert_int_equal(caught.cnt, 0);
	conn->unread_ns -= CHAN_STALL_NS;
	look_now(conn);
	assert_int_equal(caught.cnt, 1);
	assert_int_equal(caught.level[0], FI_LOG_WARN);
	assert_non_null(strstr(caught.line[0], "has taken nothing for 10 s"));
	conn->unread_ns -= CHAN_STALL_NS;
	look_now(conn);
	assert_int_equal(caught.cnt, 1);
	catch_stop();
	b->later = 0;
	FAKE_UNTIL(5000, (fake_pull_some(b), ba->rx_cnt == ab->tx_seq));
	look_now(conn);
	assert_true(list_empty(&conn->unread_node) && !conn->out.stall_logged && !conn->poller->unread_cnt);
	fake_close(a, 100);
	fake_close(b, 100);
}

/* A connection from which nothing comes is not active, and a thread that sleeps sees it, too. */
static void a_stall_is_seen_in_a_sleep(void **state)
{
	struct eng_ep *a = ep_at(NULL), *b = ep_at(NULL);
	struct eng_peer *ab = peer_at(a, b), *ba = peer_at(b, a);
	struct chan *chan = (struct chan *) eng_peer_chan(ab);
	struct shm_conn *conn;
	uint64_t now;

	fake_send(ab, 1, 0);
	FAKE_UNTIL(2000, (fake_pull_some(b), ba->rx_cnt == 1));
	conn = chan->conn;
	look_now(conn);
	assert_int_equal(conn->poller->unread_cnt, 0);
	b->later = 100;
	shm_poller_deactivate(conn->poller, conn);
	fake_poll();
	fake_send(ab, 4000, 0);
	now = clock_ns();
	assert_int_equal(conn->poller->unread_cnt, 1);
	assert_true(conn->poller->unread_due_ns <= now + CLOCK_NS_PER_S);
	fake_close(a, 100);
	fake_close(b, 100);
}

/* A packet that is not kept is sent, or the answer says whether room is expected soon: while the receiver
 * takes packets.
 */
static void room_is_expected_of_a_receiver_that_takes_packets(void **state)
{
	struct eng_peer *ab, *ba;
	struct eng_ep *a, *b;
	struct chan *chan;
	unsigned i;
	uint64_t end;
	int ret;

	need_speed();
	a = ep_at(NULL);
	b = ep_at(NULL);
	ab = peer_at(a, b);
	ba = peer_at(b, a);
	chan = (struct chan *) eng_peer_chan(ab);
	assert_int_equal(fake_once(ab, 4000), -FI_ENOBUFS);	/* not connected */
	fake_send(ab, 1, 0);
	FAKE_UNTIL(2000, (fake_pull_some(b), ba->rx_cnt == 1));
	b->later = 100;
	for (i = 0; i < 60; i++)
		fake_send(ab, 4000, 0);
	assert_false(list_empty(&chan->pending));
	fake_once(ab, 4000);
	end = clock_ns() + 2 * SHM_STUCK_NS;
	while (clock_ns() < end)
		;
	assert_int_equal(fake_once(ab, 4000), -FI_ENOBUFS);
	b->later = 0;
	FAKE_UNTIL(5000, (fake_pull_some(b), ba->rx_cnt == 61 && ab->done_cnt == 61));
	assert_int_equal(fake_once(ab, 4000), ENG_SEND_SENT);	/* it has moved since */
	b->later = 100;
	do
		ret = fake_once(ab, 4000);
	while (ret == ENG_SEND_SENT);
	assert_int_equal(ret, -FI_EAGAIN);
	assert_int_equal(fake_once(ab, PULL_SIZE), -FI_ENOBUFS);
	b->later = 0;
	FAKE_UNTIL(5000, (fake_pull_some(b), ba->rx_cnt == ab->tx_seq));
	fake_close(a, 100);
	fake_close(b, 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_slow_receiver_limits_the_sender),
		TEST(a_stall_is_logged_once),
		TEST(a_stall_with_room_in_the_ring_is_logged_once),
		TEST(a_stall_is_seen_in_a_sleep),
		TEST(room_is_expected_of_a_receiver_that_takes_packets),
	};

	shm_conf.pull_size = PULL_SIZE;
	return cmocka_run_group_tests(tests, NULL, NULL);
}

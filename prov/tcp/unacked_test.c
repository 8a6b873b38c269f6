/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Peers that acknowledge nothing: what the system reports of a connection is set by the test, and
 * so is the time.
 */
#include <linux/tcp.h>

enum { SOCKET_INFO = TCP_INFO };	/* conf.h defines a TCP_INFO that logs */
#undef TCP_INFO

#include "obj/test/log_catch.h"
#include "tcp/test/far.h"

#define MS CLOCK_NS_PER_MS
#define LIMIT_MS 8000u
#define INTERVAL (LIMIT_MS * MS / 8)
#define BOUND (LIMIT_MS * MS - 2 * INTERVAL)
#define BEGIN (1000000 * MS)

static struct tcp_info info;
static int info_ret;

int __real_getsockopt(int fd, int level, int name, void *value, socklen_t *len);
/* Visible, since the runtimes of sanitizers call the function, too. */
__attribute__((visibility("default")))
int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *len);

int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *len)
{
	if (level != IPPROTO_TCP || name != SOCKET_INFO)
		return __real_getsockopt(fd, level, name, value, len);
	memcpy(value, &info, sizeof(info));
	return info_ret;
}

/* open_sent - a connection on which bytes were sent; the peer retransmits nothing by itself. */
static struct far open_sent(void)
{
	struct far far;

	tcp_conf.keepalive.unacked_ms = LIMIT_MS;
	far = far_open(1);
	info = (struct tcp_info) { .tcpi_unacked = 1 };
	info_ret = 0;
	assert_int_equal(far_send(&far, 20, 0), 1);
	return far;
}

static bool watched(const struct far *far)
{
	return !list_empty(&far->conn->unacked_node);
}

static bool check(struct far *far, uint64_t after)
{
	tcp_unacked_check(far->conn->poller, BEGIN + after);
	return far->conn->state == TCP_CONN_READY;
}

static void a_send_is_watched_until_all_is_acknowledged(void **state)
{
	struct far far = open_sent();
	struct tcp_poller *poller = far.conn->poller;

	assert_true(watched(&far));
	assert_true(poller->unacked_due_ns != UINT64_MAX);
	assert_true(check(&far, 0));
	assert_true(watched(&far));
	assert_int_equal(poller->unacked_due_ns, BEGIN + INTERVAL);
	/* bytes that the system has not sent count, too */
	info.tcpi_unacked = 0;
	info.tcpi_notsent_bytes = 1;
	assert_true(check(&far, 0));
	assert_true(watched(&far));
	info.tcpi_notsent_bytes = 0;
	assert_true(check(&far, 0));
	assert_false(watched(&far));
	assert_int_equal(poller->unacked_due_ns, UINT64_MAX);
	assert_int_equal(far_send(&far, 20, 0), 1);
	assert_true(watched(&far));
	far_close(&far);
}

static void a_peer_that_acknowledges_is_never_lost(void **state)
{
	struct far far = open_sent();

	/* the system retransmits nothing: the connection has nothing overdue */
	info.tcpi_last_ack_recv = 100 * LIMIT_MS;
	assert_true(check(&far, 0));
	assert_true(check(&far, 100 * LIMIT_MS * MS));
	/* retransmits, but an acknowledgement has arrived each time */
	info.tcpi_retransmits = 1;
	info.tcpi_last_ack_recv = 0;
	assert_true(check(&far, 200 * LIMIT_MS * MS));
	assert_true(check(&far, 300 * LIMIT_MS * MS));
	far_close(&far);
}

static void silence_counts_from_the_first_retransmission(void **state)
{
	struct far far = open_sent();

	info.tcpi_last_ack_recv = 100 * LIMIT_MS;	/* idle for long before the send */
	info.tcpi_retransmits = 1;
	assert_true(check(&far, 0));		/* began within the last interval */
	assert_true(check(&far, BOUND - INTERVAL - MS));
	assert_false(check(&far, BOUND - INTERVAL));
	assert_int_equal(far.conn->err, FI_ETIMEDOUT);
	assert_false(far.conn->clean_end);
	FAKE_UNTIL(2000, far.peer->down == 1);
	assert_int_equal(far.peer->err, FI_ETIMEDOUT);
	far_close(&far);
}

static void an_acknowledgement_begins_the_time_anew(void **state)
{
	struct far far = open_sent();

	info.tcpi_retransmits = 1;
	info.tcpi_last_ack_recv = 100 * LIMIT_MS;
	assert_true(check(&far, 0));
	info.tcpi_last_ack_recv = 10;
	assert_true(check(&far, 4 * INTERVAL));
	info.tcpi_last_ack_recv = 10 + LIMIT_MS / 8;
	assert_true(check(&far, 5 * INTERVAL));		/* beyond the limit of the first silence */
	info.tcpi_last_ack_recv = (unsigned) (BOUND / MS);
	assert_false(check(&far, 4 * INTERVAL - 10 * MS + BOUND));
	far_close(&far);
}

static void a_closed_window_is_no_loss_until_two_probes_fail(void **state)
{
	struct far far = open_sent();

	info.tcpi_last_ack_recv = 100 * LIMIT_MS;
	info.tcpi_probes = 1;
	assert_true(check(&far, 0));
	assert_true(check(&far, 10 * LIMIT_MS * MS));
	info.tcpi_probes = 2;
	assert_true(check(&far, 11 * LIMIT_MS * MS));
	assert_false(check(&far, 11 * LIMIT_MS * MS + BOUND));
	far_close(&far);
}

/* Its window is closed, and it answers the probes: named in the log, once for each stall. */
static void a_peer_that_takes_nothing_is_named(void **state)
{
	struct far far = open_sent();

	info = (struct tcp_info) { .tcpi_notsent_bytes = 1, .tcpi_bytes_acked = 100 };
	catch_start();
	assert_true(check(&far, 0));
	assert_true(check(&far, CHAN_STALL_NS - MS));
	assert_int_equal(caught.cnt, 0);
	info.tcpi_bytes_acked = 101;	/* it has taken something */
	assert_true(check(&far, CHAN_STALL_NS));
	assert_true(check(&far, 2 * CHAN_STALL_NS - MS));
	assert_int_equal(caught.cnt, 0);
	assert_true(check(&far, 2 * CHAN_STALL_NS));
	assert_int_equal(caught.cnt, 1);
	assert_int_equal(caught.level[0], FI_LOG_WARN);
	assert_non_null(strstr(caught.line[0], "has taken nothing for 10 s"));
	assert_true(check(&far, 9 * CHAN_STALL_NS));
	assert_int_equal(caught.cnt, 1);
	/* what the size of segments explains is said once */
	info.tcpi_bytes_acked = 102;
	far.conn->silence_logged = true;
	assert_true(check(&far, 10 * CHAN_STALL_NS));
	assert_true(check(&far, 12 * CHAN_STALL_NS));
	assert_int_equal(caught.cnt, 1);
	catch_stop();
	far_close(&far);
}

/* Its system acknowledges all, and what its library has to answer stands in the buffer of its socket. */
static void a_peer_that_owes_an_answer_is_named(void **state)
{
	struct far far = open_sent();

	info = (struct tcp_info) { .tcpi_bytes_acked = 100, .tcpi_bytes_received = 50 };
	fake_asks = true;
	catch_start();
	assert_true(check(&far, 0));
	assert_true(watched(&far));
	info.tcpi_bytes_received = 51;
	assert_true(check(&far, CHAN_STALL_NS));
	info.tcpi_bytes_acked = 200;	/* more was sent to it, which says nothing */
	assert_true(check(&far, 2 * CHAN_STALL_NS - MS));
	assert_int_equal(caught.cnt, 0);
	assert_true(check(&far, 2 * CHAN_STALL_NS));
	assert_int_equal(caught.cnt, 1);
	assert_non_null(strstr(caught.line[0], "has taken nothing for 10 s"));
	assert_true(check(&far, 9 * CHAN_STALL_NS));
	assert_int_equal(caught.cnt, 1);
	catch_stop();
	fake_asks = false;
	assert_true(check(&far, 9 * CHAN_STALL_NS));
	assert_false(watched(&far));
	far_close(&far);
}

static void retransmission_that_ended_is_forgotten(void **state)
{
	struct far far = open_sent();

	info.tcpi_last_ack_recv = 100 * LIMIT_MS;
	info.tcpi_retransmits = 3;
	assert_true(check(&far, 0));
	info.tcpi_retransmits = 0;
	assert_true(check(&far, INTERVAL));
	assert_int_equal(far.conn->silent_ns, 0);
	info.tcpi_retransmits = 1;
	assert_true(check(&far, BOUND));	/* begins here, not at the first */
	far_close(&far);
}

static void a_socket_without_the_information_is_left_to_the_system(void **state)
{
	struct far far = open_sent();

	info_ret = -1;
	assert_true(check(&far, 0));
	assert_false(watched(&far));
	far_close(&far);
}

static void only_the_silent_one_of_two_is_lost(void **state)
{
	struct far far = open_sent();
	struct tcp_poller *poller = far.conn->poller;
	struct tcp_conn *conn = stream_conn(far.link, &stream_lane[1]);

	tcp_conn_set_state(conn, TCP_CONN_READY);
	tcp_conn_set_state(conn, TCP_CONN_CLOSING);	/* nothing is asked of it */
	list_add_tail(&conn->unacked_node, &poller->unacked);
	assert_true(check(&far, 0));
	assert_true(watched(&far));
	assert_true(list_empty(&conn->unacked_node));
	tcp_conn_close(conn);
	close(stream_lane[1].fd);
	far_close(&far);
}

static void without_a_limit_nothing_is_watched(void **state)
{
	struct far far;

	tcp_conf.keepalive.unacked_ms = 0;
	far = far_open(1);
	assert_int_equal(far_send(&far, 20, 0), 1);
	assert_false(watched(&far));
	tcp_conf.keepalive.unacked_ms = LIMIT_MS;
	tcp_conf.keepalive_on = 0;
	assert_int_equal(far_send(&far, 20, 0), 1);
	assert_false(watched(&far));
	tcp_conf.keepalive_on = 1;
	assert_int_equal(far_send(&far, 20, 0), 1);
	assert_true(watched(&far));
	far_close(&far);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_send_is_watched_until_all_is_acknowledged),
		TEST(a_peer_that_acknowledges_is_never_lost),
		TEST(silence_counts_from_the_first_retransmission),
		TEST(an_acknowledgement_begins_the_time_anew),
		TEST(a_closed_window_is_no_loss_until_two_probes_fail),
		TEST(a_peer_that_takes_nothing_is_named),
		TEST(a_peer_that_owes_an_answer_is_named),
		TEST(retransmission_that_ended_is_forgotten),
		TEST(a_socket_without_the_information_is_left_to_the_system),
		TEST(only_the_silent_one_of_two_is_lost),
		TEST(without_a_limit_nothing_is_watched),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

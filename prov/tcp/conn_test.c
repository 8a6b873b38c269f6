/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * The life of a connection: its states, what ends with each, and what is reported.
 */
#include "tcp/test/far.h"

#include <signal.h>

/* accepted - a connection in HALF_OPEN. */
static struct tcp_conn *accepted(struct far *far)
{
	struct tcp_conn *conn;
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair),
			 0);
	assert_int_equal(tcp_conn_new(far->link, &tcp_rdm_wireup, pair[0], TCP_CONN_HALF_OPEN, &conn),
			 0);
	close(pair[1]);
	return conn;
}

/* asserts - does setting @state in a connection that is in @was end the process? */
static bool asserts(struct far *far, enum tcp_conn_state was, enum tcp_conn_state state)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		struct tcp_conn *conn = accepted(far);

		signal(SIGABRT, SIG_DFL);
		if (!freopen("/dev/null", "w", stderr))
			_exit(2);
		conn->state = was;
		tcp_conn_set_state(conn, state);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return WIFSIGNALED(status);
}

static void only_legal_edges_are_taken(void **state)
{
#ifdef NDEBUG
	skip();
#else
	struct far far = far_open(1);

	assert_false(asserts(&far, TCP_CONN_CONNECTING, TCP_CONN_HELLO_SENT));
	assert_true(asserts(&far, TCP_CONN_CONNECTING, TCP_CONN_READY));
	assert_false(asserts(&far, TCP_CONN_HALF_OPEN, TCP_CONN_REQUESTED));
	assert_true(asserts(&far, TCP_CONN_REQUESTED, TCP_CONN_FAILED));
	assert_true(asserts(&far, TCP_CONN_READY, TCP_CONN_READY));
	assert_true(asserts(&far, TCP_CONN_FAILED, TCP_CONN_READY));
	assert_false(asserts(&far, TCP_CONN_FAILED, TCP_CONN_CLOSED));
	far_close(&far);
#endif
}

static void what_belongs_to_a_state_ends_with_it(void **state)
{
	struct far far = far_open(1);
	unsigned half_open = far.link->listener.half_open;
	struct tcp_conn *a = accepted(&far), *b = accepted(&far);
	struct list parkable;

	list_init(&parkable);
	assert_false(a->ours);
	assert_int_equal(far.link->listener.half_open, half_open + 2);
	assert_non_null(a->handshake);
	tcp_conn_set_state(a, TCP_CONN_REQUESTED);
	assert_int_equal(far.link->listener.half_open, half_open + 1);
	assert_non_null(a->handshake);		/* the program's answer goes there */
	tcp_conn_set_state(a, TCP_CONN_READY);
	assert_null(a->handshake);
	list_add_tail(&a->park.node, &parkable);
	tcp_conn_fail(a, FI_ETIMEDOUT, false);
	assert_true(list_empty(&parkable));
	tcp_conn_close(a);
	tcp_conn_close(b);
	assert_int_equal(far.link->listener.half_open, half_open);
	assert_null(b->handshake);
	far_close(&far);
}

static void the_first_failure_counts(void **state)
{
	struct far far = far_open(1);

	tcp_conn_fail(far.conn, FI_ETIMEDOUT, true);
	tcp_conn_fail(far.conn, FI_ECONNRESET, false);
	assert_int_equal(far.conn->state, TCP_CONN_FAILED);
	assert_int_equal(far.conn->was, TCP_CONN_READY);
	assert_int_equal(far.conn->err, FI_ETIMEDOUT);
	assert_true(far.conn->clean_end);
	/* a packet that is sent before the next poll gets the error; no upcall yet */
	assert_true(far.chan->base.failed);
	assert_int_equal(far_send(&far, 10, 0), -FI_ETIMEDOUT);
	assert_int_equal(far.peer->down, 0);
	assert_int_equal(far.conn->src.events, 0);
	FAKE_UNTIL(2000, far.peer->down);
	fake_poll();
	assert_int_equal(far.peer->down, 1);
	assert_int_equal(far.peer->err, FI_ETIMEDOUT);
	far_close(&far);
}

static void a_connection_that_is_not_the_channels_leaves_it_alone(void **state)
{
	struct far far = far_open(1);
	struct tcp_conn *conn = accepted(&far);

	conn->chan = far.chan;
	tcp_conn_fail(conn, FI_ECONNRESET, false);
	assert_false(far.chan->base.failed);
	assert_int_equal(far_send(&far, 10, 0), 1);
	conn->chan = NULL;
	fake_poll();
	assert_int_equal(far.peer->down, 0);
	far_close(&far);
}

static void closed_memory_stays_until_the_end_of_the_poll(void **state)
{
	struct far far = far_open(1);
	struct tcp_conn *conn = accepted(&far);
	struct tcp_poller *poller = conn->poller;
	int fd = conn->src.fd;

	assert_int_equal(chan_src_want(&poller->base, &conn->src, POLLIN), 0);
	tcp_conn_close(conn);
	assert_int_equal(conn->state, TCP_CONN_CLOSED);
	assert_int_equal(conn->src.fd, -1);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
	assert_ptr_equal(poller->dead.next, &conn->state_node);
	tcp_conn_close(conn);		/* nothing more happens */
	assert_ptr_equal(poller->dead.next, poller->dead.prev);
	tcp_poller_reap(poller);
	assert_true(list_empty(&poller->dead));
	far_close(&far);
}

static void promised_payload_is_reported_as_lost_once(void **state)
{
	struct far far = far_open(1);
	uint8_t buf[FAR_HEAD + 50];

	far.ep->verdict = 1 + ENG_RX_PLACE;
	far_frame(buf, 0, 50);
	far_say(0, buf, FAR_HEAD + 20);
	FAKE_UNTIL(2000, far.ep->placing == 1);
	tcp_conn_fail(far.conn, FI_ETIMEDOUT, false);
	assert_int_equal(far.ep->placing, 1);
	FAKE_UNTIL(2000, far.peer->down);
	assert_int_equal(far.ep->placing, 0);	/* the fake engine asserts that it is no more than once */
	assert_int_equal(far.peer->rx_cnt, 0);
	far_close(&far);
}

static void only_useful_events_are_asked_for(void **state)
{
	struct far far = far_open(1);
	struct tcp_conn *conn = far.conn;

	assert_int_equal(tcp_conn_watch(conn), 0);
	assert_int_equal(conn->src.events, TCP_CONN_IN);
	conn->tx.blocked = true;
	tcp_conn_watch(conn);
	assert_int_equal(conn->src.events, TCP_CONN_IN | POLLOUT);
	conn->rx.masked = true;
	tcp_conn_watch(conn);
	assert_int_equal(conn->src.events, POLLOUT);
	conn->tx.blocked = false;
	tcp_conn_watch(conn);
	assert_int_equal(conn->src.events, 0);
	conn->rx.masked = false;
	conn->detached = true;
	tcp_conn_watch(conn);
	assert_int_equal(conn->src.events, 0);
	conn->detached = false;
	conn->rx.kept = (uint8_t *) conn;
	tcp_conn_watch(conn);
	assert_int_equal(conn->src.events, 0);
	conn->rx.kept = NULL;
	far_close(&far);
}

/* Between the listener and the endpoint that accepts it a connection belongs to none. */
static void a_request_moves_to_another_link(void **state)
{
	struct far far = far_open(1);
	struct eng_ep *other = fake_ep(FI_EP_RDM, 0);
	struct tcp_link *link = container_of(other->link, struct tcp_link, base.base);
	struct tcp_conn *conn = accepted(&far);
	int fd = conn->src.fd;

	assert_int_equal(chan_src_want(&conn->poller->base, &conn->src, POLLIN), 0);
	chan_poller_timer(&conn->poller->base, &conn->timer, clock_ns() + 1);
	tcp_conn_set_state(conn, TCP_CONN_REQUESTED);
	tcp_conn_detach(conn);
	assert_null(conn->poller);
	assert_null(conn->link);
	assert_int_equal(conn->src.events, 0);
	usleep(1000);
	fake_poll();			/* its timer is off */
	assert_int_equal(conn->state, TCP_CONN_REQUESTED);
	assert_int_equal(tcp_conn_attach(conn, link), 0);
	assert_ptr_equal(conn->link, link);
	assert_ptr_equal(conn->poller, link->poller);
	assert_ptr_equal(link->conns.prev, &conn->node);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	fake_close(other, 0);		/* closes it */
	assert_int_equal(fcntl(fd, F_GETFD), -1);
	far_close(&far);
}

/* forget - the engine forgets the peer, which closes the connection in good order. */
static void forget(struct far *far)
{
	far->ep->link->ops->peer_put(far->ep->link, far->peer);
	memset(far->peer->chan, 0, sizeof(far->peer->chan));
}

static void an_orderly_close_sends_what_is_staged(void **state)
{
	struct far far = far_open(1);
	uint8_t byte;

	assert_int_equal(far_send(&far, 20, ENG_PKT_MORE), 1);
	far_none(0);
	forget(&far);
	assert_int_equal(far.conn->state, TCP_CONN_CLOSING);
	far_expect(0, 20);
	assert_int_equal(recv(stream_lane[0].fd, &byte, 1, 0), 0);
	/* the peer ends its own stream: now it is closed */
	shutdown(stream_lane[0].fd, SHUT_WR);
	FAKE_UNTIL(2000, list_empty(&far.link->conns));
	far_close(&far);
}

static void a_failed_connection_has_nothing_to_send_when_it_closes(void **state)
{
	struct far far = far_open(1);

	tcp_conn_fail(far.conn, FI_ECONNRESET, false);
	forget(&far);
	assert_int_equal(far.conn->state, TCP_CONN_CLOSED);
	far_close(&far);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(only_legal_edges_are_taken),
		TEST(what_belongs_to_a_state_ends_with_it),
		TEST(the_first_failure_counts),
		TEST(a_connection_that_is_not_the_channels_leaves_it_alone),
		TEST(closed_memory_stays_until_the_end_of_the_poll),
		TEST(promised_payload_is_reported_as_lost_once),
		TEST(only_useful_events_are_asked_for),
		TEST(a_request_moves_to_another_link),
		TEST(an_orderly_close_sends_what_is_staged),
		TEST(a_failed_connection_has_nothing_to_send_when_it_closes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

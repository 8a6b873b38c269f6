/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * The end of a connection: each failure is reported once, by a poll, and an endpoint that
 * closes delivers what was sent before.
 */
#include "rxm/test/rig.h"

#define PEER 7

/* ---- failures ------------------------------------------------------------------------------ */

static void the_first_failure_is_reported_once(void **state)
{
	struct eng_ep *a = rig_ep(1);
	struct eng_peer *peer = rig_peer(a, PEER);
	struct rxm_conn *conn = rig_conn(peer);

	rig_established(a, PEER);
	rxm_conn_fail(conn, FI_EIO);
	rxm_conn_fail(conn, FI_ENOMEM);
	assert_null(conn->chan.conn);
	assert_int_equal(peer->down, 0);	/* no upcall from here */
	rig_polls(3);
	assert_int_equal(peer->down, 1);
	assert_int_equal(peer->err, FI_EIO);
	assert_int_equal(conn->chan.state, CHAN_IDLE);
	assert_int_equal(msg_prov.eps, 0);
	/* without a connection there is nothing that fails */
	rxm_conn_fail(conn, FI_EIO);
	rig_polls(2);
	assert_int_equal(peer->down, 1);
	fake_close(a, 0);
}

/* An endpoint below answers so when its connection has ended. */
static void the_end_below_is_a_reset(void **state)
{
	static const int errors[] = { FI_ENOTCONN, FI_ESHUTDOWN, FI_ECANCELED };
	struct eng_ep *a = rig_ep(1);
	struct eng_peer *peer = rig_peer(a, PEER);
	int i;

	for (i = 0; i < 3; i++) {
		rig_established(a, PEER);
		rxm_conn_fail(rig_conn(peer), errors[i]);
		rig_polls(2);
		assert_int_equal(peer->down, i + 1);
		assert_int_equal(peer->err, FI_ECONNRESET);
	}
	fake_close(a, 0);
}

static void a_failed_connection_is_replaced(void **state)
{
	struct eng_ep *a = rig_ep(1);
	struct eng_peer *peer = rig_peer(a, PEER);
	struct msg_req *req;

	rig_established(a, PEER);
	req = rig_request(1, PEER, 77, 2, 0);
	rxm_conn_fail(rig_conn(peer), FI_EIO);
	rig_polls(3);
	assert_true(req->accepted);
	assert_int_equal(peer->down, 1);
	msg_prov_confirm(req);
	rig_polls(2);
	assert_int_equal(peer->up, 2);
	assert_int_equal(rig_conn(peer)->chan.state, CHAN_READY);
	msg_prov_free(req);
	fake_close(a, 0);
}

static void an_end_without_notice_is_a_warning(void **state)
{
	struct eng_ep *a = rig_ep(1);
	struct rxm_ep *ep = rig_established(a, PEER);

	caught.cnt = 0;
	msg_prov_shutdown(ep->fid);
	rig_polls(3);
	assert_int_equal(caught.cnt, 1);
	assert_int_equal(caught.level[0], FI_LOG_WARN);
	assert_non_null(strstr(caught.line[0], "lost the connection"));
	fake_close(a, 0);
}

/* ---- closing ---------------------------------------------------------------------------------- */

static void an_endpoint_that_closes_says_so(void **state)
{
	struct eng_peer *ab, *ba;
	struct eng_ep *a, *b;

	rig_pair(&a, &b, &ab, &ba);
	fake_send(ab, 100, 0);
	fake_send(ab, 100, 0);	/* waits for the next poll */
	b->verdict = 1 + ENG_RX_DONE;
	caught.cnt = 0;
	fake_close(a, 100);
	rig_polls(3);
	assert_int_equal(ba->rx_cnt, 2);
	assert_int_equal(ba->down, 1);
	assert_int_equal(caught.cnt, 1);
	assert_int_equal(caught.level[0], FI_LOG_INFO);
	fake_close(b, 0);
}

/* The peer has to read it from our memory first. */
static void close_waits_for_rendezvous(void **state)
{
	struct eng_ep *a = rig_ep(1);
	struct rxm_ep *ep = rig_established(a, PEER);
	struct chan *chan = &rig_conn(rig_peer(a, PEER))->chan;
	struct rig_msg msg = rig_msg(RXM_F_CTRL, 0);

	fake_send(rig_peer(a, PEER), 20000, 0);
	assert_false(rxm_conn_finish(chan));
	assert_int_equal(rig_sent(ep).head.flags & RXM_F_CLOSE, 0);
	rig_done(&msg, rig_sent(ep).item[0].id);
	rig_deliver(ep, &msg);
	rig_polls(1);
	assert_true(rxm_conn_finish(chan));
	assert_int_equal(rig_sent(ep).head.flags, RXM_F_CTRL | RXM_F_CLOSE);
	fake_close(a, 0);
}

static void close_does_not_wait_for_ever(void **state)
{
	struct eng_ep *a = rig_ep(1);
	struct eng_peer *peer = rig_peer(a, PEER);
	uint64_t start = clock_ns();

	rig_established(a, PEER);
	fake_send(peer, 20000, 0);
	fake_done_status = 0;
	fake_close(a, 100);
	assert_true(clock_ns() - start >= 100 * MS);
	assert_int_equal(fake_done_status, -FI_ECANCELED);
	assert_int_equal(msg_prov.mrs, 0);
}

static void close_does_not_wait_for_what_has_failed(void **state)
{
	struct eng_ep *a = rig_ep(1);
	struct eng_peer *peer = rig_peer(a, PEER);

	rig_established(a, PEER);
	fake_send(peer, 20000, 0);
	rxm_conn_fail(rig_conn(peer), FI_EIO);
	assert_true(rxm_conn_finish(&rig_conn(peer)->chan));
	fake_close(a, 0);
}

static void packets_of_an_attempt_are_waited_for(void **state)
{
	struct eng_ep *a = rig_ep(1), *b = rig_ep(2);
	struct eng_peer *ab = rig_peer(a, 2);

	b->verdict = 1 + ENG_RX_DONE;
	fake_send(ab, 100, 0);
	assert_int_equal(rig_conn(ab)->chan.state, CHAN_CONNECTING);
	assert_false(rxm_conn_finish(&rig_conn(ab)->chan));
	fake_close(a, 1000);
	rig_polls(3);
	assert_int_equal(rig_peer(b, 1)->rx_cnt, 1);
	fake_close(b, 0);
}

/* The engine forgets a peer, in any state. */
static void peers_are_put(void **state)
{
	struct eng_ep *a = rig_ep(1);
	struct eng_peer *peer = rig_peer(a, PEER), *other = rig_peer(a, 9);

	rig_established(a, PEER);
	fake_send(peer, 20000, 0);
	rxm_link_ops.peer_put(a->link, peer);
	assert_int_equal(peer->lost_cnt, 1);
	msg_prov_blackhole(9);
	fake_send(other, 100, 0);
	rxm_link_ops.peer_put(a->link, other);
	assert_int_equal(other->lost_cnt, 1);
	assert_int_equal(msg_prov.eps, 0);
	rig_sleep(3000);
	assert_int_equal(peer->down + other->down, 0);
	fake_close(a, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(the_first_failure_is_reported_once),
		RIG_TEST(the_end_below_is_a_reset),
		RIG_TEST(a_failed_connection_is_replaced),
		RIG_TEST(an_end_without_notice_is_a_warning),
		RIG_TEST(an_endpoint_that_closes_says_so),
		RIG_TEST(close_waits_for_rendezvous),
		RIG_TEST(close_does_not_wait_for_ever),
		RIG_TEST(close_does_not_wait_for_what_has_failed),
		RIG_TEST(packets_of_an_attempt_are_waited_for),
		RIG_TEST(peers_are_put),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

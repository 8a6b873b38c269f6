/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Credits, bursts, control messages and rendezvous of ours: an endpoint against a peer that
 * the test plays.  The peer has 4 receive buffers, and accepts 2 rendezvous.
 */
#include "rxm/test/rig.h"

#define PEER 7
#define LONG 20000		/* payload that fits into no message */

/* ---- bursts ----------------------------------------------------------------------------- */

static void the_first_of_a_burst_is_sent_at_once(void **state)
{
	struct eng_ep *a = rig_ep(1);
	struct rxm_ep *ep = rig_established(a, PEER);
	struct eng_peer *peer = rig_peer(a, PEER);
	unsigned before = msg_prov.sends, i;

	fake_send(peer, 40, 0);
	assert_int_equal(msg_prov.sends, before + 1);
	for (i = 0; i < 5; i++)
		fake_send(peer, 40, 0);
	assert_int_equal(msg_prov.sends, before + 1);
	assert_true(atomic_load(&fake_prog.staged));
	rig_polls(1);
	assert_int_equal(msg_prov.sends, before + 2);
	assert_int_equal(rig_sent(ep).cnt, 5);
	/* reading the last completion polls no more */
	assert_false(atomic_load(&fake_prog.staged));
	assert_int_equal(peer->done_cnt, 6);
	fake_close(a, 0);
}

static void more_waits_for_what_follows(void **state)
{
	struct eng_ep *a = rig_ep(1);
	struct rxm_ep *ep = rig_established(a, PEER);
	unsigned before = msg_prov.sends;

	fake_send(rig_peer(a, PEER), 40, ENG_PKT_MORE);
	assert_int_equal(msg_prov.sends, before);
	fake_send(rig_peer(a, PEER), 40, 0);
	assert_int_equal(msg_prov.sends, before + 1);
	assert_int_equal(rig_sent(ep).cnt, 2);
	fake_close(a, 0);
}

/* Where the progress thread alone polls, its next poll may be far away. */
static void without_an_application_that_polls_nothing_waits(void **state)
{
	struct eng_ep *a = rig_ep(1);
	struct obj_poller *poller;
	unsigned before, i;

	rig_established(a, PEER);
	poller = container_of(fake_prog.pollers.next, struct obj_poller, node);
	poller->ops->poll(poller, OBJ_POLL_BUDGET);
	before = msg_prov.sends;
	for (i = 0; i < 3; i++)
		fake_send(rig_peer(a, PEER), 40, 0);
	assert_int_equal(msg_prov.sends, before + 3);
	fake_close(a, 0);
}

/* ---- credits ------------------------------------------------------------------------------ */

/* Sends until the peer's credits are consumed, and 3 packets more. */
static void exhaust(struct eng_peer *peer)
{
	unsigned before = msg_prov.sends, i;

	for (i = 0; i < 7; i++) {
		fake_send(peer, 4000, 0);	/* one fills a message */
		rig_polls(1);
	}
	assert_int_equal(msg_prov.sends, before + 4);
	assert_int_equal(rig_conn(peer)->credits, 0);
}

static void without_credits_messages_wait(void **state)
{
	struct eng_ep *a = rig_ep(1);
	struct rxm_ep *ep = rig_established(a, PEER);
	struct eng_peer *peer = rig_peer(a, PEER);
	struct rig_msg msg = rig_msg(RXM_F_CTRL, 1);
	unsigned before = msg_prov.sends;

	exhaust(peer);
	/* one more was copied, and two wait as they are */
	assert_int_equal(peer->done_cnt, 5);
	rig_deliver(ep, &msg);
	rig_polls(2);
	assert_int_equal(msg_prov.sends, before + 5);
	msg = rig_msg(RXM_F_CTRL, 4);
	rig_deliver(ep, &msg);
	rig_polls(2);
	assert_int_equal(msg_prov.sends, before + 7);
	assert_int_equal(peer->done_cnt, 7);
	assert_int_equal(rig_conn(peer)->credits, 2);
	fake_close(a, 0);
}

/* A peer that returns no credits is named in the log, once, while messages wait. */
static void a_stall_is_logged_once(void **state)
{
	struct eng_ep *a = rig_ep(1);
	struct rxm_ep *ep = rig_established(a, PEER);
	struct eng_peer *peer = rig_peer(a, PEER);
	struct rig_msg msg = rig_msg(RXM_F_CTRL, 1);

	exhaust(peer);
	caught.cnt = 0;
	rig_sleep(9900);
	assert_int_equal(caught.cnt, 0);
	rig_sleep(2000);
	assert_int_equal(caught.cnt, 1);
	assert_int_equal(caught.level[0], FI_LOG_WARN);
	assert_non_null(strstr(caught.line[0], "has taken nothing for 1"));
	rig_sleep(20000);
	assert_int_equal(caught.cnt, 1);
	/* the next stall begins when the credit is used up */
	rig_deliver(ep, &msg);
	rig_sleep(9000);
	assert_int_equal(caught.cnt, 1);
	assert_false(list_empty(&rig_conn(peer)->starved_node));
	msg = rig_msg(RXM_F_CTRL, 4);
	rig_deliver(ep, &msg);
	rig_sleep(20000);
	assert_int_equal(caught.cnt, 1);
	assert_true(list_empty(&rig_conn(peer)->starved_node));
	fake_close(a, 0);
}

static void credits_are_returned_by_halves(void **state)
{
	struct eng_ep *a = rig_ep(1);
	struct rxm_ep *ep = rig_established(a, PEER);
	unsigned before = msg_prov.sends, i;
	struct rig_msg msg;

	a->verdict = 1 + ENG_RX_DONE;
	for (i = 0; i < 4; i++) {
		msg = rig_msg(0, 0);
		rig_eager(&msg, i, 10);
		rig_deliver(ep, &msg);
		rig_polls(2);
		assert_int_equal(msg_prov.sends, before + (i + 1) / 2);
	}
	assert_int_equal(rig_sent(ep).head.flags, RXM_F_CTRL);
	assert_int_equal(rig_sent(ep).head.credits, 2);
	/* a message that is sent anyway returns a single one */
	msg = rig_msg(0, 0);
	rig_eager(&msg, 4, 10);
	rig_deliver(ep, &msg);
	rig_polls(2);
	assert_int_equal(msg_prov.sends, before + 2);
	fake_send(rig_peer(a, PEER), 10, 0);
	assert_int_equal(rig_sent(ep).head.flags, 0);
	assert_int_equal(rig_sent(ep).head.credits, 1);
	fake_close(a, 0);
}

/* Or two endpoints that have nothing to say would answer each other for ever. */
static void control_messages_are_no_credits(void **state)
{
	struct eng_ep *a = rig_ep(1);
	struct rxm_ep *ep = rig_established(a, PEER);
	struct rig_msg msg = rig_msg(RXM_F_CTRL, 0);
	unsigned before = msg_prov.sends, i;

	for (i = 0; i < 20; i++) {
		rig_deliver(ep, &msg);
		rig_polls(1);
	}
	assert_int_equal(msg_prov.sends, before);
	assert_int_equal(rig_conn(rig_peer(a, PEER))->returns, 0);
	fake_close(a, 0);
}

/* The end of the peer's rendezvous passes messages that wait for a credit. */
static void control_messages_need_no_credit(void **state)
{
	struct eng_ep *a = rig_ep(1);
	struct rxm_ep *ep = rig_established(a, PEER);
	struct rig_msg msg = rig_msg(0, 0);
	unsigned before = msg_prov.sends;
	struct fid_mr *mr;
	uint8_t *data = rig_memory(ep, 0, 100, &mr);

	exhaust(rig_peer(a, PEER));
	a->verdict = 1 + ENG_RX_DONE;
	rig_rndv(&msg, 0, data, 100, mr);
	rig_deliver(ep, &msg);
	rig_polls(2);
	assert_int_equal(msg_prov.sends, before + 5);
	assert_int_equal(rig_sent(ep).head.flags, RXM_F_CTRL);
	assert_int_equal(rig_sent(ep).cnt, 1);
	assert_int_equal(rig_sent(ep).item[0].kind, RXM_RNDV_DONE);
	assert_int_equal(rig_sent(ep).item[0].id, 100);
	fi_close(&mr->fid);
	free(data);
	fake_close(a, 0);
}

/* ---- a full queue below ---------------------------------------------------------------------- */

static void a_full_queue_is_tried_again(void **state)
{
	struct eng_ep *a = rig_ep(1);
	struct rxm_ep *ep = rig_established(a, PEER);
	struct eng_peer *peer = rig_peer(a, PEER);
	unsigned before = msg_prov.sends, i;

	msg_prov.tx_room = 0;
	for (i = 0; i < 3; i++)
		fake_send(peer, 40, 0);
	rig_polls(3);
	assert_int_equal(msg_prov.sends, before);
	assert_int_equal(peer->down, 0);
	msg_prov.tx_room = -1;
	rig_polls(1);
	assert_int_equal(msg_prov.sends, before + 1);
	assert_int_equal(rig_sent(ep).cnt, 3);
	assert_int_equal(peer->done_cnt, 3);
	fake_close(a, 0);
}

static void receive_buffers_are_posted_later(void **state)
{
	struct eng_ep *a = rig_ep(1);
	struct rxm_ep *ep = rig_established(a, PEER);
	struct rxm_conn *conn = rig_conn(rig_peer(a, PEER));
	struct rig_msg msg = rig_msg(0, 0);

	a->verdict = 1 + ENG_RX_DONE;
	msg_prov.rx_room = 0;
	rig_eager(&msg, 0, 10);
	rig_deliver(ep, &msg);
	rig_polls(2);
	assert_false(list_empty(&ep->idle));
	assert_int_equal(conn->returns, 0);
	msg_prov.rx_room = -1;
	rig_polls(2);
	assert_true(list_empty(&ep->idle));
	assert_int_equal(conn->returns, 1);
	fake_close(a, 0);
}

/* ---- rendezvous ---------------------------------------------------------------------------------- */

static void a_long_packet_is_done_when_it_was_read(void **state)
{
	struct eng_ep *a = rig_ep(1);
	struct rxm_ep *ep = rig_established(a, PEER);
	struct eng_peer *peer = rig_peer(a, PEER);
	struct rig_msg msg = rig_msg(RXM_F_CTRL, 0);
	const struct rxm_item *item;
	struct rig_sent sent;
	size_t len = 0;
	unsigned i;

	fake_send(peer, LONG, 0);
	sent = rig_sent(ep);
	item = &sent.item[0];
	assert_int_equal(item->kind, RXM_RNDV);
	for (i = 0; i < item->segs; i++) {
		assert_int_equal(*(uint8_t *) (uintptr_t) item->seg[i].addr, fake_byte(0, len));
		len += item->seg[i].len;
	}
	assert_int_equal(len, LONG);
	rig_polls(5);
	assert_int_equal(peer->done_cnt, 0);
	rig_done(&msg, item->id);
	rig_deliver(ep, &msg);
	rig_polls(1);
	assert_int_equal(peer->done_cnt, 1);
	assert_int_equal(msg_prov.mrs, 0);
	fake_close(a, 0);
}

static void the_peer_limits_how_many_are_open(void **state)
{
	struct eng_ep *a = rig_ep(1);
	struct rxm_ep *ep = rig_established(a, PEER);
	struct eng_peer *peer = rig_peer(a, PEER);
	struct rig_msg msg = rig_msg(RXM_F_CTRL, 8);
	unsigned i;

	for (i = 0; i < 4; i++) {
		fake_send(peer, LONG, 0);
		rig_polls(1);
	}
	assert_int_equal(rig_conn(peer)->rndv_cnt, 2);
	rig_done(&msg, 2);
	rig_deliver(ep, &msg);
	rig_polls(2);
	assert_int_equal(rig_conn(peer)->rndv_cnt, 2);
	assert_int_equal(peer->done_cnt, 1);
	/* the third one, in order */
	assert_int_equal(rig_sent(ep).item[0].id, 3);
	assert_int_equal(((const struct fake_hdr *) rig_sent(ep).item[0].hdr)->seq, 2);
	fake_close(a, 0);
	assert_int_equal(msg_prov.mrs, 0);
}

static void the_end_of_an_unknown_one_ends_the_connection(void **state)
{
	static const uint64_t ids[] = { 0, 1, 99 };
	struct rig_msg msg;
	struct eng_ep *a;
	unsigned i;

	for (i = 0; i < 3; i++) {
		a = rig_ep(1);
		msg = rig_msg(RXM_F_CTRL, 0);
		rig_done(&msg, ids[i]);
		rig_deliver(rig_established(a, PEER), &msg);
		rig_polls(2);
		assert_int_equal(rig_peer(a, PEER)->down, 1);
		assert_int_equal(rig_peer(a, PEER)->err, FI_EPROTO);
		fake_close(a, 0);
	}
}

/* ---- the end -------------------------------------------------------------------------------------- */

static void all_that_waits_is_reported_lost(void **state)
{
	struct eng_ep *a = rig_ep(1);
	struct rxm_ep *ep = rig_established(a, PEER);
	struct eng_peer *peer = rig_peer(a, PEER);
	unsigned i;

	exhaust(peer);
	for (i = 0; i < 3; i++)
		fake_send(peer, LONG, 0);
	msg_prov_shutdown(ep->fid);
	rig_polls(3);
	assert_int_equal(peer->down, 1);
	assert_int_equal(peer->err, FI_ECONNRESET);
	/* 4 were sent, a fifth one was copied */
	assert_int_equal(peer->done_cnt, 5);
	assert_int_equal(peer->lost_cnt, 5);
	assert_int_equal(msg_prov.mrs, 0);
	/* the next connection begins with the credits of its own handshake */
	assert_int_equal(rig_conn(peer)->credits, 0);
	rig_established(a, PEER);
	assert_int_equal(rig_conn(peer)->credits, 4);
	fake_close(a, 0);
}

static void a_send_on_a_lost_connection_fails(void **state)
{
	struct eng_ep *a = rig_ep(1);
	struct rxm_ep *ep = rig_established(a, PEER);
	struct eng_peer *peer = rig_peer(a, PEER);

	msg_prov_shutdown(ep->fid);
	msg_prov.hold_eq = true;	/* the event has not been read yet */
	assert_int_equal(fake_send(peer, 100, 0), 1);	/* copied before it is known */
	assert_int_equal(fake_send(peer, 100, 0), -FI_ECONNRESET);
	assert_int_equal(peer->down, 0);	/* no upcall outside of poll() */
	rig_polls(1);
	assert_int_equal(peer->down, 1);
	msg_prov.hold_eq = false;
	fake_close(a, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(the_first_of_a_burst_is_sent_at_once),
		RIG_TEST(more_waits_for_what_follows),
		RIG_TEST(without_an_application_that_polls_nothing_waits),
		RIG_TEST(without_credits_messages_wait),
		RIG_TEST(a_stall_is_logged_once),
		RIG_TEST(credits_are_returned_by_halves),
		RIG_TEST(control_messages_are_no_credits),
		RIG_TEST(control_messages_need_no_credit),
		RIG_TEST(a_full_queue_is_tried_again),
		RIG_TEST(receive_buffers_are_posted_later),
		RIG_TEST(a_long_packet_is_done_when_it_was_read),
		RIG_TEST(the_peer_limits_how_many_are_open),
		RIG_TEST(the_end_of_an_unknown_one_ends_the_connection),
		RIG_TEST(all_that_waits_is_reported_lost),
		RIG_TEST(a_send_on_a_lost_connection_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Received messages: the order of frames, pauses, payload that the engine keeps, and what
 * a peer must not send.
 */
#include "rxm/test/rig.h"

#define PEER 7

/* ---- order and pauses --------------------------------------------------------------------- */

static void frames_are_offered_in_order(void **state)
{
	struct eng_ep *a = rig_ep(1);
	struct rxm_ep *ep = rig_established(a, PEER);
	struct rig_msg msg;
	uint64_t seq;

	/* the fake engine looks at the numbers; by the dice it holds and places some */
	for (seq = 0; seq < 300; seq++) {
		if (seq % 3 == 0)
			msg = rig_msg(0, 0);
		rig_eager(&msg, seq, seq % 50);
		if (seq % 3 == 2)
			rig_deliver(ep, &msg);
		rig_polls(1);
		fake_pull_some(a);
	}
	assert_int_equal(rig_peer(a, PEER)->rx_cnt, 300);
	assert_int_equal(rig_peer(a, PEER)->down, 0);
	fake_close(a, 0);
}

static void a_pause_keeps_the_order_and_the_buffer(void **state)
{
	struct eng_ep *a = rig_ep(1);
	struct rxm_ep *ep = rig_established(a, PEER);
	struct eng_peer *peer = rig_peer(a, PEER);
	struct rig_msg msg = rig_msg(0, 0);

	a->verdict = 1 + ENG_RX_DONE;
	rig_eager(&msg, 0, 10);
	rig_deliver(ep, &msg);
	rig_polls(1);
	a->verdict = 1 + ENG_RX_LATER;
	msg = rig_msg(0, 0);
	rig_eager(&msg, 1, 20);
	rig_eager(&msg, 2, 30);
	rig_deliver(ep, &msg);
	msg = rig_msg(0, 0);
	rig_eager(&msg, 3, 40);
	rig_deliver(ep, &msg);
	rig_polls(5);
	assert_int_equal(peer->rx_cnt, 1);
	assert_true(rig_conn(peer)->paused);
	assert_int_equal(rig_conn(peer)->returns, 1);
	a->verdict = 1 + ENG_RX_DONE;
	rig_polls(CHAN_RESUME_EVERY);
	assert_int_equal(peer->rx_cnt, 4);
	assert_false(rig_conn(peer)->paused);
	fake_close(a, 0);
}

/* A program that posts receives between two polls meets the next messages with them. */
static void unexpected_messages_are_taken_some_in_a_poll(void **state)
{
	struct eng_ep *a = rig_ep(1);
	struct rxm_ep *ep = rig_established(a, PEER);
	struct eng_peer *peer = rig_peer(a, PEER);
	struct rig_msg msg = rig_msg(0, 0);
	unsigned few = CHAN_UNEXPECTED_MAX / CHAN_UNEXPECTED_COST, cnt;
	uint64_t seq;

	a->verdict = 1 + ENG_RX_HELD;
	a->quiet = true;
	for (seq = 0; seq < 4 * few; seq++)
		rig_eager(&msg, seq, 0);
	rig_deliver(ep, &msg);
	rig_polls(1);
	assert_int_equal(a->holds, few);
	assert_true(rig_conn(peer)->paused);
	rig_polls(1);
	assert_int_equal(a->holds, 2 * few);
	/* the rest meets receives, and what comes meanwhile waits behind it */
	msg = rig_msg(0, 0);
	rig_eager(&msg, seq, 10);
	rig_deliver(ep, &msg);
	a->verdict = 1 + ENG_RX_PLACE;
	rig_polls(1);
	assert_int_equal(peer->rx_cnt, 2 * few + 1);
	assert_false(rig_conn(peer)->paused);
	a->quiet = false;
	for (cnt = 0; a->holds && cnt < 100; cnt++)
		fake_pull_some(a);
	assert_int_equal(peer->rx_cnt, 4 * few + 1);
	fake_close(a, 0);
}

/* Two endpoints that both pause still release each other's memory. */
static void a_pause_does_not_stop_credits(void **state)
{
	struct eng_ep *a = rig_ep(1);
	struct rxm_ep *ep = rig_established(a, PEER);
	struct eng_peer *peer = rig_peer(a, PEER);
	struct rig_msg msg = rig_msg(0, 0);
	unsigned credits;

	fake_send(peer, 20000, 0);
	credits = rig_conn(peer)->credits;
	a->verdict = 1 + ENG_RX_LATER;
	rig_eager(&msg, 0, 10);
	rig_deliver(ep, &msg);
	rig_polls(1);
	assert_true(rig_conn(peer)->paused);
	msg = rig_msg(0, 3);
	rig_eager(&msg, 1, 10);
	rig_done(&msg, 1);
	rig_deliver(ep, &msg);
	rig_polls(1);
	assert_int_equal(peer->rx_cnt, 0);
	assert_int_equal(rig_conn(peer)->credits, credits + 3);
	assert_int_equal(peer->done_cnt, 1);
	fake_close(a, 0);
}

/* ---- payload that the engine keeps ---------------------------------------------------------- */

static void a_held_packet_outlives_its_connection(void **state)
{
	struct eng_ep *a = rig_ep(1);
	struct rxm_ep *ep = rig_established(a, PEER);
	struct rig_msg msg = rig_msg(0, 0);

	a->verdict = 1 + ENG_RX_HELD;
	a->whole = true;
	rig_eager(&msg, 0, 1000);
	rig_deliver(ep, &msg);
	msg_prov_shutdown(ep->fid);
	rig_polls(3);
	assert_int_equal(rig_peer(a, PEER)->down, 1);
	while (!rig_peer(a, PEER)->rx_cnt) {
		assert_int_equal(a->holds, 1);
		fake_pull_some(a);
	}
	assert_int_equal(a->holds, 0);
	fake_close(a, 0);
}

/* hold_rndv - a rendezvous that the engine holds.  Returns the token. */
static void *hold_rndv(struct eng_ep *a, struct rxm_ep *ep, uint8_t *data, struct fid_mr *mr)
{
	struct rig_msg msg = rig_msg(0, 0);
	struct fake_rx *rx;
	void *token;

	a->verdict = 1 + ENG_RX_HELD;
	rig_rndv(&msg, 0, data, 1000, mr);
	rig_deliver(ep, &msg);
	rig_polls(1);
	assert_int_equal(a->holds, 1);
	assert_int_equal(msg_prov.reads, 0);
	rx = container_of(list_pop(&a->held), struct fake_rx, node);
	a->holds--;
	token = rx->token;
	fake_rx_free(rx);
	return token;
}

static void a_held_rendezvous_is_read_when_it_is_pulled(void **state)
{
	struct eng_ep *a = rig_ep(1);
	struct rxm_ep *ep = rig_established(a, PEER);
	struct eng_peer *peer = rig_peer(a, PEER);
	struct fid_mr *mr;
	uint8_t *data = rig_memory(ep, 0, 1000, &mr);
	void *token = hold_rndv(a, ep, data, mr);
	struct fake_rx *rx = calloc(1, sizeof(*rx));
	struct iovec iov;

	rx->peer = peer;
	rx->hdr.len = rx->room = 1000;
	rx->buf = calloc(1, 1000);
	iov = (struct iovec) { rx->buf, 1000 };
	a->placing++;
	assert_int_equal(rxm_link_ops.held.pull(a->link, token, &iov, 1, rx), 0);
	rig_polls(2);
	assert_int_equal(a->placing, 0);
	assert_int_equal(peer->rx_cnt, 1);
	assert_int_equal(rig_sent(ep).item[0].kind, RXM_RNDV_DONE);
	assert_int_equal(rig_sent(ep).item[0].id, 100);
	fi_close(&mr->fid);
	free(data);
	fake_close(a, 0);
}

/* hold_many - half of the rendezvous that may be open, and one more: the shortest is being fetched.
 * @tokens: [out] of those that are held, oldest first
 */
static void hold_many(struct eng_ep *a, struct rxm_ep *ep, uint8_t *data, struct fid_mr *mr, void **tokens)
{
	struct rig_msg msg = rig_msg(0, 0);
	uint64_t seq;

	a->verdict = 1 + ENG_RX_HELD;
	msg_prov.hold_reads = true;
	for (seq = 0; seq <= RXM_RNDVS / 2; seq++)
		rig_rndv(&msg, seq, data, seq ? 1000 : 600, mr);
	rig_deliver(ep, &msg);
	rig_polls(1);
	for (seq = 0; seq <= RXM_RNDVS / 2; seq++) {
		struct fake_rx *rx = container_of(list_pop(&a->held), struct fake_rx, node);

		tokens[seq] = rx->token;
		fake_rx_free(rx);
		a->holds--;
	}
	assert_int_equal(a->holds, 0);
}

/* The memory is charged to the peer until the bytes have been copied out of it. */
static void what_is_fetched_is_charged_until_it_is_free(void **state)
{
	struct eng_ep *a = rig_ep(1);
	struct rxm_ep *ep = rig_established(a, PEER);
	struct eng_peer *peer = rig_peer(a, PEER);
	struct fid_mr *mr;
	uint8_t *data = rig_memory(ep, 0, 1000, &mr);
	struct fake_rx *rx = calloc(1, sizeof(*rx));
	struct iovec iov = { rx->buf = calloc(1, 600), 600 };
	void *tokens[RXM_RNDVS / 2 + 1];
	unsigned i;

	hold_many(a, ep, data, mr, tokens);
	assert_int_equal(peer->moved, 600);
	rx->peer = peer;
	rx->hdr.len = rx->room = 600;
	a->placing++;
	assert_int_equal(rxm_link_ops.held.pull(a->link, tokens[0], &iov, 1, rx), 0);
	assert_int_equal(peer->moved, 600);
	msg_prov_reads(0);
	rig_polls(2);
	assert_int_equal(a->placing, 0);
	assert_int_equal(peer->moved, 0);
	for (i = 1; i <= RXM_RNDVS / 2; i++)
		rxm_link_ops.held.pull(a->link, tokens[i], NULL, 0, NULL);
	fi_close(&mr->fid);
	free(data);
	fake_close(a, 0);
}

/* ended_fetch - how a fetch ends whose bytes are not wanted. */
static void ended_fetch(bool drop_first)
{
	struct eng_ep *a = rig_ep(1);
	struct rxm_ep *ep = rig_established(a, PEER);
	struct eng_peer *peer = rig_peer(a, PEER);
	struct fid_mr *mr;
	uint8_t *data = rig_memory(ep, 0, 1000, &mr);
	void *tokens[RXM_RNDVS / 2 + 1];
	unsigned i;

	hold_many(a, ep, data, mr, tokens);
	if (drop_first)
		rxm_link_ops.held.pull(a->link, tokens[0], NULL, 0, NULL);
	assert_int_equal(peer->moved, 600);
	msg_prov_shutdown(ep->fid);
	rig_polls(2);
	assert_int_equal(peer->down, 1);
	for (i = drop_first; i <= RXM_RNDVS / 2; i++)
		rxm_link_ops.held.pull(a->link, tokens[i], NULL, 0, NULL);
	assert_int_equal(peer->moved, 0);
	msg_prov.hold_reads = false;
	msg_prov_reads(FI_ECANCELED);
	fi_close(&mr->fid);
	free(data);
	fake_close(a, 0);
}

static void a_fetch_that_is_lost_is_charged_no_more(void **state)
{
	ended_fetch(false);
	ended_fetch(true);
}

static void a_held_rendezvous_may_be_dropped(void **state)
{
	struct eng_ep *a = rig_ep(1);
	struct rxm_ep *ep = rig_established(a, PEER);
	struct fid_mr *mr;
	uint8_t *data = rig_memory(ep, 0, 1000, &mr);
	void *token = hold_rndv(a, ep, data, mr);

	rxm_link_ops.held.pull(a->link, token, NULL, 0, NULL);
	rig_polls(1);
	assert_int_equal(msg_prov.reads, 0);
	assert_int_equal(rig_sent(ep).item[0].kind, RXM_RNDV_DONE);
	fi_close(&mr->fid);
	free(data);
	fake_close(a, 0);
}

static void a_held_rendezvous_is_lost_with_its_connection(void **state)
{
	struct eng_ep *a = rig_ep(1);
	struct rxm_ep *ep = rig_established(a, PEER);
	struct fid_mr *mr;
	uint8_t *data = rig_memory(ep, 0, 1000, &mr);
	void *token = hold_rndv(a, ep, data, mr);
	struct iovec iov = { data, 1000 };

	/* it has failed, and is not reported yet; then it is */
	rxm_conn_fail(rig_conn(rig_peer(a, PEER)), FI_ECONNRESET);
	assert_int_equal(rxm_link_ops.held.pull(a->link, token, &iov, 1, NULL), -FI_ECONNRESET);
	rig_polls(1);
	ep = rig_established(a, PEER);
	token = hold_rndv(a, ep, data, mr);
	msg_prov_shutdown(ep->fid);
	rig_polls(2);
	assert_int_equal(rig_peer(a, PEER)->down, 2);
	assert_int_equal(rxm_link_ops.held.pull(a->link, token, &iov, 1, NULL), -FI_ECONNRESET);
	fi_close(&mr->fid);
	free(data);
	fake_close(a, 0);
}

static bool no_memory;

void *__real_calloc(size_t cnt, size_t size);
/* Visible, since the runtimes of sanitizers call the function, too. */
__attribute__((visibility("default"))) void *__wrap_calloc(size_t cnt, size_t size);

void *__wrap_calloc(size_t cnt, size_t size)
{
	return no_memory ? NULL : __real_calloc(cnt, size);
}

/* The sender's operation must not succeed: it is not told that the message has been read. */
static void a_held_rendezvous_that_cannot_be_read_ends_the_connection(void **state)
{
	struct eng_ep *a = rig_ep(1);
	struct rxm_ep *ep = rig_established(a, PEER);
	struct eng_peer *peer = rig_peer(a, PEER);
	struct fid_mr *mr;
	uint8_t *data = rig_memory(ep, 0, 1000, &mr);
	void *token = hold_rndv(a, ep, data, mr);
	struct iovec iov = { data, 1000 };
	unsigned sends = msg_prov.sends;

	no_memory = true;
	assert_int_equal(rxm_link_ops.held.pull(a->link, token, &iov, 1, NULL), -FI_ENOMEM);
	no_memory = false;
	rig_polls(2);
	assert_int_equal(peer->down, 1);
	assert_int_equal(peer->err, FI_ENOMEM);
	assert_int_equal(msg_prov.reads, 0);
	assert_int_equal(msg_prov.sends, sends);
	fi_close(&mr->fid);
	free(data);
	fake_close(a, 0);
}

/* ---- the end of a connection ------------------------------------------------------------------ */

static void what_arrived_before_the_end_is_offered(void **state)
{
	struct eng_ep *a = rig_ep(1);
	struct rxm_ep *ep = rig_established(a, PEER);
	struct eng_peer *peer = rig_peer(a, PEER);
	struct rig_msg msg;
	uint64_t seq;

	a->verdict = 1 + ENG_RX_LATER;
	for (seq = 0; seq < 3; seq++) {
		msg = rig_msg(0, 0);
		rig_eager(&msg, seq, 10);
		rig_deliver(ep, &msg);
	}
	msg = rig_msg(RXM_F_CTRL | RXM_F_CLOSE, 0);
	rig_deliver(ep, &msg);
	msg_prov_shutdown(ep->fid);
	rig_polls(5);
	assert_int_equal(peer->down, 0);
	a->verdict = 1 + ENG_RX_DONE;
	rig_polls(CHAN_RESUME_EVERY + 1);
	assert_int_equal(peer->rx_cnt, 3);
	assert_int_equal(peer->down, 1);
	/* in good order, and nothing waited */
	assert_non_null(strstr(caught.line[caught.cnt - 1], "closed the connection"));
	assert_int_equal(caught.level[caught.cnt - 1], FI_LOG_INFO);
	fake_close(a, 0);
}

/* ---- what a peer must not send ------------------------------------------------------------------ */

static void lost_for(struct eng_ep *a, const struct rig_msg *msg, const char *text)
{
	struct rxm_ep *ep = rig_established(a, PEER);
	int down = rig_peer(a, PEER)->down;

	rig_deliver(ep, msg);
	rig_polls(2);
	assert_int_equal(rig_peer(a, PEER)->down, down + 1);
	assert_int_equal(rig_peer(a, PEER)->err, FI_EPROTO);
	assert_non_null(strstr(caught.line[caught.cnt - 1], text));
	caught.cnt = 0;
}

static void malformed_messages_end_the_connection(void **state)
{
	struct eng_ep *a = rig_ep(1);
	struct rig_msg msg = rig_msg(0, 0);

	/* a number that the engine does not expect */
	rig_eager(&msg, 5, 10);
	lost_for(a, &msg, "malformed packet");
	msg.len--;
	lost_for(a, &msg, "malformed message: a frame is malformed");
	msg.len = 3;
	lost_for(a, &msg, "malformed message: it is shorter");
	msg = rig_msg(RXM_F_CTRL, 0);
	rig_eager(&msg, 0, 10);
	lost_for(a, &msg, "needs a credit");
	fake_close(a, 0);
}

static void too_many_rendezvous_end_the_connection(void **state)
{
	struct eng_ep *a = rig_ep(1);
	struct rxm_ep *ep = rig_established(a, PEER);
	struct rig_msg msg = rig_msg(0, 0);
	struct fid_mr *mr;
	uint8_t *data = rig_memory(ep, 0, 100, &mr);
	uint64_t seq;

	a->verdict = 1 + ENG_RX_LATER;
	for (seq = 0; seq < RXM_RNDVS; seq++)
		rig_rndv(&msg, seq, data, 100, mr);
	rig_deliver(ep, &msg);
	rig_polls(2);
	assert_int_equal(rig_peer(a, PEER)->down, 0);
	msg = rig_msg(0, 0);
	rig_rndv(&msg, seq, data, 100, mr);
	rig_deliver(ep, &msg);
	rig_polls(2);
	assert_int_equal(rig_peer(a, PEER)->down, 1);
	assert_int_equal(rig_peer(a, PEER)->err, FI_EPROTO);
	fi_close(&mr->fid);
	free(data);
	fake_close(a, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(frames_are_offered_in_order),
		RIG_TEST(a_pause_keeps_the_order_and_the_buffer),
		RIG_TEST(unexpected_messages_are_taken_some_in_a_poll),
		RIG_TEST(a_pause_does_not_stop_credits),
		RIG_TEST(a_held_packet_outlives_its_connection),
		RIG_TEST(a_held_rendezvous_is_read_when_it_is_pulled),
		RIG_TEST(what_is_fetched_is_charged_until_it_is_free),
		RIG_TEST(a_fetch_that_is_lost_is_charged_no_more),
		RIG_TEST(a_held_rendezvous_may_be_dropped),
		RIG_TEST(a_held_rendezvous_is_lost_with_its_connection),
		RIG_TEST(a_held_rendezvous_that_cannot_be_read_ends_the_connection),
		RIG_TEST(what_arrived_before_the_end_is_offered),
		RIG_TEST(malformed_messages_end_the_connection),
		RIG_TEST(too_many_rendezvous_end_the_connection),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

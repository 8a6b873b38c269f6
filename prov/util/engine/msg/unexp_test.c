/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Unexpected messages: what the link keeps, what is charged, who gets it, who loses it. */
#include "engine/sim/tap.h"

#include "engine/recv.h"

#define TAG 5

static struct eng_rxc *rxc(void)
{
	return eng_of(b)->rxc;
}

/* The message that a receive of TAG would take, still unexpected. */
static struct eng_msg *kept(void)
{
	assert_false(list_empty(&tap.peer->msgs));
	return container_of(tap.peer->msgs.next, struct eng_msg, peer_node);
}

static void post(int i, size_t len)
{
	assert_int_equal(fi_trecv(b->ep, in[i], len, NULL, FI_ADDR_UNSPEC, TAG, 0, &ctx[i]), 0);
}

static void nothing_is_left(void)
{
	assert_true(list_empty(&tap.peer->msgs));
	assert_int_equal(tap.peer->held, 0);
	assert_int_equal(tap.peer->unexp_bytes, 0);
	assert_int_equal(tap.held, 0);
}

/* The payload stays with the link until a receive takes it from there. */
static void payload_waits_in_the_link(void **arg)
{
	assert_int_equal(tap_tagged(tap.peer, WIRE_EAGER, 0, 0, TAG, 300), ENG_RX_HELD);
	assert_int_equal(tap.held, 1);
	assert_int_equal(tap.peer->held, 300);
	assert_int_equal(tap.peer->held, tap.peer->unexp_bytes);
	post(0, 300);
	expect(b, &ctx[0], FI_RECV | FI_TAGGED, 300);
	assert_true(pattern_ok(in[0], 300, 7));
	nothing_is_left();
}

/* Without payload there is nothing to hold. */
static void an_empty_message_is_an_envelope(void **arg)
{
	assert_int_equal(tap_tagged(tap.peer, WIRE_EAGER, 0, 0, TAG, 0), ENG_RX_DONE);
	assert_int_equal(tap.held, 0);
	post(0, 8);
	expect(b, &ctx[0], FI_RECV | FI_TAGGED, 0);
	nothing_is_left();
}

static void refused_without_memory(void **arg)
{
	struct pool *msgs = &eng_of(b)->grp->msgs;

	tap.no_hold = true;
	assert_int_equal(tap_tagged(tap.peer, WIRE_EAGER, 0, 0, TAG, 300), ENG_RX_LATER);
	assert_int_equal(msgs->used, 0);
	nothing_is_left();
	tap.no_hold = false;
	tap_starve(msgs);
	assert_int_equal(tap_tagged(tap.peer, WIRE_EAGER, 0, 0, TAG, 300), ENG_RX_LATER);
	tap_feed(msgs);
	nothing_is_left();
	assert_int_equal(tap_tagged(tap.peer, WIRE_EAGER, 0, 0, TAG, 300), ENG_RX_HELD);
	eng_unexp_drop(kept());
	nothing_is_left();
}

/* pull() answers 0: the rest is still in flight, and the receive completes with it. */
static void the_rest_arrives_later(void **arg)
{
	tap.pulled = 0;
	assert_int_equal(tap_tagged(tap.peer, WIRE_EAGER, 0, 0, TAG, 300), ENG_RX_HELD);
	post(0, 300);
	node_none(&w, b);
	eng_on_placed(tap.link, tap.cookie, 0);
	expect(b, &ctx[0], FI_RECV | FI_TAGGED, 300);
	nothing_is_left();
}

/* The sender was lost with its payload: the receive that found it stays posted. */
static void lost_payload_matches_nothing(void **arg)
{
	tap.pulled = -FI_ECONNRESET;
	assert_int_equal(tap_tagged(tap.peer, WIRE_EAGER, 0, 0, TAG, 300), ENG_RX_HELD);
	post(0, 300);
	node_none(&w, b);
	nothing_is_left();
	tap.pulled = 1;
	assert_int_equal(tap_tagged(tap.peer, WIRE_EAGER, 0, 0, TAG, 300), ENG_RX_DONE);
	expect(b, &ctx[0], FI_RECV | FI_TAGGED, 300);
}

/* A claimed one is the claimer's, so its receive has an outcome. */
static void lost_payload_of_a_claimed_message(void **arg)
{
	struct fi_msg_tagged msg;
	struct iovec iov;

	assert_int_equal(tap_tagged(tap.peer, WIRE_EAGER, 0, 0, TAG, 300), ENG_RX_HELD);
	eng_unexp_claim(kept(), &ctx[0]);
	assert_ptr_equal(eng_unexp_claimed(rxc(), &ctx[0]), kept());
	assert_null(eng_unexp_claimed(rxc(), &ctx[1]));
	post(1, 300);				/* no other receive finds it */
	tap.pulled = -FI_ECONNRESET;
	msg = tagged_in(&iov, 0, TAG);
	assert_int_equal(fi_trecvmsg(b->ep, &msg, FI_CLAIM), 0);
	expect_err(b, &ctx[0], FI_ECONNRESET);
	nothing_is_left();
}

/* A discarded message is answered as if it had been received. */
static void discard_answers_the_sender(void **arg)
{
	assert_int_equal(tap_tagged(tap.peer, WIRE_EAGER, WIRE_F_MATCHED, 8, TAG, 300), ENG_RX_HELD);
	assert_int_equal(eng_unexp_discard(kept()), 0);
	assert_int_equal(tap_tagged(tap.peer, WIRE_EAGER, WIRE_F_DELIVERED, 9, TAG, 300),
			 ENG_RX_HELD);
	assert_int_equal(eng_unexp_discard(kept()), 0);
	assert_int_equal(tap.drops, 2);
	tap_sent(0, WIRE_ACK, 8, 0);
	tap_sent(1, WIRE_ACK, 9, 0);
	assert_int_equal(tap.sent[0].msg.flags, WIRE_F_MATCHED);
	assert_int_equal(tap.sent[1].msg.flags, WIRE_F_DELIVERED);
	assert_int_equal(tap_tagged(tap.peer, WIRE_RTS, 0, 10, TAG, 1 << 20), ENG_RX_DONE);
	assert_int_equal(eng_unexp_discard(kept()), 0);
	tap_sent(2, WIRE_CTS, 10, 0);		/* of 0 bytes: it sends nothing */
	nothing_is_left();
}

static void discard_without_memory_changes_nothing(void **arg)
{
	struct pool *outs = &eng_of(b)->grp->outs;

	assert_int_equal(tap_tagged(tap.peer, WIRE_RTS, 0, 10, TAG, 1 << 20), ENG_RX_DONE);
	tap_starve(outs);
	assert_int_equal(eng_unexp_discard(kept()), -FI_EAGAIN);
	tap_feed(outs);
	assert_int_equal(tap.cnt, 0);
	assert_int_equal(eng_unexp_discard(kept()), 0);
	nothing_is_left();
}

/* What has arrived outlives its sender, without an answer; what was announced does not. */
static void the_loss_of_a_sender(void **arg)
{
	assert_int_equal(tap_tagged(tap.peer, WIRE_EAGER, WIRE_F_DELIVERED, 9, TAG, 300),
			 ENG_RX_HELD);
	assert_int_equal(tap_tagged(tap.peer, WIRE_RTS, 0, 10, TAG, 1 << 20), ENG_RX_DONE);
	eng_unexp_peer_lost(tap.peer);
	assert_ptr_equal(tap.peer->msgs.next, tap.peer->msgs.prev);
	post(0, 300);
	expect(b, &ctx[0], FI_RECV | FI_TAGGED, 300);
	assert_int_equal(tap.cnt, 0);
	nothing_is_left();
}

/* An announced message that was claimed completes its receive with the loss. */
static void the_loss_of_a_claimed_announcement(void **arg)
{
	struct fi_msg_tagged msg;
	struct iovec iov;

	assert_int_equal(tap_tagged(tap.peer, WIRE_RTS, 0, 10, TAG, 1 << 20), ENG_RX_DONE);
	eng_unexp_claim(kept(), &ctx[0]);
	eng_unexp_peer_lost(tap.peer);
	assert_non_null(eng_unexp_claimed(rxc(), &ctx[0]));
	msg = tagged_in(&iov, 0, TAG);
	assert_int_equal(fi_trecvmsg(b->ep, &msg, FI_CLAIM), 0);
	expect_err(b, &ctx[0], FI_ECONNRESET);
	nothing_is_left();
}

/* A closing endpoint gives every token back. */
static void drop_all_of_a_peer(void **arg)
{
	int i;

	for (i = 0; i < 5; i++)
		assert_int_equal(tap_tagged(tap.peer, WIRE_EAGER, 0, 0, TAG, 300), ENG_RX_HELD);
	assert_int_equal(tap_tagged(tap.other, WIRE_EAGER, 0, 0, TAG, 300), ENG_RX_HELD);
	eng_unexp_claim(kept(), &ctx[0]);
	eng_unexp_drop_peer(tap.peer);
	assert_int_equal(tap.drops, 5);
	assert_int_equal(tap.held, 1);
	assert_false(list_empty(&tap.other->msgs));
	eng_unexp_drop_peer(tap.other);
	nothing_is_left();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TAP(payload_waits_in_the_link),
		TAP(an_empty_message_is_an_envelope),
		TAP(refused_without_memory),
		TAP(the_rest_arrives_later),
		TAP(lost_payload_matches_nothing),
		TAP(lost_payload_of_a_claimed_message),
		TAP(discard_answers_the_sender),
		TAP(discard_without_memory_changes_nothing),
		TAP(the_loss_of_a_sender),
		TAP(the_loss_of_a_claimed_announcement),
		TAP(drop_all_of_a_peer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

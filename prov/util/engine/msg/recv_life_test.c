/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Life of a receive: its states, the answers that its sender gets, and its one end. */
#include "engine/sim/tap.h"

#include <rdma/fi_errno.h>

#include "engine/recv.h"

#define TAG 5

static void post(int i, size_t len)
{
	assert_int_equal(fi_trecv(b->ep, in[i], len, NULL, FI_ADDR_UNSPEC, TAG, 0, &ctx[i]), 0);
}

static struct eng_recv *filled(void)
{
	assert_false(list_empty(&tap.peer->rxs));
	return container_of(tap.peer->rxs.next, struct eng_recv, node);
}

static void nothing_is_left(void)
{
	assert_int_equal(eng_of(b)->grp->recvs.used, 0);
	assert_int_equal(eng_of(b)->rx_busy, 0);
	assert_true(list_empty(&tap.peer->rxs));
}

static void states_go_forward(void **arg)
{
	assert_true(eng_recv_may_become(ENG_RECV_NEW, ENG_RECV_POSTED));
	assert_true(eng_recv_may_become(ENG_RECV_NEW, ENG_RECV_MATCHED));
	assert_true(eng_recv_may_become(ENG_RECV_POSTED, ENG_RECV_MATCHED));
	assert_true(eng_recv_may_become(ENG_RECV_MATCHED, ENG_RECV_PULL));
	assert_false(eng_recv_may_become(ENG_RECV_NEW, ENG_RECV_PULL));
	assert_false(eng_recv_may_become(ENG_RECV_POSTED, ENG_RECV_PLACING));
	assert_false(eng_recv_may_become(ENG_RECV_MATCHED, ENG_RECV_POSTED));
	assert_false(eng_recv_may_become(ENG_RECV_PULL, ENG_RECV_PLACING));
	assert_false(eng_recv_may_become(ENG_RECV_CLOSING, ENG_RECV_MATCHED));
}

/* Answers are taken before anything changes: all that are needed, or none. */
static void the_answers_are_reserved_together(void **arg)
{
	struct eng_grp *grp = eng_of(b)->grp;
	struct eng_envelope env = { .rts = true, .flags = WIRE_F_MATCHED | WIRE_F_DELIVERED };
	struct eng_out *ctls[3];
	size_t used = grp->outs.used;

	assert_true(eng_recv_ctl_get(grp, &env, ctls));
	assert_true(ctls[0] && ctls[1] && ctls[2]);
	assert_int_equal(grp->outs.used, used + 3);
	eng_recv_ctl_put(ctls);
	assert_int_equal(grp->outs.used, used);
	env = (struct eng_envelope) { .flags = WIRE_F_DELIVERED };
	assert_true(eng_recv_ctl_get(grp, &env, ctls));
	assert_true(!ctls[0] && !ctls[1] && ctls[2]);
	tap_starve(&grp->outs);
	env.rts = true;
	eng_recv_ctl_put(ctls);		/* memory for one */
	assert_false(eng_recv_ctl_get(grp, &env, ctls));
	tap_feed(&grp->outs);
	assert_int_equal(grp->outs.used, used);
}

/* begin - a message of 400 bytes, of which few are here, matches; its sender wants an ACK. */
static void begin(uint8_t ack)
{
	uint8_t hdr[ENG_HDR_MAX];
	size_t at = wire_put_base(hdr, WIRE_EAGER, WIRE_F_TAG | ack, 0, 9, 400);

	at = wire_put_word(hdr, at, TAG);
	post(0, 500);
	assert_int_equal(tap_packet(tap.peer, hdr, at, 10, 400), ENG_RX_PLACE);
	assert_int_equal(filled()->state, ENG_RECV_PLACING);
	assert_int_equal(eng_of(b)->rx_busy, 1);
}

static void matched_is_reported_at_the_match(void **arg)
{
	begin(WIRE_F_MATCHED);
	assert_int_equal(tap.cnt, 1);
	tap_sent(0, WIRE_ACK, 9, 0);
	assert_int_equal(tap.sent[0].msg.flags, WIRE_F_MATCHED);
	eng_on_placed(tap.link, tap.rx.cookie, 0);
	assert_int_equal(tap.cnt, 1);
	expect(b, &ctx[0], FI_RECV | FI_TAGGED, 400);
	nothing_is_left();
}

static void delivered_is_reported_at_the_end(void **arg)
{
	begin(WIRE_F_DELIVERED);
	assert_int_equal(tap.cnt, 0);
	eng_on_placed(tap.link, tap.rx.cookie, 0);
	assert_int_equal(tap.cnt, 1);
	tap_sent(0, WIRE_ACK, 9, 0);
	assert_int_equal(tap.sent[0].msg.flags, WIRE_F_DELIVERED);
	expect(b, &ctx[0], FI_RECV | FI_TAGGED, 400);
	nothing_is_left();
}

static void an_announced_message_is_asked_for_up_to_the_room(void **arg)
{
	uint32_t rx_id;

	post(0, 300);
	assert_int_equal(tap_tagged(tap.peer, WIRE_RTS, 0, 9, TAG, 2000), ENG_RX_DONE);
	tap_sent(0, WIRE_CTS, 9, 300);
	assert_int_equal(filled()->state, ENG_RECV_PULL);
	rx_id = tap.sent[0].msg.rx_id;
	assert_int_equal(tap_words(tap.other, WIRE_DATA, 0, rx_id, 300, 300, 1, 0, 0), ENG_RX_BAD);
	assert_int_equal(tap_words(tap.peer, WIRE_DATA, 0, rx_id, 300, 300, 1, 0, 0), ENG_RX_DONE);
	expect_err(b, &ctx[0], FI_ETRUNC);
	assert_memory_equal(in[0], out[7], 300);
	nothing_is_left();
}

static void a_receive_without_room_asks_for_nothing(void **arg)
{
	post(0, 0);
	assert_int_equal(tap_tagged(tap.peer, WIRE_RTS, 0, 9, TAG, 2000), ENG_RX_DONE);
	tap_sent(0, WIRE_CTS, 9, 0);
	expect_err(b, &ctx[0], FI_ETRUNC);
	nothing_is_left();
}

/* The sender cannot deliver what it announced. */
static void only_the_sender_may_refuse_and_only_for_some_reasons(void **arg)
{
	uint32_t rx_id;

	post(0, 3000);
	assert_int_equal(tap_tagged(tap.peer, WIRE_RTS, 0, 9, TAG, 2000), ENG_RX_DONE);
	rx_id = tap.sent[0].msg.rx_id;
	assert_false(eng_recv_refused(tap.other, rx_id, FI_EIO));
	assert_false(eng_recv_refused(tap.peer, rx_id, FI_EACCES));
	assert_false(eng_recv_refused(tap.peer, rx_id + 1, FI_EIO));
	node_none(&w, b);
	assert_true(eng_recv_refused(tap.peer, rx_id, FI_EIO));
	expect_err(b, &ctx[0], FI_EIO);
	nothing_is_left();
}

/* Those that the peer was filling fail; posted ones that any peer can satisfy stay. */
static void a_lost_peer_fails_what_it_was_filling(void **arg)
{
	post(0, 3000);
	assert_int_equal(tap_tagged(tap.peer, WIRE_RTS, 0, 9, TAG, 2000), ENG_RX_DONE);
	post(1, 3000);
	eng_recv_fail_all(tap.other, FI_ECONNRESET);
	node_none(&w, b);
	eng_recv_fail_all(tap.peer, FI_ECONNRESET);
	expect_err(b, &ctx[0], FI_ECONNRESET);
	node_none(&w, b);
	assert_int_equal(tap_tagged(tap.other, WIRE_EAGER, 0, 0, TAG, 8), ENG_RX_DONE);
	expect(b, &ctx[1], FI_RECV | FI_TAGGED, 8);
	assert_int_equal(eng_of(b)->rxc->posted, 0);
}

/* A directed receive has one source: no other peer's loss ends it. */
static void a_directed_receive_fails_with_its_source(void **arg)
{
	struct eng_peer *source[2];
	int i, ret;

	for (i = 0; i < 2; i++) {
		assert_int_equal(fi_trecv(b->ep, in[i], 100, NULL, i ? 2 : 0, TAG, 0, &ctx[i]), 0);
		source[i] = eng_peer_get(eng_of(b)->hub, i ? 2 : 0, &ret);
		assert_non_null(source[i]);
	}
	eng_recv_fail_all(source[1], FI_ECONNRESET);
	expect_err(b, &ctx[1], FI_ECONNRESET);
	node_none(&w, b);
	eng_recv_fail_all(source[0], FI_ECONNRESET);
	expect_err(b, &ctx[0], FI_ECONNRESET);
	nothing_is_left();
}

/* The link is moving a piece into the buffer: it is not the program's before that is over. */
static void a_piece_in_flight_is_waited_for(void **arg)
{
	uint8_t hdr[ENG_HDR_MAX];
	size_t at;

	post(0, 3000);
	assert_int_equal(tap_tagged(tap.peer, WIRE_RTS, 0, 9, TAG, 1000), ENG_RX_DONE);
	at = wire_put_base(hdr, WIRE_DATA, 0, 0, tap.sent[0].msg.rx_id, 1000);
	at = wire_put_word(hdr, at, 0);
	assert_int_equal(tap_packet(tap.peer, hdr, at, 100, 1000), ENG_RX_PLACE);
	eng_recv_fail_all(tap.peer, FI_ECONNRESET);
	node_none(&w, b);
	eng_on_placed(tap.link, tap.rx.cookie, -FI_ECONNRESET);
	expect_err(b, &ctx[0], FI_ECONNRESET);
	nothing_is_left();
}

/* All posted receives of a context end with the reason; each once, with its tag. */
static void a_flush_ends_all_that_are_posted(void **arg)
{
	struct comp comp;
	int i, seen = 0;

	for (i = 0; i < 3; i++)
		post(i, 100);
	assert_int_equal(fi_recv(b->ep, in[3], 100, NULL, FI_ADDR_UNSPEC, &ctx[3]), 0);
	eng_recv_flush(eng_of(b)->rxc, FI_ECANCELED);
	for (i = 0; i < 4; i++) {
		node_wait(&w, b, &comp);
		assert_int_equal(comp.err, FI_ECANCELED);
		if (comp.e.op_context != &ctx[3])
			assert_int_equal(comp.e.tag, TAG);
		seen |= 1 << ((int *) comp.e.op_context - ctx);
	}
	assert_int_equal(seen, 0xf);
	assert_int_equal(eng_of(b)->rxc->posted, 0);
	node_none(&w, b);
	nothing_is_left();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(states_go_forward),
		TAP(the_answers_are_reserved_together),
		TAP(matched_is_reported_at_the_match),
		TAP(delivered_is_reported_at_the_end),
		TAP(an_announced_message_is_asked_for_up_to_the_room),
		TAP(a_receive_without_room_asks_for_nothing),
		TAP(only_the_sender_may_refuse_and_only_for_some_reasons),
		TAP(a_lost_peer_fails_what_it_was_filling),
		TAP(a_directed_receive_fails_with_its_source),
		TAP(a_piece_in_flight_is_waited_for),
		TAP(a_flush_ends_all_that_are_posted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) ? 1 : 0;
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* What comes in: which packets end a connection, which wait, and what the others do. */
#include "engine/sim/tap.h"

#include "engine/recv.h"

#define TAG 5

static void post(int i, size_t len, fi_addr_t src)
{
	assert_int_equal(fi_trecv(b->ep, in[i], len, NULL, src, TAG, 0, &ctx[i]), 0);
}

static enum eng_rx_verdict word(enum wire_op op, uint8_t flags, uint32_t id, uint64_t len,
				uint64_t first)
{
	return tap_words(tap.peer, op, flags, id, len, 0, 1, first, 0);
}

static enum eng_rx_verdict bare(enum wire_op op, uint8_t flags, uint32_t id)
{
	return tap_words(tap.peer, op, flags, id, 0, 0, 0, 0, 0);
}

/* None of them gets past the gate, or names anything that there is. */
static void packets_that_end_the_connection(void **arg)
{
	uint8_t hdr[ENG_HDR_MAX] = { 0 };

	assert_int_equal(tap_packet(tap.peer, hdr, 0, 0, 0), ENG_RX_BAD);
	assert_int_equal(tap_packet(tap.peer, hdr, 16, 0, 0), ENG_RX_BAD);
	assert_int_equal(bare(WIRE_OP_CNT, 0, 0), ENG_RX_BAD);
	assert_int_equal(tap_words(tap.peer, WIRE_EAGER, 0, 0, 8, 7, 0, 0, 0), ENG_RX_BAD);
	assert_int_equal(word(WIRE_CTS, 0, 12, 10, 1), ENG_RX_BAD);
	assert_int_equal(bare(WIRE_ACK, WIRE_F_DELIVERED, 12), ENG_RX_BAD);
	assert_int_equal(tap_words(tap.peer, WIRE_DATA, 0, 12, 8, 8, 1, 0, 0), ENG_RX_BAD);
	assert_int_equal(tap.cnt, 0);
	assert_int_equal(tap.peer->held, 0);
}

/* It may cross with what ended the operation: no reason to give the connection up. */
static void a_nack_for_nothing(void **arg)
{
	assert_int_equal(word(WIRE_NACK, 0, 12, 0, FI_EIO), ENG_RX_DONE);
}

static void xoff_and_xon(void **arg)
{
	assert_int_equal(bare(WIRE_XOFF, 0, 0), ENG_RX_DONE);
	assert_true(tap.peer->slow & ENG_PEER_XOFF);
	assert_false(tap.other->slow & ENG_PEER_XOFF);
	assert_int_equal(bare(WIRE_XON, 0, 0), ENG_RX_DONE);
	assert_false(tap.peer->slow & ENG_PEER_XOFF);
}

/* A packet proves that the channel works, whatever was recorded of the one before. */
static void a_packet_shows_that_the_peer_is_there(void **arg)
{
	tap.peer->slow |= ENG_PEER_IDLE | ENG_PEER_LOST;
	post(0, 8, FI_ADDR_UNSPEC);
	assert_int_equal(tap_tagged(tap.peer, WIRE_EAGER, 0, 0, TAG, 8), ENG_RX_DONE);
	assert_int_equal(tap.peer->slow, 0);
	expect(b, &ctx[0], FI_RECV | FI_TAGGED, 8);
}

static void data_and_tag_are_reported(void **arg)
{
	struct comp comp;

	post(0, 8, FI_ADDR_UNSPEC);
	assert_int_equal(tap_words(tap.peer, WIRE_EAGER, WIRE_F_TAG | WIRE_F_DATA, 0, 8, 8, 2, TAG,
				   77), ENG_RX_DONE);
	node_wait(&w, b, &comp);
	assert_true(comp.e.flags == (FI_RECV | FI_TAGGED | FI_REMOTE_CQ_DATA));
	assert_int_equal(comp.e.data, 77);
	assert_int_equal(comp.e.tag, TAG);
	assert_memory_equal(in[0], out[7], 8);
}

/* The fast path takes only what fits; a longer message is cut, and reported. */
static void a_message_longer_than_its_receive(void **arg)
{
	struct comp comp;

	post(0, 100, FI_ADDR_UNSPEC);
	assert_int_equal(tap_tagged(tap.peer, WIRE_EAGER, 0, 0, TAG, 150), ENG_RX_DONE);
	node_wait(&w, b, &comp);
	assert_int_equal(comp.err, FI_ETRUNC);
	assert_int_equal(comp.e.len, 100);
	assert_int_equal(comp.olen, 50);
	assert_memory_equal(in[0], out[7], 100);
	assert_int_equal(in[0][100], 0);
}

/* The link puts what is still in flight where it belongs. */
static void payload_that_is_in_flight(void **arg)
{
	uint8_t hdr[ENG_HDR_MAX];
	size_t at = wire_put_word(hdr, wire_put_base(hdr, WIRE_EAGER, WIRE_F_TAG, 0, 0, 400), TAG);

	post(0, 500, FI_ADDR_UNSPEC);
	assert_int_equal(tap_packet(tap.peer, hdr, at, 10, 400), ENG_RX_PLACE);
	assert_int_equal(tap.rx.iov_cnt, 1);
	assert_ptr_equal(tap.rx.iov[0].iov_base, in[0]);
	node_none(&w, b);
	eng_on_placed(tap.link, tap.rx.cookie, 0);
	expect(b, &ctx[0], FI_RECV | FI_TAGGED, 400);
}

/* Matched before the CTS: the answer names the receive and asks for what it has room for. */
static void an_announced_message(void **arg)
{
	uint32_t rx_id;

	post(0, 1500, FI_ADDR_UNSPEC);
	assert_int_equal(tap_tagged(tap.peer, WIRE_RTS, WIRE_F_MATCHED, 9, TAG, 2000), ENG_RX_DONE);
	assert_int_equal(tap.cnt, 2);
	tap_sent(0, WIRE_ACK, 9, 0);
	tap_sent(1, WIRE_CTS, 9, 1500);
	rx_id = tap.sent[1].msg.rx_id;
	assert_int_equal(tap_words(tap.peer, WIRE_DATA, 0, rx_id, 1500, 1500, 1, 0, 0), ENG_RX_DONE);
	expect_err(b, &ctx[0], FI_ETRUNC);
	assert_memory_equal(in[0], out[7], 1500);
}

/* The memory for an answer is taken first: without it the receive stays posted. */
static void an_answer_without_memory(void **arg)
{
	struct pool *outs = &eng_of(b)->grp->outs;

	post(0, 8, FI_ADDR_UNSPEC);
	tap_starve(outs);
	assert_int_equal(tap_tagged(tap.peer, WIRE_EAGER, WIRE_F_DELIVERED, 9, TAG, 8), ENG_RX_LATER);
	assert_int_equal(eng_of(b)->rxc->posted, 1);
	tap_feed(outs);
	assert_int_equal(tap_tagged(tap.peer, WIRE_EAGER, WIRE_F_DELIVERED, 9, TAG, 8), ENG_RX_DONE);
	tap_sent(0, WIRE_ACK, 9, 0);
	expect(b, &ctx[0], FI_RECV | FI_TAGGED, 8);
}

/* The sender is told if it waits for an answer; either way the connection stays. */
static void a_receive_context_that_there_is_not(void **arg)
{
	uint8_t hdr[ENG_HDR_MAX];
	struct pool *outs = &eng_of(b)->grp->outs;
	size_t at = wire_put_base(hdr, WIRE_EAGER, WIRE_F_DELIVERED, 3, 9, 8);

	tap_starve(outs);
	assert_int_equal(tap_packet(tap.peer, hdr, at, 8, 8), ENG_RX_LATER);
	tap_feed(outs);
	assert_int_equal(tap_packet(tap.peer, hdr, at, 8, 8), ENG_RX_DONE);
	tap_sent(0, WIRE_NACK, 9, 0);
	assert_int_equal(tap.sent[0].msg.err, FI_EADDRNOTAVAIL);
	at = wire_put_base(hdr, WIRE_EAGER, 0, 3, 0, 8);
	assert_int_equal(tap_packet(tap.peer, hdr, at, 8, 8), ENG_RX_DONE);
	assert_int_equal(tap.cnt, 1);
}

/* One of the library's own, to an endpoint that takes part in no collective. */
static void a_message_of_a_group_without_groups(void **arg)
{
	uint8_t hdr[ENG_HDR_MAX];
	size_t at = wire_put_base(hdr, WIRE_EAGER, WIRE_F_TAG | WIRE_F_DATA, WIRE_CTX_OOB, 0, 8);

	at = wire_put_word(hdr, wire_put_word(hdr, at, 1), 2);
	assert_int_equal(tap_packet(tap.peer, hdr, at, 8, 8), ENG_RX_BAD);
}

/* Requests are bounded like messages (flow.h), before anything of them is looked up. */
static void a_request_beyond_the_limit(void **arg)
{
	struct eng_ep *ep = eng_of(b);

	ep->held_peer_max = ep->held_max = 0;
	tap.peer->held = 64 << 10;
	assert_int_equal(tap_rma(tap.peer, WIRE_READ, 0, 9, 0, 8, 1), ENG_RX_LATER);
	assert_int_equal(tap.cnt, 0);
	tap.peer->held = 0;
	assert_int_equal(tap_rma(tap.peer, WIRE_READ, 0, 9, 0, 8, 1), ENG_RX_DONE);
	tap_sent(0, WIRE_NACK, 9, 0);
}

/* empty - an empty message whose sender asks whether we have the context, or with another of the flags. */
static enum eng_rx_verdict empty(uint8_t flags)
{
	return tap_tagged(tap.peer, WIRE_EAGER, flags, 9, TAG, 0);
}

/* A message that ends its connection has not arrived. */
static void a_refused_message_is_not_acknowledged(void **arg)
{
	struct eng_ep *ep = eng_of(b);

	ep->heads_max = 0;
	ep->rxc->posted++;		/* something is waited for */
	assert_int_equal(empty(WIRE_F_ARRIVED), ENG_RX_OVER);
	assert_int_equal(tap.cnt, 0);
	ep->rxc->posted--;
	assert_int_equal(ep->grp->outs.used, 0);
}

/* A peer that asks for answers and takes none is read no further; what is awaited goes on beside payload. */
static void answers_beyond_the_limit(void **arg)
{
	struct eng_ep *ep = eng_of(b);

	post(0, 8, FI_ADDR_UNSPEC);
	ep->held_peer_max = ep->held_max = 64 << 10;
	tap.peer->held = 64 << 10;
	assert_int_equal(empty(WIRE_F_DELIVERED), ENG_RX_LATER);
	assert_int_equal(tap_tagged(tap.peer, WIRE_RTS, 0, 9, TAG, 8), ENG_RX_LATER);
	assert_int_equal(empty(WIRE_F_ARRIVED), ENG_RX_LATER);
	assert_int_equal(tap.cnt, 0);
	assert_int_equal(ep->rxc->posted, 1);
	tap.peer->unexp_bytes = 64 << 10;
	assert_int_equal(empty(WIRE_F_DELIVERED), ENG_RX_DONE);
	tap_sent(0, WIRE_ACK, 9, 0);
	expect(b, &ctx[0], FI_RECV | FI_TAGGED, 0);
	tap.peer->held = tap.peer->unexp_bytes = 0;
}

/* In one piece of memory, as a link with slots shows it; what is not simple stays untouched. */
static void the_fast_path(void **arg)
{
	uint8_t hdr[ENG_HDR_MAX];
	size_t at = wire_put_word(hdr, wire_put_base(hdr, WIRE_EAGER, WIRE_F_TAG, 0, 0, 8), TAG);
	void *chan = eng_peer_chan(tap.peer);

	memcpy(hdr + at, "12345678", 8);
	assert_int_equal(eng_on_fast(chan, hdr, at, 8), ENG_FAST_UNEXPECTED);	/* no receive */
	post(0, 7, FI_ADDR_UNSPEC);
	assert_int_equal(eng_on_fast(chan, hdr, at, 8), ENG_FAST_NONE);	/* too short a receive */
	assert_int_equal(eng_of(b)->rxc->posted, 1);
	assert_int_equal(fi_cancel(&b->ep->fid, &ctx[0]), 0);
	expect_err(b, &ctx[0], FI_ECANCELED);
	post(1, 8, FI_ADDR_UNSPEC);
	post(2, 8, FI_ADDR_UNSPEC);
	assert_int_equal(eng_on_fast(chan, hdr, at, 8), ENG_FAST_DONE);
	expect(b, &ctx[1], FI_RECV | FI_TAGGED, 8);
	assert_memory_equal(in[1], "12345678", 8);
	assert_int_equal(eng_on_fast(chan, hdr, at, 8), ENG_FAST_LAST);
	expect(b, &ctx[2], FI_RECV | FI_TAGGED, 8);
	assert_int_equal(eng_on_fast(chan, hdr, at, 8), ENG_FAST_UNEXPECTED);
	assert_int_equal(eng_of(b)->rxc->posted, 0);
	/* without a receive, what no receive could take is not taken for a message that waits for one */
	wire_put_base(hdr, WIRE_EAGER, WIRE_F_TAG, WIRE_CTX_OOB, 0, 8);
	assert_int_equal(eng_on_fast(chan, hdr, at, 8), ENG_FAST_NONE);
	wire_put_base(hdr, WIRE_EAGER, WIRE_F_TAG | WIRE_F_MATCHED, 0, 5, 8);
	assert_int_equal(eng_on_fast(chan, hdr, at, 8), ENG_FAST_NONE);
	wire_put_base(hdr, WIRE_ACK, 0, 0, 5, 0);
	assert_int_equal(eng_on_fast(chan, hdr, 16, 0), ENG_FAST_NONE);
	assert_int_equal(eng_on_fast(chan, hdr, 3, 0), ENG_FAST_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TAP(packets_that_end_the_connection),
		TAP(a_nack_for_nothing),
		TAP(xoff_and_xon),
		TAP(a_packet_shows_that_the_peer_is_there),
		TAP(data_and_tag_are_reported),
		TAP(a_message_longer_than_its_receive),
		TAP(payload_that_is_in_flight),
		TAP(an_announced_message),
		TAP(an_answer_without_memory),
		TAP(a_receive_context_that_there_is_not),
		TAP(a_message_of_a_group_without_groups),
		TAP(a_request_beyond_the_limit),
		TAP(a_refused_message_is_not_acknowledged),
		TAP(answers_beyond_the_limit),
		TAP(the_fast_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

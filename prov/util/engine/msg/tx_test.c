/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Life of what is sent: when an operation completes, once, and what its peer's answers change. */
#include "engine/sim/tap.h"

#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include "engine/tx.h"

#define TAG 5
#define LONG 6000	/* announced, see announce() */

static struct eng_peer *to;	/* whom the last packet was for; NULL: none was sent */

static int open_tx(void **arg)
{
	to = NULL;
	return tap_open(arg);
}

static void send_to_a(int i, size_t len, uint64_t flags)
{
	struct iovec iov = { out[7], len };
	struct fi_msg_tagged msg = { .msg_iov = &iov, .iov_count = 1, .tag = TAG, .context = &ctx[i] };

	assert_int_equal(fi_tsendmsg(b->ep, &msg, flags), 0);
	if (tap.cnt)
		to = tap.sent[tap.cnt - 1].to;
}

/* announce - a send of LONG bytes whose RTS is packet @i.  Returns its id. */
static uint32_t announce(int i, uint64_t flags)
{
	tap.link->attr.eager_limit = 1000;
	send_to_a(i, LONG, flags);
	assert_int_equal(tap.sent[tap.cnt - 1].msg.op, WIRE_RTS);
	assert_int_equal(tap.sent[tap.cnt - 1].msg.len, LONG);
	assert_int_equal(tap.sent[tap.cnt - 1].len, 0);
	return tap.sent[tap.cnt - 1].msg.id;
}

static enum eng_rx_verdict cts(uint32_t id, uint64_t len, uint32_t rx_id)
{
	return tap_words(to, WIRE_CTS, 0, id, len, 0, 1, rx_id, 0);
}

static enum eng_rx_verdict ack(uint32_t id, uint8_t flags)
{
	return tap_words(to, WIRE_ACK, flags, id, 0, 0, 0, 0, 0);
}

static void nothing_is_left(void)
{
	assert_int_equal(eng_of(b)->grp->txs.used, 0);
	assert_int_equal(eng_of(b)->tx_out, 0);
	if (to)
		assert_int_equal(to->tx_cnt, 0);
}

static void it_completes_when_the_link_has_taken_it(void **arg)
{
	send_to_a(0, 300, 0);
	assert_memory_equal(tap.sent[0].data, out[7], 300);
	expect(b, &ctx[0], FI_SEND | FI_TAGGED, 0);
	nothing_is_left();
}

static void it_completes_when_the_link_gives_it_back(void **arg)
{
	tap.answer = 0;
	send_to_a(0, 300, 0);
	node_none(&w, b);
	assert_int_equal(eng_of(b)->tx_out, 1);
	tap_done(0, 0);
	expect(b, &ctx[0], FI_SEND | FI_TAGGED, 0);
	node_none(&w, b);
	nothing_is_left();
}

/* ---- injects that find no room ---- */

/* inject - to a, which has no room.  Returns as the call does. */
static ssize_t inject(size_t len)
{
	ssize_t ret = fi_tinject(b->ep, out[7], len, 0, TAG);

	if (tap.cnt)
		to = tap.sent[tap.cnt - 1].to;
	return ret;
}

/* Beyond the guaranteed size, and then always, an inject of a program that polls is not kept while
 * the receiver takes packets.
 */
static void an_inject_returns_where_there_is_room_soon(void **arg)
{
	static const size_t lens[] = { 8, 300 };
	struct eng_ep *ep = eng_of(b);
	unsigned i;

	tap.link->attr.once_max = 1000;
	tap.answer = 0;
	tap.soon = true;
	ep->tx_size = 4;
	ep->inject_size = 300;
	for (i = 0; i < 4; i++)
		assert_int_equal(inject(lens[i % 2]), 0);
	tap.soon = false;
	assert_int_equal(inject(8), 0);
	tap.soon = true;
	assert_int_equal(inject(300), -FI_EAGAIN);
	for (i = 0; i < 4; i++)
		tap_done(i, 0);
	for (i = 0; i < 2; i++)
		assert_int_equal(inject(lens[i]), -FI_EAGAIN);
	assert_int_equal(tap.cnt, 5);
	send_to_a(0, 300, 0);
	send_to_a(1, 300, FI_INJECT);
	assert_int_equal(tap.cnt, 7);
	ep->tx_size = 100;
	ep->spins = false;		/* it could sleep until there is room, and nothing would wake it */
	for (i = 0; i < 2; i++)
		assert_int_equal(inject(lens[i]), 0);
	assert_int_equal(tap.cnt, 9);
	for (i = 4; i < 9; i++)
		tap_done(i, 0);
	expect(b, &ctx[0], FI_SEND | FI_TAGGED, 0);
	expect(b, &ctx[1], FI_SEND | FI_TAGGED, 0);
	nothing_is_left();
}

static ssize_t inject_write(size_t len)
{
	return fi_inject_write(b->ep, out[7], len, 0, 0, 1);
}

/* Within the guaranteed size, too, once the link keeps ENG_KEPT bytes for the peer. */
static void an_inject_returns_where_much_is_kept(void **arg)
{
	struct eng_ep *ep = eng_of(b);
	unsigned i;

	tap.link->attr.once_max = 1000;
	tap.answer = 0;
	tap.soon = true;
	ep->inject_size = 300;
	assert_int_equal(inject_write(300), 0);
	assert_int_equal(inject(300), 0);
	assert_int_equal(tap.sent[0].msg.op, WIRE_WRITE);
	to->tx_cnt += ENG_KEPT / 300 - 2;
	assert_int_equal(inject_write(200), 0);
	assert_int_equal(inject(200), 0);
	tap.soon = false;
	assert_int_equal(inject_write(300), 0);
	assert_int_equal(inject(300), 0);
	tap.soon = true;
	assert_int_equal(inject_write(300), -FI_EAGAIN);
	to->tx_cnt -= ENG_KEPT / 300 - 2;
	assert_int_equal(inject_write(8), -FI_EAGAIN);
	assert_int_equal(inject(8), -FI_EAGAIN);
	assert_int_equal(fi_write(b->ep, out[7], 8, NULL, 0, 0, 1, &ctx[0]), 0);
	assert_int_equal(tap.cnt, 7);
	for (i = 0; i < 7; i++)
		tap_done(i, 0);
	expect(b, &ctx[0], FI_WRITE | FI_RMA, 0);
	nothing_is_left();
}

static void it_fails_when_the_link_loses_it(void **arg)
{
	tap.answer = 0;
	send_to_a(0, 300, 0);
	tap_done(0, -FI_ECONNRESET);
	expect_err(b, &ctx[0], FI_ECONNRESET);
	nothing_is_left();
}

static void a_link_that_refuses_ends_the_call(void **arg)
{
	tap.answer = -FI_ENOTCONN;
	assert_true(fi_tsend(b->ep, out[7], 300, NULL, 0, TAG, &ctx[0]) < 0);
	node_none(&w, b);
	nothing_is_left();
}

static void an_announced_message_is_sent_when_it_is_asked_for(void **arg)
{
	uint32_t id = announce(0, 0);
	unsigned i;
	size_t sum = 0;

	node_none(&w, b);
	assert_int_equal(cts(id, 1500, 77), ENG_RX_DONE);	/* as much as there is room for */
	for (i = 1; i < tap.cnt; i++) {
		assert_int_equal(tap.sent[i].msg.op, WIRE_DATA);
		assert_int_equal(tap.sent[i].msg.id, 77);
		assert_memory_equal(tap.sent[i].data, out[7] + sum, tap.sent[i].len);
		sum += tap.sent[i].len;
	}
	assert_int_equal(sum, 1500);
	expect(b, &ctx[0], FI_SEND | FI_TAGGED, 0);
	assert_int_equal(cts(id, 1500, 77), ENG_RX_BAD);	/* its id means nothing any more */
	nothing_is_left();
}

static void a_receiver_without_room_takes_nothing(void **arg)
{
	uint32_t id = announce(0, 0);

	assert_int_equal(cts(id, 0, 0), ENG_RX_DONE);
	assert_int_equal(tap.cnt, 1);
	expect(b, &ctx[0], FI_SEND | FI_TAGGED, 0);
	nothing_is_left();
}

/* Each of these ends the connection of the peer that sent it. */
static void an_answer_is_checked(void **arg)
{
	uint32_t id = announce(0, 0);

	assert_int_equal(cts(id, LONG + 1, 77), ENG_RX_BAD);
	assert_int_equal(ack(id, WIRE_F_DELIVERED), ENG_RX_BAD);
	assert_int_equal(tap_words(tap.other, WIRE_CTS, 0, id, 100, 0, 1, 77, 0), ENG_RX_BAD);
	assert_int_equal(cts(id + 1, 100, 77), ENG_RX_BAD);
	assert_int_equal(tap.cnt, 1);
	assert_int_equal(cts(id, 100, 77), ENG_RX_DONE);
	expect(b, &ctx[0], FI_SEND | FI_TAGGED, 0);
}

static void a_refusal_fails_it(void **arg)
{
	uint32_t id = announce(0, 0);

	assert_int_equal(tap_words(to, WIRE_NACK, 0, id, 0, 0, 1, FI_EIO, 0), ENG_RX_DONE);
	expect_err(b, &ctx[0], FI_EIO);
	nothing_is_left();
}

/* Delivery complete: the ACK and the packet, in either order. */
static void delivery_is_reported_with_the_ack(void **arg)
{
	tap.answer = 0;
	send_to_a(0, 300, FI_DELIVERY_COMPLETE);
	assert_true(tap.sent[0].msg.flags & WIRE_F_DELIVERED);
	tap_done(0, 0);
	node_none(&w, b);
	assert_int_equal(ack(tap.sent[0].msg.id, WIRE_F_DELIVERED), ENG_RX_DONE);
	expect(b, &ctx[0], FI_SEND | FI_TAGGED, 0);
	send_to_a(1, 300, FI_DELIVERY_COMPLETE);
	assert_int_equal(ack(tap.sent[1].msg.id, WIRE_F_DELIVERED), ENG_RX_DONE);
	node_none(&w, b);			/* its buffer is still in use */
	tap_done(1, 0);
	expect(b, &ctx[1], FI_SEND | FI_TAGGED, 0);
	nothing_is_left();
}

/* ---- writes that are refused ------------------------------------------------- */

/* write_to_a - a write of @len bytes of packet @i, of which 1000 count as long. */
static void write_to_a(int i, size_t len, uint64_t flags)
{
	struct iovec iov = { out[7], len };
	struct fi_rma_iov remote = { 0, len, 7 };
	struct fi_msg_rma msg = { .msg_iov = &iov, .iov_count = 1, .rma_iov = &remote, .rma_iov_count = 1,
				  .context = &ctx[i] };

	eng_of(b)->rma_long = 1000;
	assert_int_equal(fi_writemsg(b->ep, &msg, flags), 0);
	assert_int_equal(tap.sent[tap.cnt - 1].msg.op, WIRE_WRITE);
	to = tap.sent[tap.cnt - 1].to;
}

static enum eng_rx_verdict nack(unsigned i)
{
	return tap_words(to, WIRE_NACK, 0, tap.sent[i].msg.id, 0, 0, 1, FI_EACCES, 0);
}

/* One that the link still keeps is not complete; one that it has sent is. */
static void a_short_write_fails_if_its_refusal_is_known(void **arg)
{
	tap.answer = 0;
	write_to_a(0, 999, 0);
	assert_false(tap.sent[0].msg.flags & WIRE_F_DELIVERED);
	assert_int_equal(nack(0), ENG_RX_DONE);
	tap_done(0, 0);
	expect_err(b, &ctx[0], FI_EACCES);
	tap.answer = 1;
	write_to_a(1, 999, FI_TRANSMIT_COMPLETE);
	expect(b, &ctx[1], FI_RMA | FI_WRITE, 0);
	assert_int_equal(nack(1), ENG_RX_DONE);
	nothing_is_left();
}

/* A long one, on whichever level, and a short one that asks for it. */
static void others_end_with_the_answer(void **arg)
{
	static const struct { size_t len; uint64_t flags; } waits[] = {
		{ 1000, 0 }, { 1000, FI_INJECT_COMPLETE }, { 1000, FI_TRANSMIT_COMPLETE }, { 8, FI_DELIVERY_COMPLETE },
	};
	unsigned i;

	for (i = 0; i < 4; i++) {
		tap.answer = i % 2;
		write_to_a(0, waits[i].len, waits[i].flags);
		assert_true(tap.sent[i].msg.flags & WIRE_F_DELIVERED);
		node_none(&w, b);
		assert_int_equal(nack(i), ENG_RX_DONE);
		if (!tap.answer)
			tap_done(i, 0);
		expect_err(b, &ctx[0], FI_EACCES);
	}
	write_to_a(0, 1000, 0);
	assert_int_equal(ack(tap.sent[4].msg.id, WIRE_F_DELIVERED), ENG_RX_DONE);
	expect(b, &ctx[0], FI_RMA | FI_WRITE, 0);
	nothing_is_left();
}

/* What the peer's library answers by itself, and what its program has to want first. */
static void which_operations_the_peer_owes_an_answer(void **arg)
{
	uint32_t id;

	write_to_a(0, 8, 0);
	assert_false(eng_peer_asks(to));
	expect(b, &ctx[0], FI_RMA | FI_WRITE, 0);
	id = announce(1, 0);
	assert_false(eng_peer_asks(to));
	assert_int_equal(cts(id, 0, 77), ENG_RX_DONE);
	expect(b, &ctx[1], FI_SEND | FI_TAGGED, 0);
	write_to_a(2, 8, FI_DELIVERY_COMPLETE);
	assert_true(eng_peer_asks(to));
	assert_int_equal(ack(tap.sent[tap.cnt - 1].msg.id, WIRE_F_DELIVERED), ENG_RX_DONE);
	expect(b, &ctx[2], FI_RMA | FI_WRITE, 0);
	assert_false(eng_peer_asks(to));
	assert_int_equal(fi_read(b->ep, in[0], 8, NULL, 0, 0, 7, &ctx[3]), 0);
	assert_true(eng_peer_asks(to));
	assert_int_equal(nack(tap.cnt - 1), ENG_RX_DONE);
	expect_err(b, &ctx[3], FI_EACCES);
	assert_false(eng_peer_asks(to));
	nothing_is_left();
}

static void without_a_request_for_it_no_ack_is_valid(void **arg)
{
	tap.answer = 0;
	send_to_a(0, 300, 0);
	assert_int_equal(ack(tap.sent[0].msg.id, WIRE_F_DELIVERED), ENG_RX_BAD);
	tap_done(0, 0);
	expect(b, &ctx[0], FI_SEND | FI_TAGGED, 0);
}

/* What is behind a fence starts when all before it is complete, in the order of the calls. */
static void a_fence_holds_back(void **arg)
{
	tap.answer = 0;
	send_to_a(0, 300, 0);
	send_to_a(1, 310, FI_FENCE);
	send_to_a(2, 320, 0);
	assert_int_equal(tap.cnt, 1);
	assert_int_equal(to->fenced_cnt, 2);
	tap_done(0, 0);
	assert_int_equal(tap.cnt, 3);
	assert_int_equal(tap.sent[1].len, 310);
	assert_int_equal(tap.sent[2].len, 320);
	assert_false(to->slow & ENG_PEER_FENCED);
	tap_done(2, 0);
	tap_done(1, 0);
	expect(b, &ctx[0], FI_SEND | FI_TAGGED, 0);
	expect(b, &ctx[2], FI_SEND | FI_TAGGED, 0);
	expect(b, &ctx[1], FI_SEND | FI_TAGGED, 0);
	nothing_is_left();
}

static void a_second_fence_waits_for_what_the_first_released(void **arg)
{
	tap.answer = 0;
	send_to_a(0, 300, 0);
	send_to_a(1, 310, FI_FENCE);
	send_to_a(2, 320, FI_FENCE);
	tap_done(0, 0);
	assert_int_equal(tap.cnt, 2);
	tap_done(1, 0);
	assert_int_equal(tap.cnt, 3);
	tap_done(2, 0);
	nothing_is_left();
}

/* The first fence of an idle peer has nothing to wait for. */
static void a_fence_alone_is_sent(void **arg)
{
	send_to_a(0, 300, FI_FENCE);
	assert_int_equal(tap.cnt, 1);
	expect(b, &ctx[0], FI_SEND | FI_TAGGED, 0);
}

static void injected_data_is_copied(void **arg)
{
	tap.answer = 0;
	memset(out[0], 1, 300);
	assert_int_equal(fi_tinject(b->ep, out[0], ENG_TX_INLINE, 0, TAG), 0);
	memset(out[0], 2, 300);
	assert_int_equal(((char *) tap.sent[0].pkt->iov[0].iov_base)[0], 1);
	assert_int_equal(tap.sent[0].flags & ENG_PKT_INLINE, ENG_PKT_INLINE);
	to = tap.sent[0].to;
	tap_done(0, 0);
	node_none(&w, b);		/* it is silent */
	nothing_is_left();
}

/* All that waits for a lost peer fails, once, with the reason; what the link has, when it is back. */
static void a_lost_peer_fails_all(void **arg)
{
	uint32_t id = announce(0, 0);

	tap.answer = 0;
	send_to_a(1, 300, 0);
	send_to_a(2, 310, FI_FENCE);
	eng_tx_fail_all(to, FI_ECONNRESET);
	expect_err(b, &ctx[2], FI_ECONNRESET);
	expect_err(b, &ctx[0], FI_ECONNRESET);
	node_none(&w, b);
	tap_done(1, -FI_ECONNRESET);
	expect_err(b, &ctx[1], FI_ECONNRESET);
	assert_int_equal(cts(id, 100, 1), ENG_RX_BAD);
	nothing_is_left();
}

/* ---- what waits for a channel without a format ---- */

static fi_addr_t second_ctx(void)
{
	struct eng_ep *ep = eng_of(b);

	ep->base.av->rx_ctx_bits = 2;
	ep->rx_bits = 2;
	return fi_rx_addr(0, 1, 2);
}

/* The first message to a context asks for an ACK, which an announcement does not have. */
static void a_first_message_that_is_announced_late(void **arg)
{
	struct list pending;
	uint32_t id;

	list_init(&pending);
	tap.answer = 0;
	tap.link->attr.eager_limit = 1500;
	assert_int_equal(fi_tsend(b->ep, out[7], 1000, NULL, second_ctx(), TAG, &ctx[0]), 0);
	to = tap.sent[0].to;
	id = tap.sent[0].msg.id;
	assert_true(tap.sent[0].msg.flags & WIRE_F_ARRIVED);
	list_add_tail(&tap.sent[0].pkt->node, &pending);
	eng_of(b)->ahead = 500;
	eng_on_format(to, ENG_FORMAT_ANNOUNCES, &pending);
	assert_null(wire_parse(tap.sent[0].pkt->hdr, tap.sent[0].pkt->hdr_len, 0, &tap.sent[0].msg));
	tap_sent(0, WIRE_RTS, id, 1000);
	tap_done(0, 0);
	assert_int_equal(ack(id, WIRE_F_ARRIVED), ENG_RX_BAD);
	tap.answer = 1;
	assert_int_equal(cts(id, 1000, 77), ENG_RX_DONE);
	expect(b, &ctx[0], FI_SEND | FI_TAGGED, 0);
	nothing_is_left();
}

/* What is announced late no longer counts: what still fits is sent as it is. */
static void as_much_as_fits_is_sent_unasked(void **arg)
{
	static const size_t lens[] = { 1000, 1000, 400 };
	struct list pending;
	int i;

	list_init(&pending);
	tap.answer = 0;
	tap.link->attr.eager_limit = 1500;
	for (i = 0; i < 3; i++) {
		send_to_a(i, lens[i], 0);
		list_add_tail(&tap.sent[i].pkt->node, &pending);
	}
	eng_of(b)->ahead = 1500;
	eng_on_format(to, ENG_FORMAT_ANNOUNCES, &pending);
	for (i = 0; i < 3; i++)
		assert_int_equal(tap.sent[i].pkt->hdr[0], i == 1 ? WIRE_RTS : WIRE_EAGER);
	assert_null(wire_parse(tap.sent[1].pkt->hdr, tap.sent[1].pkt->hdr_len, 0, &tap.sent[1].msg));
	for (i = 0; i < 3; i++)
		tap_done(i, 0);
	assert_int_equal(cts(tap.sent[1].msg.id, 0, 0), ENG_RX_DONE);
	nothing_is_left();
}

#define TX(name) cmocka_unit_test_setup_teardown(name, open_tx, tap_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TX(it_completes_when_the_link_has_taken_it),
		TX(it_completes_when_the_link_gives_it_back),
		TX(it_fails_when_the_link_loses_it),
		TX(an_inject_returns_where_there_is_room_soon),
		TX(an_inject_returns_where_much_is_kept),
		TX(a_link_that_refuses_ends_the_call),
		TX(an_announced_message_is_sent_when_it_is_asked_for),
		TX(a_receiver_without_room_takes_nothing),
		TX(an_answer_is_checked),
		TX(a_refusal_fails_it),
		TX(delivery_is_reported_with_the_ack),
		TX(a_short_write_fails_if_its_refusal_is_known),
		TX(others_end_with_the_answer),
		TX(which_operations_the_peer_owes_an_answer),
		TX(without_a_request_for_it_no_ack_is_valid),
		TX(a_fence_holds_back),
		TX(a_second_fence_waits_for_what_the_first_released),
		TX(a_fence_alone_is_sent),
		TX(injected_data_is_copied),
		TX(a_lost_peer_fails_all),
		TX(a_first_message_that_is_announced_late),
		TX(as_much_as_fits_is_sent_unasked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) ? 1 : 0;
}

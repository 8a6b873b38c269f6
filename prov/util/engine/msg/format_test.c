/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* What packets become that were made before the format of their channel was known, and those made after. */
#include "engine/sim/tap.h"

#include <rdma/fi_atomic.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#define TAG 5
#define ID_ANY 0

static struct list pending;

static int open_format(void **arg)
{
	list_init(&pending);
	tap_open(arg);
	tap.answer = 0;
	tap.link->attr.eager_limit = 500;
	tap.link->attr.seg_size = 300;
	return 0;
}

/* keep - the packets that the engine sends wait for the channel. */
static struct eng_peer *keep(void)
{
	unsigned i;

	list_init(&pending);
	for (i = 0; i < tap.cnt; i++)
		list_add_tail(&tap.sent[i].pkt->node, &pending);
	return tap.sent[0].to;
}

/* first - the only packet that waits is as @msg_p has it, with the payload of the call. */
static struct eng_pkt *first(size_t len, struct wire_msg *msg_p)
{
	struct eng_pkt *pkt = container_of(pending.next, struct eng_pkt, node);
	static char got[TAP_PAYLOAD];

	assert_ptr_equal(pending.next, pending.prev);
	assert_int_equal(pkt->len, len);
	assert_null(wire_parse(pkt->hdr, pkt->hdr_len, pkt->len, msg_p));
	assert_int_equal(iov_gather(pkt->iov, pkt->iov_cnt, 0, got, len), len);
	assert_memory_equal(got, out[7], len);
	return pkt;
}

static void give_back(struct eng_pkt *pkt)
{
	unsigned i;

	for (i = 0; i < tap.cnt; i++)
		tap.sent[i].pkt = NULL;
	pkt->done(pkt, 0);
}

static void an_announcement_becomes_the_message(void **arg)
{
	struct eng_peer *to;
	struct wire_msg msg;
	struct eng_pkt *pkt;

	assert_int_equal(fi_tsenddata(b->ep, out[7], 1500, NULL, 77, 0, TAG, &ctx[0]), 0);
	tap_sent(0, WIRE_RTS, tap.sent[0].msg.id, 1500);
	to = keep();
	eng_on_format(to, ENG_FORMAT_WHOLE, &pending);
	pkt = first(1500, &msg);
	assert_int_equal(msg.op, WIRE_EAGER);
	assert_int_equal(msg.tag, TAG);
	assert_int_equal(msg.data, 77);
	node_none(&w, b);
	give_back(pkt);
	expect(b, &ctx[0], FI_SEND | FI_TAGGED, 0);
	/* its peer cannot ask for it any more */
	assert_int_equal(tap_words(to, WIRE_CTS, 0, msg.id, 1500, 0, 1, 9, 0), ENG_RX_BAD);
}

static void the_pieces_of_a_write_become_one(void **arg)
{
	struct iovec iov[3] = { { out[7], 100 }, { out[7] + 100, 450 }, { out[7] + 550, 450 } };
	struct fi_rma_iov remote[3] = { { 0x1000, 350, 1 }, { 0x9000, 0, 2 }, { 0x4000, 650, 3 } };
	struct fi_msg_rma write = { .msg_iov = iov, .iov_count = 3, .rma_iov = remote, .rma_iov_count = 3,
				    .data = 88, .context = &ctx[0] };
	struct wire_msg msg;
	struct eng_pkt *pkt;

	assert_int_equal(fi_writemsg(b->ep, &write, FI_REMOTE_CQ_DATA | FI_DELIVERY_COMPLETE), 0);
	assert_int_equal(tap.cnt, 4);
	eng_on_format(keep(), ENG_FORMAT_WHOLE, &pending);
	pkt = first(1000, &msg);
	assert_int_equal(msg.op, WIRE_WRITE);
	assert_int_equal(msg.flags, WIRE_F_LAST | WIRE_F_DATA | WIRE_F_DELIVERED);
	assert_int_equal(msg.data, 88);
	assert_int_equal(msg.rma_cnt, 2);
	assert_true(msg.rma[0].addr == 0x1000 && msg.rma[0].len == 350 && msg.rma[0].key == 1);
	assert_true(msg.rma[1].addr == 0x4000 && msg.rma[1].len == 650 && msg.rma[1].key == 3);
	assert_true(pkt->iov_cnt <= 3);
	give_back(pkt);
	node_none(&w, b);
	assert_int_equal(tap_words(tap.sent[0].to, WIRE_ACK, WIRE_F_DELIVERED, msg.id, 0, 0, 0, 0, 0),
			 ENG_RX_DONE);
	expect(b, &ctx[0], FI_RMA | FI_WRITE, 0);
}

static void what_follows_is_whole(void **arg)
{
	char unused[1];
	unsigned cnt;

	eng_on_format(tap.peer, ENG_FORMAT_WHOLE, &pending);
	assert_int_equal(fi_tsend(b->ep, unused, 0, NULL, 0, TAG, &ctx[1]), 0);
	eng_on_format(tap.sent[0].to, ENG_FORMAT_WHOLE, &pending);
	cnt = tap.cnt;
	assert_int_equal(fi_tsend(b->ep, out[7], 1500, NULL, 0, TAG, &ctx[0]), 0);
	tap_sent(cnt, WIRE_EAGER, ID_ANY, 1500);
	assert_int_equal(fi_write(b->ep, out[7], 1000, NULL, 0, 0x1000, 3, &ctx[0]), 0);
	tap_sent(cnt + 1, WIRE_WRITE, tap.sent[cnt + 1].msg.id, 1000);
	assert_int_equal(tap.cnt, cnt + 2);
	/* another life of the peer, in the native format */
	eng_on_format(tap.sent[0].to, ENG_FORMAT_NATIVE, &pending);
	assert_int_equal(fi_tsend(b->ep, out[7], 1500, NULL, 0, TAG, &ctx[0]), 0);
	tap_sent(cnt + 2, WIRE_RTS, tap.sent[cnt + 2].msg.id, 1500);
}

/* A packet that the format does not have ends its operation, and nothing else. */
static void what_the_format_does_not_have(void **arg)
{
	uint64_t old, operand = 1;

	assert_int_equal(fi_tsend(b->ep, out[7], 300, NULL, 0, TAG, &ctx[0]), 0);
	assert_int_equal(fi_fetch_atomic(b->ep, &operand, 1, NULL, &old, NULL, 0, 0x1000, 3, FI_UINT64, FI_SUM,
					 &ctx[1]), 0);
	assert_int_equal(fi_tsend(b->ep, out[7], 300, NULL, 0, TAG, &ctx[2]), 0);
	tap_done(0, -FI_EOPNOTSUPP);
	expect_err(b, &ctx[0], FI_EOPNOTSUPP);
	tap_done(1, -FI_EOPNOTSUPP);
	expect_err(b, &ctx[1], FI_EOPNOTSUPP);
	tap_done(2, 0);
	expect(b, &ctx[2], FI_SEND | FI_TAGGED, 0);
	assert_false(tap.sent[0].to->slow);
	assert_int_equal(eng_of(b)->tx_out, 0);
}

/* Its next life may be reached by another link. */
static void a_lost_peer_has_no_format(void **arg)
{
	struct eng_peer *to;

	tap.answer = 1;
	assert_int_equal(fi_tsend(b->ep, out[7], 300, NULL, 0, TAG, &ctx[0]), 0);
	expect(b, &ctx[0], FI_SEND | FI_TAGGED, 0);
	to = tap.sent[0].to;
	eng_on_format(to, ENG_FORMAT_WHOLE, &pending);
	eng_on_down(tap.link, to, FI_ECONNRESET);
	assert_int_equal(fi_tsend(b->ep, out[7], 1500, NULL, 0, TAG, &ctx[0]), 0);
	tap_sent(1, WIRE_RTS, tap.sent[1].msg.id, 1500);
}

#define F(name) cmocka_unit_test_setup_teardown(name, open_format, tap_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		F(an_announcement_becomes_the_message),
		F(the_pieces_of_a_write_become_one),
		F(what_follows_is_whole),
		F(a_lost_peer_has_no_format),
		F(what_the_format_does_not_have),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) ? 1 : 0;
}

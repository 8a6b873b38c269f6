/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Sends of every form and length, and what bounds them. */
#include "engine/sim/case.h"

/* ---- every call ------------------------------------------------------------- */

static void test_each_form_of_send(void **arg)
{
	struct iovec iov[8];
	struct fi_msg msg = { .msg_iov = iov, .iov_count = 8, .addr = 1, .context = &ctx[2] };
	struct fi_msg_tagged tmsg = { .msg_iov = iov, .iov_count = 3, .addr = 1, .tag = 5,
				      .context = &ctx[3], .data = 99 };
	struct comp comp;
	int i;

	pattern_fill(out[0], 400, 1);
	for (i = 0; i < 8; i++)
		iov[i] = (struct iovec) { out[0] + 50 * i, 50 };

	assert_int_equal(fi_recv(b->ep, in[0], 400, NULL, FI_ADDR_UNSPEC, &ctx[10]), 0);
	assert_int_equal(fi_send(a->ep, out[0], 400, NULL, 1, &ctx[0]), 0);
	expect(a, &ctx[0], FI_SEND | FI_MSG, 0);
	expect(b, &ctx[10], FI_RECV | FI_MSG, 400);
	assert_true(pattern_ok(in[0], 400, 1));

	assert_int_equal(fi_recvv(b->ep, (struct iovec[]) { { in[1], 7 }, { in[2], 393 } }, NULL, 2,
				  FI_ADDR_UNSPEC, &ctx[11]), 0);
	assert_int_equal(fi_sendv(a->ep, iov, NULL, 8, 1, &ctx[1]), 0);
	expect(a, &ctx[1], FI_SEND | FI_MSG, 0);
	expect(b, &ctx[11], FI_RECV | FI_MSG, 400);
	assert_memory_equal(in[1], out[0], 7);
	assert_memory_equal(in[2], out[0] + 7, 393);

	assert_int_equal(fi_recv(b->ep, in[3], 400, NULL, FI_ADDR_UNSPEC, &ctx[12]), 0);
	msg.data = 77;
	assert_int_equal(fi_sendmsg(a->ep, &msg, FI_REMOTE_CQ_DATA), 0);
	expect(a, &ctx[2], FI_SEND | FI_MSG, 0);
	node_wait(&w, b, &comp);
	assert_int_equal(comp.e.data, 77);
	assert_true(comp.e.flags == (FI_RECV | FI_MSG | FI_REMOTE_CQ_DATA));
	assert_true(pattern_ok(in[3], 400, 1));

	assert_int_equal(fi_trecv(b->ep, in[4], 400, NULL, FI_ADDR_UNSPEC, 5, 0, &ctx[13]), 0);
	assert_int_equal(fi_tsendmsg(a->ep, &tmsg, FI_REMOTE_CQ_DATA | FI_INJECT), 0);
	expect(a, &ctx[3], FI_SEND | FI_TAGGED, 0);
	node_wait(&w, b, &comp);
	assert_true(comp.e.flags == (FI_RECV | FI_TAGGED | FI_REMOTE_CQ_DATA));
	assert_int_equal(comp.e.data, 99);
	assert_int_equal(comp.e.tag, 5);
	assert_int_equal(comp.e.len, 150);
	assert_true(pattern_ok(in[4], 150, 1));

	assert_int_equal(fi_trecv(b->ep, in[5], 400, NULL, FI_ADDR_UNSPEC, 8, 7, &ctx[14]), 0);
	assert_int_equal(fi_tsend(a->ep, out[0], 3, NULL, 1, 11, &ctx[4]), 0);
	expect(a, &ctx[4], FI_SEND | FI_TAGGED, 0);
	node_wait(&w, b, &comp);
	assert_int_equal(comp.e.tag, 11);
	assert_int_equal(comp.e.len, 3);
	assert_int_equal(comp.src, 0);

	assert_int_equal(fi_tsenddata(a->ep, out[0], 0, NULL, UINT64_MAX, 1, 12, &ctx[5]), 0);
	expect(a, &ctx[5], FI_SEND | FI_TAGGED, 0);
	assert_int_equal(fi_trecvv(b->ep, NULL, NULL, 0, FI_ADDR_UNSPEC, 12, 0, &ctx[15]), 0);
	node_wait(&w, b, &comp);
	assert_true(comp.e.data == UINT64_MAX);
	assert_int_equal(comp.e.len, 0);
}

static void test_inject_is_silent_and_frees_the_buffer(void **arg)
{
	struct comp comp;
	int i;

	for (i = 0; i < 4; i++) {
		pattern_fill(out[0], 200, (uint64_t) i);
		if (i == 0)
			assert_int_equal(fi_inject(a->ep, out[0], 200, 1), 0);
		else if (i == 1)
			assert_int_equal(fi_injectdata(a->ep, out[0], 200, 55, 1), 0);
		else if (i == 2)
			assert_int_equal(fi_tinject(a->ep, out[0], 100, 1, 3), 0);
		else
			assert_int_equal(fi_tinjectdata(a->ep, out[0], 8, 56, 1, 3), 0);
		memset(out[0], 0xee, 200);
	}
	for (i = 0; i < 4; i++) {
		if (i < 2)
			assert_int_equal(fi_recv(b->ep, in[i], 200, NULL, 0, &ctx[i]), 0);
		else
			assert_int_equal(fi_trecv(b->ep, in[i], 200, NULL, 0, 3, 0, &ctx[i]), 0);
		node_wait(&w, b, &comp);
		assert_ptr_equal(comp.e.op_context, &ctx[i]);
		assert_true(pattern_ok(in[i], comp.e.len, (uint64_t) i));
		assert_int_equal(comp.e.data, i == 1 ? 55 : i == 3 ? 56 : 0);
	}
	node_none(&w, a);
	assert_int_equal(fi_cntr_read(a->tx_cntr), 4);
	assert_int_equal(fi_cntr_read(b->rx_cntr), 4);
	assert_int_equal(fi_inject(a->ep, out[0], 201, 1), -FI_EMSGSIZE);
}

static void test_impossible_calls_say_so_at_once(void **arg)
{
	struct iovec iov[9] = { { out[0], 1 } };
	struct fi_msg msg = { .msg_iov = iov, .iov_count = 1, .addr = 1 };

	assert_int_equal(fi_send(a->ep, out[0], 1, NULL, 17, NULL), -FI_EINVAL);
	assert_int_equal(fi_send(a->ep, out[0], 1, NULL, FI_ADDR_UNSPEC, NULL), -FI_EINVAL);
	assert_int_equal(fi_recv(a->ep, in[0], 1, NULL, 17, NULL), -FI_EINVAL);
	assert_int_equal(fi_sendv(a->ep, iov, NULL, 9, 1, NULL), -FI_EINVAL);
	assert_int_equal(fi_send(a->ep, out[0], (size_t) -1, NULL, 1, NULL), -FI_EINVAL);
	assert_int_equal(fi_send(a->ep, NULL, (size_t) -2, NULL, 1, NULL), -FI_EMSGSIZE);
	assert_int_equal(fi_sendmsg(a->ep, &msg, FI_PEEK), -FI_EBADFLAGS);
	assert_int_equal(fi_recvmsg(a->ep, &msg, FI_FENCE), -FI_EBADFLAGS);
	assert_int_equal(fi_cancel(&a->ep->fid, &ctx[0]), -FI_ENOENT);
	assert_int_equal(fi_sendmsg(a->ep, &msg, 0), 0);
	assert_int_equal(fi_recv(b->ep, in[0], 1, NULL, FI_ADDR_UNSPEC, NULL), 0);
	expect(b, NULL, FI_RECV | FI_MSG, 1);
}

/* ---- lengths ---------------------------------------------------------------- */

static void test_every_length(void **arg)
{
	static const size_t lens[] = { 0, 1, 127, 128, 129, 200, 499, 500, 501, 999, 1000, 1001,
				       2000, 5000, 20000 };
	struct comp comp;
	size_t i, j;

	for (i = 0; i < sizeof(lens) / sizeof(lens[0]) * 2; i++) {
		size_t len = lens[i / 2];

		pattern_fill(out[0], len, i);
		memset(in[0], 0, sizeof(in[0]));
		if (i % 2)
			assert_int_equal(fi_trecv(b->ep, in[0], len, NULL, 0, 1, 0, &ctx[1]), 0);
		assert_int_equal(fi_tsend(a->ep, out[0], len, NULL, 1, 1, &ctx[0]), 0);
		for (j = 0; j < 30; j++)
			world_poll(&w);
		if (!(i % 2))
			assert_int_equal(fi_trecv(b->ep, in[0], len, NULL, 0, 1, 0, &ctx[1]), 0);
		node_wait(&w, b, &comp);
		assert_int_equal(comp.err, 0);
		assert_int_equal(comp.e.len, len);
		assert_true(pattern_ok(in[0], len, i));
		expect(a, &ctx[0], FI_SEND | FI_TAGGED, 0);
	}
}

static void truncated(size_t sent, size_t room, bool late)
{
	unsigned pieces = sim_ops[WIRE_DATA];
	struct comp comp;

	pattern_fill(out[0], sent, sent);
	memset(in[0], 0, sizeof(in[0]));
	if (!late)
		assert_int_equal(fi_trecv(b->ep, in[0], room, NULL, 0, 9, 0, &ctx[1]), 0);
	assert_int_equal(fi_tsenddata(a->ep, out[0], sent, NULL, 4, 1, 9, &ctx[0]), 0);
	if (late) {
		world_settle(&w);
		assert_int_equal(fi_trecv(b->ep, in[0], room, NULL, 0, 9, 0, &ctx[1]), 0);
	}
	node_wait(&w, b, &comp);
	assert_int_equal(comp.err, FI_ETRUNC);
	assert_int_equal(comp.e.len, room);
	assert_int_equal(comp.olen, sent - room);
	assert_int_equal(comp.e.tag, 9);
	assert_int_equal(comp.e.data, 4);
	assert_true(comp.e.flags == (FI_RECV | FI_TAGGED | FI_REMOTE_CQ_DATA));
	assert_true(pattern_ok(in[0], room, sent));
	assert_int_equal(in[0][room], 0);
	expect(a, &ctx[0], FI_SEND | FI_TAGGED, 0);
	/* of an announced message no more is sent than there is room for */
	pieces = sim_ops[WIRE_DATA] - pieces;
	assert_true(pieces * sim_rough.seg_size < room + sim_rough.seg_size);
}

static void test_truncation(void **arg)
{
	truncated(100, 10, false);
	truncated(100, 10, true);
	truncated(400, 0, false);
	truncated(5000, 1500, false);
	truncated(5000, 1500, true);
	truncated(5000, 0, false);
	truncated(5000, 0, true);
	assert_int_equal(fi_cntr_readerr(b->rx_cntr), 7);
	assert_int_equal(fi_cntr_read(b->rx_cntr), 0);
}

/* ---- limits ----------------------------------------------------------------- */

static void test_full_queues_say_later(void **arg)
{
	int i;

	/* more than the sizes of the attributes, if memory allows: the limits proper are made small */
	assert_int_equal(eng_of(a)->tx_max, ENG_TX_QUEUE_MAX);
	assert_int_equal(eng_of(b)->rxc->max, ENG_RX_QUEUE_MAX);
	eng_of(a)->tx_max = 64;
	eng_of(b)->rxc->max = 256;
	for (i = 0; i < 64; i++)
		assert_int_equal(fi_tsend(a->ep, out[0], 3000, NULL, 1, 1, &ctx[0]), 0);
	assert_int_equal(fi_tsend(a->ep, out[0], 1, NULL, 1, 1, &ctx[0]), -FI_EAGAIN);
	assert_int_equal(fi_tx_size_left(a->ep), 0);
	for (i = 0; i < 256; i++)
		assert_int_equal(fi_recv(b->ep, in[0], 1, NULL, FI_ADDR_UNSPEC, &ctx[i % 8]), 0);
	assert_int_equal(fi_recv(b->ep, in[0], 1, NULL, FI_ADDR_UNSPEC, NULL), -FI_EAGAIN);
	/* A full receive queue takes what is here already. */
	world_settle(&w);
	for (i = 0; i < 64; i++) {
		assert_int_equal(fi_trecv(b->ep, in[0], 3000, NULL, 0, 1, 0, &ctx[1]), 0);
		expect(b, &ctx[1], FI_RECV | FI_TAGGED, 3000);
		expect(a, &ctx[0], FI_SEND | FI_TAGGED, 0);
	}
	assert_int_equal(fi_tsend(a->ep, out[0], 1, NULL, 1, 1, &ctx[0]), 0);
	expect(a, &ctx[0], FI_SEND | FI_TAGGED, 0);
}

static void test_unexpected_flood_is_bounded(void **arg)
{
	struct comp comp;
	int sent = 0, got = 0;

	eng_of(b)->unexp_budget = 10000;
	pattern_fill(out[0], 400, 3);
	for (; sent < 1000 && fi_tx_size_left(a->ep) > 1; sent++) {
		assert_int_equal(fi_tsend(a->ep, out[0], 400, NULL, 1, 1, &ctx[0]), 0);
		world_poll(&w);
	}
	assert_true(sent < 1000);
	assert_int_equal(sim_ops[WIRE_XOFF], 1);
	/* One that is wanted gets through while the rest waits. */
	while (node_read(a, &comp))
		assert_int_equal(comp.err, 0);
	assert_int_equal(fi_tinject(a->ep, "short", 5, 2, 2), 0);
	assert_int_equal(fi_trecv(c->ep, in[1], 5, NULL, 0, 2, 0, &ctx[2]), 0);
	expect(c, &ctx[2], FI_RECV | FI_TAGGED, 5);
	for (; got < sent; got++) {
		memset(in[0], 0, 400);
		assert_int_equal(fi_trecv(b->ep, in[0], 400, NULL, 0, 1, 0, &ctx[1]), 0);
		expect(b, &ctx[1], FI_RECV | FI_TAGGED, 400);
		assert_true(pattern_ok(in[0], 400, 3));
	}
	world_settle(&w);
	assert_int_equal(sim_ops[WIRE_XON], 1);
	assert_int_equal(fi_tx_size_left(a->ep), 64);
	assert_int_equal(eng_of(b)->unexp_peers, 0);
}

static void test_injects_while_the_peer_is_full(void **arg)
{
	struct comp comp;
	int i;

	eng_of(b)->unexp_budget = 1000;
	for (i = 0; i < 20; i++) {
		pattern_fill(out[0], 200, (uint64_t) i);
		assert_int_equal(fi_inject(a->ep, out[0], (size_t) (200 - i), 1), 0);
		memset(out[0], 0, 200);
		world_settle(&w);
	}
	/* What was injected outlives its endpoint. */
	assert_true(eng_of(a)->inject_out > 0);
	for (i = 0; i < 20; i++) {
		assert_int_equal(fi_recv(b->ep, in[0], 200, NULL, 0, &ctx[1]), 0);
		node_wait(&w, b, &comp);
		assert_int_equal(comp.e.len, 200 - i);
		assert_true(pattern_ok(in[0], comp.e.len, (uint64_t) i));
	}
	assert_int_equal(eng_of(a)->inject_out, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_each_form_of_send),
		ROUGH(test_each_form_of_send),
		T(test_inject_is_silent_and_frees_the_buffer),
		ROUGH(test_inject_is_silent_and_frees_the_buffer),
		T(test_impossible_calls_say_so_at_once),
		T(test_every_length),
		ROUGH(test_every_length),
		T(test_truncation),
		ROUGH(test_truncation),
		T(test_full_queues_say_later),
		T(test_unexpected_flood_is_bounded),
		T(test_injects_while_the_peer_is_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) ? 1 : 0;
}

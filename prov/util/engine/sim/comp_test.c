/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* What a completion says, and when it comes. */
#include "base/iov.h"
#include "engine/sim/case.h"

/* ---- completions ------------------------------------------------------------ */

static void level(uint64_t flag, size_t len)
{
	struct iovec iov = { out[0], len };
	struct fi_msg_tagged msg = { .msg_iov = &iov, .iov_count = 1, .addr = 1, .tag = 1,
				     .context = &ctx[0] };
	bool acked = flag & (FI_DELIVERY_COMPLETE | FI_MATCH_COMPLETE);

	assert_int_equal(fi_tsendmsg(a->ep, &msg, flag), 0);
	world_settle(&w);
	if (acked || len > sim_ideal.eager_limit)
		node_none(&w, a);
	assert_int_equal(fi_trecv(b->ep, in[0], len, NULL, 0, 1, 0, &ctx[1]), 0);
	expect(a, &ctx[0], FI_SEND | FI_TAGGED, 0);
	expect(b, &ctx[1], FI_RECV | FI_TAGGED, len);
	world_settle(&w);
	assert_int_equal(fi_tx_size_left(a->ep), 64);
}

static void test_completion_levels(void **arg)
{
	static const uint64_t flags[] = { 0, FI_INJECT_COMPLETE, FI_TRANSMIT_COMPLETE,
					  FI_DELIVERY_COMPLETE, FI_MATCH_COMPLETE,
					  FI_MATCH_COMPLETE | FI_DELIVERY_COMPLETE };
	size_t i;

	for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		level(flags[i], 0);
		level(flags[i], 100);
		level(flags[i], 3000);
	}
	assert_int_equal(sim_ops[WIRE_ACK], 9);
}

static void test_delivery_complete_by_default(void **arg)
{
	node_close(&w, 0);
	a->tx_op_flags = FI_DELIVERY_COMPLETE | FI_COMPLETION;
	node_open(&w, 0);
	assert_int_equal(fi_send(a->ep, out[0], 5, NULL, 1, &ctx[0]), 0);
	assert_int_equal(fi_inject(a->ep, out[0], 5, 1), 0);
	node_none(&w, a);
	assert_int_equal(fi_cntr_read(a->tx_cntr), 0);
	assert_int_equal(fi_recv(b->ep, in[0], 5, NULL, 0, NULL), 0);
	expect(a, &ctx[0], FI_SEND | FI_MSG, 0);
	assert_int_equal(fi_cntr_read(a->tx_cntr), 1);
	assert_int_equal(fi_recv(b->ep, in[0], 5, NULL, 0, NULL), 0);
	world_settle(&w);
	assert_int_equal(fi_cntr_read(a->tx_cntr), 2);
}

/* Not earlier: at the completion the message is in the receiver's buffer. */
static void test_delivery_complete_is_the_delivery(void **arg)
{
	struct iovec iov = { out[0], 0 };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1, .addr = 1, .context = &ctx[0] };
	int i;

	for (i = 0; i < 200; i++) {
		iov.iov_len = i % 2 ? 3000 : 400;
		pattern_fill(out[0], iov.iov_len, (uint64_t) i);
		assert_int_equal(fi_recv(b->ep, in[0], 3000, NULL, 0, &ctx[1]), 0);
		assert_int_equal(fi_sendmsg(a->ep, &msg, FI_DELIVERY_COMPLETE | FI_COMPLETION), 0);
		expect(a, &ctx[0], FI_SEND | FI_MSG, 0);
		assert_true(pattern_ok(in[0], iov.iov_len, (uint64_t) i));
		expect(b, &ctx[1], FI_RECV | FI_MSG, iov.iov_len);
	}
}

static void test_selective_completion(void **arg)
{
	struct iovec iov = { out[0], 5 };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1, .addr = 1, .context = &ctx[1] };
	struct iovec iov_in = { in[0], 5 };
	struct fi_msg recv = { .msg_iov = &iov_in, .iov_count = 1, .addr = FI_ADDR_UNSPEC,
			       .context = &ctx[2] };

	node_close(&w, 0);
	node_close(&w, 1);
	a->bind_flags = b->bind_flags = FI_SELECTIVE_COMPLETION;
	node_open(&w, 0);
	node_open(&w, 1);
	assert_int_equal(fi_send(a->ep, out[0], 5, NULL, 1, &ctx[0]), 0);
	assert_int_equal(fi_sendmsg(a->ep, &msg, FI_COMPLETION), 0);
	assert_int_equal(fi_sendmsg(a->ep, &msg, 0), 0);
	assert_int_equal(fi_recv(b->ep, in[1], 5, NULL, 0, &ctx[3]), 0);
	assert_int_equal(fi_recvmsg(b->ep, &recv, FI_COMPLETION), 0);
	assert_int_equal(fi_recv(b->ep, in[1], 2, NULL, 0, &ctx[4]), 0);
	expect(a, &ctx[1], FI_SEND | FI_MSG, 0);
	expect(b, &ctx[2], FI_RECV | FI_MSG, 5);
	/* Errors are always reported. */
	expect_err(b, &ctx[4], FI_ETRUNC);
	node_none(&w, a);
	node_none(&w, b);
	assert_int_equal(fi_cntr_read(a->tx_cntr), 3);
	assert_int_equal(fi_cntr_read(b->rx_cntr), 2);
}

static void test_fence(void **arg)
{
	struct iovec iov = { out[0], 5 };
	struct fi_msg_tagged msg = { .msg_iov = &iov, .iov_count = 1, .addr = 1, .tag = 2 };

	/* The first is not complete before b receives it; what follows the fence waits. */
	assert_int_equal(fi_tsend(a->ep, out[1], 3000, NULL, 1, 1, &ctx[0]), 0);
	msg.context = &ctx[1];
	assert_int_equal(fi_tsendmsg(a->ep, &msg, FI_FENCE), 0);
	msg.context = &ctx[2];
	assert_int_equal(fi_tsendmsg(a->ep, &msg, 0), 0);
	msg.addr = 2;
	msg.context = &ctx[3];
	assert_int_equal(fi_tsendmsg(a->ep, &msg, FI_FENCE), 0);
	expect(a, &ctx[3], FI_SEND | FI_TAGGED, 0);
	assert_int_equal(fi_trecv(b->ep, in[1], 5, NULL, 0, 2, 0, &ctx[11]), 0);
	assert_int_equal(fi_trecv(b->ep, in[2], 5, NULL, 0, 2, 0, &ctx[12]), 0);
	node_none(&w, b);
	node_none(&w, a);
	assert_int_equal(fi_trecv(b->ep, in[0], 3000, NULL, 0, 1, 0, &ctx[10]), 0);
	expect(a, &ctx[0], FI_SEND | FI_TAGGED, 0);
	expect(a, &ctx[1], FI_SEND | FI_TAGGED, 0);
	expect(a, &ctx[2], FI_SEND | FI_TAGGED, 0);
	expect(b, &ctx[10], FI_RECV | FI_TAGGED, 3000);
	expect(b, &ctx[11], FI_RECV | FI_TAGGED, 5);
	expect(b, &ctx[12], FI_RECV | FI_TAGGED, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_completion_levels),
		ROUGH(test_completion_levels),
		T(test_delivery_complete_by_default),
		ROUGH(test_delivery_complete_is_the_delivery),
		T(test_selective_completion),
		T(test_fence),
		ROUGH(test_fence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) ? 1 : 0;
}

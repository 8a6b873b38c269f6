/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * What fi_msg(3), fi_tagged(3), fi_endpoint(3) and fi_cq(3) promise, one by one,
 * between endpoints on a simulated network.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/iov.h"
#include "engine/sim_world.h"
#include "engine/wire.h"

static struct world w;
static char out[8][20000], in[8][20000];
static int ctx[64];

static struct node *const a = &w.node[0], *const b = &w.node[1], *const c = &w.node[2];

static int set_up(void **arg)
{
	memset(&w, 0, sizeof(w));
	world_open(&w, 3, 1, &sim_calm);
	memset(in, 0, sizeof(in));
	return 0;
}

static int set_up_rough(void **arg)
{
	memset(&w, 0, sizeof(w));
	world_open(&w, 3, 7, &sim_rough);
	memset(in, 0, sizeof(in));
	return 0;
}

static int tear_down(void **arg)
{
	world_close(&w);
	return 0;
}

#define expect(...)	node_expect(&w, __VA_ARGS__)
#define expect_err(...)	node_expect_err(&w, __VA_ARGS__)

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
	assert_int_equal(fi_send(a->ep, out[0], (size_t) -1, NULL, 1, NULL), -FI_EMSGSIZE);
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

/* ---- sources ---------------------------------------------------------------- */

static void test_directed_receives(void **arg)
{
	struct comp comp;

	assert_int_equal(fi_recv(c->ep, in[1], 8, NULL, 1, &ctx[1]), 0);
	assert_int_equal(fi_recv(c->ep, in[0], 8, NULL, 0, &ctx[0]), 0);
	assert_int_equal(fi_recv(c->ep, in[2], 8, NULL, FI_ADDR_UNSPEC, &ctx[2]), 0);
	assert_int_equal(fi_inject(a->ep, "from a", 7, 2), 0);
	node_wait(&w, c, &comp);
	assert_ptr_equal(comp.e.op_context, &ctx[0]);
	assert_int_equal(comp.src, 0);
	assert_int_equal(fi_inject(b->ep, "from b", 7, 2), 0);
	node_wait(&w, c, &comp);
	assert_ptr_equal(comp.e.op_context, &ctx[1]);
	assert_int_equal(comp.src, 1);
	assert_int_equal(fi_inject(b->ep, "again!", 7, 2), 0);
	expect(c, &ctx[2], FI_RECV | FI_MSG, 7);
}

static void test_source_follows_the_address_vector(void **arg)
{
	struct sockaddr_in addr;
	size_t len = sizeof(addr);
	fi_addr_t fi_addr = 0;
	struct comp comp;

	assert_int_equal(fi_av_lookup(b->av, 0, &addr, &len), 0);
	assert_int_equal(fi_inject(a->ep, "1", 1, 1), 0);
	assert_int_equal(fi_recv(b->ep, in[0], 8, NULL, FI_ADDR_UNSPEC, NULL), 0);
	node_wait(&w, b, &comp);
	assert_int_equal(comp.src, 0);
	assert_int_equal(fi_av_remove(b->av, &fi_addr, 1, 0), 0);
	assert_int_equal(fi_inject(a->ep, "2", 1, 1), 0);
	assert_int_equal(fi_recv(b->ep, in[0], 8, NULL, FI_ADDR_UNSPEC, NULL), 0);
	node_wait(&w, b, &comp);
	assert_true(comp.src == FI_ADDR_NOTAVAIL);
	assert_int_equal(fi_send(b->ep, out[0], 1, NULL, 0, NULL), -FI_EINVAL);
	assert_int_equal(fi_av_insert(b->av, &addr, 1, &fi_addr, 0, NULL), 1);
	assert_int_equal(fi_inject(a->ep, "3", 1, 1), 0);
	assert_int_equal(fi_recv(b->ep, in[0], 8, NULL, FI_ADDR_UNSPEC, NULL), 0);
	node_wait(&w, b, &comp);
	assert_true(comp.src == fi_addr);
	assert_int_equal(fi_inject(b->ep, "4", 1, fi_addr), 0);
	assert_int_equal(fi_recv(a->ep, in[0], 8, NULL, FI_ADDR_UNSPEC, &ctx[4]), 0);
	expect(a, &ctx[4], FI_RECV | FI_MSG, 1);
}

static void test_unknown_source_is_an_error_if_asked_for(void **arg)
{
	struct fi_cq_err_entry err = { 0 };
	struct sockaddr_in addr, *from;
	size_t len = sizeof(addr);
	fi_addr_t fi_addr = 0;
	char data[64];
	int i;

	node_close(&w, 1);
	b->caps = ENG_TX_CAPS | ENG_RX_CAPS | FI_SOURCE_ERR;
	node_open(&w, 1);
	assert_int_equal(fi_getname(&a->ep->fid, &addr, &len), 0);
	assert_int_equal(fi_av_remove(b->av, &fi_addr, 1, 0), 0);
	assert_int_equal(fi_inject(a->ep, "hello", 5, 1), 0);
	assert_int_equal(fi_recv(b->ep, in[0], 8, NULL, FI_ADDR_UNSPEC, &ctx[0]), 0);
	for (i = 0; i < 100; i++)
		world_poll(&w);
	err.err_data = data;
	err.err_data_size = sizeof(data);
	assert_int_equal(fi_cq_readerr(b->cq, &err, 0), 1);
	assert_int_equal(err.err, FI_EADDRNOTAVAIL);
	assert_ptr_equal(err.op_context, &ctx[0]);
	assert_int_equal(err.len, 5);
	assert_memory_equal(in[0], "hello", 5);
	from = err.err_data;
	assert_int_equal(err.err_data_size, sizeof(addr));
	assert_memory_equal(from, &addr, sizeof(addr));
}

/* ---- peek, claim, discard, cancel ------------------------------------------- */

static struct fi_msg_tagged tagged_in(struct iovec *iov, int i, uint64_t tag)
{
	*iov = (struct iovec) { in[i], sizeof(in[i]) };
	return (struct fi_msg_tagged) { .msg_iov = iov, .iov_count = 1, .tag = tag,
					.addr = FI_ADDR_UNSPEC, .context = &ctx[i] };
}

static void peek_all_ways(size_t len)
{
	struct fi_msg_tagged msg;
	struct iovec iov;
	struct comp comp;

	pattern_fill(out[0], len, len);
	msg = tagged_in(&iov, 0, 4);
	assert_int_equal(fi_trecvmsg(b->ep, &msg, FI_PEEK), 0);
	expect_err(b, &ctx[0], FI_ENOMSG);

	assert_int_equal(fi_tsenddata(a->ep, out[0], len, NULL, 6, 1, 4, &ctx[20]), 0);
	assert_int_equal(fi_tsend(a->ep, out[0], len, NULL, 1, 4, &ctx[21]), 0);
	assert_int_equal(fi_tsend(a->ep, out[0], len, NULL, 1, 4, &ctx[22]), 0);
	world_settle(&w);
	assert_int_equal(fi_trecvmsg(b->ep, &msg, FI_PEEK), 0);
	node_wait(&w, b, &comp);
	assert_int_equal(comp.e.len, len);
	assert_int_equal(comp.e.tag, 4);
	assert_int_equal(comp.e.data, 6);
	assert_int_equal(comp.src, 0);

	/* Claimed: nobody else gets it. */
	assert_int_equal(fi_trecvmsg(b->ep, &msg, FI_PEEK | FI_CLAIM), 0);
	node_wait(&w, b, &comp);
	assert_int_equal(comp.e.data, 6);
	msg.context = &ctx[1];
	assert_int_equal(fi_trecvmsg(b->ep, &msg, FI_CLAIM), -FI_EINVAL);
	assert_int_equal(fi_trecvmsg(b->ep, &msg, 0), 0);
	node_wait(&w, b, &comp);
	assert_int_equal(comp.e.data, 0);
	assert_ptr_equal(comp.e.op_context, &ctx[1]);
	memset(in[0], 0, len);
	msg.context = &ctx[0];
	assert_int_equal(fi_trecvmsg(b->ep, &msg, FI_CLAIM), 0);
	node_wait(&w, b, &comp);
	assert_int_equal(comp.e.data, 6);
	assert_int_equal(comp.e.len, len);
	assert_true(pattern_ok(in[0], len, len));

	/* The third is thrown away, and its sender does not know. */
	assert_int_equal(fi_trecvmsg(b->ep, &msg, FI_PEEK | FI_DISCARD), 0);
	expect(b, &ctx[0], FI_RECV | FI_TAGGED, len);
	assert_int_equal(fi_trecvmsg(b->ep, &msg, FI_PEEK), 0);
	expect_err(b, &ctx[0], FI_ENOMSG);
	world_settle(&w);
	assert_int_equal(fi_cntr_read(b->rx_cntr), 2);

	/* Claim, then discard. */
	assert_int_equal(fi_tsend(a->ep, out[0], len, NULL, 1, 4, &ctx[23]), 0);
	world_settle(&w);
	assert_int_equal(fi_trecvmsg(b->ep, &msg, FI_PEEK | FI_CLAIM), 0);
	expect(b, &ctx[0], FI_RECV | FI_TAGGED, len);
	assert_int_equal(fi_trecvmsg(b->ep, &msg, FI_CLAIM | FI_DISCARD), 0);
	expect(b, &ctx[0], FI_RECV | FI_TAGGED, len);
	assert_int_equal(fi_trecvmsg(b->ep, &msg, FI_DISCARD), -FI_EBADFLAGS);
	world_settle(&w);
	assert_int_equal(fi_cntr_read(a->tx_cntr), 4);
}

static void test_peek_claim_discard_short(void **arg)
{
	peek_all_ways(100);
}

static void test_peek_claim_discard_announced(void **arg)
{
	peek_all_ways(3000);
}

static void test_cancel(void **arg)
{
	int i;

	assert_int_equal(fi_recv(b->ep, in[0], 8, NULL, FI_ADDR_UNSPEC, &ctx[0]), 0);
	assert_int_equal(fi_recv(b->ep, in[1], 8, NULL, 0, &ctx[1]), 0);
	assert_int_equal(fi_trecv(b->ep, in[2], 8, NULL, 0, 5, 0, &ctx[2]), 0);
	assert_int_equal(fi_trecv(b->ep, in[3], 8, NULL, FI_ADDR_UNSPEC, 5, 1, &ctx[3]), 0);
	assert_int_equal(fi_rx_size_left(b->ep), 252);
	for (i = 3; i >= 0; i--) {
		assert_int_equal(fi_cancel(&b->ep->fid, &ctx[i]), 0);
		expect_err(b, &ctx[i], FI_ECANCELED);
		assert_int_equal(fi_cancel(&b->ep->fid, &ctx[i]), -FI_ENOENT);
	}
	assert_int_equal(fi_rx_size_left(b->ep), 256);
	assert_int_equal(fi_cntr_readerr(b->rx_cntr), 4);
	/* The message goes to the one that is left. */
	assert_int_equal(fi_recv(b->ep, in[0], 8, NULL, FI_ADDR_UNSPEC, &ctx[0]), 0);
	assert_int_equal(fi_recv(b->ep, in[1], 8, NULL, FI_ADDR_UNSPEC, &ctx[1]), 0);
	assert_int_equal(fi_cancel(&b->ep->fid, &ctx[0]), 0);
	expect_err(b, &ctx[0], FI_ECANCELED);
	assert_int_equal(fi_inject(a->ep, "x", 1, 1), 0);
	expect(b, &ctx[1], FI_RECV | FI_MSG, 1);
}

/* ---- completions ------------------------------------------------------------ */

static void level(uint64_t flag, size_t len)
{
	struct iovec iov = { out[0], len };
	struct fi_msg_tagged msg = { .msg_iov = &iov, .iov_count = 1, .addr = 1, .tag = 1,
				     .context = &ctx[0] };
	bool acked = flag & (FI_DELIVERY_COMPLETE | FI_MATCH_COMPLETE);

	assert_int_equal(fi_tsendmsg(a->ep, &msg, flag), 0);
	world_settle(&w);
	if (acked || len > sim_calm.eager_limit)
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

/* ---- limits ----------------------------------------------------------------- */

static void test_full_queues_say_later(void **arg)
{
	int i;

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

/* ---- multi-receive ---------------------------------------------------------- */

static void post_multi(struct node *n, void *buf, size_t len, void *context)
{
	struct iovec iov = { buf, len };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1, .addr = FI_ADDR_UNSPEC,
			      .context = context };

	assert_int_equal(fi_recvmsg(n->ep, &msg, FI_MULTI_RECV), 0);
}

static void set_min(struct node *n, size_t min)
{
	assert_int_equal(fi_setopt(&n->ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &min,
				   sizeof(min)), 0);
}

/* Messages of @len until the buffer comes back; returns how many. */
static int fill_multi(size_t len, size_t room)
{
	struct comp comp;
	size_t at = 0;
	int i;

	for (i = 0; i < 1000; i++) {
		pattern_fill(out[0], len, (uint64_t) i);
		assert_int_equal(fi_send(a->ep, out[0], len, NULL, 1, &ctx[0]), 0);
		node_wait(&w, b, &comp);
		assert_int_equal(comp.err, 0);
		assert_ptr_equal(comp.e.op_context, &ctx[1]);
		assert_ptr_equal(comp.e.buf, in[0] + at);
		assert_int_equal(comp.e.len, len);
		assert_true(pattern_ok(comp.e.buf, len, (uint64_t) i));
		at += len;
		assert_true(at <= room);
		expect(a, &ctx[0], FI_SEND | FI_MSG, 0);
		if (comp.e.flags & FI_MULTI_RECV)
			return i + 1;
	}
	return -1;
}

static void test_multi_recv_releases_once(void **arg)
{
	set_min(b, 64);
	post_multi(b, in[0], 1000, &ctx[1]);
	assert_int_equal(fill_multi(100, 1000), 10);	/* exact fit */
	post_multi(b, in[0], 1050, &ctx[1]);
	assert_int_equal(fill_multi(100, 1050), 10);	/* less than the minimum left */
	post_multi(b, in[0], 1064, &ctx[1]);		/* just the minimum left: one more */
	assert_int_equal(fi_send(a->ep, out[0], 1000, NULL, 1, &ctx[0]), 0);
	expect(b, &ctx[1], FI_RECV | FI_MSG, 1000);
	assert_int_equal(fi_send(a->ep, out[0], 64, NULL, 1, &ctx[0]), 0);
	expect(b, &ctx[1], FI_RECV | FI_MSG | FI_MULTI_RECV, 64);
	node_none(&w, b);
}

static void test_multi_recv_minimum_of_nothing(void **arg)
{
	set_min(b, 0);
	post_multi(b, in[0], 1000, &ctx[1]);
	assert_int_equal(fill_multi(250, 1000), 4);
	post_multi(b, in[0], 6000, &ctx[1]);
	assert_int_equal(fill_multi(3000, 6000), 2);	/* announced ones */
	node_none(&w, b);
}

static void test_multi_recv_of_what_is_here(void **arg)
{
	struct comp comp;
	int i, released = 0;

	set_min(b, 1);
	for (i = 0; i < 30; i++)
		assert_int_equal(fi_inject(a->ep, out[0], 100, 1), 0);
	world_settle(&w);
	post_multi(b, in[0], 1000, &ctx[1]);
	post_multi(b, in[1], 1000, &ctx[2]);
	for (i = 0; i < 20; i++) {
		node_wait(&w, b, &comp);
		assert_int_equal(comp.e.len, 100);
		released += !!(comp.e.flags & FI_MULTI_RECV);
		assert_int_equal(released, (i + 1) / 10);
	}
	assert_int_equal(fi_rx_size_left(b->ep), 256);
	post_multi(b, in[0], 10000, &ctx[1]);
	for (i = 0; i < 10; i++)
		expect(b, &ctx[1], FI_RECV | FI_MSG, 100);
	node_none(&w, b);
}

static void test_multi_recv_truncates(void **arg)
{
	struct comp comp;

	set_min(b, 100);
	post_multi(b, in[0], 500, &ctx[1]);
	assert_int_equal(fi_send(a->ep, out[0], 350, NULL, 1, NULL), 0);
	expect(b, &ctx[1], FI_RECV | FI_MSG, 350);
	assert_int_equal(fi_send(a->ep, out[0], 350, NULL, 1, NULL), 0);
	node_wait(&w, b, &comp);
	assert_int_equal(comp.err, FI_ETRUNC);
	assert_int_equal(comp.e.len, 150);
	assert_int_equal(comp.olen, 200);
	assert_true(comp.e.flags & FI_MULTI_RECV);
	node_none(&w, b);
}

static void test_multi_recv_cancel(void **arg)
{
	struct comp comp;

	/* Never used. */
	post_multi(b, in[0], 500, &ctx[1]);
	assert_int_equal(fi_cancel(&b->ep->fid, &ctx[1]), 0);
	node_wait(&w, b, &comp);
	assert_int_equal(comp.err, FI_ECANCELED);
	assert_true(comp.e.flags == (FI_RECV | FI_MSG | FI_MULTI_RECV));
	/* Used, and with a message that is still coming. */
	post_multi(b, in[0], 8000, &ctx[2]);
	assert_int_equal(fi_inject(a->ep, out[0], 10, 1), 0);
	expect(b, &ctx[2], FI_RECV | FI_MSG, 10);
	assert_int_equal(fi_send(a->ep, out[0], 5000, NULL, 1, &ctx[0]), 0);
	while (!sim_ops[WIRE_CTS])
		world_poll(&w);
	assert_int_equal(fi_cancel(&b->ep->fid, &ctx[2]), 0);
	expect(b, &ctx[2], FI_RECV | FI_MSG, 5000);
	node_wait(&w, b, &comp);
	assert_int_equal(comp.err, FI_ECANCELED);
	assert_true(comp.e.flags & FI_MULTI_RECV);
	assert_int_equal(fi_cancel(&b->ep->fid, &ctx[2]), -FI_ENOENT);
	node_none(&w, b);
}

static void test_multi_recv_close(void **arg)
{
	struct comp comp;

	post_multi(b, in[0], 500, &ctx[1]);
	assert_int_equal(fi_recv(b->ep, in[1], 10, NULL, FI_ADDR_UNSPEC, &ctx[2]), 0);
	post_multi(b, in[2], 500, &ctx[3]);
	assert_int_equal(fi_inject(a->ep, out[0], 10, 1), 0);
	expect(b, &ctx[1], FI_RECV | FI_MSG, 10);
	assert_int_equal(fi_close(&b->ep->fid), 0);
	b->ep = NULL;
	node_wait(&w, b, &comp);
	assert_int_equal(comp.err, FI_ECANCELED);
	assert_true(comp.e.flags & FI_MULTI_RECV);
	node_wait(&w, b, &comp);
	assert_int_equal(comp.err, FI_ECANCELED);
	assert_true(comp.e.flags & FI_MULTI_RECV);
	assert_false(node_read(b, &comp));
}

/* ---- peers that go ---------------------------------------------------------- */

static void test_death_of_a_peer(void **arg)
{
	struct comp comp;
	int i, errs = 0;

	/* b waits for data, a waits for answers, and both wait for c. */
	assert_int_equal(fi_tsend(a->ep, out[0], 3000, NULL, 1, 1, &ctx[0]), 0);
	assert_int_equal(fi_tsend(a->ep, out[0], 3000, NULL, 1, 2, &ctx[1]), 0);
	assert_int_equal(fi_trecv(a->ep, in[0], 10, NULL, 1, 7, 0, &ctx[2]), 0);
	assert_int_equal(fi_trecv(a->ep, in[1], 10, NULL, FI_ADDR_UNSPEC, 7, 0, &ctx[3]), 0);
	assert_int_equal(fi_trecv(a->ep, in[2], 10, NULL, 2, 7, 0, &ctx[4]), 0);
	assert_int_equal(fi_tinject(b->ep, "last words", 10, 0, 9), 0);
	world_settle(&w);
	sim_crash(PORT(1));
	node_close(&w, 1);
	for (i = 0; i < 3; i++) {
		node_wait(&w, a, &comp);
		assert_int_equal(comp.err, FI_ECONNRESET);
		assert_int_equal(comp.src, 1);
		errs |= 1 << (int) ((int *) comp.e.op_context - ctx);
	}
	assert_int_equal(errs, 7);
	node_none(&w, a);
	/* What had come before is still there. */
	assert_int_equal(fi_trecv(a->ep, in[3], 10, NULL, 1, 9, 0, &ctx[5]), 0);
	expect(a, &ctx[5], FI_RECV | FI_TAGGED, 10);
	assert_memory_equal(in[3], "last words", 10);
	/* Nobody there: an error, not silence. */
	assert_int_equal(fi_tsend(a->ep, out[0], 3000, NULL, 1, 1, &ctx[6]), 0);
	expect_err(a, &ctx[6], FI_ECONNREFUSED);
	/* So for who only listens: a receive that nobody else can end asks whether the
	 * lost peer is there. */
	for (i = 0; i < 2; i++) {
		assert_int_equal(fi_trecv(a->ep, in[4], 10, NULL, 1, 8, 0, &ctx[9]), 0);
		expect_err(a, &ctx[9], FI_ECONNREFUSED);
	}
	/* The others are not hurt. */
	assert_int_equal(fi_tinject(c->ep, "hi", 2, 0, 7), 0);
	expect(a, &ctx[3], FI_RECV | FI_TAGGED, 2);
	/* It comes back, and nobody has to do anything about it. */
	node_open(&w, 1);
	assert_int_equal(fi_tsend(a->ep, out[0], 3000, NULL, 1, 1, &ctx[7]), 0);
	assert_int_equal(fi_trecv(b->ep, in[4], 3000, NULL, 0, 1, 0, &ctx[8]), 0);
	expect(b, &ctx[8], FI_RECV | FI_TAGGED, 3000);
	expect(a, &ctx[7], FI_SEND | FI_TAGGED, 0);
	assert_int_equal(fi_trecv(a->ep, in[4], 10, NULL, 1, 8, 0, &ctx[9]), 0);
	node_none(&w, a);
	assert_int_equal(fi_tinject(b->ep, "back again", 10, 0, 8), 0);
	expect(a, &ctx[9], FI_RECV | FI_TAGGED, 10);
}

static void test_claimed_announcement_of_a_dead_peer(void **arg)
{
	struct fi_msg_tagged msg;
	struct iovec iov;

	msg = tagged_in(&iov, 0, 4);
	assert_int_equal(fi_tsend(a->ep, out[0], 3000, NULL, 1, 4, NULL), 0);
	world_settle(&w);
	assert_int_equal(fi_trecvmsg(b->ep, &msg, FI_PEEK | FI_CLAIM), 0);
	expect(b, &ctx[0], FI_RECV | FI_TAGGED, 3000);
	sim_crash(PORT(0));
	node_close(&w, 0);
	world_settle(&w);
	assert_int_equal(fi_trecvmsg(b->ep, &msg, FI_CLAIM), 0);
	expect_err(b, &ctx[0], FI_ECONNRESET);
	node_open(&w, 0);
}

static void test_idle_peers_are_let_go(void **arg)
{
	fi_addr_t gone[3] = { 0, 1, 2 };
	int i;

	/* c knows nobody; a and b call and die, again and again. */
	assert_int_equal(fi_av_remove(c->av, gone, 3, 0), 0);
	for (i = 0; i < 20; i++) {
		assert_int_equal(fi_inject(a->ep, "x", 1, 2), 0);
		assert_int_equal(fi_recv(c->ep, in[0], 1, NULL, FI_ADDR_UNSPEC, &ctx[0]), 0);
		expect(c, &ctx[0], FI_RECV | FI_MSG, 1);
		assert_int_equal(fi_inject(b->ep, "x", 1, 2), 0);
		assert_int_equal(fi_recv(c->ep, in[0], 1, NULL, FI_ADDR_UNSPEC, &ctx[0]), 0);
		expect(c, &ctx[0], FI_RECV | FI_MSG, 1);
		assert_true(eng_of(c)->by_addr.used <= 2);
		sim_crash(PORT(i % 2));
		node_close(&w, i % 2);
		world_settle(&w);
		node_open(&w, i % 2);
	}
}

/* ---- enemies ---------------------------------------------------------------- */

static void connected(void)
{
	assert_int_equal(fi_inject(a->ep, "x", 1, 1), 0);
	assert_int_equal(fi_recv(b->ep, in[0], 1, NULL, FI_ADDR_UNSPEC, &ctx[0]), 0);
	expect(b, &ctx[0], FI_RECV | FI_MSG, 1);
}

/* A packet that lies breaks its own connection and nothing else. */
static void breaks(const void *hdr, size_t hdr_len, size_t payload)
{
	connected();
	assert_int_equal(fi_trecv(b->ep, in[1], 1, NULL, 0, 1, 0, &ctx[1]), 0);
	sim_inject_packet(PORT(0), PORT(1), hdr, hdr_len, out[7], payload);
	expect_err(b, &ctx[1], FI_EIO);
	world_settle(&w);
	assert_int_equal(fi_inject(c->ep, "y", 1, 1), 0);
	assert_int_equal(fi_recv(b->ep, in[0], 1, NULL, 2, &ctx[2]), 0);
	expect(b, &ctx[2], FI_RECV | FI_MSG, 1);
}

static void test_bad_packets(void **arg)
{
	uint8_t hdr[ENG_HDR_MAX];
	size_t len;

	memset(hdr, 0xff, sizeof(hdr));
	breaks(hdr, 16, 0);
	wire_put_base(hdr, WIRE_EAGER, 0, 0, 0, 100);
	breaks(hdr, 16, 99);
	len = wire_put_word(hdr, wire_put_base(hdr, WIRE_DATA, 0, 0, 1 << 20, 10), 0);
	breaks(hdr, len, 10);
	len = wire_put_pair(hdr, wire_put_base(hdr, WIRE_CTS, 0, 0, 1 << 20, 10), 0);
	breaks(hdr, len, 0);
	wire_put_base(hdr, WIRE_ACK, WIRE_F_DELIVERED, 0, 1 << 20, 0);
	breaks(hdr, 16, 0);
	len = wire_put_pair(hdr, wire_put_base(hdr, WIRE_NACK, 0, 0, 5, 0), WIRE_ERR_MAX);
	breaks(hdr, len, 0);
	len = wire_put_rma(hdr, wire_put_base(hdr, WIRE_READ, 0, 0, 5, 8), 0, 9, 1);
	breaks(hdr, len, 0);
}

/* An id is only worth something in the hands of the peer that it was given to. */
static void test_stolen_ids(void **arg)
{
	uint8_t hdr[ENG_HDR_MAX];
	struct eng_name *name = NULL;
	uint32_t i;
	size_t len;

	connected();
	assert_int_equal(fi_inject(c->ep, "y", 1, 0), 0);
	assert_int_equal(fi_tsend(a->ep, out[0], 3000, NULL, 1, 1, &ctx[5]), 0);
	for (i = 0; i < eng_of(a)->grp->ids.cap; i++)
		if (eng_of(a)->grp->ids.slots[i].obj)
			name = eng_of(a)->grp->ids.slots[i].obj;
	assert_non_null(name);
	world_settle(&w);
	len = wire_put_pair(hdr, wire_put_base(hdr, WIRE_CTS, 0, 0, name->id, 3000), 1 << 20);
	sim_inject_packet(PORT(2), PORT(0), hdr, len, NULL, 0);
	world_settle(&w);
	assert_int_equal(fi_trecv(b->ep, in[0], 3000, NULL, 0, 1, 0, &ctx[6]), 0);
	expect(b, &ctx[6], FI_RECV | FI_TAGGED, 3000);
	expect(a, &ctx[5], FI_SEND | FI_TAGGED, 0);
}

/* ---- closing ---------------------------------------------------------------- */

static void test_close_delivers_what_was_sent(void **arg)
{
	struct comp comp;
	int i;

	for (i = 0; i < 50; i++) {
		pattern_fill(out[0], 128, (uint64_t) i);
		assert_int_equal(fi_tinject(a->ep, out[0], 128, 1, (uint64_t) i), 0);
	}
	node_close(&w, 0);
	for (i = 0; i < 50; i++) {
		assert_int_equal(fi_trecv(b->ep, in[0], 128, NULL, FI_ADDR_UNSPEC, (uint64_t) i, 0,
					  &ctx[0]), 0);
		node_wait(&w, b, &comp);
		assert_int_equal(comp.err, 0);
		assert_true(pattern_ok(in[0], 128, (uint64_t) i));
	}
	node_open(&w, 0);
}

static void test_close_with_everything_outstanding(void **arg)
{
	int i;

	for (i = 0; i < 20; i++) {
		assert_int_equal(fi_tsend(a->ep, out[0], 3000, NULL, 1, 1, NULL), 0);
		assert_int_equal(fi_tsend(b->ep, out[0], 100, NULL, 0, 1, NULL), 0);
		assert_int_equal(fi_trecv(a->ep, in[0], 10, NULL, 1, 2, 0, NULL), 0);
		assert_int_equal(fi_trecv(b->ep, in[0], 3000, NULL, 0, 1, 0, NULL), 0);
		world_poll(&w);
	}
	node_close(&w, 0);
	node_close(&w, 1);
	node_open(&w, 0);
	node_open(&w, 1);
	connected();
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
#define ROUGH(name) cmocka_unit_test_setup_teardown(name, set_up_rough, tear_down)

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
		T(test_directed_receives),
		T(test_source_follows_the_address_vector),
		T(test_unknown_source_is_an_error_if_asked_for),
		T(test_peek_claim_discard_short),
		T(test_peek_claim_discard_announced),
		ROUGH(test_peek_claim_discard_short),
		ROUGH(test_peek_claim_discard_announced),
		T(test_cancel),
		T(test_completion_levels),
		ROUGH(test_completion_levels),
		T(test_delivery_complete_by_default),
		T(test_selective_completion),
		T(test_fence),
		ROUGH(test_fence),
		T(test_full_queues_say_later),
		T(test_unexpected_flood_is_bounded),
		T(test_injects_while_the_peer_is_full),
		T(test_multi_recv_releases_once),
		T(test_multi_recv_minimum_of_nothing),
		ROUGH(test_multi_recv_minimum_of_nothing),
		T(test_multi_recv_of_what_is_here),
		T(test_multi_recv_truncates),
		T(test_multi_recv_cancel),
		T(test_multi_recv_close),
		T(test_death_of_a_peer),
		T(test_claimed_announcement_of_a_dead_peer),
		T(test_idle_peers_are_let_go),
		T(test_bad_packets),
		T(test_stolen_ids),
		T(test_close_delivers_what_was_sent),
		ROUGH(test_close_delivers_what_was_sent),
		T(test_close_with_everything_outstanding),
		ROUGH(test_close_with_everything_outstanding),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) ? 1 : 0;
}

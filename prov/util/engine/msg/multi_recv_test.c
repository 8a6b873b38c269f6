/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Receives of many messages in one buffer. */
#include "engine/sim/case.h"

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

static void test_multi_recv_of_one_piece_only(void **arg)
{
	struct iovec iov[3] = { { in[0], 100 }, { in[1], 100 }, { in[2], 100 } };
	struct fi_msg msg = { .msg_iov = iov, .addr = FI_ADDR_UNSPEC, .context = &ctx[1] };

	for (msg.iov_count = 0; msg.iov_count < 4; msg.iov_count++)
		if (msg.iov_count != 1)
			assert_int_equal(fi_recvmsg(b->ep, &msg, FI_MULTI_RECV), -FI_EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_multi_recv_releases_once),
		T(test_multi_recv_minimum_of_nothing),
		ROUGH(test_multi_recv_minimum_of_nothing),
		T(test_multi_recv_of_what_is_here),
		T(test_multi_recv_truncates),
		T(test_multi_recv_cancel),
		T(test_multi_recv_close),
		T(test_multi_recv_of_one_piece_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) ? 1 : 0;
}

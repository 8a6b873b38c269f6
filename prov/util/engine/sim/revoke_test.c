/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Memory that is the program's again while a peer is in the middle of a packet: regions
 * that close or change, endpoints that close, receives that are cancelled, operations that
 * ended with an error.
 */
#include "engine/sim/case.h"

#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>

#include "base/clock.h"
#include "obj/mr.h"

#define KEY 77
#define LEN 20000
#define BOUND_NS ((2 * OBJ_MR_PATIENCE_MS + 500) * (uint64_t) CLOCK_NS_PER_MS)

static char mem[LEN], twin[LEN];
static struct fid_mr *mr;

static int set_up_region(void **arg)
{
	set_up(arg);
	memset(mem, 1, LEN);
	memset(out[0], 2, LEN);
	assert_int_equal(fi_mr_reg(w.domain, mem, LEN, FI_REMOTE_READ | FI_REMOTE_WRITE, 0, KEY,
				   0, &mr, NULL), 0);
	connected();
	return 0;
}

/* A write of @a that is acknowledged, to all of the region. */
static void start_write(void)
{
	struct iovec iov = { out[0], LEN };
	struct fi_rma_iov rma = { .addr = 0, .len = LEN, .key = KEY };
	struct fi_msg_rma msg = { .msg_iov = &iov, .iov_count = 1, .rma_iov = &rma,
				  .rma_iov_count = 1, .addr = 1, .context = &ctx[1] };

	assert_int_equal(fi_writemsg(a->ep, &msg, FI_COMPLETION | FI_DELIVERY_COMPLETE), 0);
}

static void turns(int cnt)
{
	while (cnt--)
		world_poll(&w);
}

/* close_region - it does so in time, and then the memory is reused. */
static void close_region(void)
{
	uint64_t since = clock_ns();

	assert_int_equal(fi_close(&mr->fid), 0);
	assert_true(clock_ns() - since < BOUND_NS);
	memset(mem, 9, LEN);
}

static void nothing_was_written(void)
{
	turns(100);
	memset(twin, 9, LEN);
	assert_memory_equal(mem, twin, LEN);
}

static void a_write_that_stops_half_way(void **arg)
{
	struct comp comp;

	start_write();
	sim_stall(true);
	turns(20);
	assert_int_equal(mem[0], 2);
	close_region();
	sim_stall(false);
	node_wait(&w, a, &comp);
	assert_ptr_equal(comp.e.op_context, &ctx[1]);
	assert_true(comp.err == FI_ECONNRESET || comp.err == FI_ECONNABORTED ||
		    comp.err == FI_ENOKEY);
	nothing_was_written();
	/* the peer may come again */
	assert_int_equal(fi_recv(b->ep, in[0], 8, NULL, FI_ADDR_UNSPEC, &ctx[2]), 0);
	while (fi_inject(a->ep, "again", 5, 1))
		world_poll(&w);
	expect(b, &ctx[2], FI_RECV | FI_MSG, 5);
}

static void a_write_that_goes_on(void **arg)
{
	struct comp comp;

	start_write();
	turns(2);
	close_region();
	node_wait(&w, a, &comp);
	assert_true(!comp.err || comp.err == FI_ENOKEY);
	nothing_was_written();
	connected();
}

static void a_read_that_is_not_taken(void **arg)
{
	struct comp comp;
	int i;

	assert_int_equal(fi_read(a->ep, in[1], LEN, NULL, 1, 0, KEY, &ctx[1]), 0);
	sim_stall(true);
	turns(20);
	close_region();
	sim_stall(false);
	node_wait(&w, a, &comp);
	assert_ptr_equal(comp.e.op_context, &ctx[1]);
	assert_int_not_equal(comp.err, 0);
	for (i = 0; i < LEN; i++)
		assert_int_not_equal(in[1][i], 9);
}

static void a_read_that_goes_on(void **arg)
{
	struct comp comp;
	int i;

	assert_int_equal(fi_read(a->ep, in[1], LEN, NULL, 1, 0, KEY, &ctx[1]), 0);
	turns(3);
	close_region();
	node_wait(&w, a, &comp);
	assert_ptr_equal(comp.e.op_context, &ctx[1]);
	assert_true(!comp.err || comp.err == FI_ENOKEY);
	for (i = 0; i < LEN; i++)
		assert_true(in[1][i] == 1 || (comp.err && !in[1][i]));
	connected();
}

/* More ranges than a placement has room for: the bytes wait elsewhere. */
static void a_write_of_many_ranges(void **arg)
{
	struct iovec pieces[2] = { { mem, 5 }, { mem + 100, 5 } }, iov = { out[0], 60 };
	struct fi_rma_iov rma[6];
	struct fi_msg_rma msg = { .msg_iov = &iov, .iov_count = 1, .rma_iov = rma,
				  .rma_iov_count = 6, .addr = 1, .context = &ctx[1] };
	struct fid_mr *two;
	int i;

	assert_int_equal(fi_mr_regv(w.domain, pieces, 2, FI_REMOTE_WRITE, 0, KEY + 1, 0, &two,
				    NULL), 0);
	for (i = 0; i < 6; i++)
		rma[i] = (struct fi_rma_iov) { .addr = 0, .len = 10, .key = KEY + 1 };
	assert_int_equal(fi_writemsg(a->ep, &msg, FI_COMPLETION | FI_DELIVERY_COMPLETE), 0);
	sim_stall(true);
	turns(20);
	assert_int_equal(fi_close(&two->fid), 0);
	close_region();
	sim_stall(false);
	expect_err(a, &ctx[1], FI_ENOKEY);
	nothing_was_written();
}

static void an_atomic_that_stops_half_way(void **arg)
{
	uint64_t got = 5;

	assert_int_equal(fi_fetch_atomic(a->ep, out[0], 1, NULL, &got, NULL, 1, 0, KEY,
					 FI_UINT64, FI_SUM, &ctx[1]), 0);
	sim_stall(true);
	turns(20);
	close_region();
	sim_stall(false);
	expect_err(a, &ctx[1], FI_ENOKEY);
	assert_true(got == 5);
	nothing_was_written();
}

static void a_region_that_is_refreshed(void **arg)
{
	struct iovec iov = { mem, LEN };
	uint64_t since = clock_ns();
	struct comp comp;

	assert_int_equal(fi_mr_refresh(mr, &iov, 1, 0), 0);
	assert_true(clock_ns() - since < CLOCK_NS_PER_S);
	start_write();
	sim_stall(true);
	turns(20);
	since = clock_ns();
	assert_int_equal(fi_mr_refresh(mr, &iov, 1, 0), 0);
	assert_true(clock_ns() - since < BOUND_NS);
	memset(mem, 9, LEN);
	sim_stall(false);
	node_wait(&w, a, &comp);
	assert_ptr_equal(comp.e.op_context, &ctx[1]);
	assert_int_not_equal(comp.err, 0);
	nothing_was_written();
	/* it is there for what comes later */
	while (fi_write(a->ep, out[0], 8, NULL, 1, 0, KEY, &ctx[2]))
		world_poll(&w);
	expect(a, &ctx[2], FI_RMA | FI_WRITE, 0);
	turns(20);
	assert_int_equal(mem[0], 2);
	close_region();
}

/* Accesses are counted by phases, between which a refresh alternates. */
static void a_region_that_closes_after_a_refresh(void **arg)
{
	struct iovec iov = { mem, LEN };
	struct comp comp;

	assert_int_equal(fi_mr_refresh(mr, &iov, 1, 0), 0);
	start_write();
	sim_stall(true);
	turns(20);
	assert_int_equal(mem[0], 2);
	close_region();
	sim_stall(false);
	node_wait(&w, a, &comp);
	assert_ptr_equal(comp.e.op_context, &ctx[1]);
	assert_int_not_equal(comp.err, 0);
	nothing_was_written();
}

static void an_endpoint_that_closes(void **arg)
{
	start_write();
	sim_stall(true);
	turns(20);
	assert_int_equal(mem[0], 2);
	node_close(&w, 1);
	memset(mem, 9, LEN);
	sim_stall(false);
	nothing_was_written();
	close_region();
}

/* arriving - the beginning of a long message is in in[1], and no more comes. */
static void arriving(int announced)
{
	const size_t len = announced ? LEN : 400;

	assert_int_equal(fi_recv(b->ep, in[1], LEN, NULL, FI_ADDR_UNSPEC, &ctx[1]), 0);
	assert_int_equal(fi_send(a->ep, out[0], len, NULL, 1, &ctx[2]), 0);
	while (announced && in[1][0] != 2) {	/* then a poll's worth is there */
		fi_cq_read(a->cq, NULL, 0);
		fi_cq_read(b->cq, NULL, 0);
	}
	sim_stall(true);
	turns(20);
	assert_int_equal(in[1][0], 2);
	assert_int_equal(in[1][len - 1], 0);
}

static void cancelled(int announced)
{
	uint64_t since;
	struct comp comp;
	size_t i;

	arriving(announced);
	assert_int_equal(fi_cancel(&b->ep->fid, &ctx[1]), -FI_ENOENT);
	since = clock_ns();
	while (!node_read(b, &comp)) {
		world_poll(&w);
		assert_true(clock_ns() - since < 2 * ENG_CANCEL_MS * (uint64_t) CLOCK_NS_PER_MS);
	}
	assert_ptr_equal(comp.e.op_context, &ctx[1]);
	assert_int_equal(comp.err != 0, 1);
	memset(in[1], 9, LEN);
	sim_stall(false);
	turns(100);
	for (i = 0; i < LEN; i++)
		assert_int_equal(in[1][i], 9);
	close_region();
}

static void an_eager_message_into_a_cancelled_receive(void **arg)
{
	cancelled(0);
}

static void a_long_message_into_a_cancelled_receive(void **arg)
{
	cancelled(1);
}

/* One that moves is left in peace, however long it takes. */
static void a_slow_message_into_a_cancelled_receive(void **arg)
{
	struct comp comp;

	arriving(1);
	assert_int_equal(fi_cancel(&b->ep->fid, &ctx[1]), -FI_ENOENT);
	assert_int_equal(fi_cancel(&b->ep->fid, &ctx[1]), -FI_ENOENT);
	sim_stall(false);
	node_wait(&w, b, &comp);
	assert_int_equal(comp.err, 0);
	assert_ptr_equal(comp.e.op_context, &ctx[1]);
	assert_int_equal(in[1][LEN - 1], 2);
	close_region();
}

/* ---- operations that ended with an error ------------------------------------------------- */

static void all_are(const char *buf, size_t len, char value)
{
	size_t i;

	for (i = 0; i < len; i++)
		assert_int_equal(buf[i], value);
}

/* failed - the next completion of @n is the failure of @context. */
static void failed(struct node *n, void *context)
{
	struct comp comp;

	node_wait(&w, n, &comp);
	assert_ptr_equal(comp.e.op_context, context);
	assert_int_not_equal(comp.err, 0);
}

/* Both buffers are the program's again: the receive's is not written, the send's is not read. */
static void a_message_whose_connection_breaks(void **arg)
{
	struct comp comp;

	arriving(1);
	assert_true(sim_break(PORT(0), PORT(1)));
	failed(b, &ctx[1]);
	node_wait(&w, a, &comp);
	assert_ptr_equal(comp.e.op_context, &ctx[2]);
	memset(in[1], 9, LEN);
	memset(out[0], 5, LEN);
	sim_stall(false);
	turns(100);
	all_are(in[1], LEN, 9);
	assert_int_equal(fi_recv(b->ep, in[2], LEN, NULL, FI_ADDR_UNSPEC, &ctx[3]), 0);
	turns(100);
	assert_false(node_read(b, &comp));
	all_are(in[2], LEN, 0);
	close_region();
}

static void a_read_whose_connection_breaks(void **arg)
{
	assert_int_equal(fi_read(a->ep, in[1], LEN, NULL, 1, 0, KEY, &ctx[1]), 0);
	turns(2);
	sim_stall(true);
	turns(20);
	assert_true(sim_break(PORT(0), PORT(1)));
	failed(a, &ctx[1]);
	memset(in[1], 9, LEN);
	sim_stall(false);
	turns(100);
	all_are(in[1], LEN, 9);
	close_region();
}

static void a_write_whose_connection_breaks(void **arg)
{
	size_t i;

	start_write();
	sim_stall(true);
	turns(20);
	assert_int_equal(mem[0], 2);
	assert_true(sim_break(PORT(0), PORT(1)));
	failed(a, &ctx[1]);
	memset(out[0], 5, LEN);
	sim_stall(false);
	turns(100);
	for (i = 0; i < LEN; i++)
		assert_int_not_equal(mem[i], 5);
	close_region();
}

/* One that is too long for its receive: what still arrives of it goes nowhere. */
static void too_long(size_t len)
{
	assert_int_equal(fi_recv(b->ep, in[1], 100, NULL, FI_ADDR_UNSPEC, &ctx[1]), 0);
	assert_int_equal(fi_send(a->ep, out[0], len, NULL, 1, &ctx[2]), 0);
	failed(b, &ctx[1]);
	memset(in[1], 9, LEN);
	turns(100);
	all_are(in[1], LEN, 9);
	close_region();
}

static void an_eager_message_that_is_too_long(void **arg)
{
	too_long(400);
}

static void a_long_message_that_is_too_long(void **arg)
{
	too_long(LEN);
}

int main(void)
{
#define R(name) cmocka_unit_test_setup_teardown(name, set_up_region, tear_down)
	const struct CMUnitTest tests[] = {
		R(a_write_that_stops_half_way),
		R(a_write_that_goes_on),
		R(a_read_that_is_not_taken),
		R(a_read_that_goes_on),
		R(a_write_of_many_ranges),
		R(an_atomic_that_stops_half_way),
		R(a_region_that_is_refreshed),
		R(a_region_that_closes_after_a_refresh),
		R(an_endpoint_that_closes),
		R(an_eager_message_into_a_cancelled_receive),
		R(a_long_message_into_a_cancelled_receive),
		R(a_slow_message_into_a_cancelled_receive),
		R(a_message_whose_connection_breaks),
		R(a_read_whose_connection_breaks),
		R(a_write_whose_connection_breaks),
		R(an_eager_message_that_is_too_long),
		R(a_long_message_that_is_too_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * What fi_trigger(3) promises: calls with FI_TRIGGER, and the deferred work queue.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "base/test/verify.h"
#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_trigger.h>

#include "engine/sim/world.h"

static struct world w;
static struct fid_cntr *start, *done;
static struct fid_mr *mr;
static uint64_t mem[512];
static char out[8][20000], in[8][20000];
static int ctx[64];

static struct node *const a = &w.node[0], *const b = &w.node[1];

static struct fid_cntr *cntr_open(void)
{
	struct fi_cntr_attr attr = { .events = FI_CNTR_EVENTS_COMP, .wait_obj = FI_WAIT_NONE };
	struct fid_cntr *cntr;

	assert_int_equal(fi_cntr_open(w.domain, &attr, &cntr, NULL), 0);
	return cntr;
}

static void open_with(uint64_t seed, const struct sim_conf *conf)
{
	memset(&w, 0, sizeof(w));
	memset(in, 0, sizeof(in));
	memset(mem, 0, sizeof(mem));
	world_open(&w, 2, seed, conf);
	start = cntr_open();
	done = cntr_open();
	assert_int_equal(fi_mr_reg(w.domain, mem, sizeof(mem), FI_REMOTE_READ | FI_REMOTE_WRITE, 0,
				   5, 0, &mr, NULL), 0);
}

static int set_up(void **arg)
{
	open_with(1, &sim_ideal);
	return 0;
}

static int tear_down(void **arg)
{
	int i;

	for (i = 0; i < 2; i++)
		if (w.node[i].cq)
			node_close(&w, i);
	assert_int_equal(fi_close(&start->fid), 0);
	assert_int_equal(fi_close(&done->fid), 0);
	assert_int_equal(fi_close(&mr->fid), 0);
	world_close(&w);
	return 0;
}

static void expect(struct node *n, void *context, uint64_t flags)
{
	struct comp comp;

	node_wait(&w, n, &comp);
	assert_int_equal(comp.err, 0);
	assert_ptr_equal(comp.e.op_context, context);
	assert_true(comp.e.flags == flags);
}

static void reach(struct fid_cntr *cntr, uint64_t value)
{
	int i;

	for (i = 0; i < 100000 && fi_cntr_read(cntr) < value; i++)
		world_poll(&w);
	assert_int_equal(fi_cntr_read(cntr), value);
}

/* ---- calls with FI_TRIGGER ------------------------------------------------------ */

static struct fi_triggered_context *when(struct fi_triggered_context2 *tc, uint64_t threshold)
{
	memset(tc, 0, sizeof(*tc));
	tc->event_type = FI_TRIGGER_THRESHOLD;
	tc->trigger.threshold.cntr = start;
	tc->trigger.threshold.threshold = threshold;
	return (struct fi_triggered_context *) tc;
}

/* Every kind of call waits, starts by its threshold, and completes like any other;
 * its lists are the program's again at once.
 */
static void test_each_call(void **arg)
{
	struct fi_triggered_context2 tc[8];
	uint64_t val = 7, old = 0, cmp = 7, swap = 9;
	struct iovec iov = { out[0], 100 };
	struct fi_ioc ioc = { &val, 1 }, res = { &old, 1 }, cmpc = { &cmp, 1 };
	struct fi_rma_iov rma = { .addr = 64, .len = 100, .key = 5 };
	struct fi_rma_ioc rma_ioc = { .addr = 0, .count = 1, .key = 5 };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1, .addr = 1 };
	struct fi_msg_tagged tmsg = { .msg_iov = &iov, .iov_count = 1, .addr = 1, .tag = 3 };
	struct fi_msg_rma rmsg = { .msg_iov = &iov, .iov_count = 1, .addr = 1, .rma_iov = &rma,
				   .rma_iov_count = 1 };
	struct fi_msg_atomic amsg = { .msg_iov = &ioc, .iov_count = 1, .addr = 1,
				      .rma_iov = &rma_ioc, .rma_iov_count = 1,
				      .datatype = FI_UINT64, .op = FI_SUM };
	uint64_t flags = FI_TRIGGER | FI_COMPLETION;

	pattern_fill(out[0], 100, 1);
	msg.context = when(&tc[0], 1);
	assert_int_equal(fi_sendmsg(a->ep, &msg, flags), 0);
	tmsg.context = when(&tc[1], 2);
	assert_int_equal(fi_tsendmsg(a->ep, &tmsg, flags), 0);
	rmsg.context = when(&tc[2], 3);
	assert_int_equal(fi_writemsg(a->ep, &rmsg, flags), 0);
	iov.iov_base = in[2];
	rmsg.context = when(&tc[3], 4);
	assert_int_equal(fi_readmsg(a->ep, &rmsg, flags), 0);
	amsg.context = when(&tc[4], 5);
	assert_int_equal(fi_atomicmsg(a->ep, &amsg, flags), 0);
	amsg.context = when(&tc[5], 6);
	amsg.op = FI_ATOMIC_READ;
	assert_int_equal(fi_fetch_atomicmsg(a->ep, &amsg, &res, NULL, 1, flags), 0);
	amsg.context = when(&tc[6], 7);
	amsg.op = FI_CSWAP;
	ioc.addr = &swap;
	assert_int_equal(fi_compare_atomicmsg(a->ep, &amsg, &cmpc, NULL, 1, &res, NULL, 1, flags), 0);
	iov.iov_base = in[0];
	msg.addr = FI_ADDR_UNSPEC;
	msg.context = when(&tc[7], 8);
	assert_int_equal(fi_recvmsg(b->ep, &msg, flags), 0);
	memset(&iov, 0xee, sizeof(iov));
	memset(&ioc, 0xee, sizeof(ioc));
	memset(&rma, 0xee, sizeof(rma));
	memset(&rma_ioc, 0xee, sizeof(rma_ioc));
	node_none(&w, a);
	node_none(&w, b);

	fi_cntr_add(start, 1);
	expect(a, &tc[0], FI_SEND | FI_MSG);
	fi_cntr_add(start, 1);
	expect(a, &tc[1], FI_SEND | FI_TAGGED);
	assert_int_equal(fi_trecv(b->ep, in[1], 100, NULL, FI_ADDR_UNSPEC, 3, 0, &ctx[1]), 0);
	expect(b, &ctx[1], FI_RECV | FI_TAGGED);
	assert_true(pattern_ok(in[1], 100, 1));
	fi_cntr_add(start, 1);
	expect(a, &tc[2], FI_WRITE | FI_RMA);
	fi_cntr_add(start, 1);
	expect(a, &tc[3], FI_READ | FI_RMA);
	assert_true(pattern_ok(in[2], 100, 1));
	assert_true(pattern_ok((char *) mem + 64, 100, 1));
	fi_cntr_add(start, 1);
	expect(a, &tc[4], FI_WRITE | FI_ATOMIC);
	fi_cntr_add(start, 1);
	expect(a, &tc[5], FI_READ | FI_ATOMIC);
	assert_int_equal(old, 7);
	fi_cntr_add(start, 1);
	expect(a, &tc[6], FI_READ | FI_ATOMIC);
	assert_int_equal(mem[0], 9);
	fi_cntr_add(start, 1);
	expect(b, &tc[7], FI_RECV | FI_MSG);
	assert_true(pattern_ok(in[0], 100, 1));
}

/* An alias with FI_TRIGGER: each call without flags waits like its form with flags. */
static void test_each_call_of_alias(void **arg)
{
	struct fi_triggered_context2 tc[16];
	uint64_t val = 5, old = 1, cmp = 5, swap = 9, flags;
	struct iovec iov = { out[0], 100 };
	struct fi_ioc ioc = { &val, 1 }, res = { &old, 1 }, cmpc = { &cmp, 1 };
	struct fid_ep *tx = NULL, *rx = NULL;
	int i = 0, began;

	assert_int_equal(fi_ep_alias(a->ep, &tx, FI_TRANSMIT | FI_TRIGGER | FI_COMPLETION), 0);
	assert_int_equal(fi_ep_alias(b->ep, &rx, FI_RECV | FI_TRIGGER), 0);
	pattern_fill(out[0], 100, 1);
#define TX(call) assert_int_equal((call), 0)
	TX(fi_send(tx, out[0], 100, NULL, 1, when(&tc[i++], 1)));
	TX(fi_sendv(tx, &iov, NULL, 1, 1, when(&tc[i++], 1)));
	TX(fi_senddata(tx, out[0], 100, NULL, 1, 1, when(&tc[i++], 1)));
	TX(fi_tsend(tx, out[0], 100, NULL, 1, 3, when(&tc[i++], 1)));
	TX(fi_tsendv(tx, &iov, NULL, 1, 1, 3, when(&tc[i++], 1)));
	TX(fi_tsenddata(tx, out[0], 100, NULL, 1, 1, 3, when(&tc[i++], 1)));
	TX(fi_write(tx, out[0], 100, NULL, 1, 64, 5, when(&tc[i++], 1)));
	TX(fi_writev(tx, &iov, NULL, 1, 1, 64, 5, when(&tc[i++], 1)));
	TX(fi_read(tx, in[4], 100, NULL, 1, 64, 5, when(&tc[i++], 1)));
	TX(fi_atomic(tx, &val, 1, NULL, 1, 0, 5, FI_UINT64, FI_SUM, when(&tc[i++], 1)));
	TX(fi_atomicv(tx, &ioc, NULL, 1, 1, 0, 5, FI_UINT64, FI_SUM, when(&tc[i++], 2)));
	TX(fi_fetch_atomic(tx, NULL, 1, NULL, &old, NULL, 1, 0, 5, FI_UINT64, FI_ATOMIC_READ,
			   when(&tc[i++], 3)));
	TX(fi_compare_atomicv(tx, &(struct fi_ioc) { &swap, 1 }, NULL, 1, &cmpc, NULL, 1, &res, NULL, 1,
			      1, 8, 5, FI_UINT64, FI_CSWAP_NE, when(&tc[i++], 3)));
	TX(fi_trecv(rx, in[5], 100, NULL, FI_ADDR_UNSPEC, 3, 0, when(&tc[i++], 1)));
	node_none(&w, a);
	node_none(&w, b);
	began = i - 1;
	/* by value: the calls of the inject kind have no context to wait with */
	assert_int_equal(fi_inject(tx, out[0], 1, 1), 0);
	for (i = 0; i < 4; i++)
		assert_int_equal(fi_recv(b->ep, in[i], 100, NULL, FI_ADDR_UNSPEC, &ctx[i]), 0);
	expect(b, &ctx[0], FI_RECV | FI_MSG);
	for (i = 0; i < 2; i++)
		assert_int_equal(fi_trecv(b->ep, in[6 + i], 100, NULL, FI_ADDR_UNSPEC, 3, 0, &ctx[4 + i]), 0);
	fi_cntr_add(start, 3);
	world_settle(&w);
	assert_true(pattern_ok(in[1], 100, 1) && pattern_ok(in[3], 100, 1));
	assert_true(pattern_ok(in[4], 100, 1) && pattern_ok(in[5], 100, 1));
	assert_int_equal(mem[0], 10);
	assert_int_equal(mem[1], 9);
	for (i = 0; i < began; i++) {
		struct comp comp;

		node_wait(&w, a, &comp);
		assert_int_equal(comp.err, 0);
	}
	node_none(&w, a);
	for (i = 0; i < 6; i++) {
		struct comp comp;

		node_wait(&w, b, &comp);
		assert_int_equal(comp.err, 0);
	}
	/* the endpoint itself, and the alias once it has no such flag, start at once */
	assert_int_equal(fi_send(a->ep, out[0], 1, NULL, 1, &ctx[8]), 0);
	expect(a, &ctx[8], FI_SEND | FI_MSG);
	flags = FI_TRANSMIT;
	assert_int_equal(fi_control(&tx->fid, FI_SETOPSFLAG, &flags), 0);
	assert_ptr_equal(tx->msg, a->ep->msg);
	assert_int_equal(fi_send(tx, out[0], 1, NULL, 1, &ctx[9]), 0);
	expect(a, &ctx[9], FI_SEND | FI_MSG);
	assert_int_equal(fi_close(&tx->fid), 0);
	assert_int_equal(fi_close(&rx->fid), 0);
}

/* By value, and those of one value in the order of their calls. */
static void test_order(void **arg)
{
	static const uint64_t at[] = { 5, 2, 5, 1, 2, 9 }, order[] = { 3, 1, 4, 0, 2 };
	struct fi_triggered_context2 tc[6];
	struct iovec iov = { out[0], 8 };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1, .addr = 1 };
	struct comp comp;
	int i;

	for (i = 0; i < 6; i++) {
		msg.context = when(&tc[i], at[i]);
		msg.data = (uint64_t) i;
		assert_int_equal(fi_sendmsg(a->ep, &msg, FI_TRIGGER | FI_REMOTE_CQ_DATA), 0);
		assert_int_equal(fi_recv(b->ep, in[i], 8, NULL, FI_ADDR_UNSPEC, &ctx[i]), 0);
	}
	fi_cntr_set(start, 6);
	for (i = 0; i < 5; i++) {
		node_wait(&w, b, &comp);
		assert_int_equal(comp.e.data, order[i]);
		expect(a, &tc[order[i]], FI_SEND | FI_MSG);
	}
	/* one whose time has come already starts at once */
	msg.context = when(&tc[0], 6);
	assert_int_equal(fi_sendmsg(a->ep, &msg, FI_TRIGGER), 0);
	expect(a, &tc[0], FI_SEND | FI_MSG);
	node_none(&w, a);
}

/* A receive that is complete starts what depends on it, without a call of the program's. */
static void test_chain(void **arg)
{
	struct fi_triggered_context2 tc[2];
	struct iovec iov = { in[0], 10 };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1, .addr = 0 };

	when(&tc[0], 1);
	tc[0].trigger.threshold.cntr = b->rx_cntr;
	msg.context = &tc[0];
	assert_int_equal(fi_sendmsg(b->ep, &msg, FI_TRIGGER), 0);
	assert_int_equal(fi_recv(b->ep, in[0], 10, NULL, FI_ADDR_UNSPEC, &ctx[0]), 0);
	assert_int_equal(fi_recv(a->ep, in[1], 10, NULL, FI_ADDR_UNSPEC, &ctx[1]), 0);
	pattern_fill(out[0], 10, 3);
	assert_int_equal(fi_inject(a->ep, out[0], 10, 1), 0);
	expect(a, &ctx[1], FI_RECV | FI_MSG);
	assert_true(pattern_ok(in[1], 10, 3));
}

static void test_refusals(void **arg)
{
	struct fi_triggered_context2 tc;
	struct iovec iov[9] = { { out[0], 8 } };
	struct fi_msg msg = { .msg_iov = iov, .iov_count = 1, .addr = 1 };
	struct comp comp;

	assert_int_equal(fi_sendmsg(a->ep, &msg, FI_TRIGGER), -FI_EINVAL);
	msg.context = when(&tc, 1);
	tc.trigger.threshold.cntr = NULL;
	assert_int_equal(fi_sendmsg(a->ep, &msg, FI_TRIGGER), -FI_EINVAL);
	when(&tc, 1);
	tc.event_type = FI_TRIGGER_XPU;
	assert_int_equal(fi_sendmsg(a->ep, &msg, FI_TRIGGER), -FI_ENOSYS);
	when(&tc, 1);
	msg.iov_count = 9;
	assert_int_equal(fi_sendmsg(a->ep, &msg, FI_TRIGGER), -FI_EINVAL);
	msg.iov_count = 1;
	/* what only shows when it starts is reported then */
	msg.addr = 77;
	assert_int_equal(fi_sendmsg(a->ep, &msg, FI_TRIGGER), 0);
	fi_cntr_add(start, 1);
	node_wait(&w, a, &comp);
	assert_int_equal(comp.err, FI_EINVAL);
	assert_ptr_equal(comp.e.op_context, &tc);
	assert_int_equal(fi_cntr_readerr(a->tx_cntr), 1);
	/* a counter that something waits for is in use */
	msg.addr = 1;
	when(&tc, 9);
	assert_int_equal(fi_sendmsg(a->ep, &msg, FI_TRIGGER), 0);
	assert_int_equal(fi_close(&start->fid), -FI_EBUSY);
	/* without the capability the flag is not known */
	node_close(&w, 0);
	a->caps = FI_MSG;
	node_open(&w, 0);
	assert_int_equal(fi_sendmsg(a->ep, &msg, FI_TRIGGER), -FI_EBADFLAGS);
}

static void test_cancel_and_close(void **arg)
{
	struct fi_triggered_context2 tc[3];
	struct iovec iov = { out[0], 8 };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1, .addr = 1 };
	struct comp comp;
	int i;

	for (i = 0; i < 3; i++) {
		msg.context = when(&tc[i], (uint64_t) i + 1);
		assert_int_equal(i == 1 ? fi_recvmsg(a->ep, &msg, FI_TRIGGER) :
				 fi_sendmsg(a->ep, &msg, FI_TRIGGER), 0);
	}
	assert_int_equal(fi_cancel(&b->ep->fid, &tc[0]), -FI_ENOENT);
	assert_int_equal(fi_cancel(&a->ep->fid, &tc[1]), 0);
	node_wait(&w, a, &comp);
	assert_int_equal(comp.err, FI_ECANCELED);
	assert_ptr_equal(comp.e.op_context, &tc[1]);
	/* between its counter and its start it can be taken back, too */
	fi_cntr_add(start, 1);
	assert_int_equal(fi_cancel(&a->ep->fid, &tc[0]), 0);
	node_wait(&w, a, &comp);
	assert_int_equal(comp.err, FI_ECANCELED);
	assert_int_equal(fi_cancel(&a->ep->fid, &tc[0]), -FI_ENOENT);
	node_none(&w, b);
	fi_cntr_add(start, 2);
	node_close(&w, 0);
	fi_cntr_add(start, 5);
	node_none(&w, b);
}

/* ---- work ----------------------------------------------------------------------- */

static int queue(struct fi_deferred_work *work, enum fi_op_type type, void *op, uint64_t threshold)
{
	memset(work, 0, sizeof(*work));
	work->threshold = threshold;
	work->triggering_cntr = start;
	work->completion_cntr = type == FI_OP_CNTR_ADD || type == FI_OP_CNTR_SET ? NULL : done;
	work->op_type = type;
	work->op.msg = op;
	return fi_control(&w.domain->fid, FI_QUEUE_WORK, work);
}

/* Each type starts by its threshold and ends with the counter alone. */
static void test_each_work(void **arg)
{
	uint64_t val = 7, old = 0, cmp = 7, swap = 9;
	struct iovec iov = { out[0], 3000 }, riov = { in[0], 3000 }, tiov = { in[1], 3000 };
	struct iovec read_iov = { in[2], 3000 };
	struct fi_ioc ioc = { &val, 1 }, sioc = { &swap, 1 }, cioc = { &cmp, 1 }, res = { &old, 1 };
	struct fi_rma_iov rma = { .addr = 64, .len = 3000, .key = 5 };
	struct fi_rma_ioc rma_ioc = { .count = 1, .key = 5 };
	struct fi_op_msg send = { a->ep, { &iov, NULL, 1, 1, &ctx[0], 0 }, 0 };
	struct fi_op_msg recv = { b->ep, { &riov, NULL, 1, 0, &ctx[1], 0 }, 0 };
	struct fi_op_tagged tsend = { a->ep, { &iov, NULL, 1, 1, 4, 0, &ctx[2], 0 }, 0 };
	struct fi_op_tagged trecv = { b->ep, { &tiov, NULL, 1, 0, 4, 0, &ctx[3], 0 }, 0 };
	struct fi_op_rma write = { a->ep, { &iov, NULL, 1, 1, &rma, 1, &ctx[4], 0 }, 0 };
	struct fi_op_rma read = { a->ep, { &read_iov, NULL, 1, 1, &rma, 1, &ctx[5], 0 }, 0 };
	struct fi_msg_atomic amsg = { &ioc, NULL, 1, 1, &rma_ioc, 1, FI_UINT64, FI_SUM, &ctx[6], 0 };
	struct fi_op_atomic atomic = { a->ep, amsg, 0 };
	struct fi_op_fetch_atomic fetch = { a->ep, amsg, { &res, NULL, 1 }, 0 };
	struct fi_op_compare_atomic compare = { a->ep, amsg, { &res, NULL, 1 }, { &cioc, NULL, 1 },
						0 };
	struct fi_deferred_work work[9];

	compare.msg.op = FI_CSWAP;
	compare.msg.msg_iov = &sioc;
	fetch.msg.op = FI_ATOMIC_READ;
	pattern_fill(out[0], 3000, 1);
	assert_int_equal(queue(&work[0], FI_OP_RECV, &recv, 1), 0);
	assert_int_equal(queue(&work[1], FI_OP_SEND, &send, 2), 0);
	assert_int_equal(queue(&work[2], FI_OP_TSEND, &tsend, 3), 0);
	assert_int_equal(queue(&work[3], FI_OP_TRECV, &trecv, 4), 0);
	assert_int_equal(queue(&work[4], FI_OP_WRITE, &write, 5), 0);
	assert_int_equal(queue(&work[5], FI_OP_READ, &read, 6), 0);
	assert_int_equal(queue(&work[6], FI_OP_ATOMIC, &atomic, 7), 0);
	assert_int_equal(queue(&work[7], FI_OP_FETCH_ATOMIC, &fetch, 8), 0);
	assert_int_equal(queue(&work[8], FI_OP_COMPARE_ATOMIC, &compare, 9), 0);
	node_none(&w, a);
	fi_cntr_add(start, 2);
	reach(done, 2);
	assert_true(pattern_ok(in[0], 3000, 1));
	fi_cntr_add(start, 2);
	reach(done, 4);
	assert_true(pattern_ok(in[1], 3000, 1));
	fi_cntr_add(start, 1);
	reach(done, 5);
	fi_cntr_add(start, 1);
	reach(done, 6);
	assert_true(pattern_ok(in[2], 3000, 1));
	fi_cntr_add(start, 1);
	reach(done, 7);
	fi_cntr_add(start, 1);
	reach(done, 8);
	assert_int_equal(old, 7);
	fi_cntr_add(start, 1);
	reach(done, 9);
	assert_int_equal(mem[0], 9);
	node_none(&w, a);
	node_none(&w, b);
	assert_int_equal(fi_cntr_read(a->tx_cntr), 0);
	assert_int_equal(fi_cntr_read(b->rx_cntr), 0);
	assert_int_equal(fi_cntr_readerr(done), 0);
}

/* Short messages take the short way in; work must not. */
static void test_work_of_bytes(void **arg)
{
	struct iovec iov = { out[0], 8 }, riov = { in[0], 8 };
	struct fi_op_msg send = { a->ep, { &iov, NULL, 1, 1, &ctx[0], 0 }, FI_INJECT };
	struct fi_op_msg recv = { b->ep, { &riov, NULL, 1, 0, &ctx[1], 0 }, FI_COMPLETION };
	struct fi_deferred_work work[2];

	assert_int_equal(queue(&work[0], FI_OP_RECV, &recv, 1), 0);
	assert_int_equal(queue(&work[1], FI_OP_SEND, &send, 1), 0);
	fi_cntr_add(start, 1);
	reach(done, 2);
	expect(b, &ctx[1], FI_RECV | FI_MSG);		/* it asked for that */
	assert_int_equal(fi_cntr_read(b->rx_cntr), 1);
	node_none(&w, a);
}

static void test_work_that_fails(void **arg)
{
	struct iovec iov = { out[0], 3000 };
	struct fi_rma_iov rma = { .addr = 64, .len = 3000, .key = 99 };
	struct fi_op_rma write = { a->ep, { &iov, NULL, 1, 1, &rma, 1, &ctx[4], 0 },
				   FI_DELIVERY_COMPLETE };
	struct fi_op_msg send = { a->ep, { &iov, NULL, 1, 55, &ctx[0], 0 }, 0 };
	struct fi_op_msg recv = { b->ep, { &iov, NULL, 1, 0, &ctx[1], 0 }, 0 };
	struct fi_deferred_work work[4];
	struct comp comp;

	assert_int_equal(queue(&work[0], FI_OP_WRITE, &write, 1), 0);
	fi_cntr_add(start, 1);
	node_wait(&w, a, &comp);
	assert_int_equal(comp.err, FI_ENOKEY);
	assert_ptr_equal(comp.e.op_context, &ctx[4]);
	assert_int_equal(fi_cntr_readerr(done), 1);
	assert_int_equal(queue(&work[1], FI_OP_SEND, &send, 1), 0);
	node_wait(&w, a, &comp);
	assert_int_equal(comp.err, FI_EINVAL);
	assert_int_equal(fi_cntr_readerr(done), 2);
	assert_int_equal(fi_cntr_readerr(a->tx_cntr), 0);
	/* a failure counts towards a threshold */
	work[2].op_type = FI_OP_RECV;
	assert_int_equal(queue(&work[2], FI_OP_RECV, &recv, 2), 0);
	fi_cntr_adderr(start, 1);
	world_poll(&w);
	assert_int_equal(fi_cancel(&b->ep->fid, &ctx[1]), 0);
	node_wait(&w, b, &comp);
	assert_int_equal(comp.err, FI_ECANCELED);
	assert_int_equal(fi_cntr_readerr(done), 3);
	assert_int_equal(fi_cntr_read(done), 0);
}

/* A start that makes progress first, which may find the next piece of work. */
static void test_start_within_start(void **arg)
{
	struct iovec iov = { out[0], 100 };
	struct fi_op_tagged send = { a->ep, { &iov, NULL, 1, 1, 4, 0, NULL, 0 }, 0 };
	struct fi_deferred_work work[3];
	struct eng_ep *ep = eng_ep_of(a->ep);
	int i;

	for (i = 0; i < 3; i++) {
		assert_int_equal(fi_trecv(b->ep, in[i], 100, NULL, FI_ADDR_UNSPEC, 4, 0, &ctx[i]), 0);
		assert_int_equal(queue(&work[i], FI_OP_TSEND, &send, 1), 0);
	}
	ep->ahead = 0;
	ep->unpolled = 1;
	fi_cntr_add(start, 1);
	for (i = 0; i < 3; i++)
		expect(b, &ctx[i], FI_RECV | FI_TAGGED);
	reach(done, 3);
}

/* Long chains of counters, each of which starts the next. */
static void test_counters(void **arg)
{
	enum { CNT = 300 };
	static struct fi_deferred_work work[CNT];
	static struct fi_op_cntr op[CNT];
	struct fid_cntr *cntr[CNT];
	int i;

	for (i = 0; i < CNT; i++)
		cntr[i] = cntr_open();
	for (i = 0; i < CNT; i++) {
		op[i] = (struct fi_op_cntr) { i + 1 < CNT ? cntr[i + 1] : done, 2 };
		memset(&work[i], 0, sizeof(work[i]));
		work[i].triggering_cntr = cntr[i];
		work[i].threshold = 2;
		work[i].op_type = i % 2 ? FI_OP_CNTR_ADD : FI_OP_CNTR_SET;
		work[i].op.cntr = &op[i];
		assert_int_equal(fi_control(&w.domain->fid, FI_QUEUE_WORK, &work[i]), 0);
	}
	fi_cntr_add(cntr[0], 1);
	assert_int_equal(fi_cntr_read(done), 0);
	fi_cntr_add(cntr[0], 1);
	assert_int_equal(fi_cntr_read(done), 2);
	for (i = 0; i < CNT; i++)
		assert_int_equal(fi_close(&cntr[i]->fid), 0);
}

static void test_cancel_and_flush(void **arg)
{
	struct iovec iov = { out[0], 8 };
	struct fi_op_msg send = { a->ep, { &iov, NULL, 1, 1, &ctx[0], 0 }, 0 };
	struct fi_op_cntr add = { done, 1 };
	struct fi_deferred_work work[5];
	struct fid_cntr *other = cntr_open();
	int i;

	for (i = 0; i < 4; i++)
		assert_int_equal(queue(&work[i], FI_OP_SEND, &send, 1), 0);
	memset(&work[4], 0, sizeof(work[4]));
	work[4].triggering_cntr = other;
	work[4].threshold = 1;
	work[4].op_type = FI_OP_CNTR_ADD;
	work[4].op.cntr = &add;
	assert_int_equal(fi_control(&w.domain->fid, FI_QUEUE_WORK, &work[4]), 0);
	assert_int_equal(fi_close(&other->fid), -FI_EBUSY);
	assert_int_equal(fi_control(&w.domain->fid, FI_CANCEL_WORK, &work[2]), 0);
	assert_int_equal(fi_control(&w.domain->fid, FI_CANCEL_WORK, &work[2]), -FI_ENOENT);
	fi_cntr_add(start, 1);
	reach(done, 3);
	assert_int_equal(fi_control(&w.domain->fid, FI_CANCEL_WORK, &work[0]), -FI_ENOENT);
	assert_int_equal(queue(&work[0], FI_OP_SEND, &send, 5), 0);
	assert_int_equal(fi_control(&w.domain->fid, FI_FLUSH_WORK, start), 0);
	fi_cntr_add(start, 5);
	node_none(&w, a);
	fi_cntr_add(other, 1);
	assert_int_equal(fi_cntr_read(done), 4);
	assert_int_equal(queue(&work[0], FI_OP_SEND, &send, 50), 0);
	assert_int_equal(fi_control(&w.domain->fid, FI_FLUSH_WORK, NULL), 0);
	assert_int_equal(fi_close(&other->fid), 0);
	/* what is not valid is refused when it is queued */
	assert_int_equal(fi_control(&w.domain->fid, FI_QUEUE_WORK, NULL), -FI_EINVAL);
	assert_int_equal(queue(&work[0], FI_OP_SEND, NULL, 1), -FI_EINVAL);
	assert_int_equal(queue(&work[0], (enum fi_op_type) 99, &send, 1), -FI_ENOSYS);
	work[0].triggering_cntr = NULL;
	work[0].op_type = FI_OP_SEND;
	assert_int_equal(fi_control(&w.domain->fid, FI_QUEUE_WORK, &work[0]), -FI_EINVAL);
	work[4].completion_cntr = done;
	work[4].triggering_cntr = start;
	assert_int_equal(fi_control(&w.domain->fid, FI_QUEUE_WORK, &work[4]), -FI_EINVAL);
}

/* An endpoint closes with work in every state. */
static void test_close(void **arg)
{
	struct iovec iov = { out[0], 3000 }, riov = { in[0], 3000 };
	struct fi_op_msg send = { a->ep, { &iov, NULL, 1, 1, &ctx[0], 0 }, 0 };
	struct fi_op_msg recv = { a->ep, { &riov, NULL, 1, 1, &ctx[0], 0 }, 0 };
	struct fi_deferred_work work[5];
	int i;

	assert_int_equal(queue(&work[0], FI_OP_SEND, &send, 1), 0);	/* in flight */
	assert_int_equal(queue(&work[1], FI_OP_RECV, &recv, 1), 0);	/* posted */
	fi_cntr_add(start, 1);
	for (i = 0; i < 5; i++)
		world_poll(&w);
	assert_int_equal(queue(&work[2], FI_OP_SEND, &send, 2), 0);	/* due */
	fi_cntr_add(start, 1);
	assert_int_equal(queue(&work[3], FI_OP_SEND, &send, 9), 0);	/* waiting */
	node_close(&w, 0);
	assert_int_equal(fi_cntr_readerr(done), 2);
	assert_int_equal(fi_cntr_read(done), 0);
	assert_int_equal(fi_control(&w.domain->fid, FI_CANCEL_WORK, &work[3]), -FI_ENOENT);
}

/* More than the queue holds, in their order, over a network that delays and refuses. */
static void test_many(void **arg)
{
	enum { CNT = 200 };
	static struct fi_deferred_work work[CNT];
	static struct fi_op_msg op[CNT];
	struct iovec iov = { out[0], 700 };
	struct comp comp;
	int i, got;

	tear_down(NULL);
	open_with(9, &sim_rough);
	for (i = 0; i < CNT; i++) {
		op[i] = (struct fi_op_msg) { a->ep, { &iov, NULL, 1, 1, NULL, (uint64_t) i },
					     FI_REMOTE_CQ_DATA };
		assert_int_equal(queue(&work[i], FI_OP_SEND, &op[i], (uint64_t) i / 3), 0);
	}
	for (i = 0; i < 8; i++)
		assert_int_equal(fi_recv(b->ep, in[i], 700, NULL, FI_ADDR_UNSPEC, in[i]), 0);
	for (got = 0; got < CNT; ) {
		fi_cntr_add(start, 1);
		world_poll(&w);
		while (node_read(b, &comp)) {
			assert_int_equal(comp.err, 0);
			assert_int_equal(comp.e.data, got++);
			assert_int_equal(fi_recv(b->ep, comp.e.op_context, 700, NULL,
						 FI_ADDR_UNSPEC, comp.e.op_context), 0);
		}
	}
	reach(done, CNT);
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_each_call), CASE(test_each_call_of_alias),
		CASE(test_order),
		CASE(test_chain),
		CASE(test_refusals),
		CASE(test_cancel_and_close),
		CASE(test_each_work),
		CASE(test_work_of_bytes),
		CASE(test_work_that_fails),
		CASE(test_start_within_start),
		CASE(test_counters),
		CASE(test_cancel_and_flush),
		CASE(test_close),
		CASE(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * fi_rma(3) and fi_atomic(3), call by call and as random traffic against a copy.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "base/test/verify.h"

#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>

#include "engine/sim/world.h"
#include "engine/wire.h"

#define MEM 30000
#define KEY 77		/* all rights */
#define KEY_RO 78
#define KEY_TWO 79	/* a second region, of MEM bytes */

static struct world w;
static char mem[MEM], two[MEM], out[MEM], in[MEM];
static int ctx[32];
static struct fid_mr *mr, *mr_ro, *mr_two;
static struct fid_cntr *rem_write, *rem_read, *put, *get;

static struct node *const a = &w.node[0], *const b = &w.node[1];

static struct fid_mr *reg(void *buf, uint64_t access, uint64_t key)
{
	struct fid_mr *m;

	assert_int_equal(fi_mr_reg(w.domain, buf, MEM, access, 0, key, 0, &m, NULL), 0);
	return m;
}

static struct fid_cntr *new_cntr(void)
{
	struct fi_cntr_attr attr = { .events = FI_CNTR_EVENTS_COMP, .wait_obj = FI_WAIT_NONE };
	struct fid_cntr *cntr;

	assert_int_equal(fi_cntr_open(w.domain, &attr, &cntr, NULL), 0);
	return cntr;
}

static void node_bind(struct world *world, int i)
{
	struct node *n = &world->node[i];

	if (i == 0) {
		assert_int_equal(fi_ep_bind(n->ep, &put->fid, FI_WRITE), 0);
		assert_int_equal(fi_ep_bind(n->ep, &get->fid, FI_READ), 0);
	} else {
		assert_int_equal(fi_ep_bind(n->ep, &rem_write->fid, FI_REMOTE_WRITE), 0);
		assert_int_equal(fi_ep_bind(n->ep, &rem_read->fid, FI_REMOTE_READ), 0);
	}
}

static void open_all(uint64_t seed, const struct sim_conf *conf)
{
	memset(&w, 0, sizeof(w));
	memset(mem, 0, MEM);
	memset(two, 0, MEM);
	memset(in, 0, MEM);
	w.before_enable = node_bind;
	world_open_domain(&w, seed, conf);
	rem_write = new_cntr();
	rem_read = new_cntr();
	put = new_cntr();
	get = new_cntr();
	world_open_nodes(&w, 2);
	mr = reg(mem, FI_REMOTE_READ | FI_REMOTE_WRITE, KEY);
	mr_ro = reg(mem, FI_REMOTE_READ, KEY_RO);
	mr_two = reg(two, FI_REMOTE_READ | FI_REMOTE_WRITE, KEY_TWO);
}

static int set_up(void **arg)
{
	open_all(1, &sim_ideal);
	return 0;
}

static int set_up_rough(void **arg)
{
	open_all(5, &sim_rough);
	return 0;
}

static int tear_down(void **arg)
{
	int i;

	assert_int_equal(fi_close(&mr->fid), 0);
	assert_int_equal(fi_close(&mr_ro->fid), 0);
	assert_int_equal(fi_close(&mr_two->fid), 0);
	for (i = 0; i < w.cnt; i++)
		if (w.node[i].cq)
			node_close(&w, i);
	assert_int_equal(fi_close(&rem_write->fid), 0);
	assert_int_equal(fi_close(&rem_read->fid), 0);
	assert_int_equal(fi_close(&put->fid), 0);
	assert_int_equal(fi_close(&get->fid), 0);
	world_close(&w);
	return 0;
}

static void expect(struct node *n, void *context, uint64_t flags)
{
	struct comp c;

	node_wait(&w, n, &c);
	assert_int_equal(c.err, 0);
	assert_ptr_equal(c.e.op_context, context);
	assert_true(c.e.flags == flags);
}

#define expect_err(...)	node_expect_err(&w, __VA_ARGS__)

#define W (FI_RMA | FI_WRITE)
#define R (FI_RMA | FI_READ)

/* ---- writes and reads --------------------------------------------------------- */

static void test_every_length(void **arg)
{
	static const size_t lens[] = { 0, 1, 128, 129, 300, 301, 999, 1000, 1001, 5000, 20000 };
	size_t i;

	for (i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		size_t len = lens[i];

		pattern_fill(out, len, i + 1);
		memset(mem, 0, MEM);
		memset(in, 0, MEM);
		assert_int_equal(fi_write(a->ep, out, len, NULL, 1, 100, KEY, &ctx[0]), 0);
		expect(a, &ctx[0], W);
		/* A read comes after the write that was posted before it. */
		assert_int_equal(fi_read(a->ep, in + 1, len, NULL, 1, 100, KEY, &ctx[1]), 0);
		expect(a, &ctx[1], R);
		assert_true(pattern_ok(mem + 100, len, i + 1));
		assert_true(pattern_ok(in + 1, len, i + 1));
		assert_int_equal(mem[99] | mem[100 + len] | in[0] | in[1 + len], 0);
		world_settle(&w);
		assert_int_equal(fi_cntr_read(rem_write), i + 1);
		assert_int_equal(fi_cntr_read(rem_read), i + 1);
		assert_int_equal(fi_cntr_read(put), i + 1);
		assert_int_equal(fi_cntr_read(get), i + 1);
	}
	node_none(&w, b);
}

static void test_lists_on_both_sides(void **arg)
{
	struct iovec iov[8];
	struct fi_rma_iov remote[8];
	struct fi_msg_rma msg = { .msg_iov = iov, .iov_count = 8, .addr = 1, .rma_iov = remote,
				  .rma_iov_count = 8, .context = &ctx[0] };
	size_t i, at = 0, total = 0;

	for (i = 0; i < 8; i++) {
		iov[i] = (struct iovec) { out + at, 100 * i + 50 };
		remote[i].len = 100 * (7 - i) + 50;
		remote[i].addr = 3000 * i + 10;
		remote[i].key = i % 2 ? KEY : KEY_TWO;
		at += iov[i].iov_len;
		total += remote[i].len;
	}
	assert_int_equal(at, total);
	pattern_fill(out, total, 9);
	assert_int_equal(fi_writemsg(a->ep, &msg, FI_DELIVERY_COMPLETE), 0);
	expect(a, &ctx[0], W);
	for (i = 0, at = 0; i < 8; i++) {
		assert_memory_equal((i % 2 ? mem : two) + remote[i].addr, out + at, remote[i].len);
		at += remote[i].len;
	}
	for (i = 0, at = 0; i < 8; i++) {
		iov[i].iov_base = in + at;
		at += iov[i].iov_len;
	}
	assert_int_equal(fi_readmsg(a->ep, &msg, 0), 0);
	expect(a, &ctx[0], R);
	assert_memory_equal(in, out, total);
	assert_int_equal(fi_writev(a->ep, iov, NULL, 8, 1, 5, KEY, &ctx[1]), 0);
	expect(a, &ctx[1], W);
	assert_int_equal(fi_readv(a->ep, (struct iovec[]) { { out, 3 }, { out + 3, total - 3 } },
				  NULL, 2, 1, 5, KEY, &ctx[2]), 0);
	expect(a, &ctx[2], R);
	assert_true(pattern_ok(out, total, 9));
	remote[3].len++;
	assert_int_equal(fi_writemsg(a->ep, &msg, 0), -FI_EINVAL);
	msg.rma_iov_count = 9;
	assert_int_equal(fi_writemsg(a->ep, &msg, 0), -FI_EINVAL);
	assert_int_equal(fi_writemsg(a->ep, &msg, FI_PEEK), -FI_EBADFLAGS);
	assert_int_equal(fi_readmsg(a->ep, &msg, FI_INJECT), -FI_EBADFLAGS);
}

static void test_completion_data(void **arg)
{
	struct comp c;
	size_t len;

	for (len = 8; len < 10000; len *= 5) {
		assert_int_equal(fi_writedata(a->ep, out, len, NULL, len + 1, 1, 0, KEY, &ctx[0]), 0);
		expect(a, &ctx[0], W);
		node_wait(&w, b, &c);
		assert_true(c.e.flags == (FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA));
		assert_int_equal(c.e.data, len + 1);
		assert_int_equal(c.e.len, len);
		assert_int_equal(c.src, 0);
	}
	assert_int_equal(fi_inject_writedata(a->ep, "x", 1, 5, 1, 0, KEY), 0);
	node_wait(&w, b, &c);
	assert_int_equal(c.e.data, 5);
	node_none(&w, a);
}

static void test_inject(void **arg)
{
	int i;

	for (i = 0; i < 20; i++) {
		pattern_fill(out, 200, (uint64_t) i);
		assert_int_equal(fi_inject_write(a->ep, out, 200, 1, (uint64_t) i * 200, KEY), 0);
		memset(out, 0, 200);
	}
	world_settle(&w);
	for (i = 0; i < 20; i++)
		assert_true(pattern_ok(mem + i * 200, 200, (uint64_t) i));
	node_none(&w, a);
	assert_int_equal(fi_cntr_read(put), 20);
	assert_int_equal(fi_cntr_read(rem_write), 20);
	assert_int_equal(fi_inject_write(a->ep, out, 201, 1, 0, KEY), -FI_EMSGSIZE);
}

/* Writes and messages keep their order, whatever their lengths. */
static void test_order(void **arg)
{
	uint64_t flag;
	int i;

	for (i = 1; i < 40; i++) {
		pattern_fill(out, 9000, (uint64_t) i);
		flag = (uint64_t) i;
		assert_int_equal(fi_recv(b->ep, in, 8, NULL, 0, &ctx[2]), 0);
		memset(two, 0, 8);
		assert_int_equal(fi_write(a->ep, two, 8, NULL, 1, 8992, KEY, &ctx[0]), 0);
		assert_int_equal(fi_write(a->ep, out, 9000, NULL, 1, 0, KEY, &ctx[0]), 0);
		assert_int_equal(fi_inject_write(a->ep, &flag, 8, 1, 8992, KEY), 0);
		assert_int_equal(fi_inject(a->ep, &flag, 8, 1), 0);
		expect(b, &ctx[2], FI_RECV | FI_MSG);
		assert_true(pattern_ok(mem, 8992, (uint64_t) i));
		assert_memory_equal(mem + 8992, &flag, 8);
		expect(a, &ctx[0], W);
		expect(a, &ctx[0], W);
	}
}

static void test_fence(void **arg)
{
	struct iovec iov = { out, 7000 };
	struct fi_rma_iov remote = { .addr = 0, .len = 7000, .key = KEY };
	struct fi_msg_rma msg = { .msg_iov = &iov, .iov_count = 1, .addr = 1, .rma_iov = &remote,
				  .rma_iov_count = 1, .context = &ctx[1] };

	pattern_fill(mem, 7000, 4);
	pattern_fill(out, 7000, 5);
	/* A write may overtake a read, unless it is fenced. */
	assert_int_equal(fi_read(a->ep, in, 7000, NULL, 1, 0, KEY, &ctx[0]), 0);
	assert_int_equal(fi_writemsg(a->ep, &msg, FI_FENCE | FI_DELIVERY_COMPLETE), 0);
	expect(a, &ctx[0], R);
	expect(a, &ctx[1], W);
	assert_true(pattern_ok(in, 7000, 4));
	assert_true(pattern_ok(mem, 7000, 5));
}

/* A read is lost while it comes in: what a fence held behind it stays here, as the
 * simulated link insists.
 */
static void test_fence_behind_a_lost_read(void **arg)
{
	struct iovec iov = { out, 7000 };
	struct fi_rma_iov remote = { .addr = 0, .len = 7000, .key = KEY };
	struct fi_msg_rma msg = { .msg_iov = &iov, .iov_count = 1, .addr = 1, .rma_iov = &remote,
				  .rma_iov_count = 1, .context = &ctx[1] };
	int round, i, lost = 0;
	struct comp comp;

	for (round = 0; round < 200; round++) {
		assert_int_equal(fi_read(a->ep, in, 20000, NULL, 1, 0, KEY, &ctx[0]), 0);
		assert_int_equal(fi_writemsg(a->ep, &msg, FI_FENCE | FI_DELIVERY_COMPLETE), 0);
		for (i = round % 25; i; i--)
			world_poll(&w);
		sim_break(PORT(0), PORT(1));
		for (i = 0; i < 2; i++) {
			node_wait(&w, a, &comp);
			lost += comp.err && comp.e.op_context == &ctx[0];
		}
		world_settle(&w);
	}
	assert_true(lost);
	node_none(&w, a);
}

static void test_region_counters(void **arg)
{
	struct fi_mr_attr attr = { .iov_count = 1, .access = FI_REMOTE_WRITE };
	struct fid_cntr *cntr = new_cntr();
	struct iovec iov = { two, MEM };
	struct fid_mr *counted;
	struct iovec src = { out, 4000 };
	struct fi_rma_iov remote[2] = { { 0, 3500, 500 }, { 10, 500, KEY } };
	struct fi_msg_rma msg = { .msg_iov = &src, .iov_count = 1, .addr = 1, .rma_iov = remote,
				  .rma_iov_count = 2, .context = &ctx[0] };

	attr.mr_iov = &iov;
	attr.requested_key = 500;
	assert_int_equal(fi_mr_regattr(w.domain, &attr, FI_RMA_EVENT, &counted), 0);
	assert_int_equal(fi_mr_bind(counted, &cntr->fid, FI_REMOTE_WRITE), 0);
	assert_int_equal(fi_mr_enable(counted), 0);
	/* Once for an operation, though it is many packets and the last is elsewhere. */
	assert_int_equal(fi_writemsg(a->ep, &msg, 0), 0);
	expect(a, &ctx[0], W);
	world_settle(&w);
	assert_int_equal(fi_cntr_read(cntr), 1);
	assert_int_equal(fi_inject_write(a->ep, "x", 1, 1, 0, 500), 0);
	world_settle(&w);
	assert_int_equal(fi_cntr_read(cntr), 2);
	assert_int_equal(fi_close(&counted->fid), 0);
	assert_int_equal(fi_close(&cntr->fid), 0);
}

/* ---- what must not be -------------------------------------------------------- */

static void refused(uint64_t addr, size_t len, uint64_t key, int err)
{
	struct iovec iov = { out, len };
	struct fi_rma_iov remote = { .addr = addr, .len = len, .key = key };
	struct fi_msg_rma msg = { .msg_iov = &iov, .iov_count = 1, .addr = 1, .rma_iov = &remote,
				  .rma_iov_count = 1, .context = &ctx[0] };

	assert_int_equal(fi_writemsg(a->ep, &msg, FI_DELIVERY_COMPLETE), 0);
	expect_err(a, &ctx[0], err);
	if (key == KEY_RO)
		return;
	assert_int_equal(fi_read(a->ep, in, len, NULL, 1, addr, key, &ctx[1]), 0);
	expect_err(a, &ctx[1], err);
	world_settle(&w);
}

static void test_keys_bounds_and_rights(void **arg)
{
	int i;

	memset(out, 0xff, MEM);
	refused(0, 8, 1234, FI_ENOKEY);
	refused(MEM - 7, 8, KEY, FI_EINVAL);
	refused(UINT64_MAX - 8, 8, KEY, FI_EINVAL);
	refused(MEM + 1, 0, KEY, FI_EINVAL);
	refused(0, 8, KEY_RO, FI_EACCES);
	refused(0, 5000, 1234, FI_ENOKEY);
	refused(0, 5000, KEY_RO, FI_EACCES);
	refused(MEM - 4000, 5000, KEY, FI_EINVAL);
	for (i = 0; i < MEM - 4000; i++)
		assert_int_equal(mem[i], 0);
	/* The other connections live on. */
	assert_int_equal(fi_write(a->ep, out, 5000, NULL, 1, 0, KEY, &ctx[0]), 0);
	expect(a, &ctx[0], W);
	assert_int_equal(fi_read(a->ep, in, 5000, NULL, 1, 0, KEY_RO, &ctx[1]), 0);
	expect(a, &ctx[1], R);
	assert_memory_equal(in, out, 5000);
	/* Too late to be reported: it is logged. */
	assert_int_equal(fi_inject_write(a->ep, out, 8, 1, 0, 1234), 0);
	assert_int_equal(fi_write(a->ep, out, 8, NULL, 1, 0, KEY, &ctx[0]), 0);
	expect(a, &ctx[0], W);
	world_settle(&w);
}

static void test_death_of_the_target(void **arg)
{
	struct comp c;
	int i, errs = 0;

	for (i = 0; i < 10; i++) {
		assert_int_equal(fi_read(a->ep, in, 20000, NULL, 1, 0, KEY, &ctx[i]), 0);
		assert_int_equal(fi_write(a->ep, out, 20000, NULL, 1, 0, KEY, &ctx[10 + i]), 0);
	}
	for (i = 0; i < 5; i++)
		world_poll(&w);
	sim_crash(PORT(1));
	node_close(&w, 1);
	for (i = 0; i < 20; i++) {
		node_wait(&w, a, &c);
		errs += c.err != 0;
		assert_true(!c.err || c.err == FI_ECONNRESET || c.err == FI_ECANCELED);
	}
	assert_true(errs > 0);
	node_none(&w, a);
	assert_int_equal(fi_tx_size_left(a->ep), 64);
	node_open(&w, 1);
}

static void test_death_of_the_initiator(void **arg)
{
	int i;

	for (i = 0; i < 10; i++) {
		assert_int_equal(fi_read(a->ep, in, 20000, NULL, 1, 0, KEY, NULL), 0);
		assert_int_equal(fi_fetch_atomic(a->ep, out, 10, NULL, in, NULL, 1, 0, KEY,
						 FI_UINT64, FI_SUM, NULL), 0);
	}
	for (i = 0; i < 7; i++)
		world_poll(&w);
	sim_crash(PORT(0));
	node_close(&w, 0);
	world_settle(&w);
	node_open(&w, 0);
	assert_int_equal(fi_read(a->ep, in, 20000, NULL, 1, 0, KEY, &ctx[0]), 0);
	expect(a, &ctx[0], R);
}

/* ---- atomics ------------------------------------------------------------------ */

#define AW (FI_ATOMIC | FI_WRITE)
#define AR (FI_ATOMIC | FI_READ)

static void test_atomic_forms(void **arg)
{
	uint64_t *word = (uint64_t *) mem, ops[512], old[512], cmp[512];
	struct fi_ioc oi[8], ri[8], ci[8];
	struct fi_rma_ioc remote[2] = { { 0, 3, KEY }, { 800, 13, KEY_TWO } };
	struct fi_msg_atomic msg = { .msg_iov = oi, .iov_count = 8, .addr = 1, .rma_iov = remote,
				     .rma_iov_count = 2, .datatype = FI_UINT64, .op = FI_SUM,
				     .context = &ctx[3], .data = 42 };
	struct comp c;
	size_t i;

	for (i = 0; i < 512; i++) {
		ops[i] = i + 1;
		word[i] = 1000 * i;
		cmp[i] = 0;
	}
	assert_int_equal(fi_atomic(a->ep, ops, 10, NULL, 1, 0, KEY, FI_UINT64, FI_SUM, &ctx[0]), 0);
	expect(a, &ctx[0], AW);
	assert_int_equal(fi_fetch_atomic(a->ep, ops, 10, NULL, old, NULL, 1, 0, KEY, FI_UINT64,
					 FI_SUM, &ctx[1]), 0);
	expect(a, &ctx[1], AR);
	for (i = 0; i < 10; i++) {
		assert_true(old[i] == 1000 * i + i + 1);
		assert_true(word[i] == 1000 * i + 2 * (i + 1));
	}
	/* Swap where equal: the even ones. */
	for (i = 0; i < 512; i++) {
		word[i] = i;
		cmp[i] = i % 2 ? 0 : i;
		ops[i] = 7777;
	}
	assert_int_equal(fi_compare_atomic(a->ep, ops, 512, NULL, cmp, NULL, old, NULL, 1, 0, KEY,
					   FI_UINT64, FI_CSWAP, &ctx[2]), 0);
	expect(a, &ctx[2], AR);
	for (i = 0; i < 512; i++) {
		assert_true(old[i] == i);
		assert_true(word[i] == (i % 2 ? i : 7777));
	}
	/* Lists everywhere. */
	for (i = 0; i < 8; i++) {
		oi[i] = (struct fi_ioc) { .addr = &ops[i * 2], .count = 2 };
		ri[i] = (struct fi_ioc) { .addr = &old[(7 - i) * 2], .count = 2 };
		ci[i] = (struct fi_ioc) { .addr = &cmp[i * 2], .count = 2 };
	}
	for (i = 0; i < 16; i++)
		ops[i] = i;
	memset(word, 0, 24);
	memset(two, 0, MEM);
	assert_int_equal(fi_fetch_atomicmsg(a->ep, &msg, ri, NULL, 8, 0), 0);
	expect(a, &ctx[3], AR);
	assert_true(word[2] == 2 && ((uint64_t *) two)[100] == 3 && ((uint64_t *) two)[112] == 15);
	msg.op = FI_CSWAP_NE;
	assert_int_equal(fi_compare_atomicmsg(a->ep, &msg, ci, NULL, 8, ri, NULL, 8, 0), 0);
	expect(a, &ctx[3], AR);
	msg.op = FI_ATOMIC_WRITE;
	assert_int_equal(fi_atomicmsg(a->ep, &msg, FI_REMOTE_CQ_DATA | FI_DELIVERY_COMPLETE), 0);
	expect(a, &ctx[3], AW);
	node_wait(&w, b, &c);
	assert_int_equal(c.e.data, 42);
	assert_true(c.e.flags == (FI_ATOMIC | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA));
	/* Read: no operands. */
	assert_int_equal(fi_fetch_atomic(a->ep, NULL, 3, NULL, old, NULL, 1, 0, KEY, FI_UINT64,
					 FI_ATOMIC_READ, &ctx[4]), 0);
	expect(a, &ctx[4], AR);
	assert_memory_equal(old, word, 24);
	ops[0] = 5;
	assert_int_equal(fi_inject_atomic(a->ep, ops, 1, 1, 0, KEY, FI_UINT64, FI_MAX), 0);
	world_settle(&w);
	assert_true(word[0] == 5);
	assert_int_equal(fi_cntr_read(put), 3);
	assert_int_equal(fi_cntr_read(get), 5);
	/* four of those that fetch have changed something: a lock of OpenSHMEM waits for that */
	assert_int_equal(fi_cntr_read(rem_write), 7);
	assert_int_equal(fi_cntr_read(rem_read), 5);
}

static void test_atomic_limits(void **arg)
{
	uint64_t x[2] = { 1, 2 }, old[2];
	size_t cnt = 0;

	assert_int_equal(fi_atomicvalid(a->ep, FI_UINT64, FI_SUM, &cnt), 0);
	assert_int_equal(cnt, 512);
	assert_int_equal(fi_fetch_atomicvalid(a->ep, FI_DOUBLE, FI_PROD, &cnt), 0);
	assert_int_equal(fi_compare_atomicvalid(a->ep, FI_INT8, FI_CSWAP, &cnt), 0);
	assert_int_equal(cnt, 4096);
	assert_int_equal(fi_compare_atomicvalid(a->ep, FI_INT8, FI_SUM, &cnt), -FI_EOPNOTSUPP);
	assert_int_equal(fi_atomicvalid(a->ep, FI_DOUBLE, FI_BXOR, &cnt), -FI_EOPNOTSUPP);
	assert_int_equal(fi_atomic(a->ep, out, 513, NULL, 1, 0, KEY, FI_UINT64, FI_SUM, NULL),
			 -FI_EMSGSIZE);
	assert_int_equal(fi_atomic(a->ep, out, 0, NULL, 1, 0, KEY, FI_UINT64, FI_SUM, NULL),
			 -FI_EINVAL);
	assert_int_equal(fi_atomic(a->ep, out, 1, NULL, 1, 0, KEY, FI_UINT64, FI_CSWAP, NULL),
			 -FI_EOPNOTSUPP);
	assert_int_equal(fi_fetch_atomic(a->ep, x, 1, NULL, old, NULL, 1, MEM - 4, KEY, FI_UINT64,
					 FI_SUM, &ctx[0]), 0);
	expect_err(a, &ctx[0], FI_EINVAL);
	assert_int_equal(fi_fetch_atomic(a->ep, x, 1, NULL, old, NULL, 1, 0, KEY_RO, FI_UINT64,
					 FI_SUM, &ctx[0]), 0);
	expect_err(a, &ctx[0], FI_EACCES);
	assert_int_equal(fi_fetch_atomic(a->ep, NULL, 1, NULL, old, NULL, 1, 0, KEY_RO, FI_UINT64,
					 FI_ATOMIC_READ, &ctx[0]), 0);
	expect(a, &ctx[0], AR);
}

/* ---- at random ------------------------------------------------------------------ */

static char model[MEM];
static int pending;

static void reap(void)
{
	struct comp c;

	while (node_read(a, &c)) {
		assert_int_equal(c.err, 0);
		pending--;
	}
}

static void finish(void)
{
	long fail_after = sim_fail_after;
	int i;

	for (i = 0; pending && i < 100000; i++) {
		/* Want of memory delays, but does not last for ever. */
		if (i == 100)
			sim_fail_after = 0;
		reap();
		world_poll(&w);
	}
	sim_fail_after = fail_after;
	assert_int_equal(pending, 0);
}

static size_t random_len(void)
{
	return sim_rnd(3) ? sim_rnd(300) : sim_rnd(6000);
}

static void random_write(void)
{
	size_t len = random_len(), at = sim_rnd(MEM - len), i;
	struct iovec iov = { out + at, len };
	struct fi_rma_iov remote = { .addr = at, .len = len, .key = KEY };
	struct fi_msg_rma msg = { .msg_iov = &iov, .iov_count = 1, .addr = 1, .rma_iov = &remote,
				  .rma_iov_count = 1 };
	ssize_t ret;

	/* The source may not change before the completion, so it changes between. */
	finish();
	for (i = 0; i < len; i++)
		out[at + i] = (char) sim_rnd(256);
	ret = fi_writemsg(a->ep, &msg, sim_rnd(3) ? 0 : FI_DELIVERY_COMPLETE);
	if (ret == -FI_EAGAIN)
		return;
	assert_int_equal(ret, 0);
	pending++;
	memcpy(model + at, out + at, len);
}

static void random_read(void)
{
	size_t len = random_len(), at = sim_rnd(MEM - len);
	ssize_t ret = fi_read(a->ep, in, len, NULL, 1, at, KEY, NULL);

	if (ret == -FI_EAGAIN)
		return;
	assert_int_equal(ret, 0);
	pending++;
	finish();
	assert_memory_equal(in, model + at, len);
}

static void random_atomic(void)
{
	size_t cnt = 1 + sim_rnd(sim_rnd(4) ? 10 : 500), at = sim_rnd(MEM / 8 - cnt) * 8, i;
	uint64_t ops[512], old[512], word;
	bool fetch = sim_rnd(2);
	ssize_t ret;

	for (i = 0; i < cnt; i++)
		ops[i] = sim_rnd(1 << 20);
	ret = fetch ? fi_fetch_atomic(a->ep, ops, cnt, NULL, old, NULL, 1, at, KEY, FI_UINT64,
				      FI_SUM, NULL) :
	      fi_atomic(a->ep, ops, cnt, NULL, 1, at, KEY, FI_UINT64, FI_SUM, NULL);
	if (ret == -FI_EAGAIN)
		return;
	assert_int_equal(ret, 0);
	pending++;
	if (fetch)
		finish();
	for (i = 0; i < cnt; i++) {
		memcpy(&word, model + at + 8 * i, 8);
		assert_true(!fetch || old[i] == word);
		word += ops[i];
		memcpy(model + at + 8 * i, &word, 8);
	}
}

static void random_run(uint64_t seed, bool starve)
{
	int i;

	open_all(seed, seed % 2 ? &sim_rough : &sim_ideal);
	memset(model, 0, MEM);
	pending = 0;
	for (i = 0; i < 150; i++) {
		if (starve)
			sim_fail_after = i % 8 ? 0 : (long) sim_rnd(4);
		switch (sim_rnd(3)) {
		case 0:
			random_write();
			break;
		case 1:
			random_read();
			break;
		default:
			random_atomic();
			break;
		}
		if (starve)
			sim_fail_after = 0;
		reap();
	}
	finish();
	world_settle(&w);
	assert_memory_equal(mem, model, MEM);
	tear_down(NULL);
}

static uint64_t seeds_from = 1, seeds_cnt = 30;

static void test_random(void **arg)
{
	uint64_t seed;

	for (seed = seeds_from; seed < seeds_from + seeds_cnt; seed++)
		random_run(seed, false);
}

static void test_random_without_memory(void **arg)
{
	uint64_t seed;

	for (seed = seeds_from; seed < seeds_from + seeds_cnt; seed++)
		random_run(seed, true);
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
#define ROUGH(name) cmocka_unit_test_setup_teardown(name, set_up_rough, tear_down)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		T(test_every_length),
		ROUGH(test_every_length),
		T(test_lists_on_both_sides),
		ROUGH(test_lists_on_both_sides),
		T(test_completion_data),
		ROUGH(test_completion_data),
		T(test_inject),
		ROUGH(test_inject),
		T(test_order),
		ROUGH(test_order),
		T(test_fence),
		ROUGH(test_fence),
		ROUGH(test_fence_behind_a_lost_read),
		T(test_region_counters),
		ROUGH(test_region_counters),
		T(test_keys_bounds_and_rights),
		ROUGH(test_keys_bounds_and_rights),
		T(test_death_of_the_target),
		ROUGH(test_death_of_the_target),
		T(test_death_of_the_initiator),
		ROUGH(test_death_of_the_initiator),
		T(test_atomic_forms),
		ROUGH(test_atomic_forms),
		T(test_atomic_limits),
		ROUGH(test_atomic_limits),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_random_without_memory),
	};

	/* rma_test [first seed [how many]] */
	if (argc > 1)
		seeds_from = strtoull(argv[1], NULL, 0);
	if (argc > 2)
		seeds_cnt = strtoull(argv[2], NULL, 0);
	return cmocka_run_group_tests(tests, NULL, NULL) ? 1 : 0;
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Every operation with buffers in memory of a device, of each kind, over tests/fakegpu, where
 * the CPU cannot touch it; and the same while calls of the device fail.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "base/test/verify.h"

#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>

#include "../../../../fabtests/common/device.h"
#include "../../../../tests/fakegpu/use.h"
#include "base/clock.h"
#include "engine/sim/world.h"
#include "engine/wire.h"
#include "hmem/mem.h"

#define LEN 700000
#define KEY 5			/* the memory of b's device */
#define WAIT_NS (UINT64_C(20) * CLOCK_NS_PER_MS * 1000)

static const char *const words[] = { "cuda", "rocr", "ze" };
static const char *const libs[] = { "libcuda.so.1", "libhsa-runtime64.so.1", "libze_loader.so.1" };

static const struct sim_conf conf = { .eager_limit = 9000, .seg_size = 100000 };
static const struct sim_conf rough = {
	.delay = 12, .queue_pct = 40, .once_not_pct = 50, .partial_pct = 50, .nohold_pct = 10,
	.eager_limit = 9000, .seg_size = 70000,
};

static const struct sim_conf whole = {
	.delay = 12, .queue_pct = 40, .partial_pct = 50, .eager_limit = 9000, .seg_size = 70000, .whole = true,
};

static const struct sim_conf near = { .eager_limit = 9000, .seg_size = 100000, .same_host = true };
static const struct sim_conf near_rough = {
	.delay = 12, .queue_pct = 40, .partial_pct = 50, .nohold_pct = 10,
	.eager_limit = 9000, .seg_size = 70000, .same_host = true,
};

static struct world w;
static struct node *const a = &w.node[0], *const b = &w.node[1];
static char *from, *to;		/* memory of the device */
static struct fid_mr *mr_from, *mr_to;
static char host[LEN], got[LEN];
static struct fi_context2 ctx[8];
static uint64_t seed;

static struct fid_mr *reg(char *at, uint64_t key)
{
	struct iovec iov = { at, LEN };
	struct fi_mr_attr attr = {
		.mr_iov = &iov, .iov_count = 1, .requested_key = key,
		.access = FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE,
	};
	struct fid_mr *mr;

	device_attr(&attr);
	assert_int_equal(fi_mr_regattr(w.domain, &attr, 0, &mr), 0);
	return mr;
}

static void open_kind(int kind, const struct sim_conf *how)
{
	memset(&w, 0, sizeof(w));
	assert_null(device_open(words[kind], 1));
	sim_caps = FI_HMEM;
	world_open(&w, 2, 3, how);
	sim_caps = 0;
	from = device_alloc(LEN);
	to = device_alloc(LEN);
	mr_from = reg(from, KEY + 1);
	mr_to = reg(to, KEY);
}

static void close_kind(void)
{
	assert_int_equal(fi_close(&mr_from->fid), 0);
	assert_int_equal(fi_close(&mr_to->fid), 0);
	world_close(&w);
	device_free(from);
	device_free(to);
}

static void put(char *at, size_t len)
{
	pattern_fill(host, len, ++seed);
	assert_true(device_put(at, host, len));
}

static void check(char *at, size_t len)
{
	assert_true(device_get(got, at, len));
	assert_true(pattern_ok(got, len, seed));
}

/* A copy takes real time, the network's is turns. */
static void wait_comp(struct node *n, struct comp *c)
{
	uint64_t end = clock_ns() + WAIT_NS;

	while (!node_read(n, c)) {
		world_poll(&w);
		assert_true(clock_ns() < end);
	}
}

static void done(struct node *n, const void *context)
{
	struct comp c;

	wait_comp(n, &c);
	assert_int_equal(c.err, 0);
	assert_ptr_equal(c.e.op_context, context);
}

static const size_t lens[] = { 1, 100, 5000, 60000, 70000, LEN };
#define LENS (sizeof(lens) / sizeof(lens[0]))

/* ---- messages ---------------------------------------------------------------------------- */

static void message(size_t len, bool unexpected, uint64_t flags)
{
	struct iovec out = { from, len };
	void *desc = fi_mr_desc(mr_from);
	struct fi_msg_tagged msg = { .msg_iov = &out, .desc = &desc, .iov_count = 1, .addr = 1,
				     .tag = 9, .context = &ctx[0] };

	put(from, len);
	if (!unexpected)
		assert_int_equal(fi_trecv(b->ep, to, LEN, fi_mr_desc(mr_to), FI_ADDR_UNSPEC, 9, 0,
					  &ctx[1]), 0);
	assert_int_equal(fi_tsendmsg(a->ep, &msg, flags), 0);
	if (unexpected) {
		world_settle(&w);
		assert_int_equal(fi_trecv(b->ep, to, LEN, fi_mr_desc(mr_to), FI_ADDR_UNSPEC, 9, 0,
					  &ctx[1]), 0);
	}
	done(b, &ctx[1]);
	check(to, len);
	done(a, &ctx[0]);
}

static void messages(void)
{
	size_t i;

	for (i = 0; i < LENS; i++) {
		message(lens[i], false, 0);
		message(lens[i], true, 0);
		message(lens[i], true, FI_DELIVERY_COMPLETE);
	}
	message(150, false, FI_INJECT);
	message(150, true, FI_INJECT);
}

/* The program does not want the message: at once, or when it has claimed it. */
static void test_discarded(void **state)
{
	struct fi_msg_tagged msg = { .addr = FI_ADDR_UNSPEC, .tag = 9, .context = &ctx[1] };
	size_t i, k;

	for (k = 0; k < 6; k++) {
		open_kind((int) k % 3, k % 2 ? &near_rough : &rough);
		for (i = 0; i < 20 * LENS; i++) {
			assert_int_equal(fi_tsend(a->ep, from, lens[i % LENS], fi_mr_desc(mr_from), 1, 9, &ctx[0]), 0);
			world_settle(&w);
			assert_int_equal(fi_trecvmsg(b->ep, &msg, FI_PEEK | (i % 2 ? FI_CLAIM : FI_DISCARD)), 0);
			done(b, &ctx[1]);
			if (i % 2) {
				assert_int_equal(fi_trecvmsg(b->ep, &msg, FI_CLAIM | FI_DISCARD), 0);
				done(b, &ctx[1]);
			}
			done(a, &ctx[0]);
		}
		messages();
		close_kind();
	}
}

/* One side's buffer is the host's. */
static void half(void)
{
	size_t i;

	for (i = 0; i < LENS; i++) {
		put(from, lens[i]);
		assert_int_equal(fi_recv(b->ep, got, LEN, NULL, FI_ADDR_UNSPEC, &ctx[1]), 0);
		assert_int_equal(fi_send(a->ep, from, lens[i], fi_mr_desc(mr_from), 1, &ctx[0]), 0);
		done(b, &ctx[1]);
		done(a, &ctx[0]);
		assert_true(pattern_ok(got, lens[i], seed));
		pattern_fill(host, lens[i], ++seed);
		assert_int_equal(fi_recv(b->ep, to, LEN, fi_mr_desc(mr_to), FI_ADDR_UNSPEC, &ctx[1]), 0);
		assert_int_equal(fi_send(a->ep, host, lens[i], NULL, 1, &ctx[0]), 0);
		done(b, &ctx[1]);
		done(a, &ctx[0]);
		check(to, lens[i]);
	}
}

/* Lists with memory of both; other cuts on the other side. */
static void mixed(size_t len)
{
	static char left[LEN], right[LEN];
	size_t p = len / 3, q = len / 2;
	struct iovec out[3] = { { host, p }, { from, p }, { host + 2 * p, len - 2 * p } };
	struct iovec in[2] = { { to, q }, { right, len - q } };
	void *out_desc[3] = { NULL, fi_mr_desc(mr_from), NULL };
	void *in_desc[2] = { fi_mr_desc(mr_to), NULL };

	pattern_fill(host, len, ++seed);
	assert_true(device_put(from, host + p, p));
	assert_int_equal(fi_recvv(b->ep, in, in_desc, 2, FI_ADDR_UNSPEC, &ctx[1]), 0);
	assert_int_equal(fi_sendv(a->ep, out, out_desc, 3, 1, &ctx[0]), 0);
	done(b, &ctx[1]);
	done(a, &ctx[0]);
	assert_true(device_get(left, to, q));
	memcpy(left + q, right, len - q);
	assert_true(pattern_ok(left, len, seed));
}

static void truncated(size_t len, size_t room)
{
	struct comp c;

	put(from, len);
	assert_int_equal(fi_recv(b->ep, to, room, fi_mr_desc(mr_to), FI_ADDR_UNSPEC, &ctx[1]), 0);
	assert_int_equal(fi_send(a->ep, from, len, fi_mr_desc(mr_from), 1, &ctx[0]), 0);
	wait_comp(b, &c);
	assert_int_equal(c.err, FI_ETRUNC);
	assert_int_equal(c.olen, len - room);
	done(a, &ctx[0]);
	check(to, room);
}

static void multi_recv(size_t len, int cnt)
{
	struct iovec in = { to, len * (size_t) cnt };
	void *desc = fi_mr_desc(mr_to);
	struct fi_msg msg = { .msg_iov = &in, .desc = &desc, .iov_count = 1, .addr = FI_ADDR_UNSPEC,
			      .context = &ctx[1] };
	size_t min = len;
	struct comp c;
	int i;

	assert_int_equal(fi_setopt(&b->ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &min,
				   sizeof(min)), 0);
	assert_int_equal(fi_recvmsg(b->ep, &msg, FI_MULTI_RECV), 0);
	for (i = 0; i < cnt; i++) {
		put(from, len);
		assert_int_equal(fi_send(a->ep, from, len, fi_mr_desc(mr_from), 1, &ctx[0]), 0);
		wait_comp(b, &c);
		assert_int_equal(c.err, 0);
		assert_ptr_equal(c.e.buf, to + (size_t) i * len);
		assert_int_equal((c.e.flags & FI_MULTI_RECV) != 0, i == cnt - 1);
		check(c.e.buf, len);
		done(a, &ctx[0]);
	}
}

/* ---- remote memory -------------------------------------------------------------------------- */

static void rma(size_t len)
{
	struct iovec out = { from, len };
	void *desc = fi_mr_desc(mr_from);
	struct fi_rma_iov remote = { .addr = 0, .len = len, .key = KEY };
	struct fi_msg_rma msg = { .msg_iov = &out, .desc = &desc, .iov_count = 1, .addr = 1,
				  .rma_iov = &remote, .rma_iov_count = 1, .context = &ctx[0] };

	put(from, len);
	assert_int_equal(fi_writemsg(a->ep, &msg, FI_DELIVERY_COMPLETE), 0);
	done(a, &ctx[0]);
	check(to, len);
	assert_int_equal(fi_read(a->ep, from, len, desc, 1, 0, KEY, &ctx[0]), 0);
	done(a, &ctx[0]);
	check(from, len);
	assert_int_equal(fi_read(a->ep, host, len, NULL, 1, 0, KEY, &ctx[0]), 0);
	done(a, &ctx[0]);
	assert_true(pattern_ok(host, len, seed));
}

static void atomics(void)
{
	uint64_t cells[4] = { 1, 2, 3, 4 }, ops[4] = { 10, 20, 30, 40 }, was[4], now[4];
	void *desc = fi_mr_desc(mr_from);
	int i;

	assert_true(device_put(to, cells, sizeof(cells)));
	assert_true(device_put(from, ops, sizeof(ops)));
	assert_int_equal(fi_fetch_atomic(a->ep, from, 4, desc, from + 4096, desc, 1, 0, KEY, FI_UINT64,
					 FI_SUM, &ctx[0]), 0);
	done(a, &ctx[0]);
	assert_true(device_get(was, from + 4096, sizeof(was)));
	assert_memory_equal(was, cells, sizeof(was));
	for (i = 0; i < 4; i++)
		cells[i] += ops[i];
	/* the last two do not match */
	memcpy(now, cells, sizeof(now));
	now[2] = now[3] = 0;
	assert_true(device_put(from + 512, now, sizeof(now)));
	assert_int_equal(fi_compare_atomic(a->ep, from, 4, desc, from + 512, desc, from + 4096, desc, 1,
					   0, KEY, FI_UINT64, FI_CSWAP, &ctx[0]), 0);
	done(a, &ctx[0]);
	assert_true(device_get(now, to, sizeof(now)));
	assert_int_equal(now[0], ops[0]);
	assert_int_equal(now[1], ops[1]);
	assert_int_equal(now[2], cells[2]);
	assert_int_equal(fi_fetch_atomic(a->ep, NULL, 4, NULL, was, NULL, 1, 0, KEY, FI_UINT64,
					 FI_ATOMIC_READ, &ctx[0]), 0);
	done(a, &ctx[0]);
	assert_memory_equal(was, now, sizeof(was));
}

static void all_operations(const struct sim_conf *how)
{
	size_t i;
	int k;

	for (k = 0; k < 3; k++) {
		open_kind(k, how);
		message(LEN, false, 0);	/* made before the format of the channel is known */
		messages();
		half();
		mixed(99);
		mixed(7000);
		mixed(LEN);
		truncated(5000, 70);
		truncated(LEN, 200000);
		multi_recv(300, 5);
		multi_recv(50000, 4);
		multi_recv(100000, 6);
		for (i = 0; i < LENS; i++)
			rma(lens[i]);
		atomics();
		close_kind();
	}
}

static void test_operations(void **state)
{
	all_operations(&conf);
}

static void test_operations_rough(void **state)
{
	all_operations(&rough);
	all_operations(&whole);
}

static void test_operations_same_host(void **state)
{
	all_operations(&near);
	all_operations(&near_rough);
}

/* Long messages between devices of one host are no DATA; all others are what they were. */
static void test_shared(void **state)
{
	int k;

	for (k = 0; k < 3; k++) {
		open_kind(k, &near);
		message(LEN, false, 0);
		message(LEN, true, FI_DELIVERY_COMPLETE);
		assert_int_equal(sim_ops[WIRE_SHARE], 2);
		assert_int_equal(sim_ops[WIRE_DATA], 0);
		message(5000, false, 0);
		assert_int_equal(sim_ops[WIRE_SHARE], 2);
		close_kind();
		open_kind(k, &conf);
		message(LEN, false, 0);
		assert_int_equal(sim_ops[WIRE_SHARE], 0);
		close_kind();
	}
}

/* Each side may forbid it: FI_HMEM_P2P_DISABLED. */
static void test_not_shared(void **state)
{
	int p2p = FI_HMEM_P2P_DISABLED, side;

	for (side = 0; side < 2; side++) {
		open_kind(0, &near);
		assert_int_equal(fi_setopt(&w.node[side].ep->fid, FI_OPT_ENDPOINT, FI_OPT_FI_HMEM_P2P,
					   &p2p, sizeof(p2p)), 0);
		message(LEN, false, 0);
		rma(LEN);
		assert_int_equal(sim_ops[WIRE_SHARE], 0);
		assert_true(sim_ops[WIRE_DATA] > 1);
		close_kind();
	}
}

/* Memory that has no handle goes as DATA. */
static void test_no_handle(void **state)
{
	open_kind(0, &near);
	fakegpu_plan(libs[0], "cuIpcGetMemHandle", 1);
	message(LEN, false, 0);
	rma(LEN);
	fakegpu_plan(libs[0], "", 0);
	assert_int_equal(sim_ops[WIRE_SHARE], 0);
	message(LEN, true, 0);
	rma(LEN);
	close_kind();
}

/* ---- reads and writes of one host ------------------------------------------------------- */

/* Of long ones no byte goes by the link: a write, and a read into memory of a device. */
static void test_shared_rma(void **state)
{
	void *desc;
	int k;

	for (k = 0; k < 3; k++) {
		open_kind(k, &near);
		desc = fi_mr_desc(mr_from);
		put(from, LEN);
		assert_int_equal(fi_write(a->ep, from, LEN, desc, 1, 0, KEY, &ctx[0]), 0);
		done(a, &ctx[0]);
		check(to, LEN);
		put(to, LEN);
		assert_int_equal(fi_read(a->ep, from, LEN, desc, 1, 0, KEY, &ctx[0]), 0);
		done(a, &ctx[0]);
		check(from, LEN);
		assert_int_equal(sim_ops[WIRE_SHARE], 2);
		assert_int_equal(sim_ops[WIRE_DATA], 0);
		assert_int_equal(sim_ops[WIRE_WRITE], 1);
		rma(5000);
		assert_int_equal(sim_ops[WIRE_SHARE], 2);
		close_kind();
		open_kind(k, &conf);
		rma(LEN);
		assert_int_equal(sim_ops[WIRE_SHARE], 0);
		close_kind();
	}
}

/* What is posted behind such a write stays behind it. */
static void in_order(const struct sim_conf *how, unsigned shares)
{
	static char again[LEN];
	void *desc;
	struct comp c;
	int i;

	open_kind(0, how);
	desc = fi_mr_desc(mr_from);
	for (i = 0; i < 8; i++) {
		pattern_fill(again, LEN, seed + 1);
		put(from, LEN);
		assert_int_equal(fi_recv(b->ep, got, 8, NULL, FI_ADDR_UNSPEC, &ctx[1]), 0);
		assert_int_equal(fi_write(a->ep, host, 100, NULL, 1, 0, KEY, &ctx[0]), 0);
		assert_int_equal(fi_writedata(a->ep, from, LEN, desc, 77, 1, 0, KEY, &ctx[2]), 0);
		assert_int_equal(fi_write(a->ep, again, 4096, NULL, 1, 4096, KEY, &ctx[3]), 0);
		assert_int_equal(fi_write(a->ep, from, LEN, desc, 1, 0, KEY, &ctx[4]), 0);
		assert_int_equal(fi_inject(a->ep, again, 8, 1), 0);
		wait_comp(b, &c);
		assert_int_equal(c.err, 0);
		assert_true(c.e.flags & FI_REMOTE_CQ_DATA);
		assert_int_equal(c.e.data, 77);
		assert_int_equal(c.e.len, LEN);
		done(b, &ctx[1]);
		check(to, LEN);		/* when the message is here */
		done(a, &ctx[0]);
		done(a, &ctx[2]);
		done(a, &ctx[3]);
		done(a, &ctx[4]);
	}
	assert_int_equal(sim_ops[WIRE_SHARE], shares);
	close_kind();
}

static void test_order(void **state)
{
	in_order(&conf, 0);
	in_order(&near, 16);
	in_order(&near_rough, 16);
	fakegpu_plan(libs[0], "cuIpcGetMemHandle", 1);	/* announced, and sent as DATA */
	in_order(&near, 0);
	in_order(&near_rough, 0);
	fakegpu_plan(libs[0], "", 0);
}

/* The target's memory is the host's, or in several pieces, or the local list is. */
static void test_other_places(void **state)
{
	static char plain[LEN];
	struct iovec parts[3] = { { plain, 1000 }, { plain + 1000, 300000 }, { plain + 301000, LEN - 301000 } };
	struct iovec list[2];
	struct fi_mr_attr attr = { .mr_iov = parts, .iov_count = 3, .requested_key = 33,
				   .access = FI_REMOTE_READ | FI_REMOTE_WRITE };
	void *descs[2];
	struct fid_mr *mr;

	open_kind(0, &near);
	list[0] = (struct iovec) { from, LEN / 2 };
	list[1] = (struct iovec) { from + LEN / 2, LEN - LEN / 2 };
	descs[0] = descs[1] = fi_mr_desc(mr_from);
	assert_int_equal(fi_mr_regattr(w.domain, &attr, 0, &mr), 0);
	put(from, LEN);
	assert_int_equal(fi_write(a->ep, from, LEN, descs[0], 1, 0, 33, &ctx[0]), 0);
	done(a, &ctx[0]);
	assert_true(pattern_ok(plain, LEN, seed));
	pattern_fill(plain, LEN, ++seed);
	assert_int_equal(fi_read(a->ep, from, LEN, descs[0], 1, 0, 33, &ctx[0]), 0);
	done(a, &ctx[0]);
	check(from, LEN);
	put(from, LEN);
	assert_int_equal(fi_writev(a->ep, list, descs, 2, 1, 0, KEY, &ctx[0]), 0);
	done(a, &ctx[0]);
	check(to, LEN);
	put(to, LEN);
	assert_int_equal(fi_readv(a->ep, list, descs, 2, 1, 0, KEY, &ctx[0]), 0);
	done(a, &ctx[0]);
	check(from, LEN);
	assert_int_equal(sim_ops[WIRE_SHARE], 0);
	assert_int_equal(fi_close(&mr->fid), 0);
	close_kind();
}

/* One that is refused holds up nothing. */
static void test_refused(void **state)
{
	void *desc;

	open_kind(0, &near);
	desc = fi_mr_desc(mr_from);
	put(from, LEN);
	assert_int_equal(fi_write(a->ep, from, LEN, desc, 1, 0, KEY + 50, &ctx[0]), 0);
	assert_int_equal(fi_write(a->ep, from, LEN, desc, 1, 1, KEY, &ctx[1]), 0);
	assert_int_equal(fi_read(a->ep, from, LEN, desc, 1, 1, KEY, &ctx[2]), 0);
	assert_int_equal(fi_write(a->ep, from, LEN, desc, 1, 0, KEY, &ctx[3]), 0);
	node_expect_err(&w, a, &ctx[0], FI_ENOKEY);
	node_expect_err(&w, a, &ctx[1], FI_EINVAL);
	node_expect_err(&w, a, &ctx[2], FI_EINVAL);
	done(a, &ctx[3]);
	check(to, LEN);
	close_kind();
}

/* ---- ends ------------------------------------------------------------------------------------ */

/* An endpoint closes while copies are in flight; the other one learns it. */
static void test_close_in_the_middle(void **state)
{
	int k, turns;

	for (k = 0; k < 3; k++)
		for (turns = 0; turns < 12; turns++) {
			int i;

			open_kind(k, turns % 2 ? &near : &conf);
			assert_int_equal(fi_recv(b->ep, to, LEN, fi_mr_desc(mr_to), FI_ADDR_UNSPEC,
						 &ctx[1]), 0);
			assert_int_equal(fi_send(a->ep, from, LEN, fi_mr_desc(mr_from), 1, &ctx[0]), 0);
			assert_int_equal(fi_read(a->ep, from, LEN / 2, fi_mr_desc(mr_from), 1, 0, KEY,
						 &ctx[2]), 0);
			assert_int_equal(fi_write(a->ep, from, LEN, fi_mr_desc(mr_from), 1, 0, KEY,
						  &ctx[3]), 0);
			assert_int_equal(fi_write(a->ep, from, 8, fi_mr_desc(mr_from), 1, 0, KEY,
						  &ctx[4]), 0);
			for (i = 0; i < turns * 5; i++)
				world_poll(&w);
			node_close(&w, turns / 2 % 2);
			node_open(&w, turns / 2 % 2);
			world_settle(&w);
			close_kind();
		}
}

/* A region may close while a peer reads or writes it: @turns after that has begun. */
static void region_closes(const struct sim_conf *how, bool write, int turns)
{
	void *desc;
	struct comp c;

	open_kind(0, how);
	desc = fi_mr_desc(mr_from);
	put(from, LEN);
	assert_int_equal(write ? fi_write(a->ep, from, LEN, desc, 1, 0, KEY, &ctx[0]) :
			 fi_read(a->ep, from, LEN, desc, 1, 0, KEY, &ctx[0]), 0);
	while (turns--)
		world_poll(&w);
	assert_int_equal(fi_close(&mr_to->fid), 0);
	wait_comp(a, &c);
	assert_ptr_equal(c.e.op_context, &ctx[0]);
	mr_to = reg(to, KEY);
	message(LEN, false, 0);
	rma(LEN);
	close_kind();
}

static void test_region_closes(void **state)
{
	int turns;

	for (turns = 0; turns < 8; turns++) {
		region_closes(&conf, false, turns);
		region_closes(&conf, true, turns);
		region_closes(&near, false, turns);
		region_closes(&near, true, turns);
	}
}

/* ---- failing calls ------------------------------------------------------------------------------ */

/* expect_end - one completion of @context: a success, or FI_EIO.  Returns true for a success. */
static bool expect_end(struct node *n, const void *context)
{
	struct comp c;

	wait_comp(n, &c);
	assert_ptr_equal(c.err ? c.e.op_context : c.e.op_context, context);
	assert_true(!c.err || c.err == FI_EIO);
	return !c.err;
}

static void failing_message(size_t len, bool unexpected)
{
	int ret;

	if (!unexpected)
		assert_int_equal(fi_recv(b->ep, to, LEN, fi_mr_desc(mr_to), FI_ADDR_UNSPEC, &ctx[1]), 0);
	ret = (int) fi_send(a->ep, from, len, fi_mr_desc(mr_from), 1, &ctx[0]);
	assert_true(!ret || ret == -FI_EIO);
	if (ret) {
		if (!unexpected) {
			assert_int_equal(fi_cancel(&b->ep->fid, &ctx[1]), 0);
			node_expect_err(&w, b, &ctx[1], FI_ECANCELED);
		}
		return;
	}
	if (unexpected) {
		world_settle(&w);
		assert_int_equal(fi_recv(b->ep, to, LEN, fi_mr_desc(mr_to), FI_ADDR_UNSPEC, &ctx[1]), 0);
	}
	expect_end(b, &ctx[1]);
	expect_end(a, &ctx[0]);
}

static void failing_rma(size_t len)
{
	void *desc = fi_mr_desc(mr_from);
	int ret;

	ret = (int) fi_write(a->ep, from, len, desc, 1, 0, KEY, &ctx[0]);
	assert_true(!ret || ret == -FI_EIO);
	if (!ret)
		expect_end(a, &ctx[0]);
	assert_int_equal(fi_read(a->ep, from, len, desc, 1, 0, KEY, &ctx[0]), 0);
	expect_end(a, &ctx[0]);
	ret = (int) fi_fetch_atomic(a->ep, from, 4, desc, from + 4096, desc, 1, 0, KEY, FI_UINT64,
				    FI_SUM, &ctx[0]);
	assert_true(!ret || ret == -FI_EIO);
	if (!ret)
		expect_end(a, &ctx[0]);
}

/* Each n-th call fails.  Every operation ends once, and afterwards all is as before. */
static void failing_calls(const struct sim_conf *how)
{
	unsigned long n;
	int k;

	for (k = 0; k < 3; k++) {
		open_kind(k, how);
		message(100, false, 0);
		for (n = 1; n < 24; n++) {
			fakegpu_plan(libs[k], "*", n);
			failing_message(50, false);
			failing_message(5000, true);
			failing_message(60000, false);
			failing_message(LEN, false);
			failing_message(LEN, true);
			failing_rma(5000);
			failing_rma(LEN);
			fakegpu_plan(libs[k], "", 0);
			world_settle(&w);
			message(LEN, false, 0);
			rma(60000);
			rma(LEN);
		}
		close_kind();
	}
}

static void test_failing_calls(void **state)
{
	failing_calls(&conf);
	failing_calls(&near);
	failing_calls(&whole);
}

/* The error entry's text names the call and the device. */
static void test_error_names_call(void **state)
{
	struct fi_cq_err_entry e = { 0 };
	struct comp c;
	char text[200];

	open_kind(0, &conf);
	assert_int_equal(fi_recv(b->ep, to, LEN, fi_mr_desc(mr_to), FI_ADDR_UNSPEC, &ctx[1]), 0);
	pattern_fill(host, LEN, ++seed);
	fakegpu_plan(libs[0], "cuMemcpyHtoDAsync", 1);
	assert_int_equal(fi_send(a->ep, host, LEN, NULL, 1, &ctx[0]), 0);
	while (fi_cq_read(b->cq, &c.e, 1) != -FI_EAVAIL)
		world_poll(&w);
	assert_int_equal(fi_cq_readerr(b->cq, &e, 0), 1);
	assert_int_equal(e.err, FI_EIO);
	assert_non_null(fi_cq_strerror(b->cq, e.prov_errno, e.err_data, text, sizeof(text)));
	assert_non_null(strstr(text, "cuMemcpyHtoDAsync"));
	assert_non_null(strstr(text, "device 1"));
	done(a, &ctx[0]);
	fakegpu_plan(libs[0], "", 0);
	message(LEN, false, 0);
	close_kind();
}

/* ---- registration --------------------------------------------------------------------------------- */

static void test_registration(void **state)
{
	struct iovec iov = { got, sizeof(got) };
	struct fi_mr_attr attr = { .mr_iov = &iov, .iov_count = 1, .access = FI_SEND,
				   .requested_key = 99 };
	struct fid_mr *mr;

	/* not of the device, of an interface that is not there, of contradicting flags */
	open_kind(0, &conf);
	device_attr(&attr);
	assert_int_equal(fi_mr_regattr(w.domain, &attr, 0, &mr), -FI_EINVAL);
	iov.iov_base = from;
	attr.iface = FI_HMEM_NEURON;
	assert_int_equal(fi_mr_regattr(w.domain, &attr, 0, &mr), -FI_EOPNOTSUPP);
	device_attr(&attr);
	assert_int_equal(fi_mr_regattr(w.domain, &attr, FI_HMEM_DEVICE_ONLY | FI_HMEM_HOST_ALLOC, &mr),
			 -FI_EINVAL);
	close_kind();
	/* without FI_HMEM: never as if it were the host's */
	world_open(&w, 2, 3, &conf);
	assert_int_equal(fi_mr_regattr(w.domain, &attr, 0, &mr), -FI_EOPNOTSUPP);
	world_close(&w);
}

static void test_options(void **state)
{
	int p2p = FI_HMEM_P2P_REQUIRED;
	bool permitted = false;
	size_t len = sizeof(p2p);

	open_kind(0, &conf);
	assert_int_equal(fi_setopt(&a->ep->fid, FI_OPT_ENDPOINT, FI_OPT_FI_HMEM_P2P, &p2p, sizeof(p2p)),
			 -FI_EOPNOTSUPP);
	p2p = FI_HMEM_P2P_DISABLED;
	assert_int_equal(fi_setopt(&a->ep->fid, FI_OPT_ENDPOINT, FI_OPT_FI_HMEM_P2P, &p2p, sizeof(p2p)),
			 0);
	p2p = 99;
	assert_int_equal(fi_setopt(&a->ep->fid, FI_OPT_ENDPOINT, FI_OPT_FI_HMEM_P2P, &p2p, sizeof(p2p)),
			 -FI_EINVAL);
	assert_int_equal(fi_getopt(&a->ep->fid, FI_OPT_ENDPOINT, FI_OPT_FI_HMEM_P2P, &p2p, &len), 0);
	assert_int_equal(p2p, FI_HMEM_P2P_DISABLED);
	assert_int_equal(fi_setopt(&a->ep->fid, FI_OPT_ENDPOINT, FI_OPT_CUDA_API_PERMITTED, &permitted,
				   sizeof(permitted)), -FI_EOPNOTSUPP);
	permitted = true;
	assert_int_equal(fi_setopt(&a->ep->fid, FI_OPT_ENDPOINT, FI_OPT_CUDA_API_PERMITTED, &permitted,
				   sizeof(permitted)), 0);
	message(LEN, false, 0);
	close_kind();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_operations),
		cmocka_unit_test(test_operations_rough),
		cmocka_unit_test(test_operations_same_host),
		cmocka_unit_test(test_shared),
		cmocka_unit_test(test_not_shared),
		cmocka_unit_test(test_no_handle),
		cmocka_unit_test(test_shared_rma),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_other_places),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_close_in_the_middle),
		cmocka_unit_test(test_region_closes),
		cmocka_unit_test(test_discarded),
		cmocka_unit_test(test_failing_calls),
		cmocka_unit_test(test_error_names_call),
		cmocka_unit_test(test_registration),
		cmocka_unit_test(test_options),
	};

	setenv("FAKEGPU_DELAY_US", "20", 0);
	fakegpu_use(argv);
	hmem_start();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Every operation with buffers in memory of a device, of each kind, over tests/fakegpu, where
 * the CPU cannot touch it.
 */
#include "engine/hmem/test/dev.h"

static const size_t lens[] = { 1, 100, 5000, 60000, 70000, LEN };
#define LENS (sizeof(lens) / sizeof(lens[0]))

/* ---- messages ---------------------------------------------------------------------------- */

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

/* writes_done - those of ctx[0], ctx[2], ctx[3] and ctx[4]: a long one is complete when the peer has answered, others
 * before.
 */
static void writes_done(void)
{
	unsigned seen = 0;
	struct comp c;

	while (seen != 0x1d) {
		wait_comp(a, &c);
		assert_int_equal(c.err, 0);
		seen |= 1u << ((struct fi_context2 *) c.e.op_context - ctx);
	}
	node_none(&w, a);
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
		writes_done();
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
		cmocka_unit_test(test_discarded),
		cmocka_unit_test(test_registration),
		cmocka_unit_test(test_options),
	};

	setenv("FAKEGPU_DELAY_US", "20", 0);
	fakegpu_use(argv);
	hmem_start();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

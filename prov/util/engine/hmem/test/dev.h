/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* dev.h - two nodes of the simulator whose buffers are in memory of a device of tests/fakegpu. */
#ifndef ENGINE_HMEM_TEST_DEV_H
#define ENGINE_HMEM_TEST_DEV_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "base/test/verify.h"

#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>

#include "../../../../../fabtests/common/device.h"
#include "../../../../../tests/fakegpu/use.h"
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

/* message - one of @len bytes from a to b, with its completions.  rma - a write and a read. */
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

#endif

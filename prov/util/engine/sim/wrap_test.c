/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Lengths that reach beyond the address space, in each call that takes a length or a list. */
#include "engine/sim/case.h"

#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>

#define HIGH ((void *) (UINTPTR_MAX - 10))
#define FAR (UINT64_MAX - 10)

static struct iovec sums[2] = { { in[0], SIZE_MAX }, { in[0], 2 } };
static struct iovec ends[1] = { { HIGH, 100 } };

static void messages(void **arg)
{
	struct fi_msg msg = { .msg_iov = sums, .iov_count = 2, .addr = 1 };
	struct fi_msg_tagged tagged = { .msg_iov = sums, .iov_count = 2, .addr = 1 };

	connected();
	assert_int_equal(fi_send(a->ep, in[0], SIZE_MAX, NULL, 1, &ctx[0]), -FI_EINVAL);
	assert_int_equal(fi_tsend(a->ep, in[0], SIZE_MAX, NULL, 1, 5, &ctx[0]), -FI_EINVAL);
	assert_int_equal(fi_inject(a->ep, in[0], SIZE_MAX, 1), -FI_EINVAL);
	assert_int_equal(fi_sendv(a->ep, sums, NULL, 2, 1, &ctx[0]), -FI_EINVAL);
	assert_int_equal(fi_sendv(a->ep, ends, NULL, 1, 1, &ctx[0]), -FI_EINVAL);
	assert_int_equal(fi_tsendv(a->ep, sums, NULL, 2, 1, 5, &ctx[0]), -FI_EINVAL);
	assert_int_equal(fi_sendmsg(a->ep, &msg, 0), -FI_EINVAL);
	assert_int_equal(fi_tsendmsg(a->ep, &tagged, 0), -FI_EINVAL);
	assert_int_equal(fi_recv(a->ep, in[0], SIZE_MAX, NULL, FI_ADDR_UNSPEC, &ctx[0]), -FI_EINVAL);
	assert_int_equal(fi_trecv(a->ep, in[0], SIZE_MAX, NULL, FI_ADDR_UNSPEC, 5, 0, &ctx[0]),
			 -FI_EINVAL);
	assert_int_equal(fi_recvv(a->ep, sums, NULL, 2, FI_ADDR_UNSPEC, &ctx[0]), -FI_EINVAL);
	assert_int_equal(fi_recvv(a->ep, ends, NULL, 1, FI_ADDR_UNSPEC, &ctx[0]), -FI_EINVAL);
	assert_int_equal(fi_trecvv(a->ep, sums, NULL, 2, FI_ADDR_UNSPEC, 5, 0, &ctx[0]), -FI_EINVAL);
	assert_int_equal(fi_recvmsg(a->ep, &msg, 0), -FI_EINVAL);
	assert_int_equal(fi_trecvmsg(a->ep, &tagged, 0), -FI_EINVAL);
}

static void remote_memory(void **arg)
{
	struct fi_rma_iov wide[2] = { { 0, SIZE_MAX, 1 }, { 0, 2, 1 } }, turned[2] = { wide[1], wide[0] };
	struct fi_rma_iov end = { FAR, 100, 1 };
	struct iovec one = { out[0], 100 };
	struct fi_msg_rma msg = { .msg_iov = sums, .iov_count = 2, .addr = 1, .rma_iov = wide,
				  .rma_iov_count = 2 };

	connected();
	assert_int_equal(fi_write(a->ep, in[0], 100, NULL, 1, FAR, 1, &ctx[0]), -FI_EINVAL);
	assert_int_equal(fi_inject_write(a->ep, in[0], 100, 1, FAR, 1), -FI_EINVAL);
	assert_int_equal(fi_read(a->ep, in[0], 100, NULL, 1, FAR, 1, &ctx[0]), -FI_EINVAL);
	assert_int_equal(fi_writev(a->ep, sums, NULL, 2, 1, 0, 1, &ctx[0]), -FI_EINVAL);
	assert_int_equal(fi_readv(a->ep, ends, NULL, 1, 1, 0, 1, &ctx[0]), -FI_EINVAL);
	assert_int_equal(fi_writemsg(a->ep, &msg, 0), -FI_EINVAL);
	assert_int_equal(fi_readmsg(a->ep, &msg, 0), -FI_EINVAL);
	/* the local list is fine, in whatever order the remote one wraps */
	msg.msg_iov = &one;
	msg.iov_count = 1;
	assert_int_equal(fi_writemsg(a->ep, &msg, 0), -FI_EINVAL);
	msg.rma_iov = turned;
	assert_int_equal(fi_writemsg(a->ep, &msg, 0), -FI_EINVAL);
	assert_int_equal(fi_readmsg(a->ep, &msg, 0), -FI_EINVAL);
	msg.rma_iov = &end;
	msg.rma_iov_count = 1;
	assert_int_equal(fi_writemsg(a->ep, &msg, 0), -FI_EINVAL);
	assert_int_equal(fi_readmsg(a->ep, &msg, 0), -FI_EINVAL);
}

static void atomics(void **arg)
{
	struct fi_ioc sum[2] = { { in[0], SIZE_MAX }, { in[0], 2 } };
	struct fi_rma_ioc remote = { 0, 1, 1 }, wide[2] = { { 0, SIZE_MAX / 8, 1 }, { 0, 2, 1 } };
	struct fi_msg_atomic msg = { .msg_iov = sum, .iov_count = 2, .addr = 1, .rma_iov = &remote,
				     .rma_iov_count = 1, .datatype = FI_UINT64, .op = FI_SUM };

	connected();
	assert_int_equal(fi_atomic(a->ep, in[0], SIZE_MAX, NULL, 1, 0, 1, FI_UINT64, FI_SUM, &ctx[0]),
			 -FI_EINVAL);
	assert_int_equal(fi_atomic(a->ep, in[0], (size_t) 1 << 61, NULL, 1, 0, 1, FI_UINT64, FI_SUM,
				   &ctx[0]), -FI_EINVAL);
	assert_int_equal(fi_atomic(a->ep, in[0], 2, NULL, 1, UINT64_MAX - 7, 1, FI_UINT64, FI_SUM,
				   &ctx[0]), -FI_EINVAL);
	assert_int_equal(fi_atomicmsg(a->ep, &msg, 0), -FI_EINVAL);
	sum[0].count = 2;
	msg.iov_count = 1;
	msg.rma_iov = wide;
	msg.rma_iov_count = 2;
	assert_int_equal(fi_atomicmsg(a->ep, &msg, 0), -FI_EINVAL);
}

/* The whole address space is a region, as SHMEM wants it; a byte beyond its end is not. */
static void regions(void **arg)
{
	struct fid_mr *mr;

	assert_int_equal(fi_mr_reg(w.domain, HIGH, 100, FI_REMOTE_READ, 0, 7, 0, &mr, NULL), -FI_EINVAL);
	assert_int_equal(fi_mr_reg(w.domain, in[0], SIZE_MAX, FI_REMOTE_READ, 0, 7, 0, &mr, NULL),
			 -FI_EINVAL);
	assert_int_equal(fi_mr_regv(w.domain, sums, 2, FI_REMOTE_READ, 0, 7, 0, &mr, NULL), -FI_EINVAL);
	assert_int_equal(fi_mr_reg(w.domain, NULL, SIZE_MAX, FI_REMOTE_READ, 0, 7, 0, &mr, NULL), 0);
	assert_int_equal(fi_close(&mr->fid), 0);
}

int main(void)
{
#define W(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = { W(messages), W(remote_memory), W(atomics), W(regions) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

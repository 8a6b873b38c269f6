/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Endpoints of the provider on the real libmlx5, with a kernel (mlx5_kernel.h) and a device
 * (mlx5_model.h) that are fakes, and without connections (mlx5_cm.h): the state is set by the test.
 * The same program runs the direct path and the library, so that "mlx5_ep_test count direct|post"
 * compares what they cost.  Skips without libmlx5.
 */
#include "mlx5_ends.h"

#include <stdio.h>
#include <stdlib.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cq_time.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include "base/clock.h"
#include "mlx5_compare.h"
#include "obj/test/log_catch.h"

static struct end d;

/* What writes only: to whom it is does not matter. */
static void run_one(struct end *e)
{
	struct model_wqe x;

	while (model_step(&e->model, &b.model, &x))
		;
	assert_null(model_fault);
}

static struct fi_cq_data_entry taken(struct end *e)
{
	struct fi_cq_data_entry entry;

	assert_int_equal(fi_cq_read(e->cq, &entry, 1), 1);
	return entry;
}

static void nothing(struct end *e)
{
	struct fi_cq_data_entry entry;

	assert_int_equal(fi_cq_read(e->cq, &entry, 1), -FI_EAGAIN);
}

/* ---- cases ---------------------------------------------------------------------- */

static void is_direct(void **state)
{
	assert_true(vrb_ep_of(a.ep)->direct);
	assert_string_equal(vrb_ep_of(a.ep)->sq.ops->name, "direct");
	assert_string_equal(vrb_ep_of(a.ep)->cq->ops->name, "direct");
}

static void messages(void **state)
{
	static const size_t sizes[] = { 0, 1, 8, 31, 32, 33, 64, 200, 256, 257, 4096, SIZE };
	void *desc = fi_mr_desc(mr);
	struct fi_cq_data_entry e;
	unsigned i, k;

	for (k = 0; k < 2000; k++) {
		i = k % (sizeof(sizes) / sizeof(sizes[0]));
		memset(a.buf, (int) k, SIZE);
		memset(b.buf, 0, SIZE);
		assert_int_equal(fi_recv(b.ep, b.buf, SIZE, desc, 0, &b), 0);
		assert_int_equal(fi_senddata(a.ep, a.buf, sizes[i], desc, k, 0, &a), 0);
		run_device();
		e = taken(&a);
		assert_ptr_equal(e.op_context, &a);
		e = taken(&b);
		assert_ptr_equal(e.op_context, &b);
		assert_int_equal(e.len, sizes[i]);
		assert_int_equal(e.data, k);
		assert_memory_equal(a.buf, b.buf, sizes[i]);
		assert_true(sizes[i] == SIZE || !b.buf[sizes[i]]);
	}
	nothing(&a);
	nothing(&b);
}

/* A single short request is written into the register, one of two buffers in turn. */
static void into_the_register(void **state)
{
	struct mlx5_sq *sq = &vrb_ep_of(a.ep)->mlx5.sq;
	unsigned i;

	assert_true(sq->reg->size >= 2 * MLX5_BB);
	for (i = 0; i < 6; i++) {
		char *reg = sq->doorbell + sq->reg->at;

		assert_int_equal(fi_write(a.ep, a.buf, 30, NULL, 0, (uintptr_t) b.buf, KERNEL_KEY,
					  NULL), 0);
		assert_memory_equal(reg, sq->buf + (size_t) sq->last * MLX5_BB, MLX5_BB);
		assert_ptr_not_equal(reg, sq->doorbell + sq->reg->at);
		run_device();
		taken(&a);
	}
}

/* Two endpoints of one completion queue, until one closes. */
static void closing_beside(void **state)
{
	unsigned i;

	memset(&c, 0, sizeof(c));
	c.cq = a.cq;
	open_ep(&c);
	assert_ptr_equal(vrb_ep_of(a.ep)->cq, vrb_ep_of(c.ep)->cq);
	assert_ptr_equal(vrb_ep_of(a.ep)->mlx5.sq.reg, vrb_ep_of(c.ep)->mlx5.sq.reg);
	c.model.cq = &a.model_cq;
	for (i = 0; i < 300; i++) {
		assert_int_equal(fi_write(i % 3 ? c.ep : a.ep, a.buf, 30, NULL, 0,
					  (uintptr_t) b.buf, KERNEL_KEY, NULL), 0);
		run_device();
		run_one(&c);
		if (i < 297)
			taken(&a);	/* the last stay in the queue while one closes */
	}
	close_ep(&c);
	for (i = 0; i < 3; i++)
		taken(&a);
	nothing(&a);
	messages(state);
}

/* ---- shared receives ------------------------------------------------------------ */

#define SHARED_BUFS 16u

static char inbox[SHARED_BUFS][512];

static void open_shared(struct fid_ep **srx_p, struct model_srq *shared)
{
	struct fi_rx_attr attr = { .size = 100, .op_flags = FI_COMPLETION };
	const struct kernel_srq *k = &kernel_srqs[kernel_srq_cnt];

	assert_int_equal(fi_srx_context(domain, &attr, srx_p, NULL), 0);
	*shared = (struct model_srq) { k->buf, k->cnt, k->stride, k->dbrec, 0, 0 };
	assert_true(vrb_ep_of(*srx_p)->mlx5_srq.wr_id != NULL);
	memset(&c, 0, sizeof(c));
	memset(&d, 0, sizeof(d));
	c.srx = d.srx = *srx_p;
	c.shared = d.shared = shared;
	open_end(&c);
	d.cq = c.cq;
	open_ep(&d);
	d.model.cq = &c.model_cq;
	assert_true(vrb_ep_of(c.ep)->direct && vrb_ep_of(d.ep)->direct);
}

/* One of @at's turn: to one of the two, which takes the next buffer of both. */
static void to_shared(unsigned at, size_t len)
{
	struct end *from = at % 3 ? &a : &b, *to = at % 3 ? &c : &d;
	char *in = inbox[at % SHARED_BUFS];
	struct fi_cq_data_entry e;
	struct model_wqe x;

	memset(from->buf, (int) at, len);
	memset(in, 0, sizeof(inbox[0]));
	assert_int_equal(fi_senddata(from->ep, from->buf, len, fi_mr_desc(mr), at, 0, from), 0);
	assert_true(model_step(&from->model, &to->model, &x));
	assert_null(model_fault);
	taken(from);
	e = taken(&c);
	assert_ptr_equal(e.op_context, in);
	assert_int_equal(e.len, len);
	assert_int_equal(e.data, at);
	assert_memory_equal(in, from->buf, len);
	assert_int_equal(in[len], 0);
	assert_int_equal(fi_recv(c.srx, in, sizeof(inbox[0]), (void *) fi_mr_desc(mr), 0, in), 0);
}

static void shared_receives(void **state)
{
	struct model_srq shared;
	struct fid_ep *srx;
	unsigned i, room;

	open_shared(&srx, &shared);
	for (i = 0; i < SHARED_BUFS; i++)
		assert_int_equal(fi_recv(srx, inbox[i], sizeof(inbox[0]), fi_mr_desc(mr), 0,
					 inbox[i]), 0);
	for (i = 0; i < 5000; i++)
		to_shared(i, i * 7 % 500);
	/* It fills up, returns -FI_EAGAIN, and has room again when a request completes. */
	for (room = 0; !fi_recv(srx, inbox[0], 512, fi_mr_desc(mr), 0, inbox[0]); room++)
		;
	assert_true(room >= 100 - SHARED_BUFS && room < shared.cnt);
	assert_int_equal(fi_recv(srx, inbox[0], 512, fi_mr_desc(mr), 0, NULL), -FI_EAGAIN);
	to_shared(i, 100);
	close_ep(&d);
	close_end(&c);
	assert_int_equal(fi_close(&srx->fid), 0);
}

/* The doorbell is rung once for a burst, at its end, or when a call in it fails. */
static void burst(void **state)
{
	struct iovec iov = { a.buf, 8 };
	void *desc = fi_mr_desc(mr);
	struct fi_msg msg = { .msg_iov = &iov, .desc = &desc, .iov_count = 1 };
	unsigned i;

	for (i = 0; i < 8; i++) {
		assert_int_equal(fi_recv(b.ep, b.buf, SIZE, desc, 0, NULL), 0);
		assert_int_equal(fi_sendmsg(a.ep, &msg, i < 7 ? FI_MORE | FI_COMPLETION :
							 FI_COMPLETION), 0);
		run_device();
		assert_int_equal(b.model.received, i < 7 ? 0 : 8);
	}
	for (i = 0; i < 8; i++) {
		taken(&a);
		taken(&b);
	}
}

/* Requests with FI_MORE do not wait for a call that fails, for its length or as the queue is full. */
static void burst_refused(void **state)
{
	struct iovec iov = { a.buf, 8 };
	struct fi_rma_iov to = { (uintptr_t) b.buf, 8, KERNEL_KEY };
	struct fi_msg_rma msg = { .msg_iov = &iov, .iov_count = 1, .rma_iov = &to, .rma_iov_count = 1 };
	size_t depth = vrb_ep_of(a.ep)->tx_depth, inject = vrb_ep_of(a.ep)->inject_size, i, k;
	unsigned way;

	for (way = 0; way < 4; way++) {
		k = way < 2 ? 3 : depth;
		for (i = 0; i < k; i++)
			assert_int_equal(fi_writemsg(a.ep, &msg, FI_MORE | FI_COMPLETION), 0);
		run_device();
		nothing(&a);
		if (way == 0)
			assert_int_equal(fi_inject(a.ep, a.buf, inject + 1, 0), -FI_EMSGSIZE);
		else if (way == 1)
			assert_int_equal(fi_inject_write(a.ep, a.buf, inject + 1, 0, to.addr,
							 to.key), -FI_EMSGSIZE);
		else if (way == 2)
			assert_int_equal(fi_send(a.ep, a.buf, 8, NULL, 0, &a), -FI_EAGAIN);
		else
			assert_int_equal(fi_writemsg(a.ep, &msg, FI_MORE), -FI_EAGAIN);
		run_device();
		for (i = 0; i < k; i++)
			taken(&a);
		nothing(&a);
	}
}

static void remote_memory(void **state)
{
	void *desc = fi_mr_desc(mr);
	uint64_t *counter = (uint64_t *) b.buf + 100;
	struct fi_cq_data_entry e;
	uint64_t one = 1, old = 99;

	memset(a.buf, 'x', 5000);
	assert_int_equal(fi_write(a.ep, a.buf, 5000, desc, 0, (uintptr_t) b.buf + 8192, KERNEL_KEY,
				  NULL), 0);
	run_device();
	e = taken(&a);
	assert_true(e.flags & FI_WRITE);
	assert_memory_equal(a.buf, b.buf + 8192, 5000);

	memset(b.buf, 'y', 200);
	assert_int_equal(fi_read(a.ep, a.buf, 20, desc, 0, (uintptr_t) b.buf, KERNEL_KEY, NULL), 0);
	run_device();
	taken(&a);
	assert_memory_equal(a.buf, b.buf, 20);
	assert_int_equal(a.buf[20], 'x');

	*counter = 41;
	memcpy(a.buf, &old, 8);
	assert_int_equal(fi_fetch_atomic(a.ep, &one, 1, NULL, a.buf, desc, 0, (uintptr_t) counter,
					 KERNEL_KEY, FI_UINT64, FI_SUM, NULL), 0);
	run_device();
	taken(&a);
	memcpy(&old, a.buf, 8);
	assert_int_equal(old, 41);
	assert_int_equal(*counter, 42);
}

/* Each call that has a fast path, and the request that the device decodes. */
static int one_call(unsigned what, size_t len, void *desc, uint64_t to)
{
	switch (what) {
	case 0: return (int) fi_send(a.ep, a.buf, len, desc, 0, &a);
	case 1: return (int) fi_senddata(a.ep, a.buf, len, desc, 77, 0, &a);
	case 2: return (int) fi_inject(a.ep, a.buf, len, 0);
	case 3: return (int) fi_injectdata(a.ep, a.buf, len, 77, 0);
	case 4: return (int) fi_write(a.ep, a.buf, len, desc, 0, to, KERNEL_KEY, &a);
	case 5: return (int) fi_inject_write(a.ep, a.buf, len, 0, to, KERNEL_KEY);
	default: return (int) fi_read(a.ep, a.buf, len, desc, 0, to, KERNEL_KEY, &a);
	}
}

static void short_way(unsigned what, size_t len)
{
	static const unsigned ops[] = { 0x0a, 0x0b, 0x0a, 0x0b, 0x08, 0x08, 0x10 };
	void *desc = fi_mr_desc(mr);
	struct model_wqe x;

	if (what < 4)
		assert_int_equal(fi_recv(b.ep, b.buf, SIZE, desc, 0, &b), 0);
	assert_int_equal(one_call(what, len, desc, (uintptr_t) b.buf), 0);
	assert_true(model_step(&a.model, &b.model, &x));
	assert_null(model_fault);
	assert_int_equal(x.op, ops[what]);
	assert_int_equal(x.imm, what == 1 || what == 3 ? 77 : 0);
	assert_int_equal(x.addr, what < 4 ? 0 : (uintptr_t) b.buf);
	assert_int_equal(x.inline_len + x.len[0], len);
	assert_true(!x.inline_len || !memcmp(x.bytes, a.buf, len));
	assert_true(x.inline_len || !len || x.at[0] == (uintptr_t) a.buf);
	if (what < 4)
		assert_int_equal(taken(&b).len, len);
	if (what != 2 && what != 3 && what != 5)
		assert_ptr_equal(taken(&a).op_context, &a);
	else
		nothing(&a);
	assert_memory_equal(a.buf, b.buf, len);
}

static void short_ways(void **state)
{
	size_t len, inject = info->tx_attr->inject_size;
	unsigned what, i;

	for (what = 0; what < 7; what++)
		for (len = 0; len < 4 * MLX5_BB; len++) {
			for (i = 0; i < SIZE; i++) {
				a.buf[i] = (char) (i + len);
				b.buf[i] = (char) (what == 6 ? i : 0);
			}
			if (len <= inject || (what != 2 && what != 3 && what != 5))
				short_way(what, len);
			else
				assert_int_equal(one_call(what, len, NULL, 0), -FI_EMSGSIZE);
		}
}

/* ---- regions -------------------------------------------------------------------- */

static struct { uint64_t offset, iova; size_t len; int fd, access; } dmabuf_asked;
static unsigned reg_access;
static __typeof__(vrb_ibv.reg_mr) real_reg;

static struct ibv_mr *reg_dmabuf(struct ibv_pd *pd, uint64_t offset, size_t len, uint64_t iova,
				 int fd, int access)
{
	dmabuf_asked.offset = offset;
	dmabuf_asked.iova = iova;
	dmabuf_asked.len = len;
	dmabuf_asked.fd = fd;
	dmabuf_asked.access = access;
	return real_reg(pd, a.buf, 8, 0);
}

static void dmabuf(void **state)
{
	__typeof__(vrb_ibv.reg_dmabuf_mr) real = vrb_ibv.reg_dmabuf_mr;
	struct fi_mr_dmabuf buf = { .fd = 77, .offset = 4096, .len = 8192, .base_addr = a.buf };
	struct fi_mr_attr attr = { .dmabuf = &buf, .iov_count = 1, .access = FI_REMOTE_WRITE };
	struct fid_mr *region;

	real_reg = vrb_ibv.reg_mr;
	vrb_ibv.reg_dmabuf_mr = reg_dmabuf;
	assert_int_equal(fi_mr_regattr(domain, &attr, FI_MR_DMABUF, &region), 0);
	assert_int_equal(dmabuf_asked.fd, 77);
	assert_int_equal(dmabuf_asked.offset, 4096);
	assert_int_equal(dmabuf_asked.len, 8192);
	assert_int_equal(dmabuf_asked.iova, (uintptr_t) a.buf + 4096);
	assert_true(dmabuf_asked.access & IBV_ACCESS_REMOTE_WRITE);
	assert_int_equal(fi_mr_key(region), KERNEL_KEY);
	assert_int_equal(fi_close(&region->fid), 0);
	vrb_ibv.reg_dmabuf_mr = NULL;		/* an old library */
	assert_int_equal(fi_mr_regattr(domain, &attr, FI_MR_DMABUF, &region), -FI_EOPNOTSUPP);
	attr.dmabuf = NULL;
	assert_int_equal(fi_mr_regattr(domain, &attr, FI_MR_DMABUF, &region), -FI_EINVAL);
	vrb_ibv.reg_dmabuf_mr = real;
}

static struct ibv_mr *reg_noting(struct ibv_pd *pd, void *addr, size_t len, int access)
{
	reg_access = (unsigned) access;
	return real_reg(pd, addr, len, access & ~IBV_ACCESS_ON_DEMAND);
}

/* On-demand paging, of a device that claims it; that of this test does not. */
static void on_demand(void **state)
{
	struct vrb_domain *vrb = vrb_domain_of(obj_domain_of(domain));
	struct fid_mr *region;
	int i;

	assert_false(vrb->odp);
	real_reg = vrb_ibv.reg_mr;
	vrb_ibv.reg_mr = reg_noting;
	for (i = 0; i < 2; i++) {
		vrb->odp = i;
		assert_int_equal(fi_mr_reg(domain, a.buf, 100, FI_SEND, 0, 0, 0, &region, NULL), 0);
		assert_int_equal(!!(reg_access & IBV_ACCESS_ON_DEMAND), i);
		assert_int_equal(fi_close(&region->fid), 0);
	}
	vrb_ibv.reg_mr = real_reg;
}

static void wrong_key(void **state)
{
	struct fi_cq_data_entry entry;
	struct fi_cq_err_entry err = { 0 };

	assert_int_equal(fi_write(a.ep, a.buf, 5000, fi_mr_desc(mr), 0, (uintptr_t) b.buf,
				  KERNEL_KEY + 1, &a), 0);
	run_device();
	assert_int_equal(fi_cq_read(a.cq, &entry, 1), -FI_EAVAIL);
	assert_int_equal(fi_cq_readerr(a.cq, &err, 0), 1);
	assert_int_equal(err.err, FI_EACCES);
	assert_ptr_equal(err.op_context, &a);
	assert_int_equal(err.prov_errno, IBV_WC_REM_ACCESS_ERR);
}

/* The queue fills up, returns -FI_EAGAIN, and continues when there is room. */
static void full(void **state)
{
	struct fi_cq_data_entry entry;
	unsigned sent = 0, got = 0, round;
	ssize_t ret;

	for (round = 0; round < 20; round++) {
		while (!(ret = fi_write(a.ep, a.buf, 200, fi_mr_desc(mr), 0, (uintptr_t) b.buf,
					KERNEL_KEY, NULL)))
			sent++;
		assert_int_equal(ret, -FI_EAGAIN);
		run_device();
		while (fi_cq_read(a.cq, &entry, 1) == 1)
			got++;
		assert_int_equal(got, sent);
	}
	assert_true(sent >= 20 * info->tx_attr->size);
}

static void as_the_library(void **state)
{
	static const unsigned flags[] = { 0, IBV_SEND_SIGNALED | IBV_SEND_INLINE, IBV_SEND_SIGNALED |
					  IBV_SEND_FENCE | IBV_SEND_SOLICITED, IBV_SEND_INLINE };
	static const uint32_t sizes[] = { 0, 3, 12, 60, 200 };
	struct vrb_ep *ep = vrb_ep_of(a.ep);
	struct vrb_sq library = { 0 };
	struct ibv_sge sge[2] = { { (uintptr_t) a.buf, 0, KERNEL_KEY },
				  { (uintptr_t) a.buf + 1000, 7, KERNEL_KEY } };
	struct vrb_wr wr = { .imm = 0x12345678, .rkey = 0xabcd, .addr = 0x1122334455667788,
			     .operand = 7, .compare = 9, .sge = sge };
	unsigned i, k;

	memset(a.buf, 'z', SIZE);
	vrb_sq_init(&library, ep->qp, false, false);
	for (wr.op = VRB_OP_SEND; wr.op < VRB_OP_CNT; wr.op++)
		for (i = 0; i < 5; i++)
			for (k = 0; k < 4; k++) {
				wr.flags = flags[k];
				if (wr.op > VRB_OP_WRITE_IMM)
					wr.flags &= ~(unsigned) IBV_SEND_INLINE;
				sge[0].length = wr.op >= VRB_OP_ADD ? 8 : sizes[i];
				wr.sge_cnt = wr.op >= VRB_OP_ADD ? 1 : 1 + k % 2;
				compare_bytes(&ep->mlx5.sq, &library, &wr);
			}
	ep->mlx5.sq.rung = ep->mlx5.sq.next;
}

/* ---- what it costs -------------------------------------------------------------- */

/* For callgrind, which counts these functions. */
__attribute__((noinline)) void count_nothing(void);
__attribute__((noinline)) void count_send(void);
__attribute__((noinline)) void count_sent(void);
__attribute__((noinline)) void count_received(void);

/* What the others have that is not the library's. */
void count_nothing(void)
{
	assert_int_equal(a.buf != NULL, 1);
}

void count_send(void)
{
	assert_int_equal(fi_send(a.ep, a.buf, 8, NULL, 0, &a), 0);
}

void count_sent(void)
{
	struct fi_cq_data_entry entry;

	assert_int_equal(fi_cq_read(a.cq, &entry, 1), 1);
}

void count_received(void)
{
	struct fi_cq_data_entry entry;

	assert_int_equal(fi_cq_read(b.cq, &entry, 1), 1);
}

static int count(void)
{
	unsigned i;

	set_up(NULL);
	for (i = 0; i < 1000; i++) {
		fi_recv(b.ep, b.buf, SIZE, fi_mr_desc(mr), 0, &b);
		count_nothing();
		count_send();
		run_device();
		count_sent();
		count_received();
	}
	tear_down(NULL);
	return 0;
}

/* ---- start ---------------------------------------------------------------------- */

static void run_pair(struct end *from, struct end *to)
{
	struct model_wqe x;

	while (model_step(&from->model, &to->model, &x) || model_step(&to->model, &from->model, &x))
		;
	assert_null(model_fault);
}

static void is_at(struct end *e, struct fi_ops_cq_time *ops, unsigned nth)
{
	struct fi_cq_data_entry entry[2];
	struct fi_cq_time t[2] = { { 0 } };

	assert_int_equal(fi_cq_readtime(ops, e->cq, entry, 2, t), 1);
	assert_int_equal(t[0].clock, FI_CQ_CLOCK_DEVICE);
	assert_int_equal(t[0].ns, nth * UINT64_C(1000000) * MODEL_TICKS / KERNEL_CLOCK_KHZ);
	assert_int_equal(fi_cq_readtime(ops, e->cq, entry, 2, t), -FI_EAGAIN);
}

/* A queue with times has those of the device, and its endpoint is not direct; beside one that
 * is, whose queue gets times too late for it: they are the host's.
 */
static void times(void **state)
{
	struct fi_cq_attr attr = { .format = FI_CQ_FORMAT_DATA };
	struct fi_ops_cq_time *ops, *late;
	struct fi_cq_data_entry entry;
	struct fi_cq_time t;
	void *desc = fi_mr_desc(mr);
	uint64_t before = clock_ns();
	unsigned i;

	memset(&c, 0, sizeof(c));
	assert_int_equal(fi_cq_open(domain, &attr, &c.cq, NULL), 0);
	assert_int_equal(fi_cq_open_time(c.cq, &ops), 0);
	open_ep(&c);
	assert_string_equal(vrb_ep_of(c.ep)->sq.ops->name, "extended");
	assert_int_equal(fi_cq_open_time(b.cq, &late), 0);
	for (i = 0; i < 2000; i++) {
		assert_int_equal(fi_recv(b.ep, b.buf, SIZE, desc, 0, &b), 0);
		assert_int_equal(fi_send(c.ep, a.buf, 8, desc, 0, &c), 0);
		run_pair(&c, &b);
		is_at(&c, ops, 2 * i + 1);
		assert_int_equal(fi_cq_readtime(late, b.cq, &entry, 1, &t), 1);
		assert_int_equal(t.clock, FI_CQ_CLOCK_HOST);
		assert_in_range(t.ns, before, clock_ns());
		assert_int_equal(fi_recv(c.ep, a.buf, SIZE, desc, 0, &b), 0);
		assert_int_equal(fi_inject(b.ep, b.buf, 8, 0), 0);
		run_pair(&b, &c);
		is_at(&c, ops, 2 * i + 2);
	}
	close_end(&c);
}

/* Reading an event queue logs asynchronous events of the device; after its removal its descriptor
 * wakes no thread any more.
 */
static void says(uint32_t what, uint32_t about, const char *text)
{
	struct fi_eq_err_entry entry;
	uint32_t event;

	kernel_say(what, about);
	assert_int_equal(fi_eq_read(b.eq, &event, &entry, sizeof(entry), 0), -FI_EAGAIN);
	assert_non_null(catch_find(text));
}

static void by_itself(void **state)
{
	struct obj_prog *prog = vrb_ep_of(b.ep)->base.cm.prog;
	struct fi_eq_err_entry entry;
	uint32_t event;

	assert_int_equal(catch_start(), 0);
	says(IBV_EVENT_PORT_ERR, 1, "port 1 of device mlx5_0 is down");
	says(IBV_EVENT_PORT_ACTIVE, 1, "port 1 of device mlx5_0 is up again");
	says(IBV_EVENT_GID_CHANGE, 1, "device mlx5_0 reports: ");
	says(IBV_EVENT_DEVICE_FATAL, 0, "device mlx5_0 reports: ");
	kernel_mute();
	assert_int_equal(fi_eq_read(b.eq, &event, &entry, sizeof(entry), 0), -FI_EAGAIN);
	assert_non_null(catch_find("are no longer read"));
	catch_stop();
	lock_get(&prog->lock);
	assert_int_equal(obj_prog_poll_locked(prog), 0);
	lock_put(&prog->lock);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(is_direct, set_up, tear_down),
		cmocka_unit_test_setup_teardown(messages, set_up, tear_down),
		cmocka_unit_test_setup_teardown(into_the_register, set_up, tear_down),
		cmocka_unit_test_setup_teardown(closing_beside, set_up, tear_down),
		cmocka_unit_test_setup_teardown(shared_receives, set_up, tear_down),
		cmocka_unit_test_setup_teardown(burst, set_up, tear_down),
		cmocka_unit_test_setup_teardown(burst_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(remote_memory, set_up, tear_down),
		cmocka_unit_test_setup_teardown(short_ways, set_up, tear_down),
		cmocka_unit_test_setup_teardown(dmabuf, set_up, tear_down),
		cmocka_unit_test_setup_teardown(on_demand, set_up, tear_down),
		cmocka_unit_test_setup_teardown(wrong_key, set_up, tear_down),
		cmocka_unit_test_setup_teardown(full, set_up, tear_down),
		cmocka_unit_test_setup_teardown(times, set_up, tear_down),
		cmocka_unit_test_setup_teardown(as_the_library, set_up, tear_down),
		cmocka_unit_test_setup_teardown(by_itself, set_up, tear_down),	/* last: it removes the device */
	};
	int ret;

	setenv("FI_VERBS_DOORBELL", argc > 2 ? argv[2] : "direct", 1);
	ret = start(argc > 1 ? FI_THREAD_DOMAIN : FI_THREAD_SAFE);
	if (!ret)
		ret = argc > 1 ? count() : cmocka_run_group_tests(tests, NULL, NULL);
	kernel_halt();
	return ret;
}

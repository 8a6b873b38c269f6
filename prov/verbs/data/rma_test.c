/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* RMA and atomics: the request of each call as the device gets it, and what is refused. */
#include "verbs/test/fake_device.h"

#define ADDR UINT64_C(0x7000000010)
#define KEY 0x51u

static struct fake f;
static struct fi_info *info;
static struct fid_cq *cq;
static struct fid_eq *eq;
static struct vrb_ep *ep;
static struct fid_ep *fid;
static struct ibv_mr mr = { .lkey = 0x99 };
static char buf[256];
static uint64_t operand = 5, compare = 6, result;

static int set_up(void **state)
{
	struct fake_want want = { .type = FI_EP_MSG, .caps = FI_MSG | FI_RMA | FI_ATOMIC };

	dev_init();
	fake_open(&f, &want);
	info = fi_dupinfo(f.info);
	info->caps |= FI_ATOMIC;
	info->tx_attr->size = info->rx_attr->size = 16;
	info->tx_attr->iov_limit = info->rx_attr->iov_limit = 4;
	info->tx_attr->inject_size = 100;
	cq = fake_cq(&f, FI_CQ_FORMAT_DATA, FI_WAIT_NONE);
	eq = fake_eq(&f, FI_WAIT_NONE);
	ep = dev_ep(&f, info, cq, FI_TRANSMIT | FI_RECV, eq);
	fid = &ep->base.h.fid;
	fid->atomic = &vrb_atomic_ops;
	ep->base.caps |= FI_ATOMIC;
	dev.max_inline = 64;
	assert_int_equal(obj_ep_enable(&ep->base), 0);
	obj_cm_set_state(&ep->base, OBJ_CM_CONNECTED);
	return 0;
}

static int tear_down(void **state)
{
	dev_ep_close(ep);
	CLOSE(eq);
	CLOSE(cq);
	fi_freeinfo(info);
	fake_close(&f);
	return 0;
}

/* The request that was posted last, to the remote address. */
static const struct dev_post *posted(enum ibv_wr_opcode opcode)
{
	const struct dev_post *p = &dev.posted[dev.posted_cnt - 1];

	assert_true(dev.posted_cnt > 0);
	assert_int_equal(p->wr.opcode, opcode);
	if (opcode != IBV_WR_ATOMIC_CMP_AND_SWP && opcode != IBV_WR_ATOMIC_FETCH_AND_ADD) {
		assert_int_equal(p->wr.wr.rdma.remote_addr, ADDR);
		assert_int_equal(p->wr.wr.rdma.rkey, KEY);
	}
	return p;
}

/* The completion of the last request. */
static struct fi_cq_data_entry completed(void)
{
	struct fi_cq_data_entry entry = { 0 };

	dev_complete(dev.posted[dev.posted_cnt - 1].wr.wr_id, IBV_WC_SUCCESS);
	assert_int_equal(fi_cq_read(cq, &entry, 1), 1);
	return entry;
}

static void writes(void **state)
{
	struct iovec iov[2] = { { buf, 100 }, { buf + 100, 20 } };
	void *desc[2] = { &mr, &mr };
	const struct dev_post *p;

	assert_int_equal(fi_write(fid, buf, 8, NULL, 0, ADDR, KEY, &f), 0);
	p = posted(IBV_WR_RDMA_WRITE);
	assert_true(p->wr.send_flags & IBV_SEND_INLINE);
	assert_ptr_equal(completed().op_context, &f);
	assert_int_equal(fi_writev(fid, iov, desc, 2, 0, ADDR, KEY, &f), 0);
	p = posted(IBV_WR_RDMA_WRITE);
	assert_false(p->wr.send_flags & IBV_SEND_INLINE);
	assert_int_equal(p->wr.num_sge, 2);
	assert_int_equal(p->sge[1].length, 20);
	assert_int_equal(p->sge[1].lkey, mr.lkey);
	assert_int_equal(completed().flags, FI_WRITE | FI_RMA);
	assert_int_equal(fi_writedata(fid, buf, 100, &mr, 0x1234, 0, ADDR, KEY, &f), 0);
	p = posted(IBV_WR_RDMA_WRITE_WITH_IMM);
	assert_int_equal(be32toh(p->wr.imm_data), 0x1234);
}

/* Injected data that is too long to be inline is copied to memory of the endpoint. */
static void injected(void **state)
{
	const struct dev_post *p;

	memset(buf, 7, 80);
	assert_int_equal(fi_inject_write(fid, buf, 80, 0, ADDR, KEY), 0);
	p = posted(IBV_WR_RDMA_WRITE);
	assert_ptr_not_equal((void *) (uintptr_t) p->sge[0].addr, buf);
	assert_memory_equal((void *) (uintptr_t) p->sge[0].addr, buf, 80);
	assert_int_equal(fi_inject_writedata(fid, buf, 8, 9, 0, ADDR, KEY), 0);
	assert_int_equal(be32toh(posted(IBV_WR_RDMA_WRITE_WITH_IMM)->wr.imm_data), 9);
	assert_int_equal(fi_inject_write(fid, buf, 101, 0, ADDR, KEY), -FI_EMSGSIZE);
}

/* Injection does not apply to reads; a read message with such a flag is refused. */
static void reads(void **state)
{
	struct iovec iov = { buf, 8 };
	struct fi_rma_iov remote = { ADDR, 8, KEY }, two[2] = { remote, remote };
	struct fi_msg_rma msg = {
		.msg_iov = &iov, .iov_count = 1, .rma_iov = &remote, .rma_iov_count = 1, .context = &f,
	};

	ep->base.h.tx_op_flags |= FI_INJECT;
	assert_int_equal(fi_read(fid, buf, 8, &mr, 0, ADDR, KEY, &f), 0);
	assert_ptr_equal((void *) (uintptr_t) posted(IBV_WR_RDMA_READ)->sge[0].addr, buf);
	assert_int_equal(completed().flags, FI_READ | FI_RMA);
	assert_int_equal(fi_readmsg(fid, &msg, FI_COMPLETION | FI_FENCE), 0);
	assert_true(posted(IBV_WR_RDMA_READ)->wr.send_flags & IBV_SEND_FENCE);
	assert_int_equal(fi_readmsg(fid, &msg, FI_INJECT), -FI_EBADFLAGS);
	assert_int_equal(fi_readmsg(fid, &msg, FI_MULTI_RECV), -FI_EBADFLAGS);
	msg.rma_iov = two;
	msg.rma_iov_count = 2;
	assert_int_equal(fi_readmsg(fid, &msg, 0), -FI_EINVAL);
	assert_int_equal(fi_writemsg(fid, &msg, 0), -FI_EINVAL);
}

/* FI_SUM is a fetch and add whose result is dropped; FI_ATOMIC_READ adds 0. */
static void sums(void **state)
{
	const struct dev_post *p;

	assert_int_equal(fi_atomic(fid, &operand, 1, NULL, 0, ADDR, KEY, FI_UINT64, FI_SUM, &f), 0);
	p = posted(IBV_WR_ATOMIC_FETCH_AND_ADD);
	assert_int_equal(p->wr.wr.atomic.remote_addr, ADDR);
	assert_int_equal(p->wr.wr.atomic.compare_add, 5);
	assert_ptr_equal((void *) (uintptr_t) p->sge[0].addr, ep->scratch);
	assert_int_equal(completed().flags, FI_ATOMIC | FI_WRITE);
	assert_int_equal(fi_fetch_atomic(fid, NULL, 1, NULL, &result, &mr, 0, ADDR, KEY, FI_INT64,
					 FI_ATOMIC_READ, &f), 0);
	p = posted(IBV_WR_ATOMIC_FETCH_AND_ADD);
	assert_int_equal(p->wr.wr.atomic.compare_add, 0);
	assert_ptr_equal((void *) (uintptr_t) p->sge[0].addr, &result);
	assert_int_equal(p->sge[0].lkey, mr.lkey);
	assert_int_equal(completed().flags, FI_ATOMIC | FI_READ);
}

static void swaps(void **state)
{
	const struct dev_post *p;

	assert_int_equal(fi_compare_atomic(fid, &operand, 1, NULL, &compare, NULL, &result, &mr, 0, ADDR,
					   KEY, FI_UINT64, FI_CSWAP, &f), 0);
	p = posted(IBV_WR_ATOMIC_CMP_AND_SWP);
	assert_int_equal(p->wr.wr.atomic.compare_add, 6);
	assert_int_equal(p->wr.wr.atomic.swap, 5);
	/* FI_ATOMIC_WRITE is a write of the operand as it is now */
	assert_int_equal(fi_inject_atomic(fid, &operand, 1, 0, ADDR, KEY, FI_UINT64, FI_ATOMIC_WRITE),
			 0);
	posted(IBV_WR_RDMA_WRITE);
}

/* fi_atomicmsg() and the like, which name one operand, one result and one remote range. */
static void messages(void **state)
{
	struct fi_ioc op = { &operand, 1 }, cmp = { &compare, 1 }, res = { &result, 1 };
	struct fi_rma_ioc remote = { ADDR, 1, KEY };
	struct fi_msg_atomic msg = {
		.msg_iov = &op, .iov_count = 1, .rma_iov = &remote, .rma_iov_count = 1,
		.datatype = FI_UINT64, .op = FI_SUM, .context = &f,
	};
	void *desc = &mr;
	const struct dev_post *p;

	assert_int_equal(fi_atomicmsg(fid, &msg, FI_COMPLETION), 0);
	assert_int_equal(posted(IBV_WR_ATOMIC_FETCH_AND_ADD)->wr.wr.atomic.compare_add, 5);
	assert_ptr_equal(completed().op_context, &f);
	assert_int_equal(fi_fetch_atomicmsg(fid, &msg, &res, &desc, 1, 0), 0);
	p = posted(IBV_WR_ATOMIC_FETCH_AND_ADD);
	assert_ptr_equal((void *) (uintptr_t) p->sge[0].addr, &result);
	assert_int_equal(p->sge[0].lkey, mr.lkey);
	msg.op = FI_CSWAP;
	assert_int_equal(fi_compare_atomicmsg(fid, &msg, &cmp, NULL, 1, &res, &desc, 1, 0), 0);
	p = posted(IBV_WR_ATOMIC_CMP_AND_SWP);
	assert_int_equal(p->wr.wr.atomic.compare_add, 6);
	assert_int_equal(p->wr.wr.atomic.swap, 5);
	assert_int_equal(fi_compare_atomicmsg(fid, &msg, &cmp, NULL, 2, &res, &desc, 1, 0), -FI_EINVAL);
	msg.op = FI_ATOMIC_READ;
	msg.iov_count = 0;
	assert_int_equal(fi_fetch_atomicmsg(fid, &msg, &res, &desc, 1, 0), 0);
	assert_int_equal(fi_fetch_atomicmsg(fid, &msg, &res, &desc, 2, 0), -FI_EINVAL);
	assert_int_equal(fi_atomicmsg(fid, &msg, 0), -FI_EINVAL);
	msg.rma_iov_count = 2;
	assert_int_equal(fi_fetch_atomicmsg(fid, &msg, &res, &desc, 1, 0), -FI_EINVAL);
}

static void refused(void **state)
{
	struct fi_atomic_attr attr;
	size_t cnt;

	assert_int_equal(fi_atomic(fid, &operand, 1, NULL, 0, ADDR, KEY, FI_INT32, FI_SUM, &f),
			 -FI_EOPNOTSUPP);
	assert_int_equal(fi_atomic(fid, &operand, 1, NULL, 0, ADDR, KEY, FI_INT64, FI_MAX, &f),
			 -FI_EOPNOTSUPP);
	assert_int_equal(fi_atomic(fid, &operand, 2, NULL, 0, ADDR, KEY, FI_INT64, FI_SUM, &f),
			 -FI_EOPNOTSUPP);
	assert_int_equal(fi_atomic(fid, &operand, 0, NULL, 0, ADDR, KEY, FI_INT64, FI_SUM, &f),
			 -FI_EINVAL);
	assert_int_equal(dev.posted_cnt, 0);
	assert_int_equal(fi_atomicvalid(fid, FI_UINT64, FI_ATOMIC_WRITE, &cnt), 0);
	assert_int_equal(cnt, 1);
	assert_int_equal(fi_atomicvalid(fid, FI_UINT64, FI_ATOMIC_READ, &cnt), -FI_EOPNOTSUPP);
	assert_int_equal(fi_fetch_atomicvalid(fid, FI_UINT64, FI_ATOMIC_READ, &cnt), 0);
	assert_int_equal(fi_compare_atomicvalid(fid, FI_UINT64, FI_CSWAP, &cnt), 0);
	assert_int_equal(fi_compare_atomicvalid(fid, FI_UINT64, FI_CSWAP_NE, &cnt), -FI_EOPNOTSUPP);
	assert_int_equal(vrb_query_atomic(&dev.domain.base.fid, FI_INT64, FI_SUM, &attr, 0), 0);
	assert_int_equal(attr.size, 8);
	assert_int_equal(vrb_query_atomic(&dev.domain.base.fid, FI_INT64, FI_SUM, &attr, FI_TAGGED),
			 -FI_EOPNOTSUPP);
	dev.domain.attr.atomic_cap = IBV_ATOMIC_NONE;
	assert_int_equal(vrb_query_atomic(&dev.domain.base.fid, FI_INT64, FI_SUM, &attr, 0),
			 -FI_EOPNOTSUPP);
}

static void not_connected(void **state)
{
	obj_cm_set_state(&ep->base, OBJ_CM_SHUT);
	assert_int_equal(fi_write(fid, buf, 8, NULL, 0, ADDR, KEY, &f), -FI_ENOTCONN);
	assert_int_equal(fi_atomic(fid, &operand, 1, NULL, 0, ADDR, KEY, FI_UINT64, FI_SUM, &f),
			 -FI_ENOTCONN);
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(writes),
		T(injected),
		T(reads),
		T(sums),
		T(swaps),
		T(messages),
		T(refused),
		T(not_connected),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

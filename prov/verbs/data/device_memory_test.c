/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Calls with memory of devices: what the RDMA device gets of each. */
#include <sys/mman.h>

#include "verbs/test/hmem_domain.h"

#define ADDR UINT64_C(0x7000000010)
#define KEY 0x51u

static struct fid_cq *cq;
static struct fid_eq *eq;
static struct vrb_ep *ep;
static struct fid_ep *fid;
static char *mem;
static struct fid_mr *mem_mr, *host_mr;
static char host[256];

/* An endpoint, memory of CUDA device 1 with "contents" in it, memory of the host. */
static int set_up_ep(void **state)
{
	struct fi_mr_attr attr = { .mr_iov = &(struct iovec) { host, sizeof(host) }, .iov_count = 1,
				   .access = LOCAL };

	set_up(state);
	cq = fake_cq(&f, FI_CQ_FORMAT_DATA, FI_WAIT_NONE);
	eq = fake_eq(&f, FI_WAIT_NONE);
	ep = dev_ep(&f, info, cq, FI_TRANSMIT | FI_RECV, eq);
	fid = &ep->base.h.fid;
	ep->domain = vrb_domain_of(obj_domain_of(domain));
	ep->host_msg = &vrb_msg_ops;
	ep->host_rma = &vrb_rma_ops;
	fid->msg = &vrb_device_msg_ops;
	fid->rma = &vrb_device_rma_ops;
	fid->atomic = &vrb_device_atomic_ops;
	ep->base.caps |= FI_ATOMIC | FI_HMEM;
	dev.max_inline = 128;
	assert_int_equal(obj_ep_enable(&ep->base), 0);
	obj_cm_set_state(&ep->base, OBJ_CM_CONNECTED);
	assert_null(device_open("cuda", 1));
	mem = device_alloc(LEN);
	mem_mr = reg(mem, LEN, REMOTE);
	assert_true(device_put(mem, "contents", 8));
	assert_int_equal(fi_mr_regattr(domain, &attr, 0, &host_mr), 0);
	return 0;
}

static int tear_down_ep(void **state)
{
	CLOSE(mem_mr);
	CLOSE(host_mr);
	device_free(mem);
	dev_ep_close(ep);
	CLOSE(eq);
	CLOSE(cq);
	return tear_down(state);
}

/* The last request: one entry of the device's memory, which the CPU has not read. */
static const struct dev_post *direct(enum ibv_wr_opcode opcode, size_t len)
{
	const struct dev_post *p = &dev.posted[dev.posted_cnt - 1];

	assert_int_equal(p->wr.opcode, opcode);
	assert_int_equal(p->wr.num_sge, 1);
	assert_false(p->wr.send_flags & IBV_SEND_INLINE);
	assert_int_equal(p->sge[0].addr, (uintptr_t) mem);
	assert_int_equal(p->sge[0].length, len);
	assert_int_equal(p->sge[0].lkey, lkey(mem_mr));
	return p;
}

/* The last request: what was "contents" is in registered memory of the endpoint. */
static void staged(enum ibv_wr_opcode opcode)
{
	const struct dev_post *p = &dev.posted[dev.posted_cnt - 1];

	assert_int_equal(p->wr.opcode, opcode);
	assert_int_equal(p->sge[0].lkey, ep->scratch_mr->lkey);
	assert_memory_equal((void *) (uintptr_t) p->sge[0].addr, "contents", 8);
}

static void messages(void **state)
{
	struct iovec iov[2] = { { host, 20 }, { mem, 50 } };
	void *desc[2] = { fi_mr_desc(host_mr), fi_mr_desc(mem_mr) };
	struct fi_msg msg = { .msg_iov = &iov[1], .desc = &desc[1], .iov_count = 1, .data = 9 };
	const struct dev_post *p;

	assert_int_equal(fi_send(fid, mem, 8, desc[1], 0, NULL), 0);
	direct(IBV_WR_SEND, 8);
	assert_int_equal(fi_senddata(fid, mem, 8, desc[1], 7, 0, NULL), 0);
	assert_int_equal(be32toh(direct(IBV_WR_SEND_WITH_IMM, 8)->wr.imm_data), 7);
	assert_int_equal(fi_sendmsg(fid, &msg, FI_REMOTE_CQ_DATA), 0);
	assert_int_equal(be32toh(direct(IBV_WR_SEND_WITH_IMM, 50)->wr.imm_data), 9);
	assert_int_equal(fi_sendmsg(fid, &msg, FI_INJECT), 0);
	staged(IBV_WR_SEND);
	/* a list of both kinds */
	assert_int_equal(fi_sendv(fid, iov, desc, 2, 0, NULL), 0);
	p = &dev.posted[dev.posted_cnt - 1];
	assert_int_equal(p->wr.num_sge, 2);
	assert_false(p->wr.send_flags & IBV_SEND_INLINE);
	assert_int_equal(p->sge[0].lkey, lkey(host_mr));
	assert_int_equal(p->sge[1].lkey, lkey(mem_mr));
	/* memory of the host is inline as ever */
	assert_int_equal(fi_send(fid, host, 8, desc[0], 0, NULL), 0);
	p = &dev.posted[dev.posted_cnt - 1];
	assert_true(p->wr.send_flags & IBV_SEND_INLINE);
	assert_int_equal(fi_inject(fid, host, 8, 0), 0);
	assert_int_equal(fi_recv(fid, mem, LEN, desc[1], 0, NULL), 0);
	assert_int_equal(fi_recvv(fid, iov, desc, 2, 0, NULL), 0);
	assert_int_equal(fi_recvmsg(fid, &msg, 0), 0);
	assert_int_equal(dev.recv_cnt, 3);
}

static void remote_memory(void **state)
{
	struct iovec iov = { mem, 30 };
	void *desc = fi_mr_desc(mem_mr);
	struct fi_rma_iov rma = { ADDR, 30, KEY };
	struct fi_msg_rma msg = { .msg_iov = &iov, .desc = &desc, .iov_count = 1, .rma_iov = &rma,
				  .rma_iov_count = 1, .data = 3 };

	assert_int_equal(fi_write(fid, mem, 8, desc, 0, ADDR, KEY, NULL), 0);
	assert_int_equal(direct(IBV_WR_RDMA_WRITE, 8)->wr.wr.rdma.remote_addr, ADDR);
	assert_int_equal(fi_writev(fid, &iov, &desc, 1, 0, ADDR, KEY, NULL), 0);
	direct(IBV_WR_RDMA_WRITE, 30);
	assert_int_equal(fi_writedata(fid, mem, 8, desc, 5, 0, ADDR, KEY, NULL), 0);
	direct(IBV_WR_RDMA_WRITE_WITH_IMM, 8);
	assert_int_equal(fi_writemsg(fid, &msg, FI_REMOTE_CQ_DATA), 0);
	assert_int_equal(direct(IBV_WR_RDMA_WRITE_WITH_IMM, 30)->wr.wr.rdma.rkey, KEY);
	assert_int_equal(fi_writemsg(fid, &msg, FI_INJECT), 0);
	staged(IBV_WR_RDMA_WRITE);
	assert_int_equal(fi_read(fid, mem, 8, desc, 0, ADDR, KEY, NULL), 0);
	direct(IBV_WR_RDMA_READ, 8);
	assert_int_equal(fi_readv(fid, &iov, &desc, 1, 0, ADDR, KEY, NULL), 0);
	direct(IBV_WR_RDMA_READ, 30);
	assert_int_equal(fi_readmsg(fid, &msg, 0), 0);
	direct(IBV_WR_RDMA_READ, 30);
	assert_int_equal(fi_inject_write(fid, host, 8, 0, ADDR, KEY), 0);
}

/* Operands are copied in the call; the result is written by the RDMA device. */
static void atomics(void **state)
{
	uint64_t vals[2] = { 5, 6 };
	void *desc = fi_mr_desc(mem_mr);
	struct fi_ioc ioc = { mem, 1 }, compare = { mem + 8, 1 }, result = { mem + 64, 1 };
	struct fi_rma_ioc rma = { ADDR, 1, KEY };
	struct fi_msg_atomic msg = { .msg_iov = &ioc, .desc = &desc, .iov_count = 1, .rma_iov = &rma,
				     .rma_iov_count = 1, .datatype = FI_UINT64, .op = FI_SUM };
	const struct dev_post *p;

	assert_true(device_put(mem, vals, sizeof(vals)));
	assert_int_equal(fi_fetch_atomic(fid, mem, 1, desc, mem + 64, desc, 0, ADDR, KEY, FI_UINT64,
					 FI_SUM, NULL), 0);
	p = &dev.posted[dev.posted_cnt - 1];
	assert_int_equal(p->wr.opcode, IBV_WR_ATOMIC_FETCH_AND_ADD);
	assert_int_equal(p->wr.wr.atomic.compare_add, 5);
	assert_int_equal(p->sge[0].addr, (uintptr_t) mem + 64);
	assert_int_equal(p->sge[0].lkey, lkey(mem_mr));
	assert_int_equal(fi_compare_atomic(fid, mem, 1, desc, mem + 8, desc, mem + 64, desc, 0, ADDR, KEY,
					   FI_UINT64, FI_CSWAP, NULL), 0);
	p = &dev.posted[dev.posted_cnt - 1];
	assert_int_equal(p->wr.wr.atomic.compare_add, 6);
	assert_int_equal(p->wr.wr.atomic.swap, 5);
	assert_int_equal(fi_atomic(fid, mem, 1, desc, 0, ADDR, KEY, FI_UINT64, FI_SUM, NULL), 0);
	assert_int_equal(dev.posted[dev.posted_cnt - 1].wr.wr.atomic.compare_add, 5);
	assert_int_equal(fi_atomicmsg(fid, &msg, 0), 0);
	assert_int_equal(fi_fetch_atomicmsg(fid, &msg, &result, &desc, 1, 0), 0);
	msg.op = FI_CSWAP;
	assert_int_equal(fi_compare_atomicmsg(fid, &msg, &compare, &desc, 1, &result, &desc, 1, 0), 0);
	p = &dev.posted[dev.posted_cnt - 1];
	assert_int_equal(p->wr.wr.atomic.compare_add, 6);
	assert_int_equal(p->wr.wr.atomic.swap, 5);
	assert_int_equal(fi_atomicv(fid, &ioc, &desc, 1, 0, ADDR, KEY, FI_UINT64, FI_SUM, NULL), 0);
	assert_int_equal(fi_fetch_atomicv(fid, &ioc, &desc, 1, &result, &desc, 1, 0, ADDR, KEY, FI_UINT64,
					  FI_SUM, NULL), 0);
	assert_int_equal(fi_compare_atomicv(fid, &ioc, &desc, 1, &compare, &desc, 1, &result, &desc, 1, 0,
					    ADDR, KEY, FI_UINT64, FI_CSWAP, NULL), 0);
	assert_int_equal(fi_atomic(fid, mem, 2, desc, 0, ADDR, KEY, FI_UINT64, FI_SUM, NULL),
			 -FI_EOPNOTSUPP);
	assert_int_equal(fi_atomicvalid(fid, FI_UINT64, FI_SUM, &(size_t) { 0 }), 0);
}

/* A device that fails ends the call with its error; the next one goes. */
static void failing_copy(void **state)
{
	void *desc = fi_mr_desc(mem_mr);
	struct fi_msg msg = { .msg_iov = &(struct iovec) { mem + 4096, 60 }, .desc = &desc,
			      .iov_count = 1 };

	hmem_forget(&obj_mr_of(mem_mr)->loc);	/* no copy by the mapping */
	fakegpu_plan("libcuda.so.1", "cuMemcpyDtoHAsync", 1);
	assert_int_equal(fi_sendmsg(fid, &msg, FI_INJECT), -FI_EIO);
	fakegpu_plan("libcuda.so.1", "", 0);
	assert_int_equal(dev.posted_cnt, 0);
	assert_int_equal(fi_sendmsg(fid, &msg, FI_INJECT), 0);
}

/* What the options say, and what they exclude. */
static void options(void **state)
{
	void *desc = fi_mr_desc(mem_mr);
	struct fi_msg msg = { .msg_iov = &(struct iovec) { mem, 60 }, .desc = &desc, .iov_count = 1 };
	static const struct { int p2p, ret; } t[] = {
		{ FI_HMEM_P2P_ENABLED, 0 }, { FI_HMEM_P2P_REQUIRED, 0 }, { FI_HMEM_P2P_PREFERRED, 0 },
		{ FI_HMEM_P2P_DISABLED, -FI_EOPNOTSUPP }, { 99, -FI_EINVAL },
	};
	bool no = false;
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		assert_int_equal(obj_ep_setopt(&fid->fid, FI_OPT_ENDPOINT, FI_OPT_FI_HMEM_P2P, &t[i].p2p,
					       sizeof(int)), t[i].ret);
	assert_int_equal(obj_ep_setopt(&fid->fid, FI_OPT_ENDPOINT, FI_OPT_CUDA_API_PERMITTED, &no,
				       sizeof(no)), 0);
	assert_int_equal(fi_send(fid, mem, 60, desc, 0, NULL), 0);
	direct(IBV_WR_SEND, 60);
	fake_log_start();
	assert_int_equal(fi_sendmsg(fid, &msg, FI_INJECT), -FI_EOPNOTSUPP);
	assert_non_null(strstr(fake_log_last(), "FI_OPT_CUDA_API_PERMITTED"));
	assert_int_equal(fi_atomic(fid, mem, 1, desc, 0, ADDR, KEY, FI_UINT64, FI_SUM, NULL),
			 -FI_EOPNOTSUPP);
	assert_int_equal(obj_ep_setopt(&fid->fid, FI_OPT_ENDPOINT, FI_OPT_XPU_TRIGGER, &no, sizeof(no)),
			 -FI_ENOPROTOOPT);
}

/* Memory that is a dma-buf alone is sent, and not injected. */
static void dmabuf_calls(void **state)
{
	int fd = memfd_create("dmabuf", 0);
	struct fi_mr_dmabuf buf = { .fd = fd, .len = 8192, .base_addr = mem };
	struct fi_mr_attr attr = { .dmabuf = &buf, .iov_count = 1, .access = LOCAL };
	struct fid_mr *mr;
	struct fi_msg msg = { .msg_iov = &(struct iovec) { mem, 60 }, .iov_count = 1 };
	void *desc;

	assert_int_equal(pwrite(fd, "contents", 8, 0), 8);
	attr.iface = FI_HMEM_SYNAPSEAI;
	assert_int_equal(fi_mr_regattr(domain, &attr, FI_MR_DMABUF, &mr), 0);
	desc = fi_mr_desc(mr);
	msg.desc = &desc;
	assert_int_equal(fi_send(fid, mem, 60, desc, 0, NULL), 0);
	assert_false(dev.posted[dev.posted_cnt - 1].wr.send_flags & IBV_SEND_INLINE);
	fake_log_start();
	assert_int_equal(fi_sendmsg(fid, &msg, FI_INJECT), -FI_EOPNOTSUPP);
	assert_non_null(strstr(fake_log_last(), "dma-buf alone"));
	CLOSE(mr);
	close(fd);
}

#define CALLS(name) cmocka_unit_test_setup_teardown(name, set_up_ep, tear_down_ep)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CALLS(messages),
		CALLS(remote_memory),
		CALLS(atomics),
		CALLS(failing_copy),
		CALLS(options),
		CALLS(dmabuf_calls),
	};

	fakegpu_use(argv);
	mr_cache_params();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

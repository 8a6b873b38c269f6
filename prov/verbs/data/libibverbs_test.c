/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* One request in the form of each interface of libibverbs. */
#include "verbs/test/fake_device.h"

static struct ibv_qp_ex qpx;
static struct vrb_sq sq;
static char calls[128];			/* of the extended interface, in order */
static int complete_ret;

static void note(const char *call)
{
	strcat(calls, call);
	strcat(calls, " ");
}

static void wr_start(struct ibv_qp_ex *qp) { note("start"); }
static void wr_send(struct ibv_qp_ex *qp) { note("send"); }
static void wr_send_imm(struct ibv_qp_ex *qp, __be32 imm) { note(imm == htobe32(5) ? "send5" : "?"); }
static void wr_write(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr) { note("write"); }
static void wr_write_imm(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr, __be32 imm)
{
	note(imm == htobe32(5) && rkey == 7 && addr == 0x1000 ? "write5" : "?");
}
static void wr_read(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr) { note("read"); }
static void wr_add(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr, uint64_t add)
{
	note(add == 11 ? "add" : "?");
}
static void wr_swap(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr, uint64_t compare, uint64_t swap)
{
	note(compare == 12 && swap == 11 ? "swap" : "?");
}
static void set_sge(struct ibv_qp_ex *qp, uint32_t lkey, uint64_t addr, uint32_t len) { note("sge"); }
static void set_sge_list(struct ibv_qp_ex *qp, size_t cnt, const struct ibv_sge *sge)
{
	note(cnt == 2 ? "sges" : "?");
}
static void set_inline(struct ibv_qp_ex *qp, void *addr, size_t len) { note("inline"); }
static void set_inline_list(struct ibv_qp_ex *qp, size_t cnt, const struct ibv_data_buf *buf)
{
	note(cnt == 2 && buf[1].length == 6 ? "inlines" : "?");
}
static void set_ud(struct ibv_qp_ex *qp, struct ibv_ah *ah, uint32_t qpn, uint32_t qkey) { note("ud"); }
static void set_srqn(struct ibv_qp_ex *qp, uint32_t srqn) { note(srqn == 9 ? "xrc" : "?"); }
static int wr_complete(struct ibv_qp_ex *qp)
{
	note("complete");
	return complete_ret;
}

static struct ibv_qp_ex *to_ex(struct ibv_qp *qp)
{
	return &qpx;
}

static void make(enum ibv_qp_type type, bool extended, bool single_sge)
{
	dev_init();
	vrb_ibv.qp_to_qp_ex = to_ex;
	dev.qp.context = &dev.verbs.context;
	dev.qp.qp_type = type;
	qpx = (struct ibv_qp_ex) {
		.wr_start = wr_start, .wr_send = wr_send, .wr_send_imm = wr_send_imm,
		.wr_rdma_write = wr_write, .wr_rdma_write_imm = wr_write_imm,
		.wr_rdma_read = wr_read, .wr_atomic_fetch_add = wr_add,
		.wr_atomic_cmp_swp = wr_swap, .wr_set_sge = set_sge,
		.wr_set_sge_list = set_sge_list, .wr_set_inline_data = set_inline,
		.wr_set_inline_data_list = set_inline_list, .wr_set_ud_addr = set_ud,
		.wr_set_xrc_srqn = set_srqn, .wr_complete = wr_complete,
	};
	complete_ret = 0;
	memset(&sq, 0, sizeof(sq));
	vrb_sq_init(&sq, &dev.qp, extended, single_sge);
	calls[0] = 0;
}

static const struct ibv_sge two[2] = { { 0x100, 4, 1 }, { 0x200, 6, 2 } };

static struct vrb_wr wr_of(enum vrb_op op)
{
	return (struct vrb_wr) {
		.op = op, .wr_id = 77, .sge = two, .sge_cnt = 1, .imm = 5, .rkey = 7, .addr = 0x1000,
		.operand = 11, .compare = 12, .srqn = 9, .flags = IBV_SEND_SIGNALED,
		.ah = (void *) &sq, .qpn = 21, .qkey = 22,
	};
}

static void post(void **state)
{
	static const enum ibv_wr_opcode want[VRB_OP_CNT] = {
		IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM,
		IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WR_ATOMIC_CMP_AND_SWP,
	};
	struct ibv_send_wr *got;
	struct vrb_wr wr;
	unsigned op;

	make(IBV_QPT_RC, false, false);
	assert_string_equal(sq.ops->name, "post");
	for (op = 0; op < VRB_OP_CNT; op++) {
		wr = wr_of(op);
		assert_int_equal(sq.ops->build(&sq, &wr), 0);
		got = &dev.posted[op].wr;
		assert_int_equal(got->opcode, want[op]);
		assert_int_equal(got->wr_id, 77);
		assert_int_equal(got->send_flags, IBV_SEND_SIGNALED);
		assert_int_equal(got->imm_data, htobe32(5));
		if (op < VRB_OP_ADD) {
			assert_int_equal(got->wr.rdma.remote_addr, 0x1000);
			assert_int_equal(got->wr.rdma.rkey, 7);
		} else {
			assert_int_equal(got->wr.atomic.remote_addr, 0x1000);
			assert_int_equal(got->wr.atomic.rkey, 7);
			assert_int_equal(got->wr.atomic.compare_add, op == VRB_OP_ADD ? 11 : 12);
			if (op == VRB_OP_SWAP)
				assert_int_equal(got->wr.atomic.swap, 11);
		}
	}
	make(IBV_QPT_UD, false, false);
	wr = wr_of(VRB_OP_SEND);
	assert_int_equal(sq.ops->build(&sq, &wr), 0);
	assert_ptr_equal(dev.posted[0].wr.wr.ud.ah, &sq);
	assert_int_equal(dev.posted[0].wr.wr.ud.remote_qpn, 21);
	assert_int_equal(dev.posted[0].wr.wr.ud.remote_qkey, 22);
	make(IBV_QPT_XRC_SEND, false, false);
	assert_int_equal(sq.ops->build(&sq, &wr), 0);
	assert_int_equal(dev.posted[0].wr.qp_type.xrc.remote_srqn, 9);
}

static void extended(void **state)
{
	static const char *const want[VRB_OP_CNT] = {
		"send", "send5", "write", "write5", "read", "add", "swap",
	};
	char line[64];
	struct vrb_wr wr;
	unsigned op;

	for (op = 0; op < VRB_OP_CNT; op++) {
		make(IBV_QPT_RC, true, false);
		assert_string_equal(sq.ops->name, "extended");
		wr = wr_of(op);
		assert_int_equal(sq.ops->build(&sq, &wr), 0);
		snprintf(line, sizeof(line), "start %s sge complete ", want[op]);
		assert_string_equal(calls, line);
		assert_int_equal(qpx.wr_id, 77);
		assert_int_equal(qpx.wr_flags, IBV_SEND_SIGNALED);
	}
	make(IBV_QPT_UD, true, false);
	wr = wr_of(VRB_OP_SEND);
	wr.sge_cnt = 2;
	assert_int_equal(sq.ops->build(&sq, &wr), 0);
	assert_string_equal(calls, "start send ud sges complete ");
	make(IBV_QPT_XRC_SEND, true, false);
	wr.flags = IBV_SEND_INLINE;
	assert_int_equal(sq.ops->build(&sq, &wr), 0);
	assert_string_equal(calls, "start send xrc inlines complete ");
	wr.sge_cnt = 1;
	calls[0] = 0;
	assert_int_equal(sq.ops->build(&sq, &wr), 0);
	assert_string_equal(calls, "start send xrc inline complete ");
}

/* soft-RoCE: several pieces go by ibv_post_send(), unless they are inline. */
static void single_sge(void **state)
{
	struct vrb_wr wr = wr_of(VRB_OP_SEND);

	make(IBV_QPT_RC, true, true);
	wr.sge_cnt = 2;
	assert_int_equal(sq.ops->build(&sq, &wr), 0);
	assert_string_equal(calls, "");
	assert_int_equal(dev.posted[0].wr.num_sge, 2);
	assert_int_equal(dev.posted[0].sge[1].length, 6);
	wr.flags = IBV_SEND_INLINE;
	assert_int_equal(sq.ops->build(&sq, &wr), 0);
	assert_int_equal(dev.posted_cnt, 1);
}

static void errors(void **state)
{
	struct vrb_wr wr = wr_of(VRB_OP_SEND);

	make(IBV_QPT_RC, false, false);
	dev.post_ret = ENOMEM;
	assert_int_equal(sq.ops->build(&sq, &wr), -FI_EAGAIN);
	assert_int_equal(sq.ops->recv(&sq, 1, two, 1), -FI_EAGAIN);
	dev.post_ret = EINVAL;
	assert_int_equal(sq.ops->build(&sq, &wr), -FI_EINVAL);
	assert_int_equal(vrb_recv_post(&dev.qp, NULL, 1, two, 1), -FI_EINVAL);
	make(IBV_QPT_RC, true, false);
	complete_ret = ENOMEM;
	assert_int_equal(sq.ops->build(&sq, &wr), -FI_EAGAIN);
	complete_ret = EIO;
	assert_int_equal(sq.ops->build(&sq, &wr), -FI_EIO);
}

static void completion(void **state)
{
	struct ibv_wc ibv = {
		.wr_id = 3, .status = IBV_WC_GENERAL_ERR, .vendor_err = 4, .qp_num = 5, .byte_len = 6,
		.imm_data = htobe32(7), .wc_flags = IBV_WC_WITH_IMM | IBV_WC_GRH, .slid = 8, .src_qp = 9,
		.opcode = IBV_WC_RECV_RDMA_WITH_IMM,
	};
	struct vrb_wc wc;

	vrb_wc_read(&ibv, &wc);
	assert_true(wc.wr_id == 3 && wc.status == IBV_WC_GENERAL_ERR && wc.vendor_err == 4);
	assert_true(wc.qp_num == 5 && wc.len == 6 && wc.has_imm && wc.imm == 7 && wc.write);
	assert_true(wc.has_grh && wc.slid == 8 && wc.src_qp == 9);
	ibv.wc_flags = 0;
	ibv.opcode = IBV_WC_RECV;
	vrb_wc_read(&ibv, &wc);
	assert_true(!wc.has_imm && !wc.has_grh && !wc.write);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(post),
		cmocka_unit_test(extended),
		cmocka_unit_test(single_sge),
		cmocka_unit_test(errors),
		cmocka_unit_test(completion),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

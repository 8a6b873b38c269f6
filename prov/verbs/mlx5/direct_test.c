/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * The direct path on a model of the device: two queue pairs in this process, connected to
 * each other; a third shares the receive queue of the second, in some tests.  Memory is
 * checked at the store that rings the doorbell, and each decoded request is compared with what
 * was posted.  MLX5_REQUESTS=10000000 makes the random test long.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static void model_store(char *reg, uint64_t val);
#define MLX5_STORE64(reg, val) model_store((reg), (val))
#include "direct.c"
#include "verbs/test/mlx5_model.h"

#define BLOCKS 64u
#define RECVS 64u
#define CQES 128u
#define REG 256u
#define MEM 65536u
#define KEY MODEL_KEY
#define IN_MAX 20480u
#define SHARED_STRIDE 64u

static uint64_t seed = 1;

static uint32_t rnd(uint32_t below)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t) (seed >> 33) % below;
}

/* ---- the two sides -------------------------------------------------------------- */

struct side {
	struct mlx5_qp qp;
	struct mlx5_cq cq;
	char sq[BLOCKS * MLX5_BB], rq[RECVS * 64], cqbuf[CQES * 64], reg[2 * REG], mem[MEM];
	uint64_t sq_id[BLOCKS], rq_id[RECVS];
	uint16_t blocks[BLOCKS];
	struct mlx5_reg share;
	char uar[64];
	uint32_t dbrec[2], cqdb[2];
	struct model_cq model_cq;
	struct model_qp model;
	bool kicked;
};

static struct side side[3];
static char inbox[RECVS][IN_MAX];	/* of the second; one for each receive */
static uint64_t digest[RECVS];		/* of what was sent there, as it arrived */
static uint32_t arrived;
static uint8_t order[RECVS];		/* inboxes, as they were posted */
static bool posted[RECVS];
static uint64_t post_cnt;

/* Receives that the second and the third share. */
static struct {
	struct mlx5_srq srq;
	struct model_srq model;
	char buf[(RECVS + 1) * SHARED_STRIDE];	/* one of the list is never posted */
	uint64_t wr_id[RECVS + 1];
	uint32_t dbrec;
} shared;

static bool within(const char *p, const void *begin, size_t len)
{
	return (uintptr_t) p - (uintptr_t) begin < len;
}

static void armed(struct side *s, const char *reg, uint64_t val)
{
	assert_ptr_equal(reg, s->uar + 0x20);
	assert_int_equal(be64toh(val) >> 32, be32toh(s->cqdb[1]));
	assert_int_equal(be64toh(val) & 0xffffffff, s->cq.cqn);
}

/* The processor has rung: all that the device will read must be there by now. */
static void model_store(char *reg, uint64_t val)
{
	struct side *s = within(reg, &side[1], sizeof(side[1])) ? &side[1] : &side[0];	/* that ring */
	size_t at = (size_t) (reg - s->reg) % REG;
	unsigned char raw[8];
	uint32_t index, counter = be32toh(s->dbrec[1]);

	if (within(reg, s->uar, sizeof(s->uar))) {
		armed(s, reg, val);
		return;
	}
	memcpy(raw, &val, 8);
	if (!at) {
		index = (uint32_t) model_be(raw + 1, 2);
		if (memcmp(raw, model_byte(&s->model, index, 0), 8))
			model_fault = "the register and the queue differ";
		if (((index + (raw[7] + 3u) / 4) & 0xffff) != counter)
			model_fault = "rung before the doorbell record was written";
		s->kicked = true;
	}
	memcpy(s->reg + (reg - s->reg), &val, 8);
}

/* ---- what was asked for --------------------------------------------------------- */

struct asked {
	struct vrb_wr wr;
	struct ibv_sge sge[4];
};

static struct asked asked[BLOCKS];
static uint32_t asked_in, asked_out;

static void compare(const struct asked *a, const struct model_wqe *x)
{
	static const unsigned ops[] = { 0x0a, 0x0b, 0x08, 0x09, 0x10, 0x12, 0x11 };
	bool amo = a->wr.op >= VRB_OP_ADD;
	unsigned i, k = 0, at = 0;

	assert_int_equal(x->op, ops[a->wr.op]);
	assert_int_equal(!!(x->flags & 0x08), !!(a->wr.flags & IBV_SEND_SIGNALED));
	assert_int_equal(!!(x->flags & 0x80), !!(a->wr.flags & IBV_SEND_FENCE));
	assert_int_equal(x->imm, a->wr.op == VRB_OP_SEND_IMM || a->wr.op == VRB_OP_WRITE_IMM ?
				 a->wr.imm : 0);
	if (a->wr.op > VRB_OP_SEND_IMM) {
		assert_int_equal(x->addr, a->wr.addr);
		assert_int_equal(x->rkey, a->wr.rkey);
	}
	if (amo) {
		assert_int_equal(x->operand, a->wr.operand);
		assert_int_equal(x->compare, a->wr.op == VRB_OP_SWAP ? a->wr.compare : 0);
	}
	for (i = 0; i < a->wr.sge_cnt; i++) {
		if (a->wr.flags & IBV_SEND_INLINE) {
			assert_memory_equal(x->bytes + at, (void *) (uintptr_t) a->sge[i].addr,
					    a->sge[i].length);
			at += a->sge[i].length;
		} else if (a->sge[i].length) {
			assert_int_equal(x->len[k], a->sge[i].length);
			assert_int_equal(x->lkey[k], a->sge[i].lkey);
			assert_int_equal(x->at[k++], a->sge[i].addr);
		}
	}
	assert_int_equal(x->inline_len, at);
	assert_int_equal(x->pieces, k);
}

/* Run the device: execute all requests up to the doorbell record. */
static void run(struct side *s, struct side *to)
{
	uint32_t was;
	struct model_wqe x;

	if (!s->kicked)
		return;
	s->kicked = false;
	for (;;) {
		if (to->model.srq)
			to = &side[1 + rnd(2)];
		was = to->model.received;
		if (!model_step(&s->model, &to->model, &x))
			break;
		compare(&asked[asked_out++ % BLOCKS], &x);
		if (to->model.received != was)
			digest[arrived++ % RECVS] = x.op == 0x09 ? 0 : to->model.digest;
	}
	assert_null(model_fault);
}

/* ---- set up --------------------------------------------------------------------- */

static struct mlx5_qp *find_qp(struct mlx5_cq *cq, uint32_t qpn)
{
	return qpn >= 100 && qpn <= 102 ? &side[qpn - 100].qp : NULL;
}

static int setup(void **state)
{
	unsigned i;

	memset(side, 0, sizeof(side));
	model_fault = NULL;
	asked_in = asked_out = arrived = 0;
	post_cnt = 0;
	memset(posted, 0, sizeof(posted));
	for (i = 0; i < 3; i++) {
		struct side *s = &side[i];

		s->share.size = REG;
		s->qp.sq = (struct mlx5_sq) {
			.base.ops = &vrb_sq_direct, .buf = s->sq, .mask = BLOCKS - 1, .qpn = 100 + i,
			.dbrec = s->dbrec, .doorbell = s->reg, .reg = &s->share,
			.wr_id = s->sq_id, .blocks = s->blocks,
		};
		s->qp.rq = (struct mlx5_rq) {
			.buf = s->rq, .mask = RECVS - 1, .stride = 64, .dbrec = s->dbrec,
			.wr_id = s->rq_id,
		};
		s->cq = (struct mlx5_cq) {
			.base.ops = &vrb_cq_direct, .buf = s->cqbuf, .mask = CQES - 1, .stride = 64,
			.dbrec = s->cqdb, .find = find_qp, .uar = s->uar, .cqn = 5,
		};
		vrb_mlx5_cq_init(&s->cq);
		s->model_cq = (struct model_cq) { s->cqbuf, CQES, s->cqdb, 0, 0 };
		s->model = (struct model_qp) {
			.qpn = 100 + i, .dbrec = s->dbrec, .sq = s->sq, .rq = s->rq,
			.sq_size = sizeof(s->sq), .rq_cnt = RECVS, .rq_stride = 64,
			.cq = &s->model_cq, .mem = s->mem, .mem_len = MEM,
		};
	}
	return 0;
}

static int setup_shared(void **state)
{
	unsigned i;

	setup(state);
	memset(&shared, 0, sizeof(shared));
	shared.srq = (struct mlx5_srq) {
		.buf = shared.buf, .stride = SHARED_STRIDE, .tail = RECVS,
		.dbrec = &shared.dbrec, .wr_id = shared.wr_id,
	};
	shared.model = (struct model_srq) {
		.buf = shared.buf, .cnt = RECVS + 1, .stride = SHARED_STRIDE, .dbrec = &shared.dbrec,
	};
	for (i = 0; i <= RECVS; i++)
		((struct mlx5_next *) (shared.buf + (size_t) i * SHARED_STRIDE))->index =
			htobe16((uint16_t) (i + 1));
	side[2].model.cq = &side[1].model_cq;
	side[2].model.mem = side[1].mem;
	for (i = 1; i < 3; i++) {
		side[i].qp.srq = &shared.srq;
		side[i].model.srq = &shared.model;
	}
	return 0;
}

static int ask_for(const struct asked *a)
{
	struct asked *copy = &asked[asked_in % BLOCKS];
	int ret;

	*copy = *a;
	copy->wr.sge = copy->sge;
	ret = side[0].qp.sq.base.ops->build(&side[0].qp.sq.base, &copy->wr);
	if (!ret)
		asked_in++;
	return ret;
}

static void ring(void)
{
	side[0].qp.sq.base.ops->ring(&side[0].qp.sq.base);
	assert_null(model_fault);
	run(&side[0], &side[1]);
}

/* The next entry, or NULL: its owner bit says that the device has written it. */
static struct mlx5_cqe *take(const struct mlx5_cq *cq)
{
	struct mlx5_cqe *cqe = mlx5_at(cq);

	return mlx5_is_ours(mlx5_op_own(cqe), mlx5_owner(cq)) ? cqe : NULL;
}

static int take_one(struct side *s, struct vrb_wc *wc)
{
	struct mlx5_cqe *cqe;
	int cnt = 0;

	while (!cnt && (cqe = take(&s->cq))) {
		cnt = vrb_mlx5_read(&s->cq, cqe, wc);
		mlx5_give_back(&s->cq, cqe);
		mlx5_update_cq_dbrec(&s->cq);
	}
	return cnt;
}

static struct asked simple(enum vrb_op op, unsigned flags, uint32_t len)
{
	return (struct asked) {
		.wr = { .op = op, .flags = flags, .wr_id = 42, .sge_cnt = 1, .imm = 0xabcd1234,
			.rkey = KEY, .addr = (uintptr_t) side[1].mem + 4096 },
		.sge = { { (uintptr_t) side[0].mem, len, KEY } },
	};
}

/* ---- cases ---------------------------------------------------------------------- */

static void one_of_each(void **state)
{
	struct ibv_sge in = { (uintptr_t) side[1].mem, 1024, KEY };
	struct vrb_wc wc = { 0 };
	struct asked a;
	enum vrb_op op;

	for (op = VRB_OP_SEND; op < VRB_OP_CNT; op++) {
		a = simple(op, IBV_SEND_SIGNALED, op >= VRB_OP_ADD ? 8 : 300);
		if (op == VRB_OP_SEND || op == VRB_OP_SEND_IMM || op == VRB_OP_WRITE_IMM)
			assert_int_equal(vrb_mlx5_recv(&side[1].qp.rq, 77, &in, 1), 0);
		assert_int_equal(ask_for(&a), 0);
		ring();
		assert_int_equal(take_one(&side[0], &wc), 1);
		assert_int_equal(wc.status, IBV_WC_SUCCESS);
		assert_int_equal(wc.wr_id, 42);
		if (op == VRB_OP_SEND_IMM || op == VRB_OP_WRITE_IMM) {
			assert_int_equal(take_one(&side[1], &wc), 1);
			assert_int_equal(wc.wr_id, 77);
			assert_true(wc.has_imm);
			assert_int_equal(wc.imm, 0xabcd1234);
			assert_int_equal(wc.write, op == VRB_OP_WRITE_IMM);
			assert_int_equal(wc.len, 300);
		} else if (op == VRB_OP_SEND) {
			assert_int_equal(take_one(&side[1], &wc), 1);
			assert_false(wc.has_imm);
		}
	}
	assert_int_equal(take_one(&side[0], &wc), 0);
}

static void wrong_key(void **state)
{
	struct asked a = simple(VRB_OP_WRITE, 0, 100);
	struct vrb_wc wc = { 0 };

	a.wr.rkey = KEY + 1;
	assert_int_equal(ask_for(&a), 0);
	ring();
	assert_int_equal(take_one(&side[0], &wc), 1);
	assert_int_equal(wc.status, IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(wc.wr_id, 42);
}

/* A queue without completions fills up, returns -FI_EAGAIN, and changes nothing. */
static void full(void **state)
{
	struct asked a = simple(VRB_OP_WRITE, IBV_SEND_INLINE, 8), last;
	struct vrb_wc wc;
	unsigned i;

	for (i = 0; i < BLOCKS - 1; i++)
		assert_int_equal(ask_for(&a), 0);
	last = simple(VRB_OP_WRITE, IBV_SEND_SIGNALED | IBV_SEND_INLINE, 8);
	assert_int_equal(ask_for(&last), 0);
	assert_int_equal(ask_for(&a), -FI_EAGAIN);
	ring();
	assert_int_equal(take_one(&side[0], &wc), 1);
	assert_int_equal(side[0].qp.sq.done, BLOCKS);
	assert_int_equal(ask_for(&a), 0);
}

/* The model itself: it must see what a broken path would do. */
static void model_sees_early_doorbell(void **state)
{
	struct asked a = simple(VRB_OP_WRITE, IBV_SEND_SIGNALED, 8);

	assert_int_equal(ask_for(&a), 0);
	model_store(side[0].reg, block_word(side[0].sq, 0));
	assert_non_null(model_fault);
}

/* Short data comes in completions: what was received, read, and the old value. */
static void short_data(void **state)
{
	struct ibv_sge in[2] = { { (uintptr_t) side[1].mem, 5, KEY },
				 { (uintptr_t) side[1].mem + 100, 100, KEY } };
	struct asked a = simple(VRB_OP_SEND, IBV_SEND_SIGNALED, 32);
	struct vrb_wc wc;

	side[0].model.short_data = side[1].model.short_data = true;
	memcpy(side[0].mem, "abcdefghijklmnopqrstuvwxyz012345", 32);
	assert_int_equal(vrb_mlx5_recv(&side[1].qp.rq, 77, in, 2), 0);
	assert_int_equal(ask_for(&a), 0);
	ring();
	assert_int_equal(take_one(&side[1], &wc), 1);
	assert_int_equal(wc.len, 32);
	assert_memory_equal(side[1].mem, "abcde", 6);
	assert_memory_equal(side[1].mem + 100, "fghijklmnopqrstuvwxyz012345", 28);
	assert_int_equal(take_one(&side[0], &wc), 1);

	a = simple(VRB_OP_READ, IBV_SEND_SIGNALED, 20);
	memcpy(side[1].mem + 4096, "01234567890123456789", 20);
	assert_int_equal(ask_for(&a), 0);
	ring();
	assert_int_equal(take_one(&side[0], &wc), 1);
	assert_memory_equal(side[0].mem, "01234567890123456789uvwx", 24);

	a = simple(VRB_OP_ADD, IBV_SEND_SIGNALED, 8);
	a.wr.operand = 1;
	assert_int_equal(ask_for(&a), 0);
	ring();
	assert_int_equal(take_one(&side[0], &wc), 1);
	assert_memory_equal(side[0].mem, "0123456789", 10);
	assert_memory_equal(side[1].mem + 4096, "1123456789", 10);
}

/* The queue is armed for what comes after the last that was read; armed() looks. */
static void arm(void **state)
{
	struct asked a = simple(VRB_OP_WRITE, IBV_SEND_SIGNALED, 8);
	struct vrb_wc wc;

	assert_int_equal(side[0].cq.base.ops->arm(&side[0].cq.base), 0);
	assert_int_equal(be32toh(side[0].cqdb[1]), 0);
	assert_int_equal(ask_for(&a), 0);
	ring();
	assert_int_equal(take_one(&side[0], &wc), 1);
	side[0].cq.base.events_all = 7;
	assert_int_equal(side[0].cq.base.ops->arm(&side[0].cq.base), 0);
	assert_int_equal(be32toh(side[0].cqdb[1]), 3u << 28 | 1);
}

/* Completions of a destroyed queue pair are dropped. */
static void gone(void **state)
{
	struct asked a = simple(VRB_OP_WRITE, IBV_SEND_SIGNALED, 8);
	struct vrb_wc wc;

	assert_int_equal(ask_for(&a), 0);
	ring();
	side[0].cqbuf[59] = 99;
	assert_int_equal(take_one(&side[0], &wc), 0);
	assert_int_equal(be32toh(side[0].cqdb[0]), 1);
}

static struct asked random_request(uint64_t n, bool signal)
{
	enum vrb_op op = (enum vrb_op) rnd(VRB_OP_CNT);
	struct asked a = simple(op, signal ? IBV_SEND_SIGNALED : 0, 0);
	unsigned i;

	a.wr.wr_id = n;
	a.wr.imm = rnd(UINT32_MAX);
	a.wr.operand = seed;
	a.wr.compare = rnd(4);
	a.wr.addr = (uintptr_t) side[1].mem + 32768 + rnd(1024) * 8;
	if (!rnd(8))
		a.wr.flags |= IBV_SEND_FENCE;
	if (op <= VRB_OP_WRITE_IMM && rnd(2))
		a.wr.flags |= IBV_SEND_INLINE;
	a.wr.sge_cnt = op <= VRB_OP_WRITE_IMM ? rnd(4) : 1;
	for (i = 0; i < a.wr.sge_cnt; i++)
		/* results are written behind the data that is sent: inline data was copied before */
		a.sge[i] = (struct ibv_sge) { (uintptr_t) side[0].mem + rnd(16384) +
					      (op >= VRB_OP_READ ? 32768 : 0),
			op >= VRB_OP_ADD ? 8 : op == VRB_OP_READ ? 1 + rnd(4000) :
			rnd(a.wr.flags & IBV_SEND_INLINE ? 200 : 5000), KEY };
	return a;
}

/* A receive into an inbox that is free: false where there is none, or no room. */
static bool post_one(void)
{
	uint32_t at = rnd(RECVS), tries = 0;
	struct ibv_sge in;
	int ret;

	while (posted[at] && ++tries < RECVS)
		at = (at + 1) % RECVS;
	in = (struct ibv_sge) { (uintptr_t) inbox[at], IN_MAX, KEY };
	ret = side[1].qp.srq ? vrb_mlx5_srq_recv(&shared.srq, at, &in, 1) :
			       vrb_mlx5_recv(&side[1].qp.rq, at, &in, 1);
	assert_int_equal(ret, posted[at] ? -FI_EAGAIN : 0);
	if (ret)
		return false;
	posted[at] = true;
	order[post_cnt++ % RECVS] = (uint8_t) at;
	return true;
}

/* Receives complete in their order, with what was sent. */
static bool received_one(uint64_t *cnt)
{
	struct vrb_wc wc = { 0 };

	if (!take_one(&side[1], &wc))
		return false;
	assert_int_equal(wc.wr_id, order[*cnt % RECVS]);
	if (!wc.write)
		assert_int_equal(model_digest(inbox[wc.wr_id], wc.len), digest[*cnt % RECVS]);
	posted[wc.wr_id] = false;
	(*cnt)++;
	return true;
}

static void random_requests(void **state)
{
	const char *env = getenv("MLX5_REQUESTS");
	uint64_t n, total = env ? strtoull(env, NULL, 10) : 200000, expect = 0;
	unsigned quiet = 0;
	uint64_t sends = 0;
	struct vrb_wc wc;
	struct asked a;

	side[0].model.short_data = side[1].model.short_data = true;
	for (n = 0; n < MEM; n++)
		side[0].mem[n] = (char) rnd(256);
	for (n = 0; n < total; n++) {
		while (post_one())
			;
		a = random_request(n, quiet >= 3 || !rnd(3));
		quiet = a.wr.flags & IBV_SEND_SIGNALED ? 0 : quiet + 1;
		while (ask_for(&a) == -FI_EAGAIN) {
			ring();
			assert_int_equal(take_one(&side[0], &wc), 1);
			assert_true(wc.wr_id >= expect);
			expect = wc.wr_id + 1;
		}
		if (!rnd(3))
			ring();
		while (received_one(&sends))
			;
		if (!rnd(4) && take_one(&side[0], &wc)) {
			assert_int_equal(wc.status, IBV_WC_SUCCESS);
			assert_true(wc.wr_id >= expect);
			expect = wc.wr_id + 1;
		}
	}
	ring();
	while (received_one(&sends))
		;
	assert_int_equal(asked_in, asked_out);
	assert_int_equal(asked_in, (uint32_t) total);
	assert_true(sends > total / 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(one_of_each, setup),
		cmocka_unit_test_setup(wrong_key, setup),
		cmocka_unit_test_setup(full, setup),
		cmocka_unit_test_setup(model_sees_early_doorbell, setup),
		cmocka_unit_test_setup(short_data, setup),
		cmocka_unit_test_setup(arm, setup),
		cmocka_unit_test_setup(gone, setup),
		cmocka_unit_test_setup(random_requests, setup),
		{ "random_requests, shared receives", random_requests, setup_shared, NULL, NULL },
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

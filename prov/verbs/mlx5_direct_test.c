/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * The direct path on a model of the device: two queue pairs in this process, connected to
 * each other.  The model looks at memory at the very store that rings the doorbell; it
 * reads requests by byte offsets, not by the structures that built them, and compares each
 * with what was asked for.  MLX5_REQUESTS=10000000 makes the random test long.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static void model_store(char *reg, uint64_t val);
#define MLX5_STORE64(reg, val) model_store((reg), (val))
#include "mlx5_direct.c"

#define BLOCKS 64u
#define RECVS 64u
#define CQES 128u
#define REG 256u
#define MEM 65536u
#define KEY 0x1234u

/* ---- the model ------------------------------------------------------------------- */

struct side {
	struct mlx5_qp qp;
	struct mlx5_cq cq;
	char sq[BLOCKS * MLX5_BB], rq[RECVS * 64], cqbuf[CQES * 64], reg[2 * REG], mem[MEM];
	uint64_t sq_id[BLOCKS], rq_id[RECVS];
	uint16_t blocks[BLOCKS];
	uint32_t dbrec[2], cqdb;
	uint32_t eaten, received, completed;	/* by the device */
	bool kicked;
};

static struct side side[2];
static const char *fault;		/* what the path did wrong */

/* What a request says. */
struct seen {
	unsigned op, flags, segs, index, pieces;
	uint32_t qpn, imm, rkey, len[8], lkey[8], inline_len;
	uint64_t addr, operand, compare, at[8];
	unsigned char bytes[1024];
};

static uint64_t be(const unsigned char *p, unsigned n)
{
	uint64_t v = 0;

	while (n--)
		v = v << 8 | *p++;
	return v;
}

static const unsigned char *byte(const struct side *s, uint32_t block, unsigned at)
{
	return (const unsigned char *) s->sq + (block * 64 + at) % sizeof(s->sq);
}

static void decode(const struct side *s, uint32_t block, struct seen *x)
{
	unsigned at = 16, i;
	uint32_t n;

	memset(x, 0, sizeof(*x));
	x->index = (unsigned) be(byte(s, block, 1), 2);
	x->op = *byte(s, block, 3);
	x->qpn = (uint32_t) be(byte(s, block, 4), 3);
	x->segs = *byte(s, block, 7);
	x->flags = *byte(s, block, 11);
	x->imm = (uint32_t) be(byte(s, block, 12), 4);
	if (x->op != 0x0a && x->op != 0x0b) {
		x->addr = be(byte(s, block, at), 8);
		x->rkey = (uint32_t) be(byte(s, block, at + 8), 4);
		at += 16;
	}
	if (x->op == 0x11 || x->op == 0x12) {
		x->operand = be(byte(s, block, at), 8);
		x->compare = be(byte(s, block, at + 8), 8);
		at += 16;
	}
	for (; at < x->segs * 16; at += 16) {
		n = (uint32_t) be(byte(s, block, at), 4);
		if (n & 0x80000000u) {
			x->inline_len = n & 0x7fffffffu;
			for (i = 0; i < x->inline_len; i++)
				x->bytes[i] = *byte(s, block, at + 4 + i);
			if (at + (4 + x->inline_len + 15) / 16 * 16 != x->segs * 16)
				fault = "inline data does not end the request";
			return;
		}
		x->len[x->pieces] = n;
		x->lkey[x->pieces] = (uint32_t) be(byte(s, block, at + 4), 4);
		x->at[x->pieces++] = be(byte(s, block, at + 8), 8);
	}
}

/* The processor has rung: all that the device will read must be there by now. */
static void model_store(char *reg, uint64_t val)
{
	struct side *s = reg >= side[1].reg && reg < side[1].reg + 2 * REG ? &side[1] : &side[0];
	size_t at = (size_t) (reg - s->reg) % REG;
	unsigned char raw[8];
	uint32_t index, counter = be32toh(s->dbrec[1]);

	memcpy(raw, &val, 8);
	if (!at) {
		index = (uint32_t) be(raw + 1, 2);
		if (memcmp(raw, byte(s, index, 0), 8))
			fault = "the register and the queue differ";
		if (((index + (raw[7] + 3u) / 4) & 0xffff) != counter)
			fault = "rung before the doorbell record was written";
		s->kicked = true;
	}
	memcpy(s->reg + (reg - s->reg), &val, 8);
}

static void complete(struct side *s, unsigned op, uint32_t counter, uint32_t len, uint32_t imm,
		     unsigned syndrome)
{
	unsigned char *cqe = (unsigned char *) s->cqbuf + s->completed % CQES * 64;
	uint32_t v;

	if (s->completed - (be32toh(s->cqdb) & 0xffffff) >= CQES)
		fault = "the completion queue overran";
	memset(cqe, 0, 63);
	v = htobe32(imm);
	memcpy(cqe + 36, &v, 4);
	v = htobe32(len);
	memcpy(cqe + 44, &v, 4);
	cqe[55] = (unsigned char) syndrome;
	v = htobe32(s->qp.sq.qpn);
	memcpy(cqe + 56, &v, 4);
	cqe[60] = (unsigned char) (counter >> 8);
	cqe[61] = (unsigned char) counter;
	cqe[63] = (unsigned char) (op << 4 | !!(s->completed & CQES));
	s->completed++;
}

static bool inside(const struct side *s, uint64_t addr, uint64_t len)
{
	return addr >= (uintptr_t) s->mem && addr + len <= (uintptr_t) s->mem + MEM;
}

/* Gather the data of a request.  Returns its length, or -1: a key or bounds are wrong. */
static long gather(const struct side *s, const struct seen *x, unsigned char *out)
{
	long len = 0;
	unsigned i;

	if (x->inline_len)
		memcpy(out, x->bytes, x->inline_len);
	for (i = 0; i < x->pieces; i++) {
		if (x->lkey[i] != KEY || !inside(s, x->at[i], x->len[i]))
			return -1;
		memcpy(out + len, (void *) (uintptr_t) x->at[i], x->len[i]);
		len += x->len[i];
	}
	return x->inline_len ? (long) x->inline_len : len;
}

static void arrive(struct side *to, unsigned op, const unsigned char *data, long len, uint32_t imm)
{
	const unsigned char *r = (unsigned char *) to->rq + to->received % RECVS * 64;

	if (((be32toh(to->dbrec[0]) - to->received) & 0xffff) == 0) {
		fault = "no receive is posted";
		return;
	}
	if (op != 1 && len && (be(r + 4, 4) != KEY || be(r, 4) < (uint64_t) len))
		fault = "a receive is malformed or short";
	else if (op != 1 && len)
		memcpy((void *) (uintptr_t) be(r + 8, 8), data, (size_t) len);
	complete(to, op, to->received, (uint32_t) len, imm, 0);
	to->received++;
}

static unsigned execute(struct side *s, struct side *to, const struct seen *x)
{
	unsigned char data[MEM];
	uint64_t old;
	long len = x->op >= 0x10 ? (long) x->len[0] : gather(s, x, data);

	if (len < 0)
		return 0x04;
	if (x->op != 0x0a && x->op != 0x0b && (len || x->op >= 0x10) &&
	    (x->rkey != KEY || !inside(to, x->addr, (uint64_t) len)))
		return 0x13;
	switch (x->op) {
	case 0x0a:
		arrive(to, 2, data, len, 0);
		break;
	case 0x0b:
		arrive(to, 3, data, len, x->imm);
		break;
	case 0x08:
	case 0x09:
		if (len)
			memcpy((void *) (uintptr_t) x->addr, data, (size_t) len);
		if (x->op == 0x09)
			arrive(to, 1, NULL, len, x->imm);
		break;
	case 0x10:
		memcpy((void *) (uintptr_t) x->at[0], (void *) (uintptr_t) x->addr, (size_t) len);
		break;
	default:
		memcpy(&old, (void *) (uintptr_t) x->addr, 8);
		memcpy((void *) (uintptr_t) x->at[0], &old, 8);
		old = x->op == 0x12 ? old + x->operand : old == x->compare ? x->operand : old;
		memcpy((void *) (uintptr_t) x->addr, &old, 8);
	}
	return 0;
}

/* ---- what was asked for -------------------------------------------------------------- */

struct asked {
	struct vrb_wr wr;
	struct ibv_sge sge[4];
};

static struct asked asked[BLOCKS];
static uint32_t asked_in, asked_out;

static void compare(const struct asked *a, const struct seen *x)
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

/* The device at work: all that it was told of. */
static void run(struct side *s, struct side *to)
{
	uint32_t end = be32toh(s->dbrec[1]);
	struct seen x;
	unsigned syndrome;

	if (!s->kicked)
		return;
	s->kicked = false;
	while ((s->eaten & 0xffff) != end) {
		decode(s, s->eaten, &x);
		assert_int_equal(x.index, s->eaten & 0xffff);
		assert_int_equal(x.qpn, s->qp.sq.qpn);
		compare(&asked[asked_out++ % BLOCKS], &x);
		syndrome = execute(s, to, &x);
		if (syndrome)
			complete(s, 13, s->eaten, 0, 0, syndrome);
		else if (x.flags & 0x08)
			complete(s, 0, s->eaten, 0, 0, 0);
		s->eaten += (x.segs + 3) / 4;
	}
	assert_null(fault);
}

/* ---- set up ------------------------------------------------------------------------------ */

static struct mlx5_qp *find_qp(struct mlx5_cq *cq, uint32_t qpn)
{
	return qpn == 100 ? &side[0].qp : qpn == 101 ? &side[1].qp : NULL;
}

static int setup(void **state)
{
	unsigned i;

	memset(side, 0, sizeof(side));
	fault = NULL;
	asked_in = asked_out = 0;
	for (i = 0; i < 2; i++) {
		struct side *s = &side[i];

		s->qp.sq = (struct mlx5_sq) {
			.base.ops = &vrb_sq_direct, .buf = s->sq, .mask = BLOCKS - 1, .qpn = 100 + i,
			.dbrec = s->dbrec, .reg = s->reg, .reg_size = REG, .wr_id = s->sq_id,
			.blocks = s->blocks,
		};
		s->qp.rq = (struct mlx5_rq) {
			.buf = s->rq, .mask = RECVS - 1, .stride = 64, .dbrec = s->dbrec,
			.wr_id = s->rq_id,
		};
		s->cq = (struct mlx5_cq) {
			.base.ops = &vrb_cq_direct, .buf = s->cqbuf, .mask = CQES - 1, .stride = 64,
			.dbrec = &s->cqdb, .find = find_qp,
		};
		vrb_mlx5_cq_init(&s->cq);
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
	assert_null(fault);
	run(&side[0], &side[1]);
}

static int take_one(struct side *s, struct vrb_wc *wc)
{
	return s->cq.base.ops->poll(&s->cq.base, wc, 1);
}

static struct asked simple(enum vrb_op op, unsigned flags, uint32_t len)
{
	return (struct asked) {
		.wr = { .op = op, .flags = flags, .wr_id = 42, .sge_cnt = 1, .imm = 0xabcd1234,
			.rkey = KEY, .addr = (uintptr_t) side[1].mem + 4096 },
		.sge = { { (uintptr_t) side[0].mem, len, KEY } },
	};
}

/* ---- cases ---------------------------------------------------------------------------------- */

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

/* A queue without completions fills up, says so, and changes nothing. */
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
	model_store(side[0].reg, load64(side[0].sq));
	assert_non_null(fault);
}

static uint64_t seed = 1;

static uint32_t rnd(uint32_t below)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t) (seed >> 33) % below;
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
		/* what comes back goes behind what is sent: inline data was taken earlier */
		a.sge[i] = (struct ibv_sge) { (uintptr_t) side[0].mem + rnd(16384) +
					      (op >= VRB_OP_READ ? 32768 : 0),
			op >= VRB_OP_ADD ? 8 : op == VRB_OP_READ ? 1 + rnd(4000) :
			rnd(a.wr.flags & IBV_SEND_INLINE ? 200 : 5000), KEY };
	return a;
}

static void random_requests(void **state)
{
	const char *env = getenv("MLX5_REQUESTS");
	uint64_t n, total = env ? strtoull(env, NULL, 10) : 200000, expect = 0;
	struct ibv_sge in = { (uintptr_t) side[1].mem, 20000, KEY };
	unsigned quiet = 0, sends = 0;
	struct vrb_wc wc;
	struct asked a;

	for (n = 0; n < MEM; n++)
		side[0].mem[n] = (char) rnd(256);
	for (n = 0; n < total; n++) {
		while (!vrb_mlx5_recv(&side[1].qp.rq, 7, &in, 1))
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
		while (take_one(&side[1], &wc))
			sends++;
		if (!rnd(4) && take_one(&side[0], &wc)) {
			assert_int_equal(wc.status, IBV_WC_SUCCESS);
			assert_true(wc.wr_id >= expect);
			expect = wc.wr_id + 1;
		}
	}
	ring();
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
		cmocka_unit_test_setup(random_requests, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Requests for remote memory that no honest initiator sends, packet by packet. */
#include "engine/sim/case.h"

#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>

#include "engine/atomic.h"

#define MEM 20000
#define KEY 77
#define KEY_PIECES 78		/* two pieces of 12 bytes */
#define NO_KEY 1234

static signed char mem[MEM];
static char pieces[2][12];
static struct fid_mr *mr, *mr_pieces;

static int open_all(void **arg)
{
	struct iovec iov[2] = { { pieces[0], 12 }, { pieces[1], 12 } };
	uint64_t access = FI_REMOTE_READ | FI_REMOTE_WRITE;

	set_up(arg);
	memset(mem, 0, sizeof(mem));
	memset(pieces, 0, sizeof(pieces));
	assert_int_equal(fi_mr_reg(w.domain, mem, MEM, access, 0, KEY, 0, &mr, NULL), 0);
	assert_int_equal(fi_mr_regv(w.domain, iov, 2, access, 0, KEY_PIECES, 0, &mr_pieces, NULL), 0);
	memset(out, 0xff, sizeof(out));
	connected();
	return 0;
}

static int close_all(void **arg)
{
	assert_int_equal(fi_close(&mr->fid), 0);
	assert_int_equal(fi_close(&mr_pieces->fid), 0);
	return tear_down(arg);
}

static void send_write(uint64_t key, uint64_t addr, size_t len, uint8_t flags, uint32_t id)
{
	uint8_t hdr[ENG_HDR_MAX];
	size_t at = wire_put_rma(hdr, wire_put_base(hdr, WIRE_WRITE, flags, 0, id, len), addr, len, key);

	sim_inject_packet(PORT(0), PORT(1), hdr, at, out[0], len);
	world_settle(&w);
}

/* Pieces behind one that was refused are passed over, without an answer for each. */
static void a_write_is_refused_as_a_whole(void **arg)
{
	unsigned nacks = sim_ops[WIRE_NACK];

	send_write(NO_KEY, 0, 100, 0, 5);
	send_write(KEY, 0, 100, 0, 5);
	send_write(KEY, 100, 100, WIRE_F_LAST, 5);
	assert_int_equal(sim_ops[WIRE_NACK] - nacks, 1);
	assert_int_equal(mem[0], 0);
	assert_int_equal(mem[100], 0);
	/* the next one is another write */
	send_write(KEY, 0, 100, WIRE_F_LAST, 6);
	assert_int_equal(mem[0], -1);
	assert_int_equal(mem[99], -1);
	assert_int_equal(mem[100], 0);
}

/* send_atomic - of 64-bit elements: @cnt ranges of @elems each, with @len bytes of operands.  The
 * connection breaks.
 */
static void bad_atomic(enum wire_atomic_kind kind, unsigned cnt, uint64_t elems, size_t len)
{
	struct wire_atomic amo = { .kind = (uint8_t) kind, .op = kind == WIRE_AMO_COMPARE ? FI_CSWAP : FI_SUM,
				   .type = FI_UINT64 };
	uint8_t hdr[ENG_HDR_MAX];
	uint64_t word;
	size_t at = wire_put_base(hdr, WIRE_ATOMIC, 0, 0, 9, len);

	memcpy(&word, &amo, sizeof(word));
	memcpy(hdr + at, &word, sizeof(word));
	at += sizeof(word);
	while (cnt--)
		at = wire_put_rma(hdr, at, 0, elems, KEY);
	assert_int_equal(fi_trecv(b->ep, in[1], 1, NULL, 0, 1, 0, &ctx[1]), 0);
	sim_inject_packet(PORT(0), PORT(1), hdr, at, out[0], len);
	expect_err(b, &ctx[1], FI_EIO);
	world_settle(&w);
	assert_int_equal(mem[0], 0);
	connected();
}

static void atomics_have_the_operands_that_they_need(void **arg)
{
	bad_atomic(WIRE_AMO_BASE, 1, 4, 24);		/* fewer operands than elements */
	bad_atomic(WIRE_AMO_BASE, 1, 4, 40);
	bad_atomic(WIRE_AMO_FETCH, 2, 2, 16);
	bad_atomic(WIRE_AMO_COMPARE, 1, 4, 32);		/* no comparands */
	bad_atomic(WIRE_AMO_BASE, 1, 0, 0);
}

/* In one range, or in all of them. */
static void atomics_have_as_many_elements_as_a_call(void **arg)
{
	bad_atomic(WIRE_AMO_BASE, 1, ENG_ATOMIC_MAX / 8 + 1, ENG_ATOMIC_MAX + 8);
	bad_atomic(WIRE_AMO_BASE, 2, ENG_ATOMIC_MAX / 8, 2 * ENG_ATOMIC_MAX);
	bad_atomic(WIRE_AMO_FETCH, 3, ENG_ATOMIC_MAX / 16, ENG_ATOMIC_MAX / 2 * 3);
}

static void an_element_lies_in_one_piece(void **arg)
{
	uint64_t one[3] = { 1, 1, 1 };

	assert_int_equal(fi_atomic(a->ep, one, 1, NULL, 1, 8, KEY_PIECES, FI_UINT64, FI_SUM, &ctx[3]), 0);
	expect(a, &ctx[3], FI_ATOMIC | FI_WRITE, 0);	/* too late to be reported */
	assert_int_equal(fi_fetch_atomic(a->ep, one, 3, NULL, in[2], NULL, 1, 0, KEY_PIECES, FI_UINT64,
					 FI_SUM, &ctx[4]), 0);
	expect_err(a, &ctx[4], FI_EINVAL);
	assert_int_equal(pieces[0][0] | pieces[0][8] | pieces[1][0], 0);
	assert_int_equal(fi_atomic(a->ep, one, 1, NULL, 1, 0, KEY_PIECES, FI_UINT64, FI_SUM, &ctx[3]), 0);
	expect(a, &ctx[3], FI_ATOMIC | FI_WRITE, 0);
	world_settle(&w);
	assert_memory_equal(pieces[0], one, sizeof(one[0]));
}

#define S(name) cmocka_unit_test_setup_teardown(name, open_all, close_all)

int main(void)
{
	const struct CMUnitTest tests[] = {
		S(a_write_is_refused_as_a_whole),
		S(atomics_have_the_operands_that_they_need),
		S(atomics_have_as_many_elements_as_a_call),
		S(an_element_lies_in_one_piece),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) ? 1 : 0;
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Remote memory operations and atomics from and to a peer in the compatible format. */
#include "rxm/compat/test/peer.h"

#include <rdma/fi_atomic.h>

/* Reads and writes of the program are those of the endpoints below. */
static void rma_out(void **state)
{
	uint64_t addr = peer.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uintptr_t) peer.memory : 0;
	uint64_t key = fi_mr_key(peer.mr);
	uint8_t *buf = malloc(BIG);
	struct iovec iov[2] = { { buf, 1000 }, { buf + 5000, 50000 } };
	struct fi_rma_iov rma[2] = { { addr + 10, 30000, key }, { addr + 100000, 21000, key } };
	struct fi_msg_rma msg = {
		.msg_iov = iov, .iov_count = 2, .addr = us.peer, .rma_iov = rma, .rma_iov_count = 2,
	};
	struct fi_cq_tagged_entry entry;

	they_connect();
	fill(buf, BIG, 9);
	memset(peer.memory, 0, BIG);
	OK(fi_write(us.ep, buf, 5000, NULL, us.peer, addr + 50, key, NULL));
	entry = completion();
	assert_int_equal(entry.flags & (FI_RMA | FI_WRITE), FI_RMA | FI_WRITE);
	none();		/* it is complete before it is there */
	check(peer.memory + 50, 0, 5000, 9);
	OK(fi_writemsg(us.ep, &msg, FI_COMPLETION | FI_DELIVERY_COMPLETE));
	completion();
	check(peer.memory + 10, 0, 1000, 9);
	check(peer.memory + 1010, 5000, 29000, 9);
	check(peer.memory + 100000, 34000, 21000, 9);
	OK(fi_inject_write(us.ep, "inject", 6, us.peer, addr + 7, key));
	/* in order with what follows */
	OK(fi_send(us.ep, "abcd", 4, NULL, us.peer, NULL));
	they_get(EAGER, 4);
	assert_memory_equal(peer.memory + 7, "inject", 6);
	completion();
	fill(peer.memory, BIG, 10);
	memset(buf, 0, BIG);
	OK(fi_read(us.ep, buf, BIG, NULL, us.peer, addr, key, NULL));
	entry = completion();
	assert_int_equal(entry.flags & (FI_RMA | FI_READ), FI_RMA | FI_READ);
	check(buf, 0, BIG, 10);
	OK(fi_read(us.ep, buf, 0, NULL, us.peer, addr, key, NULL));
	completion();
	free(buf);
}

/* A write with data: the peer's endpoint reports it. */
static void write_with_data_out(void **state)
{
	uint64_t addr = peer.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uintptr_t) peer.memory : 0;
	struct fi_cq_msg_entry entry;
	unsigned len;

	they_connect();
	for (len = 0; len < 2; len++) {
		OK(fi_writedata(us.ep, "x", len, NULL, 0x11223344, us.peer, addr, fi_mr_key(peer.mr), NULL));
		entry = their_completion();
		assert_int_equal(entry.flags & (FI_REMOTE_CQ_DATA | FI_REMOTE_WRITE),
				 FI_REMOTE_CQ_DATA | FI_REMOTE_WRITE);
		completion();
	}
	assert_int_equal(peer.memory[0], 'x');
}

/* The peer reads and writes our memory by the key that the program has, without the engine. */
static void rma_in(void **state)
{
	uint64_t at = us.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uintptr_t) us.memory : 0;
	struct fi_cq_tagged_entry entry;

	they_connect();
	assert_int_equal(fi_mr_key(us.mr), 7);
	fill(peer.memory, sizeof(us.memory), 11);
	OK(fi_write(peer.ep, peer.memory, sizeof(us.memory), fi_mr_desc(peer.mr), 0, at, 7, &ctx[BUFS]));
	their_completion();
	OK(fi_read(peer.ep, peer.memory + 8192, sizeof(us.memory), fi_mr_desc(peer.mr), 0, at, 7,
		   &ctx[BUFS]));
	their_completion();
	check((uint8_t *) us.memory, 0, sizeof(us.memory), 11);
	check(peer.memory + 8192, 0, sizeof(us.memory), 11);
	OK(fi_writedata(peer.ep, peer.memory + 1, 100, fi_mr_desc(peer.mr), 0x11223344, 0, at, 7,
			&ctx[BUFS]));
	entry = completion();
	assert_int_equal(entry.flags, FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA);
	assert_int_equal(entry.data, 0x11223344);
	assert_int_equal(entry.len, 100);
	check((uint8_t *) us.memory, 1, 100, 11);
	their_completion();
}

/* Each is done by the engine and answered once, also one that fails. */
static void atomics_in(void **state)
{
	uint64_t operand[2] = { 5, 42 };
	const uint8_t *got;
	char text[1024];

	they_connect();
	us.memory[3] = 40;
	with_list(text, ATOMIC_HEAD("06", LEN("68"), "0702010000000000"), 24, 1, 7);
	they_send(text, (uint8_t *) operand, 8);
	they_get(RESPONSE("06", LEN("08"), "0702000000000000") NONE, 0);
	assert_int_equal(us.memory[3], 45);
	with_list(text, ATOMIC_HEAD("07", LEN("68"), "0702010000000000"), 24, 1, 7);
	they_send(text, (uint8_t *) operand, 8);
	got = they_get(RESPONSE("07", LEN("10"), "0702000000000000") "0000000000000008", 8);
	assert_memory_equal(got, "\55\0\0\0\0\0\0\0", 8);
	assert_int_equal(us.memory[3], 50);
	/* FI_ATOMIC_READ */
	with_list(text, ATOMIC_HEAD("07", LEN("60"), "070a010000000000"), 24, 1, 7);
	they_send(text, NULL, 0);
	got = they_get(RESPONSE("07", LEN("10"), "070a000000000000") "0000000000000008", 8);
	assert_memory_equal(got, "\62\0\0\0\0\0\0\0", 8);
	/* FI_CSWAP: 42 for 50 */
	operand[0] = 42;
	operand[1] = 50;
	with_list(text, ATOMIC_HEAD("08", LEN("70"), "070c010000000000"), 24, 1, 7);
	they_send(text, (uint8_t *) operand, 16);
	got = they_get(RESPONSE("08", LEN("10"), "070c000000000000") "0000000000000008", 8);
	assert_memory_equal(got, "\62\0\0\0\0\0\0\0", 8);
	assert_int_equal(us.memory[3], 42);
	/* no such operation */
	with_list(text, ATOMIC_HEAD("07", LEN("68"), "0777010000000000"), 24, 1, 7);
	they_send(text, (uint8_t *) operand, 8);
	they_get(RESPONSE("07", LEN("08"), "0777000000000000") "ffffffa100000000", 0);
	/* no such memory; the connection lives on */
	with_list(text, ATOMIC_HEAD("07", LEN("68"), "0702010000000000"), 24, 1, 99);
	they_send(text, (uint8_t *) operand, 8);
	they_get(RESPONSE("07", LEN("08"), "0702000000000000") "fffffff300000000", 0);
	assert_int_equal(us.memory[3], 42);
	with_list(text, ATOMIC_HEAD("06", LEN("68"), "0702010000000000"), 24, 1, 7);
	they_send(text, (uint8_t *) operand, 8);
	they_get(RESPONSE("06", LEN("08"), "0702000000000000") NONE, 0);
	assert_int_equal(us.memory[3], 84);
}

/* they_answer - the request @hex, but for its number, whose list names key 7 at 0x1000; the response is
 * @status and @result.
 */
static void they_answer(const char *op, size_t operands, uint8_t amo, const char *status, uint64_t result)
{
	static uint8_t got[ROOM];
	struct fi_cq_msg_entry entry = their_completion();
	char text[1024], id[20], bytes[20] = "";
	uint64_t word[3], number, kind = 7 | (uint64_t) amo << 8;
	bool has = status[7] == '0' && op[1] != '6';
	size_t i = (size_t) ((struct fi_context2 *) entry.op_context - ctx);

	memcpy(got, peer.in[i], entry.len);
	post((unsigned) i);
	assert_int_equal(entry.len, 160 + operands);
	assert_int_equal(got[1], 4);
	assert_int_equal(got[34], strtol(op, NULL, 16));
	assert_int_equal(got[40], 96 + operands);
	assert_memory_equal(got + 56, &kind, 2);
	assert_int_equal(got[58], 1);
	memcpy(word, got + 64, sizeof(word));
	assert_int_equal(word[0], 0x1000);
	assert_int_equal(word[1], 1);
	assert_int_equal(word[2], 7);
	memcpy(&number, got + 16, sizeof(number));
	hex_word(id, number);
	if (has)
		hex_word(bytes, result);
	snprintf(text, sizeof(text), "0405000000000000" NONE "%s" NONE "0200%s0000000000%s00000000000000" NONE
		 "07%02x000000000000%s%s%s", id, op, has ? "10" : "08", amo, status,
		 has ? "00000008" : "00000000", bytes);
	they_send(text, NULL, 0);
}

static void atomics_out(void **state)
{
	uint64_t operand = 1, compare = 2, old = 0;

	they_connect();
	OK(fi_fetch_atomic(us.ep, &operand, 1, NULL, &old, NULL, us.peer, 0x1000, 7, FI_UINT64, FI_SUM,
			   NULL));
	they_answer("07", 8, FI_SUM, "00000000", 42);
	assert_int_equal(completion().flags & (FI_ATOMIC | FI_READ), FI_ATOMIC | FI_READ);
	assert_int_equal(old, 42);
	OK(fi_compare_atomic(us.ep, &operand, 1, NULL, &compare, NULL, &old, NULL, us.peer, 0x1000, 7,
			     FI_UINT64, FI_CSWAP, NULL));
	they_answer("08", 16, FI_CSWAP, "00000000", 43);
	completion();
	assert_int_equal(old, 43);
	OK(fi_fetch_atomic(us.ep, NULL, 1, NULL, &old, NULL, us.peer, 0x1000, 7, FI_UINT64, FI_ATOMIC_READ,
			   NULL));
	they_answer("07", 0, FI_ATOMIC_READ, "00000000", 44);
	completion();
	assert_int_equal(old, 44);
	OK(fi_atomic(us.ep, &operand, 1, NULL, us.peer, 0x1000, 7, FI_UINT64, FI_MAX, NULL));
	none();		/* complete when it is answered */
	they_answer("06", 8, FI_MAX, "00000000", 0);
	assert_int_equal(completion().flags & (FI_ATOMIC | FI_WRITE), FI_ATOMIC | FI_WRITE);
	/* refused: either kind, and the connection lives on */
	OK(fi_atomic(us.ep, &operand, 1, NULL, us.peer, 0x1000, 7, FI_UINT64, FI_SUM, NULL));
	they_answer("06", 8, FI_SUM, "fffffff3", 0);
	assert_int_equal(failed_completion(), FI_EACCES);
	OK(fi_fetch_atomic(us.ep, &operand, 1, NULL, &old, NULL, us.peer, 0x1000, 7, FI_UINT64, FI_SUM,
			   NULL));
	they_answer("07", 8, FI_SUM, "fffffff3", 0);
	assert_int_equal(failed_completion(), FI_EACCES);
	OK(fi_send(us.ep, "abcd", 4, NULL, us.peer, NULL));
	they_get(EAGER, 4);
	completion();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(rma_out), T(write_with_data_out), T(rma_in), T(atomics_in), T(atomics_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

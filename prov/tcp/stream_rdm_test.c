/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * stream_rdm_test.c - RDM endpoints in the compatible format: two of this library, which are told to
 * use it.
 */
#include "tcp/test/rdm.h"

static void one_message(size_t len, bool late, bool tagged, uint64_t flags)
{
	struct iovec iov[2] = { { one.buf, len / 3 }, { one.buf + len / 3, len - len / 3 } };
	struct fi_msg_tagged msg = { .msg_iov = iov, .iov_count = 2, .addr = one.peer, .tag = 7, .data = 77 };
	struct fi_msg untagged = { .msg_iov = iov, .iov_count = 2, .addr = one.peer, .data = 77 };
	struct fi_cq_tagged_entry entry;
	fi_addr_t from;

	fill(one.buf, len, (uint8_t) len);
	memset(two.buf, 0, len);
	if (!late)
		CALL(tagged ? fi_trecv(two.ep, two.buf, BIG, NULL, FI_ADDR_UNSPEC, 7, 0, NULL) :
			      fi_recv(two.ep, two.buf, BIG, NULL, FI_ADDR_UNSPEC, NULL));
	if (tagged)
		POST(fi_tsendmsg(one.ep, &msg, flags | FI_COMPLETION));
	else
		POST(fi_sendmsg(one.ep, &untagged, flags | FI_COMPLETION));
	if (late) {
		usleep(1000);
		poll_both();
		poll_both();
		CALL(tagged ? fi_trecv(two.ep, two.buf, BIG, NULL, FI_ADDR_UNSPEC, 7, 0, NULL) :
			      fi_recv(two.ep, two.buf, BIG, NULL, FI_ADDR_UNSPEC, NULL));
	}
	entry = done_from(&two, &from);
	assert_int_equal(entry.len, len);
	assert_int_equal(from, two.peer);
	assert_int_equal(entry.tag, tagged ? 7 : 0);
	assert_int_equal(!!(entry.flags & FI_REMOTE_CQ_DATA), !!(flags & FI_REMOTE_CQ_DATA));
	if (flags & FI_REMOTE_CQ_DATA)
		assert_int_equal(entry.data, 77);
	assert_memory_equal(one.buf, two.buf, len);
	assert_true(done(&one).flags & FI_SEND);
}

static void messages(void **state)
{
	static const size_t lens[] = { 0, 1, 129, 4096, 65536, 65537, 1 << 20, BIG };
	size_t i;
	int kind;

	/* each is the first over a new connection once: it waits there in no format */
	for (i = 0; i < CNT(lens); i++) {
		open_pair();
		for (kind = 0; kind < 16; kind++)
			one_message(lens[i], kind & 1, kind & 2, (kind & 4 ? FI_DELIVERY_COMPLETE : 0) |
				    (kind & 8 ? FI_REMOTE_CQ_DATA : 0));
		close_pair();
	}
}

/* Many at once, in both directions, long ones among them: order is kept, and nothing is mixed up. */
static void many(void **state)
{
	static const size_t lens[] = { 8, 100000, 0, 3000, BIG, 16, 70000, 8 };
	struct side *side[] = { &one, &two };
	struct fi_cq_tagged_entry entry;
	unsigned got[2] = { 0 }, sent[2] = { 0 }, k;
	size_t i;

	open_pair();
	fill(one.buf, BIG, 3);
	fill(two.buf, BIG, 4);
	for (i = 0; i < CNT(lens); i++)
		for (k = 0; k < 2; k++)
			POST(fi_tsend(side[k]->ep, side[k]->buf, lens[i], NULL, side[k]->peer, i, NULL));
	for (i = 0; i < CNT(lens); i++)
		for (k = 0; k < 2; k++)
			CALL(fi_trecv(side[k]->ep, side[k]->buf + BIG, BIG, NULL, FI_ADDR_UNSPEC, 0,
				      ~UINT64_C(0), NULL));
	while (got[0] + got[1] + sent[0] + sent[1] < 4 * CNT(lens))
		for (k = 0; k < 2; k++) {
			if (got[k] + sent[k] == 2 * CNT(lens))
				continue;
			entry = done(side[k]);
			if (entry.flags & FI_SEND) {
				sent[k]++;
				continue;
			}
			assert_int_equal(entry.tag, got[k]);
			assert_int_equal(entry.len, lens[got[k]++]);
			assert_memory_equal(side[k]->buf + BIG, side[!k]->buf, entry.len);
		}
	close_pair();
}

static uint64_t base_of(const struct side *s)
{
	return info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uintptr_t) s->buf : 0;
}

/* Reads and writes of any length, in up to 8 ranges; with completion data in up to 4. */
static void remote_memory(void **state)
{
	static const size_t eachs[] = { 0, 1000, BIG / 40 };
	struct fi_rma_iov rma[8];
	struct iovec iov = { one.buf, 0 };
	struct fi_msg_rma msg = { .msg_iov = &iov, .iov_count = 1, .rma_iov = rma, .data = 99 };
	struct fi_cq_tagged_entry entry;
	size_t cnt, e, i, len;

	open_pair();
	msg.addr = one.peer;
	for (e = 0; e < CNT(eachs); e++)
		for (cnt = 1; cnt <= 8; cnt++) {
			for (i = 0, len = 0; i < cnt; len += rma[i++].len)
				rma[i] = (struct fi_rma_iov) { base_of(&two) + i * BIG / 4,
							       eachs[e] * (i + 1), fi_mr_key(two.mr) };
			iov.iov_len = len;
			msg.rma_iov_count = cnt;
			fill(one.buf, len, (uint8_t) cnt);
			POST(fi_writemsg(one.ep, &msg, FI_COMPLETION | FI_DELIVERY_COMPLETE |
					 (cnt <= 4 ? FI_REMOTE_CQ_DATA : 0)));
			assert_true(done(&one).flags & FI_WRITE);
			if (cnt <= 4) {
				entry = done(&two);
				assert_int_equal(entry.data, 99);
				assert_int_equal(entry.len, len);
			}
			for (i = 0, len = 0; i < cnt; len += rma[i++].len)
				assert_memory_equal(one.buf + len, two.buf + i * BIG / 4, rma[i].len);
			memset(one.buf, 0, len);
			POST(fi_readmsg(one.ep, &msg, FI_COMPLETION));
			assert_true(done(&one).flags & FI_READ);
			for (i = 0, len = 0; i < cnt; len += rma[i++].len)
				assert_memory_equal(one.buf + len, two.buf + i * BIG / 4, rma[i].len);
		}
	close_pair();
}

/* A write that the engine cuts is one frame if the peer reports it, and one report. */
static void long_writes(void **state)
{
	struct fi_cq_tagged_entry entry;
	int data;

	open_pair();
	for (data = 0; data < 2; data++) {
		fill(one.buf, BIG, (uint8_t) data);
		memset(two.buf, 0, BIG);
		POST(data ? fi_writedata(one.ep, one.buf, BIG, NULL, 5, one.peer, base_of(&two), 2, NULL) :
			    fi_write(one.ep, one.buf, BIG, NULL, one.peer, base_of(&two), 2, NULL));
		assert_true(done(&one).flags & FI_WRITE);
		if (data) {
			entry = done(&two);
			assert_int_equal(entry.len, BIG);
			assert_int_equal(entry.data, 5);
		}
		POST(fi_read(one.ep, one.buf + BIG, BIG, NULL, one.peer, base_of(&two), 2, NULL));
		assert_true(done(&one).flags & FI_READ);
		assert_memory_equal(one.buf, two.buf, BIG);
		assert_memory_equal(one.buf, one.buf + BIG, BIG);
	}
	/* two reads at once: their answers come in order, in pieces that are not mixed */
	POST(fi_read(one.ep, one.buf + BIG, BIG, NULL, one.peer, base_of(&two), 2, &one));
	POST(fi_read(one.ep, one.buf, BIG / 2, NULL, one.peer, base_of(&two), 2, &two));
	assert_ptr_equal(done(&one).op_context, &one);
	assert_ptr_equal(done(&one).op_context, &two);
	assert_memory_equal(one.buf + BIG, two.buf, BIG);
	assert_memory_equal(one.buf, two.buf, BIG / 2);
	close_pair();
}

/* What the protocol does not have is an error of the operation; the connection stays. */
static void refused(void **state)
{
	struct iovec iov = { one.buf, 8 };
	struct fi_rma_iov rma[5] = { { 0 } };
	struct fi_msg_tagged msg = { .msg_iov = &iov, .iov_count = 1 };
	struct fi_msg_rma write = { .msg_iov = &iov, .iov_count = 1, .rma_iov = rma, .rma_iov_count = 5 };
	uint64_t operand = 1;
	size_t i;

	open_pair();
	msg.addr = write.addr = one.peer;
	for (i = 0; i < 5; i++)		/* nothing that could be merged */
		rma[i] = (struct fi_rma_iov) { base_of(&two) + 100 * i, i < 3 ? 2 : 1, 2 };
	for (i = 0; i < 2; i++) {	/* before and after there is a connection */
		POST(fi_tsendmsg(one.ep, &msg, FI_MATCH_COMPLETE));
		assert_int_equal(failed(&one).err, FI_EOPNOTSUPP);
		POST(fi_writemsg(one.ep, &write, FI_REMOTE_CQ_DATA));
		assert_int_equal(failed(&one).err, FI_EOPNOTSUPP);
		POST(fi_atomic(one.ep, &operand, 1, NULL, one.peer, 0, 2, FI_UINT64, FI_SUM, NULL));
		assert_int_equal(failed(&one).err, FI_EOPNOTSUPP);
		POST(fi_fetch_atomic(one.ep, &operand, 1, NULL, one.buf, NULL, one.peer, 0, 2, FI_UINT64,
				     FI_SUM, NULL));
		assert_int_equal(failed(&one).err, FI_EOPNOTSUPP);
		one_message(100, false, true, FI_DELIVERY_COMPLETE);
	}
	close_pair();
}

static void itself(void **state)
{
	size_t len;

	open_side(&one);
	knows(&one, &one.name);
	for (len = 8; len <= 200000; len += 199992) {
		fill(one.buf, len, 1);
		CALL(fi_trecv(one.ep, one.buf + BIG, BIG, NULL, one.peer, 1, 0, NULL));
		POST(fi_tsend(one.ep, one.buf, len, NULL, one.peer, 1, NULL));
		done(&one);
		done(&one);
		assert_memory_equal(one.buf, one.buf + BIG, len);
	}
	close_side(&one);
}

/* Both connect at once: one connection stands, and every message arrives. */
static void simultaneous(void **state)
{
	int round, i, got;

	for (round = 0; round < 20; round++) {
		open_pair();
		for (i = 0; i < 2; i++) {
			CALL(fi_recv(one.ep, one.buf, 8, NULL, FI_ADDR_UNSPEC, NULL));
			CALL(fi_recv(two.ep, two.buf, 8, NULL, FI_ADDR_UNSPEC, NULL));
		}
		for (i = 0; i < 2; i++) {
			POST(fi_inject(one.ep, one.buf, 8, one.peer));
			POST(fi_inject(two.ep, two.buf, 8, two.peer));
		}
		for (got = 0; got < 2; got++) {
			assert_true(done(&one).flags & FI_RECV);
			assert_true(done(&two).flags & FI_RECV);
		}
		close_pair();
	}
}

/* An access that is refused ends the connection; the next operation makes another. */
static void wrong_key(void **state)
{
	open_pair();
	POST(fi_read(one.ep, one.buf, 8, NULL, one.peer, 0, 12345, NULL));
	assert_int_not_equal(failed(&one).err, 0);
	one_message(100, false, true, FI_DELIVERY_COMPLETE);
	close_pair();
}

int main(void)
{
	static const struct CMUnitTest compatible[] = {
		cmocka_unit_test(messages),
		cmocka_unit_test(many),
		cmocka_unit_test(remote_memory),
		cmocka_unit_test(long_writes),
		cmocka_unit_test(refused),
		cmocka_unit_test(itself),
		cmocka_unit_test(simultaneous),
		cmocka_unit_test(wrong_key),
	};

	return run("compatible", compatible, CNT(compatible));
}

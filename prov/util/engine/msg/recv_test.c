/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Which messages a receive takes: by source, after a look, or none any more. */
#include "engine/sim/case.h"

/* ---- memory ----------------------------------------------------------------- */

/* Receives that are posted beside an unexpected message take the slow path, and messages that
 * match them at once the fast one: what that gives back must serve the next receive.
 */
static void test_receives_beside_an_unexpected_message_reuse_memory(void **arg)
{
	struct comp comp;
	size_t used = 0;
	int i;

	assert_int_equal(fi_tinject(a->ep, "unexpected", 10, 1, 99), 0);
	for (i = 0; i < 1000; i++) {
		assert_int_equal(fi_trecv(b->ep, in[0], 8, NULL, FI_ADDR_UNSPEC, 1, 0, &ctx[0]), 0);
		assert_int_equal(fi_tinject(a->ep, "x", 1, 1, 1), 0);
		node_wait(&w, b, &comp);
		assert_int_equal(comp.e.tag, 1);
		if (i == 100)
			used = eng_of(b)->grp->recvs.used;
	}
	assert_int_equal(eng_of(b)->grp->recvs.used, used);
	assert_int_equal(fi_trecv(b->ep, in[0], 10, NULL, FI_ADDR_UNSPEC, 99, 0, &ctx[1]), 0);
	expect(b, &ctx[1], FI_RECV | FI_TAGGED, 10);
}

/* ---- sources ---------------------------------------------------------------- */

static void test_directed_receives(void **arg)
{
	struct comp comp;

	assert_int_equal(fi_recv(c->ep, in[1], 8, NULL, 1, &ctx[1]), 0);
	assert_int_equal(fi_recv(c->ep, in[0], 8, NULL, 0, &ctx[0]), 0);
	assert_int_equal(fi_recv(c->ep, in[2], 8, NULL, FI_ADDR_UNSPEC, &ctx[2]), 0);
	assert_int_equal(fi_inject(a->ep, "from a", 7, 2), 0);
	node_wait(&w, c, &comp);
	assert_ptr_equal(comp.e.op_context, &ctx[0]);
	assert_int_equal(comp.src, 0);
	assert_int_equal(fi_inject(b->ep, "from b", 7, 2), 0);
	node_wait(&w, c, &comp);
	assert_ptr_equal(comp.e.op_context, &ctx[1]);
	assert_int_equal(comp.src, 1);
	assert_int_equal(fi_inject(b->ep, "again!", 7, 2), 0);
	expect(c, &ctx[2], FI_RECV | FI_MSG, 7);
}

static void test_source_follows_the_address_vector(void **arg)
{
	struct sockaddr_in addr;
	size_t len = sizeof(addr);
	fi_addr_t fi_addr = 0;
	struct comp comp;

	assert_int_equal(fi_av_lookup(b->av, 0, &addr, &len), 0);
	assert_int_equal(fi_inject(a->ep, "1", 1, 1), 0);
	assert_int_equal(fi_recv(b->ep, in[0], 8, NULL, FI_ADDR_UNSPEC, NULL), 0);
	node_wait(&w, b, &comp);
	assert_int_equal(comp.src, 0);
	assert_int_equal(fi_av_remove(b->av, &fi_addr, 1, 0), 0);
	assert_int_equal(fi_inject(a->ep, "2", 1, 1), 0);
	assert_int_equal(fi_recv(b->ep, in[0], 8, NULL, FI_ADDR_UNSPEC, NULL), 0);
	node_wait(&w, b, &comp);
	assert_true(comp.src == FI_ADDR_NOTAVAIL);
	assert_int_equal(fi_send(b->ep, out[0], 1, NULL, 0, NULL), -FI_EINVAL);
	assert_int_equal(fi_av_insert(b->av, &addr, 1, &fi_addr, 0, NULL), 1);
	assert_int_equal(fi_inject(a->ep, "3", 1, 1), 0);
	assert_int_equal(fi_recv(b->ep, in[0], 8, NULL, FI_ADDR_UNSPEC, NULL), 0);
	node_wait(&w, b, &comp);
	assert_true(comp.src == fi_addr);
	assert_int_equal(fi_inject(b->ep, "4", 1, fi_addr), 0);
	assert_int_equal(fi_recv(a->ep, in[0], 8, NULL, FI_ADDR_UNSPEC, &ctx[4]), 0);
	expect(a, &ctx[4], FI_RECV | FI_MSG, 1);
}

static void test_unknown_source_is_an_error_if_asked_for(void **arg)
{
	struct fi_cq_err_entry err = { 0 };
	struct sockaddr_in addr, *from;
	size_t len = sizeof(addr);
	fi_addr_t fi_addr = 0;
	char data[64];
	int i;

	node_close(&w, 1);
	b->caps = ENG_TX_CAPS | ENG_RX_CAPS | FI_SOURCE_ERR;
	node_open(&w, 1);
	assert_int_equal(fi_getname(&a->ep->fid, &addr, &len), 0);
	assert_int_equal(fi_av_remove(b->av, &fi_addr, 1, 0), 0);
	assert_int_equal(fi_inject(a->ep, "hello", 5, 1), 0);
	assert_int_equal(fi_recv(b->ep, in[0], 8, NULL, FI_ADDR_UNSPEC, &ctx[0]), 0);
	for (i = 0; i < 100; i++)
		world_poll(&w);
	err.err_data = data;
	err.err_data_size = sizeof(data);
	assert_int_equal(fi_cq_readerr(b->cq, &err, 0), 1);
	assert_int_equal(err.err, FI_EADDRNOTAVAIL);
	assert_ptr_equal(err.op_context, &ctx[0]);
	assert_int_equal(err.len, 5);
	assert_memory_equal(in[0], "hello", 5);
	from = err.err_data;
	assert_int_equal(err.err_data_size, sizeof(addr));
	assert_memory_equal(from, &addr, sizeof(addr));
}

/* ---- peek, claim, discard, cancel ------------------------------------------- */

static void peek_all_ways(size_t len)
{
	struct fi_msg_tagged msg;
	struct iovec iov;
	struct comp comp;

	pattern_fill(out[0], len, len);
	msg = tagged_in(&iov, 0, 4);
	assert_int_equal(fi_trecvmsg(b->ep, &msg, FI_PEEK), 0);
	expect_err(b, &ctx[0], FI_ENOMSG);

	assert_int_equal(fi_tsenddata(a->ep, out[0], len, NULL, 6, 1, 4, &ctx[20]), 0);
	assert_int_equal(fi_tsend(a->ep, out[0], len, NULL, 1, 4, &ctx[21]), 0);
	assert_int_equal(fi_tsend(a->ep, out[0], len, NULL, 1, 4, &ctx[22]), 0);
	world_settle(&w);
	assert_int_equal(fi_trecvmsg(b->ep, &msg, FI_PEEK), 0);
	node_wait(&w, b, &comp);
	assert_int_equal(comp.e.len, len);
	assert_int_equal(comp.e.tag, 4);
	assert_int_equal(comp.e.data, 6);
	assert_int_equal(comp.src, 0);

	/* Claimed: no other receive gets it. */
	assert_int_equal(fi_trecvmsg(b->ep, &msg, FI_PEEK | FI_CLAIM), 0);
	node_wait(&w, b, &comp);
	assert_int_equal(comp.e.data, 6);
	msg.context = &ctx[1];
	assert_int_equal(fi_trecvmsg(b->ep, &msg, FI_CLAIM), -FI_EINVAL);
	assert_int_equal(fi_trecvmsg(b->ep, &msg, 0), 0);
	node_wait(&w, b, &comp);
	assert_int_equal(comp.e.data, 0);
	assert_ptr_equal(comp.e.op_context, &ctx[1]);
	memset(in[0], 0, len);
	msg.context = &ctx[0];
	assert_int_equal(fi_trecvmsg(b->ep, &msg, FI_CLAIM), 0);
	node_wait(&w, b, &comp);
	assert_int_equal(comp.e.data, 6);
	assert_int_equal(comp.e.len, len);
	assert_true(pattern_ok(in[0], len, len));

	/* The third is thrown away, and its sender does not know. */
	assert_int_equal(fi_trecvmsg(b->ep, &msg, FI_PEEK | FI_DISCARD), 0);
	expect(b, &ctx[0], FI_RECV | FI_TAGGED, len);
	assert_int_equal(fi_trecvmsg(b->ep, &msg, FI_PEEK), 0);
	expect_err(b, &ctx[0], FI_ENOMSG);
	world_settle(&w);
	assert_int_equal(fi_cntr_read(b->rx_cntr), 2);

	/* Claim, then discard. */
	assert_int_equal(fi_tsend(a->ep, out[0], len, NULL, 1, 4, &ctx[23]), 0);
	world_settle(&w);
	assert_int_equal(fi_trecvmsg(b->ep, &msg, FI_PEEK | FI_CLAIM), 0);
	expect(b, &ctx[0], FI_RECV | FI_TAGGED, len);
	assert_int_equal(fi_trecvmsg(b->ep, &msg, FI_CLAIM | FI_DISCARD), 0);
	expect(b, &ctx[0], FI_RECV | FI_TAGGED, len);
	assert_int_equal(fi_trecvmsg(b->ep, &msg, FI_DISCARD), -FI_EBADFLAGS);
	world_settle(&w);
	assert_int_equal(fi_cntr_read(a->tx_cntr), 4);
}

static void test_peek_claim_discard_short(void **arg)
{
	peek_all_ways(100);
}

static void test_peek_claim_discard_announced(void **arg)
{
	peek_all_ways(3000);
}

static void test_cancel(void **arg)
{
	int i;

	assert_int_equal(fi_recv(b->ep, in[0], 8, NULL, FI_ADDR_UNSPEC, &ctx[0]), 0);
	assert_int_equal(fi_recv(b->ep, in[1], 8, NULL, 0, &ctx[1]), 0);
	assert_int_equal(fi_trecv(b->ep, in[2], 8, NULL, 0, 5, 0, &ctx[2]), 0);
	assert_int_equal(fi_trecv(b->ep, in[3], 8, NULL, FI_ADDR_UNSPEC, 5, 1, &ctx[3]), 0);
	assert_int_equal(fi_rx_size_left(b->ep), 252);
	for (i = 3; i >= 0; i--) {
		assert_int_equal(fi_cancel(&b->ep->fid, &ctx[i]), 0);
		expect_err(b, &ctx[i], FI_ECANCELED);
		assert_int_equal(fi_cancel(&b->ep->fid, &ctx[i]), -FI_ENOENT);
	}
	assert_int_equal(fi_rx_size_left(b->ep), 256);
	assert_int_equal(fi_cntr_readerr(b->rx_cntr), 4);
	/* The message goes to the one that is left. */
	assert_int_equal(fi_recv(b->ep, in[0], 8, NULL, FI_ADDR_UNSPEC, &ctx[0]), 0);
	assert_int_equal(fi_recv(b->ep, in[1], 8, NULL, FI_ADDR_UNSPEC, &ctx[1]), 0);
	assert_int_equal(fi_cancel(&b->ep->fid, &ctx[0]), 0);
	expect_err(b, &ctx[0], FI_ECANCELED);
	assert_int_equal(fi_inject(a->ep, "x", 1, 1), 0);
	expect(b, &ctx[1], FI_RECV | FI_MSG, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_receives_beside_an_unexpected_message_reuse_memory),
		T(test_directed_receives),
		T(test_source_follows_the_address_vector),
		T(test_unknown_source_is_an_error_if_asked_for),
		T(test_peek_claim_discard_short),
		T(test_peek_claim_discard_announced),
		ROUGH(test_peek_claim_discard_short),
		ROUGH(test_peek_claim_discard_announced),
		T(test_cancel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) ? 1 : 0;
}

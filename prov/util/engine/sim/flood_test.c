/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * A peer that sends without regard to what it is asked: what it makes an endpoint use is
 * bounded (flow.h), and the endpoint's other peers notice nothing.
 */
#include "engine/sim/case.h"

#include <rdma/fi_rma.h>

#include "engine/peer.h"

#define KEY 77
#define PEER_MAX (200u << 10)
#define ALL_MAX (300u << 10)
#define HEADS_MAX (CNT / 2 * ENG_HEAD_COST)
#define CNT 20000

static char mem[64];
static struct fid_mr *mr;

/* b's limits are low; a and c are connected to it. */
static int set_up_limits(void **arg)
{
	set_up(arg);
	assert_int_equal(fi_mr_reg(w.domain, mem, sizeof(mem), FI_REMOTE_READ | FI_REMOTE_WRITE,
				   0, KEY, 0, &mr, NULL), 0);
	connected();
	assert_int_equal(fi_inject(c->ep, "x", 1, 1), 0);
	assert_int_equal(fi_recv(b->ep, in[0], 1, NULL, FI_ADDR_UNSPEC, &ctx[0]), 0);
	expect(b, &ctx[0], FI_RECV | FI_MSG, 1);
	eng_of(b)->held_peer_max = PEER_MAX;
	eng_of(b)->held_max = ALL_MAX;
	return 0;
}

static int tear_down_limits(void **arg)
{
	int i;

	sim_stall(false);
	assert_int_equal(fi_close(&mr->fid), 0);
	for (i = 0; i < w.cnt; i++)
		node_close(&w, i);
	return tear_down(arg);
}

/* send - a packet of @from's making, @len bytes of payload. */
static void send_raw(int from, enum wire_op op, uint8_t flags, uint32_t id, uint64_t len,
		     size_t payload)
{
	uint8_t hdr[ENG_HDR_MAX];
	size_t at = wire_put_base(hdr, op, flags, 0, id, len);

	if (flags & WIRE_F_TAG)
		at = wire_put_word(hdr, at, 5);
	if (flags & WIRE_F_DATA)
		at = wire_put_word(hdr, at, 6);
	if (op == WIRE_READ || op == WIRE_WRITE)
		at = wire_put_rma(hdr, at, 0, len, KEY);
	sim_inject_packet(PORT(from), PORT(1), hdr, at, out[0], payload);
}

static void turns(int cnt)
{
	while (cnt--)
		world_poll(&w);
}

/* busy - c's messages go through while the others' do not. */
static void c_is_served(void)
{
	int i;

	for (i = 0; i < 20; i++) {
		assert_int_equal(fi_trecv(b->ep, in[1], 300, NULL, FI_ADDR_UNSPEC, 99, 0, &ctx[1]),
				 0);
		assert_int_equal(fi_tsend(c->ep, out[1], 300, NULL, 1, 99, &ctx[2]), 0);
		expect(b, &ctx[1], FI_RECV | FI_TAGGED, 300);
		expect(c, &ctx[2], FI_SEND | FI_TAGGED, 0);
	}
}

static void flood(int from, enum wire_op op, uint8_t flags, uint64_t len, size_t payload)
{
	uint32_t i;

	for (i = 1; i <= CNT; i++)
		send_raw(from, op, flags, i, len, payload);
	turns(CNT / 8 + 100);
}

static void flood_of_messages(enum wire_op op, uint64_t len, size_t payload)
{
	flood(0, op, WIRE_F_TAG, len, payload);
	assert_true(eng_of(b)->held > PEER_MAX / 2);
	assert_true(eng_of(b)->held <= PEER_MAX);
	c_is_served();
}

static void payload(void **arg)
{
	flood_of_messages(WIRE_EAGER, 400, 400);
}

/* is_cut - a's connection has ended, and what it announced is forgotten. */
static void is_cut(void)
{
	struct eng_peer *peer;

	list_for_each_entry(peer, &eng_of(b)->peers, node)
		assert_true(peer->msg_cnt < CNT / 2);
	assert_int_equal(eng_of(b)->held, 0);
	c_is_served();
}

/* most_heads - messages of one peer that wait for a receive. */
static unsigned most_heads(void)
{
	struct eng_peer *peer;
	unsigned most = 0;

	list_for_each_entry(peer, &eng_of(b)->peers, node)
		most = peer->msg_cnt > most ? peer->msg_cnt : most;
	return most;
}

/* The connection ends when something is waited for, which may be stuck behind them. */
static void announcements(void **arg)
{
	eng_of(b)->heads_max = HEADS_MAX;
	flood(0, WIRE_RTS, WIRE_F_TAG, 1 << 20, 0);
	assert_int_equal(most_heads(), HEADS_MAX / ENG_HEAD_COST);
	assert_int_equal(fi_trecv(b->ep, in[1], 100, NULL, FI_ADDR_UNSPEC, 98, 0, &ctx[1]), 0);
	turns(100);
	is_cut();
}

/* All of them can be received, and no payload is counted. */
static void empty_messages(void **arg)
{
	int i;

	flood(0, WIRE_EAGER, WIRE_F_TAG, 0, 0);
	assert_int_equal(eng_of(b)->held, 0);
	c_is_served();
	for (i = 0; i < CNT; i++) {
		assert_int_equal(fi_trecv(b->ep, in[0], 8, NULL, 0, 5, 0, &ctx[3]), 0);
		expect(b, &ctx[3], FI_RECV | FI_TAGGED, 0);
	}
}

/* What is waited for stands behind more payload than may be kept. */
static void a_message_behind_too_much(void **arg)
{
	flood(0, WIRE_EAGER, WIRE_F_TAG, 400, 400);
	assert_true(eng_of(b)->held <= PEER_MAX);
	assert_int_equal(fi_tsend(a->ep, out[1], 100, NULL, 1, 98, &ctx[2]), 0);
	assert_int_equal(fi_trecv(b->ep, in[1], 100, NULL, FI_ADDR_UNSPEC, 98, 0, &ctx[1]), 0);
	turns(CNT / 8 + 100);
	expect(b, &ctx[1], FI_RECV | FI_TAGGED, 100);
}

static void reads(void **arg)
{
	sim_stall(true);
	flood(0, WIRE_READ, 0, 8, 0);
	assert_true(eng_of(b)->held > PEER_MAX / 2);
	assert_true(eng_of(b)->held <= PEER_MAX);
}

/* Answers that the peer does not take. */
static void refusals(void **arg)
{
	sim_stall(true);
	flood(0, WIRE_READ, 0, 8000, 0);
	assert_true(eng_of(b)->held > PEER_MAX / 2);
	assert_true(eng_of(b)->held <= PEER_MAX);
}

static void acknowledgements(void **arg)
{
	sim_stall(true);
	flood(0, WIRE_WRITE, WIRE_F_LAST | WIRE_F_DELIVERED, 0, 0);
	assert_true(eng_of(b)->held > PEER_MAX / 2);
	assert_true(eng_of(b)->held <= PEER_MAX);
}

/* Two together stay below the limit for all. */
static void two_peers(void **arg)
{
	flood(0, WIRE_EAGER, WIRE_F_TAG, 400, 400);
	flood(2, WIRE_EAGER, WIRE_F_TAG, 400, 400);
	assert_true(eng_of(b)->held > PEER_MAX);
	assert_true(eng_of(b)->held <= ALL_MAX + (64 << 10));
}

int main(void)
{
#define L(name) cmocka_unit_test_setup_teardown(name, set_up_limits, tear_down_limits)
	const struct CMUnitTest tests[] = {
		L(payload),
		L(announcements),
		L(empty_messages),
		L(a_message_behind_too_much),
		L(reads),
		L(refusals),
		L(acknowledgements),
		L(two_peers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

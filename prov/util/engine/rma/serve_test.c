/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Reads and writes of our memory, packet by packet: rights, order, answers, shortage. */
#include "engine/sim/tap.h"

#include <rdma/fi_rma.h>

#include "engine/serve.h"

#define KEY 77			/* both rights */
#define KEY_RO 78		/* may be read */
#define LEN 6000

static char mem[LEN];
static struct fid_mr *mr, *mr_ro;

static int open_regions(void **arg)
{
	tap_open(arg);
	pattern_fill(mem, LEN, 3);
	assert_int_equal(fi_mr_reg(w.domain, mem, LEN, FI_REMOTE_READ | FI_REMOTE_WRITE, 0, KEY, 0,
				   &mr, NULL), 0);
	assert_int_equal(fi_mr_reg(w.domain, mem, LEN, FI_REMOTE_READ, 0, KEY_RO, 0, &mr_ro, NULL),
			 0);
	return 0;
}

/* The domain closes with the world, so the regions go before. */
static int tear_down_regions(void **arg)
{
	unsigned i;

	for (i = 0; i < tap.cnt; i++)
		if (tap.sent[i].pkt)
			tap_done(i, -FI_ECANCELED);
	if (mr)
		assert_int_equal(fi_close(&mr->fid), 0);
	assert_int_equal(fi_close(&mr_ro->fid), 0);
	return tap_close(arg);
}

#define SERVE(name) cmocka_unit_test_setup_teardown(name, open_regions, tear_down_regions)

/* Packet @i answers @id with @len bytes of the region at @off, which are byte @at of the read. */
static void answer(unsigned i, uint32_t id, size_t off, size_t at, size_t len)
{
	tap_sent(i, WIRE_DATA, id, len);
	assert_int_equal(tap.sent[i].msg.off, at);
	assert_memory_equal(tap.sent[i].data, mem + off, len);
}

static void refused(unsigned i, uint32_t id, uint32_t err)
{
	tap_sent(i, WIRE_NACK, id, 0);
	assert_int_equal(tap.sent[i].msg.err, err);
}

static void a_read_is_answered(void **arg)
{
	assert_int_equal(tap_rma(tap.peer, WIRE_READ, 0, 9, 100, 2500, KEY), ENG_RX_DONE);
	assert_int_equal(tap.cnt, 3);
	answer(0, 9, 100, 0, 1000);
	answer(1, 9, 1100, 1000, 1000);
	answer(2, 9, 2100, 2000, 500);
	assert_int_equal(tap.peer->held, 0);
}

/* It has no payload that could say so. */
static void a_read_of_nothing_is_acknowledged(void **arg)
{
	assert_int_equal(tap_rma(tap.peer, WIRE_READ, WIRE_F_DELIVERED, 9, 0, 0, KEY),
			 ENG_RX_DONE);
	tap_sent(0, WIRE_ACK, 9, 0);
	assert_int_equal(tap.cnt, 1);
}

/* Key, bounds and rights are checked, each by itself; the connection lives on. */
static void what_may_not_be_accessed(void **arg)
{
	assert_int_equal(tap_rma(tap.peer, WIRE_READ, 0, 1, 0, 8, 5), ENG_RX_DONE);
	refused(0, 1, FI_ENOKEY);
	assert_int_equal(tap_rma(tap.peer, WIRE_READ, 0, 2, LEN - 7, 8, KEY), ENG_RX_DONE);
	refused(1, 2, FI_EINVAL);
	assert_int_equal(tap_rma(tap.peer, WIRE_READ, 0, 3, UINT64_MAX - 3, 8, KEY), ENG_RX_DONE);
	refused(2, 3, FI_EINVAL);
	assert_int_equal(tap_rma(tap.peer, WIRE_WRITE, WIRE_F_LAST, 4, 0, 8, KEY_RO), ENG_RX_DONE);
	refused(3, 4, FI_EACCES);
	assert_true(pattern_ok(mem, LEN, 3));
	assert_int_equal(tap_rma(tap.peer, WIRE_READ, 0, 5, 0, 8, KEY_RO), ENG_RX_DONE);
	answer(4, 5, 0, 0, 8);
}

/* A read of several ranges is one payload; one bad range refuses it all. */
static void several_ranges(void **arg)
{
	uint8_t hdr[ENG_HDR_MAX];
	size_t at = wire_put_base(hdr, WIRE_READ, 0, 0, 9, 300);

	at = wire_put_rma(hdr, at, 4000, 100, KEY);
	at = wire_put_rma(hdr, at, 0, 0, KEY);
	at = wire_put_rma(hdr, at, 50, 200, KEY_RO);
	assert_int_equal(tap_packet(tap.peer, hdr, at, 0, 0), ENG_RX_DONE);
	assert_int_equal(tap.cnt, 2);
	answer(0, 9, 4000, 0, 100);
	answer(1, 9, 50, 100, 200);
	at = wire_put_base(hdr, WIRE_READ, 0, 0, 10, 200);
	at = wire_put_rma(hdr, at, 0, 100, KEY);
	at = wire_put_rma(hdr, at, 0, 100, 5);
	assert_int_equal(tap_packet(tap.peer, hdr, at, 0, 0), ENG_RX_DONE);
	assert_int_equal(tap.cnt, 3);
	refused(2, 10, FI_ENOKEY);
}

/* Reads of one peer are answered one after another; the next begins when the link has all of the
 * payload before it, though none of it has left.
 */
static void reads_in_their_order(void **arg)
{
	tap.answer = 0;
	assert_int_equal(tap_rma(tap.peer, WIRE_READ, 0, 1, 0, 500, KEY), ENG_RX_DONE);
	assert_int_equal(tap_rma(tap.peer, WIRE_READ, 0, 2, 500, 4500, KEY), ENG_RX_DONE);
	assert_int_equal(tap_rma(tap.peer, WIRE_READ, 0, 3, 900, 500, KEY), ENG_RX_DONE);
	assert_int_equal(tap.cnt, 1 + ENG_PUMP_PIECES);
	answer(0, 1, 0, 0, 500);
	answer(1, 2, 500, 0, 1000);
	assert_int_equal(tap_rma(tap.other, WIRE_READ, 0, 4, 900, 500, KEY), ENG_RX_DONE);
	answer(5, 4, 900, 0, 500);
	tap_done(0, 0);
	assert_int_equal(tap.cnt, 6);
	tap_done(1, 0);
	answer(6, 2, 4500, 4000, 500);
	tap_done(2, 0);
	tap_done(3, 0);
	tap_done(4, 0);
	tap_done(6, 0);
	answer(7, 3, 900, 0, 500);
	tap_done(7, 0);
	tap_done(5, 0);
	assert_int_equal(eng_of(b)->grp->serves.used, 0);
}

#define GOING_MAX 16	/* READS_GOING_MAX */

/* Those that are with the link come back in any order, and each makes room for one that waits. */
static void many_reads_at_once(void **arg)
{
	unsigned i;

	tap.answer = 0;
	for (i = 0; i < GOING_MAX + 2; i++)
		assert_int_equal(tap_rma(tap.peer, WIRE_READ, 0, i + 1, 100 * i, 100, KEY),
				 ENG_RX_DONE);
	assert_int_equal(tap.cnt, GOING_MAX);
	tap_done(GOING_MAX - 1, 0);
	assert_int_equal(tap.cnt, GOING_MAX + 1);
	tap_done(0, 0);
	assert_int_equal(tap.cnt, GOING_MAX + 2);
	for (i = 0; i < GOING_MAX + 2; i++) {
		answer(i, i + 1, 100 * i, 0, 100);
		if (tap.sent[i].pkt)
			tap_done(i, 0);
	}
	assert_int_equal(eng_of(b)->grp->serves.used, 0);
	assert_int_equal(tap.peer->held, 0);
}

/* One that waits is checked again when it is served. */
static void a_region_that_closes_while_a_read_waits(void **arg)
{
	unsigned i;

	tap.answer = 0;
	assert_int_equal(tap_rma(tap.peer, WIRE_READ, 0, 1, 0, 5000, KEY_RO), ENG_RX_DONE);
	assert_int_equal(tap_rma(tap.peer, WIRE_READ, 0, 2, 0, 500, KEY), ENG_RX_DONE);
	assert_int_equal(fi_close(&mr->fid), 0);
	mr = NULL;
	for (i = 0; i < 5; i++)
		tap_done(i, 0);
	assert_int_equal(tap.cnt, 6);
	refused(5, 2, FI_ENOKEY);
}

/* The peer is lost: nothing more is sent, and all its requests are gone. */
static void the_loss_of_the_initiator(void **arg)
{
	unsigned i;

	tap.answer = 0;
	assert_int_equal(tap_rma(tap.peer, WIRE_READ, 0, 1, 0, 500, KEY), ENG_RX_DONE);
	assert_int_equal(tap_rma(tap.peer, WIRE_READ, 0, 2, 0, 5000, KEY), ENG_RX_DONE);
	assert_int_equal(tap_rma(tap.peer, WIRE_READ, 0, 3, 0, 500, KEY), ENG_RX_DONE);
	assert_int_equal(tap.cnt, 1 + ENG_PUMP_PIECES);
	eng_serve_fail_all(tap.peer);
	assert_int_equal(eng_of(b)->grp->serves.used, 2);
	for (i = tap.cnt; i--; )
		tap_done(i, -FI_ECONNRESET);
	assert_int_equal(eng_of(b)->grp->serves.used, 0);
	assert_int_equal(eng_of(b)->grp->outs.used, 0);
	assert_int_equal(tap.cnt, 1 + ENG_PUMP_PIECES);
}

static void a_write_is_acknowledged_when_in_place(void **arg)
{
	assert_int_equal(tap_rma(tap.peer, WIRE_WRITE, WIRE_F_LAST, 1, 0, 100, KEY), ENG_RX_DONE);
	assert_int_equal(tap.cnt, 0);
	assert_memory_equal(mem, out[7], 100);
	assert_int_equal(tap_rma(tap.peer, WIRE_WRITE, WIRE_F_LAST | WIRE_F_DELIVERED, 2, 200, 100,
				 KEY), ENG_RX_DONE);
	tap_sent(0, WIRE_ACK, 2, 0);
	assert_memory_equal(mem + 200, out[7], 100);
}

/* The region is pinned until the rest has arrived, and then the write counts. */
static void a_write_that_is_in_flight(void **arg)
{
	uint8_t hdr[ENG_HDR_MAX];
	size_t at = wire_put_base(hdr, WIRE_WRITE, WIRE_F_LAST | WIRE_F_DELIVERED, 0, 2, 500);

	at = wire_put_rma(hdr, at, 1000, 500, KEY);
	assert_int_equal(tap_packet(tap.peer, hdr, at, 10, 500), ENG_RX_PLACE);
	assert_int_equal(tap.rx.iov_cnt, 1);
	assert_ptr_equal(tap.rx.iov[0].iov_base, mem + 1000);
	assert_false(list_empty(&eng_of(b)->grp->serving));
	assert_int_equal(tap.cnt, 0);
	eng_on_placed(tap.link, tap.rx.cookie, 0);
	tap_sent(0, WIRE_ACK, 2, 0);
	assert_true(list_empty(&eng_of(b)->grp->serving));
	assert_int_equal(tap.peer->held, 0);
}

/* One NACK for a write of many pieces: the others of that id are passed over, no more. */
static void the_pieces_of_a_refused_write(void **arg)
{
	assert_int_equal(tap_rma(tap.peer, WIRE_WRITE, 0, 1, 0, 8, 5), ENG_RX_DONE);
	refused(0, 1, FI_ENOKEY);
	assert_int_equal(tap_rma(tap.peer, WIRE_WRITE, 0, 1, 0, 8, KEY), ENG_RX_DONE);
	assert_int_equal(tap_rma(tap.peer, WIRE_WRITE, WIRE_F_LAST, 1, 0, 8, KEY), ENG_RX_DONE);
	assert_true(pattern_ok(mem, LEN, 3));
	assert_int_equal(tap.cnt, 1);
	assert_int_equal(tap_rma(tap.peer, WIRE_WRITE, WIRE_F_LAST, 1, 0, 8, KEY), ENG_RX_DONE);
	assert_memory_equal(mem, out[7], 8);
}

/* The packet stays with the link, and nothing of it has happened. */
static void without_memory(void **arg)
{
	struct eng_grp *grp = eng_of(b)->grp;

	tap_starve(&grp->outs);
	assert_int_equal(tap_rma(tap.peer, WIRE_READ, 0, 1, 0, 8, KEY), ENG_RX_LATER);
	assert_int_equal(tap_rma(tap.peer, WIRE_READ, 0, 1, 0, 8, 5), ENG_RX_LATER);
	assert_int_equal(tap_rma(tap.peer, WIRE_WRITE, 0, 2, 0, 8, 5), ENG_RX_LATER);
	assert_int_equal(tap_rma(tap.peer, WIRE_WRITE, WIRE_F_LAST | WIRE_F_DELIVERED, 2, 0, 8,
				 KEY), ENG_RX_LATER);
	tap_feed(&grp->outs);
	assert_int_equal(tap.peer->refused, 0);
	tap_starve(&grp->serves);
	assert_int_equal(tap_rma(tap.peer, WIRE_READ, 0, 1, 0, 8, KEY), ENG_RX_LATER);
	tap_feed(&grp->serves);
	assert_int_equal(grp->outs.used, 0);
	assert_true(pattern_ok(mem, LEN, 3));
	assert_int_equal(tap.cnt, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SERVE(a_read_is_answered),
		SERVE(a_read_of_nothing_is_acknowledged),
		SERVE(what_may_not_be_accessed),
		SERVE(several_ranges),
		SERVE(reads_in_their_order),
		SERVE(many_reads_at_once),
		SERVE(a_region_that_closes_while_a_read_waits),
		SERVE(the_loss_of_the_initiator),
		SERVE(a_write_is_acknowledged_when_in_place),
		SERVE(a_write_that_is_in_flight),
		SERVE(the_pieces_of_a_refused_write),
		SERVE(without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* DATA pieces into a sink: order, bounds, who may fill it, and when its owner is notified. */
#include "engine/sim/tap.h"

#include "engine/sink.h"

#define WANT 1000

static struct eng_sink sink;
static struct iovec iov[2];
static int dones, status_seen;

static void on_done(struct eng_sink *done, int status)
{
	assert_ptr_equal(done, &sink);
	dones++;
	status_seen = status;
}

/* A sink of WANT bytes for tap.peer, in two pieces of memory. */
static int open_sink(void **arg)
{
	tap_open(arg);
	dones = 0;
	iov[0] = (struct iovec) { in[0], 600 };
	iov[1] = (struct iovec) { in[1], 400 };
	memset(&sink, 0, sizeof(sink));
	sink.name = (struct eng_name) { .peer = tap.peer, .kind = ENG_NAME_SINK };
	sink.iov = iov;
	sink.iov_cnt = 2;
	sink.done = on_done;
	assert_int_equal(eng_sink_open(&sink, eng_of(b)->grp, WANT), 0);
	return 0;
}

static int close_sink(void **arg)
{
	eng_name_drop(eng_of(b)->grp, &sink.name);
	return tap_close(arg);
}

#define SINK(name) cmocka_unit_test_setup_teardown(name, open_sink, close_sink)

/* DATA of @peer; @avail of its @len bytes are here. */
static enum eng_rx_verdict data(struct eng_peer *peer, uint32_t id, uint64_t off, size_t avail,
				size_t len)
{
	uint8_t hdr[ENG_HDR_MAX];
	size_t at = wire_put_word(hdr, wire_put_base(hdr, WIRE_DATA, 0, 0, id, len), off);

	return tap_packet(peer, hdr, at, avail, len);
}

static void pieces_in_order(void **arg)
{
	assert_int_equal(data(tap.peer, sink.name.id, 0, 500, 500), ENG_RX_DONE);
	assert_int_equal(dones, 0);
	assert_int_equal(data(tap.peer, sink.name.id, 500, 500, 500), ENG_RX_DONE);
	assert_int_equal(dones, 1);
	assert_int_equal(status_seen, 0);
	assert_memory_equal(in[0], out[7], 500);
	assert_memory_equal(in[0] + 500, out[7], 100);
	assert_memory_equal(in[1], out[7] + 100, 400);
}

static void pieces_that_are_refused(void **arg)
{
	uint32_t id = sink.name.id;

	assert_int_equal(data(tap.peer, id + 1, 0, 10, 10), ENG_RX_BAD);	/* no such sink */
	assert_int_equal(data(tap.other, id, 0, 10, 10), ENG_RX_BAD);	/* another's sink */
	assert_int_equal(data(tap.peer, id, 10, 10, 10), ENG_RX_BAD);	/* a gap */
	assert_int_equal(data(tap.peer, id, 0, 0, 0), ENG_RX_BAD);
	assert_int_equal(data(tap.peer, id, 0, WANT + 1, WANT + 1), ENG_RX_BAD);
	assert_int_equal(data(tap.peer, id, 0, 900, 900), ENG_RX_DONE);
	assert_int_equal(data(tap.peer, id, 0, 100, 100), ENG_RX_BAD);	/* again */
	assert_int_equal(data(tap.peer, id, 900, 101, 101), ENG_RX_BAD);
	assert_int_equal(dones, 0);
	assert_int_equal(in[0][0], out[7][0]);
	assert_int_equal(sink.got, 900);
}

/* The link is told which memory the piece is for, across the entries of the list. */
static void a_piece_that_is_still_in_flight(void **arg)
{
	assert_int_equal(data(tap.peer, sink.name.id, 0, 500, 500), ENG_RX_DONE);
	assert_int_equal(data(tap.peer, sink.name.id, 500, 10, 500), ENG_RX_PLACE);
	assert_int_equal(tap.rx.iov_cnt, 2);
	assert_ptr_equal(tap.rx.iov[0].iov_base, in[0] + 500);
	assert_int_equal(tap.rx.iov[0].iov_len, 100);
	assert_ptr_equal(tap.rx.iov[1].iov_base, in[1]);
	assert_int_equal(tap.rx.iov[1].iov_len, 400);
	assert_ptr_equal(tap.rx.cookie, &sink);
	assert_int_equal(dones, 0);
	eng_on_placed(tap.link, &sink, 0);
	assert_int_equal(dones, 1);
	assert_int_equal(status_seen, 0);
}

/* A lost piece ends the sink, but not before the link has let go of the other ones. */
static void a_piece_that_is_lost(void **arg)
{
	assert_int_equal(data(tap.peer, sink.name.id, 0, 0, 100), ENG_RX_PLACE);
	assert_int_equal(data(tap.peer, sink.name.id, 100, 0, 100), ENG_RX_PLACE);
	eng_on_placed(tap.link, &sink, -FI_ECONNRESET);
	assert_int_equal(dones, 0);
	assert_true(tap.peer->slow & ENG_PEER_LOSING);
	eng_on_placed(tap.link, &sink, 0);
	assert_int_equal(dones, 1);
	assert_int_equal(status_seen, -FI_ECONNRESET);
}

/* What cannot be written is discarded, and the peer is not lost. */
static void memory_that_cannot_be_written(void **arg)
{
	assert_int_equal(data(tap.peer, sink.name.id, 0, 10, 500), ENG_RX_PLACE);
	eng_on_placed(tap.link, &sink, -FI_EFAULT);
	assert_int_equal(dones, 0);
	assert_int_equal(data(tap.peer, sink.name.id, 500, 100, 100), ENG_RX_DONE);
	assert_int_equal(data(tap.peer, sink.name.id, 600, 0, 400), ENG_RX_DONE);
	assert_int_equal(dones, 1);
	assert_int_equal(status_seen, -FI_EFAULT);
	assert_false(tap.peer->slow & ENG_PEER_LOSING);
	assert_int_equal(in[0][500], 0);
}

/* A payload that comes unasked has no name; one placement ends it. */
static void a_payload_that_was_not_asked_for(void **arg)
{
	eng_sink_expect(&sink);
	eng_on_placed(tap.link, &sink, 0);
	assert_int_equal(dones, 1);
	assert_int_equal(status_seen, 0);
	eng_sink_expect(&sink);
	eng_on_placed(tap.link, &sink, -FI_EIO);
	assert_int_equal(dones, 2);
	assert_int_equal(status_seen, -FI_EIO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SINK(pieces_in_order),
		SINK(pieces_that_are_refused),
		SINK(a_piece_that_is_still_in_flight),
		SINK(a_piece_that_is_lost),
		SINK(memory_that_cannot_be_written),
		SINK(a_payload_that_was_not_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

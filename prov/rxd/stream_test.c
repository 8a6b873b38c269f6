/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* The stream that is sent: what is copied, what stays with the engine, and when it is given back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"

#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/iov.h"
#include "conn.h"

#define HDR 16

static struct rxd_poller poller;
static struct rxd_link rlink;
static struct rxd_conn conn;
static uint8_t payload[20000];
static struct eng_pkt pkts[8];
static int dones[8], status_seen;

static void on_done(struct eng_pkt *pkt, int status)
{
	dones[pkt - pkts]++;
	status_seen = status;
}

static int set_up(void **state)
{
	size_t i;

	for (i = 0; i < sizeof(payload); i++)
		payload[i] = (uint8_t) (i * 7 + i / 256);
	memset(&conn, 0, sizeof(conn));
	memset(dones, 0, sizeof(dones));
	pool_init(&poller.chunks, sizeof(struct rxd_item) + RXD_CHUNK, 8, 0);
	pool_init(&poller.items, sizeof(struct rxd_item), 8, 0);
	rlink.base.poller = &poller.base;
	conn.chan.link = &rlink.base;
	list_init(&conn.chan.pending);
	list_init(&conn.items);
	conn.limit = UINT64_MAX / 2;
	conn.cc.window = 1 << 20;
	conn.cc.seg = 1400;
	poller.base.clock = clock_ns;
	conn.mtu.now = 1400;
	return 0;
}

static int tear_down(void **state)
{
	rxd_stream_drop(&conn, FI_ECANCELED);
	assert_int_equal(poller.chunks.used, 0);
	assert_int_equal(poller.items.used, 0);
	pool_destroy(&poller.chunks);
	pool_destroy(&poller.items);
	return 0;
}

/* A packet with @len bytes of payload in two pieces of memory. */
static struct eng_pkt *packet(int i, size_t len)
{
	struct eng_pkt *pkt = &pkts[i];

	memset(pkt, 0, sizeof(*pkt));
	memset(pkt->hdr, 0x80 + i, HDR);
	pkt->hdr_len = HDR;
	pkt->len = len;
	pkt->iov[0] = (struct iovec) { payload, len / 2 };
	pkt->iov[1] = (struct iovec) { payload + len / 2, len - len / 2 };
	pkt->iov_cnt = 2;
	pkt->link_priv = rxd_frame(HDR, len);
	pkt->done = on_done;
	return pkt;
}

static size_t frame(size_t len)
{
	return RXD_FRAME_SIZE + HDR + len;
}

/* The frame of packet @i is at @off of the stream. */
static void holds(uint64_t off, int i, size_t len)
{
	static uint8_t got[RXD_FRAME_SIZE + HDR + sizeof(payload)];
	struct iovec iov[16];
	uint64_t word = rxd_frame(HDR, len);
	size_t cnt = rxd_stream_slice(&conn, off, frame(len), iov, 16);

	assert_int_equal(iov_gather(iov, cnt, 0, got, frame(len)), frame(len));
	assert_memory_equal(got, &word, sizeof(word));
	assert_int_equal(got[RXD_FRAME_SIZE], 0x80 + i);
	assert_int_equal(got[RXD_FRAME_SIZE + HDR - 1], 0x80 + i);
	assert_memory_equal(got + RXD_FRAME_SIZE + HDR, payload, len);
}

/* acknowledged - the peer has all before @off. */
static void acknowledged(uint64_t off)
{
	conn.una = off;
	rxd_stream_release(&conn);
}

/* Frames follow one another in one chunk, and the packets are free at once. */
static void small_packets_are_copied(void **state)
{
	assert_true(rxd_stream_copy(&conn, packet(0, 100)));
	memset(&pkts[0], 0, sizeof(pkts[0]));
	assert_true(rxd_stream_copy(&conn, packet(1, 0)));
	assert_int_equal(conn.end, frame(100) + frame(0));
	assert_int_equal(poller.chunks.used, 1);
	holds(0, 0, 100);
	holds(frame(100), 1, 0);
}

/* None of these may be copied, and nothing has changed then. */
static void what_stays_with_the_engine(void **state)
{
	size_t most = RXD_COPY_MAX - RXD_FRAME_SIZE - HDR;

	assert_false(rxd_stream_copy(&conn, packet(0, most + 1)));
	conn.limit = frame(100) - 1;			/* flow control */
	assert_false(rxd_stream_copy(&conn, packet(0, 100)));
	conn.limit = UINT64_MAX / 2;
	conn.cc.window = frame(100) - 1;		/* congestion control */
	assert_false(rxd_stream_copy(&conn, packet(0, 100)));
	conn.cc.window = 1 << 20;
	conn.cc.seg = 1400;
	poller.base.clock = clock_ns;
	list_add_tail(&packet(1, 5000)->node, &conn.chan.pending);
	assert_false(rxd_stream_copy(&conn, packet(0, 100)));	/* it must not overtake */
	list_del(&pkts[1].node);
	assert_int_equal(conn.end, 0);
	assert_int_equal(poller.chunks.used, 0);
	assert_true(rxd_stream_copy(&conn, packet(0, most)));
}

/* A chunk that has no room for a frame is left as it is: no frame is in two of them. */
static void the_next_chunk(void **state)
{
	uint64_t off = 0;
	int i;

	for (i = 0; i < 8; i++, off += frame(1000)) {
		assert_true(rxd_stream_copy(&conn, packet(i, 1000)));
		holds(off, i, 1000);
	}
	assert_true(poller.chunks.used >= 2);
	acknowledged(off);
	assert_int_equal(poller.chunks.used, 0);
}

/* Long packets enter as the next datagram needs them, and are given back when acknowledged. */
static void long_packets_stay_where_they_are(void **state)
{
	int i;

	for (i = 0; i < 3; i++)
		list_add_tail(&packet(i, 5000)->node, &conn.chan.pending);
	assert_true(rxd_stream_fill(&conn));
	assert_int_equal(conn.end, frame(5000));
	holds(0, 0, 5000);
	conn.nxt = frame(5000) - 1000;		/* less than a datagram is left */
	assert_true(rxd_stream_fill(&conn));
	assert_int_equal(conn.end, 2 * frame(5000));
	holds(frame(5000), 1, 5000);
	acknowledged(frame(5000) - 1);
	assert_int_equal(dones[0], 0);
	acknowledged(frame(5000));
	assert_int_equal(dones[0], 1);
	assert_int_equal(status_seen, 0);
	assert_int_equal(dones[1], 0);
	list_del(&pkts[2].node);
}

/* A retransmission may begin and end anywhere, within frames and across them. */
static void any_slice(void **state)
{
	static uint8_t all[20000], got[20000];
	struct iovec iov[16];
	size_t off, len, cnt, size;

	assert_true(rxd_stream_copy(&conn, packet(0, 100)));
	list_add_tail(&packet(1, 3000)->node, &conn.chan.pending);
	assert_true(rxd_stream_fill(&conn));
	assert_true(rxd_stream_copy(&conn, packet(2, 50)));
	size = conn.end;
	conn.nxt = conn.end;
	cnt = rxd_stream_slice(&conn, 0, size, iov, 16);
	assert_int_equal(iov_gather(iov, cnt, 0, all, size), size);
	for (off = 0; off < size; off += 13) {
		for (len = 1; off + len <= size; len += 401) {
			cnt = rxd_stream_slice(&conn, off, len, iov, 16);
			assert_int_equal(iov_gather(iov, cnt, 0, got, len), len);
			assert_memory_equal(got, all + off, len);
		}
	}
	assert_int_equal(rxd_stream_slice(&conn, 0, size, iov, 2), 2);	/* no more than fit */
}

/* The end comes behind all packets, once. */
static void the_end(void **state)
{
	static const uint8_t zero[RXD_FRAME_SIZE];
	struct iovec iov[2];

	list_add_tail(&packet(0, 5000)->node, &conn.chan.pending);
	list_add_tail(&packet(1, 5000)->node, &conn.chan.pending);
	conn.want_shut = true;
	assert_true(rxd_stream_fill(&conn));
	assert_false(conn.shut);
	conn.nxt = conn.end;
	assert_true(rxd_stream_fill(&conn));
	assert_true(conn.shut);
	assert_int_equal(conn.end, 2 * frame(5000) + RXD_FRAME_SIZE);
	assert_int_equal(rxd_stream_slice(&conn, 2 * frame(5000), RXD_FRAME_SIZE, iov, 2), 1);
	assert_memory_equal(iov[0].iov_base, zero, RXD_FRAME_SIZE);
	assert_true(rxd_stream_fill(&conn));
	assert_int_equal(conn.end, 2 * frame(5000) + RXD_FRAME_SIZE);
}

/* What has a place in the stream ends with the connection; what waits is the channel's. */
static void a_lost_connection(void **state)
{
	list_add_tail(&packet(0, 5000)->node, &conn.chan.pending);
	list_add_tail(&packet(1, 5000)->node, &conn.chan.pending);
	assert_true(rxd_stream_fill(&conn));
	rxd_stream_drop(&conn, FI_ECONNRESET);
	assert_int_equal(dones[0], 1);
	assert_int_equal(status_seen, -FI_ECONNRESET);
	assert_int_equal(dones[1], 0);
	assert_ptr_equal(conn.chan.pending.next, &pkts[1].node);
}

int main(void)
{
#define S(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		S(small_packets_are_copied),
		S(what_stays_with_the_engine),
		S(the_next_chunk),
		S(long_packets_stay_where_they_are),
		S(any_slice),
		S(the_end),
		S(a_lost_connection),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

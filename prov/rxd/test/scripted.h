/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * scripted.h - a connection of node 0 in simulated time, whose peer is the test from then on: it
 * makes the datagrams that arrive, and looks at those that leave.
 *
 * The connection is made by two nodes; then nothing passes between them any more.  Node 1 stays
 * open, for its ids.  Includes cmocka.
 */
#ifndef RXD_SCRIPTED_H
#define RXD_SCRIPTED_H

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <rdma/fi_errno.h>

#include "base/iov.h"
#include "sim_nodes.h"

#define TAP_MAX 512
#define HEAD 32			/* the header of the engine in sim_nodes.c: life, gen, seq, len */
#define FRAME (RXD_FRAME_SIZE + HEAD)
#define TRIP (20 * 1000u)	/* ns */

struct tapped {
	struct rxd_pkt pkt;
	size_t len;			/* of the datagram */
	uint8_t buf[2048];		/* where pkt points to */
};

static struct tapped tap[TAP_MAX];	/* what node 0 has sent */
static unsigned tap_cnt;
static struct rxd_conn *conn;		/* of node 0 */
static struct eng_peer *peer;		/* its peer */
static uint64_t pn;			/* of the next packet that the test sends */
static uint64_t msg_seq;		/* of its next message */
static uint64_t base;			/* of the stream of node 0 */

static void on_tap(unsigned from, unsigned to, const uint8_t *data, size_t len)
{
	struct tapped *t = &tap[tap_cnt];

	if (from != PORT(0))
		return;
	assert_true(tap_cnt++ < TAP_MAX && len <= sizeof(t->buf));
	memcpy(t->buf, data, len);
	t->len = len;
	assert_null(rxd_parse(t->buf, len, &t->pkt));
}

static inline void scripted_poll(void)
{
	snet_now += 2;
	node_poll(nodes[0]);
}

static inline int scripted_start(void **state)
{
	struct snet_conf conf = { .dgram_max = 1456, .delay_ns = TRIP / 2 };
	struct rxd_conn *other;
	unsigned i;

	nodes_seed = 1;
	nodes_downs = nodes_delivered = 0;
	node_cnt = 2;
	rxd_conf.cc = RXD_CC_CUBIC;
	rxd_conf.tolerance = 0;		/* every loss lowers the congestion window */
	snet_start(nodes_seed, &conf);
	node_open(0);
	node_open(1);
	nodes[0]->later = nodes[1]->later = 0;
	/* several messages: round trips are measured, the path MTU is known */
	for (i = 0; i < 20; i++) {
		node_send(nodes[0], &nodes[0]->peers[1], 100);
		node_send(nodes[1], &nodes[1]->peers[0], 100);
		do {
			nodes_turn();
			snet_now = nodes_soonest();
		} while (!nodes_all_there());
	}
	for (i = 0; i < 200; i++) {
		nodes_turn();
		snet_now += TRIP;
	}
	peer = &nodes[0]->peers[1];
	conn = (struct rxd_conn *) peer->chan;
	other = (struct rxd_conn *) nodes[1]->peers[0].chan;
	assert_true(rxd_conn_alive(conn) && rxd_conn_alive(other) && rxd_tx_idle(conn));
	snet_cut(PORT(0), PORT(1), UINT64_MAX);
	snet_cut(PORT(1), PORT(0), UINT64_MAX);
	pn = other->loss.next;
	msg_seq = nodes[1]->peers[0].sent;
	base = conn->end;
	scripted_poll();
	snet_tap = on_tap;
	tap_cnt = 0;
	return 0;
}

static inline int scripted_stop(void **state)
{
	snet_tap = NULL;
	nodes_downs = 0;
	node_close(0);
	node_close(1);
	return 0;
}

/* scripted_say - the datagram in @buf arrives at node 0, sealed. */
static inline void scripted_say(uint8_t *buf, size_t len)
{
	rxd_seal(buf, len, NULL, 0);
	snet_forge(PORT(1), PORT(0), buf, len);
	scripted_poll();
}

/* scripted_data - bytes of the peer's stream, in a packet with a number. */
static inline void scripted_data(uint64_t number, uint64_t off, const void *data, size_t len,
				 uint8_t flags)
{
	uint8_t buf[2048];
	size_t at = rxd_put_hdr(buf, RXD_DATA, RXD_F_PN | RXD_F_SUM | flags, conn->cid, number);

	at = rxd_put_u64(buf, at, off);
	memcpy(buf + at, data, len);
	scripted_say(buf, at + len);
}

/* scripted_ack - the peer acknowledges numbers @lo to @hi, both included. */
static inline void scripted_ack(uint64_t lo, uint64_t hi, uint64_t limit)
{
	uint8_t buf[256];
	struct rxd_ack ack = { .largest = hi, .first = (uint32_t) (hi - lo), .limit = limit };
	size_t at = rxd_put_hdr(buf, RXD_DATA, RXD_F_ACK | RXD_F_SUM, conn->cid, 0);

	scripted_say(buf, rxd_put_ack(buf, at, &ack));
}

/* scripted_msg - the peer's message number @seq as a frame.  Returns its length. */
static inline size_t scripted_msg(uint8_t *out, uint64_t seq, size_t len)
{
	uint64_t word = rxd_frame(HEAD, len);
	uint64_t head[] = { nodes[1]->life, nodes[1]->peers[0].gen, seq, len };

	memcpy(out, &word, sizeof(word));
	memcpy(out + RXD_FRAME_SIZE, head, HEAD);
	memcpy(out + FRAME, nodes_bytes(seq, len), len);
	return FRAME + len;
}

/* A packet of the test's own to send; done() counts. */
static int done_cnt, done_status;
static uint8_t done_data[RXD_PAYLOAD_MAX];

static void on_scripted_done(struct eng_pkt *pkt, int status)
{
	done_cnt++;
	done_status = status;
}

static inline struct eng_pkt *scripted_pkt(struct eng_pkt *pkt, size_t len, uint32_t flags)
{
	memset(pkt, 0, sizeof(*pkt));
	pkt->hdr_len = HEAD;
	pkt->flags = flags;
	pkt->len = len;
	pkt->iov[0] = (struct iovec) { done_data, len };
	pkt->iov_cnt = 1;
	pkt->done = on_scripted_done;
	done_cnt = 0;
	return pkt;
}

#define SCRIPTED(name) cmocka_unit_test_setup_teardown(name, scripted_start, scripted_stop)

#endif

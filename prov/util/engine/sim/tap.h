/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * tap.h - a link between endpoint b and two peers that the test plays itself.
 *
 * What the engine sends is recorded in tap.sent[] instead of reaching a peer; what it
 * receives are packets of the test's making.  So a test sees each packet of one source
 * file, decides when the link gives it back, and what hold() and pull() answer.
 * Included by one test program at a time.
 */
#ifndef ENG_SIM_TAP_H
#define ENG_SIM_TAP_H

#include <netinet/in.h>

#include "base/iov.h"
#include "engine/peer.h"
#include "engine/sim/case.h"

#define TAP_SENT 64
#define TAP_PAYLOAD 2000

/* A packet that the engine has sent. */
struct tap_pkt {
	struct wire_msg msg;		/* its header, which has passed the gate */
	uint32_t flags;			/* ENG_PKT_* */
	size_t len;
	uint8_t data[TAP_PAYLOAD];
	struct eng_peer *to;
	struct eng_pkt *pkt;		/* the link has it, done() is to follow; NULL: it was taken */
};

static struct tap {
	struct eng_link_ops ops;
	const struct eng_link_ops *real;
	struct eng_link *link;
	struct eng_peer *peer, *other;	/* connected to b */
	int answer;			/* of send(): 1, 0 or an error */
	bool soon;			/* where it is 0, a packet that is not kept would find room soon */
	int pulled;			/* of pull(): 1, 0 or an error */
	bool no_hold;			/* hold() is refused */
	unsigned gets, puts, held, drops;
	void *cookie;			/* of the last pull() */
	void *placing;			/* cookie of a placement in flight: peer_put() ends it */
	struct eng_rx rx;		/* the last packet that was received */
	unsigned cnt;
	struct tap_pkt sent[TAP_SENT];
} tap;

static inline int tap_send(void *chan, struct eng_pkt *pkt)
{
	struct tap_pkt *sent = &tap.sent[tap.cnt];

	if (tap.answer < 0)
		return tap.answer;
	if (!tap.answer && pkt->flags & ENG_PKT_ONCE)
		return tap.soon ? -FI_EAGAIN : -FI_ENOBUFS;
	assert_true(tap.cnt < TAP_SENT && pkt->len <= TAP_PAYLOAD);
	assert_null(wire_parse(pkt->hdr, pkt->hdr_len, pkt->len, &sent->msg));
	assert_int_equal(iov_gather(pkt->iov, pkt->iov_cnt, 0, sent->data, pkt->len), pkt->len);
	sent->flags = pkt->flags;
	sent->len = pkt->len;
	sent->to = eng_peer_of(chan);
	sent->pkt = tap.answer ? NULL : pkt;
	tap.cnt++;
	return tap.answer;
}

/* tap_done - the link gives packet @i back. */
static inline void tap_done(unsigned i, int status)
{
	struct eng_pkt *pkt = tap.sent[i].pkt;

	assert_non_null(pkt);
	tap.sent[i].pkt = NULL;
	pkt->done(pkt, status);
}

static inline int tap_peer_get(struct eng_link *link, struct eng_peer *peer)
{
	tap.gets++;
	return 0;
}

/* As the contract has it, what is held for the peer comes back before it is forgotten. */
static inline void tap_peer_put(struct eng_link *link, struct eng_peer *peer)
{
	unsigned i;

	tap.puts++;
	for (i = 0; i < tap.cnt; i++)
		if (tap.sent[i].pkt && tap.sent[i].to == peer)
			tap_done(i, -FI_ECANCELED);
	if (tap.placing)
		eng_on_placed(link, tap.placing, -FI_ECANCELED);
	tap.placing = NULL;
}

static inline void *tap_hold(struct eng_link *link, struct eng_peer *peer, const struct eng_rx *rx)
{
	if (tap.no_hold)
		return NULL;
	tap.held++;
	return &tap;
}

static inline int tap_pull(struct eng_link *link, void *token, const struct iovec *iov, size_t cnt,
			   void *cookie)
{
	tap.held--;
	if (!iov) {
		tap.drops++;
		return 1;
	}
	tap.cookie = cookie;
	if (tap.pulled == 1)
		iov_scatter(iov, cnt, 0, out[7], tap.rx.len);
	return tap.pulled;
}

/* tap_peer - a peer at a port that no endpoint has, connected. */
static inline struct eng_peer *tap_peer(uint16_t port)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = htons(port) };
	struct eng_peer *peer;

	sin.sin_addr.s_addr = htonl(SIM_HOST);
	peer = eng_peer_find(tap.link, &sin, sizeof(sin));
	assert_non_null(peer);
	eng_on_up(tap.link, peer);
	return peer;
}

static inline int tap_open(void **arg)
{
	set_up(arg);
	memset(&tap, 0, sizeof(tap));
	pattern_fill(out[7], sizeof(out[7]), 7);
	tap.link = eng_of(b)->link;
	tap.real = tap.link->ops;
	tap.ops = *tap.real;
	tap.ops.send = tap_send;
	tap.ops.slot = NULL;
	tap.ops.post = NULL;
	tap.ops.peer_get = tap_peer_get;
	tap.ops.peer_put = tap_peer_put;
	tap.ops.held.hold = tap_hold;
	tap.ops.held.pull = tap_pull;
	tap.link->ops = &tap.ops;
	tap.link->attr.once_max = 0;
	tap.answer = tap.pulled = 1;
	tap.peer = tap_peer(2000);
	tap.other = tap_peer(2001);
	return 0;
}

static inline int tap_close(void **arg)
{
	unsigned i;

	for (i = 0; i < tap.cnt; i++)
		if (tap.sent[i].pkt)
			tap_done(i, -FI_ECANCELED);
	node_close(&w, 1);
	assert_int_equal(tap.held, 0);
	return tear_down(arg);
}

#define TAP(name) cmocka_unit_test_setup_teardown(name, tap_open, tap_close)

/* tap_packet - @peer's packet arrives, with @avail of its @len bytes of out[7]. */
static inline enum eng_rx_verdict tap_packet(struct eng_peer *peer, const uint8_t *hdr,
					     size_t hdr_len, size_t avail, size_t len)
{
	tap.rx = (struct eng_rx) { .hdr = hdr, .hdr_len = hdr_len, .data = (uint8_t *) out[7],
				   .avail = avail, .len = len };
	return eng_on_packet(tap.link, peer, &tap.rx);
}

/* tap_word - a packet of 16 bytes and, where @words is not 0, of one or two words more. */
static inline enum eng_rx_verdict tap_words(struct eng_peer *peer, enum wire_op op, uint8_t flags,
					    uint32_t id, uint64_t len, size_t payload,
					    unsigned words, uint64_t first, uint64_t second)
{
	uint8_t hdr[ENG_HDR_MAX];
	size_t at = wire_put_base(hdr, op, flags, 0, id, len);

	if (words)
		at = wire_put_word(hdr, at, first);
	if (words > 1)
		at = wire_put_word(hdr, at, second);
	return tap_packet(peer, hdr, at, payload, payload);
}

/* tap_tagged - an EAGER or RTS with @tag. */
static inline enum eng_rx_verdict tap_tagged(struct eng_peer *peer, enum wire_op op, uint8_t flags,
					     uint32_t id, uint64_t tag, uint64_t len)
{
	return tap_words(peer, op, flags | WIRE_F_TAG, id, len, op == WIRE_EAGER ? len : 0, 1,
			 tag, 0);
}

/* tap_rma - a READ or WRITE of one range. */
static inline enum eng_rx_verdict tap_rma(struct eng_peer *peer, enum wire_op op, uint8_t flags,
					  uint32_t id, uint64_t addr, uint64_t len, uint64_t key)
{
	uint8_t hdr[ENG_HDR_MAX];
	size_t payload = op == WIRE_WRITE ? len : 0;
	size_t at = wire_put_base(hdr, op, flags, 0, id, len);

	at = wire_put_rma(hdr, at, addr, len, key);
	return tap_packet(peer, hdr, at, payload, payload);
}

/* tap_sent - packet @i that the engine sent is @op with @id and @len. */
static inline void tap_sent(unsigned i, enum wire_op op, uint32_t id, uint64_t len)
{
	assert_true(i < tap.cnt);
	assert_int_equal(tap.sent[i].msg.op, op);
	assert_int_equal(tap.sent[i].msg.id, id);
	assert_int_equal(tap.sent[i].msg.len, len);
}

/* tap_starve - @pool has no memory for another object, until tap_feed(). */
static struct pool_item *tap_spare;

static inline void tap_starve(struct pool *pool)
{
	tap_spare = pool->free;
	pool->free = NULL;
	sim_fail_after = 1;
}

static inline void tap_feed(struct pool *pool)
{
	struct pool_item **end = &pool->free;

	while (*end)
		end = &(*end)->next;
	*end = tap_spare;
	sim_fail_after = 0;
}

#endif

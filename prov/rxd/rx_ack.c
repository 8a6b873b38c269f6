/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * What a receiver tells the sender: which packets have arrived, and how many bytes may follow.
 */
#include "conn.h"

#define FAR_NS CLOCK_NS_PER_MS		/* on a path with a longer RTT bytes arrive spread over time */
#define FAR_WINDOW (8u << 20)
#define OVERHEAD 2048			/* what the system adds for each datagram in the socket buffer */
#define MEAN_SHIFT 6
#define ONE_SHARE 4			/* of the buffer is for one sender: it stays in the cache */
#define RENEW_SHARE 32			/* of the window is used before the limit is raised */
#define TICK_NS (100 * CLOCK_NS_PER_MS)

/* ---- flow control ------------------------------------------------------- */

static void count_active(struct rxd_conn *conn, uint64_t now)
{
	struct rxd_link *link = rxd_conn_link(conn);
	uint32_t tick = (uint32_t) (now / TICK_NS);

	if (link->tick != tick) {
		link->active_before = link->tick + 1 == tick ? link->active : 0;
		link->active = 0;
		link->tick = tick;
	}
	if (conn->tick != (uint16_t) tick) {
		conn->tick = (uint16_t) tick;
		link->active++;
	}
}

/* Short datagrams fill a socket buffer mostly with the overhead. */
static uint64_t link_room(const struct rxd_link *link)
{
	return (uint64_t) link->dg->room * 3 / 4 * link->mean / (link->mean + OVERHEAD);
}

static void count_length(struct rxd_link *link, size_t len)
{
	link->mean -= link->mean >> MEAN_SHIFT;
	link->mean += len >> MEAN_SHIFT;
}

void rxd_rx_count(struct rxd_conn *conn, size_t len, uint64_t now)
{
	count_active(conn, now);
	count_length(rxd_conn_link(conn), len);
}

uint64_t rxd_rx_window(struct rxd_conn *conn)
{
	struct rxd_link *link = rxd_conn_link(conn);
	uint64_t all = link_room(link), one = link->dg->room / ONE_SHARE, least = 2 * RXD_DGRAM_MIN;
	unsigned senders = link->active > link->active_before ? link->active : link->active_before;

	if (conn->rtt.min > FAR_NS && one < FAR_WINDOW)
		all = one = FAR_WINDOW;
	all /= senders ? senders : 1;
	all = all < one ? all : one;
	if (__builtin_expect(conn->chan.paths != NULL, 0))
		all *= rxd_rails_paths(conn);
	return all > least ? all : least;
}

/* may_allow - has enough arrived since the limit was raised last? */
static bool may_allow(const struct rxd_conn *conn)
{
	return (int32_t) ((uint32_t) conn->rcv_nxt - conn->rcv_renew) >= 0;
}

void rxd_rx_open_window(struct rxd_conn *conn)
{
	uint64_t window;

	if (!may_allow(conn))
		return;
	window = rxd_rx_window(conn);
	if (conn->rcv_nxt + window > conn->rcv_limit &&
	    conn->rcv_limit - conn->rcv_nxt < window / 2)
		conn->ack_now = true;
}

/* ---- ACK ------------------------------------------------------------------ */

/* renew_limit - the flow control limit, raised now and then: not for each packet. */
static uint64_t renew_limit(struct rxd_conn *conn)
{
	uint64_t window;

	if (!may_allow(conn))
		return conn->rcv_limit;
	window = rxd_rx_window(conn);
	if (conn->rcv_limit < conn->rcv_nxt + window)
		conn->rcv_limit = conn->rcv_nxt + window;
	conn->rcv_renew = (uint32_t) (conn->rcv_nxt + window / RENEW_SHARE);
	return conn->rcv_limit;
}

uint64_t rxd_rx_limit(struct rxd_conn *conn)
{
	return renew_limit(conn);
}

size_t rxd_rx_put_ack(struct rxd_conn *conn, uint8_t *out, size_t at, uint64_t now)
{
	const struct rxd_span *span = conn->pns.span;
	struct rxd_ack ack = { .ect = conn->ect_cnt, .ce = conn->ce_cnt };
	uint32_t i = conn->pns.cnt, top;

	if (!i)
		return at;
	top = --i;
	ack.limit = renew_limit(conn);
	ack.largest = span[top].hi - 1;
	ack.first = (uint32_t) (span[top].hi - 1 - span[top].lo > UINT32_MAX ? UINT32_MAX :
				span[top].hi - 1 - span[top].lo);
	ack.delay_us = (uint32_t) ((now - conn->largest_ns) / 1000);
	ack.cnt = (uint8_t) (top < RXD_RANGES_MAX ? top : RXD_RANGES_MAX);
	at = rxd_put_ack(out, at, &ack);
	for (top = ack.cnt; top--; i--)
		at = rxd_put_range(out, at, (uint32_t) (span[i].lo - span[i - 1].hi),
				   (uint32_t) (span[i - 1].hi - span[i - 1].lo));
	return at;
}

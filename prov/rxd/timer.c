/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * When a connection has something to do, and its one timer, which is set to the earliest of all these times.
 * Nothing here acts: link.c does when the timer fires.
 */
#include "conn.h"

#define HELLO_FIRST_NS (20 * CLOCK_NS_PER_MS)
#define HELLO_MAX_SHIFT 6		/* 1.3 s */

/* connect_timeout_ms - a peer that has answered once lives: its program computes since then. */
static int connect_timeout_ms(const struct rxd_conn *conn)
{
	return conn->handshake->answered && rxd_conf.peer_timeout_ms > rxd_conf.conn_timeout_ms ?
	       rxd_conf.peer_timeout_ms : rxd_conf.conn_timeout_ms;
}

uint64_t rxd_give_up_due(const struct rxd_conn *conn)
{
	return conn->chan.first_ns + (uint64_t) connect_timeout_ms(conn) * CLOCK_NS_PER_MS;
}

uint64_t rxd_hello_due(const struct rxd_conn *conn)
{
	unsigned tries = conn->handshake->tries;
	uint64_t due = conn->handshake->sent_ns +
		       (HELLO_FIRST_NS << (tries < HELLO_MAX_SHIFT ? tries : HELLO_MAX_SHIFT));

	clock_earlier(&due, rxd_give_up_due(conn));
	return due;
}

/* An idle peer is probed after this part of the time after which it would be lost. */
#define KEEPALIVE_PART 30

/* Only while no packet is unanswered; otherwise rxd_dead_due() watches the peer. */
uint64_t rxd_keepalive_due(const struct rxd_conn *conn)
{
	uint64_t gap = (uint64_t) rxd_conf.peer_timeout_ms * CLOCK_NS_PER_MS / KEEPALIVE_PART;

	return conn->unanswered_ns ? UINT64_MAX : conn->received_ns + gap;
}

uint64_t rxd_dead_due(const struct rxd_conn *conn)
{
	uint64_t since = conn->unanswered_ns > conn->received_ns ? conn->unanswered_ns :
			 conn->received_ns;

	return conn->unanswered_ns ?
	       since + (uint64_t) rxd_conf.peer_timeout_ms * CLOCK_NS_PER_MS : UINT64_MAX;
}

uint64_t rxd_welcome_due(const struct rxd_conn *conn)
{
	unsigned tries = conn->handshake ? conn->handshake->tries : 0;

	return conn->confirmed || !conn->handshake ? UINT64_MAX :
	       conn->handshake->sent_ns + (RXD_RTT_FIRST_NS << (tries < 5 ? tries : 5));
}

bool rxd_tx_is_blocked(const struct rxd_conn *conn)
{
	return !conn->loss.out_cnt && !conn->retransmit.cnt && conn->nxt >= conn->limit &&
	       (conn->nxt != conn->end || !list_empty(&conn->chan.pending));
}

uint64_t rxd_tx_due(struct rxd_conn *conn, uint64_t now)
{
	uint64_t due = UINT64_MAX, when;
	bool probe;

	when = rxd_loss_due(&conn->loss, &conn->rtt, RXD_PEER_DELAY_NS, &probe);
	if (when)
		due = when;
	if (rxd_tx_is_blocked(conn))
		due = conn->loss.last_ns +
		      rxd_loss_probe_timeout(&conn->loss, &conn->rtt, RXD_PEER_DELAY_NS);
	if (conn->retransmit.cnt || conn->nxt != conn->end) {
		when = rxd_cc_pace(&conn->cc, now, rxd_rtt_pace(&conn->rtt));
		if (when > now)
			clock_earlier(&due, when);
	}
	return due;
}

/* The earliest of all events of the connection; UINT64_MAX: it waits for packets only. */
static uint64_t due_of(struct rxd_conn *conn, uint64_t now)
{
	uint64_t due = UINT64_MAX;

	if (conn->chan.state == CHAN_CONNECTING)
		return rxd_hello_due(conn);
	if (!rxd_conn_alive(conn))
		return due;
	if (conn->report_up)
		return 0;
	clock_earlier(&due, rxd_tx_due(conn, now));
	if (conn->ack_cnt)
		clock_earlier(&due, conn->ack_since_ns + RXD_ACK_DELAY_NS);
	if (conn->no_memory)
		clock_earlier(&due, now + RXD_RETRY_NS);
	clock_earlier(&due, rxd_keepalive_due(conn));
	clock_earlier(&due, rxd_dead_due(conn));
	clock_earlier(&due, rxd_welcome_due(conn));
	return due;
}

/* A timer that is set too early is corrected when it fires. */
void rxd_conn_rearm(struct rxd_conn *conn, uint64_t now)
{
	const struct timer *timer = &conn->chan.timer;
	uint64_t due = due_of(conn, now);

	if (due != UINT64_MAX && (!timer->at || timer->due_ns > due))
		chan_timer_set(&conn->chan, due);
}

bool rxd_has_looked(struct rxd_poller *poller, uint64_t due)
{
	if (poller->looked_ns >= due)
		return true;
	if (!poller->look_ns) {
		poller->look_ns = rxd_now(poller);
		poller->look_polls = 0;
	}
	return false;
}

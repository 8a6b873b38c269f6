// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copyright (c) 2026 the libfabric authors. */
/*
 * match.c - how a message meets its receive. One without is kept in memory where it may be, else the
 * connection waits with it, and nothing behind it is read.
 */
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <net/sock.h>

#include "tcp.h"

static unsigned int saved_max = 64;
module_param(saved_max, uint, 0644);
MODULE_PARM_DESC(saved_max, "messages of one peer that are kept when they find no receive");

static unsigned int saved_size_max = 65536;
module_param(saved_size_max, uint, 0644);
MODULE_PARM_DESC(saved_size_max, "longest message that is kept when it finds no receive");

static struct kofi_recvd recvd_make(const struct tcp_conn *conn)
{
	const struct tcp_rx *rx = &conn->rx;
	struct kofi_recvd recvd = {
		.len = rx->len, .flags = rx->flags & WIRE_F_DATA ? FI_REMOTE_CQ_DATA : 0,
		.data = rx->data, .tag = rx->tag, .src = conn->peer,
	};

	return recvd;
}

/* A receive without its message: the next message may have it. */
static void receive_return(struct tcp_ep *ep, struct kofi_op *op)
{
	if (ep->ep.type == FI_EP_RDM)
		kofi_rx_repost(&ep->ep, op);
	else
		kofi_rx_done(op, FI_ECANCELED, NULL);
}

/* ---- messages that are kept ---- */

static void saved_free(struct tcp_saved *saved)
{
	struct tcp_conn *conn = saved->conn;

	atomic_dec(&conn->saved_cnt);
	kvfree(saved);
	tcp_conn_put(conn);
}

static void saved_deliver(struct tcp_saved *saved, struct kofi_op *op)
{
	struct kvec iov = { saved->data, saved->recvd.len };
	struct kofi_segs segs = { .cnt = 1, .len = iov.iov_len, .kvec = &iov };

	kofi_segs_copy(&op->segs, 0, &segs, 0, min(op->segs.len, segs.len));
	kofi_rx_done(op, 0, &saved->recvd);
	saved_free(saved);
}

/* Messages of peers that are known, and small, wait in memory. */
static struct tcp_saved *saved_new(struct tcp_conn *conn)
{
	struct tcp_saved *saved;

	if (conn->peer == FI_ADDR_NOTAVAIL || conn->rx.len > saved_size_max ||
	    atomic_read(&conn->saved_cnt) >= saved_max)
		return NULL;
	saved = kvzalloc(struct_size(saved, data, conn->rx.len), GFP_KERNEL | __GFP_NOWARN);
	if (!saved)
		return NULL;
	saved->arrival.saved = true;
	saved->recvd = recvd_make(conn);
	saved->conn = conn;
	kref_get(&conn->ref);
	atomic_inc(&conn->saved_cnt);
	return saved;
}

static void arrival_fill(struct tcp_arrival *arrival, const struct tcp_conn *conn)
{
	arrival->arrival.tagged = conn->rx.hdr.op == WIRE_TAGGED;
	arrival->arrival.src = conn->peer;
	arrival->arrival.tag = conn->rx.tag;
	arrival->arrival.len = conn->rx.len;
}

static int saved_begin(struct tcp_conn *conn, struct tcp_saved *saved)
{
	struct kofi_op *op;

	arrival_fill(&saved->arrival, conn);
	op = kofi_rx_arrive(&conn->ep->ep, &saved->arrival.arrival);
	if (op)
		saved_free(saved);
	else
		conn->rx.saved = saved;
	if (IS_ERR(op))
		return PTR_ERR(op);
	conn->rx.op = op;
	conn->rx.phase = RX_PAYLOAD;
	return 0;
}

static void saved_match(struct tcp_saved *saved, struct kofi_op *op)
{
	struct tcp_ep *ep = saved->conn->ep;
	bool complete, failed;

	spin_lock_bh(&ep->ep.lock);
	complete = saved->complete;
	failed = saved->failed;
	saved->rx = op;
	spin_unlock_bh(&ep->ep.lock);
	if (complete) {
		saved_deliver(saved, op);
	} else if (failed) {
		saved_free(saved);
		receive_return(ep, op);
	}
}

static void saved_end(struct tcp_ep *ep, struct tcp_saved *saved, bool complete)
{
	struct kofi_op *op;

	if (!complete && kofi_arrival_cancel(&ep->ep, &saved->arrival.arrival)) {
		saved_free(saved);
		return;
	}
	spin_lock_bh(&ep->ep.lock);
	saved->complete = complete;
	saved->failed = !complete;
	op = saved->rx;
	spin_unlock_bh(&ep->ep.lock);
	if (op && complete) {
		saved_deliver(saved, op);
	} else if (op) {
		saved_free(saved);
		receive_return(ep, op);
	}
}

void tcp_match_drop(struct tcp_ep *ep)
{
	struct kofi_arrival *arrival;
	int i;

	for (i = 0; i < 2; i++)
		while ((arrival = list_first_entry_or_null(&ep->ep.arrivals[i],
							   struct kofi_arrival, node)))
			if (kofi_arrival_cancel(&ep->ep, arrival))
				saved_free(container_of(arrival, struct tcp_saved,
							arrival.arrival));
}

/* ---- a connection that waits ---- */

static void conn_match(struct tcp_conn *conn, struct kofi_op *op)
{
	bool dead;

	spin_lock_bh(&conn->lock);
	dead = conn->state == CONN_DEAD;
	if (!dead)
		conn->rx.op = op;
	spin_unlock_bh(&conn->lock);
	if (dead)
		receive_return(conn->ep, op);
	else
		tcp_conn_kick(conn);
	tcp_conn_put(conn);
}

static bool receive_is_there(struct tcp_conn *conn)
{
	bool came;

	spin_lock_bh(&conn->lock);
	came = conn->rx.op;
	spin_unlock_bh(&conn->lock);
	return came;
}

/* Nothing is read, but a reset is noticed, and that the peer has closed: the application of a
 * connection is told, and may still receive what the peer had sent. */
static int peer_check(struct tcp_conn *conn)
{
	struct sock *sk = conn->sock->sk;

	if (READ_ONCE(sk->sk_shutdown) & RCV_SHUTDOWN) {
		if (conn->ep->ep.type == FI_EP_MSG)
			kofi_ep_ended(&conn->ep->ep);
		else if (conn->peer == FI_ADDR_NOTAVAIL)
			return -FI_ECONNRESET;
	}
	return sock_error(sk);
}

int tcp_match_wait(struct tcp_conn *conn)
{
	if (!receive_is_there(conn))
		return peer_check(conn);
	conn->rx.phase = RX_PAYLOAD;
	return 0;
}

/* ---- from the first byte to the last ---- */

int tcp_match_begin(struct tcp_conn *conn)
{
	struct tcp_rx *rx = &conn->rx;
	struct tcp_saved *saved;
	struct kofi_op *op;

	arrival_fill(&conn->arrival, conn);
	op = kofi_rx_match(&conn->ep->ep, &conn->arrival.arrival);
	if (op) {
		rx->op = op;
		rx->phase = RX_PAYLOAD;
		return 0;
	}
	saved = saved_new(conn);
	if (saved)
		return saved_begin(conn, saved);
	rx->phase = RX_WAIT;
	conn->arrival.saved = false;
	kref_get(&conn->ref);
	op = kofi_rx_arrive(&conn->ep->ep, &conn->arrival.arrival);
	if (!op)
		return 0;
	tcp_conn_put(conn);
	if (IS_ERR(op))
		return PTR_ERR(op);
	rx->op = op;
	rx->phase = RX_PAYLOAD;
	return 0;
}

void tcp_match_receive(struct kofi_ep *ep, struct kofi_op *op, struct kofi_arrival *arrival)
{
	struct tcp_arrival *found = container_of(arrival, struct tcp_arrival, arrival);

	if (found->saved)
		saved_match(container_of(found, struct tcp_saved, arrival), op);
	else
		conn_match(container_of(found, struct tcp_conn, arrival), op);
}

void tcp_match_end(struct tcp_conn *conn, struct kofi_op *op, struct tcp_saved *saved)
{
	struct kofi_recvd recvd = recvd_make(conn);

	if (saved)
		saved_end(conn->ep, saved, true);
	else
		kofi_rx_done(op, 0, &recvd);
}

void tcp_match_fail(struct tcp_conn *conn, struct kofi_op *op, struct tcp_saved *saved)
{
	if (saved)
		saved_end(conn->ep, saved, false);
	else if (op)
		receive_return(conn->ep, op);
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copyright (c) 2026 the libfabric authors. */
/*
 * serve.c - the work item of a connection: from state to state, and to its end. What a step returns
 * as an error ends the connection, and its owner is told.
 */
#define pr_fmt(fmt) "kofi_tcp: " fmt

#include <linux/sched/mm.h>
#include <net/sock.h>

#include "tcp.h"

#define ROUNDS		32	/* of reading and writing before others have their turn */

/* ---- states ---- */

static void conn_set_state(struct tcp_conn *conn, enum conn_state state)
{
	spin_lock_bh(&conn->lock);
	WARN_ON(conn->state == CONN_DEAD);
	conn->state = state;
	spin_unlock_bh(&conn->lock);
}

/* TCP has connected: our request goes out. Its private data lies in conn->cm. */
static int request_send(struct tcp_conn *conn)
{
	int ret = tcp_cm_write(conn, WIRE_CM_REQUEST, conn->cm, conn->cm_len);

	if (ret)
		return ret;
	conn->cm_got = 0;
	conn_set_state(conn, CONN_WAIT_RESPONSE);
	/* The peer's application may take its time; keepalive finds a dead host. */
	if (!tcp_conn_is_rdm(conn))
		del_timer(&conn->timer);
	return 0;
}

static int step_connecting(struct tcp_conn *conn)
{
	struct sock *sk = conn->sock->sk;
	int err = sock_error(sk);

	if (err)
		return err;
	switch (READ_ONCE(sk->sk_state)) {
	case TCP_ESTABLISHED:
		kernel_getpeername(conn->sock, (struct sockaddr *)&conn->addr);
		return request_send(conn);
	case TCP_SYN_SENT:
	case TCP_SYN_RECV:
		return -FI_EAGAIN;
	default:
		return -FI_ECONNRESET;
	}
}

static int step_wait_response(struct tcp_conn *conn)
{
	int ret = tcp_cm_read(conn);

	if (ret)
		return ret;
	if (((struct wire_cm *)conn->cm)->type == WIRE_CM_REFUSAL)
		return -FI_ECONNREFUSED;
	del_timer(&conn->timer);
	return conn->owner->accepted(conn);
}

static int step_wait_request(struct tcp_conn *conn)
{
	int ret = tcp_cm_read(conn);

	if (ret)
		return ret;
	if (kernel_getpeername(conn->sock, (struct sockaddr *)&conn->addr) < 0)
		return -FI_ECONNABORTED;
	del_timer(&conn->timer);
	conn_set_state(conn, CONN_REQUESTED);
	return conn->owner->requested(conn);
}

/* While the application decides, the peer may go. */
static int step_requested(struct tcp_conn *conn)
{
	u8 state = READ_ONCE(conn->sock->sk->sk_state);

	return state == TCP_ESTABLISHED ? -FI_EAGAIN : -FI_ECONNABORTED;
}

static int step_up(struct tcp_conn *conn, bool *more_p)
{
	int ret = tcp_tx_run(conn, more_p);

	if (!ret)
		ret = tcp_rx_run(conn, more_p);
	return ret ? ret : *more_p ? 0 : -FI_EAGAIN;
}

/* 0: there may be more to do at once; -FI_EAGAIN: not before an event. */
static int serve_step(struct tcp_conn *conn)
{
	bool more = false;
	int ret;

	switch (READ_ONCE(conn->state)) {
	case CONN_NEW:
		ret = conn->owner->begin(conn);
		return ret ? ret : -FI_EAGAIN;
	case CONN_CONNECTING:
		return step_connecting(conn);
	case CONN_WAIT_RESPONSE:
		return step_wait_response(conn);
	case CONN_WAIT_REQUEST:
		return step_wait_request(conn);
	case CONN_REQUESTED:
		return step_requested(conn);
	case CONN_UP:
		return step_up(conn, &more);
	case CONN_DEAD:
		return -FI_EAGAIN;
	}
	return -FI_EAGAIN;
}

/* ---- end ---- */

/* What is outstanding ends with @err. Runs in the work item, or after its last run. */
static void conn_finish(struct tcp_conn *conn, int err)
{
	enum conn_state was;

	spin_lock_bh(&conn->lock);
	was = conn->state;
	conn->state = CONN_DEAD;
	spin_unlock_bh(&conn->lock);
	if (was == CONN_DEAD)
		return;
	del_timer(&conn->timer);
	tcp_sock_detach(conn, err != FI_ESHUTDOWN);
	if (err == FI_EPROTO)
		pr_warn_ratelimited("a peer broke the protocol, its connection is ended\n");
	tcp_tx_fail(conn, err);
	tcp_rx_fail(conn, err);
	smp_load_acquire(&conn->owner)->ended(conn, was, err);
}

static int end_wanted(struct tcp_conn *conn)
{
	int err;

	spin_lock_bh(&conn->lock);
	err = conn->end;
	spin_unlock_bh(&conn->lock);
	return -err;
}

static void conn_fail(struct tcp_conn *conn, int err)
{
	const struct tcp_owner *owner = smp_load_acquire(&conn->owner);

	if (err == FI_ECONNREFUSED && owner->refused && owner->refused(conn))
		tcp_sock_detach(conn, true);
	else
		conn_finish(conn, err);
}

void tcp_serve(struct work_struct *work)
{
	struct tcp_conn *conn = container_of(work, struct tcp_conn, io);
	unsigned int flags = memalloc_noio_save();
	int round, ret = 0;

	for (round = 0; round < ROUNDS && !ret; round++) {
		ret = end_wanted(conn);
		if (!ret)
			ret = serve_step(conn);
	}
	if (!ret)
		tcp_conn_kick(conn);
	else if (ret != -FI_EAGAIN)
		conn_fail(conn, -ret);
	memalloc_noio_restore(flags);
}

void tcp_serve_stop(struct tcp_conn *conn, int err)
{
	tcp_conn_end(conn, err);
	flush_work(&conn->io);
	/* The last kick may have come from the socket while the work ended it. */
	del_timer_sync(&conn->timer);
	cancel_work_sync(&conn->io);
	conn_finish(conn, err);
	tcp_sock_detach(conn, true);
}

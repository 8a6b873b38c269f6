// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copyright (c) 2026 the libfabric authors. */
/*
 * listen.c - a socket that listens, and connections whose request has not been answered.
 */
#include <linux/slab.h>
#include <net/sock.h>

#include "tcp.h"

#define BACKLOG		128	/* connections that are pending, at most */

static void listener_on_data_ready(struct sock *sk)
{
	struct tcp_listener *listener;

	read_lock_bh(&sk->sk_callback_lock);
	listener = sk->sk_user_data;
	/* A new connection has these callbacks, too, until it is accepted. */
	if (listener && sk->sk_state == TCP_LISTEN)
		tcp_ctl_kick(&listener->work);
	read_unlock_bh(&sk->sk_callback_lock);
}

static bool conn_is_dead(struct tcp_conn *conn)
{
	bool dead;

	spin_lock_bh(&conn->lock);
	dead = conn->state == CONN_DEAD;
	spin_unlock_bh(&conn->lock);
	return dead;
}

/* The next connection that has ended, or any with @all. */
static struct tcp_conn *pending_next(struct tcp_listener *listener, bool all)
{
	struct tcp_conn *conn;

	spin_lock_bh(&listener->lock);
	list_for_each_entry(conn, &listener->pending, node) {
		if (all || conn_is_dead(conn)) {
			list_del_init(&conn->node);
			listener->pending_cnt--;
			spin_unlock_bh(&listener->lock);
			return conn;
		}
	}
	spin_unlock_bh(&listener->lock);
	return NULL;
}

static void pending_drop(struct tcp_listener *listener, bool all)
{
	struct tcp_conn *conn;

	while ((conn = pending_next(listener, all))) {
		tcp_serve_stop(conn, FI_ECONNABORTED);
		tcp_conn_put(conn);
	}
}

/* A new socket has the callbacks of the one that listens. */
static void callbacks_reset(struct tcp_listener *listener, struct sock *sk)
{
	write_lock_bh(&sk->sk_callback_lock);
	sk->sk_user_data = NULL;
	sk->sk_data_ready = listener->old_data_ready;
	write_unlock_bh(&sk->sk_callback_lock);
}

static int listener_requested(struct tcp_conn *conn)
{
	return conn->listener->on_request(conn->listener, conn);
}

/* One that belongs to no endpoint is freed by the listener's work. */
static void listener_ended(struct tcp_conn *conn, enum conn_state was, int err)
{
	spin_lock_bh(&conn->lock);
	if (conn->listener)
		tcp_ctl_kick(&conn->listener->work);
	spin_unlock_bh(&conn->lock);
}

static const struct tcp_owner listener_owner = {
	.requested = listener_requested,
	.ended = listener_ended,
};

static int conn_accept(struct tcp_listener *listener)
{
	struct tcp_conn *conn;
	struct socket *sock;
	int ret;

	ret = kernel_accept(listener->sock, &sock, O_NONBLOCK);
	if (ret < 0)
		return ret;
	callbacks_reset(listener, sock->sk);
	conn = listener->pending_cnt < BACKLOG ?
	       tcp_conn_new(CONN_WAIT_REQUEST, tcp_serve, GFP_KERNEL) : NULL;
	if (!conn) {
		sock_no_linger(sock->sk);
		sock_release(sock);
		return 0;
	}
	tcp_sock_limits(sock);
	conn->listener = listener;
	tcp_conn_own(conn, &listener_owner, NULL);
	spin_lock_bh(&listener->lock);
	list_add_tail(&conn->node, &listener->pending);
	listener->pending_cnt++;
	spin_unlock_bh(&listener->lock);
	tcp_sock_attach(conn, sock);
	tcp_conn_kick(conn);
	return 0;
}

static void listen_work(struct work_struct *work)
{
	struct tcp_listener *listener = container_of(work, struct tcp_listener, work);

	pending_drop(listener, false);
	while (!READ_ONCE(listener->closed))
		if (conn_accept(listener))
			break;
}

int tcp_listen(struct tcp_listener *listener, struct net *net, struct sockaddr_storage *name,
	       int (*on_request)(struct tcp_listener *listener, struct tcp_conn *conn))
{
	struct socket *sock;
	int ret;

	spin_lock_init(&listener->lock);
	INIT_LIST_HEAD(&listener->pending);
	INIT_WORK(&listener->work, listen_work);
	listener->on_request = on_request;
	listener->closed = false;	/* an attempt before this one may have failed */
	if (!name->ss_family)
		name->ss_family = AF_INET;
	sock = tcp_sock_create(net, name);
	if (IS_ERR(sock))
		return PTR_ERR(sock);
	sock_set_reuseaddr(sock->sk);
	ret = kernel_bind(sock, (struct sockaddr *)name, kofi_ip_len(name));
	if (!ret)
		ret = min(kernel_getsockname(sock, (struct sockaddr *)name), 0);
	if (ret) {
		sock_release(sock);
		return ret;
	}
	listener->sock = sock;
	write_lock_bh(&sock->sk->sk_callback_lock);
	listener->old_data_ready = sock->sk->sk_data_ready;
	sock->sk->sk_user_data = listener;
	sock->sk->sk_data_ready = listener_on_data_ready;
	write_unlock_bh(&sock->sk->sk_callback_lock);
	ret = kernel_listen(sock, BACKLOG);
	if (ret)
		tcp_listen_stop(listener);
	return ret;
}

void tcp_listen_stop(struct tcp_listener *listener)
{
	struct socket *sock = listener->sock;

	if (!sock)
		return;
	write_lock_bh(&sock->sk->sk_callback_lock);
	sock->sk->sk_user_data = NULL;
	sock->sk->sk_data_ready = listener->old_data_ready;
	write_unlock_bh(&sock->sk->sk_callback_lock);
	WRITE_ONCE(listener->closed, true);
	cancel_work_sync(&listener->work);
	sock_release(sock);
	listener->sock = NULL;
	pending_drop(listener, true);
	/* What ended meanwhile may have queued it. */
	cancel_work_sync(&listener->work);
}

bool tcp_listener_take(struct tcp_listener *listener, struct tcp_conn *conn)
{
	struct tcp_conn *have;
	bool found = false;

	spin_lock_bh(&listener->lock);
	list_for_each_entry(have, &listener->pending, node) {
		if (have == conn) {
			list_del_init(&conn->node);
			listener->pending_cnt--;
			spin_lock(&conn->lock);
			conn->listener = NULL;
			spin_unlock(&conn->lock);
			found = true;
			break;
		}
	}
	spin_unlock_bh(&listener->lock);
	return found;
}

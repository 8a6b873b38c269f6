// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copyright (c) 2026 the libfabric authors. */
/*
 * sock.c - the socket of a connection: how it is made, what it tells, how it is released.
 */
#include <linux/module.h>
#include <linux/tcp.h>
#include <net/sock.h>
#include <net/tcp.h>

#include "tcp.h"

static unsigned int timeout_ms = 10000;
module_param(timeout_ms, uint, 0644);
MODULE_PARM_DESC(timeout_ms, "how long a peer may be silent while data waits for it (ms)");

static unsigned int connect_ms = 20000;
module_param(connect_ms, uint, 0644);
MODULE_PARM_DESC(connect_ms, "how long a connection may take to begin (ms)");

/* Memory of a socket is taken without I/O: a block device may wait for it. */
void tcp_sock_limits(struct socket *sock)
{
	struct sock *sk = sock->sk;

	sk->sk_allocation = GFP_NOIO;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
	sk->sk_use_task_frag = false;
#endif
	sock_set_keepalive(sk);
	tcp_sock_set_nodelay(sk);
	tcp_sock_set_keepidle(sk, max(timeout_ms / 2000, 1U));
	tcp_sock_set_keepintvl(sk, max(timeout_ms / 5000, 1U));
	tcp_sock_set_keepcnt(sk, 3);
	tcp_sock_set_user_timeout(sk, timeout_ms);
}

struct socket *tcp_sock_create(struct net *net, const struct sockaddr_storage *addr)
{
	struct socket *sock;
	int ret;

	ret = sock_create_kern(net, addr->ss_family, SOCK_STREAM, IPPROTO_TCP, &sock);
	if (ret)
		return ERR_PTR(ret);
	tcp_sock_limits(sock);
	return sock;
}

static void sock_wake(struct sock *sk)
{
	struct tcp_conn *conn;

	read_lock_bh(&sk->sk_callback_lock);
	conn = sk->sk_user_data;
	if (conn)
		tcp_conn_kick(conn);
	read_unlock_bh(&sk->sk_callback_lock);
}

static void sock_on_write_space(struct sock *sk)
{
	if (sk_stream_is_writeable(sk)) {
		clear_bit(SOCK_NOSPACE, &sk->sk_socket->flags);
		sock_wake(sk);
	}
}

void tcp_sock_attach(struct tcp_conn *conn, struct socket *sock)
{
	struct sock *sk = sock->sk;

	conn->sock = sock;
	mod_timer(&conn->timer, jiffies + msecs_to_jiffies(connect_ms));
	write_lock_bh(&sk->sk_callback_lock);
	conn->old_data_ready = sk->sk_data_ready;
	conn->old_write_space = sk->sk_write_space;
	conn->old_state_change = sk->sk_state_change;
	sk->sk_user_data = conn;
	sk->sk_data_ready = sock_wake;
	sk->sk_write_space = sock_on_write_space;
	sk->sk_state_change = sock_wake;
	write_unlock_bh(&sk->sk_callback_lock);
}

void tcp_sock_detach(struct tcp_conn *conn, bool abort)
{
	struct socket *sock = conn->sock;
	struct sock *sk;

	if (!sock)
		return;
	sk = sock->sk;
	write_lock_bh(&sk->sk_callback_lock);
	sk->sk_user_data = NULL;
	sk->sk_data_ready = conn->old_data_ready;
	sk->sk_write_space = conn->old_write_space;
	sk->sk_state_change = conn->old_state_change;
	write_unlock_bh(&sk->sk_callback_lock);
	conn->sock = NULL;
	if (abort)
		sock_no_linger(sk);
	kernel_sock_shutdown(sock, SHUT_RDWR);
	sock_release(sock);
}

int tcp_sock_connect(struct tcp_conn *conn, struct net *net, const struct sockaddr_storage *src,
		     const struct sockaddr_storage *dst)
{
	struct sockaddr_storage from = *src;
	struct socket *sock;
	int ret = 0;

	sock = tcp_sock_create(net, dst);
	if (IS_ERR(sock))
		return PTR_ERR(sock);
	if (src->ss_family) {
		((struct sockaddr_in *)&from)->sin_port = 0;
		ret = kernel_bind(sock, (struct sockaddr *)&from, kofi_ip_len(&from));
	}
	if (ret) {
		sock_release(sock);
		return ret;
	}
	tcp_sock_attach(conn, sock);
	ret = kernel_connect(sock, (struct sockaddr *)dst, kofi_ip_len(dst), O_NONBLOCK);
	if (ret && ret != -EINPROGRESS)
		return ret;
	tcp_conn_kick(conn);
	return 0;
}

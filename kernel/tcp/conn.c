// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copyright (c) 2026 the libfabric authors. */
/*
 * conn.c - a connection: its socket, its work item, its handshake, its end.
 */
#define pr_fmt(fmt) "kofi_tcp: " fmt

#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/tcp.h>
#include <net/sock.h>
#include <net/tcp.h>

#include "tcp.h"

#define ROUNDS		32	/* of reading and writing before others have their turn */

static unsigned int timeout_ms = 10000;
module_param(timeout_ms, uint, 0644);
MODULE_PARM_DESC(timeout_ms, "how long a peer may be silent while data waits for it (ms)");

static unsigned int connect_ms = 20000;
module_param(connect_ms, uint, 0644);
MODULE_PARM_DESC(connect_ms, "how long a connection may take to begin (ms)");

static void conn_free(struct kref *ref)
{
	struct tcp_conn *conn = container_of(ref, struct tcp_conn, ref);

	WARN_ON(conn->sock);
	kfree(conn);
}

void tcp_conn_put(struct tcp_conn *conn)
{
	kref_put(&conn->ref, conn_free);
}

void tcp_conn_kick(struct tcp_conn *conn)
{
	queue_work(tcp_wq, &conn->io);
}

/* A phase took too long; a connection that waits to be tried again is tried. */
static void on_timer(struct timer_list *timer)
{
	struct tcp_conn *conn = from_timer(conn, timer, timer);

	if (READ_ONCE(conn->state) == CONN_NEW)
		tcp_conn_kick(conn);
	else
		tcp_conn_end(conn, FI_ETIMEDOUT);
}

static void io_work(struct work_struct *work);

struct tcp_conn *tcp_conn_new(enum conn_state state, gfp_t gfp)
{
	struct tcp_conn *conn = kzalloc(sizeof(*conn), gfp);

	if (!conn)
		return NULL;
	kref_init(&conn->ref);
	conn->fid.fclass = FI_CLASS_CONNREQ;
	conn->state = state;
	conn->peer = FI_ADDR_NOTAVAIL;
	spin_lock_init(&conn->lock);
	INIT_LIST_HEAD(&conn->node);
	INIT_LIST_HEAD(&conn->txq);
	INIT_LIST_HEAD(&conn->holds);
	INIT_LIST_HEAD(&conn->answers);
	INIT_LIST_HEAD(&conn->ack_wait);
	INIT_LIST_HEAD(&conn->read_wait);
	INIT_LIST_HEAD(&conn->amo_wait);
	INIT_WORK(&conn->io, io_work);
	timer_setup(&conn->timer, on_timer, 0);
	return conn;
}

/* ---- the socket ---- */

static void wake(struct sock *sk)
{
	struct tcp_conn *conn;

	read_lock_bh(&sk->sk_callback_lock);
	conn = sk->sk_user_data;
	if (conn)
		tcp_conn_kick(conn);
	read_unlock_bh(&sk->sk_callback_lock);
}

static void on_write_space(struct sock *sk)
{
	if (sk_stream_is_writeable(sk)) {
		clear_bit(SOCK_NOSPACE, &sk->sk_socket->flags);
		wake(sk);
	}
}

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

void tcp_conn_attach(struct tcp_conn *conn, struct socket *sock)
{
	struct sock *sk = sock->sk;

	conn->sock = sock;
	mod_timer(&conn->timer, jiffies + msecs_to_jiffies(connect_ms));
	write_lock_bh(&sk->sk_callback_lock);
	conn->old_data_ready = sk->sk_data_ready;
	conn->old_write_space = sk->sk_write_space;
	conn->old_state_change = sk->sk_state_change;
	sk->sk_user_data = conn;
	sk->sk_data_ready = wake;
	sk->sk_write_space = on_write_space;
	sk->sk_state_change = wake;
	write_unlock_bh(&sk->sk_callback_lock);
}

/* The stack goes on with a socket that is released, without us. With @abort what it has not
 * sent is dropped, and the pages with it. */
static void detach(struct tcp_conn *conn, bool abort)
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

int tcp_conn_connect(struct tcp_conn *conn, struct net *net, const struct sockaddr_storage *src,
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
	tcp_conn_attach(conn, sock);
	ret = kernel_connect(sock, (struct sockaddr *)dst, kofi_ip_len(dst), O_NONBLOCK);
	if (ret && ret != -EINPROGRESS)
		return ret;
	tcp_conn_kick(conn);
	return 0;
}

/* ---- connection messages ---- */

/* A fresh socket has room for so little; the published protocol wants one write. */
int tcp_cm_write(struct tcp_conn *conn, u8 type, const void *data, size_t len)
{
	struct wire_cm cm = { .version = WIRE_VERSION, .type = type, .len = cpu_to_be16(len),
			      .mark = type != WIRE_CM_REFUSAL };
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL };
	struct kvec iov[2] = { { &cm, sizeof(cm) }, { (void *)data, len } };
	int ret;

	if (type == WIRE_CM_REQUEST || (type == WIRE_CM_RESPONSE && conn->packets)) {
		memcpy(cm.magic, WIRE_MAGIC, sizeof(cm.magic));
		cm.engine_oldest = ENG_OLDEST;
		cm.engine = ENG_VERSION;
		cm.packets = 1;
	}
	if (!conn->sock)
		return -FI_ENOTCONN;
	ret = kernel_sendmsg(conn->sock, &msg, iov, len ? 2 : 1, sizeof(cm) + len);
	return ret < 0 ? ret : ret == sizeof(cm) + len ? 0 : -FI_EPROTO;
}

/* Checks what has come of a message before its private data is waited for. */
static int cm_check(const struct tcp_conn *conn)
{
	const struct wire_cm *cm = (const void *)conn->cm;

	if (cm->version != WIRE_VERSION || be16_to_cpu(cm->len) > WIRE_CM_DATA_MAX)
		return -FI_EPROTO;
	if (conn->state == CONN_WAIT_REQUEST)
		return cm->type == WIRE_CM_REQUEST ? 0 : -FI_EPROTO;
	return cm->type == WIRE_CM_RESPONSE || cm->type == WIRE_CM_REFUSAL ? 0 : -FI_EPROTO;
}

/* A peer of this library, or of these modules, that takes our version of packets. */
static bool takes_packets(const struct wire_cm *cm)
{
	return (!memcmp(cm->magic, WIRE_MAGIC, sizeof(cm->magic)) ||
		!memcmp(cm->magic, WIRE_MAGIC_NATIVE, sizeof(cm->magic))) &&
	       cm->packets == 1 && cm->engine >= ENG_OLDEST && cm->engine_oldest <= ENG_VERSION;
}

/* 0: complete; -FI_EAGAIN: more is to come. */
static int cm_read(struct tcp_conn *conn)
{
	struct wire_cm *cm = (void *)conn->cm;
	size_t want = sizeof(*cm);
	struct msghdr msg = {};
	struct kvec iov;
	int ret;

	for (;;) {
		if (conn->cm_got >= sizeof(*cm)) {
			ret = cm_check(conn);
			if (ret)
				return ret;
			want = sizeof(*cm) + be16_to_cpu(cm->len);
		}
		if (conn->cm_got == want)
			break;
		iov.iov_base = conn->cm + conn->cm_got;
		iov.iov_len = want - conn->cm_got;
		ret = kernel_recvmsg(conn->sock, &msg, &iov, 1, iov.iov_len,
				     MSG_DONTWAIT | MSG_NOSIGNAL);
		if (ret <= 0)
			return ret ? ret : -FI_ECONNRESET;
		conn->cm_got += ret;
	}
	conn->packets = cm->type != WIRE_CM_REFUSAL && takes_packets(cm);
	conn->swap = cm->mark != 1 && cm->type != WIRE_CM_REFUSAL;
#ifdef __BIG_ENDIAN
	conn->swap = false;	/* big endian is our own */
#endif
	return 0;
}

static size_t cm_data_len(const struct tcp_conn *conn)
{
	return be16_to_cpu(((const struct wire_cm *)conn->cm)->len);
}

static const void *cm_data(const struct tcp_conn *conn)
{
	return conn->cm + sizeof(struct wire_cm);
}

/* ---- states ---- */

static void set_state(struct tcp_conn *conn, enum conn_state state)
{
	spin_lock_bh(&conn->lock);
	WARN_ON(conn->state == CONN_DEAD);
	conn->state = state;
	spin_unlock_bh(&conn->lock);
}

static bool is_rdm(const struct tcp_conn *conn)
{
	return conn->ep && conn->ep->ep.type == FI_EP_RDM;
}

/* TCP has connected: our request goes out. What is to be said lies in conn->cm. */
static int send_request(struct tcp_conn *conn)
{
	struct wire_rdm rdm;
	int ret;

	if (is_rdm(conn)) {
		tcp_rdm_request(conn, &rdm);
		ret = tcp_cm_write(conn, WIRE_CM_REQUEST, &rdm, sizeof(rdm));
	} else {
		ret = tcp_cm_write(conn, WIRE_CM_REQUEST, conn->cm, conn->cm_len);
	}
	if (ret)
		return ret;
	conn->cm_got = 0;
	set_state(conn, CONN_WAIT_RESPONSE);
	/* The peer's application may take its time; keepalive finds a dead host. */
	if (!is_rdm(conn))
		del_timer(&conn->timer);
	return 0;
}

static int on_connecting(struct tcp_conn *conn)
{
	struct sock *sk = conn->sock->sk;
	int err = sock_error(sk);

	if (err)
		return err;
	switch (READ_ONCE(sk->sk_state)) {
	case TCP_ESTABLISHED:
		kernel_getpeername(conn->sock, (struct sockaddr *)&conn->addr);
		return send_request(conn);
	case TCP_SYN_SENT:
	case TCP_SYN_RECV:
		return -FI_EAGAIN;
	default:
		return -FI_ECONNRESET;
	}
}

static int on_response(struct tcp_conn *conn)
{
	int ret = cm_read(conn);

	if (ret)
		return ret;
	if (((struct wire_cm *)conn->cm)->type == WIRE_CM_REFUSAL)
		return -FI_ECONNREFUSED;
	del_timer(&conn->timer);
	if (is_rdm(conn) && cm_data_len(conn) < sizeof(struct wire_rdm))
		return -FI_EPROTO;
	if (is_rdm(conn))
		conn->pid = be32_to_cpu(((const struct wire_rdm *)cm_data(conn))->pid);
	set_state(conn, CONN_UP);
	if (!is_rdm(conn))
		kofi_ep_connected(&conn->ep->ep, 0, cm_data(conn), cm_data_len(conn));
	return 0;
}

static int on_request(struct tcp_conn *conn)
{
	int ret = cm_read(conn);

	if (ret)
		return ret;
	if (kernel_getpeername(conn->sock, (struct sockaddr *)&conn->addr) < 0)
		return -FI_ECONNABORTED;
	del_timer(&conn->timer);
	set_state(conn, CONN_REQUESTED);
	return conn->listener->on_request(conn->listener, conn);
}

/* While the application decides, the peer may go. */
static int on_requested(struct tcp_conn *conn)
{
	u8 state = READ_ONCE(conn->sock->sk->sk_state);

	return state == TCP_ESTABLISHED ? -FI_EAGAIN : -FI_ECONNABORTED;
}

static int step(struct tcp_conn *conn, bool *more)
{
	int ret;

	switch (READ_ONCE(conn->state)) {
	case CONN_NEW:
		ret = tcp_rdm_begin(conn);
		return ret ? ret : -FI_EAGAIN;
	case CONN_CONNECTING:
		return on_connecting(conn);
	case CONN_WAIT_RESPONSE:
		return on_response(conn);
	case CONN_WAIT_REQUEST:
		return on_request(conn);
	case CONN_REQUESTED:
		return on_requested(conn);
	case CONN_UP:
		ret = tcp_tx_run(conn, more);
		if (!ret)
			ret = tcp_rx_run(conn, more);
		return ret ? ret : *more ? 0 : -FI_EAGAIN;
	case CONN_DEAD:
		return -FI_EAGAIN;
	}
	return -FI_EAGAIN;
}

/* ---- end ---- */

/* What is outstanding ends with @err. Runs in the work item, or after its last run. */
static void finish(struct tcp_conn *conn, int err)
{
	bool was_up, refused = err == FI_ECONNREFUSED && conn->state == CONN_WAIT_RESPONSE;

	spin_lock_bh(&conn->lock);
	if (conn->state == CONN_DEAD) {
		spin_unlock_bh(&conn->lock);
		return;
	}
	was_up = conn->state == CONN_UP;
	conn->state = CONN_DEAD;
	spin_unlock_bh(&conn->lock);
	del_timer(&conn->timer);
	detach(conn, err != FI_ESHUTDOWN);
	if (err == FI_EPROTO)
		pr_warn_ratelimited("a peer broke the protocol, its connection is ended\n");
	tcp_tx_fail(conn, err);
	tcp_rx_fail(conn, err);
	if (!conn->ep)
		return;
	if (is_rdm(conn))
		tcp_rdm_ended(conn, err);
	else
		tcp_msg_ended(conn, was_up, err, refused ? cm_data(conn) : NULL,
			      refused ? cm_data_len(conn) : 0);
}

static int end_wanted(struct tcp_conn *conn)
{
	int err;

	spin_lock_bh(&conn->lock);
	err = conn->end;
	spin_unlock_bh(&conn->lock);
	return -err;
}

static void fail(struct tcp_conn *conn, int ret)
{
	struct tcp_listener *listener;

	if (ret == -FI_ECONNREFUSED && is_rdm(conn) && tcp_rdm_refused(conn)) {
		detach(conn, true);
		return;
	}
	finish(conn, -ret);
	/* One that belongs to a listener only is freed there. */
	listener = READ_ONCE(conn->listener);
	if (listener)
		queue_work(tcp_ctl_wq, &listener->work);
}

static void io_work(struct work_struct *work)
{
	struct tcp_conn *conn = container_of(work, struct tcp_conn, io);
	unsigned int flags = memalloc_noio_save();
	int round, ret = 0;
	bool more;

	for (round = 0; round < ROUNDS && !ret; round++) {
		more = false;
		ret = end_wanted(conn);
		if (!ret)
			ret = step(conn, &more);
	}
	if (!ret)
		tcp_conn_kick(conn);
	else if (ret != -FI_EAGAIN)
		fail(conn, ret);
	memalloc_noio_restore(flags);
}

void tcp_conn_end(struct tcp_conn *conn, int err)
{
	spin_lock_bh(&conn->lock);
	if (!conn->end)
		conn->end = err;
	spin_unlock_bh(&conn->lock);
	tcp_conn_kick(conn);
}

void tcp_conn_stop(struct tcp_conn *conn, int err)
{
	tcp_conn_end(conn, err);
	flush_work(&conn->io);
	/* The last kick may have come from the socket while the work ended it. */
	del_timer_sync(&conn->timer);
	cancel_work_sync(&conn->io);
	finish(conn, err);
	detach(conn, true);
}

int tcp_conn_send(struct tcp_conn *conn, struct kofi_op *op)
{
	struct tcp_op *top = container_of(op, struct tcp_op, op);
	bool up;

	atomic_set(&top->parts, 1);
	top->err = 0;
	spin_lock_bh(&conn->lock);
	up = conn->state == CONN_UP || (is_rdm(conn) && conn->state < CONN_DEAD);
	if (up)
		list_add_tail(&op->node, &conn->txq);
	spin_unlock_bh(&conn->lock);
	if (!up)
		return -FI_ENOTCONN;
	tcp_conn_kick(conn);
	return 0;
}

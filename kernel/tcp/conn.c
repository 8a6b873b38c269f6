// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copyright (c) 2026 the libfabric authors. */
/*
 * conn.c - a connection as all others here hold it: its references, its work item, the operations
 * that wait to be sent, the end that is wanted.
 */
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "tcp.h"

static struct workqueue_struct *conn_wq;	/* work of connections */
static struct workqueue_struct *ctl_wq;		/* work that waits for work of connections */

int tcp_queues_open(void)
{
	conn_wq = alloc_workqueue("kofi_tcp", WQ_MEM_RECLAIM | WQ_HIGHPRI, 0);
	if (!conn_wq)
		return -ENOMEM;
	/* One worker may have to serve a queue: a work item never waits for one of its queue. */
	ctl_wq = alloc_workqueue("kofi_tcp_ctl", WQ_MEM_RECLAIM | WQ_HIGHPRI, 0);
	if (ctl_wq)
		return 0;
	destroy_workqueue(conn_wq);
	return -ENOMEM;
}

void tcp_queues_close(void)
{
	destroy_workqueue(ctl_wq);
	destroy_workqueue(conn_wq);
}

void tcp_ctl_kick(struct work_struct *work)
{
	queue_work(ctl_wq, work);
}

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
	queue_work(conn_wq, &conn->io);
}

void tcp_conn_end(struct tcp_conn *conn, int err)
{
	spin_lock_bh(&conn->lock);
	if (!conn->end)
		conn->end = err;
	spin_unlock_bh(&conn->lock);
	tcp_conn_kick(conn);
}

/* A phase took too long; a connection that waits to be tried again is tried. */
static void conn_timer_expired(struct timer_list *timer)
{
	struct tcp_conn *conn = from_timer(conn, timer, timer);

	if (READ_ONCE(conn->state) == CONN_NEW)
		tcp_conn_kick(conn);
	else
		tcp_conn_end(conn, FI_ETIMEDOUT);
}

struct tcp_conn *tcp_conn_new(enum conn_state state, work_func_t serve, gfp_t gfp)
{
	struct tcp_conn *conn = kzalloc(sizeof(*conn), gfp);

	if (!conn)
		return NULL;
	kref_init(&conn->ref);
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
	INIT_WORK(&conn->io, serve);
	timer_setup(&conn->timer, conn_timer_expired, 0);
	return conn;
}

void tcp_conn_own(struct tcp_conn *conn, const struct tcp_owner *owner, struct tcp_ep *ep)
{
	conn->ep = ep;
	smp_store_release(&conn->owner, owner);
}

bool tcp_conn_up(struct tcp_conn *conn, enum conn_state from)
{
	bool ok;

	spin_lock_bh(&conn->lock);
	ok = conn->state == from;
	if (ok)
		conn->state = CONN_UP;
	spin_unlock_bh(&conn->lock);
	return ok;
}

int tcp_conn_send(struct tcp_conn *conn, struct kofi_op *op)
{
	struct tcp_op *top = container_of(op, struct tcp_op, op);
	bool up;

	atomic_set(&top->parts, 1);
	top->err = 0;
	spin_lock_bh(&conn->lock);
	up = conn->state == CONN_UP || (tcp_conn_is_rdm(conn) && conn->state < CONN_DEAD);
	if (up)
		list_add_tail(&op->node, &conn->txq);
	spin_unlock_bh(&conn->lock);
	if (!up)
		return -FI_ENOTCONN;
	tcp_conn_kick(conn);
	return 0;
}

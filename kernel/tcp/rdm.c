// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copyright (c) 2026 the libfabric authors. */
/*
 * rdm.c - unconnected endpoints: a connection to each peer, made by the first operation.
 *
 * One connection serves a pair of endpoints. When both connect at once, that of the higher
 * address stays; what was to be sent by the other one is sent by it.
 */
#include <linux/random.h>
#include <linux/slab.h>
#include <net/ipv6.h>
#include <net/sock.h>

#include "tcp.h"

#define RETRIES_MAX	20	/* of a connect that the peer refuses for one of its own */
#define RETRY_MS	10	/* before the first; each waits longer */

/* ---- addresses ---- */

static __be16 addr_port(const struct sockaddr_storage *addr)
{
	return ((const struct sockaddr_in *)addr)->sin_port;	/* the same place in both */
}

/* By IP, then by port, as bytes. */
static int addr_compare(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
	const struct sockaddr_in *a4 = (const void *)a, *b4 = (const void *)b;
	const struct sockaddr_in6 *a6 = (const void *)a, *b6 = (const void *)b;
	__be16 pa = addr_port(a), pb = addr_port(b);
	int ret;

	if (a->ss_family != b->ss_family)
		return (int)a->ss_family - (int)b->ss_family;
	ret = a->ss_family == AF_INET ? memcmp(&a4->sin_addr, &b4->sin_addr, 4) :
					memcmp(&a6->sin6_addr, &b6->sin6_addr, 16);
	return ret ? ret : memcmp(&pa, &pb, sizeof(pa));
}

/* ---- what a connection tells ---- */

static bool conn_set_connecting(struct tcp_conn *conn)
{
	bool ok;

	spin_lock_bh(&conn->lock);
	ok = !list_empty(&conn->txq);
	if (ok)
		conn->state = CONN_CONNECTING;
	spin_unlock_bh(&conn->lock);
	return ok;
}

/* What the request says lies in conn->cm. */
static void rdm_request_fill(struct tcp_conn *conn)
{
	const struct wire_rdm rdm = { .port = addr_port(&conn->ep->name),
				      .pid = cpu_to_be32(conn->ep->pid) };

	memcpy(conn->cm, &rdm, sizeof(rdm));
	conn->cm_len = sizeof(rdm);
}

static int rdm_begin(struct tcp_conn *conn)
{
	struct tcp_ep *ep = conn->ep;
	struct sockaddr_storage addr = {};
	size_t len;

	if (!kofi_av_get(ep->ep.av, conn->peer, &addr, sizeof(addr), &len))
		return -FI_EADDRNOTAVAIL;
	if (!conn_set_connecting(conn))
		return -FI_ESHUTDOWN;
	rdm_request_fill(conn);
	return tcp_sock_connect(conn, kofi_domain_net(ep->ep.domain), &ep->name, &addr);
}

static int rdm_accepted(struct tcp_conn *conn)
{
	if (tcp_cm_data_len(conn) < sizeof(struct wire_rdm))
		return -FI_EPROTO;
	conn->pid = be32_to_cpu(((const struct wire_rdm *)tcp_cm_data(conn))->pid);
	return tcp_conn_up(conn, CONN_WAIT_RESPONSE) ? 0 : -FI_ECONNABORTED;
}

/* The peer prefers a connection of its own, which brings what waits here along; it may have
 * been lost, so that another attempt is made. */
static bool rdm_refused(struct tcp_conn *conn)
{
	bool again;

	spin_lock_bh(&conn->lock);
	again = conn->state == CONN_WAIT_RESPONSE && conn->retries < RETRIES_MAX &&
		!list_empty(&conn->txq);
	if (again)
		conn->state = CONN_NEW;
	spin_unlock_bh(&conn->lock);
	if (again) {
		conn->retries++;
		mod_timer(&conn->timer, jiffies + msecs_to_jiffies(RETRY_MS * conn->retries));
	}
	return again;
}

static void rdm_ended(struct tcp_conn *conn, enum conn_state was, int err)
{
	struct tcp_ep *ep = conn->ep;

	spin_lock_bh(&ep->lock);
	if (conn->peer != FI_ADDR_NOTAVAIL && xa_load(&ep->peers, conn->peer) == conn)
		xa_erase(&ep->peers, conn->peer);
	if (!ep->stopped)
		tcp_ctl_kick(&ep->reap);
	spin_unlock_bh(&ep->lock);
}

static const struct tcp_owner rdm_owner = {
	.begin = rdm_begin,
	.accepted = rdm_accepted,
	.refused = rdm_refused,
	.ended = rdm_ended,
};

/* ---- sending ---- */

static struct tcp_conn *peer_conn(struct tcp_ep *ep, fi_addr_t peer)
{
	struct tcp_conn *conn = xa_load(&ep->peers, peer);

	if (conn)
		return conn;
	conn = tcp_conn_new(CONN_NEW, tcp_serve, GFP_ATOMIC);
	if (!conn)
		return NULL;
	if (xa_is_err(xa_store(&ep->peers, peer, conn, GFP_ATOMIC))) {
		tcp_conn_put(conn);
		return NULL;
	}
	tcp_conn_own(conn, &rdm_owner, ep);
	conn->peer = peer;
	list_add_tail(&conn->node, &ep->conns);
	return conn;
}

int tcp_rdm_tx(struct tcp_ep *ep, struct kofi_op *op)
{
	struct sockaddr_storage addr;
	struct tcp_conn *conn = NULL;
	size_t len;
	int ret;

	if (!kofi_av_get(ep->ep.av, op->addr, &addr, sizeof(addr), &len))
		return -FI_EADDRNOTAVAIL;
	spin_lock_bh(&ep->lock);
	if (!ep->stopped)
		conn = peer_conn(ep, op->addr);
	if (conn)
		kref_get(&conn->ref);
	spin_unlock_bh(&ep->lock);
	if (!conn)
		return ep->stopped ? -FI_ESHUTDOWN : -FI_EAGAIN;
	ret = tcp_conn_send(conn, op);
	tcp_conn_put(conn);
	/* One that has just ended makes room for a new one. */
	return ret == -FI_ENOTCONN ? -FI_EAGAIN : ret;
}

/* ---- accepting ---- */

enum verdict {
	ACCEPT,
	ACCEPT_SECOND,		/* beside the one of our own, for what the peer sends */
	REFUSE
};

/* Under ep->lock and old->lock. */
static enum verdict verdict_find(const struct tcp_ep *ep, const struct tcp_conn *old,
			  const struct sockaddr_storage *peer, u32 pid)
{
	int order = addr_compare(peer, &ep->name);

	switch (old->state) {
	case CONN_NEW:
	case CONN_DEAD:
		return order ? ACCEPT : ACCEPT_SECOND;
	case CONN_UP:
		if (!order)
			return ACCEPT_SECOND;
		return !old->pid || old->pid == pid ? REFUSE : ACCEPT;
	default:
		return order < 0 ? REFUSE : order > 0 ? ACCEPT : ACCEPT_SECOND;
	}
}

/* What waits at @old goes by @conn. Under ep->lock and old->lock. */
static void conn_take_over(struct tcp_conn *conn, struct tcp_conn *old)
{
	if (old->state < CONN_UP)
		list_splice_tail_init(&old->txq, &conn->txq);
	if (!old->end)
		old->end = old->state < CONN_UP ? FI_ESHUTDOWN : FI_ECONNRESET;
	tcp_conn_kick(old);
}

static enum verdict request_settle(struct tcp_ep *ep, struct tcp_conn *conn,
			   const struct sockaddr_storage *peer)
{
	struct tcp_conn *old = conn->peer == FI_ADDR_NOTAVAIL ? NULL :
			       xa_load(&ep->peers, conn->peer);
	enum verdict verdict = conn->peer == FI_ADDR_NOTAVAIL ? ACCEPT_SECOND : ACCEPT;

	if (old) {
		spin_lock(&old->lock);
		verdict = verdict_find(ep, old, peer, conn->pid);
		if (verdict == ACCEPT)
			conn_take_over(conn, old);
		spin_unlock(&old->lock);
	}
	if (verdict == REFUSE)
		return REFUSE;
	if (verdict == ACCEPT)
		xa_store(&ep->peers, conn->peer, conn, GFP_ATOMIC);
	tcp_conn_own(conn, &rdm_owner, ep);
	list_add_tail(&conn->node, &ep->conns);
	return verdict;
}

/* The request of a peer is in conn->cm. */
static int rdm_on_request(struct tcp_listener *listener, struct tcp_conn *conn)
{
	struct tcp_ep *ep = container_of(listener, struct tcp_ep, listener);
	const struct wire_rdm *rdm = tcp_cm_data(conn);
	struct sockaddr_storage peer = conn->addr;
	struct wire_rdm answer = *rdm;
	enum verdict verdict;
	int ret;

	if (tcp_cm_data_len(conn) < sizeof(*rdm) || !rdm->pid)
		return -FI_EPROTO;
	((struct sockaddr_in *)&peer)->sin_port = rdm->port;
	conn->pid = be32_to_cpu(rdm->pid);
	conn->peer = kofi_av_find(ep->ep.av, &peer, kofi_ip_len(&peer));
	/* It leaves the listener and is with the endpoint at once, so that a close finds it at one of them. */
	spin_lock_bh(&ep->lock);
	if (ep->stopped || !tcp_listener_take(listener, conn)) {
		spin_unlock_bh(&ep->lock);
		return -FI_EAGAIN;
	}
	verdict = request_settle(ep, conn, &peer);
	if (verdict == REFUSE) {
		tcp_conn_own(conn, &rdm_owner, ep);
		list_add_tail(&conn->node, &ep->conns);
	}
	spin_unlock_bh(&ep->lock);
	answer.features = 0;
	answer.pid = cpu_to_be32(ep->pid);
	if (verdict == REFUSE) {
		tcp_cm_write(conn, WIRE_CM_REFUSAL, &answer, sizeof(answer));
		return -FI_ESHUTDOWN;
	}
	ret = tcp_cm_write(conn, WIRE_CM_RESPONSE, &answer, sizeof(answer));
	if (ret)
		return ret;
	return tcp_conn_up(conn, CONN_REQUESTED) ? 0 : -FI_ECONNABORTED;
}

/* ---- the end ---- */

static struct tcp_conn *conn_next(struct tcp_ep *ep, bool all)
{
	struct tcp_conn *conn;

	spin_lock_bh(&ep->lock);
	list_for_each_entry(conn, &ep->conns, node) {
		if (all || READ_ONCE(conn->state) == CONN_DEAD) {
			list_del_init(&conn->node);
			spin_unlock_bh(&ep->lock);
			return conn;
		}
	}
	spin_unlock_bh(&ep->lock);
	return NULL;
}

void tcp_rdm_reap(struct work_struct *work)
{
	struct tcp_ep *ep = container_of(work, struct tcp_ep, reap);
	struct tcp_conn *conn;

	while ((conn = conn_next(ep, false))) {
		tcp_serve_stop(conn, FI_ECONNRESET);
		tcp_conn_put(conn);
	}
}

int tcp_rdm_enable(struct tcp_ep *ep)
{
	do {
		ep->pid = get_random_u32();
	} while (!ep->pid);
	return tcp_listen(&ep->listener, kofi_domain_net(ep->ep.domain), &ep->name, rdm_on_request);
}

void tcp_rdm_stop(struct tcp_ep *ep)
{
	spin_lock_bh(&ep->lock);
	ep->stopped = true;
	spin_unlock_bh(&ep->lock);
	tcp_listen_stop(&ep->listener);
	cancel_work_sync(&ep->reap);
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Sending.  Frames gather in conn->out; the first of a burst leaves at once, what
 * follows before the next poll leaves together.  A packet too long for a buffer is
 * lent: the peer reads it and says when it has.
 */
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>

#include "conn.h"

#define HEAD sizeof(struct rxm_head)

/* ---- messages ----------------------------------------------------------------------- */

static struct rxm_out *out_make(struct rxm_conn *conn, struct rxm_out **out_p)
{
	struct layer_buf *buf;

	if (*out_p)
		return *out_p;
	buf = layer_buf_get(&conn->link->dom->mem);
	if (!buf)
		return NULL;
	*out_p = container_of(buf, struct rxm_out, buf);
	(*out_p)->len = HEAD;
	return *out_p;
}

static void out_drop(struct rxm_conn *conn, struct rxm_out *out)
{
	if (out)
		layer_buf_put(&conn->link->dom->mem, &out->buf);
}

/* transmit - let *@out_p leave; it can be filled again, or is NULL afterwards.
 * Returns 0, -FI_EAGAIN when the queue below is full, or another error: it is lost.
 */
static int transmit(struct rxm_conn *conn, struct rxm_out **out_p, unsigned flags)
{
	struct rxm_sock *sock = conn->sock;
	struct rxm_out *out = *out_p;
	int ret;

	rxm_put_head(out->data, flags, conn->owed);
	if (out->len <= sock->dom->inject_max) {
		ret = (int) fi_inject(sock->ep, out->data, out->len, FI_ADDR_UNSPEC);
		if (!ret)
			out->len = HEAD;
	} else {
		out->op = (struct rxm_op) { RXM_OP_SEND, sock };
		ret = (int) fi_send(sock->ep, out->data, out->len, out->buf.desc, FI_ADDR_UNSPEC,
				    &out->op);
		if (!ret) {
			list_add_tail(&out->buf.node, &sock->outs);
			*out_p = NULL;
		}
	}
	if (!ret)
		conn->owed = 0;
	return ret;
}

/* How many buffers to post again before the peer is told of them alone. */
static bool owes_much(const struct rxm_conn *conn)
{
	return conn->owed && conn->owed >= rxm_conf.credits / 2;
}

static void add_freed(struct rxm_conn *conn, struct rxm_out *out, size_t size)
{
	for (; conn->freed_cnt && out->len + sizeof(struct rxm_frame) <= size; conn->borrowed--)
		out->len = rxm_put_free(out->data, out->len, conn->freed[--conn->freed_cnt]);
}

/* What needs no credit, past a message that waits for one. */
static int transmit_spare(struct rxm_conn *conn, unsigned flags)
{
	static const size_t size = HEAD + RXM_LONGS * sizeof(struct rxm_frame);
	struct rxm_out *spare = out_make(conn, &conn->spare);

	if (!spare)
		return -FI_EAGAIN;
	add_freed(conn, spare, size);
	return transmit(conn, &conn->spare, RXM_F_SPARE | flags);
}

static bool spare_waits(const struct rxm_conn *conn)
{
	return conn->freed_cnt || owes_much(conn) || (conn->spare && conn->spare->len > HEAD);
}

/* submit - let what is gathered leave, if it may.  -FI_EAGAIN: the queue below is full. */
static int submit(struct rxm_conn *conn)
{
	struct rxm_out *out = conn->out;
	int ret = 0;

	if (out && out->len > HEAD && conn->credits) {
		add_freed(conn, out, conn->buf_size);
		ret = transmit(conn, &conn->out, 0);
		if (!ret) {
			conn->credits--;
			conn->burst_seq = conn->link->poller->seq;
		}
	}
	if (!ret && spare_waits(conn))
		ret = transmit_spare(conn, 0);
	if (!ret || ret == -FI_EAGAIN)
		return ret;
	rxm_conn_fail(conn, -ret);
	return 0;
}

/* room - a message with @size bytes free, or NULL: none now. */
static struct rxm_out *room(struct rxm_conn *conn, size_t size)
{
	struct rxm_out *out = out_make(conn, &conn->out);

	if (!out)
		rxm_conn_touch(conn);	/* no memory: the next poll tries again */
	if (!out || out->len + size <= conn->buf_size)
		return out;
	if (submit(conn) || conn->state != RXM_READY)
		return NULL;
	out = out_make(conn, &conn->out);
	return out && out->len + size <= conn->buf_size ? out : NULL;
}

/* ---- packets -------------------------------------------------------------------------- */

static struct rxm_lent *lent_find(struct rxm_conn *conn, uint64_t id)
{
	unsigned i;

	for (i = 0; conn->lent && i < RXM_LONGS; i++)
		if (conn->lent[i].id == id)
			return &conn->lent[i];
	return NULL;
}

static void lent_close(struct rxm_conn *conn, struct rxm_lent *lent)
{
	unsigned i;

	for (i = 0; i < ENG_IOV_MAX && lent->mr[i]; i++)
		layer_mr_done(lent->mr[i]);
	memset(lent, 0, sizeof(*lent));
	conn->lent_cnt--;
}

/* Returns how many segments, or an error. */
static int lend(struct rxm_conn *conn, struct rxm_lent *lent, struct eng_pkt *pkt,
		struct rxm_seg *seg)
{
	unsigned i, cnt = 0;
	int ret = 0;

	lent->id = ++conn->last_id;
	lent->pkt = pkt;
	conn->lent_cnt++;
	for (i = 0; i < pkt->iov_cnt && !ret; i++)
		if (pkt->iov[i].iov_len) {
			ret = layer_mr_remote(&conn->link->dom->mem, pkt->iov[i].iov_base,
					      pkt->iov[i].iov_len, &lent->mr[cnt],
					      &seg[cnt].addr, &seg[cnt].key);
			seg[cnt].len = pkt->iov[i].iov_len;
			cnt += !ret;
		}
	if (ret)
		lent_close(conn, lent);
	return ret ? ret : (int) cnt;
}

/* Returns 0: lent; -FI_EAGAIN: not now. */
static int put_long(struct rxm_conn *conn, struct eng_pkt *pkt)
{
	struct rxm_seg seg[ENG_IOV_MAX];
	struct rxm_lent *lent;
	struct rxm_out *out;
	int cnt;

	if (!conn->lent)
		conn->lent = calloc(RXM_LONGS, sizeof(*conn->lent));
	if (!conn->lent || conn->lent_cnt >= conn->longs)
		return -FI_EAGAIN;
	out = room(conn, RXM_LONG_SIZE(pkt->hdr_len, pkt->iov_cnt));
	lent = lent_find(conn, 0);
	if (!out || !lent)
		return -FI_EAGAIN;
	cnt = lend(conn, lent, pkt, seg);
	if (cnt < 0)
		return -FI_EAGAIN;
	out->len = rxm_put_long(out->data, out->len, pkt, lent->id, seg, (unsigned) cnt);
	return 0;
}

/* Returns 1: copied; 0: lent; -FI_EAGAIN: not now. */
static int put(struct rxm_conn *conn, struct eng_pkt *pkt)
{
	size_t size = sizeof(struct rxm_frame) + pkt->hdr_len + pkt->len;
	struct rxm_out *out;

	if (size > conn->buf_size - HEAD)
		return put_long(conn, pkt);
	out = room(conn, size);
	if (!out)
		return -FI_EAGAIN;
	out->len = rxm_put_eager(out->data, out->len, pkt);
	return 1;
}

static bool alone(const struct rxm_conn *conn)
{
	const struct rxm_poller *poller = conn->link->poller;

	return conn->burst_seq != poller->seq || !poller->app_active;
}

int rxm_tx_send(struct rxm_conn *conn, struct eng_pkt *pkt)
{
	int ret = -FI_EAGAIN;

	if (conn->state == RXM_READY && list_empty(&conn->pending))
		ret = put(conn, pkt);
	if (conn->state == RXM_FAILED)
		return ret > 0 ? ret : -conn->err;
	if (ret == -FI_EAGAIN)
		list_add_tail(&pkt->node, &conn->pending);
	if (conn->state != RXM_READY)
		return 0;
	if (pkt->flags & ENG_PKT_MORE || !alone(conn) || submit(conn) || ret == -FI_EAGAIN)
		rxm_conn_touch(conn);
	return ret == 1;
}

/* ---- the rest ---------------------------------------------------------------------------- */

/* repost - buffers that the provider below would not take.  False: not yet. */
static bool repost(struct rxm_conn *conn, struct rxm_sock *sock)
{
	struct rxm_buf *buf;

	while (sock && !list_empty(&sock->idle)) {
		buf = container_of(sock->idle.next, struct rxm_buf, node);
		if (!rxm_sock_post(sock, buf))
			return false;
		conn->owed += !buf->spare;
	}
	return true;
}

/* Outside of poll() nobody may be told that his packet has left. */
bool rxm_tx_push(struct rxm_conn *conn)
{
	struct list *node;
	struct eng_pkt *pkt;
	bool posted = repost(conn, conn->sock) && repost(conn, conn->loop);
	int ret;

	while (conn->link->poller->polling && conn->state == RXM_READY &&
	       (node = list_pop(&conn->pending))) {
		pkt = container_of(node, struct eng_pkt, node);
		ret = put(conn, pkt);
		if (ret < 0) {
			list_add_head(node, &conn->pending);
			break;
		}
		if (ret)
			pkt->done(pkt, 0);
	}
	return conn->state == RXM_READY && (submit(conn) == -FI_EAGAIN || !posted);
}

void rxm_tx_free(struct rxm_conn *conn, uint64_t id)
{
	conn->freed[conn->freed_cnt++] = id;
	rxm_conn_touch(conn);
}

int rxm_tx_returned(struct rxm_conn *conn, uint64_t id)
{
	struct rxm_lent *lent = id ? lent_find(conn, id) : NULL;
	struct eng_pkt *pkt;

	if (!lent)
		return -FI_EPROTO;
	pkt = lent->pkt;
	lent_close(conn, lent);
	if (!list_empty(&conn->pending))
		rxm_conn_touch(conn);
	pkt->done(pkt, 0);
	return 0;
}

void rxm_tx_bye(struct rxm_conn *conn)
{
	if (!conn->said_bye)
		conn->said_bye = transmit_spare(conn, RXM_F_BYE) != -FI_EAGAIN;
}

bool rxm_tx_idle(const struct rxm_conn *conn)
{
	return list_empty(&conn->pending) && !conn->lent_cnt &&
	       (!conn->out || conn->out->len == HEAD);
}

void rxm_tx_drop(struct rxm_conn *conn, int err)
{
	struct rxm_lent *lent = conn->lent;
	struct eng_pkt *pkt;
	struct list *node;
	unsigned i;

	conn->lent = NULL;
	for (i = 0; lent && i < RXM_LONGS; i++)
		if (lent[i].id) {
			pkt = lent[i].pkt;
			lent_close(conn, &lent[i]);
			pkt->done(pkt, -err);
		}
	free(lent);
	while ((node = list_pop(&conn->pending))) {
		pkt = container_of(node, struct eng_pkt, node);
		pkt->done(pkt, -err);
	}
	out_drop(conn, conn->out);
	out_drop(conn, conn->spare);
	conn->out = conn->spare = NULL;
	conn->credits = conn->owed = conn->freed_cnt = conn->borrowed = 0;
	conn->last_id = conn->burst_seq = 0;
}

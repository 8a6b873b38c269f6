/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Sending.  Frames are gathered in conn->out: the first of a burst is sent at once, those
 * that follow before the next poll are sent together.  A packet that is too long for a
 * message is announced (rendezvous), and the peer reads it from the program's memory.
 *
 * A message consumes a credit, that is a receive buffer of the peer; without one it waits.
 * Control messages consume none, and pass a message that waits: at most one for each
 * rendezvous that the peer may have open, and one for each half of its credits, can be
 * unread, for which RXM_CTRL_BUFS receive buffers are reserved.
 */
#include <rdma/fi_errno.h>
#include <stdlib.h>

#include "compat.h"
#include "conn.h"

#define HEAD sizeof(struct rxm_head)
#define PROBE_NS CLOCK_NS_PER_S		/* between two probes of a connection */
#define STALL_EVERY_NS CLOCK_NS_PER_S	/* between two looks for peers that take nothing */

/* ---- messages ----------------------------------------------------------------------- */

/* msg_prepare - the message that is being filled, a new one if there is none.  NULL: no memory. */
static struct rxm_tx_buf *msg_prepare(struct rxm_conn *conn, struct rxm_tx_buf **msg_p)
{
	struct layer_buf *buf;

	if (*msg_p)
		return *msg_p;
	buf = layer_buf_get(&rxm_conn_link(conn)->dom->base.mem);
	if (!buf)
		return NULL;
	*msg_p = container_of(buf, struct rxm_tx_buf, buf);
	(*msg_p)->len = HEAD;
	return *msg_p;
}

static void msg_discard(struct rxm_conn *conn, struct rxm_tx_buf **msg_p)
{
	if (*msg_p)
		layer_buf_put(&rxm_conn_link(conn)->dom->base.mem, &(*msg_p)->buf);
	*msg_p = NULL;
}

/* msg_post - Returns 1: copied; 0: @msg is in flight; or an error. */
static int msg_post(struct rxm_ep *ep, struct rxm_tx_buf *msg)
{
	int ret;

	if (msg->len <= ep->dom->inject_max) {
		ret = (int) fi_inject(ep->fid, msg->data, msg->len, FI_ADDR_UNSPEC);
		return ret ? ret : 1;
	}
	msg->op = (struct rxm_op) { RXMF_OP_SEND, ep };
	ret = (int) fi_send(ep->fid, msg->data, msg->len, msg->buf.desc, FI_ADDR_UNSPEC, &msg->op);
	if (!ret)
		list_add_tail(&msg->buf.node, &ep->sends);
	return ret;
}

/* The provider below may collect messages until its next poll, which is part of ours. */
int rxm_tx_post(struct rxm_conn *conn, struct rxm_tx_buf *msg)
{
	struct rxm_poller *poller = rxm_conn_poller(conn);
	int ret = msg_post(conn->ep, msg);

	if (ret < 0 || !rxm_dom_stages(conn->ep->dom))
		return ret;
	poller->posted = true;
	if (!poller->chan.polling)
		obj_prog_staged(poller->chan.base.prog);
	return ret;
}

/* msg_transmit - send *@msg_p; afterwards it can be filled again, or is NULL.
 * Errors: -FI_EAGAIN: the queue below is full; others: the connection is lost.
 */
static int msg_transmit(struct rxm_conn *conn, struct rxm_tx_buf **msg_p, unsigned flags)
{
	struct rxm_tx_buf *msg = *msg_p;
	int ret;

	rxm_put_head(msg->data, flags, conn->returns);
	ret = rxm_tx_post(conn, msg);
	if (ret < 0)
		return ret;
	if (ret)
		msg->len = HEAD;
	else
		*msg_p = NULL;
	conn->returns = 0;
	return 0;
}

/* returns_due - are so many credits to be returned that they are worth a control message? */
static bool returns_due(const struct rxm_conn *conn)
{
	return conn->returns && conn->returns >= rxm_conf.credits / 2;
}

/* add_done - append RNDV_DONE frames to a message of at most @size bytes. */
static void add_done(struct rxm_conn *conn, struct rxm_tx_buf *msg, size_t size)
{
	for (; conn->done_cnt && msg->len + sizeof(struct rxm_frame) <= size; conn->peer_rndvs--)
		msg->len = rxm_put_done(msg->data, msg->len, conn->done[--conn->done_cnt]);
}

/* transmit_ctrl - a control message, past a message that waits for a credit. */
static int transmit_ctrl(struct rxm_conn *conn, unsigned flags)
{
	static const size_t size = HEAD + RXM_RNDVS * sizeof(struct rxm_frame);
	struct rxm_tx_buf *msg = msg_prepare(conn, &conn->ctrl);

	if (!msg)
		return -FI_EAGAIN;
	add_done(conn, msg, size);
	return msg_transmit(conn, &conn->ctrl, RXM_F_CTRL | flags);
}

static bool ctrl_waits(const struct rxm_conn *conn)
{
	return conn->done_cnt || returns_due(conn) || (conn->ctrl && conn->ctrl->len > HEAD);
}

/* ---- peers that take nothing --------------------------------------------------------------- */

/* conn_starve - a message begins to wait for a credit. */
static void conn_starve(struct rxm_conn *conn)
{
	struct rxm_poller *poller = rxm_conn_poller(conn);

	if (!list_empty(&conn->starved_node))
		return;
	conn->starved_ns = chan_now(conn->chan.link);
	conn->stall_logged = false;
	list_add_tail(&conn->starved_node, &poller->starved);
	if (poller->stall_due_ns != UINT64_MAX)
		return;
	poller->stall_due_ns = clock_coarse_ns() + STALL_EVERY_NS;
	obj_prog_moved(poller->chan.base.prog, poller->stall_due_ns);
}

void rxm_tx_stalls(struct rxm_poller *poller)
{
	uint64_t now = chan_poller_now(&poller->chan);
	struct rxm_conn *conn;

	list_for_each_entry(conn, &poller->starved, starved_node) {
		if (conn->stall_logged || now - conn->starved_ns < CHAN_STALL_NS)
			continue;
		conn->stall_logged = true;
		chan_log_stall(&conn->chan, now - conn->starved_ns);
	}
	poller->stall_due_ns = list_empty(&poller->starved) ? UINT64_MAX : clock_coarse_ns() + STALL_EVERY_NS;
}

void rxm_tx_credits(struct rxm_conn *conn, unsigned cnt)
{
	conn->credits += cnt;
	if (!cnt)
		return;
	list_del(&conn->starved_node);
	if (!rxm_tx_idle(conn))
		rxm_conn_dirty(conn);
}

/* ---- what is gathered ------------------------------------------------------------------------ */

/* out_submit - send what is gathered, if there is a credit.  Errors: -FI_EAGAIN: the queue below
 * is full.
 */
static int out_submit(struct rxm_conn *conn)
{
	struct rxm_tx_buf *out = conn->out;
	int ret = 0;

	if (conn->compat)
		return rxm_compat_push(conn);
	if (out && out->len > HEAD && conn->credits) {
		add_done(conn, out, conn->buf_size);
		ret = msg_transmit(conn, &conn->out, 0);
		if (!ret) {
			conn->credits--;
			conn->burst_seq = conn->chan.link->poller->seq;
		}
	} else if (__builtin_expect(out && out->len > HEAD, 0)) {
		conn_starve(conn);
	}
	if (!ret && ctrl_waits(conn))
		ret = transmit_ctrl(conn, 0);
	if (!ret || ret == -FI_EAGAIN)
		return ret;
	rxm_conn_fail(conn, -ret);
	return 0;
}

void rxm_tx_probe(struct rxm_conn *conn)
{
	uint64_t now = chan_now(conn->chan.link);
	int ret;

	/* without a credit messages are in flight; what is gathered follows in this poll */
	if (conn->compat || now < conn->probe_ns || !conn->credits ||
	    (conn->out && conn->out->len > HEAD) || !msg_prepare(conn, &conn->out))
		return;
	conn->probe_ns = now + PROBE_NS;
	ret = msg_transmit(conn, &conn->out, 0);
	if (!ret)
		conn->credits--;
	else if (ret != -FI_EAGAIN)
		rxm_conn_fail(conn, -ret);
}

/* out_room - a message with @size bytes free, or NULL: none now. */
static struct rxm_tx_buf *out_room(struct rxm_conn *conn, size_t size)
{
	struct rxm_tx_buf *out = msg_prepare(conn, &conn->out);

	if (!out)
		rxm_conn_dirty(conn);	/* no memory: the next poll tries again */
	if (!out || out->len + size <= conn->buf_size)
		return out;
	if (out_submit(conn) || !conn->chan.conn)
		return NULL;
	out = msg_prepare(conn, &conn->out);
	return out && out->len + size <= conn->buf_size ? out : NULL;
}

/* ---- packets -------------------------------------------------------------------------- */

static void rndv_close(struct rxm_conn *conn, struct rxm_rndv *rndv)
{
	unsigned i;

	for (i = 0; i < ENG_IOV_MAX && rndv->mr[i]; i++)
		layer_mr_done(rndv->mr[i]);
	list_del(&rndv->node);
	hmap_remove(&conn->rndv_ids, rndv->id);
	free(rndv);
	conn->rndv_cnt--;
}

static struct rxm_rndv *rndv_new(struct rxm_conn *conn, struct eng_pkt *pkt)
{
	struct rxm_rndv *rndv = calloc(1, sizeof(*rndv));

	if (!rndv || hmap_insert(&conn->rndv_ids, conn->last_id + 1, rndv)) {
		free(rndv);
		return NULL;
	}
	rndv->id = ++conn->last_id;
	rndv->pkt = pkt;
	list_add_tail(&rndv->node, &conn->rndvs);
	conn->rndv_cnt++;
	return rndv;
}

/* rndv_open - let the peer read the payload of @pkt.
 *
 * @seg: [out] where it is
 * Returns how many segments, or -FI_ENOMEM or an error of the registration.
 */
static int rndv_open(struct rxm_conn *conn, struct eng_pkt *pkt, struct rxm_rndv **rndv_p,
		     struct wire_rma *seg)
{
	struct rxm_rndv *rndv = rndv_new(conn, pkt);
	unsigned i, cnt = 0;
	int ret = 0;

	if (!rndv) {
		rxm_conn_dirty(conn);	/* no memory: the next poll tries again */
		return -FI_ENOMEM;
	}
	for (i = 0; i < pkt->iov_cnt && !ret; i++)
		if (pkt->iov[i].iov_len) {
			ret = layer_mr_remote(&rxm_conn_link(conn)->dom->base.mem, pkt->iov[i].iov_base,
					      pkt->iov[i].iov_len, &rndv->mr[cnt],
					      &seg[cnt].addr, &seg[cnt].key);
			seg[cnt].len = pkt->iov[i].iov_len;
			cnt += !ret;
		}
	if (ret) {
		rndv_close(conn, rndv);
		rxm_conn_dirty(conn);
		return ret;
	}
	*rndv_p = rndv;
	return (int) cnt;
}

int rxm_tx_rndv(struct rxm_conn *conn, struct eng_pkt *pkt, const struct rxmf_packet *head,
		unsigned ack, uint32_t id)
{
	struct wire_rma seg[ENG_IOV_MAX];
	struct rxm_rndv *rndv;
	int cnt = rndv_open(conn, pkt, &rndv, seg), ret;

	if (cnt < 0)
		return -FI_EAGAIN;
	rndv->ack = ack;
	rndv->ack_id = id;
	ret = rxm_compat_rndv(conn, head, rndv->id, seg, (unsigned) cnt);
	if (ret)
		rndv_close(conn, rndv);
	return ret;
}

/* put_rndv - Returns 0: done() follows when the peer has read it; -FI_EAGAIN: not now. */
static int put_rndv(struct rxm_conn *conn, struct eng_pkt *pkt)
{
	struct wire_rma seg[ENG_IOV_MAX];
	struct rxm_tx_buf *out;
	struct rxm_rndv *rndv;
	int cnt;

	if (conn->rndv_cnt >= conn->rndv_max)
		return -FI_EAGAIN;
	out = out_room(conn, RXM_RNDV_SIZE(pkt->hdr_len, pkt->iov_cnt));
	if (!out)
		return -FI_EAGAIN;
	cnt = rndv_open(conn, pkt, &rndv, seg);
	if (cnt < 0)
		return -FI_EAGAIN;
	out->len = rxm_put_rndv(out->data, out->len, pkt, rndv->id, seg, (unsigned) cnt);
	return 0;
}

/* packet_put - Returns 1: copied; 0: as a rendezvous; -FI_EAGAIN: not now. */
static int packet_put(struct rxm_conn *conn, struct eng_pkt *pkt)
{
	size_t size = sizeof(struct rxm_frame) + pkt->hdr_len + pkt->len;
	struct rxm_tx_buf *out;

	if (conn->compat)
		return rxm_compat_put(conn, pkt);
	if (size > conn->buf_size - HEAD)
		return put_rndv(conn, pkt);
	out = out_room(conn, size);
	if (!out)
		return -FI_EAGAIN;
	out->len = rxm_put_eager(out->data, out->len, pkt);
	return 1;
}

/* first_of_burst - nothing has been sent since the last poll; or the application does not
 * poll, and what would wait for its next poll would wait long.
 */
static bool first_of_burst(const struct rxm_conn *conn)
{
	const struct chan_poller *poller = conn->chan.link->poller;

	return conn->burst_seq != poller->seq || !poller->app_active;
}

int rxm_tx_send(struct rxm_conn *conn, struct eng_pkt *pkt)
{
	struct chan *chan = &conn->chan;
	int ret = -FI_EAGAIN;

	if (!chan->conn)
		return chan_queue(chan, pkt);
	if (list_empty(&chan->pending))
		ret = packet_put(conn, pkt);
	if (!chan->conn)	/* it was found to be lost; what is held ends with it */
		return ret < 0 ? -chan->err : ret;
	if (ret == -FI_EAGAIN)
		list_add_tail(&pkt->node, &chan->pending);
	if (pkt->flags & ENG_PKT_MORE || !first_of_burst(conn) || out_submit(conn) || ret == -FI_EAGAIN)
		rxm_conn_dirty(conn);
	return ret == 1;
}

/* ---- progress ---------------------------------------------------------------------------- */

/* bufs_repost - receive buffers that the provider below did not take.  Returns false: not yet. */
static bool bufs_repost(struct rxm_conn *conn, struct rxm_ep *ep)
{
	struct rxm_rx_buf *buf;

	while (ep && !list_empty(&ep->idle)) {
		buf = container_of(ep->idle.next, struct rxm_rx_buf, node);
		if (!rxm_ep_post(ep, buf))
			return false;
		conn->returns += !buf->ctrl;
	}
	return true;
}

/* put_pending - packets that found no room when they were sent; they are reported. */
static void put_pending(struct rxm_conn *conn)
{
	struct list *pending = &conn->chan.pending;
	struct eng_pkt *pkt;
	int ret;

	while (conn->chan.conn && !list_empty(pending)) {
		pkt = container_of(list_pop(pending), struct eng_pkt, node);
		ret = packet_put(conn, pkt);
		if (ret < 0) {
			list_add_head(&pkt->node, pending);
			return;
		}
		if (ret)
			pkt->done(pkt, 0);
	}
}

bool rxm_tx_push(struct rxm_conn *conn)
{
	bool posted = bufs_repost(conn, conn->ep) && bufs_repost(conn, conn->self);

	if (conn->chan.link->poller->polling) {
		put_pending(conn);
		if (conn->compat)
			rxm_compat_report(conn);
	}
	return conn->chan.conn && (out_submit(conn) == -FI_EAGAIN || !posted);
}

bool rxm_tx_waits(const struct rxm_conn *conn)
{
	return !list_empty(&conn->chan.pending) || (conn->compat && !list_empty(&conn->compat->reports));
}

void rxm_tx_done(struct rxm_conn *conn, uint64_t id)
{
	if (conn->compat) {
		rxm_compat_done(conn, id);
		return;
	}
	conn->done[conn->done_cnt++] = id;
	rxm_conn_dirty(conn);
}

int rxm_tx_returned(struct rxm_conn *conn, uint64_t id)
{
	struct rxm_rndv *rndv = hmap_find(&conn->rndv_ids, id), was;

	if (!rndv)
		return -FI_EPROTO;
	was = *rndv;
	rndv_close(conn, rndv);
	if (!list_empty(&conn->chan.pending))
		rxm_conn_dirty(conn);
	was.pkt->done(was.pkt, 0);
	if (was.ack && conn->chan.conn)
		rxm_compat_ack(conn, was.ack, was.ack_id);
	return 0;
}

/* ---- the end ------------------------------------------------------------------------------ */

void rxm_tx_close(struct rxm_conn *conn)
{
	if (conn->compat)	/* the provider below says it */
		conn->close_sent = true;
	if (!conn->close_sent)
		conn->close_sent = transmit_ctrl(conn, RXM_F_CLOSE) != -FI_EAGAIN;
}

bool rxm_tx_idle(const struct rxm_conn *conn)
{
	return list_empty(&conn->chan.pending) && !conn->rndv_cnt &&
	       (!conn->compat || (rxm_compat_idle(conn->compat) && list_empty(&conn->ep->rmas))) &&
	       (!conn->out || conn->out->len == HEAD);
}

void rxm_tx_reset(struct rxm_conn *conn, int err)
{
	struct rxm_rndv *rndv;
	struct eng_pkt *pkt;

	while (!list_empty(&conn->rndvs)) {
		rndv = container_of(conn->rndvs.next, struct rxm_rndv, node);
		pkt = rndv->pkt;
		rndv_close(conn, rndv);
		pkt->done(pkt, -err);
	}
	hmap_destroy(&conn->rndv_ids);
	msg_discard(conn, &conn->out);
	msg_discard(conn, &conn->ctrl);
	rxm_compat_end(conn, err);
	list_del(&conn->starved_node);
	conn->credits = conn->returns = conn->done_cnt = conn->peer_rndvs = 0;
	conn->last_id = conn->burst_seq = 0;
}

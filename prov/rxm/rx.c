/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Receiving.  Full buffers wait on conn->rxq; their frames are offered to the engine in
 * order, one by one, and a buffer is posted again when its last frame is through.  After some
 * unexpected messages the rest waits for the next poll: see chan_poller_is_full().
 *
 * Credits and the ends of rendezvous are processed when a buffer arrives, out of order:
 * a frame for which the engine has no memory must not keep the memory of the other side
 * occupied, or two endpoints could wait for each other.
 */
#include <rdma/fi_errno.h>
#include <string.h>

#include "base/iov.h"
#include "compat.h"
#include "conn.h"

/* ---- frames ------------------------------------------------------------------------------ */

/* place_eager - into the buffers that the engine gave. */
static void place_eager(struct rxm_conn *conn, const struct rxm_item *item, const struct eng_rx *rx)
{
	iov_scatter(rx->iov, rx->iov_cnt, 0, item->data, item->len);
	eng_on_placed(&conn->chan.link->base, rx->cookie, 0);
}

/* take_rndv - as rxm_read_start(). */
static int take_rndv(struct rxm_conn *conn, uint64_t id, const struct wire_rma *seg, unsigned segs,
		     const struct iovec *iov, size_t iov_cnt, void *cookie, bool in_order)
{
	return conn->compat ?
	       rxm_compat_take(conn, id, seg, segs, iov, iov_cnt, cookie, in_order) :
	       rxm_read_start(conn, id, seg, segs, iov, iov_cnt, cookie, in_order);
}

static void place_rndv(struct rxm_conn *conn, const struct rxm_item *item, const struct eng_rx *rx)
{
	if (!take_rndv(conn, item->id, item->seg, item->segs, rx->iov, rx->iov_cnt, rx->cookie, true))
		return;
	rxm_conn_fail(conn, FI_ENOMEM);
	eng_on_placed(&conn->chan.link->base, rx->cookie, -FI_ENOMEM);
}

static enum eng_rx_verdict ask_engine(struct rxm_conn *conn, const struct rxm_item *item,
				      struct eng_rx *rx)
{
	struct rxm_link *link = rxm_conn_link(conn);
	enum eng_rx_verdict verdict;

	link->offering = conn;
	link->offered = item;
	verdict = eng_on_packet(&link->chan.base, chan_peer(&conn->chan), rx);
	link->offering = NULL;
	return verdict;
}

/* frame_offer - Returns true when the frame is through; false: it has to be offered again, or the
 * connection has failed.
 */
static bool frame_offer(struct rxm_conn *conn, const struct rxm_item *item)
{
	struct eng_rx rx = {
		.hdr = item->hdr, .hdr_len = item->hdr_len, .data = item->data,
		.avail = item->kind == RXM_EAGER ? item->len : 0, .len = item->len,
	};
	char text[CHAN_TEXT_MAX];

	switch (ask_engine(conn, item, &rx)) {
	case ENG_RX_PLACE:
		if (item->kind == RXM_EAGER)
			place_eager(conn, item, &rx);
		else
			place_rndv(conn, item, &rx);
		break;
	case ENG_RX_DONE:
		if (item->kind == RXM_RNDV)
			rxm_tx_done(conn, item->id);
		break;
	case ENG_RX_HELD:
		if (item->kind == RXM_EAGER)
			chan_poller_unexpected(conn->chan.link->poller, item->len);
		break;
	case ENG_RX_LATER:
		return false;
	case ENG_RX_BAD:
		CHAN_WARN_SPARSE(conn->chan.link, "%s sent a malformed packet: it is damaged, or of "
				 "another version\n", chan_peer_text(&conn->chan, text));
		rxm_conn_fail(conn, FI_EPROTO);
		return false;
	case ENG_RX_OVER:
		rxm_conn_fail(conn, FI_EOVERRUN);
		return false;
	}
	return true;
}

static void pause_conn(struct rxm_conn *conn)
{
	struct chan_poller *poller = conn->chan.link->poller;

	conn->paused = true;
	list_del(&conn->work_node);
	list_add_tail(&conn->work_node, &poller->paused);
	chan_poller_chore(poller);
}

/* leave_rest - the frames of @buf that are not through wait for the next poll.  Returns false if there
 * are none.
 */
static bool leave_rest(struct rxm_conn *conn, const struct rxm_rx_buf *buf)
{
	if (buf->at >= buf->len || !conn->chan.conn || conn->reading)
		return false;
	pause_conn(conn);
	chan_poller_resume_next(conn->chan.link->poller);
	return true;
}

/* run_buf - Returns true when all frames of @buf are through. */
static bool run_buf(struct rxm_conn *conn, struct rxm_rx_buf *buf)
{
	struct chan_poller *poller = conn->chan.link->poller;
	struct rxm_item item;
	size_t next;

	while (buf->at < buf->len && conn->chan.conn && !conn->reading) {
		next = conn->compat ? rxm_compat_item(conn, buf, &item) :
				      rxm_next(buf->data, buf->at, &item);
		if (!next)
			return false;	/* segments are missing */
		if (item.kind != RXM_RNDV_DONE && !frame_offer(conn, &item)) {
			if (conn->chan.conn)
				pause_conn(conn);
			return false;
		}
		buf->at = next;
		if (__builtin_expect(chan_poller_is_full(poller), 0) && leave_rest(conn, buf))
			return false;
	}
	return buf->at >= buf->len && conn->chan.conn;
}

/* buf_recycle - post the buffer again.  The peer learns it with the next message; once half of
 * the buffers are free again, by a control message.
 */
static void buf_recycle(struct rxm_conn *conn, struct rxm_rx_buf *buf)
{
	if (rxm_compat_is_part(buf)) {
		rxm_compat_free_part(conn, buf);
		return;
	}
	if (rxm_ep_post(buf->op.ep, buf))
		conn->returns += !buf->ctrl;
	else
		rxm_conn_dirty(conn);
	if (conn->compat)
		conn->returns = 0;	/* credits are not counted */
	if (conn->returns >= rxm_conf.credits / 2)
		rxm_conn_dirty(conn);
}

/* run_queue - offer the frames that wait, in order. */
static void run_queue(struct rxm_conn *conn)
{
	struct rxm_rx_buf *buf;

	while (conn->chan.conn && !conn->reading && !list_empty(&conn->rxq)) {
		buf = container_of(conn->rxq.next, struct rxm_rx_buf, node);
		if (!run_buf(conn, buf))
			break;
		buf_recycle(conn, buf);
	}
}

/* ---- messages -------------------------------------------------------------------------------- */

/* process_unordered - credits and ends of rendezvous; count the rendezvous that begin.
 * Returns 0; -FI_EPROTO: it has frames that the peer was not allowed to send.
 */
static int process_unordered(struct rxm_conn *conn, struct rxm_rx_buf *buf,
			     const struct rxm_head *head)
{
	struct rxm_item item;
	int ret = 0;

	conn->peer_closed |= !!(head->flags & RXM_F_CLOSE);
	rxm_tx_credits(conn, head->credits);
	for (buf->at = sizeof(*head); buf->at < buf->len && !ret;) {
		buf->at = rxm_next(buf->data, buf->at, &item);
		if (item.kind == RXM_RNDV_DONE)
			ret = rxm_tx_returned(conn, item.id);
		else if (item.kind == RXM_RNDV && conn->peer_rndvs++ >= RXM_RNDVS)
			ret = -FI_EPROTO;
	}
	buf->at = sizeof(*head);
	return ret;
}

/* check_message - Returns 0, -FI_EPROTO (logged). */
static int check_message(struct rxm_conn *conn, struct rxm_rx_buf *buf)
{
	struct rxm_head head;
	const char *why = rxm_parse(buf->data, buf->len, &head);
	char text[CHAN_TEXT_MAX];

	if (!why) {
		buf->ctrl = head.flags & RXM_F_CTRL;
		if (!process_unordered(conn, buf, &head))
			return 0;
		why = "it has rendezvous frames that were not allowed";
	}
	CHAN_WARN_SPARSE(conn->chan.link, "%s sent a malformed message: %s\n",
			 chan_peer_text(&conn->chan, text), why);
	return -FI_EPROTO;
}

/* buf_process - what arrived in @buf. */
static void buf_process(struct rxm_conn *conn, struct rxm_rx_buf *buf)
{
	int ret = conn->compat ? rxm_compat_arrived(conn, buf) : check_message(conn, buf);

	if (ret < 0)
		rxm_conn_fail(conn, FI_EPROTO);
	else if (ret || !conn->compat)
		list_add_tail(&buf->node, &conn->rxq);
	else
		buf_recycle(conn, buf);
}

/* has_to_wait - the format is not known before the answer to our request; and segments are put
 * together only while there is room.
 */
static bool has_to_wait(const struct rxm_conn *conn)
{
	return conn->chan.state == CHAN_CONNECTING || (conn->compat && rxm_compat_is_full(conn));
}

void rxm_on_message(struct rxm_rx_buf *buf, size_t len)
{
	struct rxm_conn *conn = buf->op.ep->conn;

	if (!conn || conn->chan.failed)
		return;
	buf->len = len;
	if (list_empty(&conn->early) && !has_to_wait(conn)) {
		buf_process(conn, buf);
	} else if (!conn->compat || !rxm_compat_is_end(buf)) {
		list_add_tail(&buf->node, &conn->early);
		return;
	} else {	/* it frees memory here or there, so it must not wait */
		buf_process(conn, buf);
	}
	/* before the event that says that the connection is established it has to wait */
	if (!conn->paused)
		rxm_rx_run(conn);
}

void rxm_on_written(struct rxm_rx_buf *buf, size_t len, uint64_t data)
{
	struct rxm_conn *conn = buf->op.ep->conn;

	if (!conn->compat) {	/* this library does not do so */
		rxm_conn_fail(conn, FI_EPROTO);
		return;
	}
	eng_on_written(&conn->chan.link->base, chan_peer(&conn->chan), len, data);
	buf_recycle(conn, buf);
}

void rxm_rx_run(struct rxm_conn *conn)
{
	struct rxm_rx_buf *buf;

	if (conn->paused) {
		conn->paused = false;
		list_del(&conn->work_node);
	}
	run_queue(conn);
	while (!list_empty(&conn->early) && conn->chan.conn && !has_to_wait(conn)) {
		buf = container_of(list_pop(&conn->early), struct rxm_rx_buf, node);
		buf_process(conn, buf);
		if (!conn->paused)
			run_queue(conn);
	}
	/* what is left cannot be read any more, or is nothing */
	if (conn->ended && (list_empty(&conn->rxq) || conn->reading || !conn->chan.conn ||
			    (conn->compat && !list_empty(&conn->compat->parts))))
		rxm_conn_fail(conn, FI_ECONNRESET);
}

/* ---- payload that the engine keeps ------------------------------------------------------------ */

static int hold_take(struct chan_hold *base, const struct iovec *iov, size_t iov_cnt, void *cookie)
{
	struct rxm_hold *hold = container_of(base, struct rxm_hold, hold);
	struct rxm_conn *conn = base->source;
	int ret;

	if (hold->fetch && conn->chan.conn) {
		rxm_fetch_take(hold->fetch, iov, iov_cnt, cookie);
		return 0;
	}
	if (hold->fetch)
		rxm_fetch_drop(hold->fetch);
	if (!conn->chan.conn)
		return -FI_ECONNRESET;
	ret = take_rndv(conn, hold->id, hold->seg, hold->segs, iov, iov_cnt, cookie, false);
	if (ret)	/* without memory: the message is lost, of which its sender must hear */
		rxm_conn_fail(conn, -ret);
	return ret;
}

static void hold_release(struct chan_hold *base)
{
	struct rxm_hold *hold = container_of(base, struct rxm_hold, hold);
	struct rxm_conn *conn = base->source;

	if (hold->fetch)
		rxm_fetch_drop(hold->fetch);
	else if (conn->chan.conn)
		rxm_tx_done(conn, hold->id);
}

static const struct chan_hold_ops hold_ops = {
	.take = hold_take,
	.release = hold_release,
};

/* hold_fetch - have the payload of @hold moved here, if the engine allows that.  Returns false: not now. */
static bool hold_fetch(struct rxm_conn *conn, struct rxm_hold *hold)
{
	struct eng_peer *peer = chan_peer(&conn->chan);

	if (!eng_on_moving(peer, hold->hold.len))
		return false;
	rxm_fetch_start(conn, hold);
	if (!hold->fetch) {
		eng_on_moved(peer, hold->hold.len);
		return false;
	}
	hold->payer = peer;
	return true;
}

/* make_way - the peer may have RXM_RNDVS rendezvous open, and sends no other before one of them ends.
 * So where half of that many wait to be received, the shortest is fetched before there is one more: what
 * follows them may be what the program waits for.  Returns false: not now.
 */
static bool make_way(struct rxm_conn *conn)
{
	struct rxm_hold *hold, *shortest = NULL;
	unsigned cnt = 0;

	list_for_each_entry(hold, &conn->holds, hold.node) {
		if (hold->fetch)
			continue;
		cnt++;
		if (!shortest || hold->hold.len < shortest->hold.len)
			shortest = hold;
	}
	return cnt < RXM_RNDVS / 2 || hold_fetch(conn, shortest);
}

void *rxm_rx_hold(struct rxm_link *link, const struct eng_rx *rx)
{
	const struct rxm_item *item = link->offered;
	struct rxm_conn *conn = link->offering;
	bool remote = item->kind == RXM_RNDV;
	struct rxm_hold *hold;

	if (remote && !conn->compat && !make_way(conn))
		return NULL;
	hold = (struct rxm_hold *) chan_hold_new(&link->chan.poller->holds, sizeof(*hold), rx, remote,
						  &hold_ops);
	if (!hold || !remote)
		return hold;
	hold->hold.source = conn;
	hold->id = item->id;
	hold->segs = item->segs;
	memcpy(hold->seg, item->seg, item->segs * sizeof(item->seg[0]));
	list_add_tail(&hold->hold.node, &conn->holds);
	return hold;
}

/* While a fetch runs, its memory is charged, not the hold. */
int rxm_rx_pull(struct eng_link *link, void *token, const struct iovec *iov, size_t iov_cnt, void *cookie)
{
	struct rxm_hold *hold = container_of((struct chan_hold *) token, struct rxm_hold, hold);
	struct eng_peer *payer = hold->fetch ? NULL : hold->payer;
	size_t len = hold->hold.len;
	int ret = chan_pull(link, token, iov, iov_cnt, cookie);

	if (payer)
		eng_on_moved(payer, len);
	return ret;
}

/* ---- the end -------------------------------------------------------------------------------------- */

void rxm_rx_reset(struct rxm_conn *conn, struct rxm_ep *const eps[2], int err)
{
	struct list *node;
	unsigned i;

	while (list_pop(&conn->early))
		;
	while ((node = list_pop(&conn->rxq)))
		if (rxm_compat_is_part(container_of(node, struct rxm_rx_buf, node)))
			rxm_compat_free_part(conn, container_of(node, struct rxm_rx_buf, node));
	while (!list_empty(&conn->holds))
		chan_hold_lost(container_of(conn->holds.next, struct chan_hold, node), err);
	for (i = 0; i < 2; i++)
		if (eps[i])
			rxm_rma_lost(conn, eps[i], err);
}

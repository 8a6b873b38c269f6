/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Receiving.  Full buffers stand in conn->rxq; their frames are offered to the engine
 * one by one, and a buffer is posted again when its last one is through.  What needs
 * no order, credits and FREE, is heeded when a buffer arrives, whatever stands before
 * it: so two ends that both wait for memory still get on.
 */
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/iov.h"
#include "conn.h"

/* ---- reading from the peer's memory ------------------------------------------------------ */

static void read_close(struct rxm_read *read)
{
	unsigned i;

	for (i = 0; i < read->iov_cnt; i++)
		if (read->mr[i])
			layer_mr_done(read->mr[i]);
	memset(read->mr, 0, sizeof(read->mr));
}

static bool read_left(const struct rxm_read *read)
{
	return read->seg_at < read->segs && read->iov_at < read->iov_cnt;
}

static void advance(struct rxm_read *read, size_t len)
{
	read->seg_off += len;
	read->iov_off += len;
	if (read->seg_off == read->seg[read->seg_at].len) {
		read->seg_at++;
		read->seg_off = 0;
	}
	if (read->iov_off == read->iov[read->iov_at].iov_len) {
		read->iov_at++;
		read->iov_off = 0;
	}
}

static int read_some(struct rxm_read *read)
{
	const struct iovec *iov = &read->iov[read->iov_at];
	const struct rxm_seg *seg = &read->seg[read->seg_at];
	struct rxm_dom *dom = read->op.sock->dom;
	size_t len = iov->iov_len - read->iov_off;
	int ret = 0;

	if (!iov->iov_len) {
		read->iov_at++;
		return 0;
	}
	if (len > seg->len - read->seg_off)
		len = seg->len - read->seg_off;
	if (len > dom->info->ep_attr->max_msg_size)
		len = dom->info->ep_attr->max_msg_size;
	if (!read->mr[read->iov_at])
		ret = layer_mr_into(&dom->mem, iov->iov_base, iov->iov_len,
				    &read->mr[read->iov_at]);
	if (!ret)
		ret = (int) fi_read(read->op.sock->ep, iov_at(iov, read->iov_off), len,
				    layer_desc(read->mr[read->iov_at]), FI_ADDR_UNSPEC,
				    seg->addr + read->seg_off, seg->key, read);
	if (!ret) {
		read->out++;
		advance(read, len);
	}
	return ret;
}

static void read_end(struct rxm_read *read, int err)
{
	struct rxm_conn *conn = read->op.sock->conn;
	struct rxm_link *link = conn->link;
	void *cookie = read->cookie;
	bool in_order = read->in_order;

	list_del(&read->node);
	list_del(&read->stall_node);
	read_close(read);
	if (!err)
		rxm_tx_free(conn, read->id);
	free(read);
	if (in_order)
		conn->placing = false;
	eng_on_placed(&link->base, cookie, err);
}

bool rxm_read_go(struct rxm_read *read)
{
	int ret = 0;

	while (read_left(read) && !ret)
		ret = read_some(read);
	if (ret == -FI_EAGAIN)
		return false;
	list_del(&read->stall_node);
	if (ret)
		rxm_conn_fail(read->op.sock->conn, -ret);
	return true;
}

/* Errors: -FI_ENOMEM.  Its end is told by eng_on_placed(), from poll(). */
static int read_start(struct rxm_conn *conn, uint64_t id, const struct rxm_seg *seg, unsigned segs,
		      const struct iovec *iov, size_t iov_cnt, void *cookie, bool in_order)
{
	struct rxm_read *read = calloc(1, sizeof(*read));

	if (!read)
		return -FI_ENOMEM;
	read->op = (struct rxm_op) { RXM_OP_READ, conn->sock };
	read->id = id;
	read->cookie = cookie;
	read->in_order = in_order;
	read->segs = segs;
	read->iov_cnt = iov_cnt;
	memcpy(read->seg, seg, segs * sizeof(*seg));
	memcpy(read->iov, iov, iov_cnt * sizeof(*iov));
	list_init(&read->node);
	list_init(&read->stall_node);
	list_add_tail(&read->node, &conn->sock->reads);
	if (in_order)
		conn->placing = true;
	if (!rxm_read_go(read) || !read->out) {	/* nothing under way: the poller sees to it */
		list_add_tail(&read->stall_node, &conn->link->poller->stalled);
		if (!conn->link->poller->polling)
			obj_prog_moved(conn->link->base.prog, 0);
	}
	return 0;
}

void rxm_on_read(struct rxm_read *read, int err)
{
	struct rxm_conn *conn = read->op.sock->conn;

	if (read->out)
		read->out--;
	if (!conn || read->over)
		return;		/* its sock is closed, and owns it */
	if (err) {
		rxm_conn_fail(conn, err);
		return;
	}
	if (read->out || read_left(read) || conn->state != RXM_READY)
		return;
	read_end(read, 0);
	rxm_rx_run(conn);
}

/* ---- frames ---------------------------------------------------------------------------------- */

static void place(struct rxm_conn *conn, const struct rxm_item *item, const struct eng_rx *rx)
{
	iov_scatter(rx->iov, rx->iov_cnt, 0, item->data, item->len);
	eng_on_placed(&conn->link->base, rx->cookie, 0);
}

/* Returns true when it is through, false when it must be offered again, or the end. */
static bool offer(struct rxm_conn *conn, const struct rxm_item *item)
{
	struct rxm_link *link = conn->link;
	struct eng_rx rx = {
		.hdr = item->hdr, .hdr_len = item->hdr_len, .data = item->data,
		.avail = item->kind == RXM_EAGER ? item->len : 0, .len = item->len,
	};
	enum eng_rx_verdict verdict;
	char text[RXM_TEXT];

	link->offering = conn;
	link->offered = item;
	verdict = eng_on_packet(&link->base, rxm_conn_peer(conn), &rx);
	link->offering = NULL;
	if (verdict == ENG_RX_BAD) {
		RXM_WARN_SPARSE("%s sent a packet that makes no sense: it is damaged, or of another "
				"version\n", rxm_conn_text(conn, text));
		rxm_conn_fail(conn, FI_EPROTO);
		return false;
	}
	if (verdict == ENG_RX_LATER)
		return false;
	if (verdict == ENG_RX_HELD)
		return true;
	if (item->kind == RXM_EAGER) {
		if (verdict == ENG_RX_PLACE)
			place(conn, item, &rx);
	} else if (verdict == ENG_RX_DONE) {
		rxm_tx_free(conn, item->id);
	} else if (read_start(conn, item->id, item->seg, item->segs, rx.iov, rx.iov_cnt, rx.cookie,
			      true)) {
		rxm_conn_fail(conn, FI_ENOMEM);
		eng_on_placed(&link->base, rx.cookie, -FI_ENOMEM);
		return false;
	}
	return true;
}

static void pause_conn(struct rxm_conn *conn)
{
	conn->is_paused = true;
	list_del(&conn->state_node);
	list_add_tail(&conn->state_node, &conn->link->poller->paused);
}

/* Returns true when the whole of @buf is through. */
static bool run_buf(struct rxm_conn *conn, struct rxm_buf *buf)
{
	struct rxm_item item;
	size_t next;

	while (buf->at < buf->len && conn->state == RXM_READY && !conn->placing) {
		next = rxm_next(buf->data, buf->at, &item);
		if (item.kind != RXM_FREE && !offer(conn, &item)) {
			if (conn->state == RXM_READY)
				pause_conn(conn);
			return false;
		}
		buf->at = next;
	}
	return buf->at >= buf->len && conn->state == RXM_READY;
}

static void recycle(struct rxm_conn *conn, struct rxm_buf *buf)
{
	if (rxm_sock_post(buf->op.sock, buf))
		conn->owed += !buf->spare;
	else
		rxm_conn_touch(conn);
	if (conn->owed >= rxm_conf.credits / 2)
		rxm_conn_touch(conn);
}

void rxm_rx_run(struct rxm_conn *conn)
{
	struct rxm_buf *buf;

	if (conn->is_paused) {
		conn->is_paused = false;
		list_del(&conn->state_node);
	}
	while (conn->state == RXM_READY && !conn->placing && !list_empty(&conn->rxq)) {
		buf = container_of(conn->rxq.next, struct rxm_buf, node);
		if (!run_buf(conn, buf))
			break;
		recycle(conn, buf);
	}
	if (conn->ended && (list_empty(&conn->rxq) || conn->placing))
		rxm_conn_fail(conn, FI_ECONNRESET);
}

/* What stands outside of the order.  0, or -FI_EPROTO. */
static int heed_message(struct rxm_conn *conn, struct rxm_buf *buf)
{
	struct rxm_head head;
	struct rxm_item item;
	const char *why = rxm_parse(buf->data, buf->len, &head);
	char text[RXM_TEXT];
	int ret = 0;

	if (why) {
		RXM_WARN_SPARSE("%s sent a message that is none: %s\n", rxm_conn_text(conn, text),
				why);
		return -FI_EPROTO;
	}
	buf->spare = head.flags & RXM_F_SPARE;
	conn->bye |= !!(head.flags & RXM_F_BYE);
	conn->credits += head.credits;
	if (head.credits && !rxm_tx_idle(conn))
		rxm_conn_touch(conn);
	for (buf->at = sizeof(head); buf->at < buf->len && !ret;) {
		buf->at = rxm_next(buf->data, buf->at, &item);
		if (item.kind == RXM_FREE)
			ret = rxm_tx_returned(conn, item.id);
		else if (item.kind == RXM_LONG && conn->borrowed++ >= RXM_LONGS)
			ret = -FI_EPROTO;
	}
	buf->at = sizeof(head);
	if (ret)
		RXM_WARN_SPARSE("%s sent a message out of turn\n", rxm_conn_text(conn, text));
	return ret;
}

void rxm_on_message(struct rxm_buf *buf, size_t len)
{
	struct rxm_conn *conn = buf->op.sock->conn;

	if (!conn || (conn->state != RXM_READY && conn->state != RXM_TAKING &&
		      conn->state != RXM_CALLING))
		return;
	buf->len = len;
	list_add_tail(&buf->node, &conn->rxq);
	if (heed_message(conn, buf)) {
		rxm_conn_fail(conn, FI_EPROTO);
		return;
	}
	if (!conn->is_paused)
		rxm_rx_run(conn);
}

/* ---- payload that the engine keeps ------------------------------------------------------------ */

void *rxm_rx_hold(struct rxm_link *link, const struct eng_rx *rx)
{
	const struct rxm_item *item = link->offered;
	struct rxm_conn *conn = link->offering;
	struct rxm_hold *hold = malloc(sizeof(*hold) + rx->avail);

	if (!hold)
		return NULL;
	memset(hold, 0, sizeof(*hold));
	list_init(&hold->node);
	hold->len = rx->avail;
	memcpy(hold->data, rx->data, rx->avail);
	if (item->kind == RXM_LONG) {
		hold->conn = conn;
		hold->id = item->id;
		hold->segs = item->segs;
		memcpy(hold->seg, item->seg, item->segs * sizeof(item->seg[0]));
		list_add_tail(&hold->node, &conn->holds);
	}
	return hold;
}

int rxm_rx_pull(struct rxm_hold *hold, const struct iovec *iov, size_t iov_cnt, void *cookie)
{
	int ret = hold->err ? -hold->err : 1;

	if (hold->conn && hold->conn->state != RXM_READY)
		ret = -FI_ECONNRESET;
	else if (hold->conn)
		ret = read_start(hold->conn, hold->id, hold->seg, hold->segs, iov, iov_cnt, cookie,
				 false);
	else if (!hold->err)
		iov_scatter(iov, iov_cnt, 0, hold->data, hold->len);
	list_del(&hold->node);
	if (ret == -FI_ENOMEM)
		rxm_tx_free(hold->conn, hold->id);
	free(hold);
	return ret;
}

void rxm_rx_release(struct rxm_hold *hold)
{
	list_del(&hold->node);
	if (hold->conn && hold->conn->state == RXM_READY)
		rxm_tx_free(hold->conn, hold->id);
	free(hold);
}

/* ---- the end -------------------------------------------------------------------------------------- */

static void reads_drop(struct rxm_conn *conn, struct rxm_sock *sock, int err)
{
	struct rxm_read *read;
	struct list *pos, *next;

	if (!sock)
		return;
	list_for_each_safe(pos, next, &sock->reads) {
		read = container_of(pos, struct rxm_read, node);
		list_del(&read->stall_node);
		if (read->over)
			continue;
		read->over = true;
		read_close(read);
		eng_on_placed(&conn->link->base, read->cookie, -err);
	}
}

void rxm_rx_drop(struct rxm_conn *conn, struct rxm_sock *sock, struct rxm_sock *loop, int err)
{
	struct rxm_hold *hold;
	struct list *node;

	while (list_pop(&conn->rxq))
		;
	while ((node = list_pop(&conn->holds))) {
		hold = container_of(node, struct rxm_hold, node);
		hold->conn = NULL;
		hold->err = err;
	}
	reads_drop(conn, sock, err);
	reads_drop(conn, loop, err);
}

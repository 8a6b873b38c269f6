/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Rendezvous of the peer: its payload is read (RDMA) from the segments in its memory into
 * the list of buffers that the engine gave, piece by piece where the two are cut
 * differently, or where the provider below limits a transfer.
 *
 * A read whose queue below is full, or that has nothing to read, is on poller->reads.
 */
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/iov.h"
#include "conn.h"

struct rxm_read {
	struct rxm_op op;		/* first */
	struct list node;		/* on ep->reads */
	struct list work_node;		/* on poller->reads: to be continued */
	void *cookie;			/* for eng_on_placed() */
	uint64_t id;			/* of the rendezvous */
	bool in_order;			/* the next frame waits for it */
	unsigned posted;		/* operations in flight below */
	unsigned segs, seg_at;		/* the peer's pieces, and which is next */
	size_t seg_off;			/* bytes of it that are posted */
	size_t iov_cnt, iov_at;		/* ours */
	size_t iov_off;
	struct rxm_seg seg[ENG_IOV_MAX];
	struct iovec iov[ENG_IOV_MAX];
	struct fid_mr *mr[ENG_IOV_MAX];	/* of iov, where the domain wants them registered */
};

static struct rxm_read *read_of(struct list *work_node)
{
	return container_of(work_node, struct rxm_read, work_node);
}

static void release_mr(struct rxm_read *read)
{
	unsigned i;

	for (i = 0; i < read->iov_cnt; i++)
		if (read->mr[i])
			layer_mr_done(read->mr[i]);
	memset(read->mr, 0, sizeof(read->mr));
}

/* ---- posting ----------------------------------------------------------------------------- */

static bool has_more(const struct rxm_read *read)
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

/* piece_len - of the next operation: what is left of our buffer and of the peer's segment,
 * and what the provider below takes.
 */
static size_t piece_len(const struct rxm_read *read)
{
	size_t most = read->op.ep->dom->base.info->ep_attr->max_msg_size;
	size_t ours = read->iov[read->iov_at].iov_len - read->iov_off;
	uint64_t theirs = read->seg[read->seg_at].len - read->seg_off;
	size_t len = ours < theirs ? ours : (size_t) theirs;

	return len < most ? len : most;
}

static int post_piece(struct rxm_read *read)
{
	const struct iovec *iov = &read->iov[read->iov_at];
	const struct rxm_seg *seg = &read->seg[read->seg_at];
	struct fid_mr **mr_p = &read->mr[read->iov_at];
	size_t len = piece_len(read);
	int ret = 0;

	if (!iov->iov_len) {
		read->iov_at++;
		return 0;
	}
	if (!*mr_p)
		ret = layer_mr_into(&read->op.ep->dom->base.mem, iov->iov_base, iov->iov_len, mr_p);
	if (!ret)
		ret = (int) fi_read(read->op.ep->fid, iov_at(iov, read->iov_off), len,
				    layer_desc(*mr_p), FI_ADDR_UNSPEC, seg->addr + read->seg_off,
				    seg->key, &read->op);
	if (!ret) {
		read->posted++;
		advance(read, len);
	}
	return ret;
}

/* post_all - Returns false if the queue below is full: it has to be continued. */
static bool post_all(struct rxm_read *read)
{
	int ret = 0;

	while (has_more(read) && !ret)
		ret = post_piece(read);
	if (ret == -FI_EAGAIN)
		return false;
	list_del(&read->work_node);
	if (ret)
		rxm_conn_fail(read->op.ep->conn, -ret);
	return true;
}

static void wait_for_poll(struct rxm_read *read)
{
	struct rxm_poller *poller = rxm_conn_poller(read->op.ep->conn);

	list_add_tail(&read->work_node, &poller->reads);
	chan_poller_kick(&poller->chan);
}

int rxm_read_start(struct rxm_conn *conn, uint64_t id, const struct rxm_seg *seg, unsigned segs,
		   const struct iovec *iov, size_t iov_cnt, void *cookie, bool in_order)
{
	struct rxm_read *read = calloc(1, sizeof(*read));

	if (!read)
		return -FI_ENOMEM;
	read->op = (struct rxm_op) { RXM_OP_READ, conn->ep };
	read->id = id;
	read->cookie = cookie;
	read->in_order = in_order;
	read->segs = segs;
	read->iov_cnt = iov_cnt;
	memcpy(read->seg, seg, segs * sizeof(*seg));
	memcpy(read->iov, iov, iov_cnt * sizeof(*iov));
	list_init(&read->work_node);
	list_add_tail(&read->node, &conn->ep->reads);
	conn->reading |= in_order;
	/* with nothing in flight there will be no completion */
	if (!post_all(read) || !read->posted)
		wait_for_poll(read);
	return 0;
}

/* ---- the end ------------------------------------------------------------------------------- */

static void complete(struct rxm_read *read)
{
	struct rxm_conn *conn = read->op.ep->conn;
	struct eng_link *link = &conn->chan.link->base;
	void *cookie = read->cookie;

	list_del(&read->node);
	list_del(&read->work_node);
	release_mr(read);
	rxm_tx_done(conn, read->id);
	if (read->in_order)
		conn->reading = false;
	free(read);
	eng_on_placed(link, cookie, 0);
	rxm_rx_run(conn);
}

static void complete_if_done(struct rxm_read *read)
{
	if (!read->posted && !has_more(read) && read->op.ep->conn->chan.conn)
		complete(read);
}

void rxm_on_read(struct rxm_op *op, int err)
{
	struct rxm_read *read = container_of(op, struct rxm_read, op);

	read->posted--;
	if (!read->op.ep->conn)
		return;		/* reported; freed with its endpoint */
	if (err)
		rxm_conn_fail(read->op.ep->conn, err);
	else
		complete_if_done(read);
}

int rxm_read_continue(struct list *node)
{
	struct rxm_read *read = read_of(node);

	if (!post_all(read))
		wait_for_poll(read);
	else
		complete_if_done(read);
	return 1;
}

void rxm_read_lost(struct rxm_conn *conn, struct rxm_ep *ep, int err)
{
	struct rxm_read *read;
	struct list *pos, *next;

	list_for_each_safe(pos, next, &ep->reads) {
		read = container_of(pos, struct rxm_read, node);
		list_del(&read->work_node);
		release_mr(read);
		eng_on_placed(&conn->chan.link->base, read->cookie, -err);
	}
}

void rxm_read_free(struct rxm_ep *ep)
{
	struct list *node;

	while ((node = list_pop(&ep->reads)))
		free(container_of(node, struct rxm_read, node));
}

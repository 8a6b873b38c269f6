/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * RDMA: reads and writes between a list of our buffers and a list of segments in the peer's memory,
 * piece by piece where the two are cut differently, or where the provider below limits a transfer.
 *
 *   rendezvous of the peer    read into the buffers that the engine gave, or into memory of ours,
 *                             if too many of them wait to be received
 *   reads of the program      the same, in the compatible format
 *   writes of the program     from a packet of the engine, in the compatible format
 *   rendezvous of ours        written, where the peer wants that (compatible format)
 *
 * One whose queue below is full, or that has nothing to transfer, is on poller->rmas.
 */
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/iov.h"
#include "compat.h"
#include "conn.h"

/* What is done at the end. */
enum use {
	USE_PLACE,			/* eng_on_placed(), and the peer's rendezvous is read */
	USE_FETCH,			/* the same, from memory of ours, once it is known where to */
	USE_READ,			/* eng_on_placed() */
	USE_WRITE,			/* the packet is done */
	USE_RNDV,			/* our rendezvous is written */
};

struct rxm_rma {
	struct rxm_op op;		/* first */
	enum use use;
	struct list node;		/* on ep->rmas */
	struct list work_node;		/* on poller->rmas: to be continued */
	void *cookie;			/* PLACE, FETCH, READ: for eng_on_placed() */
	struct rxm_hold *hold;		/* FETCH: gets the bytes; NULL: they are for the cookie, or unwanted */
	struct eng_peer *payer;		/* FETCH, without a hold: whom its memory is charged to; or NULL */
	size_t to_cnt;			/* FETCH, with a cookie: where they go */
	struct iovec to[ENG_IOV_MAX];
	struct eng_pkt *pkt;		/* WRITE */
	struct rxm_write write;		/* WRITE */
	struct layer_buf *copy;		/* WRITE: of a short payload, or NULL */
	uint64_t id;			/* PLACE, FETCH, RNDV: of the rendezvous */
	bool in_order;			/* PLACE: the next frame waits for it */
	unsigned posted;		/* operations in flight below */
	unsigned segs, seg_at;		/* the peer's pieces, and which is next */
	size_t seg_off;			/* bytes of it that are posted */
	size_t iov_cnt, iov_at;		/* ours */
	size_t iov_off;
	struct wire_rma seg[ENG_IOV_MAX];
	struct iovec iov[ENG_IOV_MAX];
	struct fid_mr *mr[ENG_IOV_MAX];	/* of iov, where the domain wants them registered */
};

static struct rxm_rma *rma_of(struct list *work_node)
{
	return container_of(work_node, struct rxm_rma, work_node);
}

static struct layer_mem *mem_of(const struct rxm_rma *rma)
{
	return &rma->op.ep->dom->base.mem;
}

static void release_mr(struct rxm_rma *rma)
{
	unsigned i;

	for (i = 0; i < rma->iov_cnt; i++)
		if (rma->mr[i])
			layer_mr_done(rma->mr[i]);
	memset(rma->mr, 0, sizeof(rma->mr));
	if (rma->copy)
		layer_buf_put(mem_of(rma), rma->copy);
	rma->copy = NULL;
}

/* ---- posting ----------------------------------------------------------------------------- */

static bool has_more(const struct rxm_rma *rma)
{
	return rma->seg_at < rma->segs && rma->iov_at < rma->iov_cnt;
}

static void rma_advance(struct rxm_rma *rma, size_t len)
{
	rma->seg_off += len;
	rma->iov_off += len;
	if (rma->seg_off == rma->seg[rma->seg_at].len) {
		rma->seg_at++;
		rma->seg_off = 0;
	}
	if (rma->iov_off == rma->iov[rma->iov_at].iov_len) {
		rma->iov_at++;
		rma->iov_off = 0;
	}
}

/* piece_len - of the next operation: what is left of our buffer and of the peer's segment,
 * and what the provider below takes.
 */
static size_t piece_len(const struct rxm_rma *rma)
{
	size_t most = rma->op.ep->dom->base.info->ep_attr->max_msg_size;
	size_t ours = rma->iov[rma->iov_at].iov_len - rma->iov_off;
	uint64_t theirs = rma->seg[rma->seg_at].len - rma->seg_off;
	size_t len = ours < theirs ? ours : (size_t) theirs;

	return len < most ? len : most;
}

/* is_last - of the pieces, if the next one has @len bytes. */
static bool is_last(const struct rxm_rma *rma, size_t len)
{
	return (rma->seg_at + 1 == rma->segs && rma->seg_off + len == rma->seg[rma->seg_at].len) ||
	       (rma->iov_at + 1 == rma->iov_cnt &&
		rma->iov_off + len == rma->iov[rma->iov_at].iov_len);
}

static bool rma_writes(const struct rxm_rma *rma)
{
	return rma->use == USE_WRITE || rma->use == USE_RNDV;
}

static ssize_t post_write(struct rxm_rma *rma, const struct iovec *iov, void *desc,
			  const struct fi_rma_iov *to)
{
	struct rxm_dom *dom = rma->op.ep->dom;
	uint64_t flags = FI_COMPLETION;
	struct fi_msg_rma msg = {
		.msg_iov = iov, .desc = &desc, .iov_count = iov->iov_len != 0, .addr = FI_ADDR_UNSPEC,
		.rma_iov = to, .rma_iov_count = 1, .context = &rma->op, .data = rma->write.data,
	};
	ssize_t ret;

	if (rma->write.has_data && is_last(rma, iov->iov_len))
		flags |= FI_REMOTE_CQ_DATA;
	ret = fi_writemsg(rma->op.ep->fid, &msg, flags | (rma->write.ack ? dom->delivered : 0));
	if (ret == -FI_EBADFLAGS && rma->write.ack && dom->delivered) {
		/* a device: its completion says that the peer's has the bytes */
		dom->delivered = 0;
		ret = fi_writemsg(rma->op.ep->fid, &msg, flags);
	}
	return ret;
}

/* local_desc - register the buffer that is next, if the provider below wants that. */
static int local_desc(struct rxm_rma *rma, void **desc_p)
{
	const struct iovec *iov = &rma->iov[rma->iov_at];
	struct fid_mr **mr_p = &rma->mr[rma->iov_at];
	int ret = 0;

	if (!rma->copy && !*mr_p && iov->iov_len)
		ret = layer_mr_into(mem_of(rma), iov->iov_base, iov->iov_len, mr_p);
	if (!ret)
		*desc_p = rma->copy ? rma->copy->desc : layer_desc(*mr_p);
	return ret;
}

static int post_piece(struct rxm_rma *rma)
{
	const struct iovec *whole = &rma->iov[rma->iov_at];
	const struct wire_rma *seg = &rma->seg[rma->seg_at];
	struct fi_rma_iov to = { seg->addr + rma->seg_off, piece_len(rma), seg->key };
	struct iovec iov = { iov_at(whole, rma->iov_off), to.len };
	void *desc = NULL;
	int ret;

	if (!whole->iov_len && !rma->write.has_data) {
		rma->iov_at++;
		return 0;
	}
	ret = local_desc(rma, &desc);
	if (!ret)
		ret = (int) (rma_writes(rma) ? post_write(rma, &iov, desc, &to) :
			     fi_read(rma->op.ep->fid, iov.iov_base, iov.iov_len, desc, FI_ADDR_UNSPEC,
				     to.addr, to.key, &rma->op));
	if (!ret) {
		rma->posted++;
		rma_advance(rma, to.len);
	}
	return ret;
}

/* post_all - Returns false if the queue below is full: it has to be continued. */
static bool post_all(struct rxm_rma *rma)
{
	int ret = 0;

	while (has_more(rma) && !ret)
		ret = post_piece(rma);
	if (ret == -FI_EAGAIN)
		return false;
	list_del(&rma->work_node);
	if (ret)
		rxm_conn_fail(rma->op.ep->conn, -ret);
	return true;
}

static void wait_for_poll(struct rxm_rma *rma)
{
	struct rxm_poller *poller = rxm_conn_poller(rma->op.ep->conn);

	list_add_tail(&rma->work_node, &poller->rmas);
	chan_poller_kick(&poller->chan);
}

/* ---- beginning ----------------------------------------------------------------------------- */

static struct rxm_rma *rma_new(struct rxm_conn *conn, enum use use, const struct wire_rma *seg,
			       unsigned segs, const struct iovec *iov, size_t iov_cnt)
{
	struct rxm_rma *rma = calloc(1, sizeof(*rma));

	if (!rma)
		return NULL;
	rma->op = (struct rxm_op) { RXMF_OP_RMA, conn->ep };
	rma->use = use;
	rma->segs = segs;
	rma->iov_cnt = iov_cnt;
	memcpy(rma->seg, seg, segs * sizeof(*seg));
	memcpy(rma->iov, iov, iov_cnt * sizeof(*iov));
	list_init(&rma->work_node);
	list_add_tail(&rma->node, &conn->ep->rmas);
	return rma;
}

/* rma_start - Returns false if the queue below was full. */
static bool rma_start(struct rxm_rma *rma)
{
	bool all = post_all(rma);

	/* with nothing in flight there will be no completion */
	if (!all || !rma->posted)
		wait_for_poll(rma);
	return all;
}

int rxm_read_start(struct rxm_conn *conn, uint64_t id, const struct wire_rma *seg, unsigned segs,
		   const struct iovec *iov, size_t iov_cnt, void *cookie, bool in_order)
{
	struct rxm_rma *rma = rma_new(conn, USE_PLACE, seg, segs, iov, iov_cnt);

	if (!rma)
		return -FI_ENOMEM;
	rma->id = id;
	rma->cookie = cookie;
	rma->in_order = in_order;
	conn->reading |= in_order;
	rma_start(rma);
	return 0;
}

void rxm_fetch_start(struct rxm_conn *conn, struct rxm_hold *hold)
{
	struct iovec iov = { malloc(hold->hold.len), hold->hold.len };
	struct rxm_rma *rma = NULL;

	if (iov.iov_base)
		rma = rma_new(conn, USE_FETCH, hold->seg, hold->segs, &iov, 1);
	if (!rma) {
		free(iov.iov_base);
		return;
	}
	rma->id = hold->id;
	rma->hold = hold;
	hold->fetch = rma;
	rma_start(rma);
}

/* leave_hold - the memory is charged to the peer as long as it exists. */
static void leave_hold(struct rxm_rma *rma)
{
	rma->payer = rma->hold->payer;
	rma->hold->payer = NULL;
	rma->hold->fetch = NULL;
	rma->hold = NULL;
}

/* free_fetched - the memory of a fetch that has left its hold. */
static void free_fetched(struct rxm_rma *rma)
{
	free(rma->iov[0].iov_base);
	if (rma->payer)
		eng_on_moved(rma->payer, rma->iov[0].iov_len);
	rma->payer = NULL;
}

void rxm_fetch_take(struct rxm_rma *rma, const struct iovec *iov, size_t iov_cnt, void *cookie)
{
	leave_hold(rma);
	rma->cookie = cookie;
	rma->to_cnt = iov_cnt;
	memcpy(rma->to, iov, iov_cnt * sizeof(*iov));
}

void rxm_fetch_drop(struct rxm_rma *rma)
{
	leave_hold(rma);
}

int rxm_read_memory(struct rxm_conn *conn, const struct wire_rma *seg, unsigned segs,
		    const struct eng_rx *rx)
{
	struct rxm_rma *rma = rma_new(conn, USE_READ, seg, segs, rx->iov, rx->iov_cnt);

	if (!rma)
		return -FI_ENOMEM;
	rma->cookie = rx->cookie;
	rma_start(rma);
	return 0;
}

/* copy_short - a payload that fits into a message is copied: that is cheaper than to register it. */
static void copy_short(struct rxm_rma *rma)
{
	struct eng_pkt *pkt = rma->pkt;
	struct rxm_tx_buf *buf;

	if (!pkt->len || pkt->len > rxm_conf.buf_size)
		return;
	rma->copy = layer_buf_get(mem_of(rma));
	if (!rma->copy)
		return;
	buf = container_of(rma->copy, struct rxm_tx_buf, buf);
	iov_gather(pkt->iov, pkt->iov_cnt, 0, buf->data, pkt->len);
	rma->iov[0] = (struct iovec) { buf->data, pkt->len };
	rma->iov_cnt = 1;
}

int rxm_write_start(struct rxm_conn *conn, struct eng_pkt *pkt, const struct rxm_write *write,
		    const struct wire_rma *seg, unsigned segs)
{
	static const struct iovec nothing = { NULL, 0 };
	struct rxm_rma *rma = rma_new(conn, USE_WRITE, seg, segs, pkt->len ? pkt->iov : &nothing,
				      pkt->len ? pkt->iov_cnt : 1);

	if (!rma)
		return -FI_EAGAIN;
	rma->pkt = pkt;
	rma->write = *write;
	copy_short(rma);
	conn->compat->writing = !rma_start(rma);
	return 0;
}

int rxm_write_rndv(struct rxm_conn *conn, uint64_t id, const struct eng_pkt *pkt,
		   const struct wire_rma *seg, unsigned segs)
{
	struct rxm_rma *rma = rma_new(conn, USE_RNDV, seg, segs, pkt->iov, pkt->iov_cnt);

	if (!rma)
		return -FI_ENOMEM;
	rma->id = id;
	rma_start(rma);
	return 0;
}

/* ---- the end ------------------------------------------------------------------------------- */

static void payload_placed(struct rxm_conn *conn, const struct rxm_rma *rma)
{
	if (rma->use == USE_PLACE)
		rxm_tx_done(conn, rma->id);
	if (rma->in_order)
		conn->reading = false;
	eng_on_placed(&conn->chan.link->base, rma->cookie, 0);
	rxm_rx_run(conn);
}

static void payload_fetched(struct rxm_conn *conn, struct rxm_rma *rma)
{
	uint8_t *data = rma->iov[0].iov_base;

	rxm_tx_done(conn, rma->id);
	if (rma->hold) {
		rma->hold->fetch = NULL;
		chan_hold_fetched(&rma->hold->hold, data);
		return;
	}
	if (rma->cookie)
		iov_scatter(rma->to, rma->to_cnt, 0, data, rma->iov[0].iov_len);
	free_fetched(rma);
	if (rma->cookie)
		eng_on_placed(&conn->chan.link->base, rma->cookie, 0);
}

static void rma_complete(struct rxm_rma *rma)
{
	struct rxm_conn *conn = rma->op.ep->conn;
	struct rxm_rma was = *rma;

	list_del(&rma->node);
	list_del(&rma->work_node);
	release_mr(rma);
	free(rma);
	switch (was.use) {
	case USE_PLACE:
	case USE_READ:
		payload_placed(conn, &was);
		break;
	case USE_FETCH:
		payload_fetched(conn, &was);
		break;
	case USE_WRITE:
		was.pkt->done(was.pkt, 0);
		if (was.write.ack && conn->chan.conn)
			rxm_compat_ack(conn, was.write.ack, was.write.ack_id);
		break;
	case USE_RNDV:
		rxm_compat_written(conn, was.id);
		break;
	}
}

static void complete_if_done(struct rxm_rma *rma)
{
	if (!rma->posted && !has_more(rma) && rma->op.ep->conn->chan.conn)
		rma_complete(rma);
}

void rxm_on_rma(struct rxm_op *op, int err)
{
	struct rxm_rma *rma = container_of(op, struct rxm_rma, op);

	rma->posted--;
	if (!rma->op.ep->conn)
		return;		/* reported; freed with its endpoint */
	if (err)
		rxm_conn_fail(rma->op.ep->conn, err);
	else
		complete_if_done(rma);
}

int rxm_rma_continue(struct list *node)
{
	struct rxm_rma *rma = rma_of(node);

	if (!post_all(rma)) {
		wait_for_poll(rma);
		return 1;
	}
	if (rma->use == USE_WRITE)
		rxm_compat_posted(rma->op.ep->conn);
	complete_if_done(rma);
	return 1;
}

/* fetch_lost - a hold that is not taken keeps its charge. */
static void fetch_lost(struct rxm_rma *rma)
{
	if (rma->hold)
		rma->hold->fetch = NULL;
	rma->hold = NULL;
	free_fetched(rma);
}

void rxm_rma_lost(struct rxm_conn *conn, struct rxm_ep *ep, int err)
{
	struct rxm_rma *rma, *next;

	list_for_each_entry_safe(rma, next, &ep->rmas, node) {
		list_del(&rma->work_node);
		release_mr(rma);
		if (rma->use == USE_FETCH)
			fetch_lost(rma);
		if (rma->cookie)
			eng_on_placed(&conn->chan.link->base, rma->cookie, -err);
		else if (rma->use == USE_WRITE)
			rma->pkt->done(rma->pkt, -err);
	}
}

void rxm_rma_free(struct rxm_ep *ep)
{
	struct list *node;

	while ((node = list_pop(&ep->rmas)))
		free(container_of(node, struct rxm_rma, node));
}

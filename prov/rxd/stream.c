/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * The stream that we send.  A small frame is copied to its end, and is complete for the engine
 * then; a large one stays in the engine's memory until all of it is acknowledged.
 */
#include <rdma/fi_errno.h>
#include <string.h>

#include "base/iov.h"
#include "conn.h"

#define HEADS (2 * RXD_HEAD_MAX)	/* what waits is less than a datagram: it leaves in two */

static size_t frame_size(const struct eng_pkt *pkt)
{
	return RXD_FRAME_SIZE + pkt->hdr_len + pkt->len;
}

static struct rxd_item *item_of(struct list *node)
{
	return container_of(node, struct rxd_item, node);
}

static void item_free(struct rxd_poller *poller, struct rxd_item *item)
{
	list_del(&item->node);
	pool_put(item->pkt ? &poller->items : &poller->chunks, item);
}

static void item_append(struct rxd_conn *conn, struct rxd_item *item, struct eng_pkt *pkt, size_t len)
{
	item->start = conn->end;
	item->len = len;
	item->pkt = pkt;
	conn->end += len;
	list_add_tail(&item->node, &conn->items);
}

/* Only the last item may grow, and only one that is memory of ours. */
int rxd_stream_room(struct rxd_conn *conn, size_t size)
{
	struct rxd_item *item = NULL;

	if (!list_empty(&conn->items))
		item = item_of(conn->items.prev);
	if (!item || item->pkt || RXD_CHUNK - item->len < size) {
		item = pool_get(&rxd_conn_poller(conn)->chunks);
		if (!item)
			return -FI_ENOMEM;
		item_append(conn, item, NULL, 0);
	}
	return 0;
}

/* use_room - take the next @size bytes of that room. */
static uint8_t *use_room(struct rxd_conn *conn, size_t size)
{
	struct rxd_item *item = item_of(conn->items.prev);

	item->len += size;
	conn->end += size;
	return item->data + item->len - size;
}

void rxd_stream_add(struct rxd_conn *conn, const uint8_t *from, size_t size)
{
	memcpy(use_room(conn, size), from, size);
}

/* room_for - @size bytes at the end of the stream, in memory of ours; or NULL. */
static uint8_t *room_for(struct rxd_conn *conn, size_t size)
{
	return rxd_stream_room(conn, size) ? NULL : use_room(conn, size);
}

/* is_paced_out - would @bytes have to wait for their time?  That of the last packet answers without a clock for most. */
static bool is_paced_out(const struct rxd_conn *conn, uint64_t bytes)
{
	/* half of a burst is in use at most, and these bytes take no more than the other half */
	if (conn->cc.paced_ns <= conn->loss.last_ns + RXD_CC_BURST_NS / 2 &&
	    bytes <= RXD_CC_BURST_SEGS / 2 * (uint64_t) conn->cc.seg)
		return false;
	return !rxd_cc_admits(&conn->cc, rxd_now(rxd_conn_poller(conn)), bytes, rxd_rtt_pace(&conn->rtt));
}

/* may_copy - may so many bytes leave with the next poll, and all that waits before them?  A program that has seen its
 * send complete need not poll a second time.  Otherwise they stay with the engine, and complete when acknowledged.
 */
static bool may_copy(const struct rxd_conn *conn, size_t size)
{
	uint64_t unsent = conn->end - conn->nxt + size;

	return size <= RXD_COPY_MAX && list_empty(&conn->chan.pending) && conn->end + size <= conn->limit &&
	       conn->loss.out_bytes + unsent + HEADS <= conn->cc.window && !is_paced_out(conn, unsent);
}

bool rxd_stream_copy(struct rxd_conn *conn, const struct eng_pkt *pkt)
{
	size_t head = RXD_FRAME_SIZE + pkt->hdr_len, size = frame_size(pkt);
	uint8_t *to = may_copy(conn, size) ? room_for(conn, size) : NULL;

	if (!to)
		return false;
	memcpy(to, &pkt->link_priv, head);
	if (pkt->len)
		iov_gather(pkt->iov, pkt->iov_cnt, 0, to + head, pkt->len);
	return true;
}

bool rxd_stream_end(struct rxd_conn *conn)
{
	uint8_t *end = room_for(conn, RXD_FRAME_SIZE);
	uint64_t word = conn->chan.paths ? rxd_frame(0, conn->rcv_nxt) : 0;

	if (!end)
		return false;
	conn->shut = true;
	memcpy(end, &word, sizeof(word));
	return true;
}

/* Packets that wait with the channel enter the stream only as far as the next datagram needs them:
 * until then their order among others can be changed, and they cost no item.
 */
bool rxd_stream_fill(struct rxd_conn *conn)
{
	struct rxd_item *item;
	struct eng_pkt *pkt;

	while (!list_empty(&conn->chan.pending) && conn->end - conn->nxt < conn->mtu.now) {
		pkt = container_of(conn->chan.pending.next, struct eng_pkt, node);
		item = pool_get(&rxd_conn_poller(conn)->items);
		if (!item)
			return false;
		list_del(&pkt->node);
		item_append(conn, item, pkt, frame_size(pkt));
	}
	return !conn->want_shut || conn->shut || !list_empty(&conn->chan.pending) ||
	       rxd_stream_end(conn);
}

/* item_find - the piece with byte @off.  New bytes are near the end, old ones near the front. */
static struct rxd_item *item_find(struct rxd_conn *conn, uint64_t off)
{
	struct list *pos;

	if (off >= conn->nxt) {
		for (pos = conn->items.prev; item_of(pos)->start > off; pos = pos->prev)
			;
		return item_of(pos);
	}
	for (pos = conn->items.next; item_of(pos)->start + item_of(pos)->len <= off; pos = pos->next)
		;
	return item_of(pos);
}

static size_t slice_item(const struct rxd_item *item, size_t at, size_t len, struct iovec *iov,
			 size_t room)
{
	struct iovec all[ENG_IOV_MAX + 1], out[ENG_IOV_MAX + 1];
	struct eng_pkt *pkt = item->pkt;
	size_t i, cnt;

	if (!pkt) {
		iov[0] = (struct iovec) { (void *) (item->data + at), len };
		return 1;
	}
	all[0] = (struct iovec) { &pkt->link_priv, RXD_FRAME_SIZE + pkt->hdr_len };
	for (i = 0; i < pkt->iov_cnt; i++)
		all[i + 1] = pkt->iov[i];
	cnt = iov_slice(all, i + 1, at, len, out);
	cnt = cnt < room ? cnt : room;
	memcpy(iov, out, cnt * sizeof(*iov));
	return cnt;
}

/* Nothing is copied: a retransmission reads the same memory again, which stays until it is
 * acknowledged.
 */
size_t rxd_stream_slice(struct rxd_conn *conn, uint64_t off, size_t len, struct iovec *iov,
			size_t room)
{
	struct rxd_item *item = item_find(conn, off);
	size_t cnt = 0, at, part;

	while (len && cnt < room) {
		at = (size_t) (off - item->start);
		part = item->len - at < len ? item->len - at : len;
		cnt += slice_item(item, at, part, iov + cnt, room - cnt);
		off += part;
		len -= part;
		item = item_of(item->node.next);
	}
	return cnt;
}

/* done() comes after the items are freed: it may send, and so append to this stream. */
void rxd_stream_release(struct rxd_conn *conn)
{
	struct rxd_poller *poller = rxd_conn_poller(conn);
	struct rxd_item *item;
	struct list done;
	struct eng_pkt *pkt;

	list_init(&done);
	while (!list_empty(&conn->items)) {
		item = item_of(conn->items.next);
		if (item->start + item->len > conn->una)
			break;
		/* a chunk that is not full is kept for the next frame */
		if (item->pkt)
			list_add_tail(&item->pkt->node, &done);
		item_free(poller, item);
	}
	while ((pkt = list_pop_entry(&done, struct eng_pkt, node)))
		pkt->done(pkt, 0);
}

void rxd_stream_drop(struct rxd_conn *conn, int err)
{
	struct list gone;
	struct rxd_item *item;
	struct eng_pkt *pkt;

	/* what waits in chan.pending is the channel layer's */
	list_init(&gone);
	while (!list_empty(&conn->items)) {
		item = item_of(conn->items.next);
		if (item->pkt)
			list_add_tail(&item->pkt->node, &gone);
		item_free(rxd_conn_poller(conn), item);
	}
	while ((pkt = list_pop_entry(&gone, struct eng_pkt, node)))
		pkt->done(pkt, -err);
}

void rxd_stream_retransmit(struct rxd_conn *conn, uint64_t lo, uint64_t hi)
{
	const struct rxd_span *span;
	uint64_t end;

	if (lo < conn->una)
		lo = conn->una;
	while (lo < hi) {
		span = rxd_ranges_at(&conn->acked, lo);
		end = span && span->lo < hi ? span->lo : hi;
		if (lo < end)
			rxd_ranges_cover(&conn->retransmit, lo, end);
		lo = end < hi ? span->hi : hi;
	}
}

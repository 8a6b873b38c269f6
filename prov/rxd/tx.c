/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Sending.  A small frame is copied to the end of the stream and is then done with;
 * a large one lies with the engine until all of it is acknowledged.  Datagrams are cut
 * from the stream as the path, the peer's limit and the congestion window allow, what
 * was lost first.
 */
#include <assert.h>
#include <rdma/fi_errno.h>
#include <string.h>

#include "base/iov.h"
#include "rxd.h"

#define GATHER_MAX 1024			/* payloads up to this go out as one piece with their head */
#define PIECES_MAX 8			/* that are gathered */
#define PEER_DELAY_NS (RXD_ACK_DELAY_NS + RXD_RTT_GRAIN_NS)
#define ASK_AFTER 2			/* silent timeouts after which we ask who is there */
#define IDLE_TRIPS 4			/* round trips without a packet: the window is old news */

static size_t frame_size(const struct eng_pkt *pkt)
{
	return RXD_FRAME_SIZE + pkt->hdr_len + pkt->len;
}

/* ---- the stream -------------------------------------------------------------- */

static struct rxd_item *item_of(struct list *node)
{
	return container_of(node, struct rxd_item, node);
}

static void item_free(struct rxd_poller *poller, struct rxd_item *item)
{
	list_del(&item->node);
	pool_put(item->pkt ? &poller->items : &poller->chunks, item);
}

static void append(struct rxd_conn *conn, struct rxd_item *item, struct eng_pkt *pkt, size_t len)
{
	item->start = conn->end;
	item->len = len;
	item->pkt = pkt;
	conn->end += len;
	list_add_tail(&item->node, &conn->items);
}

/* room_for - @size bytes at the end of the stream, in memory of ours; or NULL. */
static uint8_t *room_for(struct rxd_conn *conn, size_t size)
{
	struct rxd_item *item = NULL;

	if (!list_empty(&conn->items))
		item = item_of(conn->items.prev);
	if (!item || item->pkt || RXD_CHUNK - item->len < size) {
		item = pool_get(&conn->link->poller->chunks);
		if (!item)
			return NULL;
		append(conn, item, NULL, 0);
	}
	item->len += size;
	conn->end += size;
	return item->data + item->len - size;
}

/* May a copy of so many bytes leave before long?  Else it waits where it lies. */
static bool may_copy(const struct rxd_conn *conn, size_t size)
{
	return size <= RXD_COPY_MAX && list_empty(&conn->pending) &&
	       conn->end + size <= conn->limit &&
	       conn->loss.out_bytes + (conn->end - conn->nxt) + size <= conn->cc.window;
}

static bool copy_frame(struct rxd_conn *conn, const struct eng_pkt *pkt, size_t size)
{
	size_t head = RXD_FRAME_SIZE + pkt->hdr_len;
	uint8_t *to = room_for(conn, size);

	if (!to)
		return false;
	memcpy(to, &pkt->link_priv, head);
	if (pkt->len)
		iov_gather(pkt->iov, pkt->iov_cnt, 0, to + head, pkt->len);
	return true;
}

/* The end of the stream comes behind all packets. */
static bool put_end(struct rxd_conn *conn)
{
	uint8_t *end = room_for(conn, RXD_FRAME_SIZE);

	if (!end)
		return false;
	conn->shut = true;
	memset(end, 0, RXD_FRAME_SIZE);
	return true;
}

/* Give packets that wait a place in the stream, a little ahead of what leaves.
 * Returns false when memory is short.
 */
static bool fill(struct rxd_conn *conn)
{
	struct rxd_item *item;
	struct eng_pkt *pkt;

	while (!list_empty(&conn->pending) && conn->end - conn->nxt < conn->mtu.now) {
		pkt = container_of(conn->pending.next, struct eng_pkt, node);
		item = pool_get(&conn->link->poller->items);
		if (!item)
			return false;
		list_del(&pkt->node);
		append(conn, item, pkt, frame_size(pkt));
	}
	return !conn->want_shut || conn->shut || !list_empty(&conn->pending) || put_end(conn);
}

/* Where byte @off of the stream is.  New bytes are near the end, old ones near the front. */
static struct rxd_item *find(struct rxd_conn *conn, uint64_t off)
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

/* slice - bytes from @off on, as many of @len as fit into @room pieces. */
static size_t slice(struct rxd_conn *conn, uint64_t off, size_t len, struct iovec *iov,
		    size_t room)
{
	struct rxd_item *item = find(conn, off);
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

/* ---- one datagram ---------------------------------------------------------------- */

static void sent(struct rxd_conn *conn, const struct rxd_sent *sent)
{
	uint64_t now = sent->sent_ns;

	rxd_loss_on_sent(&conn->loss, sent);
	if (!conn->owed_ns)
		conn->owed_ns = now;
	if (!sent->pad)
		rxd_cc_paced(&conn->cc, now, sent->size, conn->rtt.smooth);
}

/* An acknowledgement goes along with whatever leaves. */
static size_t begin(struct rxd_conn *conn, uint8_t *head, uint8_t flags, uint64_t pn, uint64_t now)
{
	size_t at = sizeof(struct rxd_hdr), end = at;

	if (conn->ack_cnt || conn->ack_now)
		end = rxd_rx_put_ack(conn, head, at, now);
	if (end > at)
		flags |= RXD_F_ACK;
	if (rxd_conf.checksum)
		flags |= RXD_F_SUM;
	rxd_put_hdr(head, RXD_DATA, flags, conn->peer_cid, pn);
	return end;
}

static void acknowledged(struct rxd_conn *conn)
{
	conn->ack_cnt = 0;
	conn->ack_now = false;
}

static int transmit(struct rxd_conn *conn, struct iovec *iov, size_t cnt)
{
	size_t sum = rxd_conf.checksum ? cnt : 1;
	int ret;

	rxd_seal(iov[0].iov_base, iov[0].iov_len, iov + 1, sum - 1);
	ret = rxd_dg_send(conn->link->dg, conn->to, iov, cnt);
	return ret == -FI_EAGAIN || ret == -FI_EMSGSIZE ? ret : 0;	/* else: lost, as may happen */
}

static void too_long(struct rxd_conn *conn, size_t size)
{
	if (rxd_mtu_refused(&conn->mtu, (uint32_t) size))
		rxd_cc_set_seg(&conn->cc, conn->mtu.now);
}

/* The parts of [lo, hi) that have not arrived by another packet must go again. */
static void send_again(struct rxd_conn *conn, uint64_t lo, uint64_t hi)
{
	const struct rxd_span *span;
	uint64_t end;
	int ret = 0;

	if (lo < conn->una)
		lo = conn->una;
	while (lo < hi && !ret) {
		span = rxd_ranges_at(&conn->acked, lo);
		end = span && span->lo < hi ? span->lo : hi;
		if (lo < end)
			ret = rxd_ranges_add(&conn->lost, lo, end);
		lo = end < hi ? span->hi : hi;
	}
	if (ret)
		rxd_conn_fail(conn, FI_ENOMEM, false);
}

/* What was put into the burst leaves; what cannot is to be sent again.
 * Errors: -FI_EAGAIN, -FI_EMSGSIZE.
 */
static int flush(struct rxd_conn *conn)
{
	uint64_t pn = conn->burst_pn, end = conn->loss.next;
	const struct rxd_sent *note;
	unsigned left;
	size_t size = 0;
	int ret = rxd_dg_flush(conn->link->dg, &left);

	conn->burst_pn = end;
	if (__builtin_expect(!ret, 1))
		return 0;
	for (pn += left; pn < end; pn++) {
		note = rxd_loss_unsent(&conn->loss, pn);
		if (!note)
			continue;
		size = size ? size : note->size;
		send_again(conn, note->off, note->off + note->len);
	}
	conn->ack_now = conn->pns.cnt != 0;	/* it may have been in one of them */
	if (ret == -FI_EMSGSIZE && size)
		too_long(conn, size);
	return ret;
}

/* emit - @len bytes of the stream from @off on go into the burst; *len_p: how many
 * there was room for.   Returns true when it must be flushed before the next.
 */
static bool emit(struct rxd_conn *conn, uint64_t off, size_t len, uint8_t flags, bool limited,
		 uint64_t now, size_t *len_p)
{
	struct rxd_dg *dg = conn->link->dg;
	uint8_t *head = rxd_dg_head(dg);
	struct iovec iov[PIECES_MAX + 1];
	size_t at, cnt, pieces = dg->iov_max - 1;
	struct rxd_sent note;

	at = begin(conn, head, RXD_F_PN | flags, conn->loss.next, now);
	at = rxd_put_u64(head, at, off);
	if (len > conn->mtu.now - at)
		len = conn->mtu.now - at;
	cnt = slice(conn, off, len, iov + 1, len <= GATHER_MAX ? PIECES_MAX : pieces);
	len = iov_total(iov + 1, cnt);
	iov[0] = (struct iovec) { head, at };
	note = (struct rxd_sent) { .off = off, .len = (uint32_t) len, .sent_ns = now,
				   .size = (uint32_t) (at + len), .limited = limited };
	if (len <= GATHER_MAX) {
		iov_gather(iov + 1, cnt, 0, head + at, len);
		iov[0].iov_len = at + len;
		cnt = 0;
		at = rxd_conf.checksum ? at + len : at;
	}
	rxd_seal(head, at, iov + 1, rxd_conf.checksum ? cnt : 0);
	acknowledged(conn);
	sent(conn, &note);
	*len_p = len;
	return rxd_dg_add(dg, conn->to, iov, cnt + 1);
}

/* pad - a numbered packet of @size without bytes of the stream. */
static int pad(struct rxd_conn *conn, size_t size, uint64_t now)
{
	static const uint8_t nothing[65536];
	uint8_t head[RXD_HEAD_MAX];
	struct iovec iov[2] = { { head, 0 }, { (void *) nothing, 0 } };
	struct rxd_sent note = { .off = conn->nxt, .sent_ns = now, .pad = true };
	int ret;

	if (rxd_loss_room(&conn->loss))
		return -FI_EAGAIN;
	iov[0].iov_len = begin(conn, head, RXD_F_PN | RXD_F_PAD | RXD_F_NOW, conn->loss.next, now);
	if (size > iov[0].iov_len)
		iov[1].iov_len = size - iov[0].iov_len;
	note.size = (uint32_t) (iov[0].iov_len + iov[1].iov_len);
	ret = transmit(conn, iov, iov[1].iov_len ? 2 : 1);
	if (ret == -FI_EMSGSIZE)
		too_long(conn, note.size);
	if (ret)
		return ret;
	acknowledged(conn);
	sent(conn, &note);
	if (size)
		rxd_mtu_sent(&conn->mtu, (uint32_t) size);
	return 0;
}

static void only_ack(struct rxd_conn *conn, uint64_t now)
{
	uint8_t head[RXD_HEAD_MAX];
	struct iovec iov = { head, begin(conn, head, 0, 0, now) };

	if (iov.iov_len == sizeof(struct rxd_hdr)) {
		acknowledged(conn);	/* nothing has arrived that could be acknowledged */
		return;
	}
	if (transmit(conn, &iov, 1) != -FI_EAGAIN)
		acknowledged(conn);
}

/* ---- what may leave ----------------------------------------------------------------- */

/* What comes next: a lost range, or new bytes.
 * Errors: -FI_ENODATA nothing; -FI_ENOMEM there might be something.
 */
static int next_range(struct rxd_conn *conn, uint64_t *off_p, size_t *len_p)
{
	size_t most = conn->mtu.now - sizeof(struct rxd_hdr) - sizeof(uint64_t);
	uint64_t left;
	bool filled;

	if (conn->lost.cnt) {
		*off_p = conn->lost.span[0].lo;
		left = conn->lost.span[0].hi - *off_p;
		*len_p = left < most ? (size_t) left : most;
		return 0;
	}
	filled = fill(conn);
	left = conn->end - conn->nxt;
	if (!left)
		return filled ? -FI_ENODATA : -FI_ENOMEM;
	*off_p = conn->nxt;
	*len_p = left < most ? (size_t) left : most;
	if (conn->nxt + *len_p <= conn->limit)
		return 0;
	/* the peer does not take so much: wait until it does, unless nobody would say so */
	if (conn->loss.out_cnt || conn->limit <= conn->nxt)
		return -FI_ENODATA;
	*len_p = (size_t) (conn->limit - conn->nxt);
	return 0;
}

static bool in_window(const struct rxd_conn *conn, size_t size)
{
	return !conn->loss.out_bytes || conn->loss.out_bytes + size <= conn->cc.window;
}

/* Should the peer acknowledge this one at once?  Yes if we wait for it. */
static bool is_last(const struct rxd_conn *conn, uint64_t off, size_t len)
{
	if (!in_window(conn, 3 * len) || off + 2 * len > conn->limit)
		return true;
	return off + len == conn->end && list_empty(&conn->pending) && !conn->lost.cnt &&
	       item_of(conn->items.prev)->pkt;
}

static bool used(struct rxd_conn *conn, uint64_t off, size_t len)
{
	if (off == conn->nxt) {
		conn->nxt += len;
		return true;
	}
	return !rxd_ranges_sub(&conn->lost, off, off + len);
}

/* Returns 1 when the burst is full, 0 when it has room. */
static int push_one(struct rxd_conn *conn, uint64_t now, size_t *len_p)
{
	uint64_t off;
	size_t len;
	bool full;
	int ret = next_range(conn, &off, &len);

	if (ret)
		return ret;
	if (!in_window(conn, len) || rxd_cc_pace(&conn->cc, now, conn->rtt.smooth) > now)
		return -FI_ENOBUFS;
	if (rxd_loss_room(&conn->loss))
		return -FI_ENOMEM;
	full = emit(conn, off, len, is_last(conn, off, len) ? RXD_F_NOW : 0,
		    conn->loss.out_bytes + 2 * (uint64_t) conn->mtu.now >= conn->cc.window / 2, now,
		    len_p);
	if (!used(conn, off, *len_p))
		rxd_conn_fail(conn, FI_ENOMEM, false);
	return full;
}

/* Bursts until nothing more may leave, or the quantum is used up.
 * Errors: -FI_EAGAIN: no room in the system; -FI_ENOMEM; others: nothing to do.
 */
static int push_bursts(struct rxd_conn *conn, uint64_t now)
{
	size_t total = 0, len;
	uint32_t mtu;
	int ret = 0, sent;

	while (ret >= 0 && conn->state == RXD_READY && total < RXD_QUANTUM) {
		ret = 0;
		conn->burst_pn = conn->loss.next;
		while (!ret && conn->state == RXD_READY && total < RXD_QUANTUM) {
			len = 0;
			ret = push_one(conn, now, &len);
			total += len;
		}
		mtu = conn->mtu.now;
		sent = flush(conn);
		if (sent == -FI_EMSGSIZE && conn->mtu.now == mtu)
			rxd_conn_fail(conn, FI_EMSGSIZE, false);
		if (sent)
			ret = sent == -FI_EMSGSIZE ? 0 : sent;
	}
	return ret < 0 ? ret : 0;
}

bool rxd_tx_push(struct rxd_conn *conn, uint64_t now)
{
	uint32_t probe;
	int ret;

	if (!conn->loss.out_cnt && conn->loss.last_ns &&
	    now - conn->loss.last_ns > IDLE_TRIPS * rxd_rtt_probe_after(&conn->rtt, PEER_DELAY_NS))
		rxd_cc_on_idle(&conn->cc);
	ret = push_bursts(conn, now);
	if (conn->state != RXD_READY)
		return false;
	conn->later_ns = ret == -FI_ENOMEM ? now + RXD_RETRY_NS : 0;
	if (ret != -FI_EAGAIN) {
		probe = rxd_mtu_wanted(&conn->mtu, now);
		while (probe && conn->confirmed && pad(conn, probe, now) == -FI_EMSGSIZE)
			probe = rxd_mtu_wanted(&conn->mtu, now);
		if (rxd_rx_ack_due(conn, now))
			only_ack(conn, now);
	}
	return !ret || ret == -FI_EAGAIN;
}

bool rxd_tx_idle(const struct rxd_conn *conn)
{
	return conn->una == conn->end && list_empty(&conn->pending);
}

/* ---- the link's send ------------------------------------------------------------------- */

/* in_burst - will something else be sent before this has to leave?  Yes in the
 * middle of a poll, or if the caller says so, or if the application, which polls
 * by itself, has sent on this connection since its last poll.
 */
static bool in_burst(const struct rxd_conn *conn, const struct eng_pkt *pkt)
{
	const struct rxd_poller *poller = conn->link->poller;

	return poller->polling || pkt->flags & ENG_PKT_MORE ||
	       (conn->burst_seq == poller->seq && poller->app_active);
}

int rxd_tx_send(struct rxd_conn *conn, struct eng_pkt *pkt)
{
	size_t size = frame_size(pkt);
	bool wait = in_burst(conn, pkt);
	int ret = 0;

	if (conn->shut)
		return -FI_ENOTCONN;
	conn->burst_seq = conn->link->poller->seq;
	pkt->link_priv = rxd_frame(pkt->hdr_len, pkt->len);
	if (may_copy(conn, size) && copy_frame(conn, pkt, size))
		ret = 1;
	else
		list_add_tail(&pkt->node, &conn->pending);
	/* a burst that fills a datagram need not wait for more */
	if (wait && conn->end - conn->nxt < conn->mtu.now) {
		rxd_conn_touch(conn);
		return ret;
	}
	if (rxd_tx_push(conn, rxd_dg_now()))
		rxd_conn_touch(conn);
	rxd_conn_rearm(conn, conn->loss.last_ns);
	return ret;
}

void rxd_tx_queue(struct rxd_conn *conn, struct eng_pkt *pkt)
{
	pkt->link_priv = rxd_frame(pkt->hdr_len, pkt->len);
	list_add_tail(&pkt->node, &conn->pending);
}

void rxd_tx_shut(struct rxd_conn *conn)
{
	if (conn->shut || conn->state != RXD_READY)
		return;
	conn->want_shut = true;
	if (list_empty(&conn->pending))
		put_end(conn);
	rxd_conn_touch(conn);
}

/* ---- acknowledgements ---------------------------------------------------------------- */

/* An acknowledgement being looked at. */
struct acking {
	struct rxd_conn *conn;
	uint64_t now;
	bool any;
};

static void in_place(struct rxd_conn *conn, uint64_t lo, uint64_t hi)
{
	if (hi <= conn->una)
		return;
	if (lo > conn->una) {
		if (rxd_ranges_add(&conn->acked, lo, hi))
			rxd_conn_fail(conn, FI_ENOMEM, false);
	} else {
		conn->una = hi;
		rxd_ranges_cut(&conn->acked, hi);
		if (conn->acked.cnt && conn->acked.span[0].lo == hi) {
			conn->una = conn->acked.span[0].hi;
			rxd_ranges_cut(&conn->acked, conn->una);
		}
	}
	if (conn->lost.cnt) {
		rxd_ranges_sub(&conn->lost, lo, hi);
		rxd_ranges_cut(&conn->lost, conn->una);
	}
}

static void on_acked(void *arg, const struct rxd_sent *sent, uint64_t pn)
{
	struct acking *a = arg;
	struct rxd_conn *conn = a->conn;

	a->any = true;
	if (sent->pad) {
		if (rxd_mtu_passed(&conn->mtu, sent->size))
			rxd_cc_set_seg(&conn->cc, conn->mtu.now);
		return;
	}
	if (sent->size > conn->mtu.base)
		rxd_mtu_heard(&conn->mtu);
	rxd_cc_on_ack(&conn->cc, a->now, sent->sent_ns, sent->size, conn->rtt.smooth,
		      sent->limited);
	in_place(conn, sent->off, sent->off + sent->len);
}

static void on_lost(void *arg, const struct rxd_sent *sent, uint64_t pn)
{
	struct acking *a = arg;
	struct rxd_conn *conn = a->conn;

	if (sent->pad) {
		rxd_mtu_lost(&conn->mtu, sent->size);
		return;
	}
	rxd_cc_on_loss(&conn->cc, a->now, sent->sent_ns, &conn->rtt);
	send_again(conn, sent->off, sent->off + sent->len);
}

static void on_spurious(void *arg, const struct rxd_sent *sent, uint64_t pn)
{
	struct acking *a = arg;

	if (sent->pad) {
		on_acked(arg, sent, pn);
		return;
	}
	rxd_cc_on_spurious(&a->conn->cc, sent->sent_ns);
	in_place(a->conn, sent->off, sent->off + sent->len);
}

static const struct rxd_loss_ops loss_ops = {
	.acked = on_acked,
	.lost = on_lost,
	.spurious = on_spurious,
};

/* Give back what the peer has.  done() may send more on this connection. */
static void release(struct rxd_conn *conn)
{
	struct rxd_poller *poller = conn->link->poller;
	struct rxd_item *item;
	struct list done, *node;
	struct eng_pkt *pkt;

	list_init(&done);
	while (!list_empty(&conn->items)) {
		item = item_of(conn->items.next);
		if (item->start + item->len > conn->una)
			break;
		/* a chunk may still grow */
		if (item->pkt)
			list_add_tail(&item->pkt->node, &done);
		item_free(poller, item);
	}
	while ((node = list_pop(&done))) {
		pkt = container_of(node, struct eng_pkt, node);
		pkt->done(pkt, 0);
	}
}

static void sample(struct rxd_conn *conn, const struct rxd_pkt *pkt, uint64_t now)
{
	uint64_t sent_ns = rxd_loss_sent_ns(&conn->loss, pkt->ack.largest);
	uint64_t delay = (uint64_t) pkt->ack.delay_us * 1000;

	if (sent_ns && now > sent_ns)
		rxd_rtt_sample(&conn->rtt, now - sent_ns,
			       delay < PEER_DELAY_NS ? delay : PEER_DELAY_NS);
}

static bool ack_all(struct rxd_conn *conn, const struct rxd_pkt *pkt, struct acking *a)
{
	uint64_t hi = pkt->ack.largest + 1, lo = hi - 1 - pkt->ack.first;
	struct rxd_range range;
	unsigned i;

	if (!rxd_loss_on_ack(&conn->loss, lo, hi, &loss_ops, a))
		return false;
	for (i = 0; i < pkt->ack.cnt; i++) {
		range = rxd_pkt_range(pkt, i);
		hi = lo - range.gap;
		lo = hi - range.len;
		rxd_loss_on_ack(&conn->loss, lo, hi, &loss_ops, a);
	}
	return true;
}

void rxd_tx_on_ack(struct rxd_conn *conn, const struct rxd_pkt *pkt, uint64_t now)
{
	struct acking a = { .conn = conn, .now = now };

	if (pkt->ack.limit > conn->limit)
		conn->limit = pkt->ack.limit;
	sample(conn, pkt, now);
	if (!ack_all(conn, pkt, &a))
		return;		/* of what was never sent: a lie, or another life */
	rxd_loss_detect(&conn->loss, now, &conn->rtt, &loss_ops, &a);
	if (a.any)
		conn->loss.probes = 0;
	conn->owed_ns = conn->loss.out_cnt ? now : 0;
	if (conn->state == RXD_READY)
		release(conn);
	if (conn->state == RXD_READY && (conn->lost.cnt || conn->nxt != conn->end ||
					 !list_empty(&conn->pending) ||
					 rxd_mtu_wanted(&conn->mtu, now)))
		rxd_conn_touch(conn);
}

/* ---- timeouts ------------------------------------------------------------------------- */

/* The peer's limit holds us back, and nothing is out that it would answer. */
static bool is_stuck(const struct rxd_conn *conn)
{
	return !conn->loss.out_cnt && !conn->lost.cnt && conn->nxt >= conn->limit &&
	       (conn->nxt != conn->end || !list_empty(&conn->pending));
}

uint64_t rxd_tx_due(struct rxd_conn *conn, uint64_t now)
{
	uint64_t due = UINT64_MAX, when;
	bool probe;

	when = rxd_loss_due(&conn->loss, &conn->rtt, PEER_DELAY_NS, &probe);
	if (when)
		due = when;
	if (is_stuck(conn))
		due = conn->loss.last_ns + rxd_loss_wait(&conn->loss, &conn->rtt, PEER_DELAY_NS);
	if (conn->lost.cnt || conn->nxt != conn->end) {
		when = rxd_cc_pace(&conn->cc, now, conn->rtt.smooth);
		if (when > now && when < due)
			due = when;
	}
	return due;
}

void rxd_tx_ping(struct rxd_conn *conn, uint64_t now)
{
	pad(conn, 0, now);
}

/* One packet past all windows, so that the peer answers: the oldest bytes again. */
static void probe(struct rxd_conn *conn, uint64_t now)
{
	const struct rxd_span *span = rxd_ranges_at(&conn->acked, conn->una);
	uint64_t end = span ? span->lo : conn->nxt;
	size_t len;

	conn->burst_pn = conn->loss.next;
	if (conn->una != conn->nxt && !rxd_loss_room(&conn->loss)) {
		emit(conn, conn->una, (size_t) (end - conn->una), RXD_F_NOW, false, now, &len);
		if (!flush(conn))
			return;
	}
	rxd_tx_ping(conn, now);
}

static void on_silence(struct rxd_conn *conn, uint64_t now)
{
	struct acking a = { .conn = conn, .now = now };

	conn->loss.probes++;
	/* not the oldest: of a short one the answer may be what was lost */
	if (rxd_mtu_silence(&conn->mtu, rxd_loss_longest(&conn->loss))) {
		rxd_cc_set_seg(&conn->cc, conn->mtu.now);
		rxd_loss_give_up(&conn->loss, &loss_ops, &a);
	}
	if (conn->loss.probes == 3)
		rxd_cc_on_silence(&conn->cc, now);
	if (conn->state != RXD_READY)
		return;
	probe(conn, now);
	if (conn->loss.probes >= ASK_AFTER)
		rxd_call_probe(conn, now);
}

void rxd_tx_timeout(struct rxd_conn *conn, uint64_t now)
{
	struct acking a = { .conn = conn, .now = now };
	bool silent;
	uint64_t due = rxd_loss_due(&conn->loss, &conn->rtt, PEER_DELAY_NS, &silent);

	if (is_stuck(conn)) {
		if (rxd_tx_due(conn, now) <= now)
			on_silence(conn, now);
	} else if (due && due <= now) {
		if (silent)
			on_silence(conn, now);
		else
			rxd_loss_detect(&conn->loss, now, &conn->rtt, &loss_ops, &a);
		/* what was lost measured the path, and nobody will answer it any more */
		if (!conn->loss.out_cnt && rxd_tx_idle(conn))
			conn->owed_ns = 0;
	}
	if (conn->state == RXD_READY)
		rxd_conn_touch(conn);
}

/* ---- the end --------------------------------------------------------------------------- */

void rxd_tx_drop(struct rxd_conn *conn, int err)
{
	struct list gone, *node;
	struct rxd_item *item;
	struct eng_pkt *pkt;

	/* done() may send again: that finds an empty queue */
	list_init(&gone);
	while (!list_empty(&conn->items)) {
		item = item_of(conn->items.next);
		if (item->pkt)
			list_add_tail(&item->pkt->node, &gone);
		item_free(conn->link->poller, item);
	}
	list_splice_tail(&conn->pending, &gone);
	rxd_ranges_fini(&conn->acked);
	rxd_ranges_fini(&conn->lost);
	rxd_loss_fini(&conn->loss);
	while ((node = list_pop(&gone))) {
		pkt = container_of(node, struct eng_pkt, node);
		pkt->done(pkt, -err);
	}
}

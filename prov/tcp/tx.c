/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Sending.  A small packet is copied behind its frame header into a staging
 * buffer; alone, it is sent from there at once, in a burst it waits for the
 * others.  A large one is sent from where it lies, together with what is
 * staged.  What the socket does not take stays in the channel's queue, and from
 * then on everything queues, so that nothing overtakes.
 *
 * A packet that lanes share leaves in parts, one over each, at the same time; the next
 * one follows when all have left.
 */
#include <assert.h>
#include <errno.h>
#include <rdma/fi_errno.h>
#include <string.h>
#include <sys/socket.h>

#include "base/iov.h"
#include "frame.h"
#include "io.h"
#include "link.h"

#define BATCH_MAX 64		/* entries in one gathering send */
#define STALE_NS (10 * CLOCK_NS_PER_MS)	/* without a poll for so long, a peer may have gone */

/* The frame header is written right before the engine's: one entry for both. */
_Static_assert(offsetof(struct eng_pkt, hdr) ==
	       offsetof(struct eng_pkt, link_priv) + TCP_FRAME_SIZE, "frame header precedes hdr");

static bool is_shared(const struct eng_pkt *pkt)
{
	return __builtin_expect(le64toh(pkt->link_priv) & TCP_FRAME_SHARED, 0);
}

/* frame_size - of what leaves over @conn, the first lane. */
static size_t frame_size(const struct tcp_conn *conn, const struct eng_pkt *pkt)
{
	size_t len = pkt->len;

	if (is_shared(pkt))
		len = tcp_frame_part(len, conn->lanes->cnt, 1);
	return TCP_FRAME_SIZE + pkt->hdr_len + len;
}

static size_t staged(const struct tcp_tx *tx)
{
	return tx->stage_end - tx->stage_pos;
}

/* set_blocked - while the socket is full we are told when it no longer is. */
static void set_blocked(struct tcp_conn *conn, bool blocked)
{
	if (conn->tx.blocked == blocked)
		return;
	conn->tx.blocked = blocked;
	conn->poller->blocked += blocked ? 1 : -1u;
	tcp_conn_watch(conn);
}

static void stage_release(struct tcp_conn *conn)
{
	pool_put(&conn->poller->stages, conn->tx.stage);
	conn->tx.stage = NULL;
	conn->tx.stage_pos = 0;
	conn->tx.stage_end = 0;
}

static void staged_sent(struct tcp_conn *conn, size_t len)
{
	conn->tx.stage_pos += len;
	if (conn->tx.stage && conn->tx.stage_pos == conn->tx.stage_end)
		stage_release(conn);
}

/* send_result - 0 for "full", and the end of the connection for real errors. */
static ssize_t send_result(struct tcp_conn *conn, ssize_t ret)
{
	if (ret >= 0) {
		tcp_guard_sent(conn);
		return ret;
	}
	if (errno == EAGAIN || errno == EINTR)
		return 0;
	ret = -errno;
	tcp_conn_fail(conn, errno, false);
	return ret;
}

static ssize_t send_iov(struct tcp_conn *conn, struct iovec *iov, size_t cnt)
{
	return send_result(conn, tcp_io_sendv(conn->src.fd, iov, cnt));
}

static void shut_if_done(struct tcp_conn *conn)
{
	if (conn->tx.shut && tcp_tx_idle(conn))
		shutdown(conn->src.fd, SHUT_WR);
}

void tcp_tx_flush(struct tcp_conn *conn)
{
	struct tcp_tx *tx = &conn->tx;
	ssize_t ret;

	list_del(&tx->dirty_node);
	if (tx->blocked || conn->state != TCP_CONN_READY)
		return;
	if (!tx->stage) {
		shut_if_done(conn);
		return;
	}
	ret = send_result(conn, tcp_io_send(conn->src.fd, tx->stage + tx->stage_pos, staged(tx)));
	if (ret < 0)
		return;
	staged_sent(conn, (size_t) ret);
	if (tx->stage)
		set_blocked(conn, true);
	else
		shut_if_done(conn);
}

/* copy_pkt - frame header, engine's header and payload in one piece. */
static void copy_pkt(uint8_t *out, const struct eng_pkt *pkt)
{
	size_t head = TCP_FRAME_SIZE + pkt->hdr_len;

	memcpy(out, &pkt->link_priv, head);
	if (pkt->iov_cnt == 1)
		memcpy(out + head, pkt->iov[0].iov_base, pkt->len);
	else
		iov_gather(pkt->iov, pkt->iov_cnt, 0, out + head, pkt->len);
}

/* in_burst - will something else be sent before this has to leave?  Yes in the
 * middle of a poll, or if the caller says so, or if the application, which polls
 * by itself, has sent on this connection since its last poll.
 */
static bool in_burst(const struct tcp_conn *conn, uint32_t pkt_flags)
{
	const struct tcp_poller *poller = conn->poller;

	if (!poller->conf->stage_size)
		return false;
	return poller->base.polling || pkt_flags & ENG_PKT_MORE ||
	       (conn->tx.seq == poller->base.seq && poller->base.app_active);
}

/* keep_staged - @conn has something to send, by the end of this or the next poll. */
static void keep_staged(struct tcp_conn *conn)
{
	if (conn->tx.blocked || !list_empty(&conn->tx.dirty_node))
		return;		/* EPOLLOUT takes it along */
	list_add_tail(&conn->tx.dirty_node, &conn->poller->base.dirty);
	if (!conn->poller->base.polling)
		obj_prog_staged(conn->poller->base.base.prog);
}

static size_t gather_stage(const struct tcp_tx *tx, struct iovec *iov, size_t *total_p)
{
	if (!tx->stage)
		return 0;
	*iov = (struct iovec) { tx->stage + tx->stage_pos, staged(tx) };
	*total_p += staged(tx);
	return 1;
}

/* gather_pkt - what has not left of @pkt, as far as it goes over this connection. */
static size_t gather_pkt(const struct tcp_conn *conn, const struct eng_pkt *pkt,
			 struct iovec *iov, size_t *total_p)
{
	size_t head = TCP_FRAME_SIZE + pkt->hdr_len, cnt = 0, skip = pkt->sent, left;

	left = frame_size(conn, pkt) - skip;
	*total_p += left;
	if (skip < head) {
		iov[cnt++] = (struct iovec) { (char *) &pkt->link_priv + skip, head - skip };
		left -= head - skip;
		skip = head;
	}
	return cnt + iov_slice(pkt->iov, pkt->iov_cnt, skip - head, left, iov + cnt);
}

static size_t consume_stage(struct tcp_conn *conn, size_t len)
{
	size_t part = conn->tx.stage ? staged(&conn->tx) : 0;

	if (part > len)
		part = len;
	if (part)
		staged_sent(conn, part);
	return part;
}

/* stage_room - room for @size bytes behind what is staged, or NULL just now. */
static uint8_t *stage_room(struct tcp_conn *conn, size_t size)
{
	struct tcp_tx *tx = &conn->tx;
	size_t room = TCP_STAGE_SIZE(conn->poller->conf);

	if (tx->stage && room - tx->stage_end < size && !tx->blocked)
		tcp_tx_flush(conn);
	if (!tx->stage)
		tx->stage = pool_get(&conn->poller->stages);
	return tx->stage && room - tx->stage_end >= size ? tx->stage + tx->stage_end : NULL;
}

/* small_room - where a packet of @size bytes, a small one, is put together for
 * small_send(), which follows at once; NULL when there is no room just now.
 */
static inline uint8_t *small_room(struct tcp_conn *conn, size_t size, bool burst)
{
	struct tcp_poller *poller = conn->poller;

	if (burst || conn->tx.stage || conn->tx.blocked)
		return stage_room(conn, size);
	if (__builtin_expect(!poller->lone, 0))
		poller->lone = pool_get(&poller->stages);
	return poller->lone;
}

/* send_lone - the packet that stands alone.  What the socket does not take is staged
 * where it is.
 */
static inline int send_lone(struct tcp_conn *conn, size_t size)
{
	struct tcp_poller *poller = conn->poller;
	ssize_t ret;

	ret = send_result(conn, tcp_io_send(conn->src.fd, poller->lone, size));
	if (__builtin_expect(ret < 0, 0))
		return (int) ret;
	if (__builtin_expect((size_t) ret < size, 0)) {
		conn->tx.stage = poller->lone;
		conn->tx.stage_pos = (size_t) ret;
		conn->tx.stage_end = size;
		poller->lone = NULL;
		set_blocked(conn, true);
	}
	return 1;
}

/* small_send - what stands in small_room() leaves, now or with the rest of a burst.
 * Returns 1, or the error that ends the connection.
 */
static inline int small_send(struct tcp_conn *conn, size_t size, bool burst)
{
	struct tcp_tx *tx = &conn->tx;

	tx->seq = conn->poller->base.seq;
	if (!tx->stage)
		return send_lone(conn, size);
	tx->stage_end += size;
	keep_staged(conn);
	if (!burst)
		tcp_tx_flush(conn);
	return conn->state == TCP_CONN_READY ? 1 : -conn->err;
}

/* send_large - from where it lies, behind what is staged.  Returns how much of the
 * packet itself has left.
 */
static ssize_t send_large(struct tcp_conn *conn, struct eng_pkt *pkt)
{
	struct iovec iov[ENG_IOV_MAX + 2];
	size_t cnt, total = 0;
	ssize_t ret;

	cnt = gather_stage(&conn->tx, iov, &total);
	cnt += gather_pkt(conn, pkt, iov + cnt, &total);
	ret = send_iov(conn, iov, cnt);
	if (ret < 0)
		return ret;
	return ret - (ssize_t) consume_stage(conn, (size_t) ret);
}

/* was_polled - then we would know it if the peer had hung up. */
static inline bool was_polled(const struct tcp_conn *conn)
{
	const struct tcp_poller *poller = conn->poller;

	return conn->tx.seq == poller->base.seq || poller->base.polling ||
	       (conn->hot && clock_coarse_ns() - poller->polled_ns < STALE_NS);
}

/* found_dead - the first packet after a silence: has the peer hung up meanwhile,
 * without our having polled?  The system would take the packet and lose it.  What
 * the peer sent before is for the next poll to read, as is the end.
 */
static int found_dead(struct tcp_conn *conn)
{
	int ret;

	if (was_polled(conn) || !tcp_conn_ended(conn))
		return 0;
	ret = net_sock_error(conn->src.fd);
	if (ret)
		tcp_conn_fail(conn, -ret, false);
	return ret ? ret : -FI_EAGAIN;
}

/* try_now - as much as can be done at once: 1 for all, 0 for a part or nothing. */
static int try_now(struct tcp_conn *conn, struct eng_pkt *pkt)
{
	struct tcp_tx *tx = &conn->tx;
	size_t size = frame_size(conn, pkt);
	bool burst = in_burst(conn, pkt->flags);
	uint8_t *room = size <= TCP_SMALL_MAX ? small_room(conn, size, burst) : NULL;
	ssize_t ret;

	if (room) {
		copy_pkt(room, pkt);
		return small_send(conn, size, burst);
	}
	tx->seq = conn->poller->base.seq;
	if (conn->state != TCP_CONN_READY)
		return -conn->err;
	if (tx->blocked)
		return 0;
	ret = send_large(conn, pkt);
	if (ret < 0)
		return (int) ret;
	pkt->sent = (size_t) ret;
	return pkt->sent == size;
}

/* send_parts - over the lanes beyond the first, as much as they take of theirs.  True when
 * all has left.  One that is lost takes the first with it, at the end of the poll.
 */
static bool send_parts(struct tcp_lanes *lanes, const struct eng_pkt *pkt)
{
	struct iovec iov[ENG_IOV_MAX];
	struct tcp_conn *lane;
	size_t off, left;
	bool all = true;
	unsigned i;

	if (lanes->tx_pkt != pkt)
		memset(lanes->tx_sent, 0, sizeof(lanes->tx_sent));
	lanes->tx_pkt = pkt;
	for (i = 1; i < lanes->cnt; i++) {
		lane = lanes->conn[i];
		off = tcp_frame_part(pkt->len, lanes->cnt, i) + lanes->tx_sent[i];
		left = tcp_frame_part(pkt->len, lanes->cnt, i + 1) - off;
		if (left && lane && lane->state == TCP_CONN_READY) {
			ssize_t ret = send_iov(lane, iov, iov_slice(pkt->iov, pkt->iov_cnt, off,
								    left, iov));

			if (ret > 0) {
				lanes->tx_sent[i] += (size_t) ret;
				left -= (size_t) ret;
			}
			if (lane->state == TCP_CONN_READY)
				set_blocked(lane, left != 0);
		}
		all &= !left;
	}
	return all;
}

/* others_send - @conn has sent its part of a packet, and waits for the other lanes. */
static bool others_send(const struct tcp_conn *conn)
{
	const struct tcp_lanes *lanes = conn->lanes;

	return __builtin_expect(lanes && lanes->tx_pkt, 0) &&
	       lanes->tx_pkt->sent == frame_size(conn, lanes->tx_pkt);
}

/* try_shared - try_now() for a packet that the lanes share. */
static int try_shared(struct tcp_conn *conn, struct eng_pkt *pkt)
{
	int ret = try_now(conn, pkt);

	if (ret < 0 || !send_parts(conn->lanes, pkt) || !ret)
		return ret < 0 ? ret : 0;
	conn->lanes->tx_pkt = NULL;
	return 1;
}

/* may_share - messages as short as eager ones may have to be kept for long by the other
 * side, so that they would not profit.
 */
static bool may_share(struct tcp_conn *conn, const struct eng_pkt *pkt)
{
	if (pkt->len < TCP_SHARED_MIN || pkt->len <= conn->poller->conf->eager_size)
		return false;
	tcp_lane_call(conn);
	return tcp_lane_all(conn, TCP_CONN_READY);
}

int tcp_tx_send(struct tcp_conn *conn, struct eng_pkt *pkt)
{
	bool share;
	int ret = 0;

	if (__builtin_expect(conn->state != TCP_CONN_READY, 0))
		return -conn->err;
	ret = found_dead(conn);
	if (__builtin_expect(ret, 0))
		return ret;
	share = __builtin_expect(conn->lanes != NULL, 0) && may_share(conn, pkt);
	tcp_frame_put(&pkt->link_priv, pkt->hdr_len | (share ? TCP_FRAME_SHARED : 0), pkt->len);
	pkt->sent = 0;
	if (list_empty(&conn->chan->base.pending))
		ret = share ? try_shared(conn, pkt) : try_now(conn, pkt);
	if (__builtin_expect(ret, 1))
		return ret;
	list_add_tail(&pkt->node, &conn->chan->base.pending);
	if (!others_send(conn))
		set_blocked(conn, true);
	return 0;
}

void *tcp_tx_slot(void *chan_p, size_t len)
{
	struct tcp_chan *chan = chan_p;
	struct tcp_conn *conn = chan->base.conn;
	uint8_t *room;
	bool burst;

	if (__builtin_expect(chan->base.state != CHAN_READY || conn->state != TCP_CONN_READY ||
			     !list_empty(&chan->base.pending) || !was_polled(conn), 0))
		return NULL;
	burst = in_burst(conn, 0);
	conn->poller->burst = burst;
	room = small_room(conn, TCP_FRAME_SIZE + len, burst);
	return room && conn->state == TCP_CONN_READY ? room + TCP_FRAME_SIZE : NULL;
}

int tcp_tx_post(void *chan_p, size_t hdr_len, size_t len)
{
	struct tcp_conn *conn = ((struct chan *) chan_p)->conn;
	struct tcp_tx *tx = &conn->tx;

	tcp_frame_put(tx->stage ? tx->stage + tx->stage_end : conn->poller->lone, hdr_len, len);
	return small_send(conn, TCP_FRAME_SIZE + hdr_len + len, conn->poller->burst);
}

bool tcp_tx_word(struct tcp_conn *conn, enum tcp_wire_word word)
{
	struct tcp_tx *tx = &conn->tx;

	if (!tx->stage)
		tx->stage = pool_get(&conn->poller->stages);
	if (!tx->stage || TCP_STAGE_SIZE(conn->poller->conf) - tx->stage_end < TCP_FRAME_SIZE)
		return false;
	tcp_frame_put_word(tx->stage + tx->stage_end, word);
	tx->stage_end += TCP_FRAME_SIZE;
	tcp_tx_flush(conn);
	return true;
}

int tcp_tx_queue(struct tcp_chan *chan, struct eng_pkt *pkt)
{
	tcp_frame_put(&pkt->link_priv, pkt->hdr_len, pkt->len);
	return chan_queue(&chan->base, pkt);
}

/* in_packet - a part of the first packet that waits has left, so that whatever is
 * staged, a word, is to follow the rest.
 */
static bool in_packet(const struct tcp_conn *conn)
{
	const struct list *txq = &conn->chan->base.pending;

	return !list_empty(txq) && container_of(txq->next, struct eng_pkt, node)->sent;
}

/* gather - what one sendmsg may carry: staged bytes, then queued packets. */
static size_t gather(struct tcp_conn *conn, struct iovec *iov, size_t *total_p)
{
	bool stage_next = in_packet(conn);
	struct eng_pkt *pkt;
	struct list *pos;
	size_t cnt = 0;

	*total_p = 0;
	if (!stage_next)
		cnt = gather_stage(&conn->tx, iov, total_p);
	if (conn->chan->base.state != CHAN_READY)
		return cnt;	/* parking: what is queued is for after the answer */
	list_for_each(pos, &conn->chan->base.pending) {
		pkt = container_of(pos, struct eng_pkt, node);
		if (cnt + pkt->iov_cnt + 1 > BATCH_MAX)
			break;
		cnt += gather_pkt(conn, pkt, iov + cnt, total_p);
		if (stage_next)
			cnt += gather_stage(&conn->tx, iov + cnt, total_p);
		stage_next = false;
		if (is_shared(pkt))
			break;
	}
	return cnt;
}

/* consume - note that @len bytes have left; whole packets go to @done. */
static void consume(struct tcp_conn *conn, size_t len, struct list *done)
{
	struct list *txq = &conn->chan->base.pending;
	struct eng_pkt *pkt;
	size_t left, part;

	if (!in_packet(conn))
		len -= consume_stage(conn, len);
	while (!list_empty(txq)) {
		pkt = container_of(txq->next, struct eng_pkt, node);
		left = frame_size(conn, pkt) - pkt->sent;
		part = len < left ? len : left;
		pkt->sent += part;
		len -= part;
		if (part == left)
			len -= consume_stage(conn, len);
		if ((is_shared(pkt) && !send_parts(conn->lanes, pkt)) || part < left)
			break;
		if (is_shared(pkt))
			conn->lanes->tx_pkt = NULL;
		list_del(&pkt->node);
		list_add_tail(&pkt->node, done);
	}
}

static void call_done(struct list *done)
{
	struct eng_pkt *pkt;
	struct list *item;

	while ((item = list_pop(done))) {
		pkt = container_of(item, struct eng_pkt, node);
		pkt->done(pkt, 0);
	}
}

void tcp_tx_pump(struct tcp_conn *conn)
{
	struct iovec iov[BATCH_MAX];
	struct list done;
	size_t cnt, total;
	ssize_t ret;

	list_del(&conn->tx.dirty_node);
	list_init(&done);
	while (conn->state == TCP_CONN_READY && !tcp_tx_idle(conn)) {
		cnt = gather(conn, iov, &total);
		ret = cnt ? send_iov(conn, iov, cnt) : 0;
		if (ret < 0)
			return;
		consume(conn, (size_t) ret, &done);
		call_done(&done);
		if ((size_t) ret < total) {
			if (conn->state == TCP_CONN_READY)
				set_blocked(conn, true);
			return;
		}
		if (others_send(conn))
			break;
	}
	if (conn->state == TCP_CONN_READY) {
		set_blocked(conn, false);
		shut_if_done(conn);
	}
}

bool tcp_tx_idle(const struct tcp_conn *conn)
{
	return !conn->tx.stage && (list_empty(&conn->chan->base.pending) ||
				   conn->chan->base.state != CHAN_READY);
}

void tcp_tx_drop(struct tcp_conn *conn)
{
	list_del(&conn->tx.dirty_node);
	if (conn->tx.stage)
		stage_release(conn);
	if (conn->tx.blocked) {
		conn->tx.blocked = false;
		conn->poller->blocked--;
	}
}

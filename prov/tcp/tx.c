/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Sending.  A small packet is copied behind its frame header into a staging buffer; a single
 * one is sent from there at once, in a burst it waits for the others.  A large packet is sent
 * from the buffers of its iov, together with what is staged.  What the socket does not take
 * stays in the channel's queue, and from then on every packet is queued, so that order is kept.
 *
 * A striped packet is sent in parts, one over each lane, at the same time; the next packet
 * follows when all parts are sent.
 */
#include <errno.h>
#include <rdma/fi_errno.h>
#include <string.h>
#include <sys/socket.h>

#include "base/iov.h"
#include "channel/stripe.h"
#include "net/io.h"
#include "frame.h"
#include "link.h"

/* A peer that has closed is an error (EPIPE), never a signal. */
#define SEND_FLAGS (MSG_NOSIGNAL | MSG_DONTWAIT)

#define BATCH_MAX 64		/* entries in one gathering send */
#define STALE_NS (10 * CLOCK_NS_PER_MS)	/* after so long without a poll, a peer may have closed */

/* The frame header is written right before the engine's: one entry for both. */
_Static_assert(offsetof(struct eng_pkt, hdr) ==
	       offsetof(struct eng_pkt, link_priv) + TCP_FRAME_SIZE, "frame header precedes hdr");

static bool is_striped(const struct eng_pkt *pkt)
{
	return __builtin_expect(le64toh(pkt->link_priv) & TCP_FRAME_STRIPED, 0);
}

/* head_size - bytes in front of the payload. */
static inline size_t head_size(const struct eng_pkt *pkt)
{
	return TCP_FRAME_SIZE + (size_t) pkt->hdr_len;
}

/* frame_size - bytes of @pkt that are sent over @conn, the first lane. */
static size_t frame_size(const struct tcp_conn *conn, const struct eng_pkt *pkt)
{
	size_t len = pkt->len;

	if (is_striped(pkt))
		len = chan_stripe_at(len, conn->lanes->base.cnt, 1);
	return head_size(pkt) + len;
}

static size_t staged_len(const struct tcp_tx *tx)
{
	return tx->stage_end - tx->stage_pos;
}

/* set_blocked - while the socket is full, wait for POLLOUT. */
static void set_blocked(struct tcp_conn *conn, bool blocked)
{
	if (conn->tx.blocked == blocked)
		return;
	conn->tx.blocked = blocked;
	conn->tx.indirect = blocked || conn->sec || conn->rec;
	conn->poller->blocked += blocked ? 1 : -1u;
	tcp_conn_watch(conn);
}

static void staged_sent(struct tcp_conn *conn, size_t len)
{
	conn->tx.stage_pos += len;
	if (conn->tx.stage && conn->tx.stage_pos == conn->tx.stage_end)
		tcp_conn_unstage(conn);
}

/* send_result - 0: the socket is full; < 0: an error, the connection is declared lost. */
static inline __attribute__((always_inline)) ssize_t send_result(struct tcp_conn *conn, ssize_t ret)
{
	if (ret >= 0) {
		tcp_conn_sent(conn);
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
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = cnt };

	return send_result(conn, net_io_sendmsg(conn->src.fd, &msg, SEND_FLAGS));
}

/* send_any - send_iov(), sealed where the connection is protected, kept where it recovers. */
static ssize_t send_any(struct tcp_conn *conn, struct iovec *iov, size_t cnt)
{
	if (conn->rec)
		return tcp_recover_send(conn, iov, cnt);
	return conn->sec ? send_result(conn, tcp_sec_send(conn, iov, cnt)) : send_iov(conn, iov, cnt);
}

static void shut_if_done(struct tcp_conn *conn)
{
	if (conn->tx.shut && tcp_tx_idle(conn) && conn->sec && !tcp_sec_end(conn))
		set_blocked(conn, conn->state == TCP_CONN_READY);
	else if (conn->tx.shut && tcp_tx_idle(conn) && conn->rec)
		tcp_recover_end(conn);
	else if (conn->tx.shut && tcp_tx_idle(conn))
		shutdown(conn->src.fd, SHUT_WR);
}

/* flush_kept - the same where it is kept until the peer has taken it. */
static inline void flush_kept(struct tcp_conn *conn)
{
	struct tcp_tx *tx = &conn->tx;

	if (tx->stage)
		staged_sent(conn, tcp_recover_send_staged(conn, tx->stage + tx->stage_pos, staged_len(tx)));
	if (tx->stage)
		set_blocked(conn, true);
	else if (tx->shut)
		shut_if_done(conn);
}

/* flush_sealed - tcp_tx_flush() where what is staged is not sent as it is. */
static __attribute__((noinline)) void flush_sealed(struct tcp_conn *conn)
{
	struct tcp_tx *tx = &conn->tx;
	struct iovec iov;
	ssize_t ret = 0;

	if (tx->blocked || conn->state != TCP_CONN_READY)
		return;
	if (conn->rec) {
		flush_kept(conn);
		return;
	}
	if (tx->stage) {
		iov = (struct iovec) { tx->stage + tx->stage_pos, staged_len(tx) };
		ret = send_any(conn, &iov, 1);
	}
	if (ret < 0)
		return;
	staged_sent(conn, (size_t) ret);
	if (tx->stage || tcp_sec_pending(conn))
		set_blocked(conn, true);
	else
		shut_if_done(conn);
}

void tcp_tx_flush(struct tcp_conn *conn)
{
	struct tcp_tx *tx = &conn->tx;
	ssize_t ret;

	list_del(&tx->dirty_node);
	if (tx->indirect || conn->state != TCP_CONN_READY) {
		flush_sealed(conn);
		return;
	}
	if (!tx->stage) {
		shut_if_done(conn);
		return;
	}
	ret = send_result(conn, net_io_send(conn->src.fd, tx->stage + tx->stage_pos, staged_len(tx),
					 SEND_FLAGS, NULL, 0));
	if (ret < 0)
		return;
	staged_sent(conn, (size_t) ret);
	if (tx->stage)
		set_blocked(conn, true);
	else
		shut_if_done(conn);
}

/* copy_pkt - copy frame header, engine's header and payload to @out. */
static void copy_pkt(uint8_t *out, const struct eng_pkt *pkt)
{
	size_t head = head_size(pkt);

	memcpy(out, &pkt->link_priv, head);
	if (pkt->iov_cnt == 1)
		memcpy(out + head, pkt->iov[0].iov_base, pkt->len);
	else
		iov_gather(pkt->iov, pkt->iov_cnt, 0, out + head, pkt->len);
}

/* in_burst - may a packet wait for others?  Yes inside poll(), with ENG_PKT_MORE, and where the
 * program, which polls by itself, has sent on this connection since its last poll.
 */
static bool in_burst(const struct tcp_conn *conn, uint32_t pkt_flags)
{
	const struct tcp_poller *poller = conn->poller;

	if (!poller->conf->stage_size)
		return false;
	return poller->base.polling || pkt_flags & ENG_PKT_MORE ||
	       (conn->tx.seq == poller->base.seq && poller->base.app_active);
}

/* keep_staged - @conn has staged bytes to send, by the end of this or the next poll. */
static void keep_staged(struct tcp_conn *conn)
{
	if (conn->tx.blocked || !list_empty(&conn->tx.dirty_node))
		return;		/* sent by the pump on POLLOUT */
	list_add_tail(&conn->tx.dirty_node, &conn->poller->base.dirty);
	if (__builtin_expect(conn->poller->base.base.quiet, 0))
		obj_poller_set_quiet(&conn->poller->base.base, false);
	if (!conn->poller->base.polling)
		obj_prog_staged(conn->poller->base.base.prog);
}

static size_t gather_stage(const struct tcp_tx *tx, struct iovec *iov, size_t *total_p)
{
	if (!tx->stage)
		return 0;
	*iov = (struct iovec) { tx->stage + tx->stage_pos, staged_len(tx) };
	*total_p += staged_len(tx);
	return 1;
}

/* gather_pkt - the unsent bytes of @pkt that are sent over this connection. */
static size_t gather_pkt(const struct tcp_conn *conn, const struct eng_pkt *pkt,
			 struct iovec *iov, size_t *total_p)
{
	size_t head = head_size(pkt), cnt = 0, skip = pkt->sent, left;

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
	size_t part = conn->tx.stage ? staged_len(&conn->tx) : 0;

	if (part > len)
		part = len;
	if (part)
		staged_sent(conn, part);
	return part;
}

/* stage_room - room for @size bytes behind what is staged; NULL: none now. */
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

/* small_room - the memory in which a small packet of @size bytes is built for small_send(),
 * which follows at once; NULL: none now.
 */
static inline uint8_t *small_room(struct tcp_conn *conn, size_t size, bool burst)
{
	struct tcp_poller *poller = conn->poller;

	if (burst || conn->tx.stage || conn->tx.indirect)
		return stage_room(conn, size);
	if (__builtin_expect(!poller->direct, 0))
		poller->direct = pool_get(&poller->stages);
	return poller->direct;
}

/* send_direct - send the packet in poller->direct.  What the socket does not take becomes
 * the connection's staging buffer.
 */
static inline int send_direct(struct tcp_conn *conn, size_t size)
{
	struct tcp_poller *poller = conn->poller;
	ssize_t ret;

	ret = send_result(conn, net_io_send(conn->src.fd, poller->direct, size, SEND_FLAGS, NULL, 0));
	if (__builtin_expect(ret < 0, 0))
		return (int) ret;
	if (__builtin_expect((size_t) ret < size, 0)) {
		conn->tx.stage = poller->direct;
		conn->tx.stage_pos = (size_t) ret;
		conn->tx.stage_end = size;
		poller->direct = NULL;
		set_blocked(conn, true);
	}
	return 1;
}

/* small_send - send the packet in small_room(), now or with the rest of a burst.
 * Returns 1, or the error that ends the connection.
 */
static inline int small_send(struct tcp_conn *conn, size_t size, bool burst)
{
	struct tcp_tx *tx = &conn->tx;

	tx->seq = conn->poller->base.seq;
	if (!tx->stage)
		return send_direct(conn, size);
	tx->stage_end += size;
	if (burst)
		keep_staged(conn);
	else
		tcp_tx_flush(conn);	/* what the socket does not take waits for POLLOUT */
	return conn->state == TCP_CONN_READY ? 1 : -conn->err;
}

/* send_large - send what is staged, then @pkt from the buffers of its iov.  Returns how many
 * bytes of the packet itself were sent.
 * @out: send_iov or send_any
 */
static inline __attribute__((always_inline)) ssize_t
send_large(struct tcp_conn *conn, struct eng_pkt *pkt, ssize_t (*out)(struct tcp_conn *, struct iovec *, size_t))
{
	struct iovec iov[ENG_IOV_MAX + 2];
	size_t cnt, total = 0;
	ssize_t ret;

	cnt = gather_stage(&conn->tx, iov, &total);
	cnt += gather_pkt(conn, pkt, iov + cnt, &total);
	ret = out(conn, iov, cnt);
	if (ret < 0)
		return ret;
	return ret - (ssize_t) consume_stage(conn, (size_t) ret);
}

/* was_asked - has the set, when it was last asked, reported @conn, or all that it had without it?  Then the
 * peer had not closed, or conn->peer_ended is set.  That holds for a millisecond, in which a burst to many
 * peers is sent and no process is started again.
 */
static inline bool was_asked(const struct tcp_conn *conn)
{
	const struct tcp_poller *poller = conn->poller;

	return conn->src.events & POLLRDHUP &&
	       (conn->used_seq == poller->asked_seq ||
		(conn->used_seq < poller->asked_seq && poller->asked_all));
}

/* was_polled - a recent poll would have found that the peer has closed, and has not. */
static inline bool was_polled(const struct tcp_conn *conn)
{
	const struct tcp_poller *poller = conn->poller;

	if (conn->tx.seq == poller->base.seq || poller->base.polling)
		return true;
	if (conn->peer_ended)
		return false;
	if (conn->active)
		return clock_coarse_ns() - poller->polled_ns < STALE_NS;
	return was_asked(conn) && clock_cycles() - poller->asked < clock_cycles_in_ms();
}

/* check_peer_closed - before the first packet after a time without polls: has the peer closed
 * meanwhile?  The system would take the packet and lose it.  The next poll reads what the peer
 * sent before it closed, and reports the loss.
 */
static int check_peer_closed(struct tcp_conn *conn)
{
	int ret;

	if (was_polled(conn) || conn->rec || !tcp_conn_peer_closed(conn))
		return 0;
	ret = net_sock_error(conn->src.fd);
	if (ret)
		tcp_conn_fail(conn, -ret, false);
	return ret ? ret : -FI_EAGAIN;
}

/* large_sealed - try_now() for a large packet of a connection that is blocked, or protected. */
static __attribute__((noinline)) int large_sealed(struct tcp_conn *conn, struct eng_pkt *pkt, size_t size)
{
	ssize_t ret;

	if (conn->tx.blocked)
		return 0;
	ret = send_large(conn, pkt, send_any);
	if (ret < 0)
		return (int) ret;
	pkt->sent = (size_t) ret;
	if (tcp_sec_pending(conn))
		set_blocked(conn, true);
	return pkt->sent == size;
}

/* try_now - send or stage @pkt.  1: all of it; 0: a part or nothing, see pkt->sent. */
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
	if (tx->indirect)
		return large_sealed(conn, pkt, size);
	ret = send_large(conn, pkt, send_iov);
	if (ret < 0)
		return (int) ret;
	pkt->sent = (size_t) ret;
	return pkt->sent == size;
}

/* send_parts - send over the further lanes as much of their parts as they take.  True when all
 * is sent.  The loss of one is reported as the loss of the first, at the end of the poll.
 */
static bool send_parts(struct chan_paths *paths, const struct eng_pkt *pkt)
{
	struct iovec iov[ENG_IOV_MAX];
	struct tcp_conn *lane;
	size_t off, left;
	bool all = true;
	unsigned i;

	chan_paths_begin(paths, pkt);
	for (i = 1; i < paths->cnt; i++) {
		lane = paths->path[i].conn;
		left = chan_path_left(paths, pkt->len, i, &off);
		if (left && lane && lane->state == TCP_CONN_READY) {
			ssize_t ret = send_any(lane, iov, iov_slice(pkt->iov, pkt->iov_cnt, off,
								    left, iov));

			if (ret > 0) {
				paths->path[i].sent += (size_t) ret;
				left -= (size_t) ret;
			}
			if (lane->state == TCP_CONN_READY)
				set_blocked(lane, left || tcp_sec_pending(lane));
		}
		all &= !left;
	}
	return all;
}

/* others_send - @conn has sent its part of a striped packet, the further lanes have not. */
static bool others_send(const struct tcp_conn *conn)
{
	const struct tcp_lanes *lanes = conn->lanes;

	return __builtin_expect(lanes && lanes->base.tx_pkt, 0) &&
	       lanes->base.tx_pkt->sent == frame_size(conn, lanes->base.tx_pkt);
}

/* try_striped - try_now() for a striped packet. */
static int try_striped(struct tcp_conn *conn, struct eng_pkt *pkt)
{
	int ret = try_now(conn, pkt);

	if (ret < 0 || !send_parts(&conn->lanes->base, pkt) || !ret)
		return ret < 0 ? ret : 0;
	chan_paths_end(&conn->lanes->base);
	return 1;
}

/* may_stripe - is @pkt long enough, and are all lanes READY?  Eager messages are not striped:
 * the peer may have to hold them, so striping would not make them faster.
 */
static bool may_stripe(struct tcp_conn *conn, const struct eng_pkt *pkt)
{
	if (pkt->len < TCP_STRIPE_MIN || pkt->len <= conn->poller->conf->eager_size)
		return false;
	tcp_lanes_want(conn);
	return tcp_lanes_are(conn, TCP_CONN_READY);
}

static inline int send_framed(struct tcp_conn *conn, struct eng_pkt *pkt, bool share)
{
	int ret = 0;

	pkt->sent = 0;
	if (list_empty(&conn->chan->base.pending))
		ret = share ? try_striped(conn, pkt) : try_now(conn, pkt);
	if (__builtin_expect(ret, 1))
		return ret;
	list_add_tail(&pkt->node, &conn->chan->base.pending);
	if (!others_send(conn))
		set_blocked(conn, true);
	return 0;
}

int tcp_tx_framed(struct tcp_conn *conn, struct eng_pkt *pkt)
{
	return conn->state == TCP_CONN_READY ? send_framed(conn, pkt, false) : -conn->err;
}

int tcp_tx_check(struct tcp_conn *conn)
{
	return conn->state == TCP_CONN_READY ? check_peer_closed(conn) : -conn->err;
}

int tcp_tx_send(struct tcp_conn *conn, struct eng_pkt *pkt)
{
	bool share;
	int ret;

	if (__builtin_expect(conn->state != TCP_CONN_READY, 0))
		return -conn->err;
	ret = check_peer_closed(conn);
	if (__builtin_expect(ret, 0))
		return ret;
	share = __builtin_expect(conn->lanes != NULL, 0) && may_stripe(conn, pkt);
	tcp_frame_put(&pkt->link_priv, pkt->hdr_len | (share ? TCP_FRAME_STRIPED : 0), pkt->len);
	return send_framed(conn, pkt, share);
}

void *tcp_tx_slot(void *chan_p, size_t len)
{
	struct tcp_chan *chan = chan_p;
	struct tcp_conn *conn = chan->base.conn;
	uint8_t *room;
	bool burst;

	if (__builtin_expect(chan->base.state != CHAN_READY || conn->state != TCP_CONN_READY ||
			     !list_empty(&chan->base.pending) || (!was_polled(conn) && !conn->rec) || conn->stream, 0))
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

	tcp_frame_put(tx->stage ? tx->stage + tx->stage_end : conn->poller->direct, hdr_len, len);
	return small_send(conn, TCP_FRAME_SIZE + hdr_len + len, conn->poller->burst);
}

bool tcp_tx_ctl(struct tcp_conn *conn, enum tcp_wire_ctl ctl)
{
	struct tcp_tx *tx = &conn->tx;

	if (!tx->stage)
		tx->stage = pool_get(&conn->poller->stages);
	if (!tx->stage || TCP_STAGE_SIZE(conn->poller->conf) - tx->stage_end < TCP_FRAME_SIZE)
		return false;
	tcp_frame_put(tx->stage + tx->stage_end, 0, ctl);
	tx->stage_end += TCP_FRAME_SIZE;
	tcp_tx_flush(conn);
	return true;
}

int tcp_tx_queue(struct tcp_chan *chan, struct eng_pkt *pkt)
{
	tcp_frame_put(&pkt->link_priv, pkt->hdr_len, pkt->len);
	return chan_queue(&chan->base, pkt);
}

/* in_packet - a part of the first queued packet is sent, so what is staged, a control frame,
 * must follow the rest of it.
 */
static bool in_packet(const struct tcp_conn *conn)
{
	const struct list *txq = &conn->chan->base.pending;

	return !list_empty(txq) && container_of(txq->next, struct eng_pkt, node)->sent;
}

/* tx_gather - the iov of one sendmsg: staged bytes, then queued packets. */
static size_t tx_gather(struct tcp_conn *conn, struct iovec *iov, size_t *total_p)
{
	bool stage_next = in_packet(conn);
	struct eng_pkt *pkt;
	size_t cnt = 0;

	*total_p = 0;
	if (!stage_next)
		cnt = gather_stage(&conn->tx, iov, total_p);
	if (conn->chan->base.state != CHAN_READY)
		return cnt;	/* PARKING: queued packets wait for the answer */
	list_for_each_entry(pkt, &conn->chan->base.pending, node) {
		if (cnt + pkt->iov_cnt + 1 > BATCH_MAX)
			break;
		cnt += gather_pkt(conn, pkt, iov + cnt, total_p);
		if (stage_next)
			cnt += gather_stage(&conn->tx, iov + cnt, total_p);
		stage_next = false;
		if (is_striped(pkt))
			break;
	}
	return cnt;
}

/* tx_consume - @len bytes were sent; packets that are complete go to @done. */
static void tx_consume(struct tcp_conn *conn, size_t len, struct list *done)
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
		if ((is_striped(pkt) && !send_parts(&conn->lanes->base, pkt)) || part < left)
			break;
		if (is_striped(pkt))
			chan_paths_end(&conn->lanes->base);
		list_del(&pkt->node);
		list_add_tail(&pkt->node, done);
	}
}

static void call_done(struct list *done)
{
	struct eng_pkt *pkt;

	while ((pkt = list_pop_entry(done, struct eng_pkt, node)))
		pkt->done(pkt, 0);
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
		if (conn->sec && !tcp_sec_push(conn)) {
			if (conn->state == TCP_CONN_READY)
				set_blocked(conn, true);
			break;
		}
		cnt = tx_gather(conn, iov, &total);
		ret = cnt ? send_any(conn, iov, cnt) : 0;
		if (ret < 0)
			return;
		tx_consume(conn, (size_t) ret, &done);
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
		set_blocked(conn, tcp_sec_pending(conn));
		shut_if_done(conn);
	}
}

void tcp_tx_pump_lane(struct tcp_conn *lane)
{
	if (tcp_sec_pending(lane) && tcp_sec_push(lane))
		set_blocked(lane, false);
}

bool tcp_tx_idle(const struct tcp_conn *conn)
{
	return !conn->tx.stage && !tcp_sec_pending(conn) && (list_empty(&conn->chan->base.pending) ||
				   conn->chan->base.state != CHAN_READY);
}

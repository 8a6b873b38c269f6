/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Receiving.  Packets are offered to the engine where they lie.  What it wants kept is
 * moved out of the ring, or stays with the sender, if it is there anyway.
 */
#include <assert.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>

#include "base/iov.h"
#include "link.h"
#include "pull.h"

/* ---- payload that comes in pieces ---------------------------------------------------------- */

static void body_end(struct shm_conn *conn)
{
	struct shm_rx *rx = &conn->rx;
	void *cookie = rx->cookie;

	rx->body = SHM_BODY_NONE;
	rx->cookie = NULL;
	if (rx->hold) {
		chan_hold_done(&rx->hold->base);
		rx->hold = NULL;
	} else if (cookie) {
		eng_on_placed(&conn->link->base.base, cookie, 0);
	}
}

/* body_put - one more piece. */
static void body_put(struct shm_conn *conn, const uint8_t *data, size_t len)
{
	struct shm_rx *rx = &conn->rx;

	if (rx->body == SHM_BODY_PLACE)
		rx->off += iov_scatter(rx->iov, rx->iov_cnt, rx->off, data, len);
	rx->left -= len;
	if (!rx->left)
		body_end(conn);
}

/* body_begin - the engine has said what becomes of a packet of which @avail bytes are
 * here: rx->iov and so on are set.
 */
static void body_begin(struct shm_conn *conn, enum shm_body body, const struct eng_rx *in)
{
	conn->rx.body = body;
	conn->rx.left = in->len;
	conn->rx.off = 0;
	body_put(conn, in->data, in->avail);
}

/* ---- payload that is read from the sender ---------------------------------------------------- */

/* owe - the sender may have its buffer back. */
static void owe(struct shm_conn *conn, uint32_t id)
{
	conn->rx.owed[conn->rx.owed_cnt++] = id;
	conn->plain = false;
}

/* fetched - the payload of the PULL @id has been copied, or not: @ret < 0.  On error the
 * connection is at its end.  Returns 1 or < 0.
 */
static int fetched(struct shm_conn *conn, uint32_t id, int ret)
{
	/* Unless the sender gave its buffers up meanwhile, this is what it sent. */
	atomic_thread_fence(memory_order_seq_cst);
	if (ret >= 0 && atomic_load_explicit(&conn->in.seg->tx.gone, memory_order_relaxed))
		ret = -FI_ECONNRESET;
	if (ret == -ESRCH)
		ret = -FI_ECONNRESET;
	if (ret == -FI_EFAULT)
		shm_conn_malformed(conn, "a message from a buffer that cannot be read");
	else if (ret < 0)
		shm_conn_fail(conn, -ret);
	owe(conn, id);
	return ret < 0 ? ret : 1;
}

/* fetch - read what fits @iov.  As fetched(). */
static int fetch(struct shm_conn *conn, const struct shm_iovs *from, size_t len,
		 const struct iovec *iov, size_t iov_cnt)
{
	size_t room = iov_total(iov, iov_cnt);
	int ret = shm_pull_read(conn->pid, iov, iov_cnt, from->iov, from->cnt,
				len < room ? len : room);

	return fetched(conn, from->id, ret);
}

/* fetch_both - the same with the sender's help.  Returns 0 if that is still to come: then
 * nothing else is taken from the ring, and eng_on_placed(@cookie) follows.
 */
static int fetch_both(struct shm_conn *conn, const struct shm_iovs *from, size_t len,
		      const struct iovec *iov, size_t iov_cnt, void *cookie)
{
	size_t room = iov_total(iov, iov_cnt);
	int ret;

	if (len > room)
		len = room;
	if (conn->rx.body != SHM_BODY_NONE || !shm_share_worth(conn, len, iov_cnt))
		return fetch(conn, from, len, iov, iov_cnt);
	ret = shm_share_fetch(conn, from, len, iov->iov_base);
	if (ret)
		return fetched(conn, from->id, ret);
	conn->rx.body = SHM_BODY_SHARED;
	conn->plain = false;
	conn->rx.cookie = cookie;
	return 0;
}

/* arrive - is what the sender copies there?  False: nothing else is to be taken. */
static bool arrive(struct shm_conn *conn)
{
	void *cookie = conn->rx.cookie;
	int ret = shm_share_look(conn);

	if (!ret) {
		if (conn->ended)
			shm_conn_fail(conn, FI_ECONNRESET);
		return false;
	}
	conn->rx.body = SHM_BODY_NONE;
	conn->rx.cookie = NULL;
	conn->moved = true;
	ret = fetched(conn, conn->sharing.from.id, ret);
	if (conn->state == SHM_CONN_READY)
		shm_tx_answer(conn);
	eng_on_placed(&conn->link->base.base, cookie, ret < 0 ? ret : 0);
	return conn->state == SHM_CONN_READY;
}

/* ---- packets ------------------------------------------------------------------------------------ */

/* settle - do as the engine said.  False: leave the connection alone for now. */
static bool settle(struct shm_conn *conn, enum eng_rx_verdict verdict, struct eng_rx *rx,
		   const struct shm_iovs *remote)
{
	struct shm_hold *held = conn->poller->held;
	int ret;

	switch (verdict) {
	case ENG_RX_DONE:
		if (remote)
			owe(conn, remote->id);
		else if (rx->avail < rx->len)
			body_begin(conn, SHM_BODY_SKIP, rx);
		return true;
	case ENG_RX_PLACE:
		if (remote) {
			ret = fetch_both(conn, remote, rx->len, rx->iov, rx->iov_cnt, rx->cookie);
			if (ret)
				eng_on_placed(&conn->link->base.base, rx->cookie, ret < 0 ? ret : 0);
			return conn->state == SHM_CONN_READY;
		}
		memcpy(conn->rx.iov, rx->iov, rx->iov_cnt * sizeof(*rx->iov));
		conn->rx.iov_cnt = rx->iov_cnt;
		conn->rx.cookie = rx->cookie;
		body_begin(conn, SHM_BODY_PLACE, rx);
		return conn->state == SHM_CONN_READY;
	case ENG_RX_HELD:
		assert(held && "ENG_RX_HELD comes after hold()");
		if (remote) {
			list_add_tail(&held->base.node, &conn->rx.remote);
			held->base.source = conn;
		} else if (rx->avail < rx->len) {
			held->base.source = conn;
			conn->rx.hold = held;
			conn->rx.iov[0] = (struct iovec) { held->base.data, rx->len };
			conn->rx.iov_cnt = 1;
			conn->rx.body = SHM_BODY_PLACE;
			conn->rx.off = rx->avail;
			conn->rx.left = rx->len - rx->avail;
		}
		return true;
	case ENG_RX_LATER:
		return false;
	default:
		shm_conn_malformed(conn, "a packet that makes no sense");
		return false;
	}
}

/* pause - offer the packet again in a later poll, and take nothing else until then. */
static void pause_conn(struct shm_conn *conn)
{
	conn->paused = true;
	list_add_tail(&conn->state_node, &conn->poller->base.paused);
	conn->poller->base.chores = true;
}

static bool offer(struct shm_conn *conn, struct eng_rx *rx, const struct shm_iovs *remote)
{
	struct shm_poller *poller = conn->poller;
	enum eng_rx_verdict verdict = ENG_RX_DONE;

	if (__builtin_expect(!conn->link->base.closing, 1)) {
		poller->offering = conn;
		poller->remote = remote;
		poller->held = NULL;
		verdict = eng_on_packet(&conn->link->base.base, chan_peer(&conn->chan->base), rx);
		poller->offering = NULL;
	}
	if (__builtin_expect(conn->state != SHM_CONN_READY, 0))
		return false;
	if (__builtin_expect(verdict == ENG_RX_DONE && !remote && rx->avail == rx->len, 1))
		return true;
	if (settle(conn, verdict, rx, remote))
		return true;
	if (verdict == ENG_RX_LATER)
		pause_conn(conn);
	return false;
}

/* ---- kinds ---------------------------------------------------------------------------------------- */

static bool on_short(struct shm_conn *conn, struct shm_item *item)
{
	struct eng_rx rx;

	rx.hdr = item->body;
	rx.hdr_len = item->hdr_len;
	rx.data = item->body + item->hdr_len;
	rx.avail = rx.len = item->len;
	return offer(conn, &rx, NULL);
}

static bool on_data(struct shm_conn *conn, struct shm_item *item)
{
	uint8_t hdr[ENG_HDR_MAX];
	struct eng_rx rx;
	uint64_t total = item->len;

	memcpy(hdr, item->data, item->hdr_len);
	if (item->kind == SHM_FIRST)
		memcpy(&total, item->body, sizeof(total));
	if (total < item->len || total > SHM_PAYLOAD_MAX || (total && !item->len)) {
		shm_conn_malformed(conn, "a packet with impossible lengths");
		return false;
	}
	rx.hdr = hdr;
	rx.hdr_len = item->hdr_len;
	rx.data = item->data + item->hdr_len;
	rx.avail = item->len;
	rx.len = total;
	return offer(conn, &rx, NULL);
}

static bool on_more(struct shm_conn *conn, struct shm_item *item)
{
	if (item->hdr_len || !item->len || item->len > conn->rx.left) {
		shm_conn_malformed(conn, "more payload than it announced");
		return false;
	}
	body_put(conn, item->data, item->len);
	return conn->state == SHM_CONN_READY;
}

static bool on_pull(struct shm_conn *conn, struct shm_item *item)
{
	uint8_t hdr[ENG_HDR_MAX];
	struct shm_pull_hdr pull;
	struct shm_range range;
	struct shm_iovs from;
	const uint8_t *at;
	struct eng_rx rx;
	size_t sum = 0;
	uint32_t i;

	memcpy(&pull, item->body, sizeof(pull));
	at = item->data ? item->data : item->body + sizeof(pull);
	from.id = pull.id;
	from.cnt = pull.cnt;
	for (i = 0; i < pull.cnt; i++, at += sizeof(range)) {
		memcpy(&range, at, sizeof(range));
		if (range.len > item->len - sum)
			break;
		sum += range.len;
		from.iov[i] = (struct iovec) { (void *) (uintptr_t) range.addr, range.len };
	}
	if (i < pull.cnt || sum != item->len || !sum || conn->rx.pulls == SHM_PULLS) {
		shm_conn_malformed(conn, "a list of buffers that cannot be");
		return false;
	}
	memcpy(hdr, at, item->hdr_len);
	rx.hdr = hdr;
	rx.hdr_len = item->hdr_len;
	rx.data = hdr;
	rx.avail = 0;
	rx.len = item->len;
	conn->rx.pulls++;
	if (offer(conn, &rx, &from))
		return true;
	if (conn->paused)
		conn->rx.pulls--;
	return false;
}

static bool on_done(struct shm_conn *conn, const struct shm_item *item)
{
	uint32_t id;
	size_t i;

	for (i = 0; i < item->len; i++) {
		memcpy(&id, item->body + i * sizeof(id), sizeof(id));
		if (!shm_tx_on_done(conn, id)) {
			shm_conn_malformed(conn, "an answer to nothing");
			return false;
		}
		if (conn->state != SHM_CONN_READY)
			return false;
	}
	return true;
}

/* on_flush - what is kept with the sender moves here; what there is no memory for stays. */
static bool on_flush(struct shm_conn *conn)
{
	struct list *pos, *next;
	struct shm_hold *hold;
	struct iovec iov;

	list_for_each_safe(pos, next, &conn->rx.remote) {
		hold = container_of(pos, struct shm_hold, base.node);
		iov = (struct iovec) { malloc(hold->base.len), hold->base.len };
		if (!iov.iov_base)
			continue;
		if (fetch(conn, &hold->from, hold->base.len, &iov, 1) < 0) {
			free(iov.iov_base);
			return false;
		}
		chan_hold_fetched(&hold->base, iov.iov_base);
	}
	return true;
}

/* on_item - whatever eng_on_short() does not take.  True: the slot is used up. */
static bool on_item(struct shm_conn *conn, struct shm_item *item)
{
	bool inside = conn->rx.body != SHM_BODY_NONE;

	switch (item->kind) {
	case SHM_DONE:
		return on_done(conn, item);
	case SHM_STALL:
		return true;	/* answered when it has been taken */
	case SHM_FLUSH:
		return on_flush(conn);
	case SHM_MORE:
		if (inside)
			return on_more(conn, item);
		break;
	case SHM_SHORT:
		if (!inside)
			return on_short(conn, item);
		break;
	case SHM_PULL:
		if (!inside)
			return on_pull(conn, item);
		break;
	default:
		if (!inside && item->data)
			return on_data(conn, item);
		break;
	}
	shm_conn_malformed(conn, "pieces of packets out of order");
	return false;
}

/* tell - what was taken may be used again; a sender that is stuck may be asleep. */
static void tell(struct shm_conn *conn, bool stalled)
{
	shm_in_tell(&conn->in);
	if (stalled && shm_out_asleep(&conn->out))
		shm_conn_ring(conn);
}

/* take_short - the next slot, if it is a short message that a receive waits for.
 * Returns 1; 0: there is no slot; -1: nothing has been done.
 */
static inline int take_short(struct shm_conn *conn)
{
	uint8_t body[SHM_BODY];
	size_t hdr_len, len;
	int ret = shm_in_short(&conn->in, body, &hdr_len, &len);

	if (ret <= 0)
		return ret;
	if (__builtin_expect(conn->rx.body || conn->link->base.closing ||
			     !eng_on_short(conn->chan, body, hdr_len, len), 0))
		return -1;
	conn->in.pos++;
	return 1;
}

/* take_any - whatever the next slot holds.
 * Returns 1, or 2: the sender waited for it; 0: there is none, or it stays for now; -1: it
 * makes no sense.
 */
static __attribute__((noinline)) int take_any(struct shm_conn *conn)
{
	struct shm_item item;
	int ret = conn->sharing.waiting ? 0 : shm_in_peek(&conn->in, &item);

	if (ret <= 0)
		return ret;
	if (!on_item(conn, &item))
		return 0;
	shm_in_take(&conn->in, &item);
	return item.kind == SHM_STALL ? 2 : 1;
}

/* A message that nobody has asked for is the last one of a poll: what is behind it had
 * better stay in the ring, where it costs nothing and holds a fast sender back, until
 * the program has had a chance to post a receive for it.
 */
bool shm_rx_one(struct shm_conn *conn)
{
	uint8_t body[SHM_BODY];
	size_t hdr_len, len;

	if (__builtin_expect(!conn->plain ||
			     shm_in_short(&conn->in, body, &hdr_len, &len) <= 0 ||
			     !eng_on_short(conn->chan, body, hdr_len, len), 0))
		return false;
	conn->in.pos++;
	conn->moved = true;
	conn->seq = conn->poller->base.seq;
	tell(conn, false);
	return true;
}

int shm_rx_poll(struct shm_conn *conn, unsigned budget)
{
	struct shm_poller *poller = conn->poller;
	bool stalled = false;
	int ret = 0, done = 0;

	if (__builtin_expect(conn->paused || conn->state != SHM_CONN_READY, 0))
		return 0;
	if (__builtin_expect(conn->sharing.waiting, 0) && !arrive(conn))
		return 0;
	poller->held = NULL;
	while (budget--) {
		ret = take_short(conn);
		if (__builtin_expect(ret < 0, 0))
			ret = take_any(conn);
		if (ret <= 0)
			break;
		stalled |= ret == 2;
		done++;
		if (__builtin_expect(poller->held || conn->state != SHM_CONN_READY, 0))
			break;
	}
	if (__builtin_expect(conn->state != SHM_CONN_READY, 0))
		return done + 1;
	if (done) {
		conn->moved = true;
		conn->seq = poller->base.seq;
		tell(conn, stalled);
		if (conn->rx.owed_cnt)
			shm_tx_answer(conn);
	}
	if (__builtin_expect(ret < 0, 0))
		shm_conn_malformed(conn, "what no sender writes");
	else if (__builtin_expect(conn->ended, 0) && !ret && !conn->paused &&
		 !conn->sharing.waiting)
		shm_conn_fail(conn, FI_ECONNRESET);
	conn->plain = conn->state == SHM_CONN_READY && !conn->paused && !conn->rx.body &&
		      !conn->rx.owed_cnt && !conn->link->base.closing;
	return done;
}

void shm_rx_drop(struct shm_conn *conn, int err)
{
	struct shm_rx *rx = &conn->rx;
	void *cookie = rx->cookie;
	struct list *item;

	while ((item = list_pop(&rx->remote)))
		chan_hold_lost(container_of(item, struct chan_hold, node), err);
	rx->owed_cnt = 0;
	rx->body = SHM_BODY_NONE;
	rx->cookie = NULL;
	if (rx->hold) {
		chan_hold_lost(&rx->hold->base, err);
		rx->hold = NULL;
	} else if (cookie) {
		eng_on_placed(&conn->link->base.base, cookie, -err);
	}
}

/* ---- payload kept for later ----------------------------------------------------------------------- */

/* take_remote - read the payload from the sender's memory, now that it is wanted. */
static int take_remote(struct shm_conn *conn, const struct shm_hold *hold, const struct iovec *iov,
		       size_t iov_cnt, void *cookie)
{
	int ret;

	if (conn->state != SHM_CONN_READY)
		return -FI_ECONNRESET;
	ret = fetch_both(conn, &hold->from, hold->base.len, iov, iov_cnt, cookie);
	if (ret > 0)
		shm_tx_answer(conn);
	else if (!ret)
		shm_poller_heat(conn->poller, conn);
	return ret;
}

static int take_hold(struct chan_hold *base, const struct iovec *iov, size_t iov_cnt, void *cookie)
{
	struct shm_hold *hold = container_of(base, struct shm_hold, base);
	struct shm_conn *conn = base->source;

	if (!base->data) {
		list_del(&base->node);
		return take_remote(conn, hold, iov, iov_cnt, cookie);
	}
	iov_scatter(iov, iov_cnt, 0, base->data, conn->rx.off);
	/* the rest arrives where it belongs */
	conn->rx.hold = NULL;
	conn->rx.cookie = cookie;
	memcpy(conn->rx.iov, iov, iov_cnt * sizeof(*iov));
	conn->rx.iov_cnt = iov_cnt;
	return 0;
}

static void release_hold(struct chan_hold *base)
{
	struct shm_hold *hold = container_of(base, struct shm_hold, base);
	struct shm_conn *conn = base->source;

	if (base->data) {
		conn->rx.hold = NULL;
		conn->rx.body = SHM_BODY_SKIP;
	} else if (conn->state == SHM_CONN_READY) {
		owe(conn, hold->from.id);
		shm_tx_answer(conn);
	}
}

static const struct chan_hold_ops hold_ops = {
	.take = take_hold,
	.release = release_hold,
};

void *shm_rx_hold(struct eng_link *base, struct eng_peer *peer, const struct eng_rx *rx)
{
	struct shm_poller *poller = shm_link_poller(shm_link_of(chan_link_of(base)));
	struct chan_hold *hold;

	assert(poller->offering && "hold() is called from eng_on_packet()");
	hold = chan_hold_new(sizeof(struct shm_hold), rx, poller->remote != NULL, &hold_ops);
	if (!hold)
		return NULL;
	poller->held = container_of(hold, struct shm_hold, base);
	if (poller->remote)
		poller->held->from = *poller->remote;
	return hold;
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Receiving.  Packets are offered to the engine in place.  Payload that it holds is moved
 * out of the ring, or stays in the sender's memory if it is there.
 */
#include <assert.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>

#include "base/iov.h"
#include "link.h"
#include "cma.h"

/* ---- payload in pieces ---------------------------------------------------------- */

static void body_end(struct shm_conn *conn)
{
	conn->rx.body = SHM_BODY_NONE;
	chan_sink_end(&conn->rx.sink, &conn->link->base.base, 0);
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

/* body_begin - the engine has chosen what to do with a packet, of which @in->avail bytes are
 * here; rx->iov and so on are set.
 */
static void body_begin(struct shm_conn *conn, enum shm_body body, const struct eng_rx *in)
{
	conn->rx.body = body;
	conn->rx.left = in->len;
	conn->rx.off = 0;
	body_put(conn, in->data, in->avail);
}

/* ---- payload in the sender's memory ---------------------------------------------------- */

/* queue_done - the sender may reuse the buffers of the PULL @id. */
static void queue_done(struct shm_conn *conn, uint32_t id)
{
	conn->rx.done_ids[conn->rx.done_cnt++] = id;
	conn->fast = false;
}

/* is_readable - after -FI_EFAULT: is @from there, so that it is the destination that cannot be written? */
static bool is_readable(struct shm_conn *conn, const struct shm_iovs *from)
{
	size_t len = iov_total(from->iov, from->cnt), off = 0, cnt;
	struct iovec part[ENG_IOV_MAX], here;
	uint8_t bounce[8192];
	int ret = 0;

	if (!shm_pull_enter(conn->in.seg))
		return false;
	for (here = (struct iovec) { bounce, 0 }; off < len && !ret; off += here.iov_len) {
		here.iov_len = len - off < sizeof(bounce) ? len - off : sizeof(bounce);
		cnt = iov_slice(from->iov, from->cnt, off, here.iov_len, part);
		ret = shm_cma_copy(conn->pid, false, &here, 1, part, cnt, here.iov_len);
	}
	shm_pull_leave(conn->in.seg);
	return !ret;
}

/* pull_fetched - the payload of the PULL @from has been copied, or copying failed with @ret < 0.  Returns 1;
 * -FI_EFAULT: the destination cannot be written; else < 0, and the connection fails.
 */
static int pull_fetched(struct shm_conn *conn, const struct shm_iovs *from, int ret)
{
	bool ours = ret == -FI_EFAULT && is_readable(conn, from);

	/* Valid, and malformed, only unless the sender has given its buffers up meanwhile.  Litmus test MP: the
	 * sender stores gone, then unmaps; a thread that has seen the second sees the first.
	 */
	atomic_thread_fence(memory_order_seq_cst);
	if (atomic_load_explicit(&conn->in.seg->tx.gone, memory_order_relaxed)) {
		ret = -FI_ECONNRESET;
		ours = false;
	}
	if (ret == -ESRCH)
		ret = -FI_ECONNRESET;
	if (ret == -FI_EFAULT && !ours) {
		shm_conn_malformed(conn, "a message from a buffer that cannot be read");
		ret = -FI_EPROTO;
	} else if (ret < 0 && !ours) {
		shm_conn_fail(conn, -ret);
	}
	queue_done(conn, from->id);
	return ret < 0 ? ret : 1;
}

/* pull_fetch - read as much as fits @iov.  Returns as pull_fetched(). */
static int pull_fetch(struct shm_conn *conn, const struct shm_iovs *from, size_t len,
		      const struct iovec *iov, size_t iov_cnt)
{
	size_t room = iov_total(iov, iov_cnt);
	int ret = -FI_ECONNRESET;

	if (shm_pull_enter(conn->in.seg)) {
		ret = shm_cma_copy(conn->pid, false, iov, iov_cnt, from->iov, from->cnt,
				   len < room ? len : room);
		shm_pull_leave(conn->in.seg);
	}
	return pull_fetched(conn, from, ret);
}

/* fetch_split - the same, as a split copy if that is worth it.  Returns 0 if the sender has
 * pieces left: nothing else is taken from the ring then, and eng_on_placed(@cookie) follows.
 */
static int fetch_split(struct shm_conn *conn, const struct shm_iovs *from, size_t len,
		      const struct iovec *iov, size_t iov_cnt, void *cookie)
{
	size_t room = iov_total(iov, iov_cnt);
	int ret;

	if (len > room)
		len = room;
	if (conn->rx.body != SHM_BODY_NONE || !shm_split_wanted(conn, len, iov_cnt))
		return pull_fetch(conn, from, len, iov, iov_cnt);
	ret = shm_split_read(conn, from, len, iov->iov_base);
	if (ret)
		return pull_fetched(conn, from, ret);
	conn->rx.body = SHM_BODY_SPLIT;
	conn->fast = false;
	conn->rx.sink.cookie = cookie;
	return 0;
}

/* finish_split - has the sender copied its pieces?  False: nothing else is to be taken. */
static bool finish_split(struct shm_conn *conn)
{
	int ret = shm_split_poll(conn);

	if (!ret) {
		if (conn->ended)
			shm_conn_fail(conn, FI_ECONNRESET);
		return false;
	}
	conn->rx.body = SHM_BODY_NONE;
	conn->received = true;
	ret = pull_fetched(conn, &conn->split.from, ret);
	if (conn->state == SHM_CONN_READY)
		shm_tx_send_done(conn);
	chan_sink_end(&conn->rx.sink, &conn->link->base.base, ret < 0 ? -ret : 0);
	return conn->state == SHM_CONN_READY;
}

/* take_over - payload that is held in the sender's memory moves here, if there is memory for it.  Where that
 * cannot be written, the payload is lost: the sender may reuse its buffers in any case.  False: the connection
 * has failed.
 */
static bool take_over(struct shm_conn *conn, struct shm_hold *hold)
{
	struct iovec iov = { malloc(hold->base.len), hold->base.len };
	int ret;

	if (!iov.iov_base)
		return true;
	ret = pull_fetch(conn, &hold->from, hold->base.len, &iov, 1);
	if (ret > 0) {
		chan_hold_fetched(&hold->base, iov.iov_base);
		return true;
	}
	free(iov.iov_base);
	if (ret == -FI_EFAULT)
		chan_hold_lost(&hold->base, FI_EFAULT);
	return ret == -FI_EFAULT;
}

/* ---- packets ------------------------------------------------------------------------------------ */

/* apply_verdict - carry out the engine's verdict.  False: take nothing more for now. */
static bool apply_verdict(struct shm_conn *conn, enum eng_rx_verdict verdict, struct eng_rx *rx,
			  const struct shm_iovs *remote)
{
	struct shm_hold *held = conn->poller->held;
	int ret;

	switch (verdict) {
	case ENG_RX_DONE:
		if (remote)
			queue_done(conn, remote->id);
		else if (rx->avail < rx->len)
			body_begin(conn, SHM_BODY_SKIP, rx);
		return true;
	case ENG_RX_PLACE:
		if (remote) {
			ret = fetch_split(conn, remote, rx->len, rx->iov, rx->iov_cnt, rx->cookie);
			if (ret)
				eng_on_placed(&conn->link->base.base, rx->cookie, ret < 0 ? ret : 0);
			return conn->state == SHM_CONN_READY;
		}
		memcpy(conn->rx.iov, rx->iov, rx->iov_cnt * sizeof(*rx->iov));
		conn->rx.iov_cnt = rx->iov_cnt;
		conn->rx.sink.cookie = rx->cookie;
		body_begin(conn, SHM_BODY_PLACE, rx);
		return conn->state == SHM_CONN_READY;
	case ENG_RX_HELD:
		assert(held && "ENG_RX_HELD comes after hold()");
		if (remote) {
			list_add_tail(&held->base.node, &conn->rx.remote);
			held->base.source = conn;
			if (rx->len < SHM_EARLY_MAX && list_empty(&conn->early_node)) {
				conn->early_seq = conn->poller->base.seq;
				list_add_tail(&conn->early_node, &conn->poller->early);
				chan_poller_chore(&conn->poller->base);
			}
		} else if (rx->avail < rx->len) {
			held->base.source = conn;
			conn->rx.sink.hold = &held->base;
			conn->rx.iov[0] = (struct iovec) { held->base.data, rx->len };
			conn->rx.iov_cnt = 1;
			conn->rx.body = SHM_BODY_PLACE;
			conn->rx.off = rx->avail;
			conn->rx.left = rx->len - rx->avail;
		}
		return true;
	case ENG_RX_LATER:
		return false;
	case ENG_RX_OVER:
		shm_conn_fail(conn, FI_EOVERRUN);
		return false;
	default:
		shm_conn_malformed(conn, "a malformed packet");
		return false;
	}
}

/* pause_conn - offer the packet again in a later poll, and take nothing else until then. */
static void pause_conn(struct shm_conn *conn)
{
	conn->paused = true;
	list_add_tail(&conn->state_node, &conn->poller->base.paused);
	chan_poller_chore(&conn->poller->base);
}

static bool offer_packet(struct shm_conn *conn, struct eng_rx *rx, const struct shm_iovs *remote)
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
	if (apply_verdict(conn, verdict, rx, remote))
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
	return offer_packet(conn, &rx, NULL);
}

static bool on_data(struct shm_conn *conn, struct shm_item *item)
{
	uint8_t hdr[ENG_HDR_MAX];	/* a copy: the sender could change what is in the data ring */
	struct eng_rx rx;
	uint64_t total = item->len;

	rx.hdr = item->body + shm_body_hdr(item->kind);
	if (__builtin_expect(item->data_hdr, 0)) {
		memcpy(hdr, item->data, item->hdr_len);
		rx.hdr = hdr;
	}
	if (item->kind == SHM_FIRST)
		memcpy(&total, item->body, sizeof(total));
	if (total < item->len || total > SHM_PAYLOAD_MAX || (total && !item->len)) {
		shm_conn_malformed(conn, "a packet with impossible lengths");
		return false;
	}
	rx.hdr_len = item->hdr_len;
	rx.data = item->data + item->data_hdr;
	rx.avail = item->len;
	rx.len = total;
	return offer_packet(conn, &rx, NULL);
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
		shm_conn_malformed(conn, "an impossible list of buffers");
		return false;
	}
	memcpy(hdr, at, item->hdr_len);
	rx.hdr = hdr;
	rx.hdr_len = item->hdr_len;
	rx.data = hdr;
	rx.avail = 0;
	rx.len = item->len;
	conn->rx.pulls++;
	if (offer_packet(conn, &rx, &from))
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
			shm_conn_malformed(conn, "a DONE without a PULL");
			return false;
		}
		if (conn->state != SHM_CONN_READY)
			return false;
	}
	return true;
}

/* on_flush - payload that is held in the sender's memory moves here. */
static bool on_flush(struct shm_conn *conn)
{
	struct shm_hold *hold, *next;

	list_for_each_entry_safe(hold, next, &conn->rx.remote, base.node)
		if (!take_over(conn, hold))
			return false;
	return true;
}

/* on_item - any slot that eng_on_fast() does not take.  True: it has been processed. */
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
	case SHM_SHARE:
		shm_split_assist(conn);
		return true;
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

/* release_slots - the sender may reuse what was taken; one that waits for room may be asleep. */
static void release_slots(struct shm_conn *conn, bool stalled)
{
	shm_in_release(&conn->in);
	if (stalled && shm_out_asleep(&conn->out))
		shm_conn_wake(conn);
}

/* take_short - the next slot, if it is a short message that a posted receive matches.
 * Returns 1; 0: there is no slot, or it stays for now; -1: nothing has been done.
 */
static inline int take_short(struct shm_conn *conn, bool unexpected)
{
	uint8_t body[SHM_BODY];
	size_t hdr_len, len;
	enum eng_fast fast;
	int ret = shm_in_short(&conn->in, body, &hdr_len, &len);

	if (ret <= 0)
		return ret;
	if (__builtin_expect(conn->rx.body || conn->link->base.closing, 0))
		return -1;
	fast = eng_on_fast(conn->chan, body, hdr_len, len);
	if (__builtin_expect(fast < ENG_FAST_DONE, 0))
		return fast == ENG_FAST_UNEXPECTED && !unexpected ? 0 : -1;
	conn->in.pos++;
	return 1;
}

/* take_any - the next slot, of any kind.
 * Returns 1, or 2: a STALL; 0: there is none, or it stays for now; -1: malformed.
 */
static __attribute__((noinline)) int take_any(struct shm_conn *conn)
{
	struct shm_item item;
	int ret = conn->split_waits ? 0 : shm_in_peek(&conn->in, &item);

	if (ret <= 0)
		return ret;
	if (!on_item(conn, &item))
		return 0;
	shm_in_take(&conn->in, &item);
	return item.kind == SHM_STALL ? 2 : 1;
}

enum eng_fast shm_rx_one(struct shm_conn *conn)
{
	uint8_t body[SHM_BODY];
	size_t hdr_len, len;
	enum eng_fast fast;

	if (__builtin_expect(!conn->fast || shm_in_short(&conn->in, body, &hdr_len, &len) <= 0, 0))
		return ENG_FAST_NONE;
	fast = eng_on_fast(conn->chan, body, hdr_len, len);
	if (__builtin_expect(fast < ENG_FAST_DONE, 0))
		return fast;
	conn->left = 0;
	conn->in.pos++;
	conn->received = true;
	conn->seq = conn->poller->base.seq;
	release_slots(conn, false);
	return fast;
}

/* An unexpected message is the last one of a poll: what is behind it stays in the ring, where
 * it costs no memory and limits a fast sender, until the program could post a receive.
 */
int shm_rx_poll(struct shm_conn *conn, unsigned budget, bool unexpected)
{
	struct shm_poller *poller = conn->poller;
	bool stalled = false;
	int ret = 0, done = 0;

	if (__builtin_expect(conn->paused || conn->state != SHM_CONN_READY, 0))
		return 0;
	if (__builtin_expect(conn->split_waits, 0) && !finish_split(conn))
		return 0;
	poller->held = NULL;
	while (budget--) {
		ret = take_short(conn, unexpected);
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
		conn->received = true;
		conn->seq = poller->base.seq;
		release_slots(conn, stalled);
		if (conn->rx.done_cnt)
			shm_tx_send_done(conn);
	}
	if (__builtin_expect(ret < 0, 0))
		shm_conn_malformed(conn, "an impossible slot");
	else if (__builtin_expect(conn->ended, 0) && !ret && !conn->paused &&
		 !conn->split_waits && !shm_in_ready(&conn->in))
		shm_conn_fail(conn, FI_ECONNRESET);
	conn->fast = conn->state == SHM_CONN_READY && !conn->paused && !conn->rx.body &&
		      !conn->rx.done_cnt && !conn->link->base.closing;
	return done;
}

/* A send of an eager message is not to wait for its receive because of the way that the payload took.  A
 * receive that is posted soon saves a copy.
 */
void shm_rx_take_early(struct shm_poller *poller, unsigned polls)
{
	struct shm_conn *conn, *next;
	struct shm_hold *hold, *then;
	bool good;

	list_for_each_entry_safe(conn, next, &poller->early, early_node) {
		if (poller->base.seq - conn->early_seq < polls)
			continue;
		list_del(&conn->early_node);
		good = conn->state == SHM_CONN_READY;
		list_for_each_entry_safe(hold, then, &conn->rx.remote, base.node)
			if (good && hold->base.len < SHM_EARLY_MAX)
				good = take_over(conn, hold);
		if (good)
			shm_tx_send_done(conn);
	}
}

void shm_rx_drop(struct shm_conn *conn, int err)
{
	struct shm_rx *rx = &conn->rx;
	struct list *item;

	while ((item = list_pop(&rx->remote)))
		chan_hold_lost(container_of(item, struct chan_hold, node), err);
	rx->done_cnt = 0;
	rx->body = SHM_BODY_NONE;
	chan_sink_end(&rx->sink, &conn->link->base.base, err);
}

bool shm_rx_unplace(struct eng_link *link, struct eng_peer *peer, void *cookie)
{
	struct shm_conn *conn = shm_chan_of(eng_peer_chan(peer))->base.conn;

	if (!conn || conn->rx.sink.cookie != cookie || conn->rx.body != SHM_BODY_PLACE)
		return false;
	conn->rx.body = SHM_BODY_SKIP;
	return true;
}

/* ---- unexpected payload ----------------------------------------------------------------------- */

/* take_remote - read the payload from the sender's memory, now that it is wanted. */
static int take_remote(struct shm_conn *conn, const struct shm_hold *hold, const struct iovec *iov,
		       size_t iov_cnt, void *cookie)
{
	int ret;

	if (conn->state != SHM_CONN_READY)
		return -FI_ECONNRESET;
	ret = fetch_split(conn, &hold->from, hold->base.len, iov, iov_cnt, cookie);
	if (ret > 0 || ret == -FI_EFAULT)
		shm_tx_send_done(conn);
	else if (!ret)
		shm_poller_activate(conn->poller, conn);
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
	/* the rest is placed there as it arrives */
	conn->rx.sink.hold = NULL;
	conn->rx.sink.cookie = cookie;
	memcpy(conn->rx.iov, iov, iov_cnt * sizeof(*iov));
	conn->rx.iov_cnt = iov_cnt;
	return 0;
}

static void release_hold(struct chan_hold *base)
{
	struct shm_hold *hold = container_of(base, struct shm_hold, base);
	struct shm_conn *conn = base->source;

	if (base->data) {
		conn->rx.sink.hold = NULL;
		conn->rx.body = SHM_BODY_SKIP;
	} else if (conn->state == SHM_CONN_READY) {
		queue_done(conn, hold->from.id);
		shm_tx_send_done(conn);
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
	hold = chan_hold_new(&poller->base.holds, sizeof(struct shm_hold), rx, poller->remote != NULL,
			     &hold_ops);
	if (!hold)
		return NULL;
	poller->held = container_of(hold, struct shm_hold, base);
	if (poller->remote)
		poller->held->from = *poller->remote;
	return hold;
}

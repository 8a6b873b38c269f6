/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "engine/tx.h"

#include <assert.h>
#include <string.h>

#include "base/iov.h"
#include "engine/oob.h"
#include "engine/ctl.h"
#include "engine/dev.h"
#include "engine/recv.h"
#include "engine/serve.h"
#include "engine/trig.h"

/* To where each state may go. */
#define STARTS (1u << ENG_TX_EAGER | 1u << ENG_TX_RTS | 1u << ENG_TX_ASKED)
__attribute__((unused)) static const unsigned edges[] = {
	[ENG_TX_NEW] = STARTS | 1u << ENG_TX_FENCED,
	[ENG_TX_FENCED] = STARTS | 1u << ENG_TX_FAILED,
	[ENG_TX_EAGER] = 1u << ENG_TX_RTS | 1u << ENG_TX_SENT | 1u << ENG_TX_FAILED,
	[ENG_TX_SHARED] = 1u << ENG_TX_DATA | 1u << ENG_TX_SENT | 1u << ENG_TX_FAILED,
	[ENG_TX_RTS] = 1u << ENG_TX_SHARED | 1u << ENG_TX_DATA | 1u << ENG_TX_FAILED |
		       1u << ENG_TX_EAGER,
	[ENG_TX_DATA] = 1u << ENG_TX_SENT | 1u << ENG_TX_FAILED,
	[ENG_TX_ASKED] = 1u << ENG_TX_SENT | 1u << ENG_TX_FAILED,
	[ENG_TX_SENT] = 1u << ENG_TX_FAILED,
	[ENG_TX_FAILED] = 0,
};

static inline void set_state(struct eng_tx *tx, enum eng_tx_state state)
{
	assert(edges[tx->state] & 1u << state && "an operation goes forward only");
	tx->state = (uint8_t) state;
}

static void release_fence(struct eng_peer *peer);

/*
 * What a request waits for before it completes, by state:
 *
 *   EAGER    its packets are back from the link (pkt_out, pieces), and its ACK if want_ack
 *   RTS      CTS, then DATA; a NACK refuses it
 *   SHARED   an ACK: the receiver has copied it; a CTS: it cannot
 *   DATA     the pump: all DATA packets are back from the link
 *   ASKED    DATA of the peer, which the sink counts
 *   SENT     an ACK that is still to come
 *   FAILED   what the link still has of it: buffers are the program's only after that
 *
 * tx_check() looks at that after each event; tx_finish() runs once.
 */
/* ---- making ------------------------------------------------------------------ */

void eng_tx_describe(struct eng_tx *tx, struct eng_ep *ep, struct eng_peer *peer,
		     void *context, uint64_t cq_flags, enum obj_ep_cntr cntr, size_t len)
{
	tx->ep = ep;
	tx->name = (struct eng_name) { .peer = peer, .kind = ENG_NAME_TX };
	tx->sink.name = (struct eng_name) { .peer = peer, .kind = ENG_NAME_SINK };
	tx->context = context;
	tx->cq_flags = cq_flags;
	tx->len = len;
	tx->state = ENG_TX_NEW;
	tx->first = ENG_TX_EAGER;
	tx->cntr = (uint8_t) cntr;
	tx->pkt_out = false;
	tx->want_comp = false;
	tx->want_ack = false;
	tx->copied = false;
	tx->fence = false;
	tx->barrier = false;
	tx->barring = false;
	tx->listed = false;
	tx->pumping = false;
	tx->pieces = 0;
	tx->sink.pieces = 0;
	tx->sink.dev = NULL;
	tx->bounce = NULL;
	tx->amo = NULL;
	tx->trig = NULL;
	tx->refusal = NULL;
	list_init(&tx->outs);
}

void eng_tx_as_work(struct eng_tx *tx, uint64_t flags)
{
	bool quiet;

	if (__builtin_expect(!(flags & ENG_OP_WORK), 1))
		return;
	tx->trig = eng_trig_work(tx->ep->grp, flags, &quiet);
	if (quiet) {
		tx->want_comp = false;
		tx->cntr = OBJ_CNTR_NONE;
	}
}

int eng_tx_attach(struct eng_tx *tx, const struct iovec *iov, size_t cnt, size_t len,
		  bool inject)
{
	char *copy = (char *) tx->data;

	tx->pkt.len = len;
	if (len > ENG_TX_INLINE) {
		if (!inject) {
			memcpy(tx->pkt.iov, iov, cnt * sizeof(*iov));
			tx->pkt.iov_cnt = (uint16_t) cnt;
			return 0;
		}
		copy = tx->bounce = pool_get(&tx->ep->grp->bounces);
		if (!copy)
			return -FI_EAGAIN;
	}
	if (len)
		iov_gather(iov, cnt, 0, copy, len);
	tx->pkt.iov[0].iov_base = copy;
	tx->pkt.iov[0].iov_len = len;
	tx->pkt.iov_cnt = len != 0;
	tx->pkt.flags |= ENG_PKT_INLINE;
	return 0;
}

void eng_tx_announce(struct eng_tx *tx)
{
	tx->first = ENG_TX_RTS;
	tx->pkt.hdr[0] = WIRE_RTS;
	tx->iov_cnt = tx->pkt.iov_cnt;
	tx->pkt.iov_cnt = 0;
	tx->pkt.len = 0;
	tx->pkt.flags &= ~ENG_PKT_INLINE;
	tx->copied = (tx->pkt.iov[0].iov_base == tx->data || tx->bounce) && tx->len;
}

static void on_tx_sunk(struct eng_sink *sink, int status);
static void on_piece(struct eng_pkt *pkt, int status);

/* asks_whether_it_arrived - is it the first message to a context, see send.c:is_first()? */
static bool asks_whether_it_arrived(const struct eng_tx *tx)
{
	return tx->pkt.hdr[0] == WIRE_EAGER && (tx->pkt.hdr[1] & WIRE_F_ARRIVED);
}

/* An announcement is answered anyway, so it asks for no ACK that says that it has come. */
bool eng_tx_announce_late(struct eng_pkt *pkt)
{
	struct eng_tx *tx = container_of(pkt, struct eng_tx, pkt);

	if (pkt->hdr[0] != WIRE_EAGER || pkt->done != eng_tx_done || tx->state != ENG_TX_EAGER ||
	    tx->sink.dev || pkt->len <= ENG_TX_INLINE || (!tx->name.id && !eng_name_make(tx->ep->grp, &tx->name)))
		return false;
	wire_put_id(pkt->hdr, tx->name.id);
	if (asks_whether_it_arrived(tx)) {
		pkt->hdr[1] &= (uint8_t) ~WIRE_F_ARRIVED;
		tx->want_ack = false;
	}
	eng_tx_announce(tx);
	tx->ep->hub->inject_out += tx->copied;
	set_state(tx, ENG_TX_RTS);
	if (!tx->listed)
		list_add_tail(&tx->node, &tx->name.peer->txs);
	tx->listed = true;
	return true;
}

int eng_tx_ask(struct eng_tx *tx, struct iovec *iov, size_t cnt, size_t len)
{
	tx->first = ENG_TX_ASKED;
	tx->sink.iov = iov;
	tx->sink.iov_cnt = (uint16_t) cnt;
	tx->sink.done = on_tx_sunk;
	return eng_sink_open(&tx->sink, tx->ep->grp, len);
}

struct eng_pkt *eng_tx_piece(struct eng_tx *tx)
{
	struct eng_out *out = pool_get(&tx->ep->grp->outs);

	if (!out)
		return NULL;
	out->grp = tx->ep->grp;
	out->owner = tx;
	out->pkt.done = on_piece;
	list_add_tail(&out->pkt.node, &tx->outs);
	return &out->pkt;
}

static void drop_outs(struct eng_tx *tx)
{
	struct list *item;

	while ((item = list_pop(&tx->outs)))
		pool_put(&tx->ep->grp->outs, container_of(item, struct eng_out, pkt.node));
}

/* ---- ends ------------------------------------------------------------------ */

void eng_tx_free(struct eng_tx *tx)
{
	struct eng_grp *grp = tx->ep->grp;

	eng_name_drop(grp, &tx->name);
	eng_name_drop(grp, &tx->sink.name);
	if (tx->bounce)
		pool_put(&grp->bounces, tx->bounce);
	if (tx->amo)
		pool_put(&grp->amos, tx->amo);
	if (__builtin_expect(tx->sink.dev != NULL, 0))
		eng_dev_put(tx->sink.dev);
	if (tx->refusal)
		eng_ctl_put(tx->refusal);
	drop_outs(tx);
	if (tx->listed)
		list_del(&tx->node);
	pool_put(&grp->txs, tx);
}

/* An error is reported whatever the flags of the call: the buffer is the program's again.  What belongs to a
 * scalable endpoint is of a context that is closed.
 */
static void tx_report_error(struct eng_tx *tx, int err)
{
	struct fi_cq_err_entry entry = obj_cq_err(tx->context, tx->cq_flags, err);

	if (tx->ep->tx_ctx)
		return;
	entry.src_addr = eng_peer_fi_addr(tx->name.peer);

	obj_ep_err_tx(&tx->ep->base, &entry, NULL, 0, tx->cntr);
}

/* What has come after the write @tx may start; release_fence() sends it. */
static void lift_barrier(struct eng_tx *tx)
{
	struct eng_peer *peer = tx->name.peer;

	if (__builtin_expect(!tx->barring, 1))
		return;
	tx->barring = false;
	peer->slow &= ~ENG_PEER_BARRED;
	if (list_empty(&peer->fenced))
		peer->slow &= ~ENG_PEER_FENCED;
}

static void set_barrier(struct eng_tx *tx)
{
	tx->barring = true;
	tx->name.peer->slow |= ENG_PEER_FENCED | ENG_PEER_BARRED;
}

/* The request is over: one completion, then it is gone. */
static void tx_finish(struct eng_tx *tx)
{
	struct eng_peer *peer = tx->name.peer;
	struct eng_ep *ep = tx->ep;

	assert(!tx->pkt_out && !tx->pieces && !tx->pumping && "the link owns no part of it");
	ep->tx_out--;
	ep->hub->inject_out -= tx->copied;
	peer->tx_cnt--;
	lift_barrier(tx);
	if (__builtin_expect(tx->cq_flags & FI_COLLECTIVE, 0))
		eng_oob_send_done(tx);
	else if (ep->state == ENG_EP_CLOSED)
		;
	else if (tx->state == ENG_TX_FAILED)
		tx_report_error(tx, -tx->err);
	else
		obj_ep_comp_tx(&ep->base, tx->want_comp, tx->context, tx->cq_flags,
			       tx->len, tx->cntr);
	if (__builtin_expect(tx->trig != NULL, 0))
		eng_trig_done(tx->trig, ep->state == ENG_EP_CLOSED ? FI_ECANCELED :
			      tx->state == ENG_TX_FAILED ? -tx->err : 0);
	eng_tx_free(tx);
	if (__builtin_expect(peer->slow & ENG_PEER_FENCED, 0) && !peer->releasing)
		release_fence(peer);
	eng_peer_unref(peer);
}

/* Something that the request waited for has happened. */
static void tx_check(struct eng_tx *tx)
{
	if (tx->pkt_out || tx->pieces || tx->pumping || tx->sink.pieces)
		return;
	switch (tx->state) {
	case ENG_TX_EAGER:
	case ENG_TX_DATA:
	case ENG_TX_SENT:
		if (!tx->want_ack)
			tx_finish(tx);
		else if (tx->state != ENG_TX_SENT)
			set_state(tx, ENG_TX_SENT);
		return;
	case ENG_TX_FAILED:
		tx_finish(tx);
		return;
	default:
		return;
	}
}

/* The request fails, and completes when the link has given back its packets.  A further
 * failure of one that has failed changes nothing: the first cause is reported.
 */
static void tx_fail(struct eng_tx *tx, int err)
{
	if (tx->state != ENG_TX_FAILED) {
		set_state(tx, ENG_TX_FAILED);
		tx->err = err;
		/* Whatever the peer still says about it is not heard. */
		eng_name_drop(tx->ep->grp, &tx->name);
		eng_name_drop(tx->ep->grp, &tx->sink.name);
		tx->sink.err = err;
	}
	if (tx->pumping)
		eng_pump_stop(&tx->pump, err);
	else
		tx_check(tx);
}

/* Only before the payload is with the link: behind a fence, or announced.  An announced
 * request keeps its id until the peer asks for the payload; the answer is a NACK, whose
 * packet is taken now.
 */
bool eng_tx_abandon(struct eng_tx *tx)
{
	if (tx->state == ENG_TX_FENCED) {
		list_del(&tx->node);
		tx->name.peer->fenced_cnt--;
		tx->context = NULL;
		tx_fail(tx, -FI_ECANCELED);
		return true;
	}
	if (tx->state != ENG_TX_RTS)
		return false;
	tx->refusal = eng_ctl_get(tx->ep->grp);
	if (!tx->refusal)
		return false;
	tx->context = NULL;
	return true;
}

/* tx_lost - the link has given up a packet, or cannot send such packets to this peer. */
static void tx_lost(struct eng_tx *tx, int status)
{
	eng_peer_losing(tx->name.peer, status);
	tx_fail(tx, status);
}

void eng_tx_done(struct eng_pkt *pkt, int status)
{
	struct eng_tx *tx = container_of(pkt, struct eng_tx, pkt);

	tx->pkt_out = false;
	if (__builtin_expect(status, 0))
		tx_lost(tx, status);
	else
		tx_check(tx);
}

/* A WRITE packet before the last is back from the link. */
static void on_piece(struct eng_pkt *pkt, int status)
{
	struct eng_out *out = container_of(pkt, struct eng_out, pkt);
	struct eng_tx *tx = out->owner;

	pool_put(&out->grp->outs, out);
	tx->pieces--;
	if (status)
		tx_lost(tx, status);
	else
		tx_check(tx);
}

/* The payload that a CTS asked for is with the peer, or cannot be. */
static void on_tx_pumped(struct eng_pump *pump, int status)
{
	struct eng_tx *tx = container_of(pump, struct eng_tx, pump);

	tx->pumping = false;
	if (__builtin_expect(status <= -HMEM_ERR_BASE, 0))
		eng_dev_tell(tx, pump->rx_id);
	if (status)
		tx_fail(tx, status);
	else
		tx_check(tx);
}

/* The data of a read, or the result of an atomic, is in place; or the peer is lost. */
static void on_tx_sunk(struct eng_sink *sink, int status)
{
	struct eng_tx *tx = container_of(sink, struct eng_tx, sink);

	if (status) {
		tx_fail(tx, status);
		return;
	}
	if (tx->state == ENG_TX_ASKED)
		set_state(tx, ENG_TX_SENT);
	tx_check(tx);
}

void eng_tx_announce_not(struct eng_pkt *pkt)
{
	struct eng_tx *tx = container_of(pkt, struct eng_tx, pkt);
	int ret;

	if (pkt->hdr[0] != WIRE_RTS || pkt->done != eng_tx_done)
		return;
	pkt->hdr[0] = WIRE_EAGER;
	pkt->hdr[1] &= (uint8_t) ~WIRE_F_SHARE;
	pkt->iov_cnt = tx->iov_cnt;
	pkt->len = tx->len;
	set_state(tx, ENG_TX_EAGER);
	ret = eng_dev_stage_late(tx);
	if (!ret)
		return;
	list_del(&pkt->node);
	tx->pkt_out = false;
	tx_fail(tx, ret);
}

/* ---- beginning -------------------------------------------------------------- */

/* More than the guaranteed size, or so much payload that the receiver may have sent XOFF: see first
 * whether something has finished, so that a program which only posts leaves room to the peer and does
 * not fill the memory.
 */
static bool make_room(struct eng_ep *ep)
{
	obj_prog_poll_locked(ep->base.prog);
	return ep->tx_out < ep->tx_max;
}

int eng_tx_find(struct eng_ep *ep, fi_addr_t dest, struct eng_peer **peer_p)
{
	struct eng_peer *peer;
	int ret = 0;

	ep->beyond = ep->tx_out >= ep->tx_size;
	if (__builtin_expect(ep->beyond || ep->unpolled > ep->ahead, 0)) {
		ep->unpolled = 0;
		if (!make_room(ep))
			return -FI_EAGAIN;
	}
	peer = eng_peer_get(ep->hub, dest, &ret);
	if (!peer)
		return ret;
	if (peer->slow & ENG_PEER_CLOSED)
		return -FI_ENOTCONN;
	*peer_p = peer;
	return peer->slow & ENG_PEER_IDLE ? eng_peer_start(peer) : 0;
}

int eng_tx_enter(struct eng_ep *ep, fi_addr_t dest, struct eng_peer **peer_p)
{
	int ret;

	if (ep->tx_ret)
		return ep->tx_ret;
	lock_get(&ep->base.prog->lock);
	ret = eng_tx_find(ep, dest, peer_p);
	if (ret)
		lock_put(&ep->base.prog->lock);
	return ret;
}

int eng_tx_refuse(struct eng_ep *ep)
{
	ep->retries = true;
	obj_prog_poll_locked(ep->base.prog);
	return -FI_EAGAIN;
}

/* The link has no way to the peer.  What went before it comes back by itself. */
static int not_started(struct eng_tx *tx, int err)
{
	drop_outs(tx);
	if (!tx->pieces)
		return err;
	tx_fail(tx, err);
	return 0;
}

/* Send the packets of a request.  On error it is the caller's again. */
static int tx_start(struct eng_tx *tx)
{
	struct eng_peer *peer = tx->name.peer;
	struct eng_out *out;
	int ret;

	set_state(tx, tx->first);
	if (__builtin_expect(tx->barrier, 0))
		set_barrier(tx);
	if (tx->name.id || tx->first == ENG_TX_ASKED) {
		list_add_tail(&tx->node, &peer->txs);
		tx->listed = true;
	}
	while ((out = list_pop_entry(&tx->outs, struct eng_out, pkt.node))) {
		ret = eng_peer_send(peer, &out->pkt);
		if (!ret) {
			tx->pieces++;
			continue;
		}
		pool_put(&out->grp->outs, out);
		if (ret < 0)
			return not_started(tx, ret);
	}
	tx->pkt.done = eng_tx_done;
	ret = eng_peer_send(peer, &tx->pkt);
	if (ret < 0)
		return not_started(tx, ret);
	tx->pkt_out = !ret;
	if (ret)
		tx_check(tx);
	return 0;
}

/* From here to tx_finish() the request holds a reference to its peer and a place in the queue. */
static void tx_count(struct eng_tx *tx)
{
	eng_peer_ref(tx->name.peer);
	tx->name.peer->tx_cnt++;
	tx->ep->tx_out++;
}

void eng_tx_adopt(struct eng_tx *tx)
{
	set_state(tx, ENG_TX_EAGER);
	tx->pkt_out = true;
	tx_count(tx);
}

/* Behind a fence: sent by release_fence(), in the order of the calls. */
static void tx_hold(struct eng_tx *tx)
{
	struct eng_peer *peer = tx->name.peer;

	set_state(tx, ENG_TX_FENCED);
	list_add_tail(&tx->node, &peer->fenced);
	tx->listed = true;
	peer->fenced_cnt++;
}

int eng_tx_launch(struct eng_tx *tx, uint64_t flags)
{
	struct eng_peer *peer = tx->name.peer;
	struct eng_ep *ep = tx->ep;
	int ret;

	tx_count(tx);
	ep->hub->inject_out += tx->copied;
	tx->fence = (flags & FI_FENCE) != 0;
	if (__builtin_expect(tx->fence && peer->tx_cnt > 1, 0))
		peer->slow |= ENG_PEER_FENCED;
	if (__builtin_expect(peer->slow & ENG_PEER_FENCED, 0)) {
		tx_hold(tx);
		return 0;
	}
	ret = tx_start(tx);
	if (__builtin_expect(!ret, 1))
		return 0;
	ep->tx_out--;
	ep->hub->inject_out -= tx->copied;
	peer->tx_cnt--;
	lift_barrier(tx);
	eng_tx_free(tx);
	eng_peer_unref(peer);
	return eng_tx_not_sent(ep, ret);
}

/* Send what waits behind a fence or a barrier, up to the next one. */
static void release_fence(struct eng_peer *peer)
{
	struct eng_tx *tx;
	struct list *item;
	int ret;

	peer->releasing = true;
	while (!(peer->slow & ENG_PEER_BARRED) && (item = peer->fenced.next) != &peer->fenced) {
		tx = container_of(item, struct eng_tx, node);
		/* peer->tx_cnt counts those that wait here, too. */
		if (tx->fence && peer->tx_cnt > peer->fenced_cnt)
			break;
		list_del(&tx->node);
		tx->listed = false;
		peer->fenced_cnt--;
		ret = tx_start(tx);
		if (ret)
			tx_fail(tx, ret);
	}
	if (list_empty(&peer->fenced) && !(peer->slow & ENG_PEER_BARRED))
		peer->slow &= ~ENG_PEER_FENCED;
	peer->releasing = false;
}

/* ---- answers ---------------------------------------------------------------- */

/* The ids in answers are numbers that a peer sent: each is looked up and must be of a request
 * to that peer.
 */
static struct eng_tx *tx_find(struct eng_peer *peer, uint32_t id)
{
	struct eng_name *name = eng_name_find(peer->ep->grp, id, ENG_NAME_TX, peer);

	return name ? container_of(name, struct eng_tx, name) : NULL;
}

static struct eng_tx *find_asked(struct eng_peer *peer, uint32_t id)
{
	struct eng_name *name = eng_name_find(peer->ep->grp, id, ENG_NAME_SINK, peer);
	struct eng_sink *sink;

	if (!name)
		return NULL;
	/* Receives have sinks, too; no peer may refuse those. */
	sink = container_of(name, struct eng_sink, name);
	return sink->done == on_tx_sunk ? container_of(sink, struct eng_tx, sink) : NULL;
}

/* The receiver has matched the message and has room for @msg->len of it: less where its buffer
 * is shorter, 0 where it drops the message.
 */
const char *eng_tx_on_cts(struct eng_peer *peer, const struct wire_msg *msg)
{
	struct eng_tx *tx = tx_find(peer, msg->id);

	if (!tx && eng_serve_answered(peer, msg))
		return NULL;
	if (!tx || (tx->state != ENG_TX_RTS && tx->state != ENG_TX_SHARED))
		return "clear-to-send for a message that was not announced";
	if (msg->len > tx->len)
		return "clear-to-send for more than was announced";
	if (__builtin_expect(msg->flags & WIRE_F_SHARE, 0)) {
		if (tx->state != ENG_TX_RTS || !eng_dev_offered(tx))
			return "clear-to-send for shared memory that was not announced";
		if (msg->len && !tx->refusal && eng_dev_share(tx, msg)) {
			set_state(tx, ENG_TX_SHARED);
			return NULL;
		}
	}
	set_state(tx, ENG_TX_DATA);
	if (__builtin_expect(tx->refusal && msg->len, 0)) {
		eng_ctl_send(tx->refusal, peer, WIRE_NACK, 0, msg->rx_id, 0, FI_ECANCELED);
		tx->refusal = NULL;
		tx_check(tx);
		return NULL;
	}
	if (!msg->len) {
		tx_check(tx);
		return NULL;
	}
	tx->pump.peer = peer;
	tx->pump.grp = tx->ep->grp;
	tx->pump.iov = tx->pkt.iov;
	tx->pump.iov_cnt = tx->iov_cnt;
	tx->pump.rx_id = msg->rx_id;
	tx->pump.base = 0;
	tx->pump.want = msg->len;
	tx->pump.mrs = tx->sink.dev ? eng_dev_mrs(tx->sink.dev) : NULL;
	tx->pump.done = on_tx_pumped;
	tx->pumping = true;
	eng_pump_start(&tx->pump);
	return NULL;
}

/* learn_ctx - the peer has the receive context that the message was for, and those before it. */
static void learn_ctx(const struct eng_tx *tx)
{
	const struct wire_base *base = (const struct wire_base *) tx->pkt.hdr;
	struct eng_peer *peer = tx->name.peer;
	uint16_t cnt = (uint16_t) (le16toh(base->ctx) + 1);

	if (peer->ctx_known < cnt)
		peer->ctx_known = cnt;
}

const char *eng_tx_on_ack(struct eng_peer *peer, const struct wire_msg *msg)
{
	struct eng_tx *tx = tx_find(peer, msg->id);

	if (__builtin_expect(msg->flags & WIRE_F_SHARE, 0)) {
		if (!tx && eng_serve_answered(peer, msg))
			return NULL;
		if (!tx || tx->state != ENG_TX_SHARED)
			return "acknowledgement of a copy that was not asked for";
		set_state(tx, ENG_TX_SENT);
		tx_check(tx);
		return NULL;
	}
	if (!tx || !tx->want_ack)
		return "acknowledgement that no operation waits for";
	if (msg->flags & WIRE_F_ARRIVED)
		learn_ctx(tx);
	tx->want_ack = false;
	tx_check(tx);
	return NULL;
}

void eng_tx_on_nack(struct eng_peer *peer, const struct wire_msg *msg)
{
	struct eng_tx *tx = tx_find(peer, msg->id);
	char text[ENG_PEER_TEXT];

	if (!tx)
		tx = find_asked(peer, msg->id);
	if (tx) {
		tx_fail(tx, -(int) msg->err);
		return;
	}
	if (eng_recv_refused(peer, msg->id, (int) msg->err) || eng_serve_answered(peer, msg) ||
	    eng_serve_refused(peer, msg->id, (int) msg->err))
		return;
	ENG_WARN(peer->ep, "%s: refused a write or an atomic that was complete already: %s; "
		 "FI_DELIVERY_COMPLETE waits for the outcome\n", eng_peer_text(peer, text),
		 fi_strerror((int) msg->err));
}

/* What the peer has asked for, or must match first, has its answer when its program wants. */
bool eng_peer_asks(const struct eng_peer *peer)
{
	const struct eng_tx *tx;

	list_for_each_entry(tx, &peer->txs, node)
		if (tx->state == ENG_TX_ASKED || (tx->state == ENG_TX_SENT && tx->want_ack && tx->cq_flags & FI_WRITE))
			return true;
	return false;
}

static void tx_leave(struct eng_tx *tx, struct eng_ep *ctx)
{
	ctx->tx_out--;
	tx->ep = ctx->hub;
	tx->ep->tx_out++;
	tx->want_comp = false;
	tx->cntr = OBJ_CNTR_NONE;
	if (tx->trig)
		eng_trig_done(tx->trig, FI_ECANCELED);
	tx->trig = NULL;
}

/* The answer is no part of the operation: the link has given back its packet. */
void eng_tx_leave(struct eng_ep *ctx)
{
	struct eng_peer *peer;
	struct eng_tx *tx;

	list_for_each_entry(peer, &ctx->hub->peers, node)
		list_for_each_entry(tx, &peer->txs, node)
			if (tx->ep == ctx && tx->state == ENG_TX_SENT && asks_whether_it_arrived(tx))
				tx_leave(tx, ctx);
}

void eng_tx_fail_all(struct eng_peer *peer, int err)
{
	struct list *item;
	struct eng_tx *tx;

	peer->ctx_known = 0;	/* its successor may have fewer */
	/* Nothing behind a fence may start now. */
	peer->slow &= ~(ENG_PEER_FENCED | ENG_PEER_BARRED);
	while ((item = list_pop(&peer->fenced))) {
		peer->fenced_cnt--;
		tx_fail(container_of(item, struct eng_tx, node), -err);
	}
	while ((tx = list_pop_entry(&peer->txs, struct eng_tx, node))) {
		tx->want_ack = false;
		tx->barring = false;
		tx_fail(tx, -err);
	}
}

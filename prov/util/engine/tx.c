/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "engine/tx.h"

#include <assert.h>

#include "base/iov.h"

/* To where each state may go. */
__attribute__((unused)) static const unsigned edges[] = {
	[ENG_TX_NEW] = 1u << ENG_TX_FENCED | 1u << ENG_TX_EAGER | 1u << ENG_TX_RTS,
	[ENG_TX_FENCED] = 1u << ENG_TX_EAGER | 1u << ENG_TX_RTS | 1u << ENG_TX_FAILED,
	[ENG_TX_EAGER] = 1u << ENG_TX_SENT | 1u << ENG_TX_FAILED,
	[ENG_TX_RTS] = 1u << ENG_TX_DATA | 1u << ENG_TX_FAILED,
	[ENG_TX_DATA] = 1u << ENG_TX_SENT | 1u << ENG_TX_FAILED,
	[ENG_TX_SENT] = 1u << ENG_TX_FAILED,
	[ENG_TX_FAILED] = 0,
};

static inline void set_state(struct eng_tx *tx, enum eng_tx_state state)
{
	assert(edges[tx->state] & 1u << state && "a send goes forward only");
	tx->state = (uint8_t) state;
}

static void release_fence(struct eng_peer *peer);

/* ---- ends ------------------------------------------------------------------ */

void eng_tx_free(struct eng_tx *tx)
{
	struct eng_grp *grp = tx->ep->grp;

	eng_name_drop(grp, &tx->name);
	if (tx->bounce)
		pool_put(&grp->bounces, tx->bounce);
	if (tx->listed)
		list_del(&tx->node);
	pool_put(&grp->txs, tx);
}

static void report_error(struct eng_tx *tx, int err)
{
	struct fi_cq_err_entry entry = {
		.op_context = tx->context,
		.flags = tx->cq_flags,
		.len = 0,
		.err = err,
		.prov_errno = err,
		.src_addr = eng_peer_fi_addr(tx->name.peer),
	};

	obj_ep_err_tx(&tx->ep->base, &entry, NULL, 0, tx->cntr);
}

/* The request is over: one completion, then it is gone. */
static void finish(struct eng_tx *tx)
{
	struct eng_peer *peer = tx->name.peer;
	struct eng_ep *ep = tx->ep;

	assert(!tx->pkt_out && !tx->pieces && "the link owns no part of it");
	ep->tx_out--;
	ep->inject_out -= tx->copied;
	peer->tx_cnt--;
	if (ep->state == ENG_EP_CLOSED)
		;
	else if (tx->state == ENG_TX_FAILED)
		report_error(tx, -tx->err);
	else
		obj_ep_comp_tx(&ep->base, tx->want_comp, tx->context, tx->cq_flags,
			       tx->len, tx->cntr);
	eng_tx_free(tx);
	eng_peer_unref(peer);
	if (__builtin_expect(peer->slow & ENG_PEER_FENCED, 0) && !peer->releasing)
		release_fence(peer);
}

/* Something that the request waited for has happened. */
static void check(struct eng_tx *tx)
{
	if (tx->pkt_out || tx->pieces)
		return;
	switch (tx->state) {
	case ENG_TX_DATA:
		if (tx->off < tx->want)
			return;
		/* fall through */
	case ENG_TX_EAGER:
		if (!tx->want_ack)
			finish(tx);
		else
			set_state(tx, ENG_TX_SENT);
		return;
	case ENG_TX_SENT:
		if (!tx->want_ack)
			finish(tx);
		return;
	case ENG_TX_FAILED:
		finish(tx);
		return;
	default:
		return;
	}
}

static void fail(struct eng_tx *tx, int err)
{
	if (tx->state != ENG_TX_FAILED) {
		if (tx->state == ENG_TX_DATA)
			list_del(&tx->work.node);
		set_state(tx, ENG_TX_FAILED);
		tx->err = err;
	}
	check(tx);
}

void eng_tx_done(struct eng_pkt *pkt, int status)
{
	struct eng_tx *tx = container_of(pkt, struct eng_tx, pkt);

	tx->pkt_out = false;
	if (__builtin_expect(status, 0))
		fail(tx, status);
	else
		check(tx);
}

/* ---- beginning -------------------------------------------------------------- */

int eng_tx_start(struct eng_tx *tx)
{
	struct eng_peer *peer = tx->name.peer;
	int ret;

	tx->pkt.done = eng_tx_done;
	tx->pkt_out = true;
	set_state(tx, tx->pkt.hdr[0] == WIRE_RTS ? ENG_TX_RTS : ENG_TX_EAGER);
	if (tx->name.id) {
		list_add_tail(&tx->node, &peer->txs);
		tx->listed = true;
	}
	ret = peer->ep->link_ops->send(peer->link, peer, &tx->pkt);
	if (ret < 0) {
		tx->pkt_out = false;
		return ret;
	}
	if (ret) {
		tx->pkt_out = false;
		check(tx);
	}
	return 0;
}

void eng_tx_hold(struct eng_tx *tx)
{
	struct eng_peer *peer = tx->name.peer;

	set_state(tx, ENG_TX_FENCED);
	list_add_tail(&tx->node, &peer->fenced);
	tx->listed = true;
	peer->fenced_cnt++;
}

/* Send what waits behind a fence, up to the next fence. */
static void release_fence(struct eng_peer *peer)
{
	struct eng_tx *tx;
	struct list *item;
	int ret;

	peer->releasing = true;
	while ((item = peer->fenced.next) != &peer->fenced) {
		tx = container_of(item, struct eng_tx, node);
		/* peer->tx_cnt counts those that wait here, too. */
		if (tx->fence && peer->tx_cnt > peer->fenced_cnt)
			break;
		list_del(&tx->node);
		tx->listed = false;
		peer->fenced_cnt--;
		ret = eng_tx_start(tx);
		if (ret)
			fail(tx, ret);
	}
	if (list_empty(&peer->fenced))
		peer->slow &= ~ENG_PEER_FENCED;
	peer->releasing = false;
}

/* ---- long messages ---------------------------------------------------------- */

static void on_piece_done(struct eng_pkt *pkt, int status);

static struct eng_out *make_piece(struct eng_tx *tx)
{
	struct eng_grp *grp = tx->ep->grp;
	struct eng_out *out = pool_get(&grp->outs);
	size_t len = tx->want - tx->off;
	struct eng_pkt *pkt;

	if (!out)
		return NULL;
	if (len > tx->ep->hub->seg_size)
		len = tx->ep->hub->seg_size;
	out->grp = grp;
	out->owner = tx;
	pkt = &out->pkt;
	pkt->flags = tx->off + len < tx->want ? ENG_PKT_MORE : 0;
	pkt->hdr_len = (uint16_t) wire_put_word(pkt->hdr,
		wire_put_base(pkt->hdr, WIRE_DATA, 0, 0, tx->rx_id, len), tx->off);
	pkt->iov_cnt = (uint16_t) iov_slice(tx->pkt.iov, tx->iov_cnt, tx->off, len, pkt->iov);
	pkt->len = len;
	pkt->done = on_piece_done;
	return out;
}

/* Keep the link busy with pieces.  Returns -FI_EAGAIN if memory is short. */
static int push(struct eng_tx *tx)
{
	struct eng_peer *peer = tx->name.peer;
	struct eng_out *out;
	int ret;

	while (tx->off < tx->want && tx->pieces < ENG_TX_PIECES) {
		out = make_piece(tx);
		if (!out)
			return tx->pieces ? 0 : -FI_EAGAIN;
		tx->off += out->pkt.len;
		tx->pieces++;
		ret = peer->ep->link_ops->send(peer->link, peer, &out->pkt);
		if (!ret)
			continue;
		tx->pieces--;
		pool_put(&out->grp->outs, out);
		if (ret < 0) {
			fail(tx, ret);
			return 0;
		}
	}
	check(tx);
	return 0;
}

static int push_again(struct eng_work *work)
{
	return push(container_of(work, struct eng_tx, work));
}

static void push_or_defer(struct eng_tx *tx)
{
	struct eng_grp *grp = tx->ep->grp;

	if (push(tx))
		eng_grp_defer(grp, &tx->work);
}

static void on_piece_done(struct eng_pkt *pkt, int status)
{
	struct eng_out *out = container_of(pkt, struct eng_out, pkt);
	struct eng_tx *tx = out->owner;

	pool_put(&out->grp->outs, out);
	tx->pieces--;
	if (status)
		fail(tx, status);
	else if (tx->state == ENG_TX_DATA)
		push_or_defer(tx);
	else
		check(tx);
}

/* ---- answers ---------------------------------------------------------------- */

static struct eng_tx *find(struct eng_peer *peer, uint32_t id)
{
	struct eng_name *name = eng_name_find(peer->ep->grp, id, ENG_NAME_TX, peer);

	return name ? container_of(name, struct eng_tx, name) : NULL;
}

const char *eng_tx_on_cts(struct eng_peer *peer, const struct wire_msg *msg)
{
	struct eng_tx *tx = find(peer, msg->id);

	if (!tx || tx->state != ENG_TX_RTS)
		return "clear-to-send for a message that was not announced";
	if (msg->len > tx->len)
		return "clear-to-send for more than was announced";
	set_state(tx, ENG_TX_DATA);
	tx->rx_id = msg->rx_id;
	tx->want = msg->len;
	tx->off = 0;
	list_init(&tx->work.node);
	tx->work.run = push_again;
	push_or_defer(tx);
	return NULL;
}

const char *eng_tx_on_ack(struct eng_peer *peer, const struct wire_msg *msg)
{
	struct eng_tx *tx = find(peer, msg->id);

	if (!tx || !tx->want_ack)
		return "acknowledgement that nobody waits for";
	tx->want_ack = false;
	check(tx);
	return NULL;
}

const char *eng_tx_on_nack(struct eng_peer *peer, const struct wire_msg *msg)
{
	struct eng_tx *tx = find(peer, msg->id);

	if (!tx)
		return "refusal of an operation that does not exist";
	fail(tx, -(int) msg->err);
	return NULL;
}

void eng_tx_fail_all(struct eng_peer *peer, int err)
{
	struct list *item;

	/* Nothing behind a fence may start now. */
	peer->slow &= ~ENG_PEER_FENCED;
	while ((item = peer->fenced.next) != &peer->fenced) {
		peer->fenced_cnt--;
		list_del(item);
		fail(container_of(item, struct eng_tx, node), -err);
	}
	while ((item = list_pop(&peer->txs)))
		fail(container_of(item, struct eng_tx, node), -err);
}

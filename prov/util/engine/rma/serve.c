/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "engine/serve.h"

#include <rdma/fi_errno.h>
#include <stdlib.h>

#include "base/iov.h"

/* ---- common ----------------------------------------------------------------- */

struct eng_serve *eng_serve_get(struct eng_peer *peer, const struct wire_msg *msg)
{
	struct eng_serve *sv = pool_get(&peer->ep->grp->serves);

	if (!sv)
		return NULL;
	sv->peer = peer;
	sv->msg = *msg;
	sv->note = NULL;
	sv->amo = NULL;
	sv->bounce = NULL;
	sv->sink.name = (struct eng_name) { .peer = peer, .kind = ENG_NAME_SINK };
	list_init(&sv->node);
	eng_peer_ref(peer);
	return sv;
}

void eng_serve_put(struct eng_serve *sv)
{
	struct eng_peer *peer = sv->peer;
	struct eng_grp *grp = peer->ep->grp;

	if (sv->note)
		eng_note_put(sv->note);
	if (sv->amo)
		pool_put(&grp->amos, sv->amo);
	free(sv->bounce);
	list_del(&sv->node);
	pool_put(&grp->serves, sv);
	eng_peer_unref(peer);
}

enum eng_rx_verdict eng_serve_refuse(struct eng_peer *peer, const struct wire_msg *msg, int err)
{
	struct eng_out *note = eng_note_get(peer->ep->grp);
	char text[ENG_PEER_TEXT];

	if (!note)
		return ENG_RX_LATER;
	ENG_WARN(peer->ep, "%s: %s of remote key 0x%llx at 0x%llx, %llu bytes, is refused: %s\n",
		 eng_peer_text(peer, text), wire_op_name(msg->op),
		 (unsigned long long) msg->rma[0].key, (unsigned long long) msg->rma[0].addr,
		 (unsigned long long) msg->len, fi_strerror(-err));
	eng_note_send(note, peer, WIRE_NACK, 0, msg->id, 0, (uint32_t) -err);
	return ENG_RX_DONE;
}

static int verify(struct eng_peer *peer, const struct wire_msg *msg, const struct wire_rma *r,
		  uint64_t len, uint64_t access, struct iovec *iov, size_t *cnt_p, struct obj_cntr **cntr_p)
{
	return obj_mr_verify(peer->ep->base.domain, &eng_ep_rx(peer->ep, msg->ctx)->base, r->key, r->addr, len,
			     access, iov, cnt_p, cntr_p);
}

/* All ranges may be accessed; how many pieces of memory are they? */
static int verify_all(struct eng_peer *peer, const struct wire_msg *msg, uint64_t access,
		      struct iovec *iov, size_t room, size_t *cnt_p)
{
	struct iovec part[OBJ_MR_IOV_MAX];
	size_t i, j, cnt;
	int ret;

	*cnt_p = 0;
	for (i = 0; i < msg->rma_cnt; i++) {
		ret = verify(peer, msg, &msg->rma[i], msg->rma[i].len, access, part, &cnt, NULL);
		if (ret)
			return ret;
		for (j = 0; j < cnt; j++, ++*cnt_p)
			if (*cnt_p < room)
				iov[*cnt_p] = part[j];
	}
	return 0;
}

/* lease - the next time the peer may need no help of ours. */
static void lease(struct eng_peer *peer, const struct wire_msg *msg)
{
	const struct eng_link_ops *ops = peer->link->ops;

	if (ops->lease && msg->rma_cnt == 1 && msg->len)
		ops->lease(peer->link, peer, msg->rma[0].key);
}

void eng_serve_events(struct eng_peer *peer, const struct wire_msg *msg, uint64_t access,
		      uint64_t op_flag, uint64_t len)
{
	struct obj_ep *base = &eng_ep_rx(peer->ep, msg->ctx)->base;
	struct iovec iov[OBJ_MR_IOV_MAX];
	struct obj_cntr *cntr;
	size_t i, cnt;

	/* A counter is looked up when it is bumped: its region may have gone. */
	for (i = 0; i < msg->rma_cnt && access == FI_REMOTE_WRITE; i++) {
		cntr = NULL;
		if (!verify(peer, msg, &msg->rma[i], 0, access, iov, &cnt, &cntr) && cntr)
			obj_cntr_inc(cntr, len);
	}
	if (msg->flags & WIRE_F_DATA)
		obj_ep_comp_rx(base, base->rx_cq != NULL, NULL,
			       op_flag | access | FI_REMOTE_CQ_DATA, len, NULL, msg->data, 0,
			       peer->ep->source ? eng_peer_fi_addr(peer) : FI_ADDR_NOTAVAIL,
			       OBJ_CNTR_NONE);
	obj_ep_count(base, access == FI_REMOTE_WRITE ? OBJ_CNTR_REMOTE_WRITE :
		     OBJ_CNTR_REMOTE_READ, len);
}

/* ---- writes ----------------------------------------------------------------- */

/* The payload of a piece is in place. */
static void written(struct eng_peer *peer, const struct wire_msg *msg, struct eng_out *ack)
{
	if (!(msg->flags & WIRE_F_LAST))
		return;
	eng_serve_events(peer, msg, FI_REMOTE_WRITE, FI_RMA, msg->total);
	if (ack)
		eng_note_send(ack, peer, WIRE_ACK, WIRE_F_DELIVERED, msg->id, 0, 0);
}

/* Copy a payload that is here in whole, range by range. */
static void scatter(struct eng_peer *peer, const struct wire_msg *msg, const uint8_t *data)
{
	struct iovec iov[OBJ_MR_IOV_MAX];
	size_t i, cnt;

	for (i = 0; i < msg->rma_cnt; i++) {
		const struct wire_rma *r = &msg->rma[i];

		if (r->len && !verify(peer, msg, r, r->len, FI_REMOTE_WRITE, iov, &cnt, NULL))
			iov_scatter(iov, cnt, 0, data, r->len);
		data += r->len;
	}
}

static void on_write_sunk(struct eng_sink *sink, int status)
{
	struct eng_serve *sv = container_of(sink, struct eng_serve, sink);

	if (!status) {
		if (sv->bounce)
			scatter(sv->peer, &sv->msg, sv->bounce);
		written(sv->peer, &sv->msg, sv->note);
		sv->note = NULL;
	}
	eng_serve_put(sv);
}

/* The rest of the payload is still on its way. */
static enum eng_rx_verdict place_write(struct eng_peer *peer, struct eng_rx *rx,
				       const struct wire_msg *msg, size_t cnt,
				       struct eng_out *ack)
{
	struct eng_serve *sv = eng_serve_get(peer, msg);

	if (!sv)
		return ENG_RX_LATER;
	rx->iov_cnt = cnt;
	if (cnt > ENG_IOV_MAX) {
		sv->bounce = malloc(rx->len);
		if (!sv->bounce) {
			eng_serve_put(sv);
			return ENG_RX_LATER;
		}
		rx->iov[0] = (struct iovec) { sv->bounce, rx->len };
		rx->iov_cnt = 1;
	}
	sv->note = ack;
	sv->sink.done = on_write_sunk;
	eng_sink_expect(&sv->sink);
	rx->cookie = &sv->sink;
	return ENG_RX_PLACE;
}

/* A write of which a piece was refused: the others are passed over. */
static bool pass_over(struct eng_peer *peer, const struct wire_msg *msg)
{
	if (!peer->refused || peer->refused != msg->id)
		return false;
	if (msg->flags & WIRE_F_LAST)
		peer->refused = 0;
	return true;
}

enum eng_rx_verdict eng_serve_write(struct eng_peer *peer, struct eng_rx *rx,
				    const struct wire_msg *msg, const char **why_p)
{
	struct eng_out *ack = NULL;
	enum eng_rx_verdict verdict;
	size_t cnt;
	int ret;

	*why_p = NULL;
	if (pass_over(peer, msg))
		return ENG_RX_DONE;
	ret = verify_all(peer, msg, FI_REMOTE_WRITE, rx->iov, ENG_IOV_MAX, &cnt);
	if (ret) {
		verdict = eng_serve_refuse(peer, msg, ret);
		if (verdict == ENG_RX_DONE && !(msg->flags & WIRE_F_LAST))
			peer->refused = msg->id;
		return verdict;
	}
	lease(peer, msg);
	if (msg->flags & WIRE_F_DELIVERED) {
		ack = eng_note_get(peer->ep->grp);
		if (!ack)
			return ENG_RX_LATER;
	}
	if (rx->avail < rx->len) {
		verdict = place_write(peer, rx, msg, cnt, ack);
		if (verdict == ENG_RX_LATER && ack)
			eng_note_put(ack);
		return verdict;
	}
	if (cnt <= ENG_IOV_MAX)
		iov_scatter(rx->iov, cnt, 0, rx->data, rx->len);
	else
		scatter(peer, msg, rx->data);
	written(peer, msg, ack);
	return ENG_RX_DONE;
}

/* ---- reads ------------------------------------------------------------------ */

static void read_end(struct eng_serve *sv)
{
	struct eng_peer *peer = sv->peer;

	if (!sv->err)
		eng_serve_events(peer, &sv->msg, FI_REMOTE_READ, FI_RMA, sv->msg.len);
	else if (sv->note)
		eng_note_send(sv->note, peer, WIRE_NACK, 0, sv->msg.id, 0, (uint32_t) -sv->err);
	if (sv->err)
		sv->note = NULL;
	eng_serve_put(sv);
}

static void on_pumped(struct eng_pump *pump, int status)
{
	struct eng_serve *sv = container_of(pump, struct eng_serve, pump);
	struct eng_peer *peer = sv->peer;

	sv->ended = true;
	sv->done += pump->want;
	sv->range++;
	if (status) {
		/* The peer is gone; nobody is there to be told. */
		sv->err = status;
		if (sv->note)
			eng_note_put(sv->note);
		sv->note = NULL;
	}
	if (!sv->running)
		eng_serve_next(peer);
}

/* Begin the next range of a read.  False: there is none, or it is refused. */
static bool next_range(struct eng_serve *sv)
{
	const struct wire_rma *r;
	size_t cnt;

	while (!sv->err && sv->range < sv->msg.rma_cnt && !sv->msg.rma[sv->range].len)
		sv->range++;
	if (sv->err || sv->range == sv->msg.rma_cnt)
		return false;
	r = &sv->msg.rma[sv->range];
	sv->err = verify(sv->peer, &sv->msg, r, r->len, FI_REMOTE_READ, sv->iov, &cnt, NULL);
	if (sv->err)
		return false;
	sv->pump.peer = sv->peer;
	sv->pump.grp = sv->peer->ep->grp;
	sv->pump.iov = sv->iov;
	sv->pump.iov_cnt = (uint16_t) cnt;
	sv->pump.rx_id = sv->msg.id;
	sv->pump.base = sv->done;
	sv->pump.want = r->len;
	sv->pump.done = on_pumped;
	sv->ended = false;
	sv->running = true;
	eng_pump_start(&sv->pump);
	sv->running = false;
	return true;
}

void eng_serve_next(struct eng_peer *peer)
{
	struct eng_serve *sv;

	while (!list_empty(&peer->serves)) {
		sv = container_of(peer->serves.next, struct eng_serve, node);
		if (!next_range(sv))
			read_end(sv);
		else if (!sv->ended)
			return;
	}
}

enum eng_rx_verdict eng_serve_read(struct eng_peer *peer, const struct wire_msg *msg,
				   const char **why_p)
{
	struct eng_out *note;
	struct eng_serve *sv;
	bool first = list_empty(&peer->serves);
	size_t cnt;
	int ret;

	*why_p = NULL;
	ret = verify_all(peer, msg, FI_REMOTE_READ, NULL, 0, &cnt);
	if (ret)
		return eng_serve_refuse(peer, msg, ret);
	lease(peer, msg);
	note = eng_note_get(peer->ep->grp);
	if (!note)
		return ENG_RX_LATER;
	if (!msg->len) {
		eng_serve_events(peer, msg, FI_REMOTE_READ, FI_RMA, 0);
		eng_note_send(note, peer, WIRE_ACK, WIRE_F_DELIVERED, msg->id, 0, 0);
		return ENG_RX_DONE;
	}
	sv = eng_serve_get(peer, msg);
	if (!sv) {
		eng_note_put(note);
		return ENG_RX_LATER;
	}
	sv->note = note;
	sv->done = 0;
	sv->range = 0;
	sv->err = 0;
	sv->running = false;
	list_add_tail(&sv->node, &peer->serves);
	if (first)
		eng_serve_next(peer);
	return ENG_RX_DONE;
}

void eng_serve_fail_all(struct eng_peer *peer)
{
	struct eng_serve *sv;
	struct list *pos, *tmp;

	/* Those behind the first have not begun. */
	list_for_each_safe(pos, tmp, &peer->serves) {
		sv = container_of(pos, struct eng_serve, node);
		if (pos != peer->serves.next)
			eng_serve_put(sv);
	}
	if (list_empty(&peer->serves))
		return;
	sv = container_of(peer->serves.next, struct eng_serve, node);
	eng_pump_stop(&sv->pump, -FI_ECONNRESET);
}

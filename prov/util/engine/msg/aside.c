/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "engine/aside.h"

#include <rdma/fi_errno.h>

#include "engine/recv.h"
#include "engine/tx.h"

struct eng_aside *eng_aside_get(struct eng_ep *ep)
{
	struct eng_aside *aside = ep->aside;

	if (aside || !ep->aside_user)
		return aside;
	aside = ep->aside_user->open(ep);
	if (!aside)
		return NULL;
	aside->ep = ep;
	if (eng_rxc_init(&aside->rxc, SIZE_MAX)) {
		ep->aside_user->close(aside);
		return NULL;
	}
	aside->rxc.by_data = true;
	ep->aside = aside;
	return aside;
}

void eng_aside_free(struct eng_ep *ep)
{
	struct eng_aside *aside = ep->aside;

	if (!aside)
		return;
	ep->aside = NULL;
	eng_rxc_fini(&aside->rxc);
	ep->aside_user->close(aside);
}

/* ---- sending ----------------------------------------------------------------------- */

static uint16_t put_header(uint8_t *hdr, uint32_t id, size_t len, uint64_t space, uint64_t key)
{
	size_t at = wire_put_base(hdr, WIRE_EAGER, WIRE_F_TAG | WIRE_F_DATA, WIRE_CTX_ASIDE,
				  id, len);

	at = wire_put_word(hdr, at, space);
	return (uint16_t) wire_put_word(hdr, at, key);
}

int eng_aside_send(struct eng_aside *aside, struct eng_peer *peer, struct eng_aside_req *req,
		   uint64_t space, uint64_t key, const void *buf, size_t len)
{
	struct eng_ep *ep = aside->ep;
	bool rts = len > peer->link->attr.eager_limit || (peer->slow & ENG_PEER_XOFF);
	struct eng_tx *tx = pool_get(&ep->grp->txs);
	struct iovec iov = { (void *) buf, len };
	int ret;

	if (!tx)
		return -FI_EAGAIN;
	eng_tx_describe(tx, ep, peer, req, FI_COLLECTIVE, OBJ_CNTR_NONE, len);
	tx->pkt.flags = 0;
	if (eng_tx_attach(tx, &iov, 1, len, false) ||
	    (rts && !eng_name_make(ep->grp, &tx->name))) {
		eng_tx_free(tx);
		return -FI_EAGAIN;
	}
	tx->pkt.hdr_len = put_header(tx->pkt.hdr, tx->name.id, len, space, key);
	if (rts)
		eng_tx_announce(tx);
	/* Not a message that fi_close() lingers for. */
	tx->copied = false;
	req->tx = tx;
	ret = eng_tx_launch(tx, 0);
	if (ret)
		req->tx = NULL;
	return ret;
}

static void note_done(struct eng_pkt *pkt, int status)
{
	eng_note_put(container_of(pkt, struct eng_out, pkt));
}

int eng_aside_note(struct eng_peer *peer, uint64_t space, uint64_t key)
{
	struct eng_out *note = eng_note_get(peer->ep->grp);

	if (!note)
		return -FI_EAGAIN;
	note->pkt.hdr_len = put_header(note->pkt.hdr, 0, 0, space, key);
	note->pkt.flags = 0;
	note->pkt.iov_cnt = 0;
	note->pkt.len = 0;
	note->pkt.done = note_done;
	if (((peer->slow & ENG_PEER_IDLE) && eng_peer_start(peer)) ||
	    eng_peer_send(peer, &note->pkt))
		eng_note_put(note);
	return 0;
}

void eng_aside_sent(struct eng_tx *tx)
{
	struct eng_aside_req *req = tx->context;

	if (!req)
		return;
	req->tx = NULL;
	req->done(req, tx->state == ENG_TX_FAILED ? tx->err : 0, tx->len);
}

/* ---- receiving --------------------------------------------------------------------- */

static void fill(struct eng_recv *recv, struct eng_aside *aside, struct eng_aside_req *req,
		 uint64_t space, uint64_t key, void *buf, size_t len)
{
	*recv = (struct eng_recv) {
		.m = { .tag = space, .src = key },
		.sink.name.kind = ENG_NAME_SINK,
		.ep = aside->ep,
		.rxc = &aside->rxc,
		.context = req,
		.cq_flags = FI_RECV | FI_TAGGED | FI_COLLECTIVE,
		.room = len,
		.iov_cnt = len != 0,
		.state = ENG_RECV_NEW,
		.iov[0] = { buf, len },
	};
}

static int take(struct eng_recv *recv, struct match_msg *found)
{
	struct eng_msg *msg = container_of(found, struct eng_msg, m);
	struct eng_out *notes[3];
	int ret = -FI_EAGAIN;

	if (eng_recv_notes(recv->ep->grp, &msg->env, notes))
		ret = eng_unexp_take(recv, msg, notes);
	return ret == -FI_ENOMSG ? -FI_ECONNRESET : ret;
}

int eng_aside_recv(struct eng_aside *aside, struct eng_aside_req *req, uint64_t space,
		   uint64_t key, void *buf, size_t len)
{
	struct match *m = &aside->rxc.tagged;
	struct eng_recv *recv = eng_recv_get(aside->ep->grp);
	struct match_msg *found;
	int ret = 0;

	if (!recv)
		return -FI_EAGAIN;
	fill(recv, aside, req, space, key, buf, len);
	req->recv = recv;
	found = match_find_msg(m, space, 0, key);
	if (found) {
		ret = take(recv, found);
	} else {
		eng_recv_set_state(recv, ENG_RECV_POSTED);
		match_post(m, &recv->m);
		aside->rxc.posted++;
	}
	if (ret) {
		req->recv = NULL;
		eng_recv_free(recv);
	}
	return ret;
}

void eng_aside_got(struct eng_recv *recv, int status)
{
	struct eng_aside_req *req = recv->context;

	req->recv = NULL;
	if (!status && recv->env.len > recv->room)
		status = -FI_ETRUNC;
	req->done(req, status, recv->env.len);
}

bool eng_aside_waits(const struct eng_aside_req *req)
{
	return req->recv && req->recv->state == ENG_RECV_POSTED;
}

bool eng_aside_cancel(struct eng_aside_req *req)
{
	struct eng_recv *recv = req->recv;

	if (req->tx) {
		if (!eng_tx_abandon(req->tx))
			return false;
		req->tx = NULL;
		return true;
	}
	if (!recv || recv->state != ENG_RECV_POSTED)
		return false;
	match_unpost(&recv->rxc->tagged, &recv->m);
	recv->rxc->posted--;
	eng_recv_free(recv);
	req->recv = NULL;
	return true;
}

/* ---- what came unasked -------------------------------------------------------------- */

enum eng_rx_verdict eng_aside_unasked(struct eng_peer *peer, const struct wire_msg *msg,
				      struct eng_rx *rx)
{
	struct eng_aside *aside = peer->ep->aside;
	struct eng_envelope env = {
		.tag = msg->tag, .data = msg->data, .len = msg->len, .tx_id = msg->id,
		.flags = msg->flags, .rts = msg->op == WIRE_RTS,
	};
	enum eng_aside_fate fate;
	struct eng_out *note;

	if (!env.rts) {
		fate = peer->ep->aside_user->arrived(aside, peer, msg->tag, msg->data, !env.len);
		if (fate == ENG_ASIDE_KEEP)
			return eng_unexp_keep(peer, &aside->rxc, &env, rx);
		return fate == ENG_ASIDE_DROP ? ENG_RX_DONE : ENG_RX_LATER;
	}
	note = eng_note_get(peer->ep->grp);
	if (!note)
		return ENG_RX_LATER;
	fate = peer->ep->aside_user->arrived(aside, peer, msg->tag, msg->data, false);
	if (fate == ENG_ASIDE_DROP) {
		eng_note_send(note, peer, WIRE_CTS, 0, env.tx_id, 0, 0);
		return ENG_RX_DONE;
	}
	eng_note_put(note);
	return fate == ENG_ASIDE_KEEP ? eng_unexp_keep(peer, &aside->rxc, &env, rx) : ENG_RX_LATER;
}

void eng_aside_each(struct eng_aside *aside,
		    void (*fn)(struct eng_aside *aside, struct eng_peer *peer, uint64_t space,
			       uint64_t key, void *msg, void *arg), void *arg)
{
	struct list *pos, *tmp;

	list_for_each_safe(pos, tmp, &aside->rxc.tagged.all) {
		struct match_msg *m = container_of(pos, struct match_msg, all);
		struct eng_msg *msg = container_of(m, struct eng_msg, m);

		fn(aside, msg->peer, m->tag, m->src, msg, arg);
	}
}

bool eng_aside_drop(void *msg)
{
	return !eng_unexp_discard(msg);
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * oob.c - out-of-band messages: the requests of msg/ with another matcher and another end.
 *
 * FI_COLLECTIVE among a request's cq_flags marks it: eng_tx and eng_recv then call
 * eng_oob_send_done() and eng_oob_recv_done() where they would write a completion.
 */
#include "engine/oob.h"

#include <rdma/fi_errno.h>

#include "engine/recv.h"
#include "engine/tx.h"

struct eng_oob *eng_oob_get(struct eng_ep *ep)
{
	struct eng_oob *oob = ep->oob;

	if (oob || !ep->oob_user)
		return oob;
	oob = ep->oob_user->open(ep);
	if (!oob)
		return NULL;
	oob->ep = ep;
	if (eng_rxc_init(&oob->rxc, SIZE_MAX)) {
		ep->oob_user->close(oob);
		return NULL;
	}
	oob->rxc.by_data = true;
	ep->oob = oob;
	return oob;
}

void eng_oob_free(struct eng_ep *ep)
{
	struct eng_oob *oob = ep->oob;

	if (!oob)
		return;
	ep->oob = NULL;
	eng_rxc_fini(&oob->rxc);
	ep->oob_user->close(oob);
}

/* ---- sending ----------------------------------------------------------------------- */

static uint16_t put_header(uint8_t *hdr, uint32_t id, size_t len, uint64_t space, uint64_t key)
{
	size_t at = wire_put_base(hdr, WIRE_EAGER, WIRE_F_TAG | WIRE_F_DATA, WIRE_CTX_OOB,
				  id, len);

	at = wire_put_word(hdr, at, space);
	return (uint16_t) wire_put_word(hdr, at, key);
}

int eng_oob_send(struct eng_oob *oob, struct eng_peer *peer, struct eng_oob_req *req,
		 uint64_t space, uint64_t key, const void *buf, size_t len)
{
	struct eng_ep *ep = oob->ep;
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

static void ctl_done(struct eng_pkt *pkt, int status)
{
	eng_ctl_put(container_of(pkt, struct eng_out, pkt));
}

/* An EAGER packet without a payload needs no request: a control packet carries it. */
int eng_oob_notify(struct eng_peer *peer, uint64_t space, uint64_t key)
{
	struct eng_out *ctl = eng_ctl_get(peer->ep->grp);

	if (!ctl)
		return -FI_EAGAIN;
	ctl->pkt.hdr_len = put_header(ctl->pkt.hdr, 0, 0, space, key);
	ctl->pkt.flags = 0;
	ctl->pkt.iov_cnt = 0;
	ctl->pkt.len = 0;
	ctl->pkt.done = ctl_done;
	if (((peer->slow & ENG_PEER_IDLE) && eng_peer_start(peer)) ||
	    eng_peer_send(peer, &ctl->pkt))
		eng_ctl_put(ctl);
	return 0;
}

void eng_oob_send_done(struct eng_tx *tx)
{
	struct eng_oob_req *req = tx->context;

	if (!req)
		return;
	req->tx = NULL;
	req->done(req, tx->state == ENG_TX_FAILED ? tx->err : 0, tx->len);
}

/* ---- receiving --------------------------------------------------------------------- */

static void oob_fill_recv(struct eng_recv *recv, struct eng_oob *oob, struct eng_oob_req *req,
			  uint64_t space, uint64_t key, void *buf, size_t len)
{
	*recv = (struct eng_recv) {
		.m = { .tag = space, .src = key },
		.sink.name.kind = ENG_NAME_SINK,
		.ep = oob->ep,
		.rxc = &oob->rxc,
		.context = req,
		.cq_flags = FI_RECV | FI_TAGGED | FI_COLLECTIVE,
		.room = len,
		.iov_cnt = len != 0,
		.state = ENG_RECV_NEW,
		.iov[0] = { buf, len },
	};
}

/* The message came first. */
static int oob_take_msg(struct eng_recv *recv, struct match_msg *found)
{
	struct eng_msg *msg = container_of(found, struct eng_msg, m);
	struct eng_out *ctls[3];
	int ret = -FI_EAGAIN;

	if (eng_recv_ctl_get(recv->ep->grp, &msg->env, ctls))
		ret = eng_unexp_take(recv, msg, ctls);
	return ret == -FI_ENOMSG ? -FI_ECONNRESET : ret;
}

int eng_oob_recv(struct eng_oob *oob, struct eng_oob_req *req, uint64_t space,
		 uint64_t key, void *buf, size_t len)
{
	struct match *m = &oob->rxc.tagged;
	struct eng_recv *recv = eng_recv_get(oob->ep->grp);
	struct match_msg *found;
	int ret = 0;

	if (!recv)
		return -FI_EAGAIN;
	oob_fill_recv(recv, oob, req, space, key, buf, len);
	req->recv = recv;
	found = match_find_msg(m, space, 0, key);
	if (found) {
		ret = oob_take_msg(recv, found);
	} else {
		eng_recv_set_state(recv, ENG_RECV_POSTED);
		match_post(m, &recv->m);
		oob->rxc.posted++;
	}
	if (ret) {
		req->recv = NULL;
		eng_recv_free(recv);
	}
	return ret;
}

void eng_oob_recv_done(struct eng_recv *recv, int status)
{
	struct eng_oob_req *req = recv->context;

	req->recv = NULL;
	if (!status && recv->env.len > recv->room)
		status = -FI_ETRUNC;
	req->done(req, status, recv->env.len);
}

bool eng_oob_posted(const struct eng_oob_req *req)
{
	return req->recv && req->recv->state == ENG_RECV_POSTED;
}

bool eng_oob_cancel(struct eng_oob_req *req)
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

/* The user decides: keep it, drop it, or ask again.  A dropped RTS is answered with a CTS for 0
 * bytes, which completes its send; the packet for that is taken before the user is asked.
 */
enum eng_rx_verdict eng_oob_unexpected(struct eng_peer *peer, const struct eng_envelope *env,
				       struct eng_rx *rx)
{
	struct eng_oob *oob = peer->ep->oob;
	struct eng_out *ctl = env->rts ? eng_ctl_get(peer->ep->grp) : NULL;
	enum eng_oob_action action;

	if (env->rts && !ctl)
		return ENG_RX_LATER;
	action = peer->ep->oob_user->arrived(oob, peer, env->tag, env->data, !env->len && !env->rts);
	if (ctl && action == ENG_OOB_DROP)
		eng_ctl_send(ctl, peer, WIRE_CTS, 0, env->tx_id, 0, 0);
	else if (ctl)
		eng_ctl_put(ctl);
	if (action == ENG_OOB_KEEP)
		return eng_unexp_keep(peer, &oob->rxc, env, rx);
	return action == ENG_OOB_DROP ? ENG_RX_DONE : ENG_RX_LATER;
}

void eng_oob_each(struct eng_oob *oob,
		  void (*fn)(struct eng_oob *oob, struct eng_peer *peer, uint64_t space,
			     uint64_t key, void *msg, void *arg), void *arg)
{
	struct match_msg *m, *tmp;

	list_for_each_entry_safe(m, tmp, &oob->rxc.tagged.all, all) {
		struct eng_msg *msg = container_of(m, struct eng_msg, m);

		fn(oob, msg->peer, m->tag, m->src, msg, arg);
	}
}

bool eng_oob_drop(void *msg)
{
	return !eng_unexp_discard(msg);
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * packet.c - what comes in.  Every packet passes wire_parse() here, and nothing
 * of it is used before.
 */
#include <string.h>

#include "base/copy.h"
#include "base/iov.h"
#include "engine/dev.h"
#include "engine/oob.h"
#include "engine/query.h"
#include "engine/flow.h"
#include "engine/imported.h"
#include "engine/packet.h"
#include "engine/recv.h"
#include "engine/serve.h"
#include "engine/sink.h"
#include "engine/tx.h"
#include "engine/wire.h"

static enum eng_rx_verdict bad_packet(struct eng_peer *peer, const struct eng_rx *rx, const char *why)
{
	char text[ENG_PEER_TEXT];

	ENG_WARN(peer->ep, "%s: bad packet (%s, header %zu, payload %zu): %s; "
		 "the connection is closed\n", eng_peer_text(peer, text),
		 wire_op_name(rx->hdr_len ? rx->hdr[0] : 0), rx->hdr_len, rx->len, why);
	return ENG_RX_BAD;
}

/* All of the payload is here, or the link puts the rest where it belongs. */
enum eng_rx_verdict eng_packet_take(struct eng_recv *recv, struct eng_rx *rx)
{
	size_t len = rx->len < recv->room ? rx->len : recv->room;

	if (__builtin_expect(recv->sink.dev != NULL, 0))
		return eng_dev_take(recv, rx);
	if (__builtin_expect(rx->avail == rx->len, 1)) {
		if (__builtin_expect(recv->iov_cnt == 1 && len, 1))
			memcpy(recv->iov[0].iov_base, rx->data, len);
		else
			iov_scatter(recv->iov, recv->iov_cnt, 0, rx->data, len);
		eng_recv_finish(recv, 0);
		return ENG_RX_DONE;
	}
	eng_recv_placing(recv);
	memcpy(rx->iov, recv->iov, recv->iov_cnt * sizeof(*rx->iov));
	rx->iov_cnt = recv->iov_cnt;
	rx->cookie = &recv->sink;
	return ENG_RX_PLACE;
}

static inline struct eng_envelope envelope_of(const struct wire_msg *msg)
{
	return (struct eng_envelope) {
		.tag = msg->tag, .data = msg->data, .len = msg->len, .tx_id = msg->id,
		.flags = msg->flags, .rts = msg->op == WIRE_RTS,
	};
}

/* A message and the posted receive that it belongs to. */
static enum eng_rx_verdict msg_meet_recv(struct eng_rxc *rxc, struct match *m, struct match_recv *hit,
					 struct eng_peer *peer, const struct eng_envelope *env,
					 struct eng_rx *rx)
{
	struct eng_recv *recv = container_of(hit, struct eng_recv, m), *part;
	struct eng_out *ctls[3] = { NULL, NULL, NULL };

	if (__builtin_expect(env->rts || (env->flags & (WIRE_F_MATCHED | WIRE_F_DELIVERED)), 0) &&
	    !eng_packet_ctl_get(peer, env, ctls))
		return ENG_RX_LATER;
	if (recv->multi) {
		/* a buffer for many messages holds any number of empty ones */
		if (__builtin_expect(eng_flow_cq_refuse(peer, &recv->ep->base), 0)) {
			eng_recv_ctl_put(ctls);
			return ENG_RX_LATER;
		}
		part = eng_mrecv_part(recv, env->len);
		if (!part) {
			eng_recv_ctl_put(ctls);
			return ENG_RX_LATER;
		}
		recv = part;
	} else {
		match_unpost(m, hit);
		rxc->posted--;
	}
	eng_recv_begin(recv, peer, env, ctls);
	return env->rts ? ENG_RX_DONE : eng_packet_take(recv, rx);
}

static enum eng_rx_verdict on_message(struct eng_peer *peer, struct eng_rx *rx,
				      const struct wire_msg *msg)
{
	struct eng_ep *ep = peer->ep;
	struct eng_rxc *rxc = &ep->rxc[msg->ctx];
	struct match *m = eng_rxc_match(rxc, msg->flags & WIRE_F_TAG);
	struct eng_envelope env = envelope_of(msg);
	struct match_recv *hit;

	if (__builtin_expect(ep->state == ENG_EP_CLOSED, 0))
		return ENG_RX_DONE;	/* its link lingers; a receive of a shared context stays for other endpoints */
	if (__builtin_expect(rxc->owner != NULL, 0))
		return eng_imported_message(peer, rxc, &env, rx);
	hit = match_find_recv(m, msg->tag, eng_peer_key(peer));
	return hit ? msg_meet_recv(rxc, m, hit, peer, &env, rx) : eng_unexp_keep(peer, rxc, &env, rx);
}

/* The same for an out-of-band message. */
static enum eng_rx_verdict on_oob(struct eng_peer *peer, struct eng_rx *rx,
				  const struct wire_msg *msg)
{
	struct eng_oob *oob = eng_oob_get(peer->ep);
	struct eng_envelope env = envelope_of(msg);
	struct match_recv *hit;

	if (peer->ep->oob_user == &eng_query_oob && !eng_query_of(msg->data))
		return bad_packet(peer, rx, "a message of a collective group, but this endpoint was "
				  "opened without FI_COLLECTIVE");
	if (msg->flags != (WIRE_F_TAG | WIRE_F_DATA))
		return bad_packet(peer, rx, "a message of a collective group without its name");
	if (msg->op == WIRE_EAGER && !msg->len && eng_query_of(msg->data) && msg->data != WIRE_Q_ANSWER) {
		eng_query_on_ask(peer, msg->tag, msg->data & 0xff);
		return ENG_RX_DONE;
	}
	if (!oob)
		return ENG_RX_LATER;
	hit = match_find_recv(&oob->rxc.tagged, msg->tag, msg->data);
	return hit ? msg_meet_recv(&oob->rxc, &oob->rxc.tagged, hit, peer, &env, rx) :
	       eng_oob_unexpected(peer, &env, rx);
}

/* on_first - a message whose sender does not know whether we have the receive context: the answer waits for no
 * receive.
 */
static enum eng_rx_verdict on_first(struct eng_peer *peer, struct eng_rx *rx, struct wire_msg *msg)
{
	struct eng_out *ctl = NULL;
	enum eng_rx_verdict verdict;

	if (!eng_flow_refuse(peer, sizeof(*ctl)))
		ctl = eng_ctl_get(peer->ep->grp);
	if (!ctl)
		return ENG_RX_LATER;
	msg->flags &= (uint8_t) ~WIRE_F_ARRIVED;
	verdict = on_message(peer, rx, msg);
	if (eng_rx_taken(verdict))
		eng_ctl_send(ctl, peer, WIRE_ACK, WIRE_F_ARRIVED, msg->id, 0, 0);
	else
		eng_ctl_put(ctl);
	return verdict;
}

/* A message to a receive context that we do not have.  Its sender gets a NACK, if it
 * waits for an answer; either way the connection stays.
 */
static enum eng_rx_verdict no_such_ctx(struct eng_peer *peer, const struct wire_msg *msg)
{
	struct eng_out *ctl = NULL;
	char text[ENG_PEER_TEXT];

	if (msg->id) {
		if (eng_flow_refuse(peer, sizeof(*ctl)))
			return ENG_RX_LATER;
		ctl = eng_ctl_get(peer->ep->grp);
		if (!ctl)
			return ENG_RX_LATER;
		eng_ctl_send(ctl, peer, WIRE_NACK, 0, msg->id, 0, FI_EADDRNOTAVAIL);
	}
	ENG_WARN(peer->ep, "%s: a message for receive context %u is dropped: this endpoint has %u "
		 "(the sender's fi_rx_addr() asks for more than rx_ctx_cnt)\n",
		 eng_peer_text(peer, text), msg->ctx, peer->ep->rxc_cnt);
	return ENG_RX_DONE;
}

/* end_directed - a receive that was directed at its sender, and so has a reference, has its message. */
static void end_directed(struct eng_recv *recv)
{
	struct eng_peer *peer = recv->sink.name.peer;

	if (__builtin_expect(recv->watch != NULL, 0)) {
		eng_recv_free(recv);
		return;
	}
	recv->sink.name.peer = NULL;
	recv->m.src = MATCH_ANY;
	eng_recv_fast_put(recv->ep->grp, recv);
	eng_peer_unref(peer);
}

/* The common packet is a short message that is here in whole, wants no answer and
 * has a simple receive waiting for it.  If any of that is not so, nothing is done.
 */
static inline __attribute__((always_inline)) enum eng_fast
on_short(struct eng_peer *peer, const uint8_t *hdr, size_t hdr_len, const uint8_t *data,
	 size_t len)
{
	struct eng_ep *ep = peer->ep;
	struct eng_rxc *rxc = ep->rxc;	/* a message on the fast path names context 0 */
	struct match_recv *hit;
	struct eng_recv *recv;
	struct wire_msg msg;
	struct match *m;

	if (!rxc->posted && wire_is_fast(hdr, hdr_len))
		return ENG_FAST_UNEXPECTED;
	if (!wire_parse_fast(hdr, hdr_len, len, &msg))
		return ENG_FAST_NONE;
	m = eng_rxc_match(rxc, msg.flags & WIRE_F_TAG);
	hit = match_find_recv(m, msg.tag, eng_peer_key(peer));
	if (__builtin_expect(!hit, 0))
		return ENG_FAST_UNEXPECTED;
	recv = container_of(hit, struct eng_recv, m);
	if (__builtin_expect(recv->iov_cnt != 1 || recv->slow || msg.len > recv->room ||
			     !ep->fast_rx, 0))
		return ENG_FAST_NONE;
	PROBE3(match, recv, msg.tag, msg.len);
	match_unpost(m, hit);
	rxc->posted--;
	if (msg.len)
		copy_short(recv->iov[0].iov_base, data, msg.len);
	obj_ep_comp_rx(&recv->ep->base, recv->want_comp, recv->context,
		       recv->cq_flags | (msg.flags & WIRE_F_DATA ? FI_REMOTE_CQ_DATA : 0),
		       msg.len, recv->iov[0].iov_base, msg.data, msg.tag,
		       ep->source ? eng_peer_fi_addr(peer) : FI_ADDR_NOTAVAIL, OBJ_CNTR_RECV);
	if (__builtin_expect(recv->sink.name.peer != NULL, 0))
		end_directed(recv);
	else
		eng_recv_fast_put(recv->ep->grp, recv);
	return rxc->posted ? ENG_FAST_DONE : ENG_FAST_LAST;
}

/* A request of a peer that needs no receive. */
static enum eng_rx_verdict on_request(struct eng_peer *peer, struct eng_rx *rx,
				      const struct wire_msg *msg, const char **why_p)
{
	if (eng_flow_refuse(peer, sizeof(struct eng_serve) + sizeof(struct eng_out)) ||
	    ((msg->flags & WIRE_F_DATA) &&
	     eng_flow_cq_refuse(peer, &eng_ep_rx(peer->ep, msg->ctx)->base))) {
		*why_p = NULL;
		return ENG_RX_LATER;
	}
	return msg->op == WIRE_READ ? eng_serve_read(peer, msg, why_p) :
	       msg->op == WIRE_WRITE ? eng_serve_write(peer, rx, msg, why_p) :
				       eng_serve_atomic(peer, rx, msg, why_p);
}

enum eng_fast eng_on_fast(void *chan, const uint8_t *hdr, size_t hdr_len, size_t len)
{
	struct eng_peer *peer = container_of(chan, struct eng_peer, chan);

	peer->slow &= ~(ENG_PEER_IDLE | ENG_PEER_LOST | ENG_PEER_LOSING);
	return on_short(peer, hdr, hdr_len, hdr + hdr_len, len);
}

static __attribute__((noinline)) bool on_fast_rx(struct eng_peer *peer, const struct eng_rx *rx)
{
	return on_short(peer, rx->hdr, rx->hdr_len, rx->data, rx->len) >= ENG_FAST_DONE;
}

enum eng_rx_verdict eng_on_packet(struct eng_link *link, struct eng_peer *peer,
				  struct eng_rx *rx)
{
	enum eng_rx_verdict verdict = ENG_RX_DONE;
	struct wire_msg msg;
	const char *why;

	peer->slow &= ~(ENG_PEER_IDLE | ENG_PEER_LOST | ENG_PEER_LOSING);
	if (__builtin_expect(rx->avail == rx->len && on_fast_rx(peer, rx), 1))
		return ENG_RX_DONE;
	why = wire_parse(rx->hdr, rx->hdr_len, rx->len, &msg);
	if (__builtin_expect(why != NULL, 0))
		return bad_packet(peer, rx, why);
	if (msg.op == WIRE_EAGER || msg.op == WIRE_RTS) {
		if (__builtin_expect(msg.ctx >= peer->ep->rxc_cnt, 0))
			return msg.ctx == WIRE_CTX_OOB ? on_oob(peer, rx, &msg) :
			       no_such_ctx(peer, &msg);
		if (__builtin_expect(msg.op == WIRE_EAGER && msg.flags & WIRE_F_ARRIVED, 0))
			return on_first(peer, rx, &msg);
		return on_message(peer, rx, &msg);
	}
	switch (msg.op) {
	case WIRE_DATA:
		verdict = eng_sink_on_data(peer, rx, &msg, &why);
		break;
	case WIRE_READ:
	case WIRE_WRITE:
	case WIRE_ATOMIC:
		verdict = on_request(peer, rx, &msg, &why);
		break;
	case WIRE_SHARE:
		verdict = eng_dev_on_share(peer, &msg, &why);
		break;
	case WIRE_CTS:
		why = eng_tx_on_cts(peer, &msg);
		break;
	case WIRE_ACK:
		why = eng_tx_on_ack(peer, &msg);
		break;
	case WIRE_NACK:
		eng_tx_on_nack(peer, &msg);
		break;
	case WIRE_XOFF:
		peer->slow |= ENG_PEER_XOFF;
		break;
	case WIRE_XON:
		peer->slow &= ~ENG_PEER_XOFF;
		break;
	default:
		why = "operation that is not served here";
		break;
	}
	return why ? bad_packet(peer, rx, why) : verdict;
}

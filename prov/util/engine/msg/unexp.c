/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * unexp.c - unexpected messages.  Their payload stays with the link; here is an
 * envelope each.
 */
#include "engine/dev.h"
#include "engine/flow.h"
#include "engine/imported.h"
#include "engine/packet.h"
#include "engine/recv.h"
#include "engine/tx.h"

#define LINK_COST 64
_Static_assert(sizeof(struct eng_msg) + LINK_COST + ENG_TX_INLINE <= ENG_HEAD_COST,
	       "what a message takes beside a payload that is counted");

static struct match *match_of(struct eng_msg *msg)
{
	return eng_rxc_match(msg->rxc, msg->env.flags & WIRE_F_TAG);
}

/* Payload that lies in our memory.  One that is so short that an announcement would take as much is part
 * of the header.
 */
static uint64_t payload_cost(const struct eng_peer *peer, const struct eng_envelope *env,
			     const struct eng_rx *rx)
{
	if (env->rts || env->len <= ENG_TX_INLINE)
		return 0;
	return rx->avail < rx->len && peer->link->attr.stays ? 0 : env->len;
}

/* All or nothing: without memory, or beyond the peer's limit, the packet stays with the link.
 * @msg_p: [out] charged to the peer (flow.h), in no matcher yet
 */
static enum eng_rx_verdict unexp_store(struct eng_peer *peer, struct eng_rxc *rxc,
				       const struct eng_envelope *env, struct eng_rx *rx,
				       struct eng_msg **msg_p)
{
	struct eng_grp *grp = peer->ep->grp;
	uint64_t held = payload_cost(peer, env, rx);
	enum eng_rx_verdict verdict = eng_flow_admit(peer, 1, held);
	bool payload = !env->rts && env->len;
	struct eng_msg *msg;

	if (verdict != ENG_RX_DONE)
		return verdict;
	msg = pool_get(&grp->msgs);
	if (!msg)
		return ENG_RX_LATER;
	msg->token = NULL;
	if (payload) {
		msg->link = peer->link;
		msg->token = msg->link->ops->held.hold(msg->link, peer, rx);
		if (!msg->token) {
			pool_put(&grp->msgs, msg);
			return ENG_RX_LATER;
		}
	}
	msg->m.tag = env->tag;
	msg->m.src = rxc->by_data ? env->data : eng_peer_key(peer);
	msg->peer = peer;
	msg->rxc = rxc;
	msg->env = *env;
	msg->claimed = false;
	msg->lost = false;
	msg->imported = NULL;
	msg->held = held;
	list_add_tail(&msg->peer_node, &peer->msgs);
	peer->msg_cnt++;
	eng_peer_ref(peer);
	eng_flow_held(peer, held);
	*msg_p = msg;
	return payload ? ENG_RX_HELD : ENG_RX_DONE;
}

enum eng_rx_verdict eng_unexp_keep(struct eng_peer *peer, struct eng_rxc *rxc,
				   const struct eng_envelope *env, struct eng_rx *rx)
{
	enum eng_rx_verdict verdict;
	struct eng_msg *msg;

	if (__builtin_expect(peer->ep->state == ENG_EP_CLOSED, 0))
		return ENG_RX_DONE;	/* its link lingers; what it had kept was dropped */
	verdict = unexp_store(peer, rxc, env, rx, &msg);
	if (eng_rx_taken(verdict))
		match_keep(match_of(msg), &msg->m);
	return verdict;
}

enum eng_rx_verdict eng_unexp_keep_imported(struct eng_peer *peer, struct eng_rxc *rxc,
					    const struct eng_envelope *env, struct eng_rx *rx,
					    struct eng_imported *imp, struct eng_msg **msg_p)
{
	enum eng_rx_verdict verdict = unexp_store(peer, rxc, env, rx, msg_p);

	if (!eng_rx_taken(verdict))
		return verdict;
	(*msg_p)->claimed = true;
	(*msg_p)->claimer = NULL;
	(*msg_p)->imported = imp;
	list_add_tail(&(*msg_p)->m.all, &rxc->claimed);
	return verdict;
}

/* Out of the matcher or the claimed list, and free.  The token is the caller's. */
static void unexp_forget(struct eng_msg *msg)
{
	struct eng_peer *peer = msg->peer;

	if (msg->claimed)
		list_del(&msg->m.all);
	else
		match_take(match_of(msg), &msg->m);
	list_del(&msg->peer_node);
	peer->msg_cnt--;
	eng_flow_freed(peer, msg->held);
	pool_put(&peer->ep->grp->msgs, msg);
	eng_peer_unref(peer);
}

/* A claimed message and one that has its part of a buffer must have an outcome. */
static int take_lost(struct eng_recv *recv, struct eng_peer *peer, struct eng_envelope *env,
		     bool claimed)
{
	struct eng_out *none[3] = { NULL, NULL, NULL };

	if (!claimed && !recv->buffer)
		return -FI_ENOMSG;
	env->rts = false;
	eng_recv_begin(recv, peer, env, none);
	eng_recv_finish(recv, -FI_ECONNRESET);
	return 0;
}

/* The link's hold ends here in any case: pull() has moved the payload, or moves the rest as it
 * arrives, or it was lost with its sender.
 */
int eng_unexp_take(struct eng_recv *recv, struct eng_msg *msg, struct eng_out *ctls[3])
{
	struct eng_peer *peer = msg->peer;
	struct eng_envelope env = msg->env;
	bool claimed = msg->claimed;
	int ret = 0, placed = msg->lost ? -FI_ECONNRESET : 1;

	if (msg->token && __builtin_expect(recv->sink.dev != NULL, 0))
		placed = eng_dev_pull(recv, msg);
	else if (msg->token)
		placed = msg->link->ops->held.pull(msg->link, msg->token, recv->iov, recv->iov_cnt,
					      &recv->sink);
	eng_peer_ref(peer);
	unexp_forget(msg);
	if (placed < 0 && placed != -FI_EFAULT) {
		eng_recv_ctl_put(ctls);
		ret = take_lost(recv, peer, &env, claimed);
		goto out;
	}
	eng_recv_begin(recv, peer, &env, ctls);
	if (env.rts)
		goto out;
	if (placed < 0)
		eng_recv_finish(recv, placed);
	else if (placed)
		eng_recv_finish(recv, recv->sink.dev ? eng_dev_arrived(recv, 0) : 0);
	else
		eng_recv_placing(recv);
out:
	eng_peer_unref(peer);
	return ret;
}

int eng_unexp_discard(struct eng_msg *msg)
{
	struct eng_peer *peer = msg->peer;
	struct eng_envelope *env = &msg->env;
	struct eng_out *ctls[3];

	if (!eng_recv_ctl_get(peer->ep->grp, env, ctls))
		return -FI_EAGAIN;
	if (ctls[0])
		eng_ctl_send(ctls[0], peer, WIRE_CTS, 0, env->tx_id, 0, 0);
	if (ctls[1])
		eng_ctl_send(ctls[1], peer, WIRE_ACK, WIRE_F_MATCHED, env->tx_id, 0, 0);
	if (ctls[2])
		eng_ctl_send(ctls[2], peer, WIRE_ACK, WIRE_F_DELIVERED, env->tx_id, 0, 0);
	if (msg->token)
		msg->link->ops->held.pull(msg->link, msg->token, NULL, 0, NULL);
	unexp_forget(msg);
	return 0;
}

/* A claimed message is out of the matcher, so no other receive meets it. */
void eng_unexp_claim(struct eng_msg *msg, void *context)
{
	match_take(match_of(msg), &msg->m);
	msg->claimed = true;
	msg->claimer = context;
	list_add_tail(&msg->m.all, &msg->rxc->claimed);
}

struct eng_msg *eng_unexp_claimed(struct eng_rxc *rxc, void *context)
{
	struct eng_msg *msg;

	list_for_each_entry(msg, &rxc->claimed, m.all)
		if (msg->claimer == context)
			return msg;
	return NULL;
}

/* Payload that has arrived can still be received; it wants no answer any more.  An announced
 * message is gone, and one that was claimed completes its receive with an error.
 */
void eng_unexp_peer_lost(struct eng_peer *peer)
{
	struct eng_msg *msg, *tmp;

	list_for_each_entry_safe(msg, tmp, &peer->msgs, peer_node) {
		if (!msg->env.rts) {
			/* The peer is gone: no answer. */
			msg->env.flags &= (uint8_t) ~(WIRE_F_MATCHED | WIRE_F_DELIVERED);
			continue;
		}
		if (msg->claimed)
			msg->lost = true;
		else
			unexp_forget(msg);
	}
}

void eng_unexp_drop(struct eng_msg *msg)
{
	if (msg->token)
		msg->link->ops->held.pull(msg->link, msg->token, NULL, 0, NULL);
	unexp_forget(msg);
}

void eng_unexp_drop_peer(struct eng_peer *peer)
{
	struct eng_msg *msg;

	while (!list_empty(&peer->msgs)) {
		msg = container_of(peer->msgs.next, struct eng_msg, peer_node);
		if (msg->imported)
			eng_imported_forget(msg->imported);
		eng_unexp_drop(msg);
	}
}

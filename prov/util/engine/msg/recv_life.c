/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "engine/recv.h"

#include "engine/dev.h"
#include "engine/oob.h"
#include "engine/imported.h"
#include "engine/trig.h"
#include "obj/av_key.h"

/*
 * A receive that has met its message completes by one of three ways:
 *
 *   at once    the payload is here in whole: matched and finished in one call
 *   PLACING    the link moves an eager payload into the buffer; eng_on_placed() ends it
 *   PULL       RTS: a CTS asks for the payload; the last byte of DATA ends it
 *
 * In the latter two it is on peer->rxs, so that it fails if the peer is lost. One that was cancelled there
 * and whose message does not go on is reported before its message is here (SKIP).
 */
/* To where each state may go. */
static const unsigned edges[] = {
	[ENG_RECV_NEW] = 1u << ENG_RECV_POSTED | 1u << ENG_RECV_MATCHED | 1u << ENG_RECV_CLOSING,
	[ENG_RECV_POSTED] = 1u << ENG_RECV_MATCHED | 1u << ENG_RECV_CLOSING,
	[ENG_RECV_MATCHED] = 1u << ENG_RECV_PLACING | 1u << ENG_RECV_PULL,
	[ENG_RECV_PLACING] = 1u << ENG_RECV_SKIP,
	[ENG_RECV_PULL] = 1u << ENG_RECV_SKIP,
	[ENG_RECV_SKIP] = 0,
	[ENG_RECV_CLOSING] = 0,
};

bool eng_recv_may_become(enum eng_recv_state from, enum eng_recv_state to)
{
	return edges[from] & 1u << to;
}

void eng_recv_ctl_put(struct eng_out *ctls[3])
{
	int i;

	for (i = 0; i < 3; i++)
		if (ctls[i])
			eng_ctl_put(ctls[i]);
}

bool eng_recv_ctl_get(struct eng_grp *grp, const struct eng_envelope *env,
		      struct eng_out *ctls[3])
{
	bool want[3] = { env->rts, env->flags & WIRE_F_MATCHED, env->flags & WIRE_F_DELIVERED };
	int i;

	ctls[0] = ctls[1] = ctls[2] = NULL;
	for (i = 0; i < 3; i++) {
		if (!want[i])
			continue;
		ctls[i] = eng_ctl_get(grp);
		if (!ctls[i]) {
			eng_recv_ctl_put(ctls);
			return false;
		}
	}
	return true;
}

static void on_recv_sunk(struct eng_sink *sink, int status)
{
	struct eng_recv *recv = container_of(sink, struct eng_recv, sink);

	if (__builtin_expect(sink->dev != NULL, 0))
		status = eng_dev_arrived(recv, status);
	eng_recv_finish(recv, status);
}

/* Where DATA with the sink's id, or a placement with it as cookie, goes. */
static void set_sink(struct eng_recv *recv)
{
	recv->sink.iov = recv->iov;
	recv->sink.iov_cnt = recv->iov_cnt;
	recv->sink.done = on_recv_sunk;
}

bool eng_is_receive(const void *cookie)
{
	const struct eng_sink *sink = cookie;

	return sink->done == on_recv_sunk;
}

void eng_recv_placing(struct eng_recv *recv)
{
	eng_recv_set_state(recv, ENG_RECV_PLACING);
	recv->ep->rx_busy++;
	list_add_tail(&recv->node, &recv->sink.name.peer->rxs);
	set_sink(recv);
	eng_sink_expect(&recv->sink);
}

/* Ask for as much as there is room for. */
static void recv_pull(struct eng_recv *recv, struct eng_out *ctl)
{
	struct eng_peer *peer = recv->sink.name.peer;
	size_t want = recv->env.len < recv->room ? recv->env.len : recv->room;
	uint8_t flags = 0;

	set_sink(recv);
	if (want && eng_sink_open(&recv->sink, recv->ep->grp, want)) {
		/* No id, no data: the sender goes on, the receive says why it has none. */
		eng_ctl_send(ctl, peer, WIRE_CTS, 0, recv->env.tx_id, 0, 0);
		eng_recv_finish(recv, -FI_ENOMEM);
		return;
	}
	if (__builtin_expect(want && recv->sink.dev, 0) && (recv->env.flags & WIRE_F_SHARE))
		flags = eng_dev_accept(recv->ep, &recv->sink);
	eng_ctl_send(ctl, peer, WIRE_CTS, flags, recv->env.tx_id, want, recv->sink.name.id);
	if (!want) {
		eng_recv_finish(recv, 0);
		return;
	}
	eng_recv_set_state(recv, ENG_RECV_PULL);
	recv->ep->rx_busy++;
	list_add_tail(&recv->node, &peer->rxs);
}

void eng_recv_begin(struct eng_recv *recv, struct eng_peer *peer,
		    const struct eng_envelope *env, struct eng_out *ctls[3])
{
	struct eng_peer *from = recv->sink.name.peer;

	PROBE3(match, recv, env->tag, env->len);
	/* A receive that is directed by way of a shared context knows its source only. */
	if (from != peer) {
		recv->sink.name.peer = peer;
		eng_peer_ref(peer);
		if (from)
			eng_peer_unref(from);
	}
	if (__builtin_expect(peer->ep->srx != NULL, 0))
		eng_recv_adopt(recv, peer->ep);
	eng_recv_set_state(recv, ENG_RECV_MATCHED);
	recv->env = *env;
	if (env->flags & WIRE_F_DATA)
		recv->cq_flags |= FI_REMOTE_CQ_DATA;
	recv->ack = ctls[2];
	if (ctls[1])
		eng_ctl_send(ctls[1], peer, WIRE_ACK, WIRE_F_MATCHED, env->tx_id, 0, 0);
	if (env->rts)
		recv_pull(recv, ctls[0]);
}

/* Whether a success is reported depends on the endpoint's binding, which the shared context
 * did not know.
 */
void eng_recv_adopt(struct eng_recv *recv, struct eng_ep *ep)
{
	recv->ep = ep;
	recv->want_comp = !recv->quiet &&
			  obj_ep_want_rx_comp(&ep->base, recv->asked ? FI_COMPLETION : 0);
}

/* ---- ends ------------------------------------------------------------------ */

void eng_recv_free(struct eng_recv *recv)
{
	struct eng_grp *grp = recv->ep->grp;
	struct eng_peer *peer = recv->sink.name.peer;

	if (__builtin_expect(recv->sink.name.id, 0))
		eng_name_drop(grp, &recv->sink.name);
	if (__builtin_expect(recv->watch != NULL, 0))
		eng_recv_unwatch(recv);
	if (__builtin_expect(recv->sink.dev != NULL, 0))
		eng_dev_put(recv->sink.dev);
	pool_put(&grp->recvs, recv);
	if (peer)
		eng_peer_unref(peer);
}

static void recv_report_error(struct eng_recv *recv, int err, uint64_t flags, size_t len,
			      fi_addr_t src)
{
	struct eng_ep *ep = eng_srx_reporter(recv->ep);
	struct eng_peer *peer = recv->sink.name.peer;
	enum obj_ep_cntr cntr = recv->quiet ? OBJ_CNTR_NONE : OBJ_CNTR_RECV;
	struct fi_cq_err_entry entry = {
		.op_context = recv->context,
		.flags = flags,
		.len = len,
		.buf = recv->iov_cnt ? recv->iov[0].iov_base : NULL,
		.data = recv->env.data,
		.tag = recv->env.tag,
		.olen = recv->env.len - len,
		.err = hmem_errno(err),
		.prov_errno = err,
		.src_addr = src,
	};

	/* FI_SOURCE_ERR: the message is here, but its sender has no fi_addr_t. */
	if (err == FI_EADDRNOTAVAIL) {
		entry.olen = 0;
		obj_ep_err_rx(&ep->base, &entry, peer->addr, peer->addr_len, OBJ_CNTR_NONE);
		obj_ep_count(&ep->base, cntr, len);
		return;
	}
	obj_ep_err_rx(&ep->base, &entry, NULL, 0, cntr);
}

static void recv_report(struct eng_recv *recv, int status, uint64_t flags)
{
	struct eng_ep *ep = recv->ep;
	fi_addr_t src = ep->source ? eng_peer_fi_addr(recv->sink.name.peer) : FI_ADDR_NOTAVAIL;
	size_t len = recv->env.len;

	if (__builtin_expect(flags & FI_COLLECTIVE, 0))
		eng_oob_recv_done(recv, status);
	else if (__builtin_expect(status != 0, 0))
		recv_report_error(recv, -status, flags, 0, eng_peer_fi_addr(recv->sink.name.peer));
	else if (__builtin_expect(len > recv->room, 0))
		recv_report_error(recv, FI_ETRUNC, flags, recv->room, src);
	else if (__builtin_expect(ep->source_err && src == FI_ADDR_NOTAVAIL, 0))
		recv_report_error(recv, FI_EADDRNOTAVAIL, flags, len, obj_av_key_source(ep->base.av));
	else
		obj_ep_comp_rx(&ep->base, recv->want_comp ||
			       ((flags & FI_MULTI_RECV) && ep->base.rx_cq),
			       recv->context, flags, len,
			       recv->iov_cnt ? recv->iov[0].iov_base : NULL,
			       recv->env.data, recv->env.tag, src,
			       recv->quiet ? OBJ_CNTR_NONE : OBJ_CNTR_RECV);
}

/* What is left of deferred work that was this receive. */
static void work_done(struct eng_recv *recv, int err)
{
	if (recv->ep->state == ENG_EP_CLOSED)
		err = FI_ECANCELED;
	else if (!err && recv->env.len > recv->room)
		err = FI_ETRUNC;
	eng_trig_done(recv->trig, err);
}

/* In this order: the buffer of a part, whose release the completion carries; the completion; deferred
 * work; the owner of an imported entry.  Returns the buffer that is to be aborted once the receive is free,
 * or NULL.
 */
static inline struct eng_recv *recv_tell(struct eng_recv *recv, int status)
{
	struct eng_recv *buffer = recv->buffer;
	uint64_t flags = recv->cq_flags;

	if (__builtin_expect(buffer != NULL, 0)) {
		flags |= eng_mrecv_part_done(buffer);
		if (flags & FI_MULTI_RECV)
			buffer = NULL;
	}
	if (__builtin_expect(recv->ep->state != ENG_EP_CLOSED, 1) ||
	    (flags & (FI_MULTI_RECV | FI_COLLECTIVE)))
		recv_report(recv, status, flags);
	if (__builtin_expect(recv->trig != NULL, 0))
		work_done(recv, -status);
	if (__builtin_expect(recv->entry != NULL, 0))
		eng_imported_free_entry(recv->entry);
	return buffer && buffer->abort && !buffer->parts ? buffer : NULL;
}

/* First the ACK, then the program is told.  Then the receive is free. */
void eng_recv_finish(struct eng_recv *recv, int status)
{
	struct eng_recv *buffer = NULL;

	if (recv->state == ENG_RECV_PLACING || recv->state == ENG_RECV_PULL) {
		list_del(&recv->node);
		recv->ep->rx_busy--;
	}
	if (__builtin_expect(recv->ack != NULL, 0))
		eng_ctl_send(recv->ack, recv->sink.name.peer, WIRE_ACK, WIRE_F_DELIVERED,
			     recv->env.tx_id, 0, 0);
	if (__builtin_expect(recv->state == ENG_RECV_SKIP, 0))
		list_del(&recv->node);
	else
		buffer = recv_tell(recv, status);
	eng_recv_free(recv);
	if (buffer)
		eng_mrecv_abort(buffer, buffer->abort);
}

/* From now on it is the hub's, since a context may close before the message is here. */
bool eng_recv_skip(struct eng_recv *recv, int err)
{
	struct eng_sink *sink = &recv->sink;
	struct eng_peer *peer = sink->name.peer;
	const struct eng_link_ops *ops = peer->link->ops;
	struct eng_ep *ep = recv->ep;
	struct eng_recv *buffer;

	if (sink->dev || (sink->pieces && !ops->held.unplace(peer->link, peer, sink)))
		return false;
	eng_recv_unwatch(recv);
	eng_recv_set_state(recv, ENG_RECV_SKIP);
	ep->rx_busy--;
	buffer = recv_tell(recv, -err);
	sink->iov_cnt = 0;
	recv->ep = peer->ep;
	recv->rxc = NULL;
	recv->buffer = NULL;
	recv->trig = NULL;
	recv->entry = NULL;
	if (buffer)
		eng_mrecv_abort(buffer, buffer->abort);
	return true;
}

/* One that the link is just moving a piece into fails when that is over. */
static void fail_one(struct eng_recv *recv, int status)
{
	if (!recv->sink.pieces) {
		eng_recv_finish(recv, status);
		return;
	}
	list_add_tail(&recv->node, &recv->sink.name.peer->rxs);
	recv->sink.err = status;
	eng_name_drop(recv->ep->grp, &recv->sink.name);	/* no more pieces */
}

bool eng_recv_refused(struct eng_peer *peer, uint32_t id, int err)
{
	struct eng_name *name = eng_name_find(peer->ep->grp, id, ENG_NAME_SINK, peer);
	struct eng_sink *sink = name ? container_of(name, struct eng_sink, name) : NULL;
	struct eng_recv *recv;

	if (!sink || sink->done != on_recv_sunk)
		return false;
	recv = container_of(sink, struct eng_recv, sink);
	if (!(recv->cq_flags & FI_COLLECTIVE) && err != FI_EIO)
		return false;
	list_del(&recv->node);
	fail_one(recv, -err);
	return true;
}

void eng_recv_abort(struct eng_recv *recv, int err)
{
	match_unpost(eng_rxc_match(recv->rxc, recv->cq_flags & FI_TAGGED), &recv->m);
	recv->rxc->posted--;
	if (recv->multi) {
		eng_mrecv_abort(recv, err);
		return;
	}
	if (recv->ep->state != ENG_EP_CLOSED) {
		recv->env = (struct eng_envelope) { .tag = recv->m.tag };
		recv_report_error(recv, err, recv->cq_flags, 0, recv->sink.name.peer ?
				  eng_peer_fi_addr(recv->sink.name.peer) : FI_ADDR_NOTAVAIL);
	}
	if (recv->trig)
		work_done(recv, err);
	eng_recv_free(recv);
}

static bool abort_one(struct match_recv *m, void *arg)
{
	eng_recv_abort(container_of(m, struct eng_recv, m), *(int *) arg);
	return false;
}

void eng_recv_flush(struct eng_rxc *rxc, int err)
{
	match_each_recv(&rxc->msgs, abort_one, &err);
	match_each_recv(&rxc->tagged, abort_one, &err);
}

struct lost {
	struct eng_peer *peer;
	int err;
};

static bool abort_directed(struct match_recv *m, void *arg)
{
	struct eng_recv *recv = container_of(m, struct eng_recv, m);
	struct lost *lost = arg;

	if (m->src != eng_peer_key(lost->peer))
		return false;
	if (lost->peer->src && !recv->multi)
		eng_recv_adopt(recv, lost->peer->ep);
	eng_recv_abort(recv, lost->err);
	return false;
}

/* May a receive be directed at @peer that no other endpoint can satisfy? */
static bool peer_is_awaited(struct eng_peer *peer)
{
	if (!peer->src)
		return peer->refs != 0;
	return peer->ep->state != ENG_EP_CLOSED && eng_peer_last_channel(peer);
}

void eng_recv_fail_all(struct eng_peer *peer, int err)
{
	struct lost lost = { peer, err };
	struct eng_ep *ep = peer->ep;
	struct list todo, *item;
	struct eng_rxc *rxc;
	unsigned i;

	list_init(&todo);
	list_splice_tail(&peer->rxs, &todo);
	while ((item = list_pop(&todo)))
		fail_one(container_of(item, struct eng_recv, node), -err);
	eng_unexp_peer_lost(peer);
	if (!peer_is_awaited(peer))
		return;
	for (i = 0; i < ep->rxc_cnt; i++) {
		rxc = &ep->rxc[i];
		if (match_may_direct(&rxc->msgs))
			match_each_recv(&rxc->msgs, abort_directed, &lost);
		if (match_may_direct(&rxc->tagged))
			match_each_recv(&rxc->tagged, abort_directed, &lost);
	}
}

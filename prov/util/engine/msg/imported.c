/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * imported.c - the peer's side of fi_peer(3) for shared receive contexts.
 *
 * A message asks the owner for an entry (get_msg, get_tag).  With one it is received like any
 * other.  Without one the owner queues the entry, the payload stays with the link, and the owner
 * calls start or discard later, from any thread: that runs in our next poll.
 */
#include "engine/imported.h"

#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/iov.h"
#include "engine/inbox.h"
#include "engine/packet.h"

/* A message whose entry the owner keeps; entry->peer_context. */
struct eng_imported {
	struct eng_work work;		/* in the inbox, once the owner has called */
	_Atomic bool posted;
	struct list node;		/* on srx->imported */
	struct eng_ep *srx;
	struct eng_msg *msg;		/* NULL: lost with its endpoint */
	struct fi_peer_rx_entry *entry;
};

void eng_imported_free_entry(struct fi_peer_rx_entry *entry)
{
	entry->srx->owner_ops->free_entry(entry);
}

void eng_imported_forget(struct eng_imported *imp)
{
	imp->msg = NULL;
}

static void imported_free(struct eng_imported *imp)
{
	list_del(&imp->node);
	free(imp);
}

/* The owner's entry as a receive of @ep's. */
static struct eng_recv *take_entry(struct eng_recv *recv, struct eng_ep *ep,
				   struct eng_rxc *rxc, struct fi_peer_rx_entry *entry, bool tagged)
{
	size_t cnt = entry->count < ENG_IOV_MAX ? entry->count : ENG_IOV_MAX;

	eng_recv_clear(recv);
	recv->m.tag = entry->tag;
	recv->ep = ep;
	recv->rxc = rxc;
	recv->context = entry->context;
	recv->cq_flags = FI_RECV | (tagged ? FI_TAGGED : FI_MSG);
	recv->asked = (entry->flags & FI_COMPLETION) != 0;
	recv->want_comp = obj_ep_want_rx_comp(&ep->base, entry->flags);
	recv->slow = true;
	recv->entry = entry;
	recv->iov_cnt = (uint16_t) cnt;
	if (cnt)
		memcpy(recv->iov, entry->iov, cnt * sizeof(*entry->iov));
	recv->room = iov_total(recv->iov, cnt);
	return recv;
}

/* ---- messages --------------------------------------------------------------- */

static int ask_owner(struct fid_peer_srx *owner, struct eng_peer *peer,
		     const struct eng_envelope *env, struct fi_peer_rx_entry **entry_p)
{
	fi_addr_t addr = eng_peer_fi_addr(peer);
	struct fi_peer_match_attr attr = {
		.addr = addr == FI_ADDR_NOTAVAIL ? FI_ADDR_UNSPEC : addr,
		.msg_size = env->len,
		.tag = env->tag,
	};

	return env->flags & WIRE_F_TAG ? owner->owner_ops->get_tag(owner, &attr, entry_p) :
	       owner->owner_ops->get_msg(owner, &attr, entry_p);
}

static int run_discard(struct eng_work *work);

/* No receive yet: the payload stays with the link, the entry goes back to the owner. */
static enum eng_rx_verdict imported_keep(struct eng_peer *peer, struct eng_rxc *rxc,
					 const struct eng_envelope *env, struct eng_rx *rx,
					 struct eng_imported *imp)
{
	struct fid_peer_srx *owner = rxc->owner;
	enum eng_rx_verdict verdict = eng_unexp_keep_imported(peer, rxc, env, rx, imp, &imp->msg);
	int ret;

	if (!eng_rx_taken(verdict))
		return verdict;
	list_add_tail(&imp->node, &imp->srx->imported);
	imp->entry->peer_context = imp;
	ret = env->flags & WIRE_F_TAG ? owner->owner_ops->queue_tag(imp->entry) :
	      owner->owner_ops->queue_msg(imp->entry);
	if (ret) {
		ENG_WARN(peer->ep, "a message is lost: the owner of the shared receive context "
			 "does not keep it: %s\n", fi_strerror(-ret));
		/* The link is still looking at it. */
		imp->work.run = run_discard;
		eng_inbox_post(imp->srx->inbox, &imp->work, &imp->posted);
	}
	return verdict;
}

enum eng_rx_verdict eng_imported_message(struct eng_peer *peer, struct eng_rxc *rxc,
					 const struct eng_envelope *env, struct eng_rx *rx)
{
	enum eng_rx_verdict verdict = ENG_RX_LATER;
	struct eng_out *ctls[3] = { NULL, NULL, NULL };
	struct eng_grp *grp = peer->ep->grp;
	struct eng_recv *recv = eng_recv_get(grp);
	struct eng_imported *imp = calloc(1, sizeof(*imp));
	int ret = -FI_ENOMEM;

	/* Once the owner has been asked there is no way back. */
	if (recv && imp && eng_packet_ctl_get(peer, env, ctls))
		ret = ask_owner(rxc->owner, peer, env, &imp->entry);
	if (!ret) {
		take_entry(recv, peer->ep, rxc, imp->entry, env->flags & WIRE_F_TAG);
		free(imp);
		eng_recv_begin(recv, peer, env, ctls);
		return env->rts ? ENG_RX_DONE : eng_packet_take(recv, rx);
	}
	if (ret == -FI_ENOENT) {
		list_init(&imp->work.node);
		imp->srx = peer->ep->srx;
		verdict = imported_keep(peer, rxc, env, rx, imp);
		if (eng_rx_taken(verdict))
			imp = NULL;
		else
			eng_imported_free_entry(imp->entry);
	}
	eng_recv_ctl_put(ctls);
	if (recv)
		pool_put(&grp->recvs, recv);
	free(imp);
	return verdict;
}

/* ---- the owner's calls ------------------------------------------------------ */

/* The endpoint that had the message is closed; the program still waits for its entry. */
static void report_lost(struct eng_imported *imp)
{
	struct fi_peer_rx_entry *entry = imp->entry;
	struct fi_cq_err_entry err = obj_cq_err(entry->context, FI_RECV, FI_ECONNRESET);

	err.tag = entry->tag;
	err.src_addr = entry->addr;

	obj_ep_err_rx(&eng_srx_reporter(imp->srx)->base, &err, NULL, 0, OBJ_CNTR_NONE);
	eng_imported_free_entry(entry);
	imported_free(imp);
}

static int run_start(struct eng_work *work)
{
	struct eng_imported *imp = container_of(work, struct eng_imported, work);
	struct eng_msg *msg = imp->msg;
	struct eng_out *ctls[3];
	struct eng_recv *recv;

	if (!msg) {
		report_lost(imp);
		return 0;
	}
	recv = eng_recv_get(imp->srx->grp);
	if (!recv)
		return -FI_EAGAIN;
	if (!eng_recv_ctl_get(imp->srx->grp, &msg->env, ctls)) {
		pool_put(&imp->srx->grp->recvs, recv);
		return -FI_EAGAIN;
	}
	take_entry(recv, msg->peer->ep, msg->rxc, imp->entry, msg->env.flags & WIRE_F_TAG);
	imported_free(imp);
	eng_unexp_take(recv, msg, ctls);
	return 0;
}

static int run_discard(struct eng_work *work)
{
	struct eng_imported *imp = container_of(work, struct eng_imported, work);

	if (imp->msg && eng_unexp_discard(imp->msg))
		return -FI_EAGAIN;
	eng_imported_free_entry(imp->entry);
	imported_free(imp);
	return 0;
}

static int entry_post(struct fi_peer_rx_entry *entry, int (*run)(struct eng_work *))
{
	struct eng_imported *imp = entry->peer_context;

	imp->work.run = run;
	eng_inbox_post(imp->srx->inbox, &imp->work, &imp->posted);
	return 0;
}

static int entry_start(struct fi_peer_rx_entry *entry)
{
	return entry_post(entry, run_start);
}

static int entry_discard(struct fi_peer_rx_entry *entry)
{
	return entry_post(entry, run_discard);
}

static fi_addr_t source_of(struct fi_peer_rx_entry *entry)
{
	struct eng_imported *imp = entry->peer_context;
	fi_addr_t addr = imp->msg ? eng_peer_fi_addr(imp->msg->peer) : FI_ADDR_NOTAVAIL;

	return addr == FI_ADDR_NOTAVAIL ? FI_ADDR_UNSPEC : addr;
}

void eng_imported_sources(struct eng_ep *srx)
{
	struct fid_peer_srx *owner = srx->rxc->owner;

	if (!list_empty(&srx->imported) && owner->owner_ops->foreach_unspec_addr)
		owner->owner_ops->foreach_unspec_addr(owner, source_of);
}

static struct fi_ops_srx_peer peer_ops = {
	.size = sizeof(peer_ops),
	.start_msg = entry_start,
	.start_tag = entry_start,
	.discard_msg = entry_discard,
	.discard_tag = entry_discard,
};

int eng_imported_open(struct eng_ep *srx, const struct fi_peer_srx_context *context)
{
	struct fid_peer_srx *owner;
	int ret;

	if (!context || context->size < sizeof(*context) || !context->srx ||
	    !context->srx->owner_ops) {
		ENG_WARN(srx, "FI_PEER without a context that names the owner's shared receive "
			 "context and its operations\n");
		return -FI_EINVAL;
	}
	owner = context->srx;
	ret = eng_inbox_get(srx->grp, &srx->inbox);
	if (ret)
		return ret;
	owner->peer_ops = &peer_ops;
	srx->rxc->owner = owner;
	srx->rx_ret = -FI_ENOSYS;
	srx->base.h.fid.fid.context = owner;
	return 0;
}

void eng_imported_close(struct eng_ep *srx)
{
	struct eng_imported *imp;

	while (!list_empty(&srx->imported)) {
		imp = container_of(srx->imported.next, struct eng_imported, node);
		eng_inbox_take(srx->inbox, &imp->work);
		imported_free(imp);
	}
}

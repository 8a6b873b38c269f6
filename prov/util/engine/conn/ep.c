/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "engine/ep.h"

#include <assert.h>
#include <poll.h>
#include <stdlib.h>

#include "base/clock.h"
#include "engine/dev.h"
#include "engine/oob.h"
#include "engine/query.h"
#include "engine/flow.h"
#include "engine/peer.h"
#include "engine/recv.h"
#include "engine/seen.h"
#include "engine/trig.h"
#include "obj/ops.h"

/* When the templates leave a size open. */
#define QUEUE_SIZE 1024

__attribute__((unused)) static const unsigned edges[] = {
	[ENG_EP_OPEN] = 1u << ENG_EP_READY,
	[ENG_EP_READY] = 1u << ENG_EP_CLOSED,
	[ENG_EP_CLOSED] = 0,
};

void eng_ep_set_state(struct eng_ep *ep, enum eng_ep_state state)
{
	assert(edges[ep->state] & 1u << state && "an endpoint's life has one direction");
	ep->state = state;
}

/* ---- receive contexts --------------------------------------------------------- */

/* Messages with and without a tag never match each other: a matcher for each. */
int eng_rxc_init(struct eng_rxc *rxc, size_t size)
{
	int ret = match_init(&rxc->msgs);

	if (ret)
		return ret;
	ret = match_init(&rxc->tagged);
	if (ret) {
		match_fini(&rxc->msgs);
		return ret;
	}
	list_init(&rxc->claimed);
	rxc->owner = NULL;
	rxc->posted = 0;
	rxc->size = size;
	rxc->max = eng_flow_rx_max(size);
	rxc->by_data = false;
	return 0;
}

void eng_rxc_fini(struct eng_rxc *rxc)
{
	match_fini(&rxc->msgs);
	match_fini(&rxc->tagged);
}

void eng_ep_fini_rxc(struct eng_ep *ep)
{
	unsigned i;

	for (i = 0; ep->own && i < ep->rxc_cnt; i++)
		eng_rxc_fini(&ep->own[i]);
	free(ep->own);
	ep->own = NULL;
}

int eng_ep_own_rxc(struct eng_ep *ep, unsigned cnt, size_t size)
{
	int ret = 0;

	ep->own = line_alloc(cnt * sizeof(*ep->own));
	if (!ep->own)
		return -FI_ENOMEM;
	for (ep->rxc_cnt = 0; ep->rxc_cnt < cnt; ep->rxc_cnt++) {
		ret = eng_rxc_init(&ep->own[ep->rxc_cnt], size ? size : QUEUE_SIZE);
		if (ret) {
			eng_ep_fini_rxc(ep);
			return ret;
		}
	}
	ep->rxc = ep->own;
	return 0;
}

/* ---- enable ----------------------------------------------------------------- */

void eng_ep_set_fast(struct eng_ep *ep)
{
	struct eng_ep *hub = ep->hub;
	size_t eager = hub->link->attr.eager_limit;
	size_t most = eager < ep->inject_size ? eager : ep->inject_size;

	if (most > ep->max_msg_size)
		most = ep->max_msg_size;
	/* A peer's contexts are named on the long way only. */
	ep->fast_end = hub->rx_bits ? 0 : most + 1;
}

/* The link is the endpoint's: what open() left to us, and limits that agree with each other. */
static void adopt_links(struct eng_ep *ep)
{
	struct eng_link *link = ep->link;

	link->ops = ep->link_ops;
	link->ep = ep;
	link->prog = ep->base.prog;
	eng_link_limit(&link->attr, &link->attr);
	if (ep->base.caps & FI_HMEM)
		eng_dev_limit(&link->attr);
	assert(link->attr.seg_size && "a link carries some payload");
	ep->rx_bits = ep->base.av ? (unsigned) ep->base.av->rx_ctx_bits : 0;
}

/* READY is set last: until then a failure leaves the endpoint as it was, and it can be enabled
 * again.
 */
static int start_locked(struct eng_ep *ep)
{
	char none[OBJ_ADDR_MAX] = "";
	struct eng_grp *grp;
	int ret = eng_grp_get(ep->base.prog, &grp);

	if (ret)
		return ret;
	ret = ep->link_ops->open(ep, NULL, &ep->link);
	if (ret)
		return ret;
	adopt_links(ep);
	if (ep->base.type == FI_EP_MSG) {
		ep->only = eng_peer_new(ep, none, ep->link->attr.addr_len);
		if (!ep->only) {
			ep->link_ops->close(ep->link, 0);
			ep->link = NULL;
			return -FI_ENOMEM;
		}
		ep->only->slow = ENG_PEER_CLOSED;
	}
	eng_ep_set_state(ep, ENG_EP_READY);
	ep->grp = grp;
	return 0;
}

int eng_ep_start_hub(struct eng_ep *ep)
{
	int ret;

	lock_get(&ep->base.prog->lock);
	ret = start_locked(ep);
	lock_put(&ep->base.prog->lock);
	if (!ret)
		eng_seen_add(ep);
	return ret;
}

/* ep_spins - can the program learn of what completes only by reading its queues? */
static bool ep_spins(const struct obj_ep *base)
{
	unsigned i;

	for (i = 0; i < OBJ_CNTR_CNT; i++)
		if (base->cntrs[i] && base->cntrs[i]->wait.type != FI_WAIT_NONE)
			return false;
	return base->tx_cq && base->tx_cq->wait.type == FI_WAIT_NONE &&
	       (!base->rx_cq || base->rx_cq->wait.type == FI_WAIT_NONE);
}

/* A shared context is joined first: messages for it may come as soon as the link is open. */
static int ep_enable(struct obj_ep *base)
{
	struct eng_ep *ep = (struct eng_ep *) base;
	int ret = 0;

	if (base->srx)
		ret = eng_srx_join(ep);
	if (ret)
		return ret;
	ret = eng_ep_start_hub(ep);
	if (ret) {
		if (ep->srx)
			eng_srx_leave(ep);
		return ret;
	}
	eng_ep_set_fast(ep);
	ep->spins = ep_spins(base);
	ep->fast_rx = !ep->srx && !ep->source_err;
	ep->rx_ret = ep->srx ? -FI_ENOSYS : 0;
	ep->tx_ret = 0;
	return 0;
}

/* ---- close ------------------------------------------------------------------ */

/* Injected messages are complete for the program; those that the receiver
 * has not asked for yet must still go, if it does so soon.
 */
static void ep_linger(struct eng_ep *ep)
{
	struct obj_prog *prog = ep->base.prog;
	uint64_t end = clock_deadline(ENG_LINGER_MS);
	bool left, busy;

	for (;;) {
		lock_get(&prog->lock);
		busy = obj_prog_poll_locked(prog) > 0;
		left = ep->inject_out != 0;
		lock_put(&prog->lock);
		if (!left || clock_ns() >= end)
			return;
		if (!busy)
			poll(NULL, 0, 1);
	}
}

/* Close the link, with everything that waits for a peer. */
/* In this order: deferred work, so that nothing starts any more; injected messages, which are
 * still sent; posted receives; unexpected messages; the link and copies to devices, after which
 * no buffer is in use;
 * what is left of requests; the peers.
 */
static void stop_hub(struct eng_ep *ep)
{
	struct eng_peer *peer;
	unsigned i;
	bool left;

	obj_shown_remove(&ep->shown);
	lock_get(&ep->base.prog->lock);
	eng_trig_drop(ep);
	left = ep->inject_out != 0;
	lock_put(&ep->base.prog->lock);
	if (left)
		ep_linger(ep);
	lock_get(&ep->base.prog->lock);
	eng_ep_set_state(ep, ENG_EP_CLOSED);
	obj_cm_shut(&ep->base);		/* no events any more */
	for (i = 0; ep->own && i < ep->rxc_cnt; i++)
		eng_recv_flush(&ep->own[i], FI_ECANCELED);
	if (ep->oob)
		ep->oob_user->stop(ep->oob);
	eng_query_stop(ep);
	list_for_each_entry(peer, &ep->peers, node)
		eng_unexp_drop_peer(peer);
	eng_dev_settle(ep->grp);
	ep->link_ops->close(ep->link, ENG_LINGER_MS);
	ep->link = NULL;
	list_for_each_entry(peer, &ep->peers, node)
		peer->slow |= ENG_PEER_CLOSED;
	eng_dev_settle(ep->grp);
	list_for_each_entry(peer, &ep->peers, node)
		eng_peer_fail(peer, FI_ECANCELED);
	assert(!ep->tx_out && "every request has come back");
	eng_query_free(ep);
	eng_oob_free(ep);
	eng_peer_free_all(ep);
	lock_put(&ep->base.prog->lock);
}

void eng_ep_free(struct eng_ep *ep)
{
	if (ep->srx)
		eng_srx_leave(ep);
	obj_cm_drop(&ep->base);
	eng_ep_fini_rxc(ep);
	free(ep->tx_ctx);
	free(ep->rx_ctx);
	obj_ep_fini(&ep->base);
	free(ep);
}

/* First no call and no poll is in the endpoint any more, then the link ends, then its memory goes. */
static int ep_close(struct fid *fid)
{
	struct eng_ep *ep = eng_ep_of_fid(fid);
	int ret;

	if (obj_inherited(&ep->base.refs))
		return 0;
	ret = obj_ep_busy(&ep->base);
	if (ret)
		return ret;
	obj_ep_quiesce(&ep->base);
	if (eng_ep_enabled(ep))
		stop_hub(ep);
	eng_ep_free(ep);
	return 0;
}

/* ---- options ---------------------------------------------------------------- */

/* size_left - of what is guaranteed: more may be taken.  Under the lock: the progress thread may match
 * a receive meanwhile.
 */
static ssize_t size_left(struct eng_ep *ep, bool rx)
{
	size_t size, used;

	if (!eng_ep_enabled(ep))
		return -FI_EOPBADSTATE;
	lock_get(&ep->base.prog->lock);
	size = rx ? ep->rxc->size : ep->tx_size;
	used = rx ? ep->rxc->posted : ep->tx_out;
	lock_put(&ep->base.prog->lock);
	return used < size ? (ssize_t) (size - used) : 0;
}

static ssize_t rx_size_left(struct fid_ep *fid)
{
	return size_left(eng_ep_of(fid), true);
}

static ssize_t tx_size_left(struct fid_ep *fid)
{
	return size_left(eng_ep_of(fid), false);
}

/* ---- open ------------------------------------------------------------------- */

static const struct obj_ep_ops base_ops = {
	.enable = ep_enable,
	.late = OBJ_LATE_CNTR | OBJ_LATE_CQ,
	.av_removed = eng_peer_removed,
};

struct fi_ops eng_ep_fid_ops = {
	.close = ep_close,
	.bind = obj_ep_bind,
	.control = obj_ep_control,
	.ops_open = eng_profile_open,
};
OBJ_OPS_TABLE(eng_ep_fid_ops, fid)

struct fi_ops_ep eng_ep_ops = {
	.cancel = eng_recv_cancel,
	.getopt = obj_ep_getopt,
	.setopt = obj_ep_setopt,
	.rx_size_left = rx_size_left,
	.tx_size_left = tx_size_left,
};
OBJ_OPS_TABLE(eng_ep_ops, ep)

void eng_ep_set_tables(struct eng_ep *ep)
{
	struct fid_ep *fid = &ep->base.h.fid;

	fid->ops = &eng_ep_ops;
	/* Contexts have no name of their own. */
	if (fid->fid.fclass == FI_CLASS_EP || fid->fid.fclass == FI_CLASS_SEP)
		fid->cm = ep->base.type == FI_EP_MSG ? &obj_cm_msg_ops : &obj_cm_rdm_ops;
	if (ep->base.caps & FI_MSG)
		fid->msg = &eng_send_msg_ops;
	if (ep->base.caps & FI_TAGGED)
		fid->tagged = &eng_send_tagged_ops;
	if (ep->base.caps & FI_RMA)
		fid->rma = &eng_rma_ops;
	if (ep->base.caps & FI_ATOMIC)
		fid->atomic = &eng_amo_ops;
	if (ep->base.caps & FI_HMEM)
		eng_dev_set_tables(fid);
	if ((ep->base.caps & FI_COLLECTIVE) && ep->base.type == FI_EP_RDM &&
	    fid->fid.fclass == FI_CLASS_EP)
		eng_coll_attach(ep);
	obj_ops_fill_ep(fid);
}

static void ep_set_up(struct eng_ep *ep, const struct eng_link_ops *link)
{
	const struct fi_info *info = ep->base.info;

	ep->hub = ep;
	ep->link_ops = link;
	ep->oob_user = &eng_query_oob;
	ep->base.cm.ops = &eng_cm_ops;
	ep->base.cm.transport = link;
	ep->tx_ret = -FI_EOPBADSTATE;
	ep->rx_ret = -FI_EOPBADSTATE;
	ep->tx_size = info->tx_attr->size ? info->tx_attr->size : QUEUE_SIZE;
	ep->inject_size = info->tx_attr->inject_size < ENG_INJECT_MAX ?
			  info->tx_attr->inject_size : ENG_INJECT_MAX;
	ep->max_msg_size = info->ep_attr->max_msg_size ? info->ep_attr->max_msg_size :
			   ENG_MAX_MSG_SIZE;
	ep->rma_long = ep->max_msg_size < ENG_RMA_LONG ? ep->max_msg_size + 1 : ENG_RMA_LONG;
	ep->source = (ep->base.caps & (FI_SOURCE | FI_SOURCE_ERR)) != 0;
	ep->source_err = (ep->base.caps & FI_SOURCE_ERR) != 0;
	ep->directed = (ep->base.caps & FI_DIRECTED_RECV) != 0 && ep->base.type == FI_EP_RDM;
	eng_flow_limits(ep);
	hmap_init(&ep->by_addr);
	list_init(&ep->peers);
	list_init(&ep->idle);
	list_init(&ep->srx_node);
	list_init(&ep->users);
	list_init(&ep->imported);
}

int eng_ep_new(size_t fclass, struct fid_domain *domain, const struct fi_info *info,
	       const struct obj_ep_ops *ops, const struct eng_link_ops *link, void *context,
	       struct eng_ep **ep_p)
{
	struct eng_ep *ep = line_alloc(sizeof(*ep));
	int ret = -FI_ENOMEM;

	if (ep)
		ret = obj_ep_init(&ep->base, fclass, domain, info, ops, context);
	if (ret) {
		free(ep);
		return ret;
	}
	ep_set_up(ep, link);
	*ep_p = ep;
	return 0;
}

static int check_type(struct eng_ep *ep, const struct eng_link_ops *link)
{
	if (ep->base.type == FI_EP_RDM || (ep->base.type == FI_EP_MSG && link->cm))
		return 0;
	ENG_WARN(ep, "%s has no endpoints of this type; FI_EP_RDM%s\n", link->name,
		 link->cm ? " and FI_EP_MSG are offered" : " is offered");
	return -FI_ENOSYS;
}

int eng_ep_open(struct fid_domain *domain, struct fi_info *info,
		const struct eng_link_ops *link, uint64_t flags,
		struct fid_ep **ep_p, void *context)
{
	struct eng_ep *ep;
	int ret = eng_ep_new(FI_CLASS_EP, domain, info, &base_ops, link, context, &ep);

	if (ret)
		return ret;
	ep->base.cm.data_size = link->cm ? link->cm->data_size : 0;
	ret = check_type(ep, link);
	if (!ret)
		ret = eng_ep_own_rxc(ep, 1, ep->base.info->rx_attr->size);
	if (!ret && info->handle)
		ret = obj_cm_take(&ep->base, info->handle);
	if (ret) {
		eng_ep_free(ep);
		return ret;
	}
	ep->base.h.fid.fid.ops = &eng_ep_fid_ops;
	eng_ep_set_tables(ep);
	*ep_p = &ep->base.h.fid;
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * srx.c - shared receive contexts: receives that belong to several endpoints.
 *
 * The context has the matchers; the endpoints that use it have the links, and all
 * are of one progress group.  A receive belongs to the context until it meets a
 * message, and from then on to the endpoint that got it.
 *
 * An endpoint's peers are its own, but a receive directed at an address must match
 * whichever endpoint is called from there.  So the context keeps a peer for each
 * address that one of its endpoints talks to, without a link: it is the source
 * that all of theirs refer to.
 */
#include <rdma/fi_errno.h>

#include "engine/peer.h"
#include "engine/imported.h"
#include "engine/recv.h"
#include "engine/trig.h"
#include "obj/ops.h"

/* ---- users ------------------------------------------------------------------ */

int eng_srx_join(struct eng_ep *ep)
{
	struct eng_ep *srx = (struct eng_ep *) ep->base.srx;
	int ret = obj_ep_lend_av(&srx->base, &ep->base);

	if (ret)
		return ret;
	ep->srx = srx;
	ep->rxc = srx->rxc;
	lock_get(&srx->base.prog->lock);
	list_add_tail(&ep->srx_node, &srx->users);
	lock_put(&srx->base.prog->lock);
	return 0;
}

void eng_srx_leave(struct eng_ep *ep)
{
	struct eng_ep *srx = ep->srx;
	bool last;

	lock_get(&srx->base.prog->lock);
	list_del(&ep->srx_node);
	last = list_empty(&srx->users);
	if (last)
		eng_peer_forget_table(srx);
	lock_put(&srx->base.prog->lock);
	ep->srx = NULL;
	ep->rxc = ep->own;
	/* The address vector may close before the context does. */
	if (last)
		obj_ep_return_av(&srx->base);
}

struct eng_ep *eng_srx_reporter(struct eng_ep *ep)
{
	struct eng_ep *user;

	if (ep->base.rx_cq)
		return ep;
	list_for_each_entry(user, &ep->users, srx_node)
		if (user->base.rx_cq)
			return user;
	return ep;
}

/* ---- opening and closing ---------------------------------------------------- */

static int srx_close(struct fid *fid)
{
	struct eng_ep *srx = eng_ep_of_fid(fid);
	int ret;

	if (obj_inherited(&srx->base.refs))
		return 0;
	ret = obj_ep_busy(&srx->base);
	if (ret)
		return ret;
	obj_ep_quiesce(&srx->base);
	lock_get(&srx->base.prog->lock);
	eng_trig_drop(srx);
	eng_ep_set_state(srx, ENG_EP_CLOSED);
	eng_recv_flush(srx->rxc, FI_ECANCELED);
	eng_imported_close(srx);
	eng_peer_free_all(srx);
	lock_put(&srx->base.prog->lock);
	eng_ep_free(srx);
	return 0;
}

/* Owners match by fi_addr_t; those of messages that came before their senders were
 * known may be known now.
 */
static void av_inserted(struct obj_ep *base)
{
	struct eng_ep *srx = (struct eng_ep *) base;

	if (srx->rxc->owner)
		eng_imported_sources(srx);
}

static const struct obj_ep_ops base_ops = {
	.av_inserted = av_inserted,
	.av_removed = eng_peer_removed,
};

static struct fi_ops fid_ops = {
	.close = srx_close,
	.bind = obj_ep_bind,
	.control = obj_ep_control,
};
OBJ_OPS_TABLE(fid_ops, fid)

/* The context lives in a group of its own making, which its endpoints join. */
static int srx_start(struct eng_ep *srx)
{
	struct eng_grp *grp;
	int ret = obj_ep_prog(&srx->base);

	if (ret)
		return ret;
	lock_get(&srx->base.prog->lock);
	ret = eng_grp_get(srx->base.prog, &grp);
	lock_put(&srx->base.prog->lock);
	if (ret)
		return ret;
	eng_ep_set_state(srx, ENG_EP_READY);
	srx->grp = grp;
	srx->rx_ret = 0;
	srx->tx_ret = -FI_ENOSYS;
	return 0;
}

int eng_srx_open(struct fid_domain *domain, struct fi_rx_attr *attr, struct fid_ep **rx_ep_p,
		 void *context)
{
	struct fi_info info = *obj_domain_of(domain)->info;
	struct eng_ep *srx;
	int ret = obj_domain_may_share(obj_domain_of(domain), "a shared receive context");

	if (attr)
		info.rx_attr = attr;
	if (!ret)
		ret = eng_ep_new(FI_CLASS_SRX_CTX, domain, &info, &base_ops, NULL, context, &srx);
	if (ret)
		return ret;
	ret = eng_ep_own_rxc(srx, 1, srx->base.info->rx_attr->size);
	if (!ret)
		ret = srx_start(srx);
	if (!ret && attr && (attr->op_flags & FI_PEER))
		ret = eng_imported_open(srx, context);
	if (ret) {
		eng_ep_free(srx);
		return ret;
	}
	srx->base.h.fid.fid.ops = &fid_ops;
	eng_ep_set_tables(srx);
	*rx_ep_p = &srx->base.h.fid;
	return 0;
}

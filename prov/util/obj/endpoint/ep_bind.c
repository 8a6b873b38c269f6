/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <rdma/fi_errno.h>

#include "obj/ep.h"

/* fi_ep_bind(): what goes with what.  Before the endpoint is enabled one thread binds, without
 * a lock.  An enabled endpoint takes counters and shared transmit contexts late, since
 * OpenSHMEM enables an endpoint as a target first and binds what it needs as an initiator
 * afterwards.
 */

#define CQ_FLAGS (FI_TRANSMIT | FI_RECV | FI_SELECTIVE_COMPLETION)
#define CNTR_REMOTE (FI_REMOTE_READ | FI_REMOTE_WRITE)

static const uint64_t cntr_flags[OBJ_CNTR_CNT] = {
	[OBJ_CNTR_SEND] = FI_SEND,
	[OBJ_CNTR_RECV] = FI_RECV,
	[OBJ_CNTR_READ] = FI_READ,
	[OBJ_CNTR_WRITE] = FI_WRITE,
	[OBJ_CNTR_REMOTE_READ] = FI_REMOTE_READ,
	[OBJ_CNTR_REMOTE_WRITE] = FI_REMOTE_WRITE,
};

static int bind_refuse(struct obj_ep *ep, struct fid *fid, int err, const char *why)
{
	FI_WARN(ep->prov, FI_LOG_EP_CTRL, "cannot bind the %s to the %s %p: %s\n",
		obj_fid_name(fid), obj_fid_name(&ep->h.fid.fid), (void *) ep, why);
	return err;
}

/* A context has one direction, so it need not be named. */
static uint64_t bind_directions(const struct obj_ep *ep, uint64_t flags)
{
	uint64_t dir = flags & (FI_TRANSMIT | FI_RECV);

	switch (ep->h.fid.fid.fclass) {
	case FI_CLASS_TX_CTX:
		return dir ? dir & FI_TRANSMIT : FI_TRANSMIT;
	case FI_CLASS_RX_CTX:
	case FI_CLASS_SRX_CTX:
		return dir ? dir & FI_RECV : FI_RECV;
	default:
		return dir;
	}
}

/* Before and after a slot is filled: an enabled endpoint may use it from other threads. */
static void bind_enter(struct obj_ep *ep)
{
	if (ep->enabled)
		lock_get(&ep->prog->lock);
}

static void bind_leave(struct obj_ep *ep)
{
	if (!ep->enabled)
		return;
	if (ep->ops->rebound)
		ep->ops->rebound(ep);
	lock_put(&ep->prog->lock);
}

/* bind_feed - the group of an enabled endpoint drives what is bound late. */
static int bind_feed(struct obj_ep *ep, struct obj_wait *wait)
{
	return ep->enabled ? obj_wait_feed(wait, ep->prog) : 0;
}

static int bind_cq(struct obj_ep *ep, struct obj_cq *cq, uint64_t flags)
{
	int ret;
	struct fid *self = &ep->h.fid.fid;
	uint64_t dir = bind_directions(ep, flags);

	if (flags & ~CQ_FLAGS)
		return bind_refuse(ep, &cq->fid.fid, -FI_EBADFLAGS,
				   "flags other than FI_TRANSMIT, FI_RECV, FI_SELECTIVE_COMPLETION");
	/* other libraries take it, too; fi_enable() says what is missing */
	if (!dir)
		return 0;
	if (cq->domain != ep->domain)
		return bind_refuse(ep, &cq->fid.fid, -FI_EINVAL, "it is of another domain");
	if (self->fclass == FI_CLASS_SEP)
		return bind_refuse(ep, &cq->fid.fid, -FI_EINVAL, "bind it to the contexts instead");
	if (((dir & FI_TRANSMIT) && ep->tx_cq) || ((dir & FI_RECV) && ep->rx_cq))
		return bind_refuse(ep, &cq->fid.fid, -FI_EINVAL, "one is bound already");
	ret = bind_feed(ep, &cq->wait);
	if (ret)
		return ret;
	bind_enter(ep);
	if (dir & FI_TRANSMIT) {
		ep->tx_cq = cq;
		ep->tx_selective = flags & FI_SELECTIVE_COMPLETION;
		obj_ref_get(&cq->refs, &ep->tx_cq_ref, self);
	}
	if (dir & FI_RECV) {
		ep->rx_cq = cq;
		ep->rx_selective = flags & FI_SELECTIVE_COMPLETION;
		obj_ref_get(&cq->refs, &ep->rx_cq_ref, self);
	}
	bind_leave(ep);
	return 0;
}

static int bind_cntr(struct obj_ep *ep, struct obj_cntr *cntr, uint64_t flags)
{
	uint64_t known = 0;
	int i, ret;

	for (i = 0; i < OBJ_CNTR_CNT; i++)
		known |= cntr_flags[i];
	if (flags & ~known)
		return bind_refuse(ep, &cntr->fid.fid, -FI_EBADFLAGS, "unknown flags");
	if (!flags)
		return 0;	/* other libraries take it, too: it counts nothing */
	if (cntr->domain != ep->domain)
		return bind_refuse(ep, &cntr->fid.fid, -FI_EINVAL, "it is of another domain");
	if (ep->h.fid.fid.fclass == FI_CLASS_SEP)
		return bind_refuse(ep, &cntr->fid.fid, -FI_EINVAL, "bind it to the contexts instead");
	if (ep->enabled && (flags & CNTR_REMOTE) && obj_domain_has_regions(ep->domain))
		return bind_refuse(ep, &cntr->fid.fid, -FI_EOPBADSTATE,
				   "the endpoint is enabled, and its domain has regions that peers may "
				   "have used already");
	for (i = 0; i < OBJ_CNTR_CNT; i++)
		if ((flags & cntr_flags[i]) && ep->cntrs[i])
			return bind_refuse(ep, &cntr->fid.fid, -FI_EINVAL, "one is bound already");
	ret = bind_feed(ep, &cntr->wait);
	if (ret)
		return ret;
	bind_enter(ep);
	for (i = 0; i < OBJ_CNTR_CNT; i++) {
		if (!(flags & cntr_flags[i]))
			continue;
		ep->cntrs[i] = cntr;
		obj_ref_get(&cntr->refs, &ep->cntr_refs[i], &ep->h.fid.fid);
	}
	bind_leave(ep);
	return 0;
}

static int bind_av(struct obj_ep *ep, struct obj_av *av, uint64_t flags)
{
	size_t fclass = ep->h.fid.fid.fclass;

	if (flags)
		return bind_refuse(ep, &av->fid.fid, -FI_EBADFLAGS, "flags are not 0");
	if (av->domain != ep->domain)
		return bind_refuse(ep, &av->fid.fid, -FI_EINVAL, "it is of another domain");
	if (ep->type == FI_EP_MSG)
		return bind_refuse(ep, &av->fid.fid, -FI_EINVAL, "connected endpoints have one peer");
	if (fclass == FI_CLASS_SRX_CTX)
		return bind_refuse(ep, &av->fid.fid, -FI_EINVAL, "bind it to the endpoints that use this");
	if (fclass == FI_CLASS_TX_CTX || fclass == FI_CLASS_RX_CTX)
		return bind_refuse(ep, &av->fid.fid, -FI_EINVAL, "bind it to the scalable endpoint");
	if (ep->av)
		return bind_refuse(ep, &av->fid.fid, -FI_EINVAL, "one is bound already");
	if ((av->flags & FI_EVENT) && !av->eq)
		return bind_refuse(ep, &av->fid.fid, -FI_ENOEQ,
				   "it was opened with FI_EVENT: bind an event queue to it first");
	ep->av = av;
	obj_ref_get(&av->refs, &ep->av_ref, &ep->h.fid.fid);
	return 0;
}

static int bind_eq(struct obj_ep *ep, struct obj_eq *eq, uint64_t flags)
{
	if (eq->fabric != ep->domain->fabric)
		return bind_refuse(ep, &eq->fid.fid, -FI_EINVAL, "it is of another fabric");
	if (ep->eq)
		return bind_refuse(ep, &eq->fid.fid, -FI_EINVAL, "one is bound already");
	ep->eq = eq;
	ep->eq_flags = flags;
	obj_ref_get(&eq->refs, &ep->eq_ref, &ep->h.fid.fid);
	return 0;
}

static int bind_srx(struct obj_ep *ep, struct obj_ep *srx, uint64_t flags)
{
	struct fid *fid = &srx->h.fid.fid;

	if (flags)
		return bind_refuse(ep, fid, -FI_EBADFLAGS, "flags are not 0");
	if (srx->domain != ep->domain)
		return bind_refuse(ep, fid, -FI_EINVAL, "it is of another domain");
	if (ep->h.fid.fid.fclass != FI_CLASS_EP || ep->srx)
		return bind_refuse(ep, fid, -FI_EINVAL, ep->srx ? "one is bound already" :
				   "only a standard endpoint takes one");
	if (ep->ops->bind) {
		int ret = ep->ops->bind(ep, fid, flags);

		if (ret)
			return ret;
	}
	ep->srx = srx;
	obj_ref_get(&srx->refs, &ep->srx_ref, &ep->h.fid.fid);
	return 0;
}

static int bind_stx(struct obj_ep *ep, struct obj_stx *stx, uint64_t flags)
{
	if (flags)
		return bind_refuse(ep, &stx->fid.fid, -FI_EBADFLAGS, "flags are not 0");
	if (stx->domain != ep->domain)
		return bind_refuse(ep, &stx->fid.fid, -FI_EINVAL, "it is of another domain");
	if (ep->h.fid.fid.fclass != FI_CLASS_EP || ep->stx_bound)
		return bind_refuse(ep, &stx->fid.fid, -FI_EINVAL, ep->stx_bound ? "one is bound already" :
				   "only a standard endpoint takes one");
	if (ep->ops->bind) {
		int ret = ep->ops->bind(ep, &stx->fid.fid, flags);

		if (ret)
			return ret;
	}
	bind_enter(ep);
	ep->stx_bound = true;
	bind_leave(ep);
	return 0;
}

/* too_late - may an object of this class no longer be bound? */
static bool too_late(const struct obj_ep *ep, size_t fclass)
{
	unsigned need = fclass == FI_CLASS_CNTR || fclass == FI_CLASS_STX_CTX ? OBJ_LATE_CNTR :
			fclass == FI_CLASS_CQ ? OBJ_LATE_CQ : 0;

	return ep->enabled && !(need & ep->ops->late);
}

int obj_ep_bind(struct fid *fid, struct fid *bfid, uint64_t flags)
{
	struct obj_ep *ep = obj_ep_of(container_of(fid, struct fid_ep, fid));

	if (!bfid)
		return -FI_EINVAL;
	if (too_late(ep, bfid->fclass))
		return bind_refuse(ep, bfid, -FI_EOPBADSTATE, "it is enabled already");
	switch (bfid->fclass) {
	case FI_CLASS_CQ:
		return bind_cq(ep, container_of(bfid, struct obj_cq, fid.fid), flags);
	case FI_CLASS_CNTR:
		return bind_cntr(ep, container_of(bfid, struct obj_cntr, fid.fid), flags);
	case FI_CLASS_AV:
		return bind_av(ep, container_of(bfid, struct obj_av, fid.fid), flags);
	case FI_CLASS_EQ:
		return bind_eq(ep, container_of(bfid, struct obj_eq, fid.fid), flags);
	case FI_CLASS_SRX_CTX:
		return bind_srx(ep, obj_ep_of(container_of(bfid, struct fid_ep, fid)), flags);
	case FI_CLASS_STX_CTX:
		return bind_stx(ep, container_of(bfid, struct obj_stx, fid.fid), flags);
	default:
		return ep->ops->bind ? ep->ops->bind(ep, bfid, flags) :
		       bind_refuse(ep, bfid, -FI_EINVAL, "these two do not go together");
	}
}

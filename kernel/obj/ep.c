// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copyright (c) 2026 the libfabric authors. */
/*
 * ep.c - what every endpoint has: queues bound to it, operations, an orderly close.
 */
#include "obj.h"

#define TX_SIZE_MAX	4096
#define RX_SIZE_MAX	8192

static struct kofi_ep *ep_of_fid(struct fid *fid)
{
	return container_of(fid, struct kofi_ep, ep.fid);
}

/* ---- bind ---- */

static int bind_cq(struct kofi_ep *ep, struct kofi_cq *cq, uint64_t flags)
{
	bool selective = flags & FI_SELECTIVE_COMPLETION;

	if (flags & ~(FI_TRANSMIT | FI_RECV | FI_SELECTIVE_COMPLETION))
		return -FI_EBADFLAGS;
	if (!(flags & (FI_TRANSMIT | FI_RECV)) || (flags & FI_TRANSMIT && ep->tx_cq) ||
	    (flags & FI_RECV && ep->rx_cq))
		return -FI_EINVAL;
	if (cq->domain != ep->domain)
		return -FI_EDOMAIN;
	if (flags & FI_TRANSMIT) {
		ep->tx_cq = cq;
		ep->tx_selective = selective;
		atomic_inc(&cq->refs);
	}
	if (flags & FI_RECV) {
		ep->rx_cq = cq;
		ep->rx_selective = selective;
		atomic_inc(&cq->refs);
	}
	return 0;
}

static int bind_cntr(struct kofi_ep *ep, struct kofi_cntr *cntr, uint64_t flags)
{
	static const uint64_t kinds[KOFI_CNTR_CNT] = {
		[KOFI_CNTR_SEND] = FI_SEND, [KOFI_CNTR_RECV] = FI_RECV,
		[KOFI_CNTR_READ] = FI_READ, [KOFI_CNTR_WRITE] = FI_WRITE,
		[KOFI_CNTR_REMOTE_READ] = FI_REMOTE_READ,
		[KOFI_CNTR_REMOTE_WRITE] = FI_REMOTE_WRITE,
	};
	uint64_t known = 0;
	int i;

	if (cntr->domain != ep->domain)
		return -FI_EDOMAIN;
	for (i = 0; i < KOFI_CNTR_CNT; i++) {
		known |= kinds[i];
		if (flags & kinds[i] && ep->cntr[i])
			return -FI_EINVAL;
	}
	if (!flags || flags & ~known)
		return -FI_EBADFLAGS;
	for (i = 0; i < KOFI_CNTR_CNT; i++) {
		if (flags & kinds[i]) {
			ep->cntr[i] = cntr;
			atomic_inc(&cntr->refs);
		}
	}
	return 0;
}

static int bind_eq(struct kofi_ep *ep, struct kofi_eq *eq)
{
	if (ep->eq)
		return -FI_EINVAL;
	if (eq->fabric != ep->domain->fabric)
		return -FI_EDOMAIN;
	ep->eq = eq;
	atomic_inc(&eq->refs);
	return 0;
}

static int bind_av(struct kofi_ep *ep, struct kofi_av *av)
{
	if (ep->av || ep->type == FI_EP_MSG)
		return -FI_EINVAL;
	if (av->domain != ep->domain)
		return -FI_EDOMAIN;
	ep->av = av;
	atomic_inc(&av->refs);
	return 0;
}

static int bind_srx(struct kofi_ep *ep, struct kofi_ep *srx)
{
	if (ep->srx || ep->ops->rx)
		return -FI_EINVAL;
	if (srx->domain != ep->domain)
		return -FI_EDOMAIN;
	ep->srx = srx;
	atomic_inc(&obj_srx_of(srx)->refs);
	spin_lock_bh(&obj_srx_of(srx)->lock);
	list_add_tail(&ep->srx_node, &obj_srx_of(srx)->users);
	spin_unlock_bh(&obj_srx_of(srx)->lock);
	return 0;
}

static void unbind_srx(struct kofi_ep *ep)
{
	struct obj_srx *srx = obj_srx_of(ep->srx);

	spin_lock_bh(&srx->lock);
	list_del(&ep->srx_node);
	spin_unlock_bh(&srx->lock);
	atomic_dec(&srx->refs);
}

static int ep_bind(struct fid *fid, struct fid *bfid, uint64_t flags)
{
	struct kofi_ep *ep = ep_of_fid(fid);

	if (ep->enabled)
		return -FI_EOPBADSTATE;
	switch (bfid->fclass) {
	case FI_CLASS_CQ:
		return bind_cq(ep, container_of(bfid, struct kofi_cq, cq.fid), flags);
	case FI_CLASS_CNTR:
		return bind_cntr(ep, container_of(bfid, struct kofi_cntr, cntr.fid), flags);
	case FI_CLASS_EQ:
		return bind_eq(ep, container_of(bfid, struct kofi_eq, eq.fid));
	case FI_CLASS_AV:
		return bind_av(ep, container_of(bfid, struct kofi_av, av.fid));
	case FI_CLASS_SRX_CTX:
		return flags ? -FI_EBADFLAGS :
		       bind_srx(ep, container_of(bfid, struct kofi_ep, ep.fid));
	default:
		return -FI_EINVAL;
	}
}

static void unbind_all(struct kofi_ep *ep)
{
	int i;

	if (ep->tx_cq)
		atomic_dec(&ep->tx_cq->refs);
	if (ep->rx_cq)
		atomic_dec(&ep->rx_cq->refs);
	if (ep->eq)
		atomic_dec(&ep->eq->refs);
	if (ep->av)
		atomic_dec(&ep->av->refs);
	if (ep->srx)
		unbind_srx(ep);
	for (i = 0; i < KOFI_CNTR_CNT; i++)
		if (ep->cntr[i])
			atomic_dec(&ep->cntr[i]->refs);
}

/* ---- events of a connection ---- */

int kofi_ep_events(struct kofi_ep *ep, size_t room)
{
	if (!ep->connected)
		ep->connected = kofi_event_alloc(room, GFP_KERNEL);
	if (!ep->ended)
		ep->ended = kofi_event_alloc(0, GFP_KERNEL);
	return ep->connected && ep->ended ? 0 : -FI_ENOMEM;
}
EXPORT_SYMBOL_GPL(kofi_ep_events);

static void event_post(struct kofi_ep *ep, struct kofi_event *event, uint32_t number, int err)
{
	event->event = number;
	event->err = err;
	event->prov_errno = err;
	event->fid = &ep->ep.fid;
	kofi_eq_post(ep->eq, event);
}

void kofi_ep_connected(struct kofi_ep *ep, int err, const void *data, size_t len)
{
	struct kofi_event *event = xchg(&ep->connected, NULL);

	if (!event)
		return;
	if (len)
		kofi_event_data(event, data, len);
	event_post(ep, event, FI_CONNECTED, err);
}
EXPORT_SYMBOL_GPL(kofi_ep_connected);

void kofi_ep_ended(struct kofi_ep *ep)
{
	struct kofi_event *event = xchg(&ep->ended, NULL);

	if (event)
		event_post(ep, event, FI_SHUTDOWN, 0);
}
EXPORT_SYMBOL_GPL(kofi_ep_ended);

/* ---- enable, close ---- */

static int ep_enable(struct kofi_ep *ep)
{
	int ret;

	if (ep->enabled)
		return -FI_EOPBADSTATE;
	if (ep->type == FI_EP_MSG && !ep->eq)
		return -FI_ENOEQ;
	if (ep->type != FI_EP_MSG && !ep->av)
		return -FI_ENOAV;
	if ((ep->caps & (FI_SEND | FI_READ | FI_WRITE) && !ep->tx_cq) ||
	    (ep->caps & FI_RECV && !ep->rx_cq))
		return -FI_ENOCQ;
	ret = ep->ops->enable(ep);
	if (!ret)
		smp_store_release(&ep->enabled, true);
	return ret;
}

static int ep_control(struct fid *fid, int command, void *arg)
{
	return command == FI_ENABLE ? ep_enable(ep_of_fid(fid)) : -FI_ENOSYS;
}

static bool pool_idle(struct kofi_pool *pool)
{
	bool idle;

	spin_lock_bh(&pool->lock);
	idle = !pool->busy;
	spin_unlock_bh(&pool->lock);
	return idle;
}

void kofi_ep_fini(struct kofi_ep *ep)
{
	mutex_lock(&ep->domain->ep_lock);
	list_del(&ep->domain_node);
	mutex_unlock(&ep->domain->ep_lock);
	obj_pool_free(&ep->tx_pool);
	obj_pool_free(&ep->rx_pool);
	kfree(ep->connected);
	kfree(ep->ended);
	unbind_all(ep);
	atomic_dec(&ep->domain->refs);
}
EXPORT_SYMBOL_GPL(kofi_ep_fini);

int obj_ep_close(struct fid *fid)
{
	struct kofi_ep *ep = ep_of_fid(fid);

	might_sleep();
	spin_lock_bh(&ep->lock);
	WRITE_ONCE(ep->closing, true);
	spin_unlock_bh(&ep->lock);
	ep->ops->stop(ep);
	cancel_delayed_work_sync(&ep->rematch);
	kofi_ep_down(ep, FI_ECANCELED);
	wait_event(ep->tx_pool.idle, pool_idle(&ep->tx_pool));
	wait_event(ep->rx_pool.idle, pool_idle(&ep->rx_pool));
	if (ep->eq)
		kofi_eq_purge(ep->eq, &ep->ep.fid);
	kofi_ep_fini(ep);
	ep->ops->free(ep);
	return 0;
}

static struct fi_ops ep_fid_ops = {
	.size = sizeof(struct fi_ops),
	.close = obj_ep_close,
	.bind = ep_bind,
	.control = ep_control,
};

/* ---- endpoint calls ---- */

static struct kofi_op *take_context(struct kofi_ep *ep, void *context)
{
	struct kofi_op *op;
	int i;

	for (i = 0; i < 2; i++) {
		list_for_each_entry(op, &ep->posted[i], node) {
			if (op->context == context) {
				list_del_init(&op->node);
				return op;
			}
		}
	}
	return NULL;
}

static ssize_t ep_cancel(struct fid *fid, void *context)
{
	struct kofi_ep *ep = ep_of_fid(fid);
	struct kofi_op *op;

	spin_lock_bh(&ep->lock);
	op = take_context(ep, context);
	spin_unlock_bh(&ep->lock);
	if (!op)
		return -FI_ENOENT;
	kofi_rx_done(op, FI_ECANCELED, NULL);
	return 0;
}

static int ep_getopt(struct fid *fid, int level, int optname, void *optval, size_t *optlen)
{
	struct kofi_ep *ep = ep_of_fid(fid);

	if (level != FI_OPT_ENDPOINT || optname != FI_OPT_MIN_MULTI_RECV)
		return -FI_ENOPROTOOPT;
	return kofi_name_copy(optval, optlen, &ep->min_multi, sizeof(ep->min_multi));
}

static int ep_setopt(struct fid *fid, int level, int optname, const void *optval, size_t optlen)
{
	struct kofi_ep *ep = ep_of_fid(fid);

	if (level != FI_OPT_ENDPOINT || optname != FI_OPT_MIN_MULTI_RECV)
		return -FI_ENOPROTOOPT;
	if (optlen != sizeof(ep->min_multi))
		return -FI_EINVAL;
	ep->min_multi = *(const size_t *)optval;
	return 0;
}

static struct fi_ops_ep ep_ops = {
	.size = offsetofend(struct fi_ops_ep, setopt),
	.cancel = ep_cancel,
	.getopt = ep_getopt,
	.setopt = ep_setopt,
};

static int pools_init(struct kofi_ep *ep, const struct fi_info *info)
{
	size_t piece = max(sizeof(struct kvec), sizeof(struct bio_vec));
	size_t lists = ep->caps & FI_ATOMIC ? 3 : 1;	/* operands, comparands, results */
	int ret;

	ret = obj_pool_init(&ep->tx_pool, ep, info->tx_attr->size, ep->ops->tx_op_size,
			    max(lists * ep->tx_iov_limit * piece, piece + ep->inject_size));
	if (ret)
		return ret;
	ret = obj_pool_init(&ep->rx_pool, ep, info->rx_attr->size, ep->ops->rx_op_size,
			    ep->rx_iov_limit * piece);
	if (ret)
		obj_pool_free(&ep->tx_pool);
	return ret;
}

int kofi_ep_init(struct kofi_ep *ep, struct kofi_domain *domain, const struct fi_info *info,
		 const struct kofi_ep_ops *ops, struct fi_ops_cm *cm, void *context)
{
	int ret;

	if (!info->tx_attr->size || info->tx_attr->size > TX_SIZE_MAX || !info->rx_attr->size ||
	    info->rx_attr->size > RX_SIZE_MAX || info->tx_attr->iov_limit > KOFI_IOV_MAX ||
	    info->rx_attr->iov_limit > KOFI_IOV_MAX || info->tx_attr->inject_size > PAGE_SIZE)
		return -FI_EINVAL;
	ep->ops = ops;
	ep->domain = domain;
	ep->type = info->ep_attr->type;
	ep->caps = info->caps;
	ep->tx_op_flags = info->tx_attr->op_flags;
	ep->rx_op_flags = info->rx_attr->op_flags;
	ep->inject_size = info->tx_attr->inject_size;
	ep->max_msg_size = info->ep_attr->max_msg_size;
	ep->tx_iov_limit = max_t(size_t, info->tx_attr->iov_limit, 1);
	ep->rx_iov_limit = max_t(size_t, info->rx_attr->iov_limit, 1);
	ep->rma_iov_limit = min_t(size_t, info->tx_attr->rma_iov_limit, KOFI_RMA_MAX);
	obj_match_init(ep);
	ret = pools_init(ep, info);
	if (ret)
		return ret;
	ep->ep.fid.fclass = FI_CLASS_EP;
	ep->ep.fid.context = context;
	ep->ep.fid.ops = &ep_fid_ops;
	ep->ep.ops = &ep_ops;
	ep->ep.cm = cm;
	ep->ep.msg = ep->caps & FI_MSG ? &obj_msg_ops : &obj_msg_none;
	ep->ep.tagged = ep->caps & FI_TAGGED ? &obj_tagged_ops : &obj_tagged_none;
	ep->ep.rma = ep->caps & FI_RMA ? &obj_rma_ops : &obj_rma_none;
	ep->ep.atomic = &obj_atomic_ops;
	atomic_inc(&domain->refs);
	mutex_lock(&domain->ep_lock);
	list_add_tail(&ep->domain_node, &domain->eps);
	mutex_unlock(&domain->ep_lock);
	return 0;
}
EXPORT_SYMBOL_GPL(kofi_ep_init);

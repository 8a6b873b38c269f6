// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copyright (c) 2026 the libfabric authors. */
/*
 * srx.c - shared receive contexts: receives that several endpoints take from.
 *
 * A context is an endpoint without a provider and without queues. A message that takes a receive of
 * it makes an operation of its endpoint (multi.c), which completes in that endpoint's queue.
 */
#include <linux/slab.h>

#include "obj.h"

/* Messages that wait at an endpoint find the receive there. */
static int srx_rx(struct kofi_ep *ep, struct kofi_op *op)
{
	struct obj_srx *srx = obj_srx_of(ep);
	struct kofi_ep *user;

	spin_lock_bh(&ep->lock);
	list_add_tail(&op->node, &ep->posted[op->type == KOFI_TRECV]);
	spin_unlock_bh(&ep->lock);
	spin_lock_bh(&srx->lock);
	list_for_each_entry(user, &srx->users, srx_node)
		obj_rematch(user);
	spin_unlock_bh(&srx->lock);
	return 0;
}

static int srx_tx(struct kofi_ep *ep, struct kofi_op *op)
{
	return -FI_ENOSYS;
}

static void srx_stop(struct kofi_ep *ep)
{
}

static void srx_free(struct kofi_ep *ep)
{
	kfree(obj_srx_of(ep));
}

static const struct kofi_ep_ops srx_ops = {
	.tx_op_size = sizeof(struct kofi_op),
	.rx_op_size = sizeof(struct kofi_op),
	.tx = srx_tx,
	.rx = srx_rx,
	.stop = srx_stop,
	.free = srx_free,
};

static int srx_close(struct fid *fid)
{
	struct obj_srx *srx = container_of(fid, struct obj_srx, ep.ep.fid);

	return atomic_read(&srx->refs) ? -FI_EBUSY : obj_ep_close(fid);
}

static int srx_control(struct fid *fid, int command, void *arg)
{
	return command == FI_ENABLE ? 0 : -FI_ENOSYS;
}

static struct fi_ops srx_fid_ops = {
	.size = sizeof(struct fi_ops),
	.close = srx_close,
	.bind = obj_no_bind,
	.control = srx_control,
};

static struct fi_info *info_of(const struct kofi_domain *domain, const struct fi_rx_attr *attr)
{
	struct fi_info *info = fi_allocinfo();

	if (!info)
		return NULL;
	info->caps = attr && attr->caps ? attr->caps | FI_RECV :
		     FI_MSG | FI_TAGGED | FI_MULTI_RECV | FI_RECV;
	info->ep_attr->type = FI_EP_RDM;
	info->tx_attr->size = 1;
	info->rx_attr->size = attr && attr->size ? attr->size : 256;
	info->rx_attr->iov_limit = attr && attr->iov_limit ? attr->iov_limit : 1;
	info->rx_attr->op_flags = attr ? attr->op_flags : 0;
	return info;
}

int obj_srx_open(struct fid_domain *fid, struct fi_rx_attr *attr, struct fid_ep **ep_p, void *context)
{
	struct kofi_domain *domain = container_of(fid, struct kofi_domain, domain);
	struct fi_info *info;
	struct obj_srx *srx;
	int ret = -FI_ENOMEM;

	might_sleep();
	if (!domain->fabric->ops->srx)
		return -FI_ENOSYS;
	info = info_of(domain, attr);
	srx = kzalloc(sizeof(*srx), GFP_KERNEL);
	if (info && srx) {
		spin_lock_init(&srx->lock);
		INIT_LIST_HEAD(&srx->users);
		ret = kofi_ep_init(&srx->ep, domain, info, &srx_ops, NULL, context);
	}
	fi_freeinfo(info);
	if (ret) {
		kfree(srx);
		return ret;
	}
	/* a provider takes each endpoint of the domain's list for one of its type */
	mutex_lock(&domain->ep_lock);
	list_del_init(&srx->ep.domain_node);
	mutex_unlock(&domain->ep_lock);
	srx->ep.ep.fid.fclass = FI_CLASS_SRX_CTX;
	srx->ep.ep.fid.ops = &srx_fid_ops;
	smp_store_release(&srx->ep.enabled, true);
	*ep_p = &srx->ep.ep;
	return 0;
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copyright (c) 2026 the libfabric authors. */
/*
 * ep.c - endpoints: how they begin and end.
 */
#include <linux/slab.h>

#include "loop.h"

static void loop_stop(struct kofi_ep *kep)
{
	struct loop_ep *ep = loop_of(kep);

	loop_name_del(&ep->name);
	spin_lock_bh(&loop_lock);
	ep->gone = true;
	spin_unlock_bh(&loop_lock);
	loop_disconnect(ep);
	wait_event(ep->unused, !READ_ONCE(ep->users));
	/* The last user may still hold the lock that it woke us under. */
	spin_lock_bh(&loop_lock);
	spin_unlock_bh(&loop_lock);
	loop_arrivals_refuse(ep);
}

static void loop_free(struct kofi_ep *kep)
{
	kfree(loop_of(kep));
}

/* RDM endpoints are found by name from now on. */
static int loop_enable(struct kofi_ep *kep)
{
	struct loop_ep *ep = loop_of(kep);

	return kep->type == FI_EP_MSG ? 0 : loop_name_add(&loop_eps, &ep->name);
}

static const struct kofi_ep_ops loop_ep_ops = {
	.tx_op_size = sizeof(struct loop_op),
	.rx_op_size = sizeof(struct kofi_op),
	.tx = loop_tx,
	.rx_match = loop_rx_match,
	.enable = loop_enable,
	.stop = loop_stop,
	.free = loop_free,
};

int loop_endpoint(struct kofi_domain *domain, struct fi_info *info, struct fid_ep **ep_p,
			 void *context)
{
	struct loop_ep *ep;
	int ret;

	ep = kzalloc(sizeof(*ep), GFP_KERNEL);
	if (!ep)
		return -FI_ENOMEM;
	init_waitqueue_head(&ep->unused);
	spin_lock_init(&ep->pending_lock);
	INIT_LIST_HEAD(&ep->pending);
	INIT_LIST_HEAD(&ep->name.node);
	ep->name.net = kofi_domain_net(domain);
	ret = info->src_addr ? loop_name_set(&ep->name, info->src_addr, info->src_addrlen) : 0;
	if (!ret)
		ret = kofi_ep_init(&ep->ep, domain, info, &loop_ep_ops, &loop_cm, context);
	if (ret)
		goto free;
	ret = loop_claim(ep, info);
	if (ret)
		goto fini;
	*ep_p = &ep->ep.ep;
	return 0;
fini:
	kofi_ep_fini(&ep->ep);
free:
	kfree(ep);
	return ret;
}

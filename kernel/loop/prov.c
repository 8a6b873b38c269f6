// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copyright (c) 2026 the libfabric authors. */
/*
 * prov.c - the offers, the module.
 */
#include <linux/module.h>
#include <linux/slab.h>

#include "loop.h"

static const struct kofi_obj_ops loop_obj_ops = {
	.endpoint = loop_endpoint,
	.passive_ep = loop_passive_ep,
	.srx = true,
};

/* ---- offers ---- */

static int addr_make(void **addr, size_t *addrlen, const char *service)
{
	unsigned int port;

	*addr = kzalloc(FI_NAME_MAX, GFP_KERNEL);
	if (!*addr)
		return -FI_ENOMEM;
	*addrlen = FI_NAME_MAX;
	if (!strncmp(service, "loop:", 5))
		service += 5;
	if (kstrtouint(service, 10, &port))
		return -FI_EINVAL;
	snprintf(*addr, FI_NAME_MAX, LOOP_NAME_FMT, port);
	return 0;
}

static int offer_make(const struct kofi_query *query, enum fi_ep_type type, struct fi_info **info_p)
{
	struct fi_info *info = fi_allocinfo();
	int ret = 0;

	if (!info)
		return -FI_ENOMEM;
	info->caps = FI_MULTI_RECV | FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_SEND | FI_RECV | FI_READ |
		     FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE | FI_LOCAL_COMM |
		     (type == FI_EP_RDM ? FI_SOURCE | FI_DIRECTED_RECV : 0);
	info->addr_format = FI_ADDR_STR;
	info->tx_attr->op_flags = FI_COMPLETION | FI_TRANSMIT_COMPLETE | FI_DELIVERY_COMPLETE |
				  FI_INJECT_COMPLETE;
	info->tx_attr->msg_order = info->rx_attr->msg_order = FI_ORDER_STRICT;
	info->tx_attr->inject_size = 128;
	info->tx_attr->size = info->rx_attr->size = 256;
	info->tx_attr->iov_limit = info->rx_attr->iov_limit = KOFI_IOV_MAX;
	info->tx_attr->rma_iov_limit = KOFI_RMA_MAX;
	info->ep_attr->type = type;
	info->ep_attr->protocol_version = 1;
	info->ep_attr->max_msg_size = 1UL << 30;
	info->ep_attr->tx_ctx_cnt = info->ep_attr->rx_ctx_cnt = 1;
	info->domain_attr->threading = FI_THREAD_SAFE;
	info->domain_attr->control_progress = info->domain_attr->data_progress = FI_PROGRESS_AUTO;
	info->domain_attr->resource_mgmt = FI_RM_ENABLED;
	info->domain_attr->av_type = FI_AV_TABLE;
	info->domain_attr->mr_key_size = info->domain_attr->cq_data_size = 8;
	info->domain_attr->mr_iov_limit = 1 << 20;
	info->domain_attr->max_ep_srx_ctx = LOOP_SRX_USERS;
	info->domain_attr->max_ep_tx_ctx = info->domain_attr->max_ep_rx_ctx = 1;
	info->domain_attr->name = kstrdup("loop", GFP_KERNEL);
	info->fabric_attr->name = kstrdup("loop", GFP_KERNEL);
	if (!info->domain_attr->name || !info->fabric_attr->name)
		ret = -FI_ENOMEM;
	if (!ret && query->service && query->flags & FI_SOURCE)
		ret = addr_make(&info->src_addr, &info->src_addrlen, query->service);
	else if (!ret && query->service)
		ret = addr_make(&info->dest_addr, &info->dest_addrlen, query->service);
	if (ret) {
		fi_freeinfo(info);
		return ret;
	}
	*info_p = info;
	return 0;
}

/* A node is another host, but for an empty or our own name. */
static int loop_query(const struct kofi_query *query, struct fi_info **list_p)
{
	int ret;

	if (query->node && *query->node && strcmp(query->node, "loop"))
		return -FI_ENODATA;
	ret = offer_make(query, FI_EP_MSG, list_p);
	if (ret)
		return ret == -FI_EINVAL ? -FI_ENODATA : ret;
	ret = offer_make(query, FI_EP_RDM, &(*list_p)->next);
	if (ret) {
		fi_freeinfo(*list_p);
		*list_p = NULL;
	}
	return ret;
}

/* ---- the module ---- */

static int loop_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric_p,
		       void *context)
{
	return kofi_obj_fabric(&loop_obj_ops, attr, fabric_p, context);
}

static const struct kofi_provider loop_provider = {
	.size = sizeof(struct kofi_provider),
	.name = "loop",
	.version = FI_VERSION(1, 0),
	.max_tx_size = 4096,
	.max_rx_size = 8192,
	.owner = THIS_MODULE,
	.query = loop_query,
	.fabric = loop_fabric,
};

static int __init loop_init(void)
{
	return kofi_provider_register(FI_VERSION(2, 6), &loop_provider);
}

static void __exit loop_exit(void)
{
	WARN_ON(kofi_provider_deregister(&loop_provider));
}

module_init(loop_init);
module_exit(loop_exit);
MODULE_DESCRIPTION("kOFI provider: endpoints within one kernel");
MODULE_AUTHOR("the libfabric authors");
MODULE_LICENSE("Dual BSD/GPL");

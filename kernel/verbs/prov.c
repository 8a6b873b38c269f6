// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copyright (c) 2026 the libfabric authors. */
/*
 * prov.c - devices, offers, the module.
 */
#include <linux/module.h>
#include <linux/slab.h>

#include "vrb.h"

static unsigned int port_down_ms = 5000;
module_param(port_down_ms, uint, 0644);
MODULE_PARM_DESC(port_down_ms, "how long a port may be down before its connections end (ms)");

/* ---- devices ---- */

static int no_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	return 0;
}

/* What rdma_cm finds at an address; rdma_destroy_id() gives it back. NULL: nothing. */
static struct rdma_cm_id *device_at(struct net *net, const struct sockaddr *addr)
{
	struct rdma_cm_id *id = rdma_create_id(net, no_handler, NULL, RDMA_PS_TCP, IB_QPT_RC);

	if (IS_ERR(id))
		return NULL;
	if (rdma_bind_addr(id, (struct sockaddr *)addr) || !id->device ||
	    !(id->device->attrs.device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS)) {
		rdma_destroy_id(id);
		return NULL;
	}
	return id;
}

/* Runs in a notifier of the network stack: nothing may be waited for here. */
static void on_event(struct ib_event_handler *handler, struct ib_event *event)
{
	struct vrb_domain *dom = container_of(handler, struct vrb_domain, handler);

	if (event->element.port_num != dom->port)
		return;
	if (event->event == IB_EVENT_PORT_ERR)
		queue_delayed_work(vrb_wq, &dom->port_down, msecs_to_jiffies(port_down_ms));
	else if (event->event == IB_EVENT_PORT_ACTIVE)
		cancel_delayed_work(&dom->port_down);
}

/* The port has been down for too long: a device would go on trying for as long as its retries
 * take, or for ever. */
static void on_port_down(struct work_struct *work)
{
	struct vrb_domain *dom = container_of(work, struct vrb_domain, port_down.work);
	struct kofi_ep *ep;

	mutex_lock(&dom->domain->ep_lock);
	list_for_each_entry(ep, &dom->domain->eps, domain_node)
		if (READ_ONCE(vrb_ep_of(ep)->state) != VRB_IDLE)
			vrb_end(vrb_ep_of(ep), FI_ENETDOWN, NULL, 0);
	mutex_unlock(&dom->domain->ep_lock);
}

static void watch_port(struct vrb_domain *dom)
{
	INIT_DELAYED_WORK(&dom->port_down, on_port_down);
	INIT_IB_EVENT_HANDLER(&dom->handler, dom->device, on_event);
	ib_register_event_handler(&dom->handler);
}

static int domain_open(struct kofi_domain *domain, struct fi_info *info)
{
	struct sockaddr_storage addr = {};
	struct vrb_domain *dom;
	struct rdma_cm_id *id;
	int ret;

	if (!info->src_addr || !kofi_ip_len(info->src_addr))
		return -FI_EINVAL;
	dom = kzalloc(sizeof(*dom), GFP_KERNEL);
	if (!dom)
		return -FI_ENOMEM;
	memcpy(&addr, info->src_addr, kofi_ip_len(info->src_addr));
	((struct sockaddr_in *)&addr)->sin_port = 0;
	id = device_at(kofi_domain_net(domain), (struct sockaddr *)&addr);
	if (!id) {
		kfree(dom);
		return -FI_ENODEV;
	}
	dom->domain = domain;
	dom->port = id->port_num;
	dom->iwarp = rdma_protocol_iwarp(id->device, id->port_num);
	dom->device = ib_device_get_by_name(dev_name(&id->device->dev), RDMA_DRIVER_UNKNOWN);
	rdma_destroy_id(id);
	if (!dom->device) {
		kfree(dom);
		return -FI_ENODEV;
	}
	dom->pd = ib_alloc_pd(dom->device, 0);
	if (IS_ERR(dom->pd)) {
		ret = PTR_ERR(dom->pd);
		ib_device_put(dom->device);
		kfree(dom);
		return ret;
	}
	watch_port(dom);
	domain->priv = dom;
	return 0;
}

static void domain_close(struct kofi_domain *domain)
{
	struct vrb_domain *dom = domain->priv;

	ib_unregister_event_handler(&dom->handler);
	cancel_delayed_work_sync(&dom->port_down);
	ib_dealloc_pd(dom->pd);
	ib_device_put(dom->device);
	kfree(dom);
}

static const struct kofi_obj_ops vrb_obj_ops = {
	.domain = domain_open,
	.domain_close = domain_close,
	.endpoint = vrb_endpoint,
	.passive_ep = vrb_passive_ep,
	.mr_reg = vrb_mr_reg,
	.mr_enable = vrb_mr_enable,
	.mr_close = vrb_mr_close,
	.atomic_limit = vrb_atomic_limit,
};

/* ---- offers ---- */

static struct fi_info *offer_new(void)
{
	struct fi_info *info = fi_allocinfo();

	if (!info)
		return NULL;
	info->caps = FI_MSG | FI_RMA | FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ |
		     FI_REMOTE_WRITE | FI_LOCAL_COMM | FI_REMOTE_COMM;
	info->tx_attr->op_flags = FI_COMPLETION | FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE;
	info->tx_attr->msg_order = info->rx_attr->msg_order = FI_ORDER_SAS | FI_ORDER_SAW |
		FI_ORDER_WAS | FI_ORDER_WAW | FI_ORDER_RAW | FI_ORDER_RAS;
	info->tx_attr->inject_size = VRB_INJECT;
	info->tx_attr->size = info->rx_attr->size = 256;
	info->tx_attr->iov_limit = info->rx_attr->iov_limit = VRB_SGE_MAX;
	info->tx_attr->rma_iov_limit = 1;
	info->ep_attr->type = FI_EP_MSG;
	info->ep_attr->protocol_version = 1;
	info->ep_attr->tx_ctx_cnt = info->ep_attr->rx_ctx_cnt = 1;
	info->domain_attr->threading = FI_THREAD_SAFE;
	info->domain_attr->control_progress = info->domain_attr->data_progress = FI_PROGRESS_AUTO;
	info->domain_attr->resource_mgmt = FI_RM_ENABLED;
	info->domain_attr->av_type = FI_AV_TABLE;
	info->domain_attr->mr_mode = FI_MR_PROV_KEY | FI_MR_ENDPOINT;
	info->domain_attr->mr_key_size = 4;
	info->domain_attr->max_ep_tx_ctx = info->domain_attr->max_ep_rx_ctx = 1;
	return info;
}

/* Looks for the device of an address, and says what it can do. */
static bool device_offer(struct net *net, const char *ifname, const struct sockaddr *addr,
			 struct fi_info *offer)
{
	struct rdma_cm_id *id = device_at(net, addr);
	const struct ib_device_attr *attrs;
	bool iwarp;
	char *name;

	if (!id)
		return false;
	attrs = &id->device->attrs;
	iwarp = rdma_protocol_iwarp(id->device, id->port_num);
	offer->ep_attr->protocol = iwarp ? FI_PROTO_IWARP : FI_PROTO_RDMA_CM_IB_RC;
	offer->mode = iwarp ? 0 : FI_RX_CQ_DATA;
	if (attrs->atomic_cap != IB_ATOMIC_NONE)
		offer->caps |= FI_ATOMIC;
	offer->domain_attr->cq_data_size = iwarp ? 0 : 4;
	offer->domain_attr->mr_iov_limit = attrs->max_fast_reg_page_list_len;
	offer->ep_attr->max_msg_size = 1UL << 23;
	offer->tx_attr->iov_limit = min(VRB_SGE_MAX, attrs->max_send_sge);
	offer->rx_attr->iov_limit = min(VRB_SGE_MAX, attrs->max_recv_sge);
	name = kstrdup(dev_name(&id->device->dev), GFP_KERNEL);
	rdma_destroy_id(id);
	if (!name)
		return false;
	kfree(offer->domain_attr->name);
	offer->domain_attr->name = name;
	return true;
}

static int offers_query(const struct kofi_query *query, struct fi_info **list_p)
{
	struct fi_info *info = offer_new();
	int ret;

	ret = info ? kofi_ip_getinfo(query, info, device_offer, list_p) : -FI_ENOMEM;
	fi_freeinfo(info);
	if (ret) {
		fi_freeinfo(*list_p);
		*list_p = NULL;
	}
	return ret;
}

static int fabric_open(struct fi_fabric_attr *attr, struct fid_fabric **fabric_p,
		       void *context)
{
	return kofi_obj_fabric(&vrb_obj_ops, attr, fabric_p, context);
}

static const struct kofi_provider provider = {
	.size = sizeof(struct kofi_provider),
	.name = "verbs",
	.version = FI_VERSION(1, 0),
	.max_tx_size = 1024,
	.max_rx_size = 1024,
	.owner = THIS_MODULE,
	.query = offers_query,
	.fabric = fabric_open,
};

static int __init vrb_init(void)
{
	int ret;

	vrb_wq = alloc_workqueue("kofi_verbs", WQ_MEM_RECLAIM | WQ_UNBOUND, 0);
	if (!vrb_wq)
		return -ENOMEM;
	ret = kofi_provider_register(FI_VERSION(2, 6), &provider);
	if (ret)
		destroy_workqueue(vrb_wq);
	return ret;
}

static void __exit vrb_exit(void)
{
	WARN_ON(kofi_provider_deregister(&provider));
	destroy_workqueue(vrb_wq);
}

module_init(vrb_init);
module_exit(vrb_exit);
MODULE_DESCRIPTION("kOFI provider: endpoints on RDMA devices");
MODULE_AUTHOR("the libfabric authors");
MODULE_LICENSE("Dual BSD/GPL");

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copyright (c) 2026 the libfabric authors. */
/*
 * prov.c - endpoints, the offers, the module.
 */
#include <linux/module.h>
#include <linux/slab.h>

#include "tcp.h"

/* ---- endpoints ---- */

static int ep_tx(struct kofi_ep *kep, struct kofi_op *op)
{
	struct tcp_ep *ep = tcp_ep_of(kep);
	struct tcp_conn *conn;

	if (kep->type == FI_EP_RDM)
		return tcp_rdm_tx(ep, op);
	conn = smp_load_acquire(&ep->conn);
	return conn ? tcp_conn_send(conn, op) : -FI_ENOTCONN;
}

static int ep_enable(struct kofi_ep *kep)
{
	return kep->type == FI_EP_RDM ? tcp_rdm_enable(tcp_ep_of(kep)) : 0;
}

static bool ep_is_busy(struct kofi_ep *ep)
{
	bool busy;

	spin_lock_bh(&ep->tx_pool.lock);
	busy = ep->tx_pool.busy;
	spin_unlock_bh(&ep->tx_pool.lock);
	return busy;
}

/* What has been completed is still delivered, unless operations are outstanding: those are
 * taken back, and the connection with them. */
static void ep_stop(struct kofi_ep *kep)
{
	struct tcp_ep *ep = tcp_ep_of(kep);
	struct tcp_conn *conn, *next;

	if (kep->type == FI_EP_RDM)
		tcp_rdm_stop(ep);
	list_for_each_entry_safe(conn, next, &ep->conns, node)
		tcp_serve_stop(conn, ep_is_busy(kep) ? FI_ECANCELED : FI_ESHUTDOWN);
	tcp_match_drop(ep);
}

static void ep_free(struct kofi_ep *kep)
{
	struct tcp_ep *ep = tcp_ep_of(kep);
	struct tcp_conn *conn, *next;

	list_for_each_entry_safe(conn, next, &ep->conns, node) {
		list_del_init(&conn->node);
		tcp_conn_put(conn);
	}
	xa_destroy(&ep->peers);
	kfree(ep);
}

static const struct kofi_ep_ops ep_ops = {
	.tx_op_size = sizeof(struct tcp_op),
	.rx_op_size = sizeof(struct kofi_op),
	.tx = ep_tx,
	.rx_match = tcp_match_receive,
	.enable = ep_enable,
	.stop = ep_stop,
	.free = ep_free,
};

static int ep_open(struct kofi_domain *domain, struct fi_info *info, struct fid_ep **ep_p,
		    void *context)
{
	struct tcp_ep *ep = kzalloc(sizeof(*ep), GFP_KERNEL);
	int ret;

	if (!ep)
		return -FI_ENOMEM;
	spin_lock_init(&ep->lock);
	INIT_LIST_HEAD(&ep->conns);
	xa_init(&ep->peers);
	INIT_WORK(&ep->reap, tcp_rdm_reap);
	if (info->src_addr)
		memcpy(&ep->name, info->src_addr, min(info->src_addrlen, sizeof(ep->name)));
	ret = kofi_ep_init(&ep->ep, domain, info, &ep_ops, &tcp_cm, context);
	if (ret) {
		kfree(ep);
		return ret;
	}
	ret = tcp_msg_claim(ep, info);
	if (ret) {
		kofi_ep_fini(&ep->ep);
		kfree(ep);
		return ret;
	}
	*ep_p = &ep->ep.ep;
	return 0;
}

static bool conn_holds(struct tcp_conn *conn, const struct kofi_mr *mr)
{
	struct tcp_answer *answer;
	bool found = false;
	int i;

	spin_lock_bh(&conn->lock);
	list_for_each_entry(answer, &conn->holds, held)
		for (i = 0; i < answer->ranges; i++)
			found |= answer->part[i].mr == mr;
	spin_unlock_bh(&conn->lock);
	return found;
}

/* A peer that does not take what it has read is disconnected. */
static void mr_revoke(struct kofi_mr *mr)
{
	struct kofi_domain *domain = mr->domain;
	struct tcp_conn *conn;
	struct tcp_ep *ep;

	mutex_lock(&domain->ep_lock);
	list_for_each_entry(ep, &domain->eps, ep.domain_node) {
		spin_lock_bh(&ep->lock);
		list_for_each_entry(conn, &ep->conns, node)
			if (conn_holds(conn, mr))
				tcp_conn_end(conn, FI_ECONNRESET);
		spin_unlock_bh(&ep->lock);
	}
	mutex_unlock(&domain->ep_lock);
}

static const struct kofi_obj_ops tcp_obj_ops = {
	.endpoint = ep_open,
	.passive_ep = tcp_passive_ep,
	.mr_revoke = mr_revoke,
	.srx = true,
};

/* ---- offers ---- */

static struct fi_info *offer_make(enum fi_ep_type type)
{
	struct fi_info *info = fi_allocinfo();

	if (!info)
		return NULL;
	info->caps = FI_MULTI_RECV | FI_MSG | FI_RMA | FI_ATOMIC | FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ |
		     FI_REMOTE_WRITE | FI_LOCAL_COMM | FI_REMOTE_COMM;
	if (type == FI_EP_RDM)
		info->caps |= FI_TAGGED | FI_SOURCE | FI_DIRECTED_RECV;
	info->tx_attr->op_flags = FI_COMPLETION | FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE |
				  FI_DELIVERY_COMPLETE;
	info->tx_attr->msg_order = info->rx_attr->msg_order = FI_ORDER_SAS | FI_ORDER_SAW |
		FI_ORDER_WAS | FI_ORDER_WAW | FI_ORDER_RAW | FI_ORDER_RAS;
	info->tx_attr->inject_size = 128;
	info->tx_attr->size = info->rx_attr->size = 256;
	info->tx_attr->iov_limit = info->rx_attr->iov_limit = KOFI_IOV_MAX;
	info->tx_attr->rma_iov_limit = WIRE_RANGES_MAX;
	info->ep_attr->type = type;
	info->ep_attr->protocol = type == FI_EP_RDM ? FI_PROTO_XNET : FI_PROTO_SOCK_TCP;
	info->ep_attr->max_msg_size = TCP_MSG_MAX;
	info->ep_attr->max_order_raw_size = info->ep_attr->max_order_waw_size = TCP_MSG_MAX;
	info->ep_attr->tx_ctx_cnt = info->ep_attr->rx_ctx_cnt = 1;
	info->domain_attr->threading = FI_THREAD_SAFE;
	info->domain_attr->control_progress = info->domain_attr->data_progress = FI_PROGRESS_AUTO;
	info->domain_attr->resource_mgmt = FI_RM_ENABLED;
	info->domain_attr->av_type = FI_AV_TABLE;
	info->domain_attr->mr_key_size = info->domain_attr->cq_data_size = 8;
	info->domain_attr->mr_iov_limit = 1 << 20;
	info->domain_attr->max_ep_srx_ctx = TCP_SRX_USERS;
	info->domain_attr->max_ep_tx_ctx = info->domain_attr->max_ep_rx_ctx = 1;
	return info;
}

static int offers_query(const struct kofi_query *query, struct fi_info **list_p)
{
	static const enum fi_ep_type types[] = { FI_EP_MSG, FI_EP_RDM };
	struct fi_info *info;
	int i, ret = 0;

	for (i = 0; i < ARRAY_SIZE(types) && !ret; i++) {
		info = offer_make(types[i]);
		ret = info ? kofi_ip_getinfo(query, info, NULL, list_p) : -FI_ENOMEM;
		fi_freeinfo(info);
	}
	if (ret) {
		fi_freeinfo(*list_p);
		*list_p = NULL;
	}
	return ret;
}

static int fabric_open(struct fi_fabric_attr *attr, struct fid_fabric **fabric_p,
		  void *context)
{
	return kofi_obj_fabric(&tcp_obj_ops, attr, fabric_p, context);
}

static const struct kofi_provider provider = {
	.size = sizeof(struct kofi_provider),
	.name = "tcp",
	.version = FI_VERSION(1, 0),
	.max_tx_size = TCP_TX_SIZE_MAX,
	.max_rx_size = 8192,
	.owner = THIS_MODULE,
	.query = offers_query,
	.fabric = fabric_open,
};

static int __init tcp_init(void)
{
	int ret = tcp_queues_open();

	if (ret)
		return ret;
	ret = kofi_provider_register(FI_VERSION(2, 6), &provider);
	if (ret)
		tcp_queues_close();
	return ret;
}

static void __exit tcp_exit(void)
{
	WARN_ON(kofi_provider_deregister(&provider));
	tcp_queues_close();
	/* The network stack may be in the last lines of a function that told it has dropped
	 * pages: it runs in a softirq or with them disabled. */
	synchronize_rcu();
}

module_init(tcp_init);
module_exit(tcp_exit);
MODULE_DESCRIPTION("kOFI provider: endpoints over TCP");
MODULE_AUTHOR("the libfabric authors");
MODULE_LICENSE("Dual BSD/GPL");

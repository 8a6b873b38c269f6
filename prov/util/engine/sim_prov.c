/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * sim_prov.c - a provider over the simulated network.
 */
#include "engine/sim_link.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

static struct fi_provider sim_prov = {
	.version = FI_VERSION(1, 0),
	.fi_version = FI_VERSION(2, 6),
	.name = "sim",
};

static int sim_endpoint(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep,
			uint64_t flags, void *context)
{
	return eng_ep_open(domain, info, sim_transport, flags, ep, context);
}

static int sim_scalable_ep(struct fid_domain *domain, struct fi_info *info,
			   struct fid_ep **sep, void *context)
{
	return eng_sep_open(domain, info, sim_transport, sep, context);
}

static int sim_passive_ep(struct fid_fabric *fabric, struct fi_info *info,
			  struct fid_pep **pep, void *context)
{
	return eng_pep_open(fabric, info, sim_transport, pep, context);
}

static const struct obj_domain_ops domain_ops = {
	.endpoint = sim_endpoint,
	.scalable_ep = sim_scalable_ep,
	.stx_ctx = obj_stx_open,
	.srx_ctx = eng_srx_open,
	.control = eng_domain_control,
	.query_atomic = eng_query_atomic,
	.query_collective = eng_query_collective,
};

static int sim_domain_init(struct obj_domain *domain)
{
	domain->ops = &domain_ops;
	return 0;
}

static const struct obj_fabric_ops fabric_ops = {
	.domain_init = sim_domain_init,
	.passive_ep = sim_passive_ep,
};

int sim_fabric_open(struct fid_fabric **fabric_p)
{
	struct fi_fabric_attr attr = { .prov_name = "sim", .name = "sim" };

	attr.api_version = FI_VERSION(2, 6);
	return obj_fabric_open(&sim_prov, &fabric_ops, sizeof(struct obj_fabric), &attr,
			       fabric_p, NULL);
}

static void fill_attrs(struct fi_info *info)
{
	info->tx_attr->caps = info->caps;
	info->tx_attr->op_flags = 0;
	info->tx_attr->msg_order = ENG_MSG_ORDER;
	info->tx_attr->inject_size = 200;
	info->tx_attr->size = 64;
	info->tx_attr->iov_limit = ENG_IOV_LIMIT;
	info->rx_attr->caps = info->caps;
	info->rx_attr->msg_order = ENG_MSG_ORDER;
	info->rx_attr->size = 256;
	info->rx_attr->iov_limit = ENG_IOV_LIMIT;
	info->ep_attr->max_msg_size = ENG_MAX_MSG_SIZE;
	info->ep_attr->tx_ctx_cnt = 1;
	info->ep_attr->rx_ctx_cnt = 1;
	info->domain_attr->threading = FI_THREAD_DOMAIN;
	info->domain_attr->control_progress = FI_PROGRESS_MANUAL;
	info->domain_attr->data_progress = FI_PROGRESS_MANUAL;
	info->domain_attr->resource_mgmt = FI_RM_ENABLED;
	info->domain_attr->av_type = FI_AV_TABLE;
	info->domain_attr->cq_data_size = ENG_CQ_DATA_SIZE;
}

struct fi_info *sim_info(enum fi_ep_type type, uint16_t port)
{
	struct fi_info *info = fi_allocinfo();
	struct sockaddr_in *sin = calloc(1, sizeof(*sin));

	sin->sin_family = AF_INET;
	sin->sin_addr.s_addr = htonl(SIM_HOST);
	sin->sin_port = htons(port);
	info->caps = ENG_TX_CAPS | ENG_RX_CAPS;
	info->addr_format = FI_SOCKADDR_IN;
	info->src_addr = sin;
	info->src_addrlen = sizeof(*sin);
	info->ep_attr->type = type;
	fill_attrs(info);
	info->fabric_attr->prov_name = strdup("sim");
	info->fabric_attr->name = strdup("sim");
	info->domain_attr->name = strdup("sim");
	return info;
}

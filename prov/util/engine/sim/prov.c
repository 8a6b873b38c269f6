/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * prov.c - a provider over the simulated network.
 */
#include "engine/sim/link.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

static struct fi_provider sim_prov = {
	.version = FI_VERSION(1, 0),
	.fi_version = FI_VERSION(2, 6),
	.name = "sim",
};

int sim_fabric_open(struct fid_fabric **fabric_p)
{
	struct fi_fabric_attr attr = { .prov_name = "sim", .name = "sim" };

	attr.api_version = FI_VERSION(2, 6);
	return eng_fabric_open(&sim_prov, sim_transport, NULL, &attr, fabric_p, NULL);
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

uint64_t sim_caps;

struct fi_info *sim_info(enum fi_ep_type type, uint16_t port)
{
	struct fi_info *info = fi_allocinfo();
	struct sockaddr_in *sin = calloc(1, sizeof(*sin));

	sin->sin_family = AF_INET;
	sin->sin_addr.s_addr = htonl(SIM_HOST);
	sin->sin_port = htons(port);
	info->caps = ENG_TX_CAPS | ENG_RX_CAPS | sim_caps;
	info->domain_attr->mr_mode = sim_caps & FI_HMEM ? FI_MR_HMEM : 0;
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

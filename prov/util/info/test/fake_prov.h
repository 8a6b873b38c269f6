/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * fake_prov.h - for tests: a provider that offers endpoints and cannot open them. Its
 * environment variables begin with FI_GITEST_.
 */
#ifndef NET_FAKE_PROV_H
#define NET_FAKE_PROV_H

#include <rdma/fi_errno.h>
#include <stdio.h>
#include <string.h>

#include "info/getinfo.h"

#define FAKE_CAPS (FI_MSG | FI_TAGGED | FI_RMA | FI_SEND | FI_RECV | FI_READ | FI_WRITE | \
		   FI_REMOTE_READ | FI_REMOTE_WRITE | FI_MULTI_RECV | FI_SOURCE | \
		   FI_LOCAL_COMM | FI_REMOTE_COMM)

static struct fi_tx_attr fake_tx = {
	.caps = INFO_CAPS_TX, .size = 256, .inject_size = 64, .iov_limit = 4,
	.rma_iov_limit = 4, .op_flags = FI_COMPLETION | FI_DELIVERY_COMPLETE,
};
static struct fi_rx_attr fake_rx = {
	.caps = INFO_CAPS_RX, .size = 256, .iov_limit = 4, .op_flags = FI_COMPLETION,
};
static struct fi_domain_attr fake_domain = {
	.threading = FI_THREAD_SAFE, .control_progress = FI_PROGRESS_AUTO,
	.data_progress = FI_PROGRESS_AUTO, .resource_mgmt = FI_RM_ENABLED,
	.mr_key_size = 8, .cq_data_size = 8, .max_ep_tx_ctx = 1, .max_ep_rx_ctx = 1,
	.mr_iov_limit = 1, .caps = FI_LOCAL_COMM | FI_REMOTE_COMM,
};
static struct fi_fabric_attr fake_fabric;
static struct fi_ep_attr fake_rdm_ep = {
	.type = FI_EP_RDM, .protocol = FI_PROTO_XNET, .protocol_version = 1,
	.max_msg_size = SIZE_MAX, .tx_ctx_cnt = 1, .rx_ctx_cnt = 1,
	.mem_tag_format = UINT64_C(0xaaaaaaaaaaaaaaaa),
};
static struct fi_ep_attr fake_msg_ep = {
	.type = FI_EP_MSG, .protocol = FI_PROTO_SOCK_TCP, .max_msg_size = SIZE_MAX,
	.tx_ctx_cnt = 1, .rx_ctx_cnt = 1,
};
static const struct fi_info fake_rdm = {
	.caps = FAKE_CAPS, .tx_attr = &fake_tx, .rx_attr = &fake_rx, .ep_attr = &fake_rdm_ep,
	.domain_attr = &fake_domain, .fabric_attr = &fake_fabric,
};
static const struct fi_info fake_msg = {
	.caps = FAKE_CAPS & ~(FI_TAGGED | FI_SOURCE), .tx_attr = &fake_tx, .rx_attr = &fake_rx,
	.ep_attr = &fake_msg_ep, .domain_attr = &fake_domain, .fabric_attr = &fake_fabric,
};
static const struct fi_info *const fake_tmpl[] = { &fake_rdm, &fake_msg };
static struct fi_provider fake_prov = { .name = "gitest", .version = FI_VERSION(206, 0) };
static struct info_prov fake = {
	.prov = &fake_prov, .tmpl = fake_tmpl, .tmpl_cnt = 2, .socktype = SOCK_STREAM,
};

static inline int fake_getinfo(const char *node, const char *service, uint64_t flags,
			       const struct fi_info *hints, struct fi_info **info_p)
{
	return info_getinfo(&fake, FI_VERSION(2, 6), node, service, flags, hints, info_p);
}

/* fake_text - the RDM results as "eth0=fi_sockaddr_in://10.0.0.1:0 ...". */
static inline const char *fake_text(const struct fi_info *info)
{
	static char text[4096];
	char addr[NET_ADDR_TEXT_MAX];
	size_t n = 0;

	text[0] = '\0';
	for (; info; info = info->next)
		if (info->ep_attr->type == FI_EP_RDM)
			n += (size_t) snprintf(text + n, sizeof(text) - n, "%s%s=%s",
					       n ? " " : "", info->domain_attr->name,
					       net_addr_text(info->src_addr, addr));
	return text;
}

#endif

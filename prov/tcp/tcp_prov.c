/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * The two providers of this module, tcp and sockets: what they offer, and the
 * few lines between the API and the engine.
 */
#include <rdma/fi_errno.h>

#include "base/provider.h"
#include "engine/engine.h"
#include "net/net_getinfo.h"
#include "obj/domain.h"
#include "obj/fabric.h"
#include "tcp_conf.h"
#include "tcp_link.h"

#define CAPS (ENG_TX_CAPS | ENG_RX_CAPS | FI_LOCAL_COMM | FI_REMOTE_COMM)
#define OBJECTS_MAX 65536	/* no limit of ours; programs size their tables by it */
#define QUEUE_MAX 65536		/* entries of a queue that is asked for */

/* What fi_info has a sub-structure for, once per provider and endpoint type. */
struct offer {
	struct fi_info info;
	struct fi_tx_attr tx;
	struct fi_rx_attr rx;
	struct fi_ep_attr ep;
	struct fi_domain_attr domain;
	struct fi_fabric_attr fabric;
};

struct provider {
	struct fi_provider prov;
	struct tcp_conf *conf;
	struct obj_limits limits;
	struct net_prov net;
	struct offer offers[2];		/* RDM, MSG */
	const struct fi_info *list[2];
};

/* ---- offers ------------------------------------------------------------------------ */

static void offer_fill(struct offer *offer, const struct tcp_conf *conf,
		       enum fi_ep_type type, uint32_t protocol, uint32_t protocol_version)
{
	/* Connected endpoints have one context each. */
	uint64_t rdm_caps = type == FI_EP_RDM ? ENG_SEP_CAPS | ENG_RDM_CAPS : 0;
	size_t ctx_max = type == FI_EP_RDM ? ENG_CTX_MAX : 1;

	offer->info = (struct fi_info) {
		.caps = CAPS | rdm_caps,
		.tx_attr = &offer->tx,
		.rx_attr = &offer->rx,
		.ep_attr = &offer->ep,
		.domain_attr = &offer->domain,
		.fabric_attr = &offer->fabric,
	};
	offer->tx = (struct fi_tx_attr) {
		.caps = ENG_TX_CAPS | rdm_caps,
		.op_flags = ENG_TX_OP_FLAGS,
		.msg_order = ENG_MSG_ORDER,
		.inject_size = conf->inject_size,
		.size = conf->tx_size,
		.iov_limit = ENG_IOV_LIMIT,
		.rma_iov_limit = ENG_RMA_IOV_LIMIT,
	};
	offer->rx = (struct fi_rx_attr) {
		.caps = ENG_RX_CAPS | (rdm_caps & ENG_RDM_CAPS),
		.op_flags = ENG_RX_OP_FLAGS,
		.msg_order = ENG_MSG_ORDER,
		.size = conf->rx_size,
		.iov_limit = ENG_IOV_LIMIT,
	};
	offer->ep = (struct fi_ep_attr) {
		.type = type,
		.protocol = protocol,
		.protocol_version = protocol_version,
		.max_msg_size = ENG_MAX_MSG_SIZE,
		.max_order_raw_size = ENG_MAX_ORDER_RAW_SIZE,
		.max_order_war_size = ENG_MAX_ORDER_WAR_SIZE,
		.max_order_waw_size = ENG_MAX_ORDER_WAW_SIZE,
		.mem_tag_format = ENG_MEM_TAG_FORMAT,
		.tx_ctx_cnt = 1,
		.rx_ctx_cnt = 1,
	};
	offer->domain = (struct fi_domain_attr) {
		.caps = FI_LOCAL_COMM | FI_REMOTE_COMM,
		.threading = FI_THREAD_SAFE,
		.control_progress = FI_PROGRESS_AUTO,
		.data_progress = FI_PROGRESS_AUTO,
		.resource_mgmt = FI_RM_ENABLED,
		.av_type = FI_AV_UNSPEC,
		.mr_key_size = 8,
		.mr_iov_limit = ENG_IOV_LIMIT,
		.cq_data_size = ENG_CQ_DATA_SIZE,
		.cq_cnt = OBJECTS_MAX,
		.ep_cnt = OBJECTS_MAX,
		.tx_ctx_cnt = OBJECTS_MAX,
		.rx_ctx_cnt = OBJECTS_MAX,
		.cntr_cnt = OBJECTS_MAX,
		.max_ep_tx_ctx = ctx_max,
		.max_ep_rx_ctx = ctx_max,
		.max_ep_stx_ctx = OBJECTS_MAX,
		.max_ep_srx_ctx = OBJECTS_MAX,
		.max_cntr_value = UINT64_MAX,
		.max_err_cntr_value = UINT64_MAX,
	};
}

static void define(struct provider *p)
{
	const struct tcp_conf *conf = p->conf;
	bool tcp = conf == &tcp_conf;

	p->conf->prov = &p->prov;
	tcp_conf_define(p->conf);
	offer_fill(&p->offers[0], conf, FI_EP_RDM, tcp ? FI_PROTO_XNET : FI_PROTO_SOCK_TCP,
		   tcp ? 1 : 2);
	offer_fill(&p->offers[1], conf, FI_EP_MSG, FI_PROTO_SOCK_TCP, tcp ? 0 : 2);
	p->list[0] = &p->offers[0].info;
	p->list[1] = &p->offers[1].info;
	p->limits = (struct obj_limits) {
		.tx_size = QUEUE_MAX,
		.rx_size = QUEUE_MAX,
		.inject_size = ENG_INJECT_MAX,
	};
	p->net = (struct net_prov) {
		.prov = &p->prov,
		.tmpl = p->list,
		.tmpl_cnt = 2,
		.limits = &p->limits,
		.socktype = SOCK_STREAM,
	};
}

/* ---- the providers ------------------------------------------------------------------- */

static struct provider tcp, sockets;

static int tcp_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
		       const struct fi_info *hints, struct fi_info **info)
{
	return net_getinfo(&tcp.net, version, node, service, flags, hints, info);
}

static int tcp_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context)
{
	return eng_fabric_open(&tcp.prov, &tcp_link_ops, attr, fabric, context);
}

static int sockets_getinfo(uint32_t version, const char *node, const char *service,
			   uint64_t flags, const struct fi_info *hints, struct fi_info **info)
{
	return net_getinfo(&sockets.net, version, node, service, flags, hints, info);
}

static int sockets_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric,
			  void *context)
{
	return eng_fabric_open(&sockets.prov, &tcp_link_ops, attr, fabric, context);
}

static struct provider tcp = {
	.prov = {
		.version = OFI_PROV_VERSION,
		.fi_version = FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION),
		.name = "tcp",
		.getinfo = tcp_getinfo,
		.fabric = tcp_fabric,
	},
	.conf = &tcp_conf,
};

static struct provider sockets = {
	.prov = {
		.version = OFI_PROV_VERSION,
		.fi_version = FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION),
		.name = "sockets",
		.getinfo = sockets_getinfo,
		.fabric = sockets_fabric,
	},
	.conf = &tcp_conf_sockets,
};

OFI_PROVIDER_INI(tcp)
{
	define(&tcp);
	return &tcp.prov;
}

OFI_PROVIDER_INI2(sockets)
{
	define(&sockets);
	return &sockets.prov;
}

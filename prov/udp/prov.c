/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "base/provider.h"
#include "info/getinfo.h"
#include "obj/domain.h"
#include "obj/fabric.h"
#include "xpu/api.h"

#include "net/opt.h"
#include "ep.h"

#define CAPS_TX (FI_MSG | FI_MULTICAST | FI_SEND)
#define CAPS_RX (FI_MSG | FI_RECV | FI_SOURCE | FI_SOURCE_ERR | FI_MULTI_RECV)
#define CAPS_DOMAIN (FI_LOCAL_COMM | FI_REMOTE_COMM | FI_SHARED_AV | FI_AV_USER_ID)
#define QUEUE_SIZE 1024
#define QUEUE_MAX 65536
#define MTU_PAYLOAD 1472	/* of an Ethernet frame without IPv4 and UDP headers: what every
				 * implementation of FI_PROTO_UDP offers */

static const struct fi_info offer = {
	.caps = CAPS_TX | CAPS_RX | CAPS_DOMAIN,
	.tx_attr = &(struct fi_tx_attr) {
		.caps = CAPS_TX,
		.op_flags = FI_COMPLETION | FI_INJECT | FI_INJECT_COMPLETE |
			    FI_TRANSMIT_COMPLETE | FI_MULTICAST,
		.inject_size = MTU_PAYLOAD,
		.size = QUEUE_SIZE,
		.iov_limit = UDP_IOV_MAX,
	},
	.rx_attr = &(struct fi_rx_attr) {
		.caps = CAPS_RX,
		.op_flags = FI_COMPLETION | FI_MULTI_RECV,
		.size = QUEUE_SIZE,
		.iov_limit = UDP_IOV_MAX,
	},
	.ep_attr = &(struct fi_ep_attr) {
		.type = FI_EP_DGRAM,
		.protocol = FI_PROTO_UDP,
		.protocol_version = 0,
		.max_msg_size = MTU_PAYLOAD,
		.tx_ctx_cnt = 1,
		.rx_ctx_cnt = 1,
	},
	.domain_attr = &(struct fi_domain_attr) {
		.threading = FI_THREAD_SAFE,
		.control_progress = FI_PROGRESS_AUTO,
		.data_progress = FI_PROGRESS_AUTO,
		.resource_mgmt = FI_RM_ENABLED,
		.av_type = FI_AV_UNSPEC,
		.mr_key_size = sizeof(uint64_t),
		.cq_cnt = 256,
		.ep_cnt = 256,
		.tx_ctx_cnt = 256,
		.rx_ctx_cnt = 256,
		.max_ep_tx_ctx = 1,
		.max_ep_rx_ctx = 1,
		.cntr_cnt = 256,
		.max_err_data = sizeof(union net_sa),
		.max_cntr_value = UINT64_MAX,
		.max_err_cntr_value = UINT64_MAX,
		.caps = CAPS_DOMAIN,
	},
	.fabric_attr = &(struct fi_fabric_attr) {
		.prov_name = (char *) "udp",
		.prov_version = OFI_PROV_VERSION,
	},
};

static const struct fi_info *const offers[] = { &offer };

static const struct info_limits limits = {
	.tx_size = QUEUE_MAX,
	.rx_size = QUEUE_MAX,
	.hmem = true,
	.xpu_ctx_cnt = XPU_CTX_MAX,
};

/* Sets the largest payload of one unfragmented packet.  The system would fragment a longer one,
 * which is lost when any fragment is lost.
 */
static void set_size(struct fi_info *info, const struct net_iface *iface, size_t hdr)
{
	bool v4 = info->addr_format == FI_SOCKADDR_IN;
	size_t hdrs = (v4 ? 20 : 40) + 8 + hdr;
	size_t max = (v4 ? UDP_WIRE_MAX4 : UDP_WIRE_MAX6) - hdr;
	size_t size = iface->mtu > hdrs + MTU_PAYLOAD ? iface->mtu - hdrs : MTU_PAYLOAD;

	info->ep_attr->max_msg_size = size < max ? size : max;
	info->tx_attr->inject_size = info->ep_attr->max_msg_size;
}

static void adjust_long(struct fi_info *info, const struct net_iface *iface)
{
	set_size(info, iface, 0);
}

static void adjust_framed(struct fi_info *info, const struct net_iface *iface)
{
	set_size(info, iface, sizeof(struct udp_hdr));
	info->ep_attr->protocol = NET_PROTO_UDP_FRAMED;
	info->ep_attr->protocol_version = UDP_WIRE_VERSION;
	info->domain_attr->cq_data_size = sizeof(uint64_t);
}

#define INFO_PROV \
	.prov = &udp_prov, .tmpl = offers, .tmpl_cnt = 1, .limits = &limits, .socktype = SOCK_DGRAM

static const struct info_prov plain = { INFO_PROV };
static const struct info_prov plain_long = { INFO_PROV, .adjust = adjust_long };
static const struct info_prov framed = { INFO_PROV, .adjust = adjust_framed };

/* A header costs interworking, so only a program that asks for it gets it: by its protocol, or by
 * remote CQ data, which plain datagrams do not carry.  Messages are longer than those of other
 * implementations on request, too.
 */
static const struct info_prov *prov_wanted(const struct fi_info *hints)
{
	uint32_t protocol = hints && hints->ep_attr ? hints->ep_attr->protocol : FI_PROTO_UNSPEC;

	if (protocol == NET_PROTO_UDP_FRAMED ||
	    (!protocol && hints && hints->domain_attr && hints->domain_attr->cq_data_size))
		return &framed;
	if ((hints && hints->ep_attr && hints->ep_attr->max_msg_size > MTU_PAYLOAD) ||
	    (hints && hints->tx_attr && hints->tx_attr->inject_size > MTU_PAYLOAD))
		return &plain_long;
	return &plain;
}

static int udp_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
		       const struct fi_info *hints, struct fi_info **info)
{
	return info_getinfo(prov_wanted(hints), version, node, service, flags, hints, info);
}

static const struct obj_domain_ops domain_ops = {
	.endpoint = udp_ep_open,
	.xpu = &xpu_ops,
};

static int domain_init(struct obj_domain *domain)
{
	domain->ops = &domain_ops;
	return 0;
}

static const struct obj_fabric_ops fabric_ops = {
	.domain_init = domain_init,
};

static int udp_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context)
{
	return obj_fabric_open(&udp_prov, &fabric_ops, sizeof(struct obj_fabric), attr, fabric,
			       context);
}

struct fi_provider udp_prov = {
	.version = OFI_PROV_VERSION,
	.fi_version = FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION),
	.name = "udp",
	.getinfo = udp_getinfo,
	.fabric = udp_fabric,
};

OFI_PROVIDER_INI(udp)
{
	info_params_define(&udp_prov, INFO_PARAM_IFACE | INFO_PARAM_PORTS);
	return &udp_prov;
}

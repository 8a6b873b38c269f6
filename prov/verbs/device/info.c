/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * The offers of fi_getinfo() at IP addresses: those of interfaces with an RDMA device.  Each offer
 * is a template that is narrowed to the limits of the device.
 */
#include <rdma/fi_errno.h>
#include <stdio.h>

#include "base/provider.h"
#include "info/getinfo.h"
#include "verbs/provider.h"
#include "verbs/dev.h"
#include "verbs/dgram.h"
#include "verbs/info.h"
#include "verbs/region.h"
#include "verbs/kind.h"
#include "xpu/api.h"

#define CAPS_TX (FI_MSG | FI_SEND | FI_RMA | FI_READ | FI_WRITE | FI_ATOMIC | FI_FENCE)
#define CAPS_RX (FI_MSG | FI_RECV | FI_RMA | FI_REMOTE_READ | FI_REMOTE_WRITE | FI_ATOMIC)
#define CAPS_DOMAIN (FI_LOCAL_COMM | FI_REMOTE_COMM)
#define ORDER (FI_ORDER_RAR | FI_ORDER_RAW | FI_ORDER_RAS | FI_ORDER_WAW | FI_ORDER_WAS | \
	       FI_ORDER_SAW | FI_ORDER_SAS | FI_ORDER_RMA_RAR | FI_ORDER_RMA_RAW | \
	       FI_ORDER_RMA_WAW | FI_ORDER_ATOMIC_RAR | FI_ORDER_ATOMIC_RAW | \
	       FI_ORDER_ATOMIC_WAW | FI_ORDER_ATOMIC_WAR)

/* A remote write with data consumes a posted receive.  Programs confirm that they know by
 * FI_RX_CQ_DATA, unless they ask for messages only.
 */
static struct fi_tx_attr tx_attr = {
	.caps = CAPS_TX,
	.op_flags = FI_COMPLETION | FI_INJECT | FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE |
		    FI_FENCE,
	.msg_order = ORDER,
};

static struct fi_rx_attr rx_attr = {
	.caps = CAPS_RX,
	.mode = FI_RX_CQ_DATA,
	.op_flags = FI_COMPLETION,
	.msg_order = ORDER,
}, rx_attr_send = {
	.caps = FI_MSG | FI_RECV,
	.op_flags = FI_COMPLETION,
	.msg_order = ORDER,
};

static struct fi_tx_attr tx_attr_send = {
	.caps = FI_MSG | FI_SEND | FI_FENCE,
	.op_flags = FI_COMPLETION | FI_INJECT | FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE |
		    FI_FENCE,
	.msg_order = ORDER,
};

/* Datagrams are at most as long as the port's packets; their order is the network's. */
static struct fi_tx_attr dgram_tx_attr = {
	.caps = FI_MSG | FI_SEND,
	.op_flags = FI_COMPLETION | FI_INJECT | FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE,
};

static struct fi_rx_attr dgram_rx_attr = {
	.caps = FI_MSG | FI_RECV | FI_SOURCE,
	.op_flags = FI_COMPLETION,
};

static struct fi_ep_attr dgram_ep_attr = {
	.type = FI_EP_DGRAM,
	.protocol = FI_PROTO_IB_UD,
	.protocol_version = 1,
	.max_msg_size = 4096,
	.tx_ctx_cnt = 1,
	.rx_ctx_cnt = 1,
};

/* @rx: receive contexts: XRC endpoints have shared ones only */
#define MSG_ATTR(proto, rx) {							\
	.type = FI_EP_MSG,							\
	.protocol = proto,							\
	.protocol_version = 1,							\
	.max_msg_size = 1u << 30,						\
	.max_order_raw_size = 1u << 30,						\
	.max_order_waw_size = 1u << 30,						\
	.tx_ctx_cnt = 1,							\
	.rx_ctx_cnt = rx,							\
}

static struct fi_ep_attr ep_attr = MSG_ATTR(FI_PROTO_RDMA_CM_IB_RC, 1);
static struct fi_ep_attr xrc_ep_attr = MSG_ATTR(FI_PROTO_RDMA_CM_IB_XRC, FI_SHARED_CONTEXT);

static struct fi_domain_attr domain_attr = {
	.threading = FI_THREAD_SAFE,
	.control_progress = FI_PROGRESS_AUTO,
	.data_progress = FI_PROGRESS_AUTO,
	.resource_mgmt = FI_RM_ENABLED,
	.av_type = FI_AV_UNSPEC,
	.mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY,
	.mr_key_size = sizeof(uint32_t),
	.mr_iov_limit = 1,
	.mr_cnt = 65536,
	.cq_data_size = sizeof(uint32_t),
	.cq_cnt = 65536,
	.ep_cnt = 65536,
	.tx_ctx_cnt = 1024,
	.rx_ctx_cnt = 1024,
	.max_ep_tx_ctx = 1,
	.max_ep_rx_ctx = 1,
	.max_ep_srx_ctx = 1024,
	.cntr_cnt = 65536,
	.max_err_data = 0,
	.max_cntr_value = UINT64_MAX,
	.max_err_cntr_value = UINT64_MAX,
	.caps = CAPS_DOMAIN,
};

static struct fi_fabric_attr fabric_attr = {
	.prov_name = (char *) "verbs",
	.prov_version = OFI_PROV_VERSION,
};

#define OFFER(caps_, mode_, tx, rx, ep) {					\
	.caps = (caps_) | CAPS_DOMAIN,						\
	.mode = mode_,								\
	.tx_attr = &(tx),							\
	.rx_attr = &(rx),							\
	.ep_attr = &(ep),							\
	.domain_attr = &domain_attr,						\
	.fabric_attr = &fabric_attr,						\
}

#define CAPS_SEND (FI_MSG | FI_SEND | FI_RECV | FI_FENCE)

const struct fi_info vrb_offer_msg = OFFER(CAPS_TX | CAPS_RX, FI_RX_CQ_DATA, tx_attr, rx_attr, ep_attr);
const struct fi_info vrb_offer_send = OFFER(CAPS_SEND, 0, tx_attr_send, rx_attr_send, ep_attr);
static const struct fi_info full_xrc = OFFER(CAPS_TX | CAPS_RX, FI_RX_CQ_DATA, tx_attr, rx_attr,
					     xrc_ep_attr);
static const struct fi_info send_only_xrc = OFFER(CAPS_SEND, 0, tx_attr_send, rx_attr_send,
						  xrc_ep_attr);
const struct fi_info vrb_offer_dgram = OFFER(FI_MSG | FI_SEND | FI_RECV | FI_SOURCE | FI_AV_USER_ID, 0,
					     dgram_tx_attr, dgram_rx_attr, dgram_ep_attr);

struct info_limits vrb_limits = { .hmem = true, .hmem_at = vrb_hmem_at, .xpu_ctx_cnt = XPU_CTX_MAX };

static bool has_device(const struct net_iface *iface)
{
	struct vrb_port port;

	return !vrb_dev_port(iface->name, &port);
}

static bool has_datagrams(const struct net_iface *iface)
{
	struct vrb_port port;

	return !vrb_dev_port(iface->name, &port) && !port.iwarp;
}

static bool has_xrc(const struct net_iface *iface)
{
	struct ibv_context *ctx;
	struct vrb_port port;

	return !vrb_dev_port(iface->name, &port) && !vrb_dev_context(port.dev, &ctx) &&
	       vrb_kind_of(FI_PROTO_RDMA_CM_IB_XRC)->supported(ctx);
}

static size_t size_at_most(size_t value, size_t limit)
{
	return value < limit ? value : limit;
}

static void adjust_dgram(struct fi_info *info, struct ibv_context *ctx, unsigned port,
			 const struct ibv_device_attr *dev)
{
	struct ibv_port_attr attr = { 0 };

	/* The exported function fills in the old part of the structure. */
	if (!vrb_ibv.query_port(ctx, (uint8_t) port, (void *) &attr) && attr.active_mtu)
		info->ep_attr->max_msg_size = (size_t) 128 << attr.active_mtu;
	if (info->rx_attr->iov_limit + VRB_DGRAM_SGE > (size_t) dev->max_sge)
		info->rx_attr->iov_limit = (size_t) dev->max_sge - VRB_DGRAM_SGE;
	info->tx_attr->rma_iov_limit = 0;
	info->domain_attr->max_ep_srx_ctx = 0;
}

void vrb_info_narrow(struct fi_info *info, const struct vrb_port *port)
{
	struct ibv_device_attr dev;
	struct ibv_context *ctx;

	if (vrb_dev_context(port->dev, &ctx) || vrb_ibv.query_device(ctx, &dev))
		return;
	if (port->iwarp) {
		info->ep_attr->protocol = FI_PROTO_IWARP;
		info->domain_attr->cq_data_size = 0;
	}
	info->tx_attr->size = size_at_most(info->tx_attr->size, (size_t) dev.max_qp_wr);
	info->rx_attr->size = size_at_most(info->rx_attr->size, (size_t) dev.max_qp_wr);
	info->tx_attr->iov_limit = size_at_most(info->tx_attr->iov_limit, (size_t) dev.max_sge);
	info->tx_attr->rma_iov_limit = 1;
	info->rx_attr->iov_limit = size_at_most(info->rx_attr->iov_limit, (size_t) dev.max_sge);
	if (info->ep_attr->type == FI_EP_DGRAM)
		adjust_dgram(info, ctx, port->num, &dev);
	if (dev.atomic_cap == IBV_ATOMIC_NONE) {
		info->caps &= ~FI_ATOMIC;
		info->tx_attr->caps &= ~FI_ATOMIC;
		info->rx_attr->caps &= ~FI_ATOMIC;
	}
	if (!dev.max_srq)
		info->domain_attr->max_ep_srx_ctx = 0;
}

/* Apply the device's limits.  The domain is named after the device. */
static void adjust_limits(struct fi_info *info, const struct net_iface *iface)
{
	/* info_getinfo() copies the name before the next call. */
	static __thread struct vrb_port port;
	static __thread char name[VRB_NAME_MAX + VRB_SUFFIX_MAX];

	if (vrb_dev_port(iface->name, &port))
		return;
	snprintf(name, sizeof(name), "%s%s", port.dev, vrb_kind_of(info->ep_attr->protocol)->suffix);
	info->domain_attr->name = name;
	vrb_info_narrow(info, &port);
}

/* One set of offers: @has_ says at which interfaces. */
#define OFFERS(name_, offer, type, has_)					\
static const struct info_prov name_ = {						\
	.prov = &vrb_prov,							\
	.tmpl = (const struct fi_info *const[]) { &(offer) },			\
	.tmpl_cnt = 1,								\
	.limits = &vrb_limits,							\
	.socktype = type,							\
	.adjust = adjust_limits,							\
	.has = has_,								\
	.nic = vrb_dev_nic,							\
	.concrete = true,							\
}

OFFERS(full_prov, vrb_offer_msg, SOCK_STREAM, has_device);
OFFERS(send_prov, vrb_offer_send, SOCK_STREAM, has_device);
OFFERS(full_xrc_prov, full_xrc, SOCK_STREAM, has_xrc);
OFFERS(send_xrc_prov, send_only_xrc, SOCK_STREAM, has_xrc);
OFFERS(dgram_prov, vrb_offer_dgram, SOCK_DGRAM, has_datagrams);

/* In the order of results.  @send: offered when @full is refused for want of FI_RX_CQ_DATA. */
static const struct {
	const struct info_prov *full, *send;
} kinds[][3] = {
	{ { &full_prov, &send_prov }, { &full_xrc_prov, &send_xrc_prov }, { &dgram_prov, NULL } },
	{ { &full_xrc_prov, &send_xrc_prov }, { &full_prov, &send_prov }, { &dgram_prov, NULL } },
};

/* Offers at IP addresses: RC before XRC, unless FI_VERBS_PREFER_XRC is set, then datagrams.  A kind
 * that was left out is not offered.
 */
static int ip_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
		      const struct fi_info *hints, struct fi_info **info)
{
	const unsigned order = vrb_conf.prefer_xrc ? 1 : 0;
	struct fi_info **tail = info;
	bool any = false;
	unsigned i;
	int ret;

	for (i = 0; i < 3; i++) {
		if (!vrb_kind_of(kinds[order][i].full->tmpl[0]->ep_attr->protocol))
			continue;
		ret = info_getinfo(kinds[order][i].full, version, node, service, flags, hints, tail);
		if (ret == -FI_ENODATA && hints && kinds[order][i].send)
			ret = info_getinfo(kinds[order][i].send, version, node, service, flags, hints,
					  tail);
		if (ret && ret != -FI_ENODATA && !any)
			return ret;
		any = any || !ret;
		while (!ret && *tail)
			tail = &(*tail)->next;
	}
	return any ? 0 : -FI_ENODATA;
}

/* Append the offers at the GIDs of ports without an IP address. */
static int add_offers_by_gid(enum vrb_gid_kind which, int so_far, uint32_t version, const char *node,
			     const char *service, uint64_t flags, const struct fi_info *hints,
			     struct fi_info **info)
{
	struct fi_info **tail = info;

	if (so_far && so_far != -FI_ENODATA)
		return so_far;
	while (!so_far && *tail)
		tail = &(*tail)->next;
	return vrb_gid_getinfo(which, false, version, node, service, flags, hints, tail) ? so_far : 0;
}

int vrb_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
		const struct fi_info *hints, struct fi_info **info)
{
	enum vrb_gid_kind which;
	int ret;

	if (!vrb_dev_any()) {
		explain_refusal(&vrb_prov, NULL, NULL, "device", "an RDMA device",
			    "none in /sys/class/infiniband");
		return -FI_ENODATA;
	}
	ret = vrb_lib_open();
	if (ret)
		return -FI_ENODATA;
	for (which = VRB_GID_UD; which <= VRB_GID_SA; which++)
		if (vrb_gid_wanted(which, node, hints))
			return vrb_gid_getinfo(which, true, version, node, service, flags, hints, info);
	ret = ip_getinfo(version, node, service, flags, hints, info);
	ret = add_offers_by_gid(VRB_GID_SA, ret, version, node, service, flags, hints, info);
	return add_offers_by_gid(VRB_GID_UD, ret, version, node, service, flags, hints, info);
}

void vrb_info_init(void)
{
	tx_attr.size = tx_attr_send.size = dgram_tx_attr.size = (size_t) vrb_conf.tx_size;
	rx_attr.size = rx_attr_send.size = dgram_rx_attr.size = (size_t) vrb_conf.rx_size;
	tx_attr.iov_limit = tx_attr_send.iov_limit = dgram_tx_attr.iov_limit = (size_t) vrb_conf.tx_iov;
	rx_attr.iov_limit = rx_attr_send.iov_limit = dgram_rx_attr.iov_limit = (size_t) vrb_conf.rx_iov;
	tx_attr.inject_size = tx_attr_send.inject_size = dgram_tx_attr.inject_size =
		(size_t) vrb_conf.inline_size;
	vrb_limits.tx_size = vrb_limits.rx_size = 16384;
	vrb_limits.inject_size = (size_t) vrb_conf.inline_size;
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * The provider ofi_rxd: what it offers over each datagram provider.
 */
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/provider.h"
#include "obj/check.h"
#include "obj/domain.h"
#include "obj/fabric.h"
#include "rxd.h"

#define CAPS (ENG_TX_CAPS | ENG_RX_CAPS | FI_LOCAL_COMM | FI_REMOTE_COMM)
#define OBJECTS_MAX 65536	/* no limit of ours; programs size their tables by it */
#define QUEUE_MAX 65536		/* entries of a queue that is asked for */

static struct fi_provider rxd_prov;

/* ---- objects ---------------------------------------------------------------------- */

static int endpoint(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep,
		    uint64_t flags, void *context)
{
	return eng_ep_open(domain, info, &rxd_link_ops, flags, ep, context);
}

static int scalable_ep(struct fid_domain *domain, struct fi_info *info, struct fid_ep **sep,
		       void *context)
{
	return eng_sep_open(domain, info, &rxd_link_ops, sep, context);
}

static const struct obj_domain_ops domain_ops = {
	.endpoint = endpoint,
	.scalable_ep = scalable_ep,
	.stx_ctx = obj_stx_open,
	.srx_ctx = eng_srx_open,
	.control = eng_domain_control,
	.query_atomic = eng_query_atomic,
};

static int domain_init(struct obj_domain *domain)
{
	domain->ops = &domain_ops;
	return 0;
}

static int passive_ep(struct fid_fabric *fabric, struct fi_info *info, struct fid_pep **pep,
		      void *context)
{
	return eng_pep_open(fabric, info, &rxd_link_ops, pep, context);
}

static const struct obj_fabric_ops fabric_ops = {
	.domain_init = domain_init,
	.passive_ep = passive_ep,
};

static int rxd_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context)
{
	return obj_fabric_open(&rxd_prov, &fabric_ops, sizeof(struct obj_fabric), attr, fabric,
			       context);
}

/* ---- offers ------------------------------------------------------------------------ */

/* An fi_info with all it points to. */
struct offer {
	struct fi_info info;
	struct fi_tx_attr tx;
	struct fi_rx_attr rx;
	struct fi_ep_attr ep;
	struct fi_domain_attr domain;
	struct fi_fabric_attr fabric;
};

/* Connected endpoints have one context each. */
static uint64_t sep_caps(enum fi_ep_type type)
{
	return type == FI_EP_RDM ? ENG_SEP_CAPS : 0;
}

static void offer_queues(struct offer *offer, enum fi_ep_type type)
{
	offer->tx = (struct fi_tx_attr) {
		.caps = ENG_TX_CAPS | sep_caps(type),
		.op_flags = ENG_TX_OP_FLAGS,
		.msg_order = ENG_MSG_ORDER,
		.inject_size = rxd_conf.inject_size,
		.size = rxd_conf.tx_size,
		.iov_limit = ENG_IOV_LIMIT,
		.rma_iov_limit = ENG_RMA_IOV_LIMIT,
	};
	offer->rx = (struct fi_rx_attr) {
		.caps = ENG_RX_CAPS,
		.op_flags = ENG_RX_OP_FLAGS,
		.msg_order = ENG_MSG_ORDER,
		.size = rxd_conf.rx_size,
		.iov_limit = ENG_IOV_LIMIT,
	};
}

static void offer_objects(struct offer *offer, const struct fi_info *lower, enum fi_ep_type type)
{
	offer->ep = (struct fi_ep_attr) {
		.type = type,
		.protocol = FI_PROTO_RXD,
		.protocol_version = RXD_VERSION,
		.max_msg_size = ENG_MAX_MSG_SIZE,
		.max_order_raw_size = ENG_MAX_ORDER_RAW_SIZE,
		.max_order_war_size = ENG_MAX_ORDER_WAR_SIZE,
		.max_order_waw_size = ENG_MAX_ORDER_WAW_SIZE,
		.mem_tag_format = ENG_MEM_TAG_FORMAT,
		.tx_ctx_cnt = 1,
		.rx_ctx_cnt = 1,
	};
	offer->domain = (struct fi_domain_attr) {
		.name = lower->domain_attr->name,
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
		.max_ep_tx_ctx = type == FI_EP_RDM ? ENG_CTX_MAX : 1,
		.max_ep_rx_ctx = type == FI_EP_RDM ? ENG_CTX_MAX : 1,
		.max_ep_stx_ctx = OBJECTS_MAX,
		.max_ep_srx_ctx = OBJECTS_MAX,
		.max_cntr_value = UINT64_MAX,
		.max_err_cntr_value = UINT64_MAX,
	};
}

static void offer_fill(struct offer *offer, const struct fi_info *lower, enum fi_ep_type type,
		       const char *name)
{
	offer_queues(offer, type);
	offer_objects(offer, lower, type);
	offer->fabric = (struct fi_fabric_attr) {
		.name = lower->fabric_attr->name,
		.prov_name = (char *) name,
		.prov_version = OFI_PROV_VERSION,
	};
	offer->info = (struct fi_info) {
		.caps = (CAPS | sep_caps(type)) &
			(lower->caps & FI_REMOTE_COMM ? UINT64_MAX : ~FI_REMOTE_COMM),
		.addr_format = lower->addr_format,
		.src_addr = lower->src_addr,
		.src_addrlen = lower->src_addrlen,
		.dest_addr = lower->dest_addr,
		.dest_addrlen = lower->dest_addrlen,
		.tx_attr = &offer->tx,
		.rx_attr = &offer->rx,
		.ep_attr = &offer->ep,
		.domain_attr = &offer->domain,
		.fabric_attr = &offer->fabric,
	};
}

/* ---- getinfo ----------------------------------------------------------------------- */

static int copy_addr(void **to_p, size_t *len_p, const void *addr, size_t len)
{
	if (!addr)
		return 0;
	*to_p = malloc(len);
	if (!*to_p)
		return -FI_ENOMEM;
	memcpy(*to_p, addr, len);
	*len_p = len;
	return 0;
}

static char *copy_text(const char *text)
{
	return text ? strdup(text) : NULL;
}

/* What the program wants, as far as it concerns the provider below. */
static struct fi_info *lower_hints(const struct fi_info *hints)
{
	struct fi_info *lower = fi_allocinfo();
	const char *name = hints->fabric_attr->prov_name;

	if (!lower)
		return NULL;
	lower->caps = FI_MSG;
	lower->mode = hints->mode;
	lower->ep_attr->type = FI_EP_DGRAM;
	lower->addr_format = hints->addr_format;
	lower->fabric_attr->prov_name = strndup(name, strcspn(name, ";"));
	lower->fabric_attr->name = copy_text(hints->fabric_attr->name);
	if (hints->domain_attr)
		lower->domain_attr->name = copy_text(hints->domain_attr->name);
	if (copy_addr(&lower->src_addr, &lower->src_addrlen, hints->src_addr, hints->src_addrlen) ||
	    copy_addr(&lower->dest_addr, &lower->dest_addrlen, hints->dest_addr,
		      hints->dest_addrlen)) {
		fi_freeinfo(lower);
		return NULL;
	}
	return lower;
}

static int try_one(uint32_t version, const struct fi_info *hints, const struct fi_info *lower,
		   enum fi_ep_type type, struct fi_info ***tail_p)
{
	static const struct obj_limits limits = {
		.tx_size = QUEUE_MAX, .rx_size = QUEUE_MAX, .inject_size = ENG_INJECT_MAX,
	};
	char text[RXD_TEXT] = "";
	struct obj_label label = { .domain = lower->domain_attr->name, .addr = text };
	struct fi_info *info;
	struct offer offer;
	int ret;

	if (lower->ep_attr->max_msg_size < RXD_DGRAM_MIN || lower->src_addrlen > RXD_ADDR_MAX)
		return 0;
	if (obj_explain_on(&rxd_prov) && lower->src_addr)
		rxd_addr_text(lower->src_addr, lower->src_addrlen, text);
	offer_fill(&offer, lower, type, hints->fabric_attr->prov_name);
	ret = obj_check_info(&rxd_prov, &offer.info, &limits, hints, version, &label, &info);
	if (ret)
		return ret == -FI_ENODATA ? 0 : ret;
	if (lower->nic)
		ret = fi_control(&lower->nic->fid, FI_DUP, &info->nic);
	if (ret) {
		fi_freeinfo(info);
		return ret;
	}
	**tail_p = info;
	*tail_p = &info->next;
	return 0;
}

static int rxd_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
		       const struct fi_info *hints, struct fi_info **info_p)
{
	static const enum fi_ep_type types[] = { FI_EP_RDM, FI_EP_MSG };
	struct fi_info *asked, *lower = NULL, *one, *head = NULL, **tail = &head;
	int ret = -FI_ENOMEM, i;

	if (hints->ep_attr && hints->ep_attr->type == FI_EP_DGRAM && !obj_explain_on(&rxd_prov))
		return -FI_ENODATA;
	asked = lower_hints(hints);
	if (asked)
		ret = fi_getinfo(FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION), node, service,
				 flags | OFI_CORE_PROV_ONLY, asked, &lower);
	fi_freeinfo(asked);
	for (i = 0; i < 2; i++)
		for (one = lower; one && !ret; one = one->next)
			ret = try_one(version, hints, one, types[i], &tail);
	fi_freeinfo(lower);
	if (!ret && !head)
		ret = -FI_ENODATA;
	if (ret)
		fi_freeinfo(head);
	else
		*info_p = head;
	return ret;
}

static struct fi_provider rxd_prov = {
	.version = OFI_PROV_VERSION,
	.fi_version = FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION),
	.name = "ofi_rxd",
	.getinfo = rxd_getinfo,
	.fabric = rxd_fabric,
};

OFI_PROVIDER_INI(rxd)
{
	rxd_conf.prov = &rxd_prov;
	rxd_conf_define();
	return &rxd_prov;
}

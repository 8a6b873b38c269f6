/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "layer/layer.h"

#include <rdma/fi_domain.h>
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/provider.h"
#include "engine/engine.h"
#include "layer/mem.h"
#include "net/net_addr.h"
#include "obj/check.h"

#define CAPS (ENG_TX_CAPS | ENG_RX_CAPS | FI_LOCAL_COMM | FI_REMOTE_COMM)
#define OBJECTS_MAX 65536	/* no limit of ours; programs size their tables by it */
#define QUEUE_MAX 65536		/* entries of a queue that is asked for */

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

static uint64_t rdm_caps(enum fi_ep_type type)
{
	return type == FI_EP_RDM ? ENG_RDM_CAPS : 0;
}

/* Connected endpoints have one context each. */
static uint64_t sep_caps(enum fi_ep_type type)
{
	return type == FI_EP_RDM ? ENG_SEP_CAPS : 0;
}

static void offer_queues(struct offer *offer, const struct layer *layer, enum fi_ep_type type)
{
	offer->tx = (struct fi_tx_attr) {
		.caps = ENG_TX_CAPS | rdm_caps(type) | sep_caps(type),
		.op_flags = ENG_TX_OP_FLAGS,
		.msg_order = ENG_MSG_ORDER,
		.inject_size = *layer->inject_size,
		.size = *layer->tx_size,
		.iov_limit = ENG_IOV_LIMIT,
		.rma_iov_limit = ENG_RMA_IOV_LIMIT,
	};
	offer->rx = (struct fi_rx_attr) {
		.caps = ENG_RX_CAPS | rdm_caps(type),
		.op_flags = ENG_RX_OP_FLAGS,
		.msg_order = ENG_MSG_ORDER,
		.size = *layer->rx_size,
		.iov_limit = ENG_IOV_LIMIT,
	};
}

static void offer_objects(struct offer *offer, const struct layer *layer,
			  const struct fi_info *lower, enum fi_ep_type type)
{
	offer->ep = (struct fi_ep_attr) {
		.type = type,
		.protocol = layer->protocol,
		.protocol_version = layer->protocol_version,
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

static void offer_fill(struct offer *offer, const struct layer *layer,
		       const struct fi_info *lower, enum fi_ep_type type, const char *name)
{
	offer_queues(offer, layer, type);
	offer_objects(offer, layer, lower, type);
	offer->fabric = (struct fi_fabric_attr) {
		.name = lower->fabric_attr->name,
		.prov_name = (char *) name,
		.prov_version = OFI_PROV_VERSION,
	};
	offer->info = (struct fi_info) {
		.caps = (CAPS | rdm_caps(type) | sep_caps(type)) &
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
static struct fi_info *lower_hints(const struct layer *layer, const struct fi_info *hints)
{
	struct fi_info *lower = fi_allocinfo();
	const char *name = hints->fabric_attr->prov_name;

	if (!lower)
		return NULL;
	lower->caps = layer->below_caps;
	lower->mode = FI_RX_CQ_DATA;	/* a layer writes no data below */
	lower->ep_attr->type = layer->below;
	lower->addr_format = hints->addr_format;
	lower->domain_attr->mr_mode = LAYER_MR_MODE;
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

/* Offer @type over @lower, if that meets @hints. */
static int try_one(const struct layer *layer, uint32_t version, const struct fi_info *hints,
		   const struct fi_info *lower, enum fi_ep_type type, struct fi_info ***tail_p)
{
	static const struct obj_limits limits = {
		.tx_size = QUEUE_MAX, .rx_size = QUEUE_MAX, .inject_size = ENG_INJECT_MAX,
	};
	char text[NET_ADDR_TEXT_MAX] = "";
	struct obj_label label = { .domain = lower->domain_attr->name, .addr = text };
	struct fi_info *info;
	struct offer offer;
	int ret;

	if (lower->ep_attr->max_msg_size < layer->min_msg_size ||
	    lower->src_addrlen > layer->addr_max)
		return 0;
	if (obj_explain_on(layer->prov) && lower->src_addr && net_addr_len(lower->src_addr))
		net_addr_text(lower->src_addr, text);
	offer_fill(&offer, layer, lower, type, hints->fabric_attr->prov_name);
	ret = obj_check_info(layer->prov, &offer.info, &limits, hints, version, &label, &info);
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

/* Would the answer be no whatever is below? */
static bool hopeless(const struct layer *layer, const struct fi_info *hints)
{
	unsigned i;

	if (!hints->ep_attr || hints->ep_attr->type == FI_EP_UNSPEC || obj_explain_on(layer->prov))
		return false;
	for (i = 0; i < layer->type_cnt; i++)
		if (layer->types[i] == hints->ep_attr->type)
			return false;
	return true;
}

int layer_getinfo(const struct layer *layer, uint32_t version, const char *node,
		  const char *service, uint64_t flags, const struct fi_info *hints,
		  struct fi_info **info_p)
{
	struct fi_info *asked, *lower = NULL, *one, *head = NULL, **tail = &head;
	int ret = -FI_ENOMEM;
	unsigned i;

	if (hopeless(layer, hints))
		return -FI_ENODATA;
	asked = lower_hints(layer, hints);
	if (asked)
		ret = fi_getinfo(FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION), node, service,
				 flags | OFI_CORE_PROV_ONLY, asked, &lower);
	fi_freeinfo(asked);
	for (i = 0; i < layer->type_cnt; i++)
		for (one = lower; one && !ret; one = one->next)
			ret = try_one(layer, version, hints, one, layer->types[i], &tail);
	fi_freeinfo(lower);
	if (!ret && !head)
		ret = -FI_ENODATA;
	if (ret)
		fi_freeinfo(head);
	else
		*info_p = head;
	return ret;
}

/* ---- the endpoint below -------------------------------------------------------------- */

int layer_lower_info(const struct layer *layer, const struct fi_info *info,
		     struct fi_info **lower_p)
{
	struct fi_info *asked = lower_hints(layer, info);
	int ret = -FI_ENOMEM;

	if (asked) {
		free(asked->dest_addr);
		asked->dest_addr = NULL;
		asked->dest_addrlen = 0;
		asked->domain_attr->threading = FI_THREAD_DOMAIN;
		asked->domain_attr->control_progress = FI_PROGRESS_MANUAL;
		asked->domain_attr->data_progress = FI_PROGRESS_MANUAL;
		ret = fi_getinfo(FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION), NULL, NULL,
				 OFI_CORE_PROV_ONLY, asked, lower_p);
	}
	if (ret)
		FI_WARN(layer->prov, FI_LOG_EP_CTRL, "the provider below %s has no endpoint at the "
			"address or interface that was asked for: %s\n", layer->prov->name,
			fi_strerror(-ret));
	fi_freeinfo(asked);
	return ret;
}

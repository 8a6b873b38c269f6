/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "layer/getinfo.h"

#include <rdma/fi_domain.h>
#include <rdma/fi_errno.h>
#include <rdma/providers/fi_log.h>
#include <stdlib.h>
#include <string.h>

#include "base/net_addr.h"
#include "base/provider.h"
#include "base/sealed.h"
#include "engine/offer.h"
#include "info/check.h"
#include "layer/mem.h"

#define SOME_KEY 32

/* ---- offers ------------------------------------------------------------------------ */

static void offer_fill(struct eng_offer *offer, const struct layer *layer,
		       const struct fi_info *lower, enum fi_ep_type type, const char *name)
{
	eng_offer_fill(offer, &(struct eng_offer_of) {
		.type = type,
		.protocol = layer->protocol,
		.protocol_version = layer->protocol_version,
		.reach = FI_LOCAL_COMM | FI_REMOTE_COMM,
		.progress = FI_PROGRESS_MANUAL,
		.inject_size = *layer->inject_size,
		.tx_size = *layer->tx_size,
		.rx_size = *layer->rx_size,
	});
	offer->domain.name = lower->domain_attr->name;
	offer->fabric.name = lower->fabric_attr->name;
	offer->fabric.prov_name = (char *) name;
	offer->info.addr_format = lower->addr_format;
	offer->info.src_addr = lower->src_addr;
	offer->info.src_addrlen = lower->src_addrlen;
	offer->info.dest_addr = lower->dest_addr;
	offer->info.dest_addrlen = lower->dest_addrlen;
	if (!(lower->caps & FI_REMOTE_COMM))
		offer->info.caps &= ~FI_REMOTE_COMM;
}

/* ---- getinfo ----------------------------------------------------------------------- */

static int copy_bytes(void **to_p, size_t *len_p, const void *from, size_t len)
{
	if (!from)
		return 0;
	*to_p = malloc(len);
	if (!*to_p)
		return -FI_ENOMEM;
	memcpy(*to_p, from, len);
	*len_p = len;
	return 0;
}

static int copy_text(char **to_p, const char *text)
{
	*to_p = text ? strdup(text) : NULL;
	return text && !*to_p ? -FI_ENOMEM : 0;
}

/* copy_key - the endpoint below gets the key of the endpoint, or of its domain.  One that an address vector will have is
 * not known yet: what is asked with in its place finds out whether the endpoint below has keys.
 */
static int copy_key(const struct layer *layer, const struct fi_info *hints, struct fi_info *lower)
{
	const struct fi_ep_attr *ep = hints->ep_attr;
	const struct fi_domain_attr *domain = hints->domain_attr;
	static const uint8_t some[SOME_KEY];

	if (layer->seals_over && !strcmp(lower->fabric_attr->prov_name, layer->seals_over))
		return copy_bytes((void **) &lower->ep_attr->auth_key, &lower->ep_attr->auth_key_size, SEALED_ABOVE,
				 sizeof(SEALED_ABOVE));
	if (!layer->keys_below && !layer->seals_over)
		return 0;
	if (ep && ep->auth_key && ep->auth_key_size && ep->auth_key_size != FI_AV_AUTH_KEY)
		return copy_bytes((void **) &lower->ep_attr->auth_key, &lower->ep_attr->auth_key_size, ep->auth_key,
				 ep->auth_key_size);
	if (domain && domain->auth_key_size == FI_AV_AUTH_KEY)
		return copy_bytes((void **) &lower->ep_attr->auth_key, &lower->ep_attr->auth_key_size, some, sizeof(some));
	if (domain && domain->auth_key && domain->auth_key_size)
		return copy_bytes((void **) &lower->ep_attr->auth_key, &lower->ep_attr->auth_key_size,
				 domain->auth_key, domain->auth_key_size);
	return 0;
}

/* The part of the program's hints that concerns the provider below. */
static struct fi_info *lower_hints(const struct layer *layer, const struct fi_info *hints)
{
	struct fi_info *lower = fi_allocinfo();
	const char *name = hints->fabric_attr->prov_name;

	if (!lower)
		return NULL;
	lower->caps = layer->below_caps;
	lower->mode = FI_RX_CQ_DATA;	/* writes with data find receives posted */
	lower->ep_attr->type = layer->below;
	lower->addr_format = hints->addr_format;
	lower->domain_attr->mr_mode = LAYER_MR_MODE;
	lower->fabric_attr->prov_name = strndup(name, strcspn(name, ";"));
	if (!lower->fabric_attr->prov_name ||
	    copy_text(&lower->fabric_attr->name, hints->fabric_attr->name) ||
	    (hints->domain_attr && copy_text(&lower->domain_attr->name, hints->domain_attr->name)) ||
	    copy_bytes(&lower->src_addr, &lower->src_addrlen, hints->src_addr, hints->src_addrlen) ||
	    copy_bytes(&lower->dest_addr, &lower->dest_addrlen, hints->dest_addr,
		      hints->dest_addrlen) ||
	    copy_key(layer, hints, lower)) {
		fi_freeinfo(lower);
		return NULL;
	}
	if (layer->ask)
		layer->ask(lower);
	return lower;
}

/* An address that is not an IP address may not be routable, so it is offered only to a program
 * that names the device or the address format.
 */
static bool is_wanted(const struct fi_info *hints, const struct fi_info *lower)
{
	return (lower->addr_format != FI_ADDR_IB_UD && lower->addr_format != FI_SOCKADDR_IB) ||
	       hints->addr_format == lower->addr_format ||
	       (hints->domain_attr && hints->domain_attr->name);
}

#define REGION_MODE (FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY)

int layer_region_mode(const struct fi_info *lower)
{
	return lower->domain_attr->mr_mode & REGION_MODE;
}

/* offer_meet - @offer against @hints.  Regions that are registered below are as they are there, or, for a
 * program that cannot have them so, not registered below.
 */
static int offer_meet(const struct layer *layer, uint32_t version, const struct fi_info *hints,
		      const struct fi_info *lower, struct eng_offer *offer, const struct explain_label *label,
		      struct fi_info **info_p)
{
	const struct info_limits *limits = layer->limits ? layer->limits : &eng_offer_limits;
	int mode = layer->regions ? layer_region_mode(lower) : 0, ret = -FI_ENODATA;
	size_t key_size = offer->domain.mr_key_size;

	if (mode) {
		offer->domain.mr_mode = mode;
		offer->domain.mr_key_size = lower->domain_attr->mr_key_size;
		ret = info_check(layer->prov, &offer->info, limits, hints, version, label, info_p);
		offer->domain.mr_mode = 0;
		offer->domain.mr_key_size = key_size;
	}
	return ret != -FI_ENODATA ? ret :
	       info_check(layer->prov, &offer->info, limits, hints, version, label, info_p);
}

/* Offer @type over @lower, if that meets @hints. */
static int try_one(const struct layer *layer, uint32_t version, const struct fi_info *hints,
		   const struct fi_info *lower, enum fi_ep_type type, struct fi_info ***tail_p)
{
	char text[NET_ADDR_TEXT_MAX] = "";
	struct explain_label label = { .domain = lower->domain_attr->name, .addr = text };
	struct fi_info *info;
	struct eng_offer offer;
	int ret;

	/* Skip endpoints that support only shared receive contexts: a layer posts receives to
	 * each endpoint.
	 */
	if (lower->ep_attr->max_msg_size < layer->min_msg_size ||
	    lower->src_addrlen > layer->addr_max || lower->ep_attr->rx_ctx_cnt == FI_SHARED_CONTEXT ||
	    !is_wanted(hints, lower))
		return 0;
	if (explain_logged(layer->prov) && lower->src_addr && net_addr_len(lower->src_addr))
		net_addr_text(lower->src_addr, text);
	offer_fill(&offer, layer, lower, type, hints->fabric_attr->prov_name);
	ret = offer_meet(layer, version, hints, lower, &offer, &label, &info);
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

static void refuse_type(const struct layer *layer, enum fi_ep_type wanted, enum fi_ep_type offered)
{
	struct explain_refusal refusal = {
		.prov = layer->prov, .attr = "ep_attr->type",
		.ep_type = EXPLAIN_VALUE_NAMES(FI_TYPE_EP_TYPE, offered),
		.wanted = EXPLAIN_VALUE_NAMES(FI_TYPE_EP_TYPE, wanted),
		.offered = EXPLAIN_VALUE_NAMES(FI_TYPE_EP_TYPE, offered),
	};

	explain_refuse(&refusal);
}

/* is_hopeless - the hints cannot be met whatever is below.  Where refusals are logged each candidate
 * has its line, so that the provider below is asked for them.
 */
static bool is_hopeless(const struct layer *layer, const struct fi_info *hints)
{
	unsigned i;

	if (!hints->ep_attr || hints->ep_attr->type == FI_EP_UNSPEC || explain_logged(layer->prov))
		return false;
	for (i = 0; i < layer->type_cnt; i++)
		if (layer->types[i] == hints->ep_attr->type)
			return false;
	for (i = 0; i < layer->type_cnt; i++)
		refuse_type(layer, hints->ep_attr->type, layer->types[i]);
	return true;
}

/* lower_ask - the endpoints below that @asked asks for, as the layer uses them. */
static int lower_ask(const struct layer *layer, const char *node, const char *service,
		     uint64_t flags, const struct fi_info *asked, struct fi_info **lower_p)
{
	struct fi_info *one;
	int ret;

	ret = fi_getinfo(FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION), node, service,
			 flags | OFI_CORE_PROV_ONLY, asked, lower_p);
	for (one = ret ? NULL : *lower_p; one && layer->adopt; one = one->next)
		layer->adopt(one);
	return ret;
}

int layer_getinfo(const struct layer *layer, uint32_t version, const char *node,
		  const char *service, uint64_t flags, const struct fi_info *hints,
		  struct fi_info **info_p)
{
	struct fi_info *asked, *lower = NULL, *one, *head = NULL, **tail = &head;
	int ret = -FI_ENOMEM;
	unsigned i;

	if (is_hopeless(layer, hints))
		return -FI_ENODATA;
	asked = lower_hints(layer, hints);
	if (asked)
		ret = lower_ask(layer, node, service, flags, asked, &lower);
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

/* keep_wildcard - the interface is named, so an address of it replaces the wildcard that the program
 * was offered, and binds to.
 */
static int keep_wildcard(const struct fi_info *info, struct fi_info *lower)
{
	if (!info->src_addr || !net_addr_len(info->src_addr) || !net_addr_is_any(info->src_addr))
		return 0;
	free(lower->src_addr);
	lower->src_addr = NULL;
	return copy_bytes(&lower->src_addr, &lower->src_addrlen, info->src_addr, info->src_addrlen);
}

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
		asked->tx_attr->tclass = info->tx_attr->tclass;
		ret = lower_ask(layer, NULL, NULL, 0, asked, lower_p);
	}
	if (!ret)
		ret = keep_wildcard(info, *lower_p);
	if (ret)
		FI_WARN(layer->prov, FI_LOG_EP_CTRL, "the provider below %s has no endpoint at the "
			"requested address or interface: %s\n", layer->prov->name,
			fi_strerror(-ret));
	fi_freeinfo(asked);
	return ret;
}

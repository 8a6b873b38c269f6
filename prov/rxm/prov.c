/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * The provider ofi_rxm: RDM endpoints over each provider's connected ones.
 */
#include "base/provider.h"
#include "channel/select.h"
#include "coll/register.h"
#include "engine/offer.h"
#include "conn.h"
#include "info/check.h"
#include "net/opt.h"
#include "secure/key.h"

static struct fi_provider rxm_prov;

/* What eng_offer_limits are, and that connections can be protected: by the provider below, which is asked. */
static struct info_limits limits;

/* rxm_protects - connections are those of the provider below, which offers none where it cannot protect them. */
static bool rxm_protects(const struct fi_info *info)
{
	struct fi_info *lower = NULL;
	int ret = layer_lower_info(&rxm_layer, info, &lower);

	fi_freeinfo(lower);
	return ret != -FI_ENODATA;
}

static const struct eng_domain_ops domain_ops = {
	.protects = rxm_protects,
	.mr_expose = rxm_mr_expose,
	.mr_conceal = rxm_mr_conceal,
	.fini = rxm_domain_fini,
};

static int rxm_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context)
{
	if (rxm_conf.local)
		chan_local_prepare();
	return eng_fabric_open(&rxm_prov, &rxm_link_ops, &domain_ops, attr, fabric, context);
}

static const enum fi_ep_type types[] = { FI_EP_RDM };

/* Endpoints that can pass on the tagged messages of some peers do (foreign/rxmf/packet.h). */
static void adopt_tags(struct fi_info *lower)
{
	if (net_has_tags(lower->ep_attr))
		lower->ep_attr->protocol = NET_PROTO_TCP_TAGS;
}

const struct layer rxm_layer = {
	.prov = &rxm_prov,
	.below = FI_EP_MSG,
	.below_caps = FI_MSG | FI_RMA,
	.types = types,
	.type_cnt = 1,
	.protocol = FI_PROTO_RXM,
	.protocol_version = 1,		/* of the compatible format */
	.min_msg_size = RXM_BUF_MIN,
	.addr_max = RXM_ADDR_MAX,
	.regions = true,
	.limits = &limits,
	.keys_below = true,
	.adopt = adopt_tags,
	.inject_size = &rxm_conf.inject_size,
	.tx_size = &rxm_conf.tx_size,
	.rx_size = &rxm_conf.rx_size,
};

static int rxm_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
		       const struct fi_info *hints, struct fi_info **info_p)
{
	return layer_getinfo(&rxm_layer, version, node, service, flags, hints, info_p);
}

static struct fi_provider rxm_prov = {
	.version = OFI_PROV_VERSION,
	.fi_version = FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION),
	.name = "ofi_rxm",
	.getinfo = rxm_getinfo,
	.fabric = rxm_fabric,
};

OFI_PROVIDER_INI(rxm)
{
	coll_register();
	limits = eng_offer_limits;
	limits.secures = true;
	limits.auth_key_size = SEC_KEYS_MAX * SEC_KEY_RECORD_SIZE;
	rxm_conf.prov = &rxm_prov;
	rxm_conf_define();
	return &rxm_prov;
}

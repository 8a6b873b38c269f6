/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * The provider ofi_rxd: what it offers over each datagram provider.
 */
#include <string.h>

#include "base/provider.h"
#include "channel/select.h"
#include "coll/register.h"
#include "engine/offer.h"
#include "info/check.h"
#include "info/rails.h"
#include "layer/getinfo.h"
#include "net/opt.h"
#include "secure/key.h"
#include "link.h"

static struct fi_provider rxd_prov;
static struct info_limits limits;

static int rxd_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context)
{
	if (rxd_conf.local)
		chan_local_prepare();
	return eng_fabric_open(&rxd_prov, &rxd_link_ops, NULL, attr, fabric, context);
}

/* ---- getinfo ----------------------------------------------------------------------- */

static const enum fi_ep_type types[] = { FI_EP_RDM, FI_EP_MSG };

/* Over udp: endpoints that drop datagrams of other programs, and have trains. */
static void ask_framed(struct fi_info *hints)
{
	if (!strcmp(hints->fabric_attr->prov_name, "udp"))
		hints->ep_attr->protocol = NET_PROTO_UDP_FRAMED;
}

static const struct layer layer = {
	.prov = &rxd_prov,
	.below = FI_EP_DGRAM,
	.below_caps = FI_MSG,
	.types = types,
	.type_cnt = 2,
	.protocol = FI_PROTO_RXD,
	.protocol_version = RXD_VERSION,
	.min_msg_size = RXD_DGRAM_MIN,
	.addr_max = RXD_ADDR_MAX,
	.limits = &limits,
	.seals_over = "udp",
	.ask = ask_framed,
	.inject_size = &rxd_conf.inject_size,
	.tx_size = &rxd_conf.tx_size,
	.rx_size = &rxd_conf.rx_size,
};

static int rxd_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
		       const struct fi_info *hints, struct fi_info **info_p)
{
	info_rails_note(node, flags, hints);
	return layer_getinfo(&layer, version, node, service, flags, hints, info_p);
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
	coll_register();
	limits = eng_offer_limits;
	limits.secures = limits.keys_alone = true;
	limits.auth_key_size = SEC_KEYS_MAX * SEC_KEY_RECORD_SIZE;
	rxd_conf.prov = &rxd_prov;
	rxd_conf.layer = &layer;
	rxd_conf_define();
	return &rxd_prov;
}

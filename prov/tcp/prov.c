/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * The two providers of this module, tcp and sockets: the attributes that they offer, and
 * their entries for fi_getinfo() and fi_fabric().
 */
#include <rdma/fi_errno.h>

#include "base/provider.h"
#include "channel/select.h"
#include "coll/register.h"
#include "engine/api.h"
#include "engine/offer.h"
#include "info/getinfo.h"
#include "info/rails.h"
#include "conf.h"
#include "link.h"
#include "net/opt.h"
#include "secure/key.h"

/* What eng_offer_limits are, and that connections can be protected; set by prov_define(). */
static struct info_limits limits;

struct provider {
	struct fi_provider prov;
	struct tcp_conf *conf;
	struct info_prov net, below;		/* @below: for ofi_rxm */
	struct eng_offer offers[2];		/* RDM, MSG */
	const struct fi_info *list[2];
};

/* ---- offers ------------------------------------------------------------------------ */

static void offer_fill(struct eng_offer *offer, const struct tcp_conf *conf,
		       enum fi_ep_type type, uint32_t protocol, uint32_t protocol_version)
{
	eng_offer_fill(offer, &(struct eng_offer_of) {
		.type = type,
		.protocol = protocol,
		.protocol_version = protocol_version,
		.reach = FI_LOCAL_COMM | FI_REMOTE_COMM,
		.progress = FI_PROGRESS_AUTO,
		.inject_size = conf->inject_size,
		.tx_size = conf->tx_size,
		.rx_size = conf->rx_size,
	});
}

static void adjust_tags(struct fi_info *info, const struct net_iface *iface)
{
	if (info->ep_attr->type == FI_EP_MSG)
		info->ep_attr->protocol = NET_PROTO_TCP_TAGS;
}

static void prov_define(struct provider *p)
{
	const struct tcp_conf *conf = p->conf;
	bool tcp = conf == &tcp_conf;

	p->conf->prov = &p->prov;
	tcp_conf_define(p->conf);
	offer_fill(&p->offers[0], conf, FI_EP_RDM, tcp ? FI_PROTO_XNET : FI_PROTO_SOCK_TCP,
		   tcp ? 1 : 2);
	offer_fill(&p->offers[1], conf, FI_EP_MSG, FI_PROTO_SOCK_TCP, tcp ? 0 : 2);
	limits = eng_offer_limits;
	limits.secures = true;
	limits.auth_key_size = SEC_KEYS_MAX * SEC_KEY_RECORD_SIZE;
	p->list[0] = &p->offers[0].info;
	p->list[1] = &p->offers[1].info;
	p->net = (struct info_prov) {
		.prov = &p->prov,
		.tmpl = p->list,
		.tmpl_cnt = 2,
		.limits = &limits,
		.socktype = SOCK_STREAM,
	};
	p->below = p->net;
	p->below.adjust = adjust_tags;
}

/* ---- the providers ------------------------------------------------------------------- */

static struct provider tcp, sockets;

static int tcp_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
		       const struct fi_info *hints, struct fi_info **info)
{
	bool tags;

	info_rails_note(node, flags, hints);
	tags = hints && hints->ep_attr && hints->ep_attr->protocol == NET_PROTO_TCP_TAGS;

	return info_getinfo(tags ? &tcp.below : &tcp.net, version, node, service, flags, hints, info);
}

static int tcp_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context)
{
	if (tcp_conf.local)
		chan_local_prepare();
	return eng_fabric_open(&tcp.prov, &tcp_link_ops, NULL, attr, fabric, context);
}

static int sockets_getinfo(uint32_t version, const char *node, const char *service,
			   uint64_t flags, const struct fi_info *hints, struct fi_info **info)
{
	info_rails_note(node, flags, hints);
	return info_getinfo(&sockets.net, version, node, service, flags, hints, info);
}

static int sockets_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric,
			  void *context)
{
	return eng_fabric_open(&sockets.prov, &tcp_link_ops, NULL, attr, fabric, context);
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
	coll_register();
	prov_define(&tcp);
	return &tcp.prov;
}

OFI_PROVIDER_INI2(sockets)
{
	coll_register();
	prov_define(&sockets);
	return &sockets.prov;
}

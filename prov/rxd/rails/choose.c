/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* choose.c - which interfaces may be rails, and datagram endpoints there: the part of dg.h that asks the system. */
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>

#include "info/rails.h"
#include "rxd/conn.h"
#include "rxd/dg.h"

static bool is_over_sockets(const struct fi_info *info)
{
	return info->fabric_attr && info->fabric_attr->prov_name && !strncmp(info->fabric_attr->prov_name, "udp", 3);
}

unsigned rxd_dg_rails(const struct fi_info *info, const struct sockaddr *own, struct net_rail *rail)
{
	if (!is_over_sockets(info))
		return 0;
	if (info_rails_named()) {
		FI_INFO(rxd_conf.prov, FI_LOG_EP_CTRL, "FI_RAILS has no effect: the program names an interface or a "
			"source address\n");
		return 0;
	}
	return info_rails_choose(rxd_conf.prov, &rxd_conf.rails, own->sa_family, rail);
}

bool rxd_dg_reaches(const struct net_rail *rail, const struct sockaddr *dest)
{
	return net_rail_reaches(rail, dest);
}

bool rxd_dg_up(const struct net_rail *rail)
{
	return net_rail_up(rail);
}

/* set_address - @info is of an endpoint at the address of @rail.  Errors: -FI_ENOMEM. */
static int set_address(struct fi_info *info, const struct net_rail *rail)
{
	size_t len = net_addr_len(&rail->addr.sa);

	free(info->domain_attr->name);
	free(info->fabric_attr->name);
	info->domain_attr->name = info->fabric_attr->name = NULL;
	free(info->src_addr);
	info->src_addr = malloc(len);
	info->src_addrlen = info->src_addr ? len : 0;
	if (!info->src_addr)
		return -FI_ENOMEM;
	memcpy(info->src_addr, &rail->addr, len);
	return 0;
}

int rxd_dg_open_rail(struct rxd_poller *poller, const struct fi_info *info, const struct net_rail *rail, void *owner,
		     struct rxd_dg **dg_p)
{
	struct fi_info *there = fi_dupinfo(info);
	int ret = there ? set_address(there, rail) : -FI_ENOMEM;

	if (!ret)
		ret = rxd_dg_open(poller, there, owner, dg_p);
	if (!ret)
		rxd_dg_bind(*dg_p, rail->iface);
	fi_freeinfo(there);
	return ret;
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* open.c - the further interfaces of an endpoint: each has a datagram endpoint of its own. */
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>

#include "rxd/rails/state.h"

/* find_own - the place of the interface that has the endpoint's own address; a wildcard has the best one's. */
static unsigned find_own(const union net_sa *own, const struct net_rail *iface, unsigned cnt)
{
	unsigned i;

	for (i = 0; i < cnt; i++)
		if (net_addr_same_host(&iface[i].addr.sa, &own->sa))
			return i;
	return net_addr_is_any(&own->sa) ? 0 : cnt;
}

static void open_one(struct rxd_link *link, const struct fi_info *info, const struct net_rail *iface)
{
	struct rxd_rail_ports *ports = link->rails;
	unsigned i = ports->cnt;
	size_t len = sizeof(ports->at[i]);
	char text[NET_ADDR_TEXT_MAX];
	int ret = rxd_dg_open_rail(rxd_link_poller(link), info, iface, link, &ports->dg[i]);

	if (!ret)
		ret = rxd_dg_name(ports->dg[i], &ports->at[i], &len);
	if (ret && ports->dg[i])
		rxd_dg_close(ports->dg[i]);
	if (ret) {
		ports->dg[i] = NULL;
		CHAN_WARN(&link->base, "no rail by %s: %s\n", iface->iface, fi_strerror(-ret));
		return;
	}
	ports->iface[i] = *iface;
	ports->cnt++;
	CHAN_INFO(&link->base, "rail %u: %s, %s, %llu Mbit/s\n", ports->cnt, iface->iface,
		  net_addr_text(&ports->at[i].sa, text), (unsigned long long) (iface->speed / 1000000));
}

static void open_all(struct rxd_link *link, const struct fi_info *info, const struct net_rail *iface, unsigned cnt,
		     unsigned own)
{
	struct rxd_rail_ports *ports = link->rails;
	unsigned i;

	ports->own = own < cnt ? iface[own] : (struct net_rail) { .iface = "-" };
	for (i = 0; i < cnt && ports->cnt < RXD_RAILS_MAX; i++)
		if (i != own)
			open_one(link, info, &iface[i]);
}

void rxd_rails_open(struct rxd_link *link, const struct fi_info *info)
{
	struct net_rail iface[NET_RAILS_MAX];
	union net_sa own;
	unsigned cnt;

	if (rxd_conf.rails.most < 2 || link->base.msg)
		return;
	if (link->guard) {
		CHAN_INFO(&link->base, "FI_RAILS has no effect where FI_SECURITY protects connections\n");
		return;
	}
	if (net_addr_copy(link->addr, link->base.addr_len, &own))
		return;
	cnt = rxd_dg_rails(info, &own.sa, iface);
	link->rails = cnt > 1 ? calloc(1, sizeof(*link->rails)) : NULL;
	if (link->rails) {
		link->rails->secret.k[0] = rxd_dg_random();
		link->rails->secret.k[1] = rxd_dg_random();
		list_init(&link->rails->gone);
		open_all(link, info, iface, cnt, find_own(&own, iface, cnt));
	}
	if (link->rails && link->rails->cnt)
		return;
	CHAN_INFO(&link->base, "FI_RAILS has no effect: there are not two interfaces for it\n");
	free(link->rails);
	link->rails = NULL;
}

void rxd_rails_close(struct rxd_link *link)
{
	struct rxd_rail_ports *ports = link->rails;
	unsigned i;

	if (!ports)
		return;
	rxd_rails_free(ports);
	for (i = 0; i < ports->cnt; i++)
		rxd_dg_close(ports->dg[i]);
	link->rails = NULL;
	free(ports);
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <rdma/fi_errno.h>
#include <string.h>

#include "net/name.h"

/* pick_addr - the list is ranked: the first address on @iface, else the first of all. */
static const struct net_ifaddr *pick_addr(const struct net_list *list, int family, const char *iface)
{
	const struct net_ifaddr *best = NULL;
	size_t i;

	for (i = 0; i < list->addr_cnt; i++) {
		const struct net_ifaddr *addr = &list->addr[i];

		if (addr->addr.sa.sa_family != family)
			continue;
		if (iface && !strcmp(net_list_iface(list, addr)->name, iface))
			return addr;
		if (!best)
			best = addr;
	}
	return best;
}

int net_name(const struct sockaddr *bound, const char *iface, union net_sa *name_p)
{
	const struct net_ifaddr *addr;
	struct net_list list;
	int ret;

	if (!net_addr_is_any(bound))
		return net_addr_copy(bound, net_addr_len(bound), name_p);
	ret = net_list_read(&list);
	if (ret)
		return ret;
	addr = pick_addr(&list, bound->sa_family, iface);
	if (addr) {
		*name_p = addr->addr;
		net_addr_set_port(&name_p->sa, net_addr_port(bound));
	} else {
		ret = -FI_EADDRNOTAVAIL;
	}
	net_list_free(&list);
	return ret;
}

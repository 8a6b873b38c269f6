/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <limits.h>
#include <rdma/fi_errno.h>
#include <rdma/fabric.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/nic.h"
#include "net/rail.h"
#include "net/read.h"

/* ---- the choice -------------------------------------------------------------------- */

/* name_at - the place of @name in a list with commas; -1: it is not there. */
static int name_at(const char *names, const char *name)
{
	size_t len = strlen(name), part;
	int i;

	for (i = 0; names && *names; i++) {
		part = strcspn(names, ",");
		if (part == len && !strncmp(names, name, len))
			return i;
		names += part + (names[part] == ',');
	}
	return -1;
}

const char *net_rail_unfit(const struct net_iface *iface, const struct net_rail_rule *rule)
{
	bool asked = name_at(rule->only, iface->name) >= 0;

	if (!iface->up)
		return "it is down";
	if (iface->left_out)
		return "another interface was asked for";
	if (rule->only && !asked)
		return "FI_RAILS_IFACES does not name it";
	if (name_at(rule->except, iface->name) >= 0)
		return "FI_RAILS_IFACES excludes it";
	if (iface->kind == NET_KIND_LOOPBACK)
		return "it is the loopback";
	if (iface->kind == NET_KIND_BRIDGE && !asked)
		return "it is a bridge or belongs to one, as container engines make them";
	if (iface->kind == NET_KIND_PTP && !asked)
		return "it is a VPN or another tunnel";
	return NULL;
}

bool net_rail_fits(const struct net_ifaddr *addr, const struct net_rail_rule *rule)
{
	const struct sockaddr *sa = &addr->addr.sa;

	return sa->sa_family == rule->family && !addr->deprecated && !addr->temporary && !net_addr_is_link_local(sa) &&
	       !net_addr_is_loopback(sa) && !net_addr_is_multicast(sa);
}

void net_place_read(const char *iface, struct net_place *place_p)
{
	struct fi_pci_attr pci;
	char path[PATH_MAX], text[16];

	*place_p = (struct net_place) { .node = -1 };
	if (net_sysfs_path(iface, path, sizeof(path)) || net_nic_pci(path, &pci))
		return;
	snprintf(place_p->card, sizeof(place_p->card), "%x:%x:%x", pci.domain_id, pci.bus_id, pci.device_id);
	if (net_sysfs_text(iface, "device/numa_node", text, sizeof(text)) > 0)
		place_p->node = atoi(text);
}

/* A candidate, the smaller the better. */
struct cand {
	const struct net_ifaddr *addr;
	struct net_place place;
	int asked;
	bool same_card;		/* as one that is chosen */
};

static int cand_cmp(const struct net_list *list, const struct cand *a, const struct cand *b, int node)
{
	const struct net_iface *ia = net_list_iface(list, a->addr), *ib = net_list_iface(list, b->addr);

	if (a->asked != b->asked)
		return a->asked - b->asked;
	if (a->asked >= 0)
		return 0;
	if (ia->kind != ib->kind)
		return (int) ia->kind - (int) ib->kind;
	if (ia->speed != ib->speed)
		return ia->speed > ib->speed ? -1 : 1;
	if (a->same_card != b->same_card)
		return a->same_card - b->same_card;
	return node < 0 ? 0 : (a->place.node != node) - (b->place.node != node);
}

static bool has_iface(const struct cand *cand, size_t cnt, const struct net_ifaddr *addr)
{
	while (cnt--)
		if (cand[cnt].addr->iface == addr->iface)
			return true;
	return false;
}

/* cands_find - the first address of each interface that is fit. */
static size_t cands_find(const struct net_list *list, const struct net_rail_rule *rule,
			 void (*place)(const char *iface, struct net_place *place_p), struct cand *cand)
{
	size_t cnt = 0, i;

	for (i = 0; i < list->addr_cnt; i++) {
		const struct net_ifaddr *addr = &list->addr[i];
		const struct net_iface *iface = net_list_iface(list, addr);

		if (!net_rail_fits(addr, rule) || net_rail_unfit(iface, rule) || has_iface(cand, cnt, addr))
			continue;
		cand[cnt] = (struct cand) { .addr = addr, .asked = name_at(rule->only, iface->name) };
		place(iface->name, &cand[cnt++].place);
	}
	return cnt;
}

static void rail_take(const struct net_list *list, const struct cand *cand, struct net_rail *rail)
{
	const struct net_iface *iface = net_list_iface(list, cand->addr);

	memset(rail, 0, sizeof(*rail));
	snprintf(rail->iface, sizeof(rail->iface), "%s", iface->name);
	rail->index = iface->index;
	rail->addr = cand->addr->addr;
	rail->prefix = cand->addr->prefix;
	rail->speed = iface->speed;
}

unsigned net_rails_choose(const struct net_list *list, const struct net_rail_rule *rule,
			  void (*place)(const char *iface, struct net_place *place_p), int node,
			  struct net_rail *rail)
{
	struct cand *cand = calloc(list->addr_cnt + 1, sizeof(*cand)), taken;
	size_t cnt, best, i;
	unsigned rails = 0;

	if (!cand)
		return 0;
	cnt = cands_find(list, rule, place, cand);
	while (cnt && rails < NET_RAILS_MAX) {
		for (best = 0, i = 1; i < cnt; i++)
			if (cand_cmp(list, &cand[i], &cand[best], node) < 0)
				best = i;
		taken = cand[best];
		rail_take(list, &taken, &rail[rails++]);
		memmove(cand + best, cand + best + 1, (--cnt - best) * sizeof(*cand));
		for (i = 0; i < cnt; i++)
			cand[i].same_card |= *taken.place.card && !strcmp(cand[i].place.card, taken.place.card);
	}
	free(cand);
	return rails;
}

/* ---- a rail in use ------------------------------------------------------------------ */

bool net_rail_up(const struct net_rail *rail)
{
	struct ifreq req = { .ifr_flags = 0 };
	bool up;
	int fd;

	if (net_sock_open(rail->addr.sa.sa_family, SOCK_DGRAM, &fd))
		return true;		/* not known */
	memcpy(req.ifr_name, rail->iface, sizeof(req.ifr_name));
	up = !ioctl(fd, SIOCGIFFLAGS, &req) && req.ifr_flags & IFF_UP && req.ifr_flags & IFF_RUNNING &&
	     !net_sock_bind(fd, &rail->addr.sa, NULL, NULL);
	close(fd);
	return up;
}

bool net_rail_reaches(const struct net_rail *rail, const struct sockaddr *dest)
{
	return dest->sa_family == rail->addr.sa.sa_family &&
	       (net_addr_in_prefix(dest, &rail->addr.sa, rail->prefix) || net_route_has(rail->index, dest));
}

/* A process without rights may bind a socket to a device, if it is not bound to one yet, since Linux 5.7. */
int net_rail_bind(const struct net_rail *rail, int fd, const struct net_ports *ports, union net_sa *bound_p)
{
	setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, rail->iface, (socklen_t) strlen(rail->iface));
	return net_sock_bind(fd, &rail->addr.sa, ports, bound_p);
}

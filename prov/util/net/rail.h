/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * rail.h - which interfaces of this host may be rails: ways to one peer that are used at the same time.
 *
 * The choice is pure, so that it can be tested on any list; what it has to know of devices is read before.
 */
#ifndef NET_RAIL_H
#define NET_RAIL_H

#include "net/iface.h"
#include "net/sock.h"

#define NET_RAILS_MAX 8
#define NET_CARD_MAX 128

/* One interface, and the address that connections over it have. */
struct net_rail {
	char iface[IF_NAMESIZE];
	unsigned index;		/* of the interface, as the kernel counts */
	union net_sa addr;	/* port 0 */
	uint8_t prefix;		/* bits of its network */
	uint64_t speed;		/* bits per second, 0 when unknown */
};

/* What the program's user says of them. */
struct net_rail_rule {
	int family;		/* AF_INET or AF_INET6 */
	const char *only;	/* names with commas, in order of preference; NULL: those that are fit */
	const char *except;	/* names with commas; NULL: none */
};

/* Where the device of an interface is. */
struct net_place {
	char card[NET_CARD_MAX];	/* the same for all ports of a card; "": no device */
	int node;			/* NUMA node; -1: not known */
};

/* net_rail_unfit - why @iface is no rail; NULL: it may be one, if it has an address that is fit.
 * net_rail_fits - is @addr fit: of a network, permanent, of the family?
 */
const char *net_rail_unfit(const struct net_iface *iface, const struct net_rail_rule *rule);
bool net_rail_fits(const struct net_ifaddr *addr, const struct net_rail_rule *rule);

/* net_place_read - from sysfs. */
void net_place_read(const char *iface, struct net_place *place_p);

/* net_rails_choose - at most NET_RAILS_MAX interfaces of @list, the best first.
 *
 * @list:  ranked
 * @place: net_place_read(), or a test's
 * @node:  the NUMA node on which the program runs; -1: not known
 * @rail:  [out] room for NET_RAILS_MAX
 *
 * The order is that of rule->only, if there is one.  Else devices precede other interfaces; then the faster; then
 * a port of a card that is not among them yet; then one on @node; then the order of @list.
 *
 * Returns how many.
 */
unsigned net_rails_choose(const struct net_list *list, const struct net_rail_rule *rule,
			  void (*place)(const char *iface, struct net_place *place_p), int node,
			  struct net_rail *rail);

/* net_rail_up - is the interface up, and has it its address? */
bool net_rail_up(const struct net_rail *rail);

/* net_rail_reaches - is @dest in the network of @rail, or does a route by its interface lead there that is not the
 * default route?   Errors: without netlink no route is known.
 */
bool net_rail_reaches(const struct net_rail *rail, const struct sockaddr *dest);

/* net_rail_bind - what the socket @fd sends goes by the interface of @rail, and nothing else arrives at it; as far
 * as the system permits that: else by the address alone.
 * Errors: those of bind().
 */
int net_rail_bind(const struct net_rail *rail, int fd, const struct net_ports *ports, union net_sa *bound_p);

#endif

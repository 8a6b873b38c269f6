/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * iface.h - this host's network interfaces and addresses, in order of preference.
 *
 * Reading (read.h: netlink or ioctl) and classification (here; pure) are separate,
 * so that the order can be tested on any list.  A list is a snapshot.
 */
#ifndef NET_IFACE_H
#define NET_IFACE_H

#include <net/if.h>

#include "base/net_addr.h"

/* The class of an interface, in order of preference. */
enum net_kind {
	NET_KIND_DEVICE,	/* hardware, a virtual machine's network card, and bonds and vlans of
				 * them */
	NET_KIND_VIRTUAL,	/* other software interface: dummy, veth, macvlan... */
	NET_KIND_PTP,		/* point to point or VPN: ppp, tun, tap, wireguard, ipip, gre... */
	NET_KIND_BRIDGE,	/* a bridge, its port or an overlay, as container engines make them */
	NET_KIND_LOOPBACK,
};

#define NET_LINK_KIND_MAX 16
#define NET_MAC_MAX 32

struct net_iface {
	char name[IF_NAMESIZE];
	char link_kind[NET_LINK_KIND_MAX];	/* rtnl_link kind ("veth", "bridge"), "" for a device */
	unsigned index;
	unsigned flags;		/* IFF_* */
	enum net_kind kind;
	bool up;		/* administratively up and carrier present */
	bool uplink;		/* the default route uses it */
	bool left_out;		/* net_list_restrict() has removed its addresses */
	uint32_t master;	/* index of the bridge or bond that this is a port of, or 0 */
	uint64_t speed;		/* bits per second, 0 when unknown */
	uint32_t mtu;
	uint16_t arp_type;	/* ARPHRD_* */
	uint8_t mac_len;
	uint8_t mac[NET_MAC_MAX];
};

struct net_ifaddr {
	union net_sa addr;	/* port 0; a link-local IPv6 address has its scope */
	uint8_t prefix;		/* bits */
	uint32_t iface;		/* index into net_list.iface */
	uint32_t pos;		/* position in the kernel's list: the last tie breaker */
	bool deprecated;	/* IPv6: not to be used for new connections */
	bool temporary;		/* IPv6 privacy address: expires */
};

/* Addresses in order of preference, and the interfaces that have them. */
struct net_list {
	size_t iface_cnt;
	size_t addr_cnt;
	struct net_iface *iface;
	struct net_ifaddr *addr;
	const char *left_out_by;	/* who called net_list_restrict(), for texts; NULL: not called */
};

static inline const struct net_iface *net_list_iface(const struct net_list *list,
						     const struct net_ifaddr *addr)
{
	return &list->iface[addr->iface];
}

/* net_list_read - read the interfaces and their addresses, and rank them.
 *
 * @list_p: [out] includes interfaces without an address
 *
 * Ownership: the caller frees with net_list_free().
 * Errors:    -FI_ENOMEM; or the errno of the kernel's refusal.
 * Cost:      two netlink dumps and two route look-ups; sysfs is read only for the speed of
 *            devices that are up.
 */
int net_list_read(struct net_list *list_p);

/* net_list_recent - as net_list_read(), or a copy of what was read in the last 2 ms, so that
 * the providers of one fi_getinfo() share a snapshot.  Threading: any.
 */
int net_list_recent(struct net_list *list_p);
void net_list_free(struct net_list *list);

/* net_list_add_iface, net_list_add_addr - append a zeroed entry and return it, or NULL without
 * memory.  Used by the readers, and by tests to make a list.
 */
struct net_iface *net_list_add_iface(struct net_list *list);
struct net_ifaddr *net_list_add_addr(struct net_list *list);

/* net_kind_of - classify an interface by its link kind and flags; where the kernel reports no
 * kind (@has_device false, @link_kind "") by its name.  Pure.
 */
enum net_kind net_kind_of(const struct net_iface *iface, bool has_device);

/* net_list_judge - settle the classes that depend on other interfaces: a bridge with a device
 * as a port is the host's uplink and ranks as a device, with its port's speed; any other port
 * of a bridge ranks as a bridge.  Pure; called before net_list_rank().
 */
void net_list_judge(struct net_list *list);

/* net_list_rank - sort list->addr by preference.  Pure, total, deterministic.
 *
 * One order over the addresses of all interfaces: link up before down; then an address of a
 * network before a link-local or deprecated one, and loopback addresses last, so that they
 * precede all that are down; then in the order of enum net_kind; then the faster; then the
 * uplink; then IPv4 before IPv6; then by index; temporary behind permanent; the kernel's order.
 */
void net_list_rank(struct net_list *list);

/* net_list_restrict - keep the addresses of the interface called @name.
 *
 * @by: the variable that says so, for net_list_names(); it must outlive the list
 *
 * Errors: -FI_ENODEV when no interface has that name, or it has no address;
 *         the list is then unchanged.
 */
int net_list_restrict(struct net_list *list, const char *name, const char *by);

/* net_list_names - "eth0 (up, 192.0.2.2), lo (up, 127.0.0.1)": the available interfaces, for a
 * log text.  Always terminated; cut with "..." when it does not fit.
 */
char *net_list_names(const struct net_list *list, char *buf, size_t len);

/* net_list_find - the entry with the host of @sa (ports ignored), or NULL. */
const struct net_ifaddr *net_list_find(const struct net_list *list, const struct sockaddr *sa);

/* net_list_faster - the fastest interface with an address of @family, if it is up, and faster than the one called
 * @name, the speed of which is known; or NULL.  Pure.
 */
const struct net_iface *net_list_faster(const struct net_list *list, const char *name, int family);

#endif

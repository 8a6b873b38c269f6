/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * net_getinfo.h - fi_getinfo(3) for every provider that speaks over IP.
 *
 * A provider says what it can do, in an array of constant fi_info templates;
 * this file puts an interface and an address to each, checks the hints and
 * builds the list.  Templates come out in their order; within one template the
 * addresses come best first (net_iface.h).
 */
#ifndef NET_GETINFO_H
#define NET_GETINFO_H

#include <rdma/providers/fi_prov.h>

#include "net/net_iface.h"
#include "net/net_sock.h"
#include "obj/check.h"

struct net_prov {
	struct fi_provider *prov;		/* parameters and log lines go by its name */
	/* What is offered: capabilities, limits, attributes; all sub-structures
	 * present.  Left empty there and filled here: addresses, addr_format,
	 * fabric and domain names, nic.  See obj/check.h for how the fields of a
	 * template are read.
	 */
	const struct fi_info *const *tmpl;
	size_t tmpl_cnt;
	/* What can be had beyond the templates' defaults (obj/check.h); one for all
	 * templates, or NULL: nothing.
	 */
	const struct obj_limits *limits;
	int socktype;				/* SOCK_STREAM or SOCK_DGRAM: service names */
	/* Optional: adjust the offer (a copy of the template, src_addr set) to an
	 * interface before the hints are compared with it.
	 */
	void (*adjust)(struct fi_info *offer, const struct net_iface *iface);
	/* Optional: only interfaces with a device of this provider's own are offered. */
	bool (*has)(const struct net_iface *iface);
	/* Optional: describes that device, in place of net_nic_create(). */
	int (*nic)(const struct net_iface *iface, struct fid_nic **nic_p);
	bool concrete;				/* src_addr is never the wildcard */
};

/* net_getinfo - the getinfo call of struct fi_provider.
 *
 * @version, @node, @service, @flags, @hints: as fi_getinfo(3) has them; hints
 *          may be NULL or sparse
 * @info_p: [out] the list, for fi_freeinfo()
 *
 * What @node, @service, FI_SOURCE and the addresses of @hints mean:
 *  - with FI_SOURCE, node and service name the local address.  No node, or the
 *    wildcard: all of them; src_addr is then the wildcard address with the port
 *    (so that a server answers at every address) on each interface, best first.
 *    The same for this host's own name when it resolves to nothing, to 127.0.1.1
 *    or to an address that is not here.  Another address that is not here gives
 *    -FI_ENODATA.  Where one interface was asked for (FI_<PROV>_IFACE, domain
 *    name) its own addresses stand in place of the wildcard;
 *  - without, they name the destination: local addresses that lead there come
 *    first and dest_addr is filled; a service without a node is on this host;
 *  - hints->src_addr (and dest_addr, when node and service are NULL or ours)
 *    restrict likewise.
 *
 * Errors: -FI_ENODATA: nothing meets the hints (each candidate's reason is an
 *         obj_explain line); -FI_EINVAL, -FI_EBADFLAGS; -FI_ENOMEM.
 * Threading: any thread.      Source: fi_getinfo(3)
 */
int net_getinfo(const struct net_prov *np, uint32_t version, const char *node,
		const char *service, uint64_t flags, const struct fi_info *hints,
		struct fi_info **info_p);

/* net_name - the address to tell peers: what an endpoint's getname answers.
 *
 * @bound:  what the socket is bound to
 * @iface:  name of the domain: whose address stands in for a wildcard
 * @name_p: [out] @bound, or its port at an address of @iface, or of the best
 *          interface when that has none of the family
 *
 * Errors: -FI_EADDRNOTAVAIL: no address of the family; those of net_list_read().
 */
int net_name(const struct sockaddr *bound, const char *iface, union net_sa *name_p);

/* The environment's word: FI_<PROV>_IFACE, FI_<PROV>_PORT_LOW_RANGE and _PORT_HIGH_RANGE. */
#define NET_PARAM_IFACE	0x1
#define NET_PARAM_PORTS	0x2

/* net_params_define - tell the parameter list (fi_info -e) what exists; once, when
 * the provider is initialised.   @which: NET_PARAM_*
 */
int net_params_define(const struct fi_provider *prov, int which);

/* net_params_iface - the interface named by FI_<PROV>_IFACE, or NULL. */
const char *net_params_iface(struct fi_provider *prov);

/* net_params_ports - the port range of the environment, checked.  A bad range is
 * logged as a warning, with what would be right, and gives -FI_EINVAL and no range.
 */
int net_params_ports(struct fi_provider *prov, struct net_ports *ports_p);

#endif

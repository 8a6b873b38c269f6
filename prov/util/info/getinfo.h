/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * getinfo.h - fi_getinfo(3) for every provider that speaks over IP.
 *
 * A provider says what it can do, in an array of constant fi_info templates;
 * this file puts an interface and an address to each, checks the hints and
 * builds the list.  Templates come out in their order; within one template the
 * addresses come best first (prov/util/net/iface.h).
 */
#ifndef INFO_GETINFO_H
#define INFO_GETINFO_H

#include <rdma/providers/fi_prov.h>

#include "net/iface.h"
#include "net/sock.h"
#include "info/check.h"

struct info_prov {
	struct fi_provider *prov;		/* parameters and log lines go by its name */
	/* What is offered: capabilities, limits, attributes; all sub-structures
	 * present.  Left empty there and filled here: addresses, addr_format,
	 * fabric and domain names, nic.  See info/check.h for how the fields of a
	 * template are read.
	 */
	const struct fi_info *const *tmpl;
	size_t tmpl_cnt;
	/* What can be had beyond the templates' defaults (info/check.h); one for all
	 * templates, or NULL: nothing.
	 */
	const struct info_limits *limits;
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

/* info_getinfo - the getinfo call of struct fi_provider.
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
 *         explain_refusal line); -FI_EINVAL, -FI_EBADFLAGS; -FI_ENOMEM.
 * Threading: any thread.      Source: fi_getinfo(3)
 */
int info_getinfo(const struct info_prov *np, uint32_t version, const char *node,
		const char *service, uint64_t flags, const struct fi_info *hints,
		struct fi_info **info_p);

/* The environment's word: FI_<PROV>_IFACE, FI_<PROV>_PORT_LOW_RANGE and _PORT_HIGH_RANGE. */
#define INFO_PARAM_IFACE	0x1
#define INFO_PARAM_PORTS	0x2

/* info_params_define - tell the parameter list (fi_info -e) what exists; once, when
 * the provider is initialised.   @which: INFO_PARAM_*
 */
int info_params_define(const struct fi_provider *prov, int which);

/* info_params_iface - the interface named by FI_<PROV>_IFACE, or NULL. */
const char *info_params_iface(struct fi_provider *prov);

/* info_params_ports - the port range of the environment, checked.  A bad range is
 * logged as a warning, with what would be right, and gives -FI_EINVAL and no range.
 */
int info_params_ports(struct fi_provider *prov, struct net_ports *ports_p);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * getinfo.h - fi_getinfo(3) for every provider over IP.
 *
 * A provider describes what it can do in an array of constant fi_info templates; this file
 * combines each with an interface and an address, checks the hints and builds the list.
 * Templates come in their order; within one template the addresses come in order of preference
 * (prov/util/net/iface.h).
 */
#ifndef INFO_GETINFO_H
#define INFO_GETINFO_H

#include <rdma/providers/fi_prov.h>

#include "net/iface.h"
#include "net/sock.h"
#include "info/params.h"
#include "info/check.h"

struct info_prov {
	struct fi_provider *prov;		/* owner of the parameters and log lines */
	/* The offer: capabilities, limits, attributes; all sub-structures present.  Left empty
	 * there and filled in here: addresses, addr_format, fabric and domain names, nic.  See
	 * info/check.h for the meaning of the fields of a template.
	 */
	const struct fi_info *const *tmpl;
	size_t tmpl_cnt;
	/* Limits beyond the templates' defaults (info/check.h); one for all templates, or NULL. */
	const struct info_limits *limits;
	int socktype;				/* SOCK_STREAM or SOCK_DGRAM: service names */
	/* Optional: adjust the offer (a copy of the template, src_addr set) to an
	 * interface before the hints are compared with it.
	 */
	void (*adjust)(struct fi_info *offer, const struct net_iface *iface);
	/* Optional: only interfaces for which this returns true are offered. */
	bool (*has)(const struct net_iface *iface);
	/* Optional: describes that device, instead of net_nic_create(). */
	int (*nic)(const struct net_iface *iface, struct fid_nic **nic_p);
	bool concrete;				/* src_addr is never the wildcard */
};

/* info_getinfo - the getinfo function of struct fi_provider.
 *
 * @version, @node, @service, @flags, @hints: as in fi_getinfo(3); hints may be NULL or sparse
 * @info_p: [out] the list, for fi_freeinfo()
 *
 * Meaning of @node, @service, FI_SOURCE and the addresses of @hints:
 * - with FI_SOURCE, node and service are the local address.  No node, or the wildcard: all
 *   addresses; src_addr is then the wildcard address with the port (so that a server accepts at
 *   every address) on each interface, best first. The same for this host's name when it
 *   resolves to nothing, to 127.0.1.1 or to an address that the host does not have.  Any other
 *   address that the host does not have gives -FI_ENODATA.  Where one interface was requested
 *   (FI_<PROV>_IFACE, domain name) its addresses replace the wildcard;
 * - without, they are the destination: local addresses with a route to it come first and
 *   dest_addr is set; a service without a node is on this host;
 * - hints->src_addr (and dest_addr, when node and service are NULL or local) restrict in the
 *   same way.
 *
 * Errors: -FI_ENODATA: nothing meets the hints (each candidate's reason is an explain_refusal
 *         line); -FI_EINVAL, -FI_EBADFLAGS; -FI_ENOMEM.
 * Threading: any thread.      Source: fi_getinfo(3)
 */
int info_getinfo(const struct info_prov *np, uint32_t version, const char *node,
		const char *service, uint64_t flags, const struct fi_info *hints,
		struct fi_info **info_p);

#endif

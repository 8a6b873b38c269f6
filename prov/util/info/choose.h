/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * choose.h - which local addresses serve a request, and in which order.
 *
 * Two steps: info_want_read() resolves the arguments of fi_getinfo to addresses (this may query
 * the name service), info_choose() selects from a list (pure, except for the route look-up that
 * it is given).
 */
#ifndef INFO_CHOOSE_H
#define INFO_CHOOSE_H

#include <rdma/fabric.h>

#include "net/iface.h"
#include "net/resolve.h"

/* The request, as addresses. */
struct info_want {
	bool any_src;		/* any local address */
	bool wild;		/* all local addresses at once: the wildcard address was requested */
	int family;		/* family of @any_src; AF_UNSPEC: both */
	struct net_addrs src;	/* else one of these */
	bool own_name;		/* @src was resolved from this host's name: if the host has none of
				 * these addresses, use any */
	uint16_t src_port;
	bool has_dest;
	struct net_addrs dest;	/* one of these must be reachable */
};

/* One candidate. */
struct info_cand {
	const struct net_ifaddr *addr;	/* entry of the list */
	/* With the port, if one was requested.  The wildcard address where all were requested:
	 * a server that gives only a port accepts at each of its addresses.  The interface is
	 * then the one at which it is best reached (net_name()).
	 */
	union net_sa src;
	union net_sa dest;		/* if has_dest */
	bool has_dest;
	/* Loopback reaches no other host, so it is offered without FI_REMOTE_COMM beside a real
	 * interface.  It has FI_REMOTE_COMM when the caller named it, or when it is the only
	 * interface: on a host without a network no peer is remote.
	 */
	bool local_only;
};

/* Why info_want_read() or info_choose() found nothing: for the explain line. */
struct info_refusal {
	const char *attr;
	char wanted[300];
	char offered[256];
};

/* info_want_read - resolve node, service, flags and the addresses of hints.
 *
 * @type:   SOCK_STREAM or SOCK_DGRAM
 * @want_p: [out] for info_want_free()
 * @why_p:  [out] set on -FI_ENODATA
 *
 * Errors: -FI_ENODATA: not an IP address, or a name that is not resolved for any reason;
 *         -FI_EINVAL: @service is malformed; -FI_ENOMEM.
 */
int info_want_read(const char *node, const char *service, uint64_t flags,
		  const struct fi_info *hints, int type, struct info_want *want_p,
		  struct info_refusal *why_p);
void info_want_free(struct info_want *want);

/* info_name_is_own - true when @node names this host: its name from gethostname(), with or
 * without the domain.  @own: that name.  Pure.
 */
bool info_name_is_own(const char *node, const char *own);

/* The route look-up: net_sock_source(), or a test's table. */
typedef int (*info_route_fn)(const struct sockaddr *dest, union net_sa *source_p);

/* info_choose - the candidates in order of preference.
 *
 * @list:     ranked; must outlive the candidates
 * @pointed:  the caller restricted the list to one interface
 * @cand_p:   [out] to be freed; at least one
 * @why_p:    [out] set on -FI_ENODATA
 *
 * With a destination, the source address of the route to it comes first, then the others in
 * their rank, without interfaces that cannot reach it (down, of another family, loopback for a
 * remote host and the reverse).
 *
 * Errors: -FI_ENODATA, -FI_ENOMEM.
 */
int info_choose(const struct net_list *list, const struct info_want *want, bool pointed,
	       info_route_fn route, struct info_cand **cand_p, size_t *cnt_p,
	       struct info_refusal *why_p);

#endif

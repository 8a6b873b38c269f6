/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * choose.h - which local addresses serve a request, and in which order.
 *
 * Two steps: info_want_read() turns the arguments of fi_getinfo into addresses
 * (this may ask the name service), info_choose() picks from a list (pure, but
 * for the route look-up that it is given).
 */
#ifndef INFO_CHOOSE_H
#define INFO_CHOOSE_H

#include <rdma/fabric.h>

#include "net/iface.h"
#include "net/resolve.h"

/* What the caller asked for, in addresses. */
struct info_want {
	bool any_src;		/* every local address will do */
	bool wild;		/* ... and is to be served at once: a wildcard was asked for */
	int family;		/* that any_src is restricted to; AF_UNSPEC: both */
	struct net_addrs src;	/* else one of these */
	bool own_name;		/* @src came from this host's name: if none of it is here
				 * (any more), every address will do after all */
	uint16_t src_port;
	bool has_dest;
	struct net_addrs dest;	/* one of these is to be reached */
};

/* One way to serve it. */
struct info_cand {
	const struct net_ifaddr *addr;	/* in the list */
	/* With the port, where one was asked for.  The wildcard address where the
	 * request was for all of them: a server that asked for its port alone answers
	 * at each of its addresses.  The interface is then the one it is best
	 * reached by (net_name()).
	 */
	union net_sa src;
	union net_sa dest;		/* where has_dest */
	bool has_dest;
	/* Loopback reaches no other host, so it is offered without FI_REMOTE_COMM
	 * beside a real interface; but with it when the caller pointed at it, or
	 * when it is all there is: on a host without a network no peer is remote.
	 */
	bool local_only;
};

/* Why info_want_read() or info_choose() came back empty-handed: for the explain line. */
struct info_refusal {
	const char *attr;
	char wanted[300];
	char offered[256];
};

/* info_want_read - what do node, service, flags and the addresses of hints ask for?
 *
 * @type:   SOCK_STREAM or SOCK_DGRAM
 * @want_p: [out] for info_want_free()
 * @why_p:  [out] filled when the answer is -FI_ENODATA
 *
 * Errors: -FI_ENODATA: names no IP address; -FI_EINVAL: @service is malformed;
 *         -FI_EAGAIN: the name server did not answer; -FI_ENOMEM.
 */
int info_want_read(const char *node, const char *service, uint64_t flags,
		  const struct fi_info *hints, int type, struct info_want *want_p,
		  struct info_refusal *why_p);
void info_want_free(struct info_want *want);

/* info_name_is_own - does @node mean this host: its name as gethostname() has it, with
 * or without the domain?  @own: that name.  Pure.
 */
bool info_name_is_own(const char *node, const char *own);

/* How a route is looked up: net_sock_source(), or a test's table. */
typedef int (*info_route_fn)(const struct sockaddr *dest, union net_sa *source_p);

/* info_choose - the candidates, best first.
 *
 * @list:     ranked; must outlive the candidates
 * @pointed:  the caller restricted the list to one interface
 * @cand_p:   [out] to be freed; at least one
 * @why_p:    [out] filled when the answer is -FI_ENODATA
 *
 * With a destination: the address that the route to it starts from comes first,
 * then the rest in their rank, without interfaces that cannot lead there (down,
 * of another family, loopback for a remote host and the other way round).
 * Errors: -FI_ENODATA, -FI_ENOMEM.
 */
int info_choose(const struct net_list *list, const struct info_want *want, bool pointed,
	       info_route_fn route, struct info_cand **cand_p, size_t *cnt_p,
	       struct info_refusal *why_p);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* resolve.h - from a node and a service to socket addresses. */
#ifndef NET_RESOLVE_H
#define NET_RESOLVE_H

#include "base/net_addr.h"

/* A list of addresses; released by net_addrs_free(). */
struct net_addrs {
	size_t cnt;
	union net_sa *addr;
};

#define NET_RESOLVE_NUMERIC	0x1	/* @node is an address: no name service */

/* net_addr_resolve - resolve a node and a service to addresses.
 *
 * @node:    NULL (wildcard address), an address, a string form, or a host name
 * @service: NULL (port 0), a port number, or a service name
 * @flags:   NET_RESOLVE_*
 * @family:  AF_INET, AF_INET6, or AF_UNSPEC for both
 * @type:    SOCK_STREAM or SOCK_DGRAM: which service names apply
 * @out_p:   [out] at least one address, in the resolver's order
 *
 * Ownership: the caller frees with net_addrs_free().
 * Threading: any; may block in the name service unless NET_RESOLVE_NUMERIC.
 * Errors:    -FI_ENODATA: no address of @family under this name, whatever the resolver's reason
 *            (also a name server that does not answer: a program that repeats the call would
 *            repeat it for ever), no such service name, or not an IP address;
 *            -FI_EINVAL: @service is not a possible port number, or @node a malformed string
 *            form; -FI_ENOMEM.
 * Cost:      numeric addresses never reach the C library's resolver.
 */
int net_addr_resolve(const char *node, const char *service, int flags, int family,
		     int type, struct net_addrs *out_p);

/* net_addr_resolve_why - the same; @why_p: [out] set on -FI_ENODATA: the reason, for a log line;
 * constant text.
 */
int net_addr_resolve_why(const char *node, const char *service, int flags, int family,
			 int type, struct net_addrs *out_p, const char **why_p);
void net_addrs_free(struct net_addrs *list);

#endif

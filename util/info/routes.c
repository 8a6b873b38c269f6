/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "routes.h"

#include <inttypes.h>
#include <net/if.h>
#include <net/route.h>
#include <string.h>

/* route_covers_ip4 - a line of /proc/net/route: addresses as the words that they are in memory. */
static bool route_covers_ip4(const char *line, const union net_sa *peer, const char *iface)
{
	uint32_t dest, gateway, mask;
	char name[IF_NAMESIZE];
	unsigned flags;

	return sscanf(line, "%15s %" SCNx32 " %" SCNx32 " %x %*s %*s %*s %" SCNx32, name, &dest, &gateway,
		      &flags, &mask) == 5 &&
	       !strcmp(name, iface) && flags & RTF_UP && !(flags & RTF_REJECT) &&
	       (peer->in.sin_addr.s_addr & mask) == dest;
}

/* route_covers_ip6 - a line of /proc/net/ipv6_route: the destination, its prefix, six more, the flags, the interface.
 */
static bool route_covers_ip6(const char *line, const union net_sa *peer, const char *iface)
{
	char hex[33], name[IF_NAMESIZE];
	union net_sa net = { .in6 = { .sin6_family = AF_INET6 } };
	unsigned prefix, flags, byte;
	size_t i;

	if (sscanf(line, "%32s %x %*s %*s %*s %*s %*s %*s %x %15s", hex, &prefix, &flags, name) != 4 ||
	    strlen(hex) != 32 || prefix > 128 || strcmp(name, iface) || flags & RTF_REJECT)
		return false;
	for (i = 0; i < 16; i++) {
		if (sscanf(hex + 2 * i, "%2x", &byte) != 1)
			return false;
		net.in6.sin6_addr.s6_addr[i] = (uint8_t) byte;
	}
	net.in6.sin6_scope_id = peer->in6.sin6_scope_id;
	return net_addr_in_prefix(&peer->sa, &net.sa, prefix);
}

bool info_routes_has(FILE *file, const union net_sa *peer, const char *iface)
{
	bool v4 = peer->sa.sa_family == AF_INET;
	char line[512];

	while (file && fgets(line, sizeof(line), file))
		if (v4 ? route_covers_ip4(line, peer, iface) : route_covers_ip6(line, peer, iface))
			return true;
	return false;
}

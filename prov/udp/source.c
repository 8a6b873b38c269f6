/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * NET_OPT_SOURCE: which peer sent a datagram, for a provider above that keeps state per peer.
 * Each completion has a number of the source address, and a cache of fixed size has the
 * addresses of recent numbers.  No memory grows with the number of peers, or of forged source
 * addresses.
 */

#include <string.h>

#include "ep.h"

int udp_source_find(struct udp_poller *poller, struct net_source *out)
{
	const struct udp_source *source = &poller->source[out->number % UDP_SOURCES];

	_Static_assert(sizeof(out->addr) >= sizeof(source->addr), "room for an address");
	if (!out->number || source->number != out->number)
		return -FI_ENOENT;
	out->len = net_addr_len(&source->addr.sa);
	memcpy(out->addr, &source->addr, out->len);
	return 0;
}

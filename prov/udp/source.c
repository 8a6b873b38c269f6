/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Who sent a datagram, for who keeps its own account of peers (NET_OPT_SOURCE): a number
 * with each completion, and the address behind it as long as not too many others have
 * sent.  So there is nothing here that grows with peers, or with who pretends to be one.
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

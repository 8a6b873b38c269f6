/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* The route of a connection as text: channel/route.h. */
#include <stdio.h>

#include "channel/route.h"
#include "conn.h"

void rxm_route(const struct chan *base, struct chan_route *path)
{
	const struct rxm_conn *conn = container_of(base, const struct rxm_conn, chan);
	const struct fi_info *below = rxm_link_of(base->link)->info;

	snprintf(path->way, sizeof(path->way), "connected endpoints of %s by %s",
		 below->fabric_attr->prov_name, below->domain_attr->name);
	if (conn->compat)
		path->format = "published";
	path->same_host = chan_route_same_host(base);
	chan_route_avoids(base, path);
}

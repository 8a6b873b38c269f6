/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* The path of a connection as text: channel/path.h. */
#include <stdio.h>

#include "channel/path.h"
#include "conn.h"

void rxm_path(const struct chan *base, struct chan_path *path)
{
	const struct rxm_conn *conn = container_of(base, const struct rxm_conn, chan);
	const struct fi_info *below = rxm_link_of(base->link)->info;

	snprintf(path->way, sizeof(path->way), "connected endpoints of %s by %s",
		 below->fabric_attr->prov_name, below->domain_attr->name);
	if (conn->compat)
		path->format = "published";
	path->same_host = chan_path_same_host(base);
	chan_path_avoids(base, path);
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* The path of a connection as text: channel/path.h. */
#include <stdio.h>

#include "channel/path.h"
#include "link.h"
#include "net/sock.h"

void tcp_path_said(struct tcp_chan *chan, const struct tcp_hello *hello)
{
	chan_path_said(&chan->base, chan_version_ours(TCP_WIRE_VERSION, TCP_WIRE_OLDEST), &hello->version,
		       hello->host);
}

static void lanes_text(const struct tcp_conn *conn, char *buf, size_t size)
{
	if (conn->lanes && conn->lanes->cnt > 1)
		snprintf(buf, size, ", %u lanes", conn->lanes->cnt);
}

void tcp_path(const struct chan *base, struct chan_path *path)
{
	const struct tcp_conn *conn = base->conn;
	const struct tcp_link *link = tcp_link_of(base->link);
	char from[NET_ADDR_TEXT_MAX], to[NET_ADDR_TEXT_MAX], lanes[32] = "";
	union net_sa local;

	if (net_sock_name(conn->src.fd, &local))
		net_addr_any(conn->peer.sa.sa_family, &local);
	lanes_text(conn, lanes, sizeof(lanes));
	snprintf(path->way, sizeof(path->way), "TCP from %s to %s%s%s%s", net_addr_text(&local.sa, from),
		 net_addr_text(&conn->peer.sa, to), *link->iface ? " by " : "", link->iface, lanes);
	if (conn->stream)
		path->format = "published";
	path->same_host = conn->same_host;
	chan_path_avoids(base, path);
}

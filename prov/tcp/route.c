/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* The route of a connection as text: channel/route.h. */
#include <linux/tcp.h>		/* has more of struct tcp_info than netinet/tcp.h */
#include <stdio.h>

/* conf.h defines a TCP_INFO that logs. */
enum { SOCKET_INFO = TCP_INFO };
#undef TCP_INFO

#include "channel/route.h"
#include "link.h"
#include "net/sock.h"

void tcp_route_said(struct tcp_chan *chan, const struct tcp_hello *hello)
{
	chan_route_said(&chan->base, chan_version_ours(TCP_WIRE_VERSION, TCP_WIRE_OLDEST), &hello->version,
		       hello->host);
}

static void recover_text(const struct tcp_conn *conn, char *buf, size_t size)
{
	char rails[TCP_RAILS_TEXT];

	tcp_rails_text(conn, rails, sizeof(rails));
	snprintf(buf, size, ", recovers, %u paths%s%s%s", tcp_recover_paths(conn), *rails ? " (" : "", rails,
		 *rails ? ")" : "");
}

static void lanes_text(const struct tcp_conn *conn, char *buf, size_t size)
{
	if (conn->lanes && conn->lanes->base.cnt > 1)
		snprintf(buf, size, ", %u lanes", conn->lanes->base.cnt);
	else if (conn->rec)
		recover_text(conn, buf, size);
}

/* add_traffic - of one socket, as its kernel counts it. */
static void add_traffic(int fd, struct chan_traffic *traffic)
{
	struct tcp_info info = { .tcpi_state = 0 };
	socklen_t len = sizeof(info);

	if (getsockopt(fd, IPPROTO_TCP, SOCKET_INFO, &info, &len))
		return;
	traffic->sent_bytes += info.tcpi_bytes_sent;
	traffic->got_bytes += info.tcpi_bytes_received;
	traffic->resent_bytes += info.tcpi_bytes_retrans;
	if (!traffic->rtt_ns)
		traffic->rtt_ns = info.tcpi_rtt * UINT64_C(1000);
}

static void find_traffic(const struct tcp_conn *conn, struct chan_traffic *traffic)
{
	unsigned i;

	if (!conn->rec)
		add_traffic(conn->src.fd, traffic);
	for (i = 0; conn->rec && i < TCP_LANES_MAX; i++)
		if (tcp_recover_path_fd(conn, i) >= 0)
			add_traffic(tcp_recover_path_fd(conn, i), traffic);
	for (i = 1; conn->lanes && i < conn->lanes->base.cnt; i++)
		if (tcp_lane(conn->lanes, i))
			add_traffic(tcp_lane(conn->lanes, i)->src.fd, traffic);
}

void tcp_route(const struct chan *base, struct chan_route *path)
{
	const struct tcp_conn *conn = base->conn;
	const struct tcp_link *link = tcp_link_of(base->link);
	char from[NET_ADDR_TEXT_MAX], to[NET_ADDR_TEXT_MAX], lanes[TCP_RAILS_TEXT + 32] = "";
	union net_sa local;

	if (net_sock_name(conn->rec ? tcp_recover_fd(conn) : conn->src.fd, &local))
		net_addr_any(conn->peer.sa.sa_family, &local);
	lanes_text(conn, lanes, sizeof(lanes));
	snprintf(path->way, sizeof(path->way), "TCP from %s to %s%s%s%s%s%s", net_addr_text(&local.sa, from),
		 net_addr_text(&conn->peer.sa, to), *link->iface ? " by " : "", link->iface, lanes,
		 conn->sec ? ", " : "", conn->sec ? tcp_sec_text(conn) : "");
	if (conn->stream)
		path->format = "published";
	path->same_host = conn->same_host;
	find_traffic(conn, &path->traffic);
	chan_route_avoids(base, path);
	chan_route_slow(link->iface, conn->peer.sa.sa_family, path);
}

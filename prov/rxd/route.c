/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* The route of a connection as text: channel/route.h. */
#include <stdio.h>
#include <string.h>

#include "channel/route.h"
#include "conn.h"
#include "rxd/sealed.h"

void rxd_route_said(struct rxd_conn *conn, const struct rxd_hello *hello)
{
	const struct rxd_release *release = &hello->release;
	bool sealed = rxd_conn_link(conn)->guard != NULL;
	struct chan_version ours = sealed ? chan_version_ours(RXD_SEALED_VERSION, RXD_SEALED_OLDEST) :
					    chan_version_ours(RXD_VERSION, RXD_OLDEST);
	struct chan_version theirs = {
		.link = sealed ? RXD_SEALED_VERSION : RXD_VERSION,
		.link_oldest = hello->oldest,
		.engine = hello->engine,
		.engine_oldest = hello->engine_oldest,
		.release = { release->number[0], release->number[1], release->number[2], 0,
			     release->commit },
	};

	chan_route_said(&conn->chan, ours, &theirs, 0);
}

static void add_rails(const struct rxd_conn *conn, char *way, size_t size)
{
	static const char by[] = ", by ";
	size_t len = strlen(way);

	if (!conn->chan.paths || len + sizeof(by) >= size)
		return;
	memcpy(way + len, by, sizeof(by));
	rxd_rails_text(conn, way + len + sizeof(by) - 1, size - len - sizeof(by) + 1);
}

void rxd_route(const struct chan *base, struct chan_route *path)
{
	const struct rxd_conn *conn = (const struct rxd_conn *) base;	/* its first member */
	const char *guard = rxd_guard_text(rxd_conn_link(conn));
	char text[CHAN_TEXT_MAX];

	snprintf(path->way, sizeof(path->way), "acknowledged%s%s datagrams of up to %u bytes from %s",
		 *guard ? ", " : "", guard, conn->mtu.now, base->link->addr_len ?
		 chan_text(base->link, base->link->addr, base->link->addr_len, text) : "this host");
	add_rails(conn, path->way, sizeof(path->way));
	path->traffic.sent_bytes = conn->nxt;
	path->traffic.got_bytes = conn->rcv_nxt;
	path->traffic.rtt_ns = conn->rtt.min ? conn->rtt.smooth : 0;
	path->same_host = !base->link->msg && chan_route_same_host(base);
	chan_route_avoids(base, path);
}

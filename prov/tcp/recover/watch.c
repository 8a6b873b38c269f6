/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* watch.c - which paths stand, and when to look at them (join.c does). */
#include "tcp/recover/state.h"

#include <stdio.h>
#include <string.h>

int tcp_recover_fd(const struct tcp_conn *conn)
{
	const struct tcp_path *path = conn->rec->path;

	while (path < conn->rec->path + TCP_LANES_MAX && !tcp_path_stands(path))
		path++;
	return path < conn->rec->path + TCP_LANES_MAX ? path->src.fd : -1;
}

unsigned tcp_recover_paths(const struct tcp_conn *conn)
{
	unsigned cnt = 0, i;

	for (i = 0; i < TCP_LANES_MAX; i++)
		cnt += tcp_path_stands(&conn->rec->path[i]);
	return cnt;
}

int tcp_recover_path_fd(const struct tcp_conn *conn, unsigned i)
{
	return i < TCP_LANES_MAX && tcp_path_stands(&conn->rec->path[i]) ? conn->rec->path[i].src.fd : -1;
}

void tcp_rails_text(const struct tcp_conn *conn, char *buf, size_t size)
{
	const struct tcp_rails *rails = conn->link->rails;
	size_t len;
	unsigned i;

	*buf = '\0';
	for (i = 0; conn->rec && conn->rec->ex.on && rails && i < rails->cnt; i++) {
		len = strlen(buf);
		if (tcp_rail_stands(conn->rec, (int) i))
			snprintf(buf + len, size - len, "%s%s", len ? "+" : "", rails->rail[i].iface);
	}
}

bool tcp_recover_has_all(const struct tcp_recover *rec)
{
	return rec->peer_ended && rec->got.next >= rec->peer_end;
}

void tcp_recover_set_tick(struct tcp_recover *rec, uint64_t due_ns)
{
	if (rec->joined)
		chan_poller_timer(&rec->conn->poller->base, &rec->timer, due_ns);
}

void tcp_recover_lost(struct tcp_recover *rec)
{
	if (rec->conn->state != TCP_CONN_READY || tcp_recover_paths(rec->conn) || tcp_recover_has_all(rec))
		return;
	rec->down_ns = chan_poller_now(&rec->conn->poller->base);
	tcp_recover_set_tick(rec, 0);
}

void tcp_recover_watch(struct tcp_recover *rec)
{
	if (!rec->timer.at)
		tcp_recover_set_tick(rec, chan_poller_now(&rec->conn->poller->base) + TCP_RECOVER_TICK_NS);
}

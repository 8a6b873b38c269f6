/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* watch.c - which paths stand, and when to look at them (join.c does). */
#include "tcp/recover/state.h"

#include <linux/tcp.h>		/* has more of struct tcp_info than netinet/tcp.h */
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

enum { SOCKET_INFO = TCP_INFO };	/* conf.h defines a TCP_INFO that logs */
#undef TCP_INFO

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

/* rail_carried - bytes that the peer's kernel has of a path by our interface @ours.  False: none stands. */
static bool rail_carried(const struct tcp_recover *rec, int ours, uint64_t *bytes_p)
{
	const struct tcp_path *path = rec->path;
	struct tcp_info info = { .tcpi_state = 0 };
	socklen_t len = sizeof(info);

	while (path < rec->path + TCP_LANES_MAX && !(tcp_path_stands(path) && path->ours == ours))
		path++;
	if (path == rec->path + TCP_LANES_MAX)
		return false;
	*bytes_p = getsockopt(path->src.fd, IPPROTO_TCP, SOCKET_INFO, &info, &len) ? 0 : info.tcpi_bytes_acked;
	return true;
}

void tcp_rails_text(const struct tcp_conn *conn, char *buf, size_t size)
{
	const struct tcp_rails *rails = conn->link->rails;
	unsigned cnt = conn->rec && conn->rec->ex.on && rails ? rails->cnt : 0, i;
	uint64_t bytes[NET_RAILS_MAX] = { 0 }, sum = 0;
	bool stands[NET_RAILS_MAX];
	size_t len;

	*buf = '\0';
	for (i = 0; i < cnt; i++) {
		stands[i] = rail_carried(conn->rec, (int) i, &bytes[i]);
		sum += bytes[i];
	}
	for (i = 0; i < cnt; i++) {
		len = strlen(buf);
		if (stands[i])
			snprintf(buf + len, size - len, "%s%s %u %%", len ? ", " : "", rails->rail[i].iface,
				 sum ? (unsigned) (bytes[i] * 100 / sum) : 0);
		else
			snprintf(buf + len, size - len, "%s%s not in use", len ? ", " : "", rails->rail[i].iface);
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
	if (rec->conn->state != TCP_CONN_READY || tcp_recover_has_all(rec))
		return;
	if (tcp_recover_paths(rec->conn)) {
		tcp_recover_watch(rec);		/* another one may be wanted, also where nothing is sent */
		return;
	}
	rec->down_ns = chan_poller_now(&rec->conn->poller->base);
	tcp_recover_set_tick(rec, 0);
}

/* A timer that is set costs each poll a look at the clock: bytes that are in flight wait on a list, which is looked at by
 * the clock that the poll has read.
 */
void tcp_recover_watch_paths(struct tcp_recover *rec)
{
	struct tcp_poller *poller = rec->conn->poller;

	if (!rec->joined)
		return;
	list_add_tail(&rec->watch_node, &poller->watched);
	if (poller->watch_due_ns != UINT64_MAX)
		return;
	poller->watch_due_ns = clock_coarse_ns() + TCP_RECOVER_TICK_NS;
	tcp_poller_check_by(poller, poller->watch_due_ns);
}

void tcp_recover_look(struct tcp_poller *poller)
{
	struct tcp_recover *rec;

	poller->watch_due_ns = UINT64_MAX;
	while ((rec = list_pop_entry(&poller->watched, struct tcp_recover, watch_node)))
		tcp_recover_set_tick(rec, 0);
}

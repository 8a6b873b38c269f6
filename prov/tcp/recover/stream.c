/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* stream.c - what tx.c and read.c give and take of a connection that recovers: bytes of its stream. */
#include "tcp/recover/state.h"

#include <rdma/fi_errno.h>
#include <sys/ioctl.h>
#include <linux/sockios.h>

ssize_t tcp_recover_send(struct tcp_conn *conn, const struct iovec *iov, size_t cnt)
{
	size_t len = chan_kept_put(&conn->rec->kept, iov, cnt);

	tcp_paths_send(conn->rec);
	return (ssize_t) len;
}

void tcp_recover_end(struct tcp_conn *conn)
{
	conn->rec->ended = true;
	tcp_paths_push(conn->rec);
}

bool tcp_recover_done(const struct tcp_conn *conn)
{
	const struct tcp_recover *rec = conn->rec;
	const struct tcp_path *path;
	int bytes, up = 0;

	if (chan_kept_waits(&rec->kept) || rec->ended != rec->end_sent)
		return false;
	for (path = rec->path; path < rec->path + TCP_LANES_MAX; path++) {
		if (!tcp_path_stands(path))
			continue;
		up += !path->mute;
		if (path->mute)
			continue;
		if (path->sending || (!ioctl(path->src.fd, SIOCOUTQ, &bytes) && bytes > 0))
			return false;
	}
	return up || rec->kept.taken == rec->kept.end;
}

int tcp_recover_read(struct tcp_conn *conn)
{
	struct tcp_recover *rec = conn->rec;
	struct tcp_path *best = rec->best;
	uint64_t reads = rec->reads;

	if (best)
		best->src.event(&best->src, POLLIN);
	return (int) (rec->reads - reads);
}

size_t tcp_recover_take(struct tcp_conn *conn, void *buf, size_t most)
{
	struct tcp_recover *rec = conn->rec;
	size_t len = chan_got_take(&rec->got, buf, most);

	if (rec->got.taken - rec->said >= TCP_SAY_EVERY)
		tcp_paths_say(rec);
	return len;
}

bool tcp_recover_has_input(const struct tcp_conn *conn)
{
	const struct tcp_recover *rec = conn->rec;

	return rec && (chan_got_waits(&rec->got) || (rec->peer_ended && rec->got.taken >= rec->peer_end));
}

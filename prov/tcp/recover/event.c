/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * event.c - what the set reports of a path.  The paths know nothing of what is above them; here the reader goes on with
 * what has arrived, and the sender where there is room again.
 */
#include <rdma/fi_errno.h>

#include "tcp/recover/state.h"

#define READS_MAX 16		/* of one event */

/* tcp_path_event - input is read until there is none: the window bounds it. */
void tcp_path_event(struct chan_src *src, uint32_t events)
{
	struct tcp_path *path = container_of(src, struct tcp_path, src);
	struct tcp_recover *rec = path->rec;
	struct tcp_conn *conn = rec->conn;
	int ret = 1, i;

	if (conn->state != TCP_CONN_READY)
		return;
	conn->used_seq = conn->poller->base.seq;
	if (events & POLLOUT) {
		path->blocked = false;
		tcp_path_watch(path);
	}
	for (i = 0; i < READS_MAX && ret > 0 && path->src.fd >= 0 && events & ~(uint32_t) POLLOUT; i++)
		ret = tcp_path_read(path);
	if (ret < 0 && path->unproven) {
		tcp_path_close(path);	/* another process, which is not the peer */
		return;
	}
	if (ret < 0) {
		tcp_rx_refuse(conn, "an impossible record");
		return;
	}
	tcp_paths_push(rec);
	if (conn->tx.blocked && rec->kept.end - rec->kept.taken < rec->kept.size)
		tcp_tx_pump(conn);
	if (conn->state == TCP_CONN_READY && !conn->rx.kept && chan_got_waits(&rec->got))
		tcp_rx_resume(conn);
	tcp_recover_taken(conn);
}

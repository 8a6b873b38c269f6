/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* What the set reports of a connection that carries a channel. */
#include <rdma/fi_errno.h>

#include "types.h"

#define ACKS_EVERY 32		/* events of input between two times that ACKs are delayed */

/* few_acks - a peer on the same host that sends and gets nothing, as in many collectives, would be sent an
 * ACK for each packet that is read; it needs none of them soon.
 */
static void few_acks(struct tcp_conn *conn)
{
	if (conn->same_host && conn->state == TCP_CONN_READY && !(conn->acks++ % ACKS_EVERY))
		net_sock_delay_acks(conn->src.fd);
}

/* Output first: it may end the connection, and input is then read no more. */
void tcp_event(struct chan_src *src, uint32_t events)
{
	struct tcp_conn *conn = container_of(src, struct tcp_conn, src);

	tcp_conn_note_end(conn, events);
	if (events & POLLOUT)
		tcp_tx_pump(conn);
	if (conn->state == TCP_CONN_READY && !conn->rx.kept && events & ~(uint32_t) POLLOUT) {
		tcp_poller_activate(conn->poller, conn);
		tcp_rx_read(conn, OBJ_POLL_BUDGET);
		few_acks(conn);
	}
	if (conn->state == TCP_CONN_READY && conn->rx.body == TCP_BODY_OTHERS && !conn->rx.masked) {
		conn->rx.masked = true;
		tcp_conn_watch(conn);
	}
	/* the peer has reset the connection, and what it announced is not wanted yet */
	if (conn->stream && conn->rx.masked && events & POLLERR)
		tcp_conn_fail(conn, FI_ECONNRESET, false);
	/* nothing is read now, so the end of the stream is found later: ask for no event until then */
	if (conn->state == TCP_CONN_READY && (conn->rx.kept || conn->rx.masked) &&
	    events & (POLLHUP | POLLERR))
		chan_src_want(&conn->poller->base, &conn->src, 0);
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Does a silent peer still have the connection?  PROBE asks the peer, RESET is the answer that it does not; and
 * the system at its address may answer that there is no such socket.
 */
#include <rdma/fi_errno.h>
#include <string.h>

#include "base/net_addr.h"
#include "conn.h"

#define REFUSALS 3			/* in a row: a firewall that is being reloaded refuses, too */

/* put_probe - returns its length. */
static size_t put_probe(const struct rxd_conn *conn, uint8_t *buf)
{
	struct rxd_link *link = rxd_conn_link(conn);
	struct rxd_probe probe = { .cid = htole64(conn->cid),
				   .addr_len = (uint8_t) link->base.addr_len };
	size_t len = rxd_put_hdr(buf, RXD_PROBE, RXD_F_SUM, conn->peer_cid, 0);

	memcpy(probe.addr, link->addr, link->base.addr_len);
	net_addr_wire(probe.addr, link->base.addr_len, NET_ADDR_BIG);
	memcpy(buf + len, &probe, sizeof(probe));
	return len + sizeof(probe);
}

void rxd_probe_send(struct rxd_conn *conn)
{
	uint8_t buf[sizeof(struct rxd_hdr) + sizeof(struct rxd_probe)];
	struct rxd_link *link = rxd_conn_link(conn);
	struct iovec iov = { buf, put_probe(conn, buf) };

	/* a peer that was restarted cannot open the sealed one */
	if (link->guard) {
		rxd_guard_mark(buf);
		rxd_seal(buf, iov.iov_len, NULL, 0);
		rxd_dg_send(link->dg, conn->to, &iov, 1);
		put_probe(conn, buf);
	}
	rxd_conn_control(conn, buf, iov.iov_len);
}

void rxd_probe_answer(struct rxd_conn *conn)
{
	uint64_t now = rxd_now(rxd_conn_poller(conn));

	conn->received_ns = now;
	rxd_tx_ping(conn, now);
	rxd_conn_rearm(conn, now);
}

void rxd_on_probe(struct rxd_link *link, const struct rxd_pkt *pkt)
{
	struct rxd_conn *conn = hmap_find(&link->by_cid, pkt->conn);
	uint8_t buf[sizeof(struct rxd_hdr) + sizeof(struct rxd_reset)];
	size_t len;

	if (conn && rxd_conn_alive(conn) && conn->peer_cid == pkt->cid) {
		rxd_probe_answer(conn);
		return;
	}
	if (conn || pkt->addr_len != link->base.addr_len)
		return;
	len = rxd_put_hdr(buf, RXD_RESET, RXD_F_SUM, pkt->cid, 0);
	rxd_put_u64(buf, len, pkt->conn);
	rxd_link_reply(link, pkt->addr, buf, sizeof(buf));
}

/* on_refusal - the system at the address of a peer says that it has no such socket.  It is believed if
 * it quotes our question: a host that forges an answer does not know the ids in it.
 */
static void on_refusal(struct rxd_link *link, const uint8_t *buf, size_t len)
{
	struct rxd_conn *conn;
	struct rxd_pkt pkt;

	if (rxd_parse(buf, len, &pkt) || pkt.type != RXD_PROBE)
		return;
	conn = hmap_find(&link->by_cid, pkt.cid);
	if (!conn || !rxd_conn_alive(conn) || conn->peer_cid != pkt.conn || !conn->asked)
		return;
	conn->asked = false;	/* the same answer once more says nothing new */
	if (++conn->refusals == REFUSALS)
		rxd_conn_fail(conn, FI_ECONNRESET, conn->shut);
}

void rxd_ask(struct rxd_conn *conn)
{
	_Alignas(8) uint8_t quoted[RXD_ASK_MAX];
	uint8_t buf[sizeof(struct rxd_hdr) + sizeof(struct rxd_probe)];
	struct rxd_dg *dg = rxd_conn_link(conn)->dg;
	size_t len;

	_Static_assert(sizeof(buf) <= RXD_ASK_MAX, "it fits");
	while ((len = rxd_dg_refused(dg, quoted)))
		on_refusal(rxd_conn_link(conn), quoted, len);
	if (!rxd_conn_alive(conn))
		return;
	conn->asked = true;
	len = put_probe(conn, buf);
	rxd_seal(buf, len, NULL, 0);
	rxd_dg_ask(dg, conn->to, buf, len);
}

/* A peer that has no WELCOME yet may have begun its attempt again, under another id: that ends nothing. */
void rxd_on_clear_reset(struct rxd_conn *conn, const struct rxd_pkt *pkt)
{
	if (rxd_conn_alive(conn) && conn->confirmed && conn->peer_cid == pkt->cid &&
	    rxd_sec_is_reset(rxd_sec_of(conn), pkt))
		rxd_conn_fail(conn, FI_ECONNRESET, conn->shut);
}

void rxd_on_reset(struct rxd_conn *conn, const struct rxd_pkt *pkt)
{
	if (rxd_conn_alive(conn) && conn->peer_cid == pkt->cid)
		rxd_conn_fail(conn, FI_ECONNRESET, conn->shut);
}

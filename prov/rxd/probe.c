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

/* asked_for - the connection that a probe of ours names.  The peer's id is not known before its WELCOME: then ours stands
 * in its place, which names none at the peer.
 */
static uint64_t asked_for(const struct rxd_conn *conn)
{
	return conn->peer_cid ? conn->peer_cid : conn->cid;
}

/* put_probe - returns its length. */
static size_t put_probe(const struct rxd_conn *conn, uint8_t *buf)
{
	struct rxd_link *link = rxd_conn_link(conn);
	struct rxd_probe probe = { .cid = htole64(conn->cid),
				   .addr_len = (uint8_t) link->base.addr_len };
	size_t len = rxd_put_hdr(buf, RXD_PROBE, RXD_F_SUM, asked_for(conn), 0);

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
	/* that of rxd_ask_connecting() is a question to the system here */
	if (conn || pkt->conn == pkt->cid || pkt->addr_len != link->base.addr_len)
		return;
	len = rxd_put_hdr(buf, RXD_RESET, RXD_F_SUM, pkt->cid, 0);
	rxd_put_u64(buf, len, pkt->conn);
	rxd_link_reply(link, pkt->addr, buf, sizeof(buf));
}

/* socket_gone - a connection is lost then.  A peer that has answered our handshake has ended in it: from now on it is
 * waited for like one that has never answered, since it may start again.
 */
static void socket_gone(struct rxd_conn *conn)
{
	if (rxd_conn_alive(conn))
		rxd_conn_fail(conn, FI_ECONNRESET, conn->shut);
	else
		conn->handshake->answered = false;
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
	if (!conn || asked_for(conn) != pkt.conn || !conn->asked ||
	    (!rxd_conn_alive(conn) && conn->chan.state != CHAN_CONNECTING))
		return;
	conn->asked = false;	/* the same answer once more says nothing new */
	if (++conn->refusals == REFUSALS)
		socket_gone(conn);
}

/* take_refusals - what systems have said since the last question of the link. */
static void take_refusals(struct rxd_link *link)
{
	_Alignas(8) uint8_t quoted[RXD_ASK_MAX];
	size_t len;

	while ((len = rxd_dg_refused(link->dg, quoted)))
		on_refusal(link, quoted, len);
}

static void put_question(struct rxd_conn *conn)
{
	uint8_t buf[sizeof(struct rxd_hdr) + sizeof(struct rxd_probe)];
	size_t len = put_probe(conn, buf);

	_Static_assert(sizeof(buf) <= RXD_ASK_MAX, "it fits");
	rxd_seal(buf, len, NULL, 0);
	conn->asked = true;
	rxd_dg_ask(rxd_conn_link(conn)->dg, conn->to, buf, len);
}

void rxd_ask(struct rxd_conn *conn)
{
	take_refusals(rxd_conn_link(conn));
	if (rxd_conn_alive(conn))
		put_question(conn);
}

void rxd_ask_connecting(struct rxd_conn *conn)
{
	take_refusals(rxd_conn_link(conn));
	if (conn->handshake->answered)
		put_question(conn);
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

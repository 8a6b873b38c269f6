/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Connection migration: the address of a peer changes, since its host has moved to another
 * network, or since an address translator (NAT) has assigned another one.
 *
 * Packets from a new source alone prove nothing: a source address is easily forged, and a
 * packet easily forwarded from elsewhere.  So only the packet with the highest number starts
 * path validation, its challenge is no longer than that packet, and nothing else is sent to
 * the new address before the response has come from there.  The connection stays as it is,
 * and so do the peer's name and its fi_addr_t; what was measured on the old path is discarded.
 * Source: RFC 9000 sections 8.2, 9.3 and 9.4.
 */
#include <stdlib.h>

#include "conn.h"

struct rxd_migration *rxd_migration_of(const struct rxd_conn *conn)
{
	struct rxd_migration *migration;

	list_for_each_entry(migration, &rxd_conn_link(conn)->migrations, node)
		if (migration->conn == conn)
			return migration;
	return NULL;
}

void rxd_migration_drop(struct rxd_conn *conn)
{
	struct rxd_migration *migration = rxd_migration_of(conn);

	if (migration) {
		list_del(&migration->node);
		free(migration);
	}
}

/* One validation of a connection at a time.  NULL: no memory. */
static struct rxd_migration *migration_new(struct rxd_conn *conn)
{
	struct rxd_migration *migration = calloc(1, sizeof(*migration));

	if (!migration)
		return NULL;
	migration->conn = conn;
	list_add_tail(&migration->node, &rxd_conn_link(conn)->migrations);
	return migration;
}

static size_t challenge_put(const struct rxd_conn *conn, enum rxd_type type, uint64_t challenge, uint8_t *buf)
{
	return rxd_put_hdr(buf, type, RXD_F_SUM | RXD_F_PN, conn->peer_cid, challenge);
}

static void challenge_send(struct rxd_conn *conn, const struct rxd_migration *migration)
{
	uint8_t addr[RXD_ADDR_MAX], buf[sizeof(struct rxd_hdr)];
	struct rxd_link *link = rxd_conn_link(conn);
	size_t len;

	if (rxd_dg_source(link->dg, migration->source, addr, &len) || len != link->base.addr_len)
		return;
	len = challenge_put(conn, RXD_PATH_CHALLENGE, migration->challenge, buf);
	if (link->guard)
		rxd_sec_reply(rxd_sec_of(conn), link, addr, buf, len);
	else
		rxd_link_reply(link, addr, buf, len);
}

void rxd_on_new_source(struct rxd_conn *conn, uint64_t source, uint64_t now)
{
	struct rxd_migration *migration;

	if (!conn->source) {	/* the first packet shows where the peer is */
		conn->source = source;
		return;
	}
	migration = rxd_migration_of(conn);
	if (migration && now < migration->sent_ns + rxd_rtt_probe_after(&conn->rtt, 0))
		return;
	if (!migration)
		migration = migration_new(conn);
	if (!migration)
		return;		/* a later packet starts it */
	migration->source = source;
	migration->sent_ns = now;
	do {
		migration->challenge = rxd_dg_random() & RXD_PN_MAX;
	} while (!migration->challenge);
	challenge_send(conn, migration);
}

/* The response goes to the peer's known address, not to the source of the challenge. */
void rxd_on_path_challenge(struct rxd_conn *conn, const struct rxd_pkt *pkt)
{
	uint8_t buf[sizeof(struct rxd_hdr)];

	if (rxd_conn_alive(conn))
		rxd_conn_control(conn, buf, challenge_put(conn, RXD_PATH_RESPONSE, pkt->pn, buf));
}

static void log_migration(struct rxd_conn *conn, fi_addr_t was, const void *addr)
{
	char name[CHAN_TEXT_MAX], old[CHAN_TEXT_MAX], new[CHAN_TEXT_MAX];
	struct chan_link *link = conn->chan.link;
	uint8_t before[RXD_ADDR_MAX];

	if (rxd_dg_addr(rxd_conn_link(conn)->dg, was, before))
		return;
	CHAN_INFO(link, "the address of %s has changed from %s to %s: the connection continues there\n",
		  chan_peer_text(&conn->chan, name), chan_text(link, before, link->addr_len, old),
		  chan_text(link, addr, link->addr_len, new));
}

void rxd_on_path_response(struct rxd_conn *conn, const struct rxd_pkt *pkt, uint64_t source)
{
	struct rxd_migration *migration = rxd_migration_of(conn);
	struct rxd_link *link = rxd_conn_link(conn);
	uint8_t addr[RXD_ADDR_MAX];
	uint64_t now = rxd_now(rxd_conn_poller(conn));
	fi_addr_t to;
	size_t len;

	if (!rxd_conn_alive(conn) || !migration || pkt->pn != migration->challenge ||
	    source != migration->source)
		return;
	if (rxd_dg_source(link->dg, source, addr, &len) || rxd_dg_peer(link->dg, addr, &to))
		return;		/* another challenge follows */
	log_migration(conn, conn->to, addr);
	rxd_dg_forget(link->dg, conn->to);
	conn->to = to;
	conn->source = source;
	conn->received_ns = now;
	rxd_migration_drop(conn);
	rxd_tx_new_path(conn);
	rxd_tx_ping(conn, now);		/* the peer then sees a change of our address, too */
	rxd_conn_schedule(conn);
	rxd_conn_rearm(conn, now);
}

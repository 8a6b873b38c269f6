/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * A peer whose address changes: a host that moves to another network, or one behind a
 * translator that forgets it.  Its packets come from somewhere else then.  That alone may
 * be a lie, for a source is easily forged, and a packet easily sent on from elsewhere; so
 * only the newest packet makes us ask, what is asked is no longer than it, and nothing
 * else goes there before the answer has come from there.  The connection stays as it is,
 * and so do the peer's name and its fi_addr_t; its path begins anew.
 * Source: RFC 9000 sections 8.2, 9.3 and 9.4.
 */
#include <stdlib.h>
#include <string.h>

#include "conn.h"

struct rxd_move *rxd_move_of(const struct rxd_conn *conn)
{
	struct rxd_move *move;
	struct list *pos;

	list_for_each(pos, &conn->link->moves) {
		move = container_of(pos, struct rxd_move, node);
		if (move->conn == conn)
			return move;
	}
	return NULL;
}

void rxd_move_forget(struct rxd_conn *conn)
{
	struct rxd_move *move = rxd_move_of(conn);

	if (move) {
		list_del(&move->node);
		free(move);
	}
}

/* One question at a time.  NULL: no memory. */
static struct rxd_move *move_new(struct rxd_conn *conn)
{
	struct rxd_move *move = calloc(1, sizeof(*move));

	if (!move)
		return NULL;
	move->conn = conn;
	list_add_tail(&move->node, &conn->link->moves);
	return move;
}

static size_t put(const struct rxd_conn *conn, enum rxd_type type, uint64_t nonce, uint8_t *buf)
{
	return rxd_put_hdr(buf, type, RXD_F_SUM | RXD_F_PN, conn->peer_cid, nonce);
}

static void ask(struct rxd_conn *conn, const struct rxd_move *move)
{
	struct rxd_link *link = conn->link;
	uint8_t addr[RXD_ADDR_MAX], buf[sizeof(struct rxd_hdr)];
	size_t len;

	if (!rxd_dg_source(link->dg, move->source, addr, &len) && len == link->addr_len)
		rxd_link_answer(link, addr, buf, put(conn, RXD_WHERE, move->nonce, buf));
}

void rxd_on_elsewhere(struct rxd_conn *conn, uint64_t source, uint64_t now)
{
	struct rxd_move *move;

	if (!conn->source) {	/* the first packet: there it is */
		conn->source = source;
		return;
	}
	move = rxd_move_of(conn);
	if (move && now < move->asked_ns + rxd_rtt_probe_after(&conn->rtt, 0))
		return;
	if (!move)
		move = move_new(conn);
	if (!move)
		return;		/* with a later packet, then */
	move->source = source;
	move->asked_ns = now;
	do {
		move->nonce = rxd_dg_random() & RXD_PN_MAX;
	} while (!move->nonce);
	ask(conn, move);
}

/* The answer goes where the peer is, not where the question may have come from. */
void rxd_on_where(struct rxd_conn *conn, const struct rxd_pkt *pkt)
{
	uint8_t buf[sizeof(struct rxd_hdr)];
	struct iovec iov = { buf, sizeof(buf) };

	if (conn->state != RXD_READY)
		return;
	put(conn, RXD_HERE, pkt->pn, buf);
	rxd_seal(buf, sizeof(buf), NULL, 0);
	rxd_dg_send(conn->link->dg, conn->to, &iov, 1);
}

static void say(struct rxd_conn *conn, fi_addr_t was, const void *addr)
{
	char name[RXD_TEXT], old[RXD_TEXT], new[RXD_TEXT];
	uint8_t before[RXD_ADDR_MAX];

	if (rxd_dg_addr(conn->link->dg, was, before))
		return;
	RXD_INFO("the address of %s has changed from %s to %s: the connection goes on there\n",
		 rxd_conn_text(conn, name), rxd_addr_text(before, conn->link->addr_len, old),
		 rxd_addr_text(addr, conn->link->addr_len, new));
}

void rxd_on_here(struct rxd_conn *conn, const struct rxd_pkt *pkt, uint64_t source)
{
	struct rxd_move *move = rxd_move_of(conn);
	struct rxd_link *link = conn->link;
	uint8_t addr[RXD_ADDR_MAX];
	uint64_t now = rxd_dg_now();
	fi_addr_t to;
	size_t len;

	if (conn->state != RXD_READY || !move || pkt->pn != move->nonce || source != move->source)
		return;
	if (rxd_dg_source(link->dg, source, addr, &len) || rxd_dg_peer(link->dg, addr, &to))
		return;		/* it is asked again */
	say(conn, conn->to, addr);
	rxd_dg_forget(link->dg, conn->to);
	conn->to = to;
	conn->source = source;
	conn->heard_ns = now;
	rxd_move_forget(conn);
	rxd_tx_new_path(conn);
	rxd_tx_ping(conn, now);		/* so that the peer learns of a change on our side, too */
	rxd_conn_touch(conn);
	rxd_conn_rearm(conn, now);
}

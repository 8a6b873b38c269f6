/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Peers that take nothing.  A send is complete when its slot is written, so that no operation need wait for a peer
 * that is stopped, or computes.  What tells is the number of slots that it has taken, which stands still.
 *
 * Sends do nothing for that.  Once a second a poll that asks the sockets anyway looks at all active connections;
 * one with slots that may not be taken yet is on poller->unread until they are.  Connections from which nothing comes
 * are not active: the first send after a poll lists them (tx.c).  A thread that falls asleep wakes for the next
 * look as long as one that is listed has not been logged.
 */
#include "shm/link.h"

#define UNREAD_EVERY_NS CLOCK_NS_PER_S

void shm_unread_begin(struct shm_conn *conn, uint64_t now)
{
	struct shm_poller *poller = conn->poller;

	if (!list_empty(&conn->unread_node) || !conn->ready || conn->src.fd < 0)
		return;
	list_add_tail(&conn->unread_node, &poller->unread);
	conn->unread_pos = conn->out.seen_pos;
	conn->unread_ns = now;
	conn->unread_logged = false;
	if (!poller->unread_cnt++ && poller->unread_due_ns <= now)
		poller->unread_due_ns = now + UNREAD_EVERY_NS;
}

void shm_unread_end(struct shm_conn *conn)
{
	if (list_empty(&conn->unread_node))
		return;
	list_del(&conn->unread_node);
	conn->poller->unread_cnt -= !conn->unread_logged;
}

static void log_unread(struct shm_conn *conn, uint64_t now)
{
	conn->unread_logged = true;
	conn->poller->unread_cnt--;
	if (conn->out.stall_logged)	/* by what waits for room */
		return;
	conn->out.stall_logged = true;
	chan_log_stall(&conn->chan->base, now - conn->unread_ns);
}

/* look_at - has the peer taken all, or some, since the last look? */
static void look_at(struct shm_conn *conn, uint64_t now)
{
	struct shm_out *out = &conn->out;

	shm_out_look(out);
	if (out->bad)
		return;		/* the next send that needs room ends the connection */
	if (out->seen_pos != conn->unread_pos && !out->wait_ns)
		out->stall_logged = false;
	if (out->seen_pos == out->pos || conn->ended) {
		shm_unread_end(conn);
	} else if (out->seen_pos != conn->unread_pos) {
		shm_unread_end(conn);
		shm_unread_begin(conn, now);
	} else if (!conn->unread_logged && now - conn->unread_ns >= CHAN_STALL_NS) {
		log_unread(conn, now);
	}
}

void shm_unread_check(struct shm_poller *poller, uint64_t now)
{
	struct shm_conn *conn, *next;
	unsigned i;

	for (i = 0; i < poller->active_cnt; i++)
		shm_unread_mark(poller->active[i], now);
	list_for_each_entry_safe(conn, next, &poller->unread, unread_node)
		look_at(conn, now);
	poller->unread_due_ns = now + UNREAD_EVERY_NS;
}

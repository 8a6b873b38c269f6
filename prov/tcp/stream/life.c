/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * The life of a connection in the compatible format, and the upcalls that have to wait for a poll.
 */
#include "tcp/stream/state.h"

#include <rdma/fi_errno.h>
#include <stdlib.h>

#include "engine/api.h"

/* ---- what waits for answers ---------------------------------------------------------- */

struct note *tcp_stream_note(struct list *notes, uint32_t id, uint64_t len)
{
	struct note *note = calloc(1, sizeof(*note));

	if (!note)
		return NULL;
	note->id = id;
	note->len = len;
	list_add_tail(&note->node, notes);
	return note;
}

void tcp_stream_note_free(struct note *note)
{
	list_del(&note->node);
	free(note->buf);
	free(note);
}

struct note *tcp_stream_find(const struct list *notes, uint32_t id)
{
	struct note *note;

	list_for_each_entry(note, notes, node)
		if (note->id == id)
			return note;
	return NULL;
}

struct rts *tcp_stream_rts(const struct tcp_stream *s, uint32_t id)
{
	struct rts *rts;

	list_for_each_entry(rts, &s->rts, node)
		if (rts->id == id)
			return rts;
	return NULL;
}

uint32_t tcp_stream_new_id(struct tcp_stream *s)
{
	if (!s->next_id)
		s->next_id++;
	return s->next_id++;
}

int tcp_stream_broken(struct tcp_conn *conn, const char *why)
{
	char text[NET_ADDR_TEXT_MAX];

	TCP_WARN_SPARSE(conn->link->conf, "%s: %s; the connection is closed, since the protocol has no "
			"answer for it\n", net_addr_text(&conn->peer.sa, text), why);
	tcp_conn_fail(conn, FI_EPROTO, false);
	return 1;
}

/* ---- the next poll ------------------------------------------------------------------- */

/* Calls of done() that are due from calls in which none may be made.  Each may end the connection. */
static void give_back(struct tcp_conn *conn, struct list *pkts, int status)
{
	struct eng_pkt *pkt;

	while (conn->state == TCP_CONN_READY && (pkt = list_pop_entry(pkts, struct eng_pkt, node)))
		pkt->done(pkt, status);
}

static void give_back_all(struct timer *timer, uint64_t now)
{
	struct tcp_stream *s = container_of(timer, struct tcp_stream, timer);

	give_back(s->conn, &s->refused, -FI_EOPNOTSUPP);
	give_back(s->conn, &s->sent, 0);
}

void tcp_stream_kick(struct tcp_conn *conn)
{
	if (conn->stream->joined)
		chan_poller_timer(&conn->poller->base, &conn->stream->timer, 0);
}

/* ---- the stream ------------------------------------------------------------------ */

static void free_notes(struct list *notes)
{
	while (!list_empty(notes))
		tcp_stream_note_free(tcp_stream_first(notes));
}

static void free_stream(struct tcp_conn_end *end)
{
	struct tcp_stream *s = container_of(end, struct tcp_stream, end);
	struct list *item;

	free_notes(&s->acks);
	free_notes(&s->reads);
	free_notes(&s->owed);
	free_notes(&s->served);
	free_notes(&s->amos);
	free_notes(&s->peer_amos);
	while ((item = list_pop(&s->rts)))
		free(container_of(item, struct rts, node));
	free(s);
}

/* end_stream - packets that it holds go back to those that wait in the channel. */
static void end_stream(struct tcp_conn_end *end, struct tcp_conn *conn, void (*how)(struct tcp_conn *))
{
	struct tcp_stream *s = conn->stream;
	struct list *pending;

	if (s->joined) {
		s->joined = false;
		timer_off(&conn->poller->base.timers, &s->timer);
		timers_leave(&conn->poller->base.timers);
	}
	if (!conn->chan)
		return;
	pending = &conn->chan->base.pending;
	list_splice_tail(&s->sent, pending);
	list_splice_tail(&s->refused, pending);
	list_splice_tail(&s->waiting, pending);
}

int tcp_stream_new(struct tcp_conn *conn, bool swapped, bool announces)
{
	struct tcp_stream *s = calloc(1, sizeof(*s));
	struct list *lists[10];
	size_t i;

	if (!s)
		return -FI_ENOMEM;
	s->swapped = swapped;
	s->announces = announces;
	s->next_id = 1;
	s->conn = conn;
	s->timer.fire = give_back_all;
	lists[0] = &s->acks;
	lists[1] = &s->reads;
	lists[2] = &s->owed;
	lists[3] = &s->served;
	lists[4] = &s->waiting;
	lists[5] = &s->sent;
	lists[6] = &s->refused;
	lists[7] = &s->rts;
	lists[8] = &s->amos;
	lists[9] = &s->peer_amos;
	for (i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		list_init(lists[i]);
	s->end.end = end_stream;
	s->end.free = free_stream;
	list_add_tail(&s->end.node, &conn->ends);
	conn->stream = s;
	return 0;
}

void tcp_stream_packets(struct tcp_conn *conn)
{
	conn->stream->packets = true;
}

bool tcp_stream_has_packets(const struct tcp_conn *conn)
{
	return conn->stream && conn->stream->packets;
}

void tcp_stream_begin(struct tcp_conn *conn)
{
	struct chan *chan = &conn->chan->base;

	eng_on_format(chan_peer(chan), conn->stream ? ENG_FORMAT_WHOLE : ENG_FORMAT_NATIVE, &chan->pending);
	if (conn->stream)
		list_splice_tail(&chan->pending, &conn->stream->waiting);
}

bool tcp_stream_idle(const struct tcp_conn *conn)
{
	const struct tcp_stream *s = conn->stream;

	return !s || (list_empty(&s->waiting) && list_empty(&s->sent) && list_empty(&s->refused));
}

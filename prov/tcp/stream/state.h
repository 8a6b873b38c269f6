/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * state.h - what a connection in the compatible format has: shared by life.c, tx.c and
 * rx.c, and by nothing else.
 *
 * Nothing in this format but an announcement has a number: acknowledgements and read responses come
 * in the order of what they answer.  So each direction has two lists of what is not answered yet.
 * What the peer waits for is answered in its order, even if the engine has finished a later one
 * first.
 */
#ifndef TCP_STREAM_STATE_H
#define TCP_STREAM_STATE_H

#include "foreign/op.h"
#include "foreign/xnet/translate.h"
#include "tcp/link.h"

/* What waits for an answer. */
struct note {
	struct list node;
	uint32_t id;		/* of the engine that answers, or that waits */
	bool done;		/* the peer waits for it: it can be answered */
	bool quiet;		/* we wait for it: the engine does not */
	uint16_t flags;		/* read of the peer: what the response repeats */
	uint8_t ranges;
	uint64_t len;		/* read: bytes asked for */
	uint64_t off;		/* our read: where they belong; the peer's: how many are in @buf */
	uint32_t peer_id;	/* atomic of the peer: its number there */
	uint8_t *buf;		/* the peer's read: data of several packets; NULL: none yet */
};

/* A message that the peer has announced by a frame of its own. */
struct rts {
	struct list node;
	uint8_t number;		/* the peer's */
	uint32_t id;		/* ours, for the engine */
	uint64_t len;
	bool ack;		/* the peer waits for an acknowledgement of the payload */
	bool asked;		/* the engine has matched it */
	bool told;		/* and the peer knows */
	uint32_t rx_id;		/* asked: of the engine's receive */
	uint64_t want;		/* asked: how much of it the engine takes */
};

enum announced {
	NOT_ANNOUNCED,
	ANNOUNCED,		/* the engine has an RTS; nothing is read */
	ASKED_FOR,		/* it has answered with CTS: what is read next is the payload */
};

struct tcp_stream {
	struct tcp_conn *conn;
	struct tcp_conn_end end;
	struct timer timer;	/* work for the next poll */
	bool joined;		/* the timer has its place in the heap */
	bool swapped;
	bool announces;
	bool packets;		/* frames may hold packets of the engine */
	bool parsing;
	bool draining;		/* @waiting is being sent */
	bool logged;		/* the log says what the peer cannot do */
	uint8_t count;		/* frames sent, modulo 256 */
	uint32_t next_id;	/* of what the peer waits for; never 0 */
	/* what is sent */
	struct list acks, reads;	/* struct note: that we wait for */
	struct list owed, served;	/* struct note: that the peer waits for */
	struct list amos, peer_amos;	/* struct note: atomics of ours and of the peer, by number */
	struct list waiting;	/* struct eng_pkt: until the connection is READY, in the engine's format */
	struct list sent;	/* struct eng_pkt: the next poll calls done() */
	struct list refused;	/* struct eng_pkt: the format does not have them; the same */
	/* what is received */
	struct list rts;	/* struct rts */
	enum announced announced;
	uint32_t rts_id;
	uint32_t rx_id;		/* ASKED_FOR: of the engine's receive */
	uint64_t len;		/* of the announced payload */
	uint64_t want;		/* ASKED_FOR: how much of it the engine takes */
	struct note *taking;	/* of a message being received, which is acknowledged at its end; or NULL */
	uint64_t surplus;	/* of the payload being received: what is dropped at its end */
};

/* ---- life.c */

static inline struct note *tcp_stream_first(const struct list *notes)
{
	return list_empty(notes) ? NULL : container_of(notes->next, struct note, node);
}

struct note *tcp_stream_note(struct list *notes, uint32_t id, uint64_t len);
void tcp_stream_note_free(struct note *note);
struct note *tcp_stream_find(const struct list *notes, uint32_t id);
struct rts *tcp_stream_rts(const struct tcp_stream *s, uint32_t id);
uint32_t tcp_stream_new_id(struct tcp_stream *s);

/* tcp_stream_answers - does the atomic operation @msg want an answer? */
static inline bool tcp_stream_answers(const struct wire_msg *msg)
{
	return msg->amo.kind != WIRE_AMO_BASE || (msg->flags & WIRE_F_DELIVERED);
}

/* tcp_stream_kick - there is something for tcp_stream's work in the next poll. */
void tcp_stream_kick(struct tcp_conn *conn);

/* tcp_stream_broken - the engine and the peer no longer agree on this connection.  Returns 1. */
int tcp_stream_broken(struct tcp_conn *conn, const char *why);

/* ---- tx.c */

/* tcp_stream_send_answers - acknowledgements, read responses and CTS that can be sent.  Makes no upcall. */
void tcp_stream_send_answers(struct tcp_conn *conn);

/* ---- rx.c */

/* tcp_stream_tell - offer the engine a packet without payload in place of the peer.  Makes upcalls. */
void tcp_stream_tell(struct tcp_conn *conn, const struct wire_msg *msg);

#endif

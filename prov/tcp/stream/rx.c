/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Frames of the peer become packets for the engine. */
#include "tcp/stream/state.h"

#include <stdlib.h>
#include <string.h>

#include "net/opt.h"

/* What lies behind the header of a frame, or of an announced message. */
struct body {
	uint8_t *at;
	size_t have;
};

/* stream_offer - an operation with @len bytes of payload.  Returns as tcp_rx_offer(). */
static bool stream_offer(struct tcp_conn *conn, const struct wire_msg *msg, struct body *body, uint64_t len)
{
	uint8_t hdr[ENG_HDR_MAX];
	struct eng_rx rx = {
		.hdr = hdr,
		.hdr_len = wire_put(hdr, msg),
		.data = body->at,
		.len = len,
		.avail = body->have < len ? body->have : len,
	};

	conn->rx.big = len >= TCP_RX_LONG;
	if (!tcp_rx_offer(conn, &rx, len))
		return false;
	body->at += rx.avail;
	body->have -= rx.avail;
	return true;
}

static bool offer_ack(struct tcp_conn *conn, uint32_t id, struct body *body)
{
	struct wire_msg msg = foreign_ack(WIRE_F_DELIVERED, id);

	return stream_offer(conn, &msg, body, 0);
}

static bool offer_data(struct tcp_conn *conn, uint32_t id, uint64_t off, uint64_t len, struct body *body)
{
	struct wire_msg msg = foreign_data(id, off, len);

	return stream_offer(conn, &msg, body, len);
}

/* bad_frame - the peer has sent @what; returns the verdict of the functions below. */
static bool bad_frame(struct tcp_conn *conn, const char *what)
{
	tcp_rx_refuse(conn, what);
	return false;
}

/* answer_owe - the peer waits for an answer.  Returns NULL without memory: try again later. */
static struct note *answer_owe(struct tcp_stream *s, struct list *notes, uint64_t len)
{
	return tcp_stream_note(notes, tcp_stream_new_id(s), len);
}

/* answer_disown - the engine has not taken the packet. */
static void answer_disown(struct tcp_conn *conn, struct list *notes)
{
	if (conn->state == TCP_CONN_READY)
		tcp_stream_note_free(container_of(notes->prev, struct note, node));
}

/* What is told has no payload, so nothing is left behind when there is no memory for it: the stream
 * cannot go on without the event.
 */
void tcp_stream_tell(struct tcp_conn *conn, const struct wire_msg *msg)
{
	struct body none = { NULL, 0 };

	if (!stream_offer(conn, msg, &none, 0) && conn->state == TCP_CONN_READY)
		tcp_stream_broken(conn, "no memory for an event");
}

/* must_announce - tell the engine of a message instead of handing it over?  A MSG endpoint does not copy a long
 * one that has no receive.  Where messages have tags, what the program waits for may stand behind: the
 * engine holds what it will have.
 */
static bool must_announce(const struct tcp_conn *conn, uint64_t len)
{
	return conn->link->kind != TCP_WIRE_RDM && !conn->link->base.closing && len &&
	       len > conn->link->conf->eager_size;
}

/* A message to a MSG endpoint is acknowledged when the engine has received it: nothing is read before.
 * One to an RDM endpoint when it is here, with or without a receive; programs of other implementations
 * may wait for that before they send what the program here receives first.
 */
static bool on_message(struct tcp_conn *conn, const struct xnet_frame *frame, struct body *body)
{
	struct tcp_stream *s = conn->stream;
	bool tagged = frame->op == XNET_FRAME_TAGGED, rdm = conn->link->kind == TCP_WIRE_RDM;
	bool ack = frame->flags & XNET_FRAME_F_ACK, rts = must_announce(conn, frame->len), taken;
	struct note *note = ack ? answer_owe(s, &s->owed, 0) : NULL;
	struct wire_msg msg;
	uint32_t id = 0;

	if (tagged && !rdm)
		return bad_frame(conn, "a tagged message to a MSG endpoint");
	if (ack && !note)
		return false;
	if (ack && !rdm)
		id = note->id;
	else if (rts)
		id = tcp_stream_new_id(s);
	if (ack && rdm)
		s->taking = note;
	msg = xnet_translate_in(frame, id, ack && !rdm);
	if (rts) {
		msg.op = WIRE_RTS;
		s->announced = ANNOUNCED;
		s->rts_id = id;
		s->len = frame->len;
	}
	taken = stream_offer(conn, &msg, body, rts ? 0 : frame->len);
	if (!taken && rts)
		s->announced = NOT_ANNOUNCED;
	if (!taken && ack)
		answer_disown(conn, &s->owed);
	if (!taken)
		s->taking = NULL;
	return taken;
}

/* on_short - a tagged message of rxm as it knows it: struct net_tagged is written over the end of the
 * header, so that it and the payload are one.
 */
static bool on_short(struct tcp_conn *conn, const struct xnet_frame *frame, struct body *body)
{
	struct net_tagged front = {
		.has_data = frame->flags & XNET_FRAME_F_DATA, .data = frame->data, .tag = frame->tag,
	};
	struct body whole = { body->at - sizeof(front), body->have + sizeof(front) };
	struct xnet_frame msg = {
		.op = XNET_FRAME_MSG, .flags = frame->flags & XNET_FRAME_F_ACK,
		.len = frame->len + sizeof(front),
	};
	uint8_t was[sizeof(front)], *at = whole.at;

	if (!conn->link->tags)
		return bad_frame(conn, "a tagged message of ofi_rxm to an endpoint that is not below ofi_rxm");
	memcpy(was, at, sizeof(was));
	memcpy(at, &front, sizeof(front));
	if (on_message(conn, &msg, &whole)) {
		*body = whole;
		return true;
	}
	memcpy(at, was, sizeof(was));	/* it is decoded again */
	return false;
}

static bool on_read(struct tcp_conn *conn, const struct xnet_frame *frame, struct body *body)
{
	struct tcp_stream *s = conn->stream;
	struct note *note = answer_owe(s, &s->served, frame->asked);
	struct wire_msg msg;

	if (!note)
		return false;
	note->ranges = frame->ranges;
	msg = xnet_translate_in(frame, note->id, false);
	if (stream_offer(conn, &msg, body, 0))
		return true;
	answer_disown(conn, &s->served);
	return false;
}

static bool on_write(struct tcp_conn *conn, const struct xnet_frame *frame, struct body *body)
{
	struct tcp_stream *s = conn->stream;
	bool ack = frame->flags & (XNET_FRAME_F_ACK | XNET_FRAME_F_COMMIT);
	struct note *note = ack ? answer_owe(s, &s->owed, 0) : NULL;
	struct wire_msg msg;

	if (ack && !note)
		return false;
	msg = xnet_translate_in(frame, note ? note->id : 0, ack);
	if (stream_offer(conn, &msg, body, frame->len))
		return true;
	if (ack)
		answer_disown(conn, &s->owed);
	return false;
}

static bool on_ack(struct tcp_conn *conn, struct body *body)
{
	struct note *note = tcp_stream_first(&conn->stream->acks);
	uint32_t id;

	if (!note)
		return bad_frame(conn, "an acknowledgement of nothing");
	id = note->id;
	if (!offer_ack(conn, id, body))
		return false;
	tcp_stream_note_free(note);
	return true;
}

/* The note is taken off first: the packet may be the last that the operation waits for. */
static bool on_read_data(struct tcp_conn *conn, const struct xnet_frame *frame, struct body *body)
{
	struct note *note = tcp_stream_first(&conn->stream->reads);
	bool taken = true;

	if (!note || note->len != frame->len)
		return bad_frame(conn, "a read response that was not asked for");
	list_del(&note->node);
	if (note->len)
		taken = offer_data(conn, note->id, note->off, note->len, body);
	else if (!note->quiet)
		taken = offer_ack(conn, note->id, body);
	if (taken || conn->state != TCP_CONN_READY)
		tcp_stream_note_free(note);
	else
		list_add_head(&note->node, &conn->stream->reads);
	return taken;
}

/* ---- messages that the peer announces ------------------------------------------------- */

static struct rts *rts_find(const struct tcp_stream *s, uint8_t number)
{
	struct rts *rts;

	list_for_each_entry(rts, &s->rts, node)
		if (rts->number == number)
			return rts;
	return NULL;
}

static void rts_free(struct rts *rts)
{
	list_del(&rts->node);
	free(rts);
}

static bool on_rts(struct tcp_conn *conn, const struct xnet_frame *frame, struct body *body)
{
	struct tcp_stream *s = conn->stream;
	struct wire_msg msg;
	struct rts *rts;

	if (!s->announces)
		return bad_frame(conn, "an announcement, which was not agreed on");
	if (rts_find(s, frame->number))
		return bad_frame(conn, "two announcements of one number");
	rts = calloc(1, sizeof(*rts));
	if (!rts)
		return false;
	*rts = (struct rts) {
		.number = frame->number, .id = tcp_stream_new_id(s), .len = frame->asked,
		.ack = frame->flags & XNET_FRAME_F_ACK,
	};
	list_add_tail(&rts->node, &s->rts);
	msg = xnet_translate_in(frame, rts->id, false);
	if (stream_offer(conn, &msg, body, 0))
		return true;
	if (conn->state == TCP_CONN_READY)
		rts_free(rts);
	return false;
}

/* The acknowledgement's place in the order is that of the payload. */
static bool on_rts_data(struct tcp_conn *conn, const struct xnet_frame *frame, struct body *body)
{
	struct tcp_stream *s = conn->stream;
	struct rts *rts = rts_find(s, frame->number);

	if (!rts || !rts->told || rts->len != frame->len)
		return bad_frame(conn, "the payload of a message that was not asked for");
	if (rts->ack)
		s->taking = answer_owe(s, &s->owed, 0);
	if (rts->ack && !s->taking)
		return false;
	s->surplus = rts->len - rts->want;
	if (rts->want && !offer_data(conn, rts->rx_id, 0, rts->want, body)) {
		if (rts->ack)
			answer_disown(conn, &s->owed);
		s->taking = NULL;
		s->surplus = 0;
		return false;
	}
	rts_free(rts);
	return true;
}

/* ---- atomics --------------------------------------------------------------------------- */

/* on_atomic - a request of the peer.  Its number is the peer's: the engine gets one of ours. */
static bool on_atomic(struct tcp_conn *conn, struct wire_msg *msg, struct body *body, uint64_t len)
{
	struct tcp_stream *s = conn->stream;
	bool answered = tcp_stream_answers(msg);
	struct note *note = answered ? answer_owe(s, &s->peer_amos, 0) : NULL;

	if (answered && !note)
		return false;
	if (note)
		note->peer_id = msg->id;
	msg->id = note ? note->id : tcp_stream_new_id(s);
	if (stream_offer(conn, msg, body, len))
		return true;
	if (note)
		answer_disown(conn, &s->peer_amos);
	return false;
}

/* on_result - the answer to an atomic of ours.  A refusal may answer one that wants no answer. */
static bool on_result(struct tcp_conn *conn, const struct wire_msg *msg, struct body *body, uint64_t len)
{
	struct note *note = tcp_stream_find(&conn->stream->amos, msg->id);

	if (!note && msg->op != WIRE_NACK)
		return bad_frame(conn, "an answer to no atomic operation");
	if (!stream_offer(conn, msg, body, len))
		return false;
	if (note)
		tcp_stream_note_free(note);
	return true;
}

static bool on_packet(struct tcp_conn *conn, const struct xnet_frame *frame, struct body *body)
{
	struct wire_msg msg;
	const char *why;

	if (!conn->stream->packets)
		return bad_frame(conn, "a packet, which was not agreed on");
	why = wire_parse(body->at - frame->packet, frame->packet, frame->len, &msg);
	if (why)
		return bad_frame(conn, why);
	if (msg.ctx)
		return bad_frame(conn, "a packet for a receive context");
	switch (msg.op) {
	case WIRE_ATOMIC:
		return on_atomic(conn, &msg, body, frame->len);
	case WIRE_DATA:
	case WIRE_ACK:
	case WIRE_NACK:
		return on_result(conn, &msg, body, frame->len);
	default:
		return bad_frame(conn, "a packet that is not of an atomic operation");
	}
}

/* ---- frames ---------------------------------------------------------------------------- */

static bool on_frame(struct tcp_conn *conn, const struct xnet_frame *frame, struct body *body)
{
	switch (frame->op) {
	case XNET_FRAME_MSG:
	case XNET_FRAME_TAGGED:
		return on_message(conn, frame, body);
	case XNET_FRAME_SHORT:
		return on_short(conn, frame, body);
	case XNET_FRAME_READ:
		return on_read(conn, frame, body);
	case XNET_FRAME_READ_DATA:
		return on_read_data(conn, frame, body);
	case XNET_FRAME_WRITE:
		return on_write(conn, frame, body);
	case XNET_FRAME_RTS:
		return on_rts(conn, frame, body);
	case XNET_FRAME_RTS_DATA:
		return on_rts_data(conn, frame, body);
	case XNET_FRAME_PACKET:
		return on_packet(conn, frame, body);
	case XNET_FRAME_CTS:
		return bad_frame(conn, "a message of ours is asked for that was not announced");
	default:
		return on_ack(conn, body);
	}
}

/* take_announced - the payload of a message that the engine has asked for. */
static bool take_announced(struct tcp_conn *conn, struct body *body)
{
	struct tcp_stream *s = conn->stream;

	s->announced = NOT_ANNOUNCED;
	s->surplus = s->len - s->want;
	if (!s->want || offer_data(conn, s->rx_id, 0, s->want, body))
		return true;
	s->announced = ASKED_FOR;
	s->surplus = 0;
	return false;
}

void tcp_stream_taken(struct tcp_conn *conn)
{
	struct tcp_stream *s = conn->stream;

	if (!s->taking || s->surplus || s->announced != NOT_ANNOUNCED || conn->state != TCP_CONN_READY)
		return;
	s->taking->done = true;
	s->taking = NULL;
	tcp_stream_send_answers(conn);
}

/* header_stash - an incomplete header is kept until the rest arrives. */
static void header_stash(struct tcp_conn *conn, const uint8_t *at, size_t have)
{
	memcpy(conn->rx.stash, at, have);
	conn->rx.stash_len = have;
}

/* parse_one - take the next frame, or a piece of payload.  False: that is all for now. */
static bool parse_one(struct tcp_conn *conn, uint8_t *buf, size_t *pos_p, size_t end)
{
	struct tcp_stream *s = conn->stream;
	struct body body = { buf + *pos_p, end - *pos_p };
	struct xnet_frame frame;
	const char *why;
	size_t len;
	bool taken;

	if (s->surplus && conn->rx.body == TCP_BODY_NONE) {
		tcp_rx_skip(conn, s->surplus);
		s->surplus = 0;
	}
	if (conn->rx.body != TCP_BODY_NONE) {
		*pos_p += tcp_rx_skipped(conn, body.have);
		if (conn->rx.body == TCP_BODY_NONE)
			tcp_stream_taken(conn);
		return *pos_p < end;
	}
	if (s->announced == ANNOUNCED) {
		tcp_rx_wait(conn, buf, *pos_p, end);
		return false;
	}
	if (s->announced == ASKED_FOR) {
		taken = take_announced(conn, &body);
	} else {
		len = xnet_frame_get(body.at, body.have, s->swapped, &frame, &why);
		if (why)
			return bad_frame(conn, why);
		if (!len && body.have)
			header_stash(conn, body.at, body.have);
		if (!len)
			return false;
		body.at += len;
		body.have -= len;
		taken = on_frame(conn, &frame, &body);
	}
	if (taken && conn->rx.body == TCP_BODY_NONE)
		tcp_stream_taken(conn);
	if (taken)
		*pos_p = (size_t) (body.at - buf);
	else if (conn->state == TCP_CONN_READY)
		tcp_rx_keep(conn, buf, *pos_p, end);
	return taken;
}

void tcp_stream_parse(struct tcp_conn *conn, uint8_t *buf, size_t pos, size_t end)
{
	struct tcp_stream *s = conn->stream;

	s->parsing = true;
	while (conn->state == TCP_CONN_READY && parse_one(conn, buf, &pos, end))
		;
	s->parsing = false;
}

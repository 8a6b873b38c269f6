/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Nothing in this format has a number: acknowledgements and read responses come in the order of
 * what they answer.  So each direction has two lists of what is not answered yet.  What the peer
 * waits for is answered in its order, even if the engine has finished a later one first.
 *
 * A frame is written over the engine's header, in the packet's own memory.
 */
#include "stream.h"

#include <assert.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/iov.h"
#include "engine/wire.h"
#include "compat/frame.h"
#include "frame.h"
#include "link.h"
#include "net/opt.h"

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
	uint8_t *buf;		/* the peer's read: data of several packets; NULL: none yet */
};

enum announced {
	NOT_ANNOUNCED,
	ANNOUNCED,		/* the engine has an RTS; nothing is read */
	ASKED_FOR,		/* it has answered with CTS: what is read next is the payload */
};

struct tcp_stream {
	bool swapped;
	bool parsing;
	bool xoff;		/* the engine is short of memory: announce every message */
	uint8_t count;		/* frames sent, modulo 256 */
	uint32_t next_id;	/* of what the peer waits for; never 0 */
	struct list acks, reads;	/* struct note: that we wait for */
	struct list owed, served;	/* struct note: that the peer waits for */
	enum announced announced;
	uint32_t rts_id;
	uint32_t rx_id;		/* ASKED_FOR: of the engine's receive */
	uint64_t len;		/* of the announced payload */
	uint64_t want;		/* ASKED_FOR: how much of it the engine takes */
	uint64_t surplus;	/* of the payload being received: what is dropped at its end */
};

/* A frame of our own: an answer, or the first part of an operation with too many ranges. */
struct own {
	struct eng_pkt pkt;
	uint8_t *buf;
};

/* ---- the stream ------------------------------------------------------------------ */

static void free_notes(struct list *notes)
{
	struct list *item;
	struct note *note;

	while ((item = list_pop(notes))) {
		note = container_of(item, struct note, node);
		free(note->buf);
		free(note);
	}
}

int tcp_stream_new(struct tcp_conn *conn, bool swapped)
{
	struct tcp_stream *s = calloc(1, sizeof(*s));

	if (!s)
		return -FI_ENOMEM;
	s->swapped = swapped;
	s->next_id = 1;
	list_init(&s->acks);
	list_init(&s->reads);
	list_init(&s->owed);
	list_init(&s->served);
	conn->stream = s;
	return 0;
}

void tcp_stream_free(struct tcp_stream *s)
{
	if (!s)
		return;
	free_notes(&s->acks);
	free_notes(&s->reads);
	free_notes(&s->owed);
	free_notes(&s->served);
	free(s);
}

void tcp_stream_up(struct tcp_conn *conn)
{
	struct eng_link_attr *attr = &conn->link->base.base.attr;
	char text[NET_ADDR_TEXT_MAX];

	TCP_INFO(conn->link->conf, "connected with %s, in the %s wire format\n",
		 net_addr_text(&conn->peer.sa, text), conn->stream ? "compatible" : "native");
	if (!conn->stream)
		return;
	attr->eager_limit = WIRE_LEN_MAX;
	attr->seg_size = WIRE_LEN_MAX;
	attr->max_payload = WIRE_LEN_MAX;
}

static struct note *note_new(struct list *notes, uint32_t id, uint64_t len)
{
	struct note *note = calloc(1, sizeof(*note));

	if (!note)
		return NULL;
	note->id = id;
	note->len = len;
	list_add_tail(&note->node, notes);
	return note;
}

static void note_free(struct note *note)
{
	list_del(&note->node);
	free(note->buf);
	free(note);
}

static struct note *first(struct list *notes)
{
	return list_empty(notes) ? NULL : container_of(notes->next, struct note, node);
}

static struct note *find(struct list *notes, uint32_t id)
{
	struct list *pos;

	list_for_each(pos, notes)
		if (container_of(pos, struct note, node)->id == id)
			return container_of(pos, struct note, node);
	return NULL;
}

/* ---- sending --------------------------------------------------------------------- */

/* put - write the header of @frame in front of the payload of @pkt. */
static void put(struct tcp_stream *s, struct eng_pkt *pkt, struct tcp_cframe *frame)
{
	uint8_t *out = (uint8_t *) pkt + offsetof(struct eng_pkt, link_priv);

	frame->count = s->count++;
	frame->len = pkt->len;
	pkt->hdr_len = (uint16_t) (tcp_cframe_put(frame, s->swapped, out) - TCP_FRAME_SIZE);
}

static void own_done(struct eng_pkt *pkt, int status)
{
	struct own *own = container_of(pkt, struct own, pkt);

	free(own->buf);
	free(own);
}

static int send_own(struct tcp_conn *conn, struct own *own, struct tcp_cframe *frame)
{
	int ret;

	own->pkt.done = own_done;
	put(conn->stream, &own->pkt, frame);
	ret = tcp_tx_framed(conn, &own->pkt);
	if (ret)
		own_done(&own->pkt, ret);
	return ret < 0 ? ret : 1;
}

static int refuse(struct tcp_conn *conn, const char *what)
{
	char text[NET_ADDR_TEXT_MAX];

	TCP_WARN_SPARSE(conn->link->conf, "%s has another implementation, whose protocol has no %s: "
			"the operation is refused\n", net_addr_text(&conn->peer.sa, text), what);
	return -FI_EOPNOTSUPP;
}

/* broken - the engine and the peer no longer agree on this connection. */
static int broken(struct tcp_conn *conn, const char *why)
{
	char text[NET_ADDR_TEXT_MAX];

	TCP_WARN_SPARSE(conn->link->conf, "%s: %s; the connection is closed, since the protocol has no "
			"answer for it\n", net_addr_text(&conn->peer.sa, text), why);
	tcp_conn_fail(conn, FI_EPROTO, false);
	return 1;
}

/* Each turns a packet of the engine into @frame.  Returns 0: send it; 1: nothing is to be sent;
 * or an error of the operation.
 */
static int put_message(struct tcp_conn *conn, const struct wire_msg *msg, struct tcp_cframe *frame)
{
	bool tagged = msg->flags & WIRE_F_TAG;

	if (msg->ctx)
		return refuse(conn, "receive contexts and no collective groups");
	if (msg->flags & WIRE_F_MATCHED)
		return refuse(conn, "FI_MATCH_COMPLETE");
	if (tagged && conn->link->kind == TCP_WIRE_MSG)
		return refuse(conn, "tagged messages between MSG endpoints");
	if ((msg->flags & WIRE_F_DELIVERED) && !note_new(&conn->stream->acks, msg->id, 0))
		return -FI_EAGAIN;
	frame->op = tagged ? TCP_CFRAME_TAGGED : TCP_CFRAME_MSG;
	frame->flags = (uint16_t) ((msg->flags & WIRE_F_DATA ? TCP_CFRAME_F_DATA : 0) |
				   (msg->flags & WIRE_F_DELIVERED ? TCP_CFRAME_F_ACK : 0));
	frame->data = msg->data;
	frame->tag = msg->tag;
	return 0;
}

/* put_ranges - @cnt ranges of @msg from @from on.  Returns the sum of their lengths. */
static uint64_t put_ranges(const struct wire_msg *msg, unsigned from, unsigned cnt,
			   struct tcp_cframe *frame)
{
	uint64_t sum = 0;
	unsigned i;

	for (i = 0; i < cnt; i++) {
		const struct wire_rma *rma = &msg->rma[from + i];

		frame->range[i] = (struct tcp_crange) { rma->addr, rma->len, rma->key };
		sum += rma->len;
	}
	frame->ranges = (uint8_t) cnt;
	return sum;
}

/* read_part - request @cnt ranges; nothing is noted unless this returns true. */
static bool read_part(struct tcp_conn *conn, const struct wire_msg *msg, unsigned from, unsigned cnt,
		      uint64_t off, struct tcp_cframe *frame)
{
	struct note *note = note_new(&conn->stream->reads, msg->id, 0);

	if (!note)
		return false;
	frame->op = TCP_CFRAME_READ;
	note->len = put_ranges(msg, from, cnt, frame);
	note->off = off;
	/* a read of nothing is over with the answer of its last part */
	note->quiet = !note->len && (msg->len || from + cnt < msg->rma_cnt);
	return true;
}

/* send_first - the first ranges of an operation that has more than a frame takes, with their part
 * of the payload, which @pkt loses.
 */
static int send_first(struct tcp_conn *conn, const struct wire_msg *msg, struct eng_pkt *pkt)
{
	struct own *own = calloc(1, sizeof(*own));
	struct tcp_cframe frame = { .op = TCP_CFRAME_WRITE };
	struct iovec rest[ENG_IOV_MAX];
	uint64_t len;

	if (!own)
		return -FI_EAGAIN;
	if (msg->op == WIRE_READ) {
		if (read_part(conn, msg, 0, TCP_CFRAME_RANGES, 0, &frame))
			return send_own(conn, own, &frame);
		free(own);
		return -FI_EAGAIN;
	}
	len = put_ranges(msg, 0, TCP_CFRAME_RANGES, &frame);
	own->pkt.flags = ENG_PKT_MORE;
	own->pkt.len = len;
	own->pkt.iov_cnt = (uint16_t) iov_slice(pkt->iov, pkt->iov_cnt, 0, len, own->pkt.iov);
	pkt->iov_cnt = (uint16_t) iov_slice(pkt->iov, pkt->iov_cnt, len, pkt->len - len, rest);
	memcpy(pkt->iov, rest, pkt->iov_cnt * sizeof(*rest));
	pkt->len -= len;
	return send_own(conn, own, &frame);
}

static int put_read(struct tcp_conn *conn, const struct wire_msg *msg, struct eng_pkt *pkt,
		    struct tcp_cframe *frame)
{
	unsigned from = msg->rma_cnt > TCP_CFRAME_RANGES ? TCP_CFRAME_RANGES : 0, i;
	uint64_t off = 0;
	int ret;

	if (msg->ctx)
		return refuse(conn, "receive contexts");
	if (from) {
		ret = send_first(conn, msg, pkt);
		if (ret < 0)
			return ret;
	}
	for (i = 0; i < from; i++)
		off += msg->rma[i].len;
	if (read_part(conn, msg, from, msg->rma_cnt - from, off, frame))
		return 0;
	return from ? broken(conn, "no memory for the second half of a read") : -FI_EAGAIN;
}

static int put_write(struct tcp_conn *conn, const struct wire_msg *msg, struct eng_pkt *pkt,
		     struct tcp_cframe *frame)
{
	unsigned from = msg->rma_cnt > TCP_CFRAME_RANGES ? TCP_CFRAME_RANGES : 0;
	struct note *note = NULL;
	int ret;

	if (msg->ctx)
		return refuse(conn, "receive contexts");
	if (from && msg->flags & WIRE_F_DATA)
		return refuse(conn, "writes of more than 4 ranges with completion data");
	if (msg->flags & WIRE_F_DELIVERED) {
		note = note_new(&conn->stream->acks, msg->id, 0);
		if (!note)
			return -FI_EAGAIN;
	}
	if (from) {
		ret = send_first(conn, msg, pkt);
		if (ret < 0) {
			if (note)
				note_free(note);
			return ret;
		}
	}
	frame->op = TCP_CFRAME_WRITE;
	frame->flags = (uint16_t) ((msg->flags & WIRE_F_DATA ? TCP_CFRAME_F_DATA : 0) |
				   (note ? TCP_CFRAME_F_ACK : 0));
	frame->data = msg->data;
	put_ranges(msg, from, msg->rma_cnt - from, frame);
	return 0;
}

/* ---- answers to the peer ------------------------------------------------------------ */

static void response(const struct note *note, struct tcp_cframe *frame)
{
	frame->op = TCP_CFRAME_READ_DATA;
	frame->flags = note->flags;
	frame->ranges = note->ranges;
}

/* send_finished - answer what is finished and no longer behind something that is not. */
static void send_finished(struct tcp_conn *conn, struct list *notes)
{
	struct tcp_cframe frame;
	struct note *note;
	struct own *own;

	while ((note = first(notes)) && note->done && conn->state == TCP_CONN_READY) {
		own = calloc(1, sizeof(*own));
		if (!own) {
			broken(conn, "no memory for an answer");
			return;
		}
		memset(&frame, 0, sizeof(frame));
		if (notes == &conn->stream->owed)
			frame.op = TCP_CFRAME_ACK;
		else
			response(note, &frame);
		own->buf = note->buf;
		note->buf = NULL;
		own->pkt.len = note->len;
		own->pkt.iov[0] = (struct iovec) { own->buf, note->len };
		own->pkt.iov_cnt = note->len != 0;
		note_free(note);
		send_own(conn, own, &frame);
	}
}

/* finished - the engine has acknowledged a message or write of the peer, or its read of nothing. */
static int finished(struct tcp_conn *conn, const struct wire_msg *msg, struct tcp_cframe *frame)
{
	struct tcp_stream *s = conn->stream;
	struct note *note = find(&s->owed, msg->id);

	frame->op = TCP_CFRAME_ACK;
	if (!note) {
		note = find(&s->served, msg->id);
		if (note)
			response(note, frame);
	}
	if (!note)
		return 1;	/* the peer has asked for none */
	if (note == first(&s->owed) || note == first(&s->served)) {
		note_free(note);
		return 0;
	}
	note->done = true;
	return 1;
}

/* gather - the answer of a read comes in several packets: collect them for one frame. */
static int gather(struct tcp_conn *conn, struct note *note, const struct wire_msg *msg,
		  const struct eng_pkt *pkt)
{
	if (!note->buf)
		note->buf = malloc(note->len);
	if (!note->buf)
		return broken(conn, "no memory for the answer of a read of several ranges");
	iov_gather(pkt->iov, pkt->iov_cnt, 0, note->buf + msg->off, pkt->len);
	note->off += pkt->len;
	note->done = note->off == note->len;
	send_finished(conn, &conn->stream->served);
	return conn->state == TCP_CONN_READY ? 1 : -conn->err;
}

static int send_read_data(struct tcp_conn *conn, const struct wire_msg *msg, struct eng_pkt *pkt)
{
	struct tcp_stream *s = conn->stream;
	struct note *note = find(&s->served, msg->id);
	struct tcp_cframe frame = { 0 };
	int ret;

	if (!note || msg->off + pkt->len > note->len)
		return broken(conn, "data that were not asked for");
	if (pkt->len < note->len || note != first(&s->served))
		return gather(conn, note, msg, pkt);
	response(note, &frame);
	note_free(note);
	put(s, pkt, &frame);
	ret = tcp_tx_framed(conn, pkt);
	send_finished(conn, &s->served);
	return ret;
}

/* asked_for - the engine has matched the message that it was told of. */
static int asked_for(struct tcp_conn *conn, const struct wire_msg *msg)
{
	struct tcp_stream *s = conn->stream;

	if (s->announced != ANNOUNCED || msg->id != s->rts_id)
		return broken(conn, "a message that was not announced is asked for");
	s->announced = ASKED_FOR;
	s->rx_id = msg->rx_id;
	s->want = msg->len < s->len ? msg->len : s->len;
	if (!s->parsing)
		tcp_rx_go_on(conn);
	return 1;
}

/* translate - 0: @frame is to be sent with the payload of @pkt; else the outcome. */
static int translate(struct tcp_conn *conn, const struct wire_msg *msg, struct eng_pkt *pkt,
		     struct tcp_cframe *frame)
{
	switch (msg->op) {
	case WIRE_EAGER:
		return put_message(conn, msg, frame);
	case WIRE_READ:
		return put_read(conn, msg, pkt, frame);
	case WIRE_WRITE:
		return put_write(conn, msg, pkt, frame);
	case WIRE_ACK:
		return finished(conn, msg, frame);
	case WIRE_CTS:
		return asked_for(conn, msg);
	case WIRE_NACK:
		return broken(conn, "an access to memory is refused");
	case WIRE_XOFF:
	case WIRE_XON:
		conn->stream->xoff = msg->op == WIRE_XOFF;
		return 1;
	case WIRE_ATOMIC:
		return refuse(conn, "atomic operations");
	default:
		return refuse(conn, "such packets");
	}
}

int tcp_stream_send(struct tcp_conn *conn, struct eng_pkt *pkt)
{
	struct tcp_cframe frame = { 0 };
	struct wire_msg msg;
	int ret;

	if (wire_parse(pkt->hdr, pkt->hdr_len, pkt->len, &msg)) {
		assert(!"the engine's packets are well formed");
		return -FI_EINVAL;
	}
	if (msg.op == WIRE_DATA)
		return send_read_data(conn, &msg, pkt);
	ret = translate(conn, &msg, pkt, &frame);
	if (ret)
		return ret;
	put(conn->stream, pkt, &frame);
	ret = tcp_tx_framed(conn, pkt);
	if (msg.op == WIRE_ACK) {
		send_finished(conn, &conn->stream->owed);
		send_finished(conn, &conn->stream->served);
	}
	return ret;
}

/* ---- receiving --------------------------------------------------------------------- */

static uint32_t new_id(struct tcp_stream *s)
{
	if (!s->next_id)
		s->next_id++;
	return s->next_id++;
}

/* What lies behind the header of a frame, or of an announced message. */
struct body {
	uint8_t *at;
	size_t have;
};

/* offer - a packet of @hdr_len bytes at @hdr with @len of payload.  Returns as tcp_rx_offer(). */
static bool offer(struct tcp_conn *conn, const uint8_t *hdr, size_t hdr_len, struct body *body,
		  uint64_t len)
{
	struct eng_rx rx = {
		.hdr = hdr,
		.hdr_len = hdr_len,
		.data = body->at,
		.len = len,
		.avail = body->have < len ? body->have : len,
	};

	conn->rx.big = len >= TCP_RX_LONG;
	if (!tcp_rx_offer(conn, &rx))
		return false;
	body->at += rx.avail;
	body->have -= rx.avail;
	return true;
}

/* offer_word - a packet of the base and at most one word. */
static bool offer_word(struct tcp_conn *conn, enum wire_op op, uint8_t flags, uint32_t id,
		       struct body *body, uint64_t len, const uint64_t *word)
{
	uint8_t hdr[ENG_HDR_MAX];
	size_t at = wire_put_base(hdr, op, flags, 0, id, len);

	if (word)
		at = wire_put_word(hdr, at, *word);
	return offer(conn, hdr, at, body, len);
}

static bool bad(struct tcp_conn *conn, const char *what)
{
	tcp_rx_refuse(conn, what);
	return false;
}

/* owe - the peer waits for an answer.  Returns NULL without memory: try again later. */
static struct note *owe(struct tcp_stream *s, struct list *notes, uint64_t len)
{
	return note_new(notes, new_id(s), len);
}

/* disown - the engine has not taken the packet. */
static void disown(struct tcp_conn *conn, struct list *notes)
{
	if (conn->state == TCP_CONN_READY)
		note_free(container_of(notes->prev, struct note, node));
}

/* announce - tell the engine of a message instead of handing it over?  A long one would be copied
 * while there is no receive for it, and the peer chooses its length.
 */
static bool announce(const struct tcp_conn *conn, uint64_t len)
{
	if (conn->link->base.closing || !len)
		return false;
	return conn->stream->xoff || len > conn->link->conf->eager_size;
}

static bool on_message(struct tcp_conn *conn, const struct tcp_cframe *frame, struct body *body)
{
	struct tcp_stream *s = conn->stream;
	bool tagged = frame->op == TCP_CFRAME_TAGGED, ack = frame->flags & TCP_CFRAME_F_ACK;
	bool rts = announce(conn, frame->len), taken;
	uint8_t hdr[ENG_HDR_MAX], flags = 0;
	struct note *note;
	uint32_t id = 0;
	size_t at;

	if (tagged && conn->link->kind == TCP_WIRE_MSG)
		return bad(conn, "a tagged message to a MSG endpoint");
	if (ack) {
		note = owe(s, &s->owed, 0);
		if (!note)
			return false;
		id = note->id;
	} else if (rts) {
		id = new_id(s);
	}
	flags |= (uint8_t) ((ack ? WIRE_F_DELIVERED : 0) | (tagged ? WIRE_F_TAG : 0) |
			    (frame->flags & TCP_CFRAME_F_DATA ? WIRE_F_DATA : 0));
	at = wire_put_base(hdr, rts ? WIRE_RTS : WIRE_EAGER, flags, 0, id, frame->len);
	if (tagged)
		at = wire_put_word(hdr, at, frame->tag);
	if (flags & WIRE_F_DATA)
		at = wire_put_word(hdr, at, frame->data);
	if (rts) {
		s->announced = ANNOUNCED;
		s->rts_id = id;
		s->len = frame->len;
	}
	taken = offer(conn, hdr, at, body, rts ? 0 : frame->len);
	if (!taken && rts)
		s->announced = NOT_ANNOUNCED;
	if (!taken && ack)
		disown(conn, &s->owed);
	return taken;
}

/* on_short - a tagged message of rxm as it knows it: struct net_tagged is written over the end of the
 * header, so that it and the payload are one.
 */
static bool on_short(struct tcp_conn *conn, const struct tcp_cframe *frame, struct body *body)
{
	struct net_tagged front = {
		.has_data = frame->flags & TCP_CFRAME_F_DATA, .data = frame->data, .tag = frame->tag,
	};
	struct body whole = { body->at - sizeof(front), body->have + sizeof(front) };
	struct tcp_cframe msg = {
		.op = TCP_CFRAME_MSG, .flags = frame->flags & TCP_CFRAME_F_ACK,
		.len = frame->len + sizeof(front),
	};
	uint8_t was[sizeof(front)], *at = whole.at;

	if (!conn->link->tags)
		return bad(conn, "a tagged message of ofi_rxm to an endpoint that is not below ofi_rxm");
	memcpy(was, at, sizeof(was));
	memcpy(at, &front, sizeof(front));
	if (on_message(conn, &msg, &whole)) {
		*body = whole;
		return true;
	}
	memcpy(at, was, sizeof(was));	/* it is decoded again */
	return false;
}

static size_t put_wire_ranges(uint8_t *hdr, size_t at, const struct tcp_cframe *frame)
{
	unsigned i;

	for (i = 0; i < frame->ranges; i++)
		at = wire_put_rma(hdr, at, frame->range[i].addr, frame->range[i].len, frame->range[i].key);
	return at;
}

static bool on_read(struct tcp_conn *conn, const struct tcp_cframe *frame, struct body *body)
{
	struct tcp_stream *s = conn->stream;
	struct note *note = owe(s, &s->served, frame->asked);
	uint8_t hdr[ENG_HDR_MAX];
	size_t at;

	if (!note)
		return false;
	note->ranges = frame->ranges;
	at = wire_put_base(hdr, WIRE_READ, frame->asked ? 0 : WIRE_F_DELIVERED, 0, note->id,
			   frame->asked);
	at = put_wire_ranges(hdr, at, frame);
	if (offer(conn, hdr, at, body, 0))
		return true;
	disown(conn, &s->served);
	return false;
}

static bool on_write(struct tcp_conn *conn, const struct tcp_cframe *frame, struct body *body)
{
	struct tcp_stream *s = conn->stream;
	bool ack = frame->flags & (TCP_CFRAME_F_ACK | TCP_CFRAME_F_COMMIT);
	uint8_t hdr[ENG_HDR_MAX], flags = WIRE_F_LAST;
	struct note *note = ack ? owe(s, &s->owed, 0) : NULL;
	size_t at;

	if (ack && !note)
		return false;
	flags |= (uint8_t) ((ack ? WIRE_F_DELIVERED : 0) |
			    (frame->flags & TCP_CFRAME_F_DATA ? WIRE_F_DATA : 0));
	at = wire_put_base(hdr, WIRE_WRITE, flags, 0, note ? note->id : 0, frame->len);
	if (flags & WIRE_F_DATA)
		at = wire_put_word(hdr, at, frame->data);
	at = put_wire_ranges(hdr, at, frame);
	if (offer(conn, hdr, at, body, frame->len))
		return true;
	if (ack)
		disown(conn, &s->owed);
	return false;
}

static bool on_ack(struct tcp_conn *conn, struct body *body)
{
	struct note *note = first(&conn->stream->acks);
	uint32_t id;

	if (!note)
		return bad(conn, "an acknowledgement of nothing");
	id = note->id;
	if (!offer_word(conn, WIRE_ACK, WIRE_F_DELIVERED, id, body, 0, NULL))
		return false;
	note_free(note);
	return true;
}

/* The note is taken off first: the packet may be the last that the operation waits for. */
static bool on_read_data(struct tcp_conn *conn, const struct tcp_cframe *frame, struct body *body)
{
	struct note *note = first(&conn->stream->reads);
	bool taken = true;

	if (!note || note->len != frame->len)
		return bad(conn, "a read response that was not asked for");
	list_del(&note->node);
	if (note->len)
		taken = offer_word(conn, WIRE_DATA, 0, note->id, body, note->len, &note->off);
	else if (!note->quiet)
		taken = offer_word(conn, WIRE_ACK, WIRE_F_DELIVERED, note->id, body, 0, NULL);
	if (taken || conn->state != TCP_CONN_READY)
		note_free(note);
	else
		list_add_head(&note->node, &conn->stream->reads);
	return taken;
}

static bool on_frame(struct tcp_conn *conn, const struct tcp_cframe *frame, struct body *body)
{
	switch (frame->op) {
	case TCP_CFRAME_MSG:
	case TCP_CFRAME_TAGGED:
		return on_message(conn, frame, body);
	case TCP_CFRAME_SHORT:
		return on_short(conn, frame, body);
	case TCP_CFRAME_READ:
		return on_read(conn, frame, body);
	case TCP_CFRAME_READ_DATA:
		return on_read_data(conn, frame, body);
	case TCP_CFRAME_WRITE:
		return on_write(conn, frame, body);
	default:
		return on_ack(conn, body);
	}
}

/* take_announced - the payload of a message that the engine has asked for. */
static bool take_announced(struct tcp_conn *conn, struct body *body)
{
	struct tcp_stream *s = conn->stream;
	uint64_t zero = 0;

	if (s->want && !offer_word(conn, WIRE_DATA, 0, s->rx_id, body, s->want, &zero))
		return false;
	s->announced = NOT_ANNOUNCED;
	s->surplus = s->len - s->want;
	return true;
}

/* stash - an incomplete header is kept until the rest arrives. */
static void stash(struct tcp_conn *conn, const uint8_t *at, size_t have)
{
	memcpy(conn->rx.stash, at, have);
	conn->rx.stash_len = have;
}

/* one - take the next frame, or a piece of payload.  False: that is all for now. */
static bool one(struct tcp_conn *conn, uint8_t *buf, size_t *pos_p, size_t end)
{
	struct tcp_stream *s = conn->stream;
	struct body body = { buf + *pos_p, end - *pos_p };
	struct tcp_cframe frame;
	const char *why;
	size_t len;
	bool taken;

	if (s->surplus && conn->rx.body == TCP_BODY_NONE) {
		tcp_rx_skip(conn, s->surplus);
		s->surplus = 0;
	}
	if (conn->rx.body != TCP_BODY_NONE) {
		*pos_p += tcp_rx_skipped(conn, body.have);
		return *pos_p < end;
	}
	if (s->announced == ANNOUNCED) {
		tcp_rx_wait(conn, buf, *pos_p, end);
		return false;
	}
	if (s->announced == ASKED_FOR) {
		taken = take_announced(conn, &body);
	} else {
		len = tcp_cframe_get(body.at, body.have, s->swapped, &frame, &why);
		if (why)
			return bad(conn, why);
		if (!len && body.have)
			stash(conn, body.at, body.have);
		if (!len)
			return false;
		body.at += len;
		body.have -= len;
		taken = on_frame(conn, &frame, &body);
	}
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
	while (conn->state == TCP_CONN_READY && one(conn, buf, &pos, end))
		;
	s->parsing = false;
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Packets of the engine become frames.  A frame's header is written over the engine's, in the packet's
 * own memory.
 */
#include "tcp/stream/state.h"

#include <assert.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/iov.h"

_Static_assert(XNET_FRAME_MAX <= TCP_FRAME_SIZE + ENG_HDR_MAX, "a frame's header fits where the engine's was");

/* A frame of our own: an answer, or the first part of an operation with too many ranges. */
struct own {
	struct eng_pkt pkt;
	uint8_t *buf;
};

/* frame_put - write the header of @frame, which has @len bytes of payload, in front of the payload of @pkt. */
static void frame_put(struct tcp_stream *s, struct eng_pkt *pkt, struct xnet_frame *frame, uint64_t len)
{
	uint8_t *out = (uint8_t *) pkt + offsetof(struct eng_pkt, link_priv);

	frame->count = s->count++;
	frame->len = len;
	if (frame->op == XNET_FRAME_PACKET)
		memmove(out + XNET_FRAME_MIN, pkt->hdr, frame->packet);
	pkt->hdr_len = (uint16_t) (xnet_frame_put(frame, s->swapped, out) - TCP_FRAME_SIZE);
}

static void own_done(struct eng_pkt *pkt, int status)
{
	struct own *own = container_of(pkt, struct own, pkt);

	free(own->buf);
	free(own);
}

static int send_own(struct tcp_conn *conn, struct own *own, struct xnet_frame *frame)
{
	int ret;

	own->pkt.done = own_done;
	frame_put(conn->stream, &own->pkt, frame, own->pkt.len);
	ret = tcp_tx_framed(conn, &own->pkt);
	if (ret)
		own_done(&own->pkt, ret);
	return ret < 0 ? ret : 1;
}

/* log_refusal - once for a connection. */
static void log_refusal(struct tcp_conn *conn, const char *what)
{
	char text[NET_ADDR_TEXT_MAX];

	if (!conn->stream->logged)
		TCP_WARN_SPARSE(conn->link->conf, "%s has another implementation, whose protocol has "
				"no %s: such operations fail\n",
				net_addr_text(&conn->peer.sa, text), what);
	conn->stream->logged = true;
}

/* op_refuse - the operation of @pkt fails.  To a connectionless endpoint an error of the call means that
 * the peer is gone, so the next poll reports it.
 */
static int op_refuse(struct tcp_conn *conn, struct eng_pkt *pkt, const char *what)
{
	log_refusal(conn, what);
	if (conn->link->kind == TCP_WIRE_MSG && !conn->stream->draining)
		return -FI_EOPNOTSUPP;
	list_add_tail(&pkt->node, &conn->stream->refused);
	tcp_stream_kick(conn);
	return 0;
}

/* ---- operations ------------------------------------------------------------------- */

/* Each turns a packet of the engine into @frame, and returns SEND; 1: nothing is to be sent; 0: the
 * packet is held; or an error of the operation.
 */
#define SEND 2

static int put_message(struct tcp_conn *conn, const struct wire_msg *msg)
{
	if ((msg->flags & WIRE_F_DELIVERED) && !tcp_stream_note(&conn->stream->acks, msg->id, 0))
		return -FI_EAGAIN;
	return SEND;
}

/* read_part - request @cnt ranges; nothing is noted unless this returns true. */
static bool read_part(struct tcp_conn *conn, const struct wire_msg *msg, unsigned from, unsigned cnt,
		      uint64_t off, struct xnet_frame *frame)
{
	struct note *note = tcp_stream_note(&conn->stream->reads, msg->id, 0);

	if (!note)
		return false;
	note->len = xnet_translate_ranges(msg, from, cnt, frame);
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
	struct xnet_frame frame = { .op = msg->op == WIRE_READ ? XNET_FRAME_READ : XNET_FRAME_WRITE };
	struct iovec rest[ENG_IOV_MAX];
	uint64_t len;

	if (!own)
		return -FI_EAGAIN;
	if (msg->op == WIRE_READ) {
		if (read_part(conn, msg, 0, XNET_FRAME_RANGES, 0, &frame))
			return send_own(conn, own, &frame);
		free(own);
		return -FI_EAGAIN;
	}
	len = xnet_translate_ranges(msg, 0, XNET_FRAME_RANGES, &frame);
	own->pkt.flags = ENG_PKT_MORE;
	own->pkt.len = len;
	own->pkt.iov_cnt = (uint16_t) iov_slice(pkt->iov, pkt->iov_cnt, 0, len, own->pkt.iov);
	pkt->iov_cnt = (uint16_t) iov_slice(pkt->iov, pkt->iov_cnt, len, pkt->len - len, rest);
	memcpy(pkt->iov, rest, pkt->iov_cnt * sizeof(*rest));
	pkt->len -= len;
	return send_own(conn, own, &frame);
}

static int put_read(struct tcp_conn *conn, const struct wire_msg *msg, struct eng_pkt *pkt,
		    struct xnet_frame *frame)
{
	unsigned from = msg->rma_cnt > XNET_FRAME_RANGES ? XNET_FRAME_RANGES : 0, i;
	uint64_t off = 0;
	int ret;

	if (from) {
		ret = send_first(conn, msg, pkt);
		if (ret < 0)
			return ret;
	}
	for (i = 0; i < from; i++)
		off += msg->rma[i].len;
	if (read_part(conn, msg, from, msg->rma_cnt - from, off, frame))
		return SEND;
	return from ? tcp_stream_broken(conn, "no memory for the second half of a read") : -FI_EAGAIN;
}

static int put_write(struct tcp_conn *conn, const struct wire_msg *msg, struct eng_pkt *pkt,
		     struct xnet_frame *frame)
{
	unsigned from = msg->rma_cnt > XNET_FRAME_RANGES ? XNET_FRAME_RANGES : 0;
	struct note *note = NULL;
	int ret;

	if (msg->flags & WIRE_F_DELIVERED) {
		note = tcp_stream_note(&conn->stream->acks, msg->id, 0);
		if (!note)
			return -FI_EAGAIN;
	}
	if (from) {
		ret = send_first(conn, msg, pkt);
		if (ret < 0) {
			if (note)
				tcp_stream_note_free(note);
			return ret;
		}
	}
	xnet_translate_ranges(msg, from, msg->rma_cnt - from, frame);
	return SEND;
}

/* ---- atomics -------------------------------------------------------------------------- */

static int put_packet(const struct eng_pkt *pkt, struct xnet_frame *frame)
{
	frame->op = XNET_FRAME_PACKET;
	frame->packet = (uint8_t) pkt->hdr_len;
	return SEND;
}

static int put_atomic(struct tcp_conn *conn, const struct wire_msg *msg, const struct eng_pkt *pkt,
		      struct xnet_frame *frame)
{
	if (tcp_stream_answers(msg) && !tcp_stream_note(&conn->stream->amos, msg->id, 0))
		return -FI_EAGAIN;
	return put_packet(pkt, frame);
}

/* amo_of - the atomic of the peer that @msg answers, or NULL. */
static struct note *amo_of(const struct tcp_stream *s, const struct wire_msg *msg)
{
	bool answer = msg->op == WIRE_DATA || msg->op == WIRE_ACK || msg->op == WIRE_NACK;

	return answer ? tcp_stream_find(&s->peer_amos, msg->id) : NULL;
}

static int put_result(struct note *note, struct eng_pkt *pkt, struct xnet_frame *frame)
{
	wire_put_id(pkt->hdr, note->peer_id);
	tcp_stream_note_free(note);
	return put_packet(pkt, frame);
}

/* ---- answers to the peer ------------------------------------------------------------ */

static void put_response(const struct note *note, struct xnet_frame *frame)
{
	frame->op = XNET_FRAME_READ_DATA;
	frame->flags = note->flags;
	frame->ranges = note->ranges;
}

/* send_finished - answer what is finished and no longer behind something that is not. */
static void send_finished(struct tcp_conn *conn, struct list *notes)
{
	struct xnet_frame frame;
	struct note *note;
	struct own *own;

	while ((note = tcp_stream_first(notes)) && note->done && conn->state == TCP_CONN_READY) {
		own = calloc(1, sizeof(*own));
		if (!own) {
			tcp_stream_broken(conn, "no memory for an answer");
			return;
		}
		memset(&frame, 0, sizeof(frame));
		if (notes == &conn->stream->owed)
			frame.op = XNET_FRAME_ACK;
		else
			put_response(note, &frame);
		own->buf = note->buf;
		note->buf = NULL;
		own->pkt.len = note->len;
		own->pkt.iov[0] = (struct iovec) { own->buf, note->len };
		own->pkt.iov_cnt = note->len != 0;
		tcp_stream_note_free(note);
		send_own(conn, own, &frame);
	}
}

/* send_cts - the engine has matched messages that the peer has announced. */
static void send_cts(struct tcp_conn *conn)
{
	struct tcp_stream *s = conn->stream;
	struct rts *rts;

	list_for_each_entry(rts, &s->rts, node) {
		struct xnet_frame frame = { .op = XNET_FRAME_CTS, .number = rts->number };
		struct own *own;

		if (!rts->asked || rts->told)
			continue;
		if (conn->state != TCP_CONN_READY)
			return;
		own = calloc(1, sizeof(*own));
		if (!own) {
			tcp_stream_broken(conn, "no memory for an answer");
			return;
		}
		rts->told = true;
		send_own(conn, own, &frame);
	}
}

void tcp_stream_send_answers(struct tcp_conn *conn)
{
	send_finished(conn, &conn->stream->owed);
	send_finished(conn, &conn->stream->served);
	send_cts(conn);
}

/* message_finished - the engine has acknowledged a message or write of the peer, or its read of nothing. */
static int message_finished(struct tcp_conn *conn, const struct wire_msg *msg, struct xnet_frame *frame)
{
	struct tcp_stream *s = conn->stream;
	struct note *note = tcp_stream_find(&s->owed, msg->id);

	frame->op = XNET_FRAME_ACK;
	if (!note) {
		note = tcp_stream_find(&s->served, msg->id);
		if (note)
			put_response(note, frame);
	}
	if (!note)
		return 1;	/* the peer has asked for none */
	if (note == tcp_stream_first(&s->owed) || note == tcp_stream_first(&s->served)) {
		tcp_stream_note_free(note);
		return SEND;
	}
	note->done = true;
	return 1;
}

/* read_gather - the answer of a read of several ranges comes in as many packets: collect them for one frame. */
static int read_gather(struct tcp_conn *conn, struct note *note, const struct wire_msg *msg,
		       const struct eng_pkt *pkt)
{
	if (!note->buf)
		note->buf = malloc(note->len);
	if (!note->buf)
		return tcp_stream_broken(conn, "no memory for the answer of a read of several ranges");
	iov_gather(pkt->iov, pkt->iov_cnt, 0, note->buf + msg->off, pkt->len);
	note->off += pkt->len;
	note->done = note->off == note->len;
	send_finished(conn, &conn->stream->served);
	return conn->state == TCP_CONN_READY ? 1 : -conn->err;
}

static int send_read_data(struct tcp_conn *conn, const struct wire_msg *msg, struct eng_pkt *pkt)
{
	struct tcp_stream *s = conn->stream;
	struct note *note = tcp_stream_find(&s->served, msg->id);
	struct xnet_frame frame = { 0 };
	int ret;

	if (!note || msg->off + pkt->len > note->len)
		return tcp_stream_broken(conn, "data that were not asked for");
	if (pkt->len < note->len || note != tcp_stream_first(&s->served))
		return read_gather(conn, note, msg, pkt);
	put_response(note, &frame);
	tcp_stream_note_free(note);
	frame_put(s, pkt, &frame, pkt->len);
	ret = tcp_tx_framed(conn, pkt);
	send_finished(conn, &s->served);
	return ret;
}

/* ---- packets of the engine ----------------------------------------------------------- */

/* asked_for - the engine has matched a message that it was told of. */
static int asked_for(struct tcp_conn *conn, const struct wire_msg *msg)
{
	struct tcp_stream *s = conn->stream;
	struct rts *rts = tcp_stream_rts(s, msg->id);

	if (rts && !rts->asked) {
		rts->asked = true;
		rts->rx_id = msg->rx_id;
		rts->want = msg->len < rts->len ? msg->len : rts->len;
		send_cts(conn);
		return 1;
	}
	if (s->announced != ANNOUNCED || msg->id != s->rts_id)
		return tcp_stream_broken(conn, "a message that was not announced is asked for");
	s->announced = ASKED_FOR;
	s->rx_id = msg->rx_id;
	s->want = msg->len < s->len ? msg->len : s->len;
	if (!s->parsing)
		tcp_rx_go_on(conn);
	return 1;
}

/* packet_translate - SEND: @frame is to be sent with the payload of @pkt; else the outcome. */
static int packet_translate(struct tcp_conn *conn, struct wire_msg *msg, struct eng_pkt *pkt,
			    struct xnet_frame *frame)
{
	struct note *amo = amo_of(conn->stream, msg);
	const char *why;

	if (amo)
		return put_result(amo, pkt, frame);
	if (msg->op == WIRE_ATOMIC && conn->stream->packets && !msg->ctx)
		return put_atomic(conn, msg, pkt, frame);
	if (msg->op == WIRE_ACK)
		return message_finished(conn, msg, frame);
	if (msg->op == WIRE_DATA)
		return send_read_data(conn, msg, pkt);
	why = xnet_translate_out(msg, conn->link->kind == TCP_WIRE_RDM, frame);
	if (why)
		return op_refuse(conn, pkt, why);
	return msg->op == WIRE_READ ? put_read(conn, msg, pkt, frame) :
	       msg->op == WIRE_WRITE ? put_write(conn, msg, pkt, frame) : put_message(conn, msg);
}

static int send_now(struct tcp_conn *conn, struct eng_pkt *pkt, struct wire_msg *msg)
{
	struct xnet_frame frame = { 0 };
	int ret = packet_translate(conn, msg, pkt, &frame);

	if (ret != SEND)
		return ret;
	frame_put(conn->stream, pkt, &frame, pkt->len);
	ret = tcp_tx_framed(conn, pkt);
	if (msg->op == WIRE_ACK)
		tcp_stream_send_answers(conn);
	return ret;
}

/* packet_control - what does not go to the peer, or not as a packet.  Returns 1 if it was that. */
static int packet_control(struct tcp_conn *conn, const struct wire_msg *msg)
{
	switch (msg->op) {
	case WIRE_CTS:
		return asked_for(conn, msg);
	case WIRE_NACK:
		return amo_of(conn->stream, msg) ? 0 :
		       tcp_stream_broken(conn, "an access to memory is refused");
	case WIRE_XOFF:
	case WIRE_XON:
		return 1;	/* the format has no announcements */
	default:
		return 0;
	}
}

int tcp_stream_send(struct tcp_conn *conn, struct eng_pkt *pkt)
{
	int ret = tcp_tx_check(conn);
	struct wire_msg msg;

	if (ret)
		return ret;
	if (wire_parse(pkt->hdr, pkt->hdr_len, pkt->len, &msg)) {
		assert(!"the engine's packets are well formed");
		return -FI_EINVAL;
	}
	if (packet_control(conn, &msg))
		return 1;
	if (!list_empty(&conn->stream->waiting)) {
		list_add_tail(&pkt->node, &conn->stream->waiting);
		return 0;
	}
	return send_now(conn, pkt, &msg);
}

/* send_one_waiting - Returns as tcp_stream_send() does. */
static int send_one_waiting(struct tcp_conn *conn, struct eng_pkt *pkt)
{
	struct wire_msg msg;

	return wire_parse(pkt->hdr, pkt->hdr_len, pkt->len, &msg) ? -FI_EINVAL : send_now(conn, pkt, &msg);
}

static void send_waiting(struct tcp_conn *conn)
{
	struct tcp_stream *s = conn->stream;
	struct eng_pkt *pkt;
	int ret;

	tcp_stream_send_answers(conn);
	while (conn->state == TCP_CONN_READY && (pkt = list_pop_entry(&s->waiting, struct eng_pkt, node))) {
		s->draining = true;
		ret = send_one_waiting(conn, pkt);
		s->draining = false;
		if (ret == -FI_EAGAIN)
			tcp_stream_broken(conn, "no memory for an operation");
		if (ret < 0)
			list_add_head(&pkt->node, &s->waiting);	/* it ends with the connection */
		else if (ret)
			pkt->done(pkt, 0);
	}
}

void tcp_stream_up(struct tcp_conn *conn)
{
	char text[NET_ADDR_TEXT_MAX];

	TCP_INFO(conn->link->conf, "connected with %s, in the %s wire format, %s\n",
		 net_addr_text(&conn->peer.sa, text), conn->stream ? "compatible" : "native", tcp_sec_text(conn));
	if (!conn->stream)
		return;
	if (timers_join(&conn->poller->base.timers)) {
		tcp_conn_fail(conn, FI_ENOMEM, false);
		return;
	}
	conn->stream->joined = true;
	if (conn->link->kind == TCP_WIRE_RDM)
		send_waiting(conn);
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copyright (c) 2026 the libfabric authors. */
/*
 * rx.c - what the work item of a connection receives. Nothing in a frame is used before
 * hdr_check() or words_check() has passed it.
 */
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <net/sock.h>

#include "tcp.h"

static u8 junk[PAGE_SIZE];	/* takes payload that is not wanted */

/* ---- validation ---- */

static size_t hdr_size(const struct wire_hdr *hdr, u16 flags)
{
	size_t data = flags & WIRE_F_DATA ? sizeof(u64) : 0;

	switch (hdr->op) {
	case WIRE_MSG:
		return sizeof(*hdr) + (hdr->op_data == WIRE_ACK ? 0 : data);
	case WIRE_TAGGED:
		return sizeof(*hdr) + data + sizeof(u64);
	case WIRE_READ_REQ:
		return sizeof(*hdr) + hdr->ranges * sizeof(struct wire_range);
	case WIRE_WRITE:
		return sizeof(*hdr) + data + hdr->ranges * sizeof(struct wire_range);
	case WIRE_PACKET:
		return clamp_t(size_t, hdr->hdr_len, sizeof(*hdr) + sizeof(struct eng_base),
			       WIRE_HDR_MAX);
	default:
		return sizeof(*hdr);
	}
}

/* The first 16 bytes. */
static int hdr_check(const struct tcp_conn *conn)
{
	const struct wire_hdr *hdr = &conn->rx.hdr;
	u64 len = wire_u64(conn, hdr->len);

	if (hdr->op == WIRE_PACKET) {
		if (!conn->packets || hdr->flags || hdr->op_data || hdr->ranges ||
		    (len > hdr->hdr_len && len - hdr->hdr_len > 2 * KOFI_ATOMIC_MAX))
			return -FI_EPROTO;
	} else if (hdr->op > WIRE_WRITE) {
		return -FI_EPROTO;
	}
	if (hdr->op == WIRE_TAGGED && !(conn->ep->ep.caps & FI_TAGGED))
		return -FI_EPROTO;
	if ((hdr->op == WIRE_READ_REQ || hdr->op == WIRE_WRITE) &&
	    (!hdr->ranges || hdr->ranges > WIRE_RANGES_MAX))
		return -FI_EPROTO;
	if (hdr->hdr_len != hdr_size(hdr, wire_u16(conn, hdr->flags)) || len < hdr->hdr_len ||
	    len - hdr->hdr_len > TCP_MSG_MAX)
		return -FI_EPROTO;
	if ((hdr->op == WIRE_READ_REQ || (hdr->op == WIRE_MSG && hdr->op_data == WIRE_ACK)) &&
	    len != hdr->hdr_len)
		return -FI_EPROTO;
	return 0;
}

/* The words behind them, which are all there; fills in what the frame says. */
static int words_check(struct tcp_conn *conn)
{
	struct tcp_rx *rx = &conn->rx;
	const u64 *word = (const u64 *)(&rx->hdr + 1);
	u64 sum = 0;
	int i;

	rx->flags = wire_u16(conn, rx->hdr.flags);
	rx->len = wire_u64(conn, rx->hdr.len) - rx->hdr.hdr_len;
	rx->off = 0;
	rx->data = rx->tag = 0;
	if (rx->flags & WIRE_F_DATA && (rx->hdr.op == WIRE_MSG || rx->hdr.op == WIRE_TAGGED ||
					rx->hdr.op == WIRE_WRITE))
		rx->data = wire_u64(conn, *word++);
	if (rx->hdr.op == WIRE_TAGGED)
		rx->tag = wire_u64(conn, *word++);
	if (rx->hdr.op != WIRE_READ_REQ && rx->hdr.op != WIRE_WRITE)
		return 0;
	for (i = 0; i < rx->hdr.ranges; i++) {
		rx->range[i].addr = wire_u64(conn, *word++);
		rx->range[i].len = wire_u64(conn, *word++);
		rx->range[i].key = wire_u64(conn, *word++);
		if (rx->range[i].len > TCP_MSG_MAX)
			return -FI_EPROTO;
		sum += rx->range[i].len;
	}
	if (sum > TCP_MSG_MAX || (rx->hdr.op == WIRE_WRITE && sum != rx->len))
		return -FI_EPROTO;
	return 0;
}

/* ---- the socket ---- */

/* Bytes read; -EAGAIN; an error, which the end of the stream is. */
static int sock_recv(struct tcp_conn *conn, struct iov_iter *iter, int end)
{
	struct msghdr msg = { .msg_iter = *iter };
	int ret;

	ret = sock_recvmsg(conn->sock, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
	return ret ? ret : end;
}

static int buf_recv(struct tcp_conn *conn, void *buf, size_t len, int end)
{
	struct kvec iov = { buf, len };
	struct iov_iter iter;

	iov_iter_kvec(&iter, ITER_DEST, &iov, 1, len);
	return sock_recv(conn, &iter, end);
}

static int segs_recv(struct tcp_conn *conn, const struct kofi_segs *segs, size_t off, size_t len)
{
	struct iov_iter iter;

	kofi_segs_iter(segs, ITER_DEST, off, len, &iter);
	return sock_recv(conn, &iter, -FI_ECONNRESET);
}

/* ---- remote memory ---- */

static int read_begin(struct tcp_conn *conn)
{
	struct tcp_rx *rx = &conn->rx;
	struct tcp_answer *answer = kzalloc(sizeof(*answer), GFP_KERNEL);
	const struct wire_range *range;
	int i, ret = 0;

	if (!answer)
		return -FI_ENOMEM;
	answer->flags = rx->flags & ~(WIRE_F_ACK | WIRE_F_COMMIT);
	for (i = 0; i < rx->hdr.ranges && !ret; i++) {
		range = &rx->range[i];
		ret = kofi_mr_get(conn->ep->ep.domain, range->key, range->addr, range->len,
				  FI_REMOTE_READ, &answer->part[i].mr, &answer->part[i].off);
		if (ret)
			break;
		answer->part[i].len = range->len;
		answer->len += range->len;
		answer->ranges++;
	}
	if (!ret)
		ret = tcp_answer_add(conn, answer);
	if (ret) {
		while (answer->ranges)
			kofi_mr_put(answer->part[--answer->ranges].mr);
		kfree(answer);
		return ret;
	}
	rx->phase = RX_HDR;
	return kofi_remote_done(&conn->ep->ep, FI_RMA | FI_REMOTE_READ, answer->len, 0);
}

/* All ranges are good before a byte of one is written. */
static int write_begin(struct tcp_conn *conn)
{
	struct tcp_rx *rx = &conn->rx;
	struct kofi_mr *mr;
	size_t off;
	int i, ret;

	for (i = 0; i < rx->hdr.ranges; i++) {
		ret = kofi_mr_get(conn->ep->ep.domain, rx->range[i].key, rx->range[i].addr,
				  rx->range[i].len, FI_REMOTE_WRITE, &mr, &off);
		if (ret)
			return ret;
		kofi_mr_put(mr);
	}
	rx->phase = RX_PAYLOAD;
	return 0;
}

/* The region is held while bytes are copied, not while they are waited for. */
static int write_recv(struct tcp_conn *conn)
{
	struct tcp_rx *rx = &conn->rx;
	size_t off = rx->off, at, len;
	struct kofi_mr *mr;
	int i, ret;

	for (i = 0; off >= rx->range[i].len; i++)
		off -= rx->range[i].len;
	len = rx->range[i].len - off;
	ret = kofi_mr_get(conn->ep->ep.domain, rx->range[i].key, rx->range[i].addr + off, len,
			  FI_REMOTE_WRITE, &mr, &at);
	if (ret)
		return ret;
	ret = segs_recv(conn, &mr->segs, at, len);
	kofi_mr_put(mr);
	return ret;
}

static int read_rsp_begin(struct tcp_conn *conn)
{
	struct tcp_rx *rx = &conn->rx;
	struct kofi_op *op = list_first_entry_or_null(&conn->read_wait, struct kofi_op, node);

	if (!op || op->segs.len != rx->len)
		return -FI_EPROTO;
	list_del_init(&op->node);
	rx->op = op;
	rx->phase = RX_PAYLOAD;
	return 0;
}

static int ack_end(struct tcp_conn *conn)
{
	struct kofi_op *op = list_first_entry_or_null(&conn->ack_wait, struct kofi_op, node);

	if (!op)
		return -FI_EPROTO;
	list_del_init(&op->node);
	conn->rx.phase = RX_HDR;
	tcp_op_part(container_of(op, struct tcp_op, op), 0);
	return 0;
}

/* ---- frames ---- */

static int frame_begin(struct tcp_conn *conn)
{
	struct tcp_rx *rx = &conn->rx;
	int ret;

	ret = words_check(conn);
	if (ret)
		return ret;
	switch (rx->hdr.op) {
	case WIRE_MSG:
		return rx->hdr.op_data == WIRE_ACK ? ack_end(conn) : tcp_match_begin(conn);
	case WIRE_TAGGED:
		return tcp_match_begin(conn);
	case WIRE_READ_REQ:
		return read_begin(conn);
	case WIRE_READ_RSP:
		return read_rsp_begin(conn);
	case WIRE_PACKET:
		return tcp_packet_begin(conn);
	default:
		return write_begin(conn);
	}
}

static int hdr_recv(struct tcp_conn *conn)
{
	struct tcp_rx *rx = &conn->rx;
	size_t want = rx->phase == RX_HDR ? sizeof(rx->hdr) : rx->hdr.hdr_len;
	int ret;

	ret = buf_recv(conn, rx->buf + rx->got, want - rx->got,
		       rx->got ? -FI_ECONNRESET : -FI_ESHUTDOWN);
	if (ret < 0)
		return ret;
	rx->got += ret;
	if (rx->got < want)
		return 0;
	if (rx->phase == RX_HDR) {
		ret = hdr_check(conn);
		if (ret)
			return ret;
		if (rx->hdr.hdr_len > sizeof(rx->hdr)) {
			rx->phase = RX_WORDS;
			return 0;
		}
	}
	rx->got = 0;
	return frame_begin(conn);
}

/* The payload of a message: what the receive does not hold is read and dropped. */
static int msg_recv(struct tcp_conn *conn)
{
	struct tcp_rx *rx = &conn->rx;
	size_t left = rx->len - rx->off;

	if (rx->saved)
		return buf_recv(conn, rx->saved->data + rx->off, left, -FI_ECONNRESET);
	if (rx->off < rx->op->segs.len)
		return segs_recv(conn, &rx->op->segs, rx->off,
				 min(left, rx->op->segs.len - rx->off));
	return buf_recv(conn, junk, min(left, sizeof(junk)), -FI_ECONNRESET);
}

static int ack_send(struct tcp_conn *conn)
{
	struct tcp_answer *answer;
	int ret;

	if (!(conn->rx.flags & (WIRE_F_ACK | WIRE_F_COMMIT)))
		return 0;
	answer = kzalloc(sizeof(*answer), GFP_KERNEL);
	if (!answer)
		return -FI_ENOMEM;
	answer->kind = ANSWER_ACK;
	ret = tcp_answer_add(conn, answer);
	if (ret)
		kfree(answer);
	return ret;
}

static int payload_end(struct tcp_conn *conn)
{
	struct tcp_rx *rx = &conn->rx;
	struct tcp_saved *saved = rx->saved;
	struct kofi_op *op = rx->op;
	int ret = 0;

	rx->op = NULL;
	rx->saved = NULL;
	rx->phase = RX_HDR;
	switch (rx->hdr.op) {
	case WIRE_READ_RSP:
		tcp_op_part(container_of(op, struct tcp_op, op), 0);
		return 0;
	case WIRE_PACKET:
		return tcp_packet_end(conn, op);
	case WIRE_WRITE:
		ret = kofi_remote_done(&conn->ep->ep, FI_RMA | FI_REMOTE_WRITE |
				       (rx->flags & WIRE_F_DATA ? FI_REMOTE_CQ_DATA : 0),
				       rx->len, rx->data);
		break;
	default:
		tcp_match_end(conn, op, saved);
	}
	return ret ? ret : ack_send(conn);
}

static int payload_recv(struct tcp_conn *conn)
{
	struct tcp_rx *rx = &conn->rx;
	int ret;

	if (rx->off == rx->len)
		return payload_end(conn);
	switch (rx->hdr.op) {
	case WIRE_READ_RSP:
		ret = segs_recv(conn, &rx->op->segs, rx->off, rx->len - rx->off);
		break;
	case WIRE_WRITE:
		ret = write_recv(conn);
		break;
	case WIRE_PACKET:
		ret = segs_recv(conn, &rx->into, rx->off, rx->len - rx->off);
		break;
	default:
		ret = msg_recv(conn);
	}
	if (ret < 0)
		return ret;
	rx->off += ret;
	return rx->off == rx->len ? payload_end(conn) : 0;
}

int tcp_rx_run(struct tcp_conn *conn, bool *more_p)
{
	int ret;

	if (conn->rx.phase == RX_WAIT) {
		ret = tcp_match_wait(conn);
		if (ret || conn->rx.phase == RX_WAIT)
			return ret;
	}
	ret = conn->rx.phase == RX_PAYLOAD ? payload_recv(conn) : hdr_recv(conn);
	if (ret == -EAGAIN)
		return 0;
	if (ret == -FI_ENOKEY)
		return -FI_EPROTO;
	if (!ret)
		*more_p = true;
	return ret;
}

/* The state is CONN_DEAD: tcp_match_receive() leaves no receive here any more. */
void tcp_rx_fail(struct tcp_conn *conn, int err)
{
	struct tcp_rx *rx = &conn->rx;
	struct tcp_saved *saved = rx->saved;
	struct kofi_op *op;

	if (!conn->ep)
		return;
	if (rx->phase == RX_WAIT && kofi_arrival_cancel(&conn->ep->ep, &conn->arrival.arrival))
		tcp_conn_put(conn);
	spin_lock_bh(&conn->lock);
	op = rx->op;
	rx->op = NULL;
	spin_unlock_bh(&conn->lock);
	rx->saved = NULL;
	rx->phase = RX_HDR;
	tcp_packet_fail(conn);
	if (op && (rx->hdr.op == WIRE_READ_RSP || rx->hdr.op == WIRE_PACKET))
		tcp_op_part(container_of(op, struct tcp_op, op), err);
	else
		tcp_match_fail(conn, op, saved);
}

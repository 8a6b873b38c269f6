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

static unsigned int saved_max = 64;
module_param(saved_max, uint, 0644);
MODULE_PARM_DESC(saved_max, "messages of one peer that are kept when they find no receive");

static unsigned int saved_size_max = 65536;
module_param(saved_size_max, uint, 0644);
MODULE_PARM_DESC(saved_size_max, "longest message that is kept when it finds no receive");

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
	u64 len = wire64(conn, hdr->len);

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
	if (hdr->hdr_len != hdr_size(hdr, wire16(conn, hdr->flags)) || len < hdr->hdr_len ||
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

	rx->flags = wire16(conn, rx->hdr.flags);
	rx->len = wire64(conn, rx->hdr.len) - rx->hdr.hdr_len;
	rx->off = 0;
	rx->data = rx->tag = 0;
	if (rx->flags & WIRE_F_DATA && (rx->hdr.op == WIRE_MSG || rx->hdr.op == WIRE_TAGGED ||
					rx->hdr.op == WIRE_WRITE))
		rx->data = wire64(conn, *word++);
	if (rx->hdr.op == WIRE_TAGGED)
		rx->tag = wire64(conn, *word++);
	if (rx->hdr.op != WIRE_READ_REQ && rx->hdr.op != WIRE_WRITE)
		return 0;
	for (i = 0; i < rx->hdr.ranges; i++) {
		rx->range[i].addr = wire64(conn, *word++);
		rx->range[i].len = wire64(conn, *word++);
		rx->range[i].key = wire64(conn, *word++);
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
static int recv(struct tcp_conn *conn, struct iov_iter *iter, int end)
{
	struct msghdr msg = { .msg_iter = *iter };
	int ret;

	ret = sock_recvmsg(conn->sock, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
	return ret ? ret : end;
}

static int recv_buf(struct tcp_conn *conn, void *buf, size_t len, int end)
{
	struct kvec iov = { buf, len };
	struct iov_iter iter;

	iov_iter_kvec(&iter, ITER_DEST, &iov, 1, len);
	return recv(conn, &iter, end);
}

static int recv_segs(struct tcp_conn *conn, const struct kofi_segs *segs, size_t off, size_t len)
{
	struct iov_iter iter;

	kofi_segs_iter(segs, ITER_DEST, off, len, &iter);
	return recv(conn, &iter, -FI_ECONNRESET);
}

/* ---- messages ---- */

static struct kofi_recvd recvd_of(const struct tcp_conn *conn)
{
	const struct tcp_rx *rx = &conn->rx;
	struct kofi_recvd recvd = {
		.len = rx->len, .flags = rx->flags & WIRE_F_DATA ? FI_REMOTE_CQ_DATA : 0,
		.data = rx->data, .tag = rx->tag, .src = conn->peer,
	};

	return recvd;
}

static void saved_free(struct tcp_saved *saved)
{
	struct tcp_conn *conn = saved->conn;

	atomic_dec(&conn->saved_cnt);
	kvfree(saved);
	tcp_conn_put(conn);
}

static void saved_deliver(struct tcp_saved *saved, struct kofi_op *op)
{
	struct kvec iov = { saved->data, saved->recvd.len };
	struct kofi_segs segs = { .cnt = 1, .len = iov.iov_len, .kvec = &iov };

	kofi_segs_copy(&op->segs, 0, &segs, 0, min(op->segs.len, segs.len));
	kofi_rx_done(op, 0, &saved->recvd);
	saved_free(saved);
}

/* Messages of peers that are known, and small, wait in memory. */
static struct tcp_saved *saved_new(struct tcp_conn *conn)
{
	struct tcp_saved *saved;

	if (conn->peer == FI_ADDR_NOTAVAIL || conn->rx.len > saved_size_max ||
	    atomic_read(&conn->saved_cnt) >= saved_max)
		return NULL;
	saved = kvzalloc(struct_size(saved, data, conn->rx.len), GFP_KERNEL | __GFP_NOWARN);
	if (!saved)
		return NULL;
	saved->arrival.saved = true;
	saved->recvd = recvd_of(conn);
	saved->conn = conn;
	kref_get(&conn->ref);
	atomic_inc(&conn->saved_cnt);
	return saved;
}

static void arrival_fill(struct tcp_arrival *arrival, const struct tcp_conn *conn)
{
	arrival->arrival.tagged = conn->rx.hdr.op == WIRE_TAGGED;
	arrival->arrival.src = conn->peer;
	arrival->arrival.tag = conn->rx.tag;
	arrival->arrival.len = conn->rx.len;
}

static int begin_saved(struct tcp_conn *conn, struct tcp_saved *saved)
{
	struct kofi_op *op;

	arrival_fill(&saved->arrival, conn);
	op = kofi_rx_arrive(&conn->ep->ep, &saved->arrival.arrival);
	if (op)
		saved_free(saved);
	else
		conn->rx.saved = saved;
	if (IS_ERR(op))
		return PTR_ERR(op);
	conn->rx.op = op;
	conn->rx.phase = RX_PAYLOAD;
	return 0;
}

static int begin_msg(struct tcp_conn *conn)
{
	struct tcp_rx *rx = &conn->rx;
	struct tcp_saved *saved;
	struct kofi_op *op;

	arrival_fill(&conn->arrival, conn);
	op = kofi_rx_match(&conn->ep->ep, &conn->arrival.arrival);
	if (op) {
		rx->op = op;
		rx->phase = RX_PAYLOAD;
		return 0;
	}
	saved = saved_new(conn);
	if (saved)
		return begin_saved(conn, saved);
	rx->phase = RX_WAIT;
	conn->arrival.saved = false;
	kref_get(&conn->ref);
	op = kofi_rx_arrive(&conn->ep->ep, &conn->arrival.arrival);
	if (!op)
		return 0;
	tcp_conn_put(conn);
	if (IS_ERR(op))
		return PTR_ERR(op);
	rx->op = op;
	rx->phase = RX_PAYLOAD;
	return 0;
}

/* A receive without its message: the next message may have it. */
static void give_back(struct tcp_ep *ep, struct kofi_op *op)
{
	if (ep->ep.type == FI_EP_RDM)
		kofi_rx_repost(&ep->ep, op);
	else
		kofi_rx_done(op, FI_ECANCELED, NULL);
}

static void match_conn(struct tcp_conn *conn, struct kofi_op *op)
{
	bool dead;

	spin_lock_bh(&conn->lock);
	dead = conn->state == CONN_DEAD;
	if (!dead)
		conn->rx.op = op;
	spin_unlock_bh(&conn->lock);
	if (dead)
		give_back(conn->ep, op);
	else
		tcp_conn_kick(conn);
	tcp_conn_put(conn);
}

static void match_saved(struct tcp_saved *saved, struct kofi_op *op)
{
	struct tcp_ep *ep = saved->conn->ep;
	bool complete, failed;

	spin_lock_bh(&ep->ep.lock);
	complete = saved->complete;
	failed = saved->failed;
	saved->rx = op;
	spin_unlock_bh(&ep->ep.lock);
	if (complete) {
		saved_deliver(saved, op);
	} else if (failed) {
		saved_free(saved);
		give_back(ep, op);
	}
}

void tcp_rx_match(struct kofi_ep *ep, struct kofi_op *op, struct kofi_arrival *arrival)
{
	struct tcp_arrival *found = container_of(arrival, struct tcp_arrival, arrival);

	if (found->saved)
		match_saved(container_of(found, struct tcp_saved, arrival), op);
	else
		match_conn(container_of(found, struct tcp_conn, arrival), op);
}

static void saved_end(struct tcp_ep *ep, struct tcp_saved *saved, bool complete)
{
	struct kofi_op *op;

	if (!complete && kofi_arrival_cancel(&ep->ep, &saved->arrival.arrival)) {
		saved_free(saved);
		return;
	}
	spin_lock_bh(&ep->ep.lock);
	saved->complete = complete;
	saved->failed = !complete;
	op = saved->rx;
	spin_unlock_bh(&ep->ep.lock);
	if (op && complete) {
		saved_deliver(saved, op);
	} else if (op) {
		saved_free(saved);
		give_back(ep, op);
	}
}

void tcp_saved_drop(struct tcp_ep *ep)
{
	struct kofi_arrival *arrival;
	int i;

	for (i = 0; i < 2; i++)
		while ((arrival = list_first_entry_or_null(&ep->ep.arrivals[i],
							   struct kofi_arrival, node)))
			if (kofi_arrival_cancel(&ep->ep, arrival))
				saved_free(container_of(arrival, struct tcp_saved,
							arrival.arrival));
}

/* ---- remote memory ---- */

static int begin_read(struct tcp_conn *conn)
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
static int begin_write(struct tcp_conn *conn)
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
static int recv_write(struct tcp_conn *conn)
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
	ret = recv_segs(conn, &mr->segs, at, len);
	kofi_mr_put(mr);
	return ret;
}

static int begin_read_rsp(struct tcp_conn *conn)
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

static int on_ack(struct tcp_conn *conn)
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

static int begin(struct tcp_conn *conn)
{
	struct tcp_rx *rx = &conn->rx;
	int ret;

	ret = words_check(conn);
	if (ret)
		return ret;
	switch (rx->hdr.op) {
	case WIRE_MSG:
		return rx->hdr.op_data == WIRE_ACK ? on_ack(conn) : begin_msg(conn);
	case WIRE_TAGGED:
		return begin_msg(conn);
	case WIRE_READ_REQ:
		return begin_read(conn);
	case WIRE_READ_RSP:
		return begin_read_rsp(conn);
	case WIRE_PACKET:
		return tcp_packet_begin(conn);
	default:
		return begin_write(conn);
	}
}

static int recv_hdr(struct tcp_conn *conn)
{
	struct tcp_rx *rx = &conn->rx;
	size_t want = rx->phase == RX_HDR ? sizeof(rx->hdr) : rx->hdr.hdr_len;
	int ret;

	ret = recv_buf(conn, rx->buf + rx->got, want - rx->got,
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
	return begin(conn);
}

/* The payload of a message: what the receive does not hold is read and dropped. */
static int recv_msg(struct tcp_conn *conn)
{
	struct tcp_rx *rx = &conn->rx;
	size_t left = rx->len - rx->off;

	if (rx->saved)
		return recv_buf(conn, rx->saved->data + rx->off, left, -FI_ECONNRESET);
	if (rx->off < rx->op->segs.len)
		return recv_segs(conn, &rx->op->segs, rx->off,
				 min(left, rx->op->segs.len - rx->off));
	return recv_buf(conn, junk, min(left, sizeof(junk)), -FI_ECONNRESET);
}

static int acknowledge(struct tcp_conn *conn)
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

static int end(struct tcp_conn *conn)
{
	struct tcp_rx *rx = &conn->rx;
	struct kofi_recvd recvd = recvd_of(conn);
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
		ret = kofi_remote_done(&conn->ep->ep, FI_RMA | FI_REMOTE_WRITE | recvd.flags,
				       rx->len, rx->data);
		break;
	default:
		if (saved)
			saved_end(conn->ep, saved, true);
		else
			kofi_rx_done(op, 0, &recvd);
	}
	return ret ? ret : acknowledge(conn);
}

static int recv_payload(struct tcp_conn *conn)
{
	struct tcp_rx *rx = &conn->rx;
	int ret;

	if (rx->off == rx->len)
		return end(conn);
	switch (rx->hdr.op) {
	case WIRE_READ_RSP:
		ret = recv_segs(conn, &rx->op->segs, rx->off, rx->len - rx->off);
		break;
	case WIRE_WRITE:
		ret = recv_write(conn);
		break;
	case WIRE_PACKET:
		ret = recv_segs(conn, &rx->into, rx->off, rx->len - rx->off);
		break;
	default:
		ret = recv_msg(conn);
	}
	if (ret < 0)
		return ret;
	rx->off += ret;
	return rx->off == rx->len ? end(conn) : 0;
}

static bool receive_came(struct tcp_conn *conn)
{
	bool came;

	spin_lock_bh(&conn->lock);
	came = conn->rx.op;
	spin_unlock_bh(&conn->lock);
	return came;
}

/* Nothing is read, but a reset is noticed, and that the peer has closed: the application of a
 * connection is told, and may still receive what the peer had sent. */
static int waiting(struct tcp_conn *conn)
{
	struct sock *sk = conn->sock->sk;

	if (READ_ONCE(sk->sk_shutdown) & RCV_SHUTDOWN) {
		if (conn->ep->ep.type == FI_EP_MSG)
			kofi_ep_ended(&conn->ep->ep);
		else if (conn->peer == FI_ADDR_NOTAVAIL)
			return -FI_ECONNRESET;
	}
	return sock_error(sk);
}

int tcp_rx_run(struct tcp_conn *conn, bool *more_p)
{
	int ret;

	if (conn->rx.phase == RX_WAIT) {
		if (!receive_came(conn))
			return waiting(conn);
		conn->rx.phase = RX_PAYLOAD;
	}
	ret = conn->rx.phase == RX_PAYLOAD ? recv_payload(conn) : recv_hdr(conn);
	if (ret == -EAGAIN)
		return 0;
	if (ret == -FI_ENOKEY)
		return -FI_EPROTO;
	if (!ret)
		*more_p = true;
	return ret;
}

/* The state is CONN_DEAD: rx_match() leaves no receive here any more. */
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
	if (saved)
		saved_end(conn->ep, saved, false);
	else if (op && (rx->hdr.op == WIRE_READ_RSP || rx->hdr.op == WIRE_PACKET))
		tcp_op_part(container_of(op, struct tcp_op, op), err);
	else if (op)
		give_back(conn->ep, op);
}

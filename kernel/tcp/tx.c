// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copyright (c) 2026 the libfabric authors. */
/*
 * tx.c - what the work item of a connection sends: answers first, then operations, whole
 * frames in either case.
 */
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <net/sock.h>

#include "tcp.h"

#define CHUNK_MAX	(1 << 20)	/* bytes that are handed to the socket at once */
#define ANSWERS_MAX	TCP_TX_SIZE_MAX	/* of one peer, not sent yet */

static unsigned int zero_copy_min = 4096;
module_param(zero_copy_min, uint, 0644);
MODULE_PARM_DESC(zero_copy_min, "payload of this many bytes is sent without a copy");

/* ---- operations and answers end ---- */

void tcp_op_part(struct tcp_op *op, int err)
{
	if (err)
		cmpxchg(&op->err, 0, err);
	if (atomic_dec_and_test(&op->parts))
		kofi_tx_done(&op->op, op->err);
}

static void op_dropped(struct ubuf_info *ubuf)
{
	tcp_op_part(container_of(ubuf, struct tcp_op, ubuf), 0);
}
KOFI_UBUF_RELEASE(op_ubuf, op_dropped);

static void answer_free(struct tcp_answer *answer)
{
	struct tcp_conn *conn = answer->conn;
	int i;

	spin_lock_bh(&conn->lock);
	list_del(&answer->held);
	spin_unlock_bh(&conn->lock);
	for (i = 0; i < answer->ranges; i++)
		kofi_mr_put(answer->part[i].mr);
	kfree(answer->buf);
	kfree(answer);
	tcp_conn_put(conn);
}

static void answer_part(struct tcp_answer *answer)
{
	if (atomic_dec_and_test(&answer->parts))
		answer_free(answer);
}

static void answer_dropped(struct ubuf_info *ubuf)
{
	answer_part(container_of(ubuf, struct tcp_answer, ubuf));
}
KOFI_UBUF_RELEASE(answer_ubuf, answer_dropped);

int tcp_answer_add(struct tcp_conn *conn, struct tcp_answer *answer)
{
	if (conn->answer_cnt == ANSWERS_MAX)
		return -FI_EPROTO;
	conn->answer_cnt++;
	kref_get(&conn->ref);
	answer->conn = conn;
	atomic_set(&answer->parts, 1);
	list_add_tail(&answer->node, &conn->answers);
	spin_lock_bh(&conn->lock);
	list_add_tail(&answer->held, &conn->holds);
	spin_unlock_bh(&conn->lock);
	return 0;
}

/* ---- headers ---- */

static u64 *put_hdr(struct tcp_conn *conn, enum wire_op op, u16 flags)
{
	struct wire_hdr *hdr = (struct wire_hdr *)conn->tx.hdr;

	memset(hdr, 0, sizeof(*hdr));
	hdr->version = WIRE_VERSION;
	hdr->op = op;
	hdr->flags = wire16(conn, flags);
	hdr->seq = conn->seq++;
	return (u64 *)(hdr + 1);
}

static void end_hdr(struct tcp_conn *conn, const void *end, size_t payload)
{
	struct wire_hdr *hdr = (struct wire_hdr *)conn->tx.hdr;

	conn->tx.hdr_len = (const u8 *)end - conn->tx.hdr;
	conn->tx.hdr_off = 0;
	conn->tx.len = payload;
	conn->tx.off = 0;
	hdr->hdr_len = conn->tx.hdr_len;
	hdr->len = wire64(conn, conn->tx.hdr_len + payload);
}

static bool is_packet(const struct kofi_op *op)
{
	return op->type >= KOFI_ATOMIC;
}

static void packet_hdr(struct tcp_conn *conn, struct tcp_op *top)
{
	u8 *out = (u8 *)put_hdr(conn, WIRE_PACKET, 0);

	out += tcp_packet_put(conn, top, out);
	end_hdr(conn, out, top->op.segs.len + top->op.compare.len);
}

static u16 wire_flags(const struct kofi_op *op)
{
	u16 flags = 0;

	if (op->type == KOFI_READ || is_packet(op))
		return 0;
	if (op->flags & FI_REMOTE_CQ_DATA)
		flags |= WIRE_F_DATA;
	if (op->flags & (FI_DELIVERY_COMPLETE | FI_TRANSMIT_COMPLETE))
		flags |= WIRE_F_ACK;
	return flags;
}

static void op_hdr(struct tcp_conn *conn, struct kofi_op *op)
{
	static const enum wire_op ops[] = {
		[KOFI_SEND] = WIRE_MSG, [KOFI_TSEND] = WIRE_TAGGED,
		[KOFI_WRITE] = WIRE_WRITE, [KOFI_READ] = WIRE_READ_REQ,
	};
	u16 flags = wire_flags(op);
	u64 *word;
	u32 i;

	if (is_packet(op)) {
		packet_hdr(conn, container_of(op, struct tcp_op, op));
		return;
	}
	word = put_hdr(conn, ops[op->type], flags);

	if (flags & WIRE_F_DATA)
		*word++ = wire64(conn, op->data);
	if (op->type == KOFI_TSEND)
		*word++ = wire64(conn, op->tag);
	for (i = 0; i < op->rma_cnt; i++) {
		*word++ = wire64(conn, op->rma[i].addr);
		*word++ = wire64(conn, op->rma[i].len);
		*word++ = wire64(conn, op->rma[i].key);
	}
	((struct wire_hdr *)conn->tx.hdr)->ranges = op->rma_cnt;
	end_hdr(conn, word, op->type == KOFI_READ ? 0 : op->segs.len);
}

static void answer_hdr(struct tcp_conn *conn, const struct tcp_answer *answer)
{
	struct wire_hdr *hdr = (struct wire_hdr *)conn->tx.hdr;
	u64 *word;

	if (answer->kind == ANSWER_PACKET) {
		word = put_hdr(conn, WIRE_PACKET, 0);
		memcpy(word, answer->hdr, answer->hdr_len);
		end_hdr(conn, (u8 *)word + answer->hdr_len, answer->len);
		return;
	}
	if (answer->kind == ANSWER_ACK) {
		word = put_hdr(conn, WIRE_MSG, 0);
		hdr->op_data = WIRE_ACK;
	} else {
		word = put_hdr(conn, WIRE_READ_RSP, answer->flags);
		hdr->ranges = answer->ranges;
	}
	end_hdr(conn, word, answer->len);
}

/* ---- what can be sent without a copy ---- */

/* Pages that the stack may hold: not slab memory, and with a count of their own. */
static bool page_ok(struct page *page, size_t len)
{
	size_t i;

	for (i = 0; i < DIV_ROUND_UP(len, PAGE_SIZE); i++)
		if (!sendpage_ok(page + i))
			return false;
	return true;
}

static bool segs_ok(const struct kofi_segs *segs)
{
	const struct kvec *iov;
	u32 i;

	if (segs->len < zero_copy_min)
		return false;
	for (i = 0; i < segs->cnt; i++) {
		if (segs->is_bvec) {
			if (!page_ok(segs->bvec[i].bv_page,
				     segs->bvec[i].bv_offset + segs->bvec[i].bv_len))
				return false;
			continue;
		}
		iov = &segs->kvec[i];
		if (iov->iov_len && (!virt_addr_valid(iov->iov_base) ||
				     !page_ok(virt_to_page(iov->iov_base),
					      offset_in_page(iov->iov_base) + iov->iov_len)))
			return false;
	}
	return true;
}

/* The piece at @off as a page list of one. Returns bytes of it. */
static size_t piece_at(const struct kofi_segs *segs, size_t off, struct bio_vec *bvec)
{
	const struct kvec *iov = segs->kvec;

	while (off >= iov->iov_len)
		off -= iov++->iov_len;
	bvec->bv_page = virt_to_page(iov->iov_base + off);
	bvec->bv_offset = offset_in_page(iov->iov_base + off);
	bvec->bv_len = iov->iov_len - off;
	return bvec->bv_len;
}

static int send_segs(struct tcp_conn *conn, const struct kofi_segs *segs, size_t off, size_t len,
		     struct ubuf_info *ubuf, bool more)
{
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL };
	struct bio_vec bvec;

	if (len > CHUNK_MAX) {
		len = CHUNK_MAX;
		more = true;
	}
	if (ubuf) {
		msg.msg_flags |= MSG_ZEROCOPY;
		msg.msg_ubuf = ubuf;
	}
	if (ubuf && !segs->is_bvec) {
		if (piece_at(segs, off, &bvec) < len) {
			len = bvec.bv_len;
			more = true;
		}
		iov_iter_bvec(&msg.msg_iter, ITER_SOURCE, &bvec, 1, len);
	} else {
		kofi_segs_iter(segs, ITER_SOURCE, off, len, &msg.msg_iter);
	}
	if (more)
		msg.msg_flags |= MSG_MORE;
	return sock_sendmsg(conn->sock, &msg);
}

/* ---- a frame ---- */

static bool has_next(struct tcp_conn *conn)
{
	return !list_empty(&conn->answers) || !list_empty_careful(&conn->txq);
}

static int send_hdr(struct tcp_conn *conn)
{
	struct tcp_tx *tx = &conn->tx;
	struct kvec iov = { tx->hdr + tx->hdr_off, tx->hdr_len - tx->hdr_off };
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL };
	int ret;

	if (tx->len || has_next(conn))
		msg.msg_flags |= MSG_MORE;
	ret = kernel_sendmsg(conn->sock, &msg, &iov, 1, iov.iov_len);
	if (ret > 0)
		tx->hdr_off += ret;
	return ret;
}

static int send_answer(struct tcp_conn *conn, struct tcp_answer *answer)
{
	struct tcp_tx *tx = &conn->tx;
	struct kvec iov = { answer->buf, answer->len };
	struct kofi_segs packet = { .cnt = 1, .len = answer->len, .kvec = &iov };
	size_t off = tx->off;
	int i;

	if (answer->kind == ANSWER_PACKET)
		return send_segs(conn, &packet, off, answer->len - off, NULL, has_next(conn));
	for (i = 0; off >= answer->part[i].len; i++)
		off -= answer->part[i].len;
	return send_segs(conn, &answer->part[i].mr->segs, answer->part[i].off + off,
			 answer->part[i].len - off, tx->zero_copy ? &answer->ubuf : NULL,
			 i + 1 < answer->ranges || has_next(conn));
}

/* Operands, and comparands of an atomic behind them. */
static int send_op(struct tcp_conn *conn, struct tcp_op *top)
{
	const struct kofi_segs *segs = &top->op.segs;
	struct tcp_tx *tx = &conn->tx;

	if (!is_packet(&top->op) || !top->op.compare.len)
		return send_segs(conn, segs, tx->off, tx->len - tx->off,
				 tx->zero_copy ? &top->ubuf : NULL, has_next(conn));
	if (tx->off < segs->len)
		return send_segs(conn, segs, tx->off, segs->len - tx->off, NULL, true);
	return send_segs(conn, &top->op.compare, tx->off - segs->len, tx->len - tx->off, NULL,
			 has_next(conn));
}

static int send_some(struct tcp_conn *conn)
{
	struct tcp_tx *tx = &conn->tx;
	int ret;

	if (tx->hdr_off < tx->hdr_len)
		return send_hdr(conn);
	if (tx->answer)
		ret = send_answer(conn, tx->answer);
	else
		ret = send_op(conn, tx->op);
	if (ret > 0)
		tx->off += ret;
	return ret;
}

static void begin_answer(struct tcp_conn *conn)
{
	struct tcp_answer *answer = list_first_entry(&conn->answers, struct tcp_answer, node);
	struct tcp_tx *tx = &conn->tx;
	int i;

	list_del_init(&answer->node);
	conn->answer_cnt--;
	tx->answer = answer;
	tx->zero_copy = answer->kind == ANSWER_READ && answer->len >= zero_copy_min;
	for (i = 0; i < answer->ranges && tx->zero_copy; i++)
		tx->zero_copy = segs_ok(&answer->part[i].mr->segs);
	if (tx->zero_copy) {
		kofi_ubuf_init(&answer->ubuf, &answer_ubuf);
		atomic_inc(&answer->parts);
	}
	answer_hdr(conn, answer);
}

/* An answer may come as soon as the last byte has gone: what waits for one is listed first. */
static bool begin_op(struct tcp_conn *conn)
{
	struct tcp_tx *tx = &conn->tx;
	struct kofi_op *op;

	spin_lock_bh(&conn->lock);
	op = list_first_entry_or_null(&conn->txq, struct kofi_op, node);
	if (op)
		list_del_init(&op->node);
	spin_unlock_bh(&conn->lock);
	if (!op)
		return false;
	if (is_packet(op) && !conn->packets) {
		tcp_op_part(container_of(op, struct tcp_op, op), FI_EOPNOTSUPP);
		return true;
	}
	tx->op = container_of(op, struct tcp_op, op);
	tx->zero_copy = op->type != KOFI_READ && !is_packet(op) && segs_ok(&op->segs);
	if (tx->zero_copy) {
		kofi_ubuf_init(&tx->op->ubuf, &op_ubuf);
		atomic_inc(&tx->op->parts);
	}
	op_hdr(conn, op);
	if (op->type == KOFI_READ || is_packet(op) || wire_flags(op) & WIRE_F_ACK) {
		atomic_inc(&tx->op->parts);
		list_add_tail(&op->node, op->type == KOFI_READ ? &conn->read_wait :
				is_packet(op) ? &conn->amo_wait : &conn->ack_wait);
	}
	return true;
}

static void end_frame(struct tcp_conn *conn, int err)
{
	struct tcp_tx *tx = &conn->tx;
	struct tcp_answer *answer = tx->answer;
	struct tcp_op *op = tx->op;
	bool zero_copy = tx->zero_copy;

	tx->answer = NULL;
	tx->op = NULL;
	tx->zero_copy = false;
	if (answer) {
		if (zero_copy)
			kofi_ubuf_put(&answer->ubuf, answer_ubuf);
		answer_part(answer);
	} else if (op) {
		if (zero_copy)
			kofi_ubuf_put(&op->ubuf, op_ubuf);
		tcp_op_part(op, err);
	}
}

int tcp_tx_run(struct tcp_conn *conn, bool *more_p)
{
	struct tcp_tx *tx = &conn->tx;
	int ret;

	if (!tx->op && !tx->answer) {
		if (!list_empty(&conn->answers))
			begin_answer(conn);
		else if (!begin_op(conn))
			return 0;
	}
	while (tx->hdr_off < tx->hdr_len || tx->off < tx->len) {
		ret = send_some(conn);
		if (ret == -EAGAIN || !ret) {
			set_bit(SOCK_NOSPACE, &conn->sock->flags);
			/* room may have come before the bit was set */
			*more_p |= sk_stream_is_writeable(conn->sock->sk);
			return 0;
		}
		if (ret < 0)
			return ret;
	}
	end_frame(conn, 0);
	*more_p = true;
	return 0;
}

/* ---- the end of a connection ---- */

static void fail_list(struct list_head *list, int err)
{
	struct kofi_op *op;

	while ((op = list_first_entry_or_null(list, struct kofi_op, node))) {
		list_del_init(&op->node);
		tcp_op_part(container_of(op, struct tcp_op, op), err);
	}
}

void tcp_tx_fail(struct tcp_conn *conn, int err)
{
	struct tcp_answer *answer;
	LIST_HEAD(txq);

	end_frame(conn, err);
	while ((answer = list_first_entry_or_null(&conn->answers, struct tcp_answer, node))) {
		list_del_init(&answer->node);
		answer_part(answer);
	}
	conn->answer_cnt = 0;
	fail_list(&conn->ack_wait, err);
	fail_list(&conn->read_wait, err);
	fail_list(&conn->amo_wait, err);
	spin_lock_bh(&conn->lock);
	list_splice_init(&conn->txq, &txq);
	spin_unlock_bh(&conn->lock);
	fail_list(&txq, err);
}

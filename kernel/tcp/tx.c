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

static unsigned int zero_copy_min = 4096;
module_param(zero_copy_min, uint, 0644);
MODULE_PARM_DESC(zero_copy_min, "payload of this many bytes is sent without a copy");

/* ---- headers ---- */

static u64 *hdr_begin(struct tcp_conn *conn, enum wire_op op, u16 flags)
{
	struct wire_hdr *hdr = (struct wire_hdr *)conn->tx.hdr;

	memset(hdr, 0, sizeof(*hdr));
	hdr->version = WIRE_VERSION;
	hdr->op = op;
	hdr->flags = wire_u16(conn, flags);
	hdr->seq = conn->seq++;
	return (u64 *)(hdr + 1);
}

static void hdr_end(struct tcp_conn *conn, const void *end, size_t payload)
{
	struct wire_hdr *hdr = (struct wire_hdr *)conn->tx.hdr;

	conn->tx.hdr_len = (const u8 *)end - conn->tx.hdr;
	conn->tx.hdr_off = 0;
	conn->tx.len = payload;
	conn->tx.off = 0;
	hdr->hdr_len = conn->tx.hdr_len;
	hdr->len = wire_u64(conn, conn->tx.hdr_len + payload);
}

static bool op_is_packet(const struct kofi_op *op)
{
	return op->type >= KOFI_ATOMIC;
}

static void packet_hdr_write(struct tcp_conn *conn, struct tcp_op *top)
{
	u8 *out = (u8 *)hdr_begin(conn, WIRE_PACKET, 0);

	out += tcp_packet_put(conn, top, out);
	hdr_end(conn, out, top->op.segs.len + top->op.compare.len);
}

static u16 op_wire_flags(const struct kofi_op *op)
{
	u16 flags = 0;

	if (op->type == KOFI_READ || op_is_packet(op))
		return 0;
	if (op->flags & FI_REMOTE_CQ_DATA)
		flags |= WIRE_F_DATA;
	if (op->flags & (FI_DELIVERY_COMPLETE | FI_TRANSMIT_COMPLETE))
		flags |= WIRE_F_ACK;
	return flags;
}

static void op_hdr_write(struct tcp_conn *conn, struct kofi_op *op)
{
	static const enum wire_op ops[] = {
		[KOFI_SEND] = WIRE_MSG, [KOFI_TSEND] = WIRE_TAGGED,
		[KOFI_WRITE] = WIRE_WRITE, [KOFI_READ] = WIRE_READ_REQ,
	};
	u16 flags = op_wire_flags(op);
	u64 *word;
	u32 i;

	if (op_is_packet(op)) {
		packet_hdr_write(conn, container_of(op, struct tcp_op, op));
		return;
	}
	word = hdr_begin(conn, ops[op->type], flags);

	if (flags & WIRE_F_DATA)
		*word++ = wire_u64(conn, op->data);
	if (op->type == KOFI_TSEND)
		*word++ = wire_u64(conn, op->tag);
	for (i = 0; i < op->rma_cnt; i++) {
		*word++ = wire_u64(conn, op->rma[i].addr);
		*word++ = wire_u64(conn, op->rma[i].len);
		*word++ = wire_u64(conn, op->rma[i].key);
	}
	((struct wire_hdr *)conn->tx.hdr)->ranges = op->rma_cnt;
	hdr_end(conn, word, op->type == KOFI_READ ? 0 : op->segs.len);
}

static void answer_hdr_write(struct tcp_conn *conn, const struct tcp_answer *answer)
{
	struct wire_hdr *hdr = (struct wire_hdr *)conn->tx.hdr;
	u64 *word;

	if (answer->kind == ANSWER_PACKET) {
		word = hdr_begin(conn, WIRE_PACKET, 0);
		memcpy(word, answer->hdr, answer->hdr_len);
		hdr_end(conn, (u8 *)word + answer->hdr_len, answer->len);
		return;
	}
	if (answer->kind == ANSWER_ACK) {
		word = hdr_begin(conn, WIRE_MSG, 0);
		hdr->op_data = WIRE_ACK;
	} else {
		word = hdr_begin(conn, WIRE_READ_RSP, answer->flags);
		hdr->ranges = answer->ranges;
	}
	hdr_end(conn, word, answer->len);
}

/* ---- what can be sent without a copy ---- */

/* Pages that the stack may hold: not slab memory, and with a count of their own. */
static bool page_can_lend(struct page *page, size_t len)
{
	size_t i;

	for (i = 0; i < DIV_ROUND_UP(len, PAGE_SIZE); i++)
		if (!sendpage_ok(page + i))
			return false;
	return true;
}

static bool segs_can_lend(const struct kofi_segs *segs)
{
	const struct kvec *iov;
	u32 i;

	if (segs->len < zero_copy_min)
		return false;
	for (i = 0; i < segs->cnt; i++) {
		if (segs->is_bvec) {
			if (!page_can_lend(segs->bvec[i].bv_page,
				     segs->bvec[i].bv_offset + segs->bvec[i].bv_len))
				return false;
			continue;
		}
		iov = &segs->kvec[i];
		if (iov->iov_len && (!virt_addr_valid(iov->iov_base) ||
				     !page_can_lend(virt_to_page(iov->iov_base),
					      offset_in_page(iov->iov_base) + iov->iov_len)))
			return false;
	}
	return true;
}

/* The piece at @off as a page list of one. Returns bytes of it. */
static size_t piece_find(const struct kofi_segs *segs, size_t off, struct bio_vec *bvec)
{
	const struct kvec *iov = segs->kvec;

	while (off >= iov->iov_len)
		off -= iov++->iov_len;
	bvec->bv_page = virt_to_page(iov->iov_base + off);
	bvec->bv_offset = offset_in_page(iov->iov_base + off);
	bvec->bv_len = iov->iov_len - off;
	return bvec->bv_len;
}

static int segs_send(struct tcp_conn *conn, const struct kofi_segs *segs, size_t off, size_t len,
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
		if (piece_find(segs, off, &bvec) < len) {
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

static bool frame_follows(struct tcp_conn *conn)
{
	return !list_empty(&conn->answers) || !list_empty_careful(&conn->txq);
}

static int hdr_send(struct tcp_conn *conn)
{
	struct tcp_tx *tx = &conn->tx;
	struct kvec iov = { tx->hdr + tx->hdr_off, tx->hdr_len - tx->hdr_off };
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL };
	int ret;

	if (tx->len || frame_follows(conn))
		msg.msg_flags |= MSG_MORE;
	ret = kernel_sendmsg(conn->sock, &msg, &iov, 1, iov.iov_len);
	if (ret > 0)
		tx->hdr_off += ret;
	return ret;
}

static int answer_send(struct tcp_conn *conn, struct tcp_answer *answer)
{
	struct tcp_tx *tx = &conn->tx;
	struct kvec iov = { answer->buf, answer->len };
	struct kofi_segs packet = { .cnt = 1, .len = answer->len, .kvec = &iov };
	size_t off = tx->off;
	int i;

	if (answer->kind == ANSWER_PACKET)
		return segs_send(conn, &packet, off, answer->len - off, NULL, frame_follows(conn));
	for (i = 0; off >= answer->part[i].len; i++)
		off -= answer->part[i].len;
	return segs_send(conn, &answer->part[i].mr->segs, answer->part[i].off + off,
			 answer->part[i].len - off, tx->zero_copy ? &answer->ubuf : NULL,
			 i + 1 < answer->ranges || frame_follows(conn));
}

/* Operands, and comparands of an atomic behind them. */
static int op_send(struct tcp_conn *conn, struct tcp_op *top)
{
	const struct kofi_segs *segs = &top->op.segs;
	struct tcp_tx *tx = &conn->tx;

	if (!op_is_packet(&top->op) || !top->op.compare.len)
		return segs_send(conn, segs, tx->off, tx->len - tx->off,
				 tx->zero_copy ? &top->ubuf : NULL, frame_follows(conn));
	if (tx->off < segs->len)
		return segs_send(conn, segs, tx->off, segs->len - tx->off, NULL, true);
	return segs_send(conn, &top->op.compare, tx->off - segs->len, tx->len - tx->off, NULL,
			 frame_follows(conn));
}

static int frame_send(struct tcp_conn *conn)
{
	struct tcp_tx *tx = &conn->tx;
	int ret;

	if (tx->hdr_off < tx->hdr_len)
		return hdr_send(conn);
	if (tx->answer)
		ret = answer_send(conn, tx->answer);
	else
		ret = op_send(conn, tx->op);
	if (ret > 0)
		tx->off += ret;
	return ret;
}

static void answer_begin(struct tcp_conn *conn)
{
	struct tcp_answer *answer = list_first_entry(&conn->answers, struct tcp_answer, node);
	struct tcp_tx *tx = &conn->tx;
	int i;

	list_del_init(&answer->node);
	conn->answer_cnt--;
	tx->answer = answer;
	tx->zero_copy = answer->kind == ANSWER_READ && answer->len >= zero_copy_min;
	for (i = 0; i < answer->ranges && tx->zero_copy; i++)
		tx->zero_copy = segs_can_lend(&answer->part[i].mr->segs);
	if (tx->zero_copy)
		tcp_answer_lend(answer);
	answer_hdr_write(conn, answer);
}

/* An answer may come as soon as the last byte has gone: what waits for one is listed first. */
static bool op_begin(struct tcp_conn *conn)
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
	if (op_is_packet(op) && !conn->packets) {
		tcp_op_part(container_of(op, struct tcp_op, op), FI_EOPNOTSUPP);
		return true;
	}
	tx->op = container_of(op, struct tcp_op, op);
	tx->zero_copy = op->type != KOFI_READ && !op_is_packet(op) && segs_can_lend(&op->segs);
	if (tx->zero_copy)
		tcp_op_lend(tx->op);
	op_hdr_write(conn, op);
	if (op->type == KOFI_READ || op_is_packet(op) || op_wire_flags(op) & WIRE_F_ACK) {
		atomic_inc(&tx->op->parts);
		list_add_tail(&op->node, op->type == KOFI_READ ? &conn->read_wait :
				op_is_packet(op) ? &conn->amo_wait : &conn->ack_wait);
	}
	return true;
}

static void frame_end(struct tcp_conn *conn, int err)
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
			tcp_answer_lent(answer);
		tcp_answer_part(answer);
	} else if (op) {
		if (zero_copy)
			tcp_op_lent(op);
		tcp_op_part(op, err);
	}
}

int tcp_tx_run(struct tcp_conn *conn, bool *more_p)
{
	struct tcp_tx *tx = &conn->tx;
	int ret;

	if (!tx->op && !tx->answer) {
		if (!list_empty(&conn->answers))
			answer_begin(conn);
		else if (!op_begin(conn))
			return 0;
	}
	while (tx->hdr_off < tx->hdr_len || tx->off < tx->len) {
		ret = frame_send(conn);
		if (ret == -EAGAIN || !ret) {
			set_bit(SOCK_NOSPACE, &conn->sock->flags);
			/* room may have come before the bit was set */
			*more_p |= sk_stream_is_writeable(conn->sock->sk);
			return 0;
		}
		if (ret < 0)
			return ret;
	}
	frame_end(conn, 0);
	*more_p = true;
	return 0;
}

/* ---- the end of a connection ---- */

static void list_fail(struct list_head *list, int err)
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

	frame_end(conn, err);
	while ((answer = list_first_entry_or_null(&conn->answers, struct tcp_answer, node))) {
		list_del_init(&answer->node);
		tcp_answer_part(answer);
	}
	conn->answer_cnt = 0;
	list_fail(&conn->ack_wait, err);
	list_fail(&conn->read_wait, err);
	list_fail(&conn->amo_wait, err);
	spin_lock_bh(&conn->lock);
	list_splice_init(&conn->txq, &txq);
	spin_unlock_bh(&conn->lock);
	list_fail(&txq, err);
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copyright (c) 2026 the libfabric authors. */
/*
 * packet.c - atomic operations over a connection: frames that hold a packet of the library's engine.
 *
 *   ATOMIC   a request: operands, then comparands
 *   DATA     old values
 *   ACK      it was done; nothing comes back
 *   NACK     it was not
 *
 * Answers carry the number of their request. All memory that a request needs is there before the
 * first element changes.
 */
#include <linux/slab.h>
#include <asm/unaligned.h>

#include "tcp.h"

/* A request of the peer, while its operands arrive. */
struct tcp_request {
	struct kofi_atomic	atomic;
	struct fi_rma_iov	rma[KOFI_ATOMIC_RANGES];
	u32			id;
	bool			ack;		/* an answer is wanted, though nothing comes back */
	size_t			len;		/* bytes of the elements; 0: no such operation */
	struct tcp_answer	*answer;	/* for its end */
	struct kvec		iov;
	u8			operands[];
};

static_assert(KOFI_ATOMIC_RANGES == ENG_RMA_MAX);

/* ---- headers ---- */

static size_t base_put(u8 *out, enum eng_op op, u8 flags, u32 id, u64 len)
{
	struct eng_base base = {
		.op = op, .flags = flags, .id = (__force u32)cpu_to_le32(id),
		.len = (__force u64)cpu_to_le64(len),
	};

	memcpy(out, &base, sizeof(base));
	return sizeof(base);
}

static size_t word_put(u8 *out, size_t at, u64 word)
{
	put_unaligned_le64(word, out + at);
	return at + sizeof(word);
}

size_t tcp_packet_put(struct tcp_conn *conn, struct tcp_op *top, u8 *out)
{
	static const u8 kinds[] = {
		[KOFI_ATOMIC] = ENG_AMO_BASE, [KOFI_FETCH] = ENG_AMO_FETCH,
		[KOFI_COMPARE] = ENG_AMO_COMPARE,
	};
	const struct kofi_op *op = &top->op;
	struct eng_atomic head = { .kind = kinds[op->type], .op = op->amo, .type = op->datatype };
	size_t size = kofi_atomic_size(op->type, op->datatype, op->amo), at;
	bool data = op->flags & FI_REMOTE_CQ_DATA;
	u32 i;

	top->id = ++conn->packet_id;
	at = base_put(out, ENG_ATOMIC, (data ? ENG_F_DATA : 0) |
		      (op->type == KOFI_ATOMIC ? ENG_F_DELIVERED : 0), top->id,
		      op->segs.len + op->compare.len);
	if (data)
		at = word_put(out, at, op->data);
	memcpy(out + at, &head, sizeof(head));
	at += sizeof(head);
	for (i = 0; i < op->rma_cnt; i++) {
		at = word_put(out, at, op->rma[i].addr);
		at = word_put(out, at, op->rma[i].len / size);
		at = word_put(out, at, op->rma[i].key);
	}
	return at;
}

/* ---- requests of the peer ---- */

/* The regions that are accessed, from elements to bytes. @size: bytes of an element */
static int request_ranges_read(struct tcp_request *req, const u8 *hdr, size_t at, size_t size)
{
	u64 cnt, sum = 0;
	u32 i;

	for (i = 0; i < req->atomic.rma_cnt; i++, at += sizeof(struct eng_rma)) {
		cnt = get_unaligned_le64(hdr + at + 8);
		if (cnt > KOFI_ATOMIC_MAX / size - sum)
			return -FI_EPROTO;
		sum += cnt;
		req->rma[i].addr = get_unaligned_le64(hdr + at);
		req->rma[i].len = cnt * size;
		req->rma[i].key = get_unaligned_le64(hdr + at + 16);
	}
	req->len = sum * size;
	return sum ? 0 : -FI_EPROTO;
}

/* Takes the header apart. The payload's length is checked where the element's is known. */
static int request_read(struct tcp_request *req, const u8 *hdr, size_t len, size_t payload)
{
	const struct eng_base *base = (const void *)hdr;
	struct eng_atomic head;
	size_t at = sizeof(*base), size;

	if (base->flags & ~(ENG_F_DATA | ENG_F_DELIVERED) || base->ctx || !base->id)
		return -FI_EPROTO;
	if (len < at + 8 * !!(base->flags & ENG_F_DATA) + sizeof(head) + sizeof(struct eng_rma))
		return -FI_EPROTO;
	if (base->flags & ENG_F_DATA) {
		req->atomic.flags = FI_REMOTE_CQ_DATA;
		req->atomic.data = get_unaligned_le64(hdr + at);
		at += 8;
	}
	memcpy(&head, hdr + at, sizeof(head));
	at += sizeof(head);
	if (head.kind >= ENG_AMO_KINDS || (len - at) % sizeof(struct eng_rma) ||
	    (len - at) / sizeof(struct eng_rma) > ENG_RMA_MAX)
		return -FI_EPROTO;
	req->atomic.type = KOFI_ATOMIC + head.kind;
	req->atomic.datatype = head.type;
	req->atomic.op = head.op;
	req->atomic.rma = req->rma;
	req->atomic.rma_cnt = (len - at) / sizeof(struct eng_rma);
	req->id = get_unaligned_le32(&base->id);
	req->ack = base->flags & ENG_F_DELIVERED;
	size = kofi_atomic_size(req->atomic.type, head.type, head.op);
	if (!size)
		return 0;
	if (request_ranges_read(req, hdr, at, size) ||
	    payload != (head.kind == ENG_AMO_COMPARE ? 2 * req->len :
			head.op == FI_ATOMIC_READ ? 0 : req->len))
		return -FI_EPROTO;
	return 0;
}

static void request_free(struct tcp_request *req)
{
	if (req->answer) {
		kfree(req->answer->buf);
		kfree(req->answer);
	}
	kfree(req);
}

static int request_begin(struct tcp_conn *conn, const u8 *hdr, size_t len)
{
	struct tcp_rx *rx = &conn->rx;
	struct tcp_request *req;
	int ret = -FI_ENOMEM;

	req = kzalloc(struct_size(req, operands, rx->len), GFP_KERNEL);
	if (!req)
		return ret;
	req->answer = kzalloc(sizeof(*req->answer), GFP_KERNEL);
	if (req->answer)
		ret = request_read(req, hdr, len, rx->len);
	if (!ret && req->len && req->atomic.type != KOFI_ATOMIC) {
		req->answer->buf = kmalloc(req->len, GFP_KERNEL);
		ret = req->answer->buf ? 0 : -FI_ENOMEM;
	}
	if (ret) {
		request_free(req);
		return ret;
	}
	req->iov = (struct kvec){ req->operands, rx->len };
	rx->into = (struct kofi_segs){ .cnt = 1, .len = rx->len, .kvec = &req->iov };
	rx->request = req;
	return 0;
}

static int request_serve(struct tcp_conn *conn, struct tcp_request *req)
{
	bool compare = req->atomic.type == KOFI_COMPARE;
	struct kvec iov[3] = { { req->operands, req->len }, { req->operands + req->len, req->len },
			       { req->answer->buf, req->len } };
	struct kofi_segs segs[3];
	int i;

	if (!req->len)
		return -FI_EOPNOTSUPP;
	for (i = 0; i < 3; i++)
		segs[i] = (struct kofi_segs){ .cnt = 1, .len = req->len, .kvec = &iov[i] };
	req->atomic.operand = req->atomic.op == FI_ATOMIC_READ ? NULL : &segs[0];
	req->atomic.compare = compare ? &segs[1] : NULL;
	req->atomic.result = req->answer->buf ? &segs[2] : NULL;
	i = kofi_atomic_serve(&conn->ep->ep, &req->atomic);
	return i == -FI_ENOKEY ? -FI_EACCES : i;
}

static int request_end(struct tcp_conn *conn, struct tcp_request *req)
{
	struct tcp_answer *answer = req->answer;
	int ret = request_serve(conn, req);

	answer->kind = ANSWER_PACKET;
	if (ret == -FI_EOVERRUN) {
		request_free(req);
		return ret;
	}
	if (ret) {
		answer->hdr_len = word_put(answer->hdr, base_put(answer->hdr, ENG_NACK, 0, req->id, 0),
					   -ret);
	} else if (answer->buf) {
		answer->len = req->len;
		answer->hdr_len = word_put(answer->hdr, base_put(answer->hdr, ENG_DATA, 0, req->id,
								 req->len), 0);
	} else if (req->ack) {
		answer->hdr_len = base_put(answer->hdr, ENG_ACK, ENG_F_DELIVERED, req->id, 0);
	} else {
		request_free(req);
		return 0;
	}
	ret = tcp_answer_add(conn, answer);
	if (!ret)
		req->answer = NULL;
	request_free(req);
	return ret;
}

/* ---- answers of the peer ---- */

static struct tcp_op *amo_find(struct tcp_conn *conn, u32 id)
{
	struct tcp_op *top;

	list_for_each_entry(top, &conn->amo_wait, op.node)
		if (top->id == id)
			return top;
	return NULL;
}

static int reply_begin(struct tcp_conn *conn, const struct eng_base *base, size_t len)
{
	struct tcp_rx *rx = &conn->rx;
	struct tcp_op *top = amo_find(conn, get_unaligned_le32(&base->id));
	const u8 *word = (const u8 *)(base + 1);
	bool fetch;
	u32 err = 0;

	if (!top || base->ctx)
		return -FI_EPROTO;
	fetch = top->op.type != KOFI_ATOMIC;
	switch (base->op) {
	case ENG_DATA:
		if (!fetch || base->flags || len != sizeof(*base) + sizeof(struct eng_data) ||
		    get_unaligned_le64(word) || rx->len != top->op.result.len)
			return -FI_EPROTO;
		rx->into = top->op.result;
		break;
	case ENG_ACK:
		if (fetch || base->flags != ENG_F_DELIVERED || len != sizeof(*base) || rx->len)
			return -FI_EPROTO;
		break;
	default:
		if (base->flags || len != sizeof(*base) + sizeof(struct eng_nack) || rx->len)
			return -FI_EPROTO;
		err = get_unaligned_le32(word);
		if (!err || err >= ENG_ERR_MAX)
			return -FI_EPROTO;
	}
	list_del_init(&top->op.node);
	rx->op = &top->op;
	rx->err = err;
	return 0;
}

/* ---- a frame ---- */

int tcp_packet_begin(struct tcp_conn *conn)
{
	const struct eng_base *base = (const void *)(conn->rx.buf + sizeof(struct wire_hdr));
	size_t len = conn->rx.hdr.hdr_len - sizeof(struct wire_hdr);
	int ret;

	if (get_unaligned_le64(&base->len) != conn->rx.len)
		return -FI_EPROTO;
	switch (base->op) {
	case ENG_ATOMIC:
		ret = request_begin(conn, (const u8 *)base, len);
		break;
	case ENG_DATA:
	case ENG_ACK:
	case ENG_NACK:
		ret = reply_begin(conn, base, len);
		break;
	default:
		return -FI_EPROTO;
	}
	if (!ret)
		conn->rx.phase = RX_PAYLOAD;
	return ret;
}

int tcp_packet_end(struct tcp_conn *conn, struct kofi_op *op)
{
	struct tcp_request *req = conn->rx.request;

	conn->rx.request = NULL;
	if (req)
		return request_end(conn, req);
	tcp_op_part(container_of(op, struct tcp_op, op), conn->rx.err);
	return 0;
}

void tcp_packet_fail(struct tcp_conn *conn)
{
	if (conn->rx.request)
		request_free(conn->rx.request);
	conn->rx.request = NULL;
}

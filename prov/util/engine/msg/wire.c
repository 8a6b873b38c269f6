/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * wire.c - the one validator of what peers send.  Each check_x() sees the header behind its
 * base, sets the fields of its operation and returns NULL, or says what is wrong.  It checks
 * that lengths agree before it reads a field, and that sums do not wrap.
 */
#include "engine/wire.h"

#include <rdma/fi_atomic.h>
#include <string.h>

/* What is left of a header while it is taken apart. */
struct cursor {
	const uint8_t *at;
	size_t left;
	size_t payload;
};

static inline uint64_t get_word(const uint8_t *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	return le64toh(word);
}

static inline const char *take_word(struct cursor *cur, uint64_t *word_p)
{
	if (cur->left < sizeof(*word_p))
		return "header ends before its tag or data word";
	*word_p = get_word(cur->at);
	cur->at += sizeof(*word_p);
	cur->left -= sizeof(*word_p);
	return NULL;
}

/* The tag and data words, as the flags promise them. */
static inline const char *take_words(struct cursor *cur, struct wire_msg *out)
{
	const char *bad = NULL;

	out->tag = 0;
	out->data = 0;
	if (out->flags & WIRE_F_TAG)
		bad = take_word(cur, &out->tag);
	if (!bad && (out->flags & WIRE_F_DATA))
		bad = take_word(cur, &out->data);
	return bad;
}

static inline const char *at_end(const struct cursor *cur)
{
	return cur->left ? "header is longer than its operation" : NULL;
}

static inline const char *message_words(struct cursor *cur, struct wire_msg *out)
{
	const char *bad;

	if ((out->flags & WIRE_F_MATCHED) && (out->flags & WIRE_F_DELIVERED))
		return "two kinds of acknowledgement asked for";
	bad = take_words(cur, out);
	return bad ? bad : at_end(cur);
}

/* The receiver reserves room by out->len and the link delivers cur->payload bytes: they are one. */
static const char *check_eager(struct cursor *cur, struct wire_msg *out)
{
	if (out->len != cur->payload)
		return "message length is not the payload length";
	if ((out->flags & WIRE_F_ARRIVED) && (out->flags & (WIRE_F_MATCHED | WIRE_F_DELIVERED)))
		return "two kinds of acknowledgement asked for";
	return message_words(cur, out);
}

/* The payload of an announcement follows a CTS; one that came along would have no place. */
static const char *check_rts(struct cursor *cur, struct wire_msg *out)
{
	if (cur->payload)
		return "announcement with a payload";
	return message_words(cur, out);
}

/* The receiver's sink and how much it takes; 0 where it drops the message. */
static const char *check_cts(struct cursor *cur, struct wire_msg *out)
{
	uint64_t word;

	if (cur->payload)
		return "clear-to-send with a payload";
	if (cur->left != sizeof(struct wire_cts))
		return "clear-to-send of a wrong length";
	word = get_word(cur->at);
	if (word >> 32)
		return "reserved bits of a clear-to-send are set";
	out->rx_id = (uint32_t) word;
	return NULL;
}

/* A piece of a payload that was asked for.  Whether it lies within that is the sink's check. */
static const char *check_data(struct cursor *cur, struct wire_msg *out)
{
	if (cur->left != sizeof(struct wire_data))
		return "data piece with a wrong header length";
	if (out->len != cur->payload)
		return "data length is not the payload length";
	out->off = get_word(cur->at);
	if (out->off > WIRE_LEN_MAX - out->len)
		return "data piece beyond the end of any message";
	return NULL;
}

static const char *check_ack(struct cursor *cur, struct wire_msg *out)
{
	if (cur->payload || cur->left || out->len)
		return "acknowledgement with a payload or a length";
	if (out->flags != WIRE_F_MATCHED && out->flags != WIRE_F_DELIVERED &&
	    out->flags != WIRE_F_SHARE && out->flags != WIRE_F_ARRIVED)
		return "acknowledgement of an unknown kind";
	return NULL;
}

/* Whether the allocation is that long is checked when it is open. */
static const char *check_share(struct cursor *cur, struct wire_msg *out)
{
	struct wire_share *s = &out->share;

	if (cur->payload || cur->left != sizeof(*s))
		return "shared memory of a wrong length";
	memcpy(s, cur->at, sizeof(*s));
	s->tx_id = le32toh(s->tx_id);
	s->iface = le32toh(s->iface);
	s->proc = le64toh(s->proc);
	s->id = le64toh(s->id);
	s->base = le64toh(s->base);
	s->alloc = le64toh(s->alloc);
	s->off = le64toh(s->off);
	if (!out->len || s->off > s->alloc || out->len > s->alloc - s->off)
		return "shared memory outside of its allocation";
	return NULL;
}

/* The number becomes the err of a completion. */
static const char *check_nack(struct cursor *cur, struct wire_msg *out)
{
	uint64_t word;

	if (cur->payload || out->len || cur->left != sizeof(struct wire_nack))
		return "refusal of a wrong length";
	word = get_word(cur->at);
	if (!word || word >= WIRE_ERR_MAX)
		return "refusal with an unknown error number";
	out->err = (uint32_t) word;
	return NULL;
}

static const char *check_bare(struct cursor *cur, struct wire_msg *out)
{
	if (cur->payload || cur->left || out->len)
		return "flow control packet with a body";
	return NULL;
}

/* One to WIRE_RMA_MAX ranges fill the rest of the header; their lengths sum to
 * @sum_p without overflow.
 */
static const char *take_ranges(struct cursor *cur, struct wire_msg *out, uint64_t *sum_p)
{
	size_t i, cnt = cur->left / sizeof(struct wire_rma);
	uint64_t sum = 0;

	if (!cnt || cnt > WIRE_RMA_MAX || cur->left % sizeof(struct wire_rma))
		return "list of remote ranges of a wrong length";
	for (i = 0; i < cnt; i++, cur->at += sizeof(struct wire_rma)) {
		out->rma[i].addr = get_word(cur->at);
		out->rma[i].len = get_word(cur->at + 8);
		out->rma[i].key = get_word(cur->at + 16);
		if (out->rma[i].len > WIRE_LEN_MAX - sum)
			return "remote ranges overflow";
		sum += out->rma[i].len;
	}
	out->rma_cnt = (uint16_t) cnt;
	*sum_p = sum;
	return NULL;
}

static const char *check_read(struct cursor *cur, struct wire_msg *out)
{
	const char *bad;
	uint64_t sum;

	if (cur->payload)
		return "read request with a payload";
	if (!out->len != !!(out->flags & WIRE_F_DELIVERED))
		return "read that wants no answer, or two";
	bad = take_ranges(cur, out, &sum);
	if (bad)
		return bad;
	return sum != out->len ? "read length is not the sum of its ranges" : NULL;
}

/* It is one piece, and its end is acknowledged. */
static const char *check_announced(const struct cursor *cur, const struct wire_msg *out)
{
	if (cur->payload || !out->len)
		return "announced write with a payload, or of nothing";
	if (!(out->flags & WIRE_F_LAST) || !(out->flags & WIRE_F_DELIVERED) ||
	    (out->flags & WIRE_F_TOTAL))
		return "announced write that is not all, or wants no acknowledgement";
	return NULL;
}

static const char *check_piece(const struct cursor *cur, const struct wire_msg *out)
{
	if (out->len != cur->payload)
		return "write length is not the payload length";
	return out->flags & WIRE_F_SHARE ? "shared memory of a write that is not announced" : NULL;
}

static const char *check_write(struct cursor *cur, struct wire_msg *out)
{
	bool announced = out->flags & WIRE_F_ANNOUNCED;
	const char *bad = announced ? check_announced(cur, out) : check_piece(cur, out);
	uint64_t sum;

	if (bad)
		return bad;
	if ((out->flags & (WIRE_F_DATA | WIRE_F_DELIVERED | WIRE_F_TOTAL)) &&
	    !(out->flags & WIRE_F_LAST))
		return "completion data, acknowledgement or total before the last piece";
	out->total = out->len;
	bad = take_words(cur, out);
	if (!bad && (out->flags & WIRE_F_TOTAL))
		bad = take_word(cur, &out->total);
	if (!bad && out->total < out->len)
		bad = "last piece of a write that is longer than all of it";
	if (!bad)
		bad = take_ranges(cur, out, &sum);
	if (bad)
		return bad;
	if (announced && out->rma_cnt != 1)
		return "announced write of several ranges";
	return sum != out->len ? "write length is not the sum of its ranges" : NULL;
}

/* Operand sizes depend on the datatype and are checked by the atomic table. */
static const char *check_atomic(struct cursor *cur, struct wire_msg *out)
{
	const char *bad = take_words(cur, out);
	uint64_t sum;

	if (bad)
		return bad;
	if (out->len != cur->payload)
		return "atomic length is not the payload length";
	if (cur->left < sizeof(out->amo))
		return "atomic header is too short";
	memcpy(&out->amo, cur->at, sizeof(out->amo));
	cur->at += sizeof(out->amo);
	cur->left -= sizeof(out->amo);
	if (out->amo.kind >= WIRE_AMO_KINDS)
		return "atomic of an unknown kind";
	if (get_word(cur->at - sizeof(out->amo)) >> 24)
		return "reserved bits of an atomic are set";
	return take_ranges(cur, out, &sum);
}

#define MESSAGE_FLAGS (WIRE_F_TAG | WIRE_F_DATA | WIRE_F_MATCHED | WIRE_F_DELIVERED)

static const struct {
	const char *name;
	uint8_t flags;		/* that may be set */
	const char *(*check)(struct cursor *cur, struct wire_msg *out);
} ops[WIRE_OP_CNT] = {
	[WIRE_NONE] = { "NONE", 0, NULL },
	[WIRE_EAGER] = { "EAGER", MESSAGE_FLAGS | WIRE_F_ARRIVED, check_eager },
	[WIRE_RTS] = { "RTS", MESSAGE_FLAGS | WIRE_F_SHARE, check_rts },
	[WIRE_CTS] = { "CTS", WIRE_F_SHARE, check_cts },
	[WIRE_DATA] = { "DATA", 0, check_data },
	[WIRE_ACK] = { "ACK", WIRE_F_MATCHED | WIRE_F_DELIVERED | WIRE_F_SHARE | WIRE_F_ARRIVED,
		       check_ack },
	[WIRE_NACK] = { "NACK", 0, check_nack },
	[WIRE_XOFF] = { "XOFF", 0, check_bare },
	[WIRE_XON] = { "XON", 0, check_bare },
	[WIRE_READ] = { "READ", WIRE_F_DELIVERED | WIRE_F_SHARE, check_read },
	[WIRE_WRITE] = { "WRITE", WIRE_F_DATA | WIRE_F_DELIVERED | WIRE_F_LAST | WIRE_F_TOTAL |
			 WIRE_F_SHARE | WIRE_F_ANNOUNCED, check_write },
	[WIRE_ATOMIC] = { "ATOMIC", WIRE_F_DATA | WIRE_F_DELIVERED, check_atomic },
	[WIRE_SHARE] = { "SHARE", 0, check_share },
};

const char *wire_parse(const uint8_t *hdr, size_t hdr_len, size_t payload,
		       struct wire_msg *out)
{
	const struct wire_base *base = (const struct wire_base *) hdr;
	struct cursor cur = { hdr + sizeof(*base), hdr_len - sizeof(*base), payload };

	if (hdr_len < sizeof(*base) || hdr_len > ENG_HDR_MAX)
		return "header of an impossible length";
	if (base->op >= WIRE_OP_CNT || !ops[base->op].check)
		return "unknown operation";
	if (base->flags & ~ops[base->op].flags)
		return "flags that do not belong to the operation";
	out->op = base->op;
	out->flags = base->flags;
	out->ctx = le16toh(base->ctx);
	out->id = le32toh(base->id);
	out->len = le64toh(base->len);
	if (out->len > WIRE_LEN_MAX)
		return "length beyond the largest message";
	/* The commonest packet needs no look at the table. */
	if (base->op == WIRE_EAGER)
		return check_eager(&cur, out);
	return ops[base->op].check(&cur, out);
}

static size_t write_ranges(uint8_t *hdr, size_t at, const struct wire_msg *msg)
{
	unsigned i;

	for (i = 0; i < msg->rma_cnt; i++)
		at = wire_put_rma(hdr, at, msg->rma[i].addr, msg->rma[i].len, msg->rma[i].key);
	return at;
}

size_t wire_put(uint8_t *hdr, const struct wire_msg *msg)
{
	size_t at = wire_put_base(hdr, msg->op, msg->flags, msg->ctx, msg->id, msg->len);

	if (msg->flags & WIRE_F_TAG)
		at = wire_put_word(hdr, at, msg->tag);
	if (msg->flags & WIRE_F_DATA)
		at = wire_put_word(hdr, at, msg->data);
	switch (msg->op) {
	case WIRE_CTS:
		return wire_put_pair(hdr, at, msg->rx_id);
	case WIRE_NACK:
		return wire_put_pair(hdr, at, msg->err);
	case WIRE_DATA:
		return wire_put_word(hdr, at, msg->off);
	case WIRE_SHARE:
		return wire_put_share(hdr, at, &msg->share);
	case WIRE_ATOMIC:
		memcpy(hdr + at, &msg->amo, sizeof(msg->amo));
		return write_ranges(hdr, at + sizeof(msg->amo), msg);
	case WIRE_WRITE:
		if (msg->flags & WIRE_F_TOTAL)
			at = wire_put_word(hdr, at, msg->total);
		return write_ranges(hdr, at, msg);
	case WIRE_READ:
		return write_ranges(hdr, at, msg);
	default:
		return at;
	}
}

const char *wire_op_name(unsigned op)
{
	return op < WIRE_OP_CNT ? ops[op].name : "?";
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "rxm/compat/translate.h"

#include <rdma/fi_domain.h>
#include <rdma/fi_errno.h>
#include <string.h>

static const char no_contexts[] = "named receive contexts and collectives of this library";

/* ---- packets of the engine ----------------------------------------------------------------- */

/* Each function returns what the format does not have, as text for the log; the operation then
 * fails.
 */
const char *rxm_translate_message(const struct wire_msg *msg, struct rxm_packet *out)
{
	if (msg->ctx)
		return no_contexts;
	if (msg->flags & WIRE_F_MATCHED)
		return "FI_MATCH_COMPLETE";
	*out = (struct rxm_packet) {
		.op = msg->flags & WIRE_F_TAG ? RXM_OP_TAGGED : RXM_OP_MSG,
		.len = msg->len,
		.has_data = msg->flags & WIRE_F_DATA,
		.data = msg->data,
		.tag = msg->tag,
	};
	return NULL;
}

static const enum rxm_packet_op op_of[WIRE_AMO_KINDS] = {
	[WIRE_AMO_BASE] = RXM_OP_ATOMIC,
	[WIRE_AMO_FETCH] = RXM_OP_ATOMIC_FETCH,
	[WIRE_AMO_COMPARE] = RXM_OP_ATOMIC_COMPARE,
};

static void put_seg(struct rxm_seg *seg, const struct wire_rma *rma)
{
	*seg = (struct rxm_seg) { .addr = rma->addr, .len = rma->len, .key = rma->key };
}

/* The datatypes and operations that fi_query_atomic() of the other implementation (1.17) offers over this
 * protocol: elements of up to 8 bytes, and nothing that was added to the interface since.  A peer does not
 * say what it offers, and others may end with a request for more.
 */
#define PEER_TYPE_MAX FI_FLOAT_COMPLEX
#define PEER_OP_MAX FI_MSWAP

const char *rxm_translate_atomic(const struct wire_msg *msg, size_t operands, size_t limit,
				 struct rxm_packet *out)
{
	unsigned i;

	if (msg->ctx)
		return no_contexts;
	if (msg->flags & WIRE_F_DATA)
		return "completion data of atomics";
	if (msg->amo.type > PEER_TYPE_MAX)
		return "atomics of more than 8 bytes, or of a datatype since 2.0";
	if (msg->amo.op > PEER_OP_MAX)
		return "atomics by an operation since 2.0";
	if (msg->rma_cnt > RXM_PACKET_SEGS)
		return "atomics on more than four ranges";
	if (RXM_PACKET_LIST + operands > limit)
		return "atomics that are longer than a buffer";
	*out = (struct rxm_packet) {
		.type = RXM_PACKET_ATOMIC,
		.op = op_of[msg->amo.kind],
		.msg_id = msg->id,
		.datatype = msg->amo.type,
		.amo = msg->amo.op,
		.segs = msg->rma_cnt,
		.payload_len = operands,
	};
	for (i = 0; i < msg->rma_cnt; i++)
		put_seg(&out->seg[i], &msg->rma[i]);
	return NULL;
}

/* Empty ranges are left out; an operation on nothing but empty ones keeps one, so that its key is
 * checked.
 */
const char *rxm_translate_ranges(const struct wire_msg *msg, struct rxm_seg *seg, unsigned *segs_p)
{
	unsigned i, cnt = 0;

	if (msg->ctx)
		return no_contexts;
	for (i = 0; i < msg->rma_cnt; i++)
		if (msg->rma[i].len)
			put_seg(&seg[cnt++], &msg->rma[i]);
	if (!cnt)
		put_seg(&seg[cnt++], &msg->rma[0]);
	*segs_p = cnt;
	return NULL;
}

uint32_t rxm_translate_id(const struct wire_msg *msg)
{
	/* that of a message without an answer means nothing */
	return msg->op == WIRE_EAGER && !(msg->flags & WIRE_F_ANSWERED) ? 0 : msg->id;
}

/* ---- packets for the engine ---------------------------------------------------------------- */

enum wire_atomic_kind rxm_translate_kind(enum rxm_packet_op op)
{
	return op == RXM_OP_ATOMIC_COMPARE ? WIRE_AMO_COMPARE :
	       op == RXM_OP_ATOMIC_FETCH ? WIRE_AMO_FETCH : WIRE_AMO_BASE;
}

/* The peer waits for an answer in any case. */
static size_t atomic_in(const struct rxm_packet *pkt, uint32_t id, uint8_t *hdr)
{
	struct wire_atomic amo = {
		.kind = (uint8_t) rxm_translate_kind(pkt->op), .op = pkt->amo, .type = pkt->datatype,
	};
	uint8_t flags = amo.kind == WIRE_AMO_BASE ? WIRE_F_DELIVERED : 0;
	size_t at = wire_put_base(hdr, WIRE_ATOMIC, flags, 0, id, pkt->payload_len);
	unsigned i;

	memcpy(hdr + at, &amo, sizeof(amo));
	at += sizeof(amo);
	for (i = 0; i < pkt->segs; i++)
		at = wire_put_rma(hdr, at, pkt->seg[i].addr, pkt->seg[i].len, pkt->seg[i].key);
	return at;
}

/* Without an id: the format has no acknowledgement that the engine could be asked for. */
static size_t message_in(const struct rxm_packet *pkt, uint8_t *hdr)
{
	unsigned flags = (pkt->op == RXM_OP_TAGGED ? WIRE_F_TAG : 0) |
			 (pkt->has_data ? WIRE_F_DATA : 0);
	size_t at = wire_put_base(hdr, WIRE_EAGER, (uint8_t) flags, 0, 0, pkt->len);

	if (flags & WIRE_F_TAG)
		at = wire_put_word(hdr, at, pkt->tag);
	if (flags & WIRE_F_DATA)
		at = wire_put_word(hdr, at, pkt->data);
	return at;
}

size_t rxm_translate_in(const struct rxm_packet *pkt, uint32_t id, uint8_t *hdr)
{
	return pkt->type == RXM_PACKET_ATOMIC ? atomic_in(pkt, id, hdr) : message_in(pkt, hdr);
}

size_t rxm_translate_ack(unsigned ack, uint32_t id, uint8_t *hdr)
{
	return wire_put_base(hdr, WIRE_ACK, (uint8_t) ack, 0, id, 0);
}

/* An error that the engine's format has no number for becomes FI_EOTHER. */
size_t rxm_translate_nack(int err, uint32_t id, uint8_t *hdr)
{
	uint32_t word = err > 0 && err < WIRE_ERR_MAX ? (uint32_t) err : FI_EOTHER;

	return wire_put_pair(hdr, wire_put_base(hdr, WIRE_NACK, 0, 0, id, 0), word);
}

size_t rxm_translate_data(uint32_t id, uint64_t len, uint8_t *hdr)
{
	return wire_put_word(hdr, wire_put_base(hdr, WIRE_DATA, 0, 0, id, len), 0);
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "foreign/rxmf/translate.h"

#include <rdma/fi_domain.h>
#include <rdma/fi_errno.h>
#include <string.h>

static const char no_contexts[] = "named receive contexts and collectives of this library";

/* ---- operations as packets ----------------------------------------------------------------- */

/* Each function returns what the format does not have, as text for the log; the operation then
 * fails.
 */
const char *rxmf_translate_message(const struct wire_msg *msg, struct rxmf_packet *out)
{
	if (msg->ctx)
		return no_contexts;
	if (msg->flags & WIRE_F_MATCHED)
		return "FI_MATCH_COMPLETE";
	*out = (struct rxmf_packet) {
		.op = msg->flags & WIRE_F_TAG ? RXMF_OP_TAGGED : RXMF_OP_MSG,
		.len = msg->len,
		.has_data = msg->flags & WIRE_F_DATA,
		.data = msg->data,
		.tag = msg->tag,
	};
	return NULL;
}

static const enum rxmf_packet_op op_of[WIRE_AMO_KINDS] = {
	[WIRE_AMO_BASE] = RXMF_OP_ATOMIC,
	[WIRE_AMO_FETCH] = RXMF_OP_ATOMIC_FETCH,
	[WIRE_AMO_COMPARE] = RXMF_OP_ATOMIC_COMPARE,
};

/* The datatypes and operations that fi_query_atomic() of the other implementation (1.17) offers over this
 * protocol: elements of up to 8 bytes, and nothing that was added to the interface since.  A peer does not
 * say what it offers, and others may end with a request for more.
 */
#define PEER_TYPE_MAX FI_FLOAT_COMPLEX
#define PEER_OP_MAX FI_MSWAP

const char *rxmf_translate_atomic(const struct wire_msg *msg, size_t operands, size_t limit,
				 struct rxmf_packet *out)
{
	if (msg->ctx)
		return no_contexts;
	if (msg->flags & WIRE_F_DATA)
		return "completion data of atomics";
	if (msg->amo.type > PEER_TYPE_MAX)
		return "atomics of more than 8 bytes, or of a datatype since 2.0";
	if (msg->amo.op > PEER_OP_MAX)
		return "atomics by an operation since 2.0";
	if (msg->rma_cnt > RXMF_PACKET_SEGS)
		return "atomics on more than four ranges";
	if (RXMF_PACKET_LIST + operands > limit)
		return "atomics that are longer than a buffer";
	*out = (struct rxmf_packet) {
		.type = RXMF_PACKET_ATOMIC,
		.op = op_of[msg->amo.kind],
		.msg_id = msg->id,
		.datatype = msg->amo.type,
		.amo = msg->amo.op,
		.segs = msg->rma_cnt,
		.payload_len = operands,
	};
	memcpy(out->seg, msg->rma, msg->rma_cnt * sizeof(out->seg[0]));
	return NULL;
}

/* Empty ranges are left out; an operation on nothing but empty ones keeps one, so that its key is
 * checked.
 */
const char *rxmf_translate_ranges(const struct wire_msg *msg, struct wire_rma *seg, unsigned *segs_p)
{
	unsigned i, cnt = 0;

	if (msg->ctx)
		return no_contexts;
	for (i = 0; i < msg->rma_cnt; i++)
		if (msg->rma[i].len)
			seg[cnt++] = msg->rma[i];
	if (!cnt)
		seg[cnt++] = msg->rma[0];
	*segs_p = cnt;
	return NULL;
}

/* ---- packets as operations ----------------------------------------------------------------- */

enum wire_atomic_kind rxmf_translate_kind(enum rxmf_packet_op op)
{
	return op == RXMF_OP_ATOMIC_COMPARE ? WIRE_AMO_COMPARE :
	       op == RXMF_OP_ATOMIC_FETCH ? WIRE_AMO_FETCH : WIRE_AMO_BASE;
}

/* The peer waits for an answer in any case. */
static struct wire_msg atomic_in(const struct rxmf_packet *pkt, uint32_t id)
{
	struct wire_msg msg = {
		.op = WIRE_ATOMIC, .id = id, .len = pkt->payload_len, .rma_cnt = (uint16_t) pkt->segs,
		.amo = { .kind = (uint8_t) rxmf_translate_kind(pkt->op), .op = pkt->amo, .type = pkt->datatype },
	};

	if (msg.amo.kind == WIRE_AMO_BASE)
		msg.flags = WIRE_F_DELIVERED;
	memcpy(msg.rma, pkt->seg, pkt->segs * sizeof(msg.rma[0]));
	return msg;
}

/* A message is without an id: the format has no acknowledgement that the engine could be asked for. */
struct wire_msg rxmf_translate_in(const struct rxmf_packet *pkt, uint32_t id)
{
	if (pkt->type == RXMF_PACKET_ATOMIC)
		return atomic_in(pkt, id);
	return (struct wire_msg) {
		.op = WIRE_EAGER,
		.flags = (uint8_t) ((pkt->op == RXMF_OP_TAGGED ? WIRE_F_TAG : 0) |
				    (pkt->has_data ? WIRE_F_DATA : 0)),
		.len = pkt->len, .tag = pkt->tag, .data = pkt->data,
	};
}

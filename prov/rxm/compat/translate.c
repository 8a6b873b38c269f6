/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "rxm/compat/translate.h"

#include <string.h>

static const char *out_message(const struct wire_msg *msg, struct rxm_packet *out)
{
	if (msg->ctx)
		return "named receive contexts and collectives of this library";
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

enum rxm_translation rxm_translate_out(const struct eng_pkt *pkt, struct rxm_packet *out,
				       unsigned *ack_p, uint32_t *id_p, const char **why_p)
{
	struct wire_msg msg;

	*ack_p = 0;
	*id_p = 0;
	*why_p = wire_parse(pkt->hdr, pkt->hdr_len, pkt->len, &msg);
	if (*why_p)
		return RXM_NOT_POSSIBLE;
	/* a message without an answer has an id that means nothing */
	if (msg.op != WIRE_EAGER || msg.flags & (WIRE_F_MATCHED | WIRE_F_DELIVERED))
		*id_p = msg.id;
	switch (msg.op) {
	case WIRE_EAGER:
		*why_p = out_message(&msg, out);
		*ack_p = msg.flags & WIRE_F_DELIVERED;
		return *why_p ? RXM_NOT_POSSIBLE : RXM_TRANSLATED;
	case WIRE_XOFF:
	case WIRE_XON:
		return RXM_NOT_NEEDED;	/* what is not wanted yet stays here, up to the engine's limit */
	case WIRE_RTS:
		*why_p = "messages of more than a gigabyte";
		return RXM_NOT_POSSIBLE;
	default:
		*why_p = "remote memory access and atomics";
		return RXM_NOT_POSSIBLE;
	}
}

size_t rxm_translate_in(const struct rxm_packet *pkt, uint8_t *hdr)
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

size_t rxm_translate_ack(unsigned ack, uint32_t id, uint8_t *hdr)
{
	return wire_put_base(hdr, WIRE_ACK, (uint8_t) ack, 0, id, 0);
}

size_t rxm_translate_nack(int err, uint32_t id, uint8_t *hdr)
{
	return wire_put_pair(hdr, wire_put_base(hdr, WIRE_NACK, 0, 0, id, 0), (uint32_t) err);
}

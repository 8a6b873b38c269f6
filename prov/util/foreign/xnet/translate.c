/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "foreign/xnet/translate.h"

#include <string.h>

_Static_assert(WIRE_RMA_MAX <= 2 * XNET_FRAME_RANGES, "two frames have room for all ranges");

/* ---- operations as frames ------------------------------------------------------------------ */

static const char *lack_of(const struct wire_msg *msg, bool rdm)
{
	bool write = msg->op == WIRE_WRITE;

	if (msg->op == WIRE_EAGER && (msg->flags & WIRE_F_MATCHED))
		return "FI_MATCH_COMPLETE";
	if (msg->op == WIRE_EAGER && (msg->flags & WIRE_F_TAG) && !rdm)
		return "tagged messages between MSG endpoints";
	if (write && (msg->flags & WIRE_F_DATA) && msg->rma_cnt > XNET_FRAME_RANGES)
		return "writes of more than 4 ranges with completion data";
	return NULL;
}

const char *xnet_translate_out(const struct wire_msg *msg, bool rdm, struct xnet_frame *out)
{
	*out = (struct xnet_frame) {
		.data = msg->data,
		.tag = msg->tag,
	};
	if (msg->ctx)
		return "receive contexts and no collective groups";
	switch (msg->op) {
	case WIRE_EAGER:
		out->op = msg->flags & WIRE_F_TAG ? XNET_FRAME_TAGGED : XNET_FRAME_MSG;
		break;
	case WIRE_WRITE:
		out->op = XNET_FRAME_WRITE;
		break;
	case WIRE_READ:
		out->op = XNET_FRAME_READ;
		return lack_of(msg, rdm);
	case WIRE_ATOMIC:
		return "atomic operations";
	default:
		return "such packets";
	}
	out->flags = (uint16_t) ((msg->flags & WIRE_F_DATA ? XNET_FRAME_F_DATA : 0) |
				 (msg->flags & WIRE_F_DELIVERED ? XNET_FRAME_F_ACK : 0));
	return lack_of(msg, rdm);
}

uint64_t xnet_translate_ranges(const struct wire_msg *msg, unsigned from, unsigned cnt,
			       struct xnet_frame *out)
{
	uint64_t sum = 0;
	unsigned i;

	memcpy(out->range, msg->rma + from, cnt * sizeof(out->range[0]));
	for (i = 0; i < cnt; i++)
		sum += out->range[i].len;
	out->ranges = (uint8_t) cnt;
	return sum;
}

/* ---- frames as operations ------------------------------------------------------------------ */

static void ranges_in(const struct xnet_frame *frame, struct wire_msg *msg)
{
	msg->rma_cnt = frame->ranges;
	memcpy(msg->rma, frame->range, frame->ranges * sizeof(msg->rma[0]));
}

struct wire_msg xnet_translate_in(const struct xnet_frame *frame, uint32_t id, bool ack)
{
	struct wire_msg msg = {
		.op = WIRE_EAGER,
		.flags = (uint8_t) ((frame->flags & XNET_FRAME_F_DATA ? WIRE_F_DATA : 0) |
				    (ack ? WIRE_F_DELIVERED : 0)),
		.id = id, .len = frame->len, .tag = frame->tag, .data = frame->data,
	};

	switch (frame->op) {
	case XNET_FRAME_RTS:
		msg.op = WIRE_RTS;
		msg.len = frame->asked;
		/* fall through */
	case XNET_FRAME_TAGGED:
		msg.flags |= WIRE_F_TAG;
		break;
	case XNET_FRAME_READ:
		msg.op = WIRE_READ;
		msg.len = frame->asked;
		msg.flags = frame->asked ? 0 : WIRE_F_DELIVERED;
		ranges_in(frame, &msg);
		break;
	case XNET_FRAME_WRITE:
		msg.op = WIRE_WRITE;
		msg.flags |= WIRE_F_LAST;
		msg.total = frame->len;
		ranges_in(frame, &msg);
		break;
	default:
		break;
	}
	return msg;
}

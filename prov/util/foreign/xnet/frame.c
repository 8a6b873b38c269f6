/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "foreign/xnet/frame.h"

#include <endian.h>
#include <string.h>

/* Marks that take the place of an operation: an acknowledgement is a message of no payload with
 * op_data 2, the short form of a tagged message has a flag.
 */
#define FRAME_VERSION 3
#define ACK_MARK 2	/* byte 4 */
#define SHORT_MARK 0x80	/* flags */
#define LEN_MAX INT64_MAX

/* As on the wire. */
struct head {
	uint8_t version;
	uint8_t op;
	uint16_t flags;
	uint8_t op_data;
	uint8_t ranges;
	uint8_t hdr_len;
	uint8_t count;
	uint64_t size;
} __attribute__((packed));

_Static_assert(sizeof(struct head) == XNET_FRAME_MIN, "wire layout");

/* What a frame of each operation may have. */
static const struct shape {
	uint16_t flags;
	bool tag, ranges, payload, number;
} shapes[] = {
	[XNET_FRAME_MSG] = { XNET_FRAME_F_DATA | XNET_FRAME_F_ACK, .payload = true },
	[XNET_FRAME_TAGGED] = { XNET_FRAME_F_DATA | XNET_FRAME_F_ACK, .tag = true, .payload = true },
	[XNET_FRAME_READ] = { .ranges = true },
	[XNET_FRAME_READ_DATA] = { .payload = true },
	[XNET_FRAME_WRITE] = { XNET_FRAME_F_DATA | XNET_FRAME_F_ACK | XNET_FRAME_F_COMMIT,
			       .ranges = true, .payload = true },
	[XNET_FRAME_RTS] = { XNET_FRAME_F_DATA | XNET_FRAME_F_ACK, .tag = true, .number = true },
	[XNET_FRAME_CTS] = { .number = true },
	[XNET_FRAME_RTS_DATA] = { .number = true, .payload = true },
	[XNET_FRAME_PACKET] = { .payload = true },
	[XNET_FRAME_ACK] = { 0 },
	[XNET_FRAME_SHORT] = { XNET_FRAME_F_DATA | XNET_FRAME_F_ACK, .tag = true, .payload = true },
};

/* Big-endian between unlike hosts, which is the order of one of them. */
static uint16_t swap_u16(uint16_t n, bool swapped)
{
	return swapped ? htobe16(n) : n;
}

static uint64_t swap_u64(uint64_t n, bool swapped)
{
	return swapped ? htobe64(n) : n;
}

/* ---- writing ------------------------------------------------------------------- */

static size_t put_word(uint8_t *out, size_t at, uint64_t word, bool swapped)
{
	word = swap_u64(word, swapped);
	memcpy(out + at, &word, sizeof(word));
	return at + sizeof(word);
}

/* In this order behind the first 16 bytes: data, tag, ranges. */
static size_t put_words(const struct xnet_frame *frame, bool swapped, uint8_t *out)
{
	const struct shape *shape = &shapes[frame->op];
	size_t at = XNET_FRAME_MIN;
	unsigned i;

	if (frame->flags & shape->flags & XNET_FRAME_F_DATA)
		at = put_word(out, at, frame->data, swapped);
	if (shape->tag)
		at = put_word(out, at, frame->tag, swapped);
	if (frame->op == XNET_FRAME_RTS)
		at = put_word(out, at, frame->asked, swapped);
	for (i = 0; shape->ranges && i < frame->ranges; i++) {
		at = put_word(out, at, frame->range[i].addr, swapped);
		at = put_word(out, at, frame->range[i].len, swapped);
		at = put_word(out, at, frame->range[i].key, swapped);
	}
	return at;
}

size_t xnet_frame_put(const struct xnet_frame *frame, bool swapped, uint8_t *out)
{
	bool ack = frame->op == XNET_FRAME_ACK, tags = frame->op == XNET_FRAME_SHORT;
	size_t len = put_words(frame, swapped, out) + frame->packet;
	struct head head = {
		.version = FRAME_VERSION,
		.op = (uint8_t) (ack || tags ? XNET_FRAME_MSG : frame->op),
		.flags = swap_u16(frame->flags | (tags ? SHORT_MARK : 0), swapped),
		.op_data = ack ? ACK_MARK : frame->number,
		.ranges = frame->ranges,
		.hdr_len = (uint8_t) len,
		.count = frame->count,
		.size = swap_u64(len + frame->len, swapped),
	};

	memcpy(out, &head, sizeof(head));
	return len;
}

/* ---- reading ------------------------------------------------------------------- */

static uint64_t get_word(const uint8_t *buf, size_t *at_p, bool swapped)
{
	uint64_t word;

	memcpy(&word, buf + *at_p, sizeof(word));
	*at_p += sizeof(word);
	return swapped ? be64toh(word) : word;
}

/* get_ranges - their lengths sum up to what is asked for, or to the payload. */
static const char *get_ranges(const uint8_t *buf, size_t at, bool swapped, struct xnet_frame *frame)
{
	uint64_t sum = 0;
	unsigned i;

	for (i = 0; i < frame->ranges; i++) {
		frame->range[i].addr = get_word(buf, &at, swapped);
		frame->range[i].len = get_word(buf, &at, swapped);
		frame->range[i].key = get_word(buf, &at, swapped);
		if (frame->range[i].len > LEN_MAX - sum)
			return "ranges that overflow";
		sum += frame->range[i].len;
	}
	if (frame->op == XNET_FRAME_READ)
		frame->asked = sum;
	else if (sum != frame->len)
		return "a write whose payload is not as long as its ranges";
	return NULL;
}

static size_t words_len(const struct shape *shape, const struct xnet_frame *frame)
{
	return frame->packet + 8u * (frame->flags & XNET_FRAME_F_DATA) + 8u * shape->tag +
	       8u * (frame->op == XNET_FRAME_RTS) +
	       (shape->ranges ? frame->ranges * sizeof(struct wire_rma) : 0);
}

static enum xnet_frame_op op_of(const struct head *head, uint16_t flags)
{
	if (head->op == XNET_FRAME_MSG && head->op_data == ACK_MARK)
		return XNET_FRAME_ACK;
	return head->op == XNET_FRAME_MSG && (flags & SHORT_MARK) ? XNET_FRAME_SHORT : head->op;
}

/* check_head - the fields of the first 16 bytes, which tell how long all is. */
static const char *check_head(const struct head *head, bool swapped, struct xnet_frame *frame)
{
	uint64_t size = swapped ? be64toh(head->size) : head->size;
	uint16_t flags = swapped ? be16toh(head->flags) : head->flags;
	const struct shape *shape;

	if (head->op > XNET_FRAME_PACKET)
		return "a frame of an operation that is not known";
	if (size < head->hdr_len || size > LEN_MAX)
		return "a frame with impossible lengths";
	frame->op = op_of(head, flags);
	shape = &shapes[frame->op];
	frame->flags = flags & shape->flags;
	frame->ranges = shape->ranges ? head->ranges : 0;
	frame->number = shape->number ? head->op_data : 0;
	frame->len = size - head->hdr_len;
	if (shape->ranges && (!frame->ranges || frame->ranges > XNET_FRAME_RANGES))
		return "a frame without ranges, or with too many";
	if (shape->number && (!frame->number || frame->number > XNET_FRAME_NUMBERS))
		return "an announcement with an impossible number";
	if (frame->op == XNET_FRAME_PACKET &&
	    (head->hdr_len < XNET_FRAME_MIN + XNET_FRAME_PACKET_MIN || head->hdr_len > XNET_FRAME_MAX))
		return "a packet with an impossible header";
	if (frame->op == XNET_FRAME_PACKET)
		frame->packet = (uint8_t) (head->hdr_len - XNET_FRAME_MIN);
	if (head->hdr_len != XNET_FRAME_MIN + words_len(shape, frame))
		return "a frame whose header does not have the length of its operation";
	if (frame->len && !shape->payload)
		return "a frame with a payload that its operation does not have";
	return NULL;
}

/* 0 with *why_p NULL: more bytes are needed.  Nothing of a frame is used before all of its header
 * is here.
 */
size_t xnet_frame_get(const uint8_t *buf, size_t have, bool swapped, struct xnet_frame *frame_p,
		      const char **why_p)
{
	size_t at = XNET_FRAME_MIN;
	struct head head;

	*why_p = NULL;
	if (have < sizeof(head))
		return 0;
	memcpy(&head, buf, sizeof(head));
	memset(frame_p, 0, sizeof(*frame_p));
	*why_p = check_head(&head, swapped, frame_p);
	if (*why_p || have < head.hdr_len)
		return 0;
	if (frame_p->flags & XNET_FRAME_F_DATA)
		frame_p->data = get_word(buf, &at, swapped);
	if (shapes[frame_p->op].tag)
		frame_p->tag = get_word(buf, &at, swapped);
	if (frame_p->op == XNET_FRAME_RTS)
		frame_p->asked = get_word(buf, &at, swapped);
	if (frame_p->asked > LEN_MAX)
		*why_p = "an announcement of an impossible length";
	if (shapes[frame_p->op].ranges)
		*why_p = get_ranges(buf, at, swapped, frame_p);
	return *why_p ? 0 : head.hdr_len;
}

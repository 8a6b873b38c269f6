/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "wire.h"

#include <endian.h>
#include <string.h>

#include "base/iov.h"
#include "engine/wire.h"

#define VERSION_WORD (RXM_VERSION | WIRE_VERSION << 8)

/* ---- private data ----------------------------------------------------------------- */

static void swap_hello(struct rxm_hello *hello)
{
	hello->mark = le32toh(hello->mark);
	hello->version = le16toh(hello->version);
	hello->addr_len = le16toh(hello->addr_len);
	hello->epoch = le64toh(hello->epoch);
	hello->buf_size = le32toh(hello->buf_size);
	hello->credits = le16toh(hello->credits);
	hello->longs = le16toh(hello->longs);
}

size_t rxm_put_hello(uint8_t *out, const struct rxm_hello *hello)
{
	struct rxm_hello wire = *hello;
	size_t len = RXM_HELLO_SIZE + hello->addr_len;

	wire.mark = RXM_MARK;
	wire.version = VERSION_WORD;
	swap_hello(&wire);
	memcpy(out, &wire, len);
	return len;
}

const char *rxm_parse_hello(const void *buf, size_t len, struct rxm_hello *hello)
{
	memset(hello, 0, sizeof(*hello));
	if (len < RXM_HELLO_SIZE)
		return "it does not introduce itself";
	memcpy(hello, buf, RXM_HELLO_SIZE);
	swap_hello(hello);
	if (hello->mark != RXM_MARK)
		return "it speaks another protocol";
	if (hello->version != VERSION_WORD)
		return "it is of another version of this library";
	if (hello->addr_len > RXM_ADDR_MAX || hello->addr_len > len - RXM_HELLO_SIZE)
		return "its address is too long";
	if (hello->buf_size < RXM_BUF_MIN || hello->buf_size > RXM_BUF_MAX)
		return "its buffers are of no sensible size";
	if (!hello->credits || !hello->longs || !hello->epoch)
		return "a number is 0 that may not be";
	memcpy(hello->addr, (const uint8_t *) buf + RXM_HELLO_SIZE, hello->addr_len);
	return NULL;
}

size_t rxm_put_no(uint8_t *out, enum rxm_reason reason)
{
	struct rxm_no no = {
		.mark = htole32(RXM_MARK),
		.version = htole16(VERSION_WORD),
		.reason = htole16((uint16_t) reason),
	};

	memcpy(out, &no, sizeof(no));
	return sizeof(no);
}

enum rxm_reason rxm_parse_no(const void *buf, size_t len)
{
	struct rxm_no no;

	if (len < sizeof(no))
		return 0;
	memcpy(&no, buf, sizeof(no));
	if (le32toh(no.mark) != RXM_MARK || le16toh(no.reason) >= RXM_REASON_CNT)
		return 0;
	return le16toh(no.reason);
}

/* ---- messages ------------------------------------------------------------------------ */

static void get_frame(const uint8_t *buf, size_t at, struct rxm_frame *frame)
{
	memcpy(frame, buf + at, sizeof(*frame));
	frame->hdr_len = le16toh(frame->hdr_len);
	frame->zero = le32toh(frame->zero);
	frame->len = le64toh(frame->len);
}

static struct rxm_seg get_seg(const uint8_t *at)
{
	struct rxm_seg seg;

	memcpy(&seg, at, sizeof(seg));
	seg.addr = le64toh(seg.addr);
	seg.len = le64toh(seg.len);
	seg.key = le64toh(seg.key);
	return seg;
}

/* Do the segments of a LONG make up its length? */
static bool segs_fit(const uint8_t *at, const struct rxm_frame *frame)
{
	uint64_t left = frame->len;
	struct rxm_seg seg;
	unsigned i;

	for (i = 0; i < frame->segs; i++) {
		seg = get_seg(at + i * sizeof(seg));
		if (!seg.len || seg.len > left || seg.addr + seg.len < seg.addr)
			return false;
		left -= seg.len;
	}
	return !left;
}

/* frame_size - of the frame in @len bytes at @buf; 0 when it is not one. */
static size_t frame_size(const uint8_t *buf, size_t len)
{
	struct rxm_frame frame;
	size_t size;

	if (len < sizeof(frame))
		return 0;
	get_frame(buf, 0, &frame);
	if (frame.zero || frame.hdr_len > ENG_HDR_MAX)
		return 0;
	if (frame.kind == RXM_FREE)
		return frame.hdr_len || frame.segs ? 0 : sizeof(frame);
	if (!frame.hdr_len)
		return 0;
	if (frame.kind == RXM_EAGER) {
		size = sizeof(frame) + frame.hdr_len;
		return frame.segs || size > len || frame.len > len - size ? 0 : size + frame.len;
	}
	if (frame.kind != RXM_LONG || !frame.segs || frame.segs > ENG_IOV_MAX ||
	    frame.len > SIZE_MAX)
		return 0;
	size = RXM_LONG_SIZE(frame.hdr_len, frame.segs);
	if (size > len || !segs_fit(buf + size - frame.segs * sizeof(struct rxm_seg), &frame))
		return 0;
	return size;
}

const char *rxm_parse(const uint8_t *buf, size_t len, struct rxm_head *head)
{
	size_t at = sizeof(*head), size;

	if (len < at)
		return "it is too short";
	memcpy(head, buf, sizeof(*head));
	head->flags = le16toh(head->flags);
	head->credits = le16toh(head->credits);
	if (head->zero || head->flags & ~(RXM_F_SPARE | RXM_F_BYE))
		return "its head has bits that mean nothing";
	for (; at < len; at += size) {
		size = frame_size(buf + at, len - at);
		if (!size)
			return "a frame of it makes no sense";
		if (head->flags & RXM_F_SPARE && buf[at] != RXM_FREE)
			return "it has a frame that needs a credit, and took none";
	}
	return NULL;
}

size_t rxm_next(const uint8_t *buf, size_t at, struct rxm_item *item)
{
	struct rxm_frame frame;
	unsigned i;

	get_frame(buf, at, &frame);
	at += sizeof(frame);
	item->kind = frame.kind;
	item->hdr = buf + at;
	item->hdr_len = frame.hdr_len;
	item->len = item->id = frame.len;
	item->segs = frame.segs;
	at += frame.hdr_len;
	item->data = buf + at;
	if (frame.kind == RXM_EAGER)
		return at + frame.len;
	if (frame.kind == RXM_LONG) {
		memcpy(&item->id, buf + at, sizeof(item->id));
		item->id = le64toh(item->id);
		at += sizeof(item->id);
	}
	for (i = 0; i < frame.segs; i++, at += sizeof(struct rxm_seg))
		item->seg[i] = get_seg(buf + at);
	return at;
}

void rxm_put_head(uint8_t *out, unsigned flags, unsigned credits)
{
	struct rxm_head head = {
		.flags = htole16((uint16_t) flags), .credits = htole16((uint16_t) credits),
	};

	memcpy(out, &head, sizeof(head));
}

static size_t put_frame(uint8_t *out, size_t at, enum rxm_kind kind, const struct eng_pkt *pkt,
			unsigned segs)
{
	struct rxm_frame frame = {
		.kind = (uint8_t) kind, .segs = (uint8_t) segs,
		.hdr_len = htole16(pkt->hdr_len), .len = htole64(pkt->len),
	};

	memcpy(out + at, &frame, sizeof(frame));
	memcpy(out + at + sizeof(frame), pkt->hdr, pkt->hdr_len);
	return at + sizeof(frame) + pkt->hdr_len;
}

size_t rxm_put_eager(uint8_t *out, size_t at, const struct eng_pkt *pkt)
{
	at = put_frame(out, at, RXM_EAGER, pkt, 0);
	iov_gather(pkt->iov, pkt->iov_cnt, 0, out + at, pkt->len);
	return at + pkt->len;
}

size_t rxm_put_long(uint8_t *out, size_t at, const struct eng_pkt *pkt, uint64_t id,
		    const struct rxm_seg *seg, unsigned segs)
{
	struct rxm_seg wire;
	unsigned i;

	at = put_frame(out, at, RXM_LONG, pkt, segs);
	id = htole64(id);
	memcpy(out + at, &id, sizeof(id));
	at += sizeof(id);
	for (i = 0; i < segs; i++, at += sizeof(wire)) {
		wire = (struct rxm_seg) { htole64(seg[i].addr), htole64(seg[i].len),
					  htole64(seg[i].key) };
		memcpy(out + at, &wire, sizeof(wire));
	}
	return at;
}

size_t rxm_put_free(uint8_t *out, size_t at, uint64_t id)
{
	struct rxm_frame frame = { .kind = RXM_FREE, .len = htole64(id) };

	memcpy(out + at, &frame, sizeof(frame));
	return at + sizeof(frame);
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "foreign/rxmf/packet.h"

#include <endian.h>
#include <rdma/fi_atomic.h>
#include <string.h>

#include "net/opt.h"

/* Versions of the control header and of the operation header, which begins at op_version. */
#define CTRL_VERSION 4
#define OP_VERSION 2
#define F_DATA 0x00020000u
#define PLACE_MASK 3u		/* the other bits are of no meaning */
#define ERR_MAX 4096u

/* As on the wire, in host order: a peer of the other byte order was refused by the handshake
 * (cm.h).
 */
struct header {
	uint8_t ctrl_version;
	uint8_t type;
	uint16_t seg_size;
	uint32_t seg_no;
	uint64_t conn_id;
	uint64_t msg_id;
	uint64_t ctrl_data;
	uint8_t op_version;
	uint8_t unused;
	uint8_t op;
	uint8_t unused2;
	uint32_t flags;
	uint64_t len;
	uint64_t data;
	union {
		uint64_t tag;
		struct {
			uint8_t datatype;
			uint8_t amo;
			uint8_t ranges;
		};
	};
};
_Static_assert(sizeof(struct header) == RXMF_PACKET_HDR, "wire layout");
_Static_assert(offsetof(struct header, len) == 40, "wire layout");
_Static_assert(sizeof(struct wire_rma) * RXMF_PACKET_SEGS == RXMF_PACKET_LIST, "wire layout");

/* Behind the entries of a list of memory. */
struct list_end {
	uint8_t cnt;
	uint8_t unused[7];
};

/* Before the result of an atomic.  Big endian. */
struct response {
	uint32_t status;
	uint32_t len;
};

/* ---- decoding -------------------------------------------------------------------------- */

/* The other types have a control header alone; what is in its place for the operation means
 * nothing.
 */
static bool has_op(unsigned type)
{
	return type <= RXMF_PACKET_RNDV || type == RXMF_PACKET_ATOMIC ||
	       type == RXMF_PACKET_ATOMIC_RESPONSE;
}

/* A sender need not clear fields that its flags rule out, so they are cleared here. */
static void get_message(const struct header *hdr, struct rxmf_packet *out)
{
	out->len = hdr->len;
	out->has_data = hdr->flags & F_DATA;
	out->data = out->has_data ? hdr->data : 0;
	out->tag = hdr->op == RXMF_OP_TAGGED ? hdr->tag : 0;
}

/* sum_p - [out] of the lengths */
static bool get_segs(const uint8_t *at, unsigned cnt, struct rxmf_packet *out, uint64_t *sum_p)
{
	unsigned i;

	*sum_p = 0;
	if (!cnt || cnt > RXMF_PACKET_SEGS)
		return false;
	out->segs = cnt;
	memcpy(out->seg, at, cnt * sizeof(out->seg[0]));
	for (i = 0; i < cnt; i++)
		if (__builtin_add_overflow(*sum_p, out->seg[i].len, sum_p) ||
		    out->seg[i].addr + out->seg[i].len < out->seg[i].addr)
			return false;
	return true;
}

static bool get_memory(const uint8_t *at, size_t len, struct rxmf_packet *out, uint64_t *sum_p)
{
	return len == RXMF_PACKET_LIST + sizeof(struct list_end) &&
	       get_segs(at, at[RXMF_PACKET_LIST], out, sum_p);
}

/* The length is stated twice, by the provider below and in the header: they have to agree. */
static const char *get_eager(const struct header *hdr, size_t limit, struct rxmf_packet *out)
{
	get_message(hdr, out);
	if (out->payload_len != out->len)
		return "its length is not the one it states";
	return out->len > limit ? "it is longer than the eager limit" : NULL;
}

/* get_piece - each segment by itself: order and sum are checked by the provider, which puts them together. */
static const char *get_piece(const struct header *hdr, size_t limit, struct rxmf_packet *out)
{
	get_message(hdr, out);
	out->seg_no = hdr->seg_no;
	out->place = hdr->ctrl_data & PLACE_MASK;
	if (!out->payload_len || out->payload_len != hdr->seg_size || out->payload_len > limit ||
	    out->payload_len > out->len)
		return "a segment has an impossible length";
	if (!out->place || (out->place == RXMF_PLACE_FIRST) != !out->seg_no ||
	    (out->place == RXMF_PLACE_FIRST && out->payload_len == out->len))
		return "a segment has an impossible place";
	return NULL;
}

/* The list has to cover the message exactly: the receiver reads no more than it was told. */
static const char *get_rndv(const struct header *hdr, struct rxmf_packet *out)
{
	uint64_t sum;

	get_message(hdr, out);
	if (!get_memory(out->payload, out->payload_len, out, &sum) || sum != out->len)
		return "its list of memory is impossible";
	out->payload_len = 0;
	return NULL;
}

static const char *get_atomic(const struct header *hdr, struct rxmf_packet *out)
{
	uint64_t sum;

	out->datatype = hdr->datatype;
	out->amo = hdr->amo;
	if (out->payload_len != hdr->len || out->payload_len < RXMF_PACKET_LIST ||
	    !get_segs(out->payload, hdr->ranges, out, &sum))
		return "its list of ranges is impossible";
	out->payload += RXMF_PACKET_LIST;
	out->payload_len -= RXMF_PACKET_LIST;
	return NULL;
}

/* The status is a negative error, as a 32-bit number; what is left of the packet is the result. */
static const char *get_response(const struct header *hdr, struct rxmf_packet *out)
{
	struct response response;

	out->datatype = hdr->datatype;
	out->amo = hdr->amo;
	if (out->payload_len != hdr->len || out->payload_len < sizeof(response))
		return "an atomic response has an impossible length";
	memcpy(&response, out->payload, sizeof(response));
	out->err = -be32toh(response.status);
	out->payload += sizeof(response);
	out->payload_len -= sizeof(response);
	if (out->err >= ERR_MAX)
		return "an atomic response has an impossible status";
	return be32toh(response.len) == out->payload_len ? NULL :
	       "the length of an atomic's result is not the one it states";
}

static const char *get_by_type(const struct header *hdr, size_t limit, struct rxmf_packet *out)
{
	uint64_t sum;

	switch (out->type) {
	case RXMF_PACKET_EAGER:
		return get_eager(hdr, limit, out);
	case RXMF_PACKET_SEG:
		return get_piece(hdr, limit, out);
	case RXMF_PACKET_RNDV:
		return get_rndv(hdr, out);
	case RXMF_PACKET_ATOMIC:
		return get_atomic(hdr, out);
	case RXMF_PACKET_ATOMIC_RESPONSE:
		return get_response(hdr, out);
	case RXMF_PACKET_WRITE_OFFER:
		if (!get_memory(out->payload, out->payload_len, out, &sum))
			return "its list of memory is impossible";
		out->payload_len = 0;
		return NULL;
	case RXMF_PACKET_CREDIT:
		out->credits = hdr->ctrl_data;
		/* fall through */
	default:
		return out->payload_len ? "it is longer than its type" : NULL;
	}
}

/* Atomics of all three kinds share two types of packet. */
static bool op_fits(unsigned type, unsigned op)
{
	if (type == RXMF_PACKET_ATOMIC || type == RXMF_PACKET_ATOMIC_RESPONSE)
		return op >= RXMF_OP_ATOMIC && op <= RXMF_OP_ATOMIC_COMPARE;
	return op <= RXMF_OP_TAGGED;
}

/* parse_tagged - a message whose header the provider below has taken off. */
static const char *parse_tagged(const uint8_t *buf, size_t len, size_t limit, struct rxmf_packet *out)
{
	struct net_tagged front;

	if (len < sizeof(front))
		return "it is too short to be a packet";
	memcpy(&front, buf, sizeof(front));
	out->type = RXMF_PACKET_EAGER;
	out->op = RXMF_OP_TAGGED;
	out->tag = front.tag;
	out->has_data = front.has_data;
	out->data = front.has_data ? front.data : 0;
	out->payload = buf + sizeof(front);
	out->payload_len = len - sizeof(front);
	out->len = out->payload_len;
	return out->len > limit ? "it is longer than the eager limit" : NULL;
}

const char *rxmf_packet_parse(const uint8_t *buf, size_t len, size_t limit, struct rxmf_packet *out)
{
	struct header hdr;

	memset(out, 0, sizeof(*out));
	if (len && !buf[0])
		return parse_tagged(buf, len, limit, out);
	if (len < sizeof(hdr))
		return "it is too short to be a packet";
	memcpy(&hdr, buf, sizeof(hdr));
	if (hdr.ctrl_version != CTRL_VERSION || hdr.type >= RXMF_PACKET_TYPES)
		return "it has an unknown version or type";
	if (has_op(hdr.type) && (hdr.op_version != OP_VERSION || !op_fits(hdr.type, hdr.op)))
		return "it has an unknown operation";
	/* a list of memory may be longer than an eager limit that is very low */
	if (len > rxmf_packet_room(limit) && len > RXMF_PACKET_HDR + RXMF_PACKET_LIST +
						  sizeof(struct list_end))
		return "it is longer than a packet";
	out->type = hdr.type;
	out->op = has_op(hdr.type) ? hdr.op : RXMF_OP_MSG;
	out->conn_id = (uint32_t) hdr.conn_id;
	out->msg_id = out->type == RXMF_PACKET_EAGER || out->type == RXMF_PACKET_CREDIT ? 0 : hdr.msg_id;
	out->payload = buf + sizeof(hdr);
	out->payload_len = len - sizeof(hdr);
	return get_by_type(&hdr, limit, out);
}

bool rxmf_packet_operands(const struct rxmf_packet *pkt, size_t size)
{
	uint64_t bytes, elements = 0;
	unsigned i;

	for (i = 0; i < pkt->segs; i++)
		if (__builtin_add_overflow(elements, pkt->seg[i].len, &elements))
			return false;
	if (__builtin_mul_overflow(elements, size, &bytes))
		return false;
	if (pkt->op == RXMF_OP_ATOMIC_COMPARE && __builtin_mul_overflow(bytes, 2, &bytes))
		return false;
	if (pkt->op == RXMF_OP_ATOMIC_FETCH && pkt->amo == FI_ATOMIC_READ)
		bytes = 0;
	return bytes == pkt->payload_len;
}

/* ---- encoding -------------------------------------------------------------------------- */

static size_t put_segs(uint8_t *out, const struct rxmf_packet *pkt)
{
	memset(out, 0, RXMF_PACKET_LIST);
	memcpy(out, pkt->seg, pkt->segs * sizeof(pkt->seg[0]));
	return RXMF_PACKET_LIST;
}

static size_t put_memory(uint8_t *out, const struct rxmf_packet *pkt)
{
	struct list_end end = { .cnt = (uint8_t) pkt->segs };
	size_t at = put_segs(out, pkt);

	memcpy(out + at, &end, sizeof(end));
	return at + sizeof(end);
}

/* A failed atomic has no result: its payload_len is 0. */
static size_t put_response(uint8_t *out, const struct rxmf_packet *pkt)
{
	struct response response = {
		.status = htobe32(-pkt->err), .len = htobe32((uint32_t) pkt->payload_len),
	};

	memcpy(out, &response, sizeof(response));
	return sizeof(response);
}

/* put_list - what is between header and payload.  Returns its length. */
static size_t put_list(uint8_t *out, const struct rxmf_packet *pkt)
{
	switch (pkt->type) {
	case RXMF_PACKET_RNDV:
	case RXMF_PACKET_WRITE_OFFER:
		return put_memory(out, pkt);
	case RXMF_PACKET_ATOMIC:
		return put_segs(out, pkt);
	case RXMF_PACKET_ATOMIC_RESPONSE:
		return put_response(out, pkt);
	default:
		return 0;
	}
}

size_t rxmf_packet_put(uint8_t *out, const struct rxmf_packet *pkt)
{
	size_t list = put_list(out + sizeof(struct header), pkt);
	bool atomic = pkt->type == RXMF_PACKET_ATOMIC || pkt->type == RXMF_PACKET_ATOMIC_RESPONSE;
	struct header hdr = {
		.ctrl_version = CTRL_VERSION,
		.type = (uint8_t) pkt->type,
		.seg_size = pkt->type == RXMF_PACKET_SEG ? (uint16_t) pkt->payload_len : 0,
		.seg_no = pkt->seg_no,
		.conn_id = pkt->conn_id,
		.msg_id = pkt->msg_id,
		.ctrl_data = pkt->type == RXMF_PACKET_CREDIT ? pkt->credits : pkt->place,
		.op_version = OP_VERSION,
		.op = pkt->type == RXMF_PACKET_CREDIT ? 6 : (uint8_t) pkt->op,
		.flags = pkt->has_data ? F_DATA : 0,
		.len = atomic ? list + pkt->payload_len : pkt->len,
		.data = pkt->data,
		.tag = pkt->tag,
	};

	if (atomic) {
		hdr.datatype = pkt->datatype;
		hdr.amo = pkt->amo;
		hdr.ranges = (uint8_t) pkt->segs;
	}
	memcpy(out, &hdr, sizeof(hdr));
	return sizeof(hdr) + list;
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "wire.h"

#include <endian.h>
#include <netinet/in.h>
#include <string.h>

#include "base/ib_addr.h"
#include "base/iov.h"
#include "base/net_addr.h"
#include "engine/wire.h"

_Static_assert(RXM_VERSION < 256 && WIRE_VERSION < 256, "each version has a byte");
_Static_assert(RXM_VERSION - RXM_OLDEST < 16 && WIRE_VERSION - WIRE_OLDEST < 16,
	       "each distance has four bits");

/* ---- private data ----------------------------------------------------------------- */

static struct chan_version own_version(void)
{
	return chan_version_ours(RXM_VERSION, RXM_OLDEST);
}

/* version_word - both versions of this library, as they are on the wire. */
static uint16_t version_word(void)
{
	return RXM_VERSION | WIRE_VERSION << 8;
}

static uint8_t older_byte(void)
{
	return (RXM_VERSION - RXM_OLDEST) | (WIRE_VERSION - WIRE_OLDEST) << 4;
}

/* An old or new version has its two bytes at the same place, so that a refusal can name it. */
static struct chan_version version_of(uint16_t word, uint8_t older)
{
	struct chan_version theirs = { .link = word & 0xff, .engine = word >> 8 };

	theirs.link_oldest = (uint16_t) (theirs.link - (older & 0xf));
	theirs.engine_oldest = (uint16_t) (theirs.engine - (older >> 4));
	chan_version_first(&theirs, RXM_RANGED);
	return theirs;
}

/* There is no room for an IPv6 address (28 bytes) or an InfiniBand one (FI_SOCKADDR_IB, 48).  Of one
 * that has the usual values elsewhere, these fields are sent, and the length tells which it is.
 */
struct in6_short {
	uint16_t family;
	uint16_t port;
	uint8_t addr[16];
	uint32_t scope_id;
} __attribute__((packed));
_Static_assert(sizeof(struct in6_short) == 24, "no other address has this length");

struct ib_short {
	uint16_t pkey;
	uint8_t gid[16];
	uint64_t sid;
} __attribute__((packed));
_Static_assert(sizeof(struct ib_short) == 26, "no other address has this length");

/* 0: the short form does not hold it, so it is sent as it is, if there is room. */
static size_t put_in6(uint8_t *out, const uint8_t *addr)
{
	struct in6_short in6;
	struct sockaddr_in6 sa;

	memcpy(&sa, addr, sizeof(sa));
	if (sa.sin6_family != AF_INET6 || sa.sin6_flowinfo)
		return 0;
	in6 = (struct in6_short) { htole16(sa.sin6_family), sa.sin6_port,
				   .scope_id = htole32(sa.sin6_scope_id) };
	memcpy(in6.addr, &sa.sin6_addr, sizeof(in6.addr));
	memcpy(out, &in6, sizeof(in6));
	return sizeof(in6);
}

static size_t put_ib(uint8_t *out, const uint8_t *addr)
{
	struct ib_short ib;
	struct ib_sa sa;

	memcpy(&sa, addr, sizeof(sa));
	if (sa.family != IB_SA_FAMILY || sa.flowinfo || sa.sid_mask != UINT64_MAX || sa.scope_id)
		return 0;
	ib = (struct ib_short) { .pkey = sa.pkey, .sid = sa.sid };
	memcpy(ib.gid, sa.gid, sizeof(sa.gid));
	memcpy(out, &ib, sizeof(ib));
	return sizeof(ib);
}

/* put_addr - Returns the length at @out. */
static size_t put_addr(uint8_t *out, const uint8_t *addr, size_t len)
{
	size_t size = len == sizeof(struct sockaddr_in6) ? put_in6(out, addr) :
		      len == sizeof(struct ib_sa) ? put_ib(out, addr) : 0;

	if (size)
		return size;
	memcpy(out, addr, len);
	net_addr_wire(out, len, NET_ADDR_BIG);
	return len;
}

static size_t get_in6(uint8_t *addr, const uint8_t *in)
{
	struct sockaddr_in6 sa = { 0 };
	struct in6_short in6;

	memcpy(&in6, in, sizeof(in6));
	sa.sin6_family = le16toh(in6.family);
	sa.sin6_port = in6.port;
	sa.sin6_scope_id = le32toh(in6.scope_id);
	memcpy(&sa.sin6_addr, in6.addr, sizeof(in6.addr));
	memcpy(addr, &sa, sizeof(sa));
	return sizeof(sa);
}

static size_t get_ib(uint8_t *addr, const uint8_t *in)
{
	struct ib_sa sa = { .family = IB_SA_FAMILY, .sid_mask = UINT64_MAX };
	struct ib_short ib;

	memcpy(&ib, in, sizeof(ib));
	sa.pkey = ib.pkey;
	sa.sid = ib.sid;
	memcpy(sa.gid, ib.gid, sizeof(sa.gid));
	memcpy(addr, &sa, sizeof(sa));
	return sizeof(sa);
}

/* get_addr - Returns the length of @addr.  The bytes come from a peer: they are copied, and whether
 * they are an address is checked where they are used.
 */
static size_t get_addr(uint8_t *addr, const uint8_t *in, size_t len)
{
	if (len == sizeof(struct in6_short))
		return get_in6(addr, in);
	if (len == sizeof(struct ib_short))
		return get_ib(addr, in);
	memcpy(addr, in, len);
	net_addr_wire(addr, len, NET_ADDR_BIG);
	return len;
}

size_t rxm_handshake_put(uint8_t *out, const struct rxm_handshake *hs)
{
	size_t addr_len = put_addr(out + sizeof(struct rxm_wire_handshake), hs->addr, hs->addr_len);
	struct rxm_wire_handshake wire = {
		.mark = htole16(RXM_MARK),
		.version = htole16(version_word()),
		.older = older_byte(),
		.addr_len = (uint8_t) addr_len,
		.rndvs = hs->rndvs,
		.credits = htole16(hs->credits),
		.epoch = htole64(hs->id.epoch),
		.buf_size = htole32(hs->buf_size),
		.serial = htole32((uint32_t) hs->id.serial),
		.prev = htole32((uint32_t) hs->id.prev),
	};

	memcpy(out, &wire, sizeof(wire));
	return sizeof(wire) + addr_len;
}

/* fields_possible - a message has to fit into the buffers, and nothing that counts is 0. */
static bool fields_possible(const struct rxm_handshake *hs)
{
	return hs->credits && hs->rndvs && hs->id.epoch &&
	       hs->id.serial && hs->buf_size >= RXM_BUF_MIN && hs->buf_size <= RXM_BUF_MAX;
}

enum chan_reason rxm_handshake_parse(const void *buf, size_t len, struct rxm_handshake *hs)
{
	struct rxm_wire_handshake wire = { 0 };
	struct chan_version ours = own_version();

	memset(hs, 0, sizeof(*hs));
	if (len < offsetof(struct rxm_wire_handshake, older))
		return CHAN_MALFORMED;
	memcpy(&wire, buf, len < sizeof(wire) ? len : sizeof(wire));
	if (le16toh(wire.mark) != RXM_MARK)
		return CHAN_MALFORMED;
	hs->version = version_of(le16toh(wire.version), wire.older);
	/* the rest of another version's handshake may lie elsewhere */
	if (!chan_version_agree(&ours, &hs->version, NULL))
		return CHAN_VERSION_BAD;
	if (len < sizeof(wire) || wire.addr_len > len - sizeof(wire) || wire.addr_len > RXM_ADDR_MAX)
		return CHAN_MALFORMED;
	hs->rndvs = wire.rndvs;
	hs->credits = le16toh(wire.credits);
	hs->id.epoch = le64toh(wire.epoch);
	hs->buf_size = le32toh(wire.buf_size);
	hs->id.serial = le32toh(wire.serial);
	hs->id.prev = le32toh(wire.prev);
	if (!fields_possible(hs))
		return CHAN_MALFORMED;
	hs->addr_len = (uint8_t) get_addr(hs->addr, (const uint8_t *) buf + sizeof(wire),
					  wire.addr_len);
	return CHAN_OK;
}

size_t rxm_refusal_put(uint8_t *out, enum chan_reason reason)
{
	struct release ours = release_ours();
	struct rxm_wire_refusal wire = {
		.mark = htole16(RXM_MARK),
		.version = htole16(version_word()),
		.reason = htole32(reason),
		.older = older_byte(),
		.release = { ours.major, ours.minor, ours.micro },
		.commit = htole32(ours.commit),
	};

	memcpy(out, &wire, sizeof(wire));
	return sizeof(wire);
}

enum chan_reason rxm_refusal_parse(const void *buf, size_t len, struct chan_version *version_p)
{
	struct rxm_wire_refusal wire = { 0 };
	uint32_t reason;

	/* it may be longer: a connection manager pads private data with zeros */
	if (len < RXM_REFUSAL_STABLE)
		return CHAN_OK;
	memcpy(&wire, buf, len < sizeof(wire) ? len : sizeof(wire));
	reason = le32toh(wire.reason);
	if (le16toh(wire.mark) != RXM_MARK || reason == CHAN_OK)
		return CHAN_OK;
	*version_p = version_of(le16toh(wire.version), wire.older);
	version_p->release = (struct release) {
		wire.release[0], wire.release[1], wire.release[2], 0, le32toh(wire.commit),
	};
	return reason < CHAN_REASONS ? reason : CHAN_MALFORMED;
}

/* ---- messages ------------------------------------------------------------------------ */

/* get_frame - the head of the frame at offset @at, in host order. */
static void get_frame(const uint8_t *buf, size_t at, struct rxm_frame *frame)
{
	memcpy(frame, buf + at, sizeof(*frame));
	frame->hdr_len = le16toh(frame->hdr_len);
	frame->zero = le32toh(frame->zero);
	frame->len = le64toh(frame->len);
}

/* get_seg - a segment may lie at any address. */
static struct wire_rma get_seg(const uint8_t *at)
{
	struct wire_rma seg;

	memcpy(&seg, at, sizeof(seg));
	seg.addr = le64toh(seg.addr);
	seg.len = le64toh(seg.len);
	seg.key = le64toh(seg.key);
	return seg;
}

/* segs_fit - do the segments of a rendezvous make up its length? */
static bool segs_fit(const uint8_t *at, const struct rxm_frame *frame)
{
	uint64_t left = frame->len;
	struct wire_rma seg;
	unsigned i;

	for (i = 0; i < frame->segs; i++) {
		seg = get_seg(at + i * sizeof(seg));
		if (!seg.len || seg.len > left || seg.addr + seg.len < seg.addr)
			return false;
		left -= seg.len;
	}
	return !left;
}

/* frame_size - of the frame that begins at @buf, of which @len bytes at most are there.
 * Returns 0 if it is malformed.
 */
static size_t frame_size(const uint8_t *buf, size_t len)
{
	struct rxm_frame frame;
	size_t size;

	if (len < sizeof(frame))
		return 0;
	get_frame(buf, 0, &frame);
	if (frame.zero || frame.hdr_len > ENG_HDR_MAX)
		return 0;
	/* only RNDV_DONE has no header of the engine */
	if (frame.kind == RXM_RNDV_DONE)
		return frame.hdr_len || frame.segs ? 0 : sizeof(frame);
	if (!frame.hdr_len)
		return 0;
	if (frame.kind == RXM_EAGER) {
		size = sizeof(frame) + frame.hdr_len;
		return frame.segs || size > len || frame.len > len - size ? 0 : size + frame.len;
	}
	if (frame.kind != RXM_RNDV || !frame.segs || frame.segs > ENG_IOV_MAX ||
	    frame.len > SIZE_MAX)
		return 0;
	/* the segments are its last part */
	size = RXM_RNDV_SIZE(frame.hdr_len, frame.segs);
	if (size > len || !segs_fit(buf + size - frame.segs * sizeof(struct wire_rma), &frame))
		return 0;
	return size;
}

const char *rxm_parse(const uint8_t *buf, size_t len, struct rxm_head *head_p)
{
	struct rxm_head head;
	size_t at = sizeof(head), size;

	if (len < at)
		return "it is shorter than a message's head";
	memcpy(&head, buf, sizeof(head));
	head.flags = le16toh(head.flags);
	head.credits = le16toh(head.credits);
	if (head.zero || head.flags & ~(RXM_F_CTRL | RXM_F_CLOSE))
		return "reserved bits of its head are set";
	for (; at < len; at += size) {
		size = frame_size(buf + at, len - at);
		if (!size)
			return "a frame is malformed";
		if (head.flags & RXM_F_CTRL && buf[at] != RXM_RNDV_DONE)
			return "a control message has a frame that needs a credit";
	}
	*head_p = head;
	return NULL;
}

size_t rxm_next(const uint8_t *buf, size_t at, struct rxm_item *item_p)
{
	struct rxm_frame frame;
	unsigned i;

	get_frame(buf, at, &frame);
	at += sizeof(frame);
	item_p->kind = frame.kind;
	item_p->hdr = buf + at;
	item_p->hdr_len = frame.hdr_len;
	item_p->len = item_p->id = frame.len;
	item_p->segs = frame.segs;
	at += frame.hdr_len;
	item_p->data = buf + at;
	if (frame.kind == RXM_EAGER)
		return at + frame.len;
	if (frame.kind == RXM_RNDV) {
		memcpy(&item_p->id, buf + at, sizeof(item_p->id));
		item_p->id = le64toh(item_p->id);
		at += sizeof(item_p->id);
	}
	for (i = 0; i < frame.segs; i++, at += sizeof(struct wire_rma))
		item_p->seg[i] = get_seg(buf + at);
	return at;
}

void rxm_put_head(uint8_t *out, unsigned flags, unsigned credits)
{
	struct rxm_head head = {
		.flags = htole16((uint16_t) flags), .credits = htole16((uint16_t) credits),
	};

	memcpy(out, &head, sizeof(head));
}

/* put_frame - what EAGER and RNDV have in common: the head and the engine's header. */
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

size_t rxm_put_rndv(uint8_t *out, size_t at, const struct eng_pkt *pkt, uint64_t id,
		    const struct wire_rma *seg, unsigned segs)
{
	struct wire_rma wire;
	unsigned i;

	at = put_frame(out, at, RXM_RNDV, pkt, segs);
	id = htole64(id);
	memcpy(out + at, &id, sizeof(id));
	at += sizeof(id);
	for (i = 0; i < segs; i++, at += sizeof(wire)) {
		wire = (struct wire_rma) { htole64(seg[i].addr), htole64(seg[i].len),
					  htole64(seg[i].key) };
		memcpy(out + at, &wire, sizeof(wire));
	}
	return at;
}

size_t rxm_put_done(uint8_t *out, size_t at, uint64_t id)
{
	struct rxm_frame frame = { .kind = RXM_RNDV_DONE, .len = htole64(id) };

	memcpy(out + at, &frame, sizeof(frame));
	return at + sizeof(frame);
}

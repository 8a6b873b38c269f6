/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * wire.c - datagrams as bytes.  Fields are copied in and out, since a datagram may begin at any
 * address, and are little-endian.  rxd_parse() is the one validator: a field of a peer is used
 * only after it has accepted the whole datagram.
 */
#include "wire.h"

#include <sys/uio.h>

#include "base/net_addr.h"
#include "base/hash/crc32c.h"
#include "rxd/addresses/list.h"
#include "rxd/sealed.h"

/* ---- writing --------------------------------------------------------------- */

/* The crc field stays zero until rxd_seal(), which is last: it covers what is put in meanwhile. */
size_t rxd_put_hdr(uint8_t *out, enum rxd_type type, uint8_t flags, uint64_t conn, uint64_t pn)
{
	struct rxd_hdr hdr = {
		.version = RXD_MARK | RXD_VERSION,
		.foreign = RXD_FOREIGN_RTS,
		.type = (uint8_t) type,
		.flags = flags,
		.conn = htole64(conn),
		.pn = htole64(pn),
	};

	memcpy(out, &hdr, sizeof(hdr));
	return sizeof(hdr);
}

/* Both ways: swapping the bytes of a field twice restores it. */
static void hello_swap(struct rxd_hello *hello)
{
	hello->cid = le64toh(hello->cid);
	hello->peer_cid = le64toh(hello->peer_cid);
	hello->epoch = le64toh(hello->epoch);
	hello->serial = le64toh(hello->serial);
	hello->cookie.mac = le64toh(hello->cookie.mac);
	hello->cookie.stamp = le64toh(hello->cookie.stamp);
	hello->window = le64toh(hello->window);
	hello->dgram_max = le32toh(hello->dgram_max);
	hello->data_len = le16toh(hello->data_len);
	hello->release.commit = le32toh(hello->release.commit);
}

size_t rxd_put_hello(uint8_t *out, size_t at, const struct rxd_hello *hello, const void *data)
{
	struct rxd_hello wire = *hello;

	hello_swap(&wire);
	net_addr_wire(wire.addr, wire.addr_len, NET_ADDR_BIG);
	memcpy(out + at, &wire, sizeof(wire));
	at += sizeof(wire);
	if (hello->data_len)
		memcpy(out + at, data, hello->data_len);
	return at + hello->data_len;
}

struct rxd_release rxd_release_of(struct release release)
{
	return (struct rxd_release) {
		.number = { release.major, release.minor, release.micro },
		.commit = release.commit,
	};
}

/* The versions are in it, so that the log of the peer that is refused can name both. */
size_t rxd_put_refuse(uint8_t *out, size_t at, enum chan_reason reason, const void *data,
		      size_t len)
{
	struct rxd_refuse wire = {
		.reason = htole16((uint16_t) reason),
		.data_len = htole16((uint16_t) len),
		.engine = WIRE_VERSION,
		.engine_oldest = WIRE_OLDEST,
		.oldest = RXD_OLDEST,
		.release = rxd_release_of(release_ours()),
	};

	wire.release.commit = htole32(wire.release.commit);
	memcpy(out + at, &wire, sizeof(wire));
	at += sizeof(wire);
	if (len)
		memcpy(out + at, data, len);
	return at + len;
}

size_t rxd_put_ack(uint8_t *out, size_t at, const struct rxd_ack *ack)
{
	struct rxd_ack wire = {
		.largest = htole64(ack->largest),
		.limit = htole64(ack->limit),
		.delay_us = htole32(ack->delay_us),
		.first = htole32(ack->first),
		.ect = htole16(ack->ect),
		.ce = htole16(ack->ce),
		.cnt = ack->cnt,
	};

	memcpy(out + at, &wire, sizeof(wire));
	return at + sizeof(wire);
}

/* Behind the fixed part of an ACK, from the largest number down. */
size_t rxd_put_range(uint8_t *out, size_t at, uint32_t gap, uint32_t len)
{
	struct rxd_range wire = { htole32(gap), htole32(len) };

	memcpy(out + at, &wire, sizeof(wire));
	return at + sizeof(wire);
}

size_t rxd_put_u64(uint8_t *out, size_t at, uint64_t word)
{
	word = htole64(word);
	memcpy(out + at, &word, sizeof(word));
	return at + sizeof(word);
}

/* packet_checksum - of a header and what follows it.  The crc field itself counts as zero. */
static uint32_t packet_checksum(const uint8_t *buf, size_t len)
{
	struct rxd_hdr hdr;
	uint32_t crc;

	memcpy(&hdr, buf, sizeof(hdr));
	hdr.crc = 0;
	crc = crc32c_add(0, &hdr, sizeof(hdr));
	return crc32c_add(crc, buf + sizeof(hdr), len - sizeof(hdr));
}

void rxd_seal(uint8_t *out, size_t len, const struct iovec *iov, size_t cnt)
{
	uint32_t crc = packet_checksum(out, len);
	size_t i;

	/* payload is summed where it lies; the caller leaves it out where a header's sum is enough */
	for (i = 0; i < cnt; i++)
		crc = crc32c_add(crc, iov[i].iov_base, iov[i].iov_len);
	crc = htole32(crc);
	memcpy(out + offsetof(struct rxd_hdr, crc), &crc, sizeof(crc));
}

/* ---- validation --------------------------------------------------------------- */

static bool all_zero(const uint8_t *p, size_t len)
{
	while (len--)
		if (*p++)
			return false;
	return true;
}

/* Unused bytes of an address are zero, so that equal addresses are equal bytes. */
static bool good_addr(const uint8_t *addr, size_t len)
{
	return len && len <= RXD_ADDR_MAX && all_zero(addr + len, RXD_ADDR_MAX - len);
}

/* take_version - what a handshake says beside the version in the header. */
static void take_version(struct rxd_pkt *pkt, uint8_t oldest, uint8_t engine, uint8_t engine_oldest,
			 struct rxd_release release)
{
	pkt->version.engine = engine;
	pkt->version.link_oldest = oldest;
	pkt->version.engine_oldest = engine_oldest;
	pkt->version.release = (struct release) {
		release.number[0], release.number[1], release.number[2], 0, release.commit,
	};
	chan_version_first(&pkt->version, RXD_RANGED);
}

static void hello_version(struct rxd_pkt *pkt)
{
	const struct rxd_hello *hello = &pkt->hello;

	take_version(pkt, hello->oldest, hello->engine, hello->engine_oldest, hello->release);
}

static const char *parse_hello(const uint8_t *buf, size_t size, struct rxd_pkt *pkt)
{
	struct rxd_hello *hello = &pkt->hello;

	if (size < sizeof(*hello))
		return "a handshake that is cut short";
	memcpy(hello, buf, sizeof(*hello));
	hello_swap(hello);
	if (hello->data_len > RXD_DATA_MAX || size < sizeof(*hello) + hello->data_len)
		return "private data of an impossible length";
	/* a HELLO may be padded, so that an answer is not longer */
	if (!all_zero(buf + sizeof(*hello) + hello->data_len,
		      size - sizeof(*hello) - hello->data_len))
		return "padding that is not zero";
	if (!hello->cid || !hello->epoch || !hello->serial)
		return "a handshake without ids";
	if (!good_addr(hello->addr, hello->addr_len))
		return "a handshake without an address";
	net_addr_wire(hello->addr, hello->addr_len, NET_ADDR_BIG);
	if (hello->kind != RXD_KIND_RDM && hello->kind != RXD_KIND_MSG)
		return "a handshake of an unknown kind of endpoint";
	if (hello->dgram_max < RXD_DGRAM_MIN)
		return "a handshake with a datagram size below the minimum";
	if (!all_zero(hello->zero, sizeof(hello->zero)))
		return "bits that this version does not define";
	if ((pkt->type == RXD_WELCOME) != (hello->peer_cid != 0))
		return "a request that is an answer, too, or the reverse";
	hello_version(pkt);
	pkt->data = buf + sizeof(*hello);
	pkt->len = hello->data_len;
	return NULL;
}

/* The cookie is not interpreted here: its maker alone can check it (cookie.h). */
static const char *parse_retry(const uint8_t *buf, size_t size, struct rxd_pkt *pkt)
{
	if (size != sizeof(pkt->cookie))
		return "a cookie of a wrong length";
	memcpy(&pkt->cookie, buf, size);
	pkt->cookie.mac = le64toh(pkt->cookie.mac);
	pkt->cookie.stamp = le64toh(pkt->cookie.stamp);
	return pkt->cookie.mac ? NULL : "an empty cookie";
}

/* Shared with parse_foreign(): reason and version are where every version has them. */
static void get_refuse(const uint8_t *buf, size_t size, struct rxd_pkt *pkt, size_t *data_len_p)
{
	struct rxd_refuse refuse = { 0 };

	memcpy(&refuse, buf, size < sizeof(refuse) ? size : sizeof(refuse));
	pkt->reason = le16toh(refuse.reason);
	refuse.release.commit = le32toh(refuse.release.commit);
	take_version(pkt, refuse.oldest, refuse.engine, refuse.engine_oldest, refuse.release);
	*data_len_p = le16toh(refuse.data_len);
}

/* known_reason - one for which an endpoint of this provider refuses. */
static bool known_reason(enum chan_reason reason)
{
	return reason == CHAN_REJECTED || reason == CHAN_VERSION_BAD || reason == CHAN_KIND_BAD ||
	       reason == CHAN_BUSY;
}

static const char *parse_refuse(const uint8_t *buf, size_t size, struct rxd_pkt *pkt)
{
	if (size < sizeof(struct rxd_refuse))
		return "a refusal that is cut short";
	get_refuse(buf, size, pkt, &pkt->len);
	pkt->data = buf + sizeof(struct rxd_refuse);
	if (pkt->len > RXD_DATA_MAX || size != sizeof(struct rxd_refuse) + pkt->len)
		return "private data of an impossible length";
	if (!known_reason(pkt->reason))
		return "a refusal for no known reason";
	return NULL;
}

/* It carries its sender's address: the connection that would have it may be gone here. */
static const char *parse_probe(const uint8_t *buf, size_t size, struct rxd_pkt *pkt)
{
	struct rxd_probe probe;

	if (size != sizeof(probe))
		return "a probe of a wrong length";
	memcpy(&probe, buf, sizeof(probe));
	if (!probe.cid || !good_addr(probe.addr, probe.addr_len) ||
	    !all_zero(probe.zero, sizeof(probe.zero)))
		return "a probe without id or address";
	pkt->cid = le64toh(probe.cid);
	memcpy(pkt->hello.addr, probe.addr, sizeof(probe.addr));
	net_addr_wire(pkt->hello.addr, probe.addr_len, NET_ADDR_BIG);
	pkt->addr = pkt->hello.addr;
	pkt->addr_len = probe.addr_len;
	return NULL;
}

/* It names a connection of the receiver; whether it may end it is decided in handshake.c. */
static const char *parse_reset(const uint8_t *buf, size_t size, struct rxd_pkt *pkt)
{
	if (size != sizeof(struct rxd_reset))
		return "a reset of a wrong length";
	memcpy(&pkt->cid, buf, sizeof(pkt->cid));
	pkt->cid = le64toh(pkt->cid);
	return pkt->cid ? NULL : "a reset of nothing";
}

/* Ranges must not go below 0, or a sender would look up packets that it never sent. */
static const char *parse_ranges(struct rxd_pkt *pkt)
{
	uint64_t low = pkt->ack.largest;
	struct rxd_range range;
	unsigned i;

	if (low > RXD_PN_MAX || pkt->ack.first > low)
		return "an ACK of impossible numbers";
	low -= pkt->ack.first;
	for (i = 0; i < pkt->ack.cnt; i++) {
		range = rxd_pkt_range(pkt, i);
		if (!range.gap || !range.len || (uint64_t) range.gap + range.len > low)
			return "an ACK of impossible numbers";
		low -= (uint64_t) range.gap + range.len;
	}
	return NULL;
}

/* The counts of ECN marks are not checked here: a peer that lies slows only itself. */
static const char *parse_ack(const uint8_t *buf, size_t size, size_t *used_p, struct rxd_pkt *pkt)
{
	struct rxd_ack *ack = &pkt->ack;

	if (size < sizeof(*ack))
		return "an ACK that is cut short";
	memcpy(ack, buf, sizeof(*ack));
	ack->largest = le64toh(ack->largest);
	ack->limit = le64toh(ack->limit);
	ack->delay_us = le32toh(ack->delay_us);
	ack->first = le32toh(ack->first);
	ack->ect = le16toh(ack->ect);
	ack->ce = le16toh(ack->ce);
	if (ack->cnt > RXD_RANGES_MAX || !all_zero(ack->zero, sizeof(ack->zero)))
		return "an ACK with too many ranges";
	if (size < sizeof(*ack) + ack->cnt * sizeof(struct rxd_range))
		return "an ACK that is cut short";
	pkt->ranges = buf + sizeof(*ack);
	*used_p = sizeof(*ack) + ack->cnt * sizeof(struct rxd_range);
	return parse_ranges(pkt);
}

/* @head_p: bytes behind the header that the checksum covers in any case. */
static const char *parse_data(const uint8_t *buf, size_t size, struct rxd_pkt *pkt,
			      size_t *head_p)
{
	const char *why;
	size_t at = 0;

	if (pkt->flags & RXD_F_ACK) {
		why = parse_ack(buf, size, &at, pkt);
		if (why)
			return why;
	}
	*head_p = at;
	pkt->data = buf + at;
	pkt->len = 0;
	/* an ACK alone has no number: it is neither acknowledged nor retransmitted */
	if (!(pkt->flags & RXD_F_PN))
		return at && at == size && !(pkt->flags & (RXD_F_PAD | RXD_F_NOW)) ? NULL :
		       "data without a number";
	if (pkt->flags & RXD_F_PAD)
		return NULL;
	if (size - at < sizeof(pkt->off) + 1)
		return "data without bytes";
	memcpy(&pkt->off, buf + at, sizeof(pkt->off));
	pkt->off = le64toh(pkt->off);
	at += sizeof(pkt->off);
	*head_p = at;
	pkt->data = buf + at;
	pkt->len = size - at;
	return pkt->off <= RXD_PN_MAX ? NULL : "data beyond the end of all streams";
}

/* Of further paths (addresses/wire.h): whether it is right is decided in rails/join.c. */
static const char *parse_rail(const uint8_t *buf, size_t size, struct rxd_pkt *pkt)
{
	struct rxd_wire_rail rail;

	pkt->data = buf;
	pkt->len = size;
	return rxd_rail_take(buf, size, &rail);
}

/* All but DATA: rare, so their checks may cost what they like. */
static const char *parse_control(const uint8_t *buf, size_t size, struct rxd_pkt *pkt)
{
	switch (pkt->type) {
	case RXD_HELLO:
	case RXD_WELCOME:
		return parse_hello(buf, size, pkt);
	case RXD_RETRY:
		return parse_retry(buf, size, pkt);
	case RXD_REFUSE:
		return parse_refuse(buf, size, pkt);
	case RXD_PROBE:
		return parse_probe(buf, size, pkt);
	case RXD_RESET:
		return parse_reset(buf, size, pkt);
	case RXD_PATH_CHALLENGE:
	case RXD_PATH_RESPONSE:
		return size || !pkt->pn ? "a path validation of a wrong length" : NULL;
	case RXD_RAIL_ASK:
	case RXD_RAIL_ANSWER:
	case RXD_RAIL_PROOF:
		return parse_rail(buf, size, pkt);
	default:
		return "a packet of an unknown type";
	}
}

/* Only what all versions have in common is used: the sender of HELLO, the reason of REFUSE. */
static const char *parse_foreign(const uint8_t *buf, size_t size, struct rxd_pkt *pkt)
{
	size_t data_len;

	pkt->data = buf;
	pkt->len = 0;
	if (pkt->type == RXD_HELLO && !pkt->conn && size >= RXD_HELLO_STABLE) {
		pkt->hello = (struct rxd_hello) { 0 };
		memcpy(&pkt->hello, buf, size < sizeof(pkt->hello) ? size : sizeof(pkt->hello));
		hello_swap(&pkt->hello);
		hello_version(pkt);
		if (pkt->hello.cid && good_addr(pkt->hello.addr, pkt->hello.addr_len)) {
			net_addr_wire(pkt->hello.addr, pkt->hello.addr_len, NET_ADDR_BIG);
			return NULL;
		}
	} else if (pkt->type == RXD_REFUSE && pkt->conn && size >= RXD_REFUSE_STABLE) {
		get_refuse(buf, size, pkt, &data_len);
		if (pkt->reason == CHAN_VERSION_BAD)
			return NULL;
	}
	return "of another version of the protocol";
}

/* The flags that a packet may have; control packets always have a checksum over all of it. */
static unsigned flags_of(uint8_t type)
{
	switch (type) {
	case RXD_DATA:
		return RXD_F_ALL;
	case RXD_PATH_CHALLENGE:
	case RXD_PATH_RESPONSE:
		return RXD_F_SUM | RXD_F_PN;
	default:
		return RXD_F_SUM;
	}
}

/* speaks_ours - is it the HELLO of a later version, whose sender speaks this one, too? */
static bool speaks_ours(const uint8_t *buf, size_t size, const struct rxd_pkt *pkt)
{
	return pkt->type == RXD_HELLO && pkt->version.link > RXD_VERSION &&
	       size >= sizeof(struct rxd_hello) &&
	       buf[offsetof(struct rxd_hello, oldest)] &&
	       buf[offsetof(struct rxd_hello, oldest)] <= RXD_VERSION;
}

static const char *parse_body(const uint8_t *buf, size_t size, struct rxd_pkt *pkt, size_t *head_p)
{
	if (__builtin_expect(pkt->version.link != RXD_VERSION, 0) && !speaks_ours(buf, size, pkt))
		return parse_foreign(buf, size, pkt);
	if (pkt->flags & ~flags_of(pkt->type))
		return "bits that this version does not define";
	if (pkt->pn > RXD_PN_MAX || (pkt->pn && !(pkt->flags & RXD_F_PN)))
		return "a number out of range";
	if ((pkt->type == RXD_HELLO) == (pkt->conn != 0))
		return "a packet without a connection id";
	return pkt->type == RXD_DATA ? parse_data(buf, size, pkt, head_p) :
				       parse_control(buf, size, pkt);
}

static inline bool take_header(const uint8_t *buf, struct rxd_hdr *hdr, struct rxd_pkt *pkt)
{
	memcpy(hdr, buf, sizeof(*hdr));
	if (!(hdr->version & RXD_MARK) || hdr->foreign != RXD_FOREIGN_RTS)
		return false;
	pkt->version = (struct chan_version) { .link = hdr->version & ~RXD_MARK };
	pkt->type = hdr->type;
	pkt->flags = hdr->flags;
	pkt->conn = le64toh(hdr->conn);
	pkt->pn = le64toh(hdr->pn);
	return true;
}

/* The checksum comes last, as the body says how much of the packet it covers. */
const char *rxd_parse(const uint8_t *buf, size_t size, struct rxd_pkt *pkt)
{
	size_t head = size - sizeof(struct rxd_hdr);
	const char *why;
	struct rxd_hdr hdr;

	if (size < sizeof(hdr) || !take_header(buf, &hdr, pkt))
		return "no packet of ours";
	buf += sizeof(hdr);
	size -= sizeof(hdr);
	why = parse_body(buf, size, pkt, &head);
	if (why)
		return why;
	if (pkt->flags & RXD_F_SUM || pkt->version.link != RXD_VERSION)
		head = size;
	if (packet_checksum(buf - sizeof(hdr), sizeof(hdr) + head) != le32toh(hdr.crc))
		return "corrupted";
	return NULL;
}

/* ---- of protected endpoints --------------------------------------------------------- */

static const char *parse_shake(const uint8_t *buf, size_t size, struct rxd_pkt *pkt)
{
	struct rxd_shake shake;

	if (size < sizeof(shake) || size > sizeof(shake) + RXD_SHAKE_MAX)
		return "bytes of a handshake of a wrong length";
	memcpy(&shake, buf, sizeof(shake));
	pkt->cid = le64toh(shake.cid);
	pkt->off = le32toh(shake.off);
	pkt->shake_ack = le32toh(shake.ack);
	pkt->data = buf + sizeof(shake);
	pkt->len = size - sizeof(shake);
	return pkt->cid ? NULL : "bytes of a handshake without an id";
}

static const char *parse_sealed_reset(const uint8_t *buf, size_t size, struct rxd_pkt *pkt)
{
	struct rxd_sealed_reset reset;

	if (size != sizeof(reset))
		return "RESET of a wrong length";
	memcpy(&reset, buf, sizeof(reset));
	pkt->cid = le64toh(reset.unknown);
	pkt->data = buf + offsetof(struct rxd_sealed_reset, token);
	pkt->len = sizeof(reset.token);
	return NULL;
}

/* What is in the clear is of the handshake, or of a connection that one side may not have. */
static const char *parse_clear(const uint8_t *buf, size_t size, struct rxd_pkt *pkt)
{
	if (pkt->flags & ~RXD_F_SUM || pkt->pn)
		return "bits that this version does not define";
	if ((pkt->type == RXD_HELLO) == (pkt->conn != 0))
		return "a packet without a connection id";
	switch (pkt->type) {
	case RXD_HELLO:
	case RXD_RETRY:
	case RXD_REFUSE:
	case RXD_PROBE:
		return parse_control(buf, size, pkt);
	case RXD_SHAKE:
		return parse_shake(buf, size, pkt);
	case RXD_RESET:
		return parse_sealed_reset(buf, size, pkt);
	default:
		return "a packet in the clear that has to be sealed";
	}
}

static const char *parse_opened(const uint8_t *buf, size_t size, struct rxd_pkt *pkt)
{
	size_t head;

	if (pkt->flags & ~flags_of(pkt->type))
		return "bits that this version does not define";
	if (pkt->pn > RXD_PN_MAX || (pkt->pn && !(pkt->flags & RXD_F_PN)))
		return "a number out of range";
	return pkt->type == RXD_DATA ? parse_data(buf, size, pkt, &head) : parse_control(buf, size, pkt);
}

const char *rxd_parse_protected(const uint8_t *buf, size_t size, bool opened, struct rxd_pkt *pkt)
{
	const char *why;
	struct rxd_hdr hdr;

	if (size < sizeof(hdr) || !take_header(buf, &hdr, pkt) || pkt->version.link != RXD_SEALED_VERSION)
		return "no packet of ours";
	why = opened ? parse_opened(buf + sizeof(hdr), size - sizeof(hdr), pkt) :
		       parse_clear(buf + sizeof(hdr), size - sizeof(hdr), pkt);
	if (why || opened)
		return why;
	return packet_checksum(buf, size) == le32toh(hdr.crc) ? NULL : "corrupted";
}

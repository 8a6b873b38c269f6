/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * seal.c - datagrams of protected connections are sealed and opened, and their keys exchanged.
 *
 * Sender and receiver take the next key by RXD_F_PHASE (the idea of RFC 9001, section 6): the sender when its key is
 * worn and the peer has acknowledged a packet under it, the receiver with the first datagram that opens under the
 * next one.  What was sealed before, and comes later, opens under the old key for three round trips.
 */
#include "rxd/secure.h"

#include <assert.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/iov.h"
#include "rxd/secure/state.h"

#define OUT_SIZE (512u << 10)		/* sealed bytes of a burst, at most */
#define HDR sizeof(struct rxd_hdr)
#define OLD_TRIPS 3
#define PIECES 16			/* of a packet */

_Static_assert(RXD_TAG_SIZE == SEC_TAG_SIZE, "one tag");

/* ---- the link ----------------------------------------------------------------------- */

int rxd_guard_open(struct rxd_link *link, struct sec_policy *policy)
{
	struct rxd_guard *guard;

	if (!policy)
		return 0;
	guard = calloc(1, sizeof(*guard));
	if (!guard)
		return -FI_ENOMEM;
	guard->policy = policy;
	guard->forged_max = SEC_FORGED_MAX;
	guard->key_bytes = SEC_KEY_BYTES_MAX;
	guard->room = link->dg->dgram_max;
	hmap_init(&guard->by_cid);
	list_init(&guard->guests);
	guard->out = malloc(OUT_SIZE);
	guard->plain = malloc(guard->room);
	link->guard = guard;
	if (guard->out && guard->plain)
		return 0;
	rxd_guard_free(link);
	return -FI_ENOMEM;
}

void rxd_guard_free(struct rxd_link *link)
{
	struct rxd_guard *guard = link->guard;

	hmap_destroy(&guard->by_cid);
	free(guard->out);
	if (guard->plain)
		explicit_bzero(guard->plain, guard->room);
	free(guard->plain);
	free(guard);
	link->guard = NULL;
}

size_t rxd_guard_tag(const struct rxd_link *link)
{
	return link->guard ? RXD_TAG_SIZE : 0;
}

const char *rxd_guard_text(const struct rxd_link *link)
{
	if (!link->guard)
		return "";
	return link->guard->policy->level == SEC_AUTH ? "authenticated" : "encrypted";
}

struct rxd_sec *rxd_sec_find(const struct rxd_link *link, uint64_t cid)
{
	return hmap_find(&link->guard->by_cid, cid);
}

struct rxd_sec *rxd_sec_of(const struct rxd_conn *conn)
{
	return rxd_sec_find(rxd_conn_link(conn), conn->cid);
}

struct rxd_conn *rxd_sec_conn(const struct rxd_sec *sec)
{
	return sec->conn;
}

bool rxd_sec_is_open(const struct rxd_sec *sec)
{
	return sec->open;
}

/* ---- keys ------------------------------------------------------------------------------ */

static bool key_direction(struct sec_dir *dir, const uint8_t exported[SEC_HASH_SIZE], bool to_server, bool seals)
{
	static const uint8_t none[SEC_HASH_SIZE];	/* the handshake was of this connection alone */
	uint8_t secret[SEC_HASH_SIZE];
	bool done = sec_path_secret(exported, 0, none, to_server, secret) &&
		    sec_dir_init(dir, SEC_AES_128_GCM, seals, secret);

	explicit_bzero(secret, sizeof(secret));
	return done;
}

bool rxd_sec_key(struct rxd_sec *sec, const uint8_t exported[SEC_HASH_SIZE])
{
	sec->open = key_direction(&sec->tx, exported, !sec->server, true) &&
		    key_direction(&sec->rx, exported, sec->server, false);
	if (!sec->open)
		rxd_sec_unkey(sec);
	return sec->open;
}

void rxd_sec_unkey(struct rxd_sec *sec)
{
	sec_dir_fini(&sec->tx);
	sec_dir_fini(&sec->rx);
	sec_dir_fini(&sec->rx_next);
	sec_dir_fini(&sec->rx_old);
	sec->open = false;
}

/* exchange_key - of what is sent, once it is worn: not before the peer has shown that it has the last one. */
static bool exchange_key(struct rxd_sec *sec)
{
	const struct rxd_conn *conn = sec->conn;

	if (!conn || sec->tx.bytes < sec->link->guard->key_bytes || !rxd_conn_alive(conn) ||
	    conn->loss.largest <= sec->tx_phase_pn)
		return true;
	sec->tx_phase = !sec->tx_phase;
	sec->tx_phase_pn = conn->loss.next;
	return sec_dir_next(&sec->tx);
}

/* ---- sealing ---------------------------------------------------------------------------- */

static void put_number(uint8_t *head, uint64_t no)
{
	uint32_t low = htole32((uint32_t) no);

	memcpy(head + offsetof(struct rxd_hdr, crc), &low, sizeof(low));
}

static uint32_t get_number(const uint8_t *head)
{
	uint32_t low;

	memcpy(&low, head + offsetof(struct rxd_hdr, crc), sizeof(low));
	return le32toh(low);
}

void rxd_guard_mark(uint8_t *buf)
{
	buf[offsetof(struct rxd_hdr, version)] = RXD_MARK | RXD_SEALED_VERSION;
}

/* begin_sealed - the header at @out, from that of the plain packet. */
static void begin_sealed(struct rxd_sec *sec, const uint8_t *head, uint8_t *out)
{
	memcpy(out, head, HDR);
	rxd_guard_mark(out);
	out[offsetof(struct rxd_hdr, flags)] |= RXD_F_SEALED | (sec->tx_phase ? RXD_F_PHASE : 0);
	put_number(out, sec->tx_no);
}

/* seal_packet - at @out, which has room.  @iov: the header first.  Returns its length; 0: libcrypto failed. */
static size_t seal_packet(struct rxd_sec *sec, const struct iovec *iov, size_t cnt, uint8_t *out)
{
	bool sealed = sec->level == SEC_ENCRYPT;
	size_t len = iov_total(iov, cnt) - HDR;
	struct iovec aad = { out, HDR + (sealed ? 0 : len) }, body[PIECES];

	assert(cnt <= PIECES && iov->iov_len >= HDR);
	if (!exchange_key(sec))
		return 0;
	begin_sealed(sec, iov->iov_base, out);
	memcpy(body, iov, cnt * sizeof(*iov));
	body[0].iov_base = (uint8_t *) iov->iov_base + HDR;
	body[0].iov_len -= HDR;
	if (!sealed)
		iov_gather(body, cnt, 0, out + HDR, len);
	if (!sec_seal(&sec->tx, sec->tx_no++, &aad, 1, body, sealed ? cnt : 0, out + HDR, out + HDR + len))
		return 0;
	return HDR + len + RXD_TAG_SIZE;
}

bool rxd_sec_cover(struct rxd_conn *conn, struct iovec *iov, size_t *cnt_p, bool first)
{
	struct rxd_guard *guard = rxd_conn_link(conn)->guard;
	size_t len;
	uint8_t *out;

	if (first)
		guard->out_len = 0;
	out = guard->out + guard->out_len;
	len = seal_packet(rxd_sec_of(conn), iov, *cnt_p, out);
	*cnt_p = len != 0;
	if (!len) {
		rxd_conn_fail(conn, FI_EIO, false);
		return true;
	}
	iov[0] = (struct iovec) { out, len };
	guard->out_len += len;
	return OUT_SIZE - guard->out_len < guard->room;
}

void rxd_sec_reply(struct rxd_sec *sec, struct rxd_link *link, const void *addr, const uint8_t *buf, size_t len)
{
	struct iovec iov = { (void *) buf, len };
	uint8_t out[RXD_HANDSHAKE_MAX + RXD_TAG_SIZE];
	fi_addr_t to;

	assert(sec->open && len <= RXD_HANDSHAKE_MAX);
	iov = (struct iovec) { out, seal_packet(sec, &iov, 1, out) };
	if (!iov.iov_len || rxd_dg_peer(link->dg, addr, &to))
		return;
	rxd_dg_send(link->dg, to, &iov, 1);
	rxd_dg_forget(link->dg, to);
}

/* ---- opening ----------------------------------------------------------------------------- */

bool rxd_sec_is_sealed(const uint8_t *buf, size_t len)
{
	return len >= HDR + RXD_TAG_SIZE && buf[offsetof(struct rxd_hdr, version)] == (RXD_MARK | RXD_SEALED_VERSION) &&
	       buf[offsetof(struct rxd_hdr, foreign)] == RXD_FOREIGN_RTS &&
	       buf[offsetof(struct rxd_hdr, flags)] & RXD_F_SEALED;
}

/* whole_number - the number with these low bits that is next to the one expected (RFC 9000, A.3). */
static uint64_t whole_number(uint64_t next, uint32_t low)
{
	uint64_t half = UINT64_C(1) << 31, no = (next & ~(uint64_t) UINT32_MAX) | low;

	if (no + half <= next)
		return no + 2 * half;
	return no > next + half && no >= 2 * half ? no - 2 * half : no;
}

/* key_for - the key of a datagram; NULL: there is none. */
static struct sec_dir *key_for(struct rxd_sec *sec, bool phase, uint64_t no, uint64_t now)
{
	if (sec->rx_old.ctx && now >= sec->old_until_ns)
		sec_dir_fini(&sec->rx_old);
	if (phase == sec->rx_phase)
		return &sec->rx;
	if (no < sec->rx_first)
		return sec->rx_old.ctx ? &sec->rx_old : NULL;
	if (!sec->rx_next.ctx && !sec_dir_after(&sec->rx, &sec->rx_next))
		return NULL;
	return &sec->rx_next;
}

/* take_next - a datagram has opened under the next key. */
static void take_next(struct rxd_sec *sec, uint64_t no, uint64_t now)
{
	uint64_t trip = sec->conn ? rxd_rtt_probe_after(&sec->conn->rtt, RXD_PEER_DELAY_NS) : RXD_RTT_FIRST_NS;

	sec_dir_fini(&sec->rx_old);
	sec->rx_old = sec->rx;
	sec->rx = sec->rx_next;
	memset(&sec->rx_next, 0, sizeof(sec->rx_next));
	sec->rx_phase = !sec->rx_phase;
	sec->rx_first = no;
	sec->old_until_ns = now + OLD_TRIPS * trip;
}

/* count_forged - one did not open: past the cipher's limit it ends the connection, before one does open. */
static void count_forged(struct rxd_sec *sec, const struct sec_dir *dir)
{
	char text[CHAN_TEXT_MAX];

	if (dir->forged < sec->link->guard->forged_max || !sec->conn || !rxd_conn_alive(sec->conn))
		return;
	CHAN_WARN_SPARSE(&sec->link->base, "more datagrams were forged in the name of %s than its key is good for: "
			 "the connection is closed\n", chan_peer_text(&sec->conn->chan, text));
	rxd_conn_fail(sec->conn, FI_EACCES, false);
}

static void put_plain_head(const uint8_t *buf, uint8_t *out)
{
	memcpy(out, buf, HDR);
	out[offsetof(struct rxd_hdr, flags)] &= (uint8_t) ~(RXD_F_SEALED | RXD_F_PHASE);
}

const uint8_t *rxd_sec_open(struct rxd_sec *sec, const uint8_t *buf, size_t *len_p, uint64_t now)
{
	size_t len = *len_p - HDR - RXD_TAG_SIZE;
	bool sealed = sec->level == SEC_ENCRYPT;
	struct iovec aad = { (void *) buf, HDR + (sealed ? 0 : len) };
	uint64_t no = whole_number(sec->window.next, get_number(buf));
	uint8_t *out = sec->link->guard->plain;
	struct sec_dir *dir;

	if (!sec->open || *len_p > sec->link->guard->room || !sec_window_fresh(&sec->window, no))
		return NULL;
	dir = key_for(sec, buf[offsetof(struct rxd_hdr, flags)] & RXD_F_PHASE, no, now);
	/* past the cipher's limit nothing opens, also of a peer that has no connection yet */
	if (!dir || dir->forged >= sec->link->guard->forged_max)
		return NULL;
	if (!sec_open(dir, no, &aad, 1, buf + HDR, sealed ? len : 0, buf + HDR + len, out + HDR)) {
		count_forged(sec, dir);
		return NULL;
	}
	put_plain_head(buf, out);
	if (!sealed)
		memcpy(out + HDR, buf + HDR, len);
	if (dir == &sec->rx_next)
		take_next(sec, no, now);
	sec_window_take(&sec->window, no);
	*len_p = HDR + len;
	return out;
}

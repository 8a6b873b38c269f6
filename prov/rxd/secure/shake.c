/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * shake.c - the handshake of a protected connection: a stream of bytes in each direction, and the guests of a link.
 */
#include "rxd/secure.h"

#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/net_addr.h"
#include "rxd/secure/state.h"
#include "secure/secret.h"

#define GUESTS_MAX 1024			/* of a link */
#define GUESTS_SOURCE (GUESTS_MAX / 2)	/* of one host */
#define SAY_PIECE 1024

/* ---- beginning ------------------------------------------------------------------------ */

/* set_to - whom the client means: the address that it connects to; a server's is its name. */
static void set_to(const struct rxd_sec *sec, struct sec_shake_attr *attr)
{
	const struct chan_link *link = &sec->link->base;
	union net_sa name;

	if (!sec->server)
		sec_to_pack(sec->addr, link->addr_len, attr->to);
	else if (net_addr_copy(link->addr, link->addr_len, &name) || !net_addr_is_any(&name.sa))
		sec_to_pack(link->addr, link->addr_len, attr->to);
}

static int open_shake(struct rxd_sec *sec)
{
	struct chan_link *link = &sec->link->base;
	struct sec_policy *policy = sec->link->guard->policy;
	struct sec_shake_attr attr = {
		.server = sec->server,
		.keys = sec->keys,
		.level = policy->level,
		.version = RXD_SEALED_VERSION,
		.oldest = RXD_SEALED_OLDEST,
	};

	memcpy(attr.id, policy->id, sizeof(attr.id));
	/* one that connects to itself is both client and server */
	if (!sec->server && !memcmp(sec->addr, link->addr, link->addr_len) && !sec_random(attr.id, sizeof(attr.id)))
		return -FI_ENOMEM;
	set_to(sec, &attr);
	return sec_shake_open(&attr, &sec->shake);
}

static int take_keys(struct rxd_sec *sec)
{
	char why[SEC_WHY_MAX];

	sec->keys = sec_secret_new(sizeof(*sec->keys));
	if (!sec->keys)
		return -FI_ENOMEM;
	sec_policy_keys(sec->link->guard->policy, sec->keys, why);
	if (*why)
		CHAN_WARN(&sec->link->base, "the keys that were read before stay in use: %s\n", why);
	return 0;
}

/* keep_said - what TLS has to say, until the peer has it.  False: no memory. */
static bool keep_said(struct rxd_sec *sec)
{
	uint8_t piece[SAY_PIECE], *said;
	size_t len;

	while ((len = sec_shake_take(sec->shake, piece, sizeof(piece)))) {
		said = realloc(sec->said, sec->said_len + len);
		if (!said)
			return false;
		memcpy(said + sec->said_len, piece, len);
		sec->said = said;
		sec->said_len += (uint32_t) len;
	}
	return true;
}

/* take_id - random, as those of connections that are not protected. */
static int take_id(struct rxd_sec *sec)
{
	uint64_t cid;
	int ret;

	do {
		cid = rxd_dg_random();
		ret = cid ? hmap_insert(&sec->link->guard->by_cid, cid, sec) : -FI_EALREADY;
	} while (ret == -FI_EALREADY);
	if (!ret)
		sec->cid = cid;
	return ret;
}

/* sec_new - with an id, for a handshake with the peer at @addr.  NULL: no memory. */
static struct rxd_sec *sec_new(struct rxd_link *link, bool server, const void *addr)
{
	struct rxd_sec *sec = calloc(1, sizeof(*sec));

	if (!sec)
		return NULL;
	list_init(&sec->node);
	sec->link = link;
	sec->server = server;
	sec->level = link->guard->policy->level;
	memcpy(sec->addr, addr, link->base.addr_len);
	if (!take_id(sec) && !take_keys(sec) && !open_shake(sec) && keep_said(sec))
		return sec;
	rxd_sec_drop(sec);
	return NULL;
}

static void close_shake(struct rxd_sec *sec)
{
	if (sec->shake)
		sec_shake_close(sec->shake);
	sec->shake = NULL;
	sec_secret_free(sec->keys, sizeof(*sec->keys));
	sec->keys = NULL;
}

static void leave_link(struct rxd_sec *sec)
{
	if (!list_empty(&sec->node))
		sec->link->guard->guest_cnt--;
	list_del(&sec->node);
	if (sec->link && sec->cid)
		hmap_remove(&sec->link->guard->by_cid, sec->cid);
	sec->link = NULL;
}

void rxd_sec_drop(struct rxd_sec *sec)
{
	leave_link(sec);
	close_shake(sec);
	rxd_sec_unkey(sec);
	free(sec->said);
	explicit_bzero(sec, sizeof(*sec));
	free(sec);
}

void rxd_guard_close(struct rxd_link *link)
{
	struct rxd_guard *guard = link->guard;

	if (!guard)
		return;
	while (!list_empty(&guard->guests))
		rxd_sec_drop(container_of(guard->guests.next, struct rxd_sec, node));
	rxd_guard_free(link);
}

int rxd_sec_connect(struct rxd_conn *conn, const void *addr)
{
	struct rxd_sec *sec = sec_new(rxd_conn_link(conn), false, addr);

	if (!sec)
		return -FI_ENOMEM;
	rxd_sec_release(conn);
	sec->conn = conn;
	conn->cid = sec->cid;
	return 0;
}

void rxd_sec_release(struct rxd_conn *conn)
{
	struct rxd_sec *sec = conn->cid ? rxd_sec_of(conn) : NULL;

	if (sec && sec->other)
		rxd_sec_drop(sec->other);
	if (sec)
		rxd_sec_drop(sec);
	conn->cid = 0;
}

/* ---- the stream ------------------------------------------------------------------------- */

size_t rxd_sec_first(const struct rxd_sec *sec, const uint8_t **bytes_p)
{
	*bytes_p = sec->said;
	return sec->said_len < RXD_DATA_MAX ? sec->said_len : RXD_DATA_MAX;
}

bool rxd_sec_knows_peer(const struct rxd_sec *sec)
{
	return sec->peer_cid != 0;
}

static void send_piece(struct rxd_sec *sec, uint32_t off, uint32_t len)
{
	struct rxd_shake shake = { .cid = htole64(sec->cid), .off = htole32(off), .ack = htole32(sec->heard) };
	uint8_t buf[sizeof(struct rxd_hdr) + sizeof(shake) + RXD_SHAKE_MAX];
	size_t at = rxd_put_hdr(buf, (enum rxd_type) RXD_SHAKE, RXD_F_SUM, sec->peer_cid, 0);

	memcpy(buf + at, &shake, sizeof(shake));
	at += sizeof(shake);
	if (len)
		memcpy(buf + at, sec->said + off, len);
	rxd_link_reply(sec->link, sec->addr, buf, at + len);
}

void rxd_sec_speak(struct rxd_sec *sec)
{
	uint32_t off = sec->said_acked, len;

	do {
		len = sec->said_len - off < RXD_SHAKE_MAX ? sec->said_len - off : RXD_SHAKE_MAX;
		send_piece(sec, off, len);
		off += len;
	} while (off < sec->said_len);
}

static void log_refused(struct rxd_sec *sec)
{
	struct chan_link *link = &sec->link->base;
	char text[CHAN_TEXT_MAX];

	chan_text(link, sec->addr, link->addr_len, text);
	if (sec->server)
		CHAN_WARN_SPARSE(link, "%s was refused: %s\n", text, sec_shake_why(sec->shake));
	else
		CHAN_WARN_SPARSE(link, "%s is not used: %s\n", text, sec_shake_why(sec->shake));
}

/* end_shake - the peer has proven the key.  False: libcrypto failed. */
static bool end_shake(struct rxd_sec *sec)
{
	uint8_t exported[SEC_HASH_SIZE];
	bool done = sec_shake_export(sec->shake, exported) && rxd_sec_key(sec, exported);

	explicit_bzero(exported, sizeof(exported));
	memcpy(sec->key_name, sec_shake_key_name(sec->shake), sizeof(sec->key_name));
	close_shake(sec);
	return done;
}

enum rxd_took rxd_sec_take(struct rxd_sec *sec, const struct rxd_pkt *pkt)
{
	uint64_t off = pkt->type == RXD_HELLO ? 0 : pkt->off, skip = sec->heard - off;
	enum sec_shake_state state;

	if (!sec->peer_cid)
		sec->peer_cid = pkt->cid;
	if (pkt->type != RXD_HELLO && sec->peer_cid != pkt->cid)
		return RXD_TOOK_NOTHING;
	if (pkt->type != RXD_HELLO && pkt->shake_ack > sec->said_acked && pkt->shake_ack <= sec->said_len)
		sec->said_acked = pkt->shake_ack;
	if (!sec->shake || off > sec->heard || skip >= pkt->len)
		return RXD_TOOK_NOTHING;
	state = sec_shake_feed(sec->shake, pkt->data + skip, pkt->len - (size_t) skip);
	sec->heard += (uint32_t) (pkt->len - skip);
	if (keep_said(sec) && state == SEC_SHAKE_RUNNING)
		return RXD_TOOK_SOME;
	if (state == SEC_SHAKE_DONE && end_shake(sec))
		return RXD_TOOK_LAST;
	if (sec->shake) {
		log_refused(sec);
		if (rxd_sec_knows_peer(sec))
			rxd_sec_speak(sec);		/* an alert, which says no more than that */
	}
	return RXD_TOOK_BAD;
}

/* ---- guests ----------------------------------------------------------------------------- */

/* guest_find - that of the attempt @hello; a repeated HELLO has one. */
static struct rxd_sec *guest_find(struct rxd_link *link, const struct rxd_hello *hello)
{
	struct rxd_sec *sec;

	list_for_each_entry(sec, &link->guard->guests, node)
		if (sec->peer_cid == hello->cid && sec->hello_epoch == hello->epoch &&
		    !memcmp(sec->addr, hello->addr, link->base.addr_len))
			return sec;
	return NULL;
}

static bool is_same_host(const struct rxd_link *link, const uint8_t *a, const uint8_t *b)
{
	union net_sa x, y;

	if (net_addr_copy(a, link->base.addr_len, &x) || net_addr_copy(b, link->base.addr_len, &y))
		return !memcmp(a, b, link->base.addr_len);
	return net_addr_same_host(&x.sa, &y.sa);
}

/* guest_to_drop - which of two guests goes first, of which @a is NULL or older: one that has not proven the key. */
static struct rxd_sec *guest_to_drop(struct rxd_sec *a, struct rxd_sec *b)
{
	return a && (!a->open || b->open) ? a : b;
}

/* make_room - guests are bounded, of each host and in all; the oldest goes that has not proven the key. */
static void make_room(struct rxd_link *link, const struct rxd_hello *hello)
{
	struct rxd_sec *sec, *of_host = NULL, *of_all = NULL;
	unsigned cnt = 0;

	if (link->guard->guest_cnt < GUESTS_SOURCE)
		return;
	list_for_each_entry(sec, &link->guard->guests, node) {
		of_all = guest_to_drop(of_all, sec);
		if (is_same_host(link, sec->addr, hello->addr)) {
			of_host = guest_to_drop(of_host, sec);
			cnt++;
		}
	}
	if (cnt >= GUESTS_SOURCE)
		rxd_sec_drop(of_host);
	else if (link->guard->guest_cnt >= GUESTS_MAX)
		rxd_sec_drop(of_all);
}

static struct rxd_sec *guest_new(struct rxd_link *link, const struct rxd_hello *hello)
{
	struct rxd_sec *sec;

	make_room(link, hello);
	sec = sec_new(link, true, hello->addr);
	if (!sec)
		return NULL;
	sec->peer_cid = hello->cid;
	sec->hello_epoch = hello->epoch;
	list_add_tail(&sec->node, &link->guard->guests);
	link->guard->guest_cnt++;
	return sec;
}

static void guest_take(struct rxd_sec *sec, const struct rxd_pkt *pkt)
{
	switch (rxd_sec_take(sec, pkt)) {
	case RXD_TOOK_BAD:
		rxd_sec_drop(sec);
		return;
	case RXD_TOOK_LAST:
		return;		/* its HELLO follows, sealed */
	default:
		if (sec->shake)
			rxd_sec_speak(sec);
	}
}

void rxd_guest_on_hello(struct rxd_link *link, const struct rxd_pkt *pkt)
{
	struct rxd_sec *sec = guest_find(link, &pkt->hello);

	if (!sec && pkt->len)
		sec = guest_new(link, &pkt->hello);
	if (sec)
		guest_take(sec, pkt);
}

void rxd_guest_on_shake(struct rxd_sec *sec, const struct rxd_pkt *pkt)
{
	guest_take(sec, pkt);
}

bool rxd_guest_is(const struct rxd_sec *sec, const struct rxd_hello *hello)
{
	return sec->peer_cid == hello->cid && sec->hello_epoch == hello->epoch &&
	       hello->addr_len == sec->link->base.addr_len && !memcmp(sec->addr, hello->addr, hello->addr_len);
}

struct rxd_sec *rxd_guest_leave(struct rxd_sec *sec, struct rxd_request *request)
{
	struct rxd_sec *mark = calloc(1, sizeof(*mark));
	struct rxd_link *link = sec->link;

	leave_link(sec);
	if (!mark)
		return NULL;
	list_init(&mark->node);
	mark->request = request;
	if (hmap_insert(&link->guard->by_cid, sec->cid, mark)) {
		free(mark);
		return NULL;
	}
	mark->link = link;
	mark->cid = sec->cid;
	return mark;
}

struct rxd_request *rxd_sec_request(const struct rxd_sec *sec)
{
	return sec->request;
}

const void *rxd_sec_addr(const struct rxd_sec *sec)
{
	return sec->addr;
}

int rxd_sec_adopt(struct rxd_sec *sec, struct rxd_conn *conn)
{
	struct rxd_link *link = rxd_conn_link(conn);
	int ret = sec->link ? 0 : hmap_insert(&link->guard->by_cid, sec->cid, sec);

	if (ret)
		return -FI_ENOMEM;
	if (!list_empty(&sec->node))
		link->guard->guest_cnt--;
	list_del(&sec->node);
	rxd_sec_release(conn);
	sec->link = link;
	sec->conn = conn;
	conn->cid = sec->cid;
	return 0;
}

uint64_t rxd_sec_join(struct rxd_sec *guest, struct rxd_conn *conn)
{
	guest->link->guard->guest_cnt--;
	list_del(&guest->node);
	guest->conn = conn;
	rxd_sec_of(conn)->other = guest;
	return guest->cid;
}

/* ---- accepting ---------------------------------------------------------------------------- */

static const char *proof_text(const struct rxd_sec *sec)
{
	if (!sec)
		return "not protected";
	return sec->level == SEC_AUTH ? "authenticated" : "encrypted";
}

bool rxd_sec_may_take(const struct rxd_link *link, const struct rxd_sec *sec)
{
	struct sec_policy *policy = link->guard ? link->guard->policy : NULL;

	if (!policy && !sec)
		return true;
	if (policy && sec && policy->level == sec->level && sec_policy_takes(policy, sec->key_name))
		return true;
	CHAN_WARN(&link->base, "fi_accept: the connection request is %s, and FI_SECURITY or auth_key of this endpoint "
		  "asks for %s, or for another key: set the same for the passive endpoint\n", proof_text(sec),
		  sec_level_name(policy ? policy->level : SEC_NONE));
	return false;
}

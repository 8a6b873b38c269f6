/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * reset.c - a peer that was restarted says so: it has no key of the connections that it had, but the key of the job.
 *
 * A PROBE in the clear asks; one that does not have the connection answers RESET in the clear, with a token that only
 * holders of the job key can make.  The idea is that of RFC 9000, section 10.3; there a secret of the endpoint makes
 * the token, which this one has lost.
 *
 * A token is of one connection, which the random id that the peer chose for it names, and of the peer's own address.
 * Another endpoint with the key, asked about a connection that it does not have, makes one of its own address, which
 * ends nothing; and the peer itself makes none while it has that id.
 */
#include <string.h>

#include "base/net_addr.h"
#include "rxd/secure.h"
#include "rxd/secure/state.h"
#include "secure/secret.h"

/* make_token - of the connection @cid of the endpoint at @addr.  False: libcrypto failed. */
static bool make_token(const struct rxd_link *link, const struct sec_key *key, uint64_t cid, const void *addr,
		       uint8_t token[RXD_TOKEN_SIZE])
{
	static const char salt[] = "libfabric rxd reset";
	uint8_t secret[SEC_HASH_SIZE];
	struct {
		uint64_t cid;
		uint8_t addr[SEC_TO_SIZE];
	} __attribute__((packed)) what = { .cid = htole64(cid) };
	bool done;

	sec_to_pack(addr, link->base.addr_len, what.addr);
	done = sec_hkdf_extract(salt, sizeof(salt), key->bytes, key->len, secret) &&
	       sec_expand_label(secret, "reset", &what, sizeof(what), token, RXD_TOKEN_SIZE);
	explicit_bzero(secret, sizeof(secret));
	return done;
}

void rxd_guard_on_probe(struct rxd_link *link, const struct rxd_pkt *pkt)
{
	uint8_t buf[sizeof(struct rxd_hdr) + sizeof(struct rxd_sealed_reset)];
	struct rxd_sealed_reset reset = { .unknown = htole64(pkt->conn) };
	struct sec_keys *keys;
	char why[SEC_WHY_MAX];
	union net_sa name;
	size_t len;

	_Static_assert(sizeof(buf) <= sizeof(struct rxd_hdr) + sizeof(struct rxd_probe), "no amplification");
	if (rxd_sec_find(link, pkt->conn) || pkt->addr_len != link->base.addr_len)
		return;
	/* where it has no address of its own, a token would be one of all such endpoints */
	if (!net_addr_copy(link->addr, link->base.addr_len, &name) && net_addr_is_any(&name.sa))
		return;
	keys = sec_secret_new(sizeof(*keys));
	if (!keys)
		return;
	sec_policy_keys(link->guard->policy, keys, why);
	if (make_token(link, &keys->key[0], pkt->conn, link->addr, reset.token)) {
		len = rxd_put_hdr(buf, RXD_RESET, RXD_F_SUM, pkt->cid, 0);
		memcpy(buf + len, &reset, sizeof(reset));
		rxd_link_reply(link, pkt->addr, buf, sizeof(buf));
	}
	sec_secret_free(keys, sizeof(*keys));
}

bool rxd_sec_is_reset(struct rxd_sec *sec, const struct rxd_pkt *pkt)
{
	struct rxd_link *link = sec->link;
	uint8_t token[RXD_TOKEN_SIZE];
	struct sec_keys *keys;
	char why[SEC_WHY_MAX];
	bool found = false;
	unsigned i;

	if (!sec->named || pkt->len != sizeof(token))
		return false;
	keys = sec_secret_new(sizeof(*keys));
	if (!keys)
		return false;
	sec_policy_keys(link->guard->policy, keys, why);
	for (i = 0; i < keys->cnt && !found; i++)
		found = make_token(link, &keys->key[i], pkt->cid, sec->name, token) &&
			sec_equal(token, pkt->data, sizeof(token));
	sec_secret_free(keys, sizeof(*keys));
	return found;
}

void rxd_sec_named(struct rxd_conn *conn, const void *name)
{
	struct rxd_link *link = rxd_conn_link(conn);
	struct rxd_sec *sec = link->guard ? rxd_sec_of(conn) : NULL;

	if (!sec)
		return;
	memcpy(sec->name, name, link->base.addr_len);
	sec->named = true;
}

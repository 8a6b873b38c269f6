/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * cookie.c - SipHash-2-4 over all that a HELLO claims, and the time.  The key is an endpoint's,
 * random, and never leaves it: a peer can only return a cookie that was sent to its address.
 */
#include "cookie.h"

/* 0 stands for no cookie.  The structure has no padding, so that all of it is defined. */
static uint64_t cookie_mac(const struct siphash_key *key, const struct rxd_hello *hello, uint64_t stamp)
{
	struct {
		uint64_t cid, epoch, serial, stamp;
		uint8_t kind, addr_len, zero[6];
		uint8_t addr[RXD_ADDR_MAX];
	} who = {
		.cid = hello->cid, .epoch = hello->epoch, .serial = hello->serial, .stamp = stamp,
		.kind = hello->kind, .addr_len = hello->addr_len,
	};
	uint64_t sum;

	memcpy(who.addr, hello->addr, sizeof(who.addr));
	sum = siphash(key, &who, sizeof(who));
	return sum ? sum : 1;
}

struct rxd_cookie rxd_cookie_make(const struct siphash_key *key, const struct rxd_hello *hello,
				  uint64_t now)
{
	return (struct rxd_cookie) { .mac = cookie_mac(key, hello, now), .stamp = now };
}

/* A time in the future is of another key: the clock of an endpoint does not go back. */
bool rxd_cookie_good(const struct siphash_key *key, const struct rxd_hello *hello, uint64_t now)
{
	const struct rxd_cookie *cookie = &hello->cookie;

	return cookie->mac && cookie->stamp <= now && now - cookie->stamp < RXD_COOKIE_LIFE_NS &&
	       cookie->mac == cookie_mac(key, hello, cookie->stamp);
}

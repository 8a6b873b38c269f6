/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * cookie.h - proof that a connecting peer receives at the address that it claims.
 *
 * A keyed hash of the peer's ids and address, and of the time.  The peer returns it; the
 * endpoint that made it recognises it without keeping state.  Pure.
 * Source: the idea of RFC 9000 section 8.1; SipHash-2-4.
 */
#ifndef RXD_COOKIE_H
#define RXD_COOKIE_H

#include <stdbool.h>

#include "base/hash/siphash.h"
#include "wire.h"

#define RXD_COOKIE_LIFE_NS UINT64_C(10000000000)

/* rxd_cookie_make - for the sender of @hello, at @now. */
struct rxd_cookie rxd_cookie_make(const struct siphash_key *key, const struct rxd_hello *hello,
				  uint64_t now);

/* rxd_cookie_good - is the one in @hello ours, for its sender, and not expired? */
bool rxd_cookie_good(const struct siphash_key *key, const struct rxd_hello *hello, uint64_t now);

#endif

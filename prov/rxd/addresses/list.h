/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * list.h - the addresses that an end of a connection lists, and the packets of rails, to bytes and from them.  Pure.
 */
#ifndef RXD_ADDRESSES_LIST_H
#define RXD_ADDRESSES_LIST_H

#include <stdbool.h>

#include "base/hash/siphash.h"
#include "base/net_addr.h"
#include "rxd/addresses/wire.h"

/* rxd_list_put - @cnt addresses with @key as private data of a handshake.  Returns its length. */
size_t rxd_list_put(const struct siphash_key *key, const union net_sa *addr, unsigned cnt, uint8_t *out);

/* rxd_list_take - the list in the private data of a handshake.
 * @addr: [out] room for RXD_RAILS_LIST; one that cannot be of a host on a network for others has family 0
 * Returns how many addresses it has; -1: there is none, or it is of another version.
 */
int rxd_list_take(const uint8_t *data, size_t len, struct siphash_key *key, union net_sa *addr);

/* rxd_rail_put - ASK, ANSWER or PROOF, in host order.  Returns the length so far. */
size_t rxd_rail_put(uint8_t *out, size_t at, const struct rxd_wire_rail *rail);

/* rxd_rail_take - the same back.  Returns NULL, or what is wrong with it. */
const char *rxd_rail_take(const uint8_t *buf, size_t size, struct rxd_wire_rail *rail);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "rxd/addresses/list.h"

#include <arpa/inet.h>
#include <endian.h>
#include <string.h>

#include "channel/rail.h"

_Static_assert(RXD_RAILS_LIST == CHAN_RAILS_MAX, "a peer lists no more");

static void addr_pack(const union net_sa *sa, struct rxd_wire_addr *out)
{
	bool v4 = sa->sa.sa_family == AF_INET;

	out->family = v4 ? 4 : 6;
	out->port = htole16(net_addr_port(&sa->sa));
	if (v4)
		memcpy(out->ip, &sa->in.sin_addr, 4);
	else
		memcpy(out->ip, &sa->in6.sin6_addr, 16);
}

static void addr_unpack(const struct rxd_wire_addr *in, union net_sa *sa)
{
	memset(sa, 0, sizeof(*sa));
	if (in->family == 4) {
		sa->in.sin_family = AF_INET;
		memcpy(&sa->in.sin_addr, in->ip, 4);
	} else if (in->family == 6) {
		sa->in6.sin6_family = AF_INET6;
		memcpy(&sa->in6.sin6_addr, in->ip, 16);
	} else {
		return;
	}
	net_addr_set_port(&sa->sa, le16toh(in->port));
	if (!chan_rail_may_list(&sa->sa))
		memset(sa, 0, sizeof(*sa));
}

size_t rxd_list_put(const struct siphash_key *key, const union net_sa *addr, unsigned cnt, uint8_t *out)
{
	struct rxd_wire_list list = {
		.mark = htole32(RXD_RAILS_MARK),
		.version = RXD_RAILS_VERSION,
		.oldest = RXD_RAILS_OLDEST,
		.cnt = (uint8_t) cnt,
		.key = { htole64(key->k[0]), htole64(key->k[1]) },
	};

	while (cnt--)
		addr_pack(&addr[cnt], &list.addr[cnt]);
	memcpy(out, &list, sizeof(list));
	return sizeof(list);
}

int rxd_list_take(const uint8_t *data, size_t len, struct siphash_key *key, union net_sa *addr)
{
	struct rxd_wire_list list;
	unsigned i;

	if (len < sizeof(list))
		return -1;
	memcpy(&list, data, sizeof(list));
	if (le32toh(list.mark) != RXD_RAILS_MARK || list.oldest > RXD_RAILS_VERSION || list.version < RXD_RAILS_OLDEST ||
	    list.cnt > RXD_RAILS_LIST)
		return -1;
	key->k[0] = le64toh(list.key[0]);
	key->k[1] = le64toh(list.key[1]);
	for (i = 0; i < list.cnt; i++)
		addr_unpack(&list.addr[i], &addr[i]);
	return list.cnt;
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <endian.h>
#include <string.h>

#include "rxd/addresses/list.h"

static bool bytes_zero(const uint8_t *p, size_t len)
{
	while (len--)
		if (*p++)
			return false;
	return true;
}

/* rail_swap - between the byte order of packets and of this host, both ways. */
static void rail_swap(struct rxd_wire_rail *rail)
{
	rail->cid = htole64(rail->cid);
	rail->nonce = htole64(rail->nonce);
	rail->hash = htole64(rail->hash);
}

size_t rxd_rail_put(uint8_t *out, size_t at, const struct rxd_wire_rail *rail)
{
	struct rxd_wire_rail wire = *rail;

	rail_swap(&wire);
	memcpy(out + at, &wire, sizeof(wire));
	return at + sizeof(wire);
}

const char *rxd_rail_take(const uint8_t *buf, size_t size, struct rxd_wire_rail *rail)
{
	if (size != sizeof(*rail))
		return "a packet of rails of a wrong length";
	memcpy(rail, buf, sizeof(*rail));
	rail_swap(rail);
	if (!rail->cid || rail->from >= RXD_RAILS_LIST || rail->to >= RXD_RAILS_LIST ||
	    !bytes_zero(rail->zero, sizeof(rail->zero)))
		return "a packet of rails without an id, or of an address that no list has";
	return NULL;
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "wire.h"

/* Nothing of a datagram is used before all of this holds. */
enum udp_wire udp_wire_fault(const struct udp_hdr *hdr, size_t len)
{
	if (len < sizeof(*hdr))
		return UDP_WIRE_SHORT;
	if (hdr->mark != htonl(UDP_WIRE_MARK))
		return UDP_WIRE_FOREIGN;
	if (hdr->version != UDP_WIRE_VERSION)
		return UDP_WIRE_OTHER_VERSION;
	if (hdr->flags & ~UDP_WIRE_FLAGS)
		return UDP_WIRE_BAD_FLAGS;
	if (ntohs(hdr->len) != len - sizeof(*hdr))
		return UDP_WIRE_BAD_LEN;
	if (!(hdr->flags & UDP_WIRE_DATA) && hdr->data)
		return UDP_WIRE_BAD_DATA;
	return UDP_WIRE_OK;
}

const char *udp_wire_text(enum udp_wire verdict)
{
	static const char *const text[UDP_WIRE_CNT] = {
		[UDP_WIRE_OK] = "a message",
		[UDP_WIRE_SHORT] = "too short to be a message",
		[UDP_WIRE_FOREIGN] = "not from this library",
		[UDP_WIRE_OTHER_VERSION] = "of another version of the udp wire format",
		[UDP_WIRE_BAD_FLAGS] = "damaged: unknown flags",
		[UDP_WIRE_BAD_LEN] = "damaged: its length is not the one it states",
		[UDP_WIRE_BAD_DATA] = "damaged: stray completion data",
	};

	return text[verdict];
}

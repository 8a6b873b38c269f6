/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * rxd_parse() and rxd_parse_protected() with arbitrary bytes: they read nothing beyond them, and what they accept is
 * valid.  The checksum is corrected, and for the second the version is set, so that the checks behind them are reached.
 */
#include <stdlib.h>
#include <sys/uio.h>

#include "base/hash/crc32c.h"
#include "rxd/sealed.h"
#include "rxd/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct rxd_pkt *pkt, const uint8_t *buf, size_t size)
{
	uint64_t low;
	unsigned i;

	if (pkt->type == RXD_DATA && pkt->flags & RXD_F_ACK) {
		low = pkt->ack.largest - pkt->ack.first;
		for (i = 0; i < pkt->ack.cnt; i++) {
			struct rxd_range range = rxd_pkt_range(pkt, i);

			if (range.gap + (uint64_t) range.len > low)
				abort();
			low -= range.gap + (uint64_t) range.len;
		}
	}
	if (pkt->type == RXD_DATA || pkt->type == RXD_HELLO || pkt->type == RXD_WELCOME ||
	    pkt->type == RXD_REFUSE)
		if (pkt->data < buf || pkt->data + pkt->len > buf + size)
			abort();
}

/* check_clear - of what is in the clear only a handshake, and what asks about a connection, is accepted. */
static void check_clear(const struct rxd_pkt *pkt, const uint8_t *buf, size_t size)
{
	check(pkt, buf, size);
	switch (pkt->type) {
	case RXD_SHAKE:
	case RXD_RESET:
		if (pkt->data < buf || pkt->data + pkt->len > buf + size)
			abort();
		break;
	case RXD_HELLO:
	case RXD_RETRY:
	case RXD_REFUSE:
	case RXD_PROBE:
		break;
	default:
		abort();
	}
}

/* parse_protected - as a datagram in the clear, and as one that was opened. */
static void parse_protected(uint8_t *copy, size_t size)
{
	struct rxd_pkt pkt;

	copy[offsetof(struct rxd_hdr, version)] = RXD_MARK | RXD_SEALED_VERSION;
	if (!rxd_parse_protected(copy, size, true, &pkt))
		check(&pkt, copy, size);
	rxd_seal(copy, size, NULL, 0);
	if (!rxd_parse_protected(copy, size, false, &pkt))
		check_clear(&pkt, copy, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);
	struct rxd_pkt pkt;
	size_t head;

	memcpy(copy, data, size);
	if (!rxd_parse(copy, size, &pkt))
		check(&pkt, copy, size);
	for (head = sizeof(struct rxd_hdr); head <= size; head += 8) {
		rxd_seal(copy, head, NULL, 0);
		if (!rxd_parse(copy, size, &pkt))
			check(&pkt, copy, size);
	}
	if (size >= sizeof(struct rxd_hdr)) {
		rxd_seal(copy, size, NULL, 0);
		if (!rxd_parse(copy, size, &pkt))
			check(&pkt, copy, size);
		memcpy(copy, data, size);
		parse_protected(copy, size);
	}
	free(copy);
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * rxd_parse() with arbitrary bytes: it reads nothing beyond them, and what it accepts is valid.
 * The checksum is corrected, so that the checks behind it are reached.
 */
#include <stdlib.h>
#include <sys/uio.h>

#include "base/hash/crc32c.h"
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
	}
	free(copy);
	return 0;
}

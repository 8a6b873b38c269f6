/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Any bytes may come from a peer: nothing is read beyond them, and what is accepted has
 * possible fields only.
 */
#include <stdlib.h>
#include <string.h>

#include "rxm/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct rxm_item *item, const uint8_t *buf, size_t size)
{
	uint64_t sum = 0;
	unsigned i;

	if (item->hdr < buf || item->hdr_len > ENG_HDR_MAX || item->segs > ENG_IOV_MAX)
		abort();
	if (item->kind == RXM_EAGER && item->data + item->len > buf + size)
		abort();
	for (i = 0; i < item->segs; i++)
		sum += item->seg[i].len;
	if (item->kind == RXM_RNDV && sum != item->len)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);
	struct rxm_handshake hs;
	struct chan_version version;
	struct rxm_head head;
	struct rxm_item item;
	size_t at = sizeof(head);

	memcpy(copy, data, size);
	if (!rxm_handshake_parse(copy, size, &hs) &&
	    (hs.addr_len > RXM_ADDR_MAX || !hs.id.serial || !hs.credits))
		abort();
	if (rxm_refusal_parse(copy, size, &version) >= CHAN_REASONS)
		abort();
	if (!rxm_parse(copy, size, &head)) {
		while (at < size) {
			at = rxm_next(copy, at, &item);
			check(&item, copy, size);
		}
		if (at != size)
			abort();
	}
	free(copy);
	return 0;
}

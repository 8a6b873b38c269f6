/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Any bytes may come from a peer: what is accepted lies within them, has possible fields only, and
 * encoded and decoded again is the same.
 */
#include <stdlib.h>
#include <string.h>

#include "foreign/rxmf/cm.h"
#include "foreign/rxmf/packet.h"

#define LIMIT 16384

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What is decoded is encoded to the same; without a header (net/opt.h), to the same with one. */
static void check(const struct rxmf_packet *pkt, const uint8_t *buf, size_t size)
{
	uint8_t *again = malloc(RXMF_PACKET_HDR + RXMF_PACKET_LIST + 8 + pkt->payload_len);
	size_t head = rxmf_packet_put(again, pkt), len = head + pkt->payload_len;
	struct rxmf_packet back;

	if (pkt->payload_len && (pkt->payload < buf || pkt->payload + pkt->payload_len != buf + size))
		abort();
	if (pkt->segs > RXMF_PACKET_SEGS || (buf[0] && len != size))
		abort();
	memcpy(again + head, pkt->payload, pkt->payload_len);
	if (rxmf_packet_parse(again, len, LIMIT, &back))
		abort();
	back.payload = pkt->payload;
	if (memcmp(&back, pkt, sizeof(back)))
		abort();
	rxmf_packet_operands(pkt, 16);
	free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);
	struct rxmf_cm_request request;
	struct rxmf_cm_accept accept;
	struct rxmf_packet pkt;

	memcpy(copy, data, size);
	if (!rxmf_packet_parse(copy, size, LIMIT, &pkt))
		check(&pkt, copy, size);
	if (!rxmf_cm_get_request(copy, size, &request) && (!request.process || !request.port))
		abort();
	if (!rxmf_cm_get_accept(copy, size, &accept) && !accept.process)
		abort();
	if (rxmf_cm_get_reject(copy, size) > RXMF_CM_EXISTS)
		abort();
	free(copy);
	return 0;
}

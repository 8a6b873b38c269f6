/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "engine/ctl.h"

#include "engine/flow.h"

/* The peer pays for answers that it does not take (flow.h), until the link gives them back. */
static void on_done(struct eng_pkt *pkt, int status)
{
	struct eng_out *ctl = container_of(pkt, struct eng_out, pkt);

	eng_flow_release(ctl->peer, sizeof(*ctl));
	eng_ctl_put(ctl);
}

void eng_ctl_send(struct eng_out *ctl, struct eng_peer *peer, enum wire_op op,
		  uint8_t flags, uint32_t id, uint64_t len, uint32_t word)
{
	struct eng_pkt *pkt = &ctl->pkt;
	size_t hdr = wire_put_base(pkt->hdr, op, flags, 0, id, len);

	if (op == WIRE_CTS || op == WIRE_NACK)
		hdr = wire_put_pair(pkt->hdr, hdr, word);
	else if (op == WIRE_SHARE)
		hdr += sizeof(struct wire_share);	/* the caller has written it */
	pkt->hdr_len = (uint16_t) hdr;
	pkt->flags = 0;
	pkt->iov_cnt = 0;
	pkt->len = 0;
	pkt->done = on_done;
	ctl->peer = peer;
	if ((peer->slow & (ENG_PEER_IDLE | ENG_PEER_CLOSED)) ||
	    eng_peer_send(peer, pkt))
		eng_ctl_put(ctl);
	else
		eng_flow_charge(peer, sizeof(*ctl));
}

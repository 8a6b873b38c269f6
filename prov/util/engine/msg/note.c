/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "engine/note.h"

#include "engine/flow.h"

static void on_done(struct eng_pkt *pkt, int status)
{
	struct eng_out *note = container_of(pkt, struct eng_out, pkt);

	eng_flow_release(note->peer, sizeof(*note));
	eng_note_put(note);
}

void eng_note_send(struct eng_out *note, struct eng_peer *peer, enum wire_op op,
		   uint8_t flags, uint32_t id, uint64_t len, uint32_t word)
{
	struct eng_pkt *pkt = &note->pkt;
	size_t hdr = wire_put_base(pkt->hdr, op, flags, 0, id, len);

	if (op == WIRE_CTS || op == WIRE_NACK)
		hdr = wire_put_pair(pkt->hdr, hdr, word);
	pkt->hdr_len = (uint16_t) hdr;
	pkt->flags = 0;
	pkt->iov_cnt = 0;
	pkt->len = 0;
	pkt->done = on_done;
	note->peer = peer;
	if ((peer->slow & (ENG_PEER_IDLE | ENG_PEER_CLOSED)) ||
	    eng_peer_send(peer, pkt))
		eng_note_put(note);
	else
		eng_flow_charge(peer, sizeof(*note));
}

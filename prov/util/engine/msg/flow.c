/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "engine/flow.h"

#include "engine/note.h"

static uint64_t share(const struct eng_ep *ep)
{
	uint64_t bytes = ep->unexp_budget / (ep->unexp_peers ? ep->unexp_peers : 1);
	uint64_t floor = ep->unexp_budget / ENG_UNEXP_PEERS;

	return bytes < floor ? floor : bytes;
}

/* Without memory for the note the next packet of the peer tries again. */
static void tell(struct eng_peer *peer, enum wire_op op)
{
	struct eng_out *note = eng_note_get(peer->ep->grp);

	if (!note)
		return;
	peer->told_xoff = op == WIRE_XOFF;
	eng_note_send(note, peer, op, 0, 0, 0, 0);
}

void eng_flow_held(struct eng_peer *peer, size_t len)
{
	struct eng_ep *ep = peer->ep;

	if (!len)
		return;
	if (!peer->unexp_bytes)
		ep->unexp_peers++;
	peer->unexp_bytes += len;
	if (!peer->told_xoff && peer->unexp_bytes > share(ep))
		tell(peer, WIRE_XOFF);
}

void eng_flow_freed(struct eng_peer *peer, size_t len)
{
	struct eng_ep *ep = peer->ep;

	if (!len)
		return;
	peer->unexp_bytes -= len;
	if (peer->told_xoff && peer->unexp_bytes <= share(ep) / 4)
		tell(peer, WIRE_XON);
	if (!peer->unexp_bytes)
		ep->unexp_peers--;
}

void eng_flow_reset(struct eng_peer *peer)
{
	peer->told_xoff = false;
	peer->slow &= ~ENG_PEER_XOFF;
}

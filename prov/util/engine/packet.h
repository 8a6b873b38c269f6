/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * packet.h - what the ways in to a receive share.
 */
#ifndef ENG_PACKET_H
#define ENG_PACKET_H

#include "engine/flow.h"
#include "engine/recv.h"

/* eng_rx_taken - is the packet the engine's, for good?  If not, nothing of it may be kept or answered. */
static inline bool eng_rx_taken(enum eng_rx_verdict verdict)
{
	return verdict == ENG_RX_DONE || verdict == ENG_RX_PLACE || verdict == ENG_RX_HELD;
}

/* eng_packet_ctl_get - the answers that a message with @env will get, as eng_recv_ctl_get() has it; also
 * false where @peer does not take those that it has asked for already.
 */
static inline bool eng_packet_ctl_get(struct eng_peer *peer, const struct eng_envelope *env,
				      struct eng_out *ctls[3])
{
	bool answers = env->rts || (env->flags & (WIRE_F_MATCHED | WIRE_F_DELIVERED));

	if (__builtin_expect(answers, 0) && eng_flow_refuse(peer, sizeof(struct eng_out)))
		return false;
	return eng_recv_ctl_get(peer->ep->grp, env, ctls);
}

/* eng_packet_take - @recv has met the eager message whose packet is @rx: copy what is
 * here, or have the link place it.  Returns the verdict for the link.
 */
enum eng_rx_verdict eng_packet_take(struct eng_recv *recv, struct eng_rx *rx);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * ctl.h - control packets, which carry no payload: CTS, ACK, NACK, XOFF, XON.
 *
 * A receive that will have to answer takes its control packets before it is matched,
 * so that a shortage of memory is met while the message can still be refused.
 */
#ifndef ENG_CTL_H
#define ENG_CTL_H

#include "engine/grp.h"
#include "engine/peer.h"
#include "engine/wire.h"

/* eng_ctl_get - a packet to write later, or NULL. */
static inline struct eng_out *eng_ctl_get(struct eng_grp *grp)
{
	struct eng_out *ctl = pool_get(&grp->outs);

	if (ctl)
		ctl->grp = grp;
	return ctl;
}

static inline void eng_ctl_put(struct eng_out *ctl)
{
	pool_put(&ctl->grp->outs, ctl);
}

/* eng_ctl_send - write @ctl and send it; it is used up.
 *
 * @op, @flags, @id, @len: of the header
 * @word: what follows it for CTS (rx_id) and NACK (err); what follows it for SHARE the caller
 *        has written behind the base of ctl->pkt.hdr
 *
 * A channel that is down is not reopened for a control packet: the operation that it
 * is about has ended with the channel.
 */
void eng_ctl_send(struct eng_out *ctl, struct eng_peer *peer, enum wire_op op,
		  uint8_t flags, uint32_t id, uint64_t len, uint32_t word);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * flow.h - memory that peers can make an endpoint use.
 *
 * Two limits.  A peer whose unexpected messages take more than its share of the endpoint's
 * budget is asked to announce everything (XOFF); announcements cost an envelope each, and
 * at most its transmit queue of them can be outstanding.  A sender announces unasked what it
 * posts beyond a part of that memory (ENG_AHEAD), since XOFF may come late.  So no message
 * that the program waits for is ever stuck behind one that it does not want.  XON follows when
 * a quarter of the share is left.
 *
 * A peer that ignores XOFF, or sends what needs no receive, meets the hard limit: what it
 * sends next stays with the link, which reads nothing more from this peer.  Counted are
 * unexpected payload, envelopes, requests that wait for their turn, and answers that the
 * peer does not take.
 */
#ifndef ENG_FLOW_H
#define ENG_FLOW_H

#include "engine/peer.h"

/* eng_flow_limits - set the limits of @ep from the environment. */
void eng_flow_limits(struct eng_ep *ep);

/* eng_flow_rx_max - how many receives a context takes whose attributes say @size. */
size_t eng_flow_rx_max(size_t size);

/* eng_flow_charge, eng_flow_release - memory is used for @peer, or no longer. */
static inline void eng_flow_charge(struct eng_peer *peer, uint64_t bytes)
{
	peer->held += bytes;
	peer->ep->held += bytes;
}

static inline void eng_flow_release(struct eng_peer *peer, uint64_t bytes)
{
	peer->held -= bytes;
	peer->ep->held -= bytes;
}

/* eng_flow_refuse - would @more bytes for @peer be beyond a hard limit?  Logged once;
 * the packet is then ENG_RX_LATER.
 */
bool eng_flow_refuse(struct eng_peer *peer, uint64_t more);

/* eng_flow_cq_refuse - does @base have so many unread completions that another one, which
 * @peer causes without a receive, has to wait?
 */
bool eng_flow_cq_refuse(struct eng_peer *peer, struct obj_ep *base);

/* eng_flow_held - an unexpected message of @peer is kept, for which @bytes are used. */
void eng_flow_held(struct eng_peer *peer, uint64_t bytes);

/* eng_flow_freed - it has been received or dropped. */
void eng_flow_freed(struct eng_peer *peer, uint64_t bytes);

/* eng_flow_reset - the channel is down: XOFF and XON no longer hold. */
void eng_flow_reset(struct eng_peer *peer);

#endif

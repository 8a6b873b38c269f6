/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * flow.h - memory that peers can make an endpoint use.
 *
 * Counted is what is held: payload that lies in our memory, and apart from it the headers of
 * messages, announced ones among them, with payload so short that an announcement would take as
 * much.  Payload that stays in its sender's memory costs a header.
 *
 * A peer whose unexpected payload takes more than its part of the endpoint's budget is asked to
 * announce what follows (XOFF); XON comes when a quarter of that part is left.  A sender announces
 * unasked what it posts beyond a part of its own limit, since XOFF may come late.  So no message
 * that the program waits for is stuck behind one that it does not want.
 *
 * Payload meets the hard limit if XOFF is late or ignored, if the format has no announcements, or
 * the peer sends what needs no receive: requests that wait for others to be served, answers that it
 * does not take.
 * What it sends next stays with the link, which reads nothing more from this peer, as long as the
 * program waits for nothing.  If it does, reading goes on, up to the limit for headers: what it waits for
 * may stand behind.  Headers beyond theirs stay with the link, too, while the program waits for nothing;
 * if it does, they end the connection.
 */
#ifndef ENG_FLOW_H
#define ENG_FLOW_H

#include "engine/link.h"
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

/* eng_flow_admit - may @peer have @heads headers and @bytes of payload more?
 * Returns ENG_RX_DONE; ENG_RX_LATER: not now; ENG_RX_OVER: never.  The latter two are logged, and the
 * packet's verdict.
 */
enum eng_rx_verdict eng_flow_admit(struct eng_peer *peer, unsigned heads, uint64_t bytes);

/* eng_flow_refuse - would @bytes more for a request of @peer, or an answer to it, be beyond a limit?
 * Logged; the packet is then ENG_RX_LATER.
 */
bool eng_flow_refuse(struct eng_peer *peer, uint64_t bytes);

/* eng_flow_cq_refuse - does @base have so many unread completions that another one, which
 * @peer causes without a receive, has to wait?
 */
bool eng_flow_cq_refuse(struct eng_peer *peer, struct obj_ep *base);

/* eng_flow_held - unexpected payload of @peer is kept: @bytes, which may be 0. */
void eng_flow_held(struct eng_peer *peer, uint64_t bytes);

/* eng_flow_freed - it has been received or dropped. */
void eng_flow_freed(struct eng_peer *peer, uint64_t bytes);

/* eng_flow_reset - the channel is down: XOFF and XON no longer hold. */
void eng_flow_reset(struct eng_peer *peer);

#endif

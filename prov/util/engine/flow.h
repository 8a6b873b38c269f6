/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * flow.h - the budget for payload that nobody has asked for.
 *
 * A peer whose unexpected messages hold more than its share of the endpoint's
 * budget is told to announce everything (XOFF); announcements cost a header
 * each, and at most its transmit queue of them can be outstanding.  So memory
 * is bounded and no message that the program waits for is ever stuck behind one
 * that it does not want.  XON follows when a quarter of the share is left.
 */
#ifndef ENG_FLOW_H
#define ENG_FLOW_H

#include "engine/peer.h"

/* eng_flow_held - the link holds @len more bytes of @peer. */
void eng_flow_held(struct eng_peer *peer, size_t len);

/* eng_flow_freed - @len of them have been received or dropped. */
void eng_flow_freed(struct eng_peer *peer, size_t len);

/* eng_flow_reset - the channel is down: both sides forget what was said. */
void eng_flow_reset(struct eng_peer *peer);

#endif

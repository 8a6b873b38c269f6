/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * near.h - an endpoint's second link, to peers on its own host.
 *
 * A connectionless endpoint may have a near link beside its main one
 * (eng_link_ops.near).  Both know peers by the same addresses.  A peer is bound to
 * one of them at a time, by eng_peer.link, so that what is sent to it keeps its order:
 *
 *  - When we first speak to a peer, the near link says at once whether somebody
 *    with that address is on this host, and then tries to make a channel.
 *  - If it cannot, the peer is handed to the main link, with the packets that
 *    wait; none of them has been sent by then.  So what the near link is given is no
 *    longer than the main one takes.
 *  - A peer that calls us is bound to the link over which it calls.  If it is bound
 *    to the main link already, its near call is turned down, and it comes over the
 *    main one, too; so both sides come to the same answer, whoever called first.  A
 *    peer with which a near channel stands makes no call over the main link.
 *  - When the channel is lost, so is the binding.
 *
 * Threading: under the lock of the endpoint's group.
 */
#ifndef ENG_NEAR_H
#define ENG_NEAR_H

#include <stdbool.h>
#include <stddef.h>

struct eng_ep;
struct eng_link;
struct eng_link_ops;
struct eng_peer;

/* The link for it; there, if HAVE_SHM. */
extern const struct eng_link_ops shm_near_ops;

/* eng_near_prepare - @ep has been made: let its links prepare for it. */
void eng_near_prepare(struct eng_ep *ep);

/* eng_near_open - the near link of @ep, if it is to have one; its main link is open.
 * Without one all peers are reached over the main link, so there are no errors.
 */
void eng_near_open(struct eng_ep *ep);

/* eng_near_chan_size - link memory that a peer of @ep needs, whichever link it gets. */
size_t eng_near_chan_size(const struct eng_ep *ep);

/* eng_near_start - open a channel to @peer, which has none, over the link that reaches it.
 * Errors: those of link->peer_get.
 */
int eng_near_start(struct eng_peer *peer);

/* eng_near_claim - @peer calls over @link, which is not the one it is bound to.
 * Returns true: now it is; false: the call must be turned down.
 */
bool eng_near_claim(struct eng_peer *peer, struct eng_link *link);

#endif

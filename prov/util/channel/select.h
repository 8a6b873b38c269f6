/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * select.h - the choice among several links to a peer.
 *
 * A connectionless endpoint has its own link, and may have further ones, which reach some
 * peers better: shared memory reaches those on the same host.  All know peers by the same
 * addresses.  A peer is bound to one link at a time, so that what is sent to it keeps its
 * order:
 *
 *  - When we first send to a peer, each further link is asked, best first.  One that knows
 *    at once that the peer cannot be reached over it says so; else it tries to connect.
 *  - If it cannot, the peer is bound to the endpoint's own link, with the packets that wait;
 *    none of them has been sent by then.  So what a further link is given is no longer than
 *    the own one takes.
 *  - A peer that connects to us is bound to the link over which its request arrives.  If it
 *    is bound to the own link already, its request over a further one is refused, and it
 *    arrives over the own one, too; so both sides come to the same decision, whichever
 *    connects first.  A peer with which a connection stands over a further link makes no
 *    request over the own one.
 *  - When the connection is lost, so is the binding.
 *
 * Threading: under the lock of the endpoint's group; chan_local_register() from constructors.
 */
#ifndef CHAN_SELECT_H
#define CHAN_SELECT_H

#include <stdbool.h>

#include "channel/chan.h"

/* A kind of link that registers itself as a further one. */
struct chan_local {
	const char *name;
	int rank;		/* lower: asked earlier */
	/* prepare - endpoints that may use it are about to be opened: what the process does
	 * once, and what is cheaper before a progress thread runs.  May be NULL.
	 */
	void (*prepare)(void);
	/* open - a link of @ep beside @main, whose address it has.  Its chan_link.main is set by
	 * the caller.  Errors: -FI_E*: all peers are reached over @main.
	 */
	int (*open)(struct eng_ep *ep, struct chan_link *main, struct chan_link **link_p);
	struct chan_local *next;	/* select.c's */
};

/* chan_local_register - endpoints that are opened from now on may have such a link. */
void chan_local_register(struct chan_local *local);

/* chan_local_prepare - a provider whose endpoints may have further links opens a fabric. */
void chan_local_prepare(void);

/* chan_select_open - open the further links of @ep beside @main, its own one, which is open
 * and has its address.  Without one all peers are reached over @main, so there are no errors.
 * Sets main->base.attr.chan_size.
 */
void chan_select_open(struct eng_ep *ep, struct chan_link *main);

/* chan_select_close - close the further links of @main. */
void chan_select_close(struct chan_link *main, int linger_ms);

/* chan_select_claim - a request of @peer arrives over @link.  Returns true: it is bound to
 * @link now; false: the request must be refused.
 */
bool chan_select_claim(struct chan_link *link, struct eng_peer *peer);

/* chan_select_elsewhere - a further link cannot connect @chan: the peer is bound to the
 * endpoint's own link, with what waits.  Returns false if there is none.
 */
bool chan_select_elsewhere(struct chan *chan, int err);

#endif

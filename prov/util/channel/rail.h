/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * rail.h - rails of a channel: which interface of this host goes to which address of the peer, and when it is tried.
 *
 * Both sides list addresses, at most CHAN_RAILS_MAX.  A peer may list what it likes: what cannot be an address of
 * a host on a network is dropped (chan_rail_may_list()), and only what one of our interfaces reaches is tried.  Until
 * an address has proven that the channel's peer is there, it is sent one connect at a time, CHAN_RAIL_PROBES in all.
 *
 * Pure: no I/O, no clock, no memory but the caller's.
 */
#ifndef CHAN_RAIL_H
#define CHAN_RAIL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/net_addr.h"

#define CHAN_RAILS_MAX 8
#define CHAN_RAIL_PROBES 3		/* connects to an address that has proven nothing */
#define CHAN_RAIL_EVERY_NS UINT64_C(1000000000)	/* from a connect that failed to the next, or from a loss */
/* A rail that is lost within this time after it was made, several times in a row, is made again after 1, 2, then 4 s:
 * each loss delays the other rails, too.
 */
#define CHAN_RAIL_STEADY_NS UINT64_C(10000000000)
#define CHAN_RAIL_SOON_MAX 3	/* losses that lengthen the time */

struct chan_rail {
	uint8_t ours, theirs;	/* entries of the two lists */
	bool proven;		/* the peer was there */
	unsigned tries;		/* connects since it was, or ever */
	unsigned soon;		/* losses in a row soon after it was made, at most CHAN_RAIL_SOON_MAX */
	uint64_t made_ns;	/* 0: it does not stand */
	uint64_t due_ns;	/* not before */
};

/* chan_rail_may_list - can a host have this address in a network, for others?  Not loopback, multicast, broadcast,
 * link-local, the wildcard, or port 0.
 */
bool chan_rail_may_list(const struct sockaddr *sa);

/* chan_rails_pair - each of our interfaces with one of the peer's, as many as possible: those that stand in front
 * first, and each with the first that it reaches.
 *
 * @ours, @theirs: how many each side has, at most CHAN_RAILS_MAX
 * @reaches:       does our interface reach that address?
 * @rail:          [out] room for CHAN_RAILS_MAX; in the order of ours
 *
 * Returns how many.
 */
unsigned chan_rails_pair(unsigned ours, unsigned theirs,
			 bool (*reaches)(void *arg, unsigned our, unsigned their), void *arg, struct chan_rail *rail);

/* chan_rail_due - is @rail, which does not stand, to be tried at @now? */
bool chan_rail_due(const struct chan_rail *rail, uint64_t now);

/* chan_rail_tried - a connect was begun.  chan_rail_failed - and it failed, or the rail was lost: one that drops most
 * packets, not all, is made and lost again and again.
 * chan_rail_made - the peer has proven that it is there.
 */
void chan_rail_tried(struct chan_rail *rail, uint64_t now);
void chan_rail_failed(struct chan_rail *rail, uint64_t now);
void chan_rail_made(struct chan_rail *rail, uint64_t now);

#endif

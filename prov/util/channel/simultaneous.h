/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * simultaneous.h - which of two connections between two connectionless endpoints counts.
 *
 * Either endpoint may connect to the other at any time, both may do so at once, and
 * either may have been restarted in between.  Both sides must come to the same
 * decision from what their handshakes carry: a random epoch for each life of an
 * endpoint, a serial number for each attempt, and in each request the serial of the
 * newest attempt of the other side that its sender has accepted.  Serials grow over all
 * lives of an endpoint, since that side may not have heard of a restart.  Pure.
 * simultaneous_test.c searches every order of events.
 */
#ifndef CHAN_SIMULTANEOUS_H
#define CHAN_SIMULTANEOUS_H

#include <stdbool.h>
#include <stdint.h>

#include "channel/handshake.h"

/* What an endpoint has towards a peer when a request of that peer arrives. */
enum chan_have {
	CHAN_HAVE_NOTHING,	/* no connection, and no attempt that the peer may have seen */
	CHAN_HAVE_ATTEMPT,	/* our handshake is in flight to the peer, unanswered */
	CHAN_HAVE_OURS,		/* a connection that our attempt made */
	CHAN_HAVE_THEIRS,	/* a connection that the peer's attempt made */
};

struct chan_standing {
	enum chan_have have;
	int order;		/* our address against the peer's: < 0 if ours sorts first, 0: equal */
	uint64_t self_epoch;
	uint64_t peer_epoch;	/* of the connection that we have; OURS and THEIRS only */
	uint64_t serial;	/* of the attempt that made it, in the count of who made it */
};

enum chan_verdict {
	CHAN_ACCEPT,		/* accept; an attempt of our own is ended silently */
	CHAN_REPLACE,		/* the connection that we have is dead: end it, then accept */
	CHAN_REFUSE,		/* refuse with CHAN_SIMULTANEOUS: ours counts */
	CHAN_SELF,		/* the endpoint connects to itself: keep both ends */
};

/* chan_judge - what to do about a request with handshake @theirs.
 *
 * Why it is right:
 *  - while both handshakes are in flight, that of the endpoint with the lower (address,
 *    epoch) counts, and both sides know both;
 *  - a request that was written before its sender knew of our accepted attempt has a
 *    prev below that attempt's serial, so the two were simultaneous, and ours counts;
 *  - a request written with that knowledge means that the connection is lost at the
 *    other end, whatever this end believes;
 *  - the same for a later serial of the peer's own attempts; an earlier one was
 *    overtaken, and its sender has given it up;
 *  - another epoch is another life of the endpoint: nothing of before is valid.
 */
static inline enum chan_verdict chan_judge(const struct chan_standing *standing,
					   const struct chan_id *theirs)
{
	bool same_life = standing->peer_epoch == theirs->epoch;

	if (!standing->order && standing->self_epoch == theirs->epoch)
		return CHAN_SELF;
	switch (standing->have) {
	case CHAN_HAVE_ATTEMPT:
		return standing->order < 0 ||
		       (!standing->order && standing->self_epoch < theirs->epoch) ?
		       CHAN_REFUSE : CHAN_ACCEPT;
	case CHAN_HAVE_OURS:
		return same_life && theirs->prev < standing->serial ? CHAN_REFUSE : CHAN_REPLACE;
	case CHAN_HAVE_THEIRS:
		return same_life && theirs->serial <= standing->serial ? CHAN_REFUSE : CHAN_REPLACE;
	default:
		return CHAN_ACCEPT;
	}
}

/* chan_judge_published - the same for a request in a published protocol, whose handshakes have no
 * serials: of two simultaneous attempts that of the higher address counts.
 *
 * @process: of the peer; it takes the place of the epoch.  A second request of one process is a
 *           mistake, or late; one of another process says that the peer was restarted.
 */
static inline enum chan_verdict chan_judge_published(const struct chan_standing *standing,
						     uint64_t process)
{
	switch (standing->have) {
	case CHAN_HAVE_ATTEMPT:
		return !standing->order ? CHAN_SELF :
		       standing->order > 0 ? CHAN_REFUSE : CHAN_ACCEPT;
	case CHAN_HAVE_OURS:
	case CHAN_HAVE_THEIRS:
		return standing->peer_epoch == process ? CHAN_REFUSE : CHAN_REPLACE;
	default:
		return CHAN_ACCEPT;
	}
}

#endif

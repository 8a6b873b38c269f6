/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * cross.h - which of two channels between two connectionless endpoints counts.
 *
 * Either endpoint may call the other at any time, both may do so at once, and
 * either may have been restarted in between.  Both sides must come to the same
 * answer from what their greetings carry: a random epoch for each life of an
 * endpoint, a serial number for each call, and in each call the serial of the
 * newest call that the caller has welcomed from the called.  Pure.
 */
#ifndef ENG_CROSS_H
#define ENG_CROSS_H

#include <stdbool.h>
#include <stdint.h>

/* What an endpoint has towards a peer when a call from that peer comes in. */
enum eng_cross_have {
	ENG_HAVE_NOTHING,	/* no channel and no call of our own that got through */
	ENG_HAVE_HELLO,		/* our call is on its way to the peer, unanswered */
	ENG_HAVE_OURS,		/* a channel that we called for */
	ENG_HAVE_THEIRS,	/* a channel that the peer called for */
};

struct eng_cross {
	enum eng_cross_have have;
	int order;		/* our address against the caller's: < 0 if ours sorts first, 0: equal */
	uint64_t self_epoch;
	uint64_t peer_epoch;	/* of the channel that we have; OURS and THEIRS only */
	uint64_t serial;	/* OURS: of our call; THEIRS: of theirs */
};

/* What the caller says. */
struct eng_cross_call {
	uint64_t epoch;
	uint64_t serial;
	uint64_t prev;		/* newest serial of ours that it has welcomed; 0: none */
};

enum eng_cross_verdict {
	ENG_CROSS_ACCEPT,	/* welcome it; a call of our own is given up silently */
	ENG_CROSS_REPLACE,	/* the channel that we have is dead: end it, then welcome */
	ENG_CROSS_REFUSE,	/* ours counts, and the caller must hear so */
	ENG_CROSS_SELF,		/* we are calling ourselves */
};

/* eng_cross_judge - what to do about a call.
 *
 * Why it is right:
 *  - while both calls are out, the one of the endpoint with the lower (address,
 *    epoch) counts, and both sides know both;
 *  - a call that was written before its sender knew of our welcomed call has a
 *    prev below that call's serial, so it was crossed and lost;
 *  - a call written with that knowledge means that the channel is lost at the
 *    other end, whatever this end believes;
 *  - the same for a later serial of the peer's own calls; an earlier one was
 *    overtaken and its sender has given it up;
 *  - another epoch is another life of the endpoint: all that was is void.
 */
static inline enum eng_cross_verdict eng_cross_judge(const struct eng_cross *cross,
						     const struct eng_cross_call *call)
{
	bool same_life = cross->peer_epoch == call->epoch;

	if (!cross->order && cross->self_epoch == call->epoch)
		return ENG_CROSS_SELF;
	switch (cross->have) {
	case ENG_HAVE_HELLO:
		return cross->order < 0 || (!cross->order && cross->self_epoch < call->epoch) ?
		       ENG_CROSS_REFUSE : ENG_CROSS_ACCEPT;
	case ENG_HAVE_OURS:
		return same_life && call->prev < cross->serial ? ENG_CROSS_REFUSE
							       : ENG_CROSS_REPLACE;
	case ENG_HAVE_THEIRS:
		return same_life && call->serial <= cross->serial ? ENG_CROSS_REFUSE
								  : ENG_CROSS_REPLACE;
	default:
		return ENG_CROSS_ACCEPT;
	}
}

#endif

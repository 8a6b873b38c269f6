/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * cross.h - which of two connections between two RDM endpoints counts.
 *
 * Either endpoint may call the other at any time, both may do so at once, and
 * either may have been restarted in between.  Both sides must come to the same
 * answer from what the greetings carry.  Pure.
 */
#ifndef TCP_CROSS_H
#define TCP_CROSS_H

#include "hello.h"

/* What an endpoint has towards a peer when a call from that peer comes in. */
enum tcp_cross_have {
	TCP_HAVE_NOTHING,	/* no connection and no call of our own that got through */
	TCP_HAVE_HELLO,		/* our HELLO is on its way to the peer, unanswered */
	TCP_HAVE_OURS,		/* a connection that we called for */
	TCP_HAVE_THEIRS,	/* a connection that the peer called for */
};

/* One side of the pair. */
struct tcp_cross_id {
	const struct sockaddr *addr;	/* where it can be called */
	uint64_t epoch;
};

struct tcp_cross {
	enum tcp_cross_have have;
	struct tcp_cross_id self;
	struct tcp_cross_id peer;	/* as it stands in the new HELLO */
	uint64_t peer_epoch;		/* of the connection that we have; OURS and THEIRS only */
	uint64_t serial;		/* OURS: of our call; THEIRS: of theirs */
};

enum tcp_cross_verdict {
	TCP_CROSS_ACCEPT,	/* welcome it; a call of our own is given up silently */
	TCP_CROSS_REPLACE,	/* the connection that we have is dead: end it, then welcome */
	TCP_CROSS_REFUSE,	/* TCP_WIRE_CROSSED: ours counts */
	TCP_CROSS_SELF,		/* we are calling ourselves: keep both */
};

/* tcp_cross_judge - what to do about @hello.
 *
 * Why it is right:
 *  - while both HELLOs are out, the call of the endpoint with the lower
 *    (address, epoch) counts, and both sides know both;
 *  - a HELLO that its sender wrote before it knew of our welcomed call has a
 *    prev below that call's serial, so it was crossed and lost;
 *  - a HELLO written with that knowledge means that the connection is lost at
 *    the other end, whatever this end believes;
 *  - the same for a later serial of the peer's own calls; an earlier one was
 *    overtaken and its sender has given it up;
 *  - another epoch is another life of the endpoint: all that was is void.
 */
enum tcp_cross_verdict tcp_cross_judge(const struct tcp_cross *cross,
				       const struct tcp_hello *hello);

#endif

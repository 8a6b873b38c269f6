/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * link.h - the link: connections between endpoints of one process.
 *
 * It is the smallest one over prov/util/channel, and an example of it; see README.md.
 */
#ifndef LOOP_LINK_H
#define LOOP_LINK_H

#include "channel/chan.h"
#include "channel/poller.h"
#include "inbox.h"

struct fi_provider;

/* Packets that one side may send ahead of the other's polls: twice what a LOOP_CREDIT gives
 * back, so that a sender need not stop while the receiver keeps up.
 */
#define LOOP_CREDITS 32
#define LOOP_WINDOW (2 * LOOP_CREDITS)

struct loop_conf {
	size_t tx_size;			/* queue sizes of an endpoint that asks for none */
	size_t rx_size;
	int retry_ms;			/* how long a refused connect is repeated */
	int timeout_ms;			/* how long an answer is waited for */
};

extern struct loop_conf loop_conf;

/* What the link has in a progress group. */
struct loop_poller {
	struct chan_poller base;	/* first */
	struct list links;		/* struct loop_link by node */
	bool more;			/* the last poll left messages for the next one */
};

/* What it has for an endpoint. */
struct loop_link {
	struct chan_link base;		/* first */
	struct list node;		/* on poller->links */
	struct loop_inbox *inbox;
	struct list rx;			/* messages out of the inbox that are not handled yet */
};

/* What it has for a peer. */
struct loop_chan {
	struct chan base;		/* first */
	struct loop_inbox *to;		/* the peer's, while an attempt or a connection lasts */
	struct loop_msg *bye;		/* its LOOP_CLOSE: memory that must not be short then */
	unsigned credits;		/* packets that may be sent */
	unsigned taken;			/* packets received since the last LOOP_CREDIT */
	uint64_t later_seq;		/* poll in which the engine had no memory for a packet */
};

extern const struct eng_link_ops loop_link_ops;

#endif

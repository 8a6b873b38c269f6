/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * park.h - closing idle connections where descriptors run short, until a packet needs them again.
 *
 * Both peers consent, so that nothing is in flight when a descriptor is closed, and both know that the
 * other lives.  The next packet, from either peer, makes another connection, whose handshake says that it
 * continues the parked one; where only one side says so, the other has been restarted, and its peer is
 * declared lost.
 *
 * The death of a peer is noticed by the end of its connection.  So a connection that an operation waits on
 * is parked only where a connection waits for a descriptor; and while an operation waits for a parked peer,
 * the peer is connected to from time to time.
 *
 * This layer counts connections and descriptors, and decides which connection is parked.  The link says
 * whether a connection is idle, and sends the control packets (chan_ops.idle, chan_ops.park).
 *
 * Threading: as chan.h; the counts are those of the process.
 */
#ifndef CHAN_PARK_H
#define CHAN_PARK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

#include "base/list.h"
#include "base/timer.h"

struct chan;
struct chan_poller;

/* What is sent to the other side of an idle connection, or comes from it. */
enum chan_park_ctl {
	CHAN_PARK_ASK,		/* nothing more is sent until the answer has arrived */
	CHAN_PARK_CONSENT,	/* nothing more is sent at all.  Two simultaneous ASK are consent, too */
	CHAN_PARK_DENY,		/* the connection stays */
};

/* Of a poller: its connections that may be parked. */
struct chan_park {
	struct list ready;		/* struct chan_parkable by node */
	bool usable;			/* @timer has its place in the heap */
	struct timer timer;		/* park some, and check whether that was enough */
	unsigned want;			/* how many at that time */
	bool must;			/* even those that an operation waits on */
};

/* Of a connection of the link. */
struct chan_parkable {
	struct list node;		/* on park->ready: its channel is READY or PARKING, and both peers can park */
	struct chan *chan;
	uint64_t asked_ns;		/* when consent was last asked for, or refused by the peer */
};

/* chan_park_init - once for a poller, after chan_poller_get().  Sets poller->connecting_max: connects must
 * leave descriptors for connecting peers.
 * @connecting_max: at most
 */
void chan_park_init(struct chan_poller *poller, unsigned connecting_max);

/* chan_park_add - @chan is READY, and its peer supports parking.
 * Taking it off again, when the connection ends, is the link's: list_del(&parkable->node).
 */
void chan_park_add(struct chan_poller *poller, struct chan_parkable *parkable, struct chan *chan);

/* ---- descriptors ------------------------------------------------------------------------- */

/* chan_park_opened, chan_park_closed - count the connections of the process whose channels can be parked;
 * parks some where few descriptors are left, or beyond @most (0: without limit).
 */
void chan_park_opened(struct chan_poller *poller, int fd, int most);
void chan_park_closed(struct chan_poller *poller);

/* chan_park_full - does the process have @most such connections? */
bool chan_park_full(int most);

/* chan_park_reserved - is @fd one of the last descriptors, which are reserved for connecting
 * peers?  The system assigns the lowest free number, so the number tells how many are left.
 */
bool chan_park_reserved(int fd);

/* chan_park_last - is @fd one of the very last descriptors, which no connection takes: the program
 * needs some, too?
 */
bool chan_park_last(int fd);

/* chan_park_fd_limit - RLIMIT_NOFILE, or RLIM_INFINITY. */
rlim_t chan_park_fd_limit(void);

/* ---- parking ----------------------------------------------------------------------------- */

/* chan_park_want - few or no descriptors are left: park @cnt idle connections.  Asynchronous.
 * Returns whether there are any that may be parked.
 */
bool chan_park_want(struct chan_poller *poller, unsigned cnt);

/* chan_park_must - the same where a connection waits for a descriptor: connections that an
 * operation waits on are parked too.
 */
bool chan_park_must(struct chan_poller *poller);

/* chan_park_hold_back - chan_ops.hold_back: without a descriptor an attempt waits until idle connections
 * are parked.
 */
bool chan_park_hold_back(struct chan *chan, int err);

/* chan_park_timer - chan_ops.timer of a PARKED channel that no operation waits for: check that again later. */
void chan_park_timer(struct chan *chan, uint64_t now);

/* chan_park_on_ctl - the control packet @ctl has arrived.  From poll().
 * Errors: -FI_EPROTO: it is not valid in this state; -FI_ENOMEM: it cannot be answered.
 */
int chan_park_on_ctl(struct chan_parkable *parkable, enum chan_park_ctl ctl);

#endif

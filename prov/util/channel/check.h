/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * check.h - does a connection still stand at its other end?
 *
 * A handshake says which endpoint its sender is, and any process of that host can say the same.
 * So a request in whose favour a connection that stands would be replaced proves nothing.  The
 * connection is replaced if its end is known here.  Else the endpoint that listens at the peer's address
 * is asked, and the request is refused with CHAN_NOT_YET, so that its sender repeats it.  What listens
 * there is the endpoint: the connection has ended if it says so, or if it has another epoch.  No answer
 * changes nothing.
 *
 * A link gives the question (chan_ops.ask) and carries the answer.
 *
 * Threading: as chan.h.
 */
#ifndef CHAN_CHECK_H
#define CHAN_CHECK_H

#include "channel/chan.h"

/* Of a channel. */
struct chan_check {
	void *asking;		/* the link's connection that asks; NULL: none */
	uint64_t next_ns;	/* when it may ask again */
};

/* chan_check_stands - has the channel a connection whose end is not known? */
static inline bool chan_check_stands(const struct chan *chan)
{
	return (chan->state == CHAN_READY || chan->state == CHAN_PARKING) && !chan->failed;
}

/* chan_check_start - ask the peer of @chan whether its connection stands, once a second at most. */
void chan_check_start(struct chan *chan, struct chan_check *check);

/* chan_check_holds - what to answer the peer: is the connection that the peer with @epoch has by the attempt
 * @serial ours, too?
 */
bool chan_check_holds(const struct chan *chan, uint64_t epoch, uint64_t serial);

/* chan_check_answered - the endpoint at the peer's address, which has @epoch, has answered.  From poll();
 * may call chan_lost().
 * @serial: of the attempt that was asked about
 * @holds:  its connection stands
 */
void chan_check_answered(struct chan *chan, uint64_t serial, uint64_t epoch, bool holds);

#endif

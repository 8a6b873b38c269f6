/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * sink.h - where payload that was asked for goes.
 *
 * A sink is part of a request that waits for bytes: a receive, a read, the
 * result of an atomic.  DATA pieces name it by its id and fill it from front to
 * back; when the last byte is in place, or none will come, its owner is notified.
 * The cookie of every ENG_RX_PLACE is a sink.
 */
#ifndef ENG_SINK_H
#define ENG_SINK_H

#include "engine/grp.h"
#include "engine/link.h"
#include "engine/wire.h"

struct eng_dev;

struct eng_sink {
	struct eng_name name;		/* kind ENG_NAME_SINK; peer: who may fill it */
	struct iovec *iov;		/* the owner's */
	uint16_t iov_cnt;
	uint8_t pieces;			/* placements that the link works on */
	int err;			/* one of them failed, or its operation did */
	bool fault;			/* @iov cannot be written: what else comes is discarded */
	size_t got;			/* bytes in place or being placed */
	size_t want;
	/* Called once: all is in place (0), the link lost a piece (negative), or all has come and could not be
	 * written (-FI_EFAULT): the peer is not lost then.
	 */
	void (*done)(struct eng_sink *sink, int status);
	struct eng_dev *dev;		/* memory of a device is among @iov (dev.h); or NULL */
};

/* eng_sink_open - give @sink a name and expect @want bytes, not 0.
 * name.peer, iov and done are set.  Errors: -FI_ENOMEM.
 */
int eng_sink_open(struct eng_sink *sink, struct eng_grp *grp, size_t want);

/* eng_sink_expect - the link is about to place a payload that came unasked: the
 * next eng_on_placed() is the last.
 */
static inline void eng_sink_expect(struct eng_sink *sink)
{
	sink->got = sink->want = 0;
	sink->pieces = 1;
	sink->err = 0;
	sink->fault = false;
}

/* eng_sink_check - a piece is in place, or lost: call done(), if that was the last. */
void eng_sink_check(struct eng_sink *sink);

/* eng_sink_on_data - a DATA packet has passed wire_parse().
 * @why_p: [out] what is wrong with it, or NULL
 */
enum eng_rx_verdict eng_sink_on_data(struct eng_peer *peer, struct eng_rx *rx,
				     const struct wire_msg *msg, const char **why_p);

#endif

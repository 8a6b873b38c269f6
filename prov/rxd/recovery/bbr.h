/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * bbr.h - congestion control by what the path delivers: a model of its bandwidth and of
 * its shortest round trip, instead of a window that grows until something is lost.
 * Pure; bytes and nanoseconds.
 *
 * Bandwidth is measured once a round trip, and the most of the last rounds counts.  The
 * sender is paced by it: faster until it grows no more, slower until the queue that this
 * made is gone, and then now faster, now slower by a quarter.  Every few seconds the
 * window is halved for a moment, so that the shortest round trip can be seen.  Many
 * losses or marks in a round limit what may be under way.
 * Source: draft-ietf-ccwg-bbr; RFC 9002 section 7 for silence.
 */
#ifndef RXD_BBR_H
#define RXD_BBR_H

#include <stdbool.h>
#include <stdint.h>

enum rxd_bbr_state {
	RXD_BBR_STARTUP,	/* twice as fast with each round trip */
	RXD_BBR_DRAIN,		/* the queue of that is let go */
	RXD_BBR_CRUISE,		/* in eight phases */
	RXD_BBR_LOOK,		/* for the shortest round trip */
};

struct rxd_bbr {
	uint64_t round_ns;	/* the round began; packets sent later end it */
	uint64_t bw, bw_before;	/* most of these rounds, and of those before; bytes a second */
	uint64_t full_bw;	/* STARTUP: to be exceeded by a quarter */
	uint64_t min_rtt;	/* 0: not known */
	uint64_t min_at_ns;	/* when it was seen */
	uint64_t phase_ns;	/* CRUISE: the phase began; LOOK: ends */
	uint64_t most;		/* bytes under way, as losses have it; 0: no limit */
	uint32_t got;		/* bytes of this round */
	uint8_t state;		/* enum rxd_bbr_state */
	uint8_t full_cnt;	/* STARTUP: rounds without growth */
	uint8_t rounds;		/* that are in @bw */
	uint8_t phase;
	bool idle;		/* the sender had not enough to send, this round */
	bool marked, lost;	/* a mark came, something was lost, this round */
	bool clear;		/* DRAIN: the queue is gone */
};

#define RXD_BBR_LEAST 4		/* packets that are always allowed */

void rxd_bbr_init(struct rxd_bbr *bbr);

/* rxd_bbr_on_rtt - a round trip took @rtt_ns.  Comes before the packet's rxd_bbr_on_ack(). */
void rxd_bbr_on_rtt(struct rxd_bbr *bbr, uint64_t now, uint64_t rtt_ns);

/* rxd_bbr_on_ack - @bytes arrived, sent at @sent_ns.
 * @limited: the sender had more to send than it could
 * @losing:  more is lost lately than a line loses by itself
 * Returns the window from now on; @window is that until now, @seg a full packet.
 */
uint64_t rxd_bbr_on_ack(struct rxd_bbr *bbr, uint64_t now, uint64_t sent_ns, uint64_t bytes,
			bool limited, bool losing, uint64_t window, uint32_t seg);

/* rxd_bbr_on_loss, rxd_bbr_on_mark - a packet was lost, or is marked by a long queue. */
void rxd_bbr_on_loss(struct rxd_bbr *bbr);
void rxd_bbr_on_mark(struct rxd_bbr *bbr);

/* rxd_bbr_on_idle - nothing was under way for a while: that is no part of a round. */
void rxd_bbr_on_idle(struct rxd_bbr *bbr);

/* rxd_bbr_pace - bytes a second that may leave; 0: not known yet. */
uint64_t rxd_bbr_pace(const struct rxd_bbr *bbr);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * bbr.h - congestion control by a model of the path: its bandwidth and its minimal RTT, instead
 * of a window that grows until something is lost.  Pure.  Units: bytes and nanoseconds.
 *
 * Bandwidth is measured once per round trip, and the maximum of the last rounds counts.  It
 * paces the sender: faster until it grows no more (STARTUP), slower until the queue is drained
 * (DRAIN), then alternately faster and slower by a quarter (PROBE_BW).  Every few seconds the window
 * is halved for a moment to measure the minimal RTT (PROBE_RTT).  Many losses or marks in a
 * round limit the bytes in flight.
 * Source: draft-ietf-ccwg-bbr; RFC 9002 section 7 for persistent congestion.
 */
#ifndef RXD_BBR_H
#define RXD_BBR_H

#include <stdbool.h>
#include <stdint.h>

enum rxd_bbr_state {
	RXD_BBR_STARTUP,	/* doubles the rate with each round trip */
	RXD_BBR_DRAIN,		/* drains the queue that this made */
	RXD_BBR_PROBE_BW,		/* eight phases */
	RXD_BBR_PROBE_RTT,		/* measures the minimal RTT */
};

struct rxd_bbr {
	uint64_t round_ns;	/* the round began; packets sent later end it */
	uint64_t bw, bw_before;	/* maximum of these rounds, and of those before; bytes per second */
	uint64_t full_bw;	/* STARTUP: to be exceeded by a quarter */
	uint64_t min_rtt;	/* 0: not known */
	uint64_t min_at_ns;	/* when it was seen */
	uint64_t phase_ns;	/* PROBE_BW: start of the phase; PROBE_RTT: its end */
	uint64_t most;		/* limit of bytes in flight after losses; 0: none */
	uint32_t got;		/* bytes acknowledged in this round */
	uint8_t state;		/* enum rxd_bbr_state */
	uint8_t full_cnt;	/* STARTUP: rounds without growth */
	uint8_t rounds;		/* that are in @bw */
	uint8_t phase;
	bool idle;		/* the application had not enough to send in this round */
	bool marked, lost;	/* a CE mark, a loss in this round */
	bool clear;		/* DRAIN: the queue is empty */
};

#define RXD_BBR_LEAST 4		/* packets that are always allowed */

void rxd_bbr_init(struct rxd_bbr *bbr);

/* rxd_bbr_on_rtt - a round trip took @rtt_ns; before rxd_bbr_on_ack() of that ACK. */
void rxd_bbr_on_rtt(struct rxd_bbr *bbr, uint64_t now, uint64_t rtt_ns);

/* rxd_bbr_on_ack - @bytes, sent at @sent_ns, are acknowledged.
 * @limited: the application had more to send
 * @losing:  the recent share of losses is above that of random loss
 * Returns the new congestion window; @window is the old one, @seg a full packet.
 */
uint64_t rxd_bbr_on_ack(struct rxd_bbr *bbr, uint64_t now, uint64_t sent_ns, uint64_t bytes,
			bool limited, bool losing, uint64_t window, uint32_t seg);

/* rxd_bbr_on_loss, rxd_bbr_on_mark - a packet was lost, or marked CE. */
void rxd_bbr_on_loss(struct rxd_bbr *bbr);
void rxd_bbr_on_mark(struct rxd_bbr *bbr);

/* rxd_bbr_on_idle - nothing was in flight for a while: that time belongs to no round. */
void rxd_bbr_on_idle(struct rxd_bbr *bbr);

/* rxd_bbr_pace - the pacing rate in bytes per second; 0: not known yet. */
uint64_t rxd_bbr_pace(const struct rxd_bbr *bbr);

#endif

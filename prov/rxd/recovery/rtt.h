/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * rtt.h - RTT estimation.  Pure.  Units: nanoseconds.
 *
 * Source: RFC 9002 section 5.
 */
#ifndef RXD_RTT_H
#define RXD_RTT_H

#include <stdbool.h>
#include <stdint.h>

#define RXD_RTT_FIRST_NS UINT64_C(50000000)	/* before the first sample */
#define RXD_RTT_SAMPLES 4096			/* of which @min is the minimum, at least */
#define RXD_RTT_FEW 16				/* and @best */
#define RXD_RTT_GRAIN_NS UINT64_C(1000000)	/* by which timers may be late */

struct rxd_rtt {
	uint64_t smooth;	/* smoothed RTT, an eighth of it the latest sample */
	uint64_t var;		/* mean deviation from it */
	uint64_t min;		/* of the last samples; 0: nothing measured yet */
	uint64_t latest;	/* the last sample, with the receiver's delay */
	uint64_t min_next;	/* of those since @left was full */
	uint64_t best;		/* minimum of the last few samples: above @min, a queue has grown */
	uint64_t best_next;	/* of those since */
	uint32_t few;		/* samples until @best starts again */
	uint32_t left;		/* samples until @min starts again: paths change */
};

/* rxd_rtt_init - nothing is measured yet: a guess, for the first probe timeout. */
static inline void rxd_rtt_init(struct rxd_rtt *rtt)
{
	rtt->smooth = RXD_RTT_FIRST_NS;
	rtt->var = RXD_RTT_FIRST_NS / 2;
	rtt->min = 0;
	rtt->latest = 0;
	rtt->min_next = rtt->best_next = UINT64_MAX;
	rtt->left = RXD_RTT_SAMPLES;
	rtt->best = 0;
	rtt->few = RXD_RTT_FEW;
}

/* rxd_rtt_again - the path may be another: the minima are forgotten after as many samples as after rxd_rtt_init(). */
static inline void rxd_rtt_again(struct rxd_rtt *rtt)
{
	rtt->left = RXD_RTT_SAMPLES;
	rtt->min_next = UINT64_MAX;
}

/* rxd_rtt_is_first - was there no sample since rxd_rtt_init() or rxd_rtt_again(), or one since the former? */
static inline bool rxd_rtt_is_first(const struct rxd_rtt *rtt)
{
	return rtt->left == RXD_RTT_SAMPLES;
}

/* rxd_rtt_pace - what pacing goes by: a guess must not delay what a path of microseconds carries. */
static inline uint64_t rxd_rtt_pace(const struct rxd_rtt *rtt)
{
	return rtt->min ? rtt->smooth : 0;
}

/* rxd_rtt_minima - minima over the last samples: the finished window's, or less if there is less.
 * A minimum is never forgotten at once, so that a queue that grows is not taken for the path.
 */
static inline void rxd_rtt_minima(struct rxd_rtt *rtt, uint64_t sample)
{
	rtt->min_next = sample < rtt->min_next ? sample : rtt->min_next;
	rtt->best_next = sample < rtt->best_next ? sample : rtt->best_next;
	rtt->min = sample < rtt->min ? sample : rtt->min;
	rtt->best = sample < rtt->best ? sample : rtt->best;
	if (!--rtt->few) {
		rtt->best = rtt->best_next;
		rtt->best_next = UINT64_MAX;
		rtt->few = RXD_RTT_FEW;
	}
	if (!--rtt->left) {
		rtt->min = rtt->min_next;
		rtt->min_next = UINT64_MAX;
		rtt->left = RXD_RTT_SAMPLES;
	}
}

/* rxd_rtt_sample - the ACK of a packet came after @sample, of which the receiver delayed it
 * by @delay, as it says.  The first sample replaces the guess.
 */
static inline void rxd_rtt_sample(struct rxd_rtt *rtt, uint64_t sample, uint64_t delay)
{
	uint64_t diff;

	if (!sample)
		sample = 1;
	rtt->latest = sample;
	if (!rtt->min) {
		rtt->min = rtt->smooth = rtt->best = sample;
		rtt->var = sample / 2;
		return;
	}
	rxd_rtt_minima(rtt, sample);
	/* an impossible delay is ignored */
	if (sample >= rtt->min + delay)
		sample -= delay;
	diff = sample > rtt->smooth ? sample - rtt->smooth : rtt->smooth - sample;
	rtt->var = (3 * rtt->var + diff) / 4;
	rtt->smooth = (7 * rtt->smooth + sample) / 8;
}

/* rxd_rtt_probe_after - the probe timeout (PTO) without backoff. */
static inline uint64_t rxd_rtt_probe_after(const struct rxd_rtt *rtt, uint64_t peer_delay)
{
	uint64_t var = 4 * rtt->var;

	return rtt->smooth + (var > RXD_RTT_GRAIN_NS ? var : RXD_RTT_GRAIN_NS) + peer_delay;
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "bbr.h"

#include <assert.h>

#define SECOND UINT64_C(1000000000)
#define PHASES 8
#define ROUNDS 6		/* in each half of the filter */
#define FULL_ROUNDS 3
#define DRAIN_TRIPS 8
#define PROBE_RTT_EVERY (5 * SECOND)
#define PROBE_RTT_FOR (SECOND / 5)
#define ACKED_TOGETHER 8	/* packets, or all of a millisecond */

/* Pacing rate in each phase, in percent of the bandwidth. */
static const uint16_t paces[PHASES] = { 125, 75, 100, 100, 100, 100, 100, 100 };

void rxd_bbr_init(struct rxd_bbr *bbr)
{
	*bbr = (struct rxd_bbr) { .state = RXD_BBR_STARTUP };
}

static uint64_t bbr_bandwidth(const struct rxd_bbr *bbr)
{
	return bbr->bw > bbr->bw_before ? bbr->bw : bbr->bw_before;
}

/* bbr_pipe - bandwidth-delay product. */
static uint64_t bbr_pipe(const struct rxd_bbr *bbr)
{
	return (uint64_t) ((double) bbr_bandwidth(bbr) * (double) bbr->min_rtt / (double) SECOND);
}

/* ---- states ----------------------------------------------------------------------- */

/* STARTUP and DRAIN are passed once; then PROBE_BW, with PROBE_RTT now and then. */
static void bbr_set_state(struct rxd_bbr *bbr, enum rxd_bbr_state state)
{
	static const enum rxd_bbr_state next[] __attribute__((unused)) = {
		[RXD_BBR_STARTUP] = RXD_BBR_DRAIN,
		[RXD_BBR_DRAIN] = RXD_BBR_PROBE_BW,
		[RXD_BBR_PROBE_BW] = RXD_BBR_PROBE_RTT,
		[RXD_BBR_PROBE_RTT] = RXD_BBR_PROBE_BW,
	};

	assert(next[bbr->state] == state && "each state has one that follows");
	bbr->state = state;
}

static void probe_bw(struct rxd_bbr *bbr, uint64_t now)
{
	bbr_set_state(bbr, RXD_BBR_PROBE_BW);
	/* senders begin with different phases, and none with the one that drains */
	bbr->phase = (uint8_t) ((now / 1024) % (PHASES - 1));
	bbr->phase += bbr->phase > 0;
	bbr->phase_ns = now;
}

static void bbr_drain(struct rxd_bbr *bbr, uint64_t now)
{
	bbr_set_state(bbr, RXD_BBR_DRAIN);
	bbr->phase_ns = now;
	bbr->clear = false;
}

/* A round in which bandwidth did not grow by a quarter is one of three that end STARTUP. */
static void check_full(struct rxd_bbr *bbr, uint64_t now)
{
	if (bbr_bandwidth(bbr) >= bbr->full_bw + bbr->full_bw / 4) {
		bbr->full_bw = bbr_bandwidth(bbr);
		bbr->full_cnt = 0;
	} else if (!bbr->idle && ++bbr->full_cnt >= FULL_ROUNDS) {
		bbr_drain(bbr, now);
	}
}

static void check_probe_rtt(struct rxd_bbr *bbr, uint64_t now)
{
	if (bbr->state == RXD_BBR_PROBE_RTT && now >= bbr->phase_ns) {
		bbr->min_at_ns = now;
		probe_bw(bbr, now);
	} else if (bbr->state == RXD_BBR_PROBE_BW && now > bbr->min_at_ns + PROBE_RTT_EVERY) {
		bbr_set_state(bbr, RXD_BBR_PROBE_RTT);
		bbr->min_rtt = 0;
		bbr->phase_ns = now + PROBE_RTT_FOR;
	}
}

void rxd_bbr_on_rtt(struct rxd_bbr *bbr, uint64_t now, uint64_t rtt_ns)
{
	if (bbr->state == RXD_BBR_DRAIN && rtt_ns <= bbr->min_rtt + bbr->min_rtt / 8)
		bbr->clear = true;
	if (bbr->min_rtt && rtt_ns > bbr->min_rtt)
		return;
	bbr->min_rtt = rtt_ns ? rtt_ns : 1;
	if (bbr->state != RXD_BBR_PROBE_RTT)
		bbr->min_at_ns = now;
}

/* ---- rounds ------------------------------------------------------------------------- */

static void add_bandwidth(struct rxd_bbr *bbr, uint64_t took_ns)
{
	uint64_t bw = (uint64_t) ((double) bbr->got * (double) SECOND / (double) took_ns);

	if (bw > bbr->bw)
		bbr->bw = bw;
	/* a round that did not use the path measures nothing */
	if (bbr->idle || bbr->state == RXD_BBR_PROBE_RTT)
		return;
	if (++bbr->rounds >= ROUNDS) {
		bbr->rounds = 0;
		bbr->bw_before = bbr->bw;
		bbr->bw = 0;
	}
}

/* bbr_limit - after many losses or a mark fewer bytes may be in flight; else a little more per round. */
static void bbr_limit(struct rxd_bbr *bbr, uint64_t now, uint64_t window, uint32_t seg, bool losing)
{
	uint64_t least = (uint64_t) RXD_BBR_LEAST * seg;

	if ((losing && bbr->lost) || bbr->marked) {
		bbr->most = window * 7 / 10 > least ? window * 7 / 10 : least;
		if (bbr->state == RXD_BBR_STARTUP)
			bbr_drain(bbr, now);
	} else if (bbr->most) {
		bbr->most += bbr->most / 8 > seg ? bbr->most / 8 : seg;
	}
}

static void round_ends(struct rxd_bbr *bbr, uint64_t now, uint64_t window, uint32_t seg,
		       bool losing)
{
	if (bbr->round_ns && now > bbr->round_ns) {
		add_bandwidth(bbr, now - bbr->round_ns);
		if (bbr->state == RXD_BBR_STARTUP)
			check_full(bbr, now);
		bbr_limit(bbr, now, window, seg, losing);
	}
	bbr->round_ns = now;
	bbr->got = 0;
	bbr->idle = bbr->marked = bbr->lost = false;
}

static void next_phase(struct rxd_bbr *bbr, uint64_t now)
{
	if (bbr->state != RXD_BBR_PROBE_BW || now < bbr->phase_ns + bbr->min_rtt)
		return;
	bbr->phase = (uint8_t) ((bbr->phase + 1) % PHASES);
	bbr->phase_ns = now;
}

/* ---- the window ---------------------------------------------------------------------- */

/* window_wanted - twice the bandwidth-delay product, and what one ACK covers. */
static uint64_t window_wanted(const struct rxd_bbr *bbr, uint32_t seg)
{
	uint64_t together = bbr_bandwidth(bbr) / 1000;

	if (together < (uint64_t) ACKED_TOGETHER * seg)
		together = (uint64_t) ACKED_TOGETHER * seg;
	return 2 * bbr_pipe(bbr) + together;
}

static uint64_t window_of(const struct rxd_bbr *bbr, uint64_t window, uint64_t bytes, uint32_t seg)
{
	uint64_t least = (uint64_t) RXD_BBR_LEAST * seg, want = window_wanted(bbr, seg);

	if (bbr->state == RXD_BBR_STARTUP)
		window += bytes;
	else if (bbr->state == RXD_BBR_PROBE_RTT)
		window = bbr_pipe(bbr) / 2;
	else
		window = window + bytes < want ? window + bytes : want;
	if (bbr->most && window > bbr->most)
		window = bbr->most;
	return window > least ? window : least;
}

uint64_t rxd_bbr_on_ack(struct rxd_bbr *bbr, uint64_t now, uint64_t sent_ns, uint64_t bytes,
			bool limited, bool losing, uint64_t window, uint32_t seg)
{
	bbr->got += (uint32_t) bytes;
	if (!limited)
		bbr->idle = true;
	if (sent_ns >= bbr->round_ns)
		round_ends(bbr, now, window, seg, losing);
	next_phase(bbr, now);
	check_probe_rtt(bbr, now);
	if (bbr->state == RXD_BBR_DRAIN &&
	    (bbr->clear || now > bbr->phase_ns + DRAIN_TRIPS * bbr->min_rtt))
		probe_bw(bbr, now);
	return window_of(bbr, window, bytes, seg);
}

void rxd_bbr_on_loss(struct rxd_bbr *bbr)
{
	bbr->lost = true;
}

void rxd_bbr_on_idle(struct rxd_bbr *bbr)
{
	bbr->round_ns = 0;
}

void rxd_bbr_on_mark(struct rxd_bbr *bbr)
{
	bbr->marked = true;
}

uint64_t rxd_bbr_pace(const struct rxd_bbr *bbr)
{
	uint64_t bw = bbr_bandwidth(bbr);

	switch (bbr->state) {
	case RXD_BBR_STARTUP:
		return bw * 277 / 100;
	case RXD_BBR_DRAIN:
		return bw / 2;
	case RXD_BBR_PROBE_BW:
		return bw * paces[bbr->phase] / 100;
	default:
		return bw;
	}
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "cc.h"

/* No libm on the data path: a cube root by Newton's method. */
static double cube_root(double x)
{
	double root = x > 1 ? x : 1;
	int i;

	if (x <= 0)
		return 0;
	for (i = 0; i < 60; i++)
		root -= (root * root * root - x) / (3 * root * root);
	return root;
}

#define C 0.4				/* packets per second cubed */
#define BETA 0.7
#define ALPHA (3 * (1 - BETA) / (1 + BETA))
#define LOSING_SHIFT 8			/* the share of losses is averaged over some 256 packets */
#define BBR_LOSING (RXD_CC_ALL / 50)	/* random loss for BBR in any case */
#define QUEUE_NS 1000000		/* variation of the RTT without a queue */

static uint64_t window_least(const struct rxd_cc *cc)
{
	return (uint64_t) RXD_CC_LEAST * cc->seg;
}

void rxd_cc_init(struct rxd_cc *cc, enum rxd_cc_kind kind, uint32_t seg, unsigned tolerance)
{
	*cc = (struct rxd_cc) {
		.kind = kind,
		.seg = seg,
		.window = (uint64_t) RXD_CC_FIRST * seg,
		.threshold = UINT64_MAX,
		.tolerance = RXD_CC_ALL / 100 * tolerance,
	};
	if (kind == RXD_CC_BBR)
		rxd_bbr_init(&cc->bbr);
}

void rxd_cc_set_seg(struct rxd_cc *cc, uint32_t seg)
{
	if (cc->threshold == UINT64_MAX && cc->window < (uint64_t) RXD_CC_FIRST * seg)
		cc->window = (uint64_t) RXD_CC_FIRST * seg;
	cc->seg = seg;
	if (cc->window < window_least(cc))
		cc->window = window_least(cc);
}

/* ---- growth ----------------------------------------------------------------- */

static void epoch_begin(struct rxd_cc *cc, uint64_t now)
{
	double window = (double) cc->window / cc->seg;

	cc->epoch_ns = now;
	if (cc->w_max < window)
		cc->w_max = window;
	cc->k = cube_root((cc->w_max - window) / C);
	cc->w_est = window;
}

/* cubic_at - the window of the cubic function one RTT from now, in packets. */
static double cubic_at(const struct rxd_cc *cc, uint64_t now, uint64_t rtt_ns)
{
	double t = (double) (now - cc->epoch_ns + rtt_ns) / 1e9 - cc->k;

	return C * t * t * t + cc->w_max;
}

static void grow_cubic(struct rxd_cc *cc, uint64_t now, uint64_t bytes, uint64_t rtt_ns)
{
	double window = (double) cc->window / cc->seg, target, packets;

	if (!cc->epoch_ns)
		epoch_begin(cc, now);
	packets = (double) bytes / cc->seg;
	/* above the old maximum: Reno with a step of one */
	cc->w_est += (cc->w_est < cc->w_max ? ALPHA : 1) * packets / window;
	target = cubic_at(cc, now, rtt_ns);
	if (target > 1.5 * window)
		target = 1.5 * window;
	if (target > window)
		window += (target - window) / window * packets;
	if (window < cc->w_est)
		window = cc->w_est;
	if (window * cc->seg > (double) cc->window)
		cc->window = (uint64_t) (window * cc->seg);
}

void rxd_cc_on_rtt(struct rxd_cc *cc, uint64_t now, uint64_t rtt_ns)
{
	if (cc->kind == RXD_CC_BBR)
		rxd_bbr_on_rtt(&cc->bbr, now, rtt_ns);
}

void rxd_cc_on_ack(struct rxd_cc *cc, uint64_t now, uint64_t sent_ns, uint64_t bytes,
		   uint64_t rtt_ns, bool limited)
{
	cc->losing -= cc->losing >> LOSING_SHIFT;
	if (cc->kind == RXD_CC_BBR) {
		cc->window = rxd_bbr_on_ack(&cc->bbr, now, sent_ns, bytes, limited,
					    cc->losing > cc->tolerance && cc->losing > BBR_LOSING,
					    cc->window, cc->seg);
		return;
	}
	if (sent_ns <= cc->recovery_ns && cc->recovery_ns)
		return;
	if (!limited) {
		/* time while the window was not used does not count as growth */
		cc->epoch_ns = 0;
		return;
	}
	if (cc->window < cc->threshold)
		cc->window += bytes;
	else
		grow_cubic(cc, now, bytes, rtt_ns);
}

/* ---- events ------------------------------------------------------------------ */

static void undo_remember(struct rxd_cc *cc)
{
	cc->undo_window = cc->window;
	cc->undo_threshold = cc->threshold;
	cc->undo_w_max = cc->w_max;
	cc->undo_left = 1;
	cc->undo_dead = false;
}

/* is_congestion - a queue increases the RTT before it overflows, or drops many packets. */
static bool is_congestion(const struct rxd_cc *cc, const struct rxd_rtt *rtt)
{
	uint64_t more = rtt->min / 4 > QUEUE_NS ? rtt->min / 4 : QUEUE_NS;

	return cc->losing > cc->tolerance || !rtt->min || rtt->best > rtt->min + more;
}

static void window_reduce(struct rxd_cc *cc, uint64_t now)
{
	double window = (double) cc->window / cc->seg;

	cc->recovery_ns = now;
	/* fast convergence: a smaller maximum than last time leaves room for other flows */
	cc->w_max = window < cc->w_max ? window * (1 + BETA) / 2 : window;
	cc->window = (uint64_t) ((double) cc->window * BETA);
	if (cc->window < window_least(cc))
		cc->window = window_least(cc);
	cc->threshold = cc->window;
	cc->epoch_ns = 0;
}

void rxd_cc_on_mark(struct rxd_cc *cc, uint64_t now, uint64_t sent_ns)
{
	if (cc->kind == RXD_CC_BBR) {
		rxd_bbr_on_mark(&cc->bbr);
		return;
	}
	if (cc->recovery_ns && sent_ns <= cc->recovery_ns)
		return;
	window_reduce(cc, now);
	cc->undo_dead = true;	/* a mark is never spurious */
}

void rxd_cc_on_loss(struct rxd_cc *cc, uint64_t now, uint64_t sent_ns,
		    const struct rxd_rtt *rtt)
{
	cc->losing += (RXD_CC_ALL - cc->losing) >> LOSING_SHIFT;
	if (cc->kind == RXD_CC_BBR) {
		rxd_bbr_on_loss(&cc->bbr);
		return;
	}
	if (cc->recovery_ns && sent_ns <= cc->recovery_ns) {
		cc->undo_left++;
		return;
	}
	if (!is_congestion(cc, rtt))
		return;
	undo_remember(cc);
	window_reduce(cc, now);
}

void rxd_cc_on_spurious(struct rxd_cc *cc, uint64_t sent_ns)
{
	if (cc->kind == RXD_CC_BBR || !cc->undo_left || cc->undo_dead || sent_ns > cc->recovery_ns)
		return;
	if (--cc->undo_left)
		return;
	if (cc->undo_window > cc->window)
		cc->window = cc->undo_window;
	cc->threshold = cc->undo_threshold;
	cc->w_max = cc->undo_w_max;
	cc->epoch_ns = 0;
	cc->recovery_ns = 0;
}

void rxd_cc_on_persistent(struct rxd_cc *cc, uint64_t now)
{
	if (cc->kind == RXD_CC_BBR) {
		rxd_bbr_init(&cc->bbr);		/* the model of the path is void */
		cc->window = window_least(cc);
		return;
	}
	if (cc->threshold > cc->window / 2)
		cc->threshold = cc->window * 7 / 10;
	if (cc->threshold < window_least(cc))
		cc->threshold = window_least(cc);
	cc->window = window_least(cc);
	cc->epoch_ns = 0;
	cc->recovery_ns = now;
	cc->undo_left = 0;
}

void rxd_cc_on_idle(struct rxd_cc *cc)
{
	uint64_t first = (uint64_t) RXD_CC_FIRST * cc->seg;

	if (cc->kind == RXD_CC_BBR) {
		rxd_bbr_on_idle(&cc->bbr);	/* pacing continues */
		return;
	}
	cc->epoch_ns = 0;
	if (cc->window > first)
		cc->window = first;
}

/* ---- pacing ------------------------------------------------------------------ */

/* time_of - nanoseconds that @bytes take at one window per RTT, times 1.25, or 2 in slow start.
 */
static uint64_t time_of(const struct rxd_cc *cc, uint64_t bytes, uint64_t rtt_ns)
{
	double faster = cc->window < cc->threshold ? 2 : 1.25;
	uint64_t rate = cc->kind == RXD_CC_BBR ? rxd_bbr_pace(&cc->bbr) : 0, ns, most;

	if (rate) {
		/* the path may have been interrupted: a few packets per RTT are always allowed */
		most = rtt_ns / RXD_BBR_LEAST * bytes / cc->seg;
		ns = (uint64_t) ((double) bytes * 1e9 / (double) rate);
		return ns < most ? ns : most;
	}
	return (uint64_t) ((double) bytes * (double) rtt_ns / ((double) cc->window * faster));
}

/* burst_of - so far ahead of its time a packet may be sent. */
static uint64_t burst_of(const struct rxd_cc *cc, uint64_t rtt_ns)
{
	uint64_t burst = time_of(cc, (uint64_t) RXD_CC_BURST_SEGS * cc->seg, rtt_ns);

	return burst < RXD_CC_BURST_NS ? RXD_CC_BURST_NS : burst;
}

uint64_t rxd_cc_pace(struct rxd_cc *cc, uint64_t now, uint64_t rtt_ns)
{
	uint64_t burst = burst_of(cc, rtt_ns);

	return cc->paced_ns > burst ? cc->paced_ns - burst : 0;
}

bool rxd_cc_admits(const struct rxd_cc *cc, uint64_t now, uint64_t bytes, uint64_t rtt_ns)
{
	uint64_t from = cc->paced_ns > now ? cc->paced_ns : now;

	return from + time_of(cc, bytes, rtt_ns) <= now + burst_of(cc, rtt_ns);
}

void rxd_cc_paced(struct rxd_cc *cc, uint64_t now, uint64_t bytes, uint64_t rtt_ns)
{
	if (cc->paced_ns < now)
		cc->paced_ns = now;
	cc->paced_ns += time_of(cc, bytes, rtt_ns);
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * cc.h - congestion control: the congestion window, and pacing.  Pure.
 *
 * CUBIC, or BBR (bbr.h), which measures what the path delivers.
 * Units: bytes and nanoseconds.
 *
 * Random loss is distinguished from full queues: as long as the share of lost packets is below
 * a tolerance, and the RTT is not above its minimum, a loss does not reduce the window.  With a
 * tolerance of 0 each loss is congestion, as in the RFC.
 * Source: RFC 9438; RFC 9002 section 7 for what counts as one event, and for marks.
 */
#ifndef RXD_CC_H
#define RXD_CC_H

#include <stdbool.h>
#include <stdint.h>

#include "bbr.h"
#include "rtt.h"

/* What pacing lets leave at once: what is due within this time, since a timer may be late by that, or so many segments. */
#define RXD_CC_BURST_NS 1000000
#define RXD_CC_BURST_SEGS 10

enum rxd_cc_kind {
	RXD_CC_CUBIC,
	RXD_CC_BBR,
};

struct rxd_cc {
	uint64_t window;		/* congestion window: bytes that may be in flight */
	uint64_t threshold;		/* slow start ends here */
	union {
		struct {		/* CUBIC */
			uint64_t recovery_ns;	/* losses of packets sent before are of the same event */
			uint64_t epoch_ns;	/* growth of the cubic began; 0: begins with the next */
			double w_max;		/* window at the last event */
			double w_est;		/* what Reno would have */
			double k;		/* seconds until the cubic is back at w_max */
			/* to be restored if the event was spurious */
			uint64_t undo_window, undo_threshold;
			double undo_w_max;
			uint32_t undo_left;	/* packets of the event not shown spurious; 0: no undo */
			bool undo_dead;		/* no undo: the event was an ECN mark */
		};
		struct rxd_bbr bbr;
	};
	uint32_t seg;			/* bytes of a full packet */
	uint32_t tolerance;		/* share of random loss, of RXD_CC_ALL */
	uint32_t losing;		/* recent share of lost packets, of RXD_CC_ALL */
	enum rxd_cc_kind kind;
	/* pacing */
	uint64_t paced_ns;		/* the time up to which packets are scheduled */
};

#define RXD_CC_FIRST 10			/* packets in the first window */
#define RXD_CC_LEAST 2

#define RXD_CC_ALL (1u << 24)

/* rxd_cc_init - @tolerance: percent of random loss. */
void rxd_cc_init(struct rxd_cc *cc, enum rxd_cc_kind kind, uint32_t seg, unsigned tolerance);

/* rxd_cc_set_seg - the path MTU has changed. */
void rxd_cc_set_seg(struct rxd_cc *cc, uint32_t seg);

/* rxd_cc_on_rtt - a round trip took @rtt_ns; before rxd_cc_on_ack() of that ACK. */
void rxd_cc_on_rtt(struct rxd_cc *cc, uint64_t now, uint64_t rtt_ns);

/* rxd_cc_on_ack - @bytes, sent at @sent_ns, are acknowledged.
 * @limited: the window was the limit; otherwise it does not grow
 */
void rxd_cc_on_ack(struct rxd_cc *cc, uint64_t now, uint64_t sent_ns, uint64_t bytes,
		   uint64_t rtt_ns, bool limited);

/* rxd_cc_on_loss - a packet that was sent at @sent_ns is declared lost. */
void rxd_cc_on_loss(struct rxd_cc *cc, uint64_t now, uint64_t sent_ns,
		    const struct rxd_rtt *rtt);

/* rxd_cc_on_mark - an ACK reports CE marks (RFC 3168) together with a packet sent at @sent_ns.
 */
void rxd_cc_on_mark(struct rxd_cc *cc, uint64_t now, uint64_t sent_ns);

/* rxd_cc_on_spurious - a packet that was declared lost is acknowledged.  When all packets of
 * an event are, the event is undone.
 */
void rxd_cc_on_spurious(struct rxd_cc *cc, uint64_t sent_ns);

/* rxd_cc_on_persistent - persistent congestion: no ACK for several probe timeouts. */
void rxd_cc_on_persistent(struct rxd_cc *cc, uint64_t now);

/* rxd_cc_on_idle - no traffic for several RTTs: the window is not that of the path any more. */
void rxd_cc_on_idle(struct rxd_cc *cc);

/* rxd_cc_pace - when may the next packet be sent?  A time up to @now: at once.
 * @rtt_ns: here and below 0 while none was measured: then the first window is the limit, and leaves at once (RFC 9002,
 *          section 7.7)
 */
uint64_t rxd_cc_pace(struct rxd_cc *cc, uint64_t now, uint64_t rtt_ns);

/* rxd_cc_admits - does pacing let @bytes more leave by @now? */
bool rxd_cc_admits(const struct rxd_cc *cc, uint64_t now, uint64_t bytes, uint64_t rtt_ns);

/* rxd_cc_paced - @bytes were sent. */
void rxd_cc_paced(struct rxd_cc *cc, uint64_t now, uint64_t bytes, uint64_t rtt_ns);

#endif

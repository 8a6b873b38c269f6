/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * cc.h - how much may be under way, and how fast it leaves.  Pure.
 *
 * CUBIC; BBR (bbr.h), which measures what the path delivers; or NewReno for comparison.
 * Bytes and nanoseconds.
 *
 * Lines that lose a few packets by themselves are told from full queues: as long as no
 * more than a share of the packets is lost and round trips are not longer than they
 * were at best, a loss is only a loss.  With a share of 0 each one is congestion, as
 * the standard has it.
 * Source: RFC 9438; RFC 9002 section 7 for what counts as one event, and for marks.
 */
#ifndef RXD_CC_H
#define RXD_CC_H

#include <stdbool.h>
#include <stdint.h>

#include "bbr.h"
#include "rtt.h"

enum rxd_cc_kind {
	RXD_CC_CUBIC,
	RXD_CC_NEWRENO,
	RXD_CC_BBR,
};

struct rxd_cc {
	uint64_t window;		/* bytes that may be under way */
	uint64_t threshold;		/* slow start ends here */
	union {
		struct {		/* CUBIC, NewReno */
			uint64_t acked;		/* NewReno: bytes towards the next step */
			uint64_t recovery_ns;	/* losses of packets sent before are of the same event */
			uint64_t epoch_ns;	/* growth of the cubic began; 0: begins with the next */
			double w_max;		/* window at the last event */
			double w_est;		/* what NewReno would have */
			double k;		/* seconds until the cubic is back at w_max */
			/* what to go back to, if the event was none */
			uint64_t undo_window, undo_threshold;
			double undo_w_max;
			uint32_t undo_left;	/* packets of the event not proved spurious; 0: no undo */
			bool undo_dead;		/* one of them was truly lost */
		};
		struct rxd_bbr bbr;
	};
	uint32_t seg;			/* bytes of a full packet */
	uint32_t tolerance;		/* share that may be lost, of RXD_CC_ALL */
	uint32_t losing;		/* share that was lost lately */
	enum rxd_cc_kind kind;
	/* pacing */
	uint64_t paced_ns;		/* all before it has been used */
};

#define RXD_CC_FIRST 10			/* packets in the first window */
#define RXD_CC_LEAST 2

#define RXD_CC_ALL (1u << 24)

/* rxd_cc_init - @tolerance: packets of a hundred that a line may lose by itself. */
void rxd_cc_init(struct rxd_cc *cc, enum rxd_cc_kind kind, uint32_t seg, unsigned tolerance);

/* rxd_cc_set_seg - a full packet is longer or shorter from now on. */
void rxd_cc_set_seg(struct rxd_cc *cc, uint32_t seg);

/* rxd_cc_on_rtt - a round trip took @rtt_ns; before the acknowledgement that says so. */
void rxd_cc_on_rtt(struct rxd_cc *cc, uint64_t now, uint64_t rtt_ns);

/* rxd_cc_on_ack - @bytes arrived, sent at @sent_ns.
 * @limited: the window was what held the sender back; else it does not grow
 */
void rxd_cc_on_ack(struct rxd_cc *cc, uint64_t now, uint64_t sent_ns, uint64_t bytes,
		   uint64_t rtt_ns, bool limited);

/* rxd_cc_on_loss - a packet that was sent at @sent_ns is taken for lost. */
void rxd_cc_on_loss(struct rxd_cc *cc, uint64_t now, uint64_t sent_ns,
		    const struct rxd_rtt *rtt);

/* rxd_cc_on_mark - a queue on the way is long, say marks (RFC 3168) that were acknowledged
 * together with a packet sent at @sent_ns.
 */
void rxd_cc_on_mark(struct rxd_cc *cc, uint64_t now, uint64_t sent_ns);

/* rxd_cc_on_spurious - a packet that was taken for lost has arrived after all.  When
 * that is true of all of an event, the event is taken back.
 */
void rxd_cc_on_spurious(struct rxd_cc *cc, uint64_t sent_ns);

/* rxd_cc_on_silence - nothing came back for so long that the path is new to us. */
void rxd_cc_on_silence(struct rxd_cc *cc, uint64_t now);

/* rxd_cc_on_idle - nothing was sent for long: the window is not what the path has. */
void rxd_cc_on_idle(struct rxd_cc *cc);

/* rxd_cc_pace - when may the next packet leave?  A time up to @now: at once. */
uint64_t rxd_cc_pace(struct rxd_cc *cc, uint64_t now, uint64_t rtt_ns);

/* rxd_cc_paced - @bytes have left. */
void rxd_cc_paced(struct rxd_cc *cc, uint64_t now, uint64_t bytes, uint64_t rtt_ns);

#endif

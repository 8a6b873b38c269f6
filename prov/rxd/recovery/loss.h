/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * loss.h - what was sent and has not come back, and which of it is lost.  Pure.
 *
 * A packet is taken for lost when one that was sent later is here and either so
 * much time has passed that reordering is not the reason, or, as long as this
 * path has never reordered, three later ones are.  A packet that was taken for lost
 * is remembered for a while: if it is acknowledged after all, the waiting time
 * grows.
 * Source: RFC 8985, RFC 9002 section 6.
 */
#ifndef RXD_LOSS_H
#define RXD_LOSS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rtt.h"

enum rxd_sent_state {
	RXD_SENT_GONE,		/* acknowledged, or forgotten */
	RXD_SENT_OUT,
	RXD_SENT_LOST,		/* taken for lost, still remembered */
};

/* A packet under way. */
struct rxd_sent {
	uint64_t off;		/* of its bytes in the stream */
	uint64_t sent_ns;
	uint32_t len;		/* of them; 0: none */
	uint32_t size;		/* of the datagram */
	uint8_t state;		/* enum rxd_sent_state */
	bool pad;		/* measures the path: its loss is no congestion */
	bool limited;		/* nothing but the window held the sender back */
	bool ect;		/* left with a mark */
	bool asked;		/* for an acknowledgement at once */
};

struct rxd_loss {
	struct rxd_sent *ring;	/* packet n at ring[n & mask]; NULL: nothing is under way */
	uint64_t base;		/* oldest number remembered */
	uint64_t next;		/* number of the next packet */
	uint64_t largest;	/* highest acknowledged, + 1; 0: none */
	uint64_t out_bytes;	/* datagrams in RXD_SENT_OUT, without path probes */
	uint32_t mask;
	uint32_t out_cnt;
	uint32_t reo_steps;	/* quarters of a round trip that reordering may take */
	bool reordered;		/* seen on this path */
	bool asked;		/* for an acknowledgement at once: the last packet */
	uint8_t probes;		/* probe timeouts since something was acknowledged */
	uint64_t last_ns;	/* when the last packet left */
	uint64_t lost_at_ns;	/* when the oldest suspect is lost; 0: there is none */
};

/* What the owner does about it; called from the functions below. */
struct rxd_loss_ops {
	void (*acked)(void *arg, const struct rxd_sent *sent, uint64_t pn);
	void (*lost)(void *arg, const struct rxd_sent *sent, uint64_t pn);
	void (*spurious)(void *arg, const struct rxd_sent *sent, uint64_t pn);
};

void rxd_loss_init(struct rxd_loss *loss);
void rxd_loss_fini(struct rxd_loss *loss);

/* rxd_loss_room - make room to remember one more packet.  Errors: -FI_ENOMEM. */
int rxd_loss_room(struct rxd_loss *loss);

/* rxd_loss_on_sent - packet number loss->next left.  Room was made. */
void rxd_loss_on_sent(struct rxd_loss *loss, const struct rxd_sent *sent);

/* rxd_loss_on_ack - numbers @lo .. @hi-1 are acknowledged.
 * Returns false when one of them was never sent: the peer lies.
 */
bool rxd_loss_on_ack(struct rxd_loss *loss, uint64_t lo, uint64_t hi,
		     const struct rxd_loss_ops *ops, void *arg);

/* rxd_loss_sent_ns - when packet @pn left, while it is out; else 0. */
uint64_t rxd_loss_sent_ns(const struct rxd_loss *loss, uint64_t pn);

/* rxd_loss_detect - after acknowledgements, or at lost_at_ns: name what is lost. */
void rxd_loss_detect(struct rxd_loss *loss, uint64_t now, const struct rxd_rtt *rtt,
		     const struct rxd_loss_ops *ops, void *arg);

/* rxd_loss_give_up - everything out is lost (a black hole). */
void rxd_loss_give_up(struct rxd_loss *loss, const struct rxd_loss_ops *ops, void *arg);

/* rxd_loss_unsent - packet @pn did not leave after all.  Its number is used up all the
 * same: what we take for unsent may have left.   Returns what it had, or NULL.
 */
const struct rxd_sent *rxd_loss_unsent(struct rxd_loss *loss, uint64_t pn);

/* rxd_loss_wait - how long to be silent before a probe: twice as long after each but the
 * first, up to a second or so, because a peer that is there should be found before it is given up.
 * @peer_delay_ns: how long it may keep an acknowledgement that it is not asked for
 */
uint64_t rxd_loss_wait(const struct rxd_loss *loss, const struct rxd_rtt *rtt,
		       uint64_t peer_delay_ns);

/* rxd_loss_due - when something must happen: detect, or (*@probe_p) a probe.  0: never. */
uint64_t rxd_loss_due(const struct rxd_loss *loss, const struct rxd_rtt *rtt,
		      uint64_t peer_delay_ns, bool *probe_p);

/* rxd_loss_longest - bytes of the longest datagram out, without path probes; 0: none is. */
uint32_t rxd_loss_longest(const struct rxd_loss *loss);

/* rxd_loss_idle - nothing is out: give memory back. */
void rxd_loss_idle(struct rxd_loss *loss);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * loss.h - loss detection: the packets in flight, and which of them are lost.  Pure.
 *
 * A packet is declared lost when a later one is acknowledged and either so much time has
 * passed that reordering cannot be the cause, or, as long as this path has never reordered,
 * three later ones are acknowledged.  It is remembered for a while: if its ACK arrives after
 * all, the loss was spurious, and the time threshold grows.
 * What is retransmitted, and when, is in ../retransmit.c.
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
	RXD_SENT_OUT,		/* in flight */
	RXD_SENT_LOST,		/* declared lost, still remembered */
};

/* A packet in flight. */
struct rxd_sent {
	uint64_t off;		/* of its bytes in the stream */
	uint64_t sent_ns;
	uint32_t len;		/* of them; 0: none */
	uint32_t size;		/* of the datagram */
	uint8_t state;		/* enum rxd_sent_state */
	bool pad;		/* without bytes, a probe: its loss is no congestion */
	bool limited;		/* the congestion window was the limit */
	bool ect;		/* sent as ECT(0) */
	bool ack_now;		/* requests an ACK without delay */
	bool waited;		/* it gives no RTT: rxd_loss_waited() */
};

struct rxd_loss {
	struct rxd_sent *ring;	/* packet n at ring[n & mask]; NULL: nothing is in flight */
	uint64_t base;		/* oldest number remembered */
	uint64_t next;		/* number of the next packet */
	uint64_t largest;	/* highest acknowledged, + 1; 0: none */
	uint64_t out_bytes;	/* in flight, without probes */
	uint32_t mask;
	uint32_t out_cnt;	/* packets in flight */
	uint32_t reo_steps;	/* time threshold, in quarters of the minimal RTT */
	bool reordered;		/* seen on this path */
	bool ack_now;		/* the last packet requests an ACK without delay */
	uint8_t probes;		/* probe timeouts since something was acknowledged, up to UINT8_MAX */
	uint64_t last_ns;	/* when the last packet was sent */
	uint64_t lost_at_ns;	/* when the next packet is declared lost; 0: none is due */
};

/* The owner's callbacks. */
struct rxd_loss_ops {
	void (*acked)(void *arg, const struct rxd_sent *sent, uint64_t pn);
	void (*lost)(void *arg, const struct rxd_sent *sent, uint64_t pn);
	void (*spurious)(void *arg, const struct rxd_sent *sent, uint64_t pn);
};

void rxd_loss_init(struct rxd_loss *loss);
void rxd_loss_fini(struct rxd_loss *loss);

/* rxd_loss_room - make room for one more packet.  Errors: -FI_ENOMEM. */
int rxd_loss_room(struct rxd_loss *loss);

/* rxd_loss_on_sent - packet number loss->next was sent.  Room was made. */
void rxd_loss_on_sent(struct rxd_loss *loss, const struct rxd_sent *sent);

/* rxd_loss_on_ack - numbers @lo .. @hi-1 are acknowledged.
 * Returns false when one of them was never sent: the ACK is not valid.
 */
bool rxd_loss_on_ack(struct rxd_loss *loss, uint64_t lo, uint64_t hi,
		     const struct rxd_loss_ops *ops, void *arg);

/* rxd_loss_sent_ns - when packet @pn was sent, while it is in flight and gives an RTT; else 0. */
uint64_t rxd_loss_sent_ns(const struct rxd_loss *loss, uint64_t pn);

/* rxd_loss_detect - after an ACK, or at lost_at_ns: declare packets lost. */
void rxd_loss_detect(struct rxd_loss *loss, uint64_t now, const struct rxd_rtt *rtt,
		     const struct rxd_loss_ops *ops, void *arg);

/* rxd_loss_all - everything in flight is declared lost (a black hole, another path). */
void rxd_loss_all(struct rxd_loss *loss, const struct rxd_loss_ops *ops, void *arg);

/* rxd_loss_unsent - packet @pn could not be sent.  Its number is used nevertheless, since it
 * may have been sent.   Returns what it had, or NULL.
 */
const struct rxd_sent *rxd_loss_unsent(struct rxd_loss *loss, uint64_t pn);

/* rxd_loss_probe_timeout - time without an ACK after which a probe is sent: doubled by each but
 * the first, up to about a second, so that a slow peer is reached before it is declared lost.
 * @peer_delay_ns: how long it may keep an acknowledgement that it is not asked for
 */
uint64_t rxd_loss_probe_timeout(const struct rxd_loss *loss, const struct rxd_rtt *rtt,
		       uint64_t peer_delay_ns);

/* rxd_loss_due - when rxd_loss_detect(), or (*@probe_p) a probe, is due.  0: never. */
uint64_t rxd_loss_due(const struct rxd_loss *loss, const struct rxd_rtt *rtt,
		      uint64_t peer_delay_ns, bool *probe_p);

/* rxd_loss_beside - bytes of the packet that was sent right before @pn and at the same time, if it is in flight and has
 * not waited; else 0.
 */
uint32_t rxd_loss_beside(const struct rxd_loss *loss, uint64_t pn);

/* rxd_loss_waited - what is in flight may have waited on the way: it gives no RTT. */
void rxd_loss_waited(struct rxd_loss *loss);

/* rxd_loss_idle - release memory if nothing is in flight. */
void rxd_loss_idle(struct rxd_loss *loss);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * ecn.h - ECN validation: does the path carry explicit congestion notification?  Pure.
 *
 * Some paths clear the codepoint, or set CE on every packet.  So the first few packets are
 * sent as ECT(0) on trial, and more only after the peer has counted what was sent.
 * The peer's counts are modulo 2^16, of numbered packets that it received.
 * Source: RFC 9000 section 13.4 and appendix A.4.
 */
#ifndef RXD_ECN_H
#define RXD_ECN_H

#include <stdbool.h>
#include <stdint.h>

enum rxd_ecn_state {
	RXD_ECN_OFF,		/* disabled, or validation has failed */
	RXD_ECN_TRY,		/* testing: the first packets are marked */
	RXD_ECN_WAIT,		/* unknown: they were, and their ACKs decide */
	RXD_ECN_GOOD,		/* capable */
};

#define RXD_ECN_TRIES 10	/* packets that are marked on trial */

struct rxd_ecn {
	uint8_t state;		/* enum rxd_ecn_state */
	uint8_t tried, lost;	/* packets on trial, and those of them that were lost */
	bool ect_seen;		/* one arrived as ECT(0) */
	uint16_t ect, ce;	/* the peer's counts in its last ACK */
	uint32_t marked;	/* packets sent as ECT(0), modulo 2^32 */
	uint32_t seen;		/* packets that the peer has counted */
};

/* rxd_ecn_init - @on: the sockets at this end support it. */
void rxd_ecn_init(struct rxd_ecn *ecn, bool on);

/* rxd_ecn_new_path - validate another path; the peer's counts continue. */
void rxd_ecn_new_path(struct rxd_ecn *ecn, bool on);

/* rxd_ecn_wanted - is the next packet marked? */
static inline bool rxd_ecn_wanted(const struct rxd_ecn *ecn)
{
	return ecn->state == RXD_ECN_GOOD || ecn->state == RXD_ECN_TRY;
}

/* rxd_ecn_sent - a packet was sent as ECT(0). */
void rxd_ecn_sent(struct rxd_ecn *ecn);

/* rxd_ecn_lost - such a packet is declared lost. */
void rxd_ecn_lost(struct rxd_ecn *ecn);

/* rxd_ecn_timeout - probe timeouts without any ACK: perhaps the path drops marked packets.
 * Returns true when marking is disabled by this.
 */
bool rxd_ecn_timeout(struct rxd_ecn *ecn);

/* rxd_ecn_on_ack - an ACK with a higher number than all before.
 *
 * @marked:  ECT(0) packets that it acknowledges for the first time
 * @ect, @ce: its counts
 * @off_p:  [out] true: they are impossible, marking is disabled from now on
 * Returns true when new CE marks are reported.
 */
bool rxd_ecn_on_ack(struct rxd_ecn *ecn, unsigned marked, uint16_t ect, uint16_t ce,
		    bool *off_p);

#endif

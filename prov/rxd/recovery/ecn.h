/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * ecn.h - may packets be marked, so that a long queue says so before it drops?  Pure.
 *
 * Paths that clear marks, or set them on everything, are found out: the first few
 * packets are marked, and more only after the peer has counted what it should have.
 * The peer's counts are modulo 2^16, of numbered packets that it took.
 * Source: RFC 9000 section 13.4 and appendix A.4.
 */
#ifndef RXD_ECN_H
#define RXD_ECN_H

#include <stdbool.h>
#include <stdint.h>

enum rxd_ecn_state {
	RXD_ECN_OFF,		/* not wanted, or the path cannot be trusted with it */
	RXD_ECN_TRY,		/* the first packets are marked */
	RXD_ECN_WAIT,		/* they were; what has become of them? */
	RXD_ECN_GOOD,
};

#define RXD_ECN_TRIES 10	/* packets that are marked on trial */

struct rxd_ecn {
	uint8_t state;		/* enum rxd_ecn_state */
	uint8_t tried, lost;	/* packets on trial, and those of them that were lost */
	bool calm;		/* one came through without a long queue */
	uint16_t ect, ce;	/* the peer's counts, as last heard */
	uint32_t marked;	/* packets that left with a mark, modulo 2^32 */
	uint32_t seen;		/* that the peer has counted */
};

/* rxd_ecn_init - @on: the sockets can do it, at this end. */
void rxd_ecn_init(struct rxd_ecn *ecn, bool on);

/* rxd_ecn_anew - the path is another one: what the peer has counted stays. */
void rxd_ecn_anew(struct rxd_ecn *ecn, bool on);

/* rxd_ecn_wanted - is the next packet marked? */
static inline bool rxd_ecn_wanted(const struct rxd_ecn *ecn)
{
	return ecn->state == RXD_ECN_GOOD || ecn->state == RXD_ECN_TRY;
}

/* rxd_ecn_sent - a packet left with a mark. */
void rxd_ecn_sent(struct rxd_ecn *ecn);

/* rxd_ecn_lost - a marked packet is taken for lost. */
void rxd_ecn_lost(struct rxd_ecn *ecn);

/* rxd_ecn_silence - nothing comes back at all: maybe because of the marks.
 * Returns true when they are off now and were not.
 */
bool rxd_ecn_silence(struct rxd_ecn *ecn);

/* rxd_ecn_on_ack - an acknowledgement that goes further than all before.
 *
 * @marked:  packets with a mark that it acknowledges for the first time
 * @ect, @ce: its counts
 * @off_p:  [out] true: they cannot be, marking is off from now on
 * Returns true when a queue on the way is long.
 */
bool rxd_ecn_on_ack(struct rxd_ecn *ecn, unsigned marked, uint16_t ect, uint16_t ce,
		    bool *off_p);

#endif

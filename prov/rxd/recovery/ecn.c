/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * ecn.c - validation of a path in three steps: the first packets are marked, then none until their
 * ACKs have arrived, then all, as long as the peer's counts agree with what was sent.
 * Source: RFC 9000 section 13.4.2 and appendix A.4.
 */
#include "ecn.h"

#include <assert.h>

#define BIT(state) (1u << (state))

/* The legal edges.  Only another path leads out of OFF. */
static void ecn_set_state(struct rxd_ecn *ecn, enum rxd_ecn_state state)
{
	static const unsigned edges[] __attribute__((unused)) = {
		[RXD_ECN_OFF] = 0,
		[RXD_ECN_TRY] = BIT(RXD_ECN_WAIT) | BIT(RXD_ECN_GOOD) | BIT(RXD_ECN_OFF),
		[RXD_ECN_WAIT] = BIT(RXD_ECN_GOOD) | BIT(RXD_ECN_OFF),
		[RXD_ECN_GOOD] = BIT(RXD_ECN_OFF),
	};

	assert(edges[ecn->state] & BIT(state) && "validation goes forward");
	ecn->state = state;
}

void rxd_ecn_init(struct rxd_ecn *ecn, bool on)
{
	*ecn = (struct rxd_ecn) { .state = on ? RXD_ECN_TRY : RXD_ECN_OFF };
}

/* Counts are of the connection, and continue; only the path is tried again. */
void rxd_ecn_new_path(struct rxd_ecn *ecn, bool on)
{
	struct rxd_ecn was = *ecn;

	rxd_ecn_init(ecn, on);
	ecn->ect = was.ect;
	ecn->ce = was.ce;
	ecn->marked = was.marked;
	ecn->seen = was.seen;
}

void rxd_ecn_sent(struct rxd_ecn *ecn)
{
	ecn->marked++;
	if (ecn->state == RXD_ECN_TRY && ++ecn->tried == RXD_ECN_TRIES)
		ecn_set_state(ecn, RXD_ECN_WAIT);
}

static bool on_trial(const struct rxd_ecn *ecn)
{
	return ecn->state == RXD_ECN_TRY || ecn->state == RXD_ECN_WAIT;
}

/* All packets of the trial were lost: the path drops what is marked. */
void rxd_ecn_lost(struct rxd_ecn *ecn)
{
	if (on_trial(ecn) && ++ecn->lost == RXD_ECN_TRIES)
		ecn_set_state(ecn, RXD_ECN_OFF);
}

bool rxd_ecn_timeout(struct rxd_ecn *ecn)
{
	if (!on_trial(ecn))
		return false;
	ecn_set_state(ecn, RXD_ECN_OFF);
	return true;
}

/* is_wrong - fewer marks counted than acknowledged: the path clears them.  More than were sent:
 * the path sets them.  CE on all packets of the trial: not set by a queue.
 */
static bool is_wrong(const struct rxd_ecn *ecn, unsigned marked, unsigned counted)
{
	return counted < marked || (int32_t) (ecn->seen - ecn->marked) > 0 ||
	       (!ecn->ect_seen && ecn->seen >= RXD_ECN_TRIES);
}

bool rxd_ecn_on_ack(struct rxd_ecn *ecn, unsigned marked, uint16_t ect, uint16_t ce,
		    bool *off_p)
{
	unsigned more_ect = (uint16_t) (ect - ecn->ect), more_ce = (uint16_t) (ce - ecn->ce);

	*off_p = false;
	if (ecn->state == RXD_ECN_OFF)
		return false;
	ecn->ect = ect;
	ecn->ce = ce;
	ecn->seen += more_ect + more_ce;
	ecn->ect_seen |= more_ect > 0;
	if (is_wrong(ecn, marked, more_ect + more_ce)) {
		ecn_set_state(ecn, RXD_ECN_OFF);
		*off_p = true;
		return false;
	}
	if (on_trial(ecn) && ecn->ect_seen)
		ecn_set_state(ecn, RXD_ECN_GOOD);
	return more_ce > 0;
}

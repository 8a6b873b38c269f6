/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * mtu.h - path MTU discovery by packets of different size.  Pure.
 *
 * The search begins with the largest size that both ends support, which passes on loopback, on
 * a LAN and with jumbo frames; then common sizes are probed, then the interval is halved.  When
 * a path drops a size that used to pass (a black hole), the search begins again.
 * Source: RFC 8899.
 */
#ifndef RXD_MTU_H
#define RXD_MTU_H

#include <stdbool.h>
#include <stdint.h>

struct rxd_mtu {
	uint32_t now;		/* known to pass */
	uint32_t base;		/* assumed to pass anywhere */
	uint32_t most;		/* the largest to probe */
	uint32_t bad;		/* shortest that is known not to pass; 0: none */
	uint32_t probe;		/* size of the probe in flight; 0: none */
	uint8_t fails : 4;	/* probes of this size that were lost */
	uint8_t missed : 2;	/* rxd_mtu_missed() since a packet above base was acknowledged */
	bool stuck : 1;		/* only short packets are acknowledged, since stuck_tick */
	bool stuck_told : 1;	/* rxd_mtu_stuck() has returned true since then */
	uint16_t stuck_tick;	/* of RXD_MTU_TICK_NS, modulo 2^16 */
	uint64_t again_ns;	/* when to search again; 0: the search is not complete */
};

#define RXD_MTU_TRIES 2
#define RXD_MTU_TRIES_LOSSY 6
#define RXD_MTU_MISSED 3
_Static_assert(RXD_MTU_TRIES_LOSSY < 16 && RXD_MTU_MISSED < 4, "counted in 4 and 2 bits");
#define RXD_MTU_STEP 32		/* the search ends when so close */
#define RXD_MTU_AGAIN_NS UINT64_C(600000000000)
#define RXD_MTU_TICK_NS UINT64_C(100000000)
#define RXD_MTU_STUCK_TICKS 30	/* in which a lossy path carries one long packet at least */

void rxd_mtu_init(struct rxd_mtu *mtu, uint32_t base, uint32_t most);

/* rxd_mtu_wanted - the size of a probe to send now, or 0. */
uint32_t rxd_mtu_wanted(struct rxd_mtu *mtu, uint64_t now);

/* rxd_mtu_sent - it was sent. */
void rxd_mtu_sent(struct rxd_mtu *mtu, uint32_t size);

/* rxd_mtu_passed - a packet of @size was acknowledged.  Returns true when mtu->now has changed. */
bool rxd_mtu_passed(struct rxd_mtu *mtu, uint32_t size);

/* rxd_mtu_lost - the probe of @size was lost.
 * @lossy: so are many packets on this path
 */
void rxd_mtu_lost(struct rxd_mtu *mtu, uint32_t size, bool lossy);

/* rxd_mtu_missed - a short packet was acknowledged, and one of @size, sent at the same time, was not.  While none is
 * acknowledged, nothing is known of long ones.  Returns true when so many in a row show a black hole: mtu->now is
 * base, and the search begins again.
 */
bool rxd_mtu_missed(struct rxd_mtu *mtu, uint32_t size);

/* rxd_mtu_stuck - an ACK has arrived while data is in flight.
 * @data: it is of data, too, and not of short packets alone
 * Returns true, once, when for RXD_MTU_STUCK_TICKS there were only those of short packets: the path does
 * not carry even base.
 */
bool rxd_mtu_stuck(struct rxd_mtu *mtu, bool data, uint64_t now);

/* rxd_mtu_refused - the system does not send @size.  Returns true when mtu->now has changed. */
bool rxd_mtu_refused(struct rxd_mtu *mtu, uint32_t size);

/* rxd_mtu_acked - a packet longer than base was acknowledged. */
static inline void rxd_mtu_acked(struct rxd_mtu *mtu)
{
	mtu->missed = 0;
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * mtu.h - how long a datagram may be on this path.  Pure.
 *
 * The search begins with the most that both ends can take, because on loopback, on
 * a LAN and with jumbo frames that is right; then come the usual
 * ones, then it halves the interval.  A path
 * that swallows what it used to carry (a black hole) is begun anew.
 * Source: RFC 8899.
 */
#ifndef RXD_MTU_H
#define RXD_MTU_H

#include <stdbool.h>
#include <stdint.h>

struct rxd_mtu {
	uint32_t now;		/* known to pass */
	uint32_t base;		/* assumed to pass anywhere */
	uint32_t most;		/* no more is tried */
	uint32_t bad;		/* shortest that is known not to pass; 0: none */
	uint32_t probe;		/* size under way; 0: none */
	uint8_t fails;		/* probes of this size that were lost */
	uint8_t silent;		/* probe timeouts with packets above base out, since one was acknowledged */
	uint64_t again_ns;	/* search anew at this time; 0: the search is not over */
};

#define RXD_MTU_TRIES 2
#define RXD_MTU_TRIES_LOSSY 6
#define RXD_MTU_SILENT 3
#define RXD_MTU_STEP 32		/* the search ends when so close */
#define RXD_MTU_AGAIN_NS UINT64_C(600000000000)

void rxd_mtu_init(struct rxd_mtu *mtu, uint32_t base, uint32_t most);

/* rxd_mtu_wanted - the size of a probe to send now, or 0. */
uint32_t rxd_mtu_wanted(struct rxd_mtu *mtu, uint64_t now);

/* rxd_mtu_sent - it left. */
void rxd_mtu_sent(struct rxd_mtu *mtu, uint32_t size);

/* rxd_mtu_passed - @size arrived.  Returns true when mtu->now has changed. */
bool rxd_mtu_passed(struct rxd_mtu *mtu, uint32_t size);

/* rxd_mtu_lost - the probe of @size did not.
 * @lossy: on this path that may be chance
 */
void rxd_mtu_lost(struct rxd_mtu *mtu, uint32_t size, bool lossy);

/* rxd_mtu_silence - a probe timeout while a packet of @size was out. */
void rxd_mtu_silence(struct rxd_mtu *mtu, uint32_t size);

/* rxd_mtu_hole - a short packet got through that had left behind one of @size that is still
 * out.  Returns true when after so much silence the path is taken for a black hole:
 * mtu->now is base, and the search begins anew.
 */
bool rxd_mtu_hole(struct rxd_mtu *mtu, uint32_t size);

/* rxd_mtu_refused - the system itself will not send @size.  Returns true when mtu->now has changed. */
bool rxd_mtu_refused(struct rxd_mtu *mtu, uint32_t size);

/* rxd_mtu_heard - a packet longer than base was acknowledged. */
static inline void rxd_mtu_heard(struct rxd_mtu *mtu)
{
	mtu->silent = 0;
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "mtu.h"

#include <stddef.h>

void rxd_mtu_init(struct rxd_mtu *mtu, uint32_t base, uint32_t most)
{
	*mtu = (struct rxd_mtu) { .now = base, .base = base, .most = most };
}

/* Common path MTUs, less the headers of UDP and of the provider below, over IPv4 and IPv6:
 * jumbo frames, Ethernet, a tunnel within it, the minimum of IPv6.
 */
static const uint16_t common[] = { 8956, 8936, 1456, 1436, 1376, 1212 };

/* mtu_candidate - the size to probe next: the largest, then common sizes that are not excluded yet,
 * then the middle of what is left; 0 when the search is complete.
 */
static uint32_t mtu_candidate(const struct rxd_mtu *mtu)
{
	size_t i;

	if (mtu->now >= mtu->most)
		return 0;
	if (!mtu->bad)
		return mtu->most;
	for (i = 0; i < sizeof(common) / sizeof(*common) && common[i] > mtu->now; i++)
		if (common[i] < mtu->bad)
			return common[i];
	return mtu->bad > mtu->now + RXD_MTU_STEP ? mtu->now + (mtu->bad - mtu->now) / 2 : 0;
}

static void mtu_exclude(struct rxd_mtu *mtu, uint32_t size)
{
	mtu->bad = size;
	mtu->fails = 0;
}

/* One probe at a time.  A search that is complete is repeated later: the path may have changed. */
uint32_t rxd_mtu_wanted(struct rxd_mtu *mtu, uint64_t now)
{
	if (mtu->now >= mtu->most || mtu->probe)
		return 0;
	if (mtu->again_ns && now >= mtu->again_ns) {
		mtu->again_ns = 0;
		mtu->bad = 0;
	}
	if (!mtu_candidate(mtu) && !mtu->again_ns)
		mtu->again_ns = now + RXD_MTU_AGAIN_NS;
	return mtu_candidate(mtu);
}

void rxd_mtu_sent(struct rxd_mtu *mtu, uint32_t size)
{
	mtu->probe = size;
}

bool rxd_mtu_passed(struct rxd_mtu *mtu, uint32_t size)
{
	if (size == mtu->probe)
		mtu->probe = 0;
	if (size <= mtu->now)
		return false;
	mtu->now = size;
	mtu->fails = 0;
	mtu->missed = 0;
	return true;
}

/* A single loss proves nothing: the probe may have been lost to congestion. */
void rxd_mtu_lost(struct rxd_mtu *mtu, uint32_t size, bool lossy)
{
	if (size != mtu->probe)
		return;
	mtu->probe = 0;
	if (++mtu->fails >= (lossy ? RXD_MTU_TRIES_LOSSY : RXD_MTU_TRIES))
		mtu_exclude(mtu, size);
}

/* fall_back - begin the search again.  @bad: a size that surely does not pass, or 0 */
static void fall_back(struct rxd_mtu *mtu, uint32_t bad)
{
	mtu->now = mtu->base;
	mtu->missed = 0;
	mtu->probe = 0;
	mtu->again_ns = 0;
	mtu_exclude(mtu, bad);
}

/* One longer than now is a probe, whose loss is expected. */
bool rxd_mtu_missed(struct rxd_mtu *mtu, uint32_t size)
{
	if (size <= mtu->base || size > mtu->now || ++mtu->missed < RXD_MTU_MISSED)
		return false;
	fall_back(mtu, 0);
	return true;
}

bool rxd_mtu_stuck(struct rxd_mtu *mtu, bool data, uint64_t now)
{
	uint16_t tick = (uint16_t) (now / RXD_MTU_TICK_NS);

	if (data || !mtu->stuck) {
		mtu->stuck = !data;
		mtu->stuck_told = false;
		mtu->stuck_tick = tick;
		return false;
	}
	if (mtu->stuck_told || mtu->now > mtu->base || (uint16_t) (tick - mtu->stuck_tick) < RXD_MTU_STUCK_TICKS)
		return false;
	mtu->stuck_told = true;
	return true;
}

/* The system knows the MTU of the interface or of the route: no probe above it can pass. */
bool rxd_mtu_refused(struct rxd_mtu *mtu, uint32_t size)
{
	bool falls = mtu->now >= size;

	if (size <= mtu->base)
		return false;
	mtu->most = size - 1;
	mtu->probe = 0;
	if (falls)
		fall_back(mtu, size);
	else
		mtu_exclude(mtu, size);
	return falls;
}

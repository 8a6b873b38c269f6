/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * clock.h - the only place that reads the time.
 *
 * Protocol state takes @now as a parameter; this is for the outermost callers.
 * Units: nanoseconds since an arbitrary start, monotonic.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define CLOCK_NS_PER_MS UINT64_C(1000000)
#define CLOCK_NS_PER_S UINT64_C(1000000000)

static inline uint64_t clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t) ts.tv_sec * CLOCK_NS_PER_S + (uint64_t) ts.tv_nsec;
}

/* clock_coarse_ns - the same, a tick (some 4 ms) behind at most, for a few ns. */
static inline uint64_t clock_coarse_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
	return (uint64_t) ts.tv_sec * CLOCK_NS_PER_S + (uint64_t) ts.tv_nsec;
}

/* clock_ms_left - what a poll(2) style timeout still has at @now.
 *
 * @deadline_ns: 0 means for ever.
 * Returns -1 for ever, 0 when it has passed, else milliseconds rounded up.
 */
static inline int clock_ms_left(uint64_t deadline_ns, uint64_t now)
{
	uint64_t ms;

	if (!deadline_ns)
		return -1;
	if (now >= deadline_ns)
		return 0;
	ms = (deadline_ns - now - 1) / CLOCK_NS_PER_MS + 1;	/* a sum before the division may wrap */
	return ms > 0x7fffffff ? 0x7fffffff : (int) ms;
}

/* clock_deadline - absolute form of a timeout in ms; negative is for ever (0). */
static inline uint64_t clock_deadline(int timeout_ms)
{
	return timeout_ms < 0 ? 0 : clock_ns() + (uint64_t) timeout_ms * CLOCK_NS_PER_MS;
}

#endif

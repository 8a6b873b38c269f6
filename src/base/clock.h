/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * clock.h - the only place that reads the time.
 *
 * Protocol state takes @now as a parameter; only the outermost callers read the clock.
 * Units: nanoseconds, monotonic, from an arbitrary origin.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define CLOCK_NS_PER_US UINT64_C(1000)
#define CLOCK_NS_PER_MS UINT64_C(1000000)
#define CLOCK_NS_PER_S UINT64_C(1000000000)

static inline uint64_t clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t) ts.tv_sec * CLOCK_NS_PER_S + (uint64_t) ts.tv_nsec;
}

/* clock_thread_ns - processor time of this thread. */
static inline uint64_t clock_thread_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t) ts.tv_sec * CLOCK_NS_PER_S + (uint64_t) ts.tv_nsec;
}

/* clock_coarse_ns - the coarse monotonic clock: cheaper to read, up to one tick (about 4 ms)
 * behind.
 */
static inline uint64_t clock_coarse_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
	return (uint64_t) ts.tv_sec * CLOCK_NS_PER_S + (uint64_t) ts.tv_nsec;
}

/* clock_cycles - a counter of the processor: the cheapest way to compare two short durations.
 * Its unit is unknown, and it may differ a little between processors.
 */
static inline uint64_t clock_cycles(void)
{
#if defined(__x86_64__) || defined(__i386__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t cycles;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(cycles));
	return cycles;
#else
	return clock_ns();
#endif
}

/* clock_cycles_in_ms - how many of these a millisecond has: where the processor does not say, about as
 * many as at 2 GHz.
 */
static inline uint64_t clock_cycles_in_ms(void)
{
#if defined(__x86_64__) || defined(__i386__)
	return 1u << 21;
#elif defined(__aarch64__)
	uint64_t hz;

	__asm__("mrs %0, cntfrq_el0" : "=r"(hz));
	return hz / 1000;
#else
	return CLOCK_NS_PER_MS;
#endif
}

/* clock_ms_left - milliseconds left of a poll(2)-style timeout at @now.
 * @deadline_ns: absolute; 0 means no timeout
 * Returns -1 for no timeout, 0 when the deadline has passed, else milliseconds rounded up.
 */
static inline int clock_ms_left(uint64_t deadline_ns, uint64_t now)
{
	uint64_t ms;

	if (!deadline_ns)
		return -1;
	if (now >= deadline_ns)
		return 0;
	ms = (deadline_ns - now - 1) / CLOCK_NS_PER_MS + 1;	/* subtract before adding: a sum
								 * could wrap */
	return ms > 0x7fffffff ? 0x7fffffff : (int) ms;
}

/* clock_deadline - absolute deadline of a timeout in ms; a negative timeout is none and gives 0. */
static inline uint64_t clock_deadline(int timeout_ms)
{
	return timeout_ms < 0 ? 0 : clock_ns() + (uint64_t) timeout_ms * CLOCK_NS_PER_MS;
}

/* clock_earlier - lower *@due_ns to @when_ns. */
static inline void clock_earlier(uint64_t *due_ns, uint64_t when_ns)
{
	if (when_ns < *due_ns)
		*due_ns = when_ns;
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * timer.h - callbacks at a time, earliest first.
 *
 * A binary heap of pointers.  timers_join() reserves the space, so that timer_set() cannot
 * fail.  Reads no clock.  Threading: the owner's lock.
 * Units: nanoseconds.      Cost: O(log n) to set; O(1) to read the earliest.
 */
#ifndef BASE_TIMER_H
#define BASE_TIMER_H

#include <stddef.h>
#include <stdint.h>

struct timer {
	uint64_t due_ns;
	size_t at;		/* position in the heap, from 1; 0: not set */
	void (*fire)(struct timer *timer, uint64_t now);
};

struct timers {
	struct timer **heap;	/* [1] to [cnt] */
	size_t cnt;
	unsigned room;
	size_t owners;
};

void timers_init(struct timers *timers);
void timers_fini(struct timers *timers);

/* timers_join - reserve space for one more timer.  Errors: -FI_ENOMEM. */
int timers_join(struct timers *timers);
/* timers_leave - release the space of one timer; @timer is unset first. */
void timers_leave(struct timers *timers);

/* timer_set - fire at the first timers_fire() at or after @due_ns; replaces what was set. */
void timer_set(struct timers *timers, struct timer *timer, uint64_t due_ns);
void timer_off(struct timers *timers, struct timer *timer);

/* timers_fire - call each timer that is due at @now.  A timer is unset when it fires and may be
 * set again.
 * Returns how many fired.  A timer that sets itself to a time not after @now waits for the next
 * timers_fire().
 */
int timers_fire(struct timers *timers, uint64_t now);

/* timers_next - the earliest due time, or UINT64_MAX. */
static inline uint64_t timers_next(const struct timers *timers)
{
	return timers->cnt ? timers->heap[1]->due_ns : UINT64_MAX;
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "base/timer.h"

#include <rdma/fi_errno.h>
#include <stdlib.h>

#include "base/array.h"

void timers_init(struct timers *timers)
{
	*timers = (struct timers) { 0 };
}

void timers_fini(struct timers *timers)
{
	free(timers->heap);
	timers_init(timers);
}

int timers_join(struct timers *timers)
{
	int ret = array_reserve(&timers->heap, timers->owners + 1, &timers->room, sizeof(*timers->heap));

	timers->owners += !ret;
	return ret;
}

void timers_leave(struct timers *timers)
{
	timers->owners--;
}

static void heap_put(struct timers *timers, struct timer *timer, size_t at)
{
	timers->heap[at] = timer;
	timer->at = at;
}

static void heap_rise(struct timers *timers, struct timer *timer, size_t at)
{
	for (; at > 1 && timers->heap[at / 2]->due_ns > timer->due_ns; at /= 2)
		heap_put(timers, timers->heap[at / 2], at);
	heap_put(timers, timer, at);
}

static void heap_sink(struct timers *timers, struct timer *timer, size_t at)
{
	size_t child;

	while ((child = 2 * at) <= timers->cnt) {
		if (child < timers->cnt &&
		    timers->heap[child + 1]->due_ns < timers->heap[child]->due_ns)
			child++;
		if (timers->heap[child]->due_ns >= timer->due_ns)
			break;
		heap_put(timers, timers->heap[child], at);
		at = child;
	}
	heap_put(timers, timer, at);
}

void timer_set(struct timers *timers, struct timer *timer, uint64_t due_ns)
{
	uint64_t was = timer->due_ns;

	timer->due_ns = due_ns;
	if (!timer->at)
		heap_rise(timers, timer, ++timers->cnt);
	else if (due_ns < was)
		heap_rise(timers, timer, timer->at);
	else
		heap_sink(timers, timer, timer->at);
}

void timer_off(struct timers *timers, struct timer *timer)
{
	struct timer *last;
	size_t at = timer->at;

	if (!at)
		return;
	timer->at = 0;
	last = timers->heap[timers->cnt--];
	if (last == timer)
		return;
	if (at > 1 && timers->heap[at / 2]->due_ns > last->due_ns)
		heap_rise(timers, last, at);
	else
		heap_sink(timers, last, at);
}

int timers_fire(struct timers *timers, uint64_t now)
{
	size_t most = timers->cnt;
	struct timer *timer;
	int done = 0;

	while (most-- && timers_next(timers) <= now) {
		timer = timers->heap[1];
		timer_off(timers, timer);
		timer->fire(timer, now);
		done++;
	}
	return done;
}

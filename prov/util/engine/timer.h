/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * timer.h - a link's timeouts: a list in the order in which they are due.
 */
#ifndef ENG_TIMER_H
#define ENG_TIMER_H

#include "base/clock.h"
#include "base/list.h"
#include "obj/prog.h"

struct eng_timer {
	struct list node;	/* on a list of timers, or on none */
	uint64_t due_ns;
	void (*fire)(struct eng_timer *timer, uint64_t now);
};

static inline void eng_timer_init(struct eng_timer *timer,
				  void (*fire)(struct eng_timer *, uint64_t now))
{
	list_init(&timer->node);
	timer->fire = fire;
}

static inline void eng_timer_off(struct eng_timer *timer)
{
	list_del(&timer->node);
}

/* eng_timer_set - call timer->fire in the first poll at or after @due_ns (0: the next
 * one).  Replaces an earlier setting.  A sleeper of @prog wakes by then.
 * Cost: timeouts are mostly of one length, so the place is found at the list's end.
 */
static inline void eng_timer_set(struct list *timers, struct obj_prog *prog,
				 struct eng_timer *timer, uint64_t due_ns)
{
	struct list *pos;

	list_del(&timer->node);
	timer->due_ns = due_ns;
	for (pos = timers->prev; pos != timers; pos = pos->prev)
		if (container_of(pos, struct eng_timer, node)->due_ns <= due_ns)
			break;
	list_add(&timer->node, pos);
	obj_prog_moved(prog, due_ns);
}

/* eng_timer_next - when the first one is due; UINT64_MAX: there is none. */
static inline uint64_t eng_timer_next(const struct list *timers)
{
	return list_empty(timers) ? UINT64_MAX :
	       container_of(timers->next, struct eng_timer, node)->due_ns;
}

/* eng_timer_run - fire what is due; each is off when it fires.  Returns how many. */
static inline int eng_timer_run(struct list *timers)
{
	uint64_t now = clock_ns();
	struct eng_timer *timer;
	int done = 0;

	while (eng_timer_next(timers) <= now) {
		timer = container_of(timers->next, struct eng_timer, node);
		list_del(&timer->node);
		timer->fire(timer, now);
		done++;
	}
	return done;
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "channel/poller.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"

int chan_poller_get(struct obj_prog *prog, const struct obj_poller_ops *ops, size_t size,
		    const struct fi_provider *prov, struct chan_poller **poller_p)
{
	struct chan_poller *poller;
	struct obj_poller *base;
	int ret = obj_prog_share(prog, ops, size, prov, &base);

	if (ret < 0)
		return ret;
	poller = container_of(base, struct chan_poller, base);
	*poller_p = poller;
	if (!ret)
		return 0;
	timers_init(&poller->timers);
	chan_poller_clock(poller, clock_ns);
	list_init(&poller->queued);
	list_init(&poller->dirty);
	list_init(&poller->failed);
	list_init(&poller->paused);
	return 1;
}

/* ---- time ------------------------------------------------------------------------------ */

void chan_poller_clock(struct chan_poller *poller, uint64_t (*clock)(void))
{
	poller->clock = clock;
	poller->read_ns = clock();
}

/* A thread that sleeps wakes when its first timer is due; if it is later than that by more than a step,
 * it was stopped, or slept for a part of the time only.
 */
void chan_poller_away(struct chan_poller *poller, uint64_t now)
{
	uint64_t due = timers_next(&poller->timers);

	if (poller->asleep && now - poller->away_ns - CHAN_STEP_NS <= due)
		return;
	poller->away_ns += now - poller->read_ns - CHAN_STEP_NS;
}

/* The time is read before the look: what arrives meanwhile may be left for the next poll. */
int chan_poller_timers(struct chan_poller *poller,
		       bool (*look)(struct chan_poller *poller, int *done_p))
{
	uint64_t now = chan_poller_now(poller);
	int done = 0;

	chan_poller_woken(poller);
	if (timers_next(&poller->timers) > now)
		return 0;
	if (!look(poller, &done) && ++poller->looks < CHAN_LOOKS_MAX)
		return done;
	poller->looks = 0;
	return done + timers_fire(&poller->timers, now);
}

/* It is at the beginning of what the transport has. */
void chan_poller_free(struct chan_poller *poller)
{
	timers_fini(&poller->timers);
	chan_holds_fini(&poller->holds);
	fdset_close(poller->base.fd);
	free(poller);
}

int chan_src_want(struct chan_poller *poller, struct chan_src *src, uint32_t events)
{
	int set = poller->base.fd, ret = 0;

	if (events == src->events)
		return 0;
	if (!events)
		fdset_remove(set, src->fd);
	else
		ret = src->events ? fdset_change(set, src->fd, events, src) : fdset_add(set, src->fd, events, src);
	if (ret)
		return ret;
	poller->src_cnt += (events != 0) - (src->events != 0);
	src->events = events;
	return 0;
}

int chan_poller_events(struct chan_poller *poller)
{
	struct fdset_event ev[CHAN_EVENTS_MAX];
	struct chan_src *src;
	int cnt, i;

	cnt = fdset_look(poller->base.fd, ev, CHAN_EVENTS_MAX);
	for (i = 0; i < cnt; i++) {
		src = ev[i].ptr;
		if (src->events)	/* else an earlier handler took it out of the set */
			src->event(src, ev[i].events);
	}
	return cnt > 0 ? cnt : 0;
}

/* ---- listening sockets --------------------------------------------------------------- */

static void listener_resume(struct timer *timer, uint64_t now)
{
	struct chan_listener *listener = container_of(timer, struct chan_listener, timer);

	if (chan_src_want(listener->poller, &listener->src, POLLIN))
		chan_listener_pause(listener);
}

int chan_listener_start(struct chan_listener *listener, struct chan_poller *poller,
			void (*event)(struct chan_src *src, uint32_t events))
{
	int ret = timers_join(&poller->timers);

	if (ret)
		return ret;
	listener->poller = poller;
	listener->src.event = event;
	listener->timer.fire = listener_resume;
	ret = chan_src_want(poller, &listener->src, POLLIN);
	if (ret)
		chan_listener_stop(listener);
	return ret;
}

/* Out of descriptors or memory: the socket stays readable, and would wake each poll in vain. */
void chan_listener_pause(struct chan_listener *listener)
{
	chan_src_want(listener->poller, &listener->src, 0);
	chan_poller_timer(listener->poller, &listener->timer,
			  chan_poller_now(listener->poller) + CHAN_LISTEN_PAUSE_MS * CLOCK_NS_PER_MS);
}

void chan_listener_stop(struct chan_listener *listener)
{
	if (!listener->poller)
		return;
	timer_off(&listener->poller->timers, &listener->timer);
	timers_leave(&listener->poller->timers);
	chan_src_want(listener->poller, &listener->src, 0);
	listener->poller = NULL;
}

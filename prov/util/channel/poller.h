/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * poller.h - what the pollers of all links have in common: timers, work lists, descriptors in
 * the set of the group, and whose poll it is.  A link's poller begins with struct
 * chan_poller.
 *
 * Threading: under the lock of the progress group.
 */
#ifndef CHAN_POLLER_H
#define CHAN_POLLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/list.h"
#include "base/timer.h"
#include "channel/hold.h"
#include "channel/park.h"
#include "progress/group.h"
#include "progress/fdset.h"

struct chan_poller {
	struct obj_poller base;		/* first */
	uint64_t seq;			/* number of this poll; sends compare it to see a burst */
	bool polling;			/* inside poll() */
	bool chores;			/* a timer is set, or a list below may not be empty */
	bool hold_connects;		/* attempts wait until something is there again */
	bool app_active;		/* the last poll was the application's own */
	uint64_t app_polls;		/* prog->polls at the last poll */
	unsigned connecting;		/* attempts in flight */
	unsigned connecting_max;	/* at a time; 0: no limit */
	unsigned src_cnt;		/* descriptors in the set */
	struct timers timers;		/* by chan_poller_now(); chan_poller_timers() fires them */
	uint64_t (*clock)(void);	/* the system's, in ns; the link may replace it at first */
	uint64_t read_ns;		/* what it said when it was read last */
	uint64_t away_ns;		/* how far chan_poller_now() is behind it */
	bool asleep;			/* since arm() a thread sleeps: what arrives wakes it */
	unsigned looks;			/* polls in a row that had a timer due, and did not see all */
	struct list queued;		/* struct chan by node: attempts that wait for their turn */
	struct list dirty;		/* the link's: connections with something to send */
	struct list failed;		/* the link's: connections whose end must be reported */
	struct list paused;		/* the link's: connections with a packet to be offered again */
	uint64_t resume_seq;		/* the first poll that does: see chan_poller_resumes() */
	size_t unexpected;		/* bytes of messages without a receive in this poll */
	uint64_t pulled;		/* held messages that have met a receive */
	struct chan_holds holds;	/* payload of unexpected packets: memory for the next */
	struct chan_park park;		/* of a link that parks; else zero */
};

/* A descriptor in the group's set, and its handler. */
struct chan_src {
	int fd;			/* -1: none */
	uint32_t events;	/* POLL* that are asked for; 0: not in the set */
	void (*event)(struct chan_src *src, uint32_t events);
};

/* chan_src_want - wait for @events (POLLIN, POLLOUT); 0: for none, not even errors.
 * Errors: those of fdset_add().   Cost: a system call where @events change.
 */
int chan_src_want(struct chan_poller *poller, struct chan_src *src, uint32_t events);

#define CHAN_EVENTS_MAX FDSET_EVENTS_MAX

/* chan_poller_events - ask the set, without blocking, and call event() of each source that has
 * events.  Returns how many had; CHAN_EVENTS_MAX: others may have some, too.
 */
int chan_poller_events(struct chan_poller *poller);

/* chan_poller_calls - so many calls of chan_poller_events() report all that have events by now, whatever
 * comes meanwhile: the set reports its descriptors in turn.
 */
static inline unsigned chan_poller_calls(const struct chan_poller *poller)
{
	return poller->src_cnt / CHAN_EVENTS_MAX + 1;
}

/* A listening socket, which can be paused while no descriptor or memory is left: connecting
 * peers wait in its backlog.
 */
struct chan_listener {
	struct chan_src src;		/* its socket, the link's */
	struct timer timer;		/* paused: until then */
	struct chan_poller *poller;	/* NULL: not started */
};

/* chan_listener_start - call @event for connections that can be accepted.
 * Errors: -FI_ENOMEM, of fdset_add(): it is not started.
 */
int chan_listener_start(struct chan_listener *listener, struct chan_poller *poller,
			void (*event)(struct chan_src *src, uint32_t events));

/* chan_listener_pause - no events for CHAN_LISTEN_PAUSE_MS. */
#define CHAN_LISTEN_PAUSE_MS 20
void chan_listener_pause(struct chan_listener *listener);

/* chan_listener_stop - no more events.  Nothing if it is not started. */
void chan_listener_stop(struct chan_listener *listener);

/* chan_poller_get - the group's poller of @size bytes, made on first use.
 * Returns 1: it is new, its lists and timers are initialised, the rest is zero; 0: it was
 * there; -FI_ENOMEM, -FI_EMFILE (logged).
 * Ownership: the group's; ops->close() frees it by chan_poller_free().
 */
int chan_poller_get(struct obj_prog *prog, const struct obj_poller_ops *ops, size_t size,
		    const struct fi_provider *prov, struct chan_poller **poller_p);

/* chan_poller_free - free what chan_poller_get() made, and close its descriptor. */
void chan_poller_free(struct chan_poller *poller);

/* ---- time ------------------------------------------------------------------------------ */

/* What has arrived counts before time does.  Two rules, for all links:
 *
 * - A timer fires only after everything that had arrived when it was due was looked at
 *   (chan_poller_timers()).
 * - Time in which the process does not look does not count: it computes, is stopped or swapped out.
 *   chan_poller_now() advances by CHAN_STEP_NS at most from one poll to the next, except while a
 *   thread sleeps on the descriptors, which is a way to look.  So no limit of a time passes in a
 *   pause, however long, and one that has begun goes on after it.
 */
#define CHAN_STEP_NS CLOCK_NS_PER_S

/* chan_poller_clock - replace the system's clock.  Before anything has a time. */
void chan_poller_clock(struct chan_poller *poller, uint64_t (*clock)(void));

/* chan_poller_away - the clock has advanced by more than CHAN_STEP_NS, to @now. */
void chan_poller_away(struct chan_poller *poller, uint64_t now);

/* chan_poller_now - the time by which all timers, and all limits of a time, are kept.
 * Units: ns
 */
static inline uint64_t chan_poller_now(struct chan_poller *poller)
{
	uint64_t now = poller->clock();

	if (__builtin_expect(now - poller->read_ns > CHAN_STEP_NS, 0))
		chan_poller_away(poller, now);
	poller->read_ns = now;
	return now - poller->away_ns;
}

/* chan_poller_due - when the first timer is due, by the system's clock: for ops->arm(). */
static inline uint64_t chan_poller_due(const struct chan_poller *poller)
{
	return poller->timers.cnt ? timers_next(&poller->timers) + poller->away_ns : UINT64_MAX;
}

/* chan_poller_sleep - ops->arm(): from now on a thread may sleep until @deadline_ns at the latest. */
static inline void chan_poller_sleep(struct chan_poller *poller, uint64_t *deadline_ns)
{
	poller->asleep = true;
	clock_earlier(deadline_ns, chan_poller_due(poller));
}

/* chan_poller_woken - ops->poll(): the caller does not sleep; another thread may, still. */
static inline void chan_poller_woken(struct chan_poller *poller)
{
	if (poller->asleep)
		poller->asleep = obj_prog_sleeps_inside(poller->base.prog);
}

/* chan_poller_timers - ops->poll(), while timers are set: fire those that are due.
 * @look: looks at all that has arrived: sockets, rings, datagrams, events.  Returns false if more
 *        may be there.  Then the timers wait for the next poll, but for CHAN_LOOKS_MAX polls at most:
 *        no queue holds more.  Adds what it has done to *done_p.
 * Returns what was done.
 */
#define CHAN_LOOKS_MAX 256
int chan_poller_timers(struct chan_poller *poller,
		       bool (*look)(struct chan_poller *poller, int *done_p));

/* chan_poller_begin - a poll begins.  With the progress thread alone, what is sent must
 * leave at once; where the application polls, a burst may wait for its next poll.
 */
static inline void chan_poller_begin(struct chan_poller *poller)
{
	uint64_t polls = atomic_load_explicit(&poller->base.prog->polls, memory_order_relaxed);

	poller->seq++;
	poller->app_active = polls != poller->app_polls;
	poller->app_polls = polls;
	poller->polling = true;
	poller->unexpected = 0;
}

/* Receives that the program posts between two polls spare the copy of an unexpected message, and
 * matching it in the order of posting.  A link that has read many messages at once therefore leaves
 * the rest of them to the next poll once chan_poller_is_full().
 */
#define CHAN_UNEXPECTED_MAX 4096	/* eight short ones: that poll costs less than the copy of one */
#define CHAN_UNEXPECTED_COST 512	/* of a message, beside its bytes */

/* chan_poller_unexpected - a message of @len bytes was held. */
static inline void chan_poller_unexpected(struct chan_poller *poller, size_t len)
{
	poller->unexpected += CHAN_UNEXPECTED_COST + len;
}

static inline bool chan_poller_is_full(const struct chan_poller *poller)
{
	return poller->unexpected >= CHAN_UNEXPECTED_MAX;
}

/* chan_poller_chore - the next poll has more to do than to look for what has come. */
static inline void chan_poller_chore(struct chan_poller *poller)
{
	poller->chores = true;
	obj_prog_moves(poller->base.prog);
}

/* chan_poller_kick - there is work that no descriptor shows: a sleeper must wake. */
static inline void chan_poller_kick(struct chan_poller *poller)
{
	chan_poller_chore(poller);
	if (__builtin_expect(poller->base.quiet, 0))
		obj_poller_set_quiet(&poller->base, false);
	if (!poller->polling)
		obj_prog_moved(poller->base.prog, 0);
}

/* chan_poller_dirty - a connection, by its @node, has something to send.  The program may have the completion
 * of it already, and make no further call: reading that completion polls once (obj_prog_staged()).
 */
static inline void chan_poller_dirty(struct chan_poller *poller, struct list *node)
{
	if (!list_empty(node))
		return;
	list_add_tail(node, &poller->dirty);
	chan_poller_kick(poller);
	if (!poller->polling)
		obj_prog_staged(poller->base.prog);
}

/* chan_poller_timer - timer->fire is called in the first poll at or after @due_ns of
 * chan_poller_now() (0: the next one); a sleeper wakes by then.  The owner has joined
 * poller->timers.
 */
static inline void chan_poller_timer(struct chan_poller *poller, struct timer *timer,
				     uint64_t due_ns)
{
	chan_poller_chore(poller);
	if (!poller->timers.cnt) {	/* polls without timers do not read the clock */
		poller->asleep = false;
		chan_poller_now(poller);
	}
	timer_set(&poller->timers, timer, due_ns);
	obj_prog_moved(poller->base.prog, due_ns ? due_ns + poller->away_ns : 0);
}

/* chan_poller_drain - call @each for every item of @list; one that is added meanwhile
 * waits for the next poll.  Returns what the calls return, added up.
 */
static inline int chan_poller_drain(struct list *list, int (*each)(struct list *item))
{
	struct list now, *item;
	int done = 0;

	list_init(&now);
	list_splice_tail(list, &now);
	while ((item = list_pop(&now)))
		done += each(item);
	return done;
}

/* chan_poller_resumes - does this poll offer again what the engine had no memory for?  Every
 * CHAN_RESUME_EVERYth does, since each refusal costs the peers that have their share, and the first
 * one after a sleep, which chan_poller_arm_paused() keeps short.
 */
#define CHAN_RESUME_EVERY 16
#define CHAN_RESUME_NS CLOCK_NS_PER_MS

static inline bool chan_poller_resumes(struct chan_poller *poller)
{
	if (list_empty(&poller->paused) || poller->seq < poller->resume_seq)
		return false;
	poller->resume_seq = poller->seq + CHAN_RESUME_EVERY;
	return true;
}

/* chan_poller_resume_next - the next poll does. */
static inline void chan_poller_resume_next(struct chan_poller *poller)
{
	poller->resume_seq = poller->seq + 1;
}

static inline void chan_poller_arm_paused(struct chan_poller *poller, uint64_t now_ns,
					  uint64_t *deadline_ns)
{
	if (list_empty(&poller->paused))
		return;
	clock_earlier(deadline_ns, poller->resume_seq <= poller->seq + 1 ? now_ns :
									   now_ns + CHAN_RESUME_NS);
	poller->resume_seq = 0;
}

/* chan_poller_connects - is there an attempt that waits for its turn, and may be made? */
static inline bool chan_poller_connects(const struct chan_poller *poller)
{
	return !list_empty(&poller->queued) && !poller->hold_connects &&
	       (!poller->connecting_max || poller->connecting < poller->connecting_max);
}

/* chan_poller_next - make attempts that have waited, while they may be made. */
void chan_poller_next(struct chan_poller *poller);

#endif

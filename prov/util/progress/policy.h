/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * policy.h - what a thread that finds nothing does next: poll, yield, sleep, or look again after a tick.
 *
 * No clock is read here and nothing is called: the time, and what has been counted, are parameters.  All numbers
 * are in one table each at the beginning of policy.c.
 *
 * An answer of a peer on the same host takes less than a microsecond, waking a thread takes
 * several: so a thread that waits polls first.  Where the peer needs the same processor, polling
 * only delays it.  Two rules follow.
 *
 * A group that is polled in vain, by a thread that does nothing else, yields the processor.  If the last yield
 * took no time, no other thread wants to run, and the next one comes after FI_SPIN_US.  If others have run
 * meanwhile, it comes after a 64th of the time that they have taken: soon beside threads that poll and yield as
 * well, after FI_SPIN_US beside a program that computes.
 *
 * A thread that blocks polls for FI_SPIN_US before it sleeps.  A wait ends when something arrives, for whatever queue.
 * While it polls it yields once, to see whether others want the processor; after every few polls if they had it for a
 * short time in the last yield of the group.  Of the time of others little counts: a turn of each costs less than to
 * sleep and to be woken.  That does not hold where the others compute: then it sleeps, and the waits of the
 * group poll for a moment alone for a tenth of a second.
 */
#ifndef PROGRESS_POLICY_H
#define PROGRESS_POLICY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum obj_next {
	OBJ_NEXT_POLL,
	OBJ_NEXT_YIELD,
	OBJ_NEXT_SLEEP,		/* until there is something */
	OBJ_NEXT_TICK,		/* look again after a while */
};

/* ---- polls in vain ----------------------------------------------------------------- */

#define OBJ_IDLE_BLOCK 16	/* polls in vain between two reads of the clock */
#define OBJ_IDLE_OTHERS_NS 1000	/* a yield that takes longer has let another thread run */

/* Of a group.  Not in thread-local storage: a library that many programs load at run time has no room in the static
 * block, and the other kind costs a call in each poll.
 */
struct obj_idle {
	unsigned polls;		/* in vain, in a row */
	uint64_t since_ns;	/* when the row began, or the last yield in it ended, about */
	uint64_t last_ns;	/* the clock when last read */
	/* the last yield, of a thread that polls or of one that blocks: the latter does not have the group's lock */
	_Atomic uint64_t away_ns;	/* how long it took */
	_Atomic uint64_t back_ns;	/* when it ended */
	bool seldom;		/* the last block of polls in vain was not all that the thread did */
};

/* obj_idle_polled - a poll has found @done things.  Returns true if obj_idle_next() is to be
 * asked.
 */
static inline bool obj_idle_polled(struct obj_idle *idle, int done)
{
	if (done) {
		idle->polls = 0;
		return false;
	}
	return __builtin_expect(!(++idle->polls % OBJ_IDLE_BLOCK), 0);
}

/* obj_idle_end - the thread did not wait since its last poll. */
static inline void obj_idle_end(struct obj_idle *idle)
{
	idle->polls = 0;
}

/* obj_idle_next - a block of polls has found nothing: yield, or poll?
 * @now:      nanoseconds
 * @limit_ns: FI_SPIN_US
 */
enum obj_next obj_idle_next(struct obj_idle *idle, uint64_t now, uint64_t limit_ns);

/* obj_idle_back - the thread has yielded, and is back at @now. */
void obj_idle_back(struct obj_idle *idle, uint64_t now);

/* obj_idle_shares - have other threads run in the last yield of the group?  Then they take turns on this processor. */
static inline bool obj_idle_shares(const struct obj_idle *idle)
{
	return atomic_load_explicit(&idle->away_ns, memory_order_relaxed) > OBJ_IDLE_OTHERS_NS;
}

/* ---- blocking waits ------------------------------------------------------------------ */

/* The polling of one wait. */
struct obj_turns {
	uint64_t budget_ns;	/* of the thread's own time */
	uint64_t end_ns;	/* the deadline of the wait; UINT64_MAX: none */
	uint64_t last_ns;	/* the clock when last read */
	uint64_t own_ns;	/* for which the thread has run, about; a turn of others counts as ten microseconds */
	bool asked;		/* it has yielded once, to see whether others want the processor */
};

/* obj_spin_begin - a wait begins: poll, or sleep?
 * @idle:        of the group
 * @deadline_ns: of the wait; 0: none
 * @limit_ns:    FI_SPIN_US; 0: polling only keeps the processor from the others
 *
 * obj_spin_next - some polls of a wait have found nothing: poll, yield, or sleep?
 * obj_spin_back - it has yielded, and is back at @now.
 */
enum obj_next obj_spin_begin(const struct obj_idle *idle, struct obj_turns *turns, uint64_t now, uint64_t deadline_ns,
			     uint64_t limit_ns);
enum obj_next obj_spin_next(const struct obj_idle *idle, struct obj_turns *turns, uint64_t now);
void obj_spin_back(struct obj_idle *idle, struct obj_turns *turns, uint64_t now);

/* ---- looks of the progress thread ------------------------------------------------------ */

#define OBJ_TICK_MS 64		/* between two looks at a group that the program polls */

/* Of a group, as the progress thread knows it. */
struct obj_tick {
	uint64_t polls;		/* of the program, when last looked at */
	uint64_t left_ns;	/* when the group was left to the program; 0: not yet */
};

/* obj_tick_next - the progress thread looks at a group.  TICK: it is the program's until OBJ_TICK_MS after
 * tick->left_ns; SLEEP: its descriptors wake the thread; POLL: take the program's place, if no thread of it sleeps on
 * the group.  A look that comes earlier, because another group has woken the thread, takes no place.
 *
 * @now:      nanoseconds
 * @polls:    of the program, until now
 * @watching: the thread will be woken by the group's descriptors
 */
enum obj_next obj_tick_next(struct obj_tick *tick, uint64_t now, uint64_t polls, bool watching);

/* obj_tick_end_ns - when to look again after TICK. */
static inline uint64_t obj_tick_end_ns(const struct obj_tick *tick)
{
	return tick->left_ns + OBJ_TICK_MS * UINT64_C(1000000);
}

#endif

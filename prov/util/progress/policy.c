/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "progress/policy.h"

#include "base/clock.h"

/* All numbers of the policy.  "Source" is what was measured when the number was chosen; each with two processors.
 *
 * Polls in vain.  Source: README.md.
 */
enum {
	BLOCK_MAX_NS = OBJ_IDLE_BLOCK * 2 * CLOCK_NS_PER_US,	/* a block that takes longer is not all that the thread does */
	AWAY_SHARE = 64,	/* a part of the time that others have run: polls before the next yield */
	EAGER = 50,		/* FI_SPIN_US over the shortest time before a yield */
};

/* Blocking waits.  Source: ping-pong by fi_cq_sread, one way: shm 26.8 to 0.14 us, tcp 31 to 3.9; 4 threads in each of
 * two processes, shm: 3.5 to 1.5 us a round trip, 8 threads 6 to 3.5.
 */
enum {
	SPIN_MIN_NS = 12 * CLOCK_NS_PER_US,	/* a wait that polls at all does so for this long: a round trip over tcp is 8 */
	TURN_NS = 10 * CLOCK_NS_PER_US,	/* what a turn of others counts as, and the most that some polls do */
	AWAY_SOON_NS = CLOCK_NS_PER_MS,	/* threads that poll and yield need no longer for a turn each */
	BRIEF_NS = 100 * CLOCK_NS_PER_MS,	/* for which waits poll little after a longer yield: one is lost in so long */
};

/* last_away_ns - how long the last yield took. */
static uint64_t last_away_ns(const struct obj_idle *idle)
{
	return atomic_load_explicit(&idle->away_ns, memory_order_relaxed);
}

static void note_yield(struct obj_idle *idle, uint64_t away_ns, uint64_t now)
{
	atomic_store_explicit(&idle->away_ns, away_ns, memory_order_relaxed);
	atomic_store_explicit(&idle->back_ns, now, memory_order_relaxed);
}

/* ---- polls in vain ----------------------------------------------------------------- */

/* spin_ns - how long to poll before the next yield. */
static uint64_t spin_ns(const struct obj_idle *idle, uint64_t limit_ns)
{
	uint64_t share = last_away_ns(idle) / AWAY_SHARE;

	if (!obj_idle_shares(idle) || share > limit_ns)
		return limit_ns;
	return share > limit_ns / EAGER ? share : limit_ns / EAGER;
}

enum obj_next obj_idle_next(struct obj_idle *idle, uint64_t now, uint64_t limit_ns)
{
	bool first = idle->polls == OBJ_IDLE_BLOCK;	/* something was found since the last time */

	if (!first)
		idle->seldom = now - idle->last_ns > BLOCK_MAX_NS;
	if (first || idle->seldom)
		idle->since_ns = now;
	idle->last_ns = now;
	return now - idle->since_ns >= spin_ns(idle, limit_ns) ? OBJ_NEXT_YIELD : OBJ_NEXT_POLL;
}

void obj_idle_back(struct obj_idle *idle, uint64_t now)
{
	note_yield(idle, now - idle->last_ns, now);
	idle->since_ns = idle->last_ns = now;
}

/* ---- blocking waits ------------------------------------------------------------------ */

/* others_compute - has the last yield shown so, a short time ago? */
static bool others_compute(const struct obj_idle *idle, uint64_t now)
{
	return last_away_ns(idle) >= AWAY_SOON_NS &&
	       now - atomic_load_explicit(&idle->back_ns, memory_order_relaxed) < BRIEF_NS;
}

enum obj_next obj_spin_begin(const struct obj_idle *idle, struct obj_turns *turns, uint64_t now, uint64_t deadline_ns,
			     uint64_t limit_ns)
{
	bool brief = limit_ns > SPIN_MIN_NS && others_compute(idle, now);

	*turns = (struct obj_turns) {
		.last_ns = now,
		.budget_ns = brief ? SPIN_MIN_NS : limit_ns,
		.end_ns = deadline_ns ? deadline_ns : UINT64_MAX,
	};
	return turns->budget_ns ? OBJ_NEXT_POLL : OBJ_NEXT_SLEEP;
}

/* spin_yields - is it time to? */
static bool spin_yields(const struct obj_idle *idle, struct obj_turns *turns)
{
	if (obj_idle_shares(idle) && last_away_ns(idle) < AWAY_SOON_NS)
		return true;
	/* a system call in each wait would be felt */
	if (turns->asked || turns->own_ns < SPIN_MIN_NS)
		return false;
	turns->asked = true;
	return true;
}

enum obj_next obj_spin_next(const struct obj_idle *idle, struct obj_turns *turns, uint64_t now)
{
	uint64_t took = now - turns->last_ns;

	turns->own_ns += took < TURN_NS ? took : TURN_NS;
	turns->last_ns = now;
	if (turns->own_ns >= turns->budget_ns || now >= turns->end_ns)
		return OBJ_NEXT_SLEEP;
	return spin_yields(idle, turns) ? OBJ_NEXT_YIELD : OBJ_NEXT_POLL;
}

void obj_spin_back(struct obj_idle *idle, struct obj_turns *turns, uint64_t now)
{
	uint64_t away = now - turns->last_ns;

	note_yield(idle, away, now);
	turns->last_ns = now;
	turns->own_ns += obj_idle_shares(idle) ? TURN_NS : away;
	if (away >= AWAY_SOON_NS)
		turns->end_ns = now;
}

/* ---- looks of the progress thread ------------------------------------------------------ */

enum obj_next obj_tick_next(struct obj_tick *tick, uint64_t now, uint64_t polls, bool watching)
{
	if (tick->polls != polls) {
		tick->polls = polls;
		tick->left_ns = now;
		return OBJ_NEXT_TICK;
	}
	if (watching)
		return OBJ_NEXT_SLEEP;
	return tick->left_ns && now < obj_tick_end_ns(tick) ? OBJ_NEXT_TICK : OBJ_NEXT_POLL;
}

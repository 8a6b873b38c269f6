/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "progress/policy.h"

#include "base/clock.h"

#define US 1000

/* All numbers of the policy.  "Source" is what was measured when the number was chosen; each with two processors.
 *
 * Polls in vain.  Source: README.md.
 */
enum {
	OTHERS_NS = 3 * US,	/* a yield that takes longer has let another thread run */
	BLOCK_MAX_NS = OBJ_IDLE_BLOCK * 2 * US,	/* a block that takes longer is not all that the thread does */
	AWAY_SHARE = 64,	/* a part of the time that others have run: polls before the next yield */
	EAGER = 50,		/* FI_SPIN_US over the shortest time before a yield */
};

/* Blocking waits.  Source: ping-pong by fi_cq_sread, one way: shm 26.8 to 0.14 us, tcp 31 to 3.9; 4 threads in each of
 * two processes, shm: 3.5 to 1.5 us a round trip, 8 threads 6 to 3.5.
 */
enum {
	SPIN_MIN_NS = 5 * US,	/* a wait that polls at all does so for this long */
	TURN_NS = 10 * US,	/* what a turn of others counts as, and the most that some polls do */
	AWAY_SOON_NS = 1000 * US,	/* threads that poll and yield need no longer for a turn each */
	YIELD_NS = US,		/* a yield takes no longer where no other thread wants to run */
	CHEAP_NS = 2 * US,	/* polls that take longer, by system calls, cost more than to sleep */
	TURNS_MAX_NS = 2000 * US,	/* a thread that takes turns with others sleeps after that, too */
	SHORT_WAIT = 4,		/* times FI_SPIN_US: after a wait that took less the next one polls for all of that */
};

/* Looks of the progress thread.  Source: Open MPI, 64 ranks: alltoall of 4 KiB 62 to 12.6 ms over shm, 37 to 20 ms
 * over sockets; barrier 507 to 469 us over shm, 3091 to 2654 us over sockets.
 */
enum {
	TICK_MIN_MS = 1,	/* between two looks at a group that the program drives: at first, */
	TICK_MAX_MS = 16,	/* .. and after a while; */
	TICK_SHARED_MS = 128,	/* .. the same where the program wants the processor and has had less than */
	SHARES = 3,		/* .. one part in so many of the time */
	COMPUTES = 8,		/* one part in so many of the time: the program has used the processor */
	SPARES_MAX = 8,		/* looks in a row at a program that waits for the processor */
};

/* ---- polls in vain ----------------------------------------------------------------- */

/* spin_ns - how long to poll before the next yield. */
static uint64_t spin_ns(const struct obj_idle *idle, uint64_t limit_ns)
{
	uint64_t share = idle->away_ns / AWAY_SHARE;

	if (idle->away_ns <= OTHERS_NS || share > limit_ns)
		return limit_ns;
	return share > limit_ns / EAGER ? share : limit_ns / EAGER;
}

enum obj_next obj_idle_next(struct obj_idle *idle, uint64_t now, uint64_t limit_ns)
{
	/* something was found since the last time, or the thread did other things */
	if (idle->polls == OBJ_IDLE_BLOCK || now - idle->last_ns > BLOCK_MAX_NS)
		idle->since_ns = now;
	idle->last_ns = now;
	return now - idle->since_ns >= spin_ns(idle, limit_ns) ? OBJ_NEXT_YIELD : OBJ_NEXT_POLL;
}

void obj_idle_back(struct obj_idle *idle, uint64_t now)
{
	idle->away_ns = now - idle->last_ns;
	idle->since_ns = idle->last_ns = now;
}

/* ---- blocking waits ------------------------------------------------------------------ */

void obj_spin_init(struct obj_spin *spin)
{
	atomic_store_explicit(&spin->last_ns, 0, memory_order_relaxed);
	atomic_store_explicit(&spin->shared, false, memory_order_relaxed);
}

/* budget_of - how long the wait that begins polls; 0: not at all. */
static uint64_t budget_of(const struct obj_spin *spin, uint64_t limit)
{
	uint64_t last = atomic_load_explicit(&spin->last_ns, memory_order_relaxed);

	return last < SHORT_WAIT * limit || limit < SPIN_MIN_NS ? limit : SPIN_MIN_NS;
}

enum obj_next obj_spin_begin(struct obj_spin *spin, struct obj_turns *turns, uint64_t now, uint64_t deadline_ns,
			     uint64_t limit_ns)
{
	*turns = (struct obj_turns) { .begin_ns = now, .last_ns = now, .budget_ns = budget_of(spin, limit_ns) };
	turns->end_ns = now + turns->budget_ns + TURNS_MAX_NS;
	if (deadline_ns && deadline_ns < turns->end_ns)
		turns->end_ns = deadline_ns;
	return turns->budget_ns ? OBJ_NEXT_POLL : OBJ_NEXT_SLEEP;
}

/* yields - is it time to? @took: what the last polls did */
static bool yields(const struct obj_spin *spin, struct obj_turns *turns, uint64_t took)
{
	if (took > CHEAP_NS)
		return false;
	if (atomic_load_explicit(&spin->shared, memory_order_relaxed))
		return true;
	/* a system call in each wait would be felt */
	if (turns->asked || turns->own_ns < SPIN_MIN_NS)
		return false;
	turns->asked = true;
	return true;
}

enum obj_next obj_spin_next(struct obj_spin *spin, struct obj_turns *turns, uint64_t now)
{
	uint64_t took = now - turns->last_ns;

	turns->own_ns += took < TURN_NS ? took : TURN_NS;
	turns->last_ns = now;
	if (turns->own_ns >= turns->budget_ns || now >= turns->end_ns)
		return OBJ_NEXT_SLEEP;
	return yields(spin, turns, took) ? OBJ_NEXT_YIELD : OBJ_NEXT_POLL;
}

void obj_spin_back(struct obj_spin *spin, struct obj_turns *turns, uint64_t now)
{
	uint64_t away = now - turns->last_ns;

	turns->last_ns = now;
	turns->own_ns += away < YIELD_NS ? away : TURN_NS;
	if (away >= AWAY_SOON_NS)
		turns->end_ns = now;
	atomic_store_explicit(&spin->shared, away >= YIELD_NS && away < AWAY_SOON_NS, memory_order_relaxed);
}

void obj_spin_end(struct obj_spin *spin, const struct obj_turns *turns, bool hit, uint64_t now)
{
	uint64_t took = hit ? 0 : now - turns->begin_ns;

	atomic_store_explicit(&spin->last_ns, (uint32_t) (took < UINT32_MAX ? took : UINT32_MAX), memory_order_relaxed);
}

/* ---- looks of the progress thread ------------------------------------------------------ */

void obj_tick_init(struct obj_tick *tick, uint64_t polls)
{
	*tick = (struct obj_tick) { .polls = polls, .ms = TICK_MIN_MS };
}

/* was_used - is the processor time that the program's threads have used since the last look more than one
 * part in @part of the time that has passed?
 */
static bool was_used(struct obj_tick *tick, const struct obj_tick_look *look, unsigned part)
{
	bool more = look->used_ns - tick->used_ns > (look->now_ns - tick->looked_ns) / part;

	tick->used_ns = look->used_ns;
	tick->looked_ns = look->now_ns;
	return more;
}

/* slow_down - look half as often from now on, but every @max_ms at least. */
static void slow_down(struct obj_tick *tick, unsigned max_ms)
{
	tick->ms = tick->ms < max_ms / 2 ? 2 * tick->ms : max_ms;
}

/* spare - the program has polled again.  The longer it goes on, the more seldom the thread looks: with more
 * processes than processors a program that polls all the time is away for several milliseconds while others run,
 * and a thread that takes its place then makes senders wake it by system calls and takes the processor from the
 * program.  With many of them the looks alone, each of which interrupts a process, were a tenth of the time.
 */
static void spare(struct obj_tick *tick, const struct obj_tick_look *look)
{
	bool alone = was_used(tick, look, SHARES);

	tick->drove = false;
	tick->spares = 0;
	tick->settled = tick->ms >= TICK_MAX_MS;
	slow_down(tick, !tick->settled || alone || !look->is_runnable(look->arg) ? TICK_MAX_MS : TICK_SHARED_MS);
}

/* waits - the program has not polled, has not used the processor, and wants to: others have it.  It polls when
 * it gets it, and a thread that took its place would only come between.
 */
static bool waits(struct obj_tick *tick, const struct obj_tick_look *look)
{
	if (was_used(tick, look, COMPUTES) || tick->spares == SPARES_MAX || !look->is_runnable(look->arg))
		return false;
	tick->spares++;
	slow_down(tick, TICK_SHARED_MS);
	return true;
}

enum obj_next obj_tick_next(struct obj_tick *tick, const struct obj_tick_look *look)
{
	if (look->polls != tick->polls) {
		tick->polls = look->polls;
		spare(tick, look);
		return OBJ_NEXT_TICK;
	}
	if (look->watching)
		return OBJ_NEXT_SLEEP;
	return waits(tick, look) ? OBJ_NEXT_TICK : OBJ_NEXT_POLL;
}

void obj_tick_drove(struct obj_tick *tick)
{
	if (tick->drove)
		tick->ms = TICK_MIN_MS;
	tick->drove = true;
	tick->settled = false;
}

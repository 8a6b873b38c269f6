/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "progress/policy.h"

#include <pthread.h>
#include <rdma/providers/fi_prov.h>
#include <unistd.h>

#include "base/clock.h"

#define NS_PER_US 1000
#define SPIN_US 50		/* FI_SPIN_US, if it is not set */
#define SPIN_US_MAX 1000000
#define SPIN_MIN_NS 5000	/* a wait that polls at all does so for this long */
#define OTHERS_NS 3000		/* a yield that takes longer has let another thread run */
#define AWAY_SOON_NS CLOCK_NS_PER_MS	/* threads that poll and yield need no longer for a turn each */
#define VAIN_NS CLOCK_NS_PER_MS	/* polls for so long that end by a loss of the processor were in vain */
#define AWAY_SHARE 4		/* see most_ns() */
#define EAGER 50		/* FI_SPIN_US over the shortest time before a yield */
#define YIELD_MAX_NS (10 * CLOCK_NS_PER_MS)
#define PROBE_ROWS 32		/* one of so many does not yield early */
#define GAP_MAX_NS (20 * NS_PER_US)	/* between two yields while no other thread wants to run */
#define VAIN_MAX 4
#define SKIP_MIN 4		/* waits that sleep at once after VAIN_MAX in vain, */
#define SKIP 64			/* .. and the most, as they go on being in vain */
#define TURN_NS (10 * NS_PER_US)	/* what a turn of others counts as, and the most that some polls do */
#define YIELD_NS NS_PER_US	/* a yield takes no longer where no other thread wants to run */
#define CROWD_MAX 8		/* yields in which no other thread has run, after which a wait yields no more */
#define STAY 64			/* waits that do not yield after one that was away for long */
#define PROBE_WAITS 8		/* one of so many long waits yields to see whether others want to run */
#define CHEAP_NS (2 * NS_PER_US)	/* polls that take longer, by system calls, cost more than to sleep */
/* Polls of a block that take longer than this are not all that the thread does. */
#define BLOCK_MAX_NS (OBJ_IDLE_BLOCK * 2 * NS_PER_US)

static struct {
	uint64_t limit_ns;	/* FI_SPIN_US */
	bool alone;		/* there is one processor only: a thread that polls is in the way of the others */
} conf;

static void read_conf(void)
{
	size_t us = SPIN_US;

	fi_param_get_size_t(NULL, "spin_us", &us);
	conf.limit_ns = (uint64_t) (us < SPIN_US_MAX ? us : SPIN_US_MAX) * NS_PER_US;
	conf.alone = sysconf(_SC_NPROCESSORS_ONLN) == 1;
}

uint64_t obj_spin_limit_ns(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, read_conf);
	return conf.limit_ns;
}

/* ---- polls in vain ----------------------------------------------------------------- */

/* most_ns - how long to poll at most in the hope that something comes soon: a quarter of the time
 * for which others run when they get the processor, since a short time costs little.
 */
static uint64_t most_ns(const struct obj_idle *idle, uint64_t limit_ns)
{
	uint64_t most = idle->away_ns / AWAY_SHARE;

	if (idle->away_ns <= OTHERS_NS || most > limit_ns)
		return limit_ns;
	return most > limit_ns / EAGER ? most : limit_ns / EAGER;
}

/* learn_none - something was found without a yield, or after one in which no other thread ran: such
 * waits need none.
 */
static void learn_none(struct obj_idle *idle, uint64_t limit_ns)
{
	uint64_t spin = 2 * (idle->last_ns - idle->since_ns) + NS_PER_US;
	uint64_t most = most_ns(idle, limit_ns);

	if (spin > most)
		spin = most;
	if (idle->spin_ns > limit_ns)
		return;		/* a program computes beside it */
	if (idle->spin_ns < spin)
		idle->spin_ns = spin;
	else if (idle->spin_ns > most)
		idle->spin_ns = most;
}

/* learn - what the last yield has shown: @found something when the thread was back. */
static void learn(struct obj_idle *idle, bool found, uint64_t limit_ns)
{
	if (!idle->yielded && found)
		learn_none(idle, limit_ns);
	else if (!idle->yielded)
		return;
	else if (idle->away_ns >= AWAY_SOON_NS)
		idle->spin_ns = 2 * idle->spin_ns + NS_PER_US;
	else if (found)
		idle->spin_ns = idle->spin_ns / 2 > limit_ns / EAGER ? idle->spin_ns / 2 :
				limit_ns / EAGER;
	else if (idle->spin_ns > limit_ns)
		idle->spin_ns = limit_ns;	/* the thread that ran does not compute */
	if (idle->spin_ns > YIELD_MAX_NS)
		idle->spin_ns = YIELD_MAX_NS;
	idle->yielded = false;
}

/* lost - the thread did not run, or did not poll, from last_ns on.  Threads that each poll until the
 * kernel takes the processor from them look to each other like programs that compute, while what
 * they wait for needs a third one to run.
 */
static void lost(struct obj_idle *idle, uint64_t limit_ns)
{
	if (idle->last_ns - idle->since_ns >= VAIN_NS && idle->spin_ns > limit_ns)
		idle->spin_ns = limit_ns;
}

bool obj_idle_due(struct obj_idle *idle, uint64_t now, uint64_t limit_ns)
{
	bool found = idle->polls == OBJ_IDLE_BLOCK;	/* since the last time */
	uint64_t spin;

	if (!idle->known) {
		idle->known = true;
		idle->spin_ns = limit_ns;
	}
	learn(idle, found, limit_ns);
	idle->rows += found;
	if (now - idle->last_ns > BLOCK_MAX_NS) {
		lost(idle, limit_ns);
		idle->since_ns = now;
	}
	if (found)
		idle->since_ns = now;
	idle->last_ns = now;
	spin = idle->rows % PROBE_ROWS || idle->spin_ns > limit_ns ? idle->spin_ns :
	       most_ns(idle, limit_ns);
	return now - idle->since_ns >= spin && now - idle->yield_ns >= idle->gap_ns;
}

void obj_idle_back(struct obj_idle *idle, uint64_t now)
{
	idle->away_ns = now - idle->last_ns;
	idle->yielded = idle->away_ns > OTHERS_NS;
	idle->gap_ns = idle->yielded ? 0 : 2 * idle->gap_ns + NS_PER_US;
	if (idle->gap_ns > GAP_MAX_NS)
		idle->gap_ns = GAP_MAX_NS;
	idle->last_ns = idle->yield_ns = now;
}

/* ---- blocking waits ------------------------------------------------------------------ */

void obj_spin_init(struct obj_spin *spin)
{
	atomic_store_explicit(&spin->ns, SPIN_MIN_NS, memory_order_relaxed);
	atomic_store_explicit(&spin->vain, 0, memory_order_relaxed);
	atomic_store_explicit(&spin->skip, 0, memory_order_relaxed);
	atomic_store_explicit(&spin->pause, 0, memory_order_relaxed);
	atomic_store_explicit(&spin->crowd, 0, memory_order_relaxed);
	atomic_store_explicit(&spin->stay, 0, memory_order_relaxed);
	atomic_store_explicit(&spin->waits, 0, memory_order_relaxed);
}

uint64_t obj_spin_budget(struct obj_spin *spin)
{
	uint8_t skip = atomic_load_explicit(&spin->skip, memory_order_relaxed);
	uint8_t stay = atomic_load_explicit(&spin->stay, memory_order_relaxed);
	uint64_t limit = obj_spin_limit_ns(), ns = atomic_load_explicit(&spin->ns, memory_order_relaxed);

	if (stay)
		atomic_store_explicit(&spin->stay, stay - 1, memory_order_relaxed);
	if (conf.alone)
		return 0;
	if (skip) {
		atomic_store_explicit(&spin->skip, skip - 1, memory_order_relaxed);
		return 0;
	}
	/* two sides that sleep wait for each other to wake: one that polls for longer finds the other out */
	if (atomic_load_explicit(&spin->vain, memory_order_relaxed) == VAIN_MAX - 1)
		limit *= 2;
	return ns < limit ? ns : limit;
}

bool obj_spin_due(struct obj_spin *spin, struct obj_turns *turns, uint64_t now)
{
	uint64_t took = now - turns->last_ns;
	uint8_t stay = atomic_load_explicit(&spin->stay, memory_order_relaxed), waits;

	turns->own_ns += took < TURN_NS ? took : TURN_NS;
	turns->last_ns = now;
	if (stay || took > CHEAP_NS)
		return false;
	if (atomic_load_explicit(&spin->crowd, memory_order_relaxed))
		return true;
	if (turns->asked || turns->own_ns < SPIN_MIN_NS)
		return false;
	/* a system call in each wait would be felt */
	turns->asked = true;
	waits = atomic_load_explicit(&spin->waits, memory_order_relaxed);
	atomic_store_explicit(&spin->waits, waits + 1, memory_order_relaxed);
	return waits % PROBE_WAITS == 0;
}

void obj_spin_back(struct obj_spin *spin, struct obj_turns *turns, uint64_t now)
{
	uint64_t away = now - turns->last_ns;
	uint8_t crowd = atomic_load_explicit(&spin->crowd, memory_order_relaxed);

	turns->last_ns = now;
	turns->own_ns += away < YIELD_NS ? away : TURN_NS;
	if (away >= AWAY_SOON_NS) {
		atomic_store_explicit(&spin->stay, STAY, memory_order_relaxed);
		crowd = 0;
	} else if (away >= YIELD_NS) {
		crowd = CROWD_MAX;
	} else if (crowd) {
		crowd--;
	}
	atomic_store_explicit(&spin->crowd, crowd, memory_order_relaxed);
}

void obj_spin_learn(struct obj_spin *spin, uint64_t budget_ns, bool hit, uint64_t took_ns)
{
	uint64_t most = 2 * obj_spin_limit_ns(), ns = atomic_load_explicit(&spin->ns, memory_order_relaxed);
	uint8_t vain = atomic_load_explicit(&spin->vain, memory_order_relaxed);
	uint8_t pause = atomic_load_explicit(&spin->pause, memory_order_relaxed);
	uint8_t skip = atomic_load_explicit(&spin->skip, memory_order_relaxed);

	if (hit) {
		vain = 0;
		pause = 0;
		ns = ns / 2 + took_ns;		/* settles at twice what waits take */
	} else {
		ns = took_ns < most ? 2 * took_ns : SPIN_MIN_NS;
		vain += budget_ns != 0;
	}
	if (vain == VAIN_MAX) {
		vain--;				/* the next one decides again */
		pause = !pause ? SKIP_MIN : 2 * pause < SKIP ? 2 * pause : SKIP;
		skip = pause;
	}
	atomic_store_explicit(&spin->pause, pause, memory_order_relaxed);
	atomic_store_explicit(&spin->skip, skip, memory_order_relaxed);
	if (ns < SPIN_MIN_NS)
		ns = SPIN_MIN_NS;
	atomic_store_explicit(&spin->vain, vain, memory_order_relaxed);
	atomic_store_explicit(&spin->ns, (uint32_t) (ns < most ? ns : most), memory_order_relaxed);
}

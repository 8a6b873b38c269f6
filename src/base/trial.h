/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * trial.h - which of two ways to do something makes the program faster, learnt by trials.
 *
 * Where a cost can be measured by itself, that is simpler.  Often it cannot: one way makes the other
 * process work, or wait, and whether that matters depends on what the program does next.  So what is
 * measured is the pace of the whole: how long a run of operations takes from completion to completion,
 * the program's own work included.  Now and then a run is done in the way that is not in use.  If it
 * took less time than the runs before it, by more than a twentieth, and so did the next one, the ways
 * change places; for the first trial of all a quarter is enough.  After a run that did not, the next one
 * comes later.
 *
 * Threading: the caller's.
 */
#ifndef BASE_TRIAL_H
#define BASE_TRIAL_H

#include <stdbool.h>
#include <stdint.h>

#define TRIAL_WARM 4		/* a run counts without its first quarter: caches and queues of the other way */
#define TRIAL_GAP 2		/* runs from one trial to the next */
#define TRIAL_GAP_MAX 256
#define TRIAL_WINS 2		/* in a row */

struct trial {
	bool way;		/* the one in use; all 0: the first one */
	bool trying;		/* this run is done in the other way */
	uint8_t wins;
	uint16_t done;		/* operations of this run */
	uint16_t gap;		/* runs between trials, now; 0: there was none yet */
	uint16_t left;		/* runs until the next trial */
	uint64_t since;		/* when this run began to count */
	uint64_t took[2];	/* the last two runs in the way in use; 0: not known */
};

/* trial_way - the way of the next operation. */
static inline bool trial_way(const struct trial *t)
{
	return t->way != t->trying;
}

/* trial_mark - the slow part of trial_marks(): a run begins to count, or ends.  @now: any unit */
void trial_mark(struct trial *t, unsigned run, uint64_t now);

/* trial_marks - one more operation is complete, of those in trial_way() only.  Is trial_mark() to be
 * called?
 * @run: operations of a run, a multiple of TRIAL_WARM, always the same: enough for interruptions and
 *       batches not to matter
 */
static inline bool trial_marks(struct trial *t, unsigned run)
{
	t->done++;
	return t->done == run / TRIAL_WARM || t->done == run;
}

#endif

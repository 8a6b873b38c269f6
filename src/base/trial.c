/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "trial.h"

/* usual - what a run in the way in use takes: the shorter one of the last two, as the other may have been
 * interrupted.
 */
static uint64_t usual(const struct trial *t)
{
	return t->took[1] && t->took[1] < t->took[0] ? t->took[1] : t->took[0];
}

static void swap_ways(struct trial *t)
{
	t->way = !t->way;
	t->wins = 0;
	t->took[0] = t->took[1] = 0;
}

/* judge - a trial has taken @took. */
static void judge(struct trial *t, uint64_t took)
{
	uint64_t was = usual(t);
	bool first = !t->gap;

	t->trying = false;
	if (took >= was - was / 20) {
		t->wins = 0;
		t->gap = first ? TRIAL_GAP : 2 * t->gap < TRIAL_GAP_MAX ? 2 * t->gap : TRIAL_GAP_MAX;
	} else {
		t->gap = TRIAL_GAP;
		if (++t->wins == TRIAL_WINS || (first && took < was - was / 4))
			swap_ways(t);
	}
	t->left = t->gap;
}

void trial_mark(struct trial *t, unsigned run, uint64_t now)
{
	if (t->done < run) {
		t->since = now;
		return;
	}
	t->done = 0;
	if (t->trying) {
		judge(t, now - t->since);
		return;
	}
	t->took[1] = t->took[0];
	t->took[0] = now - t->since;
	t->trying = !t->gap || !--t->left;
}

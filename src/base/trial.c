/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "trial.h"

/* judge - a trial has taken @took. */
static void judge(struct trial *t, uint64_t took)
{
	t->trying = false;
	if (took >= t->took - t->took / 20) {
		t->wins = 0;
		t->gap = 2 * t->gap < TRIAL_GAP_MAX ? 2 * t->gap : TRIAL_GAP_MAX;
	} else {
		t->gap = TRIAL_GAP;
		if (++t->wins == TRIAL_WINS) {
			t->wins = 0;
			t->way = !t->way;
		}
	}
	t->left = t->gap;
}

void trial_mark(struct trial *t, uint64_t now)
{
	if (t->done == TRIAL_WARM) {
		t->since = now;
		return;
	}
	t->done = 0;
	if (t->trying) {
		judge(t, now - t->since);
		return;
	}
	t->took = now - t->since;
	if (!t->gap)
		t->gap = t->left = TRIAL_GAP;
	t->trying = !--t->left;
}

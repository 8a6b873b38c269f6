/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* The state of wake.h under every order of the steps of some threads: those that wait, inside and outside, and
 * those that change what they wait for.  A step is what a thread does under the lock, or one access without it.
 * A sleeping thread runs on only if its descriptor is readable when the kernel lets it look.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "base/test/verify.h"

#include "progress/wake.h"

#define THREADS_MAX 5
#define STATES (1u << 18)

enum kind {
	INSIDE,			/* fi_cntr_wait(), fi_cq_sread() */
	OUTSIDE,		/* fi_trywait() and poll() */
	SET,			/* fi_wait(), then a read */
	CHANGES,		/* fi_cntr_add(), or a completion, @arg times */
	SIGNALS,		/* fi_cq_signal() */
};

/* What they wait for: a value of a counter, of which each thread waits for one of its own; or entries of a
 * queue, of which each takes one.
 */
struct story {
	bool queue;
	bool robs;		/* a thread clears the descriptor although others have not looked: must be found */
	struct {
		enum kind kind;
		uint8_t arg;	/* the value that it waits for; how many changes */
	} threads[THREADS_MAX];
	unsigned cnt;
};

enum step {
	READ, TRY, ENTER, LOOK, ASLEEP, LEAVE, DONE,
};

struct thread {
	uint8_t step;
	uint8_t left;		/* changes to make */
	uint8_t signals;	/* that a blocking read has begun with */
	unsigned round;
};

struct state {
	struct obj_wake wake;
	uint8_t value;		/* of the counter, or entries in the queue */
	uint8_t seen;		/* of the counter: read last */
	uint8_t signals;
	struct thread threads[THREADS_MAX];
};

static struct state *states;		/* a hash table of those that were reached */
static unsigned char *used;
static unsigned reached, stuck;

/* reach - false if the state is known. */
static bool reach(const struct state *s)
{
	const unsigned char *bytes = (const void *) s;
	uint64_t hash = 14695981039346656037u;
	size_t i;

	for (i = 0; i < sizeof(*s); i++)
		hash = (hash ^ bytes[i]) * 1099511628211u;
	for (i = hash % STATES; used[i]; i = (i + 1) % STATES)
		if (!memcmp(&states[i], s, sizeof(*s)))
			return false;
	used[i] = 1;
	memcpy(&states[i], s, sizeof(*s));
	assert_true(++reached < STATES / 2);
	return true;
}

/* satisfied - what @i waits for is there. */
static bool satisfied(const struct story *story, const struct state *s, unsigned i)
{
	if (story->threads[i].kind == INSIDE && s->signals != s->threads[i].signals)
		return true;
	return story->queue ? s->value > 0 : s->value >= story->threads[i].arg;
}

/* ready - what fi_trywait() and fi_wait() ask. */
static bool ready(const struct story *story, const struct state *s)
{
	return story->queue ? s->value > 0 : s->value != s->seen;
}

/* take - read: what the thread waits for, or else the way to sleep. */
static void take(const struct story *story, struct state *s, unsigned i, enum step sleep)
{
	bool done = satisfied(story, s, i);

	s->threads[i].step = done ? DONE : sleep;
	if (story->queue && done && s->value)
		s->value--;
	if (story->threads[i].kind != INSIDE)
		s->seen = s->value;		/* fi_cntr_read() */
}

/* change - store, look at armed, signal: each a step. */
static bool change(const struct story *story, struct state *s, unsigned i)
{
	struct thread *t = &s->threads[i];

	switch (t->step) {
	case READ:
		if (story->threads[i].kind == SIGNALS)
			s->signals++;
		else
			s->value++;
		t->step = story->threads[i].kind == SIGNALS ? ENTER : LOOK;
		return true;
	case LOOK:
		t->step = ENTER;
		if (atomic_load(&s->wake.armed))
			return true;
		break;
	default:
		if (story->threads[i].kind == SIGNALS || atomic_load(&s->wake.armed))
			obj_wake_signal(&s->wake);
		break;
	}
	t->step = --t->left ? READ : DONE;
	return true;
}

static bool wait_inside(const struct story *story, struct state *s, unsigned i)
{
	struct thread *t = &s->threads[i];
	bool set = story->threads[i].kind == SET, found = set ? ready(story, s) : satisfied(story, s, i);

	switch (t->step) {
	case READ:
		take(story, s, i, ENTER);
		return true;
	case ENTER:
		if (story->robs)
			s->wake.owed = 0;
		if (!obj_wake_may_enter(&s->wake))
			return false;
		obj_wake_enter(&s->wake, &t->round);
		t->step = LOOK;
		return true;
	case LOOK:
		t->step = found ? LEAVE : ASLEEP;
		return true;
	case ASLEEP:
		if (!(s->wake.readable & 1u << OBJ_WAKE_IN))
			return false;
		t->step = LEAVE;
		return true;
	default:
		if (story->robs && t->round != s->wake.round && !s->wake.owed)
			s->wake.owed = 1;
		t->step = !set || found || t->round != s->wake.round ? READ : ENTER;
		obj_wake_leave(&s->wake, t->round);
		return true;
	}
}

static bool wait_outside(const struct story *story, struct state *s, unsigned i)
{
	struct thread *t = &s->threads[i];

	switch (t->step) {
	case READ:
		take(story, s, i, TRY);
		return true;
	case TRY:
		t->step = ready(story, s) ? READ : ENTER;
		return true;
	case ENTER:
		obj_wake_show(&s->wake);
		t->round = s->wake.round;
		t->step = LOOK;
		return true;
	case LOOK:
		t->step = ready(story, s) ? READ : LEAVE;
		if (t->step == READ)
			obj_wake_signal(&s->wake);
		return true;
	case LEAVE:
		t->step = t->round != s->wake.round ? READ : ASLEEP;
		return true;
	default:
		if (!(s->wake.readable & 1u << OBJ_WAKE_OUT))
			return false;
		t->step = READ;
		return true;
	}
}

/* advance - false if the thread has ended or is asleep. */
static bool advance(const struct story *story, struct state *s, unsigned i)
{
	if (s->threads[i].step == DONE)
		return false;
	switch (story->threads[i].kind) {
	case INSIDE:
	case SET:
		return wait_inside(story, s, i);
	case OUTSIDE:
		return wait_outside(story, s, i);
	default:
		return change(story, s, i);
	}
}

static void explore(const struct story *story, const struct state *from)
{
	bool moves = false, sleeps = false;
	struct state s;
	unsigned i;

	if (!reach(from))
		return;
	for (i = 0; i < story->cnt; i++) {
		memcpy(&s, from, sizeof(s));
		if (advance(story, &s, i)) {
			moves = true;
			explore(story, &s);
		}
		sleeps |= from->threads[i].step != DONE && story->threads[i].kind != OUTSIDE;
		sleeps |= from->threads[i].step != DONE && satisfied(story, from, i);
	}
	stuck += !moves && sleeps;
}

/* stuck_states - in how many do threads sleep for ever? */
static unsigned stuck_states(const struct story *story)
{
	struct state first;
	unsigned i;

	states = calloc(STATES, sizeof(*states));
	used = calloc(STATES, 1);
	assert_true(states && used);
	memset(&first, 0, sizeof(first));
	for (i = 0; i < story->cnt; i++)
		if (story->threads[i].kind == CHANGES || story->threads[i].kind == SIGNALS)
			first.threads[i].left = story->threads[i].arg;
	reached = stuck = 0;
	explore(story, &first);
	print_message("%u states\n", reached);
	free(states);
	free(used);
	return stuck;
}

/* Three threads wait for 1, 2 and 3, another one adds. */
static void test_values(void **state)
{
	struct story story = { .cnt = 4, .threads = {
		{ INSIDE, 1 }, { INSIDE, 2 }, { INSIDE, 3 }, { CHANGES, 3 },
	} };

	assert_int_equal(stuck_states(&story), 0);
}

/* The model sees what it is for: a thread that does not wait until the others have looked. */
static void test_values_robbed(void **state)
{
	struct story story = { .cnt = 4, .robs = true, .threads = {
		{ INSIDE, 1 }, { INSIDE, 2 }, { INSIDE, 3 }, { CHANGES, 3 },
	} };

	assert_true(stuck_states(&story) > 0);
}

/* One thread sleeps on the program's descriptor beside them, and two change the counter. */
static void test_values_inside_and_outside(void **state)
{
	struct story story = { .cnt = 5, .threads = {
		{ INSIDE, 1 }, { INSIDE, 2 }, { OUTSIDE, 2 }, { CHANGES, 1 }, { CHANGES, 1 },
	} };

	assert_int_equal(stuck_states(&story), 0);
}

static void test_entries(void **state)
{
	struct story story = { .cnt = 5, .queue = true, .threads = {
		{ INSIDE, 0 }, { INSIDE, 0 }, { INSIDE, 0 }, { CHANGES, 2 }, { CHANGES, 1 },
	} };

	assert_int_equal(stuck_states(&story), 0);
}

static void test_entries_outside(void **state)
{
	struct story story = { .cnt = 4, .queue = true, .threads = {
		{ OUTSIDE, 0 }, { OUTSIDE, 0 }, { OUTSIDE, 0 }, { CHANGES, 3 },
	} };

	assert_int_equal(stuck_states(&story), 0);
}

static void test_entries_each_way(void **state)
{
	struct story story = { .cnt = 4, .queue = true, .threads = {
		{ INSIDE, 0 }, { OUTSIDE, 0 }, { SET, 0 }, { CHANGES, 3 },
	} };

	assert_int_equal(stuck_states(&story), 0);
}

static void test_entries_of_a_set(void **state)
{
	struct story story = { .cnt = 5, .queue = true, .threads = {
		{ SET, 0 }, { SET, 0 }, { SET, 0 }, { CHANGES, 2 }, { CHANGES, 1 },
	} };

	assert_int_equal(stuck_states(&story), 0);
}

/* fi_cq_signal() ends the reads of all that are blocked. */
static void test_signal(void **state)
{
	struct story story = { .cnt = 4, .queue = true, .threads = {
		{ INSIDE, 0 }, { INSIDE, 0 }, { INSIDE, 0 }, { SIGNALS, 1 },
	} };

	assert_int_equal(stuck_states(&story), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_values_robbed),
		cmocka_unit_test(test_values_inside_and_outside),
		cmocka_unit_test(test_entries),
		cmocka_unit_test(test_entries_outside),
		cmocka_unit_test(test_entries_each_way),
		cmocka_unit_test(test_entries_of_a_set),
		cmocka_unit_test(test_signal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

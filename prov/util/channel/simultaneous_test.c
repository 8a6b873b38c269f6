/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Every order of events between two endpoints that connect to each other, lose connections,
 * forget each other and restart, with the rule of simultaneous.h: an exhaustive search.
 *
 * Each attempt has a wire of its own, in which order is kept; between wires there is none.
 * A wire that one end closes shows this to the other end, behind what was sent.  Requests of
 * an earlier life arrive before anything of the next one: lives have no order by themselves.
 *
 * What must hold:
 *  - a connection is replaced only if it is dead at its other end;
 *  - when nothing is in flight, both ends have the same connection, or neither has one;
 *  - then no end waits for an answer; without losses, forgetting and restarts none waits
 *    for the other's attempt either, and if there was an attempt there is a connection;
 *  - from there, one more attempt of either end makes a connection.
 *
 * One that has yielded may wait for its timer, chan_conf.yield_ns: a late request that its
 * sender has given up can take the place of the connection that it yielded to.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "channel/simultaneous.h"

#define ATTEMPTS_MAX 8
#define NONE 0xff		/* no attempt */

enum state { IDLE, CONNECTING, YIELDED, READY };

/* What is in the wire of an attempt besides its being closed. */
enum phase { UNUSED, REQUEST, ACCEPTED, REFUSED, OVER };

struct end {
	uint8_t state;
	uint8_t epoch;
	uint8_t serial;		/* of the newest attempt */
	uint8_t at;		/* CONNECTING, READY: the attempt */
	uint8_t ours;
	uint8_t peer_epoch;
	uint8_t peer_serial;
	uint8_t starts, losses, forgets, restarts;	/* how many may follow */
};

struct wire {
	uint8_t caller, epoch, serial, prev;	/* the request */
	uint8_t answer_epoch;
	uint8_t phase;
	uint8_t closed[2];	/* [end]: the other end has closed it, which it will see */
};

struct world {
	struct end end[2];
	struct wire wire[ATTEMPTS_MAX];
	uint8_t faults;		/* there was a loss, a forgetting or a restart */
	uint8_t unsound;	/* a connection was replaced that was not dead */
};

/* How the search is made. */
struct limits {
	uint8_t starts, losses, forgets, restarts;	/* of each end */
	uint8_t serial_base;	/* by how much serials of a life are above those of the last */
};

static const struct limits *limits;

/* ---- what ends do ---------------------------------------------------------------------- */

static void close_wire(struct world *w, unsigned end, uint8_t at)
{
	w->wire[at].closed[!end] = 1;
}

static void start(struct world *w, unsigned end)
{
	struct end *e = &w->end[end];
	uint8_t at = 0;

	while (w->wire[at].phase != UNUSED)
		if (++at == ATTEMPTS_MAX)
			return;
	e->state = CONNECTING;
	e->at = at;
	w->wire[at] = (struct wire) {
		.caller = (uint8_t) end, .epoch = e->epoch, .serial = ++e->serial,
		.prev = e->peer_serial, .phase = REQUEST,
	};
}

static void go_idle(struct end *e)
{
	e->state = IDLE;
	e->at = NONE;
}

/* alive - has the other end of @end's connection it, or will it by what is in flight? */
static bool alive(const struct world *w, unsigned end)
{
	const struct end *e = &w->end[end], *other = &w->end[!end];

	return other->at == e->at && (other->state == READY ||
	       (other->state == CONNECTING && w->wire[e->at].phase == ACCEPTED));
}

static void on_request(struct world *w, uint8_t at)
{
	struct wire *wire = &w->wire[at];
	unsigned end = !wire->caller;
	struct end *e = &w->end[end];
	struct chan_id id = { .epoch = wire->epoch, .serial = wire->serial, .prev = wire->prev };
	struct chan_standing standing = {
		.order = end ? 1 : -1,
		.self_epoch = e->epoch,
		.peer_epoch = e->peer_epoch,
	};

	if (e->state == CONNECTING)
		standing.have = CHAN_HAVE_ATTEMPT;
	if (e->state == READY) {
		standing.have = e->ours ? CHAN_HAVE_OURS : CHAN_HAVE_THEIRS;
		standing.serial = w->wire[e->at].serial;
	}
	switch (chan_judge(&standing, &id)) {
	case CHAN_REFUSE:
		wire->phase = REFUSED;
		return;
	case CHAN_REPLACE:
		w->unsound |= alive(w, end);
		/* fall through */
	default:
		if (e->at != NONE)
			close_wire(w, end, e->at);
		break;
	}
	wire->phase = ACCEPTED;
	wire->answer_epoch = e->epoch;
	e->state = READY;
	e->at = at;
	e->ours = 0;
	e->peer_epoch = wire->epoch;
	e->peer_serial = wire->serial;
}

static void on_answer(struct world *w, uint8_t at)
{
	struct wire *wire = &w->wire[at];
	struct end *e = &w->end[wire->caller];

	if (e->state == CONNECTING && e->at == at) {
		if (wire->phase == ACCEPTED) {
			e->state = READY;
			e->ours = 1;
			e->peer_epoch = wire->answer_epoch;
		} else {
			go_idle(e);
			e->state = YIELDED;
		}
	}
	wire->phase = OVER;
}

static void on_closed(struct world *w, unsigned end, uint8_t at)
{
	w->wire[at].closed[end] = 0;
	if (w->end[end].at == at)
		go_idle(&w->end[end]);
}

static void lose(struct world *w, unsigned end)
{
	w->faults = 1;
	if (w->end[end].at != NONE)
		close_wire(w, end, w->end[end].at);
	go_idle(&w->end[end]);
}

static void forget(struct world *w, unsigned end)
{
	lose(w, end);
	w->end[end].peer_epoch = 0;
	w->end[end].peer_serial = 0;
}

static void restart(struct world *w, unsigned end)
{
	struct end *e = &w->end[end];
	struct wire *wire;
	unsigned i;

	forget(w, end);
	for (i = 0; i < ATTEMPTS_MAX; i++) {
		wire = &w->wire[i];
		if (wire->phase == UNUSED)
			continue;
		wire->closed[end] = 0;		/* no end is left to see it */
		if (wire->caller == end) {
			wire->closed[!end] |= wire->phase == REQUEST;
			if (wire->phase != REQUEST)
				wire->phase = OVER;
		} else if (wire->phase == REQUEST) {
			wire->phase = OVER;
			wire->closed[!end] = 1;
		}
	}
	e->epoch = (uint8_t) (e->epoch + 2);
	e->serial = (uint8_t) ((e->epoch / 2 - 1) * limits->serial_base);
}

/* ---- every order ------------------------------------------------------------------------- */

/* A set of worlds, which is also the list of those that are to be looked at. */
static struct world *worlds;
static uint32_t *table;
static size_t cnt, room, table_size;

static uint64_t hash(const struct world *w)
{
	const uint8_t *bytes = (const uint8_t *) w;
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < sizeof(*w); i++)
		h = (h ^ bytes[i]) * UINT64_C(0x100000001b3);
	return h ^ h >> 29;
}

static void insert(size_t i)
{
	size_t at = hash(&worlds[i]) & (table_size - 1);

	while (table[at])
		at = (at + 1) & (table_size - 1);
	table[at] = (uint32_t) i + 1;
}

static void grow(void)
{
	room = room ? 2 * room : 1 << 16;
	table_size = 4 * room;
	worlds = realloc(worlds, room * sizeof(*worlds));
	free(table);
	table = calloc(table_size, sizeof(*table));
	assert_true(worlds && table);
	for (size_t i = 0; i < cnt; i++)
		insert(i);
}

/* tidy - a wire that is over and has nothing in it is unused again. */
static void tidy(struct world *w)
{
	for (uint8_t i = 0; i < ATTEMPTS_MAX; i++)
		if (w->wire[i].phase == OVER && !w->wire[i].closed[0] && !w->wire[i].closed[1] &&
		    w->end[0].at != i && w->end[1].at != i)
			memset(&w->wire[i], 0, sizeof(w->wire[i]));
}

static void add(struct world w)
{
	size_t at;

	tidy(&w);
	at = hash(&w) & (table_size - 1);
	for (; table[at]; at = (at + 1) & (table_size - 1))
		if (!memcmp(&worlds[table[at] - 1], &w, sizeof(w)))
			return;
	if (cnt == room)
		grow();
	worlds[cnt] = w;
	insert(cnt++);
}

/* overtaken - is a request of an earlier life of @from in flight? */
static bool overtaken(const struct world *w, unsigned from, uint8_t epoch)
{
	for (uint8_t i = 0; i < ATTEMPTS_MAX; i++)
		if (w->wire[i].phase == REQUEST && w->wire[i].caller == from &&
		    w->wire[i].epoch < epoch)
			return true;
	return false;
}

/* deliver - what is in flight: add what comes of each, or (not @all) do the first.
 * Returns how many there are.
 */
static unsigned deliver(struct world *w, bool all)
{
	const struct world was = *w;
	struct world next;
	unsigned found = 0;

	for (uint8_t i = 0; i < ATTEMPTS_MAX; i++) {
		const struct wire *wire = &was.wire[i];
		bool answer = wire->phase == ACCEPTED || wire->phase == REFUSED;

		for (unsigned end = 0; end < 2; end++) {
			bool caller = end == wire->caller;
			bool packet = caller ? answer : wire->phase == REQUEST;

			if (wire->phase == UNUSED || (!packet && !wire->closed[end]) ||
			    (packet && overtaken(&was, !end, caller ? wire->answer_epoch : wire->epoch)))
				continue;
			next = was;
			if (!packet)
				on_closed(&next, end, i);
			else if (caller)
				on_answer(&next, i);
			else
				on_request(&next, i);
			found++;
			if (!all) {
				*w = next;
				return 1;
			}
			add(next);
		}
	}
	return found;
}

static void explain(const struct world *w, const char *what)
{
	print_message("%s:", what);
	for (unsigned i = 0; i < 2; i++)
		print_message(" [state %u epoch %u serial %u attempt %u ours %u]", w->end[i].state,
			      w->end[i].epoch, w->end[i].serial, w->end[i].at, w->end[i].ours);
	print_message("\n");
}

#define MUST(w, cond)					\
	do {						\
		if (!(cond)) {				\
			explain(w, #cond);		\
			fail();				\
		}					\
	} while (0)

static bool connected(const struct world *w)
{
	return w->end[0].state == READY && w->end[1].state == READY && w->end[0].at == w->end[1].at;
}

/* check_quiet - nothing is in flight. */
static void check_quiet(const struct world *w)
{
	struct world next;

	MUST(w, connected(w) || (w->end[0].state != READY && w->end[1].state != READY));
	for (unsigned end = 0; end < 2; end++) {
		MUST(w, w->end[end].state != CONNECTING);
		MUST(w, w->faults || w->end[end].state != YIELDED);
		MUST(w, w->faults || !w->end[end].serial || connected(w));
		if (w->end[end].state == READY)
			continue;
		next = *w;
		start(&next, end);
		while (deliver(&next, false))
			;
		MUST(&next, connected(&next));
	}
}

/* act - what each end may do by itself. */
static void act(const struct world *w)
{
	struct world next;

	for (unsigned end = 0; end < 2; end++) {
		const struct end *e = &w->end[end];

		/* the timer of a YIELDED one is long: others do not outlast it */
		if (e->starts && (e->state == IDLE || (e->state == YIELDED && w->faults))) {
			next = *w;
			next.end[end].starts--;
			start(&next, end);
			add(next);
		}
		if (e->losses && e->state == READY) {
			next = *w;
			next.end[end].losses--;
			lose(&next, end);
			add(next);
		}
		if (e->forgets) {
			next = *w;
			next.end[end].forgets--;
			forget(&next, end);
			add(next);
		}
		if (e->restarts) {
			next = *w;
			next.end[end].restarts--;
			restart(&next, end);
			add(next);
		}
	}
}

static void search(const struct limits *search_limits)
{
	struct world w;
	size_t quiet = 0;

	limits = search_limits;
	memset(&w, 0, sizeof(w));
	for (unsigned end = 0; end < 2; end++) {
		w.end[end] = (struct end) {
			.epoch = (uint8_t) (2 + end), .at = NONE, .starts = limits->starts,
			.losses = limits->losses, .forgets = limits->forgets,
			.restarts = limits->restarts,
		};
	}
	cnt = room = 0;
	grow();
	add(w);
	for (size_t i = 0; i < cnt; i++) {
		w = worlds[i];
		MUST(&w, !w.unsound);
		if (!deliver(&w, true)) {
			check_quiet(&worlds[i]);
			quiet++;
		}
		w = worlds[i];
		act(&w);
	}
	print_message("%zu states, %zu of them with nothing in flight\n", cnt, quiet);
	assert_true(quiet > 1);
	free(worlds);
	free(table);
	worlds = NULL;
	table = NULL;
}

/* ---- cases ------------------------------------------------------------------------------------ */

static void both_connect(void **state)
{
	search(&(struct limits) { .starts = 3 });
}

static void both_connect_and_lose_connections(void **state)
{
	search(&(struct limits) { .starts = 3, .losses = 1 });
}

static void both_connect_and_forget_each_other(void **state)
{
	search(&(struct limits) { .starts = 2, .forgets = 1 });
}

static void both_connect_and_restart(void **state)
{
	search(&(struct limits) { .starts = 2, .losses = 1, .restarts = 1, .serial_base = 16 });
}

/* ---- the rule by itself ------------------------------------------------------------------------ */

static void an_endpoint_that_connects_to_itself_keeps_both_ends(void **state)
{
	struct chan_standing standing = { .have = CHAN_HAVE_ATTEMPT, .self_epoch = 7 };
	struct chan_id id = { .epoch = 7, .serial = 1 };

	assert_int_equal(chan_judge(&standing, &id), CHAN_SELF);
	id.epoch = 8;	/* another endpoint, with our address: the lower epoch's attempt counts */
	assert_int_equal(chan_judge(&standing, &id), CHAN_REFUSE);
	id.epoch = 6;
	assert_int_equal(chan_judge(&standing, &id), CHAN_ACCEPT);
}

/* What the search cannot see, since a refused attempt is repeated: that no time is lost. */
static void a_connection_that_is_lost_at_the_other_end_is_replaced(void **state)
{
	struct chan_standing standing = { .order = 1, .self_epoch = 7, .peer_epoch = 8, .serial = 5 };
	struct chan_id id = { .epoch = 8 };

	standing.have = CHAN_HAVE_OURS;
	id.prev = 4;			/* written before ours was accepted */
	assert_int_equal(chan_judge(&standing, &id), CHAN_REFUSE);
	id.prev = 5;			/* after it */
	assert_int_equal(chan_judge(&standing, &id), CHAN_REPLACE);
	id = (struct chan_id) { .epoch = 9 };
	assert_int_equal(chan_judge(&standing, &id), CHAN_REPLACE);

	standing.have = CHAN_HAVE_THEIRS;
	id = (struct chan_id) { .epoch = 8, .serial = 5 };
	assert_int_equal(chan_judge(&standing, &id), CHAN_REFUSE);
	id.serial = 6;
	assert_int_equal(chan_judge(&standing, &id), CHAN_REPLACE);
	id = (struct chan_id) { .epoch = 9, .serial = 1 };
	assert_int_equal(chan_judge(&standing, &id), CHAN_REPLACE);
}

/* Both ends of two simultaneous attempts come to the same decision, and a peer that was restarted is
 * told from one that repeats itself.
 */
static void in_a_published_protocol_the_higher_address_counts(void **state)
{
	struct chan_standing standing = { .have = CHAN_HAVE_ATTEMPT, .order = -1, .peer_epoch = 8 };
	enum chan_have have;

	assert_int_equal(chan_judge_published(&standing, 8), CHAN_ACCEPT);
	standing.order = 1;
	assert_int_equal(chan_judge_published(&standing, 8), CHAN_REFUSE);
	standing.order = 0;
	assert_int_equal(chan_judge_published(&standing, 8), CHAN_SELF);
	for (have = CHAN_HAVE_OURS; have <= CHAN_HAVE_THEIRS; have++) {
		standing.have = have;
		assert_int_equal(chan_judge_published(&standing, 8), CHAN_REFUSE);
		assert_int_equal(chan_judge_published(&standing, 9), CHAN_REPLACE);
	}
	standing.have = CHAN_HAVE_NOTHING;
	assert_int_equal(chan_judge_published(&standing, 8), CHAN_ACCEPT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_connect),
		cmocka_unit_test(both_connect_and_lose_connections),
		cmocka_unit_test(both_connect_and_forget_each_other),
		cmocka_unit_test(both_connect_and_restart),
		cmocka_unit_test(an_endpoint_that_connects_to_itself_keeps_both_ends),
		cmocka_unit_test(a_connection_that_is_lost_at_the_other_end_is_replaced),
		cmocka_unit_test(in_a_published_protocol_the_higher_address_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

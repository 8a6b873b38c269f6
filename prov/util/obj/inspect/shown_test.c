/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Looking at an endpoint: by the program's own progress, by its lock, not at all. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "obj/inspect/shown.h"
#include "progress/asked.h"
#include "progress/group.h"

#define STEPS 5
#define WAIT_NS UINT64_C(300000000)

/* The endpoint of the test: so many steps, each by the thread that the test expects. */
static struct obj_shown shown;
static pthread_t stepped_by;
static atomic_bool stop;

static bool step(struct obj_shown *self, struct obj_look *look)
{
	assert_ptr_equal(self, &shown);
	stepped_by = pthread_self();
	obj_look_add(look, INSPECT_EP, sizeof(struct inspect_ep));
	return ++look->pos < STEPS;
}

struct seen {
	unsigned eps, late;
	bool enough;	/* the first look is the last one */
};

static bool see(void *arg, struct obj_look *look)
{
	struct inspect_head head;
	struct seen *seen = arg;
	size_t off;
	int len;

	for (off = 0; (len = inspect_next(look->buf + off, look->len - off)) > 0; off += (size_t) len) {
		memcpy(&head, look->buf + off, sizeof(head));
		seen->eps += head.type == INSPECT_EP;
		seen->late += head.type == INSPECT_LATE;
	}
	return !seen->enough;
}

static struct obj_prog *begin(enum lock_kind kind)
{
	struct obj_prog *prog;

	setenv("FI_INSPECT", "0", 1);
	assert_int_equal(obj_prog_new(NULL, kind, &prog), 0);
	shown = (struct obj_shown) { .prog = prog, .step = step };
	obj_shown_add(&shown);
	assert_int_equal(obj_shown_count(), 1);
	return prog;
}

static void end(struct obj_prog *prog)
{
	obj_shown_remove(&shown);
	assert_int_equal(obj_shown_count(), 0);
	obj_prog_put(prog);
}

static struct seen look_once(bool enough)
{
	struct obj_look *look = malloc(sizeof(*look));
	struct seen seen = { .enough = enough };

	look->want = 0;
	obj_shown_each(look, WAIT_NS, see, &seen);
	free(look);
	return seen;
}

static void *progress(void *arg)
{
	while (!atomic_load(&stop))
		obj_asked_serve(arg);
	return NULL;
}

static void test_by_progress(void **state)
{
	struct obj_prog *prog = begin(LOCK_NONE);
	pthread_t thread;
	struct seen seen;

	atomic_store(&stop, false);
	assert_int_equal(pthread_create(&thread, NULL, progress, prog), 0);
	seen = look_once(false);
	assert_int_equal(seen.eps, STEPS);
	assert_int_equal(seen.late, 0);
	assert_true(pthread_equal(stepped_by, thread));
	seen = look_once(true);
	assert_int_equal(seen.eps, STEPS);	/* all of them fit what is sent at a time */
	assert_int_equal(look_once(false).eps, STEPS);
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
	end(prog);
}

static void test_by_lock(void **state)
{
	struct obj_prog *prog = begin(LOCK_MUTEX);
	struct seen seen = look_once(false);

	assert_int_equal(seen.eps, STEPS);
	assert_int_equal(seen.late, 0);
	assert_true(pthread_equal(stepped_by, pthread_self()));
	end(prog);
}

static void test_not_at_all(void **state)
{
	struct obj_prog *prog = begin(LOCK_NONE);
	struct seen seen = look_once(false);

	assert_int_equal(seen.eps, 0);
	assert_int_equal(seen.late, 1);
	obj_asked_serve(prog);		/* nothing is asked any more */
	end(prog);
}

/* A step ends after so many records, or as much work without any, however early it is. */
static void test_counted(void **state)
{
	struct obj_look *look = calloc(1, sizeof(*look));
	unsigned i;

	look->end_ns = UINT64_MAX;
	for (i = 0; i < OBJ_LOOK_ITEMS; i++) {
		assert_false(obj_look_ends(look));
		assert_non_null(obj_look_add(look, INSPECT_MSG, sizeof(struct inspect_msg)));
	}
	assert_true(obj_look_ends(look));
	look->items = 0;
	for (i = 1; i < OBJ_LOOK_ITEMS; i++)
		assert_false(obj_look_passed(look));
	assert_true(obj_look_passed(look));
	free(look);
}

/* The endpoint closes while its program is asked. */
static void *close_it(void *arg)
{
	nanosleep(&(struct timespec) { .tv_nsec = 50000000 }, NULL);
	obj_shown_remove(&shown);
	return NULL;
}

static void test_closes(void **state)
{
	struct obj_prog *prog = begin(LOCK_NONE);
	pthread_t thread;
	struct seen seen;

	assert_int_equal(pthread_create(&thread, NULL, close_it, NULL), 0);
	seen = look_once(false);
	pthread_join(thread, NULL);
	assert_int_equal(seen.eps, 0);
	assert_int_equal(seen.late, 0);
	obj_prog_put(prog);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_progress),
		cmocka_unit_test(test_by_lock),
		cmocka_unit_test(test_not_at_all),
		cmocka_unit_test(test_counted),
		cmocka_unit_test(test_closes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

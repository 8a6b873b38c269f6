/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Work of other threads, and work that is tried again: order, waking, taking back. */
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include "base/test/verify.h"
#include <rdma/fi_errno.h>

#include "base/clock.h"
#include "engine/inbox.h"
#include "progress/fdset.h"

#define PER_THREAD 1000
#define THREADS 3

struct job {
	struct eng_work work;
	_Atomic bool posted;
	int id;
	int again;		/* how often it answers -FI_EAGAIN */
};

static struct obj_prog *prog;
static struct eng_grp *grp;
static struct eng_inbox *inbox;
static int order[16], ran;

static int run(struct eng_work *work)
{
	struct job *job = container_of(work, struct job, work);

	if (job->again-- > 0)
		return -FI_EAGAIN;
	if (ran < 16)
		order[ran] = job->id;
	ran++;
	return 0;
}

static int start(void **state)
{
	ran = 0;
	assert_int_equal(obj_prog_new(NULL, LOCK_MUTEX, &prog), 0);
	lock_get(&prog->lock);
	assert_int_equal(eng_grp_get(prog, &grp), 0);
	lock_put(&prog->lock);
	assert_int_equal(eng_inbox_get(grp, &inbox), 0);
	return 0;
}

static int end(void **state)
{
	obj_prog_put(prog);
	return 0;
}

static void job_init(struct job *job, int id, int again)
{
	*job = (struct job) { .work.run = run, .id = id, .again = again };
	list_init(&job->work.node);
}

static void post(struct job *job, int id, int again)
{
	job_init(job, id, again);
	eng_inbox_post(inbox, &job->work, &job->posted);
	assert_true(job->posted);
}

static void test_there_is_one_inbox(void **state)
{
	struct eng_inbox *same;

	assert_int_equal(eng_inbox_get(grp, &same), 0);
	assert_ptr_equal(same, inbox);
}

/* What was posted later waits for the one that is tried again. */
static void test_order_of_posting(void **state)
{
	struct job job[3];

	post(&job[0], 1, 0);
	post(&job[1], 2, 2);
	post(&job[2], 3, 0);
	assert_int_equal(obj_prog_poll(prog), 1);
	assert_int_equal(ran, 1);
	obj_prog_poll(prog);
	assert_int_equal(ran, 1);
	obj_prog_poll(prog);
	assert_int_equal(ran, 3);
	assert_int_equal(order[0], 1);
	assert_int_equal(order[1], 2);
	assert_int_equal(order[2], 3);
	assert_int_equal(obj_prog_poll(prog), 0);
}

/* In both lists: posted and not seen by a poll, and to be tried again. */
static void test_taken_back(void **state)
{
	struct job job[2];

	post(&job[0], 1, 1);
	obj_prog_poll(prog);
	post(&job[1], 2, 0);
	lock_get(&prog->lock);
	eng_inbox_take(inbox, &job[0].work);
	eng_inbox_take(inbox, &job[1].work);
	lock_put(&prog->lock);
	obj_prog_poll(prog);
	assert_int_equal(ran, 0);
}

static bool readable(int fd, int ms)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };

	fdset_settle(fd);
	return poll(&pfd, 1, ms) == 1;
}

/* A sleeper on the group wakes for what is posted, and in time for what is tried again. */
static void test_wakes_a_sleeper(void **state)
{
	struct job job;
	int fd = obj_prog_fd(prog);

	assert_true(fd >= 0);
	assert_int_equal(obj_prog_arm(prog), 0);
	assert_false(readable(fd, 0));
	post(&job, 1, 1);
	assert_true(readable(fd, 5000));
	assert_int_equal(obj_prog_arm(prog), -FI_EAGAIN);
	obj_prog_poll(prog);
	assert_int_equal(ran, 0);
	assert_int_equal(obj_prog_arm(prog), 0);
	assert_true(readable(fd, 5000));
	obj_prog_poll(prog);
	assert_int_equal(ran, 1);
}

static void test_deferred_in_the_group(void **state)
{
	struct job job[2];

	job_init(&job[0], 1, 1);
	job_init(&job[1], 2, 0);
	lock_get(&prog->lock);
	eng_grp_defer(grp, &job[0].work);
	eng_grp_defer(grp, &job[0].work);	/* it is there already */
	eng_grp_defer(grp, &job[1].work);
	lock_put(&prog->lock);
	obj_prog_poll(prog);
	assert_int_equal(ran, 1);		/* others do not wait for it here */
	assert_int_equal(order[0], 2);
	obj_prog_poll(prog);
	assert_int_equal(ran, 2);
	obj_prog_poll(prog);
	assert_int_equal(ran, 2);
}

static void *poster(void *arg)
{
	struct job *job = arg;
	int i;

	for (i = 0; i < PER_THREAD; i++)
		eng_inbox_post(inbox, &job[i].work, &job[i].posted);
	return NULL;
}

/* Nothing is lost between a post and the poll that empties the inbox. */
static void test_posts_while_polling(void **state)
{
	struct job *job = calloc(THREADS * PER_THREAD, sizeof(*job));
	uint64_t end = clock_deadline(20000);
	pthread_t thread[THREADS];
	int i;

	assert_non_null(job);
	for (i = 0; i < THREADS * PER_THREAD; i++)
		job_init(&job[i], i, i % 100 == 0);
	for (i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, poster, &job[i * PER_THREAD]), 0);
	while (ran < THREADS * PER_THREAD && clock_ns() < end)
		if (!obj_prog_poll(prog))
			sched_yield();
	for (i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	assert_int_equal(ran, THREADS * PER_THREAD);
	free(job);
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, start, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_there_is_one_inbox),
		T(test_order_of_posting),
		T(test_taken_back),
		T(test_wakes_a_sleeper),
		T(test_deferred_in_the_group),
		T(test_posts_while_polling),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

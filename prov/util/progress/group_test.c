/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "obj/test/fake.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "progress/fdset.h"

/* A poller with scripted answers. */
struct scripted {
	struct obj_poller base;
	int polled, armed, closed;
	int poll_ret, arm_ret;
	uint64_t deadline;
};

static int told_poll(struct obj_poller *base, unsigned budget)
{
	struct scripted *t = container_of(base, struct scripted, base);

	assert_true(budget > 0);
	t->polled++;
	return t->poll_ret;
}

static int told_arm(struct obj_poller *base, uint64_t *deadline_ns)
{
	struct scripted *t = container_of(base, struct scripted, base);

	t->armed++;
	if (t->deadline < *deadline_ns)
		*deadline_ns = t->deadline;
	return t->arm_ret;
}

static void told_close(struct obj_poller *base)
{
	container_of(base, struct scripted, base)->closed++;
}

static const struct obj_poller_ops told_ops = {
	.poll = told_poll, .arm = told_arm, .close = told_close,
};

static void make(struct scripted *t, int fd)
{
	*t = (struct scripted) {
		.base = { .ops = &told_ops, .key = t, .fd = fd },
		.deadline = UINT64_MAX,
	};
}

static void add(struct obj_prog *prog, struct scripted *t)
{
	lock_get(&prog->lock);
	assert_null(obj_prog_find(prog, t));
	obj_prog_add(prog, &t->base);
	assert_ptr_equal(obj_prog_find(prog, t), &t->base);
	lock_put(&prog->lock);
}

static bool readable(int fd, int ms)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };

	fdset_settle(fd);
	return poll(&pfd, 1, ms) == 1;
}

static void test_pollers(void **state)
{
	struct obj_prog *prog;
	struct scripted a, b;

	assert_int_equal(obj_prog_new(NULL, LOCK_MUTEX, &prog), 0);
	assert_int_equal(obj_prog_poll(prog), 0);
	make(&a, -1);
	make(&b, -1);
	add(prog, &a);
	add(prog, &b);
	a.poll_ret = 3;
	b.poll_ret = 4;
	assert_int_equal(obj_prog_poll(prog), 7);
	/* Another thread polls: nothing to do for us. */
	lock_get(&prog->lock);
	assert_int_equal(obj_prog_poll(prog), 0);
	lock_put(&prog->lock);
	assert_int_equal(a.polled, 1);
	obj_prog_get(prog);
	obj_prog_put(prog);
	assert_int_equal(a.closed + b.closed, 0);
	obj_prog_put(prog);
	assert_int_equal(a.closed, 1);
	assert_int_equal(b.closed, 1);
}

static bool solo_is(struct obj_prog *prog, const struct scripted *t)
{
	return prog->solo == (t ? &t->base : NULL);
}

static void wait_us(unsigned us)
{
	uint64_t end = clock_ns() + us * 1000;

	while (clock_ns() < end)
		;
}

/* Beside an active poller a quiet one is polled by that alone, and not more often than every
 * 10 us; it is polled with the others again before a thread sleeps, when it asks for that, and
 * when no other is active.
 */
static void test_quiet(void **state)
{
	struct obj_prog *prog;
	struct scripted a, b;
	uint64_t end;
	int i;

	assert_int_equal(obj_prog_new(NULL, LOCK_NONE, &prog), 0);
	make(&a, -1);
	make(&b, -1);
	add(prog, &a);
	add(prog, &b);
	assert_true(solo_is(prog, NULL));
	obj_poller_set_active(&a.base, true);
	assert_int_equal(obj_prog_poll_quiet(prog), 0);
	obj_poller_set_quiet(&b.base, true);
	obj_poller_set_quiet(&b.base, true);
	assert_int_equal(prog->quiet_cnt, 1);
	assert_true(solo_is(prog, &a));
	obj_prog_poll(prog);
	assert_int_equal(a.polled, 1);
	assert_int_equal(b.polled, 0);
	b.poll_ret = 5;
	assert_int_equal(obj_prog_poll_quiet(prog), 5);
	assert_int_equal(b.polled, 1);
	assert_int_equal(a.polled, 1);
	end = clock_ns() + CLOCK_NS_PER_MS;
	while (clock_ns() < end)
		obj_prog_poll_quiet(prog);
	assert_in_range(b.polled, 2, 101);	/* 10 us apart */

	/* in vain: every eighth call only, however long a call takes, until a tick */
	b.poll_ret = 0;
	for (i = 0; i < 64; i++) {
		if (i == 32)
			b.polled = 0;
		wait_us(20);
		obj_prog_poll_quiet(prog);
	}
	assert_int_equal(b.polled, 4);
	for (i = 0; i < 2; i++) {
		wait_us(20);
		obj_prog_tick(prog);
		obj_prog_poll_quiet(prog);
		assert_int_equal(b.polled, 5 + i);
	}
	/* with success: every call */
	b.poll_ret = 1;
	wait_us(20);
	obj_prog_tick(prog);
	for (i = 0; i < 3; i++) {
		assert_int_equal(obj_prog_poll_quiet(prog), 1);
		wait_us(20);
	}

	b.polled = 0;
	obj_poller_set_quiet(&b.base, false);
	assert_int_equal(obj_prog_poll_quiet(prog), 0);
	obj_prog_poll(prog);
	assert_int_equal(b.polled, 1);
	obj_poller_set_quiet(&b.base, true);
	assert_int_equal(obj_prog_arm(prog), 0);
	assert_true(solo_is(prog, NULL));
	obj_poller_set_quiet(&b.base, true);
	obj_poller_set_active(&a.base, false);
	assert_true(solo_is(prog, NULL));
	assert_int_equal(prog->quiet_cnt, 0);
	obj_prog_put(prog);
}

/* still - as a poller says at the end of its poll that @word shows what comes next. */
static void still(struct obj_prog *prog, const _Atomic uint64_t *word)
{
	prog->still.word = word;
	prog->still.next = 7;
}

/* Polls are left out while a word does not say that something has come, but for one of sixteen, and not
 * while anything else is to be done.
 */
static void test_still(void **state)
{
	_Atomic uint64_t word = 0x10006;
	struct obj_prog *prog;
	struct scripted a, b;
	int i;

	assert_int_equal(obj_prog_new(NULL, LOCK_NONE, &prog), 0);
	make(&a, -1);
	make(&b, -1);
	add(prog, &a);
	assert_false(obj_prog_still(prog));
	obj_prog_poll(prog);
	still(prog, &word);
	for (i = 1; i < OBJ_IDLE_BLOCK - 1; i++)
		assert_true(obj_prog_still(prog));
	assert_false(obj_prog_still(prog));
	assert_int_equal(a.polled, 1);
	obj_prog_poll(prog);
	assert_int_equal(prog->idle.polls, OBJ_IDLE_BLOCK);
	assert_true(obj_prog_still(prog));
	atomic_store(&word, 0x30007);
	assert_false(obj_prog_still(prog));
	atomic_store(&word, 6);
	assert_true(obj_prog_still(prog));

	add(prog, &b);		/* another poller, which has its own view */
	assert_false(obj_prog_still(prog));
	still(prog, &word);
	obj_poller_set_quiet(&b.base, true);
	assert_false(obj_prog_still(prog));
	still(prog, &word);
	obj_prog_staged(prog);
	assert_false(obj_prog_still(prog));
	still(prog, &word);
	assert_int_equal(obj_prog_arm(prog), 0);
	assert_false(obj_prog_still(prog));
	obj_prog_put(prog);
}

static void test_arm(void **state)
{
	struct obj_prog *prog;
	struct scripted a, b;

	assert_int_equal(obj_prog_new(NULL, LOCK_MUTEX, &prog), 0);
	make(&a, -1);
	make(&b, -1);
	add(prog, &a);
	add(prog, &b);
	assert_int_equal(obj_prog_arm(prog), 0);
	b.arm_ret = -FI_EAGAIN;
	assert_int_equal(obj_prog_arm(prog), -FI_EAGAIN);
	b.arm_ret = 0;
	a.arm_ret = -FI_EAGAIN;
	assert_int_equal(obj_prog_arm(prog), -FI_EAGAIN);
	obj_prog_put(prog);
}

/* The group's fd shows the pollers' fds, those that come later too, and the nearest
 * of their timers.
 */
static void test_fd(void **state)
{
	int first = eventfd(0, EFD_NONBLOCK), second = eventfd(0, EFD_NONBLOCK), fd;
	struct obj_prog *prog;
	struct scripted a, b, c;
	uint64_t start;
	eventfd_t cnt;

	assert_int_equal(obj_prog_new(NULL, LOCK_MUTEX, &prog), 0);
	make(&a, first);
	make(&b, second);
	make(&c, -1);
	add(prog, &a);
	fd = obj_prog_fd(prog);
	assert_true(fd >= 0);
	assert_int_equal(obj_prog_arm(prog), 0);
	assert_false(readable(fd, 0));
	eventfd_write(first, 1);
	assert_true(readable(fd, 0));
	eventfd_read(first, &cnt);
	assert_false(readable(fd, 0));

	/* A sleeper wakes for a new poller, and has it from then on. */
	obj_prog_enter_sleep(prog);
	add(prog, &b);
	add(prog, &c);
	assert_true(readable(fd, 0));
	assert_int_equal(obj_prog_fd(prog), fd);
	assert_int_equal(obj_prog_arm(prog), 0);
	assert_false(readable(fd, 0));
	eventfd_write(second, 1);
	assert_true(readable(fd, 0));
	eventfd_read(second, &cnt);

	start = clock_ns();
	a.deadline = start + 3600 * CLOCK_NS_PER_S;
	c.deadline = start + 20 * CLOCK_NS_PER_MS;
	assert_int_equal(obj_prog_arm(prog), 0);
	assert_true(readable(fd, 5000));
	assert_true(clock_ns() >= c.deadline);
	/* It stays readable until it is armed again: no thread sleeps over it. */
	assert_true(readable(fd, 0));
	c.deadline = UINT64_MAX;
	assert_int_equal(obj_prog_arm(prog), 0);
	assert_false(readable(fd, 0));

	/* Who sleeps longer leaves the timer as it is, and wakes once for nothing. */
	b.deadline = a.deadline;
	a.deadline = UINT64_MAX;
	c.deadline = b.deadline + 1;
	assert_int_equal(obj_prog_arm(prog), 0);
	b.deadline = UINT64_MAX;
	assert_int_equal(obj_prog_arm(prog), 0);
	assert_true(prog->timer_ns < c.deadline);

	lock_get(&prog->lock);
	obj_prog_moved(prog, c.deadline);	/* later than what is armed: nothing */
	assert_true(prog->timer_ns < c.deadline);
	obj_prog_leave_sleep(prog);
	obj_prog_moved(prog, 0);	/* no thread sleeps: nothing */
	assert_false(readable(fd, 0));
	obj_prog_enter_sleep(prog);
	obj_prog_moved(prog, 0);
	lock_put(&prog->lock);
	assert_true(readable(fd, 0));
	obj_prog_leave_sleep(prog);
	obj_prog_put(prog);
	close(first);
	close(second);
}

/* A group with one poller, and its fd. */
static int open_one(struct obj_prog **prog_p, struct scripted *a)
{
	assert_int_equal(obj_prog_new(NULL, LOCK_MUTEX, prog_p), 0);
	make(a, -1);
	add(*prog_p, a);
	return obj_prog_fd(*prog_p);
}

/* A sleeper that is woken at once and sleeps again has its deadline; a kick is over with the next
 * arm, and the timer is set for another deadline only.
 */
static void test_kick(void **state)
{
	uint64_t deadline = clock_ns() + 20 * CLOCK_NS_PER_MS;
	struct obj_prog *prog;
	struct scripted a;
	int fd, i;

	fd = open_one(&prog, &a);
	obj_prog_enter_sleep(prog);
	for (i = 0; i < 3; i++) {
		assert_int_equal(obj_prog_arm(prog), 0);
		assert_false(readable(fd, 0));
		obj_prog_moved(prog, 0);
		obj_prog_moved(prog, 0);
		assert_true(readable(fd, 0));
		assert_true(prog->alarm_ns == UINT64_MAX);	/* not set */
	}
	a.deadline = deadline;
	assert_int_equal(obj_prog_arm(prog), 0);
	obj_prog_moved(prog, 0);
	assert_int_equal(prog->timer_ns, 1);
	assert_int_equal(obj_prog_arm(prog), 0);
	assert_int_equal(prog->timer_ns, deadline);
	assert_true(readable(fd, 5000));
	assert_true(clock_ns() >= deadline);
	a.deadline = UINT64_MAX;
	assert_int_equal(obj_prog_arm(prog), 0);
	assert_false(readable(fd, 0));
	obj_prog_leave_sleep(prog);
	obj_prog_put(prog);
}

/* A program polls, sleeps and polls again before the progress thread, which sleeps as well, has run: the
 * wake-up that its sleep took back is repeated.
 */
static void test_disarm(void **state)
{
	struct obj_prog *prog;
	struct scripted a;
	int fd, i;

	fd = open_one(&prog, &a);
	assert_true(obj_prog_set_driver(prog, OBJ_DRIVER_PROGRAM, OBJ_DRIVER_THREAD));
	for (i = 0; i < 3; i++) {
		assert_int_equal(obj_prog_arm(prog), 0);
		assert_false(readable(fd, 0));
		obj_prog_disarm(prog);
		assert_true(readable(fd, 0));
	}
	/* the progress thread is awake again */
	assert_true(obj_prog_set_driver(prog, OBJ_DRIVER_THREAD, OBJ_DRIVER_PROGRAM));
	assert_int_equal(obj_prog_arm(prog), 0);
	obj_prog_disarm(prog);
	assert_false(readable(fd, 0));
	obj_prog_put(prog);
}

/* Before a thread has slept there is no timer to move, and no system call. */
static void test_never_slept(void **state)
{
	struct obj_prog *prog;
	struct scripted a;

	assert_int_equal(obj_prog_new(NULL, LOCK_MUTEX, &prog), 0);
	make(&a, -1);
	add(prog, &a);
	lock_get(&prog->lock);
	obj_prog_moved(prog, 0);
	lock_put(&prog->lock);
	assert_int_equal(prog->alarm.event.fd, -1);
	obj_prog_put(prog);
}

/* The last thread that leaves a blocking call hands the group back; a closed group stays closed. */
static void test_states(void **state)
{
	struct obj_prog *prog;

	assert_int_equal(obj_prog_new(NULL, LOCK_MUTEX, &prog), 0);
	assert_false(obj_prog_sleeps(prog));
	obj_prog_enter_sleep(prog);
	obj_prog_enter_sleep(prog);
	assert_true(obj_prog_sleeps_inside(prog));
	assert_true(obj_prog_set_driver(prog, OBJ_DRIVER_PROGRAM, OBJ_DRIVER_SLEEPERS));
	assert_false(obj_prog_set_driver(prog, OBJ_DRIVER_PROGRAM, OBJ_DRIVER_THREAD));
	obj_prog_leave_sleep(prog);
	assert_int_equal(prog->driver, OBJ_DRIVER_SLEEPERS);
	obj_prog_leave_sleep(prog);
	assert_int_equal(prog->driver, OBJ_DRIVER_PROGRAM);
	assert_false(obj_prog_sleeps(prog));
	assert_true(obj_prog_set_state(prog, OBJ_PROG_INSIDE, OBJ_PROG_SHOWN));
	assert_true(obj_prog_sleeps(prog));
	assert_true(obj_prog_set_state(prog, OBJ_PROG_SHOWN, OBJ_PROG_WAITING));
	obj_prog_poll(prog);
	assert_int_equal(prog->state, OBJ_PROG_SHOWN);
	assert_true(obj_prog_set_state(prog, OBJ_PROG_SHOWN, OBJ_PROG_CLOSED));
	assert_true(obj_prog_is_closed(prog));
	assert_false(obj_prog_set_state(prog, OBJ_PROG_SHOWN, OBJ_PROG_WAITING));
	obj_prog_put(prog);
}

static void test_feed(void **state)
{
	enum { CNT = 37 };
	struct obj_prog *progs[CNT];
	struct obj_feed feed;
	struct scripted told[CNT];
	int i;

	obj_feed_init(&feed);
	assert_null(obj_feed_home(&feed));
	assert_int_equal(obj_feed_poll(&feed), 0);
	for (i = 0; i < CNT; i++) {
		assert_int_equal(obj_prog_new(NULL, LOCK_MUTEX, &progs[i]), 0);
		make(&told[i], -1);
		told[i].poll_ret = 1;
		add(progs[i], &told[i]);
		assert_int_equal(obj_feed_add(&feed, progs[i]), 0);
		assert_int_equal(obj_feed_add(&feed, progs[i / 2]), 0);
		obj_prog_put(progs[i]);		/* the feed holds it */
		assert_ptr_equal(obj_feed_home(&feed), progs[0]);
		assert_int_equal(obj_feed_poll(&feed), i + 1);
	}
	obj_feed_fini(&feed);
	for (i = 0; i < CNT; i++)
		assert_int_equal(told[i].closed, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pollers),
		cmocka_unit_test(test_quiet),
		cmocka_unit_test(test_still),
		cmocka_unit_test(test_arm),
		cmocka_unit_test(test_fd),
		cmocka_unit_test(test_kick),
		cmocka_unit_test(test_disarm),
		cmocka_unit_test(test_never_slept),
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_feed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "progress/fdset.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/test/verify.h"

#define LONG_MS 10000		/* only a hang meets it */

static int make_event(void)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	assert_true(fd >= 0);
	return fd;
}

static void set_event(int fd)
{
	assert_int_equal(eventfd_write(fd, 1), 0);
}

static void clear_event(int fd)
{
	eventfd_t cnt;

	assert_int_equal(eventfd_read(fd, &cnt), 0);
}

static int make_set(int fd, void *ptr)
{
	int set = fdset_open();

	assert_true(set >= 0);
	assert_int_equal(fdset_add(set, fd, POLLIN, ptr), 0);
	return set;
}

/* Is the descriptor of @set readable within @ms, for a program that polls it by itself? */
static bool is_shown(int set, int ms)
{
	struct pollfd pfd = { .fd = set, .events = POLLIN };

	return poll(&pfd, 1, ms) == 1;
}

static void test_members(void **state)
{
	int a = make_event(), b = make_event(), set = make_set(a, &a);
	struct fdset_event ev[2];

	assert_int_equal(fdset_add(set, a, POLLIN, &a), -EEXIST);
	assert_int_equal(fdset_change(set, b, POLLIN, &b), -ENOENT);
	assert_int_equal(fdset_add(set, b, POLLIN, &b), 0);
	assert_int_equal(fdset_look(set, ev, 2), 0);
	set_event(b);
	assert_int_equal(fdset_look(set, ev, 2), 1);
	assert_ptr_equal(ev[0].ptr, &b);
	assert_int_equal(ev[0].events, POLLIN);
	set_event(a);
	assert_int_equal(fdset_look(set, ev, 2), 2);
	assert_int_equal(fdset_look(set, ev, 1), 1);
	clear_event(b);
	assert_int_equal(fdset_look(set, ev, 2), 1);
	assert_ptr_equal(ev[0].ptr, &a);
	fdset_remove(set, a);
	fdset_remove(set, a);
	assert_int_equal(fdset_look(set, ev, 2), 0);
	fdset_close(set);
	fdset_close(-1);
	close(a);
	close(b);
}

/* More members are ready than one look has room for: none is left out for ever. */
static void test_many(void **state)
{
	int fds[8], seen[8] = { 0 }, set = fdset_open(), i, all = 0;
	struct fdset_event ev[3];

	for (i = 0; i < 8; i++) {
		fds[i] = make_event();
		set_event(fds[i]);
		assert_int_equal(fdset_add(set, fds[i], POLLIN, &seen[i]), 0);
	}
	for (i = 0; i < 6; i++) {
		int cnt = fdset_look(set, ev, 3);

		assert_int_equal(cnt, 3);
		while (cnt--)
			++*(int *) ev[cnt].ptr;
	}
	for (i = 0; i < 8; i++)
		all += seen[i] > 0;
	assert_int_equal(all, 8);
	fdset_close(set);
	for (i = 0; i < 8; i++)
		close(fds[i]);
}

static void test_once(void **state)
{
	struct fdset_event ev;
	int a = make_event(), set = fdset_open();

	set_event(a);
	assert_int_equal(fdset_add(set, a, FDSET_ONCE, &a), 0);
	assert_int_equal(fdset_look(set, &ev, 1), 0);
	assert_int_equal(fdset_change(set, a, POLLIN | FDSET_ONCE, &a), 0);
	assert_int_equal(fdset_look(set, &ev, 1), 1);
	assert_int_equal(fdset_look(set, &ev, 1), 0);
	assert_int_equal(fdset_change(set, a, POLLIN | FDSET_ONCE, &a), 0);
	assert_int_equal(fdset_look(set, &ev, 1), 1);
	fdset_close(set);
	close(a);
}

/* The descriptor follows the members, and those of sets that are members. */
static void test_descriptor(void **state)
{
	int a = make_event(), inner = make_set(a, NULL), outer = make_set(inner, NULL);
	struct fdset_event ev;

	fdset_settle(outer);
	assert_false(is_shown(outer, 0));
	set_event(a);
	assert_true(is_shown(outer, LONG_MS));
	assert_int_equal(fdset_look(outer, &ev, 1), 1);
	clear_event(a);
	fdset_settle(outer);
	assert_false(is_shown(outer, 20));
	set_event(a);
	assert_true(is_shown(outer, LONG_MS));
	fdset_close(outer);
	fdset_close(inner);
	close(a);
}

struct sleeper {
	pthread_t thread;
	int set;
};

static void *sleep_on(void *arg)
{
	struct sleeper *s = arg;
	struct fdset_event ev;

	return (void *) (intptr_t) fdset_wait(s->set, &ev, 1, LONG_MS);
}

static void begin(struct sleeper *s, int set)
{
	s->set = set;
	assert_int_equal(pthread_create(&s->thread, NULL, sleep_on, s), 0);
	usleep(10000);
}

static void check_woken(struct sleeper *s)
{
	void *ret;

	assert_int_equal(pthread_join(s->thread, &ret), 0);
	assert_int_equal((intptr_t) ret, 1);
}

static void test_wait(void **state)
{
	int a = make_event(), b = make_event(), inner = make_set(a, NULL), outer = make_set(inner, NULL);
	struct fdset_event ev;
	struct sleeper s;

	assert_int_equal(fdset_wait(outer, &ev, 1, 5), 0);
	begin(&s, outer);
	set_event(a);
	check_woken(&s);
	clear_event(a);
	begin(&s, outer);	/* a member that joins is noticed */
	set_event(b);
	assert_int_equal(fdset_add(inner, b, POLLIN, NULL), 0);
	check_woken(&s);
	fdset_close(outer);
	fdset_close(inner);
	close(a);
	close(b);
}

/* A member that is closed is gone. */
static void test_forget(void **state)
{
	int a = make_event(), inner = make_set(a, NULL), outer = make_set(inner, NULL);
	struct fdset_event ev;

	set_event(a);
	fdset_forget(a);
	close(a);
	assert_int_equal(fdset_wait(outer, &ev, 1, 5), 0);
	fdset_close(inner);
	assert_int_equal(fdset_wait(outer, &ev, 1, 5), 0);
	fdset_close(outer);
}

static void test_fork(void **state)
{
	int a = make_event(), set = make_set(a, NULL), status;
	struct fdset_event ev;
	pid_t pid;

#ifdef __SANITIZE_THREAD__
	skip();		/* it has no threads in a forked child */
#endif
	assert_int_equal(fdset_wait(set, &ev, 1, 1), 0);
	pid = fork();
	if (!pid) {
		int own = make_event(), mine = make_set(own, NULL);

		set_event(own);
		status = fdset_wait(mine, &ev, 1, LONG_MS) != 1;
		fdset_close(mine);
		fdset_close(set);
		_exit(status);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	set_event(a);
	assert_int_equal(fdset_wait(set, &ev, 1, LONG_MS), 1);
	fdset_close(set);
	close(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_members),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_once),
		cmocka_unit_test(test_descriptor),
		cmocka_unit_test(test_wait),
		cmocka_unit_test(test_forget),
		cmocka_unit_test(test_fork),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

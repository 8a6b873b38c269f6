/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Doors in a directory: one at a time, however many processes open and leave them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include <rdma/fi_errno.h>

#include "door.h"

#define PROCS 6
#define ROUNDS 400
#define KEY "somebody"

static char dir[] = "/tmp/ofi-door-XXXXXX";
static struct shm_place place = { "test", dir };

/* What the processes have in common. */
static struct shared {
	_Atomic unsigned holders, opened, wrong;
} *shared;

static int set_up(void **state)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return shared == MAP_FAILED || !mkdtemp(dir);
}

static int tear_down(void **state)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/ofi-test.%s", dir, KEY);
	unlink(path);
	return rmdir(dir);	/* nothing else is left in it */
}

/* open_and_leave - every other time as a process does that is killed. */
static void open_and_leave(int round)
{
	int fd = shm_door_open(&place, KEY);

	if (fd < 0) {
		if (fd != -FI_EADDRINUSE)
			atomic_fetch_add(&shared->wrong, 1);
		return;
	}
	if (atomic_fetch_add(&shared->holders, 1))
		atomic_fetch_add(&shared->wrong, 1);
	atomic_fetch_add(&shared->opened, 1);
	usleep(50);
	atomic_fetch_sub(&shared->holders, 1);
	if (round % 2)
		close(fd);
	else
		shm_door_close(fd, &place, KEY);
}

static void one_process_has_it(void **state)
{
	int i, k, status;

	for (i = 0; i < PROCS; i++) {
		if (fork())
			continue;
		for (k = 0; k < ROUNDS; k++)
			open_and_leave(k);
		_exit(0);
	}
	for (i = 0; i < PROCS; i++) {
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	assert_int_equal(shared->wrong, 0);
	assert_true(shared->opened > 0);
}

static void the_next_one_takes_a_dead_ones_place(void **state)
{
	int first = shm_door_open(&place, KEY), second;
	uid_t uid;

	assert_true(first >= 0);
	assert_int_equal(shm_door_open(&place, KEY), -FI_EADDRINUSE);
	assert_false(shm_door_foreign(&place, KEY, &uid));
	close(first);
	second = shm_door_open(&place, KEY);
	assert_true(second >= 0);
	shm_door_close(second, &place, KEY);
}

/* Another process opens the door when this one has bound its socket and does not listen yet. */
static int in_between = -1;
static bool interrupt;
int __real_listen(int fd, int backlog);
int __wrap_listen(int fd, int backlog);

int __wrap_listen(int fd, int backlog)
{
	if (interrupt) {
		interrupt = false;
		in_between = shm_door_open(&place, KEY);
	}
	return __real_listen(fd, backlog);
}

static void a_door_that_is_just_being_made(void **state)
{
	int fd;

	interrupt = true;
	fd = shm_door_open(&place, KEY);
	assert_true((fd >= 0) + (in_between >= 0) == 1);
	assert_int_equal(fd >= 0 ? in_between : fd, -FI_EADDRINUSE);
	shm_door_close(fd >= 0 ? fd : in_between, &place, KEY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_next_one_takes_a_dead_ones_place),
		cmocka_unit_test(a_door_that_is_just_being_made),
		cmocka_unit_test(one_process_has_it),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}

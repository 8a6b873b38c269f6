/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Sockets with files: one process has a key at a time, however many open and close it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/test/verify.h"

#include <rdma/fi_errno.h>

#include "listen.h"

#define PROCS 6
#define ROUNDS 400
#define KEY "key"

static char dir[] = "/tmp/ofi-listen-XXXXXX";
static struct shm_scope scope = { "test", dir };

/* Memory that the processes share. */
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

/* open_and_close - every other time without unlink, as when a process is killed. */
static void open_and_close(int round)
{
	int fd = shm_listen_open(&scope, KEY);

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
		shm_listen_close(fd, &scope, KEY);
}

static void one_process_has_it(void **state)
{
	int i, k, status;

	for (i = 0; i < PROCS; i++) {
		if (fork())
			continue;
		for (k = 0; k < ROUNDS; k++)
			open_and_close(k);
		_exit(0);
	}
	for (i = 0; i < PROCS; i++) {
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	assert_int_equal(shared->wrong, 0);
	assert_true(shared->opened > 0);
}

static void the_file_of_a_dead_process_is_replaced(void **state)
{
	int first = shm_listen_open(&scope, KEY), second;
	uid_t uid;

	assert_true(first >= 0);
	assert_int_equal(shm_listen_open(&scope, KEY), -FI_EADDRINUSE);
	assert_false(shm_listen_user(&scope, KEY, &uid));
	close(first);
	second = shm_listen_open(&scope, KEY);
	assert_true(second >= 0);
	shm_listen_close(second, &scope, KEY);
}

/* Another process opens the key when this one has bound its socket and does not listen yet. */
static int in_between = -1;
static bool interrupt;
int __real_listen(int fd, int backlog);
/* Visible, since the runtimes of sanitizers call the function, too. */
__attribute__((visibility("default"))) int __wrap_listen(int fd, int backlog);

int __wrap_listen(int fd, int backlog)
{
	if (interrupt) {
		interrupt = false;
		in_between = shm_listen_open(&scope, KEY);
	}
	return __real_listen(fd, backlog);
}

static void a_socket_that_does_not_listen_yet_has_no_name(void **state)
{
	int fd;

	interrupt = true;
	fd = shm_listen_open(&scope, KEY);
	assert_true((fd >= 0) + (in_between >= 0) == 1);
	assert_int_equal(fd >= 0 ? in_between : fd, -FI_EADDRINUSE);
	shm_listen_close(fd >= 0 ? fd : in_between, &scope, KEY);
}

/* A key that is longer than the name of a socket leads to a socket, too, and no other one does. */
static void long_keys_have_sockets(void **state)
{
	struct shm_scope abstract = { "test", NULL }, *const scopes[] = { &scope, &abstract };
	char key[SHM_KEY_MAX + 2], other[SHM_KEY_MAX + 2];
	int i, fd, peer;
	pid_t pid;

	memset(key, 'k', sizeof(key));
	key[SHM_KEY_MAX + 1] = 0;
	for (i = 0; i < 2; i++) {
		assert_int_equal(shm_listen_open(scopes[i], key), -FI_EINVAL);
		strcpy(other, key + 1);
		fd = shm_listen_open(scopes[i], other);
		assert_true(fd >= 0);
		assert_int_equal(shm_listen_open(scopes[i], other), -FI_EADDRINUSE);
		peer = shm_listen_connect(scopes[i], other, &pid);
		assert_true(peer >= 0);
		assert_int_equal(pid, getpid());
		close(peer);
		other[SHM_KEY_MAX - 1]++;
		assert_int_equal(shm_listen_connect(scopes[i], other, &pid), -FI_ECONNREFUSED);
		other[SHM_KEY_MAX - 1]--;
		shm_listen_close(fd, scopes[i], other);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_file_of_a_dead_process_is_replaced),
		cmocka_unit_test(long_keys_have_sockets),
		cmocka_unit_test(a_socket_that_does_not_listen_yet_has_no_name),
		cmocka_unit_test(one_process_has_it),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}

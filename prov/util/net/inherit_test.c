/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* What a forked child has of its parent's sockets. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/test/verify.h"

#include "net/inherit.h"
#include "net/sock.h"

#define MANY 300

static void pair(int fd[2])
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd), 0);
}

/* ended - has the other end of @fd closed? */
static bool ended(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char byte;

	return poll(&p, 1, 1000) == 1 && !recv(fd, &byte, 1, MSG_DONTWAIT);
}

static pid_t idle_child(void)
{
	pid_t pid = fork();

	if (!pid)
		for (;;)
			pause();
	return pid;
}

static void end_child(pid_t pid)
{
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void an_idle_child_keeps_no_connection(void **state)
{
	int fd[MANY][2], i;
	pid_t pid;

	for (i = 0; i < MANY; i++) {
		pair(fd[i]);
		net_inherit_not(fd[i][0]);
	}
	pid = idle_child();
	for (i = 0; i < MANY; i++) {
		assert_int_equal(send(fd[i][0], "x", 1, 0), 1);	/* the parent has it as before */
		assert_int_equal(recv(fd[i][1], &(char) { 0 }, 1, 0), 1);
		close(fd[i][0]);
		assert_true(ended(fd[i][1]));
		close(fd[i][1]);
	}
	end_child(pid);
}

/* A number that was a socket's is another file's now. */
static void numbers_that_are_used_again(void **state)
{
	int fd[2], other[2], status;
	struct stat st;
	pid_t pid;

	pair(fd);
	net_inherit_not(fd[0]);
	pair(other);
	assert_int_equal(dup2(other[0], fd[0]), fd[0]);
	pid = fork();
	if (!pid)
		_exit(send(fd[0], "y", 1, 0) == 1 ? 0 : 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(fd[0]);
	assert_int_equal(open("/dev/null", O_RDONLY), fd[0]);
	assert_int_equal(fstat(fd[0], &st), 0);
	pid = fork();
	if (!pid)
		_exit(fcntl(fd[0], F_GETFD) ? 1 : 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(fd[0]);
	close(fd[1]);
	close(other[0]);
	close(other[1]);
}

/* What the child closes of its parent's objects is no file of its own. */
static void numbers_stay_taken_in_the_child(void **state)
{
	int fd, status;
	pid_t pid;

	assert_int_equal(net_sock_open(AF_INET, SOCK_DGRAM, &fd), 0);
	pid = fork();
	if (!pid) {
		if (send(fd, "x", 1, 0) != -1 || errno != ENOTSOCK)
			_exit(1);
		if (open("/dev/zero", O_RDONLY) == fd)
			_exit(2);
		_exit(close(fd) ? 3 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_idle_child_keeps_no_connection),
		cmocka_unit_test(numbers_that_are_used_again),
		cmocka_unit_test(numbers_stay_taken_in_the_child),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* child_test.h - run a part of a test in a separate process.
 *
 * The library reads its log settings once, so each setting needs a new process: the parent must
 * not have called into the library before.
 */
#ifndef CORE_CHILD_TEST_H
#define CORE_CHILD_TEST_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/test/verify.h"

/* In a child: exit with the location of the failure. */
#define CHILD_CHECK(cond)						\
	do {								\
		if (!(cond)) {						\
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #cond); \
			_exit(1);					\
		}							\
	} while (0)

/* child_run - run @fn in a child and collect what it writes to stderr.
 * Returns the child's exit status; cuts the text at @size.
 */
static inline int child_run(void (*fn)(void), char *out, size_t size)
{
	size_t len = 0;
	char rest[4096];
	ssize_t got;
	int fd[2], status;
	pid_t pid;

	assert_int_equal(pipe(fd), 0);
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		dup2(fd[1], STDERR_FILENO);
		close(fd[0]);
		close(fd[1]);
		fn();
		_exit(0);
	}
	close(fd[1]);
	while (len < size - 1 && (got = read(fd[0], out + len, size - 1 - len)) > 0)
		len += (size_t) got;
	out[len] = '\0';
	while (read(fd[0], rest, sizeof(rest)) > 0)
		;	/* read on to the end: the child must not block on a full pipe */
	close(fd[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		print_message("child said: %s\n", out);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

#endif

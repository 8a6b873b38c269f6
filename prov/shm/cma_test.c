/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Copies to and from another process's memory; skipped where the kernel permits none. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"
#include <errno.h>
#include <rdma/fi_errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cma.h"

#define SIZE 100000

/* The child has the same addresses as its parent, and waits with memory of its own behind them. */
static struct {
	pid_t pid;
	uint64_t probe;
	uint8_t bytes[SIZE];
} there;

static uint8_t here[SIZE], *hole;	/* one page that can be accessed, then one that cannot */

static uint8_t byte(size_t i)
{
	return (uint8_t) (i * 7 + i / 251);
}

static int start_child(void **state)
{
	int pipe_fd[2];
	char ready;
	size_t i;

	hole = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (hole == MAP_FAILED || mprotect(hole + 4096, 4096, PROT_NONE) || pipe(pipe_fd))
		return -1;
	there.probe = 1;
	there.pid = fork();
	if (!there.pid) {
		there.probe = UINT64_C(0x1234567890abcdef);
		for (i = 0; i < SIZE; i++)
			there.bytes[i] = byte(i);
		close(pipe_fd[0]);
		if (write(pipe_fd[1], "", 1) == 1)
			for (;;)
				pause();
		_exit(1);
	}
	close(pipe_fd[1]);
	if (there.pid < 0 || read(pipe_fd[0], &ready, 1) != 1)
		return -1;
	close(pipe_fd[0]);
	return 0;
}

static int end_child(void **state)
{
	kill(there.pid, SIGKILL);
	waitpid(there.pid, NULL, 0);
	munmap(hole, 8192);
	return 0;
}

static void need_cma(void)
{
	if (!shm_cma_probe(there.pid, false, (uintptr_t) &there.probe,
			   UINT64_C(0x1234567890abcdef)) ||
	    !shm_cma_probe(there.pid, true, (uintptr_t) &there.probe,
			   UINT64_C(0x1234567890abcdef)))
		skip();
}

static void a_probe_needs_the_right_value(void **state)
{
	need_cma();
	assert_false(shm_cma_probe(there.pid, false, (uintptr_t) &there.probe, there.probe));
	assert_false(shm_cma_probe(there.pid, false, (uintptr_t) hole + 4096, 0));
	assert_false(shm_cma_probe(there.pid, true, (uintptr_t) hole + 4096, 0));
	assert_false(shm_cma_probe(0, false, (uintptr_t) &there.probe, there.probe));
}

/* The pieces of the two lists need not be of the same sizes; what is behind @len stays. */
static void lists_of_any_pieces_are_copied(void **state)
{
	struct iovec mine[] = { { here, 1 }, { here + 1, 50000 }, { here + 50001, SIZE - 50001 } };
	struct iovec theirs[] = { { there.bytes, 30000 }, { there.bytes + 30000, SIZE - 30000 } };
	size_t i, len = SIZE - 10;

	need_cma();
	memset(here, 0xff, sizeof(here));
	assert_int_equal(shm_cma_copy(there.pid, false, mine, 3, theirs, 2, len), 0);
	for (i = 0; i < len; i++)
		assert_int_equal(here[i], byte(i));
	for (; i < SIZE; i++)
		assert_int_equal(here[i], 0xff);

	/* the other direction, and back */
	memset(here, 0x55, sizeof(here));
	assert_int_equal(shm_cma_copy(there.pid, true, mine, 3, theirs, 2, 40000), 0);
	memset(here, 0, sizeof(here));
	assert_int_equal(shm_cma_copy(there.pid, false, mine, 3, theirs, 2, len), 0);
	for (i = 0; i < len; i++)
		assert_int_equal(here[i], i < 40000 ? 0x55 : byte(i));
	assert_int_equal(shm_cma_copy(there.pid, false, mine, 3, theirs, 2, 0), 0);
}

static void memory_that_cannot_be_accessed_is_an_error(void **state)
{
	struct iovec mine = { here, 8192 }, theirs = { hole, 8192 }, bad = { hole, 8192 };
	struct iovec all = { there.bytes, 8192 };

	need_cma();
	assert_int_equal(shm_cma_copy(there.pid, false, &mine, 1, &theirs, 1, 4096), 0);
	assert_int_equal(shm_cma_copy(there.pid, false, &mine, 1, &theirs, 1, 4097), -FI_EFAULT);
	assert_int_equal(shm_cma_copy(there.pid, true, &mine, 1, &theirs, 1, 4097), -FI_EFAULT);
	assert_int_equal(shm_cma_copy(there.pid, false, &bad, 1, &all, 1, 8192), -FI_EFAULT);
}

static void a_process_that_has_ended_is_an_error(void **state)
{
	struct iovec mine = { here, 8 }, theirs = { there.bytes, 8 };
	pid_t pid;
	int ret;

	need_cma();
	pid = fork();
	if (!pid)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	ret = shm_cma_copy(pid, false, &mine, 1, &theirs, 1, 8);
	assert_int_equal(ret, -ESRCH);
	assert_false(shm_cma_probe(pid, false, (uintptr_t) &there.probe, there.probe));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_probe_needs_the_right_value),
		cmocka_unit_test(lists_of_any_pieces_are_copied),
		cmocka_unit_test(memory_that_cannot_be_accessed_is_an_error),
		cmocka_unit_test(a_process_that_has_ended_is_an_error),
	};

	return cmocka_run_group_tests_name("shm_cma", tests, start_child, end_child);
}

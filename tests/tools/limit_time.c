/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* limit_time - what tests/limit.h ends, and what it does not. */
#include "../limit.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

static void spin(unsigned int seconds)
{
	clock_t end = clock() + (clock_t) seconds * CLOCKS_PER_SEC;

	while (clock() < end)
		;
}

static void on_end(int sig)
{
	(void) sig;
	_exit(3);
}

static void spins(void)
{
	limit_time(1, NULL);
	spin(100);
}

static void sleeps_for_ever(void)
{
	limit_time(1, NULL);
	for (;;)
		pause();
}

static void waits_its_turn(void)
{
	limit_time(1, NULL);
	sleep(3);
}

static void is_told(void)
{
	limit_time(1, on_end);
	spin(100);
}

static void has_no_limit_any_more(void)
{
	limit_time(1, NULL);
	limit_time(0, NULL);
	spin(2);
}

static void has_a_later_one(void)
{
	limit_time(1, on_end);
	limit_time(100, on_end);
	spin(2);
}

static const struct {
	const char *name;
	void (*run)(void);
	int sig, status;
} cases[] = {
	/* where other work leaves it too little of the processor, the other limit comes first */
	{ "a process that uses its processor time up", spins, SIGPROF, 0 },
	{ "one that sleeps for ever", sleeps_for_ever, SIGALRM, 0 },
	{ "one that waits for longer than its limit", waits_its_turn, 0, 0 },
	{ "one with a handler", is_told, 0, 3 },
	{ "one whose limit is lifted", has_no_limit_any_more, 0, 0 },
	{ "one whose limit is replaced", has_a_later_one, 0, 0 },
};

static int is_as(int i, int status, const struct rusage *used)
{
	int sig = cases[i].sig;

	if (!WIFSIGNALED(status))
		return !sig && WEXITSTATUS(status) == cases[i].status;
	if (sig == SIGPROF && WTERMSIG(status) == SIGALRM)
		return used->ru_utime.tv_sec + used->ru_stime.tv_sec < 2;
	return WTERMSIG(status) == sig;
}

int main(void)
{
	pid_t pid[sizeof(cases) / sizeof(*cases)];
	int i, cnt = sizeof(cases) / sizeof(*cases), bad = 0, status;
	struct rusage used;

	for (i = 0; i < cnt; i++) {
		pid[i] = fork();
		if (!pid[i]) {
			cases[i].run();
			_exit(0);
		}
	}
	for (i = 0; i < cnt; i++) {
		if (wait4(pid[i], &status, 0, &used) != pid[i])
			return 1;
		if (!is_as(i, status, &used)) {
			printf("FAIL: %s ended with status %#x\n", cases[i].name, (unsigned int) status);
			bad = 1;
		}
	}
	return bad;
}
